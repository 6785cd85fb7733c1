//! The HTTP+SSE transport of revision 2024-11-05: one GET that stays open, whose first event names
//! the address for messages, and one POST for each message. Answers arrive on the stream.
//!
//! ```text
//! GET  url ──▶ event: endpoint ─▶ address for messages, at the same origin
//!          ──▶ event: message ──▶ Dispatcher
//! POST address ─▶ 2xx, whose body says nothing
//! ```
//!
//! Another origin in `endpoint` is refused: tokens in the headers would go there, and so would the
//! arguments of every call.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use reqwest::{Response, Url};
use tokio_util::sync::CancellationToken;
use toolwright_mcp::{SseData, SseEvent, SseParser};
use toolwright_model::Variable;

use super::connect_error::unavailable;
use super::dispatcher::Dispatcher;
use super::duplex_wire::{DuplexWire, IncomingMessages, until_closed};
use super::http_client::{self, HttpFailure};
use super::http_wire::{EVENT_STREAM, JSON, content_type, describe, is_kind};
use crate::{BoxFuture, Failure};

/// The longest address for messages, in bytes.
const MAX_ENDPOINT: usize = 8 << 10;
/// How many bytes may come before the address for messages.
const MAX_BEFORE_ENDPOINT: usize = 1 << 20;
/// How long to wait for the body of the answer to a POST, so that its connection can be used again.
const TIME_FOR_BODY: Duration = Duration::from_secs(1);

/// The way to one server.
pub(super) struct SseWire {
    client: reqwest::Client,
    configured: HeaderMap,
    /// Where messages are sent.
    endpoint: Url,
    /// The stream, until the reader takes it.
    stream: Mutex<Option<EventStream>>,
    closing: CancellationToken,
}

/// A stream of events and what was read of it.
struct EventStream {
    response: Response,
    parser: SseParser,
}

impl EventStream {
    /// The next event; `None` at the end. `count` sees the size of every part that arrives.
    async fn next(
        &mut self,
        mut count: impl FnMut(usize) -> Result<(), String>,
    ) -> Result<Option<SseEvent>, String> {
        loop {
            if let Some(event) = self.parser.next_event() {
                return Ok(Some(event));
            }
            let chunk = self.response.chunk().await.map_err(|_| "its stream broke".to_owned())?;
            let Some(chunk) = chunk else { return Ok(None) };
            count(chunk.len())?;
            self.parser.push(&chunk);
        }
    }
}

impl SseWire {
    /// Opens the stream and waits for the address for messages.
    ///
    /// # Errors
    /// If there is no such stream, or the address cannot be used.
    pub(super) async fn open(url: &str, headers: &[Variable]) -> Result<SseWire, Failure> {
        let configured =
            http_client::configured_headers(headers).map_err(|why| unavailable(&why))?;
        let client = http_client::client().map_err(|why| unavailable(&why))?;
        let url = Url::parse(url)
            .map_err(|error| unavailable(&format!("its URL is not one: {error}")))?;
        let request = client.get(url.clone()).headers(configured.clone());
        let response = request.header(header::ACCEPT, EVENT_STREAM).send().await;
        let response = response.map_err(|error| HttpFailure::from(error).while_connecting())?;
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            return Err(HttpFailure::TokenRequired.while_connecting());
        }
        if !status.is_success() || !is_kind(&response, EVENT_STREAM) {
            let answer = describe(status, content_type(&response), b"");
            return Err(HttpFailure::Unexpected(answer).while_connecting());
        }
        // Redirects stay at the origin, so the address after them is as good as the first one.
        let url = response.url().clone();
        let mut stream = EventStream { response, parser: SseParser::default() };
        let endpoint = read_endpoint(&mut stream, &url).await.map_err(|why| unavailable(&why))?;
        let stream = Mutex::new(Some(stream));
        Ok(SseWire { client, configured, endpoint, stream, closing: CancellationToken::new() })
    }

    async fn post(&self, message: Vec<u8>) -> Result<(), HttpFailure> {
        let request = self.client.post(self.endpoint.clone()).headers(self.configured.clone());
        let request = request.header(header::CONTENT_TYPE, JSON).body(message);
        let mut response = request.send().await?;
        let status = response.status();
        match status {
            _ if status.is_success() => {
                let _ = tokio::time::timeout(TIME_FOR_BODY, response.chunk()).await;
                Ok(())
            }
            StatusCode::UNAUTHORIZED => Err(HttpFailure::TokenRequired),
            // The server has forgotten the stream, so no answer would come.
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                Err(HttpFailure::Disconnected("it no longer knows the connection".to_owned()))
            }
            _ => Err(HttpFailure::Unexpected(describe(status, content_type(&response), b""))),
        }
    }
}

/// Reads the address for messages, which is the first event of a stream.
///
/// Bounded by `MAX_BEFORE_ENDPOINT`, as a server could send other events without end.
///
/// # Errors
/// A sentence. An address at another origin is refused: messages may carry tokens of this one.
async fn read_endpoint(stream: &mut EventStream, url: &Url) -> Result<Url, String> {
    let mut bytes = 0;
    let event = stream.next(|more| {
        bytes += more;
        match bytes > MAX_BEFORE_ENDPOINT {
            true => Err("its stream does not begin with an `endpoint`".to_owned()),
            false => Ok(()),
        }
    });
    let Some(SseEvent { name, data: SseData::Complete(data), .. }) = event.await? else {
        return Err("its stream ended before it named an `endpoint`".to_owned());
    };
    let text = String::from_utf8(data).unwrap_or_default();
    if name.as_deref() != Some("endpoint") || text.len() > MAX_ENDPOINT {
        return Err("its stream does not begin with an `endpoint`".to_owned());
    }
    let endpoint = url
        .join(text.trim())
        .map_err(|error| format!("its `endpoint` is not an address: {error}"))?;
    if endpoint.origin() != url.origin() {
        return Err("its `endpoint` is at another origin, where messages are not sent".to_owned());
    }
    Ok(endpoint)
}

impl DuplexWire for SseWire {
    fn send(self: Arc<Self>, message: Vec<u8>) -> BoxFuture<'static, Result<(), HttpFailure>> {
        Box::pin(async move { until_closed(&self.closing, self.post(message)).await })
    }

    fn read(self: Arc<Self>, dispatcher: Arc<Dispatcher>) -> BoxFuture<'static, String> {
        Box::pin(async move {
            let taken = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(mut stream) = taken else { return "its stream is read twice".to_owned() };
            let closing = self.closing.clone();
            let wire: Arc<dyn DuplexWire> = self;
            let mut incoming = IncomingMessages::new(&dispatcher);
            let reading = async {
                while let Some(event) = stream.next(|bytes| incoming.count(bytes)).await? {
                    match (event.name.as_deref(), event.data) {
                        (None | Some("message"), SseData::Complete(text)) => {
                            incoming.deliver(text, &wire).await?;
                        }
                        (_, SseData::TooLong(id)) => incoming.deliver_too_large(id, &wire).await?,
                        // Another address for messages would be a way around the check of the first
                        // one; other events are not MCP.
                        _ => {}
                    }
                }
                Ok::<_, String>(())
            };
            tokio::select! {
                ended = reading => match ended {
                    Ok(()) => "the server ended its stream".to_owned(),
                    Err(why) => why,
                },
                () = closing.cancelled() => "the connection was closed".to_owned(),
            }
        })
    }

    fn close(&self) {
        self.closing.cancel();
    }
}
