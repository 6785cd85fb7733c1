//! `toolwright serve` on standard streams: what clients see, also while sources fail, hang or
//! change. No test measures time; where one must show that something does not wait, it compares the
//! order of events with that of a server that hangs, which is given up after 20 s.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::calling::{EXACT, folder_with_recorders, received};
use crate::client::{
    EXIT, HttpClient, LONG, MODERN, REVISIONS, RunningProgram, StdioClient, add_tools, configured,
    descendants, faulty_server, gone, handshake, modern, names, pid_in, process_tool, request,
    runs, signal, until,
};
use crate::program::folder;

/// For configurations with a server that hangs: the first list waits for it only this long.
pub(crate) const SHORT_STARTUP: &str = "[serve]\nlist_wait = 500\n";

/// For all others: the first list waits until all sources have loaded, however busy the machine is.
pub(crate) const LONG_STARTUP: &str = "[serve]\nlist_wait = 60000\n";

/// A line of the log without the time that it starts with.
fn without_time(line: &str) -> &str {
    line.split_once("Z ").expect("a time").1
}

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

fn text_of(result: &Json) -> &str {
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
        let notices: Vec<&Json> = client
            .kept
            .iter()
            .filter(|message| message["method"] == "notifications/progress")
            .collect();
        let done: Vec<f64> =
            notices.iter().filter_map(|notice| notice["params"]["progress"].as_f64()).collect();
        assert_eq!(done, (1..=steps).map(f64::from).collect::<Vec<_>>());
        for notice in notices {
            assert_eq!(notice["params"]["progressToken"], token);
            assert_eq!(notice["params"]["total"], f64::from(steps));
            assert!(
                notice["params"]["message"].as_str().is_some_and(|text| text.starts_with("step "))
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

/// Starts a call that starts a process, cancels the call, and waits for the process to end.
fn cancel_one(client: &mut StdioClient, mode: &str, file: &Path) {
    let id = client.send_call(mode, json!({"file": file.display().to_string()}));
    let pid = pid_in(file);
    assert!(runs(pid));
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "a test"}));
    gone(mode, pid, EXIT);
    // A cancelled request gets no answer.
    client.ask("ping", json!({}));
    assert!(client.kept.iter().all(|message| message["id"] != id), "{:?}", client.kept);
}

/// The process is in a session of its own, so a signal to the group does not reach it. It becomes
/// our child a moment after its parent was killed; ten rounds hit that moment.
#[test]
fn cancelling_a_call_kills_processes_in_other_sessions() {
    let (folder, path) = config_with_tools(&["setsid"], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    for round in 0..10 {
        cancel_one(&mut client, "setsid", &path.join(format!("pid-{round}")));
    }
}

#[test]
fn cancelling_a_call_ends_its_processes_and_its_upstream_call() {
    let log = tempfile::tempdir().expect("a folder");
    let log = log.path().join("cancelled");
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n{}\
         env = {{ CANCEL_LOG = \"{}\" }}\n{LONG_STARTUP}",
        server("up", "good"),
        log.display()
    ));
    std::fs::create_dir_all(log.parent().expect("a folder")).expect("a folder");
    add_tools(&path, &["fork", "daemon"]);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    for mode in ["fork", "daemon"] {
        cancel_one(&mut client, mode, &path.join(mode));
    }
    let id = client.send(
        "tools/call",
        json!({
            "name": "up__progress", "arguments": {"steps": 1000, "ms": 10},
            "_meta": {"progressToken": 1},
        }),
    );
    client.find("progress", |message| message["method"] == "notifications/progress");
    client.notify("notifications/cancelled", json!({"requestId": id}));
    until("the cancellation at the upstream", LONG, || {
        std::fs::read_to_string(&log).ok().filter(|text| text.starts_with("cancelled "))
    });
    // Cancelling an unknown request is allowed and has no effect.
    client.notify("notifications/cancelled", json!({"requestId": 4711}));
    assert_eq!(client.call("up__echo", json!({}))["isError"], false);
}

#[test]
fn the_list_follows_changes_of_its_sources() {
    let tool = |name: &str| {
        format!(
            r#"{{"name": "{name}", "description": "A tool.", "inputSchema": {{"type": "object"}}}}"#
        )
    };
    let (folder, path) = configured(&format!(
        "{}[[source]]\nname = \"files\"\npath = \"files\"\n{LONG_STARTUP}",
        server("up", "changing")
    ));
    std::fs::create_dir(path.join("files")).expect("a folder");
    std::fs::write(path.join("files/a.json"), tool("first")).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let before = client.names();
    assert!(
        before.contains(&"first".to_owned()) && !before.contains(&"up__added".to_owned()),
        "{before:?}"
    );
    let changed = |client: &mut StdioClient| {
        client.find("`list_changed`", |message| {
            message["method"] == "notifications/tools/list_changed"
        });
    };
    client.kept.clear();
    client.call("up__echo", json!({}));
    changed(&mut client);
    until("the added tool", LONG, || {
        client.names().contains(&"up__added".to_owned()).then_some(())
    });
    assert_eq!(client.call("up__added", json!({"x": 1}))["isError"], false);
    // Add a file, remove a file, add a source.
    client.kept.clear();
    std::fs::write(path.join("files/b.json"), tool("second")).expect("a file");
    changed(&mut client);
    until("the second file", LONG, || client.names().contains(&"second".to_owned()).then_some(()));
    client.kept.clear();
    std::fs::remove_file(path.join("files/a.json")).expect("a file");
    changed(&mut client);
    until("the first file to go", LONG, || {
        (!client.names().contains(&"first".to_owned())).then_some(())
    });
    client.kept.clear();
    let config = std::fs::read_to_string(path.join("toolwright.toml")).expect("ours");
    std::fs::write(path.join("toolwright.toml"), config + &server("more", "good")).expect("a file");
    changed(&mut client);
    until("the new source", LONG, || {
        client.names().contains(&"more__echo".to_owned()).then_some(())
    });
    assert!(
        client.names().contains(&"up__added".to_owned()),
        "unchanged sources are not restarted"
    );
}

#[test]
fn subscribers_of_the_newest_revision_are_notified() {
    let (folder, _) = configured(&(server("up", "changing") + LONG_STARTUP));
    let mut client = StdioClient::bare(folder.path(), &[], &[]);
    assert!(
        names(&client.ask("tools/list", modern(json!({})))["result"])
            .contains(&"up__echo".to_owned())
    );
    let id = client.send(
        "subscriptions/listen",
        modern(json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}})),
    );
    let accepted = client.find("the acknowledgement", |message| {
        message["method"] == "notifications/subscriptions/acknowledged"
    });
    assert_eq!(
        accepted["params"]["notifications"],
        json!({"toolsListChanged": true}),
        "{accepted}"
    );
    client.ask("tools/call", modern(json!({"name": "up__echo", "arguments": {}})));
    let changed = client
        .find("`list_changed`", |message| message["method"] == "notifications/tools/list_changed");
    let subscription = &changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(*subscription, id, "{changed}");
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

