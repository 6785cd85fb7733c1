//! Sources become tools in a runner: what is bad stays out alone, and what changes is loaded again.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolwright_catalog::{Catalog, Event, Plan};
use toolwright_exec::{CallLimits, CallRequest, ExecutorContext, Log, NoHost, Runner, ToolStatus};
use toolwright_testing::{faulty_server, faulty_tool};

/// How long a test waits for what must happen soon: files are looked at once a second.
const SOON: Duration = Duration::from_secs(15);

/// A folder with a configuration, and the catalog of it.
struct Bench {
    folder: TempDir,
    catalog: Arc<Catalog>,
    events: Arc<Mutex<Vec<String>>>,
    _until: DropGuard,
}

impl Bench {
    /// Files in a folder, one of them `toolwright.toml`. They are loaded and followed.
    async fn follow(files: &[(&str, &str)]) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            write(&folder.path().join(name), text);
        }
        Bench::over(folder).await
    }

    async fn over(folder: TempDir) -> Bench {
        let events = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&events);
        let listener = Arc::new(move |event: &Event| noted.lock().unwrap().push(describe(event)));
        let config = folder.path().join("toolwright.toml");
        let planner = Arc::new(move || Plan::of_config(&config, &|_| None));
        let environment =
            vec![("PATH".into(), "/usr/bin:/bin".into()), ("BENCH".into(), folder.path().into())];
        let runner = Arc::new(Runner::new(
            ExecutorContext::new(environment, Log::default()),
            CallLimits::default(),
        ));
        let catalog = Catalog::new(runner, planner, listener);
        let until = CancellationToken::new();
        catalog.follow(&until);
        Bench { folder, catalog, events, _until: until.drop_guard() }
    }

    /// The same, when every source has been tried.
    async fn settled(files: &[(&str, &str)]) -> Bench {
        let bench = Bench::follow(files).await;
        bench.catalog.settled(SOON).await;
        assert!(bench.catalog.is_settled());
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.path(name), text);
    }

    /// The ids of tools that can be called; those set aside have a `!` in front.
    fn ids(&self) -> Vec<String> {
        let toolbox = self.catalog.runner().registry();
        let id = |entry: &toolwright_exec::RegisteredTool| match &entry.status {
            ToolStatus::Ready => entry.id.to_string(),
            ToolStatus::Quarantined(_) => format!("!{}", entry.id),
        };
        toolbox.iter().map(|entry| id(entry)).collect()
    }

    fn has(&self, id: &str) -> bool {
        self.ids().iter().any(|known| known == id)
    }

    async fn call(&self, id: &str, arguments: Json) -> Result<Json, String> {
        let request = CallRequest { arguments, ..CallRequest::new(id) };
        let answer = self.catalog.runner().call(request, &NoHost).await;
        answer
            .map(|outcome| outcome.structured.unwrap_or_default())
            .map_err(|failure| failure.to_string())
    }

    /// The code of a call without arguments, or `ok`.
    async fn code(&self, id: &str) -> String {
        match self.call(id, json!({})).await {
            Ok(_) => "ok".to_owned(),
            Err(text) => text.split(':').next().unwrap().to_owned(),
        }
    }

    /// The events that contain this text.
    fn events(&self, part: &str) -> Vec<String> {
        self.events.lock().unwrap().iter().filter(|event| event.contains(part)).cloned().collect()
    }

    async fn until(&self, what: &str, mut check: impl FnMut(&Bench) -> bool) {
        let end = Instant::now() + SOON;
        while !check(self) {
            let events = self.events.lock().unwrap().join("\n");
            assert!(
                Instant::now() < end,
                "this did not happen: {what}\ntools: {:?}\n{events}",
                self.ids()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Processes that came from here, by their command lines.
    fn running(&self) -> Vec<String> {
        let mark = format!("BENCH={}", self.folder.path().display());
        let has_mark =
            |environment: &[u8]| environment.split(|b| *b == 0).any(|v| v == mark.as_bytes());
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter(|entry| std::fs::read(entry.path().join("environ")).is_ok_and(|e| has_mark(&e)))
            .map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default())
            .map(|words| String::from_utf8_lossy(&words).replace('\0', " "))
            .collect()
    }
}

fn describe(event: &Event) -> String {
    match event {
        Event::Loaded { source, ready, aside } => {
            format!("loaded {source}: {ready} ready, {aside} aside")
        }
        Event::Problem(problem) => {
            format!(
                "{} {} {}: {}",
                problem.severity.name(),
                problem.code.name,
                problem.path.as_str(),
                problem.message
            )
        }
        Event::Unloaded(unloaded) => format!("unloaded {}: {}", unloaded.source, unloaded.failure),
        Event::Note(text) => format!("note: {text}"),
    }
}

/// A file that appears at once, as editors write them. Names that end in `-tool` can be executed.
fn write(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let part = path.with_extension("part");
    std::fs::write(&part, text).unwrap();
    let mode = if path.to_str().unwrap().ends_with("-tool") { 0o755 } else { 0o644 };
    std::fs::set_permissions(&part, std::fs::Permissions::from_mode(mode)).unwrap();
    std::fs::rename(part, path).unwrap();
}

/// A source that starts the mcp mode of the same name.
fn server(mode: &str) -> String {
    format!("[[source]]\nname = \"{mode}\"\ncommand = ['{}', 'mcp', '{mode}']\n", faulty_server())
}

const TOOLS: &str = "[[source]]\nname = \"defs\"\npath = \"tools\"\n";

/// An aios definition whose commands are run by a script beside it, and the script.
fn local(id: &str, commands: &[(&str, &str)]) -> String {
    let mut text = format!(
        "tool:\n  id: {id}\n  type: local\n  name: Name\n  version: 1.0.0\n  description: Some tools for tests\n  \
         local_specific:\n    entry_point: ./answer.sh\n    runtime: /bin/sh\n  tools:\n"
    );
    for (command, schema) in commands {
        text.push_str(&format!(
            "    - id: {command}\n      description: Answers with its name\n      inputSchema: {schema}\n"
        ));
    }
    text
}

const SCRIPT: (&str, &str) = ("tools/answer.sh", "printf '{\"command\":\"%s\"}' \"$1\"\n");
const ANYTHING: &str = "{type: object}";

#[tokio::test]
async fn definitions_of_all_formats_are_tools() {
    let bench = Bench::settled(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("shelf", &[("take", ANYTHING), ("put", ANYTHING)])),
        ("tools/deep/down/b.json", r#"{"name": "convert", "description": "Converts this into that", "parameters": {"type": "object"}}"#),
        ("tools/c.json", r#"{"tools": [{"name": "now", "description": "The time", "inputSchema": {"type": "object"}}]}"#),
        ("tools/d.json", r#"{"btcp": "1.0", "name": "page", "version": "1.0.0", "capabilities": [], "tools": [
            {"name": "count", "description": "Counts the words", "inputSchema": {"type": "object"}, "capabilities": []}
        ]}"#),
        ("tools/none-of-ours.json", r#"{"compilerOptions": {}}"#),
        ("tools/readme.md", "# Not looked at"),
    ])
    .await;
    assert_eq!(bench.ids(), ["convert", "now", "page:count", "shelf:put", "shelf:take"]);
    for (id, code) in [
        ("shelf:take", "ok"),
        ("shelf:put", "ok"),
        ("convert", "NOT_RUNNABLE"),
        ("now", "NOT_RUNNABLE"),
        ("page:count", "NOT_RUNNABLE"),
    ] {
        assert_eq!(bench.code(id).await, code, "{id}");
    }
    assert_eq!(bench.call("shelf:take", json!({})).await, Ok(json!({"command": "take"})));
    assert_eq!(bench.events(""), ["loaded defs: 5 ready, 0 aside"]);
}

#[tokio::test]
async fn a_tool_with_an_error_is_set_aside_alone() {
    let commands = [
        ("good", ANYTHING),
        ("bad_type", "{type: 12}"),
        ("elsewhere", "{type: object, properties: {x: {$ref: 'https://example.com/x.json'}}}"),
        ("other_draft", "{$schema: 'http://json-schema.org/draft-03/schema#', type: object}"),
        ("fine", ANYTHING),
    ];
    let bench = Bench::settled(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("it", &commands)),
    ])
    .await;
    assert_eq!(
        bench.ids(),
        ["!it:bad_type", "!it:elsewhere", "it:fine", "it:good", "!it:other_draft"]
    );
    for (id, code, why) in [
        ("it:bad_type", "QUARANTINED", "INVALID"),
        ("it:elsewhere", "QUARANTINED", "EXTERNAL_REF"),
        ("it:other_draft", "QUARANTINED", "UNSUPPORTED_DIALECT"),
        ("it:good", "ok", ""),
        ("it:fine", "ok", ""),
    ] {
        let answer = bench.call(id, json!({})).await;
        assert_eq!(answer.is_ok(), code == "ok", "{id}: {answer:?}");
        let text = answer.err().unwrap_or_default();
        assert!(code == "ok" || text.starts_with(code) && text.contains(why), "{id}: {text}");
    }
    let problems = bench.events("EXTERNAL_REF");
    assert!(
        matches!(&problems[..], [one] if one.starts_with("error EXTERNAL_REF /tool/tools/2/inputSchema/properties/x")),
        "{problems:?}"
    );
    assert_eq!(bench.events("loaded"), ["loaded defs: 2 ready, 3 aside"]);
}

