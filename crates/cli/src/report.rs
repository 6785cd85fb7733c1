//! Diagnostics on stderr and the line with their totals, for `show` and `validate`, whose stdout
//! holds something else, and the parts of it that `list` and `test` use. `check` prints its
//! findings itself, to stdout and in more formats.
//!
//! ```text
//! LoadResult ─▶ print_report: diagnostics, summary, failures ─▶ exit status
//!               0 clean  │  1 errors in definitions  │  2 something could not be read
//! ```

use std::fmt::Write;

use toolwright_check::USELESS_SILENCE;
use toolwright_model::{Binding, redacted_url};
use toolwright_source::render::{self, Colour};
use toolwright_source::{Diagnostic, Severity, Source, TextOrigin};
use toolwright_workspace::{LoadError, LoadResult, LoadedDocument, SourceArgument, codes};

use crate::args::{DiagnosticFormat, SelectedSources};
use crate::messages;
use crate::output::{self, ExitStatus};

/// The most diagnostics that the format `full` prints; each takes several lines. The formats of one
/// line per diagnostic print all. A terminal keeps only so many lines, and the totals come last.
const MOST_IN_FULL: usize = 200;

/// Writes diagnostics to stderr in the requested format. In their order; `render::sort` is the
/// business of the caller.
pub(crate) fn print_diagnostics<'d>(
    diagnostics: impl Iterator<Item = &'d Diagnostic>,
    format: DiagnosticFormat,
) {
    // Collected and written at once: stderr is not buffered.
    let mut text = String::new();
    let mut hidden = 0;
    for (n, diagnostic) in diagnostics.enumerate() {
        let _ = match format {
            DiagnosticFormat::Full if n >= MOST_IN_FULL => {
                hidden += 1;
                Ok(())
            }
            // `write_stderr` removes the colours where they are not supported.
            DiagnosticFormat::Full => write!(text, "{}\n\n", render::full(diagnostic, Colour::On)),
            DiagnosticFormat::Concise => writeln!(text, "{}", render::concise(diagnostic)),
            DiagnosticFormat::Json => writeln!(text, "{}", render::json(diagnostic)),
        };
    }
    if hidden > 0 {
        let _ = writeln!(text, "… and {hidden} more (`--output-format concise` shows all)");
    }
    output::write_stderr(&text);
}

/// Writes diagnostics of configurations and servers files to stderr, without the lines of these
/// files, which may hold secrets: in the format `full`, one line with its help. The other two
/// formats never contain lines.
pub(crate) fn print_without_lines<'d>(
    diagnostics: impl Iterator<Item = &'d Diagnostic>,
    format: DiagnosticFormat,
) {
    match format {
        DiagnosticFormat::Full => diagnostics.for_each(|diagnostic| {
            output::write_stderr(&format!("{}\n", messages::diagnostic_line(diagnostic)));
        }),
        format => print_diagnostics(diagnostics, format),
    }
}

/// Writes all diagnostics and failures of a load, then the totals. Returns the exit status that
/// follows from them. Documents of settings are left out of the diagnostics, but count for the exit
/// status.
pub(crate) fn print_report(load: &LoadResult, format: DiagnosticFormat) -> ExitStatus {
    // The diagnostics of the plan have been printed before it was loaded.
    let documents = load.documents.iter().filter(|file| !file.secret);
    print_diagnostics(documents.flat_map(|file| &file.diagnostics), format);
    // With `json`, every line of stderr is an object.
    if format != DiagnosticFormat::Json {
        output::write_stderr(&summary(load));
    }
    for failure in &load.failures {
        match format {
            DiagnosticFormat::Json => {
                output::write_stderr(&format!("{}\n", render::line(&failure_json(failure))))
            }
            _ => output::print_error(&failure.clone().into()),
        }
    }
    exit_status(load)
}

/// The exit status of a command that reads definitions: failures weigh more than errors.
pub(crate) fn exit_status(load: &LoadResult) -> ExitStatus {
    status_of(load, load.documents.iter())
}

/// The exit status of a command for which errors inside of definitions do not count: only what
/// could not be read, and the mistakes of configurations and servers files, which keep sources from
/// being read.
pub(crate) fn settings_status(load: &LoadResult) -> ExitStatus {
    status_of(load, load.documents.iter().filter(|document| is_settings(document)))
}

