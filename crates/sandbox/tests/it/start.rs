//! Workers that cannot start, or start without a layer: one clear error, naming the layer.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::json;
use toolwright_sandbox::{
    GuestLimits, JailLayer, PoolOptions, ProgramForm, ProgramInput, SandboxErrorCode,
    WorkerCommand, WorkerPool,
};

use crate::support::{assert_alive, convict, worker};

fn error_of(command: WorkerCommand, require_jail: bool) -> (SandboxErrorCode, String) {
    let pool =
        WorkerPool::new(PoolOptions { workers: 1, require_jail, ..PoolOptions::new(command) });
    let error = pool.compile_blocking("1", ProgramForm::Script, None).expect_err("it cannot start");
    (error.code, error.message)
}

#[test]
fn binaries_that_are_no_workers() {
    let missing = error_of(WorkerCommand::new("/nowhere/worker"), false);
    assert_eq!(missing.0, SandboxErrorCode::StartFailed);
    assert!(
        missing.1.starts_with("cannot start the worker `/nowhere/worker`: No such file"),
        "{}",
        missing.1
    );
    for wrong in ["/bin/true", "/bin/false", "/bin/pwd"] {
        let (code, message) = error_of(WorkerCommand::new(wrong), false);
        assert_eq!(code, SandboxErrorCode::StartFailed);
        assert_eq!(
            message,
            format!("`{wrong}` ended or spoke before greeting: it is no sandbox worker")
        );
    }
    let (code, message) =
        error_of(WorkerCommand::new("/bin/sh").arg("-c").arg("echo hello >&0; read x"), false);
    assert_eq!(code, SandboxErrorCode::StartFailed, "{message}");
    // A directory and a file that cannot be executed.
    for wrong in ["/", "/etc/passwd"] {
        assert_eq!(error_of(WorkerCommand::new(wrong), false).0, SandboxErrorCode::StartFailed);
    }
}

#[test]
fn each_layer_can_be_required() {
    for layer in JailLayer::ALL {
        let lacking = || convict(&["--without", layer.name()]);
        let (code, message) = error_of(lacking(), true);
        assert_eq!(code, SandboxErrorCode::StartFailed);
        assert_eq!(
            message,
            format!("the jail lacks its layer `{}`: left out on request", layer.name())
        );
        let pool = WorkerPool::new(PoolOptions {
            workers: 1,
            require_jail: false,
            ..PoolOptions::new(lacking())
        });
        assert_alive(&pool);
        let report = pool.jail_blocking().expect("a worker");
        assert_eq!(report.missing().collect::<Vec<_>>(), [(layer, "left out on request")]);
        assert!(!report.is_complete());
    }
    assert_alive(&WorkerPool::new(PoolOptions {
        workers: 1,
        require_jail: true,
        ..PoolOptions::new(worker())
    }));
}

#[test]
fn a_small_stack_is_made_larger_or_not_used_up() {
    let deep = "const f = () => 1 + f(); f();";
    let worker = env!("CARGO_BIN_EXE_toolwright-sandbox-worker");
    // The soft limit can be raised, the hard one cannot.
    for limit in ["ulimit -S -s 2048", "ulimit -s 2048", "ulimit -s 1024", "ulimit -s 512"] {
        let shell =
            WorkerCommand::new("/bin/sh").arg("-c").arg(format!("{limit}; exec '{worker}'"));
        let pool = WorkerPool::new(PoolOptions { workers: 1, ..PoolOptions::new(shell) });
        let program = pool.compile_blocking(deep, ProgramForm::Script, None).expect("it compiles");
        let limits = GuestLimits { stack: 4 << 20, ..GuestLimits::default() };
        let error = pool
            .run_blocking(&program, &ProgramInput::default(), &limits, None)
            .expect_err("too deep");
        assert_eq!(error.code, SandboxErrorCode::StackOverflow, "{limit}: {error}");
        assert_alive(&pool);
        assert_eq!(pool.started(), 1, "{limit}");
    }
}

