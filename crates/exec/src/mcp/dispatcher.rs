//! Routes every message of a server: answers to the requests that wait for them, progress, log
//! messages and questions to the request they belong to, everything else to all who follow the
//! server's events.
//!
//! ```text
//!                            ┌─ answer ──────────────────▶ its OpenRequest
//! reader ─▶ Dispatcher ──────┼─ progress, log, question ─▶ the OpenRequest it belongs to
//!  (stdio, HTTP streams)     ├─ list changed, updated … ─▶ events
//!                            └─ ping, unknown, refused ──▶ a reply, which the reader sends
//! ```
//!
//! A message on the event stream of a POST belongs to the request of that POST. Elsewhere a log
//! message goes to the newest request that wants it. The rules for questions are in
//! `question_routing`.
//!
//! The dispatcher also bounds what a server can make us do: messages that nobody requested, open
//! questions, log messages per second.
//!
//! It has no task of its own: the reader of the transport calls `receive` for each message and does
//! what the returned `NextStep` says. Everything that needs to be consistent is in one table
//! (`RequestTable`) under one lock, which is never held across a wait.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use toolwright_mcp::{Message, RequestId, RpcNotification, RpcResponse, meta, raw_json};

use super::client_tasks::{AnnouncedTasks, ClientTasks};
use super::open_request::{
    LogNotification, OpenRequest, RequestEvent, RequestOwner, UpstreamAnswer,
};
use super::question_routing::ChangedRoots;
use super::redact::Redactor;
use super::request_table::{KeptTask, RequestTable};
use super::tasks::{TaskLink, new_task_of, task_of};
use super::{ListKind, UpstreamEvent, UpstreamLog, UpstreamNotification, UselessOutput};
use crate::host::MAX_PROGRESS_BYTES;
use crate::{BoxFuture, Json, Progress, SessionNumber};

/// How many messages a server may send between two answers: notifications, its own requests, and
/// answers to requests that we did not make. Without a limit, such a server would keep one of our
/// threads busy for ever. Progress and log messages do not count.
const MAX_UNREQUESTED: u32 = 20_000;
/// Progress and log messages that are passed on in one second; further ones are dropped.
const MAX_NOTIFICATIONS: u32 = 10_000;
/// The longest notification that is passed on, in bytes. Some hundred of them may wait for a client
/// that does not read. Progress is shortened instead.
const MAX_NOTIFICATION_BYTES: usize = 256 << 10;
/// After this many dropped ones the reader pauses for a moment, so that a server that does nothing
/// else cannot occupy a thread.
const NOTIFICATIONS_PER_PAUSE: u32 = 1_000;
/// Calls that were given up before their task was created; the oldest are forgotten first.
const MAX_ABANDONED: usize = 256;
/// Running tasks that are counted; further ones do not keep the connection open.
const MAX_TASKS: usize = 10_000;

/// Tasks that count as new; see [`RequestTable::new_tasks`].
const MAX_NEW_TASKS: usize = 256;
/// The longest answer that can be a new task, in bytes.
const MAX_TASK_BYTES: usize = 64 << 10;

/// How much of a line that is not a message is logged, in bytes.
const SHOWN_LINE_BYTES: usize = 200;

/// The last number of a connection.
static LAST_CONNECTION: AtomicU64 = AtomicU64::new(0);

/// Who makes the requests of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionSharing {
    /// All clients.
    AllSessions,
    /// One client: its questions need no further attribution, and what the server reports is for
    /// it alone.
    OneSession(SessionNumber),
}

impl ConnectionSharing {
    pub(super) fn session(self) -> Option<SessionNumber> {
        match self {
            ConnectionSharing::AllSessions => None,
            ConnectionSharing::OneSession(session) => Some(session),
        }
    }
}

/// Counts how often a server's list of tools changed.
pub(super) type ListChangeCounter = Arc<watch::Sender<u64>>;

