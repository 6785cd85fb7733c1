//! Tools that call other tools (AIOS, `type: meta`): the helper that `orchestration` names runs in
//! the sandbox with `await tools.call(id, args)`.
//!
//! ```text
//! call ─▶ helper in a worker ── tools.call ─▶ InnerCaller ─▶ the runner, all steps
//!              ▲                                   │
//!              └── value, or a rejected promise ◀──┘
//! ```
//!
//! While the helper waits, its clocks stand still and its place in the pool is free: only the
//! deadline of the call runs. A failed call rejects the promise with an `Error` that has the
//! failure's `code`, so the helper can go on without its result (`Promise.allSettled`, `catch`).
//! The calls are listed under `toolwright/calls` in the metadata of the result.
//!
//! A helper cannot catch the end of its allowance: with the first call beyond it, the whole call
//! ends with CALL_LIMIT, at all levels. Otherwise a loop around `try` would go on until its time is
//! up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, json};
use toolwright_model::Binding;
use toolwright_sandbox::{
    GuestLimits, HostError, HostFunctions, ProgramInput, SandboxErrorCode, WorkerPool,
};

use crate::budget::MAX_INNER_CALLS;
use crate::capped_texts::shorten;
use crate::inner_calls::{InnerCall, NoCallLeft};
use crate::knowledge::{FunctionError, FunctionRole, KnowledgeFunction, guest_limits};
use crate::offload::{WorkSize, offload};
use crate::{
    BoxFuture, Call, Executor, ExecutorContext, ExecutorKind, Failure, Host, InnerCaller, Json, OK,
    Outcome, code,
};

/// The entry in the table of executors.
pub(crate) const EXECUTOR: ExecutorKind = ExecutorKind {
    id: "meta",
    accepts: |tool| matches!(tool.details.binding, Binding::Orchestration { .. }),
    // Each tool that it calls passes the policy by itself, but with the grants of its own toolset:
    // somebody has to allow that this code uses them.
    needs: |tool| match &tool.details.binding {
        Binding::Orchestration { aggregates, .. } if !aggregates.is_empty() => &["tool:call"],
        _ => &[],
    },
    build: |context| Arc::new(OrchestrationExecutor { context: context.clone() }),
};

/// The metadata that list the calls.
const CALLS_KEY: &str = "toolwright/calls";
/// The global that holds the name of the command, for a definition with several.
const COMMAND: &str = "command";
/// The function that helpers call, as `HostFunctions` names it.
const CALL_FUNCTION: &str = "tools.call";
/// How much longer than the call its helper may run by the clock: the runner's deadline comes
/// first.
const AFTER_DEADLINE: Duration = Duration::from_secs(1);
/// Characters of an id and of a message in the list of calls.
const MAX_ID: usize = 200;
const MAX_MESSAGE: usize = 300;
/// Failed calls that a message names.
const MAX_NAMED: usize = 5;
/// What to do about a helper that computes for too long.
const HELPER_TIME: &str =
    "let the helper compute less, or allow helpers more time with `function_timeout` of `[limits]`";

/// Runs orchestrating helpers. Lives as long as the runner.
struct OrchestrationExecutor {
    context: ExecutorContext,
}

impl Executor for OrchestrationExecutor {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        _: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let name = call.tool.name.as_str();
            let Binding::Orchestration { helper, aggregates } = &call.tool.details.binding else {
                // Not reached through the runner: see `EXECUTOR`.
                let message = format!("`{name}` does not call other tools");
                return Err(Failure::new(&code::NOT_RUNNABLE, message));
            };
            let Some(function) =
                call.knowledge.and_then(|own| own.function(FunctionRole::Helper, helper))
            else {
                let message = format!("`{name}` is run by the helper `{helper}`, which is missing");
                let help = "define it under `helpers`, or name another one in `orchestration`";
                return Err(Failure::new(&code::NOT_RUNNABLE, message).suggest(help));
            };
            // Only programs that embed this crate without a sandbox get here.
            let Some(pool) = self.context.pool_for(&call.budget.calls) else {
                let message = format!("`{name}` cannot run: there is no sandbox");
                return Err(Failure::new(&code::SANDBOX_FAILED, message));
            };
            let calls = OrchestratedCalls { inner: call.inner, aggregates, made: Mutex::default() };
            self.orchestrate(function, &pool, &call, &calls).await
        })
    }
}

