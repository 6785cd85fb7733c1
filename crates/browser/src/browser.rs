//! The browser as a whole: started on first use, shared by all sessions, restarted after a crash.

use std::sync::Arc;

use crate::{BrowserSettings, PageError, PageErrorCode, Tab, TabInfo};

/// The browser. Nothing is started before the first tab is needed.
pub struct Browser {
    settings: BrowserSettings,
}

impl Browser {
    /// A browser with these settings; not started yet. `log` receives lines for the log.
    pub fn new(settings: BrowserSettings, log: Arc<dyn Fn(&str) + Send + Sync>) -> Browser {
        let _ = log;
        Browser { settings }
    }

    /// The settings.
    pub fn settings(&self) -> &BrowserSettings {
        &self.settings
    }

    /// The program that is started.
    ///
    /// # Errors
    /// If there is none; the message says how to get one.
    pub fn program(&self) -> Result<std::path::PathBuf, PageError> {
        Err(PageError {
            code: PageErrorCode::NoBrowser,
            message: "no browser is installed".to_owned(),
        })
    }

    /// The current tab of a session, opened if it has none. Starts the browser if necessary.
    pub async fn tab(&self, session: &str) -> Result<Tab, PageError> {
        let _ = session;
        Err(PageError {
            code: PageErrorCode::NoBrowser,
            message: "no browser is installed".to_owned(),
        })
    }

    /// The tabs of a session. Does not start the browser.
    pub async fn tabs(&self, session: &str) -> Vec<TabInfo> {
        let _ = session;
        Vec::new()
    }

    /// Opens another tab of a session and makes it the current one.
    pub async fn open_tab(&self, session: &str) -> Result<Tab, PageError> {
        self.tab(session).await
    }

    /// Makes another tab of a session the current one.
    pub async fn switch_tab(&self, session: &str, number: u32) -> Result<Tab, PageError> {
        let _ = number;
        self.tab(session).await
    }

    /// Closes a tab of a session; the one before it becomes current.
    pub async fn close_tab(&self, session: &str, number: u32) -> Result<(), PageError> {
        let _ = (session, number);
        Ok(())
    }

    /// Closes the tabs of a session that has ended.
    pub async fn end_session(&self, session: &str) {
        let _ = session;
    }

    /// Ends the browser and removes a temporary profile.
    pub async fn close(&self) {}
}
