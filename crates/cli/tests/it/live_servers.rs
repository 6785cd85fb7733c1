//! Running servers are read tolerantly: whatever a server lists and can be called is listed, served
//! and called, and what is wrong with it is a note or a warning. The same list in a file keeps its
//! errors.

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{LONG, StdioClient, configured, faulty_server, modern, until};
use crate::program::{Run, folder};
use crate::serving::{LONG_STARTUP, server};

/// A configuration with the server `odd`.
fn odd() -> (tempfile::TempDir, std::path::PathBuf) {
    configured(&format!("{}\n{LONG_STARTUP}", server("odd", "odd-list")))
}

fn lines(run: &Run) -> Vec<Json> {
    run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The ids that `list` prints.
fn listed() -> Vec<String> {
    let folder = folder(&[]);
    let servers = json!({"mcpServers": {
        "odd": {"command": faulty_server(), "args": ["mcp", "odd-list"]},
    }});
    std::fs::write(folder.path().join("s.json"), servers.to_string()).expect("a file");
    let list = run(folder.path(), &["list", "s.json"]);
    let id = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    list.stdout.lines().map(id).collect()
}

/// The only id that starts like this.
fn id(start: &str) -> String {
    let ids = listed();
    let found: Vec<&String> = ids.iter().filter(|id| id.starts_with(start)).collect();
    assert_eq!(found.len(), 1, "{start}: {ids:?}");
    found[0].clone()
}

#[test]
fn what_a_server_lists_is_called_by_the_name_that_list_prints() {
    let (folder, _) = odd();
    let call = |id: &str| run(folder.path(), &["call", id]);
    let long = "long".repeat(50);
    for (id, own) in [
        ("odd:echo", "echo"),
        ("odd:nulls", "nulls"),
        ("odd:null_hints", "null_hints"),
        ("odd:more_hints", "more_hints"),
        ("odd:wrong_types", "wrong_types"),
        ("odd:claims", "claims"),
        ("odd:no_schema", "no_schema"),
        ("odd:null_schema", "null_schema"),
        ("odd:untyped", "untyped"),
        (&id("odd:get_weather_now_"), "get weather/now"),
        (&id("odd:tool_"), "搜索"),
        (&id("odd:longlong"), &long),
        // As the server calls them, too.
        ("odd:get weather/now", "get weather/now"),
        ("get weather/now", "get weather/now"),
        ("odd:搜索", "搜索"),
    ] {
        let called = call(id);
        assert_eq!(
            (called.code, called.stdout.as_str()),
            (0, &*format!("called {own}\n")),
            "{id}: {called:?}"
        );
    }
    // Only schemas that cannot be used keep a tool from being called.
    for (id, code) in [("odd:draft_04", "UNSUPPORTED_DIALECT"), ("odd:text_schema", "INVALID_TYPE")]
    {
        let refused = call(id);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stderr.contains(&format!("\nQUARANTINED: `{id}` is")), "{refused:?}");
        assert!(refused.stderr.contains(code), "{refused:?}");
        let help = "help: `toolwright check --config toolwright.toml` shows the error";
        assert!(refused.stderr.contains(help), "{refused:?}");
    }
}

#[test]
fn what_a_server_lists_is_served_under_names_that_clients_accept() {
    let (folder, _) = odd();
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let tools = tools.as_array().expect("a list");
    // 24 items: without the duplicate, three without a name, and two whose schema is unusable.
    assert_eq!(tools.len(), 18, "{tools:?}");
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(name.len() <= 64 && name.chars().all(is_allowed), "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    let name = |start: &str| {
        let mut names = tools.iter().filter_map(|tool| tool["name"].as_str());
        names.find(|name| name.starts_with(start)).expect(start).to_owned()
    };
    for (start, own) in [("odd__get_weather", "get weather/now"), ("odd__tool_", "搜索")] {
        let answer = client.call(&name(start), json!({}));
        assert_eq!(answer["content"][0]["text"], format!("called {own}"), "{answer}");
    }
}

