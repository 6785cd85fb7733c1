//! A field as an author wrote it: missing, invalid or valid.

use crate::Json;

/// A field as it was read: a draft can hold a bad one, so that its other mistakes are found too.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum FieldValue<T> {
    /// Nothing was written.
    #[default]
    Missing,
    /// Something was written that is not a `T`; kept to be shown and written back.
    Invalid(Json),
    /// A good value.
    Valid(T),
}

impl<T> FieldValue<T> {
    /// The good value, if there is one.
    pub fn ok(&self) -> Option<&T> {
        match self {
            FieldValue::Valid(value) => Some(value),
            _ => None,
        }
    }

    /// The good value by move, if there is one.
    pub fn into_ok(self) -> Option<T> {
        match self {
            FieldValue::Valid(value) => Some(value),
            _ => None,
        }
    }

    /// Whether something was written that is not a `T`.
    pub fn is_invalid(&self) -> bool {
        matches!(self, FieldValue::Invalid(_))
    }

    /// The good value by another type.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> FieldValue<U> {
        match self {
            FieldValue::Missing => FieldValue::Missing,
            FieldValue::Invalid(json) => FieldValue::Invalid(json),
            FieldValue::Valid(value) => FieldValue::Valid(f(value)),
        }
    }
}
