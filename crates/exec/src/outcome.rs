//! What a call gave.

use crate::Json;

/// A piece of a result, as MCP writes it: `{"type": "text", "text": …}` and the like. Kinds that
/// are not known here pass through unchanged.
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
    /// What the runner has to say about it, such as an output that breaks its schema and is only
    /// warned about.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// A result that is JSON: structured, and as text for clients that only read that.
    pub fn json(value: Json) -> Outcome {
        let content = vec![Content::text(value.to_string())];
        Outcome { content, structured: Some(value), ..Outcome::default() }
    }

    /// A result that may be any JSON value: a text is a text.
    pub(crate) fn value_of(value: Json) -> Outcome {
        match value {
            Json::String(text) => Outcome::text(text),
            value => Outcome::json(value),
        }
    }

    /// What it says, as one value: the structured content, else JSON or text of a single text, else
    /// all texts.
    pub fn value(&self) -> Json {
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        match (&self.structured, texts.as_slice()) {
            (Some(value), _) => value.clone(),
            (None, [one]) => serde_json::from_str(one).unwrap_or_else(|_| Json::from(*one)),
            (None, []) => Json::Null,
            (None, many) => many.iter().map(|text| Json::from(*text)).collect(),
        }
    }

    /// A result that is text.
    pub fn text(text: impl Into<String>) -> Outcome {
        Outcome { content: vec![Content::text(text)], ..Outcome::default() }
    }

    /// Its bytes, for the cap. Content and structured content usually say the same, so the larger
    /// of the two counts; texts count as they are, the rest as JSON. Stops counting beyond `cap`.
    pub(crate) fn size(&self, cap: usize) -> usize {
        let of = |content: &Content| {
            content.as_text().map_or_else(|| json_size(&content.0, cap), str::len)
        };
        let content = self.content.iter().map(of).sum::<usize>();
        let structured = self.structured.as_ref().map_or(0, |value| json_size(value, cap));
        content.max(structured) + self.meta.as_ref().map_or(0, |meta| json_size(meta, cap))
    }

    /// All its texts, one below the other.
    pub fn texts(&self) -> String {
        self.content.iter().filter_map(Content::as_text).collect::<Vec<_>>().join("\n")
    }
}

/// What the value takes as JSON, escapes apart; stops counting beyond `cap`.
pub(crate) fn json_size(value: &Json, cap: usize) -> usize {
    let sum = |sizes: &mut dyn Iterator<Item = usize>| {
        let mut total = 2;
        for size in sizes {
            total += size;
            if total > cap {
                break;
            }
        }
        total
    };
    match value {
        Json::Null | Json::Bool(_) => 4,
        Json::Number(_) => 8,
        Json::String(text) => text.len() + 2,
        Json::Array(items) => sum(&mut items.iter().map(|item| json_size(item, cap) + 1)),
        Json::Object(map) => sum(&mut map.iter().map(|(k, v)| k.len() + 4 + json_size(v, cap))),
    }
}
