//! Streamable HTTP: one POST per message, whose answer is JSON or a stream of events, and one GET
//! for what the server sends without being asked.
//!
//! ```text
//! POST ─▶ status, content type ─┬─ JSON ─────────▶ one message ─────────────▶ Dispatcher
//!                               ├─ event stream ─▶ messages of this request ─▶ Dispatcher
//!                               │     └─ broken before the answer ─ GET, Last-Event-ID ─┐
//!                               │             ▲─────────────────────────────────────────┘
//!                               └─ other ────────▶ HttpFailure
//! GET ──▶ event stream ─▶ messages of no request ─▶ Dispatcher
//! ```
//!
//! The exchange runs in the future of the caller. Dropping that closes the connection, which stops
//! the work of most servers at once.
//!
//! Three things of streamable HTTP shape this file. A server may begin a session, whose id every
//! later request repeats; a 404 then means that the session is over. A stream may break before the
//! answer, and can be resumed if its events have ids. And the status of a response says little: the
//! JSON-RPC error in its body is preferred where there is one.
//!
//! What a hostile server can do is bounded here and in the dispatcher: a body of `MAX_MESSAGE`
//! bytes, `MAX_RESUMPTIONS` of a stream without progress, and pauses of at least `MIN_RETRY`.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode, header};
use reqwest::{RequestBuilder, Response, Url};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use toolwright_mcp::{
    MAX_MESSAGE, MalformedMessage, Message, RequestId, Revision, SseData, SseEvent, SseParser,
    has_too_many_values,
};
use toolwright_model::Variable;

use super::dispatcher::{Dispatcher, NextStep};
use super::http_client::{self, HttpFailure};
use super::stdio_wire::FLOOD_PAUSE;
use crate::offload::{WorkSize, offload};

const SESSION_HEADER: &str = "mcp-session-id";
const VERSION_HEADER: &str = "mcp-protocol-version";
pub(super) const EVENT_STREAM: &str = "text/event-stream";
pub(super) const JSON: &str = "application/json";
/// How many bytes of an unexpected body an error message shows.
const SHOWN_BODY: usize = 200;
/// How often a broken stream is resumed without a new event in between.
const MAX_RESUMPTIONS: u32 = 5;
/// The pause before a stream is opened again, unless the server names another.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);
/// The shortest such pause: a server that wants none would be asked hundreds of times a second.
const MIN_RETRY: Duration = Duration::from_millis(100);
/// The longest such pause.
const MAX_RETRY: Duration = Duration::from_secs(30);
/// How long the end of a session may take.
const TIME_TO_DELETE: Duration = Duration::from_secs(2);

/// The way to one server. Has no connection of its own: the client keeps a pool of them, and a
/// request may use any.
pub(super) struct HttpWire {
    client: reqwest::Client,
    url: Url,
    /// Headers of the configuration, such as a token. Sent with every request to this server.
    configured: HeaderMap,
    state: RwLock<HttpState>,
    /// Cancelled when the connection is closed.
    closing: CancellationToken,
}

/// What the handshake decides. Cloned for each request, so that all of one request is consistent
/// while another replaces the session.
#[derive(Clone, Default)]
struct HttpState {
    /// As the server wrote it; `None` for servers without sessions.
    session: Option<HeaderValue>,
    /// `None` until the handshake has ended: `initialize` is sent without the header.
    revision: Option<Revision>,
}

/// Why the stream of what the server sends without being asked is no longer followed.
pub(super) enum FollowedStream {
    /// The server has none, or was disconnected.
    None,
    /// The session whose stream was open before is over.
    SessionExpired(Option<HeaderValue>),
}

/// Where in a stream the reader is, to resume it.
///
/// Both come from the events of this stream; an empty position opens a new one.
#[derive(Default)]
struct StreamPosition {
    last_event: Option<String>,
    retry: Option<Duration>,
}

impl HttpWire {
    /// The way to the server at `url`, with `headers` in every request.
    ///
    /// # Errors
    /// A sentence, if the URL or a header cannot be used or TLS cannot be set up.
    pub(super) fn new(
        url: &str,
        headers: &[Variable],
        closing: CancellationToken,
    ) -> Result<HttpWire, String> {
        let url = Url::parse(url).map_err(|error| format!("its URL is not one: {error}"))?;
        let configured = http_client::configured_headers(headers)?;
        let client = http_client::client()?;
        Ok(HttpWire { client, url, configured, state: RwLock::default(), closing })
    }

    fn state(&self) -> HttpState {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The session that the next request would use.
    pub(super) fn session(&self) -> Option<HeaderValue> {
        self.state().session
    }

    /// Sets the revision that is sent with every request.
    pub(super) fn set_revision(&self, revision: Revision) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.revision = Some(revision);
        if !revision.has_handshake() {
            state.session = None;
        }
    }

