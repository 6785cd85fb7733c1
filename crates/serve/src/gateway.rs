//! What all sessions share: the catalog, the settings, and the counts and tables of the server.
//!
//! While the program starts, sources are still loading. Lists wait for them until a deadline, since
//! many clients ask only once. A call waits for the source of the tool that it names, as long as
//! that takes to start: a slow server must not delay the tools of others.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use toolwright_catalog::{Catalog, OfferedCapabilities, Offers};
use toolwright_exec::{SessionNumber, ToolRegistry};

use crate::ServeOptions;
use crate::client_session::ClientSession;
use crate::message_sink::MessageSink;
use crate::resource_subscriptions::ResourceSubscriptions;
use crate::session_tasks::SessionTasks;
use crate::stored_results::StoredResults;
use crate::subscription_listeners::SubscriptionListeners;
use crate::suspended_calls::SuspendedCalls;
use crate::tool_listing::{ListingCache, ToolListing};
use crate::unclaimed_notifications::UnclaimedNotifications;

/// How long the answer to a handshake waits for servers whose answers are not known from an earlier
/// run: what they offer decides which capabilities are announced, and clients ask once. Much
/// shorter than the wait of a list, because clients give up on a server that does not answer its
/// first request.
const HANDSHAKE_WAIT: Duration = Duration::from_secs(3);

/// Serves a catalog. A clone shares everything with the original.
#[derive(Clone)]
pub struct Gateway(Arc<GatewayState>);

/// Each member that changes has a lock of its own, which is never held across an `await`.
struct GatewayState {
    catalog: Arc<Catalog>,
    /// Fixed for the life of the gateway.
    options: ServeOptions,
    listings: ListingCache,
    /// When lists and calls stop waiting for sources that are still loading.
    startup_deadline: Instant,
    /// How many requests are running, over all sessions.
    running: AtomicUsize,
    /// Notified when the last one has ended.
    idle: Notify,
    /// Cancelled to abort all calls.
    abort: CancellationToken,
    /// The number of the last session. Numbers are never used again, so they can be keys of what
    /// belongs to a session, also after its end.
    sessions_made: AtomicU64,
    /// All sessions, also those that have ended meanwhile. Weak: the transports own them, and
    /// entries without an owner are removed when the next one is added.
    sessions: Mutex<Vec<Weak<ClientSession>>>,
    suspended: SuspendedCalls,
    stored: StoredResults,
    listeners: SubscriptionListeners,
    subscriptions: ResourceSubscriptions,
    unclaimed: UnclaimedNotifications,
}

/// Counts a request as running until it is dropped.
///
/// The count decides when the program may end, and whether a response can wait for others to be
/// written together.
pub(crate) struct RunningRequest(Gateway);

impl Drop for RunningRequest {
    fn drop(&mut self) {
        let GatewayState { running, idle, .. } = &*self.0.0;
        if running.fetch_sub(1, Ordering::AcqRel) == 1 {
            idle.notify_waiters();
        }
    }
}

impl Gateway {
    /// A gateway to the tools and offers of `catalog`. From now on, for `options.list_wait`, lists
    /// and calls wait for sources that are still loading.
    pub fn new(catalog: Arc<Catalog>, options: ServeOptions) -> Gateway {
        Gateway(Arc::new(GatewayState {
            catalog,
            listings: ListingCache::default(),
            startup_deadline: Instant::now() + options.list_wait,
            options,
            running: AtomicUsize::new(0),
            idle: Notify::new(),
            abort: CancellationToken::new(),
            sessions_made: AtomicU64::default(),
            sessions: Mutex::default(),
            suspended: SuspendedCalls::default(),
            stored: StoredResults::default(),
            listeners: SubscriptionListeners::default(),
            subscriptions: ResourceSubscriptions::default(),
            unclaimed: UnclaimedNotifications::default(),
        }))
    }

    /// Waits until no request is running, but no longer than `limit`. Requests that begin meanwhile
    /// are waited for, too.
    pub async fn wait_until_idle(&self, limit: Duration) {
        let idle = async {
            loop {
                // From before the count is read: the last request may end in between.
                let mut notified = pin!(self.0.idle.notified());
                notified.as_mut().enable();
                if self.running_requests() == 0 {
                    return;
                }
                notified.await;
            }
        };
        let _ = tokio::time::timeout(limit, idle).await;
    }

    /// How many requests are running, over all sessions.
    pub(crate) fn running_requests(&self) -> usize {
        self.0.running.load(Ordering::Acquire)
    }

    /// Counts a request as running until the returned guard is dropped.
    pub(crate) fn track_request(&self) -> RunningRequest {
        self.0.running.fetch_add(1, Ordering::AcqRel);
        RunningRequest(self.clone())
    }

    /// Aborts all calls, when no client is left to read their results.
    ///
    /// For good: a gateway that has aborted its calls answers no more of them.
    pub(crate) fn abort_calls(&self) {
        self.0.abort.cancel();
    }

