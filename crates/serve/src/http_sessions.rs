//! The sessions of HTTP clients: found by their id, ended when they are idle for long, and with the
//! event logs of their last streams, so that a client can resume one.
//!
//! What is kept is bounded: 10,000 sessions, 4 MiB of events per session, 64 MiB in all. The
//! session that was idle longest loses first; logs of running calls are kept as long as possible,
//! because their clients still wait for the result.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::Gateway;
use crate::client_session::ClientSession;
use crate::event_log::{EventLog, MAX_LOG_BYTES};
use crate::handles::random_handle;
use crate::message_sink::{MessageSink, NullSink};

/// How many sessions may be open at once.
const MAX_SESSIONS: usize = 10_000;
/// How many event logs of one session are kept for resumption.
const MAX_LOGS: usize = 64;
/// How many bytes the logs of all sessions may use.
const MAX_ALL_BYTES: usize = 64 << 20;

/// All sessions of the server.
pub(crate) struct HttpSessions {
    gateway: Gateway,
    open: Mutex<HashMap<String, Arc<HttpSession>>>,
    /// How many event logs were made; the number of the next one. One count for all sessions, so
    /// that an event id never fits a log of another session.
    logs_made: AtomicU64,
    /// The session of the clients without one, by agent: a token is one identity. It is removed
    /// after it was idle for too long.
    stateless: Mutex<HashMap<Arc<str>, Arc<ClientSession>>>,
}

/// One session with a handshake.
pub(crate) struct HttpSession {
    pub(crate) client: Arc<ClientSession>,
    /// Messages that belong to no request, for the stream of a GET.
    pub(crate) server_stream: Arc<EventLog>,
    /// The event logs of the last calls, oldest first.
    logs: Mutex<VecDeque<Arc<EventLog>>>,
}

impl HttpSession {
    fn logs(&self) -> MutexGuard<'_, VecDeque<Arc<EventLog>>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a log for resumption, and forgets the oldest finished ones if there are too many. A
    /// log of a running call is forgotten only if all are.
    pub(crate) fn keep_log(&self, log: &Arc<EventLog>) {
        let mut logs = self.logs();
        logs.push_back(Arc::clone(log));
        logs.retain(|log| !log.is_forgettable());
        let finished = |log: &&Arc<EventLog>| log.is_closed();
        let mut bytes: usize = logs.iter().filter(finished).map(|log| log.bytes()).sum();
        // The newest one stays in any case.
        while logs.len() > 1 && (logs.len() > MAX_LOGS || bytes > MAX_LOG_BYTES) {
            let oldest = logs.iter().position(|log| log.is_closed()).unwrap_or(0);
            let Some(forgotten) = logs.remove(oldest) else { return };
            bytes = bytes.saturating_sub(forgotten.bytes());
        }
    }

    /// The log with this number, if it is kept.
    pub(crate) fn log(&self, number: u64) -> Option<Arc<EventLog>> {
        if self.server_stream.number() == number {
            return Some(Arc::clone(&self.server_stream));
        }
        self.logs().iter().find(|log| log.number() == number).map(Arc::clone)
    }

    /// The bytes of all logs.
    fn bytes(&self) -> usize {
        self.server_stream.bytes() + self.logs().iter().map(|log| log.bytes()).sum::<usize>()
    }

    /// Since when the session is not used; `None` while a request runs or a stream is open.
    fn idle_since(&self) -> Option<Instant> {
        // One reference is here and one in the client's session; each open stream has another.
        let has_stream = Arc::strong_count(&self.server_stream) > 2;
        self.client.idle_since().filter(|_| !has_stream)
    }
}

