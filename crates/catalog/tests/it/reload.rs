//! Sources that change while the catalog runs: what is loaded again, what must not be lost
//! meanwhile, and what must not be slow.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use toolwright_testing::faulty_server;

use crate::support::{ANYTHING, PATIENCE, SCRIPT, TOOLS, TestCatalog, local, server, write};

#[tokio::test]
async fn files_are_reloaded_when_they_change_appear_or_vanish() {
    let fixture = TestCatalog::after_first_load(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("a", &[("one", ANYTHING)])),
        ("tools/b.yaml", &local("b", &[("one", ANYTHING)])),
    ])
    .await;
    assert_eq!(fixture.ids(), ["a:one", "b:one"]);
    let mut changes = fixture.catalog.changes();
    changes.mark_unchanged();
    fixture.write("tools/a.yaml", &local("a", &[("one", ANYTHING), ("two", ANYTHING)]));
    fixture
        .until("a changed file is read", |fixture| fixture.ids() == ["a:one", "a:two", "b:one"])
        .await;
    assert!(changes.has_changed().unwrap());
    assert_eq!(fixture.code("a:two").await, "ok");
    fixture.write("tools/deep/c.yaml", &local("c", &[("one", ANYTHING)]));
    std::fs::remove_file(fixture.path("tools/b.yaml")).unwrap();
    fixture
        .until("a new file is read, an old one forgotten", |fixture| {
            fixture.ids() == ["a:one", "a:two", "c:one"]
        })
        .await;
    assert_eq!(fixture.code("b:one").await, "TOOL_NOT_FOUND");
    fixture.write("tools/a.yaml", &local("a", &[("one", "{type: 12}")]));
    fixture
        .until("a tool that was spoilt is quarantined", |fixture| {
            fixture.ids() == ["!a:one", "c:one"]
        })
        .await;
    std::fs::remove_dir_all(fixture.path("tools")).unwrap();
    fixture.until("nothing is left", |fixture| fixture.ids().is_empty()).await;
    fixture.write(SCRIPT.0, SCRIPT.1);
    fixture.write("tools/a.yaml", &local("a", &[("one", ANYTHING)]));
    fixture.until("it is there again", |fixture| fixture.ids() == ["a:one"]).await;
    assert_eq!(fixture.code("a:one").await, "ok");
}

#[tokio::test]
async fn programs_are_reloaded_when_they_change_or_appear() {
    let program = |name: &str| {
        format!(
            "#!/bin/sh\necho '{{\"name\": \"{name}\", \"description\": \"A program for tests\", \"parameters\": {{\"type\": \"object\"}}}}'\n"
        )
    };
    let fixture = TestCatalog::after_first_load(&[
        ("toolwright.toml", "[[source]]\nname = \"bin\"\nexecutables = \"bin\"\n"),
        ("bin/one-tool", &program("one")),
    ])
    .await;
    assert_eq!(fixture.ids(), ["one"]);
    fixture.write("bin/two-tool", &program("two"));
    fixture.until("a new program is there", |fixture| fixture.ids() == ["one", "two"]).await;
    fixture.write("bin/one-tool", &program("uno"));
    fixture
        .until("the schema of a changed program is read again", |fixture| {
            fixture.ids() == ["two", "uno"]
        })
        .await;
}

