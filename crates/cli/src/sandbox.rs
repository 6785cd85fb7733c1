//! The sandbox for JavaScript as this binary sets it up: its workers are processes of the same
//! binary, started with a hidden argument. One file to install, and worker and parent always have
//! the same version. The jail and the protocol are in `toolwright_sandbox`.

use std::sync::Arc;

use anyhow::Context;
use toolwright_sandbox::{
    JailPolicy, JailReport, JailReportCallback, PoolOptions, WorkerCommand, WorkerPool,
};

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

/// What users can do where [`JailPolicy::RequireEssential`], the policy of `serve`, refuses a jail.
const WEAK_JAIL_HELP: &str = "`toolwright doctor` describes what to do about it, and \
                              `--allow-weak-jail` runs JavaScript anyway";

/// A pool of workers, which are started when they are needed. If their jail has deficiencies, the
/// first one that starts is the occasion to report them on stderr; workers whose jail the policy
/// does not accept run nothing.
pub(crate) fn new_pool(jail_policy: JailPolicy) -> anyhow::Result<WorkerPool> {
    let jail_help = match jail_policy {
        JailPolicy::RequireEssential => WEAK_JAIL_HELP,
        JailPolicy::AcceptAny | JailPolicy::RequireAll => "",
    };
    let report_deficiencies = move |report: &JailReport| {
        for deficiency in report.deficiencies() {
            messages::print_note(&deficiency);
        }
        if report.refusal(jail_policy).is_some() && !jail_help.is_empty() {
            messages::print_note(&format!("no JavaScript is run: {jail_help}"));
        }
    };
    let on_jail_report = Some(JailReportCallback(Arc::new(report_deficiencies)));
    Ok(WorkerPool::new(PoolOptions {
        jail_policy,
        jail_help,
        on_jail_report,
        ..PoolOptions::new(worker_command()?)
    }))
}
