//! One small definition for each form of each format, and parts of the record that it gives. The
//! sections of AIOS are in `aios_records`.

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
pub(crate) fn clean(format: &str, name: &str, text: &str) -> Json {
    let reading = read_as(format, name, text);
    assert_eq!(findings(&reading), [""; 0], "{text}");
    card(&reading)
}

/// The same for a text that has findings which are not the subject here.
pub(crate) fn any(format: &str, name: &str, text: &str) -> Json {
    card(&read_as(format, name, text))
}

/// An AIOS tool with these further lines, each a member of `tool`.
pub(crate) fn aios(kind: &str, more: &str) -> String {
    let more: String = more.lines().map(|l| format!("  {l}\n")).collect();
    format!(
        "tool:\n  id: demo\n  type: {kind}\n  name: Demo\n  version: 1.2.3\n  description: For tests\n{more}"
    )
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
                // Not inside the operation, but where it is.
                if format.0 == "openapi" && ["/method", "/path"].contains(&pointer.as_str()) {
                    continue;
                }
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
