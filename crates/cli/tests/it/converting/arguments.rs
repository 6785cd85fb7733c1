//! Converted schemas state that arguments are an object, even if the source leaves it open. Also
//! tests that `-o` can write to a named pipe.

use std::io::Read;
use std::process::Command;

use serde_json::{Value as Json, json};

use super::{convert, lines, losses};
use crate::program::{folder, run_in};

/// A document with one tool of OpenAI, whose format leaves the type of the arguments open.
fn tool(schema: &Json) -> String {
    let function = json!({"name": "t", "description": "Does a thing", "parameters": schema});
    json!([{"type": "function", "function": function}]).to_string()
}

#[test]
fn an_object_is_stated_without_a_loss() {
    let properties = json!({"a": {"type": "string", "description": "The text"}});
    for schema in [
        json!({"type": ["object", "null"], "properties": properties}),
        json!({"type": ["object"], "properties": properties}),
        json!({"properties": properties}),
        json!({}),
        json!({"$ref": "#/$defs/x", "$defs": {"x": {"type": "object", "properties": properties}}}),
    ] {
        for target in [
            "mcp",
            "mcp-plain",
            "webmcp",
            "bedrock",
            "openai",
            "openai-responses",
            "anthropic",
            "gemini",
            "gemini-openapi",
            "ollama",
        ] {
            let (run, report) = losses(&tool(&schema), &["--to", target]);
            assert_eq!(run.code, 0, "{target} {schema}: {}", run.stderr);
            let found = lines(&report);
            let lost = |line: &&String| line.contains("inputSchema");
            assert_eq!(found.iter().find(lost), None, "{target} {schema}: {report:#}");
            let out = folder(&[("out.json", run.stdout.as_bytes())]);
            let run = run_in(out.path(), &["check", "out.json", "--fail-on", "error"], b"");
            assert_eq!(run.code, 0, "{target} {schema}: {}{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn arguments_that_are_no_object_have_to_be_given_where_the_target_wants_one() {
    let source = tool(&json!({"type": "array", "items": {"type": "string"}}));
    for target in ["mcp", "mcp-plain", "webmcp", "bedrock"] {
        let run = convert(&source, &["--to", target]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{target}: {}", run.stderr);
        assert!(run.stderr.contains("--set t.inputSchema=VALUE"), "{target}: {}", run.stderr);
        let given = r#"t.inputSchema={"type": "object"}"#;
        let run = convert(&source, &["--to", target, "--set", given, "--losses", "none"]);
        assert_eq!(run.code, 0, "{target}: {}", run.stderr);
    }
}

/// OpenAPI documents seldom state the type of an object. What a target's type refuses is shown,
/// also deep inside and below `allOf`.
#[test]
fn a_type_that_the_target_wants_is_narrower() {
    let mut schema = json!({"properties": {"x": {"type": "string", "pattern": "^[a-f]{8}$"}}});
    for n in 0..6 {
        let other = json!({"type": "string", "minLength": n + 1, "maxLength": n + 9});
        let all = json!([{"properties": {"in": schema}, "required": ["in"]}]);
        schema = json!({"properties": {"other": other}, "required": ["other"], "allOf": all});
    }
    let source = tool(&json!({"type": "object", "properties": {"body": schema}}));
    for target in ["gemini-openapi", "anthropic-strict"] {
        let (run, report) = losses(&source, &["--to", target]);
        assert_eq!(run.code, 0, "{target}: {}", run.stderr);
        let all = report["losses"].as_array().cloned().unwrap_or_default();
        let types = all.iter().filter(|it| it["reason"].to_string().contains("wants a type"));
        let effects: Vec<&str> = types.filter_map(|loss| loss["effect"].as_str()).collect();
        assert_eq!(effects, ["narrowed"; 7], "{target}: {report:#}");
    }
}

/// Neither side blocks in `open`, because the test holds the pipe open in both directions.
#[test]
fn the_output_may_be_a_pipe() {
    let folder = folder(&[("source.json", tool(&json!({"type": "object"})).as_bytes())]);
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("`mkfifo` is installed").success());
    let open = std::fs::OpenOptions::new().read(true).write(true).open(&pipe);
    let mut open = open.expect("the pipe opens");
    let args = ["convert", "source.json", "--to", "anthropic", "--losses", "none"];
    let wanted = run_in(folder.path(), &args, b"").stdout;
    let run = run_in(folder.path(), &[&args[..], &["-o", "pipe"]].concat(), b"");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let mut written = vec![0; wanted.len()];
    open.read_exact(&mut written).expect("what was written");
    assert_eq!(String::from_utf8(written).expect("UTF-8"), wanted);
}

/// Strict modes close objects. Closed, these would accept no call at all.
#[test]
fn an_object_that_demands_more_properties_than_it_names_takes_others() {
    for schema in [
        json!({"type": "object", "minProperties": 1}),
        json!({
            "type": "object", "properties": {"a": {"type": "string", "description": "The text"}},
            "required": ["a"], "minProperties": 2
        }),
    ] {
        for target in ["openai-strict", "anthropic-strict"] {
            let (run, report) = losses(&tool(&schema), &["--to", target]);
            assert_eq!(run.code, 0, "{target} {schema}: {}", run.stderr);
            assert!(run.stdout.contains(r#""entries""#), "{target} {schema}: {}", run.stdout);
            let found = lines(&report);
            let lost = |line: &&String| line.starts_with("narrowed");
            assert_eq!(found.iter().find(lost), None, "{target} {schema}: {report:#}");
            let out = folder(&[("out.json", run.stdout.as_bytes())]);
            let run = run_in(out.path(), &["check", "out.json", "--fail-on", "error"], b"");
            assert_eq!(run.code, 0, "{target} {schema}: {}{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn a_value_that_is_always_null_is_a_type_of_gemini() {
    let always_null = json!({"enum": [null], "description": "Nothing"});
    let (_, report) = losses(
        &tool(&json!({"type": "object", "properties": {"a": always_null}})),
        &["--to", "gemini-openapi"],
    );
    let rewrites = report["rewrites"].as_array().cloned().unwrap_or_default();
    let is_listed = rewrites.iter().any(|it| it["part"] == "inputSchema/properties/a/enum");
    assert!(is_listed, "{report:#}");
}
