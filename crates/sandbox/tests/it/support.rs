//! One pool for tests that need nothing special, one-line calls, and waiting for events.

use std::path::{Path, PathBuf};
use std::sync::{LazyLock, RwLock};
use std::time::{Duration, Instant};

use serde_json::json;
use toolwright_sandbox::{
    GuestLimits, Json, PoolOptions, Program, ProgramForm, ProgramInput, ProgramOutput,
    SandboxError, WorkerCommand, WorkerPool,
};

pub(crate) static POOL: LazyLock<WorkerPool> = LazyLock::new(|| pool(2));

/// Held by tests that measure the memory or processor time of this process (`write`), and by those
/// that use much of either (`read`). It matters where all tests share one process.
pub(crate) static PROCESS_METRICS: RwLock<()> = RwLock::new(());

/// How long tests wait for an event that comes within milliseconds on an idle machine. Far longer
/// than a machine under load takes, so that a failure means that the event never comes.
pub(crate) const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// The executable of an example, which `cargo test` and `cargo nextest run` build along with the
/// tests: `target/debug/deps/it-…` is this test, `target/debug/examples/…` the example.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let target = test.parent().and_then(Path::parent).expect("a path in the target folder");
    let path = target.join("examples").join(name);
    let path_shown = path.display();
    assert!(path.is_file(), "`{path_shown}` does not exist: `--test` does not build examples");
    path
}

pub(crate) fn worker() -> WorkerCommand {
    WorkerCommand::new(example("sandbox-worker"))
}

/// A worker that misbehaves as its arguments say: see `tests/misbehaving_worker`.
pub(crate) fn misbehaving_worker(args: &[&str]) -> WorkerCommand {
    let command = WorkerCommand::new(example("sandbox-misbehaving-worker"));
    args.iter().fold(command, |command, arg| command.arg(arg))
}

/// A worker that answers every call with a frame of this kind and content. See
/// `tests/misbehaving_worker` for `number`.
pub(crate) fn forging_worker(kind: &str, content: &str, number: &str) -> WorkerCommand {
    let folder = std::env::temp_dir().join(format!("sandbox-forge-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    // Named after the content, so that the same test can use several.
    let name = format!("{:x}", std::hash::BuildHasher::hash_one(&*HASHER, content));
    let file = folder.join(name);
    std::fs::write(&file, content).expect("written");
    misbehaving_worker(&["--forge", kind, file.to_str().expect("UTF-8"), number])
}

static HASHER: LazyLock<std::hash::RandomState> = LazyLock::new(std::hash::RandomState::new);

pub(crate) fn pool(workers: usize) -> WorkerPool {
    WorkerPool::new(PoolOptions { workers, ..PoolOptions::new(worker()) })
}

/// Limits for programs that never end: short, but far above what an ordinary program uses.
pub(crate) fn short_time() -> GuestLimits {
    GuestLimits { cpu: Duration::from_millis(100), ..GuestLimits::default() }
}

/// Limits for programs that a test ends itself.
pub(crate) fn unlimited_time() -> GuestLimits {
    let hour = Duration::from_secs(3600);
    GuestLimits { cpu: hour, wall: hour, ..GuestLimits::default() }
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

/// Runs a trivial program.
pub(crate) fn assert_works(pool: &WorkerPool) {
    let program = script(pool, "module.exports = ({ n }) => n + 1");
    let input = ProgramInput::args(json!({ "n": 1 }));
    let output = pool.run_blocking(&program, &input, &GuestLimits::default(), None);
    assert_eq!(output.expect("the next call succeeds").value, json!(2));
}

/// Waits until a condition holds.
pub(crate) fn wait_until(event: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < EVENT_TIMEOUT, "timed out: {event}");
        // Only the interval of the polling: no order depends on it.
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn signal(name: &str, pid: u32) {
    let sent = std::process::Command::new("kill").args([name, &pid.to_string()]).status();
    assert!(sent.expect("`kill` starts").success(), "kill {name} {pid}");
}

/// Bytes of memory of this process that are resident.
pub(crate) fn resident() -> usize {
    resident_pages("self") * 4096
}

/// Pages of memory of a process that are resident.
pub(crate) fn resident_pages(process: &str) -> usize {
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).expect("it runs");
    statm.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a number")
}

/// The number of descriptors that this process has open.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("the list of descriptors").count()
}
