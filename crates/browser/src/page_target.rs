//! One page as the debugging protocol knows it: what its events say, and its broker.
//!
//! ```text
//! events ──▶ PageState: address, crashed?, loaded?        (the task that reads the pipe)
//!        └─▶ answers at once: dialogs dismissed, navigations continued or refused
//! calls  ──▶ Runtime.evaluate in the isolated world, made again after each navigation
//! ```
//!
//! The world is addressed by its unique id: plain numbers of contexts are used again in another
//! renderer, and could there mean the page's own world.
//!
//! Two things are not trusted: the page, whose scripts may loop, change built-in functions or leave
//! at any time, and the timing of events, which arrive in between commands. So the broker runs in
//! an isolated world (its own globals, the same DOM), which the page does not see. A call that
//! finds the world gone tries again only if the operation cannot have begun.
//!
//! All state is in `PageState`, behind one lock that is held for moments only. Every change raises
//! `changes`, which wakes all who wait for a condition (`wait_until`).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::connection::{CommandError, DebuggerConnection, DebuggerEvent};
use crate::origin_rules::{OriginRules, shorten};
use crate::{ElementScope, Json, PageError, PageErrorCode};

/// The source of the operations.
///
/// Evaluated once per document. The page cannot read or replace it.
const BROKER: &str = concat!(include_str!("broker_network.js"), include_str!("broker.js"));

/// The name of the isolated world.
const WORLD: &str = "toolwright";

/// Characters of a result. The broker refuses longer ones, before they reach the pipe.
pub(crate) const LONGEST_RESULT: usize = 4 * 1024 * 1024;

/// Notices that are kept until somebody takes them.
const MOST_NOTICES: usize = 20;

/// How long a page may leave a trivial question unanswered before it counts as hung.
///
/// Less would end pages that only are busy, and a crash loses everything that a person typed there.
const HANG_TIME: Duration = Duration::from_secs(2);

/// A page. It belongs to one tab, which replaces it after a crash.
pub(crate) struct PageTarget {
    pub(crate) connection: DebuggerConnection,
    /// The session of the protocol in which commands to this page are sent.
    pub(crate) session: String,
    /// The id of the target, which is also that of its main frame.
    pub(crate) id: String,
    /// Also applied here, to redirects, links and scripts of the page that navigate it.
    rules: Arc<OriginRules>,
    state: Mutex<PageState>,
    /// Counts every change of the state, for those who wait for one.
    changes: watch::Sender<u64>,
    reports: Arc<PageReports>,
}

/// What a tab reports to its users; survives the replacement of its page.
#[derive(Default)]
pub(crate) struct PageReports {
    /// At most `MOST_NOTICES`, the oldest are dropped: pages can cause any number of them.
    notices: Mutex<VecDeque<PageNotice>>,
    /// Raised when the page adds or removes a WebMCP tool, and with every navigation.
    pub(crate) tool_changes: watch::Sender<u64>,
}

/// Something that happened to a page.
#[derive(PartialEq)]
struct PageNotice {
    /// The origin of the page whose words these are; `None`: they are ours.
    origin: Option<String>,
    text: String,
}

/// What is known about the page. A copy that was taken is out of date at once; decisions that need
/// the state of a moment are made in the page, by the broker.
#[derive(Clone, Default)]
pub(crate) struct PageState {
    pub(crate) url: String,
    /// Documents that this page had, and changes of its address within one. The caller that starts
    /// a navigation reads it first, and waits until it has grown.
    pub(crate) moves: u64,
    /// Whether the `load` event of the current document has fired.
    pub(crate) is_loaded: bool,
    /// Its renderer is gone.
    pub(crate) has_crashed: bool,
    /// It was closed, by us or by itself.
    pub(crate) is_closed: bool,
    /// It did not answer, and is being asked again.
    pub(crate) is_probing: bool,
    /// Whether an operation has succeeded since the document was loaded.
    pub(crate) has_worked: bool,
    /// Why the last navigation was refused.
    pub(crate) refusal: Option<PageError>,
    /// The unique id of the isolated world that holds the broker.
    world: Option<String>,
    /// A world that was just made, and does not hold it yet.
    new_world: Option<String>,
}

