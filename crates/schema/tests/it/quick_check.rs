//! The quick check answers `true` for common schemas and instances, and only for valid ones.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolwright_schema::{Schema, is_certainly_valid_instance, is_certainly_valid_schema};

#[test]
fn common_schemas_need_no_compiling() {
    for (schema, expected) in [
        (json!({"type": "object"}), true),
        (
            json!({
                "type": "object",
                "properties": {
                    "a": {"type": ["string", "null"], "description": "x", "enum": ["b", null]}
                },
                "required": ["a"],
                "additionalProperties": false
            }),
            true,
        ),
        (
            json!({"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 1}, true]}}),
            true,
        ),
        (json!({"type": "string", "pattern": "^[a-z0-9_-]+$"}), true),
        // Valid or not, only compiling can tell.
        (json!({"type": "string", "pattern": "^(a|b)"}), false),
        (json!({"type": "string", "pattern": "[z-a]"}), false),
        (json!({"type": "string", "pattern": "a**"}), false),
        (json!({"type": "string", "pattern": "[a-z"}), false),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {}}}), false),
        (json!({"$schema": "http://json-schema.org/draft-07/schema#"}), false),
        (json!({"x-own": 1}), false),
        // Not valid.
        (json!({"type": "text"}), false),
        (json!({"type": ["string", "string"]}), false),
        (json!({"required": ["a", "a"]}), false),
        (json!({"anyOf": []}), false),
        (json!({"minLength": -1}), false),
        (json!(true), false),
    ] {
        assert_eq!(is_certainly_valid_schema(&schema), expected, "{schema}");
    }
}

#[test]
fn common_instances_need_no_validating() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "lines": {"type": "integer", "minimum": 1}
        },
        "required": ["path"],
        "additionalProperties": false
    });
    for (instance, expected) in [
        (json!({"path": "a"}), true),
        (json!({"path": "a", "lines": 3}), true),
        (json!({}), false),
        (json!({"path": ""}), false),
        (json!({"path": "a", "lines": 0}), false),
        (json!({"path": "a", "line": 1}), false),
        (json!([]), false),
    ] {
        assert_eq!(is_certainly_valid_instance(&schema, &instance), expected, "{instance}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof!["object", "string", "array", "text", "", "a"].prop_map(Value::from),
        "\\^?[a-z+*?.\\[\\]-]{0,8}\\$?".prop_map(Value::from),
        prop::collection::vec(prop_oneof!["a", "string", "null"].prop_map(Value::from), 0..4)
            .prop_map(Value::from),
        Just(json!({})),
        Just(json!([[1]])),
    ]
}

fn keyword() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "allOf",
        "required",
        "enum",
        "title",
        "description",
        "format",
        "default",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "deprecated",
        "readOnly",
        "writeOnly",
        "pattern",
        "$ref",
        "$id",
        "not",
    ])
    .prop_map(str::to_owned)
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop::collection::vec((keyword(), value()), 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    leaf.prop_recursive(5, 40, 5, |inner| {
        let nested = prop_oneof![
            inner.clone(),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c]", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
            value(),
        ];
        prop::collection::vec((keyword(), nested), 0..5)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    })
}

/// Values that the generated schemas often allow.
fn instance() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![value(), (-5i64..5).prop_map(Value::from), (-5f64..5.0).prop_map(Value::from)];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-c]", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Schemas as people write them.
fn common_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "minLength": 1})),
        Just(json!({"type": "integer", "minimum": -1, "maximum": 2})),
        Just(json!({"type": ["number", "null"]})),
        Just(json!({"enum": ["a", "b", 1]})),
        Just(json!({"const": "a"})),
        Just(json!(true)),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, closed)| json!({
                "type": "object",
                "properties": {"a": a, "b": b},
                "required": ["a"],
                "additionalProperties": !closed
            })),
            (inner.clone(), inner.clone()).prop_map(|(a, rest)| json!({
                "properties": {"a": a},
                "additionalProperties": rest
            })),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items, "maxItems": 2})),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"anyOf": [a, b]})),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"allOf": [a, b]})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_certainly_valid_instance_is_valid(
        schema in prop_oneof![schema(), common_schema()],
        instance in instance(),
    ) {
        if is_certainly_valid_schema(&schema) && is_certainly_valid_instance(&schema, &instance) {
            let compiled = Schema::compile(&schema).expect("a certainly valid schema compiles");
            prop_assert!(compiled.is_valid(&instance), "{schema} {instance}");
        }
    }

    #[test]
    fn a_certainly_valid_schema_compiles(schema in schema(), draft7 in any::<bool>()) {
        if is_certainly_valid_schema(&schema) {
            let mut schema = schema;
            // The answer holds for both dialects; `$schema` itself is not on the list of keywords.
            if draft7 {
                schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
            }
            let compiled = Schema::compile(&schema);
            prop_assert!(compiled.is_ok(), "{schema}: {:?}", compiled.err());
        }
    }
}
