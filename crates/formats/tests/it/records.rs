//! One small definition for each form of each format, and parts of the record that it gives.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolwright_formats::{DetectionResult, detect, read};
use toolwright_model::Rest;
use toolwright_source::{Document, DocumentPath, Node, RecordPath, Syntax};

use crate::support::{assert_card, card, definitions, examples, findings, read_as};

/// Parts of a card by pointer.
type Parts<'a> = &'a [(&'a str, Json)];
/// Pointers into the record, and the pointers into the document that they map to.
type Pointers<'a> = &'a [(&'a str, &'a str)];

/// Reads `text` as `format`, asserts that nothing is wrong with it, and gives its card.
fn clean(format: &str, name: &str, text: &str) -> Json {
    let reading = read_as(format, name, text);
    assert_eq!(findings(&reading), [""; 0], "{text}");
    card(&reading)
}

/// The same for a text that has findings which are not the subject here.
fn any(format: &str, name: &str, text: &str) -> Json {
    card(&read_as(format, name, text))
}

/// An AIOS tool with these further lines, each a member of `tool`.
fn aios(kind: &str, more: &str) -> String {
    let more: String = more.lines().map(|l| format!("  {l}\n")).collect();
    format!(
        "tool:\n  id: demo\n  type: {kind}\n  name: Demo\n  version: 1.2.3\n  description: For tests\n{more}"
    )
}

fn aios_card(kind: &str, more: &str) -> Json {
    clean("aios", "tool.yaml", &aios(kind, more))
}

#[test]
fn a_btcp_manifest_fills_the_record() {
    let text = r#"{
        "btcp": "1.0", "name": "shop", "version": "2.0.0-rc.1", "description": "A shop",
        "provider": {"name": "Shop", "url": "https://shop.example", "contact": "a@shop.example"},
        "capabilities": ["dom:read", "network:fetch:same-origin"],
        "config": {"timeout": 60000.0, "sandbox": "iframe", "maxConcurrent": 10},
        "tools": [
            {"name": "find", "description": "Finds goods by name", "capabilities": [],
             "inputSchema": {"type": "object", "properties": {"b": {}, "a": {}}}, "tags": ["Buy Now", "buy-now"]},
            {"name": "buy", "description": "Buys what was found", "capabilities": ["dom:read"],
             "inputSchema": {}, "outputSchema": {"type": "null"}, "timeout": 1000, "deprecated": true,
             "deprecationMessage": "use order",
             "examples": [{"input": {}, "output": null}, {"description": "none", "input": {"n": 1}}]}
        ]}"#;
    let card = clean("btcp", "shop.json", text);
    assert_card(
        "manifest",
        &card,
        &[
            ("/dialect", json!("1.0")),
            ("/namespace", json!("shop")),
            ("/version", json!("2.0.0-rc.1")),
            ("/description", json!("A shop")),
            ("/provider", json!(["Shop", "https://shop.example", "a@shop.example", null])),
            ("/declares", json!(["dom:read", "network:fetch:same-origin"])),
            // `60000.0` is an integer.
            ("/limits", json!([60_000, 10, "iframe"])),
            ("/ids", json!(["shop:find", "shop:buy"])),
            ("/tools/0/tags", json!(["buy-now"])),
            ("/tools/0/authored_tags", json!(["Buy Now", "buy-now"])),
            ("/tools/0/needs", json!([])),
            ("/tools/0/output", json!(null)),
            ("/tools/1/output", json!({"type": "null"})),
            ("/tools/1/timeout", json!(1_000)),
            ("/tools/1/deprecation", json!([true, "use order"])),
            // `output: null` expects null; no output expects nothing.
            ("/tools/1/examples/0/output", json!([null])),
            ("/tools/1/examples/1/output", json!([])),
            ("/tools/1/examples/1/input", json!([{"n": 1}])),
            ("/tools/1/version", json!(null)),
            ("/tools/1/binding", json!(["script"])),
        ],
    );
    let keys: Vec<&String> =
        card["tools"][0]["input"]["properties"].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["b", "a"], "authored order stays");
}

