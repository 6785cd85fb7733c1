//! A schema without references and branches at its top: what is left is about the value itself.
//!
//! `allOf`, `anyOf`, `oneOf`, `if` and `$ref` become a list of such schemas; an instance matches at
//! least one of them. Where two schemas meet, their keywords are merged as far as one keyword
//! can state both; the rest is a loss of precision, not of truth, because values are judged later.
//!
//! ```text
//! {"type": "string", "anyOf": [{"maxLength": 3}, {"pattern": "^x"}]}
//!   ─▶  {"type": "string", "maxLength": 3}
//!   ─▶  {"type": "string", "pattern": "^x"}
//! ```
//!
//! `instances` expands a schema; this file has the type, the merge, and readers of single keywords.

use serde_json::{Map, Value, json};

/// A schema whose keywords all apply to the value directly, without references and branches.
pub(crate) type FlatSchema = Map<String, Value>;

/// Flat schemas that one schema is expanded to.
/// Branches multiply: four choices of two branches each reach it.
pub(super) const MAX_ALTERNATIVES: usize = 16;

/// Whether the keyword asserts something about the value itself. References and branches are
/// expanded; annotations and definitions assert nothing.
pub(super) fn is_flat_assertion(keyword: &str) -> bool {
    matches!(
        keyword,
        "type"
            | "enum"
            | "const"
            | "minimum"
            | "maximum"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "multipleOf"
            | "minLength"
            | "maxLength"
            | "pattern"
            | "items"
            | "prefixItems"
            | "contains"
            | "minContains"
            | "maxContains"
            | "minItems"
            | "maxItems"
            | "uniqueItems"
            | "unevaluatedItems"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames"
            | "required"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "not"
    )
}

/// Every schema of one list merged with every one of the other, up to [`MAX_ALTERNATIVES`]. The
/// lists are unions, so this is their intersection: `(a or b) and (c or d)` has four cases.
pub(super) fn product(left: &[FlatSchema], right: &[FlatSchema]) -> Vec<FlatSchema> {
    let pairs = left.iter().flat_map(|one| right.iter().map(move |other| merge(one, other)));
    pairs.take(MAX_ALTERNATIVES).collect()
}

/// Keywords that demand at least something.
const LOWER_BOUNDS: [&str; 6] =
    ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"];

/// Keywords that allow at most something.
const UPPER_BOUNDS: [&str; 6] =
    ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"];

/// The keywords of both schemas, as close to their intersection as one schema can state it.
///
/// ```text
/// {"minimum": 1, "maximum": 9}  and  {"minimum": 3}  ─▶  {"minimum": 3, "maximum": 9}
/// {"items": A}                  and  {"items": B}    ─▶  {"items": {"allOf": [A, B]}}
/// {"pattern": P}                and  {"pattern": Q}  ─▶  {"pattern": P}, without Q
/// ```
///
/// Where the two cannot be one, the keyword of `one` stays. An `enum` is the values of both, so it
/// may become empty, and `type` likewise: then no instance is built.
fn merge(one: &FlatSchema, other: &FlatSchema) -> FlatSchema {
    let mut merged = one.clone();
    for (keyword, theirs) in other {
        let Some(ours) = merged.get_mut(keyword) else {
            merged.insert(keyword.clone(), theirs.clone());
            continue;
        };
        if ours == theirs {
            continue;
        }
        let name = keyword.as_str();
        let above = theirs.as_f64().zip(ours.as_f64()).is_some_and(|(new, old)| new > old);
        match (name, &mut *ours, theirs) {
            ("required", Value::Array(ours), Value::Array(theirs)) => {
                for wanted in theirs {
                    if !ours.contains(wanted) {
                        ours.push(wanted.clone());
                    }
                }
            }
            ("properties" | "patternProperties", Value::Object(ours), Value::Object(theirs)) => {
                for (name, own) in theirs {
                    let both = match ours.get(name) {
                        Some(before) if before != own => json!({ "allOf": [before, own] }),
                        _ => own.clone(),
                    };
                    ours.insert(name.clone(), both);
                }
            }
            ("enum", Value::Array(ours), Value::Array(theirs)) => {
                ours.retain(|value| theirs.contains(value));
            }
            ("type", ours, theirs) => {
                let allowed = type_names(theirs);
                let both: Vec<Value> = type_names(ours)
                    .into_iter()
                    .filter_map(|name| match name {
                        _ if allowed.contains(&name) => Some(name),
                        "integer" if allowed.contains(&"number") => Some("integer"),
                        "number" if allowed.contains(&"integer") => Some("integer"),
                        _ => None,
                    })
                    .map(Value::from)
                    .collect();
                *ours = Value::Array(both);
            }
            ("items" | "additionalProperties" | "contains" | "propertyNames", ours, theirs) => {
                *ours = json!({ "allOf": [ours, theirs] });
            }
            ("not", ours, theirs) => *ours = json!({ "anyOf": [ours, theirs] }),
            (_, ours, theirs) if LOWER_BOUNDS.contains(&name) && above => *ours = theirs.clone(),
            (_, ours, theirs) if UPPER_BOUNDS.contains(&name) && !above => *ours = theirs.clone(),
            _ => {}
        }
    }
    merged
}

