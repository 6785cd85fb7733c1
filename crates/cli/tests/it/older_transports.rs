//! MCP servers over the two transports that are older than streamable HTTP or outside of the
//! specification: SSE with an `endpoint` event, and WebSocket. The servers here are threads of the
//! test, good ones and hostile ones; the real ones are in e2e.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::{Message, accept_hdr};

use crate::calling::run;
use crate::client::{LONG, StdioClient, configured, faulty_server, until};
use crate::program::{Run, folder};
use crate::serving::server;

/// How a server misbehaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Good,
    /// Names an endpoint at another origin.
    Foreign,
    /// Never names an endpoint, and sends comments without end.
    Endless,
    /// Sends texts that are not messages before every answer.
    Noisy,
    /// Answers calls with a message larger than any may be.
    Oversized,
    /// Ends the connection in the middle of a call.
    Half,
    /// Sends bytes that are no frame or event in the middle of a call.
    Garbage,
    /// Never answers a call.
    Silent,
    /// Answers a call with notifications without end, and nothing else.
    Flood,
    /// Has no such transport.
    Missing,
    /// Is not well before its fourth connection.
    Recovering,
}

/// The connection from which on a server of [`Mode::Recovering`] is well.
const WELL: usize = 4;

/// The answer of a server with the tools `echo` and `status`; `None` for notifications.
fn answer(message: &Json) -> Option<Json> {
    let id = message.get("id")?.clone();
    let params = &message["params"];
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"},
        }),
        "tools/list" => json!({"tools": [
            {"name": "echo", "inputSchema": {"type": "object"}},
            {"name": "status", "inputSchema": {"type": "object"}},
        ]}),
        "tools/call" if params["name"] == "status" => {
            json!({"content": [{"type": "text", "text": "{\"status\": \"ok\", \"up\": 3}"}]})
        }
        "tools/call" => {
            json!({"content": [{"type": "text", "text": params["arguments"].to_string()}]})
        }
        method => {
            let error = json!({"code": -32601, "message": format!("no {method}")});
            return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn is_call(message: &Json) -> bool {
    message["method"] == "tools/call"
}

/// A message as an event of SSE.
fn event(text: &str) -> String {
    format!("event: message\ndata: {text}\n\n")
}

/// What a server of [`Mode::Flood`] sends again and again.
fn notification() -> String {
    let params = json!({"level": "info", "data": "x".repeat(1000)});
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}).to_string()
}

/// The event that makes a stream of events a flood.
const FLOOD: &[u8] = b"flood";

/// A message that is larger than any may be, with the id of the answer.
fn oversized(answer: &Json) -> String {
    let mut answer = answer.clone();
    answer["result"]["content"][0]["text"] = "x".repeat(25 << 20).into();
    answer.to_string()
}

/// Headers of a request, by their names in lower case.
type Headers = HashMap<String, String>;

/// A request of HTTP: method, path, headers, body.
fn read_request(stream: &TcpStream) -> Option<(String, String, Headers, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((method, path, headers, body))
}

/// A server in threads that end with the test.
struct OldServer {
    port: u16,
    /// The headers of every request.
    seen: Arc<Mutex<Vec<Headers>>>,
}

