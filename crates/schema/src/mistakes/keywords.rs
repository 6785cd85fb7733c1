//! The keywords of both dialects, the types they are for, and the shapes of their values; and
//! keywords of other programs that look like misspelled ones.
//!
//! A keyword that JSON Schema does not have is legal, and has no effect. It is a mistake if it was
//! meant to have one, which its spelling shows: `propertes` is one letter from a keyword. The rule
//! of the checker judges that; this file lists known names and names of other tools.

use serde_json::Value;

/// Sets of types, as bits.
///
/// Integers count as numbers; `OTHER` is booleans and `null`.
pub(super) mod types {
    pub(crate) const STRING: u8 = 1;
    pub(crate) const NUMBER: u8 = 2;
    pub(crate) const ARRAY: u8 = 4;
    pub(crate) const OBJECT: u8 = 8;
    pub(crate) const OTHER: u8 = 16;
    pub(crate) const ANY: u8 = 31;
}
use types::{ANY, ARRAY, NUMBER, OBJECT, OTHER, STRING};

/// Every keyword, with the types that it applies to, the shortest first. `format` and `content*`
/// count as applying to all: OpenAPI has formats of numbers.
/// The order is that of the binary search in `types_of`: by length, then by name.
const KEYWORDS: &[(&str, u8)] = &[
    ("if", ANY),
    ("$id", ANY),
    ("not", ANY),
    ("$ref", ANY),
    ("else", ANY),
    ("enum", ANY),
    ("then", ANY),
    ("type", ANY),
    ("$defs", ANY),
    ("allOf", ANY),
    ("anyOf", ANY),
    ("const", ANY),
    ("items", ARRAY),
    ("oneOf", ANY),
    ("title", ANY),
    ("format", ANY),
    ("$anchor", ANY),
    ("$schema", ANY),
    ("default", ANY),
    ("maximum", NUMBER),
    ("minimum", NUMBER),
    ("pattern", STRING),
    ("$comment", ANY),
    ("contains", ARRAY),
    ("examples", ANY),
    ("maxItems", ARRAY),
    ("minItems", ARRAY),
    ("readOnly", ANY),
    ("required", OBJECT),
    ("maxLength", STRING),
    ("minLength", STRING),
    ("writeOnly", ANY),
    ("deprecated", ANY),
    ("multipleOf", NUMBER),
    ("properties", OBJECT),
    ("$dynamicRef", ANY),
    ("$vocabulary", ANY),
    ("definitions", ANY),
    ("description", ANY),
    ("maxContains", ARRAY),
    ("minContains", ARRAY),
    ("prefixItems", ARRAY),
    ("uniqueItems", ARRAY),
    ("dependencies", OBJECT),
    ("contentSchema", ANY),
    ("maxProperties", OBJECT),
    ("minProperties", OBJECT),
    ("propertyNames", OBJECT),
    ("$dynamicAnchor", ANY),
    ("additionalItems", ARRAY),
    ("contentEncoding", ANY),
    ("contentMediaType", ANY),
    ("dependentSchemas", OBJECT),
    ("exclusiveMaximum", NUMBER),
    ("exclusiveMinimum", NUMBER),
    ("unevaluatedItems", ARRAY),
    ("dependentRequired", OBJECT),
    ("patternProperties", OBJECT),
    ("additionalProperties", OBJECT),
    ("unevaluatedProperties", OBJECT),
];

/// Keywords of other programs and of older drafts that are close to one of [`KEYWORDS`], or that
/// a suggestion would be wrong for.
const FOREIGN: &[&str] = &[
    // OpenAPI and Gemini.
    "example",
    "nullable",
    "propertyOrdering",
    "property_ordering",
    "externalDocs",
    "discriminator",
    // Drafts 3, 4 and 2019-09.
    "id",
    "divisibleBy",
    "extends",
    "disallow",
    "optional",
    "$recursiveRef",
    "$recursiveAnchor",
    // Editors, forms and ajv.
    "enumNames",
    "enumTitles",
    "enumDescriptions",
    "markdownDescription",
    "deprecationMessage",
    "errorMessage",
    "formatMinimum",
    "formatMaximum",
    "patternRequired",
    "requiredProperties",
    "content",
    "contents",
    "defaultSnippets",
    "options",
    "order",
    "propertyOrder",
];

/// The names of all keywords of JSON Schema, for suggestions.
///
/// Of both dialects together, shortest first.
pub fn keyword_names() -> impl Iterator<Item = &'static str> + Clone {
    KEYWORDS.iter().map(|(name, _)| *name)
}

/// The types that a keyword applies to; `None` if JSON Schema has no such keyword. By length first,
/// because this is asked for every keyword of every schema and most lengths differ.
pub(super) fn types_of(keyword: &str) -> Option<u8> {
    let order = |name: &str| name.len().cmp(&keyword.len()).then_with(|| name.cmp(keyword));
    KEYWORDS.binary_search_by(|(name, _)| order(name)).ok().map(|found| KEYWORDS[found].1)
}

/// Whether JSON Schema has this keyword, in one of the dialects.
pub(crate) fn is_keyword(keyword: &str) -> bool {
    types_of(keyword).is_some()
}

/// Whether a keyword that JSON Schema does not have may still be meant as it is.
///
/// Such a keyword is not reported, whatever it resembles.
pub(super) fn is_foreign(keyword: &str) -> bool {
    keyword.starts_with("x-") || keyword.starts_with("X-") || FOREIGN.contains(&keyword)
}

/// The types that `type` allows, `ANY` without it.
///
/// `boolean` and `null` share a bit, because no keyword is about them alone.
pub(super) fn allowed_types(word: Option<&Value>) -> u8 {
    let bit = |word: &Value| match word.as_str() {
        Some("string") => STRING,
        Some("number" | "integer") => NUMBER,
        Some("array") => ARRAY,
        Some("object") => OBJECT,
        _ => OTHER,
    };
    match word {
        None => ANY,
        Some(Value::Array(words)) => words.iter().map(bit).fold(0, |all, bit| all | bit),
        Some(word) => bit(word),
    }
}

/// The types of a set with one member, in words.
///
/// Only called for a keyword that is about one type; see `KEYWORDS`.
pub(super) fn type_words(types: u8) -> &'static str {
    match types {
        STRING => "strings",
        NUMBER => "numbers",
        ARRAY => "arrays",
        _ => "objects",
    }
}

/// Whether the value of a keyword says nothing, whatever the type: generators write such values
/// into every schema. Then a keyword without effect is not reported.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Null => true,
        Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found() {
        for (name, types) in KEYWORDS {
            assert_eq!(types_of(name), Some(*types), "{name}");
        }
        for other in ["maxlength", "propertes", "", "x-own", "Type", "zzz"] {
            assert_eq!(types_of(other), None, "{other}");
        }
    }
}
