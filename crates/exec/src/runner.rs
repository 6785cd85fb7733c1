//! The steps that every call takes, whichever executor runs the tool. One method or function per
//! step; [`Runner::call`] lists them in order.
//!
//! The order matters. Arguments are checked before the call waits for a permit, so that a wrong
//! call fails at once and occupies no place in the queue. The policy comes after the schema: a
//! person is not asked about a call that cannot be made. It comes before the validators, which are
//! code of the definition. Validators and request processors run before the permit, too: they use
//! the sandbox, not the tool. Rules are about what the executor gets, so they come after request
//! processors where a tool has some.
//!
//! All steps share one time limit ([`TimeLimit`]): time that checks and validators use is missing
//! for the later ones. The time in which a person is asked counts for nobody.
//!
//! ```text
//! |─ schema ─|·· policy ··|─ validators, processors ─|·· rules ··|·· queue ··|─ executor, … ─|
//! |─ used ───|            |───────── used ───────────|           |           |─ limit − used ─|
//! ```
//!
//! Elsewhere: the time limit (`time_limit`), the functions of a definition (`call_knowledge`), how
//! a person is asked (`policy`).

use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use toolwright_model::{Binding, CallLimits, Capability};

use crate::SessionNumber;
use crate::budget::now;
use crate::call_knowledge::{CallKnowledge, advice};
use crate::call_record::RecordInProgress;
use crate::knowledge::KnowledgeBudget;
use crate::mcp::TaskMode;
use crate::offload::LARGE;
use crate::policy::{ANSWER_TIME, OpenQuestions, check_code, without_policy};
use crate::result_checks::{check_outcome, is_quickly_complete};
use crate::time_limit::{TimeLimit, acquire_permit};
use crate::{
    AuditLog, Budget, Call, CallAllowance, CallArguments, CallPolicy, CallStep, EXECUTORS,
    Executor, ExecutorContext, ExecutorKind, Failure, GrantAnswer, Host, InnerCaller, Json,
    Outcome, PolicyDecision, PolicyRequest, PolicyScope, RegisteredTool, ToolRegistry, ToolStatus,
    UsedGrant, argument_errors, code, defaults,
};

/// The versions of a tool that a failure names at most.
const MAX_VERSIONS: usize = 5;

/// One call that a caller asks for.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// The exact id of the tool.
    pub id: String,
    /// The arguments, not yet checked.
    pub arguments: CallArguments,
    /// The caller's own time limit. It counts from `started`, so it includes waiting for a permit.
    pub timeout: Option<Duration>,
    /// Whether defaults of the input schema are filled in, also if the configuration does not ask
    /// for it.
    pub defaults: bool,
    /// Members of the caller's request that nothing here knows, for the server of the tool.
    pub more: Arc<[(String, Box<RawValue>)]>,
    /// How the call deals with tasks of its server.
    pub task: TaskMode,
    /// The caller cancels this to give up the call.
    pub cancel: CancellationToken,
    /// When the caller began to wait; before [`Runner::call`] if the request was delayed on the way
    /// to it.
    pub started: Instant,
    /// The calls of other tools that it may make; less than the default if a tool makes this call.
    pub calls: CallAllowance,
}

impl CallRequest {
    /// A call without arguments (an empty object) and without a time limit of its own, started now.
    pub fn new(id: impl Into<String>) -> CallRequest {
        CallRequest::cancelled_by(CancellationToken::new(), id)
    }

    /// The same for a caller that has a token.
    pub fn cancelled_by(cancel: CancellationToken, id: impl Into<String>) -> CallRequest {
        CallRequest {
            id: id.into(),
            arguments: Json::Object(serde_json::Map::new()).into(),
            timeout: None,
            defaults: false,
            more: Arc::default(),
            task: TaskMode::default(),
            cancel,
            started: now(),
            calls: CallAllowance::default(),
        }
    }
}

/// Runs calls. One per program, shared by all callers.
///
/// Tools and limits are behind a lock that is held only to clone or replace an `Arc`, never over an
/// await: a reload does not wait for calls, and calls do not wait for a reload.
pub struct Runner {
    /// Replaced as a whole by [`Runner::set_tools`]; a call clones the `Arc`, so the tool that it
    /// found lives until the call ends.
    registry: RwLock<Arc<ToolRegistry>>,
    /// One executor of each kind, in the order in which they are asked.
    executors: Vec<(&'static ExecutorKind, Arc<dyn Executor>)>,
    limits: RwLock<Arc<CallLimits>>,
    /// Where calls are recorded; `None`: nowhere.
    audit: Option<Arc<dyn AuditLog>>,
    /// What agents may do; `None`: nothing is granted.
    policy: Option<Arc<dyn CallPolicy>>,
    questions: OpenQuestions,
    /// Calls that are running, those that tools make included.
    pub(crate) running: AtomicUsize,
    context: ExecutorContext,
}

impl Runner {
    /// A runner without tools, with all executors.
    pub fn new(context: ExecutorContext, limits: CallLimits) -> Runner {
        Runner::with_executors(context, limits, EXECUTORS)
    }

