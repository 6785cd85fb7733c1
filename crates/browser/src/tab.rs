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
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The schema of its arguments, if it has one.
    pub input_schema: Option<Json>,
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
}

fn unavailable() -> PageError {
    PageError { code: PageErrorCode::NoBrowser, message: "no browser is installed".to_owned() }
}
