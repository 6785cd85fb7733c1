//! Updates of resources: a server is asked for them once, however many clients want them.
//!
//! ```text
//! (URI as clients named it, session of a server of its own) ─▶ how many want it
//!                                                          └─▶ server and own URI: where it is
//! ```
//!
//! The URI that clients see can change, and so can the server behind it, when the configuration
//! does. The subscription follows: it moves to the server that has the URI then, and updates keep
//! the name that the client subscribed to.
//!
//! Counts and requests are not one atomic step: the count changes under the lock, the server is
//! asked without it. A subscription that ends while another begins can therefore reach a server in
//! either order. The loser misses updates until it subscribes again, which is why a repeated
//! `resources/subscribe` always asks the server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value as Json, json};
use toolwright_catalog::OfferedItem;
use toolwright_exec::mcp::RequestError;
use toolwright_exec::{Host, Progress, SessionNumber};
use toolwright_mcp::{RpcError, error_code};
use toolwright_model::{Isolation, Server};

use crate::Gateway;
use crate::dispatcher::RequestContext;
use crate::offered_items::unknown_resource;
use crate::request_params::RequestParams;
use crate::request_terms::RequestTerms;
use crate::result_body::ResultBody;
use crate::suspended_calls::MethodResult;

/// The resources that clients want updates of.
#[derive(Default)]
pub(crate) struct ResourceSubscriptions(Mutex<HashMap<SubscriptionKey, Subscription>>);

/// The URI that clients see, and the session if its server has a process for each.
type SubscriptionKey = (String, Option<SessionNumber>);

/// Removed with its last subscriber.
struct Subscription {
    /// How many want it.
    count: usize,
    /// Compared by value where the pointers differ, because a reload makes new ones of the same
    /// settings.
    server: Arc<Server>,
    /// The URI on that server.
    own: String,
}

impl ResourceSubscriptions {
    fn all(&self) -> MutexGuard<'_, HashMap<SubscriptionKey, Subscription>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more subscriber.
    fn add(&self, key: SubscriptionKey, item: &OfferedItem) {
        let server = item.upstream.server();
        let new = || Subscription { count: 0, server: Arc::clone(server), own: item.own.clone() };
        let mut all = self.all();
        let subscription = all.entry(key).or_insert_with(new);
        subscription.count += 1;
    }

    /// Whether the server of this resource was asked for its updates.
    fn has(&self, key: &SubscriptionKey, item: &OfferedItem) -> bool {
        self.all().get(key).is_some_and(|known| known.is_for(item))
    }

    /// Counts one less. Returns true if it was the last.
    fn remove(&self, key: &SubscriptionKey) -> bool {
        let mut all = self.all();
        let Some(subscription) = all.get_mut(key) else { return false };
        subscription.count -= 1;
        let is_last = subscription.count == 0;
        if is_last {
            all.remove(key);
        }
        is_last
    }

    /// The URIs under which clients subscribed to this resource of a server. `of`: the session
    /// whose own process reports the update.
    pub(crate) fn names_of(
        &self,
        server: &Arc<Server>,
        own: &str,
        of: Option<SessionNumber>,
    ) -> Vec<String> {
        let all = self.all();
        let fits = |((_, session), known): &(&SubscriptionKey, &Subscription)| {
            *session == of && known.own == own && is_same(&known.server, server)
        };
        all.iter().filter(fits).map(|((uri, _), _)| uri.clone()).collect()
    }
}

impl Subscription {
    fn is_for(&self, item: &OfferedItem) -> bool {
        self.own == item.own && is_same(&self.server, item.upstream.server())
    }
}

