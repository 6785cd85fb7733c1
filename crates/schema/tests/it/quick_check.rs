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
        (json!({"type": "string", "pattern": "^20[0-9]{2}-[01][0-9]{1,}"}), true),
        (json!({"type": "string", "pattern": "^(?!x)(a|b)\\d+$"}), true),
        (json!({"patternProperties": {"^x-": {"type": "string"}}}), true),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {}}}), true),
        (
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"a": {"$ref": "#/definitions/A-1"}, "b": {"multipleOf": 0.5}},
                "definitions": {"A-1": {"items": {"$ref": "#/definitions/B"}}, "B": {"not": {}}}
            }),
            true,
        ),
        (json!({"x-own": {"a": [1]}, "default": {"a": {"b": [[1]]}}}), true),
        // Valid or not, only compiling can tell.
        (json!({"properties": {"a": {"$ref": "#"}}}), false),
        (json!({"$ref": "#/$defs/a%25", "$defs": {"a%": {}}}), false),
        (json!({"$id": "https://example.com/a"}), false),
        (json!({"own": 1}), false),
        (json!({"unevaluatedProperties": false}), false),
        (json!({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}), false),
        (json!({"default": {"$ref": "https://example.com/a"}}), false),
        // Not valid.
        (json!({"type": "string", "pattern": "a".repeat(10_001)}), false),
        (json!({"patternProperties": {"(a": {}}}), false),
        (json!({"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "]"}), false),
        (json!({"$ref": "#/$defs/b", "$defs": {"a": {}}}), false),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}), false),
        (json!({"$schema": "http://json-schema.org/draft-04/schema#"}), false),
        (json!({"multipleOf": 0}), false),
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

/// Short patterns are decided, twice: the second answer is a kept one. `true` is for all dialects,
/// of which Draft 7 refuses the most.
#[test]
fn short_patterns_are_decided_as_the_compiler_does() {
    let valid = ["", "^", "a", "^[a-z]+$", "a{2}", "a{2,}", "a{2,3}", "(a|b)", "^(?!x)\\d+$"];
    let doubtful =
        ["[z-a]", "a**", "[a-z", "a{3,2}", "a{2}{2}", "(a", "a{", "*", "[]", "[^a]", "\\"];
    for pattern in valid.iter().chain(&doubtful) {
        let schema = json!({ "type": "string", "pattern": pattern });
        let mut draft7 = schema.clone();
        draft7["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        let compiles = Schema::compile(&schema).is_ok() && Schema::compile(&draft7).is_ok();
        assert!(compiles || !valid.contains(pattern), "{pattern}");
        for _ in 0..2 {
            assert_eq!(is_certainly_valid_schema(&schema), compiles, "{pattern}");
        }
    }
}

/// All simple patterns of one part, up to the heaviest: more of them than a schema may have of
/// large ones.
#[test]
fn simple_patterns_have_an_ordinary_size() {
    const MAX_WEIGHT: usize = 64;
    for unit in [".", "[a-zA-Z0-9_-]", "a"] {
        let repeated = (1..).map(|n: usize| (n, format!("^{unit}{{{n}}}$")));
        let simple: Vec<String> = repeated
            .take_while(|(n, pattern)| n + pattern.len() <= MAX_WEIGHT)
            .map(|(_, pattern)| pattern)
            .collect();
        assert!(simple.len() > 8);
        let properties: Value = simple
            .iter()
            .enumerate()
            .map(|(n, pattern)| (n.to_string(), json!({ "pattern": pattern })))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let schema = json!({ "properties": properties });
        assert!(is_certainly_valid_schema(&schema), "{unit}");
        let compiled = Schema::compile(&schema);
        assert!(compiled.is_ok(), "{unit}: {:?}", compiled.err());
    }
}

#[test]
fn deep_and_wide_schemas_are_compiled() {
    let nested = |levels: usize| {
        (0..levels).fold(json!({"enum": [[[[1]]]]}), |inner, _| json!({"properties": {"a": inner}}))
    };
    assert!(is_certainly_valid_schema(&nested(40)));
    assert!(Schema::compile(&nested(40)).is_ok());
    assert!(!is_certainly_valid_schema(&nested(41)));
    // Each definition refers twice to the next one.
    let doubling = |levels: usize| {
        let name = |n: usize| format!("d{n}");
        let both = |n: usize| {
            json!({"anyOf": [{"$ref": format!("#/$defs/{}", name(n + 1))},
            {"$ref": format!("#/$defs/{}", name(n + 1))}]})
        };
        let mut definitions: serde_json::Map<String, Value> =
            (0..levels).map(|n| (name(n), both(n))).collect();
        definitions.insert(name(levels), json!({}));
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    };
    assert!(is_certainly_valid_schema(&doubling(4)));
    assert!(!is_certainly_valid_schema(&doubling(14)));
    assert!(Schema::compile(&doubling(14)).is_err());
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
        (0u64..4).prop_map(Value::from),
        prop_oneof!["object", "string", "array", "text", "", "a"].prop_map(Value::from),
        "\\^?[a-z+*?.\\[\\]-]{0,8}\\$?".prop_map(Value::from),
        "\\^?([a-c.]|\\[[a-c-]{1,3}\\]|\\(|\\)|\\{[0-3]{0,2},?[0-3]?\\}|[+*?|]){0,6}\\$?"
            .prop_map(Value::from),
        "#/(\\$defs|definitions|properties)/[a-c]".prop_map(Value::from),
        prop::collection::vec(prop_oneof!["a", "string", "null"].prop_map(Value::from), 0..4)
            .prop_map(Value::from),
        Just(json!({})),
        Just(json!([[1]])),
        Just(json!({"a": {"b": [1]}})),
        Just(json!({"$ref": "https://example.com"})),
        Just(json!({"a": ["b", "c"]})),
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
        "patternProperties",
        "propertyNames",
        "contains",
        "prefixItems",
        "if",
        "then",
        "else",
        "multipleOf",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
        "dependentRequired",
        "contentEncoding",
        "contentMediaType",
        "examples",
        "example",
        "nullable",
        "$comment",
        "x-own",
        "own",
        "$schema",
        "$defs",
        "definitions",
        "$ref",
        "$id",
        "$anchor",
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

/// Schemas as people and generators write them, with every keyword that is decided without
/// compiling. Those of published tools join them where a copy is at hand.
fn written_schemas() -> Vec<Value> {
    let mut schemas = vec![
        json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "day": {"type": "string", "format": "date", "pattern": "^20[0-9]{2}-"},
                "at": {"$ref": "#/definitions/place"},
                "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1,
                    "uniqueItems": true, "examples": [["a"]], "default": []},
                "map": {"patternProperties": {"^x-": {"enum": [1, null, {"a": 1}]}},
                    "propertyNames": {"maxLength": 9}, "minProperties": 1},
                "if": {"if": {"required": ["a"]}, "then": {"not": {"const": 1}}, "else": true}
            },
            "required": ["day"],
            "additionalProperties": false,
            "definitions": {"place": {"anyOf": [{"type": "string"}, {"$ref": "#/definitions/xy"}]},
                "xy": {"type": "object", "properties": {"x": {"multipleOf": 0.5}}}}
        }),
        json!({
            "$defs": {"Item": {"title": "Item", "type": "object", "properties": {
                "price": {"type": "number", "exclusiveMinimum": 0, "maximum": 99.5},
                "code": {"type": "string", "pattern": "^(?!0)\\w+$", "x-order": 1}}}},
            "properties": {
                "items": {"items": {"$ref": "#/$defs/Item"}, "type": "array", "maxItems": 9},
                "one": {"allOf": [{"$ref": "#/$defs/Item"}], "default": {"price": 1}},
                "pair": {"prefixItems": [{"type": "integer"}, {"oneOf": [{}, {"type": "null"}]}]},
                "some": {"contains": {"const": "a"}, "minContains": 1, "maxContains": 2},
                "data": {"contentEncoding": "base64", "contentMediaType": "text/plain"}
            },
            "dependentRequired": {"one": ["items"]},
            "type": "object"
        }),
    ];
    if let Some(shared) = std::env::var_os("TOOLWRIGHT_SHARED") {
        let path = std::path::Path::new(&shared).join("corpus/mcp/github-mcp-server.json");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let document: Value = serde_json::from_str(&text).unwrap_or_default();
        let tools = document["tools"].as_array().or(document.as_array()).cloned();
        schemas.extend(tools.unwrap_or_default().iter().map(|tool| tool["inputSchema"].clone()));
    }
    schemas
}