#[tokio::test]
async fn an_error_of_the_whole_sets_everything_in_it_aside() {
    let tool = |name: &str| {
        format!(
            r#"{{"name": "{name}", "description": "Counts the words", "inputSchema": {{"type": "object"}}, "capabilities": []}}"#
        )
    };
    let nameless = format!(
        r#"{{"btcp": "1.0", "version": "1.0.0", "capabilities": [], "tools": [{}, {}]}}"#,
        tool("one"),
        tool("two")
    );
    let bench = Bench::settled(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("it", &[("good", ANYTHING)])),
        ("tools/b.json", &nameless),
    ])
    .await;
    assert_eq!(bench.ids(), ["it:good", "!one", "!two"]);
    assert_eq!(bench.code("one").await, "QUARANTINED");
    assert_eq!(bench.code("two").await, "QUARANTINED");
    assert_eq!(bench.code("it:good").await, "ok");
}

#[tokio::test]
async fn of_two_with_one_id_the_first_stays() {
    let second = local("it", &[("twice", ANYTHING)]).replace("./answer.sh", "./none.sh");
    let bench = Bench::settled(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("it", &[("twice", ANYTHING), ("once", ANYTHING)])),
        ("tools/b.yaml", &second),
    ])
    .await;
    assert_eq!(bench.ids(), ["it:once", "it:twice"]);
    assert_eq!(bench.call("it:twice", json!({})).await, Ok(json!({"command": "twice"})));
    assert_eq!(
        bench.events("note"),
        ["note: `it:twice` is there twice; the first stays (DUPLICATE_ID)"]
    );
}

