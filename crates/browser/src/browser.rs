//! The browser as a whole: started on first use, shared by all sessions, restarted after a crash.
//!
//! Each session has its own tabs. Without a configured profile it also has its own cookies and
//! storage; with one, all sessions use what the person is signed in to. Two tasks end a browser
//! that nobody used for a while, that takes too much memory, or that does not answer any more.
//!
//! ```text
//! Browser ─▶ SharedBrowser ─┬─ state: the running browser, the tabs of each session   (async lock)
//!                           ├─ running: the same once more, for `drop`                (plain lock)
//!                           └─ usage: calls that run, when the last one ended
//! watch (a task per running browser) ─▶ memory, idle time ─▶ ends it
//! ```
//!
//! The async lock on `state` is held while a browser starts, so ten calls at once start one
//! browser. It is not held while an operation runs on a page.
//!
//! A browser may end at any time. Sessions and their settings survive that, tabs do not: the next
//! call of a session opens a new one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::Mutex as AsyncMutex;

use crate::body_worker::StartedWorker;
use crate::origin_rules::OriginRules;
use crate::program::find_browser;
use crate::running::{COMMAND_TIMEOUT, RunningBrowser};
use crate::tab::TabParts;
use crate::{BrowserSettings, PageError, PageErrorCode, Tab, TabInfo, WorkerCode, WorkerHost};

/// Tabs of one session. Each may have a process of its own.
const MAX_TABS: usize = 20;

/// How often memory and idle time are looked at.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);

/// How often the browser is asked whether it answers, while calls wait for it.
const ANSWER_INTERVAL: Duration = Duration::from_secs(1);

/// How long the page that new tabs open may take.
const START_PAGE_TIME: Duration = Duration::from_secs(15);

/// Receives lines for the log.
pub(crate) type BrowserLog = Arc<dyn Fn(&str) + Send + Sync>;

/// The browser. Nothing is started before the first tab is needed. Dropping it ends it, within
/// milliseconds and without saving what a page was about to store; `close` lets it finish.
pub struct Browser {
    shared: Arc<SharedBrowser>,
}

/// What tabs, the watching task and the browser itself share.
pub(crate) struct SharedBrowser {
    settings: BrowserSettings,
    log: BrowserLog,
    pub(crate) rules: Arc<OriginRules>,
    state: AsyncMutex<BrowserState>,
    /// The same as in `state`, for `drop`, which cannot wait.
    running: Mutex<Option<Arc<RunningBrowser>>>,
    usage: BrowserUsage,
}

