//! Fills in the defaults of a tool's input schema, for callers that ask for it.
//!
//! Validation never changes the arguments: `default` is an annotation, and what a tool does without
//! an argument is its own business. With `call --defaults` or `[call] defaults = true` the caller
//! wants the arguments that the schema describes to be written out.
//!
//! Defaults of `properties` are followed into given objects and lists, through `allOf` and
//! references inside of the schema. Not through `anyOf`, `oneOf` and `if`: which of their branches
//! is meant is not known before the arguments are complete.

use crate::Json;

/// Levels that are followed. A schema can refer to itself.
const MAX_DEPTH: usize = 64;
/// Subschemas that are visited, which bounds the time with hostile schemas.
const MAX_VISITS: usize = 20_000;
/// Bytes of defaults that are filled in.
const MAX_ADDED: usize = 1 << 20;

/// The arguments with defaults; `None` if none is missing.
pub(crate) fn filled(schema: &Json, arguments: &Json) -> Option<Json> {
    let mut value = arguments.clone();
    let mut walk = DefaultsWalk { root: schema, visits: MAX_VISITS, added: 0, is_changed: false };
    walk.fill(schema, &mut value, 0);
    walk.is_changed.then_some(value)
}

/// The budgets are for the whole walk. Used up, the rest of the defaults is not filled in, and the
/// schema check that follows decides whether that matters.
struct DefaultsWalk<'s> {
    root: &'s Json,
    visits: usize,
    added: usize,
    is_changed: bool,
}

impl<'s> DefaultsWalk<'s> {
    /// References are looked up by JSON Pointer in the same schema only.
    fn fill(&mut self, schema: &'s Json, value: &mut Json, depth: usize) {
        if depth > MAX_DEPTH || self.visits == 0 {
            return;
        }
        self.visits -= 1;
        if let Some(target) = schema.get("$ref").and_then(Json::as_str)
            && let Some(target) = target.strip_prefix('#').and_then(|at| self.root.pointer(at))
        {
            self.fill(target, value, depth + 1);
        }
        for part in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            self.fill(part, value, depth + 1);
        }
        match value {
            Json::Object(members) => {
                let properties = schema.get("properties").and_then(Json::as_object);
                for (name, property) in properties.into_iter().flatten() {
                    if !members.contains_key(name)
                        && let Some(default) = property.get("default")
                    {
                        self.added += crate::json_size(default, MAX_ADDED);
                        if self.added > MAX_ADDED {
                            return;
                        }
                        members.insert(name.clone(), default.clone());
                        self.is_changed = true;
                    }
                    if let Some(member) = members.get_mut(name) {
                        self.fill(property, member, depth + 1);
                    }
                }
            }
            Json::Array(items) => {
                if let Some(of) = schema.get("items").filter(|of| of.is_object()) {
                    items.iter_mut().for_each(|item| self.fill(of, item, depth + 1));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn missing_arguments_get_their_defaults() {
        let schema = json!({
            "type": "object",
            "properties": {
                "format": {"default": "csv"},
                "limit": {"type": "integer"},
                "filter": {"properties": {"open": {"default": true}}},
                "list": {"items": {"$ref": "#/$defs/item"}},
                "deep": {"default": {}, "properties": {"x": {"default": 1}}}
            },
            "allOf": [{"properties": {"also": {"default": null}}}],
            "anyOf": [{"properties": {"never": {"default": 1}}}],
            "$defs": {"item": {"properties": {"n": {"default": 0}}}}
        });
        let given = json!({"filter": {}, "list": [{}, {"n": 2}, 3], "format": "tsv"});
        let expected = json!({
            "filter": {"open": true}, "list": [{"n": 0}, {"n": 2}, 3], "format": "tsv",
            "also": null, "deep": {"x": 1}
        });
        assert_eq!(filled(&schema, &given), Some(expected));
        assert_eq!(filled(&json!({"properties": {"a": {"default": 1}}}), &json!({"a": 2})), None);
        // One that contains itself ends.
        let endless = json!({"properties": {"a": {"$ref": "#", "default": {}}}});
        assert!(filled(&endless, &json!({})).is_some());
    }
}
