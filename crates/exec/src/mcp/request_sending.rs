//! Sends a request over a connection, as often as it takes to get a result: again if an HTTP
//! session has expired, and with the client's answers if the server asks for input. All requests
//! take this way, whatever their method and transport.
//!
//! ```text
//! request ─▶ request_round ─▶ attempt ─▶ register (dispatcher) ─▶ wire: stdin, or POST
//!    ▲ │                         │
//!    └─┘ rounds of input         └─▶ wait_for_answer (`answer_waiting`)
//! ```
//!
//! A request whose future is dropped is cancelled at the server; a task that it would have created
//! is cancelled as well.
//!
//! Futures are kept small on purpose: everything but the first attempt over standard streams is
//! boxed, since the future of a call would otherwise have the size of its rarest way.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;
use toolwright_mcp::{Message, RequestId, RpcError, error_code, meta, raw_json, standard_headers};

use super::RequestError;
use super::connect_error::{answer_too_large, bounded, connection_lost};
use super::connection::{ServerWire, UpstreamConnection};
use super::duplex_wire;
use super::http_client::HttpFailure;
use super::open_request::{OpenRequest, RequestOwner, UpstreamAnswer};
use super::outgoing_request::{InputRound, OutgoingRequest};
use super::questions::{InputRequired, MAX_ROUNDS};
use super::server_process::TIME_TO_END;
use super::tasks::{TIME_TO_CANCEL, TaskLoss, new_task_of, task_lost};
use crate::{BoxFuture, CallClock, Failure, Host, Json, code};

/// Who waits for a request.
pub(super) struct RequestCaller<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) owner: RequestOwner,
    /// Moved by signs of life.
    pub(super) clock: Option<&'a CallClock>,
}

/// This program itself as the caller.
pub(super) const OWN_CALLER: RequestCaller<'static> =
    RequestCaller { host: &crate::NoHost, owner: RequestOwner::Own, clock: None };

/// Why one attempt at a request has no result.
///
/// Turned into a failure by `explain`, or handled before: an expired session is tried again.
pub(super) enum AttemptError {
    Answered(RpcError),
    TooLarge,
    /// The connection ended.
    Ended,
    Http(HttpFailure),
}

/// The level of log messages of stateless servers until a client sets another.
const DEFAULT_LOG_LEVEL: &str = "info";

impl UpstreamConnection {
    /// Sends a request and waits for its result. Dropping the future cancels the request at the
    /// server.
    ///
    /// At most `MAX_ROUNDS` of input: a server that asks again and again ends with a failure.
    ///
    /// # Errors
    /// The server's own error, whole, or the failure that kept it from answering.
    pub(super) async fn request(
        &self,
        request: &OutgoingRequest<'_>,
        caller: &RequestCaller<'_>,
    ) -> Result<Box<RawValue>, RequestError> {
        // From before the request: the person may be quick.
        let events = (caller.host.is_asked_in_results() && !self.is_stateless())
            .then(|| self.links.events.subscribe());
        let mut round = None;
        for _ in 0..=MAX_ROUNDS {
            let result = match self.request_round(request, round.as_ref(), caller).await {
                Err(RequestError::Answered(error))
                    if error.code == error_code::URL_ELICITATION_REQUIRED =>
                {
                    let Some(events) = events else { return Err(RequestError::Answered(error)) };
                    return Box::pin(self.visit_urls(request, error, caller, events)).await;
                }
                result => result?,
            };
            let input = if self.is_stateless() { InputRequired::read(&result) } else { None };
            let Some(input) = input else { return Ok(result) };
            let _pause = caller.clock.map(CallClock::pause);
            round = Some(Box::pin(input.ask(caller.host, &self.source)).await?);
        }
        let message = format!("the server asked for input {MAX_ROUNDS} times and has no result");
        Err(RequestError::Failed(Failure::new(&code::TOOL_FAILED, message)))
    }

