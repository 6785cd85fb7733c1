//! Keeps the results of a server as the JSON they were sent as.
//!
//! rmcp parses a result into its own types, which drops unknown fields, and one malformed tool
//! makes a whole list fail. So every result except that of a handshake passes through rmcp as an
//! opaque value, `CustomResult`. There are two ways in, depending on who parses the message:
//!
//! ```text
//! our transport parses:  {"result": R}  ─ parse_message ─▶ CustomResult(R) ──────────┐
//! rmcp parses (SSE):     {"result": R}  ─ wrap_result ──▶ {"result": "R as text"}    │
//!                                                        ─ rmcp ─▶ CustomResult("…") ┤
//!                                                                                    ▼
//!                                                                   unwrap_result ─▶ R
//! ```
//!
//! In the second way the result becomes a string, since a string matches none of rmcp's result
//! types. Handshake results stay typed: rmcp reads the version and the capabilities from them.

use rmcp::model::{CustomResult, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};

use crate::Json;

/// Parses a message for rmcp, with its result kept as JSON. `None` if it is not a JSON-RPC message.
pub(super) fn parse_message(text: &[u8]) -> Option<ServerJsonRpcMessage> {
    let message: Json = serde_json::from_slice(text).ok()?;
    match raw_result_id(&message) {
        Some(id) => {
            let Json::Object(mut message) = message else { return None };
            let result = message.remove("result")?;
            Some(ServerJsonRpcMessage::response(
                ServerResult::CustomResult(CustomResult(result)),
                id,
            ))
        }
        None => serde_json::from_value(message).ok(),
    }
}

/// Rewrites a message that rmcp will parse: its result becomes a string with the same JSON. `None`
/// if the message has to stay as it is: not a result, or that of a handshake.
pub(super) fn wrap_result(text: &str) -> Option<String> {
    let message: Json = serde_json::from_str(text).ok()?;
    raw_result_id(&message)?;
    let Json::Object(mut message) = message else { return None };
    let result = message.remove("result")?;
    message.insert("result".into(), Json::String(result.to_string()));
    Some(Json::Object(message).to_string())
}

/// The result that [`parse_message`] or [`wrap_result`] kept. `None` for a result that rmcp parsed
/// into one of its types.
pub(super) fn unwrap_result(result: ServerResult) -> Option<Json> {
    match result {
        // Results are objects by the specification, so a string can only come from `wrap_result`.
        ServerResult::CustomResult(CustomResult(Json::String(text))) => {
            serde_json::from_str(&text).ok()
        }
        ServerResult::CustomResult(CustomResult(value)) => Some(value),
        _ => None,
    }
}

/// The id of a message whose result is kept raw: a result, and not that of a handshake, which has
/// `protocolVersion` (`initialize`) or `supportedVersions` (`server/discover`).
fn raw_result_id(message: &Json) -> Option<RequestId> {
    let result = message.get("result")?;
    if result.get("protocolVersion").is_some() || result.get("supportedVersions").is_some() {
        return None;
    }
    serde_json::from_value(message.get("id")?.clone()).ok()
}

/// The id and the raw result of a message that answers `tools/list`. `None` for other messages.
pub(super) fn tool_list_in(text: &[u8]) -> Option<(RequestId, Json)> {
    let mut message: Json = serde_json::from_slice(text).ok()?;
    message.get("result")?.get("tools")?;
    let id = serde_json::from_value(message.get("id")?.clone()).ok()?;
    Some((id, message.get_mut("result")?.take()))
}

/// The error that replaces an answer which was too large to be kept, so that its call fails at once
/// and not by its timeout.
pub(super) fn too_large_error(id: RequestId) -> ServerJsonRpcMessage {
    let number = rmcp::model::ErrorCode(crate::code::OUTPUT_TOO_LARGE.number);
    ServerJsonRpcMessage::error(ErrorData::new(number, TOO_LARGE, None), Some(id))
}

/// The message of [`too_large_error`]. Also how it is recognised once it went through rmcp.
pub(super) const TOO_LARGE: &str = "the answer is larger than any message may be";
