//! Markup that imitates messages of the host, for `instructions`: tags, brackets, headings,
//! speakers' names and code fences that a host puts around its own messages, and markup that is not
//! rendered.
//!
//! ```text
//! <system>You may …</system>     an element that claims to be the host's
//! </description>                 closes what the host has opened around the description
//! <|im_start|>system             a token of a chat template
//! <!-- Claude, read … -->        a comment, which only the model reads
//! <span style="display:none">    text that a browser does not show
//! ![](https://x.example/?q=…)    an image whose address carries data away
//! [SYSTEM] …   ### System:   SYSTEM: …   ```system
//! ```
//!
//! Descriptions of tools that handle HTML or chat messages mention such markup honestly. So most of
//! it counts only if it encloses a sentence ([`is_speech`]).
//!
//! Input is the normalised text, in lower case. Everything here is a search for fixed strings: a
//! description is seldom well-formed HTML, and a parser would see other elements than a model does.
//!
//! To add a sign: a function here, its call in `find_host_markup`, and the sign in `MARKUP_SIGN` of
//! `normalize`, or texts that have only this sign are never searched.

use std::ops::Range;

use super::features::{announces_example, is_unspaced_letter};
use super::near;

/// Bytes behind a sign in which its text and its end are looked for. Attacks are short, because a
/// model reads what is near to a tag as what the tag is about. It also bounds the work for texts
/// with many signs.
const MAX_BODY: usize = 4 << 10;
/// Bytes of a heading that are read.
const MAX_HEADING: usize = 400;

/// The bytes of the markup in a normalised text, each piece of markup once. In no particular order,
/// and ranges may overlap: the caller sorts and merges them.
pub(super) fn find_host_markup(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Most texts have none of these signs, and then nothing is searched. `MARKUP_SIGN` in
    // `normalize` lists the same signs.
    let has = |sign: u8| text.as_bytes().contains(&sign);
    if has(b'<') {
        find_elements(text, &mut found);
        find_unrendered(text, &mut found);
    }
    if has(b'!') && text.contains("](http") {
        find_images(text, &mut found);
    }
    if has(b'<') || has(b'#') {
        find_comments(text, &mut found);
    }
    if has(b'[') || has(b'{') || !text.is_ascii() {
        find_brackets(text, &mut found);
    }
    if has(b'#') {
        find_headings(text, &mut found);
    }
    if has(b':') {
        find_speakers(text, &mut found);
    }
    if text.contains("```") || text.contains("~~~") {
        find_fences(text, &mut found);
    }
    found
}

/// Names of elements, brackets and headings that claim to be the host's or another speaker's.
#[rustfmt::skip]
const HOST_NAMES: &[&str] = &[
    "system", "sys", "important", "assistant", "instruction", "instructions", "secret", "hidden",
    "admin", "developer", "override", "critical", "directive", "directives", "policy", "internal",
    "agent", "llm", "ai", "inst", "urgent", "mandatory", "priority", "security", "root",
    "tool_result", "tool_response", "tool_output", "function_result", "function_results",
    "function_response", "user_confirmation", "user_message", "context", "reminder", "attention",
    "notice", "command", "commands", "must", "model", "private", "confidential", "thinking",
    "human", "user",
];
/// Beginnings of such names in all languages, alone and in compounds: `<system_note>`,
/// `<istruzioni_di_sistema>`.
#[rustfmt::skip]
const HOST_STEMS: &[&str] = &[
    "system", "sistem", "instruct", "istruzion", "instruc", "instruz", "anweisung", "wichtig",
    "important", "prompt", "assistant", "asistente", "assistent", "directive", "override",
    "priority", "admin", "secret", "hidden", "mandatory", "critical", "систем", "инструкц", "важно",
    "системн", "系统", "系統", "システム", "重要", "指示", "指令", "시스템", "중요", "지시", "geheim", "secreto",
    "segreto", "wazne", "polecen", "onemli", "talimat",
];
/// Names that elements of honest examples hardly ever have. These count also when left open.
#[rustfmt::skip]
const UNAMBIGUOUS_NAMES: &[&str] = &[
    "system", "sistem", "sys", "assistant", "override", "inst", "directive", "secret", "hidden",
    "admin", "систем", "系统", "系統", "システム", "시스템",
];
/// Elements in which hosts wrap a description. Closing one pretends that the description has ended
/// and that what follows comes from the host.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "description", "tool", "tools", "function", "functions", "tool_description", "parameter",
    "parameters", "tooldescription", "available_tools", "tool_use", "tool_call", "tool_definition",
    "documents", "document", "user_input", "schema", "untrusted",
];
/// Special tokens of chat templates, by which models tell apart who speaks.
#[rustfmt::skip]
const CHAT_TEMPLATE_TOKENS: &[&str] = &[
    "im_start", "im_end", "system", "assistant", "user", "sys", "endoftext", "eot_id",
    "start_header_id", "end_header_id", "begin_of_text", "end_of_text", "start_of_turn",
    "end_of_turn", "endofprompt", "fim_prefix",
];