/// What the broker is asked for: an operation of `OPERATIONS`, or one of this crate (`page.…`),
/// which guests cannot name.
pub(crate) struct BrokerCall<'a> {
    pub(crate) operation: &'a str,
    pub(crate) arguments: &'a [Json],
    /// The origin that the page must have; `None`: any.
    pub(crate) origin: Option<&'a str>,
    /// For operations with an address: whether it is of the page's own origin, as the capability
    /// was checked for. The broker compares it with what the browser makes of the address.
    pub(crate) is_own_address: bool,
    /// Whose references to elements it uses; `None`: it uses none.
    pub(crate) scope: Option<ElementScope>,
}

impl PageReports {
    /// Keeps a notice, unless the same is the last one: pages repeat dialogs.
    fn keep(&self, notice: PageNotice) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if notices.back() == Some(&notice) {
            return;
        }
        if notices.len() == MOST_NOTICES {
            notices.pop_front();
        }
        notices.push_back(notice);
    }

    /// Keeps a notice that says nothing of a page.
    pub(crate) fn notice(&self, text: String) {
        self.keep(PageNotice { origin: None, text });
    }

    /// Takes the notices for those who may see pages of this origin; others stay.
    pub(crate) fn take_notices(&self, origin: &str) -> Vec<String> {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let is_theirs =
            |notice: &PageNotice| notice.origin.as_ref().is_none_or(|own| own == origin);
        let (taken, left) = notices.drain(..).partition::<VecDeque<_>, _>(is_theirs);
        *notices = left;
        taken.into_iter().map(|notice| notice.text).collect()
    }
}

impl PageTarget {
    pub(crate) fn new(
        connection: DebuggerConnection,
        session: String,
        id: String,
        rules: Arc<OriginRules>,
        reports: Arc<PageReports>,
    ) -> PageTarget {
        let state = Mutex::new(PageState { url: "about:blank".to_owned(), ..Default::default() });
        let changes = watch::Sender::new(0);
        PageTarget { connection, session, id, rules, state, changes, reports }
    }

