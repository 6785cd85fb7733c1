//! The tools of every MCP server here, whatever carries the messages.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::complain;
use crate::process::{environment, sum};

/// What comes of a request.
pub(crate) enum Answer {
    Result(Value),
    Error {
        code: i64,
        message: String,
        data: Option<Value>,
    },
    /// The caller wants no answer any more.
    Silence,
}

impl Answer {
    pub(crate) fn error(code: i64, message: impl Into<String>) -> Self {
        Self::Error { code, message: message.into(), data: None }
    }

    fn text(text: impl Into<String>) -> Self {
        Self::Result(json!({ "content": [{ "type": "text", "text": text.into() }] }))
    }

    fn structured(content: Value) -> Self {
        Self::Result(json!({
            "content": [{ "type": "text", "text": content.to_string() }],
            "structuredContent": content,
        }))
    }
}

/// Why a call need not go on.
pub(crate) enum CutOff {
    Cancelled,
    Closing,
}

/// Whoever made a call, as seen from the tool.
pub(crate) trait Caller {
    /// Sends a notification, where the transport can.
    fn notify(&self, notification: &Value);
    fn cut_off(&self) -> Option<CutOff>;
}

/// 128 characters, the longest name MCP recommends: `long_name.long_name.…`.
pub(crate) fn long_name() -> String {
    "long_name.".repeat(13)[..128].to_owned()
}

pub(crate) fn definitions() -> Vec<Value> {
    let anything = || json!({ "type": "object" });
    let milliseconds = || json!({ "type": "integer", "minimum": 0 });
    let wants_sum = || json!({ "type": "object", "properties": { "sum": { "type": "number" } }, "required": ["sum"] });
    let mut add = definition(
        "add",
        "Adds two numbers up.",
        json!({
            "type": "object",
            "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
            "required": ["a", "b"],
        }),
    );
    add["outputSchema"] = wants_sum();
    let mut lie = definition("lie", "Promises a number and returns a string.", anything());
    lie["outputSchema"] = wants_sum();
    let mut exit = definition("exit", "Ends the server in the middle of the call.", anything());
    exit["annotations"] = json!({ "readOnlyHint": false, "destructiveHint": true });
    vec![
        echo_definition(),
        add,
        definition(
            "sleep",
            "Sleeps, unless cancelled, then answers.",
            json!({ "type": "object", "properties": { "ms": milliseconds() }, "required": ["ms"] }),
        ),
        definition(
            "progress",
            "Tells its progress step by step, then answers.",
            json!({
                "type": "object",
                "properties": { "steps": { "type": "integer", "minimum": 0 }, "ms": milliseconds() },
                "required": ["steps", "ms"],
            }),
        ),
        definition(
            "big",
            "Answers as many bytes as asked.",
            json!({
                "type": "object",
                "properties": { "bytes": { "type": "integer", "minimum": 0 } },
                "required": ["bytes"],
            }),
        ),
        definition("fail", "Answers that it failed.", anything()),
        definition("rpc-error", "Fails in the protocol.", anything()),
        lie,
        definition("env", "Answers the environment of the server.", anything()),
        definition("pid", "Answers the process id of the server.", anything()),
        exit,
        definition(
            "image",
            "Answers one content block of each type.",
            json!({ "type": "object", "properties": { "unknown": { "type": "boolean" } } }),
        ),
        definition("dotted.name", "Answers what it was given, like echo.", anything()),
        definition(&long_name(), "Answers what it was given, under a long name.", anything()),
    ]
}

