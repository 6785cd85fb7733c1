//! Tasks that a client makes of a question (2025-11-25): a server asks for sampling or elicitation
//! with `task`, the client answers with a new task, and the server follows it.
//!
//! ```text
//! server ─ sampling/createMessage, task ─▶ client ─ the new task ─▶ server    its id is noted here
//! server ─ tasks/get, result, cancel ────▶ client, on the stream of an open call
//! ```
//!
//! Only for connections of one session (`isolation = "session"`): the capability is part of the
//! handshake, and the handshake of a shared connection comes before any client. A server can name
//! the tasks that it was answered with and no others, because a client numbers its tasks across all
//! of its servers. For the same reason `tasks/list` is not announced.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Map, json};

use crate::{ClientAnswer, Host, Json};

/// Tasks of one connection that are known; the oldest are forgotten first.
const MAX_TASKS: usize = 256;
/// The longest id that is kept, in bytes.
const MAX_ID: usize = 1 << 10;

/// The requests that can become tasks, as the capability names them.
const REQUESTS: [(&str, &str); 2] = [("sampling", "createMessage"), ("elicitation", "create")];

/// The capability `tasks` that the handshake of a session announces, once its client is known; null
/// if the client has none.
pub(super) type AnnouncedTasks = Arc<OnceLock<Json>>;

/// Whether a method is a request about a task of the client.
pub(super) fn is_task_request(method: &str) -> bool {
    matches!(method, "tasks/get" | "tasks/result" | "tasks/cancel")
}

/// What the client behind a call can do as a task; null if it can do nothing.
pub(super) fn capability_of(host: &dyn Host) -> Json {
    // Revision 2026-07-28 has no such tasks.
    if host.is_asked_in_results() {
        return Json::Null;
    }
    let capabilities = host.client_capabilities();
    let declared = &capabilities["tasks"];
    let mut requests = Map::new();
    for (area, request) in REQUESTS {
        if declared["requests"][area][request].is_object() {
            requests.insert(area.to_owned(), json!({request: {}}));
        }
    }
    match requests.is_empty() {
        true => Json::Null,
        false if declared["cancel"].is_object() => json!({"cancel": {}, "requests": requests}),
        false => json!({"requests": requests}),
    }
}

/// What some client may be able to do: for the connection that only lists what a server has.
pub(super) fn full_capability() -> Json {
    let requests = REQUESTS.map(|(area, request)| (area.to_owned(), json!({request: {}})));
    json!({"cancel": {}, "requests": Map::from_iter(requests)})
}

/// The tasks that the client of a connection has made for its server.
pub(super) struct ClientTasks {
    announced: AnnouncedTasks,
    /// The oldest first.
    ids: Mutex<VecDeque<String>>,
}

impl ClientTasks {
    pub(super) fn new(announced: AnnouncedTasks) -> ClientTasks {
        ClientTasks { announced, ids: Mutex::default() }
    }

    fn ids(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the server may ask for tasks with this method.
    pub(super) fn accepts(&self, method: &str) -> bool {
        let requests = self.announced.get().map(|announced| &announced["requests"]);
        let of_method = method.split_once('/').zip(requests);
        of_method.is_some_and(|((area, request), all)| all[area][request].is_object())
    }

    /// Notes the task that a client has answered a question with.
    pub(super) fn note(&self, answer: &ClientAnswer) {
        let created = answer.as_ref().ok().and_then(|answer| answer["task"]["taskId"].as_str());
        let Some(id) = created.filter(|id| id.len() <= MAX_ID) else { return };
        let mut ids = self.ids();
        if !ids.iter().any(|known| known == id) {
            if ids.len() >= MAX_TASKS {
                ids.pop_front();
            }
            ids.push_back(id.to_owned());
        }
    }

    /// Whether the client has made this task for the server.
    pub(super) fn has(&self, id: &str) -> bool {
        self.ids().iter().any(|known| known == id)
    }
}
