//! Tasks of revision 2025-11-25: calls whose result is fetched later.
//!
//! ```text
//! client with tasks     tools/call, task ─▶ Upstream::call ─▶ the new task
//!                       tasks/result ─────▶ Upstream::task_result ─▶ the result
//! any other client      tools/call ───────▶ Upstream::call_as_task: both of them, for a tool that
//!                                           the server runs as a task only
//! ```
//!
//! `tasks/result` is silent until the task ends, however long that takes, so silence says nothing
//! about the server. While it waits, the server is asked for the task every now and then; as long
//! as it answers that the task goes on, the idle deadline moves. So the wait of a client that
//! follows its task ends with the task (which has a time to live), with the client, or when the
//! server has not answered for its idle time. A call that is made a task here has the cap of every
//! call, too.
//!
//! Which client a task belongs to is the business of the crate `serve`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use toolwright_mcp::meta::RELATED_TASK;
use toolwright_mcp::raw_json;

use super::connect_error::no_answer;
use super::connection::UpstreamConnection;
use super::outgoing_request::{OutgoingRequest, ToolCall};
use super::{RequestError, Upstream, UpstreamEvent, UpstreamNotice};
use crate::budget::now;
use crate::{CallClock, Host, Json, Outcome, Progress};

/// How often a server is asked for a task if it does not suggest an interval.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The bounds of what it may suggest.
const POLL_BOUNDS: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));
/// How long a client can wait for one result. No deadline: something has to be the end of time.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);
/// How long the request to cancel a task may take.
const TIME_TO_CANCEL: Duration = Duration::from_secs(10);

/// The last token of [`TaskRequest::progress_token`].
static LAST_TOKEN: AtomicI64 = AtomicI64::new(0);

/// How a call deals with tasks.
#[derive(Clone, Debug, Default)]
pub enum TaskMode {
    /// The caller waits for the result and knows nothing of tasks. A tool that needs one gets it
    /// here.
    #[default]
    Hidden,
    /// The caller knows tasks and does not want one.
    None,
    /// The caller wants a task and follows it.
    Created(Arc<TaskRequest>),
}

/// The wish of a caller to have a task.
#[derive(Debug)]
pub struct TaskRequest {
    /// The member `task` of the call.
    pub(super) params: Box<RawValue>,
    /// The token of progress reports. Unlike that of other requests it is valid until the task
    /// ends, so it is unique in this program and not the id of a request: those are positive.
    pub progress_token: i64,
}

impl TaskRequest {
    /// A task with these parameters, an object.
    pub fn new(params: Box<RawValue>) -> TaskRequest {
        TaskRequest { params, progress_token: LAST_TOKEN.fetch_sub(1, Ordering::Relaxed) - 1 }
    }
}

/// A task by its two names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskLink {
    /// The id on the server.
    pub own: String,
    /// The id that the client knows; `None` if it knows nothing of the task.
    pub exposed: Option<String>,
}

impl TaskLink {
    /// Replaces the id in a message to the client.
    pub(super) fn expose(&self, message: &mut Json) {
        match &self.exposed {
            Some(exposed) => rename_task(message, &self.own, exposed),
            None => {
                let meta = message.get_mut("_meta").and_then(Json::as_object_mut);
                meta.and_then(|meta| meta.shift_remove(RELATED_TASK));
            }
        }
    }

    /// Replaces the id in a message of the client.
    pub(super) fn hide(&self, message: &mut Json) {
        if let Some(exposed) = &self.exposed {
            rename_task(message, exposed, &self.own);
        }
    }
}

/// The task that a message names in its `_meta`.
pub fn related_task(message: &Json) -> Option<String> {
    message.get("_meta")?.get(RELATED_TASK)?.get("taskId")?.as_str().map(str::to_owned)
}

