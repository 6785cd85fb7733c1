//! The binary `toolwright`. Here the outside world is touched: arguments, files, standard streams.
//! What is done with what was read is in the crates below.

mod args;
mod call;
mod card;
mod check;
mod explain;
mod list;
mod manual;
mod md;
mod output;
mod record;
mod report;
mod serve;
mod show;
mod sources;
mod validate;

use clap::Parser;

use args::{Args, Command};
use output::Exit;

fn main() -> std::process::ExitCode {
    let args = Args::parse();
    let result = match args.command {
        Command::Show(args) => show::run(&args),
        Command::List(args) => list::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Call(args) => call::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Md(args) => md::run(&args),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command } => manual::page(command.as_deref()),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) if output::is_broken_pipe(&error) => Exit::Clean.into(),
        Err(error) => {
            output::complain(&error);
            Exit::CouldNotRun.into()
        }
    }
}
