//! How many calls of one toolset run at once, how many more may wait, and how many threads its
//! expensive checks may occupy.
//!
//! ```text
//! session 1: ● ● ● ● ● ● ┐
//! session 2: ●           ├─ one of each in turn ─▶ permits (max_running)
//! no session: ● ●        ┘
//! ```
//!
//! Waiting calls are served in order of arrival for each client, and in turn between clients: one
//! that sends 800 calls delays another by one call, not by 800. The queue is bounded: a client that
//! sends calls faster than they finish gets `BUSY` at once, instead of a growing queue of calls
//! whose callers have long given up.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, oneshot};

use crate::SessionNumber;
use crate::offload::run_blocking;

/// Threads that expensive checks of one toolset may occupy. A check cannot be stopped, so it may
/// outlive its call by seconds; the other toolsets must have processors left meanwhile.
const MAX_EXPENSIVE: usize = 2;

/// The permits and the waiting queue of one toolset. All tools of the toolset share it.
#[derive(Debug)]
pub struct ConcurrencyLimit {
    queue: Mutex<CallQueue>,
    max_running: usize,
    max_waiting: usize,
    /// The permits of [`run_expensive`](Self::run_expensive).
    expensive: Arc<Semaphore>,
}

/// The calls that run and wait.
#[derive(Debug)]
struct CallQueue {
    /// Permits that nobody has. Zero while a call waits.
    free: usize,
    waiting: usize,
    /// The waiting calls of each client; the first client is served next. None of them is empty.
    clients: VecDeque<(Option<SessionNumber>, VecDeque<WaitingCall>)>,
    /// The number of the next call that waits.
    next: u64,
}

#[derive(Debug)]
struct WaitingCall {
    number: u64,
    /// Sending hands over the permit.
    permit: oneshot::Sender<()>,
}

/// The queue has no place left.
pub(crate) struct QueueFull;

/// Lets a call run. Dropping it lets the next one run.
#[derive(Debug)]
pub(crate) struct CallPermit<'l>(&'l ConcurrencyLimit);

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        self.0.queue().release();
    }
}

impl ConcurrencyLimit {
    /// Allows `max_running` calls at once (at least one) and `max_waiting` more in the queue
    /// (zero: a call that cannot run at once is refused).
    pub fn new(max_running: usize, max_waiting: usize) -> ConcurrencyLimit {
        let max_running = max_running.max(1);
        let queue = CallQueue { free: max_running, waiting: 0, clients: VecDeque::new(), next: 0 };
        ConcurrencyLimit {
            queue: Mutex::new(queue),
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
        let queue = self.queue();
        queue.free == self.max_running && queue.waiting == 0
    }

    fn queue(&self) -> MutexGuard<'_, CallQueue> {
        // Nothing in this file panics while it holds the lock, so a poisoned one is still valid.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a permit; see the file header for the order. Dropping the future leaves the queue.
    pub(crate) async fn acquire(
        &self,
        client: Option<SessionNumber>,
    ) -> Result<CallPermit<'_>, QueueFull> {
        let Some(mut place) = self.take_place(client)? else { return Ok(CallPermit(self)) };
        // The sender is dropped only after it has sent.
        let _ = (&mut place.handed_over).await;
        place.is_served = true;
        Ok(CallPermit(self))
    }

    /// Takes a free permit (`None`), or a place in the queue.
    fn take_place(
        &self,
        client: Option<SessionNumber>,
    ) -> Result<Option<QueuePlace<'_>>, QueueFull> {
        let mut queue = self.queue();
        if queue.free > 0 {
            queue.free -= 1;
            return Ok(None);
        }
        if queue.waiting >= self.max_waiting {
            return Err(QueueFull);
        }
        let (permit, handed_over) = oneshot::channel();
        let number = queue.push(client, permit);
        Ok(Some(QueuePlace { limit: self, client, number, handed_over, is_served: false }))
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

impl CallQueue {
    fn push(&mut self, client: Option<SessionNumber>, permit: oneshot::Sender<()>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting += 1;
        let call = WaitingCall { number, permit };
        match self.clients.iter_mut().find(|(own, _)| *own == client) {
            Some((_, calls)) => calls.push_back(call),
            None => self.clients.push_back((client, VecDeque::from([call]))),
        }
        number
    }

    /// Hands a permit to the next call, or keeps it.
    fn release(&mut self) {
        while let Some((client, mut calls)) = self.clients.pop_front() {
            let Some(call) = calls.pop_front() else { continue };
            self.waiting -= 1;
            // The client goes to the end of the round.
            if !calls.is_empty() {
                self.clients.push_back((client, calls));
            }
            // Fails if the caller has left at this moment.
            if call.permit.send(()).is_ok() {
                return;
            }
        }
        self.free += 1;
    }

