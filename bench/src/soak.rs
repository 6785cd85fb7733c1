//! `toolwright-bench soak [CALLS]`: two gateways, one on HTTP and one on standard streams, under
//! everything that goes wrong in a long life: servers are killed, definitions and the configuration
//! change, clients hang up and cancel.
//!
//! ```text
//! callers ──▶ toolwright serve ──▶ steady    never killed: every call must be answered rightly
//!                              ├─▶ fragile   killed every second: every call must be answered
//!                              └─▶ notes.yaml, toolwright.toml: rewritten every second
//! ```
//!
//! The bounds: no answer is lost, doubled or given to another request; each gateway stays under
//! 60 MB; at the end it has no more open descriptors than after its first second.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::unix::pipe;

use crate::mcp_client::{self, CallerConnection, McpTarget};
use crate::processes::{MeasuredProcess, built_program};
use crate::proxies::open_when_ready;
use crate::timing::verdict;

/// Callers of each gateway.
const CALLERS: usize = 16;
/// Between two rounds of killing and rewriting.
const PERIOD: Duration = Duration::from_secs(1);
/// An answer that takes longer is lost.
const LOST_AFTER: Duration = Duration::from_secs(60);
/// Descriptors are counted when nothing has been in flight for so long.
const REST: Duration = Duration::from_secs(3);
const MAX_MEMORY: u64 = 60_000_000;
/// The mode of the fragile server, by which its process is found.
const FRAGILE_MODE: &str = "paged";

/// What happened to the calls of one gateway.
#[derive(Default)]
struct CallCounts {
    /// Calls that were begun; the ids of requests are made from it.
    begun: AtomicU64,
    answered: AtomicU64,
    /// Calls of the fragile server that were answered with a failure.
    failed: AtomicU64,
    cancelled: AtomicU64,
    hung_up: AtomicU64,
    /// No answer, or one that belongs to another request.
    wrong: AtomicU64,
    is_over: AtomicBool,
}

/// What one request is for.
#[derive(Clone, Copy, PartialEq)]
enum CallFate {
    Steady,
    Fragile,
    Cancelled,
    HungUp,
}

impl CallFate {
    /// Of a hundred calls ten are for the fragile server, one is cancelled and one hung up on.
    fn of(number: u64) -> CallFate {
        match number % 100 {
            0 => CallFate::Cancelled,
            1 => CallFate::HungUp,
            2..12 => CallFate::Fragile,
            _ => CallFate::Steady,
        }
    }
}

