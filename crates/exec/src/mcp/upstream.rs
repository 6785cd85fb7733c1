//! One connection per server, shared by all callers: opened on first use, opened again when it
//! broke, and after repeated failures only tried once in a while.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use toolwright_model::Server;

use super::connection::{Changes, Connection};
use crate::{Failure, Host, Json, Log, code};

/// How long a server may take to start and shake hands.
const START: Duration = Duration::from_secs(20);
/// The pause after the first failure; it doubles with every further one.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(30);
/// A connection that lived this long was a good one.
const HEALTHY: Duration = Duration::from_secs(10);

/// The servers in use.
#[derive(Default)]
pub struct Upstreams {
    environment: Vec<(OsString, OsString)>,
    log: Log,
    all: Mutex<Vec<Arc<Upstream>>>,
}

impl Upstreams {
    pub(crate) fn new(environment: Vec<(OsString, OsString)>, log: Log) -> Upstreams {
        Upstreams { environment, log, all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Upstream>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one connection to this server; the same however often it is asked for.
    pub fn get(&self, server: &Arc<Server>) -> Arc<Upstream> {
        let mut all = self.all();
        let known = all.iter().find(|u| Arc::ptr_eq(&u.server, server) || u.server == *server);
        if let Some(upstream) = known {
            return Arc::clone(upstream);
        }
        let upstream = Arc::new(Upstream::new(server, self.environment.clone(), self.log.clone()));
        all.push(Arc::clone(&upstream));
        upstream
    }

    /// Lets go of every server that is not among these. A call that still waits for one of those is
    /// refused: it does not start the server again.
    pub fn keep(&self, servers: &[Arc<Server>]) {
        for upstream in self.all().iter() {
            if servers.contains(&upstream.server) {
                upstream.revive();
            } else {
                upstream.close();
            }
        }
    }

    /// Closes all connections and waits until nothing of them is left.
    pub async fn close(&self) {
        let all = std::mem::take(&mut *self.all());
        let open: Vec<_> = all.iter().filter_map(|upstream| upstream.close()).collect();
        futures::future::join_all(open.iter().map(|connection| connection.ended())).await;
    }
}

/// A server, and the connection to it.
pub struct Upstream {
    server: Arc<Server>,
    environment: Vec<(OsString, OsString)>,
    log: Log,
    state: watch::Sender<State>,
    changes: Changes,
}

enum State {
    /// Nobody wants it any more.
    Closed,
    Idle {
        failures: u32,
    },
    Opening {
        failures: u32,
    },
    Open {
        connection: Arc<Connection>,
        since: Instant,
        failures: u32,
    },
    /// It failed this often in a row, and is left alone until then.
    Down {
        failures: u32,
        until: Instant,
        why: Failure,
    },
}

impl Upstream {
    fn new(server: &Arc<Server>, environment: Vec<(OsString, OsString)>, log: Log) -> Upstream {
        Upstream {
            server: Arc::clone(server),
            environment,
            log,
            state: watch::Sender::new(State::Idle { failures: 0 }),
            changes: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Calls a tool of the server.
    pub(super) async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: &Json,
        host: &dyn Host,
    ) -> Result<Json, Failure> {
        self.connection().await?.call(tool, arguments, host).await
    }

    /// The tools of the server as it describes them, `{"tools": […]}`.
    ///
    /// # Errors
    /// If it cannot be reached or gives no list.
    pub async fn list(self: &Arc<Self>) -> Result<Json, Failure> {
        let connection = self.connection().await?;
        tokio::time::timeout(START, connection.list()).await.unwrap_or_else(|_| {
            let message = format!("the server did not list its tools within {} s", START.as_secs());
            Err(Failure::new(&code::UPSTREAM_UNAVAILABLE, message))
        })
    }

    /// Counts how often the server said that its list of tools changed, restarts included.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The open connection, which may have to be opened first. All who wait, wait for the same one;
    /// opening goes on when the caller gives up.
    async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, Failure> {
        let mut state = self.state.subscribe();
        loop {
            match &*state.borrow_and_update() {
                State::Open { connection, .. } if !connection.is_over() => {
                    return Ok(Arc::clone(connection));
                }
                State::Closed => {
                    let message = "the server is no longer configured";
                    return Err(Failure::new(&code::UPSTREAM_UNAVAILABLE, message));
                }
                State::Down { until, why, failures } if Instant::now() < *until => {
                    return Err(pause(why, *failures, *until));
                }
                _ => {}
            }
            self.begin();
            // What comes of it is a change; a pause that has just begun is not, so look now and
            // then.
            let _ = tokio::time::timeout(PAUSE, state.changed()).await;
        }
    }

    /// Starts opening, unless somebody has.
    fn begin(self: &Arc<Self>) {
        let mut first = false;
        self.state.send_if_modified(|state| {
            let failures = match state {
                // What broke is cleared away first: there is one process of a server at a time.
                State::Opening { .. } | State::Open { .. } | State::Closed => return false,
                State::Down { until, .. } if Instant::now() < *until => return false,
                State::Idle { failures } | State::Down { failures, .. } => *failures,
            };
            *state = State::Opening { failures };
            first = true;
            // Nobody needs to hear of this: those who wait, wait for what comes of it.
            false
        });
        if first {
            tokio::spawn(Arc::clone(self).open());
        }
    }

    async fn open(self: Arc<Self>) {
        let mut state = self.state.subscribe();
        let opened = tokio::select! {
            opened = Connection::open(&self.server, &self.environment, &self.changes, START) => opened,
            // Dropping the attempt ends what it has started.
            _ = state.wait_for(|state| matches!(state, State::Closed)) => return,
        };
        let mut opened_now = None;
        self.state.send_modify(|state| {
            let failures = match state {
                State::Opening { failures } => *failures,
                _ => 0,
            };
            if matches!(state, State::Closed) {
                opened.iter().for_each(Connection::close);
                return;
            }
            *state = match opened {
                Ok(connection) => {
                    let connection = Arc::new(connection);
                    opened_now = Some((Arc::clone(&connection), failures > 0));
                    State::Open { connection, since: Instant::now(), failures }
                }
                Err(why) => down(failures + 1, why),
            };
        });
        if let Some((connection, again)) = opened_now {
            if again {
                self.changes.send_modify(|n| *n += 1);
            }
            self.watch(&connection).await;
        }
    }

    /// Notes how the connection ended.
    async fn watch(&self, connection: &Arc<Connection>) {
        let why = connection.ended().await;
        let broke = self.state.send_if_modified(|state| {
            let State::Open { connection: current, since, failures } = state else { return false };
            if !Arc::ptr_eq(current, connection) {
                return false;
            }
            let failures = after_a_break(*since, *failures);
            let short = since.elapsed() < HEALTHY;
            *state = if short {
                down(failures, Failure::new(&code::UPSTREAM_UNAVAILABLE, why.clone()))
            } else {
                State::Idle { failures }
            };
            true
        });
        if broke {
            self.log.line(&format!("{}: {why}", self.name()));
        }
    }

    fn close(&self) -> Option<Arc<Connection>> {
        let mut open = None;
        self.state.send_modify(|state| {
            if let State::Open { connection, .. } = state {
                connection.close();
                open = Some(Arc::clone(connection));
            }
            *state = State::Closed;
        });
        open
    }

    fn revive(&self) {
        self.state.send_if_modified(|state| {
            let closed = matches!(state, State::Closed);
            if closed {
                *state = State::Idle { failures: 0 };
            }
            closed
        });
    }

    /// What it is called in the log: never with its arguments, which may hold secrets.
    fn name(&self) -> String {
        match &self.server.connection {
            toolwright_model::Connection::Stdio { command } => {
                command.first().map(String::as_str).unwrap_or_default().to_owned()
            }
            toolwright_model::Connection::Http { url }
            | toolwright_model::Connection::Sse { url }
            | toolwright_model::Connection::WebSocket { url } => shown_url(url),
        }
    }
}

/// A URL as it may be shown: without user, password, query and fragment, where secrets are kept.
pub fn shown_url(url: &str) -> String {
    let place = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = place.split_once("://") else { return place.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// A connection that broke soon counts as a failure; a good one makes up for all before it.
fn after_a_break(since: Instant, failures: u32) -> u32 {
    if since.elapsed() < HEALTHY { failures + 1 } else { 1 }
}

fn down(failures: u32, why: Failure) -> State {
    let pause = PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(LONGEST);
    State::Down { failures, until: Instant::now() + pause, why }
}

/// The failure that brought it down, and when it is tried again.
fn pause(why: &Failure, failures: u32, until: Instant) -> Failure {
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

#[cfg(test)]
mod tests {
    use super::shown_url;

    #[test]
    fn urls_are_shown_without_secrets() {
        for (url, shown) in [
            ("https://host/mcp", "https://host/mcp"),
            ("https://user:sesame@host:8080/mcp?key=sesame#sesame", "https://host:8080/mcp"),
            ("http://host?sesame", "http://host"),
            ("http://a@sesame@host/x@y", "http://host/x@y"),
            ("sesame", "sesame"),
        ] {
            assert_eq!(shown_url(url), shown);
        }
    }
}
