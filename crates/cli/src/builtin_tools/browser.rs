//! The toolset `browser`: it opens, lists and reads pages, in the tab of the session that calls,
//! which BTCP tools of the session work on, too.
//!
//! Opening a page needs `page:navigate` for the origin of its address, and reading one `dom:read`
//! for the origin of the page.
//!
//! ```text
//! call ─▶ page_origin: of which origin? ─▶ policy: is it granted? ─▶ run: is it still that origin?
//! ```
//!
//! Between the second and the third step a person may be asked, which takes minutes, and pages
//! redirect. So each function compares the origin again when it acts, and what reads a page
//! compares it a second time afterwards. A page that turns out to be of another origin is left
//! before anything of it is shown.
//!
//! The result of a tool that moves is always the list of tabs, never the page: its text needs
//! `dom:read`, which the call may not have. Dialogs and the like that happened meanwhile come as
//! warnings of the outcome.

use std::ffi::OsString;
use std::sync::Arc;

use base64::Engine as _;
use serde_json::{Value as Json, json};
use toolwright_browser::{PageError, PageErrorCode, Tab, TabInfo};
use toolwright_exec::browser::{failure_of_operation, no_origin, page_session};
use toolwright_exec::{
    BoxFuture, BuiltinCall, BuiltinToolset, CallArguments, Failure, Host, Outcome, ResultContent,
    code,
};
use toolwright_web::{MarkdownOptions, PageContent, convert};

use crate::browser::BrowserSessions;

/// Characters of the address of a tab that are shown. Queries can make addresses very long, and a
/// model pays for each character.
const MAX_URL: usize = 2_000;

/// The toolset `browser`.
///
/// Shares its sessions with `webmcp` and with the executor of BTCP tools.
pub(crate) struct BrowserToolset(pub(crate) Arc<BrowserSessions>);

/// What each tool of `browser` needs.
const NEEDS: &[(&str, &[&str])] = &[
    ("open", &["page:navigate"]),
    ("tabs", &["page:navigate"]),
    ("switch", &["page:navigate"]),
    ("close", &["page:navigate"]),
    ("back", &["page:navigate"]),
    ("wait", &["dom:read"]),
    ("screenshot", &["dom:read"]),
    ("read", &["dom:read"]),
];

/// The order of a call: `needs` and `page_origin`, then the policy, then `run`.
impl BuiltinToolset for BrowserToolset {
    fn name(&self) -> &'static str {
        "browser"
    }

    fn list<'a>(&'a self, _: &'a [(OsString, OsString)]) -> BoxFuture<'a, Result<Json, Failure>> {
        Box::pin(std::future::ready(Ok(json!({ "tools": definitions() }))))
    }

    /// A tool that is not in the table needs `page:navigate`.
    fn needs(&self, tool: &str) -> &'static [&'static str] {
        let own = NEEDS.iter().find(|(name, _)| *name == tool);
        own.map_or(&["page:navigate"] as &'static [&'static str], |(_, needs)| *needs)
    }

    /// `None` means that the call is about no page. The other tools fail here if no page is open,
    /// before anybody is asked for a grant.
    fn page_origin<'a>(
        &'a self,
        tool: &'a str,
        arguments: &'a CallArguments,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async move {
            match tool {
                // The page that will be there, not the one that is.
                "open" => {
                    let url = arguments["url"].as_str().unwrap_or_default();
                    self.0.check_program().map_err(|error| failure(tool, &error))?;
                    let origin = origin_of(url)?;
                    // Nobody is asked about what is refused anyway.
                    let checked = self.0.check_address(url).await;
                    checked.map_err(|error| failure(tool, &error))?;
                    Ok(Some(origin))
                }
                "back" => {
                    let session = page_session(host.session());
                    let origin = self.0.origin_before(&session).await;
                    origin.map(Some).map_err(|error| failure(tool, &error))
                }
                // They show of pages only what the session was allowed to see of them.
                "tabs" | "switch" | "close" => Ok(None),
                _ => current_origin(&self.0, tool, host).await,
            }
        })
    }

    /// `call.origin` is what `page_origin` returned and the policy granted. `read` has a failure of
    /// its own, as its conversion can fail; all others fail with a `PageError`.
    fn run<'a>(
        &'a self,
        call: BuiltinCall<'a>,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let session = page_session(host.session());
            let tool = call.tool;
            // From now on `tabs` may show titles and addresses of this origin to the session.
            if let Some(origin) = call.origin {
                self.0.note_allowed(&session, origin);
            }
            let done = match tool {
                "open" => self.open(&call, &session).await,
                "tabs" => Ok(self.tabs(&session).await),
                "switch" => self.switch(&call, &session).await,
                "close" => self.close_tab(&call, &session).await,
                "back" => self.back(&call, &session).await,
                "wait" => self.wait(&call, &session).await,
                "screenshot" => self.screenshot(&call, &session).await,
                "read" => return self.read(&call, &session).await,
                _ => {
                    let message = format!("there is no tool `{tool}` of the browser");
                    return Err(Failure::new(&code::NOT_RUNNABLE, message));
                }
            };
            done.map_err(|error| failure(tool, &error))
        })
    }
}

