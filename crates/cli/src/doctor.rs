//! `toolwright doctor`: which layers of the sandbox's jail this system has, told by a worker that
//! was really started.

use std::fmt::Write as _;

use toolwright_sandbox::{
    GuestLimits, JailReport, PoolOptions, ProgramForm, ProgramInput, WorkerPool,
};

use crate::output::{self, Exit};
use crate::sandbox;

pub(crate) fn run() -> anyhow::Result<Exit> {
    let pool = WorkerPool::new(PoolOptions { workers: 1, ..PoolOptions::new(sandbox::worker()?) });
    let report = pool.jail_blocking()?;
    let program =
        pool.compile_blocking("module.exports = ({ n }) => n + 1", ProgramForm::Script, None)?;
    let input = ProgramInput::args(serde_json::json!({ "n": 1 }));
    let output = pool.run_blocking(&program, &input, &GuestLimits::default(), None)?;
    anyhow::ensure!(output.value == 2, "the sandbox computed that 1 + 1 is {}", output.value);
    output::print(&told(&report))?;
    Ok(if report.is_complete() { Exit::Clean } else { Exit::Findings })
}

/// The report as people read it: a line per layer, then what follows from it.
fn told(report: &JailReport) -> String {
    let mut text = String::from("sandbox: a worker started and ran a program\n");
    for (layer, missing) in report.layers() {
        let (state, what) = match missing {
            None => ("ok", layer.purpose().to_owned()),
            Some(reason) => ("missing", reason.to_owned()),
        };
        let _ = writeln!(text, "  {:<18} {state:<8} {what}", layer.name());
    }
    text.push_str(if report.is_complete() {
        "every layer of the jail is there\n"
    } else {
        "programs still run, in what is left of the jail; `--require-jail` refuses to run them\n"
    });
    text
}
