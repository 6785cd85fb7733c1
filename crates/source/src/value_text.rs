//! JSON values as text for an edit: JSON, or YAML that is correct in the same place.
//!
//! YAML is written on one line and in flow style, whatever stands around it: that form is valid at
//! every indent, in block and in flow collections alike. Strings keep the quotes of the text they
//! replace where they can. What a reader of YAML might misunderstand is put in double quotes, whose
//! escapes JSON and YAML share.

use serde_json::Value as Json;

use crate::core_schema;
use crate::tree::{Style, ValueKind};

/// How a JSON value is laid out.
#[derive(Clone, Copy)]
pub(crate) enum JsonLayout<'t> {
    /// On one line.
    Inline,
    /// One member a line. `indent` is that of the line the value begins on, `unit` is added for
    /// each level.
    Pretty { newline: &'t str, indent: &'t str, unit: &'t str },
}

/// The value as JSON text.
pub(crate) fn json(value: &Json, layout: JsonLayout<'_>) -> String {
    let mut out = String::new();
    write_json(&mut out, value, layout, 0);
    out
}

/// Appends the value. Recursive: values of edits come from our own code, not from a document.
fn write_json(out: &mut String, value: &Json, layout: JsonLayout<'_>, depth: usize) {
    let (open, close, len) = match value {
        Json::Array(items) => ('[', ']', items.len()),
        Json::Object(map) => ('{', '}', map.len()),
        scalar => return out.push_str(&scalar.to_string()),
    };
    out.push(open);
    // What stands before the `n`-th member: a comma behind the previous one, then a space or a
    // line.
    let next = |out: &mut String, n: usize| {
        if n > 0 {
            out.push(',');
        }
        match layout {
            JsonLayout::Inline if n > 0 => out.push(' '),
            JsonLayout::Inline => {}
            JsonLayout::Pretty { .. } => break_line(out, layout, depth + 1),
        }
    };
    match value {
        Json::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                next(out, n);
                write_json(out, item, layout, depth + 1);
            }
        }
        Json::Object(map) => {
            for (n, (key, item)) in map.iter().enumerate() {
                next(out, n);
                out.push_str(&quoted(key));
                out.push_str(": ");
                write_json(out, item, layout, depth + 1);
            }
        }
        _ => {}
    }
    if len > 0 {
        break_line(out, layout, depth);
    }
    out.push(close);
}

/// Begins a line at the indent of `depth` levels, if the layout has lines.
fn break_line(out: &mut String, layout: JsonLayout<'_>, depth: usize) {
    if let JsonLayout::Pretty { newline, indent, unit } = layout {
        out.push_str(newline);
        out.push_str(indent);
        (0..depth).for_each(|_| out.push_str(unit));
    }
}

/// A string in JSON's double quotes, which YAML reads alike.
pub(crate) fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

/// The value as YAML on one line; a string keeps `style` where it can.
pub(crate) fn yaml(value: &Json, style: Style) -> String {
    match value {
        Json::String(text) => yaml_string(text, style),
        other => printable(json(other, JsonLayout::Inline)),
    }
}

/// JSON text with those characters escaped that JSON allows in a string and YAML does not print.
fn printable(json: String) -> String {
    if !json.chars().any(is_unprintable) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        match c {
            c if is_unprintable(c) => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// Characters that YAML does not allow, or takes for a line break or a byte order mark.
fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A string or key as YAML on one line, in `style` if that can express it, else in double quotes.
///
/// | text | style | written |
/// |---|---|---|
/// | `hello world` | plain | `hello world` |
/// | `true` | plain | `"true"` |
/// | `it's` | single | `'it''s'` |
pub(crate) fn yaml_string(text: &str, style: Style) -> String {
    match style {
        Style::Plain if is_safe_unquoted(text) => text.to_owned(),
        Style::Single if !text.chars().any(is_unprintable) => {
            format!("'{}'", text.replace('\'', "''"))
        }
        // Block scalars (`|`, `>`) become double quotes: they cannot stand on one line.
        _ => printable(quoted(text)),
    }
}

/// Whether YAML reads the bare text as exactly this string, in block and in flow style. Stricter
/// than YAML: only characters that never have a meaning inside a word are allowed.
fn is_safe_unquoted(text: &str) -> bool {
    // The first character decides most: an indicator there changes the meaning of the text.
    let first =
        text.chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '/' | '_'));
    let inside = |c: char| c.is_alphanumeric() || " _-./@+()<>=;".contains(c);
    // Readers of YAML 1.1 take these words for booleans. (`...`, checked below, ends a document.)
    let taken = ["yes", "no", "on", "off"].iter().any(|word| text.eq_ignore_ascii_case(word));
    first
        && text.chars().all(inside)
        && !(text.ends_with(' ') || text.starts_with("...") || taken)
        && core_schema::kind_of(text) == ValueKind::String
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strings_are_bare_only_where_yaml_reads_them_back() {
        let cases = [
            ("dom:read", Style::Plain, "\"dom:read\""),
            ("hello world", Style::Plain, "hello world"),
            ("true", Style::Plain, "\"true\""),
            ("1.0", Style::Plain, "\"1.0\""),
            ("1.0.0", Style::Plain, "1.0.0"),
            ("", Style::Plain, "\"\""),
            ("it's", Style::Single, "'it''s'"),
            ("a\nb", Style::Single, "\"a\\nb\""),
            ("- x", Style::Plain, "\"- x\""),
        ];
        for (text, style, written) in cases {
            assert_eq!(yaml_string(text, style), written);
        }
    }

    #[test]
    fn json_inline_and_in_lines() {
        let value = json!({"a": [1, "x"], "b": {}});
        assert_eq!(json(&value, JsonLayout::Inline), r#"{"a": [1, "x"], "b": {}}"#);
        let lines = JsonLayout::Pretty { newline: "\n", indent: "  ", unit: "  " };
        assert_eq!(
            json(&value, lines),
            "{\n    \"a\": [\n      1,\n      \"x\"\n    ],\n    \"b\": {}\n  }"
        );
    }
}
