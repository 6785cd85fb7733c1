//! Runs BTCP tools that work on a page. The body does not run in the page: it runs in the sandbox,
//! like every other body, and reaches the page by operations that are checked one by one.
//!
//! ```text
//! body ─▶ page_facade.js: document, window … ─▶ PageOperations ─▶ PageAccess::operate ─▶ page
//!         (a prelude in the sandbox)             │ OPERATIONS: operation → capability
//!                                                └ declared by the tool? else −32001
//! ```
//!
//! A body that uses what the sandbox lacks, such as `Intl`, runs in a worker of the browser
//! (`worker_body`), with the same operations. A tool that declares `page:full`, and was granted it,
//! runs in the page itself (`full_page`), where nothing holds it.
//!
//! What a tool declares is granted before it runs, for the origin of the page ([`page_origin`] of
//! the executor tells the runner). Every operation names this origin, and fails if the page is of
//! another one by then: what was granted for one site is not used on another.
//!
//! [`page_origin`]: Executor::page_origin

mod full_page;
mod page_functions;
mod worker_body;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::Map;
use toolwright_browser::{
    Browser, ElementScope, PageError, PageErrorCode, Tab, WorkerCode, WorkerHost, find_browser,
};
use toolwright_model::{Binding, Capability, Tool};
use toolwright_sandbox::{GuestLimits, ProgramInput, ProgramOutput, SandboxErrorCode};
use toolwright_script::LACKING_MEMBERS;

use self::page_functions::PageOperations;
pub(crate) use self::worker_body::BodyInWorker;
use crate::js::{BTCP_PRELUDE, failure_of_body};
use crate::knowledge::{FunctionError, FunctionRole, KnowledgeFunction, guest_limits};
use crate::offload::{WorkSize, offload};
use crate::{
    BoxFuture, Call, CallArguments, Executor, ExecutorContext, ExecutorKind, Failure, Host, Json,
    Outcome, RegisteredTool, SessionNumber, code,
};

/// The entry in the table of executors.
pub(crate) const EXECUTOR: ExecutorKind = ExecutorKind {
    id: "browser",
    accepts: |tool| tool.details.binding == Binding::Script && page_need(tool).is_some(),
    needs: |_| &[],
    build: |context| Arc::new(PageExecutor { context: context.clone() }),
};

/// What runs before the body of a tool that works on a page: `document`, `window` and the rest.
const PAGE_FACADE: &str = include_str!("page_facade.js");

/// The prelude of such bodies.
pub(crate) fn page_prelude() -> &'static str {
    static PRELUDE: LazyLock<String> = LazyLock::new(|| {
        let lacking: Map<String, Json> = LACKING_MEMBERS
            .iter()
            .map(|(object, members)| ((*object).to_owned(), Json::from(members.to_vec())))
            .collect();
        let lacking = Json::Object(lacking);
        format!("{BTCP_PRELUDE}\ntoolwright.LACKING = {lacking};\n{PAGE_FACADE}")
    });
    &PRELUDE
}

/// The session of calls that no client makes, such as those of `toolwright call`.
const OWN_SESSION: &str = "own";

/// How much longer than the call its body may run by the clock: the runner's deadline comes first.
const AFTER_DEADLINE: Duration = Duration::from_secs(1);

/// The page that operations are done on: a tab of the browser, or a double in tests.
///
/// `operate` and `run_in_page` name the origin that was granted; the page is compared with it at
/// that moment.
pub trait PageAccess: Send + Sync {
    /// See [`Tab::origin`].
    fn origin(&self) -> BoxFuture<'_, Result<String, PageError>>;

    /// See [`Tab::operate`].
    fn operate<'a>(
        &'a self,
        scope: ElementScope,
        operation: &'a str,
        arguments: &'a [Json],
        origin: &'a str,
        within: Duration,
    ) -> BoxFuture<'a, Result<Json, PageError>>;

    /// See [`Tab::release`].
    fn release(&self, scope: ElementScope) -> BoxFuture<'_, ()>;

    /// See [`Tab::run_in_page`].
    fn run_in_page<'a>(
        &'a self,
        code: &'a str,
        origin: &'a str,
        within: Duration,
    ) -> BoxFuture<'a, Result<String, PageError>>;
}

/// Where pages come from: the browser, or a double in tests.
///
/// One per program, behind the context of the executors. Sessions are named by `page_session`.
pub trait PageProvider: Send + Sync {
    /// Checks whether a session can get a page, without starting the browser.
    ///
    /// # Errors
    /// If no browser is installed, or the session has no page and `start` is not set.
    fn check_available<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<(), PageError>>;

    /// The current page of a session. Starts the browser and opens the first page if necessary.
    fn page<'a>(
        &'a self,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn PageAccess>, PageError>>;