    /// Switches on what this module relies on. Nothing is loaded before.
    ///
    /// Interception is switched on before anything is loaded, so no request of the main document
    /// passes unseen. `WebMCP.enable` may fail: older versions of Chromium do not have it.
    pub(crate) async fn prepare(&self) -> Result<(), CommandError> {
        let documents = json!([{ "urlPattern": "*", "resourceType": "Document" }]);
        let call = |method: &'static str, params| {
            self.connection.call(Some(&self.session), method, params)
        };
        let (page, fetch, inspector, focus, _no_webmcp) = tokio::join!(
            call("Page.enable", json!({})),
            call("Fetch.enable", json!({ "patterns": documents })),
            call("Inspector.enable", json!({})),
            // The clipboard and focus events work as in a window that is in front.
            call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
            call("WebMCP.enable", json!({})),
        );
        page.and(fetch).and(inspector).and(focus).map(drop)
    }

    pub(crate) fn state(&self) -> PageState {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, PageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut PageState)) {
        change(&mut self.lock());
        self.changes.send_modify(|count| *count += 1);
    }

    /// Forgets why an earlier navigation was refused.
    pub(crate) fn forget_refusal(&self) {
        self.change(|state| state.refusal = None);
    }

    /// Waits until the state fulfils a condition; `None` at the deadline.
    pub(crate) async fn wait_until(
        &self,
        deadline: Instant,
        condition: impl Fn(&PageState) -> bool,
    ) -> Option<PageState> {
        let mut changes = self.changes.subscribe();
        loop {
            let state = self.state();
            if condition(&state) {
                return Some(state);
            }
            timeout_at(deadline, changes.changed()).await.ok()?.ok()?;
        }
    }

    /// Calls a command of this page.
    ///
    /// # Errors
    /// `Timeout` at the deadline; then the page is also probed, because a hung renderer leaves
    /// every later command unanswered. Otherwise see `page_error`.
    pub(crate) async fn call(
        self: &Arc<Self>,
        method: &str,
        params: Json,
        deadline: Instant,
    ) -> Result<Json, PageError> {
        let call = self.connection.call(Some(&self.session), method, params);
        match timeout_at(deadline, call).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(page_error(&error)),
            Err(_) => {
                self.probe_for_hang();
                Err(PageError::new(
                    PageErrorCode::Timeout,
                    format!("the page `{}` did not answer in time", shorten(&self.state().url)),
                ))
            }
        }
    }

    /// Asks the broker.
    ///
    /// The arguments come from a tool and the answer from the page. Both are passed as JSON text
    /// inside of a JavaScript string, so no part of them can become code or a prototype.
    pub(crate) async fn ask_broker(
        self: &Arc<Self>,
        call: &BrokerCall<'_>,
        deadline: Instant,
    ) -> Result<Json, PageError> {
        // A navigation may remove the world between its making and its use; the operation has not
        // begun then, and is done on the page that is there now.
        for _ in 0..4 {
            let world = self.world(deadline).await?;
            let left = deadline.saturating_duration_since(Instant::now());
            let message = json!({
                "operation": call.operation,
                "arguments": call.arguments,
                "origin": call.origin,
                "isOwnAddress": call.is_own_address,
                "scope": call.scope.map(|scope| scope.0),
                "limit": LONGEST_RESULT,
                "milliseconds": u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            });
            // Twice JSON: as a literal of JavaScript, `{"__proto__": …}` would not be a member.
            let expression = format!("broker({})", Json::from(message.to_string()));
            match self.evaluate(&world, &expression, deadline).await {
                Err(error) if is_world_missing(&error) => self.forget_world(&world),
                Err(error) => return Err(error),
                Ok(answer) => {
                    let value = read_answer(&answer)?;
                    self.lock().has_worked = true;
                    return Ok(value);
                }
            }
        }
        Err(PageError::new(PageErrorCode::Navigated, "the page keeps going to other addresses"))
    }

    /// Waits in the page until a selector matches; returns whether one did.
    pub(crate) async fn wait_for_selector(
        self: &Arc<Self>,
        arguments: &[Json],
        waited: Duration,
        deadline: Instant,
    ) -> Result<Json, PageError> {
        let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        let arguments = [arguments, &[waited.into()]].concat();
        let call = BrokerCall {
            operation: "page.wait",
            arguments: &arguments,
            origin: None,
            is_own_address: false,
            scope: None,
        };
        self.ask_broker(&call, deadline).await
    }

    async fn evaluate(
        self: &Arc<Self>,
        world: &str,
        expression: &str,
        deadline: Instant,
    ) -> Result<Json, PageError> {
        let params = json!({
            "expression": expression,
            "uniqueContextId": world,
            "awaitPromise": true,
            "returnByValue": true,
        });
        self.call("Runtime.evaluate", params, deadline).await
    }

    /// The world with the broker in it.
    ///
    /// Made once per document, when it is first needed. Each step can fail because a navigation
    /// came between, so the loop begins anew, a bounded number of times: a page may navigate
    /// without end.
    async fn world(self: &Arc<Self>, deadline: Instant) -> Result<String, PageError> {
        static DOCUMENTS: AtomicU64 = AtomicU64::new(0);
        for _ in 0..20 {
            if let Some(world) = self.lock().world.clone() {
                return Ok(world);
            }
            let make = json!({ "frameId": self.id, "worldName": WORLD });
            // In this order on the wire. `enable` reports the world with its unique id, and
            // `disable` keeps the page's console from being reported, too.
            let (made, enabled, disabled) = tokio::join!(
                self.call("Page.createIsolatedWorld", make, deadline),
                self.call("Runtime.enable", json!({}), deadline),
                self.call("Runtime.disable", json!({}), deadline),
            );
            match made {
                // While one document replaces another, the page briefly has no frame.
                Err(error)
                    if is_world_missing(&error) || error.code == PageErrorCode::Navigated =>
                {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                }
                made => drop(made?),
            }
            enabled?;
            disabled?;
            let Some(world) = self.lock().new_world.take() else { continue };
            // Numbers of references are not used again in another document.
            let first = DOCUMENTS.fetch_add(1, Ordering::Relaxed) * 1_000_000_000;
            let broker =
                BROKER.replacen("lastReference = 0;", &format!("lastReference = {first};"), 1);
            match self.evaluate(&world, &broker, deadline).await {
                Err(error) if is_world_missing(&error) => {}
                Err(error) => return Err(error),
                Ok(_) => self.change(|state| state.world = Some(world)),
            }
        }
        Err(PageError::new(PageErrorCode::Navigated, "the page keeps going to other addresses"))
    }

    /// Only the world that was missing: a newer one may be there already.
    fn forget_world(&self, world: &str) {
        self.change(|state| {
            if state.world.as_deref() == Some(world) {
                state.world = None;
            }
        });
    }

    /// Checks whether a page that did not answer hangs, and crashes its renderer if so: nothing
    /// else stops a loop of microtasks. Runs in a task of its own, one per page at a time; calls
    /// that begin meanwhile wait for its result (`is_probing`).
    fn probe_for_hang(self: &Arc<Self>) {
        if std::mem::replace(&mut self.lock().is_probing, true) {
            return;
        }
        let page = Arc::clone(self);
        tokio::spawn(async move {
            let question = json!({ "expression": "0" });
            let call = page.connection.call(Some(&page.session), "Runtime.evaluate", question);
            let answer = tokio::time::timeout(HANG_TIME, call).await;
            let is_hung = answer.is_err();
            if is_hung {
                page.connection.post(Some(&page.session), "Page.crash", json!({}));
            }
            page.change(|state| {
                state.is_probing = false;
                state.has_crashed |= is_hung;
            });
        });
    }

    /// Takes an event of this page.
    ///
    /// Called by the task that reads the pipe, in the order of events; it must not wait. What has
    /// to be answered is posted.
    pub(crate) fn on_event(self: &Arc<Self>, event: &DebuggerEvent<'_>) {
        let params = event.params;
        let text = |pointer: &str| params.pointer(pointer).and_then(Json::as_str).unwrap_or("");
        match event.method {
            "Page.frameNavigated" if params.pointer("/frame/parentId").is_none() => {
                self.on_navigated(text("/frame/url"));
            }
            "Page.navigatedWithinDocument" if text("/frameId") == self.id => {
                let url = text("/url").to_owned();
                self.change(|state| {
                    state.url = url;
                    state.moves += 1;
                });
            }
            "Page.loadEventFired" => self.change(|state| state.is_loaded = true),
            "Page.javascriptDialogOpening" => self.on_dialog(text("/type"), text("/message")),
            "Page.windowOpen" => {
                self.notice(format!("a new window was refused: {}", shorten(text("/url"))));
            }
            "Fetch.requestPaused" => self.on_request(text("/requestId"), params),
            "Inspector.targetCrashed" => self.on_gone(|state| state.has_crashed = true),
            "Runtime.executionContextCreated"
                if text("/context/name") == WORLD
                    && text("/context/auxData/frameId") == self.id =>
            {
                let world = text("/context/uniqueId").to_owned();
                self.change(|state| state.new_world = Some(world));
            }
            "WebMCP.toolsAdded" | "WebMCP.toolsRemoved" => self.tools_changed(),
            _ => {}
        }
    }

    /// Ends its renderer, whatever runs there.
    pub(crate) fn crash(&self) {
        self.connection.post(Some(&self.session), "Page.crash", json!({}));
        self.on_gone(|state| state.has_crashed = true);
    }

    fn tools_changed(&self) {
        self.reports.tool_changes.send_modify(|count| *count += 1);
    }

    /// The renderer crashed or the page was closed: nothing is answered any more.
    ///
    /// Chromium never answers commands to a renderer that has crashed, so they fail here.
    pub(crate) fn on_gone(&self, change: impl FnOnce(&mut PageState)) {
        self.change(|state| {
            change(state);
            state.world = None;
        });
        self.connection.fail_calls_of(&self.session);
    }

    /// Keeps a notice with words of the page that is open.
    pub(crate) fn notice(&self, text: String) {
        let origin = url::Url::parse(&self.lock().url).map(|url| url.origin());
        let origin = origin.map_or_else(|_| "null".to_owned(), |it| it.ascii_serialization());
        self.reports.keep(PageNotice { origin: Some(origin), text });
    }

    /// The main frame has another document. Requests are refused before they leave; the check here
    /// is for documents that come without one, such as `blob:`, `data:` and `file:` addresses. Such
    /// a page is replaced by an empty one.
    fn on_navigated(&self, url: &str) {
        self.change(|state| {
            state.url = url.to_owned();
            state.moves += 1;
            state.is_loaded = false;
            state.has_crashed = false;
            state.has_worked = false;
            state.world = None;
        });
        self.tools_changed();
        // Requests are refused before they leave; this is for documents that come without one.
        let inner = url.strip_prefix("blob:").unwrap_or(url);
        if !inner.starts_with("chrome-error:")
            && let Err(error) = self.rules.check(inner)
        {
            self.refuse(error);
            let blank = json!({ "url": "about:blank" });
            self.connection.post(Some(&self.session), "Page.navigate", blank);
        }
    }

    /// A dialog blocks the page until it is answered, and nobody is there to answer it.
    fn on_dialog(&self, kind: &str, message: &str) {
        // "Leave this page?" is answered with yes, everything else with no.
        let accept = kind == "beforeunload";
        if !accept {
            let message = shorten(message);
            self.notice(format!("a dialog ({kind}) of the page was dismissed: {message}"));
        }
        let params = json!({ "accept": accept });
        self.connection.post(Some(&self.session), "Page.handleJavaScriptDialog", params);
    }

    /// A document is about to be requested, or a redirect followed.
    ///
    /// Only documents are intercepted. Names are looked up in a task of its own, because this is
    /// called by the task that reads the pipe.
    fn on_request(self: &Arc<Self>, request: &str, params: &Json) {
        let url = params.pointer("/request/url").and_then(Json::as_str).unwrap_or_default();
        let is_main = params.get("frameId").and_then(Json::as_str) == Some(self.id.as_str());
        match self.rules.check(url) {
            Ok(url) if is_main && self.rules.needs_lookup(&url) => {
                let (page, request) = (Arc::clone(self), request.to_owned());
                tokio::spawn(async move {
                    page.answer_request(&request, page.rules.check_private(&url).await);
                });
            }
            checked => self.answer_request(
                request,
                checked.map(drop).or_else(|error| {
                    // Frames are not held to the origins.
                    if is_main { Err(error) } else { Ok(()) }
                }),
            ),
        }
    }

    fn answer_request(&self, request: &str, checked: Result<(), PageError>) {
        let mut params = json!({ "requestId": request });
        let method = match checked {
            Ok(()) => "Fetch.continueRequest",
            Err(error) => {
                self.refuse(error);
                // `Aborted`: the page that is there stays.
                params["errorReason"] = "Aborted".into();
                "Fetch.failRequest"
            }
        };
        self.connection.post(Some(&self.session), method, params);
    }

    /// Keeps the reason for the caller that navigates, if one does, and a notice in any case:
    /// scripts of the page navigate, too.
    fn refuse(&self, error: PageError) {
        self.reports.notice(format!("a navigation was refused: {error}"));
        self.change(|state| state.refusal = Some(error));
    }
}

