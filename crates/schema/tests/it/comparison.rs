//! Which of two schemas accepts more: tables, every keyword dropped alone, drawn schemas, hostile
//! pairs. Every witness is judged by the validator again.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolwright_schema::{Schema, SchemaComparison, Verdict, compare, lost};

use crate::hostile_input::assert_ends;
use crate::loops_and_fan_out::doubling;

fn is_valid(schema: &Value, instance: &Value) -> bool {
    Schema::compile(schema).unwrap_or_else(|error| panic!("{error}: {schema}")).is_valid(instance)
}

/// Compares, and lets the validator judge the witnesses.
fn compare_checked(first: &Value, second: &Value) -> SchemaComparison {
    let compared = compare(first, second);
    if let Some(witness) = compared.wider.witness() {
        assert!(!is_valid(first, witness), "{witness} widens {first}");
        assert!(is_valid(second, witness), "{witness} is accepted by {second}");
    }
    if let Some(witness) = compared.narrower.witness() {
        assert!(is_valid(first, witness), "{witness} is accepted by {first}");
        assert!(!is_valid(second, witness), "{witness} is lost in {second}");
    }
    compared
}

/// `=` for the same values, `>` for a wider second schema, `<` for a narrower one, `<>` for both;
/// `?` for each direction that is not shown.
fn relation(compared: &SchemaComparison) -> String {
    let mark = |verdict: &Verdict, mark: &str| match verdict {
        Verdict::No => String::new(),
        Verdict::Yes(_) => mark.to_owned(),
        Verdict::NotShown => format!("{mark}?"),
    };
    let text = mark(&compared.narrower, "<") + &mark(&compared.wider, ">");
    if text.is_empty() { "=".to_owned() } else { text }
}