#[tokio::test]
async fn a_bad_program_leaves_the_others_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    for mode in ["echo", "add", "schema-hang", "schema-garbage", "schema-big", "schema-exit"] {
        std::os::unix::fs::symlink(faulty_tool(), folder.path().join(format!("bin/{mode}-tool")))
            .unwrap();
    }
    write(&folder.path().join("bin/empty-tool"), "");
    write(&folder.path().join("bin/not-one-of-ours"), "#!/bin/sh\nexit 1\n");
    write(
        &folder.path().join("toolwright.toml"),
        "[[source]]\nname = \"bin\"\nexecutables = \"bin\"\n",
    );
    let bench = Bench::over(folder).await;
    bench.catalog.settled(SOON).await;
    assert_eq!(bench.ids(), ["add", "echo"]);
    assert_eq!(bench.call("add", json!({"a": 1, "b": 2})).await, Ok(json!({"sum": 3})));
    for (program, why) in [
        ("schema-hang", "TOOL_FAILED: `--schema` printed nothing within"),
        ("schema-garbage", "TOOL_FAILED: `--schema` printed no description of a tool"),
        ("schema-big", "TOOL_FAILED: `--schema` printed more than 8192 bytes"),
        (
            "schema-exit",
            "TOOL_FAILED: `--schema`: the program ended with status 1: cannot tell the schema",
        ),
        ("empty", "SPAWN_FAILED"),
    ] {
        let told = bench.events(&format!("bin/{program}-tool: "));
        assert!(
            matches!(&told[..], [one] if one.starts_with("unloaded") && one.contains(why)),
            "{program}: {told:?}"
        );
    }
    assert_eq!(bench.running(), Vec::<String>::new());
}

