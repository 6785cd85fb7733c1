//! MCP servers on stdin and stdout: one message per line.
//!
//! The main thread reads stdin. Every call gets a thread of its own, so that a server can be asked
//! for other things, and told to cancel, while a tool runs; all threads write under one lock. What
//! goes wrong is decided at one of four places, in the order of a server's life:
//!
//! ```text
//! start             before the first message: exits, delays, floods, children
//! receive           for every message: hang, garbage
//! call              for every tools/call: silence, death, floods
//! send_with_fault   for the answer of a call: wrong id, twice, half
//! ```

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use toolwright_testing::actions::{become_shell, flood_stderr, hang, print_stderr, refuse};
use toolwright_testing::descendants::{self, DescendantKind};

use crate::protocol::{self, IdPosition, Lifecycle, ServerState};
use crate::tools::{self, Caller, ServerAnswer, StopReason};

/// The modes of the table in `main.rs`. A name that is not here is refused, so that a misspelled
/// mode in a test fails instead of testing a good server.
const MODES: &[&str] = &[
    "good",
    "paged",
    "modern",
    "modern-dies",
    "modern-stuck",
    "asks-roots",
    "full",
    "modern-full",
    "hang-start",
    "exit-start",
    "slow-start",
    "garbage",
    "garbage-only",
    "never",
    "flood-err",
    "flood-out",
    "flood-log",
    "huge",
    "huge-first",
    "ignore-term",
    "ignore-term-inner",
    "forks",
    "changing",
    "changing-bad",
    "bad-list",
    "odd-list",
    "contradictory",
    "dies-every-call",
    "close-stdout",
    "close-stdout-start",
    "drain",
    "wrong-id",
    "double",
    "notanobject",
    "die-mid",
];

/// How long running calls may take after the end of stdin. MCP lets a client close stdin, wait, and
/// then send signals; a server should use the pause to end by itself.
const SHUTDOWN_TIME: Duration = Duration::from_millis(500);

/// One server, shared by the main thread and the threads of calls.
struct StdioServer {
    /// Compared as text wherever a fault is: a fault in one mode has no effect on another.
    mode: String,
    state: ServerState,
    /// Held while a message is written, so that messages of two calls do not mix.
    writing: Mutex<()>,
    /// The `subscriptions/listen` requests that are open, of 2026-07-28: id and parameters.
    /// Cancelling one is how a client unsubscribes.
    subscriptions: Mutex<Vec<(Value, Value)>>,
    /// How many calls run on threads of their own; the end waits for them.
    calls: AtomicUsize,
    /// Whether stdin has ended.
    closing: AtomicBool,
    /// Whether it has asked for the roots on its own, which `asks-roots` does once.
    asked_roots: AtomicBool,
}

/// Runs until stdin ends. Bytes are split at line feeds and not decoded, because a line may be
/// invalid UTF-8, and is then answered with -32700 like any other text that is not JSON.
pub(crate) fn serve(mode: &str) {
    if !MODES.contains(&mode) {
        refuse(&format!("there is no mcp mode `{mode}`"));
    }
    let server = Arc::new(StdioServer {
        mode: mode.to_owned(),
        state: ServerState::new(mode),
        writing: Mutex::default(),
        subscriptions: Mutex::default(),
        calls: AtomicUsize::new(0),
        closing: AtomicBool::new(false),
        asked_roots: AtomicBool::new(false),
    });
    server.start();
    for line in std::io::stdin().lock().split(b'\n') {
        match line {
            Ok(line) => server.receive(&line),
            Err(_) => break,
        }
    }
    server.end();
}

impl StdioServer {
    /// The faults before the first message.
    fn start(&self) {
        match self.mode.as_str() {
            "exit-start" => {
                print_stderr("cannot find the database");
                std::process::exit(1);
            }
            "slow-start" => {
                let ms = std::env::var("START_MS").ok().and_then(|ms| ms.parse().ok()).unwrap_or(0);
                std::thread::sleep(Duration::from_millis(ms));
            }
            "garbage" => self.write("this server logs to the wrong place\n"),
            "flood-err" => flood_stderr(50_000_000),
            // Signals that the shell ignores stay ignored in the program it executes.
            "ignore-term" => become_shell(
                r#"trap "" TERM INT HUP; exec "$0" mcp ignore-term-inner"#,
                &[&own_path()],
            ),
            "close-stdout-start" => close_stdout(),
            "forks" => {
                let file =
                    std::env::var("PID_FILE").unwrap_or_else(|_| refuse("`$PID_FILE` is not set"));
                descendants::start(DescendantKind::OwnSession, &file);
            }
            _ => {}
        }
    }

