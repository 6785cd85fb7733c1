//! Updates of resources: a server is asked for them once, however many clients want them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value as Json, json};
use toolwright_exec::NoHost;
use toolwright_exec::mcp::RequestError;
use toolwright_mcp::{RpcError, error_code};

use crate::Gateway;
use crate::dispatcher::RequestContext;
use crate::offered_items::unknown_resource;
use crate::request_params::RequestParams;
use crate::request_terms::RequestTerms;
use crate::result_body::ResultBody;
use crate::suspended_calls::MethodResult;

/// How many clients want updates of each resource, by the URI that clients see.
#[derive(Default)]
pub(crate) struct ResourceSubscriptions(Mutex<HashMap<String, usize>>);

impl ResourceSubscriptions {
    fn counts(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one client more. Returns true for the first.
    fn add(&self, uri: &str) -> bool {
        let mut counts = self.counts();
        let count = counts.entry(uri.to_owned()).or_default();
        *count += 1;
        *count == 1
    }

    /// Counts one client less. Returns true if it was the last.
    fn remove(&self, uri: &str) -> bool {
        let mut counts = self.counts();
        let Some(count) = counts.get_mut(uri) else { return false };
        *count -= 1;
        let is_last = *count == 0;
        if is_last {
            counts.remove(uri);
        }
        is_last
    }
}

impl Gateway {
    /// Answers `resources/subscribe` and `resources/unsubscribe`.
    pub(crate) async fn change_subscription(&self, context: &RequestContext<'_>) -> MethodResult {
        let uri = RequestParams::text(context.params.uri, "uri")?;
        let wanted = context.method == "resources/subscribe";
        self.wait_for_sources().await;
        if self.offers().resource(&uri).is_none() {
            return Err(unknown_resource(&uri, context.terms));
        }
        if context.session.set_subscription(&uri, wanted) {
            if !wanted {
                self.release_resource(&uri).await;
            } else if let Err(error) = self.acquire_resource(&uri, context.terms).await {
                context.session.set_subscription(&uri, false);
                return Err(error);
            }
        }
        Ok(ResultBody::Text("{}".into()))
    }

    /// Asks the server of a resource for its updates, unless another client already wants them.
    ///
    /// # Errors
    /// If there is no such resource, or its server refuses.
    pub(crate) async fn acquire_resource(
        &self,
        uri: &str,
        terms: &RequestTerms,
    ) -> Result<(), RpcError> {
        if self.offers().resource(uri).is_none() {
            return Err(unknown_resource(uri, terms));
        }
        if !self.subscriptions().add(uri) {
            return Ok(());
        }
        let asked = self.ask_for_updates(uri, "resources/subscribe").await;
        if asked.is_err() {
            self.subscriptions().remove(uri);
        }
        asked
    }

    /// Counts one client less, and ends the updates with the last.
    pub(crate) async fn release_resource(&self, uri: &str) {
        if self.subscriptions().remove(uri) {
            // A server that refuses goes on sending updates, which nobody gets.
            let _ = self.ask_for_updates(uri, "resources/unsubscribe").await;
        }
    }

    async fn ask_for_updates(&self, uri: &str, method: &str) -> Result<(), RpcError> {
        // Gone meanwhile, and its updates with it.
        let Some(item) = self.offers().resource(uri) else { return Ok(()) };
        let params = Map::from_iter([("uri".to_owned(), json!(item.own))]);
        let asked: Result<Json, RequestError> =
            item.upstream.request(method, params, &NoHost).await;
        asked.map(drop).map_err(|error| match error {
            RequestError::Answered(error) => error,
            RequestError::Failed(failure) => {
                RpcError::new(error_code::INTERNAL_ERROR, failure.to_string())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ResourceSubscriptions;

    #[test]
    fn only_the_first_and_the_last_client_concern_the_server() {
        let subscriptions = ResourceSubscriptions::default();
        assert!(subscriptions.add("a") && subscriptions.add("b"));
        assert!(!subscriptions.add("a"));
        assert!(!subscriptions.remove("a"));
        assert!(subscriptions.remove("a") && subscriptions.remove("b"));
        assert!(!subscriptions.remove("a"));
    }
}
