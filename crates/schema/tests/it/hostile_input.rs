//! Input made to hang an evaluation or to overflow the stack: every case ends, on a small thread.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolwright_schema::{Schema, ValidationErrors};

use crate::loops_and_fan_out::doubling;

/// Far more than any case takes, on a busy machine as well: the slowest takes seconds. Without the
/// limits that these cases test, each would run for hours or forever.
const HANG: Duration = Duration::from_secs(300);

/// Runs `work` on threads with 2 MiB and 256 KiB of stack. A thread that hangs is left behind, so
/// that the test fails instead of hanging as well.
pub(crate) fn assert_ends(name: &str, work: impl Fn() + Send + Sync + 'static) {
    let work = Arc::new(work);
    for stack in [2 * 1024 * 1024, 256 * 1024] {
        let (done, ended) = channel();
        let work = Arc::clone(&work);
        let thread = std::thread::Builder::new().stack_size(stack).spawn(move || {
            work();
            let _ = done.send(());
        });
        let thread = thread.expect("a thread");
        // A panic drops the sender, which ends the wait as well.
        if ended.recv_timeout(HANG) == Err(RecvTimeoutError::Timeout) {
            panic!("{name}: still running after {HANG:?} with {stack} bytes of stack");
        }
        thread.join().unwrap_or_else(|_| panic!("{name}: panicked with {stack} bytes of stack"));
    }
}

fn compile(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap_or_else(|error| panic!("{error}"))
}

fn errors(schema: &Schema, instance: &Value) -> ValidationErrors {
    schema.validate(instance).expect_err("does not match")
}

fn nested(levels: usize, innermost: Value, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(innermost, |inner, _| wrap(inner))
}

/// Takes a value apart from the outside; dropping it as a whole would recurse.
fn take_apart(mut value: Value) {
    while let Some(inner) = value.get_mut(0).map(Value::take) {
        value = inner;
    }
}

#[test]
fn deep_values_are_rejected_without_recursion() {
    assert_ends("deep", || {
        let deep = nested(100_000, json!([]), |inner| Value::Array(vec![inner]));
        let error = Schema::compile(&deep).expect_err("too deep");
        assert_eq!(error.to_string(), "invalid schema at the root: nested deeper than 128");
        for schema in [
            json!({ "items": { "$ref": "#" } }),
            json!({ "uniqueItems": true }),
            json!({ "type": "string" }),
        ] {
            let found = errors(&compile(&schema), &deep);
            assert_eq!(found.first().message, "nested deeper than 128");
            assert_eq!(found.first().keyword, "");
        }
        // Neither of these schemas looks inside the value.
        assert!(compile(&json!({})).is_valid(&deep));
        assert!(!compile(&json!({ "const": [[[]]] })).is_valid(&deep));
        take_apart(deep);
    });
}

#[test]
fn a_deep_schema_applied_at_each_level_of_a_deep_instance() {
    assert_ends("128 by 128", || {
        let inner = json!({ "type": ["object", "null"], "properties": { "a": { "$ref": "#" } } });
        let schema = compile(&nested(60, inner, |inner| json!({ "allOf": [inner] })));
        let instance = nested(127, json!(null), |inner| json!({ "a": inner }));
        assert!(schema.is_valid(&instance));
        let wrong = nested(127, json!(1), |inner| json!({ "a": inner }));
        assert_eq!(errors(&schema, &wrong).first().instance_path, "/a".repeat(127));
    });
}

#[test]
fn a_long_chain_of_references() {
    assert_ends("chain", || {
        let definitions: Map<String, Value> = (0..10_000)
            .map(|index| {
                (format!("d{index}"), json!({ "$ref": format!("#/$defs/d{}", index + 1) }))
            })
            .chain([("d10000".to_owned(), json!({ "type": "string" }))])
            .collect();
        let schema = compile(&json!({ "$defs": definitions, "$ref": "#/$defs/d0" }));
        assert!(schema.is_valid(&json!("x")));
        assert_eq!(errors(&schema, &json!(1)).first().schema_path, "/$defs/d10000/type");
    });
}

