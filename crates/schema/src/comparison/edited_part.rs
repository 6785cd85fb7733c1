//! The part of a schema that one edit is about, cut out of it: whose doing a difference is.
//!
//! ```text
//! properties: { a: { minItems: 2, maxItems: 3 }, b: … }   an edit at /properties/a/maxItems
//!   part    properties: { a: { maxItems: 3 } }            what taking the edit back would refuse
//!   place   properties: { a: false }                      whether a value has anything there
//! ```
//!
//! A value that other edits let in belongs to this one only if the schema with all edits but this
//! one refuses it. Where a schema always applies to the same part of a value, that is the case if
//! `part` refuses it, whatever form calls of the other schema have.
//!
//! A definition applies wherever it is referred to. There the part is the whole schema without any
//! rule but the one of the edit, so that references lead to it as before.

use serde_json::{Map, Value, json};

use super::edit_direction::EditDirection;
use crate::{Schema, pointer};

/// The part of the first schema that an edit is about.
pub(super) struct EditedPart {
    /// The keyword alone, at its place; `None` if the edit added it.
    part: Option<Schema>,
    /// Refuses every value that has anything at the place.
    place: Schema,
    /// Whether a value that is accepted now can be the doing of the edit.
    can_widen: bool,
    /// Whether a value that is refused now can be the doing of the edit.
    can_narrow: bool,
}

impl EditedPart {
    /// `None` if the place does not always apply to the same part of a value. `direction` is the
    /// only one that the edit can have, if that is known.
    pub(super) fn new(
        first: &Value,
        at: &str,
        direction: Option<EditDirection>,
    ) -> Option<EditedPart> {
        let tokens: Vec<String> = at
            .split('/')
            .skip(1)
            .map(|token| token.replace("~1", "/").replace("~0", "~"))
            .collect();
        let cut = cut_out(first, &tokens)?;
        let part = match cut.part {
            Some(part) => Some(Schema::compile(&with_definitions(part, first)).ok()?),
            None => None,
        };
        let place = Schema::compile(&with_definitions(cut.place, first)).ok()?;
        let only_widens = direction == Some(EditDirection::OnlyWidens);
        Some(EditedPart {
            part,
            place,
            can_widen: direction != Some(EditDirection::OnlyNarrows),
            can_narrow: !(only_widens && cut.always_applies),
        })
    }

    /// Whether the edit has a share in it that a value is accepted, or refused, now.
    ///
    /// ```text
    /// accepted now   it has something at the place, and the part refuses it: without the edit it
    ///                would be refused
    /// refused now    it has something at the place, and the edit can narrow
    /// ```
    ///
    /// A value without anything at the place is due to another edit.
    pub(super) fn explains(&self, value: &Value, is_accepted: bool) -> bool {
        let refuses = |schema: &Schema| matches!(schema.try_is_valid(value), Ok(false));
        let is_there = refuses(&self.place);
        match is_accepted {
            true => self.can_widen && is_there && self.part.as_ref().is_none_or(refuses),
            false => is_there && self.can_narrow,
        }
    }
}

/// A part of a schema, with nothing else but what leads to it.
///
/// Both are whole schemas, with the root of the first one as their root.
struct CutOut {
    /// The keyword that was edited, and the neighbours that it needs; `None` if it was added.
    part: Option<Value>,
    /// The same with `false` in the place of the innermost schema.
    place: Value,
    /// Whether all that is refused at the place is refused by the whole, too.
    always_applies: bool,
}

impl CutOut {
    /// The cut-out of a schema around this one.
    /// `wrap` is applied to the part and to the place alike.
    fn inside(self, wrap: impl Fn(Value) -> Value) -> CutOut {
        CutOut { part: self.part.map(&wrap), place: wrap(self.place), ..self }
    }
}

