//! This binary as a worker of the sandbox.

use std::sync::Arc;

use anyhow::Context;
use toolwright_sandbox::{JailReport, JailReportCallback, PoolOptions, WorkerCommand, WorkerPool};

use crate::messages;

/// The word that makes this binary a worker. Not a command: nobody should see it in a list.
pub(crate) const WORKER: &str = "sandbox-worker";

/// How the sandbox starts its workers: this very binary, with that word.
pub(crate) fn worker() -> anyhow::Result<WorkerCommand> {
    let program = std::env::current_exe()
        .context("cannot find this program, which sandbox workers are made of")?;
    Ok(WorkerCommand::new(program).arg(WORKER))
}

/// Workers that are started when they are needed. What their jail lacks is said on stderr.
pub(crate) fn pool(require_jail: bool) -> anyhow::Result<WorkerPool> {
    let tell = |report: &JailReport| {
        for (layer, reason) in report.missing() {
            messages::note(&format!(
                "the sandbox lacks the layer `{}` of its jail: {reason}",
                layer.name()
            ));
        }
    };
    let on_jail_report = Some(JailReportCallback(Arc::new(tell)));
    Ok(WorkerPool::new(PoolOptions { require_jail, on_jail_report, ..PoolOptions::new(worker()?) }))
}
