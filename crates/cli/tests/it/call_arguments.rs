//! The arguments of `toolwright call`: `key=value`, `key:=JSON`, `--args`, and what is refused.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::calling::{EXACT, folder_with_recorders, folder_with_tools, received, run};
use crate::client::{process_tool, run_with};
use crate::program::folder;

/// A program that returns its arguments, with a property of every type.
fn typed_tool(path: &Path) {
    let schema = json!({
        "name": "typed",
        "description": "Answers what it was given.",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "number": {"type": "number"},
                "whole": {"type": "integer"},
                "flag": {"type": "boolean"},
                "nothing": {"type": "null"},
                "list": {"type": "array"},
                "object": {"type": "object"},
                "either": {"type": ["string", "null"]},
                "both": {"type": ["string", "integer"]},
                "choice": {"enum": ["1", "two"]},
                "fixed": {"const": "7"},
                "any": {},
                "described": {"description": "of no type"},
            },
        },
    });
    process_tool(path, &schema, r#"printf '{"echo":'; cat; printf '}'"#);
}

#[test]
fn arguments_are_parsed_by_the_input_schema() {
    let folder = folder(&[]);
    typed_tool(&folder.path().join("typed-tool"));
    let cases: &[(&str, Json)] = &[
        ("text=42", json!({"text": "42"})),
        ("text=true", json!({"text": "true"})),
        ("text=null", json!({"text": "null"})),
        ("text=", json!({"text": ""})),
        ("text=\"quoted\"", json!({"text": "\"quoted\""})),
        ("text=[1]", json!({"text": "[1]"})),
        ("text=a=b=c", json!({"text": "a=b=c"})),
        ("text=grüße 🙂", json!({"text": "grüße 🙂"})),
        ("number=42", json!({"number": 42})),
        ("number=-1.5e3", json!({"number": -1500.0})),
        ("whole=7", json!({"whole": 7})),
        ("flag=true", json!({"flag": true})),
        ("flag=false", json!({"flag": false})),
        ("nothing=null", json!({"nothing": null})),
        ("list=[1, \"x\"]", json!({"list": [1, "x"]})),
        ("object={\"a\": {\"b\": 1}}", json!({"object": {"a": {"b": 1}}})),
        ("either=null", json!({"either": null})),
        ("either=42", json!({"either": "42"})),
        ("both=42", json!({"both": 42})),
        ("both=forty-two", json!({"both": "forty-two"})),
        ("choice=1", json!({"choice": "1"})),
        ("fixed=7", json!({"fixed": "7"})),
        ("any=42", json!({"any": 42})),
        ("any=plain words", json!({"any": "plain words"})),
        ("any=\"quoted\"", json!({"any": "\"quoted\""})),
        ("described=[]", json!({"described": []})),
        ("unknown=1", json!({"unknown": 1})),
        ("any:=\"quoted\"", json!({"any": "quoted"})),
        ("text:=\"42\"", json!({"text": "42"})),
        ("object:={\"a\":[null]}", json!({"object": {"a": [null]}})),
    ];
    for (argument, expected) in cases {
        let run = run(folder.path(), &["call", "typed", argument, "--from", "typed-tool"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{argument}");
        let answer: Json = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(answer["echo"], *expected, "{argument}");
    }
    // Several at once, and all of them as one object.
    let json = r#"{"text": "42", "number": 1, "list": [], "extra": {"x": null}}"#;
    let pairs = ["text=42", "number=1", "list=[]", "extra:={\"x\": null}"];
    let several: Vec<&str> =
        ["call", "typed", "--from", "typed-tool"].into_iter().chain(pairs).collect();
    for (args, stdin) in [
        (several, ""),
        (vec!["call", "typed", "--from", "typed-tool", "--args", json], ""),
        (vec!["call", "typed", "--from", "typed-tool", "--args", "-"], json),
        (
            vec!["call", "typed", "--from", "typed-tool", &"--args={}".replace("{}", json)],
            "not read",
        ),
    ] {
        let run = run_with(folder.path(), &args, &[], stdin);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
        let answer: Json = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(answer["echo"], serde_json::from_str::<Json>(json).expect("JSON"), "{args:?}");
    }
}

#[test]
fn a_value_that_is_not_of_its_type_is_refused_by_the_schema() {
    let folder = folder(&[]);
    typed_tool(&folder.path().join("typed-tool"));
    for (argument, path) in [
        ("number=four", "/number"),
        ("number=\"4\"", "/number"),
        ("whole=1.5", "/whole"),
        ("flag=yes", "/flag"),
        ("nothing=", "/nothing"),
        ("list={}", "/list"),
        ("choice=3", "/choice"),
        ("text:=42", "/text"),
    ] {
        let run =
            run(folder.path(), &["call", "typed", argument, "--from", "typed-tool", "--json"]);
        assert_eq!(run.code, 1, "{argument}: {run:?}");
        let json: Json = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(json["error"]["errors"][0]["path"], path, "{argument}: {json}");
    }
}

#[test]
fn malformed_arguments_are_one_line_and_exit_code_2() {
    let folder = folder_with_tools(&["echo"]);
    let cases: &[(&[&str], &str, &str)] = &[
        (&["call", "echo", "a=1", "a=2"], "", "toolwright: `a` is given twice\n"),
        (&["call", "echo", "a=1", "a:=2"], "", "toolwright: `a` is given twice\n"),
        (
            &["call", "echo", "a"],
            "",
            "toolwright: `a` is not an argument of the form `key=value`\n",
        ),
        (
            &["call", "echo", "a:={"],
            "",
            "toolwright: the value of `a` is not valid JSON: EOF while parsing an object at line 1 column 1\n",
        ),
        (&["call", "echo", "--args", "[1]"], "", "toolwright: `--args` is not a JSON object\n"),
        (&["call", "echo", "--args", "null"], "", "toolwright: `--args` is not a JSON object\n"),
        (
            &["call", "echo", "--args", "{"],
            "",
            "toolwright: `--args` is not valid JSON: EOF while parsing an object at line 1 column 1\n",
        ),
        (&["call", "echo", "--args", "-"], "[]", "toolwright: `--args` is not a JSON object\n"),
        (
            &["call", "echo", "--args", "-"],
            "",
            "toolwright: `--args` is not valid JSON: EOF while parsing a value at line 1 column 0\n",
        ),
    ];
    for (args, stdin, message) in cases {
        let run = run_with(folder.path(), args, &[], stdin);
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str()),
            (2, "", *message),
            "{args:?}"
        );
    }
    for args in [
        &["call", "echo", "a=1", "--args", "{}"][..],
        &["call", "echo", "--timeout", "0"],
        &["call", "echo", "--timeout", "soon"],
        &["call"],
        &["call", "echo", "--config", "toolwright.toml", "--from", "tools/echo-tool"],
    ] {
        let run = run(folder.path(), args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(
            run.stderr.starts_with("error: ") && run.stderr.contains("--help"),
            "{args:?}: {run:?}"
        );
    }
}

#[test]
fn an_argument_needs_a_key() {
    let folder = folder_with_tools(&["echo"]);
    for pair in ["=1", ":=1"] {
        let run = run(folder.path(), &["call", "echo", pair]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{pair}: {run:?}");
    }
}

#[test]
fn arguments_arrive_as_they_were_written() {
    let folder = folder_with_recorders();
    for tool in ["save", "up:save"] {
        // Also with line breaks, which no line-based protocol allows.
        for text in [EXACT.to_owned(), EXACT.replace(", ", ",\n\t")] {
            let called = run(folder.path(), &["call", tool, "--args", &text]);
            assert_eq!(called.code, 0, "{called:?}");
            let received = received(folder.path());
            assert!(received.contains(&text.replace('\n', " ")), "{tool}: {received}");
        }
        let pairs = ["n=12345678901234567890123", "z:=-0.0", "zip=007"];
        let called = run(folder.path(), &[["call", tool].as_slice(), &pairs].concat());
        assert_eq!(called.code, 0, "{called:?}");
        let received = received(folder.path());
        let expected = r#"{"n": 12345678901234567890123, "z": -0.0, "zip": "007"}"#;
        assert!(received.contains(expected), "{tool}: {received}");
    }
    // They are still checked.
    let called = run(folder.path(), &["call", "up:save", "n=1.5"]);
    assert!(called.code == 1 && called.stderr.contains("INPUT_INVALID"), "{called:?}");
}

#[test]
fn arguments_with_a_name_twice_are_refused() {
    let folder = folder_with_recorders();
    for args in [r#"{"a": 1, "a": 2}"#, r#"{"b": [{"a": 1, "a": 1}]}"#] {
        let called = run(folder.path(), &["call", "save", "--args", args]);
        assert_eq!(called.code, 2, "{called:?}");
        let expected = "`--args` is not valid JSON: the name `a` appears twice at line 1 column ";
        assert!(called.stderr.contains(expected), "{called:?}");
    }
    let called = run(folder.path(), &["call", "save", r#"b:={"a": 1, "a": 2}"#]);
    assert!(called.code == 2 && called.stderr.contains("the name `a` appears twice"), "{called:?}");
}
