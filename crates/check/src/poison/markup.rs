//! Tags, brackets, banners and speakers' names that a host would put around its own messages, for
//! `instructions`.

use std::ops::Range;

use super::lexicon::{is_unspaced, read};
use super::plain::Plain;
use super::words::*;

/// Markup in a folded text, each with its points.
pub(super) fn markup(text: &str) -> Vec<(u8, Range<usize>)> {
    let mut found = Vec::new();
    let has = |sign: u8| text.as_bytes().contains(&sign);
    if has(b'<') {
        elements(text, &mut found);
        unrendered(text, &mut found);
    }
    if has(b'!') && text.contains("](http") {
        images(text, &mut found);
    }
    if has(b'<') || has(b'#') || text.contains("/*") {
        comments(text, &mut found);
    }
    if has(b'[') || has(b'{') || has(b'*') || !text.is_ascii() {
        brackets(text, &mut found);
    }
    if has(b'#') {
        headings(text, &mut found);
    }
    if has(b':') {
        speakers(text, &mut found);
    }
    if text.contains("```") || text.contains("~~~") {
        fences(text, &mut found);
    }
    found
}

/// Names of elements, brackets and headings that claim to be the host's or another speaker's.
const HOSTS: &[&str] = &[
    "system",
    "sys",
    "important",
    "assistant",
    "instruction",
    "instructions",
    "secret",
    "hidden",
    "admin",
    "developer",
    "override",
    "critical",
    "directive",
    "directives",
    "policy",
    "internal",
    "agent",
    "llm",
    "ai",
    "inst",
    "urgent",
    "mandatory",
    "priority",
    "security",
    "root",
    "tool_result",
    "tool_response",
    "tool_output",
    "function_result",
    "function_results",
    "function_response",
    "user_confirmation",
    "user_message",
    "context",
    "reminder",
    "attention",
    "notice",
    "command",
    "commands",
    "must",
    "model",
    "private",
    "confidential",
    "thinking",
    "human",
    "user",
];
/// The same in other languages, and in compounds: `<system_note>`, `<istruzioni_di_sistema>`.
const HOST_STEMS: &[&str] = &[
    "system",
    "sistem",
    "instruct",
    "istruzion",
    "instruc",
    "instruz",
    "anweisung",
    "wichtig",
    "important",
    "prompt",
    "assistant",
    "asistente",
    "assistent",
    "directive",
    "override",
    "priority",
    "admin",
    "secret",
    "hidden",
    "mandatory",
    "critical",
    "систем",
    "инструкц",
    "важно",
    "системн",
    "系统",
    "系統",
    "システム",
    "重要",
    "指示",
    "指令",
    "시스템",
    "중요",
    "지시",
    "geheim",
    "secreto",
    "segreto",
    "wazne",
    "polecen",
    "onemli",
    "talimat",
];
/// Names that hardly anyone gives to a tag of his own.
const STRONG: &[&str] = &[
    "system",
    "sys",
    "important",
    "assistant",
    "override",
    "inst",
    "directive",
    "secret",
    "hidden",
    "admin",
];
/// Closing these ends what the description itself is wrapped in.
const WRAPPERS: &[&str] = &[
    "description",
    "tool",
    "tools",
    "function",
    "functions",
    "tool_description",
    "parameter",
    "parameters",
    "tooldescription",
    "available_tools",
    "tool_use",
    "tool_call",
    "tool_definition",
    "documents",
    "document",
    "user_input",
    "schema",
    "untrusted",
];
/// Tokens of chat templates.
const TEMPLATE: &[&str] = &[
    "im_start",
    "im_end",
    "system",
    "assistant",
    "user",
    "sys",
    "endoftext",
    "eot_id",
    "start_header_id",
    "end_header_id",
    "begin_of_text",
    "end_of_text",
    "start_of_turn",
    "end_of_turn",
    "endofprompt",
    "fim_prefix",
];

fn is_host(name: &str) -> bool {
    HOSTS.contains(&name)
        || HOST_STEMS.iter().any(|stem| {
            name.starts_with(stem) || name.split(['_', '-']).any(|part| part.starts_with(stem))
        })
}