/// The calls that run, and when the last one ended. The browser is idle only while `calls` is 0.
#[derive(Default)]
struct BrowserUsage {
    calls: AtomicUsize,
    last: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct BrowserState {
    /// May have ended; `ensure_running` finds out.
    running: Option<Arc<RunningBrowser>>,
    /// By the name that `exec` gives its sessions. They stay when the browser ends.
    sessions: HashMap<String, SessionTabs>,
}

/// The tabs of one session.
#[derive(Default)]
struct SessionTabs {
    /// Its own cookies and storage, if it has its own.
    context: Option<String>,
    tabs: Vec<Tab>,
    /// The number of the current tab; 0 for none.
    current: u32,
    /// Numbers are not used again, so a number never means another tab than the caller has seen.
    last_number: u32,
    /// The page to return to after the browser was ended because nobody used it.
    restored: Option<String>,
}

/// One use of the browser; while there is one, it is not idle.
pub(crate) struct UsageGuard(Arc<SharedBrowser>);

impl Drop for UsageGuard {
    fn drop(&mut self) {
        let usage = &self.0.usage;
        *usage.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        usage.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Browser {
    /// A browser with these settings; not started yet. `log` receives lines for the log.
    pub fn new(settings: BrowserSettings, log: Arc<dyn Fn(&str) + Send + Sync>) -> Browser {
        let rules = Arc::new(OriginRules::new(&settings));
        let shared = SharedBrowser {
            settings,
            log,
            rules,
            state: AsyncMutex::default(),
            running: Mutex::default(),
            usage: BrowserUsage::default(),
        };
        Browser { shared: Arc::new(shared) }
    }

    /// The settings.
    pub fn settings(&self) -> &BrowserSettings {
        &self.shared.settings
    }

    /// The program that is started.
    ///
    /// # Errors
    /// If there is none; the message says how to get one.
    pub fn program(&self) -> Result<PathBuf, PageError> {
        find_browser(&self.shared.settings)
    }

    /// Fails if a page of this address may not be opened.
    ///
    /// For callers that want to refuse before they ask a person. Opening a page checks again.
    pub async fn check_address(&self, address: &str) -> Result<(), PageError> {
        let url = self.shared.rules.check(address)?;
        self.shared.rules.check_private(&url).await
    }

    /// The current tab of a session, opened if it has none. Starts the browser if necessary.
    pub async fn tab(&self, session: &str) -> Result<Tab, PageError> {
        let _usage = self.shared.begin_use();
        let tab = self.obtain_tab(session, false).await?;
        tab.open_first_page(START_PAGE_TIME).await;
        Ok(tab)
    }

    /// Whether there is a browser; it may have ended.
    async fn is_started(&self) -> bool {
        self.shared.state.lock().await.running.is_some()
    }

    /// The current tab of a session, or a new one. Tries twice if the browser turns out to have
    /// ended: a process that dies is noticed a moment later.
    async fn obtain_tab(&self, session: &str, is_new: bool) -> Result<Tab, PageError> {
        let was_started = self.is_started().await;
        match self.obtain_tab_once(session, is_new).await {
            Err(error) if was_started && error.code == PageErrorCode::BrowserFailed => {
                self.obtain_tab_once(session, is_new).await
            }
            obtained => obtained,
        }
    }

    /// Holds the lock of the state throughout, also while a browser is started.
    async fn obtain_tab_once(&self, session: &str, is_new: bool) -> Result<Tab, PageError> {
        let mut state = self.shared.state.lock().await;
        let running = self.shared.ensure_running(&mut state).await?;
        let tabs = state.sessions.entry(session.to_owned()).or_default();
        match tabs.current_tab().filter(|_| !is_new) {
            Some(tab) => Ok(tab),
            None => self.shared.add_tab(&running, tabs).await,
        }
    }

    /// Runs code in a worker without network, which only the host gives anything. Starts the
    /// browser if necessary. Dropping the future ends the worker.
    ///
    /// Sessions and origins mean nothing to a worker: it has a context of its own, which ends with
    /// it.
    ///
    /// # Errors
    /// `Timeout` at `within`, `PageCrashed` if the worker was ended for its memory,
    /// `BrowserFailed`.
    pub async fn run_worker(
        &self,
        code: WorkerCode<'_>,
        host: &dyn WorkerHost,
        within: Duration,
    ) -> Result<String, PageError> {
        let _usage = self.shared.begin_use();
        let deadline = Instant::now() + within;
        let was_started = self.is_started().await;
        let worker = match self.start_worker(deadline).await {
            // As for tabs.
            Err(error) if was_started && error.code == PageErrorCode::BrowserFailed => {
                self.start_worker(deadline).await
            }
            started => started,
        };
        worker?.run(code, host, deadline.into()).await
    }

    async fn start_worker(&self, deadline: Instant) -> Result<StartedWorker, PageError> {
        let mut state = self.shared.state.lock().await;
        let running = self.shared.ensure_running(&mut state).await?;
        drop(state);
        StartedWorker::start(running, deadline.into()).await
    }

    /// The tabs of a session. Does not start the browser.
    ///
    /// The lock is given back before pages are asked.
    pub async fn tabs(&self, session: &str) -> Vec<TabInfo> {
        let state = self.shared.state.lock().await;
        let Some(tabs) = state.sessions.get(session) else { return Vec::new() };
        let (all, current) = (tabs.tabs.clone(), tabs.current);
        // The page that is opened again when the next call starts the browser.
        let restored = tabs.restored.clone().map(|url| TabInfo {
            number: tabs.last_number + 1,
            title: String::new(),
            url,
            is_current: true,
        });
        drop(state);
        let mut infos = Vec::from_iter(restored);
        for tab in all {
            infos.push(tab.info(tab.number() == current).await);
        }
        infos
    }

    /// Opens another tab of a session and makes it the current one.
    pub async fn open_tab(&self, session: &str) -> Result<Tab, PageError> {
        let _usage = self.shared.begin_use();
        let tab = self.obtain_tab(session, true).await?;
        tab.open_first_page(START_PAGE_TIME).await;
        Ok(tab)
    }

    /// Makes another tab of a session the current one.
    pub async fn switch_tab(&self, session: &str, number: u32) -> Result<Tab, PageError> {
        let mut state = self.shared.state.lock().await;
        let tabs = state.sessions.get_mut(session);
        let found = tabs.and_then(|tabs| {
            let tab = tabs.numbered(number)?;
            tabs.current = number;
            Some(tab)
        });
        found.ok_or_else(|| no_tab(number))
    }

    /// Closes a tab of a session; the one before it becomes current.
    ///
    /// # Errors
    /// `NoElement` if the session has no such tab.
    pub async fn close_tab(&self, session: &str, number: u32) -> Result<(), PageError> {
        let mut state = self.shared.state.lock().await;
        let tabs = state.sessions.get_mut(session);
        let (tabs, tab) = tabs
            .and_then(|tabs| tabs.numbered(number).map(|tab| (tabs, tab)))
            .ok_or_else(|| no_tab(number))?;
        let at = tabs.tabs.iter().position(|it| it.number() == number).unwrap_or(0);
        tabs.tabs.remove(at);
        if tabs.current == number {
            tabs.current = tabs.tabs.get(at.saturating_sub(1)).map_or(0, Tab::number);
        }
        drop(state);
        tab.close().await;
        Ok(())
    }

    /// Closes the tabs of a session that has ended.
    ///
    /// With a context of its own, its cookies and storage are removed with it.
    pub async fn end_session(&self, session: &str) {
        let mut state = self.shared.state.lock().await;
        let Some(tabs) = state.sessions.remove(session) else { return };
        let running = state.running.clone();
        drop(state);
        for tab in &tabs.tabs {
            tab.close().await;
        }
        if let (Some(running), Some(context)) = (running, tabs.context) {
            running.post("Target.disposeBrowserContext", json!({ "browserContextId": context }));
        }
    }

    /// Ends the browser and removes a temporary profile. It is started again when it is needed.
    pub async fn close(&self) {
        let mut state = self.shared.state.lock().await;
        state.sessions.clear();
        self.shared.end_running(&mut state, "the browser was closed", false).await;
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let running = self.shared.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(running) = running {
            running.kill();
        }
    }
}

impl SharedBrowser {
    /// Notes that the browser is being used.
    pub(crate) fn begin_use(self: &Arc<Self>) -> UsageGuard {
        self.usage.calls.fetch_add(1, Ordering::Relaxed);
        UsageGuard(Arc::clone(self))
    }

    pub(crate) fn log(&self, line: &str) {
        (self.log)(line);
    }

    /// The running browser, started if there is none.
    ///
    /// Called with the lock of the state. Also starts the task that watches this browser.
    async fn ensure_running(
        self: &Arc<Self>,
        state: &mut BrowserState,
    ) -> Result<Arc<RunningBrowser>, PageError> {
        if let Some(running) = &state.running {
            if !running.has_ended() {
                return Ok(Arc::clone(running));
            }
            self.log(&format!("browser: {}; starting it again", running.ended_error()));
            self.end_running(state, "the browser ended", true).await;
        }
        let running = RunningBrowser::start(&self.settings, Arc::clone(&self.rules)).await?;
        let running = Arc::new(running);
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&running));
        state.running = Some(Arc::clone(&running));
        tokio::spawn(watch(Arc::downgrade(self), Arc::downgrade(&running)));
        tokio::spawn(watch_answers(Arc::downgrade(self), Arc::downgrade(&running)));
        if self.settings.profile.is_some() {
            running.deny_downloads(None).await?;
        }
        Ok(running)
    }

