//! Recognizes the facts of `facts` in one subschema, without entering the subschemas below it.
//!
//! There are three kinds of facts: a keyword is missing, a keyword is there with a value that is
//! not accepted, or a name or boolean under a keyword is not accepted.
//!
//! The facts say what each target does; this file says where the fact applies. So there is one
//! function per keyword whose fact depends on its value or its neighbours, and `facts::of_keyword`
//! for all others.

use serde_json::{Map, Value};

use super::facts::{self, VendorFact};
use super::{ObjectSubschema, PartKey, SchemaContext, SchemaPlace, VendorFindings};
use crate::subschema_keywords::keyword_value;

/// Adds a finding for each part of `schema` itself that some target does not accept.
///
/// The walk in `mod` calls it for every object schema, and one call serves all targets: a fact
/// knows what each of them does.
pub(super) fn check_subschema<'a>(
    schema: ObjectSubschema<'a>,
    context: &SchemaContext<'a>,
    findings: &mut VendorFindings<'a>,
) {
    for (keyword, fact) in missing_keywords(schema) {
        if let Some(fact) = fact {
            findings.add(fact, PartKey::Missing(keyword), SchemaPlace::of(schema.value));
        }
    }
    for (keyword, value) in schema.members {
        if let Some(fact) = keyword_fact(keyword, value, schema, context) {
            findings.add(
                fact,
                PartKey::Keyword(keyword),
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

/// The keywords that a target requires and `schema` lacks.
///
/// One pass over the members, because four lookups in each of many small maps take longer.
fn missing_keywords(
    schema: ObjectSubschema<'_>,
) -> [(&'static str, Option<&'static VendorFact>); 4] {
    let mut kind = None;
    let (mut has_properties, mut has_items, mut has_additional) = (false, false, false);
    for (keyword, value) in schema.members {
        match keyword.as_str() {
            "type" => kind = Some(value),
            "properties" => has_properties = true,
            "items" => has_items = true,
            "additionalProperties" => has_additional = true,
            _ => {}
        }
    }
    let is_object = kind.is_some_and(|kind| kind == "object");
    let describes_object = is_object || has_properties;
    [
        ("type", (schema.is_top && kind.is_none()).then_some(&facts::NOT_AN_OBJECT)),
        // Reported beside a missing `type` as well, because adding the type alone does not help.
        (
            "properties",
            (schema.is_top && (is_object || kind.is_none()) && !has_properties)
                .then_some(&facts::NO_PROPERTIES),
        ),
        ("items", (may_be_array(kind) && !has_items).then_some(&facts::NO_ITEMS)),
        (
            "additionalProperties",
            (describes_object && !has_additional).then_some(&facts::OPEN_OBJECT),
        ),
    ]
}

/// Why a target does not accept `keyword`. At most one reason per keyword: the most specific, whose
/// row is about all targets.
fn keyword_fact(
    keyword: &str,
    value: &Value,
    schema: ObjectSubschema<'_>,
    context: &SchemaContext<'_>,
) -> Option<&'static VendorFact> {
    match keyword {
        // The arms for the top level come first: there the vendors are stricter than inside.
        "type" if schema.is_top => (value != "object").then_some(&facts::NOT_AN_OBJECT),
        "anyOf" if schema.is_top => Some(&facts::TOP_ANY_OF),
        "oneOf" | "allOf" if schema.is_top => Some(&facts::TOP_ONE_OF_ALL_OF),
        "enum" | "const" | "not" if schema.is_top => Some(&facts::TOP_VALUE),
        "type" => value.is_array().then_some(&facts::TYPE_LIST),
        "anyOf" => (schema.members.len() > 1).then_some(&facts::ANY_OF_SIBLINGS),
        "items" => items_fact(value),
        "minItems" => Some(match value.as_u64() {
            Some(0 | 1) => &facts::MIN_ITEMS_SMALL,
            _ => &facts::MIN_ITEMS,
        }),
        "enum" => enum_fact(value, schema.members),
        "properties" => {
            (!schema.is_top && is_non_empty_map(value) && lacks_object_type(schema.members))
                .then_some(&facts::ONLY_OBJECTS)
        }
        "required" => required_fact(value, schema),
        "additionalProperties" => Some(match value {
            Value::Bool(false) => &facts::ADDITIONAL_PROPERTIES_FALSE,
            Value::Bool(true) => &facts::ADDITIONAL_PROPERTIES_TRUE,
            _ => &facts::ADDITIONAL_PROPERTIES_SCHEMA,
        }),
        "pattern" => value.as_str().map(pattern_fact),
        "format" => value.as_str().map(format_fact),
        "$ref" => value.as_str().map(|reference| reference_fact(reference, schema, context)),
        _ => facts::of_keyword(keyword),
    }
}

/// Gemini's `items` is one schema that is not empty.
/// A list of schemas is draft-07's spelling of a tuple.
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
    if values.iter().any(|value| value.is_object() || value.is_array()) {
        Some(&facts::ENUM_OBJECT)
    } else if values.iter().any(|value| !value.is_string()) {
        Some(&facts::ENUM_NOT_STRING)
    } else if values.iter().any(|value| value == "") {
        Some(&facts::ENUM_EMPTY_STRING)
    } else {
        keyword_value(members, "type").is_none().then_some(&facts::ENUM_WITHOUT_TYPE)
    }
}

/// Gemini's `required` belongs to an object and names its properties.
///
/// The first name that is not declared decides: the finding is about the keyword, and is counted
/// once per subschema.
///
/// The booleans of draft-04 and other values that are not lists have no fact.
fn required_fact(names: &Value, schema: ObjectSubschema<'_>) -> Option<&'static VendorFact> {
    let names = names.as_array()?;
    // At the top level a missing type has a fact of its own.
    if !schema.is_top && !names.is_empty() && lacks_object_type(schema.members) {
        return Some(&facts::ONLY_OBJECTS);
    }
    let declared = keyword_value(schema.members, "properties").and_then(Value::as_object);
    let is_declared =
        |name: &str| declared.is_some_and(|names| keyword_value(names, name).is_some());
    names
        .iter()
        .filter_map(Value::as_str)
        .any(|name| !is_declared(name))
        .then_some(&facts::REQUIRED_UNKNOWN)
}

/// The formats of the strict modes.
///
/// `uri` is apart from the others: Anthropic's strict mode lists it, OpenAI's refuses it.
pub(super) fn format_fact(format: &str) -> &'static VendorFact {
    match format {
        "date-time" | "time" | "date" | "duration" | "email" | "hostname" | "ipv4" | "ipv6"
        | "uuid" => &facts::FORMAT,
        "uri" => &facts::FORMAT_URI,
        _ => &facts::FORMAT_OTHER,
    }
}

/// A reference: recursive, with something beside it, or to a place that is not a definition.
///
/// One fact per reference: the first of these that applies.
fn reference_fact(
    reference: &str,
    schema: ObjectSubschema<'_>,
    context: &SchemaContext<'_>,
) -> &'static VendorFact {
    let has_siblings =
        schema.members.keys().any(|keyword| !keyword.starts_with('$') && keyword != "definitions");
    let is_definition = reference == "#"
        || reference.strip_prefix("#/$defs/").is_some_and(|name| !name.contains('/'));
    if context.recursive.contains(&reference) {
        &facts::RECURSION
    } else if has_siblings {
        &facts::REFERENCE_SIBLINGS
    } else if !is_definition {
        &facts::OTHER_REFERENCE
    } else {
        &facts::REFERENCE
    }
}

/// Checks the names under `properties` or `patternProperties`.
///
/// Names of parameters are restricted at the top only; below it, vendors accept any.
///
/// A property that is not required is a finding, too: OpenAI's strict mode wants all of them.
fn check_names<'a>(
    keyword: &'a str,
    named: &'a Map<String, Value>,
    schema: ObjectSubschema<'a>,
    findings: &mut VendorFindings<'a>,
) {
    let required = keyword_value(schema.members, "required").and_then(Value::as_array);
    for (name, value) in named {
        let place = SchemaPlace { value: schema.value, keyword: Some(keyword), name: Some(name) };
        if keyword == "patternProperties" {
            findings.add(pattern_fact(name), PartKey::Name, place);
            continue;
        }
        let is_required =
            required.is_some_and(|names| names.iter().any(|other| other == name.as_str()));
        if !is_required {
            findings.add(&facts::OPTIONAL_PROPERTY, PartKey::OptionalProperty, place);
        }
        let fact = match (is_anthropic_name(name), is_gemini_name(name)) {
            _ if !schema.is_top => None,
            (true, true) => None,
            (true, false) => Some(&facts::GEMINI_PROPERTY_NAME),
            (false, true) => Some(&facts::PROPERTY_NAME),
            (false, false) => Some(&facts::NO_PROPERTY_NAME),
        };
        if let Some(fact) = fact {
            findings.add(fact, PartKey::Name, place);
        }
        report_booleans(std::slice::from_ref(value), findings);
    }
}

