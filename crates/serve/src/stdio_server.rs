//! Serves one client on the standard streams of this process, one JSON-RPC message per line.
//!
//! ```text
//! stdin ─▶ MessageLines ─┬─ request ─▶ a task: Gateway::answer ──┐
//!                        ├─ notification, response ─▶ session    ├─▶ stdout
//!                        ├─ batch (before 2025-06-18) ─▶ a task ─┤
//!                        └─ not a message, too long ─▶ error ────┘
//! ```
//!
//! Every line gets an answer or is ignored on purpose; no line ends the connection. A client that
//! does not read its answers is cut off, because they would pile up in memory.
//!
//! The end can come from three sides, and each gets another grace. The client closes stdin: calls
//! may finish for two seconds. The program is asked to end: three. A write fails: nobody reads
//! results, so calls are aborted at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use hyper::body::Bytes;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;
use toolwright_exec::LOCAL_AGENT;
use toolwright_mcp::{
    LineQueue, MAX_MESSAGE, MalformedMessage, Message, MessageLine, MessageLines, RpcError,
    RpcResponse, error_code,
};

use crate::Gateway;
use crate::busy_polling::BusyPolling;
use crate::client_session::ClientSession;
use crate::dispatcher::AcceptedRequest;
use crate::message_sink::MessageSink;
use crate::result_body::RpcReply;
use crate::standard_streams::{InputStream, OutputStream, standard_streams};
use crate::write_deadline::{WRITE_TIMEOUT, WriteDeadline};

/// How long running calls may continue when the server ends.
pub(crate) const GRACE: Duration = Duration::from_secs(3);
/// How long responses may take to be written afterwards.
const SEND_TIMEOUT: Duration = Duration::from_millis(100);
/// How long running calls may continue when the client has closed its end. Shorter than [`GRACE`],
/// because a client that closes both ends does not read the results.
const GRACE_AFTER_EOF: Duration = Duration::from_secs(2);
/// How many tasks are kept for later requests.
const MAX_IDLE: usize = 64;

/// Serves one client until it closes its end, or until `until` is cancelled.
///
/// Called once per process, by the command `serve`; returns when the session has ended.
pub async fn serve(gateway: Gateway, until: CancellationToken) {
    let (from, to) = standard_streams();
    let sink = Arc::new(StdoutWriter::new(to, WRITE_TIMEOUT));
    let closed = sink.closed.clone();
    let session = gateway.new_session(Arc::clone(&sink) as Arc<dyn MessageSink>, LOCAL_AGENT);
    gateway.start_notifications(&session.ended);
    let wakeful = Arc::new(BusyPolling::new());
    let client = Arc::new(StdioConnection {
        gateway: gateway.clone(),
        session,
        sink,
        wakeful: Arc::clone(&wakeful),
        idle: std::sync::Mutex::default(),
    });
    let staying_awake = {
        let gateway = gateway.clone();
        tokio::spawn(async move { wakeful.run(&gateway).await })
    };
    // A task of its own: this future is polled on the main thread, from where every request would
    // have to wake a worker.
    let mut reading = {
        let client = Arc::clone(&client);
        tokio::spawn(async move { client.read(MessageLines::new(from)).await })
    };
    tokio::select! {
        _ = &mut reading => client.finish_calls().await,
        () = end_after_grace(&gateway, &until) => reading.abort(),
        // Nobody reads the answers.
        () = closed.cancelled() => {
            reading.abort();
            gateway.abort_calls();
        }
    }
    staying_awake.abort();
    gateway.end_session(&client.session);
    client.idle().drain(..).for_each(|task| task.wake(None));
}

/// Waits for `until`, and then until the running requests have ended or [`GRACE`] is over.
///
/// While it waits, requests are still read and answered.
async fn end_after_grace(gateway: &Gateway, until: &CancellationToken) {
    until.cancelled().await;
    gateway.wait_until_idle(GRACE).await;
    // A request counts as ended a moment before its response is written.
    tokio::time::sleep(SEND_TIMEOUT).await;
}

/// Standard output. Messages are queued by any task, and written by whichever holds the lock: that
/// one writes the messages of all, so several responses that are ready together cost one write.
struct StdoutWriter {
    /// In the order of the responses.
    queue: LineQueue<Bytes>,
    /// `None` once a write has failed.
    to: Mutex<Option<WriteDeadline<OutputStream>>>,
    /// Whether a task is about to take all messages of the queue.
    is_scheduled: AtomicBool,
    /// Cancelled when a write has failed: the client has closed its end, or does not read.
    closed: CancellationToken,
}

