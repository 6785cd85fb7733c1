//! What one edit certainly does not do, read from the form of the schema alone.
//!
//! Without a keyword a schema accepts more, if the keyword means the same whatever is beside it and
//! if everything on the way to it accepts more where its part does: `properties` does, `not` does
//! the opposite. Most losses of a conversion are of this kind. Their search ends with the first
//! instance, and the other direction needs no proof by the canonical form of two whole schemas.
//!
//! ```text
//! /properties/a/minLength removed          OnlyWidens
//! /properties/a/not/minLength removed      unknown: `not` turns the direction around
//! /properties/a removed                    unknown: `additionalProperties` applies to `a` now
//! additionalProperties: false added        OnlyNarrows
//! ```

use serde_json::{Map, Value};

/// The only direction that an edit can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EditDirection {
    /// It removed a keyword.
    OnlyWidens,
    /// It added a keyword.
    OnlyNarrows,
}

impl EditDirection {
    /// The direction of the edit that made `edited` of `first`, a keyword at the pointer `at` or
    /// below it; `None` if both directions are possible, or the two differ in anything else.
    ///
    /// The edit has to be the only difference. That is checked on the way down, so that the answer
    /// does not rely on what the caller states.
    pub(super) fn of(first: &Value, edited: &Value, at: &str) -> Option<EditDirection> {
        let scope = match (is_monotone(first), is_local(first)) {
            (true, _) => Scope::Everywhere,
            (false, true) => Scope::OwnPlaces,
            (false, false) => return None,
        };
        let tokens: Vec<String> = at
            .split('/')
            .skip(1)
            .map(|token| token.replace("~1", "/").replace("~0", "~"))
            .collect();
        of_node(first, edited, &tokens, scope)
    }
}

/// Where in a schema an edit has one direction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Also in definitions, wherever references to them are.
    Everywhere,
    /// Only in what applies to its own place.
    OwnPlaces,
}

/// Whether every part of a schema accepts more where a part of it does. Then it does not matter
/// which parts refer to which.
///
/// `{"properties": {"a": {"$ref": R}}}` is; one `not` anywhere, and it is not.
fn is_monotone(schema: &Value) -> bool {
    let is_opposite = |name: &str| {
        matches!(
            name,
            "not"
                | "if"
                | "oneOf"
                | "contains"
                | "dependencies"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "$dynamicRef"
        )
    };
    match schema {
        Value::Object(members) => {
            members.iter().all(|(name, value)| !is_opposite(name) && is_monotone(value))
        }
        Value::Array(items) => items.iter().all(is_monotone),
        _ => true,
    }
}

/// Whether no part of a schema applies to anything but its own place, and no keyword depends on
/// what others have seen. References lead to definitions, whose places have no direction here.
///
/// Then a keyword with an opposite direction somewhere else, such as `not`, does not matter for an
/// edit outside of it.
fn is_local(schema: &Value) -> bool {
    let is_plain = |(name, value): (&String, &Value)| match name.as_str() {
        "unevaluatedItems" | "unevaluatedProperties" | "$dynamicRef" => false,
        "$ref" => value.as_str().is_none_or(|reference| {
            reference.starts_with("#/$defs/") || reference.starts_with("#/definitions/")
        }),
        _ => true,
    };
    match schema {
        Value::Object(members) => members.iter().all(is_plain) && members.values().all(is_local),
        Value::Array(items) => items.iter().all(is_local),
        _ => true,
    }
}

/// Follows `at` down both schemas, which must be equal in everything beside the way.
///
/// Only keywords that accept more where their subschema does are followed. At the end of the way,
/// the keyword is in one of the two schemas alone.
///
/// Descends along the pointer. On each level everything beside the way has to be equal, and the
/// keyword has to be one through which the direction is kept.
fn of_node(first: &Value, edited: &Value, at: &[String], scope: Scope) -> Option<EditDirection> {
    let (Value::Object(old), Value::Object(new)) = (first, edited) else { return None };
    let [keyword, rest @ ..] = at else {
        // The keyword is new.
        let added = new.keys().find(|name| !old.contains_key(*name))?;
        let is_one = same_but(new, old, added) && is_independent(added);
        return is_one.then_some(EditDirection::OnlyNarrows);
    };
    if !same_but(old, new, keyword) {
        return None;
    }
    let own = old.get(keyword)?;
    let Some(other) = new.get(keyword) else {
        let is_one = rest.is_empty() && is_independent(keyword);
        return is_one.then_some(EditDirection::OnlyWidens);
    };
    match (keyword.as_str(), own, other, rest) {
        ("$defs" | "definitions", ..) if scope == Scope::OwnPlaces => None,
        (
            "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
            Value::Object(own),
            Value::Object(other),
            [name, rest @ ..],
        ) if same_but(own, other, name) => of_node(own.get(name)?, other.get(name)?, rest, scope),
        (
            "items" | "prefixItems" | "allOf" | "anyOf",
            Value::Array(own),
            Value::Array(other),
            [index, rest @ ..],
        ) if own.len() == other.len() => {
            let index: usize = index.parse().ok()?;
            let is_same = |n: usize| n == index || own[n] == other[n];
            (0..own.len())
                .all(is_same)
                .then(|| of_node(own.get(index)?, other.get(index)?, rest, scope))?
        }
        (
            "items"
            | "additionalItems"
            | "additionalProperties"
            | "propertyNames"
            | "then"
            | "else",
            Value::Object(_),
            Value::Object(_),
            rest,
        ) => of_node(own, other, rest, scope),
        _ => None,
    }
}