#[tokio::test]
async fn bad_servers_leave_the_others_alone() {
    let bad = ["exit-start", "hang-start", "garbage-only", "close-stdout-start"];
    let config: String = bad.iter().chain(&["bad-list", "good"]).map(|mode| server(mode)).collect();
    let start = Instant::now();
    let bench = Bench::follow(&[("toolwright.toml", &config)]).await;
    bench
        .until("the good server is there", |bench| {
            bench.has("good:echo") && bench.has("bad-list:echo")
        })
        .await;
    assert!(start.elapsed() < Duration::from_secs(4), "it took {:?}", start.elapsed());
    assert_eq!(bench.call("good:add", json!({"a": 1, "b": 2})).await, Ok(json!({"sum": 3})));
    let of_bad_list: Vec<String> =
        bench.ids().into_iter().filter(|id| id.contains("bad-list")).collect();
    assert_eq!(
        of_bad_list,
        ["bad-list:echo", "!bad-list:external_ref", "!bad-list:no_schema", "bad-list:odd_fields"]
    );
    bench
        .until("it is said what is missing", |bench| {
            !bench.events("unloaded exit-start").is_empty()
        })
        .await;
    assert!(bench.events("unloaded exit-start")[0].contains("cannot find the database"));
    assert!(!bench.catalog.is_settled(), "two are still starting");
    bench.catalog.settled(Duration::from_millis(50)).await;
    bench.catalog.runner().close().await;
}

#[tokio::test]
async fn files_that_change_appear_and_vanish() {
    let bench = Bench::settled(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("a", &[("one", ANYTHING)])),
        ("tools/b.yaml", &local("b", &[("one", ANYTHING)])),
    ])
    .await;
    assert_eq!(bench.ids(), ["a:one", "b:one"]);
    let mut changes = bench.catalog.changes();
    changes.mark_unchanged();
    bench.write("tools/a.yaml", &local("a", &[("one", ANYTHING), ("two", ANYTHING)]));
    bench.until("a changed file is read", |bench| bench.ids() == ["a:one", "a:two", "b:one"]).await;
    assert!(changes.has_changed().unwrap());
    assert_eq!(bench.code("a:two").await, "ok");
    bench.write("tools/deep/c.yaml", &local("c", &[("one", ANYTHING)]));
    std::fs::remove_file(bench.path("tools/b.yaml")).unwrap();
    bench
        .until("a new file is read, an old one forgotten", |bench| {
            bench.ids() == ["a:one", "a:two", "c:one"]
        })
        .await;
    assert_eq!(bench.code("b:one").await, "TOOL_NOT_FOUND");
    bench.write("tools/a.yaml", &local("a", &[("one", "{type: 12}")]));
    bench
        .until("a tool that was spoilt is set aside", |bench| bench.ids() == ["!a:one", "c:one"])
        .await;
    std::fs::remove_dir_all(bench.path("tools")).unwrap();
    bench.until("nothing is left", |bench| bench.ids().is_empty()).await;
    bench.write(SCRIPT.0, SCRIPT.1);
    bench.write("tools/a.yaml", &local("a", &[("one", ANYTHING)]));
    bench.until("it is there again", |bench| bench.ids() == ["a:one"]).await;
    assert_eq!(bench.code("a:one").await, "ok");
}

#[tokio::test]
async fn programs_that_change_and_appear() {
    let program = |name: &str| {
        format!(
            "#!/bin/sh\necho '{{\"name\": \"{name}\", \"description\": \"A program for tests\", \"parameters\": {{\"type\": \"object\"}}}}'\n"
        )
    };
    let bench = Bench::settled(&[
        ("toolwright.toml", "[[source]]\nname = \"bin\"\nexecutables = \"bin\"\n"),
        ("bin/one-tool", &program("one")),
    ])
    .await;
    assert_eq!(bench.ids(), ["one"]);
    bench.write("bin/two-tool", &program("two"));
    bench.until("a new program is there", |bench| bench.ids() == ["one", "two"]).await;
    bench.write("bin/one-tool", &program("uno"));
    bench.until("a changed program is asked again", |bench| bench.ids() == ["two", "uno"]).await;
}

