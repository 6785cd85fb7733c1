//! Tools of MCP servers. Only the files of this folder know rmcp's client side.
//!
//! `upstream` keeps one connection per server and decides when to try again; `connection` opens it
//! and carries calls, those over standard streams by `direct`; `stdio` and `http` are the two ways
//! there; `wire` takes messages apart before rmcp does, so that an answer arrives as its sender
//! wrote it.

mod connection;
mod direct;
mod http;
mod lines;
mod oversized;
mod progress;
mod stdio;
mod tap;
mod upstream;
mod wire;

use std::sync::Arc;

use toolwright_model::Binding;

pub use lines::{Line, Lines, MAX_MESSAGE};
pub use upstream::{Upstream, Upstreams, shown_url};

use crate::{
    BoxFuture, Call, Executor, ExecutorKind, Failure, Host, Json, Outcome, ResultContent, code,
};

/// The line in the table of executors.
pub(crate) const EXECUTOR: ExecutorKind = ExecutorKind {
    id: "mcp",
    accepts: |binding| matches!(binding, Binding::Server { .. }),
    build: |parts| Arc::new(Servers { upstreams: Arc::clone(&parts.upstreams) }),
};

struct Servers {
    upstreams: Arc<Upstreams>,
}

impl Executor for Servers {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let Binding::Server { server, tool } = &call.tool.details.binding else {
                let message = format!("`{}` is no tool of a server", call.tool.name);
                return Err(Failure::new(&code::NOT_RUNNABLE, message));
            };
            let upstream = self.upstreams.get(server);
            let answer = upstream.call(tool, call.arguments, host).await?;
            read_answer(answer)
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.upstreams.close())
    }
}

/// The result of `tools/call`, as it was sent.
fn read_answer(answer: Json) -> Result<Outcome, Failure> {
    let invalid = |message: &str| {
        Err(Failure::new(&code::OUTPUT_INVALID, format!("the server's answer {message}")))
    };
    let Json::Object(mut answer) = answer else { return invalid("is not an object") };
    match answer.get("resultType").and_then(Json::as_str) {
        None | Some("complete") => {}
        Some(other) => {
            let message = format!(
                "the server wants something else first (`{other}`), which cannot be given here"
            );
            return Err(Failure::new(&code::TOOL_FAILED, message)
                .suggest("use a client that can answer the server's questions"));
        }
    }
    let content = match answer.remove("content") {
        None => Vec::new(),
        Some(Json::Array(items)) if items.iter().all(Json::is_object) => {
            items.into_iter().map(ResultContent).collect()
        }
        Some(_) => return invalid("has a `content` that is no list of objects"),
    };
    let structured = answer.remove("structuredContent");
    if content.is_empty()
        && structured.is_none()
        && !answer.contains_key("isError")
        && !answer.contains_key("_meta")
        && !answer.is_empty()
    {
        return invalid("has neither `content` nor `structuredContent`");
    }
    let is_error = answer.get("isError").and_then(Json::as_bool).unwrap_or(false);
    Ok(Outcome {
        content,
        structured,
        is_error,
        meta: answer.remove("_meta"),
        warnings: Vec::new(),
    })
}
