//! Servers that keep state for one client: each session has a connection of its own (`isolation =
//! "session"`). Lists come from a shared connection.
//!
//! ```text
//! Upstream (shared: lists, events)
//!  ├─ session 1 ─▶ Upstream ─▶ connection     closed when the session ends,
//!  └─ session 2 ─▶ Upstream ─▶ connection     or after ten idle minutes without subscriptions
//! ```

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::Upstream;
use super::connection::UpstreamConnection;
use crate::{ClientAsker, Failure, SessionNumber, code};

/// Sessions of one server that may have a connection at the same time.
const MAX_SESSIONS: usize = 64;
/// After this time without a request, the connection of a session is closed.
const IDLE_TIME: Duration = Duration::from_secs(600);

/// The upstream of one session.
pub(super) struct SessionUpstream {
    pub(super) upstream: Arc<Upstream>,
    /// When a call last asked for it, not when that call ended: `is_busy` is asked for that.
    last_used: Instant,
}

impl Upstream {
    /// The upstream of a session, made if there is none.
    ///
    /// # Errors
    /// If too many sessions use the server at the same time.
    pub(super) fn session_upstream(
        self: &Arc<Self>,
        session: SessionNumber,
    ) -> Result<Arc<Upstream>, Failure> {
        let mut sessions = self.sessions();
        if let Some(own) = sessions.get_mut(&session) {
            own.last_used = Instant::now();
            return Ok(Arc::clone(&own.upstream));
        }
        if sessions.len() >= MAX_SESSIONS {
            // The one that has been idle longest makes room.
            let idle = sessions.iter().filter(|(_, own)| !own.upstream.is_busy());
            let Some((longest, _)) = idle.min_by_key(|(_, own)| own.last_used) else {
                let message = format!("{MAX_SESSIONS} sessions use the server already");
                return Err(Failure::new(&code::BUSY, message));
            };
            let longest = *longest;
            if let Some(own) = sessions.remove(&longest) {
                own.upstream.close();
            }
        }
        let upstream = Arc::new(self.for_session(session));
        let own = SessionUpstream { upstream: Arc::clone(&upstream), last_used: Instant::now() };
        sessions.insert(session, own);
        tokio::spawn(close_when_idle(Arc::downgrade(self), session, Arc::downgrade(&upstream)));
        Ok(upstream)
    }

    /// Notifies the server that the roots of a session have changed: its own one, or the shared one
    /// if that has asked for them.
    pub(super) fn roots_changed(&self, session: SessionNumber, ask: &ClientAsker) {
        let own = self.sessions().get(&session).map(|own| Arc::clone(&own.upstream));
        let connection = match own {
            Some(own) => own.open_connection_now(),
            None if self.sessions_asked_for_roots().contains(&session) => {
                self.open_connection_now()
            }
            None => None,
        };
        // Stateless servers ask when they need them.
        if let Some(connection) = connection.filter(|it| !it.is_stateless()) {
            connection.dispatcher.expect_roots_of(session, Arc::clone(ask));
            connection.notify_later("notifications/roots/list_changed");
        }
    }

    /// Closes the connection of a session, if it has one of its own.
    pub(super) fn end_session(&self, session: SessionNumber) {
        self.sessions_asked_for_roots().remove(&session);
        if let Some(own) = self.sessions().remove(&session) {
            own.upstream.close();
        }
    }

    /// Closes this connection and those of all sessions. Returns those that were open.
    pub(super) fn close_all(&self) -> Vec<Arc<UpstreamConnection>> {
        let sessions = std::mem::take(&mut *self.sessions());
        let open = sessions.into_values().filter_map(|own| own.upstream.close());
        open.chain(self.close()).collect()
    }
}

/// Closes the connection of a session once nothing has used it for [`IDLE_TIME`].
///
/// One such task per session, which keeps neither of the two alive.
async fn close_when_idle(all: Weak<Upstream>, session: SessionNumber, own: Weak<Upstream>) {
    let mut until = Instant::now() + IDLE_TIME;
    loop {
        tokio::time::sleep_until(until).await;
        let (Some(all), Some(own)) = (all.upgrade(), own.upgrade()) else { return };
        let mut sessions = all.sessions();
        match sessions.get(&session) {
            // Ended, and perhaps begun again with a task of its own.
            Some(entry) if !Arc::ptr_eq(&entry.upstream, &own) => return,
            None => return,
            Some(entry)
                if own.is_busy()
                    || own.is_subscribed()
                    || entry.last_used + IDLE_TIME > Instant::now() =>
            {
                until = (entry.last_used + IDLE_TIME).max(Instant::now() + IDLE_TIME / 10);
            }
            Some(_) => {
                sessions.remove(&session);
                own.close();
                return;
            }
        }
    }
}
