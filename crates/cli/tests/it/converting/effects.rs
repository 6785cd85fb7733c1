//! Effects and instances of the report, judged by the schema of the source and by the one that was
//! written, and outputs that pass the check of their target.

use serde_json::{Value as Json, json};
use toolwright_schema::Schema;

use super::{convert, lines, losses};
use crate::program::{folder, run_in};

/// An MCP document with one tool.
fn tool(schema: &Json) -> String {
    let tool = json!({ "name": "t", "description": "Does one thing well", "inputSchema": schema });
    json!({ "tools": [tool] }).to_string()
}

/// The input schema of the only tool of a vendor's list.
fn written(stdout: &str) -> Json {
    let tools: Json = serde_json::from_str(stdout).expect("JSON");
    let tool = &tools[0];
    let places = [
        "/input_schema",
        "/function/parameters",
        "/functionDeclarations/0/parameters",
        "/functionDeclarations/0/parametersJsonSchema",
    ];
    places.iter().find_map(|place| tool.pointer(place)).expect("a schema").clone()
}

/// The effect of each loss of the schema, by its part. Every instance is judged by both schemas,
/// where calls have the same form in both.
fn judged_effects(schema: &Json, target: &str) -> Vec<(String, String)> {
    let (run, report) = losses(&tool(schema), &["--to", target]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let is_restored = |rewrite: &Json| rewrite["restored"] == true;
    let has_same_form = !report["rewrites"].as_array().expect("a list").iter().any(is_restored);
    let source = Schema::compile(schema).expect("a schema");
    let sent = Schema::compile(&written(&run.stdout)).expect("a schema");
    let mut effects = Vec::new();
    for loss in report["losses"].as_array().expect("a list") {
        let text = |key: &str| loss[key].as_str().unwrap_or_default().to_owned();
        let Some(part) = text("part").strip_prefix("inputSchema").map(str::to_owned) else {
            continue;
        };
        for witness in loss["witnesses"].as_array().expect("a list") {
            let value = &witness["value"];
            assert_eq!(witness["source"], source.is_valid(value), "{loss:#}");
            if has_same_form {
                assert_eq!(witness["target"], sent.is_valid(value), "{loss:#}\n{}", run.stdout);
            }
        }
        effects.push((part, text("effect")));
    }
    effects
}

#[test]
fn effects_are_those_of_the_schema_that_is_written() {
    let closed = |properties: Json| {
        let names: Vec<&String> = properties.as_object().expect("an object").keys().collect();
        json!({
            "type": "object", "required": names, "properties": properties,
            "additionalProperties": false
        })
    };
    let cases = [
        // The tuple is gone as a whole: `items: false` alone would refuse everything.
        (
            closed(json!({ "p": {
                "type": "array", "prefixItems": [{ "type": "number" }, { "type": "string" }],
                "items": false, "minItems": 2
            }})),
            vec![("/properties/p/prefixItems", "widened"), ("/properties/p/minItems", "widened")],
        ),
        // Below `oneOf` a dropped bound narrows; with `anyOf` in its place it widens.
        (
            closed(json!({ "v": {
                "oneOf": [{ "type": "integer" }, { "type": "number", "minimum": 5 }]
            }})),
            vec![("/properties/v/oneOf", "widened"), ("/properties/v/oneOf/1/minimum", "widened")],
        ),
        // Two properties: the instance of one is not that of the other.
        (
            closed(json!({
                "a": { "type": "integer", "maximum": 3 },
                "b": { "type": "array", "items": { "type": "string" }, "uniqueItems": true }
            })),
            vec![("/properties/a/maximum", "widened"), ("/properties/b/uniqueItems", "widened")],
        ),
    ];
    for (schema, expected) in cases {
        let effects = judged_effects(&schema, "anthropic-strict");
        for (part, effect) in expected {
            let found = effects.iter().find(|(own, _)| own == part);
            assert_eq!(found.map(|(_, own)| own.as_str()), Some(effect), "{part}: {effects:?}");
        }
    }
    // Bounds that only say the same together.
    let both = closed(json!({ "n": { "type": "integer", "minimum": 1, "exclusiveMinimum": 0 } }));
    let effects = judged_effects(&both, "anthropic-strict");
    assert!(effects.iter().any(|(_, effect)| effect == "widened"), "{effects:?}");
}

#[test]
fn instances_of_dropped_keywords_differ_by_the_keyword() {
    let schema = json!({
        "type": "object", "required": ["a", "b"], "additionalProperties": false,
        "properties": {
            "a": { "type": "string", "maxLength": 3 }, "b": { "type": "string", "maxLength": 5 }
        }
    });
    let (_, report) = losses(&tool(&schema), &["--to", "anthropic-strict"]);
    let length = |property: &str| {
        let part = format!("inputSchema/properties/{property}/maxLength");
        let all = report["losses"].as_array().expect("a list");
        let loss = all.iter().find(|loss| loss["part"] == part.as_str()).expect("a loss");
        loss["witnesses"][0]["value"][property].as_str().expect("a text").len()
    };
    assert_eq!((length("a"), length("b")), (4, 6));
}

/// The instances of the loss of a part, by the report; those that the target accepts come first.
fn instances<'r>(report: &'r Json, part: &str, reason: &str) -> Vec<&'r Json> {
    let all = report["losses"].as_array().expect("a list");
    let is_it = |loss: &&Json| {
        loss["part"] == part && loss["reason"].as_str().is_some_and(|own| own.starts_with(reason))
    };
    let loss = all.iter().find(is_it).unwrap_or_else(|| panic!("{part}: {report:#}"));
    let witnesses = loss["witnesses"].as_array().expect("a list");
    witnesses.iter().map(|witness| &witness["value"]).collect()
}

