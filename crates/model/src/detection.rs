//! The language of detection texts, by which an aios definition distinguishes the shapes of a
//! payload:
//!
//! ```text
//! event field exists in root         something is there
//! body.items array                   a list is there
//! type == task                       a value is there
//! type in [task, "list"]             one of several values is there
//! helpers.is-task                    a helper function decides
//! ```
//!
//! The language is inferred from the specification's examples, which have no grammar. Many authors
//! write prose instead; prose is documentation and parses to `None`. The check UNKNOWN_DETECTION
//! reports it, because it never matches. `exec::knowledge` evaluates detections.

use crate::Json;

/// A detection text that a program can evaluate. Paths start at the root of the payload.
#[derive(Clone, Debug, PartialEq)]
pub enum Detection {
    /// `PATH [field|array|object] [exists] [in root]`: a value is there. Null counts as a value.
    Exists {
        /// The names that lead from the root of the payload to the value, joined by dots. Kept as
        /// text: a hostile path has thousands of names, and each `String` takes fifty bytes.
        path: String,
        /// The kind of container it must be, if the text names one.
        shape: Option<PayloadShape>,
    },
    /// `PATH == VALUE`.
    Equals {
        /// The names that lead from the root of the payload to the value, joined by dots.
        path: String,
        /// The value that must be there.
        value: Json,
    },
    /// `PATH in [VALUE, …]`.
    OneOf {
        /// The names that lead from the root of the payload to the value, joined by dots.
        path: String,
        /// The accepted values; one of them must be there.
        values: Vec<Json>,
    },
    /// `helpers.ID`: a helper decides.
    Helper {
        /// The helper's id.
        id: String,
    },
}

/// The kind of container that a detection requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadShape {
    /// A list.
    Array,
    /// An object.
    Object,
}

impl Detection {
    /// Parses a detection text. Returns `None` for prose.
    ///
    /// The forms are tried from the most to the least specific: `x == y` is never an `exists`.
    pub fn parse(text: &str) -> Option<Detection> {
        let text = text.trim();
        helper(text).or_else(|| equals(text)).or_else(|| one_of(text)).or_else(|| exists(text))
    }
}

/// `helpers.ID`. Ids may contain dots.
fn helper(text: &str) -> Option<Detection> {
    let id = text.strip_prefix("helpers.")?;
    let ok = !id.is_empty() && id.chars().all(|c| c == '.' || is_name_char(c));
    ok.then(|| Detection::Helper { id: id.to_owned() })
}

/// `PATH == VALUE`. Only the first `==` separates, so that a quoted value may contain another.
fn equals(text: &str) -> Option<Detection> {
    let (path, value) = text.split_once("==")?;
    Some(Detection::Equals { path: read_path(path)?, value: read_value(value)? })
}

/// `PATH in [VALUE, …]`.
fn one_of(text: &str) -> Option<Detection> {
    let (path, list) = text.split_once(char::is_whitespace)?;
    let list = list.trim_start().strip_prefix("in")?.trim();
    Some(Detection::OneOf { path: read_path(path)?, values: read_list(list)? })
}

/// `PATH [field|array|object] [exists] [in root]`, read from the end: all words but the path are
/// optional, and each may also be a name.
fn exists(text: &str) -> Option<Detection> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    if let Some(before) = words.strip_suffix(&["in", "root"]) {
        words = before.to_vec();
    }
    if words.last() == Some(&"exists") {
        words.pop();
    }
    let (path, shape) = match words[..] {
        [path] | [path, "field"] => (path, None),
        [path, "array"] => (path, Some(PayloadShape::Array)),
        [path, "object"] => (path, Some(PayloadShape::Object)),
        _ => return None,
    };
    Some(Detection::Exists { path: read_path(path)?, shape })
}

/// Names joined by dots. A number is a name, too, and selects an item of a list.
fn read_path(text: &str) -> Option<String> {
    let text = text.trim();
    let is_name = |part: &str| !part.is_empty() && part.chars().all(is_name_char);
    text.split('.').all(is_name).then(|| text.to_owned())
}

