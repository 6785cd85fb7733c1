//! The value of a field as an author wrote it: missing, invalid or valid.
//!
//! `Result` would not do: a missing field is not an error by itself, and the text of an invalid one
//! must be kept, because findings quote it and fixes write it back.

use crate::Json;

/// A field as it was read. A draft can hold an invalid one, so that the other mistakes of the
/// definition are found, too.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum FieldValue<T> {
    /// The field is absent.
    #[default]
    Missing,
    /// The field is present but not a `T`. The value is kept to be shown and written back.
    Invalid(Json),
    /// A value that was parsed.
    Valid(T),
}

impl<T> FieldValue<T> {
    /// The parsed value, if there is one.
    pub fn ok(&self) -> Option<&T> {
        match self {
            FieldValue::Valid(value) => Some(value),
            _ => None,
        }
    }

    /// The parsed value by move, if there is one.
    pub fn into_ok(self) -> Option<T> {
        match self {
            FieldValue::Valid(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the field is present but not a `T`.
    pub fn is_invalid(&self) -> bool {
        matches!(self, FieldValue::Invalid(_))
    }

    /// Converts the parsed value; the other variants stay as they are.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> FieldValue<U> {
        match self {
            FieldValue::Missing => FieldValue::Missing,
            FieldValue::Invalid(json) => FieldValue::Invalid(json),
            FieldValue::Valid(value) => FieldValue::Valid(f(value)),
        }
    }
}
