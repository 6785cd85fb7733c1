//! The HTTP server in this process, with a tool that asks its caller: questions to the person for
//! all revisions, and settings that the configuration does not have. The rest of the server is
//! tested through the binary (`serving`, `serving_http`).

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;
use toolwright_catalog::Catalog;
use toolwright_exec::{
    BoxFuture, Call, CallLimits, ConcurrencyLimit, Executor, ExecutorContext, ExecutorKind,
    Failure, GivenReason, Host, Outcome, RegisteredTool, Runner, ServerRequest, ToolRegistry,
};
use toolwright_model::{Binding, DeclaredLimits, Draft, FieldValue, ToolName};
use toolwright_script::InProcessAnalyzer;
use toolwright_serve::{AgentTokens, Gateway, HttpServer, ServeOptions};
use toolwright_workspace::{SourcePlan, Workspace};

use crate::client::{LONG, MODERN, Reply, handshake, modern, request, until};

/// Runs every tool by asking its caller: `ask` once, `ask_twice` twice, `ask_both` for two things
/// at once. `talk` logs and reports progress.
struct AskingExecutor;

static ASKING: &[ExecutorKind] = &[ExecutorKind {
    id: "asking",
    accepts: |tool| matches!(tool.details.binding, Binding::Script),
    needs: |_| &[],
    build: |_| Arc::new(AskingExecutor),
}];

fn question(key: &str, method: &str) -> ServerRequest {
    let params = json!({"message": key, "requestedSchema": {"type": "object"}});
    let (source, withdrawal) = ("s".into(), GivenReason::default());
    ServerRequest { key: Some(key.into()), source, method: method.into(), params, withdrawal }
}

impl Executor for AskingExecutor {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let rounds: &[&[(&str, &str)]] = match call.tool.name.as_str() {
                "ask" => &[&[("user_name", "elicitation/create")]],
                "ask_twice" => {
                    &[&[("step1", "elicitation/create")], &[("step2", "elicitation/create")]]
                }
                "ask_both" => &[&[("a", "sampling/createMessage"), ("b", "elicitation/create")]],
                _ => {
                    host.log(&json!({"level": "debug", "data": "quiet"}));
                    host.log(&json!({"level": "warning", "data": "loud"}));
                    &[]
                }
            };
            let mut answers = Vec::new();
            for round in rounds {
                let questions = round.iter().map(|(key, method)| question(key, method)).collect();
                for answer in host.ask(questions).await {
                    answers.push(match answer {
                        Ok(answer) => answer,
                        Err(error) => json!({"code": error.code, "data": error.data}),
                    });
                }
            }
            Ok(Outcome::json(json!({"answers": answers})))
        })
    }
}

fn registry() -> ToolRegistry {
    let mut registry = ToolRegistry::default();
    for name in ["ask", "ask_twice", "ask_both", "talk", "x1", "x2", "x3"] {
        let mut draft = Draft {
            name: FieldValue::Valid(ToolName::parse(name).expect("a name")),
            input: FieldValue::Valid(json!({"type": "object"}).into()),
            ..Draft::default()
        };
        draft.details.binding = Binding::Script;
        let tool = draft.finish().expect("a tool");
        let id = tool.id(None);
        let concurrency = Arc::new(ConcurrencyLimit::new(8, 8));
        let limits = DeclaredLimits::default();
        let tool = RegisteredTool::new(id, tool, limits, concurrency).expect("valid schemas");
        registry.add(Arc::new(tool)).expect("distinct ids");
    }
    registry
}

