//! One connection per server, shared by all callers: opened on first use, opened again when it
//! broke, and with growing pauses while it keeps failing.
//!
//! ```text
//!            call                 handshake done
//!    Idle ─────────▶ Opening ─────────────────────▶ Open
//!     ▲                 │  ▲                        │  │
//!     │          failed │  │ call, after the pause  │  │ ended within 10 s
//!     │                 ▼  │                        │  │
//!     │                 Down ◀──────────────────────┼──┘
//!     └─────────────────────────────────────────────┘ ended later
//!
//!    every state ── close, or no longer configured ──▶ Closed ── configured again ──▶ Idle
//! ```
//!
//! In `Down`, a call waits for the rest of a short pause, and fails at once during a longer one,
//! with the error that caused it. An answer of the server ends a row of failures. Opening is a task
//! of its own, so a caller that gives up does not abort it and the next caller does not start over.
//!
//! The state is one value in a watch channel: every transition happens in one closure under its
//! lock, and callers that wait are woken by the change. Two rules keep a server from running twice:
//! only `start_opening` begins an attempt, and only from `Idle` or `Down`; and a connection that
//! has ended leaves `Open` only when its process is gone (`watch_connection`).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use serde_json::{Map, json};
use tokio::sync::{Semaphore, broadcast, watch};
use toolwright_mcp::{Revision, error_code, meta};
use toolwright_model::{CallLimits, Connection, Isolation, Server};

use super::client_tasks::{AnnouncedTasks, capability_of, full_capability};
use super::connect_error::{call_failure, no_answer, seconds};
use super::connection::{ConnectionLinks, ServerWire, UpstreamConnection};
use super::dispatcher::ConnectionSharing;
use super::health_check;
use super::open_request::RequestOwner;
use super::outgoing_request::{OutgoingRequest, ToolCall};
use super::redact::Redactor;
use super::request_sending::RequestCaller;
use super::server_lists::collect_pages;
use super::session_upstreams::SessionUpstream;
use super::subscription::{self, SubscribedUris, TIME_TO_ACKNOWLEDGE};
use super::tasks::{TaskLoss, task_lost};
use super::upstreams::{ServerEnvironment, WantedLogLevel};
use super::{ListKind, RequestError, ServerDescription, UpstreamLog, UpstreamNotification};
use crate::offload::{WorkSize, offload};
use crate::{CallClock, Failure, Host, Json, Log, Outcome, SessionNumber, code};

/// The pause after the first failure; it doubles with every further one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// What is left of a pause if a call waits for its end.
const SHORT_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// A connection that lasted this long was healthy: its end does not count as a repeated failure and
/// it may be opened again at once.
const HEALTHY_AFTER: Duration = Duration::from_secs(10);
/// How long a server that is starting keeps others from starting. A start is most expensive in its
/// first moments; after that, most wait for a download.
const START_BURST: Duration = Duration::from_secs(5);
/// Events that a slow receiver may be behind.
const MAX_EVENTS: usize = 1_024;

/// The capability of servers whose tools can be called as tasks (2025-11-25).
const TASK_CALLS: &str = "tasks.requests.tools.call";

/// A server and the state of the connection to it. One for each server that is configured, shared
/// by all that use it, and kept when the server is removed from the configuration: it may come
/// back.
///
/// With `isolation = "session"`, each session has an `Upstream` of its own, made by `for_session`;
/// this one then only lists.
pub struct Upstream {
    server: Arc<Server>,
    environment: Arc<ServerEnvironment>,
    /// A watch channel, so that callers can wait for the outcome of `Opening`.
    state: watch::Sender<UpstreamState>,
    /// Whether there was a connection since the server was configured. The next one is then a
    /// restart, after which clients have to load lists again.
    was_open: AtomicBool,
    /// What every connection to this server shares with the ones before and after it.
    links: ConnectionLinks,
    /// Takes secrets of the source out of everything that leaves this file.
    redactor: Arc<Redactor>,
    /// Permits to start a process, shared by all servers.
    starts: Arc<Semaphore>,
    /// The subscribed resources that a stateless server has acknowledged.
    listened: watch::Sender<SubscribedUris>,
    /// The connections of single sessions, see [`Isolation::Session`].
    pub(super) sessions: Mutex<HashMap<SessionNumber, SessionUpstream>>,
}