#[tokio::test]
async fn a_configuration_that_changes() {
    let good = server("good");
    let bench = Bench::settled(&[
        ("toolwright.toml", &good),
        SCRIPT,
        ("tools/a.yaml", &local("a", &[("one", ANYTHING)])),
    ])
    .await;
    let pid = bench.call("good:pid", json!({})).await.unwrap();
    assert!(!bench.has("a:one"));

    // Sources are added; one of them in front.
    bench.write("toolwright.toml", &format!("{TOOLS}{good}{}", server("paged")));
    bench
        .until("new sources are there", |bench| bench.has("a:one") && bench.has("paged:echo"))
        .await;
    assert_eq!(bench.catalog.sources(), 3);
    assert_eq!(bench.call("good:pid", json!({})).await.unwrap(), pid, "it was left alone");
    assert_eq!(bench.code("paged:echo").await, "ok");

    // And removed; limits hold at once.
    bench.write("toolwright.toml", &format!("{good}[limits]\ntimeout = 150\n"));
    bench
        .until("old sources are gone", |bench| !bench.has("a:one") && !bench.has("paged:echo"))
        .await;
    bench.until("their servers too", |bench| bench.running().len() == 1).await;
    assert_eq!(bench.call("good:pid", json!({})).await.unwrap(), pid, "it was left alone");
    let late = bench.call("good:sleep", json!({"ms": 5_000})).await.unwrap_err();
    assert!(late.ends_with("did not answer within 150 ms"), "{late}");

    // Changed, it is another server.
    bench.write("toolwright.toml", &format!("{good}env = {{ X = \"1\" }}\n"));
    bench.until("the server is a new one", |bench| bench.events("loaded good").len() == 2).await;
    assert_ne!(bench.call("good:pid", json!({})).await.unwrap(), pid);
    bench.until("and the old one is gone", |bench| bench.running().len() == 1).await;
    bench.catalog.runner().close().await;
}

#[tokio::test]
async fn a_configuration_that_breaks_changes_nothing() {
    let good = server("good");
    let bench = Bench::settled(&[("toolwright.toml", &good)]).await;
    let before = bench.ids();
    let pid = bench.call("good:pid", json!({})).await.unwrap();
    let stays = "note: the configuration cannot be read; the one before it stays";
    bench.write("toolwright.toml", "[[source]\nname =");
    bench.until("it is said once", |bench| bench.events(stays).len() == 1).await;
    std::fs::remove_file(bench.path("toolwright.toml")).unwrap();
    bench.until("it is said again", |bench| bench.events(stays).len() == 2).await;
    assert_eq!(bench.ids(), before);
    assert_eq!(bench.call("good:pid", json!({})).await.unwrap(), pid);
    bench.write("toolwright.toml", &format!("{good}{}", server("paged")));
    bench.until("it is whole again", |bench| bench.has("paged:echo")).await;
    assert_eq!(bench.call("good:pid", json!({})).await.unwrap(), pid);
    bench.catalog.runner().close().await;
}

#[tokio::test]
async fn a_servers_file_that_changes() {
    let servers = |modes: &[&str]| {
        let entry = |mode: &&str| {
            (mode.to_string(), json!({"command": faulty_server(), "args": ["mcp", mode]}))
        };
        json!({"mcpServers": modes.iter().map(entry).collect::<serde_json::Map<_, _>>()})
            .to_string()
    };
    let bench = Bench::settled(&[
        ("toolwright.toml", "[[source]]\nname = \"all\"\nmcp = \"mcp.json\"\n"),
        ("mcp.json", &servers(&["good"])),
    ])
    .await;
    let pid = bench.call("good:pid", json!({})).await.unwrap();
    bench.write("mcp.json", &servers(&["paged", "good"]));
    bench.until("the new server is there", |bench| bench.has("paged:pid")).await;
    assert_eq!(bench.call("good:pid", json!({})).await.unwrap(), pid);
    bench.write("mcp.json", &servers(&["paged"]));
    bench
        .until("the old one is gone", |bench| !bench.has("good:pid") && bench.running().len() == 1)
        .await;
    bench.catalog.runner().close().await;
}

