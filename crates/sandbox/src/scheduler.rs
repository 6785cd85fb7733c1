//! Decides which guest may run next. Everything is counted per *share*: the programs of one owner,
//! such as a toolset, share one queue and one quota, so that none of them can take the processors
//! from the programs of another owner.
//!
//! ```text
//!   share A: ▣▣▣▣▣▣▣▣ ─┐                                    ┌▶ short: normal priority
//!   share B: ▣         ├─▶ in turn, one of each share ─▶ run ┤ (50 ms)
//!   share C: ▣▣        ─┘   while quota and memory last      └▶ long: low priority
//!                                   ▲                               │
//!                                   └──── waits for the host ◀──────┘
//! ```
//!
//! - Waiting guests of one share are served in the order of their arrival, shares in turn.
//! - A guest starts in a *short* place. One that runs for long moves to a *long* place, and its
//!   process gets a lower priority. Each share has a few long places. If none is left, the guest
//!   keeps occupying a short place of its own share, but none of the others.
//! - A guest that waits for the host gives its place back, and gets the next one of its share. Its
//!   process still exists, so it goes on counting against the number and memory of all guests.
//! - At that bound a call that belongs to a waiting guest is refused. If it waited, guests could
//!   wait for each other for ever.
//!
//! Nothing here knows about processes or sockets: `pool` and `worker_call` ask and report.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Short places of all shares together, per worker of the pool. More than one, so that a share that
/// fills its own places leaves some for the others; the system divides the processors.
const SHORT_PLACES_PER_WORKER: usize = 2;
/// Long places of one share at least; more if the pool has more workers.
const LONG_PLACES: usize = 4;
/// Guests that exist at a time, in all shares together: each has a process.
const MAX_GUESTS: usize = 128;

/// The owner of programs, such as a toolset. Programs of different shares never use the same worker
/// process, and wait in different queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShareId(u64);

