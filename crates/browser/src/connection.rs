//! The debugging protocol over its pipe: JSON messages that end with a NUL byte.
//!
//! A call is answered by its id, or fails when its page's renderer crashes, when its page is
//! closed, and when the browser ends; Chromium itself never answers in the first case. Deadlines
//! are those of the callers: a call is dropped. Events go to a handler, in order, on the task
//! that reads.
//!
//! ```text
//! call, post ─▶ outgoing (1,024 messages) ─▶ write_messages ─▶ pipe ─▶ Chromium
//! call ◀─ CommandTable, by id ◀─ read_messages ◀─ pipe ◀─┘
//!                                └─▶ EventHandler, in the same task
//! ```
//!
//! The handler runs between two messages, so what it posts is on its way before the next event is
//! read. It must not wait: a handler that waited for an answer would wait for itself.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};

use crate::Json;

/// A longer message is skipped. A screenshot of a large window has a few megabytes.
const MAX_MESSAGE_BYTES: usize = 32 * 1024 * 1024;

/// Messages that wait to be written. More are only there if the browser does not read.
const MOST_WAITING: usize = 1024;

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandError {
    /// The browser refused it.
    Protocol(String),
    /// The renderer of the page crashed, or the page was closed.
    PageEnded,
    /// The browser ended.
    BrowserEnded,
    /// The answer cannot be read, or is too long.
    Unreadable(String),
}

/// Receives the events.
///
/// Implemented once, by the browser that routes events to its pages.
pub(crate) trait EventHandler: Send + Sync + 'static {
    /// One event, of a page's session or of the browser itself. Must not block.
    fn on_event(&self, connection: &DebuggerConnection, event: &DebuggerEvent<'_>);
    /// The pipe has closed.
    fn on_end(&self);
}

/// An event of the browser or of a page.
pub(crate) struct DebuggerEvent<'a> {
    pub(crate) session: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) params: &'a Json,
}

/// The connection to a browser. Clones are the same connection.
#[derive(Clone)]
pub(crate) struct DebuggerConnection {
    outgoing: mpsc::Sender<Vec<u8>>,
    calls: Arc<CommandTable>,
}

/// Calls that wait for their answer. Ids are unique for the life of the connection, so a late
/// answer to a call that was given up finds nothing.
#[derive(Default)]
struct CommandTable {
    last_id: AtomicU64,
    open: Mutex<OpenCalls>,
}

#[derive(Default)]
struct OpenCalls {
    by_id: HashMap<u64, OpenCall>,
    /// Set under the same lock as `by_id` is emptied, so no call can enter afterwards and wait for
    /// ever.
    has_ended: bool,
}

/// `session` is the page's, for `fail_calls_of`.
struct OpenCall {
    session: Option<String>,
    reply: oneshot::Sender<Result<Json, CommandError>>,
}

impl CommandTable {
    fn lock(&self) -> MutexGuard<'_, OpenCalls> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails the open calls, and those to come. No call fails before the handler knows, so that a
    /// caller that retries at once sees that the browser has ended.
    fn end(&self, handler: &dyn EventHandler) {
        // Taken first: the handler fails what it finds as calls of pages that are gone.
        let mut failed = std::mem::take(&mut self.lock().by_id);
        handler.on_end();
        let mut open = self.lock();
        open.has_ended = true;
        failed.extend(open.by_id.drain());
        drop(open);
        for call in failed.into_values() {
            let _ = call.reply.send(Err(CommandError::BrowserEnded));
        }
    }
}

/// Removes a call that its caller has given up.
struct CallGuard<'a>(&'a CommandTable, u64);

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().by_id.remove(&self.1);
    }
}

impl DebuggerConnection {
    /// Speaks over these pipes until they close.
    pub(crate) fn open(
        input: impl AsyncWrite + Unpin + Send + 'static,
        output: impl AsyncRead + Unpin + Send + 'static,
        handler: Arc<dyn EventHandler>,
    ) -> DebuggerConnection {
        let (outgoing, waiting) = mpsc::channel(MOST_WAITING);
        let connection = DebuggerConnection { outgoing, calls: Arc::default() };
        let (writing, of_writer) = (Arc::clone(&connection.calls), Arc::clone(&handler));
        tokio::spawn(async move {
            // A browser that was killed reads no more, and may be noticed here first.
            if let Err(waiting) = write_messages(input, waiting).await {
                writing.end(&*of_writer);
                // Only now: calls fail as soon as the queue is gone.
                drop(waiting);
            }
        });
        let reading = connection.clone();
        tokio::spawn(async move {
            reading.read_messages(BufReader::with_capacity(64 * 1024, output), &*handler).await;
            reading.calls.end(&*handler);
        });
        connection
    }

