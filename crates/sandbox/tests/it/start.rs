//! The start and end of workers: programs that are not workers, jails that lack a layer, workers
//! that break the protocol, and workers whose parent ends.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use toolwright_sandbox::{
    GuestLimits, JailLayer, JailPolicy, LayerState, PoolOptions, ProgramForm, ProgramInput,
    SandboxErrorCode, WorkerCommand, WorkerPool,
};

use crate::support::{
    assert_works, example, forging_worker, misbehaving_worker, pool, wait_until, worker,
};

fn pool_of(command: WorkerCommand) -> WorkerPool {
    WorkerPool::new(PoolOptions { workers: 1, ..PoolOptions::new(command) })
}

fn pool_with_policy(command: WorkerCommand, jail_policy: JailPolicy) -> WorkerPool {
    WorkerPool::new(PoolOptions { workers: 1, jail_policy, ..PoolOptions::new(command) })
}

fn start_error(pool: &WorkerPool) -> (SandboxErrorCode, String) {
    let compiled = pool.compile_blocking("1", ProgramForm::Script, None);
    let error = compiled.expect_err("it cannot start");
    (error.code, error.message)
}

#[test]
fn programs_that_are_not_workers_are_named() {
    let (code, message) = start_error(&pool_of(WorkerCommand::new("/nowhere/worker")));
    assert_eq!(code, SandboxErrorCode::StartFailed);
    assert!(
        message.starts_with("cannot start the worker `/nowhere/worker`: No such file"),
        "{message}"
    );
    for wrong in ["/bin/true", "/bin/false", "/bin/pwd"] {
        let (code, message) = start_error(&pool_of(WorkerCommand::new(wrong)));
        assert_eq!(code, SandboxErrorCode::StartFailed);
        assert_eq!(
            message,
            format!(
                "`{wrong}` ended or sent something else than a greeting: it is not a sandbox worker"
            )
        );
    }
    let shell = WorkerCommand::new("/bin/sh").arg("-c").arg("echo hello >&0; read x");
    let (code, message) = start_error(&pool_of(shell));
    assert_eq!(code, SandboxErrorCode::StartFailed, "{message}");
    // A directory, and a file that cannot be executed.
    for wrong in ["/", "/etc/passwd"] {
        let (code, _) = start_error(&pool_of(WorkerCommand::new(wrong)));
        assert_eq!(code, SandboxErrorCode::StartFailed);
    }
}

#[test]
fn each_layer_can_be_required() {
    for layer in JailLayer::ALL {
        let lacking = || misbehaving_worker(&["--without", layer.name()]);
        let refusal = format!("the jail lacks its layer `{}`: left out on request", layer.name());
        let strict = pool_with_policy(lacking(), JailPolicy::RequireAll);
        assert_eq!(start_error(&strict), (SandboxErrorCode::StartFailed, refusal.clone()));
        let essential = pool_with_policy(lacking(), JailPolicy::RequireEssential);
        if matches!(layer, JailLayer::Landlock | JailLayer::Seccomp) {
            assert_eq!(start_error(&essential).1, refusal);
        } else {
            assert_works(&essential);
        }
        let pool = pool_of(lacking());
        assert_works(&pool);
        let report = pool.jail_blocking().expect("a worker");
        assert_eq!(report.deficiencies().collect::<Vec<_>>(), [refusal]);
        assert!(!report.is_complete());
    }
    assert_works(&pool_with_policy(worker(), JailPolicy::RequireAll));
}