impl ShareId {
    /// A share of its own: different from all others in this process.
    #[expect(clippy::new_without_default, reason = "two shares are never equal")]
    pub fn new() -> ShareId {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        ShareId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The places and memory of a pool, and who waits for them.
pub(crate) struct Scheduler {
    state: Mutex<SchedulerState>,
    /// Short places of one share; the pool's number of workers.
    short_per_share: usize,
    long_per_share: usize,
    /// Short places of all shares.
    short_places: usize,
    /// Bytes that all guests may use together.
    memory: usize,
}

#[derive(Default)]
struct SchedulerState {
    /// Shares that have a place or wait for one.
    shares: HashMap<ShareId, ShareState>,
    /// Shares that wait, in the order in which they are served.
    turns: VecDeque<ShareId>,
    /// Occupied short places of all shares, without those of guests that run for long.
    short: usize,
    /// Guests that exist, those that wait for the host included.
    guests: usize,
    /// Bytes that these guests may use.
    memory: usize,
}

#[derive(Default)]
struct ShareState {
    short: usize,
    long: usize,
    waiting: VecDeque<WaitingGuest>,
}

/// A guest in the queue of its share.
struct WaitingGuest {
    /// Bytes that the guest will use. `None` for one that exists already and waits for its next
    /// place.
    memory: Option<usize>,
    /// Closed if the call was dropped meanwhile.
    granted: oneshot::Sender<Grant>,
}

/// What a waiting guest gets. Dropping it gives everything back.
struct Grant {
    place: RunPlace,
    /// `None` if the guest has one already.
    reservation: Option<Reservation>,
}

/// The bound on all guests is reached, and the caller may not wait for others to end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AllGuestsBusy;

impl Scheduler {
    /// A scheduler for guests that use up to `memory` bytes together. At most `workers` guests of a
    /// share run at a time.
    pub(crate) fn new(workers: usize, memory: usize) -> Arc<Scheduler> {
        Arc::new(Scheduler {
            state: Mutex::default(),
            short_per_share: workers,
            long_per_share: workers.max(LONG_PLACES),
            short_places: workers * SHORT_PLACES_PER_WORKER,
            memory,
        })
    }

    /// Waits until a guest of `share` may start that will use `memory` bytes. Dropping the future
    /// leaves the queue.
    ///
    /// # Errors
    /// Only if the guest `is_nested`, which means that a guest that runs waits for it: if no
    /// further guest may exist at the moment.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        share: ShareId,
        memory: usize,
        is_nested: bool,
    ) -> Result<RunPermit, AllGuestsBusy> {
        let (waiting, grants) = {
            let mut state = self.lock();
            if is_nested && !self.has_room(&state, memory) {
                return Err(AllGuestsBusy);
            }
            let waiting = state.enqueue(share, Some(memory), QueueEnd::Back);
            (waiting, self.grant_places(&mut state))
        };
        send_all(grants);
        let grant = waiting.await.expect("the scheduler drops no guest that waits");
        let reservation = grant.reservation.expect("a guest that starts gets one");
        Ok(RunPermit { place: Some(grant.place), _reservation: reservation })
    }

    /// Whether one more guest may exist. A single guest always may, whatever it uses.
    fn has_room(&self, state: &SchedulerState, memory: usize) -> bool {
        state.guests == 0
            || state.guests < MAX_GUESTS && state.memory.saturating_add(memory) <= self.memory
    }

    /// Takes guests out of the queues, as many as may run now. The caller sends the grants once
    /// the state is unlocked: a grant that nobody receives is dropped, which locks it again.
    fn grant_places(self: &Arc<Self>, state: &mut SchedulerState) -> Vec<SentGrant> {
        let mut grants = Vec::new();
        // Shares at the front of `turns` that cannot have a place now, by their own quota.
        let mut skipped = 0;
        while let Some(&id) = state.turns.get(skipped) {
            let share = state.shares.entry(id).or_default();
            while share.waiting.front().is_some_and(|waiting| waiting.granted.is_closed()) {
                share.waiting.pop_front();
            }
            let Some(next) = share.waiting.front() else {
                state.turns.remove(skipped);
                state.forget_if_unused(id);
                continue;
            };
            if share.short >= self.short_per_share {
                skipped += 1;
                continue;
            }
            // All shares wait for the same thing here. None overtakes: a guest that needs much
            // memory would never get it if smaller ones were served first.
            let memory = next.memory;
            if state.short >= self.short_places
                || memory.is_some_and(|memory| !self.has_room(state, memory))
            {
                break;
            }
            grants.extend(self.grant_next(state, id, memory));
            state.turns.remove(skipped);
            let share = state.shares.entry(id).or_default();
            if !share.waiting.is_empty() {
                state.turns.push_back(id);
            }
        }
        grants
    }

    /// Gives a place to the next guest of a share.
    fn grant_next(
        self: &Arc<Self>,
        state: &mut SchedulerState,
        id: ShareId,
        memory: Option<usize>,
    ) -> Option<SentGrant> {
        let share = state.shares.get_mut(&id)?;
        let guest = share.waiting.pop_front()?;
        share.short += 1;
        state.short += 1;
        let reservation = memory.map(|memory| {
            state.guests += 1;
            state.memory += memory;
            Reservation { scheduler: Arc::clone(self), memory }
        });
        let place = RunPlace { scheduler: Arc::clone(self), share: id, kind: PlaceKind::Short };
        Some((guest.granted, Grant { place, reservation }))
    }

    /// Changes the state, then serves those who wait for what became free.
    fn release(self: &Arc<Self>, change: impl FnOnce(&mut SchedulerState)) {
        let grants = {
            let mut state = self.lock();
            change(&mut state);
            self.grant_places(&mut state)
        };
        send_all(grants);
    }

    /// A poisoned state is as good as new: no code that holds the lock can panic.
    fn lock(&self) -> MutexGuard<'_, SchedulerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A grant, and where it goes.
type SentGrant = (oneshot::Sender<Grant>, Grant);

/// Sends grants. One whose receiver is gone is dropped, which gives the place back.
fn send_all(grants: Vec<SentGrant>) {
    for (sender, grant) in grants {
        drop(sender.send(grant));
    }
}

/// Where a guest joins the queue of its share.
enum QueueEnd {
    /// A guest that goes on after the host has answered: it came before all that wait to start.
    Front,
    Back,
}

impl SchedulerState {
    fn enqueue(
        &mut self,
        id: ShareId,
        memory: Option<usize>,
        end: QueueEnd,
    ) -> oneshot::Receiver<Grant> {
        let (granted, receiver) = oneshot::channel();
        let share = self.shares.entry(id).or_default();
        if share.waiting.is_empty() {
            self.turns.push_back(id);
        }
        let guest = WaitingGuest { memory, granted };
        match end {
            QueueEnd::Front => share.waiting.push_front(guest),
            QueueEnd::Back => share.waiting.push_back(guest),
        }
        receiver
    }

    /// Removes a share without guests, so that the table does not grow with every toolset that was
    /// ever loaded.
    fn forget_if_unused(&mut self, id: ShareId) {
        let is_unused =
            |share: &ShareState| share.short == 0 && share.long == 0 && share.waiting.is_empty();
        if self.shares.get(&id).is_some_and(is_unused) {
            self.shares.remove(&id);
        }
    }
}

/// The permission to run one guest, from its start to its end.
pub(crate) struct RunPermit {
    /// `None` while the guest waits for the host.
    place: Option<RunPlace>,
    _reservation: Reservation,
}

impl RunPermit {
    /// Whether the guest may run now.
    pub(crate) fn may_run(&self) -> bool {
        self.place.is_some()
    }

    /// Whether the guest runs in a place for short guests, so that it is to be moved if it runs
    /// for long.
    pub(crate) fn is_short(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.kind == PlaceKind::Short)
    }

    /// Makes way for short guests, because this one runs for long.
    pub(crate) fn make_way(&mut self) {
        if let Some(place) = &mut self.place {
            place.make_way();
        }
    }

    /// Gives the place back, while the guest waits for the host. The future waits for the next one;
    /// pass its result to [`resume`](Self::resume).
    pub(crate) fn suspend(&mut self) -> Option<NextPlace> {
        let place = self.place.take()?;
        Some(NextPlace { scheduler: Arc::clone(&place.scheduler), share: place.share })
    }

    /// The guest runs again.
    pub(crate) fn resume(&mut self, place: RunPlace) {
        self.place = Some(place);
    }
}

/// The claim of a guest that waits for the host to a place once the host has answered.
#[derive(Clone)]
pub(crate) struct NextPlace {
    scheduler: Arc<Scheduler>,
    share: ShareId,
}

impl NextPlace {
    /// Waits for a place of the share, before all guests that have not started.
    pub(crate) async fn acquire(self) -> RunPlace {
        let (waiting, grants) = {
            let mut state = self.scheduler.lock();
            let waiting = state.enqueue(self.share, None, QueueEnd::Front);
            (waiting, self.scheduler.grant_places(&mut state))
        };
        send_all(grants);
        waiting.await.expect("the scheduler drops no guest that waits").place
    }
}

/// A place for one running guest. Dropping it lets the next guest run.
pub(crate) struct RunPlace {
    scheduler: Arc<Scheduler>,
    share: ShareId,
    kind: PlaceKind,
}

/// What a running guest occupies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlaceKind {
    Short,
    /// The guest runs for long, and its share had no long place left: it occupies a short place of
    /// its share, but not one of all shares.
    LongInShort,
    Long,
}