impl BrowserToolset {
    /// Navigates the current tab, or a new one. The list of tabs is the result, since the page
    /// itself needs another right.
    ///
    /// A page that cannot be loaded is a failure of the call; the tab stays.
    async fn open(&self, call: &BuiltinCall<'_>, session: &str) -> Result<Outcome, PageError> {
        let tab = match call.arguments["new_tab"] == true {
            true => self.0.open_tab(session).await?,
            false => self.0.tab(session).await?,
        };
        let url = call.arguments["url"].as_str().unwrap_or_default();
        tab.navigate(url, call.budget.remaining()).await?;
        self.0.changed();
        self.leave_other_origin(&tab, call).await?;
        Ok(with_notices(self.tabs(session).await, &tab, call))
    }

    /// Leaves a page of another origin than the one that was granted: a redirect may lead there.
    /// The tab shows `about:blank` then, so that a later call cannot read the page by accident.
    async fn leave_other_origin(&self, tab: &Tab, call: &BuiltinCall<'_>) -> Result<(), PageError> {
        if let Err(error) = check_origin(tab, call).await {
            tab.navigate("about:blank", call.budget.remaining()).await?;
            return Err(error);
        }
        Ok(())
    }

    /// Titles and addresses are content of pages, so they are shown only for origins for which this
    /// session had a call allowed; of other tabs only the origin is shown.
    ///
    /// ```text
    /// allowed for this origin   {tab, title, url, current}
    /// not allowed               {tab, origin, current}
    /// ```
    async fn tabs(&self, session: &str) -> Outcome {
        let tabs = self.0.tabs(session).await;
        let tabs: Vec<Json> = tabs
            .iter()
            .map(|tab| {
                let TabInfo { number, title, url, is_current } = tab;
                let origin = url.parse::<url::Url>().map(|url| url.origin());
                let origin =
                    origin.map_or_else(|_| "null".to_owned(), |it| it.ascii_serialization());
                // Titles and addresses are content of the page.
                if self.0.is_allowed(session, &origin) || url == "about:blank" {
                    let url: String = url.chars().take(MAX_URL).collect();
                    json!({"tab": number, "title": title, "url": url, "current": is_current})
                } else {
                    json!({"tab": number, "origin": origin, "current": is_current})
                }
            })
            .collect();
        Outcome::json(json!({ "tabs": tabs }))
    }

    /// Needs no grant for an origin: what the list shows of the new tab depends on its own.
    async fn switch(&self, call: &BuiltinCall<'_>, session: &str) -> Result<Outcome, PageError> {
        self.0.switch_tab(session, number(call)).await?;
        Ok(self.tabs(session).await)
    }

    /// Fails if the session has no tab with this number, so that an agent sees its mistake.
    async fn close_tab(&self, call: &BuiltinCall<'_>, session: &str) -> Result<Outcome, PageError> {
        self.0.close_tab(session, number(call)).await?;
        Ok(self.tabs(session).await)
    }

