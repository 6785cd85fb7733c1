//! One tab of a session, and what can be done with its page.
//!
//! ```text
//! Tab ──▶ page: the PageTarget of this moment ──▶ Runtime.evaluate, Page.navigate, …
//!  │        replaced when it crashed, hung or was closed; the tab and its number stay
//!  └────▶ reports: notices for the caller, kept across such a replacement
//! ```
//!
//! A page that crashed or hangs is replaced by a new one. It opens the last address again if
//! something had worked there; a page that crashes while it is loaded stays closed, because opening
//! it again would crash it again.
//!
//! Every public function follows one pattern. `begin` marks the browser as used, waits for a page
//! that is being probed, and replaces one that is of no use. Then the command runs until the
//! caller's deadline. `explain` replaces the error if the browser itself has ended. Callers may
//! drop any of these futures: what has to be undone is in guards.
//!
//! Pages run hostile code and change at any time. So an origin that was checked before a call means
//! nothing during it: the broker compares the origin again inside of the page, in the same step as
//! the operation.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use serde_json::json;
use tokio::sync::{Mutex as AsyncMutex, OnceCell, watch};
use tokio::time::Instant;

use crate::browser::{SharedBrowser, UsageGuard};
use crate::operations::{address_on, is_own_origin};
use crate::origin_rules::shorten;
use crate::page_target::{BrokerCall, PageReports, PageTarget};
use crate::running::RunningBrowser;
use crate::{ElementScope, Json, Operation, OperationNeed, PageError, PageErrorCode};

/// Bytes of a screenshot.
const MAX_SCREENSHOT_BYTES: usize = 8 * 1024 * 1024;

/// How long questions without a deadline of the caller may take.
const SHORT_TIME: Duration = Duration::from_secs(15);

/// How long the last resources of a page are waited for.
const LOAD_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a page may take to make way for another once that one has answered. Longer only if
/// its scripts do not return.
const COMMIT_TIME: Duration = Duration::from_secs(3);

/// Tools of a page that are listed; more are left out.
const MOST_PAGE_TOOLS: usize = 200;

/// A tab. Clones are the same tab. It stays valid after its browser has ended; then everything
/// fails with `BrowserFailed`, and the session opens a new one.
#[derive(Clone)]
pub struct Tab {
    inner: Arc<TabInner>,
}

struct TabInner {
    parts: TabParts,
    /// Locked while a page is replaced, so that several calls that find it crashed make one new
    /// page.
    page: AsyncMutex<Arc<PageTarget>>,
    reports: Arc<PageReports>,
    /// Callers of a new tab wait for the start page together, and it is opened once.
    first_page_opened: OnceCell<()>,
}

/// What a tab is made of: enough to make its page again. All of it is fixed for the life of the
/// tab.
pub(crate) struct TabParts {
    pub(crate) shared: Arc<SharedBrowser>,
    pub(crate) running: Arc<RunningBrowser>,
    /// The cookies and storage that it uses; `None`: those of the profile.
    pub(crate) context: Option<String>,
    pub(crate) number: u32,
    /// The start page of the settings, or the page that the session had when the idle browser was
    /// ended.
    pub(crate) first_page: Option<String>,
}

/// What a list of tabs shows of one.
#[derive(Clone, Debug)]
pub struct TabInfo {
    /// Its number within the session, from 1.
    pub number: u32,
    /// The title of its page.
    pub title: String,
    /// The address of its page.
    pub url: String,
    /// Whether calls of the session use it.
    pub is_current: bool,
}

/// A tool that the page itself offers (WebMCP).
#[derive(Clone, Debug, PartialEq)]
pub struct PageTool {
    /// The origin of the page that offers it.
    pub origin: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The schema of its arguments, if it has one.
    pub input_schema: Option<Json>,
}

/// The markup of a page.
#[derive(Clone, Debug)]
pub struct PageMarkup {
    /// The address of the page.
    pub url: String,
    /// Its markup as it is now: scripts have run.
    pub html: String,
}

