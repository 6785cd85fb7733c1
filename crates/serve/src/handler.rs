//! Answers the requests of one client from the catalog. rmcp calls [`McpHandler`] through its
//! `ServerHandler` trait; the fast path calls [`McpHandler::call`] directly.
//!
//! While the program starts, sources are still loading. `tools/list` waits for them until a
//! deadline, since many clients ask only once. A call waits too, but only until the tool that it
//! names is there: a slow server must not delay the tools of others.

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
use toolwright_exec::{
    CallArguments, CallRequest, Failure, Host, Outcome, Progress, ResultContent, WorkSize, code,
    offload,
};

use crate::tool_listing::{ListingCache, ToolListing};

/// Progress notifications that may wait for a client that reads slowly; further ones are dropped.
const MAX_QUEUED_PROGRESS: usize = 256;

/// How often to check whether a connection without events still exists. Until then the task of a
/// closed connection stays in memory, which does no harm.
const CONNECTION_CHECK: Duration = Duration::from_secs(10);

/// Serves the tools of a catalog. A clone shares everything with the original; each connection has
/// its own.
#[derive(Clone)]
pub struct McpHandler {
    catalog: Arc<Catalog>,
    listings: Arc<ListingCache>,
    /// When lists and calls stop waiting for sources that are still loading.
    startup_deadline: Instant,
    /// How many calls are running, over all connections.
    running_calls: Arc<watch::Sender<usize>>,
    /// Cancelled to abort all calls.
    abort: CancellationToken,
}

/// Whether the client uses a revision with the `initialize` handshake (2025-11-25 and before) or
/// the stateless protocol of 2026-07-28. They differ in which results a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolEra {
    /// Structured results and output schemas must be objects.
    Handshake,
    /// Structured results may be any JSON value.
    Stateless,
}

impl ProtocolEra {
    /// The era of the client that sent a request.
    fn of(context: &RequestContext<RoleServer>) -> ProtocolEra {
        match context.protocol_version() {
            Some(version) if version.has_initialize() => ProtocolEra::Handshake,
            _ => ProtocolEra::Stateless,
        }
    }
}

/// The arguments of a call as the client wrote them: JSON, not parsed yet. The transports put them
/// into the extensions of requests that rmcp parses, because rmcp keeps parsed numbers only.
#[derive(Clone, Debug)]
pub(crate) struct RequestedArguments(pub(crate) Arc<str>);

/// Counts a call as running until it is dropped.
pub(crate) struct RunningCall(Arc<watch::Sender<usize>>);

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

impl McpHandler {
    /// A handler for the tools of `catalog`. For `startup` from now on, lists and calls wait for
    /// sources that are still loading.
    pub fn new(catalog: Arc<Catalog>, startup: Duration) -> McpHandler {
        let running_calls = Arc::new(watch::Sender::new(0));
        McpHandler {
            catalog,
            listings: Arc::default(),
            startup_deadline: Instant::now() + startup,
            running_calls,
            abort: CancellationToken::new(),
        }
    }

    /// Waits until no call is running, but no longer than `limit`.
    pub async fn wait_until_idle(&self, limit: Duration) {
        let mut running = self.running_calls.subscribe();
        let _ = tokio::time::timeout(limit, running.wait_for(|n| *n == 0)).await;
    }

    /// Counts a call as running until the returned guard is dropped.
    pub(crate) fn track_call(&self) -> RunningCall {
        self.running_calls.send_modify(|n| *n += 1);
        RunningCall(Arc::clone(&self.running_calls))
    }

    /// What is left of the startup time; zero afterwards.
    fn startup_left(&self) -> Duration {
        self.startup_deadline.saturating_duration_since(Instant::now())
    }

    /// Waits until every source was tried once, at most until the startup deadline.
    async fn wait_for_sources(&self) {
        self.catalog.wait_until_tried(self.startup_left()).await;
    }

    /// The tools that clients see at this moment.
    fn listing(&self) -> Arc<ToolListing> {
        self.listings.of(&self.catalog.runner().registry())
    }

    /// Runs a tool by its exposed name or its id.
    async fn run(
        &self,
        name: &str,
        mut request: CallRequest,
        host: &dyn Host,
    ) -> Result<Outcome, Failure> {
        let runner = self.catalog.runner();
        let mut changes = self.catalog.changes();
        // During startup, an exact match is required: the runner also accepts an unqualified name
        // if only one tool has it, but a better match may still be loading.
        loop {
            // Read before the tools are looked up: if the last source finished in between, the
            // loop must look once more and not give up.
            let settled = self.catalog.all_sources_tried();
            // In every round, because the list of exposed names changes while sources load.
            self.listing().id(name).clone_into(&mut request.id);
            if settled || runner.registry().get(&request.id).is_some() {
                break;
            }
            if tokio::time::timeout(self.startup_left(), changes.changed()).await.is_err() {
                break;
            }
        }
        // Dropping the runner's future ends the work of the tool.
        tokio::select! {
            result = runner.call(request.clone(), host) => result,
            () = self.abort.cancelled() => {
                let message = format!("the call of `{}` ended with the server", request.id);
                Err(Failure::new(&code::CANCELLED, message))
            }
        }
    }