/// Letters of any script: field names of payloads are not ours to restrict.
fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@')
}

/// JSON, a text in single quotes, or a bare word, which is a text.
fn read_value(text: &str) -> Option<Json> {
    let text = text.trim();
    if let Ok(json) = serde_json::from_str(text) {
        return Some(json);
    }
    let quoted = text
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
        .filter(|t| !t.contains('\''));
    let is_word = |c: char| is_name_char(c) || matches!(c, '.' | ':' | '/');
    let bare = Some(text).filter(|text| !text.is_empty() && text.chars().all(is_word));
    quoted.or(bare).map(Json::from)
}

/// A JSON list, or values between brackets that are separated by commas outside quotes.
fn read_list(text: &str) -> Option<Vec<Json>> {
    if let Ok(list) = serde_json::from_str(text) {
        return Some(list);
    }
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let mut quote = None;
    let parts = inner.split(|c: char| match (quote, c) {
        (None, '\'' | '"') => {
            quote = Some(c);
            false
        }
        (Some(open), c) if open == c => {
            quote = None;
            false
        }
        (quote, c) => quote.is_none() && c == ',',
    });
    parts.map(read_value).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn existence_with_and_without_a_shape() {
        let (array, object) = (Some(PayloadShape::Array), Some(PayloadShape::Object));
        for (text, names, shape) in [
            ("event", "event", None),
            ("event exists", "event", None),
            ("webhook_id field", "webhook_id", None),
            ("event field exists in root", "event", None),
            ("  event   in root ", "event", None),
            ("history_items array exists", "history_items", array),
            ("body.data object", "body.data", object),
            ("body.0.$id object exists in root", "body.0.$id", object),
            ("naïve field", "naïve", None),
            // Words of the language are names where a path is expected.
            ("array array", "array", array),
            ("exists exists", "exists", None),
            ("helpers.x exists", "helpers.x", None),
        ] {
            let expected = Detection::Exists { path: names.to_owned(), shape };
            assert_eq!(Detection::parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn equality_lists_and_helpers() {
        for (text, names, value) in [
            ("type == task", "type", json!("task")),
            ("a.b==\"x == y\"", "a.b", json!("x == y")),
            ("a == 'it is'", "a", json!("it is")),
            ("a == 1.5", "a", json!(1.5)),
            ("a == null", "a", json!(null)),
            ("a == {\"b\": [1]}", "a", json!({"b": [1]})),
        ] {
            let expected = Detection::Equals { path: names.to_owned(), value };
            assert_eq!(Detection::parse(text), Some(expected), "{text}");
        }
        for (text, names, values) in [
            ("a in []", "a", json!([])),
            ("a in [\"x\", 2, null]", "a", json!(["x", 2, null])),
            ("a.b in [task, 'x, y', \"z\"]", "a.b", json!(["task", "x, y", "z"])),
            ("a in [\"x == y\"]", "a", json!(["x == y"])),
            ("a in[b]", "a", json!(["b"])),
        ] {
            let values = values.as_array().cloned().unwrap_or_default();
            let expected = Detection::OneOf { path: names.to_owned(), values };
            assert_eq!(Detection::parse(text), Some(expected), "{text}");
        }
        for (text, id) in [("helpers.is-task", "is-task"), (" helpers.a.b ", "a.b")] {
            assert_eq!(
                Detection::parse(text),
                Some(Detection::Helper { id: id.to_owned() }),
                "{text}"
            );
        }
    }

    #[test]
    fn prose_and_broken_texts_are_not_detections() {
        let long = "a.".repeat(100_000);
        for text in [
            "",
            " ",
            "exists in root",
            "has an event",
            "the event field exists",
            "event field is there",
            "event == ",
            "event === task",
            "event == two words",
            "event == 'it's'",
            "event in ",
            "event in [a b]",
            "event in [a,]",
            "event in [a",
            "event inside",
            "event.",
            ".event",
            "a..b field",
            "body[0] exists",
            "helpers.",
            "event array object exists",
            "event exists exists",
            &long,
        ] {
            assert_eq!(Detection::parse(text), None, "{text}");
        }
    }
}
