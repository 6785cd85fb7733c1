//! Source, target, what is sent, and how calls come back.

use serde_json::{Value, json};
use toolwright_schema::{
    ChangeAction, RestoreStep, VendorTarget, adapt, restore, rewrite_for, standard_form,
};

use super::leftover;

/// Compares the schema and the steps for each of `ids`.
fn check(ids: &str, source: &Value, schema: &Value, steps: &Value) {
    for id in ids.split(' ') {
        let rewritten = rewrite_for(VendorTarget::by_id(id).expect("a target"), source);
        assert_eq!(rewritten.schema, *schema, "{id}: {source}");
        let found: Value = rewritten.steps.iter().map(RestoreStep::to_json).collect();
        assert_eq!(found, *steps, "{id}: {source}");
    }
}

/// `pointer keyword action` of each change.
fn changes(id: &str, source: &Value) -> Vec<String> {
    let rewritten = rewrite_for(VendorTarget::by_id(id).expect("a target"), source);
    let line = |change: &toolwright_schema::SchemaChange| {
        format!("{} {} {:?}", change.at, change.keyword, change.action)
    };
    rewritten.changes.iter().map(line).collect()
}

/// A closed object with these properties, all of them required.
fn closed(properties: Value) -> Value {
    let names: Vec<String> = properties.as_object().expect("properties").keys().cloned().collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false
    })
}

#[test]
fn schemas_that_a_target_accepts_stay_as_they_are() {
    let simple = closed(json!({ "a": { "type": "string", "description": "A." } }));
    check(
        "openai openai-responses openai-strict openai-responses-strict anthropic anthropic-strict \
         gemini bedrock mistral cohere",
        &simple,
        &simple,
        &json!([]),
    );
    // These take everything as it is.
    let odd = json!({ "anyOf": [{ "const": 1 }], "x-own": true });
    check("bedrock mistral cohere", &odd, &odd, &json!([]));
    // Not a schema.
    check("openai openai-strict gemini-openapi", &json!(7), &json!(7), &json!([]));
}

#[test]
fn strict_modes_send_null_for_absent_properties() {
    let source = json!({
        "type": "object",
        "properties": {
            "q": { "type": "string", "format": "uri", "default": "x" },
            "n": { "type": "integer", "minimum": 1 },
            "unit": { "type": "string", "enum": ["C", "F"] },
            "kind": { "const": "a" }
        },
        "required": ["q"],
        "additionalProperties": false
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "q": { "type": "string", "description": "format `uri`, default: \"x\"" },
            "n": { "type": ["integer", "null"], "minimum": 1 },
            "unit": { "type": ["string", "null"], "enum": ["C", "F", null] },
            "kind": { "type": ["string", "null"], "enum": ["a", null] }
        },
        "required": ["q", "n", "unit", "kind"],
        "additionalProperties": false
    });
    let steps = json!([{ "at": [], "nullMeansAbsent": ["n", "unit", "kind"] }]);
    check("openai-strict openai-responses-strict", &source, &schema, &steps);
    let rewritten = rewrite_for(VendorTarget::OpenAiStrict, &source);
    let call = json!({ "q": "a", "n": null, "unit": "C", "kind": null });
    assert_eq!(restore(&rewritten.steps, call), Ok(json!({ "q": "a", "unit": "C" })));
}

#[test]
fn an_explicit_null_that_cannot_be_sent_is_reported() {
    let optional = |kind: Value| {
        json!({
            "type": "object",
            "properties": { "a": { "type": kind } },
            "additionalProperties": false
        })
    };
    assert_eq!(
        changes("openai-strict", &optional(json!("string"))),
        ["/properties/a required Restored"]
    );
    assert_eq!(
        changes("openai-strict", &optional(json!(["string", "null"]))),
        ["/properties/a required Restored", "/properties/a null Narrowed"]
    );
}

/// What is looked at to tell branches apart is not written, and not a change.
#[test]
fn a_choice_that_stays_as_it_is_has_no_changes() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "anyOf": [
            { "$ref": "#/$defs/leaf" }, { "type": "string" }, { "type": "null" }
        ]}},
        "required": ["a"], "additionalProperties": false,
        "$defs": { "leaf": { "type": "integer" } }
    });
    assert_eq!(changes("openai-strict", &schema), [""; 0]);
}

