//! MCP servers on streamable HTTP.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::mcp::{self, Core, IdPlace, Lifecycle, MODERN};
use crate::refuse;
use crate::tools::{self, Answer, Caller, CutOff};
use crate::wire::{Connection, Pace, Reply, Request};

/// What a server does instead of answering, to every request or, as `…-call`, to `tools/call`.
#[derive(Clone, Copy, PartialEq)]
enum Misdeed {
    Hang,
    Slow,
    Drop,
    Html,
    Fail,
    Garbage,
}

const MISDEEDS: &[(&str, Misdeed)] = &[
    ("hang", Misdeed::Hang),
    ("slow", Misdeed::Slow),
    ("drop", Misdeed::Drop),
    ("html", Misdeed::Html),
    ("500", Misdeed::Fail),
    ("garbage", Misdeed::Garbage),
];
const MODES: &[&str] =
    &["good", "sse", "modern", "token", "huge", "huge-sse", "redirect-evil", "expires"];

struct Server {
    mode: String,
    /// `front`, or `evil` where a redirect leads.
    at: &'static str,
    core: Core,
    misdeed: Option<Misdeed>,
    calls_only: bool,
    redirect: Option<SocketAddr>,
    sessions: Mutex<HashSet<String>>,
    sessions_so_far: AtomicUsize,
    /// Those who wait for news of the list.
    listeners: Mutex<Vec<Sender<()>>>,
}

impl Server {
    fn new(mode: &str, at: &'static str, redirect: Option<SocketAddr>) -> Self {
        let name = mode.strip_suffix("-call").unwrap_or(mode);
        let misdeed =
            MISDEEDS.iter().find(|(other, _)| *other == name).map(|(_, misdeed)| *misdeed);
        if misdeed.is_none() && !MODES.contains(&mode) {
            refuse(&format!("there is no http mode `{mode}`"));
        }
        Self {
            mode: mode.to_owned(),
            at,
            core: Core::new(mode),
            misdeed,
            calls_only: mode.ends_with("-call"),
            redirect,
            sessions: Mutex::default(),
            sessions_so_far: AtomicUsize::new(0),
            listeners: Mutex::default(),
        }
    }
}

pub(crate) fn serve(mode: &str, address: &str) {
    let listener = TcpListener::bind(address)
        .unwrap_or_else(|error| refuse(&format!("cannot bind `{address}`: {error}")));
    say(&format!("listening http://{}/mcp", listener.local_addr().unwrap()));
    let mut redirect = None;
    if mode == "redirect-evil" {
        let evil = TcpListener::bind("127.0.0.1:0").unwrap();
        redirect = Some(evil.local_addr().unwrap());
        std::thread::spawn(move || accept(&evil, &Arc::new(Server::new("good", "evil", None))));
    }
    let server = Arc::new(Server::new(mode, "front", redirect));
    std::thread::spawn(move || accept(&listener, &server));
    let _ = io::stdin().read_to_end(&mut Vec::new());
    std::process::exit(0);
}

fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

fn accept(listener: &TcpListener, server: &Arc<Server>) {
    for stream in listener.incoming() {
        let server = Arc::clone(server);
        // A client that goes away is no reason to complain.
        std::thread::spawn(move || stream.and_then(|stream| server.converse(stream)));
    }
}

/// Whether the connection can carry another request.
#[derive(PartialEq)]
enum Next {
    Request,
    Nothing,
}

impl Server {
    fn converse(&self, stream: TcpStream) -> io::Result<()> {
        let mut connection = Connection::new(stream);
        while let Some(request) = connection.read_request()? {
            self.note(&request);
            if self.serve(&request, &connection)? == Next::Nothing || request.wants_close() {
                break;
            }
        }
        Ok(())
    }

    fn note(&self, request: &Request) {
        let headers: Map<String, Value> = request
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect();
        let note = json!({
            "at": self.at,
            "method": request.method,
            "path": request.path,
            "headers": headers,
            "body": String::from_utf8_lossy(&request.body),
        });
        if self.at == "evil" {
            say(&format!("evil {note}"));
        }
        tools::append_line("REQUEST_LOG", &note.to_string());
    }

