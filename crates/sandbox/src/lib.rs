//! Runs a JavaScript program on JSON, under limits, in jailed worker processes.
//!
//! ```text
//!   caller's process                        worker process (one per running call)
//!   ┌───────────────────────────────┐       ┌─────────────────────────────────────┐
//!   │ WorkerPool ─▶ WorkerCall ─────┼─socket┼▶ jail ▶ GuestRunner ▶ QuickJS engine │
//!   │     ▲              │          │       │                  memory: GuestHeap   │
//!   │     └─ result, log ┘◀─────────┼───────┼─ result, log lines, host calls       │
//!   └───────────────────────────────┘       └─────────────────────────────────────┘
//! ```
//!
//! A *guest* is one program during one call. A *worker* is a process that has locked itself in and
//! runs one guest after the other, each in a fresh JavaScript runtime. The parent does not trust a
//! worker: it caps and checks every frame it reads, because a bug of the engine may have given the
//! guest control over the whole worker.
//!
//! Deliberately absent: the notion of a tool, a supported way to run a program in the caller's own
//! process, and a way to make a [`Program`] from bytes (the engine trusts bytecode).
//!
//! ```no_run
//! use serde_json::json;
//! use toolwright_sandbox::{
//!     GuestLimits, PoolOptions, ProgramForm, ProgramInput, WorkerCommand, WorkerPool,
//! };
//!
//! # fn main() -> Result<(), toolwright_sandbox::SandboxError> {
//! // A program whose `main` calls `toolwright_sandbox::worker_main`: see `examples/`.
//! let worker = WorkerCommand::new("/usr/local/bin/sandbox-worker");
//! let pool = WorkerPool::new(PoolOptions::new(worker));
//! let source = "module.exports = ({ a, b }) => a + b";
//! let program = pool.compile_blocking(source, ProgramForm::Script, None)?;
//! let input = ProgramInput::args(json!({ "a": 1, "b": 2 }));
//! let output = pool.run_blocking(&program, &input, &GuestLimits::default(), None)?;
//! assert_eq!(output.value, json!(3));
//! # Ok(())
//! # }
//! ```

mod error;
mod guest;
mod host_functions;
#[cfg(feature = "internals")]
mod in_process_guest;
mod initial_environment;
mod jail;
mod jailed_function;
mod limits;
mod own_session;
mod pool;
mod program;
mod program_io;
mod protocol;
mod request;
mod scheduler;
mod worker_call;
mod worker_main;
mod worker_process;

pub use error::{CodePosition, SandboxError, SandboxErrorCode, TraceFrame};
pub use host_functions::{HostError, HostFunctions};
#[cfg(feature = "internals")]
pub use in_process_guest::InProcessGuest;
pub use initial_environment::hide_initial_environment;
pub use jail::{JailLayer, JailPolicy, JailReport, LayerState};
pub use jailed_function::{
    FunctionAnswer, JailedFunction, JailedFunctionError, JailedFunctionLimits, jailed_function_main,
};
pub use limits::{GuestLimits, MAX_DEPTH, MAX_HOST_CALLS, MAX_PARTS};
pub use own_session::start_in_own_session;
pub use pool::{JailReportCallback, PoolOptions, WorkerPool, check_descriptors_for_runtime};
pub use program::{Program, ProgramForm};
pub use program_io::{LogLevel, LogLine, ProgramInput, ProgramOutput};
pub use scheduler::ShareId;
#[cfg(feature = "internals")]
pub use worker_call::fuzz_worker_frames;
pub use worker_main::worker_main;
#[doc(hidden)]
pub use worker_main::{jail_this_process, worker_main_without_layers};
pub use worker_process::{WorkerCommand, is_worker};

/// JSON values, as everywhere in Toolwright.
pub use serde_json::Value as Json;
