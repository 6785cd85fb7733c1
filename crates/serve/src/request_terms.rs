//! Under which terms a request is answered: the revision of the protocol, and what the client can
//! do. Requests of revision 2026-07-28 bring both in `_meta`; for all others the handshake of the
//! session decides.
//!
//! They are looked up once per request, before its method is. A method that the revision does not
//! have is refused here, so no method has to ask for the revision in order to know whether it
//! exists.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolwright_mcp::{Revision, RpcError, error_code, meta};

use crate::client_session::ClientSession;
use crate::log_level::MessageLevel;
use crate::protocol_codes::UNSUPPORTED_VERSION;
use crate::request_params::{RequestMeta, invalid_params};

/// The revision, capabilities and log level that one request is answered under.
#[derive(Clone)]
pub(crate) struct RequestTerms {
    pub(crate) revision: Revision,
    /// The `ClientCapabilities` of the client.
    pub(crate) capabilities: Arc<Json>,
    /// The lowest level of log messages that the client wants for this request.
    pub(crate) log_level: Option<MessageLevel>,
}

/// Methods that revision 2026-07-28 no longer has.
///
/// A stateless request for one of them is answered like one for a method that never existed.
const REMOVED: [&str; 7] = [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/list",
    "tasks/result",
];

/// Methods that only revision 2026-07-28 has.
const ADDED: [&str; 3] = ["server/discover", "subscriptions/listen", "tasks/update"];

impl RequestTerms {
    /// The terms of a request.
    ///
    /// # Errors
    /// If the request names a revision that is not supported, lacks metadata that its revision
    /// demands, comes before the handshake, or its revision does not have the method.
    pub(crate) fn of(
        session: &ClientSession,
        method: &str,
        given: &RequestMeta,
    ) -> Result<RequestTerms, RpcError> {
        let is_stateless = match given.version() {
            None => false,
            Some(version) => match Revision::parse(version) {
                Some(revision) if !revision.has_handshake() => true,
                // A client with a session may repeat its revision.
                Some(_) if session.handshake().is_some() => false,
                _ => return Err(unsupported_version(version)),
            },
        };
        if is_stateless {
            if REMOVED.contains(&method) {
                return Err(unknown_method(method));
            }
            return RequestTerms::stateless(given);
        }
        if ADDED.contains(&method) {
            // These are the first methods that a client of the newest revision may try, so the
            // answer names what it forgot.
            return match session.handshake() {
                Some(_) if method != "server/discover" => Err(unknown_method(method)),
                _ => Err(missing_meta(given)),
            };
        }
        match session.handshake() {
            Some(handshake) => Ok(RequestTerms {
                revision: handshake.revision,
                capabilities: handshake.capabilities,
                log_level: Some(session.log_level()),
            }),
            None if ["initialize", "ping"].contains(&method) => Ok(RequestTerms {
                revision: Revision::NEWEST_WITH_HANDSHAKE,
                capabilities: Arc::new(json!({})),
                log_level: None,
            }),
            None => Err(missing_meta(given)),
        }
    }

    fn stateless(given: &RequestMeta) -> Result<RequestTerms, RpcError> {
        let Some(capabilities) = given.capabilities() else { return Err(missing_meta(given)) };
        let log_level = match given.log_level() {
            None => None,
            Some(name) => Some(MessageLevel::parse(name).ok_or_else(|| {
                invalid_params(format!("`{name}` in `{}` is not a log level", meta::LOG_LEVEL))
            })?),
        };
        let capabilities = Arc::new(capabilities.clone());
        Ok(RequestTerms { revision: Revision::V2026_07_28, capabilities, log_level })
    }

    /// Whether the client has no session: results are marked, and questions are put in results.
    pub(crate) fn is_stateless(&self) -> bool {
        !self.revision.has_handshake()
    }

