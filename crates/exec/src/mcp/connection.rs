//! One connection to a server, from its handshake to its end: calls and lists travel over it.
//! `upstream` decides when to open one; nothing here tries twice, except for the two handshakes.
//!
//! ```text
//! open ─ initialize ─┬─ accepted ─▶ stdio: calls are direct (`direct_calls`), lists via rmcp
//!                    │              HTTP:  everything via rmcp
//!                    └─ refused with a JSON-RPC error
//!                         └─ server/discover (2026-07-28) ─▶ everything via rmcp
//! ```
//!
//! A task watches rmcp's service. When it ends, the task ends the server's process as well and
//! publishes a sentence about how it ended, which waiting calls put into their failures.

use std::ffi::OsString;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, ListToolsRequest, PaginatedRequestParams, ProgressToken, ProtocolVersion,
    RequestId, ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions,
    QuitReason, RequestHandle, RunningService, ServiceError, serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use toolwright_model::{Connection, Server};

use super::connect_error::{
    ConnectError, answered_with_error, connection_lost, handshake_error, not_ready,
    transport_error, unavailable,
};
use super::direct_calls::{DirectCalls, DirectChannel};
use super::given_arguments::GivenArguments;
use super::http_transport::{self, RawToolLists};
use super::incoming_filter::{DisconnectReason, IncomingFilter, WithoutProgress};
use super::message_lines::MAX_MESSAGE;
use super::progress_router::{ProgressRouter, ProgressUpdates};
use super::raw_results;
use super::server_process::{ServerProcess, TIME_TO_END};
use crate::outcome::json_size;
use crate::{CallArguments, Failure, Host, Json, code};

/// How many pages one list of tools may have. A server whose cursor never ends would otherwise be
/// asked for ever.
const MAX_PAGES: usize = 1_000;

/// An open connection.
pub(super) struct UpstreamConnection {
    /// Sends requests through rmcp's service.
    peer: Peer<RoleClient>,
    /// The fast path of calls, for a server that we started and that accepted `initialize`.
    direct: Option<DirectChannel>,
    /// Shared with the filter, which fills it.
    progress: Arc<ProgressRouter>,
    /// Cancelling it ends rmcp's service and with it the connection.
    closing: CancellationToken,
    /// Filled by the HTTP transport; stays empty over stdio.
    lists: RawToolLists,
    /// How the connection ended, in a sentence; `None` while it is open.
    end: watch::Receiver<Option<String>>,
}

/// Counts how often a server's list of tools changed.
pub(super) type ListChangeCounter = Arc<watch::Sender<u64>>;

/// The client side that rmcp shows to a server: our name, no capabilities, and what we do with its
/// notifications.
struct UpstreamHandler {
    changes: ListChangeCounter,
}

impl ClientHandler for UpstreamHandler {
    fn get_info(&self) -> ClientConfig {
        // No capabilities: no sampling, no elicitation, no roots. A server must not use the agent's
        // model or its user through us.
        let name = Implementation::new("toolwright", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    /// The catalog watches the counter and asks for the list again. The list is not fetched here,
    /// since a server may send many of these in a row.
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.send_modify(|n| *n += 1);
    }
}

impl UpstreamConnection {
    /// Starts or contacts the server and performs the handshake within `time`. Tries `initialize`
    /// first, because most servers support nothing else, and `server/discover` with a server that
    /// refuses it.
    pub(super) async fn open(
        server: &Server,
        environment: &[(OsString, OsString)],
        changes: &ListChangeCounter,
        time: Duration,
    ) -> Result<UpstreamConnection, Failure> {
        let initialize = ClientLifecycleMode::Initialize;
        let discover = ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        };
        // The second attempt starts a new process or a new HTTP session.
        let attempt = |mode| UpstreamConnection::attempt(server, environment, changes, mode, time);
        match attempt(initialize).await {
            // Only after a refusal. A server that does not start or does not answer would fail in
            // the same way again, after twice the time.
            Err(ConnectError::HandshakeRefused(_)) => attempt(discover).await,
            other => other,
        }
        .map_err(ConnectError::into_failure)
    }

