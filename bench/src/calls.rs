//! `toolwright-bench calls`: what the runner adds to a call.
//!
//! Four kinds of work, each once through the runner and once without it: an executor that does
//! nothing (also with a grant of the store and the journal of calls), a program that is started, an
//! MCP server on standard streams and one on HTTP. Between our caller and the work stand the checks
//! of arguments and results against their schemas, limits, queues and logs; the difference is what
//! they cost.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use rmcp::model::CallToolRequestParams;
use rmcp::service::{RunningService, serve_client};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, model::JsonObject};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;
use toolwright_catalog::grants::GrantPolicy;
use toolwright_catalog::store::{Journal, Store, StoredGrant};
use toolwright_exec::{
    BoxFuture, Budget, Call, CallArguments, CallLimits, CallRequest, ConcurrencyLimit, EXECUTORS,
    Executor, ExecutorContext, ExecutorKind, Failure, Host, InnerCaller, Log, NoHost, Outcome,
    RegisteredTool, Runner, ToolRegistry,
};
use toolwright_model::{
    Binding, Capability, Connection, Details, Draft, FieldValue, Namespace, Server, ToolName,
};
use toolwright_workspace::{AuditSettings, PolicySettings};

use crate::timing::{median, microseconds, quantile, verdict};

/// Makes one call and returns how long it took, without the time for preparing it.
type TimedCall = Box<dyn Fn() -> BoxFuture<'static, Duration> + Send + Sync>;

/// Tools in the registry besides the one that is called.
const OTHER_TOOLS: usize = 100;

pub(crate) fn run() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    // In a task, as calls run in a server: a thread that blocks on the runtime is woken
    // differently.
    let work = runtime.spawn(async {
        println!(
            "calls with 6 arguments, {OTHER_TOOLS} other tools: ours through the runner, then the \
             same \
             work without it; p50 and p99 of each round, median of the rounds"
        );
        runner_alone().await;
        programs().await;
        servers().await;
    });
    runtime.block_on(work).expect("no panic");
}

/// Medians over the rounds.
struct CallFigures {
    ours: Duration,
    ours_p99: Duration,
    peer: Duration,
    peer_p99: Duration,
    /// Ours divided by the peer, at p50.
    ratio: f64,
    /// Ours minus the peer, at p50, in microseconds.
    difference: f64,
}

/// Makes `calls` calls of each in a round, alternating, so that both see the same machine.
async fn alternate(rounds: usize, calls: usize, ours: TimedCall, peer: TimedCall) -> CallFigures {
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..calls {
            a.push(ours().await);
            b.push(peer().await);
        }
        // The first round warms up.
        if round > 0 {
            mine.push(a);
            theirs.push(b);
        }
    }
    let each =
        |times: &[Vec<Duration>], q| times.iter().map(|round| quantile(round.clone(), q)).collect();
    let (ours, peer): (Vec<Duration>, Vec<Duration>) = (each(&mine, 0.5), each(&theirs, 0.5));
    let pairs = || ours.iter().zip(&peer).map(|(a, b)| (microseconds(*a), microseconds(*b)));
    CallFigures {
        ours: median(ours.clone()),
        ours_p99: median(each(&mine, 0.99)),
        peer: median(peer.clone()),
        peer_p99: median(each(&theirs, 0.99)),
        ratio: median(pairs().map(|(a, b)| a / b).collect()),
        difference: median(pairs().map(|(a, b)| a - b).collect()),
    }
}

/// Prints one line: ours, the peer, and how they compare.
fn print(what: &str, peer: &str, figures: &CallFigures, judgement: &str) {
    println!(
        "  {what:<18} {:8.1} µs p50 {:8.1} µs p99   {peer:<19} {:8.1} µs p50 {:8.1} µs p99   \
         {judgement}",
        microseconds(figures.ours),
        microseconds(figures.ours_p99),
        microseconds(figures.peer),
        microseconds(figures.peer_p99),
    );
}

