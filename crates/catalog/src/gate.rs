//! The gate between what was read and what may be called.
//!
//! A tool with an error is quarantined alone; an error outside of any tool quarantines the whole
//! document. What passes is a [`Toolset`] of [`Tool`]s: every field parsed, bindings complete,
//! schemas compiled, hashes computed. Nothing changes it from here on: a reload and the merge with
//! a server make new ones.
//!
//! ```text
//! Reading (drafts) ─ gate ─▶ GatedToolset ─ register ─▶ RegisteredTool, one per tool
//!                             ├ Toolset<Arc<Tool>>       (shares the tool; exec calls it)
//!                             └ quarantined drafts
//! ```

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_exec::knowledge::ShareId;
use toolwright_exec::{CallLimits, ConcurrencyLimit, RegisteredTool};
use toolwright_formats::Reading;
use toolwright_model::{
    Binding, Details, Draft, FieldValue, InputSchema, Server, Tool, ToolId, ToolName, Toolset,
    Variable,
};
use toolwright_schema::{SchemaError, SchemaValidator};
use toolwright_source::{Diagnostic, DocumentPath, Origin, RecordPath, Severity, locate};
use toolwright_workspace::content_hash::{ContentHasher, code_files};
use toolwright_workspace::{LoadedDocument, SourceSpec, fill_in_tools};

use crate::javascript;
use crate::live_sources::environment_of;
use crate::server_definition::ServerDefinition;

/// The tools of one document, ready for the registry.
#[derive(Debug, Default)]
pub(crate) struct GateResult {
    pub(crate) entries: Vec<Arc<RegisteredTool>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The files in which bodies were searched, whether they exist or not. A change of one of them
    /// reloads the source.
    pub(crate) bodies: Vec<PathBuf>,
    /// Set instead of `entries` if the document's commands are tools of a server that it names.
    pub(crate) definition: Option<ServerDefinition>,
}

/// The concurrency limit of each toolset, by the name of its document. Limits outlive a reload, so
/// that calls under way still count.
pub(crate) type ConcurrencyLimits = HashMap<String, Arc<ConcurrencyLimit>>;

/// A toolset behind the gate.
struct GatedToolset {
    /// The tools that may be called.
    toolset: Toolset<Arc<Tool>>,
    /// For each of them, its number in the definition and its compiled schemas.
    accepted: Vec<(usize, SchemaValidator)>,
    quarantined: Vec<QuarantinedTool>,
    origin: Origin,
}

/// A tool that is listed and refused when called.
struct QuarantinedTool {
    /// Its number in the definition.
    n: usize,
    id: ToolId,
    /// As much of it as can be relied on.
    tool: Tool,
    /// The first error, for the caller.
    reason: String,
}

/// Decides which tools of a document may be called, and registers them.
pub(crate) fn gate(
    loaded: LoadedDocument,
    limits: &CallLimits,
    spec: &SourceSpec,
    concurrency: &mut ConcurrencyLimits,
) -> GateResult {
    let environment = &environment_of(spec);
    let mut result = GateResult { diagnostics: loaded.diagnostics, ..GateResult::default() };
    // A document of unknown format has no tools, but its diagnostics are shown.
    let Some(reading) = loaded.reading else { return result };
    let concurrency = concurrency_of(&reading, limits, concurrency);
    let knowledge = javascript::knowledge(&reading).map(Arc::new);
    let folder = folder_of(&reading);
    let implementations = spec.implementations.as_deref();
    let bodies = implementations.or(folder.as_deref());
    // Before `finish`, which adds diagnostics about schemas: those lie inside of tools.
    let whole = error_outside_of_tools(&reading, &result.diagnostics);
    let gated =
        finish(reading, whole.clone(), implementations, environment, &mut result.diagnostics);
    let server = gated.toolset.server.clone();
    let namespace = gated.toolset.namespace.clone();
    let origin = gated.origin.clone();
    let share = ShareId::new();
    let mut own = Vec::new();
    for (n, mut entry) in register(gated, &concurrency) {
        entry.environment.clone_from(environment);
        entry.knowledge.clone_from(&knowledge);
        let body = bodies.and_then(|folder| javascript::attach_body(&mut entry, folder, share));
        result.bodies.extend(body);
        own.push((n, Arc::new(entry)));
    }
    match (server, namespace) {
        // The server is asked later, and its answer is merged with these tools. A quarantined
        // document starts no server.
        (Some(server), FieldValue::Valid(namespace)) if whole.is_none() => {
            let server = with_variables(&server, environment);
            result.definition = Some(ServerDefinition { namespace, server, own, origin });
        }
        _ => result.entries.extend(own.into_iter().map(|(_, entry)| entry)),
    }
    result
}

