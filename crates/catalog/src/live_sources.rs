//! Loads one source. Files are read by the workspace; servers and programs are live: they have to
//! be started and asked. Their answer becomes a JSON document, so that from there on every source
//! takes the same way and a diagnostic can point into what a server sent.
//!
//! ```text
//! Definitions ─ workspace.load ────────────────────────┐
//! Server ────── tools/list ─▶ JSON ─ Document ─ read ──┤
//! Builtin ───── list ───────▶ JSON ─ Document ─ read ──┼─▶ SourceLoad: documents and failures
//! Program ───── --schema ───▶ JSON ─ Document ─ read ──┤
//! Executables ─ each program of a folder ──────────────┘
//! ```
//!
//! A failure concerns one server or one program and never stops the others. Not here: which of the
//! tools may be called (`gate`), when sources are loaded again (`catalog`), and the connections and
//! processes themselves (`toolwright_exec`).

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt;
use serde_json::{Value as Json, json};
use toolwright_check::MODEL_INSTRUCTION;
use toolwright_exec::mcp::Upstream;
use toolwright_exec::{ExecutorContext, Failure, code, process};
use toolwright_formats::{Reading, live};
use toolwright_model::{Binding, FieldValue, Namespace, Server};
use toolwright_source::{Anchor, Document, Source, Syntax, TextOrigin};

use toolwright_workspace::{
    LoadError, LoadResult, LoadedDocument, ReadOptions, SourcePlan, SourceSpec, SourceTarget,
    Workspace, is_program,
};

/// The number of programs of a folder that run with `--schema` at the same time. A folder may hold
/// hundreds, and each is a process of its own.
const PROGRAMS_AT_ONCE: usize = 8;

/// A source, or one program of a folder, that could not be loaded.
#[derive(Clone, Debug)]
pub struct SourceFailure {
    /// Its name in messages: that of the source, or the path of the program.
    pub source: String,
    /// The reason, with a code and a suggestion.
    pub failure: Failure,
}

impl std::fmt::Display for SourceFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { code, message, suggestion, .. } = &self.failure;
        write!(f, "{}: {}: {message} (help: {suggestion})", self.source, code.name)
    }
}

/// What a server answered about its tools.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolAnswer {
    /// `{"tools": […]}`.
    pub(crate) list: Json,
    /// What it says about the use of its tools as a whole.
    pub(crate) instructions: Option<String>,
}

/// Asks an MCP server for its tools, and starts or connects it if necessary.
///
/// # Errors
/// If the server cannot be started or reached, or does not answer `tools/list` properly.
pub(crate) async fn ask_tools(upstream: &Arc<Upstream>) -> Result<ToolAnswer, Failure> {
    let list = upstream.list().await?;
    Ok(ToolAnswer { list, instructions: upstream.instructions().await })
}

/// The key of `_meta` under which the instructions of a server are checked with its tools.
const INSTRUCTIONS_KEY: &str = "toolwright/instructions";

/// Reads the answer of a server. `namespace` is the one that the configuration or a definition
/// gives to the server's tools.
pub(crate) fn read_answer(
    spec: &SourceSpec,
    server: &Arc<Server>,
    namespace: Option<&Namespace>,
    answer: &ToolAnswer,
    workspace: &Workspace,
) -> LoadedDocument {
    read_list(spec, namespace, answer, workspace, |tool| Binding::Server {
        server: Arc::clone(server),
        tool,
    })
}

/// Reads a list of tools. `bind` makes the binding of each from its name in the list.
///
/// With rules on, the instructions are put into `_meta` of a copy, because the rules about texts
/// read the document and nothing else. Without a configured namespace each tool has the one that it
/// claims.
fn read_list(
    spec: &SourceSpec,
    namespace: Option<&Namespace>,
    answer: &ToolAnswer,
    workspace: &Workspace,
    bind: impl Fn(String) -> Binding,
) -> LoadedDocument {
    let mut list = Cow::Borrowed(&answer.list);
    // The rules about texts read the document; elsewhere the list stays what the server sent.
    if let Some(instructions) = answer.instructions.as_ref().filter(|_| spec.options.rules)
        && answer.list.is_object()
    {
        list.to_mut()["_meta"][INSTRUCTIONS_KEY] = instructions.as_str().into();
    }
    // Pretty, so that diagnostics show the lines of one tool and not a single line of kilobytes.
    let text = serde_json::to_string_pretty(&list).unwrap_or_default();
    let origin = TextOrigin::Answer(spec.anchor.clone());
    let document = Arc::new(Document::parse_from(&spec.name, origin, text, Syntax::Json));
    let mut loaded = workspace.read_live(&document, spec.options);
    if let Some(Reading { toolset, .. }) = &mut loaded.reading {
        toolset.instructions.clone_from(&answer.instructions);
        match namespace {
            Some(namespace) => toolset.namespace = FieldValue::Valid(namespace.clone()),
            None => toolset.tools.iter_mut().for_each(live::use_claimed_namespace),
        }
        for draft in &mut toolset.tools {
            if let Some(name) = draft.name.ok() {
                let own = live::name_on_server(&draft.details.rest).unwrap_or(name.as_str());
                draft.details.binding = bind(own.to_owned());
            }
        }
    }
    loaded
}