/// An instance of a loss is refused because of this loss, not because of another one nearby.
#[test]
fn each_loss_has_an_instance_of_its_own() {
    let schema = json!({ "type": "object", "properties": {
        "nv": false, "s": { "type": "array", "uniqueItems": true }
    }});
    let (_, report) = losses(&tool(&schema), &["--to", "gemini-openapi"]);
    let found = instances(&report, "inputSchema/properties/nv", "");
    assert_eq!(found, [&json!({ "nv": null })]);
    assert!(instances(&report, "inputSchema/properties/s/uniqueItems", "")[0].get("nv").is_none());

    let schema = json!({ "type": "object", "properties": { "w": {
        "type": "array", "items": { "type": "string" }, "contains": { "const": "a" },
        "maxContains": 2
    }}});
    let (_, report) = losses(&tool(&schema), &["--to", "gemini-openapi"]);
    let found = instances(&report, "inputSchema/properties/w/maxContains", "");
    assert_eq!(found, [&json!({ "w": ["a", "a", "a"] })]);
    let found = instances(&report, "inputSchema/properties/w/contains", "");
    assert!(!found[0]["w"].to_string().contains("\"a\""), "{found:?}");

    // A closed tuple has at most two items; the bound of the least number is another loss.
    let number = json!({ "type": "number" });
    let schema = json!({
        "type": "object", "required": ["t"], "additionalProperties": false,
        "properties": { "t": {
            "type": "array", "prefixItems": [number, number], "items": false, "minItems": 2
        }}
    });
    let (_, report) = losses(&tool(&schema), &["--to", "anthropic-strict"]);
    let found = instances(&report, "inputSchema/properties/t/items", "");
    assert_eq!(found, [&json!({ "t": [0, 0, 0] })]);
    let found = instances(&report, "inputSchema/properties/t/minItems", "");
    assert_eq!(found, [&json!({ "t": [0] })]);
}

/// Also where calls have another form, so that the edit cannot be taken back in what is written.
#[test]
fn each_loss_of_a_map_has_an_instance_of_its_own() {
    let schema = json!({ "type": "object", "properties": { "o": {
        "type": "object", "properties": { "x": { "type": "string", "maxLength": 3 } },
        "minProperties": 1, "maxProperties": 2, "propertyNames": { "maxLength": 4 },
        "patternProperties": { "^q": { "type": "integer" } }
    }}});
    for target in ["openai-strict", "anthropic-strict"] {
        let (_, report) = losses(&tool(&schema), &["--to", target]);
        assert_eq!(instances(&report, "inputSchema", ""), [&json!({ "z": null })]);
        let part = "inputSchema/properties/o/propertyNames";
        for found in instances(&report, part, "") {
            let names = found["o"].as_object().expect("an object");
            assert!(names.keys().any(|name| name.len() > 4), "{target}: {found}");
        }
        let part = "inputSchema/properties/o/patternProperties";
        for reason in ["the target has no maps", "the branches overlap"] {
            for found in instances(&report, part, reason) {
                assert!(found.pointer("/o/q").is_some(), "{target}, {reason}: {found}");
            }
        }
    }
}

