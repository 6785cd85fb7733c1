//! A JSON value as a YAML document in block style, as people write it: one member a line, two
//! spaces for each level, texts of several lines as literal blocks, short lists on one line.
//!
//! Reading the text back gives the same value. What a reader of YAML might misunderstand is put in
//! double quotes (`value_text`).
//!
//! ```text
//! {"id": "notes", "tags": ["a", "true"], "code": "one\ntwo\n", "more": {"x": [[1]]}}
//!
//! id: notes
//! tags: [a, "true"]
//! code: |
//!   one
//!   two
//! more:
//!   x:
//!     - [1]
//! ```

use serde_json::Value as Json;

use crate::tree::Style;
use crate::value_text::{yaml, yaml_string};

/// The longest list that is written on one line, in characters.
const MAX_LINE: usize = 80;

/// The value as a YAML document. The recursion is as deep as the value.
pub fn yaml_document(value: &Json) -> String {
    let mut out = String::new();
    match value {
        Json::Object(_) | Json::Array(_) if !is_inline(value) => write_block(&mut out, value, 0),
        scalar => {
            out.push_str(&yaml(scalar, Style::Plain));
            out.push('\n');
        }
    }
    out
}

/// Writes the members or items, each on lines of its own.
fn write_block(out: &mut String, value: &Json, indent: usize) {
    match value {
        Json::Object(members) => {
            for (key, member) in members {
                push_spaces(out, indent);
                write_member(out, key, member, indent);
            }
        }
        Json::Array(items) => {
            for item in items {
                push_spaces(out, indent);
                write_item(out, item, indent);
            }
        }
        // The callers write scalars themselves.
        _ => {}
    }
}

/// `key: value`, from the key on.
fn write_member(out: &mut String, key: &str, value: &Json, indent: usize) {
    out.push_str(&yaml_string(key, Style::Plain));
    out.push(':');
    write_value(out, value, indent);
}

/// `- value`, from the dash on. An object starts on the line of the dash.
///
/// ```text
/// - id: x          the members after the first are indented by two more than the dash
///   more: 1
/// ```
fn write_item(out: &mut String, item: &Json, indent: usize) {
    out.push('-');
    match item {
        Json::Object(members) if !is_inline(item) => {
            for (n, (key, value)) in members.iter().enumerate() {
                match n {
                    0 => out.push(' '),
                    _ => push_spaces(out, indent + 2),
                }
                write_member(out, key, value, indent + 2);
            }
        }
        _ => write_value(out, item, indent),
    }
}

/// A value behind a colon or a dash, with the line end.
fn write_value(out: &mut String, value: &Json, indent: usize) {
    match value {
        Json::String(text) if is_literal(text) => write_literal(out, text, indent + 2),
        Json::Object(_) | Json::Array(_) if !is_inline(value) => {
            out.push('\n');
            write_block(out, value, indent + 2);
        }
        value => {
            out.push(' ');
            out.push_str(&inline(value));
            out.push('\n');
        }
    }
}

/// Whether a value is written on the line of its key: a scalar, an empty collection, or a short
/// list of scalars.
fn is_inline(value: &Json) -> bool {
    let is_scalar = |value: &Json| !value.is_object() && !value.is_array();
    match value {
        Json::Object(members) => members.is_empty(),
        Json::Array(items) => {
            items.iter().all(is_scalar) && inline(value).chars().count() <= MAX_LINE
        }
        _ => true,
    }
}

/// A value on one line.
fn inline(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| yaml(item, Style::Plain)).collect();
            format!("[{}]", items.join(", "))
        }
        value => yaml(value, Style::Plain),
    }
}

/// Whether a text can be a literal block: it has lines, no line starts with a space where YAML
/// would take it for the indent, and no character needs an escape.
fn is_literal(text: &str) -> bool {
    let is_printable = |c: char| c == '\n' || c == '\t' || !c.is_control();
    text.trim_end_matches('\n').contains('\n')
        && text.chars().all(is_printable)
        && !text.contains(['\u{2028}', '\u{2029}', '\u{feff}', '\u{fffe}', '\u{ffff}', '\u{85}'])
        && !text.starts_with([' ', '\t', '\n'])
        && !text.ends_with("\n\n")
        // Lines of blanks alone would lose them in some readers.
        && text.lines().all(|line| line.is_empty() || !line.trim().is_empty())
}

/// Writes a text as a literal block. Empty lines get no indent, so no line ends with a space.
fn write_literal(out: &mut String, text: &str, indent: usize) {
    // `|-`: without the line end that the text does not have.
    out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
    for line in text.lines() {
        if !line.is_empty() {
            push_spaces(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Writes an indent of so many columns.
fn push_spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Syntax};
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn documents_look_as_people_write_them() {
        let value = json!({
            "tool": {
                "id": "notes", "version": "1.0.0", "schema_version": 2.0,
                "tags": ["a", "true"], "empty": {}, "none": null,
                "code": "one\n\n  two\n", "commands": [{"id": "x", "more": {"a": [1, [2]]}}, []],
                "odd: key": "#no comment"
            }
        });
        let text = "\
tool:
  id: notes
  version: 1.0.0
  schema_version: 2.0
  tags: [a, \"true\"]
  empty: {}
  none: null
  code: |
    one

      two
  commands:
    - id: x
      more:
        a:
          - 1
          - [2]
    - []
  \"odd: key\": \"#no comment\"
";
        assert_eq!(yaml_document(&value), text);
    }

    fn values() -> impl Strategy<Value = Json> {
        let text = prop_oneof![
            "[a-z:#\\- ]{0,8}",
            "([ a-z:#|>\"'\\-]{0,6}\n){0,4}[a-z ]{0,3}",
            "\\PC{0,6}",
            Just("yes".to_owned()),
            Just("1.0".to_owned()),
            Just("a\r\nb\tc\n".to_owned()),
        ];
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            text.clone().prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 32, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
                prop::collection::vec((text.clone(), inner), 0..5)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn reading_the_text_gives_the_value(value in values()) {
            let text = yaml_document(&value);
            let document = Document::parse("x.yaml", text.clone(), Syntax::Yaml);
            prop_assert!(document.problems().is_empty(), "{text}\n{:?}", document.problems());
            prop_assert_eq!(document.root().to_json(), value, "{}", text);
        }
    }
}