#[test]
fn changes_have_the_effect_that_the_validator_shows() {
    let closed = |properties: Value, required: Value| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false
        })
    };
    let text = json!({ "type": "string" });
    let cases = [
        // Bounds and types.
        (json!({ "type": "string", "maxLength": 5 }), text.clone(), ">"),
        (text.clone(), json!({ "type": "string", "minLength": 1 }), "<"),
        (json!({ "type": "integer" }), json!({ "type": "number" }), ">"),
        (
            json!({ "type": "integer", "exclusiveMinimum": 2.5 }),
            json!({ "type": "integer", "minimum": 3 }),
            "=",
        ),
        (
            json!({ "type": "number", "exclusiveMinimum": 2 }),
            json!({ "type": "number", "minimum": 2 }),
            ">",
        ),
        (json!({ "minimum": 1, "maximum": 9 }), json!({ "minimum": 2, "maximum": 10 }), "<>"),
        (
            json!({ "type": "integer", "multipleOf": 2 }),
            json!({ "type": "integer", "multipleOf": 4 }),
            "<",
        ),
        (
            json!({ "type": ["string", "null"] }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
            "=",
        ),
        (
            json!({ "type": "string", "pattern": "^a" }),
            json!({ "type": "string", "pattern": "^ab" }),
            "<>?",
        ),
        (json!({ "const": 1 }), json!({ "enum": [1] }), "="),
        (json!({ "enum": ["a", "b"] }), json!({ "enum": ["a", "c"] }), "<>"),
        // OpenAI's documented way to make a value nullable loses the null.
        (
            json!({ "enum": ["F", "C", null] }),
            json!({ "type": ["string", "null"], "enum": ["F", "C"] }),
            "<",
        ),
        // Annotations.
        (json!({ "type": "string", "title": "a", "format": "date" }), text.clone(), "="),
        // Objects.
        (
            closed(json!({ "a": text }), json!(["a"])),
            closed(json!({ "b": text }), json!(["b"])),
            "<>",
        ),
        (
            closed(json!({ "a": text }), json!([])),
            closed(json!({ "a": text, "b": text }), json!([])),
            ">",
        ),
        (
            closed(json!({ "a": text }), json!([])),
            json!({ "type": "object", "additionalProperties": false }),
            "<",
        ),
        (closed(json!({ "a": text }), json!(["a"])), closed(json!({ "a": text }), json!([])), ">"),
        (json!({ "type": "object", "maxProperties": 2 }), json!({ "type": "object" }), ">"),
        (json!({ "type": "object" }), json!({ "type": "object", "minProperties": 2 }), "<"),
        (
            json!({ "type": "object", "propertyNames": { "pattern": "^[a-z]+$" } }),
            json!({ "type": "object" }),
            ">",
        ),
        (
            json!({ "type": "object", "patternProperties": { "^x-": text } }),
            json!({ "type": "object" }),
            ">",
        ),
        (
            json!({ "type": "object", "dependentRequired": { "a": ["b"] } }),
            json!({ "type": "object" }),
            ">",
        ),
        (
            json!({ "type": "object", "dependentRequired": { "a": ["b"] } }),
            json!({ "type": "object", "anyOf": [{ "properties": { "a": false } }, { "required": ["b"] }] }),
            "=",
        ),
        // Arrays.
        (json!({ "type": "array", "uniqueItems": true }), json!({ "type": "array" }), ">"),
        (
            json!({ "type": "array", "items": text, "minItems": 1 }),
            json!({ "type": "array", "items": text }),
            ">",
        ),
        (
            json!({ "type": "array", "prefixItems": [text], "items": false }),
            json!({ "type": "array", "prefixItems": [text] }),
            ">",
        ),
        (json!({ "type": "array", "contains": { "const": 7 } }), json!({ "type": "array" }), ">"),
        // Polarity: less is narrower below `not` and `oneOf`.
        (json!({ "not": { "type": "string", "minLength": 3 } }), json!({ "not": text }), "<"),
        (
            json!({ "oneOf": [{ "type": "string", "maxLength": 5 }, { "type": "string", "minLength": 6 }] }),
            json!({ "oneOf": [text, { "type": "string", "minLength": 6 }] }),
            "<",
        ),
        (
            json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] }),
            json!({ "anyOf": [{ "type": "integer" }, { "type": "number" }] }),
            ">",
        ),
        // References.
        (
            json!({ "properties": { "a": { "$ref": "#/$defs/t" } }, "$defs": { "t": text } }),
            json!({ "properties": { "a": text } }),
            "=",
        ),
        (
            json!({ "properties": { "a": { "$ref": "#/$defs/t" } }, "$defs": { "t": { "maxLength": 3 } } }),
            json!({ "properties": { "a": { "$ref": "#/$defs/t" } }, "$defs": { "t": { "maxLength": 4 } } }),
            ">",
        ),
        // Both drafts: the siblings of a reference count only in the newer one.
        (
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": { "a": { "$ref": "#/definitions/t", "maxLength": 3 } },
                "definitions": { "t": text }
            }),
            json!({ "properties": { "a": { "$ref": "#/$defs/t", "maxLength": 3 } }, "$defs": { "t": text } }),
            "<",
        ),
        (
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "items": [text], "additionalItems": false }),
            json!({ "prefixItems": [text], "items": false }),
            "=",
        ),
        // Two changes at once, one in each direction.
        (
            closed(
                json!({ "a": { "type": "string", "maxLength": 5 }, "b": { "type": "integer", "maximum": 10 } }),
                json!(["a", "b"]),
            ),
            closed(
                json!({ "a": { "type": "string", "maxLength": 10 }, "b": { "type": "integer", "maximum": 5 } }),
                json!(["a", "b"]),
            ),
            "<>",
        ),
        (json!(true), json!(false), "<"),
        // A schema that does not compile accepts nothing, and nothing is claimed about it.
        (json!({ "type": "text" }), text.clone(), "<?>?"),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(first, second, expected)| {
            let compared = if *expected == "<?>?" {
                compare(first, second)
            } else {
                compare_checked(first, second)
            };
            let found = relation(&compared);
            (found != *expected)
                .then(|| format!("{found}, not {expected}: {first} {second} {compared:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lost_values_are_described_by_a_schema() {
    let first = json!({ "type": "string" });
    let second = json!({ "type": "string", "maxLength": 50 });
    assert_eq!(lost(&first, &second), Some(json!({ "type": "string", "minLength": 51 })));
    assert_eq!(lost(&second, &first), None);
    assert_eq!(lost(&first, &first), None);
}

/// Every schema with one asserting keyword less, and the pointer of the keyword.
fn with_one_keyword_dropped(schema: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut pending = vec![String::new()];
    while let Some(at) = pending.pop() {
        let Some(Value::Object(members)) = schema.pointer(&at) else { continue };
        for (keyword, value) in members {
            let below = format!("{at}/{keyword}");
            match keyword.as_str() {
                "description" | "title" | "default" | "examples" | "$schema" | "$defs" => continue,
                "properties" | "patternProperties" => {
                    let names = value.as_object().into_iter().flat_map(Map::keys);
                    pending.extend(names.map(|name| {
                        format!("{below}/{}", name.replace('~', "~0").replace('/', "~1"))
                    }));
                }
                "items" | "additionalProperties" | "not" | "contains" => {
                    pending.push(below.clone())
                }
                "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                    let count = value.as_array().map_or(0, Vec::len);
                    pending.extend((0..count).map(|index| format!("{below}/{index}")));
                }
                _ => {}
            }
            let mut dropped = schema.clone();
            if let Some(Value::Object(members)) = dropped.pointer_mut(&at) {
                members.shift_remove(keyword);
            }
            found.push((below, dropped));
        }
    }
    found
}

#[derive(Default)]
struct Tally {
    cases: usize,
    equal: usize,
    changed: usize,
    not_shown: Vec<String>,
    times: Vec<Duration>,
}

impl Tally {
    fn add(&mut self, name: &str, schema: &Value) {
        for (keyword, dropped) in with_one_keyword_dropped(schema) {
            let start = Instant::now();
            let compared = compare(schema, &dropped);
            self.times.push(start.elapsed());
            assert_eq!(compared, compare_checked(schema, &dropped), "the same answer again");
            self.cases += 1;
            match relation(&compared).as_str() {
                "=" => self.equal += 1,
                text if text.contains('?') => {
                    self.not_shown.push(format!("{name}{keyword} {text}"))
                }
                _ => self.changed += 1,
            }
        }
    }

    fn report(&mut self, title: &str) {
        self.times.sort_unstable();
        let at = |share: usize| self.times[(self.times.len() - 1) * share / 100];
        eprintln!(
            "{title}: {} cases, {} proved equal, {} shown by a witness, {} not shown; p50 {:?}, \
             p95 {:?}, longest {:?}",
            self.cases,
            self.equal,
            self.changed,
            self.not_shown.len(),
            at(50),
            at(95),
            at(100)
        );
        for line in &self.not_shown {
            eprintln!("  {line}");
        }
    }
}

/// Schemas with every keyword that tools use, each in a place where it matters.
fn our_schemas() -> Vec<Value> {
    vec![
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1, "maxLength": 4096, "pattern": "^/" },
                "mode": { "type": "string", "enum": ["read", "write", "append"] },
                "lines": { "type": "integer", "minimum": 1, "maximum": 1000 },
                "ratio": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
                "step": { "type": "integer", "multipleOf": 5 },
                "tags": {
                    "type": "array",
                    "items": { "type": "string", "minLength": 1 },
                    "minItems": 1,
                    "maxItems": 10,
                    "uniqueItems": true
                },
                "labels": { "type": "object", "additionalProperties": { "type": "string" } },
                "version": { "const": 2 },
                "owner": { "type": ["string", "null"], "maxLength": 20 }
            },
            "required": ["path", "mode"],
            "additionalProperties": false
        }),
        json!({
            "type": "object",
            "properties": {
                "target": {
                    "oneOf": [
                        {
                            "type": "object",
                            "properties": { "kind": { "const": "file" }, "path": { "type": "string" } },
                            "required": ["kind", "path"]
                        },
                        {
                            "type": "object",
                            "properties": { "kind": { "const": "url" }, "url": { "type": "string" } },
                            "required": ["kind", "url"]
                        }
                    ]
                },
                "point": {
                    "type": "array",
                    "prefixItems": [{ "type": "number" }, { "type": "number" }],
                    "items": false,
                    "minItems": 2
                },
                "headers": {
                    "type": "object",
                    "patternProperties": { "^x-": { "type": "string" } },
                    "propertyNames": { "maxLength": 30 },
                    "minProperties": 1,
                    "maxProperties": 5
                },
                "codes": { "type": "array", "contains": { "type": "integer", "minimum": 100 } },
                "name": { "allOf": [{ "type": "string" }, { "minLength": 2 }], "not": { "const": "root" } }
            },
            "required": ["target"],
            "dependentRequired": { "headers": ["codes"] },
            "anyOf": [{ "required": ["point"] }, { "required": ["name"] }]
        }),
        json!({
            "type": "object",
            "properties": {
                "filter": { "$ref": "#/$defs/filter" },
                "unit": { "enum": ["day", "week", 7, null] },
                "count": { "type": "integer" }
            },
            "if": { "properties": { "unit": { "const": "day" } }, "required": ["unit"] },
            "then": { "properties": { "count": { "maximum": 31 } } },
            "else": { "properties": { "count": { "maximum": 5 } } },
            "$defs": {
                "filter": {
                    "type": "object",
                    "properties": {
                        "field": { "type": "string" },
                        "and": { "type": "array", "items": { "$ref": "#/$defs/filter" } }
                    },
                    "required": ["field"],
                    "additionalProperties": false
                }
            }
        }),
    ]
}

