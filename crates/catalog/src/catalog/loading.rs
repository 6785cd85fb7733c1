//! Loads one source, or the list of a server that a definition names, and puts the result into its
//! state: read, gate, compare with the pins, publish. When that happens is decided elsewhere.
//!
//! ```text
//! load_source ─ documents ─▶ check_for_gate ─▶ gate ─▶ GateResult of each
//!                                               │
//! begin_load ── number of the load ─────────────┼─▶ apply_load ─▶ SourceState ─▶ publish_tools
//!                                               └─▶ parts for the pins
//! ```
//!
//! Loads of one source can overlap: a server reports a change while its answer is being read. Each
//! load gets a number when it begins, and a result is dropped if a load with a higher number was
//! applied before. The states are not locked in between, since a load may take seconds; so
//! everything that is read of them is read again when the result is applied.
//!
//! A load that fails and brings no tool takes none away. It is published as an event, and what was
//! loaded before stays, because a server that restarts has the same tools a moment later.

use std::sync::Arc;

use toolwright_exec::Failure;
use toolwright_formats::Reading;
use toolwright_model::FieldValue;
use toolwright_source::TextOrigin;
use toolwright_workspace::code_files::DocumentCode;
use toolwright_workspace::pinned_parts::{
    PinList, PinnedPart, instructions_part, program_part, tool_parts,
};
use toolwright_workspace::{
    CodeSelection, DefinitionAuthors, LoadedDocument, SourceSpec, SourceTarget,
    find_suspicious_texts,
};

use super::{Catalog, CatalogEvent};
use crate::draining::DrainingServers;
use crate::gate::{ConcurrencyLimits, GateResult, GatedDocument, gate};
use crate::live_sources::{
    SourceFailure, SourceLoad, ToolAnswer, ask_tools, load_source, read_answer, while_blocking,
};
use crate::pin_subject::{PinSubject, configured_code};
use crate::server_definition::{ListedTools, ServerDefinition, SuspiciousTexts};
use crate::source_state::SourceState;
use crate::suspicious_texts;
use crate::toolset_names::ToolsetNames;

impl Catalog {
    /// Loads one source and publishes its tools. Returns what could not be loaded: the source, or
    /// single programs of a folder.
    ///
    /// A failure was published as an event already; the return value is for callers that count.
    pub(super) async fn load_one(&self, spec: &SourceSpec) -> Vec<SourceFailure> {
        let number = self.begin_load(spec);
        let load = load_source(spec, &self.workspace, self.runner.context()).await;
        self.apply_load(spec, number, load)
    }

    /// Publishes the tools of a server that is a source, from its answer. Returns the failure if
    /// there is no answer.
    ///
    /// Called by the task of the server, which has asked it, and for a cached answer.
    pub(crate) fn load_answer(
        &self,
        spec: &SourceSpec,
        answer: Result<Arc<ToolAnswer>, Failure>,
    ) -> Vec<SourceFailure> {
        let number = self.begin_load(spec);
        let mut load = SourceLoad::default();
        match (&spec.target, answer) {
            (SourceTarget::Server(server, namespace), Ok(answer)) => {
                let read =
                    || read_answer(spec, server, namespace.as_ref(), &answer, &self.workspace);
                load.found.documents.push(while_blocking(read));
            }
            (_, Err(failure)) => {
                load.failures.push(SourceFailure { source: spec.name.clone(), failure });
            }
            // Called for servers only.
            _ => {}
        }
        self.apply_load(spec, number, load)
    }

    /// The number of a load of this source that begins now; 0 if the source was removed meanwhile.
    ///
    /// 0 is never accepted, since the number of an applied load is not smaller.
    fn begin_load(&self, spec: &SourceSpec) -> u64 {
        let mut states = self.states();
        states.iter_mut().find(|state| state.spec == *spec).map_or(0, SourceState::begin_load)
    }

