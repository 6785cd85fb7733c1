//! One connection to a server, from its handshake to its end. `upstream` decides when to open a
//! connection; `request_sending` and `answer_waiting` have the requests over it.
//!
//! ```text
//! request ─▶ register (dispatcher) ─▶ wire: stdin of a process, or POST
//!               │                                         │
//!               ▼                                         ▼
//!          OpenRequest ◀── dispatcher ◀── reader of stdout, or of the POST's answer
//!               │ progress, log, questions ─▶ Host
//!               └ result or error ─▶ caller
//! ```
//!
//! A task watches the connection. When it ends, the task ends the server's process as well and
//! publishes a sentence about how it ended, which waiting requests put into their failures.
//!
//! A connection is used by all callers at once and never reopened: `upstream` replaces it by
//! another one. Its end has one order. `end_wire` fails the open requests; the process is ended, or
//! the session deleted; and only then `end` is published, so a caller that waits for it may start
//! the next process.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use http::HeaderValue;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use toolwright_model::{Connection, Server};

use super::client_tasks::AnnouncedTasks;
use super::connect_error::{not_ready, unavailable};
use super::dispatcher::{ConnectionSharing, Dispatcher, ListChangeCounter};
use super::duplex_wire::DuplexWire;
use super::handshake::{FirstHandshake, HandshakeFailure, run_by_hand};
use super::http_wire::{FollowedStream, HttpWire};
use super::param_headers::ParamHeaders;
use super::server_process::ServerProcess;
use super::stdio_wire::{self, StdioWire};
use super::subscription::SubscribedUris;
use super::upstreams::{ServerEnvironment, WantedLogLevel};
use super::{ServerDescription, UpstreamLog, UpstreamNotification};
use crate::{Failure, SessionNumber};

/// An open connection, or one in the middle of its handshake. Shared by callers, the reader and the
/// task that watches it.
pub(super) struct UpstreamConnection {
    wire: ServerWire,
    pub(super) dispatcher: Arc<Dispatcher>,
    /// The name of the source, for the person who is asked.
    pub(super) source: String,
    /// What the server said of itself; empty before the handshake.
    description: RwLock<Option<Arc<ServerDescription>>>,
    /// Whether requests carry the context of their client (2026-07-28).
    stateless: AtomicBool,
    pub(super) links: ConnectionLinks,
    /// Held while an expired HTTP session is replaced.
    pub(super) renewing: tokio::sync::Mutex<()>,
    /// Cancelling it ends the connection.
    closing: CancellationToken,
    /// Why we ended the connection. Empty if the server or the network did. Set before the
    /// connection is closed, so that callers learn the reason.
    pub(super) disconnect_reason: Arc<OnceLock<String>>,
    /// How the connection ended, in a sentence; `None` while it is open.
    end: watch::Receiver<Option<String>>,
}

/// What a connection shares with the upstream that it belongs to.
#[derive(Clone)]
pub(super) struct ConnectionLinks {
    pub(super) events: broadcast::Sender<UpstreamNotification>,
    pub(super) changes: ListChangeCounter,
    pub(super) log: UpstreamLog,
    pub(super) param_headers: Arc<ParamHeaders>,
    pub(super) log_level: WantedLogLevel,
    pub(super) sharing: ConnectionSharing,
    /// The tasks that are announced to the server; empty if none are.
    pub(super) client_tasks: AnnouncedTasks,
    /// The resources that clients subscribed to. They survive a restart of the server.
    pub(super) subscribed: watch::Sender<SubscribedUris>,
    /// The sessions that were asked for their roots.
    pub(super) asked_for_roots: Arc<Mutex<HashSet<SessionNumber>>>,
}

/// The transport.
#[derive(Clone)]
pub(super) enum ServerWire {
    Stdio(StdioWire),
    Http(Arc<HttpWire>),
    /// Legacy SSE, or a WebSocket.
    Duplex(Arc<dyn DuplexWire>),
}

