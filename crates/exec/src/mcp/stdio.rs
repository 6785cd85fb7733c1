//! A server that we start, and its standard streams: one JSON-RPC message a line.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::lines::{Line, Lines};
use super::wire;

pub(super) struct Stdio {
    from: Lines<ChildStdout>,
    to: Input,
    /// Lines since the last message.
    noise: u32,
}

/// The server's input, until it is closed.
#[derive(Clone)]
pub(super) struct Input(Arc<Mutex<Option<ChildStdin>>>);

impl Input {
    /// Writes a message as a line.
    pub(super) async fn write(self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        match self.0.lock().await.as_mut() {
            Some(to) => to.write_all(&line).await,
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

/// Lines that are no messages in a row. A server that prints more is no MCP server.
const MAX_NOISE: u32 = 100_000;

impl Stdio {
    pub(super) fn new(from: ChildStdout, to: ChildStdin) -> Stdio {
        Stdio { from: Lines::new(from), to: Input(Arc::new(Mutex::new(Some(to)))), noise: 0 }
    }

    /// The server's input, for what does not go through rmcp.
    pub(super) fn input(&self) -> Input {
        self.to.clone()
    }

    /// The next message; lines that are none are passed over, as some servers log to stdout.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        while self.noise <= MAX_NOISE {
            let message = match self.from.next().await? {
                Line::TooLong(id) => id.map(wire::too_large),
                Line::Whole(line) => wire::read(line),
            };
            if message.is_some() {
                self.noise = 0;
                return message;
            }
            self.noise += 1;
        }
        None
    }
}

impl Transport<RoleClient> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let to = self.to.clone();
        async move { to.write(serde_json::to_vec(&item)?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // A server that reads nothing must not hold this up: its write then ends with its process.
        if let Ok(mut to) = self.to.0.try_lock() {
            to.take();
        }
        Ok(())
    }
}
