//! `faulty-tool`: process tools that work or fail, one way at a time. `--schema` prints the schema
//! document; without arguments the input is JSON on stdin and the answer JSON on stdout.
//!
//! ```text
//! faulty-tool MODE [--schema]
//! MODE-tool [--schema]          a symbolic link to this program: the catalog finds tools by name
//! ```
//!
//! A watchdog ends the process after 120 s, and no process it leaves behind lives longer than 60 s.
//!
//! | mode | input | what it does |
//! |---|---|---|
//! | `echo` | any | answers `{"echo": input}` |
//! | `echo-env` | any | answers `{"env": {its environment}}` |
//! | `add` | `a`, `b` | answers `{"sum": a + b}` |
//! | `big` | `bytes` | answers `{"data": "x" * bytes}` |
//! | `sleep` | `ms` | answers `{"slept": ms}` after `ms` |
//! | `late` | `ms` | answers `{"late": ms}` after `ms`, for calls whose deadline is sooner |
//! | `hang` | – | never reads, never answers |
//! | `ignore-term` | – | the same, and ignores SIGTERM, SIGHUP and SIGINT |
//! | `garbage` | – | prints `this is not json`, exit 0 |
//! | `empty` | – | prints nothing, exit 0 |
//! | `half` | – | prints half of a JSON object, exit 0 |
//! | `die` | – | prints nothing, exit 3 |
//! | `error-exit` | – | prints `{"error":"it broke"}`, exit 1 |
//! | `error-zero` | – | prints `{"error":"it broke"}`, exit 0 |
//! | `stderr-exit` | – | three lines on stderr, exit 2 |
//! | `crash` | – | dies of SIGABRT |
//! | `flood-out` | – | writes to stdout without end |
//! | `flood-err` | – | 200 MB on stderr, then `{"ok":true}` |
//! | `flood-both` | – | 20 MB each on stderr and on stdout (`{"data":"x…"}`), in turns |
//! | `no-read` | – | answers `{"ok":true}` without reading stdin |
//! | `slow-read` | any | reads 64 KiB at a time, 5 ms apart, answers `{"bytes": n}` |
//! | `fork` | `file` | starts a child, its pid in `file`, then hangs |
//! | `fork-exit` | `file` | the same, but answers `{"ok":true}`; the child holds stdout open |
//! | `setsid`, `setsid-exit` | `file` | the same with a child in a session of its own |
//! | `daemon`, `daemon-exit` | `file` | the same with an orphan in a session of its own |
//! | `daemon-clean` | `file` | `daemon` with an orphan whose environment is empty |
//! | `close-stdin` | – | closes stdin, lives 30 s |
//! | `close-out` | – | closes stdout, lives 30 s |
//! | `schema-hang` | any | never answers `--schema`; called, it is `echo` |
//! | `schema-garbage` | any | prints text that is not JSON on `--schema`; called, it is `echo` |
//! | `schema-big` | any | a valid schema of 100 KB; called, it is `echo` |
//! | `schema-exit` | any | a line on stderr and exit 1 on `--schema`; called, it is `echo` |

#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use toolwright_testing::actions::{
    become_shell, environment, flood_stderr, hang, print_stderr, refuse, start_watchdog, sum,
};
use toolwright_testing::descendants::{self, DescendantKind};

/// The name of this program, which must not be taken for a link to the mode `faulty`.
const OWN_NAME: &str = "faulty-tool";

/// One row of the table in the header.
struct FaultyTool {
    /// The first argument, and with `-tool` the name of a link.
    mode: &'static str,
    /// The description in its schema.
    about: &'static str,
    /// Required properties and their types; other properties are allowed too.
    parameters: &'static [(&'static str, &'static str)],
    /// Reads the input and answers itself, so that a mode can do either of them wrongly or not at
    /// all.
    call: fn(),
}

const fn tool(
    mode: &'static str,
    about: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    call: fn(),
) -> FaultyTool {
    FaultyTool { mode, about, parameters, call }
}

const FILE: &[(&str, &str)] = &[("file", "string")];
const MS: &[(&str, &str)] = &[("ms", "integer")];