fn elements(text: &str, found: &mut Vec<(u8, Range<usize>)>) {
    for (start, _) in text.match_indices('<') {
        let rest = &text[start + 1..];
        let Some(len) = rest.find('>').filter(|len| *len <= 80) else { continue };
        let end = start + 1 + len + 1;
        let inner = rest[..len].trim_end_matches('/');
        let name = inner
            .trim_start_matches(['/', '<', '|', '\u{FF5C}'])
            .split([' ', '|', ':', '\u{FF5C}'])
            .next()
            .unwrap_or_default();
        let closing = inner.starts_with('/');
        let template = inner.starts_with(['|', '<', '\u{FF5C}']) && TEMPLATE.contains(&name)
            || matches!(name, "start_of_turn" | "end_of_turn");
        if template || closing && WRAPPERS.contains(&name) && !text.contains(&format!("<{name}")) {
            found.push((3, start..end));
        } else if !closing && is_host(name) {
            let close = text[end..].find(&format!("</{name}"));
            let body = &text[end..close.map_or(text.len(), |close| end + close)];
            let points = match close {
                Some(_) if is_speech(body) => 3,
                // Left open, but not as one of a list of tags.
                None if STRONG.contains(&name)
                    && is_speech(body)
                    && body.trim_start().starts_with(char::is_alphanumeric) =>
                {
                    3
                }
                _ => 1,
            };
            found.push((points, start..end));
        }
    }
}