/// Why a page is opened anew.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recovery {
    /// To work on it: its address is opened again if it worked before.
    Reopen,
    /// To open something else.
    Blank,
}

impl Tab {
    /// Makes the tab with an empty page.
    ///
    /// # Errors
    /// If the browser has ended or does not answer in time.
    pub(crate) async fn open(parts: TabParts) -> Result<Tab, PageError> {
        let reports = Arc::new(PageReports::default());
        let context = parts.context.as_deref();
        let page = parts.running.new_page(context, Arc::clone(&reports)).await?;
        let first_page_opened = OnceCell::new();
        let page = AsyncMutex::new(page);
        Ok(Tab { inner: Arc::new(TabInner { parts, page, reports, first_page_opened }) })
    }

    /// Opens the start page, once; a failure becomes a notice.
    ///
    /// A notice and not an error, since the caller wanted a tab and not this page: a wrong start
    /// page must not make all tabs unusable.
    pub(crate) async fn open_first_page(&self, within: Duration) {
        let Some(address) = &self.inner.parts.first_page else { return };
        let open = || async {
            if let Err(error) = self.navigate(address, within).await {
                let address = shorten(address);
                self.inner.reports.notice(format!("cannot open `{address}`: {error}"));
            }
        };
        self.inner.first_page_opened.get_or_init(open).await;
    }

    /// Its number within the session, from 1.
    pub fn number(&self) -> u32 {
        self.inner.parts.number
    }

    /// The address of its page.
    ///
    /// Empty if the page is being replaced at this moment. Does not wait, because it is called
    /// under the lock of the whole browser.
    pub(crate) fn last_url(&self) -> String {
        self.inner.page.try_lock().map_or_else(|_| String::new(), |page| page.state().url)
    }

    /// Asks the browser and not the page, so a page that hangs does not hold up the list. The title
    /// is text of the page, and shortened.
    pub(crate) async fn info(&self, is_current: bool) -> TabInfo {
        let page = Arc::clone(&*self.inner.page.lock().await);
        let answer =
            self.inner.parts.running.call("Target.getTargetInfo", json!({ "targetId": page.id }));
        let answer = answer.await.unwrap_or_default();
        let title = answer.pointer("/targetInfo/title").and_then(Json::as_str).unwrap_or_default();
        TabInfo { number: self.number(), title: shorten(title), url: page.state().url, is_current }
    }

    /// The page notices it by an event, as when a person closes the window.
    pub(crate) async fn close(&self) {
        let page = self.inner.page.lock().await;
        self.inner.parts.running.post("Target.closeTarget", json!({ "targetId": page.id }));
    }

    /// The origin of its page, `null` for a page that has none.
    pub async fn origin(&self) -> Result<String, PageError> {
        let origin = self.ask("page.origin", &[], None, SHORT_TIME).await?;
        Ok(origin.as_str().unwrap_or("null").to_owned())
    }

