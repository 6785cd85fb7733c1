//! Completions and manual pages, from the definition of the command line.

use std::io;

use anyhow::bail;
use clap::CommandFactory;
use clap_complete::Shell;
use toolwright_source::words::nearest_word;

use crate::args::Args;
use crate::output::{self, Exit};

pub(crate) fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "toolwright", &mut text);
    output::print_raw(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Clean)
}

/// The page of the program, or of one of its commands.
pub(crate) fn page(command: Option<&str>) -> anyhow::Result<Exit> {
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    let page = match command {
        None => rendered(program)?,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => rendered(command.clone().display_name(format!("toolwright-{name}")))?,
            None => {
                let names: Vec<&str> =
                    program.get_subcommands().map(clap::Command::get_name).collect();
                let meant = nearest_word(name, names.iter().copied());
                let help =
                    meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default();
                bail!("there is no command `{name}`{help}");
            }
        },
    };
    output::print_raw(&page)?;
    Ok(Exit::Clean)
}

fn rendered(command: clap::Command) -> io::Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
