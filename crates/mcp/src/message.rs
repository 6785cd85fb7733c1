//! JSON-RPC 2.0 messages: the envelope parsed, the content as raw JSON.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use crate::id_finder::IdFinder;

/// The most values that a message may have: numbers, texts, lists and so on, at all levels. A value
/// of one byte takes seventy once it is parsed, so twelve million of them in 24 MiB would take a
/// gigabyte. A list of a thousand tools has some hundred thousand.
pub const MAX_VALUES: usize = 1_000_000;

/// The codes of JSON-RPC errors that MCP uses.
pub mod error_code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a request, or not one that is allowed now.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are wrong; also an unknown tool or prompt.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Something else went wrong.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The client lacks a capability that the request needs (since 2026-07-28); `data` has it in
    /// `requiredCapabilities`.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The server does not speak the revision of a request (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// The person has to visit URLs first (2025-11-25); `data` has them in `elicitations`.
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// There is no such resource (revisions before 2026-07-28).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
}

/// The id of a request: unique among the open requests of its sender.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestId {
    /// An integer.
    Number(i64),
    /// A text.
    Text(String),
}

impl RequestId {
    /// The id as JSON.
    pub fn to_json(&self) -> Json {
        match self {
            RequestId::Number(number) => Json::from(*number),
            RequestId::Text(text) => Json::from(text.as_str()),
        }
    }

    /// The id that a JSON value is; `None` for values that cannot be one.
    pub fn from_json(value: &Json) -> Option<RequestId> {
        match value {
            Json::String(text) => Some(RequestId::Text(text.clone())),
            value => value.as_i64().map(RequestId::Number),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<RequestId, D::Error> {
        let value = Json::deserialize(from)?;
        RequestId::from_json(&value)
            .ok_or_else(|| serde::de::Error::custom("an id is an integer or a string"))
    }
}

/// An error as JSON-RPC has it.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// See [`error_code`]; servers use others as well.
    pub code: i64,
    /// A sentence of the sender, shown to people as it is.
    pub message: String,
    /// Whatever the sender adds.
    pub data: Option<Json>,
    /// Members that JSON-RPC does not have.
    pub more: Box<Map<String, Json>>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None, more: Box::default() }
    }

    /// The error as the member `error` of a message.
    pub fn to_json(&self) -> Json {
        let mut error = serde_json::json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        for (name, value) in self.more.iter() {
            error[name] = value.clone();
        }
        error
    }
}

/// A message that expects a response.
#[derive(Clone, Debug)]
pub struct RpcRequest {
    /// Names the request in its response.
    pub id: RequestId,
    /// Such as `tools/call`.
    pub method: String,
    /// An object; `None` if there are none.
    pub params: Option<Box<RawValue>>,
}

/// A message without a response.
#[derive(Clone, Debug)]
pub struct RpcNotification {
    /// Such as `notifications/progress`.
    pub method: String,
    /// An object; `None` if there are none.
    pub params: Option<Box<RawValue>>,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct RpcResponse {
    /// The id of the request; `None` in an error about a message whose id could not be read.
    pub id: Option<RequestId>,
    /// The result, or why there is none.
    pub outcome: Result<Box<RawValue>, RpcError>,
}

/// A JSON-RPC message of either side, by its kind.
#[derive(Clone, Debug)]
pub enum Message {
    /// See [`RpcRequest`].
    Request(RpcRequest),
    /// See [`RpcNotification`].
    Notification(RpcNotification),
    /// See [`RpcResponse`].
    Response(RpcResponse),
}

/// A text that is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MalformedMessage {
    /// It is not JSON.
    NotJson,
    /// It is JSON and not a JSON-RPC 2.0 message; with its id if it has one.
    NotAMessage(Option<RequestId>),
    /// It has more than [`MAX_VALUES`] values and was not parsed; with its id if it has one.
    TooManyValues(Option<RequestId>),
}

impl MalformedMessage {
    /// The response that JSON-RPC prescribes. `what` names the text, such as "line" or "body".
    pub fn to_response(&self, what: &str) -> RpcResponse {
        let (id, code, message) = match self {
            MalformedMessage::NotJson => {
                (None, error_code::PARSE_ERROR, format!("the {what} is not JSON"))
            }
            MalformedMessage::NotAMessage(id) => (
                id.clone(),
                error_code::INVALID_REQUEST,
                format!("the {what} is not a JSON-RPC 2.0 message"),
            ),
            MalformedMessage::TooManyValues(id) => (
                id.clone(),
                error_code::INVALID_REQUEST,
                format!("the {what} has more than {MAX_VALUES} values"),
            ),
        };
        RpcResponse { id, outcome: Err(RpcError::new(code, message)) }
    }
}

