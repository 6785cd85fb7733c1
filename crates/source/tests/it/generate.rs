//! Generators for the property tests: JSON with arbitrary white space and escapes, text that is
//! nearly JSON or YAML, and YAML as people write it.

use proptest::prelude::*;
use serde_json::{Map, Value as Json};

/// The random decisions of the writers below; when they run out, the simplest form is written.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    bytes: Vec<u8>,
    next: usize,
    /// Whether a blank line now would become part of the `|+` block just written.
    kept: bool,
}

impl Choices {
    pub(crate) fn any() -> impl Strategy<Value = Choices> {
        prop::collection::vec(any::<u8>(), 0..120).prop_map(|bytes| Choices {
            bytes,
            next: 0,
            kept: false,
        })
    }

    pub(crate) fn pick(&mut self, below: usize) -> usize {
        let byte = self.bytes.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        byte as usize % below
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.pick(texts.len())]
    }
}

/// Strings with characters that are hard for parsers.
pub(crate) fn string() -> impl Strategy<Value = String> {
    let pieces = [
        "a", "b c", "é", "ü", "😀", "漢", "\\", "\"", "'", "/", ":", ": ", " #", "#", "- ", ",",
        "]", "}", "{", "[", "\n", "\t", "\r\n", "\u{8}", "\u{0}", "\u{7f}", "\u{85}", "\u{a0}",
        "\u{2028}", "\u{feff}", "\u{1f}", " ", "  ", "~", "!", "&", "*", "%", "@", "`", "|", ">",
        "?", "=", "<<", "...", "---", "1", "0x1", "true", "null", "no", ".",
    ];
    let piece = prop::sample::select(pieces.to_vec());
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

pub(crate) fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z]{1,4}",
        1 => prop::sample::select(vec!["x-y", "a b", "é", "~1", "a/b", "1", "true", "no", "#k", "k:", "", "..."])
            .prop_map(str::to_owned),
    ]
}

pub(crate) fn number() -> impl Strategy<Value = Json> {
    prop_oneof![
        any::<i64>().prop_map(Json::from),
        (-9i64..99).prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        (-1000i32..1000).prop_map(|n| Json::from(f64::from(n) / 8.0)),
        any::<f64>().prop_filter("JSON has no infinity", |f| f.is_finite()).prop_map(Json::from),
    ]
}

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        1 => Just(Json::Null),
        1 => any::<bool>().prop_map(Json::Bool),
        2 => number(),
        4 => string().prop_map(Json::String),
    ]
}

pub(crate) fn value() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::Array),
            prop::collection::vec((key(), inner), 0..5)
                .prop_map(|members| Json::Object(Map::from_iter(members))),
        ]
    })
}

/// A list or an object, as the target of edits.
pub(crate) fn container() -> impl Strategy<Value = Json> {
    value().prop_filter("has members", |v| match v {
        Json::Array(items) => !items.is_empty(),
        Json::Object(map) => !map.is_empty(),
        _ => false,
    })
}

/// The value as JSON with arbitrary white space and escapes.
pub(crate) fn write_json(value: &Json, choices: &mut Choices) -> String {
    let mut out = String::new();
    space(&mut out, choices);
    json_into(&mut out, value, choices);
    space(&mut out, choices);
    out
}

fn space(out: &mut String, choices: &mut Choices) {
    out.push_str(choices.of(&["", "", " ", "\n", "\r\n", "\t", "\n  "]));
}

fn json_into(out: &mut String, value: &Json, choices: &mut Choices) {
    let separate = |out: &mut String, n: usize, choices: &mut Choices| {
        if n > 0 {
            out.push(',');
        }
        space(out, choices);
    };
    match value {
        Json::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                separate(out, n, choices);
                json_into(out, item, choices);
                space(out, choices);
            }
            out.push(']');
        }
        Json::Object(map) => {
            out.push('{');
            for (n, (key, item)) in map.iter().enumerate() {
                separate(out, n, choices);
                json_string(out, key, choices);
                space(out, choices);
                out.push(':');
                space(out, choices);
                json_into(out, item, choices);
                space(out, choices);
            }
            out.push('}');
        }
        Json::String(text) => json_string(out, text, choices),
        other => out.push_str(&other.to_string()),
    }
}

