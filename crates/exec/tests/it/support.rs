//! What all tests here use: a runner with tools, calls of them, and a look at the processes that
//! they leave. Only this file builds registries and servers.
//!
//! The tests run real programs on a machine that may be busy. So a time limit that a call must meet
//! is minutes long, one that it must exceed is short, and no test compares the time that something
//! took, unless no program is involved (see [`simulated`]).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

pub(crate) use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
pub(crate) use toolwright_exec::{
    CallArguments, CallLimits, CallRequest, ConcurrencyLimit, Failure, Host, NoHost, Outcome,
    OutputCheck, Progress, Runner, ToolRegistry,
};
use toolwright_exec::{ExecutorContext, Log, RegisteredTool};
pub(crate) use toolwright_model::{Binding, Connection, Server, Variable};
use toolwright_model::{Details, ServerSettings, Tool, ToolId};
pub(crate) use toolwright_testing::{faulty_server, faulty_tool};

pub(crate) type CallResult = Result<Outcome, Failure>;

/// How long a test waits for an event before it fails, and the time limit of calls that must
/// succeed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The limits that tests use: calls have enough time on the slowest machine.
pub(crate) fn long_limits() -> CallLimits {
    CallLimits { timeout: PATIENCE, ..CallLimits::default() }
}

/// Orphans, descriptors and memory belong to the process, which many tests share under `cargo
/// test`. Tests that look at them take this lock for writing, all others for reading.
static PROCESS_LOCK: RwLock<()> = RwLock::new(());

enum ProcessLock {
    Shared { _guard: RwLockReadGuard<'static, ()> },
    Exclusive { _guard: RwLockWriteGuard<'static, ()> },
}

impl ProcessLock {
    fn shared() -> ProcessLock {
        let guard = PROCESS_LOCK.read().unwrap_or_else(PoisonError::into_inner);
        ProcessLock::Shared { _guard: guard }
    }

    fn exclusive() -> ProcessLock {
        let guard = PROCESS_LOCK.write().unwrap_or_else(PoisonError::into_inner);
        ProcessLock::Exclusive { _guard: guard }
    }
}

/// A runner with tools, a folder for their files, and its log. One per test.
pub(crate) struct TestRunner {
    pub(crate) runner: Arc<Runner>,
    pub(crate) folder: TempDir,
    log: Arc<Mutex<Vec<String>>>,
    _lock: ProcessLock,
}

impl TestRunner {
    pub(crate) fn new(limits: CallLimits) -> TestRunner {
        TestRunner::build(limits, ProcessLock::shared())
    }

    /// For a test that must be the only one in its process.
    pub(crate) fn exclusive() -> TestRunner {
        TestRunner::build(long_limits(), ProcessLock::exclusive())
    }

    fn build(limits: CallLimits, lock: ProcessLock) -> TestRunner {
        let folder = tempfile::tempdir().unwrap();
        let (log, context) = logging_context(environment(folder.path()));
        TestRunner { runner: Arc::new(Runner::new(context, limits)), folder, log, _lock: lock }
    }

    /// A runner with these tools and the usual limits.
    pub(crate) fn with(tools: impl IntoIterator<Item = ToolBuilder>) -> TestRunner {
        TestRunner::new(long_limits()).tools(tools)
    }

    /// Replaces the tools.
    pub(crate) fn tools(self, tools: impl IntoIterator<Item = ToolBuilder>) -> TestRunner {
        self.runner.set_tools(registry(tools));
        self
    }

    pub(crate) async fn call(&self, id: &str, arguments: Json) -> CallResult {
        self.run(request(id, arguments)).await
    }

    /// A call with a time limit of the caller's own, in milliseconds.
    pub(crate) async fn call_within(&self, id: &str, arguments: Json, ms: u64) -> CallResult {
        let timeout = Some(Duration::from_millis(ms));
        self.run(CallRequest { timeout, ..request(id, arguments) }).await
    }

    pub(crate) async fn run(&self, request: CallRequest) -> CallResult {
        self.runner.call(request, &NoHost).await
    }

    /// A call in the background, and the token that cancels it.
    pub(crate) fn start(
        &self,
        id: &str,
        arguments: Json,
    ) -> (tokio::task::JoinHandle<CallResult>, CancellationToken) {
        let request = request(id, arguments);
        let cancel = request.cancel.clone();
        let runner = Arc::clone(&self.runner);
        (tokio::spawn(async move { runner.call(request, &NoHost).await }), cancel)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The path of a file as text, for arguments.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// All lines of the log so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().join("\n")
    }

    /// Writes a file with these permissions.
    pub(crate) fn write(&self, name: &str, text: &str, mode: u32) -> String {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(self.path(name), text).unwrap();
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
        self.file(name)
    }

    /// A link to `faulty-tool` whose name selects the mode.
    pub(crate) fn link(&self, mode: &str) -> String {
        let name = format!("{mode}-tool");
        std::os::unix::fs::symlink(faulty_tool(), self.path(&name)).unwrap();
        self.file(&name)
    }

    /// The processes that this runner's tools and servers started, found by a variable in their
    /// environment, as `PID COMMAND LINE`.
    pub(crate) fn processes(&self) -> Vec<String> {
        let variable = format!("TEST_FOLDER={}", self.folder.path().display());
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|given| given == variable.as_bytes()) {
                let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let words = String::from_utf8_lossy(&words).replace('\0', " ");
                found.push(format!("{} {words}", entry.file_name().display()));
            }
        }
        found
    }