    /// Opens a connection with one kind of handshake.
    async fn attempt(
        server: &Server,
        environment: &[(OsString, OsString)],
        changes: &ListChangeCounter,
        mode: ClientLifecycleMode,
        time: Duration,
    ) -> Result<UpstreamConnection, ConnectError> {
        match &server.connection {
            Connection::Stdio { command } => {
                // Dropping `process` kills it, so a caller that gives up leaves nothing behind.
                let mut process = ServerProcess::start(command, server, environment)?;
                let transport = process
                    .transport
                    .take()
                    .ok_or_else(|| unavailable("its standard streams are not available"))?;
                // Taken before rmcp owns the transport: direct calls write to the same input.
                let to = transport.input();
                // In revision 2026-07-28 every request carries metadata about the client, which
                // rmcp fills in.
                let is_direct = mode == ClientLifecycleMode::Initialize;
                let handshake = EstablishedService::over(transport, changes, mode);
                let established = match tokio::time::timeout(time, handshake).await {
                    Ok(Ok(established)) => established,
                    Ok(Err(error)) => return Err(process.end_after(handshake_error(&error)).await),
                    Err(_) => return Err(process.end_after(not_ready(time)).await),
                };
                let calls = Arc::clone(&established.direct_calls);
                let mut connection = established.watch(Some(process), RawToolLists::default());
                connection.direct = is_direct.then_some(DirectChannel { to, calls });
                Ok(connection)
            }
            // The HTTP+SSE transport of 2024-11-05 is not implemented. Such an address is tried as
            // streamable HTTP: configurations often name the old type for servers of the new one.
            Connection::Http { url } | Connection::Sse { url } => {
                let lists = RawToolLists::default();
                let transport = http_transport::transport(url, &server.headers, &lists)
                    .map_err(|why| unavailable(&why))?;
                let handshake = EstablishedService::over(transport, changes, mode);
                let established = tokio::time::timeout(time, handshake)
                    .await
                    .map_err(|_| not_ready(time))?
                    .map_err(|error| handshake_error(&error))?;
                Ok(established.watch(None, lists))
            }
            Connection::WebSocket { .. } => {
                let message = "servers over web sockets cannot be reached";
                Err(ConnectError::Other(
                    Failure::new(&code::NOT_RUNNABLE, message)
                        .suggest("use its streamable HTTP address"),
                ))
            }
        }
    }

    /// Whether the connection can no longer be used.
    pub(super) fn has_ended(&self) -> bool {
        self.peer.is_transport_closed() || self.end.borrow().is_some()
    }

    /// Waits for the end and returns a sentence about how it came.
    pub(super) async fn wait_for_end(&self) -> String {
        let mut end = self.end.clone();
        match end.wait_for(Option::is_some).await {
            Ok(how) => how.clone().unwrap_or_default(),
            // The task that watches the connection was dropped: the runtime is shutting down.
            Err(_) => "the connection was closed".to_owned(),
        }
    }

    /// Starts to close the connection; [`wait_for_end`](Self::wait_for_end) waits for the rest.
    pub(super) fn close(&self) {
        self.closing.cancel();
    }

