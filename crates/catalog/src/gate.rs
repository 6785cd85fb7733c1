//! The gate between what was read and what may be called.
//!
//! A tool with an error of `check` is quarantined alone; an error outside of any tool quarantines
//! the whole document. What a live server lists has errors only where a tool cannot be used
//! (`toolwright_formats::live`) or where the configuration makes a finding an error, so there only
//! single tools are quarantined. What passes is a [`Toolset`] of [`Tool`]s: every field parsed,
//! bindings complete, schemas compiled, hashes computed. Nothing changes it from here on: a reload
//! and the merge with a server make new ones.
//!
//! ```text
//! Reading (drafts) ─ gate ─▶ GatedToolset ─ register ─▶ RegisteredTool, one per tool
//!                             ├ Toolset<Arc<Tool>>       (shares the tool; exec calls it)
//!                             └ quarantined drafts
//! ```
//!
//! Agents do not see a quarantined tool, but a call finds it and is refused with the reason. That
//! is why quarantined drafts stay in the registry, with as little of them as possible
//! (`without_details`).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_exec::knowledge::ShareId;
use toolwright_exec::{CallLimits, ConcurrencyLimit, PinnedTool, RegisteredTool, ToolTrust};
use toolwright_formats::{Reading, live};
use toolwright_model::{
    Binding, Capability, Details, Draft, FieldValue, InputSchema, Server, ServerSettings, Tool,
    ToolId, ToolName, Toolset, Variable,
};
use toolwright_schema::{Schema, SchemaSide, SchemaValidator};
use toolwright_source::{
    Diagnostic, DocumentPath, Origin, RecordPath, Severity, ValueKind, locate,
};
use toolwright_workspace::code_files::{DocumentCode, code_paths};
use toolwright_workspace::content_hash::ContentHasher;
use toolwright_workspace::pinned_parts::pinned_names;
use toolwright_workspace::{COMPAT_HELP, LoadedDocument, SourceSpec, SourceTarget, fill_in_tools};

use crate::javascript;
use crate::live_sources::environment_of;
use crate::loaded_code::LoadedFiles;
use crate::pins::Pins;
use crate::server_definition::ServerDefinition;

/// The tools of one document, ready for the registry.
///
/// One per document, also for documents without any tool: their diagnostics count.
#[derive(Debug, Default)]
pub(crate) struct GateResult {
    /// Also those in quarantine, in the order of the document.
    pub(crate) entries: Vec<Arc<RegisteredTool>>,
    /// Those of the document, and what the gate itself found.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The files in which bodies were searched, whether they exist or not. A change of one of them
    /// reloads the source.
    pub(crate) body_files: Vec<PathBuf>,
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
    /// For the place of each tool.
    origin: Origin,
}

/// A tool that is listed and refused when called.
struct QuarantinedTool {
    /// Its number in the definition.
    n: usize,
    id: ToolId,
    /// The valid parts of the tool.
    tool: Tool,
    /// The first error, for the caller.
    reason: String,
    /// What the caller can do about it.
    remedy: String,
}

/// What the gate has to know of a document besides its content.
pub(crate) struct GatedDocument<'d> {
    /// The key under which its tools are pinned.
    pub(crate) toolset: &'d Arc<str>,
    /// Its files with code, as they were read for this load.
    pub(crate) code: &'d DocumentCode,
    /// `None` where nothing is compared.
    pub(crate) pins: Option<&'d Arc<Pins>>,
}

