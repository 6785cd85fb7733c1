//! The result of a request, and the response that carries it: written once, straight into the bytes
//! of the message.
//!
//! A result is not turned into a JSON value first: for a large one that would be another copy of
//! it, and numbers would lose the digits in which its server wrote them. `WrittenParts` has the
//! original text of such parts; `ResultPart` prefers it.

use hyper::body::Bytes;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq};
use serde_json::Value as Json;
use toolwright_exec::{ResultContent, WorkSize, WrittenParts, offload};
use toolwright_mcp::{MalformedMessage, Message, RequestId, RpcError};

use crate::gateway::RunningRequest;

/// A result that was not written yet.
///
/// The variants are the forms in which methods have their result at hand. All are objects.
pub(crate) enum ResultBody {
    /// Any JSON object.
    Json(Json),
    /// The JSON text of an object, on one line.
    Text(String),
    /// The result of a tool.
    Tool(Box<ToolResult>),
    /// A task that has ended, with the result of its tool (2026-07-28).
    EndedTask {
        /// The members of the task.
        state: Json,
        result: Box<ToolResult>,
    },
}

/// The result of `tools/call`. Content and structured content are the JSON that the tool made.
#[derive(Default)]
pub(crate) struct ToolResult {
    pub(crate) content: Vec<ResultContent>,
    pub(crate) structured: Option<Json>,
    /// Written always, though MCP makes it optional.
    pub(crate) is_error: bool,
    /// Left out if it is empty.
    pub(crate) meta: serde_json::Map<String, Json>,
    /// Members that nothing here interprets, such as those of a task.
    pub(crate) rest: serde_json::Map<String, Json>,
    /// The text of parts of the others, where that is more exact.
    pub(crate) written: WrittenParts,
    /// Whether the client knows results that are not complete, and wants each one marked.
    pub(crate) is_marked_complete: bool,
    /// Whether writing it takes longer than a moment. `None` if nobody has measured it, which
    /// counts as large.
    pub(crate) size: Option<WorkSize>,
}

impl Serialize for ToolResult {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let part = |name, value| ResultPart { name, n: 0, value, written: &self.written };
        let mut map = to.serialize_map(None)?;
        if self.is_marked_complete && !self.rest.contains_key("resultType") {
            map.serialize_entry("resultType", "complete")?;
        }
        for (name, value) in &self.rest {
            map.serialize_entry(name, &part(name, value))?;
        }
        // A task that was created has no content yet.
        let is_task = ["resultType", "task"].iter().any(|name| self.rest.contains_key(*name));
        if is_task && self.content.is_empty() {
            if !self.meta.is_empty() {
                map.serialize_entry("_meta", &self.meta)?;
            }
            return map.end();
        }
        map.serialize_entry("content", &ContentBlocks(self))?;
        if let Some(structured) = &self.structured {
            map.serialize_entry("structuredContent", &part("structuredContent", structured))?;
        }
        map.serialize_entry("isError", &self.is_error)?;
        if !self.meta.is_empty() {
            map.serialize_entry("_meta", &self.meta)?;
        }
        map.end()
    }
}

/// See [`ResultBody::EndedTask`].
#[derive(Serialize)]
struct EndedTask<'r> {
    #[serde(flatten)]
    state: &'r Json,
    result: &'r ToolResult,
}

/// The content of a result: blocks as the JSON that they hold.
struct ContentBlocks<'r>(&'r ToolResult);

impl Serialize for ContentBlocks<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (name, written) = ("content", &self.0.written);
        let mut list = to.serialize_seq(Some(self.0.content.len()))?;
        for (n, block) in self.0.content.iter().enumerate() {
            match block.as_other() {
                Some(value) => list.serialize_element(&ResultPart { name, n, value, written })?,
                None => list.serialize_element(block)?,
            }
        }
        list.end()
    }
}

/// A member of a result, or one of its blocks, in the words of the server if they are kept.
///
/// `name` and `n` are the key of the part in `WrittenParts`: a member of the result, or a block of
/// `content` by its number.
struct ResultPart<'r> {
    name: &'r str,
    n: usize,
    value: &'r Json,
    written: &'r WrittenParts,
}

impl Serialize for ResultPart<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.written.text_of(self.name, self.n, self.value) {
            Some(text) => text.serialize(to),
            None => self.value.serialize(to),
        }
    }
}

