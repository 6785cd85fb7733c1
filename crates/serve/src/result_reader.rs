//! The tool `read_result`: reads answers that were too long to be sent at once, by position, by
//! search, or by JSON pointer. It is listed only for sessions that have such an answer.
//!
//! It is a tool and not a method, because a model has to be able to use it with any client. It runs
//! in this process and passes none of the steps of the runner: no policy, no permit, no record,
//! since it returns only what a call of the same session has returned already. Each of its answers
//! is as long as any answer may be, so it is never stored again.
//!
//! The arguments come from a model. They are checked by hand, with messages that say what to do,
//! and the expensive ones are bounded: the length of a pattern, the memory of its compiled form,
//! the number and length of the lines that are shown. The search takes time linear in the stored
//! text.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Value as Json, json};
use toolwright_exec::{ResultContent, WorkSize, offload};

use crate::Gateway;
use crate::dispatcher::RequestContext;
use crate::result_body::{ResultBody, ToolResult};
use crate::stored_results::{StoredText, beginning};

/// The name of the tool.
///
/// Chosen as long as no source has a tool of that name: tools of sources keep theirs.
const NAME: &str = "read_result";
/// Its name where a source has a tool with the first one.
const OTHER_NAME: &str = "toolwright_read_result";
/// Characters of a page unless the call says otherwise.
const DEFAULT_CHARACTERS: usize = 10_000;
/// Lines of a page unless the call says otherwise.
const DEFAULT_LINES: usize = 200;
/// Matches of a search that are shown at once; `offset` continues.
const MAX_MATCHES: usize = 100;
/// Characters of a matching line that are shown.
const MAX_LINE: usize = 500;
/// The longest pattern, in bytes, and the memory of a compiled one.
const MAX_PATTERN: usize = 1000;
const MAX_COMPILED: usize = 1 << 20;
/// Tokens of an answer where answers are not limited.
const UNLIMITED: usize = usize::MAX / 8;

/// The arguments of a call. Unknown ones are an error: a model that misspells `pattern` would get
/// the beginning of the text and take it for the result of a search.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    /// As in the shortened answer. Only the session that got it can use it.
    handle: String,
    /// Applied first: the other arguments are about the part that it selects.
    pointer: Option<String>,
    /// A text, or a regular expression if `regex` is set. Without it a page is returned.
    pattern: Option<String>,
    /// Whether `pattern` is a regular expression; otherwise it is found as it is written.
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    unit: OffsetUnit,
    /// With a pattern the number of matches to skip, otherwise of characters or lines.
    #[serde(default, deserialize_with = "offset")]
    offset: usize,
    /// At least 1. Without it `DEFAULT_CHARACTERS`, `DEFAULT_LINES` or `MAX_MATCHES`.
    #[serde(default, deserialize_with = "limit")]
    limit: Option<usize>,
}

/// Reads `offset`. By hand, because the messages of `serde` name Rust's types.
fn offset<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    let given = Json::deserialize(from)?;
    let number = given.as_u64().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| D::Error::custom(format!("`offset` is {given}, expected 0 or more")))
}

/// Reads `limit`; `null` counts as none.
fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    let given = Json::deserialize(from)?;
    let number = given.as_u64().and_then(|number| usize::try_from(number).ok());
    match number {
        None if given.is_null() => Ok(None),
        Some(number) if number > 0 => Ok(Some(number)),
        _ => Err(D::Error::custom(format!("`limit` is {given}, expected 1 or more"))),
    }
}

/// What `offset` and `limit` count. Characters are those of Unicode, never bytes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum OffsetUnit {
    #[default]
    Characters,
    Lines,
}

