//! The browser on whose pages tools work, by the settings of the configuration.

use std::sync::Arc;

use toolwright_browser::{Browser, BrowserSettings};
use toolwright_exec::Log;
use toolwright_workspace::BrowserConfig;

use crate::environment::variable;

/// A browser that is started on first use.
pub(crate) fn new_browser(config: &BrowserConfig, log: &Log) -> Arc<Browser> {
    let log = log.clone();
    let settings = BrowserSettings {
        program: config.program.clone(),
        start: config.start.clone(),
        origins: config.origins.clone(),
        headless: config.headless,
        profile: config.profile.clone(),
        idle: config.idle,
        memory: config.memory,
        path: std::env::split_paths(&variable("PATH").unwrap_or_default()).collect(),
    };
    Arc::new(Browser::new(settings, Arc::new(move |line: &str| log.line(line))))
}
