//! `x-mcp-header`, by which a client copies an argument into the HTTP header `Mcp-Param-NAME`.
//!
//! Source: MCP 2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters". A client drops a
//! tool that breaks one of the rules from the list, so each of them is checked; the advice about
//! secrets is the only one that clients do not enforce.
//!
//! ```text
//! {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
//!   a call with {"region": "eu"}  ─▶  Mcp-Param-Region: eu
//! ```

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::walk::WalkStep;
use crate::error_message::{quoted, shorten};

/// Names of properties that hold secrets, without separators and in lower case.
const SECRETS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "clientsecret",
    "apikey",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "bearertoken",
    "privatekey",
    "credential",
    "credentials",
];

/// The header names of one schema so far, in lower case: header names ignore case.
#[derive(Default)]
pub(super) struct HeaderNames(HashSet<String>);

impl HeaderNames {
    /// What is wrong with the annotation `header` of the subschema `members`; `None` if nothing is.
    ///
    /// The first violation is reported. Remembers the name, so that a second property with the same
    /// header is found, whatever the case of its letters.
    pub(super) fn check(
        &mut self,
        header: &Value,
        members: &Map<String, Value>,
        step: &WalkStep<'_>,
        is_root: bool,
    ) -> Option<String> {
        if is_root {
            return Some("it stands at the whole schema, not at a property".to_owned());
        }
        if !step.by_properties {
            return Some(
                "its property is not reached from the root by `properties` alone".to_owned(),
            );
        }
        let Value::String(name) = header else {
            return Some(format!("{} is not a header name", quoted(header)));
        };
        if name.is_empty() {
            return Some("the header name is empty".to_owned());
        }
        if !name.chars().all(is_token_character) {
            return Some(format!(
                "`{}` has characters that a header name cannot have",
                shorten(&name.escape_debug().to_string())
            ));
        }
        if !self.0.insert(name.to_ascii_lowercase()) {
            return Some(format!("another property has the header name `{}`", shorten(name)));
        }
        match members.get("type").and_then(Value::as_str) {
            Some("string" | "integer" | "boolean") => {}
            _ => {
                let found = members.get("type").map_or("missing".to_owned(), quoted);
                return Some(format!(
                    "the type of its property is {found}, not `string`, `integer` or `boolean`"
                ));
            }
        }
        let property = step.property.unwrap_or_default();
        // `api_key`, `apiKey` and `API-Key` are the same word.
        let letters = property.chars().filter(|c| c.is_alphanumeric());
        let folded: String = letters.flat_map(char::to_lowercase).take(64).collect();
        SECRETS.contains(&folded.as_str()).then(|| {
            format!("`{}` is a secret, and programs on the way read headers", shorten(property))
        })
    }
}

/// `tchar` of RFC 9110, section 5.6.2.
fn is_token_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}
