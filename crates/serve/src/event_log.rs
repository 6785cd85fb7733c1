//! The messages of one HTTP stream, kept so that a client can resume it.
//!
//! A client that lost its connection reconnects with the id of the last event it received
//! (`Last-Event-ID`) and gets the events after it:
//!
//! ```text
//! messages of a call ─▶ EventLog ─┬─ events_after(0) ─▶ response to the POST
//!                                 └─ events_after(n) ─▶ GET with Last-Event-ID
//!
//! events:  call-7-0      call-7-1 … call-7-5      call-7-6
//!          priming       progress, questions      the response, always last
//! ```
//!
//! A log is bounded in number and bytes: only the last events of a call with much progress are
//! kept. How many logs a session keeps is decided in `http_sessions`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::stream::{self, Stream};
use http::StatusCode;
use hyper::body::Bytes;
use tokio::sync::watch;

use crate::message_sink::MessageSink;

/// How many messages are kept for a client that is disconnected or reads slowly. Older ones are
/// dropped; the response comes last.
const MAX_MESSAGES: usize = 256;
/// How many bytes the messages of one log may use. The last one stays, however large it is.
pub(crate) const MAX_LOG_BYTES: usize = 4 << 20;
/// How long the events of a finished stream are kept after they were written to a connection:
/// written is not received, and a client reconnects within seconds.
const KEPT_AFTER_DELIVERY: Duration = Duration::from_secs(60);

/// The messages of one stream. Readers wait on the watch channel for more.
pub(crate) struct EventLog {
    /// Unique within the server; part of the event ids.
    number: u64,
    state: watch::Sender<EventLogState>,
    /// When the last event was written to a connection, once the log was finished.
    delivered: Mutex<Option<Instant>>,
    /// How many events were written to a connection.
    read_to: AtomicUsize,
}

#[derive(Default)]
struct EventLogState {
    /// How many messages were dropped from the front.
    dropped: usize,
    /// The messages that are kept, as JSON text. The first one has the event number `dropped + 1`.
    messages: VecDeque<Bytes>,
    /// The length of all kept messages.
    bytes: usize,
    /// The status of the response, if the last message is one.
    response: Option<StatusCode>,
    /// Whether no message will follow.
    closed: bool,
    /// How many exclusive readers there were; only the last one goes on.
    readers: u64,
}

impl EventLog {
    /// An empty log.
    pub(crate) fn new(number: u64) -> Arc<EventLog> {
        Arc::new(EventLog {
            number,
            state: watch::Sender::default(),
            delivered: Mutex::default(),
            read_to: AtomicUsize::new(0),
        })
    }

    /// The id of the `n`th event. Messages count from 1; event 0 is the priming event, which has an
    /// id and no message.
    pub(crate) fn event_id(&self, n: usize) -> String {
        format!("call-{}-{n}", self.number)
    }

    /// The number of the log and of the event in an event id.
    pub(crate) fn parse_event_id(id: &str) -> Option<(u64, usize)> {
        let (number, n) = id.strip_prefix("call-")?.split_once('-')?;
        Some((number.parse().ok()?, n.parse().ok()?))
    }

    /// The number that the log was made with.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Appends a message.
    fn push(&self, message: Bytes, response: Option<StatusCode>) {
        self.state.send_modify(|state| {
            if state.closed {
                return;
            }
            state.response = response;
            state.bytes += message.len();
            state.messages.push_back(message);
            while state.messages.len() > MAX_MESSAGES
                || (state.bytes > MAX_LOG_BYTES && state.messages.len() > 1)
            {
                state.bytes -= state.messages.pop_front().map_or(0, |oldest| oldest.len());
                state.dropped += 1;
            }
        });
    }

    /// Appends the response.
    pub(crate) fn push_response(&self, message: Bytes, status: StatusCode) {
        self.push(message, Some(status));
    }