/// Replaces the id of a task in a result or in parameters: in the members of a task, in a new task,
/// and in `_meta`.
pub fn rename_task(message: &mut Json, from: &str, to: &str) {
    let replace = |task: Option<&mut Json>| {
        if let Some(id) = task.and_then(|task| task.get_mut("taskId"))
            && *id == from
        {
            *id = to.into();
        }
    };
    if from != to {
        replace(message.get_mut("_meta").and_then(|meta| meta.get_mut(RELATED_TASK)));
        replace(message.get_mut("task"));
        replace(Some(message));
    }
}

impl Upstream {
    /// The result of a task of the client behind `host`. `params` are those of `tasks/result`, with
    /// the id that the server knows.
    ///
    /// # Errors
    /// The error that the task ended with, or why there is no answer.
    pub async fn task_result(
        self: &Arc<Self>,
        task: &TaskLink,
        params: Map<String, Json>,
        host: &dyn Host,
    ) -> Result<Outcome, RequestError> {
        let (idle, _) = self.time_limits();
        let clock = CallClock::moving(idle, now() + LONGEST_WAIT);
        let (interval, unseen) = (idle / 3, |_: &Json| {});
        let result = tokio::select! {
            biased;
            result = self.wait_for_task(task, params, host, &clock, interval, &unseen) => result?,
            () = clock.expired() => {
                return Err(RequestError::Failed(no_answer("tasks/result", idle)));
            }
        };
        Upstream::read_outcome(result).await.map_err(RequestError::Failed)
    }

    /// Calls a tool as a task, and waits for the result. Dropping the future cancels the task.
    pub(super) async fn call_as_task(
        self: &Arc<Self>,
        call: ToolCall<'_>,
        host: &dyn Host,
        clock: &CallClock,
    ) -> Result<Box<RawValue>, RequestError> {
        let mut events = self.events();
        // The server may forget the task when nobody can want its result any more.
        let ttl = clock.latest().saturating_duration_since(now()).as_millis();
        let request = TaskRequest::new(raw_json(&json!({"ttl": u64::try_from(ttl).ok()})));
        let call = ToolCall { task: Some(&request), ..call };
        let created = self.send(&OutgoingRequest::call(&call), host, clock).await?;
        let task: Json = serde_json::from_str(created.get()).unwrap_or_default();
        // The server has answered at once.
        let Some(own) = task["task"]["taskId"].as_str() else { return Ok(created) };
        let link = TaskLink { own: own.to_owned(), exposed: None };
        let upstream = self.of_session(host.session()).map_err(RequestError::Failed)?;
        let connection = upstream.open_connection_now();
        let guard = connection.map(|connection| RunningTask { connection, id: own.to_owned() });
        let suggested = task["task"]["pollInterval"].as_u64().map(Duration::from_millis);
        let interval = suggested.unwrap_or(POLL_INTERVAL).clamp(POLL_BOUNDS.0, POLL_BOUNDS.1);
        let interval = match clock.idle() {
            Duration::ZERO => interval,
            idle => interval.min(idle / 3),
        };
        let reports = std::sync::Mutex::new(StatusReports::default());
        let report = |status: &Json| {
            let mut reports = reports.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            reports.status(status, host);
        };
        report(&task["task"]);
        let params = Map::from_iter([("taskId".to_owned(), Json::from(own))]);
        let waiting = self.wait_for_task(&link, params, host, clock, interval, &report);
        let following = async {
            loop {
                match next_of_task(&mut events, &link.own, request.progress_token).await {
                    Some(TaskNotice::Status(status)) => report(&status),
                    Some(TaskNotice::Progress(progress)) => {
                        let own = reports.lock();
                        own.unwrap_or_else(std::sync::PoisonError::into_inner).has_progress = true;
                        host.progress(progress);
                    }
                    None => std::future::pending().await,
                }
                clock.restart();
            }
        };
        let result = tokio::select! {
            biased;
            result = waiting => result,
            () = following => unreachable!("it never ends"),
        };
        // Answered, so there is nothing left to cancel.
        if !matches!(result, Err(RequestError::Failed(_))) {
            guard.into_iter().for_each(RunningTask::forget);
        }
        result
    }

