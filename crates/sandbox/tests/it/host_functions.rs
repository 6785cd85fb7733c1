//! Functions that the host offers to a guest.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Map, Value as Json, json};
use tokio::sync::Barrier;
use toolwright_sandbox::{
    GuestLimits, HostError, HostFunctions, PoolOptions, ProgramForm, ProgramInput, ProgramOutput,
    SandboxError, SandboxErrorCode, WorkerPool,
};

use crate::support::{self, EVENT_TIMEOUT, assert_works, forging_worker, pool, script};

/// Longer than the wall-clock limit of `waiting_for_the_host_stops_both_clocks`.
const LONG_WAIT: Duration = Duration::from_secs(4);

/// Offers `tools.call(name, …)` and counts how many calls are in progress at a time.
struct Tools {
    pool: WorkerPool,
    in_progress: AtomicUsize,
    peak: AtomicUsize,
    /// Where the calls of `meet` wait for each other.
    four_calls: Barrier,
}

impl HostFunctions for Tools {
    fn names(&self) -> Vec<String> {
        let names = ["tools.call", "tools.deep.down", "ping", "sync.call", "sync.ping"];
        names.map(str::to_owned).to_vec()
    }

    fn is_synchronous(&self, name: &str) -> bool {
        name.starts_with("sync.")
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Vec<Json>,
    ) -> BoxFuture<'a, Result<Json, HostError>> {
        Box::pin(async move {
            let in_progress = self.in_progress.fetch_add(1, Ordering::SeqCst) + 1;
            self.peak.fetch_max(in_progress, Ordering::SeqCst);
            let answer = self.answer(&name.replace("sync.call", "tools.call"), &arguments).await;
            self.in_progress.fetch_sub(1, Ordering::SeqCst);
            answer
        })
    }
}

impl Tools {
    async fn answer(&self, name: &str, arguments: &[Json]) -> Result<Json, HostError> {
        match (name, arguments.first().and_then(Json::as_str)) {
            ("tools.call", Some("wait")) => {
                tokio::time::sleep(LONG_WAIT).await;
                Ok(json!("waited"))
            }
            ("tools.call", Some("never")) => std::future::pending().await,
            ("tools.call", Some("meet")) => {
                let met = tokio::time::timeout(EVENT_TIMEOUT, self.four_calls.wait()).await;
                met.map(|_| json!("met")).map_err(|_| HostError::new("the others did not come"))
            }
            ("tools.call", Some("fail")) => Err(HostError {
                message: "no such tool".to_owned(),
                fields: Map::from_iter([("code".to_owned(), json!("NOT_FOUND"))]),
            }),
            ("tools.call", Some("nested")) => {
                let source = "module.exports = (x) => x.n + 1";
                let pool = self.pool.nested();
                let run = async {
                    let program = pool.compile(source, ProgramForm::Script, None).await?;
                    let input = ProgramInput::args(arguments[1].clone());
                    pool.run(&program, &input, &GuestLimits::default(), None).await
                };
                let result = run.await.map(|output| output.value);
                result.map_err(|error| HostError::new(error.to_string()))
            }
            ("tools.call", Some("large")) => Ok(json!("x".repeat(2 << 20))),
            ("tools.call", Some("deep")) => Ok((0..200).fold(json!(1), |inner, _| json!([inner]))),
            _ => Ok(json!({ "name": name, "arguments": arguments })),
        }
    }
}