    /// `Tab::back` gets the granted origin, because the page before this one may have changed since
    /// the question.
    async fn back(&self, call: &BuiltinCall<'_>, session: &str) -> Result<Outcome, PageError> {
        let tab = self.0.tab(session).await?;
        tab.back(call.origin.unwrap_or_default(), call.budget.remaining()).await?;
        self.0.changed();
        self.leave_other_origin(&tab, call).await?;
        Ok(with_notices(self.tabs(session).await, &tab, call))
    }

    /// The result is only `found`. The origin is compared before and after, because the page may
    /// navigate while the call waits; the time limit is that of the call.
    async fn wait(&self, call: &BuiltinCall<'_>, session: &str) -> Result<Outcome, PageError> {
        let tab = self.0.tab(session).await?;
        let selector = call.arguments["selector"].as_str().unwrap_or_default();
        check_origin(&tab, call).await?;
        tab.wait_for(selector, call.budget.remaining()).await?;
        check_origin(&tab, call).await?;
        Ok(with_notices(Outcome::json(json!({ "found": true })), &tab, call))
    }

    /// The second check is necessary: a page may navigate between the first one and the picture.
    async fn screenshot(
        &self,
        call: &BuiltinCall<'_>,
        session: &str,
    ) -> Result<Outcome, PageError> {
        let tab = self.0.tab(session).await?;
        check_origin(&tab, call).await?;
        let png = tab.screenshot(call.budget.remaining()).await?;
        // It may have gone elsewhere while the picture was taken.
        check_origin(&tab, call).await?;
        let data = base64::engine::general_purpose::STANDARD.encode(png);
        let image = json!({"type": "image", "data": data, "mimeType": "image/png"});
        Ok(Outcome { content: vec![ResultContent::from(image)], ..Outcome::default() })
    }

    /// `Tab::html` compares the origin inside of the page, so no second check is needed. The
    /// conversion is done on a blocking thread of the runtime.
    ///
    /// # Errors
    /// `TOOL_FAILED` if the page cannot be converted, and the failures of `PageError`.
    async fn read(&self, call: &BuiltinCall<'_>, session: &str) -> Result<Outcome, Failure> {
        let failed = |error: PageError| failure("read", &error);
        let tab = self.0.tab(session).await.map_err(failed)?;
        // The origin that was granted.
        let origin = call.origin.unwrap_or_default();
        let page = tab.html(origin, call.budget.remaining()).await.map_err(failed)?;
        let content = match call.arguments["content"].as_str() {
            Some("main") => PageContent::Main,
            _ => PageContent::Whole,
        };
        let options = MarkdownOptions { content, ..MarkdownOptions::default() };
        // It takes time in proportion to the page.
        let converted = tokio::task::spawn_blocking(move || {
            let base = page.url.parse().ok();
            convert(page.html, base.as_ref(), &options)
        });
        match converted.await {
            Ok(Ok(page)) => Ok(Outcome::text(page.markdown)),
            Ok(Err(error)) => Err(Failure::new(&code::TOOL_FAILED, format!("`read`: {error}"))),
            Err(_) => Err(Failure::new(&code::TOOL_FAILED, "`read` ended without a result")),
        }
    }
}

/// The origin of the page that is open; a failure if none is.
///
/// `null` is the origin of pages such as `about:blank` or a `data:` address, for which no grant can
/// be given. Called by the page tools of `webmcp`, too.
pub(super) async fn current_origin(
    sessions: &BrowserSessions,
    tool: &str,
    host: &dyn Host,
) -> Result<Option<String>, Failure> {
    let session = page_session(host.session());
    let failed = |error: PageError| failure(tool, &error);
    sessions.check(&session).await.map_err(failed)?;
    let origin = sessions.tab(&session).await.map_err(failed)?.origin().await.map_err(failed)?;
    match origin.as_str() {
        "null" => Err(no_origin(tool)),
        _ => Ok(Some(origin)),
    }
}