/// Decides which tools of a document may be called, and registers them.
///
/// Never fails: what cannot be used is quarantined or reported. Compiles schemas, so it may take a
/// second for a large document; the caller keeps it off the threads of calls.
///
/// ```text
/// knowledge, paths of bodies ─ DocumentErrors ─ finish: tools, quarantined ─ register
///     each entry gets: trust, environment, knowledge, pins, code, place, body
///     a document that names a server ─▶ definition;  any other ─▶ entries
/// ```
pub(crate) fn gate(
    loaded: LoadedDocument,
    limits: &CallLimits,
    spec: &SourceSpec,
    document: &GatedDocument<'_>,
    concurrency: &mut ConcurrencyLimits,
) -> GateResult {
    let GatedDocument { toolset, code, pins } = *document;
    let environment = &environment_of(spec);
    let mut result = GateResult { diagnostics: loaded.diagnostics, ..GateResult::default() };
    let in_bodies = loaded.in_bodies;
    // A document of unknown format has no tools, but its diagnostics are shown.
    let Some(mut reading) = loaded.reading else { return result };
    let concurrency = concurrency_of(&reading, limits, concurrency);
    let knowledge = javascript::knowledge(&reading).map(Arc::new);
    let folder = folder_of(&reading);
    let implementations = spec.implementations.as_deref();
    let body_folder = implementations.or(folder.as_deref());
    let is_live = spec.target.is_listed();
    if is_live {
        reading.toolset.tools.iter_mut().for_each(fill_in_schema);
    }
    let pinned_names = pinned_names(&reading);
    result.body_files.extend(code_paths(&reading, implementations));
    // Before `finish`, which adds diagnostics about schemas.
    let errors = DocumentErrors::new(&reading, &result.diagnostics, &in_bodies, is_live);
    result.diagnostics.extend(in_bodies.into_iter().map(|(_, diagnostic)| diagnostic));
    let command = check_command(reading.origin.document().source().name(), spec);
    let gated =
        finish(reading, code, &errors, (spec, environment), &command, &mut result.diagnostics);
    let server = gated.toolset.server.clone();
    let namespace = gated.toolset.namespace.clone();
    let origin = gated.origin.clone();
    let share = ShareId::new();
    let mut own = Vec::new();
    let trust = trust_of(&gated.toolset, spec);
    for (n, mut entry) in register(gated, &concurrency) {
        entry.trust.clone_from(&trust);
        entry.environment.clone_from(environment);
        entry.knowledge.clone_from(&knowledge);
        let name = pinned_names.get(n).cloned().unwrap_or_default();
        entry.pinned_as.push(PinnedTool { toolset: Arc::clone(toolset), name });
        entry.code = LoadedFiles::of_tool(code, n, pins);
        entry.place = place_of(&origin, n);
        if let Some(folder) = body_folder {
            javascript::attach_body(&mut entry, folder, share, code.of_tool(n));
        }
        own.push((n, Arc::new(entry)));
    }
    match (server, namespace) {
        // The server is asked later, and its answer is merged with these tools. A quarantined
        // document starts no server.
        (Some(server), FieldValue::Valid(namespace)) if errors.of_all.is_empty() => {
            let server = for_source(&server, environment, &spec.server);
            let code = LoadedFiles::shared(code, pins);
            let toolset = Arc::clone(toolset);
            result.definition =
                Some(ServerDefinition { namespace, server, own, origin, trust, toolset, code });
        }
        _ => result.entries.extend(own.into_iter().map(|(_, entry)| entry)),
    }
    result
}

/// Why each tool of a checked document would be quarantined, in the order of the document; `None`
/// for a tool that passes. For commands that show tools and call none.
pub fn quarantine_reasons(loaded: &LoadedDocument) -> Vec<Option<QuarantineReason>> {
    let Some(reading) = &loaded.reading else { return Vec::new() };
    let is_listed = |tool: &Draft| tool.details.binding.is_listed();
    let is_live = loaded.path.is_none() && reading.toolset.tools.iter().any(is_listed);
    let errors = DocumentErrors::new(reading, &loaded.diagnostics, &loaded.in_bodies, is_live);
    let first = |n: usize| {
        let ToolError { reason, code, .. } = errors.of(n).next()?;
        Some(QuarantineReason { code, reason: reason.clone() })
    };
    (0..reading.toolset.tools.len()).map(first).collect()
}

/// Why a tool is quarantined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantineReason {
    /// The code of its first error.
    pub code: &'static str,
    /// The error as a caller reads it.
    pub reason: String,
}

