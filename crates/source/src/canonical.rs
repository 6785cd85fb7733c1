//! One text for all ways of writing the same value, to be hashed.
//!
//! Indentation, the order of keys, comments, quotes and the choice between JSON and YAML make no
//! difference; the value does. Numbers keep the text their author wrote, because `1.10` and `1.1`
//! are one number and two versions. The form must never change: hashes that were made with an older
//! program have to match.

use std::fmt;

use crate::{Node, ValueKind};

impl Node<'_> {
    /// The value as JSON without white space, keys in the order of their code points, numbers as
    /// they were written, aliases and merge keys resolved.
    pub fn canonical_text(self) -> String {
        self.canonical_text_without(&|_| false)
    }

    /// The same without the items and members whose value is to be left out.
    pub fn canonical_text_without(self, is_left_out: &dyn Fn(Node<'_>) -> bool) -> String {
        // About as long as what was written. Growing by doubling would take three times as much for
        // a document of many megabytes.
        let span = self.span();
        let mut text = String::with_capacity((span.end - span.start) as usize);
        // Writing to a text does not fail.
        let _ = write(self, is_left_out, &mut text);
        text
    }

    /// Writes [`canonical_text`](Self::canonical_text) piece by piece, such as to a hash.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_canonical(self, out: &mut dyn fmt::Write) -> fmt::Result {
        write(self, &|_| false, out)
    }
}

/// Recursion ends at the depth that documents may have.
fn write(
    node: Node<'_>,
    is_left_out: &dyn Fn(Node<'_>) -> bool,
    out: &mut dyn fmt::Write,
) -> fmt::Result {
    match node.kind() {
        ValueKind::Null => out.write_str("null"),
        ValueKind::Bool => {
            out.write_str(if node.boolean() == Some(true) { "true" } else { "false" })
        }
        ValueKind::Number => out.write_str(node.raw()),
        ValueKind::String => write_string(node.raw(), out),
        ValueKind::List => {
            out.write_char('[')?;
            for (n, item) in node.items().filter(|item| !is_left_out(*item)).enumerate() {
                if n > 0 {
                    out.write_char(',')?;
                }
                write(item, is_left_out, out)?;
            }
            out.write_char(']')
        }
        ValueKind::Map => {
            let mut members = node.members();
            members.retain(|member| !is_left_out(member.value));
            // Stable, so that of two members with one key the last one stays last.
            members.sort_by(|a, b| a.name().cmp(b.name()));
            out.write_char('{')?;
            for (n, member) in members.iter().enumerate() {
                if n > 0 {
                    out.write_char(',')?;
                }
                write_string(member.name(), out)?;
                out.write_char(':')?;
                write(member.value, is_left_out, out)?;
            }
            out.write_char('}')
        }
    }
}

/// Most strings need no escape and are copied; serde_json escapes the others.
fn write_string(text: &str, out: &mut dyn fmt::Write) -> fmt::Result {
    if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.write_str(&serde_json::Value::from(text).to_string())
    } else {
        out.write_char('"')?;
        out.write_str(text)?;
        out.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, Syntax};

    #[test]
    fn one_value_has_one_text_however_it_is_written() {
        let json = r#"{"b": [1.10, true, null, "x\ny"], "a": {"é": -0.0, "c": {}}}"#;
        let yaml = "# a comment\na:\n  c: {}\n  'é': -0.0\nb: [1.10, yes_, ~, \"x\\ny\"]\n"
            .replace("yes_", "true");
        let text = |syntax, text: &str| Document::parse("x", text, syntax).root().canonical_text();
        let expected = r#"{"a":{"c":{},"é":-0.0},"b":[1.10,true,null,"x\ny"]}"#;
        assert_eq!(text(Syntax::Json, json), expected);
        assert_eq!(text(Syntax::Yaml, &yaml), expected);
        // Strings with and without escapes are written as serde_json writes them.
        for string in ["plain", "a \"quote\"", "back\\slash", "tab\t", "\u{7f}\u{2028}é", ""] {
            let json = serde_json::Value::from(string).to_string();
            assert_eq!(text(Syntax::Json, &json), json);
        }
        // What an alias repeats is part of the value.
        assert_eq!(text(Syntax::Yaml, "a: &x {k: 1}\nb: *x\n"), r#"{"a":{"k":1},"b":{"k":1}}"#);
    }
}
