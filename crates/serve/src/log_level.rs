//! The levels of log messages, as MCP orders them.

use serde_json::Value as Json;

/// A level, from the least to the most severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MessageLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl MessageLevel {
    /// The level with this name.
    ///
    /// Names are compared as they are: MCP writes them in lower case.
    pub(crate) fn parse(name: &str) -> Option<MessageLevel> {
        Some(match name {
            "debug" => MessageLevel::Debug,
            "info" => MessageLevel::Info,
            "notice" => MessageLevel::Notice,
            "warning" => MessageLevel::Warning,
            "error" => MessageLevel::Error,
            "critical" => MessageLevel::Critical,
            "alert" => MessageLevel::Alert,
            "emergency" => MessageLevel::Emergency,
            _ => return None,
        })
    }

    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            MessageLevel::Debug => "debug",
            MessageLevel::Info => "info",
            MessageLevel::Notice => "notice",
            MessageLevel::Warning => "warning",
            MessageLevel::Error => "error",
            MessageLevel::Critical => "critical",
            MessageLevel::Alert => "alert",
            MessageLevel::Emergency => "emergency",
        }
    }

    /// The level of the parameters of `notifications/message`. A message without a known level
    /// counts as information: it is better shown than lost.
    pub(crate) fn of_message(params: &Json) -> MessageLevel {
        let named = params.get("level").and_then(Json::as_str).and_then(MessageLevel::parse);
        named.unwrap_or(MessageLevel::Info)
    }
}

#[cfg(test)]
mod tests {
    use super::MessageLevel;

    #[test]
    fn levels_are_ordered_by_severity() {
        let names =
            ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
        let levels = names.map(|name| MessageLevel::parse(name).expect(name));
        assert!(levels.is_sorted());
        assert_eq!(levels.map(MessageLevel::name), names);
        assert_eq!(MessageLevel::parse("verbose"), None);
        let unknown = serde_json::json!({"level": "verbose", "data": 1});
        assert_eq!(MessageLevel::of_message(&unknown), MessageLevel::Info);
    }
}