fn json_string(out: &mut String, text: &str, choices: &mut Choices) {
    out.push('"');
    for c in text.chars() {
        let escaped = choices.pick(6) == 0;
        match c {
            '/' if escaped => out.push_str("\\/"),
            c if escaped => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units)
                    .iter()
                    .for_each(|u| out.push_str(&format!("\\u{u:04X}")));
            }
            c => {
                let quoted = Json::from(c.to_string()).to_string();
                out.push_str(&quoted[1..quoted.len() - 1]);
            }
        }
    }
    out.push('"');
}

/// `text` with a few characters removed, doubled or replaced.
pub(crate) fn mutate(text: &str, choices: &mut Choices) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=choices.pick(3) {
        if chars.is_empty() {
            break;
        }
        let at = (choices.pick(256) * 256 + choices.pick(256)) % chars.len();
        let other = choices.of(&[
            ",", ":", "\"", "\\", "{", "}", "[", "]", "0", "-", "e", "é", "\u{1}", "\n", "#", " ",
            "&", "'",
        ]);
        match choices.pick(3) {
            0 => drop(chars.remove(at)),
            1 => chars.insert(at, chars[at]),
            _ => drop(chars.splice(at..=at, other.chars())),
        }
    }
    chars.into_iter().collect()
}

pub(crate) fn soup(tokens: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(tokens), 0..30).prop_map(|tokens| tokens.concat())
}

/// Characters that YAML allows only as escapes.
fn is_unprintable(c: char) -> bool {
    c.is_control() || c == '\u{feff}'
}

/// JSON text that is also YAML.
pub(crate) fn escape(json: &str) -> String {
    let escaped =
        |c: char| if is_unprintable(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() };
    json.chars().map(escaped).collect()
}

/// The value as YAML in block style, the way a person might write it: lists and maps in lines,
/// strings in any style that fits, comments and blank lines between.
pub(crate) fn write_yaml(value: &Json, choices: &mut Choices) -> String {
    let mut out = String::new();
    match value {
        Json::Array(items) if !items.is_empty() => yaml_block(&mut out, value, 0, choices),
        Json::Object(map) if !map.is_empty() => yaml_block(&mut out, value, 0, choices),
        other => {
            out.push_str(&yaml_scalar(other, 0, choices));
            if !out.ends_with('\n') {
                out.push('\n');
            }
        }
    }
    out
}

fn remark(out: &mut String, indent: usize, choices: &mut Choices) {
    match choices.pick(8) {
        0 => out.push_str(&format!("{}# note: - \"x\" {{\n", " ".repeat(indent))),
        1 if !choices.kept => out.push('\n'),
        _ => {}
    }
}

fn is_block(value: &Json) -> bool {
    match value {
        Json::Array(items) => !items.is_empty(),
        Json::Object(map) => !map.is_empty(),
        _ => false,
    }
}

/// The lines of a collection; the first one starts where `out` ends if that is behind a `- `.
fn yaml_block(out: &mut String, value: &Json, indent: usize, choices: &mut Choices) {
    let pad = |out: &mut String| {
        if out.is_empty() || out.ends_with('\n') {
            out.push_str(&" ".repeat(indent));
        }
    };
    match value {
        Json::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    remark(out, indent, choices);
                }
                pad(out);
                out.push('-');
                if is_block(item) {
                    match choices.pick(3) {
                        0 => {
                            out.push('\n');
                            remark(out, indent + 2, choices);
                        }
                        1 => out.push_str("   "),
                        _ => out.push(' '),
                    }
                    let column = column(out).max(indent + 2);
                    yaml_block(out, item, column, choices);
                } else {
                    yaml_value(out, item, indent, choices);
                }
            }
        }
        Json::Object(map) => {
            for (n, (key, item)) in map.iter().enumerate() {
                if n > 0 {
                    remark(out, indent, choices);
                }
                pad(out);
                out.push_str(&yaml_key(key, choices));
                out.push(':');
                if is_block(item) {
                    out.push_str(choices.of(&["\n", "\n", " # about it\n", "  \n"]));
                    // A list may start at the column of its key.
                    let step = if item.is_array() && choices.pick(2) == 0 { 0 } else { 2 };
                    remark(out, indent + step, choices);
                    yaml_block(out, item, indent + step, choices);
                } else {
                    yaml_value(out, item, indent, choices);
                }
            }
        }
        _ => {}
    }
}

