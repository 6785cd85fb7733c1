//! Shared by the rules about examples: their positions, and which outcome each one expects.
//!
//! Two kinds of examples exist. BTCP examples are calls: an input and, optionally, an output. AIOS
//! examples are scenarios, whose name decides the outcome: `success…` returns, `failure_…` fails,
//! `edge_case…` may do either. AIOS 1.0 did not define the fields of an example, so its examples
//! are checked only if they use the scenario names that version 2.0 introduced.

use toolwright_model::Example;
use toolwright_source::{RecordPath, ValueKind};

use crate::Subject;

/// All examples of all tools, each with the index of its tool and its index within the tool.
/// Indexes and not pointers, because pointers allocate and are needed only to report.
pub(super) fn all<'a>(subject: &Subject<'a>) -> impl Iterator<Item = (usize, usize, &'a Example)> {
    subject.toolset.tools.iter().enumerate().flat_map(|(tool, draft)| {
        draft.details.examples.iter().enumerate().map(move |(n, example)| (tool, n, example))
    })
}

/// The pointer to an example in the record.
pub(super) fn path(tool: usize, n: usize) -> RecordPath {
    RecordPath::path(&[&"tools", &tool, &"examples", &n])
}

/// Whether the examples of the document are scenarios in the sense of AIOS 2.0: always in version
/// 2.0, and in version 1.0 if one has a scenario name by which the specification detects version
/// 2.0. Examples of version 1.0 otherwise have no defined meaning, so nothing is checked.
pub(super) fn are_by_scenario(subject: &Subject<'_>) -> bool {
    let literal = |example: &Example| {
        matches!(example.scenario.as_deref(), Some("success" | "failure_invalid_param"))
    };
    subject.has_scenarios()
        && (subject.dialect == Some("2.0") || all(subject).any(|(_, _, example)| literal(example)))
}

/// Whether the example has an `error` other than null. A malformed `error`, such as a text, is not
/// in the record, but it is in the document: the author meant a failure, and the shape of the value
/// is reported elsewhere. `at` is the pointer to the example.
pub(super) fn has_error(subject: &Subject<'_>, at: &RecordPath, example: &Example) -> bool {
    let written = || {
        subject
            .document_value(&at.child("error"))
            .is_some_and(|node| node.kind() != ValueKind::Null)
    };
    example.error.is_some() || written()
}

/// Whether the scenario names a call that succeeds: `success` or `success_…`. `successful` is not
/// one: the specification separates the parts of a scenario by `_`.
pub(super) fn is_success(example: &Example) -> bool {
    example
        .scenario
        .as_deref()
        .is_some_and(|word| word == "success" || word.starts_with("success_"))
}

/// Whether the scenario names a call that fails: `failure_…`. A bare `failure` is not defined.
pub(super) fn is_failure(example: &Example) -> bool {
    example.scenario.as_deref().is_some_and(|word| word.starts_with("failure_"))
}

/// Whether the scenario is a call that passes all checks and fails afterwards, in the API behind
/// the tool. Unlike the inputs of other failures, its input must be valid.
pub(super) fn is_api_error(example: &Example) -> bool {
    example.scenario.as_deref() == Some("failure_api_error")
}
