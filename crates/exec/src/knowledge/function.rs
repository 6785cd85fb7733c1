//! One function of a definition, ready to run: compiled when it is first needed, its errors located
//! in the file that holds it.
//!
//! ```text
//! source ─ compile once ─▶ program ─ run ─▶ ProgramOutput
//!             │                       │
//!             └── SandboxError ───────┴─ locate ─▶ FunctionError { error, location }
//! ```
//!
//! Where an error is reported:
//!
//! - A syntax error at the position that the parser of the crate `script` gives.
//! - An exception, a stack overflow or a time-out at the innermost position in the engine's stack
//!   trace. The engine records the positions of names and calls, not of every expression, so the
//!   column may be that of the last one before the failing expression.
//! - Everything else near the first line of the function, marked as approximate. So is a thrown
//!   value that is not an `Error`: it has no stack trace of its own.
//!
//! Nothing here reconstructs a position that the engine did not record. That was tried: it takes a
//! model of what one version of the engine records, which the next version breaks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use toolwright_sandbox::{
    CodePosition, GuestLimits, HostFunctions, LogLine, Program, ProgramForm, ProgramInput,
    ProgramOutput, SandboxError, SandboxErrorCode, ShareId, WorkerPool,
};
use toolwright_script::{
    PAGE_GLOBALS, ParseGoal, ScriptAnalyzer, SyntaxProblem, mentions_worker_names,
    module_as_function,
};

use super::helper_object::mentions_helpers;
use crate::browser::page_prelude;
use crate::capped_texts::shorten;
use crate::js::BTCP_PRELUDE;
use crate::offload::{WorkSize, offload, run_blocking};
use crate::{Json, Log};

/// The most characters of the message of an exception. With its name and its cause it still fits
/// into one of the texts of an answer, whose end would be cut again otherwise.
const MAX_MESSAGE: usize = 500;
/// The most characters of the name and of the cause of an exception in a message.
const MAX_QUOTED: usize = 200;
/// The longest code of a function, in bytes. Longer code is refused when it is loaded.
const MAX_CODE: usize = 1 << 20;

/// What a function is for; its limits follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionRole {
    /// Called by name: from field mappings, payload schemas and `eval`.
    Helper,
    /// Changes the arguments or the result of a call.
    Processor,
    /// Refuses bad arguments before a call.
    Validator,
    /// The body of a tool: it is the call.
    Body,
}

impl FunctionRole {
    /// The word for it in messages.
    pub fn name(self) -> &'static str {
        match self {
            FunctionRole::Helper => "helper",
            FunctionRole::Processor => "processor",
            FunctionRole::Validator => "validator",
            FunctionRole::Body => "body",
        }
    }
}

/// A position in the file that holds a function's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLocation {
    /// The name of the file, as users know it.
    pub file: String,
    /// Line and column, counted from 1. `None` if the file no longer has the position.
    pub line_column: Option<(usize, usize)>,
}

/// Translates a position in a function's code into one in the file that holds it: the code of an
/// AIOS function is indented in a YAML block, so its first line is not the first line of the file.
pub type LocationFormatter = Arc<dyn Fn(CodePosition) -> FileLocation + Send + Sync>;

/// Where a function failed. Shown as `FILE:LINE:COLUMN`, or `near FILE:LINE` if it is approximate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorLocation {
    /// Where it is in the file. `None` for code that does not come from a file.
    file: Option<FileLocation>,
    /// Where it is in the code itself.
    position: CodePosition,
    /// Whether neither the parser nor the engine gave the position. Then it is the first line of
    /// the function, or a line that may belong to an earlier exception.
    pub is_approximate: bool,
}

