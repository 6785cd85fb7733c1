//! `toolwright call`, and `show` and `list` of sources that have to be asked: what goes in, what comes
//! out, and what is left behind.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use toolwright_exec::code;

use crate::client::{
    LONG, Lines, Running, Upstream, add_tools, configured, gone, misbehave, pid_in, process_tool, run_with,
    script, signal, until,
};
use crate::program::{Run, folder};

/// Runs in `folder` without input.
fn run(folder: &Path, args: &[&str]) -> Run {
    run_with(folder, args, &[], "")
}

/// A configuration with the process tools of these modes, and the server `up`.
fn workshop(modes: &[&str]) -> tempfile::TempDir {
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n\n\
         [[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n",
        misbehave()
    ));
    add_tools(&path, modes);
    folder
}

/// A tool with errors, and one that nothing can run.
const PAGE: &str = r#"{
  "btcp": "1.0", "name": "page", "version": "1.0.0", "capabilities": [],
  "tools": [
    {"name": "read", "description": "Reads the page aloud.", "inputSchema": {"type": "object"}, "capabilities": []},
    {"name": "torn", "description": "Has a bad schema.", "inputSchema": {"type": 12}, "capabilities": []}
  ]
}
"#;

/// How a code is reached: by what is called, or by more than that.
enum Way {
    Call(&'static [&'static str]),
    /// A call that is interrupted.
    Interrupted(&'static [&'static str]),
    /// Two calls at once, which only a server can have.
    Served,
}

const WAYS: &[(&str, Way)] = &[
    ("TOOL_NOT_FOUND", Way::Call(&["tools:no-such-tool"])),
    ("TIMEOUT", Way::Call(&["sleep", "ms=10000", "--timeout", "300"])),
    ("INPUT_INVALID", Way::Call(&["add", "a=1"])),
    ("OUTPUT_INVALID", Way::Call(&["garbage"])),
    ("OUTPUT_TOO_LARGE", Way::Call(&["big", "bytes=2000000"])),
    ("CANCELLED", Way::Interrupted(&["fork"])),
    ("BUSY", Way::Served),
    ("TOOL_FAILED", Way::Call(&["error_exit"])),
    ("SPAWN_FAILED", Way::Call(&["anything", "--", "/no/such/program"])),
    ("UPSTREAM_UNAVAILABLE", Way::Call(&["up:exit"])),
    ("QUARANTINED", Way::Call(&["page:torn", "--from", "page.json"])),
    ("NOT_RUNNABLE", Way::Call(&["page:read", "--from", "page.json"])),
];

#[test]
fn every_code_is_reached() {
    let folder = workshop(&["sleep", "add", "garbage", "big", "fork", "error-exit"]);
    std::fs::write(folder.path().join("page.json"), PAGE).expect("a file");
    for known in code::ALL {
        let (_, way) = WAYS
            .iter()
            .find(|(name, _)| *name == known.name)
            .unwrap_or_else(|| panic!("no case reaches `{}`", known.name));
        match way {
            Way::Served => busy_is_reached(folder.path()),
            Way::Call(args) => {
                expect_failure(known, |json| {
                    let at = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
                    let mut args: Vec<&str> = ["call"].iter().chain(*args).copied().collect();
                    args.splice(at + 1..at + 1, json.iter().copied());
                    run(folder.path(), &args)
                });
            }
            Way::Interrupted(args) => {
                expect_failure(known, |json| {
                    let file = folder.path().join(format!("pid{}", json.len()));
                    let argument = format!("file={}", file.display());
                    let args: Vec<&str> = ["call"]
                        .iter()
                        .chain(*args)
                        .chain([&argument.as_str()])
                        .chain(json)
                        .copied()
                        .collect();
                    let running = Running::start(folder.path(), &args, &[]);
                    let pid = pid_in(&file);
                    signal(running.pid(), "INT");
                    let run = running.end(Duration::from_secs(5));
                    gone("the tool's child", pid, Duration::from_secs(2));
                    run
                });
            }
        }
    }
    assert_eq!(WAYS.len(), code::ALL.len(), "a case for a code that is not there");
}

