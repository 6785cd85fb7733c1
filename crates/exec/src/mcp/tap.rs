//! What every connection does, whichever way it goes: notices of progress are taken out in the
//! order they come (rmcp would hand each to a task of its own), and a server that only talks is cut
//! off.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, CustomResult, GetExtensions, GetMeta, RequestId, ServerJsonRpcMessage,
    ServerNotification, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::direct::{Answer, Waiting, is_direct};
use super::progress::ProgressBook;

/// Messages between two answers. A server that sends more than this is not talking to us.
const UNASKED: u32 = 20_000;

pub(super) struct Tap<T> {
    inner: T,
    progress: Arc<ProgressBook>,
    waiting: Arc<Waiting>,
    cut_off: CutOff,
    /// Requests of ours that have no answer yet.
    pending: HashSet<RequestId>,
    unasked: u32,
}

/// Marks a request whose progress nobody wants to hear of.
#[derive(Clone)]
pub(super) struct Unheard;

/// Why we ended the connection, if it was us.
pub(super) type CutOff = Arc<OnceLock<String>>;

impl<T> Tap<T> {
    pub(super) fn new(
        inner: T,
        progress: Arc<ProgressBook>,
        waiting: Arc<Waiting>,
        cut_off: CutOff,
    ) -> Tap<T> {
        Tap { inner, progress, waiting, cut_off, pending: HashSet::new(), unasked: 0 }
    }
}

impl<T> Tap<T> {
    /// Counts a message that nobody asked for. `None` when it was one too many.
    fn count_unasked(&mut self) -> Option<()> {
        self.unasked += 1;
        if self.unasked > UNASKED {
            let why = format!("it sent {UNASKED} messages that nobody asked for and was cut off");
            let _ = self.cut_off.set(why);
            self.waiting.end();
            return None;
        }
        Some(())
    }
}

/// The id of a message that answers a call made past rmcp.
fn direct_id(message: &ServerJsonRpcMessage) -> Option<i64> {
    let id = match message {
        ServerJsonRpcMessage::Response(response) => &response.id,
        ServerJsonRpcMessage::Error(error) => error.id.as_ref()?,
        _ => return None,
    };
    match id {
        RequestId::Number(id) if is_direct(*id) => Some(*id),
        _ => None,
    }
}

/// What an answer says.
fn answer_of(message: ServerJsonRpcMessage) -> Answer {
    match message {
        ServerJsonRpcMessage::Error(error) => Err(error.error),
        ServerJsonRpcMessage::Response(response) => Ok(match response.result {
            ServerResult::CustomResult(CustomResult(result)) => result,
            other => serde_json::to_value(other).unwrap_or_default(),
        }),
        _ => Ok(crate::Json::Null),
    }
}

impl<T> Drop for Tap<T> {
    fn drop(&mut self) {
        self.waiting.end();
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        mut item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let ClientJsonRpcMessage::Request(request) = &mut item {
            self.pending.insert(request.id.clone());
            // rmcp asks for progress with every request; a server need not tell who does not
            // listen.
            if request.request.extensions().get::<Unheard>().is_some() {
                request.request.get_meta_mut().remove("progressToken");
            }
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let Some(message) = self.inner.receive().await else {
                self.waiting.end();
                return None;
            };
            if let Some(id) = direct_id(&message) {
                if self.waiting.answer(id, answer_of(message)) {
                    self.unasked = 0;
                } else {
                    self.count_unasked()?;
                }
                continue;
            }
            let answers = match &message {
                ServerJsonRpcMessage::Response(response) => Some(&response.id),
                ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
                _ => None,
            };
            if answers.is_some_and(|id| self.pending.remove(id)) {
                self.unasked = 0;
                return Some(message);
            }
            self.count_unasked()?;
            let ServerJsonRpcMessage::Notification(notification) = message else {
                return Some(message);
            };
            match notification.notification {
                ServerNotification::ProgressNotification(progress) => {
                    self.progress.note(progress.params)
                }
                ServerNotification::ToolListChangedNotification(_)
                | ServerNotification::SubscriptionsAcknowledgedNotification(_)
                | ServerNotification::CancelledNotification(_) => {
                    return Some(ServerJsonRpcMessage::Notification(notification));
                }
                // Logs and lists of other things: nobody here listens to them.
                _ => {}
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}
