//! `toolwright browser`: opens a page for a person, or lists its tools. Also for `md --browser`,
//! and what `doctor` says about the browser.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use toolwright_browser::{Browser, PageMarkup, Tab, find_browser};
use toolwright_workspace::BrowserConfig;

use crate::args::{BrowserAction, BrowserArgs, BrowserPageArgs};
use crate::browser::browser_settings;
use crate::output::{self, ExitStatus};
use crate::record_text::one_line;
use crate::{messages, runtime, sources};

/// How long a page may take to open.
const OPEN_TIME: Duration = Duration::from_secs(60);

/// How long tools are waited for that a page registers after it is loaded.
const TOOLS_TIME: Duration = Duration::from_secs(1);

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
fn show_page(args: &BrowserPageArgs, needs_profile: bool) -> anyhow::Result<ExitStatus> {
    let mut config = sources::configured_browser(args.config.as_deref())?;
    config.headless = false;
    // A person who signs in is sent to other origins, and takes their time.
    config.origins.clear();
    config.start = None;
    config.idle = Duration::MAX;
    if needs_profile && config.profile.is_none() {
        bail!("nothing is kept without a profile; set `profile` under `[browser]`");
    }
    let profile = config.profile.as_ref();
    let place = profile.map(|path| format!(" with the profile `{}`", path.display()));
    let place = place.unwrap_or_default();
    with_page(&config, &args.url, async |tab| {
        messages::print_note(&format!("the page is open{place}; close the window to end"));
        tokio::select! {
            () = tab.closed() => {}
            () = runtime::wait_for_signal() => {}
        }
        Ok(())
    })?;
    Ok(ExitStatus::Clean)
}

/// Prints the tools of a page, one per line.
fn list_tools(args: &BrowserPageArgs) -> anyhow::Result<ExitStatus> {
    let config = sources::configured_browser(args.config.as_deref())?;
    let tools = with_page(&config, &args.url, async |tab| {
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

/// The markup of a page after its scripts have run.
///
/// # Errors
/// If there is no browser, or the page cannot be opened.
pub(crate) fn rendered_page(url: &str) -> anyhow::Result<PageMarkup> {
    let config = sources::configured_browser(None)?;
    with_page(&config, url, async |tab| {
        let origin = tab.origin().await?;
        Ok(tab.html(&origin, OPEN_TIME).await?)
    })
}

/// Does something with a page in a browser of its own, and ends the browser.
fn with_page<T>(
    config: &BrowserConfig,
    url: &str,
    work: impl AsyncFnOnce(&Tab) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let config = BrowserConfig { start: None, ..config.clone() };
    let log = runtime::stderr_log();
    let log = Arc::new(move |line: &str| log.line(line));
    let browser = Browser::new(browser_settings(&config), log);
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
/// # Errors
/// If the configuration cannot be read.
pub(crate) fn doctor_line(config: &Path) -> anyhow::Result<String> {
    let config = sources::configured_browser(Some(config))?;
    let line = match find_browser(&browser_settings(&config)) {
        Ok(program) => format!("browser: {}", program.display()),
        Err(error) => format!("browser: none, so tools that need a page do not run; {error}"),
    };
    Ok(line + "\n")
}