#[test]
fn a_long_chain_of_resources() {
    assert_ends("resources", || {
        let definitions: Map<String, Value> = (0..500)
            .map(|index| {
                let next = json!({ "$ref": format!("r{}", index + 1) });
                (
                    format!("d{index}"),
                    json!({ "$id": format!("r{index}"), "properties": { "a": next } }),
                )
            })
            .chain([("last".to_owned(), json!({ "$id": "r500" }))])
            .collect();
        let schema = json!({ "$defs": definitions, "$ref": "r0" });
        if let Ok(schema) = Schema::compile(&schema) {
            assert!(schema.is_valid(&json!({ "a": { "a": {} } })));
        }
    });
}

#[test]
fn every_nesting_depth_gets_enough_stack() {
    assert_ends("depths", || {
        let instance = json!({ "a": 1 });
        for levels in 1..60 {
            let inner = json!({ "properties": { "a": { "type": "string" } } });
            let schema = compile(&nested(levels, inner, |inner| json!({ "allOf": [inner] })));
            assert!(schema.is_valid(&json!({ "a": "x" })));
            assert_eq!(errors(&schema, &instance).first().instance_path, "/a", "{levels}");
        }
        for levels in 1..60 {
            let schema = compile(&nested(
                levels,
                json!({ "type": "string" }),
                |inner| json!({ "properties": { "a": inner } }),
            ));
            let path = nested(levels, json!(1), |inner| json!({ "a": inner }));
            assert_eq!(
                errors(&schema, &path).first().instance_path,
                "/a".repeat(levels),
                "{levels}"
            );
        }
    });
}

#[test]
fn deep_definitions_that_refer_to_each_other() {
    assert_ends("deep definitions", || {
        let definitions: Map<String, Value> = (0..12)
            .map(|index| {
                let next = json!({ "$ref": format!("#/$defs/d{}", index + 1) });
                (
                    format!("d{index}"),
                    nested(58, next, |inner| json!({ "properties": { "a": inner } })),
                )
            })
            .chain([("d12".to_owned(), json!({ "type": "string" }))])
            .collect();
        let schema = compile(&json!({ "$defs": definitions, "$ref": "#/$defs/d0" }));
        assert!(schema.is_valid(&nested(100, json!(1), |inner| json!({ "a": inner }))));
    });
}

#[test]
fn unusual_identifiers_do_not_panic() {
    assert_ends("identifiers", || {
        let draft7 = "http://json-schema.org/draft-07/schema#";
        let latest = "https://json-schema.org/draft/2020-12/schema";
        for id in [
            "",
            "#",
            "#a",
            "a",
            "a#",
            "a#b",
            "urn:x",
            "urn:x#y",
            "http://x/y#z",
            "//",
            "?",
            "json-schema:///",
            draft7,
            latest,
        ] {
            for dialect in [draft7, latest] {
                let root = json!({
                    "$schema": dialect,
                    "$id": id,
                    "properties": { "a": { "$ref": "#" } }
                });
                let below = json!({
                    "$schema": dialect,
                    "definitions": { "a": { "$id": id }, "b": { "$id": id } },
                    "items": { "$ref": id }
                });
                for schema in [root, below] {
                    if let Ok(schema) = Schema::compile(&schema) {
                        let _ = schema.validate(&json!([{ "a": { "a": 1 } }]));
                    }
                }
            }
        }
    });
}

