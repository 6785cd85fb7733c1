//! The parameters of a request, read once: each member stays raw JSON until a method uses it.
//!
//! So arguments and answers of any size are scanned and not parsed, unknown members do no harm, and
//! a member of the wrong type is an error only for methods that use it. A member that appears twice
//! is an error, because two readers could disagree about which of the two counts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};
use toolwright_mcp::{RpcError, error_code, meta};

/// The members of `params`: those that some method uses, and the others. `null` is a missing
/// member, but for `task`: a call that was meant to be one must not run as something else.
#[derive(Debug, Default)]
pub(crate) struct RequestParams<'a> {
    meta: Option<&'a RawValue>,
    pub(crate) name: Option<&'a RawValue>,
    pub(crate) arguments: Option<&'a RawValue>,
    pub(crate) uri: Option<&'a RawValue>,
    pub(crate) cursor: Option<&'a RawValue>,
    pub(crate) level: Option<&'a RawValue>,
    pub(crate) task: Option<&'a RawValue>,
    pub(crate) task_id: Option<&'a RawValue>,
    pub(crate) notifications: Option<&'a RawValue>,
    pub(crate) input_responses: Option<&'a RawValue>,
    pub(crate) request_state: Option<&'a RawValue>,
    pub(crate) protocol_version: Option<&'a RawValue>,
    pub(crate) capabilities: Option<&'a RawValue>,
    /// Members that no method uses.
    ///
    /// `tools/call` passes them on to the server of the tool.
    pub(crate) rest: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

impl<'a> Deserialize<'a> for RequestParams<'a> {
    fn deserialize<D: serde::Deserializer<'a>>(from: D) -> Result<RequestParams<'a>, D::Error> {
        from.deserialize_map(ParamsVisitor)
    }
}

struct ParamsVisitor;

impl<'a> serde::de::Visitor<'a> for ParamsVisitor {
    type Value = RequestParams<'a>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: serde::de::MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut params = RequestParams::default();
        // A bit for each member that was there, also as `null`.
        let mut seen = 0_u16;
        while let Some(BorrowedText(name)) = map.next_key()? {
            let value: &'a RawValue = map.next_value()?;
            let (bit, slot) = match &*name {
                "_meta" => (0, &mut params.meta),
                "name" => (1, &mut params.name),
                "arguments" => (2, &mut params.arguments),
                "uri" => (3, &mut params.uri),
                "cursor" => (4, &mut params.cursor),
                "level" => (5, &mut params.level),
                "task" => (6, &mut params.task),
                "taskId" => (7, &mut params.task_id),
                "notifications" => (8, &mut params.notifications),
                "inputResponses" => (9, &mut params.input_responses),
                "requestState" => (10, &mut params.request_state),
                "protocolVersion" => (11, &mut params.protocol_version),
                "capabilities" => (12, &mut params.capabilities),
                _ => {
                    if let Some((name, _)) = params.rest.remove_entry(&name) {
                        return Err(appears_twice(&name));
                    }
                    params.rest.insert(name, value);
                    continue;
                }
            };
            if seen & (1 << bit) != 0 {
                return Err(appears_twice(&name));
            }
            seen |= 1 << bit;
            *slot = Some(value).filter(|value| value.get() != "null" || name == "task");
        }
        Ok(params)
    }
}

/// The error for a member that is there twice.
fn appears_twice<E: serde::de::Error>(name: &str) -> E {
    E::custom(format!("`{name}` appears twice"))
}

/// A text, borrowed if it has no escapes. `Cow` alone is always deserialized as owned.
#[derive(Deserialize)]
struct BorrowedText<'t>(#[serde(borrow)] Cow<'t, str>);

