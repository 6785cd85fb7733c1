//! MCP clients written by hand, on standard streams and on HTTP/1.1, so that the tests control
//! every byte. How `toolwright serve` and the servers behind it are started is in
//! `running_programs`.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::running_programs::{CollectedOutput, command, terminate};
// Tests of clients nearly always need these as well.
pub(crate) use crate::running_programs::{
    EXIT, Gate, LONG, RunningProgram, UpstreamServer, add_tools, configured, descendants,
    faulty_server, gone, pid_in, process_tool, run_with, runs, script, signal, until,
};

/// The revision without sessions.
pub(crate) const MODERN: &str = "2026-07-28";

/// The revisions with a handshake.
pub(crate) const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The parameters of a handshake.
pub(crate) fn handshake(revision: &str) -> Json {
    json!({
        "protocolVersion": revision, "capabilities": {},
        "clientInfo": {"name": "by-hand", "version": "1.0.0"},
    })
}

/// A request, as a message.
pub(crate) fn request(id: &Json, method: &str, params: &Json) -> Json {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Adds the metadata that every request of the revision without sessions has.
pub(crate) fn modern(mut params: Json) -> Json {
    let own = params.get("_meta").cloned().unwrap_or_else(|| json!({}));
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "by-hand", "version": "1.0.0"},
    });
    for (name, value) in own.as_object().expect("an object") {
        params["_meta"][name] = value.clone();
    }
    params
}

/// A client on the standard streams of `toolwright serve`.
pub(crate) struct StdioClient {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Messages that arrived while the client waited for another one, in order.
    pub(crate) kept: Vec<Json>,
    stderr: CollectedOutput,
    next: u64,
}

impl StdioClient {
    /// Starts the server without a handshake.
    pub(crate) fn bare(folder: &Path, args: &[&str], environment: &[(&str, &str)]) -> StdioClient {
        let args: Vec<&str> = ["serve"].iter().chain(args).copied().collect();
        StdioClient::of(&mut command(folder, &args, environment))
    }

