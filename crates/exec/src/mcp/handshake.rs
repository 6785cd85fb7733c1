//! The two handshakes of MCP: `initialize` up to 2025-11-25, and `server/discover` since
//! 2026-07-28.
//!
//! ```text
//! initialize ─┬─ a known revision ─▶ notifications/initialized ─▶ connected
//!             └─ refused with a JSON-RPC error
//!                  └─ server/discover ─▶ connected, stateless: every request has its context
//! ```
//!
//! `initialize` comes first, because most servers support nothing else. Both use the same process
//! or address: a server that refuses one handshake is still there.

use std::sync::Arc;

use http::HeaderValue;
use serde_json::json;
use toolwright_mcp::{Revision, RpcError, meta};

use super::connect_error::{answer_too_large, refused, unavailable};
use super::connection::{AttemptError, ServerWire, UpstreamConnection};
use super::{ListKind, ServerDescription, UpstreamEvent};
use crate::{Failure, Json};

/// Our name, for servers.
pub(super) fn client_info() -> Json {
    json!({"name": "toolwright", "title": "Toolwright", "version": env!("CARGO_PKG_VERSION")})
}

/// What clients of ours may be able to do. All of it is declared, because the handshake comes
/// before any client; a question that the client behind a call cannot answer is refused.
fn client_capabilities() -> Json {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
}

impl UpstreamConnection {
    /// Performs one of the handshakes.
    pub(super) async fn shake_hands(&self) -> Result<(), Failure> {
        match self.initialize().await {
            Err(AttemptError::Answered(error)) => match self.discover().await {
                // A server that knows neither has refused the first one for its own reason.
                Err(AttemptError::Answered(_)) => Err(refused(&error)),
                other => other.map_err(explain),
            },
            other => other.map_err(explain),
        }
    }

    async fn initialize(&self) -> Result<(), AttemptError> {
        let params = json!({
            "protocolVersion": Revision::NEWEST_WITH_HANDSHAKE.name(),
            "capabilities": client_capabilities(),
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
    pub(super) async fn renew_session(&self, expired: Option<HeaderValue>) -> Result<(), Failure> {
        let renewing = self.renewing.lock().await;
        if self.session() != expired {
            return Ok(());
        }
        let before = self.description();
        self.shake_hands().await?;
        drop(renewing);
        // Most often the server was restarted. Its lists are asked for again only if it has become
        // another one: a server may forget its sessions often.
        if self.description().as_deref() != before.as_deref() {
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

/// The failure of a handshake.
fn explain(error: AttemptError) -> Failure {
    match error {
        AttemptError::Answered(error) => refused(&error),
        AttemptError::TooLarge => answer_too_large(),
        // `ServerProcess::end_after` adds how the process ended, if there is one.
        AttemptError::Ended => unavailable("it closed the connection before it answered"),
        AttemptError::Http(error) => error.while_connecting(),
    }
}
