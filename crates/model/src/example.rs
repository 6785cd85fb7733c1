//! Examples of calls: documentation for models and people. The checks compare them with the
//! schemas, and `toolwright test` runs them.

use crate::{Json, Object};

/// One call and its expected outcome. `output` and `error` exclude each other, but
/// a definition may have both, and a check reports it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// The scenario, in formats that have them (`success`, `failure_api_error` …).
    pub scenario: Option<String>,
    /// What the example shows.
    pub description: Option<String>,
    /// The arguments. `None` if the example has no such field, which differs from `null`.
    pub input: Option<Json>,
    /// The expected result.
    pub output: Option<Json>,
    /// The expected failure.
    pub error: Option<ExpectedError>,
    /// Fields that only this format has, as they were written.
    pub rest: Object,
}

/// A failure that an example expects. Absent fields are not compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpectedError {
    /// The code of the error.
    pub code: Option<String>,
    /// A part of the error's message.
    pub message: Option<String>,
    /// The id of the validator that should refuse the arguments.
    pub validator: Option<String>,
    /// Fields that only this format has, as they were written.
    pub rest: Object,
}
