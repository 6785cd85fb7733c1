//! One line per diagnostic, in the form of gcc and clang, which editors and log viewers recognise
//! and turn into links. Help and fixes are left out: they need more than a line.

use super::{place, visible};
use crate::Diagnostic;

/// `file:line:column: error[CODE]: message`. For an answer, the file and the line are those that
/// name the server, and the place inside its answer is in front of the message:
/// `.mcp.json:3:5: error[CODE]: server › tool › path: message`.
pub fn concise(d: &Diagnostic) -> String {
    let (severity, code) = (d.severity.label(), d.code.name);
    let is_answer = d.source.is_answer();
    let (source, span) = d.file().unwrap_or((&d.source, d.span.filter(|_| !is_answer)));
    let start = span.map(|span| source.line_column(span.start as usize));
    let start = start.map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
    let place = if is_answer { place(d) + ": " } else { String::new() };
    let file = visible(source.name());
    format!("{file}{start}: {severity}[{code}]: {place}{}", visible(&d.message))
}
