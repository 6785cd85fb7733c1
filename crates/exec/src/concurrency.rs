//! How many calls of one toolset run at once, how many more may wait, and how many threads its
//! expensive checks may occupy.
//!
//! A tokio semaphore already serves waiters in order of arrival, but its queue has no end. Here a
//! counter bounds the queue: a client that sends calls faster than they finish gets `BUSY` at once,
//! instead of a growing queue of calls whose callers have long given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::offload::run_blocking;

/// Threads that expensive checks of one toolset may occupy. A check cannot be stopped, so it may
/// outlive its call by seconds; the other toolsets must have processors left meanwhile.
const MAX_EXPENSIVE: usize = 2;

/// The permits and the waiting queue of one toolset. All tools of the toolset share it.
#[derive(Debug)]
pub struct ConcurrencyLimit {
    permits: Semaphore,
    /// Calls in the queue right now.
    waiting: AtomicUsize,
    max_running: usize,
    max_waiting: usize,
    /// The permits of [`run_expensive`](Self::run_expensive).
    expensive: Arc<Semaphore>,
}

/// The queue has no place left.
pub(crate) struct QueueFull;

impl ConcurrencyLimit {
    /// Allows `max_running` calls at once (at least one) and `max_waiting` more in the queue
    /// (zero: a call that cannot run at once is refused).
    pub fn new(max_running: usize, max_waiting: usize) -> ConcurrencyLimit {
        let max_running = max_running.clamp(1, Semaphore::MAX_PERMITS);
        ConcurrencyLimit {
            permits: Semaphore::new(max_running),
            waiting: AtomicUsize::new(0),
            max_running,
            max_waiting,
            expensive: Arc::new(Semaphore::new(MAX_EXPENSIVE)),
        }
    }

    /// How many calls may run at once.
    pub fn max_running(&self) -> usize {
        self.max_running
    }

    /// How many calls may wait.
    pub fn max_waiting(&self) -> usize {
        self.max_waiting
    }

    /// Whether no call runs or waits at this moment.
    pub fn is_idle(&self) -> bool {
        self.permits.available_permits() == self.max_running
            && self.waiting.load(Ordering::Relaxed) == 0
    }

    /// Waits for a permit, in order of arrival. Dropping the future leaves the queue; dropping the
    /// permit lets the next call run.
    pub(crate) async fn acquire(&self) -> Result<SemaphorePermit<'_>, QueueFull> {
        // Calls that wait come first: while there are any, the semaphore has no free permit to
        // take.
        if let Ok(permit) = self.permits.try_acquire() {
            return Ok(permit);
        }
        let place = QueuePlace::take(self)?;
        let permit = self.permits.acquire().await;
        drop(place);
        Ok(permit.expect("the semaphore is never closed"))
    }

    /// Does work whose time a definition decides (schemas, advice) on another thread, once one of
    /// the toolset's threads for it is free.
    pub(crate) async fn run_expensive<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let permit = Arc::clone(&self.expensive).acquire_owned().await;
        run_blocking(move || {
            let done = work();
            // Here and not in the caller, who may be gone by now.
            drop(permit);
            done
        })
        .await
    }
}

/// A place in the queue. A guard, because a wait also ends when its future is dropped.
struct QueuePlace<'l>(&'l ConcurrencyLimit);

impl<'l> QueuePlace<'l> {
    fn take(limit: &'l ConcurrencyLimit) -> Result<QueuePlace<'l>, QueueFull> {
        // Relaxed suffices: the counter guards no other memory. Two calls that both go over the
        // limit may both be refused, but never both be let in.
        if limit.waiting.fetch_add(1, Ordering::Relaxed) >= limit.max_waiting {
            limit.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(QueueFull);
        }
        Ok(QueuePlace(limit))
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
