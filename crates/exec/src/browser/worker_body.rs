//! Runs a body in a worker of the browser, because it uses what the sandbox lacks: `Intl`,
//! `crypto`, `WebAssembly`, timers. The worker has no network and no page. What the body does to
//! the page of the call are the same operations, judged by the same table, as in the sandbox.
//!
//! ```text
//! body, arguments ─ worker_script ─▶ Browser::run_worker ─▶ worker
//!                      POST /ask  ─▶ PageOperations::answer ─▶ perform: the right, then the page
//!                      POST /end  ─▶ read_result ─▶ ProgramOutput or SandboxError
//! ```
//!
//! What comes back is text that the body may have written itself, without the frame around it. So
//! `read_result` checks it like any foreign text and bounds it; which operations were allowed was
//! decided on this side.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, json};
use toolwright_browser::{
    HostAnswer, OPERATIONS, PageError, PageErrorCode, WorkerCode, WorkerHost,
};
use toolwright_sandbox::{
    CodePosition, LogLevel, LogLine, ProgramOutput, SandboxError, SandboxErrorCode, TraceFrame,
};
use toolwright_script::{
    GLOBALS, LACKING_MEMBERS, ScriptAnalyzer, WORKER_GLOBALS, WORKER_GLOBALS_OF_PAGES,
};

use super::{AFTER_DEADLINE, PAGE_FACADE, PageOperations, PageProvider, failure_of_operation};
use crate::js::BTCP_PRELUDE;
use crate::knowledge::{FunctionError, KnowledgeFunction};
use crate::{Budget, CallArguments, Failure, Json, code};

/// What surrounds the preludes in a worker.
const FRAME: &str = include_str!("body_worker.js");

/// A call of a body that runs in a worker.
///
/// Used by the executors `js` (without a page) and `browser` (with one).
pub(crate) struct BodyInWorker<'a> {
    pub(crate) tool: &'a str,
    pub(crate) body: &'a KnowledgeFunction,
    /// The names that the sandbox lacks.
    pub(crate) names: &'a [String],
    pub(crate) arguments: &'a CallArguments,
    pub(crate) budget: &'a Budget,
    pub(crate) analyzer: Option<&'a Arc<dyn ScriptAnalyzer>>,
}

impl BodyInWorker<'_> {
    /// Runs the body. `operations` are those on the page of the call, if it has one.
    ///
    /// # Errors
    /// Outside: there was no worker, or it was ended. Inside: the body failed.
    pub(crate) async fn run(
        &self,
        pages: &dyn PageProvider,
        operations: Option<&PageOperations<'_>>,
    ) -> Result<Result<ProgramOutput, FunctionError>, Failure> {
        let (arguments, limit) = (self.arguments.shared(), self.budget.output);
        let script = worker_script(&arguments, limit, operations.is_some());
        let code = WorkerCode { script: &script, module: self.body.source() };
        let within = self.budget.remaining() + AFTER_DEADLINE;
        let ended = match operations {
            Some(operations) => pages.run_worker(code, operations, within).await,
            None => pages.run_worker(code, &NoOperations, within).await,
        };
        let result = ended.map_err(|error| self.failure(&error))?;
        match read_result(&result, limit) {
            Ok(output) => Ok(Ok(output)),
            Err(error) => Ok(Err(self.body.locate(error, self.analyzer).await)),
        }
    }

    /// That the worker was ended for its memory is a failure of the tool; that there is no browser
    /// is one of this machine, and names what the body needs it for.
    fn failure(&self, error: &PageError) -> Failure {
        let names = self.names.join("`, `");
        match error.code {
            PageErrorCode::NoBrowser => {
                let message = format!(
                    "`{}` uses `{names}`, for which its body runs in a worker of a browser: {error}",
                    self.tool
                );
                Failure::new(&code::BROWSER_REQUIRED, message)
            }
            PageErrorCode::PageCrashed => {
                Failure::new(&code::TOOL_FAILED, format!("`{}`: {error}", self.tool))
            }
            other => failure_of_operation(other, format!("`{}`: {error}", self.tool)),
        }
    }
}

/// The host of a body without a page.
///
/// Answers every question with an exception for the body.
struct NoOperations;

impl WorkerHost for NoOperations {
    fn answer(&self, _: String) -> HostAnswer<'_> {
        let answer = json!({ "error": { "message": "the tool has no page" } });
        Box::pin(std::future::ready(answer.to_string()))
    }
}

impl WorkerHost for PageOperations<'_> {
    fn answer(&self, message: String) -> HostAnswer<'_> {
        Box::pin(async move {
            let given = serde_json::from_str::<Vec<Json>>(&message).unwrap_or_default();
            let mut given = given.into_iter();
            let answer = match given.next() {
                Some(Json::String(name)) => match self.perform(&name, given.collect()).await {
                    Ok(value) => json!({ "value": value }),
                    Err(error) => {
                        let mut fields = error.fields;
                        fields.insert("message".to_owned(), error.message.into());
                        json!({ "error": fields })
                    }
                },
                _ => json!({ "error": { "message": "an operation has a name" } }),
            };
            answer.to_string()
        })
    }
}

