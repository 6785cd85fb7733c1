//! Examples of calls. They are documentation, and tests.

use crate::{Json, Object};

/// One call with what should come of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// Its kind, where the format has kinds (`success`, `failure_api_error` …).
    pub scenario: Option<String>,
    /// What it shows.
    pub description: Option<String>,
    /// The arguments; `None` when the example has none, which is not the same as `null`.
    pub input: Option<Json>,
    /// The result it expects.
    pub output: Option<Json>,
    /// The failure it expects.
    pub error: Option<ExpectedError>,
    /// Fields that only its format knows.
    pub rest: Object,
}

/// A failure that an example expects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpectedError {
    /// Its code.
    pub code: Option<String>,
    /// Words that its message contains.
    pub message: Option<String>,
    /// The validator that should raise it.
    pub validator: Option<String>,
    /// Fields that only its format knows.
    pub rest: Object,
}
