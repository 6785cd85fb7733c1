//! One table for all methods and both transports: takes a message of a client, and answers it.
//!
//! ```text
//! stdio_server, http_server ─▶ Gateway::accept ─┬─ notification, response ─▶ session
//!                                               └─ request ─▶ RequestParams, RequestTerms
//!                                                       │
//!    initialize, ping, discover, setLevel ◀─ here ──────┼─▶ tool_calls: tools/*
//!    subscription_listeners: subscriptions/listen ◀─────┼─▶ offered_items: resources/*, prompts/*,
//!                                                       │                  completion/complete
//!                                                       └─▶ task_requests: tasks/*
//! ```
//!
//! Messages keep the JSON they were: only what a method needs is parsed, and results are written
//! straight into the bytes of the response.
//!
//! Invariants that other files rely on:
//!
//! - A request is registered when `Gateway::answer` returns, not when its future is first polled: a
//!   `notifications/cancelled` that follows on the same connection always finds it.
//! - All messages of a call reach its sink before its response does (`answer_with_host`).
//! - A cancelled request gets no response, whatever its method has returned.
//! - What a client may call depends on the terms of its request and on the allowance of its agent,
//!   never on its transport.

use std::pin::pin;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolwright_catalog::{OfferedCapabilities, Offers};
use toolwright_exec::GivenReason;
use toolwright_mcp::{RequestId, Revision, RpcError, RpcNotification, RpcRequest, meta};

use crate::Gateway;
use crate::call_host::{AskMode, CallHost, MAX_QUEUED, RequestLink, asker_beyond_calls};
use crate::client_session::{ClientHandshake, ClientSession, RegisteredRequest};
use crate::gateway::RunningRequest;
use crate::log_level::MessageLevel;
use crate::message_sink::MessageSink;
use crate::request_params::{RequestMeta, RequestParams, invalid_params};
use crate::request_queue::{MessageReceiver, message_queue};
use crate::request_terms::{RequestTerms, supported_versions, unknown_method};
use crate::result_body::{ResultBody, RpcReply};
use crate::suspended_calls::{
    DetachedCall, GATHER_TIME, MethodResult, QuestionQueue, QuestionRound, SuspendedCall,
};

/// A request that was registered and is not answered yet.
pub(crate) struct AcceptedRequest {
    gateway: Gateway,
    session: Arc<ClientSession>,
    request: RpcRequest,
    sink: Arc<dyn MessageSink>,
    cancel: CancellationToken,
    reason: GivenReason,
    registered: RegisteredRequest,
    /// Whether its handshake is valid, if it is one.
    greeted: Result<(), RpcError>,
    running: Option<RunningRequest>,
}

impl AcceptedRequest {
    /// Answers it, see [`Gateway::answer`].
    pub(crate) async fn answer(self) -> Option<RpcReply> {
        let AcceptedRequest { gateway, session, request, sink, cancel, reason, .. } = self;
        let id = request.id.clone();
        let outcome = match self.greeted {
            Err(error) => Err(error),
            Ok(()) => gateway.dispatch(&session, request, sink, (&cancel, &reason)).await,
        };
        drop(self.registered);
        // By the specification, a cancelled request gets no response.
        if cancel.is_cancelled() {
            return None;
        }
        let mut reply = RpcReply::write(id, outcome).await;
        reply.running = self.running;
        Some(reply)
    }
}

/// Methods that may wait for an answer of the person.
const ASKING: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// A request and everything that its method needs. Borrowed from the future of the request, except
/// for a call that may outlive it, which owns copies (`start_detached`).
pub(crate) struct RequestContext<'r> {
    /// For stateless clients the session that all requests of the same agent share.
    pub(crate) session: &'r Arc<ClientSession>,
    pub(crate) method: &'r str,
    /// The members as raw JSON: each method parses what it needs.
    pub(crate) params: &'r RequestParams<'r>,
    /// What the revision and the capabilities of the client allow.
    pub(crate) terms: &'r RequestTerms,
    /// Cancelled by the client or by the end of its session. Methods may ignore it; the response is
    /// dropped in any case.
    pub(crate) cancel: &'r CancellationToken,
    /// Why the client has cancelled it, for the server that runs the call. Empty until then.
    pub(crate) cancel_reason: &'r GivenReason,
}

