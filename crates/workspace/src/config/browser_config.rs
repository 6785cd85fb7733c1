//! `[browser]` of the configuration: the browser on whose pages BTCP tools work.

use std::path::PathBuf;
use std::time::Duration;

use toml::de::DeTable;

use super::ConfigReader;
use super::key_checks::{check_members, key_number};
use super::keys::BROWSER_KEYS;

/// The settings of `[browser]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserConfig {
    /// The program; `None`: the first of the usual names on the PATH.
    pub program: Option<PathBuf>,
    /// The page that a new tab opens; `None`: an empty one.
    pub start: Option<String>,
    /// The origins that may be opened; empty: all.
    pub origins: Vec<String>,
    /// Whether it runs without a window.
    pub headless: bool,
    /// The folder of the profile; `None`: a temporary one.
    pub profile: Option<PathBuf>,
    /// How long it is kept without a call.
    pub idle: Duration,
    /// Bytes of memory beyond which it is killed.
    pub memory: u64,
}

// The schema for editors states these values, too, by reading this.
impl Default for BrowserConfig {
    fn default() -> BrowserConfig {
        BrowserConfig {
            program: None,
            start: None,
            origins: Vec::new(),
            headless: true,
            profile: None,
            idle: Duration::from_secs(300),
            memory: 2 << 30,
        }
    }
}

impl ConfigReader<'_, '_> {
    /// The settings of the browser. A wrong value is fatal, as in `[audit]`.
    ///
    /// Relative paths start at the folder of the configuration.
    pub(super) fn browser_config(&mut self, root: &DeTable<'_>) -> BrowserConfig {
        let mut settings = BrowserConfig::default();
        let Some((table, at)) = self.single_table(root, "browser") else { return settings };
        check_members(table, BROWSER_KEYS, &at, self.problems);
        let value = |name: &str| table.get(name).map(|value| value.get_ref());
        let text = |name: &str| value(name)?.as_str().map(str::to_owned);
        let folder = self.scope.workspace;
        // A bare name is looked for on the PATH.
        settings.program = text("program").map(|program| match program.contains('/') {
            true => folder.join(program),
            false => program.into(),
        });
        settings.start = text("start");
        settings.origins =
            value("origins").and_then(|list| list.as_array()).map_or_else(Vec::new, |list| {
                let texts = list.iter().filter_map(|item| item.get_ref().as_str());
                texts.map(str::to_owned).collect()
            });
        let headless = value("headless").and_then(|value| value.as_bool());
        settings.headless = headless.unwrap_or(settings.headless);
        settings.profile = text("profile").map(|profile| folder.join(profile));
        let count = |name: &str| key_number(table, BROWSER_KEYS, name).map(|n| n as u64);
        settings.idle = count("idle").map_or(settings.idle, Duration::from_millis);
        settings.memory = count("memory").unwrap_or(settings.memory);
        settings
    }
}
