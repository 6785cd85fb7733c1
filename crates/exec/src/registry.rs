//! The tools that can be called, by id.
//!
//! A registry never changes once the runner has it: after a reload the catalog builds a new one and
//! the runner swaps them. A running call keeps its [`RegisteredTool`], so a reload does not change
//! its schema in the middle of a call.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::Arc;

use toolwright_model::{
    Binding, ContentHash, DeclaredLimits, Namespace, Server, Tool, ToolId, Version, VersionedRef,
};
use toolwright_schema::{SchemaError, SchemaValidator};

use crate::knowledge::{KnowledgeFunction, RunnableKnowledge};
use crate::mcp;
use crate::{ConcurrencyLimit, LoadedCode, ToolTrust};

/// The similarity (Jaro-Winkler, 0 to 1) above which an id is suggested for a misspelled one. Low
/// enough for swapped letters and a missing underscore, high enough that unrelated names are not
/// suggested; the tests of the runner have examples of both.
const SIMILAR: f64 = 0.75;
/// Bytes of an id for which others are suggested. A namespace and a name have fewer.
const MAX_COMPARED: usize = 300;
/// How many ids are suggested at most.
const SUGGESTIONS: usize = 3;

/// Whether a tool may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolStatus {
    /// Its definition passed the gate.
    Ready,
    /// Its definition has errors, so calls are refused; the text is the first error.
    Quarantined(String),
}

/// The name of a tool among the pins of a toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedTool {
    /// The key of the toolset.
    pub toolset: Arc<str>,
    /// The name of the tool there.
    pub name: String,
}

/// A tool with everything that a call of it needs.
#[derive(Clone, Debug)]
pub struct RegisteredTool {
    /// The id that callers use.
    pub id: ToolId,
    /// The namespace that its server gives to it, if the id has that of the configuration.
    pub claimed_namespace: Option<Namespace>,
    /// The definition, shared with its toolset.
    pub tool: Arc<Tool>,
    /// Where it is defined, `FILE:LINE:COLUMN`; `None` for tools of servers and programs.
    pub place: Option<Box<str>>,
    /// Whether it may be called.
    pub status: ToolStatus,
    /// The limits that its toolset declares; those of the tool itself take precedence.
    pub toolset_limits: DeclaredLimits,
    /// The content hash of its toolset; `None` if it does not come from a catalog.
    pub toolset_hash: Option<ContentHash>,
    /// How many calls may run at once, shared with the other tools of the toolset.
    pub concurrency: Arc<ConcurrencyLimit>,
    /// Variables that its source adds to the environment of its programs.
    pub environment: Vec<(OsString, OsString)>,
    /// Validators, processors and known mistakes of its toolset, if it has any.
    pub knowledge: Option<Arc<RunnableKnowledge>>,
    /// The toolsets under whose pins it is, and its name there: its definition and its server may
    /// both be pinned.
    pub pinned_as: Vec<PinnedTool>,
    /// What a caller of the quarantined tool can do, such as the command that shows its errors.
    pub remedy: Option<Box<str>>,
    /// Its JavaScript body, or why it has none. The catalog sets it after looking for the file.
    pub body: Result<Arc<KnowledgeFunction>, Box<str>>,
    /// What the policy has to know of it.
    pub trust: ToolTrust,
    /// The files with its code, if it has any.
    pub code: Option<Arc<dyn LoadedCode>>,
    /// The compiled schemas; absent only for a quarantined tool.
    pub(crate) validator: Option<Arc<SchemaValidator>>,
}

impl RegisteredTool {
    /// Values of the configuration that belong to it, in all forms in which they may be written:
    /// variables and headers. They may be secret.
    pub(crate) fn secrets(&self) -> Vec<String> {
        forms_of_secrets(self.secret_values())
    }

    /// Short values are left out later, by `forms_of_secrets`.
    fn secret_values(&self) -> impl Iterator<Item = &str> {
        let variables = self.environment.iter().filter_map(|(_, value)| value.to_str());
        let server = match &self.tool.details.binding {
            Binding::Server { server, .. } => Some(server),
            _ => None,
        };
        let of_server = server.into_iter().flat_map(|it| it.environment.iter().chain(&it.headers));
        let of_server = of_server.filter_map(|variable| variable.value.as_deref());
        variables.chain(of_server)
    }