    /// A runner without tools, with these executors. The first that accepts a tool runs it.
    pub fn with_executors(
        context: ExecutorContext,
        limits: CallLimits,
        kinds: &'static [ExecutorKind],
    ) -> Runner {
        Runner {
            registry: RwLock::default(),
            executors: kinds.iter().map(|kind| (kind, (kind.build)(&context))).collect(),
            limits: RwLock::new(Arc::new(limits)),
            audit: None,
            policy: None,
            questions: OpenQuestions::default(),
            running: AtomicUsize::new(0),
            context,
        }
    }

    /// The same runner, which keeps a record of every call.
    #[must_use]
    pub fn with_audit(mut self, log: Arc<dyn AuditLog>) -> Runner {
        self.audit = Some(log);
        self
    }

    /// The same runner, which asks this policy before every call.
    #[must_use]
    pub fn with_policy(mut self, policy: Arc<dyn CallPolicy>) -> Runner {
        self.policy = Some(policy);
        self
    }

    /// Whether a tool exists for this agent, in this session.
    pub fn may_see(
        &self,
        agent: &str,
        session: Option<SessionNumber>,
        tool: &RegisteredTool,
    ) -> bool {
        let is_offered = match &tool.tool.details.binding {
            Binding::Builtin { toolset, tool } => {
                // A toolset that is missing is reported by the call.
                self.context.builtin(toolset).ok().is_none_or(|it| it.may_see(tool, session))
            }
            _ => true,
        };
        is_offered && self.policy.as_ref().is_none_or(|policy| policy.may_see(agent, tool))
    }

    /// A number that changes when [`Runner::may_see`] may answer differently for some session,
    /// although the tools are the same. 0 as long as all sessions have the same tools.
    pub fn visibility(&self) -> u64 {
        self.context.builtins.iter().map(|toolset| toolset.visibility()).sum()
    }

    /// Forgets what was granted to a session that has ended.
    pub fn end_session(&self, session: SessionNumber) {
        if let Some(policy) = &self.policy {
            policy.end_session(session);
        }
        for (_, executor) in &self.executors {
            executor.end_session(session);
        }
    }

    /// The current tools. A snapshot: [`Runner::set_tools`] does not change it.
    pub fn registry(&self) -> Arc<ToolRegistry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces all tools. Running calls keep the tool they started with.
    pub fn set_tools(&self, registry: ToolRegistry) {
        *self.registry.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(registry);
    }