    /// One round of a request, repeated if the HTTP session has expired. All but the first attempt
    /// is boxed: every call would otherwise need the memory of its rarest way.
    pub(super) async fn request_round(
        &self,
        request: &OutgoingRequest<'_>,
        round: Option<&InputRound>,
        caller: &RequestCaller<'_>,
    ) -> Result<Box<RawValue>, RequestError> {
        let session = self.session();
        match self.attempt(request, round, caller).await {
            Ok(result) => Ok(result),
            Err(AttemptError::Http(HttpFailure::SessionExpired)) => {
                // A list that is asked for now is new.
                let is_list = caller.owner == RequestOwner::Own;
                let renewed = Box::pin(self.renew_session(session, !is_list)).await;
                renewed.map_err(RequestError::Failed)?;
                match Box::pin(self.attempt(request, round, caller)).await {
                    Ok(result) => Ok(result),
                    Err(error) => Err(Box::pin(self.explain(error)).await),
                }
            }
            Err(error) => Err(Box::pin(self.explain(error)).await),
        }
    }

    /// The error of a request for its caller. If the connection ended, waits until it is known how.
    async fn explain(&self, error: AttemptError) -> RequestError {
        RequestError::Failed(match error {
            AttemptError::Answered(error) => return RequestError::Answered(bounded(error)),
            AttemptError::TooLarge => answer_too_large(),
            AttemptError::Ended => {
                // The exit status of a process is known a moment after its streams close.
                let how = tokio::time::timeout(TIME_TO_END, self.wait_for_end()).await;
                connection_lost(&how.unwrap_or_default())
            }
            AttemptError::Http(error) => {
                if let HttpFailure::Disconnected(why) = &error {
                    let _ = self.disconnect_reason.set(why.clone());
                    self.close();
                }
                error.during_request()
            }
        })
    }

    /// Sends a request once.
    ///
    /// The request is registered before it is written, so that its answer finds it; everything that
    /// has to be undone if this future is dropped is in `PendingRequest`.
    pub(super) async fn attempt(
        &self,
        request: &OutgoingRequest<'_>,
        round: Option<&InputRound>,
        caller: &RequestCaller<'_>,
    ) -> Result<Box<RawValue>, AttemptError> {
        let number = self.dispatcher.number();
        if request.connection.is_some_and(|only| only != number) {
            return Err(AttemptError::Answered(task_lost(TaskLoss::Restart)));
        }
        let new_task = request.new_task();
        let open = self.dispatcher.register(caller.owner, request.task, new_task.is_some());
        let Some(open) = open else { return Err(AttemptError::Ended) };
        new_task.inspect(|task| task.set_connection(number));
        let is_initialize = request.method == "initialize";
        let host = caller.host;
        let pending = PendingRequest { connection: self, request: open, host, is_initialize };
        let id = pending.request.id;
        let client_meta = caller.host.meta();
        let context = self.client_context(caller.host);
        let body = request.to_bytes(id, client_meta.as_ref(), &context, round);
        match self.wire() {
            ServerWire::Stdio(wire) => {
                // On failure the server has closed its input, so it is ending.
                let is_busy = self.dispatcher.open_requests() > 1;
                wire.write(body, is_busy).await.map_err(|_| AttemptError::Ended)?;
                self.wait_for_answer(&pending.request, caller, std::future::pending()).await
            }
            ServerWire::Http(wire) => {
                let headers = self.request_headers(request);
                let (wire, dispatcher) = (Arc::clone(wire), Arc::clone(&self.dispatcher));
                // Boxed, so that a request over standard streams does not need its memory.
                let exchange: BoxFuture<'static, _> = Box::pin(async move {
                    wire.exchange(id, is_initialize, body, headers, &dispatcher).await
                });
                let exchange = match new_task {
                    None => exchange,
                    Some(_) => finish_anyway(exchange),
                };
                self.wait_for_answer(&pending.request, caller, exchange).await
            }
            ServerWire::Duplex(wire) => {
                let sending = Arc::clone(wire).send(body);
                self.wait_for_answer(&pending.request, caller, sending).await
            }
        }
    }

    /// The members of `_meta` that a stateless server expects.
    fn client_context(&self, host: &dyn Host) -> Vec<(&'static str, Json)> {
        if !self.is_stateless() {
            return Vec::new();
        }
        let level = self.log_level().unwrap_or(DEFAULT_LOG_LEVEL);
        vec![
            (meta::PROTOCOL_VERSION, toolwright_mcp::Revision::V2026_07_28.name().into()),
            (meta::CLIENT_INFO, super::handshake::client_info()),
            (meta::CLIENT_CAPABILITIES, host.client_capabilities()),
            (meta::LOG_LEVEL, level.into()),
        ]
    }

    /// The headers that repeat parts of a request. Only stateless servers need them; the first
    /// request goes to a server that may be one, and others ignore them.
    fn request_headers(&self, request: &OutgoingRequest<'_>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut add = |name: &str, value: &str| {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                headers.insert(name, value);
            }
        };
        add(standard_headers::METHOD_HEADER, request.method);
        if let Some(name) = request.name() {
            add(standard_headers::NAME_HEADER, &standard_headers::header_value(name));
            if let Some(arguments) = request.arguments().filter(|_| self.is_stateless()) {
                for (header, value) in self.links.param_headers.of(name, arguments) {
                    add(&header, &value);
                }
            }
        }
        headers
    }

    /// A request of this program itself.
    pub(super) async fn own_request(
        &self,
        method: &str,
        params: Json,
    ) -> Result<Box<RawValue>, AttemptError> {
        let params = match params {
            Json::Object(params) => params,
            _ => Map::new(),
        };
        self.attempt(&OutgoingRequest::new(method, &params), None, &OWN_CALLER).await
    }

    /// Sends a notification and waits until it is sent.
    pub(super) async fn notify(&self, method: &str, params: &Json) -> Result<(), AttemptError> {
        let message = Message::notification(method, params).to_bytes();
        match self.wire() {
            ServerWire::Stdio(wire) => {
                wire.write(message, false).await.map_err(|_| AttemptError::Ended)
            }
            ServerWire::Http(wire) => wire.send(message).await.map_err(AttemptError::Http),
            ServerWire::Duplex(wire) => {
                Arc::clone(wire).send(message).await.map_err(AttemptError::Http)
            }
        }
    }

    /// Sends a notification without parameters, and does not wait for it.
    pub(super) fn notify_later(&self, method: &str) {
        self.wire().send_later(Message::notification(method, &json!({})).to_bytes());
    }
}