    /// A tool that may be called. Compiles its schemas, so that a call does not have to.
    ///
    /// # Errors
    /// The first schema that does not compile: `inputSchema` or `outputSchema`, and why.
    pub fn new(
        id: ToolId,
        tool: impl Into<Arc<Tool>>,
        toolset_limits: DeclaredLimits,
        concurrency: Arc<ConcurrencyLimit>,
    ) -> Result<RegisteredTool, (&'static str, SchemaError)> {
        let tool = tool.into();
        let validator = SchemaValidator::new(tool.input.to_json(), tool.output.as_ref())
            .map_err(|error| (error.side.field(), error.error))?;
        Ok(RegisteredTool::with_validator(id, tool, validator, toolset_limits, concurrency))
    }

    /// A tool that may be called, whose schemas are compiled already.
    pub fn with_validator(
        id: ToolId,
        tool: impl Into<Arc<Tool>>,
        validator: SchemaValidator,
        toolset_limits: DeclaredLimits,
        concurrency: Arc<ConcurrencyLimit>,
    ) -> RegisteredTool {
        let mut registered = RegisteredTool::without_schemas(id, tool, concurrency);
        registered.toolset_limits = toolset_limits;
        registered.validator = Some(Arc::new(validator));
        registered
    }

    /// A tool that exists and is refused when called. Its schemas are not compiled: they may be
    /// the reason for the quarantine.
    pub fn quarantined(
        id: ToolId,
        tool: impl Into<Arc<Tool>>,
        concurrency: Arc<ConcurrencyLimit>,
        reason: impl Into<String>,
    ) -> RegisteredTool {
        let mut registered = RegisteredTool::without_schemas(id, tool, concurrency);
        registered.status = ToolStatus::Quarantined(reason.into());
        registered
    }

    /// The same tool, refused when called. One that is refused already keeps its reason.
    pub fn set_aside(&self, reason: String, remedy: String) -> RegisteredTool {
        let mut aside = self.clone();
        if aside.status == ToolStatus::Ready {
            aside.status = ToolStatus::Quarantined(reason);
            aside.remedy = Some(remedy.into());
        }
        aside
    }

    /// The same tool on another server.
    pub fn on_server(&self, server: &Arc<Server>) -> RegisteredTool {
        let mut moved = self.clone();
        let mut tool = Tool::clone(&self.tool);
        if let Binding::Server { server: own, .. } = &mut tool.details.binding {
            *own = Arc::clone(server);
        }
        moved.tool = Arc::new(tool);
        moved
    }

    /// Ready, but without a validator; the callers set one of the two right.
    fn without_schemas(
        id: ToolId,
        tool: impl Into<Arc<Tool>>,
        concurrency: Arc<ConcurrencyLimit>,
    ) -> RegisteredTool {
        RegisteredTool {
            id,
            claimed_namespace: None,
            tool: tool.into(),
            place: None,
            status: ToolStatus::Ready,
            toolset_limits: DeclaredLimits::default(),
            toolset_hash: None,
            concurrency,
            environment: Vec::new(),
            knowledge: None,
            pinned_as: Vec::new(),
            remedy: None,
            body: Err("no file was searched for one".into()),
            trust: ToolTrust::default(),
            code: None,
            validator: None,
        }
    }
}

/// The tools that can be called, ordered by id. An id means the newest version of its tool;
/// `namespace:name:version` means that version.
#[derive(Clone, Debug, Default)]
pub struct ToolRegistry {
    /// The newest version of each tool, by id; of those that a person has named, if there are any.
    tools: BTreeMap<String, Arc<RegisteredTool>>,
    /// By id and [`Version::release`]. Holds the versions of an id that has several, which is rare.
    versions: BTreeMap<(String, String), Arc<RegisteredTool>>,
}