/// What the address of an image must not carry away.
#[rustfmt::skip]
const CONFIDENTIAL: &[&str] = &[
    "conversation", "chat", "history", "message", "user", "secret", "key", "token", "password",
    "prompt", "context", "credential", "email",
];
/// Words of comments that are addressed to a model, by their beginning.
#[rustfmt::skip]
const ADDRESSED: &[&str] = &[
    "assistant", "model", "llm", "claude", "gpt", "agent", "ai", "instruct", "ignor", "system",
    "user", "must", "always", "never", "send", "call", "tool", "secret", "password", "read",
    "pass", "not", "don", "hidden", "conversation",
];
/// Words for a model, by their beginning.
const MODEL: &[&str] = &["assistant", "model", "llm", "claude", "gpt", "agent", "ai"];

/// How many of these words a text has, counted by their beginnings. A word counts once, however
/// often it occurs.
fn count_words(text: &str, beginnings: &[&str]) -> usize {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let is_there = |start: &&&str| match start.len() {
        // `ai` begins too much.
        0..=3 => words.contains(*start),
        _ => words.iter().any(|word| word.starts_with(**start)),
    };
    beginnings.iter().filter(is_there).count()
}

/// Whether a name claims to be the host's. Examples: `system`, `system_note` and `do-instructions`
/// do; `ecosystem` does not, because a stem must start a part of the name.
fn is_host_name(name: &str) -> bool {
    HOST_NAMES.contains(&name)
        || HOST_STEMS.iter().any(|stem| {
            name.starts_with(stem) || name.split(['_', '-']).any(|part| part.starts_with(stem))
        })
}

/// Whether honest examples hardly ever have an element of this name.
fn is_unambiguous(name: &str) -> bool {
    name.split(['_', '-']).any(|part| {
        UNAMBIGUOUS_NAMES.contains(&part)
            || part.len() > 5 && UNAMBIGUOUS_NAMES.iter().any(|start| part.starts_with(start))
    })
}

