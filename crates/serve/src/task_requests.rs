//! Tasks: calls whose result a client fetches later. `tasks/*` go to the server that runs the task,
//! and what it reports about a task to the client that owns it.
//!
//! ```text
//! tools/call, task ─▶ tool_calls ─▶ server: new task ─▶ SessionTasks of the client
//! tasks/get, cancel, update ─▶ SessionTasks ─▶ server, with its own id
//! tasks/result, or a result in tasks/get ─▶ the last steps of every call (size, schema, length)
//! tasks/list ─▶ tasks/get for each task of the client
//! notifications about a task ─▶ SessionTasks of all clients ─▶ its client
//! ```
//!
//! 2025-11-25 has all of them, the extension of 2026-07-28 neither `tasks/result` nor `tasks/list`.
//!
//! A task has two names: `own` is the id that its server gave, `exposed` the one that the client
//! knows. They differ only if the client has another task with the same id. Everything that a
//! client sends or receives about a task is translated in this file; a client that names an id
//! which is not in its own `SessionTasks` gets the error for an unknown task, also if another
//! client has it.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use toolwright_catalog::ServerNotification;
use toolwright_exec::mcp::{
    RequestError, TaskAnswer, TaskMode, TaskRequest, execution, rename_task,
};
use toolwright_exec::{CallRequest, Failure, Host, Outcome, RegisteredTool, code};
use toolwright_mcp::{Message, RpcError, error_code, meta};
use toolwright_model::{Binding, Server};

use crate::Gateway;
use crate::call_host::CallHost;
use crate::client_session::ClientSession;
use crate::dispatcher::RequestContext;
use crate::offered_items::{adapt_result, forwarded_params, request_error};
use crate::request_params::{RequestParams, invalid_params};
use crate::request_terms::{RequestTerms, unknown_method};
use crate::result_body::{ResultBody, ToolResult};
use crate::session_tasks::{ClientTask, MAX_ID, NewTask, SessionTasks};
use crate::suspended_calls::MethodResult;
use crate::tool_calls::{failure_result, protocol_error};

/// Tasks of one page of `tasks/list`. Each costs a request to its server; all of a page are asked
/// at once.
const PAGE_SIZE: usize = 50;
/// What a `tools/call` says of tasks. `Hidden` without the member, and in revisions without tasks:
/// then the gateway waits for a task that the server makes, and the client never sees it.
///
/// # Errors
/// If its `task` is not an object.
pub(crate) fn task_mode(context: &RequestContext<'_>) -> Result<TaskMode, RpcError> {
    if !context.terms.revision.has_tasks() {
        return Ok(TaskMode::Hidden);
    }
    match context.params.task {
        Some(task) if task.get().starts_with('{') => {
            Ok(TaskMode::Created(Arc::new(TaskRequest::new(task.to_owned()))))
        }
        Some(_) => Err(invalid_params("`task` is not an object")),
        None => Ok(TaskMode::Hidden),
    }
}

impl Gateway {
    /// Drops `task` from a call of a tool that cannot be one. By the specification a server without
    /// tasks ignores that member, and one with tasks refuses it for tools without `taskSupport`.
    ///
    /// # Errors
    /// If other tools here can be tasks, or could when the session began.
    pub(crate) fn check_task(
        &self,
        session: &ClientSession,
        call: &mut CallRequest,
    ) -> Result<(), Failure> {
        let runner = self.catalog().runner();
        let registry = runner.registry();
        let (agent, number) = (&session.agent, Some(session.number));
        let may_see = |tool: &&Arc<RegisteredTool>| runner.may_see(agent, number, tool);
        let Some(tool) = registry.find(&call.id).filter(may_see) else { return Ok(()) };
        let offers = self.offers();
        let support = execution(&tool.tool).map(|execution| &execution["taskSupport"]);
        if support.is_some_and(|support| support == "optional" || support == "required")
            && matches!(&tool.tool.details.binding,
                Binding::Server { server, .. } if offers.has_tasks(server))
        {
            return Ok(());
        }
        if !offers.capabilities.task_calls && !session.announced().task_calls {
            call.task = TaskMode::Hidden;
            return Ok(());
        }
        let message = format!("the tool `{}` cannot be called as a task", tool.id);
        let mut failure = Failure::new(&code::NOT_RUNNABLE, &*message);
        failure.rpc_error = Some(Box::new(RpcError::new(error_code::METHOD_NOT_FOUND, message)));
        Err(failure)
    }

