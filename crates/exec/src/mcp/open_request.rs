//! One request that waits for its answer: what the connection delivers for it, in order.
//!
//! ```text
//! reader of the connection ─ push ─▶ events (bounded), answer ─ next ─▶ future of the caller
//! ```
//!
//! A queue of its own instead of a channel: the answer must always fit, while progress and log
//! messages are dropped if the caller is too slow. The answer comes after all events before it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use serde_json::value::RawValue;
use toolwright_mcp::{RequestId, RpcError};

use super::tasks::TaskLink;
use crate::{GivenReason, Json, Progress, SessionNumber};

/// Progress and log messages that may wait for one request; further ones are dropped.
const MAX_QUEUED: usize = 256;
/// Questions that one request may ask in all. A server that asks more is in a loop.
pub(super) const MAX_QUESTIONS: u32 = 64;

/// A request to a server, from its registration to its answer.
pub(super) struct OpenRequest {
    pub(super) id: i64,
    pub(super) owner: RequestOwner,
    /// The task whose result it waits for.
    pub(super) task: Option<TaskLink>,
    /// Whether its answer may be a new task.
    pub(super) creates_task: bool,
    questions: AtomicU32,
    inbox: Mutex<RequestInbox>,
}

/// Who made a request: decides whether messages of the server without a request can belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestOwner {
    /// This program itself: handshakes, lists, subscriptions.
    Own,
    /// A caller, with the session of the client behind it.
    Caller(Option<SessionNumber>),
}

#[derive(Default)]
struct RequestInbox {
    events: VecDeque<RequestEvent>,
    answer: Option<UpstreamAnswer>,
    /// The task that waits in `next`.
    waker: Option<Waker>,
}

/// What arrives for a request.
pub(super) enum RequestEvent {
    /// A progress report.
    Progress(Progress),
    /// A log message.
    Log(LogNotification),
    /// A request of the server to the client.
    Question(ServerQuestion),
    /// The server no longer wants an answer to this question.
    Withdrawn(RequestId),
    /// The client is asked something, perhaps for this request: its time stands still.
    Paused(RequestId),
    /// That question is answered or given up.
    Resumed(RequestId),
    /// The end of the request.
    Answer(UpstreamAnswer),
}

/// A log message of the server.
pub(super) struct LogNotification {
    /// The parameters of `notifications/message`.
    pub(super) params: Json,
    /// Whether it came on the stream of the request, and so belongs to no other.
    pub(super) is_attributed: bool,
}

/// A request of the server to the client behind a call.
#[derive(Clone)]
pub(super) struct ServerQuestion {
    pub(super) id: RequestId,
    pub(super) method: String,
    pub(super) params: Json,
    /// Whether the server may have asked it on its own; see the header of `question_routing`.
    pub(super) is_doubtful: bool,
    /// Whether it came on the stream of the request, and so belongs to no other.
    pub(super) is_attributed: bool,
    /// Set when the server withdraws it.
    pub(super) withdrawal: GivenReason,
}

/// How a request ended.
pub(super) enum UpstreamAnswer {
    /// Its result, as it was sent.
    Result(Box<RawValue>),
    /// The server's error.
    Error(RpcError),
    /// The answer was larger than any message may be.
    TooLarge,
    /// The connection ended first.
    ConnectionEnded,
}

impl OpenRequest {
    pub(super) fn new(
        id: i64,
        owner: RequestOwner,
        task: Option<TaskLink>,
        creates_task: bool,
    ) -> OpenRequest {
        let (questions, inbox) = (AtomicU32::new(0), Mutex::default());
        OpenRequest { id, owner, task, creates_task, questions, inbox }
    }

    fn inbox(&self) -> MutexGuard<'_, RequestInbox> {
        // Nothing in this file panics while it holds the lock, so a poisoned one is still valid.
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers an event. Progress and log messages are dropped if too many wait.
    pub(super) fn push(&self, event: RequestEvent) {
        let mut inbox = self.inbox();
        let may_be_dropped = matches!(event, RequestEvent::Progress(_) | RequestEvent::Log(_));
        if may_be_dropped && inbox.events.len() >= MAX_QUEUED {
            return;
        }
        match event {
            // The first answer counts.
            RequestEvent::Answer(answer) => inbox.answer = inbox.answer.take().or(Some(answer)),
            event => inbox.events.push_back(event),
        }
        let waker = inbox.waker.take();
        drop(inbox);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The answer, if nobody has read it.
    pub(super) fn take_answer(&self) -> Option<UpstreamAnswer> {
        self.inbox().answer.take()
    }

    /// Counts a question; false if it is one too many.
    pub(super) fn may_ask(&self) -> bool {
        self.questions.fetch_add(1, Ordering::Relaxed) < MAX_QUESTIONS
    }

    /// Waits for the next event. Safe to cancel.
    pub(super) async fn next(&self) -> RequestEvent {
        poll_fn(|context| {
            let mut inbox = self.inbox();
            if let Some(event) = inbox.events.pop_front() {
                return Poll::Ready(event);
            }
            if let Some(answer) = inbox.answer.take() {
                return Poll::Ready(RequestEvent::Answer(answer));
            }
            inbox.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}