/// What the policy has to know of the tools of a document. One that was found in a folder has not
/// been named by anybody.
///
/// `declared` is what the whole toolset may need, so that a person is asked for all of it at once.
fn trust_of(toolset: &Toolset<Arc<Tool>>, spec: &SourceSpec) -> ToolTrust {
    let declared = toolset.declares.iter().flatten().filter_map(FieldValue::ok);
    let needs = toolset.tools.iter().flat_map(|tool| &tool.needs);
    let declared: BTreeSet<Capability> = declared.chain(needs).cloned().collect();
    ToolTrust {
        source: spec.name.as_str().into(),
        toolset_hash: toolset.hash.clone(),
        declared: declared.into_iter().collect(),
        is_named: !matches!(&spec.target, SourceTarget::Definitions(path) if path.is_dir()),
        origins: toolwright_formats::btcp_origins(&toolset.rest).into(),
        // Known when all sources are.
        shares_name: false,
    }
}

/// Where the tool with this number is defined, as `FILE:LINE:COLUMN`; `None` if no file defines it.
fn place_of(origin: &Origin, n: usize) -> Option<Box<str>> {
    let source = origin.document().source();
    if source.is_answer() {
        return None;
    }
    let place = origin.location(&RecordPath::path(&[&"tools", &n]));
    let start = source.line_column(place.key.unwrap_or(place.value).start as usize);
    Some(format!("{}:{}:{}", source.name(), start.line, start.column).into())
}

/// Gives a tool that its server lists without an input schema one that accepts any arguments. The
/// server checks them itself.
fn fill_in_schema(draft: &mut Draft) {
    if matches!(draft.input, FieldValue::Missing) {
        let anything = serde_json::json!({"type": "object"});
        draft.input = FieldValue::Valid(anything.into());
    }
}

/// Turns drafts into tools, and sets aside those with errors. `command` shows these.
///
/// `n` is the place in the document everywhere: quarantined tools keep theirs, so that the order of
/// the list does not depend on errors.
fn finish(
    reading: Reading,
    code: &DocumentCode,
    errors: &DocumentErrors,
    (spec, environment): (&SourceSpec, &[(OsString, OsString)]),
    command: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> GatedToolset {
    let folder = folder_of(&reading);
    let hasher = ContentHasher::new(&reading);
    let hash = hasher.toolset(&code.all());
    let (mut tools, mut accepted, mut quarantined) = (Vec::new(), Vec::new(), Vec::new());
    for (n, draft) in reading.toolset.tools.iter().enumerate() {
        // Without a name there is nothing to list; the diagnostics report it.
        let Some(id) = draft.id(reading.toolset.namespace.ok()) else { continue };
        let Some(name) = draft.name.ok() else { continue };
        // The first one is enough as a reason; `check` shows all of them.
        let error = errors.of(n).next().map(|first| ToolError {
            reason: first.reason.clone(),
            code: first.code,
            is_tolerable: errors.of(n).all(|error| error.is_tolerable),
        });
        match error.map_or_else(|| finish_tool(draft, n, &reading, diagnostics), Err) {
            Ok((mut tool, validator)) => {
                complete(&mut tool.details.binding, folder.as_deref(), environment, &spec.server);
                tool.hash = Some(hasher.tool(n));
                tools.push(Arc::new(tool));
                accepted.push((n, validator));
            }
            Err(ToolError { reason, is_tolerable, .. }) => {
                // Listed and refused, and not left out: a caller that knows the tool learns why it
                // is not available instead of "not found".
                let tool = without_details(name.clone(), draft);
                let compat = if is_tolerable { "; with `--compat` the tool is used" } else { "" };
                let remedy = format!("{command} shows the error and its place{compat}");
                quarantined.push(QuarantinedTool { n, id, tool, reason, remedy });
            }
        }
    }
    // Those that were added above.
    fill_in_tools(&reading, diagnostics);
    let mut toolset = reading.toolset.with_tools(tools);
    toolset.hash = Some(hash);
    GatedToolset { toolset, accepted, quarantined, origin: reading.origin }
}

/// The tool of a draft with its schemas compiled, or why it cannot be called. Schemas are compiled
/// a second time only after a failure, in order to report findings with their places.
///
/// The reason is that of the first finding; all of them are added to `diagnostics`.
fn finish_tool(
    draft: &Draft,
    n: usize,
    reading: &Reading,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(Tool, SchemaValidator), ToolError> {
    let tool = draft.clone().finish().map_err(|error| ToolError {
        reason: error.to_string(),
        code: "",
        is_tolerable: false,
    })?;
    if let Ok(validator) = SchemaValidator::new(tool.input.to_json(), tool.output.as_ref()) {
        return Ok((tool, validator));
    }
    let schemas =
        [(SchemaSide::Input, Some(tool.input.to_json())), (SchemaSide::Output, tool.output)];
    let mut findings = Vec::new();
    for (side, schema) in schemas {
        let Some(schema) = schema else { continue };
        let Err(error) = Schema::compile(&schema) else { continue };
        let at = RecordPath::path(&[&"tools", &n, &side.field()]);
        findings.extend(toolwright_check::schema_findings(&schema, &error, &at));
    }
    // Findings that no setting tolerates come first: the first one becomes the reason.
    findings.sort_by_key(|finding| finding.tolerable);
    let is_tolerable = findings.first().is_some_and(|finding| finding.tolerable);
    let place = |finding| locate(reading.origin.in_document(finding), reading.origin.document());
    let found: Vec<Diagnostic> = findings.into_iter().map(place).collect();
    let reason = found.first().map(reason_of).unwrap_or_default();
    let code = found.first().map_or("", |first| first.code.name);
    diagnostics.extend(found);
    Err(ToolError { reason, code, is_tolerable })
}

/// The tools of a gated toolset as the runner holds them, in the order of the definition.
///
/// Each gets the concurrency limit of the toolset.
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
        entry.claimed_namespace = live::claimed_namespace(&entry.tool.details.rest);
        (n, entry)
    });
    let quarantined = quarantined.into_iter().map(|it| {
        let mut entry =
            RegisteredTool::quarantined(it.id, it.tool, Arc::clone(concurrency), it.reason);
        entry.remedy = Some(it.remedy.into());
        (it.n, entry)
    });
    let mut tools: Vec<_> = accepted.chain(quarantined).collect();
    // Lists of tools must not change their order when a tool is quarantined.
    tools.sort_by_key(|(n, _)| *n);
    tools
}

