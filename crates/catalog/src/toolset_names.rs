//! The names of all toolsets, to find those that several have: a grant by name must not hold for a
//! definition that somebody puts into a folder under the name of another one.
//!
//! ```text
//! source that is a server ── its namespace, before it has answered ─┐
//! entries, definitions ───── namespace and content hash ────────────┴─▶ name ─▶ its owners
//! ```
//!
//! A name with two owners is shared. Grants by name hold then only for a toolset that the command
//! line or the configuration names itself (`ToolTrust::shares_name`). While one of these cannot be
//! read, its name is not known, and every name may be shared.

use std::collections::{BTreeMap, BTreeSet};

use toolwright_exec::{RegisteredTool, ToolTrust, toolset_name};
use toolwright_source::codes::DUPLICATE_ID;
use toolwright_workspace::{PolicySubjects, SourceSpec, SourceTarget};

use crate::server_definition::ServerDefinition;
use crate::source_state::SourceState;

/// Which toolsets have which name.
#[derive(Default)]
pub(crate) struct ToolsetNames {
    /// By name: what tells the owner from others, and how a person knows it.
    owners: BTreeMap<String, BTreeMap<String, String>>,
    /// The sources that a person has named and whose tools are not known.
    ///
    /// As long as there is one, every name counts as shared: what cannot be read may have any name.
    unread: BTreeSet<String>,
}

impl ToolsetNames {
    /// The names of these sources.
    pub(crate) fn of_states<'s>(states: impl Iterator<Item = &'s SourceState>) -> ToolsetNames {
        let mut names = ToolsetNames::default();
        states.for_each(|state| names.add_source(state));
        names
    }

    /// A server is known by its namespace before it has answered, since the configuration gives it.
    fn add_source(&mut self, state: &SourceState) {
        if state.is_unread() {
            self.unread.insert(state.spec.name.clone());
        }
        if let SourceTarget::Server(_, Some(namespace)) = &state.spec.target {
            let label = format!("the server `{}`", state.spec.name);
            self.add(namespace.as_str(), format!("source {}", state.spec.name), label);
            return;
        }
        for toolset in &state.server_toolsets {
            self.add_definition(&toolset.definition);
        }
        self.add_tools(state.entries.iter().map(|entry| &**entry));
    }

    /// The names of tools that are loaded from files and programs.
    pub(crate) fn add_tools<'t>(&mut self, tools: impl Iterator<Item = &'t RegisteredTool>) {
        for tool in tools {
            let file = tool.place.as_deref().and_then(file_of);
            let file = file.map_or_else(|| tool.trust.source.to_string(), str::to_owned);
            self.add(&toolset_name(tool), identity(&tool.trust), format!("`{file}`"));
        }
    }

    /// The definition and the tools of its server have one owner, by the content of the definition.
    pub(crate) fn add_definition(&mut self, definition: &ServerDefinition) {
        let file = definition.origin.document().source().name();
        let label = format!("`{file}`");
        self.add(definition.namespace.as_str(), identity(&definition.trust), label);
    }

    /// Two owners of one identity are one.
    fn add(&mut self, name: &str, owner: String, label: String) {
        self.owners.entry(name.to_owned()).or_default().insert(owner, label);
    }

    /// A source whose tools are being loaded, and whether all of it could be read.
    pub(crate) fn add_loading(&mut self, spec: &SourceSpec, is_read: bool) {
        if !is_read && is_named_file(spec) {
            self.unread.insert(spec.name.clone());
        }
    }

    /// Whether several toolsets have this name, or may have it.
    pub(crate) fn is_shared(&self, name: &str) -> bool {
        !self.unread.is_empty() || self.owners.get(name).is_some_and(|owners| owners.len() > 1)
    }

    /// A sentence about each name that several have, by name.
    ///
    /// The catalog logs each of them once. At most three owners are named.
    pub(crate) fn sentences(&self) -> BTreeMap<String, String> {
        let shared = self.owners.iter().filter(|(_, owners)| owners.len() > 1);
        let sentence = |(name, owners): (&String, &BTreeMap<String, String>)| {
            let labels: BTreeSet<&str> = owners.values().map(String::as_str).collect();
            let labels = labels.into_iter().take(3).collect::<Vec<_>>().join(", ");
            let text = format!(
                "`{name}` is the name of several toolsets ({labels}): grants by name do not hold \
                 for those that were found in a folder ({})",
                DUPLICATE_ID.name
            );
            (name.clone(), text)
        };
        shared.map(sentence).collect()
    }

    /// A sentence about the sources whose names are not known, if grants by name matter.
    ///
    /// At most three sources are named; `None` if all are read.
    pub(crate) fn unread_sentence(&self) -> Option<String> {
        let names: Vec<String> = self.unread.iter().take(3).map(|it| format!("`{it}`")).collect();
        (!names.is_empty()).then(|| {
            format!(
                "not all of {} could be read: until then, grants by name do not hold for \
                 definitions that were found in a folder",
                names.join(", ")
            )
        })
    }
}

/// Whether a person has named this source, and its files say under which name its tools are.
pub(crate) fn is_named_file(spec: &SourceSpec) -> bool {
    match &spec.target {
        SourceTarget::Definitions(path) => !path.is_dir(),
        SourceTarget::Program(_) | SourceTarget::Executables(_) => true,
        SourceTarget::Server(..) | SourceTarget::Builtin(..) => false,
    }
}

/// What tells a toolset from others of its name: its content, so that two copies of one file, and
/// a definition and the tools of its server, are one.
fn identity(trust: &ToolTrust) -> String {
    match &trust.toolset_hash {
        Some(hash) => hash.to_string(),
        None => format!("source {}", trust.source),
    }
}

/// The file of a place `FILE:LINE:COLUMN`.
fn file_of(place: &str) -> Option<&str> {
    place.rsplitn(3, ':').nth(2)
}

/// The names that rules and grants can be about.
///
/// For the warnings about rules and grants that match nothing. `incomplete` are toolsets whose
/// tools are not known yet: nothing is reported about them.
pub(crate) fn policy_subjects(states: &[SourceState]) -> PolicySubjects {
    let mut subjects = PolicySubjects::default();
    let names = ToolsetNames::of_states(states.iter());
    subjects.toolsets.extend(names.owners.into_keys());
    for state in states {
        subjects.sources.insert(state.spec.name.clone());
        for tool in state.tools() {
            subjects.toolsets.insert(toolset_name(tool));
            subjects.tools.insert(tool.id.to_string());
            subjects.capabilities.extend(tool.trust.declared.iter().map(ToString::to_string));
        }
        // A server that failed, or that nobody has allowed to start, has not listed its tools.
        let unlisted = state.server_toolsets.iter().filter(|toolset| !toolset.is_listed());
        let unlisted = unlisted.map(|toolset| toolset.definition.namespace.to_string());
        subjects.incomplete.extend(unlisted);
        if let SourceTarget::Server(_, Some(namespace)) = &state.spec.target
            && state.entries.is_empty()
        {
            subjects.incomplete.insert(namespace.to_string());
        }
    }
    subjects
}
