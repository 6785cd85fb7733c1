//! What vendors do not accept: every fact with a schema that has it and a near miss that does not.

use serde_json::{Map, Value, json};
use toolwright_schema::{Incompatibility, Vendor, VendorEffect, incompatibilities};

const D7: &str = "http://json-schema.org/draft-07/schema#";

/// `pointer keyword vendors`: vendors that only ignore it in lower case, and the count unless it is
/// one.
fn line(found: &Incompatibility) -> String {
    let vendor = |(vendor, effect): &(Vendor, VendorEffect)| match effect {
        VendorEffect::Rejects => vendor.name().to_owned(),
        VendorEffect::Ignores => vendor.name().to_lowercase(),
    };
    let vendors: Vec<String> = found.vendors.iter().map(vendor).collect();
    let count = if found.count == 1 { String::new() } else { format!(" x{}", found.count) };
    format!("{} {} {}{count}", found.at, found.keyword, vendors.join("+"))
}

fn lines(schema: &Value) -> Vec<String> {
    incompatibilities(schema).iter().map(line).collect()
}

fn check(cases: &[(&str, Value, &[&str])]) {
    for (name, schema, expected) in cases {
        assert_eq!(lines(schema), *expected, "{name}");
    }
}

/// An input schema with one parameter `p`.
fn with(p: Value) -> Value {
    json!({ "type": "object", "properties": { "p": p } })
}

/// As [`with`], with `extra` beside its members.
fn with_beside(extra: Value) -> Value {
    let mut schema = with(json!({ "type": "string" }));
    let members = schema.as_object_mut().expect("an object");
    if let Value::Object(extra) = extra {
        members.extend(extra);
    }
    schema
}

#[test]
fn the_top_of_an_input_schema_has_its_own_rules() {
    let all = "OpenAI+Anthropic+Gemini";
    check(&[
        ("an object", with(json!({ "type": "string" })), &[]),
        ("no type", json!({ "properties": {} }), &[&format!(" type {all}")]),
        (
            "another type",
            json!({ "type": "array", "items": { "type": "string" } }),
            &[&format!("/type type {all}")],
        ),
        (
            "a list of types",
            json!({ "type": ["object"], "properties": {} }),
            &[&format!("/type type {all}")],
        ),
        ("a boolean", json!(true), &[&format!(" type {all}")]),
        ("not a schema", json!(null), &[]),
        (
            "anyOf",
            with_beside(json!({ "anyOf": [{ "type": "object" }] })),
            &["/anyOf anyOf OpenAI+Anthropic"],
        ),
        ("anyOf below", with(json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })), &[]),
        ("oneOf", with_beside(json!({ "oneOf": [] })), &[&format!("/oneOf oneOf {all}")]),
        ("allOf", with_beside(json!({ "allOf": [] })), &[&format!("/allOf allOf {all}")]),
        ("enum", with_beside(json!({ "enum": ["a"] })), &["/enum enum OpenAI+Gemini"]),
        ("enum below", with(json!({ "type": "string", "enum": ["a"] })), &[]),
        ("const", with_beside(json!({ "const": {} })), &["/const const OpenAI+Gemini"]),
        ("not", with_beside(json!({ "not": {} })), &["/not not OpenAI+Gemini"]),
        ("no properties", json!({ "type": "object" }), &[" properties OpenAI"]),
        ("no parameters", json!({ "type": "object", "properties": {} }), &[]),
        ("no properties below", with(json!({ "type": "object" })), &[]),
    ]);
}

#[test]
fn parameter_names_outside_of_anthropics_pattern_are_reported() {
    let named =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } } });
    check(&[
        ("all allowed", named("aZ09_.-"), &[]),
        ("64", named(&"a".repeat(64)), &[]),
        (
            "65",
            named(&"a".repeat(65)),
            &[&format!("/properties/{} properties Anthropic", "a".repeat(65))],
        ),
        ("empty", named(""), &["/properties/ properties Anthropic"]),
        ("brackets", named("filter[id]"), &["/properties/filter[id] properties Anthropic"]),
        ("a slash", named("a/b"), &["/properties/a~1b properties Anthropic"]),
        ("not ASCII", named("größe"), &["/properties/größe properties Anthropic"]),
        ("below", with(named("$top")), &[]),
        (
            "several",
            json!({ "type": "object", "properties": { "$a": {}, "$b": {} } }),
            &["/properties/$a properties Anthropic x2"],
        ),
    ]);
}

