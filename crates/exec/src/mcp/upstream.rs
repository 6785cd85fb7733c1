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
//! There is no circuit breaker besides `Down`: a call during the pause fails at once with the error
//! that caused it. Opening is a task of its own, so a caller that gives up does not abort it and
//! the next caller does not start over.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use toolwright_model::{Connection, Server};

use super::connection::{ListChangeCounter, UpstreamConnection};
use super::{ListKind, RequestError, ServerDescription, UpstreamEvent};
use crate::{CallArguments, Failure, Host, Json, Log, code};

/// How long a server may take to start and complete its handshake, and to list its tools. Long,
/// because `npx` and `uvx` may download the server first.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// The pause after the first failure; it doubles with every further one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// A connection that lasted this long was healthy: its end does not count as a repeated failure and
/// it may be opened again at once.
const HEALTHY_AFTER: Duration = Duration::from_secs(10);

/// All servers of one runner.
#[derive(Default)]
pub struct Upstreams {
    /// The environment of servers that are started.
    environment: Vec<(OsString, OsString)>,
    log: Log,
    /// Also those that are closed: a call may still hold one of them.
    all: Mutex<Vec<Arc<Upstream>>>,
}

impl Upstreams {
    /// No servers yet; they are added by [`get`](Self::get).
    pub(crate) fn new(environment: Vec<(OsString, OsString)>, log: Log) -> Upstreams {
        Upstreams { environment, log, all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Upstream>>> {
        // Nothing here panics while it holds the lock, so a poisoned one is still valid.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The upstream of this server. Equal servers share one, so that a server that several sources
    /// name runs once.
    pub fn get(&self, server: &Arc<Server>) -> Arc<Upstream> {
        let mut all = self.all();
        // A handful of servers: a search is as fast as a map, and servers need no `Hash`.
        let known = all.iter().find(|u| Arc::ptr_eq(&u.server, server) || u.server == *server);
        if let Some(upstream) = known {
            return Arc::clone(upstream);
        }
        let upstream = Arc::new(Upstream::new(server, self.environment.clone(), self.log.clone()));
        all.push(Arc::clone(&upstream));
        upstream
    }

    /// Closes every server that is not among these, after a change of the configuration. A call
    /// that still waits for a closed one fails and does not start it again. A closed server that is
    /// configured again may be opened again.
    pub fn keep(&self, servers: &[Arc<Server>]) {
        for upstream in self.all().iter() {
            if servers.contains(&upstream.server) {
                upstream.reactivate();
            } else {
                upstream.close();
            }
        }
    }

    /// Closes all connections and waits until their processes have ended.
    pub async fn close(&self) {
        let all = std::mem::take(&mut *self.all());
        let open: Vec<_> = all.iter().filter_map(|upstream| upstream.close()).collect();
        futures::future::join_all(open.iter().map(|connection| connection.wait_for_end())).await;
    }
}

/// A server and the state of the connection to it.
pub struct Upstream {
    server: Arc<Server>,
    environment: Vec<(OsString, OsString)>,
    log: Log,
    /// A watch channel, so that callers can wait for the outcome of `Opening`.
    state: watch::Sender<UpstreamState>,
    changes: ListChangeCounter,
}

/// See the drawing in the file header. `failures` counts the failures in a row before this state.
enum UpstreamState {
    /// No longer configured, or the program is ending. Calls fail.
    Closed,
    /// No connection. The next call opens one.
    Idle { failures: u32 },
    /// A task is opening a connection. Calls wait for it.
    Opening { failures: u32 },
    /// Connected since this time.
    Open { connection: Arc<UpstreamConnection>, since: Instant, failures: u32 },
    /// The last attempt failed. Until this time calls fail at once with `why`.
    Down { failures: u32, until: Instant, why: Failure },
}

impl Upstream {
    fn new(server: &Arc<Server>, environment: Vec<(OsString, OsString)>, log: Log) -> Upstream {
        Upstream {
            server: Arc::clone(server),
            environment,
            log,
            state: watch::Sender::new(UpstreamState::Idle { failures: 0 }),
            changes: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Calls a tool of the server and returns the server's raw result. Opens the connection first
    /// if there is none.
    pub(super) async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: &CallArguments,
        host: &dyn Host,
    ) -> Result<Json, Failure> {
        self.connection().await?.call(tool, arguments, host).await
    }

    /// The tools of the server as it describes them, `{"tools": […]}`.
    ///
    /// # Errors
    /// If the server cannot be reached, or does not answer with a list in time.
    pub async fn list(self: &Arc<Self>) -> Result<Json, Failure> {
        let connection = self.connection().await?;
        tokio::time::timeout(START_TIMEOUT, connection.list()).await.unwrap_or_else(|_| {
            let message =
                format!("the server did not list its tools within {} s", START_TIMEOUT.as_secs());
            Err(Failure::new(&code::UPSTREAM_UNAVAILABLE, message))
        })
    }

    /// Sends a request to the server and returns its result as the server sent it. `params` is an
    /// object; `_meta` of the host, the progress token and what the revision demands are added
    /// here. Requests of the server that arrive meanwhile and belong to this one go to `host`.
    ///
    /// # Errors
    /// The server's own error, whole, or why there is no answer.
    pub async fn request(
        self: &Arc<Self>,
        _method: &str,
        _params: serde_json::Map<String, Json>,
        _host: &dyn Host,
    ) -> Result<Json, RequestError> {
        Err(RequestError::Failed(Failure::new(&code::NOT_RUNNABLE, "not implemented")))
    }

    /// What the server said of itself in its handshake.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn description(self: &Arc<Self>) -> Result<Arc<ServerDescription>, Failure> {
        Err(Failure::new(&code::NOT_RUNNABLE, "not implemented"))
    }

    /// All items of a list, as the server describes them, over all pages. Empty if the server does
    /// not have the capability.
    ///
    /// # Errors
    /// If the server cannot be reached, or does not answer with a list in time.
    pub async fn items(self: &Arc<Self>, _kind: ListKind) -> Result<Vec<Json>, Failure> {
        Err(Failure::new(&code::NOT_RUNNABLE, "not implemented"))
    }

    /// What the server reports without being asked. A slow receiver loses the oldest events.
    pub fn events(&self) -> tokio::sync::broadcast::Receiver<UpstreamEvent> {
        tokio::sync::broadcast::channel(1).1
    }

    /// The server that this connects to.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// What the server says about the use of its tools as a whole, if a connection is open.
    pub async fn instructions(self: &Arc<Self>) -> Option<String> {
        self.connection().await.ok()?.instructions()
    }

    /// Counts the changes of the server's list of tools. A restart counts as a change, because the
    /// server may have been updated meanwhile.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Waits until a connection is open. Does not open one itself.
    pub async fn wait_until_open(&self) {
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|state| matches!(state, UpstreamState::Open { .. })).await;
    }

    /// The open connection, opened first if necessary. All callers wait for the same attempt, and
    /// the attempt goes on when a caller gives up.
    async fn connection(self: &Arc<Self>) -> Result<Arc<UpstreamConnection>, Failure> {
        let mut state = self.state.subscribe();
        loop {
            match &*state.borrow_and_update() {
                UpstreamState::Open { connection, .. } if !connection.has_ended() => {
                    return Ok(Arc::clone(connection));
                }
                UpstreamState::Closed => {
                    let message = "the server is no longer configured";
                    return Err(Failure::new(&code::UPSTREAM_UNAVAILABLE, message));
                }
                UpstreamState::Down { until, why, failures } if Instant::now() < *until => {
                    return Err(failure_during_pause(why, *failures, *until));
                }
                _ => {}
            }
            self.start_opening();
            // The outcome of an attempt changes the state and wakes us. The end of a pause does
            // not, nor does a connection that has ended and is not yet cleaned up; both are found
            // by looking again.
            let _ = tokio::time::timeout(FIRST_PAUSE, state.changed()).await;
        }
    }

    /// Starts an attempt to connect, unless one is under way or must not be made now.
    fn start_opening(self: &Arc<Self>) {
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
    }

    /// The task that connects, and then watches the connection until it ends.
    async fn open(self: Arc<Self>) {
        let mut state = self.state.subscribe();
        let opened = tokio::select! {
            opened = UpstreamConnection::open(
                &self.server,
                &self.environment,
                &self.changes,
                START_TIMEOUT,
            ) => opened,
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
                opened.iter().for_each(UpstreamConnection::close);
                return;
            }
            *state = match opened {
                Ok(connection) => {
                    let connection = Arc::new(connection);
                    opened_now = Some((Arc::clone(&connection), failures > 0));
                    UpstreamState::Open { connection, since: Instant::now(), failures }
                }
                Err(why) => down(failures + 1, why),
            };
        });
        if let Some((connection, is_restart)) = opened_now {
            if is_restart {
                self.changes.send_modify(|n| *n += 1);
            }
            self.watch_connection(&connection).await;
        }
    }