/// A response, written.
pub(crate) struct RpcReply {
    /// The whole JSON-RPC response.
    pub(crate) bytes: Bytes,
    /// The code of the error, if it is one. Decides the status of an HTTP response.
    pub(crate) error_code: Option<i64>,
    /// Counts the request as running until the response is sent: at the end of the program it is
    /// waited for.
    pub(crate) running: Option<RunningRequest>,
}

impl RpcReply {
    /// Writes the response to a request; a large one on another thread.
    pub(crate) async fn write(id: RequestId, outcome: Result<ResultBody, RpcError>) -> RpcReply {
        let body = match outcome {
            Ok(body) => body,
            Err(error) => return RpcReply::error(Some(id), error),
        };
        let size = match &body {
            ResultBody::Tool(result) => result.size.unwrap_or(WorkSize::Large),
            ResultBody::Text(_) => WorkSize::Small,
            // Whatever a server answers can be large, and nobody has measured it.
            ResultBody::Json(_) | ResultBody::EndedTask { .. } => WorkSize::Large,
        };
        let bytes = offload(size, move || response_bytes(&id, &body)).await;
        RpcReply { bytes: bytes.into(), error_code: None, running: None }
    }

    /// Writes an error; without an id if that could not be read.
    pub(crate) fn error(id: Option<RequestId>, error: RpcError) -> RpcReply {
        let error_code = Some(error.code);
        let response = toolwright_mcp::RpcResponse { id, outcome: Err(error) };
        let bytes = Message::Response(response).to_bytes().into();
        RpcReply { bytes, error_code, running: None }
    }

    /// Writes the error about a text that is not a message. `what` names it.
    pub(crate) fn malformed(malformed: &MalformedMessage, what: &str) -> RpcReply {
        let response = malformed.to_response(what);
        let error = response.outcome.expect_err("it describes a mistake");
        RpcReply::error(response.id, error)
    }

    /// Several responses as one message, for clients that sent a batch.
    ///
    /// The responses are texts already, so this only puts brackets and commas around them.
    pub(crate) fn join_batch(replies: &[RpcReply]) -> Bytes {
        let texts: Vec<&[u8]> = replies.iter().map(|reply| &reply.bytes[..]).collect();
        [b"[", &texts.join(&b","[..])[..], b"]"].concat().into()
    }
}

/// The bytes of a response with a result.
fn response_bytes(id: &RequestId, body: &ResultBody) -> Vec<u8> {
    // Nearly all results fit, so that the text is not moved while it grows.
    let mut text = Vec::with_capacity(1024);
    text.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    let written = serde_json::to_writer(&mut text, &id.to_json());
    text.extend_from_slice(br#","result":"#);
    let written = written.and_then(|()| match body {
        ResultBody::Json(value) => serde_json::to_writer(&mut text, value),
        ResultBody::Tool(result) => serde_json::to_writer(&mut text, result),
        ResultBody::EndedTask { state, result } => {
            serde_json::to_writer(&mut text, &EndedTask { state, result })
        }
        ResultBody::Text(result) => {
            text.extend_from_slice(result.as_bytes());
            Ok(())
        }
    });
    written.expect("a JSON value has no map keys but strings, and memory takes all bytes");
    text.push(b'}');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn responses_are_messages_with_the_result_as_it_was() {
        let unknown = json!({"type": "hologram", "depth": {"z": [1.5, null]}});
        let tool = ToolResult {
            content: vec![unknown.clone().into()],
            structured: Some(json!({"sum": 3})),
            ..ToolResult::default()
        };
        for (body, expected) in [
            (ResultBody::Json(json!({})), json!({})),
            (ResultBody::Text(r#"{"tools":[]}"#.into()), json!({"tools": []})),
            (
                ResultBody::Tool(Box::new(tool)),
                json!({"content": [unknown], "structuredContent": {"sum": 3}, "isError": false}),
            ),
        ] {
            let reply = RpcReply::write(RequestId::Text("a\"b".into()), Ok(body)).await;
            let message: Json = serde_json::from_slice(&reply.bytes).expect("JSON");
            assert_eq!(message, json!({"jsonrpc": "2.0", "id": "a\"b", "result": expected}));
        }
        let error = RpcError { data: Some(json!([1])), ..RpcError::new(-7, "no") };
        let reply = RpcReply::write(RequestId::Number(1), Err(error)).await;
        assert_eq!(reply.error_code, Some(-7));
        assert!(String::from_utf8_lossy(&reply.bytes).ends_with(r#""data":[1]}}"#));
    }
}