/// The methods about what servers offer besides tools. Which of them belong to the tools that an
/// agent may use is not known, so agents with an allowance have none of them.
const OF_SERVERS: [&str; 5] =
    ["resources/", "prompts/", "completion/", "logging/", "subscriptions/"];

impl Gateway {
    /// Answers a request. The messages of its call go to `sink` before the future ends with the
    /// response; `None` if the request was cancelled.
    ///
    /// Boxed, because it has five thousand bytes: those who pass it on, spawn it or wait for it
    /// would copy all of them each time, together a hundred thousand bytes for a short call.
    pub(crate) fn answer(
        &self,
        session: &Arc<ClientSession>,
        request: RpcRequest,
        sink: Arc<dyn MessageSink>,
    ) -> BoxFuture<'static, Option<RpcReply>> {
        Box::pin(self.accept_request(session, request, sink).answer())
    }

    /// Registers a request and notes a handshake, before it is answered: the next message of the
    /// client may refer to them.
    pub(crate) fn accept_request(
        &self,
        session: &Arc<ClientSession>,
        request: RpcRequest,
        sink: Arc<dyn MessageSink>,
    ) -> AcceptedRequest {
        let cancel = CancellationToken::new();
        let reason = GivenReason::default();
        // The end of the session cancels what is registered. A child of its token would do the
        // same, for a lock of the token at both ends of every request.
        let registered = session.register(request.id.clone(), cancel.clone(), Arc::clone(&reason));
        if session.ended.is_cancelled() {
            cancel.cancel();
        }
        let greeted = (request.method == "initialize").then(|| note_handshake(session, &request));
        // Subscriptions never end, so the end of the program does not wait for them.
        let running = (request.method != "subscriptions/listen").then(|| self.track_request());
        let (gateway, session) = (self.clone(), Arc::clone(session));
        AcceptedRequest {
            gateway,
            session,
            request,
            sink,
            cancel,
            reason,
            registered,
            greeted: greeted.transpose().map(drop),
            running,
        }
    }

    /// Takes a message without a response.
    ///
    /// Unknown notifications are ignored, as JSON-RPC demands, and so are parameters that are
    /// wrong.
    pub(crate) fn accept_notification(
        &self,
        session: &Arc<ClientSession>,
        notification: &RpcNotification,
    ) {
        session.touch();
        match notification.method.as_str() {
            "notifications/initialized" => {
                session.set_ready();
                // One more client, which may want more than those before it.
                if self.catalog().runner().context().upstreams.has_log_level() {
                    let gateway = self.clone();
                    tokio::spawn(async move { gateway.update_log_level().await });
                }
            }
            "notifications/cancelled" => {
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Cancelled {
                    request_id: RequestId,
                    reason: Option<String>,
                }
                let params = notification.params.as_deref().map_or("{}", RawValue::get);
                if let Ok(Cancelled { request_id, reason }) = serde_json::from_str(params) {
                    session.cancel(&request_id, reason.as_deref());
                }
            }
            "notifications/roots/list_changed" => {
                let upstreams = &self.catalog().runner().context().upstreams;
                upstreams.roots_changed(session.number, &asker_beyond_calls(session));
            }
            // Progress of our own questions interests nobody.
            _ => {}
        }
    }

    /// Answers a request by its method. An unknown method and one that the revision does not have
    /// get the same error; the second is refused by `RequestTerms::of`, before the table is
    /// reached.
    ///
    /// # Errors
    /// Those of the methods, and of parameters, `_meta` and terms, which are read for all of them.
    async fn dispatch(
        &self,
        session: &Arc<ClientSession>,
        request: RpcRequest,
        sink: Arc<dyn MessageSink>,
        (cancel, cancel_reason): (&CancellationToken, &GivenReason),
    ) -> MethodResult {
        let method = request.method.as_str();
        let params = RequestParams::parse(method, request.params.as_deref())?;
        let given_meta = params.meta()?;
        let terms = RequestTerms::of(session, method, &given_meta)?;
        let (params, terms) = (&params, &terms);
        let context = RequestContext { session, method, params, terms, cancel, cancel_reason };
        if let Some(level) = terms.log_level.filter(|_| terms.is_stateless())
            && session.lower_log_level(level)
        {
            Box::pin(self.update_log_level()).await;
        }
        if OF_SERVERS.iter().any(|prefix| method.starts_with(prefix)) && self.is_restricted(session)
        {
            return Err(unknown_method(method));
        }
        // All but calls are boxed, here and below: this future is allocated for every call, and
        // would otherwise be as large as that of its largest method.
        match method {
            "ping" => Ok(ResultBody::Text("{}".into())),
            "initialize" => Ok(Box::pin(self.handshake_result(session, terms)).await),
            "server/discover" => Ok(Box::pin(self.discovery_result(session)).await),
            "tools/list" => Box::pin(self.list_tools(&context)).await,
            "resources/list" | "resources/templates/list" | "prompts/list" => {
                Box::pin(self.list_offers(&context)).await
            }
            "resources/subscribe" | "resources/unsubscribe" => {
                Box::pin(self.change_subscription(&context)).await
            }
            "logging/setLevel" => {
                let answer = set_log_level(session, params)?;
                Box::pin(self.update_log_level()).await;
                Ok(answer)
            }
            "subscriptions/listen" => {
                Box::pin(self.listen(&context, &request.id, sink.as_ref())).await
            }
            "tools/call" | "resources/read" | "prompts/get" | "completion/complete" => {
                self.answer_with_host(&context, &given_meta, request.params.as_deref(), sink).await
            }
            method if method.starts_with("tasks/") => {
                let raw = request.params.as_deref();
                Box::pin(self.answer_with_host(&context, &given_meta, raw, sink)).await
            }
            method => Err(unknown_method(method)),
        }
    }

    /// Runs a method whose server may report progress, log and ask questions.
    ///
    /// How questions reach the client depends on its revision. With a session they are requests on
    /// the stream of the call, and the call waits in place. Without one (2026-07-28) the server
    /// answers with the questions, and the client repeats its request: the call has to outlive the
    /// request, so it runs in a task of its own from the start, provided that the client can be
    /// asked at all.
    ///
    /// ```text
    /// client with a session                    the call runs here, questions are requests
    /// stateless, cannot be asked               the call runs here
    /// stateless, can be asked                  start_detached, in a task
    /// stateless, with `requestState`           resume
    /// ```
    async fn answer_with_host(
        &self,
        context: &RequestContext<'_>,
        given_meta: &RequestMeta,
        raw: Option<&RawValue>,
        sink: Arc<dyn MessageSink>,
    ) -> MethodResult {
        let (queue, messages) = message_queue(MAX_QUEUED);
        let link = RequestLink {
            queue,
            progress_token: given_meta.progress_token().cloned(),
            log_level: context.terms.log_level,
        };
        let is_suspendable = context.terms.is_stateless() && ASKING.contains(&context.method);
        // Pinned here: `join!` would move it once more.
        let work = pin!(async {
            let state = RequestParams::optional_text(context.params.request_state, "requestState")?;
            match state.filter(|_| is_suspendable) {
                Some(handle) => Box::pin(self.resume(context, &handle, link)).await,
                None if is_suspendable && context.terms.can_be_asked() => {
                    Box::pin(self.start_detached(context, given_meta, raw, link)).await
                }
                None => {
                    let host = CallHost::new(
                        Arc::clone(context.session),
                        Arc::clone(&context.terms.capabilities),
                        forwarded_meta(context, given_meta),
                        AskMode::Requests,
                        link,
                        Arc::clone(context.cancel_reason),
                    );
                    self.perform(context, raw, &host).await
                }
            }
        });
        // Concurrent with the call, so that a client that does not read cannot delay the tool. The
        // loop ends after the call, when the queue is empty and has no sender: so all messages are
        // sent before the result.
        let (result, ()) = tokio::join!(work, forward(messages, sink.as_ref()));
        result
    }

    /// Runs the method itself. Called by `answer_with_host` for a call that ends with its request,
    /// and in the task of a detached call; both give it the same kind of context.
    pub(crate) async fn perform(
        &self,
        context: &RequestContext<'_>,
        raw: Option<&RawValue>,
        host: &CallHost,
    ) -> MethodResult {
        match context.method {
            "tools/call" => self.call_tool(context, host).await,
            "resources/read" => Box::pin(self.read_resource(context, raw, host)).await,
            "prompts/get" => Box::pin(self.get_prompt(context, raw, host)).await,
            "completion/complete" => Box::pin(self.complete(context, raw, host)).await,
            _ => Box::pin(self.answer_task_request(context, raw, host)).await,
        }
    }

    /// Starts a call that can outlive its request, and waits for its result or its first questions.
    ///
    /// The task owns copies of everything that the context borrows. It is cancelled with the
    /// session and not with the request, which ends as soon as there are questions; `follow` drops
    /// the task if the request is cancelled before.
    ///
    /// # Errors
    /// If `inputResponses` are not an object, or the error of the method.
    async fn start_detached(
        &self,
        context: &RequestContext<'_>,
        given_meta: &RequestMeta,
        raw: Option<&RawValue>,
        link: RequestLink,
    ) -> MethodResult {
        let responses = responses_of(context)?;
        let (questions, rounds) = QuestionQueue::new();
        let host = Arc::new(CallHost::new(
            Arc::clone(context.session),
            Arc::clone(&context.terms.capabilities),
            forwarded_meta(context, given_meta),
            AskMode::Suspension(questions),
            link,
            Arc::clone(context.cancel_reason),
        ));
        let task = {
            let (gateway, session) = (self.clone(), Arc::clone(context.session));
            let (method, terms) = (context.method.to_owned(), context.terms.clone());
            let (raw, host) = (raw.map(RawValue::to_owned), Arc::clone(&host));
            let cancel = context.session.ended.child_token();
            let reason = Arc::clone(context.cancel_reason);
            tokio::spawn(async move {
                let params = RequestParams::parse(&method, raw.as_deref())?;
                let context = RequestContext {
                    session: &session,
                    method: &method,
                    params: &params,
                    terms: &terms,
                    cancel: &cancel,
                    cancel_reason: &reason,
                };
                gateway.perform(&context, raw.as_deref(), &host).await
            })
        };
        self.follow(context, DetachedCall { rounds, task, host }, responses).await
    }

    /// Continues a suspended call with the answers of the client. Its handle works once: `take`
    /// removes the call, so that a repeated request cannot answer the same questions twice.
    ///
    /// # Errors
    /// If the handle is unknown, was used, has expired, or was given for another request or
    /// session. An attacker cannot tell which.
    async fn resume(
        &self,
        context: &RequestContext<'_>,
        handle: &str,
        link: RequestLink,
    ) -> MethodResult {
        let subject = subject_of(context);
        let call = self.suspended().take(handle, context.session.number, &subject);
        let SuspendedCall { rounds, call, session, subject } = call.ok_or_else(|| {
            invalid_params(
                "`requestState` is unknown: it was used, it has expired, or it belongs to another \
                 request",
            )
        })?;
        call.host.set_link(Some(link));
        let mut responses = responses_of(context)?;
        let rounds = rounds.into_iter().filter_map(|round| round.answer(&mut responses));
        let rounds: Vec<_> = rounds.filter(|round| !round.is_withdrawn()).collect();
        // Some questions are still open, so they are asked again.
        if !rounds.is_empty() {
            return Ok(self.suspended().suspend(SuspendedCall { session, subject, rounds, call }));
        }
        self.follow(context, call, responses).await
    }

    /// Waits for the result of a call or its next questions. `responses` are answers that the
    /// client may give before it is asked, by their keys.
    ///
    /// Questions are gathered for `GATHER_TIME` where more may follow, so that a call that asks
    /// several at once costs the client one round and not one each. The biased order prefers a
    /// result over questions: a call that has ended needs no more answers.
    ///
    /// ```text
    /// the task ends            its result
    /// questions, gathered      suspended; the answer holds them and a handle
    /// request cancelled        an error that nobody sees; the call is dropped and ends
    /// ```
    async fn follow(
        &self,
        context: &RequestContext<'_>,
        mut call: DetachedCall,
        mut responses: Map<String, Json>,
    ) -> MethodResult {
        let mut rounds = Vec::new();
        let mut complete = Instant::now();
        loop {
            tokio::select! {
                biased;
                result = &mut call.task => {
                    return result.unwrap_or_else(|_| {
                        Err(RpcError::new(
                            toolwright_mcp::error_code::INTERNAL_ERROR,
                            "the call has ended without a result",
                        ))
                    });
                }
                Some(round) = call.rounds.recv() => {
                    let Some(round) = round.answer(&mut responses) else { continue };
                    complete = match round.may_grow {
                        true => Instant::now() + GATHER_TIME,
                        false => Instant::now(),
                    };
                    rounds.push(round);
                }
                () = tokio::time::sleep_until(complete), if !rounds.is_empty() => {
                    rounds.retain(|round: &QuestionRound| !round.is_withdrawn());
                    if rounds.is_empty() {
                        continue;
                    }
                    let (session, subject) = (context.session.number, subject_of(context));
                    let call = SuspendedCall { session, subject, rounds, call };
                    return Ok(self.suspended().suspend(call));
                }
                () = context.cancel.cancelled() => {
                    return Err(RpcError::new(
                        toolwright_mcp::error_code::INTERNAL_ERROR,
                        "the request was cancelled",
                    ));
                }
            }
        }
    }

    /// The answer to `initialize`. What is announced is kept in the session, because a client may
    /// rely on it for as long as its session lasts, also if the servers behind it change.
    async fn handshake_result(&self, session: &ClientSession, terms: &RequestTerms) -> ResultBody {
        let offered = self.announced_to(session, self.capabilities().await);
        let offers = self.offers();
        session.set_announced(offered);
        let mut result = json!({
            "protocolVersion": terms.revision.name(),
            "capabilities": capabilities(offered, &offers, terms.revision),
            "serverInfo": server_info(),
        });
        if let Some(instructions) = &offers.instructions
            && !self.is_restricted(session)
        {
            result["instructions"] = json!(instructions);
        }
        ResultBody::Text(result.to_string())
    }

    /// What is announced to a client: only tools (and tasks, which belong to them), if it may not
    /// use all of them. See `OF_SERVERS`, the methods that are refused accordingly.
    fn announced_to(
        &self,
        session: &ClientSession,
        offered: OfferedCapabilities,
    ) -> OfferedCapabilities {
        match self.is_restricted(session) {
            true => OfferedCapabilities {
                resources: false,
                subscribe: false,
                prompts: false,
                completions: false,
                logging: false,
                ..offered
            },
            false => offered,
        }
    }

    /// The answer to `server/discover`. Nothing is remembered, and `ttlMs` is 0: the next request
    /// of this client stands for itself, and what is offered may have changed by then.
    async fn discovery_result(&self, session: &ClientSession) -> ResultBody {
        let offered = self.announced_to(session, self.capabilities().await);
        let offers = self.offers();
        let mut result = json!({
            "resultType": "complete",
            "supportedVersions": supported_versions(),
            "capabilities": capabilities(offered, &offers, Revision::V2026_07_28),
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {(meta::SERVER_INFO): server_info()},
        });
        if let Some(instructions) = &offers.instructions
            && !self.is_restricted(session)
        {
            result["instructions"] = json!(instructions);
        }
        ResultBody::Text(result.to_string())
    }
}

