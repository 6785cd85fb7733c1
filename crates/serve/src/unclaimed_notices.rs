//! Notices of servers about tasks that no client has yet: a server may report about a new task
//! before its client has got the id. They wait a few seconds, a bounded number of them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use toolwright_catalog::ServerNotice;
use toolwright_exec::json_size;
use toolwright_exec::mcp::{UpstreamEvent, task_of};

use crate::session_tasks::is_progress;

/// Notices that wait; the oldest are dropped first.
const MAX_UNCLAIMED: usize = 64;
/// Those of one connection: a server must not displace what others report.
const MAX_UNCLAIMED_OF_ONE: usize = 16;
/// Bytes of such a notice; larger ones are dropped.
const MAX_UNCLAIMED_BYTES: usize = 4 << 10;
/// How long such a notice waits.
const UNCLAIMED_TIME: Duration = Duration::from_secs(5);

/// The notices that wait for the client of their task.
#[derive(Default)]
pub(crate) struct UnclaimedNotices {
    waiting: Mutex<VecDeque<(Instant, ServerNotice)>>,
    /// Whether a client got a task since they were last looked at.
    has_new_task: AtomicBool,
    /// Wakes the forwarder when that is set.
    pub(crate) new_task: Notify,
}

impl UnclaimedNotices {
    fn all(&self) -> MutexGuard<'_, VecDeque<(Instant, ServerNotice)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a notice unless a client claims it. A client that gets the task meanwhile is not
    /// missed: [`UnclaimedNotices::task_added`] waits until the notice is kept.
    pub(crate) fn claim_or_keep(
        &self,
        notice: &mut ServerNotice,
        claim: impl FnOnce(&mut ServerNotice) -> bool,
    ) -> bool {
        let mut waiting = self.all();
        let is_claimed = claim(notice);
        // A progress report has its client before it can come.
        if !is_claimed && task_of(&notice.event).is_some() && !is_progress(&notice.event) {
            keep(&mut waiting, notice);
        }
        is_claimed
    }

    /// Notes that a client has got a task.
    pub(crate) fn task_added(&self) {
        if !self.all().is_empty() {
            self.has_new_task.store(true, Ordering::Release);
            self.new_task.notify_one();
        }
    }

    /// The waiting notices, if one of them may have a client now.
    pub(crate) fn take_claimable(&self) -> Vec<ServerNotice> {
        match self.has_new_task.swap(false, Ordering::AcqRel) {
            true => {
                let mut all = self.all();
                drop_old(&mut all);
                all.drain(..).map(|(_, notice)| notice).collect()
            }
            false => Vec::new(),
        }
    }
}

/// Adds a notice to those that wait, unless it is too large.
fn keep(waiting: &mut VecDeque<(Instant, ServerNotice)>, notice: &ServerNotice) {
    let (UpstreamEvent::Other { params, .. } | UpstreamEvent::Log(params)) = &notice.event else {
        return;
    };
    if json_size(params, MAX_UNCLAIMED_BYTES + 1) > MAX_UNCLAIMED_BYTES {
        return;
    }
    drop_old(waiting);
    let is_same = |(_, other): &(_, ServerNotice)| other.connection == notice.connection;
    let oldest = waiting.iter().position(is_same);
    if waiting.iter().filter(|it| is_same(it)).count() >= MAX_UNCLAIMED_OF_ONE {
        oldest.and_then(|oldest| waiting.remove(oldest));
    } else if waiting.len() >= MAX_UNCLAIMED {
        waiting.pop_front();
    }
    waiting.push_back((Instant::now(), notice.clone()));
}

fn drop_old(waiting: &mut VecDeque<(Instant, ServerNotice)>) {
    waiting.retain(|(since, _)| since.elapsed() < UNCLAIMED_TIME);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use toolwright_model::{Connection, Server, ServerSettings};

    use super::*;

    fn notice(connection: u64, text: String) -> ServerNotice {
        let server = Server {
            connection: Connection::Stdio { command: Vec::new() },
            shown: None,
            environment: Vec::new(),
            headers: Vec::new(),
            directory: None,
            health_check: None,
            settings: ServerSettings::default(),
        };
        let method = "notifications/tasks/status".to_owned();
        let params = json!({"taskId": "t", "statusMessage": text});
        let event = UpstreamEvent::Other { method, params };
        ServerNotice { server: Arc::new(server), session: None, connection, event }
    }

    #[test]
    fn a_server_cannot_displace_the_notices_of_others() {
        let mut waiting = VecDeque::new();
        keep(&mut waiting, &notice(1, "mine".to_owned()));
        keep(&mut waiting, &notice(2, "x".repeat(MAX_UNCLAIMED_BYTES)));
        assert_eq!(waiting.len(), 1);
        for n in 0..3 * MAX_UNCLAIMED {
            keep(&mut waiting, &notice(2, n.to_string()));
        }
        let of = |connection| waiting.iter().filter(|(_, it)| it.connection == connection).count();
        assert_eq!((of(1), of(2)), (1, MAX_UNCLAIMED_OF_ONE));
        for (since, _) in &mut waiting {
            *since -= UNCLAIMED_TIME;
        }
        keep(&mut waiting, &notice(3, "new".to_owned()));
        assert_eq!(waiting.len(), 1);
    }
}