#[test]
fn maps_are_lists_of_pairs() {
    let source = closed(json!({
        "labels": { "type": "object", "additionalProperties": { "type": "integer" }, "minProperties": 1 }
    }));
    let entry = closed(json!({ "key": { "type": "string" }, "value": { "type": "integer" } }));
    let schema = closed(json!({
        "labels": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "entries": {
                    "type": "array",
                    "description": "properties by name",
                    "items": entry,
                    "minItems": 1
                }
            },
            "required": ["entries"]
        }
    }));
    let entries = json!({ "property": "entries", "declared": [] });
    let steps = json!([{ "at": ["labels"], "entriesToProperties": entries }]);
    check("openai-strict anthropic-strict", &source, &schema, &steps);
    let rewritten = rewrite_for(VendorTarget::OpenAiStrict, &source);
    let call = json!({ "labels": { "entries": [{ "key": "a", "value": 1 }] } });
    let restored = json!({ "labels": { "a": 1 } });
    assert_eq!(restore(&rewritten.steps, call.clone()), Ok(restored.clone()));
    assert_eq!(adapt(&rewritten.steps, restored), Ok(call));
    let twice = json!({ "labels": { "entries": [{ "key": "a", "value": 1 }, { "key": "a", "value": 2 }] } });
    let error = restore(&rewritten.steps, twice).expect_err("twice");
    assert_eq!(error.to_string(), "`/labels`: `entries` gives `a` a second value");
    // Gemini's objects cannot be closed.
    let beside = json!({ "labels": { "entries": [], "a": "text" } });
    let error = restore(&rewritten.steps, beside).expect_err("beside");
    assert_eq!(error.to_string(), "`/labels`: `a` is beside `entries` instead of in it");
}

#[test]
fn values_of_any_type_are_json_text_in_strict_modes() {
    let source = closed(json!({ "any": { "description": "Anything" } }));
    let text = json!({ "type": "string", "description": "Anything (JSON text)" });
    let steps = json!([{ "at": ["any"], "parseJson": true }]);
    check("openai-strict anthropic-strict", &source, &closed(json!({ "any": text })), &steps);
    let steps = rewrite_for(VendorTarget::OpenAiStrict, &source).steps;
    assert_eq!(restore(&steps, json!({ "any": "[1]" })), Ok(json!({ "any": [1] })));
    // A text that is not JSON stands for itself.
    for text in ["hello", "[1", ""] {
        assert_eq!(restore(&steps, json!({ "any": text })), Ok(json!({ "any": text })));
    }
}

#[test]
fn a_choice_at_the_top_is_moved_into_a_property() {
    let source = json!({
        "type": "object",
        "properties": { "a": { "type": "string" } },
        "anyOf": [{ "required": ["a"] }, { "minProperties": 2 }]
    });
    let schema = closed(json!({ "input": source }));
    let steps = json!([{ "at": [], "unwrap": "input" }]);
    check("openai openai-responses anthropic", &source, &schema, &steps);
    let merged = json!({
        "allOf": [
            { "type": "object", "properties": { "a": { "minimum": 1 } } },
            { "properties": { "b": { "type": "string" } }, "required": ["b"] }
        ]
    });
    let schema = json!({
        "properties": { "a": { "minimum": 1 }, "b": { "type": "string" } },
        "type": "object",
        "required": ["b"]
    });
    check("openai anthropic", &merged, &schema, &json!([]));
}

#[test]
fn schemas_as_text_change_in_the_parts_that_are_rejected() {
    let source = json!({
        "type": "object",
        "properties": {
            "l": { "type": "array" },
            "p": { "type": "string", "pattern": "^\\p{L}+$", "description": "Letters" }
        }
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "l": { "type": "array", "items": {} },
            "p": { "type": "string", "description": "Letters (matches `^\\p{L}+$`)" }
        }
    });
    check("openai openai-responses", &source, &schema, &json!([]));
    let draft7 = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "t": { "type": "array", "items": [{ "type": "string" }], "additionalItems": false },
            "r": { "$ref": "#/definitions/d", "maxLength": 3 }
        },
        "definitions": { "d": { "type": "string" }, "unused": {} }
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "t": { "type": "array", "prefixItems": [{ "type": "string" }], "items": false },
            "r": { "$ref": "#/$defs/d" }
        },
        "$defs": { "d": { "type": "string" } }
    });
    check("anthropic", &draft7, &schema, &json!([]));
    let source = json!({
        "type": "object",
        "properties": {
            "r": { "$ref": "#/$defs/d", "description": "R" },
            "s": { "type": "string", "maxLength": 3 }
        },
        "$defs": { "d": { "type": "string" } }
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "r": { "description": "R", "anyOf": [{ "$ref": "#/$defs/d" }] },
            "s": { "type": "string", "description": "at most 3 characters" }
        },
        "$defs": { "d": { "type": "string" } }
    });
    check("gemini", &source, &schema, &json!([]));
}

