//! Detects the shape of a payload and finds the data in it (aios seed, `payload_schemas`).
//!
//! One API may answer in several shapes: a webhook event wraps the ticket that a plain call returns
//! bare. Each payload schema names a shape, how to detect it, and where the data is in it:
//!
//! ```text
//! { type: event, detection: "event field exists", payload_path: "event.ticket" }
//! ```
//!
//! The grammar of detection strings is in `model`. Authors often write prose instead ("when the
//! event is a webhook"); prose does not parse as a detection and never fits.

use std::sync::Arc;

use toolwright_model::{Detection, PayloadSchema, PayloadShape};

use crate::Json;
use crate::capped_texts::shorten;

/// Shapes that a message names, and characters of a name or a path in it.
const MAX_NAMES: usize = 20;
const MAX_NAME: usize = 100;

/// A payload schema, read once when the definition is loaded.
pub(super) struct PayloadMatcher {
    /// The `type`, for messages; empty if there is none.
    name: String,
    /// `None` if it is prose or missing.
    pub(super) detection: Option<Detection>,
    /// Where the data is: names and list indices, joined by dots as in detections. Empty if the
    /// whole payload is the data.
    path: Arc<str>,
}

impl PayloadMatcher {
    pub(super) fn new(schema: &PayloadSchema) -> PayloadMatcher {
        PayloadMatcher {
            name: shorten(schema.kind.as_deref().unwrap_or_default(), MAX_NAME).into_owned(),
            detection: schema.detection.as_deref().and_then(Detection::parse),
            path: schema.payload_path.as_deref().unwrap_or_default().trim().into(),
        }
    }

    /// The data of a payload that fits.
    pub(super) fn data(&self, payload: &PayloadData) -> Result<PayloadData, PayloadError> {
        match at(&payload.value, &self.path) {
            Some(_) => Ok(PayloadData { path: Arc::clone(&self.path), ..payload.clone() }),
            None => {
                let path = shorten(&self.path, MAX_NAME).into_owned();
                Err(PayloadError::NothingThere { shape: self.name.clone(), path })
            }
        }
    }
}

/// A part of a result, shared and not copied.
#[derive(Clone, Debug)]
pub(super) struct PayloadData {
    value: Arc<Json>,
    /// Leads to a value; [`PayloadMatcher::data`] has checked that.
    path: Arc<str>,
}

impl PayloadData {
    /// All of a value.
    pub(super) fn whole(value: Json) -> PayloadData {
        PayloadData { value: Arc::new(value), path: "".into() }
    }

    pub(super) fn get(&self) -> &Json {
        at(&self.value, &self.path).unwrap_or(&Json::Null)
    }

    /// The value itself, which is copied if it is shared or a part of another.
    pub(super) fn into_value(self) -> Json {
        if self.path.is_empty() { Arc::unwrap_or_clone(self.value) } else { self.get().clone() }
    }
}

/// Whether a payload fits a detection. Never for `helpers.ID`: the caller runs that helper.
pub(super) fn fits(detection: &Detection, payload: &Json) -> bool {
    match detection {
        Detection::Exists { path, shape: None } => at(payload, path).is_some(),
        Detection::Exists { path, shape: Some(PayloadShape::Array) } => {
            at(payload, path).is_some_and(Json::is_array)
        }
        Detection::Exists { path, shape: Some(PayloadShape::Object) } => {
            at(payload, path).is_some_and(Json::is_object)
        }
        Detection::Equals { path, value } => {
            at(payload, path).is_some_and(|found| equals(found, value))
        }
        Detection::OneOf { path, values } => {
            at(payload, path).is_some_and(|found| values.iter().any(|value| equals(found, value)))
        }
        Detection::Helper { .. } => false,
    }
}

/// Equality of JSON values, except that `2` and `2.0` are equal: YAML authors write either.
fn equals(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

/// The value at a path of names and list indices, from the root.
fn at<'v>(value: &'v Json, path: &str) -> Option<&'v Json> {
    let mut steps = path.split('.').filter(|_| !path.is_empty());
    steps.try_fold(value, |value, step| match value {
        Json::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

/// Why no data was found.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PayloadError {
    /// No payload schema fits.
    #[error("the answer has none of the known shapes: {0}")]
    UnknownShape(String),
    /// A payload schema fits, but there is nothing at its `payload_path`.
    #[error("the answer is a `{shape}`, but there is nothing at `{path}`")]
    NothingThere { shape: String, path: String },
}

/// The error that names the shapes, for a payload that fits none of them.
pub(super) fn unknown_shape(known: &[PayloadMatcher]) -> PayloadError {
    let names = known.iter().take(MAX_NAMES).map(|matcher| format!("`{}`", matcher.name));
    let mut names = names.collect::<Vec<_>>().join(", ");
    if known.len() > MAX_NAMES {
        names.push_str(&format!(" and {} more", known.len() - MAX_NAMES));
    }
    PayloadError::UnknownShape(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matcher(kind: &str, detection: &str, path: &str) -> PayloadMatcher {
        PayloadMatcher::new(&PayloadSchema {
            kind: Some(kind.into()),
            detection: Some(detection.into()),
            payload_path: Some(path.into()),
            ..PayloadSchema::default()
        })
    }

    #[test]
    fn detections_fit_payloads_of_their_shape() {
        for (text, payload, expected) in [
            ("event field exists in root", json!({"event": null}), true),
            ("event", json!({"events": 1}), false),
            ("a.b exists", json!({"a": {"b": 1}}), true),
            ("items array exists", json!({"items": []}), true),
            ("items array", json!({"items": {}}), false),
            ("data object", json!({"data": {}}), true),
            ("list.0 exists", json!({"list": [1]}), true),
            ("kind == x", json!({"kind": "x"}), true),
            ("version == 2.0", json!({"version": 2}), true),
            ("kind in ['x, y', z]", json!({"kind": "x, y"}), true),
            ("kind in [1, 2]", json!({"kind": 3}), false),
            ("when the moon is full", json!({"when": 1}), false),
        ] {
            let detection = matcher("", text, "").detection;
            assert_eq!(
                detection.is_some_and(|detection| fits(&detection, &payload)),
                expected,
                "{text} on {payload}"
            );
        }
    }

    #[test]
    fn data_is_found_at_the_payload_path() {
        let payload = PayloadData::whole(json!({"data": {"list": [{"a": 1}]}}));
        let data = |path: &str| matcher("s", "", path).data(&payload).map(PayloadData::into_value);
        assert_eq!(data("data.list.0"), Ok(json!({"a": 1})));
        assert_eq!(data(""), Ok(json!({"data": {"list": [{"a": 1}]}})));
        let missing = data("data.card").unwrap_err();
        assert_eq!(missing.to_string(), "the answer is a `s`, but there is nothing at `data.card`");
        let shapes = [matcher("a", "", ""), matcher("b", "", "")];
        assert_eq!(
            unknown_shape(&shapes).to_string(),
            "the answer has none of the known shapes: `a`, `b`"
        );
    }
}
