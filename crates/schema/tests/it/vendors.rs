//! What vendors do not accept: every fact with a schema that has it and a near miss that does not.

use serde_json::{Map, Value, json};
use toolwright_schema::{
    Incompatibility, IncompatiblePart, SchemaCounts, TargetSet, VendorEffect, VendorTarget,
    incompatibilities,
};

const D7: &str = "http://json-schema.org/draft-07/schema#";

/// The targets of most tables, with the names that these use.
const THREE: [(VendorTarget, &str); 3] = [
    (VendorTarget::OpenAiResponses, "OpenAI"),
    (VendorTarget::Anthropic, "Anthropic"),
    (VendorTarget::GeminiOpenapi, "Gemini"),
];

fn three() -> TargetSet {
    THREE.into_iter().map(|(target, _)| target).collect()
}

fn set(ids: &str) -> TargetSet {
    ids.split(' ').map(|id| VendorTarget::by_id(id).expect("a target")).collect()
}

/// `pointer part targets`: targets that only ignore it in lower case, and the count unless it is
/// one.
fn line(found: &Incompatibility) -> String {
    let target = |(target, effect): &(VendorTarget, VendorEffect)| {
        let name = THREE.iter().find(|(known, _)| known == target).map_or(target.id(), |it| it.1);
        match effect {
            VendorEffect::Rejects => name.to_owned(),
            VendorEffect::Ignores => name.to_lowercase(),
        }
    };
    let part = match &found.part {
        IncompatiblePart::Keyword(keyword) => keyword.clone(),
        IncompatiblePart::Missing(keyword) => (*keyword).to_owned(),
        IncompatiblePart::Boolean(all) => all.to_string(),
        IncompatiblePart::Name(_) => "properties".to_owned(),
        IncompatiblePart::OptionalProperty(name) => format!("optional {name}"),
        IncompatiblePart::TooMany { what, count, max } => format!("{count} of {max} {what}"),
    };
    let targets: Vec<String> = found.effects.iter().map(target).collect();
    let count = if found.count == 1 { String::new() } else { format!(" x{}", found.count) };
    format!("{} {part} {}{count}", found.at, targets.join("+"))
}