    /// Adds the headers of the connection.
    fn prepare(&self, request: RequestBuilder, state: &HttpState) -> RequestBuilder {
        let mut request = request.headers(self.configured.clone());
        if let Some(session) = &state.session {
            request = request.header(SESSION_HEADER, session);
        }
        if let Some(revision) = state.revision {
            request = request.header(VERSION_HEADER, revision.name());
        }
        request
    }

    fn post(&self, body: Vec<u8>, headers: HeaderMap, state: &HttpState) -> RequestBuilder {
        let request = self.client.post(self.url.clone()).headers(headers);
        self.prepare(request, state)
            .header(header::ACCEPT, format!("{JSON}, {EVENT_STREAM}"))
            .header(header::CONTENT_TYPE, JSON)
            .body(body)
    }

    /// Sends a request and delivers everything that arrives for it, until its answer has arrived.
    ///
    /// Everything that arrives goes to the dispatcher, also the answer; this function only says how
    /// the exchange ended. It may end without an answer: then the request fails with the returned
    /// error.
    ///
    /// # Errors
    /// `TokenRequired`, `SessionExpired` (the caller opens a new session and tries once more), and
    /// everything else that is not an answer.
    pub(super) async fn exchange(
        self: &Arc<Self>,
        id: i64,
        is_initialize: bool,
        body: Vec<u8>,
        headers: HeaderMap,
        dispatcher: &Arc<Dispatcher>,
    ) -> Result<(), HttpFailure> {
        // A handshake starts a session, so it belongs to none.
        let state = if is_initialize { HttpState::default() } else { self.state() };
        let response = self.post(body, headers, &state).send().await?;
        let status = response.status();
        match status {
            StatusCode::UNAUTHORIZED => return Err(HttpFailure::TokenRequired),
            // By the specification, a 404 within a session means that the session is over.
            StatusCode::NOT_FOUND if state.session.is_some() => {
                return Err(HttpFailure::SessionExpired);
            }
            _ => {}
        }
        if is_initialize && status.is_success() {
            let session = response.headers().get(SESSION_HEADER).cloned();
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            *state = HttpState { session, revision: None };
        }
        if status.is_success() && is_kind(&response, EVENT_STREAM) {
            return self.read_answer_stream(response, id, dispatcher).await;
        }
        self.read_answer_body(response, id, dispatcher).await
    }

    /// Reads an answer that is one JSON message.
    ///
    /// A body that is too large fails the request and not the connection.
    async fn read_answer_body(
        self: &Arc<Self>,
        response: Response,
        id: i64,
        dispatcher: &Arc<Dispatcher>,
    ) -> Result<(), HttpFailure> {
        let (status, is_json) = (response.status(), is_kind(&response, JSON));
        let kind = content_type(&response).to_owned();
        let Some(body) = read_body(response).await? else {
            dispatcher.receive_too_large(Some(RequestId::Number(id)));
            return Ok(());
        };
        let (message, body) = match is_json {
            true => parse(body, dispatcher).await,
            false => (Err(MalformedMessage::NotJson), body),
        };
        match message {
            // A JSON-RPC error is more precise than the status around it. A 403 is not about the
            // request but about the client, and stays an HTTP error.
            Ok(Message::Response(mut answer))
                if status.is_success()
                    || (answer.outcome.is_err() && status != StatusCode::FORBIDDEN) =>
            {
                // An error about a request that could not be read names no request.
                if answer.id.is_none() {
                    answer.id = Some(RequestId::Number(id));
                }
                self.act(dispatcher.receive(Message::Response(answer), Some(id))).await?;
                match dispatcher.is_open(id) {
                    true => Err(HttpFailure::Unexpected("a request that was not made".to_owned())),
                    false => Ok(()),
                }
            }
            Err(MalformedMessage::TooManyValues(_)) => {
                dispatcher.receive_too_large(Some(RequestId::Number(id)));
                Ok(())
            }
            _ => Err(HttpFailure::Unexpected(describe(status, &kind, &body))),
        }
    }

