//! A server behind a URL: rmcp's streamable HTTP, on an HTTP client of ours that keeps answers as
//! they were sent, within a limit, and follows no redirect to another place.

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

use super::lines::MAX_MESSAGE;
use super::wire;
use crate::Json;

const SESSION: &str = "mcp-session-id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// As much of a body that is no answer as a message shows.
const SHOWN: usize = 200;

type Error = StreamableHttpError<reqwest::Error>;

/// Lists of tools as they were sent. rmcp reads these itself, because a tool's schema can ask for
/// headers, which it then sends with every call.
pub(super) type Lists = Arc<Mutex<HashMap<RequestId, Json>>>;

/// A way to the server at `url`.
pub(super) fn transport(
    url: &str,
    headers: &[Variable],
    lists: &Lists,
) -> Result<StreamableHttpClientTransport<Client>, String> {
    let mut custom = HashMap::new();
    for variable in headers {
        let name = HeaderName::try_from(variable.name.as_str())
            .map_err(|_| format!("`{}` cannot be the name of a header", variable.name))?;
        let value = variable.value.as_deref().unwrap_or_default();
        // The value may be a secret and stays out of the message.
        let value = HeaderValue::try_from(value).map_err(|_| {
            format!(
                "the value of the header `{}` has characters that no header may have",
                variable.name
            )
        })?;
        custom.insert(name, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(custom)
        .max_concurrent_requests(1024)
        .max_sse_event_size(MAX_MESSAGE);
    Ok(StreamableHttpClientTransport::with_client(Client::new(lists)?, config))
}

/// The HTTP client.
#[derive(Clone)]
pub(super) struct Client {
    inner: reqwest::Client,
    lists: Lists,
}

impl Client {
    fn new(lists: &Lists) -> Result<Client, String> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // Somebody else's choice is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let same_place = reqwest::redirect::Policy::custom(|attempt| {
            let keeps_body = matches!(attempt.status().as_u16(), 307 | 308);
            let same = attempt
                .previous()
                .last()
                .is_some_and(|from| from.origin() == attempt.url().origin());
            // Headers and session must not reach another place, and a GET would lose the message.
            if keeps_body && same && attempt.previous().len() < 5 {
                attempt.follow()
            } else {
                attempt.stop()
            }
        });
        let client =
            reqwest::Client::builder().redirect(same_place).tcp_nodelay(true).no_proxy().build();
        let inner = client.map_err(|error| format!("no HTTP client can be made: {error}"))?;
        Ok(Client { inner, lists: Arc::clone(lists) })
    }
}

/// What went wrong on the way, in words for people.
pub(super) fn explain(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    Some(match error.downcast_ref::<Error>()? {
        Error::Client(error) if error.is_connect() => match root_of(error) {
            cause if cause.contains("Connection refused") => {
                "nobody listens there (connection refused)".to_owned()
            }
            cause => cause,
        },
        Error::Client(error) if error.is_decode() || error.is_body() => {
            "it broke off in the middle of its answer".to_owned()
        }
        Error::Client(error) => root_of(error),
        Error::UnexpectedServerResponse(text) => format!("it answered {text}"),
        other => other.to_string(),
    })
}

/// The innermost cause of an error.
fn root_of(error: &dyn std::error::Error) -> String {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let accept = format!("{EVENTS}, {JSON}");
        let mut request =
            self.inner.post(uri.as_ref()).header(header::ACCEPT, accept).json(&message);
        request = request.headers(headers.into_iter().collect());
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let in_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION, session.as_ref());
        }
        let response = request.send().await.map_err(|error| Error::Client(error.without_url()))?;
        let asked = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        read_answer(response, asked, in_session, &self.lists).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        StreamableHttpClient::delete_session(&self.inner, uri, session, token, headers).await
    }

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
        Ok(events.map(move |event| event.map(|event| as_sent(event, &lists))).boxed())
    }
}

