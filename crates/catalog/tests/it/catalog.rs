//! The catalog: sources become tools of a runner. A bad source, file or tool is left out alone, and
//! changes are loaded while the catalog runs.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolwright_catalog::{Catalog, CatalogEvent};
use toolwright_exec::{CallLimits, CallRequest, ExecutorContext, Log, NoHost, Runner, ToolStatus};
use toolwright_script::InProcessAnalyzer;
use toolwright_testing::{faulty_server, faulty_tool};
use toolwright_workspace::{ReadOptions, SourcePlan, Workspace, record};

/// How long a test waits for an event before it fails. Files are polled once a second; the rest is
/// for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with a configuration, and the catalog of it.
pub(crate) struct TestCatalog {
    folder: TempDir,
    pub(crate) catalog: Arc<Catalog>,
    events: Arc<Mutex<Vec<String>>>,
    _until: DropGuard,
}

impl TestCatalog {
    /// Files in a folder, one of them `toolwright.toml`. They are loaded and followed.
    async fn follow(files: &[(&str, &str)]) -> TestCatalog {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            write(&folder.path().join(name), text);
        }
        TestCatalog::over(folder).await
    }

    async fn over(folder: TempDir) -> TestCatalog {
        let events = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&events);
        let listener =
            Arc::new(move |event: &CatalogEvent| noted.lock().unwrap().push(describe(event)));
        let config = folder.path().join("toolwright.toml");
        let planner =
            Arc::new(move || SourcePlan::from_config(&config, ReadOptions::default(), &|_| None));
        let environment =
            vec![("PATH".into(), "/usr/bin:/bin".into()), ("BENCH".into(), folder.path().into())];
        let runner = Arc::new(Runner::new(
            ExecutorContext::new(environment, Log::default()),
            CallLimits::default(),
        ));
        let catalog =
            Catalog::new(runner, Workspace::new(Arc::new(InProcessAnalyzer)), planner, listener);
        let until = CancellationToken::new();
        catalog.watch(&until);
        TestCatalog { folder, catalog, events, _until: until.drop_guard() }
    }

    /// The same, after every source was loaded or failed.
    pub(crate) async fn settled(files: &[(&str, &str)]) -> TestCatalog {
        let fixture = TestCatalog::follow(files).await;
        fixture.catalog.wait_until_tried(PATIENCE).await;
        assert!(fixture.catalog.all_sources_tried());
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        write(&self.path(name), text);
    }

    /// The ids of all tools, with `!` in front of those in quarantine.
    pub(crate) fn ids(&self) -> Vec<String> {
        let toolbox = self.catalog.runner().registry();
        let id = |entry: &toolwright_exec::RegisteredTool| match &entry.status {
            ToolStatus::Ready => entry.id.to_string(),
            ToolStatus::Quarantined(_) => format!("!{}", entry.id),
        };
        toolbox.iter().map(|entry| id(entry)).collect()
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.ids().iter().any(|known| known == id)
    }

    pub(crate) async fn call(&self, id: &str, arguments: Json) -> Result<Json, String> {
        let request = CallRequest { arguments: arguments.into(), ..CallRequest::new(id) };
        let answer = self.catalog.runner().call(request, &NoHost).await;
        answer
            .map(|outcome| outcome.structured.unwrap_or_default())
            .map_err(|failure| failure.to_string())
    }

    /// The code of a call without arguments, or `ok`.
    pub(crate) async fn code(&self, id: &str) -> String {
        match self.call(id, json!({})).await {
            Ok(_) => "ok".to_owned(),
            Err(text) => text.split(':').next().unwrap().to_owned(),
        }
    }

    /// The events that contain this text.
    pub(crate) fn events(&self, part: &str) -> Vec<String> {
        self.events.lock().unwrap().iter().filter(|event| event.contains(part)).cloned().collect()
    }

    pub(crate) async fn until(&self, what: &str, mut check: impl FnMut(&TestCatalog) -> bool) {
        let end = Instant::now() + PATIENCE;
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

    /// The command lines of the processes that this catalog started.
    pub(crate) fn running(&self) -> Vec<String> {
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

fn describe(event: &CatalogEvent) -> String {
    match event {
        CatalogEvent::Loaded { source, ready, quarantined } => {
            format!("loaded {source}: {ready} ready, {quarantined} quarantined")
        }
        CatalogEvent::Problem(problem) | CatalogEvent::PlanProblem(problem) => {
            format!(
                "{} {} {}: {}",
                problem.severity.name(),
                problem.code.name,
                problem.path.as_str(),
                problem.message
            )
        }
        CatalogEvent::SourceFailure(unloaded) => {
            format!("unloaded {}: {}", unloaded.source, unloaded.failure)
        }
        CatalogEvent::Note(text) => format!("note: {text}"),
    }
}

/// Writes a file and renames it into place, as editors do. Names that end in `-tool` become
/// executable.
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
pub(crate) fn server(mode: &str) -> String {
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
    let fixture = TestCatalog::settled(&[
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
    assert_eq!(fixture.ids(), ["convert", "now", "page:count", "shelf:put", "shelf:take"]);
    for (id, code) in [
        ("shelf:take", "ok"),
        ("shelf:put", "ok"),
        ("convert", "NOT_RUNNABLE"),
        ("now", "NOT_RUNNABLE"),
        ("page:count", "NOT_RUNNABLE"),
    ] {
        assert_eq!(fixture.code(id).await, code, "{id}");
    }
    assert_eq!(fixture.call("shelf:take", json!({})).await, Ok(json!({"command": "take"})));
    assert_eq!(fixture.events(""), ["loaded defs: 5 ready, 0 quarantined"]);
}

#[tokio::test]
async fn a_tool_with_an_error_is_quarantined_alone() {
    let commands = [
        ("good", ANYTHING),
        ("bad_type", "{type: 12}"),
        ("elsewhere", "{type: object, properties: {x: {$ref: 'https://example.com/x.json'}}}"),
        ("other_draft", "{$schema: 'http://json-schema.org/draft-03/schema#', type: object}"),
        ("fine", ANYTHING),
    ];
    let fixture = TestCatalog::settled(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("it", &commands)),
    ])
    .await;
    assert_eq!(
        fixture.ids(),
        ["!it:bad_type", "!it:elsewhere", "it:fine", "it:good", "!it:other_draft"]
    );
    for (id, code, why) in [
        ("it:bad_type", "QUARANTINED", "INVALID"),
        ("it:elsewhere", "QUARANTINED", "EXTERNAL_REF"),
        ("it:other_draft", "QUARANTINED", "UNSUPPORTED_DIALECT"),
        ("it:good", "ok", ""),
        ("it:fine", "ok", ""),
    ] {
        let answer = fixture.call(id, json!({})).await;
        assert_eq!(answer.is_ok(), code == "ok", "{id}: {answer:?}");
        let text = answer.err().unwrap_or_default();
        assert!(code == "ok" || text.starts_with(code) && text.contains(why), "{id}: {text}");
    }
    let problems = fixture.events("EXTERNAL_REF");
    assert!(
        matches!(&problems[..], [one] if one.starts_with("error EXTERNAL_REF /tool/tools/2/inputSchema/properties/x")),
        "{problems:?}"
    );
    assert_eq!(fixture.events("loaded"), ["loaded defs: 2 ready, 3 quarantined"]);
}

/// One definition has one hash, whether it is shown or called.
#[tokio::test]
async fn registered_tools_have_the_hashes_that_records_show() {
    let config = "[[source]]\nname = \"shop\"\npath = \"shop.json\"\n\n\
                  [[source]]\nname = \"other\"\npath = \"other.json\"\nimplementations = \"bodies\"\n\n\
                  [[source]]\nname = \"defs\"\npath = \"tools\"\nimplementations = \"bodies\"\n";
    let shop = r#"{"btcp": "1.0", "name": "shop", "version": "1.0.0", "capabilities": [],
        "tools": [{"name": "getTotal",
        "description": "Adds prices", "capabilities": [], "inputSchema": {"type": "object"}}]}"#;
    let fixture = TestCatalog::settled(&[
        ("toolwright.toml", config),
        ("shop.json", shop),
        ("getTotal.js", "export default () => 1"),
        ("other.json", &shop.replace("shop", "other")),
        ("bodies/getTotal.js", "export default () => 2"),
        ("tools/a.yaml", &local("it", &[("good", ANYTHING)])),
        SCRIPT,
    ])
    .await;
    let shown = |file: &str| {
        let workspace = Workspace::new(Arc::new(InProcessAnalyzer));
        let load = workspace.load(&[fixture.path(file)], ReadOptions::default());
        let reading = load.documents[0].reading.as_ref().unwrap();
        [
            record::toolset(reading)["hash"].clone(),
            record::tools(reading, 0, &CallLimits::default())[0]["hash"].clone(),
        ]
    };
    let registered = |id: &str| {
        let toolbox = fixture.catalog.runner().registry();
        let tool = toolbox.get(id).unwrap();
        assert_eq!(tool.status, ToolStatus::Ready, "{id}");
        [tool.toolset_hash.as_ref(), tool.tool.hash.as_ref()]
            .map(|hash| Json::from(hash.unwrap().as_str()))
    };
    assert_eq!(registered("shop:getTotal"), shown("shop.json"));
    // Scripts of local tools lie beside the definition, whatever folder the bodies are in.
    assert_eq!(registered("it:good"), shown("tools/a.yaml"));
    // `show` does not know the folder that the configuration names.
    let [toolset, tool] = registered("other:getTotal");
    assert!(toolset != shown("other.json")[0] && tool == shown("other.json")[1]);
    fixture.write("bodies/getTotal.js", "export default () => 22");
    fixture
        .until("the new body is loaded", |_| {
            let [now, same] = registered("other:getTotal");
            now != toolset && same == tool
        })
        .await;
}

#[tokio::test]
async fn an_error_outside_of_tools_quarantines_the_document() {
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
    let fixture = TestCatalog::settled(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("it", &[("good", ANYTHING)])),
        ("tools/b.json", &nameless),
    ])
    .await;
    assert_eq!(fixture.ids(), ["it:good", "!one", "!two"]);
    assert_eq!(fixture.code("one").await, "QUARANTINED");
    assert_eq!(fixture.code("two").await, "QUARANTINED");
    assert_eq!(fixture.code("it:good").await, "ok");
}