/// A server in a thread of its own, which ends when this is dropped.
struct InProcess {
    port: u16,
    until: CancellationToken,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl InProcess {
    fn start(options: ServeOptions) -> InProcess {
        let until = CancellationToken::new();
        let (ready, port) = std::sync::mpsc::channel();
        let ending = until.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            runtime.block_on(async {
                let context = ExecutorContext::default();
                let runner = Runner::with_executors(context, CallLimits::default(), ASKING);
                let catalog = Catalog::new(
                    Arc::new(runner),
                    Workspace::new(Arc::new(InProcessAnalyzer)),
                    Arc::new(SourcePlan::default),
                    Arc::new(|_| {}),
                );
                catalog.runner().set_tools(registry());
                let http = HttpServer::bind("127.0.0.1:0", None, AgentTokens::None)
                    .await
                    .expect("a free port");
                let url = http.url();
                let port = url.split(&[':', '/'][..]).nth(4).and_then(|port| port.parse().ok());
                ready.send(port.expect("a port")).expect("the test waits");
                http.serve(Gateway::new(catalog, options), ending).await;
            });
        });
        let port = port.recv_timeout(LONG).expect("it listens");
        InProcess { port, until, thread: Some(thread) }
    }

    fn send(&self, method: &str, headers: &[(&str, &str)], body: &Json) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(LONG)).expect("a timeout");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut text = format!("{method} /mcp HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        let own = format!("127.0.0.1:{}", self.port);
        let usual = [
            ("Host", own.as_str()),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        let usual = usual.iter().filter(|(name, _)| headers.iter().all(|(own, _)| own != name));
        for (name, value) in usual.chain(headers) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).expect("it reads");
        stream
    }

    fn post(&self, headers: &[(&str, &str)], body: &Json) -> Reply {
        Reply::read(self.send("POST", headers, body))
    }

    /// A stateless call by a client with these capabilities.
    fn call_modern(&self, name: &str, capabilities: Json, more: Json) -> Json {
        let mut params = modern(json!({"name": name, "arguments": {}}));
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        for (member, value) in more.as_object().expect("an object") {
            params[member] = value.clone();
        }
        let headers =
            [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", name)];
        self.post(&headers, &request(&json!(1), "tools/call", &params)).answer(&json!(1))
    }

    /// The id of a session whose client has these capabilities.
    fn session(&self, capabilities: Json) -> String {
        let mut params = handshake("2025-06-18");
        params["capabilities"] = capabilities;
        let reply = self.post(&[], &request(&json!(0), "initialize", &params));
        let id = reply.headers["mcp-session-id"].clone();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&[("Mcp-Session-Id", &id)], &ready).status, 202);
        id
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.until.cancel();
        let ended = self.thread.take().map(std::thread::JoinHandle::join);
        assert!(std::thread::panicking() || matches!(ended, Some(Ok(()))));
    }
}

/// The messages of an event stream, as they arrive.
struct Events(BufReader<TcpStream>);

impl Events {
    fn open(stream: TcpStream) -> Events {
        let mut reader = BufReader::new(stream);
        let head = Reply::read_head(&mut reader);
        assert_eq!(
            (head.status, head.headers["content-type"].as_str()),
            (200, "text/event-stream")
        );
        Events(reader)
    }

    fn next(&mut self) -> Json {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("more") > 0, "the stream has ended");
            if let Some(data) = line.strip_prefix("data: ").filter(|data| !data.trim().is_empty()) {
                return serde_json::from_str(data).expect("JSON");
            }
        }
    }
}

#[test]
fn clients_with_a_handshake_are_asked_on_the_stream_of_their_call() {
    let server = InProcess::start(ServeOptions::default());
    let id = server.session(json!({"elicitation": {}}));
    let session = [("Mcp-Session-Id", id.as_str())];
    let call = request(&json!(7), "tools/call", &json!({"name": "ask_twice", "arguments": {}}));
    let mut events = Events::open(server.send("POST", &session, &call));
    for step in ["step1", "step2"] {
        let asked = events.next();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_eq!(asked["params"]["message"], step, "{asked}");
        let answer = json!({
            "jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "for": step},
        });
        assert_eq!(server.post(&session, &answer).status, 202);
    }
    let done = events.next();
    assert_eq!(done["id"], 7, "{done}");
    let answers = &done["result"]["structuredContent"]["answers"];
    let expected =
        json!([{"action": "accept", "for": "step1"}, {"action": "accept", "for": "step2"}]);
    assert_eq!(*answers, expected, "{done}");
}

