//! The browser of this process, made from `[browser]`. The toolsets `browser` and `webmcp` and BTCP
//! tools share it; each session has a current tab.
//!
//! It adds two things to `toolwright_browser::Browser`: which tab each session works on, in order
//! to list the tools of its page; and for which origins a session had calls allowed, in order to
//! decide which addresses it may see. Both end with the session.
//!
//! ```text
//! browser, webmcp ─┐
//! BTCP bodies ─────┴─▶ BrowserSessions ─▶ Browser: session ─▶ tabs
//!                        ├─ current: session ─▶ Tab, for page_tools
//!                        ├─ allowed: session ─▶ origins, for titles and addresses in `tabs`
//!                        └─ changes: the catalog lists the tools of pages again
//! ```

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use toolwright_browser::{
    Browser, BrowserSettings, PageError, PageTool, Tab, TabInfo, WorkerCode, WorkerHost,
    find_browser,
};
use toolwright_exec::browser::{PageAccess, PageProvider};
use toolwright_exec::{BoxFuture, Log};
use toolwright_workspace::BrowserConfig;

use crate::environment::variable;

/// The browser, and which sessions have a tab: the list of the tools of pages follows them.
/// Sessions are named by `page_session`; calls without a session share one name.
pub(crate) struct BrowserSessions {
    browser: Browser,
    /// The current tab of each session, and the task that passes on its changes.
    current: Mutex<HashMap<String, (Tab, AbortHandle)>>,
    /// The origins that calls of each session were allowed for.
    allowed: Mutex<HashMap<String, HashSet<String>>>,
    /// Raised by every change of a page, of any session. Only that it changes counts, so the number
    /// may skip values.
    changes: watch::Sender<u64>,
}

/// A browser that is started on first use. Its messages go to `log`, a line each.
pub(crate) fn new_browser(config: &BrowserConfig, log: &Log) -> Arc<BrowserSessions> {
    let log = log.clone();
    let settings = browser_settings(config);
    let browser = Browser::new(settings, Arc::new(move |line: &str| log.line(line)));
    Arc::new(BrowserSessions {
        browser,
        current: Mutex::default(),
        allowed: Mutex::default(),
        changes: watch::Sender::new(0),
    })
}

/// How long a page may take to tell its history. It is asked for before a person is, so that the
/// question names the right origin.
const HISTORY_TIME: Duration = Duration::from_secs(5);

/// Variables that the browser gets besides PATH. No secrets: pages that take the browser over could
/// read them. The variables of the display are for a browser with a window; those of proxies are
/// for networks that are reached only through one.
const PASSED_ON: [&str; 11] = [
    "LANG",
    "LC_ALL",
    "TZ",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

/// What the browser is started with.
///
/// `is_private` refuses addresses of this machine and its network; `toolwright browser` and
/// `md --browser` take it out for a person who named the page.
pub(crate) fn browser_settings(config: &BrowserConfig) -> BrowserSettings {
    BrowserSettings {
        program: config.program.clone(),
        start: config.start.clone(),
        origins: config.origins.clone(),
        is_private: Some(toolwright_web::is_special),
        headless: config.headless,
        profile: config.profile.clone(),
        idle: config.idle,
        memory: config.memory,
        path: std::env::split_paths(&variable("PATH").unwrap_or_default()).collect(),
        environment: PASSED_ON
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), variable(name)?)))
            .collect(),
    }
}

impl BrowserSessions {
    /// Fails if there is no browser here. Called before the policy, so that nobody is asked for a
    /// grant that cannot be used.
    pub(crate) fn check_program(&self) -> Result<(), PageError> {
        find_browser(self.browser.settings()).map(drop)
    }

    /// Fails if a page of this address may not be opened. For callers that refuse before they ask a
    /// person; opening the page checks again.
    pub(crate) async fn check_address(&self, address: &str) -> Result<(), PageError> {
        self.browser.check_address(address).await
    }

    /// The origin of the page to which `back` would go.
    pub(crate) async fn origin_before(&self, session: &str) -> Result<String, PageError> {
        self.check(session).await?;
        self.tab(session).await?.origin_before(HISTORY_TIME).await
    }

    /// Notes that a call of a session was allowed for an origin. Called when a granted call begins.
    pub(crate) fn note_allowed(&self, session: &str, origin: &str) {
        self.allowed().entry(session.to_owned()).or_default().insert(origin.to_owned());
    }

