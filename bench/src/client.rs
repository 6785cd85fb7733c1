//! The one client that all servers and proxies are measured with. It does as little as it can:
//! HTTP/1.1 on kept connections with answers in JSON or in events, or a message a line on standard
//! streams; the handshake of 2025-06-18.

use std::collections::HashMap;
use std::io::{self, Error};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

const VERSION: &str = "2025-06-18";

/// A way to a server that can be used by many callers at once.
#[derive(Clone)]
pub(crate) enum Way {
    /// Every caller has a connection of its own, all are in one session.
    Http(Arc<Http>),
    /// All share the streams.
    Pipes(Arc<Pipes>),
}

/// What one caller uses.
pub(crate) enum Line {
    Http(Arc<Http>, Option<TcpStream>),
    Pipes(Arc<Pipes>),
}

/// An answer: the whole of it, and when it was there.
pub(crate) struct Answer {
    pub(crate) text: Vec<u8>,
    pub(crate) at: Instant,
    session: Option<String>,
}

impl Way {
    /// A line for one caller.
    pub(crate) fn line(&self) -> Line {
        match self {
            Way::Http(http) => Line::Http(Arc::clone(http), None),
            Way::Pipes(pipes) => Line::Pipes(Arc::clone(pipes)),
        }
    }
}

impl Line {
    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, id: u64, method: &str, params: &Json) -> io::Result<Answer> {
        let message =
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        match self {
            Line::Http(http, stream) => http.post(stream, &message).await,
            Line::Pipes(pipes) => pipes.ask(id, &message).await,
        }
    }

    /// Sends a notification.
    async fn tell(&mut self, method: &str) -> io::Result<()> {
        let message = json!({"jsonrpc": "2.0", "method": method}).to_string();
        match self {
            Line::Http(http, stream) => http.post(stream, &message).await.map(drop),
            Line::Pipes(pipes) => pipes.write(&message).await,
        }
    }
}

/// Shakes hands with a server on HTTP; the way in the session it gave.
pub(crate) async fn open_http(address: SocketAddr, path: &str) -> io::Result<Way> {
    let mut http = Http { address, path: path.to_owned(), session: None };
    let mut stream = None;
    let hello =
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}).to_string();
    let answer = http.post(&mut stream, &hello).await?;
    result_of(&answer)?;
    http.session = answer.session;
    Ok(Way::Http(Arc::new(http)))
}

/// Shakes hands with a server on standard streams.
pub(crate) async fn open_pipes(to: pipe::Sender, from: pipe::Receiver) -> io::Result<Way> {
    let pipes = Arc::new(Pipes { to: tokio::sync::Mutex::new(to), waiting: Mutex::default() });
    tokio::spawn(Arc::clone(&pipes).read(from));
    result_of(&Line::Pipes(Arc::clone(&pipes)).ask(0, "initialize", &hello()).await?)?;
    Ok(Way::Pipes(pipes))
}

/// Ends the handshake and gives the name of the tool that echoes.
pub(crate) async fn find_echo(way: &Way) -> io::Result<String> {
    let mut line = way.line();
    line.tell("notifications/initialized").await?;
    let list = result_of(&line.ask(1, "tools/list", &json!({})).await?)?;
    let names =
        list["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
    let mut echoes = names.filter(|name| name.ends_with("echo")).map(str::to_owned);
    echoes.next().ok_or_else(|| Error::other("no tool echoes"))
}

fn hello() -> Json {
    let client = json!({"name": "toolwright-bench", "version": "1"});
    json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client})
}

fn result_of(answer: &Answer) -> io::Result<Json> {
    let text = String::from_utf8_lossy(&answer.text);
    // The lines of events that carry data, or the one that is the whole.
    let candidates = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    let messages = candidates.filter_map(|line| serde_json::from_str::<Json>(line).ok());
    let mut results = messages.filter_map(|mut message| message.get_mut("result").map(Json::take));
    results.next().ok_or_else(|| Error::other(format!("no result: {text}")))
}

/// Whether an answer, or the beginning of one, has the result in it.
fn is_answered(text: &[u8]) -> bool {
    contains(text, b"\"result\"") || contains(text, b"\"error\"")
}

pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// A server on HTTP.
pub(crate) struct Http {
    address: SocketAddr,
    path: String,
    session: Option<String>,
}

