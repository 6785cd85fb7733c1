//! `validate`: diagnostics for people, and batches for programs.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::program::{folder, run, run_in, toolwright};

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {"path": {"type": "string"}, "depth": {"type": "integer", "minimum": 0}},
  "required": ["path"],
  "additionalProperties": false
}"#;

#[test]
fn a_valid_instance_is_reported_with_exit_code_0() {
    let folder =
        folder(&[("schema.json", SCHEMA.as_bytes()), ("good.yaml", b"path: src\ndepth: 2\n")]);
    let run = run_in(folder.path(), &["validate", "schema.json", "good.yaml"], b"");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "good.yaml: valid\n", ""));
    let stdin = run_in(folder.path(), &["validate", "schema.json", "-"], br#"{"path": "x"}"#);
    assert_eq!((stdin.code, stdin.stdout.as_str()), (0, "<stdin>: valid\n"));
}

#[test]
fn every_failing_path_is_shown_in_the_instance() {
    let folder = folder(&[
        ("schema.json", SCHEMA.as_bytes()),
        ("bad.yaml", "größe: 1\ndepth: -1\n".as_bytes()),
    ]);
    let run = run_in(folder.path(), &["validate", "schema.json", "bad.yaml"], b"");
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    insta::assert_snapshot!("invalid_instance", run.stderr);
}

/// The published schema of a BTCP manifest refers to that of a tool as `tool.json`.
#[test]
fn published_schemas_find_each_other() {
    let tool = r#"{"name": "readTitle", "description": "Reads the title of a page",
        "inputSchema": {"type": "object"}, "capabilities": ["dom:read"]}"#;
    let manifest = |tool: &str| {
        format!(
            r#"{{"btcp": "1.0", "name": "page", "version": "1.0.0", "tools": [{tool}],
            "capabilities": ["dom:read"]}}"#
        )
    };
    let (good, bad) = (manifest(tool), manifest(&tool.replace("readTitle", "read-title")));
    let schema = include_str!("../../../schema/src/published/btcp-manifest.json");
    let folder = folder(&[
        ("manifest.json", schema.as_bytes()),
        ("refers.json", br#"{"$ref": "https://btcp.dev/schemas/manifest.json"}"#),
        ("good.json", good.as_bytes()),
        ("bad.json", bad.as_bytes()),
    ]);
    for schema in ["manifest.json", "refers.json"] {
        let valid = run_in(folder.path(), &["validate", schema, "good.json"], b"");
        assert_eq!((valid.code, valid.stdout.as_str()), (0, "good.json: valid\n"), "{valid:?}");
        let invalid = run_in(folder.path(), &["validate", schema, "bad.json"], b"");
        assert_eq!(invalid.code, 1, "{invalid:?}");
        assert!(invalid.stderr.contains("read-title") && invalid.stderr.contains("bad.json:1:"));
    }
}