impl RunPlace {
    fn make_way(&mut self) {
        let (id, before) = (self.share, self.kind);
        let mut after = before;
        self.scheduler.release(|state| {
            if before == PlaceKind::Short {
                state.short -= 1;
                after = PlaceKind::LongInShort;
            }
            let Some(share) = state.shares.get_mut(&id) else { return };
            if before != PlaceKind::Long && share.long < self.scheduler.long_per_share {
                share.short -= 1;
                share.long += 1;
                after = PlaceKind::Long;
            }
        });
        self.kind = after;
    }
}

impl Drop for RunPlace {
    fn drop(&mut self) {
        let (id, kind) = (self.share, self.kind);
        self.scheduler.release(|state| {
            if kind == PlaceKind::Short {
                state.short -= 1;
            }
            if let Some(share) = state.shares.get_mut(&id) {
                match kind {
                    PlaceKind::Short | PlaceKind::LongInShort => share.short -= 1,
                    PlaceKind::Long => share.long -= 1,
                }
            }
            state.forget_if_unused(id);
        });
    }
}

/// The process of a guest and the memory that it may use. Dropping it lets another guest exist.
struct Reservation {
    scheduler: Arc<Scheduler>,
    memory: usize,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let memory = self.memory;
        self.scheduler.release(|state| {
            state.guests -= 1;
            state.memory -= memory;
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    const MB: usize = 1 << 20;

    /// The permit, if the guest may start at once.
    fn try_acquire(scheduler: &Arc<Scheduler>, share: ShareId) -> Option<RunPermit> {
        scheduler.acquire(share, MB, false).now_or_never().map(|permit| permit.expect("not nested"))
    }

    #[test]
    fn a_share_that_fills_its_places_leaves_some_for_others() {
        let scheduler = Scheduler::new(2, 100 * MB);
        let (greedy, other) = (ShareId::new(), ShareId::new());
        let held: Vec<_> = (0..2).filter_map(|_| try_acquire(&scheduler, greedy)).collect();
        assert_eq!(held.len(), 2);
        assert!(try_acquire(&scheduler, greedy).is_none(), "the quota of a share");
        assert!(try_acquire(&scheduler, other).is_some());
        drop(held);
        assert!(try_acquire(&scheduler, greedy).is_some());
        assert!(scheduler.lock().shares.is_empty(), "unused shares are forgotten");
    }

    #[test]
    fn shares_are_served_in_turn_and_each_in_order() {
        let scheduler = Scheduler::new(1, 100 * MB);
        let [a, b, c, d] = [(); 4].map(|()| ShareId::new());
        // Both short places are taken, so that all others wait.
        let holders = [try_acquire(&scheduler, c), try_acquire(&scheduler, d)];
        // Three guests of one share arrive before one of another.
        let mut waiting: Vec<_> = [(a, "a1"), (a, "a2"), (a, "a3"), (b, "b1")]
            .map(|(share, name)| (name, Box::pin(scheduler.acquire(share, MB, false))))
            .into();
        for (_, guest) in &mut waiting {
            assert!(guest.as_mut().now_or_never().is_none());
        }
        // From now on there is one place, and each guest gives it to the next.
        let [free, _held] = holders;
        let mut running = free.map(Ok);
        let mut order = Vec::new();
        while !waiting.is_empty() {
            drop(running.take());
            let next = waiting.iter_mut().position(|(_, guest)| {
                running = guest.as_mut().now_or_never();
                running.is_some()
            });
            let next = next.expect("one may run");
            order.push(waiting.remove(next).0);
        }
        assert_eq!(order, ["a1", "b1", "a2", "a3"]);
    }

    #[test]
    fn guests_that_run_for_long_make_way_and_fill_only_their_own_share() {
        let scheduler = Scheduler::new(1, 1000 * MB);
        let (greedy, other) = (ShareId::new(), ShareId::new());
        let mut held = Vec::new();
        while let Some(mut permit) = try_acquire(&scheduler, greedy) {
            permit.make_way();
            assert!(!permit.is_short());
            held.push(permit);
        }
        // Four long places, and one guest that found none and keeps its short one.
        assert_eq!(held.len(), LONG_PLACES + 1);
        let two = [try_acquire(&scheduler, other), try_acquire(&scheduler, ShareId::new())];
        assert!(two.iter().all(Option::is_some), "no place of the others is taken");
        // The last one moves to a long place once one is free, and leaves the short one.
        drop(held.remove(0));
        held.last_mut().expect("four are left").make_way();
        drop(two);
        assert!(try_acquire(&scheduler, greedy).is_some());
        drop(held);
        let state = scheduler.lock();
        assert_eq!((state.short, state.guests, state.memory), (0, 0, 0));
        assert!(state.shares.is_empty());
    }

    #[test]
    fn memory_is_bounded_over_all_shares() {
        let scheduler = Scheduler::new(4, 10 * MB);
        let big = scheduler.acquire(ShareId::new(), 64 * MB, false).now_or_never();
        assert!(big.is_some(), "a single guest may use any amount");
        let mut small = Box::pin(scheduler.acquire(ShareId::new(), MB, false));
        assert!(small.as_mut().now_or_never().is_none());
        drop(big);
        assert!(small.as_mut().now_or_never().is_some());
    }

    #[test]
    fn nested_guests_are_refused_where_others_wait() {
        let scheduler = Scheduler::new(4, 10 * MB);
        let share = ShareId::new();
        let mut outer = scheduler.acquire(share, 8 * MB, false).now_or_never().expect("room");
        let next_place = outer.as_mut().expect("not nested").suspend();
        let nested = scheduler.acquire(share, 8 * MB, true).now_or_never().expect("at once");
        assert_eq!(nested.err(), Some(AllGuestsBusy));
        let nested = scheduler.acquire(share, MB, true).now_or_never().expect("at once");
        assert!(nested.is_ok(), "there is room for a small one");
        drop(nested);
        let place = next_place.expect("it had a place").acquire().now_or_never();
        outer.as_mut().expect("not nested").resume(place.expect("a place is free"));
        assert!(outer.expect("not nested").may_run());
    }

    #[test]
    fn a_guest_that_leaves_the_queue_takes_no_place() {
        let scheduler = Scheduler::new(1, 100 * MB);
        let share = ShareId::new();
        let held = try_acquire(&scheduler, share);
        let mut leaving = Box::pin(scheduler.acquire(share, MB, false));
        assert!(leaving.as_mut().now_or_never().is_none());
        let mut staying = Box::pin(scheduler.acquire(share, MB, false));
        assert!(staying.as_mut().now_or_never().is_none());
        drop(leaving);
        drop(held);
        assert!(staying.as_mut().now_or_never().is_some());
        drop(staying);
        assert_eq!(scheduler.lock().guests, 0);
    }
}
