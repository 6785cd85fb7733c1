//! One client: what it can do, its running requests, and the questions it has not answered yet.
//!
//! A session is the process on standard streams, an `Mcp-Session-Id`, or, for clients of the
//! stateless protocol on HTTP, the identity behind the token. Requests of the stateless protocol
//! bring their own revision and capabilities; what is stored here is for the revisions with a
//! handshake.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value as Json;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use toolwright_catalog::OfferedCapabilities;
use toolwright_exec::{ClientAnswer, GivenReason, SessionNumber};
use toolwright_mcp::{RequestId, Revision, RpcResponse};

use crate::log_level::MessageLevel;
use crate::message_sink::MessageSink;
use crate::session_tasks::SessionTasks;

/// What a client declared in its handshake.
#[derive(Clone)]
pub(crate) struct ClientHandshake {
    /// The revision that was agreed on.
    pub(crate) revision: Revision,
    /// Its `ClientCapabilities`.
    pub(crate) capabilities: Arc<Json>,
}

/// One client: what was agreed with it, its running requests, and the way to it.
pub(crate) struct ClientSession {
    /// Unique in this program.
    pub(crate) number: SessionNumber,
    /// Where messages go that belong to no request.
    pub(crate) sink: Arc<dyn MessageSink>,
    /// Who its calls are made by, according to its token.
    pub(crate) agent: Arc<str>,
    /// Cancelled when the session ends, and its requests with it.
    pub(crate) ended: CancellationToken,
    state: Mutex<SessionState>,
    /// Whether the client has sent `notifications/initialized`: from then on it may be sent
    /// messages that it did not ask for.
    ready: AtomicBool,
    /// Whether an answer was stored, so that the session has the tool `read_result`.
    has_stored_results: AtomicBool,
}

/// Everything that changes, under one lock that is held for moments. Nothing that is called with it
/// held may lock the session again.
#[derive(Default)]
struct SessionState {
    handshake: Option<ClientHandshake>,
    /// Set by `logging/setLevel`.
    log_level: Option<MessageLevel>,
    /// By a number of our own: a client may use one request id twice at once.
    requests: HashMap<u64, (RequestId, CancellationToken, GivenReason)>,
    /// The number of the last request.
    started: u64,
    /// Requests of ours that the client has not answered.
    questions: HashMap<i64, oneshot::Sender<ClientAnswer>>,
    /// The id of the last question. Ids of this side, so they cannot collide with those of the
    /// client.
    asked: i64,
    /// URIs of resources whose updates the client wants, as it sees them.
    subscriptions: HashSet<String>,
    tasks: SessionTasks,
    /// What was announced in the answer to `initialize`.
    announced: OfferedCapabilities,
    /// When the last request arrived or ended; decides when an idle session is closed.
    last_used: Option<Instant>,
}

