//! The record of one call: who called which tool, how it ended and how long each step took.
//!
//! ```text
//! Runner::call ─ RecordInProgress ─ steps … ─ finish ─▶ AuditLog::add, write ─▶ result leaves
//!                       └ dropped: the caller went away ─▶ the same, as CANCELLED
//! ```
//!
//! The record is written before the result leaves, so every result that a caller saw has one. If it
//! cannot be written, the result is withheld. Calls that end at the same moment are written
//! together. A record has no secret in it: arguments are in it only if the configuration asks for
//! them.
//!
//! Not here: where records are kept (the crate `catalog` implements [`AuditLog`]).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use toolwright_model::ContentHash;

use crate::budget::now;
use crate::{
    CallArguments, CallRequest, Failure, Host, Outcome, RegisteredTool, Runner, UsedGrant, code,
};

/// The step of a call whose time a record has. In the order in which they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStep {
    /// The arguments are checked, by the schema and by validators, and changed by request
    /// processors.
    Check,
    /// The policy decides, and a person is asked if it has to be.
    Policy,
    /// The call waits for a permit of its toolset.
    Wait,
    /// Executor and response processors.
    Run,
    /// Size and output schema of the result are checked.
    Complete,
}

impl CallStep {
    /// All steps, in their order.
    pub const ALL: [CallStep; 5] =
        [CallStep::Check, CallStep::Policy, CallStep::Wait, CallStep::Run, CallStep::Complete];

    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            CallStep::Check => "check",
            CallStep::Policy => "policy",
            CallStep::Wait => "wait",
            CallStep::Run => "run",
            CallStep::Complete => "complete",
        }
    }
}

/// The code of a call that succeeded, in records.
pub const OK: &str = "OK";

/// What is on record about one call.
#[derive(Clone, Debug)]
pub struct CallRecord<'a> {
    /// When the caller asked.
    pub time: SystemTime,
    /// Who called: [`Host::agent`].
    pub agent: &'a str,
    /// The session of the client in this process, if there is one.
    pub session: Option<u64>,
    /// The id of the tool, or the word that the caller gave if there is no such tool.
    pub tool: &'a str,
    /// The content hash of the tool, if it was found and has one.
    pub tool_hash: Option<&'a ContentHash>,
    /// The content hash of its toolset.
    pub toolset_hash: Option<&'a ContentHash>,
    /// [`OK`], or the code of the failure. A result with `isError` has `TOOL_FAILED`.
    pub code: &'static str,
    /// The whole time.
    pub total: Duration,
    /// The time of each step that was taken, in the order of [`CallStep::ALL`].
    pub steps: [Option<Duration>; 5],
    /// The grants that the call has used.
    pub grants: &'a [UsedGrant],
    /// The arguments as the caller wrote them.
    pub arguments: &'a CallArguments,
    /// Values of the configuration that must not be on record, if the arguments are kept.
    pub secrets: Vec<String>,
    /// The size of the result in bytes; zero for a failure.
    pub result_bytes: usize,
}

/// A call could not be recorded; the text says why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct AuditError(pub String);

/// Keeps the records of calls.
pub trait AuditLog: Send + Sync {
    /// Whether calls can be recorded at all. Asked before a tool runs.
    ///
    /// # Errors
    /// Why not.
    fn ready(&self) -> Result<(), AuditError>;

    /// Whether records are to have the arguments.
    fn keeps_arguments(&self) -> bool;

    /// Adds a record to those that are written next, and returns its number for
    /// [`AuditLog::write`]; `None` if it is lost, and calls are made without records.
    ///
    /// # Errors
    /// If the record is not kept.
    fn add(&self, record: &CallRecord<'_>) -> Result<Option<u64>, AuditError>;

    /// Writes all records that were added, so that they survive the end of this process. Called
    /// once for each number, on the threads that calls share, so it takes microseconds.
    ///
    /// # Errors
    /// If the record with this number is not kept.
    fn write(&self, number: u64) -> Result<(), AuditError>;

    /// No more calls follow. May take some time.
    fn close(&self) {}
}

/// The record of a call that is still running.
pub(crate) struct RecordInProgress<'a> {
    runner: &'a Runner,
    log: Option<Arc<dyn AuditLog>>,
    request: &'a CallRequest,
    host: &'a dyn Host,
    pub(crate) tool: Option<Arc<RegisteredTool>>,
    /// The grants that the call uses.
    pub(crate) grants: Vec<UsedGrant>,
    time: SystemTime,
    began: Instant,
    /// When the step that runs began.
    step_began: Instant,
    steps: [Option<Duration>; 5],
    state: RecordState,
}

