//! What an MCP server answers, whatever carries the messages: the lifecycle, the list of tools, and
//! the call. How an answer is spoilt on its way out is the business of [`crate::stdio`] and
//! [`crate::http`].

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::tools::{self, Answer, Caller};

pub(crate) const MODERN: &str = "2026-07-28";
const HANDSHAKE_VERSIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What a request of 2026-07-28 must bring along.
const META_REQUIRED: &[&str] = &[META_VERSION, "io.modelcontextprotocol/clientCapabilities"];
const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Lifecycle {
    /// `initialize` first, everything up to 2025-11-25.
    Handshake,
    /// Every request stands for itself, 2026-07-28.
    Stateless,
}

pub(crate) struct Core {
    mode: String,
    pub(crate) lifecycle: Lifecycle,
    /// `added` is in the list.
    changed: AtomicBool,
    /// The list has changed and nobody has been told yet.
    untold: AtomicBool,
    /// `session/id` of requests the client has given up.
    cancelled: Mutex<HashSet<String>>,
}

impl Core {
    pub(crate) fn new(mode: &str) -> Self {
        let lifecycle = if mode == "modern" { Lifecycle::Stateless } else { Lifecycle::Handshake };
        Self {
            mode: mode.to_owned(),
            lifecycle,
            changed: AtomicBool::new(false),
            untold: AtomicBool::new(false),
            cancelled: Mutex::default(),
        }
    }

    /// Answers any request.
    pub(crate) fn answer(
        &self,
        id: &Value,
        method: &str,
        params: &Value,
        caller: &dyn Caller,
    ) -> Answer {
        if self.lifecycle == Lifecycle::Stateless
            && method != "initialize"
            && let Err(refusal) = check_meta(&params["_meta"])
        {
            return refusal;
        }
        let answer = match (self.lifecycle, method) {
            (Lifecycle::Handshake, "initialize") => Answer::Result(initialize(params)),
            (Lifecycle::Handshake, "ping") => Answer::Result(json!({})),
            (Lifecycle::Stateless, "server/discover") => Answer::Result(discover()),
            (_, "tools/list") => self.list(&params["cursor"]),
            (_, "tools/call") => self.call(id, params, caller),
            _ => Answer::error(-32601, format!("there is no method `{method}`")),
        };
        match (self.lifecycle, answer) {
            (Lifecycle::Stateless, Answer::Result(mut result)) => {
                result["resultType"] = "complete".into();
                Answer::Result(result)
            }
            (_, answer) => answer,
        }
    }

    fn call(&self, id: &Value, params: &Value, caller: &dyn Caller) -> Answer {
        let name = &params["name"];
        let changes = match self.mode.as_str() {
            "changing" | "changing-bad" => name == "echo",
            _ => self.can_be_told_to_change() && name == "change",
        };
        if changes && !self.changed.swap(true, Ordering::SeqCst) {
            self.untold.store(true, Ordering::SeqCst);
        }
        if changes && name == "change" {
            return Answer::Result(json!({ "content": [{ "type": "text", "text": "changed" }] }));
        }
        tools::call(id, params, caller)
    }

    fn can_be_told_to_change(&self) -> bool {
        matches!(self.mode.as_str(), "sse" | "modern")
    }

    /// True once after the list has changed: the time to tell the client.
    pub(crate) fn has_news(&self) -> bool {
        self.untold.swap(false, Ordering::SeqCst)
    }

    fn list(&self, cursor: &Value) -> Answer {
        let tools = self.tools();
        if self.mode == "paged" {
            return page(&tools, cursor);
        }
        let mut result = json!({ "tools": tools });
        if self.lifecycle == Lifecycle::Stateless {
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "private".into();
        }
        Answer::Result(result)
    }

    fn tools(&self) -> Vec<Value> {
        if self.mode == "bad-list" {
            return bad_list();
        }
        let mut tools = tools::definitions();
        let anything = || json!({ "type": "object" });
        if self.can_be_told_to_change() {
            tools.push(tools::definition("change", "Adds a tool to the list.", anything()));
        }
        if self.changed.load(Ordering::SeqCst) {
            tools.push(tools::definition("added", "Was added later.", anything()));
            if self.mode == "changing-bad" {
                tools.push(tools::definition(
                    "bad_type",
                    "Has a bad schema.",
                    json!({ "type": 12 }),
                ));
                tools.push(json!({ "name": "no_schema", "description": "Has no schema at all." }));
                tools.push(tools::definition("echo", "Has a name that is taken.", anything()));
            }
        }
        tools
    }

    pub(crate) fn cancel(&self, session: &str, params: &Value) {
        self.cancelled.lock().unwrap().insert(format!("{session}/{}", params["requestId"]));
    }

    pub(crate) fn is_cancelled(&self, session: &str, id: &Value) -> bool {
        self.cancelled.lock().unwrap().contains(&format!("{session}/{id}"))
    }
}