impl ErrorLocation {
    /// The location without the word `near`: `FILE:LINE:COLUMN`, or `FILE:LINE` if it is
    /// approximate. For programs, which read `is_approximate` as a field of its own.
    pub fn position_text(&self) -> String {
        let CodePosition { line, column } = self.position;
        match &self.file {
            Some(FileLocation { file, line_column: Some((line, _)) }) if self.is_approximate => {
                format!("{file}:{line}")
            }
            Some(FileLocation { file, line_column: Some((line, column)) }) => {
                format!("{file}:{line}:{column}")
            }
            Some(FileLocation { file, line_column: None }) => file.clone(),
            None if self.is_approximate => format!("line {line}"),
            None => format!("line {line}, column {column}"),
        }
    }
}

impl fmt::Display for ErrorLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let near = if self.is_approximate { "near " } else { "" };
        write!(f, "{near}{}", self.position_text())
    }
}

/// Why a function gave no result, and where.
#[derive(Clone, Debug)]
pub struct FunctionError {
    /// What the sandbox reported. For syntax errors the message is the parser's, which is clearer.
    pub error: SandboxError,
    /// Where it happened. `None` if the code is not at fault: a worker that did not start or died,
    /// or an input that is too large.
    pub location: Option<ErrorLocation>,
}

impl FunctionError {
    /// What the author gave as the `cause` of the error, in words.
    pub fn cause(&self) -> Option<&str> {
        self.error.fields.as_deref()?.get("cause")?.as_str()
    }
}

/// A function of a definition.
pub struct KnowledgeFunction {
    /// What it is for.
    pub role: FunctionRole,
    /// Its name among the functions of its role; `#1`, `#2` … for functions without an id.
    pub id: String,
    source: Arc<str>,
    /// The script that defines `helpers` before it runs; empty if it does not use them.
    helpers: Arc<str>,
    form: ProgramForm,
    /// The toolset that it belongs to: its share of the workers.
    share: ShareId,
    formatter: Option<LocationFormatter>,
    /// The compiled program, or why it cannot be compiled. Empty until it is first needed, and
    /// after a failure that may not happen again.
    program: OnceCell<Result<Program, FunctionError>>,
    /// What [`worker_names`](KnowledgeFunction::worker_names) found.
    worker_names: OnceCell<Vec<String>>,
}

impl fmt::Debug for KnowledgeFunction {
    /// As messages name it: ``validator `has-title` ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.role.name(), self.id)
    }
}

impl KnowledgeFunction {
    /// A function of an AIOS definition: a classic script.
    pub fn function(
        role: FunctionRole,
        id: impl Into<String>,
        source: impl Into<Arc<str>>,
        share: ShareId,
        formatter: Option<LocationFormatter>,
    ) -> KnowledgeFunction {
        let source = source.into();
        // Decided once: a call of such a function fails without a worker.
        let refusal = (source.len() > MAX_CODE).then(|| too_long(source.len()));
        KnowledgeFunction {
            role,
            id: id.into(),
            source: if refusal.is_some() { Arc::default() } else { source },
            helpers: Arc::default(),
            form: ProgramForm::Script,
            share,
            formatter,
            program: OnceCell::new_with(refusal.map(Err)),
            worker_names: OnceCell::new(),
        }
    }

    /// The same function, which sees what this prelude defines if its code mentions `helpers`.
    pub(crate) fn with_helpers(self, prelude: &Arc<str>) -> KnowledgeFunction {
        match mentions_helpers(&self.source) {
            true => KnowledgeFunction { helpers: Arc::clone(prelude), ..self },
            false => self,
        }
    }

    /// The same function, which fails whenever it is called because it is not in JavaScript.
    pub(crate) fn in_foreign_language(self, language: &str) -> KnowledgeFunction {
        let message = format!("it is written in `{language}`, and only JavaScript is run");
        let error = SandboxError::new(SandboxErrorCode::NoEntryPoint, message);
        let position = CodePosition { line: 1, column: 1 };
        let file = self.formatter.as_ref().map(|formatter| formatter(position));
        let location = Some(ErrorLocation { file, position, is_approximate: true });
        let refused = FunctionError { error, location };
        KnowledgeFunction { program: OnceCell::new_with(Some(Err(refused))), ..self }
    }

