//! The steps around every call, whichever executor does the work.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use crate::support::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Generous, since other tests share the machine; what must not happen takes far longer.
const SLACK: Duration = Duration::from_secs(4);

fn limits(timeout: u64, cap: u64) -> Limits {
    Limits { timeout: MS(timeout), max_timeout: MS(cap), ..Limits::default() }
}

#[tokio::test]
async fn the_nearest_word_on_time_holds_and_the_cap_above_all() {
    let long = 60_000;
    for (call, tool_says, toolset_says, default, cap, allowed) in [
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
        let bench = Bench::new(limits(default, cap))
            .put([tool("t:hang", process("hang")).timeout(tool_says).toolset(toolset_says)]);
        let request = Request { timeout: call.map(MS), ..ask("t:hang", json!({})) };
        let (took, answer) = timed(bench.ask(request)).await;
        assert_eq!(word(&answer), "TIMEOUT");
        assert_eq!(
            answer.unwrap_err().message,
            format!("`t:hang` did not answer within {allowed} ms")
        );
        assert!(took >= MS(allowed) && took < MS(allowed) + SLACK, "{allowed} ms took {took:?}");
        bench.nothing_left("a time-out").await;
    }
}

/// One call works for `first` ms; a second waits for it and then works for `second` ms.
async fn one_behind_the_other(
    declared: u64,
    callers: Option<u64>,
    first: u64,
    second: u64,
) -> Answer {
    let lane = Arc::new(Lane::new(1, 8));
    let bench = Bench::with([
        tool("t:first", process("sleep")).lane(&lane).timeout(30_000),
        tool("t:second", process("sleep")).lane(&lane).timeout(declared),
    ]);
    let request = Request { timeout: callers.map(MS), ..ask("t:second", json!({"ms": second})) };
    let both =
        futures::future::join(bench.call("t:first", json!({"ms": first})), bench.ask(request));
    let (first, second) = both.await;
    assert_eq!(word(&first), "ok");
    bench.nothing_left("two calls").await;
    second
}

#[tokio::test]
async fn a_declared_time_counts_work_and_the_callers_own_counts_waiting_too() {
    // Declared: 500 ms of waiting and 500 ms of work are each within 900 ms.
    let declared = one_behind_the_other(900, None, 500, 500).await;
    assert_eq!(word(&declared), "ok");
    // The caller's own: they are not together.
    let own = one_behind_the_other(60_000, Some(900), 500, 500).await;
    assert_eq!(own.unwrap_err().message, "`t:second` did not answer within 900 ms");
    // Whoever is not even started says so.
    let waited = one_behind_the_other(60_000, Some(150), 500, 0).await.unwrap_err();
    assert_eq!(waited.code.name, "TIMEOUT");
    assert!(
        waited.message.starts_with("`t:second` was not started within 150 ms"),
        "{}",
        waited.message
    );
}

#[tokio::test]
async fn who_finds_the_queue_full_is_turned_away_at_once() {
    let lane = Arc::new(Lane::new(1, 2));
    let bench = Bench::with([tool("t:sleep", process("sleep")).lane(&lane)]);
    let calls = (0..5).map(|_| async { timed(bench.call("t:sleep", json!({"ms": 300}))).await });
    let answers = join_all(calls).await;
    let words: Vec<&str> = answers.iter().map(|(_, answer)| word(answer)).collect();
    assert_eq!(words, ["ok", "ok", "ok", "BUSY", "BUSY"]);
    assert!(answers[3].0 < MS(200), "turning away took {:?}", answers[3].0);
    let again = bench.call("t:sleep", json!({"ms": 0})).await;
    assert_eq!(word(&again), "ok");
}

#[tokio::test]
async fn no_queue_means_no_waiting() {
    let lane = Arc::new(Lane::new(2, 0));
    let bench = Bench::with([tool("t:sleep", process("sleep")).lane(&lane)]);
    let answers = join_all((0..3).map(|_| bench.call("t:sleep", json!({"ms": 200})))).await;
    assert_eq!(answers.iter().map(word).collect::<Vec<_>>(), ["ok", "ok", "BUSY"]);
}

