//! `tools/list` and `tools/call`.
//!
//! ```text
//! tools/call ─▶ call_tool     arguments, task, read_result
//!                └▶ run_tool     waits for the tool's source, then Runner::call
//!                    ├─ Ok  ─▶ tool_result ─▶ finished_result   URIs, length
//!                    └─ Err ─▶ failed_call                      for the model, or for the protocol
//! ```
//!
//! Nothing is decided about a call here: whether it is allowed, valid and in time is the business
//! of the runner. This file translates, from the names that a client sees to ids and back, and from
//! outcomes and failures to what the client's revision can take.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use toolwright_catalog::Offers;
use toolwright_exec::mcp::TaskMode;
use toolwright_exec::{
    CallArguments, CallPolicy, CallRequest, Failure, Host, Outcome, RegisteredTool, ResultContent,
    WorkSize, code, offload,
};
use toolwright_mcp::{RpcError, error_code};
use toolwright_model::{Binding, Server};

use crate::Gateway;
use crate::call_host::CallHost;
use crate::client_session::ClientSession;
use crate::dispatcher::RequestContext;
use crate::list_pages::PagedList;
use crate::request_params::{RequestParams, invalid_params};
use crate::request_terms::RequestTerms;
use crate::result_body::{ResultBody, ToolResult};
use crate::result_reader;
use crate::suspended_calls::MethodResult;
use crate::task_requests::task_mode;

