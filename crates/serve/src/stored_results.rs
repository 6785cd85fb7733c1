//! Answers that are too long for the context of a model. The whole text is kept here, and the
//! client gets its beginning, its shape and a handle for `read_result`.
//!
//! ```text
//! result of a tool ─▶ estimate tokens ─┬─ fits ─▶ unchanged
//!                                      └─ too long ─▶ store, answer: beginning, shape, handle
//! ```
//!
//! Tokens are estimated without a tokenizer: four ASCII characters are one token, and so is every
//! other character. That is near what common tokenizers make of prose and code, and high for
//! languages with short words, so that no answer is longer than it claims.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value as Json, json};
use toolwright_exec::{ResultContent, SessionNumber, WorkSize, offload};

use crate::Gateway;
use crate::dispatcher::RequestContext;
use crate::handles::random_handle;
use crate::result_body::ToolResult;

/// How many bytes all stored results may use; the oldest are dropped first.
const MAX_BYTES: usize = 64 << 20;
/// How many bytes the stored results of one session may use, so that a client cannot make others
/// lose theirs.
const MAX_SESSION_BYTES: usize = 16 << 20;
/// Bytes of JSON below which structured content is not measured: it cannot be too long for any
/// usual limit, and measuring means writing it.
const SMALL_ENOUGH: usize = 32 << 10;
/// How many members of an object the description of a shape names.
const MAX_SHOWN_KEYS: usize = 30;

/// The results of all sessions that are kept, the oldest first.
#[derive(Default)]
pub(crate) struct StoredResults(Mutex<VecDeque<StoredResult>>);

struct StoredResult {
    handle: String,
    session: SessionNumber,
    text: StoredText,
}

/// The text of an answer.
#[derive(Clone)]
pub(crate) struct StoredText {
    /// Its blocks, one after the other, with a line end between them.
    pub(crate) whole: Arc<str>,
    /// Where each block begins.
    pub(crate) starts: Arc<[usize]>,
}

impl StoredText {
    pub(crate) fn new(blocks: &[String]) -> StoredText {
        let starts = blocks.iter().scan(0, |next, block| {
            let start = *next;
            *next += block.len() + 1;
            Some(start)
        });
        StoredText { starts: starts.collect(), whole: blocks.join("\n").into() }
    }

    /// The blocks.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &str> {
        let ends = self.starts.iter().skip(1).map(|next| next - 1).chain([self.whole.len()]);
        self.starts.iter().zip(ends).map(|(start, end)| &self.whole[*start..end])
    }

    /// The value that a reader of JSON means: the whole text, or else its first block that is JSON.
    pub(crate) fn json(&self) -> Option<Json> {
        let parse = |text: &str| serde_json::from_str(text).ok();
        parse(&self.whole).or_else(|| {
            let is_structure = |value: &Json| value.is_object() || value.is_array();
            self.blocks().filter_map(parse).find(is_structure)
        })
    }
}

impl StoredResults {
    fn all(&self) -> MutexGuard<'_, VecDeque<StoredResult>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a text for a session and returns its handle.
    fn store(&self, session: SessionNumber, text: StoredText) -> String {
        let handle = random_handle();
        let mut all = self.all();
        all.push_back(StoredResult { handle: handle.clone(), session, text });
        // The newest one stays, however large it is: the client has just received its handle.
        drop_oldest(&mut all, MAX_SESSION_BYTES, |result| result.session == session);
        drop_oldest(&mut all, MAX_BYTES, |_| true);
        handle
    }

    /// The text with this handle, if it belongs to this session and was not dropped.
    pub(crate) fn get(&self, session: SessionNumber, handle: &str) -> Option<StoredText> {
        let all = self.all();
        let found = all.iter().find(|it| it.session == session && it.handle == handle);
        found.map(|result| result.text.clone())
    }

    /// Drops the results of a session that has ended.
    pub(crate) fn end_session(&self, session: SessionNumber) {
        self.all().retain(|result| result.session != session);
    }
}

