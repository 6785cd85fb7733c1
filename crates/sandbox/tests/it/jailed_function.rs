//! A function in jailed workers: whatever it does, the caller gets an answer or an error, and the
//! next call works. `tests/function_worker` is the function.

use std::time::{Duration, Instant};

use toolwright_sandbox::{
    FunctionAnswer, JailedFunction, JailedFunctionError, JailedFunctionLimits, WorkerCommand,
};

use crate::support::{EVENT_TIMEOUT, example, wait_until, worker};

const LIMITS: JailedFunctionLimits =
    JailedFunctionLimits { cpu: Duration::from_millis(500), wall: EVENT_TIMEOUT, answer: 1 << 20 };

fn function() -> JailedFunction {
    JailedFunction::new(WorkerCommand::new(example("sandbox-function-worker")))
}

fn text(answer: Result<FunctionAnswer, JailedFunctionError>) -> String {
    String::from_utf8(answer.expect("an answer").bytes).expect("text")
}

fn is_running(pid: u32) -> bool {
    std::path::Path::new("/proc").join(pid.to_string()).exists()
}

#[test]
fn a_worker_answers_one_call_after_the_other() {
    let function = function();
    assert_eq!(function.idle(), [0; 0], "nothing is started before the first call");
    assert_eq!(text(function.call(b"echo a", &LIMITS)), "a");
    let workers = function.idle();
    assert_eq!(text(function.call(b"echo ", &LIMITS)), "");
    // Larger than the buffers of the socket, in both directions.
    let request = [&b"length "[..], &vec![b'x'; 5 << 20]].concat();
    assert_eq!(text(function.call(&request, &LIMITS)), request.len().to_string());
    assert_eq!(text(function.call(b"answer 1048576", &LIMITS)).len(), 1 << 20);
    assert_eq!(text(function.call(b"open", &LIMITS)), "refused");
    assert_eq!(text(function.call(b"recurse 10000", &LIMITS)), "9961");
    assert!(function.idle() == workers && is_running(workers[0]), "{workers:?}");
    drop(function);
    wait_until("the worker ends with the function", || !is_running(workers[0]));
}

#[test]
fn whatever_the_function_does_ends_in_an_error() {
    let function = function();
    let is_death = |error: &JailedFunctionError| matches!(error, JailedFunctionError::Died(_));
    for request in ["recurse 1000000", "allocate 2000000000", "exit", "nonsense"] {
        let error = function.call(request.as_bytes(), &LIMITS).expect_err(request);
        assert!(is_death(&error), "{request}: {error:?}");
    }
    let start = Instant::now();
    let late = function.call(b"loop", &LIMITS).expect_err("it never returns");
    assert_eq!(late, JailedFunctionError::TimedOut);
    assert!(start.elapsed() >= LIMITS.cpu);
    let impatient = JailedFunctionLimits { wall: Duration::from_millis(1), ..LIMITS };
    let late = function.call(b"loop", &impatient).expect_err("it never returns");
    assert_eq!(late, JailedFunctionError::TimedOut);
    let long = function.call(b"answer 1048577", &LIMITS).expect_err("one byte too many");
    assert!(matches!(long, JailedFunctionError::InvalidAnswer(_)), "{long:?}");
    assert_eq!(text(function.call(b"echo still here", &LIMITS)), "still here");
}

#[test]
fn calls_of_several_threads_run_at_the_same_time() {
    let function = function();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for n in 0..4 * cores {
            let function = &function;
            scope.spawn(move || {
                let order = format!("echo {n}");
                assert_eq!(text(function.call(order.as_bytes(), &LIMITS)), n.to_string());
            });
        }
    });
    let workers = function.idle().len();
    assert!((1..=cores).contains(&workers), "{workers} workers on {cores} cores");
}

#[test]
fn a_call_from_an_async_thread_only_blocks() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let function = function();
    assert_eq!(runtime.block_on(async { text(function.call(b"echo a", &LIMITS)) }), "a");
}

#[test]
fn programs_that_are_not_workers_are_named() {
    // The worker of a pool greets, too, but it would run JavaScript.
    for command in
        [WorkerCommand::new("/nowhere/worker"), WorkerCommand::new("/bin/true"), worker()]
    {
        let name = command.program.display().to_string();
        let error = JailedFunction::new(command).call(b"echo", &LIMITS).expect_err("no worker");
        let JailedFunctionError::StartFailed(message) = error else { panic!("{error:?}") };
        assert!(message.contains(&name), "{message}");
    }
}
