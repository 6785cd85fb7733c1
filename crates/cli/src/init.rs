//! `toolwright init`: writes a `toolwright.toml` of the servers that the MCP clients on this
//! machine already have, after showing it. Which files these are is in `toolwright_workspace`.
//!
//! ```text
//! files of clients ─ collect_servers ─▶ ClientConfig: text, left_out, variables ─ question ─▶ file
//! ```
//!
//! Secrets in the settings of clients are not copied: the new file refers to variables, and a note
//! says which ones to set. The files of the clients stay as they are; `install` changes them.

use anyhow::{Context, anyhow, bail};
use toolwright_workspace::{ClientConfig, collect_servers, replace_file};

use crate::args::InitArgs;
use crate::output::{self, ExitStatus};
use crate::question::{Answer, ask};
use crate::report::plural;
use crate::{environment, messages};

/// The file that is written.
const FILE: &str = "toolwright.toml";

/// Runs the command. The new file goes to stdout, what is to be known about it to stderr. A file
/// that exists is replaced only with `--force`, and only if it is still what was read.
///
/// # Errors
/// If no client has a server, the file exists, or the person does not want it.
pub(crate) fn run(args: &InitArgs) -> anyhow::Result<ExitStatus> {
    let here = std::env::current_dir().context("cannot find the working directory")?;
    let path = here.join(FILE);
    let before = match path.symlink_metadata() {
        Ok(_) if !args.force => bail!(
            "there is a `{FILE}` here already, and it was left as it is; `--force` replaces it"
        ),
        Ok(_) => Some(toolwright_workspace::read_file(&path)?),
        Err(_) => None,
    };
    let config = collect_servers(&environment::client_folders(here)?);
    if config.servers == 0 {
        config.left_out.iter().for_each(|line| messages::print_note(line));
        let files = config.files.iter().chain(&config.absent);
        let files: Vec<String> = files.map(|file| format!("`{file}`")).collect();
        bail!("no MCP client here has a configured server; looked into {}", files.join(", "));
    }
    output::print(&(output::visible_lines(&config.text) + "\n"))?;
    print_summary(&config, before.is_some());
    if !args.yes {
        match ask("", &format!("Write it to `{FILE}`?")) {
            Answer::Yes => {}
            Answer::No => bail!("nothing was written"),
            Answer::NotATerminal => bail!("nothing was written: add `--yes` to write it"),
        }
    }
    replace_file(&path, before.as_deref(), config.text.as_bytes())
        .map_err(|why| anyhow!("{why}"))?;
    messages::print_note(&format!("written: {FILE}; `toolwright check {FILE}` checks its servers"));
    Ok(ExitStatus::Clean)
}

/// Writes where the servers are from and which variables to set. `replaces` is true if a file will
/// be lost. On stderr, as stdout has the new file.
fn print_summary(config: &ClientConfig, replaces: bool) {
    let servers = plural(config.servers, "server");
    messages::print_note(&format!("{servers} of {}", config.files.join(", ")));
    config.left_out.iter().for_each(|line| messages::print_note(line));
    for (variable, origin) in &config.variables {
        messages::print_note(&format!(
            "set the variable {variable}: its value is in the settings of {origin}, and was not \
             copied"
        ));
    }
    if replaces {
        messages::print_note(&format!("this replaces the `{FILE}` that is here"));
    }
}
