//! The MCP methods, independent of the transport: lifecycle, list of tools, calls. `stdio` and
//! `http` send the answers, and spoil them where the mode demands it.
//!
//! There are two lifecycles. Up to revision 2025-11-25 a client opens a session with `initialize`,
//! and changes are announced to that session. In 2026-07-28 every request carries its revision and
//! the capabilities of the client in `_meta`, `server/discover` replaces the handshake, and changes
//! are announced only to a request `subscriptions/listen` that is still open, under the id of that
//! request.
//!
//! What belongs to a mode and shows in messages is decided here (`ServerState::tools`); what shows
//! only in bytes, statuses or processes is decided in the transport.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use serde_json::{Value, json};

use crate::odd_list;
use crate::tools::{self, Caller, ServerAnswer};

pub(crate) const MODERN: &str = "2026-07-28";
/// The revisions that `initialize` accepts; a client that wants another one is answered
/// `2025-06-18`.
const HANDSHAKE_VERSIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The key of `_meta` whose presence says that a request is one of 2026-07-28.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the `_meta` of a 2026-07-28 request must have.
const META_REQUIRED: &[&str] = &[META_VERSION, "io.modelcontextprotocol/clientCapabilities"];
/// The key under which a notification names the `subscriptions/listen` request that it belongs to.
const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Follows from the mode, for the whole life of the process: a server here speaks one of the two.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Lifecycle {
    /// `initialize` first, everything up to 2025-11-25.
    Handshake,
    /// Every request stands for itself, 2026-07-28.
    Stateless,
}

/// The state of a server, shared by the threads of its calls. Nothing in it belongs to one client:
/// over HTTP, a change that one session causes is visible to all of them.
pub(crate) struct ServerState {
    mode: String,
    pub(crate) lifecycle: Lifecycle,
    /// Whether the tool `added` is in the list. Set once and never reset.
    changed: AtomicBool,
    /// Whether the list has changed and the client is not notified yet.
    unannounced: AtomicBool,
    /// `session/id` of cancelled requests.
    cancelled: Mutex<HashSet<String>>,
    /// Which call waits for the answers to our own requests, by the ids of these requests.
    asked: Mutex<HashMap<String, Sender<Value>>>,
    /// Numbers the ids of our own requests, `ask-0` and up.
    asked_so_far: AtomicUsize,
    /// The resources that the client subscribed to.
    subscribed: Mutex<HashSet<String>>,
}

impl ServerState {
    pub(crate) fn new(mode: &str) -> Self {
        let lifecycle =
            if mode.starts_with("modern") { Lifecycle::Stateless } else { Lifecycle::Handshake };
        Self {
            mode: mode.to_owned(),
            lifecycle,
            changed: AtomicBool::new(false),
            unannounced: AtomicBool::new(false),
            cancelled: Mutex::default(),
            asked: Mutex::default(),
            asked_so_far: AtomicUsize::new(0),
            subscribed: Mutex::default(),
        }
    }

    /// Sends requests to the client by way of `send`, and waits for all answers: their `result` or
    /// `error`.
    ///
    /// All requests are sent before the first answer is waited for, so that a client has several
    /// open questions of one call. Runs on the thread of the call, and blocks it. After 100 s,
    /// which is less than the watchdog allows the process, a missing answer is `null`.
    pub(crate) fn ask(&self, requests: &[Value], send: impl Fn(&Value)) -> Vec<Value> {
        let waiting: Vec<_> = requests
            .iter()
            .map(|request| {
                let id = format!("ask-{}", self.asked_so_far.fetch_add(1, Ordering::SeqCst));
                let (sender, answer) = std::sync::mpsc::channel();
                // Before the request is sent: the answer arrives on another thread.
                self.asked.lock().unwrap().insert(id.clone(), sender);
                let mut message = request.clone();
                message["jsonrpc"] = "2.0".into();
                message["id"] = id.into();
                send(&message);
                answer
            })
            .collect();
        let longest = std::time::Duration::from_secs(100);
        waiting.iter().map(|answer| answer.recv_timeout(longest).unwrap_or_default()).collect()
    }

