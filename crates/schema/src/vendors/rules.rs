//! Recognizes the facts of `facts` in one subschema, without entering the subschemas below it.
//!
//! There are three kinds of facts: a keyword is missing, a keyword is there with a value that is
//! not accepted, or a name or boolean under a keyword is not accepted.

use serde_json::{Map, Value};

use super::facts::{self, VendorFact};
use super::{ObjectSubschema, SchemaPlace, VendorFindings};

/// Adds a finding for each part of `schema` itself that some vendor does not accept.
pub(super) fn check_subschema<'a>(schema: ObjectSubschema<'a>, findings: &mut VendorFindings<'a>) {
    for (keyword, fact) in missing_keywords(schema) {
        if let Some(fact) = fact {
            findings.add(fact, keyword, SchemaPlace::of(schema.value));
        }
    }
    for (keyword, value) in schema.members {
        if let Some(fact) = keyword_fact(keyword, value, schema) {
            findings.add(
                fact,
                keyword,
                SchemaPlace { keyword: Some(keyword), ..SchemaPlace::of(schema.value) },
            );
        }
        match (keyword.as_str(), value) {
            // Names and booleans directly below this schema. The walk in `mod` visits only the
            // object schemas among them.
            ("properties" | "patternProperties", Value::Object(named)) => {
                check_names(keyword, named, schema, findings);
            }
            ("items", Value::Bool(_)) => report_booleans(std::slice::from_ref(value), findings),
            ("anyOf", Value::Array(branches)) => report_booleans(branches, findings),
            _ => {}
        }
    }
}

/// The keywords that a vendor requires and `schema` lacks.
fn missing_keywords(
    schema: ObjectSubschema<'_>,
) -> [(&'static str, Option<&'static VendorFact>); 3] {
    let (mut kind, mut has_properties, mut has_items) = (None, false, false);
    // One pass over the few members is faster than three lookups by hash.
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
        ("type", (schema.is_top && kind.is_none()).then_some(&facts::NOT_AN_OBJECT)),
        // Reported beside a missing `type` as well, because adding the type alone does not help.
        (
            "properties",
            (schema.is_top && (is_object || kind.is_none()) && !has_properties)
                .then_some(&facts::NO_PROPERTIES),
        ),
        ("items", (may_be_array(kind) && !has_items).then_some(&facts::NO_ITEMS)),
    ]
}

/// Why a vendor does not accept `keyword`. At most one reason per keyword: the first to fix.
fn keyword_fact(
    keyword: &str,
    value: &Value,
    schema: ObjectSubschema<'_>,
) -> Option<&'static VendorFact> {
    match keyword {
        // The arms for the top level come first: there the vendors are stricter than inside.
        "type" if schema.is_top => (value != "object").then_some(&facts::NOT_AN_OBJECT),
        "anyOf" if schema.is_top => Some(&facts::TOP_ANY_OF),
        "oneOf" | "allOf" if schema.is_top => Some(&facts::TOP_ONE_OF_ALL_OF),
        "enum" | "const" | "not" if schema.is_top => Some(&facts::TOP_VALUE),
        "type" => value.is_array().then_some(&facts::TYPE_LIST),
        "items" => items_fact(value),
        "enum" => enum_fact(value, schema.members),
        "properties" => {
            (!schema.is_top && is_non_empty_map(value) && lacks_object_type(schema.members))
                .then_some(&facts::ONLY_OBJECTS)
        }
        "required" => required_fact(value, schema),
        "pattern" => value.as_str().and_then(pattern_fact),
        "default" => Some(&facts::DEFAULT),
        "$ref" | "$defs" | "definitions" => Some(&facts::REFERENCE),
        "const" => Some(&facts::CONST),
        "oneOf" => Some(&facts::ONE_OF),
        "additionalProperties" => Some(&facts::ADDITIONAL_PROPERTIES),
        // Every other keyword: Gemini has a fixed list of fields and rejects the rest.
        _ => (!is_gemini_field(keyword)).then_some(&facts::NO_FIELD),
    }
}

/// The fields of Gemini's `Schema`, from `interface Schema` of `@google/genai` 2.32.0; quotes of
/// the discovery document of v1beta (revision 20260816) have the same ones. The JSON mapping of
/// protocol buffers accepts both spellings of a field, `anyOf` and `any_of`.
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

/// Gemini's `items` is one schema that is not empty.
fn items_fact(items: &Value) -> Option<&'static VendorFact> {
    match items {
        Value::Array(_) => Some(&facts::ITEMS_LIST),
        Value::Object(members) if members.is_empty() => Some(&facts::EMPTY_ITEMS),
        _ => None,
    }
}

