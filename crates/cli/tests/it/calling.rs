//! `toolwright call`: what goes in, what comes out, and what is left behind.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use toolwright_exec::code;

use crate::client::{
    LONG, Lines, Running, add_tools, configured, faulty_server, gone, pid_in, process_tool,
    run_with, script, signal, until,
};
use crate::program::{Run, folder};
use crate::{bodies, knowing};

/// Runs in `folder` without input.
pub(crate) fn run(folder: &Path, args: &[&str]) -> Run {
    run_with(folder, args, &[], "")
}

/// A configuration with the process tools of these modes, and the server `up`.
pub(crate) fn workshop(modes: &[&str]) -> tempfile::TempDir {
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n\n\
         [[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n",
        faulty_server()
    ));
    add_tools(&path, modes);
    folder
}

/// A tool with errors, and one that nothing can run.
pub(crate) const PAGE: &str = r#"{
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
    /// A server whose program was taken away.
    Bereft,
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
    ("VALIDATION_FAILED", Way::Call(&["board:echo", "--from", "board.yaml"])),
    ("PROCESSOR_FAILED", Way::Call(&["board:echo", "title=unprocessable", "--from", "board.yaml"])),
    ("PAYLOAD_UNKNOWN", Way::Call(&["board:echo", "title=x", "--from", "odd.yaml"])),
    ("BROWSER_REQUIRED", Way::Call(&["shop:look", "--from", "shop.json"])),
    ("SANDBOX_FAILED", Way::Bereft),
];

