//! What every connection does, whichever way it goes: notices of progress are taken out in the order
//! they come (rmcp would hand each to a task of its own), and a server that only talks is cut off.

use std::sync::{Arc, OnceLock};

use rmcp::RoleClient;
use rmcp::model::{ServerJsonRpcMessage, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::progress::ProgressBook;

/// Messages between two answers. A server that sends more than this is not talking to us.
const UNASKED: u32 = 100_000;

pub(super) struct Tap<T> {
    inner: T,
    progress: Arc<ProgressBook>,
    cut_off: CutOff,
    unasked: u32,
}

/// Why we ended the connection, if it was us.
pub(super) type CutOff = Arc<OnceLock<String>>;

impl<T> Tap<T> {
    pub(super) fn new(inner: T, progress: Arc<ProgressBook>, cut_off: CutOff) -> Tap<T> {
        Tap { inner, progress, cut_off, unasked: 0 }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            match message {
                ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_) => {
                    self.unasked = 0;
                    return Some(message);
                }
                ServerJsonRpcMessage::Notification(notification) => {
                    self.unasked += 1;
                    if self.unasked > UNASKED {
                        let why = format!("it sent {UNASKED} messages that nobody asked for and was cut off");
                        let _ = self.cut_off.set(why);
                        return None;
                    }
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
                ServerJsonRpcMessage::Request(_) => return Some(message),
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}