    /// Notes the token of the client for the progress of the task that a call will create.
    ///
    /// The token stays valid as long as the task lives, and not only until the call is answered,
    /// which is why it is kept with the tasks. A call that creates no task gives it back
    /// (`forget_token`).
    ///
    /// # Errors
    /// If the token is too long to be kept as long as a task.
    pub(crate) fn note_task_progress(
        &self,
        task: &TaskMode,
        session: &ClientSession,
        host: &CallHost,
    ) -> Result<(), RpcError> {
        if let TaskMode::Created(task) = task
            && let Some(token) = host.progress_token()
        {
            if token.as_str().is_some_and(|token| token.len() > MAX_ID) {
                let message = format!("the progress token is longer than {MAX_ID} bytes");
                return Err(invalid_params(message));
            }
            session.with_tasks(|tasks| tasks.remember_token(task, token));
        }
        Ok(())
    }

    /// Remembers the task that a result is about, gives it the id that the client knows, and
    /// returns that; `None` if the result is not about a task. `tool` is the tool that was called,
    /// `mode` what the call said of tasks.
    ///
    /// Called before the answer goes to the client. The task must be in the table by then: the
    /// server may report about it at once, and what it reported earlier waits in
    /// `unclaimed_notifications`.
    ///
    /// # Errors
    /// If the id is too long to be kept. Then the task is cancelled.
    ///
    /// Both revisions are read: a result may name its task in `_meta`, in `task`, or in its own
    /// members.
    pub(crate) fn remember_task(
        &self,
        session: &Arc<ClientSession>,
        server: &Arc<Server>,
        tool: &Arc<RegisteredTool>,
        mode: &TaskMode,
        outcome: &mut Outcome,
    ) -> Result<Option<String>, Failure> {
        let request = match mode {
            TaskMode::Created(request) => Some(&**request),
            TaskMode::Hidden => None,
        };
        let related = outcome.meta.as_ref().and_then(|meta| meta.get(meta::RELATED_TASK));
        // 2025-11-25 has the new task as a member, 2026-07-28 its members in the result.
        let created = outcome.rest.get("task");
        let ttl = created.and_then(|task| task.get("ttl")).or_else(|| outcome.rest.get("ttlMs"));
        let ttl = ttl.and_then(Json::as_u64).map(Duration::from_millis);
        let task = related.or(created).and_then(|task| task.get("taskId"));
        let task = task.or_else(|| outcome.rest.get("taskId")).and_then(Json::as_str);
        let Some(own) = task.map(str::to_owned) else {
            if let Some(request) = request {
                session.with_tasks(|tasks| tasks.forget_token(request.progress_token));
            }
            return Ok(None);
        };
        let upstream = self.catalog().runner().context().upstreams.get(server);
        let connection = match request {
            Some(request) => request.connection(),
            None => upstream.connection_number(Some(session.number)),
        };
        if own.len() > MAX_ID {
            upstream.cancel_task(&own, connection);
            let message = format!("the server's id of the task is longer than {MAX_ID} bytes");
            return Err(Failure::new(&code::OUTPUT_INVALID, message));
        }
        let status = outcome.rest.get("task").unwrap_or(&Json::Null);
        let of = Arc::clone(&upstream);
        let task = NewTask { own: &own, upstream: of, connection, tool, ttl, request, status };
        let exposed = session.with_tasks(|tasks| tasks.remember(task));
        if exposed != own {
            let mut rest = Json::Object(std::mem::take(&mut outcome.rest));
            rename_task(&mut rest, &own, &exposed);
            if let Json::Object(rest) = rest {
                outcome.rest = rest;
            }
            rename_related_task(&mut outcome.meta, &own, &exposed);
        }
        self.unclaimed_notifications().task_added();
        // The end of a server that crashes at once may have been reported before this.
        if !upstream.has_connection(connection) {
            let gateway = self.clone();
            tokio::spawn(async move { gateway.end_lost_tasks().await });
        }
        Ok(Some(exposed))
    }