impl UpstreamConnection {
    /// Starts or contacts the server and performs the handshake within `time`.
    ///
    /// A process may need two starts: the first one may end at a handshake that it does not know.
    /// Both share `time`.
    ///
    /// # Errors
    /// UPSTREAM_UNAVAILABLE with what the server said or printed last. Nothing is left running.
    pub(super) async fn open(
        server: &Server,
        environment: &ServerEnvironment,
        links: ConnectionLinks,
        time: Duration,
    ) -> Result<Arc<UpstreamConnection>, Failure> {
        match &server.connection {
            Connection::Stdio { command } => {
                let began = Instant::now();
                let start = |greeting, time| {
                    let process = ServerProcess::start(command, server, environment);
                    UpstreamConnection::open_process(process, server, links.clone(), time, greeting)
                };
                match start(FirstHandshake::Initialize, time).await {
                    Ok(connection) => Ok(connection),
                    Err(HandshakeFailure::Failed(failure)) => Err(failure),
                    Err(HandshakeFailure::Unanswered(refusal)) => {
                        let left = time.saturating_sub(began.elapsed());
                        start(FirstHandshake::Discover, left).await.map_err(|_| refusal)
                    }
                }
            }
            Connection::Http { url } => {
                UpstreamConnection::open_http(url, server, links, time).await
            }
            Connection::Sse { .. } => UpstreamConnection::open_sse(server, links, time).await,
            Connection::WebSocket { .. } => {
                UpstreamConnection::open_duplex(server, links, time).await
            }
        }
    }

    /// Performs the handshake with a server over streamable HTTP.
    pub(super) async fn open_http(
        url: &str,
        server: &Server,
        links: ConnectionLinks,
        time: Duration,
    ) -> Result<Arc<UpstreamConnection>, Failure> {
        let closing = CancellationToken::new();
        let wire = HttpWire::new(url, &server.headers, closing.clone());
        let wire = Arc::new(wire.map_err(|why| unavailable(&why))?);
        let (end_sender, end) = watch::channel(None);
        let http = ServerWire::Http(Arc::clone(&wire));
        let mut own = UpstreamConnection::new(http, server, links, end);
        own.closing = closing;
        let connection = Arc::new(own);
        tokio::time::timeout(time, connection.handshake_with_url())
            .await
            .unwrap_or_else(|_| Err(unavailable(&not_ready(time))))?;
        tokio::spawn(Arc::clone(&connection).watch_http(wire, end_sender));
        Ok(connection)
    }

    /// Performs the handshake with a process that was started, and watches it from then on.
    async fn open_process(
        process: Result<ServerProcess, Failure>,
        server: &Server,
        links: ConnectionLinks,
        time: Duration,
        greeting: FirstHandshake,
    ) -> Result<Arc<UpstreamConnection>, HandshakeFailure> {
        // Dropping `process` kills it, so a caller that gives up leaves nothing behind.
        let mut process = process.map_err(HandshakeFailure::Failed)?;
        let Some((from, to)) = process.streams.take() else {
            let why = "its standard streams are not available";
            return Err(HandshakeFailure::Failed(unavailable(why)));
        };
        let wire = StdioWire::new(to);
        let (end_sender, end) = watch::channel(None);
        let own = UpstreamConnection::new(ServerWire::Stdio(wire.clone()), server, links, end);
        let connection = Arc::new(own);
        let dispatcher = Arc::clone(&connection.dispatcher);
        // Reads from the first message on, so a server that floods is also disconnected during the
        // handshake.
        let reader = tokio::spawn(async move {
            let reading = stdio_wire::read_messages(from, wire, Arc::clone(&dispatcher));
            let why = reading.await;
            dispatcher.end();
            why
        });
        match tokio::time::timeout(time, connection.handshake_with_process(greeting)).await {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => {
                connection.end_wire();
                let how = process.end().await;
                return Err(failure.with_end(&how, server));
            }
            Err(_) => {
                connection.end_wire();
                let why = process.kill_because(&not_ready(time)).await;
                let failure = unavailable(&why).suggest(run_by_hand(server));
                return Err(HandshakeFailure::Failed(failure));
            }
        }
        tokio::spawn(Arc::clone(&connection).watch_process(process, reader, end_sender));
        Ok(connection)
    }

