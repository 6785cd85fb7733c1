//! Serves one client on the standard streams of this process, one JSON-RPC message per line.
//!
//! ```text
//! stdin ─▶ MessageLines ─┬─ plain tools/call, after the handshake ─▶ FastCalls ─┐
//!                        ├─ cancels such a call ─▶ FastCalls                    ├─▶ stdout
//!                        ├─ other message ─▶ rmcp's service ────────────────────┤
//!                        └─ not a message, too long ─▶ JSON-RPC error ──────────┘
//! ```
//!
//! [`ClientStdio`] is the transport that rmcp's service reads from; what it handles itself, rmcp
//! never sees. Every line gets an answer or is ignored on purpose; no line ends the connection.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, GetExtensions, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{
    QuitReason, RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage,
    serve_server_with_ct,
};
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use tokio::io::AsyncWriteExt;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use toolwright_exec::WorkSize;
use toolwright_exec::mcp::{MessageLine, MessageLines};

use crate::McpHandler;
use crate::fast_calls::{FastCallRequest, FastCalls, MessageSender, message_text};
use crate::handler::RequestedArguments;

/// How long running calls may continue when the server ends.
pub(crate) const GRACE: Duration = Duration::from_secs(3);
/// How long responses may take to be written afterwards.
const SEND_TIMEOUT: Duration = Duration::from_millis(100);
/// How long running calls may continue when the client has closed its end. Shorter than [`GRACE`],
/// because a client that closes both ends does not read the results.
const GRACE_AFTER_EOF: Duration = Duration::from_secs(2);

/// Serves one client until it closes its end, or until `until` is cancelled.
///
/// # Errors
/// A sentence, if the handshake failed or the connection broke.
pub async fn serve(handler: McpHandler, until: CancellationToken) -> Result<(), String> {
    let closing = cancel_after_grace(&handler, &until);
    let (from, to) = stdio_pipes();
    let transport = ClientStdio {
        from: MessageLines::new(from),
        to: StdoutWriter(Arc::new(Mutex::new(Some(to)))),
        has_request: false,
        is_initialized: false,
        eof_at: None,
        calls: Arc::default(),
        handler: handler.clone(),
    };
    match serve_server_with_ct(handler, transport, closing).await {
        Ok(service) => match service.waiting().await {
            // The client closed its end, or `closing` was cancelled.
            Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
            other => Err(format!("the connection broke: {other:?}")),
        },
        // A client may leave without a request, for example to check that the program starts.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(format!("the handshake with the client failed: {error}")),
    }
}

/// A token that is cancelled after `until`, once the running calls have ended or [`GRACE`] is over.
fn cancel_after_grace(handler: &McpHandler, until: &CancellationToken) -> CancellationToken {
    let closing = CancellationToken::new();
    let (handler, until, later) = (handler.clone(), until.clone(), closing.clone());
    tokio::spawn(async move {
        until.cancelled().await;
        handler.wait_until_idle(GRACE).await;
        // On rmcp's path a call counts as ended before its response is written.
        tokio::time::sleep(SEND_TIMEOUT).await;
        later.cancel();
    });
    closing
}

/// The transport; see the file header.
struct ClientStdio {
    from: MessageLines<StdioReader>,
    to: StdoutWriter,
    /// Whether a request has arrived. rmcp ends the connection if another message comes first, so
    /// earlier ones are ignored here.
    has_request: bool,
    /// Whether the client has completed the handshake, which allows the fast path.
    is_initialized: bool,
    calls: Arc<FastCalls>,
    /// When the client closed its end.
    eof_at: Option<Instant>,
    handler: McpHandler,
}