fn lines(schema: &Value) -> Vec<String> {
    incompatibilities(schema, three()).iter().map(line).collect()
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
fn parameter_names_outside_of_the_patterns_are_reported() {
    let named =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } } });
    check(&[
        ("all allowed", named("aZ09_"), &[]),
        ("Anthropic's", named("aZ09_.-"), &["/properties/aZ09_.- properties Gemini"]),
        ("a digit first", named("9a"), &["/properties/9a properties Gemini"]),
        ("64", named(&"a".repeat(64)), &[]),
        (
            "65",
            named(&"a".repeat(65)),
            &[&format!("/properties/{} properties Anthropic+Gemini", "a".repeat(65))],
        ),
        ("empty", named(""), &["/properties/ properties Anthropic+Gemini"]),
        ("brackets", named("filter[id]"), &["/properties/filter[id] properties Anthropic+Gemini"]),
        ("a slash", named("a/b"), &["/properties/a~1b properties Anthropic+Gemini"]),
        ("not ASCII", named("größe"), &["/properties/größe properties Anthropic+Gemini"]),
        ("below", with(named("$top")), &[]),
        (
            "several",
            json!({ "type": "object", "properties": { "$a": {}, "$b": {} } }),
            &["/properties/$a properties Anthropic+Gemini x2"],
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
                "/properties/p/patternProperties/^(?!x) properties OpenAI",
            ],
        ),
        (
            "a parameter named pattern",
            json!({ "type": "object", "properties": { "pattern": text } }),
            &[],
        ),
    ]);
    let note = |pattern: &str| {
        incompatibilities(&with(json!({ "type": "string", "pattern": pattern })), three())[0].note
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
    let note = |values: Value| incompatibilities(&with(json!({ "enum": values })), three())[0].note;
    assert_eq!(note(json!([1])), "Gemini's `parameters` has enums of strings only");
    assert_eq!(note(json!([1, ""])), "Gemini's `parameters` has enums of strings only");
    assert_eq!(note(json!(["a", ""])), "Gemini's enums hold no empty string");
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
    assert_eq!(incompatibilities(&Value::Object(made_up), three()).len(), 64);
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

#[test]
fn strict_modes_want_closed_objects_and_required_properties() {
    let strict = |schema: &Value| -> Vec<String> {
        let found = incompatibilities(schema, set("openai-strict anthropic-strict"));
        found.iter().map(line).collect()
    };
    let closed = |p: Value| {
        json!({
            "type": "object", "properties": { "p": p }, "required": ["p"],
            "additionalProperties": false
        })
    };
    let both = "openai-strict+anthropic-strict";
    let cases: &[(Value, &[&str])] = &[
        (closed(json!({ "type": "string" })), &[]),
        (
            with(json!({ "type": "string" })),
            &[&format!(" additionalProperties {both}"), "/properties/p optional p openai-strict"],
        ),
        (
            closed(json!({ "type": "object", "additionalProperties": { "type": "string" } })),
            &[&format!("/properties/p/additionalProperties additionalProperties {both}")],
        ),
        (
            closed(json!({ "type": "integer", "minimum": 1 })),
            &["/properties/p/minimum minimum anthropic-strict"],
        ),
        // Sources disagree about OpenAI.
        (
            closed(json!({ "type": "string", "minLength": 1 })),
            &["/properties/p/minLength minLength anthropic-strict"],
        ),
        (
            closed(json!({ "oneOf": [{ "type": "string" }, { "type": "null" }] })),
            &["/properties/p/oneOf oneOf openai-strict"],
        ),
        (closed(json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })), &[]),
        (
            closed(json!({ "type": "array", "items": { "type": "string" }, "minItems": 2 })),
            &["/properties/p/minItems minItems anthropic-strict"],
        ),
        (closed(json!({ "type": "string", "format": "date-time" })), &[]),
        (
            closed(json!({ "type": "string", "format": "uri" })),
            &["/properties/p/format format openai-strict"],
        ),
        (
            closed(json!({ "type": "string", "format": "regex" })),
            &[&format!("/properties/p/format format {both}")],
        ),
        (
            closed(json!({ "type": "string", "pattern": "^(?=a)" })),
            &[&format!("/properties/p/pattern pattern {both}")],
        ),
        (
            closed(json!({ "type": "string", "pattern": "\\bword" })),
            &["/properties/p/pattern pattern anthropic-strict"],
        ),
        (closed(json!({ "type": "string", "pattern": "^[\\b]" })), &[]),
        (closed(json!(true)), &["/properties/p true openai-strict"]),
        (
            closed(json!({ "type": "string", "enum": [{}] })),
            &["/properties/p/enum enum anthropic-strict"],
        ),
        (closed(json!({ "type": ["string", "null"], "default": "a", "title": "t" })), &[]),
    ];
    for (schema, expected) in cases {
        assert_eq!(strict(schema), *expected, "{schema}");
    }
}

#[test]
fn references_are_judged_by_what_they_refer_to() {
    let schema = |p: Value, definition: Value| {
        json!({
            "type": "object", "properties": { "p": p }, "required": ["p"],
            "additionalProperties": false, "$defs": { "d": definition }
        })
    };
    let reference = json!({ "$ref": "#/$defs/d" });
    let text = json!({ "type": "string" });
    let list = |of: Value| json!({ "type": "array", "items": of });
    let cases: &[(Value, &[&str])] = &[
        (schema(reference.clone(), text.clone()), &["/properties/p/$ref $ref ollama"]),
        (
            schema(json!({ "$ref": "#/$defs/d", "description": "x" }), text.clone()),
            &["/properties/p/$ref $ref openai-strict+gemini+ollama"],
        ),
        (
            schema(reference.clone(), list(reference.clone())),
            &["/properties/p/$ref $ref anthropic-strict+ollama x2"],
        ),
        (
            schema(reference.clone(), list(json!({ "$ref": "#" }))),
            &["/properties/p/$ref $ref anthropic-strict+ollama x2"],
        ),
        (
            schema(reference, list(json!({ "$ref": "#/properties/q" }))),
            &["/properties/p/$ref $ref ollama", "/$defs/d/items/$ref $ref openai-strict+ollama"],
        ),
    ];
    for (schema, expected) in cases {
        let found = incompatibilities(schema, set("openai-strict anthropic-strict gemini ollama"));
        let found: Vec<String> = found
            .iter()
            .filter(|it| it.part == IncompatiblePart::Keyword("$ref".to_owned()))
            .map(|it| line(it).replace("Gemini", "gemini"))
            .collect();
        assert_eq!(found, *expected, "{schema}");
    }
    // Many references are not compared with each other, which would take long.
    let many: Map<String, Value> = (0..50_000)
        .map(|n| (format!("d{n}"), json!({ "$ref": format!("#/$defs/d{}", n + 1) })))
        .collect();
    let found = incompatibilities(&json!({ "$defs": many }), set("anthropic-strict"));
    assert!(found.iter().all(|it| it.at != "/$defs/d0/$ref"), "{found:?}");
}