/// See the drawing in the file header. `failures` counts the failures in a row before this state.
enum UpstreamState {
    /// No longer configured, or the program is ending. Calls fail.
    Closed,
    /// No connection. The next call opens one.
    Idle { failures: u32 },
    /// A task is opening a connection. Calls wait for it.
    Opening { failures: u32 },
    /// Connected since this time. `failures` is zero after the first answer to a caller.
    Open { connection: Arc<UpstreamConnection>, since: Instant, failures: u32 },
    /// The last attempt failed. The next one is not made before this time.
    Down { failures: u32, until: Instant, why: Failure },
}

impl Upstream {
    pub(super) fn new(
        server: &Arc<Server>,
        environment: Arc<ServerEnvironment>,
        log: Log,
        log_level: WantedLogLevel,
        starts: Arc<Semaphore>,
    ) -> Upstream {
        let redactor = Arc::new(Redactor::of(server, &environment.secrets));
        let links = ConnectionLinks {
            events: broadcast::Sender::new(MAX_EVENTS),
            changes: Arc::new(watch::Sender::new(0)),
            log: UpstreamLog {
                log,
                name: name_of(server),
                redactor: Arc::clone(&redactor),
                no_roots_logged: Arc::default(),
                useless_logged: Arc::default(),
            },
            param_headers: Arc::default(),
            log_level,
            sharing: ConnectionSharing::AllSessions,
            subscribed: watch::Sender::default(),
            client_tasks: AnnouncedTasks::default(),
            asked_for_roots: Arc::default(),
        };
        if server.settings.isolation == Isolation::Session {
            // It only lists: a tool for clients with tasks must be in the list.
            let _ = links.client_tasks.set(full_capability());
        }
        Upstream {
            server: Arc::clone(server),
            environment,
            state: watch::Sender::new(UpstreamState::Idle { failures: 0 }),
            was_open: AtomicBool::new(false),
            links,
            redactor,
            starts,
            listened: watch::Sender::default(),
            sessions: Mutex::default(),
        }
    }

    /// Another connection to the same server, for one session. Its events are received with those
    /// of this one.
    pub(super) fn for_session(&self, session: SessionNumber) -> Upstream {
        let links = ConnectionLinks {
            sharing: ConnectionSharing::OneSession(session),
            subscribed: watch::Sender::default(),
            client_tasks: AnnouncedTasks::default(),
            ..self.links.clone()
        };
        Upstream {
            server: Arc::clone(&self.server),
            environment: Arc::clone(&self.environment),
            state: watch::Sender::new(UpstreamState::Idle { failures: 0 }),
            was_open: AtomicBool::new(false),
            links,
            redactor: Arc::clone(&self.redactor),
            starts: Arc::clone(&self.starts),
            listened: watch::Sender::default(),
            sessions: Mutex::default(),
        }
    }

    /// Calls a tool of the server, perhaps as a task. Opens the connection first if there is none.
    /// Signs of life of the server move the clock.
    pub(super) async fn call(
        self: &Arc<Self>,
        call: &ToolCall<'_>,
        host: &dyn Host,
        clock: &CallClock,
    ) -> Result<Outcome, Failure> {
        let result =
            self.send(&OutgoingRequest::call(call), host, clock).await.map_err(call_failure)?;
        Upstream::read_outcome(result).await
    }

    /// Calls a tool that needs a task, for a caller that knows nothing of tasks.
    ///
    /// Falls back to an ordinary call if the connected server has no tasks after all: the list may
    /// be older than the server.
    pub(super) async fn call_with_hidden_task(
        self: &Arc<Self>,
        call: ToolCall<'_>,
        host: &dyn Host,
        clock: &CallClock,
    ) -> Result<Outcome, Failure> {
        let connected = self.of_host(host)?.connected_for(clock).await;
        let connection = connected.map_err(call_failure)?;
        if !connection.known_description().has(TASK_CALLS) {
            return self.call(&call, host, clock).await;
        }
        let result = self.call_as_task(call, host, clock).await;
        let mut outcome = Upstream::read_outcome(result.map_err(call_failure)?).await?;
        if let Some(Json::Object(meta)) = &mut outcome.meta {
            meta.shift_remove(meta::RELATED_TASK);
        }
        Ok(outcome)
    }

