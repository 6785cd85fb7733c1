//! Diagnostics on stderr, and the line that sums them up.

use std::fmt::Write;

use toolwright_source::render::{self, Colour};
use toolwright_source::{Diagnostic, Severity};
use toolwright_workspace::{LoadError, LoadResult};

use crate::args::OutputFormat;
use crate::output::{self, Exit};

/// Beyond this many in one run, only the other two forms show all.
const MANY: usize = 200;

/// Shows the diagnostics in the form the user wants.
pub(crate) fn show<'d>(diagnostics: impl Iterator<Item = &'d Diagnostic>, form: OutputFormat) {
    let mut text = String::new();
    let mut hidden = 0;
    for (n, diagnostic) in diagnostics.enumerate() {
        let _ = match form {
            OutputFormat::Full if n >= MANY => {
                hidden += 1;
                Ok(())
            }
            // anstream takes the colours out again where the terminal has none.
            OutputFormat::Full => write!(text, "{}\n\n", render::full(diagnostic, Colour::On)),
            OutputFormat::Concise => writeln!(text, "{}", render::concise(diagnostic)),
            OutputFormat::Json => writeln!(text, "{}", render::json(diagnostic)),
        };
    }
    if hidden > 0 {
        let _ = writeln!(text, "… and {hidden} more (`--output-format concise` shows all)");
    }
    output::say(&text);
}

/// Shows everything a load found, and says how it ended.
pub(crate) fn finish(load: &LoadResult, form: OutputFormat) -> Exit {
    let (secret, open): (Vec<_>, Vec<_>) = load.documents.iter().partition(|file| file.secret);
    let without_lines = if form == OutputFormat::Full { OutputFormat::Concise } else { form };
    show(secret.into_iter().flat_map(|file| &file.diagnostics), without_lines);
    show(open.into_iter().flat_map(|file| &file.diagnostics), form);
    if form != OutputFormat::Json {
        output::say(&summary(load));
    }
    for failure in &load.failures {
        match form {
            OutputFormat::Json => {
                output::say(&format!("{}\n", render::line(&failure_json(failure))))
            }
            _ => output::complain(&failure.clone().into()),
        }
    }
    let errors = load
        .documents
        .iter()
        .flat_map(|file| &file.diagnostics)
        .any(|d| d.severity == Severity::Error);
    if !load.failures.is_empty() {
        Exit::CouldNotRun
    } else if errors {
        Exit::Findings
    } else {
        Exit::Clean
    }
}

/// What could not be read, in the shape of a diagnostic without a place.
fn failure_json(failure: &LoadError) -> serde_json::Value {
    serde_json::json!({
        "code": "CANNOT_READ", "severity": "error", "message": failure.to_string(), "file": null,
        "start": null, "end": null, "path": "", "help": [], "fix": null,
    })
}

/// `3 tools in 2 files: 1 error, 2 warnings`, or nothing if there is nothing to say.
fn summary(load: &LoadResult) -> String {
    let count = |severity| {
        let all = load.documents.iter().flat_map(|file| &file.diagnostics);
        all.filter(|d| d.severity == severity).count()
    };
    let counts =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "note")];
    let found: Vec<String> = counts
        .iter()
        .map(|(s, word)| (count(*s), word))
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| plural(n, word))
        .collect();
    let mut text = String::new();
    if !found.is_empty() {
        let tools =
            load.documents.iter().flat_map(|f| &f.reading).map(|r| r.toolset.tools.len()).sum();
        let _ = writeln!(
            text,
            "{} in {}: {}",
            plural(tools, "tool"),
            plural(load.documents.len(), "file"),
            found.join(", ")
        );
    }
    text + &left_out(load)
}

/// Which files of walked folders were not looked at, and why.
pub(crate) fn left_out(load: &LoadResult) -> String {
    let mut text = String::new();
    if load.skipped > 0 && !load.documents.is_empty() {
        let _ = writeln!(text, "{} of no known format skipped", plural(load.skipped, "file"));
    }
    if !load.unparsed.is_empty() {
        let names = load
            .unparsed
            .iter()
            .take(5)
            .map(|name| render::visible(name))
            .collect::<Vec<_>>()
            .join(", ");
        let more = if load.unparsed.len() > 5 { ", …" } else { "" };
        let files = plural(load.unparsed.len(), "file");
        let _ = writeln!(text, "{files} skipped that could not be parsed: {names}{more}");
    }
    text
}

/// `1 file`, `2 files`.
pub(crate) fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}
