//! The standard streams of a server that we started: one JSON-RPC message per line in each
//! direction.
//!
//! ```text
//! caller ─ write ─▶ stdin of the server        stdout of the server ─ read_messages ─▶ Dispatcher
//! ```
//!
//! A caller writes its request itself instead of handing it to a task: each hand-over can wake
//! another thread, and two of them cost more than a short call. Only where several calls are open a
//! task writes the messages of all that are ready, and the callers wait for their answers
//! meanwhile.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;
use toolwright_mcp::{LineQueue, MalformedMessage, MessageLine, MessageLines};

use super::dispatcher::{Dispatcher, NextStep};
use crate::offload::{WorkSize, run_blocking};

/// How many lines in a row may fail to parse. Some servers log to standard output, which the
/// protocol forbids; a program that prints more than this is not an MCP server.
pub(super) const MAX_NOISE: u32 = 100_000;
/// How long reading pauses during a flood of log messages.
pub(super) const FLOOD_PAUSE: Duration = Duration::from_millis(10);

/// The server's standard input.
#[derive(Clone)]
pub(super) struct StdioWire(Arc<WireState>);

/// Shared by callers and by tasks that write for several of them.
struct WireState {
    queue: LineQueue<Vec<u8>>,
    /// `None` once it is closed, or a write has failed.
    to: Mutex<Option<ChildStdin>>,
    /// Whether a task is about to take all messages of the queue.
    is_scheduled: AtomicBool,
    /// Whether `to` is `None`.
    is_closed: AtomicBool,
}

impl StdioWire {
    pub(super) fn new(to: ChildStdin) -> StdioWire {
        StdioWire(Arc::new(WireState {
            queue: LineQueue::default(),
            to: Mutex::new(Some(to)),
            is_scheduled: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
        }))
    }

    /// Writes a message to its end even if the caller is dropped in the middle: half a line would
    /// corrupt the message after it. If the server `is_busy`, it is written later, together with
    /// those of other callers.
    ///
    /// Nearly always the pipe has room and the first poll finishes. Only otherwise the write is
    /// moved to a task of its own.
    pub(super) async fn write(&self, message: Vec<u8>, is_busy: bool) -> io::Result<()> {
        if is_busy {
            // If the write fails later, the connection ends, and with it the request.
            self.write_later(message);
            return match self.0.is_closed.load(Ordering::Acquire) {
                true => Err(io::ErrorKind::NotConnected.into()),
                false => Ok(()),
            };
        }
        self.0.queue.push(message);
        let mut writing: Pin<Box<_>> = Box::pin(self.clone().write_queued());
        let first_poll =
            std::future::poll_fn(|context| Poll::Ready(writing.as_mut().poll(context))).await;
        match first_poll {
            Poll::Ready(written) => written,
            Poll::Pending => {
                tokio::spawn(writing).await.unwrap_or_else(|error| Err(io::Error::other(error)))
            }
        }
    }

    /// Writes a message without waiting for it. Outside of a runtime the program is ending, and the
    /// server's process with it.
    pub(super) fn write_later(&self, message: Vec<u8>) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        self.0.queue.push(message);
        if self.0.is_scheduled.swap(true, Ordering::AcqRel) {
            return;
        }
        let own = self.clone();
        runtime.spawn(async move {
            // Others that are ready go first, with their messages.
            tokio::task::yield_now().await;
            own.write_queued().await
        });
    }

    /// Writes all messages of the queue. Not safe to cancel.
    async fn write_queued(self) -> io::Result<()> {
        let mut to = self.0.to.lock().await;
        // Before the queue is emptied: a message that is too late for this gets another task.
        self.0.is_scheduled.store(false, Ordering::Release);
        let Some(stream) = to.as_mut() else {
            self.0.queue.clear();
            return Err(io::ErrorKind::NotConnected.into());
        };
        while let Some(lines) = self.0.queue.take_lines() {
            // Tasks whose messages were among these find the stream closed.
            if let Err(error) = stream.write_all(&lines).await {
                *to = None;
                self.0.is_closed.store(true, Ordering::Release);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Closes the server's input, which asks it to end.
    pub(super) fn close(&self) {
        // A server that does not read holds the lock in a blocked write. Waiting for it would delay
        // the end; the write fails when the process is killed.
        if let Ok(mut to) = self.0.to.try_lock() {
            to.take();
            self.0.is_closed.store(true, Ordering::Release);
        }
    }
}

/// Reads messages until the stream ends or the server is disconnected, with the reason for that.
///
/// Runs in a task of its own, from the first message of the handshake on. Long messages are parsed
/// on another thread, so one server does not hold up others.
pub(super) async fn read_messages(
    from: ChildStdout,
    wire: StdioWire,
    dispatcher: Arc<Dispatcher>,
) -> Option<String> {
    let mut lines = MessageLines::new(from);
    // Lines that are not messages since the last message.
    let mut noise = 0;
    while noise <= MAX_NOISE {
        let step = match lines.next().await? {
            // Without an id there is no request to fail.
            MessageLine::TooLong(id) => dispatcher.receive_too_large(id),
            MessageLine::Complete(line) => {
                let message = match WorkSize::of_bytes(line.len()) {
                    WorkSize::Small => dispatcher.redactor().parse(line),
                    WorkSize::Large => {
                        let (line, redactor) = (line.to_vec(), Arc::clone(dispatcher.redactor()));
                        run_blocking(move || redactor.parse(&line)).await
                    }
                };
                match message {
                    Ok(message) => {
                        noise = 0;
                        dispatcher.receive(message, None)
                    }
                    Err(MalformedMessage::TooManyValues(id)) => dispatcher.receive_too_large(id),
                    Err(_) => {
                        dispatcher.log_invalid_line(line);
                        noise += 1;
                        continue;
                    }
                }
            }
        };
        match step {
            NextStep::Continue => {}
            NextStep::Reply(reply) => wire.write_later(reply.to_bytes()),
            NextStep::ReplyLater(reply) => {
                let wire = wire.clone();
                tokio::spawn(async move {
                    if let Some(reply) = reply.0.await {
                        wire.write_later(reply.to_bytes());
                    }
                });
            }
            NextStep::Pause => tokio::time::sleep(FLOOD_PAUSE).await,
            NextStep::Disconnect(why) => return Some(why),
        }
    }
    Some(format!("it printed {MAX_NOISE} lines that are not messages and was disconnected"))
}
