//! Many calls at once, to a process and to a server: each gets its own answer, and the resources
//! that the process uses do not grow.

use std::sync::Arc;

use futures::StreamExt;

use crate::support::*;

/// How many calls run at the same time.
const IN_FLIGHT: usize = 200;

/// Makes one call per number, every tenth to a process and the others to a server. Returns the
/// numbers in the answers, after comparing each with the number in its call.
async fn call_each(test: &TestRunner, numbers: std::ops::Range<u64>) -> Vec<u64> {
    futures::stream::iter(numbers)
        .map(|n| {
            let runner = Arc::clone(&test.runner);
            let call = async move {
                let id = if n % 10 == 0 { "t:echo" } else { "good:echo" };
                let result = runner.call(request(id, json!({"n": n})), &NoHost).await;
                value(result)["echo"]["n"].as_u64().unwrap()
            };
            async move { (n, tokio::spawn(call).await.unwrap()) }
        })
        .buffer_unordered(IN_FLIGHT)
        .map(|(sent, answered)| {
            assert_eq!(sent, answered);
            answered
        })
        .collect()
        .await
}

fn count_entries(folder: &str) -> i64 {
    std::fs::read_dir(folder).unwrap().count() as i64
}

/// Descriptors, threads, and kilobytes of memory of this process.
fn resources() -> (i64, i64, u64) {
    (count_entries("/proc/self/fd"), count_entries("/proc/self/task"), status("VmRSS"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_get_their_own_answers_and_resources_do_not_grow() {
    let limit = Arc::new(ConcurrencyLimit::new(IN_FLIGHT, IN_FLIGHT));
    let server = TestServer::stdio("good", &[]);
    let test = TestRunner::exclusive().tools([
        tool("t:echo", process("echo")).concurrency(&limit),
        server.tool("echo").concurrency(&limit),
    ]);
    // The first calls start threads and fill buffers that stay; growth counts from there.
    let mut answered = call_each(&test, 0..2_000).await;
    let (files, threads, memory) = resources();
    answered.extend(call_each(&test, 2_000..10_000).await);
    let (files_after, threads_after, memory_after) = resources();
    answered.sort_unstable();
    assert_eq!(answered, (0..10_000).collect::<Vec<u64>>());
    // Fewer is fine: an earlier test in this process may still release some.
    assert!(files_after - files <= 8, "descriptors: {files} before, {files_after} after");
    assert!(threads_after - threads <= 8, "threads: {threads} before, {threads_after} after");
    let allowed = memory + (memory / 5).max(20 * 1024);
    assert!(memory_after <= allowed, "kilobytes: {memory} before, {memory_after} after");
    test.close().await;
}