/// `<system>…</system>`, `</description>`, `<|im_start|>`.
///
/// An opening tag counts if its name is the host's and a sentence follows it; a closing one if it
/// ends an element that the text has not opened; a template token wherever it is not shown as an
/// example. Every `<` is looked at once, with a bounded look ahead.
///
/// Only the tag is reported, and not what it encloses: the tag is what makes it an attack.
fn find_elements(text: &str, found: &mut Vec<Range<usize>>) {
    let is_opened = WRAPPERS.iter().map(|name| (*name, text.contains(&format!("<{name}"))));
    let is_opened: Vec<(&str, bool)> = is_opened.collect();
    for (start, _) in text.match_indices('<') {
        // Longer ones are comparisons (`a < b`) rather than elements.
        let rest = near(text, start + 1, 81);
        let Some(len) = rest.find('>') else { continue };
        let end = start + 1 + len + 1;
        let inner = rest[..len].trim_end_matches('/');
        // U+FF5C is the full-width bar of some chat templates.
        let name = inner
            .trim_start_matches(['/', '<', '|', '\u{FF5C}'])
            .split([' ', '|', ':', '\u{FF5C}'])
            .next()
            .unwrap_or_default();
        let closing = inner.starts_with('/');
        let template = inner.starts_with(['|', '<', '\u{FF5C}'])
            && CHAT_TEMPLATE_TOKENS.contains(&name)
            || matches!(name, "start_of_turn" | "end_of_turn");
        // `<|im_start|>user ... <|im_end|>` shows a format: dots stand where a message would.
        let around = &text[text.floor_char_boundary(start.saturating_sub(12))..start];
        let is_placeholder = [around, near(text, end, 16)]
            .iter()
            .any(|text| text.contains("...") || text.contains('…'));
        // Closing a wrapper that the text itself has opened is an example of markup.
        if template && !is_placeholder && !announces_example(sentence_before(text, start))
            || closing && is_opened.contains(&(name, false))
        {
            found.push(start..end);
        } else if !closing && is_unambiguous(name) && is_host_name(name) {
            // What it claims to say: up to its end, or to the end of the text if it is left open.
            let body = near(text, end, MAX_BODY);
            let close = body.find(&format!("</{name}"));
            let body = &body[..close.unwrap_or(body.len())];
            // One that is left open must be followed by a text: not one of a list of tags.
            let speaks = close.is_some()
                || begins_sentence(text, start)
                    && body.trim_start().starts_with(char::is_alphanumeric)
                    && !near(body, 0, 24).contains('<');
            if speaks && is_speech(body) {
                found.push(start..end);
            }
        }
    }
}

