//! Tells the shapes of a payload apart and gets the data out of it. What a detection string means
//! is in `model`; prose, which many authors write instead, never fits.

use toolwright_model::{Detection, PayloadSchema, PayloadShape};

use crate::Json;

/// What a payload schema asks, if it is not for people alone.
pub(super) fn test_of(schema: &PayloadSchema) -> Option<Detection> {
    Detection::parse(schema.detection.as_deref()?)
}

/// Whether a payload is of this shape; a helper's word is not known here.
pub(super) fn fits(test: &Detection, payload: &Json) -> bool {
    match test {
        Detection::Exists { path, shape: None } => at(payload, path).is_some(),
        Detection::Exists { path, shape: Some(PayloadShape::Array) } => {
            at(payload, path).is_some_and(Json::is_array)
        }
        Detection::Exists { path, shape: Some(PayloadShape::Object) } => {
            at(payload, path).is_some_and(Json::is_object)
        }
        Detection::Equals { path, value } => {
            at(payload, path).is_some_and(|there| same(there, value))
        }
        Detection::OneOf { path, values } => {
            at(payload, path).is_some_and(|there| values.iter().any(|value| same(there, value)))
        }
        Detection::Helper { .. } => false,
    }
}

/// `2` and `2.0` are one number.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

/// The value at a path of names and numbers, from the root.
fn at<'v, S: AsRef<str>>(value: &'v Json, path: &[S]) -> Option<&'v Json> {
    path.iter().try_fold(value, |value, step| match value {
        Json::Array(items) => items.get(step.as_ref().parse::<usize>().ok()?),
        value => value.get(step.as_ref()),
    })
}

/// Why no data was found.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PayloadError {
    /// No shape fits.
    #[error("the answer has none of the shapes that are known: {0}")]
    UnknownShape(String),
    /// A shape fits, and its data is missing.
    #[error("the answer is a `{shape}`, but there is nothing at `{path}`")]
    NothingThere { shape: String, path: String },
}

fn name(schema: &PayloadSchema) -> String {
    schema.kind.clone().unwrap_or_default()
}

/// Says that none of the shapes fits.
pub(super) fn unknown(schemas: &[PayloadSchema]) -> PayloadError {
    let known: Vec<String> = schemas.iter().map(|schema| format!("`{}`", name(schema))).collect();
    PayloadError::UnknownShape(known.join(", "))
}

/// The data of a payload whose shape is known.
pub(super) fn data<'v>(
    schema: &PayloadSchema,
    payload: &'v Json,
) -> Result<&'v Json, PayloadError> {
    let path = schema.payload_path.as_deref().unwrap_or_default().trim();
    if path.is_empty() {
        return Ok(payload);
    }
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
    fn shapes_fit_or_do_not() {
        for (detection, payload, expected) in [
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
            let test = test_of(&schema("", detection, ""));
            assert_eq!(
                test.is_some_and(|test| fits(&test, &payload)),
                expected,
                "{detection} on {payload}"
            );
        }
    }

    #[test]
    fn data_is_where_the_schema_says() {
        let payload = json!({"data": {"list": [{"a": 1}]}});
        assert_eq!(data(&schema("s", "", "data.list.0"), &payload), Ok(&json!({"a": 1})));
        assert_eq!(data(&schema("s", "", ""), &payload), Ok(&payload));
        let missing = data(&schema("s", "", "data.card"), &payload).unwrap_err();
        assert_eq!(missing.to_string(), "the answer is a `s`, but there is nothing at `data.card`");
        let shapes = [schema("a", "", ""), schema("b", "", "")];
        assert_eq!(
            unknown(&shapes).to_string(),
            "the answer has none of the shapes that are known: `a`, `b`"
        );
    }
}
