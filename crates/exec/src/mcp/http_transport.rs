//! The transport to a server behind a URL: rmcp's streamable HTTP transport on an HTTP client of
//! our own. rmcp does sessions, retries and resumption; the client adds what rmcp's does not do:
//!
//! - Results stay the JSON they were (`raw_results`). A body is parsed here; an event is parsed by
//!   rmcp, so it is rewritten before. Lists of tools are the exception, see [`RawToolLists`].
//! - An answer has at most [`MAX_MESSAGE`] bytes; a larger one becomes an error of its call.
//! - Redirects stay within one origin, and proxies are not used.
//! - Error messages contain no URL: its query may hold a secret.
//!
//! ```text
//! POST ─▶ status, content type ─┬─ JSON ────────▶ body (limit) ─▶ parse_message ──▶ rmcp
//!                               ├─ event stream ▶ events (limit) ─▶ wrap_result ──▶ rmcp
//!                               └─ other ───────▶ UnexpectedServerResponse
//! ```

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Once, PoisonError};

use futures::StreamExt;
use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue, StatusCode, header};
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use toolwright_model::Variable;

use super::given_arguments::message_text;
use super::message_lines::MAX_MESSAGE;
use super::raw_results;
use crate::Json;
use crate::offload::{WorkSize, offload};

/// The header that names a session, in both directions.
const SESSION_HEADER: &str = "mcp-session-id";
const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// How many bytes of an unexpected body an error message shows.
const SHOWN_BODY: usize = 200;

/// rmcp's error with the errors of our HTTP client inside.
type Error = StreamableHttpError<reqwest::Error>;

/// Lists of tools as they were sent, by the id of the request. rmcp must parse these itself, since
/// a tool's schema can declare headers that rmcp then sends with every call. So the raw list takes
/// a second way: it is put here when the message arrives, and taken out by
/// `UpstreamConnection::list`.
pub(super) type RawToolLists = Arc<Mutex<HashMap<RequestId, Json>>>;

/// A transport to the server at `url` that sends `headers` with every request.
///
/// # Errors
/// A sentence, if a header's name or value is not allowed in HTTP or TLS cannot be set up.
pub(super) fn transport(
    url: &str,
    headers: &[Variable],
    lists: &RawToolLists,
) -> Result<StreamableHttpClientTransport<UpstreamHttpClient>, String> {
    let mut custom = HashMap::new();
    for variable in headers {
        let name = HeaderName::try_from(variable.name.as_str())
            .map_err(|_| format!("`{}` is not a valid header name", variable.name))?;
        let value = variable.value.as_deref().unwrap_or_default();
        // The value may be a secret and stays out of the message.
        let value = HeaderValue::try_from(value).map_err(|_| {
            format!(
                "the value of the header `{}` has characters that headers cannot have",
                variable.name
            )
        })?;
        custom.insert(name, value);
    }
    // rmcp's default of 16 requests at once would make calls wait here, unseen by the runner, which
    // has limits of its own.
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(custom)
        .max_concurrent_requests(1024)
        .max_sse_event_size(MAX_MESSAGE);
    Ok(StreamableHttpClientTransport::with_client(UpstreamHttpClient::new(lists)?, config))
}

/// The HTTP client that rmcp's transport runs on.
#[derive(Clone)]
pub(super) struct UpstreamHttpClient {
    inner: reqwest::Client,
    lists: RawToolLists,
}

impl UpstreamHttpClient {
    fn new(lists: &RawToolLists) -> Result<UpstreamHttpClient, String> {
        // reqwest is built without a default cryptography provider; rustls has one per process.
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // Fails if another part of the program has installed one, which serves as well.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let same_origin = reqwest::redirect::Policy::custom(|attempt| {
            let keeps_body = matches!(attempt.status().as_u16(), 307 | 308);
            let same = attempt
                .previous()
                .last()
                .is_some_and(|from| from.origin() == attempt.url().origin());
            // Tokens and the session id in the headers must not reach another origin. The older
            // status codes turn a POST into a GET, which would lose the message.
            if keeps_body && same && attempt.previous().len() < 5 {
                attempt.follow()
            } else {
                attempt.stop()
            }
        });
        // No proxy from the environment: a configured URL is contacted directly or not at all.
        let client =
            reqwest::Client::builder().redirect(same_origin).tcp_nodelay(true).no_proxy().build();
        let inner = client.map_err(|error| format!("the HTTP client cannot be set up: {error}"))?;
        Ok(UpstreamHttpClient { inner, lists: Arc::clone(lists) })
    }
}

