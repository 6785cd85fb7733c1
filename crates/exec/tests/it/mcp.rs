//! Tools of MCP servers that are started here: one connection, its failures, and its end.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::join_all;

use crate::support::*;

/// More than anything here may take beyond its time limit.
const IN_TIME: Duration = Duration::from_secs(8);

fn bench(servers: &[&Upstream]) -> Bench {
    Bench::new(Limits::default()).put(servers.iter().flat_map(|server| server.tools()))
}

#[tokio::test]
async fn every_mode_ends_with_its_code_in_time() {
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
        ("wrong-id", late),
        ("exit-start", unready),
        ("close-stdout-start", unready),
        ("dies-every-call", gone),
        ("close-stdout", gone),
        ("die-mid", gone),
        ("notanobject", "OUTPUT_INVALID: the server's answer is"),
        ("no-such-mode", unready),
    ];
    let servers = modes.map(|(mode, _)| Upstream::stdio(mode, &[("START_MS", "300")]));
    let bench = bench(&servers.each_ref());
    let calls = modes.map(|(mode, says)| {
        let bench = &bench;
        async move {
            let id = format!("{mode}:echo");
            let (took, answer) = timed(bench.call_within(&id, json!({"n": 1}), 4_000)).await;
            match says {
                "ok" => assert_eq!(value(answer), json!({"echo": {"n": 1}}), "{mode}"),
                _ => assert!(failure(answer.clone()).starts_with(says), "{mode}: {answer:?}"),
            }
            assert!(took < IN_TIME, "{mode} took {took:?}");
        }
    });
    join_all(calls).await;
}

#[tokio::test]
async fn a_server_that_only_talks_is_cut_off() {
    let server = Upstream::stdio("flood-out", &[]);
    let bench = bench(&[&server]);
    let (took, answer) = timed(bench.call("flood-out:echo", json!({}))).await;
    let failure = failure(answer);
    assert!(failure.starts_with("UPSTREAM_UNAVAILABLE"), "{failure}");
    assert!(failure.contains("20000 messages that were not requested"), "{failure}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    bench.close().await;
}

#[tokio::test]
async fn answers_arrive_as_they_were_sent() {
    let server = Upstream::stdio("good", &[("GIVEN", "this")]);
    let bench = bench(&[&server]);
    let image = bench.call("good:image", json!({"unknown": true})).await.unwrap();
    let kinds: Vec<&Json> = image.content.iter().map(|content| &content.0["type"]).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource_link", "resource", "hologram"]);
    assert_eq!(image.content[5].0, json!({"type": "hologram", "depth": 3}));
    assert_eq!(image.content[3].0["size"], 12);
    assert!(
        image.content[..5]
            .iter()
            .all(|content| content.0["_meta"] == json!({"example.com/block": true}))
    );
    assert_eq!(image.content[0].0["annotations"]["lastModified"], "2026-01-02T03:04:05Z");
    assert_eq!(image.meta, Some(json!({"example.com/result": 1})));

    let fail = bench.call("good:fail", json!({})).await.unwrap();
    assert_eq!((fail.is_error, fail.texts().as_str()), (true, "it broke"));
    let refused = bench.call("good:rpc-error", json!({})).await.unwrap_err();
    let message = "the server answered with error -32050: upstream says no";
    assert_eq!((refused.code.name, refused.message.as_str()), ("TOOL_FAILED", message));

    let mut seen = value(bench.call("good:env", json!({})).await)["env"].take();
    assert!(seen.as_object_mut().unwrap().remove("TOOLWRIGHT_RUN").is_some());
    let home = bench.folder.path().to_str().unwrap();
    assert_eq!(seen, json!({"PATH": "/usr/bin:/bin", "BENCH": home, "GIVEN": "this"}));
    bench.close().await;
}

#[tokio::test]
async fn names_of_every_kind_reach_the_server() {
    let server = Upstream::stdio("good", &[]);
    let long = "long_name.".repeat(13)[..128].to_owned();
    let names = ["dotted.name", long.as_str()];
    let bench = Bench::with(names.map(|name| server.tool(name)));
    for name in names {
        let answer = bench.call(&format!("good:{name}"), json!({"n": 1})).await;
        assert_eq!(value(answer), json!({"echo": {"n": 1}}), "{name}");
    }
    bench.close().await;
}

#[tokio::test]
async fn fifty_who_come_first_share_one_connection() {
    let bench = Bench::with([]);
    let server =
        Upstream::command("it", &[&counting(&bench), "slow-start"], &[("START_MS", "200")]);
    bench.runner.replace(toolbox(server.tools()));
    let answers = join_all((0..50).map(|_| bench.call("it:pid", json!({})))).await;
    let pids: Vec<Json> = answers.into_iter().map(value).collect();
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    assert_eq!(count(&bench, "slow-start"), 1);
    bench.close().await;
}

/// What [`counting`] takes for a server that dies as soon as the handshake is over.
const HELLO_AND_GOODBYE: &str = "hello-and-goodbye";

/// A script that is the mcp mode that it is given, and notes each of its starts in a file of that
/// name.
fn counting(bench: &Bench) -> String {
    let folder = bench.folder.path().display();
    let result = r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}"#;
    let script = format!(
        r#"#!/bin/sh
        echo started >>"{folder}/$1.starts"
        [ "$1" = {HELLO_AND_GOODBYE} ] || exec '{MISBEHAVE}' mcp "$1"
        read -r line
        id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
        printf '{{"jsonrpc":"2.0","id":%s,"result":{result}}}\n' "$id"
        echo goodbye >&2
        "#
    );
    bench.write("wrapper", &script, 0o755)
}