#[test]
fn every_keyword_dropped_alone_is_proved_or_shown() {
    let mut own = Tally::default();
    for (index, schema) in our_schemas().iter().enumerate() {
        own.add(&format!("our schema {index}: "), schema);
    }
    own.report("our schemas");
    assert!(own.cases > 70 && own.not_shown.len() * 20 <= own.cases, "{:?}", own.not_shown);
    let Some(shared) = std::env::var_os("TOOLWRIGHT_SHARED").map(PathBuf::from) else {
        eprintln!("the tools of others are not compared: TOOLWRIGHT_SHARED is not set");
        return;
    };
    let text = std::fs::read(shared.join("corpus/mcp/github-mcp-server.json")).expect("the corpus");
    let tools: Value = serde_json::from_slice(&text).expect("JSON");
    let mut others = Tally::default();
    for tool in tools["tools"].as_array().expect("a list of tools") {
        others.add(tool["name"].as_str().unwrap_or_default(), &tool["inputSchema"]);
    }
    others.report("117 tools of GitHub");
    assert!(others.cases >= 1335 && others.not_shown.len() * 20 <= others.cases);
}

/// A schema of a few levels, with all kinds of keywords.
fn drawn_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        (0..4_u64, 0..5_u64).prop_map(|(least, more)| json!({
            "type": "string", "minLength": least, "maxLength": least + more
        })),
        (-3..4_i64, 0..5_i64).prop_map(|(least, more)| json!({
            "type": "integer", "minimum": least, "maximum": least + more
        })),
        (0..4_i64).prop_map(|edge| json!({ "type": "number", "exclusiveMaximum": edge })),
        (1..4_i64).prop_map(|step| json!({ "type": "integer", "multipleOf": step })),
        Just(json!({ "type": ["boolean", "null"] })),
        Just(json!({ "pattern": "^a" })),
        proptest::sample::subsequence(vec![json!("a"), json!("b"), json!(1), json!(null)], 1..4)
            .prop_map(|values| json!({ "enum": values })),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let properties = proptest::collection::btree_map("[abc]", inner.clone(), 0..3);
        let required = proptest::sample::subsequence(vec!["a", "b"], 0..=2);
        prop_oneof![
            4 => (properties, required, any::<Option<bool>>()).prop_map(|(properties, required, open)| {
                let mut schema = json!({
                    "type": "object", "properties": properties, "required": required
                });
                if let Some(open) = open {
                    schema["additionalProperties"] = open.into();
                }
                schema
            }),
            2 => (inner.clone(), 0..3_u64, any::<bool>()).prop_map(|(items, least, unique)| json!({
                "type": "array", "items": items, "minItems": least, "uniqueItems": unique
            })),
            1 => proptest::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({ "anyOf": list })),
            1 => proptest::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({ "oneOf": list })),
            1 => proptest::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({ "allOf": list })),
            1 => inner.prop_map(|inner| json!({ "not": inner })),
        ]
    })
}

