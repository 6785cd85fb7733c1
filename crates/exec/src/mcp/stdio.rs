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
    to: Arc<Mutex<Option<ChildStdin>>>,
    /// Lines since the last message.
    noise: u32,
}

/// Lines that are no messages in a row. A server that prints more is no MCP server.
const MAX_NOISE: u32 = 100_000;

impl Stdio {
    pub(super) fn new(from: ChildStdout, to: ChildStdin) -> Stdio {
        Stdio { from: Lines::new(from), to: Arc::new(Mutex::new(Some(to))), noise: 0 }
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
        let to = Arc::clone(&self.to);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            match to.lock().await.as_mut() {
                Some(to) => to.write_all(&line).await,
                None => Err(io::ErrorKind::NotConnected.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // A server that reads nothing must not hold this up: its write then ends with its process.
        if let Ok(mut to) = self.to.try_lock() {
            to.take();
        }
        Ok(())
    }
}
