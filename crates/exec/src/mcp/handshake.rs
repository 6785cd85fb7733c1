//! The two handshakes of MCP: `initialize` up to 2025-11-25, and `server/discover` since
//! 2026-07-28.
//!
//! ```text
//! initialize ──────▶ a known revision ─▶ notifications/initialized ─▶ connected
//! server/discover ─▶ 2026-07-28 ─▶ connected, stateless: every request has its context
//! ```
//!
//! - **Processes** get `initialize` first, because most support nothing else, and some end when
//!   anything comes before it. If it is refused, the same process gets `server/discover`; if it
//!   does not answer that, a new process gets it ([`HandshakeFailure::Unanswered`]).
//! - **Addresses** get `server/discover` first: a server that has both takes questions and routing
//!   by request only in the newer revision, and every server answers an unknown method without
//!   harm. Whatever is not the answer of a newer server leads to `initialize`; an outage or a
//!   missing token does not.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use serde_json::json;
use toolwright_mcp::{Revision, RpcError, error_code, meta};
use toolwright_model::{Connection, Server};

use super::connect_error::{answer_too_large, refused, unavailable};
use super::connection::{ServerWire, UpstreamConnection};
use super::http_client::HttpFailure;
use super::request_sending::AttemptError;
use super::{ListKind, ServerDescription, UpstreamEvent, subscription};
use crate::{Failure, Json, code};

/// How long a server may take for the second kind of handshake before the first one is repeated, or
/// another process is started. Unknown methods are answered at once, if they are answered at all.
const TIME_TO_DISCOVER: Duration = Duration::from_secs(5);

/// Why a process has no connection.
pub(super) enum HandshakeFailure {
    /// It refused `initialize`, with this failure, and did not answer `server/discover`. A new
    /// process may answer that.
    Unanswered(Failure),
    /// Everything else.
    Failed(Failure),
}

impl HandshakeFailure {
    /// Adds how the process ended, which is usually the real cause, and how to see more of it.
    pub(super) fn with_end(mut self, how: &str, server: &Server) -> HandshakeFailure {
        let (HandshakeFailure::Unanswered(failure) | HandshakeFailure::Failed(failure)) = &mut self;
        failure.message = format!("{}: {how}", failure.message);
        failure.suggestion = run_by_hand(server).into();
        self
    }
}

/// The advice about a server that does not get ready. Without the arguments of its command, which
/// may hold secrets.
pub(super) fn run_by_hand(server: &Server) -> String {
    match &server.connection {
        Connection::Stdio { command } => {
            let program = command.first().map_or("", String::as_str);
            let more = if command.len() > 1 { " …" } else { "" };
            format!("run its command by hand (`{program}{more}`) and read what it prints")
        }
        _ => code::UPSTREAM_UNAVAILABLE.suggestion.to_owned(),
    }
}

/// Which handshake a process gets first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstHandshake {
    Initialize,
    /// Only this one: an earlier process has refused the other.
    Discover,
}

/// Our name, for servers.
pub(super) fn client_info() -> Json {
    json!({"name": "toolwright", "title": "Toolwright", "version": env!("CARGO_PKG_VERSION")})
}

/// What clients of ours may be able to do. All of it is declared, because the handshake comes
/// before any client; a question that the client behind a call cannot answer is refused. `tasks` is
/// different, see `client_tasks`.
///
/// Servers decide by it what they offer at all, so leaving one out would take it from all clients.
fn client_capabilities(tasks: Option<&Json>) -> Json {
    let mut capabilities = json!({
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}},
        "roots": {"listChanged": true},
    });
    if let Some(tasks) = tasks.filter(|tasks| tasks.is_object()) {
        capabilities["tasks"] = tasks.clone();
    }
    capabilities
}

impl UpstreamConnection {
    /// Performs one of the handshakes with a process.
    ///
    /// # Errors
    /// The failure of the first handshake where both fail: it is the one that most servers have.
    pub(super) async fn handshake_with_process(
        &self,
        greeting: FirstHandshake,
    ) -> Result<(), HandshakeFailure> {
        let failed = |error| HandshakeFailure::Failed(explain(error));
        if greeting == FirstHandshake::Discover {
            return self.discover().await.map_err(failed);
        }
        let error = match self.initialize().await {
            Ok(()) => return Ok(()),
            Err(AttemptError::Answered(error)) => error,
            Err(error) => return Err(failed(error)),
        };
        match tokio::time::timeout(TIME_TO_DISCOVER, self.discover()).await {
            Ok(Ok(())) => Ok(()),
            // A server that knows neither has refused the first one for its own reason.
            Ok(Err(AttemptError::Answered(_))) => Err(HandshakeFailure::Failed(refused(&error))),
            Ok(Err(AttemptError::Ended)) | Err(_) => {
                Err(HandshakeFailure::Unanswered(refused(&error)))
            }
            Ok(Err(error)) => Err(failed(error)),
        }
    }

