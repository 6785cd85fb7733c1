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
//! about the server. Meanwhile the server is asked for the state of the task at intervals. As long
//! as it answers that the task goes on, the idle deadline moves. So the wait of a client that
//! follows its task ends with the task (which has a time to live), with the client, or when the
//! server has not answered for its idle time. A call that is made a task here has the cap of every
//! call, too.
//!
//! Which client a task belongs to is the business of the crate `serve`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, json};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::mpsc;
use toolwright_mcp::meta::RELATED_TASK;
use toolwright_mcp::{RpcError, error_code, raw_json};

use super::connect_error::{bound_task_state, no_answer};
use super::connection::UpstreamConnection;
use super::outgoing_request::{OutgoingRequest, ToolCall};
use super::{RequestError, Upstream, UpstreamEvent, UpstreamNotification};
use crate::budget::now;
use crate::offload::{WorkSize, offload};
use crate::{CallClock, Failure, Host, Json, Outcome, Progress, SessionNumber, code};

/// How often a server is asked for a task if it does not suggest an interval.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The bounds of what it may suggest.
///
/// Below, a server could make this program flood it; above, the idle deadline would end the wait.
const POLL_BOUNDS: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));
/// How long a client can wait for one result: a year stands for no limit.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);
/// How long a task keeps a server running that was removed from the configuration.
const LONGEST_USE: Duration = Duration::from_secs(3600);
/// How long the request to cancel a task may take.
pub(super) const TIME_TO_CANCEL: Duration = Duration::from_secs(10);

/// The last token of [`TaskRequest::progress_token`].
static LAST_TOKEN: AtomicI64 = AtomicI64::new(0);

/// How a call deals with tasks.
///
/// Decided by the caller, before the tool is known to have tasks.
#[derive(Clone, Debug, Default)]
pub enum TaskMode {
    /// The caller waits for the result. A tool that needs a task gets it here, and the caller does
    /// not see it.
    #[default]
    Hidden,
    /// The caller wants a task and follows it.
    Created(Arc<TaskRequest>),
}

/// A caller's request to run a call as a task.
#[derive(Debug)]
pub struct TaskRequest {
    /// The member `task` of the call.
    pub(super) params: Box<RawValue>,
    /// The token of progress reports. Unlike that of other requests it is valid until the task
    /// ends, so it is unique in this program and not the id of a request: those are positive.
    pub progress_token: i64,
    /// See [`TaskRequest::connection`].
    connection: AtomicU64,
}

impl TaskRequest {
    /// A task with these parameters, an object.
    pub fn new(params: Box<RawValue>) -> TaskRequest {
        let progress_token = LAST_TOKEN.fetch_sub(1, Ordering::Relaxed) - 1;
        TaskRequest { params, progress_token, connection: AtomicU64::new(0) }
    }

    /// The number of the connection that it was sent over; zero before that.
    pub fn connection(&self) -> u64 {
        self.connection.load(Ordering::Acquire)
    }

