//! A draft-07 schema as 2020-12, with the same meaning, so that schemas of both can be compared.
//!
//! | draft-07 | 2020-12 |
//! |---|---|
//! | `items` as a list, `additionalItems` | `prefixItems`, `items` |
//! | `dependencies` | `dependentRequired`, `dependentSchemas` |
//! | keywords beside `$ref` | dropped, but for annotations: draft-07 ignores them |
//! | keywords that draft-07 does not have | dropped: it ignores them |
//! | `$id: "#name"` | `$anchor: "name"` |
//! | `$ref: "#/items/0"` and the like | what it refers to has moved, so the pointer follows |
//!
//! Not rewritten: resources inside the document (other `$id`s), whose references would have to
//! follow, too.

use serde_json::{Map, Value, json};

use crate::{Dialect, Schema};

/// A draft-07 schema as a 2020-12 schema that accepts the same values. A schema that states no
/// dialect counts as draft-07 if it is valid there and not in 2020-12.
///
/// `None` if the schema is a 2020-12 schema, or has parts that cannot be rewritten one by one.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::in_2020_12;
///
/// let pair = json!({ "type": "array", "items": [{ "type": "string" }, { "type": "number" }] });
/// let upgraded = in_2020_12(&pair).expect("`items` is a list, as draft-07 has it");
/// assert_eq!(upgraded["prefixItems"], pair["items"]);
/// assert_eq!(in_2020_12(&upgraded), None);
/// ```
pub fn in_2020_12(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    let stated = members.contains_key("$schema");
    let mut source = members.clone();
    if !stated {
        if Schema::compile(schema).is_ok() {
            return None;
        }
        source.insert("$schema".to_owned(), json!(Dialect::Draft7.uri()));
    }
    let source = Value::Object(source);
    if !matches!(Dialect::of(&source), Ok(Dialect::Draft7)) || Schema::compile(&source).is_err() {
        return None;
    }
    let mut upgraded = Draft7 { root: &source }.upgrade(&source, SchemaDepth::Root)?;
    let own = upgraded.as_object_mut()?;
    match stated {
        true => own["$schema"] = json!(Dialect::Draft202012.uri()),
        false => drop(own.shift_remove("$schema")),
    }
    Schema::compile(&upgraded).is_ok().then_some(upgraded)
}

/// The schema in 2020-12; `None` where it has an `$id` below the root.
pub(super) fn from_draft7(schema: &Value) -> Option<Value> {
    let mut upgraded = Draft7 { root: schema }.upgrade(schema, SchemaDepth::Root)?;
    if let Value::Object(members) = &mut upgraded {
        members.shift_remove("$schema");
        members.shift_remove("$id");
    }
    Some(upgraded)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaDepth {
    Root,
    Below,
}

/// Keywords that accept every value.
const ANNOTATIONS: [&str; 7] =
    ["$comment", "title", "description", "default", "examples", "readOnly", "writeOnly"];

/// A draft-07 document that is rewritten.
struct Draft7<'a> {
    root: &'a Value,
}