/// Runs twice, for people and for programs, and checks what both are told.
fn expect_failure(known: &code::RunCode, run: impl Fn(&[&'static str]) -> Run) {
    let (name, for_people) = (known.name, run(&[]));
    assert_eq!((for_people.code, for_people.stdout.as_str()), (1, ""), "{name}: {for_people:?}");
    let mut lines = for_people.stderr.lines().skip_while(|line| !line.starts_with(&format!("{name}: ")));
    let message = lines.next().unwrap_or_else(|| panic!("no line starts with `{name}: `: {for_people:?}"));
    let help = lines.find_map(|line| line.strip_prefix("help: "));
    let for_programs = run(&["--json"]);
    assert_eq!(for_programs.code, 1, "{name}: {for_programs:?}");
    let json: Json = serde_json::from_str(&for_programs.stdout)
        .unwrap_or_else(|e| panic!("{name}: {e}: {for_programs:?}"));
    check_error(known, &json["error"]);
    assert_eq!(json.as_object().map(serde_json::Map::len), Some(1), "{json}");
    // Both are told the same, in the same words.
    let told = json["error"]["message"].as_str().expect("a text");
    assert_eq!(message, format!("{name}: {}", told.lines().next().unwrap_or_default()), "{for_people:?}");
    assert_eq!(help, json["error"]["suggestion"].as_str(), "{name}: {for_people:?}");
}

fn check_error(known: &code::RunCode, error: &Json) {
    let keys: Vec<&str> = error.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["code", "number", "message", "suggestion", "errors"], "{error}");
    assert_eq!((&error["code"], &error["number"]), (&json!(known.name), &json!(known.number)));
    assert!(!error["message"].as_str().unwrap_or_default().is_empty(), "{error}");
    assert!(!error["suggestion"].as_str().unwrap_or_default().is_empty(), "{error}");
    let about_values = ["INPUT_INVALID", "OUTPUT_INVALID"].contains(&known.name);
    assert!(about_values || error["errors"] == json!([]), "{error}");
}

fn busy_is_reached(folder: &Path) {
    let narrow = format!(
        "[[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n[limits]\nmax_concurrent = 1\nqueue = 0\n",
        misbehave()
    );
    std::fs::write(folder.join("narrow.toml"), narrow).expect("a file");
    let mut client = Lines::start(folder, &["--config", "narrow.toml"], &[]);
    client.names();
    let first = client.send(
        "tools/call",
        json!({
            "name": "up__progress", "arguments": {"steps": 1000, "ms": 10}, "_meta": {"progressToken": 1},
        }),
    );
    client.find("progress", |message| message["method"] == "notifications/progress");
    let result = client.call("up__echo", json!({}));
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.starts_with("BUSY: ")), "{result}");
    check_error(&code::BUSY, &result["_meta"]["toolwright/error"]);
    client.notify("notifications/cancelled", json!({"requestId": first}));
    // The place is free again.
    until("a free place", LONG, || (client.call("up__echo", json!({}))["isError"] == false).then_some(()));
}

/// A program that answers what it was given, with a property of every type.
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
fn arguments_are_read_by_the_schema() {
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
    let several: Vec<&str> = ["call", "typed", "--from", "typed-tool"].into_iter().chain(pairs).collect();
    for (args, stdin) in [
        (several, ""),
        (vec!["call", "typed", "--from", "typed-tool", "--args", json], ""),
        (vec!["call", "typed", "--from", "typed-tool", "--args", "-"], json),
        (vec!["call", "typed", "--from", "typed-tool", &"--args={}".replace("{}", json)], "not read"),
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
        let run = run(folder.path(), &["call", "typed", argument, "--from", "typed-tool", "--json"]);
        assert_eq!(run.code, 1, "{argument}: {run:?}");
        let json: Json = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(json["error"]["errors"][0]["path"], path, "{argument}: {json}");
    }
}

#[test]
fn arguments_that_are_none_are_one_sentence_and_exit_2() {
    let folder = workshop(&["echo"]);
    let cases: &[(&[&str], &str, &str)] = &[
        (&["call", "echo", "a=1", "a=2"], "", "toolwright: `a` is given twice\n"),
        (&["call", "echo", "a=1", "a:=2"], "", "toolwright: `a` is given twice\n"),
        (&["call", "echo", "a"], "", "toolwright: `a` is not an argument of the form `key=value`\n"),
        (
            &["call", "echo", "a:={"],
            "",
            "toolwright: the value of `a` is not JSON: EOF while parsing an object at line 1 column 1\n",
        ),
        (&["call", "echo", "--args", "[1]"], "", "toolwright: `--args` is not a JSON object\n"),
        (&["call", "echo", "--args", "null"], "", "toolwright: `--args` is not a JSON object\n"),
        (
            &["call", "echo", "--args", "{"],
            "",
            "toolwright: `--args` is not JSON: EOF while parsing an object at line 1 column 1\n",
        ),
        (&["call", "echo", "--args", "-"], "[]", "toolwright: `--args` is not a JSON object\n"),
        (
            &["call", "echo", "--args", "-"],
            "",
            "toolwright: `--args` is not JSON: EOF while parsing a value at line 1 column 0\n",
        ),
    ];
    for (args, stdin, message) in cases {
        let run = run_with(folder.path(), args, &[], stdin);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (2, "", *message), "{args:?}");
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
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains("--help"), "{args:?}: {run:?}");
    }
}

