//! `tools/call` of a client that has shaken hands, answered past rmcp's service. That one hands a
//! request from the reader to a loop, to a task, back to the loop and to the writer, and every
//! hand-over may wake a thread: more than the call itself costs. Everything else goes through it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientNotification, ProgressToken, RequestId,
    ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use tokio_util::sync::CancellationToken;

use crate::Agent;
use crate::agent::{Listener, notice};

/// The calls of one client that are under way.
#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<UnderWay>);

#[derive(Debug, Default)]
struct UnderWay {
    /// By a number of ours: a client may use an id twice.
    calls: HashMap<u64, (RequestId, CancellationToken)>,
    begun: u64,
}

/// Where messages about a call go.
pub(crate) trait Sink: Send + Sync + 'static {
    /// Sends one; what cannot be sent is for nobody.
    fn send(&self, message: ServerJsonRpcMessage) -> impl Future<Output = ()> + Send;
}

/// A call to be made.
pub(crate) struct Asked {
    id: RequestId,
    params: CallToolRequestParams,
    progress: Option<ProgressToken>,
}

/// A request for a call, without the many kinds of messages that rmcp tries one after the other:
/// that takes four times as long, a quarter of what a call costs here.
#[derive(serde::Deserialize)]
struct Plain<'a> {
    jsonrpc: &'a str,
    id: RequestId,
    method: &'a str,
    params: CallToolRequestParams,
}

impl Asked {
    /// The call that a message asks for, if it is a plain one: any other message is rmcp's. So is
    /// one that says itself which revision it is of: that is the new way, without a handshake.
    pub(crate) fn read(text: &[u8]) -> Option<Asked> {
        let Plain { jsonrpc, id, method, mut params } = serde_json::from_slice(text).ok()?;
        let meta = params.meta.take().unwrap_or_default();
        let alone = meta.keys().any(|key| key.starts_with("io.modelcontextprotocol/"));
        let progress = meta.get_progress_token();
        (jsonrpc == "2.0" && method == "tools/call" && !alone).then_some(Asked {
            id,
            params,
            progress,
        })
    }
}

impl Calls {
    fn all(&self) -> MutexGuard<'_, UnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the call, and tells `sink` of its progress and then its result.
    pub(crate) fn make<S: Sink>(
        self: &Arc<Self>,
        agent: &Agent,
        asked: Asked,
        sink: S,
    ) -> impl Future<Output = ()> + Send + use<S> {
        let Asked { id, params, progress } = asked;
        let cancel = CancellationToken::new();
        let number = {
            let mut all = self.all();
            all.begun += 1;
            let number = all.begun;
            all.calls.insert(number, (id.clone(), cancel.clone()));
            number
        };
        let (calls, agent) = (Arc::clone(self), agent.clone());
        // Until its answer is on the way: whoever waits for the calls waits for that too.
        let active = agent.active();
        async move {
            let (listener, mut notices) = Listener::new(progress.is_some());
            // Side by side, so that an agent who does not read cannot hold up the work.
            let pass_on = async {
                while let (Some(heard), Some(token)) = (notices.recv().await, &progress) {
                    let told = rmcp::model::ProgressNotification::new(notice(token, heard));
                    let told = ServerNotification::ProgressNotification(told);
                    sink.send(ServerJsonRpcMessage::notification(told)).await;
                }
            };
            let (result, ()) =
                tokio::join!(agent.call(params, cancel.clone(), true, listener), pass_on);
            calls.all().calls.remove(&number);
            // Who has cancelled a call waits for no answer.
            if !cancel.is_cancelled() {
                sink.send(match result {
                    Ok(result) => {
                        let mut result = ServerResult::CallToolResult(result);
                        result.strip_result_type_for_legacy_peer();
                        ServerJsonRpcMessage::response(result, id)
                    }
                    Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
                })
                .await;
            }
            drop(active);
        }
    }

    /// Cancels the call that a message says is no longer wanted. False if it is about nothing here.
    pub(crate) fn cancelled_by(&self, message: &ClientJsonRpcMessage) -> bool {
        let ClientJsonRpcMessage::Notification(message) = message else { return false };
        let ClientNotification::CancelledNotification(cancelled) = &message.notification else {
            return false;
        };
        let Some(id) = &cancelled.params.request_id else { return false };
        let mut all = self.all();
        let before = all.calls.len();
        all.calls.retain(|_, (own, cancel)| {
            let is_it = own == id;
            if is_it {
                cancel.cancel();
            }
            !is_it
        });
        all.calls.len() < before
    }

    /// Cancels all of them.
    pub(crate) fn cancel_all(&self) {
        self.all().calls.drain().for_each(|(_, (_, call))| call.cancel());
    }
}