impl Draft7<'_> {
    fn upgrade(&self, schema: &Value, level: SchemaDepth) -> Option<Value> {
        let Value::Object(members) = schema else { return Some(schema.clone()) };
        let anchor = members.get("$id").and_then(Value::as_str).and_then(|id| id.strip_prefix('#'));
        let is_resource = members.contains_key("$schema")
            || members.contains_key("$id") && anchor.is_none_or(str::is_empty);
        if level == SchemaDepth::Below && is_resource {
            return None;
        }
        let mut upgraded = Map::new();
        if let Some(reference) = members.get("$ref") {
            let moved = reference.as_str().and_then(|text| self.moved_reference(text));
            upgraded.insert("$ref".to_owned(), moved.map_or(reference.clone(), Value::String));
            for keyword in ANNOTATIONS.into_iter().chain(["$schema", "$id"]) {
                // Beside a reference, draft-07 does not read the `$id` of an inner schema.
                let is_read = level == SchemaDepth::Root || keyword != "$id";
                if let Some(value) = members.get(keyword).filter(|_| is_read) {
                    upgraded.insert(keyword.to_owned(), value.clone());
                }
            }
            // A reference may lead to definitions beside another one.
            for keyword in ["definitions", "$defs"] {
                if let Some(definitions) = members.get(keyword) {
                    upgraded.insert(keyword.to_owned(), self.each(definitions)?);
                }
            }
            return Some(Value::Object(upgraded));
        }
        for (keyword, value) in members {
            let (keyword, value) = match keyword.as_str() {
                "$id" if level == SchemaDepth::Below => {
                    ("$anchor", Value::from(anchor.unwrap_or_default()))
                }
                "properties" | "patternProperties" | "definitions" | "$defs" => {
                    (keyword.as_str(), self.each(value)?)
                }
                "allOf" | "anyOf" | "oneOf" => (keyword.as_str(), self.list(value)?),
                "not"
                | "if"
                | "then"
                | "else"
                | "additionalProperties"
                | "propertyNames"
                | "contains" => (keyword.as_str(), self.upgrade(value, SchemaDepth::Below)?),
                "items" if value.is_array() => ("prefixItems", self.list(value)?),
                "items" => ("items", self.upgrade(value, SchemaDepth::Below)?),
                // Without a list in `items` it has no effect.
                "additionalItems" => match members.get("items") {
                    Some(Value::Array(_)) => ("items", self.upgrade(value, SchemaDepth::Below)?),
                    _ => continue,
                },
                "dependencies" => {
                    self.split_dependencies(value, &mut upgraded)?;
                    continue;
                }
                name if is_newer(name) => continue,
                name => (name, value.clone()),
            };
            upgraded.insert(keyword.to_owned(), value);
        }
        Some(Value::Object(upgraded))
    }

    fn each(&self, value: &Value) -> Option<Value> {
        let Value::Object(named) = value else { return Some(value.clone()) };
        let upgraded = named
            .iter()
            .map(|(name, own)| Some((name.clone(), self.upgrade(own, SchemaDepth::Below)?)));
        upgraded.collect::<Option<Map<_, _>>>().map(Value::Object)
    }

    fn list(&self, value: &Value) -> Option<Value> {
        let Value::Array(branches) = value else { return Some(value.clone()) };
        let upgraded = branches.iter().map(|branch| self.upgrade(branch, SchemaDepth::Below));
        upgraded.collect::<Option<Vec<_>>>().map(Value::Array)
    }

    fn split_dependencies(&self, value: &Value, upgraded: &mut Map<String, Value>) -> Option<()> {
        let (mut required, mut schemas) = (Map::new(), Map::new());
        for (name, dependency) in value.as_object()? {
            match dependency {
                Value::Array(_) => required.insert(name.clone(), dependency.clone()),
                schema => schemas.insert(name.clone(), self.upgrade(schema, SchemaDepth::Below)?),
            };
        }
        for (keyword, named) in [("dependentRequired", required), ("dependentSchemas", schemas)] {
            if !named.is_empty() {
                upgraded.insert(keyword.to_owned(), Value::Object(named));
            }
        }
        Some(())
    }

    /// The pointer to a subschema that another keyword holds in 2020-12; `None` for a reference
    /// that stays as it is.
    fn moved_reference(&self, reference: &str) -> Option<String> {
        let mut moved = String::from("#");
        let mut schema = self.root;
        let mut tokens = reference.strip_prefix("#/")?.split('/');
        while let Some(token) = tokens.next() {
            let value = schema.get(token)?;
            let has_list = schema.get("items").is_some_and(Value::is_array);
            let keyword = match token {
                "items" if has_list => "prefixItems",
                "additionalItems" if has_list => "items",
                "dependencies" => "dependentSchemas",
                other => other,
            };
            moved.push('/');
            moved.push_str(keyword);
            // Below these keywords comes a name or a number, and then the next schema.
            let is_keyed = value.is_array()
                || matches!(
                    token,
                    "properties" | "patternProperties" | "definitions" | "$defs" | "dependencies"
                );
            schema = value;
            if let (true, Some(key)) = (is_keyed, tokens.next()) {
                moved.push('/');
                moved.push_str(key);
                // An escaped name is found by the library that knows how.
                schema = value.pointer(&format!("/{key}"))?;
            }
        }
        (moved != reference).then_some(moved)
    }
}