/// Advice does not count, whatever its severity was set to.
///
/// ```text
/// a failure            2, whatever else was found
/// an error             1
/// warnings and notes   0
/// ```
fn status_of<'d>(
    load: &LoadResult,
    documents: impl Iterator<Item = &'d LoadedDocument>,
) -> ExitStatus {
    let errors = documents
        .flat_map(|file| &file.diagnostics)
        .any(|d| d.severity == Severity::Error && !codes::is_advice(d.code));
    if !load.failures.is_empty() {
        ExitStatus::CouldNotRun
    } else if errors {
        ExitStatus::Findings
    } else {
        ExitStatus::Clean
    }
}

/// Whether a document holds the diagnostics of a configuration or servers file, and no tools.
/// `secret` alone is not enough: a document with tools may have lines that hold secrets, too.
fn is_settings(document: &LoadedDocument) -> bool {
    document.secret && document.reading.is_none()
}

/// Writes the mistakes of configurations and servers files to stderr, one line each. Advice about
/// servers is not among them: it keeps nothing from being read.
pub(crate) fn print_settings_mistakes(load: &LoadResult) {
    let settings = load.documents.iter().filter(|document| is_settings(document));
    let mistakes = settings.flat_map(|document| &document.diagnostics);
    // A silence that hits nothing changes nothing in a list.
    let matters = |d: &&Diagnostic| codes::is_mistake(d) && d.code != &USELESS_SILENCE;
    print_without_lines(mistakes.filter(matters), DiagnosticFormat::Full);
}

/// A file or server that could not be read, as a diagnostic without a position: programs that read
/// the lines need only one type.
fn failure_json(failure: &LoadError) -> serde_json::Value {
    serde_json::json!({
        "code": "CANNOT_READ", "severity": "error", "message": failure.to_string(),
        "source": null, "tool": null, "file": null,
        "start": null, "end": null, "path": "", "help": [], "fix": null,
    })
}

/// `3 tools in 2 files: 1 error, 2 warnings`; empty if there are no diagnostics.
fn summary(load: &LoadResult) -> String {
    let found = severity_counts(load);
    let mut text = String::new();
    if !found.is_empty() {
        let _ = writeln!(text, "{}: {}", tools_and_sources(load), found.join(", "));
    }
    text + &skipped_files(load)
}

/// The number of diagnostics of each severity, such as `2 errors`. Severities without any are left
/// out. Those of severity `info` are called notes in all texts.
pub(crate) fn severity_counts(load: &LoadResult) -> Vec<String> {
    let count = |severity| {
        let all = load.documents.iter().flat_map(|file| &file.diagnostics);
        all.filter(|d| d.severity == severity).count()
    };
    [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "note")]
        .into_iter()
        .map(|(severity, noun)| (count(severity), noun))
        .filter(|(n, _)| *n > 0)
        .map(|(n, noun)| plural(n, noun))
        .collect()
}

/// `3 tools in 2 files`, or `144 tools of 11 servers and 3 files, without 1 other server (disabled:
/// notes)`.
///
/// "of" if anything is live, "in" for files alone. Documents with settings are not counted, nor are
/// servers that have no document because they failed; those are in the second part.
pub(crate) fn tools_and_sources(load: &LoadResult) -> String {
    let readings = load.documents.iter().flat_map(|document| &document.reading);
    let tools = readings.map(|reading| reading.toolset.tools.len()).sum();
    let (mut servers, mut programs, mut builtins, mut files) = (0, 0, 0, 0);
    for document in &load.documents {
        match answer_of(document) {
            Some(source) if is_program_answer(source) => programs += 1,
            Some(_) if is_builtin(document) => builtins += 1,
            Some(_) => servers += 1,
            // Diagnostics of the configuration or of a servers file: no tools are defined there.
            None if is_settings(document) => {}
            None => files += 1,
        }
    }
    // Servers that failed are reported one by one, and not counted where there is no other.
    let is_partial = load.servers > servers && (servers > 0 || !load.unstarted.is_empty());
    let without = match (load.servers - servers.min(load.servers), servers) {
        _ if !is_partial => String::new(),
        (n, 0) => format!(", without {}{}", plural(n, "server"), unstarted_servers(load)),
        (n, _) => format!(", without {}{}", plural(n, "other server"), unstarted_servers(load)),
    };
    let word = if servers + programs + builtins > 0 { "of" } else { "in" };
    let counts = [
        (servers, "server"),
        (programs, "program"),
        (builtins, "built-in toolset"),
        (files, "file"),
    ];
    let counts = counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| plural(n, noun));
    let sources = match counts.collect::<Vec<_>>().split_last() {
        Some((last, [])) => format!(" {word} {last}"),
        Some((last, rest)) => format!(" {word} {} and {last}", rest.join(", ")),
        None => String::new(),
    };
    format!("{}{sources}{without}", plural(tools, "tool"))
}