    /// The answer to a call whose server put the result into the answer that creates the task. The
    /// result is checked like one that `tasks/get` brings. `None` if there is no result yet.
    ///
    /// `state` of the answer is that of the task, with the exposed names; the result has taken the
    /// steps of the runner and of `finished_result`, like that of a call without a task.
    ///
    /// # Errors
    /// If the result is not one of a tool.
    pub(crate) async fn ended_at_once(
        &self,
        context: &RequestContext<'_>,
        id: &str,
        outcome: &mut Outcome,
    ) -> Result<Option<ResultBody>, Failure> {
        let Some(TaskAnswer { mut state, outcome: Some(result) }) =
            TaskAnswer::of_ended_call(outcome)?
        else {
            return Ok(None);
        };
        let Some(task) = context.session.with_tasks(|tasks| tasks.get(id)) else {
            return Ok(None);
        };
        self.offers().expose(task.upstream.server(), &mut state);
        if let Some(members) = state.as_object_mut().filter(|_| !context.terms.is_stateless()) {
            members.shift_remove("resultType");
        }
        let result = match self.finish_task(context, &task, result).await {
            Ok(outcome) => self.task_outcome(context, &task, outcome).await,
            Err(failure) => task_failure(&failure, &task, context.terms),
        };
        Ok(Some(ResultBody::EndedTask { state, result }))
    }

    /// Asks the server of a task about it. The answer has the URIs and the id that clients see.
    ///
    /// The status in the answer is noted with the task, so that the end of a connection can be
    /// reported for tasks that were still running, and only for these.
    async fn ask_about_task(
        &self,
        context: &RequestContext<'_>,
        task: &ClientTask,
        method: &str,
        params: &Map<String, Json>,
        host: &CallHost,
    ) -> Result<TaskAnswer, RpcError> {
        let asking = task.upstream.task_request(method, params, task.connection, host);
        let mut answer = self.unless_ended(context, asking).await?.map_err(request_error)?;
        context.session.with_tasks(|tasks| tasks.note_status(&task.exposed, &answer.state));
        self.offers().expose(task.upstream.server(), &mut answer.state);
        rename_task(&mut answer.state, &task.own, &task.exposed);
        Ok(answer)
    }