/// Runs a program that can call [`Tools`]. Returns the most calls that were in progress at a time,
/// too.
fn call_with(
    pool: &WorkerPool,
    source: &str,
    limits: &GuestLimits,
) -> (Result<ProgramOutput, SandboxError>, usize) {
    let tools = Tools {
        pool: pool.clone(),
        in_progress: AtomicUsize::new(0),
        peak: AtomicUsize::new(0),
        four_calls: Barrier::new(4),
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let result = runtime.block_on(async {
        let program = pool.compile(source, ProgramForm::Script, None).await.expect("it compiles");
        let input = ProgramInput::default();
        let call = pool.run(&program, &input, limits, Some(&tools));
        tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call ends")
    });
    (result, tools.peak.into_inner())
}

fn call(source: &str) -> Result<ProgramOutput, SandboxError> {
    call_with(&pool(1), source, &GuestLimits::default()).0
}

#[test]
fn arguments_and_answers_are_json_within_limits() {
    for (source, expected) in [
        ("module.exports = () => ping()", json!({ "name": "ping", "arguments": [] })),
        (
            "module.exports = async () => (await tools.deep.down(1, undefined, { a: [] \
             })).arguments",
            json!([1, null, { "a": [] }]),
        ),
        (
            "module.exports = () => tools.call('fail').catch((e) => [e instanceof Error, \
             e.message, e.code])",
            json!([true, "no such tool", "NOT_FOUND"]),
        ),
        (
            "module.exports = () => tools.call('large').catch((e) => e.message)",
            json!("the answer is larger than the 1048576 bytes that are allowed"),
        ),
        (
            "module.exports = () => tools.call('deep').catch((e) => e.message)",
            json!("the answer is nested deeper than 127 levels"),
        ),
        (
            "module.exports = () => { try { ping(() => 1); } catch (e) { return e.message; } }",
            json!("argument 1 is a function"),
        ),
        (
            "let a = []; for (let i = 1; i < 127; i++) a = [a]; module.exports = () => { try { \
             ping(1, a); } catch (e) { return e.message; } }",
            json!("argument 2 is nested deeper than 126 levels"),
        ),
        // These arguments are accepted; the answer contains them two levels deeper.
        (
            "let a = []; for (let i = 1; i < 126; i++) a = [a]; module.exports = () => \
             ping(a).catch((e) => e.message)",
            json!("the answer is nested deeper than 127 levels"),
        ),
        (
            "module.exports = () => { try { ping(1, new Array(1e5).fill([])); } catch (e) { \
             return e.message; } }",
            json!("the arguments have more parts than allowed"),
        ),
        (
            "module.exports = () => { try { ping(...new Array(2e4).fill([1, 2, 3, 4, 5, 6, 7])); \
             } catch (e) { return e.message; } }",
            json!("the arguments have more parts than allowed"),
        ),
        (
            "module.exports = () => { try { ping('x'.repeat(2e6)); } catch (e) { return \
             e.message; } }",
            json!("the arguments are larger than allowed"),
        ),
        ("const p = ping(); module.exports = async () => (await p).name", json!("ping")),
        // A promise that the program does not await is dropped.
        ("ping(); module.exports = () => 1", json!(1)),
    ] {
        assert_eq!(
            call(source).unwrap_or_else(|error| panic!("{source}\n{error}")).value,
            expected,
            "{source}"
        );
    }
    let error = call("module.exports = () => tools.call('fail')").expect_err("it is thrown");
    assert_eq!((error.code, error.message.as_str()), (SandboxErrorCode::Threw, "no such tool"));
    assert_eq!(error.fields.expect("fields")["code"], json!("NOT_FOUND"));
}

/// The guest waits for longer than either limit allows it to run.
#[test]
fn waiting_for_the_host_stops_both_clocks() {
    let limits = GuestLimits { wall: Duration::from_secs(3), ..GuestLimits::default() };
    assert!(limits.cpu < limits.wall && limits.wall < LONG_WAIT);
    for source in
        ["module.exports = () => tools.call('wait')", "module.exports = () => sync.call('wait')"]
    {
        let output = call_with(&pool(1), source, &limits).0.expect("the wait does not count");
        assert_eq!(output.value, json!("waited"));
        assert!(output.cpu < limits.cpu, "{:?}", output.cpu);
    }
}

#[test]
fn the_clocks_go_on_after_the_answer_of_the_host() {
    for wait in ["await ping()", "sync.ping()"] {
        let source = format!("module.exports = async () => {{ {wait}; for (;;); }}");
        assert_eq!(call(&source).expect_err("it never ends").code, SandboxErrorCode::Timeout);
    }
}

#[test]
fn synchronous_functions_return_their_answer_or_throw() {
    for (source, expected) in [
        ("module.exports = () => sync.ping(1).arguments", json!([1])),
        (
            "module.exports = () => { try { sync.call('fail'); } catch (e) { return [e instanceof \
             Error, e.message, e.code]; } }",
            json!([true, "no such tool", "NOT_FOUND"]),
        ),
        (
            "module.exports = () => { try { sync.ping(() => 1); } catch (e) { return e.message; } }",
            json!("argument 1 is a function"),
        ),
        (
            "module.exports = () => { try { sync.call('large'); } catch (e) { return e.message; } }",
            json!("the answer is larger than the 1048576 bytes that are allowed"),
        ),
        // The promise of a call that is answered meanwhile is settled later.
        (
            "module.exports = async () => { const later = [ping('a'), ping('b')]; const now = []; \
             for (let i = 0; i < 50; i++) now.push(sync.ping(i).arguments[0]); const all = await \
             Promise.all(later); return [now.length, now[49], ...all.map((it) => \
             it.arguments[0])]; }",
            json!([50, 49, "a", "b"]),
        ),
        // Also where the body never waits for anything else.
        (
            "let n = 0; for (let i = 0; i < 2000; i++) n += sync.ping(i).arguments[0]; \
             module.exports = () => n",
            json!(1_999_000),
        ),
    ] {
        let output = call(source).unwrap_or_else(|error| panic!("{source}\n{error}"));
        assert_eq!(output.value, expected, "{source}");
    }
    let error = call("module.exports = () => sync.call('fail')").expect_err("it is thrown");
    assert_eq!((error.code, error.message.as_str()), (SandboxErrorCode::Threw, "no such tool"));
}

#[test]
fn host_calls_run_concurrently() {
    let source = "module.exports = () => Promise.all([1, 2, 3, 4].map(() => tools.call('meet')))";
    let (result, peak) = call_with(&pool(1), source, &GuestLimits::default());
    assert_eq!(result.expect("a result").value, json!(["met", "met", "met", "met"]));
    assert_eq!(peak, 4);
}

/// With one worker, a host function that runs a program would otherwise wait for its own caller.
#[test]
fn a_guest_that_waits_for_the_host_gives_its_slot_back() {
    let pool = pool(1);
    let source = "module.exports = async () => (await Promise.all([1, 2, 3].map((n) => \
     tools.call('nested', { n }))))";
    let result = call_with(&pool, source, &GuestLimits::default()).0;
    assert_eq!(result.expect("a result").value, json!([2, 3, 4]));
    assert_eq!(pool.idle().len(), 1, "additional workers end with the call");
    let source = "module.exports = () => [1, 2].map((n) => sync.call('nested', { n }))";
    let result = call_with(&pool, source, &GuestLimits::default()).0;
    assert_eq!(result.expect("a result").value, json!([2, 3]));
}

/// If these calls waited for memory, each guest would wait for a guest that waits for itself.
#[test]
fn calls_of_a_waiting_guest_fail_where_no_further_guest_may_exist() {
    let options = PoolOptions::new(support::worker());
    let pool = WorkerPool::new(PoolOptions { memory: 16 << 20, ..options });
    let source = "module.exports = async () => {
        try { return await tools.call('nested', { n: 1 }); } catch (error) { return error.message; }
    }";
    let result = call_with(&pool, source, &GuestLimits::default()).0;
    let expected = "BUSY: too many programs are running or waiting for calls of their own";
    assert_eq!(result.expect("a result").value, json!(expected));
    assert_works(&pool);
}