/// The names of the servers that were not started, in brackets. Those that failed are reported one
/// by one. Example: ` (not started: a, b; disabled: c)`.
fn unstarted_servers(load: &LoadResult) -> String {
    /// More of them are not named: the line is a summary.
    const NAMED: usize = 3;
    let parts = [(false, "not started"), (true, "disabled")].map(|(disabled, what)| {
        let of = || load.unstarted.iter().filter(|server| server.disabled == disabled);
        let named: Vec<String> = of().take(NAMED).map(|it| render::visible(&it.name)).collect();
        let more = if of().count() > NAMED { ", …" } else { "" };
        (!named.is_empty()).then(|| format!("{what}: {}{more}", named.join(", ")))
    });
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

/// The text of a document, if a server or a program answered it. Built-in toolsets answer like
/// servers, so this holds for them, too.
pub(crate) fn answer_of(document: &LoadedDocument) -> Option<&Source> {
    let source = document.reading.as_ref()?.origin.document().source();
    source.is_answer().then_some(source)
}

/// Whether a built-in toolset listed the tools of a document.
fn is_builtin(document: &LoadedDocument) -> bool {
    let mut tools = document.reading.iter().flat_map(|reading| &reading.toolset.tools);
    tools.any(|tool| matches!(tool.details.binding, Binding::Builtin { .. }))
}

/// Whether a program printed the answer: its answers are anchored at the program itself.
fn is_program_answer(source: &Source) -> bool {
    let TextOrigin::Answer(Some(anchor)) = source.origin() else { return false };
    anchor.source.name() == source.name()
}

/// The files that were found in folders and not read as definitions. Without this line, a
/// definition with a misspelled key would silently be missing. At most two lines: files of an
/// unknown format, and files that cannot be parsed.
pub(crate) fn skipped_files(load: &LoadResult) -> String {
    let mut text = String::new();
    // If no document was found at all, the failure for the folder says more.
    if load.skipped > 0 && !load.documents.is_empty() {
        let _ = writeln!(text, "{} skipped: unknown format", plural(load.skipped, "file"));
    }
    if !load.unparsed.is_empty() {
        // Five names are enough to recognise a pattern; folders may hold thousands of such files.
        let names = load
            .unparsed
            .iter()
            .take(5)
            .map(|name| render::visible(name))
            .collect::<Vec<_>>()
            .join(", ");
        let more = if load.unparsed.len() > 5 { ", …" } else { "" };
        let files = plural(load.unparsed.len(), "file");
        let _ = writeln!(text, "{files} skipped, cannot be parsed: {names}{more}");
    }
    text
}

/// The command line of `check` that reads the same sources in the same way. Printed as advice by
/// `list` and `cost`, so that a person can copy the line. The arguments of a program are left out,
/// because they may hold secrets: an ellipsis stands for them.
pub(crate) fn check_command(selected: &SelectedSources) -> String {
    let mut words = vec!["toolwright".to_owned(), "check".to_owned()];
    let reading = &selected.reading;
    words.extend(reading.compat.then(|| "--compat".to_owned()));
    words.extend(reading.format.iter().flat_map(|id| ["--format".to_owned(), id.clone()]));
    // A configuration that was found is a source like any other in the command.
    words.extend(selected.config.iter().map(|path| path.display().to_string()));
    words.extend(selected.sources.iter().map(|word| match SourceArgument::parse(word) {
        // An address and the arguments of a program may hold a token, and stderr may be a log.
        SourceArgument::Url(url) => redacted_url(&url),
        _ => word.clone(),
    }));
    let mut line = words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    if let Some((program, arguments)) = selected.command.split_first() {
        line += &format!(" -- {}", shell_word(program));
        line += if arguments.is_empty() { "" } else { " …" };
    }
    line
}

/// The command line of this process, with this source as its last word. For a command that named no
/// source: all its other words are options. The arguments of this process are repeated as they are,
/// quoted where a shell needs it.
pub(crate) fn own_command_with(source: &str) -> String {
    let given = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words = std::iter::once("toolwright".to_owned()).chain(given).chain([source.to_owned()]);
    words.map(|word| shell_word(&word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it back. Quoted only if needed, since most words are plain paths.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A number with its noun: `1 file`, `2 files`. For nouns with a regular plural.
pub(crate) fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}