/// All forms in which these values may be written, the longest first, so that a part does not spoil
/// the whole.
fn forms_of_secrets<'v>(values: impl Iterator<Item = &'v str>) -> Vec<String> {
    // Shorter ones are in many texts by chance.
    let values: BTreeSet<&str> = values.filter(|value| value.len() >= 8).collect();
    let mut forms: Vec<String> = values.into_iter().flat_map(mcp::forms_of).collect();
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms
}

impl ToolRegistry {
    /// [`RegisteredTool::secrets`] of all tools.
    pub(crate) fn secrets(&self) -> Vec<String> {
        forms_of_secrets(self.iter().flat_map(|tool| tool.secret_values()))
    }

    /// Adds a tool whose id is not taken yet, or is taken by other versions of it.
    ///
    /// A tool that a person has named comes before one that was found in a folder, whatever their
    /// order and versions: who can write to the folder must not take the id of another tool.
    ///
    /// # Errors
    /// Returns the tool that is left out if the id is taken.
    pub fn add(&mut self, tool: Arc<RegisteredTool>) -> Result<(), Arc<RegisteredTool>> {
        let id = tool.id.to_string();
        let Some(known) = self.tools.get(&id) else {
            self.tools.insert(id, tool);
            return Ok(());
        };
        let replaces = |known: &RegisteredTool| tool.trust.is_named && !known.trust.is_named;
        let is_before = replaces(known);
        // Two tools share an id only if both have a version, because a call selects one by it.
        let (Some(own), Some(newest)) = (&tool.tool.version, &known.tool.version) else {
            if !is_before {
                return Err(tool);
            }
            self.versions.retain(|(other, _), _| *other != id);
            return Err(self.tools.insert(id, Arc::clone(&tool)).unwrap_or(tool));
        };
        let key = |version: &Version| (id.clone(), version.release());
        let (own_key, newest_key) = (key(own), key(newest));
        let same = match own_key == newest_key {
            true => Some(known),
            false => self.versions.get(&own_key),
        };
        let left_out = same.map(Arc::clone);
        if left_out.as_deref().is_some_and(|same| !replaces(same)) {
            return Err(tool);
        }
        let is_after = known.trust.is_named && !tool.trust.is_named;
        let is_newest = is_before || (!is_after && own.precedence(newest).is_gt());
        if own_key != newest_key {
            self.versions.insert(newest_key, Arc::clone(known));
            self.versions.insert(own_key, Arc::clone(&tool));
        } else if let Some(version) = self.versions.get_mut(&own_key) {
            *version = Arc::clone(&tool);
        }
        if is_newest {
            self.tools.insert(id, tool);
        }
        left_out.map_or(Ok(()), Err)
    }

    /// The tool with exactly this id, in its newest version, or the version that follows the id,
    /// as in `namespace:name:version`. Programs use this: a bare name that means one tool today may
    /// mean two tomorrow.
    pub fn get(&self, id: &str) -> Option<&Arc<RegisteredTool>> {
        self.tools.get(id).or_else(|| self.get_version(id))
    }

    /// The tool of an id that a version follows. An id without namespace has one, too:
    /// `name:1.0.0`.
    fn get_version(&self, reference: &str) -> Option<&Arc<RegisteredTool>> {
        let (id, version) = reference.rsplit_once(':')?;
        let version = Version::parse(version).ok()?.release();
        let only = || {
            let tool = self.tools.get(id)?;
            (tool.tool.version.as_ref()?.release() == version).then_some(tool)
        };
        self.versions.get(&(id.to_owned(), version.clone())).or_else(only)
    }

    /// The versions of the tool that a `namespace:name:version` names, the newest first, of those
    /// that `may_see` accepts; empty if there is no such tool, or `id` has no version.
    pub fn versions_of(
        &self,
        id: &str,
        may_see: impl Fn(&RegisteredTool) -> bool,
    ) -> Vec<&Version> {
        let Some(reference) = VersionedRef::parse(id).ok().filter(|it| it.version.is_some()) else {
            return Vec::new();
        };
        let id = reference.id.to_string();
        let several = self.versions.iter().filter(|((own, _), _)| *own == id);
        let mut tools: Vec<&Arc<RegisteredTool>> = several.map(|(_, tool)| tool).collect();
        if tools.is_empty() {
            tools.extend(self.tools.get(&id));
        }
        tools.retain(|tool| may_see(tool));
        let mut versions: Vec<&Version> =
            tools.into_iter().filter_map(|tool| tool.tool.version.as_ref()).collect();
        versions.sort_by(|a, b| b.precedence(a));
        versions
    }

