//! All servers of one runner, and which of them may start at the same time.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use toolwright_model::Server;

use super::Upstream;
use crate::{Log, SessionNumber};

/// The fewest processes that may start at once, on small machines.
const MIN_STARTS: usize = 4;

/// All servers of one runner.
pub struct Upstreams {
    /// The environment of servers that are started.
    environment: Vec<(OsString, OsString)>,
    log: Log,
    /// Permits to start a process: two for each processor.
    starts: Arc<Semaphore>,
    /// Also those that are closed: a call may still hold one of them.
    all: Mutex<Vec<Arc<Upstream>>>,
}

impl Default for Upstreams {
    fn default() -> Upstreams {
        Upstreams::new(Vec::new(), Log::default())
    }
}

impl Upstreams {
    /// No servers yet; they are added by [`get`](Self::get).
    pub(crate) fn new(environment: Vec<(OsString, OsString)>, log: Log) -> Upstreams {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let starts = Arc::new(Semaphore::new((2 * processors).max(MIN_STARTS)));
        Upstreams { environment, log, starts, all: Mutex::default() }
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
        let (environment, log) = (self.environment.clone(), self.log.clone());
        let upstream = Arc::new(Upstream::new(server, environment, log, Arc::clone(&self.starts)));
        all.push(Arc::clone(&upstream));
        upstream
    }

    /// Closes every server that is not among these, after a change of the configuration. A call
    /// that still waits for a closed one fails and does not start it again. A closed server that is
    /// configured again may be opened again.
    pub fn keep(&self, servers: &[Arc<Server>]) {
        for upstream in self.all().iter() {
            if servers.contains(upstream.server()) {
                upstream.reactivate();
            } else {
                upstream.close_all();
            }
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
        futures::future::join_all(open.iter().map(|connection| connection.wait_for_end())).await;
    }
}
