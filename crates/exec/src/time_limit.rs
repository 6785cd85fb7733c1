//! The time limit of a call, set by the caller, the definition, the source or the default, and the
//! wait for a permit.
//!
//! Three parties set limits, and each means something else by a time (`TimeLimitKind`). A budget is
//! made of the limit whenever work begins, so that the wait for a permit or a person does not count
//! against the author of a tool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolwright_model::{Binding, CallLimits};

use crate::budget::now;
use crate::concurrency::CallPermit;
use crate::{Budget, CallClock, CallRequest, Failure, RegisteredTool, SessionNumber, code};

/// The time limit of a call, and what counts against it.
pub(crate) struct TimeLimit {
    time: Duration,
    kind: TimeLimitKind,
    /// The longest time that the work may take in all.
    cap: Duration,
    /// The longest time from the request to the permit.
    ///
    /// With a limit of the caller, the same as that; otherwise the largest limit of the
    /// configuration.
    wait: Duration,
    /// When the caller began to wait, moved by the time in which a person was asked.
    pub(crate) started: Instant,
}

/// What counts against a time limit, which depends on who set it.
enum TimeLimitKind {
    /// The caller: everything since the request, waiting included. The caller does not care where
    /// the time goes.
    Caller,
    /// The definition or the defaults: everything but the wait for a permit, because an author
    /// knows how long the tool works, not how long the queue is.
    Work,
    /// The source of a server: the time without a sign of life. Only the cap bounds the whole.
    Silence,
}

impl TimeLimit {
    /// The limit of the caller, else of the tool, else of its toolset, else of its server, else the
    /// default; never above the maximum.
    pub(crate) fn of(
        tool: &RegisteredTool,
        request: &CallRequest,
        limits: &CallLimits,
    ) -> TimeLimit {
        let (own, toolset) = (&tool.tool.details.limits, &tool.toolset_limits);
        let binding = &tool.tool.details.binding;
        let cap = limits.cap(binding);
        let (time, kind) = match request.timeout {
            Some(time) => (time.min(cap), TimeLimitKind::Caller),
            None => {
                let is_server = matches!(binding, Binding::Server { .. });
                let kind = match is_server && limits.declared(own, toolset).is_none() {
                    true => TimeLimitKind::Silence,
                    false => TimeLimitKind::Work,
                };
                (limits.time_limit(own, toolset, binding), kind)
            }
        };
        // A declared limit says nothing about waiting, so only the maximum bounds that.
        let wait = request.timeout.map_or(limits.max_timeout, |_| time);
        TimeLimit { time, kind, cap, wait, started: request.started }
    }

    /// The budget of the work that begins now, where earlier work has used some of the time.
    pub(crate) fn budget(
        &self,
        request: &CallRequest,
        limits: &CallLimits,
        used: Duration,
    ) -> Budget {
        let clock = match self.kind {
            TimeLimitKind::Caller => CallClock::fixed(self.started + self.time, self.time),
            TimeLimitKind::Work => {
                CallClock::fixed(now() + self.time.saturating_sub(used), self.time)
            }
            TimeLimitKind::Silence => CallClock::moving(self.time, self.cap, used),
        };
        Budget {
            clock: Arc::new(clock),
            cancel: request.cancel.clone(),
            output: limits.output,
            calls: request.calls.clone(),
        }
    }
}

/// Waits for a permit of the toolset, no longer than the call may wait.
pub(crate) async fn acquire_permit<'t>(
    tool: &'t RegisteredTool,
    request: &CallRequest,
    time: &TimeLimit,
    client: Option<SessionNumber>,
) -> Result<CallPermit<'t>, Failure> {
    let id = &tool.id;
    // Only for the messages.
    let running = tool.concurrency.max_running();
    // The order of the branches is that of `within_budget`, for the same reasons.
    tokio::select! {
        biased;
        () = request.cancel.cancelled() => {
            let message = format!("the call of `{id}` was cancelled before it began");
            Err(Failure::new(&code::CANCELLED, message))
        }
        permit = tool.concurrency.acquire(client) => permit.map_err(|_| {
            let message = format!(
                "{running} calls of the toolset of `{id}` are running and too many are waiting"
            );
            Failure::new(&code::BUSY, message)
        }),
        () = tokio::time::sleep_until((time.started + time.wait).into()) => {
            let message = format!(
                "`{id}` was not started within {} ms: \
                 {running} other calls of its toolset are running",
                time.wait.as_millis()
            );
            Err(Failure::new(&code::TIMEOUT, message))
        }
    }
}
