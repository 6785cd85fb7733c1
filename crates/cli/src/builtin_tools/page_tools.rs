//! The toolset `webmcp`: the tools that the current page of a session itself offers (WebMCP). They
//! change with the page, and need `dom:write`, because they run the page's own code.
//!
//! ```text
//! page of session 1: search(query) ─▶ webmcp:search     exists for session 1 only
//! page of session 2: search(term)  ─▶ webmcp:search_2   exists for session 2 only
//! ```
//!
//! The catalog has one list for all sessions, so that every definition is read, checked and gated
//! like others. A session sees and calls only what its own page offers. Two definitions of one name
//! have two entries: the second gets a number.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value as Json, json};
use tokio::sync::watch;
use toolwright_browser::{PageError, PageErrorCode, PageTool};
use toolwright_exec::browser::page_session;
use toolwright_exec::{
    BoxFuture, BuiltinCall, BuiltinToolset, CallArguments, Failure, Host, Outcome, ResultContent,
    SessionNumber,
};

use super::browser::{current_origin, failure, with_notices};
use crate::browser::BrowserSessions;

/// Characters of a description of a page's tool that are kept: text of a page for a model. Longer
/// ones are cut, so that a page cannot fill the context of a model.
const MAX_DESCRIPTION: usize = 1_000;
/// Tools of one page that are offered. Those beyond it are ignored, in the order of the page.
const MAX_PAGE_TOOLS: usize = 100;

/// The toolset `webmcp`.
///
/// One per process. `offered` is what `list` returned last, and decides who may see and call what.
pub(crate) struct PageToolset {
    sessions: Arc<BrowserSessions>,
    offered: Mutex<Vec<OfferedTool>>,
    /// Counts the changes of `offered`: the list may stay the same while other sessions have its
    /// tools.
    visibility: AtomicU64,
}

/// A tool of the page of one session.
///
/// The same tool on the pages of two sessions has two of these, with one name.
#[derive(Clone, Debug, PartialEq)]
struct OfferedTool {
    /// As `page_session` names it.
    session: String,
    /// As the page gave it, with its origin. Compared as a whole: another description is another
    /// tool.
    tool: PageTool,
    /// Its name in the list.
    name: String,
}

impl PageToolset {
    pub(crate) fn new(sessions: Arc<BrowserSessions>) -> PageToolset {
        PageToolset { sessions, offered: Mutex::default(), visibility: AtomicU64::new(0) }
    }

    fn offered(&self) -> MutexGuard<'_, Vec<OfferedTool>> {
        // Nothing panics while it holds the lock.
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tool of a session that has this name in the list.
    fn find(&self, session: &str, name: &str) -> Option<PageTool> {
        let offered = self.offered();
        let own = offered.iter().find(|it| it.session == session && it.name == name);
        own.map(|it| it.tool.clone())
    }
}

impl BuiltinToolset for PageToolset {
    fn name(&self) -> &'static str {
        "webmcp"
    }

    /// Asks every page again. Called by the catalog when `changes` reports something.
    fn list<'a>(&'a self, _: &'a [(OsString, OsString)]) -> BoxFuture<'a, Result<Json, Failure>> {
        Box::pin(async move {
            let now = self.sessions.page_tools().await;
            let mut offered = self.offered();
            let new = with_names(&offered, now);
            if *offered != new {
                *offered = new;
                self.visibility.fetch_add(1, Ordering::Relaxed);
            }
            Ok(json!({ "tools": definitions(&offered) }))
        })
    }

    /// The catalog lists again when the number changes.
    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.sessions.changes())
    }

    /// Asked for each session, when it lists tools and when it calls one.
    fn may_see(&self, tool: &str, session: Option<SessionNumber>) -> bool {
        self.find(&page_session(session), tool).is_some()
    }

    fn visibility(&self) -> u64 {
        self.visibility.load(Ordering::Relaxed)
    }

    fn needs(&self, _: &str) -> &'static [&'static str] {
        &["dom:write"]
    }

    /// The origin of the current page: its own code runs, whatever the arguments are.
    fn page_origin<'a>(
        &'a self,
        tool: &'a str,
        _: &'a CallArguments,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(current_origin(&self.sessions, tool, host))
    }

    /// `Tab::call_page_tool` compares the origin inside of the page, so a page that was left in the
    /// meantime is not called.
    fn run<'a>(
        &'a self,
        call: BuiltinCall<'a>,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let failed = |error: PageError| failure(call.tool, &error);
            let session = page_session(host.session());
            let tab = self.sessions.tab(&session).await.map_err(failed)?;
            // The arguments were judged by the definition in the list, so the page must still have
            // this one.
            let tool = self.find(&session, call.tool);
            let now = tab.page_tools().await.map_err(failed)?;
            let Some(tool) = tool.filter(|tool| now.contains(tool)) else {
                let message =
                    "the page no longer offers this tool with this definition: list the tools again"
                        .to_owned();
                return Err(failed(PageError { code: PageErrorCode::NoElement, message }));
            };
            let (origin, time) = (call.origin.unwrap_or_default(), call.budget.remaining());
            let arguments: &Json = call.arguments;
            let value = tab.call_page_tool(&tool.name, arguments, origin, time).await;
            Ok(with_notices(outcome_of(value.map_err(failed)?), &tab, &call))
        })
    }
}

