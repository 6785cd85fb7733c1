//! A layer between rmcp's service and any transport. It looks at every message that a server sends
//! before rmcp does:
//!
//! ```text
//! transport ─▶ IncomingFilter ─┬─ answer to a direct call ─▶ DirectCalls
//!                              ├─ progress ────────────────▶ ProgressRouter
//!                              ├─ logs, other lists ───────▶ dropped
//!                              └─ everything else ─────────▶ rmcp's service
//! ```
//!
//! Progress is taken out here because rmcp starts a task per notification, and tasks overtake each
//! other: progress would go backwards and arrive after the result. The filter also disconnects a
//! server that sends messages without end that we did not request.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, CustomResult, GetExtensions, GetMeta, RequestId, ServerJsonRpcMessage,
    ServerNotification, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::direct_calls::{DirectAnswer, DirectCalls, is_direct_id};
use super::progress_router::ProgressRouter;

/// How many messages a server may send between two answers: notifications, its own requests, and
/// answers to requests that we did not make. Without a limit, such a server would keep one of our
/// threads busy for ever.
const MAX_UNREQUESTED: u32 = 20_000;

/// The layer; see the file header.
pub(super) struct IncomingFilter<T> {
    /// The transport below.
    inner: T,
    progress: Arc<ProgressRouter>,
    direct_calls: Arc<DirectCalls>,
    disconnect_reason: DisconnectReason,
    /// Requests sent through rmcp that have no answer yet.
    unanswered: HashSet<RequestId>,
    /// Messages since the last answer, see [`MAX_UNREQUESTED`].
    unrequested: u32,
}

/// Marks a request whose caller does not show progress, see `IncomingFilter::send`.
#[derive(Clone)]
pub(super) struct WithoutProgress;

/// Why we ended the connection. Empty if the server or the network did.
pub(super) type DisconnectReason = Arc<OnceLock<String>>;

impl<T> IncomingFilter<T> {
    /// Puts the filter around a transport.
    pub(super) fn new(
        inner: T,
        progress: Arc<ProgressRouter>,
        direct_calls: Arc<DirectCalls>,
        disconnect_reason: DisconnectReason,
    ) -> IncomingFilter<T> {
        let unanswered = HashSet::new();
        IncomingFilter {
            inner,
            progress,
            direct_calls,
            disconnect_reason,
            unanswered,
            unrequested: 0,
        }
    }

    /// Counts a message that we did not request. `None` when it was one too many, which ends the
    /// connection.
    fn count_unrequested(&mut self) -> Option<()> {
        self.unrequested += 1;
        if self.unrequested > MAX_UNREQUESTED {
            let why = format!(
                "it sent {MAX_UNREQUESTED} messages that were not requested and was disconnected"
            );
            let _ = self.disconnect_reason.set(why);
            self.direct_calls.end();
            return None;
        }
        Some(())
    }
}

/// The id of a message that answers a direct call.
fn direct_id(message: &ServerJsonRpcMessage) -> Option<i64> {
    match answered_id(message)? {
        RequestId::Number(id) if is_direct_id(*id) => Some(*id),
        _ => None,
    }
}

/// The id of the request that a message answers, with a result or with an error.
fn answered_id(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// The content of an answer to a direct call.
fn direct_answer(message: ServerJsonRpcMessage) -> DirectAnswer {
    match message {
        ServerJsonRpcMessage::Error(error) => Err(error.error),
        ServerJsonRpcMessage::Response(response) => Ok(match response.result {
            ServerResult::CustomResult(CustomResult(result)) => result,
            // A tool's result that looks like a handshake's was parsed by rmcp's types.
            other => serde_json::to_value(other).unwrap_or_default(),
        }),
        // `direct_id` has excluded requests and notifications.
        _ => Ok(crate::Json::Null),
    }
}

impl<T> Drop for IncomingFilter<T> {
    fn drop(&mut self) {
        // rmcp drops the transport when its service ends. Direct calls would wait for ever.
        self.direct_calls.end();
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for IncomingFilter<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        mut item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let ClientJsonRpcMessage::Request(request) = &mut item {
            // Remembered so that `receive` can tell answers from messages that were not requested.
            self.unanswered.insert(request.id.clone());
            // rmcp puts a progress token into every request. Without one the server need not send
            // notifications that would be thrown away here.
            if request.request.extensions().get::<WithoutProgress>().is_some() {
                request.request.get_meta_mut().remove("progressToken");
            }
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let Some(message) = self.inner.receive().await else {
                self.direct_calls.end();
                return None;
            };
            if let Some(id) = direct_id(&message) {
                if self.direct_calls.resolve(id, direct_answer(message)) {
                    self.unrequested = 0;
                } else {
                    // An answer that came after its call was cancelled, or one too many.
                    self.count_unrequested()?;
                }
                continue;
            }
            if answered_id(&message).is_some_and(|id| self.unanswered.remove(id)) {
                self.unrequested = 0;
                return Some(message);
            }
            self.count_unrequested()?;
            let ServerJsonRpcMessage::Notification(notification) = message else {
                return Some(message);
            };
            match notification.notification {
                ServerNotification::ProgressNotification(progress) => {
                    self.progress.route(progress.params)
                }
                // rmcp or our handler acts on these.
                ServerNotification::ToolListChangedNotification(_)
                | ServerNotification::SubscriptionsAcknowledgedNotification(_)
                | ServerNotification::CancelledNotification(_) => {
                    return Some(ServerJsonRpcMessage::Notification(notification));
                }
                // Log messages, and changes of prompts and resources, which we do not use.
                _ => {}
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}
