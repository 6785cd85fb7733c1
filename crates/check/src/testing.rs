//! Helpers for the tests of rules: run the checks on a text and return the findings in a short
//! form.
//!
//! Tests are tables of texts and expected findings, and only these functions touch the API. They
//! detect the syntax by the first character and the format by the content, as the command line
//! does.
//!
//! ```text
//! found              all findings of a code in a document, with their places
//! messages           the same, as messages
//! found_in_function  the same, for code inside of a function
//! found_between      findings of rules between documents
//! findings           everything, for tests of help and repairs
//! count              one rule alone
//! ```

use std::sync::Arc;

use toolwright_formats::{DetectionResult, Reading};
use toolwright_schema::VendorTarget;
use toolwright_script::InProcessAnalyzer;
use toolwright_source::{Document, Finding, Syntax, locate};

use crate::rule::Rule;
use crate::subject::analyze_functions;
use crate::{Subject, check, check_together};

/// Reads a text as a file of this name. Panics if no format is detected, because the test is wrong
/// then.
fn read(name: &str, text: &str) -> Reading {
    let json = text.trim_start().starts_with(['{', '[']);
    let syntax = if json { Syntax::Json } else { Syntax::Yaml };
    let document = Arc::new(Document::parse(name, text, syntax));
    let DetectionResult::Format(format) = toolwright_formats::detect(&document) else {
        panic!("no format: {text}");
    };
    toolwright_formats::read(&document, format)
}

/// As the workspace makes one, without targets.
fn subject(reading: &Reading) -> Subject<'_> {
    let dialect = reading.dialect.as_deref();
    Subject::new(dialect, &reading.toolset, &reading.origin)
}

/// Reads a text and runs `check` on it.
fn with_subject<T>(text: &str, check: impl FnOnce(&Arc<Document>, &Subject<'_>) -> T) -> T {
    let reading = read("test", text);
    check(reading.origin.document(), &subject(&reading))
}

/// The findings of one code between documents named `a`, `b` and so on, in short: the index of the
/// document, the pointer, the message.
pub(crate) fn found_between(code: &str, texts: &[&str]) -> Vec<String> {
    let readings: Vec<Reading> =
        ('a'..).zip(texts).map(|(name, text)| read(&name.to_string(), text)).collect();
    let subjects: Vec<Subject<'_>> = readings.iter().map(subject).collect();
    let found = check_together(&subjects).into_iter().filter(|(_, f)| f.code.name == code);
    found.map(|(n, finding)| format!("{n} {} {}", finding.at, finding.message)).collect()
}

/// The document, and the findings of all rules about it. Panics on syntax errors, which a test
/// would otherwise not notice: rules are silent about much of a broken document.
fn check_text(text: &str) -> (Arc<Document>, Vec<Finding>) {
    with_subject(text, |document, subject| {
        assert!(document.problems().is_empty(), "{:?}", document.problems());
        (document.clone(), check(subject, &InProcessAnalyzer))
    })
}

/// The findings of all rules about a text.
pub(crate) fn findings(text: &str) -> Vec<Finding> {
    check_text(text).1
}

/// The findings of all rules about a text that is going to be sent to these targets, by their ids
/// with commas.
pub(crate) fn findings_for(targets: &str, text: &str) -> Vec<Finding> {
    let reading = read("test", text);
    let targets = targets.split(',').filter_map(VendorTarget::by_id).collect();
    check(&subject(&reading).for_targets(targets), &InProcessAnalyzer)
}

/// The number of findings of a single rule. For texts with syntax errors, and for texts in which
/// the findings of other rules would reach the limit first.
pub(crate) fn count(rule: &Rule, text: &str) -> usize {
    with_subject(text, |_, subject| {
        analyze_functions(std::slice::from_ref(subject), &InProcessAnalyzer);
        let mut report = subject.report(crate::RuleScope::All);
        (rule.check)(subject, &mut report);
        report.into_findings().len()
    })
}

/// The findings with this code in short: `CODE at /pointer`, or `CODE at /pointer:line:column` if
/// the finding marks a range inside a text.
pub(crate) fn found(code: &str, text: &str) -> Vec<String> {
    let (document, found) = check_text(text);
    let found = found.into_iter().filter(|f| f.code.name == code);
    found.map(|finding| short_form(finding, &document)).collect()
}

/// One finding as [`found`] returns it. Lines and columns are those of the document.
fn short_form(finding: Finding, document: &Arc<Document>) -> String {
    let (code, at, inside) = (finding.code.name, finding.at.clone(), finding.within.is_some());
    let position = locate(finding, document).line_column().filter(|_| inside);
    match position {
        Some((line, column)) => format!("{code} at {at}:{line}:{column}"),
        None => format!("{code} at {at}"),
    }
}

/// The messages of the findings with this code.
pub(crate) fn messages(code: &str, text: &str) -> Vec<String> {
    findings(text).into_iter().filter(|f| f.code.name == code).map(|f| f.message).collect()
}

/// The findings with this code about a function of an AIOS tool, in short. `list` is `helpers`,
/// `processors` or `validators`; the id of the function is `f`. Lines and columns count within the
/// code, so that tests need not know how the code is embedded in the document.
pub(crate) fn found_in_function(code: &str, list: &str, function: &str) -> Vec<String> {
    let function = serde_json::Value::from(function);
    let text = format!(
        r#"{{"tool": {{"id": "t", "executable_knowledge": {{"{list}": [{{"id": "f", "validates": "c", "function": {function}}}]}}}}}}"#
    );
    let source = function.as_str().unwrap_or("");
    let position = |at: usize| {
        let before = &source[..at];
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        format!("{}:{}", before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    };
    let found = findings(&text).into_iter().filter(|f| f.code.name == code);
    found
        .map(|f| match f.within {
            Some(bytes) => format!("{code} in the code at {}", position(bytes.start)),
            None => format!("{code} at {}", f.at),
        })
        .collect()
}
