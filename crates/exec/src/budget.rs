//! The limits of one call while it runs.
//!
//! The runner computes them once, from the request, the definition and the configuration, and
//! enforces the first two itself. An executor reads them to pass them on, such as to the sandbox.
//! Nothing here can be raised later: a tool cannot buy itself more time.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// The time and output that one call may use.
#[derive(Clone, Debug)]
pub struct Budget {
    /// When the work must have ended.
    pub deadline: Instant,
    /// The time between the start and the deadline, for messages only.
    pub allowed: Duration,
    /// Cancelled when the caller gives up the call.
    pub cancel: CancellationToken,
    /// Largest size of the result, in bytes.
    pub output: usize,
}

impl Budget {
    /// The time until the deadline; zero after it.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(now())
    }
}

/// The current time, by tokio's clock. It is the system's monotonic clock, except in tests that
/// pause it: those can check time limits exactly.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