#[tokio::test]
async fn the_first_of_two_tools_with_one_id_is_used() {
    let second = local("it", &[("twice", ANYTHING)]).replace("./answer.sh", "./none.sh");
    let fixture = TestCatalog::settled(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("it", &[("twice", ANYTHING), ("once", ANYTHING)])),
        ("tools/b.yaml", &second),
    ])
    .await;
    assert_eq!(fixture.ids(), ["it:once", "it:twice"]);
    assert_eq!(fixture.call("it:twice", json!({})).await, Ok(json!({"command": "twice"})));
    assert_eq!(
        fixture.events("note"),
        ["note: `it:twice` is defined twice; the first definition is used (DUPLICATE_ID)"]
    );
}

#[tokio::test]
async fn a_bad_program_leaves_the_others_loaded() {
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
    let fixture = TestCatalog::over(folder).await;
    fixture.catalog.wait_until_tried(PATIENCE).await;
    assert_eq!(fixture.ids(), ["add", "echo"]);
    assert_eq!(fixture.call("add", json!({"a": 1, "b": 2})).await, Ok(json!({"sum": 3})));
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
        let events = fixture.events(&format!("bin/{program}-tool: "));
        assert!(
            matches!(&events[..], [one] if one.starts_with("unloaded") && one.contains(why)),
            "{program}: {events:?}"
        );
    }
    assert_eq!(fixture.running(), Vec::<String>::new());
}

