//! The sandbox for JavaScript as this binary sets it up: its workers are processes of the same
//! binary, started with a hidden argument. One file to install, and worker and parent always have
//! the same version. The jail and the protocol are in `toolwright_sandbox`.

use std::sync::Arc;

use anyhow::Context;
use toolwright_sandbox::{JailReport, JailReportCallback, PoolOptions, WorkerCommand, WorkerPool};

use crate::messages;

/// The first argument that makes this binary a worker. It is not a command of `args`, so that it
/// does not appear in the help.
pub(crate) const WORKER_ARGUMENT: &str = "sandbox-worker";

/// The command line that starts a worker.
///
/// # Errors
/// If the path of this binary cannot be found, as after it was deleted.
pub(crate) fn worker_command() -> anyhow::Result<WorkerCommand> {
    let program = std::env::current_exe()
        .context("cannot find the file of this program, which is needed to start the sandbox")?;
    Ok(WorkerCommand::new(program).arg(WORKER_ARGUMENT))
}

/// A pool of workers, which are started when they are needed. Missing layers of their jail are
/// reported on stderr; with `require_jail` such workers run nothing.
pub(crate) fn new_pool(require_jail: bool) -> anyhow::Result<WorkerPool> {
    let report_missing = |report: &JailReport| {
        for (layer, reason) in report.missing() {
            messages::print_note(&format!(
                "the sandbox lacks the layer `{}` of its jail: {reason}",
                layer.name()
            ));
        }
    };
    let on_jail_report = Some(JailReportCallback(Arc::new(report_missing)));
    Ok(WorkerPool::new(PoolOptions {
        require_jail,
        on_jail_report,
        ..PoolOptions::new(worker_command()?)
    }))
}