impl ClientSession {
    /// A session without a handshake.
    pub(crate) fn new(
        number: SessionNumber,
        sink: Arc<dyn MessageSink>,
        agent: &str,
    ) -> Arc<ClientSession> {
        let state = SessionState { last_used: Some(Instant::now()), ..SessionState::default() };
        Arc::new(ClientSession {
            number,
            sink,
            agent: agent.into(),
            ended: CancellationToken::new(),
            state: Mutex::new(state),
            ready: AtomicBool::new(false),
            has_stored_results: AtomicBool::new(false),
        })
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores what the client said in `initialize`.
    pub(crate) fn set_handshake(&self, handshake: ClientHandshake) {
        self.state().handshake = Some(handshake);
    }

    /// What the client said in `initialize`; `None` before.
    pub(crate) fn handshake(&self) -> Option<ClientHandshake> {
        self.state().handshake.clone()
    }

    /// Stores what is announced to the client, which relies on it as long as the session lasts.
    pub(crate) fn set_announced(&self, capabilities: OfferedCapabilities) {
        self.state().announced = capabilities;
    }

    /// What was announced to the client; nothing before the handshake.
    pub(crate) fn announced(&self) -> OfferedCapabilities {
        self.state().announced
    }

    /// Notes that the handshake is complete.
    pub(crate) fn set_ready(&self) {
        if self.state().handshake.is_some() {
            self.ready.store(true, Ordering::Release);
        }
    }

    /// Whether the client takes messages that it did not ask for.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// Sets the lowest level of log messages that the client wants.
    pub(crate) fn set_log_level(&self, level: MessageLevel) {
        self.state().log_level = Some(level);
    }

    /// The lowest level of log messages for a client with a handshake. Clients that never set one
    /// get information and above: debugging output is for those who ask for it.
    pub(crate) fn log_level(&self) -> MessageLevel {
        self.state().log_level.unwrap_or(MessageLevel::Info)
    }

    /// Whether the client has set a level.
    pub(crate) fn has_log_level(&self) -> bool {
        self.state().log_level.is_some()
    }

    /// The lowest level that servers have to send for this client; `None` if it gets no messages.
    pub(crate) fn wanted_log_level(&self) -> Option<MessageLevel> {
        (self.is_ready() || self.has_log_level()).then(|| self.log_level())
    }

    /// Notes the level that a request of a stateless client names, unless one before wanted more.
    /// Returns whether that changed anything.
    pub(crate) fn lower_log_level(&self, level: MessageLevel) -> bool {
        let own = &mut self.state().log_level;
        let is_lower = own.is_none_or(|known| level < known);
        if is_lower {
            *own = Some(level);
        }
        is_lower
    }

    /// Notes that the session is used now.
    pub(crate) fn touch(&self) {
        self.state().last_used = Some(Instant::now());
    }

    /// Since when no request has arrived; `None` while one is running.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        state.last_used.filter(|_| state.requests.is_empty())
    }

    /// Whether an answer was stored for this session.
    pub(crate) fn has_stored_results(&self) -> bool {
        self.has_stored_results.load(Ordering::Acquire)
    }

    /// Notes that an answer was stored. Returns true the first time.
    pub(crate) fn note_stored_result(&self) -> bool {
        !self.has_stored_results.swap(true, Ordering::AcqRel)
    }

    /// Registers a running request, so that the client can cancel it.
    pub(crate) fn register(
        self: &Arc<Self>,
        id: RequestId,
        cancel: CancellationToken,
        reason: GivenReason,
    ) -> RegisteredRequest {
        let mut state = self.state();
        state.started += 1;
        let number = state.started;
        state.requests.insert(number, (id, cancel, reason));
        RegisteredRequest { session: Arc::clone(self), number }
    }

    /// Cancels the requests with this id, for this reason.
    ///
    /// An id of a request that has ended is ignored, as MCP demands; the client may not have seen
    /// the answer.
    pub(crate) fn cancel(&self, id: &RequestId, why: Option<&str>) {
        let state = self.state();
        for (own, cancel, reason) in state.requests.values() {
            if own == id {
                why.map(|why| reason.set(why.to_owned()));
                cancel.cancel();
            }
        }
    }

    /// Ends the session: its requests are cancelled, and its questions get no answer.
    ///
    /// May be called several times. What belongs to the session elsewhere is ended by
    /// `Gateway::end_session`.
    pub(crate) fn end(&self) {
        self.ended.cancel();
        let mut state = self.state();
        state.requests.values().for_each(|(_, cancel, _)| cancel.cancel());
        state.questions.clear();
    }

    /// Registers a question to the client. Returns its id and where the answer arrives.
    pub(crate) fn open_question(&self) -> (i64, oneshot::Receiver<ClientAnswer>) {
        let (sender, answer) = oneshot::channel();
        let mut state = self.state();
        state.asked += 1;
        let id = state.asked;
        state.questions.insert(id, sender);
        (id, answer)
    }

    /// Forgets a question. Returns true if it was still open.
    pub(crate) fn close_question(&self, id: i64) -> bool {
        self.state().questions.remove(&id).is_some()
    }