fn count(bench: &Bench, mode: &str) -> usize {
    std::fs::read_to_string(bench.path(&format!("{mode}.starts")))
        .unwrap_or_default()
        .lines()
        .count()
}

#[tokio::test]
async fn a_server_that_ended_is_started_again_after_a_pause() {
    let bench = Bench::with([]);
    let server = Upstream::command("it", &[&counting(&bench), "good"], &[]);
    bench.runner.replace(toolbox(server.tools()));
    let first = value(bench.call("it:pid", json!({})).await);
    let failure = failure(bench.call("it:exit", json!({})).await);
    let broke = Instant::now();
    assert!(
        failure.contains("ended with status 7; its stderr ends with: about to fall over"),
        "{failure}"
    );
    // Until the pause is over, nobody waits and nothing is started.
    let second = loop {
        let (took, answer) = timed(bench.call("it:pid", json!({}))).await;
        match answer {
            Ok(outcome) => break outcome.structured.unwrap(),
            Err(failure) => {
                assert_eq!(failure.code.name, "UPSTREAM_UNAVAILABLE");
                assert!(failure.message.contains("about to fall over"), "{failure}");
                assert!(took < Duration::from_millis(150), "{took:?}");
            }
        }
        assert!(broke.elapsed() < IN_TIME, "it is never started again");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(
        broke.elapsed() > Duration::from_millis(150),
        "there was no pause: {:?}",
        broke.elapsed()
    );
    assert_ne!(first, second);
    assert_eq!(count(&bench, "good"), 2);
    bench.close().await;
}

#[tokio::test]
async fn a_server_that_fails_again_and_again_is_left_alone() {
    let bench = Bench::with([]);
    let wrapper = counting(&bench);
    let modes = [
        ("exit-start", "cannot find the database"),
        ("dies-every-call", "one call too many"),
        (HELLO_AND_GOODBYE, "goodbye"),
    ];
    let server = |mode| Upstream::command(mode, &[&wrapper, mode], &[]);
    bench.runner.replace(toolbox(modes.map(|(mode, _)| server(mode).tool("echo"))));
    join_all(modes.map(|(mode, says)| left_alone(&bench, mode, says))).await;
    bench.close().await;
}

async fn left_alone(bench: &Bench, mode: &str, says: &str) {
    let id = format!("{mode}:echo");
    let end = Instant::now() + Duration::from_millis(2_000);
    let (mut calls, mut slow) = (0, 0);
    let mut last = String::new();
    while Instant::now() < end {
        let (took, answer) = timed(bench.call(&id, json!({}))).await;
        assert_eq!(word(&answer), "UPSTREAM_UNAVAILABLE", "{mode}");
        calls += 1;
        slow += usize::from(took > Duration::from_millis(50));
        last = failure(answer);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    // At 0, 250, 750 and 1750 ms: the pause doubles.
    let starts = count(bench, mode);
    assert!((2..=4).contains(&starts), "{mode}: {starts} starts in {calls} calls");
    assert!(slow <= starts && calls > 10 * starts, "{mode}: {slow} of {calls} calls were slow");
    assert!(
        last.contains(says) && last.contains("in a row and is tried again in"),
        "{mode}: {last}"
    );
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said_to_be() {
    let server = Upstream::command("it", &["/no/such/server", "--token=sesame"], &[]);
    let empty = Upstream::command("empty", &[], &[]);
    let bench = bench(&[&server, &empty]);
    let failure = bench.call("it:echo", json!({})).await.unwrap_err();
    assert_eq!(failure.code.name, "SPAWN_FAILED");
    assert!(
        failure
            .message
            .starts_with("`/no/such/server` cannot be started: there is no such program")
    );
    assert!(!format!("{failure:?}{}", bench.log()).contains("sesame"));
    assert_eq!(word(&bench.call("empty:echo", json!({})).await), "UPSTREAM_UNAVAILABLE");
}

#[tokio::test]
async fn a_variable_that_a_server_needs_is_asked_for() {
    let mut server = Upstream::stdio("good", &[]);
    let needs = Variable { name: "API_KEY".into(), required: true, ..Variable::default() };
    Arc::make_mut(&mut server.server).environment.push(needs);
    let bench = bench(&[&server]);
    let failure = bench.call("good:echo", json!({})).await.unwrap_err();
    assert_eq!(failure.message, "the server needs the variable `API_KEY`, which is not set");
}

#[tokio::test]
async fn whoever_gives_up_tells_the_server() {
    for mode in ["good", "modern"] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("cancelled");
        let server = Upstream::stdio(mode, &[("CANCEL_LOG", log.to_str().unwrap())]);
        let bench = bench(&[&server]);
        let cancelled = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
        let id = format!("{mode}:sleep");
        let pid = value(bench.call(&format!("{mode}:pid"), json!({})).await);

        let (call, cancel) = bench.start(&id, json!({"ms": 60_000}));
        tokio::time::timeout(Duration::from_millis(50), std::future::pending::<()>())
            .await
            .unwrap_err();
        cancel.cancel();
        assert_eq!(word(&call.await.unwrap()), "CANCELLED");
        until("the server hears of a cancelled call", || cancelled() == 1).await;
        assert_eq!(word(&bench.call_within(&id, json!({"ms": 60_000}), 50).await), "TIMEOUT");
        until("the server hears of a call that took too long", || cancelled() == 2).await;
        let (call, _) = bench.start(&id, json!({"ms": 60_000}));
        tokio::time::timeout(Duration::from_millis(50), std::future::pending::<()>())
            .await
            .unwrap_err();
        call.abort();
        until("the server hears of a call that was dropped", || cancelled() == 3).await;
        // One that ended by itself is not cancelled.
        assert_eq!(value(bench.call(&id, json!({"ms": 1})).await), json!({"slept": 1}));
        assert_eq!(value(bench.call(&format!("{mode}:pid"), json!({})).await), pid);
        assert_eq!(cancelled(), 3);
        bench.close().await;
    }
}

/// A caller who writes progress down.
#[derive(Default)]
pub(crate) struct Noting(pub(crate) Mutex<Vec<Progress>>);

impl Host for Noting {
    fn progress(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }

    fn wants_progress(&self) -> bool {
        true
    }
}

/// So many steps, as they must arrive.
pub(crate) fn steps(count: u32) -> Vec<Progress> {
    (1..=count)
        .map(|n| Progress {
            done: n.into(),
            total: Some(count.into()),
            message: Some(format!("step {n}")),
        })
        .collect()
}

#[tokio::test]
async fn progress_arrives_in_order_and_complete() {
    for mode in ["good", "modern"] {
        let server = Upstream::stdio(mode, &[]);
        let bench = bench(&[&server]);
        for ms in [1, 0, 0, 0, 0, 0] {
            let host = Noting::default();
            let request = ask(&format!("{mode}:progress"), json!({"steps": 100, "ms": ms}));
            assert_eq!(value(bench.runner.call(request, &host).await), json!({"steps": 100}));
            assert_eq!(host.0.into_inner().unwrap(), steps(100), "{mode}");
        }
        bench.close().await;
    }
}

#[tokio::test]
async fn each_caller_gets_its_own_progress() {
    let server = Upstream::stdio("good", &[]);
    let bench = bench(&[&server]);
    let calls = (1..=10).map(|n| {
        let bench = &bench;
        async move {
            let host = Noting::default();
            let request = ask("good:progress", json!({"steps": 10 * n, "ms": 1}));
            assert_eq!(word(&bench.runner.call(request, &host).await), "ok");
            assert_eq!(host.0.into_inner().unwrap(), steps(10 * n));
        }
    });
    join_all(calls).await;
    bench.close().await;
}

#[tokio::test]
async fn lists_are_read_to_their_end_and_their_changes_counted() {
    for (mode, tools, change) in [
        ("good", 14, None),
        ("paged", 14, None),
        ("bad-list", 5, None),
        ("changing", 14, Some(("echo", 15))),
        ("changing-bad", 14, Some(("echo", 18))),
        ("modern", 15, Some(("change", 16))),
    ] {
        let server = Upstream::stdio(mode, &[]);
        let bench = bench(&[&server]);
        let upstream = bench.runner.parts().upstreams.get(&server.server);
        let changes = upstream.changes();
        let length = async || upstream.list().await.unwrap()["tools"].as_array().unwrap().len();
        assert_eq!(length().await, tools, "{mode}");
        assert_eq!(*changes.borrow(), 0, "{mode}");
        if let Some((call, more)) = change {
            assert_eq!(word(&bench.call(&format!("{mode}:{call}"), json!({})).await), "ok");
            until("the change is told", || *changes.borrow() == 1).await;
            assert_eq!(length().await, more, "{mode}");
        }
        bench.close().await;
    }
}

/// A server that was away may have other tools now.
#[tokio::test]
async fn a_restart_counts_as_a_change() {
    let server = Upstream::stdio("good", &[]);
    let bench = bench(&[&server]);
    let changes = bench.runner.parts().upstreams.get(&server.server).changes();
    assert_eq!(word(&bench.call("good:exit", json!({})).await), "UPSTREAM_UNAVAILABLE");
    let end = Instant::now() + IN_TIME;
    while word(&bench.call("good:echo", json!({})).await) != "ok" {
        assert!(Instant::now() < end, "it is never started again");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(*changes.borrow(), 1);
    bench.close().await;
}

#[tokio::test]
async fn bad_neighbours_slow_nobody_down() {
    let good = Upstream::stdio("good", &[]);
    let bad = ["hang-start", "never", "flood-err", "exit-start", "flood-out"]
        .map(|mode| Upstream::stdio(mode, &[]));
    let all: Vec<&Upstream> = bad.iter().chain([&good]).collect();
    let bench = bench(&all);
    let list = bench.runner.parts().upstreams.get(&good.server);
    let calls: Vec<_> = ["hang-start", "never", "flood-err", "exit-start", "flood-out"]
        .iter()
        .map(|mode| bench.start(&format!("{mode}:echo"), json!({})).0)
        .collect();
    let (took, answer) = timed(bench.call("good:echo", json!({"n": 1}))).await;
    assert_eq!(value(answer), json!({"echo": {"n": 1}}));
    assert!(took < Duration::from_secs(3), "the first call took {took:?}");
    let (took, listed) = timed(list.list()).await;
    assert!(listed.is_ok() && took < Duration::from_secs(2), "listing took {took:?}");
    let (took, _) =
        timed(join_all((0..20).map(|n| bench.call("good:echo", json!({"n": n}))))).await;
    assert!(took < Duration::from_secs(2), "twenty calls took {took:?}");
    calls.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn closing_leaves_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid").to_str().unwrap().to_owned();
    let modes = ["good", "modern", "flood-err", "close-stdout", "ignore-term", "forks", "never"];
    let servers = modes.map(|mode| Upstream::stdio(mode, &[("PID_FILE", &file)]));
    let bench = bench(&servers.each_ref());
    join_all(modes.map(|mode| {
        let bench = &bench;
        async move { bench.call_within(&format!("{mode}:echo"), json!({}), 2_500).await }
    }))
    .await;
    let grandchild = pid_in(&file).await;
    assert!(bench.left().len() >= modes.len(), "{:#?}", bench.left());
    let (took, ()) = timed(bench.runner.close()).await;
    assert!(took < Duration::from_secs(6), "it took {took:?}");
    assert_eq!(bench.left(), Vec::<String>::new());
    until("the grandchild is gone", || !is_there(grandchild)).await;
}

/// Servers that are on their way up when they are let go of must not outlive that either.
#[tokio::test]
async fn nothing_is_left_running_that_was_still_starting() {
    for how in ["close", "keep"] {
        let modes = ["hang-start", "garbage-only", "slow-start"];
        let servers = modes.map(|mode| Upstream::stdio(mode, &[("START_MS", "1000")]));
        let bench = bench(&servers.each_ref());
        let calls = modes.map(|mode| {
            let bench = &bench;
            async move { word(&bench.call_within(&format!("{mode}:echo"), json!({}), 200).await) }
        });
        assert_eq!(join_all(calls).await, ["TIMEOUT"; 3]);
        until("they are starting", || bench.left().len() == 3).await;
        match how {
            "close" => bench.runner.close().await,
            _ => bench.runner.parts().upstreams.keep(&[]),
        }
        bench.nothing_left(how).await;
    }
}

/// A server that is taken out of the configuration goes, and the others stay.
#[tokio::test]
async fn only_servers_that_are_wanted_are_kept() {
    let [one, other] = ["good", "paged"].map(|mode| Upstream::stdio(mode, &[]));
    let bench = bench(&[&one, &other]);
    let pid = value(bench.call("good:pid", json!({})).await);
    assert_eq!(word(&bench.call("paged:pid", json!({})).await), "ok");
    // The same server, described again.
    let again = Arc::new(Server::clone(&one.server));
    bench.runner.parts().upstreams.keep(&[again]);
    until("one server is left", || bench.left().len() == 1).await;
    assert_eq!(value(bench.call("good:pid", json!({})).await), pid);
    bench.close().await;
}

/// A hundred megabytes go by and are not kept. Alone, since the process's peak is everybody's.
#[tokio::test]
async fn an_answer_of_a_hundred_megabytes_is_refused_and_not_kept() {
    for mode in ["huge", "huge-first"] {
        let server = Upstream::stdio(mode, &[]);
        let bench = Bench::alone(Limits::default()).put(server.tools());
        let pid = value(bench.call(&format!("{mode}:pid"), json!({})).await);
        let before = status("VmHWM");
        let id = format!("{mode}:big");
        for bytes in [100_000_000, 16 << 20, (16 << 20) + 1, 5_000_000] {
            let (took, answer) = timed(bench.call(&id, json!({"bytes": bytes}))).await;
            assert_eq!(word(&answer), "OUTPUT_TOO_LARGE", "{mode} {bytes}: {answer:?}");
            assert!(took < Duration::from_secs(15), "{mode} {bytes} took {took:?}");
        }
        let grown = (status("VmHWM") - before) / 1024;
        assert!(grown < 150, "{mode}: {grown} MB more at the peak");
        // The connection has come through it.
        assert_eq!(value(bench.call(&format!("{mode}:pid"), json!({})).await), pid);
        bench.close().await;
    }
}
