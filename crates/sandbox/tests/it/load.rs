//! Many calls: calls that overrun their time, calls at the same time, calls whose worker is killed.
//!
//! These tests must hold on a machine whose processors are busy with other work. So they compare
//! processor times or orders of events; wall-clock times appear only as limits that are far longer
//! than anything takes (`EVENT_TIMEOUT`).

use std::collections::HashSet;
use std::time::Duration;

use futures::FutureExt as _;
use serde_json::json;
use toolwright_sandbox::{GuestLimits, ProgramForm, ProgramInput, SandboxErrorCode, ShareId};

use crate::support::{
    EVENT_TIMEOUT, PROCESS_METRICS, assert_works, descriptors, pool, resident, resident_pages,
    script, signal, unlimited_time, wait_until,
};

/// Descriptors that other tests of the same process may open meanwhile.
const OTHER_DESCRIPTORS: usize = 64;

#[test]
fn a_thousand_overruns_lose_no_worker_and_leak_nothing() {
    let _metrics = PROCESS_METRICS.write();
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
            let program = &programs[index % programs.len()];
            let error = pool
                .run_blocking(program, &ProgramInput::default(), &limits, None)
                .expect_err("it never ends");
            assert_eq!(error.code, SandboxErrorCode::Timeout);
            assert!(error.cpu < limits.cpu + Duration::from_secs(5), "{:?}", error.cpu);
        }
    };
    overrun(50);
    let worker_pages = || resident_pages(&pool.idle()[0].to_string());
    let (memory, open, pages) = (resident(), descriptors(), worker_pages());
    overrun(950);
    // The engine stops these programs by itself. If a hypervisor takes the processor away for
    // longer than the grace of the parent, the parent may be first; that is rare.
    assert!(pool.started() <= 10, "{} workers were started", pool.started());
    assert!(descriptors() <= open + OTHER_DESCRIPTORS, "{} open, {open} before", descriptors());
    assert!(resident() < memory + (16 << 20), "{} bytes, {memory} before", resident());
    assert!(worker_pages() < pages + 1024, "{} pages, {pages} before", worker_pages());
}

#[test]
fn workers_that_are_killed_leak_nothing() {
    let pool = pool(1);
    // One call of `indexOf` compares 10^12 characters, and the engine does not interrupt it. So
    // the parent has to kill the worker.
    let source = "('a'.repeat(3e6)).indexOf('a'.repeat(1e6) + 'b')";
    let program = script(&pool, source);
    let limits = GuestLimits { cpu: Duration::from_millis(1), ..GuestLimits::default() };
    let open = descriptors();
    for _ in 0..40 {
        let error = pool
            .run_blocking(&program, &ProgramInput::default(), &limits, None)
            .expect_err("it does not end in time");
        assert_eq!(error.code, SandboxErrorCode::Timeout);
        assert_eq!(error.message, "the program used up its time and its worker was killed");
    }
    assert!(pool.started() >= 40, "{} workers were started", pool.started());
    assert!(descriptors() <= open + OTHER_DESCRIPTORS, "{} open, {open} before", descriptors());
    assert_works(&pool);
}

#[test]
fn ten_thousand_calls_at_the_same_time_share_two_workers() {
    let _metrics = PROCESS_METRICS.read();
    let pool = pool(2);
    let program = script(
        &pool,
        "module.exports = async ({ n }) => { await null; return { n, twice: n * 2 }; }",
    );
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let call = |n: u32| {
            let (pool, program) = (pool.clone(), program.clone());
            tokio::spawn(async move {
                let input = ProgramInput::args(json!({ "n": n }));
                let output = pool.run(&program, &input, &GuestLimits::default(), None).await;
                assert_eq!(output.expect("a result").value, json!({ "n": n, "twice": n * 2 }));
            })
        };
        for call in (0..10_000).map(call).collect::<Vec<_>>() {
            call.await.expect("no panic");
        }
    });
    assert_eq!(pool.started(), 2);
}