/// Turns drafts into tools, and sets aside those with errors. `whole` is the error that quarantines
/// all of them, if there is one.
fn finish(
    reading: Reading,
    whole: Option<String>,
    implementations: Option<&Path>,
    environment: &[(OsString, OsString)],
    diagnostics: &mut Vec<Diagnostic>,
) -> GatedToolset {
    let folder = folder_of(&reading);
    let hasher = ContentHasher::new(&reading);
    let hash = hasher.toolset(&code_files(&reading, implementations));
    let (mut tools, mut accepted, mut quarantined) = (Vec::new(), Vec::new(), Vec::new());
    for (n, draft) in reading.toolset.tools.iter().enumerate() {
        // Without a name there is nothing to list; the diagnostics report it.
        let Some(id) = draft.id(reading.toolset.namespace.ok()) else { continue };
        let Some(name) = draft.name.ok() else { continue };
        // The error of the whole document first, because it holds for every tool.
        let error = whole.clone().or_else(|| error_within(&reading, n, diagnostics));
        match error.map_or_else(|| finish_tool(draft, n, &reading, diagnostics), Err) {
            Ok((mut tool, validator)) => {
                complete(&mut tool.details.binding, folder.as_deref(), environment);
                tool.hash = Some(hasher.tool(n));
                tools.push(Arc::new(tool));
                accepted.push((n, validator));
            }
            Err(reason) => {
                // Listed and refused, and not left out: a caller that knows the tool learns why it
                // is not available instead of "not found".
                let tool = without_details(name.clone(), draft);
                quarantined.push(QuarantinedTool { n, id, tool, reason });
            }
        }
    }
    // Those that were added above.
    fill_in_tools(&reading, diagnostics);
    let mut toolset = reading.toolset.with_tools(tools);
    toolset.hash = Some(hash);
    GatedToolset { toolset, accepted, quarantined, origin: reading.origin }
}