    /// Removes a call that no longer waits. Returns whether it was there.
    fn remove(&mut self, client: Option<SessionNumber>, number: u64) -> bool {
        let Some(at) = self.clients.iter().position(|(own, _)| *own == client) else {
            return false;
        };
        let calls = &mut self.clients[at].1;
        let Some(place) = calls.iter().position(|call| call.number == number) else { return false };
        calls.remove(place);
        if calls.is_empty() {
            self.clients.remove(at);
        }
        self.waiting -= 1;
        true
    }
}

/// A place in the queue. A guard, because a wait also ends when its future is dropped.
struct QueuePlace<'l> {
    limit: &'l ConcurrencyLimit,
    client: Option<SessionNumber>,
    number: u64,
    handed_over: oneshot::Receiver<()>,
    /// Whether the permit has arrived, which ends the wait.
    is_served: bool,
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        if self.is_served {
            return;
        }
        let mut queue = self.limit.queue();
        // If it is not in the queue any more, it was handed a permit that nobody will use.
        if !queue.remove(self.client, self.number) && self.handed_over.try_recv().is_ok() {
            queue.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// A small generator of numbers, so that a failure can be repeated by its seed.
    struct NumberGenerator(u64);

    impl NumberGenerator {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % end
        }
    }

    /// For any arrivals, departures and ends of calls: a client's calls run in order of arrival,
    /// between two calls of a waiting client every other runs at most one, and no permit is lost.
    #[test]
    fn clients_are_served_in_turn_and_their_calls_in_order() {
        for seed in 0..200 {
            let mut numbers = NumberGenerator(seed);
            let running = 1 + numbers.below(3) as usize;
            let limit = ConcurrencyLimit::new(running, 1_000);
            let mut waiting = Vec::new();
            let mut permits = Vec::new();
            // Which clients were served while each client waited for its turn.
            let mut overtaken: Vec<Vec<u64>> = vec![Vec::new(); 4];
            for arrival in 0..200 {
                let client = numbers.below(4);
                let session = (client > 0).then_some(SessionNumber(client));
                waiting.push((client, arrival, Box::pin(limit.acquire(session))));
                if numbers.below(8) == 0 {
                    let leaves = numbers.below(waiting.len() as u64) as usize;
                    // It may be this client's turn that it gives up.
                    let (client, _, call) = waiting.remove(leaves);
                    drop(call);
                    overtaken[client as usize].clear();
                }
                // Each future is polled once, so that it takes its place or its permit.
                let (mut still, mut served) = (Vec::new(), Vec::new());
                for (client, arrival, mut call) in std::mem::take(&mut waiting) {
                    match call.as_mut().now_or_never() {
                        None => still.push((client, arrival, call)),
                        Some(Err(QueueFull)) => panic!("the queue is full"),
                        Some(Ok(permit)) => {
                            let is_first = still.iter().all(|(own, ..)| *own != client);
                            assert!(is_first, "seed {seed}: call {arrival} overtook its client's");
                            permits.push(permit);
                            served.push(client);
                        }
                    }
                }
                waiting = still;
                let waits =
                    |own: u64| waiting.iter().any(|(it, at, _)| *it == own && *at < arrival);
                for client in 0..4 {
                    let seen = &mut overtaken[client as usize];
                    if served.contains(&client) || !waits(client) {
                        seen.clear();
                        continue;
                    }
                    for other in &served {
                        assert!(!seen.contains(other), "seed {seed}: {other} ran before {client}");
                        seen.push(*other);
                    }
                }
                assert!(permits.len() <= running, "seed {seed}");
                if numbers.below(2) == 0 && !permits.is_empty() {
                    permits.remove(0);
                }
            }
            drop(waiting);
            drop(permits);
            let queue = limit.queue();
            assert_eq!((queue.free, queue.waiting), (running, 0), "seed {seed}");
            assert!(queue.clients.is_empty(), "seed {seed}");
        }
    }

    /// One client's 800 calls delay another client's call by one.
    #[test]
    fn a_flood_of_one_client_does_not_delay_another() {
        let limit = ConcurrencyLimit::new(1, 1_000);
        let first = limit.acquire(None).now_or_never();
        let mut flood: Vec<_> =
            (0..800).map(|_| Box::pin(limit.acquire(Some(SessionNumber(1))))).collect();
        assert!(flood.iter_mut().all(|call| call.as_mut().now_or_never().is_none()));
        let mut other = Box::pin(limit.acquire(Some(SessionNumber(2))));
        assert!(other.as_mut().now_or_never().is_none());
        drop(first);
        let of_flood = flood[0].as_mut().now_or_never();
        assert!(of_flood.is_some());
        assert!(other.as_mut().now_or_never().is_none());
        drop(of_flood);
        assert!(other.as_mut().now_or_never().is_some());
    }
}
