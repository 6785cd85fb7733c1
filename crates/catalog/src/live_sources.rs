//! What servers and programs say about their tools, read as the documents they are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt;
use toolwright_exec::{ExecutorContext, Failure, code, process};
use toolwright_formats::Reading;
use toolwright_model::{Binding, FieldValue, Namespace, Server};
use toolwright_source::{Document, Syntax};

use toolwright_workspace::{
    LoadError, LoadResult, LoadedDocument, ReadOptions, SourcePlan, SourceSpec, SourceTarget,
    Workspace, is_program,
};

/// Programs that are asked for their schema side by side.
const PROGRAMS_AT_ONCE: usize = 8;

/// A source that could not be loaded.
#[derive(Clone, Debug)]
pub struct SourceFailure {
    /// What messages call it.
    pub source: String,
    /// Why.
    pub failure: Failure,
}

impl std::fmt::Display for SourceFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { code, message, suggestion, .. } = &self.failure;
        write!(f, "{}: {}: {message} (help: {suggestion})", self.source, code.name)
    }
}

/// The tools of a running server. Its answer is the document that diagnostics point into.
pub(crate) async fn server(
    spec: &SourceSpec,
    server: &Arc<Server>,
    namespace: Option<&Namespace>,
    workspace: &Workspace,
    parts: &ExecutorContext,
) -> Result<LoadedDocument, Failure> {
    let upstream = parts.upstreams.get(server);
    let list = upstream.list().await?;
    let text = serde_json::to_string_pretty(&list).unwrap_or_default();
    let document = Arc::new(Document::parse(&spec.name, text, Syntax::Json));
    let format = toolwright_formats::by_name("mcp").map(|format| format.id());
    let mut loaded = workspace.read(&document, ReadOptions { format, ..spec.options });
    if let Some(Reading { toolset, .. }) = &mut loaded.reading {
        toolset.instructions = upstream.instructions().await;
        if let Some(namespace) = namespace {
            toolset.namespace = FieldValue::Valid(namespace.clone());
        }
        for draft in &mut toolset.tools {
            // Inside one server a tool has no other namespace than the server's.
            draft.namespace = FieldValue::Missing;
            if let Some(name) = draft.name.ok() {
                draft.details.binding =
                    Binding::Server { server: Arc::clone(server), tool: name.to_string() };
            }
        }
    }
    Ok(loaded)
}

/// The tool of a program that describes itself.
pub(crate) async fn program(
    spec: &SourceSpec,
    path: &Path,
    workspace: &Workspace,
    parts: &ExecutorContext,
) -> Result<LoadedDocument, Failure> {
    let environment: Vec<(OsString, OsString)> = environment_of(spec);
    let absolute =
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    let bytes = process::request_schema(&absolute, parts, &environment).await?;
    let document = Arc::new(Document::parse(&path.display().to_string(), bytes, Syntax::Json));
    let mut loaded = workspace.read(&document, spec.options);
    let Some(Reading { toolset, .. }) = &mut loaded.reading else {
        return match loaded.diagnostics.first() {
            Some(problem) => {
                let message =
                    format!("`--schema` printed no description of a tool: {}", problem.message);
                Err(Failure::new(&code::TOOL_FAILED, message))
            }
            None => {
                Err(Failure::new(&code::TOOL_FAILED, "`--schema` printed no description of a tool"))
            }
        };
    };
    for draft in &mut toolset.tools {
        draft.details.binding = Binding::Executable { program: Some(absolute.clone()) };
    }
    Ok(loaded)
}

/// The programs in a folder, in order.
pub(crate) fn programs(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
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

/// The variables of a source, as programs are given them.
pub(crate) fn environment_of(spec: &SourceSpec) -> Vec<(OsString, OsString)> {
    spec.environment.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// Loads one source, whatever it is.
pub(crate) async fn load_source(
    spec: &SourceSpec,
    workspace: &Workspace,
    parts: &ExecutorContext,
) -> SourceLoad {
    let mut load = SourceLoad::default();
    let failed = |source: String, failure: Failure| SourceFailure { source, failure };
    match &spec.target {
        SourceTarget::Definitions(path) => {
            // At once: a program of another source may change the files.
            load.found = workspace.load(std::slice::from_ref(path), spec.options);
        }
        SourceTarget::Server(to, namespace) => {
            match server(spec, to, namespace.as_ref(), workspace, parts).await {
                Ok(loaded) => load.found.documents.push(loaded),
                Err(failure) => load.failures.push(failed(spec.name.clone(), failure)),
            }
        }
        SourceTarget::Program(path) => match program(spec, path, workspace, parts).await {
            Ok(loaded) => load.found.documents.push(loaded),
            Err(failure) => load.failures.push(failed(path.display().to_string(), failure)),
        },
        SourceTarget::Executables(folder) => match programs(folder) {
            Err(failure) => load.failures.push(failed(spec.name.clone(), failure)),
            Ok(programs) => {
                let asked = programs.into_iter().map(|path| async move {
                    (program(spec, &path, workspace, parts).await, path)
                });
                let mut answers = futures::stream::iter(asked).buffered(PROGRAMS_AT_ONCE);
                while let Some((answer, path)) = answers.next().await {
                    match answer {
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

/// Loads everything of a plan, for looking at it.
pub async fn load_plan(
    plan: SourcePlan,
    workspace: &Workspace,
    parts: &ExecutorContext,
) -> LoadResult {
    let mut all = LoadResult { failures: plan.failures, ..LoadResult::default() };
    if !plan.diagnostics.is_empty() {
        // The lines of a configuration may hold secrets.
        all.documents.push(LoadedDocument {
            secret: true,
            ..LoadedDocument::only_diagnostics(plan.diagnostics)
        });
    }
    let loads = futures::future::join_all(
        plan.specs.iter().map(|spec| load_source(spec, workspace, parts)),
    )
    .await;
    for SourceLoad { found, failures } in loads {
        all.documents.extend(found.documents);
        all.skipped += found.skipped;
        all.unparsed.extend(found.unparsed);
        all.failures.extend(found.failures);
        all.failures.extend(failures.iter().map(|failures| LoadError::new(failures.to_string())));
    }
    all
}

/// What one source gave.
#[derive(Debug, Default)]
pub(crate) struct SourceLoad {
    pub(crate) found: LoadResult,
    pub(crate) failures: Vec<SourceFailure>,
}