#[test]
fn btcp_tools_are_read_without_a_manifest() {
    let tool =
        r#"{"name": "t", "description": "does a thing", "inputSchema": {}, "capabilities": []}"#;
    for text in [tool.to_owned(), format!("[{tool}]"), format!(r#"{{"tools": [{tool}]}}"#)] {
        let card = clean("btcp", "tool.json", &text);
        assert_card(
            &text,
            &card,
            &[("/dialect", json!(null)), ("/namespace", json!(null)), ("/ids", json!(["t"]))],
        );
    }
    // A manifest that lacks `btcp` is still a manifest.
    let text =
        format!(r#"{{"name": "m", "version": "1.0.0", "capabilities": [], "tools": [{tool}]}}"#);
    let reading = read_as("btcp", "m.json", text);
    assert_eq!(findings(&reading), ["MISSING_REQUIRED_FIELD /btcp"]);
    assert_eq!(card(&reading)["ids"], json!(["m:t"]));
}

#[test]
fn mcp_tools_are_read_from_every_form() {
    let tool = r#"{"name": "t", "inputSchema": {"type": "object"}}"#;
    for (text, rest) in [
        (tool.to_owned(), json!({})),
        (format!("[{tool}]"), json!({})),
        (format!(r#"{{"tools": [{tool}]}}"#), json!({})),
        (
            format!(r#"{{"tools": [{tool}], "nextCursor": "c", "_meta": {{"a": 1}}}}"#),
            json!({"/nextCursor": "c", "/_meta": {"a": 1}}),
        ),
        (
            format!(
                r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"tools": [{tool}], "nextCursor": "c"}}}}"#
            ),
            json!({"/result/nextCursor": "c"}),
        ),
    ] {
        let card = clean("mcp", "list.json", &text);
        assert_card(
            &text,
            &card,
            &[("/ids", json!(["t"])), ("/rest", rest), ("/tools/0/binding", json!(["none"]))],
        );
    }
    assert_eq!(clean("mcp", "list.json", r#"{"tools": []}"#)["tools"], json!([]));
    // An answer without tools is not a tool itself.
    assert_eq!(any("mcp", "list.json", r#"{"result": {}}"#)["tools"], json!([]));
}

#[test]
fn every_field_of_an_mcp_tool_is_read() {
    let text = r#"{
        "name": "Read.File_v-2", "namespace": "fs", "version": "v1.2.3", "title": "Read", "description": "Reads",
        "tags": ["A b", "C#"], "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"},
        "annotations": {"title": "Hint", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
                        "openWorldHint": false},
        "icons": [{"src": "https://x.example/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"},
                  {"src": "data:image/png;base64,AAAA"}],
        "execution": {"taskSupport": "optional"},
        "_meta": {"x.example/owner": {"team": 7}}}"#;
    assert_card(
        "a full tool",
        &clean("mcp", "tool.json", text),
        &[
            ("/ids", json!(["fs:Read.File_v-2"])),
            ("/namespace", json!(null)),
            ("/tools/0/namespace", json!("fs")),
            ("/tools/0/version", json!("v1.2.3")),
            ("/tools/0/title", json!("Read")),
            ("/tools/0/tags", json!(["a-b", "c"])),
            ("/tools/0/hints", json!(["Hint", true, false, true, false, {}])),
            (
                "/tools/0/icons/0",
                json!(["https://x.example/i.png", "image/png", ["48x48"], {"theme": "dark"}]),
            ),
            ("/tools/0/icons/1", json!(["data:image/png;base64,AAAA", null, [], {}])),
            ("/tools/0/meta", json!({"x.example/owner": {"team": 7}})),
            ("/tools/0/rest", json!({"/execution": {"taskSupport": "optional"}})),
            ("/tools/0/finishes", json!(true)),
        ],
    );
}

#[test]
fn ikigai_tools_are_read_from_every_form() {
    let tool = r#"{"name": "t", "description": "d", "parameters": {"type": "object"}}"#;
    for text in [tool.to_owned(), format!("[{tool}]"), format!(r#"{{"tools": [{tool}]}}"#)] {
        assert_card(
            &text,
            &clean("ikigai", "schema.json", &text),
            &[
                ("/ids", json!(["t"])),
                ("/tools/0/input", json!({"type": "object"})),
                ("/tools/0/binding", json!(["executable", null])),
            ],
        );
    }
}

#[test]
fn an_aios_tool_has_id_title_version_and_description() {
    assert_card(
        "core",
        &aios_card(
            "mcp",
            "knowledge_strategy: hybrid\ncommands: [go]\ncapabilities: [Prose about it]\n",
        ),
        &[
            ("/namespace", json!("demo")),
            ("/title", json!("Demo")),
            ("/version", json!("1.2.3")),
            ("/description", json!("For tests")),
            ("/knowledge/strategy", json!("hybrid")),
            ("/ids", json!(["demo:go"])),
            // The version of a toolset is not that of its tools, and prose is not a capability.
            ("/tools/0/version", json!(null)),
            ("/tools/0/needs", json!([])),
            ("/declares", json!(null)),
            ("/rest", json!({"/tool/type": "mcp", "/tool/capabilities": ["Prose about it"]})),
        ],
    );
}

#[test]
fn the_aios_schema_version_is_read_or_inferred() {
    let cases: &[(&str, &str)] = &[
        ("", "1.0"),
        ("schema_version: 1", "1.0"),
        ("schema_version: 1.0", "1.0"),
        ("schema_version: \"1.0\"", "1.0"),
        ("schema_version: 2", "2.0"),
        ("schema_version: 2.0", "2.0"),
        ("schema_version: '2.0'", "2.0"),
        ("schema_version: null", "1.0"),
        ("schema_version:", "1.0"),
        ("schema_version: \"\"", "1.0"),
        ("schema_version: \"\"\nanti_patterns: []", "2.0"),
        ("executable_knowledge: {}", "2.0"),
        ("api_complexity: {}", "2.0"),
        ("anti_patterns: []", "2.0"),
        ("anti_patterns:", "1.0"),
        ("executable_knowledge: null", "1.0"),
        ("schema_version: 1.0\nanti_patterns: []", "1.0"),
        ("schema_version: 2.0\ncommands: [a]", "2.0"),
        ("examples: {a: [{scenario: success, input: {}}]}", "2.0"),
        ("examples: {a: [{}, {scenario: failure_invalid_param, input: 1}]}", "2.0"),
        ("examples: {a: [{scenario: failure_api_error}]}", "1.0"),
        ("examples: {a: [{scenario: edge_case}, {scenario: success_two}]}", "1.0"),
        ("examples: {a: [prose, 1]}", "1.0"),
    ];
    for (more, version) in cases {
        let card = any("aios", "tool.yaml", &aios("mcp", more));
        assert_eq!(card["dialect"], *version, "{more}");
    }
}

/// The sections that commands are read from, by type.
#[test]
fn aios_commands_come_from_their_sections_in_order() {
    let validators = |of: &str| {
        format!(
            "executable_knowledge:\n  validators:\n    - {{id: v, validates: {of}, language: javascript, function: x}}\n"
        )
    };
    let groups = "cli_specific: {executable: gh}\ncommand_groups:\n  a:\n    - command: gh pr list\n    - command: gh\n  b:\n    - command: other 'x y'\n";
    let scenario = "examples: {shown: [{scenario: success, input: {}}], prose: [{input: {}}]}\n";
    let cases: &[(&str, &str, String, &[&str])] = &[
        ("a list of names", "mcp", "commands: [a, b, a]".into(), &["a", "b"]),
        ("described", "mcp", "tools: [{id: c}, {id: d}]".into(), &["c", "d"]),
        (
            "both, one known already",
            "mcp",
            "commands: [a, c]\ntools: [{id: c}, {id: d}]".into(),
            &["a", "c", "d"],
        ),
        (
            "listed: examples and validators define none",
            "mcp",
            format!("commands: [a]\n{scenario}{}", validators("b")),
            &["a"],
        ),
        (
            "described: they define none either",
            "mcp",
            format!("tools: [{{id: a}}]\n{}", validators("b")),
            &["a"],
        ),
        ("neither: they do", "mcp", format!("{scenario}{}", validators("b")), &["shown", "b"]),
        ("neither: a name once", "mcp", format!("{scenario}{}", validators("shown")), &["shown"]),
        ("an empty list is a list", "mcp", format!("commands: []\n{}", validators("b")), &[]),
        ("mcp without any", "mcp", String::new(), &[]),
        ("cli without any", "cli", String::new(), &["demo"]),
        ("local without any", "local", String::new(), &["demo"]),
        ("meta without any", "meta", String::new(), &["demo"]),
        ("groups", "cli", groups.into(), &["pr_list", "gh", "!other_x y"]),
        ("groups are for cli", "local", groups.into(), &["demo"]),
        (
            "groups beside names",
            "cli",
            format!("commands: [auth]\n{groups}"),
            &["auth", "pr_list", "gh", "!other_x y"],
        ),
    ];
    for (what, kind, more, names) in cases {
        let card = any("aios", "tool.yaml", &aios(kind, more));
        let found: Vec<Json> =
            card["tools"].as_array().expect("tools").iter().map(|t| t["name"].clone()).collect();
        let named = |name: &&str| match name.strip_prefix('!') {
            Some(bad) => json!({"bad": bad}),
            None => json!(name),
        };
        assert_eq!(found, names.iter().map(named).collect::<Vec<_>>(), "{what}");
    }
}

#[test]
fn aios_commands_take_their_descriptions() {
    let schema = "{type: object, properties: {q: {type: string}}}";
    let card = aios_card(
        "mcp",
        &format!(
            "commands: [bare, full]\ntools:\n  - id: full\n    description: All of it\n    parameters: [{{q: text}}]\n    inputSchema: {schema}\n    outputSchema: {{type: 'null'}}\n  - id: short\n"
        ),
    );
    assert_card(
        "described",
        &card,
        &[
            ("/ids", json!(["demo:bare", "demo:full", "demo:short"])),
            ("/tools/0/input", json!("deferred")),
            ("/tools/0/description", json!(null)),
            ("/tools/1/description", json!("All of it")),
            ("/tools/1/input", json!({"type": "object", "properties": {"q": {"type": "string"}}})),
            ("/tools/1/output", json!({"type": "null"})),
            ("/tools/1/rest", json!({"/parameters": [{"q": "text"}]})),
            ("/tools/2/input", json!("deferred")),
            ("/tools/2/finishes", json!(true)),
        ],
    );
    // Two descriptions with one name, or without a name, are two commands; a rule reports the
    // duplicate.
    let card = any(
        "aios",
        "tool.yaml",
        &aios(
            "mcp",
            "tools: [{id: x, description: a}, {id: x, description: b}, {description: c}, {description: d}]",
        ),
    );
    let described: Vec<&Json> =
        card["tools"].as_array().expect("tools").iter().map(|t| &t["description"]).collect();
    assert_eq!(described, ["a", "b", "c", "d"]);
    // `command` has no meaning in `tools`, and is kept like any other unknown field.
    let card =
        any("aios", "tool.yaml", &aios("mcp", "tools: [{id: x, command: run x, inputSchema: {}}]"));
    assert_card(
        "unknown",
        &card,
        &[("/tools/0/rest", json!({"/command": "run x"})), ("/tools/0/input", json!({}))],
    );
}

#[test]
fn every_aios_type_has_its_binding() {
    let mcp = |more: &str| {
        let card = aios_card("mcp", &format!("commands: [go]\n{more}"));
        card["tools"][0]["binding"].clone()
    };
    let connections: &[(&str, Json)] = &[
        (
            "{server_command: npx -y @a/b, transport: stdio}",
            json!(["stdio", ["npx", "-y", "@a/b"]]),
        ),
        ("{server_command: npx -y @a/b}", json!(["stdio", ["npx", "-y", "@a/b"]])),
        (
            "{server_command: 'run \"two words\" it\\''s', server_args: [--x, y z]}",
            json!(["stdio", ["run", "two words", "it's", "--x", "y z"]]),
        ),
        (
            "{server_command: 'https://a.example/mcp', transport: sse}",
            json!(["sse", "https://a.example/mcp"]),
        ),
        (
            "{server_command: 'wss://a.example', transport: websocket}",
            json!(["websocket", "wss://a.example"]),
        ),
        (
            "{server_command: sse, transport: sse, connection: {type: sse, url: 'https://b.example'}}",
            json!(["sse", "https://b.example"]),
        ),
        (
            "{transport: websocket, connection: {url: 'wss://b.example'}}",
            json!(["websocket", "wss://b.example"]),
        ),
        ("{connection: {url: 'https://b.example'}}", json!(["sse", "https://b.example"])),
    ];
    for (section, connection) in connections {
        assert_eq!(mcp(&format!("mcp_specific: {section}"))[2], *connection, "{section}");
    }
    for section in ["", "mcp_specific: {}", "mcp_specific: {transport: sse}"] {
        assert_eq!(mcp(section), json!(["none"]), "{section}");
    }
    let variables = "mcp_specific:\n  server_command: x\n  environment_variables:\n    - {name: KEY, required: true, description: A key}\n    - {name: LEVEL, value: info}\n";
    assert_eq!(
        mcp(variables)[3],
        json!([["KEY", true, "A key", null], ["LEVEL", false, null, "info"]])
    );
    let check = "{method: tool_call, command: go, arguments: {n: 1}, expected_response: {status: ok}, timeout_ms: 5000}";
    let expected = json!(["tool_call", "go", {"n": 1}, {"status": "ok"}, 5_000]);
    assert_eq!(
        mcp(&format!("mcp_specific: {{server_command: x, health_check: {check}}}"))[4],
        expected
    );
    assert_eq!(
        mcp(&format!("mcp_specific: {{server_command: x}}\nhealth_check: {check}"))[4],
        expected
    );

    let cli = "cli_specific: {executable: git, install_check: git --version, install_guide: apt install git}\n";
    let groups = "command_groups: {a: [{command: git remote show, description: Shows it}]}\n";
    let card = aios_card("cli", &format!("{cli}{groups}"));
    let input = json!({
        "type": "object",
        "properties": {"args": {"type": "array", "items": {"type": "string"}}, "stdin": {"type": "string"}},
        "required": ["args"],
        "additionalProperties": false
    });
    assert_card(
        "cli",
        &card,
        &[
            ("/ids", json!(["demo:remote_show"])),
            (
                "/tools/0/binding",
                json!(["command", "git", ["remote", "show"], "git --version", "apt install git"]),
            ),
            ("/tools/0/description", json!("Shows it")),
            ("/tools/0/input", input),
        ],
    );
    // The program alone has no words: they would be its first argument.
    let card = aios_card("cli", &format!("{cli}command_groups: {{a: [{{command: git}}]}}"));
    assert_card("git", &card, &[("/ids", json!(["demo:git"])), ("/tools/0/binding/2", json!([]))]);
    // A group also gives its words to a command that was named before.
    let card = aios_card("cli", &format!("commands: [remote_show]\n{cli}{groups}"));
    assert_eq!(card["tools"][0]["binding"][2], json!(["remote", "show"]));
    let card = aios_card(
        "local",
        "commands: [a, b]\nlocal_specific: {entry_point: ./x.js, runtime: node, dependencies: [p]}",
    );
    assert_eq!(card["tools"][1]["binding"], json!(["local", "node", "./x.js", "b", ["p"]]));
    let card = aios_card(
        "meta",
        "meta_specific: {aggregates: [git, 't:new'], orchestration: helpers.do-it}",
    );
    assert_card(
        "meta",
        &card,
        &[
            ("/tools/0/binding", json!(["orchestration", "do-it", ["git", "t:new"]])),
            ("/tools/0/input", json!({"type": "object"})),
            ("/tools/0/description", json!("For tests")),
        ],
    );
    for kind in ["cli", "local", "meta"] {
        assert_eq!(
            aios_card(kind, "")["tools"][0]["binding"],
            json!(["none"]),
            "{kind} without its section"
        );
    }
}

#[test]
fn the_knowledge_of_an_aios_tool_is_read() {
    let text = "\
executable_knowledge:
  helpers:
    - {id: h, language: javascript, runtime: isolated_vm, function: '1', description: Helps}
  processors:
    - {id: p, language: javascript, function: '2'}
    - {id: q, language: javascript, function: '3', processes: go, stage: request, runtime: isolated_vm}
  validators:
    - id: v
      validates: go
      language: javascript
      checks:
        - required_fields: [a, b]
          format: email
        - custom: true
      function: |
        // ünïcode
        return 4
api_complexity:
  payload_schemas:
    - {type: t, detection: x exists, payload_path: a.b, example: {a: 1}}
  field_mappings:
    plain: {structure: {a: number}, extraction: helpers.h, note: n}
    only: {extraction: helpers.h}
    group:
      inner: {structure: '[id]'}
      note: about the group
  api_quirks:
    - {quirk: q, description: d, mitigation: m}
anti_patterns:
  - {pattern: p, description: d, wrong: w, correct: c, category: anything, rationale: r}
";
    let card = aios_card("mcp", text);
    assert_card(
        "knowledge",
        &card["knowledge"],
        &[
            ("/helpers", json!([["h", "Helps", "1", {}]])),
            (
                "/processors",
                json!([
                    [["p", null, "2", {}], null, "response"],
                    [["q", null, "3", {}], "go", "request"]
                ]),
            ),
            (
                "/validators",
                json!([[
                    ["v", null, "// ünïcode\nreturn 4\n", {}],
                    "go",
                    [{"required": ["a", "b"]}, {"other": {"format": "email"}}, {"other": {"custom": true}}]
                ]]),
            ),
            ("/payloads", json!([["t", "x exists", "a.b", {"example": {"a": 1}}]])),
            (
                "/mappings",
                json!([
                    [["plain"], {"a": "number"}, "helpers.h", {"note": "n"}],
                    [["only"], null, "helpers.h", {}],
                    [["group", "inner"], "[id]", null, {}],
                    [["group"], null, null, {"note": "about the group"}]
                ]),
            ),
            ("/quirks", json!([["q", "d", null, "m", {}]])),
            ("/anti_patterns", json!([["p", "d", "anything", "w", "c", "r", {}]])),
        ],
    );
}

#[test]
fn the_examples_of_an_aios_tool_are_read() {
    let text = "\
commands: [go]
examples:
  go:
    - {scenario: success, description: fine, input: {}, output: null}
    - {scenario: edge_case, input: null, error: {code: C, message: m, validator: v, http_status: 404}, mitigation: wait}
  gone:
    - {scenario: success, input: {n: 1}, output: 1}
";
    let card = aios_card("mcp", text);
    assert_card(
        "examples",
        &card,
        &[
            (
                "/tools/0/examples/0",
                json!({"scenario": "success", "description": "fine", "input": [{}], "output": [null], "error": null, "rest": {}}),
            ),
            ("/tools/0/examples/1/input", json!([null])),
            ("/tools/0/examples/1/output", json!([])),
            ("/tools/0/examples/1/error", json!(["C", "m", "v", {"http_status": 404}])),
            ("/tools/0/examples/1/rest", json!({"mitigation": "wait"})),
            // Examples of a command that is not defined stay beside the tools.
            ("/stray/0/0", json!("gone")),
            ("/stray/0/1/0/output", json!([1])),
        ],
    );
}

#[test]
fn unknown_fields_are_kept_at_every_level() {
    let manifest = r#"{"btcp": "1.0", "name": "m", "version": "1.0.0", "capabilities": [], "x": 1,
        "config": {"transport": "t"}, "provider": {"name": "p", "logo": [1]},
        "tools": [{"name": "t", "description": "does a thing", "inputSchema": {}, "capabilities": [], "y": {"z": null},
                   "examples": [{"input": {}, "w": 1}]}]}"#;
    let cases: &[(&str, &str, &str, Parts<'_>)] = &[
        (
            "btcp",
            "m.json",
            manifest,
            &[
                ("/rest", json!({"/config/transport": "t", "/provider/logo": [1], "/x": 1})),
                ("/tools/0/rest", json!({"/y": {"z": null}})),
                ("/tools/0/examples/0/rest", json!({"w": 1})),
            ],
        ),
        ("btcp", "l.json", r#"{"tools": [], "x": 1}"#, &[("/rest", json!({"/x": 1}))]),
        (
            "ikigai",
            "i.json",
            r#"{"name": "n", "description": "d", "parameters": {}, "x": 1}"#,
            &[("/tools/0/rest", json!({"/x": 1}))],
        ),
        ("ikigai", "l.json", r#"{"tools": [], "x": 1}"#, &[("/rest", json!({"/x": 1}))]),
        (
            "mcp",
            "t.json",
            r#"{"name": "n", "inputSchema": {}, "x": 1, "annotations": {"y": 2}, "icons": [{"src": "a:b", "z": 3}]}"#,
            &[
                ("/tools/0/rest", json!({"/x": 1})),
                ("/tools/0/hints/5", json!({"y": 2})),
                ("/tools/0/icons/0/3", json!({"z": 3})),
            ],
        ),
        (
            "mcp",
            "e.json",
            r#"{"result": {"tools": [], "x": 1}, "y": 2, "id": 3}"#,
            &[("/rest", json!({"/result/x": 1, "/y": 2}))],
        ),
    ];
    for (format, name, text, expected) in cases {
        assert_card(text, &any(format, name, text), expected);
    }
    let text = "\
x: 1
executable_knowledge: {a: 2, helpers: [{id: h, b: 3}]}
api_complexity: {c: 4, api_quirks: [{d: 5}]}
anti_patterns: [{e: 6}]
mcp_specific: {f: 7, connection: {g: 8}, health_check: {h: 9}, environment_variables: [{name: N, i: 10}]}
cli_specific: {executable: other}
";
    let root = format!("{}beside: 11\n", aios("mcp", text));
    let card = any("aios", "tool.yaml", &root);
    assert_card(
        "aios",
        &card,
        &[
            (
                "/rest",
                json!({
                    "/tool/type": "mcp", "/tool/x": 1, "/tool/executable_knowledge/a": 2,
                    "/tool/api_complexity/c": 4, "/tool/mcp_specific/f": 7,
                    "/tool/mcp_specific/connection/g": 8,
                    "/tool/mcp_specific/health_check/h": 9,
                    "/tool/mcp_specific/environment_variables/0/i": 10,
                    // A section of another type is not a binding, and is kept.
                    "/tool/cli_specific": {"executable": "other"},
                    "/beside": 11
                }),
            ),
            ("/knowledge/helpers/0/3", json!({"b": 3})),
            ("/knowledge/quirks/0/4", json!({"d": 5})),
            ("/knowledge/anti_patterns/0/6", json!({"e": 6})),
        ],
    );
}

/// Invalid values are kept in the draft, and its other fields are read. Without a name or an input
/// schema it does not become a tool.
#[test]
fn mistakes_leave_invalid_values_in_the_draft() {
    let cases: &[(&str, &str, Parts<'_>)] = &[
        (
            "mcp",
            r#"{"name": "a b", "inputSchema": {"type": "object"}, "description": "d"}"#,
            &[("/tools/0/name", json!({"bad": "a b"})), ("/tools/0/description", json!("d"))],
        ),
        (
            "mcp",
            r#"{"name": "a", "inputSchema": null}"#,
            &[("/tools/0/input", json!({"bad": null}))],
        ),
        ("mcp", r#"{"name": "a", "inputSchema": ""}"#, &[("/tools/0/input", json!({"bad": ""}))]),
        (
            "mcp",
            r#"{"name": "a", "inputSchema": {}, "outputSchema": null}"#,
            &[("/tools/0/output", json!({"bad": null}))],
        ),
        (
            "mcp",
            r#"{"name": "a", "inputSchema": {}, "outputSchema": true}"#,
            &[("/tools/0/output", json!({"bad": true}))],
        ),
        (
            "mcp",
            r#"{"name": "a", "inputSchema": {}, "namespace": ""}"#,
            &[("/tools/0/namespace", json!({"bad": ""}))],
        ),
        (
            "mcp",
            r#"{"name": "a", "inputSchema": {}, "namespace": "a:b"}"#,
            &[("/tools/0/namespace", json!({"bad": "a:b"}))],
        ),
        (
            "mcp",
            r#"{"name": "a", "inputSchema": {}, "version": "1"}"#,
            &[("/tools/0/version", json!({"bad": "1"}))],
        ),
        (
            "mcp",
            r#"{"name": "a", "inputSchema": {}, "version": ""}"#,
            &[("/tools/0/version", json!({"bad": ""}))],
        ),
        ("mcp", r#"{"name": "", "inputSchema": {}}"#, &[("/tools/0/name", json!(null))]),
        (
            "btcp",
            r#"{"name": "a", "description": "does a thing", "inputSchema": {}, "capabilities": ["dom:read", "dom:*", 3]}"#,
            &[("/tools/0/needs", json!(["dom:read", {"bad": "dom:*"}, {"bad": 3}]))],
        ),
    ];
    for (format, text, expected) in cases {
        let card = any(format, "t.json", text);
        assert_card(text, &card, expected);
        let needed = ["/tools/0/name", "/tools/0/input"];
        let finishes = !expected.iter().any(|(path, _)| needed.contains(path));
        assert_eq!(card["tools"][0]["finishes"], finishes, "{text}");
    }
}

/// Every part of the record that a rule can report has a location in the document.
#[test]
fn every_part_of_a_record_has_its_origin() {
    let aios = aios(
        "mcp",
        "commands: [a]\ntools: [{id: b, inputSchema: {}}]\nexamples: {a: [{scenario: success, input: 1}]}",
    );
    let used = "tool:\n  id: x\n  type: mcp\n  examples:\n    go:\n      - scenario: success\n";
    let referring = "tool: {id: x, type: mcp, commands: [a], mcp_specific: {server_command: s}, \
        health_check: {command: a}, executable_knowledge: {helpers: [3, {id: h}], \
        validators: [{checks: [{a: 1, b: 2}, c]}]}, examples: {a: [1, {input: 2}], x/y: [1, {input: 2}]}}";
    let btcp = r#"{"btcp": "1.0", "capabilities": [], "config": {"timeout": 1}, "tools": [3, {"name": "t", "timeout": 2, "capabilities": ["x"], "tags": [1, "a"], "examples": [1, {"input": 2}]}]}"#;
    let cases: &[(&str, &str, &str, Pointers<'_>)] = &[
        (
            "aios",
            "t.yaml",
            &aios,
            &[
                ("/namespace", "/tool/id"),
                ("/title", "/tool/name"),
                ("/version", "/tool/version"),
                ("/tools/0/name", "/tool/commands/0"),
                ("/tools/0/examples/0/input", "/tool/examples/a/0/input"),
                ("/tools/1/name", "/tool/tools/0/id"),
                ("/tools/1/inputSchema", "/tool/tools/0/inputSchema"),
            ],
        ),
        (
            "aios",
            "t.yaml",
            used,
            &[
                ("/tools/0/name", "/tool/examples/go"),
                ("/tools/0/examples/0", "/tool/examples/go/0"),
            ],
        ),
        (
            "aios",
            "t.yaml",
            referring,
            &[
                ("/knowledge/helpers/0/id", "/tool/executable_knowledge/helpers/1/id"),
                // A check in the record is a member of an object in the document.
                (
                    "/knowledge/validators/0/checks/0",
                    "/tool/executable_knowledge/validators/0/checks/0/a",
                ),
                (
                    "/knowledge/validators/0/checks/1",
                    "/tool/executable_knowledge/validators/0/checks/0/b",
                ),
                (
                    "/knowledge/validators/0/checks/2",
                    "/tool/executable_knowledge/validators/0/checks/1",
                ),
                ("/tools/0/examples/0/input", "/tool/examples/a/1/input"),
                ("/strayExamples/x~1y/0/input", "/tool/examples/x~1y/1/input"),
                ("/tools/0/binding/healthCheck/command", "/tool/health_check/command"),
            ],
        ),
        (
            "aios",
            "t.yaml",
            "tool: {id: m, type: meta, meta_specific: {orchestration: helpers.x}}",
            &[("/tools/0/binding/helper", "/tool/meta_specific/orchestration")],
        ),
        (
            "btcp",
            "t.json",
            btcp,
            &[
                ("/declares", "/capabilities"),
                ("/limits/timeoutMs", "/config/timeout"),
                // The first item is not a tool.
                ("/tools/0/name", "/tools/1/name"),
                ("/tools/0/limits/timeoutMs", "/tools/1/timeout"),
                ("/tools/0/capabilities/0", "/tools/1/capabilities/0"),
                ("/tools/0/tags/0", "/tools/1/tags/1"),
                ("/tools/0/examples/0/input", "/tools/1/examples/1/input"),
            ],
        ),
        (
            "mcp",
            "t.json",
            r#"{"result": {"tools": [{"name": "t", "tags": [1, "a"]}]}}"#,
            &[
                ("/tools/0/name", "/result/tools/0/name"),
                ("/tools/0/tags/0", "/result/tools/0/tags/1"),
            ],
        ),
        (
            "ikigai",
            "t.json",
            r#"[{"name": "t", "parameters": {"a": 1}}]"#,
            &[("/tools/0/inputSchema/a", "/0/parameters/a")],
        ),
    ];
    for (format, name, text, pairs) in cases {
        let reading = read_as(format, name, *text);
        for (record, document) in *pairs {
            let pointer = toolwright_source::RecordPath::parse(record).expect("a pointer");
            assert_eq!(
                reading.origin.document_path(&pointer).as_str(),
                *document,
                "{record} of {text}"
            );
            assert!(reading.origin.location(&pointer).exact, "{record} of {text}");
        }
    }
}

/// Every field without a place in the record is kept under the pointer where it was written, so
/// that a writer can put it back: a tool's from the tool's own object, a toolset's from the root.
#[test]
fn unknown_fields_are_kept_at_their_pointers() {
    let (mut documents, mut kept) = (0, 0);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    for path in definitions(&examples()).into_iter().chain(definitions(&corpus)) {
        let text = std::fs::read(&path).expect("a file");
        let json = path.extension().is_some_and(|ending| ending == "json");
        let syntax = if json { Syntax::Json } else { Syntax::Yaml };
        let document = Arc::new(Document::parse(&path.display().to_string(), text, syntax));
        let DetectionResult::Format(format) = detect(&document) else { continue };
        let reading = read(&document, format);
        documents += 1;
        let mut assert_kept = |rest: &Rest, from: Node<'_>| {
            for (pointer, value) in rest.iter().flat_map(|(_, fields)| fields) {
                let path = DocumentPath::parse(pointer).expect("a JSON pointer");
                let found = from.find(&path).map(Node::to_json);
                assert_eq!(found.as_ref(), Some(value), "{}: {pointer}", document.source().name());
                kept += 1;
            }
        };
        assert_kept(&reading.toolset.rest, document.root());
        for (n, tool) in reading.toolset.tools.iter().enumerate() {
            let at = RecordPath::root().child("tools").child(n);
            let own = reading.origin.value(&at).expect("every tool has an origin");
            assert_kept(&tool.details.rest, own);
        }
    }
    assert!(documents > 10 && kept > 30, "{kept} fields of {documents} documents");
}
