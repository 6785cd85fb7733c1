//! Many calls: that overrun, that run at the same time, whose worker is killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use toolwright_sandbox::{GuestLimits, ProgramForm, ProgramInput, SandboxErrorCode};

use crate::support::{ALONE, assert_alive, descriptors, pool, resident, script};

#[test]
fn a_thousand_overruns_lose_no_worker_and_leak_nothing() {
    let _alone = ALONE.write();
    let pool = pool(1);
    let limits = GuestLimits { cpu: Duration::from_millis(5), ..GuestLimits::default() };
    let programs = [
        "for (;;);",
        "module.exports = async () => { for (;;) await null; }",
        "module.exports = () => { try { for (;;); } finally { for (;;); } }",
        "module.exports = () => /^(a+)+$/.test('a'.repeat(40) + 'b')",
        "module.exports = () => ({ get x() { for (;;); } })",
    ]
    .map(|source| script(&pool, source));
    let overrun = |count: usize| {
        for index in 0..count {
            let error = pool
                .run_blocking(
                    &programs[index % programs.len()],
                    &ProgramInput::default(),
                    &limits,
                    None,
                )
                .expect_err("it never ends");
            assert_eq!(error.code, SandboxErrorCode::Timeout);
            assert!(error.cpu < limits.cpu + Duration::from_millis(50), "{:?}", error.cpu);
        }
    };
    overrun(50);
    let pid = pool.idle();
    let worker = || std::fs::read_to_string(format!("/proc/{}/statm", pid[0])).expect("it lives");
    let pages = |statm: String| {
        statm.split(' ').nth(1).and_then(|word| word.parse::<usize>().ok()).expect("a number")
    };
    let (memory, open, theirs) = (resident(), descriptors(), pages(worker()));
    overrun(950);
    assert_eq!(pool.started(), 1, "no worker was lost");
    assert_eq!(pool.idle(), pid);
    // Other tests of this process have descriptors too.
    assert!(descriptors() <= open + 64, "{} descriptors, {open} before", descriptors());
    assert!(resident() < memory + (16 << 20), "{} bytes, {memory} before", resident());
    assert!(pages(worker()) < theirs + 1024, "the worker grew from {theirs} pages to {}", worker());
}

#[test]
fn workers_that_are_killed_leak_nothing() {
    let pool = pool(1);
    // The engine does not notice this one by itself, so it costs a worker.
    let program =
        script(&pool, "const a = new Float64Array(1e6); for (let i = 0; i < 1e3; i++) a.sort()");
    let limits = GuestLimits { cpu: Duration::from_millis(1), ..GuestLimits::default() };
    let open = descriptors();
    for _ in 0..40 {
        let error = pool
            .run_blocking(&program, &ProgramInput::default(), &limits, None)
            .expect_err("it never ends");
        assert_eq!(error.code, SandboxErrorCode::Timeout);
    }
    assert!(pool.started() >= 40);
    assert!(descriptors() <= open + 64);
    assert_alive(&pool);
}

#[test]
fn ten_thousand_calls_at_the_same_time() {
    let _full = ALONE.read();
    let pool = pool(2);
    let program = script(
        &pool,
        "module.exports = async ({ n }) => { await null; return { n, twice: n * 2 }; }",
    );
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let calls: Vec<_> = (0..10_000)
            .map(|n| {
                let (pool, program) = (pool.clone(), program.clone());
                tokio::spawn(async move {
                    let output = pool
                        .run(
                            &program,
                            &ProgramInput::args(json!({ "n": n })),
                            &GuestLimits::default(),
                            None,
                        )
                        .await;
                    assert_eq!(output.expect("a result").value, json!({ "n": n, "twice": n * 2 }));
                })
            })
            .collect();
        for call in calls {
            call.await.expect("every one returns");
        }
    });
    assert_eq!(pool.started(), 2);
}

#[test]
fn killing_a_worker_fails_one_call() {
    let pool = Arc::new(pool(2));
    let program = script(
        &pool,
        "module.exports = () => { const end = Date.now() + 400; while (Date.now() < end); return 'ended'; }",
    );
    assert_alive(&pool);
    let died = AtomicUsize::new(0);
    let ended = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                match pool.run_blocking(
                    &program,
                    &ProgramInput::default(),
                    &GuestLimits::default(),
                    None,
                ) {
                    Ok(output) => {
                        assert_eq!(output.value, json!("ended"));
                        ended.fetch_add(1, Ordering::SeqCst);
                    }
                    Err(error) => {
                        assert_eq!(error.code, SandboxErrorCode::WorkerDied, "{error}");
                        died.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        let started = Instant::now();
        let victim = loop {
            if let Some(pid) = pool.busy().first() {
                break *pid;
            }
            assert!(started.elapsed() < Duration::from_secs(10), "no worker is busy");
            std::thread::yield_now();
        };
        let killed = std::process::Command::new("kill").args(["-9", &victim.to_string()]).status();
        assert!(killed.expect("kill is there").success());
    });
    assert_eq!((died.into_inner(), ended.into_inner()), (1, 3));
    assert_alive(&pool);
}