impl Http {
    async fn post(&self, kept: &mut Option<TcpStream>, message: &str) -> io::Result<Answer> {
        let mut stream = match kept.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(self.address).await?;
                stream.set_nodelay(true)?;
                stream
            }
        };
        let session = match &self.session {
            Some(session) => {
                format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: {VERSION}\r\n")
            }
            None => String::new(),
        };
        let request = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n{message}",
            self.path,
            self.address,
            message.len()
        );
        stream.write_all(request.as_bytes()).await?;
        let mut reading = Reading { stream: &mut stream, bytes: Vec::with_capacity(4096), used: 0 };
        let head = reading.head().await?;
        let answer = reading.body(&head).await?;
        if !(200..300).contains(&head.status) {
            let text = String::from_utf8_lossy(&answer.text).into_owned();
            return Err(Error::other(format!("HTTP {}: {text}", head.status)));
        }
        if !head.closes {
            *kept = Some(stream);
        }
        Ok(answer)
    }
}

/// The head of an answer, as far as it matters.
struct Head {
    status: u16,
    length: Option<usize>,
    chunked: bool,
    closes: bool,
    session: Option<String>,
}

/// An answer that is being read.
struct Reading<'s> {
    stream: &'s mut TcpStream,
    bytes: Vec<u8>,
    used: usize,
}

impl Reading<'_> {
    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.bytes).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// The bytes up to `end`, which is passed over.
    async fn until(&mut self, end: &[u8]) -> io::Result<Vec<u8>> {
        loop {
            let rest = &self.bytes[self.used..];
            if let Some(at) = rest.windows(end.len()).position(|window| window == end) {
                let found = rest[..at].to_vec();
                self.used += at + end.len();
                return Ok(found);
            }
            self.more().await?;
        }
    }

    async fn take(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.bytes.len() - self.used < count {
            self.more().await?;
        }
        self.used += count;
        Ok(&self.bytes[self.used - count..self.used])
    }

    async fn head(&mut self) -> io::Result<Head> {
        let head = String::from_utf8_lossy(&self.until(b"\r\n\r\n").await?).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let status = status.ok_or_else(|| Error::other("no status"))?;
        let mut head = Head { status, length: None, chunked: false, closes: false, session: None };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => head.length = value.parse().ok(),
                "transfer-encoding" => head.chunked = value.eq_ignore_ascii_case("chunked"),
                "connection" => head.closes = value.eq_ignore_ascii_case("close"),
                "mcp-session-id" => head.session = Some(value.to_owned()),
                _ => {}
            }
        }
        Ok(head)
    }

    /// The body. The answer counts as there when its event is, not when the stream has ended.
    async fn body(&mut self, head: &Head) -> io::Result<Answer> {
        let session = head.session.clone();
        if !head.chunked {
            let text = self.take(head.length.unwrap_or(0)).await?.to_vec();
            return Ok(Answer { text, at: Instant::now(), session });
        }
        let (mut text, mut at) = (Vec::new(), None);
        loop {
            let size = String::from_utf8_lossy(&self.until(b"\r\n").await?).into_owned();
            let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16)
                .map_err(|_| Error::other(format!("`{size}` is no length of a chunk")))?;
            text.extend_from_slice(self.take(size).await?);
            self.until(b"\r\n").await?;
            if at.is_none() && is_answered(&text) {
                at = Some(Instant::now());
            }
            if size == 0 {
                return Ok(Answer { text, at: at.unwrap_or_else(Instant::now), session });
            }
        }
    }
}

/// A server on standard streams.
pub(crate) struct Pipes {
    to: tokio::sync::Mutex<pipe::Sender>,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
}

impl Pipes {
    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<Answer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, id: u64, message: &str) -> io::Result<Answer> {
        let (sender, receiver) = oneshot::channel();
        self.waiting().insert(id, sender);
        self.write(message).await?;
        receiver.await.map_err(|_| io::ErrorKind::UnexpectedEof.into())
    }

    async fn write(&self, message: &str) -> io::Result<()> {
        self.to.lock().await.write_all(format!("{message}\n").as_bytes()).await
    }

    /// Hands every answer to whoever waits for it.
    async fn read(self: Arc<Self>, from: pipe::Receiver) {
        let mut from = BufReader::with_capacity(64 * 1024, from);
        let mut text = Vec::new();
        while let Ok(1..) = from.read_until(b'\n', &mut text).await {
            let id = serde_json::from_slice::<Json>(&text)
                .ok()
                .and_then(|message| message["id"].as_u64());
            if let Some(caller) = id.and_then(|id| self.waiting().remove(&id)) {
                let text = std::mem::take(&mut text);
                let _ = caller.send(Answer { text, at: Instant::now(), session: None });
            }
            text.clear();
        }
        self.waiting().clear();
    }
}
