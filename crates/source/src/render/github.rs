//! One workflow command per diagnostic: GitHub Actions turns such a line of a log into an
//! annotation. A finding about the answer of a server is annotated at the line that names the
//! server; without such a line the annotation has no place, and GitHub shows it with the run.
//!
//! GitHub's documentation says neither what a column counts nor whether `endColumn` is inclusive.
//! This form counts UTF-16 code units, as the browser that shows the annotation does, and ends
//! behind the last one, as SARIF does. Without the escapes below, a message with a line break or a
//! comma would end the command early, and a hostile document could add commands of its own.

use super::sarif::{Utf16Region, message_with_help};
use super::visible;
use crate::{Diagnostic, Severity};

/// `::error file=F,line=1,endLine=1,col=2,endColumn=3,title=CODE::message`
pub fn github(d: &Diagnostic) -> String {
    let command = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let file = d.file().map_or(String::new(), |(source, span)| {
        let lines = span.map_or(String::new(), |span| lines(&Utf16Region::of(source, span)));
        // GitHub compares it with the paths of the repository, which have no `./` in front.
        let name = source.name();
        let name = name.strip_prefix("./").unwrap_or(name);
        format!("file={}{lines},", property(&visible(name)))
    });
    format!("::{command} {file}title={}::{}", property(d.code.name), data(&message_with_help(d)))
}

/// The lines, and the columns if it is one line: the runner drops the place of an annotation that
/// has columns in two lines.
fn lines(region: &Utf16Region) -> String {
    let ((line, column), (end_line, end_column)) = (region.start, region.end);
    // A span that ends with a line break ends, for people, on the line that it breaks.
    let last = if end_column == 1 && end_line > line { end_line - 1 } else { end_line };
    let columns = if end_line == line {
        format!(",col={column},endColumn={end_column}")
    } else {
        String::new()
    };
    format!(",line={line},endLine={last}{columns}")
}

/// Escapes a message, as `escapeData` of `@actions/core` does.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, as `escapeProperty` of `@actions/core` does.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
