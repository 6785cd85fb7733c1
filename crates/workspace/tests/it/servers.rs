//! The files in which other MCP clients keep their servers.

use std::sync::Arc;

use toolwright_model::{Connection, Variable};
use toolwright_source::render::{Colour, full};
use toolwright_source::{Diagnostic, Document, Finding, Syntax, locate, render};
use toolwright_workspace::{NamedServer, is_servers_file, read_servers};

use crate::expand::scope;

fn document(text: &str) -> Arc<Document> {
    Arc::new(Document::parse("mcp.json", text, Syntax::Json))
}

fn read(text: &str) -> (Vec<NamedServer>, Vec<Finding>) {
    read_servers(&document(text), &scope())
}

/// The findings, as `SEVERITY CODE path`.
fn findings(text: &str) -> Vec<String> {
    let line = |f: &Finding| format!("{} {} {}", f.severity.name(), f.code.name, f.at);
    read(text).1.iter().map(line).collect()
}

/// A file with one server.
fn with(entry: &str) -> String {
    format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#)
}

/// The one server of a file without mistakes.
fn good(entry: &str) -> NamedServer {
    let text = with(entry);
    assert_eq!(findings(&text), Vec::<String>::new(), "{entry}");
    read(&text).0.remove(0)
}

fn stdio(words: &[&str]) -> Connection {
    Connection::Stdio { command: words.iter().map(|word| word.to_string()).collect() }
}

fn variable(name: &str, value: &str) -> Variable {
    Variable {
        name: name.to_owned(),
        required: false,
        description: None,
        value: Some(value.to_owned()),
    }
}