/// The members of all kinds of messages.
#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "present_id")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
    params: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    error: Option<ErrorMember>,
}

/// A member that is there, also if it is `null`: that is a result, too.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(from).map(Some)
}

/// The same for the id: a request whose id is `null` is not a notification.
fn present_id<'de: 'a, 'a, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

#[derive(Deserialize)]
struct ErrorMember {
    code: i64,
    #[serde(default)]
    message: String,
    data: Option<Json>,
    #[serde(flatten)]
    more: Map<String, Json>,
}

impl Message {
    /// Parses one message.
    ///
    /// # Errors
    /// If the text is not JSON, or not a message, or has too many values.
    pub fn parse(text: &[u8]) -> Result<Message, MalformedMessage> {
        if has_too_many_values(text) {
            let mut finder = IdFinder::default();
            finder.scan(text);
            return Err(MalformedMessage::TooManyValues(finder.id()));
        }
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(text) else {
            return Err(MalformedMessage::of(text));
        };
        let malformed = || Err(MalformedMessage::of(text));
        if envelope.jsonrpc != Some("2.0") {
            return malformed();
        }
        // `null` is a missing id in notifications, which some servers send that way, and in an
        // error about an unreadable message.
        let is_null = envelope.id.is_some_and(|id| id.get() == "null");
        let id = match envelope.id.map(RawValue::get) {
            None | Some("null") => None,
            Some(id) => match serde_json::from_str(id) {
                Ok(id) => Some(id),
                Err(_) => return malformed(),
            },
        };
        let Envelope { method, params, result, error, .. } = envelope;
        let params = params.filter(|params| params.get() != "null");
        match (method, id, result, error) {
            (Some(method), Some(id), None, None) => {
                let method = method.into_owned();
                Ok(Message::Request(RpcRequest { id, method, params }))
            }
            (Some(method), None, None, None)
                if is_null && !method.starts_with("notifications/") =>
            {
                malformed()
            }
            (Some(method), None, None, None) => {
                let method = method.into_owned();
                Ok(Message::Notification(RpcNotification { method, params }))
            }
            (None, Some(id), Some(result), None) => {
                Ok(Message::Response(RpcResponse { id: Some(id), outcome: Ok(result) }))
            }
            (None, id, None, Some(ErrorMember { code, message, data, more })) => {
                let outcome = Err(RpcError { code, message, data, more: Box::new(more) });
                Ok(Message::Response(RpcResponse { id, outcome }))
            }
            _ => malformed(),
        }
    }

    /// A request.
    pub fn request(id: RequestId, method: &str, params: Option<Box<RawValue>>) -> Message {
        Message::Request(RpcRequest { id, method: method.to_owned(), params })
    }

    /// A notification.
    pub fn notification(method: &str, params: &Json) -> Message {
        Message::Notification(RpcNotification {
            method: method.to_owned(),
            params: Some(raw_json(params)),
        })
    }

    /// A response.
    pub fn response(id: RequestId, outcome: Result<Box<RawValue>, RpcError>) -> Message {
        Message::Response(RpcResponse { id: Some(id), outcome })
    }

