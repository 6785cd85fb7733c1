//! What a request to `/mcp` means, for all revisions:
//!
//! ```text
//! POST ─┬─ stateless (2026-07-28): header_checks ─▶ Gateway::answer, ends with the connection
//!       ├─ initialize ─▶ a new session, whose id is in the response
//!       └─ with Mcp-Session-Id ─▶ Gateway::answer, goes on without the connection
//! GET ──┬─ messages that belong to no request
//!       └─ Last-Event-ID: the rest of an interrupted stream
//! DELETE ─▶ ends the session
//! ```
//!
//! The form of a response is decided as late as possible: a single message is JSON. If something
//! else has to be sent before it, such as progress or a question to the person, or if it takes long
//! and the client could resume a stream, the response is an event stream.
//!
//! There are three ways to say no. A status with a plain text: the HTTP request is unusable (media
//! types, revision, session). A status with a JSON-RPC error: the body is not a message or
//! contradicts its headers, or 2026-07-28 gives this error a status. A JSON-RPC error with status
//! 200: all others. A tool that fails is none of them; it is a result.
//!
//! `http_server` calls this file only for requests whose `Host`, `Origin` and token are accepted,
//! with the body read whole and within its limit.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, Either, FutureExt, join_all};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use hyper::body::Bytes;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use toolwright_mcp::{
    MalformedMessage, Message, Revision, RpcError, RpcNotification, RpcRequest, error_code,
};

use crate::Gateway;
use crate::detached::DetachOnDrop;
use crate::event_log::{CallCancelled, CloseOnDrop, EventLog};
use crate::header_checks::check_headers;
use crate::http_server::{HttpResponse, json_response, text_response};
use crate::http_sessions::{HttpSession, HttpSessions};
use crate::message_sink::{MessageSink, NullSink};
use crate::protocol_codes::{HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION};
use crate::request_params::{RequestMeta, RequestParams};
use crate::request_terms::RequestTerms;
use crate::result_body::RpcReply;
use crate::sse::{self, Resumption, StreamKind};

/// How long a response of a session is held back so that it can be sent as JSON. After that the
/// client gets an event stream, with an event id to reconnect with.
///
/// A single body is smaller and simpler for everyone, but a client whose connection breaks while it
/// waits for one has lost the answer: nothing names what it was waiting for. So only answers that
/// come at once are worth it.
const MAX_HOLD: Duration = Duration::from_millis(200);
/// The header that names a session.
const SESSION_HEADER: &str = "mcp-session-id";
/// The header that names the revision.
const VERSION_HEADER: &str = "mcp-protocol-version";

/// What a client accepts as a response, by its header `Accept`. Streamable HTTP demands that
/// clients accept both; many accept only one, or send no such header, and are served as well as
/// that allows.
#[derive(Clone, Copy)]
struct AcceptedTypes {
    json: bool,
    events: bool,
}

/// Who sent a request, according to its token, and its headers.
///
/// `agent` is the name that `AccessControl::agent_of` found. A session belongs to the agent that
/// opened it: the id alone, which may leak into logs, opens it for nobody else.
#[derive(Clone, Copy)]
struct HttpCaller<'h> {
    headers: &'h HeaderMap,
    agent: &'h Arc<str>,
}

/// The response to a request that is not answered. Boxed, because it is large and rare.
type Refusal = Box<HttpResponse>;

/// Answers the requests of all clients. One of them is shared by all connections.
pub(crate) struct McpEndpoint {
    gateway: Gateway,
    sessions: Arc<HttpSessions>,
}

impl McpEndpoint {
    pub(crate) fn new(gateway: Gateway, sessions: Arc<HttpSessions>) -> McpEndpoint {
        McpEndpoint { gateway, sessions }
    }