/// The errors of a document, by what they keep from being called.
///
/// Sorted once for all tools of a document. With a live server, `of_all` stays empty: an error
/// outside of any tool must not take all tools of somebody else's server away.
#[derive(Default)]
struct DocumentErrors {
    /// Errors that lie in no tool: they quarantine all of them.
    of_all: Vec<ToolError>,
    /// By the number of the tool that they lie in.
    of_tools: HashMap<usize, Vec<ToolError>>,
}

/// An error that keeps a tool from being called.
struct ToolError {
    /// As the caller reads it.
    reason: String,
    /// Its code; empty if it is not a finding.
    code: &'static str,
    /// Whether it is a warning in compat mode.
    is_tolerable: bool,
}

// The place of an error decides whom it concerns: a tool, no tool, or all of them.
impl DocumentErrors {
    fn new(
        reading: &Reading,
        diagnostics: &[Diagnostic],
        in_bodies: &[(usize, Diagnostic)],
        is_live: bool,
    ) -> DocumentErrors {
        let tools: Vec<DocumentPath> =
            (0..reading.toolset.tools.len()).map(|n| path_of(reading, n)).collect();
        // A list item that is not an object is not a tool, and concerns no other item.
        let root = reading.origin.document().root();
        let is_list = |path: &DocumentPath| {
            root.find(path).is_some_and(|node| node.kind() == ValueKind::List)
        };
        let lists: HashSet<DocumentPath> =
            tools.iter().filter_map(DocumentPath::parent).filter(is_list).collect();
        let is_item =
            |path: &DocumentPath| lists.iter().any(|list| path != list && is_within(path, list));
        let mut errors = DocumentErrors::default();
        for d in diagnostics.iter().filter(|d| d.severity == Severity::Error) {
            let is_tolerable = d.help.iter().any(|help| help == COMPAT_HELP);
            let error = ToolError { reason: reason_of(d), code: d.code.name, is_tolerable };
            match tools.iter().position(|tool| is_within(&d.path, tool)) {
                Some(n) => errors.of_tools.entry(n).or_default().push(error),
                None if is_live || is_item(&d.path) => {}
                None => errors.of_all.push(error),
            }
        }
        for (n, d) in in_bodies {
            let reason = match d.line_column() {
                Some((line, column)) => {
                    format!("{} at {}:{line}:{column}", reason_of(d), d.source.name())
                }
                None => reason_of(d),
            };
            let error = ToolError { reason, code: d.code.name, is_tolerable: false };
            errors.of_tools.entry(*n).or_default().push(error);
        }
        errors
    }