#[test]
fn arrays_need_one_schema_for_their_items() {
    let text = json!({ "type": "string" });
    check(&[
        ("items", with(json!({ "type": "array", "items": text })), &[]),
        ("no items", with(json!({ "type": "array" })), &["/properties/p items OpenAI+Gemini"]),
        (
            "no items in items",
            with(json!({ "type": "array", "items": { "type": "array" } })),
            &["/properties/p/items items OpenAI+Gemini"],
        ),
        (
            "no items in a list of types",
            with(json!({ "type": ["string", "array"] })),
            &["/properties/p items OpenAI+Gemini", "/properties/p/type type Gemini"],
        ),
        (
            "prefixItems alone",
            with(json!({ "type": "array", "prefixItems": [text] })),
            &["/properties/p items OpenAI+Gemini", "/properties/p/prefixItems prefixItems Gemini"],
        ),
        (
            "prefixItems and items",
            with(json!({ "type": "array", "prefixItems": [text], "items": text })),
            &["/properties/p/prefixItems prefixItems Gemini"],
        ),
        ("not an array", with(json!({ "type": "string", "maxItems": 1 })), &[]),
        (
            "empty items",
            with(json!({ "type": "array", "items": {} })),
            &["/properties/p/items items Gemini"],
        ),
        (
            "a list in items",
            with(json!({ "type": "array", "items": [text, text] })),
            &["/properties/p/items items Anthropic+Gemini"],
        ),
    ]);
}

#[test]
fn patterns_that_python_or_newer_models_reject_are_reported() {
    let is_reported =
        |pattern: &str| !lines(&with(json!({ "type": "string", "pattern": pattern }))).is_empty();
    for pattern in [
        r"\p{L}",
        r"[^\P{Cc}]",
        r"\u{61}",
        r"(?<year>\d+)",
        r"\k<year>",
        r"^\cA$",
        r"(?=a)",
        r"a(?!b)",
        r"(?<=a)b",
        r"(?<!a)b",
        r"[(]\p{L}",
        r"\[(?=a)",
    ] {
        assert!(is_reported(pattern), "{pattern}");
    }
    for pattern in [
        r"^[\w.-]+\.\d{1,3}$",
        r"\\p{L}",
        r"\u0061",
        r"(?P<year>\d+)",
        r"(?:a|b)",
        r"\(?=a",
        r"[(?=]",
        r"[(?<a]",
        r"\/",
        "p{L}",
        "\\",
        "",
    ] {
        assert!(!is_reported(pattern), "{pattern}");
    }
    let text = json!({ "type": "string" });
    check(&[
        (
            "Python",
            with(json!({ "type": "string", "pattern": "\\p{L}" })),
            &["/properties/p/pattern pattern OpenAI"],
        ),
        (
            "a name for a pattern",
            with(json!({ "type": "object", "patternProperties": { "^(?!x)": text, "^y": text } })),
            &[
                "/properties/p/patternProperties patternProperties Gemini",
                "/properties/p/patternProperties/^(?!x) patternProperties OpenAI",
            ],
        ),
        (
            "a parameter named pattern",
            json!({ "type": "object", "properties": { "pattern": text } }),
            &[],
        ),
    ]);
    let note = |pattern: &str| {
        incompatibilities(&with(json!({ "type": "string", "pattern": pattern })))[0].note
    };
    assert_ne!(note(r"\p{L}"), note("(?=a)"));
    assert_eq!(note(r"(?=a)\p{L}"), note(r"\p{L}"), "a fact about every model comes first");
}