impl OrchestrationExecutor {
    /// Runs the helper until it ends or makes one call too many.
    ///
    /// The allowance is shared by all levels, so it may be used up by a tool further down; the
    /// helper is dropped in the middle then.
    async fn orchestrate(
        &self,
        function: &KnowledgeFunction,
        pool: &WorkerPool,
        call: &Call<'_>,
        calls: &OrchestratedCalls<'_>,
    ) -> Result<Outcome, Failure> {
        let left = call.budget.remaining();
        let own = guest_limits(call.limits, FunctionRole::Helper);
        let limits = GuestLimits {
            cpu: own.cpu.min(left),
            wall: own.wall.min(left + AFTER_DEADLINE),
            output: own.output.min(call.budget.output),
            ..own
        };
        let mut input = ProgramInput::args(call.arguments.shared());
        input.globals.push((COMMAND.to_owned(), Json::from(call.tool.name.as_str()).into()));
        let run = function.run(pool, self.context.analyzer.as_ref(), &input, &limits, Some(calls));
        let result = tokio::select! {
            () = call.budget.calls.used_up() => None,
            result = run => Some(result),
        };
        // A helper that does not wait for its calls may have ended meanwhile.
        let Some(result) = result.filter(|_| !call.budget.calls.is_used_up()) else {
            return Err(calls.limit_failure(format!(
                "`{}` is stopped: {MAX_INNER_CALLS} calls of other tools were made for it, which \
                 is the limit",
                call.tool.name
            )));
        };
        match result {
            Ok(output) => {
                function.log_console(&output.log, &self.context.console);
                let value = output.value;
                let outcome = offload(WorkSize::of(&value), move || Outcome::value_of(value));
                Ok(calls.add_to(outcome.await))
            }
            Err(failure) => {
                function.log_console(&failure.error.log, &self.context.console);
                Err(calls.failure_of(function, &failure))
            }
        }
    }
}

/// A call that a helper made.
struct MadeCall {
    id: String,
    /// [`OK`] or the code of its failure; CANCELLED until it has ended.
    code: &'static str,
    /// The message of its failure.
    message: String,
    /// The list of the calls that it made itself; null if it made none.
    inner: Json,
}

impl MadeCall {
    /// Its entry in the list of calls.
    fn to_json(&self) -> Json {
        let mut entry = json!({"tool": self.id, "code": self.code});
        if !self.message.is_empty() {
            entry["message"] = self.message.as_str().into();
        }
        if self.inner.as_array().is_some_and(|inner| !inner.is_empty()) {
            entry["calls"] = self.inner.clone();
        }
        entry
    }
}

/// The calls of one run of a helper.
///
/// Lent to the guest as its function `tools.call`, and read when the helper has ended.
struct OrchestratedCalls<'a> {
    inner: InnerCaller<'a>,
    /// What the definition allows to be called: ids of tools, or names of toolsets.
    aggregates: &'a [String],
    /// In the order in which they began.
    made: Mutex<Vec<MadeCall>>,
}

impl HostFunctions for OrchestratedCalls<'_> {
    fn names(&self) -> Vec<String> {
        vec![CALL_FUNCTION.to_owned()]
    }

    fn call<'b>(
        &'b self,
        _: &'b str,
        arguments: Vec<Json>,
    ) -> BoxFuture<'b, Result<Json, HostError>> {
        let mut arguments = arguments.into_iter();
        let Some(Json::String(id)) = arguments.next() else {
            let message = "the first argument of `tools.call` is the id of a tool, as a text";
            return Box::pin(std::future::ready(Err(HostError::new(message))));
        };
        let given = arguments.next().filter(|it| !it.is_null()).unwrap_or_else(|| json!({}));
        let InnerCall { id, is_orchestration, result } =
            match self.inner.call(&id, given, self.aggregates) {
                Ok(call) => call,
                Err(NoCallLeft) => {
                    // `orchestrate` ends the guest, and its promise with it.
                    return Box::pin(std::future::pending());
                }
            };
        let number = self.begin(&id);
        Box::pin(async move {
            match result.await {
                Ok(outcome) if outcome.is_error => {
                    let (text, fields) = (outcome.texts(), error_fields(code::TOOL_FAILED.name));
                    self.end(number, code::TOOL_FAILED.name, &text);
                    Err(HostError { message: format!("`{id}`: {text}"), fields })
                }
                Ok(mut outcome) => {
                    self.end(number, OK, "");
                    // Only of a tool that is run here: a server may write anything into it.
                    let inner = outcome.meta.as_mut().filter(|_| is_orchestration);
                    let inner = inner.and_then(|meta| meta.get_mut(CALLS_KEY)).map(Json::take);
                    if let (Some(call), Some(inner)) = (self.made().get_mut(number), inner) {
                        call.inner = inner;
                    }
                    Ok(offload(outcome.work_size(), move || outcome.value()).await)
                }
                Err(failure) => {
                    self.end(number, failure.code.name, &failure.message);
                    let mut fields = error_fields(failure.code.name);
                    let details = failure.to_json();
                    for name in ["suggestion", "errors", "toolCode"] {
                        fields.extend(details.get(name).map(|it| (name.to_owned(), it.clone())));
                    }
                    Err(HostError { message: format!("`{id}`: {}", failure.message), fields })
                }
            }
        })
    }
}

