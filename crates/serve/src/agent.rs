//! One agent's requests, answered from the catalog.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, Implementation,
    ListToolsResult, MetaObject, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;
use toolwright_catalog::Catalog;
use toolwright_exec::{Content, Failure, Host, Outcome, Progress, Request, code};

use crate::listing::{Listing, Newest};

/// Notices of progress an agent may be behind; a slower one misses some.
const BEHIND: usize = 256;

/// What agents talk to. Cheap to clone: one for every connection.
#[derive(Clone)]
pub struct Agent {
    catalog: Arc<Catalog>,
    newest: Arc<Newest>,
    /// Until when lists wait for servers that are still starting.
    starting: Instant,
}

impl Agent {
    /// An agent's view of the catalog. For `startup` from now on, lists wait for servers that are
    /// still starting.
    pub fn new(catalog: Arc<Catalog>, startup: Duration) -> Agent {
        Agent { catalog, newest: Arc::default(), starting: Instant::now() + startup }
    }

    async fn settled(&self) {
        self.catalog.settled(self.starting.saturating_duration_since(Instant::now())).await;
    }

    fn listing(&self) -> Arc<Listing> {
        self.newest.of(&self.catalog.runner().toolbox())
    }

    /// Calls the tool under `name`, which may belong to a server that is still starting.
    async fn run(&self, request: Request, host: &dyn Host) -> Result<Outcome, Failure> {
        let first = self.catalog.runner().call(request.clone(), host).await;
        match first {
            Err(failure) if failure.code == &code::TOOL_NOT_FOUND && !self.catalog.is_settled() => {
                self.settled().await;
                let id = self.listing().id(&request.id).to_owned();
                self.catalog.runner().call(Request { id, ..request }, host).await
            }
            result => result,
        }
    }
}

impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("toolwright", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Some(cursor) = request.and_then(|request| request.cursor) {
            let message = format!("`{cursor}` is no cursor of this server: its list has one page");
            return Err(ErrorData::invalid_params(message, None));
        }
        self.settled().await;
        Ok(ListToolsResult::with_all_items(self.listing().tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.listing().tool(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let id = self.listing().id(&request.name).to_owned();
        let mut call = Request::new(id);
        call.arguments = Json::Object(request.arguments.unwrap_or_default());
        call.cancel = context.ct.clone();
        let token = context.meta.get_progress_token();
        let (sender, mut notices) = mpsc::channel(BEHIND);
        let listener = Listener { sender, wanted: token.is_some() };
        let result = {
            let mut work = std::pin::pin!(self.run(call, &listener));
            loop {
                tokio::select! {
                    biased;
                    Some(progress) = notices.recv() => tell(&context.peer, token.as_ref(), progress).await,
                    result = &mut work => break result,
                }
            }
        };
        // What was said before the end is heard before the result.
        while let Ok(progress) = notices.try_recv() {
            tell(&context.peer, token.as_ref(), progress).await;
        }
        match result {
            Ok(outcome) => Ok(CallToolResponse::Complete(result_of(outcome))),
            Err(failure) if failure.code == &code::TOOL_NOT_FOUND => {
                let mut data = failure.to_json();
                data["btcpCode"] = json!(failure.code.name);
                let message = format!("{}: {}", failure.message, failure.suggestion);
                // MCP's own number for a tool that does not exist.
                Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, Some(data)))
            }
            Err(failure) => Ok(CallToolResponse::Complete(error_of(&failure))),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let peer = context.peer;
        let newest = self.clone();
        // Ends with the connection: then the notice can no longer be sent.
        tokio::spawn(async move {
            // While sources are starting, a list waits for them: there is nothing to tell yet.
            newest.settled().await;
            let mut changes = newest.catalog.changes();
            let mut before = newest.listing();
            while changes.changed().await.is_ok() && !peer.is_transport_closed() {
                let now = newest.listing();
                if now.tools != before.tools && peer.notify_tool_list_changed().await.is_err() {
                    break;
                }
                before = now;
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
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

/// Passes progress on to the agent.
struct Listener {
    sender: mpsc::Sender<Progress>,
    wanted: bool,
}

impl Host for Listener {
    fn progress(&self, progress: Progress) {
        let _ = self.sender.try_send(progress);
    }

    fn wants_progress(&self) -> bool {
        self.wanted
    }
}

async fn tell(peer: &Peer<RoleServer>, token: Option<&ProgressToken>, progress: Progress) {
    let Some(token) = token else { return };
    let mut notice = ProgressNotificationParam::new(token.clone(), progress.done);
    notice.total = progress.total;
    notice.message = progress.message;
    // An agent that went away is told nothing more; its call is cancelled elsewhere.
    let _ = peer.notify_progress(notice).await;
}

fn result_of(outcome: Outcome) -> CallToolResult {
    let content = outcome.content.into_iter().map(block).collect();
    let mut result =
        if outcome.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = outcome.structured;
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
fn block(content: Content) -> ContentBlock {
    serde_json::from_value(content.0.clone()).unwrap_or_else(|_| ContentBlock::text(content.0.to_string()))
}

/// A failed call is a result that says so, so that the model reads why.
fn error_of(failure: &Failure) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(failure.to_text())]);
    let meta = serde_json::Map::from_iter([("toolwright/error".to_owned(), failure.to_json())]);
    result.meta = Some(MetaObject(meta));
    result
}
