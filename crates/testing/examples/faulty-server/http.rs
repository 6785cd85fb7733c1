//! MCP servers on streamable HTTP. One thread per connection, one request at a time on each; the
//! server ends with its stdin.
//!
//! ```text
//! HttpConnection::read_request
//!   │ log           a line in $REQUEST_LOG, whatever happens next
//!   │ fault         hang, html, 500, garbage: replaces the whole answer
//!   │ refusal       redirect, 401, 404: before MCP is looked at
//!   ▼
//!  post ─▶ admit    session or headers ─▶ answer_in_json     one body
//!   │                                  ─▶ answer_in_events   notifications, then the answer
//!   │                                  ─▶ listen             2026-07-28, stays open
//!  GET ──▶ stream_changes (`sse`), resume (`resume`)
//! ```
//!
//! Nothing here is checked for hostile input: the only peers are the tests. What a method answers
//! is decided in `protocol`; this file decides how it travels, and which part of the way is broken.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};

use toolwright_testing::actions::refuse;

use crate::http_connection::{BodyDelivery, HttpConnection, HttpReply, HttpRequest};
use crate::protocol::{self, IdPosition, Lifecycle, MODERN, ServerState};
use crate::tools::{self, Caller, ServerAnswer, StopReason};

/// What a server does instead of answering: to every request, or in the modes `…-call` to
/// `tools/call` only. `Slow` and `Drop` compute the right answer and spoil its delivery; with the
/// others, the request never reaches the MCP server behind them.
#[derive(Clone, Copy, PartialEq)]
enum HttpFault {
    /// Accepts the request and sends nothing until the client closes the connection.
    Hang,
    /// The right answer, one byte every 100 ms: a deadline that each read starts anew never ends.
    Slow,
    /// The right answer with its full `Content-Length`, and half of its body.
    Drop,
    /// A sign-in page with status 200, as captive portals send it.
    Html,
    /// Status 500 with a text instead of a JSON-RPC error.
    Fail,
    /// A body that declares `application/json` and ends in the middle of a string.
    Garbage,
}

/// The faults by the name of their mode. Each name is also a mode with `-call` appended.
const FAULTS: &[(&str, HttpFault)] = &[
    ("hang", HttpFault::Hang),
    ("slow", HttpFault::Slow),
    ("drop", HttpFault::Drop),
    ("html", HttpFault::Html),
    ("500", HttpFault::Fail),
    ("garbage", HttpFault::Garbage),
];
/// The modes without a fault of the transport. A name that is in neither list is refused, so that a
/// misspelled mode in a test fails instead of testing a good server.
const MODES: &[&str] = &[
    "good",
    "sse",
    "modern",
    "resume",
    "loses-answers",
    "token",
    "huge",
    "huge-sse",
    "redirect-evil",
    "expires",
    "expires-full",
];

/// One server, shared by the threads of all its connections. `redirect-evil` has two in one
/// process.
struct FaultyHttpServer {
    /// As on the command line, with `-call`.
    mode: String,
    /// `front`, or `evil` for the target of the redirect.
    role: &'static str,
    state: ServerState,
    fault: Option<HttpFault>,
    /// Whether the fault is for `tools/call` only.
    calls_only: bool,
    /// Where every request is redirected to.
    redirect: Option<SocketAddr>,
    /// The ids of sessions that are not forgotten. Always empty for `modern`, which has no
    /// sessions.
    sessions: Mutex<HashSet<String>>,
    /// Sessions are numbered from 1, so that tests can tell a new one from an old one.
    sessions_so_far: AtomicUsize,
    /// Open event streams, which are notified of changes of the list.
    listeners: Mutex<Vec<Sender<()>>>,
    /// Answers that were computed after their stream broke (mode `resume`). The next GET with the
    /// right `Last-Event-ID` takes the newest one.
    unsent: Mutex<Vec<String>>,
    /// The ids of the client's answers that have arrived. Mode `loses-answers` drops each the first
    /// time, as if it had closed an idle connection just when the client wrote to it.
    answers_seen: Mutex<HashSet<String>>,
}

