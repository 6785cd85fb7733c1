//! One-line messages on stderr, for the commands that run tools: events of the catalog, and
//! diagnostics where there is no room for the lines of a file. `report` prints diagnostics in full.

use toolwright_catalog::CatalogEvent;
use toolwright_source::{Diagnostic, Severity, render};
use toolwright_workspace::SourcePlan;

use crate::output;

/// Writes the message of an event to stderr.
pub(crate) fn print_event(event: &CatalogEvent) {
    if let Some(text) = event_text(event) {
        print_note(&text);
    }
}

/// The message of an event; `None` for a successful load, which only `serve` logs.
fn event_text(event: &CatalogEvent) -> Option<String> {
    match event {
        // Without the lines of the file: they may hold secrets, and stderr of `serve` usually ends
        // up in a log file.
        CatalogEvent::Problem(diagnostic) | CatalogEvent::PlanProblem(diagnostic) => {
            let help: String =
                diagnostic.help.iter().map(|help| format!(" (help: {help})")).collect();
            Some(format!("{}{help}", render::concise(diagnostic)))
        }
        CatalogEvent::SourceFailure(failure) => Some(failure.to_string()),
        CatalogEvent::Note(text) => Some(text.clone()),
        CatalogEvent::Loaded { .. } => None,
    }
}

/// The error of a command that cannot go on because of its configuration. All other problems are
/// printed first, so that they can be corrected together. Called only if there is one.
pub(crate) fn plan_error(plan: &SourcePlan) -> anyhow::Error {
    let notes = |diagnostic: &&Diagnostic| diagnostic.severity > Severity::Info;
    let lines = plan.diagnostics.iter().filter(notes).map(diagnostic_line);
    let mut lines: Vec<String> =
        lines.chain(plan.failures.iter().map(ToString::to_string)).collect();
    let last = lines.pop().unwrap_or_else(|| "the configuration cannot be used".to_owned());
    lines.iter().for_each(|line| print_note(line));
    anyhow::anyhow!("{last}")
}

/// A diagnostic on one line, with its help.
pub(crate) fn diagnostic_line(diagnostic: &Diagnostic) -> String {
    let help: String = diagnostic.help.iter().map(|help| format!(" ({help})")).collect();
    format!("{}{help}", render::concise(diagnostic))
}

/// Writes a line to stderr, with control characters made visible. Line ends in the text become
/// ` | `, so that every line of a log starts with the name of the program.
pub(crate) fn print_note(text: &str) {
    output::write_stderr(&format!("toolwright: {}\n", render::visible(&text.replace('\n', " | "))));
}