/// The routes of one connection; see the file header.
pub(super) struct Dispatcher {
    requests: Mutex<RequestTable>,
    events: broadcast::Sender<UpstreamNotification>,
    pub(super) sharing: ConnectionSharing,
    /// See [`Dispatcher::number`].
    number: AtomicU64,
    changes: ListChangeCounter,
    pub(super) log: UpstreamLog,
    pub(super) client_tasks: ClientTasks,
    /// Messages since the last answer, see [`MAX_UNREQUESTED`].
    unrequested: AtomicU32,
    /// Whether a flood of questions was logged.
    pub(super) flood_logged: AtomicBool,
    /// Who is asked next for roots without a call; see `question_routing`.
    pub(super) changed_roots: Mutex<Option<ChangedRoots>>,
    /// Whether the next `roots/list` is doubtful; see `question_routing`.
    pub(super) expects_own_roots: AtomicBool,
    notifications: Mutex<NotificationRate>,
    /// The id of the last `subscriptions/listen` that the server acknowledged.
    acknowledged: AtomicI64,
}

/// Counts of one second; a new second starts both at zero.
struct NotificationRate {
    second: Instant,
    passed: u32,
    dropped: u32,
}

/// What the reader of a connection does after a message.
#[derive(Debug)]
pub(super) enum NextStep {
    /// Reads on.
    Continue,
    /// Sends this to the server.
    Reply(Message),
    /// Sends this to the server when it is there.
    ReplyLater(LaterReply),
    /// Waits a moment before it reads on.
    Pause,
    /// Ends the connection, for this reason.
    Disconnect(String),
}

/// A reply that comes later, because a client has to give it first. `None` if none is needed then.
pub(super) struct LaterReply(pub(super) BoxFuture<'static, Option<Message>>);

impl std::fmt::Debug for LaterReply {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("LaterReply")
    }
}

impl Dispatcher {
    pub(super) fn new(
        events: broadcast::Sender<UpstreamNotification>,
        changes: ListChangeCounter,
        log: UpstreamLog,
        sharing: ConnectionSharing,
        tasks: AnnouncedTasks,
    ) -> Dispatcher {
        let notifications = NotificationRate { second: Instant::now(), passed: 0, dropped: 0 };
        Dispatcher {
            requests: Mutex::default(),
            events,
            sharing,
            number: AtomicU64::new(next_number()),
            changes,
            log,
            client_tasks: ClientTasks::new(tasks),
            unrequested: AtomicU32::new(0),
            flood_logged: AtomicBool::new(false),
            changed_roots: Mutex::default(),
            expects_own_roots: AtomicBool::new(sharing == ConnectionSharing::AllSessions),
            notifications: Mutex::new(notifications),
            acknowledged: AtomicI64::new(-1),
        }
    }

    pub(super) fn table(&self) -> MutexGuard<'_, RequestTable> {
        // Nothing in this file panics while it holds the lock, so a poisoned one is still valid.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces secrets in what the server sends.
    pub(super) fn redactor(&self) -> &Arc<Redactor> {
        &self.log.redactor
    }

