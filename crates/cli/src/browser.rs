//! The browser on whose pages tools work, by the settings of the configuration.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use toolwright_browser::{
    Browser, BrowserSettings, PageError, PageTool, Tab, TabInfo, find_browser,
};
use toolwright_exec::browser::{PageAccess, PageProvider};
use toolwright_exec::{BoxFuture, Log};
use toolwright_workspace::BrowserConfig;

use crate::environment::variable;

/// The browser, and which sessions have a tab: the list of the tools of pages follows them.
pub(crate) struct BrowserSessions {
    browser: Browser,
    /// The current tab of each session.
    current: Mutex<HashMap<String, Tab>>,
    changes: watch::Sender<u64>,
}

/// A browser that is started on first use.
pub(crate) fn new_browser(config: &BrowserConfig, log: &Log) -> Arc<BrowserSessions> {
    let log = log.clone();
    let settings = browser_settings(config);
    let browser = Browser::new(settings, Arc::new(move |line: &str| log.line(line)));
    let (current, changes) = (Mutex::default(), watch::Sender::new(0));
    Arc::new(BrowserSessions { browser, current, changes })
}

/// Variables that the browser gets besides PATH. No secrets.
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
pub(crate) fn browser_settings(config: &BrowserConfig) -> BrowserSettings {
    BrowserSettings {
        program: config.program.clone(),
        start: config.start.clone(),
        origins: config.origins.clone(),
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
    /// Fails if there is no browser here.
    pub(crate) fn check_program(&self) -> Result<(), PageError> {
        find_browser(self.browser.settings()).map(drop)
    }

    /// Fails if a session has no page, and none is opened by itself.
    pub(crate) async fn check(&self, session: &str) -> Result<(), PageError> {
        self.browser.availability(session).await
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

    /// The tools that the current pages of all sessions offer. A page that cannot tell has none.
    pub(crate) async fn page_tools(&self) -> Vec<PageTool> {
        let tabs: Vec<Tab> = self.current().values().cloned().collect();
        let mut tools = Vec::new();
        for tab in tabs {
            tools.extend(tab.page_tools().await.unwrap_or_default());
        }
        tools
    }

    /// A number that changes whenever the tools of pages may have.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Reports that they may have changed.
    pub(crate) fn changed(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    fn current(&self) -> std::sync::MutexGuard<'_, HashMap<String, Tab>> {
        // Nothing panics while it holds the lock.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a tab the current one of its session, and passes on its changes from now on.
    fn follow(&self, session: &str, tab: &Tab) {
        let old = self.current().insert(session.to_owned(), tab.clone());
        if old.is_some_and(|old| old.number() == tab.number()) {
            return;
        }
        self.changed();
        let (mut of_tab, all) = (tab.page_tool_changes(), self.changes.clone());
        tokio::spawn(async move {
            while of_tab.changed().await.is_ok() {
                all.send_modify(|number| *number += 1);
            }
        });
    }
}

impl PageProvider for BrowserSessions {
    fn availability<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<(), PageError>> {
        self.browser.availability(session)
    }

    fn page<'a>(
        &'a self,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn PageAccess>, PageError>> {
        Box::pin(async move { Ok(Arc::new(self.tab(session).await?) as Arc<dyn PageAccess>) })
    }

    fn end_session<'a>(&'a self, session: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.current().remove(session);
            self.browser.end_session(session).await;
            self.changed();
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(Browser::close(&self.browser))
    }
}