#[test]
fn listing_the_errors_of_a_doubled_recursion_stops_at_its_limit() {
    assert_ends("doubled recursion", || {
        let schema = compile(&json!({
            "type": ["object", "null"],
            "properties": { "a": { "allOf": [{ "$ref": "#" }, { "$ref": "#" }] } }
        }));
        assert!(schema.is_valid(&nested(60, json!(null), |inner| json!({ "a": inner }))));
        let found = errors(&schema, &nested(60, json!(1), |inner| json!({ "a": inner })));
        assert!(
            found.first().message.starts_with("does not match; listing every failing path"),
            "{found}"
        );
        let found = errors(&schema, &nested(5, json!(1), |inner| json!({ "a": inner })));
        assert_eq!(found.first().instance_path, "/a/a/a/a/a");
    });
}

#[test]
fn recursions_that_double_at_each_level_end() {
    let twice = |one: Value| json!([one.clone(), one]);
    let schemas = [
        json!({
            "$dynamicAnchor": "n",
            "properties": { "a": { "allOf": twice(json!({ "$dynamicRef": "#n" })) } }
        }),
        json!({
            "anyOf": [{ "properties": { "a": { "$ref": "#" } } }],
            "unevaluatedProperties": false
        }),
        json!({ "allOf": twice(json!({ "properties": { "a": { "$ref": "#" } } })) }),
        json!({
            "properties": { "a": { "$ref": "#" } },
            "patternProperties": { "a": { "$ref": "#" }, "^a": { "$ref": "#" } }
        }),
        json!({
            "if": { "properties": { "a": { "$ref": "#" } } },
            "then": { "properties": { "a": { "$ref": "#" } } },
            "else": false
        }),
        json!({
            "oneOf": [
                { "properties": { "a": { "$ref": "#" } } },
                { "required": ["a"], "properties": { "a": { "not": { "$ref": "#" } } } }
            ]
        }),
        doubling(40, |next| {
            json!({
                "properties": { "a": { "allOf": [next.clone(), next, { "$ref": "#" }] } }
            })
        }),
    ];
    assert_ends("doubling", move || {
        for schema in &schemas {
            let mut schema = schema.clone();
            schema["type"] = json!(["object", "null"]);
            let schema = compile(&schema);
            for innermost in [json!(null), json!(1)] {
                let instance = nested(100, innermost, |inner| json!({ "a": inner }));
                let _ = schema.validate(&instance);
            }
        }
    });
}

#[test]
fn listing_the_errors_of_a_recursive_union_ends() {
    assert_ends("recursive union", || {
        let operation = |name: &str| {
            json!({
                "type": "object",
                "properties": {
                    "op": { "const": name },
                    "left": { "$ref": "#" },
                    "right": { "$ref": "#" }
                },
                "required": ["op", "left", "right"]
            })
        };
        let branches =
            json!([{ "type": "number" }, operation("add"), operation("sub"), operation("mul")]);
        let schema = compile(&json!({ "anyOf": branches }));
        let wrong =
            nested(40, json!("x"), |inner| json!({ "op": "mul", "left": inner, "right": 1 }));
        assert!(!schema.is_valid(&wrong));
        assert!(!errors(&schema, &wrong).as_slice().is_empty());
    });
}

#[test]
fn doubling_through_properties_ends() {
    assert_ends("doubling through properties", || {
        let schema = doubling(30, |next| {
            json!({
                "allOf": [{ "properties": { "a": next } }, { "properties": { "a": next } }]
            })
        });
        let schema = compile(&schema);
        assert!(schema.is_valid(&json!({ "a": { "a": 1 } })));
        let found = errors(&schema, &nested(30, json!(1), |inner| json!({ "a": inner })));
        assert!(found.first().message.contains("steps"), "{found}");
    });
}

#[test]
fn many_alternatives_for_a_large_value_end() {
    assert_ends("alternatives", || {
        let schema = compile(&json!({ "anyOf": vec![json!({ "type": "string" }); 10_000] }));
        let large = Value::Array(vec![json!({ "key": "a value of some length" }); 20_000]);
        assert!(!errors(&schema, &large).as_slice().is_empty());
    });
}