/// The rules for files suffice where the essential layers are required, and do not where all are.
#[test]
fn an_old_landlock_holds_in_part() {
    let worker = example("sandbox-worker").display().to_string();
    let old = |version| misbehaving_worker(&["--landlock", version, &worker]);
    for (version, lack) in [
        ("1", "truncating files (Linux 6.2), TCP ports (Linux 6.7), commands to devices"),
        ("3", "without TCP ports (Linux 6.7), commands to devices (Linux 6.10), signals"),
        ("5", "without signals and abstract sockets (Linux 6.12)"),
    ] {
        let pool = pool_with_policy(old(version), JailPolicy::RequireEssential);
        assert_works(&pool);
        let report = pool.jail_blocking().expect("a worker");
        let states: Vec<_> =
            report.layers().filter(|(_, state)| **state != LayerState::Active).collect();
        let [(JailLayer::Landlock, LayerState::Partial(reason))] = &states[..] else {
            panic!("{version}: {states:?}")
        };
        assert!(reason.contains(lack), "{version}: {reason}");
        let (code, message) = start_error(&pool_with_policy(old(version), JailPolicy::RequireAll));
        assert_eq!(code, SandboxErrorCode::StartFailed);
        assert!(
            message.starts_with("the layer `landlock` of the jail holds only in part: this kernel"),
            "{message}"
        );
    }
    assert_works(&pool_with_policy(old("6"), JailPolicy::RequireAll));
    let none = pool_with_policy(old("0"), JailPolicy::RequireEssential);
    assert!(start_error(&none).1.contains("`landlock`: the kernel has no landlock"));
}

#[test]
fn the_help_for_a_refused_jail_ends_the_message() {
    let options = PoolOptions {
        jail_policy: JailPolicy::RequireEssential,
        jail_help: "use another kernel",
        ..PoolOptions::new(misbehaving_worker(&["--without", "seccomp"]))
    };
    let (_, message) = start_error(&WorkerPool::new(options));
    assert!(message.ends_with("left out on request; use another kernel"), "{message}");
}

#[test]
fn a_small_stack_is_enlarged_or_not_exceeded() {
    let deep = "const f = () => 1 + f(); f();";
    let worker = example("sandbox-worker");
    let worker = worker.display();
    // The first is a soft limit, which the worker can raise; the others are hard limits.
    for limit in ["ulimit -S -s 2048", "ulimit -s 2048", "ulimit -s 1024", "ulimit -s 512"] {
        let shell =
            WorkerCommand::new("/bin/sh").arg("-c").arg(format!("{limit}; exec '{worker}'"));
        let pool = pool_of(shell);
        let program = pool.compile_blocking(deep, ProgramForm::Script, None).expect("it compiles");
        let limits = GuestLimits { stack: 4 << 20, ..GuestLimits::default() };
        let error = pool
            .run_blocking(&program, &ProgramInput::default(), &limits, None)
            .expect_err("too deep");
        assert_eq!(error.code, SandboxErrorCode::StackOverflow, "{limit}: {error}");
        assert_works(&pool);
        assert_eq!(pool.started(), 1, "{limit}");
    }
}

