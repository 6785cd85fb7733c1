//! The cases that the project's research checked against the original implementation of the
//! toolfoundation specification, as JSON text: schema, instance, expected outcome.

use serde_json::Value;
use toolwright_schema::{SchemaValidator, ValidateError};

/// Validates JSON text: `valid`, `invalid`, or the code of the schema error.
fn outcome(schema: &str, instance: &str) -> &'static str {
    match SchemaValidator::validate(schema, instance) {
        Ok(()) => "valid",
        Err(ValidateError::Instance(_)) => "invalid",
        Err(ValidateError::Schema(error)) => error.code(),
    }
}

/// A selection of our own, with at least one case for each kind of question that the research
/// asked.
const CASES: &[(&str, &str, &str, &str)] = &[
    ("no dialect is 2020-12", r#"{"prefixItems": [{"type": "null"}]}"#, "[1]", "invalid"),
    ("an empty dialect is 2020-12", r#"{"$schema": "", "type": "null"}"#, "null", "valid"),
    (
        "draft-07 over https without #",
        r#"{"$schema": "https://json-schema.org/draft-07/schema", "type": "null"}"#,
        "null",
        "valid",
    ),
    (
        "draft-06",
        r#"{"$schema": "http://json-schema.org/draft-06/schema#"}"#,
        "null",
        "UNSUPPORTED_DIALECT",
    ),
    ("a dialect that is not a string", r#"{"$schema": []}"#, "null", "INVALID_SCHEMA"),
    ("true", "true", "0", "valid"),
    ("false", "false", "0", "invalid"),
    ("null", "null", "0", "INVALID_SCHEMA"),
    ("a type that does not exist", r#"{"type": "float"}"#, "0", "INVALID_SCHEMA"),
    ("a negative length", r#"{"maxLength": -2}"#, "0", "INVALID_SCHEMA"),
    ("a list under items", r#"{"items": [{}, {}]}"#, "[]", "INVALID_SCHEMA"),
    ("format is an annotation", r#"{"format": "ipv4"}"#, r#""none""#, "valid"),
    (
        "contentEncoding is an annotation in draft-07",
        r##"{"$schema": "http://json-schema.org/draft-07/schema#", "contentEncoding": "base64"}"##,
        r#""?""#,
        "valid",
    ),
    ("an http reference", r#"{"$ref": "http://example.org/a.json"}"#, "0", "EXTERNAL_REF"),
    (
        "an unused relative reference",
        r#"{"$defs": {"unused": {"$ref": "b.json"}}}"#,
        "0",
        "EXTERNAL_REF",
    ),
    (
        "a reference to an embedded resource",
        r#"{"$defs": {"n": {"$id": "n.json", "type": "number"}}, "items": {"$ref": "n.json"}}"#,
        r#"[1, "2"]"#,
        "invalid",
    ),
    (
        "recursion",
        r##"{"type": "object", "additionalProperties": {"$ref": "#"}}"##,
        r#"{"a": {"b": {}}}"#,
        "valid",
    ),
    ("a loop", r##"{"anyOf": [{"$ref": "#"}]}"##, "0", "INVALID_SCHEMA"),
    (
        "siblings of a draft-07 $ref are ignored",
        r##"{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"any": {}},
            "items": {"$ref": "#/definitions/any", "type": "string"}}"##,
        "[1]",
        "valid",
    ),
    ("look-ahead", r#"{"pattern": "^(?!x)"}"#, r#""xy""#, "invalid"),
    ("a back-reference", r#"{"pattern": "^(.)\\1$"}"#, r#""aa""#, "valid"),
    ("1 and 1.0 are the same", r#"{"const": 2}"#, "2.0", "valid"),
    ("a multiple of a decimal", r#"{"multipleOf": 0.1}"#, "1.1", "valid"),
    ("large integers are exact", r#"{"maximum": 9007199254740992}"#, "9007199254740993", "invalid"),
    ("length is in characters", r#"{"minLength": 2}"#, r#""é""#, "invalid"),
    (
        "defaults are not filled in",
        r#"{"required": ["a"], "properties": {"a": {"default": 1}}}"#,
        "{}",
        "invalid",
    ),
    ("a name that appears twice", r#"{"minimum": 1, "minimum": 2}"#, "3", "INVALID_SCHEMA"),
    ("text after the schema", r#"{"type": "null"} ,"#, "null", "INVALID_SCHEMA"),
    ("text after the instance", r#"{"type": "null"}"#, "null null", "invalid"),
    ("a list for an object", r#"{"type": "object"}"#, "[]", "invalid"),
];

#[test]
fn cases_of_the_original_implementation_have_the_expected_outcome() {
    for (name, schema, instance, expected) in CASES {
        assert_eq!(outcome(schema, instance), *expected, "{name}");
    }
    let Ok(shared) = std::env::var("TOOLWRIGHT_SHARED") else {
        eprintln!("facts/validator.json is not run: TOOLWRIGHT_SHARED is not set");
        return;
    };
    let text = std::fs::read_to_string(format!("{shared}/facts/validator.json"))
        .expect("the cases are readable");
    let facts: Value = serde_json::from_str(&text).expect("the cases are JSON");
    let mut checked = 0;
    for case in facts["cases"].as_array().expect("a list of cases") {
        let text = |key: &str| case[key].as_str().expect("a string");
        // The expectation may go on: `valid+lint`, `ErrInvalidSchema or lint`.
        let expected = match text("recommended").split(['+', ' ']).next() {
            Some("ErrInvalidSchema" | "no") => "INVALID_SCHEMA",
            Some("ErrUnsupportedSchema") => "UNSUPPORTED_DIALECT",
            Some("ErrExternalRef") => "EXTERNAL_REF",
            Some(outcome) => outcome,
            None => unreachable!("split yields at least one part"),
        };
        assert_eq!(outcome(text("schema"), text("instance")), expected, "{}", text("name"));
        checked += 1;
    }
    eprintln!("facts/validator.json: {checked} cases");
    assert!(checked > 70, "only {checked} cases");
}
