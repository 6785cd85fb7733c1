//! Messages of a server, taken apart before rmcp does. Its types would drop what they do not know
//! and fail on one bad tool among many; so every result but that of a handshake goes through it as
//! a plain value.

use rmcp::model::{CustomResult, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};

use crate::Json;

/// A message as rmcp wants it. `None` if it is not one.
pub(super) fn read(text: &[u8]) -> Option<ServerJsonRpcMessage> {
    let message: Json = serde_json::from_slice(text).ok()?;
    match result_of(&message) {
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

/// The same as text, for where rmcp parses by itself: the result becomes a string, which matches
/// none of its types.
pub(super) fn veil(text: &str) -> Option<String> {
    let message: Json = serde_json::from_str(text).ok()?;
    result_of(&message)?;
    let Json::Object(mut message) = message else { return None };
    let result = message.remove("result")?;
    message.insert("result".into(), Json::String(result.to_string()));
    Some(Json::Object(message).to_string())
}

/// What [`read`] or [`veil`] kept.
pub(super) fn unveil(result: ServerResult) -> Option<Json> {
    match result {
        ServerResult::CustomResult(CustomResult(Json::String(text))) => {
            serde_json::from_str(&text).ok()
        }
        ServerResult::CustomResult(CustomResult(value)) => Some(value),
        _ => None,
    }
}

/// The id, if the message is a result that is not a handshake's.
fn result_of(message: &Json) -> Option<RequestId> {
    let result = message.get("result")?;
    if result.get("protocolVersion").is_some() || result.get("supportedVersions").is_some() {
        return None;
    }
    serde_json::from_value(message.get("id")?.clone()).ok()
}

/// The id and the result of a list of tools.
pub(super) fn list_of(text: &[u8]) -> Option<(RequestId, Json)> {
    let mut message: Json = serde_json::from_slice(text).ok()?;
    message.get("result")?.get("tools")?;
    let id = serde_json::from_value(message.get("id")?.clone()).ok()?;
    Some((id, message.get_mut("result")?.take()))
}

/// The answer in place of one that was too large to be kept.
pub(super) fn too_large(id: RequestId) -> ServerJsonRpcMessage {
    let number = rmcp::model::ErrorCode(crate::code::OUTPUT_TOO_LARGE.number);
    ServerJsonRpcMessage::error(ErrorData::new(number, TOO_LARGE, None), Some(id))
}

/// Its message.
pub(super) const TOO_LARGE: &str = "the answer is larger than any message may be";