    /// Stdin has ended: lets calls finish for a moment, and exits in the middle of those that do
    /// not.
    fn end(&self) {
        if self.mode == "ignore-term-inner" {
            hang();
        }
        self.closing.store(true, Ordering::SeqCst);
        let deadline = Instant::now() + SHUTDOWN_TIME;
        while self.calls.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::process::exit(0);
    }

    /// One line of the client. An id is not compared with earlier ones: a client that reuses one
    /// gets two answers, which a test can see.
    fn receive(self: &Arc<Self>, line: &[u8]) {
        if matches!(self.mode.as_str(), "hang-start" | "drain") || line.trim_ascii().is_empty() {
            return;
        }
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return self.send_answer(&Value::Null, ServerAnswer::error(-32700, "not JSON"));
        };
        let Some(method) = message["method"].as_str() else {
            tools::append_line("ANSWER_LOG", &message.to_string());
            return self.state.receive_answer(&message);
        };
        match message.get("id") {
            None if method == "notifications/cancelled" => {
                let id = &message["params"]["requestId"];
                // The id names a call or a subscription; each list ignores ids of the other.
                self.subscriptions.lock().unwrap().retain(|(listen, _)| listen != id);
                self.state.cancel("", &message["params"])
            }
            None => {}
            Some(_) if self.mode == "garbage-only" => self.write("I would rather not say\n"),
            Some(id) => self.serve_request(id, method, &message["params"]),
        }
    }

    /// Only calls may block, so all other methods are answered on the thread that reads.
    fn serve_request(self: &Arc<Self>, id: &Value, method: &str, params: &Value) {
        if method == "tools/call" && self.answers_at_once(params) {
            self.call(id, params);
        } else if method == "tools/call" {
            let (server, id, params) = (Arc::clone(self), id.clone(), params.clone());
            self.calls.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                server.call(&id, &params);
                server.calls.fetch_sub(1, Ordering::SeqCst);
            });
        } else if method == "subscriptions/listen" && self.state.lifecycle == Lifecycle::Stateless {
            self.send(&protocol::acknowledge(id, params).to_string());
            self.subscriptions.lock().unwrap().push((id.clone(), params.clone()));
        } else {
            let answer = self.state.answer(id, method, params, &StdioCall { server: self, id });
            self.send_answer(id, answer);
            match self.mode.as_str() {
                "modern-dies" if method == "initialize" => std::process::exit(3),
                "modern-stuck" if method == "initialize" => hang(),
                _ => {}
            }
        }
    }

    /// Whether a call needs no thread of its own. Starting one takes longer than all that a gateway
    /// adds to such a call, and benchmarks measure that.
    fn answers_at_once(&self, params: &Value) -> bool {
        self.mode == "good" && params["name"] == "echo"
    }

    /// Runs on a thread of its own, except in `answers_at_once`. Faults that need no answer come
    /// first.
    fn call(&self, id: &Value, params: &Value) {
        if params["name"] == "touch" {
            self.announce_update(params["arguments"]["uri"].as_str().unwrap_or_default());
            return self.send_answer(id, ServerAnswer::text("touched"));
        }
        match self.mode.as_str() {
            "never" => return,
            "dies-every-call" => {
                print_stderr("this was one call too many");
                std::process::exit(9);
            }
            "close-stdout" => close_stdout(),
            "flood-out" => return self.flood("notifications/unknown"),
            "flood-log" => return self.flood("notifications/message"),
            "flood-err" => flood_stderr(1_000_000),
            _ => {}
        }
        // The two modes write messages of an exact size, which no serializer could do.
        let answer = match (self.mode.as_str(), protocol::size_of_big("tools/call", params)) {
            ("huge", Some(bytes)) => {
                return self.send(&protocol::padded_message(id, bytes, IdPosition::Last));
            }
            ("huge-first", Some(bytes)) => {
                return self.send(&protocol::padded_message(id, bytes, IdPosition::First));
            }
            _ => self.state.answer(id, "tools/call", params, &StdioCall { server: self, id }),
        };
        self.send_with_fault(id, answer);
        // After the answer: a client that waits for the notification has got the answer.
        if self.state.take_change() {
            self.announce_change();
        }
    }

    /// The faults that replace or repeat an answer that was computed as in `good`.
    fn send_with_fault(&self, id: &Value, answer: ServerAnswer) {
        match self.mode.as_str() {
            // In one write, so that the answer cannot be late.
            "asks-roots" if !self.asked_roots.swap(true, Ordering::SeqCst) => {
                let Some(answer) = protocol::message(id, answer) else { return };
                let asked = json!({ "jsonrpc": "2.0", "id": "own", "method": "roots/list" });
                self.send(&format!("{asked}\n{answer}"));
            }
            "wrong-id" => self.send_answer(&other_than(id), answer),
            "notanobject" => self.send_answer(id, ServerAnswer::Result("just a string".into())),
            "double" => {
                let Some(message) = protocol::message(id, answer) else { return };
                self.send(&message.to_string());
                self.send(&message.to_string());
            }
            "die-mid" => {
                let message = protocol::message(id, answer)
                    .map(|message| message.to_string())
                    .unwrap_or_default();
                self.write(&message[..message.len() / 2]);
                std::process::exit(1);
            }
            _ => self.send_answer(id, answer),
        }
    }

    /// To the session, or to every subscription, whatever kinds of changes it asked for.
    fn announce_change(&self) {
        match self.state.lifecycle {
            Lifecycle::Handshake => self.send(&protocol::list_changed(None).to_string()),
            Lifecycle::Stateless => {
                for (id, _) in self.subscriptions.lock().unwrap().iter() {
                    self.send(&protocol::list_changed(Some(id)).to_string());
                }
            }
        }
    }

    /// Notifies a subscriber of a resource.
    fn announce_update(&self, uri: &str) {
        match self.state.lifecycle {
            Lifecycle::Handshake if self.state.is_subscribed(uri) => {
                self.send(&protocol::resource_updated(uri, None).to_string());
            }
            Lifecycle::Handshake => {}
            Lifecycle::Stateless => {
                for (id, params) in self.subscriptions.lock().unwrap().iter() {
                    let uris = params["notifications"]["resourceSubscriptions"].as_array();
                    if uris.is_some_and(|uris| uris.iter().any(|own| own == uri)) {
                        self.send(&protocol::resource_updated(uri, Some(id)).to_string());
                    }
                }
            }
        }
    }

    /// Sends notifications without end.
    ///
    /// Ends when stdin does, or when a write fails because the client has closed the pipe: `write`
    /// exits the process then.
    fn flood(&self, method: &str) {
        for count in 0_u64.. {
            if self.closing.load(Ordering::SeqCst) {
                return;
            }
            let notification = json!({
                "jsonrpc": "2.0",
                "method": method,
                "params": { "level": "info", "logger": "flood", "data": format!("drop {count}") },
            });
            self.send(&notification.to_string());
        }
    }

    /// Sends nothing for a call that was cancelled.
    fn send_answer(&self, id: &Value, answer: ServerAnswer) {
        if let Some(message) = protocol::message(id, answer) {
            self.send(&message.to_string());
        }
    }

    /// One line. `garbage` puts a line before it that is not JSON, as servers do that log to
    /// stdout.
    fn send(&self, message: &str) {
        let prelude = if self.mode == "garbage" { "log line on stdout\n" } else { "" };
        self.write(&format!("{prelude}{message}\n"));
    }

    /// Writes the text as it is; ends the process if stdout is closed.
    fn write(&self, text: &str) {
        let _writing = self.writing.lock().unwrap();
        let mut stdout = std::io::stdout();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        // Nobody reads what this server writes. `ignore-term-inner` lives on, because its test
        // wants a server that only SIGKILL ends.
        if written.is_err() && self.mode != "ignore-term-inner" {
            std::process::exit(0);
        }
    }
}