impl FaultyHttpServer {
    fn new(mode: &str, role: &'static str, redirect: Option<SocketAddr>) -> Self {
        let name = mode.strip_suffix("-call").unwrap_or(mode);
        let fault = FAULTS.iter().find(|(other, _)| *other == name).map(|(_, fault)| *fault);
        if fault.is_none() && !MODES.contains(&mode) {
            refuse(&format!("there is no http mode `{mode}`"));
        }
        Self {
            mode: mode.to_owned(),
            role,
            state: ServerState::new(mode),
            fault,
            calls_only: mode.ends_with("-call"),
            redirect,
            sessions: Mutex::default(),
            sessions_so_far: AtomicUsize::new(0),
            listeners: Mutex::default(),
            unsent: Mutex::default(),
            answers_seen: Mutex::default(),
        }
    }
}

/// Binds, prints the address, and serves until stdin ends. The address is printed after `bind` and
/// before the first `accept`: a test that has read the line can connect without a retry.
pub(crate) fn serve(mode: &str, address: &str) {
    let listener = TcpListener::bind(address)
        .unwrap_or_else(|error| refuse(&format!("cannot bind `{address}`: {error}")));
    print_stdout(&format!("listening http://{}/mcp", listener.local_addr().unwrap()));
    let mut redirect = None;
    // The evil server is a good one. What a test looks for is which headers, tokens among them, a
    // client takes along to another origin: they are in what the server prints.
    if mode == "redirect-evil" {
        let evil = TcpListener::bind("127.0.0.1:0").unwrap();
        redirect = Some(evil.local_addr().unwrap());
        std::thread::spawn(move || {
            accept(&evil, &Arc::new(FaultyHttpServer::new("good", "evil", None)))
        });
    }
    let server = Arc::new(FaultyHttpServer::new(mode, "front", redirect));
    std::thread::spawn(move || accept(&listener, &server));
    // The end of stdin is the sign that the test is over, also if the test was killed.
    let _ = io::stdin().read_to_end(&mut Vec::new());
    std::process::exit(0);
}

