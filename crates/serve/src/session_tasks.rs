//! The tasks of one client: which server runs each, and under which id the client knows it.
//!
//! A task keeps the id that its server gave it, unless the client has a task of another server with
//! the same id. Then it gets a number: `t1` of a second server is `t1-2`. The table translates;
//! nothing is computed back from the text of an id. Clients know no tasks but their own.
//!
//! A task belongs to the connection that it was created on: a restarted server counts its ids from
//! the start, and the next `t1` is of another client.
//!
//! A task ends in two steps. `note_end`: no progress and no questions are expected any more, but
//! the result can still be fetched, so the server keeps it. `end`: the result was fetched or nobody
//! wants it, and the server may be told. Both may be called several times.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value as Json};
use toolwright_catalog::ServerNotification;
use toolwright_exec::RegisteredTool;
use toolwright_exec::mcp::{TaskLink, TaskRequest, Upstream, UpstreamEvent, rename_task, task_of};

/// Tasks that a session remembers; the oldest are forgotten first.
const MAX_TASKS: usize = 1_000;
/// Bytes of the id of a task, and of a token for its progress.
pub(crate) const MAX_ID: usize = 1 << 10;
/// The members of a status that say when the task was made and how long it is kept.
const STATUS_MEMBERS: [&str; 4] = ["createdAt", "lastUpdatedAt", "ttl", "pollInterval"];
/// Bytes of a text in them.
const MAX_TIME: usize = 64;

/// A task of a client.
#[derive(Clone)]
pub(crate) struct ClientTask {
    /// The id that the client knows.
    pub(crate) exposed: String,
    /// The id on its server.
    pub(crate) own: String,
    pub(crate) upstream: Arc<Upstream>,
    /// The number of the connection that it was created on.
    pub(crate) connection: u64,
    /// The tool that was called. It may be gone or changed meanwhile.
    pub(crate) tool: Arc<RegisteredTool>,
    /// The token of its progress, as the server knows it.
    token: Option<i64>,
    /// Whether it has ended, as far as was reported.
    has_ended: bool,
    /// What every status of it has ([`STATUS_MEMBERS`]), as reported last.
    status: Map<String, Json>,
}

/// What a server is asked to do as a task.
pub(crate) struct NewTask<'a> {
    /// The id on its server.
    pub(crate) own: &'a str,
    pub(crate) upstream: Arc<Upstream>,
    /// The number of the connection.
    pub(crate) connection: u64,
    /// The tool that was called.
    pub(crate) tool: &'a Arc<RegisteredTool>,
    /// How long its server keeps it; `None` if it sets no limit.
    pub(crate) ttl: Option<Duration>,
    /// What the client asked for; `None` if the server decided to run a task.
    pub(crate) request: Option<&'a TaskRequest>,
    /// Its first status; null if the server gave none.
    pub(crate) status: &'a Json,
}

impl ClientTask {
    /// Both ids.
    pub(crate) fn link(&self) -> TaskLink {
        TaskLink { own: self.own.clone(), exposed: Some(self.exposed.clone()) }
    }
}

/// The tasks of a session, and the tokens of their progress.
#[derive(Default)]
pub(crate) struct SessionTasks {
    /// The oldest first.
    known: Vec<ClientTask>,
    /// The tokens that the client chose for the progress of tasks, with the tasks.
    tokens: Vec<(Arc<TaskRequest>, Json)>,
}

impl SessionTasks {
    /// Remembers a task, and returns the id for the client.
    ///
    /// A task that is known keeps its id: the answer to a call and a notification may both name it
    /// first.
    pub(crate) fn remember(&mut self, task: NewTask<'_>) -> String {
        let NewTask { own, upstream, connection, tool, ttl, request, status } = task;
        if let Some(known) = self.of_connection(connection, own) {
            return known.exposed.clone();
        }
        let mut exposed = own.to_owned();
        for number in 2.. {
            if self.get(&exposed).is_none() {
                break;
            }
            exposed = format!("{own}-{number}");
        }
        if self.known.len() >= MAX_TASKS {
            let oldest = self.known[0].exposed.clone();
            self.forget(&oldest);
        }
        upstream.task_began(own, connection, ttl);
        self.known.push(ClientTask {
            exposed: exposed.clone(),
            own: own.to_owned(),
            upstream,
            connection,
            tool: Arc::clone(tool),
            token: request.map(|request| request.progress_token),
            has_ended: false,
            status: kept_members(status),
        });
        exposed
    }

    /// The task with the id that the client knows.
    pub(crate) fn get(&self, exposed: &str) -> Option<ClientTask> {
        self.known.iter().find(|task| task.exposed == exposed).cloned()
    }

    /// The task with the id that its server knows.
    fn of_connection(&mut self, connection: u64, own: &str) -> Option<&mut ClientTask> {
        self.known.iter_mut().find(|task| task.connection == connection && task.own == own)
    }

    /// Forgets a task.
    pub(crate) fn forget(&mut self, exposed: &str) {
        self.end(exposed);
        self.known.retain(|task| task.exposed != exposed);
    }

