//! Tools whose body is JavaScript: an ES module with a default export, run in the sandbox. There is
//! no page around it; a tool that needs one is told so.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;
use tokio::sync::OnceCell;
use toolwright_model::Binding;
use toolwright_sandbox::{
    GuestLimits, Program, ProgramInput, SandboxError, SandboxErrorCode, WorkerPool,
};

use crate::knowledge::{Code, Role, guest_limits};
use crate::{
    BoxFuture, Call, Executor, ExecutorContext, ExecutorKind, Failure, Host, Json, Outcome, code,
};

/// The line in the table of executors.
pub(crate) const EXECUTOR: ExecutorKind = ExecutorKind {
    id: "js",
    accepts: |binding| matches!(binding, Binding::Script),
    build: |parts| Arc::new(Bodies { parts: parts.clone(), prelude: OnceCell::new() }),
};

/// btcp seed, Error Responses: what a body throws to say why, under a code of its own.
const PRELUDE: &str = "class BTCPError extends Error {
  constructor(code, options) {
    const { message, suggestion } = typeof options === 'string' ? { message: options } : (options ?? {});
    super(message ?? String(code));
    this.name = 'BTCPError';
    this.btcp = true;
    this.code = code;
    if (suggestion !== undefined) {
      const text = typeof suggestion === 'string' ? suggestion : JSON.stringify(suggestion);
      this.suggestion = text.length > 4000 ? text.slice(0, 4000) + '…' : text;
    }
  }
}
globalThis.BTCPError = BTCPError;";

/// What only a page can give.
const OF_A_PAGE: &[&str] = &["dom:", "storage:", "network:", "clipboard:", "media:"];

struct Bodies {
    parts: ExecutorContext,
    prelude: OnceCell<Program>,
}

impl Executor for Bodies {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        _: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let name = call.tool.name.as_str();
            let of_a_page = |need: &str| OF_A_PAGE.iter().any(|kind| need.starts_with(kind));
            if let Some(need) =
                call.tool.needs.iter().map(|need| need.as_str()).find(|need| of_a_page(need))
            {
                let message =
                    format!("`{name}` needs `{need}`, which only a page in a browser has");
                return Err(Failure::new(&code::BROWSER_REQUIRED, message));
            }
            let body = call.body.map_err(|why| {
                let message = format!("`{name}` has no body: {why}");
                let help =
                    "write one with a default export, or name its folder as `implementations` of the source";
                Failure::new(&code::NOT_RUNNABLE, message).suggest(help)
            })?;
            let Some(pool) = &self.parts.sandbox else {
                return Err(Failure::new(
                    &code::SANDBOX_FAILED,
                    format!("`{name}` cannot run: there is no sandbox"),
                ));
            };
            match self.work(body, pool, &call).await {
                Ok(output) => {
                    body.log(&output.log, &self.parts.console);
                    Ok(Outcome::value_of(output.value))
                }
                Err(error) => {
                    body.log(&error.log, &self.parts.console);
                    Err(told(body, &error))
                }
            }
        })
    }
}

impl Bodies {
    async fn work(
        &self,
        body: &Code,
        pool: &WorkerPool,
        call: &Call<'_>,
    ) -> Result<toolwright_sandbox::ProgramOutput, SandboxError> {
        let prelude = self.prelude.get_or_try_init(|| pool.compile_prelude(PRELUDE)).await?;
        let input = ProgramInput {
            prelude: Some(prelude.clone()),
            ..ProgramInput::args(call.arguments.clone())
        };
        let left = call.budget.remaining();
        // The runner ends the call at its deadline; these are for the worker, which must not live
        // on.
        let time = GuestLimits {
            cpu: left,
            wall: left + Duration::from_secs(1),
            ..guest_limits(call.limits, Role::Body)
        };
        let limits = GuestLimits { output: call.budget.output, ..time };
        body.run(pool, &input, &limits, None).await
    }
}

/// What the caller is told of a body that failed.
fn told(body: &Code, error: &SandboxError) -> Failure {
    let field = |name: &str| {
        error.fields.as_deref().and_then(|fields: &Map<String, Json>| fields.get(name)?.as_str())
    };
    match error.code {
        SandboxErrorCode::Threw if is_btcp(error) => {
            // A code is UPPER_SNAKE; what is not is none.
            let own = field("code").filter(|own| is_code(own)).unwrap_or("BTCP_ERROR");
            let failure = Failure::new(&code::TOOL_FAILED, error.message.clone()).tool_code(own);
            match field("suggestion") {
                Some(suggestion) => failure.suggest(suggestion),
                None => failure,
            }
        }
        SandboxErrorCode::Timeout => Failure::new(&code::TIMEOUT, body.explain(error)),
        SandboxErrorCode::OutputTooLarge => {
            Failure::new(&code::OUTPUT_TOO_LARGE, body.explain(error))
        }
        SandboxErrorCode::NotJson => Failure::new(&code::OUTPUT_INVALID, body.explain(error)),
        SandboxErrorCode::Syntax | SandboxErrorCode::NoEntryPoint => Failure::new(
            &code::NOT_RUNNABLE,
            body.explain(error),
        )
        .suggest(
            "mend the body: it is an ES module whose default export is a function, without imports",
        ),
        SandboxErrorCode::StartFailed | SandboxErrorCode::WorkerDied => {
            Failure::new(&code::SANDBOX_FAILED, body.explain(error))
        }
        _ => Failure::new(&code::TOOL_FAILED, body.explain(error)),
    }
}

/// Whether a `BTCPError` was thrown, or something made of one.
fn is_btcp(error: &SandboxError) -> bool {
    error.fields.as_deref().is_some_and(|fields| fields.get("btcp") == Some(&Json::Bool(true)))
}

fn is_code(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.len() <= 64
        && text.chars().all(plain)
}