    /// Passes the client's response to the call that asked. Responses to nothing are ignored.
    pub(crate) fn accept_response(&self, response: RpcResponse) {
        let Some(RequestId::Number(id)) = response.id else { return };
        let Some(asker) = self.state().questions.remove(&id) else { return };
        let answer = response.outcome.and_then(|result| {
            serde_json::from_str(result.get()).map_err(|error| {
                crate::request_params::invalid_params(format!("the answer is unreadable: {error}"))
            })
        });
        // The call may have ended meanwhile.
        let _ = asker.send(answer);
    }

    /// Adds or removes a resource whose updates the client wants. Returns whether that changed
    /// anything.
    pub(crate) fn set_subscription(&self, uri: &str, wanted: bool) -> bool {
        let mut state = self.state();
        match wanted {
            true => state.subscriptions.insert(uri.to_owned()),
            false => state.subscriptions.remove(uri),
        }
    }

    /// Whether the client wants updates of this resource.
    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        covers(&self.state().subscriptions, uri)
    }

    /// All resources whose updates the client wants.
    pub(crate) fn take_subscriptions(&self) -> HashSet<String> {
        std::mem::take(&mut self.state().subscriptions)
    }

    /// The tasks of this session. Locks the session, so `use_them` must not use the session itself.
    pub(crate) fn with_tasks<T>(&self, use_them: impl FnOnce(&mut SessionTasks) -> T) -> T {
        use_them(&mut self.state().tasks)
    }
}

/// A request that is running; removed from its session when this is dropped.
pub(crate) struct RegisteredRequest {
    session: Arc<ClientSession>,
    number: u64,
}

impl Drop for RegisteredRequest {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.requests.remove(&self.number);
        state.last_used = Some(Instant::now());
    }
}

/// Whether an update of a resource is one of those that a client wants. By the specification a
/// server may report a part of the resource that the client has subscribed to.
pub(crate) fn covers(wanted: &HashSet<String>, uri: &str) -> bool {
    let is_part = |whole: &String| match uri.strip_prefix(whole.as_str()) {
        Some(part) => whole.ends_with('/') || part.starts_with(['/', '?', '#']),
        None => false,
    };
    wanted.contains(uri) || wanted.iter().any(is_part)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_exec::LOCAL_AGENT;
    use toolwright_mcp::raw_json;

    use super::*;
    use crate::message_sink::NullSink;

    fn session() -> Arc<ClientSession> {
        ClientSession::new(SessionNumber(1), Arc::new(NullSink), LOCAL_AGENT)
    }

    #[test]
    fn all_requests_with_the_same_id_are_cancelled() {
        let session = session();
        let tokens = [(); 3].map(|()| CancellationToken::new());
        let ids = [7, 7, 8].map(RequestId::Number);
        let running: Vec<_> = ids
            .into_iter()
            .zip(&tokens)
            .map(|(id, token)| session.register(id, token.clone(), GivenReason::default()))
            .collect();
        assert_eq!(session.idle_since(), None);
        session.cancel(&RequestId::Number(7), None);
        assert_eq!(tokens.each_ref().map(CancellationToken::is_cancelled), [true, true, false]);
        drop(running);
        assert!(session.idle_since().is_some());
    }

    #[tokio::test]
    async fn answers_reach_their_question_once() {
        let session = session();
        let (id, answer) = session.open_question();
        let response = |id| RpcResponse {
            id: Some(RequestId::Number(id)),
            outcome: Ok(raw_json(&json!({"action": "accept"}))),
        };
        session.accept_response(response(id + 1));
        session.accept_response(response(id));
        session.accept_response(response(id));
        assert_eq!(answer.await, Ok(Ok(json!({"action": "accept"}))));
        assert!(!session.close_question(id));
    }

    #[test]
    fn a_client_is_ready_after_its_handshake_only() {
        let session = session();
        session.set_ready();
        assert!(!session.is_ready());
        let capabilities = Arc::new(json!({}));
        session.set_handshake(ClientHandshake { revision: Revision::V2025_06_18, capabilities });
        session.set_ready();
        assert!(session.is_ready());
    }
}