#[test]
fn a_guest_that_takes_all_it_can_starves_nobody() {
    let pool = pool(2);
    let hog = script(&pool, "const a = []; for (let i = 0; i < 3e5; i++) a.push({ i }); for (;;);");
    let good = script(&pool, "module.exports = ({ n }) => n");
    let limits =
        GuestLimits { cpu: Duration::from_secs(600), memory: 256 << 20, ..GuestLimits::default() };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let input = ProgramInput::default();
        let mut hogging = Box::pin(pool.run(&hog, &input, &limits, None));
        for n in 0..200 {
            let args = ProgramInput::args(json!({ "n": n }));
            let (limits, answer) = (GuestLimits::default(), n);
            let call = pool.run(&good, &args, &limits, None);
            let output = tokio::select! {
                output = call => output.expect("a result"),
                _ = &mut hogging => panic!("it never ends"),
            };
            assert_eq!(output.value, json!(answer));
        }
    });
}

#[test]
fn guests_that_take_long_let_quick_ones_pass() {
    let pool = pool(1);
    let endless = script(&pool, "for (;;);");
    let good = script(&pool, "module.exports = ({ n }) => n");
    let limits = GuestLimits {
        cpu: Duration::from_secs(600),
        wall: Duration::from_secs(600),
        ..GuestLimits::default()
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let input = ProgramInput::default();
        let hogs = (0..4).map(|_| pool.run(&endless, &input, &limits, None));
        let mut hogging = Box::pin(futures::future::select_all(hogs.map(Box::pin)));
        for n in 0..20 {
            let (args, limits) = (ProgramInput::args(json!({ "n": n })), GuestLimits::default());
            let call = tokio::time::timeout(
                Duration::from_secs(20),
                pool.run(&good, &args, &limits, None),
            );
            let output = tokio::select! {
                output = call => output.expect("a turn").expect("a result"),
                _ = &mut hogging => panic!("they never end"),
            };
            assert_eq!(output.value, json!(n));
        }
        assert_eq!(pool.busy().len(), 4, "they still run");
        drop(hogging);
        assert_eq!(pool.busy().len(), 0);
    });
}

/// A machine that has no time for one worker is not helped by another.
#[test]
fn a_guest_that_gets_no_processor_keeps_its_turn() {
    let pool = pool(1);
    let good = script(&pool, "module.exports = ({ n }) => n");
    let worker = pool.idle()[0].to_string();
    let signal = |name: &str| {
        let sent = std::process::Command::new("kill").args([name, &worker]).status();
        assert!(sent.expect("kill is there").success());
    };
    signal("-STOP");
    std::thread::scope(|scope| {
        let calls = [1, 2].map(|n| {
            let (pool, good) = (&pool, &good);
            scope.spawn(move || {
                pool.run_blocking(
                    good,
                    &ProgramInput::args(json!({ "n": n })),
                    &GuestLimits::default(),
                    None,
                )
            })
        });
        std::thread::sleep(Duration::from_millis(300));
        signal("-CONT");
        for (n, call) in (1..).zip(calls) {
            assert_eq!(call.join().expect("no panic").expect("a result").value, json!(n));
        }
    });
    assert_eq!(pool.started(), 1);
}

#[test]
fn a_worker_that_dies_idle_is_replaced_unnoticed() {
    let pool = pool(1);
    assert_alive(&pool);
    let pid = pool.idle()[0];
    let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.expect("kill is there").success());
    let started = Instant::now();
    while !std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default().contains(") Z")
    {
        assert!(started.elapsed() < Duration::from_secs(10), "it does not die");
        std::thread::yield_now();
    }
    assert_alive(&pool);
    assert_eq!(pool.started(), 2);
}

#[test]
fn dropping_a_call_ends_its_work() {
    let pool = pool(1);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let program =
            pool.compile("for (;;);", ProgramForm::Script, None).await.expect("it compiles");
        let limits = GuestLimits {
            cpu: Duration::from_secs(600),
            wall: Duration::from_secs(600),
            ..GuestLimits::default()
        };
        let input = ProgramInput::default();
        let call = pool.run(&program, &input, &limits, None);
        assert!(tokio::time::timeout(Duration::from_millis(50), call).await.is_err());
        let busy = pool.busy();
        assert!(busy.is_empty(), "{busy:?}");
    });
    assert_alive(&pool);
    assert_eq!(pool.started(), 2);
}

/// Both look for the other's words for a moment without sleeping, and no longer.
#[cfg(target_os = "linux")]
#[test]
fn an_idle_worker_and_a_waiting_caller_sleep() {
    let _alone = ALONE.write();
    let pool = pool(1);
    let quick = script(&pool, "module.exports = () => 1");
    pool.run_blocking(&quick, &ProgramInput::default(), &GuestLimits::default(), None)
        .expect("a result");
    let worker = pool.idle()[0];
    // Hundredths of a second, of the program and of the system for it.
    let used = |process: &str| -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it lives");
        let fields = stat.rsplit(')').next().expect("a name in brackets").split_whitespace();
        fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
    };
    std::thread::sleep(Duration::from_millis(20));
    let before = used(&worker.to_string());
    std::thread::sleep(Duration::from_millis(500));
    assert!(used(&worker.to_string()) <= before + 1, "an idle worker uses the processor");

    let slow = script(
        &pool,
        "module.exports = () => { const end = Date.now() + 400; while (Date.now() < end); return 1; }",
    );
    let start = (Instant::now(), used("self"));
    let limits = GuestLimits {
        cpu: Duration::from_secs(20),
        wall: Duration::from_secs(60),
        ..GuestLimits::default()
    };
    pool.run_blocking(&slow, &ProgramInput::default(), &limits, None).expect("a result");
    let (waited, used) = (start.0.elapsed(), used("self") - start.1);
    assert!(used <= 3, "a caller that waits for {waited:?} uses {used}0 ms of the processor");
}