    /// The number of this connection, unique in this program. A server that was restarted has
    /// another, and so has one whose HTTP session is new: it knows nothing of earlier tasks.
    pub(super) fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }

    /// Gives the connection another number, because the server forgets its state. The end of the
    /// old one is reported when it is not in use any more.
    pub(super) fn renumber(&self) {
        let old = self.number.swap(next_number(), Ordering::AcqRel);
        let mut table = self.table();
        table.tasks.clear();
        table.new_tasks.clear();
        table.held.clear();
        drop(table);
        self.publish_of(old, UpstreamEvent::ConnectionEnded);
    }

    /// Registers a request before anything is sent, so that its answer cannot come too early.
    /// `None` if the connection has ended.
    ///
    /// The lock of the table orders this with `end`: a request is either refused here or ended
    /// there. Questions that were held for the task of the request are delivered at once.
    pub(super) fn register(
        &self,
        owner: RequestOwner,
        task: Option<&TaskLink>,
        creates_task: bool,
    ) -> Option<Arc<OpenRequest>> {
        let mut table = self.table();
        if table.ended {
            return None;
        }
        table.made += 1;
        let request = Arc::new(OpenRequest::new(table.made, owner, task.cloned(), creates_task));
        table.open.insert(request.id, Arc::clone(&request));
        for mut question in task.map(|link| table.take_held(&link.own)).unwrap_or_default() {
            task.inspect(|link| link.expose(&mut question.params));
            // At most as many as one request may have.
            if table.open_question(&request, &question).is_ok() {
                request.push(RequestEvent::Question(question));
            }
        }
        Some(request)
    }

    /// Forgets a request. Returns whether it was still open.
    ///
    /// If the request may still create a task, its id is remembered: a late answer then names a
    /// task that somebody has to cancel.
    pub(super) fn remove(&self, id: i64) -> bool {
        let mut table = self.table();
        let removed = table.open.remove(&id);
        let was_open = removed.is_some();
        if removed.is_some_and(|request| request.creates_task) {
            if table.abandoned.len() >= MAX_ABANDONED {
                table.abandoned.pop_front();
            }
            table.abandoned.push_back(id);
        }
        if !table.asked.is_empty() {
            table.give_up_questions(id);
        }
        was_open
    }

    /// Whether the answer to a request is still expected.
    pub(super) fn is_open(&self, id: i64) -> bool {
        let table = self.table();
        table.open.contains_key(&id) || table.abandoned.contains(&id)
    }

    /// How many requests the server has not answered yet.
    pub(super) fn open_requests(&self) -> usize {
        self.table().open.len()
    }

    /// Whether a request of a caller is open, or a task of a client runs.
    pub(super) fn is_busy(&self) -> bool {
        self.has_callers() || self.any_task(|task| task.is_running)
    }

    /// Whether a request of a caller is open.
    pub(super) fn has_callers(&self) -> bool {
        let is_of_caller = |request: &Arc<OpenRequest>| request.owner != RequestOwner::Own;
        self.table().open.values().any(is_of_caller)
    }

    /// Notes that a task is kept, at most until this time.
    pub(super) fn task_began(&self, id: &str, until: Instant) {
        let mut table = self.table();
        if table.tasks.len() >= MAX_TASKS {
            let now = Instant::now();
            table.tasks.retain(|_, task| task.until > now);
        }
        if table.tasks.len() < MAX_TASKS {
            table.tasks.insert(id.to_owned(), KeptTask { until, is_running: true });
        }
    }

    /// Notes that a task has ended, and its result can be fetched. Returns the questions about it
    /// that nobody will answer.
    pub(super) fn task_ended(&self, id: &str) -> Vec<RequestId> {
        let mut table = self.table();
        if let Some(task) = table.tasks.get_mut(id) {
            task.is_running = false;
        }
        table.take_held(id).into_iter().map(|question| question.id).collect()
    }

    /// Notes that nothing of a task is needed any more. Returns the questions about it that nobody
    /// will answer.
    pub(super) fn task_released(&self, id: &str) -> Vec<RequestId> {
        let mut table = self.table();
        table.tasks.remove(id);
        table.new_tasks.retain(|own| own != id);
        table.take_held(id).into_iter().map(|question| question.id).collect()
    }

    /// Whether a task of a client is kept.
    pub(super) fn has_tasks(&self) -> bool {
        self.any_task(|_| true)
    }

    fn any_task(&self, fits: impl Fn(&KeptTask) -> bool) -> bool {
        let now = Instant::now();
        self.table().tasks.values().any(|task| task.until > now && fits(task))
    }

    /// Whether [`Dispatcher::end`] was called.
    pub(super) fn has_ended(&self) -> bool {
        self.table().ended
    }

    /// The id for a request whose answer is not awaited.
    pub(super) fn next_id(&self) -> i64 {
        let mut table = self.table();
        table.made += 1;
        table.made
    }

    /// The id of the newest request.
    pub(super) fn last_id(&self) -> i64 {
        self.table().made
    }

    /// Counts a change of the list of tools. Lists come from the shared connection, so those of
    /// single sessions do not count.
    pub(super) fn count_change(&self) {
        if self.sharing == ConnectionSharing::AllSessions {
            self.changes.send_modify(|n| *n += 1);
        }
    }

    /// Whether the server has acknowledged this `subscriptions/listen`, or a later one.
    pub(super) fn is_acknowledged(&self, id: i64) -> bool {
        self.acknowledged.load(Ordering::Acquire) >= id
    }

    /// Ends a request. Returns the answer if there is none with this id.
    fn answer(&self, id: i64, answer: UpstreamAnswer) -> Result<(), UpstreamAnswer> {
        // Locked until it is delivered: a request is either open, or has its answer.
        let mut table = self.table();
        let Some(request) = table.open.remove(&id) else { return Err(answer) };
        if request.creates_task
            && let UpstreamAnswer::Result(created) = &answer
            && created.get().len() <= MAX_TASK_BYTES
            && let Some(task) = new_task_of(created)
        {
            if table.new_tasks.len() >= MAX_NEW_TASKS {
                table.new_tasks.pop_front();
            }
            table.new_tasks.push_back(task);
        }
        request.push(RequestEvent::Answer(answer));
        Ok(())
    }

    /// Ends all requests, and later ones, because the connection has ended.
    pub(super) fn end(&self) {
        let mut table = self.table();
        let was_open = !std::mem::replace(&mut table.ended, true);
        let open = std::mem::take(&mut table.open);
        let asked = std::mem::take(&mut table.asked);
        table.held.clear();
        drop(table);
        asked.values().filter_map(|it| it.shared.as_ref()).for_each(CancellationToken::cancel);
        for request in open.into_values() {
            request.push(RequestEvent::Answer(UpstreamAnswer::ConnectionEnded));
        }
        if was_open {
            self.publish(UpstreamEvent::ConnectionEnded);
        }
    }

    /// Passes a log message that this request does not want to an older one of the same client.
    ///
    /// Log messages on standard streams name no request. The newest request that wants them gets
    /// them, so each is offered to older ones in turn.
    pub(super) fn pass_on_log(&self, from: &OpenRequest, notification: LogNotification) {
        let table = self.table();
        let older = table.of_owner(from.owner).filter(|it| it.id < from.id);
        if let Some(request) = older.max_by_key(|it| it.id) {
            request.push(RequestEvent::Log(notification));
        }
    }

    /// Routes one message. `of` is the request on whose stream it arrived, if it has one of its
    /// own.
    pub(super) fn receive(self: &Arc<Self>, message: Message, of: Option<i64>) -> NextStep {
        match message {
            Message::Response(response) => self.receive_response(response),
            Message::Notification(notification) => self.receive_notification(notification, of),
            Message::Request(request) => self.receive_request(request, of),
        }
    }

    /// Fails the request whose answer was too large to be kept.
    ///
    /// A message without a readable id counts as one that nobody has requested.
    pub(super) fn receive_too_large(&self, id: Option<RequestId>) -> NextStep {
        match id.as_ref().and_then(own_id) {
            Some(id) if self.answer(id, UpstreamAnswer::TooLarge).is_ok() => {
                self.unrequested.store(0, Ordering::Relaxed);
                NextStep::Continue
            }
            _ => self.count_unrequested(),
        }
    }

    /// Notes a line of the server that is not a message, for the log.
    pub(super) fn log_invalid_line(&self, line: &[u8]) {
        let line = line.trim_ascii();
        if !line.is_empty() {
            self.log.useless(UselessOutput::Line, || {
                let shown = String::from_utf8_lossy(&line[..line.len().min(SHOWN_LINE_BYTES)]);
                let cut = if line.len() > SHOWN_LINE_BYTES { "…" } else { "" };
                let shown = shown.escape_debug();
                format!("its output has a line that is not a message: `{shown}{cut}`")
            });
        }
    }

    fn receive_response(&self, response: RpcResponse) -> NextStep {
        let answer = match response.outcome {
            Ok(result) => UpstreamAnswer::Result(result),
            Err(error) => UpstreamAnswer::Error(error),
        };
        let Some(id) = response.id.as_ref().and_then(own_id) else {
            self.log_useless_answer(response.id.as_ref(), &answer);
            return self.count_unrequested();
        };
        let Err(unread) = self.answer(id, answer) else {
            self.unrequested.store(0, Ordering::Relaxed);
            return NextStep::Continue;
        };
        if id > self.last_id() {
            self.log_useless_answer(response.id.as_ref(), &unread);
        }
        // An answer that came after its request was cancelled, or one too many.
        match (self.cancel_abandoned(id, &unread), self.count_unrequested()) {
            (Some(cancel), NextStep::Continue) => NextStep::Reply(cancel),
            (_, step) => step,
        }
    }

    /// Logs that an answer belongs to no request.
    fn log_useless_answer(&self, id: Option<&RequestId>, answer: &UpstreamAnswer) {
        self.log.useless(UselessOutput::Answer, || match (id, answer) {
            (None, UpstreamAnswer::Error(error)) => {
                let message: String = error.message.chars().take(SHOWN_LINE_BYTES).collect();
                format!("it sent an error that names no request: {message}")
            }
            (id, _) => {
                let id = id.map(RequestId::to_json).unwrap_or_default();
                format!("it answered a request that was not made, with the id {id}")
            }
        });
    }

    /// The request to cancel a task whose creation was given up.
    fn cancel_abandoned(&self, id: i64, created: &UpstreamAnswer) -> Option<Message> {
        let mut table = self.table();
        let at = table.abandoned.iter().position(|known| *known == id)?;
        table.abandoned.remove(at);
        let UpstreamAnswer::Result(created) = created else { return None };
        let task = new_task_of(created)?;
        table.made += 1;
        let params = raw_json(&serde_json::json!({"taskId": task}));
        Some(Message::request(RequestId::Number(table.made), "tasks/cancel", Some(params)))
    }

    pub(super) fn count_unrequested(&self) -> NextStep {
        if self.unrequested.fetch_add(1, Ordering::Relaxed) < MAX_UNREQUESTED {
            return NextStep::Continue;
        }
        NextStep::Disconnect(format!(
            "it sent {MAX_UNREQUESTED} messages that were not requested and was disconnected"
        ))
    }

    fn receive_notification(&self, notification: RpcNotification, of: Option<i64>) -> NextStep {
        let RpcNotification { method, params } = notification;
        let bytes = method.len() + params.as_ref().map_or(0, |params| params.get().len());
        if bytes > MAX_NOTIFICATION_BYTES && method != "notifications/progress" {
            return self.drop_long(&method, bytes);
        }
        if matches!(method.as_str(), "notifications/progress" | "notifications/message") {
            return self.receive_progress_or_log(&method, params.as_deref(), of);
        }
        let step = self.count_unrequested();
        let params = parse_params(params.as_deref());
        let event = match method.as_str() {
            "notifications/tools/list_changed" => {
                self.count_change();
                UpstreamEvent::ListChanged(ListKind::Tools)
            }
            "notifications/prompts/list_changed" => UpstreamEvent::ListChanged(ListKind::Prompts),
            // One notification for both lists.
            "notifications/resources/list_changed" => {
                self.publish(UpstreamEvent::ListChanged(ListKind::ResourceTemplates));
                UpstreamEvent::ListChanged(ListKind::Resources)
            }
            "notifications/resources/updated" => match params {
                Json::Object(mut more) => match more.shift_remove("uri") {
                    Some(Json::String(uri)) => {
                        // Clients have subscriptions of their own.
                        if let Some(Json::Object(own)) = more.get_mut("_meta") {
                            own.shift_remove(meta::SUBSCRIPTION_ID);
                            if own.is_empty() {
                                more.shift_remove("_meta");
                            }
                        }
                        UpstreamEvent::ResourceUpdated { uri, more }
                    }
                    _ => return step,
                },
                _ => return step,
            },
            "notifications/cancelled" => {
                self.withdraw(&params["requestId"], params["reason"].as_str());
                return step;
            }
            "notifications/subscriptions/acknowledged" => {
                if let Some(id) = params["_meta"][meta::SUBSCRIPTION_ID].as_i64() {
                    self.acknowledged.fetch_max(id, Ordering::AcqRel);
                }
                return step;
            }
            _ => UpstreamEvent::Other { method, params },
        };
        self.publish(event);
        step
    }

    /// Drops a notification that is too long.
    fn drop_long(&self, method: &str, bytes: usize) -> NextStep {
        self.log.useless(UselessOutput::Notification, || {
            format!("it sent a notification of {bytes} bytes, which is not passed on")
        });
        match method {
            "notifications/message" => self.limit_notifications().unwrap_or(NextStep::Continue),
            _ => self.count_unrequested(),
        }
    }

    /// Tells those who follow the server. Without any, the event is lost.
    pub(super) fn publish(&self, event: UpstreamEvent) {
        self.publish_of(self.number(), event);
    }

    /// A slow receiver loses old events and gets their number; see `MAX_EVENTS` of `upstream`.
    fn publish_of(&self, connection: u64, event: UpstreamEvent) {
        let session = self.sharing.session();
        let is_of_hidden_task = task_of(&event).is_some_and(|task| self.is_hidden(&task));
        let _ = self.events.send(UpstreamNotification {
            session,
            connection,
            is_of_hidden_task,
            event,
        });
    }

    /// Whether a call that made a task for itself waits for the result of this one.
    fn is_hidden(&self, task: &str) -> bool {
        let is_it = |link: &TaskLink| link.own == task && link.exposed.is_none();
        self.table().open.values().any(|request| request.task.as_ref().is_some_and(is_it))
    }

    /// Progress and log messages: passed on up to a rate, and dropped above it.
    fn receive_progress_or_log(
        &self,
        method: &str,
        params: Option<&RawValue>,
        of: Option<i64>,
    ) -> NextStep {
        if let Some(step) = self.limit_notifications() {
            return step;
        }
        let is_long = params.is_some_and(|params| params.get().len() > MAX_PROGRESS_BYTES);
        let mut params = parse_params(params);
        if method == "notifications/progress" {
            if is_long {
                params = Progress::shortened(&params);
            }
            // Tokens of tasks are negative: their requests have ended.
            if params["progressToken"].as_i64().is_some_and(|token| token < 0) {
                self.publish(UpstreamEvent::Other { method: method.to_owned(), params });
                return NextStep::Continue;
            }
            // The token is the id of the request; see `outgoing_request`.
            let request = params["progressToken"].as_i64();
            let request = request.and_then(|id| self.table().open.get(&id).cloned());
            if let Some(request) = request
                && let Some(progress) = Progress::read(params)
            {
                request.push(RequestEvent::Progress(progress));
            }
            return NextStep::Continue;
        }
        match self.request_about(&mut params, of) {
            Some((request, is_attributed)) => {
                request.push(RequestEvent::Log(LogNotification { params, is_attributed }));
            }
            None => self.publish(UpstreamEvent::Log(params)),
        }
        NextStep::Continue
    }

    /// Counts a progress or log message; what to do instead of passing it on, if it is one too
    /// many.
    ///
    /// Counted in whole seconds from the first message, which is exact enough for a limit that only
    /// floods reach.
    fn limit_notifications(&self) -> Option<NextStep> {
        let mut rate = self.notifications.lock().unwrap_or_else(PoisonError::into_inner);
        if rate.second.elapsed() > Duration::from_secs(1) {
            *rate = NotificationRate { second: Instant::now(), passed: 0, dropped: 0 };
        }
        if rate.passed < MAX_NOTIFICATIONS {
            rate.passed += 1;
            return None;
        }
        rate.dropped += 1;
        let is_flood = rate.dropped.is_multiple_of(NOTIFICATIONS_PER_PAUSE);
        Some(if is_flood { NextStep::Pause } else { NextStep::Continue })
    }
}

