//! The result of a call, in the shape of MCP's `CallToolResult`.
//!
//! Results of MCP servers keep the JSON they were sent as, unknown fields and content types
//! included. Results of programs and JavaScript are brought into the same shape here.

use crate::Json;
use crate::offload::{LARGE, WorkSize};
use crate::written_parts::WrittenParts;

/// Bytes of a result above which its size need not be exact.
const MAX_COUNTED: usize = 16 << 20;

/// A block of a result's content as MCP writes it, such as `{"type": "text", "text": …}`. Blocks of
/// unknown types pass through unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultContent(ContentBlock);

/// Nearly all blocks are a text without anything else. Kept as a map, such a block would take more
/// time than all else that is done with a short result.
#[derive(Clone, Debug, PartialEq)]
enum ContentBlock {
    /// `{"type": "text", "text": …}`, with no other member.
    Text(String),
    /// Everything else.
    Other(Json),
}

impl ResultContent {
    /// A text block.
    pub fn text(text: impl Into<String>) -> ResultContent {
        ResultContent(ContentBlock::Text(text.into()))
    }

    /// The text of a text block; `None` for other types.
    pub fn as_text(&self) -> Option<&str> {
        match &self.0 {
            ContentBlock::Text(text) => Some(text),
            ContentBlock::Other(block) if block.get("type")?.as_str()? == "text" => {
                block.get("text")?.as_str()
            }
            ContentBlock::Other(_) => None,
        }
    }

    /// The block as JSON, unless it is a text without anything else.
    pub fn as_other(&self) -> Option<&Json> {
        match &self.0 {
            ContentBlock::Text(_) => None,
            ContentBlock::Other(block) => Some(block),
        }
    }

    /// The same, to be changed.
    pub fn as_other_mut(&mut self) -> Option<&mut Json> {
        match &mut self.0 {
            ContentBlock::Text(_) => None,
            ContentBlock::Other(block) => Some(block),
        }
    }

    /// The block as JSON.
    pub fn to_json(&self) -> Json {
        match &self.0 {
            ContentBlock::Text(text) => serde_json::json!({"type": "text", "text": text}),
            ContentBlock::Other(block) => block.clone(),
        }
    }

    /// Replaces the text of a text block; other members stay.
    pub fn set_text(&mut self, text: impl Into<String>) {
        match &mut self.0 {
            ContentBlock::Text(own) => *own = text.into(),
            ContentBlock::Other(block) => block["text"] = text.into().into(),
        }
    }

    /// The Base64 text of an image, a sound or an embedded file; empty for other types.
    fn media_text(&self) -> &str {
        let Some(block) = self.as_other() else { return "" };
        let text = match block.get("type").and_then(Json::as_str) {
            Some("image" | "audio") => block.get("data"),
            Some("resource") => block.get("resource").and_then(|it| it.get("blob")),
            _ => None,
        };
        text.and_then(Json::as_str).unwrap_or_default()
    }
}

impl From<Json> for ResultContent {
    fn from(block: Json) -> ResultContent {
        ResultContent(ContentBlock::Other(block))
    }
}

