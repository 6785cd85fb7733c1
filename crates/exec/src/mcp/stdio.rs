//! A server that we start, and its standard streams: one JSON-RPC message a line.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::oversized::IdFinder;
use super::wire;

/// Bytes of one message that are kept. The cap on results is far below; lists of tools can be long.
pub(super) const MAX_MESSAGE: usize = 16 << 20;

pub(super) struct Stdio {
    from: BufReader<ChildStdout>,
    to: Arc<Mutex<Option<ChildStdin>>>,
    line: Vec<u8>,
    /// Set while a line that is too long goes by.
    skipping: Option<IdFinder>,
    /// Lines since the last message.
    noise: u32,
}

/// Lines that are no messages in a row. A server that prints more is no MCP server.
const MAX_NOISE: u32 = 100_000;

impl Stdio {
    pub(super) fn new(from: ChildStdout, to: ChildStdin) -> Stdio {
        Stdio {
            from: BufReader::with_capacity(64 * 1024, from),
            to: Arc::new(Mutex::new(Some(to))),
            line: Vec::new(),
            skipping: None,
            noise: 0,
        }
    }

    /// The next message; lines that are none are passed over, as some servers log to stdout. Can be
    /// dropped and called again at any point without losing a byte.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let bytes = self.from.fill_buf().await.ok().filter(|bytes| !bytes.is_empty())?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            match &mut self.skipping {
                Some(finder) => finder.see(part),
                None if self.line.len() + part.len() > MAX_MESSAGE => {
                    let mut finder = IdFinder::default();
                    finder.see(&self.line);
                    finder.see(part);
                    self.line = Vec::new();
                    self.skipping = Some(finder);
                }
                None => self.line.extend_from_slice(part),
            }
            let used = part.len() + usize::from(end.is_some());
            self.from.consume(used);
            if end.is_none() {
                continue;
            }
            let message = match self.skipping.take() {
                Some(finder) => finder.id().map(wire::too_large),
                None => wire::read(&self.line),
            };
            self.line.clear();
            if message.is_some() {
                self.noise = 0;
                return message;
            }
            self.noise += 1;
            if self.noise > MAX_NOISE {
                return None;
            }
        }
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