    /// Ends the running browser. Its tabs are gone, and the sessions stay.
    ///
    /// `is_killed` leaves the browser no time to write its profile.
    async fn end_running(&self, state: &mut BrowserState, why: &str, is_killed: bool) {
        for tabs in state.sessions.values_mut() {
            tabs.tabs.clear();
            tabs.current = 0;
            tabs.context = None;
        }
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(running) = state.running.take() {
            running.end(why, is_killed).await;
        }
    }

    /// Opens a tab and makes it the current one.
    ///
    /// The first tab of a session also makes its context, unless all sessions share a configured
    /// profile.
    ///
    /// # Errors
    /// `Refused` at `MAX_TABS`, and those of the browser.
    async fn add_tab(
        self: &Arc<Self>,
        running: &Arc<RunningBrowser>,
        tabs: &mut SessionTabs,
    ) -> Result<Tab, PageError> {
        if tabs.tabs.len() >= MAX_TABS {
            let message = format!("the session has {MAX_TABS} tabs already; close one first");
            return Err(PageError::new(PageErrorCode::Refused, message));
        }
        if self.settings.profile.is_none() && tabs.context.is_none() {
            let context = running.new_context(json!({ "disposeOnDetach": true })).await?;
            running.deny_downloads(Some(&context)).await?;
            tabs.context = Some(context);
        }
        tabs.last_number += 1;
        let first_page = tabs.restored.take().or_else(|| self.settings.start.clone());
        let parts = TabParts {
            shared: Arc::clone(self),
            running: Arc::clone(running),
            context: tabs.context.clone(),
            number: tabs.last_number,
            first_page,
        };
        let tab = Tab::open(parts).await?;
        tabs.current = tab.number();
        tabs.tabs.push(tab.clone());
        Ok(tab)
    }

