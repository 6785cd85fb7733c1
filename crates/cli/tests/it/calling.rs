//! `toolwright call`: arguments, results, failures, deadlines, and the processes that a call
//! starts.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use toolwright_exec::code;

use crate::client::{
    LONG, RunningProgram, StdioClient, add_tools, configured, faulty_server, gone, pid_in,
    process_tool, run_with, script, signal, until,
};
use crate::program::{Run, folder, state_home};
use crate::{btcp_tool_bodies, knowledge, orchestrations, page_tools};

/// Runs in `folder` without input.
pub(crate) fn run(folder: &Path, args: &[&str]) -> Run {
    run_with(folder, args, &[], "")
}

/// A configuration with the process tools of these modes, and the server `up`.
pub(crate) fn folder_with_tools(modes: &[&str]) -> tempfile::TempDir {
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n\n\
         [[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n",
        faulty_server()
    ));
    add_tools(&path, modes);
    folder
}

/// A manifest with a tool without a body, and a tool with an invalid schema.
pub(crate) const PAGE: &str = r#"{
  "btcp": "1.0", "name": "page", "version": "1.0.0", "capabilities": [],
  "tools": [
    {"name": "read", "description": "Reads the page aloud.", "inputSchema": {"type": "object"}, "capabilities": []},
    {"name": "torn", "description": "Has a bad schema.", "inputSchema": {"type": 12}, "capabilities": []}
  ]
}
"#;

/// How a test reaches a code.
enum Trigger {
    /// A call with these arguments.
    Call(&'static [&'static str]),
    /// A call with these arguments that is interrupted.
    Interrupted(&'static [&'static str]),
    /// A call with these arguments, where the store of calls cannot be used.
    UnusableStore(&'static [&'static str]),
    /// Two calls at once, which need a server.
    ConcurrentCalls,
    /// A server whose executable was deleted, so that it cannot start workers.
    DeletedExecutable,
    /// A page that goes away, which needs a double of the browser.
    LostPage,
}

const TRIGGERS: &[(&str, Trigger)] = &[
    ("TOOL_NOT_FOUND", Trigger::Call(&["tools:no-such-tool"])),
    ("TIMEOUT", Trigger::Call(&["sleep", "ms=10000", "--timeout", "300"])),
    ("INPUT_INVALID", Trigger::Call(&["add", "a=1"])),
    ("OUTPUT_INVALID", Trigger::Call(&["garbage"])),
    ("OUTPUT_TOO_LARGE", Trigger::Call(&["big", "bytes=2000000"])),
    ("CANCELLED", Trigger::Interrupted(&["fork"])),
    ("BUSY", Trigger::ConcurrentCalls),
    ("TOOL_FAILED", Trigger::Call(&["error_exit"])),
    ("SPAWN_FAILED", Trigger::Call(&["anything", "--", "/no/such/program"])),
    ("UPSTREAM_UNAVAILABLE", Trigger::Call(&["up:exit"])),
    ("QUARANTINED", Trigger::Call(&["page:torn", "--from", "page.json"])),
    ("NOT_RUNNABLE", Trigger::Call(&["page:read", "--from", "page.json"])),
    ("VALIDATION_FAILED", Trigger::Call(&["board:echo", "--from", "board.yaml"])),
    (
        "PROCESSOR_FAILED",
        Trigger::Call(&["board:echo", "title=unprocessable", "--from", "board.yaml"]),
    ),
    ("PAYLOAD_UNKNOWN", Trigger::Call(&["board:echo", "title=x", "--from", "odd.yaml"])),
    ("CAPABILITY_DENIED", Trigger::Call(&["shop:look", "--from", "shop.json"])),
    (
        "BROWSER_REQUIRED",
        Trigger::Call(&["shop:look", "--from", "shop.json", "--allow", "dom:read"]),
    ),
    ("PAGE_LOST", Trigger::LostPage),
    ("SANDBOX_FAILED", Trigger::DeletedExecutable),
    ("CALL_LIMIT", Trigger::Call(&["all:all", "--from", "all.yaml"])),
    ("AUDIT_UNAVAILABLE", Trigger::UnusableStore(&["add", "a=1", "b=2"])),
];