/// Makes `calls` calls, half of them over each transport.
pub(crate) fn run(calls: u64) {
    let folder = std::env::temp_dir().join(format!("toolwright-soak-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    println!("soak: {calls} calls, kills, reloads, hang-ups and cancels");
    for front in ["HTTP", "stdio"] {
        runtime.block_on(soak(front, &folder, calls / 2));
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

async fn soak(front: &str, folder: &Path, calls: u64) {
    rewrite(folder, 0);
    let config = folder.join("toolwright.toml");
    let mut words = vec![built_program("toolwright"), "serve".to_owned(), "--no-cache".to_owned()];
    words.extend(["--config".to_owned(), config.to_str().expect("UTF-8").to_owned()]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let is_http = front == "HTTP";
    if is_http {
        words.extend(["--http".to_owned(), address.to_string()]);
    }
    let stdout = if is_http { Stdio::null() } else { Stdio::piped() };
    let mut process = MeasuredProcess::new(&words, stdout).expect("it starts");
    let mut targets = Vec::new();
    if is_http {
        for _ in 0..4 {
            targets.push(open_when_ready(address, "/mcp").await);
        }
    } else {
        let stdin = OwnedFd::from(process.child.stdin.take().expect("a pipe"));
        let stdout = OwnedFd::from(process.child.stdout.take().expect("a pipe"));
        let to = pipe::Sender::from_owned_fd(stdin).expect("a pipe");
        let from = pipe::Receiver::from_owned_fd(stdout).expect("a pipe");
        targets.push(mcp_client::open_stdio(to, from).await.expect("a handshake"));
    }
    for target in &targets {
        mcp_client::list_tools(target).await.expect("a list");
    }
    let counts = Arc::new(CallCounts::default());
    let start = Instant::now();
    let callers: Vec<_> = (0..CALLERS)
        .map(|n| {
            tokio::spawn(call_until_done(
                targets[n % targets.len()].clone(),
                Arc::clone(&counts),
                calls,
            ))
        })
        .collect();
    let trouble = make_trouble(&process, folder.to_owned(), &counts, callers.len());
    let (reloads, kills, memory, descriptors) = tokio::join!(trouble, async {
        for caller in callers {
            caller.await.expect("no panic");
        }
        counts.is_over.store(true, Ordering::Relaxed);
    })
    .0;
    let took = start.elapsed();
    tokio::time::sleep(REST).await;
    let at_the_end = process.open_descriptors();
    let doubled = targets.iter().map(McpTarget::unclaimed_answers).sum::<u64>();
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    println!(
        "  {front:<6} {} answered, {} of a killed server failed, {} cancelled, {} hung up; {kills} \
         kills and {reloads} reloads in {:.0} s",
        count(&counts.answered),
        count(&counts.failed),
        count(&counts.cancelled),
        count(&counts.hung_up),
        took.as_secs_f64()
    );
    let wrong = count(&counts.wrong);
    println!(
        "         lost or wrong {wrong}, doubled {doubled} {}; memory at most {:.1} MB (bound 60) \
         {}; descriptors {descriptors} after the first second, {at_the_end} at the end {}",
        verdict(wrong == 0 && doubled == 0),
        memory as f64 / 1e6,
        verdict(memory < MAX_MEMORY),
        verdict(at_the_end <= descriptors)
    );
}

/// Kills and rewrites once in a period until the callers are done. Returns how often it rewrote,
/// how many servers it killed, the most memory that was seen, and the descriptors after the first
/// period.
async fn make_trouble(
    process: &MeasuredProcess,
    folder: PathBuf,
    counts: &CallCounts,
    callers: usize,
) -> (u64, usize, u64, usize) {
    let upstream = PathBuf::from(toolwright_testing::faulty_server());
    let (mut rounds, mut kills, mut memory, mut descriptors) = (0, 0, 0, 0);
    while !counts.is_over.load(Ordering::Relaxed) {
        tokio::time::sleep(PERIOD).await;
        memory = memory.max(process.memory(&upstream));
        if rounds == 0 {
            // Each caller may have a connection open at either count.
            descriptors = process.open_descriptors() + callers;
        }
        rounds += 1;
        rewrite(&folder, rounds);
        kills += process.kill_descendants(FRAGILE_MODE);
    }
    (rounds, kills, memory, descriptors)
}

/// Writes the definitions and the configuration, different in every round.
fn rewrite(folder: &Path, round: u64) {
    let upstream = toolwright_testing::faulty_server();
    let notes = json!({"tools": [{
        "name": format!("note_{round}"),
        "description": format!("Keeps note number {round}."),
        "inputSchema": {"type": "object"},
    }]});
    // A source that comes and goes.
    let extra = match round % 2 {
        0 => "",
        _ => "[[source]]\nname = \"extra\"\npath = \"notes.json\"\n",
    };
    let config = format!(
        "[[source]]\nname = \"steady\"\ncommand = [\"{upstream}\", \"mcp\", \"good\"]\n\
         [[source]]\nname = \"fragile\"\ncommand = [\"{upstream}\", \"mcp\", \"{FRAGILE_MODE}\"]\n\
         {extra}"
    );
    std::fs::write(folder.join("notes.json"), notes.to_string()).expect("a file");
    std::fs::write(folder.join("toolwright.toml"), config).expect("a file");
}

/// One caller: each call waits for its answer, unless it is one that gives up.
async fn call_until_done(target: McpTarget, counts: Arc<CallCounts>, calls: u64) {
    let mut connection = target.connect();
    loop {
        let number = counts.begun.fetch_add(1, Ordering::Relaxed);
        if number >= calls {
            return;
        }
        let id = 1000 + number;
        match CallFate::of(number) {
            CallFate::Cancelled => {
                give_up(&mut connection, id).await;
                let params = json!({"requestId": id, "reason": "no longer needed"});
                let sent = target.connect().notify("notifications/cancelled", &params).await;
                let counter = if sent.is_ok() { &counts.cancelled } else { &counts.wrong };
                counter.fetch_add(1, Ordering::Relaxed);
            }
            CallFate::HungUp => {
                give_up(&mut connection, id).await;
                connection = target.connect();
                counts.hung_up.fetch_add(1, Ordering::Relaxed);
            }
            fate => {
                let counter = match echo(&mut connection, id, fate).await {
                    EchoAnswer::Right => &counts.answered,
                    EchoAnswer::Failure if fate == CallFate::Fragile => &counts.failed,
                    EchoAnswer::Failure | EchoAnswer::Wrong => &counts.wrong,
                };
                counter.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// The answer to a call of `echo`.
enum EchoAnswer {
    Right,
    /// A result with an error, or an error of the protocol, for this very request.
    Failure,
    Wrong,
}

async fn echo(connection: &mut CallerConnection, id: u64, fate: CallFate) -> EchoAnswer {
    let source = if fate == CallFate::Fragile { "fragile" } else { "steady" };
    let query = format!("call number {id} of the soak");
    let params = json!({"name": format!("{source}__echo"), "arguments": {"query": query}});
    let request = connection.request(id, "tools/call", &params);
    let Ok(Ok(answer)) = tokio::time::timeout(LOST_AFTER, request).await else {
        return EchoAnswer::Wrong;
    };
    let is_ours = mcp_client::contains(&answer.text, format!("\"id\":{id}").as_bytes());
    let has_query = mcp_client::contains(&answer.text, query.as_bytes());
    let is_failure = mcp_client::contains(&answer.text, b"\"isError\":true")
        || mcp_client::contains(&answer.text, b"\"error\":");
    match (is_ours, is_failure, has_query) {
        (true, true, _) => EchoAnswer::Failure,
        (true, false, true) => EchoAnswer::Right,
        _ => EchoAnswer::Wrong,
    }
}

/// Begins a call that takes long, and stops to wait for it. On HTTP this closes the connection.
async fn give_up(connection: &mut CallerConnection, id: u64) {
    let params = json!({"name": "steady__sleep", "arguments": {"ms": 2000}});
    let request = connection.request(id, "tools/call", &params);
    let _ = tokio::time::timeout(Duration::from_millis(20), request).await;
}