/// Reports the schemas `true` and `false`, each at its own place. The walk does not visit them.
fn report_booleans<'a>(schemas: &'a [Value], findings: &mut VendorFindings<'a>) {
    for schema in schemas {
        if let Value::Bool(all) = schema {
            findings.add(&facts::BOOLEAN, PartKey::Boolean(*all), SchemaPlace::of(schema));
        }
    }
}

/// The pattern that Anthropic's error quotes: `^[a-zA-Z0-9_.-]{1,64}$`.
pub(super) fn is_anthropic_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

/// The pattern that Google's documentation describes: `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`.
pub(super) fn is_gemini_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=64).contains(&name.len())
        && name.bytes().all(fits)
        && !name.starts_with(|first: char| first.is_ascii_digit())
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
    keyword_value(members, "type").is_none_or(|kind| kind != "object" && !kind.is_array())
}

/// Protocol buffers do not distinguish an empty map from a missing one.
fn is_non_empty_map(map: &Value) -> bool {
    map.as_object().is_some_and(|map| !map.is_empty())
}

/// The fact about a pattern: the first of its parts that a target rejects, those that more targets
/// reject first.
///
/// A scanner, not a parser: it only recognizes escapes, groups and classes. A class whose
/// first character is `]` ends there for it, which at worst reports a group inside of that class.
pub(super) fn pattern_fact(pattern: &str) -> &'static VendorFact {
    // The letters that Python's `re` allows after a backslash; any other is an error. `\z` is new
    // in Python 3.14.
    const ESCAPES: &[u8] = b"AbBdDsSwWZzafnrtuUxvN";
    let (mut looks_around, mut looks_back) = (false, false);
    let mut in_class = false;
    let mut rest = pattern.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'\\', [b'u', b'{', ..]) => return &facts::NOT_PYTHON,
            (b'\\', [letter, ..]) if letter.is_ascii_alphabetic() && !ESCAPES.contains(letter) => {
                return &facts::NOT_PYTHON;
            }
            // In a class, `\b` is a backspace.
            (b'\\', [b'b' | b'B', after @ ..]) if !in_class => (looks_back, rest) = (true, after),
            (b'\\', [b'1'..=b'9', after @ ..]) => (looks_back, rest) = (true, after),
            // A legal escape: its second byte is skipped, so that `\(` does not open a group.
            (b'\\', [_, after @ ..]) => rest = after,
            (b'[', _) => in_class = true,
            (b']', _) => in_class = false,
            // In a class, a bracket is a character.
            (b'(', _) if in_class => {}
            (b'(', [b'?', b'=' | b'!', ..] | [b'?', b'<', b'=' | b'!', ..]) => looks_around = true,
            // `(?<name>…)`: Python writes named groups as `(?P<name>…)`.
            (b'(', [b'?', b'<', ..]) => return &facts::NOT_PYTHON,
            _ => {}
        }
    }
    match (looks_around, looks_back) {
        (true, _) => &facts::LOOK_AROUND,
        (false, true) => &facts::WORD_BOUNDARY_BACKREFERENCE,
        (false, false) => &facts::PATTERN,
    }
}
