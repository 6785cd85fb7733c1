//! Which schemas are rejected and which instances match, by the toolfoundation specification and
//! the two dialects.

use serde_json::{Value, json};
use toolwright_schema::{Dialect, FormatAssertion, Schema, SchemaOptions, SchemaValidator};

/// `valid`, `invalid`, or the code and the pointer of the schema error.
fn outcome(schema: &Value, instance: &Value) -> String {
    match Schema::compile(schema) {
        Err(error) => format!("{} {}", error.code(), error.at()),
        Ok(schema) => {
            let valid = schema.is_valid(instance);
            assert_eq!(schema.validate(instance).is_ok(), valid, "validate and is_valid disagree");
            if valid { "valid".to_owned() } else { "invalid".to_owned() }
        }
    }
}

fn check(cases: &[(&str, Value, Value, &str)]) {
    for (name, schema, instance, expected) in cases {
        assert_eq!(outcome(schema, instance), *expected, "{name}");
    }
}

const D7: &str = "http://json-schema.org/draft-07/schema#";

#[test]
fn the_schema_keyword_selects_the_dialect() {
    let d4 = "http://json-schema.org/draft-04/schema#";
    let typed = |dialect: &str| json!({ "$schema": dialect, "type": "string" });
    check(&[
        ("absent", json!({ "type": "string" }), json!("x"), "valid"),
        ("empty", typed(""), json!("x"), "valid"),
        (
            "2020-12 over http",
            typed("http://json-schema.org/draft/2020-12/schema"),
            json!(1),
            "invalid",
        ),
        (
            "2020-12 with #",
            typed("https://json-schema.org/draft/2020-12/schema#"),
            json!(1),
            "invalid",
        ),
        ("draft-07", typed(D7), json!("x"), "valid"),
        (
            "draft-07 over https",
            typed("https://json-schema.org/draft-07/schema"),
            json!(1),
            "invalid",
        ),
        (
            "draft-07 links",
            typed("http://json-schema.org/draft-07/links"),
            json!(1),
            "UNSUPPORTED_DIALECT /$schema",
        ),
        ("draft-04", typed(d4), json!(1), "UNSUPPORTED_DIALECT /$schema"),
        (
            "vocabulary",
            typed("https://json-schema.org/draft/2020-12/meta/core"),
            json!(1),
            "UNSUPPORTED_DIALECT /$schema",
        ),
        (
            "case",
            typed("HTTPS://json-schema.org/draft/2020-12/schema"),
            json!(1),
            "UNSUPPORTED_DIALECT /$schema",
        ),
        ("custom", typed("https://example.com/mine"), json!(1), "UNSUPPORTED_DIALECT /$schema"),
        ("not a string", json!({ "$schema": 7 }), json!(1), "INVALID_SCHEMA /$schema"),
        (
            "ignored below the root",
            json!({ "properties": { "a": typed(d4) } }),
            json!({ "a": 1 }),
            "invalid",
        ),
        (
            "an embedded resource in another dialect",
            json!({
                "$defs": { "a": { "$id": "a", "$schema": D7, "items": [{ "type": "string" }] } },
                "$ref": "a"
            }),
            json!([1]),
            "invalid",
        ),
        (
            "an embedded resource in an unsupported dialect",
            json!({ "$defs": { "a": { "$id": "a", "$schema": d4 } } }),
            json!(1),
            "UNSUPPORTED_DIALECT /$defs/a/$schema",
        ),
    ]);
    assert_eq!(Schema::compile(&typed(D7)).map(|schema| schema.dialect()), Ok(Dialect::Draft7));
}