    /// The body of a tool: an ES module.
    pub fn body(
        id: impl Into<String>,
        source: impl Into<Arc<str>>,
        share: ShareId,
        formatter: Option<LocationFormatter>,
    ) -> KnowledgeFunction {
        KnowledgeFunction {
            form: ProgramForm::Module,
            ..KnowledgeFunction::function(FunctionRole::Body, id, source, share, formatter)
        }
    }

    /// Runs it. The first run compiles it; concurrent first runs compile it once.
    ///
    /// # Errors
    /// What the sandbox reports, with its location in the file. Without an analyzer, syntax errors
    /// are reported where the engine noticed them.
    pub async fn run(
        &self,
        pool: &WorkerPool,
        analyzer: Option<&Arc<dyn ScriptAnalyzer>>,
        input: &ProgramInput,
        limits: &GuestLimits,
        host: Option<&dyn HostFunctions>,
    ) -> Result<ProgramOutput, FunctionError> {
        // Only bodies throw the error that the prelude defines. Those that are lent functions work
        // on a page; a body is run by one executor, so that it always gets the same prelude.
        let prelude = match (self.role, host) {
            (FunctionRole::Body, None) => BTCP_PRELUDE,
            (FunctionRole::Body, Some(_)) => page_prelude(),
            _ => &self.helpers,
        };
        let pool = pool.with_share(self.share);
        let compile = async || match pool
            .compile_with_prelude(prelude, &self.source, self.form, Some(&self.id))
            .await
        {
            Ok(program) => Ok(Ok(program)),
            // `Err` leaves the cell empty, so the next call tries again.
            Err(error) if is_transient(&error) => Err(self.locate(error, analyzer).await),
            Err(error) => Ok(Err(self.locate(error, analyzer).await)),
        };
        let program = self.program.get_or_try_init(compile).await?;
        match pool.run(program.as_ref().map_err(Clone::clone)?, input, limits, host).await {
            Ok(output) => Ok(output),
            Err(error) => Err(self.locate(error, analyzer).await),
        }
    }

