//! Tools of MCP servers on stdio: opening and sharing the connection, its failures, and its end.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::join_all;

use crate::support::*;

/// The time limit of calls that must exceed it, in milliseconds.
const SHORT: u64 = 4_000;

/// The pause after the first failure of a server; each further failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

fn runner_with(servers: &[&TestServer]) -> TestRunner {
    TestRunner::with(servers.iter().flat_map(|server| server.tools()))
}

#[tokio::test]
async fn every_mode_ends_with_its_code() {
    let gone = "UPSTREAM_UNAVAILABLE: the server went away during the call";
    let unready = "UPSTREAM_UNAVAILABLE: the server cannot be reached";
    let late = "TIMEOUT: ";
    let modes = [
        ("good", "ok"),
        ("paged", "ok"),
        ("modern", "ok"),
        ("slow-start", "ok"),
        ("garbage", "ok"),
        ("flood-err", "ok"),
        ("huge", "ok"),
        ("huge-first", "ok"),
        ("changing", "ok"),
        ("changing-bad", "ok"),
        ("bad-list", "ok"),
        ("double", "ok"),
        ("ignore-term", "ok"),
        ("hang-start", late),
        ("garbage-only", late),
        ("never", late),
        ("flood-log", late),
        ("wrong-id", late),
        ("exit-start", unready),
        ("close-stdout-start", unready),
        ("dies-every-call", gone),
        ("close-stdout", gone),
        ("die-mid", gone),
        ("notanobject", "OUTPUT_INVALID: the server's answer is"),
        ("no-such-mode", unready),
    ];
    let servers = modes.map(|(mode, _)| TestServer::stdio(mode, &[("START_MS", "300")]));
    let test = runner_with(&servers.each_ref());
    let calls = modes.map(|(mode, says)| {
        let test = &test;
        async move {
            let id = format!("{mode}:echo");
            let result = match says == late {
                true => test.call_within(&id, json!({"n": 1}), SHORT).await,
                false => test.call(&id, json!({"n": 1})).await,
            };
            match says {
                "ok" => assert_eq!(value(result), json!({"echo": {"n": 1}}), "{mode}"),
                _ => assert!(failure(result.clone()).starts_with(says), "{mode}: {result:?}"),
            }
        }
    });
    join_all(calls).await;
}

#[tokio::test]
async fn a_server_that_floods_notifications_is_disconnected() {
    let server = TestServer::stdio("flood-out", &[]);
    let test = runner_with(&[&server]);
    let failure = failure(test.call("flood-out:echo", json!({})).await);
    assert!(failure.starts_with("UPSTREAM_UNAVAILABLE"), "{failure}");
    assert!(failure.contains("20000 messages that were not requested"), "{failure}");
    test.close().await;
}

#[tokio::test]
async fn results_arrive_unchanged() {
    let server = TestServer::stdio("good", &[("GIVEN", "this")]);
    let test = runner_with(&[&server]);
    let image = test.call("good:image", json!({"unknown": true})).await.unwrap();
    let blocks: Vec<Json> =
        image.content.iter().map(toolwright_exec::ResultContent::to_json).collect();
    let kinds: Vec<&Json> = blocks.iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource_link", "resource", "hologram"]);
    assert_eq!(blocks[5], json!({"type": "hologram", "depth": 3}));
    assert_eq!(blocks[3]["size"], 12);
    assert!(blocks[..5].iter().all(|block| block["_meta"] == json!({"example.com/block": true})));
    assert_eq!(blocks[0]["annotations"]["lastModified"], "2026-01-02T03:04:05Z");
    assert_eq!(image.meta, Some(json!({"example.com/result": 1})));

    let fail = test.call("good:fail", json!({})).await.unwrap();
    assert_eq!((fail.is_error, fail.texts().as_str()), (true, "it broke"));
    let refused = test.call("good:rpc-error", json!({})).await.unwrap_err();
    let message = "the server answered with error -32050: upstream says no";
    assert_eq!((refused.code.name, refused.message.as_str()), ("TOOL_FAILED", message));

    let mut seen = value(test.call("good:env", json!({})).await)["env"].take();
    assert!(seen.as_object_mut().unwrap().remove("TOOLWRIGHT_RUN").is_some());
    let folder = test.folder.path().to_str().unwrap();
    let expected = json!({"PATH": "/usr/bin:/bin", "TEST_FOLDER": folder, "GIVEN": "this"});
    assert_eq!(seen, expected);
    test.close().await;
}