/// How far a record is.
enum RecordState {
    /// The call runs.
    Open,
    /// The record has this number, and nobody has asked for it to be written.
    Added(u64),
    /// Nothing is left to do.
    Kept,
}

impl<'a> RecordInProgress<'a> {
    /// Begins the record of a call of `runner`, whose log is `log`.
    ///
    /// # Errors
    /// If calls cannot be recorded now.
    pub(crate) fn begin(
        runner: &'a Runner,
        log: Option<Arc<dyn AuditLog>>,
        request: &'a CallRequest,
        host: &'a dyn Host,
    ) -> Result<RecordInProgress<'a>, Failure> {
        if let Some(log) = &log {
            log.ready().map_err(|error| unavailable("the call is not made", &error))?;
        }
        let began = now();
        runner.running.fetch_add(1, Ordering::Relaxed);
        Ok(RecordInProgress {
            runner,
            log,
            request,
            host,
            tool: None,
            grants: Vec::new(),
            time: SystemTime::now(),
            began,
            step_began: began,
            steps: [None; 5],
            state: RecordState::Open,
        })
    }

    /// Notes that a step has ended, and the next one begins. Returns how long it took. The times of
    /// a step that is taken in two parts are added up.
    pub(crate) fn end_step(&mut self, step: CallStep) -> Duration {
        let now = now();
        let part = now.saturating_duration_since(self.step_began);
        *self.steps[step as usize].get_or_insert_default() += part;
        self.step_began = now;
        part
    }

    /// Keeps the record, and returns the result that may leave now. Waits for other calls that end
    /// at this moment, so that one write is enough for all of them.
    pub(crate) async fn finish(
        mut self,
        result: Result<Outcome, Failure>,
    ) -> Result<Outcome, Failure> {
        let added = match &result {
            Ok(outcome) if outcome.is_error => {
                self.add(code::TOOL_FAILED.name, outcome.full_size())
            }
            Ok(outcome) => self.add(OK, outcome.full_size()),
            Err(failure) => self.add(failure.code.name, 0),
        };
        if self.runner.running.load(Ordering::Relaxed) > 1 {
            tokio::task::yield_now().await;
        }
        match added.and_then(|()| self.write()) {
            Ok(()) => result,
            Err(error) => Err(unavailable("the call was made and its result is withheld", &error)),
        }
    }

    /// Keeps the record of a call that is not made, and returns why.
    pub(crate) fn refuse(mut self, failure: Failure) -> Failure {
        match self.add(failure.code.name, 0).and_then(|()| self.write()) {
            Ok(()) => failure,
            Err(error) => unavailable("the call is not made", &error),
        }
    }

    fn add(&mut self, code: &'static str, result_bytes: usize) -> Result<(), AuditError> {
        self.state = RecordState::Kept;
        let Some(log) = &self.log else { return Ok(()) };
        let tool = self.tool.as_ref();
        let id = tool.map(|tool| tool.id.to_string());
        let secrets = match (log.keeps_arguments(), tool) {
            (true, Some(tool)) => tool.secrets(),
            // Those of the tool that was meant, which is perhaps misspelled.
            (true, None) => self.runner.registry().secrets(),
            _ => Vec::new(),
        };
        let record = CallRecord {
            time: self.time,
            agent: self.host.agent(),
            session: self.host.session().map(|session| session.0),
            tool: id.as_deref().unwrap_or(&self.request.id),
            tool_hash: tool.and_then(|tool| tool.tool.hash.as_ref()),
            toolset_hash: tool.and_then(|tool| tool.toolset_hash.as_ref()),
            code,
            total: now().saturating_duration_since(self.began),
            steps: self.steps,
            grants: &self.grants,
            arguments: &self.request.arguments,
            secrets,
            result_bytes,
        };
        if let Some(number) = log.add(&record)? {
            self.state = RecordState::Added(number);
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), AuditError> {
        match (&self.log, std::mem::replace(&mut self.state, RecordState::Kept)) {
            (Some(log), RecordState::Added(number)) => log.write(number),
            _ => Ok(()),
        }
    }
}

impl Drop for RecordInProgress<'_> {
    fn drop(&mut self) {
        // Nobody waits for the result any more, so an error cannot be reported.
        if let RecordState::Open = self.state {
            let _ = self.add(code::CANCELLED.name, 0);
        }
        let _ = self.write();
        self.runner.running.fetch_sub(1, Ordering::Relaxed);
    }
}

fn unavailable(what: &str, error: &AuditError) -> Failure {
    let message = format!("{what}, because it cannot be recorded: {error}");
    Failure::new(&code::AUDIT_UNAVAILABLE, message)
}
