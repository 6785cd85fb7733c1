//! One connection to a server: the handshake, in the old way or the new one, calls and lists over
//! it, and its end.

use std::ffi::OsString;
use std::process::Stdio as Pipe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    ErrorData, Implementation, ListToolsRequest, PaginatedRequestParams, ProgressToken,
    ProtocolVersion, RequestId, ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions,
    QuitReason, RequestHandle, RunningService, ServiceError, serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::{DynamicTransportError, Transport};
use rmcp::{ClientHandler, RoleClient};
use tokio::process::{Child, Command};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use toolwright_model::{Connection as Way, Server};

use super::direct::{Direct, Waiting};
use super::http::{self, Lists};
use super::lines::MAX_MESSAGE;
use super::progress::{Notices, ProgressBook};
use super::stdio::Stdio;
use super::tap::{CutOff, Tap, Unheard};
use super::wire;
use crate::outcome::json_size;
use crate::process_tree::ProcessTree;
use crate::stderr_tail::{self, StderrTail};
use crate::{Failure, Host, Json, code};

/// How long a server may take to end by itself when its input is closed, and again when it is
/// asked.
const TIME_TO_END: Duration = Duration::from_millis(1_500);
/// Characters of a server's error that are passed on.
const LONGEST_MESSAGE: usize = 4_000;
/// Pages of one list of tools.
const MAX_PAGES: usize = 1_000;

/// An open connection.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    /// For a server that we started and that took the old handshake.
    direct: Option<Direct>,
    progress: Arc<ProgressBook>,
    closing: CancellationToken,
    lists: Lists,
    /// What became of it, once it is over.
    over: watch::Receiver<Option<String>>,
}

/// Counts the changes of a server's list of tools.
pub(super) type Changes = Arc<watch::Sender<u64>>;

/// What a server is told about us, and what we hear from it.
struct Client {
    changes: Changes,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("toolwright", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.send_modify(|n| *n += 1);
    }
}

