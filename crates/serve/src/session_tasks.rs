//! The tasks of one client: which server runs each, and under which id the client knows it.
//!
//! A task keeps the id that its server gave it, unless the client has a task of another server with
//! the same id. Then it gets a number: `t1` of a second server is `t1-2`. The table translates;
//! nothing is computed back from the text of an id. Clients know no tasks but their own.

use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_catalog::ServerNotice;
use toolwright_exec::mcp::{TaskLink, Upstream, UpstreamEvent, rename_task};
use toolwright_model::Server;

use crate::task_requests::task_of;

/// Tasks that a session remembers; the oldest are forgotten first.
const MAX_TASKS: usize = 1_000;

/// A task of a client.
#[derive(Clone)]
pub(crate) struct ClientTask {
    /// The id that the client knows.
    pub(crate) exposed: String,
    /// The id on its server.
    pub(crate) own: String,
    pub(crate) upstream: Arc<Upstream>,
    /// The id of the tool that was called.
    pub(crate) tool: String,
}

impl ClientTask {
    /// Both ids.
    pub(crate) fn link(&self) -> TaskLink {
        TaskLink { own: self.own.clone(), exposed: Some(self.exposed.clone()) }
    }

    fn is(&self, server: &Server, own: &str) -> bool {
        self.own == own && **self.upstream.server() == *server
    }
}

/// See the file header.
#[derive(Default)]
pub(crate) struct SessionTasks {
    /// The oldest first.
    known: Vec<ClientTask>,
    /// The tokens that the client chose for the progress of tasks, by those that servers use.
    tokens: Vec<(i64, Json)>,
}

impl SessionTasks {
    /// Remembers a task, and returns the id for the client. `tool` is the tool that created it.
    pub(crate) fn remember(&mut self, own: &str, upstream: Arc<Upstream>, tool: &str) -> String {
        if let Some(known) = self.of_server(upstream.server(), own) {
            return known.exposed;
        }
        let mut exposed = own.to_owned();
        for number in 2.. {
            if self.get(&exposed).is_none() {
                break;
            }
            exposed = format!("{own}-{number}");
        }
        if self.known.len() >= MAX_TASKS {
            self.known.remove(0);
        }
        let (own, tool) = (own.to_owned(), tool.to_owned());
        self.known.push(ClientTask { exposed: exposed.clone(), own, upstream, tool });
        exposed
    }

    /// The task with the id that the client knows.
    pub(crate) fn get(&self, exposed: &str) -> Option<ClientTask> {
        self.known.iter().find(|task| task.exposed == exposed).cloned()
    }

    /// The task with the id that its server knows.
    pub(crate) fn of_server(&self, server: &Server, own: &str) -> Option<ClientTask> {
        self.known.iter().find(|task| task.is(server, own)).cloned()
    }

    /// Forgets a task.
    pub(crate) fn forget(&mut self, exposed: &str) {
        self.known.retain(|task| task.exposed != exposed);
    }

    /// At most `count` tasks after the one with this id, and whether there are more. `None` if
    /// there is no such task.
    pub(crate) fn page(
        &self,
        after: Option<&str>,
        count: usize,
    ) -> Option<(Vec<ClientTask>, bool)> {
        let start = match after {
            None => 0,
            Some(after) => self.known.iter().position(|task| task.exposed == after)? + 1,
        };
        let left = &self.known[start..];
        Some((left.iter().take(count).cloned().collect(), left.len() > count))
    }

    /// Remembers the token of the client for the progress of a task.
    pub(crate) fn remember_token(&mut self, own: i64, token: Json) {
        if self.tokens.len() >= MAX_TASKS {
            self.tokens.remove(0);
        }
        self.tokens.push((own, token));
    }

    /// Whether a notice of a server is about a task of this client. If so, it gets the names that
    /// the client knows.
    pub(crate) fn claim(&self, notice: &mut ServerNotice) -> bool {
        let mut is_own = false;
        if let Some(task) =
            task_of(&notice.event).and_then(|own| self.of_server(&notice.server, &own))
        {
            is_own = true;
            if let UpstreamEvent::Other { params, .. } | UpstreamEvent::Log(params) =
                &mut notice.event
            {
                rename_task(params, &task.own, &task.exposed);
            }
        }
        if let UpstreamEvent::Other { method, params } = &mut notice.event
            && method == "notifications/progress"
            && let Some(own) = params["progressToken"].as_i64()
            && let Some((_, token)) = self.tokens.iter().find(|(known, _)| *known == own)
        {
            params["progressToken"] = token.clone();
            return true;
        }
        is_own
    }
}