#[test]
fn a_negation_that_would_lose_a_part_is_dropped() {
    let source = json!({
        "type": "object",
        "properties": { "x": { "not": { "type": "string", "minLength": 3 } } }
    });
    assert_eq!(changes("gemini", &source), ["/properties/x/not not Widened"]);
}

#[test]
fn names_of_parameters_are_replaced() {
    let source = json!({
        "type": "object",
        "properties": { "a[id]": { "type": "string" }, "a_id_": { "type": "integer" } },
        "required": ["a[id]"]
    });
    let schema = json!({
        "type": "object",
        "properties": { "a_id__2": { "type": "string" }, "a_id_": { "type": "integer" } },
        "required": ["a_id__2"]
    });
    let steps = json!([{ "at": [], "rename": [["a_id__2", "a[id]"]] }]);
    check("anthropic gemini-openapi", &source, &schema, &steps);
}

#[test]
fn anthropics_strict_mode_has_few_constraints() {
    let source = closed(json!({
        "n": { "type": "integer", "minimum": 1, "maximum": 3 },
        "s": { "type": "string", "maxLength": 5, "description": "Code." },
        "l": { "type": "array", "items": { "type": "string" }, "uniqueItems": true },
        "e": { "type": "string", "enum": ["A", "b"] }
    }));
    let schema = closed(json!({
        "n": { "type": "integer", "enum": [1, 2, 3] },
        "s": { "type": "string", "description": "Code. (at most 5 characters)" },
        "l": { "type": "array", "items": { "type": "string" }, "description": "no item twice" },
        "e": { "type": "string", "enum": ["A", "b"] }
    }));
    let steps = json!([{ "at": ["e"], "textToValue": [["A", "A"], ["b", "b"]] }]);
    check("anthropic-strict", &source, &schema, &steps);
    let call = json!({ "e": "B" });
    let steps = rewrite_for(VendorTarget::AnthropicStrict, &source).steps;
    assert_eq!(restore(&steps, call), Ok(json!({ "e": "b" })));
}

#[test]
fn recursion_stays_where_it_is_accepted_and_is_cut_elsewhere() {
    let node = json!({
        "type": "object",
        "properties": { "next": { "$ref": "#/$defs/node" } },
        "additionalProperties": false
    });
    let mut source = closed(json!({ "root": { "$ref": "#/$defs/node" } }));
    source["$defs"] = json!({ "node": node });
    let mut schema = closed(json!({ "root": { "$ref": "#/$defs/node" } }));
    let next = json!({ "anyOf": [{ "$ref": "#/$defs/node" }, { "type": "null" }] });
    let strict = json!({
        "type": "object",
        "properties": { "next": next },
        "additionalProperties": false,
        "required": ["next"]
    });
    schema["$defs"] = json!({ "node": strict });
    let inside = json!([
        { "at": [], "nullMeansAbsent": ["next"] },
        { "at": ["next"], "follow": "node" }
    ]);
    let steps = json!([
        { "at": ["root"], "follow": "node" },
        { "at": [], "define": { "definition": "node", "schema": strict, "steps": inside } }
    ]);
    check("openai-strict", &source, &schema, &steps);
    let steps = rewrite_for(VendorTarget::OpenAiStrict, &source).steps;
    let call = json!({ "root": { "next": { "next": null } } });
    assert_eq!(restore(&steps, call.clone()), Ok(json!({ "root": { "next": {} } })));
    assert_eq!(adapt(&steps, json!({ "root": { "next": {} } })), Ok(call));

    let cut = json!({ "description": "nested like `node`", "type": "object" });
    let schema = json!({
        "type": "object",
        "properties": { "root": { "properties": { "next": cut }, "type": "object" } },
        "required": ["root"]
    });
    check("gemini-openapi ollama", &source, &schema, &json!([]));
    let text = json!({ "type": "string", "description": "nested like `node` (JSON text)" });
    let schema = closed(json!({
        "root": { "properties": { "next": text }, "additionalProperties": false, "type": "object" }
    }));
    let steps = json!([{ "at": ["root", "next"], "parseJson": true }]);
    check("anthropic-strict", &source, &schema, &steps);
}

