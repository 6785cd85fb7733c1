//! `toolwright-bench fairness`: what one toolset suffers while another misbehaves.
//!
//! `toolwright serve` offers two definitions. The validator of one is quick; those of the other
//! never end, and 40 calls of them are kept in flight. The quick validator is measured alone, then
//! beside the others, in the same process. The bound: its p95 is at most three times what it is
//! alone, or at most 20 ms; and the server with all its workers uses at most 300 MB.

use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::unix::pipe;

use crate::mcp_client::{McpTarget, list_tools, open_stdio};
use crate::processes::{MeasuredProcess, built_program};
use crate::timing::{quantile, verdict};

/// Calls of endless validators at a time.
const ENDLESS_CALLS: usize = 40;
/// How long the quick validator is measured alone.
const ALONE: Duration = Duration::from_secs(5);
/// How long it is measured beside the others.
const BESIDE: Duration = Duration::from_secs(60);
/// Between two calls of the quick validator.
const PAUSE: Duration = Duration::from_millis(20);
const MAX_RATIO: f64 = 3.0;
const MAX_P95: Duration = Duration::from_millis(20);
const MAX_MEMORY: u64 = 300_000_000;

/// A definition whose only command is refused by its validator, after BODY has run.
const DEFINITION: &str = r#"tool:
  schema_version: 2.0
  id: NAME
  type: cli
  name: NAME
  version: 1.0.0
  description: A tool whose validator is measured.
  cli_specific:
    executable: "true"
  commands: [run]
  executable_knowledge:
    validators:
      - id: judge
        validates: run
        language: javascript
        function: |
          function judge(args) {
            BODY
            return { valid: false, errors: ['refused'] };
          }
          module.exports = { judge };
"#;

pub(crate) fn run() {
    let folder = std::env::temp_dir().join(format!("toolwright-fairness-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let mut words = vec![built_program("toolwright"), "serve".to_owned()];
    for (name, body) in [("quick", ""), ("endless", "for (;;);")] {
        let file = folder.join(format!("{name}.yaml"));
        let text = DEFINITION.replace("NAME", name).replace("BODY", body);
        std::fs::write(&file, text).expect("a file");
        words.extend(["--from".to_owned(), file.to_str().expect("UTF-8").to_owned()]);
    }
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure(&words));
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

async fn measure(words: &[String]) {
    let mut process = MeasuredProcess::new(words, Stdio::piped()).expect("it starts");
    let stdin = OwnedFd::from(process.child.stdin.take().expect("a pipe"));
    let stdout = OwnedFd::from(process.child.stdout.take().expect("a pipe"));
    let to = pipe::Sender::from_owned_fd(stdin).expect("a pipe");
    let from = pipe::Receiver::from_owned_fd(stdout).expect("a pipe");
    let endpoint = open_stdio(to, from).await.expect("a handshake");
    let names = list_tools(&endpoint).await.expect("a list");
    let name_of = |part: &str| {
        names.iter().find(|name| name.contains(part)).expect("both are served").clone()
    };
    let (quick, endless) = (name_of("quick"), name_of("endless"));
    let next_id = Arc::new(AtomicU64::new(10));

    latencies(&endpoint, &next_id, &quick, Duration::from_millis(500), &process).await;
    let (alone, _) = latencies(&endpoint, &next_id, &quick, ALONE, &process).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..ENDLESS_CALLS)
        .map(|_| {
            let (endpoint, id, endless) = (endpoint.clone(), Arc::clone(&next_id), endless.clone());
            let is_over = Arc::clone(&is_over);
            tokio::spawn(async move {
                let mut connection = endpoint.connect();
                let params = json!({"name": endless, "arguments": {}});
                while !is_over.load(Ordering::Relaxed) {
                    let id = id.fetch_add(1, Ordering::Relaxed);
                    if connection.request(id, "tools/call", &params).await.is_err() {
                        break;
                    }
                }
            })
        })
        .collect();
    let (beside, memory) = latencies(&endpoint, &next_id, &quick, BESIDE, &process).await;
    is_over.store(true, Ordering::Relaxed);
    callers.iter().for_each(tokio::task::JoinHandle::abort);

    println!(
        "a quick validator while {ENDLESS_CALLS} calls of another toolset's endless validators are \
         in flight for {} s",
        BESIDE.as_secs()
    );
    let ms = |times: &[Duration], q| quantile(times.to_vec(), q).as_secs_f64() * 1e3;
    let (before, during) = (ms(&alone, 0.95), ms(&beside, 0.95));
    println!(
        "  alone {:6.2} ms p50 {before:6.2} ms p95 ({} calls)   beside {:6.2} ms p50 {during:6.2} \
         ms p95 ({} calls)",
        ms(&alone, 0.5),
        alone.len(),
        ms(&beside, 0.5),
        beside.len()
    );
    let holds = during <= before * MAX_RATIO || during <= MAX_P95.as_secs_f64() * 1e3;
    println!("  p95 {:4.1}x of alone (at most 3x, or 20 ms)   {}", during / before, verdict(holds));
    println!(
        "  memory of the server and its workers {:4.0} MB at most (bound 300)   {}",
        memory as f64 / 1e6,
        verdict(memory <= MAX_MEMORY)
    );
}

/// Calls the quick validator again and again for a time. Returns how long each call took, and the
/// most memory that the server and its workers used.
async fn latencies(
    endpoint: &McpTarget,
    next_id: &AtomicU64,
    tool: &str,
    time: Duration,
    process: &MeasuredProcess,
) -> (Vec<Duration>, u64) {
    let mut connection = endpoint.connect();
    let params = json!({"name": tool, "arguments": {}});
    let (start, mut times, mut memory) = (Instant::now(), Vec::new(), 0);
    while start.elapsed() < time {
        let began = Instant::now();
        let id = next_id.fetch_add(1, Ordering::Relaxed);
        let answer = connection.request(id, "tools/call", &params).await.expect("an answer");
        times.push(answer.at - began);
        // Seldom, because reading the lists of processes takes time itself.
        if times.len() % 25 == 0 {
            memory = memory.max(process.memory("".as_ref()));
        }
        tokio::time::sleep(PAUSE).await;
    }
    (times, memory)
}
