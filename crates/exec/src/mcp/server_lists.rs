//! What a server has besides tools, as data: its description of itself, the kinds of lists, what it
//! reports without being asked, and how a request to it can fail.

use toolwright_mcp::{Revision, RpcError};

use crate::{Failure, Json};

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
}

/// Why a request to a server has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestError {
    /// The server answered with this error.
    Answered(RpcError),
    /// There was no answer.
    Failed(Failure),
}