    /// Calls a command of a page, or of the browser. Dropping the future gives the call up.
    ///
    /// A call that was given up may still have been sent, and be carried out.
    ///
    /// # Errors
    /// See `CommandError`. This function has no time limit; callers set theirs.
    pub(crate) async fn call(
        &self,
        session: Option<&str>,
        method: &str,
        params: Json,
    ) -> Result<Json, CommandError> {
        let id = self.calls.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (reply, answer) = oneshot::channel();
        {
            let mut open = self.calls.lock();
            if open.has_ended {
                return Err(CommandError::BrowserEnded);
            }
            open.by_id.insert(id, OpenCall { session: session.map(str::to_owned), reply });
        }
        let _guard = CallGuard(&self.calls, id);
        let message = message_bytes(id, session, method, params);
        self.outgoing.send(message).await.map_err(|_| CommandError::BrowserEnded)?;
        answer.await.unwrap_or(Err(CommandError::BrowserEnded))
    }

    /// Sends a command whose answer nobody needs. For handlers of events.
    ///
    /// Lost if `MOST_WAITING` messages wait already, or the browser has ended.
    pub(crate) fn post(&self, session: Option<&str>, method: &str, params: Json) {
        let id = self.calls.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let _ = self.outgoing.try_send(message_bytes(id, session, method, params));
    }

    /// Fails the calls of a page that will not answer any more.
    pub(crate) fn fail_calls_of(&self, session: &str) {
        let mut open = self.calls.lock();
        let ended: Vec<u64> = open
            .by_id
            .iter()
            .filter(|(_, call)| call.session.as_deref() == Some(session))
            .map(|(id, _)| *id)
            .collect();
        for call in ended.iter().filter_map(|id| open.by_id.remove(id)) {
            let _ = call.reply.send(Err(CommandError::PageEnded));
        }
    }

    /// A message that cannot be read fails its call, if its id can be found at the start; an event
    /// is skipped. The connection goes on.
    async fn read_messages(
        &self,
        mut output: impl AsyncBufRead + Unpin,
        handler: &dyn EventHandler,
    ) {
        let mut message = Vec::new();
        while let Some(is_whole) = next_message(&mut output, &mut message).await {
            let parsed = if is_whole {
                serde_json::from_slice(&message).map_err(|error| error.to_string())
            } else {
                Err(format!("the answer has more than {MAX_MESSAGE_BYTES} bytes"))
            };
            match parsed {
                Ok(message) => self.take_message(message, handler),
                Err(why) => {
                    if let Some(id) = id_at_start(&message) {
                        self.answer(id, Err(CommandError::Unreadable(why)));
                    }
                }
            }
            // One long message does not keep its memory for the rest of the connection.
            message.clear();
            message.shrink_to(256 * 1024);
        }
    }

    fn take_message(&self, mut message: Json, handler: &dyn EventHandler) {
        if let Some(id) = message.get("id").and_then(Json::as_u64) {
            let result = match message.get("error") {
                Some(error) => Err(CommandError::Protocol(
                    error.get("message").and_then(Json::as_str).unwrap_or("an error").to_owned(),
                )),
                None => Ok(message.get_mut("result").map(Json::take).unwrap_or_default()),
            };
            self.answer(id, result);
        } else if let Some(method) = message.get("method").and_then(Json::as_str) {
            let session = message.get("sessionId").and_then(Json::as_str);
            let params = message.get("params").unwrap_or(&Json::Null);
            handler.on_event(self, &DebuggerEvent { session, method, params });
        }
    }

    fn answer(&self, id: u64, result: Result<Json, CommandError>) {
        let call = self.calls.lock().by_id.remove(&id);
        if let Some(call) = call {
            let _ = call.reply.send(result);
        }
    }
}