/// The tools of all sessions with their names in the list. One that is there already keeps its
/// name, so that a page of another session cannot rename it. Others get their own name, or the
/// first free number.
///
/// ```text
/// before: search (page of 1)      now: search (of 1), search with other parameters (of 2)
/// result: search for session 1, search_2 for session 2
/// ```
fn with_names(before: &[OfferedTool], now: Vec<(String, Vec<PageTool>)>) -> Vec<OfferedTool> {
    let mut named: Vec<OfferedTool> = Vec::new();
    let mut unnamed: Vec<(String, PageTool)> = Vec::new();
    for (session, tools) in now {
        for tool in tools.into_iter().take(MAX_PAGE_TOOLS) {
            match before.iter().find(|known| known.tool == tool) {
                Some(known) => {
                    let (name, session) = (known.name.clone(), session.clone());
                    named.push(OfferedTool { session, tool, name });
                }
                None => unnamed.push((session.clone(), tool)),
            }
        }
    }
    for (session, tool) in unnamed {
        let is_free =
            |name: &String| named.iter().all(|known| known.name != *name || known.tool == tool);
        let numbered = (2..).map(|number: u32| format!("{}_{number}", tool.name));
        let mut names = std::iter::once(tool.name.clone()).chain(numbered);
        let Some(name) = names.find(is_free) else { continue };
        named.push(OfferedTool { session, tool, name });
    }
    named
}

/// The list as MCP has it, each name once. Two sessions with the same tool share one entry. A tool
/// without a schema, or with one that is not an object, accepts any arguments.
fn definitions(offered: &[OfferedTool]) -> Vec<Json> {
    let mut tools: Vec<Json> = Vec::new();
    for OfferedTool { tool, name, .. } in offered {
        if tools.iter().any(|known| known["name"] == name.as_str()) {
            continue;
        }
        let description: String = tool.description.chars().take(MAX_DESCRIPTION).collect();
        let schema = tool.input_schema.clone().filter(Json::is_object);
        tools.push(json!({
            "name": name,
            "description": description,
            "inputSchema": schema.unwrap_or_else(|| json!({"type": "object"})),
        }));
    }
    tools
}

/// The result of a tool of a page: that of MCP, or any value. Pages are foreign, so of a result
/// only content, structured content and the error mark are taken over.
///
/// A value whose `content` is not a list of blocks is shown as JSON.
fn outcome_of(value: Json) -> Outcome {
    let value = match value {
        // Chromium returns what the tool returned as text.
        Json::String(text) => serde_json::from_str(&text).unwrap_or(Json::String(text)),
        value => value,
    };
    let is_block = |block: &Json| block["type"].is_string();
    match value["content"].as_array() {
        Some(blocks) if !blocks.is_empty() && blocks.iter().all(is_block) => Outcome {
            content: blocks.iter().cloned().map(without_meta).map(ResultContent::from).collect(),
            structured: value.get("structuredContent").cloned(),
            is_error: value["isError"] == true,
            ..Outcome::default()
        },
        _ => match value {
            Json::String(text) => Outcome::text(text),
            value => Outcome::json(value),
        },
    }
}

/// A block of a page without `_meta`, whose keys tell clients what servers vouch for. A block may
/// contain a resource, which has keys of its own.
fn without_meta(mut block: Json) -> Json {
    for part in ["", "/resource"] {
        if let Some(part) = block.pointer_mut(part).and_then(Json::as_object_mut) {
            part.remove("_meta");
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> PageTool {
        PageTool {
            origin: "https://shop.example".to_owned(),
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: None,
        }
    }

    #[test]
    fn two_definitions_of_one_name_are_two_entries_that_keep_their_names() {
        let names = |offered: &[OfferedTool]| -> Vec<String> {
            offered.iter().map(|it| format!("{} {}", it.session, it.name)).collect()
        };
        let page = |session: &str, tools: &[PageTool]| (session.to_owned(), tools.to_vec());
        let (one, other) = (tool("search", "one"), tool("search", "other"));
        let first = with_names(&[], vec![page("1", std::slice::from_ref(&one))]);
        assert_eq!(names(&first), ["1 search"]);
        let numbered = tool("search_2", "a name like ours");
        let all = vec![
            page("0", &[other.clone(), numbered]),
            page("1", std::slice::from_ref(&one)),
            page("2", std::slice::from_ref(&one)),
        ];
        let second = with_names(&first, all);
        assert_eq!(names(&second), ["1 search", "2 search", "0 search_2", "0 search_2_2"]);
        assert_eq!(definitions(&second).len(), 3);
        // The first session has gone elsewhere: the others notice nothing.
        let third = with_names(&second, vec![page("0", &[other]), page("2", &[one])]);
        assert_eq!(names(&third), ["0 search_2", "2 search"]);
    }

    #[test]
    fn a_result_of_a_page_has_no_meta() {
        let block = json!({"type": "resource", "_meta": {"a": 1},
            "resource": {"uri": "x:y", "text": "t", "_meta": {"b": 1}}});
        let outcome = outcome_of(json!({"content": [block], "_meta": {"c": 1}}));
        let shown = format!("{:?}", outcome);
        assert!(!shown.contains("_meta"), "{shown}");
    }
}
