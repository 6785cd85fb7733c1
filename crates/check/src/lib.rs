//! The rules that relate two things of a definition, and advice of our own: references, uniqueness,
//! examples against schemas, capabilities, names, code, quality, poisoning. One file each, in
//! `rules/`.
//!
//! What is not here: the shape of values (missing, type, enum, pattern, range, length) comes from
//! the tables of fields in `formats`. No IO, and no text of a file: a rule sees the record and
//! speaks in [`Finding`]s by pointer, so that it need not know which format the record came from.
//!
//! ```
//! use std::sync::Arc;
//! use toolwright_check::{Subject, check};
//! use toolwright_source::{Document, Syntax};
//!
//! let text = r#"{"name": "now", "inputSchema": {"type": "object", "properties": {"zone": {"type": "text"}}}}"#;
//! let document = Arc::new(Document::parse("now.json", text, Syntax::Json));
//! let reading = toolwright_formats::read(&document, toolwright_model::FormatId("mcp"));
//! let subject = Subject::new(reading.format, reading.dialect.as_deref(), &reading.toolset, &reading.origin, &toolwright_script::InProcessAnalyzer);
//! let found = check(&subject);
//! assert_eq!(found[0].code.name, "INVALID_SCHEMA");
//! assert_eq!(found[0].at.as_str(), "/inputSchema/properties/zone/type");
//! ```

mod report;
mod rule;
mod rules;
mod silence;
mod subject;
#[cfg(test)]
mod testing;
mod tool_poisoning;

use toolwright_source::{DiagnosticCode, Finding, RecordFinding};

pub use report::{MAX_FINDINGS, MAX_NOTES};
pub use rules::invalid_function_syntax::check_script;
pub use rules::invalid_schema::finding as schema_finding;
pub use rules::unresolved_reference::UNRESOLVED_REFERENCE;
pub use silence::{USELESS_SILENCE, silence};
pub use subject::Subject;

/// Everything that the rules find in one document, by pointers into the document.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    check_each(std::slice::from_ref(subject)).pop().unwrap_or_default()
}

/// The same for each of several documents, in their order. Rule by rule, not document by document:
/// all rules together are far more code than a processor keeps at hand.
pub fn check_each(subjects: &[Subject<'_>]) -> Vec<Vec<Finding>> {
    let mut reports: Vec<_> =
        subjects.iter().map(|subject| report::Report::new(subject.origin)).collect();
    for rule in rules::RULES {
        for (subject, report) in subjects.iter().zip(&mut reports) {
            (rule.check)(subject, report);
        }
    }
    reports.into_iter().map(report::Report::into_findings).collect()
}

/// What is wrong between documents that are used together: for each finding the place of its
/// subject in the list, and the finding by pointer into that document.
pub fn check_together(subjects: &[Subject<'_>]) -> Vec<(usize, Finding)> {
    let look = |rule: &rule::RuleBetween| {
        let mut found = Vec::new();
        (rule.check)(subjects, &mut |n: usize, finding: RecordFinding| {
            found.push((n, subjects[n].origin.in_document(finding)));
        });
        found
    };
    if subjects.len() < MANY {
        return rules::RULES_BETWEEN.iter().flat_map(|rule| look(rule)).collect();
    }
    std::thread::scope(|scope| {
        let start = |rule| {
            std::thread::Builder::new().spawn_scoped(scope, move || look(rule)).map_err(|_| rule)
        };
        let looks: Vec<_> = rules::RULES_BETWEEN.iter().copied().map(start).collect();
        let found = looks.into_iter().map(|started| match started {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // There is no thread to be had.
            Err(rule) => look(rule),
        });
        found.flatten().collect()
    })
}

/// From so many documents on, each rule between them has a thread of its own.
const MANY: usize = 100;

/// The codes that only rules and [`silence()`] report.
pub fn codes() -> impl Iterator<Item = &'static DiagnosticCode> + Clone {
    rules::CODES.iter().copied().flatten().chain(silence::ALL).copied()
}
