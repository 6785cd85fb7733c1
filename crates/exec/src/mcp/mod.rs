//! Tools of MCP servers: the client side of the protocol. Only the files of this folder name rmcp's
//! client types.
//!
//! ```text
//! runner ─▶ McpExecutor ─▶ Upstream (`upstream`: one per server, when to connect and to retry)
//!                             ▼
//!                 UpstreamConnection (`connection`: handshake, calls, lists)
//!             direct_calls │         │ rmcp's service
//!               (fast path)│         ▼
//!                          │   incoming_filter ◀─ answers, progress (`progress_router`)
//!                          ▼         ▼
//!            server_process, stdio_transport │ http_transport
//! ```
//!
//! `raw_results` keeps results as the JSON that the server sent, `given_arguments` arguments as the
//! caller wrote them; `message_lines` and `id_finder`
//! read lines of bounded length; `connect_error` words what users read. Not here: which tools there
//! are (the catalog calls [`Upstream::list`]), deadlines of calls, and caps on results.

mod connect_error;
mod connection;
mod direct_calls;
mod given_arguments;
mod http_transport;
mod id_finder;
mod incoming_filter;
mod message_lines;
mod progress_router;
mod raw_results;
mod server_lists;
mod server_process;
mod stdio_transport;
mod upstream;

use std::sync::Arc;

use toolwright_model::Binding;

pub use message_lines::{MAX_MESSAGE, MessageLine, MessageLines};
pub use server_lists::{ListKind, RequestError, ServerDescription, UpstreamEvent};
pub use upstream::{Upstream, Upstreams};

use crate::{
    BoxFuture, Call, Executor, ExecutorKind, Failure, Host, Json, Outcome, ResultContent, code,
};

/// The entry in the table of executors.
pub(crate) const EXECUTOR: ExecutorKind = ExecutorKind {
    id: "mcp",
    accepts: |binding| matches!(binding, Binding::Server { .. }),
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
            let result = upstream.call(tool, call.arguments, host).await?;
            read_result(result)
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.upstreams.close())
    }
}

/// Reads the result of `tools/call` from the JSON that the server sent. Content blocks of unknown
/// types pass through; only what makes the result unusable is an error.
fn read_result(result: Json) -> Result<Outcome, Failure> {
    let invalid = |message: &str| {
        Err(Failure::new(&code::OUTPUT_INVALID, format!("the server's answer {message}")))
    };
    let Json::Object(mut result) = result else { return invalid("is not an object") };
    // Since 2026-07-28 a server can answer with a request for input from the user. There may be no
    // user behind a call, so such a tool cannot be run here.
    match result.get("resultType").and_then(Json::as_str) {
        None | Some("complete") => {}
        Some(other) => {
            let message = format!(
                "the server requested something else first (`{other}`), which is not supported"
            );
            return Err(Failure::new(&code::TOOL_FAILED, message)
                .suggest("use a client that can answer the server's questions"));
        }
    }
    let content = match result.remove("content") {
        None => Vec::new(),
        Some(Json::Array(items)) if items.iter().all(Json::is_object) => {
            items.into_iter().map(ResultContent).collect()
        }
        Some(_) => return invalid("has a `content` that is not a list of objects"),
    };
    let structured = result.remove("structuredContent");
    // `{}` counts as an empty result. An object with other fields only is an answer to something
    // else, and the model would see nothing of it.
    if content.is_empty()
        && structured.is_none()
        && !result.contains_key("isError")
        && !result.contains_key("_meta")
        && !result.is_empty()
    {
        return invalid("has neither `content` nor `structuredContent`");
    }
    let is_error = result.get("isError").and_then(Json::as_bool).unwrap_or(false);
    Ok(Outcome {
        content,
        structured,
        is_error,
        meta: result.remove("_meta"),
        warnings: Vec::new(),
    })
}