#[tokio::test]
async fn a_changed_configuration_is_loaded() {
    let good = server("good");
    let fixture = TestCatalog::after_first_load(&[
        ("toolwright.toml", &good),
        SCRIPT,
        ("tools/a.yaml", &local("a", &[("one", ANYTHING)])),
    ])
    .await;
    let pid = fixture.call("good:pid", json!({})).await.unwrap();
    assert!(!fixture.has("a:one"));

    // Sources are added; one of them in front.
    fixture.write("toolwright.toml", &format!("{TOOLS}{good}{}", server("paged")));
    fixture
        .until("new sources are there", |fixture| fixture.has("a:one") && fixture.has("paged:echo"))
        .await;
    assert_eq!(fixture.catalog.source_count(), 3);
    assert_eq!(fixture.call("good:pid", json!({})).await.unwrap(), pid, "it was left alone");
    assert_eq!(fixture.code("paged:echo").await, "ok");

    // And removed; new limits apply at once.
    fixture.write("toolwright.toml", &format!("{good}[limits]\ntimeout = 2000\n"));
    fixture
        .until("old sources are gone", |fixture| {
            !fixture.has("a:one") && !fixture.has("paged:echo")
        })
        .await;
    fixture.until("their servers too", |fixture| fixture.running().len() == 1).await;
    assert_eq!(fixture.call("good:pid", json!({})).await.unwrap(), pid, "it was left alone");
    let late = fixture.call("good:sleep", json!({"ms": 110_000})).await.unwrap_err();
    assert!(late.ends_with("did not answer within 2000 ms"), "{late}");

    // A changed source is another server.
    fixture.write("toolwright.toml", &format!("{good}env = {{ X = \"1\" }}\n"));
    fixture
        .until("the server is a new one", |fixture| fixture.events("loaded good").len() == 2)
        .await;
    assert_ne!(fixture.call("good:pid", json!({})).await.unwrap(), pid);
    fixture.until("and the old one is gone", |fixture| fixture.running().len() == 1).await;
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_broken_configuration_changes_nothing() {
    let good = server("good");
    let fixture = TestCatalog::after_first_load(&[("toolwright.toml", &good)]).await;
    let before = fixture.ids();
    let pid = fixture.call("good:pid", json!({})).await.unwrap();
    let stays = "note: the configuration cannot be read; the previous one stays in use";
    fixture.write("toolwright.toml", "[[source]\nname =");
    fixture.until("the failure is reported once", |fixture| fixture.events(stays).len() == 1).await;
    std::fs::remove_file(fixture.path("toolwright.toml")).unwrap();
    fixture
        .until("the failure is reported again", |fixture| fixture.events(stays).len() == 2)
        .await;
    assert_eq!(fixture.ids(), before);
    assert_eq!(fixture.call("good:pid", json!({})).await.unwrap(), pid);
    fixture.write("toolwright.toml", &format!("{good}{}", server("paged")));
    fixture.until("it is whole again", |fixture| fixture.has("paged:echo")).await;
    assert_eq!(fixture.call("good:pid", json!({})).await.unwrap(), pid);
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_changed_servers_file_is_loaded() {
    let servers = |modes: &[&str]| {
        let entry = |mode: &&str| {
            (mode.to_string(), json!({"command": faulty_server(), "args": ["mcp", mode]}))
        };
        json!({"mcpServers": modes.iter().map(entry).collect::<serde_json::Map<_, _>>()})
            .to_string()
    };
    let fixture = TestCatalog::after_first_load(&[
        ("toolwright.toml", "[[source]]\nname = \"all\"\nmcp = \"mcp.json\"\n"),
        ("mcp.json", &servers(&["good"])),
    ])
    .await;
    let pid = fixture.call("good:pid", json!({})).await.unwrap();
    fixture.write("mcp.json", &servers(&["paged", "good"]));
    fixture.until("the new server is there", |fixture| fixture.has("paged:pid")).await;
    assert_eq!(fixture.call("good:pid", json!({})).await.unwrap(), pid);
    fixture.write("mcp.json", &servers(&["paged"]));
    fixture
        .until("the old one is gone", |fixture| {
            !fixture.has("good:pid") && fixture.running().len() == 1
        })
        .await;
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_source_that_is_still_starting_when_the_configuration_changes_is_loaded_once() {
    let slow = format!("{}env = {{ START_MS = \"3500\" }}\n", server("slow-start"));
    let fixture = TestCatalog::follow(&[
        ("toolwright.toml", &slow),
        SCRIPT,
        ("tools/a.yaml", &local("a", &[("one", ANYTHING)])),
    ])
    .await;
    fixture.until("the server is starting", |fixture| fixture.running().len() == 1).await;
    fixture.write("toolwright.toml", &format!("{slow}\n{TOOLS}"));
    fixture.until("the new source is there", |fixture| fixture.has("a:one")).await;
    assert!(!fixture.has("slow-start:echo"), "it is still starting");
    fixture.until("the slow one too", |fixture| fixture.has("slow-start:echo")).await;
    // A change of another source shows that no further event of the first one follows.
    std::fs::remove_file(fixture.path("tools/a.yaml")).unwrap();
    fixture.until("the file is forgotten", |fixture| !fixture.has("a:one")).await;
    assert_eq!(fixture.events("loaded slow-start").len(), 1, "{:#?}", fixture.events(""));
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_changed_tool_list_of_a_server_is_loaded() {
    for mode in ["changing", "changing-bad"] {
        let fixture = TestCatalog::after_first_load(&[("toolwright.toml", &server(mode))]).await;
        let added = format!("{mode}:added");
        assert!(!fixture.has(&added));
        assert_eq!(fixture.code(&format!("{mode}:echo")).await, "ok");
        fixture.until("the new tool is there", |fixture| fixture.has(&added)).await;
        assert_eq!(fixture.code(&added).await, "ok");
        if mode == "changing-bad" {
            let aside: Vec<String> =
                fixture.ids().into_iter().filter(|id| id.starts_with('!')).collect();
            assert_eq!(aside, ["!changing-bad:bad_type"]);
            assert_eq!(fixture.code(&format!("{mode}:echo")).await, "ok", "the first of two stays");
        }
        fixture.catalog.runner().close().await;
    }
}

#[tokio::test]
async fn a_server_that_starts_late_is_loaded_then() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("late-tool");
    let source = format!("[[source]]\nname = \"late\"\ncommand = ['{}']\n", program.display());
    write(&folder.path().join("toolwright.toml"), &format!("{source}{}", server("good")));
    let fixture = TestCatalog::over(folder).await;
    fixture.catalog.wait_until_tried(PATIENCE).await;
    assert!(fixture.has("good:echo") && !fixture.has("late:echo"));
    assert_eq!(fixture.events("COMMAND_NOT_FOUND").len(), 1);
    write(&program, &format!("#!/bin/sh\nexec '{}' mcp good\n", faulty_server()));
    fixture.until("the server is loaded", |fixture| fixture.has("late:echo")).await;
    assert_eq!(fixture.code("late:echo").await, "ok");
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_server_that_reconnects_keeps_its_tools() {
    let fixture = TestCatalog::after_first_load(&[("toolwright.toml", &server("good"))]).await;
    let before = fixture.ids();
    assert_eq!(fixture.code("good:exit").await, "UPSTREAM_UNAVAILABLE");
    assert_eq!(fixture.ids(), before);
    let end = Instant::now() + PATIENCE;
    while fixture.code("good:echo").await != "ok" {
        assert!(Instant::now() < end, "the server does not come back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    fixture
        .until("its list is read again", |fixture| fixture.events("loaded good").len() == 2)
        .await;
    assert_eq!(fixture.ids(), before);
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn an_emptied_configuration_changes_nothing() {
    let good = server("good");
    let fixture = TestCatalog::after_first_load(&[("toolwright.toml", &good)]).await;
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
    let fixture =
        TestCatalog::after_first_load(&[("toolwright.toml", &format!("{good}{paged}"))]).await;
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

/// Processor time that the current thread has used, in ticks of 10 ms.
fn thread_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    // `utime` and `stime`; the first field here is the third of the file.
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Calls share the threads of the runtime with the reload, so no step of it may compute there for
/// long. Processor time is compared, because on a busy machine every step takes long by the clock.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_reload_of_many_definitions_does_not_hold_up_calls() {
    let config = format!("{TOOLS}{}", server("good"));
    let fixture =
        TestCatalog::after_first_load(&[("toolwright.toml", &config), ("tools/many.json", "[]")])
            .await;
    let longest = Arc::new(Mutex::new(0));
    let watched = Arc::clone(&longest);
    // `while_blocking` hands the tasks of a thread over to another one, so a turn is measured only
    // if it began and ended on the same thread.
    tokio::spawn(async move {
        loop {
            let (thread, before) = (std::thread::current().id(), thread_ticks());
            tokio::time::sleep(Duration::from_millis(1)).await;
            if std::thread::current().id() == thread {
                let turn = thread_ticks() - before;
                let mut longest = watched.lock().unwrap();
                *longest = turn.max(*longest);
            }
        }
    });
    fixture.write("tools/many.json", &many_tools("first"));
    let end = Instant::now() + Duration::from_secs(120);
    while !fixture.has("tool_1") {
        assert!(Instant::now() < end, "the definitions were not loaded");
        fixture.call("good:add", json!({"a": 1, "b": 2})).await.unwrap();
    }
    let longest = *longest.lock().unwrap();
    eprintln!("the longest turn of other tasks took {longest}0 ms of processor time");
    assert!(longest < 20, "{longest}0 ms of processor time between two turns of a task");
    fixture.catalog.runner().close().await;
}
