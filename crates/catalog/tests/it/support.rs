//! What all tests here use: a catalog over a folder of files, definitions for it and sources that
//! are servers.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolwright_catalog::{Catalog, CatalogEvent};
use toolwright_exec::{
    BuiltinToolset, CallLimits, CallRequest, ExecutorContext, Log, NoHost, Runner, ToolStatus,
};
use toolwright_script::InProcessAnalyzer;
use toolwright_testing::faulty_server;
use toolwright_workspace::{ReadOptions, SourcePlan, Workspace};

/// How long a test waits for an event before it fails. Files are polled once a second; the rest is
/// for a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with a configuration, and the catalog of it.
pub(crate) struct TestCatalog {
    pub(crate) folder: TempDir,
    pub(crate) catalog: Arc<Catalog>,
    events: Arc<Mutex<Vec<String>>>,
    _until: DropGuard,
}

/// The definitions of these tests lie in folders, and start what they name.
pub(crate) fn policy_that_allows_starting() -> Arc<toolwright_catalog::grants::GrantPolicy> {
    let allowed = ["process:spawn", "mcp:connect"];
    let allowed = allowed.map(|name| toolwright_model::Capability::parse(name).unwrap());
    Arc::new(toolwright_catalog::grants::GrantPolicy::new(
        Default::default(),
        allowed.to_vec(),
        Err("there is none".to_owned()),
    ))
}

impl TestCatalog {
    /// Files in a folder, one of them `toolwright.toml`. They are loaded and followed.
    pub(crate) async fn follow(files: &[(&str, &str)]) -> TestCatalog {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            write(&folder.path().join(name), text);
        }
        TestCatalog::over(folder).await
    }

    pub(crate) async fn over(folder: TempDir) -> TestCatalog {
        TestCatalog::with_builtins(folder, Vec::new()).await
    }

    /// The same, with built-in toolsets.
    pub(crate) async fn with_builtins(
        folder: TempDir,
        builtins: Vec<Arc<dyn BuiltinToolset>>,
    ) -> TestCatalog {
        let events = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&events);
        let listener =
            Arc::new(move |event: &CatalogEvent| noted.lock().unwrap().push(describe(event)));
        let config = folder.path().join("toolwright.toml");
        let planner =
            Arc::new(move || SourcePlan::from_config(&config, ReadOptions::default(), &|_| None));
        let environment =
            vec![("PATH".into(), "/usr/bin:/bin".into()), ("BENCH".into(), folder.path().into())];
        let policy = policy_that_allows_starting();
        let context = ExecutorContext::new(environment, Log::default());
        let runner = Runner::new(ExecutorContext { builtins, ..context }, CallLimits::default());
        let runner = Arc::new(runner.with_policy(policy.clone()));
        let catalog =
            Catalog::new(runner, Workspace::new(Arc::new(InProcessAnalyzer)), planner, listener);
        catalog.use_policy(policy);
        let until = CancellationToken::new();
        catalog.watch(&until);
        TestCatalog { folder, catalog, events, _until: until.drop_guard() }
    }

    /// The same, after every source was loaded or failed.
    pub(crate) async fn after_first_load(files: &[(&str, &str)]) -> TestCatalog {
        let fixture = TestCatalog::follow(files).await;
        fixture.catalog.wait_until_tried(PATIENCE).await;
        assert!(fixture.catalog.all_sources_tried());
        fixture
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
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
        CatalogEvent::LoadFailure(error) => format!("note: {error}"),
        CatalogEvent::Note(text) => format!("note: {text}"),
    }
}

/// Writes a file and renames it into place, as editors do. Names that end in `-tool` become
/// executable.
pub(crate) fn write(path: &Path, text: &str) {
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

pub(crate) const TOOLS: &str = "[[source]]\nname = \"defs\"\npath = \"tools\"\n";

/// An aios definition whose commands are run by a script beside it, and the script.
pub(crate) fn local(id: &str, commands: &[(&str, &str)]) -> String {
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

pub(crate) const SCRIPT: (&str, &str) =
    ("tools/answer.sh", "printf '{\"command\":\"%s\"}' \"$1\"\n");
pub(crate) const ANYTHING: &str = "{type: object}";