impl Connection {
    /// Starts or reaches the server. The old handshake first, since most servers know only that;
    /// one that refuses it is asked in the new way.
    pub(super) async fn open(
        server: &Server,
        environment: &[(OsString, OsString)],
        changes: &Changes,
        time: Duration,
    ) -> Result<Connection, Failure> {
        let new = ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        };
        match Connection::attempt(
            server,
            environment,
            changes,
            ClientLifecycleMode::Initialize,
            time,
        )
        .await
        {
            Err(Refused::Handshake(_)) => {
                Connection::attempt(server, environment, changes, new, time)
                    .await
                    .map_err(Refused::into_failure)
            }
            other => other.map_err(Refused::into_failure),
        }
    }

    async fn attempt(
        server: &Server,
        environment: &[(OsString, OsString)],
        changes: &Changes,
        mode: ClientLifecycleMode,
        time: Duration,
    ) -> Result<Connection, Refused> {
        match &server.connection {
            Way::Stdio { command } => {
                let mut process = Process::start(command, server, environment)?;
                let transport =
                    process.transport.take().ok_or_else(|| unavailable("its streams are gone"))?;
                let to = transport.input();
                // In the new revision every request says who asks: rmcp knows how.
                let direct = mode == ClientLifecycleMode::Initialize;
                let opened =
                    tokio::time::timeout(time, Connection::over(transport, changes, mode)).await;
                let (service, opened) = match opened {
                    Ok(Ok(opened)) => opened,
                    Ok(Err(error)) => return Err(process.explain(refusal(&error)).await),
                    Err(_) => return Err(process.explain(not_ready(time)).await),
                };
                let waiting = Arc::clone(&opened.waiting);
                let mut connection = opened.keep(service, Some(process), Lists::default());
                connection.direct = direct.then_some(Direct { to, waiting });
                Ok(connection)
            }
            Way::Http { url } | Way::Sse { url } => {
                let lists = Lists::default();
                let transport = http::transport(url, &server.headers, &lists)
                    .map_err(|why| unavailable(&why))?;
                let opened =
                    tokio::time::timeout(time, Connection::over(transport, changes, mode)).await;
                let (service, opened) =
                    opened.map_err(|_| not_ready(time))?.map_err(|error| refusal(&error))?;
                Ok(opened.keep(service, None, lists))
            }
            Way::WebSocket { .. } => {
                let message = "servers over web sockets cannot be reached";
                Err(Refused::Other(
                    Failure::new(&code::NOT_RUNNABLE, message)
                        .suggest("use its streamable HTTP address"),
                ))
            }
        }
    }

    async fn over<T: Transport<RoleClient> + 'static>(
        transport: T,
        changes: &Changes,
        mode: ClientLifecycleMode,
    ) -> Result<(RunningService<RoleClient, Client>, Opened), ClientInitializeError> {
        let progress = Arc::new(ProgressBook::default());
        let closing = CancellationToken::new();
        let modern = mode != ClientLifecycleMode::Initialize;
        let client = Client { changes: Arc::clone(changes) };
        let cut_off = CutOff::default();
        let waiting = Arc::<Waiting>::default();
        let tap =
            Tap::new(transport, Arc::clone(&progress), Arc::clone(&waiting), Arc::clone(&cut_off));
        let service =
            serve_client_with_lifecycle_and_ct(client, tap, mode, closing.clone()).await?;
        if modern {
            tokio::spawn(follow_changes(service.peer().clone(), Arc::clone(changes)));
        }
        Ok((service, Opened { progress, waiting, closing, cut_off }))
    }

    /// Whether it can no longer be used.
    pub(super) fn is_over(&self) -> bool {
        self.peer.is_transport_closed() || self.over.borrow().is_some()
    }

    /// Waits for the end and says what became of it.
    pub(super) async fn ended(&self) -> String {
        let mut over = self.over.clone();
        match over.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            Err(_) => "the connection was given up".to_owned(),
        }
    }

    /// Ends it.
    pub(super) fn close(&self) {
        self.closing.cancel();
    }

    /// Calls a tool. Dropping the future tells the server that the result is no longer wanted.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: &Json,
        host: &dyn Host,
    ) -> Result<Json, Failure> {
        if let Some(direct) = &self.direct {
            return self.call_directly(direct, tool, arguments, host).await;
        }
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = arguments.as_object().cloned();
        let mut request = CallToolRequest::new(params);
        if !host.wants_progress() {
            request.extensions.insert(Unheard);
        }
        let request = ClientRequest::CallToolRequest(request);
        let mut pending = self.send(request).await?;
        let Some(handle) = pending.0.as_mut() else { return Err(gone("")) };
        let token = handle.progress_token.clone();
        let notices = host.wants_progress().then(|| self.progress.listen(token));
        let answer = hear(&mut handle.rx, notices, host).await;
        pending.0 = None;
        self.read(answer.unwrap_or(Err(ServiceError::TransportClosed))).await
    }

    async fn call_directly(
        &self,
        direct: &Direct,
        tool: &str,
        arguments: &Json,
        host: &dyn Host,
    ) -> Result<Json, Failure> {
        let Some(mut sent) = direct.prepare() else {
            return Err(self.explain(ServiceError::TransportClosed).await);
        };
        let token = ProgressToken(RequestId::Number(sent.id));
        let notices = host.wants_progress().then(|| self.progress.listen(token));
        if sent.send(tool, arguments, notices.is_some()).await.is_err() {
            // A server that takes nothing any more is ending: how, is known in a moment.
            return Err(self.explain(ServiceError::TransportClosed).await);
        }
        match hear(&mut sent.answer, notices, host).await {
            Ok(answer) => answer.map_err(|error| upstream_says(&error)),
            Err(_) => Err(self.explain(ServiceError::TransportClosed).await),
        }
    }

    /// All tools of the server, as it describes them: `{"tools": […]}`.
    pub(super) async fn list(&self) -> Result<Json, Failure> {
        let mut tools: Vec<Json> = Vec::new();
        let mut size = 0;
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut params = PaginatedRequestParams::default();
            params.cursor = cursor.take();
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let mut pending = self.send(request).await?;
            let Some(handle) = pending.0.as_mut() else { return Err(gone("")) };
            let id = handle.id.clone();
            let answer = (&mut handle.rx).await;
            pending.0 = None;
            let kept = self.lists.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            let page = match (answer.unwrap_or(Err(ServiceError::TransportClosed)), kept) {
                (Ok(_), Some(page)) => page,
                (answer, _) => self.read(answer).await?,
            };
            size += json_size(&page, MAX_MESSAGE);
            if size > MAX_MESSAGE {
                let message =
                    format!("the server's list of tools has more than {MAX_MESSAGE} bytes");
                return Err(Failure::new(&code::OUTPUT_TOO_LARGE, message));
            }
            match page.get("tools") {
                Some(Json::Array(items)) => tools.extend(items.iter().cloned()),
                _ => {
                    let message = "the server's answer to `tools/list` has no list `tools`";
                    return Err(Failure::new(&code::OUTPUT_INVALID, message));
                }
            }
            match page.get("nextCursor").and_then(Json::as_str) {
                Some(next) if !next.is_empty() => cursor = Some(next.to_owned()),
                _ => return Ok(serde_json::json!({"tools": tools})),
            }
        }
        let message = format!("the server's list of tools does not end after {MAX_PAGES} pages");
        Err(Failure::new(&code::OUTPUT_TOO_LARGE, message))
    }

    async fn send(&self, request: ClientRequest) -> Result<Pending, Failure> {
        let sent =
            self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        match sent {
            Ok(handle) => Ok(Pending(Some(handle))),
            Err(error) => Err(self.explain(error).await),
        }
    }

    async fn read(&self, answer: Result<ServerResult, ServiceError>) -> Result<Json, Failure> {
        match answer {
            Ok(result) => wire::unveil(result).ok_or_else(|| {
                Failure::new(
                    &code::OUTPUT_INVALID,
                    "the server's answer is of another kind than was asked for",
                )
            }),
            Err(error) => Err(self.explain(error).await),
        }
    }

    async fn explain(&self, error: ServiceError) -> Failure {
        match error {
            ServiceError::McpError(error) => upstream_says(&error),
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
                // How a process ended is known a moment after its streams close.
                let why = tokio::time::timeout(TIME_TO_END, self.ended()).await.unwrap_or_default();
                gone(&why)
            }
            ServiceError::TransportSend(error) => {
                let why = on_the_way(&error);
                Failure::new(
                    &code::UPSTREAM_UNAVAILABLE,
                    format!("the call did not get through: {why}"),
                )
            }
            other => Failure::new(
                &code::UPSTREAM_UNAVAILABLE,
                format!("the server cannot be talked to: {other}"),
            ),
        }
    }
}

