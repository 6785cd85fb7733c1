//! How many calls of one toolset run at once: first come, first served, and only so many may wait.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

/// The permits of one toolset.
#[derive(Debug)]
pub struct Lane {
    permits: Semaphore,
    waiting: AtomicUsize,
    width: usize,
    queue: usize,
}

/// Nobody else may wait.
pub(crate) struct Full;

impl Lane {
    /// A lane for `width` calls at once, behind which `queue` more may wait.
    pub fn new(width: usize, queue: usize) -> Lane {
        let width = width.clamp(1, Semaphore::MAX_PERMITS);
        Lane { permits: Semaphore::new(width), waiting: AtomicUsize::new(0), width, queue }
    }

    /// How many calls run at once.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many may wait.
    pub fn queue(&self) -> usize {
        self.queue
    }

    /// Waits for a permit, in order of arrival.
    pub(crate) async fn enter(&self) -> Result<SemaphorePermit<'_>, Full> {
        if let Ok(permit) = self.permits.try_acquire() {
            return Ok(permit);
        }
        let place = Place::take(self)?;
        let permit = self.permits.acquire().await;
        drop(place);
        Ok(permit.expect("the semaphore is never closed"))
    }
}

/// A place in the queue, given back when the wait ends, whichever way it ends.
struct Place<'l>(&'l Lane);

impl<'l> Place<'l> {
    fn take(lane: &'l Lane) -> Result<Place<'l>, Full> {
        if lane.waiting.fetch_add(1, Ordering::Relaxed) >= lane.queue {
            lane.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Full);
        }
        Ok(Place(lane))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
