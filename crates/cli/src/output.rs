//! Exit codes and the two standard streams: data on stdout, talk on stderr. A reader that went
//! away is no error.

use std::io::{self, Write};
use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// No errors in what was read.
    Clean = 0,
    /// There are errors in what was read.
    Findings = 1,
    /// It could not be read at all.
    CouldNotRun = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Whether the error is only that nobody reads on.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes data.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes data that is somebody else's, byte for byte.
pub(crate) fn print_raw(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes JSON for people, without having all of it in memory: a deep value is mostly blanks.
pub(crate) fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// Writes talk; if nobody listens, that is fine.
pub(crate) fn say(text: &str) {
    let mut err = anstream::stderr().lock();
    let _ = err.write_all(text.as_bytes());
}

/// Says why something could not be done, in one sentence.
pub(crate) fn complain(error: &anyhow::Error) {
    say(&format!("toolwright: {}\n", toolwright_source::render::visible(&format!("{error:#}"))));
}

/// Text with nothing in it that a terminal would obey, but lines and tabs.
pub(crate) fn visible_lines(text: &str) -> String {
    let line = |line: &str| {
        line.split('\t').map(toolwright_source::render::visible).collect::<Vec<_>>().join("\t")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