/// The tool as `tools/list` has it.
///
/// The name is also its id, in `_meta`, as for every tool in the list.
pub(crate) fn description(name: &str) -> String {
    json!({
        "name": name,
        "title": "Read a stored answer",
        "description": "Reads an answer of another tool that was too long to be sent whole. \
            The shortened answer names the handle. Without other arguments it returns the \
            beginning; `offset` and `limit` page through it, `pattern` finds lines in it, and \
            `pointer` selects a part of a JSON answer first.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "handle": {"type": "string", "description": "The handle in the shortened answer."},
                "pointer": {
                    "type": "string",
                    "description": "JSON pointer to the part to read, such as `/items/0/name`.",
                },
                "pattern": {
                    "type": "string", "maxLength": MAX_PATTERN,
                    "description": "Returns only lines that contain this text.",
                },
                "regex": {
                    "type": "boolean", "default": false,
                    "description": "Whether `pattern` is a regular expression.",
                },
                "unit": {
                    "type": "string", "enum": ["characters", "lines"], "default": "characters",
                    "description": "What `offset` and `limit` count.",
                },
                "offset": {
                    "type": "integer", "minimum": 0, "default": 0,
                    "description": "How much to skip. With a pattern: how many matches.",
                },
                "limit": {
                    "type": "integer", "minimum": 1,
                    "description": "How much to return at most.",
                },
            },
            "required": ["handle"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
        "_meta": {"toolwright/id": name},
    })
    .to_string()
}

impl Gateway {
    /// The name of the tool, which is its place in the list as well.
    pub(crate) fn result_reader_name(&self) -> &'static str {
        if self.listing().input_schema(NAME).is_some() { OTHER_NAME } else { NAME }
    }

    /// Answers a call of `read_result`. What is wrong with it is a result with `isError`, so that
    /// the model can read why.
    ///
    /// An unknown handle and one of another session get the same text. Reading is done on another
    /// thread, because the stored text may have megabytes.
    pub(crate) async fn read_stored_result(
        &self,
        context: &RequestContext<'_>,
        arguments: &str,
    ) -> ResultBody {
        let read = match serde_json::from_str::<ReadArguments>(arguments) {
            Err(error) => {
                // Without the place in the text, which the caller has not written.
                let error = error.to_string();
                let why = error.split(" at line ").next().unwrap_or_default();
                Err(format!("the arguments of `{NAME}` are wrong: {why}"))
            }
            Ok(arguments) => match self.stored().get(context.session.number, &arguments.handle) {
                None => Err("there is no stored answer with this handle: it was dropped to make \
                                 room for newer ones, or the session has changed; call the tool \
                                 again"
                    .to_owned()),
                Some(text) => {
                    let limit = self.options().answer_tokens;
                    let tokens = if limit == 0 { UNLIMITED } else { limit };
                    offload(WorkSize::Large, move || read(&text, &arguments, tokens)).await
                }
            },
        };
        let is_error = read.is_err();
        let text = read.unwrap_or_else(|why| why);
        ResultBody::Tool(Box::new(ToolResult {
            content: vec![ResultContent::text(text)],
            is_error,
            is_marked_complete: context.terms.is_stateless(),
            size: Some(WorkSize::Large),
            ..ToolResult::default()
        }))
    }
}

/// The part of a text that a call wants, at most this many tokens.
///
/// # Errors
/// A sentence for the model: the pointer leads to nothing, or the pattern is wrong.
fn read(text: &StoredText, arguments: &ReadArguments, tokens: usize) -> Result<String, String> {
    let selected;
    let text = match &arguments.pointer {
        None => &*text.whole,
        Some(pointer) => {
            selected = select(text, pointer)?;
            &selected
        }
    };
    match &arguments.pattern {
        Some(pattern) => search(text, pattern, arguments, tokens),
        None => Ok(page(text, arguments, tokens)),
    }
}

/// The value at a JSON pointer: a text as it is, everything else as indented JSON.
///
/// The text is parsed by `StoredText::json`.
fn select(text: &StoredText, pointer: &str) -> Result<String, String> {
    let value =
        text.json().ok_or_else(|| "the answer is not JSON, so it has no pointers".to_owned())?;
    match value.pointer(pointer) {
        None => Err(format!("there is nothing at `{pointer}`")),
        Some(Json::String(text)) => Ok(text.clone()),
        Some(value) => Ok(format!("{value:#}")),
    }
}

