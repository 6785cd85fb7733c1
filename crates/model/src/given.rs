//! What an author gave for a field.

use crate::Json;

/// A field as it was read: a draft can hold a bad one, so that its other mistakes are found too.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Given<T> {
    /// Nothing was written.
    #[default]
    Missing,
    /// Something was written that is not a `T`; kept to be shown and written back.
    Bad(Json),
    /// A good value.
    Ok(T),
}

impl<T> Given<T> {
    /// The good value, if there is one.
    pub fn ok(&self) -> Option<&T> {
        match self {
            Given::Ok(value) => Some(value),
            _ => None,
        }
    }

    /// The good value by move, if there is one.
    pub fn into_ok(self) -> Option<T> {
        match self {
            Given::Ok(value) => Some(value),
            _ => None,
        }
    }

    /// Whether something was written that is not a `T`.
    pub fn is_bad(&self) -> bool {
        matches!(self, Given::Bad(_))
    }

    /// The good value by another type.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Given<U> {
        match self {
            Given::Missing => Given::Missing,
            Given::Bad(json) => Given::Bad(json),
            Given::Ok(value) => Given::Ok(f(value)),
        }
    }
}
