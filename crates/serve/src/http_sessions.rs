//! The sessions of HTTP clients with a handshake. They are rmcp's sessions, with the fast path for
//! plain calls added in front and resumption of its event streams.
//!
//! ```text
//! POST tools/call ─▶ HttpSessions::answer ─┬─ not plain ─▶ None: rmcp's service answers
//!                                          ▼
//!                      FastCalls::run ─▶ EventLog
//!                                          ├─ response within 200 ms ─▶ complete response
//!                                          └─ progress, or later ─────▶ event stream
//! GET Last-Event-ID ─▶ resume ─┬─ `call-…`: the events of the EventLog
//!                              └─ other ids: rmcp's session
//! ```
//!
//! rmcp ends a session that it has seen no request of for a while, and it does not see the requests
//! of the fast path. So its limit is raised, and one call per minute goes through rmcp to show that
//! the session is alive.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::Either;
use futures::stream::{Stream, StreamExt};
use http::{HeaderMap, HeaderName};
use rmcp::model::{ClientJsonRpcMessage, CustomResult, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use crate::McpHandler;
use crate::detached::DetachOnDrop;
use crate::event_log::{CallCancelled, EventLog, EventWriter};
use crate::fast_calls::{FastCallRequest, FastCalls};
use crate::http_server::HttpResponse;
use crate::sse;

/// How long a response is held back so that it can be sent whole. After that the client gets the
/// headers, with an event id to reconnect with.
const MAX_HOLD: Duration = Duration::from_millis(200);
/// When rmcp ends a session without requests. Longer than any call may take, since a call on the
/// fast path is not a request to rmcp.
const IDLE_LIMIT: Duration = Duration::from_secs(20 * 60);
/// How often a call takes rmcp's path instead, so that rmcp sees the session is in use.
const REFRESH_INTERVAL: Duration = Duration::from_secs(60);
/// The header that names a session.
const SESSION_HEADER: &str = "mcp-session-id";
/// The header that names the negotiated revision.
const VERSION_HEADER: &str = "mcp-protocol-version";
/// The revisions with sessions. 2024-11-05 had none; a client without the header counts as
/// 2025-03-26, which did not have the header yet.
const SESSION_REVISIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
/// The revision whose event streams start with a priming event.
const PRIMING_REVISION: &str = "2025-11-25";
/// How many event logs of one session are kept for resumption.
const MAX_LOGS: usize = 64;
/// How many bytes the logs of finished calls of one session may use.
const MAX_FINISHED_BYTES: usize = 8 << 20;

/// All sessions of the server. rmcp's service uses it as its session manager.
pub(crate) struct HttpSessions {
    /// rmcp's own sessions.
    inner: LocalSessionManager,
    handler: McpHandler,
    /// Our part of each session.
    open: Mutex<HashMap<SessionId, HttpSession>>,
    /// How many event logs were made; the number of the next one. One count for all sessions, so
    /// that an event id never fits a log of another session.
    logs_made: AtomicU64,
}

/// The part of a session that rmcp does not have.
struct HttpSession {
    calls: Arc<FastCalls>,
    /// When a request last went through rmcp.
    refreshed: Instant,
    /// The event logs of the last calls, oldest first.
    logs: VecDeque<Arc<EventLog>>,
}

impl HttpSession {
    /// Keeps a log for resumption, and forgets the oldest finished ones if there are too many. A
    /// log of a running call is forgotten only if all are: its client still waits for the result.
    fn keep_log(&mut self, log: &Arc<EventLog>) {
        self.logs.push_back(Arc::clone(log));
        let mut finished: usize =
            self.logs.iter().filter(|log| log.is_closed()).map(|log| log.bytes()).sum();
        while self.logs.len() > MAX_LOGS || finished > MAX_FINISHED_BYTES {
            let oldest = self.logs.iter().position(|log| log.is_closed()).unwrap_or(0);
            let Some(forgotten) = self.logs.remove(oldest) else { return };
            finished = finished.saturating_sub(forgotten.bytes());
        }
    }
}

impl HttpSessions {
    /// No sessions yet; clients create them with `initialize`.
    pub(crate) fn new(handler: McpHandler) -> HttpSessions {
        let (mut inner, open) = (LocalSessionManager::default(), Mutex::default());
        inner.session_config.keep_alive = Some(IDLE_LIMIT);
        HttpSessions { inner, handler, open, logs_made: AtomicU64::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, HttpSession>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a plain call of a session on the fast path. `None` if anything about the request is
    /// special or wrong: rmcp then answers it, also with the right error.
    pub(crate) async fn answer(&self, headers: &HeaderMap, body: &[u8]) -> Option<HttpResponse> {
        let id = session_of_plain_request(headers)?;
        let request = FastCallRequest::parse(body)?;
        let calls = self.calls(id)?;
        let log = EventLog::new(self.logs_made.fetch_add(1, Ordering::Relaxed));
        if let Some(session) = self.open().get_mut(id) {
            session.keep_log(&log);
        }
        let call = calls.run(&self.handler, request, EventWriter(Arc::clone(&log)));
        let mut call = DetachOnDrop::new(call);
        // Ends with the call, with the first progress notification, or after `MAX_HOLD`; then the
        // rest of the call runs detached. Biased, so that a call that is done counts as done.
        let _ = tokio::time::timeout(MAX_HOLD, async {
            tokio::select! {
                biased;
                () = &mut call => {}
                () = log.wait_for_first() => {}
            }
        })
        .await;
        let is_primed = headers.get(VERSION_HEADER).is_some_and(|v| v == PRIMING_REVISION);
        let before = if is_primed { sse::priming_event(&log) } else { Vec::new() };
        Some(match log.sole_response() {
            Err(CallCancelled) => sse::empty_response(),
            Ok(Some(response)) => sse::complete_response(&log, before, &response),
            Ok(None) => sse::streamed_response(&log, before),
        })
    }

    /// The calls of a session. `None` if there is no such session, or if rmcp has to see a request
    /// of it again, see [`REFRESH_INTERVAL`].
    fn calls(&self, id: &str) -> Option<Arc<FastCalls>> {
        let mut open = self.open();
        let session = open.get_mut(id)?;
        if session.refreshed.elapsed() > REFRESH_INTERVAL {
            session.refreshed = Instant::now();
            return None;
        }
        Some(Arc::clone(&session.calls))
    }
}

/// The session id of a request whose headers are all as usual. `None` if one is missing or wrong,
/// which rmcp reports, or if there are further `mcp-` headers, which rmcp compares with the body.
fn session_of_plain_request(headers: &HeaderMap) -> Option<&str> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_special = |name: &HeaderName| {
        let name = name.as_str();
        name.starts_with("mcp-") && name != SESSION_HEADER && name != VERSION_HEADER
    };
    let accepts_both = value("accept")
        .is_some_and(|all| all.contains("application/json") && all.contains("text/event-stream"));
    let is_known_revision = !headers.contains_key(VERSION_HEADER)
        || value(VERSION_HEADER).is_some_and(|version| SESSION_REVISIONS.contains(&version));
    let is_plain = accepts_both
        && is_known_revision
        && value("content-type").is_some_and(|kind| kind.starts_with("application/json"))
        && !headers.keys().any(is_special);
    value(SESSION_HEADER).filter(|_| is_plain)
}

/// Parses a message of a log back into rmcp's type, for a stream that rmcp writes. The result stays
/// raw JSON: rmcp's untagged result enum could take it for another kind and lose fields.
fn parse_logged(message: &[u8]) -> Option<ServerJsonRpcMessage> {
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

/// rmcp's session manager with our part added: sessions appear and disappear in both, cancellations
/// and resumptions go to the part that the call is in, everything else to rmcp.
impl SessionManager for HttpSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    // Our part is added in `initialize_session`: an id alone is not yet a session.
    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.inner.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let answer = self.inner.initialize_session(id, message).await?;
        // A refused handshake makes no session.
        if matches!(answer, ServerJsonRpcMessage::Response(_)) {
            let (refreshed, logs) = (Instant::now(), VecDeque::new());
            let session = HttpSession { calls: Arc::default(), refreshed, logs };
            self.open().insert(id.clone(), session);
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    /// Called for DELETE and when rmcp's session has ended. The calls of the session end with it.
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

    /// Takes notifications and responses of the client. A cancellation may be about a call on the
    /// fast path.
    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        let calls = self.open().get(id).map(|session| Arc::clone(&session.calls));
        if calls.is_some_and(|calls| calls.cancel_by(&message)) {
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

    /// Answers GET with `Last-Event-ID`. The events are those of one call; rmcp writes the stream.
    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let logged = EventLog::parse_event_id(&last_event_id).and_then(|(number, n)| {
            let open = self.open();
            let log = open.get(id)?.logs.iter().find(|log| log.number() == number)?;
            Some((Arc::clone(log), n))
        });
        // rmcp answers ids of its own streams, and rejects ids of logs that are forgotten.
        let Some((log, n)) = logged else {
            return Ok(Either::Left(self.inner.resume(id, last_event_id).await?));
        };
        Ok(Either::Right(log.events_after(n).map(move |(n, message)| {
            let mut event = ServerSseMessage::default();
            (event.event_id, event.message) =
                (Some(log.event_id(n)), parse_logged(&message).map(Arc::new));
            event
        })))
    }
}
