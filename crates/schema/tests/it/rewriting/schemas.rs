//! Input schemas with all keywords, for property tests.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

/// Names of properties: plain ones, and some that targets do not accept.
const NAMES: [&str; 5] = ["a", "b", "c", "x-d", "$e"];

fn members(pairs: Vec<(&str, Option<Value>)>) -> Value {
    let present = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect())
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![(-5i64..30).prop_map(Value::from), select(vec![json!(0.5), json!(2.5), json!(1e3)])]
}

fn scalar() -> impl Strategy<Value = Value> {
    select(vec![
        json!("a"),
        json!("b"),
        json!(""),
        json!("1"),
        json!("A"),
        json!(1),
        json!(2),
        json!(1.0),
        json!(0.5),
        json!(true),
        json!(false),
        json!(null),
        json!([]),
        json!({ "a": 1 }),
    ])
}

fn numeric() -> impl Strategy<Value = Value> {
    let bound = || option::weighted(0.3, number());
    let step = option::weighted(0.2, select(vec![json!(1), json!(2), json!(0.5), json!(1.0)]));
    (select(vec!["integer", "number"]), bound(), bound(), bound(), bound(), step).prop_map(
        |(kind, low, high, above, below, step)| {
            members(vec![
                ("type", Some(kind.into())),
                ("minimum", low),
                ("maximum", high),
                ("exclusiveMinimum", above),
                ("exclusiveMaximum", below),
                ("multipleOf", step),
            ])
        },
    )
}

fn textual() -> impl Strategy<Value = Value> {
    let patterns = ["^x", "^[a-z]+$", "\\p{L}", "(?=a)a", "\\bx"];
    let formats = ["date", "uri", "color"];
    (
        option::weighted(0.3, 0u64..4),
        option::weighted(0.3, 0u64..9),
        option::weighted(0.3, select(patterns.to_vec())),
        option::weighted(0.2, select(formats.to_vec())),
    )
        .prop_map(|(least, most, pattern, format)| {
            members(vec![
                ("type", Some("string".into())),
                ("minLength", least.map(Value::from)),
                ("maxLength", most.map(Value::from)),
                ("pattern", pattern.map(Value::from)),
                ("format", format.map(Value::from)),
            ])
        })
}

