//! For the tests of rules: what is found in a text.

use std::sync::Arc;

use toolwright_source::{Document, Finding, Syntax, locate};

use crate::report::Report;
use crate::rule::Rule;
use crate::{Subject, check};

/// A finding as tests write it: `CODE at /pointer`, `CODE at /pointer:line:column` where a part of
/// a text is meant.
fn short(finding: Finding, document: &Arc<Document>) -> String {
    let (code, at, inside) = (finding.code.name, finding.at.clone(), finding.within.is_some());
    let place = locate(finding, document).line_column().filter(|_| inside);
    match place {
        Some((line, column)) => format!("{code} at {at}:{line}:{column}"),
        None => format!("{code} at {at}"),
    }
}

/// Everything the rules find in a document; its syntax is told by its first character, its format
/// detected.
pub(crate) fn findings(text: &str) -> Vec<Finding> {
    let (_, found) = read(text);
    found
}

/// How much one rule finds where others would reach the bound first.
pub(crate) fn count(rule: &Rule, text: &str) -> usize {
    let json = text.trim_start().starts_with(['{', '[']);
    let syntax = if json { Syntax::Json } else { Syntax::Yaml };
    let document = Arc::new(Document::parse("test", text, syntax));
    let toolwright_formats::Detected::Format(format) = toolwright_formats::detect(&document) else {
        panic!("no format: {text}");
    };
    let reading = toolwright_formats::read(&document, format);
    let subject = Subject::new(
        reading.format,
        reading.dialect.as_deref(),
        &reading.toolset,
        &reading.origin,
        &toolwright_script::InProcessAnalyzer,
    );
    let mut report = Report::new(&reading.origin);
    (rule.check)(&subject, &mut report);
    report.into_findings().len()
}

fn read(text: &str) -> (Arc<Document>, Vec<Finding>) {
    let json = text.trim_start().starts_with(['{', '[']);
    let syntax = if json { Syntax::Json } else { Syntax::Yaml };
    let document = Arc::new(Document::parse("test", text, syntax));
    assert!(document.problems().is_empty(), "{:?}", document.problems());
    let toolwright_formats::Detected::Format(format) = toolwright_formats::detect(&document) else {
        panic!("no format: {text}");
    };
    let reading = toolwright_formats::read(&document, format);
    let found = check(&Subject::new(
        reading.format,
        reading.dialect.as_deref(),
        &reading.toolset,
        &reading.origin,
        &toolwright_script::InProcessAnalyzer,
    ));
    (document, found)
}

/// What the rule with this code finds, in short.
pub(crate) fn found(code: &str, text: &str) -> Vec<String> {
    let (document, found) = read(text);
    found.into_iter().filter(|f| f.code.name == code).map(|f| short(f, &document)).collect()
}

/// The same for what a rule says, to be read by people.
pub(crate) fn messages(code: &str, text: &str) -> Vec<String> {
    findings(text).into_iter().filter(|f| f.code.name == code).map(|f| f.message).collect()
}

/// What the rule with this code finds in a function of an AIOS tool, by lines and columns of the
/// code.
pub(crate) fn code_of(code: &str, list: &str, function: &str) -> Vec<String> {
    let function = serde_json::Value::from(function);
    let text = format!(
        r#"{{"tool": {{"id": "t", "executable_knowledge": {{"{list}": [{{"id": "f", "validates": "c", "function": {function}}}]}}}}}}"#
    );
    let place = |text: &str, at: usize| {
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        format!("{}:{}", before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    };
    let found = findings(&text).into_iter().filter(|f| f.code.name == code);
    found
        .map(|f| match f.within {
            Some(bytes) => {
                format!(
                    "{code} in the code at {}",
                    place(function.as_str().unwrap_or(""), bytes.start)
                )
            }
            None => format!("{code} at {}", f.at),
        })
        .collect()
}
