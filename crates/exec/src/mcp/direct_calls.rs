//! The fast path of calls to a server on standard streams: `tools/call` is written to the server's
//! input directly and its answer is taken out of the stream before rmcp sees it.
//!
//! ```text
//! via rmcp:  caller ─▶ service loop ─▶ writer        reader ─▶ service loop ─▶ caller
//! direct:    caller ─────────────────▶ writer        reader ─────────────────▶ caller
//! ```
//!
//! Each hand-over between tasks can wake another thread, and two of them cost more than a short
//! call. The direct path is not taken over HTTP, where the network dominates, nor with servers of
//! revision 2026-07-28, whose requests each carry protocol metadata that rmcp fills in.
//!
//! Ids keep the two kinds of requests apart on the shared stream: see [`FIRST_ID`].

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use rmcp::model::ErrorData;
use serde_json::json;
use tokio::sync::oneshot;

use super::stdio_transport::UpstreamStdin;
use crate::{CallArguments, Json};

/// The first id of a direct call. rmcp counts from zero and uses its ids for handshakes and lists
/// only, so it never gets here.
const FIRST_ID: i64 = 1_000_000_000;

/// Whether a request with this id is a direct call.
pub(super) fn is_direct_id(id: i64) -> bool {
    id >= FIRST_ID
}

/// A server's answer to a call: its result as it was sent, or its JSON-RPC error.
pub(super) type DirectAnswer = Result<Json, ErrorData>;

/// The direct calls of one connection that wait for their answers.
#[derive(Default)]
pub(super) struct DirectCalls(Mutex<DirectCallTable>);

#[derive(Default)]
struct DirectCallTable {
    waiting: HashMap<i64, oneshot::Sender<DirectAnswer>>,
    /// How many calls were started; the next id follows from it.
    started: i64,
    /// Set when the connection has ended, so that no call is added after `end` has emptied
    /// `waiting`: it would wait for ever.
    ended: bool,
}

impl DirectCalls {
    fn table(&self) -> MutexGuard<'_, DirectCallTable> {
        // Nothing in this file panics while it holds the lock, so a poisoned one is still valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands an answer to the call with this id. Returns false if there is none.
    pub(super) fn resolve(&self, id: i64, answer: DirectAnswer) -> bool {
        // The send fails if the caller left at this moment; the answer is then not needed.
        self.table().waiting.remove(&id).map(|call| call.send(answer)).is_some()
    }

    /// Fails all waiting calls, and later ones, because the connection has ended.
    pub(super) fn end(&self) {
        let mut table = self.table();
        table.ended = true;
        // Dropping the senders wakes the callers with an error.
        table.waiting.clear();
    }
}

/// The direct path to one server.
pub(super) struct DirectChannel {
    /// The stream that requests are written to.
    pub(super) to: UpstreamStdin,
    /// The calls, shared with the `IncomingFilter` that resolves them.
    pub(super) calls: Arc<DirectCalls>,
}

/// A call that was registered. If it is dropped before its answer came, the server is notified that
/// the call is cancelled.
pub(super) struct DirectCall<'a> {
    channel: &'a DirectChannel,
    pub(super) id: i64,
    pub(super) answer: oneshot::Receiver<DirectAnswer>,
}

impl DirectChannel {
    /// Registers a call before anything is sent, so that its answer cannot come too early. `None`
    /// if the connection has ended.
    pub(super) fn register(&self) -> Option<DirectCall<'_>> {
        let (sender, answer) = oneshot::channel();
        let mut table = self.calls.table();
        if table.ended {
            return None;
        }
        let id = FIRST_ID + table.started;
        table.started += 1;
        table.waiting.insert(id, sender);
        Some(DirectCall { channel: self, id, answer })
    }

    /// Writes a message to its end even if the caller is dropped in the middle: half a line would
    /// corrupt the message after it.
    ///
    /// Nearly always the pipe has room and the first poll finishes. Only otherwise the write is
    /// moved to a task of its own, which would cost a hand-over each time.
    async fn write(&self, message: Vec<u8>) -> io::Result<()> {
        let mut writing: Pin<Box<_>> = Box::pin(self.to.clone().write(message));
        let first_poll =
            std::future::poll_fn(|context| Poll::Ready(writing.as_mut().poll(context))).await;
        match first_poll {
            Poll::Ready(written) => written,
            Poll::Pending => {
                tokio::spawn(writing).await.unwrap_or_else(|error| Err(io::Error::other(error)))
            }
        }
    }
}

impl DirectCall<'_> {
    /// Sends the request. With `progress`, the server may send notifications, whose token is the id
    /// of the call.
    pub(super) async fn send(
        &self,
        tool: &str,
        arguments: &CallArguments,
        progress: bool,
    ) -> io::Result<()> {
        let id = self.id;
        let token =
            if progress { format!(r#","_meta":{{"progressToken":{id}}}"#) } else { String::new() };
        // Put together as text, so that the arguments stay as they are.
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{},"arguments":{}{token}}}}}"#,
            Json::from(tool),
            arguments.to_text(),
        );
        self.channel.write(message.into_bytes()).await
    }
}

impl Drop for DirectCall<'_> {
    fn drop(&mut self) {
        let unanswered = self.channel.calls.table().waiting.remove(&self.id).is_some();
        // Outside of a runtime the program is ending, and the server's process with it.
        if let (true, Ok(runtime)) = (unanswered, tokio::runtime::Handle::try_current()) {
            let params = json!({"requestId": self.id, "reason": "the result is no longer wanted"});
            let message =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            runtime.spawn(self.channel.to.clone().write(message.to_string().into_bytes()));
        }
    }
}