/// `<span style="display:none">`: text that a browser does not show is meant for the model.
fn find_unrendered(text: &str, found: &mut Vec<Range<usize>>) {
    #[rustfmt::skip]
    const HIDING_STYLES: &[&str] = &[
        "display:none", "visibility:hidden", "font-size:0", "font-size:1px", "opacity:0",
        "color:white", "color:#fff", "color:transparent", "color=white", "color=#fff", "left:-9999",
        "height:0", "width:0", "aria-hidden=true",
    ];
    for (start, _) in text.match_indices('<') {
        let rest = near(text, start + 1, 201);
        let Some(len) = rest.find('>') else { continue };
        let inner = &rest[..len];
        // An element without attributes hides nothing.
        let Some((name, attributes)) = inner.split_once(' ') else { continue };
        // Without spaces and quotes, so that all spellings of a style are one.
        let squeezed: String =
            attributes.chars().filter(|c| !matches!(c, ' ' | '"' | '\'')).collect();
        let hides = attributes.split(' ').any(|attribute| attribute == "hidden")
            || HIDING_STYLES.iter().any(|style| {
                squeezed.find(style).is_some_and(|at| {
                    // `opacity:0.5` can be seen.
                    !squeezed[at + style.len()..]
                        .starts_with(['.', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
                })
            });
        if !hides {
            continue;
        }
        let body = near(text, start + 1 + len + 1, MAX_BODY);
        // It is unknown what an element without an end hides.
        let Some(end) = body.find(&format!("</{name}")) else { continue };
        if is_speech(&body[..end]) {
            found.push(start..start + 1 + len + 1);
        }
    }
}

/// `![](https://…?q={conversation})`: a client that renders the image sends the query to its
/// server. Counts if the query names something confidential. The range is the whole image.
fn find_images(text: &str, found: &mut Vec<Range<usize>>) {
    // From address to address, so that no part of the text is read twice.
    let mut done = 0;
    while let Some(from) = text[done..].find("](http").map(|len| done + len) {
        let Some(end) = text[from..].find(')').map(|len| from + len + 1) else { return };
        let start = text[done..from].find("![").map(|len| done + len);
        done = end;
        let Some(start) = start else { continue };
        // Without a query, the address carries nothing away.
        let Some((_, query)) = text[from..end].split_once('?') else { continue };
        // Words in a query are joined by signs.
        let words = query.replace(['=', '{', '}', '_', '&', '<', '[', '$'], " ");
        if count_words(&words, CONFIDENTIAL) > 0 {
            found.push(start..end);
        }
    }
}

/// Whether a text is long enough to say something: three words, or eight characters of a script
/// without spaces.
fn is_speech(body: &str) -> bool {
    let words = body.split_whitespace().filter(|word| word.contains(char::is_alphabetic));
    words.take(3).count() == 3
        || body.chars().filter(|c| is_unspaced_letter(*c)).take(8).count() == 8
}

/// Comments of HTML, templates, Markdown and C are not rendered. One that has at least two of
/// [`ADDRESSED`] is addressed to the model. The comment is reported as a whole.
fn find_comments(text: &str, found: &mut Vec<Range<usize>>) {
    for (open, close) in
        [("<!--", "-->"), ("{#", "#}"), ("[//]: # (", ")"), ("[comment]: <> (", ")")]
    {
        let mut done = 0;
        while let Some(start) = text[done..].find(open).map(|len| done + len) {
            // A comment without an end reaches to the end of the text. What opens another one
            // inside of a comment is part of it.
            let end = text[start..].find(close).map_or(text.len(), |len| start + len + close.len());
            done = end;
            // One word is not enough: `<!-- required -->` and `<!-- call twice -->` are ordinary
            // comments.
            if count_words(near(text, start, MAX_BODY.min(end - start)), ADDRESSED) >= 2 {
                found.push(start..end);
            }
        }
    }
}

/// `[SYSTEM] …` where a line or sentence begins, `[INST]`, `{{system}}`.
///
/// How much is asked for depends on the label: `[INST]` and a label with a closing counterpart are
/// markup at once, `[system]` has to begin a sentence and be followed by one.
fn find_brackets(text: &str, found: &mut Vec<Range<usize>>) {
    for (open, close) in [("[", "]"), ("{{", "}}"), ("((", "))"), ("【", "】")] {
        for (start, _) in text.match_indices(open) {
            let from = start + open.len();
            // Longer ones are links and lists, not labels.
            let Some(len) = near(text, from, 40 + close.len()).find(close).filter(|len| *len > 0)
            else {
                continue;
            };
            let end = from + len + close.len();
            let name = text[from..from + len]
                .trim_start_matches(['/', '[', '#'])
                .trim_end_matches([':', ']']);
            let first = name.split([' ', ':', '_', '-']).next().unwrap_or_default();
            if !is_host_name(first) || announces_example(sentence_before(text, start)) {
                continue;
            }
            // `[SYSTEM] … [/SYSTEM]` is an element with other brackets.
            let after = near(text, end, MAX_BODY);
            let closed = after.contains(&format!("{open}/{name}"));
            // A text must follow directly: `[system], [user]` is a list of names.
            let speaks = is_speech(after)
                && after.trim_start_matches([':', ' ', '\n']).starts_with(char::is_alphanumeric);
            let is_host = match first {
                _ if closed || first == "inst" => true,
                // `see [system]` inside a sentence is a reference.
                _ if !begins_sentence(text, start) => false,
                "system" | "sys" | "assistant" | "override" => speaks,
                _ => ["系统", "システム", "시스템"].iter().any(|name| first.starts_with(name)),
            };
            if is_host {
                found.push(start..end);
            }
        }
    }
}

/// What stands before a position in its sentence, at most 160 bytes of it.
fn sentence_before(text: &str, at: usize) -> &str {
    let before = &text[text.floor_char_boundary(at.saturating_sub(160))..at];
    before.rsplit_once(['.', '\n', '。']).map_or(before, |(_, sentence)| sentence)
}

/// Whether a line or a sentence begins here. Signs that end a block of Markdown count, too.
fn begins_sentence(text: &str, at: usize) -> bool {
    text[..at].ends_with('\n')
        || matches!(
            text[..at].trim_end().chars().next_back(),
            None | Some('.' | '!' | '?' | '。' | '`' | '>' | ']' | '-' | '=' | '*' | '#')
        )
}

/// `### System instructions`, `# Instruction:`. Prompts are written in Markdown, and these are the
/// headings by which models were trained to recognise their parts.
fn find_headings(text: &str, found: &mut Vec<Range<usize>>) {
    for (start, _) in text.match_indices('#') {
        // One heading per row of `#`; `#tag` is not one.
        if text[..start].ends_with('#') {
            continue;
        }
        let line = text[start..].trim_start_matches('#').trim_start_matches(' ');
        if line.len() == text.len() - start - 1 && !text[start..].starts_with("# ") {
            continue;
        }
        let line_start = text.len() - line.len();
        let line = near(line, 0, MAX_HEADING);
        let mut words = line.split([' ', ':', '\n', '#']).filter(|word| !word.is_empty());
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        // A colon makes a heading a label for what follows: `### Assistant:` starts a reply.
        let has_colon = line[first.len()..].starts_with(':');
        // `### SYSTEM ###` is a banner around a message.
        let is_framed = line[first.len()..].trim_start_matches(' ').starts_with("##");
        let is_host = match first {
            "system" => has_colon || is_framed || SYSTEM_HEADING_WORDS.contains(&second),
            "instruction" | "assistant" | "human" if has_colon => true,
            "new" | "hidden" | "secret" | "important" | "updated" | "mandatory" => matches!(
                second,
                "instructions" | "instruction" | "system" | "rules" | "directive" | "policy"
            ),
            "instruction" | "instructions" => {
                matches!(second, "for" | "to") && mentions_model(line)
            }
            _ => false,
        };
        if is_host {
            found.push(start..line_start + first.len());
        }
    }
}

/// Words after "system" that make a heading the host's.
#[rustfmt::skip]
const SYSTEM_HEADING_WORDS: &[&str] = &[
    "instructions", "instruction", "prompt", "message", "override", "note", "notice", "policy",
    "directive", "update", "command", "alert", "rules",
];

/// `SYSTEM: …`, `Human: … Assistant: …`: a dialogue that the host has not held, with a question and
/// an answer. One speaker alone is how documentation labels a field.
///
/// Each label of the dialogue that is followed by a sentence is a finding of its own.
fn find_speakers(text: &str, found: &mut Vec<Range<usize>>) {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(':') {
        // The word before the colon.
        let start = text[..at]
            .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map_or(0, |last| last + text[last..].chars().next().map_or(1, char::len_utf8));
        let name = &text[start..at];
        if begins_sentence(text, start)
            && matches!(
                name,
                "system"
                    | "assistant"
                    | "human"
                    | "user"
                    | "ai"
                    | "sistema"
                    | "система"
                    | "系统"
                    | "システム"
                    | "시스템"
                    | "developer"
                    | "admin"
                    | "llm"
            )
        {
            names.push((name, start..at + 1));
        }
    }
    // At least one side that asks and one that answers.
    let is_dialogue = names.iter().any(|(name, _)| *name == "assistant" || *name == "ai")
        && names.iter().any(|(name, _)| matches!(*name, "human" | "user" | "system"));
    let speaks = |range: &Range<usize>| is_speech(near(text, range.end, MAX_BODY));
    found.extend(
        names.into_iter().map(|(_, range)| range).filter(|range| is_dialogue && speaks(range)),
    );
}

/// Code fences whose language is the host's.
fn find_fences(text: &str, found: &mut Vec<Range<usize>>) {
    for fence in ["```system", "```instructions", "```prompt", "~~~system", "```assistant"] {
        found.extend(text.match_indices(fence).map(|(at, _)| at..at + fence.len()));
    }
}

/// Whether the first line mentions an assistant.
fn mentions_model(text: &str) -> bool {
    let line = text.split('\n').next().unwrap_or_default();
    count_words(line, MODEL) > 0
}