#[tokio::test]
async fn a_source_that_is_still_starting_when_the_configuration_changes_is_loaded_once() {
    let slow = format!("{}env = {{ START_MS = \"3500\" }}\n", server("slow-start"));
    let bench = Bench::follow(&[
        ("toolwright.toml", &slow),
        SCRIPT,
        ("tools/a.yaml", &local("a", &[("one", ANYTHING)])),
    ])
    .await;
    bench.until("the server is starting", |bench| bench.running().len() == 1).await;
    bench.write("toolwright.toml", &format!("{slow}\n{TOOLS}"));
    bench.until("the new source is there", |bench| bench.has("a:one")).await;
    assert!(!bench.has("slow-start:echo"), "it is still starting");
    bench.until("the slow one too", |bench| bench.has("slow-start:echo")).await;
    // Whatever else it would be told comes from one more change of another source.
    std::fs::remove_file(bench.path("tools/a.yaml")).unwrap();
    bench.until("the file is forgotten", |bench| !bench.has("a:one")).await;
    assert_eq!(bench.events("loaded slow-start").len(), 1, "{:#?}", bench.events(""));
    bench.catalog.runner().close().await;
}

#[tokio::test]
async fn a_server_that_changes_its_list() {
    for mode in ["changing", "changing-bad"] {
        let bench = Bench::settled(&[("toolwright.toml", &server(mode))]).await;
        let added = format!("{mode}:added");
        assert!(!bench.has(&added));
        assert_eq!(bench.code(&format!("{mode}:echo")).await, "ok");
        bench.until("the new tool is there", |bench| bench.has(&added)).await;
        assert_eq!(bench.code(&added).await, "ok");
        if mode == "changing-bad" {
            let aside: Vec<String> =
                bench.ids().into_iter().filter(|id| id.starts_with('!')).collect();
            assert_eq!(aside, ["!changing-bad:bad_type", "!changing-bad:no_schema"]);
            assert_eq!(bench.code(&format!("{mode}:echo")).await, "ok", "the first of two stays");
        }
        bench.catalog.runner().close().await;
    }
}

#[tokio::test]
async fn a_server_that_comes_up_late() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("late-tool");
    let source = format!("[[source]]\nname = \"late\"\ncommand = ['{}']\n", program.display());
    write(&folder.path().join("toolwright.toml"), &format!("{source}{}", server("good")));
    let bench = Bench::over(folder).await;
    bench.catalog.settled(SOON).await;
    assert!(bench.has("good:echo") && !bench.has("late:echo"));
    assert!(bench.events("unloaded late")[0].contains("SPAWN_FAILED"));
    write(&program, &format!("#!/bin/sh\nexec '{}' mcp good\n", faulty_server()));
    bench.until("it is there at last", |bench| bench.has("late:echo")).await;
    assert_eq!(bench.code("late:echo").await, "ok");
    bench.catalog.runner().close().await;
}

