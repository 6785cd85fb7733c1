//! All servers of one runner, and which of them may start at the same time.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::Semaphore;
use toolwright_model::Server;

use super::{Upstream, subscription};
use crate::{ClientAsker, Log, SessionNumber};

/// The fewest processes that may start at once, on small machines.
const MIN_STARTS: usize = 4;
/// How long servers may take to note a new level of log messages.
const TIME_TO_SET_LEVEL: Duration = Duration::from_secs(1);

/// All servers of one runner.
pub struct Upstreams {
    environment: Arc<ServerEnvironment>,
    log: Log,
    log_level: WantedLogLevel,
    /// Held while a level is sent to servers, so that the newest is sent last.
    setting_level: tokio::sync::Mutex<()>,
    /// Permits to start a process: two for each processor.
    starts: Arc<Semaphore>,
    /// Also those that are closed: a call may still hold one of them.
    all: Mutex<Vec<Arc<Upstream>>>,
}

/// The level of log messages that servers are asked for; `None` as long as no client has set one.
pub(super) type WantedLogLevel = Arc<RwLock<Option<&'static str>>>;

/// What servers that are started get from the environment of this program.
#[derive(Default)]
pub(super) struct ServerEnvironment {
    /// The variables that are passed on.
    pub(super) passed: Vec<(OsString, OsString)>,
    /// The names of those that are set here and not passed on.
    pub(super) withheld: Vec<OsString>,
    /// Values that are replaced in everything that servers send.
    pub(super) secrets: Vec<String>,
}

impl Default for Upstreams {
    fn default() -> Upstreams {
        Upstreams::new(Vec::new(), Vec::new(), Vec::new(), Log::default())
    }
}

impl Upstreams {
    /// No servers yet; they are added by [`get`](Self::get).
    pub(crate) fn new(
        passed: Vec<(OsString, OsString)>,
        withheld: Vec<OsString>,
        secrets: Vec<String>,
        log: Log,
    ) -> Upstreams {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let starts = Arc::new(Semaphore::new((2 * processors).max(MIN_STARTS)));
        let environment = Arc::new(ServerEnvironment { passed, withheld, secrets });
        Upstreams {
            environment,
            log,
            log_level: WantedLogLevel::default(),
            setting_level: tokio::sync::Mutex::default(),
            starts,
            all: Mutex::default(),
        }
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
        let is_same = |own: &Arc<Server>| Arc::ptr_eq(own, server) || own == server;
        if let Some(upstream) = all.iter().find(|upstream| is_same(upstream.server())) {
            return Arc::clone(upstream);
        }
        let upstream = Arc::new(Upstream::new(
            server,
            Arc::clone(&self.environment),
            self.log.clone(),
            Arc::clone(&self.log_level),
            Arc::clone(&self.starts),
        ));
        all.push(Arc::clone(&upstream));
        upstream
    }

    /// Closes every server that is not among these, after a change of the configuration. A call
    /// that still waits for a closed one fails and does not start it again. A closed server that is
    /// configured again may be opened again.
    ///
    /// Called with all servers of the new configuration. Running calls of a closed server fail.
    pub fn keep(&self, servers: &[Arc<Server>]) {
        for upstream in self.all().iter() {
            if servers.contains(upstream.server()) {
                upstream.reactivate();
            } else {
                upstream.close_all();
            }
        }
    }

    /// Sets the level of log messages that all servers are asked for from now on, and waits a
    /// moment until those that are connected know it: a call that comes next may log.
    pub async fn set_log_level(&self, level: &'static str) {
        let _sending = self.setting_level.lock().await;
        let before = {
            let mut own = self.log_level.write().unwrap_or_else(PoisonError::into_inner);
            own.replace(level)
        };
        if before != Some(level) {
            let all: Vec<_> = self.all().iter().flat_map(|it| it.open_connections()).collect();
            let sending = all.iter().map(|connection| subscription::send_log_level(connection));
            let _ = tokio::time::timeout(TIME_TO_SET_LEVEL, join_all(sending)).await;
        }
    }

    /// Whether a level was set.
    pub fn has_log_level(&self) -> bool {
        self.log_level.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Notifies the servers that have asked a session for its roots that they have changed. `ask`
    /// reaches its client, when they ask again.
    pub fn roots_changed(&self, session: SessionNumber, ask: &ClientAsker) {
        for upstream in self.all().iter() {
            upstream.roots_changed(session, ask);
        }
    }

    /// Closes the connections that a session had for itself.
    pub fn end_session(&self, session: SessionNumber) {
        for upstream in self.all().iter() {
            upstream.end_session(session);
        }
    }

    /// Closes all connections and waits until their processes have ended.
    pub async fn close(&self) {
        let all = std::mem::take(&mut *self.all());
        let open: Vec<_> = all.iter().flat_map(|upstream| upstream.close_all()).collect();
        join_all(open.iter().map(|connection| connection.wait_for_end())).await;
    }
}