#[tokio::test]
async fn bad_servers_do_not_delay_the_others() {
    let bad = ["exit-start", "hang-start", "garbage-only", "close-stdout-start"];
    let config: String = bad.iter().chain(&["bad-list", "good"]).map(|mode| server(mode)).collect();
    let fixture = TestCatalog::follow(&[("toolwright.toml", &config)]).await;
    fixture
        .until("the good server is there", |fixture| {
            fixture.has("good:echo") && fixture.has("bad-list:echo")
        })
        .await;
    // Nothing waited for the server that hangs: it has not failed yet.
    assert_eq!(fixture.events("unloaded hang-start"), Vec::<String>::new());
    assert_eq!(fixture.call("good:add", json!({"a": 1, "b": 2})).await, Ok(json!({"sum": 3})));
    let of_bad_list: Vec<String> =
        fixture.ids().into_iter().filter(|id| id.contains("bad-list")).collect();
    assert_eq!(
        of_bad_list,
        ["bad-list:echo", "!bad-list:external_ref", "bad-list:no_schema", "bad-list:odd_fields"]
    );
    fixture
        .until("the failure is reported", |fixture| {
            !fixture.events("unloaded exit-start").is_empty()
        })
        .await;
    assert!(fixture.events("unloaded exit-start")[0].contains("cannot find the database"));
    assert!(!fixture.catalog.all_sources_tried(), "two are still starting");
    fixture.catalog.wait_until_tried(Duration::from_millis(50)).await;
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn files_are_reloaded_when_they_change_appear_or_vanish() {
    let fixture = TestCatalog::settled(&[
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
    let fixture = TestCatalog::settled(&[
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
    let fixture = TestCatalog::settled(&[
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
    let fixture = TestCatalog::settled(&[("toolwright.toml", &good)]).await;
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
    let fixture = TestCatalog::settled(&[
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
        let fixture = TestCatalog::settled(&[("toolwright.toml", &server(mode))]).await;
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
    let fixture = TestCatalog::settled(&[("toolwright.toml", &server("good"))]).await;
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

/// An aios definition of a server in the mcp mode.
fn served(mode: &str) -> String {
    format!(
        "tool:\n  id: served\n  type: mcp\n  name: Served\n  version: 1.0.0\n  description: A server for tests\n  \
         mcp_specific:\n    server_command: {} mcp {mode}\n    transport: stdio\n  \
         tools:\n    - id: pid\n      description: Answers the process id\n      inputSchema: {ANYTHING}\n",
        faulty_server()
    )
}

/// The same, with commands whose schemas only the server has.
fn served_with(mode: &str, commands: &str) -> String {
    let written = served(mode);
    let (head, _) = written.split_once("  tools:").unwrap();
    format!("{head}  commands: {commands}\n")
}

#[tokio::test]
async fn schemas_missing_in_a_definition_come_from_its_server() {
    let defs = served_with("changing", "[echo, add, vanished]");
    let fixture =
        TestCatalog::settled(&[("toolwright.toml", TOOLS), ("tools/a.yaml", &defs)]).await;
    let described = |id: &str| {
        let toolbox = fixture.catalog.runner().registry();
        let tool = &toolbox.get(id).unwrap().tool;
        (tool.input.to_json(), tool.output.is_some(), tool.description.is_some())
    };
    let (input, output, description) = described("served:add");
    assert_eq!(input["required"], json!(["a", "b"]));
    assert!(output && description);
    assert!(
        fixture.call("served:add", json!({"a": 1})).await.unwrap_err().starts_with("INPUT_INVALID")
    );
    assert_eq!(
        fixture.call("served:add", json!({"a": 1, "b": 2})).await.unwrap(),
        json!({"sum": 3})
    );
    // A command that the server lacks is quarantined alone; other tools of the server are listed.
    assert!(fixture.has("!served:vanished") && fixture.has("served:pid"), "{:?}", fixture.ids());
    let failure = fixture.call("served:vanished", json!({})).await.unwrap_err();
    assert!(
        failure.contains("QUARANTINED") && failure.contains("COMMAND_NOT_ON_SERVER"),
        "{failure}"
    );
    let problem = fixture.events("COMMAND_NOT_ON_SERVER");
    assert!(
        problem.len() == 1
            && problem[0].contains("/tool/commands/2: the server has no tool `vanished`"),
        "{problem:?}"
    );
    assert!(!fixture.has("served:added"));
    let hashes = || {
        let toolbox = fixture.catalog.runner().registry();
        let tool = toolbox.get("served:add").unwrap();
        (tool.tool.hash.clone().unwrap(), tool.toolset_hash.clone().unwrap())
    };
    let before = hashes();
    assert_eq!(fixture.code("served:echo").await, "ok");
    fixture
        .until("a change of the server is followed", |fixture| fixture.has("served:added"))
        .await;
    // The toolset is that of the definition and that of the server; the tool has not changed.
    let after = hashes();
    assert!(before.0 == after.0 && before.1 != after.1, "{before:?} {after:?}");
    // A change of the file is loaded, and the tools of the server stay listed meanwhile.
    fixture.write("tools/a.yaml", &served_with("changing", "[echo, add]"));
    fixture
        .until("it is read again", |fixture| {
            assert!(fixture.has("served:added"));
            fixture.ids().iter().all(|id| !id.contains("vanished"))
        })
        .await;
    assert_eq!(fixture.running().len(), 1);
    fixture.catalog.runner().close().await;
}

/// A server that is unreachable, or lists no tools, must not delay a change of its definition.
#[tokio::test]
async fn a_definition_changes_while_its_server_is_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("some-tool");
    write(&program, &format!("#!/bin/sh\nexec '{}' mcp good\n", faulty_server()));
    let defs = |commands: &str| {
        served_with("good", commands)
            .replace(&format!("{} mcp good", faulty_server()), &program.display().to_string())
    };
    write(&folder.path().join("toolwright.toml"), TOOLS);
    write(&folder.path().join("tools/a.yaml"), &defs("[echo, vanished]"));
    let fixture = TestCatalog::over(folder).await;
    fixture.catalog.wait_until_tried(PATIENCE).await;
    assert!(fixture.has("!served:vanished") && fixture.has("served:pid"), "{:?}", fixture.ids());
    std::fs::remove_file(&program).unwrap();
    assert_eq!(fixture.code("served:exit").await, "UPSTREAM_UNAVAILABLE");
    fixture.write("tools/a.yaml", &defs("[echo]"));
    fixture
        .until("the definition is read again", |fixture| {
            fixture.ids().iter().all(|id| !id.contains("vanished"))
        })
        .await;
    // The last list of the server still describes its other tools.
    assert!(fixture.has("served:pid") && fixture.has("served:echo"), "{:?}", fixture.ids());
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_tool_with_an_invalid_schema_of_its_server_is_quarantined() {
    let defs = served_with("changing-bad", "[echo, bad_type]");
    let fixture =
        TestCatalog::settled(&[("toolwright.toml", TOOLS), ("tools/a.yaml", &defs)]).await;
    assert_eq!(fixture.code("served:echo").await, "ok");
    fixture.until("the server has the tool", |fixture| fixture.has("served:added")).await;
    let failure = fixture.call("served:bad_type", json!({})).await.unwrap_err();
    assert!(failure.contains("QUARANTINED") && failure.contains("on the server: "), "{failure}");
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_definition_has_its_own_tools_until_its_server_starts() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("late-tool");
    let defs = served_with("good", "[add]")
        .replace(&format!("{} mcp good", faulty_server()), &program.display().to_string());
    write(&folder.path().join("toolwright.toml"), TOOLS);
    write(&folder.path().join("tools/a.yaml"), &defs);
    let fixture = TestCatalog::over(folder).await;
    fixture.catalog.wait_until_tried(PATIENCE).await;
    assert_eq!(fixture.ids(), ["served:add"]);
    assert!(
        fixture.events("unloaded served")[0].contains("SPAWN_FAILED"),
        "{:?}",
        fixture.events("")
    );
    assert_eq!(fixture.code("served:add").await, "SPAWN_FAILED");
    write(&program, &format!("#!/bin/sh\nexec '{}' mcp good\n", faulty_server()));
    fixture.until("the tools of the server are listed", |fixture| fixture.has("served:echo")).await;
    assert_eq!(fixture.code("served:add").await, "INPUT_INVALID");
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_definition_that_names_another_server_stops_the_first() {
    let fixture =
        TestCatalog::settled(&[("toolwright.toml", TOOLS), ("tools/a.yaml", &served("good"))])
            .await;
    assert!(fixture.has("served:pid"), "{:#?}", fixture.events(""));
    let pid = fixture.call("served:pid", json!({})).await.unwrap();
    fixture.write("tools/a.yaml", &served("paged"));
    fixture.until("it is read again", |fixture| fixture.events("loaded defs").len() == 2).await;
    assert_ne!(fixture.call("served:pid", json!({})).await.unwrap(), pid);
    fixture.until("the first server is gone", |fixture| fixture.running().len() == 1).await;
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn only_the_source_of_a_called_tool_is_loaded() {
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
        // A tool whose schema is in its definition needs no server to be listed; the others and
        // unknown names need the server of their definition.
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
        let listener = Arc::new(move |event: &CatalogEvent| {
            if let CatalogEvent::Loaded { source, .. } = event {
                noted.lock().unwrap().push(source.clone());
            }
        });
        let config = path.clone();
        let planner =
            Arc::new(move || SourcePlan::from_config(&config, ReadOptions::default(), &|_| None));
        let parts =
            ExecutorContext::new(vec![("PATH".into(), "/usr/bin:/bin".into())], Log::default());
        let catalog = Catalog::new(
            Arc::new(Runner::new(parts, CallLimits::default())),
            Workspace::new(Arc::new(InProcessAnalyzer)),
            planner,
            listener,
        );
        assert!(catalog.load_for(id).await.is_empty());
        let mut events = std::mem::take(&mut *events.lock().unwrap());
        events.sort();
        assert_eq!(events, loaded, "{id}");
        catalog.runner().close().await;
    }
}
