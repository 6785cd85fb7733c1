//! One connection to a server, from its handshake to its end. All requests take the same way,
//! whatever their method and transport; `upstream` decides when to open a connection.
//!
//! ```text
//! request ─▶ register (dispatcher) ─▶ wire: stdin of a process, or POST
//!               │                                         │
//!               ▼                                         ▼
//!          OpenRequest ◀── dispatcher ◀── reader of stdout, or of the POST's answer
//!               │ progress, log, questions ─▶ Host
//!               └ result or error ─▶ caller
//! ```
//!
//! A task watches the connection. When it ends, the task ends the server's process as well and
//! publishes a sentence about how it ended, which waiting requests put into their failures.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::{AbortHandle, Abortable};
use futures::stream::FuturesUnordered;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;
use serde_json::{Map, json};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use toolwright_mcp::{Message, RequestId, RpcError, error_code, meta, raw_json, standard_headers};
use toolwright_model::{Connection, Server};

use super::connect_error::{answer_too_large, bounded, connection_lost, not_ready, unavailable};
use super::dispatcher::{ConnectionSharing, Dispatcher, ListChangeCounter};
use super::duplex_wire::{self, DuplexWire};
use super::handshake::{HandshakeFailure, ProcessGreeting, run_by_hand};
use super::http_client::HttpFailure;
use super::http_wire::{FollowedStream, HttpWire};
use super::open_request::{
    OpenRequest, RequestEvent, RequestOwner, ServerQuestion, UpstreamAnswer,
};
use super::outgoing_request::{InputRound, OutgoingRequest};
use super::param_headers::ParamHeaders;
use super::questions::{InputRequired, MAX_ROUNDS, check_capability};
use super::server_process::{ServerProcess, TIME_TO_END};
use super::stdio_wire::{self, StdioWire};
use super::subscription::SubscribedUris;
use super::tasks::{TIME_TO_CANCEL, TaskLoss, new_task_of, task_lost};
use super::upstreams::{ServerEnvironment, WantedLogLevel};
use super::{
    NoRootsReason, RequestError, ServerDescription, UpstreamEvent, UpstreamLog,
    UpstreamNotification,
};
use crate::{
    BoxFuture, CallClock, ClientAnswer, ClockPause, Failure, Host, Json, ServerRequest,
    SessionNumber, code,
};

/// The level of log messages of stateless servers until a client sets another.
const DEFAULT_LOG_LEVEL: &str = "info";
/// How long a call may take to end without the answer to a doubtful question, so that it shows not
/// to have asked it.
const DOUBTFUL_HOLD: Duration = Duration::from_millis(500);

/// How long a person may take on the web page that a server has asked to visit.
const TIME_TO_VISIT: Duration = Duration::from_secs(60);

/// Why a question is refused that nobody waits for any more.
const CALL_ENDED: &str = "the call that asked has ended";

/// An open connection.
pub(super) struct UpstreamConnection {
    wire: ServerWire,
    pub(super) dispatcher: Arc<Dispatcher>,
    /// The name of the source, for the person who is asked.
    source: String,
    /// What the server said of itself; empty before the handshake.
    description: RwLock<Option<Arc<ServerDescription>>>,
    /// Whether requests carry the context of their client (2026-07-28).
    stateless: AtomicBool,
    links: ConnectionLinks,
    /// Held while an expired HTTP session is replaced.
    pub(super) renewing: tokio::sync::Mutex<()>,
    /// Cancelling it ends the connection.
    closing: CancellationToken,
    /// Why we ended the connection. Empty if the server or the network did.
    disconnect_reason: Arc<OnceLock<String>>,
    /// How the connection ended, in a sentence; `None` while it is open.
    end: watch::Receiver<Option<String>>,
}

/// What a connection shares with the upstream that it belongs to.
#[derive(Clone)]
pub(super) struct ConnectionLinks {
    pub(super) events: broadcast::Sender<UpstreamNotification>,
    pub(super) changes: ListChangeCounter,
    pub(super) log: UpstreamLog,
    pub(super) param_headers: Arc<ParamHeaders>,
    pub(super) log_level: WantedLogLevel,
    pub(super) sharing: ConnectionSharing,
    /// The resources that clients subscribed to. They survive a restart of the server.
    pub(super) subscribed: watch::Sender<SubscribedUris>,
    /// The sessions that were asked for their roots.
    pub(super) asked_for_roots: Arc<Mutex<HashSet<SessionNumber>>>,
}

