//! One text for all ways of writing the same value, to be hashed.
//!
//! Indentation, the order of keys, comments, quotes and the choice between JSON and YAML make no
//! difference; the value does. Numbers keep the text their author wrote, because `1.10` and `1.1`
//! are one number and two versions. The form must never change: hashes that were made with an older
//! program have to match.

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
        write(self, is_left_out, &mut text);
        text
    }
}

/// Recursion ends at the depth that documents may have.
fn write(node: Node<'_>, is_left_out: &dyn Fn(Node<'_>) -> bool, out: &mut String) {
    match node.kind() {
        ValueKind::Null => out.push_str("null"),
        ValueKind::Bool => {
            out.push_str(if node.boolean() == Some(true) { "true" } else { "false" });
        }
        ValueKind::Number => out.push_str(node.raw()),
        ValueKind::String => write_string(node.raw(), out),
        ValueKind::List => {
            out.push('[');
            for (n, item) in node.items().filter(|item| !is_left_out(*item)).enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write(item, is_left_out, out);
            }
            out.push(']');
        }
        ValueKind::Map => {
            let mut members = node.members();
            members.retain(|member| !is_left_out(member.value));
            // Stable, so that of two members with one key the last one stays last.
            members.sort_by(|a, b| a.name().cmp(b.name()));
            out.push('{');
            for (n, member) in members.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_string(member.name(), out);
                out.push(':');
                write(member.value, is_left_out, out);
            }
            out.push('}');
        }
    }
}

/// Most strings need no escape and are copied; serde_json escapes the others.
fn write_string(text: &str, out: &mut String) {
    if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.push_str(&serde_json::Value::from(text).to_string());
    } else {
        out.push('"');
        out.push_str(text);
        out.push('"');
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