#[test]
fn geminis_parameters_have_one_type_and_few_keywords() {
    let source = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "a": { "type": ["string", "null"], "maxLength": 3 },
            "b": { "type": ["string", "integer"], "minimum": 2, "description": "B" },
            "c": { "enum": [1, 2, "x"] },
            "d": { "const": "v" },
            "e": { "anyOf": [{ "type": "integer" }, { "type": "null" }], "default": null },
            "f": { "type": "integer", "exclusiveMinimum": 2.5 },
            "g": { "type": "number", "exclusiveMaximum": 1 },
            "h": { "type": "array", "items": {} }
        }
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "string", "maxLength": 3, "nullable": true },
            "b": { "anyOf": [
                { "type": "string", "description": "B" },
                { "type": "integer", "minimum": 2, "description": "B" }
            ] },
            "c": { "enum": ["1", "2", "x"], "type": "string" },
            "d": { "enum": ["v"], "type": "string" },
            "e": { "type": "integer", "nullable": true },
            "f": { "type": "integer", "minimum": 3 },
            "g": { "type": "number", "maximum": 1, "description": "less than 1" },
            "h": { "type": "array", "items": { "type": "string", "description": "JSON text" } }
        }
    });
    let steps = json!([
        { "at": ["c"], "textToValue": [["1", 1], ["2", 2], ["x", "x"]] },
        { "at": ["h", true], "parseJson": true }
    ]);
    check("gemini-openapi", &source, &schema, &steps);
    let standard = standard_form(VendorTarget::GeminiOpenapi, &schema);
    assert_eq!(standard["properties"]["a"]["type"], json!(["string", "null"]));
}

#[test]
fn choices_are_exact_where_no_value_matches_two_branches() {
    let object = |kind: &str| json!({ "type": "object", "properties": { "k": { "const": kind } }, "required": ["k"] });
    let one_of = |branches: Value| closed(json!({ "a": { "oneOf": branches } }));
    let is_exact = |source: &Value| {
        let rewritten = rewrite_for(VendorTarget::Ollama, source);
        let change = rewritten.changes.iter().find(|change| change.keyword == "oneOf");
        change.expect("a change").action == ChangeAction::Rewritten
    };
    assert!(is_exact(&one_of(json!([object("x"), object("y")]))));
    assert!(is_exact(&one_of(json!([{ "type": "string" }, { "type": "number" }]))));
    assert!(!is_exact(&one_of(json!([{ "type": "integer" }, { "type": "number" }]))));
    let optional = json!({ "type": "object", "properties": { "k": { "const": "x" } } });
    assert!(!is_exact(&one_of(json!([optional, object("y")]))));
}

#[test]
fn tuples_of_one_schema_are_arrays() {
    let tuple = |second: &str, rest: bool| {
        closed(json!({ "t": {
            "type": "array",
            "prefixItems": [{ "type": "integer" }, { "type": second }],
            "items": rest
        } }))
    };
    let exact = ["/properties/t/prefixItems prefixItems Rewritten"];
    assert_eq!(changes("openai-strict", &tuple("integer", false)), exact);
    let wider = "/properties/t/prefixItems prefixItems Widened";
    assert!(changes("openai-strict", &tuple("string", false)).contains(&wider.to_owned()));
    assert!(changes("openai-strict", &tuple("integer", true)).contains(&wider.to_owned()));
}

#[test]
fn branches_with_steps_are_chosen_by_their_schemas() {
    let one = |name: &str| {
        let properties = json!({ name: { "type": "string" } });
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    };
    let list = json!({ "type": "array", "items": one("y") });
    let source = closed(json!({ "a": { "anyOf": [one("x"), list] } }));
    let steps = rewrite_for(VendorTarget::OpenAiStrict, &source).steps;
    let pairs = [
        (json!({ "a": { "x": null } }), json!({ "a": {} })),
        (json!({ "a": [{ "y": null }, { "y": "v" }] }), json!({ "a": [{}, { "y": "v" }] })),
    ];
    for (target, source) in pairs {
        assert_eq!(restore(&steps, target.clone()), Ok(source.clone()));
        assert_eq!(adapt(&steps, source), Ok(target));
    }
}