#[test]
fn cancelling_a_call_withdraws_its_question() {
    let server = InProcess::start(ServeOptions::default());
    let id = server.session(json!({"elicitation": {}}));
    let session = [("Mcp-Session-Id", id.as_str())];
    let call = request(&json!(7), "tools/call", &json!({"name": "ask", "arguments": {}}));
    let mut events = Events::open(server.send("POST", &session, &call));
    let asked = events.next();
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(server.post(&session, &cancelled).status, 202);
    let withdrawn = events.next();
    assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"], "{withdrawn}");
}

#[test]
fn requests_without_a_declared_capability_are_refused_without_asking() {
    let server = InProcess::start(ServeOptions::default());
    let id = server.session(json!({}));
    let call = request(&json!(7), "tools/call", &json!({"name": "ask", "arguments": {}}));
    let done = server.post(&[("Mcp-Session-Id", &id)], &call).answer(&json!(7));
    let refused = &done["result"]["structuredContent"]["answers"][0];
    assert_eq!(refused["code"], -32021, "{done}");
    assert_eq!(refused["data"], json!({"requiredCapabilities": {"elicitation": {}}}), "{done}");
    // Of two questions, only the one that the client can answer is put to it.
    let both = server.call_modern("ask_both", json!({"sampling": {}}), json!({}));
    let asked = both["result"]["inputRequests"].as_object().expect("questions");
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["a"], "{both}");
    let none = server.call_modern("ask", json!({}), json!({}));
    assert_eq!(none["result"]["structuredContent"]["answers"][0]["code"], -32021, "{none}");
}

#[test]
fn stateless_calls_are_suspended_until_their_questions_are_answered() {
    let server = InProcess::start(ServeOptions::default());
    let able = || json!({"elicitation": {}});
    let first = server.call_modern("ask_twice", able(), json!({}));
    let result = &first["result"];
    assert_eq!(result["resultType"], "input_required", "{first}");
    assert_eq!(result["inputRequests"]["step1"]["method"], "elicitation/create", "{first}");
    let answer = |name: &str, result: &Json, tampering: &str| {
        let state = result["requestState"].as_str().expect("a handle");
        json!({
            "requestState": format!("{state}{tampering}"),
            "inputResponses": {name: {"action": "accept", "for": name}},
        })
    };
    let tampered = server.call_modern("ask_twice", able(), answer("step1", result, "x"));
    assert_eq!(tampered["error"]["code"], -32602, "{tampered}");
    // Another tool cannot use the handle.
    let foreign = server.call_modern("ask", able(), answer("step1", result, ""));
    assert_eq!(foreign["error"]["code"], -32602, "{foreign}");
    // A wrong key: the question is asked again, with a new handle.
    let wrong = server.call_modern("ask_twice", able(), answer("other", result, ""));
    assert_eq!(wrong["result"]["resultType"], "input_required", "{wrong}");
    assert!(wrong["result"]["inputRequests"]["step1"].is_object(), "{wrong}");
    let used = server.call_modern("ask_twice", able(), answer("step1", result, ""));
    assert_eq!(used["error"]["code"], -32602, "a handle is used once: {used}");
    let second = server.call_modern("ask_twice", able(), answer("step1", &wrong["result"], ""));
    assert!(second["result"]["inputRequests"]["step2"].is_object(), "{second}");
    let done = server.call_modern("ask_twice", able(), answer("step2", &second["result"], ""));
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let expected =
        json!([{"action": "accept", "for": "step1"}, {"action": "accept", "for": "step2"}]);
    assert_eq!(done["result"]["structuredContent"]["answers"], expected, "{done}");
    // Answers may come with the first request, beside others that nobody asked for.
    let early = json!({"inputResponses": {
        "user_name": {"action": "accept"}, "unknown": {"action": "accept"},
    }});
    let done = server.call_modern("ask", able(), early);
    assert_eq!(done["result"]["structuredContent"]["answers"], json!([{"action": "accept"}]));
}

