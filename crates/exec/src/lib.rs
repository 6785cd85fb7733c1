//! Runs tools. A [`Runner`] takes every call through the same steps, so that no executor can skip
//! one of them:
//!
//! ```text
//! CallRequest ─▶ find the tool ─▶ input schema ─▶ policy ─▶ validators ─▶ wait for a permit
//!                                                                                │
//!             Outcome ◀─ record ◀─ output schema ◀─ size limit ◀─ executor, under a Budget
//! ```
//!
//! Checks, validators, processors and the executor share the time of the call. Whatever can take
//! longer than a millisecond because of a definition leaves the threads that calls share
//! (`offload`).
//!
//! Each step can end the call with a [`Failure`], which carries a stable [`RunCode`].
//!
//! An executor is a way to run a tool: as a process ([`process`]), by asking an MCP server
//! ([`mcp`]), as JavaScript in the sandbox, as JavaScript that works on a page ([`browser`]), as
//! JavaScript that calls other tools, or by a toolset that the program brings along
//! ([`BuiltinToolset`]). Each is a folder of this crate and one line in [`EXECUTORS`].
//!
//! Not here: configuration and files of definitions (crate `catalog`), how a result is presented
//! (`serve` and `cli`), and the JavaScript engine (`sandbox`).
//!
//! ```
//! use toolwright_exec::{CallLimits, CallRequest, ExecutorContext, NoHost, Runner};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let runner = Runner::new(ExecutorContext::default(), CallLimits::default());
//! let failure = runner.call(CallRequest::new("no:such_tool"), &NoHost).await.unwrap_err();
//! assert_eq!(failure.code.name, "TOOL_NOT_FOUND");
//! # });
//! ```

mod argument_errors;
mod arguments;
pub mod browser;
mod budget;
mod builtin;
mod call_knowledge;
mod call_record;
mod capped_texts;
pub mod code;
mod concurrency;
mod defaults;
mod executor;
mod failure;
mod host;
mod inner_calls;
mod js;
pub mod knowledge;
pub mod mcp;
mod meta;
mod offload;
mod outcome;
mod policy;
pub mod process;
mod process_tree;
mod process_watcher;
mod registry;
mod result_checks;
mod runner;
mod stderr_tail;
mod time_limit;
mod written_parts;

pub use arguments::CallArguments;
pub use budget::{Budget, CallAllowance, CallClock, ClockPause};
pub use builtin::{BuiltinCall, BuiltinToolset};
pub use call_record::{AuditError, AuditLog, CallRecord, CallStep, OK};
pub use capped_texts::CappedTexts;
pub use code::RunCode;
pub use concurrency::ConcurrencyLimit;
pub use executor::{Call, EXECUTORS, Executor, ExecutorContext, ExecutorKind, Log};
pub use failure::{Failure, KnowledgeAdvice, ValueError};
pub use host::{
    ClientAnswer, ClientAsker, GivenReason, HTTP_AGENT, Host, LOCAL_AGENT, NoHost, Progress,
    ServerRequest, SessionNumber,
};
pub use inner_calls::InnerCaller;
pub use offload::{WorkSize, offload};
pub use outcome::{Outcome, ResultContent, json_size};
pub use policy::{
    CallPolicy, GrantAnswer, GrantQuestion, GrantTerm, LoadedCode, PolicyDecision, PolicyRequest,
    PolicyScope, RuleQuestion, ToolTrust, UsedGrant, question_for, toolset_name,
};
pub use process_tree::{TREE_VARIABLE, kill_all_processes};
pub use registry::{PinnedTool, RegisteredTool, ToolRegistry, ToolStatus};
pub use runner::{CallRequest, Runner};
pub use toolwright_model::{CallLimits, OutputCheck};
pub use written_parts::WrittenParts;

use std::pin::Pin;

/// The future of an executor's work. Boxed, because executors are used as trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Any JSON value.
pub type Json = serde_json::Value;