/// The tool of a draft with its schemas compiled, or why it cannot be called.
fn finish_tool(
    draft: &Draft,
    n: usize,
    reading: &Reading,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(Tool, SchemaValidator), String> {
    let tool = draft.clone().finish().map_err(|error| error.to_string())?;
    match SchemaValidator::new(tool.input.to_json(), tool.output.as_ref()) {
        Ok(validator) => Ok((tool, validator)),
        Err(error) => {
            let diagnostic = schema_diagnostic(&error.error, error.side.field(), n, reading);
            let reason = reason_of(&diagnostic);
            diagnostics.push(diagnostic);
            Err(reason)
        }
    }
}

/// The tools of a gated toolset as the runner holds them, in the order of the definition.
fn register(
    gated: GatedToolset,
    concurrency: &Arc<ConcurrencyLimit>,
) -> Vec<(usize, RegisteredTool)> {
    let GatedToolset { toolset, accepted, quarantined, .. } = gated;
    let namespace = toolset.namespace.ok();
    let accepted = toolset.tools.iter().zip(accepted).map(|(tool, (n, validator))| {
        let id = tool.id(namespace);
        let (tool, limits, concurrency) =
            (Arc::clone(tool), toolset.limits, Arc::clone(concurrency));
        let mut entry = RegisteredTool::with_validator(id, tool, validator, limits, concurrency);
        entry.toolset_hash.clone_from(&toolset.hash);
        (n, entry)
    });
    let quarantined = quarantined.into_iter().map(|QuarantinedTool { n, id, tool, reason }| {
        (n, RegisteredTool::quarantined(id, tool, Arc::clone(concurrency), reason))
    });
    let mut tools: Vec<_> = accepted.chain(quarantined).collect();
    // Lists of tools must not change their order when a tool is quarantined.
    tools.sort_by_key(|(n, _)| *n);
    tools
}

/// An error of the document that lies in no tool: it quarantines all of them.
fn error_outside_of_tools(reading: &Reading, diagnostics: &[Diagnostic]) -> Option<String> {
    let tools: Vec<DocumentPath> =
        (0..reading.toolset.tools.len()).map(|n| path_of(reading, n)).collect();
    let is_outside = |d: &&Diagnostic| !tools.iter().any(|tool| is_within(&d.path, tool));
    // The first one is enough as a reason; `check` shows all of them.
    errors(diagnostics).find(is_outside).map(reason_of)
}

/// The first error inside the `n`th tool.
fn error_within(reading: &Reading, n: usize, diagnostics: &[Diagnostic]) -> Option<String> {
    let tool = path_of(reading, n);
    errors(diagnostics).find(|d| is_within(&d.path, &tool)).map(reason_of)
}

fn errors(diagnostics: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> {
    diagnostics.iter().filter(|d| d.severity == Severity::Error)
}

/// An error as the caller of a quarantined tool reads it.
fn reason_of(diagnostic: &Diagnostic) -> String {
    format!("{} ({})", diagnostic.message, diagnostic.code.name)
}

/// The path of tool `n` in its document.
fn path_of(reading: &Reading, n: usize) -> DocumentPath {
    reading.origin.document_path(&RecordPath::root().child("tools").child(n))
}

fn is_within(at: &DocumentPath, place: &DocumentPath) -> bool {
    at == place || at.below(place).is_some()
}

/// The concurrency limit of a toolset: the one it had, unless its numbers have changed.
fn concurrency_of(
    reading: &Reading,
    limits: &CallLimits,
    known: &mut ConcurrencyLimits,
) -> Arc<ConcurrencyLimit> {
    let declared = reading.toolset.limits.concurrent();
    // The definition may ask for less than the configuration, never for more.
    let running =
        declared.map_or(limits.max_concurrent, |n| (n as usize).min(limits.max_concurrent));
    let new = || Arc::new(ConcurrencyLimit::new(running, limits.queue));
    let name = reading.origin.document().source().name().to_owned();
    let limit = known.entry(name).or_insert_with(new);
    // A new limit starts with no calls, so for a moment old and new calls together may exceed it.
    if limit.max_running() != running || limit.max_waiting() != limits.queue {
        *limit = new();
    }
    Arc::clone(limit)
}

/// As much of a quarantined tool as a list may show.
fn without_details(name: ToolName, draft: &Draft) -> Tool {
    Tool {
        name,
        namespace: None,
        description: draft.description.ok().cloned(),
        version: None,
        // No schema: it may be the one that is invalid.
        input: InputSchema::Deferred,
        output: None,
        needs: Vec::new(),
        details: Details::default(),
        hash: None,
    }
}

fn schema_diagnostic(error: &SchemaError, which: &str, n: usize, reading: &Reading) -> Diagnostic {
    let at = RecordPath::root().child("tools").child(n).child(which);
    let finding = toolwright_check::schema_finding(error, &at);
    locate(reading.origin.in_document(finding), reading.origin.document())
}

fn folder_of(reading: &Reading) -> Option<PathBuf> {
    let file = std::path::absolute(reading.origin.document().source().name()).ok()?;
    file.parent().map(Path::to_owned)
}

/// Fills in what only the source knows: the path of a script, and the variables that a server
/// wants.
fn complete(binding: &mut Binding, folder: Option<&Path>, environment: &[(OsString, OsString)]) {
    match (binding, folder) {
        (Binding::Local { entry_point, .. }, Some(folder)) => {
            *entry_point = folder.join(&*entry_point).display().to_string();
        }
        (Binding::Server { server, .. }, _) => *server = with_variables(server, environment),
        _ => {}
    }
}

fn with_variables(server: &Arc<Server>, environment: &[(OsString, OsString)]) -> Arc<Server> {
    if environment.is_empty() {
        return Arc::clone(server);
    }
    let mut filled = Server::clone(server);
    for (name, value) in environment {
        let value = Some(value.to_string_lossy().into_owned());
        match filled.environment.iter_mut().find(|variable| *name == *variable.name) {
            // The source wins over the definition: the user of a definition knows the values.
            Some(variable) => variable.value = value,
            None => {
                let name = name.to_string_lossy().into_owned();
                filled.environment.push(Variable { name, value, ..Variable::default() });
            }
        }
    }
    Arc::new(filled)
}