fn listed() -> impl Strategy<Value = Value> {
    let types = option::weighted(
        0.5,
        select(vec![
            json!("string"),
            json!("integer"),
            json!(["string", "null"]),
            json!("boolean"),
        ]),
    );
    prop_oneof![
        (vec(scalar(), 1..4), types).prop_map(|(values, kind)| {
            let mut unique: Vec<Value> = Vec::new();
            for value in values {
                if !unique.iter().any(|other| super::same(other, &value)) {
                    unique.push(value);
                }
            }
            members(vec![("type", kind), ("enum", Some(Value::Array(unique)))])
        }),
        scalar().prop_map(|value| json!({ "const": value })),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    let types = ["string", "integer", "boolean", "null", "object", "array", "number"];
    prop_oneof![
        4 => textual(),
        4 => numeric(),
        3 => listed(),
        2 => select(vec![json!({}), json!(true), json!({ "description": "anything" }), json!(false)]),
        2 => select(types.to_vec()).prop_map(|kind| json!({ "type": kind })),
        2 => subsequence(types.to_vec(), 1..4).prop_map(|kinds| json!({ "type": kinds })),
        1 => select(vec![
            json!({ "$ref": "#/$defs/leaf" }),
            json!({ "$ref": "#/$defs/tree" }),
            json!({ "$ref": "#/$defs/leaf", "description": "with a sibling" }),
            json!({ "$ref": "#/$defs/tree", "maxProperties": 1 }),
        ]),
        1 => select(vec![json!({ "minLength": 1 }), json!({ "nullable": true, "type": "string" })]),
    ]
}

fn annotated(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let annotation = option::weighted(
        0.2,
        select(vec![
            ("description", json!("A text.")),
            ("default", json!("a")),
            ("title", json!("T")),
            ("examples", json!([1])),
            ("$comment", json!("c")),
        ]),
    );
    (inner, annotation).prop_map(|(mut schema, annotation)| {
        if let (Value::Object(members), Some((name, value))) = (&mut schema, annotation) {
            members.insert(name.to_owned(), value);
        }
        schema
    })
}

fn object(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let properties = subsequence(NAMES.to_vec(), 0..4).prop_flat_map({
        let inner = inner.clone();
        move |names| {
            let count = names.len();
            (Just(names), vec(inner.clone(), count))
        }
    });
    let others = prop_oneof![
        5 => Just(None),
        4 => Just(Some(json!(false))),
        1 => Just(Some(json!(true))),
        2 => inner.clone().prop_map(Some),
    ];
    let patterns = option::weighted(0.15, (select(vec!["^x", "^[a-c]$"]), inner.clone()));
    let counts = (option::weighted(0.1, 0u64..3), option::weighted(0.1, 0u64..4));
    let depending = option::weighted(0.1, select(vec![json!({ "a": ["b"] }), json!({})]));
    let names = option::weighted(
        0.1,
        select(vec![json!({ "maxLength": 2 }), json!({ "pattern": "^[a-z]" })]),
    );
    (properties, subsequence(NAMES.to_vec(), 0..3), others, patterns, counts, depending, names)
        .prop_map(|((names, schemas), required, others, pattern, counts, depending, key_names)| {
            let named: Map<String, Value> =
                names.iter().map(|name| (*name).to_owned()).zip(schemas).collect();
            members(vec![
                ("type", Some("object".into())),
                ("properties", Some(Value::Object(named))),
                ("required", (!required.is_empty()).then(|| json!(required))),
                ("additionalProperties", others),
                ("patternProperties", pattern.map(|(key, schema)| json!({ key: schema }))),
                ("minProperties", counts.0.map(Value::from)),
                ("maxProperties", counts.1.map(Value::from)),
                ("dependentRequired", depending),
                ("propertyNames", key_names),
            ])
        })
}

fn array(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    (
        option::weighted(0.8, inner.clone()),
        option::weighted(0.2, vec(inner.clone(), 1..3)),
        option::weighted(0.1, inner),
        option::weighted(0.3, 0u64..3),
        option::weighted(0.3, 0u64..4),
        option::weighted(0.2, any::<bool>()),
    )
        .prop_map(|(items, prefix, contains, least, most, unique)| {
            members(vec![
                ("type", Some("array".into())),
                ("items", items),
                ("prefixItems", prefix.map(Value::from)),
                ("contains", contains),
                ("minItems", least.map(Value::from)),
                ("maxItems", most.map(Value::from)),
                ("uniqueItems", unique.map(Value::from)),
            ])
        })
}

fn combined(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => vec(inner.clone(), 1..4).prop_map(|all| json!({ "anyOf": all })),
        2 => vec(inner.clone(), 1..4).prop_map(|all| json!({ "oneOf": all })),
        2 => vec(inner.clone(), 1..3).prop_map(|all| json!({ "allOf": all })),
        1 => inner.clone().prop_map(|one| json!({ "not": one })),
        1 => (inner.clone(), inner.clone(), inner).prop_map(|(test, then, other)| {
            json!({ "if": test, "then": then, "else": other })
        }),
    ]
}

fn subschema() -> impl Strategy<Value = Value> {
    annotated(leaf()).prop_recursive(3, 16, 4, |inner| {
        let inner = inner.boxed();
        annotated(prop_oneof![
            4 => object(inner.clone()),
            2 => array(inner.clone()),
            2 => combined(inner.clone()),
            1 => (object(inner.clone()), combined(inner)).prop_map(|(mut own, other)| {
                if let (Value::Object(own), Value::Object(other)) = (&mut own, other) {
                    own.extend(other);
                }
                own
            }),
        ])
    })
}

/// Input schemas.
pub(super) fn input_schema() -> impl Strategy<Value = Value> {
    let inner = subschema().boxed();
    let root = prop_oneof![
        6 => object(inner.clone()),
        1 => (object(inner.clone()), combined(inner.clone())).prop_map(|(mut own, other)| {
            if let (Value::Object(own), Value::Object(other)) = (&mut own, other) {
                own.extend(other);
            }
            own
        }),
        1 => combined(inner.clone()),
    ];
    (root, inner).prop_map(|(mut root, leaf)| {
        let tree = json!({
            "type": "object",
            "properties": {
                "value": { "type": "integer" },
                "children": { "type": "array", "items": { "$ref": "#/$defs/tree" } }
            },
            "required": ["value"],
            "additionalProperties": false
        });
        if let (true, Value::Object(members)) = (root.to_string().contains("$ref"), &mut root) {
            // The definition of a leaf does not refer to itself.
            let leaf = match leaf.to_string().contains("#/$defs/leaf") {
                true => json!({ "type": "string", "maxLength": 3 }),
                false => leaf,
            };
            members.insert("$defs".to_owned(), json!({ "leaf": leaf, "tree": tree }));
        }
        root
    })
}