    /// Starts a server from a command whose streams are pipes, without a handshake.
    pub(crate) fn of(command: &mut Command) -> StdioClient {
        let mut child = command.spawn().expect("the binary starts");
        let stdout = child.stdout.take().expect("piped");
        let (stderr, _) = CollectedOutput::of(child.stderr.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        StdioClient { child, stdin, lines, kept: Vec::new(), stderr, next: 1 }
    }

    /// Starts the server and performs a handshake.
    pub(crate) fn start(folder: &Path, args: &[&str], environment: &[(&str, &str)]) -> StdioClient {
        let mut client = StdioClient::bare(folder, args, environment);
        client.shake_hands("2025-06-18");
        client
    }

    /// Performs a handshake and returns the answer to `initialize`.
    pub(crate) fn shake_hands(&mut self, revision: &str) -> Json {
        let answer = self.ask("initialize", handshake(revision));
        self.notify("notifications/initialized", json!({}));
        answer
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Writes a line as it is.
    pub(crate) fn line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(line).and_then(|()| stdin.write_all(b"\n")).expect("the server reads");
    }

    pub(crate) fn notify(&mut self, method: &str, params: Json) {
        self.line(
            json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string().as_bytes(),
        );
    }

    /// Sends a request without waiting, and returns its id.
    pub(crate) fn send(&mut self, method: &str, params: Json) -> Json {
        let id = json!(self.next);
        self.next += 1;
        self.line(request(&id, method, &params).to_string().as_bytes());
        id
    }

    /// Sends a call of a tool without waiting, and returns its id.
    pub(crate) fn send_call(&mut self, name: &str, arguments: Json) -> Json {
        self.send("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// The next message. Panics if a line on stdout is not a message.
    fn receive(&mut self, deadline: Instant) -> Option<Json> {
        match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                let message: Json = serde_json::from_str(&line).unwrap_or_else(|error| {
                    panic!("stdout has a line that is not a message ({error}): {line}")
                });
                assert!(message["jsonrpc"] == "2.0" || message.is_array(), "{line}");
                Some(message)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Waits for the first message that fits; the others are kept.
    pub(crate) fn find(&mut self, what: &str, fits: impl Fn(&Json) -> bool) -> Json {
        self.find_within(LONG, &fits).unwrap_or_else(|| {
            panic!("{what} never came; kept: {:?}; stderr: {}", self.kept, self.stderr())
        })
    }

    /// The same with a limit; `None` when it is over.
    pub(crate) fn find_within(
        &mut self,
        patience: Duration,
        fits: &impl Fn(&Json) -> bool,
    ) -> Option<Json> {
        if let Some(n) = self.kept.iter().position(fits) {
            return Some(self.kept.remove(n));
        }
        let deadline = Instant::now() + patience;
        loop {
            let message = self.receive(deadline)?;
            if fits(&message) {
                return Some(message);
            }
            self.kept.push(message);
        }
    }

    /// Waits for the first line that fits, as it was written; the others are lost.
    pub(crate) fn find_line(&mut self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + LONG;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            match line.unwrap_or_else(|_| panic!("{what} never came")) {
                line if fits(&line) => return line,
                _ => {}
            }
        }
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: &Json) -> Json {
        self.find(&format!("the answer to {id}"), |message| {
            message["id"] == *id && message.get("method").is_none()
        })
    }

    /// Waits for the answers to a batch.
    pub(crate) fn batch(&mut self) -> Json {
        self.find("the answers to a batch", Json::is_array)
    }

    /// Sends a request and waits for the whole answer.
    pub(crate) fn ask(&mut self, method: &str, params: Json) -> Json {
        let id = self.send(method, params);
        self.answer(&id)
    }

    /// Calls a tool and waits for its result.
    pub(crate) fn call(&mut self, name: &str, arguments: Json) -> Json {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        answer.get("result").unwrap_or_else(|| panic!("no result: {answer}")).clone()
    }

    pub(crate) fn names(&mut self) -> Vec<String> {
        names(&self.ask("tools/list", json!({}))["result"])
    }

    /// Closes stdin.
    pub(crate) fn hang_up(&mut self) {
        drop(self.stdin.take());
    }

    /// Waits for the exit. Returns its code, the remaining messages on stdout, and stderr.
    pub(crate) fn end(mut self, patience: Duration) -> (i32, Vec<Json>, String) {
        let status = until("the end of `toolwright serve`", patience, || {
            self.child.try_wait().expect("ours")
        });
        let mut rest = std::mem::take(&mut self.kept);
        while let Some(message) = self.receive(Instant::now() + LONG) {
            rest.push(message);
        }
        (status.code().expect("not killed by a signal"), rest, self.stderr())
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        drop(self.stdin.take());
        terminate(&mut self.child);
    }
}

/// The names in the result of `tools/list`.
pub(crate) fn names(result: &Json) -> Vec<String> {
    let tools = result["tools"].as_array().unwrap_or_else(|| panic!("no list: {result}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// A running `toolwright serve --http`, and a client of it.
pub(crate) struct HttpClient {
    pub(crate) running: RunningProgram,
    pub(crate) port: u16,
    pub(crate) token: Option<String>,
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl HttpClient {
    pub(crate) fn start(folder: &Path, args: &[&str], environment: &[(&str, &str)]) -> HttpClient {
        HttpClient::start_on("127.0.0.1:0", folder, args, environment)
    }

    pub(crate) fn start_on(
        address: &str,
        folder: &Path,
        args: &[&str],
        environment: &[(&str, &str)],
    ) -> HttpClient {
        let args: Vec<&str> = ["serve", "--http", address].iter().chain(args).copied().collect();
        let running = RunningProgram::start(folder, &args, environment);
        let port = until("the address on stderr", LONG, || {
            let stderr = running.stderr();
            let (_, rest) = stderr.split_once("toolwright: listening on http://")?;
            let (address, _) = rest.split_once("/mcp\n")?;
            address.rsplit_once(':')?.1.parse().ok()
        });
        let token = environment.iter().find(|(name, _)| *name == "TOOLWRIGHT_TOKEN");
        HttpClient { running, port, token: token.map(|(_, token)| (*token).to_owned()) }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(LONG)).expect("a timeout");
        let _ = stream.set_nodelay(true);
        stream
    }

    /// The headers that a client sends with a message.
    pub(crate) fn usual(&self) -> Vec<(String, String)> {
        let mut headers = vec![
            ("Host".to_owned(), format!("127.0.0.1:{}", self.port)),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("Content-Type".to_owned(), "application/json".to_owned()),
        ];
        headers.extend(
            self.token.iter().map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))),
        );
        headers
    }

    /// The bytes of a request. Each of `changes` replaces a usual header, or removes it if its
    /// value is empty.
    pub(crate) fn bytes(
        &self,
        method: &str,
        path: &str,
        changes: &[(&str, &str)],
        body: &str,
    ) -> Vec<u8> {
        let mut headers = self.usual();
        for (name, value) in changes {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            if !value.is_empty() {
                headers.push(((*name).to_owned(), (*value).to_owned()));
            }
        }
        let headers: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{method} {path} HTTP/1.1\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
            .into_bytes()
    }

    /// Sends a request on a new connection and reads the response.
    pub(crate) fn exchange(
        &self,
        method: &str,
        path: &str,
        changes: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut stream = self.connect();
        // A server that answers before it has read everything may close the connection.
        let _ = stream.write_all(&self.bytes(method, path, changes, body));
        Reply::read(stream)
    }

    pub(crate) fn post(&self, changes: &[(&str, &str)], message: &Json) -> Reply {
        self.exchange("POST", "/mcp", changes, &message.to_string())
    }

    /// A request of the revision without sessions, as bytes.
    pub(crate) fn modern_bytes(&self, id: u64, method: &str, params: Json) -> Vec<u8> {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let headers =
            [("MCP-Protocol-Version", MODERN), ("Mcp-Method", method), ("Mcp-Name", &name)];
        self.bytes(
            "POST",
            "/mcp",
            &headers,
            &request(&json!(id), method, &modern(params)).to_string(),
        )
    }

    /// Sends such a request and reads the response.
    pub(crate) fn ask_modern(&self, id: u64, method: &str, params: Json) -> Reply {
        let mut stream = self.connect();
        stream.write_all(&self.modern_bytes(id, method, params)).expect("it reads");
        Reply::read(stream)
    }

    /// Calls a tool without a session and returns the whole answer.
    pub(crate) fn call(&self, name: &str, arguments: Json) -> Json {
        let reply = self.ask_modern(7, "tools/call", json!({"name": name, "arguments": arguments}));
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.answer(&json!(7))
    }

    /// Performs a handshake and returns the session.
    pub(crate) fn session(&self, revision: &str) -> Session<'_> {
        self.session_with(handshake(revision))
    }

    /// Performs a handshake with these parameters.
    pub(crate) fn session_with(&self, params: Json) -> Session<'_> {
        let reply = self.post(&[], &request(&json!(0), "initialize", &params));
        assert_eq!(reply.status, 200, "{reply:?}");
        let revision = params["protocolVersion"].as_str().expect("a revision");
        assert_eq!(reply.answer(&json!(0))["result"]["protocolVersion"], revision);
        let id = reply
            .headers
            .get("mcp-session-id")
            .unwrap_or_else(|| panic!("no session: {reply:?}"))
            .clone();
        let session = Session { web: self, id, revision: revision.to_owned() };
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let reply = session.post(&notification);
        assert_eq!(reply.status, 202, "{reply:?}");
        session
    }
}

/// A session of the revisions with a handshake.
pub(crate) struct Session<'w> {
    web: &'w HttpClient,
    pub(crate) id: String,
    revision: String,
}

