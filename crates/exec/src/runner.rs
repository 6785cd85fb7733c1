//! The way every call takes. A step is a method here; a new one is a line in [`Runner::call`].

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use toolwright_model::ToolId;

use crate::knowledge::{FunctionLimits, FunctionRunner, Knowledge};
use crate::{
    Budget, Call, Entry, Executor, Failure, Fault, Host, Json, KINDS, Outcome, Parts, Standing,
    Toolbox, code,
};

/// What is done about an output that breaks its schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputCheck {
    /// The call fails.
    #[default]
    Enforce,
    /// The result is passed on with a warning.
    Warn,
    /// Nothing is checked.
    Off,
}

/// The configuration's word on calls. Nothing that an agent or a definition says goes beyond it.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// For a call where neither the caller nor the definition says anything.
    pub timeout: Duration,
    /// The most any call may take.
    pub max_timeout: Duration,
    /// Bytes an answer may have.
    pub output: usize,
    /// What is done about an output that breaks its schema.
    pub output_check: OutputCheck,
    /// Calls of one toolset at once, where the definition says nothing.
    pub max_concurrent: usize,
    /// Calls of one toolset that may wait.
    pub queue: usize,
    /// What the functions of definitions may use.
    pub functions: FunctionLimits,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            timeout: Duration::from_millis(toolwright_model::Limits::DEFAULT_TIMEOUT_MS),
            max_timeout: Duration::from_secs(300),
            output: 1 << 20,
            output_check: OutputCheck::Enforce,
            max_concurrent: 64,
            queue: 1024,
            functions: FunctionLimits::default(),
        }
    }
}

/// What a caller asks for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The tool's id.
    pub id: String,
    /// Its arguments.
    pub arguments: Json,
    /// The caller's own time limit, waiting included.
    pub timeout: Option<Duration>,
    /// Fires when the caller no longer wants the result.
    pub cancel: CancellationToken,
    /// When the caller began to wait.
    pub started: Instant,
}

impl Request {
    /// A call without arguments.
    pub fn new(id: impl Into<String>) -> Request {
        Request {
            id: id.into(),
            arguments: Json::Object(serde_json::Map::new()),
            timeout: None,
            cancel: CancellationToken::new(),
            started: Instant::now(),
        }
    }
}

/// Runs calls. Cheap to share; one per program.
pub struct Runner {
    toolbox: RwLock<Arc<Toolbox>>,
    executors: Vec<(&'static crate::Kind, Arc<dyn Executor>)>,
    limits: RwLock<Arc<Limits>>,
    parts: Parts,
}

impl Runner {
    /// A runner with no tools yet.
    pub fn new(parts: Parts, limits: Limits) -> Runner {
        Runner::with_kinds(parts, limits, KINDS)
    }

    /// A runner with executors of the caller's choice, first match first.
    pub fn with_kinds(parts: Parts, limits: Limits, kinds: &'static [crate::Kind]) -> Runner {
        Runner {
            toolbox: RwLock::default(),
            executors: kinds.iter().map(|kind| (kind, (kind.build)(&parts))).collect(),
            limits: RwLock::new(Arc::new(limits)),
            parts,
        }
    }

