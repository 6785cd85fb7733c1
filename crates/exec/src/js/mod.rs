//! Runs tools whose body is JavaScript: an ES module with a default export, in the sandbox.
//!
//! These are BTCP tools without a page: they compute. Those whose capabilities need a page are run
//! by `browser`. A body that uses what the sandbox lacks, such as `Intl`, runs in a worker of the
//! browser, which has no network. On a machine without a browser it runs in the sandbox all the
//! same: many bodies name such a global in a branch that is rarely taken.
//!
//! The error that the specification gives to bodies, `BTCPError`, is defined in a prelude that runs
//! before the body.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;
use toolwright_model::Binding;
use toolwright_sandbox::{
    GuestLimits, ProgramInput, ProgramOutput, SandboxError, SandboxErrorCode, WorkerPool,
};

use crate::browser::BodyInWorker;
use crate::capped_texts::shorten;
use crate::knowledge::{FunctionError, FunctionRole, KnowledgeFunction, guest_limits};
use crate::offload::{WorkSize, offload};
use crate::{
    BoxFuture, Call, Executor, ExecutorContext, ExecutorKind, Failure, Host, Json, Outcome, code,
};

macro_rules! btcp_class {
    () => {
        "class BTCPError extends Error {
  constructor(code, options) {
    const given = typeof options === 'string' ? { message: options } : (options ?? {});
    const { message, suggestion } = given;
    const missing = (it) => it === undefined || it === null || it === '';
    const own = missing(code) ? 'BTCP_ERROR' : String(code);
    super(missing(message) ? own : message);
    this.name = 'BTCPError';
    this.btcp = true;
    this.code = own;
    if (suggestion !== undefined) {
      const text = typeof suggestion === 'string' ? suggestion : JSON.stringify(suggestion);
      this.suggestion = text.length > 4000 ? text.slice(0, 4000) + '…' : text;
    }
  }
}"
    };
}

/// The entry in the table of executors.
pub(crate) const EXECUTOR: ExecutorKind = ExecutorKind {
    id: "js",
    accepts: |tool| matches!(tool.details.binding, Binding::Script),
    needs: |_| &[],
    build: |context| Arc::new(BodyExecutor { context: context.clone() }),
};

/// The class that a body throws to fail with a code of its own (btcp seed, Error Responses). A
/// suggestion is cut at 4000 characters: it goes to a model.
pub(crate) const BTCP_CLASS: &str = btcp_class!();

/// The same, as a global.
pub(crate) const BTCP_PRELUDE: &str = concat!(btcp_class!(), "\nglobalThis.BTCPError = BTCPError;");

/// Characters of a suggestion, and the ellipsis of the prelude.
const MAX_SUGGESTION: usize = 4001;

/// Characters of a code.
const MAX_CODE: usize = 64;

/// Runs bodies. Lives as long as the runner.
struct BodyExecutor {
    context: ExecutorContext,
}

impl Executor for BodyExecutor {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        _: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let name = call.tool.name.as_str();
            // The file of the body is read when the catalog loads, so its absence is known by now.
            let body = call.body.map_err(|why| missing_body(name, why))?;
            let analyzer = self.context.analyzer.as_ref();
            let names = body.worker_names(analyzer, false).await;
            let no_browser = match &self.context.pages {
                Some(pages) if !names.is_empty() => {
                    let (arguments, budget) = (call.arguments, call.budget);
                    let worker =
                        BodyInWorker { tool: name, body, names, arguments, budget, analyzer };
                    match worker.run(&**pages, None).await {
                        // A body that names `Intl` need not reach it.
                        Err(failure) if failure.code == &code::BROWSER_REQUIRED => Some(failure),
                        ended => return self.outcome(body, ended?).await,
                    }
                }
                _ => None,
            };
            // Only programs that embed this crate without a sandbox get here.
            let Some(pool) = &self.context.pool_for(&call.budget.calls) else {
                return Err(Failure::new(
                    &code::SANDBOX_FAILED,
                    format!("`{name}` cannot run: there is no sandbox"),
                ));
            };
            let result = self.run_body(body, pool, &call).await;
            match (no_browser, &result) {
                (Some(failure), Err(error)) if may_lack_global(&error.error) => Err(failure),
                _ => self.outcome(body, result).await,
            }
        })
    }
}

