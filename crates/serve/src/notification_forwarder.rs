//! Tells clients what changed without being asked: lists, updated resources, log messages and other
//! notifications of servers.
//!
//! ```text
//! Catalog::changes ─▶ compare lists ──┬─▶ sessions with a handshake, on their own stream
//! Catalog::notifications ─────────────┴─▶ subscription_listeners (2026-07-28)
//! ```
//!
//! One task for the whole gateway does all of it, so notifications of one server reach a client in
//! their order. It compares the lists itself: the catalog reports every reload, servers report
//! changes that are none, and a client that hears of a change fetches the whole list.

use std::sync::Arc;

use hyper::body::Bytes;
use serde_json::{Value as Json, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolwright_catalog::{Offers, ServerNotification};
use toolwright_exec::mcp::{UpstreamEvent, task_of};
use toolwright_mcp::Message;

use crate::Gateway;
use crate::client_session::ClientSession;
use crate::log_level::MessageLevel;
use crate::session_tasks::is_progress;
use crate::subscription_listeners::ListChange;
use crate::tool_listing::ToolListing;

impl Gateway {
    /// Forwards changes and notifications to all clients until `until` is cancelled.
    ///
    /// Called once per program, by the server that it runs.
    pub(crate) fn start_notifications(&self, until: &CancellationToken) {
        let (gateway, until) = (self.clone(), until.clone());
        tokio::spawn(async move { until.run_until_cancelled(gateway.forward_changes()).await });
    }

    /// The loop. `before` is what clients know at least; see `first_lists` for its first value.
    ///
    /// ```text
    /// the catalog changed         lists compared; those that differ are announced
    /// a task got its client       notifications that waited for it
    /// a server reported           what waited before, then this
    /// some were missed            tasks of lost connections are ended
    /// ```
    async fn forward_changes(self) {
        let mut notifications = self.catalog().notifications();
        let mut changes = self.catalog().changes();
        let mut before = self.first_lists(&mut changes).await;
        let mut visibility = 0;
        // The catalog may end its notifications; the rest goes on.
        let mut has_notifications = true;
        loop {
            tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let now = (self.listing(), self.offers());
                    // The catalog also counts reloads that gave the same; those are not sent.
                    let mut changed = changed_lists(&before, &now);
                    // The same tools, which other sessions have than before.
                    let visible = self.catalog().runner().visibility();
                    if std::mem::replace(&mut visibility, visible) != visible
                        && !changed.contains(&ListChange::Tools)
                    {
                        changed.push(ListChange::Tools);
                    }
                    for change in changed {
                        self.announce(change).await;
                    }
                    before = now;
                    self.move_subscriptions();
                }
                () = self.unclaimed_notifications().new_task.notified() => {
                    self.forward_claimable_notifications().await;
                }
                notification = notifications.recv(), if has_notifications => match notification {
                    Ok(notification) => {
                        // Those that came before it.
                        self.forward_claimable_notifications().await;
                        self.forward_notification(notification).await;
                    }
                    // The end of a connection may be among those that were missed.
                    Err(RecvError::Lagged(_)) => self.end_lost_tasks().await,
                    Err(RecvError::Closed) => has_notifications = false,
                },
            }
        }
    }

    /// What the first lists of clients have at least: they wait for the sources, too, and contain
    /// what loads until all are tried. Lists that were answered at the end of that time may lack
    /// what was loaded in the same moment, so it does not count.
    async fn first_lists(
        &self,
        changes: &mut watch::Receiver<u64>,
    ) -> (Arc<ToolListing>, Arc<Offers>) {
        let mut before = (Arc::default(), Arc::default());
        loop {
            // Looked up first: what a source has is there when it counts as tried.
            let is_complete = self.catalog().all_sources_tried();
            let now = (self.catalog().runner().registry(), self.offers());
            if !is_complete && self.startup_left().is_zero() {
                changes.mark_changed();
                break;
            }
            before = now;
            if is_complete {
                break;
            }
            let _ = tokio::time::timeout(self.startup_left(), changes.changed()).await;
        }
        let (registry, offers) = before;
        (self.listing_of(&registry, &offers), offers)
    }

    /// Tells all clients that a list has changed.
    ///
    /// By both ways: subscriptions of stateless clients, and the streams of sessions.
    async fn announce(&self, change: ListChange) {
        self.listeners().list_changed(change);
        let message: Bytes = Message::notification(change.method(), &json!({})).to_bytes().into();
        self.send_to_ready(&message, |_| true).await;
    }

    /// Tells one client that its list of tools has changed.
    ///
    /// Used when a list changes for this client alone, by its first stored result.
    pub(crate) async fn announce_tools_in(&self, session: &Arc<ClientSession>) {
        self.listeners().tools_changed_in(session.number);
        if session.is_ready() {
            let method = ListChange::Tools.method();
            let message = Message::notification(method, &json!({})).to_bytes();
            session.sink.send(message.into()).await;
        }
    }

    /// Passes on the notifications about tasks whose client was not known when they came.
    async fn forward_claimable_notifications(&self) {
        for notification in self.unclaimed_notifications().take_claimable() {
            self.forward_notification(notification).await;
        }
    }

    /// Passes what a server reported to the clients that it concerns.
    ///
    /// Three kinds of receivers: the owner of a task, the session whose own connection the server's
    /// message came from (`isolation = "session"`), or all clients that may use everything. A
    /// message that reaches nobody is dropped.
    async fn forward_notification(&self, mut notification: ServerNotification) {
        if is_about_task(&notification.event) && !self.claim_notification(&mut notification) {
            return;
        }
        let (offers, of) = (self.offers(), notification.session);
        // An agent that may use some tools only learns nothing of servers at large.
        let concerns = |session: &ClientSession| match of {
            Some(own) => own == session.number,
            None => !self.is_restricted(session),
        };
        match notification.event {
            // The catalog loads the list again and reports the change itself.
            UpstreamEvent::ListChanged(_) => {}
            UpstreamEvent::ConnectionEnded => self.end_lost_tasks().await,
            UpstreamEvent::ResourceUpdated { uri, more } => {
                let mut params = Json::Object(more);
                offers.expose(&notification.server, &mut params);
                let mut names = self.subscriptions().names_of(&notification.server, &uri, of);
                if names.is_empty() {
                    names.push(offers.exposed_uri(&notification.server, &uri));
                }
                for uri in names {
                    params["uri"] = json!(uri);
                    self.listeners().resource_updated(of, &uri, &params);
                    let message = Message::notification("notifications/resources/updated", &params);
                    self.send_to_ready(&message.to_bytes().into(), |session| {
                        concerns(session) && session.is_subscribed(&uri)
                    })
                    .await;
                }
            }
            UpstreamEvent::Log(params) => {
                let level = MessageLevel::of_message(&params);
                let message = Message::notification("notifications/message", &params);
                // Stateless clients choose a level per request, and this belongs to none.
                self.send_to_ready(&message.to_bytes().into(), |session| {
                    concerns(session) && level >= session.log_level()
                })
                .await;
            }
            UpstreamEvent::Other { method, mut params } => {
                offers.expose(&notification.server, &mut params);
                // Listening clients get only what their filter selects, and no filter selects this.
                let message = Message::notification(&method, &params);
                self.send_to_ready(&message.to_bytes().into(), concerns).await;
            }
        }
    }

    /// Sends a message to all sessions with a complete handshake that `concerns` accepts.
    ///
    /// A session is ready after `notifications/initialized`; before that MCP allows the server to
    /// send little more than pings.
    pub(crate) async fn send_to_ready(
        &self,
        message: &Bytes,
        concerns: impl Fn(&ClientSession) -> bool,
    ) {
        for session in self.open_sessions() {
            if session.is_ready() && concerns(&session) {
                // A client that does not read must not delay the others.
                let (message, session) = (message.clone(), Arc::clone(&session));
                let sending = async move { session.sink.send(message).await };
                let mut sending = Box::pin(sending);
                if futures::poll!(&mut sending).is_pending() {
                    tokio::spawn(sending);
                }
            }
        }
    }
}

/// Whether an event concerns one client only, the one that has the task.
fn is_about_task(event: &UpstreamEvent) -> bool {
    is_progress(event) || task_of(event).is_some()
}

/// The lists that differ between two moments. Tools are compared as text, in their newest form:
/// what only older revisions see differently follows from that.
///
/// A changed template counts as a change of resources, since MCP has no notification of its own.
fn changed_lists(
    before: &(Arc<ToolListing>, Arc<Offers>),
    now: &(Arc<ToolListing>, Arc<Offers>),
) -> Vec<ListChange> {
    let mut changed = Vec::new();
    if before.0.tools != now.0.tools {
        changed.push(ListChange::Tools);
    }
    let has_same_documents = now.0.documents.is_same(&before.0.documents);
    let (before, now) = (&before.1, &now.1);
    if !has_same_documents || before.resources != now.resources || before.templates != now.templates
    {
        changed.push(ListChange::Resources);
    }
    if before.prompts != now.prompts {
        changed.push(ListChange::Prompts);
    }
    changed
}