impl OldServer {
    fn sse(mode: Mode) -> OldServer {
        let streams: Arc<Mutex<Vec<Sender<Vec<u8>>>>> = Arc::default();
        OldServer::start(move |stream, seen| {
            let Some((method, path, headers, body)) = read_request(&stream) else { return };
            seen.lock().expect("no thread panicked").push(headers);
            match (&*method, &*path) {
                ("GET", "/sse") if mode != Mode::Missing => {
                    let (sender, events) = channel();
                    streams.lock().expect("no thread panicked").push(sender);
                    serve_events(stream, mode, &events);
                }
                ("POST", path) if path.starts_with("/message") => {
                    let message: Json = serde_json::from_slice(&body).unwrap_or_default();
                    let mut stream = stream;
                    let _ = stream.write_all(
                        b"HTTP/1.1 202 Accepted\r\ncontent-length: 8\r\nconnection: close\r\n\r\n\
                          Accepted",
                    );
                    let events = streams.lock().expect("no thread panicked").last().cloned();
                    let (Some(events), Some(answer)) = (events, answer(&message)) else { return };
                    let text = match mode {
                        Mode::Silent if is_call(&message) => return,
                        Mode::Flood if is_call(&message) => {
                            let _ = events.send(FLOOD.to_vec());
                            return;
                        }
                        Mode::Oversized if is_call(&message) => event(&oversized(&answer)),
                        Mode::Half if is_call(&message) => String::new(),
                        Mode::Garbage if is_call(&message) => "\0\u{1}data: {]\n\n".repeat(10),
                        Mode::Noisy => event("not json") + &event(&answer.to_string()),
                        _ => event(&answer.to_string()),
                    };
                    let _ = events.send(text.into_bytes());
                    if mode == Mode::Garbage && is_call(&message) {
                        let _ = events.send(event(&answer.to_string()).into_bytes());
                    }
                }
                _ => {
                    let mut stream = stream;
                    let _ = stream.write_all(
                        b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                    );
                }
            }
        })
    }

    fn websocket(mode: Mode) -> OldServer {
        OldServer::start(move |mut stream, seen| {
            if mode == Mode::Missing {
                let _ = read_request(&stream);
                let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
                return;
            }
            let mut raw = stream.try_clone().expect("a socket");
            #[expect(clippy::result_large_err, reason = "the library wants this type")]
            let shake = |request: &Request, mut response: Response| {
                let headers = request.headers().iter();
                let headers = headers.map(|(name, value)| {
                    (name.to_string(), value.to_str().unwrap_or_default().to_owned())
                });
                seen.lock().expect("no thread panicked").push(headers.collect());
                let protocol = if mode == Mode::Foreign { "other" } else { "mcp" };
                response
                    .headers_mut()
                    .insert("sec-websocket-protocol", protocol.parse().expect("a value"));
                Ok(response)
            };
            let Ok(mut socket) = accept_hdr(stream, shake) else { return };
            while let Ok(frame) = socket.read() {
                let Ok(text) = frame.to_text() else { continue };
                let message: Json = serde_json::from_str(text).unwrap_or_default();
                let Some(answer) = answer(&message) else { continue };
                let text = match mode {
                    Mode::Oversized if is_call(&message) => oversized(&answer),
                    Mode::Half if is_call(&message) => return,
                    Mode::Silent if is_call(&message) => continue,
                    Mode::Flood if is_call(&message) => {
                        let text = notification();
                        while socket.send(Message::text(text.clone())).is_ok() {}
                        return;
                    }
                    Mode::Garbage if is_call(&message) => {
                        let _ = raw.write_all(&[0xff; 64]);
                        continue;
                    }
                    Mode::Noisy => {
                        let _ = socket.send(Message::text("not json"));
                        answer.to_string()
                    }
                    Mode::Recovering if seen.lock().expect("no thread panicked").len() < WELL => {
                        answer.to_string().replace("ok", "starting")
                    }
                    _ => answer.to_string(),
                };
                let _ = socket.send(Message::text(text));
            }
        })
    }

    fn start(
        serve: impl Fn(TcpStream, &Mutex<Vec<HashMap<String, String>>>) + Send + Sync + 'static,
    ) -> OldServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen: Arc<Mutex<Vec<HashMap<String, String>>>> = Arc::default();
        let (serve, shared) = (Arc::new(serve), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (serve, seen) = (Arc::clone(&serve), Arc::clone(&shared));
                std::thread::spawn(move || serve(stream, &seen));
            }
        });
        OldServer { port, seen }
    }

    fn sse_url(&self) -> String {
        format!("http://127.0.0.1:{}/sse", self.port)
    }

    fn ws_url(&self) -> String {
        format!("ws://127.0.0.1:{}/message", self.port)
    }
}