    /// The current limits.
    pub fn limits(&self) -> Arc<CallLimits> {
        Arc::clone(&self.limits.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the limits. Running calls keep the limits they started with.
    pub fn set_limits(&self, limits: CallLimits) {
        *self.limits.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(limits);
    }

    /// The context that the runner was made with.
    pub fn context(&self) -> &ExecutorContext {
        &self.context
    }

    /// Runs one call. Dropping the future stops its work.
    ///
    /// # Errors
    /// The failure of the first step that did not succeed.
    pub async fn call(&self, request: CallRequest, host: &dyn Host) -> Result<Outcome, Failure> {
        self.call_borrowed(&request, host).await
    }

    /// The same for a caller that needs the request afterwards.
    ///
    /// # Errors
    /// As for [`Runner::call`].
    pub async fn call_borrowed(
        &self,
        request: &CallRequest,
        host: &dyn Host,
    ) -> Result<Outcome, Failure> {
        let mut record = RecordInProgress::begin(self, self.audit.clone(), request, host)?;
        let result = self.take_steps(request, host, &mut record).await;
        // The caller never sees the detail, so the log is the only place to find it.
        if let Err(Failure { code, message, detail: Some(detail), .. }) = &result {
            self.context.log.line(&format!("{}: {}: {message}: {detail}", request.id, code.name));
        }
        record.finish(result).await
    }

    /// Keeps the record of a call that failed before it could be made.
    ///
    /// # Errors
    /// Always: its failure, or that it could not be recorded.
    pub fn refuse(
        &self,
        request: &CallRequest,
        failure: Failure,
        host: &dyn Host,
    ) -> Result<Outcome, Failure> {
        Err(RecordInProgress::begin(self, self.audit.clone(), request, host)?.refuse(failure))
    }

    /// The steps of a call, in their order.
    ///
    /// The function to read for the order of the steps; each of them is a function of its own.
    /// `record` is kept up to date all the way, because a call that fails or is dropped is recorded
    /// with what it had done by then.
    async fn take_steps(
        &self,
        request: &CallRequest,
        host: &dyn Host,
        record: &mut RecordInProgress<'_>,
    ) -> Result<Outcome, Failure> {
        // Held until the call ends.
        let _admitted = match &self.policy {
            Some(policy) => policy.admit(host.agent(), request.calls.is_inner())?,
            None => None,
        };
        // One snapshot for the whole call: a reload in the middle must not mix old and new limits.
        let limits = self.limits();
        // The first two steps wait for nothing, so a wrong call fails at once.
        let tool = self.resolve(&request.id, host, &mut record.tool)?;
        let filled = fill_defaults(&tool, request, &limits);
        let request = filled.as_ref().unwrap_or(request);
        let mut time = TimeLimit::of(&tool, request, &limits);
        let knowledge = CallKnowledge::of(&tool, &self.context, &limits, &request.calls);
        let mut used = Duration::ZERO;
        // The futures of all but the shortest way are boxed: most calls need none of them, and
        // this future would otherwise be as large as the largest of them for every call.
        if !is_quickly_accepted(&tool, &request.arguments) {
            let budget = time.budget(request, &limits, used);
            let began = now();
            let check = Box::pin(check_input(&tool, &request.arguments));
            within_budget(&budget, &tool, knowledge.as_ref(), check).await?;
            used += now().saturating_duration_since(began);
        }
        record.end_step(CallStep::Check);
        let origin = match self.works_on_page(&tool) {
            true => {
                let budget = time.budget(request, &limits, used);
                let origin = Box::pin(self.page_origin(&tool, request, host));
                within_budget(&budget, &tool, knowledge.as_ref(), origin).await?
            }
            false => None,
        };
        let judged = PolicyCheck {
            tool: &tool,
            arguments: &request.arguments,
            origin: origin.as_deref(),
            scope: match knowledge.as_ref().is_some_and(CallKnowledge::changes_arguments) {
                true => PolicyScope::Grants,
                false => PolicyScope::Whole,
            },
        };
        record.grants = self.apply_policy(judged, request, host).await?;
        time.started += record.end_step(CallStep::Policy);
        let (mut warnings, mut prepared) = (Vec::new(), None);
        if let Some(own) = &knowledge {
            let budget = time.budget(request, &limits, used);
            let began = now();
            let functions = Box::pin(async {
                let warnings = own.validate(&request.arguments, &budget).await?;
                Ok((warnings, own.prepare(&request.arguments, &budget).await?))
            });
            (warnings, prepared) =
                within_budget(&budget, &tool, knowledge.as_ref(), functions).await?;
            used += now().saturating_duration_since(began);
            record.end_step(CallStep::Check);
        }
        if let Some(arguments) = &prepared {
            let judged = PolicyCheck { arguments, scope: PolicyScope::Rules, ..judged };
            let rules = Box::pin(self.apply_policy(judged, request, host)).await?;
            record.grants.extend(rules);
            time.started += record.end_step(CallStep::Policy);
        }
        // From here on the call occupies a place of its toolset, until `permit` is dropped. A call
        // that another one of the toolset waits for is in that one's place.
        let permit = match request.calls.holds_permit(&tool.concurrency) {
            true => None,
            false => Some(acquire_permit(&tool, request, &time, host.session()).await?),
        };
        record.end_step(CallStep::Wait);
        // After the permit, because a declared time limit does not include waiting for it.
        let budget = time.budget(request, &limits, used);
        let is_granted = !record.grants.is_empty();
        let outcome = {
            // Pinned here: passed by value, it would be moved twice.
            let work = pin!(async {
                // What a processor makes is not checked against the schema again: it is for the
                // tool, not for callers.
                let arguments = prepared.as_ref().unwrap_or(&request.arguments);
                let origin = origin.as_deref();
                let call = CallParts { arguments, request, limits: &limits, origin };
                check_code(&tool, is_granted)?;
                let outcome = self.execute(&tool, call, &budget, host).await?;
                match &knowledge {
                    // `finish_task` does the rest when there is a result.
                    Some(knowledge) if !outcome.is_task() => {
                        Box::pin(knowledge.respond(outcome, &budget)).await
                    }
                    _ => Ok(outcome),
                }
            });
            within_budget(&budget, &tool, knowledge.as_ref(), work).await
        };
        record.end_step(CallStep::Run);
        // The next call may start while this result is checked.
        drop(permit);
        let mut outcome = outcome?;
        outcome.warnings.extend(warnings);
        if is_quickly_complete(&tool, &outcome, &limits) {
            return Ok(outcome);
        }
        let checks = Box::pin(check_outcome(&tool, outcome, &limits));
        let result = within_budget(&budget, &tool, knowledge.as_ref(), checks).await;
        record.end_step(CallStep::Complete);
        result
    }

    /// Completes the result of a task that a call of this tool has created: the steps that follow
    /// the executor. The tool is the one that was called, which may be gone or changed meanwhile.
    ///
    /// # Errors
    /// The failure of the first step that did not succeed.
    pub async fn finish_task(
        &self,
        tool: &Arc<RegisteredTool>,
        outcome: Outcome,
        cancel: &CancellationToken,
    ) -> Result<Outcome, Failure> {
        let limits = self.limits();
        let calls = CallAllowance::default();
        let knowledge = CallKnowledge::of(tool, &self.context, &limits, &calls);
        let request = CallRequest { cancel: cancel.clone(), ..CallRequest::new("") };
        let budget =
            TimeLimit::of(tool, &request, &limits).budget(&request, &limits, Duration::ZERO);
        let work = async {
            let outcome = match &knowledge {
                Some(knowledge) => knowledge.respond(outcome, &budget).await?,
                None => outcome,
            };
            check_outcome(tool, outcome, &limits).await
        };
        within_budget(&budget, tool, knowledge.as_ref(), work).await
    }

    /// Closes all connections, stops all servers and completes the store. Calls that still run
    /// fail.
    pub async fn close(&self) {
        for (_, executor) in &self.executors {
            executor.close().await;
        }
        if let Some(audit) = self.audit.clone() {
            // It writes to a disk.
            let _ = tokio::task::spawn_blocking(move || audit.close()).await;
        }
    }

    /// The grants by which the agent may make this call, after asking the person if that is
    /// necessary.
    ///
    /// The question is asked again if the configuration has changed so much meanwhile that the
    /// answer does not cover what is missing now. Several calls with the same question wait for one
    /// answer (`OpenQuestions`).
    ///
    /// # Errors
    /// CAPABILITY_DENIED with the reason, or CANCELLED. Without a policy, everything that needs a
    /// grant is refused.
    async fn apply_policy(
        &self,
        call: PolicyCheck<'_>,
        request: &CallRequest,
        host: &dyn Host,
    ) -> Result<Vec<UsedGrant>, Failure> {
        let PolicyCheck { tool, arguments, origin, scope } = call;
        let starts: &'static [&'static str] = match self.executor_of(tool) {
            Some((kind, _)) if !tool.trust.is_named => (kind.needs)(&tool.tool),
            Some((_, executor)) => executor.needs(&tool.tool),
            None => &[],
        };
        let (agent, session) = (host.agent(), host.session());
        let asked = PolicyRequest { agent, session, tool, starts, origin, arguments, scope };
        let Some(policy) = &self.policy else {
            return without_policy(&asked).map(|()| Vec::new());
        };
        loop {
            let question = match policy.decide(&asked) {
                PolicyDecision::Allow(grants) => return Ok(grants),
                PolicyDecision::Deny(failure) => return Err(*failure),
                PolicyDecision::Ask(question) => question,
            };
            let is_open = || matches!(policy.decide(&asked), PolicyDecision::Ask(_));
            let settle = |answer: Option<GrantAnswer>| {
                let Some(answer) = answer else {
                    return Some(Err(question.refusal("no person can be asked here")));
                };
                // The configuration may have changed while the person was asked.
                match policy.decide(&asked) {
                    PolicyDecision::Deny(failure) => Some(Err(*failure)),
                    PolicyDecision::Ask(now)
                        if answer != GrantAnswer::No && !question.includes(&now) =>
                    {
                        None
                    }
                    _ => Some(policy.record(&asked, &question, answer)),
                }
            };
            let answer = self.questions.ask(&question, host, &is_open, &settle);
            let settled = tokio::select! {
                biased;
                () = request.cancel.cancelled() => {
                    let message = format!("the call of `{}` was cancelled", tool.id);
                    return Err(Failure::new(&code::CANCELLED, message));
                }
                settled = answer => settled,
                () = tokio::time::sleep(ANSWER_TIME) => {
                    return Err(question.refusal("nobody has answered within 10 minutes"));
                }
            };
            if let Some(settled) = settled {
                return settled;
            }
        }
    }

    /// The executor that runs a tool. None accepts bindings without a program, or those that need
    /// another tool's helper.
    fn executor_of(
        &self,
        tool: &RegisteredTool,
    ) -> Option<&(&'static ExecutorKind, Arc<dyn Executor>)> {
        self.executors.iter().find(|(kind, _)| (kind.accepts)(&tool.tool))
    }

    /// Whether what a tool needs is about pages.
    ///
    /// Only then the executor is asked for the origin, which may start a browser.
    fn works_on_page(&self, tool: &RegisteredTool) -> bool {
        let needs = &tool.tool.needs;
        let is_builtin = matches!(tool.tool.details.binding, Binding::Builtin { .. });
        needs.iter().any(Capability::needs_page)
            || is_builtin
                && self.executor_of(tool).is_some_and(|(_, executor)| {
                    let needs = executor.needs(&tool.tool).iter();
                    let mut needs = needs.filter_map(|name| Capability::parse(name).ok());
                    needs.any(|need| need.needs_page())
                })
    }

    /// The origin of the page that a call of this tool would work on.
    async fn page_origin(
        &self,
        tool: &RegisteredTool,
        request: &CallRequest,
        host: &dyn Host,
    ) -> Result<Option<String>, Failure> {
        match self.executor_of(tool) {
            Some((_, executor)) => executor.page_origin(tool, &request.arguments, host).await,
            None => Ok(None),
        }
    }

    /// Finds a tool that may be called. `found` is set also if it may not.
    ///
    /// # Errors
    /// TOOL_NOT_FOUND with near names or the known versions, or QUARANTINED with the reason.
    /// Neither names a tool that this agent may not see.
    fn resolve(
        &self,
        id: &str,
        host: &dyn Host,
        found: &mut Option<Arc<RegisteredTool>>,
    ) -> Result<Arc<RegisteredTool>, Failure> {
        let registry = self.registry();
        // A tool that is not for this agent does not exist for it, in suggestions neither.
        let may_see = |tool: &RegisteredTool| self.may_see(host.agent(), host.session(), tool);
        let Some(tool) = registry.get(id).filter(|tool| may_see(tool)) else {
            *found = registry.get(id).map(Arc::clone);
            let failure = Failure::new(&code::TOOL_NOT_FOUND, format!("there is no tool `{id}`"));
            let versions = registry.versions_of(id, may_see);
            if !versions.is_empty() {
                let versions: Vec<&str> =
                    versions.iter().take(MAX_VERSIONS).map(|it| it.authored()).collect();
                return Err(failure.suggest(format!("it has version {}", versions.join(", "))));
            }
            // Models often misspell ids, and correct them if the failure names the right one.
            return Err(match registry.nearest(id, may_see).as_slice() {
                [] => failure,
                near => failure.suggest(format!("did you mean `{}`?", near.join("`, `"))),
            });
        };
        *found = Some(Arc::clone(tool));
        match &tool.status {
            ToolStatus::Ready => Ok(Arc::clone(tool)),
            ToolStatus::Quarantined(reason) => {
                let message = format!("`{}` is quarantined: {reason}", tool.id);
                let failure = Failure::new(&code::QUARANTINED, message);
                Err(match &tool.remedy {
                    Some(remedy) => failure.suggest(&**remedy),
                    None => failure,
                })
            }
        }
    }

    /// Passes the call to the executor of the tool's binding.
    ///
    /// The only place where an executor runs. `parts` are borrowed from the call, so an executor
    /// that wants to keep something has to copy it.
    async fn execute(
        &self,
        tool: &RegisteredTool,
        parts: CallParts<'_>,
        budget: &Budget,
        host: &dyn Host,
    ) -> Result<Outcome, Failure> {
        let Some((_, executor)) = self.executor_of(tool) else {
            let how = tool.tool.details.binding.kind();
            let message = format!("`{}` cannot be run here (binding: {how})", tool.id);
            return Err(Failure::new(&code::NOT_RUNNABLE, message));
        };
        let call = Call {
            tool: &tool.tool,
            arguments: parts.arguments,
            body: tool.body.as_deref().map_err(|why| &**why),
            limits: &parts.limits.functions,
            knowledge: tool.knowledge.as_deref(),
            inner: InnerCaller::new(self, host, budget, &tool.concurrency),
            code: tool.code.as_deref(),
            environment: &tool.environment,
            more: &parts.request.more,
            task: &parts.request.task,
            origin: parts.origin,
            budget,
        };
        executor.run(call, host).await
    }
}

/// The request with the defaults of the input schema, if they are wanted and one is missing.
///
/// Before the schema is checked: defaults have to match it like any other argument.
fn fill_defaults(
    tool: &RegisteredTool,
    request: &CallRequest,
    limits: &CallLimits,
) -> Option<CallRequest> {
    if !request.defaults && !limits.defaults {
        return None;
    }
    let arguments = defaults::filled(tool.tool.input.written()?, &request.arguments)?;
    Some(CallRequest { arguments: arguments.into(), ..request.clone() })
}

/// The parts of a call that the policy decides about.
#[derive(Clone, Copy)]
struct PolicyCheck<'c> {
    tool: &'c Arc<RegisteredTool>,
    /// Those of the request, or what request processors made of them.
    arguments: &'c CallArguments,
    origin: Option<&'c str>,
    scope: PolicyScope,
}

/// What an executor gets of a call.
struct CallParts<'c> {
    /// Those of the request, or what a processor made of them.
    arguments: &'c CallArguments,
    request: &'c CallRequest,
    limits: &'c CallLimits,
    /// Of the page that the policy has decided about.
    origin: Option<&'c str>,
}

