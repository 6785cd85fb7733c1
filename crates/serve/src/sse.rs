//! The text of server-sent events, and HTTP responses that consist of them.
//!
//! ```text
//! id: call-7-0          priming event: no data, only an id to reconnect with (2025-11-25)
//! retry: 3000
//! data:
//!
//! id: call-7-1          one JSON-RPC message per event
//! data: {"jsonrpc":"2.0",…}
//! ```

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};
use http::{HeaderValue, Response, header};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};

use crate::event_log::EventLog;
use crate::http_server::HttpResponse;

/// After this time without an event, a comment is sent so that proxies do not close the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a client that lost its connection should wait before it reconnects.
const RETRY: Duration = Duration::from_secs(3);

/// Whether a client may resume a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resumption {
    /// Events have ids, and the first one has nothing else.
    Primed,
    /// Events have ids.
    WithIds,
    /// Events have no ids.
    Impossible,
}

/// Whether others may read the same log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamKind {
    /// A log of one call, which a client may resume twice.
    Shared,
    /// The log of a session: a new stream ends the one before.
    Exclusive,
}

/// A response without events, for a call that was cancelled.
pub(crate) fn empty_response() -> HttpResponse {
    response(Full::default().boxed_unsync())
}

/// A response that streams the events of `log` after the `n`th as they are written, until the log
/// is closed. It drives `work`, if there is any, and drops it when the client leaves.
pub(crate) fn streamed_response(
    log: &Arc<EventLog>,
    n: usize,
    resumption: Resumption,
    stream: StreamKind,
    work: Option<BoxFuture<'static, ()>>,
) -> HttpResponse {
    let reader = (stream == StreamKind::Exclusive).then(|| log.take_over());
    let before = (resumption == Resumption::Primed).then(|| priming_event(log));
    let events = Box::pin(log.events_after(n, reader));
    let rest = stream::unfold(
        (events, Arc::clone(log), work),
        move |(mut events, log, mut work)| async move {
            let next = async {
                loop {
                    tokio::select! {
                        biased;
                        event = events.next() => return event,
                        () = async { work.as_mut().expect("checked").await }, if work.is_some() => {
                            work = None;
                        }
                    }
                }
            };
            let bytes = match tokio::time::timeout(KEEP_ALIVE, next).await {
                Ok(Some((n, message))) => event(&log, n, &message, resumption),
                Ok(None) => return None,
                Err(_) => b":\n\n".to_vec(),
            };
            Some((bytes, (events, log, work)))
        },
    );
    let all = stream::iter(before).chain(rest);
    let frames = all.map(|bytes| Ok(Frame::data(Bytes::from(bytes))));
    response(BodyExt::boxed_unsync(StreamBody::new(frames)))
}

/// An event without a message, whose id a client can reconnect with.
fn priming_event(log: &EventLog) -> Vec<u8> {
    format!("id: {}\nretry: {}\ndata: \n\n", log.event_id(0), RETRY.as_millis()).into_bytes()
}

/// The `n`th event of a log. The message is one line.
fn event(log: &EventLog, n: usize, message: &[u8], resumption: Resumption) -> Vec<u8> {
    let id = match resumption {
        Resumption::Impossible => String::new(),
        _ => format!("id: {}\n", log.event_id(n)),
    };
    [id.as_bytes(), b"data: ", message, b"\n\n"].concat()
}

fn response(body: crate::http_server::HttpBody) -> HttpResponse {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies such as nginx collect responses otherwise.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
