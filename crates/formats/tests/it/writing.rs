//! Writing: what is read back from a written document is what was written, up to what the target
//! has no place for; and the same format gives the same record, unknown fields included.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolwright_formats::{
    DetectionResult, Reading, WriteTarget, WrittenDocument, detect, read, write,
};
use toolwright_model::{Draft, Tool, Toolset};
use toolwright_schema::VendorTarget;
use toolwright_source::{Document, Severity};

use crate::support::{card, definitions, examples, findings, own_corpus, parse, read_as, shared};

fn finished(reading: &Reading) -> Option<Toolset<Tool>> {
    reading.toolset.clone().finish().ok()
}

fn target(id: &str) -> WriteTarget {
    WriteTarget::by_id(id).unwrap_or_else(|| panic!("no target `{id}`"))
}

/// The written document, read by the target's own reader.
fn read_back(target: WriteTarget, written: &WrittenDocument) -> Reading {
    let document = Arc::new(Document::parse("written", written.text(), written.syntax));
    assert!(document.problems().is_empty(), "{}", written.text());
    let reading = read(&document, target.format());
    let errors: Vec<_> =
        reading.findings.iter().filter(|f| f.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{}\n{errors:#?}", written.text());
    reading
}

fn written(id: &str, format: &str, text: &str) -> Json {
    let name = if text.starts_with(['{', '[']) { "x.json" } else { "x.yaml" };
    let reading = read_as(format, name, text);
    let toolset = finished(&reading).expect("a good document");
    write(target(id), toolset).unwrap_or_else(|missing| panic!("{missing:?}")).value
}

#[test]
fn ids_of_targets_are_distinct() {
    let ids: std::collections::BTreeSet<&str> = WriteTarget::all().map(WriteTarget::id).collect();
    assert_eq!(ids.len(), WriteTarget::all().count());
    assert_eq!(ids.len(), 7 + VendorTarget::ALL.len());
    assert!(WriteTarget::all().all(|target| !target.about().is_empty()));
}

/// One tool in every shape.
#[test]
fn every_target_has_its_shape() {
    let text = r#"{"tools": [{"name": "now", "title": "Clock", "description": "Returns the time", "namespace": "t",
        "version": "v1.0.0", "tags": ["Time"], "inputSchema": {"type": "object", "properties": {"z": {"type": ["string", "null"]}}},
        "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}, "x-y": 1}]}"#;
    let schema = json!({"type": "object", "properties": {"z": {"type": ["string", "null"]}}});
    let out = json!({"type": "object"});
    let function = json!({"name": "now", "description": "Returns the time", "parameters": schema});
    let mut strict = function.clone();
    strict["strict"] = json!(true);
    let responses = |strict: bool| {
        json!([{
            "type": "function", "name": "now", "description": "Returns the time",
            "parameters": schema, "strict": strict, "output_schema": out
        }])
    };
    let plain = json!({
        "name": "now", "title": "Clock", "description": "Returns the time", "inputSchema": schema,
        "outputSchema": out, "annotations": {"readOnlyHint": true}
    });
    let mut plain_with_rest = plain.clone();
    plain_with_rest["x-y"] = json!(1);
    let mut full = plain_with_rest.clone();
    for (name, value) in
        [("namespace", json!("t")), ("version", json!("v1.0.0")), ("tags", json!(["Time"]))]
    {
        full[name] = value;
    }
    let chat = json!([{"type": "function", "function": function}]);
    for (id, expected) in [
        ("mcp", json!({"tools": [full]})),
        ("mcp-plain", json!({"tools": [plain_with_rest]})),
        ("webmcp", json!({"tools": [plain]})),
        ("openai", chat.clone()),
        ("mistral", chat.clone()),
        ("cohere", chat.clone()),
        ("ollama", chat),
        ("openai-strict", json!([{"type": "function", "function": strict}])),
        ("openai-responses", responses(false)),
        ("openai-responses-strict", responses(true)),
        (
            "anthropic",
            json!([{"name": "now", "description": "Returns the time", "input_schema": schema}]),
        ),
        (
            "anthropic-strict",
            json!([{"name": "now", "description": "Returns the time", "input_schema": schema, "strict": true}]),
        ),
        (
            "gemini",
            json!([{"functionDeclarations": [{
                "name": "now", "description": "Returns the time", "parametersJsonSchema": schema,
                "responseJsonSchema": out
            }]}]),
        ),
        (
            "gemini-openapi",
            json!([{"functionDeclarations": [{
                "name": "now", "description": "Returns the time",
                "parameters": {"type": "OBJECT", "properties": {"z": {"type": "STRING", "nullable": true}}},
                "response": {"type": "OBJECT"}
            }]}]),
        ),
        (
            "bedrock",
            json!([{"toolSpec": {
                "name": "now", "description": "Returns the time", "inputSchema": {"json": schema}
            }}]),
        ),
        ("ikigai", json!({"name": "now", "description": "Returns the time", "parameters": schema})),
        (
            "btcp-tool",
            json!({
                "name": "now", "description": "Returns the time", "inputSchema": schema,
                "outputSchema": out, "capabilities": [], "tags": ["Time"]
            }),
        ),
    ] {
        assert_eq!(written(id, "mcp", text), expected, "{id}");
    }
}

#[test]
fn required_fields_of_the_target_are_reported_as_missing() {
    let fields = |id: &str, format: &str, text: &str| -> Vec<String> {
        let toolset = finished(&read_as(format, "x.yaml", text)).expect("a good document");
        let missing = write(target(id), toolset).err().unwrap_or_default();
        missing.into_iter().map(|missing| missing.field).collect()
    };
    let bare = r#"{"name": "f", "inputSchema": {"type": "object"}}"#;
    assert_eq!(fields("btcp", "mcp", bare), ["namespace", "f.description"]);
    assert_eq!(fields("aios", "mcp", bare), ["namespace", "description"]);
    assert_eq!(fields("ikigai", "mcp", bare), ["f.description"]);
    assert_eq!(fields("webmcp", "mcp", bare), ["f.description"]);
    assert_eq!(fields("openai", "mcp", bare), [""; 0]);
    let deferred =
        "tool: {id: x, type: mcp, name: X, version: 1.0.0, description: d, commands: [a]}";
    assert_eq!(fields("mcp", "aios", deferred), ["a.inputSchema"]);
    assert_eq!(fields("anthropic", "aios", deferred), ["a.inputSchema"]);
    assert_eq!(fields("aios", "aios", deferred), [""; 0]);
}

#[test]
fn neutral_values_are_filled_in_and_long_texts_cut() {
    let text = format!(
        r#"{{"name": "f", "namespace": "My_App", "description": "{}", "inputSchema": {{"type": "object"}}}}"#,
        "é".repeat(1_100)
    );
    let mut toolset = finished(&read_as("mcp", "x.json", text.as_str())).expect("a good document");
    toolset.namespace = toolset.tools[0]
        .namespace
        .take()
        .map_or(toolset.namespace, toolwright_model::FieldValue::Valid);
    let manifest = write(target("btcp"), toolset).expect("all is there").value;
    assert_eq!(manifest["name"], json!("my-app"));
    assert_eq!(manifest["version"], json!("0.1.0"));
    assert_eq!(manifest["capabilities"], json!([]));
    assert_eq!(manifest["tools"][0]["description"], json!("é".repeat(1_000)));
}

/// The parts of a card that a document of the same format gives back.
fn comparable(reading: &Reading) -> Json {
    let mut card = card(reading);
    // The section that a dialect follows from may be written in another way.
    card["dialect"] = Json::Null;
    card
}

/// Every definition at hand that is good enough to be finished.
fn good_documents(test: &str) -> Vec<(String, Reading)> {
    let mut paths = definitions(&examples());
    paths.extend(definitions(&own_corpus()));
    if let Some(shared) = shared(test) {
        paths.extend(definitions(&shared.join("corpus")));
        paths.extend(definitions(&shared.join("oracle/samples")));
    }
    let mut all = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        // Samples that a vendor's library refuses.
        if name.contains(".bad") {
            continue;
        }
        let document = parse(&name, std::fs::read(&path).expect("a file"));
        let DetectionResult::Format(format) = detect(&document) else { continue };
        let reading = read(&document, format);
        let is_good = reading.findings.iter().all(|finding| finding.severity != Severity::Error)
            && document.problems().is_empty()
            && finished(&reading).is_some();
        if is_good {
            all.push((name, reading));
        }
    }
    all
}

/// The target that writes what the format reads, for a document of that form.
fn own_target(reading: &Reading) -> Option<WriteTarget> {
    let strict = |draft: &Draft| {
        draft.details.rest.iter().any(|(_, fields)| {
            fields.iter().any(|(pointer, value)| pointer.ends_with("/strict") && *value == true)
        })
    };
    let is_strict = reading.toolset.tools.first().is_some_and(strict);
    let id = match (reading.format.0, reading.dialect.as_deref()) {
        ("btcp", Some(_)) => "btcp",
        ("btcp", None) => "btcp-tool",
        ("openai", Some("chat")) if is_strict => "openai-strict",
        ("openai", Some("chat")) => "openai",
        ("openai", Some("responses")) if is_strict => "openai-responses-strict",
        ("openai", Some("responses")) => "openai-responses",
        ("anthropic", _) if is_strict => "anthropic-strict",
        ("bedrock", _) if is_strict => return None,
        (format, _) => format,
    };
    WriteTarget::by_id(id)
}

#[test]
fn the_same_format_gives_the_same_record() {
    let mut formats = std::collections::BTreeMap::new();
    for (name, reading) in good_documents("writing::the_same_format_gives_the_same_record") {
        let Some(target) = own_target(&reading) else { continue };
        let toolset = finished(&reading).expect("it is good");
        // A document of no tools is a list of MCP, and names are chosen by the caller.
        let is_empty = toolset.tools.is_empty() && reading.format.0 != "aios";
        let is_named = toolset.tools.iter().any(|tool| tool.namespace.is_some());
        if is_empty || is_named && !target.holds_namespace() {
            continue;
        }
        let written =
            write(target, toolset).unwrap_or_else(|missing| panic!("{name}: {missing:?}"));
        let back = read_back(target, &written);
        assert_eq!(comparable(&back), comparable(&reading), "{name}:\n{}", written.text());
        *formats.entry(reading.format.0).or_insert(0) += 1;
    }
    for format in ["btcp", "aios", "ikigai", "mcp", "openai", "anthropic", "gemini", "bedrock"] {
        assert!(formats.contains_key(format), "{formats:?}");
    }
}

/// Whatever is written for any target can be read by that target's reader, without an error.
#[test]
fn every_pair_is_written_and_read() {
    let mut pairs = 0;
    for (name, reading) in good_documents("writing::every_pair_is_written_and_read") {
        let toolset = finished(&reading).expect("it is good");
        for target in WriteTarget::all() {
            // Names are chosen by the caller.
            let shape = target.names();
            let fits = |tool: &Tool| {
                tool.name.as_str().chars().all(|c| shape.allows(c))
                    && tool.name.as_str().starts_with(|c| shape.may_start_with(c))
                    && tool.name.as_str().len() <= shape.max
            };
            if toolset.tools.is_empty() || !toolset.tools.iter().all(fits) {
                continue;
            }
            let Ok(written) = write(target, toolset.clone()) else { continue };
            let back = read_back(target, &written);
            assert_eq!(
                back.toolset.tools.len(),
                toolset.tools.len(),
                "{name} as {}:\n{}",
                target.id(),
                written.text()
            );
            pairs += 1;
        }
    }
    assert!(pairs > 200, "{pairs}");
}

#[test]
fn fields_of_the_same_format_are_written_back() {
    for (id, format, text) in [
        (
            "mcp",
            "mcp",
            r#"{"tools": [{"name": "a", "inputSchema": {}, "execution": {"taskSupport": "optional"}, "y": {"z": null}}], "nextCursor": "c"}"#,
        ),
        (
            "openai",
            "openai",
            r#"{"model": "m", "tools": [{"type": "web_search"}, {"type": "function", "function": {"name": "f", "parameters": {}, "x": 1}}]}"#,
        ),
        (
            "anthropic",
            "anthropic",
            r#"[{"type": "bash_20250124", "name": "bash"}, {"name": "f", "input_schema": {}, "cache_control": {"type": "ephemeral"}}]"#,
        ),
        (
            "bedrock",
            "bedrock",
            r#"[{"toolSpec": {"name": "f", "inputSchema": {"json": {}}, "x": 1}}, {"cachePoint": {"type": "default"}}]"#,
        ),
        (
            "gemini",
            "gemini",
            r#"[{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {}, "behavior": "BLOCKING"}], "codeExecution": {}}, {"googleSearch": {}}]"#,
        ),
        (
            "gemini-openapi",
            "gemini",
            r#"[{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "nullable": true, "enum": ["1"], "format": "enum"}}}}]}]"#,
        ),
        ("ikigai", "ikigai", r#"{"name": "f", "description": "d", "parameters": {}, "x": 1}"#),
        (
            "btcp",
            "btcp",
            r#"{"btcp": "1.0", "name": "m", "version": "1.0.0", "capabilities": [], "x": 1, "config": {"transport": "t"}, "provider": {"name": "p", "logo": [1]}, "tools": [{"name": "t", "description": "does a thing", "inputSchema": {}, "capabilities": [], "y": {"z": null}, "examples": [{"input": {}, "w": 1}]}]}"#,
        ),
    ] {
        let source: Json = serde_json::from_str(text).expect("JSON");
        assert_eq!(written(id, format, text), source, "{id}");
    }
    assert!(findings(&read_as("mcp", "x.json", r#"{"tools": []}"#)).is_empty());
}