#[tokio::test]
async fn dotted_and_long_names_reach_the_server() {
    let server = TestServer::stdio("good", &[]);
    let long = "long_name.".repeat(13)[..128].to_owned();
    let names = ["dotted.name", long.as_str()];
    let test = TestRunner::with(names.map(|name| server.tool(name)));
    for name in names {
        let answer = test.call(&format!("good:{name}"), json!({"n": 1})).await;
        assert_eq!(value(answer), json!({"echo": {"n": 1}}), "{name}");
    }
    test.close().await;
}

#[tokio::test]
async fn fifty_first_calls_share_one_connection() {
    let test = TestRunner::with([]);
    let server =
        TestServer::command("it", &[&counting_server(&test), "slow-start"], &[("START_MS", "200")]);
    test.runner.set_tools(registry(server.tools()));
    let answers = join_all((0..50).map(|_| test.call("it:pid", json!({})))).await;
    let pids: Vec<Json> = answers.into_iter().map(value).collect();
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    assert_eq!(count_starts(&test, "slow-start"), 1);
    test.close().await;
}

/// The argument with which [`counting_server`] exits after the handshake.
const EXIT_AFTER_HANDSHAKE: &str = "exit-after-handshake";

/// A script that runs `faulty-server` in the mode of its argument, and appends a line to the file
/// `MODE.starts` at every start.
fn counting_server(test: &TestRunner) -> String {
    let (folder, program) = (test.folder.path().display(), faulty_server());
    let result = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "serverInfo": {"name": "x", "version": "1"},
    });
    let script = format!(
        r#"#!/bin/sh
        echo started >>"{folder}/$1.starts"
        [ "$1" = {EXIT_AFTER_HANDSHAKE} ] || exec '{program}' mcp "$1"
        read -r line
        id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
        printf '{{"jsonrpc":"2.0","id":%s,"result":{result}}}\n' "$id"
        echo goodbye >&2
        "#
    );
    test.write("wrapper", &script, 0o755)
}

fn count_starts(test: &TestRunner, mode: &str) -> usize {
    count_lines(&test.path(&format!("{mode}.starts")))
}