    /// Publishes what was loaded from a source, unless a newer load has ended before. In this
    /// order, which others rely on: problems and notes to the log; differences to the pins; names
    /// of toolsets, since `may_start` needs them; then the state of the source, and the tools of
    /// all sources at the end.
    ///
    /// What it leaves alone: the tools of a source that failed and brought none, and a source that
    /// is not in the plan any more. The states are locked once at the end, and stay so until the
    /// tools are published: `publish_tools` takes the lock over.
    fn apply_load(&self, spec: &SourceSpec, number: u64, load: SourceLoad) -> Vec<SourceFailure> {
        let SourceLoad { found, failures } = load;
        let is_named = |document: &LoadedDocument| {
            let reading = document.reading.as_ref();
            reading.is_some_and(|it| !matches!(it.toolset.namespace, FieldValue::Invalid(_)))
        };
        let is_read = failures.is_empty()
            && found.failures.is_empty()
            && found.unparsed.is_empty()
            && found.documents.iter().all(is_named);
        for failure in &failures {
            self.publish_event(CatalogEvent::SourceFailure(failure.clone()));
        }
        for error in found.failures {
            self.publish_event(CatalogEvent::LoadFailure(error));
        }
        for name in &found.unparsed {
            let text = format!("`{name}` could not be parsed and is skipped");
            self.publish_event(CatalogEvent::Note(text));
        }
        let limits = self.runner.limits();
        let mut entries = Vec::new();
        let mut body_files = Vec::new();
        let mut definitions = Vec::new();
        let mut concurrency = self.concurrency_limits_of(spec);
        let selection = self.selection_if_watched(spec);
        let mut suspicious = Vec::new();
        let mut pinned = Vec::new();
        let mut documents = found.documents;
        // Schemas of a thousand tools take a second to compile; calls go on meanwhile.
        let results: Vec<GateResult> = while_blocking(|| {
            self.workspace.check_for_gate(&mut documents, &self.selection(), authors_of(spec));
            let gated = |loaded: LoadedDocument| {
                if let (Some(selection), Some(reading)) = (&selection, &loaded.reading) {
                    suspicious.extend(find_suspicious_texts(reading, selection));
                }
                let reading = loaded.reading.as_ref();
                let document = reading.map_or("", |it| it.origin.document().source().name());
                let subject = PinSubject::of(spec, document);
                // Read once, so that pins, grants and calls are about the same code.
                let implementations = spec.implementations.as_deref();
                let code = reading.map(|reading| DocumentCode::read(reading, implementations));
                let code = code.unwrap_or_default();
                if let Some(reading) = reading.filter(|_| self.pins().is_some()) {
                    pinned.extend(pinned_lists(spec, &subject, reading, &code));
                }
                let document =
                    GatedDocument { toolset: &subject.key, code: &code, pins: self.pins() };
                gate(loaded, &limits, spec, &document, &mut concurrency)
            };
            documents.into_iter().map(gated).collect()
        });
        for result in results {
            self.publish_problems(result.diagnostics);
            entries.extend(result.entries);
            body_files.extend(result.body_files);
            definitions.extend(result.definition);
        }
        // A load without any tool that also failed changes nothing: while a server restarts, its
        // tools stay listed, and calls of them wait for it or report that it is unavailable.
        let replaces = failures.is_empty() || !entries.is_empty();
        if replaces {
            let own = definitions.iter().flat_map(|it| it.own.iter().map(|(_, entry)| entry));
            self.publish_loaded(&spec.name, entries.iter().chain(own));
            self.publish_notes(suspicious_texts::sentences(spec, &suspicious));
            while_blocking(|| {
                for (subject, list, parts) in pinned {
                    self.observe(&subject, list, parts);
                }
                if let Some(pins) = self.pins() {
                    pins.note_folder(spec);
                }
            });
        }
        let mut states = self.states();
        // Before a server of a definition is started by its name.
        let others = states.iter().filter(|state| state.spec != *spec);
        let mut names = ToolsetNames::of_states(others);
        names.add_loading(spec, is_read);
        definitions.iter().for_each(|definition| names.add_definition(definition));
        names.add_tools(entries.iter().map(|entry| &**entry));
        *self.names() = names;
        // Not found if a new configuration removed the source during the load.
        if let Some(state) = states.iter_mut().find(|state| state.spec == *spec)
            && state.accepts_load(number)
        {
            state.tried = true;
            state.is_read = is_read;
            state.concurrency.extend(concurrency);
            state.body_files = body_files;
            let before = state.servers();
            state.set_server_definitions(definitions, |definition| self.may_start(definition));
            let after = state.servers();
            let dropped = before.into_iter().filter(|server| !after.contains(server)).collect();
            self.drain(DrainingServers::new(dropped, state, &self.runner));
            if replaces {
                state.entries = entries;
            }
        }
        self.publish_tools(states);
        failures
    }

    /// The concurrency limits that a source's toolsets have now. A load works on a copy, because
    /// the states are not locked while it waits. The limits themselves are shared: calls of the
    /// tools before and after the load count together.
    fn concurrency_limits_of(&self, spec: &SourceSpec) -> ConcurrencyLimits {
        let states = self.states();
        let state = states.iter().find(|state| state.spec == *spec);
        state.map(|state| state.concurrency.clone()).unwrap_or_default()
    }

    /// Which codes are reported, if a task keeps this source loaded. Commands that load once do not
    /// judge texts: `check` does, and they pass no list on to a model.
    fn selection_if_watched(&self, spec: &SourceSpec) -> Option<Arc<CodeSelection>> {
        let is_watched = self.states().iter().any(|state| state.spec == *spec && state.has_task);
        is_watched.then(|| self.selection())
    }

