//! The error -32042, with which a server of 2025-11-25 asks that the person visits URLs first.
//! Clients of 2026-07-28 do not know that error, so they are asked to open the URLs, and the
//! request is repeated.
//!
//! ```text
//! -32042 ─▶ question to the client ─ accepted ─▶ repeat ─▶ result
//!              │                                  ▲   │ -32042
//!              └ otherwise: the error             └───┘ until the server has reported the end of
//!                                                       the visit, or a minute has passed
//! ```
//!
//! That the person agreed does not mean that the visit is over, and not all servers report its end.
//! So the request is also repeated after growing pauses. That does no harm: a request that is
//! answered with this error was not carried out.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio::time::Instant;
use toolwright_mcp::{RpcError, error_code};

use super::connection::UpstreamConnection;
use super::outgoing_request::OutgoingRequest;
use super::questions::InputRequired;
use super::request_sending::RequestCaller;
use super::{RequestError, UpstreamEvent, UpstreamNotification};
use crate::CallClock;

/// How long a person may take on the web page that a server has asked to visit.
const TIME_TO_VISIT: Duration = Duration::from_secs(60);
/// The pause before the request is repeated for the first time; it doubles with every further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(8);

impl UpstreamConnection {
    /// Asks the client to open the URLs that an error names, and repeats the request; see the file
    /// header. If the client cannot or does not want to, the error stays.
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
        let mut clock_pause = caller.clock.map(CallClock::pause);
        let is_accepted = match input.ask(caller.host, &self.source).await {
            Ok(round) => round.is_accepted(),
            Err(_) => false,
        };
        if !is_accepted {
            return Err(RequestError::Answered(error));
        }
        let until = Instant::now() + TIME_TO_VISIT;
        let mut is_reported = false;
        let mut pause = FIRST_PAUSE;
        let complete = all_complete(events, ids);
        tokio::pin!(complete);
        loop {
            tokio::select! {
                biased;
                () = &mut complete => is_reported = true,
                () = tokio::time::sleep_until(until.min(Instant::now() + pause)) => {}
            }
            drop(clock_pause);
            match self.request_round(request, None, caller).await {
                Err(RequestError::Answered(error))
                    if error.code == error_code::URL_ELICITATION_REQUIRED =>
                {
                    if is_reported || Instant::now() >= until {
                        return Err(RequestError::Answered(still_required(error)));
                    }
                }
                result => return result,
            }
            clock_pause = caller.clock.map(CallClock::pause);
            pause = MAX_PAUSE.min(pause * 2);
        }
    }
}

/// The error of a server that asks for the same visit again.
fn still_required(mut error: RpcError) -> RpcError {
    error.message = format!(
        "the person agreed to open the web page, but the server still waits for the visit; \
         complete it there and call again: {}",
        error.message
    );
    error
}

/// Waits until the server has reported that all of these elicitations are complete. Without any,
/// nothing can be reported.
async fn all_complete(
    mut events: broadcast::Receiver<UpstreamNotification>,
    mut elicitations: HashSet<String>,
) {
    if elicitations.is_empty() {
        std::future::pending::<()>().await;
    }
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
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}
