//! A browser that runs: its processes, its connection, and the pages that belong to tabs.
//!
//! ```text
//! BrowserProcess ─ pipes ─ DebuggerConnection ─ events ─▶ BrowserEvents ─┬─▶ PageTarget
//!                                                                        └─▶ WorkerTarget
//! ```
//!
//! The connection carries everything for all pages. A session of the protocol, not to be confused
//! with a session of this program, names the page of a command or event; without one it is for the
//! browser.
//!
//! The end may be noticed at three places: the process exits, the pipe closes, or this program ends
//! it. The first to set `ended` gives the reason that callers read; nothing resets it, and a
//! `RunningBrowser` is never used again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};
use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::body_worker::WorkerTarget;
use crate::connection::{CommandError, DebuggerConnection, DebuggerEvent, EventHandler};
use crate::origin_rules::{OriginRules, shorten};
use crate::page_target::{PageReports, PageTarget, page_error};
use crate::process::{BrowserProcess, resident_memory};
use crate::{BrowserSettings, Json, PageError, PageErrorCode};

/// How long the browser may take to answer for the first time.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a command of the browser itself may take. One that has to store what a worker floods it
/// with is slow; its memory is watched meanwhile, and calls have limits of their own.
pub(crate) const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the browser may take to write its profile and end.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// A running browser.
pub(crate) struct RunningBrowser {
    connection: DebuggerConnection,
    /// Held for moments, except while the browser is ended; `has_ended` must not wait for that.
    process: Mutex<BrowserProcess>,
    events: Arc<BrowserEvents>,
    rules: Arc<OriginRules>,
}

/// Routes events to pages.
///
/// Used by the task that reads the pipe, and by those who open and end pages. The two locks are
/// never held together.
#[derive(Default)]
struct BrowserEvents {
    /// By the session of the protocol. Weak: tabs own their pages.
    pages: Mutex<HashMap<String, Weak<PageTarget>>>,
    /// By the session of the protocol, too. An entry ends with the call that runs the worker, or
    /// when the browser needs too much memory.
    workers: Mutex<HashMap<String, Arc<WorkerTarget>>>,
    /// Whether windows that pages open are closed. Not if a person sees them, who may need one to
    /// sign in.
    closes_windows: bool,
    /// Why it ended, as a sentence for callers. Set before callers are notified.
    ended: OnceLock<String>,
}

impl RunningBrowser {
    /// Starts a browser and waits until it answers.
    ///
    /// # Errors
    /// `NoBrowser`, or `BrowserFailed` with what the browser printed: another one that uses the
    /// same profile is the usual reason.
    pub(crate) async fn start(
        settings: &BrowserSettings,
        rules: Arc<OriginRules>,
    ) -> Result<RunningBrowser, PageError> {
        let (process, input, output) = BrowserProcess::start(settings)?;
        let pipes = tokio::process::ChildStdin::from_std(input)
            .and_then(|input| Ok((input, tokio::process::ChildStdout::from_std(output)?)));
        let (input, output) = pipes.map_err(|error| {
            PageError::new(PageErrorCode::BrowserFailed, format!("the browser's pipes: {error}"))
        })?;
        let events = BrowserEvents { closes_windows: settings.headless, ..Default::default() };
        let events = Arc::new(events);
        let handler: Arc<dyn EventHandler> = Arc::<BrowserEvents>::clone(&events);
        let connection = DebuggerConnection::open(input, output, handler);
        let discover = json!({ "discover": true, "filter": [{ "type": "page" }] });
        let started =
            timeout(START_TIMEOUT, connection.call(None, "Target.setDiscoverTargets", discover));
        match started.await {
            Ok(Ok(_)) => {}
            Ok(Err(CommandError::BrowserEnded)) | Err(_) => {
                return Err(start_error(settings, process).await);
            }
            Ok(Err(error)) => return Err(page_error(&error)),
        }
        let process = Mutex::new(process);
        Ok(RunningBrowser { connection, process, events, rules })
    }