/// The stream of a GET.
fn serve_events(mut stream: TcpStream, mode: Mode, events: &std::sync::mpsc::Receiver<Vec<u8>>) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let _ = stream.write_all(head.as_bytes());
    let endpoint = match mode {
        Mode::Foreign => "http://127.0.0.1:9/message",
        Mode::Endless => {
            while stream.write_all(&[b':'; 4096]).is_ok() {}
            return;
        }
        _ => "/message?sessionId=7",
    };
    let _ = stream.write_all(format!("event: endpoint\ndata: {endpoint}\n\n").as_bytes());
    while let Ok(sent) = events.recv() {
        if sent == FLOOD {
            let text = event(&notification());
            while stream.write_all(text.as_bytes()).is_ok() {}
        }
        // An empty one ends the stream.
        if sent.is_empty() || stream.write_all(&sent).is_err() {
            return;
        }
    }
}

/// A configuration with a server of each kind beside a good one.
fn configuration(urls: &[(&str, String)]) -> tempfile::TempDir {
    let sources = urls.iter().map(|(name, url)| {
        format!("[[source]]\nname = \"{name}\"\nurl = \"{url}\"\nstart_timeout = 20000\n")
    });
    let (folder, _) = configured(&(server("good", "good") + &sources.collect::<String>()));
    folder
}

fn call(folder: &tempfile::TempDir, id: &str) -> Run {
    run(folder.path(), &["call", id, "n:=1"])
}

#[test]
fn tools_are_called_over_sse_and_web_sockets() {
    let (sse, socket) = (OldServer::sse(Mode::Good), OldServer::websocket(Mode::Good));
    let folder = configuration(&[("sse", sse.sse_url()), ("ws", socket.ws_url())]);
    for id in ["sse:echo", "ws:echo"] {
        let called = call(&folder, id);
        assert_eq!((called.code, called.stdout.as_str()), (0, "{\"n\":1}\n"), "{id}: {called:?}");
    }
    // The subprotocol is always asked for.
    let headers = socket.seen.lock().expect("no thread panicked").clone();
    assert!(headers.iter().all(|it| it["sec-websocket-protocol"] == "mcp"), "{headers:?}");
    // On the command line as well.
    for url in [sse.sse_url(), socket.ws_url()] {
        let listed = run(folder.path(), &["list", &url]);
        assert!(listed.code == 0 && listed.stdout.starts_with("echo"), "{url}: {listed:?}");
    }
}

#[test]
fn servers_files_name_both_transports() {
    let (sse, socket) = (OldServer::sse(Mode::Good), OldServer::websocket(Mode::Good));
    let servers = json!({"mcpServers": {
        "sse": {"type": "sse", "url": sse.sse_url(), "headers": {"X-Key": "blue"}},
        "ws": {"url": socket.ws_url(), "headers": {"X-Key": "red"}},
    }});
    let folder = folder(&[("s.json", servers.to_string().as_bytes())]);
    for id in ["sse:echo", "ws:echo"] {
        let called = run(folder.path(), &["call", id, "--from", "s.json", "n:=1"]);
        assert_eq!((called.code, called.stdout.as_str()), (0, "{\"n\":1}\n"), "{id}: {called:?}");
    }
    for (server, key) in [(&sse, "blue"), (&socket, "red")] {
        let seen = server.seen.lock().expect("no thread panicked");
        assert!(seen.iter().all(|it| it.get("x-key").is_some_and(|it| it == key)), "{seen:?}");
    }
}