/// A value of the kind that such schemas speak about.
fn drawn_instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-4..9_i64).prop_map(Value::from),
        (-4..9_i32).prop_map(|half| json!(f64::from(half) / 2.0)),
        "[ab]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[abcz]", inner, 0..4)
                .prop_map(|members| json!(members)),
        ]
    })
}

/// Two schemas: unrelated, or one with a keyword less than the other.
fn drawn_pair() -> impl Strategy<Value = (Value, Value)> {
    let related = (drawn_schema(), any::<prop::sample::Index>()).prop_map(|(schema, which)| {
        let dropped = with_one_keyword_dropped(&schema);
        if dropped.is_empty() {
            return (schema.clone(), schema);
        }
        let (_, other) = dropped[which.index(dropped.len())].clone();
        (schema, other)
    });
    prop_oneof![2 => related, 1 => (drawn_schema(), drawn_schema())]
}

/// The verdict without the instance: two searches may find different ones.
fn kind(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::No => "no",
        Verdict::Yes(_) => "yes",
        Verdict::NotShown => "not shown",
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_comparison_is_the_reverse_of_the_reversed_one((first, second) in drawn_pair()) {
        let compared = compare_checked(&first, &second);
        let reversed = compare_checked(&second, &first);
        prop_assert_eq!(kind(&compared.wider), kind(&reversed.narrower));
        prop_assert_eq!(kind(&compared.narrower), kind(&reversed.wider));
        prop_assert!(compare(&first, &first).is_equal());
    }

    #[test]
    fn no_instance_contradicts_a_proof(
        (first, second) in drawn_pair(),
        instances in proptest::collection::vec(drawn_instance(), 100),
    ) {
        let compared = compare_checked(&first, &second);
        let (in_first, in_second) = (Schema::compile(&first), Schema::compile(&second));
        let (in_first, in_second) = (in_first.expect("compiles"), in_second.expect("compiles"));
        for instance in &instances {
            match (in_first.is_valid(instance), in_second.is_valid(instance)) {
                (true, false) => prop_assert_ne!(&compared.narrower, &Verdict::No, "{}", instance),
                (false, true) => prop_assert_ne!(&compared.wider, &Verdict::No, "{}", instance),
                _ => {}
            }
        }
    }
}