#[test]
fn gemini_accepts_one_type_and_enums_of_strings() {
    check(&[
        ("types", with(json!({ "type": ["string", "null"] })), &["/properties/p/type type Gemini"]),
        ("nullable", with(json!({ "type": "string", "nullable": true })), &[]),
        ("null", with(json!({ "type": "null" })), &[]),
        ("true", with(json!(true)), &["/properties/p true Gemini"]),
        ("anything", with(json!({})), &[]),
        (
            "true in items",
            with(json!({ "type": "array", "items": true })),
            &["/properties/p/items true Gemini"],
        ),
        (
            "false in anyOf",
            with(json!({ "anyOf": [{ "type": "string" }, false] })),
            &["/properties/p/anyOf/1 false Gemini"],
        ),
        (
            "true for the unlisted",
            with_beside(json!({ "additionalProperties": true })),
            &["/additionalProperties additionalProperties Gemini"],
        ),
        (
            "numbers",
            with(json!({ "type": "integer", "enum": [1, 2] })),
            &["/properties/p/enum enum Gemini"],
        ),
        (
            "null among strings",
            with(json!({ "type": "string", "enum": ["a", null] })),
            &["/properties/p/enum enum Gemini"],
        ),
        (
            "an empty string",
            with(json!({ "type": "string", "enum": ["", "a"] })),
            &["/properties/p/enum enum Gemini"],
        ),
        ("a space", with(json!({ "type": "string", "enum": [" ", "a"] })), &[]),
        ("no type", with(json!({ "enum": ["a"] })), &["/properties/p/enum enum Gemini"]),
        ("an integer's enum", with(json!({ "type": "integer", "enum": ["1"] })), &[]),
        (
            "a default",
            with(json!({ "type": "string", "default": "a" })),
            &["/properties/p/default default gemini"],
        ),
        ("an example", with(json!({ "type": "string", "example": "a" })), &[]),
    ]);
    let note = |values: Value| incompatibilities(&with(json!({ "enum": values })))[0].note;
    assert_eq!(note(json!([1])), "Gemini's `enum` holds strings only");
    assert_eq!(note(json!([1, ""])), "Gemini's `enum` holds strings only");
    assert_eq!(note(json!(["a", ""])), "Gemini's `enum` holds no empty string");
    assert_eq!(note(json!(["a"])), "Gemini requires `type: string` beside `enum`");
}

#[test]
fn gemini_requires_the_type_of_objects() {
    let text = json!({ "type": "string" });
    let own = json!({ "a": text });
    check(&[
        ("known", with(json!({ "type": "object", "properties": own, "required": ["a"] })), &[]),
        (
            "unknown",
            with(json!({ "type": "object", "properties": own, "required": ["a", "b"] })),
            &["/properties/p/required required Gemini"],
        ),
        (
            "unknown at the top",
            with_beside(json!({ "required": ["b"] })),
            &["/required required Gemini"],
        ),
        ("known at the top", with_beside(json!({ "required": ["p"] })), &[]),
        (
            "no type",
            with(json!({ "properties": own, "required": ["a"] })),
            &[
                "/properties/p/properties properties Gemini",
                "/properties/p/required required Gemini",
            ],
        ),
        ("nothing in it", with(json!({ "properties": {}, "required": [] })), &[]),
        (
            "only required",
            with(json!({ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] })),
            &["/properties/p/anyOf/0/required required Gemini x2"],
        ),
        (
            "another type",
            with(json!({ "type": "string", "properties": own })),
            &["/properties/p/properties properties Gemini"],
        ),
        (
            "one of several types",
            with(json!({ "type": ["object", "null"], "properties": own, "required": ["a"] })),
            &["/properties/p/type type Gemini"],
        ),
    ]);
}

#[test]
fn keywords_that_gemini_lacks_are_reported() {
    let lacked = "$anchor $comment $id additionalItems additionalProperties allOf const contains \
        contentEncoding dependentRequired deprecated else examples exclusiveMaximum \
        exclusiveMinimum if multipleOf not oneOf propertyNames readOnly then \
        unevaluatedProperties uniqueItems writeOnly x-order";
    for keyword in lacked.split(' ') {
        let expected = format!("/properties/p/{keyword} {keyword} Gemini");
        assert_eq!(lines(&with(json!({ "type": "string", keyword: 1 }))), [expected], "{keyword}");
        let named = with(json!({ "type": "object", "properties": { keyword: {} } }));
        assert_eq!(lines(&named), [""; 0], "a property named {keyword}");
    }
    let accepted = json!({
        "type": "object", "title": "t", "description": "d", "nullable": false,
        "minProperties": 0, "maxProperties": 9, "propertyOrdering": ["s"], "required": ["s"],
        "properties": {
            "s": {
                "type": "string", "format": "uri", "minLength": 1, "maxLength": 2, "pattern": "^a"
            },
            "n": { "type": "number", "minimum": 0, "maximum": 1 },
            "l": { "type": "array", "minItems": 0, "maxItems": 3, "items": { "any_of": [] } }
        }
    });
    assert_eq!(lines(&accepted), [""; 0]);
    check(&[
        ("$schema", with_beside(json!({ "$schema": D7 })), &["/$schema $schema Gemini"]),
        (
            "references",
            json!({
                "type": "object",
                "properties": { "p": { "$ref": "#/$defs/q" }, "r": { "$ref": "#/$defs/q" } },
                "$defs": {
                    "q": { "type": "object", "properties": { "again": { "$ref": "#/$defs/q" } } }
                }
            }),
            &["/$defs $defs Gemini", "/properties/p/$ref $ref Gemini x3"],
        ),
    ]);
}