#[test]
fn a_map_that_is_sent_as_pairs_is_not_lost_a_second_time() {
    let map = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    let open = json!({ "type": "object", "properties": { "m": map } });
    let twice = "widened inputSchema/properties/m/additionalProperties";
    let (_, report) = losses(&tool(&open), &["--to", "gemini-openapi"]);
    assert_eq!(lines(&report), [twice]);
    assert!(report["losses"][0]["reason"].to_string().contains("a key twice"), "{report:#}");
    let mut closed = open;
    closed["additionalProperties"] = json!(false);
    let (_, report) = losses(&tool(&closed), &["--to", "gemini-openapi"]);
    assert_eq!(lines(&report), ["widened inputSchema/additionalProperties", twice]);
    assert_eq!(instances(&report, "inputSchema/additionalProperties", ""), [&json!({ "z": null })]);
}

#[test]
fn a_negation_is_dropped_as_a_whole() {
    let kinds = json!(["string", "integer"]);
    let schema = json!({ "type": "object", "properties": {
        "a": { "type": kinds, "not": { "type": kinds, "minLength": 2 } }
    }});
    let (run, report) = losses(&tool(&schema), &["--to", "gemini"]);
    assert_eq!(written(&run.stdout)["properties"]["a"]["type"], kinds);
    assert_eq!(written(&run.stdout).pointer("/properties/a/not"), None, "{}", run.stdout);
    assert_eq!(lines(&report), ["widened inputSchema/properties/a/not"]);
}

#[test]
fn choices_of_values_and_minimal_lengths_have_an_exact_form() {
    let schema = json!({
        "type": "object", "required": ["n", "s", "l"], "additionalProperties": false,
        "properties": {
            "n": { "anyOf": [{ "const": 1 }, { "const": 2 }] },
            "s": { "oneOf": [{ "const": 1, "title": "A" }, { "const": 2, "title": "B" }] },
            "l": { "type": "string", "minLength": 2 }
        }
    });
    let (run, report) = losses(&tool(&schema), &["--to", "anthropic-strict"]);
    let properties = &written(&run.stdout)["properties"];
    assert_eq!(properties["n"], json!({ "enum": [1, 2], "type": "integer" }));
    assert_eq!(properties["l"], json!({ "type": "string", "pattern": "^[\\s\\S]{2}" }));
    assert_eq!(lines(&report), ["filled strict"]);
    // Branches that describe their values stay, and are restored one by one.
    let (run, report) = losses(&tool(&schema), &["--to", "gemini-openapi"]);
    let properties = &written(&run.stdout)["properties"];
    assert_eq!(properties["n"], json!({ "enum": ["1", "2"], "type": "STRING" }));
    assert_eq!(properties["s"]["anyOf"].as_array().map(Vec::len), Some(2));
    assert_eq!(lines(&report), ["widened inputSchema/additionalProperties"]);
}

