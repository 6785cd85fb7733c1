//! The exit status and the two standard streams.
//!
//! Results go to stdout and can be piped; messages go to stderr. The functions for stdout return an
//! error if it cannot be written (`main` ignores a broken pipe); those for stderr never fail,
//! because there is no better place to report that.
//!
//! Not here: the wording of messages (`messages`) and of diagnostics (`report`).

use std::io::{self, Write};
use std::process::ExitCode;

use crate::environment::variable;

/// How a command ended. The numbers are documented for users and must not change. A larger one
/// weighs more, so the statuses of several files are joined by `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitStatus {
    /// The command did its work and found nothing wrong.
    Clean = 0,
    /// The command did its work; the definitions have errors, or the called tool failed.
    Findings = 1,
    /// The command could not do its work: wrong arguments, unreadable files, no sandbox.
    CouldNotRun = 2,
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Whether the error means that the reader of stdout closed it.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes text of this program to stdout. Colours are removed if stdout is not a terminal or does
/// not support them. Flushed at once: a command may run on for long after it, or end without
/// unwinding.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Columns for text on stdout: those of the terminal, or of the variable `COLUMNS`, which also says
/// so for a pipe.
pub(crate) fn width() -> usize {
    // Fits a log viewer, and most lines of a definition.
    const WITHOUT_TERMINAL: usize = 120;
    let stated = variable("COLUMNS").and_then(|text| text.parse().ok());
    let terminal =
        || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    stated.or_else(terminal).filter(|width| *width > 0).unwrap_or(WITHOUT_TERMINAL)
}

/// Writes text to stdout without changing it. For results of tools and for generated files: `print`
/// would remove control sequences that belong to them.
pub(crate) fn print_unfiltered(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes indented JSON to stdout. It is streamed, because the indentation of a deeply nested value
/// can be many times larger than the value.
pub(crate) fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// Writes to stderr, with colours only where they are supported. Failures are ignored.
pub(crate) fn write_stderr(text: &str) {
    let mut err = anstream::stderr().lock();
    let _ = err.write_all(text.as_bytes());
}

/// Writes an error and its causes to stderr, on one line. Control characters are made visible: the
/// text may quote a file name or a server.
pub(crate) fn print_error(error: &anyhow::Error) {
    write_stderr(&format!(
        "toolwright: {}\n",
        toolwright_source::render::visible(&format!("{error:#}"))
    ));
}

/// Makes control characters visible, except line ends and tabs, so that text from tools and
/// definitions cannot control the terminal. The end of the last line is not kept.
pub(crate) fn visible_lines(text: &str) -> String {
    let line = |line: &str| {
        line.split('\t').map(toolwright_source::render::visible).collect::<Vec<_>>().join("\t")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
