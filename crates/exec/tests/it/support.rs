//! The bench that every test works at: a runner with tools on it, calls of them, and what is left
//! of them on this machine. Nothing else here touches the API.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

pub(crate) use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
pub(crate) use toolwright_exec::{
    Entry, Failure, Host, Lane, Limits, Log, Outcome, OutputCheck, Parts, Progress, Quiet, Request,
    Runner, Toolbox,
};
pub(crate) use toolwright_model::{Binding, Connection, Server, Variable};
use toolwright_model::{Details, InputSchema, Tool, ToolId};

pub(crate) type Answer = Result<Outcome, Failure>;

pub(crate) const MISBEHAVE: &str = env!("CARGO_BIN_EXE_misbehave");

/// How long a test waits for what must happen soon.
const SOON: Duration = Duration::from_secs(10);

/// In one process of many tests, orphans and counts of descriptors are everybody's. Tests about
/// these work alone.
static TURNS: RwLock<()> = RwLock::new(());

enum Turn {
    Together { _guard: RwLockReadGuard<'static, ()> },
    Alone { _guard: RwLockWriteGuard<'static, ()> },
}

impl Turn {
    fn together() -> Turn {
        Turn::Together { _guard: TURNS.read().unwrap_or_else(PoisonError::into_inner) }
    }

    fn alone() -> Turn {
        Turn::Alone { _guard: TURNS.write().unwrap_or_else(PoisonError::into_inner) }
    }
}

/// A runner with tools on it. One per test.
pub(crate) struct Bench {
    pub(crate) runner: Arc<Runner>,
    pub(crate) folder: TempDir,
    log: Arc<Mutex<Vec<String>>>,
    _turn: Turn,
}

impl Bench {
    pub(crate) fn new(limits: Limits) -> Bench {
        Bench::make(limits, Turn::together())
    }

    /// For a test that must be the only one in its process.
    pub(crate) fn alone(limits: Limits) -> Bench {
        Bench::make(limits, Turn::alone())
    }

    fn make(limits: Limits, turn: Turn) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let log_to = Log(Arc::new(move |line: &str| lines.lock().unwrap().push(line.to_owned())));
        let parts = Parts::new(environment(folder.path()), log_to);
        Bench { runner: Arc::new(Runner::new(parts, limits)), folder, log, _turn: turn }
    }

    /// A bench with these tools and the usual limits.
    pub(crate) fn with(tools: impl IntoIterator<Item = Made>) -> Bench {
        Bench::new(Limits::default()).put(tools)
    }

    /// Puts these tools in place of those that are there.
    pub(crate) fn put(self, tools: impl IntoIterator<Item = Made>) -> Bench {
        self.runner.replace(toolbox(tools));
        self
    }

    pub(crate) async fn call(&self, id: &str, arguments: Json) -> Answer {
        self.ask(ask(id, arguments)).await
    }

    /// A call with a time limit of the caller's own.
    pub(crate) async fn call_within(&self, id: &str, arguments: Json, ms: u64) -> Answer {
        self.ask(Request { timeout: Some(Duration::from_millis(ms)), ..ask(id, arguments) }).await
    }

    pub(crate) async fn ask(&self, request: Request) -> Answer {
        self.runner.call(request, &Quiet).await
    }

    /// A call in the background, and what cancels it.
    pub(crate) fn start(
        &self,
        id: &str,
        arguments: Json,
    ) -> (tokio::task::JoinHandle<Answer>, CancellationToken) {
        let request = ask(id, arguments);
        let cancel = request.cancel.clone();
        let runner = Arc::clone(&self.runner);
        (tokio::spawn(async move { runner.call(request, &Quiet).await }), cancel)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file to be named in arguments.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().join("\n")
    }

    /// A file with these permissions.
    pub(crate) fn write(&self, name: &str, text: &str, mode: u32) -> String {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(self.path(name), text).unwrap();
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
        self.file(name)
    }

    /// A link to `misbehave` that is a process tool by its name.
    pub(crate) fn link(&self, mode: &str) -> String {
        let name = format!("{mode}-tool");
        std::os::unix::fs::symlink(MISBEHAVE, self.path(&name)).unwrap();
        self.file(&name)
    }

    /// Processes whose environment says that they came from here.
    pub(crate) fn left(&self) -> Vec<String> {
        let mark = format!("BENCH={}", self.folder.path().display());
        let mut left = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) {
                let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let words = String::from_utf8_lossy(&words).replace('\0', " ");
                left.push(format!("{} {words}", entry.file_name().display()));
            }
        }
        left
    }

    /// Waits until nothing that came from here is running.
    pub(crate) async fn nothing_left(&self, after: &str) {
        let until = Instant::now() + SOON;
        while !self.left().is_empty() {
            assert!(Instant::now() < until, "left running after {after}: {:#?}", self.left());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Closes the runner, after which nothing is left.
    pub(crate) async fn close(&self) {
        self.runner.close().await;
        self.nothing_left("close").await;
    }
}

fn environment(folder: &Path) -> Vec<(OsString, OsString)> {
    vec![("PATH".into(), "/usr/bin:/bin".into()), ("BENCH".into(), folder.into())]
}

pub(crate) fn ask(id: &str, arguments: Json) -> Request {
    Request { arguments, ..Request::new(id) }
}

/// A tool in the making.
#[derive(Clone)]
pub(crate) struct Made {
    id: String,
    binding: Binding,
    input: Json,
    output: Option<Json>,
    timeout: Option<u64>,
    toolset: Option<u64>,
    lane: Arc<Lane>,
    environment: Vec<(OsString, OsString)>,
    aside: Option<String>,
}

pub(crate) fn tool(id: &str, binding: Binding) -> Made {
    Made {
        id: id.to_owned(),
        binding,
        input: json!({"type": "object"}),
        output: None,
        timeout: None,
        toolset: None,
        lane: Arc::new(Lane::new(256, 1024)),
        environment: Vec::new(),
        aside: None,
    }
}

impl Made {
    pub(crate) fn input(mut self, schema: Json) -> Made {
        self.input = schema;
        self
    }

    pub(crate) fn output(mut self, schema: Json) -> Made {
        self.output = Some(schema);
        self
    }

    pub(crate) fn timeout(mut self, ms: impl Into<Option<u64>>) -> Made {
        self.timeout = ms.into();
        self
    }

    /// The time-out its toolset declares.
    pub(crate) fn toolset(mut self, ms: impl Into<Option<u64>>) -> Made {
        self.toolset = ms.into();
        self
    }

    pub(crate) fn lane(mut self, lane: &Arc<Lane>) -> Made {
        self.lane = Arc::clone(lane);
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Made {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub(crate) fn quarantined(mut self, reason: &str) -> Made {
        self.aside = Some(reason.to_owned());
        self
    }

    fn entry(self) -> Entry {
        let id = ToolId::parse(&self.id).unwrap();
        let limits =
            |timeout_ms| toolwright_model::DeclaredLimits { timeout_ms, ..Default::default() };
        let tool = Tool {
            name: id.name.clone(),
            namespace: None,
            description: None,
            version: None,
            input: InputSchema::Written(self.input),
            output: self.output,
            needs: Vec::new(),
            details: Details {
                binding: self.binding,
                limits: limits(self.timeout),
                ..Details::default()
            },
        };
        if let Some(reason) = self.aside {
            return Entry::quarantined(id, tool, self.lane, reason);
        }
        let mut entry = Entry::new(id, tool, limits(self.toolset), self.lane).unwrap();
        entry.environment = self.environment;
        entry
    }
}

pub(crate) fn toolbox(tools: impl IntoIterator<Item = Made>) -> Toolbox {
    let mut toolbox = Toolbox::default();
    for made in tools {
        toolbox.add(Arc::new(made.entry())).unwrap();
    }
    toolbox
}

/// A process mode of `misbehave`.
pub(crate) fn process(mode: &str) -> Binding {
    Binding::Local {
        runtime: Some(MISBEHAVE.to_owned()),
        entry_point: "process".to_owned(),
        command: mode.to_owned(),
        dependencies: Vec::new(),
    }
}

/// A script for `sh`, whose `$1…` are the `args` of the call.
pub(crate) fn shell(script: &str) -> Binding {
    Binding::Command {
        executable: "/bin/sh".to_owned(),
        words: ["-c", script, "sh"].map(str::to_owned).to_vec(),
        install_check: None,
        install_guide: None,
    }
}

/// A server with its tools under `name:`.
#[derive(Clone)]
pub(crate) struct Upstream {
    name: String,
    pub(crate) server: Arc<Server>,
}

impl Upstream {
    fn of(
        name: &str,
        connection: Connection,
        environment: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Upstream {
        let given = |list: &[(&str, &str)]| {
            list.iter()
                .map(|(name, value)| Variable {
                    name: (*name).to_owned(),
                    value: Some((*value).to_owned()),
                    ..Variable::default()
                })
                .collect()
        };
        let server = Server {
            connection,
            environment: given(environment),
            headers: given(headers),
            directory: None,
            health_check: None,
        };
        Upstream { name: name.to_owned(), server: Arc::new(server) }
    }

    /// An mcp mode of `misbehave`, which is also its name.
    pub(crate) fn stdio(mode: &str, environment: &[(&str, &str)]) -> Upstream {
        Upstream::command(mode, &[MISBEHAVE, "mcp", mode], environment)
    }

    pub(crate) fn command(name: &str, words: &[&str], environment: &[(&str, &str)]) -> Upstream {
        let command = words.iter().map(|word| (*word).to_owned()).collect();
        Upstream::of(name, Connection::Stdio { command }, environment, &[])
    }

    pub(crate) fn at(name: &str, url: &str, headers: &[(&str, &str)]) -> Upstream {
        Upstream::of(name, Connection::Http { url: url.to_owned() }, &[], headers)
    }

    pub(crate) fn over(name: &str, connection: Connection) -> Upstream {
        Upstream::of(name, connection, &[], &[])
    }

    pub(crate) fn tool(&self, tool: &str) -> Made {
        let binding = Binding::Server { server: Arc::clone(&self.server), tool: tool.to_owned() };
        self::tool(&format!("{}:{tool}", self.name), binding)
    }

    /// All that these servers can do when nothing is wrong.
    pub(crate) fn tools(&self) -> Vec<Made> {
        [
            "echo",
            "add",
            "sleep",
            "progress",
            "big",
            "fail",
            "rpc-error",
            "env",
            "pid",
            "exit",
            "image",
            "change",
        ]
        .map(|tool| self.tool(tool))
        .into()
    }
}

/// An HTTP server that runs as long as this lives. It is started through a runner, since who is
/// started past it is an orphan to it.
pub(crate) struct HttpServer {
    pub(crate) url: String,
    requests: PathBuf,
    pub(crate) cancelled: PathBuf,
    task: tokio::task::JoinHandle<()>,
    _folder: TempDir,
}

impl HttpServer {
    pub(crate) async fn start(mode: &str) -> HttpServer {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let path = |name: &str| file(name).to_str().unwrap().to_owned();
        let script = r#"tail -f /dev/null | "$1" http "$2" 127.0.0.1:0 >"$3""#;
        let served = tool("serve", shell(script))
            .timeout(100_000)
            .variable("REQUEST_LOG", &path("requests"))
            .variable("CANCEL_LOG", &path("cancelled"));
        let parts = Parts::new(vec![("PATH".into(), "/usr/bin:/bin".into())], Log::default());
        let runner = Runner::new(parts, Limits::default());
        runner.replace(toolbox([served]));
        let request = ask("serve", json!({"args": [MISBEHAVE, mode, path("said")]}));
        let task = tokio::spawn(async move { drop(runner.call(request, &Quiet).await) });
        let said = || std::fs::read_to_string(file("said")).unwrap_or_default();
        until("the HTTP server listens", || said().contains("/mcp\n")).await;
        let said = said();
        let url = said.lines().next().unwrap().strip_prefix("listening ").unwrap().to_owned();
        HttpServer {
            url,
            requests: file("requests"),
            cancelled: file("cancelled"),
            task,
            _folder: folder,
        }
    }

    /// All requests so far: `at`, `method`, `headers`, `body`.
    pub(crate) fn requests(&self) -> Vec<Json> {
        let text = std::fs::read_to_string(&self.requests).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What became of a call, in one word: `ok`, `error` for a tool that says so, or the code.
pub(crate) fn word(answer: &Answer) -> &'static str {
    match answer {
        Ok(outcome) if outcome.is_error => "error",
        Ok(_) => "ok",
        Err(failure) => failure.code.name,
    }
}

/// The structured part of an answer that must be a good one.
pub(crate) fn value(answer: Answer) -> Json {
    match answer {
        Ok(outcome) => outcome.structured.unwrap_or(Json::Null),
        Err(failure) => panic!("{}\n{:?}", failure.to_text(), failure.detail),
    }
}

/// The failure of a call that must have failed, everything that it says in one text.
pub(crate) fn failure(answer: Answer) -> String {
    let failure = answer.unwrap_err();
    format!("{}\n{}", failure.to_text(), failure.detail.unwrap_or_default())
}

/// Waits for something that must happen soon.
pub(crate) async fn until(what: &str, mut check: impl FnMut() -> bool) {
    let end = Instant::now() + SOON;
    while !check() {
        assert!(Instant::now() < end, "this did not happen: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The pid that a process wrote into a file.
pub(crate) async fn pid_in(file: &str) -> i32 {
    until("a pid file is there", || Path::new(file).exists()).await;
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

/// Whether there is such a process, zombies included.
pub(crate) fn is_there(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Whether it is there and has not ended.
pub(crate) fn is_running(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

/// A line of `/proc/self/status`, in its own unit.
pub(crate) fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// The time a future takes, and what it gives.
pub(crate) async fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let start = Instant::now();
    let done = work.await;
    (start.elapsed(), done)
}
