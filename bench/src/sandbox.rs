//! `toolwright-bench sandbox`: one call of a JavaScript function on JSON, in a fresh runtime each
//! time.
//!
//! Three ways, in turn: in a worker process in its jail, in our own process without worker and
//! jail, and in an isolate of isolated-vm. The first two show what isolation costs, the third is
//! the peer. In all three the complete result is passed back as JSON and parsed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use toolwright_sandbox::{
    GuestLimits, InProcessGuest, PoolOptions, Program, ProgramForm, ProgramInput, WorkerCommand,
    WorkerPool,
};

use crate::timing::{median, microseconds, quantile, verdict};

/// Odd: the first has none before it, and the others fall on each of two processors equally often.
const ROUNDS: usize = 17;
const CALLS: usize = 60;

/// A typical validator, for input of several sizes.
const VALIDATOR: &str = r"
module.exports = (args) => {
  const errors = [];
  for (const item of args.items) {
    if (typeof item.id !== 'number') errors.push('id must be a number');
    if (!/^[a-z][a-z0-9-]*$/.test(item.name)) errors.push(`bad name ${item.name}`);
    if (item.tags.length > 10) errors.push('too many tags');
  }
  return { valid: errors.length === 0, errors, items: args.items };
};";

/// A function and its arguments.
struct Work {
    name: &'static str,
    source: &'static str,
    args: Json,
    /// How many times as fast as the peer ours must be.
    bound: f64,
}

/// Arguments of the validator.
fn items(count: usize) -> Json {
    let item = |id| {
        json!({
            "id": id,
            "name": format!("item-{id}"),
            "tags": ["alpha", "beta"],
            "nested": { "a": 1.5, "b": null, "text": "some text of a common length" },
        })
    };
    json!({ "items": (0..count).map(item).collect::<Vec<_>>() })
}

/// The functions to measure.
fn works() -> [Work; 3] {
    [
        Work {
            name: "trivial",
            source: "module.exports = ({ n }) => n + 1;",
            args: json!({ "n": 1 }),
            bound: 10.0,
        },
        Work { name: "1 KB", source: VALIDATOR, args: items(8), bound: 10.0 },
        Work { name: "50 KB", source: VALIDATOR, args: items(400), bound: 1.0 },
    ]
}

/// Measures everything and prints the figures. isolated-vm is left out if not installed in `peers`.
pub(crate) fn run(peers: &Path) {
    println!(
        "sandbox: one call in a fresh runtime, {} calls each, one right after the other; caller \
         and \
         worker on a processor each",
        ROUNDS * CALLS
    );
    let worker = WorkerCommand::new(beside("toolwright")).arg("sandbox-worker");
    let pool =
        |workers| WorkerPool::new(PoolOptions { workers, ..PoolOptions::new(worker.clone()) });
    let (pool, two) = (pool(1), pool(2));
    let mut peer = Peer::start(peers);
    for work in works() {
        let program =
            pool.compile_blocking(work.source, ProgramForm::Script, None).expect("it compiles");
        measure(&work, &pool, &program, peer.as_mut());
        throughput(&pool, &two, &program, &work, peer.as_mut());
    }
    memory(&pool);
}

/// The path of a program that is built into the same folder as this one.
fn beside(name: &str) -> std::path::PathBuf {
    std::env::current_exe().expect("this program").with_file_name(name)
}