    /// The tool that a person means: by its id, or by a bare name that only one tool has. The name
    /// by which a tool's server knows it counts, too, with and without the namespace: an id has
    /// another one where the server's cannot be part of an id. The namespace may be the one that
    /// the server claims, if no tool has an id in it: a server cannot take the name of another.
    pub fn find(&self, id: &str) -> Option<&Arc<RegisteredTool>> {
        let is_meant = |tool: &RegisteredTool| {
            let own = match &tool.tool.details.binding {
                Binding::Server { tool: own, .. } => own.as_str(),
                _ => tool.tool.name.as_str(),
            };
            let bare_in = |namespace: &Option<Namespace>| {
                id.strip_prefix(namespace.as_ref()?.as_str())?.strip_prefix(':')
            };
            let is_claimed = |name: &str| {
                (name == own || name == tool.tool.name.as_str())
                    && !self.has_namespace(&tool.claimed_namespace)
            };
            tool.tool.name.as_str() == id
                || own == id
                || bare_in(&tool.id.namespace) == Some(own)
                || bare_in(&tool.claimed_namespace).is_some_and(is_claimed)
        };
        let other = || {
            let mut found = self.tools.values().filter(|tool| is_meant(tool));
            found.next().filter(|_| found.next().is_none())
        };
        self.get(id).or_else(other)
    }

    /// All tools in all their versions.
    pub fn all_versions(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        let has_several = |id: &String| {
            let next = self.versions.range((id.clone(), String::new())..).next();
            next.is_some_and(|((own, _), _)| own == id)
        };
        let others = self.tools.iter().filter(move |(id, _)| !has_several(id));
        self.versions.values().chain(others.map(|(_, tool)| tool))
    }

    /// Whether the id of a tool has this namespace.
    pub fn has_namespace(&self, namespace: &Option<Namespace>) -> bool {
        self.tools.values().any(|tool| tool.id.namespace == *namespace)
    }

