//! Tools of MCP servers: the client side of the protocol.
//!
//! ```text
//! runner ─▶ McpExecutor ─▶ Upstreams ─▶ Upstream (`upstream`: when to connect and to retry)
//!                                          ▼
//!                   UpstreamConnection (`connection`, `handshake`)
//!                      │ request_sending                  ▲ open_request, answer_waiting
//!                      ▼                                  │
//!     stdio_wire, server_process │ http_wire ─────▶ dispatcher, question_routing ─▶ events
//!     duplex_wire: sse_wire, websocket_wire
//! ```
//!
//! Messages stay the JSON they were: only what is needed to route them is parsed. `questions` has
//! what servers ask the person, `url_visit` the error that asks for a visit of web pages, `tasks`
//! calls that are answered later, `client_tasks` questions that are, `subscription` the changes
//! that stateless servers report, `session_upstreams` servers that are not shared, `redact` and
//! `secret_forms` keep secrets out of messages, `connect_error` and `http_client` word what users
//! read.
//!
//! Not here: which tools there are (the catalog calls [`Upstream::items`]), deadlines of calls, and
//! caps on results.

mod answer_waiting;
mod client_tasks;
mod connect_error;
mod connection;
mod dispatcher;
mod duplex_wire;
mod handshake;
mod health_check;
mod http_client;
mod http_wire;
mod open_request;
mod outgoing_request;
mod param_headers;
mod question_routing;
mod questions;
mod redact;
mod request_sending;
mod request_table;
mod secret_forms;
mod server_lists;
mod server_process;
mod session_upstreams;
mod sse_wire;
mod stdio_wire;
mod subscription;
mod tasks;
mod upstream;
mod upstreams;
mod url_visit;
mod websocket_wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Map;
use serde_json::value::RawValue;
use toolwright_model::Binding;

pub(crate) use secret_forms::forms_of;
pub use server_lists::{
    ListKind, RequestError, ServerDescription, UpstreamEvent, UpstreamNotification,
};
pub use tasks::{TaskAnswer, TaskLink, TaskMode, TaskRequest, execution, rename_task, task_of};
pub use toolwright_mcp::{MAX_MESSAGE, MessageLine, MessageLines};
pub use upstream::Upstream;
pub use upstreams::Upstreams;

use outgoing_request::ToolCall;
use redact::Redactor;

use crate::written_parts::has_float;
use crate::{
    BoxFuture, Call, Executor, ExecutorKind, Failure, Host, Json, Log, Outcome, ResultContent,
    WrittenParts, code,
};

/// The log of one server: every line names it, and secrets of its source are replaced. The flags
/// are shared by all connections to the server, so a restart does not repeat what was logged.
#[derive(Clone)]
struct UpstreamLog {
    log: Log,
    name: String,
    redactor: Arc<Redactor>,
    /// Whether it was logged that the server gets no roots, for each reason.
    no_roots_logged: Arc<[AtomicBool; 2]>,
    /// Whether it was logged that the server sends something that cannot be used, for each kind.
    useless_logged: Arc<[AtomicBool; 3]>,
}

/// What a server sends and nobody can use.
#[derive(Clone, Copy)]
enum UselessOutput {
    /// A line that is not a message.
    Line,
    /// An answer to a request that was never made.
    Answer,
    /// A notification that is too long to be passed on.
    Notification,
}

/// Why a server gets no roots.
#[derive(Clone, Copy)]
enum NoRootsReason {
    /// No client has an open call.
    NoCall,
    /// The client of the call does not give any.
    NoCapability,
}

impl UpstreamLog {
    fn line(&self, text: &str) {
        let mut line = format!("{}: {text}", self.name);
        self.redactor.text(&mut line);
        self.log.line(&line);
    }

    /// Logs that the server has sent something that cannot be used, once for each kind: it may be
    /// why a request is not answered.
    fn useless(&self, kind: UselessOutput, what: impl FnOnce() -> String) {
        if !self.useless_logged[kind as usize].swap(true, Ordering::Relaxed) {
            self.line(&what());
        }
    }

    /// Logs that the server gets no roots, once for each reason: many servers ask at every start
    /// and do without.
    fn no_roots(&self, reason: NoRootsReason, why: &str) {
        if !self.no_roots_logged[reason as usize].swap(true, Ordering::Relaxed) {
            self.line(why);
        }
    }
}