/// What each misbehaviour gives, and that it harms its own source alone: one gateway serves all of
/// them beside a good server.
#[test]
fn hostile_servers_over_both_transports_harm_their_own_source_alone() {
    let lost = "UPSTREAM_UNAVAILABLE: the server went away during the call: ";
    let unready = "UPSTREAM_UNAVAILABLE: ";
    let cases = [
        ("sse-foreign", Mode::Foreign, unready, "`endpoint` is at another origin"),
        ("sse-endless", Mode::Endless, unready, "does not begin with an `endpoint`"),
        ("sse-missing", Mode::Missing, unready, "with HTTP 404"),
        ("sse-oversized", Mode::Oversized, "OUTPUT_TOO_LARGE: ", "larger than any message"),
        ("sse-half", Mode::Half, lost, "the server ended its stream"),
        ("sse-noisy", Mode::Noisy, "", "{\"n\":1}"),
        ("sse-garbage", Mode::Garbage, "", "{\"n\":1}"),
        ("ws-foreign", Mode::Foreign, unready, "it speaks `other` and not `mcp`"),
        ("ws-missing", Mode::Missing, unready, "with HTTP 404"),
        ("ws-oversized", Mode::Oversized, lost, "a message of more than 24 MiB"),
        ("ws-half", Mode::Half, lost, "its connection broke"),
        ("ws-garbage", Mode::Garbage, lost, "not a WebSocket frame"),
        ("ws-noisy", Mode::Noisy, "", "{\"n\":1}"),
    ];
    let start = |(name, mode, ..): &(&'static str, Mode, &str, &str)| {
        let url = match name.starts_with("sse") {
            true => OldServer::sse(*mode).sse_url(),
            false => OldServer::websocket(*mode).ws_url(),
        };
        (*name, url)
    };
    let urls: Vec<(&str, String)> = cases.iter().map(start).collect();
    let folder = configuration(&urls);
    for (name, _, says, also) in cases {
        let called = call(&folder, &format!("{name}:echo"));
        let output = if says.is_empty() { &called.stdout } else { &called.stderr };
        assert!(output.contains(says) && output.contains(also), "{name}: {called:?}");
    }
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in ["sse-half__echo", "ws-garbage__echo", "ws-oversized__echo"] {
        assert!(names.contains(&name), "{names:?}");
        client.call(name, json!({"n": 1}));
    }
    let good = client.call("good__echo", json!({"n": 1}));
    assert_eq!(good["structuredContent"]["echo"]["n"], 1, "{good}");
}

/// A definition of a server over SSE, with a health check.
fn definition(connection: &str, check: &str) -> String {
    format!(
        "tool:\n  id: old\n  type: mcp\n  name: Old\n  version: 1.0.0\n  description: An old \
         server.\n  commands: [echo, status]\n  mcp_specific:\n    {connection}\n    \
         health_check: {check}\n"
    )
}

#[test]
fn health_checks_decide_whether_a_source_is_up() {
    let socket = OldServer::websocket(Mode::Good);
    let connection = format!("server_command: '{}'\n    transport: websocket", socket.ws_url());
    for (check, problem) in [
        ("{method: tool_call, command: status, expected_response: {status: ok}}", ""),
        ("{command: status, expected_response: answers with ok}", ""),
        ("{method: ping, command: status, expected_response: {status: never}}", ""),
        ("{method: tool_call, expected_response: {status: never}}", ""),
        (
            "{command: status, expected_response: {status: fine}}",
            "its health check `status` failed: the answer is `{\"status\":\"ok\",\"up\":3}`, \
             expected `{\"status\":\"fine\"}`",
        ),
        (
            "{command: echo, arguments: {a: 1}, expected_response: {a: 2}}",
            "its health check `echo` failed: the answer is `{\"a\":1}`, expected `{\"a\":2}`",
        ),
        (
            "{command: pulse, expected_response: it beats}",
            "its health check `pulse` failed: the server does not list it",
        ),
    ] {
        let text = definition(&connection, check);
        let folder = folder(&[("old.yaml", text.as_bytes())]);
        let called = run(folder.path(), &["call", "old:echo", "--from", "old.yaml", "n:=1"]);
        let doctor = run(folder.path(), &["doctor", "old.yaml"]);
        if problem.is_empty() {
            assert_eq!((called.code, called.stdout.as_str()), (0, "{\"n\":1}\n"), "{called:?}");
            assert!(doctor.stdout.contains("server old"), "{doctor:?}");
            let passed = doctor.stdout.contains("health check `status` passed");
            let is_made = !check.contains("never");
            assert_eq!(passed, is_made, "{doctor:?}");
            // One that is not made is a finding.
            let checked = run(folder.path(), &["check", "old.yaml", "--output-format", "concise"]);
            assert_eq!(checked.stdout.contains("UNKNOWN_HEALTH_CHECK"), !is_made, "{checked:?}");
            continue;
        }
        assert_eq!(called.code, 1, "{called:?}");
        assert!(called.stderr.contains("UPSTREAM_UNAVAILABLE"), "{called:?}");
        assert!(called.stderr.contains(problem), "{called:?}");
        assert_eq!(doctor.code, 1, "{doctor:?}");
        assert!(doctor.stdout.contains("failed") && doctor.stdout.contains(problem), "{doctor:?}");
    }
}

