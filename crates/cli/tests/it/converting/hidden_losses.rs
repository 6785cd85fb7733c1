//! Losses that comparing schemas does not show: annotations that are gone, parameters with other
//! names, and calls that cannot be restored. And what belongs to a schema and changes with it:
//! examples, and the description of all parameters.

use serde_json::{Value as Json, json};

use super::{convert, lines, losses};
use crate::program::{folder, run_in};

/// A document with one MCP tool that has this input schema.
fn tool(schema: &Json) -> String {
    let tool = json!({"name": "t", "description": "Does a thing", "inputSchema": schema});
    json!({ "tools": [tool] }).to_string()
}

/// An object with one property that has this schema.
fn property(schema: Json) -> Json {
    json!({"type": "object", "properties": {"p": schema}})
}

fn written(stdout: &str) -> Json {
    serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

#[test]
fn annotations_that_the_target_drops_are_losses() {
    let annotations = json!({
        "type": "string", "title": "P", "examples": ["e"], "default": null, "$comment": "c",
        "deprecated": true, "readOnly": true, "writeOnly": false, "contentEncoding": "base64",
        "contentMediaType": "text/plain", "contentSchema": {"type": "string"}, "x-own": {"a": 1},
        "$anchor": "here", "$id": "https://example.org/p"
    });
    let all: Vec<String> =
        annotations.as_object().expect("an object").keys().skip(1).cloned().collect();
    let others: Vec<String> = all.iter().filter(|name| *name != "title").cloned().collect();
    for (target, dropped) in [("gemini-openapi", &others), ("ollama", &all)] {
        let source = tool(&property(annotations.clone()));
        let (run, report) = losses(&source, &["--to", target]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let mut found = lines(&report);
        found.sort();
        let mut wanted: Vec<String> =
            dropped.iter().map(|name| format!("dropped inputSchema/properties/p/{name}")).collect();
        wanted.sort();
        assert_eq!(found, wanted, "{target}: {report:#}");
        let loss = &report["losses"][0];
        // Nobody enforces an annotation.
        let enforced = (&loss["enforcedByTarget"], &loss["enforcedByToolwright"]);
        assert_eq!(enforced, (&Json::Null, &Json::Null), "{loss:#}");
        assert!(!report["rewrites"].to_string().contains("$comment"), "{report:#}");
        for denied in ["--deny-loss", "--deny-loss=dropped"] {
            let run = convert(&source, &["--to", target, denied]);
            assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{target}: {}", run.stderr);
        }
        // People see one entry.
        let run = convert(&source, &["--to", target]);
        let grouped = format!("dropped {} times, first in t › ", dropped.len());
        assert!(run.stderr.contains(&grouped), "{target}: {}", run.stderr);
        assert!(run.stderr.lines().count() <= 4, "{target}: {}", run.stderr);
    }
    // What a description says instead is not the keyword.
    for (kind, format, default) in [("string", "uri", json!("x")), ("integer", "int64", json!(7))] {
        let schema = json!({"type": kind, "format": format, "default": default});
        let (_, report) = losses(&tool(&property(schema)), &["--to", "ollama"]);
        let at = "inputSchema/properties/p/";
        assert_eq!(lines(&report), [format!("dropped {at}format"), format!("dropped {at}default")]);
        let reason = report["losses"][1]["reason"].as_str().expect("a reason");
        let words = format!("(the description says: default: {default})");
        assert!(reason.ends_with(&words), "{reason}");
    }
    // The target has one dialect, so that naming it says nothing.
    let mut schema = property(json!({"type": "string"}));
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    let run = convert(&tool(&schema), &["--to", "gemini-openapi", "--deny-loss"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn formats_lists_what_conversions_report() {
    let args = ["formats", "ollama", "gemini-openapi", "--json"];
    let run = run_in(folder(&[]).path(), &args, b"");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let support = written(&run.stdout);
    let cell = |name: &str, target: &str| {
        let rows = support["keywords"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["name"] == name).expect("a row");
        row["targets"][target].as_str().map(str::to_owned).unwrap_or_else(|| panic!("{row:#}"))
    };
    for keyword in ["title", "examples", "$id", "$comment", "default", "format", "deprecated"] {
        assert_eq!(cell(keyword, "ollama"), "dropped", "{keyword}");
    }
    for keyword in ["anyOf", "description", "enum", "items", "properties", "required", "type"] {
        assert_eq!(cell(keyword, "ollama"), "held", "{keyword}");
    }
    for (keyword, support) in [("title", "held"), ("examples", "dropped"), ("default", "dropped")] {
        assert_eq!(cell(keyword, "gemini-openapi"), support, "{keyword}");
    }
}

/// Ollama's server reads no description of the parameters as a whole.
#[test]
fn ollama_gets_the_description_of_the_parameters_with_that_of_the_tool() {
    let mut schema = property(json!({"type": "string", "description": "A part"}));
    schema["minProperties"] = json!(1);
    for (description, text) in [
        (None, "Does a thing\n\nArguments: at least 1 property"),
        (Some("Which parts"), "Does a thing\n\nArguments: Which parts (at least 1 property)"),
    ] {
        if let Some(description) = description {
            schema["description"] = json!(description);
        }
        let (run, report) = losses(&tool(&schema), &["--to", "ollama"]);
        let function = &written(&run.stdout)[0]["function"];
        assert_eq!(function["description"], text, "{}", run.stderr);
        let members: Vec<&String> =
            function["parameters"].as_object().expect("an object").keys().collect();
        assert_eq!(members, ["type", "properties"], "{function:#}");
        assert_eq!(lines(&report), ["widened inputSchema/minProperties"], "{report:#}");
        let rewritten = report["rewrites"].as_array().expect("a list").len();
        assert_eq!(rewritten, usize::from(description.is_some()), "{report:#}");
    }
}

#[test]
fn parameters_with_another_name_are_renamed() {
    let schema = json!({
        "type": "object", "properties": {"user name": {"type": "string"}, "id": {"type": "string"}},
        "required": ["user name"], "additionalProperties": false
    });
    for target in ["anthropic", "anthropic-strict", "gemini-openapi"] {
        let (run, report) = losses(&tool(&schema), &["--to", target]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let losses = report["losses"].as_array().expect("a list");
        let renamed: Vec<&Json> =
            losses.iter().filter(|loss| loss["effect"] == "renamed").collect();
        let [loss] = renamed.as_slice() else { panic!("{target}: {report:#}") };
        assert_eq!(loss["part"], "inputSchema/properties/user name", "{target}");
        let names = (&loss["before"], &loss["after"]);
        assert_eq!(names, (&json!("user name"), &json!("user_name")), "{target}");
        let reason = loss["reason"].as_str().expect("a reason");
        assert!(reason.contains("`user_name`") && reason.contains("call --as"), "{reason}");
        let run = convert(&tool(&schema), &["--to", target, "--deny-loss=renamed"]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{target}: {}", run.stderr);
    }
}

#[test]
fn examples_have_the_form_of_the_written_schema() {
    let tool = |schema: Json, inputs: Json| {
        let examples: Vec<Json> = inputs
            .as_array()
            .expect("a list")
            .iter()
            .map(|input| json!({"description": "One", "input": input, "output": {}}))
            .collect();
        json!([{
            "name": "readThing", "description": "Reads a thing of the page", "inputSchema": schema,
            "outputSchema": {"type": "object"}, "capabilities": [], "examples": examples
        }])
        .to_string()
    };
    let named = json!({
        "type": "object", "properties": {"user name": {"type": "string"}}, "required": ["user name"]
    });
    let map = json!({
        "type": "object", "additionalProperties": false, "required": ["m"],
        "properties": {"m": {"type": "object", "additionalProperties": {"type": "integer"}}}
    });
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let cases = [
        ("anthropic", named, json!([{"user name": "x"}]), json!([{"user_name": "x"}])),
        (
            "anthropic-strict",
            map,
            json!([{"m": {"k": 1}}]),
            json!([{"m": {"entries": [{"key": "k", "value": 1}]}}]),
        ),
        // Strict mode closes the object, so that the first example cannot be sent.
        ("anthropic-strict", open, json!([{"a": "x", "b": 1}, {"a": "y"}]), json!([{"a": "y"}])),
    ];
    for (target, schema, inputs, wanted) in cases {
        let source = tool(schema, inputs.clone());
        let (run, report) = losses(&source, &["--to", target, "--format", "btcp"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(written(&run.stdout)[0]["input_examples"], wanted, "{target}");
        let lost = lines(&report);
        let inputs_lost: Vec<&String> =
            lost.iter().filter(|line| line.ends_with("/input")).collect();
        match inputs == json!([{"a": "x", "b": 1}, {"a": "y"}]) {
            true => assert_eq!(inputs_lost, ["dropped examples/0/input"], "{report:#}"),
            false => {
                assert!(inputs_lost.is_empty(), "{report:#}");
                let rewrites = report["rewrites"].to_string();
                assert!(rewrites.contains(r#""part":"examples/0/input""#), "{rewrites}");
            }
        }
        let folder = folder(&[("out.json", run.stdout.as_bytes())]);
        let args = ["check", "out.json", "--target", target, "--format", "anthropic"];
        let check = run_in(folder.path(), &args, b"");
        assert_eq!(check.code, 0, "{target}: {}", check.stdout);
        assert!(!check.stdout.contains("EXAMPLE"), "{target}: {}", check.stdout);
    }
}

/// A list of pairs may have a key twice, which no object has.
#[test]
fn calls_that_cannot_be_restored_are_a_loss() {
    for values in [json!({"type": "integer"}), json!({})] {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["m"],
            "properties": {"m": {"type": "object", "additionalProperties": values}}
        });
        for target in ["openai-strict", "anthropic-strict"] {
            let (_, report) = losses(&tool(&schema), &["--to", target]);
            let at = "inputSchema/properties/m/additionalProperties";
            let found = lines(&report);
            let found: Vec<&String> =
                found.iter().filter(|line| line.contains("inputSchema")).collect();
            assert_eq!(found, [&format!("widened {at}")], "{target}: {report:#}");
            let witness = &report["losses"][0]["witnesses"][0];
            assert_eq!(witness["form"], "target", "{witness}");
            let pairs = witness["value"]["m"]["entries"].as_array().expect("pairs");
            assert_eq!(pairs[0]["key"], pairs[1]["key"], "{witness}");
            let run = convert(&tool(&schema), &["--to", target]);
            run.assert_on_stderr("accepted now, and refused when it is restored: {\"m\":");
        }
    }
}