    /// Answers `tools/call`; the end of both paths.
    ///
    /// A tool that fails is a result with `isError`, so that the model can read why. Only a tool
    /// that does not exist is an error of the protocol. The size is that of the answer.
    pub(crate) async fn call(
        &self,
        name: &str,
        arguments: RequestedArguments,
        cancel: CancellationToken,
        era: ProtocolEra,
        progress: ProgressForwarder,
    ) -> (Result<CallToolResult, ErrorData>, WorkSize) {
        // Counted from here and not from the work: at the end of the program, calls that still wait
        // for their tool are waited for as well.
        let _running = self.track_call();
        // `run` fills in the id when the tool is known.
        let mut call = CallRequest::new("");
        call.cancel = cancel;
        let result = match CallArguments::read(arguments.0).await {
            Ok(arguments) => {
                call.arguments = arguments;
                self.run(name, call, &progress).await
            }
            Err(why) => {
                let message = format!("the arguments of `{name}` are {why}");
                Err(Failure::new(&code::INPUT_INVALID, message))
            }
        };
        let size = result.as_ref().map_or(WorkSize::Small, Outcome::work_size);
        let answer = match result {
            Ok(outcome) => Ok(offload(size, move || success_result(outcome, era)).await),
            Err(failure) if failure.code == &code::TOOL_NOT_FOUND => {
                let mut data = failure.to_json();
                // Where the BTCP specification puts the name of the code.
                data["btcpCode"] = json!(failure.code.name);
                let message = format!("{}: {}", failure.message, failure.suggestion);
                // The code that the MCP specification gives for an unknown tool.
                Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, Some(data)))
            }
            // Everything else is for the model to read, also a time-out or wrong arguments.
            Err(failure) => Ok(failure_result(&failure)),
        };
        (answer, size)
    }

    /// Aborts all calls, when no client is left to read their results.
    pub(crate) fn abort_calls(&self) {
        self.abort.cancel();
    }
}

impl ServerHandler for McpHandler {
    /// The answer to `initialize` and `server/discover`; rmcp adds the versions.
    fn get_info(&self) -> ServerConfig {
        // rmcp answers lists of prompts and resources with empty ones. Whatever is answered is also
        // declared.
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

    /// Answers `tools/list` with one page. Clients handle long lists, and a cursor would have to
    /// survive changes of the list.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Some(cursor) = request.and_then(|request| request.cursor) {
            let message =
                format!("`{cursor}` is not a cursor of this server: its list has one page");
            return Err(ErrorData::invalid_params(message, None));
        }
        self.wait_for_sources().await;
        let mut tools = self.listing().tools.clone();
        // The cached list is shared, so the change is made on the copy for this client.
        if ProtocolEra::of(&context) == ProtocolEra::Handshake {
            tools.iter_mut().for_each(drop_unsupported_schema);
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    /// rmcp compares the `Mcp-Param-*` headers of a request with the schema of this tool.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.listing().tool(name).cloned()
    }