impl BodyExecutor {
    /// What a call returns whose body has run.
    async fn outcome(
        &self,
        body: &KnowledgeFunction,
        result: Result<ProgramOutput, FunctionError>,
    ) -> Result<Outcome, Failure> {
        match result {
            Ok(output) => {
                body.log_console(&output.log, &self.context.console);
                let value = output.value;
                Ok(offload(WorkSize::of(&value), move || Outcome::value_of(value)).await)
            }
            Err(failure) => {
                body.log_console(&failure.error.log, &self.context.console);
                Err(failure_of_body(body, &failure))
            }
        }
    }

    /// Runs a body, which was compiled with the prelude, within what is left of the call's time.
    async fn run_body(
        &self,
        body: &KnowledgeFunction,
        pool: &WorkerPool,
        call: &Call<'_>,
    ) -> Result<ProgramOutput, FunctionError> {
        let input = ProgramInput::args(call.arguments.shared());
        // The runner ends the call at its deadline and drops this future. These limits are for the
        // worker, which must not go on after that; the clock gets a second more, so that the
        // runner's deadline comes first.
        let left = call.budget.remaining();
        let limits = GuestLimits {
            cpu: left,
            wall: left + Duration::from_secs(1),
            output: call.budget.output,
            ..guest_limits(call.limits, FunctionRole::Body)
        };
        body.run(pool, self.context.analyzer.as_ref(), &input, &limits, None).await
    }
}

/// Whether a body may have ended because the sandbox lacks a global: the name itself is a
/// `ReferenceError`, a member of what `globalThis.Intl` returned there a `TypeError`.
fn may_lack_global(error: &SandboxError) -> bool {
    matches!(error.class.as_deref(), Some("ReferenceError" | "TypeError"))
}

/// The failure of a call whose tool has no body.
pub(crate) fn missing_body(name: &str, why: &str) -> Failure {
    let message = format!("`{name}` has no body: {why}");
    let help = "write one with a default export, or name its folder in `implementations`";
    Failure::new(&code::NOT_RUNNABLE, message).suggest(help)
}

/// The failure of a call whose body failed. Errors of the tool's author, of the caller's limits and
/// of this machine have different codes, because different people can correct them.
pub(crate) fn failure_of_body(body: &KnowledgeFunction, failure: &FunctionError) -> Failure {
    let error = &failure.error;
    let field = |name: &str| {
        error.fields.as_deref().and_then(|fields: &Map<String, Json>| fields.get(name)?.as_str())
    };
    match error.code {
        SandboxErrorCode::Threw if is_btcp(error) => {
            // As its author wrote it: `check` reports a code that is not UPPER_SNAKE.
            let own = field("code").map(str::trim).filter(|own| !own.is_empty());
            let own = shorten(own.unwrap_or("BTCP_ERROR"), MAX_CODE);
            let own = own.split_whitespace().collect::<Vec<_>>().join(" ");
            let failure = Failure::new(&code::TOOL_FAILED, error.message.clone()).tool_code(own);
            match field("suggestion") {
                // Cut again: a body can set the property without the constructor.
                Some(suggestion) => failure.suggest(shorten(suggestion, MAX_SUGGESTION)),
                None => failure,
            }
        }
        // The limits of the call, as the runner reports them for every other executor.
        SandboxErrorCode::Timeout => Failure::new(&code::TIMEOUT, body.explain(failure)),
        SandboxErrorCode::OutputTooLarge => {
            Failure::new(&code::OUTPUT_TOO_LARGE, body.explain(failure))
        }
        SandboxErrorCode::NotJson => Failure::new(&code::OUTPUT_INVALID, body.explain(failure)),
        SandboxErrorCode::Syntax | SandboxErrorCode::NoEntryPoint => Failure::new(
            &code::NOT_RUNNABLE,
            body.explain(failure),
        )
        .suggest(
            "correct the body: an ES module whose default export is a function, without imports",
        ),
        SandboxErrorCode::StartFailed | SandboxErrorCode::WorkerDied => {
            Failure::new(&code::SANDBOX_FAILED, body.explain(failure))
        }
        SandboxErrorCode::Busy => Failure::new(&code::BUSY, body.explain(failure)),
        // Exceptions, the memory limit, the stack: the tool ran and failed.
        _ => Failure::new(&code::TOOL_FAILED, body.explain(failure)),
    }
}

/// Whether a `BTCPError` was thrown, or an error of a class derived from it: the prelude marks
/// them, because a subclass may change its `name`.
fn is_btcp(error: &SandboxError) -> bool {
    error.fields.as_deref().is_some_and(|fields| fields.get("btcp") == Some(&Json::Bool(true)))
}