    /// Calls a command of the browser itself.
    ///
    /// # Errors
    /// `Timeout` after `COMMAND_TIMEOUT`, or the reason of the end.
    pub(crate) async fn call(&self, method: &str, params: Json) -> Result<Json, PageError> {
        match timeout(COMMAND_TIMEOUT, self.connection.call(None, method, params)).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(self.error_of(&error)),
            Err(_) => Err(PageError::new(
                PageErrorCode::Timeout,
                format!("the browser did not answer `{method}` in time"),
            )),
        }
    }

    /// Sends a command whose answer nobody needs.
    pub(crate) fn post(&self, method: &str, params: Json) {
        self.connection.post(None, method, params);
    }

    /// Sends a command to a page or worker whose answer nobody needs.
    pub(crate) fn post_to(&self, session: Option<&str>, method: &str, params: Json) {
        self.connection.post(session, method, params);
    }

    /// Calls a command of a page or worker.
    pub(crate) async fn call_of(
        &self,
        session: &str,
        method: &str,
        params: Json,
    ) -> Result<Json, CommandError> {
        self.connection.call(Some(session), method, params).await
    }

    /// A space of cookies and storage of its own.
    pub(crate) async fn new_context(&self, params: Json) -> Result<String, PageError> {
        let made = self.call("Target.createBrowserContext", params);
        Ok(member(&made.await?, "browserContextId"))
    }

    /// Opens an empty page for a worker; returns the session of the protocol.
    ///
    /// The target is registered before interception is switched on, so no event of it is lost.
    pub(crate) async fn new_worker(
        &self,
        context: &str,
        worker: Arc<WorkerTarget>,
    ) -> Result<String, PageError> {
        let session = self.attach_to_new(Some(context)).await?.1;
        self.events.workers().insert(session.clone(), worker);
        Ok(session)
    }

    /// Ends a worker, also one whose code does not return.
    pub(crate) fn crash_worker(&self, session: &str) {
        self.events.workers().remove(session);
        self.post_to(Some(session), "Page.crash", json!({}));
    }

    /// Ends all workers; returns whether there were any.
    pub(crate) fn crash_workers(&self) -> bool {
        let workers: Vec<_> = self.events.workers().drain().collect();
        for (session, worker) in &workers {
            self.post_to(Some(session), "Page.crash", json!({}));
            worker.on_gone();
        }
        !workers.is_empty()
    }

    /// Opens an empty page; returns the id of the target and the session of the protocol.
    async fn attach_to_new(&self, context: Option<&str>) -> Result<(String, String), PageError> {
        let mut params = json!({ "url": "about:blank" });
        if let Some(context) = context {
            params["browserContextId"] = context.into();
        }
        let id = member(&self.call("Target.createTarget", params).await?, "targetId");
        let attach = json!({ "targetId": id, "flatten": true });
        let session = member(&self.call("Target.attachToTarget", attach).await?, "sessionId");
        Ok((id, session))
    }

    /// Denies downloads; of the default context if none is named.
    pub(crate) async fn deny_downloads(&self, context: Option<&str>) -> Result<(), PageError> {
        let mut params = json!({ "behavior": "deny", "eventsEnabled": true });
        if let Some(context) = context {
            params["browserContextId"] = context.into();
        }
        self.call("Browser.setDownloadBehavior", params).await.map(drop)
    }

    /// Opens an empty page.
    ///
    /// Registered before `prepare`, whose commands cause events. If that fails, the page is dropped
    /// and its target stays behind; it is empty, and ends with its context or with the browser.
    pub(crate) async fn new_page(
        &self,
        context: Option<&str>,
        reports: Arc<PageReports>,
    ) -> Result<Arc<PageTarget>, PageError> {
        let (id, session) = self.attach_to_new(context).await?;
        let page = Arc::new(PageTarget::new(
            self.connection.clone(),
            session.clone(),
            id,
            Arc::clone(&self.rules),
            reports,
        ));
        self.events.pages().insert(session, Arc::downgrade(&page));
        match timeout(COMMAND_TIMEOUT, page.prepare()).await {
            Ok(Ok(())) => Ok(page),
            Ok(Err(error)) => Err(self.error_of(&error)),
            Err(_) => {
                Err(PageError::new(PageErrorCode::Timeout, "a new page did not answer in time"))
            }
        }
    }

    /// Whether it has ended. Its process tells before the pipe does.
    pub(crate) fn has_ended(&self) -> bool {
        loop {
            if self.events.ended.get().is_some() {
                return true;
            }
            // Others hold the lock for the same question, or after they have set `ended`.
            match self.process.try_lock() {
                Ok(mut process) => return process.has_exited(),
                Err(TryLockError::Poisoned(_)) => return true,
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        }
    }

    /// Why calls to it fail.
    pub(crate) fn ended_error(&self) -> PageError {
        let why = self.events.ended.get().map_or("the browser ended", String::as_str);
        PageError::new(PageErrorCode::BrowserFailed, why)
    }

    /// Why a command failed.
    pub(crate) fn error_of(&self, error: &CommandError) -> PageError {
        match error {
            CommandError::BrowserEnded => self.ended_error(),
            other => page_error(other),
        }
    }

    /// Bytes of resident memory.
    pub(crate) fn memory(&self) -> u64 {
        // Not under the lock: it takes a while, and others ask whether the browser has ended.
        let root = self.process().root();
        resident_memory(root)
    }

    /// Ends the browser. Pending and later calls fail with `why`. The browser gets time to write
    /// its profile unless it is to be killed.
    pub(crate) async fn end(self: Arc<Self>, why: &str, is_killed: bool) {
        let _ = self.events.ended.set(why.to_owned());
        if !is_killed {
            self.post("Browser.close", json!({}));
        }
        let grace = if is_killed { Duration::ZERO } else { END_TIMEOUT };
        let _ = tokio::task::spawn_blocking(move || self.process().end(grace)).await;
    }

    /// Kills it at once. Blocks for some milliseconds.
    pub(crate) fn kill(&self) {
        let _ = self.events.ended.set("the browser was closed".to_owned());
        self.process().end(Duration::ZERO);
    }

    fn process(&self) -> MutexGuard<'_, BrowserProcess> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BrowserEvents {
    fn pages(&self) -> MutexGuard<'_, HashMap<String, Weak<PageTarget>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn workers(&self) -> MutexGuard<'_, HashMap<String, Arc<WorkerTarget>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn worker(&self, session: &str) -> Option<Arc<WorkerTarget>> {
        self.workers().get(session).cloned()
    }

    fn page(&self, session: &str) -> Option<Arc<PageTarget>> {
        self.pages().get(session)?.upgrade()
    }

    fn page_of_frame(&self, frame: &str) -> Option<Arc<PageTarget>> {
        self.pages().values().filter_map(Weak::upgrade).find(|page| page.id == frame)
    }
}