    /// The source text.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The names that a body uses, that the sandbox lacks and that a worker of a browser has. The
    /// first call looks at the code, and only if such a name is in its text.
    pub(crate) async fn worker_names(
        &self,
        analyzer: Option<&Arc<dyn ScriptAnalyzer>>,
        has_page: bool,
    ) -> &[String] {
        let find = async || {
            let Some(analyzer) = analyzer.filter(|_| mentions_worker_names(&self.source)) else {
                return Vec::<String>::new();
            };
            let (analyzer, source) = (Arc::clone(analyzer), Arc::clone(&self.source));
            let provided: &'static [&'static str] =
                if has_page { PAGE_GLOBALS } else { &["BTCPError"] };
            run_blocking(move || {
                let facts = analyzer.analyze(&source, ParseGoal::Module, provided);
                facts.worker_names().into_iter().map(str::to_owned).collect()
            })
            .await
        };
        self.worker_names.get_or_init(find).await
    }

    /// The body as the statements of a function that returns its default export. `None` if the
    /// code cannot be read so.
    pub(crate) async fn as_function(
        &self,
        analyzer: Option<&Arc<dyn ScriptAnalyzer>>,
    ) -> Option<String> {
        let (analyzer, source) = (Arc::clone(analyzer?), Arc::clone(&self.source));
        run_blocking(move || {
            let facts = analyzer.analyze(&source, ParseGoal::Module, &[]);
            module_as_function(&source, &facts)
        })
        .await
    }

    /// Adds the location to an error. The module's header lists the rules.
    pub(crate) async fn locate(
        &self,
        mut error: SandboxError,
        analyzer: Option<&Arc<dyn ScriptAnalyzer>>,
    ) -> FunctionError {
        error.message = shorten(&error.message, MAX_MESSAGE).into_owned();
        let is_approximate = match error.code {
            SandboxErrorCode::StartFailed
            | SandboxErrorCode::WorkerDied
            | SandboxErrorCode::Busy
            | SandboxErrorCode::InputTooLarge => return FunctionError { error, location: None },
            // The trace of a thrown value that is not an `Error` is the engine's last one, which
            // may belong to an exception that a promise swallowed.
            SandboxErrorCode::Threw => error.name.is_none(),
            _ => false,
        };
        let in_engine = error.position();
        let syntax_error = match (error.code, analyzer) {
            (SandboxErrorCode::Syntax, Some(analyzer)) => self.first_syntax_error(analyzer).await,
            _ => None,
        };
        let start = syntax_error.map(|problem| {
            error.message = shorten(&problem.message, MAX_MESSAGE).into_owned();
            problem.range.start
        });
        let (source, formatter) = (Arc::clone(&self.source), self.formatter.clone());
        // Both scan the code for its lines.
        let location = offload(WorkSize::of_bytes(source.len()), move || {
            let known = start.map(|byte| CodePosition::of_byte(&source, byte)).or(in_engine);
            let position = known.unwrap_or(CodePosition { line: 1, column: 1 });
            let file = formatter.map(|formatter| formatter(position));
            ErrorLocation { file, position, is_approximate: is_approximate || known.is_none() }
        });
        let location = Some(location.await);
        FunctionError { error, location }
    }

    /// What the parser says about the code. An analyzer blocks until it has answered.
    async fn first_syntax_error(
        &self,
        analyzer: &Arc<dyn ScriptAnalyzer>,
    ) -> Option<SyntaxProblem> {
        let goal = match self.form {
            ProgramForm::Module => ParseGoal::Module,
            _ => ParseGoal::Function,
        };
        let (analyzer, source) = (Arc::clone(analyzer), Arc::clone(&self.source));
        run_blocking(move || analyzer.analyze(&source, goal, &[]).first_error()).await
    }

    /// Writes what it wrote to `console` to the log, one line each.
    pub(crate) fn log_console(&self, lines: &[LogLine], log: &Log) {
        for line in lines {
            log.line(&format!("{self:?}: console: {}", line.text));
        }
    }

    /// One sentence about a failure: which function, what went wrong, where.
    pub fn explain(&self, failure: &FunctionError) -> String {
        let FunctionError { error, location } = failure;
        let mut text = match (&error.name, error.code) {
            (Some(name), SandboxErrorCode::Threw) => {
                let name = shorten(name, MAX_QUOTED);
                format!("{self:?} threw {name}: {}", error.message)
            }
            _ => format!("{self:?} failed with {}: {}", error.code, error.message),
        };
        if let Some(cause) = failure.cause() {
            text.push_str(&format!(
                ", caused by {}",
                shorten(cause, MAX_QUOTED).replace('\n', " ")
            ));
        }
        if let Some(location) = location {
            text.push_str(&format!(" ({location})"));
        }
        text
    }
}

/// The error of a function whose code is longer than [`MAX_CODE`].
fn too_long(bytes: usize) -> FunctionError {
    let message = format!("the code has {bytes} bytes, more than the {MAX_CODE} allowed");
    let error = SandboxError::new(SandboxErrorCode::InputTooLarge, message);
    FunctionError { error, location: None }
}

/// Whether compiling failed for a reason that may be gone the next time: a worker that died, or a
/// machine so busy that the clock ended the attempt before the compiler had its time.
fn is_transient(error: &SandboxError) -> bool {
    match error.code {
        SandboxErrorCode::Syntax
        | SandboxErrorCode::InputTooLarge
        | SandboxErrorCode::StackOverflow => false,
        SandboxErrorCode::Timeout => error.cpu < Duration::from_secs(1),
        _ => true,
    }
}

/// The input of a function. A processor gets its value as `data` too, and `fields`, which is empty
/// unless helpers extracted some from the result of a call.
pub fn function_input(role: FunctionRole, value: impl Into<Arc<Json>>) -> ProgramInput {
    let mut input = ProgramInput::args(value);
    if role == FunctionRole::Processor {
        input.data = Some(Arc::clone(&input.args));
        input.globals = vec![("fields".to_owned(), Json::Object(serde_json::Map::new()).into())];
    }
    input
}