/// `nullable` and enums of numbers are what the target has, and no reason for a warning.
#[test]
fn schemas_in_geminis_form_pass_its_check() {
    let schema = json!({ "type": "object", "properties": {
        "a": { "type": ["string", "null"] },
        "b": { "enum": ["x", null] },
        "c": { "type": "integer", "enum": [1, 2] },
        "d": { "type": "array", "items": { "type": ["number", "null"] } },
        "e": { "type": ["integer", "string", "null"], "minimum": 3, "minLength": 2 },
        "f": { "anyOf": [{ "type": "null" }, { "enum": ["x", "y"] }, { "type": "boolean" }] }
    }});
    let (run, report) = losses(&tool(&schema), &["--to", "gemini-openapi"]);
    assert_eq!(report["losses"], json!([]));
    assert_eq!(written(&run.stdout)["properties"]["e"]["anyOf"][0]["nullable"], true);
    let run = convert(&tool(&schema), &["--to", "gemini-openapi", "--losses", "none"]);
    let folder = folder(&[("out.json", run.stdout.as_bytes()), ("bad.json", BAD.as_bytes())]);
    let check = |file| {
        let args = ["check", file, "--target", "gemini-openapi", "--fail-on", "warning"];
        run_in(folder.path(), &args, b"")
    };
    let clean = check("out.json");
    assert_eq!(clean.code, 0, "{}{}", clean.stdout, clean.stderr);
    let bad = check("bad.json");
    assert_eq!(bad.code, 1);
    let report = format!("{}{}", bad.stdout, bad.stderr);
    for keyword in ["`type`", "`const`"] {
        let message = format!("{keyword} makes gemini-openapi reject the request");
        assert!(report.contains(&message), "{report}");
    }
}

const BAD: &str = r#"[{"functionDeclarations": [{"name": "t", "description": "Does it well",
    "parameters": {"type": "OBJECT", "properties": {
        "a": {"type": "STRING", "nullable": true}, "b": {"type": ["string", "null"]},
        "c": {"type": "STRING", "const": "x"}}}}]}]"#;

#[test]
fn a_request_beyond_the_limits_of_the_target_is_reported() {
    let tool = |n: usize| {
        json!({
            "name": format!("tool_{n}"), "description": "Does one thing well",
            "inputSchema": { "type": "object", "additionalProperties": false, "properties": {
                "a": { "type": "string" }, "b": { "type": "string" }
            }}
        })
    };
    let text = json!({ "tools": (0..21).map(tool).collect::<Vec<_>>() }).to_string();
    let run = convert(&text, &["--to", "anthropic-strict"]);
    run.assert_on_stderr(
        "anthropic-strict rejects a request with all of them: 21 tools (at most 20), 42 optional \
         parameters (at most 24); send fewer tools at a time\n",
    );
    let (_, report) = losses(&text, &["--to", "anthropic-strict"]);
    let beyond = &report["beyondRequestLimits"];
    assert_eq!(beyond[0], json!({ "part": "tools", "count": 21, "max": 20 }));
    let (_, report) = losses(&text, &["--to", "anthropic"]);
    assert_eq!(report["beyondRequestLimits"], json!([]));
}

/// The target rejects it, so `convert` and `check` both report it.
#[test]
fn a_description_beyond_the_limit_of_the_target_is_reported() {
    let tool = |length: usize| {
        json!({ "tools": [{
            "name": "t", "description": "d".repeat(length), "inputSchema": { "type": "object" }
        }]})
        .to_string()
    };
    for (target, length, is_rejected) in
        [("openai", 1025, true), ("openai", 1024, false), ("anthropic", 1025, false)]
    {
        let run = convert(&tool(length), &["--to", target]);
        let line = format!(
            "{target} rejects a request with t: its description has {length} characters (at most \
             1024); shorten it\n"
        );
        assert_eq!(run.stderr.contains(&line), is_rejected, "{}", run.stderr);
        let (_, report) = losses(&tool(length), &["--to", target]);
        let part = "characters of the description";
        let entry = json!({ "part": part, "tool": "t", "count": length, "max": 1024 });
        let expected = if is_rejected { json!([entry]) } else { json!([]) };
        assert_eq!(report["beyondRequestLimits"], expected);
        let folder = folder(&[("out.json", run.stdout.as_bytes())]);
        let check = run_in(folder.path(), &["check", "out.json", "--target", target], b"");
        assert_eq!(check.stdout.contains("VENDOR_INCOMPATIBLE"), is_rejected, "{}", check.stdout);
    }
}