#[test]
fn findings_about_a_server_are_errors_only_where_a_tool_cannot_be_used() {
    let (folder, _) = odd();
    let check = run(folder.path(), &["check", "--output-format", "json", "toolwright.toml"]);
    let found = lines(&check);
    let severity = |path: &str, code: &str| {
        let found = found.iter().filter(|it| it["path"] == path && it["code"] == code);
        found.map(|it| it["severity"].as_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    for (path, code, expected) in [
        ("/tools/1/title", "INVALID_TYPE", "info"),
        ("/tools/1/outputSchema", "INVALID_SCHEMA", "info"),
        ("/tools/1/annotations", "INVALID_TYPE", "info"),
        ("/tools/1/version", "INVALID_TYPE", "info"),
        ("/tools/2/annotations/readOnlyHint", "INVALID_TYPE", "info"),
        ("/tools/3/annotations/mood", "UNKNOWN_FIELD", "info"),
        ("/tools/3/annotations/readOnlyHint", "INVALID_TYPE", "warning"),
        ("/tools/4/description", "INVALID_TYPE", "warning"),
        ("/tools/4/icons", "INVALID_TYPE", "warning"),
        ("/tools/4/version", "INVALID_SEMVER", "warning"),
        ("/tools/6/name", "INVALID_PATTERN", "warning"),
        ("/tools/7/name", "INVALID_PATTERN", "warning"),
        ("/tools/8/name", "INVALID_LENGTH", "warning"),
        ("/tools/9/inputSchema", "MISSING_REQUIRED_FIELD", "warning"),
        ("/tools/10/inputSchema", "INVALID_SCHEMA", "warning"),
        ("/tools/11/inputSchema", "INVALID_SCHEMA", "warning"),
        ("/tools/12/inputSchema/$schema", "UNSUPPORTED_DIALECT", "error"),
        ("/tools/13/inputSchema", "INVALID_TYPE", "error"),
        ("/tools/14/name", "DUPLICATE_ID", "warning"),
        ("/tools/15", "INVALID_TYPE", "warning"),
        ("/tools/16/name", "MISSING_REQUIRED_FIELD", "error"),
        ("/tools/17/name", "MISSING_REQUIRED_FIELD", "error"),
    ] {
        assert_eq!(severity(path, code), [expected], "{path} {code}: {check:?}");
    }
    let errors = found.iter().filter(|it| it["severity"] == "error").count();
    assert_eq!((errors, check.code), (4, 1));
    let renamed = found.iter().find(|it| it["path"] == "/tools/6/name").expect("found");
    let id = id("odd:get_weather_now_").replace("odd:", "");
    let help = format!("it is listed, served and called as `{id}`");
    assert!(renamed["help"].to_string().contains(&help), "{renamed}");
}

#[test]
fn the_record_keeps_what_a_server_says() {
    let (folder, path) = odd();
    let servers = json!({"mcpServers": {
        "odd": {"command": faulty_server(), "args": ["mcp", "odd-list"]},
    }});
    std::fs::write(path.join("s.json"), servers.to_string()).expect("a file");
    let shown = run(folder.path(), &["show", "--json", "s.json"]);
    let record: Json = serde_json::from_str(&shown.stdout).expect("JSON");
    let tools = record["tools"].as_array().expect("a list");
    let claims = tools.iter().find(|tool| tool["name"] == "claims").expect("listed");
    // The id is in the namespace of the server: a claimed one could be that of another source.
    assert_eq!((&claims["id"], &claims["namespace"]), (&json!("odd:claims"), &json!("odd")));
    assert_eq!(claims["extra"]["mcp"]["/namespace"], "github", "{claims}");
    let renamed = tools.iter().find(|tool| tool["binding"]["tool"] == "get weather/now");
    let renamed = renamed.expect("listed");
    assert_eq!(renamed["extra"]["mcp"]["/name"], "get weather/now");
    assert!(renamed["id"].as_str().expect("an id").starts_with("odd:get_weather_now_"));
    let text = run(folder.path(), &["show", "s.json"]);
    assert!(text.stdout.contains("  upstream    get weather/now\n"), "{text:?}");
}

#[test]
fn an_answer_in_text_matches_an_output_schema() {
    let (folder, _) = odd();
    for (id, code, expected) in [
        ("odd:shout", 0, "LOUD\n"),
        ("odd:count", 0, "3\n"),
        ("odd:list", 0, "[\n  \"a\",\n  \"b\"\n]\n"),
        ("odd:object", 0, "{\n  \"sum\": 3\n}\n"),
        ("odd:whisper", 1, "OUTPUT_INVALID: the answer of `odd:whisper` does not match"),
        ("odd:miscount", 1, "OUTPUT_INVALID: `odd:miscount` has an output schema, but"),
    ] {
        let called = run(folder.path(), &["call", id]);
        assert_eq!(called.code, code, "{called:?}");
        let is_right = match code {
            0 => called.stdout == expected,
            _ => called.stderr.contains(&format!("\n{expected}")),
        };
        assert!(is_right, "{id}: {called:?}");
    }
    // Clients before 2026-07-28 get an object where the list promises one.
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let answer = client.call("odd__object", json!({}));
    assert_eq!(answer["structuredContent"], json!({"sum": 3}), "{answer}");
    // Later ones demand structured content of every type.
    let mut modern_client = StdioClient::bare(folder.path(), &[], &[]);
    let call = modern(json!({"name": "odd__shout", "arguments": {}}));
    let answer = modern_client.ask("tools/call", call);
    assert_eq!(answer["result"]["structuredContent"], "LOUD", "{answer}");
    let answer = client.call("odd__shout", json!({}));
    assert_eq!(
        (&answer["content"][0]["text"], &answer["isError"]),
        (&json!("LOUD"), &json!(false))
    );
}

/// A list as a serialiser writes it, with an item that is not a tool.
const DUMPED: &str = r#"[
  {"name": "now", "title": null, "inputSchema": {"type": "object"}, "outputSchema": null},
  5,
  {"name": "then", "inputSchema": {"type": "object"}}
]"#;

#[test]
fn documents_stay_strict_and_name_compat() {
    let folder = folder(&[("tools.json", DUMPED.as_bytes())]);
    let strict = run(folder.path(), &["check", "tools.json", "--output-format", "json"]);
    let errors: Vec<String> = lines(&strict)
        .iter()
        .filter(|it| it["severity"] == "error")
        .map(|it| format!("{} {}", it["path"].as_str().unwrap_or(""), it["help"]))
        .collect();
    assert_eq!(
        errors,
        [
            r#"/0/title ["`--compat` makes this a warning"]"#,
            r#"/0/outputSchema ["a tool whose result is not described has no `outputSchema`","`--compat` makes this a warning"]"#,
            "/1 []",
        ]
    );
    // The item that is not a tool excludes only itself; the others are quarantined for their own
    // mistakes.
    let call = |args: &[&str]| run(folder.path(), &[&["call"], args].concat());
    let refused = call(&["now", "--from", "tools.json"]);
    assert!(refused.stderr.contains("\nQUARANTINED: `now` is quarantined: "), "{refused:?}");
    let help = "help: `toolwright check tools.json` shows the error and its place; \
                with `--compat` the tool is used";
    assert!(refused.stderr.contains(help), "{refused:?}");
    // `then` is used; nothing in the file says how to run it.
    let other = call(&["then", "--from", "tools.json"]);
    assert!(other.stderr.contains("\nNOT_RUNNABLE: "), "{other:?}");
    let compat = call(&["now", "--from", "tools.json", "--compat"]);
    assert!(compat.stderr.contains("\nNOT_RUNNABLE: "), "{compat:?}");
    for (args, expected) in [(&[][..], &["then"][..]), (&["--compat"], &["now", "then"])] {
        let args = [&["--from", "tools.json"], args].concat();
        let mut client = StdioClient::start(folder.path(), &args, &[]);
        until("the tools", LONG, || (client.names() == expected).then_some(()));
    }
    let test = run(folder.path(), &["test", "--compat", "tools.json"]);
    assert!(!test.stderr.contains("INVALID_SCHEMA"), "{test:?}");
}

#[test]
fn empty_lists_are_lists() {
    for text in
        ["[]", r#"{"tools": []}"#, r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}"#]
    {
        let folder = folder(&[("tools.json", text.as_bytes())]);
        let list = run(folder.path(), &["list", "tools.json"]);
        assert_eq!((list.code, list.stdout.as_str(), list.stderr.as_str()), (0, "", ""), "{text}");
        let check = run(folder.path(), &["check", "tools.json"]);
        assert_eq!(check.code, 0, "{check:?}");
    }
}