#[tokio::test]
async fn who_came_first_is_served_first() {
    let lane = Arc::new(Lane::new(1, 64));
    let bench = Bench::with([tool("t:note", shell(r#"echo "$1" >>"$2""#)).lane(&lane)]);
    let file = bench.file("order");
    let calls = (0..25).map(|n| bench.call("t:note", json!({"args": [n.to_string(), file]})));
    assert!(join_all(calls).await.iter().all(|answer| word(answer) == "ok"));
    let order: Vec<String> =
        std::fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(order, (0..25).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_lane_is_as_wide_as_it_says() {
    let lane = Arc::new(Lane::new(3, 64));
    // Each notes how many are inside while it is: files in a folder are counted.
    let script =
        r#"mkdir -p "$1"; : >"$1/$$"; ls "$1" | wc -l >>"$1.seen"; sleep 0.05; rm "$1/$$""#;
    let bench = Bench::with([tool("t:inside", shell(script)).lane(&lane)]);
    let folder = bench.file("inside");
    let answers =
        join_all((0..12).map(|_| bench.call("t:inside", json!({"args": [folder]})))).await;
    assert!(answers.iter().all(|answer| word(answer) == "ok"), "{answers:?}");
    let seen = std::fs::read_to_string(format!("{folder}.seen")).unwrap();
    let most = seen.lines().map(|n| n.trim().parse::<u32>().unwrap()).max();
    assert_eq!(most, Some(3), "{seen}");
}

#[tokio::test]
async fn waiting_can_be_cancelled_and_gives_its_place_back() {
    let lane = Arc::new(Lane::new(1, 1));
    let bench = Bench::with([
        tool("t:hang", process("hang")).lane(&lane),
        tool("t:echo", process("echo")).lane(&lane),
    ]);
    let (running, stop) = bench.start("t:hang", json!({}));
    until("the first call runs", || bench.left().len() == 1).await;
    for _ in 0..5 {
        let (waiting, cancel) = bench.start("t:echo", json!({}));
        tokio::task::yield_now().await;
        cancel.cancel();
        let failure = waiting.await.unwrap().unwrap_err();
        assert_eq!(failure.code.name, "CANCELLED");
        assert_eq!(failure.message, "the call of `t:echo` was cancelled before it began");
    }
    let (waiting, _) = bench.start("t:echo", json!({}));
    stop.cancel();
    assert_eq!(running.await.unwrap().unwrap_err().message, "the call of `t:hang` was cancelled");
    assert_eq!(word(&waiting.await.unwrap()), "ok");
    bench.nothing_left("cancelling").await;
}

#[tokio::test]
async fn a_call_cancelled_beforehand_starts_nothing() {
    let bench = Bench::with([tool("t:note", shell(r#": >"$1""#))]);
    let request = ask("t:note", json!({"args": [bench.file("started")]}));
    request.cancel.cancel();
    assert_eq!(word(&bench.ask(request).await), "CANCELLED");
    assert!(!bench.path("started").exists());
}

#[derive(Clone, Copy, Debug)]
enum End {
    Cancelled,
    Dropped,
    TimedOut,
    Failed,
    NotStarted,
    Refused,
}

#[tokio::test]
async fn a_lane_of_one_survives_every_way_a_call_can_end() {
    let lane = Arc::new(Lane::new(1, 4));
    let server = Upstream::stdio("good", &[]);
    let bench = Bench::with([
        tool("t:hang", process("hang")).lane(&lane),
        tool("t:die", process("die")).lane(&lane),
        tool("t:none", Binding::Executable { program: Some("/no/such/program".into()) })
            .lane(&lane),
        tool("t:strict", process("echo"))
            .lane(&lane)
            .input(json!({"type": "object", "required": ["x"]})),
        tool("t:echo", process("echo")).lane(&lane),
        server.tool("sleep").lane(&lane),
    ]);
    for (end, id, times, expected) in [
        (End::Cancelled, "t:hang", 60, "CANCELLED"),
        (End::Cancelled, "good:sleep", 40, "CANCELLED"),
        (End::Dropped, "t:hang", 20, ""),
        (End::Dropped, "good:sleep", 20, ""),
        (End::TimedOut, "t:hang", 10, "TIMEOUT"),
        (End::TimedOut, "good:sleep", 10, "TIMEOUT"),
        (End::Failed, "t:die", 10, "TOOL_FAILED"),
        (End::NotStarted, "t:none", 10, "SPAWN_FAILED"),
        (End::Refused, "t:strict", 10, "INPUT_INVALID"),
    ] {
        for _ in 0..times {
            let arguments = if id == "good:sleep" { json!({"ms": 60_000}) } else { json!({}) };
            let request = ask(id, arguments);
            let cancel = request.cancel.clone();
            let soon = tokio::time::sleep(MS(5));
            match end {
                End::Cancelled => {
                    let cancelling = async { (soon.await, cancel.cancel()) };
                    let (answer, _) = futures::future::join(bench.ask(request), cancelling).await;
                    assert_eq!(word(&answer), expected, "{end:?} {id}");
                }
                End::Dropped => {
                    let dropped = tokio::time::timeout(MS(5), bench.ask(request)).await;
                    assert!(dropped.is_err(), "{end:?} {id}");
                }
                End::TimedOut => {
                    let request = Request { timeout: Some(MS(5)), ..request };
                    assert_eq!(word(&bench.ask(request).await), expected, "{end:?} {id}");
                }
                _ => assert_eq!(word(&bench.ask(request).await), expected, "{end:?} {id}"),
            }
        }
        let after = bench.call_within("t:echo", json!({"n": 1}), 10_000).await;
        assert_eq!(value(after), json!({"echo": {"n": 1}}), "after {times} times {end:?}");
    }
    bench.close().await;
}

#[tokio::test]
async fn all_arguments_that_are_wrong_are_named_at_once() {
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
    let bench = Bench::with([tool("t:echo", process("echo")).input(schema)]);
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
        let failure = bench.call("t:echo", arguments.clone()).await.unwrap_err();
        let mut found: Vec<&str> = failure.faults.iter().map(|fault| fault.path.as_str()).collect();
        found.sort_unstable();
        assert_eq!(
            (failure.code.name, found),
            ("INPUT_INVALID", paths),
            "{arguments}: {}",
            failure.to_text()
        );
        assert_eq!(failure.to_json()["errors"].as_array().unwrap().len(), failure.faults.len());
    }
}

#[tokio::test]
async fn an_output_that_breaks_its_schema() {
    let number =
        json!({"type": "object", "properties": {"echo": {"type": "object", "required": ["sum"]}}});
    let server = Upstream::stdio("good", &[]);
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
    let untold = "`t:text` has an output schema, but its answer has no structured content";
    let lied = "the answer of `good:lie` does not match its output schema";
    for (check, id, arguments, expected, says) in [
        (OutputCheck::Enforce, "t:echo", &a, "OUTPUT_INVALID", broken),
        (OutputCheck::Enforce, "t:text", &a, "OUTPUT_INVALID", untold),
        (OutputCheck::Enforce, "good:lie", &a, "OUTPUT_INVALID", lied),
        // Who says that it failed owes no result.
        (OutputCheck::Enforce, "good:fail", &a, "error", ""),
        (OutputCheck::Enforce, "good:add", &b, "ok", ""),
        (OutputCheck::Warn, "t:echo", &a, "ok", broken),
        (OutputCheck::Warn, "t:text", &a, "ok", untold),
        (OutputCheck::Warn, "good:lie", &a, "ok", lied),
        (OutputCheck::Warn, "good:add", &b, "ok", ""),
        (OutputCheck::Off, "t:echo", &a, "ok", ""),
        (OutputCheck::Off, "t:text", &a, "ok", ""),
        (OutputCheck::Off, "good:lie", &a, "ok", ""),
    ] {
        let bench =
            Bench::new(Limits { output_check: check, ..Limits::default() }).put(tools.clone());
        let answer = bench.call(id, arguments.clone()).await;
        assert_eq!(word(&answer), expected, "{check:?} {id}");
        let said = match &answer {
            Ok(outcome) => outcome.warnings.join("\n"),
            Err(failure) => failure.message.clone(),
        };
        assert_eq!(said.is_empty(), says.is_empty(), "{check:?} {id}: {said}");
        assert!(said.contains(says), "{check:?} {id}: {said}");
        bench.close().await;
    }
}

#[tokio::test]
async fn where_an_output_breaks_its_schema_is_said() {
    let schema = json!({"type": "object", "properties": {"echo": {
        "type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    }}});
    let bench = Bench::with([tool("t:echo", process("echo")).output(schema)]);
    let failure = bench.call("t:echo", json!({"a": 1, "b": 2})).await.unwrap_err();
    let paths: Vec<&str> = failure.faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, ["/echo/a", "/echo/b"]);
}

/// The cap counts what an answer takes on the wire, with what is around the text: the edge lies a
/// little below, is sharp, and never above.
#[tokio::test]
async fn the_edge_of_the_cap_is_sharp() {
    const CAP: u64 = 40_000;
    let server = Upstream::stdio("good", &[]);
    let bench = Bench::new(Limits { output: CAP as usize, ..Limits::default() }).put([
        tool("t:json", process("big")),
        tool("t:text", shell(r#"head -c "$1" /dev/zero | tr '\0' x"#)),
        server.tool("big"),
    ]);
    for id in ["t:json", "t:text", "good:big"] {
        let ask = async |bytes: u64| {
            let arguments = if id == "t:text" {
                json!({"args": [bytes.to_string()]})
            } else {
                json!({"bytes": bytes})
            };
            bench.call(id, arguments).await
        };
        let (mut passes, mut fails) = (CAP - 100, CAP + 1);
        assert_eq!(word(&ask(passes).await), "ok", "{id}");
        while fails - passes > 1 {
            let middle = passes.midpoint(fails);
            match word(&ask(middle).await) {
                "ok" => passes = middle,
                _ => fails = middle,
            }
        }
        let whole = ask(passes).await.unwrap();
        assert!(whole.texts().len() as u64 >= passes, "{id}: nothing is ever cut");
        let failure = ask(fails).await.unwrap_err();
        assert_eq!(failure.code.name, "OUTPUT_TOO_LARGE", "{id}");
        assert!(failure.message.contains("40000 bytes"), "{id}: {}", failure.message);
        assert!((CAP - 64..=CAP).contains(&passes), "{id}: the edge is at {passes}");
        assert_eq!(word(&ask(CAP * 5).await), "OUTPUT_TOO_LARGE", "{id}");
    }
    bench.close().await;
}

#[tokio::test]
async fn tools_can_be_replaced_while_calls_run() {
    let server = Upstream::stdio("good", &[]);
    let bench = Bench::with([tool("t:sleep", process("sleep")), server.tool("sleep")]);
    let (one, _) = bench.start("t:sleep", json!({"ms": 400}));
    let (other, _) = bench.start("good:sleep", json!({"ms": 400}));
    until("both calls run", || bench.left().len() == 2).await;
    bench.runner.replace(toolbox([tool("t:echo", process("echo"))]));
    assert_eq!(word(&bench.call("t:sleep", json!({"ms": 0})).await), "TOOL_NOT_FOUND");
    assert_eq!(word(&bench.call("t:echo", json!({})).await), "ok");
    assert_eq!(value(one.await.unwrap()), json!({"slept": 400}));
    assert_eq!(value(other.await.unwrap()), json!({"slept": 400}));
    bench.close().await;
}

#[tokio::test]
async fn limits_can_be_replaced_too() {
    let bench = Bench::with([tool("t:hang", process("hang"))]);
    bench.runner.limit(limits(120, 60_000));
    let failure = bench.call("t:hang", json!({})).await.unwrap_err();
    assert_eq!(failure.message, "`t:hang` did not answer within 120 ms");
}

fn known() -> [Made; 7] {
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
    let bench = Bench::with(known());
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
        let answer = bench.call(id, json!({})).await;
        assert_eq!(word(&answer), expected, "{id}");
        if let Err(failure) = answer {
            assert_eq!(failure.message, format!("there is no tool `{id}`"));
            assert!(failure.suggestion.starts_with(help), "{id}: {}", failure.suggestion);
        }
    }
}

#[test]
fn a_bare_name_means_a_tool_if_only_one_has_it() {
    let toolbox = toolbox(known());
    for (meant, id) in [
        ("git:status", Some("git:status")),
        ("status", Some("git:status")),
        ("bare", Some("bare")),
        ("dotted.name", Some("a.b:dotted.name")),
        ("commit", None),
        ("statsu", None),
        ("", None),
    ] {
        assert_eq!(toolbox.find(meant).map(|entry| entry.id.to_string()).as_deref(), id, "{meant}");
    }
}

#[tokio::test]
async fn what_is_not_run() {
    let web_socket =
        Upstream::over("ws", Connection::WebSocket { url: "ws://127.0.0.1:1/".into() });
    let orchestration = Binding::Orchestration { helper: "h".into(), aggregates: Vec::new() };
    let bench = Bench::with([
        tool("t:aside", process("echo")).quarantined("`type` is wrong (INVALID_TYPE)"),
        tool("t:script", Binding::Script),
        tool("t:unbound", Binding::Unbound),
        tool("t:nameless", Binding::Executable { program: None }),
        tool("t:helper", orchestration),
        web_socket.tool("any"),
    ]);
    for (id, code, message) in [
        ("t:aside", "QUARANTINED", "`t:aside` is set aside: `type` is wrong (INVALID_TYPE)"),
        ("t:script", "NOT_RUNNABLE", "`script` has no body: none was looked for"),
        ("t:unbound", "NOT_RUNNABLE", "`t:unbound` cannot be run here (binding: none)"),
        ("t:nameless", "NOT_RUNNABLE", "`t:nameless` cannot be run here (binding: executable)"),
        ("t:helper", "NOT_RUNNABLE", "`t:helper` cannot be run here (binding: orchestration)"),
        ("ws:any", "NOT_RUNNABLE", "servers over web sockets cannot be reached"),
    ] {
        let failure = bench.call(id, json!({})).await.unwrap_err();
        assert_eq!((failure.code.name, failure.message.as_str()), (code, message));
    }
}
