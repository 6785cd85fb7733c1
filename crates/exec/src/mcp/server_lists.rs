//! What a server has besides tools, as data: its description of itself, the kinds of lists, what it
//! reports without being asked, and how a request to it can fail.

use serde_json::Map;
use toolwright_mcp::{MAX_MESSAGE, Revision, RpcError};

use super::connection::UpstreamConnection;
use super::outgoing_request::OutgoingRequest;
use super::request_sending::OWN_CALLER;
use crate::offload::{WorkSize, offload};
use crate::{Failure, Json, SessionNumber, code};

/// What a server said of itself in its handshake.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerDescription {
    /// The revision that the connection uses.
    pub revision: Revision,
    /// Its `ServerCapabilities` as sent.
    pub capabilities: Json,
    /// Its `serverInfo` as sent; null if there is none.
    pub info: Json,
    /// How to use its tools as a whole.
    pub instructions: Option<String>,
}

impl ServerDescription {
    /// Whether the server has a capability, such as `resources` or `resources.subscribe`.
    pub fn has(&self, path: &str) -> bool {
        let found = path.split('.').try_fold(&self.capabilities, |value, key| value.get(key));
        found.is_some_and(|value| value.is_object() || value == &Json::Bool(true))
    }
}

/// The lists that a server can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// `tools/list`.
    Tools,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    ResourceTemplates,
    /// `prompts/list`.
    Prompts,
}

impl ListKind {
    /// All kinds.
    pub const ALL: [ListKind; 4] =
        [ListKind::Tools, ListKind::Resources, ListKind::ResourceTemplates, ListKind::Prompts];

    /// The method of the request.
    pub fn method(self) -> &'static str {
        match self {
            ListKind::Tools => "tools/list",
            ListKind::Resources => "resources/list",
            ListKind::ResourceTemplates => "resources/templates/list",
            ListKind::Prompts => "prompts/list",
        }
    }

    /// The member of the result that holds the items.
    pub fn member(self) -> &'static str {
        match self {
            ListKind::Tools => "tools",
            ListKind::Resources => "resources",
            ListKind::ResourceTemplates => "resourceTemplates",
            ListKind::Prompts => "prompts",
        }
    }

    /// The capability that a server with such a list has.
    pub fn capability(self) -> &'static str {
        match self {
            ListKind::Tools => "tools",
            ListKind::Resources | ListKind::ResourceTemplates => "resources",
            ListKind::Prompts => "prompts",
        }
    }
}

/// What a server reports without being asked.
#[derive(Clone, Debug, PartialEq)]
pub enum UpstreamEvent {
    /// A list changed, or the server was started again, which may have changed all of them.
    ListChanged(ListKind),
    /// A resource that was subscribed to changed.
    ResourceUpdated {
        /// Its URI on the server.
        uri: String,
        /// The other members of the notification.
        more: Map<String, Json>,
    },
    /// A log message that belongs to no call: the parameters of `notifications/message`.
    Log(Json),
    /// Another notification, passed on to all clients as it is: its method and parameters.
    Other {
        /// Such as `notifications/elicitation/complete`.
        method: String,
        /// Its parameters.
        params: Json,
    },
    /// The connection has ended, and the tasks that it had with it.
    ConnectionEnded,
}

/// An event, and whose process reported it.
#[derive(Clone, Debug, PartialEq)]
pub struct UpstreamNotification {
    /// The session whose own process it is (`isolation = "session"`): the event concerns no other.
    pub session: Option<SessionNumber>,
    /// The number of the connection that it came from; zero if it came from none.
    pub connection: u64,
    /// Whether it is about a task that no client knows.
    pub is_of_hidden_task: bool,
    /// What it reported.
    pub event: UpstreamEvent,
}

impl UpstreamNotification {
    /// A changed list of the server that all clients share.
    pub fn list_changed(kind: ListKind) -> UpstreamNotification {
        let event = UpstreamEvent::ListChanged(kind);
        UpstreamNotification { session: None, connection: 0, is_of_hidden_task: false, event }
    }

    /// A connection of the server may have ended; it is not known which one.
    pub fn connection_ended() -> UpstreamNotification {
        let event = UpstreamEvent::ConnectionEnded;
        UpstreamNotification { session: None, connection: 0, is_of_hidden_task: false, event }
    }
}

/// Why a request to a server has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestError {
    /// The server answered with this error.
    Answered(RpcError),
    /// There was no answer.
    Failed(Failure),
}

/// How many pages one list may have. A server whose cursor never ends would otherwise be asked for
/// ever.
const MAX_PAGES: usize = 1_000;
/// How many items one list may have.
const MAX_ITEMS: usize = 10_000;

/// What to do about a list that cannot be used.
const BROKEN_SERVER: &str = "report it to the author of the server, or leave the server out";

/// All items of a list of the server behind this connection.
pub(super) async fn collect_pages(
    kind: ListKind,
    connection: &UpstreamConnection,
) -> Result<Vec<Json>, RequestError> {
    let what = kind.member();
    let too_large = |what: String| {
        let failure = Failure::new(&code::OUTPUT_TOO_LARGE, format!("the server's {what}"));
        RequestError::Failed(failure.suggest(BROKEN_SERVER))
    };
    let mut items: Vec<Json> = Vec::new();
    // Counted over all pages: each is bounded by the transport, their sum is bounded here.
    let mut size = 0;
    let mut params = Map::new();
    for _ in 0..MAX_PAGES {
        let request = OutgoingRequest::new(kind.method(), &params);
        let text = connection.request(&request, &OWN_CALLER).await?;
        size += text.get().len();
        if size > MAX_MESSAGE {
            return Err(too_large(format!("list of {what} has more than {MAX_MESSAGE} bytes")));
        }
        let length = WorkSize::of_bytes(text.get().len());
        let page: serde_json::Result<Json> =
            offload(length, move || serde_json::from_str(text.get())).await;
        // It is JSON, or it would not have come here, but may nest more deeply than is read.
        let page = page.map_err(|error| {
            let message = format!("the server's list of {what} cannot be read: {error}");
            RequestError::Failed(
                Failure::new(&code::OUTPUT_INVALID, message).suggest(BROKEN_SERVER),
            )
        })?;
        let Json::Object(mut page) = page else { return Err(not_a_list(kind)) };
        match page.remove(kind.member()) {
            // Items are not parsed here. One that is malformed must not hide the others.
            Some(Json::Array(more)) => items.extend(more),
            _ => return Err(not_a_list(kind)),
        }
        if items.len() > MAX_ITEMS {
            return Err(too_large(format!("list of {what} has more than {MAX_ITEMS} items")));
        }
        match page.remove("nextCursor") {
            // Some servers send an empty cursor on the last page.
            Some(Json::String(next)) if !next.is_empty() => {
                params = Map::from_iter([("cursor".to_owned(), Json::String(next))]);
            }
            _ => return Ok(items),
        }
    }
    Err(too_large(format!("list of {what} does not end after {MAX_PAGES} pages")))
}

fn not_a_list(kind: ListKind) -> RequestError {
    let (method, member) = (kind.method(), kind.member());
    let message = format!("the server's answer to `{method}` has no list `{member}`");
    RequestError::Failed(Failure::new(&code::OUTPUT_INVALID, message).suggest(BROKEN_SERVER))
}