fn column(out: &str) -> usize {
    out.len() - out.rfind('\n').map_or(0, |n| n + 1)
}

fn yaml_key(key: &str, choices: &mut Choices) -> String {
    let bare = !key.is_empty()
        && key.chars().all(|c| c.is_ascii_lowercase())
        && !["true", "no", "null"].contains(&key);
    match choices.pick(3) {
        0 if !key.contains('\n') => format!("'{}'", key.replace('\'', "''")),
        1 | 2 if bare => key.to_owned(),
        _ => escape(&Json::from(key).to_string()),
    }
}

/// The text behind a `:` or `-`, with its line break.
fn yaml_value(out: &mut String, value: &Json, indent: usize, choices: &mut Choices) {
    choices.kept = false;
    if value.is_null() && choices.pick(2) == 0 {
        out.push_str(choices.of(&["\n", " \n", " # nothing\n"]));
        return;
    }
    let text = yaml_scalar(value, indent, choices);
    out.push(' ');
    out.push_str(&text);
    if !text.ends_with('\n') {
        out.push_str(choices.of(&["\n", "\n", " # why\n", "  \n"]));
    }
}

fn yaml_scalar(value: &Json, indent: usize, choices: &mut Choices) -> String {
    let Json::String(text) = value else {
        return value.to_string();
    };
    let simple = |c: char| c.is_ascii_alphanumeric() || " é😀:#'\",[]{}".contains(c);
    let lines: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    let blockable = !text.is_empty()
        && lines
            .iter()
            .all(|line| !line.is_empty() && line.chars().all(simple) && !line.starts_with(' '))
        && text.trim_end_matches('\n').len() + 2 >= text.len();
    match choices.pick(4) {
        0 | 1 if blockable => {
            let breaks = text.len() - text.trim_end_matches('\n').len();
            let pad = " ".repeat(indent + 2);
            let body: String = lines.iter().map(|line| format!("{pad}{line}\n")).collect();
            match breaks {
                0 => format!("|-\n{body}"),
                1 if choices.pick(2) == 0 => format!("|\n{body}"),
                _ => {
                    choices.kept = true;
                    format!("|+\n{body}{}", "\n".repeat(breaks - 1))
                }
            }
        }
        2 if !text.chars().any(is_unprintable) => {
            format!("'{}'", text.replace('\'', "''"))
        }
        _ => escape(&Json::from(text.as_str()).to_string()),
    }
}

/// The value as YAML in flow style over several lines, with comments.
pub(crate) fn write_flow(value: &Json, choices: &mut Choices) -> String {
    let mut out = String::new();
    flow_into(&mut out, value, 0, choices);
    out.push('\n');
    out
}

fn flow_into(out: &mut String, value: &Json, indent: usize, choices: &mut Choices) {
    let gap = |out: &mut String, choices: &mut Choices| {
        let pad = " ".repeat(indent + 1);
        match choices.pick(5) {
            0 => out.push_str(&format!("\n{pad}")),
            1 => out.push_str(&format!(" # one, [two\n{pad}")),
            2 => out.push(' '),
            _ => {}
        }
    };
    match value {
        Json::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                gap(out, choices);
                flow_into(out, item, indent + 1, choices);
                gap(out, choices);
                if n + 1 < items.len() || choices.pick(4) == 0 {
                    out.push(',');
                }
            }
            gap(out, choices);
            out.push(']');
        }
        Json::Object(map) => {
            out.push('{');
            for (n, (key, item)) in map.iter().enumerate() {
                gap(out, choices);
                out.push_str(&yaml_key(key, choices));
                out.push_str(": ");
                flow_into(out, item, indent + 1, choices);
                gap(out, choices);
                if n + 1 < map.len() || choices.pick(4) == 0 {
                    out.push(',');
                }
            }
            gap(out, choices);
            out.push('}');
        }
        Json::String(text) if !text.chars().any(is_unprintable) && choices.pick(2) == 0 => {
            out.push_str(&format!("'{}'", text.replace('\'', "''")));
        }
        other => out.push_str(&escape(&other.to_string())),
    }
}