/// The one tool that has everything a tool may have.
pub(crate) fn echo_definition() -> Value {
    let mut echo = definition("echo", "Answers what it was given.", json!({ "type": "object" }));
    echo["icons"] = json!([
        { "src": "https://example.com/echo.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "light" },
        { "src": "data:image/svg+xml;base64,PHN2Zy8+", "mimeType": "image/svg+xml", "sizes": ["any"] },
    ]);
    echo["_meta"] = json!({ "example.com/origin": "misbehave", "example.com/weight": 3 });
    echo
}

pub(crate) fn definition(name: &str, description: &str, input_schema: Value) -> Value {
    json!({
        "name": name,
        "title": format!("The {} tool", name.split('.').next().unwrap_or_default()),
        "description": description,
        "inputSchema": input_schema,
        "annotations": {
            "title": "A tool for tests",
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        },
    })
}

/// Runs one tool. `params` are those of `tools/call`; `id` is the request's.
pub(crate) fn call(id: &Value, params: &Value, caller: &dyn Caller) -> Answer {
    let name = params["name"].as_str().unwrap_or_default();
    let no_arguments = json!({});
    let arguments = params.get("arguments").unwrap_or(&no_arguments);
    match name {
        "echo" | "dotted.name" | "added" => echo(arguments),
        "add" => Answer::structured(json!({ "sum": sum(&arguments["a"], &arguments["b"]) })),
        "sleep" => sleep(id, number(arguments, "ms"), caller),
        "progress" => progress(id, arguments, &params["_meta"]["progressToken"], caller),
        "big" => Answer::text("x".repeat(number(arguments, "bytes") as usize)),
        "fail" => Answer::Result(
            json!({ "content": [{ "type": "text", "text": "it broke" }], "isError": true }),
        ),
        "rpc-error" => Answer::error(-32050, "upstream says no"),
        "lie" => Answer::structured(json!({ "sum": "x" })),
        "env" => Answer::structured(json!({ "env": environment() })),
        "pid" => Answer::structured(json!({ "pid": std::process::id() })),
        "exit" => {
            complain("about to fall over");
            std::process::exit(7);
        }
        "image" => image(arguments["unknown"] == true),
        _ if name == long_name() => echo(arguments),
        _ => Answer::error(-32602, format!("unknown tool `{name}`")),
    }
}

fn number(arguments: &Value, name: &str) -> u64 {
    arguments[name].as_u64().unwrap_or_default()
}

fn echo(arguments: &Value) -> Answer {
    Answer::Result(json!({
        "content": [{ "type": "text", "text": arguments.to_string() }],
        "structuredContent": { "echo": arguments },
    }))
}

fn sleep(id: &Value, ms: u64, caller: &dyn Caller) -> Answer {
    match pause(id, ms, caller) {
        Ok(()) => Answer::structured(json!({ "slept": ms })),
        Err(silence) => silence,
    }
}

fn progress(id: &Value, arguments: &Value, token: &Value, caller: &dyn Caller) -> Answer {
    let (steps, ms) = (number(arguments, "steps"), number(arguments, "ms"));
    for step in 1..=steps {
        if let Err(silence) = pause(id, ms, caller) {
            return silence;
        }
        if !token.is_null() {
            caller.notify(&json!({
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {
                    "progressToken": token,
                    "progress": step,
                    "total": steps,
                    "message": format!("step {step}"),
                },
            }));
        }
    }
    Answer::structured(json!({ "steps": steps }))
}

fn pause(id: &Value, ms: u64, caller: &dyn Caller) -> Result<(), Answer> {
    let end = Instant::now() + Duration::from_millis(ms);
    loop {
        match caller.cut_off() {
            Some(CutOff::Cancelled) => {
                note_cancelled(id);
                return Err(Answer::Silence);
            }
            Some(CutOff::Closing) => return Err(Answer::Silence),
            None => {}
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(Duration::from_millis(5)));
    }
}

/// `cancelled ID` on stderr, and in the file `$CANCEL_LOG`.
fn note_cancelled(id: &Value) {
    let line = match id {
        Value::String(id) => format!("cancelled {id}"),
        id => format!("cancelled {id}"),
    };
    complain(&line);
    append_line("CANCEL_LOG", &line);
}

/// Appends a line to the file that the environment variable names, if it does.
pub(crate) fn append_line(variable: &str, line: &str) {
    let Some(path) = std::env::var_os(variable) else { return };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn image(unknown: bool) -> Answer {
    const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
    const SILENT_WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
    let annotations = json!({
        "audience": ["user", "assistant"],
        "priority": 0.5,
        "lastModified": "2026-01-02T03:04:05Z",
    });
    let meta = json!({ "example.com/block": true });
    let mut content = json!([
        { "type": "text", "text": "five blocks" },
        { "type": "image", "data": PIXEL, "mimeType": "image/png" },
        { "type": "audio", "data": SILENT_WAV, "mimeType": "audio/wav" },
        {
            "type": "resource_link",
            "uri": "file:///tmp/report.txt",
            "name": "report.txt",
            "title": "The report",
            "description": "A report that is elsewhere.",
            "mimeType": "text/plain",
            "size": 12,
        },
        {
            "type": "resource",
            "resource": { "uri": "file:///tmp/note.txt", "mimeType": "text/plain", "text": "a note" },
        },
    ]);
    let blocks = content.as_array_mut().unwrap();
    for block in blocks.iter_mut() {
        block["annotations"] = annotations.clone();
        block["_meta"] = meta.clone();
    }
    if unknown {
        blocks.push(json!({ "type": "hologram", "depth": 3 }));
    }
    Answer::Result(json!({ "content": content, "_meta": { "example.com/result": 1 } }))
}
