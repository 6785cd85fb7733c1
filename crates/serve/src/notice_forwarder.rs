//! Tells clients what changed without being asked: lists, updated resources, log messages and other
//! notifications of servers.
//!
//! ```text
//! Catalog::changes ─▶ compare lists ─┬─▶ sessions with a handshake, on their own stream
//! Catalog::notices ──────────────────┴─▶ subscription_listeners (2026-07-28)
//! ```

use std::sync::Arc;

use hyper::body::Bytes;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use toolwright_catalog::{Offers, ServerNotice};
use toolwright_exec::mcp::UpstreamEvent;
use toolwright_mcp::Message;

use crate::Gateway;
use crate::client_session::ClientSession;
use crate::log_level::MessageLevel;
use crate::subscription_listeners::ListChange;
use crate::tool_listing::ToolListing;

impl Gateway {
    /// Forwards changes and notices to all clients until `until` is cancelled.
    pub(crate) fn start_notices(&self, until: &CancellationToken) {
        let (gateway, until) = (self.clone(), until.clone());
        tokio::spawn(async move { until.run_until_cancelled(gateway.forward_changes()).await });
    }

    async fn forward_changes(self) {
        let mut notices = self.catalog().notices();
        // The first lists wait for the sources as well, so they contain what loads until then.
        self.wait_for_sources().await;
        let mut changes = self.catalog().changes();
        let mut before = (self.listing(), self.offers());
        // The catalog may end its notices; the rest goes on.
        let mut has_notices = true;
        loop {
            tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let now = (self.listing(), self.offers());
                    // The catalog also counts reloads that gave the same; those are not sent.
                    for change in changed_lists(&before, &now) {
                        self.announce(change).await;
                    }
                    before = now;
                }
                notice = notices.recv(), if has_notices => match notice {
                    Ok(notice) => self.forward_notice(notice).await,
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => has_notices = false,
                },
            }
        }
    }

    /// Tells all clients that a list has changed.
    async fn announce(&self, change: ListChange) {
        self.listeners().list_changed(change);
        let message: Bytes = Message::notification(change.method(), &json!({})).to_bytes().into();
        self.send_to_ready(&message, |_| true).await;
    }

    /// Tells one client that its list of tools has changed.
    pub(crate) async fn announce_tools_in(&self, session: &Arc<ClientSession>) {
        self.listeners().tools_changed_in(session.number);
        if session.is_ready() {
            let method = ListChange::Tools.method();
            let message = Message::notification(method, &json!({})).to_bytes();
            session.outlet.send(message.into()).await;
        }
    }

    /// Passes what a server reported to the clients that it concerns.
    async fn forward_notice(&self, notice: ServerNotice) {
        let offers = self.offers();
        match notice.event {
            // The catalog loads the list again and reports the change itself.
            UpstreamEvent::ListChanged(_) => {}
            UpstreamEvent::ResourceUpdated { uri } => {
                let uri = offers.exposed_uri(&notice.server, &uri);
                self.listeners().resource_updated(&uri);
                let params = json!({"uri": uri});
                let message = Message::notification("notifications/resources/updated", &params);
                self.send_to_ready(&message.to_bytes().into(), |session| {
                    session.is_subscribed(&uri)
                })
                .await;
            }
            UpstreamEvent::Log(params) => {
                let level = MessageLevel::of_message(&params);
                let message = Message::notification("notifications/message", &params);
                // Stateless clients choose a level per request, and this belongs to none.
                self.send_to_ready(&message.to_bytes().into(), |session| {
                    level >= session.log_level()
                })
                .await;
            }
            UpstreamEvent::Other { method, mut params } => {
                offers.expose(&notice.server, &mut params);
                self.listeners().notify_all(&method, &params);
                let message = Message::notification(&method, &params);
                self.send_to_ready(&message.to_bytes().into(), |_| true).await;
            }
        }
    }

    /// Sends a message to all sessions with a complete handshake that `concerns` accepts.
    async fn send_to_ready(&self, message: &Bytes, concerns: impl Fn(&ClientSession) -> bool) {
        for session in self.open_sessions() {
            if session.is_ready() && concerns(&session) {
                // A client that does not read must not delay the others.
                let (message, session) = (message.clone(), Arc::clone(&session));
                let sending = async move { session.outlet.send(message).await };
                let mut sending = Box::pin(sending);
                if futures::poll!(&mut sending).is_pending() {
                    tokio::spawn(sending);
                }
            }
        }
    }
}

/// The lists that differ between two moments.
fn changed_lists(
    before: &(Arc<ToolListing>, Arc<Offers>),
    now: &(Arc<ToolListing>, Arc<Offers>),
) -> Vec<ListChange> {
    let mut changed = Vec::new();
    if before.0.tools != now.0.tools {
        changed.push(ListChange::Tools);
    }
    let (before, now) = (&before.1, &now.1);
    if before.resources != now.resources || before.templates != now.templates {
        changed.push(ListChange::Resources);
    }
    if before.prompts != now.prompts {
        changed.push(ListChange::Prompts);
    }
    changed
}