/// Measures the latency of one function in all three ways.
fn measure(work: &Work, pool: &WorkerPool, program: &Program, mut peer: Option<&mut Peer>) {
    let (input, limits) = (ProgramInput::args(work.args.clone()), GuestLimits::default());
    let mut inside = InProcessGuest::new().expect("memory");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (mut jailed, mut bare, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    // The cost of isolation, by the processor that the JavaScript ran on.
    let (mut costs, mut last_bare) = ([Vec::new(), Vec::new()], None);
    for round in 0..=ROUNDS {
        // On rented machines one processor is often much slower than the other, for seconds or
        // minutes. So caller and worker swap processors every round, and a round of the worker is
        // compared with the round before of our own process, which ran on the same processor.
        let (own, other) = (round % 2, (round + 1) % 2);
        pin(std::process::id(), &own.to_string());
        pool.idle().into_iter().for_each(|worker| pin(worker, &other.to_string()));
        let ours = || {
            timed(CALLS, || {
                drop(runtime.block_on(pool.run(program, &input, &limits, None)).expect("a result"))
            })
        };
        let mut ours_inside =
            || timed(CALLS, || drop(inside.run(program, &input, &limits).expect("a result")));
        // The peer disposes of isolates while the next measurement runs already, so which of ours
        // comes first alternates.
        let (ours, ours_inside) = if round / 2 % 2 == 0 {
            (ours(), ours_inside())
        } else {
            let inside = ours_inside();
            (ours(), inside)
        };
        let asked = peer.as_mut().map(|peer| peer.ask(work, CALLS, 1).0).unwrap_or_default();
        // The first round warms up.
        if round > 0 {
            if let Some(before) = last_bare.replace(median(ours_inside.clone())) {
                costs[other].push(median(ours.clone()) / before);
            }
            jailed.extend(ours);
            bare.extend(ours_inside);
            theirs.extend(asked);
        }
    }
    let costs = costs.map(median);
    let cost = (costs[0] * costs[1]).sqrt();
    pool.idle().into_iter().chain([std::process::id()]).for_each(|process| pin(process, "0-1"));
    let bytes = work.args.to_string().len();
    println!("  {} ({bytes} bytes in)", work.name);
    line("jailed worker", &jailed);
    line("in process", &bare);
    println!(
        "    isolation: {cost:.2}x the time of in process ({:.2}x and {:.2}x on the two \
         processors, \
         bound 1.20) {}",
        costs[0],
        costs[1],
        verdict(cost <= 1.2)
    );
    // With pauses, as agents call: both sides have gone to sleep, and run where the scheduler puts
    // them.
    let with_pauses = |call: &mut dyn FnMut()| {
        median(
            (0..CALLS)
                .map(|_| {
                    std::thread::sleep(Duration::from_millis(2));
                    timed(1, &mut *call)[0]
                })
                .collect::<Vec<f64>>(),
        )
    };
    let spaced = with_pauses(&mut || {
        drop(runtime.block_on(pool.run(program, &input, &limits, None)).expect("a result"))
    });
    let spaced_bare =
        with_pauses(&mut || drop(inside.run(program, &input, &limits).expect("a result")));
    println!(
        "    2 ms between calls: jailed {spaced:.0} µs, in process {spaced_bare:.0} µs, {:.2}x \
         the time",
        spaced / spaced_bare
    );
    if !theirs.is_empty() {
        line("isolated-vm", &theirs);
        let ratio = median(theirs) / median(jailed);
        println!(
            "    jailed worker is {ratio:.1}x as fast as isolated-vm (bound {:.0}) {}",
            work.bound,
            verdict(ratio >= work.bound)
        );
    }
}

/// Restricts a process to these processors, if `taskset` is installed.
fn pin(process: u32, processors: &str) {
    let mut command = Command::new("taskset");
    command
        .args(["-cp", processors, &process.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _ = command.status();
}

/// Prints one line of percentiles.
fn line(name: &str, times: &[f64]) {
    let at = |q| quantile(times.to_vec(), q);
    println!(
        "    {name:<14} p50 {:>7.0} µs   p95 {:>7.0} µs   p99 {:>7.0} µs",
        at(0.5),
        at(0.95),
        at(0.99)
    );
}

/// Makes calls and returns the microseconds of each.
fn timed(calls: usize, mut call: impl FnMut()) -> Vec<f64> {
    let one = |_| {
        let start = Instant::now();
        call();
        microseconds(start.elapsed())
    };
    (0..calls).map(one).collect()
}

/// Prints calls per second with one worker and with two, with many callers at a time.
fn throughput(
    one: &WorkerPool,
    two: &WorkerPool,
    program: &Program,
    work: &Work,
    peer: Option<&mut Peer>,
) {
    let per_second = |pool: &WorkerPool| {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let input = std::sync::Arc::new(ProgramInput::args(work.args.clone()));
        let burst = |calls: usize| {
            let start = Instant::now();
            runtime.block_on(async {
                let call = |_| {
                    let (pool, program, input) = (pool.clone(), program.clone(), input.clone());
                    tokio::spawn(async move {
                        pool.run(&program, &input, &GuestLimits::default(), None)
                            .await
                            .expect("a result");
                    })
                };
                for call in (0..calls).map(call).collect::<Vec<_>>() {
                    call.await.expect("it ends");
                }
            });
            calls as f64 / start.elapsed().as_secs_f64()
        };
        burst(50);
        median((0..3).map(|_| burst(400)).collect())
    };
    let (one, two) = (per_second(one), per_second(two));
    let theirs = peer
        .map(|peer| format!(", isolated-vm {:.0}", peer.ask(work, 200, 8).1))
        .unwrap_or_default();
    println!("    calls per second: one worker {one:.0}, two workers {two:.0}{theirs}");
}

/// Prints the memory of a worker and of a trivial call.
fn memory(pool: &WorkerPool) {
    let program = pool
        .compile_blocking("module.exports = () => 1", ProgramForm::Script, None)
        .expect("it compiles");
    let output = pool
        .run_blocking(&program, &ProgramInput::default(), &GuestLimits::default(), None)
        .expect("a result");
    let resident = |pid: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        status.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4
    };
    let worker: usize = pool.idle().iter().map(resident).sum();
    println!(
        "  memory: a trivial call uses {} KB beyond its input; its worker has {worker} KB resident",
        output.memory / 1024
    );
}

/// The process that runs isolated-vm; `isolated_vm_calls.cjs` describes its protocol.
struct Peer(Child);

impl Peer {
    fn start(peers: &Path) -> Option<Peer> {
        if !peers.join("node_modules/isolated-vm").is_dir() {
            println!("  isolated-vm is not installed and not measured");
            return None;
        }
        let child = Command::new("node")
            .arg("--no-node-snapshot")
            .arg("bench/isolated_vm_calls.cjs")
            .arg(peers)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        child.ok().map(Peer)
    }

    /// Makes `calls` calls, `together` of them at a time. Returns the microseconds of each call and
    /// calls per second.
    fn ask(&mut self, work: &Work, calls: usize, together: usize) -> (Vec<f64>, f64) {
        let ask = json!({
            "source": work.source, "args": work.args, "calls": calls, "together": together,
        });
        let (input, output) =
            (self.0.stdin.as_mut().expect("piped"), self.0.stdout.as_mut().expect("piped"));
        writeln!(input, "{ask}").expect("it listens");
        let mut answer = String::new();
        BufReader::new(output).read_line(&mut answer).expect("it answers");
        let answer: Json = serde_json::from_str(&answer).expect("JSON");
        let times = answer["nanoseconds"].as_array().expect("times");
        let all = Duration::from_nanos(answer["all"].as_u64().unwrap_or(1));
        let times =
            times.iter().filter_map(Json::as_f64).map(|nanoseconds| nanoseconds / 1e3).collect();
        (times, calls as f64 / all.as_secs_f64())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