    /// Does one operation of [`OPERATIONS`](crate::OPERATIONS), if the page is of this origin at
    /// the moment in which it is done. The caller has checked that it is granted.
    ///
    /// The clipboard needs a permission of Chromium besides the capability of the tool. The page
    /// itself is of the same origin and has the permission, too, for as long as the operation
    /// takes.
    ///
    /// # Errors
    /// `OtherOrigin` if the page has gone elsewhere, `BadOperation` for an unknown name,
    /// `Navigated` if the page went elsewhere in the middle, and those of the operation itself.
    pub async fn operate(
        &self,
        scope: ElementScope,
        operation: &str,
        arguments: &[Json],
        origin: &str,
        within: Duration,
    ) -> Result<Json, PageError> {
        let Some(known) = Operation::named(operation) else {
            let message = format!("there is no operation `{}`", shorten(operation));
            return Err(PageError::new(PageErrorCode::BadOperation, message));
        };
        // Chromium takes the first one for writing, too.
        let permissions: &'static [&'static str] = match operation {
            "clipboard.read" => &["clipboard-read"],
            "clipboard.write" => &["clipboard-read", "clipboard-write"],
            _ => return self.operate_on(scope, known, arguments, origin, within).await,
        };
        // The page has it, too, for this moment.
        let guard = PermissionGuard { tab: self, permissions, origin };
        guard.grant().await?;
        self.operate_on(scope, known, arguments, origin, within).await
    }

    /// For requests to another origin the address is judged here, before the page sends it: a page
    /// on the internet must not be used to reach this machine. The browser looks the name up once
    /// more, so a name server that changes its answer in between is not excluded by this check.
    async fn operate_on(
        &self,
        scope: ElementScope,
        operation: &Operation,
        arguments: &[Json],
        origin: &str,
        within: Duration,
    ) -> Result<Json, PageError> {
        let address = arguments.first().and_then(Json::as_str).unwrap_or_default();
        let is_own_address = matches!(operation.need, OperationNeed::ByAddress(..))
            && is_own_origin(address, origin);
        if !is_own_address
            && matches!(operation.need, OperationNeed::ByAddress(..))
            && let Some(url) = address_on(address, origin)
        {
            self.inner.parts.shared.rules.check_private(&url).await?;
        }
        let (_usage, page, deadline) = self.begin(Recovery::Reopen, within).await?;
        let operation = operation.name;
        let (origin, scope) = (Some(origin), Some(scope));
        let call = BrokerCall { operation, arguments, origin, is_own_address, scope };
        self.explain(page.ask_broker(&call, deadline).await)
    }

    /// Runs code in the page itself, as one of its own scripts, if the page is of this origin;
    /// returns the text that it returns. Nothing holds the code to anything: it can do what the
    /// page can, and the page can change what the code sees. That is what the capability
    /// `page:full` grants.
    ///
    /// If it does not end in time, or the caller gives up, the page is ended with it, because a
    /// script that loops cannot be interrupted.
    ///
    /// # Errors
    /// `OtherOrigin`, `Timeout`, and `Refused` with the text of an exception.
    pub async fn run_in_page(
        &self,
        code: &str,
        origin: &str,
        within: Duration,
    ) -> Result<String, PageError> {
        let (_usage, page, deadline) = self.begin(Recovery::Reopen, within).await?;
        let mut guard = UnfinishedCode(Some(&page));
        // No script of the page can change `location`.
        let own = Json::from(origin);
        let params = json!({
            "expression": format!("location.origin !== {own} ? false : {code}"),
            "awaitPromise": true,
            "returnByValue": true,
            "userGesture": true,
        });
        let answer = match page.call("Runtime.evaluate", params, deadline).await {
            Err(error) if error.code == PageErrorCode::Timeout => return Err(error),
            answer => answer,
        };
        guard.0 = None;
        let answer = self.explain(answer)?;
        match answer.pointer("/result/value") {
            Some(Json::String(text)) => Ok(text.clone()),
            Some(Json::Bool(false)) => {
                let message = format!("the page is not of {} any more", shorten(origin));
                Err(PageError::new(PageErrorCode::OtherOrigin, message))
            }
            _ => {
                let why = answer.pointer("/exceptionDetails/exception/description");
                let why = why.and_then(Json::as_str).unwrap_or("the page gave no answer");
                Err(PageError::new(PageErrorCode::Refused, shorten(why)))
            }
        }
    }

    /// Forgets the references to elements that operations of a call returned.
    ///
    /// Called at the end of each call. A failure does not matter: references also end with the
    /// document.
    pub async fn release(&self, scope: ElementScope) {
        let _ = self.ask("page.release", &[scope.0.into()], None, SHORT_TIME).await;
    }

    /// Opens an address and waits until it is loaded. Slow resources of a page that is there
    /// already are not an error.
    ///
    /// `check` judges the address before anything is sent; redirects and names that must be looked
    /// up are judged when the browser pauses their requests (`PageTarget::on_request`).
    ///
    /// # Errors
    /// `OriginRefused` for an address that may not be opened, `Refused` for a download or an
    /// address that cannot be reached, `Timeout`, `PageCrashed`.
    pub async fn navigate(&self, address: &str, within: Duration) -> Result<(), PageError> {
        let url = self.inner.parts.shared.rules.check(address)?;
        let (_usage, page, deadline) = self.begin(Recovery::Blank, within).await?;
        match self.navigate_page(&page, url.as_str(), Some(COMMIT_TIME), deadline).await? {
            Commit::Done => Ok(()),
            // Its scripts do not return. Another page is not held up by them.
            Commit::Missing => {
                let page = self.replace(&page, Recovery::Blank, deadline).await?;
                self.navigate_new_page(&page, url.as_str(), deadline).await
            }
        }
    }

    /// Navigates a page that has no scripts yet: what takes time is the machine.
    async fn navigate_new_page(
        &self,
        page: &Arc<PageTarget>,
        url: &str,
        deadline: Instant,
    ) -> Result<(), PageError> {
        match self.navigate_page(page, url, None, deadline).await? {
            Commit::Done => Ok(()),
            Commit::Missing => Err(not_in_time(url)),
        }
    }

    /// Navigates a page. `Missing` if no new document has arrived within `commit_time`: the scripts
    /// of the old one do not let go of it.
    async fn navigate_page(
        &self,
        page: &Arc<PageTarget>,
        url: &str,
        commit_time: Option<Duration>,
        deadline: Instant,
    ) -> Result<Commit, PageError> {
        page.forget_refusal();
        let moves = page.state().moves;
        let answer =
            self.explain(page.call("Page.navigate", json!({ "url": url }), deadline).await)?;
        if let Some(error) = answer.get("errorText").and_then(Json::as_str) {
            if let Some(refusal) = page.state().refusal {
                return Err(refusal);
            }
            let what = if answer.get("isDownload") == Some(&Json::Bool(true)) {
                "it is a download"
            } else {
                error
            };
            let message = format!("cannot open `{}`: {what}", shorten(url));
            return Err(PageError::new(PageErrorCode::Refused, message));
        }
        self.wait_for_load(page, moves, commit_time, deadline).await
    }

    /// Waits until a new document, or a new address of the same, is there.
    ///
    /// `moves` is the count from before the navigation. A page that loads for longer than
    /// `LOAD_TIMEOUT` is there all the same, and counts as done.
    async fn wait_for_load(
        &self,
        page: &Arc<PageTarget>,
        moves: u64,
        commit_time: Option<Duration>,
        deadline: Instant,
    ) -> Result<Commit, PageError> {
        let commit = commit_time.map_or(deadline, |time| deadline.min(Instant::now() + time));
        let moved = page.wait_until(commit, |state| {
            state.moves > moves || state.has_crashed || state.is_closed
        });
        let Some(state) = moved.await else { return Ok(Commit::Missing) };
        if state.moves > moves && !state.is_loaded {
            let loaded = deadline.min(Instant::now() + LOAD_TIMEOUT);
            page.wait_until(loaded, |it| it.is_loaded || it.has_crashed || it.is_closed).await;
        }
        let state = page.state();
        if state.has_crashed || state.is_closed {
            let message = format!("the page `{}` crashed", shorten(&state.url));
            return Err(PageError::new(PageErrorCode::PageCrashed, message));
        }
        Ok(Commit::Done)
    }

    /// The origin of the page before, to which [`Tab::back`] goes. The caller asks for it first, in
    /// order to check the right to open a page of that origin.
    ///
    /// # Errors
    /// `Refused` if there is no page before.
    pub async fn origin_before(&self, within: Duration) -> Result<String, PageError> {
        let (_usage, page, deadline) = self.begin(Recovery::Reopen, within).await?;
        Ok(self.entry_before(&page, deadline).await?.1)
    }

    /// The entry of the history before the current one, and its origin.
    async fn entry_before(
        &self,
        page: &Arc<PageTarget>,
        deadline: Instant,
    ) -> Result<(Json, String), PageError> {
        let history = page.call("Page.getNavigationHistory", json!({}), deadline).await;
        let history = self.explain(history)?;
        let at = history.get("currentIndex").and_then(Json::as_u64).unwrap_or(0);
        let before =
            at.checked_sub(1).and_then(|at| history.get("entries")?.get(usize::try_from(at).ok()?));
        let entry = before.cloned().unwrap_or_default();
        let url = entry.get("url").and_then(Json::as_str).unwrap_or_default();
        // Tabs begin empty.
        if url.is_empty() || url == "about:blank" {
            return Err(PageError::new(PageErrorCode::Refused, "there is no page before this one"));
        }
        let origin = url::Url::parse(url).map(|url| url.origin().ascii_serialization());
        Ok((entry, origin.unwrap_or_default()))
    }

    /// Goes back to the page before, if it is of this origin. The history may have changed since
    /// the caller asked for it, so the origin and the rules are checked once more.
    pub async fn back(&self, origin: &str, within: Duration) -> Result<(), PageError> {
        let (_usage, page, deadline) = self.begin(Recovery::Reopen, within).await?;
        let (entry, found) = self.entry_before(&page, deadline).await?;
        if found != origin {
            let message = format!("the page before this one is of `{}` now", shorten(&found));
            return Err(PageError::new(PageErrorCode::OtherOrigin, message));
        }
        let url = entry.get("url").and_then(Json::as_str).unwrap_or_default();
        self.inner.parts.shared.rules.check(url)?;
        page.forget_refusal();
        let moves = page.state().moves;
        let go = json!({ "entryId": entry.get("id") });
        self.explain(page.call("Page.navigateToHistoryEntry", go, deadline).await)?;
        let arrived = page.wait_until(deadline, |state| {
            state.moves > moves || state.refusal.is_some() || state.has_crashed
        });
        match arrived.await.map(|state| state.refusal) {
            Some(Some(refusal)) => Err(refusal),
            Some(None) => {
                self.wait_for_load(&page, moves, Some(COMMIT_TIME), deadline).await.map(drop)
            }
            None => Err(not_in_time(url)),
        }
    }

    /// Waits until an element matches, also across navigations.
    ///
    /// The page is asked again after each navigation, for what is left of the time.
    ///
    /// # Errors
    /// `Timeout` if nothing matched, and those of a selector that cannot be read.
    pub async fn wait_for(&self, selector: &str, within: Duration) -> Result<(), PageError> {
        let deadline = Instant::now() + within;
        let arguments = [Json::from(selector)];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // The page stops waiting a moment before we do, so that it does not seem to hang.
            let waited = left.saturating_sub(Duration::from_millis(100));
            let found = if left.is_zero() {
                Ok(Json::Null)
            } else {
                let (_usage, page, deadline) = self.begin(Recovery::Reopen, left).await?;
                page.wait_for_selector(&arguments, waited, deadline).await
            };
            match found {
                Ok(Json::Bool(true)) => return Ok(()),
                Ok(_) => {
                    let message = format!(
                        "no element matched `{}` within {} ms",
                        shorten(selector),
                        within.as_millis()
                    );
                    return Err(PageError::new(PageErrorCode::Timeout, message));
                }
                Err(error) if error.code == PageErrorCode::Navigated => {}
                Err(error) => return self.explain(Err(error)),
            }
        }
    }

    /// What is visible of the page, as PNG.
    pub async fn screenshot(&self, within: Duration) -> Result<Vec<u8>, PageError> {
        let (_usage, page, deadline) = self.begin(Recovery::Reopen, within).await?;
        let params = json!({ "format": "png", "optimizeForSpeed": true });
        let image = self.explain(page.call("Page.captureScreenshot", params, deadline).await)?;
        let data = image.get("data").and_then(Json::as_str).unwrap_or_default();
        let bytes = base64::engine::general_purpose::STANDARD.decode(data).unwrap_or_default();
        if bytes.is_empty() {
            return Err(PageError::new(PageErrorCode::Refused, "the browser took no picture"));
        }
        if bytes.len() > MAX_SCREENSHOT_BYTES {
            let message = format!("the picture has more than {MAX_SCREENSHOT_BYTES} bytes");
            return Err(PageError::new(PageErrorCode::TooLarge, message));
        }
        Ok(bytes)
    }

    /// The address and the markup of the page, if it is of this origin.
    pub async fn html(&self, origin: &str, within: Duration) -> Result<PageMarkup, PageError> {
        let markup = self.ask("page.html", &[], Some(origin), within).await?;
        let member =
            |name: &str| markup.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        Ok(PageMarkup { url: member("url"), html: member("html") })
    }

    /// What happened since the last call that callers may want to report: dialogs that were
    /// dismissed, popups and downloads that were refused, navigations that were refused. Words of
    /// pages of other origins than this one are kept for later.
    pub fn take_notices(&self, origin: &str) -> Vec<String> {
        self.inner.reports.take_notices(origin)
    }

    /// Waits until the page is closed, by a person or with the browser.
    pub async fn closed(&self) {
        let page = Arc::clone(&*self.inner.page.lock().await);
        // No deadline: a century.
        let never = Instant::now() + Duration::from_secs(3_000_000_000);
        page.wait_until(never, |state| state.is_closed).await;
    }

    /// The tools that the page itself offers.
    pub async fn page_tools(&self) -> Result<Vec<PageTool>, PageError> {
        let origin = self.origin().await?;
        let tools = self.ask("page.tools", &[], Some(&origin), SHORT_TIME).await?;
        let tools = tools.as_array().into_iter().flatten().take(MOST_PAGE_TOOLS);
        let text = |tool: &Json, name: &str| {
            tool.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
        };
        Ok(tools
            .map(|tool| PageTool {
                origin: origin.clone(),
                name: text(tool, "name"),
                description: text(tool, "description"),
                input_schema: tool.get("inputSchema").filter(|it| it.is_object()).cloned(),
            })
            .collect())
    }

    /// Calls a tool of the page, if the page is of this origin. The arguments are not validated
    /// here.
    pub async fn call_page_tool(
        &self,
        name: &str,
        arguments: &Json,
        origin: &str,
        within: Duration,
    ) -> Result<Json, PageError> {
        let arguments = [Json::from(name), arguments.clone()];
        let result = self.ask("page.callTool", &arguments, Some(origin), within).await?;
        // Chromium hands objects over as JSON text, and texts as they are.
        let parsed = result.as_str().and_then(|text| serde_json::from_str::<Json>(text).ok());
        Ok(parsed.filter(|value| value.is_object() || value.is_array()).unwrap_or(result))
    }

    /// Changes whenever the tools of the page may have changed: navigation included.
    pub fn page_tool_changes(&self) -> watch::Receiver<u64> {
        self.inner.reports.tool_changes.subscribe()
    }

    /// Asks the broker for something that is not an operation of tools.
    async fn ask(
        &self,
        operation: &str,
        arguments: &[Json],
        origin: Option<&str>,
        within: Duration,
    ) -> Result<Json, PageError> {
        let (_usage, page, deadline) = self.begin(Recovery::Reopen, within).await?;
        let call = BrokerCall { operation, arguments, origin, is_own_address: false, scope: None };
        self.explain(page.ask_broker(&call, deadline).await)
    }

    /// The page, ready for use.
    ///
    /// Until the returned guard is dropped, the browser does not count as idle.
    ///
    /// # Errors
    /// `Timeout` if the page is still being probed at the deadline, `BrowserFailed`.
    async fn begin(
        &self,
        recovery: Recovery,
        within: Duration,
    ) -> Result<(UsageGuard, Arc<PageTarget>, Instant), PageError> {
        let usage = self.inner.parts.shared.begin_use();
        let deadline = Instant::now() + within;
        let page = Arc::clone(&*self.inner.page.lock().await);
        let page = match page.wait_until(deadline, |state| !state.is_probing).await {
            Some(state) if !state.has_crashed && !state.is_closed => page,
            Some(_) => self.replace(&page, recovery, deadline).await?,
            None => return Err(not_in_time(&page.state().url)),
        };
        Ok((usage, page, deadline))
    }

    /// Replaces a page that is of no use any more.
    ///
    /// Does nothing if another call was faster. The old page is crashed rather than closed, since a
    /// renderer that loops keeps a processor busy until it is killed.
    async fn replace(
        &self,
        old: &Arc<PageTarget>,
        recovery: Recovery,
        deadline: Instant,
    ) -> Result<Arc<PageTarget>, PageError> {
        let parts = &self.inner.parts;
        let mut slot = self.inner.page.lock().await;
        if !Arc::ptr_eq(&*slot, old) {
            return Ok(Arc::clone(&*slot));
        }
        if parts.running.has_ended() {
            return Err(parts.running.ended_error());
        }
        let reports = Arc::clone(&self.inner.reports);
        let page = parts.running.new_page(parts.context.as_deref(), reports).await?;
        let mut unused = UnusedPage(Some(&page));
        // A renderer that loops would go on for a while after its page is closed.
        old.crash();
        let state = old.state();
        if recovery == Recovery::Reopen && state.has_worked && !state.is_closed {
            match self.navigate_new_page(&page, &state.url, deadline).await {
                // The next call tries again: the tab keeps the old page until then.
                Err(error) if error.code == PageErrorCode::Timeout => return Err(error),
                // The page stays empty, and the operation that follows reports that.
                _ => {}
            }
        }
        unused.0 = None;
        drop(unused);
        parts.running.post("Target.closeTarget", json!({ "targetId": old.id }));
        *slot = Arc::clone(&page);
        Ok(page)
    }

    /// Says why the browser ended where that is why a call failed.
    fn explain<T>(&self, result: Result<T, PageError>) -> Result<T, PageError> {
        let running = &self.inner.parts.running;
        result.map_err(|error| if running.has_ended() { running.ended_error() } else { error })
    }
}