/// Waits for an answer and passes on what is said about it before.
async fn hear<T>(
    answer: &mut oneshot::Receiver<T>,
    notices: Option<Notices>,
    host: &dyn Host,
) -> Result<T, oneshot::error::RecvError> {
    let Some(mut notices) = notices else { return answer.await };
    loop {
        tokio::select! {
            biased;
            Some(progress) = notices.next() => host.progress(progress),
            answer = &mut *answer => return answer,
        }
    }
}

/// A connection whose end is not watched yet.
struct Opened {
    progress: Arc<ProgressBook>,
    waiting: Arc<Waiting>,
    closing: CancellationToken,
    cut_off: CutOff,
}

impl Opened {
    fn keep(
        self,
        service: RunningService<RoleClient, Client>,
        process: Option<Process>,
        lists: Lists,
    ) -> Connection {
        let peer = service.peer().clone();
        let (sender, over) = watch::channel(None);
        let Opened { progress, closing, cut_off, .. } = self;
        tokio::spawn(async move {
            let quit = service.waiting().await;
            let why = match process {
                Some(process) => process.end().await,
                None => match quit {
                    Ok(QuitReason::Cancelled) => "the connection was closed".to_owned(),
                    _ => "the server closed the connection".to_owned(),
                },
            };
            sender.send_replace(Some(cut_off.get().cloned().unwrap_or(why)));
        });
        Connection { peer, direct: None, progress, closing, lists, over }
    }
}

/// A request that is under way. Dropped before its answer came, it is cancelled at the server.
struct Pending(Option<RequestHandle<RoleClient>>);

impl Drop for Pending {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(handle.cancel(Some("the result is no longer wanted".to_owned())));
        }
    }
}

/// In the new revision, changes are told to those who subscribed.
async fn follow_changes(peer: Peer<RoleClient>, changes: Changes) {
    let tells = peer.peer_info().and_then(|info| info.capabilities.tools.as_ref()?.list_changed);
    if tells != Some(true) {
        return;
    }
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let Ok(mut subscription) = peer.listen(filter).await else { return };
    while let Ok(Some(_)) = subscription.next().await {
        changes.send_modify(|n| *n += 1);
    }
}

/// A server that we started.
struct Process {
    child: Child,
    run: ProcessTree,
    transport: Option<Stdio>,
    errors: Arc<Mutex<StderrTail>>,
    reader: tokio::task::JoinHandle<()>,
}