impl Session<'_> {
    pub(crate) fn headers(&self) -> [(&str, &str); 2] {
        [("Mcp-Session-Id", &self.id), ("MCP-Protocol-Version", &self.revision)]
    }

    pub(crate) fn post(&self, message: &Json) -> Reply {
        self.web.post(&self.headers(), message)
    }

    pub(crate) fn ask(&self, id: u64, method: &str, params: Json) -> Reply {
        self.post(&request(&json!(id), method, &params))
    }
}

impl Reply {
    /// Reads one response, with a content length or in chunks.
    pub(crate) fn read(stream: TcpStream) -> Reply {
        let mut reader = BufReader::new(stream);
        let mut reply = Reply::read_head(&mut reader);
        let chunked =
            reply.headers.get("transfer-encoding").is_some_and(|value| value == "chunked");
        let body = if chunked {
            read_chunks(&mut reader)
        } else {
            let length = reply
                .headers
                .get("content-length")
                .and_then(|value| value.parse().ok())
                .unwrap_or(0);
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("the whole body");
            body
        };
        reply.body = String::from_utf8(body).expect("UTF-8");
        reply
    }

    /// The status and the headers.
    pub(crate) fn read_head(reader: &mut impl BufRead) -> Reply {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a status line");
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status line: {line:?}"));
        let mut headers = HashMap::new();
        loop {
            line.clear();
            reader.read_line(&mut line).expect("a header");
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        Reply { status, headers, body: String::new() }
    }

    /// The messages in the body, which is one JSON value or an event stream.
    pub(crate) fn messages(&self) -> Vec<Json> {
        let kind = self.headers.get("content-type").map(String::as_str).unwrap_or_default();
        let read =
            |text: &str| serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {self:?}"));
        match kind {
            "application/json" => vec![read(&self.body)],
            "text/event-stream" => {
                let data =
                    self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
                data.filter(|data| !data.is_empty()).map(read).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The answer to a request.
    pub(crate) fn answer(&self, id: &Json) -> Json {
        let found = self.messages().into_iter().find(|message| message["id"] == *id);
        found.unwrap_or_else(|| panic!("no answer to {id}: {self:?}"))
    }
}

fn read_chunks(reader: &mut impl BufRead) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("the length of a chunk");
        let length = usize::from_str_radix(line.trim(), 16)
            .unwrap_or_else(|_| panic!("no length: {line:?}"));
        let start = body.len();
        body.resize(start + length, 0);
        reader.read_exact(&mut body[start..]).expect("a chunk");
        reader.read_line(&mut line).expect("the end of a chunk");
        if length == 0 {
            return body;
        }
    }
}