#[test]
fn invalid_schemas_are_rejected_with_their_pointer() {
    check(&[
        ("false", json!(false), json!(1), "invalid"),
        ("true", json!(true), json!(1), "valid"),
        ("empty", json!({}), json!(1), "valid"),
        ("null", json!(null), json!(1), "INVALID_SCHEMA "),
        ("number", json!(3), json!(1), "INVALID_SCHEMA "),
        ("list", json!([]), json!(1), "INVALID_SCHEMA "),
        ("nested true", json!({ "properties": { "a": true } }), json!({ "a": 1 }), "valid"),
        ("unknown type", json!({ "type": "banana" }), json!(1), "INVALID_SCHEMA /type"),
        (
            "deep",
            json!({ "properties": { "a/b": { "minLength": -1 } } }),
            json!(1),
            "INVALID_SCHEMA /properties/a~1b/minLength",
        ),
        (
            "draft-04 bound",
            json!({ "minimum": 1, "exclusiveMinimum": true }),
            json!(1),
            "INVALID_SCHEMA /exclusiveMinimum",
        ),
        ("draft-04 required", json!({ "required": true }), json!({}), "INVALID_SCHEMA /required"),
        ("list items in 2020-12", json!({ "items": [{}] }), json!([1]), "INVALID_SCHEMA /items"),
        (
            "bad pattern",
            json!({ "properties": { "a": { "pattern": "(" } } }),
            json!(1),
            "INVALID_SCHEMA /properties/a/pattern",
        ),
        (
            "bad name pattern",
            json!({ "patternProperties": { "(": {} } }),
            json!(1),
            "INVALID_SCHEMA /patternProperties/(",
        ),
        (
            "bad id",
            json!({ "$defs": { "a": { "$id": "http://[" } } }),
            json!(1),
            "INVALID_SCHEMA /$defs/a/$id",
        ),
        ("unknown keyword", json!({ "x-foo": 1, "foo": { "bar": [] } }), json!(1), "valid"),
        (
            "the $id of a meta-schema",
            json!({ "$id": D7, "type": "string" }),
            json!(1),
            "INVALID_SCHEMA /$id",
        ),
        (
            "the $id of a meta-schema below the root",
            json!({ "$defs": { "a": { "$id": "https://json-schema.org/draft/2020-12/schema" } } }),
            json!(1),
            "INVALID_SCHEMA /$defs/a/$id",
        ),
        ("empty enum", json!({ "enum": [] }), json!(1), "invalid"),
        (
            "$vocabulary",
            json!({ "$vocabulary": { "https://example.com/v": true } }),
            json!(1),
            "valid",
        ),
    ]);
}

