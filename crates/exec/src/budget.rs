//! The limits of one call while it runs.
//!
//! The runner computes them once, from the request, the definition and the configuration, and
//! enforces the first two itself. An executor reads them to pass them on, such as to the sandbox.
//! A tool cannot buy itself more time than the cap: only the deadline before it moves.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::ConcurrencyLimit;

/// What the message of a call that reached the cap adds to its time.
pub(crate) const CAP_REMARK: &str = "the `max_timeout`, which progress does not extend";

/// How deeply calls that tools make may be nested: the call of an agent is at level 0.
const MAX_CALL_DEPTH: u8 = 4;
/// How many calls may be made below the call of an agent, at all levels together.
pub(crate) const MAX_INNER_CALLS: u32 = 64;

/// The time, the output and the calls of other tools that one call may use.
#[derive(Clone, Debug)]
pub struct Budget {
    /// When the work must have ended.
    pub clock: Arc<CallClock>,
    /// Cancelled when the caller gives up the call.
    pub cancel: CancellationToken,
    /// Largest size of the result, in bytes.
    pub output: usize,
    /// The calls of other tools that it may make.
    pub calls: CallAllowance,
}

/// The calls of other tools that are left to a call. An inner call gets what its caller has left,
/// one level deeper; all calls below one call of an agent share the number. Neither ever grows.
#[derive(Clone, Debug)]
pub struct CallAllowance {
    /// Levels that are left below this call.
    levels: u8,
    shared: Arc<SharedAllowance>,
    /// The toolsets whose permits the callers of this call hold.
    permits: Vec<Arc<ConcurrencyLimit>>,
}

/// What all calls below one call of an agent share.
#[derive(Debug)]
struct SharedAllowance {
    left: AtomicU32,
    /// Set by the first call beyond the number.
    is_used_up: AtomicBool,
    used_up: Notify,
}

impl Default for CallAllowance {
    /// The allowance of a call that no tool makes.
    fn default() -> CallAllowance {
        let shared = SharedAllowance {
            left: AtomicU32::new(MAX_INNER_CALLS),
            is_used_up: AtomicBool::new(false),
            used_up: Notify::new(),
        };
        let (shared, permits) = (Arc::new(shared), Vec::new());
        CallAllowance { levels: MAX_CALL_DEPTH, shared, permits }
    }
}

/// Why a call of another tool is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallRefusal {
    /// All calls below the outermost one are used up.
    Used,
    /// The call would be too deep. The number is the deepest level.
    TooDeep(u8),
}

impl CallAllowance {
    /// Whether a tool makes the call, on behalf of another call that waits for it.
    pub(crate) fn is_inner(&self) -> bool {
        self.levels < MAX_CALL_DEPTH
    }

    /// Takes one call, for a tool whose caller holds a permit of `toolset`. The refusal of a level
    /// counts as a call, too, so that a loop over refused calls ends.
    pub(crate) fn take(
        &self,
        toolset: &Arc<ConcurrencyLimit>,
    ) -> Result<CallAllowance, CallRefusal> {
        let take_one = |left: u32| left.checked_sub(1);
        let SharedAllowance { left, is_used_up, used_up } = &*self.shared;
        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take_one).is_err() {
            is_used_up.store(true, Ordering::Release);
            used_up.notify_waiters();
            return Err(CallRefusal::Used);
        }
        let Some(levels) = self.levels.checked_sub(1) else {
            return Err(CallRefusal::TooDeep(MAX_CALL_DEPTH));
        };
        let mut permits = self.permits.clone();
        permits.push(Arc::clone(toolset));
        Ok(CallAllowance { levels, permits, ..self.clone() })
    }

    /// Waits until a call at any level was refused because all are used up. Then all tools that
    /// made calls end, so that none of them goes on with half of its results.
    pub(crate) async fn used_up(&self) {
        // From before the flag is read: it may be set in between.
        let mut notified = pin!(self.shared.used_up.notified());
        notified.as_mut().enable();
        if !self.is_used_up() {
            notified.await;
        }
    }

    /// Whether [`CallAllowance::used_up`] would return at once.
    pub(crate) fn is_used_up(&self) -> bool {
        self.shared.is_used_up.load(Ordering::Acquire)
    }

    /// Whether a caller of this call holds a permit of the toolset. The call then runs under that
    /// permit: waiting for another one could last as long as the caller waits for the call.
    pub(crate) fn holds_permit(&self, toolset: &Arc<ConcurrencyLimit>) -> bool {
        self.permits.iter().any(|held| Arc::ptr_eq(held, toolset))
    }
}

impl Budget {
    /// A budget whose deadline is in `allowed` from now and does not move.
    pub fn fixed(allowed: Duration, cancel: CancellationToken, output: usize) -> Budget {
        let clock = Arc::new(CallClock::fixed(now() + allowed, allowed));
        Budget { clock, cancel, output, calls: CallAllowance::default() }
    }

    /// The time until the deadline; zero after it.
    pub fn remaining(&self) -> Duration {
        self.clock.deadline().saturating_duration_since(now())
    }

    /// The time that messages name: what the call may take, or may take without a sign of life.
    pub fn allowed(&self) -> Duration {
        self.clock.allowed
    }
}

/// The limit of a [`CallClock`] that comes first, with the time that messages name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReachedLimit {
    /// The whole time, or the time without a sign of life.
    Deadline(Duration),
    /// The cap of a deadline that has moved.
    Cap(Duration),
}

