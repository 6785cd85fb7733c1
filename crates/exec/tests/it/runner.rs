//! The steps around every call. Time limits and queues are tested on simulated tools and a paused
//! clock; what concerns results is tested on real programs.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use crate::mcp::ProgressRecorder;
use crate::support::simulated::{SimulatedRunner, simulated};
use crate::support::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// The resolution of tokio's timers.
const TICK: Duration = Duration::from_millis(1);

fn limits(timeout: u64, cap: u64) -> CallLimits {
    CallLimits { timeout: MS(timeout), max_timeout: MS(cap), ..CallLimits::default() }
}

#[tokio::test(start_paused = true)]
async fn the_most_specific_time_limit_applies_and_never_exceeds_the_maximum() {
    let long = 60_000;
    for (callers, tools, toolsets, default, cap, allowed) in [
        (Some(101), Some(long), Some(long), long, long, 101),
        (None, Some(102), Some(long), long, long, 102),
        (None, None, Some(103), long, long, 103),
        (None, None, None, 104, long, 104),
        (Some(long), Some(1), Some(1), 1, 105, 105),
        (None, Some(long), Some(1), 1, 106, 106),
        (None, None, Some(long), 1, 107, 107),
        (None, None, None, long, 108, 108),
        (Some(300), Some(1), Some(1), 1, long, 300),
        (None, Some(301), Some(1), 1, long, 301),
        (None, None, Some(302), 1, long, 302),
    ] {
        let hang = simulated("t:hang").timeout(tools).toolset_timeout(toolsets);
        let test = SimulatedRunner::new(limits(default, cap), [hang]);
        let call = CallRequest { timeout: callers.map(MS), ..request("t:hang", json!({})) };
        let (took, result) = test.timed(call).await;
        assert_eq!(word(&result), "TIMEOUT");
        assert_eq!(
            result.unwrap_err().message,
            format!("`t:hang` did not answer within {allowed} ms")
        );
        assert!((MS(allowed)..=MS(allowed) + 2 * TICK).contains(&took), "{allowed} ms: {took:?}");
        assert_eq!(test.events(), ["start null", "stop null"], "the work is stopped");
    }
}

#[tokio::test]
async fn a_timeout_kills_the_program() {
    let test = TestRunner::with([tool("t:hang", process("hang"))]);
    assert_eq!(word(&test.call_within("t:hang", json!({}), 300).await), "TIMEOUT");
    test.assert_no_processes_left("a time-out").await;
}

/// One call works for `first` ms. A second waits for it, then works for `second` ms; its limit is
/// `declared` or the caller's own.
async fn one_after_the_other(
    declared: u64,
    callers: Option<u64>,
    first: u64,
    second: u64,
) -> CallResult {
    let limit = Arc::new(ConcurrencyLimit::new(1, 8));
    let test = SimulatedRunner::new(
        long_limits(),
        [
            simulated("t:first").concurrency(&limit).timeout(30_000),
            simulated("t:second").concurrency(&limit).timeout(declared),
        ],
    );
    let waiting =
        CallRequest { timeout: callers.map(MS), ..request("t:second", json!({"ms": second})) };
    let first = test.call("t:first", json!({"ms": first}));
    let (first, (_, second)) = futures::future::join(first, test.timed(waiting)).await;
    assert_eq!(word(&first), "ok");
    second
}