fn is_same(one: &Arc<Server>, other: &Arc<Server>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

/// The session whose process of the server is meant; `None` if all share one.
///
/// With `isolation = "session"` each client has its own process or connection, and an update from
/// one of them concerns nobody else.
fn session_of(item: &OfferedItem, session: SessionNumber) -> Option<SessionNumber> {
    let is_own = item.upstream.server().settings.isolation == Isolation::Session;
    is_own.then_some(session)
}

/// The caller of a subscription. It waits for the result and ignores everything else.
///
/// It stands for no client, and is not asked questions: the subscription may serve several.
struct SubscribingHost(Option<SessionNumber>);

impl Host for SubscribingHost {
    fn progress(&self, _: Progress) {}

    fn wants_progress(&self) -> bool {
        false
    }

    fn session(&self) -> Option<SessionNumber> {
        self.0
    }
}

impl Gateway {
    /// Answers `resources/subscribe` and `resources/unsubscribe`.
    ///
    /// The two methods of revisions with a handshake. The session remembers what it subscribed to,
    /// so that its end gives everything back.
    ///
    /// # Errors
    /// For a URI that no server has, or if the server refuses. Then nothing is counted.
    pub(crate) async fn change_subscription(&self, context: &RequestContext<'_>) -> MethodResult {
        let uri = RequestParams::text(context.params.uri, "uri")?;
        let wanted = context.method == "resources/subscribe";
        self.wait_for_sources().await;
        let session = context.session.number;
        let item = self.offers().resource(&uri);
        let item = item.ok_or_else(|| unknown_resource(&uri, context.terms))?;
        let is_changed = context.session.set_subscription(&uri, wanted);
        let mut result = match (wanted, is_changed) {
            (true, true) => {
                let acquired = self.acquire_resource(&uri, session, context.terms).await;
                if acquired.is_err() {
                    context.session.set_subscription(&uri, false);
                }
                acquired?
            }
            // A client that asks again misses updates, perhaps because its server forgot them.
            (true, false) => {
                let of = session_of(&item, session);
                ask_for_updates(&item, of, "resources/subscribe").await?
            }
            (false, true) => self.release_resource(&uri, session).await,
            (false, false) => json!({}),
        };
        self.offers().expose(item.upstream.server(), &mut result);
        Ok(ResultBody::Json(result))
    }

    /// Asks the server of a resource for its updates, unless another client already wants them.
    /// Returns what it answered.
    ///
    /// # Errors
    /// If there is no such resource, or its server refuses.
    pub(crate) async fn acquire_resource(
        &self,
        uri: &str,
        session: SessionNumber,
        terms: &RequestTerms,
    ) -> Result<Json, RpcError> {
        let item = self.offers().resource(uri).ok_or_else(|| unknown_resource(uri, terms))?;
        let of = session_of(&item, session);
        let key = (uri.to_owned(), of);
        let is_known = self.subscriptions().has(&key, &item);
        // Before the request: an update may come before its answer.
        self.subscriptions().add(key.clone(), &item);
        if is_known {
            return Ok(json!({}));
        }
        let asked = ask_for_updates(&item, of, "resources/subscribe").await;
        if asked.is_err() {
            self.subscriptions().remove(&key);
        }
        asked
    }

    /// Counts one client less, and ends the updates with the last. Returns what the server
    /// answered.
    pub(crate) async fn release_resource(&self, uri: &str, session: SessionNumber) -> Json {
        // Gone meanwhile, and its updates with it.
        let item = self.offers().resource(uri);
        let mut result = json!({});
        for of in [None, Some(session)] {
            let is_last = self.subscriptions().remove(&(uri.to_owned(), of));
            if let Some(item) =
                item.as_ref().filter(|item| is_last && session_of(item, session) == of)
            {
                // A server that refuses goes on sending updates, which nobody gets.
                let asked = ask_for_updates(item, of, "resources/unsubscribe").await;
                result = asked.unwrap_or(result);
            }
        }
        result
    }

    /// Asks for updates where the server of a resource is another one now.
    ///
    /// Called after each change of the catalog. Servers that refuse, or that cannot be reached, are
    /// not tried again before the next change.
    pub(crate) fn move_subscriptions(&self) {
        let offers = self.offers();
        let mut moved = Vec::new();
        for ((uri, of), known) in self.subscriptions().all().iter_mut() {
            // Without a server that has it, the one that had it may still report updates.
            let Some(item) = offers.resource(uri).filter(|item| !known.is_for(item)) else {
                continue;
            };
            known.server = Arc::clone(item.upstream.server());
            known.own.clone_from(&item.own);
            moved.push((item, *of));
        }
        for (item, of) in moved {
            // The server may take long to start.
            tokio::spawn(async move {
                let _ = ask_for_updates(&item, of, "resources/subscribe").await;
            });
        }
    }
}

/// `of` selects the connection, see `session_of`.
async fn ask_for_updates(
    item: &OfferedItem,
    of: Option<SessionNumber>,
    method: &str,
) -> Result<Json, RpcError> {
    let params = Map::from_iter([("uri".to_owned(), json!(item.own))]);
    let host = SubscribingHost(of);
    let asked: Result<Json, RequestError> = item.upstream.request(method, params, &host).await;
    let mut result = asked.map_err(|error| match error {
        RequestError::Answered(error) => error,
        RequestError::Failed(failure) => {
            RpcError::new(error_code::INTERNAL_ERROR, failure.to_string())
        }
    })?;
    // Clients that have this method do not have the member.
    if let Some(members) = result.as_object_mut() {
        members.shift_remove("resultType");
    }
    Ok(result)
}
