//! MCP servers on stdin and stdout: a message a line.

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::{self, Core, IdPlace, Lifecycle};
use crate::offspring::{self, Descent};
use crate::tools::{Answer, Caller, CutOff};
use crate::{become_shell, complain, flood_stderr, hang, myself, refuse};

const MODES: &[&str] = &[
    "good",
    "paged",
    "modern",
    "hang-start",
    "exit-start",
    "slow-start",
    "garbage",
    "garbage-only",
    "never",
    "flood-err",
    "flood-out",
    "huge",
    "huge-first",
    "ignore-term",
    "ignore-term-inner",
    "forks",
    "changing",
    "changing-bad",
    "bad-list",
    "dies-every-call",
    "close-stdout",
    "close-stdout-start",
    "drain",
    "wrong-id",
    "double",
    "notanobject",
    "die-mid",
];

/// How long calls that are nearly done may take after the end of stdin.
const LAST_WORDS: Duration = Duration::from_millis(500);

struct Server {
    mode: String,
    core: Core,
    /// Held for the length of a message.
    turn: Mutex<()>,
    /// Ids of `subscriptions/listen`.
    subscriptions: Mutex<Vec<Value>>,
    calls: AtomicUsize,
    closing: AtomicBool,
}

pub(crate) fn serve(mode: &str) {
    if !MODES.contains(&mode) {
        refuse(&format!("there is no mcp mode `{mode}`"));
    }
    let server = Arc::new(Server {
        mode: mode.to_owned(),
        core: Core::new(mode),
        turn: Mutex::default(),
        subscriptions: Mutex::default(),
        calls: AtomicUsize::new(0),
        closing: AtomicBool::new(false),
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

impl Server {
    /// What goes wrong before the first message.
    fn start(&self) {
        match self.mode.as_str() {
            "exit-start" => {
                complain("cannot find the database");
                std::process::exit(1);
            }
            "slow-start" => {
                let ms = std::env::var("START_MS").ok().and_then(|ms| ms.parse().ok()).unwrap_or(0);
                std::thread::sleep(Duration::from_millis(ms));
            }
            "garbage" => self.write("this server logs to the wrong place\n"),
            "flood-err" => flood_stderr(50_000_000),
            // An ignored signal stays ignored in the program that takes over.
            "ignore-term" => become_shell(
                r#"trap "" TERM INT HUP; exec "$0" mcp ignore-term-inner"#,
                &[&myself()],
            ),
            "close-stdout-start" => close_stdout(),
            "forks" => {
                let file =
                    std::env::var("PID_FILE").unwrap_or_else(|_| refuse("`$PID_FILE` is not set"));
                offspring::start(Descent::OwnSession, &file);
            }
            _ => {}
        }
    }

    fn end(&self) {
        if self.mode == "ignore-term-inner" {
            hang();
        }
        self.closing.store(true, Ordering::SeqCst);
        let deadline = Instant::now() + LAST_WORDS;
        while self.calls.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::process::exit(0);
    }

    fn receive(self: &Arc<Self>, line: &[u8]) {
        if matches!(self.mode.as_str(), "hang-start" | "drain") || line.trim_ascii().is_empty() {
            return;
        }
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return self.send_answer(&Value::Null, Answer::error(-32700, "not JSON"));
        };
        let Some(method) = message["method"].as_str() else { return };
        match message.get("id") {
            None if method == "notifications/cancelled" => self.core.cancel("", &message["params"]),
            None => {}
            Some(_) if self.mode == "garbage-only" => self.write("I would rather not say\n"),
            Some(id) => self.serve_request(id, method, &message["params"]),
        }
    }

    fn serve_request(self: &Arc<Self>, id: &Value, method: &str, params: &Value) {
        if method == "tools/call" {
            let (server, id, params) = (Arc::clone(self), id.clone(), params.clone());
            self.calls.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                server.call(&id, &params);
                server.calls.fetch_sub(1, Ordering::SeqCst);
            });
        } else if method == "subscriptions/listen" && self.core.lifecycle == Lifecycle::Stateless {
            self.send(&mcp::acknowledge(id, params).to_string());
            self.subscriptions.lock().unwrap().push(id.clone());
        } else {
            let answer = self.core.answer(id, method, params, &Call { server: self, id });
            self.send_answer(id, answer);
        }
    }

    fn call(&self, id: &Value, params: &Value) {
        match self.mode.as_str() {
            "never" => return,
            "dies-every-call" => {
                complain("this was one call too many");
                std::process::exit(9);
            }
            "close-stdout" => close_stdout(),
            "flood-out" => return self.flood(),
            "flood-err" => flood_stderr(1_000_000),
            _ => {}
        }
        let answer = match (self.mode.as_str(), mcp::bytes_of_big("tools/call", params)) {
            ("huge", Some(bytes)) => {
                return self.send(&mcp::padded_message(id, bytes, IdPlace::Last));
            }
            ("huge-first", Some(bytes)) => {
                return self.send(&mcp::padded_message(id, bytes, IdPlace::First));
            }
            _ => self.core.answer(id, "tools/call", params, &Call { server: self, id }),
        };
        self.send_spoilt(id, answer);
        if self.core.has_news() {
            self.tell_news();
        }
    }

    fn send_spoilt(&self, id: &Value, answer: Answer) {
        match self.mode.as_str() {
            "wrong-id" => self.send_answer(&other_than(id), answer),
            "notanobject" => self.send_answer(id, Answer::Result("just a string".into())),
            "double" => {
                let Some(message) = mcp::message(id, answer) else { return };
                self.send(&message.to_string());
                self.send(&message.to_string());
            }
            "die-mid" => {
                let message =
                    mcp::message(id, answer).map(|message| message.to_string()).unwrap_or_default();
                self.write(&message[..message.len() / 2]);
                std::process::exit(1);
            }
            _ => self.send_answer(id, answer),
        }
    }

    fn tell_news(&self) {
        match self.core.lifecycle {
            Lifecycle::Handshake => self.send(&mcp::list_changed(None).to_string()),
            Lifecycle::Stateless => {
                for id in self.subscriptions.lock().unwrap().iter() {
                    self.send(&mcp::list_changed(Some(id)).to_string());
                }
            }
        }
    }

    fn flood(&self) {
        for count in 0_u64.. {
            if self.closing.load(Ordering::SeqCst) {
                return;
            }
            self.send(
                &json!({
                    "jsonrpc": "2.0",
                    "method": "notifications/message",
                    "params": { "level": "info", "logger": "flood", "data": format!("drop {count}") },
                })
                .to_string(),
            );
        }
    }

    fn send_answer(&self, id: &Value, answer: Answer) {
        if let Some(message) = mcp::message(id, answer) {
            self.send(&message.to_string());
        }
    }

    fn send(&self, message: &str) {
        let prelude = if self.mode == "garbage" { "log line on stdout\n" } else { "" };
        self.write(&format!("{prelude}{message}\n"));
    }

    /// Writes as it is, and ends the process when nobody is there to read.
    fn write(&self, text: &str) {
        let _turn = self.turn.lock().unwrap();
        let mut stdout = std::io::stdout();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        if written.is_err() && self.mode != "ignore-term-inner" {
            std::process::exit(0);
        }
    }
}

struct Call<'a> {
    server: &'a Server,
    id: &'a Value,
}

impl Caller for Call<'_> {
    fn notify(&self, notification: &Value) {
        self.server.send(&notification.to_string());
    }

    fn cut_off(&self) -> Option<CutOff> {
        if self.server.core.is_cancelled("", self.id) {
            Some(CutOff::Cancelled)
        } else if self.server.closing.load(Ordering::SeqCst)
            && self.server.mode != "ignore-term-inner"
        {
            Some(CutOff::Closing)
        } else {
            None
        }
    }
}

/// Only a shell can close a descriptor without `unsafe`; it hands over to us again.
fn close_stdout() -> ! {
    become_shell(r#"exec 1>&-; exec "$0" mcp drain"#, &[&myself()])
}

fn other_than(id: &Value) -> Value {
    match id {
        Value::Number(id) => json!(id.as_i64().unwrap_or_default() + 1000),
        id => json!(format!("not {id}")),
    }
}