    pub(super) fn new(
        wire: ServerWire,
        server: &Server,
        links: ConnectionLinks,
        end: watch::Receiver<Option<String>>,
    ) -> UpstreamConnection {
        let ConnectionLinks { events, changes, log, sharing, client_tasks, .. } = links.clone();
        UpstreamConnection {
            wire,
            dispatcher: Arc::new(Dispatcher::new(events, changes, log, sharing, client_tasks)),
            source: server.settings.source.clone(),
            description: RwLock::default(),
            stateless: AtomicBool::new(false),
            links,
            renewing: tokio::sync::Mutex::default(),
            closing: CancellationToken::new(),
            disconnect_reason: Arc::default(),
            end,
        }
    }

    /// Watches a connection to a process until it ends.
    ///
    /// Spawned once the handshake is done.
    async fn watch_process(
        self: Arc<Self>,
        process: ServerProcess,
        mut reader: tokio::task::JoinHandle<Option<String>>,
        end: watch::Sender<Option<String>>,
    ) {
        let why = tokio::select! {
            why = &mut reader => why.ok().flatten(),
            () = self.closing.cancelled() => Some("the connection was closed".to_owned()),
        };
        self.end_wire();
        let how = process.end().await;
        reader.abort();
        // If we disconnected the server, how its process then ended is not the reason.
        end.send_replace(Some(why.unwrap_or(how)));
    }

    /// Watches a connection over HTTP, which ends only when it is closed.
    async fn watch_http(self: Arc<Self>, wire: Arc<HttpWire>, end: watch::Sender<Option<String>>) {
        let follow = async {
            if !self.is_stateless() {
                while let FollowedStream::SessionExpired(session) =
                    Arc::clone(&wire).follow(Arc::clone(&self.dispatcher)).await
                {
                    // Nobody may call for a long time, and updates are expected meanwhile. If it
                    // fails, the next request tries again.
                    let _ = self.renew_session(session, true).await;
                }
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = self.closing.cancelled() => {}
            () = follow => {}
        }
        self.end_wire();
        wire.delete_session().await;
        let why = self.disconnect_reason();
        end.send_replace(Some(why.unwrap_or_else(|| "the connection was closed".to_owned())));
    }

    /// Fails open requests and closes the input of a process.
    ///
    /// May be called several times.
    pub(super) fn end_wire(&self) {
        self.dispatcher.end();
        if let ServerWire::Stdio(wire) = &self.wire {
            wire.close();
        }
    }

    /// Whether the connection can no longer be used.
    pub(super) fn has_ended(&self) -> bool {
        self.end.borrow().is_some() || self.dispatcher.has_ended()
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

    /// Why we ended the connection, if a request has found a reason.
    pub(super) fn disconnect_reason(&self) -> Option<String> {
        self.disconnect_reason.get().cloned()
    }

    /// Completes when the connection is closed.
    pub(super) async fn closed(&self) {
        self.closing.cancelled().await;
    }

    pub(super) fn wire(&self) -> &ServerWire {
        &self.wire
    }

    /// Whether the server speaks 2026-07-28.
    pub(super) fn is_stateless(&self) -> bool {
        self.stateless.load(Ordering::Relaxed)
    }

    pub(super) fn set_stateless(&self, stateless: bool) {
        self.stateless.store(stateless, Ordering::Relaxed);
    }

    /// What the server said of itself. Set by the handshake.
    pub(super) fn description(&self) -> Option<Arc<ServerDescription>> {
        self.description.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_description(&self, description: ServerDescription) {
        let mut own = self.description.write().unwrap_or_else(PoisonError::into_inner);
        *own = Some(Arc::new(description));
    }

    /// The HTTP session, if there is one.
    pub(super) fn session(&self) -> Option<HeaderValue> {
        match &self.wire {
            ServerWire::Http(wire) => wire.session(),
            ServerWire::Stdio(_) | ServerWire::Duplex(_) => None,
        }
    }

    /// The resources that clients want updates of.
    pub(super) fn subscribed(&self) -> watch::Receiver<SubscribedUris> {
        self.links.subscribed.subscribe()
    }

    /// The level of log messages that clients want; `None` if they leave it to the server.
    pub(super) fn log_level(&self) -> Option<&'static str> {
        *self.links.log_level.read().unwrap_or_else(PoisonError::into_inner)
    }
}
