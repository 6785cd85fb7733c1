//! What all functions of a definition use together during one call. Their time is that of the call
//! ([`Budget`]); this counts it, so that a time-out can name the cause, and caps
//! what they write to `console`.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolwright_sandbox::LogLine;

use super::KnowledgeFunction;
use crate::budget::{CAP_REMARK, ReachedLimit, now};
use crate::{Budget, Failure, Log, code};

/// Bytes that all functions of a call may write to `console`.
const MAX_CONSOLE: usize = 64 << 10;
/// Bytes that a line counts beside its text, so that empty lines count too.
const LINE_COST: usize = 16;

/// What the functions of a definition have used in one call so far.
#[derive(Debug, Default)]
pub struct KnowledgeBudget(Mutex<FunctionUsage>);

#[derive(Debug, Default)]
struct FunctionUsage {
    /// Functions that have run to their end, whatever it was.
    finished: usize,
    /// The time they took, waiting for a worker included.
    time: Duration,
    /// The function that runs now, and since when. Stays set if its call is dropped.
    running: Option<(String, Instant)>,
    /// Bytes written to `console`.
    console: usize,
    is_console_cut: bool,
}

impl KnowledgeBudget {
    fn usage(&self) -> MutexGuard<'_, FunctionUsage> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a function starts, or waits for a worker to start.
    pub(super) fn begin(&self, function: &KnowledgeFunction) {
        self.usage().running = Some((format!("{function:?}"), now()));
    }

    /// Notes that the function has ended.
    pub(super) fn end(&self) {
        let mut usage = self.usage();
        if let Some((_, since)) = usage.running.take() {
            usage.time += now().saturating_duration_since(since);
            usage.finished += 1;
        }
    }

    /// Writes what a function wrote to `console` to the log, one line each, as far as the call's
    /// functions have room together. The first line that does not fit is replaced by a note.
    pub(super) fn log_console(&self, function: &KnowledgeFunction, lines: &[LogLine], log: &Log) {
        let mut usage = self.usage();
        for line in lines {
            usage.console += line.text.len() + LINE_COST;
            if usage.console > MAX_CONSOLE {
                if !std::mem::replace(&mut usage.is_console_cut, true) {
                    let kib = MAX_CONSOLE >> 10;
                    log.line(&format!(
                        "{function:?}: console: … [log cut here: the functions of a call share \
                         {kib} KiB]"
                    ));
                }
                return;
            }
            log.line(&format!("{function:?}: console: {}", line.text));
        }
    }

    /// The failure of a call that used up its time. If the functions used most of it, the message
    /// says that, because then neither the tool nor its server is slow.
    pub(crate) fn timeout(&self, tool: &str, budget: &Budget) -> Failure {
        let (allowed, remark) = match budget.clock.reached_limit() {
            ReachedLimit::Deadline(time) => (time, String::new()),
            ReachedLimit::Cap(time) => (time, format!(", {CAP_REMARK}")),
        };
        let mut message =
            format!("`{tool}` did not answer within {} ms{remark}", allowed.as_millis());
        let usage = self.usage();
        let running = usage.running.as_ref();
        let since = running.map(|(_, since)| now().saturating_duration_since(*since));
        let time = usage.time + since.unwrap_or_default();
        if 2 * time < allowed || time.is_zero() {
            return Failure::new(&code::TIMEOUT, message);
        }
        let running = running.map(|(name, _)| format!(", {name} was running")).unwrap_or_default();
        message.push_str(&format!(
            ": the functions of its definition took {} ms ({} had run{running})",
            time.min(allowed).as_millis(),
            usage.finished
        ));
        Failure::new(&code::TIMEOUT, message)
            .suggest("the definition is at fault: make its functions faster, or allow more time")
    }
}