    /// The errors that keep tool `n` from being called. Those of the whole document come first.
    ///
    /// None: the tool passes.
    fn of(&self, n: usize) -> impl Iterator<Item = &ToolError> {
        self.of_all.iter().chain(self.of_tools.get(&n).into_iter().flatten())
    }
}

/// The command that shows what is wrong with a document, in backticks and as far as it can be
/// given: the words of a server's command may hold secrets.
pub(crate) fn check_command(document: &str, spec: &SourceSpec) -> String {
    let is_server = spec.target.is_listed();
    let sources = match &spec.anchor {
        // The file that names the server.
        Some(anchor) if is_server => match anchor.source.name() {
            file if file.ends_with(".toml") => format!("--config {file}"),
            file => file.to_owned(),
        },
        _ if is_server && spec.name.starts_with("-- ") => format!("{} …", spec.name),
        _ if is_server => spec.name.clone(),
        _ if document == "<stdin>" => "-".to_owned(),
        _ => document.to_owned(),
    };
    format!("`toolwright check {sources}`")
}

/// An error as the caller of a quarantined tool reads it.
fn reason_of(diagnostic: &Diagnostic) -> String {
    format!("{} ({})", diagnostic.message, diagnostic.code.name)
}

/// The path of tool `n` in its document.
fn path_of(reading: &Reading, n: usize) -> DocumentPath {
    reading.origin.document_path(&RecordPath::root().child("tools").child(n))
}

/// Whether a path is that of the place or below it.
fn is_within(at: &DocumentPath, place: &DocumentPath) -> bool {
    at == place || at.below(place).is_some()
}

/// The concurrency limit of a toolset: the one it had, unless its numbers have changed. Keyed by
/// the name of the document, so a document that is renamed begins with a new one.
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

/// As much of a quarantined tool as a list may show: its name and description. The reason for the
/// quarantine may be in any of the rest.
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

/// The folder of the file, from which scripts and bodies are resolved.
fn folder_of(reading: &Reading) -> Option<PathBuf> {
    let file = std::path::absolute(reading.origin.document().source().name()).ok()?;
    file.parent().map(Path::to_owned)
}

/// Fills in what only the source knows: the path of a script, the variables that a server wants,
/// and how it is run.
fn complete(
    binding: &mut Binding,
    folder: Option<&Path>,
    environment: &[(OsString, OsString)],
    settings: &ServerSettings,
) {
    match (binding, folder) {
        (Binding::Local { entry_point, .. }, Some(folder)) => {
            *entry_point = folder.join(&*entry_point).display().to_string();
        }
        (Binding::Server { server, .. }, _) => *server = for_source(server, environment, settings),
        _ => {}
    }
}

/// A server as its source runs it. Equal servers share a connection, so all tools of a source get
/// the same one.
///
/// The same `Arc` is returned if the source changes nothing.
fn for_source(
    server: &Arc<Server>,
    environment: &[(OsString, OsString)],
    settings: &ServerSettings,
) -> Arc<Server> {
    if environment.is_empty() && server.settings == *settings {
        return Arc::clone(server);
    }
    let mut filled = Server { settings: settings.clone(), ..Server::clone(server) };
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
