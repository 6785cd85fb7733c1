//! The Schema Object of OpenAPI 3.0, and Gemini's variant of it, as JSON Schema and back. OpenAPI
//! 3.1 uses JSON Schema itself.
//!
//! ```text
//! OpenAPI 3.0, Gemini                       JSON Schema
//! type: STRING (Gemini)                     type: string
//! type: string, nullable: true              type: [string, null]
//! anyOf: […], nullable: true                anyOf: […, {type: null}]
//! allOf: […], nullable: true                anyOf: [{allOf: […]}, {type: null}]
//! minimum: 1, exclusiveMinimum: true        exclusiveMinimum: 1
//! example: x                                examples: [x]
//! minItems: "1" (Gemini: an int64 is text)  minItems: 1
//! type: INTEGER, enum: ["1"] (Gemini)       type: integer, enum: [1]
//! ```
//!
//! Everything stays where it is, so that a finding about the schema is shown at the right place.
//! Deliberately absent: which keywords a vendor accepts (`schema::vendors`).

use serde_json::{Value as Json, json};
use toolwright_model::Object;

/// Which variant a schema is written in.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum SchemaVariant {
    /// OpenAPI 3.0.
    OpenApi30,
    /// Gemini's `parameters` and `response`.
    Gemini,
}

/// Keywords whose value is a number, which Gemini writes as text if it is an int64.
const COUNTS: [&str; 6] =
    ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Keywords that hold schemas by name.
const SCHEMA_MAPS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords that hold a list of schemas; `items` may be one or a list.
const SCHEMA_LISTS: [&str; 5] = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
/// Keywords that hold one schema.
const SCHEMAS: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

/// Calls `visit` for the schema and for every schema inside it, outside first. The recursion is
/// bounded, because documents nest at most 128 levels.
pub(crate) fn each_subschema(schema: &mut Json, visit: &mut dyn FnMut(&mut Object)) {
    let Json::Object(members) = schema else { return };
    visit(members);
    for (keyword, value) in members {
        let keyword = keyword.as_str();
        match value {
            Json::Object(map) if SCHEMA_MAPS.contains(&keyword) => {
                map.values_mut().for_each(|schema| each_subschema(schema, visit));
            }
            Json::Array(list) if SCHEMA_LISTS.contains(&keyword) => {
                list.iter_mut().for_each(|schema| each_subschema(schema, visit));
            }
            Json::Object(_) if SCHEMAS.contains(&keyword) => each_subschema(value, visit),
            _ => {}
        }
    }
}

/// Turns the schema into JSON Schema. Also schemas inside it. What is not a keyword of the variant
/// stays.
pub(crate) fn to_json_schema(schema: &mut Json, variant: SchemaVariant) {
    each_subschema(schema, &mut |members| convert(members, variant));
}

/// The keywords of one schema. The order matters: numbers of Gemini first, then bounds, then
/// `nullable`, which may move the others into a branch.
fn convert(members: &mut Object, variant: SchemaVariant) {
    match variant {
        // OpenAPI 3.0: "Any sibling elements of a $ref are ignored".
        SchemaVariant::OpenApi30 if members.get("$ref").is_some_and(Json::is_string) => {
            return members.retain(|keyword, _| keyword == "$ref");
        }
        SchemaVariant::OpenApi30 => {}
        SchemaVariant::Gemini => read_gemini_values(members),
    }
    exclusive_bound(members, "exclusiveMinimum", "minimum");
    exclusive_bound(members, "exclusiveMaximum", "maximum");
    // Only a single example: a list is JSON Schema's own.
    if !members.contains_key("examples")
        && let Some(at) = members.keys().position(|keyword| keyword == "example")
        && let Some(example) = members.shift_remove("example")
    {
        members.shift_insert(at, "examples".to_owned(), json!([example]));
    }
    if members.shift_remove("nullable") == Some(Json::Bool(true)) {
        allow_null(members);
    }
}