/// The types that a value of `type` names, in a fixed order. Unknown words are left out.
fn type_names(value: &Value) -> Vec<&'static str> {
    const NAMES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let listed: Vec<&str> = match value {
        Value::String(name) => vec![name.as_str()],
        value => strings(Some(value)).collect(),
    };
    NAMES.into_iter().filter(|name| listed.contains(name)).collect()
}

/// The types that an instance of the schema may have, the most telling first.
///
/// Without `type`, every type is possible. Those that a keyword is about come first, since only
/// their values show what the keyword does.
pub(super) fn types_of(flat: &FlatSchema) -> Vec<&'static str> {
    if let Some(declared) = flat.get("type") {
        return type_names(declared);
    }
    let mentions = |keywords: &[&str]| keywords.iter().any(|keyword| flat.contains_key(*keyword));
    let object = mentions(&[
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "unevaluatedProperties",
    ]);
    let array =
        mentions(&["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"]);
    let text = mentions(&["minLength", "maxLength", "pattern"]);
    let number =
        mentions(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]);
    let mut types: Vec<&'static str> =
        [("object", object), ("array", array), ("string", text), ("number", number)]
            .into_iter()
            .filter_map(|(name, mentioned)| mentioned.then_some(name))
            .collect();
    types.extend(
        ["null", "boolean", "number", "string", "array", "object"]
            .into_iter()
            .filter(|name| !types.contains(name))
            .collect::<Vec<_>>(),
    );
    types
}

/// Whether a value has one of the types; `1.0` is an integer, as in JSON Schema.
pub(super) fn has_type(value: &Value, types: &[&str]) -> bool {
    types.iter().any(|name| match *name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    })
}

/// The schema of the item at `index`: that of its position in a tuple, else `items`.
pub(super) fn item_schema(flat: &FlatSchema, index: usize) -> &Value {
    let tuple = flat.get("prefixItems").and_then(|tuple| tuple.get(index));
    tuple.or_else(|| flat.get("items")).unwrap_or(&Value::Bool(true))
}

/// A bound or step, as a floating point number; exactness beyond 2^53 is not needed for proposals.
pub(super) fn number(flat: &FlatSchema, keyword: &str) -> Option<f64> {
    flat.get(keyword).and_then(Value::as_f64)
}

/// A count such as `minItems`, which may be written as `2.0`.
pub(super) fn count(flat: &FlatSchema, keyword: &str) -> Option<u64> {
    number(flat, keyword).map(|value| value as u64)
}

pub(super) fn object<'s>(flat: &'s FlatSchema, keyword: &str) -> Option<&'s FlatSchema> {
    flat.get(keyword).and_then(Value::as_object)
}

pub(super) fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
