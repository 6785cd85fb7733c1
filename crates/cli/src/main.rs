//! The binary `toolwright`. Here the outside world is touched: arguments, files, standard streams.
//! What is done with what was read is in the crates below.

mod args;
mod call;
mod card;
mod check;
mod doctor;
mod environment;
mod eval;
mod explain;
mod list;
mod manual;
mod md;
mod messages;
mod output;
mod report;
mod runtime;
mod sandbox;
mod script_analyzer;
mod serve;
mod show;
mod sources;
mod test;
mod validate;

use clap::Parser;

use args::{Args, Command};
use output::Exit;

fn main() -> std::process::ExitCode {
    // Before anything is read, and before any thread: the worker's jail is for the whole process.
    if std::env::args_os().nth(1).is_some_and(|word| word == sandbox::WORKER) {
        return toolwright_sandbox::worker_main();
    }
    let args = Args::parse();
    let result = match args.command {
        Command::Show(args) => show::run(&args),
        Command::List(args) => list::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Call(args) => call::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Doctor => doctor::run(),
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
