//! `toolwright browser`: opens a page for a person, or lists its tools. Also for `md --browser`,
//! and what `doctor` says about the browser.
//!
//! A person names the page and runs these commands, so there is no policy here, and addresses of
//! this machine may be opened. Agents have the tools of `builtin_tools` instead.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use toolwright_browser::{Browser, PageMarkup, Tab, find_browser, is_root};
use toolwright_workspace::BrowserConfig;

use crate::args::{BrowserAction, BrowserArgs, BrowserPageArgs};
use crate::browser::browser_settings;
use crate::output::{self, ExitStatus};
use crate::record_text::one_line;
use crate::{messages, runtime, sources};

/// How long a page may take to open.
const OPEN_TIME: Duration = Duration::from_secs(60);

/// How long tools are waited for that a page registers after it is loaded. Scripts register tools
/// when they run, and nothing tells that the last one has run.
const TOOLS_TIME: Duration = Duration::from_secs(1);

/// How long a program may take to tell its version.
const VERSION_TIME: Duration = Duration::from_secs(5);

/// Bytes of it that are read. A version is one line; the program may not be a browser at all.
const MAX_VERSION: u64 = 200;

/// Opens a page for a person, or lists its tools.
///
/// # Errors
/// If there is no browser, or the page cannot be opened.
pub(crate) fn run(args: &BrowserArgs) -> anyhow::Result<ExitStatus> {
    match &args.action {
        BrowserAction::Login(page) => show_page(page, true),
        BrowserAction::Open(page) => show_page(page, false),
        BrowserAction::Tools(page) => list_tools(page),
    }
}

/// Opens a page in a window and waits until it is closed.
///
/// The rules for addresses are lifted here: the person sees the window and decides. `needs_profile`
/// is true for `login`, which is useless without one. Ends when the window is closed or a signal
/// arrives.
fn show_page(args: &BrowserPageArgs, needs_profile: bool) -> anyhow::Result<ExitStatus> {
    let mut config = sources::configured_browser(args.config.as_deref())?;
    config.headless = false;
    // A person who signs in is sent to other origins, and takes their time.
    config.origins.clear();
    config.start = None;
    config.idle = Duration::MAX;
    if needs_profile && config.profile.is_none() {
        bail!("a sign-in is kept only in a profile: set `profile` under `[browser]`");
    }
    let profile = config.profile.as_ref();
    let place = profile.map(|path| format!(" with the profile `{}`", path.display()));
    let place = place.unwrap_or_default();
    with_page(&config, true, &args.url, async |tab| {
        messages::print_note(&format!("the page is open{place}; close the window to end"));
        tokio::select! {
            () = tab.closed() => {}
            () = runtime::wait_for_signal() => {}
        }
        Ok(())
    })?;
    Ok(ExitStatus::Clean)
}

/// Prints the tools of a page, one per line. What a page registers later than `TOOLS_TIME` after
/// loading is missing.
fn list_tools(args: &BrowserPageArgs) -> anyhow::Result<ExitStatus> {
    let config = sources::configured_browser(args.config.as_deref())?;
    let tools = with_page(&config, true, &args.url, async |tab| {
        let mut changes = tab.page_tool_changes();
        let wait = async { while changes.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(TOOLS_TIME, wait).await;
        Ok(tab.page_tools().await?)
    })?;
    for tool in &tools {
        let line = format!("{}  {}\n", tool.name, one_line(&tool.description));
        output::print(&output::visible_lines(&line))?;
    }
    if tools.is_empty() {
        messages::print_note("the page offers no tools");
    }
    Ok(ExitStatus::Clean)
}

/// The markup of a page after its scripts have run. Called by `md --browser`; `allow_private` is
/// its `--allow-private`.
///
/// # Errors
/// If there is no browser, or the page cannot be opened.
pub(crate) fn rendered_page(url: &str, allow_private: bool) -> anyhow::Result<PageMarkup> {
    let config = sources::configured_browser(None)?;
    with_page(&config, allow_private, url, async |tab| {
        let origin = tab.origin().await?;
        Ok(tab.html(&origin, OPEN_TIME).await?)
    })
}

/// Does something with a page in a browser of its own, and ends the browser. A page of this machine
/// or its network is opened if that is allowed, or the configuration names it.
///
/// A browser of its own, also if `serve` runs one: with a configured profile the second one fails
/// to start.
///
/// The browser is closed after a failure, too. `start` of the configuration is left out, since the
/// page is named here.
fn with_page<T>(
    config: &BrowserConfig,
    allow_private: bool,
    url: &str,
    work: impl AsyncFnOnce(&Tab) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let config = BrowserConfig { start: None, ..config.clone() };
    let log = runtime::stderr_log();
    let log = Arc::new(move |line: &str| log.line(line));
    let mut settings = browser_settings(&config);
    if allow_private {
        settings.is_private = None;
    }
    let browser = Browser::new(settings, log);
    runtime::new_runtime()?.block_on(async {
        let result = async {
            let tab = browser.tab("cli").await?;
            tab.navigate(url, OPEN_TIME).await.with_context(|| format!("cannot open `{url}`"))?;
            work(&tab).await
        };
        let result = result.await;
        browser.close().await;
        result
    })
}

/// What `doctor` says about the browser of a configuration.
///
/// A second line for each setting that weakens the isolation of pages, and one for `page:full`,
/// which no setting can make safe.
///
/// # Errors
/// If the configuration cannot be read.
pub(crate) fn doctor_line(config: &Path) -> anyhow::Result<String> {
    let config = sources::configured_browser(Some(config))?;
    let settings = browser_settings(&config);
    let program = match find_browser(&settings) {
        Ok(program) => program,
        Err(error) => {
            return Ok(format!("browser: none, so tools that need a page do not run; {error}\n"));
        }
    };
    let version = program_version(&program).unwrap_or_else(|| "of unknown version".to_owned());
    let user = match is_root() {
        true => ", not as root but as the owner of its profile, or as `nobody`",
        false => "",
    };
    let mut text = format!(
        "browser: {} ({}), with its own sandbox{user}\n",
        program.display(),
        one_line(&version)
    );
    let mut weaker = |what: &str| text.push_str(&format!("  weaker: {what}\n"));
    if config.profile.is_some() {
        weaker("all sessions share the cookies and the storage of `profile`");
    }
    if config.origins.is_empty() {
        weaker("`origins` is empty, so pages of every public address can be opened");
    }
    if program.to_string_lossy().contains("headless") {
        weaker("a headless shell keeps frames in the process of their page; `chromium` does not");
    }
    weaker("a tool that is granted `page:full` runs in the page, and nothing it does is enforced");
    if !cfg!(target_os = "linux") {
        weaker("`memory` is watched on Linux only");
    }
    Ok(text)
}

/// What the program says about its version. `None` if it cannot be started, prints nothing, or
/// prints what is not UTF-8. Killed after `VERSION_TIME`.
fn program_version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let began = Instant::now();
    while matches!(child.try_wait(), Ok(None)) {
        if began.elapsed() > VERSION_TIME {
            // It is not a browser.
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut text = String::new();
    child.stdout.take()?.take(MAX_VERSION).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
