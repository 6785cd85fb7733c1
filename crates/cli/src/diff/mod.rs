//! `toolwright diff OLD NEW`: what changed from one set of definitions to another, and whether the
//! declared version announces it. The comparison is in `toolwright_workspace::diff`.
//!
//! ```text
//! OLD, NEW ─ a path that exists, `-`, a URL, `-- COMMAND` ─ sources ──┬─▶ diff ─▶ render
//!          └ else REV:PATH ─ git_revision: `git show` ─ Overlay ─ load ┘
//! ```
//!
//! Exits with 1 if a declared version does not announce the changes, or with `--fail-on` if there
//! is a change of at least that step; with 2 if a side could not be read as a whole, since every
//! tool that is missing there would look removed.

mod git_revision;
pub(crate) mod render;

use std::path::Path;

use anyhow::bail;
use toolwright_source::Severity;
use toolwright_workspace::{LoadResult, SourceArgument, diff};

use crate::args::{DiffArgs, DiffFormat, EnvironmentArgs, FailOnStep, SelectedSources};
use crate::output::{self, ExitStatus};
use crate::sources::{self, PlanLog};
use crate::{messages, report};

/// Prints the changes to stdout, and what could not be read to stderr.
///
/// # Errors
/// If a side cannot be read, the async runtime cannot start, the user interrupts, or stdout cannot
/// be written.
pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<ExitStatus> {
    if args.old == "-" && args.new.as_deref() == Some("-") {
        bail!("only one of the two can be standard input");
    }
    let old = load(args, Some(&args.old), &[])?;
    let new = load(args, args.new.as_deref(), &args.command)?;
    if !(is_readable(&old) & is_readable(&new)) {
        return Ok(ExitStatus::CouldNotRun);
    }
    let found = diff::diff(&old.documents, &new.documents);
    match args.output_format {
        DiffFormat::Text => output::print(&render::text(&found))?,
        DiffFormat::Json => output::print_json(&render::json(&found))?,
        DiffFormat::Markdown => output::print_unfiltered(&render::markdown(&found))?,
    }
    let fails = match args.fail_on {
        Some(least) => found.step() >= version_step(least),
        None => !found.versions.iter().all(diff::VersionCheck::is_taken),
    };
    Ok(if fails { ExitStatus::Findings } else { ExitStatus::Clean })
}

fn version_step(step: FailOnStep) -> diff::VersionStep {
    match step {
        FailOnStep::Major => diff::VersionStep::Major,
        FailOnStep::Minor => diff::VersionStep::Minor,
        FailOnStep::Patch => diff::VersionStep::Patch,
    }
}

/// Reads one side. `word` is a source, or `None` if the side is `command`. A path that exists is
/// never taken for a revision, even if it has a colon.
fn load(args: &DiffArgs, word: Option<&str>, command: &[String]) -> anyhow::Result<LoadResult> {
    if let Some(word) = word
        && let SourceArgument::Path(path) = SourceArgument::parse(word)
        && !path.exists()
        && let Some(files) = git_revision::read(word)?
    {
        let mut workspace = sources::workspace();
        let paths = files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
        for (path, text) in files {
            workspace.overlay.set(path, text);
        }
        let mut load = workspace.load(&paths, args.reading.options(false));
        // A folder of a revision: most of its files are not definitions.
        if paths.len() > 1 {
            load.documents.retain(|document| document.reading.is_some());
        }
        return Ok(load);
    }
    let selected = SelectedSources {
        sources: word.map(str::to_owned).into_iter().collect(),
        command: command.to_vec(),
        config: None,
        reading: args.reading.clone(),
        environment: EnvironmentArgs::default(),
    };
    sources::load_resolved(&selected, PlanLog::Mistakes)
}

/// Whether everything of a side was read. What was not is written to stderr. Definitions with
/// errors are compared as far as they can be read, with a note. Both sides are reported before the
/// command gives up, so `run` must not stop at the first.
fn is_readable(load: &LoadResult) -> bool {
    output::write_stderr(&report::skipped_files(load));
    for failure in &load.failures {
        output::print_error(&failure.clone().into());
    }
    // Without a server whose entry has a mistake, all of its tools would look removed or added.
    let mut is_readable = report::settings_status(load) == ExitStatus::Clean;
    for document in load.documents.iter().filter(|document| !document.secret) {
        let errors = document.diagnostics.iter().filter(|d| d.severity == Severity::Error);
        let count = errors.clone().count();
        if document.reading.is_none() {
            report::print_diagnostics(errors, crate::args::DiagnosticFormat::Concise);
            is_readable = false;
        } else if count > 0 {
            let name = document.path.as_deref().unwrap_or(Path::new("a server")).display();
            messages::print_note(&format!(
                "`{name}` has {}; it is compared as far as it can be read",
                report::plural(count, "error")
            ));
        }
    }
    is_readable
}