    pub(super) fn set_connection(&self, number: u64) {
        self.connection.store(number, Ordering::Release);
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
pub(super) fn related_task(message: &Json) -> Option<String> {
    message.get("_meta")?.get(RELATED_TASK)?.get("taskId")?.as_str().map(str::to_owned)
}

/// The task that an event is about.
pub fn task_of(event: &UpstreamEvent) -> Option<String> {
    match event {
        UpstreamEvent::Other { method, params } if method.starts_with("notifications/tasks") => {
            params["taskId"].as_str().map(str::to_owned)
        }
        UpstreamEvent::Other { params, .. } | UpstreamEvent::Log(params) => related_task(params),
        UpstreamEvent::ListChanged(_)
        | UpstreamEvent::ResourceUpdated { .. }
        | UpstreamEvent::ConnectionEnded => None,
    }
}

/// The id of the task that a call has created, by its result.
pub(super) fn new_task_of(created: &RawValue) -> Option<String> {
    let created: Json = serde_json::from_str(created.get()).ok()?;
    created["task"]["taskId"].as_str().map(str::to_owned)
}

/// Why the connection of a task has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskLoss {
    Restart,
    /// Its server is not in the configuration any more.
    Removal,
}

/// The error for a task of a connection that has ended.
pub(super) fn task_lost(loss: TaskLoss) -> RpcError {
    let message = match loss {
        TaskLoss::Restart => "the server was restarted, and the task has ended with it",
        TaskLoss::Removal => {
            "the source of the task was removed from the configuration or changed there, and the \
             task has ended with its server"
        }
    };
    RpcError::new(error_code::INVALID_PARAMS, message)
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
    /// Sends a request about a task, over the connection that the task was created on.
    ///
    /// # Errors
    /// The server's own error, or why there is no answer. If the connection has ended, -32602.
    pub async fn task_request(
        self: &Arc<Self>,
        method: &str,
        params: &Map<String, Json>,
        connection: u64,
        host: &dyn Host,
    ) -> Result<TaskAnswer, RequestError> {
        let (idle, cap) = self.time_limits();
        let clock = CallClock::moving(idle, cap, Duration::ZERO);
        let mut request = OutgoingRequest::new(method, params);
        request.connection = Some(connection);
        let answer = tokio::select! {
            biased;
            answer = self.send(&request, host, &clock) => answer,
            () = clock.expired() => {
                return Err(RequestError::Failed(no_answer(method, &clock)));
            }
        };
        let answer = match answer {
            // The server was ended while it was asked.
            Err(RequestError::Failed(_)) if self.is_closed() => {
                return Err(RequestError::Answered(task_lost(TaskLoss::Removal)));
            }
            answer => answer?,
        };
        let size = WorkSize::of_bytes(answer.get().len());
        offload(size, move || TaskAnswer::read(&answer)).await.map_err(RequestError::Failed)
    }

    /// The number of the connection that requests of a session take now; zero if there is none.
    pub fn connection_number(self: &Arc<Self>, session: Option<SessionNumber>) -> u64 {
        let upstream = self.of_session(session).ok();
        let connection = upstream.and_then(|upstream| upstream.open_connection_now());
        connection.map_or(0, |connection| connection.dispatcher.number())
    }

    /// The open connection with this number.
    fn connection_with(&self, number: u64) -> Option<Arc<UpstreamConnection>> {
        self.open_connections().into_iter().find(|open| open.dispatcher.number() == number)
    }

    /// Notes that a task runs on a connection, or has a result there, for at most this time: the
    /// server is in use as long.
    pub fn task_began(&self, id: &str, connection: u64, ttl: Option<Duration>) {
        let longest = ttl.unwrap_or(LONGEST_USE).min(LONGEST_USE);
        if let Some(open) = self.connection_with(connection) {
            open.dispatcher.task_began(id, now() + longest);
        }
    }

    /// Whether the connection with this number is open.
    pub fn has_connection(&self, number: u64) -> bool {
        self.connection_with(number).is_some_and(|open| !open.has_ended())
    }

    /// Notes that a task has ended, and its result can be fetched: it protects the connection of a
    /// single session no longer.
    pub fn task_ended(&self, id: &str, connection: u64) {
        if let Some(open) = self.connection_with(connection) {
            open.refuse_questions(open.dispatcher.task_ended(id));
        }
    }

    /// Notes that nothing of a task is needed any more.
    pub fn task_released(&self, id: &str, connection: u64) {
        if let Some(open) = self.connection_with(connection) {
            open.refuse_questions(open.dispatcher.task_released(id));
        }
    }

    /// Whether a task of a client runs on the server or has a result there, as far as is known.
    pub fn has_tasks(&self) -> bool {
        self.open_connections().iter().any(|open| open.dispatcher.has_tasks())
    }

    /// Cancels a task that nobody wants any more, if its connection is still open. Does not wait
    /// for it.
    pub fn cancel_task(&self, id: &str, connection: u64) {
        let Some(open) = self.connection_with(connection) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        open.refuse_questions(open.dispatcher.task_released(id));
        let params = json!({"taskId": id});
        runtime.spawn(async move {
            let cancelling = open.own_request("tasks/cancel", params);
            let _ = tokio::time::timeout(TIME_TO_CANCEL, cancelling).await;
        });
    }

    /// The result of a task of the client behind `host`. `params` are those of `tasks/result`, with
    /// the id that the server knows; `connection` is the one that the task was created on.
    ///
    /// # Errors
    /// The error that the task ended with, or why there is no answer.
    pub async fn task_result(
        self: &Arc<Self>,
        task: &TaskLink,
        params: Map<String, Json>,
        connection: u64,
        host: &dyn Host,
    ) -> Result<Outcome, RequestError> {
        let (idle, _) = self.time_limits();
        let clock = CallClock::moving(idle, LONGEST_WAIT, Duration::ZERO);
        let (interval, unseen) = (idle / 3, |_: &Json| {});
        let mut request = OutgoingRequest::new("tasks/result", &params);
        (request.task, request.connection) = (Some(task), Some(connection));
        let result = tokio::select! {
            biased;
            result = self.wait_for_task(&request, host, &clock, interval, &unseen) => result?,
            () = clock.expired() => {
                return Err(RequestError::Failed(no_answer("tasks/result", &clock)));
            }
        };
        Upstream::read_outcome(result).await.map_err(RequestError::Failed)
    }

    /// Calls a tool as a task, and waits for the result. Dropping the future cancels the task.
    ///
    /// Three futures in one: the wait for the result, the polling of the state (inside of
    /// `wait_for_task`), and the notifications about the task. Notifications are read before the
    /// result is returned, so that the host gets them in order.
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
        let connection = request.connection();
        let guard = RunningTask { upstream: Arc::clone(self), connection, id: own.to_owned() };
        let suggested = task["task"]["pollInterval"].as_u64().map(Duration::from_millis);
        let interval = suggested.unwrap_or(POLL_INTERVAL).clamp(POLL_BOUNDS.0, POLL_BOUNDS.1);
        let interval = match clock.idle() {
            Duration::ZERO => interval,
            idle => interval.min(idle / 3),
        };
        let mut reports = TaskReports::default();
        reports.answer(&task["task"], host);
        let (polled, mut answers) = mpsc::unbounded_channel();
        let report = |status: &Json| {
            // The receiver is dropped with this call.
            let _ = polled.send(status.clone());
        };
        let params = Map::from_iter([("taskId".to_owned(), Json::from(own))]);
        let mut wait = OutgoingRequest::new("tasks/result", &params);
        (wait.task, wait.connection) = (Some(&link), Some(connection));
        let waiting = self.wait_for_task(&wait, host, clock, interval, &report);
        let following = async {
            loop {
                tokio::select! {
                    // First the notifications: all that came before an answer are there when it is.
                    biased;
                    notification = events.recv() => match notification {
                        Ok(notification) => match TaskReport::read(notification, &link, &request) {
                            Some(report) => reports.report(report, host),
                            None => continue,
                        },
                        Err(RecvError::Lagged(_)) => continue,
                        Err(RecvError::Closed) => std::future::pending().await,
                    },
                    Some(status) = answers.recv() => reports.answer(&status, host),
                }
                clock.restart();
            }
        };
        let result = tokio::select! {
            // First what came before the result.
            biased;
            () = following => unreachable!("it never ends"),
            result = waiting => result,
        };
        // What came before the result, but after the last look.
        loop {
            match events.try_recv() {
                Ok(notification) => {
                    let report = TaskReport::read(notification, &link, &request);
                    report.into_iter().for_each(|report| reports.report(report, host));
                }
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        // Answered, so there is nothing left to cancel.
        if !matches!(result, Err(RequestError::Failed(_))) {
            guard.forget();
        }
        result
    }

    /// Sends `tasks/result` and waits for the answer. Asks for the state of the task meanwhile, as
    /// often as `interval` says; see the file header.
    ///
    /// An answer with another state than these two does not move the clock: `tasks/result` is about
    /// to be answered, and if it is not, the idle time ends the wait.
    async fn wait_for_task(
        self: &Arc<Self>,
        request: &OutgoingRequest<'_>,
        host: &dyn Host,
        clock: &CallClock,
        interval: Duration,
        on_status: &(dyn Fn(&Json) + Sync),
    ) -> Result<Box<RawValue>, RequestError> {
        let params = json!({"taskId": request.task.map(|task| task.own.as_str())});
        let polling = async {
            loop {
                tokio::time::sleep(interval).await;
                // Without its connection, `tasks/result` fails on its own.
                let open = request.connection.and_then(|number| self.connection_with(number));
                let Some(connection) = open else { continue };
                // Our own request: questions of the server must not be put to it.
                let status = connection.own_request("tasks/get", params.clone()).await;
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
            result = self.send(request, host, clock) => result,
            () = polling => unreachable!("it never ends"),
        }
    }
}

/// What a server answers to a request about a task.
pub struct TaskAnswer {
    /// The answer, without the outcome.
    pub state: Json,
    /// The result of the call, if the answer has it (2026-07-28). It is not checked yet.
    pub outcome: Option<Outcome>,
}

impl TaskAnswer {
    /// The new task that a call was answered with, if its result is there already. The members of
    /// the answer stay if it is not.
    ///
    /// # Errors
    /// If the result is not one of a tool.
    pub fn of_ended_call(outcome: &mut Outcome) -> Result<Option<TaskAnswer>, Failure> {
        if !outcome.is_task() || !outcome.rest.contains_key("result") {
            return Ok(None);
        }
        let mut members = std::mem::take(&mut outcome.rest);
        members.extend(outcome.meta.take().map(|meta| ("_meta".to_owned(), meta)));
        TaskAnswer::read(&raw_json(&Json::Object(members))).map(Some)
    }

    fn read(answer: &RawValue) -> Result<TaskAnswer, Failure> {
        let mut state: Json = serde_json::from_str(answer.get()).map_err(|_| {
            Failure::new(&code::OUTPUT_INVALID, "the server's answer is nested too deeply")
        })?;
        let is_there = state.as_object_mut().is_some_and(|it| it.shift_remove("result").is_some());
        bound_task_state(&mut state)?;
        if !is_there {
            return Ok(TaskAnswer { state, outcome: None });
        }
        // The result as it was written, because its numbers must stay exact.
        let written: HashMap<String, &RawValue> =
            serde_json::from_str(answer.get()).unwrap_or_default();
        let outcome = written.get("result").map(|result| super::read_result(result)).transpose()?;
        Ok(TaskAnswer { state, outcome })
    }
}

/// A task that nobody but this program knows. Dropped before its end, it is cancelled.
///
/// Without it, a caller that gives up would leave a task running that nobody can ask for.
struct RunningTask {
    upstream: Arc<Upstream>,
    connection: u64,
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
        if !self.id.is_empty() {
            self.upstream.cancel_task(&self.id, self.connection);
        }
    }
}

/// Turns what is known of a task into progress, for clients that know nothing of tasks.
///
/// A status comes in two ways, and one of them can be behind the other. So an older one is dropped
/// by its time. The times of quick changes are equal: then notifications count, which are in order,
/// and answers only count for servers that send none.
#[derive(Default)]
struct TaskReports {
    /// The text of the last status.
    message: String,
    /// Its `lastUpdatedAt`, without the zone.
    updated: String,
    has_notifications: bool,
    /// Whether the server reports progress itself, in its own numbers.
    has_progress: bool,
    /// How many statuses were reported.
    statuses: u32,
    /// The last number. By the protocol each has to be greater than the one before.
    done: Option<f64>,
}

/// The progress of the first status, and the step to the next one: small, so that the numbers of a
/// server that starts to report progress later are greater.
const STATUS_STEPS_PER_UNIT: f64 = 1_000.0;

impl TaskReports {
    /// The status in a notification.
    fn notification(&mut self, status: &Json, host: &dyn Host) {
        self.has_notifications = true;
        self.status(status, |before, updated| updated < before, host);
    }

    /// The status of a new task, or in the answer to `tasks/get`.
    fn answer(&mut self, status: &Json, host: &dyn Host) {
        match self.has_notifications {
            true => self.status(status, |before, updated| updated <= before, host),
            false => self.status(status, |before, updated| updated < before, host),
        }
    }

    fn status(&mut self, status: &Json, is_behind: fn(&str, &str) -> bool, host: &dyn Host) {
        let Some(message) = status["statusMessage"].as_str() else { return };
        let updated = status["lastUpdatedAt"].as_str().unwrap_or_default();
        // `…:05` and `…:05.12` compare as they should without what follows.
        let updated = updated.trim_end_matches("+00:00").trim_end_matches('Z');
        if is_behind(&self.updated, updated) || self.message == message {
            return;
        }
        message.clone_into(&mut self.message);
        updated.clone_into(&mut self.updated);
        self.statuses += 1;
        if self.has_progress {
            return;
        }
        let done = f64::from(self.statuses) / STATUS_STEPS_PER_UNIT;
        if let Some(progress) = Progress::read(json!({"progress": done, "message": message})) {
            self.pass_on(progress, host);
        }
    }

    fn report(&mut self, report: TaskReport, host: &dyn Host) {
        match report {
            TaskReport::Status(status) => self.notification(&status, host),
            TaskReport::Progress(progress) => {
                self.has_progress = true;
                self.pass_on(progress, host);
            }
        }
    }

    /// MCP demands that progress grows; what does not is dropped.
    fn pass_on(&mut self, progress: Progress, host: &dyn Host) {
        if self.done.is_none_or(|done| progress.done > done) {
            self.done = Some(progress.done);
            host.progress(progress);
        }
    }
}

/// What a server reports about a task.
enum TaskReport {
    Status(Json),
    Progress(Progress),
}

impl TaskReport {
    /// The report in a notification; `None` if it is not about this task.
    fn read(
        notification: UpstreamNotification,
        task: &TaskLink,
        request: &TaskRequest,
    ) -> Option<TaskReport> {
        // Processes of other sessions, and earlier ones, have tasks with the same id.
        let is_of_other = notification.connection != request.connection();
        let UpstreamEvent::Other { method, mut params } = notification.event else { return None };
        match method.as_str() {
            _ if is_of_other => None,
            "notifications/tasks/status" if params["taskId"] == task.own => {
                Some(TaskReport::Status(params))
            }
            "notifications/progress" if params["progressToken"] == request.progress_token => {
                task.expose(&mut params);
                Progress::read(params).map(TaskReport::Progress)
            }
            _ => None,
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
