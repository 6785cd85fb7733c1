//! The binary `toolwright`: chooses the command, runs it, and turns its result into an exit status.
//!
//! This crate is the only one that reads arguments and environment variables and that prints. What
//! a command does with definitions is in the libraries; a command's file here turns arguments into
//! options, calls a library, and turns the result into text.
//!
//! ```text
//! args ─▶ one of: show list check cost convert diff upgrade formats new explain init install call
//!                 serve audit trust grants agent validate test eval doctor md manual
//!            ├ sources: which definitions      ├ report, messages: diagnostics as text
//!            ├ runtime, sandbox: how to run    └ output: the standard streams, exit status
//!            └ environment: variables
//! ```
//!
//! The same binary is also the worker of the sandbox (`sandbox::WORKER_ARGUMENT`) and the one that
//! parses JavaScript (`script_analyzer::WORKER_ARGUMENT`).

// The modules of the commands, and those that commands share. A new command is a variant of
// `CliCommand`, a line in `run`, and its file here.
mod agent;
mod args;
mod audit;
mod browser;
mod browser_command;
mod builtin_tools;
mod call;
mod check;
mod convert;
mod cost;
mod diff;
mod doctor;
mod environment;
mod eval;
mod explain;
mod formats;
mod found_sources;
mod grant_question;
mod grants;
mod init;
mod install;
mod list;
mod loss_report;
mod manual;
mod md;
mod messages;
mod new;
mod output;
mod question;
mod reachable_files;
mod record_text;
mod report;
mod runtime;
mod sandbox;
mod saved_media;
mod script_analyzer;
mod serve;
mod show;
mod sources;
mod start_progress;
mod test;
mod trust;
mod upgrade;
mod validate;
mod vendor_calls;

use clap::Parser;

use args::{CliArgs, CliCommand};
use output::ExitStatus;

/// The order matters: first the workers, which must not share anything with the rest; then hiding
/// secrets, before anything could read them; then arguments, and `--env` before any thread.
///
/// An error is printed on stderr and gives the exit status 2. A closed pipe on stdout is not an
/// error.
fn main() -> std::process::ExitCode {
    // Before anything else: the jail of a worker restricts the whole process, so there must be no
    // other thread and no open file yet.
    let first_argument = std::env::args_os().nth(1).unwrap_or_default();
    if first_argument == sandbox::WORKER_ARGUMENT {
        return toolwright_sandbox::worker_main();
    }
    if first_argument == script_analyzer::WORKER_ARGUMENT {
        return script_analyzer::worker_main();
    }
    // The token of `serve`, and other secrets, for which what it starts could look. If it fails,
    // the file is still readable by this user and root only.
    let _ = toolwright_sandbox::hide_initial_environment(&[toolwright_exec::TREE_VARIABLE]);
    let args = CliArgs::try_parse().unwrap_or_else(|error| args::with_tips(error).exit());
    // Before any thread is started that could look a variable up.
    let passed_on = environment::pass_on(args.command.environment());
    let result = passed_on.and_then(|()| run(args.command));
    match result {
        Ok(exit) => exit.into(),
        // As in `toolwright list … | head`: the reader has got what it needed.
        Err(error) if output::is_broken_pipe(&error) => ExitStatus::Clean.into(),
        Err(error) => {
            output::print_error(&error);
            ExitStatus::CouldNotRun.into()
        }
    }
}

/// One line per command; each `run` takes its own arguments and returns the exit status.
fn run(command: CliCommand) -> anyhow::Result<ExitStatus> {
    match command {
        CliCommand::Show(args) => show::run(&args),
        CliCommand::List(args) => list::run(&args),
        CliCommand::Check(args) => check::run(&args),
        CliCommand::Cost(args) => cost::run(&args),
        CliCommand::Convert(args) => convert::run(&args),
        CliCommand::Diff(args) => diff::run(&args),
        CliCommand::Upgrade(args) => upgrade::run(&args),
        CliCommand::Formats(args) => formats::run(&args),
        CliCommand::New(args) => new::run(&args),
        CliCommand::Explain(args) => explain::run(&args),
        CliCommand::Init(args) => init::run(&args),
        CliCommand::Install(args) => install::run(&args),
        CliCommand::Call(args) => call::run(&args),
        CliCommand::Serve(args) => serve::run(&args),
        CliCommand::Audit(args) => audit::run(&args),
        CliCommand::Trust(args) => trust::run(&args),
        CliCommand::Grants(args) => grants::run(&args),
        CliCommand::Agent(args) => agent::run(&args),
        CliCommand::Validate(args) => validate::run(&args),
        CliCommand::Test(args) => test::run(&args),
        CliCommand::Eval(args) => eval::run(&args),
        CliCommand::Doctor(args) => doctor::run(&args),
        CliCommand::Browser(args) => browser_command::run(&args),
        CliCommand::Md(args) => md::run(&args),
        CliCommand::Schema => manual::print_schema(),
        CliCommand::Completions { shell } => manual::print_completions(shell),
        CliCommand::Man { command } => manual::print_page(command.as_deref()),
    }
}