    /// Reads the result of a call; a large one on another thread.
    pub(super) async fn read_outcome(result: Box<RawValue>) -> Result<Outcome, Failure> {
        let size = WorkSize::of_bytes(result.get().len());
        offload(size, move || super::read_result(&result)).await
    }

    /// The tools of the server as it describes them, `{"tools": […]}`.
    ///
    /// # Errors
    /// If the server cannot be reached, or does not answer with a list in time.
    pub async fn list(self: &Arc<Self>) -> Result<Json, Failure> {
        Ok(json!({"tools": self.items(ListKind::Tools).await?}))
    }

    /// Sends a request to the server and returns its result as the server sent it. `params` is an
    /// object; `_meta` of the host, the progress token and what the revision demands are added
    /// here. Requests of the server that arrive meanwhile and belong to this one go to `host`.
    ///
    /// The request ends after [`ServerSettings::timeout`](toolwright_model::ServerSettings) without
    /// a sign of life. A method that stateless servers do not have is translated:
    /// `resources/subscribe`, and its opposite.
    ///
    /// # Errors
    /// The server's own error, whole, or why there is no answer.
    pub async fn request(
        self: &Arc<Self>,
        method: &str,
        params: Map<String, Json>,
        host: &dyn Host,
    ) -> Result<Json, RequestError> {
        let (idle, cap) = self.time_limits();
        let clock = CallClock::moving(idle, cap, Duration::ZERO);
        tokio::select! {
            biased;
            result = self.request_translated(method, &params, host, &clock) => result,
            () = clock.expired() => Err(RequestError::Failed(no_answer(method, &clock))),
        }
    }

    /// How long a request may go without a sign of life of the server, and how long it may take.
    pub(super) fn time_limits(&self) -> (Duration, Duration) {
        let settings = &self.server.settings;
        let limits = CallLimits::default();
        let cap = settings.max_timeout.unwrap_or(limits.max_timeout);
        (settings.timeout.unwrap_or(limits.server_timeout).min(cap), cap)
    }

    /// A stateless server has no `resources/subscribe`: what clients want is put into the filter of
    /// the one `subscriptions/listen` of the connection, and the request ends when the server has
    /// acknowledged it.
    async fn request_translated(
        self: &Arc<Self>,
        method: &str,
        params: &Map<String, Json>,
        host: &dyn Host,
        clock: &CallClock,
    ) -> Result<Json, RequestError> {
        let uri = params.get("uri").and_then(Json::as_str);
        let (Some(uri), "resources/subscribe" | "resources/unsubscribe") = (uri, method) else {
            return self.send_parsed(&OutgoingRequest::new(method, params), host, clock).await;
        };
        let wants = method == "resources/subscribe";
        let (upstream, connection) = match wants {
            true => {
                let upstream = self.of_host(host).map_err(RequestError::Failed)?;
                let connection = upstream.connected_for(clock).await?;
                (upstream, connection)
            }
            // A server without a connection sends no updates. None is opened to end them: that of a
            // session that has ended would stay behind.
            false => {
                let known = self.known_of_session(host.session());
                let Some(upstream) = known else { return Ok(json!({})) };
                let Some(connection) = upstream.open_connection_now() else {
                    upstream.subscribe(uri, false);
                    return Ok(json!({}));
                };
                (upstream, connection)
            }
        };
        if connection.is_stateless() {
            upstream.subscribe(uri, wants);
            let mut listened = upstream.listened.subscribe();
            let listens = listened.wait_for(|uris| uris.contains(uri) == wants);
            let _ = tokio::time::timeout(TIME_TO_ACKNOWLEDGE, listens).await;
            return Ok(json!({}));
        }
        let request = OutgoingRequest::new(method, params);
        let result = upstream.send_over(&connection, &request, host, clock).await?;
        upstream.subscribe(uri, wants);
        parse_result(result).await
    }