/// Asks a built-in toolset for its tools, and reads its list like that of a server.
///
/// # Errors
/// If there is no such toolset, or it fails to list its tools.
///
/// Its list may depend on the variables of the source, such as keys for a search.
async fn read_builtin(
    spec: &SourceSpec,
    (toolset, namespace): (&str, &Namespace),
    workspace: &Workspace,
    context: &ExecutorContext,
) -> Result<LoadedDocument, Failure> {
    let list = context.builtin(toolset)?.list(&environment_of(spec)).await?;
    let answer = ToolAnswer { list, instructions: None };
    let bind = |tool| Binding::Builtin { toolset: toolset.to_owned(), tool };
    Ok(while_blocking(|| read_list(spec, Some(namespace), &answer, workspace, bind)))
}

/// Whether the instructions of a server carry orders to the model (MODEL_INSTRUCTION).
///
/// A document with nothing but the instructions is checked.
pub(crate) fn gives_orders(instructions: &str, workspace: &Workspace) -> bool {
    let list = json!({"tools": [], "_meta": {INSTRUCTIONS_KEY: instructions}});
    let origin = TextOrigin::Answer(None);
    let document =
        Arc::new(Document::parse_from("instructions", origin, list.to_string(), Syntax::Json));
    let options = ReadOptions { rules: true, ..ReadOptions::default() };
    let loaded = while_blocking(|| workspace.read_live(&document, options));
    loaded.diagnostics.iter().any(|found| found.code.name == MODEL_INSTRUCTION.name)
}

/// Runs a program with `--schema`, and reads the description of its tool from standard output.
///
/// # Errors
/// If the program cannot be run, fails, or prints something else.
async fn read_program(
    spec: &SourceSpec,
    path: &Path,
    workspace: &Workspace,
    context: &ExecutorContext,
) -> Result<LoadedDocument, Failure> {
    let environment: Vec<(OsString, OsString)> = environment_of(spec);
    // Absolute, because a name without a separator would be searched in `PATH`.
    let absolute =
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    let bytes = process::request_schema(&absolute, context, &environment).await?;
    let name = path.display().to_string();
    // The program is a file that a person can open, although not at a line.
    let anchor = Anchor { source: Arc::new(Source::new(&name, String::new())), span: None };
    let origin = TextOrigin::Answer(Some(anchor));
    let document = Arc::new(Document::parse_from(&name, origin, bytes, Syntax::Json));
    let mut loaded = while_blocking(|| workspace.read(&document, spec.options));
    let Some(Reading { toolset, .. }) = &mut loaded.reading else {
        let mut message = "`--schema` printed no description of a tool".to_owned();
        if let Some(problem) = loaded.diagnostics.first() {
            message += &format!(": {}", problem.message);
        }
        return Err(Failure::new(&code::TOOL_FAILED, message));
    };
    // The document cannot name the program that printed it.
    for draft in &mut toolset.tools {
        draft.details.binding = Binding::Executable { program: Some(absolute.clone()) };
    }
    Ok(loaded)
}

/// The programs directly in a folder, sorted by path, so that of two programs with the same tool
/// the same one wins every time.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn programs_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| {
        let message = format!(
            "cannot read `{}`: {}",
            folder.display(),
            toolwright_workspace::io_reason(&error)
        );
        Failure::new(&code::SPAWN_FAILED, message)
            .suggest("give the folder of the programs as `executables`")
    })?;
    let mut programs: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_program(path)).collect();
    programs.sort();
    Ok(programs)
}

