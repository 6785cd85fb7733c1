//! What running tools needs of this process: the async runtime, signals, and a log on stderr.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use toolwright_exec::{ExecutorContext, Log};
use toolwright_source::render;

use crate::environment;

/// Characters of one line in the log; a tool may print lines of any length.
const LONGEST_LINE: usize = 2_000;

/// What executors share, with this log.
pub(crate) fn executor_context(log: Log) -> ExecutorContext {
    ExecutorContext::new(environment::passed_on(), log)
}

/// A log on stderr, one line each, without control characters that a terminal would obey.
pub(crate) fn log() -> Log {
    Log(Arc::new(|line| {
        let line: String = line.chars().take(LONGEST_LINE).collect();
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "toolwright: {}", render::visible(&line.replace('\n', " | ")));
    }))
}

/// An async runtime with half of the cores: the other half is for the servers and programs that it
/// waits for. With a thread on every core each call woke two of them, and took a third longer on
/// two cores.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    toolwright_sandbox::check_descriptors_for_runtime()
        .context("too few files may be open at a time (`ulimit -n`)")?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.div_ceil(2))
        .enable_all()
        .build()
        .context("no threads can be started")
}

/// Waits for the first signal that asks this program to end.
pub(crate) async fn interrupted() {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    let received = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
    futures::future::select_all(received).await;
}