#[test]
fn the_end_of_stdin_ends_the_server_and_its_processes() {
    let (folder, _) = config_with_tools(
        &["echo"],
        &(server("stuck", "hang-start") + &server("deaf", "ignore-term") + SHORT_STARTUP),
    );
    for stage in ["at once", "greeted", "idle"] {
        let mut client = StdioClient::bare(folder.path(), &[], &[]);
        if stage != "at once" {
            client.shake_hands("2025-06-18");
        }
        if stage == "idle" {
            assert_eq!(client.call("up__echo", json!({}))["isError"], false);
            until("the server that ignores signals", LONG, || {
                client.stderr().contains("deaf: 14 tools").then_some(())
            });
        }
        let pids = descendants(client.pid());
        client.hang_up();
        let (code, _, stderr) = client.end(EXIT);
        assert_eq!(code, 0, "{stage}: {stderr}");
        for pid in pids {
            gone(stage, pid, EXIT);
        }
    }
}

#[test]
fn the_end_of_stdin_ends_running_calls() {
    let (folder, path) = config_with_tools(&["fork", "setsid"], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    let mut pids: Vec<u32> = Vec::new();
    for mode in ["fork", "setsid"] {
        client.send_call(mode, json!({"file": path.join(mode).display().to_string()}));
        pids.push(pid_in(&path.join(mode)));
    }
    client.send_call("up__sleep", json!({"ms": 30_000}));
    pids.extend(descendants(client.pid()));
    client.hang_up();
    let (code, _, stderr) = client.end(EXIT);
    assert_eq!(code, 0, "{stderr}");
    for pid in pids {
        gone("a call", pid, EXIT);
    }
}

/// `printf … | toolwright serve` is a way to use it.
#[test]
fn requests_before_the_end_of_stdin_are_answered() {
    let (folder, _) = config_with_tools(&["add"], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    let id = client.send_call("add", json!({"a": 1, "b": 2}));
    client.hang_up();
    assert_eq!(client.answer(&id)["result"]["structuredContent"], json!({"sum": 3}));
    assert_eq!(client.end(EXIT).0, 0);
}

#[test]
fn a_signal_ends_the_server_and_its_processes() {
    let (folder, path) =
        config_with_tools(&["fork", "setsid"], &(server("stuck", "hang-start") + SHORT_STARTUP));
    for name in ["TERM", "INT"] {
        let mut client = StdioClient::start(folder.path(), &[], &[]);
        let mut pids = Vec::new();
        for mode in ["fork", "setsid"] {
            let file = path.join(mode);
            let _ = std::fs::remove_file(&file);
            until("the tool in the list", LONG, || {
                client.names().contains(&mode.to_owned()).then_some(())
            });
            client.send_call(mode, json!({"file": file.display().to_string()}));
            pids.push(pid_in(&file));
        }
        pids.extend(descendants(client.pid()));
        signal(client.pid(), name);
        let (code, _, stderr) = client.end(EXIT);
        assert_eq!(code, 0, "{name}: {stderr}");
        for pid in pids {
            gone(name, pid, EXIT);
        }
    }
}

/// Sources that fail in different ways.
fn trouble() -> String {
    let bad = "[[source]]\nname = \"bad-program\"\ncommand = [\"/no/such/program\"]\n\
               [[source]]\nname = \"bad-folder\"\nexecutables = \"no/such/folder\"\n\
               [[source]]\nname = \"bad-file\"\npath = \"no-such-file.json\"\n\
               [[source]]\nname = \"torn\"\npath = \"torn.json\"\n\
               [[source]]\nname = \"unreachable\"\nurl = \"http://127.0.0.1:1/mcp\"\n";
    let modes =
        ["exit-start", "garbage", "garbage-only", "flood-err", "close-stdout-start", "bad-list"];
    bad.to_owned() + &modes.map(|mode| server(mode, mode)).concat()
}

#[test]
fn sources_that_fail_do_not_affect_others() {
    let (folder, path) = config_with_tools(
        &["add", "schema-exit", "schema-garbage", "schema-big"],
        &(trouble() + SHORT_STARTUP),
    );
    std::fs::write(
        path.join("torn.json"),
        r#"[{"name": "whole", "inputSchema": {}}, {"name": "torn", "inputSchema": {"type": 12}}, {"name"#,
    )
    .expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let listed = until("the tools of the good sources", LONG, || {
        let listed = client.names();
        let is_there = |name: &&str| listed.contains(&(*name).to_owned());
        ["add", "up__echo", "bad-list__echo"].iter().all(is_there).then_some(listed)
    });
    assert!(!listed.iter().any(|name| name.contains("external_ref")), "{listed:?}");
    assert_eq!(client.call("add", json!({"a": 1, "b": 2}))["structuredContent"], json!({"sum": 3}));
    assert_eq!(
        client.call("up__add", json!({"a": 1, "b": 2}))["structuredContent"],
        json!({"sum": 3})
    );
    assert_eq!(client.call("bad-list__echo", json!({}))["isError"], false);
    let aside = client.call("bad-list__external_ref", json!({}));
    assert!(text_of(&aside).starts_with("QUARANTINED: "), "{aside}");
    // Each problem is reported on stderr. The client has checked that stdout has messages only.
    until("the problems on stderr", LONG, || {
        let stderr = client.stderr();
        let words = [
            "error[COMMAND_NOT_FOUND]",
            "bad-folder: ",
            "no-such-file.json",
            "unreachable: UPSTREAM_UNAVAILABLE: ",
            "cannot find the database",
            "error[EXTERNAL_REF]",
            "schema-exit-tool: TOOL_FAILED: ",
            "tools: 1 tool",
        ];
        words.iter().all(|words| stderr.contains(words)).then_some(())
    });
    client.hang_up();
    let (code, _, stderr) = client.end(EXIT);
    assert_eq!(code, 0, "{stderr}");
    let is_ours = |line: &str| without_time(line).starts_with("toolwright: ");
    assert!(stderr.lines().all(is_ours), "{stderr}");
}

/// Whether the server `stuck`, which hangs, was given up. That takes 20 s, so until then no answer
/// can have waited for it, and no time below has to be measured.
fn gave_up_stuck(client: &StdioClient) -> bool {
    client.stderr().contains("stuck: ")
}

/// Neither a call nor a list waits for a server that hangs; only the first list does, for the
/// startup time. If each of the 25 lists waited for one second, `stuck` would be given up
/// meanwhile.
#[test]
fn a_server_that_hangs_does_not_delay_others() {
    let more = server("stuck", "hang-start") + "[serve]\nlist_wait = 1000\n";
    let (folder, _) = config_with_tools(&["add"], &more);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    // The first call may come before the tool was loaded.
    for _ in 0..25 {
        let sum = client.call("add", json!({"a": 1, "b": 2}));
        assert_eq!(sum["structuredContent"], json!({"sum": 3}), "{sum}");
    }
    for _ in 0..25 {
        assert!(client.names().contains(&"add".to_owned()));
    }
    assert!(!gave_up_stuck(&client), "an answer waited for `stuck`: {}", client.stderr());
}

/// While sources are loading, a call of `echo` must not fall back to the only tool with that name
/// so far, `up:echo`: the real `echo` may still come. Here it comes when the call is already
/// waiting. `stuck` keeps the startup from ending.
#[test]
fn a_call_during_the_start_waits_for_the_tool_it_names() {
    let more = server("stuck", "hang-start") + LONG_STARTUP;
    let (folder, path) = config_with_tools(&[], &more);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    assert_eq!(client.call("up__echo", json!({}))["isError"], false, "`up` has loaded");
    let id = client.send_call("echo", json!({}));
    // Lines are read in order, so the call was received when the answer to `ping` arrives.
    client.ask("ping", json!({}));
    let schema = json!({
        "name": "echo", "description": "The late echo.", "parameters": {"type": "object"},
    });
    // Moved into place, so that the server never sees half a script.
    process_tool(&path.join("late-tool"), &schema, r#"printf '{"late": true}'"#);
    std::fs::rename(path.join("late-tool"), path.join("tools/late-tool")).expect("a file");
    let result = client.answer(&id)["result"].clone();
    assert_eq!(result["structuredContent"], json!({"late": true}), "{result}");
}

/// A call of a tool that is still loading waits for that tool, not for all sources.
#[test]
fn a_call_during_the_start_does_not_wait_for_other_sources() {
    let late = server("late", "slow-start")
        + "env = { START_MS = \"300\" }\n"
        + &server("stuck", "hang-start")
        + LONG_STARTUP;
    let (folder, _) = config_with_tools(&[], &late);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    assert_eq!(client.call("late__echo", json!({}))["isError"], false);
    assert!(!gave_up_stuck(&client), "the call waited for `stuck`: {}", client.stderr());
}

/// A client that does not read its answers blocks the server's writes, but not its end.
#[test]
fn a_signal_ends_the_server_while_its_client_does_not_read() {
    let (folder, _) = config_with_tools(&[], "");
    let mut running = RunningProgram::start_unread(folder.path(), &["serve"], &[]);
    let mut stdin = running.stdin.take().expect("open");
    let mut stdout = BufReader::new(running.child.stdout.take().expect("piped"));
    writeln!(stdin, "{}", request(&json!(0), "initialize", &handshake("2025-06-18")))
        .expect("it reads");
    stdout.read_line(&mut String::new()).expect("the answer to the handshake");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    writeln!(stdin, "{initialized}").expect("it reads");
    for id in 1..=50 {
        let params = json!({"name": "up__big", "arguments": {"bytes": 100_000}});
        writeln!(stdin, "{}", request(&json!(id), "tools/call", &params)).expect("it reads");
    }
    // An answer has begun. The rest of the 5 MB does not fit into the pipe, so the server blocks in
    // a write, or will, for ever.
    stdout.read_exact(&mut [0]).expect("the beginning of an answer");
    signal(running.pid(), "TERM");
    let status = until("the end", EXIT, || running.child.try_wait().expect("ours"));
    assert_eq!(status.code(), Some(0), "{}", running.stderr());
}

#[test]
fn the_log_of_a_start_is_readable() {
    let (folder, _) = config_with_tools(&["echo"], &server("broken", "exit-start"));
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    until("all sources", LONG, || {
        let stderr = client.stderr();
        (stderr.contains("up: 14 tools")
            && stderr.contains("tools: 1 tool")
            && stderr.contains("database"))
        .then_some(())
    });
    let stderr = client.stderr();
    let mut lines: Vec<String> = Vec::new();
    for line in stderr.lines() {
        let line = without_time(line);
        let source = line.split(": ").nth(1).unwrap_or_default();
        // A source that failed is tried again and reported again.
        if !lines.iter().any(|known| known.contains(&format!(": {source}: "))) {
            lines.push(line.to_owned());
        }
    }
    // Sources load concurrently, so the order differs. So does what is noticed first: that the
    // server's process has ended or that its output has.
    lines.sort();
    for line in &mut lines {
        if let (Some(start), Some(end)) =
            (line.find("reached: "), line.find(": the server's process"))
        {
            line.replace_range(start + 9..end, "[how it was noticed]");
        }
        *line = line.replace(&faulty_server(), "[server]");
    }
    insta::assert_snapshot!("log_of_serve", lines.join("\n"));
}

/// The tests rely on these helpers to see which processes are alive.
#[test]
fn the_helpers_recognise_running_processes() {
    assert!(runs(std::process::id()) && !runs(u32::MAX));
    assert!(Path::new(&faulty_server()).is_file());
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