/// Keywords of 2020-12 that assert something and that draft-07 does not know.
fn is_newer(keyword: &str) -> bool {
    matches!(
        keyword,
        "prefixItems"
            | "minContains"
            | "maxContains"
            | "dependentRequired"
            | "dependentSchemas"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "$dynamicRef"
            | "$dynamicAnchor"
            | "$recursiveRef"
            | "$anchor"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;
    use serde_json::json;

    #[test]
    fn draft_07_keeps_its_meaning() {
        let uri = Dialect::Draft7.uri();
        let cases = [
            (
                json!({ "$schema": uri, "items": [{ "type": "string" }], "additionalItems": false }),
                Some(json!({ "prefixItems": [{ "type": "string" }], "items": false })),
            ),
            (
                json!({ "$schema": uri, "items": { "type": "string" }, "additionalItems": false }),
                Some(json!({ "items": { "type": "string" } })),
            ),
            (
                json!({ "$schema": uri, "dependencies": { "a": ["b"], "c": { "minimum": 1 } } }),
                Some(json!({
                    "dependentRequired": { "a": ["b"] },
                    "dependentSchemas": { "c": { "minimum": 1 } }
                })),
            ),
            (
                json!({
                    "$schema": uri,
                    "properties": { "a": { "$ref": "#/definitions/t", "maxLength": 3 } },
                    "definitions": { "t": { "type": "string" } }
                }),
                Some(json!({
                    "properties": { "a": { "$ref": "#/definitions/t" } },
                    "definitions": { "t": { "type": "string" } }
                })),
            ),
            (json!({ "$schema": uri, "minContains": 2 }), Some(json!({}))),
            (
                json!({ "$schema": uri, "definitions": { "t": { "$id": "#t" } } }),
                Some(json!({ "definitions": { "t": { "$anchor": "t" } } })),
            ),
            (json!({ "$schema": uri, "definitions": { "t": { "$id": "t.json" } } }), None),
        ];
        for (schema, expected) in cases {
            assert_eq!(from_draft7(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_document_in_2020_12_accepts_the_same_values() {
        let uri = Dialect::Draft7.uri();
        let tuple = json!([{ "type": "string" }, { "type": "number" }]);
        let upgraded = [
            json!({ "$schema": uri, "type": "object", "properties": { "a": { "type": "string" } } }),
            json!({ "$schema": uri, "items": tuple, "additionalItems": { "type": "null" } }),
            json!({ "items": tuple, "additionalItems": false }),
            json!({ "$schema": uri, "type": "object", "dependencies": { "a": ["b"] } }),
            json!({
                "$schema": uri, "$id": "https://example.org/a", "type": "object",
                "properties": { "a": { "$ref": "#/definitions/t", "maxLength": 3, "title": "A" } },
                "definitions": { "t": { "type": "string" } }
            }),
            json!({
                "$schema": uri, "type": "object", "definitions": { "t": { "$id": "#t", "minLength": 2 } },
                "properties": { "a": { "$ref": "#t" } }
            }),
            json!({
                "$schema": uri, "type": "object",
                "properties": {
                    "items": { "items": [{ "type": "integer" }], "additionalItems": { "type": "null" } },
                    "a": { "$ref": "#/properties/items/items/0" },
                    "b": { "$ref": "#/properties/items/additionalItems" },
                    "c": { "$ref": "#/dependencies/x~1y/properties/d" }
                },
                "dependencies": { "x/y": { "properties": { "d": { "type": "boolean" } } } }
            }),
        ];
        for schema in upgraded {
            let upgraded = in_2020_12(&schema).unwrap_or_else(|| panic!("{schema}"));
            assert_eq!(Dialect::of(&upgraded).ok(), Some(Dialect::Draft202012), "{schema}");
            assert_eq!(upgraded.get("$id"), schema.get("$id"));
            if schema.get("$schema").is_some() {
                assert!(crate::compare(&schema, &upgraded).is_equal(), "{schema}: {upgraded}");
            }
            assert_eq!(in_2020_12(&upgraded), None, "{upgraded}");
        }
        let left_alone = [
            json!({ "type": "object" }),
            json!({ "$schema": Dialect::Draft202012.uri() }),
            json!({ "$schema": uri, "properties": { "a": { "$id": "a.json" } } }),
            json!({ "$schema": "http://json-schema.org/draft-04/schema#", "items": [{}] }),
            json!({ "type": "objekt" }),
            json!(true),
        ];
        for schema in left_alone {
            assert_eq!(in_2020_12(&schema), None, "{schema}");
        }
    }
}
