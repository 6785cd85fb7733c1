//! The tools of the servers, independent of the transport. A tool gets the arguments of a call and
//! its `Caller`, and returns a `ServerAnswer`, or never.
//!
//! Tools that take time poll `Caller::stop_reason`, so one of them can be cancelled, and its thread
//! ends soon after the client has gone. Each call is on record in `$CALL_LOG` before it runs: a
//! test that counts lines there knows how often a client really called, retries included. (The
//! tools of `protocol` and `odd_list` are not on record.)

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use toolwright_testing::actions::{environment, print_stderr, sum};

/// The answer to a request, without its envelope: `protocol::message` adds id and version. A tool
/// that failed answers with a `Result` too, because MCP puts `isError` into the result; `Error` is
/// a failure of the protocol.
pub(crate) enum ServerAnswer {
    Result(Value),
    Error {
        code: i64,
        message: String,
        data: Option<Value>,
    },
    /// No message at all: the client cancelled the request, or the server is shutting down. MCP
    /// wants no response to a cancelled request.
    Nothing,
}

impl ServerAnswer {
    pub(crate) fn error(code: i64, message: impl Into<String>) -> Self {
        Self::Error { code, message: message.into(), data: None }
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Result(json!({ "content": [{ "type": "text", "text": text.into() }] }))
    }

    /// A structured result with the same content as text, as MCP advises for older clients.
    fn structured(content: Value) -> Self {
        Self::Result(json!({
            "content": [{ "type": "text", "text": content.to_string() }],
            "structuredContent": content,
        }))
    }
}

/// Why a call stops early. Only a cancellation is recorded in `$CANCEL_LOG`, so that a test can
/// tell it from the end of the server.
pub(crate) enum StopReason {
    Cancelled,
    Shutdown,
}

/// The client of a call, as the tool sees it.
///
/// Each transport implements it: on stdio everything goes to stdout, over HTTP to the event stream
/// that answers the request.
pub(crate) trait Caller {
    /// Sends a notification, if the transport can.
    ///
    /// Over HTTP a call that is answered with one JSON body cannot, and drops it.
    fn notify(&self, notification: &Value);
    /// Whether the call must stop, and why.
    ///
    /// Polled every 5 ms by tools that wait.
    fn stop_reason(&self) -> Option<StopReason>;
    /// Sends requests to the client all at once, and waits for the answers.
    ///
    /// `null` stands for an answer that did not come in time.
    fn ask(&self, requests: &[Value]) -> Vec<Value>;
}

/// 128 characters, the longest name MCP recommends: `long_name.long_name.…`.
pub(crate) fn long_name() -> String {
    "long_name.".repeat(13)[..128].to_owned()
}

