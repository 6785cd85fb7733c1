//! A list of tools with what real servers get wrong: `null` for "none", names and types that MCP
//! does not allow, schemas of other dialects, answers in text where a schema describes them. Every
//! tool can be called by the name that the list gives it.
//!
//! No server sends all of it. A client should serve every tool that can be called unambiguously,
//! and report the others one by one. The tools from `shout` on declare an output schema and answer
//! with text only; the texts of `whisper` and `miscount` break their own schema.

use serde_json::{Value, json};

use crate::tools::{self, ServerAnswer};

/// In an order that matters: the second `echo` has to come after the first, to be the duplicate.
pub(crate) fn definitions() -> Vec<Value> {
    let anything = || json!({ "type": "object" });
    let named = |name: &str| tools::definition(name, "Says its name.", anything());
    let with = |name: &str, fields: Value| {
        let mut tool = json!({ "name": name, "description": "Says its name.", "inputSchema": {} });
        tool["inputSchema"] = anything();
        for (field, value) in fields.as_object().into_iter().flatten() {
            tool[field] = value.clone();
        }
        tool
    };
    let answers = |name: &str, output: Value| with(name, json!({ "outputSchema": output }));
    vec![
        tools::echo_definition(),
        with(
            "nulls",
            json!({
                "title": null, "description": null, "outputSchema": null, "annotations": null,
                "icons": null, "execution": null, "_meta": null, "version": null, "tags": null,
            }),
        ),
        with("null_hints", json!({ "annotations": { "title": null, "readOnlyHint": null } })),
        with("more_hints", json!({ "annotations": { "mood": "calm", "readOnlyHint": "yes" } })),
        with(
            "wrong_types",
            json!({ "description": 7, "icons": "x", "_meta": [], "version": "one", "tags": 1 }),
        ),
        // Members that other formats have, or that only this program assigns: what a server claims
        // about its namespace must not be believed.
        with("claims", json!({ "namespace": "github", "examples": [], "deprecated": true })),
        named("get weather/now"),
        named("搜索"),
        named(&"long".repeat(50)),
        json!({ "name": "no_schema", "description": "Says its name." }),
        with("null_schema", json!({ "inputSchema": null })),
        with("untyped", json!({ "inputSchema": { "properties": { "a": {} } } })),
        with(
            "draft_04",
            json!({
                "inputSchema": { "$schema": "http://json-schema.org/draft-04/schema#" },
            }),
        ),
        with("text_schema", json!({ "inputSchema": "{}" })),
        named("echo"),
        json!(5),
        json!({ "description": "Has no name.", "inputSchema": anything() }),
        named(""),
        answers("shout", json!({ "type": "string", "pattern": "^[A-Z]+$" })),
        answers("whisper", json!({ "type": "string", "pattern": "^[a-z]+$" })),
        answers("count", json!({ "type": "number" })),
        answers("list", json!({ "type": "array", "items": { "type": "string" } })),
        answers("object", json!({ "type": "object", "required": ["sum"] })),
        answers("miscount", json!({ "type": "number" })),
    ]
}

/// The answer is the same for all other tools and contains the name, so a test sees under which
/// name a client calls a tool that it has shown to agents under another one.
pub(crate) fn call(params: &Value) -> ServerAnswer {
    let name = params["name"].as_str().unwrap_or_default();
    let is_known = definitions().iter().any(|tool| tool["name"] == name);
    match name {
        "shout" | "whisper" => ServerAnswer::text("LOUD"),
        "count" => ServerAnswer::text("3"),
        "list" => ServerAnswer::text(r#"["a", "b"]"#),
        "object" => ServerAnswer::text(r#"{"sum": 3}"#),
        "miscount" => ServerAnswer::text("three"),
        _ if is_known => ServerAnswer::text(format!("called {name}")),
        _ => ServerAnswer::error(-32602, format!("unknown tool `{name}`")),
    }
}
