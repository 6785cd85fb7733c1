//! Reloading while agents work: what must not be lost, and what must not be slow.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::catalog::{TestCatalog, server};

/// A folder source in front of the server `good`.
const DEFINITIONS: &str = "[[source]]\nname = \"defs\"\npath = \"tools\"\n";

#[tokio::test]
async fn an_emptied_configuration_changes_nothing() {
    let good = server("good");
    let fixture = TestCatalog::settled(&[("toolwright.toml", &good)]).await;
    let before = fixture.ids();
    let pid = fixture.call("good:pid", json!({})).await.unwrap();
    let stays = "note: the configuration has no sources any more; the previous one stays in use";
    for (times, text) in [(1, ""), (2, "# nothing\n[limits]\ntimeout = 1000\n")] {
        fixture.write("toolwright.toml", text);
        fixture.until("it is reported", |it| it.events(stays).len() == times).await;
    }
    assert_eq!(fixture.ids(), before);
    assert_eq!(fixture.call("good:pid", json!({})).await.unwrap(), pid);
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn calls_of_a_removed_source_end_before_its_server() {
    let (good, paged) = (server("good"), server("paged"));
    let fixture = TestCatalog::settled(&[("toolwright.toml", &format!("{good}{paged}"))]).await;
    let call = fixture.call("good:sleep", json!({"ms": 4_000}));
    let removal = async {
        // The call is in flight once another one on the same connection has been answered.
        fixture.call("good:pid", json!({})).await.unwrap();
        fixture.write("toolwright.toml", &paged);
        fixture.until("its tools are gone", |it| !it.has("good:sleep")).await;
        assert_eq!(fixture.code("good:pid").await, "TOOL_NOT_FOUND", "new calls are refused");
    };
    let (called, ()) = tokio::join!(call, removal);
    assert!(called.is_ok(), "{called:?}");
    fixture.until("then its server ends", |it| it.running().len() == 1).await;
    fixture.catalog.runner().close().await;
}

/// 1,500 tools whose schemas have to be compiled; `text` makes them differ from the last ones.
fn many_tools(text: &str) -> String {
    let mut list = String::from("[");
    for n in 0..1_500 {
        let comma = if n == 0 { "" } else { "," };
        let _ = write!(
            list,
            r#"{comma}{{"name": "tool_{number}", "description": "Tool {number} {text}",
            "inputSchema": {{"type": "object", "properties": {{
                "id": {{"type": "string", "pattern": "^[a-z]{{1,{n}}}$", "minLength": 1}},
                "choice": {{"enum": ["a", "b", {n}]}},
                "deep": {{"type": "array", "items": {{"anyOf": [{{"type": "number"}},
                    {{"type": "object", "required": ["x"], "properties": {{"x": {{"const": 1}}}}}}]}}}}
            }}, "required": ["id"]}}}}"#,
            number = n,
            n = n % 200 + 1,
        );
    }
    list + "]"
}

fn p95(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() * 95 / 100]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_reload_of_many_definitions_does_not_hold_up_calls() {
    let config = format!("{DEFINITIONS}{}", server("good"));
    let fixture =
        TestCatalog::settled(&[("toolwright.toml", &config), ("tools/many.json", "[]")]).await;
    let timed_call = async || {
        let started = Instant::now();
        fixture.call("good:add", json!({"a": 1, "b": 2})).await.unwrap();
        started.elapsed()
    };
    let mut before = Vec::new();
    for _ in 0..50 {
        before.push(timed_call().await);
    }
    fixture.write("tools/many.json", &many_tools("first"));
    let mut during = Vec::new();
    let end = Instant::now() + Duration::from_secs(120);
    while !fixture.has("tool_1") {
        assert!(Instant::now() < end, "the definitions were not loaded");
        during.push(timed_call().await);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let (before, during) = (p95(before), p95(during));
    eprintln!("p95 of calls: {before:?} before, {during:?} during the reload");
    // Generous, for a busy machine: without care it is the whole time of the reload.
    assert!(during < (before * 20).max(Duration::from_millis(500)), "{before:?} {during:?}");
    fixture.catalog.runner().close().await;
}
