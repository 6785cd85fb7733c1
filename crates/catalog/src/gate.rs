//! The gate between what was read and what may be called. A tool with errors is quarantined alone; an
//! error outside of any tool sets its whole document aside.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_exec::{CallLimits, ConcurrencyLimit, RegisteredTool};
use toolwright_formats::Reading;
use toolwright_model::{Binding, Draft, FieldValue, InputSchema, Server, Tool, Variable};
use toolwright_schema::SchemaError;
use toolwright_source::{Diagnostic, DocumentPath, RecordPath, Severity, locate};
use toolwright_workspace::{LoadedDocument, SourceSpec};

use crate::javascript;
use crate::live_sources::environment_of;
use crate::server_definition::ServerDefinition;

/// SourceTarget came through, and what is wrong with the rest.
#[derive(Debug, Default)]
pub(crate) struct GateResult {
    pub(crate) entries: Vec<Arc<RegisteredTool>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Where bodies were looked for, there or not.
    pub(crate) bodies: Vec<PathBuf>,
    /// The document's commands, in place of `entries`, if they are tools of a server that it names.
    pub(crate) definition: Option<ServerDefinition>,
}

/// The permits of each toolset, by where it was read from.
pub(crate) type Lanes = HashMap<String, Arc<ConcurrencyLimit>>;

/// Lets the tools of a document through, or sets them aside.
pub(crate) fn gate(
    loaded: LoadedDocument,
    limits: &CallLimits,
    spec: &SourceSpec,
    lanes: &mut Lanes,
) -> GateResult {
    let environment = &environment_of(spec);
    let mut result = GateResult { diagnostics: loaded.diagnostics, ..GateResult::default() };
    let Some(reading) = loaded.reading else { return result };
    let lane = lane(&reading, limits, lanes);
    let folder = folder_of(&reading);
    let bodies = spec.implementations.as_deref().or(folder.as_deref());
    let knowledge = javascript::knowledge(&reading).map(Arc::new);
    let tools: Vec<DocumentPath> =
        (0..reading.toolset.tools.len()).map(|n| place_of(&reading, n)).collect();
    let errors: Vec<(DocumentPath, String)> = result
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| (d.path.clone(), format!("{} ({})", d.message, d.code.name)))
        .collect();
    let of_the_whole = errors.iter().find(|(at, _)| !tools.iter().any(|tool| is_within(at, tool)));
    let mut own = Vec::new();
    for (n, draft) in reading.toolset.tools.iter().enumerate() {
        let its_own = errors.iter().find(|(at, _)| is_within(at, &tools[n]));
        let reason = of_the_whole.or(its_own).map(|(_, text)| text.clone());
        let entry = admit(draft, n, &reading, reason, &lane, &mut result.diagnostics);
        if let Some(mut entry) = entry {
            entry.environment.clone_from(environment);
            entry.knowledge.clone_from(&knowledge);
            result
                .bodies
                .extend(bodies.and_then(|folder| javascript::attach_body(&mut entry, folder)));
            complete(&mut entry.tool.details.binding, folder.as_deref(), environment);
            own.push((n, Arc::new(entry)));
        }
    }
    match (reading.toolset.server, reading.toolset.namespace) {
        (Some(server), FieldValue::Valid(namespace)) if of_the_whole.is_none() => {
            let server = with_variables(&server, environment);
            result.definition =
                Some(ServerDefinition { namespace, server, own, origin: reading.origin });
        }
        _ => result.entries.extend(own.into_iter().map(|(_, entry)| entry)),
    }
    result
}

/// The place of tool `n` in its document.
fn place_of(reading: &Reading, n: usize) -> DocumentPath {
    reading.origin.document_path(&RecordPath::root().child("tools").child(n))
}

fn is_within(at: &DocumentPath, place: &DocumentPath) -> bool {
    at == place || at.below(place).is_some()
}

/// The toolset's own word, else the default of its format, else the configuration's.
fn width(reading: &Reading, limits: &CallLimits) -> usize {
    let declared = reading.toolset.limits.concurrent();
    declared.map_or(limits.max_concurrent, |n| (n as usize).min(limits.max_concurrent))
}

/// The lane of a toolset: the one it had, unless its limits have changed.
fn lane(reading: &Reading, limits: &CallLimits, lanes: &mut Lanes) -> Arc<ConcurrencyLimit> {
    let width = width(reading, limits);
    let lane = lanes.entry(reading.origin.document().source().name().to_owned());
    let lane = lane.or_insert_with(|| Arc::new(ConcurrencyLimit::new(width, limits.queue)));
    if lane.max_running() != width || lane.max_waiting() != limits.queue {
        *lane = Arc::new(ConcurrencyLimit::new(width, limits.queue));
    }
    Arc::clone(lane)
}

fn admit(
    draft: &Draft,
    n: usize,
    reading: &Reading,
    reason: Option<String>,
    lane: &Arc<ConcurrencyLimit>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<RegisteredTool> {
    // Without a name there is nothing to quarantined under; the diagnostics say so.
    let id = draft.id(reading.toolset.namespace.ok())?;
    let aside = |draft: &Draft, reason: String| {
        let name = draft.name.ok()?.clone();
        Some(RegisteredTool::quarantined(id.clone(), bare(name, draft), Arc::clone(lane), reason))
    };
    if let Some(reason) = reason {
        return aside(draft, reason);
    }
    let tool = match draft.clone().finish() {
        Ok(tool) => tool,
        Err(unfinished) => return aside(draft, unfinished.to_string()),
    };
    match RegisteredTool::new(id.clone(), tool, reading.toolset.limits, Arc::clone(lane)) {
        Ok(entry) => Some(entry),
        Err((which, error)) => {
            let diagnostic = schema_diagnostic(&error, which, n, reading);
            let reason = format!("{} ({})", diagnostic.message, diagnostic.code.name);
            diagnostics.push(diagnostic);
            aside(draft, reason)
        }
    }
}

/// As much of a tool as can be relied on.
fn bare(name: toolwright_model::ToolName, draft: &Draft) -> Tool {
    Tool {
        name,
        namespace: None,
        description: draft.description.ok().cloned(),
        version: None,
        input: InputSchema::Deferred,
        output: None,
        needs: Vec::new(),
        details: toolwright_model::Details::default(),
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

/// Fills in what only the source knows: where a script is, and the variables a server asks for.
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
            Some(variable) => variable.value = value,
            None => {
                let name = name.to_string_lossy().into_owned();
                filled.environment.push(Variable { name, value, ..Variable::default() });
            }
        }
    }
    Arc::new(filled)
}