/// The transport.
#[derive(Clone)]
pub(super) enum ServerWire {
    Stdio(StdioWire),
    Http(Arc<HttpWire>),
    /// Legacy SSE, or a WebSocket.
    Duplex(Arc<dyn DuplexWire>),
}

/// Who waits for a request.
pub(super) struct RequestCaller<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) owner: RequestOwner,
    /// Moved by signs of life.
    pub(super) clock: Option<&'a CallClock>,
}

/// This program itself as the caller.
pub(super) const OWN_CALLER: RequestCaller<'static> =
    RequestCaller { host: &crate::NoHost, owner: RequestOwner::Own, clock: None };

/// Why one attempt at a request has no result.
pub(super) enum AttemptError {
    Answered(RpcError),
    TooLarge,
    /// The connection ended.
    Ended,
    Http(HttpFailure),
}

impl UpstreamConnection {
    /// Starts or contacts the server and performs the handshake within `time`.
    pub(super) async fn open(
        server: &Server,
        environment: &ServerEnvironment,
        links: ConnectionLinks,
        time: Duration,
    ) -> Result<Arc<UpstreamConnection>, Failure> {
        match &server.connection {
            Connection::Stdio { command } => {
                let began = Instant::now();
                let start = |greeting, time| {
                    let process = ServerProcess::start(command, server, environment);
                    UpstreamConnection::open_process(process, server, links.clone(), time, greeting)
                };
                match start(ProcessGreeting::Initialize, time).await {
                    Ok(connection) => Ok(connection),
                    Err(HandshakeFailure::Failed(failure)) => Err(failure),
                    Err(HandshakeFailure::Unanswered(refusal)) => {
                        let left = time.saturating_sub(began.elapsed());
                        start(ProcessGreeting::Discover, left).await.map_err(|_| refusal)
                    }
                }
            }
            Connection::Http { url } => {
                UpstreamConnection::open_http(url, server, links, time).await
            }
            Connection::Sse { .. } => UpstreamConnection::open_sse(server, links, time).await,
            Connection::WebSocket { .. } => {
                UpstreamConnection::open_duplex(server, links, time).await
            }
        }
    }

    /// Performs the handshake with a server over streamable HTTP.
    pub(super) async fn open_http(
        url: &str,
        server: &Server,
        links: ConnectionLinks,
        time: Duration,
    ) -> Result<Arc<UpstreamConnection>, Failure> {
        let closing = CancellationToken::new();
        let wire = HttpWire::new(url, &server.headers, closing.clone());
        let wire = Arc::new(wire.map_err(|why| unavailable(&why))?);
        let (end_sender, end) = watch::channel(None);
        let http = ServerWire::Http(Arc::clone(&wire));
        let mut own = UpstreamConnection::new(http, server, links, end);
        own.closing = closing;
        let connection = Arc::new(own);
        tokio::time::timeout(time, connection.greet_address())
            .await
            .unwrap_or_else(|_| Err(unavailable(&not_ready(time))))?;
        tokio::spawn(Arc::clone(&connection).watch_http(wire, end_sender));
        Ok(connection)
    }