/// Does the work until the caller cancels or the deadline passes; then drops it, which stops it.
///
/// The order of the branches decides what is reported if several are ready. A cancelled call must
/// not start anything, so that comes first. A result that arrived is better than a time-out, so the
/// deadline comes last.
async fn within_budget<T>(
    budget: &Budget,
    tool: &RegisteredTool,
    knowledge: Option<&CallKnowledge<'_>>,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let id = &tool.id;
    tokio::select! {
        biased;
        () = budget.cancel.cancelled() => {
            Err(Failure::new(&code::CANCELLED, format!("the call of `{id}` was cancelled")))
        }
        result = work => result,
        () = budget.clock.expired() => {
            let timeout =
                |usage: &KnowledgeBudget| usage.timeout(&id.to_string(), budget);
            let usage = knowledge.map(|knowledge| &knowledge.usage);
            Err(usage.map_or_else(|| timeout(&KnowledgeBudget::default()), timeout))
        }
    }
}

/// Whether the arguments match the input schema; also false if checking them could take long.
/// Nearly all calls pass here, without a change of the thread.
fn is_quickly_accepted(tool: &RegisteredTool, arguments: &CallArguments) -> bool {
    tool.validator.as_ref().is_none_or(|validator| {
        let bytes = arguments.size();
        bytes <= LARGE && validator.is_quick_for_input(bytes) && validator.accepts_input(arguments)
    })
}