    /// Whether a call of a session was allowed for an origin.
    pub(crate) fn is_allowed(&self, session: &str, origin: &str) -> bool {
        self.allowed().get(session).is_some_and(|origins| origins.contains(origin))
    }

    fn allowed(&self) -> std::sync::MutexGuard<'_, HashMap<String, HashSet<String>>> {
        // Nothing panics while it holds the lock.
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if a session has no page, and none is opened by itself.
    pub(crate) async fn check(&self, session: &str) -> Result<(), PageError> {
        self.browser.check_available(session).await
    }

    /// The current tab of a session, opened if it has none.
    pub(crate) async fn tab(&self, session: &str) -> Result<Tab, PageError> {
        let tab = self.browser.tab(session).await?;
        self.follow(session, &tab);
        Ok(tab)
    }

    /// Another tab of a session.
    pub(crate) async fn open_tab(&self, session: &str) -> Result<Tab, PageError> {
        let tab = self.browser.open_tab(session).await?;
        self.follow(session, &tab);
        Ok(tab)
    }

    pub(crate) async fn switch_tab(&self, session: &str, number: u32) -> Result<(), PageError> {
        let tab = self.browser.switch_tab(session, number).await?;
        self.follow(session, &tab);
        Ok(())
    }

    pub(crate) async fn close_tab(&self, session: &str, number: u32) -> Result<(), PageError> {
        self.browser.close_tab(session, number).await?;
        self.changed();
        Ok(())
    }

    pub(crate) async fn tabs(&self, session: &str) -> Vec<TabInfo> {
        self.browser.tabs(session).await
    }

    /// The tools that the current page of each session offers. A page that cannot tell has none.
    ///
    /// The lock is not held while pages are asked, which may take long. Sorted by session, so that
    /// tools of the same name get the same numbers each time.
    pub(crate) async fn page_tools(&self) -> Vec<(String, Vec<PageTool>)> {
        let mut tabs: Vec<(String, Tab)> = {
            let current = self.current();
            current.iter().map(|(session, (tab, _))| (session.clone(), tab.clone())).collect()
        };
        tabs.sort_by(|one, other| one.0.cmp(&other.0));
        let mut tools = Vec::new();
        for (session, tab) in tabs {
            tools.push((session, tab.page_tools().await.unwrap_or_default()));
        }
        tools
    }

    /// A number that changes whenever the tools of pages may have.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Reports that they may have changed.
    ///
    /// Called after every operation that changes which page is the current one.
    pub(crate) fn changed(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    fn current(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Tab, AbortHandle)>> {
        // Nothing panics while it holds the lock.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a tab the current one of its session, and passes on its changes from now on.
    ///
    /// One task per session passes them on: it ends with the tab, or when another tab becomes the
    /// current one, so that switching to and fro does not leave a task each time.
    fn follow(&self, session: &str, tab: &Tab) {
        let mut current = self.current();
        if let Some((old, passing_on)) = current.get_mut(session)
            && old.number() == tab.number()
            && !passing_on.is_finished()
        {
            *old = tab.clone();
            return;
        }
        let (mut of_tab, all) = (tab.page_tool_changes(), self.changes.clone());
        let passing_on = tokio::spawn(async move {
            while of_tab.changed().await.is_ok() {
                all.send_modify(|number| *number += 1);
            }
        });
        let now = (tab.clone(), passing_on.abort_handle());
        if let Some((_, old)) = current.insert(session.to_owned(), now) {
            old.abort();
        }
        drop(current);
        self.changed();
    }
}

/// For BTCP tools. `end_session` forgets which origins were allowed, so a client that connects
/// again has to be granted them again.
impl PageProvider for BrowserSessions {
    fn check_available<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<(), PageError>> {
        self.browser.check_available(session)
    }

    fn page<'a>(
        &'a self,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn PageAccess>, PageError>> {
        Box::pin(async move { Ok(Arc::new(self.tab(session).await?) as Arc<dyn PageAccess>) })
    }

    fn run_worker<'a>(
        &'a self,
        code: WorkerCode<'a>,
        host: &'a dyn WorkerHost,
        within: Duration,
    ) -> BoxFuture<'a, Result<String, PageError>> {
        Box::pin(self.browser.run_worker(code, host, within))
    }

    fn end_session<'a>(&'a self, session: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Some((_, passing_on)) = self.current().remove(session) {
                passing_on.abort();
            }
            self.allowed().remove(session);
            self.browser.end_session(session).await;
            self.changed();
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(Browser::close(&self.browser))
    }
}