    /// Cancelled by [`Gateway::abort_calls`].
    pub(crate) fn aborted(&self) -> &CancellationToken {
        &self.0.abort
    }

    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.0.catalog
    }

    pub(crate) fn options(&self) -> &ServeOptions {
        &self.0.options
    }

    pub(crate) fn suspended(&self) -> &SuspendedCalls {
        &self.0.suspended
    }

    pub(crate) fn stored(&self) -> &StoredResults {
        &self.0.stored
    }

    pub(crate) fn listeners(&self) -> &SubscriptionListeners {
        &self.0.listeners
    }

    pub(crate) fn subscriptions(&self) -> &ResourceSubscriptions {
        &self.0.subscriptions
    }

    pub(crate) fn unclaimed_notifications(&self) -> &UnclaimedNotifications {
        &self.0.unclaimed
    }

    /// What is left of the startup time; zero afterwards.
    pub(crate) fn startup_left(&self) -> Duration {
        self.0.startup_deadline.saturating_duration_since(Instant::now())
    }

    /// Waits until every source was tried once, at most until the startup deadline.
    pub(crate) async fn wait_for_sources(&self) {
        self.0.catalog.wait_until_tried(self.startup_left()).await;
    }

    /// Waits for sources before the capabilities of the server are announced. Returns them, with
    /// what sources that are still starting may have.
    pub(crate) async fn capabilities(&self) -> OfferedCapabilities {
        self.0.catalog.wait_for_offers(self.startup_left().min(HANDSHAKE_WAIT)).await;
        // Looked up first: what a source has is there when it counts as tried.
        let are_known = self.0.catalog.are_offers_known();
        let offered = self.offered();
        if are_known { offered } else { offered.with_unknown_servers() }
    }

    /// Whether the client may use some tools only. It then gets nothing else of any server: neither
    /// resources nor prompts nor instructions name the tool that they belong to.
    pub(crate) fn is_restricted(&self, session: &ClientSession) -> bool {
        self.0.catalog.policy().is_some_and(|policy| policy.is_restricted(&session.agent))
    }

    /// What clients can use besides tools at this moment: what servers have, and documents.
    pub(crate) fn offered(&self) -> OfferedCapabilities {
        let offered = self.offers().capabilities;
        let resources = offered.resources || !self.listing().documents.is_empty();
        OfferedCapabilities { resources, ..offered }
    }

    /// The tools that clients see at this moment.
    pub(crate) fn listing(&self) -> Arc<ToolListing> {
        self.listing_of(&self.0.catalog.runner().registry(), &self.offers())
    }

    /// The tools that clients saw at an earlier one.
    pub(crate) fn listing_of(
        &self,
        registry: &Arc<ToolRegistry>,
        offers: &Arc<Offers>,
    ) -> Arc<ToolListing> {
        self.0.listings.of(registry, offers)
    }

    /// Asks servers for the most verbose log messages that a client wants. They are asked for
    /// nothing as long as no client has set a level. Clients share servers, so the messages of each
    /// client are filtered once more when they are forwarded.
    pub(crate) async fn update_log_level(&self) {
        let sessions = self.open_sessions();
        let is_set = sessions.iter().any(|session| session.has_log_level());
        let wanted = sessions.iter().filter_map(|session| session.wanted_log_level()).min();
        if let Some(wanted) = wanted.filter(|_| is_set) {
            self.0.catalog.runner().context().upstreams.set_log_level(wanted.name()).await;
        }
    }

    /// What servers offer besides tools at this moment.
    pub(crate) fn offers(&self) -> Arc<Offers> {
        self.0.catalog.offers()
    }

    fn sessions(&self) -> MutexGuard<'_, Vec<Weak<ClientSession>>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new session of `agent`, whose messages outside of requests go to `sink`.
    pub(crate) fn new_session(
        &self,
        sink: Arc<dyn MessageSink>,
        agent: &str,
    ) -> Arc<ClientSession> {
        let number = SessionNumber(self.0.sessions_made.fetch_add(1, Ordering::Relaxed) + 1);
        let session = ClientSession::new(number, sink, agent);
        let mut sessions = self.sessions();
        sessions.retain(|known| known.strong_count() > 0);
        sessions.push(Arc::downgrade(&session));
        session
    }

    /// All sessions that have not ended.
    pub(crate) fn open_sessions(&self) -> Vec<Arc<ClientSession>> {
        let sessions = self.sessions();
        let open = sessions.iter().filter_map(Weak::upgrade);
        open.filter(|session| !session.ended.is_cancelled()).collect()
    }

    /// Ends a session: its requests, its tasks, its suspended calls, its stored results and its
    /// connections to servers. What takes requests to servers is done in a task of its own, so the
    /// caller need not wait.
    pub(crate) fn end_session(&self, session: &Arc<ClientSession>) {
        session.end();
        self.0.suspended.end_session(session.number);
        self.0.stored.end_session(session.number);
        session.with_tasks(SessionTasks::end_all);
        self.0.catalog.runner().end_session(session.number);
        let (gateway, number) = (self.clone(), session.number);
        let uris = session.take_subscriptions();
        if !uris.is_empty() || session.has_log_level() {
            tokio::spawn(async move {
                gateway.update_log_level().await;
                for uri in uris {
                    gateway.release_resource(&uri, number).await;
                }
            });
        }
        // The connections of servers with `isolation = "session"`.
        self.0.catalog.runner().context().upstreams.end_session(session.number);
    }
}