async fn read_answer(
    response: reqwest::Response,
    asked: Option<RequestId>,
    in_session: bool,
    lists: &Lists,
) -> Result<StreamableHttpPostResponse, Error> {
    let status = response.status();
    let text = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let kind = text("content-type").unwrap_or_default();
    let session = text(SESSION);
    match status {
        StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        StatusCode::UNAUTHORIZED => {
            let challenge = text("www-authenticate").unwrap_or_default();
            return Err(Error::AuthRequired(AuthRequiredError::new(challenge)));
        }
        StatusCode::NOT_FOUND if in_session => return Err(Error::SessionExpired),
        _ => {}
    }
    if status.is_success() && kind.starts_with(EVENTS) {
        return Ok(StreamableHttpPostResponse::Sse(events(response, asked, lists), session));
    }
    if status.is_success() && asked.is_none() {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    let Some(body) = body(response).await? else {
        let id = asked.ok_or(Error::UnexpectedEndOfStream)?;
        return Ok(StreamableHttpPostResponse::Json(wire::too_large(id), session));
    };
    let message = if kind.starts_with(JSON) { read(&body, lists) } else { None };
    match message {
        // An error in a JSON-RPC answer says more than the status around it.
        Some(message @ ServerJsonRpcMessage::Error(_)) if status != StatusCode::FORBIDDEN => {
            Ok(StreamableHttpPostResponse::Json(message, session))
        }
        Some(message) if status.is_success() => {
            Ok(StreamableHttpPostResponse::Json(message, session))
        }
        _ => {
            let shown = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]).into_owned();
            let kind = if kind.is_empty() { "no content type".to_owned() } else { kind };
            let text = match shown.trim() {
                "" => format!("with HTTP {} ({kind}) and nothing else", status.as_u16()),
                shown => format!("with HTTP {} ({kind}): {shown}", status.as_u16()),
            };
            Err(Error::UnexpectedServerResponse(Cow::Owned(text)))
        }
    }
}

fn read(body: &[u8], lists: &Lists) -> Option<ServerJsonRpcMessage> {
    if keep_list(body, lists) { serde_json::from_slice(body).ok() } else { wire::read(body) }
}

/// Keeps a list of tools as it was sent; whether it was one.
fn keep_list(message: &[u8], lists: &Lists) -> bool {
    let list = wire::list_of(message);
    let is_list = list.is_some();
    lists.lock().unwrap_or_else(PoisonError::into_inner).extend(list);
    is_list
}

/// The body, or nothing if it is larger than any message may be.
async fn body(mut response: reqwest::Response) -> Result<Option<Vec<u8>>, Error> {
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

/// The events of an answer. One that is too large becomes the error that says so.
fn events(
    response: reqwest::Response,
    asked: Option<RequestId>,
    lists: &Lists,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let lists = Arc::clone(lists);
    let mut size = 0;
    let bytes = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(|error| std::io::Error::other(error.without_url()))?;
        // An event ends at an empty line; counting from the last one in the chunk is near enough.
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
    let is_large = |error: &SseError| {
        let SseError::Body(error) = error else { return false };
        error
            .downcast_ref::<std::io::Error>()
            .is_some_and(|e| e.kind() == std::io::ErrorKind::FileTooLarge)
    };
    let refuse = move || {
        let message = wire::too_large(asked.clone()?);
        Some(Sse { data: serde_json::to_string(&message).ok(), ..Sse::default() })
    };
    let events = SseStream::from_bytes_stream(bytes).map(move |event| match event {
        Ok(event) => Ok(as_sent(event, &lists)),
        Err(error) if is_large(&error) => refuse().ok_or(error),
        Err(error) => Err(error),
    });
    events.boxed()
}

fn as_sent(mut event: Sse, lists: &Lists) -> Sse {
    if event.data.as_deref().is_some_and(|data| keep_list(data.as_bytes(), lists)) {
        return event;
    }
    if let Some(veiled) = event.data.as_deref().and_then(wire::veil) {
        event.data = Some(veiled);
    }
    event
}
