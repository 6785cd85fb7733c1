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

/// What was learnt from an earlier mistake like this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// `antiPattern` or `quirk`.
    pub kind: &'static str,
    /// What the definition calls it.
    pub name: String,
    /// What goes wrong.
    pub description: String,
    /// How it is done right, or what helps.
    pub remedy: String,
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
    pub faults: Box<[Fault]>,
    /// Lessons of the definition that fit.
    pub advice: Box<[Advice]>,
    /// The tool's own code for what went wrong, where it has one.
    pub own_code: Option<Box<str>>,
    /// For the log only: it may hold what a stranger printed.
    pub detail: Option<Box<str>>,
}

impl Failure {
    /// A failure with the code's own suggestion.
    pub fn new(code: &'static RunCode, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
            suggestion: code.suggestion.to_owned(),
            faults: Box::default(),
            advice: Box::default(),
            own_code: None,
            detail: None,
        }
    }

    /// Gives a better suggestion.
    #[must_use]
    pub fn suggest(mut self, text: impl Into<String>) -> Failure {
        self.suggestion = text.into();
        self
    }

    /// Gives the tool's own code.
    #[must_use]
    pub(crate) fn own_code(mut self, code: impl Into<String>) -> Failure {
        self.own_code = Some(code.into().into());
        self
    }

    /// Adds what only the log should hold; nothing is added for an empty text.
    #[must_use]
    pub fn detail(mut self, text: impl Into<String>) -> Failure {
        let text = text.into();
        self.detail = (!text.trim().is_empty()).then_some(text.into());
        self
    }

    /// The failing values of a validation.
    #[must_use]
    pub(crate) fn faults(mut self, failures: &toolwright_schema::ValidationErrors) -> Failure {
        self.faults = failures
            .iter()
            .map(|f| Fault { path: f.instance_path.clone(), message: f.message.clone() })
            .collect();
        self
    }

    /// For a program: `code`, `number`, `message`, `suggestion` and `errors`; `toolCode` and
    /// `advice` where there are any.
    pub fn to_json(&self) -> Json {
        let faults =
            self.faults.iter().map(|f| serde_json::json!({"path": f.path, "message": f.message}));
        let mut json = serde_json::json!({
            "code": self.code.name,
            "number": self.code.number,
            "message": self.message,
            "suggestion": self.suggestion,
            "errors": faults.collect::<Vec<_>>(),
        });
        if let Some(own) = &self.own_code {
            json["toolCode"] = (&**own).into();
        }
        if !self.advice.is_empty() {
            let advice = self.advice.iter().map(|advice| {
                let remedy = if advice.kind == "quirk" { "mitigation" } else { "correct" };
                serde_json::json!({
                    "kind": advice.kind, "name": advice.name, "description": advice.description, remedy: advice.remedy,
                })
            });
            json["advice"] = advice.collect();
        }
        json
    }

    /// For a reader, human or model: the message, every failing value, the suggestion.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}: {}", self.code.name, self.message);
        if let Some(own) = &self.own_code {
            text = format!("{}: {own}: {}", self.code.name, self.message);
        }
        for fault in &self.faults {
            match fault.path.as_str() {
                "" if self.code == &crate::code::VALIDATION_FAILED => {
                    text.push_str(&format!("\n- {}", fault.message));
                }
                "" => text.push_str(&format!("\n- the whole value: {}", fault.message)),
                place => text.push_str(&format!("\n- {place}: {}", fault.message)),
            }
        }
        for advice in &self.advice {
            let kind = if advice.kind == "quirk" { "known quirk" } else { "known mistake" };
            text.push_str(&format!(
                "\n{kind} `{}`: {}\n{}",
                advice.name, advice.description, advice.remedy
            ));
        }
        text.push_str(&format!("\nhelp: {}", self.suggestion));
        text
    }
}
