//! Servers that no source names any more, and whose calls are still running.
//!
//! A source that is removed or changed loses its tools at once, so no new call reaches its servers.
//! Their connections stay open until the last call has ended, at most for the longest time that a
//! call may take, and as long as tasks of clients run there or have a result that was not fetched.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolwright_exec::mcp::Upstream;
use toolwright_exec::{ConcurrencyLimit, Runner};
use toolwright_model::Server;

use crate::source_state::SourceState;

/// How often it is checked whether the calls have ended.
pub(crate) const DRAIN_CHECK: Duration = Duration::from_millis(100);

/// The servers of a source that is gone.
pub(crate) struct DrainingServers {
    pub(crate) servers: Vec<Arc<Server>>,
    /// The limits of its toolsets, which know whether calls are running.
    limits: Vec<Arc<ConcurrencyLimit>>,
    /// Those of the servers, which know whether there are tasks.
    upstreams: Vec<Arc<Upstream>>,
    /// When the connections are closed although calls are running.
    deadline: Instant,
}

impl DrainingServers {
    /// These servers of a source; `None` if nothing is running on it.
    pub(crate) fn new(
        servers: Vec<Arc<Server>>,
        state: &SourceState,
        runner: &Runner,
    ) -> Option<DrainingServers> {
        let longest = |server: &Arc<Server>| server.settings.max_timeout;
        let longest = servers.iter().filter_map(longest).max();
        let longest = longest.unwrap_or_default().max(runner.limits().max_timeout);
        let limits = state.concurrency.values().map(Arc::clone).collect();
        let upstreams = &runner.context().upstreams;
        let upstreams = servers.iter().map(|server| upstreams.get(server)).collect();
        let deadline = Instant::now() + longest;
        let draining = DrainingServers { servers, limits, upstreams, deadline };
        (!draining.servers.is_empty() && draining.is_running()).then_some(draining)
    }

    /// Adds what runs on the same servers since they were configured again.
    pub(crate) fn merge(&mut self, later: DrainingServers) {
        self.limits.retain(|limit| !limit.is_idle());
        self.limits.extend(later.limits);
        self.deadline = self.deadline.max(later.deadline);
    }

    /// Whether a connection may still be needed.
    pub(crate) fn is_running(&self) -> bool {
        let has_calls =
            Instant::now() < self.deadline && !self.limits.iter().all(|limit| limit.is_idle());
        has_calls || self.upstreams.iter().any(|upstream| upstream.has_tasks())
    }
}
