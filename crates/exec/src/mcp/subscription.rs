//! Changes that a server of 2026-07-28 reports only to those who listen: one request
//! `subscriptions/listen` per connection, which stays open and whose notifications the dispatcher
//! routes like all others.
//!
//! ```text
//! URIs ─ change ─▶ listen again with all of them ─ acknowledged ─▶ end the old one
//! ```
//!
//! The new request is open before the old one ends, so that no change is missed in between.
//!
//! The level of log messages is sent from here as well, to servers with a handshake.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, json};
use tokio::sync::watch;

use super::ServerDescription;
use super::connection::UpstreamConnection;
use super::outgoing_request::OutgoingRequest;
use super::request_sending::OWN_CALLER;
use crate::{BoxFuture, Json};

/// How long a server may take to acknowledge a request to listen.
pub(super) const TIME_TO_ACKNOWLEDGE: Duration = Duration::from_secs(10);
/// How often the acknowledgement is looked for.
const POLL: Duration = Duration::from_millis(5);
/// The pause before a request to listen that ended is made again; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The resources that are subscribed to, by their URIs.
pub(super) type SubscribedUris = BTreeSet<String>;

/// Listens until the connection is closed. `listened` receives the URIs that the server has
/// acknowledged.
pub(super) async fn listen(
    connection: Arc<UpstreamConnection>,
    uris: watch::Receiver<SubscribedUris>,
    listened: watch::Sender<SubscribedUris>,
) {
    tokio::select! {
        () = connection.closed() => {}
        () = listen_again(&connection, uris, listened) => {}
    }
}

/// Asks a server for log messages of the level that clients want, if it has a handshake: others get
/// the level with every request. A server that refuses sends what it likes.
pub(super) async fn send_log_level(connection: &UpstreamConnection) {
    if let Some(level) = connection.log_level()
        && !connection.is_stateless()
        && connection.known_description().has("logging")
    {
        let _ = connection.own_request("logging/setLevel", json!({"level": level})).await;
    }
}

/// Asks a server with a handshake again for what an earlier session or process of it was asked for:
/// log messages, and updates of resources.
pub(super) async fn restore(connection: &UpstreamConnection) {
    send_log_level(connection).await;
    let uris = connection.subscribed().borrow().clone();
    for uri in uris {
        let _ = connection.own_request("resources/subscribe", json!({"uri": uri})).await;
    }
}

/// `current` is the request that is open; it is polled here, between two changes of the URIs. A
/// server that ends it is asked again after a pause.
async fn listen_again(
    connection: &UpstreamConnection,
    mut uris: watch::Receiver<SubscribedUris>,
    listened: watch::Sender<SubscribedUris>,
) {
    let description = connection.known_description();
    let mut pause = FIRST_PAUSE;
    let mut current: BoxFuture<'_, ()> = Box::pin(std::future::pending());
    loop {
        let wanted = uris.borrow_and_update().clone();
        let params = listen_params(&description, &wanted);
        // A server without any such capability may answer with an error or never.
        if params["notifications"] != json!({}) {
            let next = Box::pin(async move {
                let params = params.as_object().cloned().unwrap_or_else(Map::new);
                let request = OutgoingRequest::new("subscriptions/listen", &params);
                let _ = connection.attempt(&request, None, &OWN_CALLER).await;
            });
            let (next, acknowledged) = until_acknowledged(connection, next, current).await;
            current = next;
            if acknowledged {
                pause = FIRST_PAUSE;
            }
        } else {
            current = Box::pin(std::future::pending());
        }
        listened.send_replace(wanted);
        tokio::select! {
            changed = uris.changed() => if changed.is_err() { return },
            () = &mut current => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(MAX_PAUSE);
            }
        }
    }
}

/// Runs a request to listen until the server has acknowledged it, and the old one until then.
/// Returns the request, to be run on, and whether that happened.
///
/// Ids grow by one, so the request that is about to be sent has the id after the last one.
async fn until_acknowledged<'c>(
    connection: &UpstreamConnection,
    mut request: BoxFuture<'c, ()>,
    old: BoxFuture<'c, ()>,
) -> (BoxFuture<'c, ()>, bool) {
    let last = connection.dispatcher.last_id();
    let acknowledged = async {
        while !connection.dispatcher.is_acknowledged(last + 1) {
            tokio::time::sleep(POLL).await;
        }
    };
    let old = async {
        old.await;
        std::future::pending::<()>().await;
    };
    let is_acknowledged = tokio::select! {
        () = old => false,
        () = &mut request => return (Box::pin(std::future::ready(())), false),
        answer = tokio::time::timeout(TIME_TO_ACKNOWLEDGE, acknowledged) => answer.is_ok(),
    };
    (request, is_acknowledged)
}

/// The parameters of `subscriptions/listen`: all changes that the server offers, and these
/// resources.
fn listen_params(description: &ServerDescription, uris: &SubscribedUris) -> Json {
    let mut notifications = Map::new();
    for (capability, member) in [
        ("tools.listChanged", "toolsListChanged"),
        ("prompts.listChanged", "promptsListChanged"),
        ("resources.listChanged", "resourcesListChanged"),
    ] {
        if description.has(capability) {
            notifications.insert(member.to_owned(), true.into());
        }
    }
    if !uris.is_empty() {
        let uris = uris.iter().map(|uri| Json::from(uri.as_str())).collect();
        notifications.insert("resourceSubscriptions".to_owned(), uris);
    }
    json!({"notifications": notifications})
}