impl serde::Serialize for ResultContent {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            ContentBlock::Text(text) => to.collect_map([("type", "text"), ("text", text)]),
            ContentBlock::Other(block) => block.serialize(to),
        }
    }
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The blocks that a model reads, in order.
    pub content: Vec<ResultContent>,
    /// The result for a program (`structuredContent`).
    pub structured: Option<Json>,
    /// Whether the tool reports that it failed; `content` has the reason. A failure to run the tool
    /// is a [`crate::Failure`] instead.
    pub is_error: bool,
    /// The `_meta` of a server's result.
    pub meta: Option<Json>,
    /// Members of a server's result that are none of the above, such as those of a task.
    pub rest: serde_json::Map<String, Json>,
    /// The text of parts of a server's result.
    pub written: WrittenParts,
    /// Remarks of the runner and of validators, such as a broken output schema where that is only
    /// warned about. Not part of the tool's result.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// Whether this is a task that was created (2025-11-25, or the extension of 2026-07-28): the
    /// result comes later.
    pub fn is_task(&self) -> bool {
        let is_created = self.rest.get("task").is_some_and(Json::is_object)
            || self.rest.get("resultType").is_some_and(|kind| kind == "task");
        is_created && self.content.is_empty() && self.structured.is_none()
    }

    /// A JSON result: structured, and as text for clients that read only text (MCP recommends
    /// both).
    pub fn json(value: Json) -> Outcome {
        let content = vec![ResultContent::text(value.to_string())];
        Outcome { content, structured: Some(value), ..Outcome::default() }
    }

    /// The result of JavaScript, which can return any JSON value. A string becomes text, not a
    /// quoted JSON string.
    pub(crate) fn value_of(value: Json) -> Outcome {
        match value {
            Json::String(text) => Outcome::text(text),
            value => Outcome::json(value),
        }
    }

    /// The result as one JSON value, for processors and for examples of `toolwright test`: the
    /// structured content; else a single text, parsed if it is JSON; else a list of all texts; else
    /// null.
    pub fn value(&self) -> Json {
        let texts: Vec<&str> = self.content.iter().filter_map(ResultContent::as_text).collect();
        match (&self.structured, texts.as_slice()) {
            (Some(value), _) => value.clone(),
            (None, [one]) => serde_json::from_str(one).unwrap_or_else(|_| Json::from(*one)),
            (None, []) => Json::Null,
            (None, many) => many.iter().map(|text| Json::from(*text)).collect(),
        }
    }

    /// A text result.
    pub fn text(text: impl Into<String>) -> Outcome {
        Outcome { content: vec![ResultContent::text(text)], ..Outcome::default() }
    }

    /// The size that the output limit counts, in bytes, without media. Content and structured
    /// content usually hold the same data twice, so only the larger one counts. Everything else
    /// counts, too. Counting may stop once the result is above `cap`.
    pub(crate) fn size(&self, cap: usize) -> usize {
        let block_size = |content: &ResultContent| match content.as_text() {
            Some(text) => text.len(),
            None => {
                let size = content.as_other().map_or(0, |block| json_size(block, cap));
                size.saturating_sub(content.media_text().len())
            }
        };
        let content = self.content.iter().map(block_size).sum::<usize>();
        let structured = self.structured.as_ref().map_or(0, |value| json_size(value, cap));
        let meta = self.meta.as_ref().map_or(0, |meta| json_size(meta, cap));
        let rest = self
            .rest
            .iter()
            .map(|(key, value)| key.len() + json_size(value, cap) + self.written.excess(key));
        let warnings = self.warnings.iter().map(String::len);
        let content = content + self.written.excess("content");
        let structured = structured + self.written.excess("structuredContent");
        content.max(structured) + meta + rest.chain(warnings).sum::<usize>()
    }

    /// The bytes of all images, sounds and files, once they are decoded.
    pub(crate) fn media_size(&self) -> usize {
        self.content.iter().map(|content| content.media_text().len() / 4 * 3).sum()
    }

    /// About the size of the whole result in bytes, media included, for records. Counting stops
    /// above 16 MiB.
    pub(crate) fn full_size(&self) -> usize {
        self.size(MAX_COUNTED) + self.media_size()
    }

    /// Whether converting or writing the result takes longer than a moment.
    pub fn work_size(&self) -> WorkSize {
        WorkSize::of_bytes(self.size(LARGE) + self.media_size())
    }

    /// All text blocks, joined by line breaks.
    pub fn texts(&self) -> String {
        self.content.iter().filter_map(ResultContent::as_text).collect::<Vec<_>>().join("\n")
    }
}

/// About the size of a value as compact JSON, without writing it: escapes are not counted and every
/// number counts 8 bytes. Stops counting once a list or map is above `cap`.
pub fn json_size(value: &Json, cap: usize) -> usize {
    // The brackets, then one separator per item.
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