#[test]
fn only_subschemas_are_visited() {
    let data = json!({ "type": ["a"], "const": 1, "oneOf": [true] });
    check(&[
        (
            "data",
            with(json!({
                "type": "object",
                "enum": [data],
                "const": data,
                "default": data,
                "examples": [data]
            })),
            &[
                "/properties/p/enum enum Gemini",
                "/properties/p/const const Gemini",
                "/properties/p/default default gemini",
                "/properties/p/examples examples Gemini",
            ],
        ),
        (
            "a keyword below one that Gemini lacks",
            with_beside(json!({ "additionalProperties": { "type": "array" } })),
            &[
                "/additionalProperties additionalProperties Gemini",
                "/additionalProperties items OpenAI+Gemini",
            ],
        ),
        (
            "a definition of draft-07",
            with_beside(json!({ "$schema": D7, "definitions": { "d": { "type": "array" } } })),
            &[
                "/$schema $schema Gemini",
                "/definitions definitions Gemini",
                "/definitions/d items OpenAI+Gemini",
            ],
        ),
        (
            "a tuple of draft-07",
            with_beside(json!({
                "$schema": D7,
                "properties": { "p": { "type": "array", "items": [{ "const": 1 }] } }
            })),
            &[
                "/$schema $schema Gemini",
                "/properties/p/items items Anthropic+Gemini",
                "/properties/p/items/0/const const Gemini",
            ],
        ),
        (
            "an unknown dialect",
            with_beside(
                json!({ "$schema": "https://example.com/mine", "$defs": { "d": { "const": 1 } } }),
            ),
            &["/$schema $schema Gemini", "/$defs $defs Gemini", "/$defs/d/const const Gemini"],
        ),
    ]);
}

#[test]
fn many_occurrences_are_one_entry() {
    let texts: Map<String, Value> =
        (0..500).map(|n| (format!("p{n}"), json!({ "type": "string", "const": "a" }))).collect();
    check(&[
        (
            "one keyword",
            json!({ "type": "object", "properties": texts }),
            &["/properties/p0/const const Gemini x500"],
        ),
        (
            "at the top and below",
            json!({ "type": "object", "properties": { "p": { "oneOf": [] } }, "oneOf": [] }),
            &["/oneOf oneOf OpenAI+Anthropic+Gemini", "/properties/p/oneOf oneOf Gemini"],
        ),
    ]);
    let made_up: Map<String, Value> = (0..100_000).map(|n| (format!("x{n}"), json!(1))).collect();
    assert_eq!(incompatibilities(&Value::Object(made_up)).len(), 64);
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let mut deep = json!({ "const": 1 });
    for _ in 0..50_000 {
        deep = Value::Object(Map::from_iter([("items".to_owned(), deep)]));
    }
    let found = std::thread::scope(|scope| {
        let small = std::thread::Builder::new().stack_size(256 * 1024);
        let thread = small.spawn_scoped(scope, || lines(&deep)).expect("a thread");
        thread.join().expect("no overflow")
    });
    assert_eq!(found, [" type OpenAI+Anthropic+Gemini", " properties OpenAI"]);
    // Taken apart from the outside: dropping it as a whole would recurse.
    while let Some(inner) = deep.get_mut("items").map(Value::take) {
        deep = inner;
    }
    let within =
        (0..63).fold(json!({ "const": 1 }), |inner, _| json!({ "properties": { "p": inner } }));
    assert!(
        lines(&within).iter().any(|line| line.ends_with("/const const Gemini")),
        "128 levels are visited"
    );
}