impl HttpSessions {
    /// No sessions yet; clients create them with `initialize`.
    pub(crate) fn new(gateway: Gateway) -> HttpSessions {
        let (open, logs_made) = (Mutex::default(), AtomicU64::default());
        HttpSessions { gateway, open, logs_made, stateless: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Arc<HttpSession>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of an agent's clients without one, for a request.
    pub(crate) fn stateless(&self, agent: &Arc<str>) -> Arc<ClientSession> {
        let mut sessions = self.stateless.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || self.gateway.new_session(Arc::new(NullSink), agent);
        let session = sessions.entry(Arc::clone(agent)).or_insert_with(new);
        // Under the lock, so that it does not end before the request has begun.
        session.touch();
        Arc::clone(session)
    }

    /// How long a session may be idle.
    pub(crate) fn session_idle(&self) -> Duration {
        self.gateway.options().session_idle
    }

    /// A new log for a stream.
    pub(crate) fn new_log(&self) -> Arc<EventLog> {
        EventLog::new(self.logs_made.fetch_add(1, Ordering::Relaxed))
    }

    /// The session with this id. It exists for the agent that opened it, and for nobody else.
    pub(crate) fn get(&self, id: &str, agent: &str) -> Option<Arc<HttpSession>> {
        self.open().get(id).filter(|session| *session.client.agent == *agent).map(Arc::clone)
    }

    /// Makes a session of an agent that clients cannot find before [`HttpSessions::insert`].
    pub(crate) fn create(&self, agent: &str) -> Arc<HttpSession> {
        let server_stream = self.new_log();
        let sink = Arc::clone(&server_stream) as Arc<dyn MessageSink>;
        let client = self.gateway.new_session(sink, agent);
        Arc::new(HttpSession { client, server_stream, logs: Mutex::default() })
    }

    /// Opens a session and returns its id. If there are too many, the one that was idle longest
    /// ends.
    pub(crate) fn insert(&self, session: Arc<HttpSession>) -> String {
        let id = random_handle();
        let mut open = self.open();
        let mut ended = None;
        if open.len() >= MAX_SESSIONS {
            let idle = open.iter().filter_map(|(id, it)| Some((it.idle_since()?, id)));
            let longest = idle.min().map(|(_, id)| id.clone());
            ended = longest.and_then(|id| open.remove(&id));
        }
        open.insert(id.clone(), session);
        drop(open);
        ended.iter().for_each(|session| self.end(session));
        id
    }

    /// Ends the session with this id. Returns false if there is none.
    pub(crate) fn remove(&self, id: &str) -> bool {
        let removed = self.open().remove(id);
        removed.iter().for_each(|session| self.end(session));
        removed.is_some()
    }

    /// Ends a session that is not in the table any more, or never was.
    pub(crate) fn end(&self, session: &Arc<HttpSession>) {
        session.server_stream.close();
        self.gateway.end_session(&session.client);
    }

    /// Forgets finished logs until the logs of all sessions fit, those of the sessions that were
    /// idle longest first.
    pub(crate) fn make_room(&self) {
        let mut sessions: Vec<Arc<HttpSession>> = self.open().values().map(Arc::clone).collect();
        let mut bytes: usize = sessions.iter().map(|session| session.bytes()).sum();
        if bytes <= MAX_ALL_BYTES {
            return;
        }
        sessions.sort_by_key(|session| session.idle_since().unwrap_or_else(Instant::now));
        for session in sessions {
            session.logs().retain(|log| {
                let is_kept = bytes <= MAX_ALL_BYTES || !log.is_closed();
                bytes -= if is_kept { 0 } else { log.bytes() };
                is_kept
            });
        }
    }

    /// Ends the sessions of clients without one that were idle for longer than this. A call that
    /// waits for the person is not idle, as long as it is kept.
    fn end_idle_stateless(&self, limit: Duration) {
        let mut ended = Vec::new();
        let mut sessions = self.stateless.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| {
            let is_idle = session.idle_since().is_some_and(|since| since.elapsed() > limit);
            let is_over = is_idle && !self.gateway.suspended().has_calls_of(session.number);
            if is_over {
                ended.push(Arc::clone(session));
            }
            !is_over
        });
        drop(sessions);
        ended.iter().for_each(|session| self.gateway.end_session(session));
    }

    /// Ends sessions that were idle for too long, and forgets what is not needed any more.
    pub(crate) fn sweep(&self) {
        let limit = self.session_idle();
        let mut ended = Vec::new();
        self.open().retain(|_, session| {
            let is_idle = session.idle_since().is_some_and(|since| since.elapsed() > limit);
            if is_idle {
                ended.push(Arc::clone(session));
            } else {
                session.logs().retain(|log| !log.is_forgettable());
            }
            !is_idle
        });
        ended.iter().for_each(|session| self.end(session));
        self.end_idle_stateless(limit);
        self.make_room();
        self.gateway.suspended().remove_expired();
    }
}