/// The number of the request that an answer names. Some servers write it as a text, and SDKs accept
/// that.
fn own_id(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(id) => Some(*id),
        RequestId::Text(id) => id.parse().ok(),
    }
}

fn next_number() -> u64 {
    LAST_CONNECTION.fetch_add(1, Ordering::Relaxed) + 1
}

/// The parameters of a message; null if there are none.
pub(super) fn parse_params(params: Option<&RawValue>) -> Json {
    params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_with_a_new_number_has_ended_with_its_old_one() {
        let (events, mut received) = broadcast::channel(4);
        let log = UpstreamLog {
            log: crate::Log::default(),
            name: "s".to_owned(),
            redactor: Arc::default(),
            no_roots_logged: Arc::default(),
            useless_logged: Arc::default(),
        };
        let (changes, sharing) = (Arc::new(watch::Sender::new(0)), ConnectionSharing::AllSessions);
        let own = Dispatcher::new(events, changes, log, sharing, Arc::default());
        let old = own.number();
        own.task_began("t", Instant::now() + Duration::from_secs(3600));
        assert!(own.has_tasks() && own.is_busy());
        own.renumber();
        assert!(!own.has_tasks() && own.number() != old);
        let notification = received.try_recv().expect("a notification");
        assert!(matches!(notification.event, UpstreamEvent::ConnectionEnded));
        assert_eq!(notification.connection, old);
        own.task_began("t", Instant::now() + Duration::from_secs(3600));
        own.task_ended("t");
        assert!(own.has_tasks() && !own.is_busy());
    }
}