#[test]
fn log_messages_follow_the_level_of_the_session_or_the_request() {
    let server = InProcess::start(ServeOptions::default());
    let id = server.session(json!({}));
    let session = [("Mcp-Session-Id", id.as_str())];
    let logged = |reply: &Reply| -> Vec<Json> {
        let messages = reply.messages().into_iter();
        let logs = messages.filter(|message| message["method"] == "notifications/message");
        logs.map(|message| message["params"]["data"].clone()).collect()
    };
    let call = request(&json!(7), "tools/call", &json!({"name": "talk", "arguments": {}}));
    assert_eq!(logged(&server.post(&session, &call)), [json!("loud")]);
    for (level, expected) in [("debug", vec![json!("quiet"), json!("loud")]), ("error", vec![])] {
        let set = request(&json!(1), "logging/setLevel", &json!({"level": level}));
        assert_eq!(server.post(&session, &set).answer(&json!(1))["result"], json!({}));
        assert_eq!(logged(&server.post(&session, &call)), expected, "{level}");
    }
    let wrong = request(&json!(1), "logging/setLevel", &json!({"level": "loudest"}));
    assert_eq!(server.post(&session, &wrong).answer(&json!(1))["error"]["code"], -32602);
    let headers =
        [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "talk")];
    let mut params = modern(json!({"name": "talk", "arguments": {}}));
    let stateless = server.post(&headers, &request(&json!(1), "tools/call", &params));
    assert_eq!(logged(&stateless), Vec::<Json>::new(), "only on request");
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    let stateless = server.post(&headers, &request(&json!(1), "tools/call", &params));
    assert_eq!(logged(&stateless).len(), 2);
}

#[test]
fn pages_hosts_and_idle_times_can_be_configured() {
    let server = InProcess::start(ServeOptions {
        page_size: 3,
        allowed_hosts: vec!["tools.example".into()],
        allowed_origins: vec!["https://app.example".into()],
        ..ServeOptions::default()
    });
    let id = server.session(json!({}));
    let session = [("Mcp-Session-Id", id.as_str())];
    let (mut seen, mut cursor) = (Vec::new(), Json::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let page = server.post(&session, &request(&json!(1), "tools/list", &params));
        let page = page.answer(&json!(1))["result"].clone();
        let names = crate::client::names(&page);
        assert!(names.len() <= 3, "{page}");
        seen.extend(names);
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, ["ask", "ask_both", "ask_twice", "talk", "x1", "x2", "x3"]);
    let ping = request(&json!(1), "ping", &json!({}));
    for (header, status) in [
        (("Host", "tools.example"), 200),
        (("Host", "evil.example"), 403),
        (("Origin", "https://app.example"), 200),
        (("Origin", "https://evil.example"), 403),
    ] {
        let reply = server.post(&[session[0], header], &ping);
        assert_eq!(reply.status, status, "{header:?}: {reply:?}");
    }
    drop(server);
    let server = InProcess::start(ServeOptions {
        session_idle: Duration::from_secs(2),
        ..ServeOptions::default()
    });
    let id = server.session(json!({}));
    // An open stream keeps the session alive; each question of this loop would as well.
    let stream = server.send("GET", &[("Mcp-Session-Id", &id)], &Json::Null);
    drop(Events::open(stream.try_clone().expect("a socket")));
    drop(stream);
    until("the end of the idle session", LONG, || {
        // Longer than the session may be idle: each question starts that time again.
        std::thread::sleep(Duration::from_secs(3));
        let reply = server.post(&[("Mcp-Session-Id", &id)], &ping);
        (reply.status == 404).then_some(())
    });
}
