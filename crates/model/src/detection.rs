//! How a payload is told from others: the small language of detection texts. Evaluating it is
//! elsewhere, and so is prose, which many authors write instead.

use crate::Json;

/// A detection text that a program can follow. Paths start at the root of the payload.
#[derive(Clone, Debug, PartialEq)]
pub enum Detection {
    /// `PATH [field|array|object] [exists] [in root]`: something is there; null counts.
    Exists {
        /// The names that lead to it.
        path: Vec<String>,
        /// What it must be, where the text says so.
        shape: Option<PayloadShape>,
    },
    /// `PATH == VALUE`.
    Equals {
        /// The names that lead to it.
        path: Vec<String>,
        /// What stands there.
        value: Json,
    },
    /// `PATH in [VALUE, …]`.
    OneOf {
        /// The names that lead to it.
        path: Vec<String>,
        /// One of these stands there.
        values: Vec<Json>,
    },
    /// `helpers.ID`: a helper decides.
    Helper {
        /// The helper's id.
        id: String,
    },
}

/// The container that a detection asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadShape {
    /// A list.
    Array,
    /// An object.
    Object,
}

impl Detection {
    /// Reads a detection text; `None` is prose.
    pub fn parse(text: &str) -> Option<Detection> {
        let text = text.trim();
        helper(text).or_else(|| equals(text)).or_else(|| one_of(text)).or_else(|| exists(text))
    }
}

fn helper(text: &str) -> Option<Detection> {
    let id = text.strip_prefix("helpers.")?;
    let ok = !id.is_empty() && id.chars().all(|c| c == '.' || is_name_char(c));
    ok.then(|| Detection::Helper { id: id.to_owned() })
}

fn equals(text: &str) -> Option<Detection> {
    let (path, value) = text.split_once("==")?;
    Some(Detection::Equals { path: read_path(path)?, value: read_value(value)? })
}

fn one_of(text: &str) -> Option<Detection> {
    let (path, list) = text.split_once(char::is_whitespace)?;
    let list = list.trim_start().strip_prefix("in")?.trim();
    Some(Detection::OneOf { path: read_path(path)?, values: read_list(list)? })
}

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

/// Names joined by dots.
fn read_path(text: &str) -> Option<Vec<String>> {
    let name = |part: &str| !part.is_empty() && part.chars().all(is_name_char);
    let parts: Vec<&str> = text.trim().split('.').collect();
    parts.iter().all(|part| name(part)).then(|| parts.into_iter().map(str::to_owned).collect())
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@')
}

/// JSON, a text in single quotes, or a bare word.
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

/// A JSON list, or values between brackets.
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

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_there() {
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
            // Words of the language are names where a path is due.
            ("array array", "array", array),
            ("exists exists", "exists", None),
            ("helpers.x exists", "helpers.x", None),
        ] {
            let expected = Detection::Exists { path: path(names), shape };
            assert_eq!(Detection::parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_stands_there() {
        for (text, names, value) in [
            ("type == task", "type", json!("task")),
            ("a.b==\"x == y\"", "a.b", json!("x == y")),
            ("a == 'it is'", "a", json!("it is")),
            ("a == 1.5", "a", json!(1.5)),
            ("a == null", "a", json!(null)),
            ("a == {\"b\": [1]}", "a", json!({"b": [1]})),
        ] {
            let expected = Detection::Equals { path: path(names), value };
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
            let expected = Detection::OneOf { path: path(names), values };
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
    fn prose() {
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
