//! Routes progress notifications from a connection to the call they belong to, in order.
//!
//! A server names the call by the progress token that came with the request. A subscription is made
//! after rmcp has handed out the token, which is after it may have sent the request, so the first
//! notifications can arrive early; a bounded number of them is kept:
//!
//! ```text
//! IncomingFilter ─ route ─▶ subscribed? ─ yes ─▶ channel of the call (256) ─▶ ProgressUpdates
//!                                │ no
//!                                ▼
//!                           early (64), handed over by `subscribe`
//! ```
//!
//! No queue here makes the connection wait: a full one loses notifications, because a slow reader
//! of progress must not delay the answers of other calls on the same connection.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::mpsc;

use crate::Progress;

/// Notifications that are kept while no call has subscribed to their token; the oldest are dropped
/// first. They also belong to calls that have ended, so this must be bounded.
const MAX_EARLY: usize = 64;
/// Notifications that may wait for one call; further ones are dropped.
const MAX_QUEUED: usize = 256;

/// Characters of a notification's message that are kept. It is text from a server for a terminal.
const MAX_MESSAGE_CHARS: usize = 1_000;

/// The progress subscriptions of one connection.
#[derive(Debug, Default)]
pub(super) struct ProgressRouter(Mutex<ProgressRoutes>);

#[derive(Debug, Default)]
struct ProgressRoutes {
    /// The call that is subscribed to each token.
    subscribed: HashMap<ProgressToken, mpsc::Sender<Progress>>,
    /// Notifications whose token has no subscription yet, oldest first.
    early: VecDeque<(ProgressToken, Progress)>,
}

/// The progress notifications of one call. Dropping it ends the subscription.
pub(super) struct ProgressUpdates {
    router: Arc<ProgressRouter>,
    token: ProgressToken,
    receiver: mpsc::Receiver<Progress>,
}

impl ProgressRouter {
    fn routes(&self) -> MutexGuard<'_, ProgressRoutes> {
        // Nothing in this file panics while it holds the lock, so a poisoned one is still valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a notification on to the call that subscribed to its token, or keeps it for a while.
    pub(super) fn route(&self, notification: ProgressNotificationParam) {
        let message =
            notification.message.map(|text| text.chars().take(MAX_MESSAGE_CHARS).collect());
        let progress = Progress { done: notification.progress, total: notification.total, message };
        let mut routes = self.routes();
        if let Some(call) = routes.subscribed.get(&notification.progress_token) {
            let _ = call.try_send(progress);
            return;
        }
        if routes.early.len() == MAX_EARLY {
            routes.early.pop_front();
        }
        routes.early.push_back((notification.progress_token, progress));
    }

    /// Subscribes a call to `token`. The updates start with the notifications that came early.
    pub(super) fn subscribe(self: &Arc<Self>, token: ProgressToken) -> ProgressUpdates {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED);
        // One lock for both steps: a notification between them would overtake the early ones.
        let mut routes = self.routes();
        for (_, progress) in routes.early.iter().filter(|(early, _)| *early == token) {
            let _ = sender.try_send(progress.clone());
        }
        routes.early.retain(|(early, _)| *early != token);
        routes.subscribed.insert(token.clone(), sender);
        drop(routes);
        ProgressUpdates { router: Arc::clone(self), token, receiver }
    }
}

impl ProgressUpdates {
    /// Waits for the next notification. Safe to cancel.
    pub(super) async fn next(&mut self) -> Option<Progress> {
        self.receiver.recv().await
    }
}

impl Drop for ProgressUpdates {
    fn drop(&mut self) {
        self.router.routes().subscribed.remove(&self.token);
    }
}
