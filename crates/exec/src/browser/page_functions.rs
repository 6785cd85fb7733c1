//! The operations on a page, as functions of the sandbox. Here is the one place where an operation
//! is compared with the rights of the tool that asks for it.
//!
//! ```text
//! body: btcp.dom.text(…) ─▶ HostFunctions::call ─▶ perform ─ declared? ─▶ PageAccess::operate
//!       document.title   ─▶ toolwright.operate ─┘     └─ no: CAPABILITY_DENIED, as an exception
//! ```
//!
//! A failure reaches the body as an exception, which it may catch. If it does not, the call fails
//! with the code of that failure and not with the one of an exception, which is why the last one is
//! kept.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Map;
use toolwright_browser::{ElementScope, OPERATIONS, Operation, PageError, PageErrorCode};
use toolwright_model::Tool;
use toolwright_sandbox::{HostError, HostFunctions};

use super::{PageAccess, code_of};
use crate::{BoxFuture, Budget, Failure, Json, RunCode, code};

/// The function by which the façade does an operation and stands still meanwhile.
const OPERATE: &str = "toolwright.operate";
/// The same, with a promise.
const OPERATE_LATER: &str = "toolwright.operateLater";
/// The clock of `setTimeout`.
const WAIT: &str = "toolwright.wait";
/// What the operations are called in bodies: `btcp.dom.query`.
const PREFIX: &str = "btcp.";
/// Operations of one call. A body that needs more loops over a page that it should query.
const MAX_OPERATIONS: usize = 10_000;

/// The functions that a body is lent for one call.
pub(crate) struct PageOperations<'a> {
    page: &'a dyn PageAccess,
    /// What the grants of the call are for.
    origin: &'a str,
    tool: &'a Tool,
    budget: &'a Budget,
    /// The elements that this call was given.
    pub(super) scope: ElementScope,
    made: AtomicUsize,
    /// The last failure that decides about the call if the body does not catch it.
    failure: Mutex<Option<Failure>>,
}

impl<'a> PageOperations<'a> {
    pub(super) fn new(
        page: &'a dyn PageAccess,
        origin: &'a str,
        tool: &'a Tool,
        budget: &'a Budget,
    ) -> PageOperations<'a> {
        let (scope, made) = (ElementScope::new(), AtomicUsize::new(0));
        PageOperations { page, origin, tool, budget, scope, made, failure: Mutex::default() }
    }

    /// The failure of an operation whose exception had this message.
    ///
    /// By its message: an exception that the body has made itself may have come last.
    pub(super) fn failure_of(&self, message: &str) -> Option<Failure> {
        let failure = self.failure.lock().ok()?.take();
        failure.filter(|failure| failure.message == message)
    }

    /// Does one operation, if the tool may.
    ///
    /// The order matters: an unknown operation, then the number of operations, then the right.
    /// Nothing is sent to the page before all three.
    pub(super) async fn perform(
        &self,
        name: &str,
        arguments: Vec<Json>,
    ) -> Result<Json, HostError> {
        let Some(operation) = Operation::named(name) else {
            return Err(HostError::new(format!("there is no operation `{name}`")));
        };
        if self.made.fetch_add(1, Ordering::Relaxed) >= MAX_OPERATIONS {
            let message = format!("more than {MAX_OPERATIONS} operations on a page in one call");
            return Err(self.fails(Failure::new(&code::CALL_LIMIT, message)));
        }
        let need = operation.capability(&arguments, self.origin);
        if !self.declares(need) {
            return Err(self.fails(self.denial(operation, need)));
        }
        let left = self.budget.remaining();
        let done = self.page.operate(self.scope, name, &arguments, self.origin, left);
        done.await.map_err(|error| self.page_failed(name, &error))
    }

    /// Whether the tool declares a capability, or one that includes it. What it declares was
    /// granted for this origin before it was started.
    fn declares(&self, need: &str) -> bool {
        let gives = |own: &toolwright_model::Capability| {
            own.as_str() == need || own.implied().is_some_and(|it| it.as_str() == need)
        };
        self.tool.needs.iter().any(gives)
    }

    fn denial(&self, operation: &Operation, need: &str) -> Failure {
        let Operation { name, .. } = operation;
        let message = format!(
            "`{}` may not do `{name}` on {}: that takes `{need}`, which it does not declare",
            self.tool.name, self.origin
        );
        let help = format!("declare `{need}` among the capabilities of the tool, and grant it");
        Failure::new(&code::CAPABILITY_DENIED, message).suggest(help)
    }

    /// What the body sees of an operation that the page failed.
    fn page_failed(&self, operation: &str, error: &PageError) -> HostError {
        let message = match error.code {
            PageErrorCode::OtherOrigin => format!(
                "the page is not of {} any more, for which `{}` was allowed: {error}",
                self.origin, self.tool.name
            ),
            _ => format!("`{operation}`: {error}"),
        };
        match code_of(error.code) {
            // Like any exception: the place in the body says more.
            code if *code == code::TOOL_FAILED => thrown(code, message),
            code => self.fails(Failure::new(code, message)),
        }
    }

    /// Keeps a failure that decides about the call, and returns the exception for the body.
    fn fails(&self, failure: Failure) -> HostError {
        let error = thrown(failure.code, failure.message.clone());
        if let Ok(mut last) = self.failure.lock() {
            *last = Some(failure);
        }
        error
    }
}

/// An exception with a code.
fn thrown(code: &RunCode, message: String) -> HostError {
    let fields = Map::from_iter([("code".to_owned(), Json::from(code.name))]);
    HostError { message, fields }
}

impl HostFunctions for PageOperations<'_> {
    fn names(&self) -> Vec<String> {
        let operations = OPERATIONS.iter().map(|operation| format!("{PREFIX}{}", operation.name));
        operations.chain([OPERATE, OPERATE_LATER, WAIT].map(str::to_owned)).collect()
    }

    fn is_synchronous(&self, name: &str) -> bool {
        name == OPERATE
    }

    fn call<'b>(
        &'b self,
        name: &'b str,
        mut arguments: Vec<Json>,
    ) -> BoxFuture<'b, Result<Json, HostError>> {
        Box::pin(async move {
            if name == WAIT {
                let milliseconds = arguments.first().and_then(Json::as_f64).unwrap_or_default();
                let wanted = Duration::from_millis(milliseconds.clamp(0.0, 1e9) as u64);
                tokio::time::sleep(wanted.min(self.budget.remaining())).await;
                return Ok(Json::Null);
            }
            if let Some(operation) = name.strip_prefix(PREFIX) {
                return self.perform(operation, arguments).await;
            }
            match (!arguments.is_empty()).then(|| arguments.remove(0)) {
                Some(Json::String(operation)) => self.perform(&operation, arguments).await,
                _ => Err(HostError::new(
                    "the first argument must be the name of an operation, such as `dom.query`",
                )),
            }
        })
    }
}