/// Drops the oldest of some results until they use at most this many bytes. The newest of all
/// stays.
fn drop_oldest(
    all: &mut VecDeque<StoredResult>,
    most: usize,
    counts: impl Fn(&StoredResult) -> bool,
) {
    let size = |result: &StoredResult| result.text.whole.len();
    let mut bytes: usize = all.iter().filter(|it| counts(it)).map(size).sum();
    while bytes > most {
        let last = all.len() - 1;
        let Some(oldest) = all.iter().take(last).position(&counts) else { return };
        bytes -= all.remove(oldest).map_or(0, |dropped| size(&dropped));
    }
}

/// The text of a block that a model reads: its own, or that of an embedded resource.
fn text_of(block: &ResultContent) -> Option<&str> {
    block.as_text().or_else(|| block.0["resource"]["text"].as_str())
}

impl Gateway {
    /// Replaces the text of a result by its beginning if it is too long for the client's model.
    /// Structured content that has a schema stays whole: a program reads it.
    pub(crate) async fn store_if_too_long(
        &self,
        context: &RequestContext<'_>,
        result: &mut ToolResult,
        has_output_schema: bool,
    ) {
        let limit = self.options().answer_tokens;
        if limit == 0 {
            return;
        }
        let is_long = |texts: &[&str]| {
            // A character that is not ASCII has at least two bytes.
            let most = texts.iter().map(|text| text.len()).sum::<usize>() / 2;
            most > limit && texts.iter().map(|text| estimated_tokens(text)).sum::<usize>() > limit
        };
        let texts: Vec<&str> = result.content.iter().filter_map(text_of).collect();
        // With a schema a program reads it; without one, the model does.
        let structured = (!has_output_schema
            && (result.size != Some(WorkSize::Small) || limit < SMALL_ENOUGH / 4))
            .then(|| result.structured.as_ref().map(Json::to_string))
            .flatten();
        let is_long_value = structured.as_deref().is_some_and(|text| is_long(&[text]));
        if !is_long(&texts) && !is_long_value {
            return;
        }
        let blocks: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let value = result.structured.take_if(|_| !has_output_schema);
        let (text, kept, value) = offload(WorkSize::Large, move || {
            let mut text = StoredText::new(&blocks);
            let mut found = text.json();
            // The same data twice needs to be stored once.
            let is_repeated = value.is_some() && value == found;
            if let Some(structured) = structured.filter(|_| is_long_value && !is_repeated) {
                text = StoredText::new(&[blocks, vec![structured]].concat());
                found = text.json();
            }
            let kept = value.filter(|_| !is_repeated && !is_long_value);
            (text, kept, found)
        })
        .await;
        if result.structured.is_none() {
            result.structured = kept;
        }
        let handle = self.stored().store(context.session.number, text.clone());
        let reader = self.result_reader_name();
        let notice = shorten_with_notice(&text.whole, value.as_ref(), reader, &handle, limit);
        let first = result.content.iter().position(|block| block.as_text().is_some());
        result.content.retain(|block| block.as_text().is_none());
        // The address of an embedded resource is needed although its text is not there.
        for block in &mut result.content {
            if block.0["resource"]["text"].is_string() {
                block.0["resource"]["text"] =
                    format!("[stored: read it with `{reader}` and the handle `{handle}`]").into();
            }
        }
        // Before the first text there are only other blocks, and they stay where they are.
        let first = first.unwrap_or(result.content.len());
        result.content.insert(first, ResultContent::text(notice));
        result.meta.insert("toolwright/stored-result".into(), json!({"handle": handle}));
        if context.session.note_stored_result() {
            self.announce_tools_in(context.session).await;
        }
    }
}

/// About how many tokens a text has; see the file header.
pub(crate) fn estimated_tokens(text: &str) -> usize {
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii.div_ceil(4) + other
}

/// The longest beginning of a text with at most this many tokens.
pub(crate) fn beginning(text: &str, tokens: usize) -> &str {
    let mut quarters = 0;
    for (at, c) in text.char_indices() {
        quarters += if c.is_ascii() { 1 } else { 4 };
        if quarters > tokens.saturating_mul(4) {
            return &text[..at];
        }
    }
    text
}

