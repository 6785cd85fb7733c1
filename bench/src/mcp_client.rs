//! The MCP client that measures all servers and proxies.
//!
//! It does as little as possible, so that its own time hardly counts: HTTP/1.1 on connections that
//! are kept open, with responses in JSON or as server-sent events; or one message per line on
//! standard streams. It parses no response beyond what tells it that the result is there. The
//! handshake is that of MCP 2025-06-18.

use std::collections::HashMap;
use std::io::{self, Error};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

const VERSION: &str = "2025-06-18";

/// A server that the handshake was done with. Many callers can use it at the same time.
#[derive(Clone)]
pub(crate) enum McpTarget {
    /// Every caller has a connection of its own; all are in one session.
    Http(Arc<HttpEndpoint>),
    /// All callers share the streams.
    Stdio(Arc<StdioEndpoint>),
}

/// The connection of one caller.
pub(crate) enum CallerConnection {
    Http(Arc<HttpEndpoint>, Option<TcpStream>),
    Stdio(Arc<StdioEndpoint>),
}

/// A response, and when its result had arrived.
pub(crate) struct TimedResponse {
    pub(crate) text: Vec<u8>,
    pub(crate) at: Instant,
    session: Option<String>,
}

impl McpTarget {
    /// A connection for one caller. It is opened with the first request.
    pub(crate) fn connect(&self) -> CallerConnection {
        match self {
            McpTarget::Http(http) => CallerConnection::Http(Arc::clone(http), None),
            McpTarget::Stdio(pipes) => CallerConnection::Stdio(Arc::clone(pipes)),
        }
    }

    /// How many answers came for which no request was open: doubled ones. On HTTP an answer comes
    /// on the connection of its request, so there are none.
    pub(crate) fn unclaimed_answers(&self) -> u64 {
        match self {
            McpTarget::Http(_) => 0,
            McpTarget::Stdio(pipes) => pipes.unclaimed.load(Ordering::Relaxed),
        }
    }
}

impl CallerConnection {
    /// Sends a request and waits for its response.
    pub(crate) async fn request(
        &mut self,
        id: u64,
        method: &str,
        params: &Json,
    ) -> io::Result<TimedResponse> {
        let message =
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        match self {
            CallerConnection::Http(http, stream) => http.post(stream, &message).await,
            CallerConnection::Stdio(pipes) => pipes.request(id, &message).await,
        }
    }

    /// Sends a notification.
    pub(crate) async fn notify(&mut self, method: &str, params: &Json) -> io::Result<()> {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        match self {
            CallerConnection::Http(http, stream) => http.post(stream, &message).await.map(drop),
            CallerConnection::Stdio(pipes) => pipes.write(&message).await,
        }
    }
}

/// Does the handshake with a server on HTTP. Later requests belong to the session that it returns.
pub(crate) async fn open_http(address: SocketAddr, path: &str) -> io::Result<McpTarget> {
    let mut http = HttpEndpoint { address, path: path.to_owned(), session: None };
    let mut stream = None;
    let hello =
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize_params()})
            .to_string();
    let answer = http.post(&mut stream, &hello).await?;
    result_of(&answer)?;
    http.session = answer.session;
    Ok(McpTarget::Http(Arc::new(http)))
}

/// Does the handshake with a server on standard streams.
pub(crate) async fn open_stdio(to: pipe::Sender, from: pipe::Receiver) -> io::Result<McpTarget> {
    let pipes = Arc::new(StdioEndpoint {
        to: tokio::sync::Mutex::new(to),
        waiting: Mutex::default(),
        unclaimed: AtomicU64::new(0),
    });
    tokio::spawn(Arc::clone(&pipes).read(from));
    result_of(
        &CallerConnection::Stdio(Arc::clone(&pipes))
            .request(0, "initialize", &initialize_params())
            .await?,
    )?;
    Ok(McpTarget::Stdio(pipes))
}

/// Completes the handshake and returns the name of the tool that echoes. Proxies may prefix it.
pub(crate) async fn find_echo(way: &McpTarget) -> io::Result<String> {
    let mut echoes = list_tools(way).await?.into_iter().filter(|name| name.ends_with("echo"));
    echoes.next().ok_or_else(|| Error::other("no tool echoes"))
}

/// Completes the handshake and returns the names of all tools.
pub(crate) async fn list_tools(way: &McpTarget) -> io::Result<Vec<String>> {
    let mut connection = way.connect();
    connection.notify("notifications/initialized", &json!({})).await?;
    let list = result_of(&connection.request(1, "tools/list", &json!({})).await?)?;
    let tools = list["tools"].as_array().into_iter().flatten();
    Ok(tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect())
}

/// The parameters of `initialize`.
fn initialize_params() -> Json {
    let client = json!({"name": "toolwright-bench", "version": "1"});
    json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client})
}