    /// Asks the server that a definition names for its tools, and merges its list with the
    /// definition. Returns the failure if the server gave no list.
    pub(super) async fn load_server_definition(
        &self,
        spec: &SourceSpec,
        definition: &Arc<ServerDefinition>,
    ) -> Vec<SourceFailure> {
        let upstream = self.runner.context().upstreams.get(&definition.server);
        let answer = ask_tools(&upstream).await.map(Arc::new);
        self.load_definition_answer(spec, definition, answer)
    }

    /// Merges a definition with the answer of the server that it names. Returns the failure if
    /// there is no answer.
    ///
    /// The definition is recognised by identity when the result is applied, since a reload of its
    /// file may have replaced it by an equal one.
    ///
    /// As in `apply_load`, a failure leaves the tools of before in place.
    pub(crate) fn load_definition_answer(
        &self,
        spec: &SourceSpec,
        definition: &Arc<ServerDefinition>,
        answer: Result<Arc<ToolAnswer>, Failure>,
    ) -> Vec<SourceFailure> {
        let limits = self.runner.limits();
        let mut concurrency = self.concurrency_limits_of(spec);
        let texts = match self.selection_if_watched(spec) {
            Some(_) => SuspiciousTexts::Reported,
            None => SuspiciousTexts::Ignored,
        };
        let selection = self.selection();
        let read = |answer: Arc<ToolAnswer>| {
            let judged = (&*selection, texts);
            while_blocking(|| {
                definition.read(&answer, spec, &self.workspace, judged, &limits, &mut concurrency)
            })
        };
        let instructions = answer.as_ref().ok().and_then(|answer| answer.instructions.clone());
        let (merged, failures) = match answer.map(read) {
            Ok(ListedTools { entries: listed, diagnostics, suspicious, subject, parts }) => {
                while_blocking(|| {
                    self.observe(&subject, PinList::Tools, parts);
                    let instructions = instructions_part(instructions.as_deref());
                    self.observe(&subject, PinList::Instructions, instructions);
                });
                let (tools, missing) = definition.merge(&listed);
                self.publish_problems(diagnostics);
                self.publish_problems(missing);
                self.publish_loaded(definition.namespace.as_str(), tools.iter());
                self.publish_notes(suspicious);
                (Some((listed, tools)), Vec::new())
            }
            Err(failure) => {
                let failure = SourceFailure { source: definition.namespace.to_string(), failure };
                self.publish_event(CatalogEvent::SourceFailure(failure.clone()));
                (None, vec![failure])
            }
        };
        let mut states = self.states();
        if let Some(state) = states.iter_mut().find(|state| state.spec == *spec) {
            state.concurrency.extend(concurrency);
            // By identity: a reload of the file during the request made a new definition, which
            // has a task of its own.
            let mut toolsets = state.server_toolsets.iter_mut();
            let toolset = toolsets.find(|toolset| Arc::ptr_eq(&toolset.definition, definition));
            if let Some(toolset) = toolset {
                toolset.tried = true;
                // After a failure the previous tools stay listed, as in `load_one`.
                if let Some((listed, tools)) = merged {
                    toolset.set_tools(listed, tools);
                }
            }
        }
        self.publish_tools(states);
        failures
    }
}

/// The lists of a document that are pinned. Standard input has no name under which it could be.
///
/// The instructions of a server are a list of their own, because a change of them concerns no tool.
fn pinned_lists(
    spec: &SourceSpec,
    subject: &PinSubject,
    reading: &Reading,
    code: &DocumentCode,
) -> Vec<(PinSubject, PinList, Vec<PinnedPart>)> {
    if matches!(reading.origin.document().source().origin(), TextOrigin::Input) {
        return Vec::new();
    }
    let mut parts = tool_parts(reading, code);
    let mut lists = Vec::new();
    if let SourceTarget::Server(server, _) = &spec.target {
        parts.push(program_part(server, &configured_code(server, spec.anchor.as_ref())));
        let instructions = instructions_part(reading.toolset.instructions.as_deref());
        lists.push((subject.clone(), PinList::Instructions, instructions));
    }
    lists.push((subject.clone(), PinList::Tools, parts));
    lists
}

/// Whether the definitions of a source are the user's own.
///
/// What a server lists is foreign: nobody here can edit it.
fn authors_of(spec: &SourceSpec) -> DefinitionAuthors {
    match spec.target.is_listed() {
        true => DefinitionAuthors::Foreign,
        false => DefinitionAuthors::Reachable,
    }
}