/// A schema of the size that tools of large servers have.
fn input() -> Json {
    json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": 500,
                "description": "What to look for.",
            },
            "owner": {"type": "string", "pattern": "^[A-Za-z0-9-]+$"},
            "state": {"type": "string", "enum": ["open", "closed", "all"], "default": "open"},
            "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 20},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "archived": {"type": "boolean"},
        },
        "required": ["query", "owner"],
        "additionalProperties": false,
    })
}

fn arguments() -> Json {
    json!({
        "query": "timeouts behind a proxy",
        "owner": "example",
        "state": "open",
        "labels": ["bug", "network"],
        "limit": 20,
        "archived": false,
    })
}

fn output() -> Json {
    json!({
        "type": "object",
        "properties": {
            "total": {"type": "integer", "minimum": 0},
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"number": {"type": "integer"}, "title": {"type": "string"}},
                    "required": ["number", "title"],
                },
            },
        },
        "required": ["total", "items"],
    })
}

static ANSWER: LazyLock<Json> = LazyLock::new(|| {
    json!({
        "total": 2,
        "items": [
            {"number": 17, "title": "Calls time out behind a proxy"},
            {"number": 4, "title": "Say which timeout it was"},
        ],
    })
});

/// The schema of what a tool returns that echoes its arguments.
fn echoed() -> Json {
    json!({"type": "object", "properties": {"echo": {"type": "object"}}})
}

fn entry(name: &str, output: Json, binding: Binding) -> Arc<RegisteredTool> {
    let draft = Draft {
        name: FieldValue::Valid(ToolName::parse(name).expect("a name")),
        input: FieldValue::Valid(input().into()),
        output: FieldValue::Valid(output),
        details: Details { binding, ..Details::default() },
        ..Draft::default()
    };
    let tool = draft.finish().expect("nothing is missing");
    let id = tool.id(Some(&Namespace::parse("bench").expect("a namespace")));
    let lane = Arc::new(ConcurrencyLimit::new(64, 1024));
    Arc::new(
        RegisteredTool::new(id, tool, toolwright_model::DeclaredLimits::default(), lane)
            .expect("both schemas compile"),
    )
}

/// A runner whose tool `bench:echo` has this binding.
fn runner(kinds: &'static [ExecutorKind], output: &Json, binding: &Binding) -> Arc<Runner> {
    let environment = ["PATH", "HOME", "LANG"]
        .into_iter()
        .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)))
        .collect();
    let runner = Runner::with_executors(
        ExecutorContext::new(environment, Log::default()),
        CallLimits::default(),
        kinds,
    );
    let mut toolbox = ToolRegistry::default();
    let others = (0..OTHER_TOOLS).map(|n| format!("tool_{n}"));
    for name in others.chain(["echo".to_owned()]) {
        toolbox.add(entry(&name, output.clone(), binding.clone())).expect("no name comes twice");
    }
    runner.set_tools(toolbox);
    Arc::new(runner)
}

/// A call through the runner.
fn through(runner: &Arc<Runner>) -> TimedCall {
    let runner = Arc::clone(runner);
    Box::new(move || {
        let runner = Arc::clone(&runner);
        let request =
            CallRequest { arguments: arguments().into(), ..CallRequest::new("bench:echo") };
        Box::pin(async move {
            let start = Instant::now();
            let outcome = runner.call(request, &NoHost).await;
            let time = start.elapsed();
            assert!(!outcome.expect("the call succeeds").is_error);
            time
        })
    })
}

/// Returns a constant.
struct NoopExecutor;

impl Executor for NoopExecutor {
    fn run<'a>(&'a self, _: Call<'a>, _: &'a dyn Host) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async { Ok(Outcome::json(ANSWER.clone())) })
    }
}

static NOTHING: &[ExecutorKind] = &[ExecutorKind {
    id: "nothing",
    accepts: |_| true,
    needs: |_| &[],
    build: |_| Arc::new(NoopExecutor),
}];