#[tokio::test(start_paused = true)]
async fn a_declared_limit_counts_work_and_the_callers_own_counts_waiting_too() {
    // 500 ms of waiting and 500 ms of work are each below the declared 900 ms.
    let declared = one_after_the_other(900, None, 500, 500).await;
    assert_eq!(word(&declared), "ok");
    // Together they are above the caller's 900 ms.
    let own = one_after_the_other(60_000, Some(900), 500, 500).await;
    assert_eq!(own.unwrap_err().message, "`t:second` did not answer within 900 ms");
    // The message differs if the work did not even start.
    let waited = one_after_the_other(60_000, Some(150), 500, 0).await.unwrap_err();
    assert_eq!(waited.code.name, "TIMEOUT");
    assert!(
        waited.message.starts_with("`t:second` was not started within 150 ms"),
        "{}",
        waited.message
    );
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_queue_are_refused_at_once() {
    let limit = Arc::new(ConcurrencyLimit::new(1, 2));
    let test = SimulatedRunner::new(long_limits(), [simulated("t:sleep").concurrency(&limit)]);
    let calls = (0..5).map(|_| test.timed(request("t:sleep", json!({"ms": 300}))));
    let results = join_all(calls).await;
    let words: Vec<&str> = results.iter().map(|(_, result)| word(result)).collect();
    assert_eq!(words, ["ok", "ok", "ok", "BUSY", "BUSY"]);
    assert_eq!((results[3].0, results[4].0), (Duration::ZERO, Duration::ZERO));
    let again = test.call("t:sleep", json!({"ms": 0})).await;
    assert_eq!(word(&again), "ok");
}

#[tokio::test(start_paused = true)]
async fn without_a_queue_no_call_waits() {
    let limit = Arc::new(ConcurrencyLimit::new(2, 0));
    let test = SimulatedRunner::new(long_limits(), [simulated("t:sleep").concurrency(&limit)]);
    let results = join_all((0..3).map(|_| test.call("t:sleep", json!({"ms": 200})))).await;
    assert_eq!(results.iter().map(word).collect::<Vec<_>>(), ["ok", "ok", "BUSY"]);
}

#[tokio::test(start_paused = true)]
async fn waiting_calls_run_in_order_of_arrival() {
    let limit = Arc::new(ConcurrencyLimit::new(1, 64));
    let test = SimulatedRunner::new(long_limits(), [simulated("t:sleep").concurrency(&limit)]);
    let results = join_all((0..25).map(|n| test.call("t:sleep", json!({"n": n, "ms": 1})))).await;
    assert!(results.iter().all(|result| word(result) == "ok"));
    let expected: Vec<String> =
        (0..25).flat_map(|n| [format!("start {n}"), format!("end {n}")]).collect();
    assert_eq!(test.events(), expected);
}

#[tokio::test(start_paused = true)]
async fn as_many_calls_run_at_once_as_the_limit_allows() {
    let limit = Arc::new(ConcurrencyLimit::new(3, 64));
    let test = SimulatedRunner::new(long_limits(), [simulated("t:sleep").concurrency(&limit)]);
    // Different times, so that calls end one by one.
    let calls = (0..12).map(|n| test.call("t:sleep", json!({"n": n, "ms": 10 + n})));
    assert!(join_all(calls).await.iter().all(|result| word(result) == "ok"));
    let (mut running, mut most) = (0, 0);
    for event in test.events() {
        running += if event.starts_with("start") { 1 } else { -1 };
        most = most.max(running);
    }
    assert_eq!(most, 3, "{:?}", test.events());
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_can_be_cancelled_and_leaves_the_queue() {
    let limit = Arc::new(ConcurrencyLimit::new(1, 1));
    let test = SimulatedRunner::new(long_limits(), [simulated("t:it").concurrency(&limit)]);
    let first = request("t:it", json!({"n": 1}));
    let stop = first.cancel.clone();
    let waiting = async {
        for _ in 0..5 {
            let second = request("t:it", json!({"n": 2, "ms": 1}));
            let cancel = second.cancel.clone();
            // `join` polls the call first, so it is in the queue when it is cancelled.
            let cancelling = async { cancel.cancel() };
            let (second, ()) =
                futures::future::join(test.runner.call(second, &NoHost), cancelling).await;
            let failure = second.unwrap_err();
            assert_eq!(failure.code.name, "CANCELLED");
            assert_eq!(failure.message, "the call of `t:it` was cancelled before it began");
        }
        // The queue has one place, and none of the cancelled calls holds it.
        let third = test.call("t:it", json!({"n": 3, "ms": 1}));
        futures::future::join(third, async { stop.cancel() }).await.0
    };
    let (first, third) = futures::future::join(test.runner.call(first, &NoHost), waiting).await;
    assert_eq!(first.unwrap_err().message, "the call of `t:it` was cancelled");
    assert_eq!(word(&third), "ok");
    assert_eq!(test.events(), ["start 1", "stop 1", "start 3", "end 3"]);
}

#[tokio::test]
async fn a_call_cancelled_beforehand_starts_nothing() {
    let test = TestRunner::with([tool("t:touch", shell(r#": >"$1""#))]);
    let request = request("t:touch", json!({"args": [test.file("started")]}));
    request.cancel.cancel();
    assert_eq!(word(&test.run(request).await), "CANCELLED");
    assert!(!test.path("started").exists());
}

#[derive(Clone, Copy, Debug)]
enum HowItEnds {
    Cancelled,
    Dropped,
    TimedOut,
    Failed,
    NotStarted,
    Refused,
}

/// Every way to end a call returns its permit. Calls are stopped after 5 ms: some before their
/// program is started, some after, and the result is the same.
#[tokio::test]
async fn every_way_a_call_ends_returns_its_permit() {
    let limit = Arc::new(ConcurrencyLimit::new(1, 4));
    let server = TestServer::stdio("good", &[]);
    let test = TestRunner::with([
        tool("t:hang", process("hang")).concurrency(&limit),
        tool("t:die", process("die")).concurrency(&limit),
        tool("t:none", Binding::Executable { program: Some("/no/such/program".into()) })
            .concurrency(&limit),
        tool("t:strict", process("echo"))
            .concurrency(&limit)
            .input(json!({"type": "object", "required": ["x"]})),
        tool("t:echo", process("echo")).concurrency(&limit),
        server.tool("sleep").concurrency(&limit),
    ]);
    for (end, id, times, expected) in [
        (HowItEnds::Cancelled, "t:hang", 60, "CANCELLED"),
        (HowItEnds::Cancelled, "good:sleep", 40, "CANCELLED"),
        (HowItEnds::Dropped, "t:hang", 20, ""),
        (HowItEnds::Dropped, "good:sleep", 20, ""),
        (HowItEnds::TimedOut, "t:hang", 10, "TIMEOUT"),
        (HowItEnds::TimedOut, "good:sleep", 10, "TIMEOUT"),
        (HowItEnds::Failed, "t:die", 10, "TOOL_FAILED"),
        (HowItEnds::NotStarted, "t:none", 10, "SPAWN_FAILED"),
        (HowItEnds::Refused, "t:strict", 10, "INPUT_INVALID"),
    ] {
        for _ in 0..times {
            let arguments = if id == "good:sleep" { json!({"ms": 60_000}) } else { json!({}) };
            let request = request(id, arguments);
            let cancel = request.cancel.clone();
            let soon = tokio::time::sleep(MS(5));
            match end {
                HowItEnds::Cancelled => {
                    let cancelling = async { (soon.await, cancel.cancel()) };
                    let (result, _) = futures::future::join(test.run(request), cancelling).await;
                    assert_eq!(word(&result), expected, "{end:?} {id}");
                }
                HowItEnds::Dropped => {
                    let dropped = tokio::time::timeout(MS(5), test.run(request)).await;
                    assert!(dropped.is_err(), "{end:?} {id}");
                }
                HowItEnds::TimedOut => {
                    let request = CallRequest { timeout: Some(MS(5)), ..request };
                    assert_eq!(word(&test.run(request).await), expected, "{end:?} {id}");
                }
                _ => assert_eq!(word(&test.run(request).await), expected, "{end:?} {id}"),
            }
        }
        let after = test.call("t:echo", json!({"n": 1})).await;
        assert_eq!(value(after), json!({"echo": {"n": 1}}), "after {times} times {end:?}");
    }
    test.close().await;
}

#[tokio::test]
async fn all_wrong_arguments_are_reported_at_once() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "size": {"type": "integer", "minimum": 1},
            "list": {"type": "array", "items": {"type": "object", "required": ["id"]}},
        },
        "required": ["name", "mode"],
        "additionalProperties": false,
    });
    let test = TestRunner::with([tool("t:echo", process("echo")).input(schema)]);
    for (arguments, paths) in [
        (json!({"name": "n", "mode": 1}), vec![""]),
        (
            json!({"name": 5, "size": 0, "list": [{}, {"id": 1}, {}], "odd": 1}),
            vec!["", "", "/list/0", "/list/2", "/name", "/size"],
        ),
        (json!([]), vec![""]),
        (json!(null), vec![""]),
        (json!("text"), vec![""]),
    ] {
        let failure = test.call("t:echo", arguments.clone()).await.unwrap_err();
        let mut found: Vec<&str> = failure.errors.iter().map(|error| error.path.as_str()).collect();
        found.sort_unstable();
        assert_eq!(
            (failure.code.name, found),
            ("INPUT_INVALID", paths),
            "{arguments}: {}",
            failure.to_text()
        );
        assert_eq!(failure.to_json()["errors"].as_array().unwrap().len(), failure.errors.len());
    }
}

#[tokio::test]
async fn a_result_that_breaks_its_output_schema_is_refused_reported_or_ignored() {
    let number =
        json!({"type": "object", "properties": {"echo": {"type": "object", "required": ["sum"]}}});
    let server = TestServer::stdio("good", &[]);
    let sum =
        json!({"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]});
    let tools = [
        tool("t:echo", process("echo")).output(number.clone()),
        tool("t:text", shell("echo words")).output(number),
        server.tool("lie").output(sum.clone()),
        server.tool("fail").output(sum.clone()),
        server.tool("add").output(sum),
    ];
    let [a, b] = [json!({}), json!({"a": 1, "b": 2})];
    let broken = "the answer of `t:echo` does not match its output schema";
    let unstructured = "`t:text` has an output schema, but its answer has no structured content";
    let wrong = "the answer of `good:lie` does not match its output schema";
    for (check, id, arguments, expected, says) in [
        (OutputCheck::Enforce, "t:echo", &a, "OUTPUT_INVALID", broken),
        (OutputCheck::Enforce, "t:text", &a, "OUTPUT_INVALID", unstructured),
        (OutputCheck::Enforce, "good:lie", &a, "OUTPUT_INVALID", wrong),
        // A result with `isError` is exempt.
        (OutputCheck::Enforce, "good:fail", &a, "error", ""),
        (OutputCheck::Enforce, "good:add", &b, "ok", ""),
        (OutputCheck::Warn, "t:echo", &a, "ok", broken),
        (OutputCheck::Warn, "t:text", &a, "ok", unstructured),
        (OutputCheck::Warn, "good:lie", &a, "ok", wrong),
        (OutputCheck::Warn, "good:add", &b, "ok", ""),
        (OutputCheck::Off, "t:echo", &a, "ok", ""),
        (OutputCheck::Off, "t:text", &a, "ok", ""),
        (OutputCheck::Off, "good:lie", &a, "ok", ""),
    ] {
        let test = TestRunner::new(CallLimits { output_check: check, ..long_limits() })
            .tools(tools.clone());
        let result = test.call(id, arguments.clone()).await;
        assert_eq!(word(&result), expected, "{check:?} {id}");
        let said = match &result {
            Ok(outcome) => outcome.warnings.join("\n"),
            Err(failure) => failure.message.clone(),
        };
        assert_eq!(said.is_empty(), says.is_empty(), "{check:?} {id}: {said}");
        assert!(said.contains(says), "{check:?} {id}: {said}");
        test.close().await;
    }
}

#[tokio::test]
async fn errors_of_an_output_schema_name_their_position() {
    let schema = json!({"type": "object", "properties": {"echo": {
        "type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    }}});
    let test = TestRunner::with([tool("t:echo", process("echo")).output(schema)]);
    let failure = test.call("t:echo", json!({"a": 1, "b": 2})).await.unwrap_err();
    let paths: Vec<&str> = failure.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["/echo/a", "/echo/b"]);
}

/// The limit counts the bytes of the whole answer, with the JSON around a text. So the longest text
/// that passes is a little shorter than the limit, and one byte more is refused.
#[tokio::test]
async fn the_output_limit_is_exact() {
    const CAP: u64 = 40_000;
    let server = TestServer::stdio("good", &[]);
    let test = TestRunner::new(CallLimits { output: CAP as usize, ..long_limits() }).tools([
        tool("t:json", process("big")),
        tool("t:text", shell(r#"head -c "$1" /dev/zero | tr '\0' x"#)),
        server.tool("big"),
    ]);
    for id in ["t:json", "t:text", "good:big"] {
        let call = async |bytes: u64| {
            let arguments = if id == "t:text" {
                json!({"args": [bytes.to_string()]})
            } else {
                json!({"bytes": bytes})
            };
            test.call(id, arguments).await
        };
        let (mut passes, mut fails) = (CAP - 100, CAP + 1);
        assert_eq!(word(&call(passes).await), "ok", "{id}");
        while fails - passes > 1 {
            let middle = passes.midpoint(fails);
            match word(&call(middle).await) {
                "ok" => passes = middle,
                _ => fails = middle,
            }
        }
        let whole = call(passes).await.unwrap();
        assert!(whole.texts().len() as u64 >= passes, "{id}: the answer was cut");
        let failure = call(fails).await.unwrap_err();
        assert_eq!(failure.code.name, "OUTPUT_TOO_LARGE", "{id}");
        assert!(failure.message.contains("40000 bytes"), "{id}: {}", failure.message);
        assert!((CAP - 64..=CAP).contains(&passes), "{id}: the longest that passes is {passes}");
        assert_eq!(word(&call(CAP * 5).await), "OUTPUT_TOO_LARGE", "{id}");
    }
    test.close().await;
}

#[tokio::test]
async fn tools_can_be_replaced_while_calls_run() {
    let server = TestServer::stdio("good", &[]);
    let test = TestRunner::with([tool("t:gate", gate()), server.tool("progress")]);
    let release = test.file("release");
    let (gate, _) = test.start("t:gate", json!({"args": [release]}));
    let host = ProgressRecorder::default();
    let on_server = request("good:progress", json!({"steps": 2, "ms": 500}));
    let on_server = test.runner.call(on_server, &host);
    let replacing = async {
        wait_until("the program runs", || test.path("release.started").exists()).await;
        wait_until("the server works", || !host.0.lock().unwrap().is_empty()).await;
        test.runner.set_tools(registry([tool("t:echo", process("echo"))]));
        let gone = test.call("t:gate", json!({"args": [release]})).await;
        assert_eq!(word(&gone), "TOOL_NOT_FOUND");
        assert_eq!(word(&test.call("t:echo", json!({})).await), "ok");
        std::fs::write(&release, "").unwrap();
    };
    let (on_server, ()) = futures::future::join(on_server, replacing).await;
    assert_eq!(value(on_server), json!({"steps": 2}));
    assert_eq!(gate.await.unwrap().unwrap().texts(), "released\n");
    test.close().await;
}

#[tokio::test(start_paused = true)]
async fn limits_can_be_replaced() {
    let test = SimulatedRunner::new(long_limits(), [simulated("t:hang")]);
    test.runner.set_limits(limits(120, 60_000));
    let failure = test.call("t:hang", json!({})).await.unwrap_err();
    assert_eq!(failure.message, "`t:hang` did not answer within 120 ms");
}

fn named_tools() -> [ToolBuilder; 7] {
    [
        "git:status",
        "git:commit",
        "files:read_file",
        "files:write_file",
        "other:commit",
        "bare",
        "a.b:dotted.name",
    ]
    .map(|id| tool(id, process("echo")))
}

#[tokio::test]
async fn tools_are_called_by_their_exact_id() {
    let test = TestRunner::with(named_tools());
    let none = "list the tools and use an id from there";
    for (id, expected, help) in [
        ("git:status", "ok", ""),
        ("bare", "ok", ""),
        ("a.b:dotted.name", "ok", ""),
        ("status", "TOOL_NOT_FOUND", "did you mean `git:status`?"),
        ("dotted.name", "TOOL_NOT_FOUND", "did you mean `a.b:dotted.name`?"),
        ("commit", "TOOL_NOT_FOUND", "did you mean `git:commit`, `other:commit`?"),
        ("git:statsu", "TOOL_NOT_FOUND", "did you mean `git:status`?"),
        ("GIT:STATUS", "TOOL_NOT_FOUND", "did you mean `git:status`?"),
        ("files:readfile", "TOOL_NOT_FOUND", "did you mean `files:read_file`"),
        ("xyzzy", "TOOL_NOT_FOUND", none),
        ("", "TOOL_NOT_FOUND", none),
        (":", "TOOL_NOT_FOUND", none),
    ] {
        let result = test.call(id, json!({})).await;
        assert_eq!(word(&result), expected, "{id}");
        if let Err(failure) = result {
            assert_eq!(failure.message, format!("there is no tool `{id}`"));
            assert!(failure.suggestion.starts_with(help), "{id}: {}", failure.suggestion);
        }
    }
}

#[test]
fn a_bare_name_finds_a_tool_if_only_one_has_it() {
    let registry = registry(named_tools());
    for (name, id) in [
        ("git:status", Some("git:status")),
        ("status", Some("git:status")),
        ("bare", Some("bare")),
        ("dotted.name", Some("a.b:dotted.name")),
        ("commit", None),
        ("statsu", None),
        ("", None),
    ] {
        assert_eq!(registry.find(name).map(|tool| tool.id.to_string()).as_deref(), id, "{name}");
    }
}

#[tokio::test]
async fn tools_that_cannot_be_run_are_refused_with_the_reason() {
    let web_socket =
        TestServer::over("ws", Connection::WebSocket { url: "ws://127.0.0.1:1/".into() });
    let orchestration = Binding::Orchestration { helper: "h".into(), aggregates: Vec::new() };
    let test = TestRunner::with([
        tool("t:bad", process("echo")).quarantined("`type` is wrong (INVALID_TYPE)"),
        tool("t:script", Binding::Script),
        tool("t:unbound", Binding::Unbound),
        tool("t:nameless", Binding::Executable { program: None }),
        tool("t:helper", orchestration),
        web_socket.tool("any"),
    ]);
    for (id, code, message) in [
        ("t:bad", "QUARANTINED", "`t:bad` is quarantined: `type` is wrong (INVALID_TYPE)"),
        ("t:script", "NOT_RUNNABLE", "`script` has no body: no file was searched for one"),
        ("t:unbound", "NOT_RUNNABLE", "`t:unbound` cannot be run here (binding: none)"),
        ("t:nameless", "NOT_RUNNABLE", "`t:nameless` cannot be run here (binding: executable)"),
        ("t:helper", "NOT_RUNNABLE", "`helper` is run by the helper `h`, which is missing"),
        (
            "ws:any",
            "UPSTREAM_UNAVAILABLE",
            "the server cannot be reached: no server listens at this address (connection refused)",
        ),
    ] {
        let failure = test.call(id, json!({})).await.unwrap_err();
        assert_eq!((failure.code.name, failure.message.as_str()), (code, message));
    }
}

/// The longest time for which the thread of the runtime did not get to a task that is always ready,
/// while `work` ran.
async fn longest_gap<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let mut work = std::pin::pin!(work);
    let (mut longest, mut before) = (Duration::ZERO, std::time::Instant::now());
    loop {
        tokio::select! {
            biased;
            done = &mut work => return (longest.max(before.elapsed()), done),
            () = tokio::task::yield_now() => {
                longest = longest.max(before.elapsed());
                before = std::time::Instant::now();
            }
        }
    }
}

/// The checks of each case take from half a second to several.
#[tokio::test]
async fn expensive_schemas_do_not_stop_other_calls() {
    let ones: Json = vec![1; 400_000].into();
    let objects: Json = vec![json!({}); 300_000].into();
    let names: Vec<String> = (0..90_000).map(|n| format!("p{n}")).collect();
    let keys: serde_json::Map<String, Json> =
        (0..50_000).map(|n| (format!("p{n}"), json!(1))).collect();
    let branches: Vec<Json> = (0..150).map(|n| json!({"const": n + 5})).collect();
    let patterns: serde_json::Map<String, Json> =
        (0..900).map(|n| (format!("^(a|b|q{n}).*$"), json!({"type": "string"}))).collect();
    let values: Vec<u64> = (2..100_000).collect();
    for (name, schema, argument) in [
        ("anyOf", json!({"items": {"anyOf": branches}}), &ones),
        ("enum", json!({"items": {"enum": values}}), &ones),
        ("required", json!({"items": {"required": names}}), &objects),
        ("patternProperties", json!({"patternProperties": patterns}), &Json::Object(keys)),
    ] {
        let hostile = simulated("h:hostile").input(json!({"properties": {"a": schema}}));
        let runner = SimulatedRunner::new(long_limits(), [hostile, simulated("q:quick")]);
        let quick_calls = async {
            // Few, so that they end long before the check on a busy machine, too; if the check held
            // up others, the first one would wait for its end.
            for n in 0..10 {
                assert_eq!(word(&runner.call("q:quick", json!({"n": n, "ms": 0})).await), "ok");
            }
            std::time::Instant::now()
        };
        let hostile_call = async {
            let result = runner.call("h:hostile", json!({"a": argument})).await;
            (std::time::Instant::now(), result)
        };
        let both = async { tokio::join!(hostile_call, quick_calls) };
        let (gap, ((hostile_end, result), quick_end)) = longest_gap(both).await;
        assert_eq!(word(&result), "INPUT_INVALID", "{name}");
        assert!(quick_end < hostile_end, "{name}: the quick calls waited");
        // The order above is what counts; a busy machine alone makes gaps of half a second.
        assert!(gap < Duration::from_secs(5), "{name}: {gap:?}");
        // However many values are wrong, a caller reads a few.
        let size = result.unwrap_err().to_text().len();
        assert!(size < 50_000, "{name}: {size} bytes");
    }
}

/// A check that is not over at the deadline ends its call all the same.
#[tokio::test]
async fn an_expensive_schema_ends_at_the_deadline() {
    let ones: Json = vec![1; 400_000].into();
    let branches: Vec<Json> = (0..150).map(|n| json!({"const": n + 5})).collect();
    let schema = json!({"properties": {"a": {"items": {"anyOf": branches}}}});
    let limits = CallLimits { timeout: Duration::from_millis(50), ..long_limits() };
    let runner = SimulatedRunner::new(limits, [simulated("h:hostile").input(schema)]);
    assert_eq!(word(&runner.call("h:hostile", json!({"a": ones})).await), "TIMEOUT");
}