    /// Performs the handshake with a process that was started, and watches it from then on.
    async fn open_process(
        process: Result<ServerProcess, Failure>,
        server: &Server,
        links: ConnectionLinks,
        time: Duration,
        greeting: ProcessGreeting,
    ) -> Result<Arc<UpstreamConnection>, HandshakeFailure> {
        // Dropping `process` kills it, so a caller that gives up leaves nothing behind.
        let mut process = process.map_err(HandshakeFailure::Failed)?;
        let Some((from, to)) = process.streams.take() else {
            let why = "its standard streams are not available";
            return Err(HandshakeFailure::Failed(unavailable(why)));
        };
        let wire = StdioWire::new(to);
        let (end_sender, end) = watch::channel(None);
        let own = UpstreamConnection::new(ServerWire::Stdio(wire.clone()), server, links, end);
        let connection = Arc::new(own);
        let dispatcher = Arc::clone(&connection.dispatcher);
        // Reads from the first message on, so a server that floods is also disconnected during the
        // handshake.
        let reader = tokio::spawn(async move {
            let reading = stdio_wire::read_messages(from, wire, Arc::clone(&dispatcher));
            let why = reading.await;
            dispatcher.end();
            why
        });
        match tokio::time::timeout(time, connection.greet_process(greeting)).await {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => {
                connection.end_wire();
                let how = process.end().await;
                return Err(failure.with_end(&how, server));
            }
            Err(_) => {
                connection.end_wire();
                let why = process.kill_because(&not_ready(time)).await;
                let failure = unavailable(&why).suggest(run_by_hand(server));
                return Err(HandshakeFailure::Failed(failure));
            }
        }
        tokio::spawn(Arc::clone(&connection).watch_process(process, reader, end_sender));
        Ok(connection)
    }

    pub(super) fn new(
        wire: ServerWire,
        server: &Server,
        links: ConnectionLinks,
        end: watch::Receiver<Option<String>>,
    ) -> UpstreamConnection {
        let ConnectionLinks { events, changes, log, sharing, .. } = links.clone();
        UpstreamConnection {
            wire,
            dispatcher: Arc::new(Dispatcher::new(events, changes, log, sharing)),
            source: server.settings.source.clone(),
            description: RwLock::default(),
            stateless: AtomicBool::new(false),
            links,
            renewing: tokio::sync::Mutex::default(),
            closing: CancellationToken::new(),
            disconnect_reason: Arc::default(),
            end,
        }
    }

    /// Watches a connection to a process until it ends.
    async fn watch_process(
        self: Arc<Self>,
        process: ServerProcess,
        mut reader: tokio::task::JoinHandle<Option<String>>,
        end: watch::Sender<Option<String>>,
    ) {
        let why = tokio::select! {
            why = &mut reader => why.ok().flatten(),
            () = self.closing.cancelled() => Some("the connection was closed".to_owned()),
        };
        self.end_wire();
        let how = process.end().await;
        reader.abort();
        // If we disconnected the server, how its process then ended is not the reason.
        end.send_replace(Some(why.unwrap_or(how)));
    }