impl StdoutWriter {
    fn new(to: OutputStream, timeout: Duration) -> StdoutWriter {
        StdoutWriter {
            queue: LineQueue::default(),
            to: Mutex::new(Some(WriteDeadline::new(to, timeout))),
            is_scheduled: AtomicBool::new(false),
            closed: CancellationToken::new(),
        }
    }

    /// Writes all messages of the queue in a task of its own, after all others that are ready: what
    /// they answer is written together, and they need not wait for it.
    ///
    /// Used while other requests are running, which may end in the same moment. `is_scheduled`
    /// makes sure that there is one such task at a time.
    fn write_later(self: &Arc<Self>, gateway: &Gateway) {
        if self.is_scheduled.swap(true, Ordering::AcqRel) {
            return;
        }
        // The program does not end before it is written.
        let (own, running) = (Arc::clone(self), gateway.track_request());
        tokio::spawn(async move {
            tokio::task::yield_now().await;
            own.write_queued().await;
            drop(running);
        });
    }

    /// Writes all messages of the queue, also those that other tasks have put there. After a failed
    /// write nothing is written any more, and messages are dropped.
    async fn write_queued(&self) {
        let mut to = self.to.lock().await;
        // Before the queue is emptied: a message that is too late for this gets another task.
        self.is_scheduled.store(false, Ordering::Release);
        let Some(stream) = to.as_mut() else { return self.queue.clear() };
        while let Some(lines) = self.queue.take_lines() {
            let written = async {
                stream.write_all(&lines).await?;
                stream.flush().await
            };
            if written.await.is_err() {
                *to = None;
                self.closed.cancel();
                return;
            }
        }
    }
}

impl MessageSink for StdoutWriter {
    fn send(&self, message: Bytes) -> BoxFuture<'_, ()> {
        self.queue.push(message);
        Box::pin(self.write_queued())
    }
}

/// The client of this process.
///
/// Shared by the reader and by the tasks that answer.
struct StdioConnection {
    gateway: Gateway,
    session: Arc<ClientSession>,
    sink: Arc<StdoutWriter>,
    /// Keeps a worker thread from sleeping for a moment after each message, see `busy_polling`.
    wakeful: Arc<BusyPolling>,
    /// Tasks that have answered a request and wait for another one. A new task for every request
    /// would be allocated and freed with all that a call may need to wait for: five thousand bytes.
    idle: std::sync::Mutex<Vec<Arc<IdleTask>>>,
}

/// A task that waits for a request.
#[derive(Default)]
struct IdleTask {
    next: std::sync::Mutex<Option<AcceptedRequest>>,
    woken: Notify,
}