/// What this server can do: tools always, the rest if a server behind it can. A capability that is
/// announced too much costs an error; one that is missing is never used, because clients ask once.
fn capabilities(offered: OfferedCapabilities, offers: &Offers, revision: Revision) -> Json {
    let mut all = json!({"tools": {"listChanged": true}});
    if offered.resources {
        all["resources"] = json!({"listChanged": true});
        if offered.subscribe {
            all["resources"]["subscribe"] = json!(true);
        }
    }
    if offered.prompts {
        all["prompts"] = json!({"listChanged": true});
    }
    // The first revision does not have this capability.
    if offered.completions && revision > Revision::V2024_11_05 {
        all["completions"] = json!({});
    }
    if offered.logging {
        all["logging"] = json!({});
    }
    if offered.task_calls && revision.has_tasks() {
        all["tasks"] = json!({"requests": {"tools": {"call": {}}}});
        for (name, is_offered) in [("list", offered.task_list), ("cancel", offered.task_cancel)] {
            if is_offered {
                all["tasks"][name] = json!({});
            }
        }
    }
    if let Some(interfaces) = &offers.interfaces {
        all["extensions"][meta::UI_EXTENSION] = interfaces.clone();
    }
    if offered.tasks && !revision.has_handshake() {
        all["extensions"][meta::TASKS_EXTENSION] = json!({});
    }
    all
}

