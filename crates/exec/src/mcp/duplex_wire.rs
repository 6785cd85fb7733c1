//! What legacy SSE and WebSocket have in common: a stream of messages that stays open, and answers
//! that arrive on it for all requests.
//!
//! ```text
//! caller ─ DuplexWire::send ─▶ POST, or a frame
//!                              stream ─ IncomingMessages ─▶ Dispatcher ─▶ caller
//! ```
//!
//! The end of the stream is the end of the connection, as with a process. Both transports are older
//! than `server/discover` or outside of the specification, so their servers get `initialize` first.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolwright_mcp::{MalformedMessage, RequestId};
use toolwright_model::{Connection, Server};

use super::connect_error::{not_ready, unavailable};
use super::connection::{ConnectionLinks, ServerWire, UpstreamConnection};
use super::dispatcher::{Dispatcher, NextStep};
use super::handshake::{FirstHandshake, HandshakeFailure};
use super::http_client::HttpFailure;
use super::http_wire::parse;
use super::sse_wire::SseWire;
use super::stdio_wire::{FLOOD_PAUSE, MAX_NOISE};
use super::websocket_wire::WebSocketWire;
use crate::{BoxFuture, Failure};

/// How many bytes may arrive without a message among them. Larger than any message that is skipped
/// because of its size, in several copies.
const MAX_NOISE_BYTES: usize = 256 << 20;
/// How long streamable HTTP is tried at an address of type `sse`. Servers that do not have it
/// answer a POST at once; one that leaves it open must not use up the time to start.
const TIME_FOR_STREAMABLE: Duration = Duration::from_secs(10);

/// The way to a server whose answers arrive on a stream.
pub(super) trait DuplexWire: Send + Sync {
    /// Sends a message. Completes when the server has taken it, which is not its answer.
    fn send(self: Arc<Self>, message: Vec<u8>) -> BoxFuture<'static, Result<(), HttpFailure>>;

    /// Reads the stream until it ends or the server is disconnected, with the reason. Called once.
    fn read(self: Arc<Self>, dispatcher: Arc<Dispatcher>) -> BoxFuture<'static, String>;

    /// Ends the connection. Sends that still wait fail.
    fn close(&self);
}

/// Sends a message without waiting for it. Outside of a runtime the program is ending.
pub(super) fn send_later(wire: &Arc<dyn DuplexWire>, message: Vec<u8>) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(Arc::clone(wire).send(message));
    }
}

/// Delivers the messages of a stream, and counts what is not one.
///
/// One per stream. Both counts start again with every message that can be read.
pub(super) struct IncomingMessages<'d> {
    dispatcher: &'d Arc<Dispatcher>,
    /// Events or frames that are not messages since the last message.
    noise: u32,
    /// Bytes since the last message.
    bytes: usize,
}

impl<'d> IncomingMessages<'d> {
    pub(super) fn new(dispatcher: &'d Arc<Dispatcher>) -> IncomingMessages<'d> {
        IncomingMessages { dispatcher, noise: 0, bytes: 0 }
    }

    /// Counts bytes that have arrived.
    ///
    /// # Errors
    /// The reason to disconnect the server: it sends without end and says nothing.
    pub(super) fn count(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(bytes);
        match self.bytes > MAX_NOISE_BYTES {
            true => Err("it sent 256 MiB without a message and was disconnected".to_owned()),
            false => Ok(()),
        }
    }

    /// Delivers one message.
    ///
    /// # Errors
    /// The reason to disconnect the server.
    pub(super) async fn deliver(
        &mut self,
        text: Vec<u8>,
        wire: &Arc<dyn DuplexWire>,
    ) -> Result<(), String> {
        let step = match parse(text, self.dispatcher).await {
            (Ok(message), _) => {
                (self.noise, self.bytes) = (0, 0);
                self.dispatcher.receive(message, None)
            }
            (Err(MalformedMessage::TooManyValues(id)), _) => {
                return self.deliver_too_large(id, wire).await;
            }
            (Err(_), text) => {
                self.dispatcher.log_invalid_line(&text);
                self.noise += 1;
                if self.noise > MAX_NOISE {
                    return Err(format!(
                        "it sent {MAX_NOISE} texts that are not messages and was disconnected"
                    ));
                }
                return Ok(());
            }
        };
        act(step, wire).await
    }

    /// Notes a message that was too large and is skipped.
    ///
    /// # Errors
    /// The reason to disconnect the server.
    pub(super) async fn deliver_too_large(
        &mut self,
        id: Option<RequestId>,
        wire: &Arc<dyn DuplexWire>,
    ) -> Result<(), String> {
        self.bytes = 0;
        act(self.dispatcher.receive_too_large(id), wire).await
    }
}

async fn act(step: NextStep, wire: &Arc<dyn DuplexWire>) -> Result<(), String> {
    match step {
        NextStep::Continue => {}
        NextStep::Reply(reply) => send_later(wire, reply.to_bytes()),
        NextStep::ReplyLater(reply) => {
            let wire = Arc::clone(wire);
            tokio::spawn(async move {
                if let Some(reply) = reply.0.await {
                    send_later(&wire, reply.to_bytes());
                }
            });
        }
        NextStep::Pause => tokio::time::sleep(FLOOD_PAUSE).await,
        NextStep::Disconnect(why) => return Err(why),
    }
    Ok(())
}

impl UpstreamConnection {
    /// Opens a connection to an address that is said to have the older transport: streamable HTTP
    /// first, because configurations often name the old type for servers of the new one.
    pub(super) async fn open_sse(
        server: &Server,
        links: ConnectionLinks,
        time: Duration,
    ) -> Result<Arc<UpstreamConnection>, Failure> {
        let began = Instant::now();
        let Connection::Sse { url } = &server.connection else {
            return Err(unavailable("it has no address"));
        };
        let for_streamable = TIME_FOR_STREAMABLE.min(time / 2);
        let streamable = UpstreamConnection::open_http(url, server, links.clone(), for_streamable);
        // Why it failed does not matter: a refused connection or a missing token comes up again.
        if let Ok(connection) = streamable.await {
            return Ok(connection);
        }
        let left = time.saturating_sub(began.elapsed());
        UpstreamConnection::open_duplex(server, links, left).await
    }

