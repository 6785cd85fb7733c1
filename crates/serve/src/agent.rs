//! One agent's requests, answered from the catalog.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, Implementation, JsonObject, ListToolsResult, MetaObject,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ServerCapabilities,
    ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Value as Json, json};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use toolwright_catalog::Catalog;
use toolwright_exec::{CallRequest, Failure, Host, Outcome, Progress, ResultContent, code};

use crate::listing::{Listing, Newest};

/// Notices of progress an agent may be behind; a slower one misses some.
const BEHIND: usize = 256;

/// How often a connection is looked at that nothing happens on.
const STILL_THERE: Duration = Duration::from_secs(10);

/// What agents talk to. Cheap to clone: one for every connection.
#[derive(Clone)]
pub struct Agent {
    catalog: Arc<Catalog>,
    newest: Arc<Newest>,
    /// Until when lists wait for servers that are still starting.
    starting: Instant,
    /// How many calls are under way.
    active: Arc<watch::Sender<usize>>,
    ending: CancellationToken,
}

/// A call that is under way.
pub(crate) struct Active(Arc<watch::Sender<usize>>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

impl Agent {
    /// An agent's view of the catalog. For `startup` from now on, lists wait for servers that are
    /// still starting.
    pub fn new(catalog: Arc<Catalog>, startup: Duration) -> Agent {
        let active = Arc::new(watch::Sender::new(0));
        Agent {
            catalog,
            newest: Arc::default(),
            starting: Instant::now() + startup,
            active,
            ending: CancellationToken::new(),
        }
    }

    /// Waits until no call is under way, but no longer than `time`.
    pub async fn idle(&self, time: Duration) {
        let mut active = self.active.subscribe();
        let _ = tokio::time::timeout(time, active.wait_for(|n| *n == 0)).await;
    }

    /// Counts as under way until it is dropped.
    pub(crate) fn active(&self) -> Active {
        self.active.send_modify(|n| *n += 1);
        Active(Arc::clone(&self.active))
    }

    async fn settled(&self) {
        self.catalog.settled(self.starting.saturating_duration_since(Instant::now())).await;
    }

    fn listing(&self) -> Arc<Listing> {
        self.newest.of(&self.catalog.runner().registry())
    }

    /// Calls a tool, which may belong to a server that is still starting.
    async fn run(
        &self,
        name: &str,
        mut request: CallRequest,
        host: &dyn Host,
    ) -> Result<Outcome, Failure> {
        let runner = self.catalog.runner();
        let mut changes = self.catalog.changes();
        loop {
            // Asked before the look at what there is, so that nothing comes in between.
            let settled = self.catalog.is_settled();
            self.listing().id(name).clone_into(&mut request.id);
            if settled || runner.registry().get(&request.id).is_some() {
                break;
            }
            let left = self.starting.saturating_duration_since(Instant::now());
            if tokio::time::timeout(left, changes.changed()).await.is_err() {
                break;
            }
        }
        tokio::select! {
            result = runner.call(request.clone(), host) => result,
            () = self.ending.cancelled() => {
                Err(Failure::new(&code::CANCELLED, format!("the call of `{}` was ended with the server", request.id)))
            }
        }
    }

    /// Answers `tools/call`. For an `old` client, which has shaken hands, a structured result is an
    /// object.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        cancel: CancellationToken,
        old: bool,
        listener: Listener,
    ) -> Result<CallToolResult, ErrorData> {
        let mut call = CallRequest::new("");
        call.arguments = Json::Object(request.arguments.unwrap_or_default());
        call.cancel = cancel;
        let _active = self.active();
        match self.run(&request.name, call, &listener).await {
            Ok(outcome) => Ok(result_of(outcome, old)),
            Err(failure) if failure.code == &code::TOOL_NOT_FOUND => {
                let mut data = failure.to_json();
                data["btcpCode"] = json!(failure.code.name);
                let message = format!("{}: {}", failure.message, failure.suggestion);
                // MCP's own number for a tool that does not exist.
                Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, Some(data)))
            }
            Err(failure) => Ok(error_of(&failure)),
        }
    }

    /// Ends all calls, when nobody is there any more to read their results.
    pub(crate) fn end_calls(&self) {
        self.ending.cancel();
    }
}

impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        // Lists of prompts and resources are answered, as empty ones, so they are declared too.
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_resources()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("toolwright", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Some(cursor) = request.and_then(|request| request.cursor) {
            let message = format!("`{cursor}` is no cursor of this server: its list has one page");
            return Err(ErrorData::invalid_params(message, None));
        }
        self.settled().await;
        let mut tools = self.listing().tools.clone();
        if context.protocol_version().is_some_and(|v| v.has_initialize()) {
            tools.iter_mut().for_each(for_old_clients);
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.listing().tool(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let token = context.meta.get_progress_token();
        let old = context.protocol_version().is_some_and(|v| v.has_initialize());
        let (listener, mut notices) = Listener::new(token.is_some());
        let work = self.call(request, context.ct.clone(), old, listener);
        // Side by side, so that an agent who does not read cannot hold up the work. What was said
        // before the end is heard before the result.
        let pass_on = async {
            while let (Some(progress), Some(token)) = (notices.recv().await, &token) {
                // An agent that went away is told nothing more; its call is cancelled elsewhere.
                let _ = context.peer.notify_progress(notice(token, progress)).await;
            }
        };
        let (result, ()) = tokio::join!(work, pass_on);
        result.map(CallToolResponse::Complete)
    }

    /// What rmcp could not read: a method that nobody knows, or one whose parameters are wrong.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if ["tools/call", "tools/list"].contains(&request.method.as_str()) {
            let message = format!("the parameters of `{}` are not what it takes", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("there is no method `{}`", request.method),
            None,
        ))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let peer = context.peer;
        let newest = self.clone();
        tokio::spawn(async move {
            // While sources are starting, a list waits for them: there is nothing to tell yet.
            newest.settled().await;
            let mut changes = newest.catalog.changes();
            let mut before = newest.listing();
            while !peer.is_transport_closed() {
                // Nobody says when a connection ends, so look now and then.
                if tokio::time::timeout(STILL_THERE, changes.changed()).await.is_err() {
                    continue;
                }
                let now = newest.listing();
                if now.tools != before.tools && peer.notify_tool_list_changed().await.is_err() {
                    break;
                }
                before = now;
            }
        });
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let tools = SubscriptionFilter::builder().tools_list_changed().build();
        Some(requested.intersection(&tools))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.settled().await;
        let mut changes = self.catalog.changes();
        let mut before = self.listing();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    let now = self.listing();
                    let told = now.tools == before.tools || context.sink().notify_tool_list_changed().await.is_ok();
                    if changed.is_err() || !told {
                        return Ok(());
                    }
                    before = now;
                }
            }
        }
    }
}

/// Hears of a call's progress on behalf of the agent.
pub(crate) struct Listener {
    sender: mpsc::Sender<Progress>,
    wanted: bool,
}

impl Listener {
    /// A listener, and what it hears until its call has ended.
    pub(crate) fn new(wanted: bool) -> (Listener, mpsc::Receiver<Progress>) {
        let (sender, heard) = mpsc::channel(BEHIND);
        (Listener { sender, wanted }, heard)
    }
}

impl Host for Listener {
    fn progress(&self, progress: Progress) {
        let _ = self.sender.try_send(progress);
    }

    fn wants_progress(&self) -> bool {
        self.wanted
    }
}

/// Progress as the agent is told of it.
pub(crate) fn notice(token: &ProgressToken, progress: Progress) -> ProgressNotificationParam {
    let mut notice = ProgressNotificationParam::new(token.clone(), progress.done);
    notice.total = progress.total;
    notice.message = progress.message;
    notice
}

/// Before 2026-07-28 a structured result is an object; a list with another one is refused as a
/// whole.
fn for_old_clients(tool: &mut Tool) {
    let is_object =
        |schema: &Arc<JsonObject>| schema.get("type").and_then(Json::as_str) == Some("object");
    tool.output_schema = tool.output_schema.take().filter(is_object);
}

fn result_of(outcome: Outcome, for_old_client: bool) -> CallToolResult {
    let content = outcome.content.into_iter().map(block).collect();
    let mut result = if outcome.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content =
        outcome.structured.filter(|value| value.is_object() || !for_old_client);
    let mut meta = match outcome.meta {
        Some(Json::Object(meta)) => meta,
        _ => serde_json::Map::new(),
    };
    if !outcome.warnings.is_empty() {
        meta.insert("toolwright/warnings".into(), json!(outcome.warnings));
    }
    result.meta = (!meta.is_empty()).then_some(MetaObject(meta));
    result
}

/// A kind of content that the protocol does not know travels as its text.
fn block(content: ResultContent) -> ContentBlock {
    serde_json::from_value(content.0.clone())
        .unwrap_or_else(|_| ContentBlock::text(content.0.to_string()))
}

/// A failed call is a result that says so, so that the model reads why.
fn error_of(failure: &Failure) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(failure.to_text())]);
    let meta = serde_json::Map::from_iter([("toolwright/error".to_owned(), failure.to_json())]);
    result.meta = Some(MetaObject(meta));
    result
}