/// All modes, in the order of the table in the header.
const TOOLS: &[FaultyTool] = &[
    tool("echo", "Answers what it was given.", &[], echo),
    tool("echo-env", "Answers its whole environment.", &[], || {
        answer(&json!({ "env": environment() }));
    }),
    tool("add", "Adds two numbers.", &[("a", "number"), ("b", "number")], || {
        let input = input();
        answer(&json!({ "sum": sum(&input["a"], &input["b"]) }));
    }),
    tool("big", "Answers as many bytes as asked.", &[("bytes", "integer")], || {
        let bytes = number(&input(), "bytes");
        write_document(bytes, 0);
    }),
    tool("sleep", "Sleeps, then answers.", MS, || {
        let ms = number(&input(), "ms");
        std::thread::sleep(Duration::from_millis(ms as u64));
        answer(&json!({ "slept": ms }));
    }),
    tool("late", "Answers after the deadline.", MS, || {
        let ms = number(&input(), "ms");
        std::thread::sleep(Duration::from_millis(ms as u64));
        answer(&json!({ "late": ms }));
    }),
    tool("hang", "Never reads and never answers.", &[], || hang()),
    tool("ignore-term", "Never answers and ignores SIGTERM.", &[], || {
        become_shell(
            r#"trap "" TERM HUP INT; i=0; while [ $i -lt 110 ]; do sleep 1; i=$((i+1)); done"#,
            &[],
        )
    }),
    tool("garbage", "Answers text that is not JSON.", &[], || print("this is not json\n")),
    tool("empty", "Answers nothing and exits with 0.", &[], || {}),
    tool("half", "Answers half of an object.", &[], || print(r#"{"answer": [1, 2, {"three":"#)),
    tool("die", "Answers nothing and fails.", &[], || std::process::exit(3)),
    tool("error-exit", "Reports an error and exits with 1.", &[], || {
        answer(&json!({ "error": "it broke" }));
        std::process::exit(1);
    }),
    tool("error-zero", "Reports an error and exits with 0.", &[], || {
        answer(&json!({ "error": "it broke" }));
    }),
    tool("stderr-exit", "Writes to stderr and fails.", &[], || {
        print_stderr("first line\nsecond line\nthird line");
        std::process::exit(2);
    }),
    tool("crash", "Dies of a signal.", &[], || std::process::abort()),
    tool("flood-out", "Writes to stdout without end.", &[], || {
        let line = format!("{}\n", "x".repeat(64 * 1024 - 1));
        loop {
            print(&line);
        }
    }),
    tool("flood-err", "Writes a lot to stderr, then answers.", &[], || {
        flood_stderr(200_000_000);
        answer(&json!({ "ok": true }));
    }),
    tool("flood-both", "Writes a lot to stdout and stderr, alternating.", &[], || {
        write_document(20_000_000, 20_000_000);
    }),
    tool("no-read", "Answers without reading its input.", &[], || answer(&json!({ "ok": true }))),
    tool("slow-read", "Reads its input slowly.", &[], || {
        let mut buffer = vec![0; 64 * 1024];
        let mut stdin = std::io::stdin();
        let mut bytes = 0;
        loop {
            match stdin.read(&mut buffer).unwrap() {
                0 => break answer(&json!({ "bytes": bytes })),
                read => bytes += read,
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }),
    tool("fork", "Leaves a child behind and hangs.", FILE, || {
        start_and_hang(DescendantKind::Forked)
    }),
    tool("fork-exit", "Leaves a child behind and answers.", FILE, || {
        start_and_answer(DescendantKind::Forked)
    }),
    tool("setsid", "Leaves a child in its own session and hangs.", FILE, || {
        start_and_hang(DescendantKind::OwnSession)
    }),
    tool("setsid-exit", "Leaves a child in its own session and answers.", FILE, || {
        start_and_answer(DescendantKind::OwnSession);
    }),
    tool("daemon", "Leaves an orphan behind and hangs.", FILE, || {
        start_and_hang(DescendantKind::Orphan)
    }),
    tool("daemon-exit", "Leaves an orphan behind and answers.", FILE, || {
        start_and_answer(DescendantKind::Orphan)
    }),
    tool("daemon-clean", "Leaves an orphan without environment and hangs.", FILE, || {
        start_and_hang(DescendantKind::OrphanWithoutEnvironment)
    }),
    tool("close-stdin", "Closes its stdin and keeps running.", &[], || {
        become_shell("exec 0<&-; sleep 30", &[])
    }),
    tool("close-out", "Closes its stdout and keeps running.", &[], || {
        become_shell("exec 1>&-; sleep 30", &[])
    }),
    tool("schema-hang", "Never prints its schema.", &[], echo),
    tool("schema-garbage", "Prints a schema that is not JSON.", &[], echo),
    tool("schema-big", "Prints a schema of 100 KB.", &[], echo),
    tool("schema-exit", "Fails to print its schema.", &[], echo),
];

fn main() {
    start_watchdog();
    let arguments: Vec<String> = std::env::args().collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (program, arguments) = arguments.split_first().unwrap();
    match (mode_of_link(program), arguments) {
        (Some(mode), arguments) => run(mode, arguments),
        (None, [mode, arguments @ ..]) => run(mode, arguments),
        (None, []) => refuse("usage: faulty-tool MODE [--schema]"),
    }
}

/// `some/folder/echo-env-tool` → `echo-env`.
fn mode_of_link(program: &str) -> Option<&str> {
    let name = Path::new(program).file_name()?.to_str()?;
    name.strip_suffix("-tool").filter(|_| name != OWN_NAME)
}

/// The protocol of process tools: `--schema` asks for the definition, no argument is a call.
fn run(mode: &str, arguments: &[&str]) {
    let Some(tool) = TOOLS.iter().find(|tool| tool.mode == mode) else {
        refuse(&format!("there is no mode `{mode}`"));
    };
    match arguments {
        [] => (tool.call)(),
        ["--schema"] => print_schema(tool),
        _ => refuse(&format!("`{mode}` takes no argument but `--schema`")),
    }
}

/// Only the `schema-…` modes have a fault here; called, they are good, so a test of a failing
/// `--schema` cannot fail for another reason.
fn print_schema(tool: &FaultyTool) {
    match tool.mode {
        "schema-hang" => hang(),
        "schema-garbage" => print("usage: schema-garbage < input.json\n"),
        "schema-big" => answer(&schema(tool, &format!("{} {}", tool.about, "x".repeat(100_000)))),
        "schema-exit" => {
            print_stderr("cannot tell the schema");
            std::process::exit(1);
        }
        _ => answer(&schema(tool, tool.about)),
    }
}

/// Other properties are allowed: tests pass members of their own through `echo`.
fn schema(tool: &FaultyTool, description: &str) -> Value {
    let properties: Map<String, Value> = tool
        .parameters
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind })))
        .collect();
    let mut parameters =
        json!({ "type": "object", "properties": properties, "additionalProperties": true });
    if !tool.parameters.is_empty() {
        parameters["required"] = tool.parameters.iter().map(|(name, _)| *name).collect();
    }
    let name = tool.mode.replace('-', "_");
    json!({ "name": name, "description": description, "parameters": parameters })
}