    /// How long nobody has used the browser.
    fn idle_time(&self) -> Duration {
        if self.usage.calls.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        let last = *self.usage.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.map_or(Duration::ZERO, |last| last.elapsed())
    }
}

impl SessionTabs {
    fn numbered(&self, number: u32) -> Option<Tab> {
        self.tabs.iter().find(|tab| tab.number() == number).cloned()
    }

    fn current_tab(&self) -> Option<Tab> {
        self.numbered(self.current)
    }
}

/// Ends a browser that is idle or too large. One such task per running browser, which it does not
/// keep alive. Memory is polled because no limit of the system covers a group of processes here;
/// what grows faster than `WATCH_INTERVAL` is caught by the limit of each process (`process`).
async fn watch(shared: Weak<SharedBrowser>, running: Weak<RunningBrowser>) {
    let mut ticks = tokio::time::interval(WATCH_INTERVAL);
    loop {
        ticks.tick().await;
        let (Some(shared), Some(running)) = (shared.upgrade(), running.upgrade()) else { return };
        if running.has_ended() {
            return;
        }
        let limit = shared.settings.memory;
        let memory = running.memory();
        // Workers run code of tools: they go first, and the pages of the sessions stay.
        if memory > limit && running.crash_workers() {
            shared.log("browser: it used too much memory, and the workers of bodies were ended");
        } else if memory > limit {
            let why = format!(
                "the browser used {} MiB of memory, more than the {} MiB of `[browser] memory`, \
                 and was ended",
                memory >> 20,
                limit >> 20
            );
            shared.log(&format!("browser: {why}"));
            running.end(&why, true).await;
            return;
        }
        if shared.idle_time() > shared.settings.idle {
            let mut state = shared.state.lock().await;
            // Somebody may have begun while this waited for the lock.
            if shared.idle_time() > shared.settings.idle {
                for tabs in state.sessions.values_mut() {
                    let url = tabs.current_tab().map(|tab| tab.last_url());
                    tabs.restored = url.filter(|url| shared.rules.check(url).is_ok());
                }
                let why = "the browser was ended because nobody used it";
                shared.end_running(&mut state, why, false).await;
                return;
            }
        }
    }
}

/// Ends a browser that does not answer while calls wait for it.
async fn watch_answers(shared: Weak<SharedBrowser>, running: Weak<RunningBrowser>) {
    loop {
        tokio::time::sleep(ANSWER_INTERVAL).await;
        let (Some(shared), Some(running)) = (shared.upgrade(), running.upgrade()) else { return };
        if running.has_ended() {
            return;
        }
        if shared.usage.calls.load(Ordering::Relaxed) == 0 {
            continue;
        }
        // One that was stopped, or that has to store what a worker floods it with, would keep the
        // calls of all sessions waiting. On a machine that is overloaded one that is well was seen
        // to take more than ten seconds.
        let answer = running.call("Browser.getVersion", json!({})).await;
        if answer.is_err_and(|error| error.code == PageErrorCode::Timeout) {
            let seconds = COMMAND_TIMEOUT.as_secs();
            let why = format!("the browser did not answer for {seconds} s, and was ended");
            shared.log(&format!("browser: {why}"));
            running.end(&why, true).await;
            return;
        }
    }
}

fn no_tab(number: u32) -> PageError {
    PageError::new(PageErrorCode::NoElement, format!("the session has no tab {number}"))
}
