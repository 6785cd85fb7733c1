//! The caller's side of a running call: where progress goes, and who answers the questions of a
//! server.
//!
//! ```text
//! MCP server ─ notifications/progress, message ─▶ Host::progress, Host::log ─▶ client
//!            ─ elicitation, sampling, roots ────▶ Host::ask ─▶ client ─▶ person or model
//! policy ─── a capability is not granted ───────▶ Host::ask_grant ─▶ terminal or client ─▶ person
//! ```
//!
//! The crate `serve` implements [`Host`] for MCP clients, `cli` for a terminal; everyone else
//! passes [`NoHost`].

use toolwright_mcp::{RpcError, error_code};

use crate::{BoxFuture, GrantAnswer, GrantQuestion, Json};

/// One progress report of a tool, with the fields of MCP's `notifications/progress`.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Grows with every report of a call, in a unit that the tool chooses.
    pub done: f64,
    /// The value of `done` at the end of the call, if the tool can tell.
    pub total: Option<f64>,
    /// A short text for people.
    pub message: Option<String>,
    /// All of it as the tool sent it, but for the token: MCP clients get this.
    pub given: Json,
}

/// Characters of a progress message that are kept. It is text from a server for a terminal.
const MAX_PROGRESS_CHARS: usize = 1_000;
/// Above this size, a report is cut to what every client shows.
pub(crate) const MAX_PROGRESS_BYTES: usize = 64 << 10;

impl Progress {
    /// The parameters of a report that is too large to be kept: the numbers, and the beginning of
    /// the message.
    pub(crate) fn shortened(params: &Json) -> Json {
        let mut short = serde_json::Map::new();
        for name in ["progress", "total"] {
            short.extend(params[name].as_f64().map(|number| (name.to_owned(), number.into())));
        }
        let message = params["message"].as_str();
        let message = message.map(|text| text.chars().take(MAX_PROGRESS_CHARS).collect::<String>());
        short.extend(message.map(|message| ("message".to_owned(), message.into())));
        let token = params["progressToken"].as_i64();
        short.extend(token.map(|token| ("progressToken".to_owned(), token.into())));
        Json::Object(short)
    }

    /// Reads the parameters of `notifications/progress`. `None` if they lack the number.
    pub(crate) fn read(mut params: Json) -> Option<Progress> {
        params.as_object_mut()?.shift_remove("progressToken");
        let message = params["message"].as_str();
        Some(Progress {
            done: params["progress"].as_f64()?,
            total: params["total"].as_f64(),
            message: message.map(|text| text.chars().take(MAX_PROGRESS_CHARS).collect()),
            given: params,
        })
    }
}

/// A request of a server to the client: `elicitation/create`, `sampling/createMessage` or
/// `roots/list`.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerRequest {
    /// The key that the server gave it, if it asked in a result (`inputRequests`, 2026-07-28).
    pub key: Option<String>,
    /// The name of the source whose server asks, for the person.
    pub source: String,
    /// The method of the request.
    pub method: String,
    /// Its parameters as the server wrote them.
    pub params: Json,
    /// Set when the server withdraws it, before its future is dropped.
    pub withdrawal: GivenReason,
}

/// The reason in `notifications/cancelled`, once it is there.
pub type GivenReason = std::sync::Arc<std::sync::OnceLock<String>>;

/// The answer of a client to a [`ServerRequest`]: its result, or its error.
pub type ClientAnswer = Result<Json, RpcError>;

/// Passes a question of a server to a client outside of its calls.
pub type ClientAsker =
    std::sync::Arc<dyn Fn(ServerRequest) -> BoxFuture<'static, ClientAnswer> + Send + Sync>;

/// The client session that a call belongs to. Calls of one session share the connections to
/// servers with `isolation = "session"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionNumber(pub u64);

/// The agent of calls that this machine's user makes: on a terminal, or over standard streams.
pub const LOCAL_AGENT: &str = "local";

/// The agent of all clients with the shared token of an HTTP server.
pub const HTTP_AGENT: &str = "http";

/// Receives what a tool reports while it runs, and answers what its server asks.
pub trait Host: Send + Sync {
    /// Receives one progress report. Called on the task of the connection that delivers it, which
    /// other calls share: an implementation must not block.
    fn progress(&self, progress: Progress);

    /// Whether reports are shown to anyone.
    fn wants_progress(&self) -> bool;

    /// Receives a log message of the server that belongs to this call: the parameters of
    /// `notifications/message`. Must not block.
    fn log(&self, _message: &Json) {}

    /// Whether [`Host::log`] passes on such a message.
    fn wants_log(&self, _message: &Json) -> bool {
        true
    }

    /// What the client can do for a server (`ClientCapabilities`), such as `{"elicitation": {}}`.
    /// Requests for anything else are refused without asking.
    fn client_capabilities(&self) -> Json {
        Json::Object(serde_json::Map::new())
    }

    /// Passes requests of a server to the client and waits for all answers, in the same order. They
    /// belong together: a client of the stateless protocol gets them in one result.
    fn ask<'a>(&'a self, requests: Vec<ServerRequest>) -> BoxFuture<'a, Vec<ClientAnswer>> {
        let refusal = || {
            let message = "there is nobody to answer the server's request";
            Err(RpcError::new(error_code::METHOD_NOT_FOUND, message))
        };
        Box::pin(std::future::ready(requests.iter().map(|_| refusal()).collect()))
    }

    /// Passes one request of a server to the client, in a future that may outlive the call: which
    /// of the client's calls the server asks for is not always known. `None` if only the call
    /// itself can ask.
    fn ask_beyond_call(&self, _: &ServerRequest) -> Option<BoxFuture<'static, ClientAnswer>> {
        None
    }

    /// Asks the person whether a call may be made. `None` if nobody is there to answer.
    fn ask_grant<'a>(&'a self, _: &'a GrantQuestion) -> BoxFuture<'a, Option<GrantAnswer>> {
        Box::pin(std::future::ready(None))
    }

    /// The `_meta` of the client's request without the keys of one hop, such as a trace context.
    fn meta(&self) -> Option<serde_json::Map<String, Json>> {
        None
    }

    /// Who makes the call: `local` for this terminal and for a client on standard streams, `http`
    /// for clients with the shared token, the name of an `[[agent]]` for clients with its token.
    /// What a client says of itself does not count.
    fn agent(&self) -> &str {
        LOCAL_AGENT
    }

    /// Why the client has cancelled its request, if it said so.
    fn cancel_reason(&self) -> Option<String> {
        None
    }

    /// Whether the client is asked in a result and repeats its request with the answers
    /// (2026-07-28).
    fn is_asked_in_results(&self) -> bool {
        false
    }

    /// The session of the client; `None` if the caller is this program itself.
    fn session(&self) -> Option<SessionNumber> {
        None
    }
}

/// A caller that waits for the result and ignores everything else.
pub struct NoHost;

impl Host for NoHost {
    fn progress(&self, _: Progress) {}

    fn wants_progress(&self) -> bool {
        false
    }
}
