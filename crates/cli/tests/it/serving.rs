//! `toolwright serve` on standard streams: what clients see. Sources that fail, hang or change are
//! in `serving_sources`, the end of calls and of the server in `serving_end`.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::calling::{EXACT, folder_with_recorders, received};
use crate::client::{
    HttpClient, LONG, MODERN, REVISIONS, StdioClient, add_tools, configured, faulty_server,
    handshake, modern, names, request,
};
use crate::program::folder;

/// For configurations with a server that hangs: the first list waits for it only this long.
pub(crate) const SHORT_STARTUP: &str = "[serve]\nlist_wait = 500\n";

/// For all others: the first list waits until all sources have loaded, however busy the machine is.
pub(crate) const LONG_STARTUP: &str = "[serve]\nlist_wait = 60000\n";

/// A configuration with process tools of these modes, the server `up`, and `more`. If `more` has no
/// `[serve]`, the startup time is long.
pub(crate) fn config_with_tools(modes: &[&str], more: &str) -> (tempfile::TempDir, PathBuf) {
    let limits = if more.contains("[serve]") { "" } else { LONG_STARTUP };
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n\n{}\n{more}{limits}",
        server("up", "good")
    ));
    add_tools(&path, modes);
    (folder, path)
}

/// The source of an MCP server of `toolwright-testing`, for a configuration.
pub(crate) fn server(name: &str, mode: &str) -> String {
    format!(
        "[[source]]\nname = \"{name}\"\ncommand = [\"{}\", \"mcp\", \"{mode}\"]\n",
        faulty_server()
    )
}

pub(crate) fn text_of(result: &Json) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn every_revision_is_answered_in_its_own_version() {
    let (folder, _) = config_with_tools(&["add"], "");
    for revision in REVISIONS {
        let mut client = StdioClient::bare(folder.path(), &[], &[]);
        let answer = client.shake_hands(revision);
        assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "toolwright");
        assert_eq!(answer["result"]["capabilities"]["tools"]["listChanged"], true);
        assert!(client.names().contains(&"up__echo".to_owned()));
        assert_eq!(
            client.call("add", json!({"a": 1, "b": 2}))["structuredContent"],
            json!({"sum": 3})
        );
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    }
    // A client with an unknown revision is offered the newest one with a handshake.
    let mut client = StdioClient::bare(folder.path(), &[], &[]);
    let answer = client.shake_hands("1999-01-01");
    assert_eq!(answer["result"]["protocolVersion"], REVISIONS[3], "{answer}");
}