    /// Takes an answer to a request of ours.
    ///
    /// An answer with an unknown id is ignored, as are second answers.
    pub(crate) fn receive_answer(&self, message: &Value) {
        let id = message["id"].as_str().unwrap_or_default();
        if let Some(asked) = self.asked.lock().unwrap().remove(id) {
            let answer = message.get("result").or(message.get("error")).cloned();
            let _ = asked.send(answer.unwrap_or_default());
        }
    }

    /// Whether the server has resources and prompts, in `full`, `modern-full` and `expires-full`.
    fn is_full(&self) -> bool {
        self.mode.ends_with("full")
    }

    /// Resources and prompts, in the modes that have them; `None` for other methods. The list of
    /// resources has two pages of one item, so that a client that ignores `nextCursor` misses one
    /// of them. The member `odd` of an item is unknown to MCP: a gateway has to pass it on.
    fn answer_full(&self, method: &str, params: &Value) -> Option<ServerAnswer> {
        if !self.is_full() {
            return None;
        }
        let uri = params["uri"].as_str().unwrap_or_default();
        Some(ServerAnswer::Result(match method {
            "resources/list" => {
                let next = if params["cursor"].is_null() { json!("2") } else { Value::Null };
                let name = if next.is_null() { "b" } else { "a" };
                let item = json!({ "uri": format!("test://{name}"), "name": name, "odd": 1 });
                json!({ "resources": [item], "nextCursor": next })
            }
            "prompts/list" => json!({ "prompts": [{ "name": "greet" }] }),
            "resources/read" if uri == "test://a" => {
                json!({ "contents": [{ "uri": uri, "text": "A" }] })
            }
            // In 2026-07-28 these two methods do not exist: `subscriptions/listen` replaces them.
            "resources/subscribe" if self.lifecycle == Lifecycle::Handshake => {
                self.subscribed.lock().unwrap().insert(uri.to_owned());
                json!({})
            }
            "resources/unsubscribe" if self.lifecycle == Lifecycle::Handshake => {
                self.subscribed.lock().unwrap().remove(uri);
                json!({})
            }
            // -32002 with the URI in `data` is what MCP up to 2025-11-25 defines here.
            "resources/read" => {
                return Some(ServerAnswer::Error {
                    code: -32002,
                    message: "there is no such resource".to_owned(),
                    data: Some(json!({ "uri": uri })),
                });
            }
            _ => return None,
        }))
    }