#[test]
fn hostile_schemas_become_one_text_or_stay_small() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..120 {
        deep = json!({ "not": deep });
    }
    let mut too_deep = json!({});
    for _ in 0..300 {
        too_deep = json!({ "items": too_deep });
    }
    // Each definition refers to the next one twice: 2^40 when all are written out.
    let fan_out: serde_json::Map<String, Value> = (0..40)
        .map(|n| {
            let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
            (format!("d{n}"), json!({ "type": "object", "properties": { "a": next, "b": next } }))
        })
        .chain([("d40".to_owned(), json!({ "type": "string" }))])
        .collect();
    let merging: serde_json::Map<String, Value> = (0..40)
        .map(|n| {
            let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
            (format!("d{n}"), json!({ "allOf": [next, next] }))
        })
        .chain([("d40".to_owned(), json!({ "type": "object" }))])
        .collect();
    let many: serde_json::Map<String, Value> =
        (0..6_000).map(|n| (format!("p{n}"), json!({ "type": "string" }))).collect();
    let long: Vec<String> = (0..1_500).map(|n| format!("value {n}")).collect();
    let mut objects = json!({ "type": "string" });
    for _ in 0..14 {
        objects = closed(json!({ "a": objects }));
    }
    let schemas = [
        closed(json!({ "a": deep })),
        too_deep,
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": fan_out }),
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": merging }),
        json!({ "type": "object", "properties": many }),
        closed(json!({ "e": { "type": "string", "enum": long } })),
        objects,
        json!({ "type": "object", "properties": { "child": { "$ref": "#" } } }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } }),
        json!({ "type": "object", "properties": { "a": { "$ref": "https://example.com/x" } } }),
    ];
    for schema in &schemas {
        for target in VendorTarget::ALL {
            let rewritten = rewrite_for(target, schema);
            let left = leftover(target, &rewritten.schema);
            let rejected: Vec<&String> =
                left.iter().filter(|line| line.starts_with("rejects")).collect();
            let is_free = ["bedrock", "mistral", "cohere"].contains(&target.id());
            assert!(is_free || rejected.is_empty(), "{}: {rejected:?}", target.id());
            assert!(is_free || rewritten.schema.to_string().len() < 20_000_000);
        }
    }
}

#[test]
fn conditions_become_choices_where_that_is_exact() {
    let inside = |object: Value| closed(json!({ "o": object }));
    let depending = json!({
        "type": "object",
        "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
        "dependentRequired": { "a": ["b"] },
        "additionalProperties": false
    });
    let found = rewrite_for(VendorTarget::AnthropicStrict, &inside(depending.clone())).schema;
    assert_eq!(
        found["properties"]["o"]["anyOf"],
        json!([
            {
                "type": "object", "properties": { "b": { "type": "string" } },
                "additionalProperties": false
            },
            {
                "type": "object",
                "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
                "additionalProperties": false, "required": ["a", "b"]
            }
        ])
    );
    assert_eq!(
        changes("anthropic-strict", &inside(depending.clone())),
        ["/properties/o/dependentRequired dependentRequired Rewritten"]
    );
    let steps = rewrite_for(VendorTarget::OpenAiStrict, &inside(depending.clone())).steps;
    for call in
        [json!({ "o": {} }), json!({ "o": { "b": "x" } }), json!({ "o": { "a": "x", "b": "y" } })]
    {
        let adapted = adapt(&steps, call.clone()).expect("a call");
        assert_eq!(restore(&steps, adapted), Ok(call));
    }
    // Without a closed object a branch cannot exclude the property; at the top nothing may be one.
    let mut open = depending.clone();
    open.as_object_mut().expect("an object").remove("additionalProperties");
    for source in [inside(open), depending] {
        let found = changes("anthropic-strict", &source);
        assert!(found.iter().any(|line| line.ends_with("dependentRequired Widened")), "{found:?}");
    }

    let condition = |test: Value| {
        json!({
            "type": "object",
            "properties": { "kind": { "enum": ["x", "y"] }, "n": { "type": "integer" } },
            "required": ["kind"],
            "if": test, "then": { "required": ["n"] }
        })
    };
    let exact = condition(json!({ "properties": { "kind": { "const": "x" } } }));
    let found = rewrite_for(VendorTarget::Ollama, &inside(exact.clone())).schema;
    let branch = |kind: &str, required: Value| {
        json!({
            "type": "object",
            "properties": { "kind": { "enum": [kind] }, "n": { "type": "integer" } },
            "required": required
        })
    };
    assert_eq!(
        found["properties"]["o"]["anyOf"],
        json!([branch("x", json!(["kind", "n"])), branch("y", json!(["kind"]))])
    );
    let found = changes("ollama", &inside(exact.clone()));
    assert!(!found.iter().any(|line| line.contains("/o/if if Widened")), "{found:?}");
    // A property that may be absent is not tested by `if`, and other tests are not understood.
    let mut optional = exact;
    optional.as_object_mut().expect("an object").remove("required");
    for source in [optional, condition(json!({ "required": ["n"] }))] {
        let found = changes("ollama", &inside(source));
        assert!(found.iter().any(|line| line.contains("/o/if if Widened")), "{found:?}");
    }
}