    /// See [`Browser::run_worker`].
    fn run_worker<'a>(
        &'a self,
        code: WorkerCode<'a>,
        host: &'a dyn WorkerHost,
        within: Duration,
    ) -> BoxFuture<'a, Result<String, PageError>>;

    /// Closes the pages of a session that has ended.
    fn end_session<'a>(&'a self, session: &'a str) -> BoxFuture<'a, ()>;

    /// Ends the browser.
    fn close(&self) -> BoxFuture<'_, ()>;
}

impl PageAccess for Tab {
    fn origin(&self) -> BoxFuture<'_, Result<String, PageError>> {
        Box::pin(Tab::origin(self))
    }

    fn operate<'a>(
        &'a self,
        scope: ElementScope,
        operation: &'a str,
        arguments: &'a [Json],
        origin: &'a str,
        within: Duration,
    ) -> BoxFuture<'a, Result<Json, PageError>> {
        Box::pin(Tab::operate(self, scope, operation, arguments, origin, within))
    }

    fn release(&self, scope: ElementScope) -> BoxFuture<'_, ()> {
        Box::pin(Tab::release(self, scope))
    }

    fn run_in_page<'a>(
        &'a self,
        code: &'a str,
        origin: &'a str,
        within: Duration,
    ) -> BoxFuture<'a, Result<String, PageError>> {
        Box::pin(Tab::run_in_page(self, code, origin, within))
    }
}

impl PageProvider for Browser {
    fn check_available<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<(), PageError>> {
        Box::pin(async move {
            find_browser(self.settings())?;
            if self.settings().start.is_some() || !self.tabs(session).await.is_empty() {
                return Ok(());
            }
            let message = "no page is open; open one with a tool of `builtin = \"browser\"`, or \
                           set `start` under `[browser]`";
            Err(PageError { code: PageErrorCode::NoBrowser, message: message.to_owned() })
        })
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
        Box::pin(Browser::run_worker(self, code, host, within))
    }

    fn end_session<'a>(&'a self, session: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(Browser::end_session(self, session))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(Browser::close(self))
    }
}

/// The failure of a tool whose page has no origin that something could be granted for.
pub fn no_origin(tool: &str) -> Failure {
    let message = format!(
        "`{tool}` needs a page with an origin: none is open, or the page is one that has none, \
         such as `about:blank`, `data:` addresses and sandboxed pages"
    );
    Failure::new(&code::BROWSER_REQUIRED, message).suggest("open a page of `http` or `https` first")
}

/// The first capability of a tool that only a page has.
fn page_need(tool: &Tool) -> Option<&Capability> {
    tool.needs.iter().find(|need| need.needs_page())
}

/// The name of a session in the browser.
pub fn page_session(session: Option<SessionNumber>) -> String {
    session.map_or_else(|| OWN_SESSION.to_owned(), |number| number.0.to_string())
}

/// Runs bodies on pages. Lives as long as the runner.
///
/// Has no state: sessions and tabs are the provider's.
struct PageExecutor {
    context: ExecutorContext,
}

impl Executor for PageExecutor {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let name = call.tool.name.as_str();
            let page = self.page(call.tool, host).await?;
            let body = call.body.map_err(|why| crate::js::missing_body(name, why))?;
            // The runner has asked for the origin before it asked the policy.
            let Some(origin) = call.origin else {
                return Err(no_origin(name));
            };
            if full_page::is_declared(call.tool) {
                return full_page::run(&*page, origin, body, &call, &self.context).await;
            }
            let functions = PageOperations::new(&*page, origin, call.tool, call.budget);
            let analyzer = self.context.analyzer.as_ref();
            let names = body.worker_names(analyzer, true).await;
            let result = match (&self.context.pages, names) {
                (Some(pages), [_, ..]) => {
                    let (arguments, budget) = (call.arguments, call.budget);
                    let call =
                        BodyInWorker { tool: name, body, names, arguments, budget, analyzer };
                    call.run(&**pages, Some(&functions)).await
                }
                _ => self.run_in_sandbox(body, &functions, &call).await,
            };
            page.release(functions.scope).await;
            match result? {
                Ok(output) => {
                    body.log_console(&output.log, &self.context.console);
                    let value = output.value;
                    Ok(offload(WorkSize::of(&value), move || Outcome::value_of(value)).await)
                }
                Err(failure) => {
                    body.log_console(&failure.error.log, &self.context.console);
                    // An exception that the body did not catch may be that of an operation.
                    let of_page = match failure.error.code {
                        SandboxErrorCode::Threw => functions.failure_of(&failure.error.message),
                        _ => None,
                    };
                    Err(of_page.unwrap_or_else(|| failure_of_body(body, &failure)))
                }
            }
        })
    }

    fn page_origin<'a>(
        &'a self,
        entry: &'a RegisteredTool,
        _: &'a CallArguments,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async move {
            let tool = &entry.tool;
            // What cannot be run needs no grant for an origin: the policy decides without one, and
            // `run` gives the reason.
            let Ok(pages) = self.pages(tool, host).await else { return Ok(None) };
            let session = page_session(host.session());
            let failed = |error: PageError| failure_of_page(tool, &error);
            let ask = || async { pages.page(&session).await?.origin().await };
            let origin = match ask().await {
                // It may have ended just now, and nobody has noticed yet. Nothing was done.
                Err(error) if error.code == PageErrorCode::BrowserFailed => ask().await,
                origin => origin,
            };
            let origin = origin.map_err(failed)?;
            if origin == "null" {
                return Err(no_origin(tool.name.as_str()));
            }
            refuse_other_origin(tool, &entry.trust.origins, &origin)?;
            Ok(Some(origin))
        })
    }

    fn end_session(&self, session: SessionNumber) {
        let Some(pages) = self.context.pages.clone() else { return };
        // A session may end where no runtime is left; the browser then ends with the process.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { pages.end_session(&page_session(Some(session))).await });
        }
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(pages) = &self.context.pages {
                pages.close().await;
            }
        })
    }
}