#[test]
fn references_resolve_only_within_the_document() {
    let root = "https://example.com/root.json";
    let other = "https://example.com/x.json";
    check(&[
        ("http", json!({ "$ref": other }), json!(1), "EXTERNAL_REF /$ref"),
        ("file", json!({ "$ref": "file:///etc/passwd" }), json!(1), "EXTERNAL_REF /$ref"),
        ("relative", json!({ "$ref": "other.json" }), json!(1), "EXTERNAL_REF /$ref"),
        (
            "relative to id",
            json!({ "$id": root, "$ref": "other.json" }),
            json!(1),
            "EXTERNAL_REF /$ref",
        ),
        (
            "unused",
            json!({ "$defs": { "a": { "$ref": other } } }),
            json!(1),
            "EXTERNAL_REF /$defs/a/$ref",
        ),
        (
            "into an external document",
            json!({ "$ref": "https://example.com/x.json#/a" }),
            json!(1),
            "EXTERNAL_REF /$ref",
        ),
        (
            "dynamic",
            json!({ "$dynamicRef": "https://example.com/x#n" }),
            json!(1),
            "EXTERNAL_REF /$dynamicRef",
        ),
        (
            "another dialect's meta-schema",
            json!({ "$ref": "http://json-schema.org/draft-04/schema#" }),
            json!(1),
            "EXTERNAL_REF /$ref",
        ),
        (
            "ignored beside a draft-07 $ref, still external",
            json!({
                "$schema": D7,
                "$ref": "#/definitions/a",
                "definitions": { "a": {} },
                "items": { "$ref": other }
            }),
            json!(1),
            "EXTERNAL_REF /items/$ref",
        ),
        ("only data", json!({ "const": { "$ref": other } }), json!({ "$ref": other }), "valid"),
        (
            "only an example",
            json!({ "examples": [{ "$ref": other }], "default": { "$ref": other } }),
            json!(1),
            "valid",
        ),
        ("draft-07 meta-schema", json!({ "$ref": D7 }), json!({ "type": 7 }), "invalid"),
        (
            "2020-12 meta-schema",
            json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" }),
            json!({ "type": 7 }),
            "invalid",
        ),
        (
            "2020-12 meta-schema, good",
            json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" }),
            json!({ "type": "string" }),
            "valid",
        ),
        (
            "own id",
            json!({ "$id": root, "properties": { "a": { "$ref": root } }, "type": "object" }),
            json!({ "a": { "a": 1 } }),
            "invalid",
        ),
        (
            "embedded id",
            json!({
                "$id": root,
                "$defs": { "s": { "$id": "s.json", "type": "string" } },
                "$ref": "s.json"
            }),
            json!(1),
            "invalid",
        ),
        (
            "anchor",
            json!({ "$defs": { "s": { "$anchor": "s", "type": "string" } }, "$ref": "#s" }),
            json!(1),
            "invalid",
        ),
        (
            "draft-07 anchor",
            json!({
                "$schema": D7,
                "definitions": { "s": { "$id": "#s", "type": "string" } },
                "$ref": "#s"
            }),
            json!(1),
            "invalid",
        ),
        (
            "empty is the root",
            json!({ "type": "object", "properties": { "a": { "$ref": "" } } }),
            json!({ "a": 1 }),
            "invalid",
        ),
        (
            "unknown place",
            json!({ "x": { "y": { "type": "string" } }, "$ref": "#/x/y" }),
            json!(1),
            "invalid",
        ),
        (
            "dangling",
            json!({ "properties": { "a": { "$ref": "#/$defs/nope" } } }),
            json!(1),
            "INVALID_SCHEMA /properties/a/$ref",
        ),
        ("dangling anchor", json!({ "$ref": "#nope" }), json!(1), "INVALID_SCHEMA /$ref"),
        (
            "dangling, unused",
            json!({ "$defs": { "a": { "$ref": "#/nope" } } }),
            json!(1),
            "INVALID_SCHEMA /$defs/a/$ref",
        ),
        (
            "to a value that is not a schema",
            json!({ "type": "object", "items": { "$ref": "#/type" } }),
            json!(1),
            "INVALID_SCHEMA /items/$ref",
        ),
        (
            "not a URI",
            json!({ "items": { "$ref": "http://[" } }),
            json!(1),
            "INVALID_SCHEMA /items/$ref",
        ),
        (
            "siblings count in 2020-12",
            json!({ "$defs": { "s": {} }, "$ref": "#/$defs/s", "minLength": 5 }),
            json!("x"),
            "invalid",
        ),
        (
            "siblings are ignored in draft-07",
            json!({
                "$schema": D7,
                "definitions": { "s": {} },
                "properties": { "a": { "$ref": "#/definitions/s", "minLength": 5 } }
            }),
            json!({ "a": "x" }),
            "valid",
        ),
        (
            "dynamic recursion",
            json!({
                "$dynamicAnchor": "node",
                "properties": { "c": { "$dynamicRef": "#node" } },
                "additionalProperties": false
            }),
            json!({ "c": { "x": 1 } }),
            "invalid",
        ),
    ]);
}

#[test]
fn each_dialect_has_its_own_keywords() {
    check(&[
        (
            "tuple",
            json!({ "$schema": D7, "items": [{ "type": "string" }, { "type": "number" }] }),
            json!(["a", "b"]),
            "invalid",
        ),
        (
            "prefixItems",
            json!({ "prefixItems": [{ "type": "string" }], "items": false }),
            json!(["a", 1]),
            "invalid",
        ),
        (
            "prefixItems in draft-07",
            json!({ "$schema": D7, "prefixItems": [{ "type": "string" }] }),
            json!([1]),
            "valid",
        ),
        (
            "dependencies",
            json!({ "$schema": D7, "dependencies": { "a": ["b"] } }),
            json!({ "a": 1 }),
            "invalid",
        ),
        (
            "dependencies with a schema",
            json!({ "$schema": D7, "dependencies": { "a": { "required": ["b"] } } }),
            json!({ "a": 1 }),
            "invalid",
        ),
        (
            "dependentRequired",
            json!({ "dependentRequired": { "a": ["b"] } }),
            json!({ "a": 1 }),
            "invalid",
        ),
        (
            "unevaluatedProperties",
            json!({ "allOf": [{ "properties": { "a": {} } }], "unevaluatedProperties": false }),
            json!({ "b": 1 }),
            "invalid",
        ),
        (
            "unevaluatedProperties in draft-07",
            json!({ "$schema": D7, "unevaluatedProperties": false }),
            json!({ "b": 1 }),
            "valid",
        ),
    ]);
}

