//! Notifications of servers about tasks that no client has yet: a server may report about a new
//! task before its client has got the id. They wait a few seconds, a bounded number of them.
//!
//! ```text
//! server: task t1 is working ─▶ nobody has t1 ─▶ kept, up to 5 s
//! server: answer, task t1    ─▶ remember_task ─▶ task_added ─▶ the forwarder tries all again
//! ```
//!
//! The two messages are handled by different tasks, so they can overtake each other although the
//! server sent them in the right order, and some servers send them in the wrong one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use toolwright_catalog::ServerNotification;
use toolwright_exec::json_size;
use toolwright_exec::mcp::{UpstreamEvent, task_of};

use crate::session_tasks::is_progress;

/// Notifications that wait; the oldest are dropped first.
const MAX_UNCLAIMED: usize = 64;
/// Those of one connection: a server must not displace what others report.
const MAX_UNCLAIMED_OF_ONE: usize = 16;
/// Bytes of such a notification; larger ones are dropped.
const MAX_UNCLAIMED_BYTES: usize = 4 << 10;
/// How long such a notification waits.
const UNCLAIMED_TIME: Duration = Duration::from_secs(5);

/// The notifications that wait for the client of their task.
#[derive(Default)]
pub(crate) struct UnclaimedNotifications {
    waiting: Mutex<VecDeque<(Instant, ServerNotification)>>,
    /// Whether a client got a task since they were last looked at.
    has_new_task: AtomicBool,
    /// Wakes the forwarder when that is set.
    pub(crate) new_task: Notify,
}

impl UnclaimedNotifications {
    /// Also the lock that orders the two: see `claim_or_keep`.
    fn all(&self) -> MutexGuard<'_, VecDeque<(Instant, ServerNotification)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a notification unless a client claims it. A client that gets the task meanwhile is not
    /// missed: [`UnclaimedNotifications::task_added`] waits until the notification is kept.
    pub(crate) fn claim_or_keep(
        &self,
        notification: &mut ServerNotification,
        claim: impl FnOnce(&mut ServerNotification) -> bool,
    ) -> bool {
        let mut waiting = self.all();
        let is_claimed = claim(notification);
        // A progress report has its client before it can come.
        if !is_claimed
            && task_of(&notification.event).is_some()
            && !is_progress(&notification.event)
        {
            keep(&mut waiting, notification);
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

    /// The waiting notifications, if one of them may have a client now.
    pub(crate) fn take_claimable(&self) -> Vec<ServerNotification> {
        match self.has_new_task.swap(false, Ordering::AcqRel) {
            true => {
                let mut all = self.all();
                drop_old(&mut all);
                all.drain(..).map(|(_, notification)| notification).collect()
            }
            false => Vec::new(),
        }
    }
}

/// Adds a notification to those that wait, unless it is too large.
fn keep(waiting: &mut VecDeque<(Instant, ServerNotification)>, notification: &ServerNotification) {
    let (UpstreamEvent::Other { params, .. } | UpstreamEvent::Log(params)) = &notification.event
    else {
        return;
    };
    if json_size(params, MAX_UNCLAIMED_BYTES + 1) > MAX_UNCLAIMED_BYTES {
        return;
    }
    drop_old(waiting);
    let is_same =
        |(_, other): &(_, ServerNotification)| other.connection == notification.connection;
    let oldest = waiting.iter().position(is_same);
    if waiting.iter().filter(|it| is_same(it)).count() >= MAX_UNCLAIMED_OF_ONE {
        oldest.and_then(|oldest| waiting.remove(oldest));
    } else if waiting.len() >= MAX_UNCLAIMED {
        waiting.pop_front();
    }
    waiting.push_back((Instant::now(), notification.clone()));
}

fn drop_old(waiting: &mut VecDeque<(Instant, ServerNotification)>) {
    waiting.retain(|(since, _)| since.elapsed() < UNCLAIMED_TIME);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use toolwright_model::{Connection, Server, ServerSettings};

    use super::*;

    fn notification(connection: u64, text: String) -> ServerNotification {
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
        ServerNotification { server: Arc::new(server), session: None, connection, event }
    }

    #[test]
    fn a_server_cannot_displace_the_notifications_of_others() {
        let mut waiting = VecDeque::new();
        keep(&mut waiting, &notification(1, "mine".to_owned()));
        keep(&mut waiting, &notification(2, "x".repeat(MAX_UNCLAIMED_BYTES)));
        assert_eq!(waiting.len(), 1);
        for n in 0..3 * MAX_UNCLAIMED {
            keep(&mut waiting, &notification(2, n.to_string()));
        }
        let of = |connection| waiting.iter().filter(|(_, it)| it.connection == connection).count();
        assert_eq!((of(1), of(2)), (1, MAX_UNCLAIMED_OF_ONE));
        for (since, _) in &mut waiting {
            *since -= UNCLAIMED_TIME;
        }
        keep(&mut waiting, &notification(3, "new".to_owned()));
        assert_eq!(waiting.len(), 1);
    }
}