/// Checks the arguments against the input schema.
async fn check_input(tool: &Arc<RegisteredTool>, arguments: &CallArguments) -> Result<(), Failure> {
    if is_quickly_accepted(tool, arguments) {
        return Ok(());
    }
    let (own, arguments) = (Arc::clone(tool), arguments.clone());
    tool.concurrency.run_expensive(move || match_input(&own, &arguments)).await
}

/// Matches the arguments with the input schema, and adds advice that fits the errors. How long it
/// takes is up to the definition: up to some seconds.
fn match_input(tool: &RegisteredTool, arguments: &Json) -> Result<(), Failure> {
    let Some(validator) = &tool.validator else { return Ok(()) };
    let Err(errors) = validator.validate_input(arguments) else { return Ok(()) };
    let message = format!("the arguments of `{}` do not match its schema", tool.id);
    let mut failure = Failure::new(&code::INPUT_INVALID, message).schema_errors(&errors);
    // Advice is found by words, and the name of the argument is in the path only.
    let texts = failure.errors.iter().map(|error| format!("{} {}", error.path, error.message));
    failure.advice = advice(tool, arguments, &texts.collect::<Vec<_>>()).into();
    let schema = tool.tool.input.to_json();
    for (shown, error) in failure.errors.iter_mut().zip(errors.iter()) {
        if let Some(message) = argument_errors::describe(error, &schema) {
            shown.message = message;
        }
    }
    Err(failure)
}
