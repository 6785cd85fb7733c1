//! The standard headers of revision 2026-07-28. They repeat parts of the body, so that proxies can
//! route requests without reading it. A request whose headers and body differ is refused: a proxy
//! and this server would answer different requests.
//!
//! | header | repeats |
//! |---|---|
//! | `MCP-Protocol-Version` | the version in `_meta` |
//! | `Mcp-Method` | the method |
//! | `Mcp-Name` | `name`, `uri` or `taskId` of some methods |
//! | `Mcp-Param-*` | arguments that the schema of a tool marks with `x-mcp-header` |

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use serde_json::{Map, Value as Json};

/// Where `Mcp-Name` comes from, by method. `exec/src/mcp/outgoing_request.rs` writes this header
/// for servers.
const NAMED_BY: [(&str, &str); 8] = [
    ("tools/call", "name"),
    ("prompts/get", "name"),
    ("resources/read", "uri"),
    ("resources/subscribe", "uri"),
    ("resources/unsubscribe", "uri"),
    ("tasks/get", "taskId"),
    ("tasks/update", "taskId"),
    ("tasks/cancel", "taskId"),
];

/// Checks the headers of a message against its body. `input_schema` is that of the called tool;
/// without it, the headers of arguments are not looked at. `MCP-Protocol-Version` is the caller's
/// business.
///
/// # Errors
/// A sentence about the first difference.
pub(crate) fn check_headers(
    headers: &HeaderMap,
    method: &str,
    params: &Json,
    input_schema: Option<&Map<String, Json>>,
) -> Result<(), String> {
    match sole_value(headers, "mcp-method")? {
        None => return Err("the header `Mcp-Method` is missing".to_owned()),
        Some(given) if given != method => {
            return Err(format!("`Mcp-Method` is `{given}`, but the method is `{method}`"));
        }
        Some(_) => {}
    }
    let member = NAMED_BY.iter().find(|(named, _)| *named == method).map(|(_, member)| *member);
    if let Some(name) = member.and_then(|member| params.get(member)).and_then(Json::as_str) {
        match sole_value(headers, "mcp-name")? {
            None => return Err("the header `Mcp-Name` is missing".to_owned()),
            Some(given) => match decode_value(given) {
                None => return Err("`Mcp-Name` is not valid Base64".to_owned()),
                Some(given) if given != name => {
                    return Err(format!("`Mcp-Name` is `{given}`, but the body has `{name}`"));
                }
                Some(_) => {}
            },
        }
    }
    let marked = input_schema.map(marked_properties).unwrap_or_default();
    for (path, header) in marked {
        check_param(headers, &header, value_at(params.get("arguments"), &path))?;
    }
    Ok(())
}

/// Checks the header of one argument.
///
/// A missing or `null` argument must have no header; objects and lists cannot have one.
fn check_param(headers: &HeaderMap, header: &str, argument: Option<&Json>) -> Result<(), String> {
    let full = format!("Mcp-Param-{header}");
    let expected = argument.and_then(primitive_text);
    match (sole_value(headers, &full.to_ascii_lowercase())?, expected) {
        (None, None) => Ok(()),
        (Some(_), None) => Err(format!("there is no argument for the header `{full}`")),
        (None, Some(_)) => Err(format!("the header `{full}` is missing")),
        (Some(given), Some(expected)) => match decode_value(given) {
            None => Err(format!("`{full}` is not valid Base64")),
            Some(given) if given != expected => {
                Err(format!("`{full}` is `{given}`, but the argument is `{expected}`"))
            }
            Some(_) => Ok(()),
        },
    }
}

/// The paths of all properties that are marked with `x-mcp-header`, with the name of the header.
fn marked_properties(schema: &Map<String, Json>) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    // A stack and not recursion: nothing bounds the depth of a schema here.
    let mut open = vec![(Vec::new(), schema)];
    while let Some((path, schema)) = open.pop() {
        let properties = schema.get("properties").and_then(Json::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let Some(property) = property.as_object() else { continue };
            let mut path: Vec<String> = path.clone();
            path.push(name.clone());
            let header = property.get("x-mcp-header").and_then(Json::as_str);
            if let Some(header) = header.filter(|header| !header.is_empty()) {
                found.push((path.clone(), header.to_owned()));
            }
            open.push((path, property));
        }
    }
    found
}

fn value_at<'v>(arguments: Option<&'v Json>, path: &[String]) -> Option<&'v Json> {
    path.iter().try_fold(arguments?, |value, name| value.get(name))
}

/// A text, number or boolean as a header has it; `None` for everything else.
fn primitive_text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Bool(_) | Json::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The value of a header that may appear once.
fn sole_value<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, String> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(format!("the header `{name}` appears twice"));
    }
    match value.to_str() {
        Ok(value) => Ok(Some(value.trim())),
        Err(_) => Err(format!("the header `{name}` is not ASCII text")),
    }
}

/// The text of a header: as it is, or decoded if it is written as `=?base64?…?=`. `None` if that is
/// not valid.
///
/// Values that a header cannot carry (other than printable ASCII, or with spaces at an end) are
/// sent in this form.
fn decode_value(value: &str) -> Option<String> {
    let encoded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match encoded {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a value"));
        }
        headers
    }

    #[test]
    fn headers_must_agree_with_the_body() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        }});
        let params = json!({"name": "t", "arguments": {"region": "süd", "deep": {"n": 3}}});
        let method = ("mcp-method", "tools/call");
        let name = ("mcp-name", "t");
        let region = ("mcp-param-region", "=?base64?c8O8ZA==?=");
        let n = ("mcp-param-n", "3");
        let check = |pairs: &[(&'static str, &str)]| {
            check_headers(&headers(pairs), "tools/call", &params, schema.as_object())
        };
        assert_eq!(check(&[method, name, region, n]), Ok(()));
        assert_eq!(check(&[method, ("mcp-name", "  t  "), region, n]), Ok(()));
        for wrong in [
            &[name, region, n][..],
            &[("mcp-method", "TOOLS/CALL"), name, region, n],
            &[method, method, name, region, n],
            &[method, region, n],
            &[method, ("mcp-name", "u"), region, n],
            &[method, name, n],
            &[method, name, ("mcp-param-region", "nord"), n],
            &[method, name, ("mcp-param-region", "=?base64?c8O8ZA?="), n],
            &[method, name, ("mcp-param-region", "=?base64?c8O8Z!==?="), n],
            &[method, name, region, ("mcp-param-n", "4")],
        ] {
            assert!(check(wrong).is_err(), "{wrong:?}");
        }
        let without = json!({"name": "t", "arguments": {"region": null}});
        let given = headers(&[method, name, region]);
        assert!(check_headers(&given, "tools/call", &without, schema.as_object()).is_err());
    }

    #[test]
    fn base64_is_decoded_strictly() {
        for (text, expected) in [
            ("", Some("")),
            ("TQ==", Some("M")),
            ("TWE=", Some("Ma")),
            ("TWFu", Some("Man")),
            ("TR==", None),
            ("TWE", None),
            ("T===", None),
            ("TW-u", None),
        ] {
            let decoded = decode_value(&format!("=?base64?{text}?="));
            assert_eq!(decoded.as_deref(), expected, "{text}");
        }
    }
}