    /// Watches a connection over HTTP, which ends only when it is closed.
    async fn watch_http(self: Arc<Self>, wire: Arc<HttpWire>, end: watch::Sender<Option<String>>) {
        let follow = async {
            if !self.is_stateless() {
                while let FollowedStream::SessionExpired(session) =
                    Arc::clone(&wire).follow(Arc::clone(&self.dispatcher)).await
                {
                    // Nobody may call for a long time, and updates are expected meanwhile. If it
                    // fails, the next request tries again.
                    let _ = self.renew_session(session, true).await;
                }
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = self.closing.cancelled() => {}
            () = follow => {}
        }
        self.end_wire();
        wire.delete_session().await;
        let why = self.disconnect_reason();
        end.send_replace(Some(why.unwrap_or_else(|| "the connection was closed".to_owned())));
    }

    /// Fails open requests and closes the input of a process.
    pub(super) fn end_wire(&self) {
        self.dispatcher.end();
        if let ServerWire::Stdio(wire) = &self.wire {
            wire.close();
        }
    }

    /// Whether the connection can no longer be used.
    pub(super) fn has_ended(&self) -> bool {
        self.end.borrow().is_some() || self.dispatcher.has_ended()
    }

    /// Waits for the end and returns a sentence about how it came.
    pub(super) async fn wait_for_end(&self) -> String {
        let mut end = self.end.clone();
        match end.wait_for(Option::is_some).await {
            Ok(how) => how.clone().unwrap_or_default(),
            // The task that watches the connection was dropped: the runtime is shutting down.
            Err(_) => "the connection was closed".to_owned(),
        }
    }

    /// Starts to close the connection; [`wait_for_end`](Self::wait_for_end) waits for the rest.
    pub(super) fn close(&self) {
        self.closing.cancel();
    }

    /// Why we ended the connection, if a request has found a reason.
    pub(super) fn disconnect_reason(&self) -> Option<String> {
        self.disconnect_reason.get().cloned()
    }

    /// Completes when the connection is closed.
    pub(super) async fn closed(&self) {
        self.closing.cancelled().await;
    }

    pub(super) fn wire(&self) -> &ServerWire {
        &self.wire
    }

    /// Whether the server speaks 2026-07-28.
    pub(super) fn is_stateless(&self) -> bool {
        self.stateless.load(Ordering::Relaxed)
    }

    pub(super) fn set_stateless(&self, stateless: bool) {
        self.stateless.store(stateless, Ordering::Relaxed);
    }

    /// What the server said of itself. Set by the handshake.
    pub(super) fn description(&self) -> Option<Arc<ServerDescription>> {
        self.description.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_description(&self, description: ServerDescription) {
        let mut own = self.description.write().unwrap_or_else(PoisonError::into_inner);
        *own = Some(Arc::new(description));
    }

    /// Sends a request and waits for its result. Dropping the future cancels the request at the
    /// server.
    pub(super) async fn request(
        &self,
        request: &OutgoingRequest<'_>,
        caller: &RequestCaller<'_>,
    ) -> Result<Box<RawValue>, RequestError> {
        // From before the request: the person may be quick.
        let events = (caller.host.is_asked_in_results() && !self.is_stateless())
            .then(|| self.links.events.subscribe());
        let mut round = None;
        for _ in 0..=MAX_ROUNDS {
            let result = match self.request_round(request, round.as_ref(), caller).await {
                Err(RequestError::Answered(error))
                    if error.code == error_code::URL_ELICITATION_REQUIRED =>
                {
                    let Some(events) = events else { return Err(RequestError::Answered(error)) };
                    return Box::pin(self.visit_urls(request, error, caller, events)).await;
                }
                result => result?,
            };
            let input = if self.is_stateless() { InputRequired::read(&result) } else { None };
            let Some(input) = input else { return Ok(result) };
            let _pause = caller.clock.map(CallClock::pause);
            round = Some(Box::pin(input.ask(caller.host, &self.source)).await?);
        }
        let message = format!("the server asked for input {MAX_ROUNDS} times and has no result");
        Err(RequestError::Failed(Failure::new(&code::TOOL_FAILED, message)))
    }

    /// Asks the client to open the URLs that an error of a server of 2025-11-25 names, and repeats
    /// the request once. Clients of 2026-07-28 do not know that error. If the client cannot or does
    /// not want to, the error stays.
    async fn visit_urls(
        &self,
        request: &OutgoingRequest<'_>,
        error: RpcError,
        caller: &RequestCaller<'_>,
        events: broadcast::Receiver<UpstreamNotification>,
    ) -> Result<Box<RawValue>, RequestError> {
        let Some(input) = InputRequired::of_url_error(&error) else {
            return Err(RequestError::Answered(error));
        };
        let ids = input.elicitation_ids();
        let pause = caller.clock.map(CallClock::pause);
        let is_accepted = match input.ask(caller.host, &self.source).await {
            Ok(round) => round.is_accepted(),
            Err(_) => false,
        };
        if !is_accepted {
            return Err(RequestError::Answered(error));
        }
        // That the person agreed does not mean that the visit is over. Not all servers report it.
        let _ = tokio::time::timeout(TIME_TO_VISIT, all_complete(events, ids)).await;
        drop(pause);
        self.request_round(request, None, caller).await
    }

    /// One round of a request, repeated if the HTTP session has expired. All but the first attempt
    /// is boxed: every call would otherwise need the memory of its rarest way.
    async fn request_round(
        &self,
        request: &OutgoingRequest<'_>,
        round: Option<&InputRound>,
        caller: &RequestCaller<'_>,
    ) -> Result<Box<RawValue>, RequestError> {
        let session = self.session();
        match self.attempt(request, round, caller).await {
            Ok(result) => Ok(result),
            Err(AttemptError::Http(HttpFailure::SessionExpired)) => {
                // A list that is asked for now is new.
                let is_list = caller.owner == RequestOwner::Own;
                let renewed = Box::pin(self.renew_session(session, !is_list)).await;
                renewed.map_err(RequestError::Failed)?;
                match Box::pin(self.attempt(request, round, caller)).await {
                    Ok(result) => Ok(result),
                    Err(error) => Err(Box::pin(self.explain(error)).await),
                }
            }
            Err(error) => Err(Box::pin(self.explain(error)).await),
        }
    }

    /// The HTTP session, if there is one.
    pub(super) fn session(&self) -> Option<HeaderValue> {
        match &self.wire {
            ServerWire::Http(wire) => wire.session(),
            ServerWire::Stdio(_) | ServerWire::Duplex(_) => None,
        }
    }

    /// The error of a request for its caller. If the connection ended, waits until it is known how.
    async fn explain(&self, error: AttemptError) -> RequestError {
        RequestError::Failed(match error {
            AttemptError::Answered(error) => return RequestError::Answered(bounded(error)),
            AttemptError::TooLarge => answer_too_large(),
            AttemptError::Ended => {
                // The exit status of a process is known a moment after its streams close.
                let how = tokio::time::timeout(TIME_TO_END, self.wait_for_end()).await;
                connection_lost(&how.unwrap_or_default())
            }
            AttemptError::Http(error) => {
                if let HttpFailure::Disconnected(why) = &error {
                    let _ = self.disconnect_reason.set(why.clone());
                    self.close();
                }
                error.during_request()
            }
        })
    }

    /// Sends a request once.
    pub(super) async fn attempt(
        &self,
        request: &OutgoingRequest<'_>,
        round: Option<&InputRound>,
        caller: &RequestCaller<'_>,
    ) -> Result<Box<RawValue>, AttemptError> {
        let number = self.dispatcher.number();
        if request.connection.is_some_and(|only| only != number) {
            return Err(AttemptError::Answered(task_lost(TaskLoss::Restart)));
        }
        let new_task = request.new_task();
        let open = self.dispatcher.register(caller.owner, request.task, new_task.is_some());
        let Some(open) = open else { return Err(AttemptError::Ended) };
        new_task.inspect(|task| task.set_connection(number));
        let is_initialize = request.method == "initialize";
        let host = caller.host;
        let pending = PendingRequest { connection: self, request: open, host, is_initialize };
        let id = pending.request.id;
        let client_meta = caller.host.meta();
        let context = self.client_context(caller.host);
        let body = request.to_bytes(id, client_meta.as_ref(), &context, round);
        match &self.wire {
            ServerWire::Stdio(wire) => {
                // On failure the server has closed its input, so it is ending.
                let is_busy = self.dispatcher.open_requests() > 1;
                wire.write(body, is_busy).await.map_err(|_| AttemptError::Ended)?;
                self.wait_for_answer(&pending.request, caller, std::future::pending()).await
            }
            ServerWire::Http(wire) => {
                let headers = self.request_headers(request);
                let (wire, dispatcher) = (Arc::clone(wire), Arc::clone(&self.dispatcher));
                // Boxed, so that a request over standard streams does not need its memory.
                let exchange: BoxFuture<'static, _> = Box::pin(async move {
                    wire.exchange(id, is_initialize, body, headers, &dispatcher).await
                });
                let exchange = match new_task {
                    None => exchange,
                    Some(_) => finish_anyway(exchange),
                };
                self.wait_for_answer(&pending.request, caller, exchange).await
            }
            ServerWire::Duplex(wire) => {
                let sending = Arc::clone(wire).send(body);
                self.wait_for_answer(&pending.request, caller, sending).await
            }
        }
    }