/// The script that a worker starts with.
///
/// `limit` is the size of the result, which the frame checks before it sends it. What the script is
/// given is data; the body itself is a module of its own that the script imports.
fn worker_script(arguments: &Json, limit: usize, is_page: bool) -> String {
    let operations: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
    let names = GLOBALS.iter().chain(WORKER_GLOBALS).chain(WORKER_GLOBALS_OF_PAGES);
    let names: Vec<&str> = names.copied().collect();
    let lacking: Map<String, Json> = LACKING_MEMBERS
        .iter()
        .map(|(object, members)| ((*object).to_owned(), Json::from(members.to_vec())))
        .collect();
    // Twice JSON: as a literal of JavaScript, `{"__proto__": …}` would not be a member.
    let given = Json::from(
        json!({
            "operations": operations,
            "names": names,
            "lacking": lacking,
            "isPage": is_page,
            "given": arguments,
            "limit": limit,
        })
        .to_string(),
    );
    let (_, frame) = FRAME.split_once("'BEGIN';\n").unwrap_or_default();
    let (begin, end) = frame.split_once("'END';\n").unwrap_or_default();
    let facade = if is_page { PAGE_FACADE } else { "" };
    // In a function: what is declared there is not global.
    format!(
        "(() => {{\nconst TOOLWRIGHT = JSON.parse({given});\n{begin}{BTCP_PRELUDE}\n{facade}\n{end}\
         }})();"
    )
}

/// What a worker ended with. Its text is that of code that nobody trusts. Also used for bodies in a
/// page.
///
/// # Errors
/// The exception of the body, or that the result is not of the expected form or is too large.
pub(super) fn read_result(text: &str, limit: usize) -> Result<ProgramOutput, SandboxError> {
    let broken = || SandboxError::new(SandboxErrorCode::NotJson, "the result cannot be read");
    let result: Json = serde_json::from_str(text).map_err(|_| broken())?;
    let member = |name: &str| result.get(name).and_then(Json::as_str);
    let log = log_lines(&result);
    if let Some(kind) = member("kind") {
        return Err(SandboxError {
            name: member("name").map(Into::into),
            trace: trace(member("stack").unwrap_or_default()),
            fields: result.get("fields").and_then(Json::as_object).cloned().map(Box::new),
            log: log.into(),
            ..SandboxError::new(code_named(kind), message_of(kind, member("message"), limit))
        });
    }
    let value = member("value").ok_or_else(broken)?;
    if value.len() > limit {
        let message = message_of("OUTPUT_TOO_LARGE", None, limit);
        return Err(SandboxError::new(SandboxErrorCode::OutputTooLarge, message));
    }
    let value = serde_json::from_str(value).map_err(|_| broken())?;
    Ok(ProgramOutput { value, log, cpu: Duration::ZERO, memory: 0 })
}

fn code_named(kind: &str) -> SandboxErrorCode {
    let known = SandboxErrorCode::ALL.into_iter().find(|code| code.name() == kind);
    known.unwrap_or(SandboxErrorCode::Threw)
}

fn message_of(kind: &str, message: Option<&str>, limit: usize) -> String {
    match (kind, message) {
        ("OUTPUT_TOO_LARGE", _) => {
            format!("the result is larger than the {limit} bytes that are allowed")
        }
        (_, message) => message.unwrap_or_default().to_owned(),
    }
}

/// The places in the body that a stack of V8 names: `at f (https://body.invalid/body.js:3:5)`. At
/// most 16 of them: the text is the body's own.
fn trace(stack: &str) -> Box<[TraceFrame]> {
    let places = stack.lines().filter_map(|line| {
        let (_, place) = line.split_once("/body.js:")?;
        let (line, column) = place.trim_end_matches(')').split_once(':')?;
        let (line, column) = (line.parse().ok()?, column.parse().ok()?);
        Some(TraceFrame::Program(CodePosition { line, column }))
    });
    places.take(16).collect()
}

/// At most 1,000: the list comes from the worker.
fn log_lines(result: &Json) -> Vec<LogLine> {
    let lines = result.get("log").and_then(Json::as_array).into_iter().flatten();
    let line = |line: &Json| {
        let level = level_named(line.get(0)?.as_str()?);
        Some(LogLine { level, text: line.get(1)?.as_str()?.to_owned() })
    };
    lines.filter_map(line).take(1000).collect()
}

fn level_named(name: &str) -> LogLevel {
    match name {
        "info" => LogLevel::Info,
        "warn" => LogLevel::Warn,
        "error" => LogLevel::Error,
        "debug" => LogLevel::Debug,
        _ => LogLevel::Log,
    }
}