/// The client of one call. Stdio has one client, so everything goes to the same stdout.
struct StdioCall<'a> {
    server: &'a StdioServer,
    id: &'a Value,
}

impl Caller for StdioCall<'_> {
    fn notify(&self, notification: &Value) {
        self.server.send(&notification.to_string());
    }

    fn ask(&self, requests: &[Value]) -> Vec<Value> {
        self.server.state.ask(requests, |request| self.server.send(&request.to_string()))
    }

    fn stop_reason(&self) -> Option<StopReason> {
        if self.server.state.is_cancelled("", self.id) {
            Some(StopReason::Cancelled)
        // `ignore-term-inner` does not end when stdin does, and neither do its calls.
        } else if self.server.closing.load(Ordering::SeqCst)
            && self.server.mode != "ignore-term-inner"
        {
            Some(StopReason::Shutdown)
        } else {
            None
        }
    }
}

/// Closes stdout by way of a shell, which then runs this program again: Rust needs `unsafe` for it.
///
/// The process stays the same, so its pid and its process group do too.
fn close_stdout() -> ! {
    become_shell(r#"exec 1>&-; exec "$0" mcp drain"#, &[&own_path()])
}

/// The path of this program, for scripts that run it again.
fn own_path() -> String {
    std::env::current_exe().unwrap().to_str().unwrap().to_owned()
}

/// An id that the client did not use.
///
/// A number stays a number: a client that compares ids loosely must not accept it by its type.
fn other_than(id: &Value) -> Value {
    match id {
        Value::Number(id) => json!(id.as_i64().unwrap_or_default() + 1000),
        id => json!(format!("not {id}")),
    }
}