#[test]
fn killing_a_worker_fails_only_its_own_call() {
    let pool = pool(2);
    let endless = script(&pool, "for (;;);");
    let short = script(&pool, "module.exports = ({ n }) => n");
    std::thread::scope(|scope| {
        let victim = scope.spawn(|| {
            pool.run_blocking(&endless, &ProgramInput::default(), &unlimited_time(), None)
        });
        wait_until("the endless program runs", || !pool.busy().is_empty());
        let pid = pool.busy()[0];
        // These run on the other worker: some before the kill, some after it, some perhaps during.
        let others = scope.spawn(|| {
            for n in 0..200 {
                let input = ProgramInput::args(json!({ "n": n }));
                let output = pool.run_blocking(&short, &input, &GuestLimits::default(), None);
                assert_eq!(output.expect("another worker was killed").value, json!(n));
            }
        });
        wait_until("the other worker serves calls", || {
            others.is_finished() || !pool.idle().is_empty() || pool.busy().len() > 1
        });
        signal("-9", pid);
        let error = victim.join().expect("no panic").expect_err("its worker was killed");
        assert_eq!(error.code, SandboxErrorCode::WorkerDied, "{error}");
        others.join().expect("the other calls succeed");
    });
    assert_works(&pool);
}

#[test]
fn a_guest_that_uses_all_it_may_does_not_hinder_others() {
    let pool = pool(2);
    let source = "const a = []; for (let i = 0; i < 3e5; i++) a.push({ i }); for (;;);";
    let greedy = script(&pool, source);
    let short = script(&pool, "module.exports = ({ n }) => n");
    let limits = GuestLimits { memory: 256 << 20, ..unlimited_time() };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let input = ProgramInput::default();
        let mut greedy_call = Box::pin(pool.run(&greedy, &input, &limits, None));
        for n in 0..200 {
            let (input, limits) = (ProgramInput::args(json!({ "n": n })), GuestLimits::default());
            let output = tokio::select! {
                output = pool.run(&short, &input, &limits, None) => output.expect("a result"),
                result = &mut greedy_call => panic!("it ended: {result:?}"),
            };
            assert_eq!(output.value, json!(n));
        }
    });
}

#[test]
fn short_calls_do_not_wait_for_long_ones() {
    let pool = pool(1);
    let endless = script(&pool, "for (;;);");
    let short = script(&pool, "module.exports = ({ n }) => n");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let (input, unlimited) = (ProgramInput::default(), unlimited_time());
        let endless_calls = (0..4).map(|_| pool.run(&endless, &input, &unlimited, None));
        let mut endless_calls = Box::pin(futures::future::select_all(endless_calls.map(Box::pin)));
        for n in 0..20 {
            let input = ProgramInput::args(json!({ "n": n }));
            // Unlimited, because four endless guests compete with this one for the processors.
            let call = pool.run(&short, &input, &unlimited, None);
            let output = tokio::select! {
                output = tokio::time::timeout(EVENT_TIMEOUT, call) => output.expect("a slot"),
                (result, ..) = &mut endless_calls => panic!("it ended: {result:?}"),
            };
            assert_eq!(output.expect("a result").value, json!(n));
        }
        assert_eq!(pool.busy().len(), 4, "the endless programs still run");
        drop(endless_calls);
        assert_eq!(pool.busy().len(), 0);
    });
}