/// Errors are ignored: a test may read only the first line and close the pipe.
fn print_stdout(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// One thread per connection. They are never joined: the process exits below them.
fn accept(listener: &TcpListener, server: &Arc<FaultyHttpServer>) {
    for stream in listener.incoming() {
        let server = Arc::clone(server);
        // Errors are ignored: clients close connections at any time.
        std::thread::spawn(move || stream.and_then(|stream| server.handle(stream)));
    }
}

/// What happens to the connection after a reply.
///
/// Most replies leave the connection open, because clients reuse connections, and a test of a
/// broken one should break exactly that one.
#[derive(PartialEq)]
enum AfterReply {
    KeepOpen,
    Close,
}

impl FaultyHttpServer {
    /// Serves the requests of one connection, one after the other.
    fn handle(&self, stream: TcpStream) -> io::Result<()> {
        let mut connection = HttpConnection::new(stream);
        while let Some(request) = connection.read_request()? {
            self.log(&request);
            if self.serve(&request, &connection)? == AfterReply::Close || request.wants_close() {
                break;
            }
        }
        Ok(())
    }

    /// Appends the request to `$REQUEST_LOG`.
    fn log(&self, request: &HttpRequest) {
        let headers: Map<String, Value> = request
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect();
        let line = json!({
            "at": self.role,
            "method": request.method,
            "path": request.path,
            "headers": headers,
            "body": String::from_utf8_lossy(&request.body),
        });
        if self.role == "evil" {
            print_stdout(&format!("evil {line}"));
        }
        tools::append_line("REQUEST_LOG", &line.to_string());
    }

    /// One request, in the order of the drawing above. A body that is not JSON becomes `null` here
    /// and an error -32700 in `admit`, so that requests without a body (GET, DELETE) need no case
    /// of their own.
    fn serve(&self, request: &HttpRequest, connection: &HttpConnection) -> io::Result<AfterReply> {
        let message = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let fault = self.fault.filter(|_| !self.calls_only || message["method"] == "tools/call");
        // Faults that replace the answer end the request here.
        if let Some(fault) = fault
            && let Some(next) = reply_with_fault(fault, connection)?
        {
            return Ok(next);
        }
        // What is left are the two faults that change only how the answer is sent.
        let delivery = match fault {
            Some(HttpFault::Slow) => BodyDelivery::ByteByByte,
            Some(HttpFault::Drop) => BodyDelivery::Half,
            _ => BodyDelivery::Whole,
        };
        if let Some(refusal) = self.refusal(request) {
            connection.reply(&refusal, delivery)?;
            return Ok(AfterReply::KeepOpen);
        }
        match request.method.as_str() {
            "POST" => self.post(request, &message, connection, delivery),
            "GET" if self.mode == "sse" => self.stream_changes(None, connection),
            "GET" if self.mode == "resume" => self.resume(request, connection),
            "DELETE" if self.state.lifecycle == Lifecycle::Handshake => {
                self.sessions
                    .lock()
                    .unwrap()
                    .remove(request.header("mcp-session-id").unwrap_or_default());
                connection.reply(&HttpReply::empty(200), delivery)?;
                Ok(AfterReply::KeepOpen)
            }
            // Streamable HTTP demands 405 from a server that offers no stream on GET.
            _ => {
                connection.reply(&HttpReply::empty(405).with("Allow", "POST"), delivery)?;
                Ok(AfterReply::KeepOpen)
            }
        }
    }

    /// The reply to a request that is rejected whatever its body says, in the order in which a
    /// proxy, an authenticating front and the endpoint would do it.
    ///
    /// A GET for an event stream is checked for its session here, because it does not pass `admit`.
    fn refusal(&self, request: &HttpRequest) -> Option<HttpReply> {
        if let Some(evil) = self.redirect {
            return Some(HttpReply::empty(307).with("Location", format!("http://{evil}/mcp")));
        }
        if self.mode == "token" && request.header("authorization") != Some("Bearer sesame") {
            let challenge = r#"Bearer realm="faulty-server", error="invalid_token""#;
            return Some(
                HttpReply::new(401, "text/plain", "who are you?")
                    .with("WWW-Authenticate", challenge),
            );
        }
        if request.path != "/mcp" {
            return Some(HttpReply::new(404, "text/plain", "there is nothing here"));
        }
        (request.method == "GET" && self.mode == "sse")
            .then(|| self.session_of(request).err())
            .flatten()
            .map(|(status, answer)| refuse_message(status, &Value::Null, answer))
    }

    /// A message of the client. Requests are answered; notifications and answers to our own
    /// requests get 202 and no body, as streamable HTTP demands.
    fn post(
        &self,
        request: &HttpRequest,
        message: &Value,
        connection: &HttpConnection,
        delivery: BodyDelivery,
    ) -> io::Result<AfterReply> {
        let id = message.get("id").unwrap_or(&Value::Null);
        let session = match self.admit(request, message) {
            Ok(session) => session,
            Err((status, answer)) => {
                connection.reply(&refuse_message(status, id, answer), delivery)?;
                return Ok(AfterReply::KeepOpen);
            }
        };
        // No id: a notification. No method: an answer to a request of ours.
        let (Some(method), true) = (message["method"].as_str(), message.get("id").is_some()) else {
            if message["method"] == "notifications/cancelled" {
                self.state.cancel(&session, &message["params"]);
            }
            if message["method"].is_null() {
                if self.mode == "loses-answers"
                    && self.answers_seen.lock().unwrap().insert(id.to_string())
                {
                    return Ok(AfterReply::Close);
                }
                self.state.receive_answer(message);
            }
            connection.reply(&HttpReply::empty(202), delivery)?;
            return Ok(AfterReply::KeepOpen);
        };
        let params = &message["params"];
        let call = HttpCall {
            server: self,
            session: &session,
            id,
            connection,
            in_events: self.in_events(message),
        };
        let next =
            if method == "subscriptions/listen" && self.state.lifecycle == Lifecycle::Stateless {
                self.listen(id, params, connection)
            } else if call.in_events {
                self.answer_in_events(method, params, &call)
            } else {
                self.answer_in_json(method, params, &call, delivery)
            };
        // After the answer, so that the call itself succeeds and the next request finds no session.
        if self.mode.starts_with("expires") && method == "tools/call" {
            self.sessions.lock().unwrap().remove(&session);
        }
        self.announce_change();
        next
    }

    /// Notifies the open event streams if the list has changed. Without any, the change is kept
    /// for the first one that opens: a client opens its stream some time after the handshake.
    fn announce_change(&self) {
        let mut listeners = self.listeners.lock().unwrap();
        if !listeners.is_empty() && self.state.take_change() {
            listeners.retain(|listener| listener.send(()).is_ok());
        }
    }

    /// Whether the answer to a request is an event stream. Only such a call can send notifications
    /// and requests to the client before its answer.
    fn in_events(&self, message: &Value) -> bool {
        message["method"] == "tools/call"
            && match self.mode.as_str() {
                "sse" | "huge-sse" | "resume" | "loses-answers" => true,
                "modern" => message["params"]["name"] == "progress",
                _ => false,
            }
    }

    /// The session of a message, or the status and the error that reject it. `initialize` begins a
    /// new session; 2026-07-28 has none, so its messages get an empty name and their headers are
    /// checked.
    fn admit(&self, request: &HttpRequest, message: &Value) -> Result<String, (u16, ServerAnswer)> {
        if message.is_null() {
            return Err((400, ServerAnswer::error(-32700, "not JSON")));
        }
        if self.state.lifecycle == Lifecycle::Stateless {
            return check_headers(request, message).map(|()| String::new());
        }
        if message["method"] == "initialize" {
            let count = self.sessions_so_far.fetch_add(1, Ordering::SeqCst) + 1;
            let session = format!("session-{count}");
            self.sessions.lock().unwrap().insert(session.clone());
            return Ok(session);
        }
        self.session_of(request)
    }

    /// Streamable HTTP: 400 if the header is missing, and 404 for a session that has ended, upon
    /// which the client has to begin a new one.
    fn session_of(&self, request: &HttpRequest) -> Result<String, (u16, ServerAnswer)> {
        let Some(session) = request.header("mcp-session-id") else {
            return Err((400, ServerAnswer::error(-32000, "`Mcp-Session-Id` is missing")));
        };
        if !self.sessions.lock().unwrap().contains(session) {
            return Err((
                404,
                ServerAnswer::error(-32001, format!("there is no session `{session}`")),
            ));
        }
        Ok(session.to_owned())
    }

    /// Answers with one JSON body. A cancelled call has no message to send, so the connection is
    /// closed.
    fn answer_in_json(
        &self,
        method: &str,
        params: &Value,
        call: &HttpCall,
        delivery: BodyDelivery,
    ) -> io::Result<AfterReply> {
        if self.mode == "huge"
            && let Some(bytes) = protocol::size_of_big(method, params)
        {
            call.connection.reply(
                &HttpReply::json(200, protocol::padded_message(call.id, bytes, IdPosition::First)),
                delivery,
            )?;
            return Ok(AfterReply::KeepOpen);
        }
        let answer = self.state.answer(call.id, method, params, call);
        let status = self.status(&answer);
        let Some(message) = protocol::message(call.id, answer) else {
            return Ok(AfterReply::Close);
        };
        let mut reply = HttpReply::json(status, message.to_string());
        if method == "initialize" && self.state.lifecycle == Lifecycle::Handshake {
            // The session is named once, in the reply to `initialize`.
            reply = reply.with("Mcp-Session-Id", call.session);
        }
        call.connection.reply(&reply, delivery)?;
        Ok(AfterReply::KeepOpen)
    }

    /// 2026-07-28 reports some protocol errors in the HTTP status too.
    fn status(&self, answer: &ServerAnswer) -> u16 {
        match (self.state.lifecycle, answer) {
            (Lifecycle::Stateless, ServerAnswer::Error { code: -32601, .. }) => 404,
            _ => 200,
        }
    }

    /// Answers with an event stream that ends after the answer. Notifications and questions of the
    /// tool are written to it while `ServerState::answer` runs, by way of `HttpCall`.
    fn answer_in_events(
        &self,
        method: &str,
        params: &Value,
        call: &HttpCall,
    ) -> io::Result<AfterReply> {
        call.connection.start_events(&[])?;
        if self.mode == "resume" {
            // The first event has an id and no message; then the connection breaks.
            let answer = self.state.answer(call.id, method, params, call);
            let message = protocol::message(call.id, answer).unwrap_or_default().to_string();
            self.unsent.lock().unwrap().push(message);
            call.connection.send_raw_event("id: 7\nretry: 0\n\n")?;
            return Ok(AfterReply::Close);
        }
        if self.mode == "huge-sse"
            && let Some(bytes) = protocol::size_of_big(method, params)
        {
            call.connection.send_event(&protocol::padded_message(
                call.id,
                bytes,
                IdPosition::First,
            ))?;
        } else if let Some(message) =
            protocol::message(call.id, self.state.answer(call.id, method, params, call))
        {
            call.connection.send_event(&message.to_string())?;
        }
        call.connection.end_events()?;
        Ok(AfterReply::KeepOpen)
    }

    /// The rest of a broken stream.
    ///
    /// Only the id of the one event that `answer_in_events` sends before the break is accepted.
    fn resume(&self, request: &HttpRequest, connection: &HttpConnection) -> io::Result<AfterReply> {
        let answer = match request.header("last-event-id") {
            Some("7") => self.unsent.lock().unwrap().pop(),
            _ => None,
        };
        let Some(answer) = answer else {
            connection.reply(&HttpReply::empty(405), BodyDelivery::Whole)?;
            return Ok(AfterReply::KeepOpen);
        };
        connection.start_events(&[])?;
        connection.send_event(&answer)?;
        connection.end_events()?;
        Ok(AfterReply::KeepOpen)
    }

    /// `subscriptions/listen` of 2026-07-28: the stream is the response to the request, and begins
    /// with the notification that names what was accepted.
    fn listen(
        &self,
        id: &Value,
        params: &Value,
        connection: &HttpConnection,
    ) -> io::Result<AfterReply> {
        self.stream_changes(Some((id, &protocol::acknowledge(id, params))), connection)
    }

    /// An event stream that stays open until the client closes it.
    ///
    /// `subscription` is the id and the acknowledgement of a `subscriptions/listen`; `None` is the
    /// stream of a session, opened with GET.
    fn stream_changes(
        &self,
        subscription: Option<(&Value, &Value)>,
        connection: &HttpConnection,
    ) -> io::Result<AfterReply> {
        let (sender, changes) = mpsc::channel();
        // Registered before the pending change is announced: otherwise a change between the two
        // would be announced to nobody and forgotten.
        self.listeners.lock().unwrap().push(sender);
        self.announce_change();
        connection.start_events(&[])?;
        if let Some((_, acknowledgement)) = subscription {
            connection.send_event(&acknowledgement.to_string())?;
        }
        loop {
            // The timeout exists only to notice that the client has closed the connection.
            match changes.recv_timeout(Duration::from_millis(100)) {
                Ok(()) => connection.send_event(
                    &protocol::list_changed(subscription.map(|(id, _)| id)).to_string(),
                )?,
                Err(RecvTimeoutError::Timeout) if !connection.is_closed() => {}
                Err(_) => return Ok(AfterReply::Close),
            }
        }
    }
}

/// Performs a fault that replaces the answer; `None` for those that change how it is sent.
fn reply_with_fault(
    fault: HttpFault,
    connection: &HttpConnection,
) -> io::Result<Option<AfterReply>> {
    let reply = match fault {
        HttpFault::Hang => {
            while !connection.is_closed() {
                std::thread::sleep(Duration::from_millis(50));
            }
            return Ok(Some(AfterReply::Close));
        }
        HttpFault::Slow | HttpFault::Drop => return Ok(None),
        HttpFault::Html => HttpReply::new(
            200,
            "text/html; charset=utf-8",
            "<!doctype html><title>Sign in</title><p>Please sign in to the guest network.",
        ),
        HttpFault::Fail => HttpReply::new(500, "text/plain", "it broke"),
        HttpFault::Garbage => HttpReply::json(200, r#"{"jsonrpc":"2.0","id":1,"result":{"oops"#),
    };
    connection.reply(&reply, BodyDelivery::Whole)?;
    Ok(Some(AfterReply::KeepOpen))
}

/// A JSON-RPC error as the body of a reply whose status is not 200.
fn refuse_message(status: u16, id: &Value, answer: ServerAnswer) -> HttpReply {
    HttpReply::json(status, protocol::message(id, answer).unwrap_or_default().to_string())
}

/// 2026-07-28 requires method and tool name in the headers too, and that both agree with the body,
/// so that proxies can route without parsing it. The error is -32020, with status 400.
fn check_headers(request: &HttpRequest, message: &Value) -> Result<(), (u16, ServerAnswer)> {
    let mismatch =
        |header: &str| Err((400, ServerAnswer::error(-32020, format!("bad header `{header}`"))));
    let is_request = message.get("id").is_some() && message["method"] != "initialize";
    // `initialize` is let through to `protocol`, which refuses it as an unknown method, because a
    // client that supports both lifecycles may try it.
    if is_request && let Err(refusal) = protocol::check_meta(&message["params"]["_meta"]) {
        return Err((400, refusal));
    }
    if is_request && request.header("mcp-protocol-version") != Some(MODERN) {
        return mismatch("MCP-Protocol-Version");
    }
    if is_request && request.header("mcp-method") != message["method"].as_str() {
        return mismatch("Mcp-Method");
    }
    if message["method"] == "tools/call"
        && request.header("mcp-name") != message["params"]["name"].as_str()
    {
        return mismatch("Mcp-Name");
    }
    Ok(())
}

/// The client of one request: what a tool does for it goes out on the connection of that request.
struct HttpCall<'a> {
    server: &'a FaultyHttpServer,
    /// Empty in 2026-07-28. Part of the key of cancelled requests, because ids are unique only
    /// within a session.
    session: &'a str,
    id: &'a Value,
    connection: &'a HttpConnection,
    /// Without an event stream, notifications and requests to the client are dropped.
    in_events: bool,
}

impl Caller for HttpCall<'_> {
    fn ask(&self, requests: &[Value]) -> Vec<Value> {
        self.server.state.ask(requests, |request| self.notify(request))
    }

    fn notify(&self, notification: &Value) {
        if self.in_events {
            let _ = self.connection.send_event(&notification.to_string());
        }
    }

    /// Closing the connection cancels the call, as `notifications/cancelled` does.
    fn stop_reason(&self) -> Option<StopReason> {
        (self.server.state.is_cancelled(self.session, self.id) || self.connection.is_closed())
            .then_some(StopReason::Cancelled)
    }
}
