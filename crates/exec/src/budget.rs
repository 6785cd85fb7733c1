//! What a call may use. It only ever shrinks.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// The limits of one call, handed to the executor.
#[derive(Clone, Debug)]
pub struct Budget {
    /// When the work must have ended.
    pub deadline: Instant,
    /// The time it was given, for messages.
    pub allowed: Duration,
    /// Fires when the caller no longer wants the result.
    pub cancel: CancellationToken,
    /// Bytes the answer may have.
    pub output: usize,
}

impl Budget {
    /// The time that is left; zero when it is over.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}
