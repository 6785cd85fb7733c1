//! A call that did not succeed: what the caller is told, and what only the log is.

use crate::{Json, RunCode};

/// One value of the arguments or the result that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer to the value; empty for the whole.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

/// Why a call did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.name)]
pub struct Failure {
    /// Which kind.
    pub code: &'static RunCode,
    /// One sentence for the caller.
    pub message: String,
    /// What to do; the code's own suggestion unless something better is known.
    pub suggestion: String,
    /// Every value that is wrong, for the two codes about values.
    pub faults: Vec<Fault>,
    /// For the log only: it may hold what a stranger printed.
    pub detail: Option<String>,
}

impl Failure {
    /// A failure with the code's own suggestion.
    pub fn new(code: &'static RunCode, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
            suggestion: code.suggestion.to_owned(),
            faults: Vec::new(),
            detail: None,
        }
    }

    /// Gives a better suggestion.
    #[must_use]
    pub fn suggest(mut self, text: impl Into<String>) -> Failure {
        self.suggestion = text.into();
        self
    }

    /// Adds what only the log should hold; nothing is added for an empty text.
    #[must_use]
    pub fn detail(mut self, text: impl Into<String>) -> Failure {
        let text = text.into();
        self.detail = (!text.trim().is_empty()).then_some(text);
        self
    }

    /// The failing values of a validation.
    #[must_use]
    pub(crate) fn faults(mut self, failures: &toolwright_schema::Failures) -> Failure {
        self.faults = failures
            .iter()
            .map(|f| Fault { path: f.instance_path.clone(), message: f.message.clone() })
            .collect();
        self
    }

    /// For a program: `code`, `number`, `message`, `suggestion` and `errors`.
    pub fn to_json(&self) -> Json {
        let faults = self.faults.iter().map(|f| serde_json::json!({"path": f.path, "message": f.message}));
        serde_json::json!({
            "code": self.code.name,
            "number": self.code.number,
            "message": self.message,
            "suggestion": self.suggestion,
            "errors": faults.collect::<Vec<_>>(),
        })
    }

    /// For a reader, human or model: the message, every failing value, the suggestion.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}: {}", self.code.name, self.message);
        for fault in &self.faults {
            let place = if fault.path.is_empty() { "the whole value" } else { fault.path.as_str() };
            text.push_str(&format!("\n- {place}: {}", fault.message));
        }
        text.push_str(&format!("\nhelp: {}", self.suggestion));
        text
    }
}
