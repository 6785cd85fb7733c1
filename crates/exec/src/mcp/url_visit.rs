//! The error -32042, with which a server of 2025-11-25 asks that the person visits URLs first.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::broadcast;
use toolwright_mcp::RpcError;

use super::connection::UpstreamConnection;
use super::outgoing_request::OutgoingRequest;
use super::questions::InputRequired;
use super::request_sending::RequestCaller;
use super::{RequestError, UpstreamEvent, UpstreamNotification};
use crate::CallClock;

/// How long a person may take on the web page that a server has asked to visit.
const TIME_TO_VISIT: Duration = Duration::from_secs(60);

impl UpstreamConnection {
    /// Asks the client to open the URLs that an error of a server of 2025-11-25 names, and repeats
    /// the request once. Clients of 2026-07-28 do not know that error. If the client cannot or does
    /// not want to, the error stays.
    pub(super) async fn visit_urls(
        &self,
        request: &OutgoingRequest<'_>,
        error: RpcError,
        caller: &RequestCaller<'_>,
        events: broadcast::Receiver<UpstreamNotification>,
    ) -> Result<Box<RawValue>, RequestError> {
        let Some(input) = InputRequired::of_url_error(&error) else {
            return Err(RequestError::Answered(error));
        };
        let ids = input.elicitation_ids();
        let pause = caller.clock.map(CallClock::pause);
        let is_accepted = match input.ask(caller.host, &self.source).await {
            Ok(round) => round.is_accepted(),
            Err(_) => false,
        };
        if !is_accepted {
            return Err(RequestError::Answered(error));
        }
        // That the person agreed does not mean that the visit is over. Not all servers report it.
        let _ = tokio::time::timeout(TIME_TO_VISIT, all_complete(events, ids)).await;
        drop(pause);
        self.request_round(request, None, caller).await
    }
}

/// Waits until the server has reported that all of these elicitations are complete.
async fn all_complete(
    mut events: broadcast::Receiver<UpstreamNotification>,
    mut elicitations: HashSet<String>,
) {
    while !elicitations.is_empty() {
        match events.recv().await {
            Ok(notification) => {
                if let UpstreamEvent::Other { method, params } = notification.event
                    && method == "notifications/elicitation/complete"
                    && let Some(id) = params["elicitationId"].as_str()
                {
                    elicitations.remove(id);
                }
            }
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}