/// The runner with an executor that does nothing, against that executor.
async fn runner_alone() {
    let unused = Arc::new(runner(NOTHING, &output(), &Binding::Script));
    let runner = runner(NOTHING, &output(), &Binding::Script);
    let tool =
        runner.registry().get("bench:echo").map(|entry| entry.tool.clone()).expect("it was added");
    let tool = Arc::new(tool);
    let bare: TimedCall = Box::new(move || {
        let (tool, arguments) = (Arc::clone(&tool), CallArguments::from(arguments()));
        let unused = Arc::clone(&unused);
        Box::pin(async move {
            let allowed = Duration::from_secs(30);
            let toolset = Arc::new(ConcurrencyLimit::new(1, 0));
            let cancel = CancellationToken::new();
            let budget = Budget::fixed(allowed, cancel, 1 << 20);
            let functions = toolwright_model::FunctionLimits::default();
            let call = Call {
                tool: &tool,
                arguments: &arguments,
                body: Err(""),
                knowledge: None,
                inner: InnerCaller::new(&unused, &NoHost, &budget, &toolset),
                limits: &functions,
                code: None,
                environment: &[],
                more: &[],
                task: &toolwright_exec::mcp::TaskMode::Hidden,
                origin: None,
                budget: &budget,
            };
            let start = Instant::now();
            let outcome = NoopExecutor.run(call, &NoHost).await;
            let time = start.elapsed();
            assert!(outcome.is_ok());
            time
        })
    });
    let bare: Arc<TimedCall> = Arc::new(bare);
    let again = Arc::clone(&bare);
    let figures = alternate(15, 3_000, through(&runner), Box::new(move || again())).await;
    let holds = figures.ours < Duration::from_micros(10);
    let judgement =
        format!("{:+.1} µs (bound 10 µs in all) {}", figures.difference, verdict(holds));
    print("runner, no-op", "the executor alone", &figures, &judgement);
    // The same with what `serve` has: a policy that finds a grant in the store, and the journal.
    let state = tempfile::tempdir().expect("a folder");
    let runner = trusted_runner(state.path());
    let figures = alternate(15, 3_000, through(&runner), Box::new(move || bare())).await;
    let holds = figures.difference <= 20.0;
    let judgement = format!("{:+.1} µs (bound 20 µs) {}", figures.difference, verdict(holds));
    print("runner, grant and audit", "the executor alone", &figures, &judgement);
    runner.close().await;
}

/// A runner whose tool needs a capability that is granted in the store, and that records calls.
fn trusted_runner(state: &Path) -> Arc<Runner> {
    let store = Store::open(state).expect("a store");
    store
        .add_grant(&StoredGrant {
            agent: "local".to_owned(),
            toolset: "bench".to_owned(),
            hash: None,
            capability: "printer:print".to_owned(),
            origin: None,
            time: 0,
        })
        .expect("a grant");
    let policy = GrantPolicy::new(PolicySettings::default(), Vec::new(), Ok(store));
    let journal =
        Journal::open(state, AuditSettings::default(), Log::default()).expect("a journal");
    let context = ExecutorContext::new(Vec::new(), Log::default());
    let runner = Runner::with_executors(context, CallLimits::default(), NOTHING)
        .with_policy(Arc::new(policy))
        .with_audit(Arc::new(journal));
    let mut echo = RegisteredTool::clone(&entry("echo", output(), Binding::Script));
    let tool = Arc::make_mut(&mut echo.tool);
    tool.needs = vec![Capability::parse("printer:print").expect("a name")];
    let mut toolbox = ToolRegistry::default();
    toolbox.add(Arc::new(echo)).expect("no name comes twice");
    runner.set_tools(toolbox);
    Arc::new(runner)
}

