//! Loops and fan-out: rejected where they would hang an evaluation, accepted where they only look
//! like it.

use serde_json::{Map, Value, json};
use toolwright_schema::Schema;

/// `compiles`, or the code and the pointer of the error.
fn outcome(schema: &Value) -> String {
    match Schema::compile(schema) {
        Ok(_) => "compiles".to_owned(),
        Err(error) => format!("{} {}", error.code(), error.at()),
    }
}

#[test]
fn loops_that_consume_nothing_are_rejected() {
    let d7 = "http://json-schema.org/draft-07/schema#";
    let cases = [
        ("self", json!({ "$ref": "#" }), "INVALID_SCHEMA /$ref"),
        ("draft-07", json!({ "$schema": d7, "$ref": "#" }), "INVALID_SCHEMA /$ref"),
        ("allOf", json!({ "allOf": [{ "$ref": "#" }] }), "INVALID_SCHEMA /allOf/0/$ref"),
        ("not", json!({ "not": { "$ref": "#" } }), "INVALID_SCHEMA /not/$ref"),
        ("if", json!({ "if": { "$ref": "#" } }), "INVALID_SCHEMA /if/$ref"),
        (
            "dependentSchemas",
            json!({ "dependentSchemas": { "a": { "$ref": "#" } } }),
            "INVALID_SCHEMA /dependentSchemas/a/$ref",
        ),
        (
            "two definitions",
            json!({
                "$defs": {
                    "a": { "$ref": "#/$defs/b" },
                    "b": { "anyOf": [true, { "$ref": "#/$defs/a" }] }
                }
            }),
            "INVALID_SCHEMA /$defs/a/$ref",
        ),
        (
            "certain $dynamicRef",
            json!({ "$dynamicAnchor": "n", "$dynamicRef": "#n" }),
            "INVALID_SCHEMA /$dynamicRef",
        ),
        ("through properties", json!({ "properties": { "a": { "$ref": "#" } } }), "compiles"),
        ("through items", json!({ "$schema": d7, "items": [{ "$ref": "#" }] }), "compiles"),
        ("through propertyNames", json!({ "propertyNames": { "$ref": "#" } }), "compiles"),
        (
            "diamond",
            json!({
                "$defs": { "a": {} },
                "allOf": [{ "$ref": "#/$defs/a" }, { "$ref": "#/$defs/a" }]
            }),
            "compiles",
        ),
        (
            "beside a draft-07 $ref nothing applies",
            json!({
                "$schema": d7,
                "definitions": {
                    "a": { "$ref": "#/definitions/b", "allOf": [{ "$ref": "#/definitions/a" }] },
                    "b": {}
                }
            }),
            "compiles",
        ),
        ("data", json!({ "const": { "$ref": "#" }, "enum": [{ "$ref": "#" }] }), "compiles"),
    ];
    for (name, schema, expected) in cases {
        let actual = outcome(&schema);
        // Any reference of the loop may be reported.
        let loop_of_two = name == "two definitions" && actual.starts_with("INVALID_SCHEMA /$defs/");
        assert!(actual == expected || loop_of_two, "{name}: {actual}");
    }
}

/// `levels` definitions, each applying the next one twice: `twice` builds the definition.
pub(crate) fn doubling(levels: usize, twice: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions.insert(format!("d{level}"), twice(next));
    }
    definitions.insert(format!("d{levels}"), json!({ "type": "string" }));
    json!({ "$defs": definitions, "$ref": "#/$defs/d0" })
}

#[test]
fn exponential_fan_out_is_rejected() {
    let all = |next: Value| json!({ "allOf": [next.clone(), next] });
    assert_eq!(outcome(&doubling(10, all)), "compiles");
    assert_eq!(outcome(&doubling(30, all)), "INVALID_SCHEMA ");
    // `unevaluatedProperties` evaluates its siblings a second time at every level.
    let again = |next: Value| json!({ "anyOf": [next], "unevaluatedProperties": false });
    assert_eq!(outcome(&doubling(8, again)), "compiles");
    assert_eq!(outcome(&doubling(60, again)), "INVALID_SCHEMA ");
}

#[test]
fn the_number_of_subschemas_is_limited() {
    let many = |count| json!({ "anyOf": vec![json!(true); count] });
    assert_eq!(outcome(&many(15_000)), "compiles");
    assert_eq!(
        outcome(&json!({ "$defs": { "a": { "prefixItems": vec![json!(true); 100_000] } } })),
        "INVALID_SCHEMA "
    );
}

#[test]
fn the_nesting_of_a_schema_is_limited() {
    let nested = |levels| (1..levels).fold(json!({}), |inner, _| json!({ "not": inner }));
    assert_eq!(outcome(&nested(128)), "compiles");
    assert_eq!(outcome(&nested(129)), "INVALID_SCHEMA ");
}

#[test]
fn resources_that_refer_to_each_other_in_many_orders_are_rejected() {
    // Twelve resources that refer to one another can be walked in 12! orders.
    let names: Vec<String> = (0..12).map(|index| format!("r{index}")).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({ "$ref": name }))).collect();
    let resources: Map<String, Value> = names
        .iter()
        .map(|name| (name.clone(), json!({ "$id": name, "properties": properties })))
        .collect();
    assert_eq!(outcome(&json!({ "$defs": resources, "$ref": "r0" })), "INVALID_SCHEMA ");
}
