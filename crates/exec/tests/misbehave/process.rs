//! Process tools: `--schema` prints a schema document, no argument means JSON in, JSON out.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::offspring::{self, Descent};
use crate::{become_shell, complain, flood_stderr, hang, refuse};

struct Tool {
    mode: &'static str,
    about: &'static str,
    /// Required properties and their types; others are allowed besides.
    parameters: &'static [(&'static str, &'static str)],
    call: fn(),
}

const fn tool(
    mode: &'static str,
    about: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    call: fn(),
) -> Tool {
    Tool { mode, about, parameters, call }
}

const FILE: &[(&str, &str)] = &[("file", "string")];
const MS: &[(&str, &str)] = &[("ms", "integer")];

const TOOLS: &[Tool] = &[
    tool("echo", "Answers what it was given.", &[], echo),
    tool("echo-env", "Answers its whole environment.", &[], || {
        answer(&json!({ "env": environment() }));
    }),
    tool("add", "Adds two numbers up.", &[("a", "number"), ("b", "number")], || {
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
    tool("ignore-term", "Never answers and cannot be asked to stop.", &[], || {
        become_shell(
            r#"trap "" TERM HUP INT; i=0; while [ $i -lt 110 ]; do sleep 1; i=$((i+1)); done"#,
            &[],
        )
    }),
    tool("garbage", "Answers what is not JSON.", &[], || print("this is not json\n")),
    tool("empty", "Answers nothing, and is content.", &[], || {}),
    tool("half", "Answers half of an object.", &[], || print(r#"{"answer": [1, 2, {"three":"#)),
    tool("die", "Answers nothing and fails.", &[], || std::process::exit(3)),
    tool("error-exit", "Says that it failed, and fails.", &[], || {
        answer(&json!({ "error": "it broke" }));
        std::process::exit(1);
    }),
    tool("error-zero", "Says that it failed, and succeeds.", &[], || {
        answer(&json!({ "error": "it broke" }));
    }),
    tool("stderr-exit", "Complains on stderr and fails.", &[], || {
        complain("first line\nsecond line\nthird line");
        std::process::exit(2);
    }),
    tool("crash", "Dies of a signal.", &[], || std::process::abort()),
    tool("flood-out", "Writes to stdout for ever.", &[], || {
        let line = format!("{}\n", "x".repeat(64 * 1024 - 1));
        loop {
            print(&line);
        }
    }),
    tool("flood-err", "Writes a lot to stderr, then answers.", &[], || {
        flood_stderr(200_000_000);
        answer(&json!({ "ok": true }));
    }),
    tool("flood-both", "Writes a lot to stdout and stderr by turns.", &[], || {
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
    tool("fork", "Leaves a child behind and hangs.", FILE, || beget_and_hang(Descent::Forked)),
    tool("fork-exit", "Leaves a child behind and answers.", FILE, || beget(Descent::Forked)),
    tool("setsid", "Leaves a child in its own session and hangs.", FILE, || {
        beget_and_hang(Descent::OwnSession)
    }),
    tool("setsid-exit", "Leaves a child in its own session and answers.", FILE, || {
        beget(Descent::OwnSession);
    }),
    tool("daemon", "Leaves an orphan behind and hangs.", FILE, || beget_and_hang(Descent::Orphan)),
    tool("daemon-exit", "Leaves an orphan behind and answers.", FILE, || beget(Descent::Orphan)),
    tool("daemon-clean", "Leaves an orphan without environment and hangs.", FILE, || {
        beget_and_hang(Descent::OrphanWithoutEnvironment)
    }),
    tool("close-stdin", "Closes its stdin and lingers.", &[], || {
        become_shell("exec 0<&-; sleep 30", &[])
    }),
    tool("close-out", "Closes its stdout and lingers.", &[], || {
        become_shell("exec 1>&-; sleep 30", &[])
    }),
    tool("schema-hang", "Never tells its schema.", &[], echo),
    tool("schema-garbage", "Tells a schema that is not JSON.", &[], echo),
    tool("schema-big", "Tells a schema of 100 KB.", &[], echo),
    tool("schema-exit", "Fails to tell its schema.", &[], echo),
];

pub(crate) fn run(mode: &str, arguments: &[&str]) {
    let Some(tool) = TOOLS.iter().find(|tool| tool.mode == mode) else {
        refuse(&format!("there is no process mode `{mode}`"));
    };
    match arguments {
        [] => (tool.call)(),
        ["--schema"] => tell_schema(tool),
        _ => refuse(&format!("`{mode}` takes no argument but `--schema`")),
    }
}

fn tell_schema(tool: &Tool) {
    match tool.mode {
        "schema-hang" => hang(),
        "schema-garbage" => print("usage: schema-garbage < input.json\n"),
        "schema-big" => answer(&schema(tool, &format!("{} {}", tool.about, "x".repeat(100_000)))),
        "schema-exit" => {
            complain("cannot tell the schema");
            std::process::exit(1);
        }
        _ => answer(&schema(tool, tool.about)),
    }
}

fn schema(tool: &Tool, description: &str) -> Value {
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
    json!({ "name": tool.mode.replace('-', "_"), "description": description, "parameters": parameters })
}

fn echo() {
    answer(&json!({ "echo": input() }));
}

fn beget(descent: Descent) {
    offspring::start(descent, &file());
    answer(&json!({ "ok": true }));
}

fn beget_and_hang(descent: Descent) -> ! {
    offspring::start(descent, &file());
    hang()
}

fn file() -> String {
    let input = input();
    input["file"].as_str().unwrap_or_else(|| fail("`file` is missing")).to_owned()
}

pub(crate) fn environment() -> Map<String, Value> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into()))
        .collect()
}

/// Whole numbers stay whole.
pub(crate) fn sum(a: &Value, b: &Value) -> Value {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => json!(a + b),
        _ => json!(a.as_f64().unwrap_or(f64::NAN) + b.as_f64().unwrap_or(f64::NAN)),
    }
}

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

fn fail(error: &str) -> ! {
    answer(&json!({ "error": error }));
    std::process::exit(1);
}

fn answer(document: &Value) {
    print(&format!("{document}\n"));
}

/// Writes to stdout, and ends the process when nobody is there to read.
fn print(text: &str) {
    let mut stdout = std::io::stdout();
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Writes `{"data":"x…"}` with so many `x` to stdout and so many bytes to stderr, by turns.
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
