//! One tab of a session, and what can be done with its page.

use std::time::Duration;

use crate::{Json, PageError, PageErrorCode};

/// A tab. Clones are the same tab.
#[derive(Clone)]
pub struct Tab {}

/// What a list of tabs shows of one.
#[derive(Clone, Debug)]
pub struct TabInfo {
    /// Its number within the session, from 1.
    pub number: u32,
    /// The title of its page.
    pub title: String,
    /// The address of its page.
    pub url: String,
    /// Whether calls of the session use it.
    pub is_current: bool,
}

/// A tool that the page itself offers (WebMCP).
#[derive(Clone, Debug)]
pub struct PageTool {
    /// The origin of the page that offers it.
    pub origin: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The schema of its arguments, if it has one.
    pub input_schema: Option<Json>,
}

/// The markup of a page.
#[derive(Clone, Debug)]
pub struct PageMarkup {
    /// The address of the page.
    pub url: String,
    /// Its markup as it is now, scripts have run.
    pub html: String,
}

impl Tab {
    /// The origin of its page, `null` for a page that has none.
    pub async fn origin(&self) -> Result<String, PageError> {
        Err(unavailable())
    }

    /// Does one operation of [`OPERATIONS`](crate::OPERATIONS), if the page is of this origin at
    /// the moment in which it is done. The caller has checked that it is granted.
    pub async fn operate(
        &self,
        operation: &str,
        arguments: &[Json],
        origin: &str,
        within: Duration,
    ) -> Result<Json, PageError> {
        let _ = (operation, arguments, origin, within);
        Err(unavailable())
    }

    /// Forgets the references to elements that operations returned.
    pub async fn release(&self) {}

    /// Its number within the session, from 1.
    pub fn number(&self) -> u32 {
        0
    }

    /// Opens an address and waits until it is loaded. Slow resources of a page that is there
    /// already are not an error.
    pub async fn navigate(&self, address: &str, within: Duration) -> Result<(), PageError> {
        let _ = (address, within);
        Err(unavailable())
    }

    /// Goes back to the page before.
    pub async fn back(&self, within: Duration) -> Result<(), PageError> {
        let _ = within;
        Err(unavailable())
    }

    /// Waits until an element matches, also across navigations.
    pub async fn wait_for(&self, selector: &str, within: Duration) -> Result<(), PageError> {
        let _ = (selector, within);
        Err(unavailable())
    }

    /// What is visible of the page, as PNG.
    pub async fn screenshot(&self, within: Duration) -> Result<Vec<u8>, PageError> {
        let _ = within;
        Err(unavailable())
    }

    /// The address and the markup of the page, if it is of this origin.
    pub async fn html(&self, origin: &str, within: Duration) -> Result<PageMarkup, PageError> {
        let _ = (origin, within);
        Err(unavailable())
    }

    /// What happened since the last call that callers may want to report: dialogs that were
    /// dismissed, popups and downloads that were refused, navigations that were refused.
    pub fn take_notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// The tools that the page itself offers.
    pub async fn page_tools(&self) -> Result<Vec<PageTool>, PageError> {
        Err(unavailable())
    }

    /// Calls a tool of the page, if the page is of this origin. The arguments are not validated
    /// here.
    pub async fn call_page_tool(
        &self,
        name: &str,
        arguments: &Json,
        origin: &str,
        within: Duration,
    ) -> Result<Json, PageError> {
        let _ = (name, arguments, origin, within);
        Err(unavailable())
    }

    /// Changes whenever the tools of the page may have changed: navigation included.
    pub fn page_tool_changes(&self) -> tokio::sync::watch::Receiver<u64> {
        tokio::sync::watch::channel(0).1
    }
}

fn unavailable() -> PageError {
    PageError { code: PageErrorCode::NoBrowser, message: "no browser is installed".to_owned() }
}