#[test]
fn servers_files_are_recognised() {
    for (text, expected) in [
        (r#"{"mcpServers": {}}"#, true),
        (r#"{"mcpServers": []}"#, true),
        (r#"{"servers": {}}"#, true),
        (r#"{"servers": {}, "inputs": []}"#, true),
        (r#"{"servers": []}"#, false),
        (r#"{"mcp": {"servers": {}}}"#, true),
        (r#"{"mcp": {"servers": 5}}"#, false),
        (r#"{"mcp": 5}"#, false),
        (r#"{"tools": []}"#, false),
        ("[]", false),
        ("null", false),
        ("", false),
    ] {
        assert_eq!(is_servers_file(&document(text)), expected, "{text}");
        if !expected {
            assert_eq!(read(text), (Vec::new(), Vec::new()), "{text}");
        }
    }
}

#[test]
fn every_client_has_its_own_shape_of_the_same_servers() {
    let servers = r#"{"b": {"command": "x"}, "a": {"url": "https://h"}}"#;
    for (text, at) in [
        (format!(r#"{{"mcpServers": {servers}}}"#), "/mcpServers/b"),
        (format!(r#"{{"inputs": [], "servers": {servers}}}"#), "/servers/b"),
        (format!(r#"{{"editor.x": 1, "mcp": {{"servers": {servers}}}}}"#), "/mcp/servers/b"),
    ] {
        let (list, findings) = read(&text);
        assert_eq!(findings, []);
        let names: Vec<&str> = list.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["b", "a"], "{text}");
        assert_eq!(list[0].at.as_str(), at);
        assert_eq!(list[0].server.connection, stdio(&["x"]));
    }
}

#[test]
fn commands_and_urls_become_connections() {
    let url = || "https://h/mcp".to_owned();
    let cases = [
        (r#"{"command": "npx", "args": ["-y", "x", ""]}"#, stdio(&["npx", "-y", "x", ""])),
        (r#"{"type": "stdio", "command": "a b", "args": []}"#, stdio(&["a b"])),
        (r#"{"type": "local", "command": "x"}"#, stdio(&["x"])),
        (
            r#"{"command": "x", "args": null, "env": null, "url": null, "type": null}"#,
            stdio(&["x"]),
        ),
        (r#"{"type": "stdio", "command": "x", "url": "https://h/mcp"}"#, stdio(&["x"])),
        (r#"{"url": "https://h/mcp"}"#, Connection::Sse { url: url() }),
        (r#"{"serverUrl": "https://h/mcp"}"#, Connection::Sse { url: url() }),
        (r#"{"httpUrl": "https://h/mcp"}"#, Connection::Http { url: url() }),
        (r#"{"type": "sse", "url": "https://h/mcp"}"#, Connection::Sse { url: url() }),
        (r#"{"type": "http", "url": "https://h/mcp"}"#, Connection::Http { url: url() }),
        (
            r#"{"type": "http", "url": "https://h/mcp", "command": "x"}"#,
            Connection::Http { url: url() },
        ),
        (
            r#"{"transport": "streamable-http", "url": "https://h/mcp"}"#,
            Connection::Http { url: url() },
        ),
        (
            r#"{"type": null, "transport": "http", "url": "https://h/mcp"}"#,
            Connection::Http { url: url() },
        ),
        (r#"{"type": "streamableHttp", "url": "https://h/mcp"}"#, Connection::Http { url: url() }),
        (
            r#"{"type": "ws", "url": "wss://h"}"#,
            Connection::WebSocket { url: "wss://h".to_owned() },
        ),
        (r#"{"url": "ws://h"}"#, Connection::WebSocket { url: "ws://h".to_owned() }),
    ];
    for (entry, connection) in cases {
        assert_eq!(good(entry).server.connection, connection, "{entry}");
    }
}

#[test]
fn variables_are_expanded_in_every_field() {
    let local = good(
        r#"{"command": "${userHome}/x", "args": ["--dir=${workspaceFolder}", "${NONE:-d}"],
            "env": {"T": "${TOKEN}", "R": "${REF}", "N": 8080, "B": true, "GONE": null},
            "cwd": "${workspaceFolder}/sub"}"#,
    );
    assert_eq!(local.server.connection, stdio(&["/home/ann/x", "--dir=/project/my app", "d"]));
    assert_eq!(local.server.directory.as_deref(), Some("/project/my app/sub"));
    assert_eq!(
        local.server.environment,
        [
            variable("T", "s3cret"),
            variable("R", "${TOKEN}"),
            variable("N", "8080"),
            variable("B", "true")
        ]
    );
    let remote =
        good(r#"{"url": "${NONE:-https://h}/mcp", "headers": {"A": "Bearer ${env:TOKEN}"}}"#);
    assert_eq!(remote.server.connection, Connection::Sse { url: "https://h/mcp".to_owned() });
    assert_eq!(remote.server.headers, [variable("A", "Bearer s3cret")]);
}

#[test]
fn names_become_namespaces() {
    let text = r#"{"mcpServers": {
        "plain_1.x-y": {"command": "x"}, "My Server": {"command": "x"}, "@scope/server": {"command": "x"},
        "ns:x": {"command": "x"}, "é": {"command": "x"}
    }}"#;
    let (list, findings) = read(text);
    assert_eq!(findings, []);
    let names: Vec<&str> = list.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["plain_1.x-y", "My-Server", "-scope-server", "ns-x", "-"]);
    assert_eq!(list[2].at.as_str(), "/mcpServers/@scope~1server");
}

#[test]
fn disabled_servers_are_listed_and_need_no_variables() {
    for (entry, disabled) in [
        (r#"{"command": "x", "disabled": true}"#, true),
        (r#"{"command": "x", "enabled": false}"#, true),
        (r#"{"command": "x", "disabled": false, "enabled": true}"#, false),
        (r#"{"command": "x", "disabled": true, "env": {"A": "${NONE}"}}"#, true),
        (r#"{"url": "${NONE}", "disabled": true}"#, true),
    ] {
        assert_eq!(good(entry).disabled, disabled, "{entry}");
    }
}

#[test]
fn settings_of_other_clients_are_accepted() {
    let entry = good(
        r#"{"command": "x", "disabledTools": [], "autoApprove": [], "alwaysAllow": [], "timeout": 60,
            "description": "d", "oauth": {}, "gallery": true, "version": "1", "dev": {}, "sandbox": {},
            "sandboxEnabled": true}"#,
    );
    assert_eq!(entry.server.connection, stdio(&["x"]));
}

#[test]
fn every_mistake_has_its_finding() {
    let cases = [
        ("5", "INVALID_TYPE", ""),
        ("null", "INVALID_TYPE", ""),
        ("{}", "MISSING_REQUIRED_FIELD", "/command"),
        (r#"{"command": null}"#, "MISSING_REQUIRED_FIELD", "/command"),
        (r#"{"command": ""}"#, "MISSING_REQUIRED_FIELD", "/command"),
        (r#"{"command": ["x"]}"#, "INVALID_TYPE", "/command"),
        (r#"{"type": "http"}"#, "MISSING_REQUIRED_FIELD", "/url"),
        (r#"{"type": "http", "command": "x"}"#, "MISSING_REQUIRED_FIELD", "/url"),
        (r#"{"type": "stdio", "url": "https://h"}"#, "MISSING_REQUIRED_FIELD", "/command"),
        (r#"{"type": "grpc", "url": "https://h"}"#, "INVALID_ENUM_VALUE", "/type"),
        (r#"{"type": 5, "url": "https://h"}"#, "INVALID_TYPE", "/type"),
        (r#"{"command": "x", "url": "https://h"}"#, "INVALID_SOURCE", "/url"),
        (r#"{"url": "h"}"#, "INVALID_PATTERN", "/url"),
        (r#"{"type": "ws", "url": "https://h"}"#, "INVALID_PATTERN", "/url"),
        (r#"{"type": "http", "serverUrl": "ws://h"}"#, "INVALID_PATTERN", "/serverUrl"),
        (r#"{"command": "x", "args": "y"}"#, "INVALID_TYPE", "/args"),
        (r#"{"command": "x", "args": ["y", 5]}"#, "INVALID_TYPE", "/args/1"),
        (r#"{"command": "x", "args": ["${NONE}"]}"#, "UNSET_VARIABLE", "/args/0"),
        (r#"{"command": "${NONE}"}"#, "UNSET_VARIABLE", "/command"),
        (r#"{"url": "https://${NONE}"}"#, "UNSET_VARIABLE", "/url"),
        (r#"{"command": "x", "cwd": "${NONE}"}"#, "UNSET_VARIABLE", "/cwd"),
        (r#"{"command": "x", "cwd": 5}"#, "INVALID_TYPE", "/cwd"),
        (r#"{"command": "x", "env": []}"#, "INVALID_TYPE", "/env"),
        (r#"{"command": "x", "env": {"A": {}}}"#, "INVALID_TYPE", "/env/A"),
        (r#"{"command": "x", "env": {"": "y"}}"#, "INVALID_PATTERN", "/env/"),
        (r#"{"command": "x", "env": {"A": "${input:x}"}}"#, "UNSET_VARIABLE", "/env/A"),
        (r#"{"url": "https://h", "headers": {"A B": "y"}}"#, "INVALID_PATTERN", "/headers/A B"),
        (r#"{"url": "https://h", "headers": {"A": "${NONE}"}}"#, "UNSET_VARIABLE", "/headers/A"),
        (r#"{"command": "x", "disabled": "yes"}"#, "INVALID_TYPE", "/disabled"),
    ];
    for (entry, code, at) in cases {
        let text = with(entry);
        assert_eq!(findings(&text), [format!("error {code} /mcpServers/a{at}")], "{entry}");
        assert_eq!(read(&text).0, [], "{entry}: a bad one is left out");
    }
    assert_eq!(findings(r#"{"mcpServers": []}"#), ["error INVALID_TYPE /mcpServers"]);
}

#[test]
fn warnings_keep_the_server() {
    for (entry, expected) in [
        (r#"{"command": "npx -y x"}"#, "warning SUSPICIOUS_COMMAND /mcpServers/a/command"),
        (r#"{"command": "x", "envFile": ".env"}"#, "warning IGNORED_SETTING /mcpServers/a/envFile"),
        (r#"{"command": "x", "arg": ["y"]}"#, "info UNKNOWN_FIELD /mcpServers/a/arg"),
        (r#"{"command": "x", "header": {}}"#, "warning MISSPELLED_FIELD /mcpServers/a/header"),
        (r#"{"command": "x", "icon": "y"}"#, "info UNKNOWN_FIELD /mcpServers/a/icon"),
    ] {
        let text = with(entry);
        assert_eq!(findings(&text), [expected], "{entry}");
        assert_eq!(read(&text).0.len(), 1, "{entry}");
    }
}

#[test]
fn a_bad_server_leaves_the_others_loaded() {
    let text = r#"{
  "mcpServers": {
    "good": {"command": "x"},
    "ünset": {"command": "npx", "env": {"ключ": "é", "GITHUB_TOKEN": "${GITHUB_PAT}"}},
    "asks": {"type": "htp", "url": "https://h", "headers": {"Authorization": "Bearer ${input:api-key}"}},
    "both": {"command": "npx -y server", "url": "https://h", "envFile": "x", "enviroment": {}},
    "a b": {"command": "docker run x"},
    "a-b": {"command": "x"},
    "": {"command": "x"},
    "none": {},
    "last": {"url": "https://h/sse"}
  }
}"#;
    let document = document(text);
    let (list, findings) = read_servers(&document, &scope());
    let names: Vec<&str> = list.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["good", "a-b", "last"]);
    let mut diagnostics: Vec<Diagnostic> =
        findings.into_iter().map(|f| locate(f, &document)).collect();
    render::sort(&mut diagnostics);
    let shown: Vec<String> = diagnostics.iter().map(|d| full(d, Colour::Off)).collect();
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn the_last_of_duplicate_servers_is_used() {
    let (list, findings) =
        read(r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#);
    assert_eq!(findings, []);
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].server.connection, stdio(&["y"]));
}

#[test]
fn secrets_stay_out_of_findings() {
    let text = with(
        r#"{"command": "${TOKEN}", "url": "${TOKEN}", "type": "http",
            "env": {"A": "hunter2 ${NONE}", "B": ["hunter2"], "C": "hunter2 ${hunter2!}", "D": "${hunter2"},
            "headers": {"A": "hunter2 ${NONE}", "x y": "hunter2"}}"#,
    );
    let findings = read(&text).1;
    assert_eq!(findings.len(), 7);
    for finding in findings {
        let shown = format!("{} {:?}", finding.message, finding.help);
        assert!(!shown.contains("hunter2") && !shown.contains("s3cret"), "{shown}");
    }
}

#[test]
fn hostile_files_are_bounded() {
    let args = with(&format!(r#"{{"command": "x", "args": [{}0]}}"#, "0,".repeat(200_000)));
    assert_eq!(read(&args).1.len(), 1_000);
    let many: String = (0..50_000).map(|n| format!(r#""{n}": 5,"#)).collect();
    let (list, findings) =
        read(&format!(r#"{{"mcpServers": {{{many} "z": {{"command": "x"}}}}}}"#));
    assert_eq!((list.len(), findings.len()), (0, 1_000));
}

#[test]
fn yaml_and_json_give_the_same_servers() {
    let text = "mcpServers:\n  a: &a\n    command: x\n    args: [-y]\n  b: *a\n";
    let document = Document::parse("mcp.yaml", text, Syntax::Yaml);
    let (list, findings) = read_servers(&document, &scope());
    assert_eq!(findings, []);
    assert_eq!(list.len(), 2);
    assert_eq!(list[0].server, list[1].server);
}
