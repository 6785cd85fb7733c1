//! Calls over a server's standard streams, past rmcp's service, which hands every request to a loop
//! and every answer from the loop to its caller: two threads woken for nothing. The answers are
//! taken out by [`Tap`](super::tap::Tap).

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use rmcp::model::ErrorData;
use serde_json::json;
use tokio::sync::oneshot;

use super::stdio::Input;
use crate::Json;

/// Ids from here on are ours; rmcp counts from zero, and asks for little but lists.
const FIRST: i64 = 1_000_000_000;

/// Whether a request with this id was sent past rmcp.
pub(super) fn is_direct(id: i64) -> bool {
    id >= FIRST
}

/// What a server answers.
pub(super) type Answer = Result<Json, ErrorData>;

/// The calls that wait for their answers.
#[derive(Default)]
pub(super) struct Waiting(Mutex<Book>);

#[derive(Default)]
struct Book {
    calls: HashMap<i64, oneshot::Sender<Answer>>,
    sent: i64,
    /// No answer will come any more.
    over: bool,
}

impl Waiting {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an answer to the call that waits for it. False if none does.
    pub(super) fn answer(&self, id: i64, answer: Answer) -> bool {
        // A caller who left in this moment needs no answer.
        self.book().calls.remove(&id).map(|call| call.send(answer)).is_some()
    }

    /// Lets all of them know that no answer will come.
    pub(super) fn end(&self) {
        let mut book = self.book();
        book.over = true;
        book.calls.clear();
    }
}

/// The way to a server that we started.
pub(super) struct Direct {
    pub(super) to: Input,
    pub(super) waiting: Arc<Waiting>,
}

/// A call that is under way. Dropped before its answer came, it is cancelled at the server.
pub(super) struct Sent<'a> {
    direct: &'a Direct,
    pub(super) id: i64,
    pub(super) answer: oneshot::Receiver<Answer>,
}

impl Direct {
    /// Takes the next id, before anything is sent.
    pub(super) fn prepare(&self) -> Option<Sent<'_>> {
        let (sender, answer) = oneshot::channel();
        let mut book = self.waiting.book();
        if book.over {
            return None;
        }
        let id = FIRST + book.sent;
        book.sent += 1;
        book.calls.insert(id, sender);
        Some(Sent { direct: self, id, answer })
    }
}

impl Sent<'_> {
    /// Sends the call.
    pub(super) async fn send(
        &self,
        tool: &str,
        arguments: &Json,
        progress: bool,
    ) -> io::Result<()> {
        let mut params = json!({"name": tool, "arguments": arguments});
        if progress {
            params["_meta"] = json!({"progressToken": self.id});
        }
        self.direct
            .write(
                json!({"jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": params}),
            )
            .await
    }
}

impl Direct {
    /// Writes a message, to its end even if the caller goes away in the middle: the next one starts
    /// a new line.
    async fn write(&self, message: Json) -> io::Result<()> {
        let mut writing: Pin<Box<_>> =
            Box::pin(self.to.clone().write(message.to_string().into_bytes()));
        let at_once =
            std::future::poll_fn(|context| Poll::Ready(writing.as_mut().poll(context))).await;
        match at_once {
            Poll::Ready(written) => written,
            Poll::Pending => {
                tokio::spawn(writing).await.unwrap_or_else(|error| Err(io::Error::other(error)))
            }
        }
    }
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        let unanswered = self.direct.waiting.book().calls.remove(&self.id).is_some();
        if let (true, Ok(runtime)) = (unanswered, tokio::runtime::Handle::try_current()) {
            let params = json!({"requestId": self.id, "reason": "the result is no longer wanted"});
            let message =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            runtime.spawn(self.direct.to.clone().write(message.to_string().into_bytes()));
        }
    }
}
