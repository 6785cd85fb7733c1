//! `toolwright upgrade`: rewrites definitions for the newest version of their format. The work is
//! in `toolwright_workspace`; here are the files, the diff and what is left to do.
//!
//! The diff is the result and goes to stdout. Nothing is written without `--write`.
//!
//! A file with a syntax error is not touched, since what follows the error was not read. Other
//! mistakes do not matter: they are the same before and after, and are listed as what is left to
//! do.
//!
//! ```text
//! files ─ load ─▶ Workspace::upgrade ─┬─ steps: what was changed ─ diff, or --write
//!                                     ├─ refused: steps that would break something
//!                                     └─ left: findings that only the new text has
//! ```

use std::path::PathBuf;

use toolwright_source::codes::INVALID_SYNTAX;
use toolwright_source::render::{self, visible};
use toolwright_workspace::{LoadedDocument, Upgrade};

use crate::args::UpgradeArgs;
use crate::messages::print_note;
use crate::output::{self, ExitStatus};
use crate::report::{self, plural};
use crate::sources;

/// Prints or writes the upgraded files.
///
/// Exits with 1 if a file has a syntax error or a step was refused, with 2 if something could not
/// be read or written. One file does not stop the others.
///
/// # Errors
/// If standard input is named, or stdout cannot be written.
pub(crate) fn run(args: &UpgradeArgs) -> anyhow::Result<ExitStatus> {
    if args.files.iter().any(|path| toolwright_workspace::is_stdin(path)) {
        anyhow::bail!("standard input cannot be upgraded; name a file or a folder");
    }
    let workspace = sources::workspace();
    let paths: Vec<PathBuf> = args.files.clone();
    let load = workspace.load(&paths, args.options());
    let mut status = report::exit_status(&load);
    // Errors of the definitions do not matter here, unless a format is unknown.
    if status == ExitStatus::Findings {
        status = ExitStatus::Clean;
    }
    let (mut upgraded, mut unreadable, mut left) = (0, 0, 0);
    for loaded in &load.documents {
        let Some(upgrade) = is_whole(loaded).then(|| workspace.upgrade(loaded)).flatten() else {
            report::print_diagnostics(
                loaded.diagnostics.iter(),
                crate::args::DiagnosticFormat::Concise,
            );
            status = status.max(ExitStatus::Findings);
            unreadable += 1;
            continue;
        };
        if !upgrade.refused.is_empty() {
            status = status.max(ExitStatus::Findings);
        }
        if !upgrade.steps.is_empty() && finish(args, loaded, &upgrade)? {
            upgraded += 1;
        } else if !upgrade.steps.is_empty() {
            status = ExitStatus::CouldNotRun;
        }
        left += print_steps(loaded, &upgrade);
    }
    for failure in &load.failures {
        output::print_error(&failure.clone().into());
    }
    if !load.documents.is_empty() {
        print_note(&summary(args, upgraded, unreadable, load.documents.len(), left));
    }
    Ok(status)
}

/// Whether all of the text was read. What a syntax error hides would not be upgraded.
fn is_whole(loaded: &LoadedDocument) -> bool {
    !loaded.diagnostics.iter().any(|diagnostic| diagnostic.code.name == INVALID_SYNTAX.name)
}

/// Writes the file, or prints what would change. Returns whether that was possible. A document that
/// is not a file is only printed. A file that cannot be written is reported here, and the others
/// are still upgraded.
fn finish(args: &UpgradeArgs, loaded: &LoadedDocument, upgrade: &Upgrade) -> anyhow::Result<bool> {
    let Some(path) = loaded.path.as_ref().filter(|_| args.write) else {
        output::print(&upgrade.diff())?;
        return Ok(true);
    };
    if let Err(reason) = upgrade.write(path) {
        output::print_error(&anyhow::anyhow!(reason));
        return Ok(false);
    }
    Ok(true)
}

/// Writes the steps and what is left, a line each, and returns the number of the latter. On stderr,
/// because stdout has the diff, which a person may pipe into `patch`.
fn print_steps(loaded: &LoadedDocument, upgrade: &Upgrade) -> usize {
    let name = loaded.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let name = visible(&name);
    let mut text = String::new();
    for step in &upgrade.steps {
        text += &format!("{name}: {}\n", visible(step));
    }
    for refused in &upgrade.refused {
        let (title, reason) = (visible(&refused.title), visible(&refused.reason));
        text += &format!("{name}: not made: {title}: {reason}\n");
    }
    for finding in &upgrade.left {
        text += &format!("left to do: {}\n", render::concise(finding));
    }
    output::write_stderr(&text);
    upgrade.left.len()
}

/// `1 of 2 files can be upgraded (…); 1 file could not be read; 3 findings are left to do`. If no
/// file could be read, only that is said.
fn summary(
    args: &UpgradeArgs,
    upgraded: usize,
    unreadable: usize,
    all: usize,
    left: usize,
) -> String {
    let not_read = match unreadable {
        0 => String::new(),
        n => format!("{} could not be read", plural(n, "file")),
    };
    if unreadable == all {
        return not_read;
    }
    let mut rest = if unreadable == 0 { not_read } else { format!("; {not_read}") };
    rest += &match left {
        0 => String::new(),
        1 => "; 1 finding is left to do".to_owned(),
        n => format!("; {n} findings are left to do"),
    };
    match (upgraded, args.write) {
        (0, _) => format!("{}: nothing to upgrade{rest}", plural(all, "file")),
        (n, true) => format!("{n} of {} upgraded{rest}", plural(all, "file")),
        (n, false) => format!(
            "{n} of {} can be upgraded, and `--write` writes {}{rest}",
            plural(all, "file"),
            if n == 1 { "it" } else { "them" }
        ),
    }
}