#[test]
fn the_schemas_that_people_write_need_no_compiling() {
    for schema in written_schemas() {
        assert!(is_certainly_valid_schema(&schema), "{schema}");
        assert!(Schema::compile(&schema).is_ok(), "{schema}");
    }
}

/// Puts `value` under `keyword` of one of the objects of `schema`, or in the place of one of its
/// values; `choice` selects which.
fn mutate(schema: &mut Value, choice: usize, keyword: &str, value: Value) {
    fn count(value: &Value) -> usize {
        let inside: usize = match value {
            Value::Array(list) => list.iter().map(count).sum(),
            Value::Object(members) => members.values().map(count).sum(),
            _ => 0,
        };
        1 + inside
    }
    let mut left = choice % count(schema);
    let mut at = schema;
    loop {
        if left == 0 {
            match at {
                Value::Object(members) if choice.is_multiple_of(3) => {
                    members.insert(keyword.to_owned(), value);
                }
                other => *other = value,
            }
            return;
        }
        left -= 1;
        let inner: Vec<&mut Value> = match at {
            Value::Array(list) => list.iter_mut().collect(),
            Value::Object(members) => members.values_mut().collect(),
            _ => return,
        };
        let mut next = None;
        for child in inner {
            let size = count(child);
            if left < size {
                next = Some(child);
                break;
            }
            left -= size;
        }
        let Some(child) = next else { return };
        at = child;
    }
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
    fn a_mutated_schema_that_is_certainly_valid_compiles(
        base in prop::sample::select(written_schemas()),
        mutations in prop::collection::vec((any::<usize>(), keyword(), value()), 1..3),
    ) {
        let mut schema = base;
        for (choice, keyword, value) in mutations {
            mutate(&mut schema, choice, &keyword, value);
        }
        if is_certainly_valid_schema(&schema) {
            let compiled = Schema::compile(&schema);
            prop_assert!(compiled.is_ok(), "{schema}: {:?}", compiled.err());
        }
    }

    #[test]
    fn a_certainly_valid_schema_compiles(schema in schema(), draft7 in any::<bool>()) {
        let mut schema = schema;
        if draft7 {
            schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        }
        if is_certainly_valid_schema(&schema) {
            let compiled = Schema::compile(&schema);
            prop_assert!(compiled.is_ok(), "{schema}: {:?}", compiled.err());
        }
    }
}
