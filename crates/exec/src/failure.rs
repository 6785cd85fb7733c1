//! A call that did not succeed.
//!
//! A failure has two audiences. Message, suggestion, errors and advice go to the caller, who may be
//! a model that should correct its next call. [`Failure::detail`] goes to the log only: it can hold
//! what a foreign program printed, which may be long, secret or written to steer a model.

use toolwright_mcp::RpcError;

use crate::capped_texts::{MAX_CHARS, shorten};
use crate::{Json, RunCode};

/// Errors of a schema that a failure lists. A caller corrects a few mistakes at a time; a schema
/// can find ten thousand.
const MAX_SCHEMA_ERRORS: usize = 20;

/// One value of the arguments or the result that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// JSON pointer to the value; empty for the whole document, and for validators, which do not
    /// report a position.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

/// A known mistake or quirk of the definition that fits the failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnowledgeAdvice {
    /// `antiPattern` or `quirk`, as the definition's own lists are called.
    pub kind: &'static str,
    /// Its name in the definition.
    pub name: String,
    /// What goes wrong, in the words of the definition, cut to a bound.
    pub description: String,
    /// The correct way (of an anti-pattern) or the mitigation (of a quirk).
    pub remedy: String,
    /// The mistake as the definition shows it; only of an anti-pattern.
    pub wrong: Option<String>,
    /// Why the correct way is right; only of an anti-pattern.
    pub rationale: Option<String>,
    /// What follows from it.
    pub impact: Option<String>,
}

/// Why a call did not succeed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {message}", code.name)]
pub struct Failure {
    /// Its code, which stays the same between versions; docs/calling.md lists all.
    pub code: &'static RunCode,
    /// One sentence for the caller.
    pub message: String,
    /// What the caller can do; the code's own suggestion unless a better one is available.
    pub suggestion: Box<str>,
    /// Every wrong value, for `INPUT_INVALID`, `OUTPUT_INVALID` and `VALIDATION_FAILED`.
    pub errors: Box<[ValueError]>,
    /// What fits best to each error.
    pub advice: Box<[KnowledgeAdvice]>,
    /// The code that a JavaScript body gave its `BTCPError`, as its author wrote it.
    pub tool_code: Option<Box<str>>,
    /// The JSON-RPC error with which an MCP server answered the call, whole, so that it can be
    /// passed on as one.
    pub rpc_error: Option<Box<RpcError>>,
    /// For the log only.
    pub detail: Option<Box<str>>,
}

impl Failure {
    /// A failure with the code's own suggestion and nothing else.
    pub fn new(code: &'static RunCode, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
            suggestion: code.suggestion.into(),
            errors: Box::default(),
            advice: Box::default(),
            tool_code: None,
            rpc_error: None,
            detail: None,
        }
    }

    /// Replaces the code's suggestion by a more specific one.
    #[must_use]
    pub fn suggest(mut self, text: impl Into<String>) -> Failure {
        self.suggestion = text.into().into();
        self
    }

    /// Sets the tool's own code.
    #[must_use]
    pub(crate) fn tool_code(mut self, code: impl Into<String>) -> Failure {
        self.tool_code = Some(code.into().into());
        self
    }

    /// Sets the text for the log; a blank text counts as none.
    #[must_use]
    pub fn detail(mut self, text: impl Into<String>) -> Failure {
        let text = text.into();
        self.detail = (!text.trim().is_empty()).then_some(text.into());
        self
    }

    /// Lists the values that a schema rejected: the first of them, if there are many.
    #[must_use]
    pub(crate) fn schema_errors(mut self, errors: &toolwright_schema::ValidationErrors) -> Failure {
        let shown = errors.iter().take(MAX_SCHEMA_ERRORS);
        let mut listed: Vec<ValueError> = shown
            .map(|error| ValueError {
                path: shorten(&error.instance_path, MAX_CHARS).into_owned(),
                message: shorten(&error.message, MAX_CHARS).into_owned(),
            })
            .collect();
        let rest = errors.iter().count() - listed.len();
        if rest > 0 {
            let message = format!("{rest} more errors are not shown");
            listed.push(ValueError { path: String::new(), message });
        }
        self.errors = listed.into();
        self
    }

    /// The failure for a program: always `code`, `number`, `btcpCode`, `message`, `suggestion` and
    /// `errors`; `advice` if present. Part of the stable output of `call --json` and of MCP
    /// results. `btcpCode` is the code of the tool's own `BTCPError`, else the same as `code`.
    pub fn to_json(&self) -> Json {
        let errors =
            self.errors.iter().map(|e| serde_json::json!({"path": e.path, "message": e.message}));
        let mut json = serde_json::json!({
            "code": self.code.name,
            "number": self.code.number,
            "btcpCode": self.tool_code.as_deref().unwrap_or(self.code.name),
            "message": self.message,
            "suggestion": self.suggestion,
            "errors": errors.collect::<Vec<_>>(),
        });
        if !self.advice.is_empty() {
            let advice = self.advice.iter().map(|advice| {
                // The AIOS format calls the remedy of a quirk its mitigation.
                let remedy = if advice.kind == "quirk" { "mitigation" } else { "correct" };
                let mut json = serde_json::json!({
                    "kind": advice.kind,
                    "name": advice.name,
                    "description": advice.description,
                    remedy: advice.remedy,
                });
                let more = [
                    ("wrong", &advice.wrong),
                    ("rationale", &advice.rationale),
                    ("impact", &advice.impact),
                ];
                for (name, text) in more {
                    if let Some(text) = text {
                        json[name] = text.as_str().into();
                    }
                }
                json
            });
            json["advice"] = advice.collect();
        }
        json
    }

    /// The failure for a person or a model: message, wrong values, advice, suggestion, each on
    /// lines of its own.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}: {}", self.code.name, self.message);
        // A `BTCPError` without a message has its code as one.
        if let Some(code) = self.tool_code.as_deref().filter(|code| *code != self.message) {
            text = format!("{}: {code}: {}", self.code.name, self.message);
        }
        for error in &self.errors {
            match error.path.as_str() {
                // A validator's error has no path because it has no position, not because the
                // whole value is wrong.
                // The whole of the arguments is an object of the caller's making, so the message
                // is about one of its members.
                "" if [&crate::code::VALIDATION_FAILED, &crate::code::INPUT_INVALID]
                    .contains(&self.code) =>
                {
                    text.push_str(&format!("\n- {}", error.message));
                }
                "" => text.push_str(&format!("\n- the whole value: {}", error.message)),
                path => text.push_str(&format!("\n- {path}: {}", error.message)),
            }
        }
        for advice in &self.advice {
            let kind = if advice.kind == "quirk" { "known quirk" } else { "known mistake" };
            text.push_str(&format!("\n{kind} `{}`: {}", advice.name, advice.description));
            if let Some(wrong) = &advice.wrong {
                text.push_str(&format!("\nwrong: {wrong}"));
            }
            let remedy = if advice.kind == "quirk" { "mitigation" } else { "correct" };
            text.push_str(&format!("\n{remedy}: {}", advice.remedy));
            for (label, more) in [("why", &advice.rationale), ("impact", &advice.impact)] {
                if let Some(more) = more {
                    text.push_str(&format!("\n{label}: {more}"));
                }
            }
        }
        text.push_str(&format!("\nhelp: {}", self.suggestion));
        text
    }
}