#[tokio::test]
async fn a_server_that_is_away_for_a_moment_keeps_its_place() {
    let bench = Bench::settled(&[("toolwright.toml", &server("good"))]).await;
    let before = bench.ids();
    assert_eq!(bench.code("good:exit").await, "UPSTREAM_UNAVAILABLE");
    assert_eq!(bench.ids(), before);
    let end = Instant::now() + SOON;
    while bench.code("good:echo").await != "ok" {
        assert!(Instant::now() < end, "it never comes back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    bench.until("its list is read again", |bench| bench.events("loaded good").len() == 2).await;
    assert_eq!(bench.ids(), before);
    bench.catalog.runner().close().await;
}

/// An aios definition of a server in the mcp mode.
fn served(mode: &str) -> String {
    format!(
        "tool:\n  id: served\n  type: mcp\n  name: Served\n  version: 1.0.0\n  description: A server for tests\n  \
         mcp_specific:\n    server_command: {} mcp {mode}\n    transport: stdio\n  \
         tools:\n    - id: pid\n      description: Answers the process id\n      inputSchema: {ANYTHING}\n",
        faulty_server()
    )
}

/// The same, with commands that only their server can say more about.
fn served_with(mode: &str, commands: &str) -> String {
    let written = served(mode);
    let (head, _) = written.split_once("  tools:").unwrap();
    format!("{head}  commands: {commands}\n")
}

#[tokio::test]
async fn what_a_definition_leaves_open_its_server_says() {
    let defs = served_with("changing", "[echo, add, vanished]");
    let bench = Bench::settled(&[("toolwright.toml", TOOLS), ("tools/a.yaml", &defs)]).await;
    let described = |id: &str| {
        let toolbox = bench.catalog.runner().registry();
        let tool = &toolbox.get(id).unwrap().tool;
        (tool.input.to_json(), tool.output.is_some(), tool.description.is_some())
    };
    let (input, output, description) = described("served:add");
    assert_eq!(input["required"], json!(["a", "b"]));
    assert!(output && description);
    assert!(
        bench.call("served:add", json!({"a": 1})).await.unwrap_err().starts_with("INPUT_INVALID")
    );
    assert_eq!(bench.call("served:add", json!({"a": 1, "b": 2})).await.unwrap(), json!({"sum": 3}));
    // What the server has not is set aside alone, at its place; what else it has is there as well.
    assert!(bench.has("!served:vanished") && bench.has("served:pid"), "{:?}", bench.ids());
    let said = bench.call("served:vanished", json!({})).await.unwrap_err();
    assert!(said.contains("QUARANTINED") && said.contains("COMMAND_NOT_ON_SERVER"), "{said}");
    let problem = bench.events("COMMAND_NOT_ON_SERVER");
    assert!(
        problem.len() == 1
            && problem[0].contains("/tool/commands/2: the server has no tool `vanished`"),
        "{problem:?}"
    );
    assert!(!bench.has("served:added"));
    assert_eq!(bench.code("served:echo").await, "ok");
    bench.until("a change of the server is followed", |bench| bench.has("served:added")).await;
    // A change of the file as well, without a moment in which the server's tools are not there.
    bench.write("tools/a.yaml", &served_with("changing", "[echo, add]"));
    bench
        .until("it is read again", |bench| {
            assert!(bench.has("served:added"));
            bench.ids().iter().all(|id| !id.contains("vanished"))
        })
        .await;
    assert_eq!(bench.running().len(), 1);
    bench.catalog.runner().close().await;
}

/// A server that is away, or lists nothing, must not hold off what the definition says.
#[tokio::test]
async fn a_changed_definition_holds_while_its_server_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("some-tool");
    write(&program, &format!("#!/bin/sh\nexec '{}' mcp good\n", faulty_server()));
    let defs = |commands: &str| {
        served_with("good", commands)
            .replace(&format!("{} mcp good", faulty_server()), &program.display().to_string())
    };
    write(&folder.path().join("toolwright.toml"), TOOLS);
    write(&folder.path().join("tools/a.yaml"), &defs("[echo, vanished]"));
    let bench = Bench::over(folder).await;
    bench.catalog.settled(SOON).await;
    assert!(bench.has("!served:vanished") && bench.has("served:pid"), "{:?}", bench.ids());
    std::fs::remove_file(&program).unwrap();
    assert_eq!(bench.code("served:exit").await, "UPSTREAM_UNAVAILABLE");
    bench.write("tools/a.yaml", &defs("[echo]"));
    bench
        .until("the definition is read again", |bench| {
            bench.ids().iter().all(|id| !id.contains("vanished"))
        })
        .await;
    // What the server said of its own tools still holds.
    assert!(bench.has("served:pid") && bench.has("served:echo"), "{:?}", bench.ids());
    bench.catalog.runner().close().await;
}

#[tokio::test]
async fn a_tool_that_its_server_describes_badly_is_set_aside() {
    let defs = served_with("changing-bad", "[echo, bad_type]");
    let bench = Bench::settled(&[("toolwright.toml", TOOLS), ("tools/a.yaml", &defs)]).await;
    assert_eq!(bench.code("served:echo").await, "ok");
    bench.until("the server has the tool", |bench| bench.has("served:added")).await;
    let said = bench.call("served:bad_type", json!({})).await.unwrap_err();
    assert!(said.contains("QUARANTINED") && said.contains("on the server: "), "{said}");
    bench.catalog.runner().close().await;
}

#[tokio::test]
async fn a_definition_whose_server_is_late_has_its_own_tools_until_then() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("late-tool");
    let defs = served_with("good", "[add]")
        .replace(&format!("{} mcp good", faulty_server()), &program.display().to_string());
    write(&folder.path().join("toolwright.toml"), TOOLS);
    write(&folder.path().join("tools/a.yaml"), &defs);
    let bench = Bench::over(folder).await;
    bench.catalog.settled(SOON).await;
    assert_eq!(bench.ids(), ["served:add"]);
    assert!(bench.events("unloaded served")[0].contains("SPAWN_FAILED"), "{:?}", bench.events(""));
    assert_eq!(bench.code("served:add").await, "SPAWN_FAILED");
    write(&program, &format!("#!/bin/sh\nexec '{}' mcp good\n", faulty_server()));
    bench.until("its server is there at last", |bench| bench.has("served:echo")).await;
    assert_eq!(bench.code("served:add").await, "INPUT_INVALID");
    bench.catalog.runner().close().await;
}