#[test]
fn several_tools_for_ikigai_are_several_files() {
    let tool = |name: &str| json!({ "name": name, "description": "Does it", "inputSchema": { "type": "object" } });
    let text = json!({ "tools": [tool("one"), tool("two")] }).to_string();
    let folder = folder(&[("source.json", text.as_bytes()), ("out/kept.txt", b"")]);
    let refused = run_in(folder.path(), &["convert", "source.json", "--to", "ikigai"], b"");
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    refused.assert_on_stderr("an ikigai document describes one tool, and the source has 2");
    let args = ["convert", "source.json", "--to", "ikigai", "-o", "out"];
    let run = run_in(folder.path(), &args, b"");
    assert_eq!(run.code, 0, "{}", run.stderr);
    // A folder that does not exist is created if its name ends with a `/`.
    let args = ["convert", "source.json", "--to", "ikigai", "-o", "new/folder/"];
    let run = run_in(folder.path(), &args, b"");
    assert_eq!(run.code, 0, "{}", run.stderr);
    for name in ["out/one", "out/two", "new/folder/one"] {
        let check = run_in(folder.path(), &["check", &format!("{name}.json")], b"");
        assert_eq!(check.code, 0, "{}{}", check.stdout, check.stderr);
    }
}

/// Validators disagree whether `$` matches before a line break at the end of a text.
#[test]
fn instances_for_patterns_do_not_depend_on_a_line_break() {
    for pattern in ["^[a-z]+$", "^(?!internal).*$", "^\\d{3}$", "a$"] {
        for schema in [
            json!({ "type": "string", "pattern": pattern }),
            json!({ "type": "object", "propertyNames": { "pattern": pattern } }),
        ] {
            let schema = json!({ "type": "object", "properties": { "a": schema } });
            let (run, report) = losses(&tool(&schema), &["--to", "ollama"]);
            assert_eq!(run.code, 0, "{}", run.stderr);
            let losses = report["losses"].as_array().expect("a list");
            let loss = losses.iter().find(|loss| loss["effect"] == "widened").expect("a loss");
            let instance = loss["witnesses"][0]["value"].to_string();
            assert!(!instance.contains("\\n"), "{pattern}: {instance}");
        }
    }
}

#[test]
fn numbers_keep_their_digits_or_are_reported() {
    let text = r#"{"tools": [{"name": "t", "description": "Does it", "x-big": 12345678901234567890123,
        "inputSchema": {"type": "object", "properties": {"a": {"type": "number", "maximum": 1.00}}}}]}"#;
    let (same, report) = losses(text, &["--to", "mcp"]);
    for number in ["12345678901234567890123", "1.00"] {
        assert!(same.stdout.contains(number), "{}", same.stdout);
    }
    assert_eq!(report["losses"], json!([]));
    let (_, report) = losses(text, &["--to", "mcp-plain"]);
    assert!(lines(&report).contains(&"approximated x-big".to_owned()), "{report:#}");
}

#[test]
fn numbers_beyond_a_double_are_reported_once_with_the_cause() {
    let text = r#"{"tools": [{"name": "t", "description": "Does it", "inputSchema": {"type": "object"},
        "_meta": {"large": 1E400, "small": 1e-400, "long": 0.1000000000000000055511151231257827}}]}"#;
    let (_, report) = losses(text, &["--to", "mcp-plain"]);
    let all = report["losses"].as_array().expect("a list");
    for (name, reason) in [
        ("large", "`1E400` is too large for a double, and is read as `null`"),
        ("small", "`1e-400` is too small for a double, and is read as `0.0`"),
        (
            "long",
            "`0.1000000000000000055511151231257827` has more digits than a double, and is read as `0.1`",
        ),
    ] {
        let part = format!("_meta/{name}");
        let found: Vec<&Json> = all.iter().filter(|loss| loss["part"] == part.as_str()).collect();
        let reasons: Vec<&Json> = found.iter().map(|loss| &loss["reason"]).collect();
        assert_eq!(reasons, [reason], "{report:#}");
    }
    // What is gone is not approximated as well.
    let (_, report) = losses(text, &["--to", "openai"]);
    let found = lines(&report);
    assert!(!found.iter().any(|line| line.starts_with("approximated")), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("dropped")), "{found:?}");
}