    /// Whether the client subscribed to a resource.
    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        self.subscribed.lock().unwrap().contains(uri)
    }

    /// Answers any request.
    ///
    /// `caller` is where the tool of a call sends notifications and questions. `_meta` is not
    /// demanded of `initialize`: a client of the older lifecycle cannot know it, and has to learn
    /// from the refusal that this server has no such method.
    pub(crate) fn answer(
        &self,
        id: &Value,
        method: &str,
        params: &Value,
        caller: &dyn Caller,
    ) -> ServerAnswer {
        if self.lifecycle == Lifecycle::Stateless
            && method != "initialize"
            && let Err(refusal) = check_meta(&params["_meta"])
        {
            return refusal;
        }
        let answer = match (self.lifecycle, method) {
            (Lifecycle::Handshake, "initialize") => {
                ServerAnswer::Result(initialize(params, self.is_full()))
            }
            (Lifecycle::Handshake, "ping") => ServerAnswer::Result(json!({})),
            (Lifecycle::Stateless, "server/discover") => {
                ServerAnswer::Result(discover(self.is_full()))
            }
            (_, "tools/list") => self.list(&params["cursor"]),
            (_, "tools/call") => self.call(id, params, caller),
            _ => self.answer_full(method, params).unwrap_or_else(|| {
                ServerAnswer::error(-32601, format!("there is no method `{method}`"))
            }),
        };
        // 2026-07-28 demands `resultType` in every result. A tool sets it itself only if its answer
        // is not `complete`.
        match (self.lifecycle, answer) {
            (Lifecycle::Stateless, ServerAnswer::Result(mut result))
                if result["resultType"].is_null() =>
            {
                result["resultType"] = "complete".into();
                ServerAnswer::Result(result)
            }
            (_, answer) => answer,
        }
    }

    /// Some modes change the list of tools with their first call of one tool. The transport sends
    /// the notification after the answer, see `take_change`; the flag `unannounced` is set only by
    /// the call that made the change, so there is one notification for one change.
    fn call(&self, id: &Value, params: &Value, caller: &dyn Caller) -> ServerAnswer {
        let name = &params["name"];
        // Whether this call is one that changes the list of tools.
        let changes = match self.mode.as_str() {
            "changing" | "changing-bad" => name == "echo",
            _ => self.has_change_tool() && name == "change",
        };
        if changes && !self.changed.swap(true, Ordering::SeqCst) {
            self.unannounced.store(true, Ordering::SeqCst);
        }
        if changes && name == "change" {
            return ServerAnswer::Result(
                json!({ "content": [{ "type": "text", "text": "changed" }] }),
            );
        }
        match self.mode.as_str() {
            "odd-list" => odd_list::call(params),
            _ => tools::call(id, params, caller),
        }
    }

    /// The modes in which the client decides when the list changes.
    fn has_change_tool(&self) -> bool {
        matches!(self.mode.as_str(), "sse" | "modern")
    }

    /// Returns true once after each change of the list, for the notification.
    pub(crate) fn take_change(&self) -> bool {
        self.unannounced.swap(false, Ordering::SeqCst)
    }

    /// Cached lists would hide a change of the list from tests, so the `ttlMs` that 2026-07-28
    /// demands is 0.
    fn list(&self, cursor: &Value) -> ServerAnswer {
        let tools = self.tools();
        if self.mode == "paged" {
            return page(&tools, cursor);
        }
        let mut result = json!({ "tools": tools });
        if self.lifecycle == Lifecycle::Stateless {
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "private".into();
        }
        ServerAnswer::Result(result)
    }

    /// The list of tools as the mode has it, at this moment. A list may have names twice and items
    /// that are not tools: a client has to cope.
    fn tools(&self) -> Vec<Value> {
        match self.mode.as_str() {
            "bad-list" => return bad_list(),
            "odd-list" => return odd_list::definitions(),
            _ => {}
        }
        if self.mode == "contradictory" {
            let dice = json!({ "type": "integer", "minimum": 10, "maximum": 1 });
            let schema = json!({ "type": "object", "properties": { "dice": dice } });
            return vec![tools::definition("roll", "Rolls dice and returns the sum.", schema)];
        }
        let mut tools = tools::definitions();
        let anything = || json!({ "type": "object" });
        if self.mode == "asks-roots" {
            tools.push(tools::definition("ask", "Asks the client.", anything()));
        }
        if self.is_full() {
            tools.push(tools::definition("touch", "Reports a change.", anything()));
        }
        if self.has_change_tool() {
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

    /// `session` is empty on stdio. The request may have ended already, or may never have existed:
    /// MCP wants such a notification ignored, and an entry that nobody asks for does no harm here.
    pub(crate) fn cancel(&self, session: &str, params: &Value) {
        self.cancelled.lock().unwrap().insert(format!("{session}/{}", params["requestId"]));
    }

    pub(crate) fn is_cancelled(&self, session: &str, id: &Value) -> bool {
        self.cancelled.lock().unwrap().contains(&format!("{session}/{id}"))
    }
}

/// The JSON-RPC message of an answer; `None` if there is none to send.
pub(crate) fn message(id: &Value, answer: ServerAnswer) -> Option<Value> {
    match answer {
        ServerAnswer::Result(result) => {
            Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
        }
        ServerAnswer::Error { code, message, data } => {
            let mut error = json!({ "code": code, "message": message });
            // A member `data` with null would be another message.
            if let Some(data) = data {
                error["data"] = data;
            }
            Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
        }
        ServerAnswer::Nothing => None,
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

/// `resources/updated`, for a subscription of 2026-07-28 or for a session before that.
pub(crate) fn resource_updated(uri: &str, subscription: Option<&Value>) -> Value {
    let mut params = json!({ "uri": uri });
    if let Some(id) = subscription {
        params["_meta"] = json!({ META_SUBSCRIPTION: id });
    }
    json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params })
}

/// Accepts a subscription to changes of the list and of resources.
///
/// MCP lets a server accept less than the client asked for; the acknowledgement names what it
/// accepts. This server accepts changes of tools and of resources, and drops the other kinds
/// silently.
pub(crate) fn acknowledge(subscription: &Value, params: &Value) -> Value {
    let mut accepted = json!({});
    if params["notifications"]["toolsListChanged"] == true {
        accepted["toolsListChanged"] = true.into();
    }
    let resources = &params["notifications"]["resourceSubscriptions"];
    if !resources.is_null() {
        accepted["resourceSubscriptions"] = resources.clone();
    }
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": { META_SUBSCRIPTION: subscription }, "notifications": accepted },
    })
}