#[tokio::test]
async fn a_definition_that_names_another_server_lets_go_of_the_first() {
    let bench =
        Bench::settled(&[("toolwright.toml", TOOLS), ("tools/a.yaml", &served("good"))]).await;
    assert!(bench.has("served:pid"), "{:#?}", bench.events(""));
    let pid = bench.call("served:pid", json!({})).await.unwrap();
    bench.write("tools/a.yaml", &served("paged"));
    bench.until("it is read again", |bench| bench.events("loaded defs").len() == 2).await;
    assert_ne!(bench.call("served:pid", json!({})).await.unwrap(), pid);
    bench.until("the first server is gone", |bench| bench.running().len() == 1).await;
    bench.catalog.runner().close().await;
}

#[tokio::test]
async fn only_what_a_tool_needs_is_loaded_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("{}{}{TOOLS}", server("good"), server("paged"));
    write(&folder.path().join("toolwright.toml"), &config);
    write(&folder.path().join(SCRIPT.0), SCRIPT.1);
    write(&folder.path().join("tools/a.yaml"), &local("a", &[("one", ANYTHING)]));
    write(&folder.path().join("tools/b.yaml"), &served("good"));
    write(
        &folder.path().join("tools/c.yaml"),
        &served_with("good", "[image]").replace("id: served", "id: open"),
    );
    let path = folder.path().join("toolwright.toml");
    for (id, loaded) in [
        ("a:one", vec!["defs"]),
        ("one", vec!["defs"]),
        // Whose schema is written needs no server yet; whose is not, its own; an unknown one as
        // well.
        ("served:pid", vec!["defs"]),
        ("pid", vec!["defs"]),
        ("open:image", vec!["defs", "open"]),
        ("image", vec!["defs", "open"]),
        ("served:echo", vec!["defs", "served"]),
        ("good:echo", vec!["defs", "good"]),
        ("none:echo", vec!["defs"]),
        ("echo", vec!["defs", "good", "open", "paged", "served"]),
    ] {
        let events = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&events);
        let listener = Arc::new(move |event: &Event| {
            if let Event::Loaded { source, .. } = event {
                noted.lock().unwrap().push(source.clone());
            }
        });
        let config = path.clone();
        let planner = Arc::new(move || Plan::of_config(&config, &|_| None));
        let parts =
            ExecutorContext::new(vec![("PATH".into(), "/usr/bin:/bin".into())], Log::default());
        let catalog =
            Catalog::new(Arc::new(Runner::new(parts, CallLimits::default())), planner, listener);
        assert!(catalog.load_for(id).await.is_empty());
        let mut events = std::mem::take(&mut *events.lock().unwrap());
        events.sort();
        assert_eq!(events, loaded, "{id}");
        catalog.runner().close().await;
    }
}
