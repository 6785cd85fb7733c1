//! One pool for tests that need nothing special, and one line per call.

use std::sync::LazyLock;
use std::time::Duration;

use serde_json::json;
use toolwright_sandbox::{Code, Error, Form, Input, Json, Limits, Output, Pool, PoolOptions, WorkerCommand};

pub(crate) static POOL: LazyLock<Pool> = LazyLock::new(|| pool(2));

pub(crate) fn worker() -> WorkerCommand {
    WorkerCommand::new(env!("CARGO_BIN_EXE_toolwright-sandbox-worker"))
}

pub(crate) fn convict(words: &[&str]) -> WorkerCommand {
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_sandbox-convict"));
    words.iter().fold(command, |command, word| command.arg(word))
}

pub(crate) fn pool(workers: usize) -> Pool {
    Pool::new(PoolOptions { workers, ..PoolOptions::new(worker()) })
}

/// Limits of a hostile call: short, but far above what honest code takes.
pub(crate) fn tight() -> Limits {
    Limits { cpu: Duration::from_millis(100), wall: Duration::from_secs(20), ..Limits::default() }
}

pub(crate) fn run_form(source: &str, form: Form, input: &Input) -> Result<Output, Error> {
    let program = POOL.compile_blocking(source, form, Some("the-entry"))?;
    POOL.run_blocking(&program, input, &Limits::default(), None)
}

pub(crate) fn run(source: &str, args: Json) -> Result<Output, Error> {
    run_form(source, Form::Script, &Input::args(args))
}

/// The value of a script, without arguments.
pub(crate) fn value(source: &str) -> Json {
    run(source, json!({})).unwrap_or_else(|error| panic!("{source}\n{error}")).value
}

/// The code and the message that a script ends with.
pub(crate) fn failure(source: &str) -> (Code, String) {
    match run(source, json!({})) {
        Ok(output) => panic!("{source}\n{output:?}"),
        Err(error) => (error.code, error.message),
    }
}