/// Whether a new document arrived.
///
/// `Missing` is not an error yet: `Tab::navigate` tries again with a new page.
enum Commit {
    Done,
    Missing,
}

/// Ends a page whose code is still running when this is dropped: a loop ends in no other way.
struct UnfinishedCode<'a>(Option<&'a Arc<PageTarget>>);

impl Drop for UnfinishedCode<'_> {
    fn drop(&mut self) {
        if let Some(page) = self.0 {
            page.crash();
        }
    }
}

/// Closes a page that did not become that of a tab when this is dropped.
struct UnusedPage<'a>(Option<&'a Arc<PageTarget>>);

impl Drop for UnusedPage<'_> {
    fn drop(&mut self) {
        if let Some(page) = self.0 {
            page.connection.post(None, "Target.closeTarget", json!({ "targetId": page.id }));
        }
    }
}

/// Permissions that the page has while an operation runs; denied when dropped, also if the caller
/// gives up in between.
struct PermissionGuard<'a> {
    tab: &'a Tab,
    permissions: &'static [&'static str],
    origin: &'a str,
}

impl PermissionGuard<'_> {
    fn params(&self, permission: &str, setting: &str) -> Json {
        let mut params = json!({
            "permission": { "name": permission },
            "setting": setting,
            "origin": self.origin,
        });
        if let Some(context) = &self.tab.inner.parts.context {
            params["browserContextId"] = context.as_str().into();
        }
        params
    }

    async fn grant(&self) -> Result<(), PageError> {
        let running = &self.tab.inner.parts.running;
        for permission in self.permissions {
            running.call("Browser.setPermission", self.params(permission, "granted")).await?;
        }
        Ok(())
    }
}

impl Drop for PermissionGuard<'_> {
    fn drop(&mut self) {
        for permission in self.permissions {
            let params = self.params(permission, "denied");
            self.tab.inner.parts.running.post("Browser.setPermission", params);
        }
    }
}

fn not_in_time(address: &str) -> PageError {
    let message = format!("the page `{}` did not answer in time", shorten(address));
    PageError::new(PageErrorCode::Timeout, message)
}
