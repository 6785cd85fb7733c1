//! What a command reads if its arguments name nothing: the `toolwright.toml` in this folder or the
//! nearest one above, else the servers file of this folder.
//!
//! ```text
//! SelectedSources ─ named? ───────────────────────────────────────────▶ as they are
//!                 └ toolwright.toml, .mcp.json, .vscode/mcp.json ─ may it start? ─▶ named
//! ```
//!
//! What was only found starts nothing by itself: a servers file in a repository that somebody else
//! wrote may hold any command, and a person who types `list` there wants to look, not to run it. So
//! the person is asked, with the commands in view. Where nobody can answer, nothing is read, and
//! the error is the same command line with the file named: naming it is the consent.
//!
//! A `toolwright.toml` is treated in the same way: `check` is what a person types first in a
//! repository of somebody else. `call` and `serve`, which start what they are told to use, read it
//! without a question, unless another user has put it into a folder that everybody may write to.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use toolwright_model::{Connection, redacted_url};
use toolwright_source::render::visible;
use toolwright_source::{Diagnostic, Severity};
use toolwright_workspace::record::shown_connection;
use toolwright_workspace::{SourceArgument, SourcePlan, SourceSpec, SourceTarget};

use crate::args::SelectedSources;
use crate::environment::variable;
use crate::messages::{print_note, print_plan_mistakes};
use crate::question::{Answer, ask};
use crate::record_text::{one_line, shorten};
use crate::report::own_command_with;
use crate::sources::found_configuration;

/// The servers files that clients keep in the folder of a project, by precedence.
const SERVERS_FILES: [&str; 2] = [".mcp.json", ".vscode/mcp.json"];

/// The servers file of a folder, relative to it.
pub(crate) fn servers_file_in(folder: &Path) -> Option<&'static str> {
    SERVERS_FILES.into_iter().find(|name| folder.join(name).is_file())
}

/// The most servers that a question lists. A file with more is not read by a person anyway. The
/// number of the others is shown.
const SHOWN_SERVERS: usize = 50;

/// The most characters of a command that a question shows.
const SHOWN_COMMAND: usize = 1_000;

/// How a command searches for sources that its arguments do not name.
pub(crate) struct SourceSearch {
    /// The name of the command, for messages.
    pub(crate) command: &'static str,
    /// Whether it starts anything at all.
    pub(crate) starts: bool,
    /// Whether to print which file was found.
    pub(crate) announced: bool,
}

/// The arguments, with what was found filled in if they name nothing.
///
/// ```text
/// named                         as it is
/// toolwright.toml with sources  the configuration, after a question if it starts anything
/// .mcp.json, .vscode/mcp.json   the servers file, after a question
/// neither                       an error that lists what can be named
/// ```
///
/// # Errors
/// If nothing is found, or the person does not want it to be started, or cannot be asked.
pub(crate) fn resolve(
    selected: &SelectedSources,
    how: &SourceSearch,
) -> anyhow::Result<SelectedSources> {
    if selected.are_named() {
        return Ok(selected.clone());
    }
    let here = std::env::current_dir().context("cannot find the working directory")?;
    let options = selected.reading.options(false);
    if let Some(path) = found_configuration(&here)? {
        let plan = SourcePlan::from_config(&path, options, &variable);
        // A configuration of limits and levels alone does not say what to read.
        if !plan.specs.is_empty() || !plan.diagnostics.is_empty() || !plan.failures.is_empty() {
            let name = relative_name(&path, &here);
            if how.starts {
                confirm_start(&plan, &name)?;
            }
            // Errors name the file themselves.
            if plan.failures.is_empty() && !plan.diagnostics.iter().any(is_error) {
                announce(&name, how);
            }
            return Ok(SelectedSources { config: Some(name.into()), ..selected.clone() });
        }
    }
    let Some(name) = servers_file_in(&here) else {
        bail!(
            "there is nothing to {}: name files, folders, `-`, a URL, an `mcpServers` file or \
             `-- COMMAND` (there is no `toolwright.toml` here or above, and no `.mcp.json` here)",
            how.command
        );
    };
    let named = [SourceArgument::Path(name.into())];
    if how.starts {
        confirm_start(&SourcePlan::from_arguments(&named, options, &variable), name)?;
    }
    announce(name, how);
    Ok(SelectedSources { sources: vec![name.to_owned()], ..selected.clone() })
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// Prints which file is read.
fn announce(name: &str, how: &SourceSearch) {
    if how.announced {
        print_note(&format!("reading `{name}`"));
    }
}

/// Asks whether the live sources of a plan may be started. The question shows references such as
/// `${TOKEN}` and not their values. Files alone start nothing, and are not asked about.
///
/// # Errors
/// If the answer is no, or nobody can answer.
fn confirm_start(plan: &SourcePlan, name: &str) -> anyhow::Result<()> {
    let live: Vec<&SourceSpec> = plan.live_specs().collect();
    if live.is_empty() {
        return Ok(());
    }
    let mut text = format!("`{}` was found here and would start:\n", visible(name));
    let width = live.iter().map(|spec| spec.name.chars().count()).max().unwrap_or(0).min(32);
    for spec in live.iter().take(SHOWN_SERVERS) {
        let target = target_text(&spec.target);
        text += &format!("  {:width$}  {target}\n", one_line(&spec.name));
    }
    if live.len() > SHOWN_SERVERS {
        text += &format!("  … and {} more\n", live.len() - SHOWN_SERVERS);
    }
    let answer = ask(&text, "Start them?");
    // Otherwise they are reported where the sources are read.
    if !matches!(answer, Answer::Yes) {
        print_plan_mistakes(plan);
    }
    match answer {
        Answer::Yes => Ok(()),
        Answer::No => bail!("nothing was started"),
        Answer::NotATerminal => bail!(
            "the servers in `{name}` are not started without your consent; to start them: `{}`",
            visible(&own_command_with(name))
        ),
    }
}

/// What a source starts or connects to, on one line. Addresses and commands are shown without
/// secrets.
fn target_text(target: &SourceTarget) -> String {
    let text = match target {
        SourceTarget::Server(server, _) => match shown_connection(server) {
            Connection::Stdio { command } => command.join(" "),
            Connection::Http { url } | Connection::Sse { url } | Connection::WebSocket { url } => {
                format!("a connection to {}", redacted_url(&url))
            }
        },
        SourceTarget::Program(path) => path.display().to_string(),
        SourceTarget::Executables(folder) => format!("each program in {}", folder.display()),
        SourceTarget::Definitions(path) => path.display().to_string(),
        SourceTarget::Builtin(toolset, _) => format!("the built-in toolset {toolset}"),
    };
    shorten(&one_line(&text), SHOWN_COMMAND)
}

/// A file in this folder or above as a user would name it: `toolwright.toml`, `../toolwright.toml`.
fn relative_name(path: &Path, here: &Path) -> String {
    let above = here.ancestors().position(|folder| path.parent() == Some(folder)).unwrap_or(0);
    let relative: PathBuf =
        std::iter::repeat_n("..".as_ref(), above).chain(path.file_name()).collect();
    relative.display().to_string()
}