fn echo() {
    answer(&json!({ "echo": input() }));
}

/// The call succeeds, and a process stays behind that may hold the pipes open.
fn start_and_answer(kind: DescendantKind) {
    descendants::start(kind, &file());
    answer(&json!({ "ok": true }));
}

fn start_and_hang(kind: DescendantKind) -> ! {
    descendants::start(kind, &file());
    hang()
}

fn file() -> String {
    let input = input();
    input["file"].as_str().unwrap_or_else(|| fail("`file` is missing")).to_owned()
}

/// Reads stdin to its end: a caller that does not close it waits for ever.
fn input() -> Value {
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).unwrap();
    serde_json::from_slice(&text)
        .unwrap_or_else(|error| fail(&format!("the input is not JSON: {error}")))
}

fn number(input: &Value, name: &str) -> usize {
    match input[name].as_u64() {
        Some(number) => number as usize,
        None => fail(&format!("`{name}` is not a whole number")),
    }
}

/// How a process tool reports its own failure: an object with `error`, and an exit status.
fn fail(error: &str) -> ! {
    answer(&json!({ "error": error }));
    std::process::exit(1);
}

fn answer(document: &Value) {
    print(&format!("{document}\n"));
}

/// Writes to stdout; ends the process if stdout is closed.
fn print(text: &str) {
    let mut stdout = std::io::stdout();
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Writes `{"data":"x…"}` with this many `x` to stdout and this many bytes to stderr, 64 KiB to
/// each in turn: a caller that reads only one of them at a time gets stuck.
fn write_document(mut on_stdout: usize, mut on_stderr: usize) {
    const TURN: usize = 64 * 1024;
    let chunk = "x".repeat(TURN);
    print(r#"{"data":""#);
    while on_stdout > 0 || on_stderr > 0 {
        let turn = on_stdout.min(TURN);
        print(&chunk[..turn]);
        on_stdout -= turn;
        let turn = on_stderr.min(TURN);
        flood_stderr(turn);
        on_stderr -= turn;
    }
    print("\"}\n");
}