/// The properties of the `Error` that the helper catches.
fn error_fields(code: &str) -> Map<String, Json> {
    Map::from_iter([("code".to_owned(), Json::from(code))])
}

impl OrchestratedCalls<'_> {
    fn made(&self) -> MutexGuard<'_, Vec<MadeCall>> {
        // Nothing panics while it holds the lock.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a call that begins, and returns its number in the list.
    fn begin(&self, id: &str) -> usize {
        let id = shorten(id, MAX_ID).into_owned();
        let (code, message) = (code::CANCELLED.name, String::new());
        let call = MadeCall { id, code, message, inner: Json::Null };
        let mut made = self.made();
        made.push(call);
        made.len() - 1
    }

    fn end(&self, number: usize, code: &'static str, message: &str) {
        let message = shorten(message, MAX_MESSAGE).into_owned();
        if let Some(call) = self.made().get_mut(number) {
            (call.code, call.message) = (code, message);
        }
    }

    /// The calls in the order in which they began, as the result lists them.
    fn listed(&self) -> Vec<Json> {
        self.made().iter().map(MadeCall::to_json).collect()
    }

    /// Adds the list of calls to the metadata of a result, and a warning about those that failed.
    fn add_to(&self, mut outcome: Outcome) -> Outcome {
        let listed = self.listed();
        outcome.warnings.extend(failed_calls(&listed));
        outcome.meta = Some(json!({CALLS_KEY: listed}));
        outcome
    }

    /// The failure of a helper that failed. Its calls are part of the message: what they did is
    /// done.
    fn failure_of(&self, function: &KnowledgeFunction, failure: &FunctionError) -> Failure {
        let message = function.explain(failure);
        let was_limited = self.made().iter().any(|call| call.code == code::CALL_LIMIT.name);
        let code = match failure.error.code {
            // A call was refused, and the helper did not catch it.
            SandboxErrorCode::Threw if was_limited => return self.limit_failure(message),
            SandboxErrorCode::Timeout => &code::TIMEOUT,
            SandboxErrorCode::OutputTooLarge => &code::OUTPUT_TOO_LARGE,
            SandboxErrorCode::NotJson => &code::OUTPUT_INVALID,
            SandboxErrorCode::Syntax | SandboxErrorCode::NoEntryPoint => &code::NOT_RUNNABLE,
            SandboxErrorCode::StartFailed | SandboxErrorCode::WorkerDied => &code::SANDBOX_FAILED,
            SandboxErrorCode::Busy => &code::BUSY,
            // Exceptions, the memory limit, the stack.
            _ => &code::TOOL_FAILED,
        };
        let result = Failure::new(code, self.with_calls(message));
        match failure.error.code {
            // The limit of the helper, which the limit of the call does not change.
            SandboxErrorCode::Timeout => result.suggest(HELPER_TIME),
            _ => result,
        }
    }

    fn limit_failure(&self, message: String) -> Failure {
        Failure::new(&code::CALL_LIMIT, self.with_calls(message))
    }

    /// A message, and what became of the calls.
    ///
    /// A call that succeeded has had its effects, although the whole has failed; a caller has to
    /// know that before it repeats the call.
    fn with_calls(&self, message: String) -> String {
        let listed = self.listed();
        match (listed.len(), failed_calls(&listed)) {
            (0, _) => message,
            (count, None) => format!("{message}; all its {count} calls of other tools succeeded"),
            (_, Some(failed)) => format!("{message}; {failed}"),
        }
    }
}

/// A sentence about the calls that failed, also those that were made by tools which succeeded;
/// `None` if all succeeded.
fn failed_calls(listed: &[Json]) -> Option<String> {
    let (mut failed, mut all) = (Vec::new(), 0);
    collect_failed(listed, "", &mut failed, &mut all);
    let named = failed.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if failed.len() > MAX_NAMED { ", …" } else { "" };
    let failed = failed.len();
    (failed > 0).then(|| format!("{failed} of {all} calls of other tools failed: {named}{more}"))
}

/// Counts calls, and collects those that failed with the tools through which they were made. There
/// are no more levels than calls may have.
fn collect_failed(listed: &[Json], through: &str, failed: &mut Vec<String>, all: &mut usize) {
    for call in listed {
        *all += 1;
        let text = |name: &str| call[name].as_str().unwrap_or_default();
        let path = format!("{through}`{}`", text("tool"));
        if text("code") != OK {
            failed.push(format!("{path} ({})", text("code")));
        }
        let inner = call["calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        collect_failed(inner, &format!("{path} → "), failed, all);
    }
}