/// A page of a text, with a note where the next one begins. The limit in tokens is that of every
/// answer and cuts the page further, so the note counts what is really shown. A line that alone
/// exceeds the limit cannot be paged by lines: the note then continues in characters.
fn page(text: &str, arguments: &ReadArguments, tokens: usize) -> String {
    let (offset, unit) = (arguments.offset, arguments.unit);
    let limit = |default| arguments.limit.unwrap_or(default).max(1);
    let (wanted, total) = match unit {
        OffsetUnit::Characters => {
            let start = text.char_indices().nth(offset).map_or(text.len(), |(at, _)| at);
            let rest = &text[start..];
            let end = rest.char_indices().nth(limit(DEFAULT_CHARACTERS));
            (&rest[..end.map_or(rest.len(), |(at, _)| at)], text.chars().count())
        }
        OffsetUnit::Lines => {
            let skipped: usize = text.split_inclusive('\n').take(offset).map(str::len).sum();
            let rest = &text[skipped..];
            let lines = rest.split_inclusive('\n').take(limit(DEFAULT_LINES));
            (&rest[..lines.map(str::len).sum()], text.split_inclusive('\n').count())
        }
    };
    let mut shown = beginning(wanted, tokens);
    // Whole lines only, unless the first one alone is too long.
    if unit == OffsetUnit::Lines && shown.len() < wanted.len() {
        let Some(end) = shown.rfind('\n') else {
            let before: usize = text.split_inclusive('\n').take(offset).map(count).sum();
            let next = before + count(shown);
            return format!(
                "{shown}\n\n[This line is longer than an answer may be. Continue with unit \
                 `characters` and offset {next}.]"
            );
        };
        shown = &shown[..=end];
    }
    let (read, name) = match unit {
        OffsetUnit::Characters => (shown.chars().count(), "characters"),
        OffsetUnit::Lines => (shown.split_inclusive('\n').count(), "lines"),
    };
    let next = offset.saturating_add(read);
    match next < total {
        true => format!("{shown}\n\n[{next} of {total} {name} read; continue with offset {next}.]"),
        false => shown.to_owned(),
    }
}

/// Characters, as the offsets count them.
fn count(text: &str) -> usize {
    text.chars().count()
}

/// The lines of a text that match a pattern, with their numbers, from 1. All of the text is
/// searched also if few matches are shown, because their total is part of the answer.
///
/// ```text
/// 12: the first line that matches
/// 40: …the middle of a long line…
///
/// [2 of 7 matches; continue with offset 2.]
/// ```
fn search(
    text: &str,
    pattern: &str,
    arguments: &ReadArguments,
    tokens: usize,
) -> Result<String, String> {
    if pattern.is_empty() || pattern.len() > MAX_PATTERN {
        return Err(format!("a pattern has 1 to {MAX_PATTERN} bytes"));
    }
    let pattern = if arguments.regex { pattern.to_owned() } else { regex::escape(pattern) };
    // The engine takes linear time, so only memory has to be limited.
    let pattern = regex::RegexBuilder::new(&pattern)
        .size_limit(MAX_COMPILED)
        .build()
        .map_err(|error| format!("the pattern is not a regular expression: {error}"))?;
    let matching: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| pattern.is_match(line)).collect();
    let limit = arguments.limit.unwrap_or(MAX_MATCHES).clamp(1, MAX_MATCHES);
    let mut shown = String::new();
    let mut count = 0;
    for (n, line) in matching.iter().skip(arguments.offset).take(limit) {
        let row = format!("{}: {}\n", n + 1, around_match(line, &pattern));
        let is_too_long = beginning(&shown, tokens).len() < shown.len();
        if count > 0 && is_too_long {
            break;
        }
        shown.push_str(&row);
        count += 1;
    }
    let next = arguments.offset.saturating_add(count);
    let total = matching.len();
    match next < total {
        true => {
            shown.push_str(&format!("\n[{next} of {total} matches; continue with offset {next}.]"))
        }
        false => shown.push_str(&format!("\n[{total} matching lines.]")),
    }
    Ok(shown)
}

