//! A definition that names the server of its tools, merged with what that server lists.
//!
//! An AIOS definition of type `mcp` describes commands and leaves much of them open: schemas,
//! descriptions, annotations. The server fills these in. The definition always wins where it says
//! something, because its author wrote it for this server on purpose.
//!
//! | command | result |
//! |---|---|
//! | in both | the definition, with what it leaves open taken from the server |
//! | in the definition only | quarantined (COMMAND_NOT_ON_SERVER) |
//! | on the server only | as the server lists it, without knowledge |
//!
//! Files are read without starting anything, so the reader cannot do this; the catalog does it when
//! the server has answered.
//!
//! The merged tool belongs to both: it is pinned under the definition and under the server's list,
//! and its hash is made of both hashes, so a change on either side asks again.

use std::sync::Arc;

use toolwright_exec::{CallLimits, LoadedCode, PinnedTool, RegisteredTool, ToolStatus, ToolTrust};
use toolwright_model::{Annotations, Binding, ContentHash, InputSchema, Namespace, Server, Tool};
use toolwright_source::{Anchor, Diagnostic, Origin, RecordFinding, RecordPath, locate};
use toolwright_workspace::code_files::DocumentCode;
use toolwright_workspace::codes::COMMAND_NOT_ON_SERVER;
use toolwright_workspace::pinned_parts::{PinnedPart, program_part, tool_parts};
use toolwright_workspace::{
    CodeSelection, DefinitionAuthors, SourceSpec, SourceTarget, Workspace, content_hash,
    find_suspicious_texts,
};

use crate::gate::{ConcurrencyLimits, GateResult, GatedDocument, gate};
use crate::live_sources::{self, ToolAnswer};
use crate::pin_subject::{FoundIn, PinSubject};
use crate::suspicious_texts;

/// A toolset on a server that its definition names, as the definition describes it.
#[derive(Debug)]
pub(crate) struct ServerDefinition {
    pub(crate) namespace: Namespace,
    /// With the variables of the source filled in.
    pub(crate) server: Arc<Server>,
    /// Its commands, each with its number in the definition.
    pub(crate) own: Vec<(usize, Arc<RegisteredTool>)>,
    /// Where to report a command that the server does not have.
    pub(crate) origin: Origin,
    /// What the policy has to know of its tools, and of those that only the server has.
    pub(crate) trust: ToolTrust,
    /// The key under which the definition is pinned.
    pub(crate) toolset: Arc<str>,
    /// The files with the code of its server, if it names any.
    pub(crate) code: Option<Arc<dyn LoadedCode>>,
}

/// The tools that the server lists, behind the gate like any other.
#[derive(Debug)]
pub(crate) struct ListedTools {
    pub(crate) entries: Vec<Arc<RegisteredTool>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Sentences about their suspicious texts.
    pub(crate) suspicious: Vec<String>,
    /// Under what they are pinned.
    pub(crate) subject: PinSubject,
    pub(crate) parts: Vec<PinnedPart>,
}

/// Whether texts of tools that look like attacks on a model are looked for, to be logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuspiciousTexts {
    Reported,
    Ignored,
}

impl ServerDefinition {
    /// Whether it is the same toolset on the same server, whatever else has changed.
    pub(crate) fn is_like(&self, other: &ServerDefinition) -> bool {
        self.namespace == other.namespace && self.server == other.server
    }