#[test]
fn too_many_host_calls_at_a_time_throw() {
    let source = "module.exports = () => { for (;;) tools.call('never'); }";
    let (result, peak) = call_with(&pool(1), source, &GuestLimits::default());
    let error = result.expect_err("too many");
    assert_eq!(error.code, SandboxErrorCode::Threw);
    assert_eq!(error.message, "more than 128 calls are waiting for the host");
    assert!(peak <= 128, "{peak}");
}

/// `8` is a call of a host function, and `9` says that the guest waits for one.
#[test]
fn frames_about_host_calls_are_checked() {
    for kind in ["8", "9"] {
        let worker = forging_worker(kind, "[]", "right");
        let pool = WorkerPool::new(PoolOptions { workers: 1, ..PoolOptions::new(worker) });
        let (result, peak) = call_with(&pool, "[]", &GuestLimits::default());
        assert_eq!(result.expect_err("nothing was called").code, SandboxErrorCode::WorkerDied);
        assert_eq!(peak, 0, "{kind}");
    }
}

#[test]
fn without_a_host_there_are_no_functions() {
    let pool = pool(1);
    let program = script(&pool, "module.exports = () => typeof tools");
    let output =
        pool.run_blocking(&program, &ProgramInput::default(), &GuestLimits::default(), None);
    assert_eq!(output.expect("a result").value, json!("undefined"));
    assert_works(&pool);
}

#[test]
fn pools_and_programs_can_be_shared_between_threads() {
    fn assert_shared<T: Send + Sync>(_: &T) {}
    let pool = Arc::new(pool(2));
    assert_shared(&*pool);
    assert_shared(&script(&pool, "1"));
}