    pub(super) async fn send_parsed(
        self: &Arc<Self>,
        request: &OutgoingRequest<'_>,
        host: &dyn Host,
        clock: &CallClock,
    ) -> Result<Json, RequestError> {
        parse_result(self.send(request, host, clock).await?).await
    }

    /// Whether the server was removed from the configuration or changed there, and ended.
    ///
    /// For good, unless `reactivate` is called.
    pub(super) fn is_closed(&self) -> bool {
        matches!(*self.state.borrow(), UpstreamState::Closed)
    }

    /// Sends a request over the connection of the host's session, and opens that if there is none.
    /// A request about a task never opens one: the task has ended with its connection.
    ///
    /// Calls of stateless servers over HTTP repeat arguments in headers, and which ones is in the
    /// list of tools. It is loaded first if it is not known.
    pub(super) async fn send(
        self: &Arc<Self>,
        request: &OutgoingRequest<'_>,
        host: &dyn Host,
        clock: &CallClock,
    ) -> Result<Box<RawValue>, RequestError> {
        let upstream = self.of_host(host).map_err(RequestError::Failed)?;
        let connection = match upstream.open_connection_now() {
            Some(connection) => connection,
            // Whatever it is about has ended with its connection.
            None if request.connection.is_some() => {
                let loss = if self.is_closed() { TaskLoss::Removal } else { TaskLoss::Restart };
                return Err(RequestError::Answered(task_lost(loss)));
            }
            None => Box::pin(upstream.connected_for(clock)).await?,
        };
        let is_routed =
            connection.is_stateless() && matches!(connection.wire(), ServerWire::Http(_));
        if is_routed && request.method == "tools/call" && !self.links.param_headers.is_known() {
            // Without the list, the headers of the call are not known. Its failure is that of the
            // call, or none at all.
            let _ = Box::pin(upstream.items(ListKind::Tools)).await;
        }
        upstream.send_over(&connection, request, host, clock).await
    }

    /// Sends a request over a connection of this upstream.
    async fn send_over(
        &self,
        connection: &Arc<UpstreamConnection>,
        request: &OutgoingRequest<'_>,
        host: &dyn Host,
        clock: &CallClock,
    ) -> Result<Box<RawValue>, RequestError> {
        let owner = RequestOwner::Caller(host.session());
        let caller = RequestCaller { host, owner, clock: Some(clock) };
        let result = connection.request(request, &caller).await;
        // For another connection the answer may be our own: that the task has ended with it.
        let number = connection.dispatcher.number();
        let is_for_this = request.connection.is_none_or(|only| only == number);
        if is_for_this && !matches!(result, Err(RequestError::Failed(_))) {
            self.note_answer(connection);
        }
        result.map_err(|error| self.redacted(error))
    }

    /// Notes that the server works: failures after this are not in a row with those before.
    ///
    /// Any answer counts, also an error of the server: only what keeps the server from answering is
    /// a failure.
    fn note_answer(&self, from: &Arc<UpstreamConnection>) {
        let is_row = |state: &UpstreamState| {
            matches!(state, UpstreamState::Open { connection, failures: 1.., .. }
                if Arc::ptr_eq(connection, from))
        };
        // Nearly always false, and then nothing is locked for writing.
        if is_row(&self.state.borrow()) {
            self.state.send_if_modified(|state| {
                if is_row(state)
                    && let UpstreamState::Open { failures, .. } = state
                {
                    *failures = 0;
                }
                false
            });
        }
    }

    /// The open connection, for a request. The time to start is not that of the request.
    async fn connected_for(
        self: &Arc<Self>,
        clock: &CallClock,
    ) -> Result<Arc<UpstreamConnection>, RequestError> {
        let _pause = clock.pause();
        self.connection().await.map_err(RequestError::Failed)
    }

