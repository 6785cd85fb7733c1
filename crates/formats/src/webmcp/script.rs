//! The tools of a page as the script that registers them, for a page that is written in HTML.
//!
//! A definition is not code, and it may come from somewhere else. So every text is written such
//! that it stays a text wherever the script is put, also between `<script>` tags: `<` is escaped,
//! and so are the two line separators that JSON has and older JavaScript has not.
//!
//! ```text
//! const actions = { async "now"(input) { throw … } }     what a person fills in
//! const tools = [{"name": "now", …}]                     the definitions, as literals
//! for (const tool of tools) context.registerTool({ ...tool, execute: actions[tool.name] })
//! ```

use std::fmt::Write;

use serde_json::Value as Json;
use toolwright_model::Object;

/// The script for a WebMCP document: a tool, a list, or `{"tools": […]}`. What the tools do is left
/// open; each has a function to fill in.
///
/// ```
/// use serde_json::json;
/// use toolwright_formats::webmcp_script;
///
/// let script = webmcp_script(&json!({"tools": [
///     {"name": "now", "description": "</script>", "inputSchema": {"type": "object"}}
/// ]}));
/// assert!(script.contains(r#""description": "\u003c/script>""#));
/// ```
pub fn webmcp_script(document: &Json) -> String {
    let tools: Vec<&Json> = match document {
        Json::Array(items) => items.iter().collect(),
        Json::Object(members) => match members.get("tools") {
            Some(Json::Array(items)) => items.iter().collect(),
            _ => vec![document],
        },
        _ => Vec::new(),
    };
    let tools: Vec<&Object> = tools.into_iter().filter_map(Json::as_object).collect();
    let mut text = String::from(HEAD);
    for tool in &tools {
        let name = tool.get("name").cloned().unwrap_or_default();
        text.push_str("    async ");
        write_value(&mut text, &name, 0);
        text.push_str("(input) {\n      throw new Error(\"this tool has no code yet\");\n    },\n");
    }
    text.push_str(MIDDLE);
    for tool in &tools {
        text.push_str("    ");
        write_value(&mut text, &without_nulls(tool), 4);
        text.push_str(",\n");
    }
    text.push_str(TAIL);
    text
}

/// Before the functions of the tools.
const HEAD: &str = r#"// Registers the tools of this page with WebMCP.
// `toolwright convert --to webmcp --script` wrote it; fill in what each tool does.
(() => {
  "use strict";
  const actions = {
"#;

/// Between the functions and the definitions.
const MIDDLE: &str = r#"  };
  const tools = [
"#;

/// After the definitions: the registration, in browsers that have it.
const TAIL: &str = r#"  ];
  // Browsers had it on `navigator` first.
  const context = document.modelContext ?? navigator.modelContext;
  if (!context) return;
  for (const tool of tools) {
    context.registerTool({ ...tool, execute: actions[tool.name] });
  }
})();
"#;

/// A tool without the fields that are there in name only: a browser would take `null` for a schema.
fn without_nulls(tool: &Object) -> Json {
    let there = tool.iter().filter(|(_, value)| !value.is_null());
    Json::Object(there.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Writes a value as a JavaScript literal. `indent` is that of the line it starts on.
///
/// JSON is nearly JavaScript; `__proto__` as a key and two line separators are what differs.
fn write_value(out: &mut String, value: &Json, indent: usize) {
    let line = |out: &mut String, indent: usize| {
        let _ = write!(out, "\n{:indent$}", "");
    };
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                line(out, indent + 2);
                write_value(out, item, indent + 2);
            }
            line(out, indent);
            out.push(']');
        }
        Json::Object(members) if !members.is_empty() => {
            out.push('{');
            for (n, (name, member)) in members.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                line(out, indent + 2);
                // Written plainly, this key would set the prototype.
                match name.as_str() {
                    "__proto__" => out.push_str("[\"__proto__\"]"),
                    name => write_text(out, name),
                }
                out.push_str(": ");
                write_value(out, member, indent + 2);
            }
            line(out, indent);
            out.push('}');
        }
        Json::String(text) => write_text(out, text),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

/// Writes a string literal that means the same in JavaScript and between HTML tags.
fn write_text(out: &mut String, text: &str) {
    let json = Json::String(text.to_owned()).to_string();
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
}
