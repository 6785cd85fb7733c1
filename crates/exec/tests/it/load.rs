//! Many calls at once, over both executors: each gets its own answer, and nothing grows.

use std::sync::Arc;

use futures::StreamExt;

use crate::support::*;

const IN_FLIGHT: usize = 200;

/// Makes these calls, every tenth to a process and the others to a server. Gives the numbers that
/// were answered.
async fn calls(bench: &Bench, numbers: std::ops::Range<u64>) -> Vec<u64> {
    futures::stream::iter(numbers)
        .map(|n| {
            let runner = Arc::clone(&bench.runner);
            let call = async move {
                let id = if n % 10 == 0 { "t:echo" } else { "good:echo" };
                let answer = runner.call(ask(id, json!({"n": n})), &Quiet).await;
                value(answer)["echo"]["n"].as_u64().unwrap()
            };
            async move { (n, tokio::spawn(call).await.unwrap()) }
        })
        .buffer_unordered(IN_FLIGHT)
        .map(|(asked, answered)| {
            assert_eq!(asked, answered);
            answered
        })
        .collect()
        .await
}

fn entries(folder: &str) -> i64 {
    std::fs::read_dir(folder).unwrap().count() as i64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_get_one_answer_each_and_nothing_grows() {
    let lane = Arc::new(Lane::new(IN_FLIGHT, IN_FLIGHT));
    let server = Upstream::stdio("good", &[]);
    let bench = Bench::alone(Limits::default())
        .put([tool("t:echo", process("echo")).lane(&lane), server.tool("echo").lane(&lane)]);
    let mut answered = calls(&bench, 0..2_000).await;
    let (files, threads, memory) =
        (entries("/proc/self/fd"), entries("/proc/self/task"), status("VmRSS"));
    answered.extend(calls(&bench, 2_000..10_000).await);
    let now = (entries("/proc/self/fd"), entries("/proc/self/task"), status("VmRSS"));
    answered.sort_unstable();
    assert_eq!(answered, (0..10_000).collect::<Vec<u64>>());
    // Fewer is no flaw: what the test before this one let go of may still be going.
    assert!(now.0 - files <= 8, "descriptors: {files} before, {} after", now.0);
    assert!(now.1 - threads <= 8, "threads: {threads} before, {} after", now.1);
    let allowed = memory + (memory / 5).max(20 * 1024);
    assert!(now.2 <= allowed, "kilobytes: {memory} before, {} after", now.2);
    bench.close().await;
}
