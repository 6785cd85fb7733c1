//! Definitions whose text is the attack, made by small functions: code that is hard to compile
//! ([`compile_bombs`]), sections of knowledge ([`knowledge_bombs`]), schemas ([`schema_bombs`]).

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::capped_run::{for_each, run};
use super::watched_server::WatchedServer;
use super::{
    HostileDefinition, SHORT_LIMITS, definition, function, list, outcome_in, sources, validator,
};

/// A definition whose validator and helper are this code.
fn coded(name: &'static str, code: &str, expected: &'static [&'static str]) -> HostileDefinition {
    let knowledge =
        json!({"helpers": [function("h", code)], "validators": [validator("v", "run", code)]});
    definition(name, json!({"executable_knowledge": knowledge}), expected)
}

const VALID: &str = "module.exports = () => ({ valid: true, errors: [] });";

/// Code that is hard to compile or to analyse. It is compiled at the first call, so that every one
/// of these waits for its moment.
fn compile_bombs() -> Vec<HostileDefinition> {
    let and_valid = |code: String| code + ";" + VALID;
    let levels = |count: usize, open: &dyn Fn(usize) -> String, inner: &str, close: &str| {
        list(count, "", open) + inner + &close.repeat(count)
    };
    let padded = |length: usize| format!("{VALID}{}", " ".repeat(length - VALID.len()));
    let groups = list(75_000, "", |n| format!("(?<g{n}>)"));
    // What takes too long to analyse is quarantined when it is loaded.
    let slow: &[&str] =
        &["OK", "TIMEOUT", "MEMORY_LIMIT", "STACK_OVERFLOW", "SYNTAX", "THREW", "QUARANTINED"];
    vec![
        coded("a-mebibyte", &padded(1 << 20), &["OK"]),
        coded("a-byte-more", &padded((1 << 20) + 1), &["QUARANTINED"]),
        coded("named-groups", &and_valid(format!("const r = /{groups}/")), &["QUARANTINED"]),
        coded(
            "captures",
            &and_valid(levels(
                500,
                &|n| format!("let a{n} = 1; (() => {{"),
                &list(500, "+", |n| format!("a{n}")),
                "})();",
            )),
            slow,
        ),
        coded(
            "array",
            &and_valid(format!("const a = [{}]", list(300_000, ",", |_| "1".into()))),
            slow,
        ),
        coded(
            "object",
            &and_valid(format!("const a = {{{}}}", list(60_000, ",", |n| format!("k{n}: {n}")))),
            slow,
        ),
        coded(
            "switch",
            &and_valid(format!(
                "function f(x) {{ switch (x) {{{}}} }}",
                list(25_000, "", |n| format!("case {n}: return {n};"))
            )),
            slow,
        ),
        coded(
            "fields",
            &and_valid(format!(
                "class A {{{}}} new A()",
                list(10_000, "", |n| format!("f{n} = {n};"))
            )),
            slow,
        ),
        coded(
            "private-names",
            &and_valid(format!("class A {{{}}}", list(3_000, "", |n| format!("#f{n} = {n};")))),
            slow,
        ),
        coded(
            "locals",
            &and_valid(format!(
                "function f() {{ let {} }}",
                list(60_000, ",", |n| format!("v{n}"))
            )),
            slow,
        ),
        coded("arguments", &and_valid(format!("f({})", list(70_000, ",", |_| "1".into()))), slow),
        coded("template", &and_valid(format!("const s = `{}`", "${1}".repeat(70_000))), slow),
        coded("big-integer", &and_valid(format!("const n = {}n", "9".repeat(900_000))), slow),
        coded(
            "alternatives",
            &and_valid(format!("const r = /{}/", list(80_000, "|", |n| format!("a{n}")))),
            slow,
        ),
        coded(
            "sum",
            &and_valid(format!("const s = {}", list(150_000, "+", |_| "'s'".into()))),
            slow,
        ),
        coded(
            "evals",
            &and_valid(format!(
                "function f() {{ let {}; {} }}",
                list(800, ",", |n| format!("x{n} = 1")),
                "(() => eval('1'))();".repeat(800)
            )),
            slow,
        ),
        coded(
            "steps",
            &and_valid(format!("function* g() {{{}}}", "yield 1;".repeat(50_000))),
            slow,
        ),
        coded("name", &and_valid(format!("const {} = 1", "n".repeat(900_000))), slow),
        coded("comment", &format!("{VALID}/*{}", "x".repeat(900_000)), &["QUARANTINED"]),
        coded("directives", &and_valid("'use strict';".repeat(70_000)), slow),
        coded("labels", &and_valid(list(50_000, "", |n| format!("l{n}:"))), slow),
        coded(
            "finally",
            &and_valid(levels(300, &|_| "try {".into(), "1", "} finally { g() }")),
            slow,
        ),
        coded("fails-at-run", "module.exports = () => late; let late = missing;", &["THREW"]),
    ]
}

/// Sections of knowledge that are large, refer to themselves or are not what they should be.
fn knowledge_bombs() -> Vec<HostileDefinition> {
    let refuses = "module.exports = () => ({ valid: false, errors: ['word7 word8 field must be a number'] });";
    let judged = |sections: Json| {
        let mut sections = sections;
        sections["executable_knowledge"]["validators"] = json!([validator("v", "run", refuses)]);
        sections
    };
    let words = |n: usize| list(60, " ", |word| format!("word{word}field{}", n % 7 + word));
    let many = |count: usize, item: &dyn Fn(usize) -> Json| -> Vec<Json> {
        (0..count).map(item).collect()
    };
    let pattern = |n: usize| {
        json!({"pattern": words(n), "description": words(n + 1), "wrong": "run({".repeat(20),
               "correct": words(n), "category": "api_usage"})
    };
    let quirk =
        |n: usize| json!({"quirk": words(n), "description": words(n), "mitigation": words(n)});
    let helper = |id: &str| function(id, "module.exports = () => 1;");
    let deep = (0..100).fold(json!(1), |value, _| json!({"k": value}));
    let mut all = vec![
        definition(
            "anti-patterns",
            judged(json!({"anti_patterns": many(4_000, &pattern)})),
            &["VALIDATION_FAILED"],
        ),
        definition(
            "quirks",
            judged(json!({"api_complexity": {"api_quirks": many(5_000, &quirk)}})),
            &["VALIDATION_FAILED"],
        ),
        definition(
            "same-id",
            json!({"executable_knowledge": {"helpers": many(5_000, &|_| helper("h"))}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "long-id",
            json!({"executable_knowledge": {"helpers": [helper(&"h".repeat(1 << 20))],
                   "validators": [validator(&"v".repeat(1 << 20), "run", refuses)]}}),
            &["VALIDATION_FAILED", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "odd-ids",
            json!({"executable_knowledge": {"helpers": many(7, &|n| helper(["", "\0", "\u{202e}", "a\nb",
                   "__proto__", "\u{1b}[2J", "'; throw 1; '"][n]))}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "validates-a-list",
            json!({"executable_knowledge": {"validators": [{"id": "v", "language": "javascript",
                   "validates": many(9_000, &|n| json!(format!("c{n}"))), "function": VALID}]}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "functions-that-are-not",
            json!({"executable_knowledge": {"helpers": [1, null, [], {"function": {}}, {"id": {}, "function": []}],
                   "processors": {"a": 1}, "validators": "all"}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "deep-sections",
            json!({"executable_knowledge": {"helpers": [{"id": "h", "function": "1", "x": deep.clone()}]},
                   "api_complexity": {"field_mappings": deep.clone(), "payload_schemas": [deep]}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "self-referring",
            json!({"executable_knowledge": {"helpers": [helper("helpers.h"), helper("h")]},
                   "api_complexity": {
                       "payload_schemas": [{"type": "a", "detection": "helpers.helpers.h", "payload_path": "a.a.a"},
                                           {"type": "b", "detection": "helpers.none"}],
                       "field_mappings": {"a": {"extraction": "helpers.helpers.h"}, "b": {"extraction": "none"}}}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "detections",
            json!({"api_complexity": {"payload_schemas": many(5_000, &|n| json!({
                   "type": format!("t{n}"), "detection": format!("{} == {n}", "a.".repeat(200) + "b"),
                   "payload_path": "a.".repeat(500)}))}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "required-fields",
            json!({"executable_knowledge": {"validators": [{"id": "v", "validates": "run",
                   "language": "javascript", "function": VALID,
                   "checks": [{"required_fields": many(9_000, &|n| json!(format!("f{n}")))}]}]}}),
            &["VALIDATION_FAILED", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
    ];
    // A text of a megabyte that aliases repeat three thousand times: three gigabytes if each of
    // them were a copy.
    let head = "tool:\n  schema_version: 2.0\n  id: aliases\n  type: cli\n  name: a\n  version: 1.0.0\n  \
                description: A tool.\n  cli_specific: { executable: \"true\" }\n  commands: [run]\n  \
                executable_knowledge:\n    helpers:\n";
    let code = format!("\"{VALID}{}\"", " ".repeat(1_000_000));
    let aliases = list(3_000, "", |n| match n {
        0 => format!("      - {{ id: h0, language: javascript, function: &code {code} }}\n"),
        n => format!("      - {{ id: h{n}, language: javascript, function: *code }}\n"),
    });
    all.push(HostileDefinition {
        name: "aliases",
        text: format!("{head}{aliases}"),
        arguments: json!({"args": []}),
        expected: &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
    });
    all
}

/// Schemas that are hard to decide, with arguments that make them so.
fn schema_bombs() -> Vec<HostileDefinition> {
    let schema = |name: &'static str, schema: Json, arguments: Json| {
        let sections = json!({"commands": null, "tools": [{"id": "run", "inputSchema": schema}]});
        let refused: &[&str] =
            &["OK", "INPUT_INVALID", "QUARANTINED", "TOOL_NOT_FOUND", "SCHEMA_INVALID"];
        HostileDefinition { arguments, ..definition(name, sections, refused) }
    };
    let property = |schema: Json| json!({"type": "object", "properties": {"x": schema}});
    // Each definition refers to the next one twice, so that there are 2^30 paths.
    let doubling = |keyword: &str| {
        let definitions: serde_json::Map<String, Json> = (0..30)
            .map(|n| {
                let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
                (format!("d{n}"), json!({keyword: [next, next]}))
            })
            .chain([("d30".to_owned(), json!({"type": "string"}))])
            .collect();
        json!({"type": "object", "$defs": definitions, "properties": {"x": {"$ref": "#/$defs/d0"}}})
    };
    let objects: Vec<Json> = (0..5_000).map(|n| json!({"a": [n, {"b": "x".repeat(20)}]})).collect();
    let keys: serde_json::Map<String, Json> =
        (0..5_000).map(|n| (format!("aaaaaaaaaaaa{n}"), json!(n))).collect();
    let patterns: serde_json::Map<String, Json> =
        (0..200).map(|n| (format!("^(a|a)*{n}$"), json!({"type": "string"}))).collect();
    let nested = (0..100).fold(json!({"type": "string"}), |inner, _| {
        json!({"type": "object", "properties": {"x": inner}, "unevaluatedProperties": false})
    });
    let arrays = (0..60).fold(json!("deep"), |inner, _| json!([inner]));
    let tree = json!({"$id": "t", "$dynamicAnchor": "n", "type": "array",
                      "items": {"anyOf": [{"$dynamicRef": "#n"}, {"$dynamicRef": "#n"}]}});
    let long = "a".repeat(50_000) + "!";
    vec![
        schema("pattern", property(json!({"pattern": "^(a+)+$"})), json!({"x": long})),
        schema("look-ahead", property(json!({"pattern": "^(?=(a+)+b)a"})), json!({"x": long})),
        schema("back-reference", property(json!({"pattern": "^(a*)*\\1b$"})), json!({"x": long})),
        schema("any-of", doubling("anyOf"), json!({"x": 1})),
        schema("all-of", doubling("allOf"), json!({"x": 1})),
        schema("one-of", doubling("oneOf"), json!({"x": "x"})),
        schema("cycle", property(json!({"$ref": "#/properties/x"})), json!({"x": 1})),
        schema(
            "large-enum",
            property(json!({"enum": (0..50_000).collect::<Vec<_>>()})),
            json!({"x": -1}),
        ),
        schema("unique-items", property(json!({"uniqueItems": true})), json!({"x": objects})),
        schema(
            "contains",
            property(json!({"contains": {"contains": {"const": 1}}, "minContains": 4_999})),
            json!({"x": objects}),
        ),
        schema(
            "pattern-properties",
            property(json!({"patternProperties": patterns, "additionalProperties": false})),
            json!({"x": keys}),
        ),
        schema("unevaluated", nested, json!({"x": {"x": {"y": 1}}})),
        schema("dynamic-tree", property(tree), json!({"x": arrays})),
        schema("multiple-of", property(json!({"multipleOf": 1e-300})), json!({"x": 1e300})),
        schema(
            "long-text",
            property(json!({"maxLength": 10, "format": "email"})),
            json!({"x": long}),
        ),
        schema(
            "required",
            json!({"type": "object", "required": (0..20_000).map(|n| format!("r{n}")).collect::<Vec<_>>()}),
            json!({}),
        ),
    ]
}

/// Calls every definition on one server, two at a time, and compares the outcomes.
fn serve_definitions(definitions: &[HostileDefinition], limits: &str) {
    let folder = sources(definitions, limits);
    let mut server = WatchedServer::start(folder.path());
    for pair in definitions.chunks(2) {
        let calls: Vec<(String, Json)> = pair
            .iter()
            .map(|definition| (format!("{}__run", definition.name), definition.arguments.clone()))
            .collect();
        for (definition, answer) in pair.iter().zip(server.attack(&calls)) {
            let result = &answer["result"];
            let error = &result["_meta"]["toolwright/error"]["code"];
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            let text = text.split_once("- ").map_or(text, |(_, first)| first);
            let said = [outcome_in(text), error.as_str().unwrap_or("OK")];
            // A tool that the gate keeps back is unknown to the protocol.
            let said = if answer.get("error").is_some() { ["TOOL_NOT_FOUND"; 2] } else { said };
            let is_right = match said {
                // The short time of a call may pass on a busy machine before the answer is ready.
                [_, "TIMEOUT"] => true,
                ["OK", code] | [code, "VALIDATION_FAILED"] => definition.expected.contains(&code),
                [_, code] => definition.expected.contains(&code),
            };
            server.expect(is_right, || {
                format!(
                    "{}: {said:?}, expected {:?}: {answer}",
                    definition.name, definition.expected
                )
            });
        }
    }
    server.end();
}

/// `check`, `list` and `show` of each definition, and `eval` and `call` where they do not only
/// repeat what the server does.
fn run_definitions(definitions: &[HostileDefinition]) {
    let folder = sources(definitions, SHORT_LIMITS);
    for_each(definitions, |definition| {
        let (name, file) = (definition.name, format!("{}.yaml", definition.name));
        let id = format!("{name}:run");
        let commands: [&[&str]; 4] = [
            &["check", &file],
            &["list", &file],
            &["test", &file],
            &["call", &id, "--args", "{\"args\": []}", "--json"],
        ];
        for command in commands {
            let run = run(folder.path(), command)
                .map_err(|failure| format!("{} {name}: {failure}", command[0]))?;
            if !matches!(run.code, 0..=2) {
                return Err(format!("{} {name}: exit code {}", command[0], run.code));
            }
            if run.time > Duration::from_secs(2) {
                println!("{} {name}: {:?}", command[0], run.time);
            }
        }
        Ok(())
    });
}

#[test]
fn code_that_is_hard_to_compile_is_refused_in_time() {
    serve_definitions(&compile_bombs(), SHORT_LIMITS);
}

#[test]
fn sections_of_knowledge_cannot_hurt_the_server() {
    serve_definitions(&knowledge_bombs(), SHORT_LIMITS);
}

#[test]
fn schemas_cannot_hurt_the_server() {
    serve_definitions(&schema_bombs(), SHORT_LIMITS);
}

#[test]
fn commands_survive_sections_and_schemas() {
    let mut all = knowledge_bombs();
    all.extend(schema_bombs());
    run_definitions(&all);
}

/// A chain of definitions, each with two ways to the next one: as many ways as there are subsets.
fn branching(count: usize) -> Json {
    let mut definitions = serde_json::Map::new();
    for n in 0..count {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        let nested = json!({"type": "object", "properties": {"x": next}});
        definitions.insert(format!("d{n}"), json!({"anyOf": [next, nested]}));
    }
    definitions.insert(format!("d{count}"), json!({"type": "string"}));
    json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
}

#[test]
fn schemas_that_are_costly_to_compare_are_converted() {
    let patterns =
        (0..3_000).map(|n| (format!("p{n}"), json!({"type": "string", "pattern": "^a"})));
    let patterns = json!({"type": "object", "properties": Json::from_iter(patterns)});
    let rows = [
        ("chain-of-10", branching(10), "openai-strict"),
        ("chain-of-40", branching(40), "anthropic-strict"),
        ("patterns", patterns, "ollama"),
    ];
    for (name, schema, target) in rows {
        let tool = json!({"name": "t", "description": "Does one thing.", "inputSchema": schema});
        let document = json!({"tools": [tool]}).to_string();
        let folder = crate::program::folder(&[("t.json", document.as_bytes())]);
        let ended = run(folder.path(), &["convert", "t.json", "--to", target]);
        let ended = ended.unwrap_or_else(|why| panic!("{name}: {why}"));
        println!("{name:<12} {target:<16} {:>8.1?} {:>8} bytes", ended.time, ended.stdout.len());
        assert_eq!(ended.code, 0, "{name}: {}", ended.stderr);
    }
}
