//! Runs code that nobody trusts in a worker of the browser, in a target of its own.
//!
//! ```text
//! browser context without a proxy that answers
//! └ page https://body.invalid/ ── worker: script, which imports the module
//!     every request is intercepted     │ POST /ask  ─▶ WorkerHost::answer ─▶ the answer
//!     and answered here, or refused ◀──┘ POST /end  ─▶ the result of `run`
//! ```
//!
//! Three things keep the worker from the network, each of them alone: the interception refuses what
//! is not listed above, the policy in the headers of both documents (CSP) allows connections to
//! their own origin only, and the proxy of the context is a port on which nothing listens. The
//! worker has no document. Its storage is that of the context, which ends with the call.
//!
//! A request that is answered later holds up a worker that asked synchronously. That is how code
//! can stand still while an operation on another page is done.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::connection::{DebuggerConnection, DebuggerEvent};
use crate::running::RunningBrowser;
use crate::{Json, PageError, PageErrorCode};

/// Where the documents of a worker are. No name server knows the name (RFC 6761).
const ORIGIN: &str = "https://body.invalid";

const DOCUMENT: &str = "<!doctype html><script src=\"/start.js\"></script>";

/// What starts the worker. A script of its own, because the policy allows none in the document.
const STARTER: &str = "new Worker('/worker.js');";

/// What the documents may load and do.
const POLICY: &str = "default-src 'none'; script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval'; \
                      worker-src 'self'; connect-src 'self'; webrtc 'block'";

/// Nothing listens on this port. Requests that the interception does not see go there.
const DEAD_PROXY: &str = "http://127.0.0.1:1";

/// Requests of a worker that wait to be answered. More are refused.
const MOST_REQUESTS: usize = 1024;

/// How long the target of a worker may take to be made.
const START_TIMEOUT: Duration = Duration::from_secs(15);

/// An answer of [`WorkerHost`] that is on its way.
pub type HostAnswer<'a> = Pin<Box<dyn Future<Output = String> + Send + 'a>>;

/// The id of a request with its answer.
type PendingReply<'a> = Pin<Box<dyn Future<Output = (String, String)> + Send + 'a>>;

/// Who answers what the code of a worker asks.
///
/// Implemented in `exec`, which checks the rights of the tool for every message.
pub trait WorkerHost: Send + Sync {
    /// Answers a message with a text. Several may be open at a time.
    fn answer(&self, message: String) -> HostAnswer<'_>;
}

/// What a worker runs.
#[derive(Clone, Copy, Debug)]
pub struct WorkerCode<'a> {
    /// The classic script that the worker starts with. It asks with `POST /ask`, and ends the
    /// worker with `POST /end`, whose body is the result.
    pub script: &'a str,
    /// The module that the script finds at `/body.js`.
    pub module: &'a str,
}

/// A worker as the events of its page know it.
///
/// `requests` is `None` once the target is gone. Then the receiver ends, and with it `run`.
pub(crate) struct WorkerTarget {
    requests: Mutex<Option<mpsc::Sender<WorkerRequest>>>,
}

/// A paused request. It must be answered or refused, or the worker waits for ever.
struct WorkerRequest {
    /// That of the interception.
    id: String,
    /// `GET /body.js`; of another origin with its address.
    what: String,
    body: Option<String>,
}

impl WorkerTarget {
    /// Called by the task that reads the pipe; a full queue is a worker that asks faster than its
    /// host answers, and is refused.
    pub(crate) fn on_event(&self, connection: &DebuggerConnection, event: &DebuggerEvent<'_>) {
        let text = |pointer: &str| {
            event.params.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
        };
        match event.method {
            "Fetch.requestPaused" => {
                let url = text("/request/url");
                let path = url.strip_prefix(ORIGIN).filter(|path| path.starts_with('/'));
                let request = WorkerRequest {
                    id: text("/requestId").to_owned(),
                    what: format!("{} {}", text("/request/method"), path.unwrap_or(url)),
                    body: event
                        .params
                        .pointer("/request/postData")
                        .and_then(Json::as_str)
                        .map(str::to_owned),
                };
                let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
                let refused = match &*requests {
                    Some(requests) => requests.try_send(request).err().map(|it| it.into_inner()),
                    None => Some(request),
                };
                if let Some(request) = refused {
                    connection.post(event.session, "Fetch.failRequest", refusal(&request.id));
                }
            }
            "Inspector.targetCrashed" => self.on_gone(),
            _ => {}
        }
    }