    /// Waits until no process of this runner is left.
    pub(crate) async fn assert_no_processes_left(&self, after: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.processes().is_empty() {
            let left = self.processes();
            assert!(Instant::now() < until, "still running after {after}: {left:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Closes the runner and waits until no process of it is left.
    pub(crate) async fn close(&self) {
        self.runner.close().await;
        self.assert_no_processes_left("close").await;
    }
}

/// A context whose log lines are collected.
fn logging_context(
    environment: Vec<(OsString, OsString)>,
) -> (Arc<Mutex<Vec<String>>>, ExecutorContext) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let log = Log(Arc::new(move |line: &str| log.lock().unwrap().push(line.to_owned())));
    (lines, ExecutorContext::new(environment, log))
}

fn environment(folder: &Path) -> Vec<(OsString, OsString)> {
    vec![("PATH".into(), "/usr/bin:/bin".into()), ("TEST_FOLDER".into(), folder.into())]
}

pub(crate) fn request(id: &str, arguments: Json) -> CallRequest {
    CallRequest { arguments: arguments.into(), ..CallRequest::new(id) }
}

/// The tool of a test, before it is registered.
#[derive(Clone)]
pub(crate) struct ToolBuilder {
    id: String,
    binding: Binding,
    input: Json,
    output: Option<Json>,
    timeout: Option<u64>,
    toolset_timeout: Option<u64>,
    concurrency: Arc<ConcurrencyLimit>,
    environment: Vec<(OsString, OsString)>,
    quarantine: Option<String>,
}

pub(crate) fn tool(id: &str, binding: Binding) -> ToolBuilder {
    ToolBuilder {
        id: id.to_owned(),
        binding,
        input: json!({"type": "object"}),
        output: None,
        timeout: None,
        toolset_timeout: None,
        concurrency: Arc::new(ConcurrencyLimit::new(256, 1024)),
        environment: Vec::new(),
        quarantine: None,
    }
}

impl ToolBuilder {
    pub(crate) fn input(mut self, schema: Json) -> ToolBuilder {
        self.input = schema;
        self
    }

    pub(crate) fn output(mut self, schema: Json) -> ToolBuilder {
        self.output = Some(schema);
        self
    }

    /// The time-out that the tool declares, in milliseconds.
    pub(crate) fn timeout(mut self, ms: impl Into<Option<u64>>) -> ToolBuilder {
        self.timeout = ms.into();
        self
    }

    /// The time-out that its toolset declares, in milliseconds.
    pub(crate) fn toolset_timeout(mut self, ms: impl Into<Option<u64>>) -> ToolBuilder {
        self.toolset_timeout = ms.into();
        self
    }

    pub(crate) fn concurrency(mut self, limit: &Arc<ConcurrencyLimit>) -> ToolBuilder {
        self.concurrency = Arc::clone(limit);
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> ToolBuilder {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub(crate) fn quarantined(mut self, reason: &str) -> ToolBuilder {
        self.quarantine = Some(reason.to_owned());
        self
    }

    fn register(self) -> RegisteredTool {
        let id = ToolId::parse(&self.id).unwrap();
        let limits =
            |timeout_ms| toolwright_model::DeclaredLimits { timeout_ms, ..Default::default() };
        let tool = Tool {
            name: id.name.clone(),
            namespace: None,
            description: None,
            version: None,
            input: self.input.into(),
            output: self.output,
            needs: Vec::new(),
            details: Details {
                binding: self.binding,
                limits: limits(self.timeout),
                ..Details::default()
            },
            hash: None,
        };
        if let Some(reason) = self.quarantine {
            return RegisteredTool::quarantined(id, tool, self.concurrency, reason);
        }
        let toolset_limits = limits(self.toolset_timeout);
        let mut tool = RegisteredTool::new(id, tool, toolset_limits, self.concurrency).unwrap();
        tool.environment = self.environment;
        tool
    }
}

pub(crate) fn registry(tools: impl IntoIterator<Item = ToolBuilder>) -> ToolRegistry {
    let mut registry = ToolRegistry::default();
    for tool in tools {
        registry.add(Arc::new(tool.register())).unwrap();
    }
    registry
}

/// A mode of `faulty-tool`.
pub(crate) fn process(mode: &str) -> Binding {
    Binding::Local {
        runtime: None,
        entry_point: faulty_tool().to_owned(),
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

/// A script that creates the file `$1.started`, waits for the file `$1`, and prints `released`. It
/// gives up after a minute.
pub(crate) fn gate() -> Binding {
    shell(
        r#": >"$1.started"; i=0
        while [ ! -e "$1" ] && [ $i -lt 1200 ]; do sleep 0.05; i=$((i+1)); done
        echo released"#,
    )
}

/// A server whose tools are registered as `NAME:TOOL`.
#[derive(Clone)]
pub(crate) struct TestServer {
    name: String,
    pub(crate) server: Arc<Server>,
}

impl TestServer {
    fn new(
        name: &str,
        connection: Connection,
        environment: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> TestServer {
        let variables = |list: &[(&str, &str)]| {
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
            shown: None,
            environment: variables(environment),
            headers: variables(headers),
            directory: None,
            health_check: None,
            settings: ServerSettings::default(),
        };
        TestServer { name: name.to_owned(), server: Arc::new(server) }
    }

    /// `faulty-server` on stdio. The mode is also the name.
    pub(crate) fn stdio(mode: &str, environment: &[(&str, &str)]) -> TestServer {
        TestServer::command(mode, &[faulty_server(), "mcp", mode], environment)
    }

    pub(crate) fn command(name: &str, words: &[&str], environment: &[(&str, &str)]) -> TestServer {
        let command = words.iter().map(|word| (*word).to_owned()).collect();
        TestServer::new(name, Connection::Stdio { command }, environment, &[])
    }

    pub(crate) fn http(name: &str, url: &str, headers: &[(&str, &str)]) -> TestServer {
        TestServer::new(name, Connection::Http { url: url.to_owned() }, &[], headers)
    }

    pub(crate) fn over(name: &str, connection: Connection) -> TestServer {
        TestServer::new(name, connection, &[], &[])
    }

    /// Changes how the source wants the server to be run.
    pub(crate) fn change_settings(&mut self, change: impl FnOnce(&mut ServerSettings)) {
        change(&mut Arc::make_mut(&mut self.server).settings);
    }

    pub(crate) fn tool(&self, tool: &str) -> ToolBuilder {
        let binding = Binding::Server { server: Arc::clone(&self.server), tool: tool.to_owned() };
        self::tool(&format!("{}:{tool}", self.name), binding)
    }

    /// The tools of a `faulty-server` that most tests use.
    pub(crate) fn tools(&self) -> Vec<ToolBuilder> {
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

/// `faulty-server` on HTTP, stopped when this is dropped. A runner of its own starts it: to the
/// runner under test, a child that it did not start looks like an orphan.
pub(crate) struct TestHttpServer {
    pub(crate) url: String,
    requests: PathBuf,
    cancelled: PathBuf,
    task: tokio::task::JoinHandle<()>,
    _folder: TempDir,
}

impl TestHttpServer {
    pub(crate) async fn start(mode: &str) -> TestHttpServer {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let path = |name: &str| file(name).to_str().unwrap().to_owned();
        // The server ends when its stdin does, so it gets a pipe that stays open.
        let script = r#"tail -f /dev/null | "$1" http "$2" 127.0.0.1:0 >"$3""#;
        let serve = tool("serve", shell(script))
            .timeout(110_000)
            .variable("REQUEST_LOG", &path("requests"))
            .variable("CANCEL_LOG", &path("cancelled"));
        let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let context = ExecutorContext::new(environment, Log::default());
        let runner = Runner::new(context, CallLimits::default());
        runner.set_tools(registry([serve]));
        let request = request("serve", json!({"args": [faulty_server(), mode, path("stdout")]}));
        let task = tokio::spawn(async move { drop(runner.call(request, &NoHost).await) });
        let stdout = || std::fs::read_to_string(file("stdout")).unwrap_or_default();
        wait_until("the HTTP server listens", || stdout().contains("/mcp\n")).await;
        let stdout = stdout();
        let url = stdout.lines().next().unwrap().strip_prefix("listening ").unwrap().to_owned();
        TestHttpServer {
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

    /// How many requests have this text in their body.
    pub(crate) fn count_requests(&self, text: &str) -> usize {
        let contains = |request: &&Json| request["body"].as_str().unwrap().contains(text);
        self.requests().iter().filter(contains).count()
    }

    /// How many requests to cancel a call the server received.
    pub(crate) fn count_cancelled(&self) -> usize {
        count_lines(&self.cancelled)
    }
}

impl Drop for TestHttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The number of lines of a file; zero if there is no such file.
pub(crate) fn count_lines(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap_or_default().lines().count()
}

/// The end of a call in one word: `ok`, `error` for a result with `isError`, or the code.
pub(crate) fn word(result: &CallResult) -> &'static str {
    match result {
        Ok(outcome) if outcome.is_error => "error",
        Ok(_) => "ok",
        Err(failure) => failure.code.name,
    }
}

/// The structured content of a result that must be a success.
pub(crate) fn value(result: CallResult) -> Json {
    match result {
        Ok(outcome) => outcome.structured.unwrap_or(Json::Null),
        Err(failure) => panic!("{}\n{:?}", failure.to_text(), failure.detail),
    }
}

/// The text and the detail of a result that must be a failure.
pub(crate) fn failure(result: CallResult) -> String {
    let failure = result.unwrap_err();
    format!("{}\n{}", failure.to_text(), failure.detail.unwrap_or_default())
}

/// Waits until a condition holds. Polls, because most conditions are about other processes.
pub(crate) async fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "this did not happen: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The pid that a process writes to a file, once it has.
pub(crate) async fn pid_in(file: &str) -> i32 {
    wait_until("a pid file is written", || Path::new(file).exists()).await;
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

/// Whether there is a process with this pid, zombies included.
pub(crate) fn exists(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Whether there is a process with this pid that has not exited.
pub(crate) fn is_running(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

/// A number from `/proc/self/status`, in the unit of that line.
pub(crate) fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Tools without programs, for tests of the runner alone. A test with the paused clock of tokio
/// (`start_paused`) can then compare times exactly: the clock jumps to the next timer when all
/// tasks wait, and does not move otherwise.
pub(crate) mod simulated {
    use toolwright_exec::{BoxFuture, Call, Executor, ExecutorKind};

    use super::*;

    /// Runs every tool: sleeps `ms` milliseconds, or for ever without that argument. Writes
    /// `start`, `end` and `stop` (dropped before the end) with the argument `n` to the log.
    static SIMULATED: &[ExecutorKind] = &[ExecutorKind {
        id: "simulated",
        accepts: |_| true,
        needs: |_| &[],
        build: |context| Arc::new(SimulatedExecutor { log: context.log.clone() }),
    }];

    struct SimulatedExecutor {
        log: Log,
    }

    impl Executor for SimulatedExecutor {
        fn run<'a>(&'a self, call: Call<'a>, _: &'a dyn Host) -> BoxFuture<'a, CallResult> {
            let n = call.arguments["n"].clone();
            Box::pin(async move {
                self.log.line(&format!("start {n}"));
                let mut event = LogOnDrop { log: &self.log, line: format!("stop {n}") };
                match call.arguments["ms"].as_u64() {
                    Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                    None => std::future::pending().await,
                }
                event.line = format!("end {n}");
                Ok(Outcome::json(json!({"n": n})))
            })
        }
    }

    struct LogOnDrop<'a> {
        log: &'a Log,
        line: String,
    }

    impl Drop for LogOnDrop<'_> {
        fn drop(&mut self) {
            self.log.line(&self.line);
        }
    }

    /// A runner whose tools are simulated, and the events of its calls.
    pub(crate) struct SimulatedRunner {
        pub(crate) runner: Runner,
        log: Arc<Mutex<Vec<String>>>,
    }

    impl SimulatedRunner {
        pub(crate) fn new(
            limits: CallLimits,
            tools: impl IntoIterator<Item = ToolBuilder>,
        ) -> SimulatedRunner {
            let (log, context) = logging_context(Vec::new());
            let runner = Runner::with_executors(context, limits, SIMULATED);
            runner.set_tools(registry(tools));
            SimulatedRunner { runner, log }
        }

        pub(crate) async fn call(&self, id: &str, arguments: Json) -> CallResult {
            self.runner.call(request(id, arguments), &NoHost).await
        }

        /// The call and the time it took on the clock of tokio.
        pub(crate) async fn timed(&self, request: CallRequest) -> (Duration, CallResult) {
            let start = tokio::time::Instant::now();
            let result = self.runner.call(request, &NoHost).await;
            (start.elapsed(), result)
        }

        /// The events so far.
        pub(crate) fn events(&self) -> Vec<String> {
            self.log.lock().unwrap().clone()
        }
    }

    /// A simulated tool.
    pub(crate) fn simulated(id: &str) -> ToolBuilder {
        tool(id, Binding::Script)
    }
}