/// Gemini's `enum` is for strings. The order of the facts is the order in which to fix them.
fn enum_fact(values: &Value, members: &Map<String, Value>) -> Option<&'static VendorFact> {
    let values = values.as_array()?;
    if values.iter().any(|value| !value.is_string()) {
        Some(&facts::ENUM_NOT_STRING)
    } else if values.iter().any(|value| value == "") {
        Some(&facts::ENUM_EMPTY_STRING)
    } else {
        (!members.contains_key("type")).then_some(&facts::ENUM_WITHOUT_TYPE)
    }
}

/// Gemini's `required` belongs to an object and names its properties.
fn required_fact(names: &Value, schema: ObjectSubschema<'_>) -> Option<&'static VendorFact> {
    let names = names.as_array()?;
    // At the top level a missing type has a fact of its own.
    if !schema.is_top && !names.is_empty() && lacks_object_type(schema.members) {
        return Some(&facts::ONLY_OBJECTS);
    }
    let declared = schema.members.get("properties").and_then(Value::as_object);
    let is_declared = |name: &str| declared.is_some_and(|names| names.contains_key(name));
    names
        .iter()
        .filter_map(Value::as_str)
        .any(|name| !is_declared(name))
        .then_some(&facts::REQUIRED_UNKNOWN)
}

/// Checks the names under `properties` or `patternProperties`.
fn check_names<'a>(
    keyword: &'a str,
    named: &'a Map<String, Value>,
    schema: ObjectSubschema<'a>,
    findings: &mut VendorFindings<'a>,
) {
    for (name, value) in named {
        let fact = match keyword {
            "patternProperties" => pattern_fact(name),
            _ => (schema.is_top && !is_anthropic_name(name)).then_some(&facts::PROPERTY_NAME),
        };
        if let Some(fact) = fact {
            findings.add(
                fact,
                keyword,
                SchemaPlace { value: schema.value, keyword: Some(keyword), name: Some(name) },
            );
        }
        if keyword == "properties" {
            report_booleans(std::slice::from_ref(value), findings);
        }
    }
}

/// Reports the schemas `true` and `false`, each at its own place. The walk does not visit them.
fn report_booleans<'a>(schemas: &'a [Value], findings: &mut VendorFindings<'a>) {
    for schema in schemas {
        if let Value::Bool(all) = schema {
            findings.add(
                &facts::BOOLEAN,
                if *all { "true" } else { "false" },
                SchemaPlace::of(schema),
            );
        }
    }
}

/// The pattern that Anthropic's error quotes: `^[a-zA-Z0-9_.-]{1,64}$`.
fn is_anthropic_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

/// Whether `type` is `array` or a list with it.
fn may_be_array(kind: Option<&Value>) -> bool {
    match kind {
        Some(Value::String(one)) => one == "array",
        Some(Value::Array(several)) => several.iter().any(|one| one == "array"),
        _ => false,
    }
}

/// Whether `type` is not `object`. `false` for a list of types, for which there is another fact.
fn lacks_object_type(members: &Map<String, Value>) -> bool {
    members.get("type").is_none_or(|kind| kind != "object" && !kind.is_array())
}

/// Protocol buffers do not distinguish an empty map from a missing one.
fn is_non_empty_map(map: &Value) -> bool {
    map.as_object().is_some_and(|map| !map.is_empty())
}

/// Why OpenAI rejects a pattern.
///
/// A scanner, not a parser: it only recognizes escapes, groups and classes. A class whose
/// first character is `]` ends there for it, which at worst reports a group inside of that class.
fn pattern_fact(pattern: &str) -> Option<&'static VendorFact> {
    // The letters that Python's `re` allows after a backslash; any other is an error. `\z` is new
    // in Python 3.14.
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
            // A legal escape: its second byte is skipped, so that `\(` does not open a group.
            (b'\\', [_, after @ ..]) => rest = after,
            (b'[', _) => in_class = true,
            (b']', _) => in_class = false,
            // In a class, a bracket is a character.
            (b'(', _) if in_class => {}
            (b'(', [b'?', b'=' | b'!', ..] | [b'?', b'<', b'=' | b'!', ..]) => looks_around = true,
            // `(?<name>…)`: Python writes named groups as `(?P<name>…)`.
            (b'(', [b'?', b'<', ..]) => return Some(&facts::NOT_PYTHON),
            _ => {}
        }
    }
    looks_around.then_some(&facts::LOOK_AROUND)
}
