//! The sessions of HTTP clients that have shaken hands: rmcp's, but plain calls are answered by
//! [`Calls`]. An answer that comes soon goes out whole, in one piece with its headers.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::stream::{self, Stream, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, Response, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio::sync::mpsc;

use crate::Agent;
use crate::calls::{Asked, Calls, Sink};
use crate::http::Answer;

/// How long an answer may take before its client is sent the headers alone.
const SOON: Duration = Duration::from_secs(2);
/// rmcp ends a session that it has not heard of for five minutes, so a call a minute goes through it.
const HEARD_OF: Duration = Duration::from_secs(60);
/// How long nothing is sent before a sign of life is.
const SILENCE: Duration = Duration::from_secs(15);
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// The revisions that have sessions and say so in a header.
const WITH_SESSIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
/// Messages about one call that may wait for their client.
const BEHIND: usize = 16;

pub(crate) struct Sessions {
    inner: LocalSessionManager,
    agent: Agent,
    open: Mutex<HashMap<SessionId, Session>>,
}

struct Session {
    calls: Arc<Calls>,
    /// When rmcp last heard of it.
    heard_of: Instant,
}

impl Sessions {
    pub(crate) fn new(agent: Agent) -> Sessions {
        Sessions { inner: LocalSessionManager::default(), agent, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request for a call past rmcp, if it is one of a session and nothing about it is special.
    /// `None` leaves it to rmcp, which also has the words for what is wrong with others.
    pub(crate) async fn answer(&self, headers: &HeaderMap, body: &[u8]) -> Option<Answer> {
        let id = plain_session(headers)?;
        let asked = Asked::from(serde_json::from_slice(body).ok()?).ok()?;
        let calls = self.calls(id)?;
        Some(answer(&self.agent, &calls, asked).await)
    }

    /// The calls of a session, unless it is time that rmcp hears of it.
    fn calls(&self, id: &str) -> Option<Arc<Calls>> {
        let mut open = self.open();
        let session = open.get_mut(id)?;
        if session.heard_of.elapsed() > HEARD_OF {
            session.heard_of = Instant::now();
            return None;
        }
        Some(Arc::clone(&session.calls))
    }
}

/// The session of a request whose headers say what they must and nothing that would have to be held
/// against its body.
fn plain_session(headers: &HeaderMap) -> Option<&str> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_special = |name: &HeaderName| {
        let name = name.as_str();
        name.starts_with("mcp-") && name != SESSION && name != VERSION
    };
    let accepted = value("accept")
        .is_some_and(|all| all.contains("application/json") && all.contains("text/event-stream"));
    let known = !headers.contains_key(VERSION)
        || value(VERSION).is_some_and(|version| WITH_SESSIONS.contains(&version));
    let plain = accepted
        && known
        && value("content-type").is_some_and(|kind| kind.starts_with("application/json"))
        && !headers.keys().any(is_special);
    value(SESSION).filter(|_| plain)
}

struct Messages(mpsc::Sender<ServerJsonRpcMessage>);

impl Sink for Messages {
    async fn send(&self, message: ServerJsonRpcMessage) {
        let _ = self.0.send(message).await;
    }
}

/// Makes a call and gives its answer: as JSON if that is all there is to say and it comes soon, else as
/// a stream of events.
async fn answer(agent: &Agent, calls: &Arc<Calls>, asked: Asked) -> Answer {
    let (sender, mut messages) = mpsc::channel(BEHIND);
    calls.begin(agent, asked, Messages(sender));
    let first = tokio::time::timeout(SOON, messages.recv()).await;
    let (kind, body) = match first {
        Ok(Some(last)) if is_last(&last) => ("application/json", Full::new(text(&last)).boxed()),
        // It was cancelled: there is nothing to say.
        Ok(None) => ("text/event-stream", Full::default().boxed()),
        first => ("text/event-stream", events(first.ok().flatten(), messages)),
    };
    let mut answer = Response::new(body);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if kind == "text/event-stream" {
        answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    answer
}

fn is_last(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
}

fn text(message: &ServerJsonRpcMessage) -> Bytes {
    serde_json::to_vec(message).expect("it is made of JSON").into()
}

/// What is said about one call, as events; its answer is the last of them.
fn events(
    first: Option<ServerJsonRpcMessage>,
    messages: mpsc::Receiver<ServerJsonRpcMessage>,
) -> BoxBody<Bytes, Infallible> {
    let events = stream::unfold((first, Some(messages)), async |(first, messages)| {
        let mut messages = messages?;
        let message = match first {
            Some(first) => Some(first),
            None => match tokio::time::timeout(SILENCE, messages.recv()).await {
                Ok(message) => Some(message?),
                Err(_) => None,
            },
        };
        let Some(message) = message else {
            return Some((Bytes::from_static(b":\n\n"), (None, Some(messages))));
        };
        let event = [b"data: ", &*text(&message), b"\n\n"].concat();
        let more = (!is_last(&message)).then_some(messages);
        Some((event.into(), (None, more)))
    });
    BodyExt::boxed(StreamBody::new(events.map(|event| Ok(Frame::data(event)))))
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.inner.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let answer = self.inner.initialize_session(id, message).await?;
        if matches!(answer, ServerJsonRpcMessage::Response(_)) {
            let session = Session { calls: Arc::default(), heard_of: Instant::now() };
            self.open().insert(id.clone(), session);
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        if let Some(session) = self.open().remove(id) {
            session.calls.cancel_all();
        }
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        let calls = self.open().get(id).map(|session| Arc::clone(&session.calls));
        if calls.is_some_and(|calls| calls.cancelled_by(&message)) {
            return Ok(());
        }
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.resume(id, last_event_id).await
    }
}