fn message_bytes(id: u64, session: Option<&str>, method: &str, params: Json) -> Vec<u8> {
    let mut message = json!({ "id": id, "method": method, "params": params });
    if let Some(session) = session {
        message["sessionId"] = session.into();
    }
    let mut bytes = message.to_string().into_bytes();
    bytes.push(0);
    bytes
}

/// Writes until the connection is dropped. If the other side of the pipe is closed before, returns
/// the queue.
async fn write_messages(
    mut input: impl AsyncWrite + Unpin,
    mut waiting: mpsc::Receiver<Vec<u8>>,
) -> Result<(), mpsc::Receiver<Vec<u8>>> {
    while let Some(message) = waiting.recv().await {
        if input.write_all(&message).await.is_err() {
            return Err(waiting);
        }
    }
    Ok(())
}

/// Reads a message without its NUL byte; `None` at the end. Returns whether it is whole: of one
/// that is too long only the start is kept.
async fn next_message(
    output: &mut (impl AsyncBufRead + Unpin),
    message: &mut Vec<u8>,
) -> Option<bool> {
    let mut is_whole = true;
    loop {
        let chunk = output.fill_buf().await.ok().filter(|chunk| !chunk.is_empty())?;
        let end = chunk.iter().position(|byte| *byte == 0);
        let part = &chunk[..end.unwrap_or(chunk.len())];
        if message.len() + part.len() > MAX_MESSAGE_BYTES {
            is_whole = false;
        } else if is_whole {
            message.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        output.consume(used);
        if end.is_some() {
            return Some(is_whole);
        }
    }
}

/// The id of a message that cannot be read as a whole. Chromium writes it first.
fn id_at_start(message: &[u8]) -> Option<u64> {
    let digits = message.strip_prefix(br#"{"id":"#)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[tokio::test]
    async fn long_messages_are_skipped_and_keep_their_id() {
        let mut bytes = br#"{"id":7,"result":""#.to_vec();
        bytes.resize(MAX_MESSAGE_BYTES + 100, b'x');
        bytes.extend_from_slice(b"\0{\"id\":8}\0rest");
        let mut input = BufReader::new(bytes.as_slice());
        let mut message = Vec::new();
        assert_eq!(next_message(&mut input, &mut message).await, Some(false));
        assert_eq!(id_at_start(&message), Some(7));
        message.clear();
        assert_eq!(next_message(&mut input, &mut message).await, Some(true));
        assert_eq!(message, br#"{"id":8}"#);
        message.clear();
        assert_eq!(next_message(&mut input, &mut message).await, None);
    }

    /// Records the end of the connection, but only some time after `on_end` was called.
    #[derive(Default)]
    struct SlowHandler(AtomicBool);

    impl EventHandler for SlowHandler {
        fn on_event(&self, _: &DebuggerConnection, _: &DebuggerEvent<'_>) {}

        fn on_end(&self) {
            std::thread::sleep(std::time::Duration::from_millis(50));
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn no_call_fails_before_the_end_is_known() {
        // The two pipes of a browser that is killed close one after the other.
        for is_read in [true, false] {
            let handler = Arc::<SlowHandler>::default();
            let (input, read_end) = tokio::io::duplex(64);
            let (write_end, output) = tokio::io::duplex(64);
            let known: Arc<dyn EventHandler> = Arc::<SlowHandler>::clone(&handler);
            let connection = DebuggerConnection::open(input, output, known);
            let kept: Box<dyn Send> = match is_read {
                true => {
                    drop(write_end);
                    Box::new(read_end)
                }
                false => {
                    drop(read_end);
                    Box::new(write_end)
                }
            };
            let calls = (0..20).map(|_| async {
                let answer = connection.call(Some("page"), "Page.enable", json!({})).await;
                assert!(handler.0.load(Ordering::SeqCst), "{is_read}: {answer:?}");
                answer
            });
            for answer in futures::future::join_all(calls).await {
                assert_eq!(answer, Err(CommandError::BrowserEnded), "{is_read}");
            }
            drop(kept);
        }
    }

    #[test]
    fn the_id_is_found_at_the_start_only() {
        assert_eq!(id_at_start(br#"{"id":12,"result":"\ud800"}"#), Some(12));
        assert_eq!(id_at_start(br#"{"method":"x","id":12}"#), None);
        assert_eq!(id_at_start(br#"{"id":12"#), None);
    }
}