impl PageExecutor {
    /// Where the pages of a tool come from.
    ///
    /// # Errors
    /// If there is no browser or no page, or the tool needs what is not offered.
    async fn pages(&self, tool: &Tool, host: &dyn Host) -> Result<&Arc<dyn PageProvider>, Failure> {
        let Some(pages) = &self.context.pages else {
            let message = "no browser is set up here".to_owned();
            let error = PageError { code: PageErrorCode::NoBrowser, message };
            return Err(failure_of_page(tool, &error));
        };
        let session = page_session(host.session());
        let available = pages.check_available(&session).await;
        available.map_err(|error| failure_of_page(tool, &error))?;
        Ok(pages)
    }

    /// Runs a body in the sandbox, where it can do these operations.
    ///
    /// The outer error is that there is no sandbox, the inner one that the body failed.
    async fn run_in_sandbox(
        &self,
        body: &KnowledgeFunction,
        functions: &PageOperations<'_>,
        call: &Call<'_>,
    ) -> Result<Result<ProgramOutput, FunctionError>, Failure> {
        let Some(pool) = &self.context.pool_for(&call.budget.calls) else {
            let message = format!("`{}` cannot run: there is no sandbox", call.tool.name);
            return Err(Failure::new(&code::SANDBOX_FAILED, message));
        };
        let left = call.budget.remaining();
        let limits = GuestLimits {
            cpu: left,
            wall: left + AFTER_DEADLINE,
            output: call.budget.output,
            ..guest_limits(call.limits, FunctionRole::Body)
        };
        let input = ProgramInput::args(call.arguments.shared());
        let analyzer = self.context.analyzer.as_ref();
        Ok(body.run(pool, analyzer, &input, &limits, Some(functions)).await)
    }

    async fn page(&self, tool: &Tool, host: &dyn Host) -> Result<Arc<dyn PageAccess>, Failure> {
        let pages = self.pages(tool, host).await?;
        let page = pages.page(&page_session(host.session())).await;
        page.map_err(|error| failure_of_page(tool, &error))
    }
}

/// Refuses a page on which the manifest does not want its tools to work (`match`).
fn refuse_other_origin(tool: &Tool, allowed: &[String], origin: &str) -> Result<(), Failure> {
    if allowed.is_empty() || allowed.iter().any(|own| own == origin) {
        return Ok(());
    }
    let message = format!(
        "`{}` works on pages of `{}`, and the page is of `{origin}`",
        tool.name,
        allowed.join("`, `")
    );
    let failure = Failure::new(&code::BROWSER_REQUIRED, message);
    Err(failure.suggest("open a page of one of these origins first"))
}

/// The failure of a call that got no page.
fn failure_of_page(tool: &Tool, error: &PageError) -> Failure {
    let name = &tool.name;
    match error.code {
        PageErrorCode::NoBrowser => {
            let need = page_need(tool).map_or("page", Capability::as_str);
            let message =
                format!("`{name}` needs `{need}`, which only a page in a browser has: {error}");
            Failure::new(&code::BROWSER_REQUIRED, message)
        }
        other => Failure::new(code_of(other), format!("`{name}` has no page: {error}")),
    }
}

/// The failure of a call that a page failed for this reason.
pub fn failure_of_operation(error: PageErrorCode, message: String) -> Failure {
    Failure::new(code_of(error), message)
}

/// The code of a call that failed for this reason.
fn code_of(error: PageErrorCode) -> &'static crate::RunCode {
    match error {
        PageErrorCode::NoBrowser => &code::BROWSER_REQUIRED,
        PageErrorCode::BrowserFailed => &code::SPAWN_FAILED,
        PageErrorCode::PageCrashed | PageErrorCode::Navigated | PageErrorCode::OtherOrigin => {
            &code::PAGE_LOST
        }
        PageErrorCode::TooLarge => &code::OUTPUT_TOO_LARGE,
        PageErrorCode::Timeout => &code::TIMEOUT,
        PageErrorCode::OriginRefused => &code::CAPABILITY_DENIED,
        PageErrorCode::NoElement | PageErrorCode::BadOperation | PageErrorCode::Refused => {
            &code::TOOL_FAILED
        }
    }
}