#[test]
fn aios_is_written_in_its_newest_version() {
    let text = r#"{"btcp": "1.0", "name": "m", "version": "1.0.0", "capabilities": [], "tools": [
        {"name": "readIt", "description": "Reads a thing", "inputSchema": {"type": "object"},
         "outputSchema": {"type": "object"}, "capabilities": [],
         "examples": [{"description": "a call", "input": {}, "output": {}},
                      {"description": "without a result", "input": {}}]}]}"#;
    let args = ["--to", "aios", "--set", "description=Reads things", "-o", "out.yaml"];
    let folder = folder(&[("source.json", text.as_bytes())]);
    let in_folder = |args: &[&str]| run_in(folder.path(), args, b"");
    let run = in_folder(&[&["convert", "source.json"], &args[..]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let shown = in_folder(&["show", "out.yaml", "--json"]);
    let record: Json = serde_json::from_str(&shown.stdout).expect("JSON");
    assert!(record.to_string().contains(r#""dialect":"2.0""#), "{record:#}");
    let upgrade = in_folder(&["upgrade", "out.yaml"]);
    assert_eq!(upgrade.stderr, "toolwright: 1 file: nothing to upgrade\n");
    let check = in_folder(&["check", "out.yaml", "--fail-on", "error"]);
    assert_eq!(check.code, 0, "{}{}", check.stdout, check.stderr);
}

/// A root that refers to itself is written twice for Gemini: as the root, and as a definition.
#[test]
fn a_loss_in_a_root_that_is_a_definition_is_reported_once() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 2 },
            "next": { "$ref": "#" }
        },
        "additionalProperties": false
    });
    for target in ["gemini", "ollama", "openai-strict", "anthropic-strict"] {
        let effects = judged_effects(&schema, target);
        let mut parts: Vec<&String> = effects.iter().map(|(part, _)| part).collect();
        parts.sort();
        parts.dedup();
        assert_eq!(parts.len(), effects.len(), "{target}: {effects:?}");
        if target == "gemini" {
            assert!(
                effects.iter().any(|(part, _)| part == "/properties/name/minLength"),
                "{effects:?}"
            );
        }
    }
}

/// However many parameters are before it.
#[test]
fn a_lost_null_and_a_repeated_key_are_shown() {
    let mut properties = serde_json::Map::new();
    for n in 0..12 {
        let property = json!({ "type": "string", "enum": ["a", "b"], "description": "One of two" });
        properties.insert(format!("p{n}"), property);
    }
    properties.insert("type".to_owned(), json!({ "type": ["string", "null"] }));
    properties.insert(
        "map".to_owned(),
        json!({ "type": "object", "additionalProperties": { "type": "string" } }),
    );
    let schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let effects = judged_effects(&schema, "openai-strict");
    let effect = |part: &str, effect: &str| (part.to_owned(), effect.to_owned());
    assert_eq!(
        effects,
        [
            effect("/properties/type", "narrowed"),
            effect("/properties/map/additionalProperties", "widened")
        ]
    );
}

