//! The messages say what is wrong, and the paths say where.

use serde_json::{Value, json};
use toolwright_schema::Schema;

#[test]
fn schema_errors_name_the_pointer_and_the_cause() {
    let cases = [
        (json!(null), "invalid schema at the root: a schema is an object or a boolean"),
        (
            json!({ "type": "banana" }),
            "invalid schema at `/type`: `\"banana\"` matches no alternative of `anyOf`: \
             `\"banana\"` is not one of `\"array\"`, `\"boolean\"`, `\"integer\"`, `\"null\"`, \
             `\"number\"`, `\"object\"`, `\"string\"`; or `\"banana\"` is not of type `array`",
        ),
        (json!({ "minLength": -1 }), "invalid schema at `/minLength`: `-1` is less than `0`"),
        (
            json!({ "required": true }),
            "invalid schema at `/required`: `true` is not of type `array`",
        ),
        (
            json!({ "pattern": "(" }),
            "invalid schema at `/pattern`: the pattern `(` is not a regular expression",
        ),
        (
            json!({ "$ref": "#/nope" }),
            "invalid schema at `/$ref`: `$ref` `#/nope` points to nothing",
        ),
        (
            json!({ "$ref": "#" }),
            "invalid schema at `/$ref`: `$ref` refers back to itself without entering the instance",
        ),
        (
            json!({ "$ref": "x.json" }),
            "external reference at `/$ref`: `x.json` is not in this document",
        ),
        (
            json!({ "$schema": "urn:x" }),
            "unsupported dialect at `/$schema`: `urn:x`, expected draft-07 or 2020-12",
        ),
    ];
    for (schema, expected) in cases {
        let error = Schema::compile(&schema).expect_err("rejected");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn validation_errors_name_the_value_and_the_rule() {
    let cases = [
        (
            json!({ "type": ["string", "null"] }),
            json!(1),
            "the root: `1` is not of type `null` or `string`",
        ),
        (json!({ "required": ["a"] }), json!({}), "the root: the required property `a` is missing"),
        (
            json!({ "additionalProperties": false }),
            json!({ "a": 1, "b": 2 }),
            "the root: unexpected properties `a`, `b`",
        ),
        (
            json!({ "items": { "enum": ["x", 1] } }),
            json!(["y"]),
            "`/0`: `\"y\"` is not one of `\"x\"`, `1`",
        ),
        (json!({ "const": 1 }), json!(2), "the root: `2` is not `1`"),
        (json!({ "maxLength": 1 }), json!("ab"), "the root: `\"ab\"` is longer than 1 character"),
        (
            json!({ "pattern": "^x" }),
            json!("ab"),
            "the root: `\"ab\"` does not match the pattern `^x`",
        ),
        (json!({ "minItems": 2 }), json!([]), "the root: fewer than 2 items"),
        (json!({ "exclusiveMaximum": 3 }), json!(3), "the root: `3` is not less than `3`"),
        (json!({ "multipleOf": 2 }), json!(3), "the root: `3` is not a multiple of `2`"),
        (json!({ "not": {} }), json!(3), "the root: `3` matches the schema under `not`"),
        (
            json!({ "properties": { "a": false } }),
            json!({ "a": 1 }),
            "`/a`: nothing is allowed here",
        ),
        (
            json!({ "propertyNames": { "maxLength": 1 } }),
            json!({ "ab": 1 }),
            "the root: a property name is not allowed: `\"ab\"` is longer than 1 character",
        ),
        (
            json!({
                "anyOf": [{ "type": "string" }, { "properties": { "a": { "type": "null" } } }]
            }),
            json!({ "a": 1 }),
            "the root: `{\"a\":1}` matches no alternative of `anyOf`: `{\"a\":1}` is not of type \
             `string`; or at `/a`, `1` is not of type `null`",
        ),
    ];
    for (schema, instance, expected) in cases {
        let errors = Schema::compile(&schema)
            .expect("compiles")
            .validate(&instance)
            .expect_err("does not match");
        assert_eq!(errors.to_string(), expected);
    }
}

#[test]
fn every_failing_path_is_listed() {
    let schema = json!({
        "$defs": { "id": { "type": "integer" } },
        "properties": {
            "a/b": { "$ref": "#/$defs/id" },
            "list": { "type": "array", "items": { "type": "string" } }
        },
        "required": ["c"]
    });
    let instance = json!({ "a/b": "x", "list": ["ok", 1, 2] });
    let errors = Schema::compile(&schema)
        .expect("compiles")
        .validate(&instance)
        .expect_err("does not match");
    let mut found: Vec<[&str; 3]> = errors
        .iter()
        .map(|error| [&*error.instance_path, &*error.schema_path, &*error.keyword])
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ["", "/required", "required"],
            ["/a~1b", "/$defs/id/type", "type"],
            ["/list/1", "/properties/list/items/type", "type"],
            ["/list/2", "/properties/list/items/type", "type"],
        ]
    );
}

#[test]
fn a_long_list_of_errors_ends_with_a_note() {
    let schema = Schema::compile(&json!({ "items": { "type": "string" } })).expect("compiles");
    let instance = Value::Array(vec![json!(1); 20_000]);
    let errors = schema.validate(&instance).expect_err("does not match").into_vec();
    assert_eq!(errors.len(), 10_001);
    assert_eq!(errors[10_000].message, "more than 10000 errors; the rest is not listed");
}
