//! The sessions of HTTP clients that have shaken hands: rmcp's, but plain calls are answered by
//! [`Calls`]. An answer that comes soon goes out whole, in one piece with its headers; one that
//! takes longer is a stream of events that a client can come back to.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, Either};
use futures::stream::{self, Stream, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, Response, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};
use rmcp::model::{ClientJsonRpcMessage, CustomResult, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio::runtime::Handle;

use crate::Agent;
use crate::calls::{Asked, Calls};
use crate::http::Answer;
use crate::story::{Cancelled, Story, Teller};

/// How long an answer may take before its client is sent the headers alone, and what to come back
/// with.
const SOON: Duration = Duration::from_millis(200);
/// rmcp ends a session that it has not heard of for this long: longer than any call takes that it
/// does not hear of.
const IDLE: Duration = Duration::from_secs(20 * 60);
/// So a call a minute goes through it.
const HEARD_OF: Duration = Duration::from_secs(60);
/// How long nothing is sent before a sign of life is.
const SILENCE: Duration = Duration::from_secs(15);
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// The revisions that have sessions and say so in a header.
const WITH_SESSIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
/// The revision whose clients are told first what to come back with.
const PRIMED: &str = "2025-11-25";
/// How long a client that lost its connection waits before it comes back.
const RETRY: Duration = Duration::from_secs(3);
/// Stories of one session that are kept for clients that come back, and bytes of those that are
/// over.
const STORIES: usize = 64;
const OVER: usize = 8 << 20;

pub(crate) struct Sessions {
    inner: LocalSessionManager,
    agent: Agent,
    open: Mutex<HashMap<SessionId, Session>>,
    /// How many have been begun.
    stories: AtomicU64,
}

struct Session {
    calls: Arc<Calls>,
    /// When rmcp last heard of it.
    heard_of: Instant,
    /// The last ones, oldest first.
    stories: VecDeque<Arc<Story>>,
}

impl Session {
    /// Keeps a story, and forgets others if they are too many: first those that are over.
    fn keep(&mut self, story: &Arc<Story>) {
        self.stories.push_back(Arc::clone(story));
        let mut over: usize =
            self.stories.iter().filter(|story| story.is_over()).map(|story| story.bytes()).sum();
        while self.stories.len() > STORIES || over > OVER {
            let oldest = self.stories.iter().position(|story| story.is_over()).unwrap_or(0);
            let Some(forgotten) = self.stories.remove(oldest) else { return };
            over = over.saturating_sub(forgotten.bytes());
        }
    }
}

impl Sessions {
    pub(crate) fn new(agent: Agent) -> Sessions {
        let (mut inner, open) = (LocalSessionManager::default(), Mutex::default());
        inner.session_config.keep_alive = Some(IDLE);
        Sessions { inner, agent, open, stories: AtomicU64::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request for a call past rmcp, if it is one of a session and nothing about it is
    /// special. `None` leaves it to rmcp, which also has the words for what is wrong with others.
    pub(crate) async fn answer(&self, headers: &HeaderMap, body: &[u8]) -> Option<Answer> {
        let id = plain_session(headers)?;
        let asked = Asked::read(body)?;
        let calls = self.calls(id)?;
        let story = Story::new(self.stories.fetch_add(1, Ordering::Relaxed));
        if let Some(session) = self.open().get_mut(id) {
            session.keep(&story);
        }
        let mut work =
            Afloat(Some(Box::pin(calls.make(&self.agent, asked, Teller(Arc::clone(&story))))));
        let _ = tokio::time::timeout(SOON, async {
            tokio::select! {
                biased;
                () = &mut work => {}
                () = story.begun() => {}
            }
        })
        .await;
        // Since 2025-11-25 a client is told first what to come back with.
        let primes = headers.get(VERSION).is_some_and(|version| version == PRIMED);
        let before = if primes { priming(&story) } else { Vec::new() };
        Some(event_stream(match story.answer_alone() {
            Err(Cancelled) => Full::default().boxed(),
            Ok(Some(answer)) => Full::from([before, event(&story, 1, &answer)].concat()).boxed(),
            Ok(None) => as_it_goes(&story, before),
        }))
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

/// A call that goes on where it is waited for, and by itself when that ends: a client that hangs up
/// in a session has not cancelled it. In a task of its own from the beginning it would cost two
/// more hand-overs.
struct Afloat(Option<BoxFuture<'static, ()>>);

impl Future for Afloat {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(work) = &mut self.0 else { return Poll::Ready(()) };
        let ended = work.as_mut().poll(context);
        if ended.is_ready() {
            self.0 = None;
        }
        ended
    }
}

impl Drop for Afloat {
    fn drop(&mut self) {
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

/// A stream of events that is answered with.
fn event_stream(body: BoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// An event without words, whose id a client can come back with.
fn priming(story: &Story) -> Vec<u8> {
    format!("id: {}\nretry: {}\ndata: \n\n", story.event(0), RETRY.as_millis()).into_bytes()
}

fn event(story: &Story, n: usize, message: &[u8]) -> Vec<u8> {
    [format!("id: {}\ndata: ", story.event(n)).as_bytes(), message, b"\n\n"].concat()
}

/// A message as rmcp takes it. A result stays as it is: rmcp would look for a kind that it fits.
fn read_again(message: &[u8]) -> Option<ServerJsonRpcMessage> {
    let mut message: serde_json::Value = serde_json::from_slice(message).ok()?;
    match message.get_mut("result").map(serde_json::Value::take) {
        Some(result) => {
            let id = serde_json::from_value(message.get("id")?.clone()).ok()?;
            let result = ServerResult::CustomResult(CustomResult::new(result));
            Some(ServerJsonRpcMessage::response(result, id))
        }
        None => serde_json::from_value(message).ok(),
    }
}

/// The whole story as it is told, with signs of life where it pauses.
fn as_it_goes(story: &Arc<Story>, before: Vec<u8>) -> BoxBody<Bytes, Infallible> {
    let told = Box::pin(story.after(0));
    let rest = stream::unfold((told, Arc::clone(story)), async |(mut told, story)| {
        let bytes = match tokio::time::timeout(SILENCE, told.next()).await {
            Ok(Some((n, message))) => event(&story, n, &message),
            Ok(None) => return None,
            Err(_) => b":\n\n".to_vec(),
        };
        Some((bytes, (told, story)))
    });
    let all = stream::iter((!before.is_empty()).then_some(before)).chain(rest);
    BodyExt::boxed(StreamBody::new(all.map(|bytes| Ok(Frame::data(Bytes::from(bytes))))))
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
            let stories = VecDeque::new();
            let session = Session { calls: Arc::default(), heard_of: Instant::now(), stories };
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

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
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
        let told = Story::place(&last_event_id).and_then(|(number, n)| {
            let open = self.open();
            let story = open.get(id)?.stories.iter().find(|story| story.is(number))?;
            Some((Arc::clone(story), n))
        });
        let Some((story, n)) = told else {
            return Ok(Either::Left(self.inner.resume(id, last_event_id).await?));
        };
        Ok(Either::Right(story.after(n).map(move |(n, message)| {
            let mut event = ServerSseMessage::default();
            (event.event_id, event.message) =
                (Some(story.event(n)), read_again(&message).map(Arc::new));
            event
        })))
    }
}