    /// Answers one request of `agent`. Called once per HTTP request, in the task of its connection;
    /// if the connection breaks, this future is dropped. What that does to a running call is
    /// decided in `answer_stateless` (it ends) and in `answer_in_session` (it goes on).
    ///
    /// `agent` was found by its token. The session that a request names has to be one of this
    /// agent.
    pub(crate) async fn answer(
        &self,
        parts: &Parts,
        body: &Bytes,
        agent: &Arc<str>,
    ) -> HttpResponse {
        let caller = HttpCaller { headers: &parts.headers, agent };
        match parts.method {
            Method::POST => self.post(caller, body).await.unwrap_or_else(|refusal| *refusal),
            Method::GET => self.get(caller).unwrap_or_else(|refusal| *refusal),
            Method::DELETE => match self.session_of(caller) {
                Ok((id, _)) => {
                    self.sessions.remove(id);
                    let mut response = text_response(StatusCode::NO_CONTENT, "");
                    response.headers_mut().remove(header::CONTENT_TYPE);
                    response
                }
                Err(refusal) => *refusal,
            },
            _ => not_allowed("GET, POST, DELETE"),
        }
    }

    /// The session that a request names, together with the id as it was written.
    ///
    /// # Errors
    /// 400 without the header, 404 for a session that is unknown, has ended, or belongs to another
    /// agent. The three are answered alike, so that nobody can find out which ids exist.
    fn session_of<'h>(
        &self,
        caller: HttpCaller<'h>,
    ) -> Result<(&'h str, Arc<HttpSession>), Refusal> {
        let Some(id) = header(caller.headers, SESSION_HEADER) else {
            let message = "the header `Mcp-Session-Id` is missing";
            return Err(Box::new(text_response(StatusCode::BAD_REQUEST, message)));
        };
        match self.sessions.get(id, caller.agent) {
            Some(session) => Ok((id, session)),
            // Clients start over when they see this status.
            None => Err(Box::new(text_response(StatusCode::NOT_FOUND, "there is no such session"))),
        }
    }

    /// Answers GET: messages that belong to no request, or the rest of an interrupted stream.
    ///
    /// Both are event streams of a log. An event id names the log and the position in it, so a
    /// client can continue any stream of its session with this one method. The stream of the
    /// session is exclusive: a second GET takes it over, since otherwise each of two readers would
    /// miss what the other one read. Revision 2026-07-28 has no GET; there `subscriptions/listen`
    /// takes its place.
    fn get(&self, caller: HttpCaller<'_>) -> Result<HttpResponse, Refusal> {
        let headers = caller.headers;
        if header(headers, VERSION_HEADER) == Some(Revision::V2026_07_28.name()) {
            return Err(Box::new(not_allowed("POST")));
        }
        if !accepted_types(headers).events {
            let message = "the client must accept `text/event-stream`";
            return Err(Box::new(text_response(StatusCode::NOT_ACCEPTABLE, message)));
        }
        let (_, session) = self.session_of(caller)?;
        check_version(headers)?;
        session.client.touch();
        let stream = &session.server_stream;
        let Some(last) = header(headers, "last-event-id") else {
            let (n, kind) = (stream.read_to(), StreamKind::Exclusive);
            return Ok(sse::streamed_response(stream, n, Resumption::WithIds, kind, None));
        };
        let found =
            EventLog::parse_event_id(last).and_then(|(number, n)| Some((session.log(number)?, n)));
        Ok(match found {
            Some((log, n)) => {
                let kind = match log.number() == stream.number() {
                    true => StreamKind::Exclusive,
                    false => StreamKind::Shared,
                };
                sse::streamed_response(&log, n, Resumption::WithIds, kind, None)
            }
            // With an error status, clients would try again with the same id for ever.
            None => sse::empty_response(),
        })
    }

    /// Answers POST. Both results are responses; the error is a refusal.
    ///
    /// A body that is not one message may still be a batch, if the revision of the session has
    /// them. That is tried only after `Message::parse` has failed, so the common case pays nothing
    /// for it.
    async fn post(&self, caller: HttpCaller<'_>, body: &Bytes) -> Result<HttpResponse, Refusal> {
        let headers = caller.headers;
        let accepted = accepted_types(headers);
        if !accepted.json && !accepted.events {
            let message = "the client must accept `application/json` or `text/event-stream`";
            return Err(Box::new(text_response(StatusCode::NOT_ACCEPTABLE, message)));
        }
        let is_json = |kind: &str| kind.trim_start().starts_with("application/json");
        if !header(headers, "content-type").is_some_and(is_json) {
            let message = "the content type must be `application/json`";
            return Err(Box::new(text_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)));
        }
        match Message::parse(body) {
            Ok(Message::Request(request)) => self.post_request(caller, request, accepted).await,
            Ok(Message::Notification(notification)) => {
                self.post_notification(caller, &notification)
            }
            Ok(Message::Response(response)) => {
                self.session_of(caller)?.1.client.accept_response(response);
                Ok(accepted_response())
            }
            Err(malformed) => {
                // A batch of too many values is not parsed, either.
                if !matches!(malformed, MalformedMessage::TooManyValues(_))
                    && let Ok(batch) = serde_json::from_slice::<Vec<&RawValue>>(body)
                    && let Ok((_, session)) = self.session_of(caller)
                    && session.client.handshake().is_some_and(|it| it.revision.has_batches())
                    && !batch.is_empty()
                {
                    return Ok(self.post_batch(&session, &batch, accepted).await);
                }
                let response = Message::Response(malformed.to_response("body"));
                Err(Box::new(json_response(StatusCode::BAD_REQUEST, response.to_bytes().into())))
            }
        }
    }

    /// Takes a notification. Answered with 202 whatever happens to it: JSON-RPC knows no errors of
    /// notifications. A stateless one is only checked, because there is no session that it could
    /// change.
    fn post_notification(
        &self,
        caller: HttpCaller<'_>,
        notification: &RpcNotification,
    ) -> Result<HttpResponse, Refusal> {
        let headers = caller.headers;
        if header(headers, VERSION_HEADER) == Some(Revision::V2026_07_28.name()) {
            let params = notification.params.as_deref().map_or("{}", RawValue::get);
            let params: Json = serde_json::from_str(params).unwrap_or_default();
            check_headers(headers, &notification.method, &params, None)
                .map_err(|why| refusal(None, RpcError::new(HEADER_MISMATCH, why)))?;
            return Ok(accepted_response());
        }
        let (_, session) = self.session_of(caller)?;
        check_version(headers)?;
        self.gateway.accept_notification(&session.client, notification);
        Ok(accepted_response())
    }

    /// Answers a request. A stateless one is recognised first, so a session header that it may
    /// carry is ignored.
    ///
    /// Parameters that cannot be read count as parameters without `_meta` here; the dispatcher
    /// reports what is wrong with them, with the right error.
    async fn post_request(
        &self,
        caller: HttpCaller<'_>,
        request: RpcRequest,
        accepted: AcceptedTypes,
    ) -> Result<HttpResponse, Refusal> {
        let headers = caller.headers;
        let params = RequestParams::parse(&request.method, request.params.as_deref());
        let meta = params.as_ref().ok().and_then(|params| params.meta().ok()).unwrap_or_default();
        if is_stateless(headers, &request.method, &meta) {
            let id = request.id.clone();
            self.check_stateless(caller, &request, &meta)
                .map_err(|error| refusal(Some(id), error))?;
            return Ok(self.answer_stateless(request, accepted, caller.agent).await);
        }
        if request.method == "initialize" {
            return self.open_session(caller, request).await;
        }
        let (_, session) = self.session_of(caller)?;
        check_version(headers)?;
        Ok(self.answer_in_session(&session, vec![Ok(request)], ReplyForm::Single, accepted).await)
    }

    /// Checks a stateless request: its headers, its metadata and its method.
    ///
    /// All of this is checked here and not in the dispatcher, which does it again for the terms,
    /// since an error at this point decides the HTTP status before anything of the request has been
    /// started.
    ///
    /// # Errors
    /// A header that is missing or differs from the body, and what `RequestTerms::of` refuses.
    fn check_stateless(
        &self,
        caller: HttpCaller<'_>,
        request: &RpcRequest,
        meta: &RequestMeta,
    ) -> Result<(), RpcError> {
        let headers = caller.headers;
        let mismatch = |why: String| RpcError::new(HEADER_MISMATCH, why);
        let version = header(headers, VERSION_HEADER);
        if let Some(named) = meta.version()
            && version != Some(named)
        {
            return Err(mismatch(match version {
                None => "the header `MCP-Protocol-Version` is missing".to_owned(),
                Some(version) => {
                    format!("`MCP-Protocol-Version` is `{version}`, but `_meta` has `{named}`")
                }
            }));
        }
        // Only this revision has the other headers.
        if version == Some(Revision::V2026_07_28.name()) {
            let params = request.params.as_deref().map_or("{}", RawValue::get);
            let params: Json = serde_json::from_str(params).unwrap_or_default();
            let listing = self.gateway.listing();
            let name = params.get("name").and_then(Json::as_str);
            let schema = name
                .filter(|name| {
                    request.method == "tools/call"
                        // The headers of a hidden tool would tell that it exists.
                        && !self.gateway.is_hidden(caller.agent, name)
                })
                .and_then(|name| listing.input_schema(name));
            check_headers(headers, &request.method, &params, schema).map_err(mismatch)?;
        }
        RequestTerms::of(&self.sessions.stateless(caller.agent), &request.method, meta).map(drop)
    }

    /// Answers a request of a client without a session. The request ends with the connection.
    ///
    /// `work` runs the call and pushes its response to `log`; the call's other messages come to the
    /// same log by way of the sink. This function polls `work` until the log has a first message.
    /// If that is the response, it is sent as JSON; else the rest of `work` is handed to the body
    /// of the event stream, which polls it while it sends. So nothing runs outside of the
    /// connection's task, and dropping that drops the call, which is how clients of 2026-07-28
    /// cancel.
    async fn answer_stateless(
        &self,
        request: RpcRequest,
        accepted: AcceptedTypes,
        agent: &Arc<str>,
    ) -> HttpResponse {
        let log = self.sessions.new_log();
        let sink = Arc::clone(&log) as Arc<dyn MessageSink>;
        let session = self.sessions.stateless(agent);
        let answer = self.gateway.answer(&session, request, sink);
        let close = CloseOnDrop(Arc::clone(&log));
        let mut work: BoxFuture<'static, ()> = async move {
            if let Some(reply) = answer.await {
                let status = status_of(reply.error_code);
                close.0.push_response(reply.bytes, status);
            }
            drop(close);
        }
        .boxed();
        tokio::select! {
            biased;
            () = &mut work => {}
            () = log.wait_for_first() => {}
        }
        let whole = log.sole_response();
        match whole {
            Err(CallCancelled) => sse::empty_response(),
            Ok(Some((message, status))) if accepted.json || status != StatusCode::OK => {
                json_response(status, message)
            }
            _ if !accepted.events => {
                work.await;
                final_response(&log)
            }
            _ => {
                let work = (!log.is_closed()).then_some(work);
                sse::streamed_response(&log, 0, Resumption::Impossible, StreamKind::Shared, work)
            }
        }
    }

    /// Answers `initialize`. The session enters the table after its handshake was accepted, so a
    /// refused one leaves nothing behind, and no other request can find it before.
    ///
    /// # Errors
    /// If header and body name different revisions: a proxy that routes by the header would take
    /// this session for another kind than it is.
    async fn open_session(
        &self,
        caller: HttpCaller<'_>,
        request: RpcRequest,
    ) -> Result<HttpResponse, Refusal> {
        let headers = caller.headers;
        let id = request.id.clone();
        let named = RequestParams::parse("initialize", request.params.as_deref())
            .and_then(|params| RequestParams::text(params.protocol_version, "protocolVersion"))
            .map(std::borrow::Cow::into_owned);
        if let (Ok(named), Some(version)) = (&named, header(headers, VERSION_HEADER))
            && version != named
        {
            let message =
                format!("`MCP-Protocol-Version` is `{version}`, but the body has `{named}`");
            return Err(refusal(Some(id), RpcError::new(error_code::INVALID_REQUEST, message)));
        }
        let session = self.sessions.create(caller.agent);
        let sink = Arc::new(NullSink);
        let answer = self.gateway.answer(&session.client, request, sink).await;
        let Some(RpcReply { bytes, error_code, .. }) = answer else {
            return Err(Box::new(sse::empty_response()));
        };
        let mut response = json_response(StatusCode::OK, bytes);
        // A refused handshake makes no session.
        if error_code.is_some() {
            self.sessions.end(&session);
        } else if let Ok(id) = HeaderValue::from_str(&self.sessions.insert(session)) {
            response.headers_mut().insert(SESSION_HEADER, id);
        }
        Ok(response)
    }

    /// Answers a batch: all requests at once, in one array. Notifications and answers in it are
    /// taken in their order; a batch without any request gets 202, as a single one of those would.
    async fn post_batch(
        &self,
        session: &Arc<HttpSession>,
        batch: &[&RawValue],
        accepted: AcceptedTypes,
    ) -> HttpResponse {
        let mut requests = Vec::new();
        for text in batch {
            match Message::parse(text.get().as_bytes()) {
                Ok(Message::Request(request)) => requests.push(Ok(request)),
                Ok(Message::Notification(notification)) => {
                    self.gateway.accept_notification(&session.client, &notification);
                }
                Ok(Message::Response(response)) => session.client.accept_response(response),
                Err(malformed) => requests.push(Err(RpcReply::malformed(&malformed, "message"))),
            }
        }
        if requests.is_empty() {
            return accepted_response();
        }
        self.answer_in_session(session, requests, ReplyForm::Batch, accepted).await
    }

    /// Answers requests of a session. They go on when the connection is lost: the client may come
    /// back for the rest. Of messages that are not requests, the reply is known.
    ///
    /// ```text
    /// answers ─▶ work (DetachOnDrop) ─▶ log ─┬─ done within MAX_HOLD, nothing before it ─▶ JSON
    ///                                        ├─ the client accepts only JSON: wait, however long
    ///                                        └─ else: the log is kept, and streamed with event ids
    /// ```
    ///
    /// If the connection breaks, this future is dropped, and `DetachOnDrop` lets the work continue
    /// as a task. The log is kept for the session only when it is streamed: a client that has seen
    /// no event id could not ask for the rest of it.
    async fn answer_in_session(
        &self,
        session: &Arc<HttpSession>,
        requests: Vec<Result<RpcRequest, RpcReply>>,
        form: ReplyForm,
        accepted: AcceptedTypes,
    ) -> HttpResponse {
        let log = self.sessions.new_log();
        let answers: Vec<_> = requests
            .into_iter()
            .map(|request| match request {
                Ok(request) => {
                    let sink = Arc::clone(&log) as Arc<dyn MessageSink>;
                    Either::Left(self.gateway.answer(&session.client, request, sink))
                }
                Err(reply) => Either::Right(std::future::ready(Some(reply))),
            })
            .collect();
        let close = CloseOnDrop(Arc::clone(&log));
        let mut work = DetachOnDrop::new(async move {
            let replies: Vec<RpcReply> = join_all(answers).await.into_iter().flatten().collect();
            let message = match (form, replies.first()) {
                (_, None) => None,
                (ReplyForm::Single, Some(reply)) => Some(reply.bytes.clone()),
                (ReplyForm::Batch, Some(_)) => Some(RpcReply::join_batch(&replies)),
            };
            // Errors of these revisions are responses like others.
            message.into_iter().for_each(|it| close.0.push_response(it, StatusCode::OK));
            drop(close);
        });
        let hold = if accepted.events { MAX_HOLD } else { Duration::MAX };
        // Ends with the work, with the first message of a call, or after `MAX_HOLD`; then the rest
        // of the work runs detached. Biased, so that work that is done counts as done.
        let _ = tokio::time::timeout(hold, async {
            tokio::select! {
                biased;
                () = &mut work => {}
                () = log.wait_for_first(), if accepted.events => {}
            }
        })
        .await;
        match log.sole_response() {
            Err(CallCancelled) => return sse::empty_response(),
            Ok(Some((message, status))) if accepted.json => return json_response(status, message),
            _ if !accepted.events => return final_response(&log),
            _ => {}
        }
        session.keep_log(&log);
        self.sessions.make_room();
        let revision = session.client.handshake().map(|handshake| handshake.revision);
        let resumption = match revision {
            // The revision whose streams start with an event that has only an id.
            Some(Revision::V2025_11_25) => Resumption::Primed,
            _ => Resumption::WithIds,
        };
        sse::streamed_response(&log, 0, resumption, StreamKind::Shared, None)
    }
}

