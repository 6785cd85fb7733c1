//! Functions that the host lends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Map, Value as Json, json};
use toolwright_sandbox::{
    GuestLimits, HostError, HostFunctions, ProgramForm, ProgramInput, ProgramOutput, SandboxError,
    SandboxErrorCode, WorkerPool,
};

use crate::support::{assert_alive, pool, tight};

/// `tools.call(name, value)`, and `peak`, the most of them that were under way.
struct Tools {
    pool: WorkerPool,
    now: AtomicUsize,
    peak: AtomicUsize,
}

impl HostFunctions for Tools {
    fn names(&self) -> Vec<String> {
        vec!["tools.call".to_owned(), "tools.deep.down".to_owned(), "ping".to_owned()]
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Vec<Json>,
    ) -> BoxFuture<'a, Result<Json, HostError>> {
        Box::pin(async move {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.peak.fetch_max(now, Ordering::SeqCst);
            let answer = self.answer(name, &arguments).await;
            self.now.fetch_sub(1, Ordering::SeqCst);
            answer
        })
    }
}

impl Tools {
    async fn answer(&self, name: &str, arguments: &[Json]) -> Result<Json, HostError> {
        match (name, arguments.first().and_then(Json::as_str)) {
            ("tools.call", Some("sleep")) => {
                tokio::time::sleep(Duration::from_millis(150)).await;
                Ok(json!("slept"))
            }
            ("tools.call", Some("fail")) => Err(HostError {
                message: "no such tool".to_owned(),
                fields: Map::from_iter([("code".to_owned(), json!("NOT_FOUND"))]),
            }),
            ("tools.call", Some("nested")) => {
                let program = self
                    .pool
                    .compile("module.exports = (x) => x.n + 1", ProgramForm::Script, None)
                    .await;
                let input = ProgramInput::args(arguments[1].clone());
                let run = self
                    .pool
                    .run(&program.expect("it compiles"), &input, &GuestLimits::default(), None)
                    .await;
                run.map(|output| output.value).map_err(|error| HostError::new(error.to_string()))
            }
            ("tools.call", Some("large")) => Ok(json!("x".repeat(2 << 20))),
            ("tools.call", Some("deep")) => Ok((0..200).fold(json!(1), |inner, _| json!([inner]))),
            _ => Ok(json!({ "name": name, "arguments": arguments })),
        }
    }
}

fn call_with(
    pool: &WorkerPool,
    source: &str,
    limits: &GuestLimits,
) -> (Result<ProgramOutput, SandboxError>, usize) {
    let tools = Tools { pool: pool.clone(), now: AtomicUsize::new(0), peak: AtomicUsize::new(0) };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let result = runtime.block_on(async {
        let program = pool.compile(source, ProgramForm::Script, None).await.expect("it compiles");
        pool.run(&program, &ProgramInput::default(), limits, Some(&tools)).await
    });
    (result, tools.peak.into_inner())
}

fn call(source: &str) -> Result<ProgramOutput, SandboxError> {
    call_with(&pool(1), source, &tight()).0
}

#[test]
fn what_they_give_and_take() {
    for (source, expected) in [
        ("module.exports = () => ping()", json!({ "name": "ping", "arguments": [] })),
        (
            "module.exports = async () => (await tools.deep.down(1, undefined, { a: [] })).arguments",
            json!([1, null, { "a": [] }]),
        ),
        (
            "module.exports = () => tools.call('fail').catch((e) => [e instanceof Error, e.message, e.code])",
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
            "let a = []; for (let i = 1; i < 127; i++) a = [a]; module.exports = () => { try { ping(1, a); } catch (e) { return e.message; } }",
            json!("argument 2 is nested deeper than 126 levels"),
        ),
        // These go out; what comes back holds them two levels deeper.
        (
            "let a = []; for (let i = 1; i < 126; i++) a = [a]; module.exports = () => ping(a).catch((e) => e.message)",
            json!("the answer is nested deeper than 127 levels"),
        ),
        (
            "module.exports = () => { try { ping(1, new Array(1e5).fill([])); } catch (e) { return e.message; } }",
            json!("the arguments have more parts than allowed"),
        ),
        (
            "module.exports = () => { try { ping(...new Array(2e4).fill([1, 2, 3, 4, 5, 6, 7])); } catch (e) { return e.message; } }",
            json!("the arguments have more parts than allowed"),
        ),
        (
            "module.exports = () => { try { ping('x'.repeat(2e6)); } catch (e) { return e.message; } }",
            json!("the arguments are larger than allowed"),
        ),
        ("const p = ping(); module.exports = async () => (await p).name", json!("ping")),
        // Nobody waits for it, and nothing is left of it.
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

#[test]
fn waiting_takes_no_time_of_the_guest() {
    let limits = GuestLimits {
        cpu: Duration::from_millis(50),
        wall: Duration::from_millis(120),
        ..GuestLimits::default()
    };
    let source =
        "module.exports = async () => { await tools.call('sleep'); return tools.call('sleep'); }";
    let output =
        call_with(&pool(1), source, &limits).0.expect("300 ms on the wall are none of its own");
    assert_eq!(output.value, json!("slept"));
    assert!(output.cpu < Duration::from_millis(50));
    let source = "module.exports = async () => { await tools.call('sleep'); for (;;); }";
    assert_eq!(
        call_with(&pool(1), source, &limits).0.expect_err("its own").code,
        SandboxErrorCode::Timeout
    );
}

#[test]
fn calls_run_side_by_side() {
    let source = "module.exports = () => Promise.all([1, 2, 3, 4].map(() => tools.call('sleep')))";
    let (result, peak) = call_with(&pool(1), source, &tight());
    assert_eq!(result.expect("a result").value, json!(["slept", "slept", "slept", "slept"]));
    assert_eq!(peak, 4);
}

#[test]
fn who_waits_holds_no_worker_back() {
    // One worker, and a host function that needs one: it would wait for ever.
    let pool = pool(1);
    let source = "module.exports = async () => (await Promise.all([1, 2, 3].map((n) => tools.call('nested', { n }))))";
    assert_eq!(call_with(&pool, source, &tight()).0.expect("a result").value, json!([2, 3, 4]));
    assert_eq!(pool.idle().len(), 1, "what was more than one is gone");
}

#[test]
fn a_flood_of_calls_is_held_back() {
    let source = "module.exports = () => { for (;;) tools.call('sleep'); }";
    let (result, peak) = call_with(&pool(1), source, &tight());
    let error = result.expect_err("too many");
    assert_eq!(error.code, SandboxErrorCode::Threw);
    assert_eq!(error.message, "more than 64 calls are waiting for the host");
    assert!(peak <= 64, "{peak}");
}

#[test]
fn without_a_host_there_are_no_functions() {
    let pool = pool(1);
    let program = crate::support::script(&pool, "module.exports = () => typeof tools");
    let output =
        pool.run_blocking(&program, &ProgramInput::default(), &GuestLimits::default(), None);
    assert_eq!(output.expect("a result").value, json!("undefined"));
    assert_alive(&pool);
}

#[test]
fn a_pool_is_shared_by_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let pool = Arc::new(pool(2));
    shared(&*pool);
    shared(&crate::support::script(&pool, "1"));
}