/// What the client gets instead of a text that is too long.
fn shorten_with_notice(
    text: &str,
    value: Option<&Json>,
    reader: &str,
    handle: &str,
    limit: usize,
) -> String {
    // A quarter is enough to see what it is, and leaves room for the parts that are needed.
    let start = beginning(text, (limit / 4).max(1));
    format!(
        "{start}\n\n[This answer is longer than {limit} tokens. Above are its first {} of {} \
         characters. {} Read the rest with the tool `{reader}` and the handle `{handle}`: by position, \
         by search, or by JSON pointer.]",
        start.chars().count(),
        text.chars().count(),
        shape(text, value),
    )
}

/// A sentence about the structure of a text.
fn shape(text: &str, value: Option<&Json>) -> String {
    match value {
        Some(Json::Array(items)) => {
            format!("It is a JSON array with {} items.", items.len())
        }
        Some(Json::Object(members)) => {
            let shown = members.iter().take(MAX_SHOWN_KEYS);
            let mut shown: Vec<String> =
                shown.map(|(key, value)| format!("`{key}`: {}", kind_and_size(value))).collect();
            if members.len() > MAX_SHOWN_KEYS {
                shown.push(format!("and {} more", members.len() - MAX_SHOWN_KEYS));
            }
            format!("It is a JSON object with {} members: {}.", members.len(), shown.join(", "))
        }
        _ => format!("It is text with {} lines.", text.lines().count()),
    }
}

fn kind_and_size(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(_) => "boolean".to_owned(),
        Json::Number(_) => "number".to_owned(),
        Json::String(text) => format!("text of {} characters", text.chars().count()),
        Json::Array(items) => format!("array of {} items", items.len()),
        Json::Object(members) => format!("object of {} members", members.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_estimated_by_characters() {
        for (text, tokens) in [("", 0), ("abcd", 1), ("abcde", 2), ("äöü", 3), ("ab水", 2)] {
            assert_eq!(estimated_tokens(text), tokens, "{text}");
        }
        assert_eq!(beginning("abcdefgh", 1), "abcd");
        assert_eq!(beginning("ä水x", 2), "ä水");
        assert_eq!(beginning("short", 100), "short");
    }

    #[test]
    fn the_oldest_results_make_room_and_sessions_are_apart() {
        let stored = StoredResults::default();
        let (one, two) = (SessionNumber(1), SessionNumber(2));
        let text = StoredText::new(&["x".repeat(MAX_SESSION_BYTES / 2)]);
        let handles = [one, two, two, two].map(|session| stored.store(session, text.clone()));
        assert!(stored.get(one, &handles[0]).is_some(), "others cannot make it go");
        assert!(stored.get(one, &handles[2]).is_none(), "of another session");
        assert!(stored.get(two, &handles[1]).is_none(), "dropped for newer ones of its session");
        assert!(stored.get(two, &handles[2]).is_some() && stored.get(two, &handles[3]).is_some());
        stored.end_session(two);
        assert!(stored.get(two, &handles[2]).is_none());
        let sessions = (10..18).map(SessionNumber);
        sessions
            .for_each(|session| drop((0..2).map(|_| stored.store(session, text.clone())).last()));
        assert!(stored.get(one, &handles[0]).is_none(), "dropped for newer ones of all");
    }

    #[test]
    fn the_shape_of_an_answer_is_described() {
        let value = json!({"rows": [1, 2], "name": "grüße"});
        let text = value.to_string();
        let expected = "It is a JSON object with 2 members: `rows`: array of 2 items, `name`: text of 5 characters.";
        assert_eq!(shape(&text, Some(&value)), expected);
        assert_eq!(shape("a\nb\n", None), "It is text with 2 lines.");
        assert_eq!(shape("[1]", Some(&json!([1]))), "It is a JSON array with 1 items.");
    }
}