    /// The target is gone: nothing is asked any more.
    pub(crate) fn on_gone(&self) {
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A target that is ended when this is dropped, whatever its code does.
///
/// The context is disposed of with it, and so are the storage and everything else that the code
/// kept.
struct WorkerGuard {
    running: Arc<RunningBrowser>,
    context: String,
    session: Option<String>,
}

impl Drop for WorkerGuard {
    fn drop(&mut self) {
        if let Some(session) = &self.session {
            // Its code may not return, and would go on for a while after its page is closed.
            self.running.crash_worker(session);
        }
        let context = json!({ "browserContextId": self.context });
        self.running.post("Target.disposeBrowserContext", context);
    }
}

/// A target whose requests are intercepted, and in which nothing runs yet.
pub(crate) struct StartedWorker {
    guard: WorkerGuard,
    requests: mpsc::Receiver<WorkerRequest>,
}

impl StartedWorker {
    /// Makes a target in a running browser.
    pub(crate) async fn start(
        running: Arc<RunningBrowser>,
        deadline: Instant,
    ) -> Result<StartedWorker, PageError> {
        let (sender, requests) = mpsc::channel(MOST_REQUESTS);
        let target = Arc::new(WorkerTarget { requests: Mutex::new(Some(sender)) });
        let starting = make_target(running, target);
        let guard = timeout_at(deadline.min(Instant::now() + START_TIMEOUT), starting).await;
        Ok(StartedWorker { guard: guard.map_err(|_| not_in_time())??, requests })
    }

    /// Runs code until it ends itself, and returns its result. Hostile code can end the worker
    /// early with any text: the result is as trustworthy as the code.
    ///
    /// # Errors
    /// `Timeout` at the deadline, `PageCrashed` if the worker was ended, `BrowserFailed`.
    pub(crate) async fn run(
        mut self,
        code: WorkerCode<'_>,
        host: &dyn WorkerHost,
        deadline: Instant,
    ) -> Result<String, PageError> {
        let session = self.guard.session.as_deref();
        let running = &self.guard.running;
        let first = json!({ "url": format!("{ORIGIN}/") });
        running.post_to(session, "Page.navigate", first);
        // Each is sent once: code cannot start its own worker again.
        let mut documents = vec![
            ("GET /", "text/html", DOCUMENT),
            ("GET /start.js", "text/javascript", STARTER),
            ("GET /worker.js", "text/javascript", code.script),
            ("GET /body.js", "text/javascript", code.module),
        ];
        let mut answers: FuturesUnordered<PendingReply<'_>> = FuturesUnordered::new();
        loop {
            let request = tokio::select! {
                request = timeout_at(deadline, self.requests.recv()) => {
                    request.map_err(|_| not_in_time())?
                }
                Some((id, answer)) = answers.next() => {
                    let answer = reply(&id, "application/json", &answer);
                    running.post_to(session, "Fetch.fulfillRequest", answer);
                    continue;
                }
            };
            let Some(request) = request else {
                let why = match running.has_ended() {
                    true => running.ended_error(),
                    false => PageError::new(
                        PageErrorCode::PageCrashed,
                        "the worker was ended: it used too much memory, or was killed",
                    ),
                };
                return Err(why);
            };
            let id = request.id;
            if let Some(at) = documents.iter().position(|(what, ..)| *what == request.what) {
                let (_, kind, text) = documents.swap_remove(at);
                running.post_to(session, "Fetch.fulfillRequest", reply(&id, kind, text));
                continue;
            }
            match request.what.as_str() {
                "POST /end" => return Ok(request.body.unwrap_or_default()),
                "POST /ask" if answers.len() < MOST_REQUESTS => {
                    let answer = host.answer(request.body.unwrap_or_default());
                    answers.push(Box::pin(async move { (id, answer.await) }));
                }
                _ => running.post_to(session, "Fetch.failRequest", refusal(&id)),
            }
        }
    }
}

/// Makes the target of a worker, whose requests are intercepted from then on.
///
/// The worker is intercepted before its first navigation. If this fails or is given up half-way,
/// the guard disposes of what was made.
async fn make_target(
    running: Arc<RunningBrowser>,
    target: Arc<WorkerTarget>,
) -> Result<WorkerGuard, PageError> {
    let proxy = json!({
        "disposeOnDetach": true,
        "proxyServer": DEAD_PROXY,
        // Without this, addresses of this machine would go past the proxy.
        "proxyBypassList": "<-loopback>",
    });
    let context = running.new_context(proxy).await?;
    let mut guard = WorkerGuard { running, context, session: None };
    let running = Arc::clone(&guard.running);
    let session = running.new_worker(&guard.context, target).await?;
    guard.session = Some(session.clone());
    let call = |method: &'static str, params| running.call_of(&session, method, params);
    let (fetch, inspector) = tokio::join!(
        call("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] })),
        call("Inspector.enable", json!({})),
    );
    fetch.and(inspector).map_err(|error| running.error_of(&error))?;
    Ok(guard)
}

/// The answer to an intercepted request.
fn reply(id: &str, kind: &str, body: &str) -> Json {
    json!({
        "requestId": id,
        "responseCode": 200,
        "responseHeaders": [
            { "name": "content-type", "value": format!("{kind}; charset=utf-8") },
            { "name": "content-security-policy", "value": POLICY },
            { "name": "referrer-policy", "value": "no-referrer" },
        ],
        "body": base64::engine::general_purpose::STANDARD.encode(body),
    })
}

fn refusal(id: &str) -> Json {
    json!({ "requestId": id, "errorReason": "BlockedByClient" })
}

fn not_in_time() -> PageError {
    PageError::new(PageErrorCode::Timeout, "the worker did not end in time")
}