    /// Calls a tool and returns the raw result of the server. Dropping the future cancels the call
    /// at the server.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: &CallArguments,
        host: &dyn Host,
    ) -> Result<Json, Failure> {
        if let Some(direct) = &self.direct {
            return self.call_directly(direct, tool, arguments, host).await;
        }
        let mut params = CallToolRequestParams::new(tool.to_owned());
        // The protocol has no other kind of arguments than an object.
        params.arguments = arguments.as_object().cloned();
        let mut request = CallToolRequest::new(params);
        if let Some(text) = arguments.given_text() {
            request.extensions.insert(GivenArguments(Arc::clone(text)));
        }
        // rmcp adds a progress token to every request. The filter takes it out of marked requests.
        if !host.wants_progress() {
            request.extensions.insert(WithoutProgress);
        }
        let request = ClientRequest::CallToolRequest(request);
        let mut pending = self.send(request).await?;
        let Some(handle) = pending.0.as_mut() else { return Err(connection_lost("")) };
        let token = handle.progress_token.clone();
        let updates = host.wants_progress().then(|| self.progress.subscribe(token));
        let answer = wait_for_answer(&mut handle.rx, updates, host).await;
        // Answered (or the connection ended), so dropping `pending` must not cancel anything.
        pending.0 = None;
        self.raw_result(answer.unwrap_or(Err(ServiceError::TransportClosed))).await
    }

    /// Calls a tool on the fast path; see `direct_calls`.
    async fn call_directly(
        &self,
        direct: &DirectChannel,
        tool: &str,
        arguments: &CallArguments,
        host: &dyn Host,
    ) -> Result<Json, Failure> {
        let Some(mut call) = direct.register() else {
            return Err(self.explain(ServiceError::TransportClosed).await);
        };
        // The id of the call is its token, and nothing is sent yet: no notification can be early.
        let token = ProgressToken(RequestId::Number(call.id));
        let updates = host.wants_progress().then(|| self.progress.subscribe(token));
        if call.send(tool, arguments, updates.is_some()).await.is_err() {
            // The server has closed its input, so it is ending; `explain` waits for how it ended.
            return Err(self.explain(ServiceError::TransportClosed).await);
        }
        match wait_for_answer(&mut call.answer, updates, host).await {
            Ok(answer) => answer.map_err(|error| answered_with_error(&error)),
            // `DirectCalls::end` dropped the sender.
            Err(_) => Err(self.explain(ServiceError::TransportClosed).await),
        }
    }

    /// All tools of the server as it describes them, all pages as one list: `{"tools": […]}`.
    pub(super) async fn list(&self) -> Result<Json, Failure> {
        let mut tools: Vec<Json> = Vec::new();
        // Counted over all pages: a server could send endless small ones.
        let mut size = 0;
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = self.list_page(cursor.take()).await?;
            size += json_size(&page, MAX_MESSAGE);
            // Each page is bounded by the transport; this bounds their sum.
            if size > MAX_MESSAGE {
                let message =
                    format!("the server's list of tools has more than {MAX_MESSAGE} bytes");
                return Err(Failure::new(&code::OUTPUT_TOO_LARGE, message));
            }
            match page.get("tools") {
                // Tools are not parsed here. One that is malformed must not hide the others.
                Some(Json::Array(items)) => tools.extend(items.iter().cloned()),
                _ => {
                    let message = "the server's answer to `tools/list` has no list `tools`";
                    return Err(Failure::new(&code::OUTPUT_INVALID, message));
                }
            }
            match page.get("nextCursor").and_then(Json::as_str) {
                // Some servers send an empty cursor on the last page.
                Some(next) if !next.is_empty() => cursor = Some(next.to_owned()),
                _ => return Ok(serde_json::json!({"tools": tools})),
            }
        }
        let message = format!("the server's list of tools does not end after {MAX_PAGES} pages");
        Err(Failure::new(&code::OUTPUT_TOO_LARGE, message))
    }

    /// The instructions of the server's handshake.
    pub(super) fn instructions(&self) -> Option<String> {
        self.peer.peer_info().and_then(|info| info.instructions.clone())
    }

    /// One page of the list of tools, raw.
    async fn list_page(&self, cursor: Option<String>) -> Result<Json, Failure> {
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor;
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let mut pending = self.send(request).await?;
        let Some(handle) = pending.0.as_mut() else { return Err(connection_lost("")) };
        let id = handle.id.clone();
        let answer = (&mut handle.rx).await;
        pending.0 = None;
        // Over HTTP the raw list was put aside by the transport; over stdio it is in the answer.
        let raw = self.lists.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        match (answer.unwrap_or(Err(ServiceError::TransportClosed)), raw) {
            (Ok(_), Some(page)) => Ok(page),
            (answer, _) => self.raw_result(answer).await,
        }
    }

    /// Sends a request through rmcp.
    async fn send(&self, request: ClientRequest) -> Result<PendingRequest, Failure> {
        // No timeout of rmcp's: deadlines are the runner's, which drops the future.
        let sent =
            self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        match sent {
            Ok(handle) => Ok(PendingRequest(Some(handle))),
            Err(error) => Err(self.explain(error).await),
        }
    }

    /// The raw result in an answer that came through rmcp.
    async fn raw_result(
        &self,
        answer: Result<ServerResult, ServiceError>,
    ) -> Result<Json, Failure> {
        match answer {
            Ok(result) => raw_results::unwrap_result(result).ok_or_else(|| {
                Failure::new(&code::OUTPUT_INVALID, "the server's answer does not fit the request")
            }),
            Err(error) => Err(self.explain(error).await),
        }
    }

    /// The failure for an error of rmcp's service. If the connection ended, waits until it is known
    /// how.
    async fn explain(&self, error: ServiceError) -> Failure {
        match error {
            ServiceError::McpError(error) => answered_with_error(&error),
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
                // The exit status of a process is known a moment after its streams close.
                let how = tokio::time::timeout(TIME_TO_END, self.wait_for_end()).await;
                connection_lost(&how.unwrap_or_default())
            }
            ServiceError::TransportSend(error) => {
                let why = transport_error(&error);
                Failure::new(
                    &code::UPSTREAM_UNAVAILABLE,
                    format!("the call did not get through: {why}"),
                )
            }
            other => Failure::new(
                &code::UPSTREAM_UNAVAILABLE,
                format!("the communication with the server failed: {other}"),
            ),
        }
    }
}

