//! Facts about JavaScript source text: syntax errors with positions, the entry point, calls that
//! the sandbox does not allow, names that nothing declares, and the shape of what a validator
//! returns.
//!
//! Nothing here runs code, and there is no engine: the crate `sandbox` runs programs. Every fact
//! comes from the syntax tree alone, so a definition can be checked without trusting it.
//!
//! ```text
//! caller's process      worker process
//! WorkerAnalyzer ─wire─▶ answer_analysis_request ─▶ parse ─▶ resolve ─┬▶ forbidden_calls ─┐
//!   ▲                                      (oxc)    (names)  ├▶ free_names       ├─▶ ScriptFacts
//!   │                                                        └▶ entry_point ─────┘  (plain data)
//!   └──────────────────────────────── wire ◀─────────────────────────────────────────────┘
//! ```
//!
//! Other crates use [`ScriptFacts`] and the trait [`ScriptAnalyzer`]. No type of the parser is
//! public. How a worker process is started and confined is not known here ([`AnalysisWorker`]).
//!
//! ```
//! use toolwright_script::{
//!     EntryPoint, ForbiddenKind, InProcessAnalyzer, ParseGoal, ScriptAnalyzer,
//! };
//!
//! let code = "function check(args) {
//!   const fs = require('fs');
//!   return { valid: isOk(args), errors: [] };
//! }";
//! let facts = InProcessAnalyzer.analyze(code, ParseGoal::Function, &[]);
//!
//! assert!(facts.problems.is_empty());
//! assert_eq!(facts.entry, EntryPoint::Declared("check".to_owned()));
//! assert!(facts.returns.can_be_verdict());
//! assert_eq!(facts.forbidden[0].kind, ForbiddenKind::Require);
//! assert_eq!(facts.forbidden[0].what, "require('fs')");
//! assert_eq!(&code[facts.free[0].range.clone()], "isOk");
//! ```

mod analyzer;
mod entry_point;
mod facts;
mod forbidden_calls;
mod free_names;
mod globals;
mod lacking_members;
mod module_function;
mod page_globals;
mod parse;
mod problem_messages;
mod resolve;
mod return_values;
mod wire;
mod worker_analyzer;
mod worker_globals;

pub use analyzer::{
    InProcessAnalyzer, MAX_CODE_BYTES, ScriptAnalyzer, ScriptSource, answer_analysis_request, read,
};
pub use facts::{
    EntryPoint, ErrorCodeText, ExportStatement, ForbiddenCall, ForbiddenKind, FreeName, HelperName,
    MAX_LISTED, MAX_PROBLEMS, MAX_TEXT, ParseGoal, ReturnFacts, ScriptFacts, SyntaxProblem,
    SyntaxProblemKind,
};
pub use globals::GLOBALS;
pub use module_function::module_as_function;
pub use page_globals::{LACKING_MEMBERS, PAGE_GLOBALS};
pub use worker_analyzer::{AnalysisFailure, AnalysisLimits, AnalysisWorker, WorkerAnalyzer};
pub use worker_globals::{WORKER_GLOBALS, WORKER_GLOBALS_OF_PAGES, mentions_worker_names};