impl IdleTask {
    /// Lets the task answer a request, or end.
    fn wake(&self, request: Option<AcceptedRequest>) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = request;
        self.woken.notify_one();
    }

    async fn next(&self) -> Option<AcceptedRequest> {
        self.woken.notified().await;
        self.next.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl StdioConnection {
    /// Reads and answers messages until the end of input.
    async fn read(self: &Arc<Self>, mut lines: MessageLines<InputStream>) {
        while let Some(line) = lines.next().await {
            match line {
                MessageLine::Complete(line) => self.accept_line(line).await,
                MessageLine::TooLong(id) => {
                    let message = format!("the message is larger than {} MiB", MAX_MESSAGE >> 20);
                    let outcome = Err(RpcError::new(error_code::INVALID_REQUEST, message));
                    self.send(&Message::Response(RpcResponse { id, outcome }));
                }
            }
        }
    }

    /// Takes one line. Requests are answered in tasks, because the next line must be read while
    /// they run. Only `initialize` is answered first: a client that does not wait for the answer
    /// must still get it before all others.
    async fn accept_line(self: &Arc<Self>, line: &[u8]) {
        let line = line.trim_ascii();
        // Some clients end their messages with an empty line.
        if line.is_empty() {
            return;
        }
        match Message::parse(line) {
            Ok(Message::Request(request)) => {
                let is_handshake = request.method == "initialize";
                let sink = Arc::clone(&self.sink) as Arc<dyn MessageSink>;
                let request = self.gateway.accept_request(&self.session, request, sink);
                self.wakeful.stay_awake(&self.gateway);
                match is_handshake {
                    true => self.respond(request).await,
                    false => self.respond_in_task(request),
                }
            }
            Ok(message) => drop(self.accept(message)),
            // Neither is a batch of so many parsed.
            Err(malformed @ MalformedMessage::TooManyValues(_)) => {
                self.send(&Message::Response(malformed.to_response("line")));
            }
            Err(malformed) => match self.batch(line) {
                Some(batch) => self.accept_batch(batch),
                None => self.send(&Message::Response(malformed.to_response("line"))),
            },
        }
    }

    /// Answers a request in a task that was kept, or in a new one.
    fn respond_in_task(self: &Arc<Self>, request: AcceptedRequest) {
        let kept = self.idle().pop();
        match kept {
            Some(task) => task.wake(Some(request)),
            None => drop(tokio::spawn(Arc::clone(self).respond_to_all(request))),
        }
    }

    /// The work of a task: answers a request, and those that follow.
    async fn respond_to_all(self: Arc<Self>, first: AcceptedRequest) {
        let own = Arc::new(IdleTask::default());
        let mut next = Some(first);
        while let Some(request) = next {
            self.respond(request).await;
            {
                let mut idle = self.idle();
                if idle.len() >= MAX_IDLE || self.session.ended.is_cancelled() {
                    return;
                }
                idle.push(Arc::clone(&own));
            }
            next = own.next().await;
        }
    }

    /// Answers a request and sends the response.
    async fn respond(&self, request: AcceptedRequest) {
        let Some(RpcReply { bytes, running, .. }) = request.answer().await else { return };
        self.sink.queue.push(bytes);
        match self.gateway.running_requests() > 1 {
            true => self.sink.write_later(&self.gateway),
            false => self.sink.write_queued().await,
        }
        drop(running);
        self.wakeful.stay_awake(&self.gateway);
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Arc<IdleTask>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one message. Returns the future response to a request.
    fn accept(&self, message: Message) -> Option<BoxFuture<'static, Option<RpcReply>>> {
        match message {
            Message::Request(request) => {
                let sink = Arc::clone(&self.sink) as Arc<dyn MessageSink>;
                Some(self.gateway.answer(&self.session, request, sink))
            }
            Message::Notification(notification) => {
                self.gateway.accept_notification(&self.session, &notification);
                None
            }
            Message::Response(response) => {
                self.session.accept_response(response);
                None
            }
        }
    }

    /// The messages of a batch, if the line is one and the revision of the session has batches.
    ///
    /// `None` before the handshake: no revision is agreed on yet.
    fn batch<'l>(&self, line: &'l [u8]) -> Option<Vec<&'l RawValue>> {
        let has_batches = self.session.handshake()?.revision.has_batches();
        let batch: Vec<&RawValue> = serde_json::from_slice(line).ok()?;
        (has_batches && !batch.is_empty()).then_some(batch)
    }

    /// Answers all requests of a batch in one line.
    ///
    /// Nothing is sent for a batch without requests, or if all of its requests were cancelled.
    fn accept_batch(&self, batch: Vec<&RawValue>) {
        let mut replies: Vec<BoxFuture<'static, Option<RpcReply>>> = Vec::new();
        for text in batch {
            match Message::parse(text.get().as_bytes()) {
                Ok(message) => {
                    replies.extend(self.accept(message));
                }
                Err(malformed) => {
                    let reply = Some(RpcReply::malformed(&malformed, "message"));
                    replies.push(Box::pin(std::future::ready(reply)));
                }
            }
        }
        if replies.is_empty() {
            return;
        }
        let sink = Arc::clone(&self.sink);
        tokio::spawn(async move {
            let replies: Vec<RpcReply> = join_all(replies).await.into_iter().flatten().collect();
            if !replies.is_empty() {
                sink.send(RpcReply::join_batch(&replies)).await;
            }
        });
    }

    /// Sends a message in a task of its own: a client that does not read must not stop the reader.
    fn send(&self, message: &Message) {
        let (sink, bytes) = (Arc::clone(&self.sink), Bytes::from(message.to_bytes()));
        tokio::spawn(async move { sink.send(bytes).await });
    }

    /// Gives running calls some time after the end of input, then aborts them. A client that wrote
    /// all its requests at once (`printf … | toolwright serve`) still reads the answers.
    async fn finish_calls(&self) {
        self.gateway.wait_until_idle(GRACE_AFTER_EOF).await;
        self.gateway.abort_calls();
        self.gateway.wait_until_idle(SEND_TIMEOUT).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_that_does_not_read_is_cut_off() {
        let (client, to) = tokio::io::duplex(64);
        let to: OutputStream = Box::pin(to);
        let writer = StdoutWriter::new(to, Duration::from_millis(20));
        let message = Bytes::from(vec![b'x'; 100]);
        // The first one fills the pipe and fails; those that wait behind it are dropped.
        join_all((0..10).map(|_| writer.send(message.clone()))).await;
        assert!(writer.closed.is_cancelled());
        drop(client);
    }
}
