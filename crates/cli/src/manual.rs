//! Generated texts: `toolwright completions` and `toolwright man` from the types in `args`, like
//! `--help`; `toolwright schema` from the table of keys of the configuration. The pages of
//! diagnostics codes are in `explain`.

use std::io;

use anyhow::bail;
use clap::CommandFactory;
use clap_complete::Shell;
use toolwright_source::words::nearest_word;

use crate::args::CliArgs;
use crate::output::{self, ExitStatus};

/// Prints the completion script of a shell.
///
/// # Errors
/// If stdout cannot be written.
pub(crate) fn print_completions(shell: Shell) -> anyhow::Result<ExitStatus> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut CliArgs::command(), "toolwright", &mut text);
    output::print_unfiltered(&String::from_utf8_lossy(&text))?;
    Ok(ExitStatus::Clean)
}

/// Prints the JSON Schema of `toolwright.toml`.
///
/// # Errors
/// If stdout cannot be written.
pub(crate) fn print_schema() -> anyhow::Result<ExitStatus> {
    output::print_json(&toolwright_workspace::config_schema())?;
    Ok(ExitStatus::Clean)
}

/// Prints the manual page of the program, or of one of its commands, in roff for `man`.
///
/// # Errors
/// If there is no such command, or stdout cannot be written.
pub(crate) fn print_page(command: Option<&str>) -> anyhow::Result<ExitStatus> {
    // `clap` adds a command `help`, which has no page of its own.
    let mut program = CliArgs::command().disable_help_subcommand(true);
    program.build();
    let page = match command {
        None => render(program)?,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => render(command.clone().display_name(format!("toolwright-{name}")))?,
            None => {
                let names: Vec<&str> =
                    program.get_subcommands().map(clap::Command::get_name).collect();
                let meant = nearest_word(name, names.iter().copied());
                let help =
                    meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default();
                bail!("unknown command `{name}`{help}");
            }
        },
    };
    output::print_unfiltered(&page)?;
    Ok(ExitStatus::Clean)
}

fn render(command: clap::Command) -> io::Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