/// A sentence about an error of this transport, without URLs and type names. `None` if the error
/// comes from elsewhere.
pub(super) fn explain(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    Some(match error.downcast_ref::<Error>()? {
        // The innermost cause is an operating system error such as "Connection refused (os error
        // 111)", or a TLS error, which rustls words well.
        Error::Client(error) if error.is_connect() => match root_cause(error) {
            cause if cause.contains("Connection refused") => {
                "no server listens at this address (connection refused)".to_owned()
            }
            cause => cause,
        },
        Error::Client(error) if error.is_decode() || error.is_body() => {
            "the connection broke in the middle of the answer".to_owned()
        }
        Error::Client(error) => root_cause(error),
        Error::UnexpectedServerResponse(text) => format!("it answered {text}"),
        other => other.to_string(),
    })
}

/// The text of the innermost cause: the outer layers of reqwest only say that a request failed.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}

impl StreamableHttpClient for UpstreamHttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let accept = format!("{EVENT_STREAM}, {JSON}");
        let body = message_text(&message).map_err(Error::Deserialize)?;
        let request = self.inner.post(uri.as_ref()).header(header::ACCEPT, accept);
        let mut request = request.header(header::CONTENT_TYPE, JSON).body(body);
        request = request.headers(headers.into_iter().collect());
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        // A 404 has another meaning with a session than without, see `read_response`.
        let in_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION_HEADER, session.as_ref());
        }
        let response = request.send().await.map_err(|error| Error::Client(error.without_url()))?;
        let request_id = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        read_response(response, request_id, in_session, &self.lists).await
    }

    /// rmcp's implementation for reqwest: there is no result to keep.
    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        StreamableHttpClient::delete_session(&self.inner, uri, session, token, headers).await
    }

    /// Opens the stream of notifications, or resumes one. rmcp limits the size of its events.
    /// Results that arrive on it are kept raw as well.
    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let events = self.inner.get_stream(uri, session, last, token, headers).await?;
        let lists = Arc::clone(&self.lists);
        Ok(events.then(move |event| keep_raw_of(event, Arc::clone(&lists))).boxed())
    }
}

/// Turns an HTTP response to a POST into what rmcp expects. `request_id` is that of the request in
/// the POST; notifications have none.
async fn read_response(
    response: reqwest::Response,
    request_id: Option<RequestId>,
    in_session: bool,
    lists: &RawToolLists,
) -> Result<StreamableHttpPostResponse, Error> {
    let status = response.status();
    let text = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let kind = text("content-type").unwrap_or_default();
    let session = text(SESSION_HEADER);
    // Statuses that have a meaning of their own in the specification.
    match status {
        StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        StatusCode::UNAUTHORIZED => {
            let challenge = text("www-authenticate").unwrap_or_default();
            return Err(Error::AuthRequired(AuthRequiredError::new(challenge)));
        }
        // By the specification, a 404 within a session means that the session is over. rmcp then
        // makes a new one.
        StatusCode::NOT_FOUND if in_session => return Err(Error::SessionExpired),
        _ => {}
    }
    if status.is_success() && kind.starts_with(EVENT_STREAM) {
        let events = event_stream(response, request_id, lists);
        return Ok(StreamableHttpPostResponse::Sse(events, session));
    }
    // Some servers answer a notification with 200 and a body, which has no meaning.
    if status.is_success() && request_id.is_none() {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    let Some(body) = read_body(response).await? else {
        let id = request_id.ok_or(Error::UnexpectedEndOfStream)?;
        return Ok(StreamableHttpPostResponse::Json(raw_results::too_large_error(id), session));
    };
    let is_json = kind.starts_with(JSON);
    let (size, lists) = (WorkSize::of_bytes(body.len()), Arc::clone(lists));
    let (message, body) = offload(size, move || {
        let message = if is_json { parse_body(&body, &lists) } else { None };
        (message, body)
    })
    .await;
    match message {
        // A JSON-RPC error is more precise than the status around it. A 403 is not about the
        // request but about the client, and stays an HTTP error.
        Some(message @ ServerJsonRpcMessage::Error(_)) if status != StatusCode::FORBIDDEN => {
            Ok(StreamableHttpPostResponse::Json(message, session))
        }
        Some(message) if status.is_success() => {
            Ok(StreamableHttpPostResponse::Json(message, session))
        }
        _ => {
            // Most often an error page of a proxy or of another kind of server. Its beginning helps
            // to recognise it.
            let shown = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BODY)]).into_owned();
            let kind = if kind.is_empty() { "no content type".to_owned() } else { kind };
            let text = match shown.trim() {
                "" => format!("with HTTP {} ({kind}) and nothing else", status.as_u16()),
                shown => format!("with HTTP {} ({kind}): {shown}", status.as_u16()),
            };
            Err(Error::UnexpectedServerResponse(Cow::Owned(text)))
        }
    }
}

