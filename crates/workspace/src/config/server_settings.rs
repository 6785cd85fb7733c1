//! The keys of `[[source]]` that tell how a server is run, as the settings of that server.
//!
//! The same settings are used by sources that name one server (`command`, `url`), by servers files
//! and by definitions, which may name several.

use std::time::Duration;

use toml::de::DeTable;
use toolwright_model::{Isolation, ServerSettings, StartMode};
use toolwright_source::DocumentPath;

use super::ConfigReader;
use super::key_checks::key_number;
use super::keys::SOURCE_KEYS;

/// The words of `isolation`.
pub(super) const ISOLATIONS: &[(&str, Isolation)] =
    &[("shared", Isolation::Shared), ("session", Isolation::Session)];

/// The words of `start`.
pub(super) const START_MODES: &[(&str, StartMode)] =
    &[("eager", StartMode::Eager), ("lazy", StartMode::Lazy)];

impl ConfigReader<'_, '_> {
    /// The settings of the source's servers, from values that `check_members` has checked. The name
    /// of the source is left to the plan: one source may name several servers.
    ///
    /// A `timeout` above `max_timeout` is reported and cut, as in `[limits]`.
    pub(super) fn server_settings(
        &mut self,
        table: &DeTable<'_>,
        at: &DocumentPath,
    ) -> ServerSettings {
        let default = ServerSettings::default();
        let time = |name: &str| {
            key_number(table, SOURCE_KEYS, name).map(|n| Duration::from_millis(n as u64))
        };
        let mut settings = ServerSettings {
            source: String::new(),
            start_timeout: time("start_timeout").unwrap_or(default.start_timeout),
            timeout: time("timeout"),
            max_timeout: time("max_timeout"),
            isolation: word(table, "isolation", ISOLATIONS).unwrap_or_default(),
            start: word(table, "start", START_MODES).unwrap_or_default(),
        };
        if let Some(cap) = settings.max_timeout.filter(|cap| settings.timeout > Some(*cap)) {
            self.report_timeout_above_cap(table, at);
            settings.timeout = Some(cap);
        }
        settings
    }
}

/// The meaning of the word at `name`; other words were reported by `check_members`.
fn word<T: Copy>(table: &DeTable<'_>, name: &str, words: &[(&str, T)]) -> Option<T> {
    let written = table.get(name)?.get_ref().as_str()?;
    words.iter().find(|(word, _)| *word == written).map(|(_, meaning)| *meaning)
}
