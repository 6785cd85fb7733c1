//! A minimal HTTP/1.1 server connection: requests with a length or in chunks, replies with a
//! length, event streams in chunks.
//!
//! Written by hand, because the modes need what libraries prevent: a body that is shorter than its
//! length, a pause after every byte, an event stream that breaks off. It understands what HTTP
//! clients of MCP send and nothing more; a malformed request ends the connection without a reply.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Headers and body as they were sent; the body is read before anything is decided.
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    /// The first of several with this name. `name` is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Whether the client will close the connection after the reply.
    pub(crate) fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// The one thread that serves a connection also writes to it. Writing needs only `&self`, so that a
/// tool can send events while the request is being answered.
pub(crate) struct HttpConnection {
    /// Writes go to the stream behind the buffer.
    reader: BufReader<TcpStream>,
}

impl HttpConnection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        // Events must go out at once, not when there is enough data for a full packet.
        let _ = stream.set_nodelay(true);
        Self { reader: BufReader::new(stream) }
    }

    /// The next request; `None` if the client has closed the connection.
    pub(crate) fn read_request(&mut self) -> io::Result<Option<HttpRequest>> {
        let first = self.read_line()?;
        if first.is_empty() {
            return Ok(None);
        }
        let mut words = first.split(' ').map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(io::Error::new(ErrorKind::InvalidData, "no request line"));
        };
        let mut request =
            HttpRequest { method, path, headers: self.read_headers()?, body: Vec::new() };
        if request.header("expect").is_some() {
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        request.body = self.read_body(&request)?;
        Ok(Some(request))
    }

    /// Without its line end; empty at the end of the stream.
    fn read_line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// Up to the empty line, which has no colon.
    fn read_headers(&mut self) -> io::Result<Vec<(String, String)>> {
        let mut headers = Vec::new();
        loop {
            let line = self.read_line()?;
            let Some((name, value)) = line.split_once(':') else { return Ok(headers) };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// A length or chunks; a request with neither has no body.
    fn read_body(&mut self, request: &HttpRequest) -> io::Result<Vec<u8>> {
        let is_chunked = request
            .header("transfer-encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
        if is_chunked {
            return self.read_chunks();
        }
        let length =
            request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body)?;
        Ok(body)
    }

    /// The chunked coding of RFC 9112, section 7.1. Extensions of chunks and trailers are skipped.
    fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.read_line()?;
            let length = line.split(';').next().unwrap_or_default();
            let length = usize::from_str_radix(length.trim(), 16)
                .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            let start = body.len();
            body.resize(start + length, 0);
            self.reader.read_exact(&mut body[start..])?;
            // The line break after a chunk, or the trailers after the last one.
            while !self.read_line()?.is_empty() {}
            if length == 0 {
                return Ok(body);
            }
        }
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_ref().write_all(bytes)
    }

    /// Writes head and body. The length is that of the whole body, also if only half of it is sent.
    pub(crate) fn reply(&self, reply: &HttpReply, delivery: BodyDelivery) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status));
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", reply.body.len()));
        self.write(head.as_bytes())?;
        match delivery {
            BodyDelivery::Whole => self.write(&reply.body),
            BodyDelivery::ByteByByte => reply.body.chunks(1).try_for_each(|byte| {
                std::thread::sleep(Duration::from_millis(100));
                self.write(byte)
            }),
            BodyDelivery::Half => {
                self.write(&reply.body[..reply.body.len() / 2])?;
                // A shutdown and not only a drop: other threads may hold the stream open.
                self.reader.get_ref().shutdown(Shutdown::Both)
            }
        }
    }

    /// Chunked, so that `end_events` can end the stream and keep the connection.
    pub(crate) fn start_events(&self, headers: &[(&str, String)]) -> io::Result<()> {
        let mut head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
                        Transfer-Encoding: chunked\r\n"
                .to_owned();
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        self.write(head.as_bytes())
    }

    pub(crate) fn send_event(&self, data: &str) -> io::Result<()> {
        self.send_raw_event(&format!("event: message\ndata: {data}\n\n"))
    }

    /// Fields as they are given, for events without data. Each event is a chunk of its own.
    pub(crate) fn send_raw_event(&self, event: &str) -> io::Result<()> {
        self.write(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
    }

    pub(crate) fn end_events(&self) -> io::Result<()> {
        self.write(b"0\r\n\r\n")
    }

    /// Whether the client has closed the connection, within a millisecond. Looks at the next byte
    /// and leaves it there. A reset also counts; bytes of a next request mean that the client is
    /// still there.
    pub(crate) fn is_closed(&self) -> bool {
        let stream = self.reader.get_ref();
        let _ = stream.set_read_timeout(Some(Duration::from_millis(1)));
        let seen = stream.peek(&mut [0]);
        let _ = stream.set_read_timeout(None);
        match seen {
            Ok(bytes) => bytes == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }
}

/// A reply without its length, which `HttpConnection::reply` adds.
pub(crate) struct HttpReply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

/// How the body of a reply is sent.
#[derive(Clone, Copy)]
pub(crate) enum BodyDelivery {
    Whole,
    /// One byte every 100 ms.
    ByteByByte,
    /// Half of it; then the connection is closed.
    Half,
}

impl HttpReply {
    pub(crate) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: vec![("Content-Type", content_type.to_owned())], body: body.into() }
    }

    pub(crate) fn json(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::new(status, "application/json", body)
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// The reason phrase; clients ignore it.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        405 => "Method Not Allowed",
        500 => "Internal Server Error",
        _ => "Unnamed",
    }
}