/// Parses a body that is one message. A list of tools is parsed by rmcp's types, see
/// [`RawToolLists`].
fn parse_body(body: &[u8], lists: &RawToolLists) -> Option<ServerJsonRpcMessage> {
    if keep_list(body, lists) {
        serde_json::from_slice(body).ok()
    } else {
        raw_results::parse_message(body)
    }
}

/// If the message is a list of tools, puts its raw result aside and returns true.
fn keep_list(message: &[u8], lists: &RawToolLists) -> bool {
    let list = raw_results::tool_list_in(message);
    let is_list = list.is_some();
    lists.lock().unwrap_or_else(PoisonError::into_inner).extend(list);
    is_list
}

/// Reads the body; `None` if it has more than [`MAX_MESSAGE`] bytes.
async fn read_body(mut response: reqwest::Response) -> Result<Option<Vec<u8>>, Error> {
    // The content length is not trusted: it may be missing or wrong.
    let mut body = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|error| Error::Client(error.without_url()))?
    {
        if body.len() + chunk.len() > MAX_MESSAGE {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// The events of a response. An event of more than [`MAX_MESSAGE`] bytes becomes an error answer to
/// the request, after which the stream ends.
fn event_stream(
    response: reqwest::Response,
    request_id: Option<RequestId>,
    lists: &RawToolLists,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let lists = Arc::clone(lists);
    // Bytes of the current event so far.
    let mut size = 0;
    let bytes = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(|error| std::io::Error::other(error.without_url()))?;
        // An event ends at an empty line. The search is per chunk, so an empty line that two chunks
        // share is missed and two events count as one; that is exact enough for a limit.
        size = match chunk
            .windows(4)
            .rposition(|end| end[2..] == *b"\n\n" || end == b"\r\n\r\n" || end[2..] == *b"\r\r")
        {
            Some(end) => chunk.len() - end,
            None => size + chunk.len(),
        };
        if size > MAX_MESSAGE {
            Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge))
        } else {
            Ok(chunk)
        }
    });
    // The error went through the parser of events, so it is recognised by its kind.
    let is_too_large = |error: &SseError| {
        let SseError::Body(error) = error else { return false };
        error
            .downcast_ref::<std::io::Error>()
            .is_some_and(|e| e.kind() == std::io::ErrorKind::FileTooLarge)
    };
    let too_large = move || {
        let message = raw_results::too_large_error(request_id.clone()?);
        Some(Sse { data: serde_json::to_string(&message).ok(), ..Sse::default() })
    };
    let events = SseStream::from_bytes_stream(bytes).map(move |event| match event {
        Err(error) if is_too_large(&error) => too_large().ok_or(error),
        event => event,
    });
    events.then(move |event| keep_raw_of(event, Arc::clone(&lists))).boxed()
}

/// [`keep_raw`] for an event of a stream; on another thread if the event is long.
async fn keep_raw_of(event: Result<Sse, SseError>, lists: RawToolLists) -> Result<Sse, SseError> {
    let event = event?;
    let size = WorkSize::of_bytes(event.data.as_ref().map_or(0, String::len));
    Ok(offload(size, move || keep_raw(event, &lists)).await)
}

/// Rewrites an event so that its result survives rmcp's parser unchanged.
fn keep_raw(mut event: Sse, lists: &RawToolLists) -> Sse {
    if event.data.as_deref().is_some_and(|data| keep_list(data.as_bytes(), lists)) {
        return event;
    }
    // Handshakes, errors and notifications stay as they are: rmcp has to understand them.
    if let Some(wrapped) = event.data.as_deref().and_then(raw_results::wrap_result) {
        event.data = Some(wrapped);
    }
    event
}