/// Waits for an answer and passes progress on to the host until then.
async fn wait_for_answer<T>(
    answer: &mut oneshot::Receiver<T>,
    updates: Option<ProgressUpdates>,
    host: &dyn Host,
) -> Result<T, oneshot::error::RecvError> {
    let Some(mut updates) = updates else { return answer.await };
    loop {
        // Biased towards progress: notifications that came before the answer are passed on first.
        tokio::select! {
            biased;
            Some(progress) = updates.next() => host.progress(progress),
            answer = &mut *answer => return answer,
        }
    }
}

/// A connection right after its handshake, whose end nothing watches yet.
struct EstablishedService {
    service: RunningService<RoleClient, UpstreamHandler>,
    // The parts of the filter that the connection shares.
    progress: Arc<ProgressRouter>,
    direct_calls: Arc<DirectCalls>,
    closing: CancellationToken,
    disconnect_reason: DisconnectReason,
}

impl EstablishedService {
    /// Performs a handshake over a transport.
    async fn over<T: Transport<RoleClient> + 'static>(
        transport: T,
        changes: &ListChangeCounter,
        mode: ClientLifecycleMode,
    ) -> Result<EstablishedService, ClientInitializeError> {
        let progress = Arc::new(ProgressRouter::default());
        let closing = CancellationToken::new();
        let has_subscriptions = mode != ClientLifecycleMode::Initialize;
        let handler = UpstreamHandler { changes: Arc::clone(changes) };
        let disconnect_reason = DisconnectReason::default();
        let direct_calls = Arc::<DirectCalls>::default();
        // The filter is below rmcp from the first message on, so a server that floods is also
        // disconnected during the handshake.
        let filter = IncomingFilter::new(
            transport,
            Arc::clone(&progress),
            Arc::clone(&direct_calls),
            Arc::clone(&disconnect_reason),
        );
        let service =
            serve_client_with_lifecycle_and_ct(handler, filter, mode, closing.clone()).await?;
        if has_subscriptions {
            tokio::spawn(follow_list_changes(service.peer().clone(), Arc::clone(changes)));
        }
        Ok(EstablishedService { service, progress, direct_calls, closing, disconnect_reason })
    }

    /// Starts the task that watches for the end, and returns the connection.
    fn watch(self, process: Option<ServerProcess>, lists: RawToolLists) -> UpstreamConnection {
        let EstablishedService { service, progress, closing, disconnect_reason, .. } = self;
        let peer = service.peer().clone();
        let (sender, end) = watch::channel(None);
        tokio::spawn(async move {
            let quit = service.waiting().await;
            // The service has dropped the transport, which closed the server's input.
            let how = match process {
                Some(process) => process.end().await,
                None => match quit {
                    Ok(QuitReason::Cancelled) => "the connection was closed".to_owned(),
                    _ => "the server closed the connection".to_owned(),
                },
            };
            // If we disconnected the server, how its process then ended is not the reason.
            sender.send_replace(Some(disconnect_reason.get().cloned().unwrap_or(how)));
        });
        UpstreamConnection { peer, direct: None, progress, closing, lists, end }
    }
}

/// A request that was sent through rmcp; empty once it is answered. If it is dropped before, the
/// server is notified that the request is cancelled.
struct PendingRequest(Option<RequestHandle<RoleClient>>);

impl Drop for PendingRequest {
    fn drop(&mut self) {
        // `drop` cannot wait, so a task sends the notification. Without a runtime the program is
        // ending, and the connection with it.
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(handle.cancel(Some("the result is no longer wanted".to_owned())));
        }
    }
}

/// Subscribes to changes of the list of tools. Revision 2026-07-28 sends them only to subscribers;
/// with older ones they come to the handler unrequested.
async fn follow_list_changes(peer: Peer<RoleClient>, changes: ListChangeCounter) {
    let offers = peer.peer_info().and_then(|info| info.capabilities.tools.as_ref()?.list_changed);
    // A server without the capability may answer the subscription with an error or never.
    if offers != Some(true) {
        return;
    }
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let Ok(mut subscription) = peer.listen(filter).await else { return };
    // Ends with the connection. A new connection subscribes again.
    while let Ok(Some(_)) = subscription.next().await {
        changes.send_modify(|n| *n += 1);
    }
}