#[test]
fn values_are_compared_by_their_mathematical_value() {
    check(&[
        ("1.0 is 1", json!({ "enum": [1] }), json!(1.0), "valid"),
        ("integer", json!({ "type": "integer" }), json!(1.5), "invalid"),
        ("decimal multiples", json!({ "multipleOf": 0.01 }), json!(4.35), "valid"),
        (
            "exact integers",
            json!({ "minimum": 9_007_199_254_740_993_u64 }),
            json!(9_007_199_254_740_992_u64),
            "invalid",
        ),
        ("characters, not bytes", json!({ "maxLength": 1 }), json!("😀"), "valid"),
        ("2.0 as a length", json!({ "minLength": 2.0 }), json!("x"), "invalid"),
        ("unique numbers", json!({ "uniqueItems": true }), json!([1, 1.0]), "invalid"),
        ("true is not 1", json!({ "uniqueItems": true }), json!([true, 1]), "valid"),
        ("null constant", json!({ "const": null }), json!(0), "invalid"),
        (
            "defaults are not applied",
            json!({ "properties": { "e": { "default": 1 } }, "required": ["e"] }),
            json!({}),
            "invalid",
        ),
        ("look-ahead", json!({ "pattern": "^(?=a)" }), json!("a"), "valid"),
        ("back-reference", json!({ "pattern": "(a)\\1" }), json!("ab"), "invalid"),
        ("\\d is ASCII", json!({ "pattern": "^\\d$" }), json!("٣"), "invalid"),
        (
            "both alternatives",
            json!({ "oneOf": [{ "type": "number" }, { "type": "integer" }] }),
            json!(1),
            "invalid",
        ),
        ("a list is not an object", json!({ "type": "object" }), json!([]), "invalid"),
    ]);
}

#[test]
fn formats_are_checked_only_on_request() {
    let cases = [
        (json!({ "format": "email" }), json!("nope")),
        (json!({ "$schema": D7, "format": "date-time" }), json!("nope")),
        (json!({ "$schema": D7, "contentEncoding": "base64" }), json!("%%%")),
        (json!({ "$schema": D7, "contentMediaType": "application/json" }), json!("{")),
    ];
    for (schema, instance) in cases {
        let compile =
            |formats| Schema::compile_with(&schema, &SchemaOptions { formats }).expect("compiles");
        assert!(compile(FormatAssertion::Annotate).is_valid(&instance), "{schema}");
        assert!(!compile(FormatAssertion::Assert).is_valid(&instance), "{schema}");
    }
}

#[test]
fn one_schema_is_shared_by_many_threads() {
    fn assert_shareable<T: Send + Sync>() {}
    assert_shareable::<Schema>();
    assert_shareable::<SchemaValidator>();
    let schema = Schema::compile(
        &json!({ "properties": { "n": { "minimum": 10 }, "s": { "pattern": "^(?=a)" } } }),
    )
    .expect("compiles");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let schema = &schema;
            scope.spawn(move || {
                for round in 0..200 {
                    let instance = json!({ "n": number * 3 + round % 2, "s": "a" });
                    let expected = number * 3 + round % 2 >= 10;
                    assert_eq!(schema.is_valid(&instance), expected);
                    assert_eq!(schema.validate(&instance).is_ok(), expected);
                }
            });
        }
    });
}