#[test]
fn hostile_pairs_end() {
    let union = |size: usize, offset: usize| {
        let branch =
            |n: usize| json!({ "type": "object", "required": [format!("p{}", n + offset)] });
        json!({ "anyOf": (0..size).map(branch).collect::<Vec<_>>() })
    };
    let unions = |levels: usize, size: usize| json!({ "allOf": (0..levels).map(|n| union(size, n * size)).collect::<Vec<_>>() });
    let wide = |count: usize, length: usize| {
        let properties: Map<String, Value> = (0..count)
            .map(|n| (format!("p{n}"), json!({ "type": "string", "maxLength": length })))
            .collect();
        json!({ "type": "object", "properties": properties })
    };
    let nested = |levels: usize, innermost: Value| {
        (0..levels)
            .fold(innermost, |inner, _| json!({ "properties": { "a": inner }, "required": ["a"] }))
    };
    let both = |next: Value| json!({ "allOf": [next.clone(), next] });
    let listed = |count: usize| json!({ "enum": (0..count).collect::<Vec<_>>() });
    let pairs = vec![
        ("products of unions", unions(12, 12), unions(12, 11)),
        ("one product", unions(2, 14), unions(2, 13)),
        ("deep", nested(60, json!({ "type": "string" })), nested(60, json!({ "type": "integer" }))),
        ("wide", wide(900, 5), wide(900, 6)),
        ("wider than the limit", wide(5_000, 5), wide(5_000, 6)),
        ("long lists", listed(1_800), listed(1_900)),
        ("doubling references", doubling(10, both), doubling(11, both)),
        (
            "long strings",
            json!({ "maxLength": 4_000_000_000_u64 }),
            json!({ "maxLength": 9_000_000_000_000_u64 }),
        ),
        (
            "long arrays",
            json!({ "type": "array", "minItems": 1_000_000 }),
            json!({ "type": "array", "minItems": 900_000 }),
        ),
        (
            "patterns",
            json!({ "pattern": "^(a|aa)+$", "minLength": 5_000 }),
            json!({ "pattern": "^(a|aa)+b$", "minLength": 5_001 }),
        ),
        (
            "look-around",
            json!({ "pattern": "^(?=(a+)+$)a*b" }),
            json!({ "pattern": "^(?=(a+)+$)a*c" }),
        ),
        (
            "recursive",
            json!({ "properties": { "a": { "$ref": "#" }, "b": { "$ref": "#" } }, "required": ["a"] }),
            json!({ "properties": { "a": { "$ref": "#" }, "b": { "$ref": "#" } }, "required": ["b"] }),
        ),
        (
            "conditions",
            json!({ "allOf": (0..9).map(|n| json!({ "if": { "required": [format!("a{n}")] }, "then": { "required": [format!("b{n}")] } })).collect::<Vec<_>>() }),
            json!({ "allOf": (0..8).map(|n| json!({ "if": { "required": [format!("a{n}")] }, "then": { "required": [format!("b{n}")] } })).collect::<Vec<_>>() }),
        ),
    ];
    for (name, first, second) in pairs {
        assert_ends(name, move || {
            let start = Instant::now();
            let compared = compare(&first, &second);
            eprintln!("{name}: {} in {:?}", relation(&compared), start.elapsed());
            if Schema::compile(&first).is_ok() && Schema::compile(&second).is_ok() {
                compare_checked(&first, &second);
            }
            let _ = lost(&first, &second);
        });
    }
}
