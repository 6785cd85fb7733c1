//! One line per diagnostic, in the form of gcc and clang, which editors and log viewers recognise
//! and turn into links. Help and fixes are left out: they need more than a line.

use super::visible;
use crate::Diagnostic;

/// `file:line:column: error[CODE]: message`
pub fn concise(d: &Diagnostic) -> String {
    let place = d.line_column().map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
    let (file, severity, code) = (visible(d.source.name()), d.severity.name(), d.code.name);
    format!("{file}{place}: {severity}[{code}]: {}", visible(&d.message))
}
