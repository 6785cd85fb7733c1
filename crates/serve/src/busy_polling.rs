//! Keeps the thread of the runtime awake for a moment after a message, because the next one is
//! likely to follow at once: the answer of a server after a request, the next request of the client
//! after an answer. To wake a sleeping thread takes longer than all that is done with a short call.
//!
//! A task that yields again and again does it: the runtime looks for events before it continues
//! such a task, and never sleeps. This works only if the runtime has a single thread: with several,
//! another one would wait for events and sleep. It is done only while at most one request is open,
//! because a busy gateway does not sleep anyway, and the processor is needed by others then.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::Gateway;

/// How long the thread stays awake after a message: about as long as two processes need to
/// exchange two messages. Longer would cost more processor time than it saves.
const STAY_AWAKE: Duration = Duration::from_micros(60);

/// When the thread may sleep, and a signal for the task that keeps it awake.
pub(crate) struct BusyPolling {
    until: Mutex<Instant>,
    extended: Notify,
}

impl BusyPolling {
    pub(crate) fn new() -> BusyPolling {
        BusyPolling { until: Mutex::new(Instant::now()), extended: Notify::new() }
    }

    /// Notes that a message has arrived or was sent.
    pub(crate) fn stay_awake(&self, gateway: &Gateway) {
        if gateway.running_requests() > 1 {
            return;
        }
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + STAY_AWAKE;
        self.extended.notify_one();
    }

    /// Keeps the thread awake after each message, for ever. Does nothing if there are several
    /// threads.
    pub(crate) async fn run(&self, gateway: &Gateway) {
        if tokio::runtime::Handle::current().metrics().num_workers() > 1 {
            return;
        }
        loop {
            self.extended.notified().await;
            while Instant::now() < self.until() && gateway.running_requests() <= 1 {
                tokio::task::yield_now().await;
            }
        }
    }

    fn until(&self) -> Instant {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