/// The tools that most modes list. `lie` declares an output schema that its results break; `exit`
/// is the only one with `destructiveHint`.
pub(crate) fn definitions() -> Vec<Value> {
    let anything = || json!({ "type": "object" });
    let milliseconds = || json!({ "type": "integer", "minimum": 0 });
    let sum_schema = || {
        let properties = json!({ "sum": { "type": "number" } });
        json!({ "type": "object", "properties": properties, "required": ["sum"] })
    };
    let mut add = definition(
        "add",
        "Adds two numbers.",
        json!({
            "type": "object",
            "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
            "required": ["a", "b"],
        }),
    );
    add["outputSchema"] = sum_schema();
    let mut lie = definition("lie", "Promises a number and returns a string.", anything());
    lie["outputSchema"] = sum_schema();
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
            "Reports its progress step by step, then answers.",
            json!({
                "type": "object",
                "properties": {
                    "steps": { "type": "integer", "minimum": 0 },
                    "ms": milliseconds(),
                },
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

/// A tool with every optional field that MCP defines, and an `_meta` of its own. What a client or a
/// gateway loses on the way shows by comparison with this one.
pub(crate) fn echo_definition() -> Value {
    let mut echo = definition("echo", "Answers what it was given.", json!({ "type": "object" }));
    echo["icons"] = json!([
        {
            "src": "https://example.com/echo.png",
            "mimeType": "image/png",
            "sizes": ["48x48"],
            "theme": "light",
        },
        {
            "src": "data:image/svg+xml;base64,PHN2Zy8+",
            "mimeType": "image/svg+xml",
            "sizes": ["any"],
        },
    ]);
    echo["_meta"] = json!({ "example.com/origin": "faulty-server", "example.com/weight": 3 });
    echo
}

/// Every annotation has the value that is not its default in MCP, so that a lost one shows.
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
///
/// `id` is used for the log of cancellations only.
pub(crate) fn call(id: &Value, params: &Value, caller: &dyn Caller) -> ServerAnswer {
    let name = params["name"].as_str().unwrap_or_default();
    append_line("CALL_LOG", name);
    let no_arguments = json!({});
    let arguments = params.get("arguments").unwrap_or(&no_arguments);
    match name {
        "echo" | "dotted.name" | "added" => echo(arguments),
        "add" => ServerAnswer::structured(json!({ "sum": sum(&arguments["a"], &arguments["b"]) })),
        "sleep" => sleep(id, number(arguments, "ms"), caller),
        "progress" => progress(id, arguments, &params["_meta"]["progressToken"], caller),
        "big" => ServerAnswer::text("x".repeat(number(arguments, "bytes") as usize)),
        "fail" => ServerAnswer::Result(
            json!({ "content": [{ "type": "text", "text": "it broke" }], "isError": true }),
        ),
        "rpc-error" => ServerAnswer::error(-32050, "upstream says no"),
        "lie" => ServerAnswer::structured(json!({ "sum": "x" })),
        "env" => ServerAnswer::structured(json!({ "env": environment() })),
        "pid" => ServerAnswer::structured(json!({ "pid": std::process::id() })),
        "exit" => {
            print_stderr("about to fall over");
            std::process::exit(7);
        }
        "image" => image(arguments["unknown"] == true),
        // Not in the list, because only tests of the protocol call them.
        "ask" if params["_meta"].get(crate::protocol::META_VERSION).is_some() => {
            input_required(params, arguments)
        }
        "ask" => ask(arguments, caller),
        "log" => {
            let params = json!({ "level": "info", "data": arguments["data"] });
            caller.notify(
                &json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params }),
            );
            ServerAnswer::text("logged")
        }
        // What a careless server does with its key: a client must not show it to a model.
        "leak" => ServerAnswer::Error {
            code: -32051,
            message: format!("bad key {}", std::env::var("API_KEY").unwrap_or_default()),
            data: Some(json!({ "key": std::env::var("API_KEY").unwrap_or_default() })),
        },
        // A task in a mode that has none, with a member that no revision knows.
        "task" => ServerAnswer::Result(json!({
            "resultType": "task",
            "task": { "taskId": "t1", "status": "working" },
            "future": [1, 2],
        })),
        // Its size counts against the limit of media, and not against that of text.
        "media" => {
            let data = "A".repeat(number(arguments, "bytes") as usize);
            let image = json!({ "type": "image", "mimeType": "image/png", "data": data });
            ServerAnswer::Result(json!({ "content": [image] }))
        }
        _ if name == long_name() => echo(arguments),
        _ => ServerAnswer::error(-32602, format!("unknown tool `{name}`")),
    }
}

/// Asks the client `times` questions at once, and answers what it answered.
///
/// `arguments` has the request in `method` and `params`: the test decides what is asked,
/// `sampling`, `elicitation` or `roots`, and what is wrong with it.
///
/// `times` requests go out together, which tests the limit of open questions.
fn ask(arguments: &Value, caller: &dyn Caller) -> ServerAnswer {
    let times = arguments["times"].as_u64().unwrap_or(1);
    let request = json!({ "method": arguments["method"], "params": arguments["params"] });
    let answers = caller.ask(&vec![request; times as usize]);
    ServerAnswer::structured(json!({ "answers": answers }))
}

/// The same for 2026-07-28, where a server cannot send requests: a result of type `input_required`
/// has the questions, and the client repeats the call with the answers and with `requestState` as
/// it got it. With `endless`, every round asks again, and the client has to give up.
fn input_required(params: &Value, arguments: &Value) -> ServerAnswer {
    match params.get("inputResponses") {
        Some(responses) if arguments["endless"] != true => ServerAnswer::structured(
            json!({ "responses": responses, "state": params["requestState"] }),
        ),
        _ => {
            let question = json!({ "method": arguments["method"], "params": arguments["params"] });
            ServerAnswer::Result(json!({
                "resultType": "input_required",
                "inputRequests": { "first": question, "second": question },
                "requestState": "opaque",
            }))
        }
    }
}

/// 0 if it is missing: these servers do not validate arguments.
fn number(arguments: &Value, name: &str) -> u64 {
    arguments[name].as_u64().unwrap_or_default()
}

/// Text and structured content, so that a test sees what happens to each of them.
fn echo(arguments: &Value) -> ServerAnswer {
    ServerAnswer::Result(json!({
        "content": [{ "type": "text", "text": arguments.to_string() }],
        "structuredContent": { "echo": arguments },
    }))
}

/// The usual tool for tests of time limits and of cancellation.
fn sleep(id: &Value, ms: u64, caller: &dyn Caller) -> ServerAnswer {
    match pause(id, ms, caller) {
        Ok(()) => ServerAnswer::structured(json!({ "slept": ms })),
        Err(nothing) => nothing,
    }
}

/// Sends no reports if the caller gave no token: MCP allows them only with one.
fn progress(id: &Value, arguments: &Value, token: &Value, caller: &dyn Caller) -> ServerAnswer {
    let (steps, ms) = (number(arguments, "steps"), number(arguments, "ms"));
    for step in 1..=steps {
        if let Err(nothing) = pause(id, ms, caller) {
            return nothing;
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
    ServerAnswer::structured(json!({ "steps": steps }))
}

/// Waits for `ms`, or until the call has to stop: then with the answer of the call.
fn pause(id: &Value, ms: u64, caller: &dyn Caller) -> Result<(), ServerAnswer> {
    let end = Instant::now() + Duration::from_millis(ms);
    loop {
        match caller.stop_reason() {
            Some(StopReason::Cancelled) => {
                log_cancelled(id);
                return Err(ServerAnswer::Nothing);
            }
            Some(StopReason::Shutdown) => return Err(ServerAnswer::Nothing),
            None => {}
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(Duration::from_millis(5)));
    }
}

/// Writes `cancelled ID` to stderr and to the file `$CANCEL_LOG`.
fn log_cancelled(id: &Value) {
    let line = match id {
        Value::String(id) => format!("cancelled {id}"),
        id => format!("cancelled {id}"),
    };
    print_stderr(&line);
    append_line("CANCEL_LOG", &line);
}

/// Appends a line to the file that the environment variable names, if it is set.
pub(crate) fn append_line(variable: &str, line: &str) {
    let Some(path) = std::env::var_os(variable) else { return };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// One content block of each type that MCP defines, each with annotations and `_meta`; with
/// `unknown` also one whose type no revision defines, which a gateway has to pass on as it is.
fn image(unknown: bool) -> ServerAnswer {
    const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYA\
        AjCB0C8AAAAASUVORK5CYII=";
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
            "resource": {
                "uri": "file:///tmp/note.txt",
                "mimeType": "text/plain",
                "text": "a note",
            },
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
    ServerAnswer::Result(json!({ "content": content, "_meta": { "example.com/result": 1 } }))
}