/// The origin of an address that may be opened.
///
/// Decided by the text alone. Which hosts may be opened is decided by `check_address`.
fn origin_of(address: &str) -> Result<String, Failure> {
    let refused = || {
        let message = format!("`{address}` is not an address of `http` or `https`");
        Failure::new(&code::INPUT_INVALID, message)
    };
    let url: url::Url = address.parse().map_err(|_| refused())?;
    match url.scheme() {
        "http" | "https" => Ok(url.origin().ascii_serialization()),
        _ => Err(refused()),
    }
}

/// Fails if the page is not of the origin that was granted: the agent may have switched tabs while
/// a person was asked, and a redirect leads anywhere.
async fn check_origin(tab: &Tab, call: &BuiltinCall<'_>) -> Result<(), PageError> {
    let Some(granted) = call.origin else { return Ok(()) };
    let origin = tab.origin().await?;
    if origin == granted {
        return Ok(());
    }
    let message = format!(
        "the page is of {origin} and not of {granted}, for which this call was allowed; for that \
         page, make another call"
    );
    Err(PageError { code: PageErrorCode::OtherOrigin, message })
}

/// The argument `tab`. Whole numbers may be written as `2.0`; the schema has refused everything
/// else. A number that no tab has is refused by the browser.
fn number(call: &BuiltinCall<'_>) -> u32 {
    let number = call.arguments["tab"].as_f64().unwrap_or_default();
    number as u32
}

/// What happened to the page meanwhile, such as a dialog that was dismissed, as remarks. Not what
/// pages said that are of another origin than the one that the call was allowed for.
pub(super) fn with_notices(mut outcome: Outcome, tab: &Tab, call: &BuiltinCall<'_>) -> Outcome {
    outcome.warnings.extend(tab.take_notices(call.origin.unwrap_or_default()));
    outcome
}

/// The failure of a call, with the remedy where the configuration decides.
pub(super) fn failure(tool: &str, error: &PageError) -> Failure {
    let failure = failure_of_operation(error.code, format!("`{tool}`: {error}"));
    match error.code {
        PageErrorCode::OriginRefused => failure.suggest("allow it in `origins` of `[browser]`"),
        _ => failure,
    }
}

/// The tools of `browser`, as MCP lists them. They pass the gate like the list of any server.
/// Opening is not `readOnlyHint`, because a GET may have effects. All schemas are closed: an
/// argument that a model invents is refused and not ignored.
fn definitions() -> Vec<Json> {
    let tool = |name: &str, description: &str, properties: Json, required: &[&str], reads: bool| {
        json!({
            "name": name,
            "description": description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": reads, "openWorldHint": true },
        })
    };
    let tab = json!({"type": "integer", "minimum": 1, "description": "The number of the tab"});
    let url = json!({
        "type": "string", "format": "uri", "description": "The address of the page, http or https",
    });
    let new_tab = json!({
        "type": "boolean", "default": false, "description": "Whether to open it in another tab",
    });
    let selector = json!({"type": "string", "minLength": 1, "description": "A CSS selector"});
    let content = json!({
        "enum": ["whole", "main"], "default": "whole",
        "description": "The whole page, or only its article",
    });
    vec![
        tool(
            "open",
            "Opens a page in the browser and waits until it is loaded. Returns the open tabs.",
            json!({ "url": url, "new_tab": new_tab }),
            &["url"],
            false,
        ),
        tool("tabs", "Lists the open tabs with titles and addresses.", json!({}), &[], true),
        tool(
            "switch",
            "Makes another tab the current one.",
            json!({ "tab": tab }),
            &["tab"],
            false,
        ),
        tool("close", "Closes a tab of the browser.", json!({ "tab": tab }), &["tab"], false),
        tool("back", "Goes back to the page before this one.", json!({}), &[], false),
        tool(
            "wait",
            "Waits until an element of the page matches a CSS selector.",
            json!({ "selector": selector }),
            &["selector"],
            true,
        ),
        tool("screenshot", "Returns an image of what the page shows.", json!({}), &[], true),
        tool(
            "read",
            "Returns the current page as Markdown, as it is after its scripts have run.",
            json!({ "content": content }),
            &[],
            true,
        ),
    ]
}