    /// Waits for the end of the connection and changes the state accordingly.
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
            // A connection that broke soon is one more failure in a row. After a healthy one the
            // count starts again, and a new connection may be opened without a pause.
            *state = if since.elapsed() < HEALTHY_AFTER {
                down(*failures + 1, Failure::new(&code::UPSTREAM_UNAVAILABLE, why.clone()))
            } else {
                UpstreamState::Idle { failures: 1 }
            };
            true
        });
        // Only what was not intended is worth a line in the log.
        if broke {
            self.log.line(&format!("{}: {why}", self.name()));
        }
    }

    /// Closes the upstream. Returns the connection if there was one, to wait for its end.
    fn close(&self) -> Option<Arc<UpstreamConnection>> {
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
    fn reactivate(&self) {
        self.state.send_if_modified(|state| {
            let closed = matches!(state, UpstreamState::Closed);
            if closed {
                *state = UpstreamState::Idle { failures: 0 };
            }
            closed
        });
    }

    /// Its name in the log: the program or the URL, never with arguments, which may hold secrets.
    fn name(&self) -> String {
        match &self.server.connection {
            Connection::Stdio { command } => {
                command.first().map(String::as_str).unwrap_or_default().to_owned()
            }
            Connection::Http { url } | Connection::Sse { url } | Connection::WebSocket { url } => {
                toolwright_model::redacted_url(url)
            }
        }
    }
}

/// The state after `failures` failures in a row, with a pause that doubles each time.
fn down(failures: u32, why: Failure) -> UpstreamState {
    // The exponent is bounded so that the shift cannot overflow; `MAX_PAUSE` is reached before.
    let pause = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(MAX_PAUSE);
    UpstreamState::Down { failures, until: Instant::now() + pause, why }
}

/// The failure of a call during a pause: the cause of the pause and, from the second failure on,
/// when the next attempt is possible.
fn failure_during_pause(why: &Failure, failures: u32, until: Instant) -> Failure {
    let left = until.saturating_duration_since(Instant::now());
    if failures == 1 {
        return why.clone();
    }
    let again = format!(
        "it failed {failures} times in a row and is tried again in {} ms",
        left.as_millis().max(1)
    );
    why.clone().suggest(format!("{}; {again}", why.suggestion))
}
