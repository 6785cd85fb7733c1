//! The headers that repeat parts of a request since revision 2026-07-28, so that proxies can route
//! it without parsing its body: `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`.
//!
//! A tool chooses the last kind: `x-mcp-header` in the schema of an argument names the header that
//! carries it. Such an argument is a string, an integer or a boolean, and reached from the root of
//! the schema through `properties` only. A tool that breaks these rules must not be offered, since
//! calls of it could not be routed.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value as Json;

/// The header that repeats the method.
pub const METHOD_HEADER: &str = "mcp-method";
/// The header that repeats the name, URI or task of the request.
pub const NAME_HEADER: &str = "mcp-name";
/// What the names of the headers for arguments begin with.
pub const PARAM_HEADER_PREFIX: &str = "mcp-param-";
/// The keyword in schemas.
const KEYWORD: &str = "x-mcp-header";

/// The member of a request's parameters that `Mcp-Name` repeats; `None` for methods without one.
pub fn name_member(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// A text as the value of a header: as it is, or in Base64 between markers if a header could not
/// carry it unchanged, or if it looks like such a text itself.
pub fn header_value(text: &str) -> String {
    let is_visible = |byte: u8| (0x20..=0x7e).contains(&byte);
    let is_plain = text.bytes().all(is_visible)
        && text.trim_matches([' ', '\t']) == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    match is_plain {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", BASE64_STANDARD.encode(text)),
    }
}

/// An argument that goes into a header as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamHeader {
    /// The names of the members from the arguments to the value.
    pub path: Vec<String>,
    /// The name of the header, in lower case and with its prefix.
    pub header: String,
}

impl ParamHeader {
    /// The value of the header for these arguments; `None` if they lack it.
    pub fn value(&self, arguments: &Json) -> Option<String> {
        match self.path.iter().try_fold(arguments, |value, key| value.get(key))? {
            Json::String(text) => Some(header_value(text)),
            value @ (Json::Bool(_) | Json::Number(_)) => Some(value.to_string()),
            _ => None,
        }
    }
}

/// The headers that a tool's input schema asks for.
///
/// # Errors
/// Which rule the schema breaks.
pub fn param_headers(schema: &Json) -> Result<Vec<ParamHeader>, String> {
    if schema.get(KEYWORD).is_some() {
        return Err(format!("`{KEYWORD}` is on the whole schema instead of a property"));
    }
    let mut found: Vec<ParamHeader> = Vec::new();
    // An explicit stack: schemas of servers may be deep.
    let mut properties = vec![(Vec::new(), schema)];
    let mut elsewhere: Vec<&Json> = Vec::new();
    while let Some((path, schema)) = properties.pop() {
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            match keyword.as_str() {
                "properties" => {
                    for (name, property) in value.as_object().into_iter().flatten() {
                        let path: Vec<String> =
                            path.iter().cloned().chain([name.clone()]).collect();
                        if let Some(header) = property.get(KEYWORD) {
                            let header = check_header(&path, property, header, &found)?;
                            found.push(ParamHeader { path: path.clone(), header });
                        }
                        properties.push((path, property));
                    }
                }
                KEYWORD | "default" | "const" | "enum" | "examples" => {}
                _ => elsewhere.push(value),
            }
        }
    }
    while let Some(value) = elsewhere.pop() {
        match value {
            Json::Array(items) => elsewhere.extend(items),
            Json::Object(members) if members.contains_key(KEYWORD) => {
                return Err(format!("`{KEYWORD}` is not reached through `properties` alone"));
            }
            Json::Object(members) => elsewhere.extend(members.values()),
            _ => {}
        }
    }
    Ok(found)
}

/// The name of the header of one property.
fn check_header(
    path: &[String],
    property: &Json,
    header: &Json,
    others: &[ParamHeader],
) -> Result<String, String> {
    let wrong = |what: &str| Err(format!("`{KEYWORD}` of `{}` {what}", path.join(".")));
    let Some(header) = header.as_str() else { return wrong("is not a string") };
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if header.is_empty() || !header.bytes().all(is_token) {
        return wrong("is not a name that a header can have");
    }
    let header = format!("{PARAM_HEADER_PREFIX}{}", header.to_ascii_lowercase());
    if others.iter().any(|other| other.header == header) {
        return wrong("names a header that another property has");
    }
    match property.get("type").and_then(Json::as_str) {
        Some("string" | "integer" | "boolean") => Ok(header),
        _ => wrong("is on a property that is not a string, an integer or a boolean"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_headers_cannot_carry_are_encoded() {
        for (text, value) in [
            ("plain text", "plain text"),
            ("", ""),
            (" padded", "=?base64?IHBhZGRlZA==?="),
            ("Grüße", "=?base64?R3LDvMOfZQ==?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(header_value(text), value);
        }
    }

    #[test]
    fn arguments_are_found_by_their_path() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "other": {"type": "string", "default": {"x-mcp-header": 1}},
        }});
        let headers = param_headers(&schema).expect("the schema keeps the rules");
        let arguments = json!({"region": "eu", "deep": {"n": 7}, "other": "x"});
        let sent: Vec<_> =
            headers.iter().map(|h| (h.header.as_str(), h.value(&arguments))).collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(sent, [("mcp-param-region", text("eu")), ("mcp-param-n", text("7"))]);
        assert_eq!(headers[0].value(&json!({"region": null})), None);
    }

    #[test]
    fn schemas_that_break_the_rules_are_refused() {
        let property = |property: Json| json!({"properties": {"a": property}});
        for (schema, says) in [
            (json!({"x-mcp-header": "A"}), "whole schema"),
            (property(json!({"type": "string", "x-mcp-header": 1})), "not a string"),
            (property(json!({"type": "string", "x-mcp-header": "a b"})), "header can have"),
            (property(json!({"type": "string", "x-mcp-header": ""})), "header can have"),
            (property(json!({"type": "number", "x-mcp-header": "A"})), "an integer"),
            (property(json!({"items": {"type": "string", "x-mcp-header": "A"}})), "alone"),
            (
                json!({"properties": {
                    "a": {"type": "string", "x-mcp-header": "X"},
                    "b": {"type": "string", "x-mcp-header": "x"},
                }}),
                "another property",
            ),
        ] {
            let why = param_headers(&schema).expect_err("it breaks a rule");
            assert!(why.contains(says), "{schema}: {why}");
        }
    }
}