#[test]
fn dynamic_references_in_a_circle_end() {
    assert_ends("dynamic", || {
        let circle = json!({
            "$id": "https://example.com/root",
            "$dynamicAnchor": "n",
            "allOf": [{ "$ref": "other" }],
            "$defs": {
                "other": {
                    "$id": "other",
                    "$dynamicAnchor": "n",
                    "anyOf": [{ "$dynamicRef": "#n" }, { "$ref": "third" }]
                },
                "third": {
                    "$id": "third",
                    "$dynamicAnchor": "n",
                    "allOf": [{ "$dynamicRef": "#n" }, { "$dynamicRef": "other#n" }]
                }
            }
        });
        if let Ok(schema) = Schema::compile(&circle) {
            let instance = nested(100, json!(1), |inner| json!([inner]));
            let _ = schema.validate(&instance);
            let _ = schema.is_valid(&json!(1));
        }
    });
}

#[test]
fn patterns_that_backtrack_give_up() {
    let text = || format!("{}!", "a".repeat(30));
    assert_ends("one string", move || {
        let linear = compile(&json!({ "pattern": "^(a+)+$" }));
        assert_eq!(errors(&linear, &json!(text())).first().keyword, "pattern");
        for pattern in ["^(?=(a+)+$)", "^(?=a)(a+)+(?!b)$", "^(a+)\\1+(a+)+(?=b)$", "(?=(a|a)*b)"] {
            let schema = compile(&json!({ "pattern": pattern }));
            let found = errors(&schema, &json!("a".repeat(5_000) + "!"));
            assert_eq!(found.first().keyword, "pattern", "{pattern}");
        }
    });
    assert_ends("a match that reaches its step limit is an error", move || {
        let schema = compile(&json!({ "pattern": "^(?:(?=a)(?:a|a|aa))+$" }));
        let found = errors(&schema, &json!(text()));
        assert_eq!(found.first().keyword, "pattern");
        assert!(found.first().message.contains("gave up after"), "{found}");
    });
    assert_ends("many strings", move || {
        let schema = compile(&json!({ "items": { "pattern": "^(?:(?=a)(?:a|a|aa))+$" } }));
        let found = errors(&schema, &Value::Array(vec![json!(text()); 10_000]));
        assert!(found.first().message.contains("gave up"), "{found}");
        let mixed =
            (0..10_000).map(|index| json!(format!("{}!", "a".repeat(6 + index % 20)))).collect();
        assert!(!errors(&schema, &Value::Array(mixed)).as_slice().is_empty());
    });
    assert_ends("many names", || {
        let schema = compile(&json!({ "patternProperties": { "^(?:(?=a)(?:a|a|aa))+$": false } }));
        let names =
            (0..5_000).map(|index| (format!("{}{index}", "a".repeat(30)), json!(1))).collect();
        let _ = schema.validate(&Value::Object(names));
    });
    assert_ends("one long string", || {
        for pattern in ["(?=a*b)", "^((?!b).)*$", "^(?!.*secret)", "(?=(a*)*b)"] {
            let schema = compile(&json!({ "pattern": pattern }));
            let _ = schema.validate(&json!("a".repeat(1_000_000)));
        }
        let forbidden = compile(&json!({ "pattern": "^(?!.*secret)" }));
        assert!(forbidden.is_valid(&json!("a".repeat(1_000_000))));
        let tempered = compile(&json!({ "pattern": "^((?!b).)*$" }));
        let found = errors(&tempered, &json!("a".repeat(1_000_000)));
        assert!(found.first().message.ends_with("gave up after 10 steps"), "{found}");
    });
}

#[test]
fn ordinary_look_around_never_gives_up() {
    let password = compile(
        &json!({ "items": { "pattern": "^(?=.*[A-Z])(?=.*\\d)(?=.*[a-z])[A-Za-z\\d]{8,}$" } }),
    );
    let good = Value::Array(vec![json!("Passw0rdPassw0rd"); 5_000]);
    assert!(password.is_valid(&good));
    let without = compile(&json!({ "pattern": "^((?!foo).)*$" }));
    assert!(without.is_valid(&json!("bar ".repeat(250))));
    assert!(!without.is_valid(&json!("bar ".repeat(100) + "foo")));
}

