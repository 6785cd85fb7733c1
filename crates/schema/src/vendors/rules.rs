//! Which schema shows which fact: one look at the members of one subschema.

use serde_json::{Map, Value};

use super::facts::{self, Fact};
use super::{Findings, Place, Subschema};

/// Notes what of `schema` itself, not of the schemas below it, some vendor does not take.
pub(super) fn judge<'a>(schema: Subschema<'a>, findings: &mut Findings<'a>) {
    for (keyword, fact) in missing(schema) {
        if let Some(fact) = fact {
            findings.add(fact, keyword, Place::of(schema.value));
        }
    }
    for (keyword, value) in schema.members {
        if let Some(fact) = present(keyword, value, schema) {
            findings.add(
                fact,
                keyword,
                Place { keyword: Some(keyword), ..Place::of(schema.value) },
            );
        }
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(named)) => {
                judge_names(keyword, named, schema, findings);
            }
            ("items", Value::Bool(_)) => judge_booleans(std::slice::from_ref(value), findings),
            ("anyOf", Value::Array(branches)) => judge_booleans(branches, findings),
            _ => {}
        }
    }
}

/// What is not there and should be.
fn missing(schema: Subschema<'_>) -> [(&'static str, Option<&'static Fact>); 3] {
    let (mut kind, mut has_properties, mut has_items) = (None, false, false);
    // One pass is quicker than to look up each by its hash.
    for (keyword, value) in schema.members {
        match keyword.as_str() {
            "type" => kind = Some(value),
            "properties" => has_properties = true,
            "items" => has_items = true,
            _ => {}
        }
    }
    let is_object = kind.is_some_and(|kind| kind == "object");
    [
        ("type", (schema.top && kind.is_none()).then_some(&facts::NOT_AN_OBJECT)),
        // Whether or not its type is left out as well: adding that alone does not help.
        (
            "properties",
            (schema.top && (is_object || kind.is_none()) && !has_properties)
                .then_some(&facts::NO_PROPERTIES),
        ),
        ("items", (may_be_array(kind) && !has_items).then_some(&facts::NO_ITEMS)),
    ]
}

/// What is there and is not taken. At most one reason: the first to fix.
fn present(keyword: &str, value: &Value, schema: Subschema<'_>) -> Option<&'static Fact> {
    match keyword {
        "type" if schema.top => (value != "object").then_some(&facts::NOT_AN_OBJECT),
        "anyOf" if schema.top => Some(&facts::TOP_ANY_OF),
        "oneOf" | "allOf" if schema.top => Some(&facts::TOP_ONE_OF_ALL_OF),
        "enum" | "const" | "not" if schema.top => Some(&facts::TOP_VALUE),
        "type" => value.is_array().then_some(&facts::TYPE_LIST),
        "items" => of_items(value),
        "enum" => of_enum(value, schema.members),
        "properties" => (!schema.top && is_filled(value) && is_no_object(schema.members))
            .then_some(&facts::ONLY_OBJECTS),
        "required" => of_required(value, schema),
        "pattern" => value.as_str().and_then(of_pattern),
        "default" => Some(&facts::DEFAULT),
        "$ref" | "$defs" | "definitions" => Some(&facts::REFERENCE),
        "const" => Some(&facts::CONST),
        "oneOf" => Some(&facts::ONE_OF),
        "additionalProperties" => Some(&facts::ADDITIONAL_PROPERTIES),
        _ => (!is_gemini_field(keyword)).then_some(&facts::NO_FIELD),
    }
}

/// The fields of Gemini's `Schema`, read from `interface Schema` of `@google/genai` 2.32.0; the
/// discovery document of v1beta (revision 20260816) is quoted with the same ones. JSON for protocol
/// buffers may spell a field either way.
fn is_gemini_field(keyword: &str) -> bool {
    matches!(
        keyword,
        "anyOf"
            | "default"
            | "description"
            | "enum"
            | "example"
            | "format"
            | "items"
            | "maxItems"
            | "maxLength"
            | "maxProperties"
            | "maximum"
            | "minItems"
            | "minLength"
            | "minProperties"
            | "minimum"
            | "nullable"
            | "pattern"
            | "properties"
            | "propertyOrdering"
            | "required"
            | "title"
            | "type"
            | "any_of"
            | "max_items"
            | "max_length"
            | "max_properties"
            | "min_items"
            | "min_length"
            | "min_properties"
            | "property_ordering"
    )
}

fn of_items(items: &Value) -> Option<&'static Fact> {
    match items {
        Value::Array(_) => Some(&facts::ITEMS_LIST),
        Value::Object(members) if members.is_empty() => Some(&facts::EMPTY_ITEMS),
        _ => None,
    }
}