    /// Sends `tasks/result` and waits for the answer. Asks for the state of the task meanwhile, as
    /// often as `interval` says; see the file header.
    async fn wait_for_task(
        self: &Arc<Self>,
        task: &TaskLink,
        params: Map<String, Json>,
        host: &dyn Host,
        clock: &CallClock,
        interval: Duration,
        on_status: &(dyn Fn(&Json) + Sync),
    ) -> Result<Box<RawValue>, RequestError> {
        let mut request = OutgoingRequest::new("tasks/result", &params);
        request.task = Some(task);
        let polling = async {
            loop {
                tokio::time::sleep(interval).await;
                let Ok(upstream) = self.of_session(host.session()) else { continue };
                // Without a connection, `tasks/result` fails on its own.
                let Some(connection) = upstream.open_connection_now() else { continue };
                // Our own request: questions of the server must not be put to it.
                let status = connection.own_request("tasks/get", json!({"taskId": task.own})).await;
                let Ok(status) = status else { continue };
                let status: Json = serde_json::from_str(status.get()).unwrap_or_default();
                if ["working", "input_required"].iter().any(|it| status["status"] == *it) {
                    clock.restart();
                    on_status(&status);
                }
            }
        };
        tokio::select! {
            biased;
            result = self.send(&request, host, clock) => result,
            () = polling => unreachable!("it never ends"),
        }
    }
}

/// A task that nobody but this program knows. Dropped before its end, it is cancelled.
struct RunningTask {
    connection: Arc<UpstreamConnection>,
    id: String,
}

impl RunningTask {
    /// The task has ended.
    fn forget(mut self) {
        self.id.clear();
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.id.is_empty() {
            return;
        }
        let (connection, params) = (Arc::clone(&self.connection), json!({"taskId": self.id}));
        runtime.spawn(async move {
            let cancelling = connection.own_request("tasks/cancel", params);
            let _ = tokio::time::timeout(TIME_TO_CANCEL, cancelling).await;
        });
    }
}

/// Turns the state of a task into progress, for clients that know nothing of tasks.
#[derive(Default)]
struct StatusReports {
    last: String,
    sent: u32,
    /// Whether the server reports progress itself. Its numbers must grow, so ours would disturb.
    has_progress: bool,
}

impl StatusReports {
    fn status(&mut self, status: &Json, host: &dyn Host) {
        let Some(message) = status["statusMessage"].as_str() else { return };
        if self.has_progress || self.last == message {
            return;
        }
        message.clone_into(&mut self.last);
        self.sent += 1;
        let given = json!({"progress": self.sent, "message": message});
        if let Some(progress) = Progress::read(given) {
            host.progress(progress);
        }
    }
}

/// What a server reports about a task.
enum TaskNotice {
    Status(Json),
    Progress(Progress),
}

/// Waits for the next report about a task; `None` if there are no more.
async fn next_of_task(
    events: &mut broadcast::Receiver<UpstreamNotice>,
    task: &str,
    token: i64,
) -> Option<TaskNotice> {
    loop {
        let event = match events.recv().await {
            Ok(notice) => notice.event,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return None,
        };
        let UpstreamEvent::Other { method, params } = event else { continue };
        match method.as_str() {
            "notifications/tasks/status" if params["taskId"] == task => {
                return Some(TaskNotice::Status(params));
            }
            "notifications/progress" if params["progressToken"] == token => {
                let link = TaskLink { own: task.to_owned(), exposed: None };
                let mut params = params;
                link.expose(&mut params);
                match Progress::read(params) {
                    Some(progress) => return Some(TaskNotice::Progress(progress)),
                    None => continue,
                }
            }
            _ => {}
        }
    }
}

/// Whether the server runs this tool as a task only.
pub(super) fn needs_task(tool: &toolwright_model::Tool) -> bool {
    execution(tool).is_some_and(|execution| execution["taskSupport"] == "required")
}

/// How a server says that a tool can be run.
pub fn execution(tool: &toolwright_model::Tool) -> Option<&Json> {
    tool.details.rest.iter().find_map(|(_, members)| members.get("/execution"))
}