#[test]
fn a_worker_that_lies_is_killed() {
    let many = format!("[{}0]", "[0],".repeat(200_000));
    let long = format!("\"{}\"", "x".repeat((1 << 20) - 2));
    let limits = GuestLimits { output: (1 << 20) - 1, ..GuestLimits::default() };
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    // `6` is a result, `7` a failure, `5` bytecode, which nobody asked for.
    for (kind, body) in [
        ("6", many.as_str()),
        ("6", &long),
        ("6", &deep),
        ("6", "{"),
        ("6", ""),
        ("5", "1"),
        ("7", "{"),
        ("7", r#"{"code":"NO_SUCH_CODE","message":"x"}"#),
        ("7", r#"{"code":"THREW"}"#),
    ] {
        let pool = WorkerPool::new(PoolOptions {
            workers: 1,
            ..PoolOptions::new(convict(&["--lie", kind]))
        });
        let program = pool.compile_blocking(body, ProgramForm::Script, None).expect("it says so");
        let error = pool.run_blocking(&program, &ProgramInput::default(), &limits, None);
        let error = error.expect_err("it makes no sense");
        assert_eq!(error.code, SandboxErrorCode::WorkerDied, "{kind} {body:.40}");
        assert_eq!(pool.idle(), [0; 0], "it must not serve again: {kind} {body:.40}");
    }
    let pool =
        WorkerPool::new(PoolOptions { workers: 1, ..PoolOptions::new(convict(&["--lie", "6"])) });
    let program = pool.compile_blocking("[1]", ProgramForm::Script, None).expect("it says so");
    let output =
        pool.run_blocking(&program, &ProgramInput::default(), &GuestLimits::default(), None);
    assert_eq!(output.expect("this one does").value, json!([1]));
    assert_eq!(pool.idle().len(), 1);
}

#[test]
fn a_worker_outlives_the_thread_and_the_runtime_that_started_it() {
    let pool = crate::support::pool(1);
    let program = {
        let pool = pool.clone();
        let started = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            runtime
                .block_on(pool.compile("module.exports = () => 1", ProgramForm::Script, None))
                .expect("it compiles")
        });
        started.join().expect("nothing panics")
    };
    for _ in 0..3 {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let output = runtime.block_on(pool.run(
            &program,
            &ProgramInput::args(json!({})),
            &GuestLimits::default(),
            None,
        ));
        assert_eq!(output.expect("a result").value, json!(1));
    }
    assert_eq!(pool.started(), 1);
}

#[test]
fn workers_die_with_their_pool() {
    let pool = crate::support::pool(2);
    assert_alive(&pool);
    let pids = pool.idle();
    assert!(!pids.is_empty());
    drop(pool);
    let gone = || pids.iter().all(|pid| !std::path::Path::new(&format!("/proc/{pid}")).exists());
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !gone() {
        assert!(std::time::Instant::now() < end, "a worker is left");
        std::thread::yield_now();
    }
}

#[test]
fn workers_die_with_a_parent_that_is_killed() {
    let mut parent = Command::new(env!("CARGO_BIN_EXE_sandbox-convict"))
        .args(["--parent", env!("CARGO_BIN_EXE_toolwright-sandbox-worker")])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(parent.stdout.take().expect("piped")).read_line(&mut line).expect("the worker");
    let worker = format!("/proc/{}", line.trim());
    assert!(std::path::Path::new(&worker).exists(), "it is at work");
    parent.kill().expect("kill -9");
    parent.wait().expect("it is dead");
    // Who reaps it is not up to us: dead is gone or a zombie.
    let dead = || {
        std::fs::read_to_string(format!("{worker}/stat")).map_or(true, |stat| stat.contains(") Z"))
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !dead() {
        assert!(std::time::Instant::now() < end, "the worker lives on");
        std::thread::yield_now();
    }
}

#[test]
fn a_pool_can_be_dropped_inside_of_a_runtime() {
    let pool = crate::support::pool(1);
    assert_alive(&pool);
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async move { drop(pool) });
}
