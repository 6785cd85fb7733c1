//! This binary as a worker of the sandbox.

use anyhow::Context;
use toolwright_sandbox::WorkerCommand;

/// The word that makes this binary a worker. Not a command: nobody should see it in a list.
pub(crate) const WORKER: &str = "sandbox-worker";

/// How the sandbox starts its workers: this very binary, with that word.
pub(crate) fn worker() -> anyhow::Result<WorkerCommand> {
    let program =
        std::env::current_exe().context("cannot find this program, which sandbox workers are made of")?;
    Ok(WorkerCommand::new(program).arg(WORKER))
}
