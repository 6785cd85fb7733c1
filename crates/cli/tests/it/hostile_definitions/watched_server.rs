//! A server with hostile definitions. While it is attacked, tools of another toolset are called
//! beside, and the memory of all its processes is sampled.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::MAX_ANSWER;
use crate::client::{EXIT, StdioClient, descendants, gone};

/// Bytes of memory of the server and all its workers.
const MAX_MEMORY: u64 = 300_000_000;
/// The longest that a quick tool may take beside attacks. Alone it takes some milliseconds.
const QUICK_PATIENCE: Duration = Duration::from_secs(10);

/// A server whose memory is sampled, with a quick tool of another toolset.
pub(super) struct WatchedServer {
    pub(super) client: StdioClient,
    peak: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    sampler: Option<std::thread::JoinHandle<()>>,
    /// Times of the quick tool alone and beside attacks.
    alone: Vec<Duration>,
    beside: Vec<Duration>,
    failures: Vec<String>,
}

impl WatchedServer {
    /// Starts the server in a folder with a configuration, and measures the quick tool.
    pub(super) fn start(folder: &Path) -> WatchedServer {
        let client = StdioClient::start(folder, &[], &[]);
        let (pid, peak, stop) =
            (client.pid(), Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (into, end) = (Arc::clone(&peak), Arc::clone(&stop));
        let sampler = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                into.fetch_max(memory_of_tree(pid), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let mut server = WatchedServer {
            client,
            peak,
            stop,
            sampler: Some(sampler),
            alone: Vec::new(),
            beside: Vec::new(),
            failures: Vec::new(),
        };
        server.client.names();
        for _ in 0..20 {
            let time = server.quick();
            server.alone.push(time);
        }
        server
    }

    /// Calls the quick tools once: one that needs the sandbox, one that does not.
    fn quick(&mut self) -> Duration {
        let began = Instant::now();
        let refused = self.client.call("calm__quick", json!({"args": ["no"]}));
        let strict = self.client.call("calm__strict", json!({}));
        let time = began.elapsed();
        let said = refused["content"][0]["text"].as_str().unwrap_or_default();
        if !said.contains("refused quickly") || !strict.to_string().contains("INPUT_INVALID") {
            self.failures.push(format!("the quick tools answered {refused} and {strict}"));
        }
        time
    }

    /// Calls hostile tools at once, the quick ones beside them, and returns the answers.
    pub(super) fn attack(&mut self, calls: &[(String, Json)]) -> Vec<Json> {
        let began = Instant::now();
        let ids: Vec<Json> = calls
            .iter()
            .map(|(name, arguments)| self.client.send_call(name, arguments.clone()))
            .collect();
        let quick = self.quick();
        self.beside.push(quick);
        let answers: Vec<Json> = ids.iter().map(|id| self.client.answer(id)).collect();
        let all = began.elapsed();
        if quick > QUICK_PATIENCE {
            let name = &calls[0].0;
            self.failures.push(format!("{name}: a quick call beside it took {quick:?} of {all:?}"));
        }
        for ((name, _), answer) in calls.iter().zip(&answers) {
            let length = answer.to_string().len();
            if length > MAX_ANSWER {
                self.failures.push(format!("{name}: an answer of {length} bytes"));
            }
        }
        answers
    }

    pub(super) fn expect(&mut self, is_right: bool, message: impl FnOnce() -> String) {
        if !is_right {
            let text = message();
            self.failures.push(text[..text.floor_char_boundary(600)].to_owned());
        }
    }

    /// Ends the server and checks memory, stderr and what is left.
    pub(super) fn end(mut self) {
        let last = self.quick();
        self.stop.store(true, Ordering::Relaxed);
        let sampler = self.sampler.take().expect("ended once");
        sampler.join().expect("the sampler does not panic");
        let children = descendants(self.client.pid());
        self.client.hang_up();
        let (code, _, stderr) = self.client.end(EXIT);
        for pid in children {
            gone("a worker", pid, EXIT);
        }
        let peak = self.peak.load(Ordering::Relaxed);
        let p95 = |times: &mut Vec<Duration>| {
            times.sort();
            times.get(times.len() * 95 / 100).copied().unwrap_or_default()
        };
        println!(
            "quick tools: p95 {:?} alone, {:?} beside {} attacks, {last:?} after them; {} MB; \
             {} bytes on stderr",
            p95(&mut self.alone),
            p95(&mut self.beside),
            self.beside.len(),
            peak / 1_000_000,
            stderr.len(),
        );
        assert!(self.failures.is_empty(), "{}", self.failures.join("\n"));
        assert_eq!(code, 0, "{stderr}");
        assert!(peak > 1_000_000, "memory is not measured");
        assert!(peak < MAX_MEMORY, "{peak} bytes of memory");
    }
}

/// Bytes of memory of a process and its descendants: what is their own, and the file of the
/// program once. A child that has not become a worker yet still shares all memory of its parent, so
/// it does not count.
fn memory_of_tree(pid: u32) -> u64 {
    let field = |pid: u32, name: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    let command = |pid: u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let own = command(pid);
    let started = descendants(pid).into_iter().filter(|child| command(*child) != own);
    started.chain([pid]).map(|pid| field(pid, "RssAnon:") + field(pid, "RssShmem:")).sum::<u64>()
        + field(pid, "RssFile:")
}
