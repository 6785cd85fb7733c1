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
//!
//! What is stored belongs to one session and is found by a random handle. Nothing is written to
//! disk. Bounds, for each session and for all, are kept by dropping the oldest; `read_result` then
//! tells the model to call the tool again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value as Json, json};
use toolwright_exec::{ResultContent, SessionNumber, WorkSize, json_size, offload};

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
/// How many blocks without their text a shortened result has at most.
const MAX_PLACEHOLDERS: usize = 50;
/// How many members of an object the description of a shape names.
const MAX_SHOWN_KEYS: usize = 30;

/// The results of all sessions that are kept, the oldest first.
#[derive(Default)]
pub(crate) struct StoredResults(Mutex<VecDeque<StoredResult>>);

/// Whole, also the part that was sent: `read_result` counts positions from the beginning.
struct StoredResult {
    /// Random, so that another client cannot guess it; `get` compares the session as well.
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
    /// `starts` has one entry for each block, also for empty ones.
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
    ///
    /// The second case is a short sentence before the data, which many servers send as a block of
    /// its own.
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
    ///
    /// Two bounds apply: that of the session, then that of all sessions.
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
///
/// `counts` selects those that use up the limit: the results of one session, or all. Others are
/// neither counted nor dropped.
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

/// A block of a result that a model reads.
enum ReadBlock<'r> {
    /// A text block.
    Text(&'r str),
    /// An embedded resource with this text.
    Embedded(&'r str),
    /// A link, or a block of an unknown type.
    Other,
}

impl ReadBlock<'_> {
    /// `None` for images, sounds and files, which models do not read as text.
    fn of(block: &ResultContent) -> Option<ReadBlock<'_>> {
        if let Some(text) = block.as_text() {
            return Some(ReadBlock::Text(text));
        }
        let block = block.as_other()?;
        let kind = block["type"].as_str().unwrap_or_default();
        match block["resource"]["text"].as_str() {
            Some(text) => Some(ReadBlock::Embedded(text)),
            None if ["image", "audio"].contains(&kind) => None,
            None if block["resource"]["blob"].is_string() => None,
            None => Some(ReadBlock::Other),
        }
    }

    /// Its text, as far as it is one.
    fn text(&self) -> &str {
        match self {
            ReadBlock::Text(text) | ReadBlock::Embedded(text) => text,
            ReadBlock::Other => "",
        }
    }
}

/// The text of a result, block by block. Of each block either all text is here, or none.
struct ReadableText {
    /// The number of the block that each text is of.
    blocks: Vec<usize>,
    /// As long as `blocks`; the order is that of the result.
    texts: Vec<String>,
}

impl ReadableText {
    /// The text blocks and embedded texts of a result.
    fn texts_of(content: &[ResultContent]) -> ReadableText {
        let texts = content.iter().enumerate().filter_map(|(n, block)| {
            let block = ReadBlock::of(block)?;
            let is_other = matches!(block, ReadBlock::Other);
            (!is_other).then(|| (n, block.text().to_owned()))
        });
        let (blocks, texts) = texts.unzip();
        ReadableText { blocks, texts }
    }