impl<'a> RequestParams<'a> {
    /// Splits the parameters of a request into their members.
    ///
    /// # Errors
    /// If they are not an object, or name a member twice.
    ///
    /// Values are only scanned here.
    pub(crate) fn parse(
        method: &str,
        params: Option<&'a RawValue>,
    ) -> Result<RequestParams<'a>, RpcError> {
        let Some(params) = params else { return Ok(RequestParams::default()) };
        // A list would be read as the members in their order.
        if !params.get().starts_with('{') {
            let message = format!("the parameters of `{method}` are not an object");
            return Err(invalid_params(message));
        }
        serde_json::from_str(params.get()).map_err(|error| {
            invalid_params(format!("the parameters of `{method}` are invalid: {error}"))
        })
    }

    /// The metadata of the request; empty if there is none.
    ///
    /// # Errors
    /// If `_meta` is not an object.
    pub(crate) fn meta(&self) -> Result<RequestMeta, RpcError> {
        match self.meta {
            None => Ok(RequestMeta::default()),
            Some(meta) if meta.get() == "null" => Ok(RequestMeta::default()),
            Some(meta) => serde_json::from_str(meta.get())
                .map(RequestMeta)
                .map_err(|error| invalid_params(format!("`_meta` is not an object: {error}"))),
        }
    }

    /// A member that must be a text.
    ///
    /// # Errors
    /// If it is missing or something else.
    pub(crate) fn text(member: Option<&'a RawValue>, name: &str) -> Result<Cow<'a, str>, RpcError> {
        let given = member.ok_or_else(|| invalid_params(format!("`{name}` is missing")))?;
        read_text(given).ok_or_else(|| invalid_params(format!("`{name}` is not a text")))
    }

    /// A member that may be missing or null, and else must be a text.
    ///
    /// # Errors
    /// If it is something else.
    pub(crate) fn optional_text(
        member: Option<&'a RawValue>,
        name: &str,
    ) -> Result<Option<Cow<'a, str>>, RpcError> {
        match member {
            None => Ok(None),
            Some(given) if given.get() == "null" => Ok(None),
            Some(_) => RequestParams::text(member, name).map(Some),
        }
    }
}

/// The text of a JSON string, borrowed if it has no escapes.
fn read_text(given: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(given.get()).ok().map(|BorrowedText(text)| text)
}

/// The `_meta` of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestMeta(pub(crate) Map<String, Json>);

impl RequestMeta {
    /// The revision that a stateless request names.
    pub(crate) fn version(&self) -> Option<&str> {
        self.0.get(meta::PROTOCOL_VERSION)?.as_str()
    }

    /// The capabilities that a stateless request declares.
    pub(crate) fn capabilities(&self) -> Option<&Json> {
        self.0.get(meta::CLIENT_CAPABILITIES).filter(|value| value.is_object())
    }

    /// The token for progress notifications: a text or a number.
    pub(crate) fn progress_token(&self) -> Option<&Json> {
        self.0.get(meta::PROGRESS_TOKEN).filter(|value| value.is_string() || value.is_number())
    }

    /// The name of the level of log messages that a stateless request asks for.
    pub(crate) fn log_level(&self) -> Option<&str> {
        self.0.get(meta::LOG_LEVEL)?.as_str()
    }

    /// What is passed on to servers: everything that is not about this hop of the connection.
    pub(crate) fn to_forward(&self) -> Option<Map<String, Json>> {
        let kept = self.0.iter().filter(|(key, _)| !meta::is_of_one_hop(key));
        let kept: Map<String, Json> =
            kept.map(|(key, value)| (key.clone(), value.clone())).collect();
        (!kept.is_empty()).then_some(kept)
    }
}

/// The error for parameters that are wrong.
pub(crate) fn invalid_params(message: impl Into<String>) -> RpcError {
    RpcError::new(error_code::INVALID_PARAMS, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    #[test]
    fn members_of_wrong_types_are_errors_only_where_they_are_used() {
        let given = raw(r#"{"name": 7, "uri": "a\u0062", "other": [1], "_meta": null}"#);
        let params = RequestParams::parse("x", Some(&given)).expect("an object");
        assert!(RequestParams::text(params.name, "name").is_err());
        assert_eq!(RequestParams::text(params.uri, "uri").as_deref(), Ok("ab"));
        assert_eq!(RequestParams::optional_text(params.cursor, "cursor"), Ok(None));
        assert!(params.meta().expect("none").0.is_empty());
    }

    #[test]
    fn lists_and_members_that_appear_twice_are_refused() {
        for text in [
            "[1]",
            "\"x\"",
            r#"{"name": "a", "name": "b"}"#,
            r#"{"name": null, "name": "b"}"#,
            r#"{"_meta": {}, "_meta": {}}"#,
            r#"{"other": 1, "other": 2}"#,
        ] {
            let given = raw(text);
            let refused = RequestParams::parse("x", Some(&given)).expect_err(text);
            assert_eq!(refused.code, error_code::INVALID_PARAMS, "{text}");
        }
    }

    #[test]
    fn metadata_of_one_hop_is_not_forwarded() {
        let given = raw(r#"{"_meta": {"progressToken": 1, "traceparent": "00-1",
                "io.modelcontextprotocol/clientCapabilities": {}}}"#);
        let meta = RequestParams::parse("x", Some(&given)).and_then(|params| params.meta());
        let kept = meta.expect("an object").to_forward().expect("one key");
        assert_eq!(Json::Object(kept), serde_json::json!({"traceparent": "00-1"}));
    }
}
