//! Runs a JavaScript program on JSON, under limits, in jailed worker processes.
//!
//! Here is no word of tools, and no way to run a program in the caller's own process.
//!
//! ```no_run
//! use serde_json::json;
//! use toolwright_sandbox::{Form, Input, Limits, Pool, PoolOptions, WorkerCommand};
//!
//! # fn main() -> Result<(), toolwright_sandbox::Error> {
//! let pool = Pool::new(PoolOptions::new(WorkerCommand::new("/usr/local/bin/toolwright-sandbox-worker")));
//! let program = pool.compile_blocking("module.exports = ({ a, b }) => a + b", Form::Script, None)?;
//! let input = Input::args(json!({ "a": 1, "b": 2 }));
//! let output = pool.run_blocking(&program, &input, &Limits::default(), None)?;
//! assert_eq!(output.value, json!(3));
//! # Ok(())
//! # }
//! ```

mod call;
mod error;
mod guest;
mod host;
mod in_process;
mod jail;
mod limits;
mod output;
mod pool;
mod process;
mod program;
mod wire;
mod worker;

pub use error::{Code, Error, Place, TraceFrame};
pub use host::{HostError, HostFunctions};
#[doc(hidden)]
pub use in_process::InProcess;
pub use jail::{JailReport, Layer};
pub use limits::{Limits, MAX_DEPTH, MAX_HOST_CALLS, MAX_PARTS};
pub use output::{Input, Level, LogLine, Output};
pub use pool::{OnJail, Pool, PoolOptions, room_for_a_runtime};
pub use process::WorkerCommand;
pub use program::{Form, Program};
pub use worker::worker_main;
#[doc(hidden)]
pub use worker::{jail_this_process, worker_main_lacking};

/// JSON values, as everywhere in Toolwright.
pub use serde_json::Value as Json;