/// The entry in the table of executors.
pub(crate) const EXECUTOR: ExecutorKind = ExecutorKind {
    id: "mcp",
    accepts: |tool| matches!(tool.details.binding, Binding::Server { .. }),
    needs: |_| &["mcp:connect"],
    build: |parts| Arc::new(McpExecutor { upstreams: Arc::clone(&parts.upstreams) }),
};

/// Runs the tools of all MCP servers.
struct McpExecutor {
    /// Shared with the catalog, which lists the tools over the same connections.
    upstreams: Arc<Upstreams>,
}

impl Executor for McpExecutor {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            // Cannot happen while `EXECUTOR.accepts` is right, but a wrong table must not panic.
            let Binding::Server { server, tool } = &call.tool.details.binding else {
                let message = format!("`{}` is not a tool of an MCP server", call.tool.name);
                return Err(Failure::new(&code::NOT_RUNNABLE, message));
            };
            let upstream = self.upstreams.get(server);
            let clock = &call.budget.clock;
            let (arguments, more) = (call.arguments, call.more);
            let mut request = ToolCall { tool, arguments, more, task: None };
            match call.task {
                TaskMode::Created(task) => request.task = Some(&**task),
                TaskMode::Hidden if tasks::needs_task(call.tool) => {
                    return Box::pin(upstream.call_with_hidden_task(request, host, clock)).await;
                }
                TaskMode::Hidden => {}
            }
            upstream.call(&request, host, clock).await
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.upstreams.close())
    }
}

/// The shape of nearly all results: texts, and perhaps structured content. It is read without a map
/// of its members, which takes a third of the time. Anything else is refused, and read as a map.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct UsualResult {
    content: Vec<TextBlock>,
    #[serde(rename = "structuredContent", default, deserialize_with = "present")]
    structured: Option<Json>,
    #[serde(rename = "isError", default)]
    is_error: bool,
}

/// A text without annotations or other members.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TextBlock {
    #[serde(rename = "type")]
    _type: TextType,
    text: String,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum TextType {
    Text,
}

/// A member that is there, also if it is null.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    serde::Deserialize::deserialize(from).map(Some)
}

/// Reads the result of `tools/call` from the JSON that the server sent. Content blocks of unknown
/// types and unknown members pass through; only what makes the result unusable is an error.
///
/// Two ways lead to the same outcome. The usual shape is read directly; everything else, and
/// results with fractions, whose text has to be kept, as a map of members.
///
/// # Errors
/// OUTPUT_INVALID: what the model would see of such a result would be nothing, or wrong.
fn read_result(result: &RawValue) -> Result<Outcome, Failure> {
    let invalid = |message: &str| {
        Err(Failure::new(&code::OUTPUT_INVALID, format!("the server's answer {message}")))
    };
    let text = result.get();
    if let Ok(UsualResult { content, structured, is_error }) = serde_json::from_str(text)
        && structured.as_ref().is_none_or(|value| !has_float(value))
    {
        let content = content.into_iter().map(|block| ResultContent::text(block.text)).collect();
        return Ok(Outcome { content, structured, is_error, ..Outcome::default() });
    }
    let Ok(mut result) = serde_json::from_str::<Map<String, Json>>(text) else {
        // It is JSON, so an object that cannot be parsed has too many levels.
        return match text.trim_start().starts_with('{') {
            true => invalid("is nested too deeply"),
            false => invalid("is not an object"),
        };
    };
    let written = WrittenParts::of(text, &result);
    let content = match result.remove("content") {
        None => Vec::new(),
        Some(Json::Array(items)) if items.iter().all(Json::is_object) => {
            items.into_iter().map(ResultContent::from).collect()
        }
        Some(_) => return invalid("has a `content` that is not a list of objects"),
    };
    let structured = result.remove("structuredContent");
    let is_error = result.remove("isError");
    let meta = result.remove("_meta");
    // Says nothing beyond the protocol: every result of 2026-07-28 has it.
    if result.get("resultType").is_some_and(|kind| kind == "complete") {
        result.remove("resultType");
    }
    // `{}` counts as an empty result, and a task is one whose content comes later. An object with
    // other members only is an answer to something else, and the model would see nothing of it.
    let is_task = result.contains_key("resultType") || result.contains_key("task");
    if content.is_empty()
        && structured.is_none()
        && is_error.is_none()
        && meta.is_none()
        && !is_task
        && !result.is_empty()
    {
        return invalid("has neither `content` nor `structuredContent`");
    }
    let is_error = is_error.is_some_and(|value| value == true);
    let (rest, warnings) = (result, Vec::new());
    Ok(Outcome { content, structured, is_error, meta, rest, written, warnings })
}