/// The result in a response, or an error that quotes it.
fn result_of(answer: &TimedResponse) -> io::Result<Json> {
    let text = String::from_utf8_lossy(&answer.text);
    // The data lines of events, or the one line that is the whole response.
    let candidates = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    let messages = candidates.filter_map(|line| serde_json::from_str::<Json>(line).ok());
    let mut results = messages.filter_map(|mut message| message.get_mut("result").map(Json::take));
    results.next().ok_or_else(|| Error::other(format!("no result: {text}")))
}

/// Whether a response, or the beginning of one, contains the result.
fn is_answered(text: &[u8]) -> bool {
    contains(text, b"\"result\"") || contains(text, b"\"error\"")
}

/// Whether `part` occurs in `text`.
pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// A server on HTTP.
pub(crate) struct HttpEndpoint {
    address: SocketAddr,
    path: String,
    session: Option<String>,
}

impl HttpEndpoint {
    /// Sends a message and reads the response, on the connection in `kept` or on a new one.
    async fn post(&self, kept: &mut Option<TcpStream>, message: &str) -> io::Result<TimedResponse> {
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
             Accept: application/json, text/event-stream\r\n{session}Content-Length: \
             {}\r\n\r\n{message}",
            self.path,
            self.address,
            message.len()
        );
        stream.write_all(request.as_bytes()).await?;
        let mut reading =
            ResponseReader { stream: &mut stream, bytes: Vec::with_capacity(4096), used: 0 };
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

/// The fields of a response's head that matter here.
struct ResponseHead {
    status: u16,
    length: Option<usize>,
    chunked: bool,
    closes: bool,
    session: Option<String>,
}

/// A response that is being read.
struct ResponseReader<'s> {
    stream: &'s mut TcpStream,
    bytes: Vec<u8>,
    used: usize,
}

impl ResponseReader<'_> {
    /// Reads what has arrived; waits if nothing has.
    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.bytes).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// The bytes before the next `end`, and skips both.
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

    /// The next `count` bytes.
    async fn take(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.bytes.len() - self.used < count {
            self.more().await?;
        }
        self.used += count;
        Ok(&self.bytes[self.used - count..self.used])
    }

    /// Status line and header fields.
    async fn head(&mut self) -> io::Result<ResponseHead> {
        let head = String::from_utf8_lossy(&self.until(b"\r\n\r\n").await?).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let status = status.ok_or_else(|| Error::other("no status"))?;
        let mut head =
            ResponseHead { status, length: None, chunked: false, closes: false, session: None };
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

    /// The body. Its time is when the result has arrived, not when the stream has ended: some
    /// servers keep it open.
    async fn body(&mut self, head: &ResponseHead) -> io::Result<TimedResponse> {
        let session = head.session.clone();
        if !head.chunked {
            let text = self.take(head.length.unwrap_or(0)).await?.to_vec();
            return Ok(TimedResponse { text, at: Instant::now(), session });
        }
        let (mut text, mut at) = (Vec::new(), None);
        loop {
            let size = String::from_utf8_lossy(&self.until(b"\r\n").await?).into_owned();
            let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16)
                .map_err(|_| Error::other(format!("`{size}` is not the length of a chunk")))?;
            text.extend_from_slice(self.take(size).await?);
            self.until(b"\r\n").await?;
            if at.is_none() && is_answered(&text) {
                at = Some(Instant::now());
            }
            if size == 0 {
                return Ok(TimedResponse { text, at: at.unwrap_or_else(Instant::now), session });
            }
        }
    }
}

/// A server on standard streams.
pub(crate) struct StdioEndpoint {
    to: tokio::sync::Mutex<pipe::Sender>,
    /// By the id of the request.
    waiting: Mutex<HashMap<u64, oneshot::Sender<TimedResponse>>>,
    /// Answers that no request waits for.
    unclaimed: AtomicU64,
}

impl StdioEndpoint {
    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<TimedResponse>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn request(&self, id: u64, message: &str) -> io::Result<TimedResponse> {
        let (sender, receiver) = oneshot::channel();
        self.waiting().insert(id, sender);
        self.write(message).await?;
        receiver.await.map_err(|_| io::ErrorKind::UnexpectedEof.into())
    }

    async fn write(&self, message: &str) -> io::Result<()> {
        self.to.lock().await.write_all(format!("{message}\n").as_bytes()).await
    }

    /// Reads all responses and sends each to the caller that waits for its id.
    async fn read(self: Arc<Self>, from: pipe::Receiver) {
        let mut from = BufReader::with_capacity(64 * 1024, from);
        let mut text = Vec::new();
        while let Ok(1..) = from.read_until(b'\n', &mut text).await {
            let id = serde_json::from_slice::<Json>(&text)
                .ok()
                .and_then(|message| message["id"].as_u64());
            match id.map(|id| self.waiting().remove(&id)) {
                Some(Some(caller)) => {
                    let text = std::mem::take(&mut text);
                    let _ = caller.send(TimedResponse { text, at: Instant::now(), session: None });
                }
                Some(None) => {
                    self.unclaimed.fetch_add(1, Ordering::Relaxed);
                }
                None => {}
            }
            text.clear();
        }
        self.waiting().clear();
    }
}
