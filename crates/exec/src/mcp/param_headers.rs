//! Which arguments of a server's tools go into HTTP headers as well (`x-mcp-header`, 2026-07-28).
//! Filled from the list of tools; a tool that breaks the rules is left out of the list.
//!
//! A server of 2026-07-28 may mark properties of an input schema with `x-mcp-header`, and then
//! demands the header with each call over HTTP. Which calls need one is known only after the tools
//! were listed once.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use toolwright_mcp::standard_headers::{ParamHeader, param_headers};

use crate::Json;

/// The headers of each tool that has some; `None` before the first list.
///
/// Shared by the connections of one server: a restart need not list the tools again before a call.
#[derive(Debug, Default)]
pub(super) struct ParamHeaders(RwLock<Option<HashMap<String, Vec<ParamHeader>>>>);

impl ParamHeaders {
    /// Whether a list of tools was seen.
    pub(super) fn is_known(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes over a list, and removes the tools from it that break the rules. Returns the reasons.
    pub(super) fn learn(&self, tools: &mut Vec<Json>) -> Vec<String> {
        let mut headers = HashMap::new();
        let mut reasons = Vec::new();
        tools.retain(|tool| {
            let name = tool["name"].as_str().unwrap_or_default();
            match param_headers(&tool["inputSchema"]) {
                Ok(found) => {
                    if !found.is_empty() {
                        headers.insert(name.to_owned(), found);
                    }
                    true
                }
                Err(why) => {
                    reasons.push(format!("the tool `{name}` is left out: {why}"));
                    false
                }
            }
        });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(headers);
        reasons
    }

    /// The headers of one call, as names and values.
    pub(super) fn of(&self, tool: &str, arguments: &Json) -> Vec<(String, String)> {
        let headers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let own = headers.as_ref().and_then(|headers| headers.get(tool)).into_iter().flatten();
        own.filter_map(|it| Some((it.header.clone(), it.value(arguments)?))).collect()
    }
}