/// Programs started by the runner, against starting them directly.
async fn programs() {
    let faulty_tool = toolwright_testing::faulty_tool();
    let cat = Binding::Executable { program: Some("/bin/cat".to_owned()) };
    let echo = Binding::Local {
        runtime: None,
        entry_point: faulty_tool.to_owned(),
        command: "echo".to_owned(),
        dependencies: Vec::new(),
    };
    let programs: [(&str, Binding, Vec<String>); 2] = [
        ("program cat", cat, vec!["/bin/cat".into()]),
        ("program faulty-tool", echo, vec![faulty_tool.into(), "echo".into()]),
    ];
    for (what, binding, words) in programs {
        let runner = runner(EXECUTORS, &json!({"type": "object"}), &binding);
        let figures = alternate(10, 40, through(&runner), bare_program(words)).await;
        let judgement =
            format!("{:.2}x (bound 1.30) {}", figures.ratio, verdict(figures.ratio <= 1.3));
        print(what, "started directly", &figures, &judgement);
        runner.close().await;
    }
}

/// Starts a program, writes the arguments to it and parses what it prints.
fn bare_program(words: Vec<String>) -> TimedCall {
    Box::new(move || {
        let (words, input) = (words.clone(), arguments().to_string());
        Box::pin(async move {
            let start = Instant::now();
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().expect("the program starts");
            let mut stdin = child.stdin.take().expect("it is piped");
            stdin.write_all(input.as_bytes()).await.expect("it reads");
            drop(stdin);
            let output = child.wait_with_output().await.expect("it ends");
            let answer: Json = serde_json::from_slice(&output.stdout).expect("it prints JSON");
            let time = start.elapsed();
            assert!(answer.is_object() && output.status.success());
            time
        })
    })
}

/// MCP servers called by the runner, against a client of rmcp.
async fn servers() {
    let faulty_server = toolwright_testing::faulty_server().to_owned();

    let words = vec![faulty_server.clone(), "mcp".to_owned(), "good".to_owned()];
    let mut peer = start(&words);
    let pipes = (peer.stdout.take().expect("piped"), peer.stdin.take().expect("piped"));
    let client = serve_client((), pipes).await.expect("the handshake succeeds");
    compare_servers("MCP over stdio", Connection::Stdio { command: words }, client).await;

    let mut server =
        start(&[faulty_server, "http".to_owned(), "good".to_owned(), "127.0.0.1:0".to_owned()]);
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("piped"))
        .read_line(&mut line)
        .await
        .expect("its address");
    let url = line.trim().strip_prefix("listening ").expect("its address").to_owned();
    // reqwest is built without a default cryptography provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
    let client = serve_client((), transport).await.expect("the handshake succeeds");
    compare_servers("MCP over HTTP", Connection::Http { url }, client).await;
}

async fn compare_servers(
    what: &str,
    connection: Connection,
    client: RunningService<RoleClient, ()>,
) {
    let server = Server {
        connection,
        shown: None,
        environment: Vec::new(),
        headers: Vec::new(),
        directory: None,
        health_check: None,
        settings: toolwright_model::ServerSettings::default(),
    };
    let runner = runner(
        EXECUTORS,
        &echoed(),
        &Binding::Server { server: Arc::new(server), tool: "echo".to_owned() },
    );
    let client = Arc::new(client);
    let figures = alternate(21, 200, through(&runner), bare_client(&client)).await;
    let holds = figures.difference <= 30.0;
    let judgement = format!("{:+.1} µs (bound 30 µs) {}", figures.difference, verdict(holds));
    print(what, "rmcp client alone", &figures, &judgement);
    client.cancellation_token().cancel();
    runner.close().await;
}

/// A call by a client of rmcp.
fn bare_client(client: &Arc<RunningService<RoleClient, ()>>) -> TimedCall {
    let client = Arc::clone(client);
    Box::new(move || {
        let client = Arc::clone(&client);
        let arguments: JsonObject = arguments().as_object().cloned().unwrap_or_default();
        let params = CallToolRequestParams::new("echo").with_arguments(arguments);
        Box::pin(async move {
            let start = Instant::now();
            let result = client.call_tool(params).await;
            let time = start.elapsed();
            assert!(result.expect("the call succeeds").structured_content.is_some());
            time
        })
    })
}

/// Starts a server for the peer. It is killed when the result is dropped.
fn start(words: &[String]) -> Child {
    Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts")
}