    fn serve(&self, request: &Request, connection: &Connection) -> io::Result<Next> {
        let message = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let misdeed =
            self.misdeed.filter(|_| !self.calls_only || message["method"] == "tools/call");
        if let Some(misdeed) = misdeed
            && let Some(next) = commit(misdeed, connection)?
        {
            return Ok(next);
        }
        let pace = match misdeed {
            Some(Misdeed::Slow) => Pace::ByteByByte,
            Some(Misdeed::Drop) => Pace::Half,
            _ => Pace::Whole,
        };
        if let Some(refusal) = self.refusal(request) {
            connection.reply(&refusal, pace)?;
            return Ok(Next::Request);
        }
        match request.method.as_str() {
            "POST" => self.post(request, &message, connection, pace),
            "GET" if self.mode == "sse" => self.stream_news(None, connection),
            "DELETE" if self.core.lifecycle == Lifecycle::Handshake => {
                self.sessions
                    .lock()
                    .unwrap()
                    .remove(request.header("mcp-session-id").unwrap_or_default());
                connection.reply(&Reply::empty(200), pace)?;
                Ok(Next::Request)
            }
            _ => {
                connection.reply(&Reply::empty(405).with("Allow", "POST"), pace)?;
                Ok(Next::Request)
            }
        }
    }

    /// What keeps a request out before anybody looks into it.
    fn refusal(&self, request: &Request) -> Option<Reply> {
        if let Some(evil) = self.redirect {
            return Some(Reply::empty(307).with("Location", format!("http://{evil}/mcp")));
        }
        if self.mode == "token" && request.header("authorization") != Some("Bearer sesame") {
            let challenge = r#"Bearer realm="misbehave", error="invalid_token""#;
            return Some(
                Reply::new(401, "text/plain", "who are you?").with("WWW-Authenticate", challenge),
            );
        }
        if request.path != "/mcp" {
            return Some(Reply::new(404, "text/plain", "there is nothing here"));
        }
        (request.method == "GET" && self.mode == "sse")
            .then(|| self.session_of(request).err())
            .flatten()
            .map(|(status, answer)| refuse_message(status, &Value::Null, answer))
    }

    fn post(
        &self,
        request: &Request,
        message: &Value,
        connection: &Connection,
        pace: Pace,
    ) -> io::Result<Next> {
        let id = message.get("id").unwrap_or(&Value::Null);
        let session = match self.admit(request, message) {
            Ok(session) => session,
            Err((status, answer)) => {
                connection.reply(&refuse_message(status, id, answer), pace)?;
                return Ok(Next::Request);
            }
        };
        let (Some(method), true) = (message["method"].as_str(), message.get("id").is_some()) else {
            if message["method"] == "notifications/cancelled" {
                self.core.cancel(&session, &message["params"]);
            }
            connection.reply(&Reply::empty(202), pace)?;
            return Ok(Next::Request);
        };
        let params = &message["params"];
        let call = Call {
            server: self,
            session: &session,
            id,
            connection,
            in_events: self.in_events(message),
        };
        let next =
            if method == "subscriptions/listen" && self.core.lifecycle == Lifecycle::Stateless {
                self.listen(id, params, connection)
            } else if call.in_events {
                self.answer_in_events(method, params, &call)
            } else {
                self.answer_in_json(method, params, &call, pace)
            };
        if self.mode == "expires" && method == "tools/call" {
            self.sessions.lock().unwrap().remove(&session);
        }
        if self.core.has_news() {
            self.listeners.lock().unwrap().retain(|listener| listener.send(()).is_ok());
        }
        next
    }

    fn in_events(&self, message: &Value) -> bool {
        message["method"] == "tools/call"
            && match self.mode.as_str() {
                "sse" | "huge-sse" => true,
                "modern" => message["params"]["name"] == "progress",
                _ => false,
            }
    }