    /// Whether the client answers any question of a server.
    ///
    /// Decides whether a stateless call must be able to outlive its request.
    pub(crate) fn can_be_asked(&self) -> bool {
        ["elicitation", "sampling", "roots"]
            .iter()
            .any(|name| self.capabilities.get(name).is_some_and(Json::is_object))
    }
}

/// The error for a method that does not exist.
pub(crate) fn unknown_method(method: &str) -> RpcError {
    RpcError::new(error_code::METHOD_NOT_FOUND, format!("there is no method `{method}`"))
}

/// The names of all revisions, the newest first.
pub(crate) fn supported_versions() -> Vec<&'static str> {
    Revision::ALL.iter().rev().map(|revision| revision.name()).collect()
}

/// The error for a revision that this server does not have.
fn unsupported_version(version: &str) -> RpcError {
    let message = format!("revision `{version}` of the protocol is not supported");
    let mut error = RpcError::new(UNSUPPORTED_VERSION, message);
    error.data = Some(json!({"supported": supported_versions(), "requested": version}));
    error
}

/// The error for a request without a handshake and without the metadata of a stateless one. Names
/// both ways to begin, because it is not known which of them the client meant.
fn missing_meta(given: &RequestMeta) -> RpcError {
    let mut missing = Vec::new();
    if given.version().is_none() {
        missing.push(meta::PROTOCOL_VERSION);
    }
    if given.capabilities().is_none() {
        missing.push(meta::CLIENT_CAPABILITIES);
    }
    let missing = missing.join("` and `");
    invalid_params(format!(
        "there was no `initialize`, and the `_meta` of the request lacks `{missing}`"
    ))
}

#[cfg(test)]
mod tests {
    use toolwright_exec::{LOCAL_AGENT, SessionNumber};

    use super::*;
    use crate::client_session::ClientHandshake;
    use crate::message_sink::NullSink;

    #[test]
    fn metadata_decides_or_else_the_handshake() {
        let fresh = ClientSession::new(SessionNumber(1), Arc::new(NullSink), LOCAL_AGENT);
        let greeted = ClientSession::new(SessionNumber(2), Arc::new(NullSink), LOCAL_AGENT);
        let capabilities = Arc::new(json!({"roots": {}}));
        greeted.set_handshake(ClientHandshake { revision: Revision::V2025_03_26, capabilities });
        let version = |version: &str| json!({(meta::PROTOCOL_VERSION): version});
        let modern = json!({
            (meta::PROTOCOL_VERSION): "2026-07-28", (meta::CLIENT_CAPABILITIES): {},
        });
        let newest = Ok(Revision::V2026_07_28);
        let cases = [
            (&fresh, "tools/list", modern.clone(), newest),
            (&greeted, "tools/list", modern.clone(), newest),
            (&fresh, "server/discover", modern.clone(), newest),
            (&fresh, "ping", modern.clone(), Err(-32601)),
            (&fresh, "initialize", modern, Err(-32601)),
            (&fresh, "tools/list", version("2026-07-28"), Err(-32602)),
            (&fresh, "tools/list", version("2099-01-01"), Err(-32022)),
            (&fresh, "tools/list", version("2025-11-25"), Err(-32022)),
            (&fresh, "tools/list", json!({}), Err(-32602)),
            (&fresh, "server/discover", json!({}), Err(-32602)),
            (&fresh, "ping", json!({}), Ok(Revision::V2025_11_25)),
            (&greeted, "tools/list", json!({}), Ok(Revision::V2025_03_26)),
            (&greeted, "tools/list", version("2025-11-25"), Ok(Revision::V2025_03_26)),
            (&greeted, "subscriptions/listen", json!({}), Err(-32601)),
        ];
        for (session, method, given, expected) in cases {
            let given = RequestMeta(given.as_object().expect("an object").clone());
            let terms = RequestTerms::of(session, method, &given);
            let found = terms.map(|terms| terms.revision).map_err(|error| error.code);
            assert_eq!(found, expected, "{method} with {given:?}");
        }
    }
}