#[test]
fn every_failure_code_is_reached_by_a_call() {
    let folder = folder_with_tools(&["sleep", "add", "garbage", "big", "fork", "error-exit"]);
    let odd = knowledge::board().replace("echo object exists", "card object exists");
    let recursion = orchestrations::meta("all", "[all]", "() => tools.call('all:all')");
    for (name, text) in [
        ("all.yaml", recursion.as_str()),
        ("page.json", PAGE),
        ("shop.json", btcp_tool_bodies::SHOP),
        ("board.yaml", &knowledge::board()),
        ("odd.yaml", &odd),
    ] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    for known in code::ALL {
        let (_, trigger) = TRIGGERS
            .iter()
            .find(|(name, _)| *name == known.name)
            .unwrap_or_else(|| panic!("no case reaches `{}`", known.name));
        match trigger {
            Trigger::ConcurrentCalls => busy_is_reached(folder.path()),
            Trigger::LostPage => page_tools::failures_of_the_page_have_their_codes(),
            Trigger::DeletedExecutable => {
                btcp_tool_bodies::a_call_fails_with_its_code_when_no_worker_can_start()
            }
            Trigger::Call(args) => {
                expect_failure(known, |json| {
                    let at = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
                    let mut args: Vec<&str> = ["call"].iter().chain(*args).copied().collect();
                    args.splice(at + 1..at + 1, json.iter().copied());
                    run(folder.path(), &args)
                });
            }
            Trigger::UnusableStore(args) => {
                // A file, where a folder should be.
                let state = folder.path().join("page.json").display().to_string();
                expect_failure(known, |json| {
                    let args: Vec<&str> =
                        ["call"].iter().chain(*args).chain(json).copied().collect();
                    run_with(folder.path(), &args, &[("XDG_STATE_HOME", &state)], "")
                });
            }
            Trigger::Interrupted(args) => {
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
                    let running = RunningProgram::start(folder.path(), &args, &[]);
                    let pid = pid_in(&file);
                    signal(running.pid(), "INT");
                    let run = running.end(LONG);
                    gone("the tool's child", pid, LONG);
                    run
                });
            }
        }
    }
    assert_eq!(TRIGGERS.len(), code::ALL.len(), "a case for a code that is not there");
}

/// Runs twice, with text and with JSON output, and compares the two reports of the failure.
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
    // Both have the same message and the same suggestion.
    let reported = json["error"]["message"].as_str().expect("a text");
    assert_eq!(
        message,
        format!("{name}: {}", reported.lines().next().unwrap_or_default()),
        "{for_people:?}"
    );
    assert_eq!(help, json["error"]["suggestion"].as_str(), "{name}: {for_people:?}");
}

