//! Detection of the format: every rule with a document that it matches and a near miss, and the
//! order of rules where two match.

use toolwright_formats::{FORMATS, RECOGNISED_KEYS};

use crate::support::{definitions, detected, examples, findings, read_as};

/// The name of a format, or what was found instead.
fn found(text: &str) -> String {
    let name = if text.starts_with(['{', '[']) { "x.json" } else { "x.yaml" };
    match detected(name, text) {
        Ok(format) => format.to_owned(),
        Err(("UNKNOWN_FORMAT", message)) if message.contains("list of servers") => {
            "servers".to_owned()
        }
        Err(("UNKNOWN_FORMAT", _)) => "unknown".to_owned(),
        Err((code, _)) => code.to_owned(),
    }
}

const RULES: &[(&str, &str, &str)] = &[
    // 1
    ("root btcp", r#"{"btcp": "1.0"}"#, "btcp"),
    ("btcp with any value", r#"{"btcp": null}"#, "btcp"),
    ("btcp below the root", r#"{"x": {"btcp": "1.0"}}"#, "unknown"),
    ("btcp in a list", r#"[{"btcp": "1.0"}]"#, "unknown"),
    // 2
    ("root tool", "tool:\n  id: x\n", "aios"),
    ("root tool in JSON", r#"{"tool": {}}"#, "aios"),
    ("tool in a list", "- tool: {id: x}\n", "unknown"),
    ("tools is not tool", r#"{"tools": [{}]}"#, "unknown"),
    // 3
    ("declarations", r#"{"functionDeclarations": []}"#, "gemini"),
    ("declarations, snake case", r#"{"function_declarations": []}"#, "gemini"),
    ("declarations in an element", r#"{"tools": [{"functionDeclarations": []}]}"#, "gemini"),
    ("declarations in a list", r#"[{"function_declarations": []}]"#, "gemini"),
    (
        "declarations too deep",
        r#"{"config": {"tools": [{"functionDeclarations": []}]}}"#,
        "unknown",
    ),
    ("openapi", r#"{"openapi": "3.1.0", "paths": {}}"#, "openapi"),
    ("swagger", r#"{"swagger": "2.0"}"#, "openapi"),
    ("openapi in a list", r#"[{"openapi": "3.1.0"}]"#, "unknown"),
    ("toolSpec", r#"{"tools": [{"toolSpec": {"name": "f"}}]}"#, "bedrock"),
    ("toolSpec at the root", r#"{"toolSpec": {}}"#, "bedrock"),
    ("toolConfig", r#"{"toolConfig": {"tools": []}}"#, "bedrock"),
    ("toolConfig of Gemini", r#"{"toolConfig": {"functionCallingConfig": {}}}"#, "unknown"),
    // 4
    ("chat", r#"[{"type": "function", "function": {"name": "f", "parameters": {}}}]"#, "openai"),
    ("responses", r#"{"type": "function", "name": "f", "parameters": {}}"#, "openai"),
    ("in tools", r#"{"tools": [{"type": "function"}]}"#, "openai"),
    ("another type", r#"{"type": "web_search", "name": "f"}"#, "unknown"),
    ("root functions", r#"{"functions": []}"#, "openai"),
    ("functions in a list", r#"[{"functions": []}]"#, "unknown"),
    // 5
    ("input_schema", r#"{"name": "f", "input_schema": {}}"#, "anthropic"),
    (
        "input_schema in a list",
        r#"[{"name": "a"}, {"name": "f", "input_schema": {}}]"#,
        "anthropic",
    ),
    ("input_schema inside another", r#"{"name": "f", "x": {"input_schema": {}}}"#, "unknown"),
    // 6
    ("capabilities", r#"{"name": "f", "capabilities": []}"#, "btcp"),
    ("examples", r#"{"name": "f", "examples": []}"#, "btcp"),
    ("no examples", r#"{"name": "f", "inputSchema": {}, "examples": []}"#, "mcp"),
    ("no examples in a list", r#"[{"name": "f", "inputSchema": {}, "examples": []}]"#, "mcp"),
    ("an example", r#"{"name": "f", "inputSchema": {}, "examples": [{"input": {}}]}"#, "btcp"),
    ("params for input", r#"{"name": "f", "examples": [{"params": {}}]}"#, "btcp"),
    ("one example of several", r#"{"name": "f", "examples": [1, {"output": 1}]}"#, "btcp"),
    ("calls", r#"[{"name": "f", "inputSchema": {}, "examples": [{"value": {}}]}]"#, "mcp"),
    ("sentences", r#"{"name": "f", "inputSchema": {}, "examples": ["f()"]}"#, "mcp"),
    ("named calls", r#"{"name": "f", "inputSchema": {}, "examples": {"input": {}}}"#, "mcp"),
    ("examples and a timeout", r#"{"name": "f", "examples": ["f()"], "timeout": 1}"#, "btcp"),
    ("deprecated", r#"{"name": "f", "deprecated": false}"#, "btcp"),
    ("deprecationMessage", r#"{"name": "f", "deprecationMessage": "x"}"#, "btcp"),
    ("timeout", r#"{"name": "f", "timeout": 1}"#, "btcp"),
    ("in a list", r#"[{"name": "f", "timeout": 1}]"#, "btcp"),
    ("in tools", r#"{"tools": [{"name": "f", "timeout": 1}]}"#, "btcp"),
    ("in an answer", r#"{"id": 1, "result": {"tools": [{"name": "f", "timeout": 1}]}}"#, "btcp"),
    ("beside a title", r#"{"name": "f", "title": "F", "timeout": 1}"#, "unknown"),
    (
        "a field of MCP in another tool",
        r#"[{"name": "f", "examples": [], "inputSchema": {}}, {"name": "g", "annotations": {}}]"#,
        "mcp",
    ),
    ("with _meta", r#"{"name": "f", "inputSchema": {}, "deprecated": true, "_meta": {}}"#, "mcp"),
    ("capabilities all the same", r#"{"name": "f", "icons": [], "capabilities": []}"#, "btcp"),
    ("no name", r#"{"capabilities": []}"#, "unknown"),
    ("an id", r#"{"id": "x", "name": "f", "capabilities": []}"#, "unknown"),
    ("name and description alone", r#"{"name": "f", "description": "d"}"#, "unknown"),
    // 7
    ("inputSchema", r#"{"name": "f", "inputSchema": {}}"#, "mcp"),
    ("inputSchema, null", r#"{"inputSchema": null}"#, "mcp"),
    ("in a list", r#"[{"name": "f", "inputSchema": {}}]"#, "mcp"),
    ("in tools", r#"{"tools": [{"inputSchema": {}}]}"#, "mcp"),
    (
        "in an answer",
        r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"inputSchema": {}}]}}"#,
        "mcp",
    ),
    (
        "one element decides for all",
        r#"[1, {"name": "a"}, {"name": "b", "inputSchema": {}}]"#,
        "mcp",
    ),
    ("another spelling", r#"{"name": "f", "inputschema": {}}"#, "unknown"),
    // 8
    ("upper-case types", r#"{"name": "f", "parameters": {"type": "OBJECT"}}"#, "gemini"),
    (
        "upper-case below",
        r#"{"name": "f", "parameters": {"properties": {"a": {"type": "STRING"}}}}"#,
        "gemini",
    ),
    ("parametersJsonSchema", r#"{"name": "f", "parametersJsonSchema": {}}"#, "gemini"),
    ("response", r#"{"name": "f", "parameters": {}, "response": {}}"#, "gemini"),
    (
        "one object",
        r#"{"name": "f", "description": "d", "parameters": {"type": "object"}}"#,
        "ikigai",
    ),
    ("no name", r#"{"parameters": {}}"#, "ikigai"),
    ("in YAML", "name: f\nparameters: {type: object}\n", "ikigai"),
    ("a list", r#"[{"name": "f", "parameters": {}}]"#, "AMBIGUOUS_FORMAT"),
    ("in tools", r#"{"tools": [{"name": "f", "parameters": {}}]}"#, "AMBIGUOUS_FORMAT"),
    ("a list in upper case", r#"[{"name": "f", "parameters": {"type": "OBJECT"}}]"#, "gemini"),
    ("parameters below", r#"{"name": "f", "x": {"parameters": {}}}"#, "unknown"),
    // 9
    ("an AIOS type", "id: x\ntype: cli\n", "aios"),
    ("an AIOS section", "id: x\nanti_patterns: []\n", "aios"),
    ("the section of a type", "id: x\nmeta_specific: {}\n", "aios"),
    ("a type of something else", "id: x\ntype: object\n", "unknown"),
    ("no id", "type: cli\nname: x\n", "unknown"),
    (
        "parameters of its commands are prose",
        "id: x\ntype: mcp\ntools:\n  - {id: a, parameters: [{q: text}]}\n",
        "aios",
    ),
    ("in a list", "- id: x\n  type: cli\n", "unknown"),
    // 10
    ("mcpServers", r#"{"mcpServers": {"a": {"command": "x"}}}"#, "servers"),
    ("servers", r#"{"servers": {}}"#, "servers"),
    ("servers in a list", r#"[{"servers": {}}]"#, "unknown"),
    // 11
    ("nothing", "", "unknown"),
    ("an empty object", "{}", "unknown"),
    ("an empty list", "[]", "mcp"),
    ("an empty list of tools", r#"{"tools": []}"#, "mcp"),
    ("an empty answer", r#"{"id": 1, "result": {"tools": []}}"#, "mcp"),
    ("a list of no objects", "[1]", "unknown"),
    ("no tools but servers", r#"{"tools": [], "servers": {}}"#, "servers"),
    ("a scalar", "just words", "unknown"),
    ("a schema", r#"{"$schema": "x", "type": "object", "properties": {"btcp": {}}}"#, "unknown"),
];

const PRECEDENCE: &[(&str, &str, &str)] = &[
    ("1 before 2", r#"{"tool": {}, "btcp": "1.0"}"#, "btcp"),
    ("1 before 7", r#"{"btcp": "1.0", "tools": [{"inputSchema": {}}]}"#, "btcp"),
    ("1 before 5", r#"{"btcp": "1.0", "tools": [{"input_schema": {}}]}"#, "btcp"),
    ("2 before 3", r#"{"tool": {}, "functionDeclarations": []}"#, "aios"),
    ("2 before 10", "tool: {}\nservers: []\n", "aios"),
    ("3 before 4", r#"{"tools": [{"type": "function"}, {"functionDeclarations": []}]}"#, "gemini"),
    ("4 before 5", r#"[{"input_schema": {}}, {"type": "function"}]"#, "openai"),
    ("4 before 6", r#"{"type": "function", "name": "f", "timeout": 1}"#, "openai"),
    ("5 before 6", r#"{"name": "f", "capabilities": [], "input_schema": {}}"#, "anthropic"),
    ("5 before 7", r#"[{"name": "f", "inputSchema": {}}, {"input_schema": {}}]"#, "anthropic"),
    ("6 before 7", r#"{"name": "f", "inputSchema": {}, "examples": [{"input": {}}]}"#, "btcp"),
    (
        "6 before 7, by one of many",
        r#"[{"name": "a", "inputSchema": {}}, {"name": "f", "timeout": 1}]"#,
        "btcp",
    ),
    ("6 before 8", r#"{"name": "f", "parameters": {}, "deprecated": true}"#, "btcp"),
    ("7 before 8", r#"{"name": "f", "inputSchema": {}, "parameters": {"type": "OBJECT"}}"#, "mcp"),
    ("7 before 9", "id: x\ntype: mcp\ntools:\n  - {id: a, inputSchema: {}}\n", "mcp"),
    ("8 before 10", r#"{"parameters": {}, "servers": {}}"#, "ikigai"),
    ("9 before 10", "id: x\ntype: mcp\nservers: []\n", "aios"),
];

#[test]
fn every_rule_hits_and_misses() {
    for (what, text, expected) in RULES {
        assert_eq!(found(text), *expected, "{what}: {text}");
    }
}

#[test]
fn the_first_rule_that_hits_wins() {
    for (what, text, expected) in PRECEDENCE {
        assert_eq!(found(text), *expected, "{what}: {text}");
    }
}

#[test]
fn keys_that_an_alias_or_a_merge_key_brings_in_count() {
    for (text, expected) in [
        ("x: &t {id: y}\ntool: *t\n", "aios"),
        ("x: &t {name: f, inputSchema: {}}\ntools: [*t]\n", "mcp"),
        ("<<: {btcp: '1.0'}\nname: m\n", "btcp"),
        ("- <<: {inputSchema: {}}\n  name: f\n", "mcp"),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn an_unknown_document_lists_the_keys_that_were_looked_for() {
    let document = crate::support::parse("x.json", "{}");
    let toolwright_formats::DetectionResult::Unreadable(finding) =
        toolwright_formats::detect(&document)
    else {
        panic!("an empty object is not a definition");
    };
    assert_eq!(finding.at.as_str(), "");
    assert!(finding.help.iter().any(|help| help.contains(RECOGNISED_KEYS)), "{:?}", finding.help);
    assert!(finding.help.iter().any(|help| help.contains("--format")), "{:?}", finding.help);
    for word in
        ["btcp", "tool", "functionDeclarations", "input_schema", "inputSchema", "parameters", "id"]
    {
        assert!(RECOGNISED_KEYS.contains(&format!("`{word}`")), "{word}");
    }
}

/// Each folder of the project's examples contains documents of the format it is named after, and
/// nothing is wrong with them.
#[test]
fn examples_are_of_their_format_and_clean() {
    let mut seen = std::collections::BTreeSet::new();
    for path in definitions(&examples()) {
        let folder =
            path.parent().and_then(|p| p.file_name()).and_then(|n| n.to_str()).expect("a folder");
        if !FORMATS.iter().any(|format| format.id().0 == folder) {
            continue;
        }
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
        let text = std::fs::read_to_string(&path).expect("the example is there");
        // WebMCP has the keys of MCP.
        let detected_as = if folder == "webmcp" { "mcp" } else { folder };
        assert_eq!(detected(name, &text), Ok(detected_as), "{name}");
        let reading = read_as(folder, name, text);
        assert_eq!(findings(&reading), [""; 0], "{name}");
        assert!(!reading.toolset.tools.is_empty(), "{name}");
        for draft in reading.toolset.tools {
            assert_eq!(draft.finish().err(), None, "{name}");
        }
        seen.insert(folder.to_owned());
    }
    assert_eq!(seen.len(), FORMATS.len(), "every format has an example: {seen:?}");
}

#[test]
fn broken_texts_with_keys_of_definitions_are_recognised() {
    for (text, meant) in [
        ("name: x\ndescription: a: b\ninputSchema: {}\n", true),
        ("{\"name\": \"x\", \"inputSchema\" : {", true),
        ("{'btcp':'1.0',", true),
        ("tool:\n  id: [a\n", true),
        ("id: a\nmeta_specific:\n\tb: c\n", true),
        // A word in a text is not a key, and neither is a part of a key.
        ("note: the inputSchema is: a: b\n", false),
        ("my_inputSchema: a: b\n", false),
        ("tools: [a\n", false),
        ("{{ template }}: a: b\n", false),
    ] {
        assert_eq!(toolwright_formats::looks_like_definition(text), meant, "{text}");
    }
}