/// Cuts the place `at` out of `schema`, with what leads to it.
///
/// Wraps on the way back up: the innermost cut is the keyword, each level above adds itself around
/// it, with the neighbours it depends on (`beside`).
///
/// ```text
/// {"properties": {"a": {"items": {"maxLength": 3}, "minItems": 1}}}, /properties/a/items/maxLength
///   part    {"properties": {"a": {"items": {"maxLength": 3}}}}
///   place   {"properties": {"a": {"items": false}}}
/// ```
///
/// `None` if the pointer leads to nothing, or through a keyword that does not always apply. A
/// condition, a choice or a negation is cut out as a whole: the pointer may go on inside of it.
fn cut_out(schema: &Value, at: &[String]) -> Option<CutOut> {
    let here = |part, always_applies| CutOut { part, place: Value::Bool(false), always_applies };
    let Some((token, rest)) = at.split_first() else {
        // Of a schema that is not `true` or `false`, the edit added something.
        return Some(here(schema.is_boolean().then(|| schema.clone()), true));
    };
    let members = schema.as_object()?;
    let value = members.get(token)?;
    match (token.as_str(), value, rest) {
        ("$defs" | "definitions", ..) => within_definition(schema, at),
        ("properties" | "patternProperties", Value::Object(named), [name, rest @ ..]) => {
            let inner = cut_out(named.get(name)?, rest)?;
            Some(inner.inside(|inner| json!({ token: { name: inner } })))
        }
        ("items" | "additionalProperties" | "propertyNames", Value::Object(_), [_, ..]) => {
            let inner = cut_out(value, rest)?;
            Some(inner.inside(|inner| {
                let mut around = beside(members, token);
                around.insert(token.clone(), inner);
                Value::Object(around)
            }))
        }
        ("prefixItems" | "items" | "allOf", Value::Array(list), [index, rest @ ..]) => {
            let index: usize = index.parse().ok()?;
            let inner = cut_out(list.get(index)?, rest)?;
            let before = if token == "allOf" { 0 } else { index };
            Some(inner.inside(|inner| {
                let mut list = vec![Value::Bool(true); before];
                list.push(inner);
                json!({ token: list })
            }))
        }
        // What is inside a condition, a choice or a negation may do the opposite of what it says.
        _ => {
            let mut part = beside(members, token);
            part.insert(token.clone(), value.clone());
            Some(here(Some(Value::Object(part)), rest.is_empty()))
        }
    }
}

/// The keyword at a place inside of a definition, with all that leads to it. References inside of a
/// choice count if the other branches are told apart by their types, as in an optional value.
///
/// `always_applies` is false: whether the definition is reached depends on the value.
fn within_definition(schema: &Value, at: &[String]) -> Option<CutOut> {
    let (definition, inner) = at.split_at_checked(2)?;
    let definition = pointer_of(definition);
    let own = cut_out(schema.pointer(&definition)?, inner)?;
    let with = |own: Value| {
        let mut all = structure(schema);
        *all.pointer_mut(&definition)? = own;
        Some(all)
    };
    let part = match own.part {
        Some(part) => Some(with(part)?),
        None => None,
    };
    Some(CutOut { part, place: with(own.place)?, always_applies: false })
}

/// Tokens as a pointer, escaped.
fn pointer_of(tokens: &[String]) -> String {
    tokens.iter().fold(String::new(), |at, token| pointer::join(&at, token))
}

/// A schema with nothing but what leads from one part to another.
///
/// Rules are dropped, and subschemas kept as far as references may lead through them.
///
/// `{"properties": {"a": {"$ref": R, "minLength": 2}}, "required": ["a"]}` becomes
/// `{"properties": {"a": {"$ref": R}}}`.
fn structure(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return Value::Bool(true) };
    let each = |named: &Map<String, Value>| -> Value {
        named.iter().map(|(name, value)| (name.clone(), structure(value))).collect()
    };
    let kept = members.iter().filter_map(|(keyword, value)| {
        let value = match (keyword.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions",
                Value::Object(named),
            ) => each(named),
            ("items" | "additionalProperties", Value::Object(_)) => structure(value),
            ("items" | "prefixItems" | "allOf", Value::Array(list)) => {
                list.iter().map(structure).collect()
            }
            ("anyOf", Value::Array(list)) => list.iter().map(with_type).collect(),
            ("$ref", _) => value.clone(),
            _ => return None,
        };
        Some((keyword.clone(), value))
    });
    Value::Object(kept.collect())
}

/// The structure of a schema, and the type that it demands.
///
/// For branches of `anyOf`: the type decides which branch a value belongs to.
fn with_type(schema: &Value) -> Value {
    let mut kept = structure(schema);
    if let (Some(kind), Value::Object(members)) = (schema.get("type"), &mut kept) {
        members.insert("type".to_owned(), kind.clone());
    }
    kept
}

