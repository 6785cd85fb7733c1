//! The fast path of `tools/call`, for clients that have completed the `initialize` handshake.
//!
//! ```text
//! rmcp:       reader ─▶ service loop ─▶ task of the call ─▶ service loop ─▶ writer
//! fast path:  reader ─▶ call ─▶ writer
//! ```
//!
//! Every arrow can wake another thread, and together they cost more than a short call. rmcp also
//! tries one message type after the other when it parses; [`FastCallRequest::parse`] tries one.
//!
//! The fast path is not taken before the handshake, for any other method, for malformed requests,
//! and for requests of revision 2026-07-28, which carry their own protocol version. Those all go to
//! rmcp, so this file has no error answers besides those of the call itself. Cancellation has to be
//! handled here too, because rmcp does not know these calls: see [`FastCalls::cancel_by`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ProgressNotification, ProgressToken, RequestId,
    RequestMetaObject, ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use toolwright_exec::{WorkSize, offload};

use crate::McpHandler;
use crate::handler::{ProgressForwarder, ProtocolEra, RequestedArguments, progress_params};

/// The calls of one client that are running on the fast path.
#[derive(Debug, Default)]
pub(crate) struct FastCalls(Mutex<FastCallTable>);

#[derive(Debug, Default)]
struct FastCallTable {
    /// By a number of our own: a client may use the same request id for two calls at once.
    running: HashMap<u64, (RequestId, CancellationToken)>,
    /// How many calls were started; the last number that was used.
    started: u64,
}

/// Where the messages about a call go: to standard output, or into the event log of an HTTP call.
pub(crate) trait MessageSender: Send + Sync + 'static {
    /// Sends a message. A message that cannot be sent is dropped: the client has left. A large one
    /// is written on another thread.
    fn send(
        &self,
        message: ServerJsonRpcMessage,
        size: WorkSize,
    ) -> impl Future<Output = ()> + Send;
}

/// A message as JSON text.
pub(crate) async fn message_text(message: ServerJsonRpcMessage, size: WorkSize) -> Vec<u8> {
    let text = offload(size, move || serde_json::to_vec(&message)).await;
    text.expect("a message has no map keys but strings")
}

/// A `tools/call` request that the fast path can handle.
pub(crate) struct FastCallRequest {
    id: RequestId,
    name: String,
    arguments: RequestedArguments,
    /// Present if the client requested progress notifications.
    progress: Option<ProgressToken>,
}

/// The JSON of a `tools/call` request. rmcp's own message type is an untagged enum: parsing it
/// takes four times as long, a quarter of the cost of a short call. It would also parse the
/// arguments, whose text has to be kept.
#[derive(serde::Deserialize)]
struct FastCallJson<'a> {
    jsonrpc: &'a str,
    id: RequestId,
    method: &'a str,
    #[serde(borrow)]
    params: FastCallParams<'a>,
}

#[derive(serde::Deserialize)]
struct FastCallParams<'a> {
    #[serde(rename = "_meta")]
    meta: Option<RequestMetaObject>,
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// The arguments in any `tools/call` request, for requests that rmcp parses.
#[derive(serde::Deserialize)]
struct ArgumentsJson<'a> {
    method: &'a str,
    #[serde(borrow)]
    params: ArgumentsParams<'a>,
}

#[derive(serde::Deserialize)]
struct ArgumentsParams<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl RequestedArguments {
    /// The arguments in a message. `None` if it is not a `tools/call` request.
    pub(crate) fn in_message(message: &[u8]) -> Option<RequestedArguments> {
        let ArgumentsJson { method, params } = serde_json::from_slice(message).ok()?;
        (method == "tools/call").then(|| RequestedArguments::new(params.arguments))
    }

    fn new(arguments: Option<&RawValue>) -> RequestedArguments {
        RequestedArguments(arguments.map_or("{}", RawValue::get).into())
    }
}