/// A source that fails its check is tried again after pauses that grow, and is there once it is
/// well.
#[test]
fn a_source_that_fails_its_health_check_is_tried_again() {
    let socket = OldServer::websocket(Mode::Recovering);
    let connection = format!("server_command: '{}'\n    transport: websocket", socket.ws_url());
    let check = "{command: status, expected_response: {status: ok}}";
    let (folder, path) = configured("[[source]]\nname = \"old\"\npath = \"old.yaml\"\n");
    std::fs::write(path.join("old.yaml"), definition(&connection, check)).expect("a file");
    let begin = Instant::now();
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    until("the server is well", LONG, || {
        let answer = client.call("old__echo", json!({"n": 1}));
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        let is_down = text.contains("its health check `status` failed: the answer is `{\"status\"");
        assert!(is_down || text == "{\"n\":1}", "{answer}");
        (!is_down).then_some(())
    });
    // The attempts are at 0, 250, 750 and 1750 ms, or later.
    let (elapsed, attempts) = (begin.elapsed(), socket.seen.lock().expect("no panic").len());
    assert!(elapsed >= Duration::from_millis(1750), "{attempts} attempts in {elapsed:?}");
    assert_eq!(attempts, WELL);
}

/// A health check that hangs, floods or cannot be answered takes down its own source alone.
#[test]
fn a_health_check_that_hangs_harms_its_own_source_alone() {
    let check = |mode: &str| {
        let connection = format!("server_command: '{} mcp {mode}'", faulty_server());
        let check = "{command: sleep, arguments: {ms: 600000}, expected_response: {a: 1}, \
                     timeout_ms: 1500}";
        definition(&connection, check).replace("commands: [echo, status]", "commands: [echo]")
    };
    let sources = "[[source]]\nname = \"slow\"\npath = \"slow.yaml\"\n";
    let (folder, path) = configured(&(server("good", "good") + sources));
    std::fs::write(path.join("slow.yaml"), check("good")).expect("a file");
    let called = call(&folder, "old:echo");
    assert!(called.stderr.contains("its health check `sleep` failed"), "{called:?}");
    assert!(called.stderr.contains("within 1500 ms"), "{called:?}");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let good = client.call("good__echo", json!({"n": 1}));
    assert_eq!(good["structuredContent"]["echo"]["n"], 1, "{good}");
    let slow = client.call("old__echo", json!({"n": 1}));
    let text = slow.to_string();
    assert!(text.contains("health check `sleep` failed"), "{slow}");
}

