//! `subscriptions/listen` of revision 2026-07-28: a request that stays open. The notifications that
//! the client chose are sent on its stream.
//!
//! ```text
//! listen ─▶ acknowledged, with the part of the filter that is granted
//!        ─▶ list_changed, resources/updated …, each with the id of the subscription
//! ```
//!
//! A listener is a filter and a queue; the request that opened it runs in its own task and moves
//! messages from the queue to the client. The task that reports a change only tries to put it into
//! queues, so a slow client delays nobody: its queue runs full, and it loses notifications. That is
//! harmless for lists, which a client reads again after any one of them.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;
use toolwright_exec::SessionNumber;
use toolwright_mcp::{Message, RequestId, meta};

use crate::Gateway;
use crate::client_session::covers;
use crate::dispatcher::RequestContext;
use crate::message_sink::MessageSink;
use crate::request_params::invalid_params;
use crate::result_body::ResultBody;
use crate::suspended_calls::MethodResult;

/// Notifications that may wait for a client that reads slowly; further ones are dropped.
const MAX_QUEUED: usize = 256;

/// The part of a filter that was granted.
///
/// Kinds that the client did not ask for are false, as are those that no server behind this one can
/// report: the acknowledgement says which.
#[derive(Clone, Debug, Default)]
struct GrantedFilter {
    /// Always granted: a list of tools always exists.
    tools: bool,
    resources: bool,
    prompts: bool,
    /// URIs as the client sees them.
    updates: HashSet<String>,
}

/// A list whose change clients are notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListChange {
    Tools,
    Resources,
    Prompts,
}

impl ListChange {
    /// The method of the notification.
    pub(crate) fn method(self) -> &'static str {
        match self {
            ListChange::Tools => "notifications/tools/list_changed",
            ListChange::Resources => "notifications/resources/list_changed",
            ListChange::Prompts => "notifications/prompts/list_changed",
        }
    }
}

/// One open `subscriptions/listen` request. Removed when its queue turns out to be closed, at the
/// next notification that concerns it: its receiver is dropped with the request.
struct Listener {
    /// The id of the request, which names the subscription.
    id: RequestId,
    session: SessionNumber,
    filter: GrantedFilter,
    /// Messages that are ready to be sent, with the id of the subscription in them.
    queue: mpsc::Sender<Bytes>,
}

impl Listener {
    /// Whether a notification for this session, or for all (`None`), concerns this listener.
    fn is_of(&self, session: Option<SessionNumber>) -> bool {
        session.is_none_or(|session| session == self.session)
    }

    /// Sends a notification with the id of the subscription. Returns false if the client has left.
    fn notify(&self, method: &str, params: &Json) -> bool {
        let message = tagged(&self.id, method, params);
        !matches!(self.queue.try_send(message), Err(mpsc::error::TrySendError::Closed(_)))
    }
}

/// A notification with the id of its subscription.
///
/// `_meta` of the server is kept, with the id in it.
fn tagged(id: &RequestId, method: &str, params: &Json) -> Bytes {
    let mut params = if params.is_object() { params.clone() } else { json!({}) };
    if !params["_meta"].is_object() {
        params["_meta"] = json!({});
    }
    params["_meta"][meta::SUBSCRIPTION_ID] = id.to_json();
    Message::notification(method, &params).to_bytes().into()
}

/// All open subscriptions, of all clients. The lock is held only for `try_send`, never across a
/// wait.
#[derive(Default)]
pub(crate) struct SubscriptionListeners(Mutex<Vec<Listener>>);

