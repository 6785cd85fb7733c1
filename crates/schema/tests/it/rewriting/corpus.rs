//! Real tools: the smallest valid call of the source reaches every target and comes back.

use serde_json::{Map, Value, json};
use toolwright_schema::{ChangeAction, Schema, VendorTarget, adapt, restore, rewrite_for};

use super::{compile_for, has_action, leftover, same};

/// A few schemas in the style of published tools.
fn own_tools() -> Vec<(String, Value)> {
    let search = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "What to look for", "minLength": 1 },
            "page": { "type": "integer", "minimum": 1, "default": 1 },
            "order": { "type": "string", "enum": ["asc", "desc"] },
            "labels": { "type": "object", "additionalProperties": { "type": "string" } }
        },
        "required": ["query", "labels"]
    });
    let choice = json!({
        "type": "object",
        "properties": {
            "target": {
                "oneOf": [
                    { "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] },
                    { "type": "string" }
                ]
            },
            "payload": { "description": "Any JSON value" },
            "limit": { "anyOf": [{ "type": "integer" }, { "type": "null" }], "default": null }
        },
        "required": ["target", "payload"]
    });
    let tree = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "definitions": {
            "node": {
                "type": "object",
                "properties": {
                    "name": { "type": "string" },
                    "children": { "type": "array", "items": { "$ref": "#/definitions/node" } }
                },
                "required": ["name"]
            }
        },
        "properties": { "root": { "$ref": "#/definitions/node" } },
        "required": ["root"]
    });
    [("search", search), ("choice", choice), ("tree", tree)]
        .map(|(name, schema)| (name.to_owned(), schema))
        .into()
}

/// The tools of GitHub's MCP server, where a copy is at hand.
fn github_tools() -> Vec<(String, Value)> {
    let Ok(folder) = std::env::var("TOOLWRIGHT_SHARED") else {
        eprintln!("TOOLWRIGHT_SHARED is not set: only our own schemas are rewritten");
        return Vec::new();
    };
    let path = format!("{folder}/corpus/mcp/github-mcp-server.json");
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let tools = document["tools"].as_array().or(document.as_array()).expect("a list of tools");
    let tool = |tool: &Value| {
        (tool["name"].as_str().expect("a name").to_owned(), tool["inputSchema"].clone())
    };
    tools.iter().map(tool).collect()
}

/// The smallest value that the simple schemas of real tools accept.
fn smallest(schema: &Value, root: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return smallest(root.pointer(&reference[1..]).expect("a definition"), root);
    }
    if let Some(listed) = schema["enum"].as_array() {
        return listed[0].clone();
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = schema[keyword].as_array() {
            return smallest(&branches[0], root);
        }
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or("null");
    let count = |name: &str| schema[name].as_u64().unwrap_or(0) as usize;
    match kind {
        "object" => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let names = required.iter().filter_map(Value::as_str);
            let members: Map<String, Value> = names
                .map(|name| (name.to_owned(), smallest(&schema["properties"][name], root)))
                .collect();
            Value::Object(members)
        }
        "array" => (0..count("minItems")).map(|_| smallest(&schema["items"], root)).collect(),
        "string" => json!("a".repeat(count("minLength"))),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(0)),
        "boolean" => json!(false),
        _ => Value::Null,
    }
}

#[test]
fn the_smallest_call_of_real_tools_reaches_every_target_and_comes_back() {
    let mut tools = own_tools();
    tools.extend(github_tools());
    for target in VendorTarget::ALL {
        let (mut unchanged, mut exact, mut lossy) = (0, 0, 0);
        for (name, schema) in &tools {
            let rewritten = rewrite_for(target, schema);
            let place = format!("{} {name}", target.id());
            let left = leftover(target, &rewritten.schema);
            assert!(left.is_empty(), "{place}: {left:?}");
            let losses =
                [ChangeAction::Widened, ChangeAction::Narrowed, ChangeAction::Approximated];
            match (rewritten.changes.is_empty(), has_action(&rewritten, &losses)) {
                (true, _) => unchanged += 1,
                (false, false) => exact += 1,
                (false, true) => lossy += 1,
            }
            let call = smallest(schema, schema);
            let source = Schema::compile(schema).expect("compiles");
            assert!(source.is_valid(&call), "{place}: {call}");
            let adapted = adapt(&rewritten.steps, call.clone()).expect("adapts");
            let compiled = compile_for(target, &rewritten.schema);
            assert!(compiled.is_valid(&adapted), "{place}: {adapted}\n{:#}", rewritten.schema);
            let restored = restore(&rewritten.steps, adapted).expect("restores");
            assert!(same(&restored, &call), "{place}: {restored}");
        }
        eprintln!("{:>24}: {unchanged} unchanged, {exact} exact, {lossy} with losses", target.id());
    }
}