fn check_error(known: &code::RunCode, error: &Json) {
    let keys: Vec<&str> =
        error.as_object().expect("an object").keys().map(String::as_str).collect();
    let (always, sometimes) = keys.split_at(6);
    let expected = ["code", "number", "btcpCode", "message", "suggestion", "errors"];
    assert_eq!(always, expected, "{error}");
    assert!(sometimes.iter().all(|key| *key == "advice"), "{error}");
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
    let mut client = StdioClient::start(folder, &["--config", "narrow.toml"], &[]);
    client.names();
    let first = client.send(
        "tools/call",
        json!({
            "name": "up__progress", "arguments": {"steps": 1000, "ms": 30}, "_meta": {"progressToken": 1},
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
    // The permit is free again.
    until("a free permit", LONG, || {
        (client.call("up__echo", json!({}))["isError"] == false).then_some(())
    });
}

#[test]
fn an_unknown_id_suggests_the_nearest_ids() {
    let folder = folder_with_tools(&["echo", "echo-env", "add"]);
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
    // A name without a namespace is enough if only one tool has it.
    let run = run(folder.path(), &["call", "sleep", "ms=1"]);
    assert_eq!(run.code, 0, "only `up` has it: {run:?}");
}

#[test]
fn every_failing_value_is_named() {
    let folder = folder_with_tools(&["add"]);
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

/// A definition of a command line, whose output is text.
const SAY: &str = "tool:\n  id: say\n  type: cli\n  name: Say\n  version: 1.0.0\n  description: Prints its arguments\n  cli_specific:\n    executable: printf\n";

#[test]
fn results_are_printed_by_their_kind() {
    let folder = folder_with_tools(&["echo", "error-zero"]);
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
fn a_result_with_an_error_is_exit_code_1() {
    let folder = folder_with_tools(&["error-zero"]);
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

/// A run on a terminal that `script` of util-linux emulates, with a redirection. The output to the
/// terminal is on stdout.
pub(crate) fn terminal(folder: &Path, args: &[&str], redirection: &str) -> Command {
    let quote = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
    let words: Vec<String> =
        [env!("CARGO_BIN_EXE_toolwright")].iter().chain(args).map(quote).collect();
    let mut command = Command::new("/usr/bin/script");
    command
        .args(["-qec", &format!("{} {redirection}", words.join(" ")), "/dev/null"])
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("TERM", "xterm"), ("XDG_STATE_HOME", state_home())])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The output of a run to its terminal, without that of stderr.
fn on_a_terminal(folder: &Path, args: &[&str]) -> String {
    let output = terminal(folder, args, "2>/dev/null").output().expect("`script` is installed");
    String::from_utf8(output.stdout).expect("UTF-8").replace("\r\n", "\n")
}

/// What a terminal shows at the end: of every line, the part after it was erased the last time.
fn left_to_see(given: &str) -> String {
    let line = |line: &str| line.rsplit("\x1b[2K").next().unwrap_or_default().to_owned();
    given.split("\r\n").map(line).collect::<Vec<_>>().join("\n")
}

/// Progress is shown while a call runs, and erased before its result is printed.
#[test]
fn progress_is_shown_only_on_a_terminal() {
    const RESULT: &str = "{\n  \"steps\": 4\n}\n";
    let call = |ms: &'static str| ["call", "up:progress", "steps=4", ms];
    let steps = ["░ 25% step 1 ", "░ 50% step 2 ", "░ 75% step 3 "];
    let in_order = |given: &str| {
        let places: Vec<Option<usize>> = steps.iter().map(|step| given.find(step)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {given:?}");
    };
    let folder = folder_with_tools(&[]);
    let mut running = RunningProgram::of(&mut terminal(folder.path(), &call("ms=1500"), ""));
    let first = until("the first step", LONG, || {
        Some(running.stdout()).filter(|given| given.contains(steps[0]))
    });
    assert!(!first.contains("\"steps\""), "there is a result already: {first:?}");
    assert!(running.child.try_wait().expect("our child").is_none(), "the call is over: {first:?}");
    let run = running.end(LONG);
    assert_eq!((run.code, left_to_see(&run.stdout).as_str()), (0, RESULT), "{run:?}");
    in_order(&run.stdout);
    // Where only stdout is redirected, progress is still shown on the terminal.
    let run =
        RunningProgram::of(&mut terminal(folder.path(), &call("ms=100"), ">result")).end(LONG);
    assert_eq!((run.code, left_to_see(&run.stdout).as_str()), (0, ""), "{run:?}");
    in_order(&run.stdout);
    let written =
        |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
    assert_eq!(written("result"), RESULT);
    // Where stderr is not a terminal, there is no progress, whatever stdout is.
    let run =
        RunningProgram::of(&mut terminal(folder.path(), &call("ms=100"), "2>errors")).end(LONG);
    assert_eq!((run.code, run.stdout.replace("\r\n", "\n").as_str()), (0, RESULT), "{run:?}");
    assert_eq!(written("errors"), "");
    let run = run_with(folder.path(), &call("ms=100"), &[("TERM", "xterm")], "");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, RESULT, ""));
}

/// Nothing that a tool prints may control the terminal.
#[test]
fn control_characters_are_printed_visibly() {
    let folder = folder_with_tools(&[]);
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
        // JSON output has every character as JSON requires it.
        let json = run(folder.path(), &["call", "loud", "--from", &source, "--json"]).stdout;
        assert!(!json.contains(|c: char| c.is_ascii_control() && c != '\n'), "{name}: {json:?}");
    }
    let text = r#"args=["\u001b[31mred\u001b[0m \u0007\u202e\u009b\r\n"]"#;
    let shown = on_a_terminal(folder.path(), &["call", "say:say", text, "--from", "say.yaml"]);
    check("text", &shown);
    assert!(shown.contains("red"), "{shown:?}");
    // The arguments may be hostile as well.
    for args in [
        &["call", "\u{1b}[2Jx"][..],
        &["call", "up:add", "\u{1b}[2J"],
        &["call", "up:add", "a=\u{1b}[2J"],
        &["call", "x", "--from", "\u{1b}[2J"],
    ] {
        check("arguments", &run(folder.path(), args).stderr);
    }
}

#[test]
fn a_text_is_printed_unchanged_into_a_pipe() {
    let folder = folder(&[("say.yaml", SAY.as_bytes())]);
    for text in ["a\tb", "\u{1b}[31mred\u{1b}[0m", "grüße \u{202e} 🙂"] {
        let argument = format!("args={}", json!(["%s", text]));
        let run = run(folder.path(), &["call", "say:say", &argument, "--from", "say.yaml"]);
        assert_eq!((run.code, run.stdout.as_str()), (0, format!("{text}\n").as_str()), "{run:?}");
    }
}

#[test]
fn timeouts_include_slow_tools_and_slow_sources() {
    let limited =
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n[limits]\ntimeout = 400\n";
    let (folder, path) = configured(limited);
    let program = faulty_server();
    add_tools(&path, &["sleep", "ignore-term"]);
    for (args, message) in [
        (
            // Long enough to start the program and to read its schema before, on a busy machine.
            &["call", "sleep", "ms=110000", "--timeout", "10000"][..],
            "TIMEOUT: `sleep` did not answer within 10000 ms",
        ),
        (&["call", "sleep", "ms=110000"], "TIMEOUT: `sleep` did not answer within 400 ms"),
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
        // The tools and the server take nearly two minutes if nothing stops them.
        assert!(took < Duration::from_secs(60), "{args:?} took {took:?}");
    }
    // `max_timeout` also bounds what the caller may set.
    std::fs::write(path.join("toolwright.toml"), format!("{limited}max_timeout = 400\n"))
        .expect("a file");
    let run = run(folder.path(), &["call", "sleep", "ms=110000", "--timeout", "90000"]);
    assert!(run.stderr.starts_with("TIMEOUT: `sleep` did not answer within 400 ms"), "{run:?}");
}

/// A server that hangs while it starts has 20 seconds to do so; calls of other sources end before.
/// The id of a process tool has no `:`, and still names its source.
#[test]
fn a_server_that_hangs_does_not_delay_calls_of_other_sources() {
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n\
         [[source]]\nname = \"up\"\ncommand = [\"{0}\", \"mcp\", \"good\"]\n\
         [[source]]\nname = \"stuck\"\ncommand = [\"{0}\", \"mcp\", \"hang-start\"]\n",
        faulty_server()
    ));
    add_tools(&path, &["echo"]);
    for id in ["up:echo", "echo"] {
        let run = run(folder.path(), &["call", id, "--timeout", "15000"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{id}");
    }
}

/// Modes of `toolwright-testing` whose tools start a process and do not answer, and such that
/// answer. The process sleeps for 55 seconds, so waiting `LONG` for its end still shows that it was
/// killed.
const HANGING_MODES: [&str; 4] = ["fork", "setsid", "daemon", "daemon-clean"];
const ANSWERING_MODES: [&str; 3] = ["fork-exit", "setsid-exit", "daemon-exit"];

/// A call kills its process tree, whether the tool answers or the deadline passes.
#[test]
fn a_call_kills_its_process_tree() {
    let folder = folder_with_tools(&[&HANGING_MODES[..], &ANSWERING_MODES].concat());
    let hanging = HANGING_MODES.map(|mode| (mode, "3000", 1));
    let answering = ANSWERING_MODES.map(|mode| (mode, "20000", 0));
    for (mode, timeout, code) in hanging.into_iter().chain(answering) {
        let file = folder.path().join(mode);
        let argument = format!("file={}", file.display());
        let tool = mode.replace('-', "_");
        let run = run(folder.path(), &["call", &tool, &argument, "--timeout", timeout]);
        assert_eq!(run.code, code, "{mode}: {run:?}");
        gone(mode, pid_in(&file), LONG);
    }
}

/// A process in a session of its own becomes our child only when its parent has died, a moment
/// after that was killed: ten rounds, because this is a race.
#[test]
fn an_interrupted_call_kills_processes_that_left_its_session() {
    let folder = folder_with_tools(&["setsid"]);
    for round in 0..10 {
        let file = folder.path().join(format!("pid-{round}"));
        let argument = format!("file={}", file.display());
        let running = RunningProgram::start(folder.path(), &["call", "setsid", &argument], &[]);
        let pid = pid_in(&file);
        signal(running.pid(), "INT");
        let run = running.end(LONG);
        assert_eq!(run.code, 1, "{run:?}");
        gone("setsid", pid, LONG);
    }
}

#[test]
fn no_server_outlives_the_call_that_started_it() {
    let folder = folder(&[]);
    let program = faulty_server();
    for mode in ["good", "ignore-term", "forks", "dies-every-call", "never", "close-stdout"] {
        let file = folder.path().join(mode);
        let text = format!(
            "[[source]]\nname = \"up\"\ncommand = [\"/bin/sh\", \"-c\", 'printf %s $$ > \"$0.server\"; exec \"$1\" mcp \"$2\"', '{}', '{program}', '{mode}']\nenv = {{ PID_FILE = '{0}' }}\n",
            file.display()
        );
        std::fs::write(folder.path().join("toolwright.toml"), text).expect("a file");
        run(folder.path(), &["call", "up:echo", "--timeout", "4000"]);
        gone(mode, pid_in(&file.with_extension("server")), LONG);
        if mode == "forks" {
            gone("its child", pid_in(&file), LONG);
        }
    }
    // Nor does one that is interrupted while it starts.
    let file = folder.path().join("early");
    let shell = r#"printf %s $$ > "$0"; exec "$1" mcp hang-start"#;
    let path = file.display().to_string();
    let running = RunningProgram::start(
        folder.path(),
        &["call", "echo", "--", "/bin/sh", "-c", shell, &path, &program],
        &[],
    );
    let pid = pid_in(&file);
    signal(running.pid(), "INT");
    let run = running.end(LONG);
    assert_ne!(run.code, 0, "{run:?}");
    gone("a server that never started", pid, LONG);
}

#[test]
fn help_lists_the_arguments_of_call_and_serve() {
    for command in ["call", "serve"] {
        let run = run(Path::new("/"), &[command, "--help"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        insta::assert_snapshot!(format!("help_of_{command}"), run.stdout);
    }
}

/// Numbers that other programs may read exactly, although ours are 64 bits long.
pub(crate) const EXACT: &str = r#"{"n": 12345678901234567890123, "z": -0.0, "d": 0.10, "e": 1E+2, "max": 18446744073709551616}"#;

/// A source `tools` with a process tool `save` and a source `up` with an MCP server whose tool is
/// `save`: both write what they get to the file `received`.
pub(crate) fn folder_with_recorders() -> tempfile::TempDir {
    let server = r#"
while read -r line; do
  case "$line" in *'"id":'*) ;; *) continue ;; esac
  id=${line#*'"id":'}; id=${id%%[,\}]*}
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"save","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]}' ;;
    *) printf '%s\n' "$line" > received; result='{"content":[],"structuredContent":{}}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;
    let (folder, path) = configured(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n\n\
         [[source]]\nname = \"up\"\ncommand = [\"/bin/sh\", \"server.sh\"]\n\n\
         [serve]\nlist_wait = 60000\n",
    );
    std::fs::write(path.join("server.sh"), server).expect("a file");
    let schema = json!({
        "name": "save", "description": "Saves its input.",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
    });
    process_tool(&path.join("tools/save-tool"), &schema, "cat > received; printf '{}'");
    folder
}

/// What the last tool call received.
pub(crate) fn received(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("received")).expect("it was called")
}
