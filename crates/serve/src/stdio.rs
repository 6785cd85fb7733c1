//! An agent on the standard streams of this process. Whatever comes in gets an answer: a line that
//! is no JSON, one that is no request, and one that is too long for anybody.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{
    QuitReason, RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage,
    serve_server_with_ct,
};
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use tokio::io::AsyncWriteExt;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use toolwright_exec::mcp::{Line, Lines};

use crate::Agent;
use crate::calls::{Asked, Calls, Sink};

/// Serves one agent until it closes its end, or until `until`.
///
/// # Errors
/// If the agent never got through the handshake.
pub async fn serve(agent: Agent, until: CancellationToken) -> Result<(), String> {
    let closing = end_gently(&agent, &until);
    let (from, to) = stdio_pipes();
    let transport = Stdio {
        from: Lines::new(from),
        to: Out(Arc::new(Mutex::new(Some(to)))),
        greeted: false,
        shaken_hands: false,
        left: None,
        calls: Arc::default(),
        agent: agent.clone(),
    };
    match serve_server_with_ct(agent, transport, closing).await {
        Ok(service) => match service.waiting().await {
            Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
            other => Err(format!("the connection broke: {other:?}")),
        },
        // An agent that leaves before it said anything wanted nothing.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(format!("the agent did not get through the handshake: {error}")),
    }
}

/// A token that fires some time after `until`: calls that are under way may end first.
pub(crate) fn end_gently(agent: &Agent, until: &CancellationToken) -> CancellationToken {
    let closing = CancellationToken::new();
    let (agent, until, later) = (agent.clone(), until.clone(), closing.clone());
    tokio::spawn(async move {
        until.cancelled().await;
        agent.idle(GRACE).await;
        // An answer is sent a moment after its call has ended.
        tokio::time::sleep(LAST_WORDS).await;
        later.cancel();
    });
    closing
}

/// How long calls that are under way may go on when the server ends.
pub(crate) const GRACE: Duration = Duration::from_secs(3);
/// How long answers may take to be sent then.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// How long calls may go on when the agent has closed its end.
const NOBODY_WRITES: Duration = Duration::from_secs(2);

struct Stdio {
    from: Lines<StdioReader>,
    to: Out,
    /// Whether a request has come. What comes before it belongs to no conversation.
    greeted: bool,
    /// Whether the agent has ended a handshake: from then on its calls are answered here.
    shaken_hands: bool,
    calls: Arc<Calls>,
    /// When the agent closed its end.
    left: Option<Instant>,
    agent: Agent,
}

/// What a line was.
enum Said {
    Message(Box<ClientJsonRpcMessage>),
    Bad(ErrorCode, &'static str, Option<RequestId>),
    Blank,
}

/// The way out, until it is closed.
#[derive(Clone)]
struct Out(Arc<Mutex<Option<StdioWriter>>>);

impl Out {
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

impl Sink for Out {
    async fn send(&self, message: ServerJsonRpcMessage) {
        if let Ok(line) = serde_json::to_vec(&message) {
            // An agent that reads no more is noticed by whoever reads from it.
            let _ = self.clone().write(line).await;
        }
    }
}

fn read(line: &[u8]) -> Said {
    if line.trim_ascii().is_empty() {
        return Said::Blank;
    }
    if let Ok(message) = serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        return Said::Message(Box::new(message));
    }
    match serde_json::from_slice::<serde_json::Value>(line) {
        Err(_) => Said::Bad(ErrorCode::PARSE_ERROR, "the line is not JSON", None),
        Ok(value) => {
            let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
            Said::Bad(ErrorCode::INVALID_REQUEST, "the line is not a JSON-RPC 2.0 message", id)
        }
    }
}

impl Stdio {
    /// An agent that wrote all its requests at once still reads the answers.
    async fn let_calls_end(&mut self) {
        // Whoever asks for messages may ask anew at any time; the agent left only once.
        let left = *self.left.get_or_insert_with(Instant::now);
        self.agent.idle(NOBODY_WRITES.saturating_sub(left.elapsed())).await;
        self.agent.end_calls();
        self.agent.idle(LAST_WORDS).await;
    }
}

fn ends_handshake(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Notification(message) = message else { return false };
    matches!(message.notification, ClientNotification::InitializedNotification(_))
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let to = self.to.clone();
        async move { to.write(serde_json::to_vec(&item)?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(line) = self.from.next().await else {
                self.let_calls_end().await;
                return None;
            };
            let said = match line {
                Line::Whole(line) => match Asked::read(line).filter(|_| self.shaken_hands) {
                    Some(asked) => {
                        tokio::spawn(self.calls.make(&self.agent, asked, self.to.clone()));
                        continue;
                    }
                    None => read(line),
                },
                Line::TooLong(id) => {
                    Said::Bad(ErrorCode::INVALID_REQUEST, "the message has more than 16 MiB", id)
                }
            };
            match said {
                Said::Message(message) => {
                    self.greeted |= matches!(*message, ClientJsonRpcMessage::Request(_));
                    self.shaken_hands |= ends_handshake(&message);
                    if !self.greeted || self.calls.cancelled_by(&message) {
                        continue;
                    }
                    return Some(*message);
                }
                Said::Blank => {}
                Said::Bad(code, message, id) => {
                    let error = serde_json::json!({"code": code.0, "message": message});
                    let answer = serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error});
                    // Not awaited here: whoever reads may be dropped, and the answer with it.
                    tokio::spawn(self.to.clone().write(answer.to_string().into_bytes()));
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // An agent that reads nothing must not hold this up.
        if let Ok(mut to) = self.to.0.try_lock() {
            to.take();
        }
        Ok(())
    }
}
