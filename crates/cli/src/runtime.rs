//! The process-wide parts that commands which run tools share: the async runtime, signals, and the
//! log on stderr. Commands that only read files use none of this.

use std::sync::Arc;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use toolwright_exec::{ExecutorContext, Log};
use toolwright_workspace::BrowserConfig;

use crate::browser::new_browser;
use crate::{builtin_tools, environment, messages};

/// The most characters of a log line. Tools and servers may print lines of any length.
const MAX_LOG_LINE: usize = 2_000;

/// The context that all executors share. Programs inherit only harmless variables. The built-in
/// toolsets get a browser with the default settings here; `open_catalog` puts the configured one in
/// its place.
pub(crate) fn executor_context(log: Log) -> ExecutorContext {
    let (passed, withheld) =
        (environment::inherited_variables(), environment::withheld_variables());
    let secrets = environment::values_passed_on();
    ExecutorContext {
        builtins: builtin_tools::all(&new_browser(&BrowserConfig::default(), &log)),
        ..ExecutorContext::withholding(passed, withheld, secrets, log)
    }
}

/// The context of a command that makes calls for the user. The console of JavaScript is shown,
/// because the user is probably its author. The log of servers and programs is not: a failure
/// quotes its last lines.
pub(crate) fn console_context() -> ExecutorContext {
    ExecutorContext { console: stderr_log(), ..executor_context(Log::default()) }
}

/// A log on stderr, one line per message, with control characters made visible.
pub(crate) fn stderr_log() -> Log {
    Log(Arc::new(|line| {
        let line: String = line.chars().take(MAX_LOG_LINE).collect();
        messages::print_note(&line);
    }))
}

/// An async runtime with half of the cores: the other half is for the servers and programs that it
/// waits for. With a thread on every core each call woke two of them, and took a third longer on
/// two cores.
///
/// # Errors
/// If the limit of open files is too low, or no thread can be started.
pub(crate) fn new_runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    runtime_with_threads(cores.div_ceil(2))
}

/// An async runtime with one thread, for a server with a single client: that thread need not sleep
/// between two messages (`serve/src/busy_polling.rs`). Long work is done on other threads anyway.
///
/// # Errors
/// As for [`new_runtime`].
pub(crate) fn new_runtime_for_one_client() -> anyhow::Result<tokio::runtime::Runtime> {
    runtime_with_threads(1)
}

fn runtime_with_threads(threads: usize) -> anyhow::Result<tokio::runtime::Runtime> {
    // Checked first: without a free descriptor tokio panics instead of returning an error.
    toolwright_sandbox::check_descriptors_for_runtime()
        .context("the limit of open files is too low (`ulimit -n`)")?;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .context("cannot start threads")
}

/// Waits for Ctrl-C, a request to terminate, or the end of the terminal session.
pub(crate) async fn wait_for_signal() {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    let received = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
    futures::future::select_all(received).await;
}