impl EventHandler for BrowserEvents {
    fn on_event(&self, connection: &DebuggerConnection, event: &DebuggerEvent<'_>) {
        let text = |pointer: &str| {
            event.params.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
        };
        match event.method {
            "Target.detachedFromTarget" => {
                let page = self.pages().remove(text("/sessionId"));
                if let Some(page) = page.as_ref().and_then(Weak::upgrade) {
                    page.on_gone(|state| state.is_closed = true);
                }
                if let Some(worker) = self.workers().remove(text("/sessionId")) {
                    worker.on_gone();
                }
            }
            // Only pages that a page opened have an opener.
            "Target.targetCreated"
                if self.closes_windows && !text("/targetInfo/openerId").is_empty() =>
            {
                let id = text("/targetInfo/targetId");
                connection.post(None, "Target.closeTarget", json!({ "targetId": id }));
            }
            "Browser.downloadWillBegin" => {
                if let Some(page) = self.page_of_frame(text("/frameId")) {
                    page.notice(format!("a download was refused: {}", shorten(text("/url"))));
                }
            }
            _ => {
                if let Some(page) = event.session.and_then(|session| self.page(session)) {
                    page.on_event(event);
                } else if let Some(worker) = event.session.and_then(|it| self.worker(it)) {
                    worker.on_event(connection, event);
                }
            }
        }
    }

    fn on_end(&self) {
        let _ = self.ended.set("the browser crashed or was killed".to_owned());
        let pages: Vec<_> = self.pages().drain().filter_map(|(_, page)| page.upgrade()).collect();
        for page in pages {
            page.on_gone(|state| state.is_closed = true);
        }
        for (_, worker) in self.workers().drain() {
            worker.on_gone();
        }
    }
}

/// What a browser that does not answer printed, and what may be the reason.
///
/// Ends the process first, so that everything it printed has arrived.
async fn start_error(settings: &BrowserSettings, mut process: BrowserProcess) -> PageError {
    let ended = tokio::task::spawn_blocking(move || {
        process.end(Duration::from_millis(200));
        process.stderr_tail()
    });
    let words = ended.await.unwrap_or_default();
    let mut message = "the browser did not start".to_owned();
    if let Some(profile) = &settings.profile {
        let profile = profile.display();
        message.push_str(&format!("; perhaps another one uses the profile `{profile}`"));
    }
    if !words.is_empty() {
        message.push_str(&format!("; it printed: {}", shorten(&words)));
    }
    PageError::new(PageErrorCode::BrowserFailed, message)
}

fn member(answer: &Json, name: &str) -> String {
    answer.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
}