    /// Reads the server's list of its tools. `spec` is the source of the definition: its
    /// environment and options hold for the server, too.
    ///
    /// Passes the gate like the list of any server, with the limits of the definition's source.
    pub(crate) fn read(
        &self,
        answer: &ToolAnswer,
        spec: &SourceSpec,
        workspace: &Workspace,
        (selection, texts): (&CodeSelection, SuspiciousTexts),
        limits: &CallLimits,
        concurrency: &mut ConcurrencyLimits,
    ) -> ListedTools {
        // A source of its own, named after the namespace, as if the configuration had listed the
        // server.
        let subject = self.pin_subject(spec);
        let spec = SourceSpec {
            name: self.namespace.to_string(),
            target: SourceTarget::Server(Arc::clone(&self.server), Some(self.namespace.clone())),
            implementations: None,
            // What the server lists is used because of the definition.
            anchor: spec.anchor.clone().or_else(|| {
                let source = Arc::clone(self.origin.document().source());
                Some(Anchor { source, span: None })
            }),
            ..spec.clone()
        };
        let namespace = Some(&self.namespace);
        let mut loaded =
            live_sources::read_answer(&spec, &self.server, namespace, answer, workspace);
        let judged = std::slice::from_mut(&mut loaded);
        workspace.check_for_gate(judged, selection, DefinitionAuthors::Foreign);
        let reading = loaded.reading.as_ref().filter(|_| texts == SuspiciousTexts::Reported);
        let suspicious = reading.map(|reading| {
            suspicious_texts::sentences(&spec, &find_suspicious_texts(reading, selection))
        });
        // The code of the server is that of the definition.
        let code = DocumentCode::default();
        let mut parts = loaded.reading.as_ref().map(|it| tool_parts(it, &code)).unwrap_or_default();
        parts.push(program_part(&self.server, &[]));
        let document = GatedDocument { toolset: &subject.key, code: &code, pins: None };
        let GateResult { entries, diagnostics, .. } =
            gate(loaded, limits, &spec, &document, concurrency);
        let suspicious = suspicious.unwrap_or_default();
        ListedTools { entries, diagnostics, suspicious, subject, parts }
    }

    /// Under what the lists of its server are pinned. Not by the namespace alone: a source of the
    /// configuration may have the same name.
    pub(crate) fn pin_subject(&self, spec: &SourceSpec) -> PinSubject {
        let document = self.origin.document().source().name();
        let file = document.rsplit('/').next().unwrap_or(document);
        let name = format!("{} ({file})", self.namespace);
        let own = PinSubject::of(spec, document).key;
        let subject = PinSubject::of_server(spec, &self.server, Some(document), &name);
        PinSubject { found_in: Some(FoundIn::Definition(own)), ..subject }
    }

    /// The tools of both, and a diagnostic for each command that the server does not have.
    ///
    /// Runs again whenever the server reports another list. The order is that of the definition,
    /// then that of the server.
    pub(crate) fn merge(
        &self,
        served: &[Arc<RegisteredTool>],
    ) -> (Vec<Arc<RegisteredTool>>, Vec<Diagnostic>) {
        // What is left at the end are tools that only the server has.
        let mut others = served.to_vec();
        let (mut entries, mut diagnostics) = (Vec::new(), Vec::new());
        for (n, own) in &self.own {
            let place =
                others.iter().position(|other| name_on_server(other) == name_on_server(own));
            entries.push(match place.map(|place| others.remove(place)) {
                // Taken from `others` all the same: the quarantined command must not come back as
                // the server lists it.
                _ if own.status != ToolStatus::Ready => Arc::clone(own),
                Some(served) => fill_in_from_server(own, &served),
                None => {
                    let (entry, diagnostic) = self.missing(*n, own);
                    diagnostics.push(diagnostic);
                    Arc::new(entry)
                }
            });
        }
        // They are there because of the definition.
        entries.extend(others.into_iter().map(|mut other| {
            let own = Arc::make_mut(&mut other);
            own.trust.clone_from(&self.trust);
            own.code.clone_from(&self.code);
            // A change of the definition outside of its own tools concerns them, too.
            let toolset = Arc::clone(&self.toolset);
            own.pinned_as.push(PinnedTool { toolset, name: String::new() });
            other
        }));
        (entries, diagnostics)
    }