/// The content of one line.
enum IncomingLine {
    Message(Box<ClientJsonRpcMessage>),
    /// Answered with this JSON-RPC error, to the request with this id.
    Invalid(ErrorCode, &'static str, Option<RequestId>),
    /// Only white space. Some clients end their messages with an empty line.
    Blank,
}

/// Standard output; `None` inside once it is closed. Cloned for every call: lines are written one
/// at a time under the lock.
#[derive(Clone)]
struct StdoutWriter(Arc<Mutex<Option<StdioWriter>>>);

impl StdoutWriter {
    /// Writes a message and its line end. Not safe to cancel: half a line would corrupt the next.
    async fn write(self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        match self.0.lock().await.as_mut() {
            Some(to) => {
                to.write_all(&line).await?;
                to.flush().await
            }
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl MessageSender for StdoutWriter {
    async fn send(&self, message: ServerJsonRpcMessage, size: WorkSize) {
        let line = message_text(message, size).await;
        // If the client has closed its end of stdout, it closes stdin as well, and reading from
        // that ends the connection.
        let _ = self.clone().write(line).await;
    }
}

/// Parses a line. JSON-RPC has different errors for text that is not JSON and for JSON that is not
/// a message; the latter may have an id.
fn parse_line(line: &[u8]) -> IncomingLine {
    if line.trim_ascii().is_empty() {
        return IncomingLine::Blank;
    }
    if let Ok(mut message) = serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        if let ClientJsonRpcMessage::Request(request) = &mut message
            && let Some(arguments) = RequestedArguments::in_message(line)
        {
            request.request.extensions_mut().insert(arguments);
        }
        return IncomingLine::Message(Box::new(message));
    }
    match serde_json::from_slice::<serde_json::Value>(line) {
        Err(_) => IncomingLine::Invalid(ErrorCode::PARSE_ERROR, "the line is not JSON", None),
        Ok(value) => {
            // With the id the client can match the error with its request.
            let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
            IncomingLine::Invalid(
                ErrorCode::INVALID_REQUEST,
                "the line is not a JSON-RPC 2.0 message",
                id,
            )
        }
    }
}

impl ClientStdio {
    /// Gives running calls some time after the end of input, then aborts them. A client that wrote
    /// all its requests at once (`printf … | toolwright serve`) still reads the answers.
    async fn finish_calls(&mut self) {
        // rmcp may drop `receive` and call it again; the time counts from the first end of input.
        let eof_at = *self.eof_at.get_or_insert_with(Instant::now);
        self.handler.wait_until_idle(GRACE_AFTER_EOF.saturating_sub(eof_at.elapsed())).await;
        self.handler.abort_calls();
        self.handler.wait_until_idle(SEND_TIMEOUT).await;
    }
}

/// Whether the message is the last one of a handshake.
fn ends_handshake(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Notification(message) = message else { return false };
    matches!(message.notification, ClientNotification::InitializedNotification(_))
}

impl Transport<RoleServer> for ClientStdio {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let to = self.to.clone();
        // A list can have ten thousand tools, and nothing says how large the result of a call is.
        let size = match &item {
            ServerJsonRpcMessage::Response(response) => match response.result {
                ServerResult::ListToolsResult(_) | ServerResult::CallToolResult(_) => {
                    WorkSize::Large
                }
                _ => WorkSize::Small,
            },
            _ => WorkSize::Small,
        };
        async move { to.write(message_text(item, size).await).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(line) = self.from.next().await else {
                self.finish_calls().await;
                return None;
            };
            let incoming = match line {
                MessageLine::Complete(line) => {
                    // A task per call: the next line must be read while the call runs.
                    match FastCallRequest::parse(line).filter(|_| self.is_initialized) {
                        Some(request) => {
                            let to = self.to.clone();
                            tokio::spawn(self.calls.run(&self.handler, request, to));
                            continue;
                        }
                        None => parse_line(line),
                    }
                }
                MessageLine::TooLong(id) => {
                    let message = "the message is larger than 24 MiB";
                    let id = id.and_then(|id| serde_json::from_value(id.to_json()).ok());
                    IncomingLine::Invalid(ErrorCode::INVALID_REQUEST, message, id)
                }
            };
            match incoming {
                IncomingLine::Message(message) => {
                    // Cancellations of calls on the fast path are handled here; rmcp has no such
                    // call and would ignore them.
                    self.has_request |= matches!(*message, ClientJsonRpcMessage::Request(_));
                    self.is_initialized |= ends_handshake(&message);
                    if !self.has_request || self.calls.cancel_by(&message) {
                        continue;
                    }
                    return Some(*message);
                }
                IncomingLine::Blank => {}
                IncomingLine::Invalid(code, message, id) => {
                    let error = serde_json::json!({"code": code.0, "message": message});
                    let answer = serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error});
                    // Spawned, because rmcp may drop this future in the middle of a write.
                    tokio::spawn(self.to.clone().write(answer.to_string().into_bytes()));
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // A client that does not read holds the lock in a blocked write, which must not delay the
        // end.
        if let Ok(mut to) = self.to.0.try_lock() {
            to.take();
        }
        Ok(())
    }
}