impl ServerWire {
    /// Sends a message without waiting for it.
    pub(super) fn send_later(&self, message: Vec<u8>) {
        match self {
            ServerWire::Stdio(wire) => wire.write_later(message),
            ServerWire::Http(wire) => wire.send_later(message),
            ServerWire::Duplex(wire) => duplex_wire::send_later(wire, message),
        }
    }
}

/// Goes on with an exchange for a moment after it was given up: if its answer is a new task, the
/// dispatcher cancels that.
///
/// Only for requests that create a task: over HTTP, closing the connection would also lose the id
/// of a task that the server may have begun.
fn finish_anyway(
    exchange: BoxFuture<'static, Result<(), HttpFailure>>,
) -> BoxFuture<'static, Result<(), HttpFailure>> {
    let given_up = CancellationToken::new();
    let guard = given_up.clone().drop_guard();
    let running = tokio::spawn(async move {
        let patience = async {
            given_up.cancelled().await;
            tokio::time::sleep(TIME_TO_CANCEL).await;
        };
        tokio::select! {
            ended = exchange => ended,
            () = patience => Ok(()),
        }
    });
    Box::pin(async move {
        let _guard = guard;
        running.await.unwrap_or(Err(HttpFailure::StreamEnded))
    })
}

/// A request that was registered. If it is dropped before its answer came, the server is notified
/// that the request is cancelled.
struct PendingRequest<'c> {
    connection: &'c UpstreamConnection,
    request: Arc<OpenRequest>,
    host: &'c dyn Host,
    /// The protocol forbids to cancel a handshake.
    is_initialize: bool,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        let PendingRequest { connection, request, host, is_initialize } = self;
        let is_open = connection.dispatcher.remove(request.id);
        // Answered, and nobody has read the answer.
        if request.creates_task
            && let Some(UpstreamAnswer::Result(created)) = request.take_answer()
            && let Some(task) = new_task_of(&created)
        {
            let params = raw_json(&json!({"taskId": task}));
            let id = RequestId::Number(connection.dispatcher.next_id());
            let message = Message::request(id, "tasks/cancel", Some(params));
            connection.wire().send_later(message.to_bytes());
        }
        // Over HTTP a stateless request is cancelled by closing its stream, which happens now.
        let is_closed_anyway =
            connection.is_stateless() && matches!(connection.wire(), ServerWire::Http(_));
        if is_open && !*is_initialize && !is_closed_anyway {
            let reason = host.cancel_reason();
            let reason = reason.as_deref().unwrap_or("the result is no longer wanted");
            let params = json!({"requestId": request.id, "reason": reason});
            let message = Message::notification("notifications/cancelled", &params);
            connection.wire().send_later(message.to_bytes());
        }
    }
}
