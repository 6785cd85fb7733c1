//! The sections of an AIOS tool, and the parts of the record that they give.

use serde_json::{Value as Json, json};

use crate::records::{aios, any, clean};
use crate::support::assert_card;

fn aios_card(kind: &str, more: &str) -> Json {
    clean("aios", "tool.yaml", &aios(kind, more))
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
