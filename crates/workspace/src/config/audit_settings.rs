//! `[audit]` of the configuration: what is kept about calls, and for how long.

use std::time::Duration;

use toml::de::DeTable;

use super::ConfigReader;
use super::key_checks::{check_members, key_number};
use super::keys::AUDIT_KEYS;

/// What a record keeps of the arguments of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedArguments {
    /// Nothing.
    None,
    /// Their SHA-256.
    Hash,
    /// All of them, with secrets of the configuration replaced.
    Full,
}

/// The words of `arguments`.
pub(super) const RECORDED_ARGUMENTS: &[(&str, RecordedArguments)] = &[
    ("none", RecordedArguments::None),
    ("hash", RecordedArguments::Hash),
    ("full", RecordedArguments::Full),
];

/// The settings of `[audit]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditSettings {
    /// Whether a call fails if it cannot be recorded.
    pub required: bool,
    /// What is kept of arguments.
    pub arguments: RecordedArguments,
    /// The age at which records are removed.
    pub keep: Duration,
    /// The size of the store above which the oldest records are removed.
    pub max_bytes: u64,
}

/// Seconds of a day.
pub(super) const DAY: u64 = 24 * 60 * 60;

impl Default for AuditSettings {
    fn default() -> AuditSettings {
        AuditSettings {
            required: true,
            arguments: RecordedArguments::Hash,
            keep: Duration::from_secs(90 * DAY),
            max_bytes: 256 << 20,
        }
    }
}

impl ConfigReader<'_, '_> {
    /// The settings of the records. A value out of its range keeps the default;
    /// `SourcePlan::bad_limit` makes callers refuse to run with it.
    pub(super) fn audit_settings(&mut self, root: &DeTable<'_>) -> AuditSettings {
        let mut settings = AuditSettings::default();
        let Some((table, at)) = self.single_table(root, "audit") else { return settings };
        check_members(table, AUDIT_KEYS, &at, self.problems);
        let value = |name: &str| table.get(name).map(|value| value.get_ref());
        let count = |name: &str| key_number(table, AUDIT_KEYS, name).map(|n| n as u64);
        let required = value("required").and_then(|value| value.as_bool());
        settings.required = required.unwrap_or(settings.required);
        let word = value("arguments").and_then(|value| value.as_str());
        let known = RECORDED_ARGUMENTS.iter().find(|(known, _)| Some(*known) == word);
        settings.arguments = known.map_or(settings.arguments, |(_, kept)| *kept);
        let days = count("keep_days").map(|days| Duration::from_secs(days * DAY));
        settings.keep = days.unwrap_or(settings.keep);
        settings.max_bytes = count("max_bytes").unwrap_or(settings.max_bytes);
        settings
    }
}