    fn redacted(&self, error: RequestError) -> RequestError {
        match error {
            // Replaced when it arrived, as in all messages.
            RequestError::Answered(error) => RequestError::Answered(error),
            RequestError::Failed(failure) => RequestError::Failed(self.redactor.failure(failure)),
        }
    }

    /// Adds or removes a subscription.
    fn subscribe(&self, uri: &str, wants: bool) {
        self.links.subscribed.send_if_modified(|uris| match wants {
            true => uris.insert(uri.to_owned()),
            false => uris.remove(uri),
        });
    }

    /// What the server said of itself in its handshake.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn description(self: &Arc<Self>) -> Result<Arc<ServerDescription>, Failure> {
        Ok(self.connection().await?.known_description())
    }

    /// All items of a list, as the server describes them, over all pages. Empty if the server does
    /// not have the capability.
    ///
    /// # Errors
    /// If the server cannot be reached, or does not answer with a list in time.
    pub async fn items(self: &Arc<Self>, kind: ListKind) -> Result<Vec<Json>, Failure> {
        let connection = self.connection().await?;
        let description = connection.known_description();
        // Some servers have tools and do not say so.
        if kind != ListKind::Tools && !description.has(kind.capability()) {
            return Ok(Vec::new());
        }
        let time = self.server.settings.start_timeout;
        let items = tokio::time::timeout(time, collect_pages(kind, &connection))
            .await
            .unwrap_or_else(|_| {
                let what = kind.member();
                let message =
                    format!("the server did not list its {what} within {}", seconds(time));
                Err(RequestError::Failed(Failure::new(&code::UPSTREAM_UNAVAILABLE, message)))
            });
        let mut items = match items {
            // The capability is for two lists of resources, and many servers have only one.
            Err(RequestError::Answered(error)) if error.code == error_code::METHOD_NOT_FOUND => {
                Vec::new()
            }
            items => items.map_err(|error| call_failure(self.redacted(error)))?,
        };
        // Whatever its own transport: clients get the tool over HTTP, too.
        if kind == ListKind::Tools {
            for reason in self.links.param_headers.learn(&mut items) {
                self.links.log.line(&reason);
            }
        }
        Ok(items)
    }

    /// What the server reports without being asked. A slow receiver loses the oldest events.
    pub fn events(&self) -> broadcast::Receiver<UpstreamNotification> {
        self.links.events.subscribe()
    }

    /// The server that this connects to.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// The upstream of a session: this one, or one of its own if the server is not shared.
    pub(super) fn of_session(
        self: &Arc<Self>,
        session: Option<SessionNumber>,
    ) -> Result<Arc<Upstream>, Failure> {
        match (self.server.settings.isolation, session) {
            (Isolation::Session, Some(session)) if !self.is_of_session() => {
                self.session_upstream(session)
            }
            _ => Ok(Arc::clone(self)),
        }
    }

    /// The upstream of the session behind a host. The handshake of one of its own announces the
    /// tasks of the client.
    fn of_host(self: &Arc<Self>, host: &dyn Host) -> Result<Arc<Upstream>, Failure> {
        let upstream = self.of_session(host.session())?;
        if upstream.is_of_session() {
            upstream.links.client_tasks.get_or_init(|| capability_of(host));
        }
        Ok(upstream)
    }

    /// The upstream of a session, if it was made before.
    fn known_of_session(self: &Arc<Self>, session: Option<SessionNumber>) -> Option<Arc<Upstream>> {
        match (self.server.settings.isolation, session) {
            (Isolation::Session, Some(session)) if !self.is_of_session() => {
                self.sessions().get(&session).map(|own| Arc::clone(&own.upstream))
            }
            _ => Some(Arc::clone(self)),
        }
    }

    /// Whether this is the connection of a single session.
    fn is_of_session(&self) -> bool {
        self.links.sharing != ConnectionSharing::AllSessions
    }

    /// The revision that is spoken with the server for a session, if there is a connection.
    pub fn revision(self: &Arc<Self>, session: Option<SessionNumber>) -> Option<Revision> {
        let connection = self.known_of_session(session)?.open_connection_now()?;
        Some(connection.description()?.revision)
    }

    /// What the server says about the use of its tools as a whole, if a connection is open.
    pub async fn instructions(self: &Arc<Self>) -> Option<String> {
        self.connection().await.ok()?.known_description().instructions.clone()
    }

    /// Counts the changes of the server's list of tools. A restart counts as a change, because the
    /// server may have been updated meanwhile.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.links.changes.subscribe()
    }

    /// Waits until a connection is open. Does not open one itself.
    pub async fn wait_until_open(&self) {
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|state| matches!(state, UpstreamState::Open { .. })).await;
    }

    /// The connection, if one is open.
    pub(super) fn open_connection_now(&self) -> Option<Arc<UpstreamConnection>> {
        match &*self.state.borrow() {
            UpstreamState::Open { connection, .. } if !connection.has_ended() => {
                Some(Arc::clone(connection))
            }
            _ => None,
        }
    }

    /// The open connection, opened first if necessary. All callers wait for the same attempt, and
    /// the attempt goes on when a caller gives up.
    ///
    /// # Errors
    /// The failure of the attempt that this call has waited for, or at once that of an earlier one
    /// if the next attempt is far away. A call never waits for more than one attempt.
    async fn connection(self: &Arc<Self>) -> Result<Arc<UpstreamConnection>, Failure> {
        let mut state = self.state.subscribe();
        let mut has_tried = false;
        loop {
            let mut pause = FIRST_PAUSE;
            match &*state.borrow_and_update() {
                UpstreamState::Open { connection, .. } if !connection.has_ended() => {
                    return Ok(Arc::clone(connection));
                }
                UpstreamState::Closed => {
                    let message = "the server is no longer configured";
                    return Err(Failure::new(&code::UPSTREAM_UNAVAILABLE, message));
                }
                UpstreamState::Down { until, why, failures } if Instant::now() < *until => {
                    let left = until.saturating_duration_since(Instant::now());
                    if has_tried {
                        return Err(repeated_failure(why.clone(), *failures, left));
                    }
                    if left > SHORT_PAUSE {
                        let message =
                            format!("the server failed before this call: {}", why.message);
                        let earlier = Failure { message, ..why.clone() };
                        return Err(repeated_failure(earlier, *failures, left));
                    }
                    pause = left;
                }
                UpstreamState::Opening { .. } => has_tried = true,
                _ => {}
            }
            has_tried |= self.start_opening();
            // The outcome of an attempt changes the state and wakes us. The end of a pause does
            // not, nor does a connection that has ended and is not yet cleaned up; both are found
            // by looking again.
            let _ = tokio::time::timeout(pause, state.changed()).await;
        }
    }

    /// Starts an attempt to connect, unless one is under way or must not be made now. Returns
    /// whether it did.
    fn start_opening(self: &Arc<Self>) -> bool {
        let mut first = false;
        self.state.send_if_modified(|state| {
            let failures = match state {
                // `Open` may hold a connection that has ended. `watch_connection` first ends its
                // process: a server must not run twice.
                UpstreamState::Opening { .. }
                | UpstreamState::Open { .. }
                | UpstreamState::Closed => return false,
                UpstreamState::Down { until, .. } if Instant::now() < *until => return false,
                UpstreamState::Idle { failures } | UpstreamState::Down { failures, .. } => {
                    *failures
                }
            };
            *state = UpstreamState::Opening { failures };
            first = true;
            // Waiting callers are not woken: they wait for the outcome of the attempt.
            false
        });
        if first {
            tokio::spawn(Arc::clone(self).open());
        }
        first
    }

    /// The task that connects, and then watches the connection until it ends.
    ///
    /// Spawned by `start_opening`, and the owner of the connection from then on. Ends with the
    /// connection.
    async fn open(self: Arc<Self>) {
        let mut state = self.state.subscribe();
        let opened = tokio::select! {
            opened = self.open_connection() => opened.map_err(|why| self.redactor.failure(why)),
            // Dropping the attempt kills the process that it has started.
            _ = state.wait_for(|state| matches!(state, UpstreamState::Closed)) => return,
        };
        // Set inside the closure and used after it: the state is locked while the closure runs.
        let mut opened_now = None;
        self.state.send_modify(|state| {
            let failures = match state {
                UpstreamState::Opening { failures } => *failures,
                _ => 0,
            };
            // Closed between the handshake and this line.
            if matches!(state, UpstreamState::Closed) {
                opened.iter().for_each(|connection| connection.close());
                return;
            }
            *state = match opened {
                Ok(connection) => {
                    let was_open = self.was_open.swap(true, Ordering::Relaxed);
                    opened_now = Some((Arc::clone(&connection), was_open || failures > 0));
                    UpstreamState::Open { connection, since: Instant::now(), failures }
                }
                Err(why) => down(failures + 1, why),
            };
        });
        if let Some((connection, is_restart)) = opened_now {
            if is_restart && !self.is_of_session() {
                self.links.changes.send_modify(|n| *n += 1);
                for kind in ListKind::ALL {
                    let _ = self.links.events.send(UpstreamNotification::list_changed(kind));
                }
            }
            self.follow_changes(&connection);
            self.watch_connection(&connection).await;
        }
    }

    /// Connects, and makes the health check of the definition. Processes start side by side, but
    /// no more at once than the machine can take.
    ///
    /// # Errors
    /// The failure of the start, of the handshake or of the health check. Nothing of the attempt is
    /// left behind.
    async fn open_connection(&self) -> Result<Arc<UpstreamConnection>, Failure> {
        let time = self.server.settings.start_timeout;
        let is_process = matches!(self.server.connection, Connection::Stdio { .. });
        let permit = match is_process {
            // Waiting for it does not count against the time to start.
            true => Arc::clone(&self.starts).acquire_owned().await.ok(),
            false => None,
        };
        let links = self.links.clone();
        let opening = UpstreamConnection::open(&self.server, &self.environment, links, time);
        tokio::pin!(opening);
        let connection = tokio::select! {
            opened = &mut opening => opened?,
            () = tokio::time::sleep(START_BURST) => {
                drop(permit);
                opening.await?
            }
        };
        match Box::pin(health_check::run(&connection, &self.server)).await {
            Ok(()) => Ok(connection),
            Err(failure) => {
                // A process must have ended before the next one is started.
                connection.close();
                connection.wait_for_end().await;
                Err(failure)
            }
        }
    }

    /// Subscribes to changes on a new connection: those of a stateless server, or the resources
    /// that clients have subscribed to before a restart. Asks for the log messages that clients
    /// want.
    fn follow_changes(&self, connection: &Arc<UpstreamConnection>) {
        let connection = Arc::clone(connection);
        let uris = connection.subscribed();
        if connection.is_stateless() {
            let listened = self.listened.clone();
            tokio::spawn(subscription::listen(connection, uris, listened));
            return;
        }
        if !uris.borrow().is_empty() || connection.log_level().is_some() {
            tokio::spawn(async move { subscription::restore(&connection).await });
        }
    }

    /// Waits for the end of the connection and changes the state accordingly. Runs in the task that
    /// opened it. A connection that did not last counts as a failed attempt, so that a server which
    /// crashes with every call is not restarted in a loop.
    async fn watch_connection(&self, connection: &Arc<UpstreamConnection>) {
        let why = connection.wait_for_end().await;
        // False if the end was intended: then the state is `Closed` or belongs to a new connection.
        let broke = self.state.send_if_modified(|state| {
            let UpstreamState::Open { connection: current, since, failures } = state else {
                return false;
            };
            // Closed and configured again meanwhile: this is the state of a newer connection.
            if !Arc::ptr_eq(current, connection) {
                return false;
            }
            // A connection that broke soon is a failure, one more in a row if nothing was answered.
            // After a healthy one a new connection may be opened without a pause.
            *state = if since.elapsed() < HEALTHY_AFTER {
                down(*failures + 1, Failure::new(&code::UPSTREAM_UNAVAILABLE, why.clone()))
            } else {
                UpstreamState::Idle { failures: 0 }
            };
            true
        });
        // Only what was not intended is worth a line in the log.
        if broke {
            self.links.log.line(&why);
        }
    }

    /// Closes the upstream. Returns the connection if there was one, to wait for its end.
    ///
    /// Later calls fail with UPSTREAM_UNAVAILABLE. An attempt that is under way is dropped.
    pub(super) fn close(&self) -> Option<Arc<UpstreamConnection>> {
        let mut open = None;
        self.state.send_modify(|state| {
            if let UpstreamState::Open { connection, .. } = state {
                connection.close();
                open = Some(Arc::clone(connection));
            }
            *state = UpstreamState::Closed;
        });
        open
    }

    /// Makes a closed upstream usable again.
    pub(super) fn reactivate(&self) {
        self.state.send_if_modified(|state| {
            let closed = matches!(state, UpstreamState::Closed);
            if closed {
                self.was_open.store(false, Ordering::Relaxed);
                *state = UpstreamState::Idle { failures: 0 };
            }
            closed
        });
    }

    /// The open connections: the one that clients share, and those of single sessions.
    pub(super) fn open_connections(&self) -> Vec<Arc<UpstreamConnection>> {
        let sessions: Vec<_> =
            self.sessions().values().map(|own| Arc::clone(&own.upstream)).collect();
        let mut open: Vec<_> = sessions.iter().flat_map(|own| own.open_connections()).collect();
        if let UpstreamState::Open { connection, .. } = &*self.state.borrow() {
            open.push(Arc::clone(connection));
        }
        open
    }

    /// Whether updates of resources are expected from it.
    pub(super) fn is_subscribed(&self) -> bool {
        !self.links.subscribed.borrow().is_empty()
    }

    /// Whether a request of a caller is open.
    pub(super) fn is_busy(&self) -> bool {
        match &*self.state.borrow() {
            UpstreamState::Open { connection, .. } => connection.dispatcher.is_busy(),
            UpstreamState::Opening { .. } => true,
            _ => false,
        }
    }

    /// The sessions that the server has asked for their roots.
    pub(super) fn sessions_asked_for_roots(&self) -> MutexGuard<'_, HashSet<SessionNumber>> {
        self.links.asked_for_roots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sessions(&self) -> MutexGuard<'_, HashMap<SessionNumber, SessionUpstream>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parses the result of a request; a large one on another thread.
