//! One pool for tests that need nothing special, and one line per call.

use std::sync::{LazyLock, RwLock};
use std::time::Duration;

use serde_json::json;
use toolwright_sandbox::{
    GuestLimits, Json, PoolOptions, Program, ProgramForm, ProgramInput, ProgramOutput,
    SandboxError, WorkerCommand, WorkerPool,
};

pub(crate) static POOL: LazyLock<WorkerPool> = LazyLock::new(|| pool(2));

/// Where all tests share one process, who measures its memory must be alone (`write`) with who
/// fills it (`read`).
pub(crate) static ALONE: RwLock<()> = RwLock::new(());

pub(crate) fn worker() -> WorkerCommand {
    WorkerCommand::new(env!("CARGO_BIN_EXE_toolwright-sandbox-worker"))
}

/// The worker of tests: see `tests/convict`.
pub(crate) fn convict(words: &[&str]) -> WorkerCommand {
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_sandbox-convict"));
    words.iter().fold(command, |command, word| command.arg(word))
}

pub(crate) fn pool(workers: usize) -> WorkerPool {
    WorkerPool::new(PoolOptions { workers, ..PoolOptions::new(worker()) })
}

/// Short, but far above what honest code takes.
pub(crate) fn tight() -> GuestLimits {
    GuestLimits { cpu: Duration::from_millis(100), ..GuestLimits::default() }
}

pub(crate) fn script(pool: &WorkerPool, source: &str) -> Program {
    pool.compile_blocking(source, ProgramForm::Script, None).expect("it compiles")
}

pub(crate) fn run_with(
    source: &str,
    args: Json,
    limits: &GuestLimits,
) -> Result<ProgramOutput, SandboxError> {
    let program = POOL.compile_blocking(source, ProgramForm::Script, None)?;
    POOL.run_blocking(&program, &ProgramInput::args(args), limits, None)
}

pub(crate) fn run(source: &str) -> Result<ProgramOutput, SandboxError> {
    run_with(source, json!({}), &GuestLimits::default())
}

/// Whether the pool answers.
pub(crate) fn assert_alive(pool: &WorkerPool) {
    let program = script(pool, "module.exports = ({ n }) => n + 1");
    let output = pool.run_blocking(
        &program,
        &ProgramInput::args(json!({ "n": 1 })),
        &GuestLimits::default(),
        None,
    );
    assert_eq!(output.expect("the next call succeeds").value, json!(2));
}

/// Bytes of memory that this process has resident.
pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: usize =
        status.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a number");
    pages * 4096
}

/// Descriptors that this process has open.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux").count()
}