    /// Performs one of the handshakes with an address.
    ///
    /// Also called when an HTTP session has expired.
    pub(super) async fn handshake_with_url(&self) -> Result<(), Failure> {
        // A server that is known to have a handshake has just forgotten its session.
        let is_known = self.description().is_some_and(|it| it.revision.has_handshake());
        let found = match is_known {
            true => None,
            false => tokio::time::timeout(TIME_TO_DISCOVER, self.discover_again()).await.ok(),
        };
        let is_undecided = found.is_none();
        match found {
            Some(Ok(())) => return Ok(()),
            Some(Err(AttemptError::Http(
                error @ (HttpFailure::Connection(_) | HttpFailure::TokenRequired),
            ))) => return Err(error.while_connecting()),
            _ => {}
        }
        self.set_stateless(false);
        match self.initialize().await {
            // It may have been too slow before, or have been replaced by a newer one.
            Err(AttemptError::Answered(error)) if is_undecided => match self.discover().await {
                Err(AttemptError::Answered(_)) => Err(refused(&error)),
                other => other.map_err(explain),
            },
            other => other.map_err(explain),
        }
    }

    /// `server/discover`, repeated if the server refuses the revision and then names it.
    async fn discover_again(&self) -> Result<(), AttemptError> {
        match self.discover().await {
            Err(AttemptError::Answered(error)) if names_our_revision(&error) => {
                self.discover().await
            }
            other => other,
        }
    }

    /// The revision of the answer counts, if it is one that we know; MCP lets a server choose
    /// another one than it was asked for.
    async fn initialize(&self) -> Result<(), AttemptError> {
        let params = json!({
            "protocolVersion": Revision::NEWEST_WITH_HANDSHAKE.name(),
            "capabilities": client_capabilities(self.links.client_tasks.get()),
            "clientInfo": client_info(),
        });
        let result = self.own_request("initialize", params).await?;
        let mut result: Json = serde_json::from_str(result.get()).unwrap_or_default();
        let revision = result["protocolVersion"].as_str().and_then(Revision::parse);
        let Some(revision) = revision.filter(|revision| revision.has_handshake()) else {
            let wanted = result["protocolVersion"].as_str().unwrap_or("none").to_owned();
            let message = format!("it speaks revision `{wanted}` of the protocol");
            return Err(AttemptError::Answered(RpcError::new(0, message)));
        };
        let info = result["serverInfo"].take();
        self.finish_handshake(revision, result, info);
        self.notify("notifications/initialized", &json!({})).await
    }

    /// Sets the connection up as a stateless one before it asks; if this fails, the caller sets it
    /// back.
    async fn discover(&self) -> Result<(), AttemptError> {
        let revision = Revision::V2026_07_28;
        self.set_stateless(true);
        if let ServerWire::Http(wire) = self.wire() {
            wire.set_revision(revision);
        }
        let result = self.own_request("server/discover", json!({})).await?;
        let mut result: Json = serde_json::from_str(result.get()).unwrap_or_default();
        let supported = result["supportedVersions"].as_array();
        if !supported.is_some_and(|all| all.iter().any(|one| one == revision.name())) {
            let message = "it supports no known revision of the protocol";
            return Err(AttemptError::Answered(RpcError::new(0, message)));
        }
        let info = result["_meta"][meta::SERVER_INFO].take();
        self.finish_handshake(revision, result, info);
        Ok(())
    }

    fn finish_handshake(&self, revision: Revision, mut result: Json, info: Json) {
        if let ServerWire::Http(wire) = self.wire() {
            wire.set_revision(revision);
        }
        self.set_description(ServerDescription {
            revision,
            capabilities: result["capabilities"].take(),
            info,
            instructions: result["instructions"].as_str().map(str::to_owned),
        });
    }

    /// Replaces the HTTP session that has expired, unless another request has done so meanwhile.
    /// Most often the server was restarted: it is asked again for log messages and updates, and for
    /// its lists, unless it is just asked for one (`reloads_lists`).
    pub(super) async fn renew_session(
        &self,
        expired: Option<HeaderValue>,
        reloads_lists: bool,
    ) -> Result<(), Failure> {
        let renewing = self.renewing.lock().await;
        if self.session() != expired {
            return Ok(());
        }
        let before = self.description();
        self.dispatcher.renumber();
        self.handshake_with_url().await?;
        drop(renewing);
        if !self.is_stateless() {
            subscription::restore(self).await;
        }
        if reloads_lists || self.description().as_deref() != before.as_deref() {
            for kind in ListKind::ALL {
                self.dispatcher.publish(UpstreamEvent::ListChanged(kind));
            }
            self.dispatcher.count_change();
        }
        Ok(())
    }

    /// What the server said of itself, after the handshake.
    pub(super) fn known_description(&self) -> Arc<ServerDescription> {
        self.description().unwrap_or_else(|| {
            Arc::new(ServerDescription {
                revision: Revision::NEWEST_WITH_HANDSHAKE,
                capabilities: Json::Null,
                info: Json::Null,
                instructions: None,
            })
        })
    }
}

/// Whether an error states that the server speaks our newest revision after all.
fn names_our_revision(error: &RpcError) -> bool {
    let supported = error.data.as_ref().and_then(|data| data["supported"].as_array());
    let newest = Revision::V2026_07_28.name();
    error.code == error_code::UNSUPPORTED_VERSION
        && supported.is_some_and(|all| all.iter().any(|one| one == newest))
}

/// The failure of a handshake.
fn explain(error: AttemptError) -> Failure {
    match error {
        AttemptError::Answered(error) => refused(&error),
        AttemptError::TooLarge => answer_too_large(),
        // `HandshakeFailure::with_end` adds how the process ended, if there is one.
        AttemptError::Ended => unavailable("it closed the connection before it answered"),
        AttemptError::Http(error) => error.while_connecting(),
    }
}