    /// The members of `_meta` that a stateless server expects.
    fn client_context(&self, host: &dyn Host) -> Vec<(&'static str, Json)> {
        if !self.is_stateless() {
            return Vec::new();
        }
        let level = self.log_level().unwrap_or(DEFAULT_LOG_LEVEL);
        vec![
            (meta::PROTOCOL_VERSION, toolwright_mcp::Revision::V2026_07_28.name().into()),
            (meta::CLIENT_INFO, super::handshake::client_info()),
            (meta::CLIENT_CAPABILITIES, host.client_capabilities()),
            (meta::LOG_LEVEL, level.into()),
        ]
    }

    /// The resources that clients want updates of.
    pub(super) fn subscribed(&self) -> watch::Receiver<SubscribedUris> {
        self.links.subscribed.subscribe()
    }

    /// The level of log messages that clients want; `None` if they leave it to the server.
    pub(super) fn log_level(&self) -> Option<&'static str> {
        *self.links.log_level.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The headers that repeat parts of a request. Only stateless servers need them; the first
    /// request goes to a server that may be one, and others ignore them.
    fn request_headers(&self, request: &OutgoingRequest<'_>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut add = |name: &str, value: &str| {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                headers.insert(name, value);
            }
        };
        add(standard_headers::METHOD_HEADER, request.method);
        if let Some(name) = request.name() {
            add(standard_headers::NAME_HEADER, &standard_headers::header_value(name));
            if let Some(arguments) = request.arguments().filter(|_| self.is_stateless()) {
                for (header, value) in self.links.param_headers.of(name, arguments) {
                    add(&header, &value);
                }
            }
        }
        headers
    }

    /// Waits for the answer of a request, and passes on to the host what arrives before it.
    /// `exchange` carries the request over HTTP; its end without an answer is an error.
    async fn wait_for_answer(
        &self,
        open: &OpenRequest,
        caller: &RequestCaller<'_>,
        exchange: impl Future<Output = Result<(), HttpFailure>>,
    ) -> Result<Box<RawValue>, AttemptError> {
        tokio::pin!(exchange);
        let mut is_exchanging = true;
        let mut questions = FuturesUnordered::new();
        let mut unanswered: Vec<UnansweredQuestion> = Vec::new();
        let mut pauses: Vec<(RequestId, ClockPause<'_>)> = Vec::new();
        loop {
            // Biased towards events: what came before the answer is passed on first.
            let event = tokio::select! {
                biased;
                event = open.next() => event,
                Some(answered) = questions.next() => {
                    // `Err`: the server has withdrawn the question.
                    if let Ok((id, mut answer)) = answered {
                        if let (Some(link), Ok(answer)) = (&open.task, &mut answer) {
                            link.hide(answer);
                        }
                        unanswered.retain(|question| question.id != id);
                        self.dispatcher.close_question(&id);
                        self.reply(id, answer);
                        caller.clock.inspect(|clock| clock.restart());
                    }
                    continue;
                }
                ended = &mut exchange, if is_exchanging => match ended {
                    Ok(()) => {
                        is_exchanging = false;
                        continue;
                    }
                    Err(error) => return Err(AttemptError::Http(error)),
                },
            };
            match event {
                RequestEvent::Progress(progress) => {
                    caller.clock.inspect(|clock| clock.restart());
                    caller.host.progress(progress);
                }
                RequestEvent::Log(notification) => {
                    match notification.is_attributed || caller.host.wants_log(&notification.params)
                    {
                        true => caller.host.log(&notification.params),
                        false => self.dispatcher.pass_on_log(open, notification),
                    }
                }
                RequestEvent::Paused(id) => {
                    pauses.extend(caller.clock.map(|clock| (id, clock.pause())));
                }
                RequestEvent::Resumed(id) => pauses.retain(|(question, _)| *question != id),
                RequestEvent::Question(question) if self.ask_beyond_call(&question, caller) => {}
                RequestEvent::Question(question) => {
                    let (abort, registration) = AbortHandle::new_pair();
                    let id = question.id.clone();
                    unanswered.push(UnansweredQuestion { id, abort, question: question.clone() });
                    let asking = self.ask(question, caller);
                    questions.push(Abortable::new(asking, registration));
                }
                RequestEvent::Withdrawn(id) => {
                    self.dispatcher.close_question(&id);
                    unanswered.extract_if(.., |it| it.id == id).for_each(|it| it.abort.abort());
                }
                RequestEvent::Answer(answer) => {
                    // The server must not wait for answers that nobody gives any more.
                    for UnansweredQuestion { id, question, .. } in unanswered {
                        let why = match question.is_doubtful {
                            true => self.dispatcher.log_unattributed(&question.method),
                            // Another call of the client may have asked.
                            false
                                if !question.is_attributed
                                    && self.dispatcher.pass_on_question(open, question) =>
                            {
                                continue;
                            }
                            false => CALL_ENDED.to_owned(),
                        };
                        self.reply(id, Err(RpcError::new(error_code::INVALID_REQUEST, why)));
                    }
                    return match answer {
                        UpstreamAnswer::Result(result) => Ok(result),
                        UpstreamAnswer::Error(error) => Err(AttemptError::Answered(error)),
                        UpstreamAnswer::TooLarge => Err(AttemptError::TooLarge),
                        UpstreamAnswer::ConnectionEnded => Err(AttemptError::Ended),
                    };
                }
            }
        }
    }

    /// Passes a question that may be of any open call of the client to the host, and waits for the
    /// answer in a task of its own. Returns false if this call has to ask. Every question comes by
    /// here, so this notes who is asked for roots.
    fn ask_beyond_call(&self, question: &ServerQuestion, caller: &RequestCaller<'_>) -> bool {
        let ServerQuestion { id, method, params, is_doubtful, is_attributed, withdrawal } =
            question;
        if let Some(session) = caller.host.session().filter(|_| method == "roots/list") {
            let asked = self.links.asked_for_roots.lock();
            asked.unwrap_or_else(PoisonError::into_inner).insert(session);
        }
        let capabilities = caller.host.client_capabilities();
        if *is_doubtful
            || *is_attributed
            || check_capability(&capabilities, method, params).is_err()
        {
            return false;
        }
        let (source, method, params) = (self.source.clone(), method.clone(), params.clone());
        let withdrawal = Arc::clone(withdrawal);
        let request = ServerRequest { key: None, source, method, params, withdrawal };
        let Some(asking) = caller.host.ask_beyond_call(&request) else { return false };
        // The server has withdrawn it.
        let Some(given_up) = self.dispatcher.share_question(id) else { return true };
        let (dispatcher, wire, id) = (Arc::clone(&self.dispatcher), self.wire.clone(), id.clone());
        tokio::spawn(async move {
            let answer = tokio::select! {
                answer = asking => answer,
                () = given_up.cancelled() => {
                    Err(RpcError::new(error_code::INVALID_REQUEST, CALL_ENDED))
                }
            };
            if dispatcher.close_question(&id) {
                wire.send_later(response(id, answer));
            }
        });
        true
    }

    /// Passes a question to the host, if its client can answer it.
    async fn ask(
        &self,
        question: ServerQuestion,
        caller: &RequestCaller<'_>,
    ) -> (RequestId, ClientAnswer) {
        let ServerQuestion { id, method, params, is_doubtful, withdrawal, .. } = question;
        let capabilities = caller.host.client_capabilities();
        if let Err(error) = check_capability(&capabilities, &method, &params) {
            match method == "roots/list" {
                true => self.links.log.no_roots(NoRootsReason::NoCapability, &error.message),
                false => self.links.log.line(&error.message),
            }
            return (id, Err(error));
        }
        if is_doubtful {
            tokio::time::sleep(DOUBTFUL_HOLD).await;
        }
        let _pause = caller.clock.map(CallClock::pause);
        let source = self.source.clone();
        let request = ServerRequest { key: None, source, method, params, withdrawal };
        let mut answers = caller.host.ask(vec![request]).await;
        let answer = answers.pop().unwrap_or_else(|| {
            Err(RpcError::new(error_code::INTERNAL_ERROR, "the client did not answer"))
        });
        (id, answer)
    }

    /// Answers a question of the server.
    fn reply(&self, id: RequestId, answer: ClientAnswer) {
        self.wire.send_later(response(id, answer));
    }

    /// Refuses questions of the server that nobody waits for any more.
    pub(super) fn refuse_questions(&self, ids: Vec<RequestId>) {
        for id in ids {
            self.reply(id, Err(RpcError::new(error_code::INVALID_REQUEST, CALL_ENDED)));
        }
    }

    /// Sends a notification and waits until it is sent.
    pub(super) async fn notify(&self, method: &str, params: &Json) -> Result<(), AttemptError> {
        let message = Message::notification(method, params).to_bytes();
        match &self.wire {
            ServerWire::Stdio(wire) => {
                wire.write(message, false).await.map_err(|_| AttemptError::Ended)
            }
            ServerWire::Http(wire) => wire.send(message).await.map_err(AttemptError::Http),
            ServerWire::Duplex(wire) => {
                Arc::clone(wire).send(message).await.map_err(AttemptError::Http)
            }
        }
    }

    /// Sends a notification without parameters, and does not wait for it.
    pub(super) fn notify_later(&self, method: &str) {
        self.wire.send_later(Message::notification(method, &json!({})).to_bytes());
    }

    /// A request of this program itself.
    pub(super) async fn own_request(
        &self,
        method: &str,
        params: Json,
    ) -> Result<Box<RawValue>, AttemptError> {
        let params = match params {
            Json::Object(params) => params,
            _ => Map::new(),
        };
        self.attempt(&OutgoingRequest::new(method, &params), None, &OWN_CALLER).await
    }
}