#[test]
fn a_worker_with_a_malformed_answer_is_killed() {
    let many_parts = format!("[{}0]", "[0],".repeat(200_000));
    let too_long = format!("\"{}\"", "x".repeat((1 << 20) - 2));
    let limits = GuestLimits { output: (1 << 20) - 1, ..GuestLimits::default() };
    let too_deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    // A trace that would take minutes to look up: each position costs a search in the source.
    let frames = vec!["[1000000,1]"; 20_000].join(",");
    let long_trace = format!(r#"{{"code":"THREW","message":"x","trace":[{frames}]}}"#);
    let big_failure = format!(r#"{{"code":"THREW","message":"{}"}}"#, "x".repeat(300_000));
    let log_line = format!("\0{}", "x".repeat(200_000));
    // `6` is a result, `7` a failure, `10` a line of the log, and `5` bytecode, which was not
    // requested.
    for (kind, body, number) in [
        ("6", many_parts.as_str(), "right"),
        ("6", &too_long, "right"),
        ("6", &too_deep, "right"),
        ("6", "{", "right"),
        ("6", "", "right"),
        ("6", "[1]", "wrong"),
        ("5", "1", "right"),
        ("7", "{", "right"),
        ("7", r#"{"code":"NO_SUCH_CODE","message":"x"}"#, "right"),
        ("7", r#"{"code":"THREW"}"#, "right"),
        ("7", r#"{"code":"THREW","message":"x","trace":[]}"#, "wrong"),
        ("7", &long_trace, "right"),
        ("7", &big_failure, "right"),
        ("10", &log_line, "right"),
        ("10", "\0x", "wrong"),
        ("4", "twsandbx", "right"),
        ("1", "", "right"),
        ("200", "", "right"),
    ] {
        let pool = pool_of(forging_worker(kind, body, number));
        // Not ASCII, so that positions in a trace are looked up in it.
        let source = format!("/* ä */{}", "\n".repeat(1_000_000));
        let program = pool.compile_blocking(&source, ProgramForm::Script, None).expect("forged");
        let result = pool.run_blocking(&program, &ProgramInput::default(), &limits, None);
        let error = result.expect_err("a malformed answer");
        assert_eq!(error.code, SandboxErrorCode::WorkerDied, "{kind} {body:.40}");
        assert_eq!(pool.idle(), [0; 0], "it must not serve again: {kind} {body:.40}");
    }
    let pool = pool_of(forging_worker("6", "[1]", "right"));
    let run = || {
        let program = pool.compile_blocking("", ProgramForm::Script, None).expect("forged");
        pool.run_blocking(&program, &ProgramInput::default(), &GuestLimits::default(), None)
    };
    assert_eq!(run().expect("a well-formed answer").value, json!([1]));
    assert_eq!(pool.idle().len(), 1);
}

/// A worker that was taken over could answer before it is asked, and so decide what the next caller
/// gets to see.
#[test]
fn an_answer_to_no_request_ends_the_worker() {
    let pool = pool_of(forging_worker("6", "[1]", "twice"));
    let program = pool.compile_blocking("", ProgramForm::Script, None).expect("forged");
    for call in 0..3 {
        let limits = GuestLimits::default();
        let result = pool.run_blocking(&program, &ProgramInput::default(), &limits, None);
        // The second frame has arrived before the next call, and makes the worker unusable; or it
        // arrives during the call, with the number of the call before.
        match result {
            Ok(output) => assert_eq!(output.value, json!([1]), "call {call}"),
            Err(error) => assert_eq!(error.code, SandboxErrorCode::WorkerDied, "call {call}"),
        }
    }
    assert!(pool.started() > 1, "the first worker served again");
}

#[test]
fn a_worker_outlives_the_thread_and_the_runtime_that_started_it() {
    let pool = pool(1);
    let program = {
        let pool = pool.clone();
        let started = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            let source = "module.exports = () => 1";
            runtime.block_on(pool.compile(source, ProgramForm::Script, None)).expect("it compiles")
        });
        started.join().expect("no panic")
    };
    for _ in 0..3 {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let (input, limits) = (ProgramInput::args(json!({})), GuestLimits::default());
        let output = runtime.block_on(pool.run(&program, &input, &limits, None));
        assert_eq!(output.expect("a result").value, json!(1));
    }
    assert_eq!(pool.started(), 1);
}

#[test]
fn workers_end_with_their_pool() {
    let pool = pool(2);
    assert_works(&pool);
    let pids = pool.idle();
    assert!(!pids.is_empty());
    drop(pool);
    wait_until("the workers are reaped", || {
        pids.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists())
    });
}

#[test]
fn workers_end_with_a_parent_that_is_killed() {
    let mut parent = Command::new(example("sandbox-misbehaving-worker"))
        .arg("--parent")
        .arg(example("sandbox-worker"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(parent.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let worker = format!("/proc/{}", line.trim());
    assert!(Path::new(&worker).exists(), "it runs a program");
    parent.kill().expect("our child");
    parent.wait().expect("our child");
    // Another process reaps the worker, sooner or later: until then it is a zombie.
    wait_until("the worker ends", || {
        std::fs::read_to_string(format!("{worker}/stat")).map_or(true, |stat| stat.contains(") Z"))
    });
}

#[test]
fn a_pool_can_be_dropped_inside_of_a_runtime() {
    let pool = pool(1);
    assert_works(&pool);
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async move { drop(pool) });
}