/// A message of exactly `bytes` (or the fewest possible) that answers `id` with a text.
///
/// Used to test limits of messages to the byte. The text is made of `x`, which JSON does not
/// escape, so the length of the envelope and the length of the text add up.
pub(crate) fn padded_message(id: &Value, bytes: usize, position: IdPosition) -> String {
    let write = |text: &str| {
        let result = format!(r#""result":{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        match position {
            IdPosition::First => format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#),
            IdPosition::Last => format!(r#"{{"jsonrpc":"2.0",{result},"id":{id}}}"#),
        }
    };
    write(&"x".repeat(bytes.saturating_sub(write("").len())))
}

/// Where the member `id` is in a message. A reader that gives up on an oversized message wants to
/// know whom it was for; if the id comes last, it is behind all that was too much.
#[derive(Clone, Copy)]
pub(crate) enum IdPosition {
    First,
    Last,
}

/// The argument `bytes`, if the request calls the tool `big`.
pub(crate) fn size_of_big(method: &str, params: &Value) -> Option<usize> {
    (method == "tools/call" && params["name"] == "big")
        .then(|| params["arguments"]["bytes"].as_u64().unwrap_or_default() as usize)
}

fn server_info() -> Value {
    json!({ "name": "faulty-server", "title": "A server for tests", "version": "1.2.3" })
}

fn capabilities(full: bool) -> Value {
    match full {
        false => json!({ "tools": { "listChanged": true } }),
        true => json!({
            "tools": { "listChanged": true },
            "resources": { "subscribe": true, "listChanged": true },
            "prompts": {},
            "logging": {},
        }),
    }
}

/// An unknown revision is answered with one that the server supports, as MCP demands; the client
/// may then disconnect.
fn initialize(params: &Value, full: bool) -> Value {
    let wanted = params["protocolVersion"].as_str().unwrap_or_default();
    let version = if HANDSHAKE_VERSIONS.contains(&wanted) { wanted } else { "2025-06-18" };
    json!({
        "protocolVersion": version,
        "capabilities": capabilities(full),
        "serverInfo": server_info(),
        "instructions": "Be careful with this one.",
    })
}

fn discover(full: bool) -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": [MODERN],
        "capabilities": capabilities(full),
        "instructions": "Be careful with this one.",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    })
}

/// -32602 for a missing member, and -32022 with the supported revisions for another revision.
pub(crate) fn check_meta(meta: &Value) -> Result<(), ServerAnswer> {
    if let Some(missing) = META_REQUIRED.iter().find(|key| meta[**key].is_null()) {
        return Err(ServerAnswer::error(-32602, format!("request `_meta` lacks `{missing}`")));
    }
    if meta[META_VERSION] != MODERN {
        return Err(ServerAnswer::Error {
            code: -32022,
            message: "Unsupported protocol version".to_owned(),
            data: Some(json!({ "requested": meta[META_VERSION], "supported": [MODERN] })),
        });
    }
    Ok(())
}

/// Three tools, from the position that the cursor names. Cursors are opaque to clients; this one
/// can be read (`from-3`), so that the logs of tests can be, too.
fn page(tools: &[Value], cursor: &Value) -> ServerAnswer {
    const SIZE: usize = 3;
    let start = match cursor.as_str() {
        None => 0,
        Some(cursor) => match cursor.strip_prefix("from-").and_then(|start| start.parse().ok()) {
            Some(start) => start,
            None => return ServerAnswer::error(-32602, format!("bad cursor `{cursor}`")),
        },
    };
    let mut result = json!({ "tools": tools.iter().skip(start).take(SIZE).collect::<Vec<_>>() });
    if start + SIZE < tools.len() {
        result["nextCursor"] = format!("from-{}", start + SIZE).into();
    }
    ServerAnswer::Result(result)
}

/// One good tool and four odd ones. A client should serve the first, and the last one with its
/// unknown members, and explain why it serves none of the others.
fn bad_list() -> Vec<Value> {
    let mut odd =
        tools::definition("odd_fields", "Has unknown fields.", json!({ "type": "object" }));
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