/// A server that hangs, floods, lies, breaks off or sends rubbish when it is asked for its health
/// is down, over both transports; the others are not.
#[test]
fn health_checks_that_go_wrong_harm_their_own_source_alone() {
    let (fine, late) = ("{status: ok}", "within 1500 ms");
    let cases = [
        ("ws-large", Mode::Oversized, fine, "a message of more than 24 MiB"),
        ("ws-breaks", Mode::Half, fine, "its connection broke"),
        ("ws-rubbish", Mode::Garbage, fine, "not a WebSocket frame"),
        ("ws-lies", Mode::Good, "{status: fine}", "expected `{\"status\":\"fine\"}`"),
        ("ws-hangs", Mode::Silent, fine, late),
        ("ws-floods", Mode::Flood, fine, late),
        ("ws-noisy", Mode::Noisy, fine, ""),
        ("sse-large", Mode::Oversized, fine, "larger than any message"),
        ("sse-breaks", Mode::Half, fine, "the server ended its stream"),
        ("sse-rubbish", Mode::Garbage, fine, ""),
        ("sse-lies", Mode::Good, "{status: fine}", "expected `{\"status\":\"fine\"}`"),
        ("sse-hangs", Mode::Silent, fine, late),
        ("sse-floods", Mode::Flood, fine, late),
        ("sse-noisy", Mode::Noisy, fine, ""),
    ];
    let sources = cases.iter().map(|(name, ..)| {
        format!("[[source]]\nname = \"{name}\"\npath = \"{name}.yaml\"\nstart_timeout = 20000\n")
    });
    let (folder, path) = configured(&(server("good", "good") + &sources.collect::<String>()));
    let mut servers = Vec::new();
    for (name, mode, expected, problem) in &cases {
        let (server, url, transport) = match name.starts_with("ws") {
            true => {
                let server = OldServer::websocket(*mode);
                let url = server.ws_url();
                (server, url, "websocket")
            }
            false => {
                let server = OldServer::sse(*mode);
                let url = server.sse_url();
                (server, url, "sse")
            }
        };
        let connection = format!("server_command: '{url}'\n    transport: {transport}");
        // Only what never ends is given little time.
        let time = if *problem == late { ", timeout_ms: 1500" } else { "" };
        let check = format!("{{command: status, expected_response: {expected}{time}}}");
        let text = definition(&connection, &check).replace("id: old", &format!("id: {name}"));
        std::fs::write(path.join(format!("{name}.yaml")), text).expect("a file");
        servers.push(server);
    }
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    for (name, _, _, problem) in &cases {
        let answer = client.call(&format!("{name}__echo"), json!({"n": 1}));
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        if problem.is_empty() {
            assert_eq!(text, "{\"n\":1}", "{name}: {answer}");
            continue;
        }
        let error = &answer["_meta"]["toolwright/error"];
        assert_eq!(error["code"], "UPSTREAM_UNAVAILABLE", "{name}: {answer}");
        assert!(text.contains("its health check `status` failed"), "{name}: {text}");
        assert!(text.contains(problem), "{name}: {text}");
    }
    let good = client.call("good__echo", json!({"n": 1}));
    assert_eq!(good["structuredContent"]["echo"]["n"], 1, "{good}");
}

/// A call that is never answered ends at its limit, and others are answered meanwhile.
#[test]
fn servers_that_hang_or_flood_hold_up_nobody_else() {
    let servers = [
        ("sse-hangs", OldServer::sse(Mode::Silent).sse_url()),
        ("sse-floods", OldServer::sse(Mode::Flood).sse_url()),
        ("ws-hangs", OldServer::websocket(Mode::Silent).ws_url()),
        ("ws-floods", OldServer::websocket(Mode::Flood).ws_url()),
    ];
    let folder = configuration(&servers);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let names = client.names();
    let calls = servers.each_ref().map(|(name, _)| {
        let tool = format!("{name}__echo");
        assert!(names.contains(&tool), "{names:?}");
        client.send_call(&tool, json!({"n": 1}))
    });
    for n in 0..5 {
        let good = client.call("good__echo", json!({"n": n}));
        assert_eq!(good["structuredContent"]["echo"]["n"], n, "{good}");
    }
    for id in calls {
        client.notify("notifications/cancelled", json!({"requestId": id}));
    }
    let good = client.call("good__echo", json!({"n": 9}));
    assert_eq!(good["structuredContent"]["echo"]["n"], 9, "{good}");
    client.hang_up();
    client.end(LONG);
    for (name, _) in &servers {
        let late = run(folder.path(), &["call", &format!("{name}:echo"), "--timeout", "1500"]);
        assert!(late.code == 1 && late.stderr.contains("TIMEOUT: "), "{name}: {}", late.code);
    }
}