/// Types in lower case, counts and values of enums as numbers.
fn read_gemini_values(members: &mut Object) {
    if let Some(Json::String(name)) = members.get_mut("type") {
        let lower = name.to_ascii_lowercase();
        // `Object` is a mistake, which is reported.
        if TYPES.contains(&lower.as_str()) && name.to_ascii_uppercase() == *name {
            *name = lower;
        }
    }
    for keyword in COUNTS {
        let text = members.get(keyword).and_then(Json::as_str);
        if let Some(number) = text.and_then(|text| text.parse::<u64>().ok()) {
            members[keyword] = Json::from(number);
        }
    }
    read_number_enum(members);
}

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// Gemini's enums are texts, also those of numbers.
fn read_number_enum(members: &mut Object) {
    let is_numeric =
        matches!(members.get("type").and_then(Json::as_str), Some("integer" | "number"));
    if !is_numeric {
        return;
    }
    if let Some(Json::Array(values)) = members.get_mut("enum") {
        for value in values {
            let number = value.as_str().and_then(|text| serde_json::from_str::<Json>(text).ok());
            if let Some(number) = number.filter(Json::is_number) {
                *value = number;
            }
        }
    }
}

/// OpenAPI 3.0 has JSON Schema's draft 4, where an exclusive bound is a flag beside the bound.
///
/// `minimum: 1, exclusiveMinimum: true` becomes `exclusiveMinimum: 1`. A flag without its bound, or
/// one that is already a number, stays as it is. `exclusiveMinimum: false` is left out, as it
/// restricts nothing.
fn exclusive_bound(members: &mut Object, flag: &str, bound: &str) {
    match members.get(flag) {
        Some(Json::Bool(false)) => drop(members.shift_remove(flag)),
        Some(Json::Bool(true)) => {
            if let Some(value) = members.shift_remove(bound) {
                members.insert(flag.to_owned(), value);
            }
        }
        _ => {}
    }
}

/// The choice, which has null as another branch. OpenAPI 3.0 defines `nullable` beside `type` only;
/// beside a choice or `allOf`, which is how a reference is made nullable, it is read as meant.
///
/// ```text
/// anyOf: [A, B]               ─▶  anyOf: [A, B, {type: null}]
/// oneOf: [A, B], all typed    ─▶  oneOf: [A, B, {type: null}]
/// allOf: [A]                  ─▶  anyOf: [{allOf: [A]}, {type: null}]
/// ```
fn allow_null_as_branch(members: &mut Object) {
    let null = json!({"type": "null"});
    let is_typed = |branch: &Json| branch.get("type").is_some_and(|kind| *kind != "null");
    let choice = match (members.get("anyOf"), members.get("oneOf")) {
        (Some(_), _) => "anyOf",
        // Of other branches one may accept null already, and then two would.
        (None, Some(Json::Array(branches))) if branches.iter().all(is_typed) => "oneOf",
        (None, _) => {
            let keyword = if members.contains_key("oneOf") { "oneOf" } else { "allOf" };
            if let Some(schemas) = members.shift_remove(keyword) {
                members.insert("anyOf".to_owned(), json!([{ keyword: schemas }]));
            }
            "anyOf"
        }
    };
    if let Some(Json::Array(branches)) = members.get_mut(choice)
        && !branches.contains(&null)
    {
        branches.push(null);
    }
}

/// The schema, which accepts null as well. A schema without a type does already.
///
/// ```text
/// type: string               ─▶  type: [string, null]
/// enum: [a], type: string    ─▶  enum: [a, null], type: [string, null]
/// ```
fn allow_null(members: &mut Object) {
    match members.get_mut("type") {
        Some(Json::String(name)) if name != "null" => {
            let name = std::mem::take(name);
            members["type"] = json!([name, "null"]);
        }
        Some(_) => {}
        None => allow_null_as_branch(members),
    }
    if let Some(Json::Array(values)) = members.get_mut("enum")
        && !values.contains(&Json::Null)
    {
        values.push(Json::Null);
    }
}