    /// The message as JSON on one line. Line breaks between the values of its content become
    /// spaces: inside of strings, JSON has none.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(64 + self.content().map_or(0, |it| it.get().len()));
        text.extend_from_slice(br#"{"jsonrpc":"2.0""#);
        let mut member = |name: &str, value: &str| {
            text.extend_from_slice(b",\"");
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b"\":");
            let start = text.len();
            text.extend_from_slice(value.as_bytes());
            for byte in &mut text[start..] {
                if matches!(*byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
        };
        match self {
            Message::Request(RpcRequest { id, method, params }) => {
                member("id", &id.to_json().to_string());
                member("method", &Json::from(method.as_str()).to_string());
                if let Some(params) = params {
                    member("params", params.get());
                }
            }
            Message::Notification(RpcNotification { method, params }) => {
                member("method", &Json::from(method.as_str()).to_string());
                if let Some(params) = params {
                    member("params", params.get());
                }
            }
            Message::Response(RpcResponse { id, outcome }) => {
                let id = id.as_ref().map_or(Json::Null, RequestId::to_json);
                member("id", &id.to_string());
                match outcome {
                    Ok(result) => member("result", result.get()),
                    Err(error) => member("error", &error.to_json().to_string()),
                }
            }
        }
        text.push(b'}');
        text
    }

    /// The parameters or the result.
    fn content(&self) -> Option<&RawValue> {
        match self {
            Message::Request(request) => request.params.as_deref(),
            Message::Notification(notification) => notification.params.as_deref(),
            Message::Response(response) => response.outcome.as_ref().ok().map(|it| &**it),
        }
    }
}

impl MalformedMessage {
    fn of(text: &[u8]) -> MalformedMessage {
        match serde_json::from_slice::<Json>(text) {
            Err(_) => MalformedMessage::NotJson,
            // With the id the sender can match the error with its request.
            Ok(value) => {
                MalformedMessage::NotAMessage(value.get("id").and_then(RequestId::from_json))
            }
        }
    }
}

/// Whether a JSON text has more than [`MAX_VALUES`] values. Only long ones are looked at: nearly
/// every value takes two bytes.
pub fn has_too_many_values(text: &[u8]) -> bool {
    if text.len() <= 2 * MAX_VALUES {
        return false;
    }
    let (mut values, mut is_string, mut is_escaped) = (0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            // Every value but the outermost follows one of these, or the name of its member does.
            b',' | b'[' | b'{' if !is_string => values += 1,
            _ => {}
        }
    }
    values > MAX_VALUES
}

/// A value as raw JSON.
pub fn raw_json(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("a JSON value has no map keys but strings")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_message_survives_a_round_trip() {
        for text in [
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"n":12345678901234567890.10}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"unknown":[1,{"b":null}]}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no","data":{"a":1}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no","x":[1]}}"#,
        ] {
            let message = Message::parse(text.as_bytes());
            let Ok(message) = message else { panic!("{text}: {message:?}") };
            assert_eq!(String::from_utf8_lossy(&message.to_bytes()), text);
        }
    }

    #[test]
    fn invalid_messages_are_distinguished_from_invalid_json() {
        let not_a_message = |id| Err(MalformedMessage::NotAMessage(id));
        let seven = || Some(RequestId::Number(7));
        for (text, expected) in [
            ("{", Err(MalformedMessage::NotJson)),
            ("[]", not_a_message(None)),
            ("{}", not_a_message(None)),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, not_a_message(seven())),
            (r#"{"jsonrpc":"2.0","id":7}"#, not_a_message(seven())),
            (r#"{"jsonrpc":"2.0","id":7.5,"method":"ping"}"#, not_a_message(None)),
            (r#"{"jsonrpc":"2.0","id":7,"method":"x","result":1}"#, not_a_message(seven())),
        ] {
            assert_eq!(Message::parse(text.as_bytes()).map(drop), expected, "{text}");
        }
    }

    #[test]
    fn messages_with_too_many_values_are_not_parsed() {
        let message = |value: &str, count: usize| {
            let values = vec![value; count].join(",");
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":[{values}]}}}}"#)
        };
        for value in ["1", "[]", "{}", "null", r#""\\""#] {
            let text = message(value, MAX_VALUES + 1);
            let refused = Message::parse(text.as_bytes());
            let expected = MalformedMessage::TooManyValues(Some(RequestId::Number(7)));
            assert_eq!(refused.map(drop), Err(expected), "{value}");
        }
        // Separators in a text are no values.
        for text in [
            message("1", MAX_VALUES - 10),
            message(&format!("\"{}\"", r#",[{\""#.repeat(1 << 20)), 1),
        ] {
            assert!(Message::parse(text.as_bytes()).is_ok(), "{} bytes", text.len());
        }
    }

    #[test]
    fn line_breaks_between_values_become_spaces() {
        let text = b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\n\"a\":\r\n\"b\\n\"}}";
        let message = Message::parse(text).map(|message| message.to_bytes());
        let expected = br#"{"jsonrpc":"2.0","method":"x","params":{ "a":  "b\n"}}"#;
        assert_eq!(message, Ok(expected.to_vec()));
    }
}