impl SubscriptionListeners {
    fn all(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies those who chose changes of this list.
    ///
    /// A listener whose client has left is removed on the way.
    pub(crate) fn list_changed(&self, change: ListChange) {
        self.all().retain(|listener| {
            let is_chosen = match change {
                ListChange::Tools => listener.filter.tools,
                ListChange::Resources => listener.filter.resources,
                ListChange::Prompts => listener.filter.prompts,
            };
            !is_chosen || listener.notify(change.method(), &json!({}))
        });
    }

    /// Notifies those of one session who chose changes of the list of tools: when only this session
    /// sees another list than before, such as with its first stored result.
    pub(crate) fn tools_changed_in(&self, session: SessionNumber) {
        self.all().retain(|listener| {
            listener.session != session
                || !listener.filter.tools
                || listener.notify(ListChange::Tools.method(), &json!({}))
        });
    }

    /// Notifies those who chose updates of this resource, if `of` is set those of this session.
    pub(crate) fn resource_updated(&self, of: Option<SessionNumber>, uri: &str, params: &Json) {
        self.all().retain(|listener| {
            !listener.is_of(of)
                || !covers(&listener.filter.updates, uri)
                || listener.notify("notifications/resources/updated", params)
        });
    }
}

impl Gateway {
    /// Answers `subscriptions/listen`: does not end before the client or the session does.
    ///
    /// # Errors
    /// If the filter is missing or not an object. Members of it that are unknown or not granted are
    /// no error; they are missing in the acknowledgement.
    ///
    /// ```text
    /// wait for sources ─ grant ─ registered ─ acknowledged ─ messages … ─ resources released
    /// ```
    pub(crate) async fn listen(
        &self,
        context: &RequestContext<'_>,
        id: &RequestId,
        sink: &dyn MessageSink,
    ) -> MethodResult {
        let wanted: Json = match context.params.notifications {
            None => return Err(invalid_params("`notifications` is missing")),
            Some(given) => serde_json::from_str(given.get())
                .map_err(|error| invalid_params(format!("`notifications` is invalid: {error}")))?,
        };
        if !wanted.is_object() {
            return Err(invalid_params("`notifications` is not an object"));
        }
        self.wait_for_sources().await;
        let (filter, granted) = self.grant(&wanted, context).await;
        let (queue, mut messages) = mpsc::channel(MAX_QUEUED);
        // Registered before the acknowledgement, so that no change after it is lost. It waits in
        // the queue meanwhile.
        let listener = Listener {
            id: id.clone(),
            session: context.session.number,
            filter: filter.clone(),
            queue,
        };
        self.listeners().all().push(listener);
        let session = context.session.number;
        let release = ReleaseOnDrop { gateway: self.clone(), session, uris: filter.updates };
        let acknowledged = json!({"notifications": granted});
        let method = "notifications/subscriptions/acknowledged";
        sink.send(tagged(id, method, &acknowledged)).await;
        loop {
            tokio::select! {
                () = context.cancel.cancelled() => break,
                message = messages.recv() => match message {
                    Some(message) => sink.send(message).await,
                    None => break,
                },
            }
        }
        drop(release);
        Ok(ResultBody::Text(r#"{"resultType":"complete"}"#.into()))
    }

    /// The part of a filter that is granted: what this server announces. Also asks the servers of
    /// the resources for updates; a resource that does not exist, or whose server refuses, is left
    /// out. Returns the filter once for itself and once as the acknowledgement has it.
    ///
    /// Servers are asked one resource after the other, each once.
    async fn grant(&self, wanted: &Json, context: &RequestContext<'_>) -> (GrantedFilter, Json) {
        let offered = self.offered();
        let is_wanted = |name: &str| wanted.get(name) == Some(&Json::Bool(true));
        let mut filter = GrantedFilter {
            tools: is_wanted("toolsListChanged"),
            resources: is_wanted("resourcesListChanged") && offered.resources,
            prompts: is_wanted("promptsListChanged") && offered.prompts,
            updates: HashSet::new(),
        };
        let uris = wanted.get("resourceSubscriptions").and_then(Json::as_array);
        for uri in uris.into_iter().flatten().filter_map(Json::as_str) {
            if !filter.updates.contains(uri)
                && self.acquire_resource(uri, context.session.number, context.terms).await.is_ok()
            {
                filter.updates.insert(uri.to_owned());
            }
        }
        let mut granted = json!({});
        for (name, is_granted) in [
            ("toolsListChanged", filter.tools),
            ("resourcesListChanged", filter.resources),
            ("promptsListChanged", filter.prompts),
        ] {
            if is_granted {
                granted[name] = json!(true);
            }
        }
        if !filter.updates.is_empty() {
            granted["resourceSubscriptions"] = filter.updates.iter().map(String::as_str).collect();
        }
        (filter, granted)
    }
}

/// Ends the subscriptions to resources when the request ends, also when its future is dropped: each
/// one was counted in `grant`, and a count that is never given back would keep a server sending
/// updates for ever.
struct ReleaseOnDrop {
    gateway: Gateway,
    session: SessionNumber,
    uris: HashSet<String>,
}

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        let uris = std::mem::take(&mut self.uris);
        // Without a runtime the program is ending, and the subscriptions with it.
        if !uris.is_empty()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (gateway, session) = (self.gateway.clone(), self.session);
            runtime.spawn(async move {
                for uri in uris {
                    gateway.release_resource(&uri, session).await;
                }
            });
        }
    }
}