/// A worker that was taken over by a guest must not see what belongs to others.
#[test]
fn programs_of_different_shares_never_use_the_same_worker() {
    let pool = pool(2);
    let pools = [(); 3].map(|()| pool.with_share(ShareId::new()));
    let programs = pools.each_ref().map(|pool| script(pool, "module.exports = () => 1"));
    let mut workers: [HashSet<u32>; 3] = Default::default();
    for _ in 0..5 {
        for (program, workers) in programs.iter().zip(&mut workers) {
            let before: HashSet<u32> = pool.idle().into_iter().collect();
            // Through any clone: the program decides about the share.
            pool.run_blocking(program, &ProgramInput::default(), &GuestLimits::default(), None)
                .expect("a result");
            let after: HashSet<u32> = pool.idle().into_iter().collect();
            workers.extend(after.difference(&before).copied());
        }
    }
    assert_eq!(workers.map(|workers| workers.len()), [1; 3], "each has one worker of its own");
    assert_eq!(pool.started(), 3);
}

/// The idle workers of a share that is not used any more make room.
#[test]
fn idle_workers_are_bounded_over_all_shares() {
    let pool = pool(1);
    for _ in 0..30 {
        assert_works(&pool.with_share(ShareId::new()));
    }
    assert!(pool.idle().len() <= 8, "{} idle", pool.idle().len());
    assert_works(&pool);
}

#[test]
fn endless_programs_of_one_share_do_not_delay_another() {
    let pool = pool(2);
    let greedy = pool.with_share(ShareId::new());
    let endless = script(&greedy, "for (;;);");
    let short = script(&pool, "module.exports = ({ n }) => n");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let (input, unlimited) = (ProgramInput::default(), unlimited_time());
        let endless_calls = (0..40).map(|_| pool.run(&endless, &input, &unlimited, None));
        let mut endless_calls = Box::pin(futures::future::select_all(endless_calls.map(Box::pin)));
        for n in 0..50 {
            let input = ProgramInput::args(json!({ "n": n }));
            let call = pool.run(&short, &input, &unlimited, None);
            let output = tokio::select! {
                output = tokio::time::timeout(EVENT_TIMEOUT, call) => output.expect("a place"),
                (result, ..) = &mut endless_calls => panic!("it ended: {result:?}"),
            };
            assert_eq!(output.expect("a result").value, json!(n));
        }
        // Four in long places and two that keep the short places of their share.
        let running = pool.busy().len();
        assert!(running <= 6, "{running} endless programs run at a time");
        drop(endless_calls);
        assert_eq!(pool.busy().len(), 0);
    });
}

/// A worker that ignores its limits ends even if this process is too busy to look.
#[cfg(target_os = "linux")]
#[test]
fn the_system_ends_a_worker_while_the_parent_is_busy() {
    let pool = pool(1);
    // The engine does not interrupt this one call: see `workers_that_are_killed_leak_nothing`.
    let source = "('a'.repeat(3e6)).indexOf('a'.repeat(1e6) + 'b')";
    let program = script(&pool, source);
    let limits = GuestLimits { cpu: Duration::from_millis(1), ..unlimited_time() };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let input = ProgramInput::default();
        let mut call = Box::pin(pool.run(&program, &input, &limits, None));
        // Until the request is sent.
        while pool.busy().is_empty() {
            assert!(call.as_mut().now_or_never().is_none());
            tokio::task::yield_now().await;
        }
        let pid = pool.busy()[0];
        let ticks = || cpu_ticks(&pid.to_string());
        while ticks() < 10 {
            assert!(call.as_mut().now_or_never().is_none());
        }
        // From here on this process does not look after the call.
        wait_until("the worker ends", || {
            std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default().contains(") Z")
        });
        assert_eq!(call.await.expect_err("it ended").code, SandboxErrorCode::WorkerDied);
    });
}

