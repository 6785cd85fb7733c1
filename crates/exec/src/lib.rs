//! Runs tools. A call goes through the [`Runner`], whose steps no executor can forget: the tool is
//! resolved, its arguments are checked against the schema, a permit is awaited, the executor works
//! under a [`Budget`], and what comes back is held against the cap and the output schema.
//!
//! An executor is a folder here and one line in [`KINDS`]. What is not here: configuration, files
//! of definitions, and how a result is shown.
//!
//! ```
//! use toolwright_exec::{CallLimits, Parts, Quiet, Request, Runner};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let runner = Runner::new(Parts::default(), CallLimits::default());
//! let failure = runner.call(Request::new("no:such_tool"), &Quiet).await.unwrap_err();
//! assert_eq!(failure.code.name, "TOOL_NOT_FOUND");
//! # });
//! ```

mod budget;
pub mod code;
mod failure;
mod family;
mod host;
mod js;
mod kinds;
pub mod knowledge;
mod lane;
pub mod mcp;
mod outcome;
pub mod process;
mod runner;
mod tail;
mod toolbox;

pub use budget::Budget;
pub use code::RunCode;
pub use failure::{Advice, Failure, Fault};
pub use family::end_all as end_all_processes;
pub use host::{Host, Progress, Quiet};
pub use kinds::{Call, Executor, KINDS, Kind, Log, Parts};
pub use lane::Lane;
pub use outcome::{Content, Outcome};
pub use runner::{Request, Runner};
pub use toolbox::{Entry, Standing, Toolbox};
pub use toolwright_model::{CallLimits, OutputCheck};

use std::pin::Pin;

/// A future that an executor hands back.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Any JSON value.
pub type Json = serde_json::Value;