    /// Quarantined rather than left out, so that a caller learns why.
    fn missing(&self, n: usize, own: &RegisteredTool) -> (RegisteredTool, Diagnostic) {
        let message = format!("the server has no tool `{}`", name_on_server(own));
        let reason = format!("{message} ({})", COMMAND_NOT_ON_SERVER.name);
        // At the name of the command, which is probably misspelled.
        let at = RecordPath::root().child("tools").child(n).child("name");
        let finding = RecordFinding::new(&COMMAND_NOT_ON_SERVER, at, message);
        let entry = RegisteredTool::quarantined(
            own.id.clone(),
            own.tool.clone(),
            Arc::clone(&own.concurrency),
            reason,
        );
        (entry, locate(self.origin.in_document(finding), self.origin.document()))
    }
}

/// The name under which the server knows a tool, by which the two lists are matched.
fn name_on_server(entry: &RegisteredTool) -> &str {
    match &entry.tool.details.binding {
        Binding::Server { tool, .. } => tool,
        // A quarantined tool has no binding; its name is the best guess.
        _ => entry.tool.name.as_str(),
    }
}

/// A command of the definition, with what it leaves open taken from the server.
///
/// What the definition says is never replaced. If the server's tool is quarantined, the command is
/// too, unless it brings a schema of its own.
fn fill_in_from_server(own: &Arc<RegisteredTool>, served: &RegisteredTool) -> Arc<RegisteredTool> {
    let quarantine = |reason: String| {
        Arc::new(RegisteredTool::quarantined(
            own.id.clone(),
            own.tool.clone(),
            Arc::clone(&own.concurrency),
            reason,
        ))
    };
    match &served.status {
        ToolStatus::Ready => {}
        // The server's description is invalid. That matters only where the definition needs it.
        ToolStatus::Quarantined(_) if own.tool.input != InputSchema::Deferred => {
            return Arc::clone(own);
        }
        ToolStatus::Quarantined(reason) => return quarantine(format!("on the server: {reason}")),
    }
    let (mut tool, theirs) = (Tool::clone(&own.tool), &served.tool);
    tool.hash = merged_hash(&tool.hash, &theirs.hash);
    if tool.input == InputSchema::Deferred {
        tool.input = theirs.input.clone();
    }
    // A function of the definition makes the result, so the schema of the server does not describe
    // it.
    if !own.knowledge.as_ref().is_some_and(|knowledge| knowledge.makes_result(tool.name.as_str())) {
        tool.output = tool.output.or_else(|| theirs.output.clone());
    }
    tool.description = tool.description.or_else(|| theirs.description.clone());
    let (details, theirs) = (&mut tool.details, &theirs.details);
    details.title = details.title.take().or_else(|| theirs.title.clone());
    details.meta = details.meta.take().or_else(|| theirs.meta.clone());
    // All or none: hints of two authors about one tool could contradict each other.
    if details.annotations == Annotations::default() {
        details.annotations = theirs.annotations.clone();
    }
    // Not for the author to decide: the server refuses calls that it does not allow.
    for (format, members) in theirs.rest.iter() {
        if let Some(execution) = members.get("/execution") {
            details.rest.keep(format, "/execution", execution.clone());
        }
    }
    if details.icons.is_empty() {
        details.icons.clone_from(&theirs.icons);
    }
    match RegisteredTool::new(
        own.id.clone(),
        tool,
        own.toolset_limits,
        Arc::clone(&own.concurrency),
    ) {
        Ok(mut entry) => {
            entry.environment.clone_from(&own.environment);
            entry.place.clone_from(&own.place);
            entry.knowledge.clone_from(&own.knowledge);
            entry.pinned_as = own.pinned_as.iter().chain(&served.pinned_as).cloned().collect();
            entry.trust.clone_from(&own.trust);
            entry.code.clone_from(&own.code);
            entry.toolset_hash = merged_hash(&own.toolset_hash, &served.toolset_hash);
            Arc::new(entry)
        }
        // Each schema was compiled before, on one side or the other, so this is not expected.
        Err((which, error)) => quarantine(format!("its `{which}` cannot be used: {error}")),
    }
}

/// The hash of a definition and of what its server lists, if both are known.
fn merged_hash(own: &Option<ContentHash>, served: &Option<ContentHash>) -> Option<ContentHash> {
    Some(content_hash::merged(own.as_ref()?, served.as_ref()?))
}
