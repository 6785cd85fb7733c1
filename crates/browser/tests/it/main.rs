//! Tests with a real Chromium, which `TOOLWRIGHT_CHROMIUM` names; without it they are skipped.
//!
//! Some kill all browsers of their process: nextest runs each test in a process of its own, and
//! `cargo test` needs `--test-threads=1`.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

mod hostile;
mod lifecycle;
mod navigation;
mod operations;
mod page_server;
mod page_tools;
mod workers;
mod writing;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::Value as Json;
use toolwright_browser::{Browser, BrowserSettings, ElementScope, PageError, Tab};

/// Longer than anything takes that works, also on a busy machine.
const LONG: Duration = Duration::from_secs(30);

/// Settings for the browser under test. Without one, prints that the test is skipped and returns
/// `None`.
fn settings() -> Option<BrowserSettings> {
    let program = std::env::var_os("TOOLWRIGHT_CHROMIUM").map(PathBuf::from);
    if program.is_none() {
        eprintln!("skipped: TOOLWRIGHT_CHROMIUM does not name a Chromium");
    }
    Some(BrowserSettings {
        program: Some(program?),
        start: None,
        origins: Vec::new(),
        is_private: None,
        headless: true,
        profile: None,
        idle: Duration::from_secs(600),
        memory: 4 << 30,
        path: Vec::new(),
        environment: Vec::new(),
    })
}

fn browser_with(settings: BrowserSettings) -> Browser {
    Browser::new(settings, Arc::new(|line| eprintln!("log: {line}")))
}

/// A browser with a tab on a page of the server.
async fn open(server: &page_server::TestSite, path: &str) -> Option<(Browser, Tab)> {
    let browser = browser_with(settings()?);
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&server.url(path), LONG).await.unwrap();
    Some((browser, tab))
}

/// Whose elements [`Page`] uses.
static SCOPE: LazyLock<ElementScope> = LazyLock::new(ElementScope::new);

/// Operations on a page of one origin.
struct Page<'a> {
    tab: &'a Tab,
    origin: String,
}

impl Page<'_> {
    async fn ask(&self, operation: &str, arguments: Json) -> Result<Json, PageError> {
        self.ask_within(operation, arguments, LONG).await
    }

    async fn ask_within(
        &self,
        operation: &str,
        arguments: Json,
        within: Duration,
    ) -> Result<Json, PageError> {
        let arguments = arguments.as_array().unwrap();
        self.tab.operate(*SCOPE, operation, arguments, &self.origin, within).await
    }

    async fn get(&self, operation: &str, arguments: Json) -> Json {
        let shown = arguments.to_string();
        match self.ask(operation, arguments).await {
            Ok(value) => value,
            Err(error) => panic!("{operation} {shown}: {:?} {error}", error.code),
        }
    }
}
