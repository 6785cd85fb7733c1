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

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use http::{HeaderValue, Response, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};

use crate::event_log::EventLog;
use crate::http_server::HttpResponse;

/// After this time without an event, a comment is sent so that proxies do not close the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a client that lost its connection should wait before it reconnects.
const RETRY: Duration = Duration::from_secs(3);

/// A response without events, for a call that was cancelled.
pub(crate) fn empty_response() -> HttpResponse {
    response(Full::default().boxed())
}

/// A response of known length: the events `before`, then the only message of `log`. Headers and
/// body fit into one packet.
pub(crate) fn complete_response(log: &EventLog, before: Vec<u8>, message: &[u8]) -> HttpResponse {
    response(Full::from([before, event(log, 1, message)].concat()).boxed())
}

/// A response that streams the events of `log` as they are written.
pub(crate) fn streamed_response(log: &Arc<EventLog>, before: Vec<u8>) -> HttpResponse {
    let events = Box::pin(log.events_after(0));
    let rest = stream::unfold((events, Arc::clone(log)), async |(mut events, log)| {
        let bytes = match tokio::time::timeout(KEEP_ALIVE, events.next()).await {
            Ok(Some((n, message))) => event(&log, n, &message),
            Ok(None) => return None,
            Err(_) => b":\n\n".to_vec(),
        };
        Some((bytes, (events, log)))
    });
    let all = stream::iter((!before.is_empty()).then_some(before)).chain(rest);
    response(BodyExt::boxed(StreamBody::new(all.map(|bytes| Ok(Frame::data(Bytes::from(bytes)))))))
}

/// An event without a message, whose id a client can reconnect with.
pub(crate) fn priming_event(log: &EventLog) -> Vec<u8> {
    format!("id: {}\nretry: {}\ndata: \n\n", log.event_id(0), RETRY.as_millis()).into_bytes()
}

/// The `n`th event of a log. The message is one line, as serde_json writes it.
fn event(log: &EventLog, n: usize, message: &[u8]) -> Vec<u8> {
    [format!("id: {}\ndata: ", log.event_id(n)).as_bytes(), message, b"\n\n"].concat()
}

fn response(body: BoxBody<Bytes, Infallible>) -> HttpResponse {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