    /// Opens a connection over legacy SSE or a WebSocket, within `time`.
    pub(super) async fn open_duplex(
        server: &Server,
        links: ConnectionLinks,
        time: Duration,
    ) -> Result<Arc<UpstreamConnection>, Failure> {
        let connect = async {
            let wire: Arc<dyn DuplexWire> = match &server.connection {
                Connection::Sse { url } => Arc::new(SseWire::open(url, &server.headers).await?),
                Connection::WebSocket { url } => {
                    Arc::new(WebSocketWire::open(url, &server.headers).await?)
                }
                Connection::Stdio { .. } | Connection::Http { .. } => {
                    return Err(unavailable("its transport has no stream"));
                }
            };
            let (end_sender, end) = watch::channel(None);
            let own =
                UpstreamConnection::new(ServerWire::Duplex(Arc::clone(&wire)), server, links, end);
            let connection = Arc::new(own);
            // Dropped with this future, which closes the stream of a server that is not ready.
            let closing = DuplexWireGuard(Some(Arc::clone(&wire)));
            let dispatcher = Arc::clone(&connection.dispatcher);
            let reader = tokio::spawn({
                let wire = Arc::clone(&wire);
                async move {
                    let why = wire.read(Arc::clone(&dispatcher)).await;
                    dispatcher.end();
                    why
                }
            });
            let greeting = connection.handshake_with_process(FirstHandshake::Initialize).await;
            if let Err(HandshakeFailure::Unanswered(failure) | HandshakeFailure::Failed(failure)) =
                greeting
            {
                // How the stream ended is the real cause, if it did.
                let ended = match connection.has_ended() {
                    true => reader.await.ok(),
                    false => None,
                };
                return Err(match ended {
                    Some(why) => {
                        Failure { message: format!("{}: {why}", failure.message), ..failure }
                    }
                    None => failure,
                });
            }
            closing.keep();
            let watching = Arc::clone(&connection).watch_duplex(wire, reader, end_sender);
            tokio::spawn(watching);
            Ok(connection)
        };
        tokio::time::timeout(time, connect)
            .await
            .unwrap_or_else(|_| Err(unavailable(&not_ready(time))))
    }

    /// Watches a connection until its stream ends or it is closed.
    async fn watch_duplex(
        self: Arc<Self>,
        wire: Arc<dyn DuplexWire>,
        mut reader: tokio::task::JoinHandle<String>,
        end: watch::Sender<Option<String>>,
    ) {
        let why = tokio::select! {
            why = &mut reader => why.ok(),
            () = self.closed() => self.disconnect_reason(),
        };
        self.end_wire();
        wire.close();
        reader.abort();
        end.send_replace(Some(why.unwrap_or_else(|| "the connection was closed".to_owned())));
    }
}

/// Closes a wire whose connection was given up.
struct DuplexWireGuard(Option<Arc<dyn DuplexWire>>);

impl DuplexWireGuard {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for DuplexWireGuard {
    fn drop(&mut self) {
        if let Some(wire) = &self.0 {
            wire.close();
        }
    }
}

/// Runs until the wire is closed; then fails.
pub(super) async fn until_closed(
    closing: &CancellationToken,
    work: impl Future<Output = Result<(), HttpFailure>>,
) -> Result<(), HttpFailure> {
    tokio::select! {
        result = work => result,
        () = closing.cancelled() => Err(HttpFailure::StreamEnded),
    }
}
