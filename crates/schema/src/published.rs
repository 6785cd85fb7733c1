//! Published schemas that other schemas refer to. They are part of the program, because nothing is
//! ever fetched: a `$ref` to another address is an error.
//!
//! A schema that refers to one of them is compiled with a copy of it under `$defs`, the way JSON
//! Schema bundles several documents into one. So all limits and analyses cover the copy, too.
//!
//! The files have the keywords of the published schemas that validate, without their prose.
//!
//! ```text
//! {"$ref": "https://btcp.dev/schemas/tool.json"}
//!   ─▶  the same, with "$defs": {"https://btcp.dev/schemas/tool.json": {"$id": …, …}}
//! ```
//!
//! The reference resolves by the `$id` of the copy, so its key does not matter.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::Dialect;

/// Where the BTCP schemas are published. They refer to each other by their file names.
const BTCP: &str = "https://btcp.dev/schemas/";

/// The file names below [`BTCP`], with their schemas.
static SCHEMAS: LazyLock<[(&str, Value); 2]> = LazyLock::new(|| {
    let parse = |text| serde_json::from_str(text).expect("the files of this folder are JSON");
    [
        ("manifest.json", parse(include_str!("published/btcp-manifest.json"))),
        ("tool.json", parse(include_str!("published/btcp-tool.json"))),
    ]
});

/// The schema with a copy of every published schema that it refers to and does not contain.
///
/// A document that has a schema with the same `$id` keeps its own.
pub(crate) fn embed(schema: Cow<'_, Value>, dialect: Dialect) -> Cow<'_, Value> {
    let mut uris = SchemaUris::default();
    uris.collect(&schema);
    if !uris.mentions_btcp {
        return schema;
    }
    // A copy may refer to others in turn. The order of the table is such that one pass finds them.
    let mut copies = Map::new();
    for (file, published) in &*SCHEMAS {
        let uri = format!("{BTCP}{file}");
        if uris.references.iter().any(|used| used == file || *used == uri)
            && !uris.ids.contains(&uri)
        {
            uris.collect(published);
            copies.insert(uri, published.clone());
        }
    }
    if copies.is_empty() {
        return schema;
    }
    let mut schema = schema.into_owned();
    let keyword = match dialect {
        Dialect::Draft7 => "definitions",
        Dialect::Draft202012 => "$defs",
    };
    if let Value::Object(members) = &mut schema {
        let defs = members.entry(keyword).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(defs) = defs {
            defs.extend(copies);
        }
    }
    Cow::Owned(schema)
}

/// The ids and references of a schema, without fragments.
#[derive(Default)]
struct SchemaUris {
    ids: Vec<String>,
    references: Vec<String>,
    /// Whether one of them is below [`BTCP`]. Otherwise a `tool.json` is another one.
    mentions_btcp: bool,
}

impl SchemaUris {
    /// Looks at every object, whether it is a subschema or not: a copy too many does no harm.
    fn collect(&mut self, schema: &Value) {
        let mut pending = vec![schema];
        while let Some(value) = pending.pop() {
            match value {
                Value::Array(items) => pending.extend(items),
                Value::Object(members) => {
                    for (list, keyword) in [(&mut self.ids, "$id"), (&mut self.references, "$ref")]
                    {
                        if let Some(Value::String(uri)) = members.get(keyword) {
                            self.mentions_btcp |= uri.starts_with(BTCP);
                            list.push(uri.split('#').next().unwrap_or_default().to_owned());
                        }
                    }
                    pending.extend(members.values());
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Schema;

    #[test]
    fn published_schemas_are_found_and_others_stay_external() {
        let manifest = &SCHEMAS[0].1;
        let schema = Schema::compile(manifest).expect("its `tool.json` is bundled");
        let tool = |name: &str| {
            json!({
                "name": name, "description": "Reads the title of a page.",
                "inputSchema": {"type": "object"}, "capabilities": ["dom:read"],
            })
        };
        let valid = |tools: Value| {
            schema.is_valid(&json!({
                "btcp": "1.0", "name": "page", "version": "1.0.0", "tools": tools,
                "capabilities": ["dom:read"],
            }))
        };
        assert!(valid(json!([tool("readTitle")])));
        assert!(!valid(json!([tool("read-title")])));
        assert!(!valid(json!([{"name": "readTitle"}])));
        for (schema, compiles) in [
            (json!({"$ref": "https://btcp.dev/schemas/tool.json"}), true),
            (json!({"$ref": "https://btcp.dev/schemas/manifest.json"}), true),
            (json!({"$ref": "https://btcp.dev/schemas/tool.json#/properties/name"}), true),
            (json!({"items": {"$ref": "https://btcp.dev/schemas/tool.json#/$defs/Example"}}), true),
            (json!({"$ref": "https://btcp.dev/schemas/other.json"}), false),
            (json!({"$ref": "tool.json"}), false),
            (json!({"$id": "https://example.com/x.json", "$ref": "tool.json"}), false),
        ] {
            assert_eq!(Schema::compile(&schema).is_ok(), compiles, "{schema}");
        }
        // Its own `tool.json` counts.
        let own = json!({
            "$id": "https://btcp.dev/schemas/manifest.json",
            "$ref": "tool.json",
            "$defs": {"tool": {"$id": "https://btcp.dev/schemas/tool.json", "type": "string"}},
        });
        assert!(Schema::compile(&own).expect("complete").is_valid(&json!("text")));
    }
}