    /// The text of a result that has more than `limit` tokens, with that of links and addresses if
    /// they are a large part of it. `None` if it has not as many.
    ///
    /// There are two measurements, because most results are short: first half of the bytes, which
    /// is quick to count and never less than the tokens, and tokens only if that is too many. What
    /// blocks have besides text counts, too, since a model reads it: if it makes up a quarter of
    /// the limit, whole blocks are stored as JSON; otherwise they stay where they are, without
    /// their text.
    fn of(content: &[ResultContent], limit: usize) -> Option<ReadableText> {
        let read: Vec<(usize, ReadBlock<'_>)> = content
            .iter()
            .enumerate()
            .filter_map(|(n, block)| Some((n, ReadBlock::of(block)?)))
            .collect();
        let is_text = |block: &ReadBlock<'_>| matches!(block, ReadBlock::Text(_));
        let size = |(n, block): &(usize, ReadBlock<'_>)| match is_text(block) {
            true => block.text().len(),
            false => json_size(&content[*n].to_json(), usize::MAX),
        };
        // A character that is not ASCII has at least two bytes.
        if read.iter().map(size).sum::<usize>() / 2 <= limit {
            return None;
        }
        let texts: usize = read.iter().map(|(_, block)| estimated_tokens(block.text())).sum();
        // Everything of the other blocks but their text.
        let rest: usize = read
            .iter()
            .filter(|(_, block)| !is_text(block))
            .map(|(n, block)| {
                estimated_tokens(&content[*n].to_json().to_string())
                    .saturating_sub(estimated_tokens(block.text()))
            })
            .sum();
        if texts + rest <= limit {
            return None;
        }
        let embedded = read.iter().filter(|(_, it)| matches!(it, ReadBlock::Embedded(_)));
        let stores_all = rest > limit / 4 || embedded.count() > MAX_PLACEHOLDERS;
        let mut whole = ReadableText { blocks: Vec::new(), texts: Vec::new() };
        for (n, block) in read {
            let text = match block {
                ReadBlock::Text(text) => text.to_owned(),
                _ if stores_all => content[n].to_json().to_string(),
                ReadBlock::Embedded(text) => text.to_owned(),
                ReadBlock::Other => continue,
            };
            whole.blocks.push(n);
            whole.texts.push(text);
        }
        Some(whole)
    }
}

/// The blocks of a result of which only the beginning is sent. They keep their order, and what they
/// have besides text. `shown` is the number of bytes of the stored text that are sent; `stored` are
/// its parts. Blocks that are stored whole are left out, unless they say something else than text.
///
/// ```text
/// stored text   [ block 0 ][ block 1      ][ block 2 ]
///               └── shown ───────┘
/// sent            block 0,  beginning of 1 + notice,  placeholder of 2 if it has more than text
/// ```
///
/// The notice is in exactly one place: where the beginning ends, or, if that is in structured
/// content, in a text block after all others.
fn shortened_content(
    content: Vec<ResultContent>,
    stored: &ReadableText,
    text: &StoredText,
    shown: usize,
    (notice, placeholder): (&str, &str),
) -> Vec<ResultContent> {
    let mut parts = stored.blocks.iter().zip(text.starts.iter().zip(&stored.texts)).peekable();
    let (mut notice, mut placeholders) = (Some(notice), 0);
    let mut kept = Vec::new();
    for (n, mut block) in content.into_iter().enumerate() {
        let Some((_, (start, own))) = parts.next_if(|(of, _)| **of == n) else {
            kept.push(block);
            continue;
        };
        if start + own.len() <= shown {
            kept.push(block);
            continue;
        }
        let is_text = block.as_text().is_some();
        let other = block.as_other();
        let is_embedded =
            other.is_some_and(|other| other["resource"]["text"].as_str() == Some(own));
        let has_more = other.and_then(Json::as_object).is_some_and(|members| members.len() > 2);
        // Set for the block in which the beginning ends.
        let cut =
            notice.take().map(|notice| format!("{}{notice}", &own[..shown.saturating_sub(*start)]));
        if let Some(cut) = &cut
            && is_text
        {
            block.set_text(cut.as_str());
            kept.push(block);
            continue;
        }
        if placeholders < MAX_PLACEHOLDERS && (is_embedded || is_text && has_more) {
            placeholders += 1;
            match block.as_other_mut() {
                Some(other) if is_embedded => other["resource"]["text"] = placeholder.into(),
                _ => block.set_text(placeholder),
            }
            kept.push(block);
        }
        kept.extend(cut.map(ResultContent::text));
    }
    // The beginning ends in structured content, which is no block.
    if let Some(notice) = notice {
        let start = text.starts.get(stored.texts.len()).copied().unwrap_or(shown);
        let beginning = text.whole.get(start..shown).unwrap_or_default();
        kept.push(ResultContent::text(format!("{beginning}{notice}")));
    }
    kept
}

impl Gateway {
    /// Replaces the text of a result by its beginning if it is too long for the client's model.
    /// Structured content that has a schema stays whole: a program reads it.
    ///
    /// Called with the final result, after renaming, so that what is stored is what would have been
    /// sent. The first stored result of a session adds the tool `read_result` to its list, which is
    /// announced.
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
        let readable = ReadableText::of(&result.content, limit);
        // With a schema a program reads it; without one, the model does.
        let structured = (!has_output_schema
            && (result.size != Some(WorkSize::Small) || limit < SMALL_ENOUGH / 4))
            .then(|| result.structured.as_ref().map(Json::to_string))
            .flatten();
        let is_long_value =
            structured.as_deref().is_some_and(|text| estimated_tokens(text) > limit);
        if readable.is_none() && !is_long_value {
            return;
        }
        // Only the structured content is too long: all text of the blocks stays before it.
        let readable = readable.unwrap_or_else(|| ReadableText::texts_of(&result.content));
        let blocks = readable.texts.clone();
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
        // A quarter is enough to see what it is, and leaves room for the parts that are needed.
        let shown = beginning(&text.whole, (limit / 4).max(1));
        let notice = notice(&text.whole, shown, value.as_ref(), reader, &handle, limit);
        let placeholder = format!("[stored: read it with `{reader}` and the handle `{handle}`]");
        let content = std::mem::take(&mut result.content);
        result.content =
            shortened_content(content, &readable, &text, shown.len(), (&notice, &placeholder));
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
///
/// Counts like `estimated_tokens`, in quarters of a token, and rounds in favour of the text.
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

/// What follows the beginning of a text that is too long. Written for a model: it says what was
/// cut, what the rest looks like, and how to read it.
fn notice(
    text: &str,
    shown: &str,
    value: Option<&Json>,
    reader: &str,
    handle: &str,
    limit: usize,
) -> String {
    format!(
        "\n\n[This answer is longer than {limit} tokens. Above are its first {} of {} characters. \
         {} Read the rest with the tool `{reader}` and the handle `{handle}`: by position, by \
         search, or by JSON pointer.]",
        shown.chars().count(),
        text.chars().count(),
        shape(text, value),
    )
}

/// A sentence about the structure of a text, by which a model can choose a pointer or a pattern.
/// Only the first level is described, and at most `MAX_SHOWN_KEYS` members of it.
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