/// Notes the handshake of a session.
///
/// Called before the future of the request is polled: a client may send its next request without
/// waiting for the answer, and that one must find the session set up.
///
/// # Errors
/// If the parameters of `initialize` are wrong.
///
/// The newest revision that is offered has a handshake: 2026-07-28 has none.
fn note_handshake(session: &ClientSession, request: &RpcRequest) -> Result<(), RpcError> {
    let params = RequestParams::parse("initialize", request.params.as_deref())?;
    // Refused by the terms of the request, with the right error.
    if params.meta()?.version().is_some_and(|version| version == Revision::V2026_07_28.name()) {
        return Ok(());
    }
    let version = RequestParams::text(params.protocol_version, "protocolVersion")?;
    let capabilities = match params.capabilities {
        None => Json::Object(Map::new()),
        Some(given) => serde_json::from_str(given.get())
            .map_err(|error| invalid_params(format!("`capabilities` are invalid: {error}")))?,
    };
    if !capabilities.is_object() {
        return Err(invalid_params("`capabilities` is not an object"));
    }
    // A client with an unknown revision is offered the newest one that it can have.
    let revision = Revision::parse(&version)
        .filter(|revision| revision.has_handshake())
        .unwrap_or(Revision::NEWEST_WITH_HANDSHAKE);
    session.set_handshake(ClientHandshake { revision, capabilities: Arc::new(capabilities) });
    Ok(())
}