/// Whether a POST has one message or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplyForm {
    Single,
    Batch,
}

/// The value of a header, if it is text. The first one, if it is given several times; where two
/// values would be dangerous, `header_checks` refuses them.
fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// What a client accepts; everything if it does not send the header. Weights (`q=0`) are not read.
fn accepted_types(headers: &HeaderMap) -> AcceptedTypes {
    let mut given = headers.get_all(header::ACCEPT).iter().peekable();
    if given.peek().is_none() {
        return AcceptedTypes { json: true, events: true };
    }
    let all: Vec<String> =
        given.filter_map(|value| value.to_str().ok()).map(str::to_ascii_lowercase).collect();
    let accepts =
        |kinds: [&str; 3]| kinds.iter().any(|kind| all.iter().any(|it| it.contains(kind)));
    AcceptedTypes {
        json: accepts(["application/json", "application/*", "*/*"]),
        events: accepts(["text/event-stream", "text/*", "*/*"]),
    }
}

/// Whether a request is one of the stateless protocol, with or without mistakes. `_meta` decides if
/// it names a revision, also an unknown one: then the error must be that of 2026-07-28, which lists
/// the supported revisions. Otherwise the header does, except for `initialize`, by which a session
/// begins whatever an intermediary has put into the headers.
fn is_stateless(headers: &HeaderMap, method: &str, meta: &RequestMeta) -> bool {
    match meta.version().map(Revision::parse) {
        Some(None) => true,
        Some(Some(revision)) => !revision.has_handshake(),
        None if method == "initialize" => false,
        None => {
            method == "server/discover"
                || header(headers, VERSION_HEADER) == Some(Revision::V2026_07_28.name())
        }
    }
}