#[test]
fn ollama_drops_what_it_does_not_know() {
    let found = |schema: &Value| -> Vec<String> {
        incompatibilities(schema, set("ollama")).iter().map(line).collect()
    };
    let schema = with(json!({
        "type": "integer", "minimum": 1, "title": "t", "description": "d", "examples": [1],
        "x-order": 2, "default": 3
    }));
    assert_eq!(
        found(&schema),
        ["/properties/p/minimum minimum ollama", "/properties/p/default default ollama"]
    );
    assert_eq!(found(&with(json!({ "anyOf": [{ "type": "string", "enum": ["a"] }] }))), [""; 0]);
}

#[test]
fn lenient_targets_accept_everything() {
    let schema = with(json!({
        "oneOf": [{ "const": 1 }, { "type": ["string", "null"], "minLength": 2 }],
        "default": 1, "unevaluatedProperties": false
    }));
    for id in ["openai", "openai-responses", "anthropic", "bedrock", "mistral", "cohere"] {
        assert_eq!(incompatibilities(&schema, set(id)), [], "{id}");
    }
    assert_eq!(incompatibilities(&schema, TargetSet::default()), []);
}

#[test]
fn schemas_beyond_a_limit_are_reported() {
    let enumeration = |n: usize| -> Value { (0..n).map(|n| format!("value{n}")).collect() };
    let sizes = |schema: &Value| -> Vec<String> {
        let found = incompatibilities(schema, set("openai-responses-strict"));
        found
            .iter()
            .filter(|it| matches!(it.part, IncompatiblePart::TooMany { .. }))
            .map(line)
            .collect()
    };
    let nested = |levels: usize| {
        (1..levels).fold(
            json!({ "type": "object" }),
            |inner, _| json!({ "type": "object", "properties": { "p": inner } }),
        )
    };
    let of = "openai-responses-strict";
    let cases: &[(Value, Vec<String>)] = &[
        (nested(10), vec![]),
        (nested(11), vec![format!(" 11 of 10 levels of objects {of}")]),
        (with(json!({ "enum": enumeration(1000) })), vec![]),
        (
            with(json!({ "enum": enumeration(1001) })),
            vec![format!(" 1001 of 1000 enum values {of}")],
        ),
        (
            with(json!({ "const": "x".repeat(120_000) })),
            vec![format!(" 120001 of 120000 characters in names and enum values {of}")],
        ),
    ];
    for (schema, expected) in cases {
        assert_eq!(sizes(schema), *expected);
    }
    let counts = SchemaCounts::of(&json!({
        "type": "object",
        "properties": {
            "a": { "type": ["string", "null"] },
            "b": { "type": "object", "properties": { "c": { "anyOf": [] } } }
        },
        "required": ["a"],
        "$defs": { "d": { "type": "object", "properties": { "e": { "anyOf": [] } } } }
    }));
    assert_eq!((counts.properties, counts.optional, counts.unions), (4, 2, 2));
    assert_eq!(counts.object_levels, 2);
}

#[test]
fn names_that_a_target_rejects() {
    let rejecting = |name: &str| -> String {
        let rejects =
            |target: &VendorTarget| target.name_rule().is_some_and(|rule| !rule.allows(name));
        let all = VendorTarget::ALL.into_iter().filter(rejects);
        all.map(VendorTarget::id).collect::<Vec<_>>().join(" ")
    };
    let (two, all_but_gemini) = (
        "openai openai-strict anthropic anthropic-strict gemini gemini-openapi bedrock mistral",
        "openai openai-responses openai-strict openai-responses-strict anthropic \
         anthropic-strict bedrock mistral",
    );
    for (name, expected) in [
        ("read_file-2", ""),
        (&*"a".repeat(64), ""),
        (&"a".repeat(65), two),
        ("fs.read", all_but_gemini),
        ("9lives", "gemini gemini-openapi"),
    ] {
        assert_eq!(rejecting(name), expected, "{name}");
    }
}

#[test]
fn every_target_has_an_id_of_its_own() {
    for target in VendorTarget::ALL {
        assert_eq!(VendorTarget::by_id(target.id()), Some(target));
        assert!(set(target.id()).contains(target));
        assert_eq!(set(target.id()).iter().collect::<Vec<_>>(), [target]);
    }
    assert_eq!(VendorTarget::by_id("OpenAI"), None);
}