#[test]
fn every_code_is_reached() {
    let folder = workshop(&["sleep", "add", "garbage", "big", "fork", "error-exit"]);
    let odd = knowing::board().replace("echo object exists", "card object exists");
    for (name, text) in [
        ("page.json", PAGE),
        ("shop.json", bodies::SHOP),
        ("board.yaml", &knowing::board()),
        ("odd.yaml", &odd),
    ] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    for known in code::ALL {
        let (_, way) = WAYS
            .iter()
            .find(|(name, _)| *name == known.name)
            .unwrap_or_else(|| panic!("no case reaches `{}`", known.name));
        match way {
            Way::Served => busy_is_reached(folder.path()),
            Way::Bereft => bodies::without_a_worker_nothing_runs_and_that_is_said(),
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
    let mut lines =
        for_people.stderr.lines().skip_while(|line| !line.starts_with(&format!("{name}: ")));
    let message =
        lines.next().unwrap_or_else(|| panic!("no line starts with `{name}: `: {for_people:?}"));
    let help = lines.find_map(|line| line.strip_prefix("help: "));
    let for_programs = run(&["--json"]);
    assert_eq!(for_programs.code, 1, "{name}: {for_programs:?}");
    let json: Json = serde_json::from_str(&for_programs.stdout)
        .unwrap_or_else(|e| panic!("{name}: {e}: {for_programs:?}"));
    check_error(known, &json["error"]);
    assert_eq!(json.as_object().map(serde_json::Map::len), Some(1), "{json}");
    // Both are told the same, in the same words.
    let told = json["error"]["message"].as_str().expect("a text");
    assert_eq!(
        message,
        format!("{name}: {}", told.lines().next().unwrap_or_default()),
        "{for_people:?}"
    );
    assert_eq!(help, json["error"]["suggestion"].as_str(), "{name}: {for_people:?}");
}

fn check_error(known: &code::RunCode, error: &Json) {
    let keys: Vec<&str> =
        error.as_object().expect("an object").keys().map(String::as_str).collect();
    let (always, sometimes) = keys.split_at(5);
    assert_eq!(always, ["code", "number", "message", "suggestion", "errors"], "{error}");
    assert!(sometimes.iter().all(|key| ["toolCode", "advice"].contains(key)), "{error}");
    assert_eq!((&error["code"], &error["number"]), (&json!(known.name), &json!(known.number)));
    assert!(!error["message"].as_str().unwrap_or_default().is_empty(), "{error}");
    assert!(!error["suggestion"].as_str().unwrap_or_default().is_empty(), "{error}");
    let about_values =
        ["INPUT_INVALID", "OUTPUT_INVALID", "VALIDATION_FAILED"].contains(&known.name);
    assert!(about_values || error["errors"] == json!([]), "{error}");
}

fn busy_is_reached(folder: &Path) {
    let narrow = format!(
        "[[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n[limits]\nmax_concurrent = 1\nqueue = 0\n",
        faulty_server()
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
    assert!(
        result["content"][0]["text"].as_str().is_some_and(|text| text.starts_with("BUSY: ")),
        "{result}"
    );
    check_error(&code::BUSY, &result["_meta"]["toolwright/error"]);
    client.notify("notifications/cancelled", json!({"requestId": first}));
    // The place is free again.
    until("a free place", LONG, || {
        (client.call("up__echo", json!({}))["isError"] == false).then_some(())
    });
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
fn arguments_that_are_none_are_one_sentence_and_exit_2() {
    let folder = workshop(&["echo"]);
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

/// A run on a terminal that `script` of util-linux plays, but for what is redirected; what the
/// terminal is given is on stdout.
fn terminal(folder: &Path, args: &[&str], redirection: &str) -> Command {
    let quote = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
    let words: Vec<String> =
        [env!("CARGO_BIN_EXE_toolwright")].iter().chain(args).map(quote).collect();
    let mut command = Command::new("/usr/bin/script");
    command
        .args(["-qec", &format!("{} {redirection}", words.join(" ")), "/dev/null"])
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("TERM", "xterm")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What a terminal is given on stdout.
fn on_a_terminal(folder: &Path, args: &[&str]) -> String {
    let output = terminal(folder, args, "2>/dev/null").output().expect("`script` is installed");
    String::from_utf8(output.stdout).expect("UTF-8").replace("\r\n", "\n")
}

/// What is left to see on a terminal: of every line, what came after it was erased the last time.
fn left_to_see(given: &str) -> String {
    let line = |line: &str| line.rsplit("\x1b[2K").next().unwrap_or_default().to_owned();
    given.split("\r\n").map(line).collect::<Vec<_>>().join("\n")
}

/// Who waits sees how far it is; who has the result sees nothing but the result.
#[test]
fn progress_is_shown_on_a_terminal_and_nowhere_else() {
    const RESULT: &str = "{\n  \"steps\": 4\n}\n";
    let call = |ms: &'static str| ["call", "up:progress", "steps=4", ms];
    let steps = ["░ 25% step 1 ", "░ 50% step 2 ", "░ 75% step 3 "];
    let in_order = |given: &str| {
        let places: Vec<Option<usize>> = steps.iter().map(|step| given.find(step)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {given:?}");
    };
    let folder = workshop(&[]);
    let mut running = Running::of(&mut terminal(folder.path(), &call("ms=500"), ""));
    let first = until("the first step", LONG, || {
        Some(running.stdout()).filter(|given| given.contains(steps[0]))
    });
    assert!(!first.contains("\"steps\""), "there is a result already: {first:?}");
    assert!(running.child.try_wait().expect("our child").is_none(), "the call is over: {first:?}");
    let run = running.end(LONG);
    assert_eq!((run.code, left_to_see(&run.stdout).as_str()), (0, RESULT), "{run:?}");
    in_order(&run.stdout);
    // A result that goes elsewhere goes there alone, and its progress is still for the terminal.
    let run = Running::of(&mut terminal(folder.path(), &call("ms=100"), ">result")).end(LONG);
    assert_eq!((run.code, left_to_see(&run.stdout).as_str()), (0, ""), "{run:?}");
    in_order(&run.stdout);
    let written =
        |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
    assert_eq!(written("result"), RESULT);
    // Where stderr is no terminal there is none, whatever stdout is.
    let run = Running::of(&mut terminal(folder.path(), &call("ms=100"), "2>said")).end(LONG);
    assert_eq!((run.code, run.stdout.replace("\r\n", "\n").as_str()), (0, RESULT), "{run:?}");
    assert_eq!(written("said"), "");
    let run = run_with(folder.path(), &call("ms=100"), &[("TERM", "xterm")], "");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, RESULT, ""));
}

/// Whatever a tool prints, a terminal must not obey it.
#[test]
fn control_characters_are_made_visible() {
    let folder = workshop(&[]);
    let hostile = "\\033]0;owned\\007 \\033[2J \\r \\b \\302\\233 \\342\\200\\256";
    std::fs::write(folder.path().join("say.yaml"), SAY).expect("a file");
    let schema =
        json!({"name": "loud", "description": "Prints things.", "parameters": {"type": "object"}});
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
    let limited =
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n[limits]\ntimeout = 400\n";
    let (folder, path) = configured(limited);
    let program = faulty_server();
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
    std::fs::write(path.join("toolwright.toml"), format!("{limited}max_timeout = 400\n"))
        .expect("a file");
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
        faulty_server()
    ));
    add_tools(&path, &["echo"]);
    for id in ["up:echo", "echo"] {
        let started = Instant::now();
        let run = run(folder.path(), &["call", id, "--timeout", "3000"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{id}");
        assert!(started.elapsed() < Duration::from_secs(3), "{id} took {:?}", started.elapsed());
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
    let program = faulty_server();
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
    let running = Running::start(
        folder.path(),
        &["call", "echo", "--", "/bin/sh", "-c", shell, &path, &program],
        &[],
    );
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