/// Turns JSON Schema into Gemini's variant: types in upper case, null as `nullable`, numbers of an
/// enum as text. What the variant has no words for stays as it is: rewriting a schema so that the
/// API accepts it is the business of `schema::vendors`.
///
/// The opposite of `to_json_schema`, but not its exact inverse: `examples` with several values
/// stays, because the variant has one `example`.
pub(crate) fn from_json_schema(schema: &mut Json) {
    each_subschema(schema, &mut |members| {
        take_null(members);
        let (mut has_numbers, mut example) = (false, None);
        // One pass over a few keywords: looking each one up would hash it.
        for (keyword, value) in members.iter_mut() {
            match (keyword.as_str(), value) {
                ("type", Json::String(name)) if TYPES.contains(&name.as_str()) => {
                    name.make_ascii_uppercase();
                }
                ("enum", Json::Array(values)) => has_numbers = numbers_to_texts(values),
                ("examples", Json::Array(examples)) => {
                    if let [only] = examples.as_mut_slice() {
                        example = Some(std::mem::take(only));
                    }
                }
                _ => {}
            }
        }
        if has_numbers {
            members.entry("format").or_insert_with(|| json!("enum"));
        }
        if let Some(example) = example {
            members.shift_remove("examples");
            members.insert("example".to_owned(), example);
        }
    });
}

/// Turns the numbers among texts into texts; `false` if there are none, or if there are others.
fn numbers_to_texts(values: &mut [Json]) -> bool {
    let has_others = values.iter().any(|value| !value.is_string() && !value.is_number());
    let mut numbers = values.iter_mut().filter(|value| value.is_number()).peekable();
    if has_others || numbers.peek().is_none() {
        return false;
    }
    numbers.for_each(|number| *number = Json::String(number.to_string()));
    true
}

/// Replaces null among the types, the branches and the values by `nullable`.
///
/// ```text
/// type: [string, null], enum: [a, null]   ─▶  type: string, enum: [a], nullable: true
/// anyOf: [A, {type: null}]                ─▶  anyOf: [A with nullable: true]
/// ```
fn take_null(members: &mut Object) {
    let mut is_nullable = false;
    for (keyword, value) in members.iter_mut() {
        match (keyword.as_str(), value) {
            ("type", value) => {
                if let Some(name) = type_beside_null(value) {
                    *value = Json::String(name);
                    is_nullable = true;
                }
            }
            ("anyOf", Json::Array(branches)) => take_null_branch(branches),
            _ => {}
        }
    }
    if is_nullable {
        if let Some(Json::Array(values)) = members.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        members.insert("nullable".to_owned(), Json::Bool(true));
    }
}

/// The other one of two types, if one of the two is null.
fn type_beside_null(types: &mut Json) -> Option<String> {
    let Json::Array(types) = types else { return None };
    match types.as_mut_slice() {
        [Json::String(null), Json::String(name)] | [Json::String(name), Json::String(null)]
            if null == "null" =>
        {
            Some(std::mem::take(name))
        }
        _ => None,
    }
}

/// Removes the branch that is null. Nothing may stand beside `anyOf`, so one of the other branches
/// states it.
fn take_null_branch(branches: &mut Vec<Json>) {
    let is_null = |branch: &Json| {
        let members = branch.as_object().filter(|members| members.len() == 1);
        members.is_some_and(|members| members.get("type").is_some_and(|kind| kind == "null"))
    };
    if !branches.iter().any(is_null) {
        return;
    }
    let mut others = branches.iter_mut().filter(|branch| !is_null(branch));
    let plain = others
        .find_map(|branch| branch.as_object_mut().filter(|members| !members.contains_key("anyOf")));
    if let Some(branch) = plain {
        branch.insert("nullable".to_owned(), Json::Bool(true));
        branches.retain(|branch| !is_null(branch));
    }
}