    /// Notes that a task has ended and its result was fetched, or will not be.
    pub(crate) fn end(&mut self, exposed: &str) {
        if let Some(task) = self.note_end(exposed) {
            task.upstream.task_released(&task.own, task.connection);
        }
    }

    /// Notes that a task has ended: no more progress is expected.
    fn note_end(&mut self, exposed: &str) -> Option<&ClientTask> {
        let at = self.known.iter().position(|task| task.exposed == exposed)?;
        self.known[at].has_ended = true;
        if let Some(token) = self.known[at].token.take() {
            self.forget_token(token);
        }
        let task = &self.known[at];
        task.upstream.task_ended(&task.own, task.connection);
        Some(task)
    }

    /// Notes the state of a task as its server reports it.
    pub(crate) fn note_status(&mut self, exposed: &str, status: &Json) {
        if let Some(task) = self.known.iter_mut().find(|task| task.exposed == exposed) {
            task.status.extend(kept_members(status));
        }
        // The extension of 2026-07-28 has the outcome in the task.
        let is_fetched = status.get("result").or(status.get("error")).is_some();
        match status["status"].as_str() {
            Some("completed" | "failed") if !is_fetched => drop(self.note_end(exposed)),
            Some("completed" | "failed" | "cancelled") => self.end(exposed),
            _ => {}
        }
    }

    /// Ends the tasks whose connection has ended. Returns the last status of each that was running,
    /// for its client.
    pub(crate) fn end_lost(&mut self) -> Vec<Json> {
        let is_lost =
            |task: &&ClientTask| !task.has_ended && !task.upstream.has_connection(task.connection);
        let lost: Vec<String> =
            self.known.iter().filter(is_lost).map(|task| task.exposed.clone()).collect();
        let end = |exposed: String| {
            let mut status = self.note_end(&exposed)?.status.clone();
            status.insert("taskId".to_owned(), exposed.into());
            status.insert("status".to_owned(), "failed".into());
            let message = "the server of the task has ended";
            status.insert("statusMessage".to_owned(), message.into());
            Some(Json::Object(status))
        };
        lost.into_iter().filter_map(end).collect()
    }

    /// Removes all tasks at the end of the session: cancels those that may be running, and releases
    /// the results of the others.
    pub(crate) fn end_all(&mut self) {
        self.tokens.clear();
        for task in std::mem::take(&mut self.known) {
            match task.has_ended {
                true => task.upstream.task_released(&task.own, task.connection),
                false => task.upstream.cancel_task(&task.own, task.connection),
            }
        }
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
    pub(crate) fn remember_token(&mut self, task: &Arc<TaskRequest>, token: Json) {
        if self.tokens.len() >= MAX_TASKS {
            self.tokens.remove(0);
        }
        self.tokens.push((Arc::clone(task), token));
    }

    /// Forgets the token of a task, by the one that the server knows.
    pub(crate) fn forget_token(&mut self, own: i64) {
        self.tokens.retain(|(task, _)| task.progress_token != own);
    }

    /// Whether a notification of a server is about a task of this client. If so, it gets the names
    /// that the client knows.
    ///
    /// Called for one session after the other, in the task that forwards notifications, with the
    /// session locked.
    pub(crate) fn claim(&mut self, notification: &mut ServerNotification) -> bool {
        let from = notification.connection;
        let task = task_of(&notification.event).and_then(|own| {
            self.of_connection(from, &own).map(|task| (task.own.clone(), task.exposed.clone()))
        });
        let is_own = task.is_some();
        let token = self.token_of(notification);
        if let Some((own, exposed)) = task
            && let UpstreamEvent::Other { params, .. } | UpstreamEvent::Log(params) =
                &mut notification.event
        {
            rename_task(params, &own, &exposed);
            self.note_status(&exposed, params);
        }
        if let (Some(token), UpstreamEvent::Other { params, .. }) = (token, &mut notification.event)
        {
            params["progressToken"] = token;
            return true;
        }
        is_own && !is_progress(&notification.event)
    }

    /// The token of the client for a progress report.
    fn token_of(&self, notification: &ServerNotification) -> Option<Json> {
        let UpstreamEvent::Other { params, .. } = &notification.event else { return None };
        let own = params["progressToken"].as_i64().filter(|_| is_progress(&notification.event))?;
        let is_it = |task: &TaskRequest| {
            task.progress_token == own && task.connection() == notification.connection
        };
        self.tokens.iter().find(|(task, _)| is_it(task)).map(|(_, token)| token.clone())
    }
}

/// The members of a status that are kept.
///
/// Needed for the last status of a task whose server is gone; only short values, as they come from
/// a server and are kept for as long as the session.
fn kept_members(status: &Json) -> Map<String, Json> {
    let kept = STATUS_MEMBERS.iter().filter_map(|name| Some((*name, status.get(name)?)));
    let is_short = |(_, value): &(_, &Json)| match value {
        Json::String(text) => text.len() <= MAX_TIME,
        value => value.is_number() || value.is_null(),
    };
    kept.filter(is_short).map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// Whether an event is a progress report.
pub(crate) fn is_progress(event: &UpstreamEvent) -> bool {
    matches!(event, UpstreamEvent::Other { method, .. } if method == "notifications/progress")
}
