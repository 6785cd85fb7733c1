//! Sentences on stderr: events of the catalog, and diagnostics on one line.

use toolwright_catalog::CatalogEvent;
use toolwright_source::{Diagnostic, render};

use crate::output;

/// One line for an event; `None` for events that need no words.
pub(crate) fn sentence(event: &CatalogEvent) -> Option<String> {
    match event {
        // Without lines of the file: they may hold secrets, and this goes into a log.
        CatalogEvent::Problem(diagnostic) => {
            let help: String =
                diagnostic.help.iter().map(|help| format!(" (help: {help})")).collect();
            Some(format!("{}{help}", render::concise(diagnostic)))
        }
        CatalogEvent::SourceFailure(failure) => Some(failure.to_string()),
        CatalogEvent::Note(text) => Some(text.clone()),
        CatalogEvent::Loaded { .. } => None,
    }
}

/// A diagnostic as the reason why a command cannot go on.
pub(crate) fn on_one_line(diagnostic: &Diagnostic) -> String {
    let help: String = diagnostic.help.iter().map(|help| format!(" ({help})")).collect();
    format!("{}{help}", render::concise(diagnostic))
}

/// Writes a line to stderr.
pub(crate) fn note(text: &str) {
    output::say(&format!("toolwright: {}\n", render::visible(&text.replace('\n', " | "))));
}