impl FastCallRequest {
    /// Parses a message. `None` if it is not a call that the fast path handles; rmcp then parses
    /// the message again and answers it.
    pub(crate) fn parse(text: &[u8]) -> Option<FastCallRequest> {
        let FastCallJson { jsonrpc, id, method, params } = serde_json::from_slice(text).ok()?;
        let FastCallParams { meta, name, arguments } = params;
        // rmcp reports arguments that are not an object.
        let is_object = arguments.is_none_or(|arguments| arguments.get().starts_with('{'));
        let meta = meta.unwrap_or_default();
        // A request of revision 2026-07-28 names its version in its metadata, also on a connection
        // whose client has completed a handshake.
        let is_stateless = meta.keys().any(|key| key.starts_with("io.modelcontextprotocol/"));
        let progress = meta.get_progress_token();
        let is_plain = jsonrpc == "2.0" && method == "tools/call" && !is_stateless && is_object;
        is_plain.then(|| FastCallRequest {
            id,
            name,
            arguments: RequestedArguments::new(arguments),
            progress,
        })
    }
}

impl FastCalls {
    fn table(&self) -> MutexGuard<'_, FastCallTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the call now and returns the future that runs it: it sends the progress and then
    /// the result to `sender`. It is registered at once so that a cancellation that arrives before
    /// the first poll finds it.
    pub(crate) fn run<S: MessageSender>(
        self: &Arc<Self>,
        handler: &McpHandler,
        request: FastCallRequest,
        sender: S,
    ) -> impl Future<Output = ()> + Send + use<S> {
        let FastCallRequest { id, name, arguments, progress } = request;
        let cancel = CancellationToken::new();
        let number = {
            let mut table = self.table();
            table.started += 1;
            let number = table.started;
            table.running.insert(number, (id.clone(), cancel.clone()));
            number
        };
        let (calls, handler) = (Arc::clone(self), handler.clone());
        // `McpHandler::call` counts the call as well, but only until it returns. At shutdown, the
        // program must also wait until the result is sent.
        let running = handler.track_call();
        async move {
            let (forwarder, mut updates) = ProgressForwarder::new(progress.is_some());
            // Concurrent with the call, so that a client that does not read cannot delay the tool.
            let forward = async {
                while let (Some(update), Some(token)) = (updates.recv().await, &progress) {
                    let notification = ProgressNotification::new(progress_params(token, update));
                    let notification = ServerNotification::ProgressNotification(notification);
                    let message = ServerJsonRpcMessage::notification(notification);
                    sender.send(message, WorkSize::Small).await;
                }
            };
            let era = ProtocolEra::Handshake;
            let call = handler.call(&name, arguments, cancel.clone(), era, forwarder);
            let ((result, size), ()) = tokio::join!(call, forward);
            calls.table().running.remove(&number);
            // By the specification, a cancelled request gets no response.
            if !cancel.is_cancelled() {
                sender.send(response(id, result), size).await;
            }
            drop(running);
        }
    }

    /// If the message is a cancellation of a call on this path, cancels the call and returns true.
    /// Other messages are for rmcp.
    pub(crate) fn cancel_by(&self, message: &ClientJsonRpcMessage) -> bool {
        let ClientJsonRpcMessage::Notification(message) = message else { return false };
        let ClientNotification::CancelledNotification(cancelled) = &message.notification else {
            return false;
        };
        let Some(id) = &cancelled.params.request_id else { return false };
        let mut table = self.table();
        let before = table.running.len();
        table.running.retain(|_, (own, cancel)| {
            let is_it = own == id;
            if is_it {
                cancel.cancel();
            }
            !is_it
        });
        table.running.len() < before
    }

    /// Cancels all calls, when their session ends.
    pub(crate) fn cancel_all(&self) {
        self.table().running.drain().for_each(|(_, (_, call))| call.cancel());
    }
}

/// The answer to a call as a message.
fn response(
    id: RequestId,
    result: Result<rmcp::model::CallToolResult, rmcp::ErrorData>,
) -> ServerJsonRpcMessage {
    match result {
        Ok(result) => {
            let mut result = ServerResult::CallToolResult(result);
            // `resultType` is a field of 2026-07-28, and older clients may reject it.
            result.strip_result_type_for_legacy_peer();
            ServerJsonRpcMessage::response(result, id)
        }
        Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
    }
}