impl ServerWire {
    /// Sends a message without waiting for it.
    fn send_later(&self, message: Vec<u8>) {
        match self {
            ServerWire::Stdio(wire) => wire.write_later(message),
            ServerWire::Http(wire) => wire.send_later(message),
            ServerWire::Duplex(wire) => duplex_wire::send_later(wire, message),
        }
    }
}

/// Waits until the server has reported that all of these elicitations are complete.
async fn all_complete(
    mut events: broadcast::Receiver<UpstreamNotification>,
    mut elicitations: HashSet<String>,
) {
    while !elicitations.is_empty() {
        match events.recv().await {
            Ok(notification) => {
                if let UpstreamEvent::Other { method, params } = notification.event
                    && method == "notifications/elicitation/complete"
                    && let Some(id) = params["elicitationId"].as_str()
                {
                    elicitations.remove(id);
                }
            }
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// Goes on with an exchange for a moment after it was given up: if its answer is a new task, the
/// dispatcher cancels that.
fn finish_anyway(
    exchange: BoxFuture<'static, Result<(), HttpFailure>>,
) -> BoxFuture<'static, Result<(), HttpFailure>> {
    let given_up = CancellationToken::new();
    let guard = given_up.clone().drop_guard();
    let running = tokio::spawn(async move {
        let patience = async {
            given_up.cancelled().await;
            tokio::time::sleep(TIME_TO_CANCEL).await;
        };
        tokio::select! {
            ended = exchange => ended,
            () = patience => Ok(()),
        }
    });
    Box::pin(async move {
        let _guard = guard;
        running.await.unwrap_or(Err(HttpFailure::StreamEnded))
    })
}

/// The answer to a question, as a message.
fn response(id: RequestId, answer: ClientAnswer) -> Vec<u8> {
    Message::response(id, answer.map(|result| raw_json(&result))).to_bytes()
}

/// A question that the client has not answered yet, and that only this call can ask.
struct UnansweredQuestion {
    id: RequestId,
    abort: AbortHandle,
    question: ServerQuestion,
}

/// A request that was registered. If it is dropped before its answer came, the server is notified
/// that the request is cancelled.
struct PendingRequest<'c> {
    connection: &'c UpstreamConnection,
    request: Arc<OpenRequest>,
    host: &'c dyn Host,
    /// The protocol forbids to cancel a handshake.
    is_initialize: bool,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        let PendingRequest { connection, request, host, is_initialize } = self;
        let is_open = connection.dispatcher.remove(request.id);
        // Answered, and nobody has read the answer.
        if request.creates_task
            && let Some(UpstreamAnswer::Result(created)) = request.take_answer()
            && let Some(task) = new_task_of(&created)
        {
            let params = raw_json(&json!({"taskId": task}));
            let id = RequestId::Number(connection.dispatcher.next_id());
            let message = Message::request(id, "tasks/cancel", Some(params));
            connection.wire.send_later(message.to_bytes());
        }
        // Over HTTP a stateless request is cancelled by closing its stream, which happens now.
        let is_closed_anyway =
            connection.is_stateless() && matches!(connection.wire, ServerWire::Http(_));
        if is_open && !*is_initialize && !is_closed_anyway {
            let reason = host.cancel_reason();
            let reason = reason.as_deref().unwrap_or("the result is no longer wanted");
            let params = json!({"requestId": request.id, "reason": reason});
            let message = Message::notification("notifications/cancelled", &params);
            connection.wire.send_later(message.to_bytes());
        }
    }
}