    /// The session a message belongs to, or why it must not come in.
    fn admit(&self, request: &Request, message: &Value) -> Result<String, (u16, Answer)> {
        if message.is_null() {
            return Err((400, Answer::error(-32700, "not JSON")));
        }
        if self.core.lifecycle == Lifecycle::Stateless {
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

    fn session_of(&self, request: &Request) -> Result<String, (u16, Answer)> {
        let Some(session) = request.header("mcp-session-id") else {
            return Err((400, Answer::error(-32000, "`Mcp-Session-Id` is missing")));
        };
        if !self.sessions.lock().unwrap().contains(session) {
            return Err((404, Answer::error(-32001, format!("there is no session `{session}`"))));
        }
        Ok(session.to_owned())
    }

    fn answer_in_json(
        &self,
        method: &str,
        params: &Value,
        call: &Call,
        pace: Pace,
    ) -> io::Result<Next> {
        if self.mode == "huge"
            && let Some(bytes) = mcp::bytes_of_big(method, params)
        {
            call.connection.reply(
                &Reply::json(200, mcp::padded_message(call.id, bytes, IdPlace::First)),
                pace,
            )?;
            return Ok(Next::Request);
        }
        let answer = self.core.answer(call.id, method, params, call);
        let status = self.status(&answer);
        let Some(message) = mcp::message(call.id, answer) else { return Ok(Next::Nothing) };
        let mut reply = Reply::json(status, message.to_string());
        if method == "initialize" && self.core.lifecycle == Lifecycle::Handshake {
            reply = reply.with("Mcp-Session-Id", call.session);
        }
        call.connection.reply(&reply, pace)?;
        Ok(Next::Request)
    }

    /// 2026-07-28 tells some errors of the protocol in the status too.
    fn status(&self, answer: &Answer) -> u16 {
        match (self.core.lifecycle, answer) {
            (Lifecycle::Stateless, Answer::Error { code: -32601, .. }) => 404,
            _ => 200,
        }
    }

    fn answer_in_events(&self, method: &str, params: &Value, call: &Call) -> io::Result<Next> {
        call.connection.start_events(&[])?;
        if self.mode == "huge-sse"
            && let Some(bytes) = mcp::bytes_of_big(method, params)
        {
            call.connection.send_event(&mcp::padded_message(call.id, bytes, IdPlace::First))?;
        } else if let Some(message) =
            mcp::message(call.id, self.core.answer(call.id, method, params, call))
        {
            call.connection.send_event(&message.to_string())?;
        }
        call.connection.end_events()?;
        Ok(Next::Request)
    }

    fn listen(&self, id: &Value, params: &Value, connection: &Connection) -> io::Result<Next> {
        self.stream_news(Some((id, &mcp::acknowledge(id, params))), connection)
    }

    /// An event stream that lasts as long as the client wants it.
    fn stream_news(
        &self,
        subscription: Option<(&Value, &Value)>,
        connection: &Connection,
    ) -> io::Result<Next> {
        let (sender, news) = mpsc::channel();
        self.listeners.lock().unwrap().push(sender);
        connection.start_events(&[])?;
        if let Some((_, acknowledgement)) = subscription {
            connection.send_event(&acknowledgement.to_string())?;
        }
        loop {
            match news.recv_timeout(Duration::from_millis(100)) {
                Ok(()) => connection
                    .send_event(&mcp::list_changed(subscription.map(|(id, _)| id)).to_string())?,
                Err(RecvTimeoutError::Timeout) if !connection.is_gone() => {}
                Err(_) => return Ok(Next::Nothing),
            }
        }
    }
}

/// Does what needs no answer to be spoilt; `None` for the misdeeds that do.
fn commit(misdeed: Misdeed, connection: &Connection) -> io::Result<Option<Next>> {
    let reply = match misdeed {
        Misdeed::Hang => {
            while !connection.is_gone() {
                std::thread::sleep(Duration::from_millis(50));
            }
            return Ok(Some(Next::Nothing));
        }
        Misdeed::Slow | Misdeed::Drop => return Ok(None),
        Misdeed::Html => Reply::new(
            200,
            "text/html; charset=utf-8",
            "<!doctype html><title>Sign in</title><p>Please sign in to the guest network.",
        ),
        Misdeed::Fail => Reply::new(500, "text/plain", "it broke"),
        Misdeed::Garbage => Reply::json(200, r#"{"jsonrpc":"2.0","id":1,"result":{"oops"#),
    };
    connection.reply(&reply, Pace::Whole)?;
    Ok(Some(Next::Request))
}

fn refuse_message(status: u16, id: &Value, answer: Answer) -> Reply {
    Reply::json(status, mcp::message(id, answer).unwrap_or_default().to_string())
}

/// 2026-07-28 wants what the body says in the headers too.
fn check_headers(request: &Request, message: &Value) -> Result<(), (u16, Answer)> {
    let mismatch =
        |header: &str| Err((400, Answer::error(-32020, format!("bad header `{header}`"))));
    let is_request = message.get("id").is_some() && message["method"] != "initialize";
    if is_request && let Err(refusal) = mcp::check_meta(&message["params"]["_meta"]) {
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

struct Call<'a> {
    server: &'a Server,
    session: &'a str,
    id: &'a Value,
    connection: &'a Connection,
    in_events: bool,
}

impl Caller for Call<'_> {
    fn notify(&self, notification: &Value) {
        if self.in_events {
            let _ = self.connection.send_event(&notification.to_string());
        }
    }

    /// Hanging up means as much as `notifications/cancelled`.
    fn cut_off(&self) -> Option<CutOff> {
        (self.server.core.is_cancelled(self.session, self.id) || self.connection.is_gone())
            .then_some(CutOff::Cancelled)
    }
}