    /// Answers `tasks/get` and its like: the server that runs the task does.
    ///
    /// An unknown task, a task of another session and one that was forgotten get the same error
    /// -32602.
    ///
    /// ```text
    /// tasks/list      list_tasks
    /// tasks/result    task_result: waits for the end
    /// the others      asked of the server; the answer may hold the result, which ends the task
    /// ```
    pub(crate) async fn answer_task_request(
        &self,
        context: &RequestContext<'_>,
        raw: Option<&RawValue>,
        host: &CallHost,
    ) -> MethodResult {
        match context.method {
            "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/update" => {}
            // Also when the servers that list tasks were removed since the handshake.
            "tasks/list"
                if context.terms.revision.has_tasks()
                    && (self.offers().capabilities.task_list
                        || context.session.announced().task_list) =>
            {
                return self.list_tasks(context, host).await;
            }
            method => return Err(unknown_method(method)),
        }
        let id = RequestParams::text(context.params.task_id, "taskId")?;
        // The extension is declared with every request; before 2026-07-28 it is part of MCP.
        let declared = host.client_capabilities();
        if context.terms.is_stateless()
            && declared["extensions"].get(meta::TASKS_EXTENSION).is_none()
        {
            let message = "the client does not have the extension for tasks";
            let mut error = RpcError::new(error_code::MISSING_CAPABILITY, message);
            let required = json!({"extensions": {(meta::TASKS_EXTENSION): {}}});
            error.data = Some(json!({"requiredCapabilities": required}));
            return Err(error);
        }
        let task = context.session.with_tasks(|tasks| tasks.get(&id));
        let task =
            task.ok_or_else(|| invalid_params(format!("there is no task `{id}` in this session")))?;
        let mut params = forwarded_params(raw)?;
        params.insert("taskId".to_owned(), json!(task.own));
        if context.method == "tasks/result" {
            return self.task_result(context, &task, params, host).await;
        }
        // Here the answers are for the task, and not for a request that waits in this program.
        if let Some(Json::Object(mut given)) =
            raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
            && let Some(answers) = given.remove("inputResponses")
        {
            params.insert("inputResponses".to_owned(), answers);
        }
        let answer = self.ask_about_task(context, &task, context.method, &params, host).await?;
        let spoken = task.upstream.revision(host.session());
        let state = adapt_result(answer.state, context.method, context.terms, spoken);
        let Some(outcome) = answer.outcome else { return Ok(ResultBody::Json(state)) };
        // The extension of 2026-07-28 has the result of the call in the task.
        let finishing = self.finish_task(context, &task, outcome);
        let result = match self.unless_ended(context, finishing).await? {
            Ok(outcome) => self.task_outcome(context, &task, outcome).await,
            Err(failure) => task_failure(&failure, &task, context.terms),
        };
        Ok(ResultBody::EndedTask { state, result })
    }

    /// Completes the result of a task: the runner checks its size and its schema, as after a call.
    /// Only then the task counts as ended. After a failure, such as a cancelled request, it can be
    /// fetched again.
    ///
    /// # Errors
    /// What the runner refuses: a result that is too large, or does not match the output schema.
    async fn finish_task(
        &self,
        context: &RequestContext<'_>,
        task: &ClientTask,
        outcome: Outcome,
    ) -> Result<Outcome, Failure> {
        let runner = self.catalog().runner();
        let finished = runner.finish_task(&task.tool, outcome, context.cancel).await?;
        context.session.with_tasks(|tasks| tasks.end(&task.exposed));
        Ok(finished)
    }

    /// Answers `tasks/result`, when the task has ended: the request waits as long as that takes. An
    /// error that the server answered with is the result of the task, so it ends the task here as
    /// well; a failed connection does not, and is reported as the result of a failed call.
    async fn task_result(
        &self,
        context: &RequestContext<'_>,
        task: &ClientTask,
        params: Map<String, Json>,
        host: &CallHost,
    ) -> MethodResult {
        let link = task.link();
        let work = async {
            let outcome = task.upstream.task_result(&link, params, task.connection, host).await;
            let outcome = outcome.map_err(|error| match error {
                RequestError::Answered(error) => {
                    context.session.with_tasks(|tasks| tasks.end(&task.exposed));
                    Err(error)
                }
                RequestError::Failed(failure) => Ok(failure),
            })?;
            self.finish_task(context, task, outcome).await.map_err(Ok)
        };
        match self.unless_ended(context, work).await? {
            Ok(outcome) => Ok(ResultBody::Tool(self.task_outcome(context, task, outcome).await)),
            Err(Err(error)) => Err(error),
            Err(Ok(failure)) => match protocol_error(&failure) {
                Some(error) => Err(error),
                None => Ok(ResultBody::Tool(task_failure(&failure, task, context.terms))),
            },
        }
    }

    /// The result of a task as that of the tool that was called.
    ///
    /// With all steps of `finished_result`: names of URIs, the output schema, the length.
    async fn task_outcome(
        &self,
        context: &RequestContext<'_>,
        task: &ClientTask,
        mut outcome: Outcome,
    ) -> Box<ToolResult> {
        rename_related_task(&mut outcome.meta, &task.own, &task.exposed);
        let server = Some(Arc::clone(task.upstream.server()));
        let tool = Some(Arc::clone(&task.tool));
        self.finished_result(context, server, tool, outcome).await
    }

