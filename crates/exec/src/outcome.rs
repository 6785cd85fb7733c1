//! What a call gave.

use crate::Json;

/// A piece of a result, as MCP writes it: `{"type": "text", "text": …}` and the like. Kinds that are
/// not known here pass through unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct Content(pub Json);

impl Content {
    /// A text.
    pub fn text(text: impl Into<String>) -> Content {
        Content(serde_json::json!({"type": "text", "text": text.into()}))
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        (self.0.get("type")?.as_str()? == "text").then(|| self.0.get("text")?.as_str()).flatten()
    }
}

/// What a call gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// For the model, in order.
    pub content: Vec<Content>,
    /// For a program.
    pub structured: Option<Json>,
    /// Whether the tool says that it failed; `content` tells why.
    pub is_error: bool,
    /// Free metadata of the result.
    pub meta: Option<Json>,
    /// What the runner has to say about it, such as an output that breaks its schema and is only warned about.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// A result that is JSON: structured, and as text for clients that only read that.
    pub fn json(value: Json) -> Outcome {
        let content = vec![Content::text(value.to_string())];
        Outcome { content, structured: Some(value), ..Outcome::default() }
    }

    /// A result that is text.
    pub fn text(text: impl Into<String>) -> Outcome {
        Outcome { content: vec![Content::text(text)], ..Outcome::default() }
    }

    /// All its texts, one below the other.
    pub fn texts(&self) -> String {
        self.content.iter().filter_map(Content::as_text).collect::<Vec<_>>().join("\n")
    }
}