    /// Ends the log: no message will follow.
    pub(crate) fn close(&self) {
        self.state.send_modify(|state| state.closed = true);
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

    /// The number of the last event that was written to a connection.
    pub(crate) fn read_to(&self) -> usize {
        self.read_to.load(Ordering::Acquire)
    }

    /// Ends the readers before, and returns the number of the only one from now on: a message must
    /// not arrive on two streams.
    pub(crate) fn take_over(&self) -> u64 {
        let mut reader = 0;
        self.state.send_modify(|state| {
            state.readers += 1;
            reader = state.readers;
        });
        reader
    }

    /// The response that ended the log, whatever came before it.
    pub(crate) fn final_response(&self) -> Option<(Bytes, StatusCode)> {
        let state = self.state.borrow();
        Some((state.messages.back()?.clone(), state.response?))
    }

    /// Notes that a reader has got all events of a finished log.
    fn note_delivery(&self) {
        *self.delivered.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether the log is finished and was delivered long enough ago to be forgotten.
    pub(crate) fn is_forgettable(&self) -> bool {
        let delivered = self.delivered.lock().unwrap_or_else(PoisonError::into_inner);
        delivered.is_some_and(|at| at.elapsed() > KEPT_AFTER_DELIVERY)
    }

    /// The response and its status, if it is the only message so far. `Ok(None)` if there are
    /// others or it is still to come; an error if the log was closed without a message.
    pub(crate) fn sole_response(&self) -> Result<Option<(Bytes, StatusCode)>, CallCancelled> {
        let state = self.state.borrow();
        match (state.messages.front(), state.response) {
            (None, _) if state.closed => Err(CallCancelled),
            (Some(only), Some(status)) if state.dropped + state.messages.len() == 1 => {
                Ok(Some((only.clone(), status)))
            }
            _ => Ok(None),
        }
    }

    /// The events after the `n`th, with their numbers: those that are kept, then new ones as they
    /// are written, until the log is closed. Several readers may read the same log; one with a
    /// number of [`EventLog::take_over`] ends when another takes over.
    pub(crate) fn events_after(
        self: &Arc<Self>,
        n: usize,
        reader: Option<u64>,
    ) -> impl Stream<Item = (usize, Bytes)> + Send + Sync + use<> {
        let state = self.state.subscribe();
        // The log travels with the stream: it owns the sender, without which the receiver ends.
        let start = (n, state, Arc::clone(self), reader);
        stream::unfold(start, async |(n, mut receiver, log, reader)| {
            let is_replaced =
                |state: &EventLogState| reader.is_some_and(|reader| reader != state.readers);
            let found = {
                let state = receiver
                    .wait_for(|state| {
                        let has_more = state.dropped + state.messages.len() > n;
                        has_more || state.closed || is_replaced(state)
                    })
                    .await
                    .ok()?;
                if is_replaced(&state) {
                    return None;
                }
                // A reader that is too slow continues with the oldest message that is kept.
                let n = n.max(state.dropped);
                state.messages.get(n - state.dropped).cloned().map(|message| (n, message))
            };
            let Some((n, message)) = found else {
                log.note_delivery();
                return None;
            };
            log.read_to.fetch_max(n + 1, Ordering::AcqRel);
            Some(((n + 1, message), (n + 1, receiver, log, reader)))
        })
    }
}

impl MessageSink for EventLog {
    fn send(&self, message: Bytes) -> BoxFuture<'_, ()> {
        self.push(message, None);
        Box::pin(std::future::ready(()))
    }
}

/// The log was closed without a message: the call was cancelled, and there is no response.
pub(crate) struct CallCancelled;

/// Closes a log when it is dropped, so that its readers end in any case.
pub(crate) struct CloseOnDrop(pub(crate) Arc<EventLog>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;

    fn message(n: usize) -> Bytes {
        format!("{{\"n\":{n}}}").into()
    }

    #[tokio::test]
    async fn a_reader_that_resumes_gets_the_later_events() {
        let log = EventLog::new(7);
        assert!(matches!(log.sole_response(), Ok(None)));
        log.push_response(message(1), StatusCode::OK);
        assert!(matches!(log.sole_response(), Ok(Some(_))));
        log.send(message(2)).await;
        log.close();
        assert!(!log.is_forgettable());
        let numbers = |from| log.events_after(from, None).map(|(n, _)| n).collect::<Vec<_>>();
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
        for n in 0..300 {
            log.send(message(n)).await;
        }
        log.close();
        let numbers: Vec<usize> = log.events_after(3, None).map(|(n, _)| n).collect().await;
        assert_eq!(numbers, (45..=300).collect::<Vec<_>>());
        assert!(matches!(log.sole_response(), Ok(None)));
    }

    #[tokio::test]
    async fn the_bytes_of_a_log_are_bounded_and_the_response_is_kept() {
        let log = EventLog::new(1);
        for _ in 0..3 {
            log.send(vec![b' '; MAX_LOG_BYTES / 2].into()).await;
        }
        assert!(log.bytes() <= MAX_LOG_BYTES);
        log.push_response(vec![b' '; 2 * MAX_LOG_BYTES].into(), StatusCode::OK);
        log.close();
        let kept: Vec<(usize, Bytes)> = log.events_after(0, None).collect().await;
        assert_eq!(
            kept.iter().map(|(n, text)| (*n, text.len())).collect::<Vec<_>>(),
            [(4, 2 * MAX_LOG_BYTES)]
        );
    }

    #[tokio::test]
    async fn a_new_exclusive_reader_ends_the_one_before() {
        let log = EventLog::new(1);
        log.send(message(1)).await;
        let mut first = Box::pin(log.events_after(0, Some(log.take_over())));
        assert_eq!(first.next().await.map(|(n, _)| n), Some(1));
        let mut second = Box::pin(log.events_after(log.read_to(), Some(log.take_over())));
        assert!(first.next().await.is_none());
        log.send(message(2)).await;
        assert_eq!(second.next().await.map(|(n, _)| n), Some(2));
    }

    #[tokio::test]
    async fn a_log_that_is_closed_empty_belongs_to_a_cancelled_call() {
        let log = EventLog::new(1);
        drop(CloseOnDrop(Arc::clone(&log)));
        log.wait_for_first().await;
        assert!(log.sole_response().is_err());
        assert_eq!(log.events_after(0, None).count().await, 0);
    }
}
