//! One line per diagnostic, as compilers and editors understand it.

use super::visible;
use crate::Diagnostic;

/// `file:line:column: error[CODE]: message`
pub fn concise(d: &Diagnostic) -> String {
    let place = d.line_column().map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
    let (file, severity, code) = (visible(d.source.name()), d.severity.name(), d.code.name);
    format!("{file}{place}: {severity}[{code}]: {}", visible(&d.message))
}