/// Whether two objects have the same members, apart from one.
fn same_but(one: &Map<String, Value>, other: &Map<String, Value>, name: &str) -> bool {
    let others = |all: &Map<String, Value>| all.len() - usize::from(all.contains_key(name));
    others(one) == others(other)
        && one.iter().all(|(own, value)| own == name || other.get(own) == Some(value))
}

/// Whether a schema without the keyword accepts all that it accepts with it. Not so for
/// `properties`: without it, `additionalProperties` applies to more names.
fn is_independent(keyword: &str) -> bool {
    matches!(
        keyword,
        "type"
            | "enum"
            | "const"
            | "required"
            | "minimum"
            | "maximum"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "multipleOf"
            | "minLength"
            | "maxLength"
            | "pattern"
            | "minItems"
            | "maxItems"
            | "uniqueItems"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "dependentSchemas"
            | "propertyNames"
            | "additionalProperties"
            | "items"
            | "additionalItems"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_removed_keyword_widens_where_nothing_depends_on_it() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": { "type": "string", "minLength": 2 },
                "b": { "items": { "anyOf": [{ "minimum": 1 }, { "type": "null" }] } },
                "c": { "not": { "minimum": 1 } },
                "d": { "contains": { "minimum": 1 }, "maxContains": 1, "minContains": 0 },
                "e": { "oneOf": [{ "minimum": 1 }] },
                "f": false,
            },
            "additionalProperties": { "maxLength": 3 },
            "$defs": { "x": { "minimum": 1 } }
        });
        let without = |at: &str| {
            let (above, last) = at.rsplit_once('/').expect("a pointer");
            let mut edited = schema.clone();
            let above =
                edited.pointer_mut(above).and_then(Value::as_object_mut).expect("an object");
            above.shift_remove(last);
            EditDirection::of(&schema, &edited, at)
        };
        for at in [
            "/type",
            "/additionalProperties",
            "/properties/a/minLength",
            "/properties/b/items/anyOf/0/minimum",
            "/properties/c/not",
            "/additionalProperties/maxLength",
        ] {
            assert_eq!(without(at), Some(EditDirection::OnlyWidens), "{at}");
        }
        for at in [
            "/properties",
            "/properties/a",
            "/properties/f",
            "/properties/c/not/minimum",
            "/properties/d/contains/minimum",
            "/properties/d/minContains",
            "/properties/e/oneOf/0/minimum",
            "/$defs/x/minimum",
        ] {
            assert_eq!(without(at), None, "{at}");
        }
    }

    #[test]
    fn definitions_have_a_direction_where_nothing_is_negated() {
        let schema = |beside: Value| {
            let mut schema = json!({
                "properties": { "a": { "$ref": "#/$defs/x" }, "b": { "$ref": "#" } },
                "$defs": { "x": { "minimum": 1 } }
            });
            schema
                .as_object_mut()
                .expect("an object")
                .extend(beside.as_object().expect("an object").clone());
            schema
        };
        for (beside, expected) in [
            (json!({}), Some(EditDirection::OnlyWidens)),
            (json!({ "anyOf": [{ "$ref": "#/$defs/x" }] }), Some(EditDirection::OnlyWidens)),
            (json!({ "not": { "$ref": "#/$defs/x" } }), None),
            (json!({ "oneOf": [{ "$ref": "#/$defs/x" }] }), None),
        ] {
            let first = schema(beside);
            let mut edited = first.clone();
            edited["$defs"]["x"] = json!({});
            let found = EditDirection::of(&first, &edited, "/$defs/x/minimum");
            assert_eq!(found, expected, "{first}");
        }
    }

    #[test]
    fn an_added_keyword_narrows() {
        let first = json!({ "properties": { "a": { "properties": { "b": {} } } } });
        let mut edited = first.clone();
        edited["properties"]["a"]["additionalProperties"] = json!(false);
        let at = "/properties/a";
        assert_eq!(EditDirection::of(&first, &edited, at), Some(EditDirection::OnlyNarrows));
        edited["type"] = json!("object");
        assert_eq!(EditDirection::of(&first, &edited, at), None);
    }

    #[test]
    fn references_to_other_places_have_no_direction() {
        for beside in [
            json!({ "not": { "$ref": "#/properties/a" } }),
            json!({ "not": { "$ref": "#" } }),
            json!({ "unevaluatedProperties": false }),
        ] {
            let mut first = beside.clone();
            first["properties"] = json!({ "a": { "minimum": 1 } });
            let mut edited = beside;
            edited["properties"] = json!({ "a": {} });
            assert_eq!(EditDirection::of(&first, &edited, "/properties/a/minimum"), None);
        }
    }
}