#[test]
fn the_newest_revision_needs_no_handshake() {
    let (folder, _) = config_with_tools(&["add"], "");
    let mut client = StdioClient::bare(folder.path(), &[], &[]);
    let found = client.ask("server/discover", modern(json!({})));
    let versions: Vec<&str> = found["result"]["supportedVersions"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Json::as_str)
        .collect();
    for revision in REVISIONS.iter().chain([&MODERN]) {
        assert!(versions.contains(revision), "{versions:?}");
    }
    assert_eq!(
        found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolwright",
        "{found}"
    );
    let list = client.ask("tools/list", modern(json!({})));
    assert_eq!(list["result"]["resultType"], "complete", "{list}");
    assert!(names(&list["result"]).contains(&"add".to_owned()));
    let sum =
        client.ask("tools/call", modern(json!({"name": "add", "arguments": {"a": 1, "b": 2}})));
    assert_eq!(sum["result"]["structuredContent"], json!({"sum": 3}), "{sum}");
    assert_eq!(sum["result"]["resultType"], "complete", "{sum}");
    let without = client.ask("tools/call", json!({"name": "add", "arguments": {"a": 1, "b": 2}}));
    assert_eq!(without["error"]["code"], -32602, "{without}");
    let mut other = modern(json!({}));
    other["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let unsupported = client.ask("tools/list", other);
    assert_eq!(unsupported["error"]["code"], -32022, "{unsupported}");
}

#[test]
fn tools_are_listed_completely_and_in_a_stable_order() {
    let (folder, _) = config_with_tools(&["echo", "add"], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let list = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    for _ in 0..3 {
        assert_eq!(client.ask("tools/list", json!({}))["result"]["tools"], list);
    }
    let mut again = StdioClient::start(folder.path(), &[], &[]);
    assert_eq!(
        again.ask("tools/list", json!({}))["result"]["tools"],
        list,
        "the same after a restart"
    );
    let tools = list.as_array().expect("a list");
    assert_eq!(tools.len(), 16, "{list:#}");
    let ids: Vec<&str> =
        tools.iter().filter_map(|tool| tool["_meta"]["toolwright/id"].as_str()).collect();
    assert_eq!(ids.len(), 16, "every tool has its id in `_meta`");
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!((1..=64).contains(&name.len()) && name.chars().all(plain), "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(tool["description"].as_str().is_some_and(|text| !text.is_empty()), "{tool}");
    }
    let find =
        |id: &str| tools.iter().find(|tool| tool["_meta"]["toolwright/id"] == id).expect("listed");
    let echo = find("up:echo");
    assert_eq!((&echo["name"], &echo["title"]), (&json!("up__echo"), &json!("The echo tool")));
    let annotations = json!({
        "title": "A tool for tests", "readOnlyHint": true, "destructiveHint": false,
        "idempotentHint": true, "openWorldHint": false,
    });
    assert_eq!(echo["annotations"], annotations);
    let icons = json!([
        {"src": "https://example.com/echo.png", "mimeType": "image/png", "sizes": ["48x48"],
         "theme": "light"},
        {"src": "data:image/svg+xml;base64,PHN2Zy8+", "mimeType": "image/svg+xml",
         "sizes": ["any"]},
    ]);
    assert_eq!(echo["icons"], icons);
    let meta = json!({"example.com/origin": "faulty-server", "example.com/weight": 3, "toolwright/id": "up:echo"});
    assert_eq!(echo["_meta"], meta);
    let schema =
        json!({"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]});
    assert_eq!(find("up:add")["outputSchema"], schema);
    assert_eq!(find("up:add")["inputSchema"]["required"], json!(["a", "b"]));
    let dotted = find("up:dotted.name")["name"].as_str().expect("a name");
    assert!(dotted.starts_with("up__dotted_name"), "{dotted}");
    // Calls work with exposed names, also with the long one, and with ids.
    let long = tools
        .iter()
        .find(|tool| tool["name"].as_str().is_some_and(|name| name.len() == 64))
        .expect("the long one");
    for name in [long["name"].as_str().expect("a name"), dotted, "up:dotted.name", "up:echo"] {
        assert_eq!(
            client.call(name, json!({"x": 1}))["structuredContent"],
            json!({"echo": {"x": 1}}),
            "{name}"
        );
    }
    let unknown = client.ask("nonsense/method", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let cursor = client.ask("tools/list", json!({"cursor": "nonsense"}));
    assert_eq!(cursor["error"]["code"], -32602, "{cursor}");
}

#[test]
fn results_arrive_unchanged() {
    let (folder, _) = config_with_tools(&["add"], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let sum = client.call("add", json!({"a": 1, "b": 2}));
    assert_eq!((&sum["structuredContent"], &sum["isError"]), (&json!({"sum": 3}), &json!(false)));
    assert_eq!(
        serde_json::from_str::<Json>(text_of(&sum)).expect("the same as text"),
        json!({"sum": 3})
    );
    let blocks = client.call("up__image", json!({"unknown": true}));
    let kinds: Vec<&str> = blocks["content"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|block| block["type"].as_str())
        .collect();
    assert_eq!(kinds[..5], ["text", "image", "audio", "resource_link", "resource"]);
    assert_eq!(blocks["content"][1]["mimeType"], "image/png");
    assert_eq!(blocks["content"][3]["size"], 12);
    assert_eq!(blocks["content"][4]["resource"]["text"], "a note");
    assert_eq!(blocks["content"][0]["annotations"]["priority"], 0.5);
    assert_eq!(blocks["content"][0]["_meta"]["example.com/block"], true);
    assert_eq!(blocks["content"][5]["type"], "hologram", "unknown blocks survive: {blocks}");
    assert_eq!(blocks["_meta"]["example.com/result"], 1);
    let failed = client.call("up__fail", json!({}));
    assert_eq!((text_of(&failed), &failed["isError"]), ("it broke", &json!(true)));
}

#[test]
fn failures_have_a_code_and_a_suggestion() {
    // The timeout is for `sleep`. It must be long enough for the others on a busy machine.
    let limits = "[serve]\nlist_wait = 60000\n[limits]\ntimeout = 3000\n";
    let (folder, _) = config_with_tools(&["error-exit", "garbage", "sleep"], limits);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    for name in ["nope", "up__nope", "up:ehco", ""] {
        let answer = client.ask("tools/call", json!({"name": name, "arguments": {}}));
        assert_eq!(answer["error"]["code"], -32602, "{name}: {answer}");
        assert_eq!(answer["error"]["data"]["code"], "TOOL_NOT_FOUND", "{name}: {answer}");
        assert_eq!(answer["error"]["data"]["number"], -32000, "{name}: {answer}");
    }
    for (name, arguments, code, number) in [
        ("up__add", json!({"a": "x"}), "INPUT_INVALID", -32004),
        ("error_exit", json!({}), "TOOL_FAILED", -32014),
        ("garbage", json!({}), "OUTPUT_INVALID", -32010),
        ("up__lie", json!({}), "OUTPUT_INVALID", -32010),
        ("sleep", json!({"ms": 20000}), "TIMEOUT", -32002),
        ("up__exit", json!({}), "UPSTREAM_UNAVAILABLE", -32016),
    ] {
        let result = client.call(name, arguments);
        assert_eq!(result["isError"], true, "{name}: {result}");
        assert!(text_of(&result).starts_with(&format!("{code}: ")), "{name}: {result}");
        assert!(text_of(&result).contains("\nhelp: "), "{name}: {result}");
        let error = &result["_meta"]["toolwright/error"];
        assert_eq!(
            (&error["code"], &error["number"]),
            (&json!(code), &json!(number)),
            "{name}: {result}"
        );
    }
}

/// The error is "invalid params", not "method not found".
#[test]
fn invalid_parameters_are_reported_as_such() {
    let (folder, _) = config_with_tools(&["echo"], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    for params in [
        json!({}),
        json!({"nam": "echo"}),
        json!({"name": 7}),
        json!({"name": "echo", "arguments": [1]}),
        json!({"name": "echo", "arguments": "x"}),
    ] {
        let answer = client.ask("tools/call", params.clone());
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
}

#[test]
fn progress_comes_in_order_before_the_result_and_only_on_request() {
    let (folder, _) = config_with_tools(&[], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    for (token, steps) in [(json!("word"), 20), (json!(7), 3)] {
        client.kept.clear();
        let id = client.send(
            "tools/call",
            json!({
                "name": "up__progress", "arguments": {"steps": steps, "ms": 1},
                "_meta": {"progressToken": token},
            }),
        );
        let result = client.answer(&id);
        assert_eq!(result["result"]["structuredContent"]["steps"], steps);
        // The client has kept the messages that came before the answer.
        let notifications: Vec<&Json> = client
            .kept
            .iter()
            .filter(|message| message["method"] == "notifications/progress")
            .collect();
        let done: Vec<f64> = notifications
            .iter()
            .filter_map(|notification| notification["params"]["progress"].as_f64())
            .collect();
        assert_eq!(done, (1..=steps).map(f64::from).collect::<Vec<_>>());
        for notification in notifications {
            assert_eq!(notification["params"]["progressToken"], token);
            assert_eq!(notification["params"]["total"], f64::from(steps));
            assert!(
                notification["params"]["message"]
                    .as_str()
                    .is_some_and(|text| text.starts_with("step "))
            );
        }
    }
    client.kept.clear();
    client.call("up__progress", json!({"steps": 5, "ms": 1}));
    client.ask("ping", json!({}));
    assert!(
        client.kept.iter().all(|message| message["method"] != "notifications/progress"),
        "{:?}",
        client.kept
    );
}

#[test]
fn invalid_lines_are_answered_with_errors_and_the_connection_continues() {
    let (folder, _) = config_with_tools(&[], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    let large = |id: &str, place: &str| {
        let call = format!(
            r#""method":"tools/call","params":{{"name":"up__echo","arguments":{{"x":"{}"}}}}"#,
            "x".repeat(25 << 20)
        );
        match place {
            "first" => format!(r#"{{"jsonrpc":"2.0","id":{id},{call}}}"#),
            _ => format!(r#"{{"jsonrpc":"2.0",{call},"id":{id}}}"#),
        }
    };
    let nothing = Json::Null;
    let (large_first, large_last) = (large("903", "first"), large("\"last\"", "last"));
    let cases: &[(&[u8], i64, Json)] = &[
        (b"this is not json", -32700, nothing.clone()),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 1, ", -32700, nothing.clone()),
        (b"\xff\xfe\xfd", -32700, nothing.clone()),
        (&[b'['; 100_000], -32700, nothing.clone()),
        (b"[]", -32600, nothing.clone()),
        (b"\"text\"", -32600, nothing.clone()),
        (b"null", -32600, nothing.clone()),
        (b"{}", -32600, nothing.clone()),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 901}", -32600, json!(901)),
        (b"{\"id\": 902, \"method\": \"ping\"}", -32600, json!(902)),
        (b"{\"jsonrpc\": \"1.0\", \"id\": \"old\", \"method\": \"ping\"}", -32600, json!("old")),
        (large_first.as_bytes(), -32600, json!(903)),
        (large_last.as_bytes(), -32600, json!("last")),
    ];
    for (line, code, id) in cases {
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        client.line(b"");
        client.line(b"   \t ");
        client.line(line);
        let answer = client.find(&shown, |message| message.get("error").is_some());
        assert_eq!(answer["error"]["code"], *code, "{shown}: {answer}");
        assert_eq!(answer["id"], *id, "{shown}: {answer}");
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}), "{shown}");
    }
    let answers: Vec<&Json> =
        client.kept.iter().filter(|message| message.get("method").is_none()).collect();
    assert!(answers.is_empty(), "blank lines are not answered: {answers:?}");
    // A line may end with CR LF.
    client.line(b"{\"jsonrpc\":\"2.0\",\"id\":950,\"method\":\"ping\"}\r");
    assert_eq!(client.answer(&json!(950))["result"], json!({}));
}

/// Sends a line to a fresh server, then the handshake, which must be answered.
fn before_the_handshake(line: &str, is_answered: bool) {
    let folder = folder(&[]);
    let mut client =
        StdioClient::bare(folder.path(), &["--", &faulty_server(), "mcp", "good"], &[]);
    client.line(line.as_bytes());
    if is_answered {
        client.find(line, |message| {
            message.get("error").is_some() || message.get("result").is_some()
        });
    }
    let id = json!("hello");
    client.line(request(&id, "initialize", &handshake("2025-06-18")).to_string().as_bytes());
    let answer = client.find_within(LONG, &|message: &Json| message["id"] == id);
    let answer =
        answer.unwrap_or_else(|| panic!("after {line:?} the server ended: {}", client.stderr()));
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{line}");
}

#[test]
fn requests_before_the_handshake_are_answered() {
    before_the_handshake("", false);
    for line in [
        "not json",
        r#"{"jsonrpc":"2.0","id":90,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":91,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":92,"method":"initialize","params":{}}"#,
    ] {
        before_the_handshake(line, true);
    }
}

#[test]
fn notifications_before_the_handshake_are_ignored() {
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown/method"}"#,
        r#"{"jsonrpc":"2.0","id":93,"result":{}}"#,
    ] {
        before_the_handshake(line, false);
    }
}

/// A call whose arguments are given as text, after or without a handshake.
fn call_with_text(id: u64, tool: &str, arguments: &str, meta: &Json) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{meta}}}}}"#
    )
}

#[test]
fn arguments_of_clients_are_forwarded_as_they_were_written() {
    let folder = folder_with_recorders();
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let web = HttpClient::start(folder.path(), &[], &[]);
    let session = web.session("2025-06-18");
    let stateless = modern(json!({}))["_meta"].clone();
    let twice = r#"{"n": 1, "n": 2}"#;
    let refused = "the arguments of `TOOL` are not valid JSON: the name `n` appears twice at line 1 column 12";
    let tools = ["save", "up__save"];
    for (id, tool) in (10..).step_by(10).zip(tools) {
        // After a handshake, and without one.
        for (n, meta) in [json!({}), stateless.clone()].iter().enumerate() {
            let (good, bad) = (id + 2 * n as u64, id + 2 * n as u64 + 1);
            client.line(call_with_text(good, tool, EXACT, meta).as_bytes());
            let answer = client.answer(&json!(good));
            assert!(!answer["result"]["isError"].as_bool().unwrap_or(false), "{answer}");
            assert!(received(folder.path()).contains(EXACT), "{}", received(folder.path()));
            client.line(call_with_text(bad, tool, twice, meta).as_bytes());
            let answer = client.answer(&json!(bad));
            let error = &answer["result"]["_meta"]["toolwright/error"];
            assert_eq!(error["code"], "INPUT_INVALID", "{answer}");
            assert_eq!(error["message"], refused.replace("TOOL", tool), "{answer}");
            let modern_headers = [
                ("MCP-Protocol-Version", MODERN),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", tool),
            ];
            let headers = if n == 0 { session.headers().to_vec() } else { modern_headers.to_vec() };
            // A space more, so that the other client's call is not taken for this one.
            let text = EXACT.replace('{', "{ ");
            let body = call_with_text(good, tool, &text, meta);
            let reply = web.exchange("POST", "/mcp", &headers, &body);
            assert_eq!(reply.status, 200, "{reply:?}");
            assert!(received(folder.path()).contains(&text), "{}", received(folder.path()));
            let body = call_with_text(bad, tool, twice, meta);
            let answer = web.exchange("POST", "/mcp", &headers, &body).answer(&json!(bad));
            let error = &answer["result"]["_meta"]["toolwright/error"];
            assert_eq!(error["message"], refused.replace("TOOL", tool), "{answer}");
        }
    }
}
