//! The messages of one call over HTTP, kept so that a client can resume its event stream.
//!
//! A client that lost its connection reconnects with the id of the last event it received
//! (`Last-Event-ID`) and gets the events after it:
//!
//! ```text
//! FastCalls::run ─▶ EventWriter ─▶ EventLog ─┬─ events_after(0) ─▶ response to the POST
//!                                            └─ events_after(n) ─▶ GET with Last-Event-ID
//!
//! events:  call-7-0      call-7-1 … call-7-5      call-7-6
//!          priming       progress                 the response, always last
//! ```
//!
//! A log is bounded: of a call with much progress only the last events are kept. How many logs a
//! session keeps is decided in `http_sessions`.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream::{self, Stream};
use hyper::body::Bytes;
use rmcp::model::ServerJsonRpcMessage;
use tokio::sync::watch;
use toolwright_exec::WorkSize;

use crate::fast_calls::{MessageSender, message_text};

/// How many messages are kept for a client that is disconnected or reads slowly. Older ones are
/// dropped; they are progress notifications, because the response comes last.
const MAX_MESSAGES: usize = 256;

/// The messages of one call. Readers wait on the watch channel for more.
pub(crate) struct EventLog {
    /// Unique within the server; part of the event ids.
    number: u64,
    state: watch::Sender<EventLogState>,
}

#[derive(Default)]
struct EventLogState {
    /// How many messages were dropped from the front.
    dropped: usize,
    /// The messages that are kept, as JSON text. The first one has the event number `dropped + 1`.
    messages: VecDeque<Bytes>,
    /// The length of all kept messages.
    bytes: usize,
    /// Whether the last message is the response.
    has_response: bool,
    /// Whether the writer is gone, so that no message will follow.
    closed: bool,
}

impl EventLog {
    /// An empty log.
    pub(crate) fn new(number: u64) -> Arc<EventLog> {
        Arc::new(EventLog { number, state: watch::Sender::default() })
    }

    /// The id of the `n`th event. Messages count from 1; event 0 is the priming event, which has an
    /// id and no message.
    pub(crate) fn event_id(&self, n: usize) -> String {
        format!("call-{}-{n}", self.number)
    }

    /// The number of the log and of the event in an event id. `None` for ids that rmcp made.
    pub(crate) fn parse_event_id(id: &str) -> Option<(u64, usize)> {
        let (number, n) = id.strip_prefix("call-")?.split_once('-')?;
        Some((number.parse().ok()?, n.parse().ok()?))
    }

    /// The number that the log was made with.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Waits until there is a message, or the log is closed without one.
    pub(crate) async fn wait_for_first(&self) {
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|state| state.closed || !state.messages.is_empty()).await;
    }

    /// Whether no message will follow.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.borrow().closed
    }

    /// The memory that the kept messages use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.state.borrow().bytes
    }

    /// The response, if it is the only message so far. `Ok(None)` if there is progress before it or
    /// it is still to come; an error if the log was closed without a message.
    pub(crate) fn sole_response(&self) -> Result<Option<Bytes>, CallCancelled> {
        let state = self.state.borrow();
        match state.messages.front() {
            None if state.closed => Err(CallCancelled),
            Some(only) if state.has_response && state.dropped + state.messages.len() == 1 => {
                Ok(Some(only.clone()))
            }
            _ => Ok(None),
        }
    }

    /// The events after the `n`th, with their numbers: those that are kept, then new ones as they
    /// are written, until the log is closed. Several readers may read the same log.
    pub(crate) fn events_after(
        self: &Arc<Self>,
        n: usize,
    ) -> impl Stream<Item = (usize, Bytes)> + Send + Sync + use<> {
        let state = self.state.subscribe();
        // The log travels with the stream: it owns the sender, without which the receiver ends.
        stream::unfold((n, state, Arc::clone(self)), async |(n, mut receiver, log)| {
            let state = receiver
                .wait_for(|state| state.dropped + state.messages.len() > n || state.closed)
                .await
                .ok()?;
            // A reader that is too slow continues with the oldest message that is kept.
            let n = n.max(state.dropped);
            let message = state.messages.get(n - state.dropped).cloned()?;
            drop(state);
            Some(((n + 1, message), (n + 1, receiver, log)))
        })
    }
}

/// The log was closed without a message: the call was cancelled, and there is no response.
pub(crate) struct CallCancelled;

/// Writes the messages of a call into its log, and closes the log when it is dropped.
pub(crate) struct EventWriter(pub(crate) Arc<EventLog>);

impl MessageSender for EventWriter {
    async fn send(&self, message: ServerJsonRpcMessage, size: WorkSize) {
        let is_response = is_response(&message);
        let text: Bytes = message_text(message, size).await.into();
        self.0.state.send_modify(|state| {
            state.has_response = is_response;
            state.bytes += text.len();
            state.messages.push_back(text);
            if state.messages.len() > MAX_MESSAGES {
                state.bytes -= state.messages.pop_front().map_or(0, |oldest| oldest.len());
                state.dropped += 1;
            }
        });
    }
}

impl Drop for EventWriter {
    fn drop(&mut self) {
        self.0.state.send_modify(|state| state.closed = true);
    }
}

/// Whether a message answers the request, with a result or with an error.
fn is_response(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use rmcp::model::{EmptyResult, RequestId, ServerResult};

    use super::*;

    fn response(id: i64) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::response(
            ServerResult::EmptyResult(EmptyResult {}),
            RequestId::Number(id),
        )
    }

    #[tokio::test]
    async fn a_reader_that_resumes_gets_the_later_events() {
        let log = EventLog::new(7);
        let writer = EventWriter(Arc::clone(&log));
        assert!(matches!(log.sole_response(), Ok(None)));
        writer.send(response(1), WorkSize::Small).await;
        assert!(matches!(log.sole_response(), Ok(Some(_))));
        writer.send(response(2), WorkSize::Small).await;
        drop(writer);
        let numbers = |from| log.events_after(from).map(|(n, _)| n).collect::<Vec<_>>();
        assert_eq!(
            (numbers(0).await, numbers(1).await, numbers(2).await),
            (vec![1, 2], vec![2], vec![])
        );
        assert_eq!(EventLog::parse_event_id(&log.event_id(2)), Some((7, 2)));
        assert_eq!(
            (EventLog::parse_event_id("0/3"), EventLog::parse_event_id("call-x-1")),
            (None, None)
        );
    }

    #[tokio::test]
    async fn a_full_log_drops_its_oldest_events() {
        let log = EventLog::new(1);
        let writer = EventWriter(Arc::clone(&log));
        for id in 0..300 {
            writer.send(response(id), WorkSize::Small).await;
        }
        drop(writer);
        let numbers: Vec<usize> = log.events_after(3).map(|(n, _)| n).collect().await;
        assert_eq!(numbers, (45..=300).collect::<Vec<_>>());
        assert!(matches!(log.sole_response(), Ok(None)));
    }

    #[tokio::test]
    async fn a_log_that_is_closed_empty_belongs_to_a_cancelled_call() {
        let log = EventLog::new(1);
        drop(EventWriter(Arc::clone(&log)));
        log.wait_for_first().await;
        assert!(log.sole_response().is_err());
        assert_eq!(log.events_after(0).count().await, 0);
    }
}