impl Process {
    fn start(
        command: &[String],
        server: &Server,
        base: &[(OsString, OsString)],
    ) -> Result<Process, Refused> {
        let Some((program, words)) = command.split_first() else {
            return Err(unavailable("its command is empty"));
        };
        let mut environment = base.to_vec();
        for variable in &server.environment {
            match &variable.value {
                Some(value) => environment.push(((&variable.name).into(), value.into())),
                None if variable.required
                    && !environment.iter().any(|(name, _)| *name == *variable.name) =>
                {
                    let message = format!(
                        "the server needs the variable `{}`, which is not set",
                        variable.name
                    );
                    let failure = Failure::new(&code::UPSTREAM_UNAVAILABLE, message);
                    return Err(Refused::Other(failure.suggest("set it in the source's `env`")));
                }
                None => {}
            }
        }
        let mut command = Command::new(program);
        command.args(words).stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped());
        if let Some(directory) = &server.directory {
            command.current_dir(directory);
        }
        let (mut child, run) = ProcessTree::start(&mut command, &environment)
            .map_err(|error| Refused::Other(crate::process::cannot_start(program, &error)))?;
        let errors = Arc::new(Mutex::new(StderrTail::default()));
        let reader = tokio::spawn({
            let (from, errors) = (child.stderr.take(), Arc::clone(&errors));
            async move {
                stderr_tail::read_tail(from, |push| {
                    push(&mut errors.lock().unwrap_or_else(PoisonError::into_inner))
                })
                .await;
            }
        });
        let transport = match (child.stdout.take(), child.stdin.take()) {
            (Some(from), Some(to)) => Some(Stdio::new(from, to)),
            _ => None,
        };
        Ok(Process { child, run, transport, errors, reader })
    }

    /// Lets the server end by itself, then asks it to, then ends it and all that it started.
    async fn end(mut self) -> String {
        let mut status = tokio::time::timeout(TIME_TO_END, self.child.wait()).await;
        if status.is_err() {
            self.run.terminate();
            status = tokio::time::timeout(TIME_TO_END, self.child.wait()).await;
        }
        self.run.kill();
        let how = match status {
            Ok(Ok(status)) => match status.code() {
                Some(code) => format!("the server's process ended with status {code}"),
                None => "the server's process was ended by a signal".to_owned(),
            },
            _ => "the server's process did not end and was killed".to_owned(),
        };
        // What it said last may still be on its way.
        let _ = tokio::time::timeout(Duration::from_millis(100), self.reader).await;
        match text_of(&self.errors) {
            errors if errors.is_empty() => how,
            errors => format!("{how}; it said: {errors}"),
        }
    }

    /// A failed handshake, with what became of the process.
    async fn explain(self, refused: Refused) -> Refused {
        match refused {
            Refused::Handshake(failure) => {
                drop(self.end().await);
                Refused::Handshake(failure)
            }
            Refused::Other(mut failure) => {
                let why = self.end().await;
                failure.message = format!("{}: {why}", failure.message);
                Refused::Other(failure)
            }
        }
    }
}

/// The end of what a server printed to stderr, as one line for a message.
fn text_of(errors: &Mutex<StderrTail>) -> String {
    let text = errors.lock().unwrap_or_else(PoisonError::into_inner).text();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(5)..].join(" | ");
    last.chars().take(1_000).collect()
}

/// Why there is no connection.
enum Refused {
    /// The server is there and does not take this handshake.
    Handshake(Failure),
    Other(Failure),
}

impl Refused {
    fn into_failure(self) -> Failure {
        match self {
            Refused::Handshake(failure) | Refused::Other(failure) => failure,
        }
    }
}

fn unavailable(why: &str) -> Refused {
    Refused::Other(Failure::new(
        &code::UPSTREAM_UNAVAILABLE,
        format!("the server cannot be reached: {why}"),
    ))
}

fn not_ready(time: Duration) -> Refused {
    unavailable(&format!("it did not get ready within {} s", time.as_secs()))
}

fn gone(why: &str) -> Failure {
    let why = if why.is_empty() { "the connection is closed" } else { why };
    Failure::new(
        &code::UPSTREAM_UNAVAILABLE,
        format!("the server went away during the call: {why}"),
    )
}

fn refusal(error: &ClientInitializeError) -> Refused {
    match error {
        ClientInitializeError::JsonRpcError(says) => {
            let message = format!("the server refused the connection: {}", says.message);
            Refused::Handshake(Failure::new(&code::UPSTREAM_UNAVAILABLE, message))
        }
        ClientInitializeError::ConnectionClosed(_) => {
            unavailable("it closed the connection before it answered")
        }
        error if error.is_authorization_required() => {
            let message = "the server wants a token, and the one it was given is missing or wrong";
            let failure = Failure::new(&code::UPSTREAM_UNAVAILABLE, message);
            Refused::Other(
                failure.suggest("set `headers = { Authorization = \"Bearer …\" }` on its source"),
            )
        }
        ClientInitializeError::TransportError { error, .. } => unavailable(&on_the_way(error)),
        error => unavailable(&error.to_string()),
    }
}

/// The error of a server's answer, in its own words.
fn upstream_says(error: &ErrorData) -> Failure {
    if error.message == wire::TOO_LARGE {
        return Failure::new(&code::OUTPUT_TOO_LARGE, error.message.to_string());
    }
    let message: String = error.message.chars().take(LONGEST_MESSAGE).collect();
    Failure::new(
        &code::TOOL_FAILED,
        format!("the server answered with error {}: {message}", error.code.0),
    )
}

/// What went wrong between us and the server, without the types it went through.
fn on_the_way(error: &DynamicTransportError) -> String {
    http::explain(&*error.error).unwrap_or_else(|| error.error.to_string())
}