    /// Answers `tools/call` on rmcp's path.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let token = context.meta.get_progress_token();
        let era = ProtocolEra::of(&context);
        let (forwarder, mut updates) = ProgressForwarder::new(token.is_some());
        // What the transport kept; rmcp has parsed the arguments into doubles already.
        let http = context.extensions.get::<http::request::Parts>();
        let given = context.extensions.get::<RequestedArguments>();
        let given = given.or_else(|| http?.extensions.get()).cloned();
        let arguments = given.unwrap_or_else(|| {
            let parsed = Json::Object(request.arguments.unwrap_or_default());
            RequestedArguments(parsed.to_string().into())
        });
        let work = self.call(&request.name, arguments, context.ct.clone(), era, forwarder);
        // Concurrent with the call, so that a client that does not read cannot delay the tool. The
        // loop ends after the call, when the forwarder is dropped and the queue is empty; so all
        // progress is sent before the result.
        let forward = async {
            while let (Some(progress), Some(token)) = (updates.recv().await, &token) {
                // Fails if the client has left. rmcp cancels the call in that case.
                let _ = context.peer.notify_progress(progress_params(token, progress)).await;
            }
        };
        // `join!` and not `select!`: the queue is emptied after the call has ended.
        let ((result, _), ()) = tokio::join!(work, forward);
        result.map(CallToolResponse::Complete)
    }

    /// Answers requests that rmcp could not parse: unknown methods, and known ones with wrong
    /// parameters. JSON-RPC has different codes for the two.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // rmcp hands over known methods, too, if their parameters do not parse.
        if ["tools/call", "tools/list"].contains(&request.method.as_str()) {
            let message = format!("the parameters of `{}` are invalid", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("there is no method `{}`", request.method),
            None,
        ))
    }

    /// Starts to notify a client with a handshake of changes of the list.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let peer = context.peer;
        let handler = self.clone();
        tokio::spawn(async move {
            // The first list waits for the sources as well, so it contains what loads until then.
            handler.wait_for_sources().await;
            let mut changes = handler.catalog.changes();
            let mut before = handler.listing();
            while !peer.is_transport_closed() {
                // rmcp does not report the end of a connection, so check now and then.
                if tokio::time::timeout(CONNECTION_CHECK, changes.changed()).await.is_err() {
                    continue;
                }
                // The catalog also counts reloads that gave the same tools; those are not sent.
                let now = handler.listing();
                if now.tools != before.tools && peer.notify_tool_list_changed().await.is_err() {
                    break;
                }
                before = now;
            }
        });
    }

    /// The part of a subscription that is granted: changes of the list of tools, nothing else.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let tools = SubscriptionFilter::builder().tools_list_changed().build();
        Some(requested.intersection(&tools))
    }

    /// Notifies a client of revision 2026-07-28 that subscribed to changes of the list.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.wait_for_sources().await;
        let mut changes = self.catalog.changes();
        let mut before = self.listing();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    let now = self.listing();
                    let is_open = now.tools == before.tools
                        || context.sink().notify_tool_list_changed().await.is_ok();
                    // The catalog is gone, or the client.
                    if changed.is_err() || !is_open {
                        return Ok(());
                    }
                    before = now;
                }
            }
        }
    }
}

/// The host of a call: queues the progress of a tool for the client.
pub(crate) struct ProgressForwarder {
    sender: mpsc::Sender<Progress>,
    /// Whether the request had a progress token. Without one, executors do not collect progress.
    requested: bool,
}

impl ProgressForwarder {
    /// A forwarder and the queue it fills. The queue ends when the forwarder is dropped.
    pub(crate) fn new(requested: bool) -> (ProgressForwarder, mpsc::Receiver<Progress>) {
        let (sender, updates) = mpsc::channel(MAX_QUEUED_PROGRESS);
        (ProgressForwarder { sender, requested }, updates)
    }
}

impl Host for ProgressForwarder {
    fn progress(&self, progress: Progress) {
        // Executors must not be blocked by a slow client, so a full queue loses the update.
        let _ = self.sender.try_send(progress);
    }

    fn wants_progress(&self) -> bool {
        self.requested
    }
}

/// The parameters of a progress notification to the client.
pub(crate) fn progress_params(
    token: &ProgressToken,
    progress: Progress,
) -> ProgressNotificationParam {
    let mut params = ProgressNotificationParam::new(token.clone(), progress.done);
    params.total = progress.total;
    params.message = progress.message;
    params
}

/// Removes an output schema that is not of type `object`. Before 2026-07-28 clients reject the
/// whole list because of one.
fn drop_unsupported_schema(tool: &mut Tool) {
    let is_object =
        |schema: &Arc<JsonObject>| schema.get("type").and_then(Json::as_str) == Some("object");
    tool.output_schema = tool.output_schema.take().filter(is_object);
}

/// The MCP result of a call that the tool answered, also with an error of its own.
fn success_result(outcome: Outcome, era: ProtocolEra) -> CallToolResult {
    let content = outcome.content.into_iter().map(content_block).collect();
    let mut result = if outcome.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    // A value that the client cannot take is still in the content, as text.
    result.structured_content =
        outcome.structured.filter(|value| value.is_object() || era == ProtocolEra::Stateless);
    let mut meta = match outcome.meta {
        Some(Json::Object(meta)) => meta,
        _ => serde_json::Map::new(),
    };
    // Remarks of the runner, such as a result that breaks its schema where that is tolerated.
    if !outcome.warnings.is_empty() {
        meta.insert("toolwright/warnings".into(), json!(outcome.warnings));
    }
    result.meta = (!meta.is_empty()).then_some(MetaObject(meta));
    result
}

/// A content block in rmcp's type. A type of block that rmcp does not support becomes text with its
/// JSON, so that nothing is lost.
fn content_block(content: ResultContent) -> ContentBlock {
    serde_json::from_value(content.0.clone())
        .unwrap_or_else(|_| ContentBlock::text(content.0.to_string()))
}

/// The MCP result of a call that failed: text for the model, and the structured error for programs.
fn failure_result(failure: &Failure) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(failure.to_text())]);
    let meta = serde_json::Map::from_iter([("toolwright/error".to_owned(), failure.to_json())]);
    result.meta = Some(MetaObject(meta));
    result
}