/// The members of a schema that a keyword depends on, without rules of their own.
///
/// `additionalProperties` applies to the names that `properties` does not have, so the names stay
/// and their schemas become `true`. `maxContains` has no effect without `contains`.
fn beside(members: &Map<String, Value>, keyword: &str) -> Map<String, Value> {
    let open = |value: &Value| -> Value {
        match value {
            Value::Object(named) => named.keys().map(|name| (name.clone(), json!(true))).collect(),
            Value::Array(list) => list.iter().map(|_| json!(true)).collect(),
            value => value.clone(),
        }
    };
    let (opened, kept): (&[&str], &[&str]) = match keyword {
        "additionalProperties" => (&["properties", "patternProperties"], &[]),
        "items" => (&["prefixItems"], &[]),
        "additionalItems" => (&["items"], &[]),
        "contains" => (&[], &["minContains"]),
        "minContains" | "maxContains" => (&[], &["contains"]),
        "if" | "then" | "else" => (&[], &["if", "then", "else"]),
        "unevaluatedProperties" | "unevaluatedItems" => return members.clone(),
        _ => (&[], &[]),
    };
    let of = |names: &[&str]| {
        let found = names.iter().filter_map(|name| Some(((*name).to_owned(), members.get(*name)?)));
        found.map(|(name, value)| (name, value.clone())).collect::<Vec<_>>()
    };
    let opened = of(opened).into_iter().map(|(name, value)| (name, open(&value)));
    let mut beside: Map<String, Value> = opened.chain(of(kept)).collect();
    if keyword == "maxContains" {
        beside.insert("minContains".to_owned(), json!(0));
    }
    beside
}

/// A part with what its references lead to, in the dialect of the whole.
///
/// A part that has definitions of its own keeps them.
fn with_definitions(part: Value, whole: &Value) -> Value {
    let Value::Object(mut members) = part else { return part };
    for keyword in ["$schema", "$defs", "definitions"] {
        if let Some(value) = whole.get(keyword) {
            members.entry(keyword).or_insert_with(|| value.clone());
        }
    }
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_belongs_to_the_part_that_refuses_it() {
        let schema = json!({
            "properties": {
                "a": { "type": "array", "minItems": 2, "maxItems": 3 },
                "b": { "prefixItems": [{}, {}], "items": false },
                "c": { "contains": { "const": 1 }, "maxContains": 1 },
                "d": false,
                "e": { "properties": { "x": {} }, "additionalProperties": { "type": "string" } },
            },
            "propertyNames": { "maxLength": 2 }
        });
        let cases = [
            ("/properties/a/maxItems", json!({ "a": [1, 2, 3, 4] }), json!({ "a": [1] })),
            ("/properties/a/minItems", json!({ "a": [1] }), json!({ "d": 1 })),
            ("/properties/b/items", json!({ "b": [1, 2, 3] }), json!({ "b": [1] })),
            ("/properties/c/contains", json!({ "c": [] }), json!({ "c": [1, 1] })),
            ("/properties/c/maxContains", json!({ "c": [1, 1] }), json!({ "c": [] })),
            ("/properties/d", json!({ "d": 1 }), json!({ "a": [1] })),
            (
                "/properties/e/additionalProperties/type",
                json!({ "e": { "y": 1 } }),
                json!({ "e": { "x": 1 } }),
            ),
            ("/propertyNames/maxLength", json!({ "long": 1 }), json!({ "a": [1] })),
        ];
        for (at, own, other) in cases {
            let part = EditedPart::new(&schema, at, Some(EditDirection::OnlyWidens)).expect(at);
            assert!(part.explains(&own, true), "{at}: {own}");
            assert!(!part.explains(&other, true), "{at}: {other}");
        }
        // An object that an edit has closed.
        let narrows = Some(EditDirection::OnlyNarrows);
        let closed = EditedPart::new(&schema, "/properties/e", narrows).expect("a place");
        assert!(closed.explains(&json!({ "e": { "z": "" } }), false));
        assert!(!closed.explains(&json!({ "z": 1 }), false));
        // What is accepted now is the doing of others.
        assert!(!closed.explains(&json!({ "e": { "y": 1 } }), true));
    }
}