#[test]
fn patterns_that_compile_to_huge_programs_are_rejected() {
    assert_ends("bombs", || {
        for bomb in [
            "(a{1000}){1000}",
            "((a{100}){100}){100}",
            "(?=(a{1000}){1000})",
            "(\\p{L}{1000}){1000}",
        ] {
            let error = Schema::compile(&json!({ "pattern": bomb })).expect_err("a bomb");
            assert_eq!((error.code(), error.at()), ("INVALID_SCHEMA", "/pattern"), "{bomb}");
        }
        let deep = "(".repeat(4_000) + &")".repeat(4_000);
        assert!(Schema::compile(&json!({ "pattern": deep })).is_err());
        let long = "a?".repeat(10_000);
        assert!(Schema::compile(&json!({ "pattern": long })).is_err());
        let large: Vec<Value> = (0..200)
            .map(|index| json!({ "pattern": format!("^.{{1,{}}}$", 1_500 + index) }))
            .collect();
        assert!(Schema::compile(&json!({ "anyOf": large })).is_err());
        for large in ["^.{1,2000}$", "^\\p{L}{1,100}$", "^[\\p{L}\\p{N} '-]{1,64}$"] {
            compile(&json!({ "pattern": large }));
        }
    });
}

/// Without the limits: 48 s for the first, 23 s for the second, 8 s for the third.
#[test]
fn large_instances_of_wide_schemas_are_given_up_in_time() {
    let letters = |n: u32| if n.wrapping_mul(2_654_435_761) >> 31 == 0 { 'a' } else { 'b' };
    let text: Value = (0..1_000_000).map(letters).collect::<String>().into();
    let names: Vec<String> = (0..90_000).map(|n| format!("p{n}")).collect();
    let empty: Value = vec![json!({}); 300_000].into();
    let branches = vec![json!({ "type": "integer", "minimum": 0 }); 9_000];
    let ones: Value = vec![1; 1_000_000].into();
    for (name, schema, instance, expected) in [
        ("pattern", json!({ "pattern": "[ab]*a[ab]{5000}c" }), &text, "gave up: its strings are"),
        ("required", json!({ "items": { "required": names } }), &empty, "does not match; listing"),
        ("allOf", json!({ "items": { "allOf": branches } }), &ones, "gave up: telling whether"),
    ] {
        let schema = compile(&schema);
        assert!(!schema.is_quick_for(10_000), "{name}");
        let began = std::time::Instant::now();
        let message = errors(&schema, instance).first().message.clone();
        assert!(message.starts_with(expected), "{name}: {message}");
        // A second each on an idle machine.
        assert!(began.elapsed() < Duration::from_secs(20), "{name}: {:?}", began.elapsed());
    }
}

#[test]
fn large_instances_of_ordinary_schemas_are_not_given_up() {
    let text = json!("word ".repeat(200_000));
    for pattern in [r"^\S", "^[a-z ]*$", r"^[\w\s]+$", r"^(?:[a-z]{1,64} )+$"] {
        assert!(compile(&json!({ "pattern": pattern })).is_valid(&text), "{pattern}");
    }
    let ids = vec![json!({ "id": "a-b_c", "kind": "k7", "n": 7 }); 50_000];
    let kinds: Vec<String> = (0..300).map(|n| format!("k{n}")).collect();
    let id = json!({ "type": "string", "pattern": r"^[\p{L}_-]{1,64}$" });
    let properties = json!({ "id": id, "kind": { "enum": kinds }, "n": { "minimum": 0 } });
    let schema = compile(&json!({ "items": { "properties": properties, "required": ["id"] } }));
    assert!(schema.is_valid(&ids.into()));
    assert!(schema.is_quick_for(100) && !schema.is_quick_for(1_000_000));
}
