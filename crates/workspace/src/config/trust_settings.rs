//! `[trust]` of the configuration: what happens when a definition differs from the accepted one.

use toml::de::DeTable;

use super::ConfigReader;
use super::key_checks::check_members;
use super::keys::TRUST_KEYS;

/// What happens to tools that differ from what was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinMode {
    /// Nothing is compared or kept.
    Off,
    /// They are served, and reported.
    Warn,
    /// They are set aside until a person accepts them.
    Enforce,
}

/// The words of `pin`.
pub(super) const PIN_MODES: &[(&str, PinMode)] =
    &[("off", PinMode::Off), ("warn", PinMode::Warn), ("enforce", PinMode::Enforce)];

/// The settings of `[trust]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustSettings {
    /// The mode; `None` enforces a lock, and warns without one.
    pub pin: Option<PinMode>,
    /// Whether nothing is served while pins that must be enforced cannot be read.
    pub required: bool,
}

impl Default for TrustSettings {
    fn default() -> TrustSettings {
        TrustSettings { pin: None, required: true }
    }
}

impl ConfigReader<'_, '_> {
    /// The settings of pins. A wrong value is fatal, as in `[audit]`.
    pub(super) fn trust_settings(&mut self, root: &DeTable<'_>) -> TrustSettings {
        let mut settings = TrustSettings::default();
        let Some((table, at)) = self.single_table(root, "trust") else { return settings };
        check_members(table, TRUST_KEYS, &at, self.problems);
        let value = |name: &str| table.get(name).map(|value| value.get_ref());
        let word = value("pin").and_then(|value| value.as_str());
        let known = PIN_MODES.iter().find(|(known, _)| Some(*known) == word);
        settings.pin = known.map(|(_, mode)| *mode);
        let required = value("required").and_then(|value| value.as_bool());
        settings.required = required.unwrap_or(settings.required);
        settings
    }
}