    /// All tools in their newest version, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.tools.values()
    }

    /// The number of tools, quarantined ones included.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Up to three ids that are similar to `id`, the most similar first, of tools that `may_see`
    /// accepts. A name without namespace is compared too, because callers often leave the namespace
    /// out.
    pub fn nearest(&self, id: &str, may_see: impl Fn(&RegisteredTool) -> bool) -> Vec<&str> {
        // The time of the comparison grows with the square of the length, and callers choose it.
        if id.len() > MAX_COMPARED {
            return Vec::new();
        }
        let wanted = id.to_lowercase();
        let score = |known: &str| {
            let known = known.to_lowercase();
            let name = known.rsplit(':').next().unwrap_or_default();
            let bare = wanted.rsplit(':').next().unwrap_or_default();
            strsim::jaro_winkler(&known, &wanted).max(strsim::jaro_winkler(name, bare))
        };
        let mut scored: Vec<(f64, &str)> = self
            .tools
            .iter()
            .filter(|(_, tool)| may_see(tool))
            .map(|(known, _)| (score(known), known.as_str()))
            .filter(|(score, _)| *score > SIMILAR)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        scored.into_iter().take(SUGGESTIONS).map(|(_, known)| known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greet(version: &str) -> Arc<RegisteredTool> {
        let tool = Tool::builder("greet").namespace("hello");
        let tool = if version.is_empty() { tool } else { tool.version(version) };
        let tool = tool.build().expect("a tool");
        let concurrency = Arc::new(ConcurrencyLimit::new(1, 0));
        Arc::new(RegisteredTool::quarantined(tool.id(None), tool, concurrency, "a test"))
    }

    fn found<'r>(registry: &'r ToolRegistry, id: &str) -> Option<&'r str> {
        let tool = registry.get(id)?;
        Some(tool.tool.version.as_ref().map_or("none", |version| version.authored()))
    }

    #[test]
    fn an_id_means_the_newest_version_and_a_reference_one_of_them() {
        let mut registry = ToolRegistry::default();
        assert!(registry.add(greet("1.9.0")).is_ok());
        // Also while there is one version only.
        assert_eq!(found(&registry, "hello:greet:v1.9.0"), Some("1.9.0"));
        assert_eq!(found(&registry, "hello:greet:1.10.0"), None);
        for version in ["v1.10.0", "1.10.0-rc.1", "0.9.0"] {
            assert!(registry.add(greet(version)).is_ok(), "{version}");
        }
        // The same version, or one that no reference tells from the others.
        for version in ["1.10.0", "v1.9.0+build", "0.9.0", ""] {
            assert!(registry.add(greet(version)).is_err(), "{version}");
        }
        for (id, version) in [
            ("hello:greet", Some("v1.10.0")),
            ("hello:greet:1.10.0", Some("v1.10.0")),
            ("hello:greet:1.10.0-rc.1", Some("1.10.0-rc.1")),
            ("hello:greet:1.9.0", Some("1.9.0")),
            ("hello:greet:0.9.0+any", Some("0.9.0")),
            ("hello:greet:2.0.0", None),
            ("hello:greet:", None),
            ("hello:greet:latest", None),
            ("greet:1.9.0", None),
        ] {
            assert_eq!(found(&registry, id), version, "{id}");
        }
        assert_eq!((registry.len(), registry.iter().count()), (1, 1));
        assert_eq!(registry.all_versions().count(), 4);
        let versions = registry.versions_of("hello:greet:2.0.0", |_| true);
        let versions: Vec<&str> = versions.into_iter().map(Version::authored).collect();
        assert_eq!(versions, ["v1.10.0", "1.10.0-rc.1", "1.9.0", "0.9.0"]);
        assert!(registry.versions_of("hello:greet", |_| true).is_empty());
        let mut registry = ToolRegistry::default();
        assert!(registry.add(greet("")).is_ok() && registry.add(greet("1.0.0")).is_err());
        assert_eq!(found(&registry, "hello:greet"), Some("none"));
        assert_eq!(registry.all_versions().count(), 1);
    }

    /// The same tool, found in a folder.
    fn met(version: &str) -> Arc<RegisteredTool> {
        let mut tool = greet(version);
        Arc::make_mut(&mut tool).trust.is_named = false;
        tool
    }

    #[test]
    fn a_tool_that_was_named_comes_before_one_that_was_found() {
        // In every order, and whatever the versions: is the id that of the tool that was named?
        for (named, others) in [
            ("1.0.0", &["9.0.0"][..]),
            ("1.0.0", &["1.0.0"]),
            ("1.0.0", &["9.0.0", "1.0.0", "0.5.0"]),
            ("1.0.0", &[""]),
            ("", &[""]),
            ("", &["9.0.0", "8.0.0"]),
        ] {
            for place in 0..=others.len() {
                let mut registry = ToolRegistry::default();
                let mut tools: Vec<_> = others.iter().map(|version| met(version)).collect();
                tools.insert(place, greet(named));
                let mut left_out = Vec::new();
                for tool in tools {
                    left_out.extend(registry.add(tool).err());
                }
                let case = format!("{named} at {place} among {others:?}");
                assert!(registry.get("hello:greet").expect(&case).trust.is_named, "{case}");
                assert!(left_out.iter().all(|tool| !tool.trust.is_named), "{case}");
                let all: Vec<bool> = registry.all_versions().map(|it| it.trust.is_named).collect();
                assert_eq!(all.iter().filter(|is_named| **is_named).count(), 1, "{case}");
                if !named.is_empty() {
                    let id = format!("hello:greet:{named}");
                    assert!(registry.get(&id).expect(&case).trust.is_named, "{case}");
                }
            }
        }
        // Among those that were found, the newest counts as before.
        let mut registry = ToolRegistry::default();
        assert!(registry.add(met("1.0.0")).is_ok() && registry.add(met("9.0.0")).is_ok());
        assert_eq!(found(&registry, "hello:greet"), Some("9.0.0"));
    }
}
