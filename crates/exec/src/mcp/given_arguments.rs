//! Messages to a server with the arguments of a call as the caller wrote them.
//!
//! rmcp's request has its arguments as parsed JSON, in which numbers may have changed. So a request
//! also carries the caller's text, and both transports write that in place of the parsed arguments.

use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, GetExtensions};

use crate::Json;

/// The arguments of a request as the caller wrote them: JSON, an object, on one line. An extension
/// of the request.
#[derive(Clone)]
pub(super) struct GivenArguments(pub(super) Arc<str>);

/// A message as JSON text.
pub(super) fn message_text(message: &ClientJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    let given = match message {
        ClientJsonRpcMessage::Request(request) => {
            request.request.extensions().get::<GivenArguments>()
        }
        _ => None,
    };
    let Some(GivenArguments(arguments)) = given else { return serde_json::to_vec(message) };
    let Json::Object(mut message) = serde_json::to_value(message)? else {
        return serde_json::to_vec(message);
    };
    let mut params = message.remove("params").unwrap_or_default();
    params.as_object_mut().map(|params| params.remove("arguments"));
    let params = with_member(&params, "arguments", arguments);
    Ok(with_member(&Json::Object(message), "params", &params).into_bytes())
}

/// The text of an object with one more member, whose value is given as text.
fn with_member(object: &Json, name: &str, value: &str) -> String {
    let mut text = object.to_string();
    text.truncate(text.len() - 1);
    let comma = if text.len() > 1 { "," } else { "" };
    format!(r#"{text}{comma}"{name}":{value}}}"#)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, RequestId};

    use super::*;

    #[test]
    fn the_callers_text_replaces_the_parsed_arguments() {
        let text = r#"{"n": 12345678901234567890123, "z": -0.0, "d": 0.10}"#;
        let mut params = CallToolRequestParams::new("echo");
        params.arguments = serde_json::from_str(text).ok();
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(GivenArguments(text.into()));
        let request = ClientRequest::CallToolRequest(request);
        let message = ClientJsonRpcMessage::request(request, RequestId::Number(7));
        let written = String::from_utf8(message_text(&message).expect("text")).expect("UTF-8");
        assert!(written.contains(&format!(r#""arguments":{text}"#)), "{written}");
        let read: Json = serde_json::from_str(&written).expect("JSON");
        assert_eq!((&read["id"], &read["params"]["name"]), (&7.into(), &"echo".into()), "{read}");
    }
}