/// An argument without a name is one that nobody meant to give.
#[test]
fn an_argument_needs_a_key() {
    let folder = workshop(&["echo"]);
    for pair in ["=1", ":=1"] {
        let run = run(folder.path(), &["call", "echo", pair]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{pair}: {run:?}");
    }
}

#[test]
fn an_unknown_id_is_answered_with_the_nearest() {
    let folder = workshop(&["echo", "echo-env", "add"]);
    for (id, near) in [
        ("ech", "did you mean `echo`, `up:echo`, `echo_env`?"),
        ("up:ehco", "`up:echo`"),
        ("up:ad", "`up:add`"),
        ("completely-different", "list the tools and use an id from there"),
    ] {
        let run = run(folder.path(), &["call", id]);
        assert_eq!(run.code, 1, "{run:?}");
        let help = run.stderr.lines().find_map(|line| line.strip_prefix("help: ")).expect("help");
        assert!(help.contains(near), "{id}: {help}");
    }
    // A bare name will do if only one tool has it.
    let run = run(folder.path(), &["call", "sleep", "ms=1"]);
    assert_eq!(run.code, 0, "only `up` has it: {run:?}");
}

#[test]
fn every_failing_value_is_named() {
    let folder = workshop(&["add"]);
    let run = run(folder.path(), &["call", "up:add", "a=one", "b=[]"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!("input_invalid", run.stderr);
    let json = run_with(
        folder.path(),
        &["call", "up:add", "--json", "--args", "-"],
        &[],
        r#"{"a": "one", "b": []}"#,
    );
    let json: Json = serde_json::from_str(&json.stdout).expect("JSON");
    let paths: Vec<&str> = json["error"]["errors"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|e| e["path"].as_str())
        .collect();
    assert_eq!(paths, ["/a", "/b"]);
}

/// Definitions of command lines, whose output is text.
const SAY: &str = "tool:\n  id: say\n  type: cli\n  name: Say\n  version: 1.0.0\n  description: Says what it is told to say\n  cli_specific:\n    executable: printf\n";

#[test]
fn results_are_shown_as_what_they_are() {
    let folder = workshop(&["echo", "error-zero"]);
    std::fs::write(folder.path().join("say.yaml"), SAY).expect("a file");
    let cases: &[(&str, &[&str])] = &[
        ("structured", &["call", "up:add", "a=1", "b=2"]),
        ("text", &["call", "say:say", "args=[\"two\\nlines\\n\"]", "--from", "say.yaml"]),
        ("blocks", &["call", "up:image"]),
        ("unknown_block", &["call", "up:image", "unknown=true"]),
        ("blocks_json", &["call", "up:image", "--json"]),
        ("structured_json", &["call", "up:add", "a=1", "b=2", "--json"]),
    ];
    for (name, args) in cases {
        let run = run(folder.path(), args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{name}");
        insta::assert_snapshot!(format!("result_{name}"), run.stdout);
    }
}

#[test]
fn a_result_that_says_it_failed_is_exit_1() {
    let folder = workshop(&["error-zero"]);
    let people = run(folder.path(), &["call", "up:fail"]);
    assert_eq!((people.code, people.stdout.as_str()), (1, ""));
    assert!(people.stderr.starts_with("TOOL_FAILED: it broke\n"), "{people:?}");
    let programs = run(folder.path(), &["call", "up:fail", "--json"]);
    let json: Json = serde_json::from_str(&programs.stdout).expect("JSON");
    assert_eq!(
        (programs.code, &json["isError"], &json["content"][0]["text"]),
        (1, &json!(true), &json!("it broke"))
    );
    let zero = run(folder.path(), &["call", "error_zero"]);
    assert_eq!(zero.code, 1);
    assert!(zero.stderr.starts_with("TOOL_FAILED: it broke\nhelp: "), "{zero:?}");
}

/// What a terminal is given on stdout; `script` of util-linux plays the terminal.
fn on_a_terminal(folder: &Path, args: &[&str]) -> String {
    let quote = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
    let words: Vec<String> = [env!("CARGO_BIN_EXE_toolwright")].iter().chain(args).map(quote).collect();
    let line = format!("{} 2>/dev/null", words.join(" "));
    let output = std::process::Command::new("/usr/bin/script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("`script` is installed");
    String::from_utf8(output.stdout).expect("UTF-8").replace("\r\n", "\n")
}

/// Whatever a tool prints, a terminal must not obey it.
#[test]
fn control_characters_are_made_visible() {
    let folder = workshop(&[]);
    let hostile = "\\033]0;owned\\007 \\033[2J \\r \\b \\302\\233 \\342\\200\\256";
    std::fs::write(folder.path().join("say.yaml"), SAY).expect("a file");
    let schema = json!({"name": "loud", "description": "Prints things.", "parameters": {"type": "object"}});
    let error = r#"printf '{"error": "\\u001b[2J\\u009b\\u202e\\u0007"}'"#;
    let result = r#"printf '{"a": "\\u001b[2J\\u009b\\u202e\\u0007"}'"#;
    let cases = [
        ("stderr", format!("printf '{hostile}' >&2; exit 1")),
        ("garbage", format!("printf '{hostile}'")),
        ("error", error.to_owned()),
        ("result", result.to_owned()),
        ("schema", String::new()),
    ];
    let steers = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{200b}');
    let check = |what: &str, text: &str| assert!(!text.contains(steers), "{what}: {text:?}");
    for (name, answer) in &cases {
        let path = folder.path().join(format!("{name}-tool"));
        match *name {
            "schema" => script(&path, &format!("#!/bin/sh\nprintf '{hostile}' >&2; exit 1\n")),
            _ => process_tool(&path, &schema, answer),
        }
        let source = format!("{name}-tool");
        let call = ["call", "loud", "--from", &source];
        check(name, &run(folder.path(), &call).stderr);
        check(name, &on_a_terminal(folder.path(), &call));
        check(name, &run(folder.path(), &["list", &source]).stderr);
        // A program gets every character that JSON lets through as it is.
        let json = run(folder.path(), &["call", "loud", "--from", &source, "--json"]).stdout;
        assert!(!json.contains(|c: char| c.is_ascii_control() && c != '\n'), "{name}: {json:?}");
    }
    let text = r#"args=["\u001b[31mred\u001b[0m \u0007\u202e\u009b\r\n"]"#;
    let said = on_a_terminal(folder.path(), &["call", "say:say", text, "--from", "say.yaml"]);
    check("text", &said);
    assert!(said.contains("red"), "{said:?}");
    // What was asked for may be hostile as well.
    for args in [
        &["call", "\u{1b}[2Jx"][..],
        &["call", "up:add", "\u{1b}[2J"],
        &["call", "up:add", "a=\u{1b}[2J"],
        &["call", "x", "--from", "\u{1b}[2J"],
    ] {
        check("what was asked for", &run(folder.path(), args).stderr);
    }
}

/// A program that reads a text gets it as the tool gave it.
#[test]
fn a_text_is_passed_on_unchanged() {
    let folder = folder(&[("say.yaml", SAY.as_bytes())]);
    for text in ["a\tb", "\u{1b}[31mred\u{1b}[0m", "grüße \u{202e} 🙂"] {
        let argument = format!("args={}", json!(["%s", text]));
        let run = run(folder.path(), &["call", "say:say", &argument, "--from", "say.yaml"]);
        assert_eq!((run.code, run.stdout.as_str()), (0, format!("{text}\n").as_str()), "{run:?}");
    }
}

#[test]
fn timeouts_count_everything() {
    let limited = "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n[limits]\ntimeout = 400\n";
    let (folder, path) = configured(limited);
    let program = misbehave();
    add_tools(&path, &["sleep", "ignore-term"]);
    for (args, message) in [
        (
            &["call", "sleep", "ms=9000", "--timeout", "200"][..],
            "TIMEOUT: `sleep` did not answer within 200 ms",
        ),
        (&["call", "sleep", "ms=9000"], "TIMEOUT: `sleep` did not answer within 400 ms"),
        (&["call", "ignore_term"], "TIMEOUT: `ignore_term` did not answer within 400 ms"),
        (
            &["call", "echo", "--timeout", "300", "--", &program, "mcp", "hang-start"],
            "TIMEOUT: the sources of `echo` were not ready within 300 ms",
        ),
    ] {
        let started = Instant::now();
        let run = run(folder.path(), args);
        let took = started.elapsed();
        assert_eq!(run.code, 1, "{args:?}: {run:?}");
        assert!(run.stderr.starts_with(message), "{args:?}: {run:?}");
        assert!(took < Duration::from_secs(3), "{args:?} took {took:?}");
    }
    // The cap holds for the caller, too.
    std::fs::write(path.join("toolwright.toml"), format!("{limited}max_timeout = 400\n")).expect("a file");
    let run = run(folder.path(), &["call", "sleep", "ms=9000", "--timeout", "9000"]);
    assert!(run.stderr.starts_with("TIMEOUT: `sleep` did not answer within 400 ms"), "{run:?}");
}

/// The id of a process tool has no `:`, and is an id all the same.
#[test]
fn a_server_that_is_not_asked_for_does_not_hold_up_a_call() {
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n\
         [[source]]\nname = \"up\"\ncommand = [\"{0}\", \"mcp\", \"good\"]\n\
         [[source]]\nname = \"stuck\"\ncommand = [\"{0}\", \"mcp\", \"hang-start\"]\n",
        misbehave()
    ));
    add_tools(&path, &["echo"]);
    for id in ["up:echo", "echo"] {
        let started = Instant::now();
        let run = run(folder.path(), &["call", id, "--timeout", "3000"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{id}");
        assert!(started.elapsed() < Duration::from_secs(3), "{id} took {:?}", started.elapsed());
    }
}

#[test]
fn the_configuration_is_found_and_read() {
    let folder = workshop(&["echo"]);
    let deep = folder.path().join("a/b/c");
    std::fs::create_dir_all(&deep).expect("folders");
    let from_below = run(&deep, &["call", "echo", "x=1"]);
    assert_eq!((from_below.code, from_below.stderr.as_str()), (0, ""));
    // The nearest one holds, even when it has nothing.
    std::fs::write(folder.path().join("a/toolwright.toml"), "").expect("a file");
    let empty = run(&deep, &["call", "echo"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (2, ""), "{empty:?}");
    assert!(empty.stderr.starts_with("toolwright: ") && empty.stderr.lines().count() == 1, "{empty:?}");
    let named = run(&deep, &["call", "echo", "--config", "../../../toolwright.toml"]);
    assert_eq!(named.code, 0, "relative paths start at the file: {named:?}");
    let cases: &[(&[&str], &str)] = &[
        (&["call", "echo", "--config", "no.toml"], "toolwright: there is no configuration `no.toml`\n"),
        (&["serve", "--config", "no.toml"], "toolwright: there is no configuration `no.toml`\n"),
        (&["call", "echo", "--config", "tools"], "toolwright: there is no configuration `tools`\n"),
    ];
    for (args, message) in cases {
        let run = run(folder.path(), args);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (2, "", *message), "{args:?}");
    }
    let elsewhere = tempfile::tempdir().expect("a folder");
    for command in [&["call", "echo"][..], &["serve"]] {
        let run = run(elsewhere.path(), command);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.starts_with("toolwright: there is no `toolwright.toml` here or above"), "{run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
}

#[test]
fn mistakes_in_the_configuration_are_told_and_the_rest_works() {
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"typo\"\nexecutabels = \"tools\"\n\n\
         [[source]]\nname = \"up\"\ncommand = [\"{0}\", \"mcp\", \"good\"]\n\n\
         [[source]]\nname = \"up\"\ncommand = [\"{0}\", \"mcp\", \"exit-start\"]\n\n\
         [limits]\ntimeout = \"long\"\nmax_concurent = 3\n",
        misbehave()
    ));
    let call = run(folder.path(), &["call", "up:add", "a=1", "b=2"]);
    assert_eq!((call.code, call.stdout.as_str()), (0, "{\n  \"sum\": 3\n}\n"), "{call:?}");
    for words in [
        "toolwright.toml:3:1: error[UNKNOWN_KEY]: unknown key `executabels`",
        "toolwright.toml:10:8: error[DUPLICATE_SOURCE]: two sources have the name `up`",
        "toolwright.toml:14:11: error[INVALID_TYPE]: `timeout` is a string, expected an integer",
    ] {
        assert!(call.stderr.contains(words), "{words}: {}", call.stderr);
    }
    std::fs::write(path.join("toolwright.toml"), "[[source]\nname = ").expect("a file");
    for command in [&["call", "echo"][..], &["serve"]] {
        let broken = run(folder.path(), command);
        assert_eq!((broken.code, broken.stdout.as_str()), (2, ""), "{broken:?}");
        assert!(broken.stderr.contains("toolwright.toml:1:10: error[INVALID_SYNTAX]"), "{broken:?}");
    }
}

/// Whoever mistypes a key is told which one was meant, wherever the configuration is read.
#[test]
fn an_unknown_key_comes_with_a_suggestion() {
    let (folder, _) = configured(&format!(
        "[[source]]\nname = \"typo\"\nexecutabels = \"tools\"\n\n\
         [[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n\n[limits]\nmax_concurent = 3\n",
        misbehave()
    ));
    for args in [&["call", "up:echo"][..], &["serve"]] {
        let run = run(folder.path(), args);
        assert_eq!(run.code, 0, "{run:?}");
        for words in ["did you mean `executables`?", "did you mean `max_concurrent`?"] {
            assert!(run.stderr.contains(words), "{args:?}, {words}: {}", run.stderr);
        }
    }
}

#[test]
fn programs_see_only_what_is_allowed() {
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\nenv = {{ ALLOWED = \"yes\", FILLED = \"${{SECRET}}!\" }}\n\
         [[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\nenv = {{ ALLOWED = \"also\" }}\n",
        misbehave()
    ));
    add_tools(&path, &["echo-env"]);
    let environment =
        [("SECRET", "xyz"), ("LANG", "C.UTF-8"), ("HOME", "/nowhere"), ("AWS_ACCESS_KEY_ID", "key")];
    let own = ["TOOLWRIGHT_RUN", "PATH", "LANG", "HOME"];
    for (id, allowed) in
        [("echo_env", &[("ALLOWED", "yes"), ("FILLED", "xyz!")][..]), ("up:env", &[("ALLOWED", "also")])]
    {
        let run = run_with(folder.path(), &["call", id], &environment, "");
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{id}");
        let answer: Json = serde_json::from_str(&run.stdout).expect("JSON");
        let seen = answer["env"].as_object().expect("an object");
        for (name, value) in allowed {
            assert_eq!(seen.get(*name), Some(&json!(value)), "{id}");
        }
        let others: Vec<&String> = seen
            .keys()
            .filter(|name| !own.contains(&name.as_str()) && !allowed.iter().any(|(a, _)| a == name))
            .collect();
        assert!(others.is_empty(), "{id} sees {others:?}");
    }
    // Without a configuration nothing is allowed.
    let bare =
        run_with(folder.path(), &["call", "echo_env", "--from", "tools/echo-env-tool"], &environment, "");
    assert!(bare.code == 0 && !bare.stdout.contains("xyz") && !bare.stdout.contains("ALLOWED"), "{bare:?}");
}

/// A secret of the configuration must not reach anybody's terminal or log.
#[test]
fn secrets_are_never_shown() {
    const SECRET: &str = "tok-9f8e7d6c";
    let token = Upstream::start("token");
    let broken = Upstream::start("500");
    let page = Upstream::start("html");
    let elsewhere = Upstream::start("redirect-evil");
    let program = misbehave();
    let server =
        |key: &str, value: &str, rest: &str| format!("[[source]]\nname = \"s\"\n{key} = {value}\n{rest}\n");
    let headers = format!("headers = {{ Authorization = \"Bearer {SECRET}\" }}");
    let environment = format!("env = {{ TOKEN = \"{SECRET}\" }}");
    let url = |url: &str| server("url", &format!("\"{url}\""), &headers);
    let command =
        |mode: &str| server("command", &format!("[\"{program}\", \"mcp\", \"{mode}\"]"), &environment);
    let cases = [
        ("refused", url(&token.url)),
        ("500", url(&broken.url)),
        ("html", url(&page.url)),
        ("redirect", url(&elsewhere.url)),
        ("nobody", url("http://127.0.0.1:1/mcp")),
        ("query", server("url", &format!("\"http://127.0.0.1:1/mcp?key={SECRET}\""), "")),
        ("userinfo", server("url", &format!("\"http://user:{SECRET}@127.0.0.1:1/mcp\""), "")),
        (
            "bad header",
            server("url", "\"http://127.0.0.1:1/mcp\"", &format!("headers = {{ A = \"{SECRET}\\n\" }}")),
        ),
        ("exit", command("exit-start")),
        ("dies", command("dies-every-call")),
        ("no program", server("command", "[\"/no/such\"]", &environment)),
        (
            "arguments",
            server("command", &format!("[\"{program}\", \"mcp\", \"exit-start\", \"--key={SECRET}\"]"), ""),
        ),
        ("executables", server("executables", "\"nowhere\"", &environment)),
        ("mistake before", server("pth", "\"x\"", &environment)),
        ("mistake beside", server("url", "\"http://127.0.0.1:1/mcp\"", &environment)),
        (
            "mistake inside",
            server(
                "url",
                "\"x\"",
                &format!("headers = {{ A = \"{SECRET}\", \"b c\" = \"{SECRET}\", D = 5 }}"),
            ),
        ),
        ("wrong type", server("command", "\"x\"", &format!("env = [\"{SECRET}\"]"))),
        ("not TOML", server("command", "\"x\"", &format!("env = {{ A = \"{SECRET}\""))),
        ("bad reference", server("command", "\"x\"", &format!("env = {{ A = \"{SECRET}${{nope\" }}"))),
        ("duplicate", command("good") + &command("good")),
    ];
    for (name, text) in &cases {
        let (folder, _) = configured(text);
        for args in [&["call", "s:echo"][..], &["call", "s:echo", "--json"], &["serve"]] {
            let run = run(folder.path(), args);
            let all = format!("{}{}", run.stdout, run.stderr);
            assert!(!all.contains(SECRET), "{name}, {args:?}: {all}");
        }
    }
}

/// Servers files with a secret in each, and a mistake or a server that fails.
fn servers_files(secret: &str, token: &Upstream) -> Vec<(&'static str, Json)> {
    let file = |server: Json| json!({"mcpServers": {"s": server}});
    let program = misbehave();
    vec![
        (
            "refused",
            file(json!({"url": token.url, "headers": {"Authorization": format!("Bearer {secret}")}})),
        ),
        ("exit", file(json!({"command": program, "args": ["mcp", "exit-start"], "env": {"TOKEN": secret}}))),
        ("no program", file(json!({"command": "/no/such", "args": [secret], "env": {"TOKEN": secret}}))),
        ("misspelled", file(json!({"comand": "x", "env": {"TOKEN": secret}}))),
        ("unset", file(json!({"command": "${NOT_SET}", "env": {"TOKEN": secret}}))),
        ("bad name", file(json!({"command": "x", "env": {"A=B": secret}}))),
        ("bad value", file(json!({"command": "x", "env": {"A": [secret]}}))),
    ]
}

/// Runs each of `commands` on each of these files, written on one line and on many.
fn no_secret_is_shown(commands: &[&[&str]]) {
    const SECRET: &str = "tok-9f8e7d6c";
    let token = Upstream::start("token");
    let folder = folder(&[]);
    for (name, document) in servers_files(SECRET, &token) {
        for text in [document.to_string(), format!("{document:#}")] {
            std::fs::write(folder.path().join("mcp.json"), text).expect("a file");
            for args in commands {
                let run = run(folder.path(), args);
                let all = format!("{}{}", run.stdout, run.stderr);
                assert!(!all.contains(SECRET), "{name}, {args:?}: {all}");
            }
        }
    }
}

#[test]
fn secrets_of_servers_files_are_never_shown() {
    no_secret_is_shown(&[
        &["show", "--json", "mcp.json", "--output-format", "concise"],
        &["list", "mcp.json", "--output-format", "json"],
        &["call", "s:echo", "--from", "mcp.json"],
    ]);
}

/// The lines of a servers file that a diagnostic shows are lines with secrets in them.
#[test]
fn lines_of_servers_files_are_not_shown_with_their_secrets() {
    no_secret_is_shown(&[&["list", "mcp.json"]]);
}

#[test]
fn secrets_in_addresses_are_never_shown() {
    let folder = folder(&[]);
    for url in ["http://127.0.0.1:1/mcp?key=tok-9f8e7d6c", "http://user:tok-9f8e7d6c@127.0.0.1:1/mcp"] {
        let run = run(folder.path(), &["list", url]);
        assert_eq!(run.code, 2);
        assert!(!run.stderr.contains("tok-9f8e7d6c"), "{}", run.stderr);
    }
}

/// The ids that `list` printed.
fn ids(run: &Run) -> Vec<&str> {
    run.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn live_servers_are_listed_and_shown() {
    let folder = folder(&[]);
    let upstream = Upstream::start("good");
    let modern = Upstream::start("modern");
    let program = misbehave();
    for args in [
        vec!["--", program.as_str(), "mcp", "good"],
        vec!["--", &program, "mcp", "paged"],
        vec![upstream.url.as_str()],
        vec![modern.url.as_str()],
    ] {
        let list: Vec<&str> = ["list"].iter().chain(&args).copied().collect();
        let run_list = run(folder.path(), &list);
        assert_eq!((run_list.code, run_list.stderr.as_str()), (0, ""), "{args:?}");
        let listed = ids(&run_list);
        assert!(listed.len() >= 14 && listed[..2] == ["echo", "add"], "{listed:?}");
        let show: Vec<&str> = ["show", "--json"].iter().chain(&args).copied().collect();
        let shown = run(folder.path(), &show);
        assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{args:?}");
        let record: Json = serde_json::from_str(&shown.stdout).expect("JSON");
        let shown: Vec<&str> = record["tools"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|tool| tool["id"].as_str())
            .collect();
        assert_eq!(shown, listed, "{args:?}");
    }
    let list = run(folder.path(), &["list", "--", &program, "mcp", "good"]);
    insta::assert_snapshot!("list_of_a_server", list.stdout);
}

#[test]
fn servers_files_of_every_client_are_read() {
    let upstream = Upstream::start("token");
    let program = misbehave();
    let started = json!({"command": "${BIN}", "args": ["mcp", "${MODE:-good}"], "env": {"A": "${env:A}"}});
    let reached =
        json!({"type": "http", "url": "${URL}", "headers": {"Authorization": "Bearer ${env:WORD}"}});
    let files = [
        ("claude/.mcp.json", json!({"mcpServers": {"one": started, "two": reached}})),
        (
            "cursor/.cursor/mcp.json",
            json!({"mcpServers": {
                "one": {"command": "${workspaceFolder}/bin/server", "args": ["mcp", "good"], "env": {"A": "${env:A}"}},
                "two": {"url": "${URL}", "headers": {"Authorization": "Bearer ${env:WORD}"}},
            }}),
        ),
        (
            "code/.vscode/mcp.json",
            json!({"inputs": [], "servers": {
                "one": {"type": "stdio", "command": "${env:BIN}", "args": ["mcp", "good"], "env": {"A": "${env:A}"}},
                "two": reached,
            }}),
        ),
        (
            "code/settings.json",
            json!({"editor.tabSize": 2, "mcp": {"servers": {"one": started, "two": reached}}}),
        ),
    ];
    let folder = folder(&[]);
    std::fs::create_dir_all(folder.path().join("cursor/bin")).expect("a folder");
    std::os::unix::fs::symlink(&program, folder.path().join("cursor/bin/server")).expect("a link");
    let environment = [("BIN", program.as_str()), ("URL", &upstream.url), ("WORD", "sesame"), ("A", "value")];
    for (name, document) in &files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, format!("{document:#}")).expect("a file");
        let list = run_with(folder.path(), &["list", name], &environment, "");
        assert_eq!((list.code, list.stderr.as_str()), (0, ""), "{name}");
        let listed = ids(&list);
        assert_eq!(listed.iter().filter(|id| id.starts_with("one:")).count(), 14, "{name}: {listed:?}");
        assert_eq!(listed.iter().filter(|id| id.starts_with("two:")).count(), 14, "{name}: {listed:?}");
        let called = run_with(folder.path(), &["call", "one:env", "--from", name], &environment, "");
        let answer: Json = serde_json::from_str(&called.stdout).expect("JSON");
        assert_eq!(answer["env"]["A"], "value", "{name}: {called:?}");
        let called =
            run_with(folder.path(), &["call", "two:add", "a=1", "b=2", "--from", name], &environment, "");
        assert_eq!((called.code, called.stdout.as_str()), (0, "{\n  \"sum\": 3\n}\n"), "{name}: {called:?}");
    }
}

#[test]
fn an_unset_variable_leaves_one_server_out() {
    let program = misbehave();
    let document = json!({"mcpServers": {
        "unset": {"command": "${NOT_SET}"},
        "whole": {"command": program, "args": ["mcp", "good"]},
        "asks": {"command": program, "args": ["${input:token}"]},
        "off": {"command": "${NOT_SET_EITHER}", "disabled": true},
    }});
    let folder = folder(&[("mcp.json", format!("{document:#}").as_bytes())]);
    let run = run(folder.path(), &["list", "mcp.json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(ids(&run).len() == 14 && ids(&run).iter().all(|id| id.starts_with("whole:")), "{run:?}");
    insta::assert_snapshot!("unset_variable", run.stderr);
}

#[test]
fn a_server_that_cannot_be_reached_is_one_sentence_and_exit_2() {
    let folder = folder(&[("page.json", PAGE.replace("12", "\"object\"").as_bytes())]);
    let [broken, html, token, garbage, dropped] =
        ["500", "html", "token", "garbage", "drop"].map(Upstream::start);
    let program = misbehave();
    let cases: &[(&str, &[&str], &str)] = &[
        ("nobody", &["http://127.0.0.1:1/mcp"], "nobody listens there (connection refused)"),
        ("no host", &["http://no-such-host.invalid/mcp"], "UPSTREAM_UNAVAILABLE"),
        ("500", &[&broken.url], "HTTP 500"),
        ("html", &[&html.url], "text/html"),
        ("token", &[&token.url], "wants a token"),
        ("garbage", &[&garbage.url], "HTTP 200 (application/json)"),
        ("drop", &[&dropped.url], "broke off in the middle of its answer"),
        ("exit-start", &["--", &program, "mcp", "exit-start"], "it said: cannot find the database"),
        ("no program", &["--", "/no/such/program"], "SPAWN_FAILED"),
        ("not a server", &["--", "/bin/true"], "the server's process ended with status 0"),
    ];
    for (name, source, words) in cases {
        for command in ["list", "show"] {
            let args: Vec<&str> = [command, "page.json"].iter().chain(*source).copied().collect();
            let run = run(folder.path(), &args);
            assert_eq!(run.code, 2, "{name}: {run:?}");
            let sentences: Vec<&str> =
                run.stderr.lines().filter(|line| line.starts_with("toolwright: ")).collect();
            assert_eq!(sentences.len(), 1, "{name}: {run:?}");
            assert!(sentences[0].contains(words), "{name}: {run:?}");
            assert!(run.stderr.lines().count() == 1, "{name}: {run:?}");
            assert!(run.stdout.contains("page:read"), "the others are still there: {run:?}");
        }
    }
    let run = run(folder.path(), &["list", "http://127.0.0.1:1/mcp"]);
    insta::assert_snapshot!("unreachable_server", run.stderr);
}

#[test]
fn programs_are_run_only_when_they_are_named() {
    let folder = folder(&[("tools/page.json", PAGE.replace("12", "\"object\"").as_bytes())]);
    let marker = folder.path().join("it-ran");
    let schema = json!({"name": "marks", "description": "Leaves a mark.", "parameters": {"type": "object"}});
    let program = folder.path().join("tools/marking-tool");
    script(
        &program,
        &format!("#!/bin/sh\ntouch '{}'\ncat >/dev/null\nprintf '%s' '{schema}'\n", marker.display()),
    );
    // Inside a folder that is only looked at, nothing is run.
    for command in [&["list", "tools"][..], &["show", "tools"], &["call", "marks", "--from", "tools"]] {
        let run = run(folder.path(), command);
        assert!(!marker.exists(), "{command:?} ran it: {run:?}");
        assert!(!run.stdout.contains("marks"), "{command:?}: {run:?}");
    }
    let named = run(folder.path(), &["list", "tools/marking-tool"]);
    assert_eq!((named.code, ids(&named).as_slice()), (0, &["marks"][..]), "{named:?}");
    assert!(marker.exists());
    std::fs::remove_file(&marker).expect("it is there");
    // Nor is what may not be executed, or has another name.
    let text = std::fs::read(&program).expect("ours");
    std::fs::write(folder.path().join("plain-tool"), &text).expect("a file");
    script(&folder.path().join("marking"), &String::from_utf8(text).expect("UTF-8"));
    for name in ["plain-tool", "marking"] {
        for command in [&["list", name][..], &["call", "marks", "--from", name]] {
            let run = run(folder.path(), command);
            assert!(run.code != 0 && !marker.exists(), "{command:?}: {run:?}");
            assert!(run.stderr.contains(name), "{command:?}: {run:?}");
        }
    }
    // One that cannot describe itself is one sentence.
    add_tools(folder.path(), &["schema-exit", "schema-garbage", "schema-hang", "schema-big"]);
    for (mode, words) in [
        ("exit", "`--schema`: the program ended with status 1: cannot tell the schema"),
        ("garbage", "`--schema` printed no description of a tool"),
        ("hang", "`--schema` printed nothing within"),
        ("big", "`--schema` printed more than 8192 bytes"),
    ] {
        let run = run(folder.path(), &["list", &format!("tools/schema-{mode}-tool")]);
        assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
    }
}

/// Calls a tool that leaves a process behind; it must be gone when the call is.
fn leaves_nothing(folder: &Path, mode: &str, file: &str) {
    let file = folder.join(file);
    let argument = format!("file={}", file.display());
    let run = run(folder, &["call", &mode.replace('-', "_"), &argument, "--timeout", "400"]);
    assert_eq!(run.code, i32::from(!mode.ends_with("-exit")), "{mode}: {run:?}");
    gone(mode, pid_in(&file), Duration::from_millis(500));
}

/// After a call nothing is left of what it started, whichever way it ended.
#[test]
fn nothing_is_left_running() {
    let modes = ["fork", "daemon", "daemon-clean", "fork-exit", "setsid-exit", "daemon-exit"];
    let folder = workshop(&modes);
    for mode in modes {
        leaves_nothing(folder.path(), mode, mode);
    }
}

/// The child is its parent's until the parent has died, which takes a moment after it was killed.
#[test]
fn nothing_that_left_its_session_is_left_running() {
    let folder = workshop(&["setsid"]);
    for round in 0..10 {
        leaves_nothing(folder.path(), "setsid", &format!("pid-{round}"));
    }
}

#[test]
fn no_server_is_left_running() {
    let folder = folder(&[]);
    let program = misbehave();
    for mode in ["good", "ignore-term", "forks", "dies-every-call", "never", "close-stdout"] {
        let file = folder.path().join(mode);
        let text = format!(
            "[[source]]\nname = \"up\"\ncommand = [\"/bin/sh\", \"-c\", 'printf %s $$ > \"$0.server\"; exec \"$1\" mcp \"$2\"', '{}', '{program}', '{mode}']\nenv = {{ PID_FILE = '{0}' }}\n",
            file.display()
        );
        std::fs::write(folder.path().join("toolwright.toml"), text).expect("a file");
        run(folder.path(), &["call", "up:echo", "--timeout", "1500"]);
        gone(mode, pid_in(&file.with_extension("server")), Duration::from_millis(500));
        if mode == "forks" {
            gone("its child", pid_in(&file), Duration::from_millis(500));
        }
    }
    // Nor after an interruption, however early.
    let file = folder.path().join("early");
    let shell = r#"printf %s $$ > "$0"; exec "$1" mcp hang-start"#;
    let path = file.display().to_string();
    let running =
        Running::start(folder.path(), &["call", "echo", "--", "/bin/sh", "-c", shell, &path, &program], &[]);
    let pid = pid_in(&file);
    signal(running.pid(), "INT");
    let run = running.end(Duration::from_secs(5));
    assert_ne!(run.code, 0, "{run:?}");
    gone("a server that never started", pid, Duration::from_millis(500));
}

#[test]
fn help_says_what_there_is() {
    for command in ["call", "serve"] {
        let run = run(Path::new("/"), &[command, "--help"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        insta::assert_snapshot!(format!("help_of_{command}"), run.stdout);
    }
}