/// The deadline of a call, which signs of life of a server move up to a cap.
///
/// ```text
/// start ──── idle ────▶│            no sign of life
/// start ── progress ─────── idle ────▶│
/// start ── question ▒▒ waiting ▒▒ answer ──── idle ────▶│
/// start ───────────────────── cap ──────────────────────────▶│   whatever happens
/// ```
///
/// The deadline never becomes earlier than it once was, so a task that sleeps until it needs no
/// notification of a change: it looks again when it wakes. While a person is asked, the deadline is
/// always one idle time ahead, for the same reason.
#[derive(Debug)]
pub struct CallClock {
    /// The time limit that messages name; the deadline may have moved beyond it.
    allowed: Duration,
    idle: Duration,
    cap: Instant,
    /// The time until the cap, for messages.
    cap_time: Duration,
    state: Mutex<ClockState>,
}

#[derive(Debug)]
struct ClockState {
    deadline: Instant,
    /// How many questions are open.
    paused: u32,
}

impl CallClock {
    /// A deadline that nothing moves. `allowed` is the time that messages name.
    pub fn fixed(deadline: Instant, allowed: Duration) -> CallClock {
        let state = Mutex::new(ClockState { deadline, paused: 0 });
        CallClock { allowed, idle: Duration::ZERO, cap: deadline, cap_time: allowed, state }
    }

    /// A deadline that is `idle` after the last sign of life, but never later than `cap` from the
    /// start. `used` is the time since then.
    pub fn moving(idle: Duration, cap: Duration, used: Duration) -> CallClock {
        let (now, cap_time) = (now(), cap);
        let cap = now + cap.saturating_sub(used);
        let deadline = (now + idle).min(cap);
        CallClock {
            allowed: idle,
            idle,
            cap,
            cap_time,
            state: Mutex::new(ClockState { deadline, paused: 0 }),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ClockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The deadline as it is now.
    pub fn deadline(&self) -> Instant {
        let state = self.state();
        match state.paused {
            0 => state.deadline,
            _ => state.deadline.max(self.next_deadline()),
        }
    }

    /// The idle time; zero if the deadline does not move.
    pub(crate) fn idle(&self) -> Duration {
        self.idle
    }

    /// The time that nothing moves the deadline beyond.
    pub(crate) fn latest(&self) -> Instant {
        self.cap
    }

    /// The limit that has been reached, when the deadline has passed.
    pub(crate) fn reached_limit(&self) -> ReachedLimit {
        match self.cap_time > self.allowed && self.deadline() >= self.cap {
            true => ReachedLimit::Cap(self.cap_time),
            false => ReachedLimit::Deadline(self.allowed),
        }
    }

    fn next_deadline(&self) -> Instant {
        (now() + self.idle).min(self.cap)
    }

    /// A sign of life: the idle time starts again.
    pub fn restart(&self) {
        let next = self.next_deadline();
        let mut state = self.state();
        state.deadline = state.deadline.max(next);
    }

    /// Stops the idle time until the returned guard is dropped, while a person is asked.
    pub fn pause(&self) -> ClockPause<'_> {
        self.state().paused += 1;
        ClockPause(self)
    }

    /// Waits until the deadline has passed.
    pub async fn expired(&self) {
        loop {
            let deadline = self.deadline();
            tokio::time::sleep_until(deadline.into()).await;
            // It has not moved meanwhile.
            if self.deadline() <= deadline {
                return;
            }
        }
    }
}

/// Keeps the idle time of a [`CallClock`] stopped. Dropping it starts the idle time again.
pub struct ClockPause<'c>(&'c CallClock);

impl Drop for ClockPause<'_> {
    fn drop(&mut self) {
        self.0.restart();
        self.0.state().paused -= 1;
    }
}

/// The current time, by tokio's clock. It is the system's monotonic clock, except in tests that
/// pause it: those can check time limits exactly.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowance_of_calls_only_shrinks() {
        let toolset = Arc::new(ConcurrencyLimit::new(1, 0));
        let outer = CallAllowance::default();
        assert!(!outer.is_inner() && !outer.holds_permit(&toolset));
        let mut deepest = outer.take(&toolset).expect("the first level");
        assert!(deepest.is_inner() && deepest.holds_permit(&toolset));
        for _ in 1..MAX_CALL_DEPTH {
            deepest = deepest.take(&toolset).expect("a level");
        }
        assert_eq!(deepest.take(&toolset).unwrap_err(), CallRefusal::TooDeep(4));
        // Five of 64 are used, the refused one included. All levels take from the same number.
        for _ in 0..59 {
            outer.take(&toolset).expect("a call");
        }
        assert_eq!(outer.take(&toolset).unwrap_err(), CallRefusal::Used);
        assert_eq!(deepest.take(&toolset).unwrap_err(), CallRefusal::Used);
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn signs_of_life_move_the_deadline_but_not_the_cap() {
        let start = now();
        let clock = CallClock::moving(10 * SECOND, 25 * SECOND, Duration::ZERO);
        assert_eq!(clock.reached_limit(), ReachedLimit::Deadline(10 * SECOND));
        tokio::time::sleep(8 * SECOND).await;
        clock.restart();
        assert_eq!(clock.deadline(), start + 18 * SECOND);
        tokio::time::sleep(8 * SECOND).await;
        clock.restart();
        clock.expired().await;
        assert_eq!(now(), start + 25 * SECOND);
        assert_eq!(clock.reached_limit(), ReachedLimit::Cap(25 * SECOND));
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_a_question_does_not_count() {
        let start = now();
        let clock = CallClock::moving(10 * SECOND, 100 * SECOND, Duration::ZERO);
        let question = async {
            tokio::time::sleep(5 * SECOND).await;
            let pause = clock.pause();
            tokio::time::sleep(42 * SECOND).await;
            drop(pause);
        };
        tokio::join!(question, clock.expired());
        assert_eq!(now(), start + 57 * SECOND);
    }
}