/// If the machine has no time for a guest, another worker would not help.
#[test]
fn a_guest_that_gets_no_processor_time_keeps_its_slot() {
    let pool = pool(1);
    assert_works(&pool);
    let short = script(&pool, "module.exports = ({ n }) => n");
    let other = &self::pool(1);
    let worker = pool.idle()[0];
    signal("-STOP", worker);
    std::thread::scope(|scope| {
        let calls = [1, 2].map(|n| {
            let (pool, short) = (&pool, &short);
            scope.spawn(move || {
                let input = ProgramInput::args(json!({ "n": n }));
                pool.run_blocking(short, &input, &unlimited_time(), None)
            })
        });
        wait_until("a call is sent", || pool.busy() == [worker]);
        // Gives the pool the time for its mistake, if it makes one: to start another worker, as
        // this second pool does for a guest that computes. It began later, so it gets there later.
        let (long, quick) = (script(other, "for (;;);"), script(other, "module.exports = 1"));
        let limits = GuestLimits { cpu: Duration::from_secs(2), ..unlimited_time() };
        let overrun = {
            let limits = limits.clone();
            scope.spawn(move || other.run_blocking(&long, &ProgramInput::default(), &limits, None))
        };
        wait_until("the long call is sent", || !other.busy().is_empty());
        let workers = other.started();
        let quick = other.run_blocking(&quick, &ProgramInput::default(), &limits, None);
        let started = other.started() - workers;
        signal("-CONT", worker);
        quick.expect("a result");
        assert_eq!(started, 1, "a guest that computes makes way");
        overrun.join().expect("no panic").expect_err("it never ends");
        for (n, call) in (1..).zip(calls) {
            assert_eq!(call.join().expect("no panic").expect("a result").value, json!(n));
        }
    });
    assert_eq!(pool.started(), 1);
}

#[test]
fn a_worker_that_ends_while_idle_is_replaced() {
    let pool = pool(1);
    assert_works(&pool);
    let pid = pool.idle()[0];
    signal("-9", pid);
    wait_until("the worker ends", || {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default().contains(") Z")
    });
    assert_works(&pool);
    assert_eq!(pool.started(), 2);
}

#[test]
fn dropping_a_call_ends_its_worker() {
    let pool = pool(1);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let program =
            pool.compile("for (;;);", ProgramForm::Script, None).await.expect("it compiles");
        let (input, limits) = (ProgramInput::default(), unlimited_time());
        let is_running = async {
            while pool.busy().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        // `select` drops the call once it is running.
        tokio::select! {
            result = pool.run(&program, &input, &limits, None) => panic!("it ended: {result:?}"),
            () = is_running => {}
        }
        assert_eq!(pool.busy(), [0; 0]);
    });
    assert_works(&pool);
    assert_eq!(pool.started(), 2);
}

/// Hundredths of a second of processor time that a process has used, in its own code and in the
/// system's.
#[cfg(target_os = "linux")]
fn cpu_ticks(process: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let fields = stat.rsplit(')').next().expect("a name in brackets").split_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
}

/// Worker and caller look at the socket without sleeping for microseconds, and not for longer. The
/// test compares processor times: a process that spins uses ten times what is allowed here, even if
/// it gets only a third of a processor.
#[cfg(target_os = "linux")]
#[test]
fn an_idle_worker_and_a_waiting_caller_sleep() {
    let _metrics = PROCESS_METRICS.write();
    let pool = pool(1);
    let short = script(&pool, "module.exports = () => 1");
    pool.run_blocking(&short, &ProgramInput::default(), &GuestLimits::default(), None)
        .expect("a result");
    let worker = pool.idle()[0].to_string();
    let before = cpu_ticks(&worker);
    // The stretch of time that is measured.
    std::thread::sleep(Duration::from_secs(1));
    let used = cpu_ticks(&worker) - before;
    assert!(used <= 3, "an idle worker used {used}0 ms of processor time in a second");

    let slow = script(
        &pool,
        "module.exports = () => { const end = Date.now() + 1000; while (Date.now() < end); return \
         1; }",
    );
    let before = cpu_ticks("self");
    pool.run_blocking(&slow, &ProgramInput::default(), &unlimited_time(), None).expect("a result");
    let used = cpu_ticks("self") - before;
    assert!(used <= 3, "a caller that waits for a second used {used}0 ms of processor time");
}
