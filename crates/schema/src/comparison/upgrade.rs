//! A draft-07 schema as 2020-12, with the same meaning, so that schemas of both can be compared.
//!
//! | draft-07 | 2020-12 |
//! |---|---|
//! | `items` as a list, `additionalItems` | `prefixItems`, `items` |
//! | `dependencies` | `dependentRequired`, `dependentSchemas` |
//! | keywords beside `$ref` | dropped: draft-07 ignores them |
//! | keywords that draft-07 does not have | dropped: it ignores them |
//!
//! Not rewritten: resources inside the document (`$id`), whose references would have to follow.

use serde_json::{Map, Value};

/// The schema in 2020-12; `None` where it has an `$id` below the root.
pub(super) fn from_draft7(schema: &Value) -> Option<Value> {
    let mut upgraded = upgrade(schema, Level::Root)?;
    if let Value::Object(members) = &mut upgraded {
        members.shift_remove("$schema");
        members.shift_remove("$id");
    }
    Some(upgraded)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Below,
}

fn upgrade(schema: &Value, level: Level) -> Option<Value> {
    let Value::Object(members) = schema else { return Some(schema.clone()) };
    if level == Level::Below && (members.contains_key("$id") || members.contains_key("$schema")) {
        return None;
    }
    let mut upgraded = Map::new();
    if let Some(reference) = members.get("$ref") {
        upgraded.insert("$ref".to_owned(), reference.clone());
        // A reference may lead to definitions beside another one.
        for keyword in ["definitions", "$defs"] {
            if let Some(definitions) = members.get(keyword) {
                upgraded.insert(keyword.to_owned(), each(definitions)?);
            }
        }
        return Some(Value::Object(upgraded));
    }
    for (keyword, value) in members {
        let (keyword, value) = match keyword.as_str() {
            "properties" | "patternProperties" | "definitions" | "$defs" => {
                (keyword.as_str(), each(value)?)
            }
            "allOf" | "anyOf" | "oneOf" => (keyword.as_str(), list(value)?),
            "not"
            | "if"
            | "then"
            | "else"
            | "additionalProperties"
            | "propertyNames"
            | "contains" => (keyword.as_str(), upgrade(value, Level::Below)?),
            "items" if value.is_array() => ("prefixItems", list(value)?),
            "items" => ("items", upgrade(value, Level::Below)?),
            // Without a list in `items` it has no effect.
            "additionalItems" => match members.get("items") {
                Some(Value::Array(_)) => ("items", upgrade(value, Level::Below)?),
                _ => continue,
            },
            "dependencies" => {
                split_dependencies(value, &mut upgraded)?;
                continue;
            }
            name if is_newer(name) => continue,
            name => (name, value.clone()),
        };
        upgraded.insert(keyword.to_owned(), value);
    }
    Some(Value::Object(upgraded))
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

fn each(value: &Value) -> Option<Value> {
    let Value::Object(named) = value else { return Some(value.clone()) };
    let upgraded =
        named.iter().map(|(name, own)| Some((name.clone(), upgrade(own, Level::Below)?)));
    upgraded.collect::<Option<Map<_, _>>>().map(Value::Object)
}

fn list(value: &Value) -> Option<Value> {
    let Value::Array(branches) = value else { return Some(value.clone()) };
    let upgraded = branches.iter().map(|branch| upgrade(branch, Level::Below));
    upgraded.collect::<Option<Vec<_>>>().map(Value::Array)
}

fn split_dependencies(value: &Value, upgraded: &mut Map<String, Value>) -> Option<()> {
    let (mut required, mut schemas) = (Map::new(), Map::new());
    for (name, dependency) in value.as_object()? {
        match dependency {
            Value::Array(_) => required.insert(name.clone(), dependency.clone()),
            schema => schemas.insert(name.clone(), upgrade(schema, Level::Below)?),
        };
    }
    for (keyword, named) in [("dependentRequired", required), ("dependentSchemas", schemas)] {
        if !named.is_empty() {
            upgraded.insert(keyword.to_owned(), Value::Object(named));
        }
    }
    Some(())
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
            (json!({ "$schema": uri, "definitions": { "t": { "$id": "#t" } } }), None),
        ];
        for (schema, expected) in cases {
            assert_eq!(from_draft7(&schema), expected, "{schema}");
        }
    }
}