/// The value that the broker returned, or its error.
///
/// The broker catches errors of operations and answers with code and message. What is not of this
/// form comes from the engine, such as a result that is not text.
fn read_answer(answer: &Json) -> Result<Json, PageError> {
    let unreadable = || {
        let why = answer.pointer("/exceptionDetails/exception/description").and_then(Json::as_str);
        let why = shorten(why.unwrap_or("the page gave no answer"));
        PageError::new(PageErrorCode::Refused, why)
    };
    let text = answer.pointer("/result/value").and_then(Json::as_str).ok_or_else(unreadable)?;
    let mut answer: Json = serde_json::from_str(text)
        .map_err(|error| PageError::new(PageErrorCode::Refused, error.to_string()))?;
    if let Some(code) = answer.get("code").and_then(Json::as_str) {
        let message = answer.get("message").and_then(Json::as_str).unwrap_or_default();
        return Err(PageError::new(PageErrorCode::from_broker(code), message));
    }
    Ok(answer.get_mut("value").map(Json::take).unwrap_or_default())
}

/// Whether a world was gone before anything was done in it.
///
/// Chromium has no codes for these errors, so their texts are compared.
fn is_world_missing(error: &PageError) -> bool {
    ["uniqueContextId not found", "No frame for given id", "Cannot find context"]
        .iter()
        .any(|text| error.message.contains(text))
}

/// An error of the protocol, for callers.
pub(crate) fn page_error(error: &CommandError) -> PageError {
    let (code, message) = match error {
        CommandError::Protocol(message) if is_navigation(message) => {
            (PageErrorCode::Navigated, "the page went to another address meanwhile".to_owned())
        }
        CommandError::Protocol(message) => (PageErrorCode::Refused, message.clone()),
        CommandError::PageEnded => {
            (PageErrorCode::PageCrashed, "the page crashed or was closed".to_owned())
        }
        CommandError::BrowserEnded => {
            (PageErrorCode::BrowserFailed, "the browser ended meanwhile".to_owned())
        }
        CommandError::Unreadable(why) => {
            (PageErrorCode::TooLarge, format!("the answer of the page cannot be read: {why}"))
        }
    };
    PageError::new(code, message)
}

/// These say that the document went away while the command ran: the operation may have been done or
/// not, so it is not repeated.
fn is_navigation(message: &str) -> bool {
    ["navigated or closed", "context was destroyed", "Not attached to an active page"]
        .iter()
        .any(|text| message.contains(text))
}