async fn parse_result(result: Box<RawValue>) -> Result<Json, RequestError> {
    let size = WorkSize::of_bytes(result.get().len());
    offload(size, move || serde_json::from_str(result.get())).await.map_err(|_| {
        let message = "the server's answer is nested too deeply";
        RequestError::Failed(Failure::new(&code::OUTPUT_INVALID, message))
    })
}

/// The name of a server in the log: that of its source, else the program or the URL, never with
/// arguments, which may hold secrets.
fn name_of(server: &Server) -> String {
    match &server.connection {
        _ if !server.settings.source.is_empty() => server.settings.source.clone(),
        Connection::Stdio { command } => {
            command.first().map(String::as_str).unwrap_or_default().to_owned()
        }
        Connection::Http { url } | Connection::Sse { url } | Connection::WebSocket { url } => {
            toolwright_model::redacted_url(url)
        }
    }
}

/// The state after `failures` failures in a row, with a pause that doubles each time.
fn down(failures: u32, why: Failure) -> UpstreamState {
    // The exponent is bounded so that the shift cannot overflow; `MAX_PAUSE` is reached before.
    let pause = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(MAX_PAUSE);
    UpstreamState::Down { failures, until: Instant::now() + pause, why }
}

/// Adds to the failure of a call, from the second one in a row on, when the next attempt is made.
fn repeated_failure(why: Failure, failures: u32, left: Duration) -> Failure {
    if failures == 1 {
        return why;
    }
    let again = format!(
        "it failed {failures} times in a row and is tried again in {} ms",
        left.as_millis().max(1)
    );
    let suggestion = format!("{}; {again}", why.suggestion);
    why.suggest(suggestion)
}