#[test]
fn a_bad_schema_is_shown_in_the_schema() {
    let cases: [(&str, &str); 5] = [
        (r#"{"properties": {"a": {"type": "strin"}}}"#, "error[INVALID_SCHEMA]"),
        (
            r##"{"$schema": "http://json-schema.org/draft-04/schema#"}"##,
            "error[UNSUPPORTED_DIALECT]",
        ),
        (r#"{"properties": {"a": {"$ref": "https://example.com/x.json"}}}"#, "error[EXTERNAL_REF]"),
        (r##"{"$ref": "#"}"##, "error[INVALID_SCHEMA]"),
        (r#"{"type": "string", "type": "number"}"#, "error[DUPLICATE_KEY]"),
    ];
    for (schema, message) in cases {
        let folder = folder(&[("schema.json", schema.as_bytes()), ("i.json", b"{}")]);
        let run = run_in(folder.path(), &["validate", "schema.json", "i.json"], b"");
        assert_eq!(run.code, 1, "{schema}");
        assert!(
            run.stderr.contains(message) && run.stderr.contains("schema.json:1:"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn formats_are_checked_on_request_only() {
    let folder =
        folder(&[("schema.json", br#"{"format": "date-time"}"#), ("i.json", br#""yesterday""#)]);
    assert_eq!(run_in(folder.path(), &["validate", "schema.json", "i.json"], b"").code, 0);
    assert_eq!(
        run_in(folder.path(), &["validate", "--assert-formats", "schema.json", "i.json"], b"").code,
        1
    );
}

#[test]
fn inputs_that_cannot_be_read_are_exit_code_2() {
    let folder = folder(&[("schema.json", SCHEMA.as_bytes())]);
    let cases: [(&[&str], &str); 4] = [
        (
            &["validate", "schema.json", "missing.json"],
            "toolwright: cannot read `missing.json`: there is no such file\n",
        ),
        (&["validate", ".", "schema.json"], "toolwright: cannot read `.`: it is a folder\n"),
        (
            &["validate", "-", "-"],
            "toolwright: schema and instance cannot both come from standard input\n",
        ),
        (&["validate", "schema.json"], "error: the following required arguments were not provided"),
    ];
    for (args, message) in cases {
        let run = run_in(folder.path(), args, b"");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(run.stderr.starts_with(message), "{args:?}: {}", run.stderr);
    }
    assert_eq!(run(&["validate", "--batch", "schema.json"]).code, 2);
}

fn batch(lines: &str) -> (Vec<Json>, i32) {
    let run = run_in(std::path::Path::new("/"), &["validate", "--batch"], lines.as_bytes());
    assert_eq!(run.stderr, "");
    assert!(
        !run.stdout.contains(['\u{85}', '\u{2028}']),
        "some readers take these for line breaks"
    );
    (run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect(), run.code)
}

#[test]
fn a_batch_has_one_result_per_line() {
    let lines = [
        r#"{"schema": {"type": "string"}, "instance": "x"}"#,
        r#"{"schema": {"required": ["a"], "properties": {"b": {"type": "string"}}}, "instance": {"b": 1}}"#,
        r#"{"schema": {"type": "banana"}, "instance": 1}"#,
        r##"{"schema": {"$schema": "http://json-schema.org/draft-06/schema#"}, "instance": 1}"##,
        r#"{"schema": {"$defs": {"x": {"$ref": "other.json"}}}, "instance": 1}"#,
        r#"{"schema": {"type": "string", "type": "string"}, "instance": "x"}"#,
        r#"{"schema": true, "instance": null}"#,
        "{\"schema\": false, \"instance\": \"\u{2028}\u{85}\"}",
    ];
    let (results, code) = batch(&(lines.join("\n") + "\n\n"));
    assert_eq!(code, 0);
    let words: Vec<&str> = results.iter().map(|r| r["result"].as_str().expect("a word")).collect();
    assert_eq!(
        words,
        [
            "valid",
            "invalid",
            "INVALID_SCHEMA",
            "UNSUPPORTED_DIALECT",
            "EXTERNAL_REF",
            "INVALID_SCHEMA",
            "valid",
            "invalid"
        ]
    );
    assert_eq!(results[0]["errors"], json!([]));
    let mut paths: Vec<(String, String, String)> = Vec::new();
    for error in results[1]["errors"].as_array().expect("errors") {
        let keys: Vec<&str> =
            error.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(keys, ["instancePath", "schemaPath", "keyword", "message"]);
        let text = |key: &str| error[key].as_str().expect("text").to_owned();
        paths.push((text("instancePath"), text("schemaPath"), text("keyword")));
    }
    paths.sort();
    let expected = [("", "/required", "required"), ("/b", "/properties/b/type", "type")];
    assert_eq!(paths, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
}

#[test]
fn an_invalid_line_of_a_batch_does_not_end_it() {
    let (results, code) =
        batch("nonsense\n[]\n{\"schema\": {}}\n{\"schema\": {}, \"instance\": 1}\n");
    assert_eq!(code, 2);
    let words: Vec<&str> = results.iter().map(|r| r["result"].as_str().expect("a word")).collect();
    assert_eq!(words, ["INVALID_LINE", "INVALID_LINE", "INVALID_LINE", "valid"]);
}

#[test]
fn hostile_lines_of_a_batch_get_results() {
    let deep = "[".repeat(100_000);
    let long = "x".repeat(17 << 20);
    let fan_out = {
        let defs: Vec<String> = (0..40)
            .map(|n| {
                format!(
                    r##""d{n}": {{"allOf": [{{"$ref": "#/$defs/d{0}"}}, {{"$ref": "#/$defs/d{0}"}}]}}"##,
                    n + 1
                )
            })
            .collect();
        format!(
            r##"{{"$ref": "#/$defs/d0", "$defs": {{{}, "d40": {{"type": "string"}}}}}}"##,
            defs.join(",")
        )
    };
    let lines = [
        (r#"{"schema": {"type": "null"}, "instance": 1e400}"#.to_owned(), "INVALID_LINE"),
        (r#"{"schema": {"maximum": 1e400}, "instance": 1}"#.to_owned(), "INVALID_SCHEMA"),
        (format!(r#"{{"schema": {{}}, "instance": {deep}}}"#), "INVALID_LINE"),
        (format!(r#"{{"schema": {deep}, "instance": 1}}"#), "INVALID_SCHEMA"),
        (format!(r#"{{"schema": {{}}, "instance": "{long}"}}"#), "INVALID_LINE"),
        (format!(r#"{{"schema": {fan_out}, "instance": 1}}"#), "INVALID_SCHEMA"),
        (
            format!(
                r#"{{"schema": {{"pattern": "^(a+)+$"}}, "instance": "{}!"}}"#,
                "a".repeat(100_000)
            ),
            "invalid",
        ),
        (
            format!(
                r#"{{"schema": {{"pattern": "^(?=(a+)+$)"}}, "instance": "{}!"}}"#,
                "a".repeat(100)
            ),
            "invalid",
        ),
    ];
    let text: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    let (results, _) = batch(&text);
    for (result, (line, word)) in results.iter().zip(&lines) {
        assert_eq!(result["result"], *word, "{}", line.chars().take(80).collect::<String>());
    }
    assert_eq!(results.len(), lines.len());
}

/// A program can wait for each result before it writes the next line.
#[test]
fn results_of_a_batch_are_flushed_before_it_waits_for_input() {
    let mut child = toolwright()
        .args(["validate", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("piped");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    for instance in ["\"x\"", "1"] {
        writeln!(stdin, r#"{{"schema": {{"type": "string"}}, "instance": {instance}}}"#)
            .expect("it reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it answers");
        assert!(line.starts_with("{\"result\":"), "{line}");
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}
