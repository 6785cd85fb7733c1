//! Tells the shapes of a payload apart and gets the data out of it, by the little language of detection
//! strings: `PATH [field|array|object] [exists] [in root]`, `PATH == VALUE`, `PATH in [..]`. A string that
//! names a helper is asked elsewhere; other prose is documentation and never fits.

use toolwright_model::PayloadSchema;

use crate::Json;

/// What a detection string asks.
#[derive(Debug, PartialEq)]
pub(super) enum Test<'a> {
    /// Something is there; null is something.
    Exists(&'a str),
    /// A list is there.
    IsArray(&'a str),
    /// An object is there.
    IsObject(&'a str),
    /// One of these values is there.
    OneOf(&'a str, Vec<Json>),
    /// A helper knows.
    Helper(&'a str),
    /// It is for people.
    Prose,
}

impl<'a> Test<'a> {
    pub(super) fn parse(text: &'a str) -> Test<'a> {
        let text = text.trim();
        if let Some(helper) = text.strip_prefix("helpers.").filter(|id| is_word(id)) {
            return Test::Helper(helper);
        }
        if let Some((path, value)) = text.split_once("==")
            && is_path(path.trim())
        {
            return Test::OneOf(path.trim(), vec![literal(value)]);
        }
        if let Some((path, values)) = text.split_once(" in ")
            && let Some(list) = values.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
            && is_path(path.trim())
        {
            return Test::OneOf(path.trim(), list.split(',').map(literal).collect());
        }
        let mut words = text.split_whitespace();
        let Some(path) = words.next().filter(|path| is_path(path)) else { return Test::Prose };
        let rest: Vec<&str> = words.collect();
        let rest = rest.strip_suffix(&["in", "root"]).unwrap_or(&rest);
        match rest {
            [] | ["exists" | "field"] | ["field", "exists"] => Test::Exists(path),
            ["array"] | ["array", "exists"] => Test::IsArray(path),
            ["object"] | ["object", "exists"] => Test::IsObject(path),
            _ => Test::Prose,
        }
    }

    /// Whether a payload is of this shape; a helper's word is not known here.
    fn fits(&self, payload: &Json) -> bool {
        match self {
            Test::Exists(path) => at(payload, path).is_some(),
            Test::IsArray(path) => at(payload, path).is_some_and(Json::is_array),
            Test::IsObject(path) => at(payload, path).is_some_and(Json::is_object),
            Test::OneOf(path, values) => at(payload, path).is_some_and(|value| values.contains(value)),
            Test::Helper(_) | Test::Prose => false,
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@'))
}

fn is_path(text: &str) -> bool {
    text.split('.').all(is_word)
}

/// A value as people write it: JSON, or a bare word, or one in single quotes.
fn literal(text: &str) -> Json {
    let text = text.trim();
    let bare = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text);
    serde_json::from_str(text).unwrap_or_else(|_| Json::String(bare.to_owned()))
}

/// The value at a path of names and numbers, from the root.
fn at<'v>(value: &'v Json, path: &str) -> Option<&'v Json> {
    path.split('.').try_fold(value, |value, step| match value {
        Json::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

/// Why no data was found.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// No shape fits.
    #[error("the answer has none of the shapes that are known: {0}")]
    UnknownShape(String),
    /// A shape fits, and its data is missing.
    #[error("the answer is a `{shape}`, but there is nothing at `{path}`")]
    NothingThere {
        /// The shape.
        shape: String,
        /// Where its data should be.
        path: String,
    },
}

/// The data of a payload, by the first shape that fits. `helper` is asked where a shape says so, by the
/// helper's name.
///
/// # Errors
/// If no shape fits, or its data is missing.
pub fn find_payload<'v>(
    schemas: &[PayloadSchema],
    payload: &'v Json,
    helper: impl Fn(&str) -> bool,
) -> Result<&'v Json, PayloadError> {
    let name = |schema: &PayloadSchema| schema.kind.clone().unwrap_or_default();
    let fits = |schema: &&PayloadSchema| match Test::parse(schema.detection.as_deref().unwrap_or_default()) {
        Test::Helper(id) => helper(id),
        test => test.fits(payload),
    };
    let Some(schema) = schemas.iter().find(fits) else {
        let known = schemas.iter().map(|schema| format!("`{}`", name(schema))).collect::<Vec<_>>();
        return Err(PayloadError::UnknownShape(known.join(", ")));
    };
    let path = schema.payload_path.as_deref().unwrap_or_default().trim();
    if path.is_empty() {
        return Ok(payload);
    }
    at(payload, path).ok_or_else(|| PayloadError::NothingThere { shape: name(schema), path: path.to_owned() })
}

/// The helpers that detection strings name.
pub(super) fn helpers(schemas: &[PayloadSchema]) -> impl Iterator<Item = &str> {
    schemas.iter().filter_map(|schema| match Test::parse(schema.detection.as_deref()?) {
        Test::Helper(id) => Some(id),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn detection_strings() {
        for (text, test) in [
            ("event field exists in root", Test::Exists("event")),
            ("event field exists", Test::Exists("event")),
            ("webhook_id field", Test::Exists("webhook_id")),
            ("event", Test::Exists("event")),
            ("event exists", Test::Exists("event")),
            ("a.b exists in root", Test::Exists("a.b")),
            ("history_items array exists", Test::IsArray("history_items")),
            ("data object", Test::IsObject("data")),
            ("kind == \"x\"", Test::OneOf("kind", vec![json!("x")])),
            ("kind == 'x y'", Test::OneOf("kind", vec![json!("x y")])),
            ("kind == x", Test::OneOf("kind", vec![json!("x")])),
            ("version == 2", Test::OneOf("version", vec![json!(2)])),
            ("a.kind in [x, 'y', 3]", Test::OneOf("a.kind", vec![json!("x"), json!("y"), json!(3)])),
            ("helpers.is-webhook", Test::Helper("is-webhook")),
            ("when the moon is full", Test::Prose),
            ("event field exists somewhere", Test::Prose),
            ("the body == something", Test::Prose),
            ("", Test::Prose),
        ] {
            assert_eq!(Test::parse(text), test, "{text}");
        }
    }

    fn schema(kind: &str, detection: &str, path: &str) -> PayloadSchema {
        PayloadSchema {
            kind: Some(kind.into()),
            detection: Some(detection.into()),
            payload_path: Some(path.into()),
            ..PayloadSchema::default()
        }
    }

    #[test]
    fn the_first_shape_that_fits_gives_the_data() {
        let schemas = [
            schema("standard", "event field exists in root", "payload"),
            schema("webhook", "webhook_id field", "data.webhook.payload"),
            schema("history", "history_items array exists", "history_items.0"),
            schema("asked", "helpers.knows", ""),
        ];
        let never = |_: &str| false;
        for (payload, data) in [
            (json!({"event": null, "payload": 1, "webhook_id": 2}), Ok(json!(1))),
            (json!({"webhook_id": 2, "data": {"webhook": {"payload": {"a": 1}}}}), Ok(json!({"a": 1}))),
            (json!({"history_items": [7]}), Ok(json!(7))),
            (json!({"history_items": {}}), Err("none of the shapes")),
            (json!({"event": 1}), Err("nothing at `payload`")),
            (json!(null), Err("`standard`, `webhook`, `history`, `asked`")),
        ] {
            match (find_payload(&schemas, &payload, never), data) {
                (Ok(found), Ok(data)) => assert_eq!(*found, data, "{payload}"),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{payload}: {error}"),
                (found, data) => panic!("{payload}: {found:?}, expected {data:?}"),
            }
        }
        assert_eq!(find_payload(&schemas, &json!([1]), |id| id == "knows"), Ok(&json!([1])));
    }
}
