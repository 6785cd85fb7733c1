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

use toolwright_model::Binding;

use crate::budget::CallRefusal;
use crate::{
    BoxFuture, Budget, CallRequest, ConcurrencyLimit, Failure, Host, Json, Outcome, RegisteredTool,
    Runner, code,
};

/// Tools that a message lists.
const MAX_CANDIDATES: usize = 10;

/// All calls that one call of an agent may cause have been made.
pub(crate) struct NoCallLeft;

/// A call that has been counted.
pub(crate) struct InnerCall<'a> {
    /// The id of the tool, also where the helper wrote its bare name.
    pub(crate) id: String,
    /// Whether the tool calls other tools itself.
    pub(crate) is_orchestration: bool,
    /// Makes the call.
    pub(crate) result: BoxFuture<'a, Result<Outcome, Failure>>,
}

/// The tool that a helper means.
struct MeantTool {
    id: String,
    is_orchestration: bool,
    /// Why it is not called.
    refusal: Option<Failure>,
}

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

    /// Calls a tool that `aggregates` names, by its id or by its toolset. The bare name of such a
    /// tool will do if only one has it. The call is counted at once, not when its future is first
    /// polled.
    ///
    /// # Errors
    /// If no call is left. The result of the future may be a failure, too.
    pub(crate) fn call(
        self,
        id: &str,
        arguments: Json,
        aggregates: &[String],
    ) -> Result<InnerCall<'a>, NoCallLeft> {
        let MeantTool { id, is_orchestration, refusal } = self.meant_tool(id, aggregates);
        let (calls, refusal) = match self.budget.calls.take(self.toolset) {
            Ok(calls) => (calls, refusal),
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
            ..CallRequest::new(id.clone())
        };
        let result: BoxFuture<'a, _> = Box::pin(async move {
            match refusal {
                Some(failure) => self.runner.refuse(&request, failure, self.host),
                None => self.runner.call(request, self.host).await,
            }
        });
        Ok(InnerCall { id, is_orchestration, result })
    }

    /// The tool that a helper means, or why it may not be called: none of `aggregates` names it, or
    /// its bare name is that of several. A tool that does not exist is left to the runner.
    fn meant_tool(&self, id: &str, aggregates: &[String]) -> MeantTool {
        let registry = self.runner.registry();
        let is_aggregated = |tool: &RegisteredTool| {
            let own = tool.id.to_string();
            let namespace = tool.id.namespace.as_ref().map(|namespace| namespace.as_str());
            let is_named =
                |named: &String| *named == own || *named == id || namespace == Some(named.as_str());
            aggregates.iter().any(is_named)
        };
        let meant = |tool: &RegisteredTool, id: String| MeantTool {
            id,
            is_orchestration: matches!(tool.tool.details.binding, Binding::Orchestration { .. }),
            refusal: None,
        };
        let refused = |refusal: Option<Failure>| MeantTool {
            id: id.to_owned(),
            is_orchestration: false,
            refusal,
        };
        // A tool that is hidden from the agent is unknown to it here, too.
        let (agent, session) = (self.host.agent(), self.host.session());
        let may_see = |tool: &RegisteredTool| self.runner.may_see(agent, session, tool);
        let exact = registry.get(id).filter(|tool| may_see(tool));
        if let Some(tool) = exact.filter(|tool| is_aggregated(tool)) {
            return meant(tool, id.to_owned());
        }
        let has_name = |tool: &&Arc<RegisteredTool>| tool.tool.name.as_str() == id;
        let same = registry.iter().filter(has_name);
        let same: Vec<_> = same.filter(|tool| is_aggregated(tool) && may_see(tool)).collect();
        match (same.as_slice(), exact) {
            ([tool], _) => meant(tool, tool.id.to_string()),
            ([], None) => refused(None),
            ([], Some(tool)) => {
                let message = format!(
                    "`{}` is not among the `aggregates` of the tool that calls it",
                    tool.id
                );
                let help = match aggregates {
                    [] => "name it in `aggregates`, which is empty".to_owned(),
                    named => {
                        let listed = &named[..named.len().min(MAX_CANDIDATES)];
                        let more = if listed.len() < named.len() { ", …" } else { "" };
                        let listed = listed.join("`, `");
                        format!("name it in `aggregates`, beside `{listed}`{more}")
                    }
                };
                refused(Some(Failure::new(&code::TOOL_NOT_FOUND, message).suggest(help)))
            }
            (several, _) => {
                let ids = several.iter().take(MAX_CANDIDATES).map(|tool| format!("`{}`", tool.id));
                let ids = ids.collect::<Vec<_>>().join(", ");
                let more = if several.len() > MAX_CANDIDATES { ", …" } else { "" };
                let message = format!("`{id}` is the name of several tools: {ids}{more}");
                let help = "call one of them by its id";
                refused(Some(Failure::new(&code::TOOL_NOT_FOUND, message).suggest(help)))
            }
        }
    }
}
