//! `faulty-server tasks`: an MCP server on stdin and stdout with tasks of revision 2025-11-25.
//!
//! The tools `must` (has to be called as a task), `may`, `plain` (cannot be) and `silent` (cannot
//! be, without saying so). The ids of tasks are `t1`, `t2` and so on in every process. What a task
//! does is in the arguments of its call, in this order:
//!
//! | member | meaning |
//! |---|---|
//! | `late` | answers the call when this file exists |
//! | `id_bytes` | the length of the id of the task |
//! | `early` | sends the first status before the answer to the call |
//! | `status` | texts, each sent as `notifications/tasks/status` |
//! | `progress` | that many progress reports |
//! | `token` | their token, instead of that of the call |
//! | `pad` | the length of their message |
//! | `log` | a log message about the task |
//! | `ask` | asks the person: `true` once `tasks/result` waits, `"early"` at once |
//! | `gate` | waits until this file exists |
//! | `forget` | afterwards the server does not know the task any more |
//! | `error` | ends with this error, and else with |
//! | `result` | this result; by default the arguments and the answer of the person |
//! | `announce` | sends the last status |
//!
//! `crash` ends the process after the answer to the call, which is longer by that many bytes.
//!
//! A call without a task that has `exit` ends the process.
//!
//! Every method that the client sends is appended to the file `$CALL_LOG`. `$OUTPUT` is the member
//! that results must have by the output schema, `echo` by default.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

/// The key of `_meta` by which a message names its task, if its parameters do not.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// The main thread reads; each task has a thread that does its work. `writing` may be taken while
/// `tasks` is held, never the other way round; `answers` is always taken alone.
#[derive(Default)]
struct TaskServer {
    /// By id; tasks stay here after their end, and `forget` only marks them. Ordered, so that
    /// `tasks/list` is the same in every run.
    tasks: Mutex<BTreeMap<String, Task>>,
    /// The answers of the client, by the ids of the questions.
    answers: Mutex<BTreeMap<String, Value>>,
    /// Held while a line is written, so that messages of two tasks do not mix.
    writing: Mutex<()>,
}

/// A task as the specification has it: `working` → `input_required` → `working` → a terminal
/// status.
#[derive(Clone)]
struct Task {
    /// One of MCP's, or `forgotten`: requests about such a task are answered as if it never
    /// existed.
    status: &'static str,
    message: String,
    /// What the client asked for, sent back as it was; nothing here expires.
    ttl: Value,
    /// The outcome as members of a response, `result` or `error`. Set once, with a terminal status.
    outcome: Option<Value>,
    /// The ids of `tasks/result` requests that came before the end. MCP has them wait for it.
    waiting: Vec<Value>,
}

pub(crate) fn serve() {
    let server = Arc::new(TaskServer::default());
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        server.receive(&message);
    }
}

fn related(id: &str) -> Value {
    json!({ (RELATED): { "taskId": id } })
}