    /// Reads an answer that is a stream of events, and resumes the stream if it breaks.
    ///
    /// The stream is read to the answer and not to its end, since some servers leave it open.
    /// Resumption counts attempts without a new event; any event starts the count again.
    async fn read_answer_stream(
        self: &Arc<Self>,
        mut response: Response,
        id: i64,
        dispatcher: &Arc<Dispatcher>,
    ) -> Result<(), HttpFailure> {
        let mut position = StreamPosition::default();
        let mut failures = 0;
        loop {
            let before = position.last_event.clone();
            let broke = self.read_events(response, Some(id), dispatcher, &mut position).await;
            if !dispatcher.is_open(id) {
                return Ok(());
            }
            if let Err(error @ HttpFailure::Disconnected(_)) = broke {
                return Err(error);
            }
            let error = broke.err().unwrap_or(HttpFailure::StreamEnded);
            // Without an id of an event, a server cannot continue where it stopped.
            if position.last_event.is_none() {
                return Err(error);
            }
            failures = if position.last_event == before { failures + 1 } else { 1 };
            response = loop {
                if failures > MAX_RESUMPTIONS {
                    return Err(error);
                }
                tokio::time::sleep(position.retry.unwrap_or(DEFAULT_RETRY)).await;
                match self.open_stream(&position).await {
                    Ok(response) => break response,
                    Err(HttpFailure::Connection(_)) => failures += 1,
                    Err(_) => return Err(error),
                }
            };
        }
    }