/// `<span style="display:none">`: what a browser does not show speaks to whoever reads the source.
fn unrendered(text: &str, found: &mut Vec<(u8, Range<usize>)>) {
    const STYLES: &[&str] = &[
        "display:none",
        "visibility:hidden",
        "font-size:0",
        "font-size:1px",
        "opacity:0",
        "color:white",
        "color:#fff",
        "color:transparent",
        "color=white",
        "color=#fff",
        "left:-9999",
        "height:0",
        "width:0",
        "aria-hidden=true",
    ];
    for (start, _) in text.match_indices('<') {
        let rest = &text[start + 1..];
        let Some(len) = rest.find('>').filter(|len| *len <= 200) else { continue };
        let inner = &rest[..len];
        let Some((name, attributes)) = inner.split_once(' ') else { continue };
        let squeezed: String =
            attributes.chars().filter(|c| !matches!(c, ' ' | '"' | '\'')).collect();
        let hides = attributes.split(' ').any(|attribute| attribute == "hidden")
            || STYLES.iter().any(|style| {
                squeezed.find(style).is_some_and(|at| {
                    // `opacity:0.5` can be seen.
                    !squeezed[at + style.len()..]
                        .starts_with(['.', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
                })
            });
        let body = &rest[len + 1..];
        let Some(end) = body.find(&format!("</{name}")) else { continue };
        let body = &body[..end];
        if hides && is_speech(body) {
            found.push((3, start..start + 1 + len + 1));
        }
    }
}

/// `![](https://…?q={conversation})`: a picture whose address carries something away.
fn images(text: &str, found: &mut Vec<(u8, Range<usize>)>) {
    for (start, _) in text.match_indices("![") {
        let Some(from) = text[start..].find("](http").map(|len| start + len) else { return };
        let Some(end) = text[from..].find(')').map(|len| from + len + 1) else { return };
        let Some((_, query)) = text[from..end].split_once('?') else { continue };
        let present =
            read(&Plain::fold(&query.replace(['=', '{', '}', '_', '&', '<', '[', '$'], " ")))
                .tokens
                .iter()
                .fold(0, |all, token| all | token.concepts);
        if present & (TALK | USER | CREDENTIAL | PROMPT | SENSITIVE | FILE | TOLD_YOU | CONTENT)
            != 0
        {
            found.push((3, start..end));
        }
    }
}

/// Long enough to say something.
fn is_speech(body: &str) -> bool {
    body.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count() >= 3
        || body.chars().filter(|c| is_unspaced(*c)).count() >= 8
}

/// Comments are not rendered: one that speaks to somebody speaks to the model.
fn comments(text: &str, found: &mut Vec<(u8, Range<usize>)>) {
    for (open, close) in
        [("<!--", "-->"), ("{#", "#}"), ("[//]: # (", ")"), ("[comment]: <> (", ")"), ("/*", "*/")]
    {
        for (start, _) in text.match_indices(open) {
            let end = text[start..].find(close).map_or(text.len(), |len| start + len + close.len());
            let present = read(&Plain::fold(&text[start..end]))
                .tokens
                .iter()
                .fold(0, |all, token| all | token.concepts);
            let telling = [
                MODEL | AI,
                DROP,
                FILE,
                CREDENTIAL,
                NOT_TELL,
                TO_MODEL,
                PROMPT,
                ALWAYS,
                MUST,
                TALK,
                CARRY,
                READ,
                USER,
                CALL | TOOL,
                NOT,
                INSTRUCTIONS,
            ];
            if telling.iter().filter(|telling| present & **telling != 0).count() >= 2 {
                found.push((3, start..end));
            }
        }
    }
}

/// `[SYSTEM] …` where a line or sentence begins, `[INST]`, `{{system}}`, `**SYSTEM**`.
fn brackets(text: &str, found: &mut Vec<(u8, Range<usize>)>) {
    for (open, close) in [("[", "]"), ("{{", "}}"), ("((", "))"), ("**", "**"), ("【", "】")] {
        for (start, _) in text.match_indices(open) {
            let from = start + open.len();
            let Some(len) = text[from..].find(close).filter(|len| (1..=40).contains(len)) else {
                continue;
            };
            let end = from + len + close.len();
            let name = text[from..from + len]
                .trim_start_matches(['/', '[', '#'])
                .trim_end_matches([':', ']']);
            let first = name.split([' ', ':', '_', '-']).next().unwrap_or_default();
            if !is_host(first) {
                continue;
            }
            let closed = text.contains(&format!("{open}/{name}"));
            let speaks = is_speech(&text[end..])
                && text[end..]
                    .trim_start_matches([':', ' ', '\n'])
                    .starts_with(char::is_alphanumeric);
            let points = match first {
                _ if closed || first == "inst" => 3,
                _ if !opens(text, start) => continue,
                "system" | "sys" | "assistant" | "override" if speaks && open != "**" => 3,
                _ if first.starts_with("系统")
                    || first.starts_with("システム")
                    || first.starts_with("시스템") =>
                {
                    3
                }
                _ => 1,
            };
            found.push((points, start..end));
        }
    }
}

/// Whether a line or a sentence begins here.
fn opens(text: &str, at: usize) -> bool {
    text[..at].ends_with('\n')
        || matches!(
            text[..at].trim_end().chars().next_back(),
            None | Some('.' | '!' | '?' | '。' | '`' | '>' | ']' | '-' | '=' | '*' | '#')
        )
}

/// `### System instructions`, `# Instruction:`.
fn headings(text: &str, found: &mut Vec<(u8, Range<usize>)>) {
    for (start, _) in text.match_indices('#') {
        let line = text[start..].trim_start_matches('#').trim_start_matches(' ');
        if text[..start].ends_with('#')
            || line.len() == text.len() - start - 1 && !text[start..].starts_with("# ")
        {
            continue;
        }
        let mut words = line.split([' ', ':', '\n', '#']).filter(|word| !word.is_empty());
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let named = line[first.len()..].starts_with(':');
        let points = match first {
            "system" if named || SYSTEM_WORDS.contains(&second) => 3,
            "instruction" | "assistant" | "human" if named => 3,
            "new" | "hidden" | "secret" | "important" | "updated" | "mandatory"
                if matches!(
                    second,
                    "instructions" | "instruction" | "system" | "rules" | "directive" | "policy"
                ) =>
            {
                3
            }
            "instruction" | "instructions"
                if matches!(second, "for" | "to") && speaks_of_model(line) =>
            {
                3
            }
            _ => continue,
        };
        found.push((points, start..text.len() - line.len() + first.len()));
    }
}

const SYSTEM_WORDS: &[&str] = &[
    "instructions",
    "instruction",
    "prompt",
    "message",
    "override",
    "note",
    "notice",
    "policy",
    "directive",
    "update",
    "command",
    "alert",
    "rules",
];

/// `SYSTEM: …`, `Human: … Assistant: …`, a fenced block of the host, a message object.
fn speakers(text: &str, found: &mut Vec<(u8, Range<usize>)>) {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(':') {
        let start = text[..at]
            .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map_or(0, |last| last + text[last..].chars().next().map_or(1, char::len_utf8));
        let name = &text[start..at];
        if opens(text, start)
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
    let speaks_for_another = names.iter().any(|(name, _)| *name == "assistant" || *name == "ai")
        && names.iter().any(|(name, _)| matches!(*name, "human" | "user" | "system"));
    for (name, range) in names {
        let points =
            if speaks_for_another { 3 } else { u8::from(!matches!(name, "human" | "user")) * 2 };
        if points > 0 && is_speech(&text[range.end..]) {
            found.push((points, range));
        }
    }
    if text.contains("role") {
        objects(text, found);
    }
}

/// A block that is marked as the host's.
fn fences(text: &str, found: &mut Vec<(u8, Range<usize>)>) {
    for fence in ["```system", "```instructions", "```prompt", "~~~system", "```assistant"] {
        found.extend(text.match_indices(fence).map(|(at, _)| (3, at..at + fence.len())));
    }
}

/// A message of the host as an object of a chat.
fn objects(text: &str, found: &mut Vec<(u8, Range<usize>)>) {
    for object in ["\"role\": \"system\"", "\"role\":\"system\"", "'role': 'system'"] {
        found.extend(text.match_indices(object).map(|(at, _)| (2, at..at + object.len())));
    }
}

/// Whether the first line speaks of an assistant.
fn speaks_of_model(text: &str) -> bool {
    let line = text.split('\n').next().unwrap_or_default();
    read(&Plain::fold(line)).tokens.iter().any(|token| token.concepts & AI != 0)
}
