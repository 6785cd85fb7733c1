//! Rules over definitions that were read: they relate two values of a record, or give advice.
//!
//! ```text
//! formats::read ─▶ record + Origin ─▶ Subject ─▶ rules/*.rs ─▶ Report ─▶ findings ─▶ silence()
//! ```
//!
//! Each rule is one file in `rules/`, with its messages, its repairs, its manual page and its
//! tests. A rule reads the [`Subject`] and reports [`Finding`]s by pointer. It does not see which
//! format the record came from, except where a specification speaks about sections that only one
//! format has.
//!
//! Deliberately not here:
//! - The shape of single values (missing, type, enum, pattern, range, length). The tables of fields
//!   in `formats` report that, so a rule stays silent about a value that is malformed.
//! - Files, network, processes. A check depends on the record alone, so that the same document
//!   gives the same findings on every machine.
//! - Lines and columns. `source::locate` computes them from pointers, for findings that are shown.
//!
//! ```
//! use std::sync::Arc;
//! use toolwright_check::{Subject, check};
//! use toolwright_source::{Document, Syntax};
//!
//! let text = r#"{
//!     "name": "now",
//!     "inputSchema": {"type": "object", "properties": {"zone": {"type": "text"}}}
//! }"#;
//! let document = Arc::new(Document::parse("now.json", text, Syntax::Json));
//! let reading = toolwright_formats::read(&document, toolwright_model::FormatId("mcp"));
//! let subject = Subject::new(
//!     reading.dialect.as_deref(),
//!     &reading.toolset,
//!     &reading.origin,
//! );
//! let found = check(&subject, &toolwright_script::InProcessAnalyzer);
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

use toolwright_script::ScriptAnalyzer;
use toolwright_source::{DiagnosticCode, Finding, RecordFinding};

pub use report::{MAX_FINDINGS, MAX_NOTES};
pub use rule::RuleScope;
pub use rules::hidden_text::HIDDEN_TEXT;
pub use rules::invalid_function_syntax::{BodyPlace, check_bodies, check_scripts};
pub use rules::invalid_schema::{
    finding as schema_finding, findings as schema_findings,
    tolerated_finding as tolerated_schema_finding, tolerated_reading as tolerated_schema_reading,
};
pub use rules::model_instruction::MODEL_INSTRUCTION;
pub use rules::not_runnable::NOT_RUNNABLE;
pub use rules::unresolved_reference::UNRESOLVED_REFERENCE;
pub use silence::{USELESS_SILENCE, silence};
pub use subject::Subject;
pub use tool_poisoning::secrets_in;

/// Runs all rules about single documents on one document. The findings point into the document, not
/// into the record, and are in the order of the rules. At most [`MAX_FINDINGS`] and [`MAX_NOTES`]
/// of each code.
pub fn check(subject: &Subject<'_>, analyzer: &dyn ScriptAnalyzer) -> Vec<Finding> {
    let found = check_each(std::slice::from_ref(subject), analyzer, RuleScope::All);
    found.into_iter().next().unwrap_or_default()
}

/// [`check()`] for several documents: the findings of each, in the order of `subjects`.
///
/// The outer loop is over the rules, not over the documents. All rules together are far more code
/// than the instruction cache of a processor holds, so running one rule on many documents is faster
/// than running all rules on one document after the other. In the same way the analyzer gets the
/// JavaScript of all documents at once, because it works in another process. The caller chooses it:
/// code from a definition is untrusted, and where to parse it is the caller's decision.
///
/// Each list is bounded as for `check()`, and a document with many findings does not take the room
/// of others.
pub fn check_each(
    subjects: &[Subject<'_>],
    analyzer: &dyn ScriptAnalyzer,
    scope: RuleScope,
) -> Vec<Vec<Finding>> {
    subject::analyze_functions(subjects, analyzer);
    let mut reports: Vec<_> = subjects.iter().map(|subject| subject.report(scope)).collect();
    let is_needed = |rule: &&&rule::Rule| scope == RuleScope::All || rule.can_report_errors();
    for rule in rules::RULES.iter().filter(is_needed) {
        for (subject, report) in subjects.iter().zip(&mut reports) {
            (rule.check)(subject, report);
        }
    }
    reports.into_iter().map(report::Report::into_findings).collect()
}

/// Runs only the rules about poisoned texts, which take a small part of the time of [`check()`]:
/// [`HIDDEN_TEXT`], [`MODEL_INSTRUCTION`] and secrets. For a caller that is about to pass the texts
/// on to a model.
pub fn check_texts(subject: &Subject<'_>) -> Vec<Finding> {
    let mut report = subject.report(RuleScope::All);
    (rules::texts::RULE.check)(subject, &mut report);
    report.into_findings()
}

/// Runs the rules that compare documents with each other, such as duplicate ids across files. Each
/// finding comes with the index in `subjects` of the document that it points into.
///
/// These findings are apart from those of [`check_each`], because a caller may load documents one
/// by one, and which of them are used together is certain only at the end.
///
/// The number of findings is not limited here, unlike that of [`check()`].
pub fn check_together(subjects: &[Subject<'_>]) -> Vec<(usize, Finding)> {
    let run_rule = |rule: &rule::RuleBetween| {
        let mut found = Vec::new();
        (rule.check)(subjects, &mut |n: usize, finding: RecordFinding| {
            found.push((n, subjects[n].in_document(finding)));
        });
        found
    };
    if subjects.len() < MIN_PARALLEL_SUBJECTS {
        return rules::RULES_BETWEEN.iter().flat_map(|rule| run_rule(rule)).collect();
    }
    std::thread::scope(|scope| {
        let start = |rule| {
            let work = move || run_rule(rule);
            std::thread::Builder::new().spawn_scoped(scope, work).map_err(|_| rule)
        };
        // All threads are started before the first is joined; results keep the order of the rules.
        let threads: Vec<_> = rules::RULES_BETWEEN.iter().copied().map(start).collect();
        let found = threads.into_iter().map(|started| match started {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // The system refused to start a thread: the rule runs in this one.
            Err(rule) => run_rule(rule),
        });
        found.flatten().collect()
    })
}

/// From this number of documents on, each rule that compares documents runs in a thread of its own.
/// For fewer documents, starting a thread takes longer than the rule.
const MIN_PARALLEL_SUBJECTS: usize = 100;

/// All codes that this crate declares. Rules also report codes of `source::codes`, which the shape
/// of values shares with them (`INVALID_SCHEMA`, `DUPLICATE_ID`, `NAMING_CONVENTION`).
pub fn codes() -> impl Iterator<Item = &'static DiagnosticCode> + Clone {
    let about_one = rules::RULES.iter().flat_map(|rule| rule.codes);
    let between = rules::RULES_BETWEEN.iter().flat_map(|rule| rule.codes);
    about_one.chain(between).chain(silence::ALL).copied()
}