/// The variables that the configuration sets for the programs of a source.
pub(crate) fn environment_of(spec: &SourceSpec) -> Vec<(OsString, OsString)> {
    spec.environment.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// Does work that takes long, or waits for the process that analyses JavaScript, without stopping
/// other tasks: a definition decides how long it takes. Not `spawn_blocking`, because the work
/// borrows, and nothing else of the same source may run meanwhile.
///
/// # Panics
/// Outside of a runtime of tokio.
pub(crate) fn while_blocking<T>(work: impl FnOnce() -> T) -> T {
    match tokio::runtime::Handle::current().runtime_flavor() {
        tokio::runtime::RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        // A runtime with one thread, as in tests, has no other thread for the other tasks.
        _ => work(),
    }
}

/// Loads one source of any kind. Dropping the future ends the programs that it runs.
///
/// A server is asked over the connection that calls use, too; it stays open afterwards.
pub(crate) async fn load_source(
    spec: &SourceSpec,
    workspace: &Workspace,
    context: &ExecutorContext,
) -> SourceLoad {
    let mut load = SourceLoad::default();
    let failed = |source: String, failure: Failure| SourceFailure { source, failure };
    match &spec.target {
        SourceTarget::Definitions(path) => {
            // Without an await: the files are read in one go, before programs of other sources
            // that are loaded side by side can change them.
            load.found =
                while_blocking(|| workspace.load(std::slice::from_ref(path), spec.options));
            for document in &mut load.found.documents {
                document.bodies.clone_from(&spec.implementations);
            }
        }
        SourceTarget::Server(to, namespace) => match ask_tools(&context.upstreams.get(to)).await {
            Ok(answer) => load.found.documents.push(while_blocking(|| {
                read_answer(spec, to, namespace.as_ref(), &answer, workspace)
            })),
            Err(failure) => load.failures.push(failed(spec.name.clone(), failure)),
        },
        SourceTarget::Builtin(toolset, namespace) => {
            match read_builtin(spec, (toolset, namespace), workspace, context).await {
                Ok(loaded) => load.found.documents.push(loaded),
                Err(failure) => load.failures.push(failed(spec.name.clone(), failure)),
            }
        }
        SourceTarget::Program(path) => match read_program(spec, path, workspace, context).await {
            Ok(loaded) => load.found.documents.push(loaded),
            Err(failure) => load.failures.push(failed(path.display().to_string(), failure)),
        },
        SourceTarget::Executables(folder) => match programs_in(folder) {
            Err(failure) => load.failures.push(failed(spec.name.clone(), failure)),
            Ok(programs) => {
                let reads = programs.into_iter().map(|path| async move {
                    (read_program(spec, &path, workspace, context).await, path)
                });
                // `buffered` keeps the order of the paths.
                let mut results = futures::stream::iter(reads).buffered(PROGRAMS_AT_ONCE);
                while let Some((result, path)) = results.next().await {
                    match result {
                        Ok(loaded) => load.found.documents.push(loaded),
                        Err(failure) => {
                            load.failures.push(failed(path.display().to_string(), failure))
                        }
                    }
                }
            }
        },
    }
    load
}

/// Loads all sources of a plan side by side, for the commands that show or check definitions and
/// call nothing. Keeps the order of the plan; failures are part of the result. `loaded` is called
/// with each source that has answered or failed.
pub async fn load_plan(
    plan: SourcePlan,
    workspace: &Workspace,
    context: &ExecutorContext,
    loaded: impl Fn(&SourceSpec),
) -> LoadResult {
    let is_server = |spec: &&SourceSpec| matches!(spec.target, SourceTarget::Server(..));
    let mut all = LoadResult {
        failures: plan.failures,
        servers: plan.specs.iter().filter(is_server).count() + plan.unstarted.len(),
        unstarted: plan.unstarted,
        ..LoadResult::default()
    };
    if !plan.diagnostics.is_empty() {
        // Diagnostics of the configuration are shown without its lines: these may hold tokens.
        all.documents.push(LoadedDocument {
            secret: true,
            ..LoadedDocument::only_diagnostics(plan.diagnostics)
        });
    }
    let loads = futures::future::join_all(plan.specs.iter().map(async |spec| {
        let load = load_source(spec, workspace, context).await;
        loaded(spec);
        load
    }))
    .await;
    for SourceLoad { found, failures } in loads {
        all.documents.extend(found.documents);
        all.skipped += found.skipped;
        all.unparsed.extend(found.unparsed);
        all.failures.extend(found.failures);
        all.failures.extend(failures.iter().map(|failure| LoadError::new(failure.to_string())));
    }
    all
}

/// The result of loading one source.
#[derive(Debug, Default)]
pub(crate) struct SourceLoad {
    /// The documents, and the files that could not be read.
    pub(crate) found: LoadResult,
    /// The server or the programs that gave no document.
    pub(crate) failures: Vec<SourceFailure>,
}
