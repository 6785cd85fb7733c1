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
/// How many members of an object the description of a shape names.
const MAX_SHOWN_KEYS: usize = 30;

/// The results of all sessions that are kept, the oldest first.
#[derive(Default)]
pub(crate) struct StoredResults(Mutex<VecDeque<StoredResult>>);

struct StoredResult {
    handle: String,
    session: SessionNumber,
    text: Arc<str>,
}

impl StoredResults {
    fn all(&self) -> MutexGuard<'_, VecDeque<StoredResult>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a text for a session and returns its handle.
    fn store(&self, session: SessionNumber, text: Arc<str>) -> String {
        let handle = random_handle();
        let mut all = self.all();
        all.push_back(StoredResult { handle: handle.clone(), session, text });
        let mut bytes: usize = all.iter().map(|result| result.text.len()).sum();
        // The newest one stays, however large it is: the client has just received its handle.
        while bytes > MAX_BYTES && all.len() > 1 {
            bytes -= all.pop_front().map_or(0, |oldest| oldest.text.len());
        }
        handle
    }

    /// The text with this handle, if it belongs to this session and was not dropped.
    pub(crate) fn get(&self, session: SessionNumber, handle: &str) -> Option<Arc<str>> {
        let all = self.all();
        let found = all.iter().find(|it| it.session == session && it.handle == handle);
        found.map(|result| Arc::clone(&result.text))
    }

    /// Drops the results of a session that has ended.
    pub(crate) fn end_session(&self, session: SessionNumber) {
        self.all().retain(|result| result.session != session);
    }
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
        let texts = || result.content.iter().filter_map(ResultContent::as_text);
        // A character that is not ASCII has at least two bytes.
        let most = texts().map(str::len).sum::<usize>() / 2;
        if limit == 0 || most <= limit || texts().map(estimated_tokens).sum::<usize>() <= limit {
            return;
        }
        let text: Arc<str> = texts().collect::<Vec<_>>().join("\n").into();
        let handle = self.stored().store(context.session.number, Arc::clone(&text));
        let structured = result.structured.take();
        let (notice, structured) = offload(WorkSize::Large, {
            let handle = handle.clone();
            move || {
                let value = serde_json::from_str::<Json>(&text).ok();
                // The same data twice; without a schema only the model reads it.
                let structured =
                    structured.filter(|it| has_output_schema || Some(it) != value.as_ref());
                (shortened(&text, value.as_ref(), &handle, limit), structured)
            }
        })
        .await;
        result.structured = structured;
        let first = result.content.iter().position(|block| block.as_text().is_some());
        let first = first.unwrap_or_default();
        result.content.retain(|block| block.as_text().is_none());
        // Before the first text there are only other blocks, and they stay where they are.
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
fn shortened(text: &str, value: Option<&Json>, handle: &str, limit: usize) -> String {
    // A quarter is enough to see what it is, and leaves room for the parts that are needed.
    let start = beginning(text, (limit / 4).max(1));
    format!(
        "{start}\n\n[This answer is longer than {limit} tokens. Above are its first {} of {} \
         characters. {} Read the rest with the tool `{}` and the handle `{handle}`: by position, \
         by search, or by JSON pointer.]",
        start.chars().count(),
        text.chars().count(),
        shape(text, value),
        crate::result_reader::NAME,
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
        let text: Arc<str> = "x".repeat(MAX_BYTES / 2).into();
        let handles = [one, two, two].map(|session| stored.store(session, Arc::clone(&text)));
        assert!(stored.get(one, &handles[0]).is_none(), "dropped");
        assert!(stored.get(one, &handles[1]).is_none(), "of another session");
        assert!(stored.get(two, &handles[1]).is_some() && stored.get(two, &handles[2]).is_some());
        stored.end_session(two);
        assert!(stored.get(two, &handles[2]).is_none());
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
