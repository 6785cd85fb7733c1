//! Calls that one tool makes of another. Each takes all steps of the runner: it has a record, a
//! permit, limits and validators of its own, and belongs to the same agent and session.
//!
//! ```text
//! agent ─▶ Runner::call ─▶ executor ─▶ InnerCaller::call ─▶ Runner::call ─▶ executor …
//!              64 calls, 4 levels ──▶ what is left of both ──▶ …
//! ```
//!
//! The outer call holds the future of its inner calls, so they end with it: at its deadline, and
//! when its caller cancels.

use std::sync::Arc;

use crate::budget::CallRefusal;
use crate::{
    BoxFuture, Budget, CallRequest, ConcurrencyLimit, Failure, Host, Json, Outcome, Runner, code,
};

/// All calls that one call of an agent may cause have been made.
pub(crate) struct NoCallLeft;

/// Calls other tools on behalf of a call.
#[derive(Clone, Copy)]
pub struct InnerCaller<'a> {
    runner: &'a Runner,
    host: &'a dyn Host,
    budget: &'a Budget,
    /// The toolset of the calling tool, whose permit the outer call holds.
    toolset: &'a Arc<ConcurrencyLimit>,
}

impl<'a> InnerCaller<'a> {
    /// Calls tools of a runner within a budget, for a tool of this toolset.
    pub fn new(
        runner: &'a Runner,
        host: &'a dyn Host,
        budget: &'a Budget,
        toolset: &'a Arc<ConcurrencyLimit>,
    ) -> InnerCaller<'a> {
        InnerCaller { runner, host, budget, toolset }
    }

    /// Calls a tool that `aggregates` names, by its id or by its toolset. The call is counted at
    /// once, not when its future is first polled.
    ///
    /// # Errors
    /// If no call is left. The result of the future may be a failure, too.
    pub(crate) fn call(
        self,
        id: &str,
        arguments: Json,
        aggregates: &[String],
    ) -> Result<BoxFuture<'a, Result<Outcome, Failure>>, NoCallLeft> {
        let (calls, refusal) = match self.budget.calls.take(self.toolset) {
            Ok(calls) => (calls, self.refusal(id, aggregates)),
            Err(CallRefusal::TooDeep(levels)) => {
                let message =
                    format!("`{id}` is not called: calls may be nested {levels} levels deep");
                let failure = Failure::new(&code::CALL_LIMIT, message);
                (self.budget.calls.clone(), Some(failure))
            }
            Err(CallRefusal::Used) => return Err(NoCallLeft),
        };
        let request = CallRequest {
            arguments: arguments.into(),
            cancel: self.budget.cancel.child_token(),
            calls,
            ..CallRequest::new(id)
        };
        Ok(Box::pin(async move {
            match refusal {
                Some(failure) => self.runner.refuse(&request, failure, self.host),
                None => self.runner.call(request, self.host).await,
            }
        }))
    }

    /// Why the tool may not be called: none of `aggregates` names it. A tool that does not exist is
    /// left to the runner.
    fn refusal(&self, id: &str, aggregates: &[String]) -> Option<Failure> {
        let registry = self.runner.registry();
        let tool = registry.get(id)?;
        let own = tool.id.to_string();
        let namespace = tool.id.namespace.as_ref().map(|namespace| namespace.as_str());
        let is_named =
            |named: &String| *named == own || *named == id || namespace == Some(named.as_str());
        if aggregates.iter().any(is_named) {
            return None;
        }
        let message = format!("`{own}` is not among the `aggregates` of the tool that calls it");
        let help = match aggregates {
            [] => "name it in `aggregates`, which is empty".to_owned(),
            named => format!("name it in `aggregates`, beside `{}`", named.join("`, `")),
        };
        Some(Failure::new(&code::TOOL_NOT_FOUND, message).suggest(help))
    }
}