/// The message that carries an answer; none for silence.
pub(crate) fn message(id: &Value, answer: Answer) -> Option<Value> {
    match answer {
        Answer::Result(result) => Some(json!({ "jsonrpc": "2.0", "id": id, "result": result })),
        Answer::Error { code, message, data } => {
            let mut error = json!({ "code": code, "message": message });
            if let Some(data) = data {
                error["data"] = data;
            }
            Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
        }
        Answer::Silence => None,
    }
}

/// `tools/list_changed`, for a subscription of 2026-07-28 or for a session before that.
pub(crate) fn list_changed(subscription: Option<&Value>) -> Value {
    let mut notification =
        json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    if let Some(id) = subscription {
        notification["params"] = json!({ "_meta": { META_SUBSCRIPTION: id } });
    }
    notification
}

/// Accepts what we can tell of the notifications asked for.
pub(crate) fn acknowledge(subscription: &Value, params: &Value) -> Value {
    let mut accepted = json!({});
    if params["notifications"]["toolsListChanged"] == true {
        accepted["toolsListChanged"] = true.into();
    }
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": { META_SUBSCRIPTION: subscription }, "notifications": accepted },
    })
}

/// A message of exactly `bytes` (or the fewest possible) that answers `id` with a text.
pub(crate) fn padded_message(id: &Value, bytes: usize, place: IdPlace) -> String {
    let write = |text: &str| {
        let result = format!(r#""result":{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        match place {
            IdPlace::First => format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#),
            IdPlace::Last => format!(r#"{{"jsonrpc":"2.0",{result},"id":{id}}}"#),
        }
    };
    write(&"x".repeat(bytes.saturating_sub(write("").len())))
}

#[derive(Clone, Copy)]
pub(crate) enum IdPlace {
    First,
    Last,
}

/// The `bytes` of a call of `big`.
pub(crate) fn bytes_of_big(method: &str, params: &Value) -> Option<usize> {
    (method == "tools/call" && params["name"] == "big")
        .then(|| params["arguments"]["bytes"].as_u64().unwrap_or_default() as usize)
}

fn server_info() -> Value {
    json!({ "name": "misbehave", "title": "A server for tests", "version": "1.2.3" })
}

fn capabilities() -> Value {
    json!({ "tools": { "listChanged": true } })
}

fn initialize(params: &Value) -> Value {
    let wanted = params["protocolVersion"].as_str().unwrap_or_default();
    let version = if HANDSHAKE_VERSIONS.contains(&wanted) { wanted } else { "2025-06-18" };
    json!({
        "protocolVersion": version,
        "capabilities": capabilities(),
        "serverInfo": server_info(),
        "instructions": "Be careful with this one.",
    })
}

fn discover() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": [MODERN],
        "capabilities": capabilities(),
        "instructions": "Be careful with this one.",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    })
}

pub(crate) fn check_meta(meta: &Value) -> Result<(), Answer> {
    if let Some(missing) = META_REQUIRED.iter().find(|key| meta[**key].is_null()) {
        return Err(Answer::error(-32602, format!("request `_meta` lacks `{missing}`")));
    }
    if meta[META_VERSION] != MODERN {
        return Err(Answer::Error {
            code: -32022,
            message: "Unsupported protocol version".to_owned(),
            data: Some(json!({ "requested": meta[META_VERSION], "supported": [MODERN] })),
        });
    }
    Ok(())
}

/// Three tools from the place the cursor tells.
fn page(tools: &[Value], cursor: &Value) -> Answer {
    const SIZE: usize = 3;
    let start = match cursor.as_str() {
        None => 0,
        Some(cursor) => match cursor.strip_prefix("from-").and_then(|start| start.parse().ok()) {
            Some(start) => start,
            None => return Answer::error(-32602, format!("bad cursor `{cursor}`")),
        },
    };
    let mut result = json!({ "tools": tools.iter().skip(start).take(SIZE).collect::<Vec<_>>() });
    if start + SIZE < tools.len() {
        result["nextCursor"] = format!("from-{}", start + SIZE).into();
    }
    Answer::Result(result)
}

fn bad_list() -> Vec<Value> {
    let mut odd =
        tools::definition("odd_fields", "Has fields nobody knows.", json!({ "type": "object" }));
    odd["favouriteColour"] = "blue".into();
    odd["annotations"]["mood"] = 7.into();
    vec![
        tools::echo_definition(),
        json!({ "name": "no_schema", "description": "Has no schema at all." }),
        tools::definition("", "Has no name at all.", json!({ "type": "object" })),
        tools::definition(
            "external_ref",
            "Has a schema that is elsewhere.",
            json!({
                "type": "object",
                "properties": { "x": { "$ref": "https://example.com/schema.json#/definitions/x" } },
            }),
        ),
        odd,
    ]
}