    /// Opens the stream of a GET: a new one, or the rest of a broken one.
    ///
    /// # Errors
    /// `SessionExpired` for a 404 within a session; `Unexpected` for a server that has no such
    /// stream.
    async fn open_stream(&self, position: &StreamPosition) -> Result<Response, HttpFailure> {
        let state = self.state();
        let request = self.prepare(self.client.get(self.url.clone()), &state);
        let mut request = request.header(header::ACCEPT, EVENT_STREAM);
        if let Some(last) = &position.last_event {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await?;
        match response.status() {
            StatusCode::NOT_FOUND if state.session.is_some() => Err(HttpFailure::SessionExpired),
            status if status.is_success() && is_kind(&response, EVENT_STREAM) => Ok(response),
            status => Err(HttpFailure::Unexpected(describe(status, content_type(&response), b""))),
        }
    }

    /// Delivers the events of a stream until it ends or, for the stream of a request, its answer
    /// has arrived.
    ///
    /// `of` is the request on whose stream this is, `None` for the stream of a GET. `Ok` does not
    /// mean that there was an answer.
    async fn read_events(
        self: &Arc<Self>,
        mut response: Response,
        of: Option<i64>,
        dispatcher: &Arc<Dispatcher>,
        position: &mut StreamPosition,
    ) -> Result<(), HttpFailure> {
        let mut parser = SseParser::default();
        while let Some(chunk) = response.chunk().await? {
            parser.push(&chunk);
            while let Some(SseEvent { id, retry, data, .. }) = parser.next_event() {
                position.last_event = id.or(position.last_event.take());
                let retry = retry.map(|ms| Duration::from_millis(ms).clamp(MIN_RETRY, MAX_RETRY));
                position.retry = retry.or(position.retry);
                self.deliver(data, of, dispatcher).await?;
            }
            if of.is_some_and(|id| !dispatcher.is_open(id)) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The data of one event: a message, a batch, or noise.
    async fn deliver(
        self: &Arc<Self>,
        data: SseData,
        of: Option<i64>,
        dispatcher: &Arc<Dispatcher>,
    ) -> Result<(), HttpFailure> {
        match data {
            SseData::Empty => Ok(()),
            SseData::TooLong(id) => {
                let id = id.or(of.map(RequestId::Number));
                self.act(dispatcher.receive_too_large(id)).await
            }
            SseData::Complete(data) if data.first() == Some(&b'[') => {
                if has_too_many_values(&data) {
                    let id = of.map(RequestId::Number);
                    return self.act(dispatcher.receive_too_large(id)).await;
                }
                // A batch, which revision 2025-03-26 had.
                let batch: Vec<Box<RawValue>> = serde_json::from_slice(&data).unwrap_or_default();
                for message in batch {
                    if let Ok(message) = dispatcher.redactor().parse(message.get().as_bytes()) {
                        self.act(dispatcher.receive(message, of)).await?;
                    }
                }
                Ok(())
            }
            SseData::Complete(data) => match parse(data, dispatcher).await {
                (Ok(message), _) => self.act(dispatcher.receive(message, of)).await,
                (Err(MalformedMessage::TooManyValues(id)), _) => {
                    let id = id.or(of.map(RequestId::Number));
                    self.act(dispatcher.receive_too_large(id)).await
                }
                // Noise, as on standard streams.
                (Err(_), data) => {
                    dispatcher.log_invalid_line(&data);
                    Ok(())
                }
            },
        }
    }

    /// Does what the dispatcher wants after a message. Replies are POSTs of their own.
    async fn act(self: &Arc<Self>, step: NextStep) -> Result<(), HttpFailure> {
        match step {
            NextStep::Continue => Ok(()),
            NextStep::Reply(message) => {
                self.send_later(message.to_bytes());
                Ok(())
            }
            NextStep::ReplyLater(reply) => {
                let own = Arc::clone(self);
                tokio::spawn(async move {
                    if let Some(reply) = reply.0.await {
                        own.send_later(reply.to_bytes());
                    }
                });
                Ok(())
            }
            NextStep::Pause => {
                tokio::time::sleep(FLOOD_PAUSE).await;
                Ok(())
            }
            NextStep::Disconnect(why) => Err(HttpFailure::Disconnected(why)),
        }
    }

    /// Sends a notification or a response. What the server answers has no meaning.
    ///
    /// Sent a second time if the connection breaks: the server may have closed an idle one just
    /// when this was written to it, and would wait for a lost response as long as the call may
    /// take. Getting one twice does no harm, since only the first response with an id counts. A
    /// request is not repeated: the server may have begun with it.
    pub(super) async fn send(&self, body: Vec<u8>) -> Result<(), HttpFailure> {
        let post = || self.post(body.clone(), HeaderMap::new(), &self.state()).send();
        let response = match post().await {
            Err(error) if !error.is_connect() => post().await?,
            first => first?,
        };
        match response.status() {
            StatusCode::UNAUTHORIZED => Err(HttpFailure::TokenRequired),
            _ => Ok(()),
        }
    }

    /// [`HttpWire::send`] without waiting for it. Outside of a runtime the program is ending.
    pub(super) fn send_later(self: &Arc<Self>, body: Vec<u8>) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let wire = Arc::clone(self);
        runtime.spawn(async move {
            tokio::select! {
                _ = wire.send(body) => {}
                () = wire.closing.cancelled() => {}
            }
        });
    }

    /// Follows the stream of what the server sends without being asked, until its session is over.
    /// Ends at once with a server that has none. The stream is opened again whenever it ends: after
    /// the pause that the server names, or a growing one. Never returns for a server that cannot be
    /// reached.
    pub(super) async fn follow(self: Arc<Self>, dispatcher: Arc<Dispatcher>) -> FollowedStream {
        // A server without a stream may answer as if the session were over, again and again.
        let mut had_stream = false;
        let mut position = StreamPosition::default();
        let mut session = self.session();
        let mut pause = DEFAULT_RETRY;
        loop {
            match self.open_stream(&position).await {
                Ok(response) => {
                    pause = DEFAULT_RETRY;
                    had_stream = true;
                    let read = self.read_events(response, None, &dispatcher, &mut position);
                    if let Err(HttpFailure::Disconnected(_)) = read.await {
                        return FollowedStream::None;
                    }
                }
                Err(HttpFailure::SessionExpired) if had_stream && self.session() == session => {
                    return FollowedStream::SessionExpired(session);
                }
                // The next request opens a new session; the stream follows it.
                Err(HttpFailure::SessionExpired) => position = StreamPosition::default(),
                Err(HttpFailure::Connection(_)) => {}
                // Most often 405: the server has no such stream.
                Err(_) if self.session() == session => return FollowedStream::None,
                Err(_) => position = StreamPosition::default(),
            }
            tokio::time::sleep(position.retry.unwrap_or(pause)).await;
            pause = (pause * 2).min(MAX_RETRY);
            session = self.session();
        }
    }

    /// Ends the session, if there is one.
    ///
    /// Best effort: a server that cannot be reached forgets the session by itself.
    pub(super) async fn delete_session(&self) {
        let state = self.state();
        if state.session.is_some() {
            let request = self.prepare(self.client.delete(self.url.clone()), &state);
            let _ = tokio::time::timeout(TIME_TO_DELETE, request.send()).await;
        }
    }
}

pub(super) fn content_type(response: &Response) -> &str {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default()
}

pub(super) fn is_kind(response: &Response, kind: &str) -> bool {
    content_type(response).starts_with(kind)
}

/// Parses a message; on another thread if it is long. Returns the bytes as well.
pub(super) async fn parse(
    body: Vec<u8>,
    dispatcher: &Arc<Dispatcher>,
) -> (Result<Message, MalformedMessage>, Vec<u8>) {
    let redactor = Arc::clone(dispatcher.redactor());
    offload(WorkSize::of_bytes(body.len()), move || (redactor.parse(&body), body)).await
}

/// Reads the body; `None` if it has more than [`MAX_MESSAGE`] bytes.
async fn read_body(mut response: Response) -> Result<Option<Vec<u8>>, HttpFailure> {
    // The content length is not trusted: it may be missing or wrong.
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_MESSAGE {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// Words about an unexpected answer. Most often it is an error page of a proxy or of another kind
/// of server, whose beginning helps to recognise it.
pub(super) fn describe(status: StatusCode, kind: &str, body: &[u8]) -> String {
    let kind = if kind.is_empty() { "no content type" } else { kind };
    let shown = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BODY)]);
    match shown.trim() {
        "" => format!("with HTTP {} ({kind}) and nothing else", status.as_u16()),
        shown => format!("with HTTP {} ({kind}): {shown}", status.as_u16()),
    }
}