/// The members that lists of revision 2026-07-28 have: they are complete, and clients must ask
/// again, because a list can change at any time.
pub(crate) const STATELESS_MEMBERS: [&str; 3] =
    [r#""resultType":"complete""#, r#""ttlMs":0"#, r#""cacheScope":"private""#];

impl Gateway {
    /// Answers `tools/list` with a page.
    ///
    /// The cached list is used as it is, unless something is hidden from this client, or it has
    /// stored results and so the tool that reads them: only then the list is copied.
    ///
    /// # Errors
    /// If the cursor is unknown.
    pub(crate) async fn list_tools(&self, context: &RequestContext<'_>) -> MethodResult {
        let cursor = RequestParams::optional_text(context.params.cursor, "cursor")?;
        self.wait_for_sources().await;
        let listing = self.listing();
        let is_stateless = context.terms.is_stateless();
        let mut items = Cow::Borrowed(listing.tools_for(context.terms.revision));
        let runner = self.catalog().runner();
        if self.is_restricted(context.session) || runner.visibility() > 0 {
            let registry = runner.registry();
            let (agent, session) = (&context.session.agent, Some(context.session.number));
            let may_see = |id: &str| {
                registry.get(id).is_some_and(|tool| runner.may_see(agent, session, tool))
            };
            items.to_mut().retain(|(id, _)| may_see(id));
        }
        if context.session.has_stored_results() {
            let own = self.result_reader_name();
            let at = items.partition_point(|(id, _)| id.as_str() < own);
            items.to_mut().insert(at, (own.to_owned(), result_reader::description(own).into()));
        }
        let list = PagedList { name: "tools", member: "tools", items: &items, is_sorted: true };
        let more: &[&str] = if is_stateless { &STATELESS_MEMBERS } else { &[] };
        list.page(cursor.as_deref(), self.options().page_size, more).map(ResultBody::Text)
    }

    /// Answers `tools/call`.
    ///
    /// A tool that fails is a result with `isError`, so that the model can read why. Errors of the
    /// protocol are only a tool that does not exist, those that its server answered with, and the
    /// failure of a call that was to become a task: its client reads nothing but a task.
    ///
    /// In this order: `read_result`, the task that the call may become, the arguments, the tool. A
    /// call whose arguments cannot be read is refused by the runner, so that it is on record.
    pub(crate) async fn call_tool(
        &self,
        context: &RequestContext<'_>,
        host: &CallHost,
    ) -> MethodResult {
        let name = RequestParams::text(context.params.name, "name")?;
        let arguments = context.params.arguments.map_or("{}", RawValue::get);
        if !arguments.starts_with('{') {
            return Err(invalid_params(format!("the arguments of `{name}` are not an object")));
        }
        if context.session.has_stored_results() && name == self.result_reader_name() {
            return Ok(Box::pin(self.read_stored_result(context, arguments)).await);
        }
        // `run_tool` fills in the id when the tool is known.
        let mut call = CallRequest::cancelled_by(context.cancel.clone(), "");
        call.task = task_mode(context)?;
        if !context.params.rest.is_empty() {
            let others = context.params.rest.iter();
            let others = others.map(|(name, value)| (name.to_string(), (*value).to_owned()));
            call.more = others.collect();
        }
        self.note_task_progress(&call.task, context.session, host)?;
        let result = match CallArguments::read(arguments.into()).await {
            Ok(arguments) => {
                call.arguments = arguments;
                self.run_tool(context.session, &name, &mut call, host).await
            }
            Err(why) => {
                let message = format!("the arguments of `{name}` are {why}");
                let failure = Failure::new(&code::INPUT_INVALID, message);
                self.listing().id(&name).clone_into(&mut call.id);
                let refused = self.catalog().runner().refuse(&call, failure, host);
                refused.map(|outcome| (None, outcome))
            }
        };
        match result {
            Ok((tool, outcome)) => self.tool_result(context, &call, tool, outcome).await,
            Err(failure) => {
                if let TaskMode::Created(task) = &call.task {
                    context.session.with_tasks(|tasks| tasks.forget_token(task.progress_token));
                }
                failed_call(&failure, &call.task, context.terms)
            }
        }
    }

    /// Runs a tool by its exposed name or its id. Also returns the tool, which may be gone or
    /// changed when the call has ended; `None` if the call did not need it to be known.
    ///
    /// The future of `Runner::call` is dropped when the program aborts all calls. A client that
    /// cancels is the runner's business: the token is part of `request`.
    ///
    /// # Errors
    /// Those of the runner, and that a tool cannot be called as a task.
    ///
    /// URIs in the arguments that were renamed for clients get the names that the server knows.
    async fn run_tool(
        &self,
        session: &ClientSession,
        name: &str,
        request: &mut CallRequest,
        host: &dyn Host,
    ) -> Result<(Option<Arc<RegisteredTool>>, Outcome), Failure> {
        let runner = self.catalog().runner();
        if !self.find_tool(&session.agent, name, request) {
            Box::pin(self.wait_for_tool(&session.agent, name, request)).await?;
        }
        if let TaskMode::Created(_) = request.task {
            self.check_task(session, request)?;
        }
        let tool = runner.registry().find(&request.id).map(Arc::clone);
        if Offers::may_have_renamed(&request.arguments.to_text())
            && let Some(Binding::Server { server, .. }) =
                tool.as_ref().map(|entry| &entry.tool.details.binding)
        {
            let mut arguments = (*request.arguments).clone();
            if self.offers().own_arguments(server, &mut arguments) {
                request.arguments = arguments.into();
            }
        }
        // Dropping the runner's future ends the work of the tool.
        tokio::select! {
            result = runner.call_borrowed(request, host) => Ok((tool, result?)),
            () = self.aborted().cancelled() => Err(self.aborted_call(&request.id)),
        }
    }

    /// Fills in the id of the tool with this exposed name or id. Returns false if a source that is
    /// still loading may have it. A tool that is hidden from the agent is not found, and keeps the
    /// name that was called: its id in the answer would tell that it exists.
    ///
    /// ```text
    /// all sources tried          true: the runner reports an unknown tool
    /// exact id, not outdated     true
    /// otherwise                  false: the caller waits
    /// ```
    fn find_tool(&self, agent: &str, name: &str, request: &mut CallRequest) -> bool {
        let catalog = self.catalog();
        // Read before the tools are looked up: if the last source finished in between, the caller
        // must look once more and not give up.
        let settled = catalog.all_sources_tried();
        // Every time, because the list of exposed names changes while sources load.
        let is_hidden = self.is_hidden(agent, name);
        let listing = self.listing();
        let id = if is_hidden { name } else { listing.id(name) };
        id.clone_into(&mut request.id);
        // During startup, an exact match is required: the runner also accepts an unqualified name
        // if only one tool has it, but a better match may still be loading.
        let is_found = || catalog.runner().registry().get(id).is_some();
        settled || (!is_hidden && is_found() && !catalog.is_outdated(id))
    }

    /// Whether this exposed name or id is that of a tool that does not exist for the agent.
    pub(crate) fn is_hidden(&self, agent: &str, name: &str) -> bool {
        let Some(policy) = self.catalog().policy().filter(|policy| policy.is_restricted(agent))
        else {
            return false;
        };
        let registry = self.catalog().runner().registry();
        registry.find(self.listing().id(name)).is_some_and(|tool| !policy.may_see(agent, tool))
    }

    /// Waits until the tool is there, or no source can have it any more: each is tried within its
    /// `start_timeout`. A name that fits none of them waits as long as lists do.
    ///
    /// `request` then has the id that was found, or the name that was called if there is none; the
    /// runner reports an unknown tool with its suggestions. Returns early if the call is cancelled,
    /// also without an error: the runner reports that too.
    async fn wait_for_tool(
        &self,
        agent: &str,
        name: &str,
        request: &mut CallRequest,
    ) -> Result<(), Failure> {
        let mut changes = self.catalog().changes();
        while !self.find_tool(agent, name, request) {
            let is_expected = self.catalog().may_still_list(name);
            let patience = async {
                match is_expected {
                    true => std::future::pending().await,
                    false => tokio::time::sleep(self.startup_left()).await,
                }
            };
            tokio::select! {
                _ = changes.changed() => {}
                () = patience => break,
                () = request.cancel.cancelled() => break,
                () = self.aborted().cancelled() => return Err(self.aborted_call(name)),
            }
        }
        // The time limits of the call begin when its tool can be called.
        request.started = Instant::now();
        Ok(())
    }

    /// For calls that this program aborts at its end. Not the client's doing, so it gets a result.
    fn aborted_call(&self, id: &str) -> Failure {
        let message = format!("the call of `{id}` ended with the server");
        Failure::new(&code::CANCELLED, message)
    }

    /// The result of a call that the tool answered, also with an error of its own. If the answer is
    /// about a task, the task is remembered for the client first: a notification about it may
    /// follow at once, and must find it.
    async fn tool_result(
        &self,
        context: &RequestContext<'_>,
        call: &CallRequest,
        tool: Option<Arc<RegisteredTool>>,
        mut outcome: Outcome,
    ) -> MethodResult {
        let server = tool.as_ref().and_then(|entry| match &entry.tool.details.binding {
            Binding::Server { server, .. } => Some(Arc::clone(server)),
            _ => None,
        });
        if let (Some(server), Some(tool)) = (&server, &tool) {
            let task = self.remember_task(context.session, server, tool, &call.task, &mut outcome);
            let ended = match task {
                Ok(Some(task)) => Box::pin(self.ended_at_once(context, &task, &mut outcome)).await,
                Ok(None) => Ok(None),
                Err(failure) => Err(failure),
            };
            match ended {
                Ok(Some(ended)) => return Ok(ended),
                Ok(None) => {}
                Err(failure) => return failed_call(&failure, &call.task, context.terms),
            }
        }
        let result = self.finished_result(context, server, tool, outcome).await;
        Ok(ResultBody::Tool(result))
    }

    /// The result of a tool of `server`, as the client gets it. Also the end of a task, whose
    /// result comes with another request. Work that grows with the result is done on another
    /// thread.
    pub(crate) async fn finished_result(
        &self,
        context: &RequestContext<'_>,
        server: Option<Arc<Server>>,
        tool: Option<Arc<RegisteredTool>>,
        outcome: Outcome,
    ) -> Box<ToolResult> {
        let has_output_schema = tool.as_ref().is_some_and(|entry| entry.tool.output.is_some());
        let (size, offers, terms) = (outcome.work_size(), self.offers(), context.terms.clone());
        let (mut result, renamed) = offload(size, move || {
            let mut result = success_result(outcome, &terms);
            let renamed = server.and_then(|server| expose_uris(&offers, &server, &mut result));
            (result, renamed)
        })
        .await;
        result.size = Some(size);
        // The server's own content stays if the renamed one breaks the output schema that the
        // client knows: a `pattern`, a `const`.
        if let Some(renamed) = renamed {
            let accepted = match &tool {
                Some(tool) => Box::pin(tool.accept_output(renamed)).await,
                None => Some(renamed),
            };
            result.structured = accepted.or(result.structured);
        }
        self.store_if_too_long(context, &mut result, has_output_schema).await;
        Box::new(result)
    }
}

/// The answer to a call that failed. One that was to become a task gets the error that SDKs answer
/// with before a task exists.
///
/// ```text
/// unknown tool, error of the server    an error of the protocol
/// was to become a task                 an error, with the failure as data
/// everything else                      a result with `isError`, for the model
/// ```
fn failed_call(failure: &Failure, task: &TaskMode, terms: &RequestTerms) -> MethodResult {
    if let Some(error) = protocol_error(failure) {
        return Err(error);
    }
    if let TaskMode::Created(_) = task {
        let code = match failure.code == &code::INPUT_INVALID {
            true => error_code::INVALID_PARAMS,
            false => error_code::INTERNAL_ERROR,
        };
        let mut error = RpcError::new(code, failure.to_text());
        error.data = Some(failure.to_json());
        return Err(error);
    }
    Ok(ResultBody::Tool(Box::new(failure_result(failure, terms))))
}

/// The error of the protocol that a failure is; `None` if it is for the model to read, such as a
/// time-out or wrong arguments.
///
/// The message of an unknown tool has the suggestion in it.
pub(crate) fn protocol_error(failure: &Failure) -> Option<RpcError> {
    // The error that a server answered with, whole.
    if let Some(error) = &failure.rpc_error {
        return Some((**error).clone());
    }
    if failure.code != &code::TOOL_NOT_FOUND {
        return None;
    }
    let data = failure.to_json();
    // The code that the MCP specification gives for an unknown tool.
    let mut error = invalid_params(format!("{}: {}", failure.message, failure.suggestion));
    error.data = Some(data);
    Some(error)
}

/// The result of a tool as the client accepts it.
fn success_result(outcome: Outcome, terms: &RequestTerms) -> ToolResult {
    // A value that the client cannot take is in the content, as text.
    let is_taken = |value: &Json| value.is_object() || terms.is_stateless();
    let mut content = outcome.content;
    if let Some(value) = outcome.structured.as_ref().filter(|value| !is_taken(value))
        && !content.iter().any(|block| block.as_text().is_some())
    {
        let text = match (value, outcome.written.text_of("structuredContent", 0, value)) {
            (Json::String(text), _) => text.clone(),
            (_, Some(written)) => written.get().to_owned(),
            (value, None) => value.to_string(),
        };
        content.push(ResultContent::text(text));
    }
    let mut meta = match outcome.meta {
        Some(Json::Object(meta)) => meta,
        _ => Map::new(),
    };
    // Remarks of the runner, such as a result that breaks its schema where that is tolerated.
    if !outcome.warnings.is_empty() {
        meta.insert("toolwright/warnings".into(), json!(outcome.warnings));
    }
    let mut rest = outcome.rest;
    if !terms.is_stateless() {
        rest.remove("resultType");
    }
    ToolResult {
        rest,
        written: outcome.written,
        content,
        structured: outcome.structured.filter(is_taken),
        is_error: outcome.is_error,
        meta,
        is_marked_complete: terms.is_stateless(),
        size: None,
    }
}

/// Replaces the URIs of a server's resources by those that clients see. Returns the structured
/// content with them, if it has any: whether that may be used depends on its schema. Without
/// resources that were renamed, which is common, nothing is touched.
fn expose_uris(offers: &Offers, server: &Arc<Server>, result: &mut ToolResult) -> Option<Json> {
    if !offers.may_rename() {
        return None;
    }
    for block in &mut result.content {
        if let Some(block) = block.as_other_mut() {
            offers.expose(server, block);
        }
    }
    if !result.meta.is_empty() {
        let mut whole = json!({"_meta": std::mem::take(&mut result.meta)});
        offers.expose(server, &mut whole);
        if let Json::Object(meta) = whole["_meta"].take() {
            result.meta = meta;
        }
    }
    let mut renamed = result.structured.clone()?;
    offers.expose_data(server, &mut renamed);
    (result.structured.as_ref() != Some(&renamed)).then_some(renamed)
}

/// The result of a call that failed: text for the model, and the structured error for programs.
pub(crate) fn failure_result(failure: &Failure, terms: &RequestTerms) -> ToolResult {
    ToolResult {
        content: vec![ResultContent::text(failure.to_text())],
        is_error: true,
        meta: Map::from_iter([("toolwright/error".to_owned(), failure.to_json())]),
        is_marked_complete: terms.is_stateless(),
        size: Some(WorkSize::Small),
        ..ToolResult::default()
    }
}
