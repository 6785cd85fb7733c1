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

use toolwright_model::{Detection, PayloadSchema, PayloadShape};

use crate::Json;

/// The detection of a payload schema; `None` if it is prose or missing.
pub(super) fn parse_detection(schema: &PayloadSchema) -> Option<Detection> {
    Detection::parse(schema.detection.as_deref()?)
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
fn at<'v, S: AsRef<str>>(value: &'v Json, path: &[S]) -> Option<&'v Json> {
    path.iter().try_fold(value, |value, step| match value {
        Json::Array(items) => items.get(step.as_ref().parse::<usize>().ok()?),
        value => value.get(step.as_ref()),
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

/// The `type` of a payload schema, for messages; empty if it has none.
fn name(schema: &PayloadSchema) -> String {
    schema.kind.clone().unwrap_or_default()
}

/// The error that names all shapes, for a payload that fits none of them.
pub(super) fn unknown_shape(schemas: &[PayloadSchema]) -> PayloadError {
    let names: Vec<String> = schemas.iter().map(|schema| format!("`{}`", name(schema))).collect();
    PayloadError::UnknownShape(names.join(", "))
}

/// The data of a payload that fits `schema`: the value at its `payload_path`, or all of it.
pub(super) fn data<'v>(
    schema: &PayloadSchema,
    payload: &'v Json,
) -> Result<&'v Json, PayloadError> {
    let path = schema.payload_path.as_deref().unwrap_or_default().trim();
    if path.is_empty() {
        return Ok(payload);
    }
    // The same notation as in detections: names and list indices, separated by dots.
    let steps: Vec<&str> = path.split('.').collect();
    at(payload, &steps)
        .ok_or_else(|| PayloadError::NothingThere { shape: name(schema), path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(kind: &str, detection: &str, path: &str) -> PayloadSchema {
        PayloadSchema {
            kind: Some(kind.into()),
            detection: Some(detection.into()),
            payload_path: Some(path.into()),
            ..PayloadSchema::default()
        }
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
            let detection = parse_detection(&schema("", text, ""));
            assert_eq!(
                detection.is_some_and(|detection| fits(&detection, &payload)),
                expected,
                "{text} on {payload}"
            );
        }
    }

    #[test]
    fn data_is_found_at_the_payload_path() {
        let payload = json!({"data": {"list": [{"a": 1}]}});
        assert_eq!(data(&schema("s", "", "data.list.0"), &payload), Ok(&json!({"a": 1})));
        assert_eq!(data(&schema("s", "", ""), &payload), Ok(&payload));
        let missing = data(&schema("s", "", "data.card"), &payload).unwrap_err();
        assert_eq!(missing.to_string(), "the answer is a `s`, but there is nothing at `data.card`");
        let shapes = [schema("a", "", ""), schema("b", "", "")];
        assert_eq!(
            unknown_shape(&shapes).to_string(),
            "the answer has none of the known shapes: `a`, `b`"
        );
    }
}
