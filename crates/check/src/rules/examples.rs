//! What the rules about examples have in common: where an example stands and what it expects.

use toolwright_model::Example;
use toolwright_source::{RecordPath, ValueKind};

use crate::Subject;

/// Examples of tools with the places of tool and example; pointers are made only to report.
pub(super) fn all<'a>(subject: &Subject<'a>) -> impl Iterator<Item = (usize, usize, &'a Example)> {
    subject.toolset.tools.iter().enumerate().flat_map(|(tool, draft)| {
        draft.details.examples.iter().enumerate().map(move |(n, example)| (tool, n, example))
    })
}

/// The place of an example in the record.
pub(super) fn place(tool: usize, n: usize) -> RecordPath {
    RecordPath::path(&[&"tools", &tool, &"examples", &n])
}

/// Whether examples are by scenario: always in AIOS 2.0, and in 1.0 where the literal scenarios say
/// so. Other examples of 1.0 are free.
pub(super) fn are_by_scenario(subject: &Subject<'_>) -> bool {
    let literal = |example: &Example| {
        matches!(example.scenario.as_deref(), Some("success" | "failure_invalid_param"))
    };
    subject.has_scenarios()
        && (subject.dialect == Some("2.0") || all(subject).any(|(_, _, example)| literal(example)))
}

/// Whether something stands under `error`, be it no error at all: that was reported by its shape.
pub(super) fn has_error(subject: &Subject<'_>, at: &RecordPath, example: &Example) -> bool {
    let written = || {
        subject
            .document_value(&at.child("error"))
            .is_some_and(|node| node.kind() != ValueKind::Null)
    };
    example.error.is_some() || written()
}

/// Whether the example is of a call that succeeds, by its scenario.
pub(super) fn is_success(example: &Example) -> bool {
    example
        .scenario
        .as_deref()
        .is_some_and(|word| word == "success" || word.starts_with("success_"))
}

/// Whether the example is of a call that fails, by its scenario.
pub(super) fn is_failure(example: &Example) -> bool {
    example.scenario.as_deref().is_some_and(|word| word.starts_with("failure_"))
}

/// Whether the call passes all checks and fails behind them, so that its input is a good one.
pub(super) fn is_api_error(example: &Example) -> bool {
    example.scenario.as_deref() == Some("failure_api_error")
}