/// Checks that the revision which a request of a session names exists. It is not compared with that
/// of the handshake, which decides for the whole session.
///
/// # Errors
/// 400, as streamable HTTP demands.
fn check_version(headers: &HeaderMap) -> Result<(), Refusal> {
    match header(headers, VERSION_HEADER) {
        Some(version) if Revision::parse(version).is_none() => {
            let message = format!("revision `{version}` of the protocol is not supported");
            Err(Box::new(text_response(StatusCode::BAD_REQUEST, message)))
        }
        _ => Ok(()),
    }
}

/// The status of a response to a stateless request.
fn status_of(error_code: Option<i64>) -> StatusCode {
    match error_code {
        Some(HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION) => StatusCode::BAD_REQUEST,
        Some(error_code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

/// The response to a request that is not answered, with the statuses that 2026-07-28 gives to the
/// errors of its checks.
fn refusal(id: Option<toolwright_mcp::RequestId>, error: RpcError) -> Refusal {
    let status = match error.code {
        error_code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    };
    Box::new(json_response(status, RpcReply::error(id, error).bytes))
}

/// The response of a finished log as JSON, for clients that accept nothing else.
fn final_response(log: &EventLog) -> HttpResponse {
    match log.final_response() {
        Some((message, status)) => json_response(status, message),
        None => sse::empty_response(),
    }
}

/// The response to a message that needs none.
fn accepted_response() -> HttpResponse {
    let mut response = text_response(StatusCode::ACCEPTED, "");
    response.headers_mut().remove(header::CONTENT_TYPE);
    response
}

/// 405 with `Allow`, which RFC 9110 demands.
fn not_allowed(methods: &'static str) -> HttpResponse {
    let message = "this method is not allowed here";
    let mut response = text_response(StatusCode::METHOD_NOT_ALLOWED, message);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    response
}