#[tokio::test]
async fn a_server_that_exited_is_started_again_after_a_pause() {
    let test = TestRunner::with([]);
    let server = TestServer::command("it", &[&counting_server(&test), "good"], &[]);
    test.runner.set_tools(registry(server.tools()));
    let first = value(test.call("it:pid", json!({})).await);
    // Before the exit, so that the pause is never longer than what is measured.
    let before = Instant::now();
    let failure = failure(test.call("it:exit", json!({})).await);
    assert!(
        failure.contains("ended with status 7; its stderr ends with: about to fall over"),
        "{failure}"
    );
    let second = loop {
        match test.call("it:pid", json!({})).await {
            Ok(outcome) => break outcome.structured.unwrap(),
            Err(failure) => {
                assert_eq!(failure.code.name, "UPSTREAM_UNAVAILABLE");
                assert!(failure.message.contains("about to fall over"), "{failure}");
                assert_eq!(count_starts(&test, "good"), 1, "a refused call started the server");
            }
        }
        assert!(before.elapsed() < PATIENCE, "it is never started again");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(before.elapsed() >= FIRST_PAUSE, "there was no pause: {:?}", before.elapsed());
    assert_ne!(first, second);
    assert_eq!(count_starts(&test, "good"), 2);
    test.close().await;
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_started_less_and_less_often() {
    let test = TestRunner::with([]);
    let script = counting_server(&test);
    let modes = [
        ("exit-start", "cannot find the database"),
        ("dies-every-call", "one call too many"),
        (EXIT_AFTER_HANDSHAKE, "goodbye"),
    ];
    let server = |mode| TestServer::command(mode, &[&script, mode], &[]);
    test.runner.set_tools(registry(modes.map(|(mode, _)| server(mode).tool("echo"))));
    join_all(modes.map(|(mode, says)| call_until_refused(&test, mode, says))).await;
    test.close().await;
}

/// Calls a failing server until it was started three times and many calls were refused without a
/// start.
async fn call_until_refused(test: &TestRunner, mode: &str, says: &str) {
    let id = format!("{mode}:echo");
    let begin = Instant::now();
    let (mut starts, mut refused) = (0, 0);
    while starts < 3 || refused < 20 {
        let result = test.call(&id, json!({})).await;
        assert_eq!(word(&result), "UPSTREAM_UNAVAILABLE", "{mode}");
        let starts_before = std::mem::replace(&mut starts, count_starts(test, mode));
        refused += usize::from(starts == starts_before);
        // The starts are at 0, 250, 750, 1750 ms or later: the pause doubles.
        let pauses = FIRST_PAUSE * ((1 << (starts - 1)) - 1);
        assert!(begin.elapsed() >= pauses, "{mode}: {starts} starts in {:?}", begin.elapsed());
        if starts == starts_before && starts > 1 {
            let text = failure(result);
            let repeated = "in a row and is tried again in";
            assert!(text.contains(says) && text.contains(repeated), "{mode}: {text}");
            assert!(text.contains("the server failed before this call: "), "{mode}: {text}");
        }
        assert!(begin.elapsed() < PATIENCE, "{mode}: {refused} refused, {starts} starts");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn a_server_whose_program_is_missing_cannot_be_started() {
    let server = TestServer::command("it", &["/no/such/server", "--token=sesame"], &[]);
    let empty = TestServer::command("empty", &[], &[]);
    let test = runner_with(&[&server, &empty]);
    let failure = test.call("it:echo", json!({})).await.unwrap_err();
    assert_eq!(failure.code.name, "SPAWN_FAILED");
    assert!(
        failure
            .message
            .starts_with("`/no/such/server` cannot be started: there is no such program")
    );
    assert!(!format!("{failure:?}{}", test.log()).contains("sesame"));
    assert_eq!(word(&test.call("empty:echo", json!({})).await), "UPSTREAM_UNAVAILABLE");
}

#[tokio::test]
async fn a_missing_required_variable_is_reported() {
    let mut server = TestServer::stdio("good", &[]);
    let needs = Variable { name: "API_KEY".into(), required: true, ..Variable::default() };
    Arc::make_mut(&mut server.server).environment.push(needs);
    let test = runner_with(&[&server]);
    let failure = test.call("good:echo", json!({})).await.unwrap_err();
    assert_eq!(failure.message, "the server needs the variable `API_KEY`, which is not set");
}

#[tokio::test]
async fn calls_that_are_given_up_are_cancelled_at_the_server() {
    for mode in ["good", "modern"] {
        let test = TestRunner::with([]);
        let (calls_log, cancel_log) = (test.file("calls"), test.file("cancelled"));
        let environment = [("CALL_LOG", calls_log.as_str()), ("CANCEL_LOG", cancel_log.as_str())];
        let server = TestServer::stdio(mode, &environment);
        test.runner.set_tools(registry(server.tools()));
        let arrived = || count_lines(&test.path("calls"));
        let cancelled = || count_lines(&test.path("cancelled"));
        let id = format!("{mode}:sleep");
        let pid = value(test.call(&format!("{mode}:pid"), json!({})).await);

        let (call, cancel) = test.start(&id, json!({"ms": 60_000}));
        wait_until("the call arrives", || arrived() == 2).await;
        cancel.cancel();
        assert_eq!(word(&call.await.unwrap()), "CANCELLED");
        wait_until("the server cancels a cancelled call", || cancelled() == 1).await;
        assert_eq!(word(&test.call_within(&id, json!({"ms": 60_000}), 2_000).await), "TIMEOUT");
        wait_until("the server cancels a call that timed out", || cancelled() == 2).await;
        let (call, _) = test.start(&id, json!({"ms": 60_000}));
        wait_until("the call arrives", || arrived() == 4).await;
        call.abort();
        wait_until("the server cancels a dropped call", || cancelled() == 3).await;
        // A call that has its answer is not cancelled.
        assert_eq!(value(test.call(&id, json!({"ms": 1})).await), json!({"slept": 1}));
        assert_eq!(value(test.call(&format!("{mode}:pid"), json!({})).await), pid);
        assert_eq!(cancelled(), 3);
        test.close().await;
    }
}

/// A caller that records progress.
#[derive(Default)]
pub(crate) struct ProgressRecorder(pub(crate) Mutex<Vec<Progress>>);

impl Host for ProgressRecorder {
    fn progress(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }

    fn wants_progress(&self) -> bool {
        true
    }
}

/// The reports of a call with this many steps.
pub(crate) fn steps(count: u32) -> Vec<Progress> {
    (1..=count)
        .map(|n| Progress {
            done: n.into(),
            total: Some(count.into()),
            message: Some(format!("step {n}")),
            given: json!({"progress": n, "total": count, "message": format!("step {n}")}),
        })
        .collect()
}

#[tokio::test]
async fn progress_arrives_in_order_and_complete() {
    for mode in ["good", "modern"] {
        let server = TestServer::stdio(mode, &[]);
        let test = runner_with(&[&server]);
        for ms in [1, 0, 0, 0, 0, 0] {
            let host = ProgressRecorder::default();
            let request = request(&format!("{mode}:progress"), json!({"steps": 100, "ms": ms}));
            assert_eq!(value(test.runner.call(request, &host).await), json!({"steps": 100}));
            assert_eq!(host.0.into_inner().unwrap(), steps(100), "{mode}");
        }
        test.close().await;
    }
}

#[tokio::test]
async fn each_call_gets_its_own_progress() {
    let server = TestServer::stdio("good", &[]);
    let test = runner_with(&[&server]);
    let calls = (1..=10).map(|n| {
        let test = &test;
        async move {
            let host = ProgressRecorder::default();
            let request = request("good:progress", json!({"steps": 10 * n, "ms": 1}));
            assert_eq!(word(&test.runner.call(request, &host).await), "ok");
            assert_eq!(host.0.into_inner().unwrap(), steps(10 * n));
        }
    });
    join_all(calls).await;
    test.close().await;
}

#[tokio::test]
async fn lists_are_complete_and_their_changes_are_counted() {
    for (mode, tools, change) in [
        ("good", 14, None),
        ("paged", 14, None),
        ("bad-list", 5, None),
        ("changing", 14, Some(("echo", 15))),
        ("changing-bad", 14, Some(("echo", 18))),
        ("modern", 15, Some(("change", 16))),
    ] {
        let server = TestServer::stdio(mode, &[]);
        let test = runner_with(&[&server]);
        let upstream = test.runner.context().upstreams.get(&server.server);
        let changes = upstream.changes();
        let length = async || upstream.list().await.unwrap()["tools"].as_array().unwrap().len();
        assert_eq!(length().await, tools, "{mode}");
        assert_eq!(*changes.borrow(), 0, "{mode}");
        if let Some((call, more)) = change {
            assert_eq!(word(&test.call(&format!("{mode}:{call}"), json!({})).await), "ok");
            wait_until("the change is announced", || *changes.borrow() == 1).await;
            assert_eq!(length().await, more, "{mode}");
        }
        test.close().await;
    }
}

/// A server that was restarted may have other tools.
#[tokio::test]
async fn a_restart_counts_as_a_change() {
    let server = TestServer::stdio("good", &[]);
    let test = runner_with(&[&server]);
    let changes = test.runner.context().upstreams.get(&server.server).changes();
    assert_eq!(word(&test.call("good:exit", json!({})).await), "UPSTREAM_UNAVAILABLE");
    let end = Instant::now() + PATIENCE;
    while word(&test.call("good:echo", json!({})).await) != "ok" {
        assert!(Instant::now() < end, "it is never started again");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(*changes.borrow(), 1);
    test.close().await;
}

/// The calls of the good server end while those of the hanging ones still wait.
#[tokio::test]
async fn faulty_servers_do_not_delay_others() {
    let good = TestServer::stdio("good", &[]);
    let modes = ["hang-start", "never", "flood-err", "exit-start", "flood-out"];
    let faulty = modes.map(|mode| TestServer::stdio(mode, &[]));
    let all: Vec<&TestServer> = faulty.iter().chain([&good]).collect();
    let test = runner_with(&all);
    let upstream = test.runner.context().upstreams.get(&good.server);
    let calls = modes.map(|mode| test.start(&format!("{mode}:echo"), json!({})).0);
    assert_eq!(value(test.call("good:echo", json!({"n": 1})).await), json!({"echo": {"n": 1}}));
    assert!(upstream.list().await.is_ok());
    let many = join_all((0..20).map(|n| test.call("good:echo", json!({"n": n})))).await;
    assert!(many.iter().all(|result| word(result) == "ok"), "{many:?}");
    // `hang-start` and `never` give up after a minute.
    assert!(!calls[1].is_finished(), "the call of `never` has ended");
    calls.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn closing_kills_all_servers_and_their_children() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid").to_str().unwrap().to_owned();
    let modes = ["good", "modern", "flood-err", "close-stdout", "ignore-term", "forks", "never"];
    let servers = modes.map(|mode| TestServer::stdio(mode, &[("PID_FILE", &file)]));
    let test = runner_with(&servers.each_ref());
    join_all(modes.map(|mode| {
        let test = &test;
        async move { test.call_within(&format!("{mode}:echo"), json!({}), 2_500).await }
    }))
    .await;
    let grandchild = pid_in(&file).await;
    wait_until("all servers run", || test.processes().len() >= modes.len()).await;
    // Servers that ignore everything but SIGKILL live for two minutes.
    let closing = tokio::time::timeout(Duration::from_secs(60), test.runner.close()).await;
    assert!(closing.is_ok(), "closing waits for a server to end by itself");
    assert_eq!(test.processes(), Vec::<String>::new());
    wait_until("the grandchild is gone", || !exists(grandchild)).await;
}

#[tokio::test]
async fn closing_kills_servers_that_are_still_starting() {
    for how in ["close", "keep"] {
        let modes = ["hang-start", "garbage-only", "slow-start"];
        let servers = modes.map(|mode| TestServer::stdio(mode, &[("START_MS", "1000")]));
        let test = runner_with(&servers.each_ref());
        let calls = modes.map(|mode| {
            let test = &test;
            async move { word(&test.call_within(&format!("{mode}:echo"), json!({}), 200).await) }
        });
        assert_eq!(join_all(calls).await, ["TIMEOUT"; 3]);
        wait_until("they are starting", || test.processes().len() == 3).await;
        match how {
            "close" => test.runner.close().await,
            _ => test.runner.context().upstreams.keep(&[]),
        }
        test.assert_no_processes_left(how).await;
    }
}

#[tokio::test]
async fn only_servers_in_the_configuration_are_kept() {
    let [one, other] = ["good", "paged"].map(|mode| TestServer::stdio(mode, &[]));
    let test = runner_with(&[&one, &other]);
    let pid = value(test.call("good:pid", json!({})).await);
    assert_eq!(word(&test.call("paged:pid", json!({})).await), "ok");
    // An equal description means the same server.
    let again = Arc::new(Server::clone(&one.server));
    test.runner.context().upstreams.keep(&[again]);
    wait_until("one server is left", || test.processes().len() == 1).await;
    assert_eq!(value(test.call("good:pid", json!({})).await), pid);
    test.close().await;
}

/// Exclusive, because the peak memory is that of the whole process.
#[tokio::test]
async fn an_answer_of_a_hundred_megabytes_is_refused_and_not_buffered() {
    for mode in ["huge", "huge-first"] {
        let server = TestServer::stdio(mode, &[]);
        let test = TestRunner::exclusive().tools(server.tools());
        let pid = value(test.call(&format!("{mode}:pid"), json!({})).await);
        let before = status("VmHWM");
        let id = format!("{mode}:big");
        for bytes in [100_000_000, 16 << 20, (16 << 20) + 1, 5_000_000] {
            let result = test.call(&id, json!({"bytes": bytes})).await;
            assert_eq!(word(&result), "OUTPUT_TOO_LARGE", "{mode} {bytes}: {result:?}");
        }
        let grown = (status("VmHWM") - before) / 1024;
        assert!(grown < 150, "{mode}: {grown} MB more at the peak");
        // The connection still works.
        assert_eq!(value(test.call(&format!("{mode}:pid"), json!({})).await), pid);
        test.close().await;
    }
}