    /// The tools right now.
    pub fn toolbox(&self) -> Arc<Toolbox> {
        Arc::clone(&self.toolbox.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts other tools in place. Calls that run keep the ones they started with.
    pub fn replace(&self, toolbox: Toolbox) {
        *self.toolbox.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(toolbox);
    }

    /// The limits right now.
    pub fn limits(&self) -> Arc<Limits> {
        Arc::clone(&self.limits.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts other limits in place.
    pub fn limit(&self, limits: Limits) {
        *self.limits.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(limits);
    }

    /// What the runner was made with.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Runs one call. Dropping the future ends its work.
    ///
    /// # Errors
    /// The step that stopped it, under its code.
    pub async fn call(&self, request: Request, host: &dyn Host) -> Result<Outcome, Failure> {
        let started = request.started;
        let limits = self.limits();
        let result = async {
            let entry = self.resolve(&request.id)?;
            check_input(&entry, &request.arguments)?;
            let time = Allowed::of(&entry, &request, &limits);
            let known = Known::of(&entry, &self.parts, &limits);
            let mut warnings = Vec::new();
            // In boxes: most calls have no knowledge, and none should carry the room for it.
            if let Some(known) = &known {
                let judging = time.within(
                    &request,
                    started,
                    &entry.id,
                    Box::pin(known.judge(&request.arguments)),
                );
                warnings = judging.await??;
            }
            let permit = enter(&entry, &request, &time, started).await?;
            let budget = time.budget(&request, &limits, started);
            let work = async {
                let prepared = match &known {
                    Some(known) => Box::pin(known.prepare(&request.arguments)).await?,
                    None => None,
                };
                let arguments = prepared.as_ref().unwrap_or(&request.arguments);
                let outcome = self.execute(&entry, arguments, &limits, &budget, host).await?;
                match &known {
                    Some(known) => Box::pin(known.respond(outcome)).await,
                    None => Ok(outcome),
                }
            };
            let outcome = under(&budget, &entry.id, work).await;
            drop(permit);
            let mut outcome = outcome?;
            outcome.warnings.extend(warnings);
            let outcome = within_cap(outcome, limits.output)?;
            check_output(&entry, outcome, limits.output_check)
        }
        .await;
        if let Err(Failure { code, message, detail: Some(detail), .. }) = &result {
            self.parts.log.line(&format!("{}: {}: {message}: {detail}", request.id, code.name));
        }
        result
    }

    /// Ends everything that runs or is connected.
    pub async fn close(&self) {
        for (_, executor) in &self.executors {
            executor.close().await;
        }
    }

    fn resolve(&self, id: &str) -> Result<Arc<Entry>, Failure> {
        let toolbox = self.toolbox();
        let Some(entry) = toolbox.get(id) else {
            let near = toolbox.nearest(id);
            let failure = Failure::new(&code::TOOL_NOT_FOUND, format!("there is no tool `{id}`"));
            return Err(match near.as_slice() {
                [] => failure,
                near => failure.suggest(format!("did you mean `{}`?", near.join("`, `"))),
            });
        };
        match &entry.standing {
            Standing::Ready => Ok(Arc::clone(entry)),
            Standing::Quarantined(reason) => Err(Failure::new(
                &code::QUARANTINED,
                format!("`{}` is set aside: {reason}", entry.id),
            )),
        }
    }

    async fn execute(
        &self,
        entry: &Entry,
        arguments: &Json,
        limits: &Limits,
        budget: &Budget,
        host: &dyn Host,
    ) -> Result<Outcome, Failure> {
        let binding = &entry.tool.details.binding;
        let Some((_, executor)) = self.executors.iter().find(|(kind, _)| (kind.takes)(binding))
        else {
            let how = binding.kind();
            let message = format!("`{}` cannot be run here (binding: {how})", entry.id);
            return Err(Failure::new(&code::NOT_RUNNABLE, message));
        };
        let (body, environment) =
            (entry.body.as_deref().map_err(|why| &**why), entry.environment.as_slice());
        let limits = &limits.functions;
        executor
            .run(Call { tool: &entry.tool, arguments, body, limits, environment, budget }, host)
            .await
    }
}

/// Work under a budget: dropped, and with it ended, when the caller gives up or the time is over.
async fn under<T>(
    budget: &Budget,
    id: &ToolId,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        () = budget.cancel.cancelled() => {
            Err(Failure::new(&code::CANCELLED, format!("the call of `{id}` was cancelled")))
        }
        result = work => result,
        () = tokio::time::sleep_until(budget.deadline.into()) => {
            let message = format!("`{id}` did not answer within {} ms", budget.allowed.as_millis());
            Err(Failure::new(&code::TIMEOUT, message))
        }
    }
}

/// What the toolset of a call knows about it.
struct Known<'a> {
    knowledge: &'a Knowledge,
    command: &'a str,
    functions: FunctionRunner<'a>,
}

impl<'a> Known<'a> {
    fn of(entry: &'a Entry, parts: &'a Parts, limits: &'a Limits) -> Option<Known<'a>> {
        let (pool, limits) = (parts.sandbox.as_ref(), &limits.functions);
        let analyzer = parts.analyzer.as_deref();
        let functions = FunctionRunner { pool, analyzer, limits, log: &parts.console };
        let command = entry.tool.name.as_str();
        entry.knowledge.as_deref().map(|knowledge| Known { knowledge, command, functions })
    }

    /// Lets the validators speak; what they say of themselves comes back if they agree.
    async fn judge(&self, arguments: &Json) -> Result<Vec<String>, Failure> {
        let judged = self.knowledge.judge(self.command, arguments, self.functions).await;
        if let Some(why) = judged.no_sandbox {
            return Err(Failure::new(&code::SANDBOX_FAILED, why));
        }
        if judged.errors.is_empty() {
            return Ok(judged.warnings);
        }
        let (message, advice) = match judged.broken {
            // There is nothing to learn from a definition's own mistake.
            true => (
                format!("a validator of `{}` could not judge the arguments", self.command),
                Vec::new(),
            ),
            false => {
                let advice = self.knowledge.advice(self.command, arguments, &judged.errors);
                (format!("the validators of `{}` refuse the arguments", self.command), advice)
            }
        };
        let faults =
            judged.errors.into_iter().map(|message| Fault { path: String::new(), message });
        let mut failure =
            Failure::new(&code::VALIDATION_FAILED, message).detail(judged.warnings.join("; "));
        failure.faults = faults.collect();
        failure.advice = advice.into();
        if judged.broken {
            failure =
                failure.suggest("the definition is at fault, not the call: mend the validator");
        }
        Err(failure)
    }

    async fn prepare(&self, arguments: &Json) -> Result<Option<Json>, Failure> {
        self.knowledge.prepare(self.command, arguments, self.functions).await
    }

    async fn respond(&self, outcome: Outcome) -> Result<Outcome, Failure> {
        self.knowledge.respond(self.command, outcome, self.functions).await
    }
}

fn check_input(entry: &Entry, arguments: &Json) -> Result<(), Failure> {
    let Some(schema) = &entry.input else { return Ok(()) };
    // The quick answer first: it makes no list of failures.
    if schema.is_valid(arguments) {
        return Ok(());
    }
    match schema.validate(arguments) {
        Ok(()) => Ok(()),
        Err(failures) => {
            let message = format!("the arguments of `{}` do not match its schema", entry.id);
            let mut failure = Failure::new(&code::INPUT_INVALID, message).faults(&failures);
            if let Some(knowledge) = &entry.knowledge {
                let said: Vec<String> = failure
                    .faults
                    .iter()
                    .map(|fault| format!("{} {}", fault.path, fault.message))
                    .collect();
                failure.advice =
                    knowledge.advice(entry.tool.name.as_str(), arguments, &said).into();
            }
            Err(failure)
        }
    }
}

/// The time a call may take, and from when it counts.
struct Allowed {
    time: Duration,
    /// The caller's own limit counts from the start, waiting included; a declared one from the
    /// moment the work begins.
    callers: bool,
    /// How long it may wait for its turn.
    wait: Duration,
}

impl Allowed {
    /// Call option, else tool, else toolset, else the default; never above the cap.
    fn of(entry: &Entry, request: &Request, limits: &crate::Limits) -> Allowed {
        let declared = entry.tool.details.limits.timeout_ms.or(entry.toolset.timeout_ms);
        let declared = declared.map(Duration::from_millis);
        let time = request.timeout.or(declared).unwrap_or(limits.timeout).min(limits.max_timeout);
        let wait = request.timeout.map_or(limits.max_timeout, |_| time);
        Allowed { time, callers: request.timeout.is_some(), wait }
    }

    /// What is done before the call begins, for as long as the caller would wait for that.
    async fn within<T>(
        &self,
        request: &Request,
        started: Instant,
        id: &ToolId,
        work: impl Future<Output = T>,
    ) -> Result<T, Failure> {
        let budget = Budget {
            deadline: started + self.wait,
            allowed: self.wait,
            cancel: request.cancel.clone(),
            output: 0,
        };
        under(&budget, id, async { Ok(work.await) }).await
    }

    fn budget(&self, request: &Request, limits: &crate::Limits, started: Instant) -> Budget {
        let from = if self.callers { started } else { Instant::now() };
        Budget {
            deadline: from + self.time,
            allowed: self.time,
            cancel: request.cancel.clone(),
            output: limits.output,
        }
    }
}

/// Waits for a permit, no longer than the call may take.
async fn enter<'e>(
    entry: &'e Entry,
    request: &Request,
    time: &Allowed,
    started: Instant,
) -> Result<tokio::sync::SemaphorePermit<'e>, Failure> {
    let id = &entry.id;
    let width = entry.lane.width();
    tokio::select! {
        biased;
        () = request.cancel.cancelled() => {
            Err(Failure::new(&code::CANCELLED, format!("the call of `{id}` was cancelled before it began")))
        }
        permit = entry.lane.enter() => permit.map_err(|_| {
            Failure::new(&code::BUSY, format!("{width} calls of the toolset of `{id}` are running and too many are waiting"))
        }),
        () = tokio::time::sleep_until((started + time.wait).into()) => {
            let waited = time.wait.as_millis();
            let message = format!("`{id}` was not started within {waited} ms: {width} other calls of its toolset are running");
            Err(Failure::new(&code::TIMEOUT, message))
        }
    }
}

/// Refuses an answer that is too large.
fn within_cap(outcome: Outcome, cap: usize) -> Result<Outcome, Failure> {
    if outcome.size(cap) > cap {
        let message = format!("the answer has more than the {cap} bytes that are allowed");
        return Err(Failure::new(&code::OUTPUT_TOO_LARGE, message));
    }
    Ok(outcome)
}

fn check_output(
    entry: &Entry,
    mut outcome: Outcome,
    check: OutputCheck,
) -> Result<Outcome, Failure> {
    let Some(schema) =
        entry.output.as_ref().filter(|_| check != OutputCheck::Off && !outcome.is_error)
    else {
        return Ok(outcome);
    };
    let id = &entry.id;
    let failure = match &outcome.structured {
        None => Failure::new(
            &code::OUTPUT_INVALID,
            format!("`{id}` has an output schema, but its answer has no structured content"),
        ),
        Some(value) => match schema.validate(value) {
            Ok(()) => return Ok(outcome),
            Err(failures) => {
                let message = format!("the answer of `{id}` does not match its output schema");
                Failure::new(&code::OUTPUT_INVALID, message).faults(&failures)
            }
        },
    };
    if check == OutputCheck::Enforce {
        return Err(failure);
    }
    outcome.warnings.push(failure.to_text());
    Ok(outcome)
}