    /// Answers `tasks/list` with a page of the client's tasks. Tasks that their server has dropped
    /// are left out and forgotten.
    ///
    /// The server's own `tasks/list` is not used: it may list tasks of other clients of this
    /// gateway. A task whose server does not answer now is left out of the page and stays in the
    /// table.
    async fn list_tasks(&self, context: &RequestContext<'_>, host: &CallHost) -> MethodResult {
        let cursor = RequestParams::optional_text(context.params.cursor, "cursor")?;
        let page = context.session.with_tasks(|tasks| tasks.page(cursor.as_deref(), PAGE_SIZE));
        let (tasks, has_more) = page.ok_or_else(|| invalid_params("the cursor is unknown"))?;
        let asking = tasks.iter().map(|task| async move {
            let params = Map::from_iter([("taskId".to_owned(), json!(task.own))]);
            self.ask_about_task(context, task, "tasks/get", &params, host).await
        });
        let next = tasks.last().filter(|_| has_more).map(|task| task.exposed.clone());
        let mut list = Vec::new();
        for (task, answer) in tasks.iter().zip(join_all(asking).await) {
            match answer {
                Ok(TaskAnswer { state: mut found, .. }) => {
                    if let Some(members) = found.as_object_mut() {
                        members.shift_remove("_meta");
                    }
                    list.push(found);
                }
                // The one that is the cursor is forgotten when it is in the way again.
                Err(error)
                    if error.code == error_code::INVALID_PARAMS
                        && next.as_ref() != Some(&task.exposed) =>
                {
                    context.session.with_tasks(|tasks| tasks.forget(&task.exposed));
                }
                Err(_) => {}
            }
        }
        let mut result = json!({"tasks": list});
        if let Some(next) = next {
            result["nextCursor"] = json!(next);
        }
        Ok(ResultBody::Json(result))
    }

    /// Reports to clients that running tasks have ended with their connection.
    ///
    /// Called after the end of a connection to a server: its tasks are gone with it, and a client
    /// that polls or waits for notifications has to learn that from somebody.
    pub(crate) async fn end_lost_tasks(&self) {
        for session in self.open_sessions() {
            for status in session.with_tasks(SessionTasks::end_lost) {
                let method = "notifications/tasks/status";
                let message = Message::notification(method, &status).to_bytes().into();
                self.send_to_ready(&message, |other| other.number == session.number).await;
            }
        }
    }

    /// Finds the client of the task that a notification is about, and gives task and progress the
    /// names that this client knows. Returns false if there is no such client: then the
    /// notification is kept for a moment, because the client may be about to get the task.
    ///
    /// Called in the one task of `notification_forwarder`. `notification.session` is set
    /// afterwards, so it is sent to that client only.
    pub(crate) fn claim_notification(&self, notification: &mut ServerNotification) -> bool {
        self.unclaimed_notifications().claim_or_keep(notification, |notification| {
            let of = notification.session;
            let sessions = self.open_sessions();
            let concerned = sessions.iter().filter(|it| of.is_none_or(|own| own == it.number));
            for session in concerned {
                if session.with_tasks(|tasks| tasks.claim(notification)) {
                    notification.session = Some(session.number);
                    return true;
                }
            }
            false
        })
    }
}

/// The result of a task that could not be completed.
fn task_failure(failure: &Failure, task: &ClientTask, terms: &RequestTerms) -> Box<ToolResult> {
    let mut result = failure_result(failure, terms);
    result.meta.insert(meta::RELATED_TASK.to_owned(), json!({"taskId": task.exposed}));
    Box::new(result)
}

/// Replaces the id of a task in the `_meta` of a result.
fn rename_related_task(meta: &mut Option<Json>, from: &str, to: &str) {
    if let Some(own) = meta.take() {
        let mut whole = json!({"_meta": own});
        rename_task(&mut whole, from, to);
        *meta = Some(whole["_meta"].take());
    }
}