/// Branches that the schema around them tells apart: `anyOf` means the same.
#[test]
fn a_discriminator_beside_the_branches_keeps_them_apart() {
    let branch = |kind: &str, own: &str| {
        json!({
            "type": "object", "required": [own],
            "properties": { "kind": { "enum": [kind] }, own: { "type": "boolean" } }
        })
    };
    let schema = json!({
        "type": "object", "required": ["pet"], "additionalProperties": false,
        "properties": { "pet": { "$ref": "#/$defs/pet" } },
        "$defs": {
            "dog": branch("dog", "barks"), "cat": branch("cat", "purrs"),
            "pet": {
                "type": "object", "required": ["kind"],
                "properties": { "kind": { "type": "string" } },
                "oneOf": [{ "$ref": "#/$defs/dog" }, { "$ref": "#/$defs/cat" }]
            }
        }
    });
    for target in ["openai-strict", "anthropic-strict", "gemini-openapi", "ollama"] {
        let (run, report) = losses(&tool(&schema), &["--to", target]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let is_about_branches = |loss: &Json| {
            let reason = loss["reason"].as_str().unwrap_or_default();
            reason.contains("several branches") || reason.contains("the branches overlap")
        };
        let mut losses = report["losses"].as_array().expect("a list").iter();
        assert_eq!(losses.find(|loss| is_about_branches(loss)), None, "{target}");
    }
}

/// A tuple of a fixed length, as Pydantic writes it, has one schema for all items.
#[test]
fn a_tuple_with_as_many_items_as_positions_is_not_lost() {
    let tuple = |second: &str| {
        json!({
            "type": "object", "required": ["p"], "additionalProperties": false,
            "properties": { "p": {
                "type": "array", "prefixItems": [{ "type": "number" }, { "type": second }],
                "minItems": 2, "maxItems": 2
            }}
        })
    };
    for target in ["openai-strict", "ollama"] {
        let effects = judged_effects(&tuple("number"), target);
        let is_tuple = |(part, _): &(String, String)| part.ends_with("/prefixItems");
        assert!(!effects.iter().any(is_tuple), "{target}: {effects:?}");
        let effects = judged_effects(&tuple("string"), target);
        let lost = ("/properties/p/prefixItems".to_owned(), "widened".to_owned());
        assert!(effects.contains(&lost), "{target}: {effects:?}");
    }
}

/// The values of a map are closed objects in strict modes.
#[test]
fn closed_values_of_a_map_are_shown() {
    let value = json!({ "type": "object", "properties": { "n": { "type": "number" } } });
    let schema = json!({
        "type": "object", "required": ["m"], "additionalProperties": false,
        "properties": { "m": { "type": "object", "additionalProperties": value } }
    });
    let effects = judged_effects(&schema, "openai-strict");
    let closed = ("/properties/m/additionalProperties".to_owned(), "narrowed".to_owned());
    assert!(effects.contains(&closed), "{effects:?}");
    assert!(!effects.iter().any(|(_, effect)| effect == "not-shown"), "{effects:?}");
}

/// `unevaluatedProperties` beside a choice is about what no branch names: the properties of the
/// branches can be sent.
#[test]
fn properties_of_branches_can_be_sent_where_no_others_are_accepted() {
    let branch = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let schema = json!({
        "type": "object", "required": ["c"], "additionalProperties": false,
        "properties": {
            "c": { "anyOf": [branch("a"), branch("b")], "unevaluatedProperties": false }
        }
    });
    for target in ["openai-strict", "anthropic-strict"] {
        let (run, _) = losses(&tool(&schema), &["--to", target]);
        let sent = Schema::compile(&written(&run.stdout)).expect("a schema");
        assert!(sent.is_valid(&json!({ "c": { "a": "x" } })), "{target}: {}", run.stdout);
        assert!(!sent.is_valid(&json!({ "c": { "a": "x", "z": 1 } })), "{target}: {}", run.stdout);
        // A value that matches both branches is one of neither alone.
        let effects = judged_effects(&schema, target);
        let lost = ("/properties/c/unevaluatedProperties".to_owned(), "narrowed".to_owned());
        assert_eq!(effects, [lost], "{target}");
    }
}

/// The first value of a branch of `oneOf` may match another branch, too.
#[test]
fn a_closed_object_is_narrower_also_beside_an_overlapping_choice() {
    let choice = json!({
        "oneOf": [{ "type": "integer", "minimum": 3 }, { "type": "integer", "maximum": 8 }]
    });
    let schema = json!({ "type": "object", "properties": { "v": choice }, "required": ["v"] });
    let effects = judged_effects(&schema, "openai-strict");
    let of = |part: &str| effects.iter().find(|(own, _)| own == part).map(|(_, effect)| &**effect);
    assert_eq!(of(""), Some("narrowed"), "{effects:?}");
    assert_eq!(of("/properties/v/oneOf"), Some("widened"), "{effects:?}");
}

/// Of two bounds that are merged the tighter one is lost, not the one that is written first.
#[test]
fn a_loss_of_merged_bounds_is_that_of_the_tighter_one() {
    let merged = json!({ "allOf": [{ "type": "integer", "minimum": 1 }, { "minimum": 3 }] });
    let schema = json!({
        "type": "object", "properties": { "n": merged }, "required": ["n"],
        "additionalProperties": false
    });
    let effects = judged_effects(&schema, "anthropic-strict");
    let lost = ("/properties/n/allOf/1/minimum".to_owned(), "widened".to_owned());
    assert_eq!(effects, [lost]);
}
