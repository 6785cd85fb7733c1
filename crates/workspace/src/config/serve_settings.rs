//! `[serve]` of the configuration: how `toolwright serve` treats its clients.

use std::time::Duration;

use toml::de::DeTable;

use super::key_checks::{check_members, key_number};
use super::keys::SERVE_KEYS;
use super::{ConfigReader, words};

/// The settings of `[serve]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeSettings {
    /// How long a session may go without any request.
    pub session_idle: Duration,
    /// How long the first list of tools waits for servers that are still starting.
    pub list_wait: Duration,
    /// The tokens of an answer above which it is shortened; 0: answers are never shortened.
    pub answer_tokens: usize,
    /// Values of the header `Host` that are accepted beside those of this machine.
    pub allowed_hosts: Vec<String>,
    /// Values of the header `Origin` that are accepted.
    pub allowed_origins: Vec<String>,
}

impl Default for ServeSettings {
    fn default() -> ServeSettings {
        ServeSettings {
            session_idle: Duration::from_secs(24 * 60 * 60),
            // Long enough for most servers. Clients wait a minute for an answer, or longer.
            list_wait: Duration::from_secs(30),
            answer_tokens: 20_000,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
        }
    }
}

impl ConfigReader<'_, '_> {
    /// The settings of `serve`. A value out of its range keeps the default;
    /// `SourcePlan::bad_limit` makes callers refuse to serve with it.
    pub(super) fn serve_settings(&mut self, root: &DeTable<'_>) -> ServeSettings {
        let mut settings = ServeSettings::default();
        let Some((table, at)) = self.single_table(root, "serve") else { return settings };
        check_members(table, SERVE_KEYS, &at, self.problems);
        let count = |name: &str| key_number(table, SERVE_KEYS, name);
        let time = |name: &str| count(name).map(|n| Duration::from_millis(n as u64));
        settings.session_idle = time("session_idle").unwrap_or(settings.session_idle);
        settings.list_wait = time("list_wait").unwrap_or(settings.list_wait);
        settings.answer_tokens = count("answer_tokens").unwrap_or(settings.answer_tokens);
        // A list with an item of another type was reported, and allows nothing.
        let list = |name: &str| {
            let value = table.get(name).map(|value| value.get_ref())?;
            value.as_array().and_then(|_| words(value))
        };
        settings.allowed_hosts = list("allowed_hosts").unwrap_or_default();
        settings.allowed_origins = list("allowed_origins").unwrap_or_default();
        settings
    }
}