fn of_enum(values: &Value, members: &Map<String, Value>) -> Option<&'static Fact> {
    let values = values.as_array()?;
    if values.iter().any(|value| !value.is_string()) {
        Some(&facts::ENUM_NOT_STRING)
    } else if values.iter().any(|value| value == "") {
        Some(&facts::ENUM_EMPTY_STRING)
    } else {
        (!members.contains_key("type")).then_some(&facts::ENUM_WITHOUT_TYPE)
    }
}

fn of_required(names: &Value, schema: Subschema<'_>) -> Option<&'static Fact> {
    let names = names.as_array()?;
    if !schema.top && !names.is_empty() && is_no_object(schema.members) {
        return Some(&facts::ONLY_OBJECTS);
    }
    let known = schema.members.get("properties").and_then(Value::as_object);
    let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
    names
        .iter()
        .filter_map(Value::as_str)
        .any(|name| !is_known(name))
        .then_some(&facts::REQUIRED_UNKNOWN)
}

fn judge_names<'a>(
    keyword: &'a str,
    named: &'a Map<String, Value>,
    schema: Subschema<'a>,
    findings: &mut Findings<'a>,
) {
    for (name, value) in named {
        let fact = match keyword {
            "patternProperties" => of_pattern(name),
            _ => (schema.top && !is_anthropic_name(name)).then_some(&facts::PROPERTY_NAME),
        };
        if let Some(fact) = fact {
            findings.add(
                fact,
                keyword,
                Place { value: schema.value, keyword: Some(keyword), name: Some(name) },
            );
        }
        if keyword == "properties" {
            judge_booleans(std::slice::from_ref(value), findings);
        }
    }
}

fn judge_booleans<'a>(schemas: &'a [Value], findings: &mut Findings<'a>) {
    for schema in schemas {
        if let Value::Bool(all) = schema {
            findings.add(&facts::BOOLEAN, if *all { "true" } else { "false" }, Place::of(schema));
        }
    }
}

/// `^[a-zA-Z0-9_.-]{1,64}$`
fn is_anthropic_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

fn may_be_array(kind: Option<&Value>) -> bool {
    match kind {
        Some(Value::String(one)) => one == "array",
        Some(Value::Array(several)) => several.iter().any(|one| one == "array"),
        _ => false,
    }
}

/// Says nothing of a list of types, which Gemini refuses anyway.
fn is_no_object(members: &Map<String, Value>) -> bool {
    members.get("type").is_none_or(|kind| kind != "object" && !kind.is_array())
}

/// An empty map is the same as none to protocol buffers.
fn is_filled(map: &Value) -> bool {
    map.as_object().is_some_and(|map| !map.is_empty())
}

/// A scanner, not a parser: a class that opens with `]` ends there.
fn of_pattern(pattern: &str) -> Option<&'static Fact> {
    // Letters that Python's `re` knows after a backslash; any other is an error. `\z` is new in
    // 3.14.
    const ESCAPES: &[u8] = b"AbBdDsSwWZzafnrtuUxvN";
    let mut looks_around = false;
    let mut in_class = false;
    let mut rest = pattern.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'\\', [b'u', b'{', ..]) => return Some(&facts::NOT_PYTHON),
            (b'\\', [letter, ..]) if letter.is_ascii_alphabetic() && !ESCAPES.contains(letter) => {
                return Some(&facts::NOT_PYTHON);
            }
            (b'\\', [_, after @ ..]) => rest = after,
            (b'[', _) => in_class = true,
            (b']', _) => in_class = false,
            (b'(', _) if in_class => {}
            (b'(', [b'?', b'=' | b'!', ..] | [b'?', b'<', b'=' | b'!', ..]) => looks_around = true,
            (b'(', [b'?', b'<', ..]) => return Some(&facts::NOT_PYTHON),
            _ => {}
        }
    }
    looks_around.then_some(&facts::LOOK_AROUND)
}
