//! Turns errors of the connection to a server into failures that users read. The types of rmcp,
//! reqwest and the operating system end here; messages are full sentences and contain no secrets.

use std::time::Duration;

use rmcp::model::ErrorData;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;

use super::{http_transport, raw_results};
use crate::{Failure, code};

/// The longest error message of a server that is passed on, in characters.
const MAX_ERROR_CHARS: usize = 4_000;

/// Why there is no connection. The two cases differ in what the caller does next.
pub(super) enum ConnectError {
    /// The server runs and answered, but rejected this kind of handshake: the other one is tried.
    HandshakeRefused(Failure),
    /// Another attempt would end the same way.
    Other(Failure),
}

impl ConnectError {
    /// The failure inside, once there is nothing left to try.
    pub(super) fn into_failure(self) -> Failure {
        match self {
            ConnectError::HandshakeRefused(failure) | ConnectError::Other(failure) => failure,
        }
    }
}

/// The error "the server cannot be reached", with the reason.
pub(super) fn unavailable(why: &str) -> ConnectError {
    ConnectError::Other(Failure::new(
        &code::UPSTREAM_UNAVAILABLE,
        format!("the server cannot be reached: {why}"),
    ))
}

/// The error of a server whose handshake took longer than `time`.
pub(super) fn not_ready(time: Duration) -> ConnectError {
    unavailable(&format!("it did not get ready within {} s", time.as_secs()))
}

/// The error of a failed handshake. Only a JSON-RPC error is a refusal of the handshake itself.
pub(super) fn handshake_error(error: &ClientInitializeError) -> ConnectError {
    match error {
        ClientInitializeError::JsonRpcError(answer) => {
            let message = format!("the server refused the connection: {}", answer.message);
            ConnectError::HandshakeRefused(Failure::new(&code::UPSTREAM_UNAVAILABLE, message))
        }
        // `end_after` adds how the process ended, if there is one.
        ClientInitializeError::ConnectionClosed(_) => {
            unavailable("it closed the connection before it answered")
        }
        error if error.is_authorization_required() => {
            // HTTP 401. The challenge of the server is not shown: it is meant for programs.
            let message = "the server requires a token, and none or a wrong one was sent";
            let failure = Failure::new(&code::UPSTREAM_UNAVAILABLE, message);
            ConnectError::Other(
                failure.suggest("set `headers = { Authorization = \"Bearer …\" }` on its source"),
            )
        }
        ClientInitializeError::TransportError { error, .. } => unavailable(&transport_error(error)),
        error => unavailable(&error.to_string()),
    }
}

/// The failure of a call whose connection ended. `why` may be empty if the reason is unknown.
pub(super) fn connection_lost(why: &str) -> Failure {
    let why = if why.is_empty() { "the connection is closed" } else { why };
    Failure::new(
        &code::UPSTREAM_UNAVAILABLE,
        format!("the server went away during the call: {why}"),
    )
}

/// The failure of a call that the server answered with a JSON-RPC error.
pub(super) fn answered_with_error(error: &ErrorData) -> Failure {
    // Our own replacement for an answer that was too large, see `raw_results`.
    if error.message == raw_results::TOO_LARGE {
        return Failure::new(&code::OUTPUT_TOO_LARGE, error.message.to_string());
    }
    // The server's own words, bounded: the text goes to a model.
    let message: String = error.message.chars().take(MAX_ERROR_CHARS).collect();
    Failure::new(
        &code::TOOL_FAILED,
        format!("the server answered with error {}: {message}", error.code.0),
    )
}

/// A sentence about a transport error, without the Rust types it was wrapped in.
pub(super) fn transport_error(error: &DynamicTransportError) -> String {
    http_transport::explain(&*error.error).unwrap_or_else(|| error.error.to_string())
}