impl TaskServer {
    fn tasks(&self) -> MutexGuard<'_, BTreeMap<String, Task>> {
        self.tasks.lock().unwrap()
    }

    fn send(&self, message: &Value) {
        let _writing = self.writing.lock().unwrap();
        let mut stdout = std::io::stdout().lock();
        if writeln!(stdout, "{message}").and_then(|()| stdout.flush()).is_err() {
            std::process::exit(0);
        }
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Answers a request with `{"result": …}` or `{"error": …}`.
    fn answer(&self, id: &Value, mut outcome: Value) {
        outcome["jsonrpc"] = "2.0".into();
        outcome["id"] = id.clone();
        self.send(&outcome);
    }

    /// One message of the client, on the main thread. Nothing here waits: a call with `late` gets a
    /// thread, and a `tasks/result` that is too early is put down in `Task::waiting`.
    fn receive(self: &Arc<Self>, message: &Value) {
        let Some(method) = message["method"].as_str() else {
            let id = message["id"].as_str().unwrap_or_default().to_owned();
            self.answers.lock().unwrap().insert(id, message.clone());
            return;
        };
        if let Ok(file) = std::env::var("CALL_LOG") {
            let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
            let _ = writeln!(open.unwrap(), "{method}");
        }
        let Some(id) = message.get("id") else { return };
        let params = &message["params"];
        match method {
            "initialize" => {
                let tasks =
                    json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
                let result = json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": { "tools": {}, "tasks": tasks },
                    "serverInfo": { "name": "tasks", "version": "1" },
                });
                self.answer(id, json!({ "result": result }));
            }
            "tools/list" => self.answer(id, json!({ "result": { "tools": tools() } })),
            "tools/call" if params["arguments"]["late"].is_string() => {
                let (server, id, params) = (Arc::clone(self), id.clone(), params.clone());
                std::thread::spawn(move || {
                    let gate = params["arguments"]["late"].as_str().unwrap_or_default();
                    server.wait(|| Path::new(gate).exists());
                    server.call(&id, &params);
                });
            }
            "tools/call" => self.call(id, params),
            "tasks/get" | "tasks/result" | "tasks/cancel" => self.task_request(method, id, params),
            "tasks/list" => {
                let tasks = self.tasks();
                let list: Vec<_> = tasks.iter().map(|(id, task)| task.to_json(id)).collect();
                self.answer(id, json!({ "result": { "tasks": list } }));
            }
            _ => self.answer(id, json!({ "error": { "code": -32601, "message": method } })),
        }
    }

    /// `tools/call`. Without `task` in its parameters it is an ordinary call; a tool whose
    /// `taskSupport` is `required` or `forbidden` refuses the wrong kind with -32601, as MCP
    /// demands.
    ///
    /// `early` sends a status of the task before the answer that names its id to the client,
    /// `crash` ends the process right after that answer: both are races that a client meets in
    /// practice, made certain.
    fn call(self: &Arc<Self>, id: &Value, params: &Value) {
        let (name, arguments) = (&params["name"], &params["arguments"]);
        let Some(task) = params.get("task") else {
            if arguments["exit"] == true {
                std::process::exit(0);
            }
            return match name.as_str() {
                Some("must") => {
                    let error = json!({ "code": -32601, "message": "`must` requires a task" });
                    self.answer(id, json!({ "error": error }));
                }
                _ => self.answer(id, json!({ "result": result_of(arguments, &Value::Null) })),
            };
        };
        if name == "plain" || name == "silent" {
            let error = json!({ "code": -32601, "message": format!("{name} cannot be a task") });
            return self.answer(id, json!({ "error": error }));
        }
        // The lock ends with this block: what follows sends, and `run` takes the lock again.
        let own = {
            let mut tasks = self.tasks();
            let mut own = format!("t{}", tasks.len() + 1);
            if let Some(bytes) = arguments["id_bytes"].as_u64() {
                own = format!("{own:t<0$}", bytes as usize);
            }
            let (message, ttl) = ("begun".to_owned(), task["ttl"].clone());
            let waiting = Vec::new();
            let task = Task { status: "working", message, ttl, outcome: None, waiting };
            tasks.insert(own.clone(), task);
            own
        };
        let created = self.tasks()[&own].to_json(&own);
        if arguments["early"] == true {
            self.notify("notifications/tasks/status", created.clone());
        }
        let mut meta = json!({ "io.modelcontextprotocol/model-immediate-response": "wait" });
        if let Some(bytes) = arguments["crash"].as_u64() {
            meta["pad"] = "p".repeat(bytes as usize).into();
        }
        self.answer(id, json!({ "result": { "task": created, "_meta": meta } }));
        if arguments.get("crash").is_some() {
            std::process::exit(0);
        }
        let (server, arguments) = (Arc::clone(self), arguments.clone());
        let token = params["_meta"]["progressToken"].clone();
        std::thread::spawn(move || server.run(&own, &arguments, &token));
    }

    /// The work of a task, on a thread of its own, in the order of the table above.
    fn run(&self, id: &str, arguments: &Value, token: &Value) {
        for text in arguments["status"].as_array().into_iter().flatten() {
            text.as_str().unwrap_or_default().clone_into(&mut self.task(id).message);
            let status = self.tasks()[id].to_json(id);
            self.notify("notifications/tasks/status", status);
        }
        for n in 1..=arguments["progress"].as_u64().unwrap_or(0) {
            let token = arguments.get("token").unwrap_or(token);
            let mut report = json!({ "progressToken": token, "progress": n, "_meta": related(id) });
            if let Some(bytes) = arguments["pad"].as_u64() {
                report["message"] = "m".repeat(bytes as usize).into();
            }
            self.notify("notifications/progress", report);
        }
        if arguments.get("log").is_some() {
            self.notify(
                "notifications/message",
                json!({ "level": "error", "data": arguments["log"], "_meta": related(id) }),
            );
        }
        let answer = match &arguments["ask"] {
            Value::Null => Value::Null,
            when => self.ask(id, when == "early"),
        };
        if let Some(gate) = arguments["gate"].as_str() {
            self.wait(|| Path::new(gate).exists() || self.task(id).status == "cancelled");
        }
        let outcome = match arguments.get("error") {
            Some(error) => json!({ "error": error }),
            None => {
                let mut result = result_of(arguments, &answer);
                result["_meta"] = related(id);
                json!({ "result": result })
            }
        };
        let status = if outcome.get("error").is_some() { "failed" } else { "completed" };
        self.end(id, status, outcome);
        if arguments["announce"] == true {
            let status = self.tasks()[id].to_json(id);
            self.notify("notifications/tasks/status", status);
        }
        if arguments["forget"] == true {
            self.task(id).status = "forgotten";
        }
    }

    /// Asks the person, when the client waits for the result or at once.
    ///
    /// A question goes out only when the client waits in `tasks/result`, where MCP has it
    /// delivered; `is_early` breaks that rule.
    fn ask(&self, id: &str, is_early: bool) -> Value {
        self.task(id).status = "input_required";
        self.wait(|| is_early || !self.task(id).waiting.is_empty());
        let question = format!("question of {id}");
        let params = json!({ "message": "sure?", "requestedSchema": { "type": "object" }, "_meta": related(id) });
        self.send(&json!({
            "jsonrpc": "2.0", "id": question, "method": "elicitation/create", "params": params,
        }));
        self.wait(|| self.answers.lock().unwrap().contains_key(&question));
        self.task(id).status = "working";
        self.answers.lock().unwrap()[&question].clone()
    }

    /// Polls every 2 ms: what is waited for are files and members of tasks, which notify nobody.
    fn wait(&self, is_over: impl Fn() -> bool) {
        while !is_over() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sets the outcome and answers all who wait. A task that has ended keeps its first outcome, so
    /// a cancellation and the end of the work may come in any order.
    fn end(&self, id: &str, status: &'static str, outcome: Value) {
        let waiting = {
            let mut task = self.task(id);
            if task.outcome.is_some() {
                return;
            }
            task.status = status;
            task.outcome = Some(outcome.clone());
            std::mem::take(&mut task.waiting)
        };
        for request in waiting {
            self.answer(&request, outcome.clone());
        }
    }

    /// `tasks/get`, `tasks/cancel` and `tasks/result`.
    fn task_request(&self, method: &str, id: &Value, params: &Value) {
        let own = params["taskId"].as_str().unwrap_or_default();
        let known = self.tasks().get(own).filter(|task| task.status != "forgotten").cloned();
        let Some(task) = known else {
            let error = json!({ "code": -32602, "message": "there is no such task" });
            return self.answer(id, json!({ "error": error }));
        };
        match method {
            "tasks/get" => self.answer(id, json!({ "result": task.to_json(own) })),
            "tasks/cancel" => {
                let error = json!({ "code": -32000, "message": "the task was cancelled" });
                self.end(own, "cancelled", json!({ "error": error }));
                let task = self.tasks()[own].to_json(own);
                self.answer(id, json!({ "result": task }));
            }
            _ => {
                // One lock for both: if the task ended between the look and the entry, `end` would
                // not see the entry.
                let outcome = {
                    let mut task = self.task(own);
                    if task.outcome.is_none() {
                        task.waiting.push(id.clone());
                    }
                    task.outcome.clone()
                };
                if let Some(outcome) = outcome {
                    self.answer(id, outcome);
                }
            }
        }
    }

    /// A task that exists, with the lock on all tasks; do not hold it across `tasks` or `task`,
    /// which lock again.
    fn task(&self, id: &str) -> impl std::ops::DerefMut<Target = Task> + '_ {
        struct Locked<'t>(MutexGuard<'t, BTreeMap<String, Task>>, String);
        impl std::ops::Deref for Locked<'_> {
            type Target = Task;
            fn deref(&self) -> &Task {
                &self.0[&self.1]
            }
        }
        impl std::ops::DerefMut for Locked<'_> {
            fn deref_mut(&mut self) -> &mut Task {
                self.0.get_mut(&self.1).unwrap()
            }
        }
        Locked(self.tasks(), id.to_owned())
    }
}

impl Task {
    fn to_json(&self, id: &str) -> Value {
        json!({
            "taskId": id, "status": self.status, "statusMessage": self.message,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
            "ttl": self.ttl, "pollInterval": 10,
        })
    }
}

/// `answer` is the response to the question of the task, `null` if it asked none.
fn result_of(arguments: &Value, answer: &Value) -> Value {
    if let Some(result) = arguments.get("result") {
        return result.clone();
    }
    let structured = json!({ "echo": arguments, "answer": answer["result"] });
    json!({ "content": [{ "type": "text", "text": "done" }], "structuredContent": structured })
}

/// `silent` has no member `execution`, which MCP reads as `forbidden`.
fn tools() -> Value {
    let input = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let member = std::env::var("OUTPUT").unwrap_or_else(|_| "echo".to_owned());
    let output = json!({ "type": "object", "required": [member] });
    let tool = |name: &str, support: &str| {
        json!({
            "name": name, "description": "Runs a task.", "inputSchema": input,
            "outputSchema": output, "execution": { "taskSupport": support },
        })
    };
    let mut silent = tool("silent", "");
    silent.as_object_mut().unwrap().remove("execution");
    json!([tool("must", "required"), tool("may", "optional"), tool("plain", "forbidden"), silent])
}