/// A line, or the part of a long one around its first match: a quarter of the room is before it.
///
/// At most `MAX_LINE` bytes, cut at characters, with `…` where something is missing.
fn around_match(line: &str, pattern: &regex::Regex) -> String {
    if line.len() <= MAX_LINE {
        return line.to_owned();
    }
    let at = pattern.find(line).map_or(0, |found| found.start());
    let start = line.floor_char_boundary(at.saturating_sub(MAX_LINE / 4));
    let end = line.floor_char_boundary((start + MAX_LINE).min(line.len()));
    let (before, after) =
        (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{before}{}{after}", &line[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(text: &str, arguments: Json) -> Result<String, String> {
        let mut all = json!({"handle": "h"});
        for (name, value) in arguments.as_object().expect("an object") {
            all[name] = value.clone();
        }
        let arguments: ReadArguments = serde_json::from_value(all).expect("valid arguments");
        read(&StoredText::new(&[text.to_owned()]), &arguments, 1000)
    }

    #[test]
    fn a_line_that_is_too_long_is_read_by_characters() {
        let text = format!("short\n{}end\nlast\n", "x".repeat(9_000));
        let page = reading(&text, json!({"unit": "lines", "offset": 1})).expect("a page");
        let (shown, note) = page.split_once("\n\n[").expect("a note");
        let next: usize = note
            .rsplit_once("offset ")
            .expect("the next offset")
            .1
            .trim_end_matches(".]")
            .parse()
            .expect("a number");
        assert_eq!(format!("short\n{shown}").chars().count(), next);
        let rest = reading(&text, json!({"offset": next, "limit": 3})).expect("a page");
        assert!(rest.starts_with("xxx"), "{rest}");
    }

    #[test]
    fn the_block_that_is_json_has_the_pointers() {
        let blocks = ["Two rows:".to_owned(), r#"{"rows": [1, 2]}"#.to_owned()];
        let text = StoredText::new(&blocks);
        assert_eq!(text.blocks().collect::<Vec<_>>(), blocks);
        let arguments = json!({"handle": "h", "pointer": "/rows/1"});
        let arguments = serde_json::from_value(arguments).expect("valid arguments");
        assert_eq!(read(&text, &arguments, 1000).as_deref(), Ok("2"));
    }

    #[test]
    fn pages_by_characters_and_lines_cover_the_whole_text() {
        let text: String = (0..50).map(|n| format!("Zeile {n}: grüße\n")).collect();
        for (unit, step) in [("characters", 33), ("lines", 7)] {
            let (mut all, mut offset) = (String::new(), 0);
            loop {
                let page = reading(&text, json!({"unit": unit, "offset": offset, "limit": step}));
                let page = page.expect("a page");
                let Some((shown, note)) = page.split_once("\n\n[") else {
                    all.push_str(&page);
                    break;
                };
                all.push_str(shown);
                let next = note.rsplit_once("offset ").expect("the next offset").1;
                offset = next.trim_end_matches(".]").parse().expect("a number");
            }
            assert_eq!(all, text, "{unit}");
        }
        assert_eq!(reading(&text, json!({"offset": 1_u64 << 40})), Ok(String::new()));
    }

    #[test]
    fn searches_show_numbered_lines() {
        let text = "one\ntwo (2)\nthree\ntwo.5\n";
        let expected = "2: two (2)\n\n[1 matching lines.]";
        assert_eq!(reading(text, json!({"pattern": "(2)"})).as_deref(), Ok(expected));
        let all = reading(text, json!({"pattern": "^two", "regex": true})).expect("matches");
        assert!(all.starts_with("2: two (2)\n4: two.5\n"), "{all}");
        let rest = reading(text, json!({"pattern": "two", "offset": 1})).expect("matches");
        assert!(rest.starts_with("4: "), "{rest}");
        assert!(reading(text, json!({"pattern": "(", "regex": true})).is_err());
        assert!(reading(text, json!({"pattern": "(a{1000}){1000}", "regex": true})).is_err());
        assert!(reading(text, json!({"pattern": ""})).is_err());
        let long = format!("{}needle{}", "ä".repeat(3000), "ö".repeat(3000));
        let found = reading(&long, json!({"pattern": "needle"})).expect("a match");
        assert!(found.contains("…") && found.contains("needle") && found.len() < 600, "{found}");
    }

    #[test]
    fn pointers_select_parts_of_json() {
        let text = r#"{"items": [{"name": "a\nb"}], "n": 1}"#;
        assert_eq!(reading(text, json!({"pointer": "/items/0/name"})).as_deref(), Ok("a\nb"));
        assert_eq!(reading(text, json!({"pointer": "/n"})).as_deref(), Ok("1"));
        assert!(reading(text, json!({"pointer": "/missing"})).is_err());
        assert!(reading("no json", json!({"pointer": ""})).is_err());
    }
}
