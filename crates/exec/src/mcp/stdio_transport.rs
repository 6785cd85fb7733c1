//! The transport to a server that we started: its standard input and output, one JSON-RPC message
//! per line in each direction. rmcp's own stdio transport is not used, because it has no limit on
//! the length of a line and parses results into its own types (see `raw_results`).

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::given_arguments::message_text;
use super::message_lines::{MessageLine, MessageLines};
use super::raw_results;
use crate::BoxFuture;
use crate::offload::{WorkSize, run_blocking};

/// Both streams of a server's process.
pub(super) struct UpstreamStdio {
    from: MessageLines<ChildStdout>,
    to: UpstreamStdin,
    /// Lines that are not messages since the last message.
    noise: u32,
    /// A long message that is being parsed on another thread. Kept here, because rmcp may drop the
    /// future of `receive` meanwhile.
    parsing: Option<BoxFuture<'static, Option<ServerJsonRpcMessage>>>,
}

/// The server's standard input; `None` inside once it is closed. Cloned for every writer: rmcp's
/// service and the direct calls write to the same stream.
#[derive(Clone)]
pub(super) struct UpstreamStdin(Arc<Mutex<Option<ChildStdin>>>);

impl UpstreamStdin {
    /// Writes a message and its line end. Not safe to cancel: half a line would corrupt the next
    /// message, so callers spawn this future or poll it to its end.
    pub(super) async fn write(self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        match self.0.lock().await.as_mut() {
            Some(to) => to.write_all(&line).await,
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

/// How many lines in a row may fail to parse. Some servers log to standard output, which the
/// protocol forbids; a program that prints more than this is not an MCP server.
const MAX_NOISE: u32 = 100_000;

impl UpstreamStdio {
    /// A transport on the pipes of a child process.
    pub(super) fn new(from: ChildStdout, to: ChildStdin) -> UpstreamStdio {
        let to = UpstreamStdin(Arc::new(Mutex::new(Some(to))));
        UpstreamStdio { from: MessageLines::new(from), to, noise: 0, parsing: None }
    }

    /// The server's input, for calls that bypass rmcp.
    pub(super) fn input(&self) -> UpstreamStdin {
        self.to.clone()
    }

    /// The next message. Skips lines that are not messages. `None` at the end of the stream, or
    /// after [`MAX_NOISE`] such lines.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        while self.noise <= MAX_NOISE {
            let message = if let Some(parsing) = &mut self.parsing {
                let message = parsing.await;
                self.parsing = None;
                message
            } else {
                match self.from.next().await? {
                    // Without an id there is no call to fail.
                    MessageLine::TooLong(id) => id.map(raw_results::too_large_error),
                    MessageLine::Complete(line)
                        if WorkSize::of_bytes(line.len()) == WorkSize::Large =>
                    {
                        let line = line.to_vec();
                        let parse = move || raw_results::parse_message(&line);
                        self.parsing = Some(Box::pin(run_blocking(parse)));
                        continue;
                    }
                    MessageLine::Complete(line) => raw_results::parse_message(line),
                }
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

impl Transport<RoleClient> for UpstreamStdio {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let to = self.to.clone();
        async move { to.write(message_text(&item)?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // A server that does not read holds the lock in a blocked write. Waiting for it would delay
        // the end; the write fails when the process is killed.
        if let Ok(mut to) = self.to.0.try_lock() {
            to.take();
        }
        Ok(())
    }
}