/// Answers `logging/setLevel`.
///
/// Only notes the level; the caller passes the most verbose one on to the servers.
fn set_log_level(session: &ClientSession, params: &RequestParams<'_>) -> MethodResult {
    let name = RequestParams::text(params.level, "level")?;
    let level = MessageLevel::parse(&name)
        .ok_or_else(|| invalid_params(format!("`{name}` is not a log level")))?;
    session.set_log_level(level);
    Ok(ResultBody::Text("{}".into()))
}

/// The `_meta` that servers get, without the members that belong to this hop. A task in it has the
/// id that its server knows. If the client owns no such task, the member is dropped: a client must
/// not address a task of another one, whose id it has guessed.
fn forwarded_meta(context: &RequestContext<'_>, given: &RequestMeta) -> Option<Map<String, Json>> {
    let mut kept = given.to_forward()?;
    if let Some(related) = kept.get_mut(meta::RELATED_TASK) {
        let task = related["taskId"]
            .as_str()
            .map(str::to_owned)
            .and_then(|id| context.session.with_tasks(|tasks| tasks.get(&id)));
        match task {
            Some(task) if !context.method.starts_with("tasks/") => {
                related["taskId"] = json!(task.own);
            }
            // The parameters of those methods name the task.
            _ => drop(kept.shift_remove(meta::RELATED_TASK)),
        }
    }
    Some(kept)
}

/// Sends queued messages until all senders are gone.
async fn forward(mut messages: MessageReceiver, sink: &dyn MessageSink) {
    while let Some(message) = messages.receive().await {
        sink.send(message.into()).await;
    }
}

/// The method and the name or URI of a request.
///
/// A suspended call is resumed only by a request with the same subject: otherwise a client could
/// answer the questions of one tool in the name of another.
fn subject_of(context: &RequestContext<'_>) -> (String, String) {
    let member = context.params.name.or(context.params.uri);
    (context.method.to_owned(), member.map_or_else(String::new, |member| member.get().to_owned()))
}

/// The answers that a request brings; none if the member is missing or null.
///
/// # Errors
/// If the member is there and not an object.
fn responses_of(context: &RequestContext<'_>) -> Result<Map<String, Json>, RpcError> {
    match context.params.input_responses {
        None => Ok(Map::new()),
        Some(given) if given.get() == "null" => Ok(Map::new()),
        Some(given) => serde_json::from_str(given.get())
            .map_err(|error| invalid_params(format!("`inputResponses` are invalid: {error}"))),
    }
}

/// Name and version of this program.
///
/// As `initialize` and `server/discover` name it.
fn server_info() -> Json {
    json!({"name": "toolwright", "version": env!("CARGO_PKG_VERSION")})
}
