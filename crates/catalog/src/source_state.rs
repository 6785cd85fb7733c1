//! The state of one source in the catalog: its tools after the last load, and the tasks that keep
//! them up to date. Only data and the steps that replace it; loading is in `catalog`, which holds
//! all states behind one lock.
//!
//! ```text
//! SourceState ── entries ─────────▶ tools of files, programs, or of the source's own server
//!      └──────── server_toolsets ─▶ ServerToolset, one per definition that names a server
//!                                     ├ listed: the server's tools at its last answer
//!                                     └ tools: the definition merged with `listed`
//! ```

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolwright_exec::RegisteredTool;
use toolwright_model::Server;
use toolwright_workspace::{SourceSpec, SourceTarget};

use crate::gate::ConcurrencyLimits;
use crate::pin_subject::PinSubject;
use crate::server_definition::ServerDefinition;
use crate::server_offers::ServerOffers;
use crate::toolset_names::is_named_file;

/// One source of the plan and what was loaded from it.
pub(crate) struct SourceState {
    /// Identifies the source: a changed specification makes a new state.
    pub(crate) spec: SourceSpec,
    /// The tools that need no merging.
    pub(crate) entries: Vec<Arc<RegisteredTool>>,
    /// The definitions of this source that name an MCP server.
    pub(crate) server_toolsets: Vec<ServerToolset>,
    /// The concurrency limits of its toolsets. They outlive a reload, so that running calls count.
    pub(crate) concurrency: ConcurrencyLimits,
    /// What the source's own server offers besides tools.
    pub(crate) offers: Option<Arc<ServerOffers>>,
    /// The number of the last load that began.
    pub(crate) last_load: u64,
    /// The number of the load whose result is in here.
    pub(crate) applied_load: u64,
    /// The files in which the bodies of its tools were searched, whether they exist or not.
    pub(crate) body_files: Vec<PathBuf>,
    /// Whether a first attempt to load it has ended, with or without success.
    pub(crate) tried: bool,
    /// Whether the last load read everything. Otherwise a name of its toolsets may be unknown.
    pub(crate) is_read: bool,
    /// Whether its tools were listed by the server that the source had before it was changed.
    pub(crate) is_inherited: bool,
    /// Whether a task keeps it loaded. Always false in commands that load once.
    pub(crate) has_task: bool,
    /// Cancelled when the source leaves the plan; ends its tasks and those of its toolsets.
    pub(crate) removed: CancellationToken,
}

/// A definition that names an MCP server, and the tools that the server listed.
pub(crate) struct ServerToolset {
    /// The definition of the last load. Tasks compare it by identity to notice a reload.
    pub(crate) definition: Arc<ServerDefinition>,
    /// The server's list at its last answer; `None` before the first one.
    listed: Option<Vec<Arc<RegisteredTool>>>,
    /// The definition merged with `listed`; only the definition before the first answer.
    tools: Vec<Arc<RegisteredTool>>,
    /// What the server offers besides tools.
    pub(crate) offers: Option<Arc<ServerOffers>>,
    /// Whether a first request for the list has ended, with or without success.
    pub(crate) tried: bool,
    /// Whether a task keeps the list up to date.
    pub(crate) has_task: bool,
    /// Cancelled when a reload replaces or drops this definition; ends its task.
    pub(crate) removed: CancellationToken,
}

/// What one server of a source offers besides tools.
pub(crate) struct StateOffers<'s> {
    /// The name for people.
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) server: Arc<Server>,
    /// The pin subject of its lists.
    pub(crate) subject: PinSubject,
    pub(crate) offers: &'s Arc<ServerOffers>,
}

impl SourceState {
    /// A source that has not been loaded yet.
    pub(crate) fn new(spec: SourceSpec) -> SourceState {
        SourceState {
            spec,
            entries: Vec::new(),
            server_toolsets: Vec::new(),
            concurrency: ConcurrencyLimits::new(),
            offers: None,
            last_load: 0,
            applied_load: 0,
            body_files: Vec::new(),
            tried: false,
            is_read: false,
            is_inherited: false,
            has_task: false,
            removed: CancellationToken::new(),
        }
    }

    /// Takes over what the server of the same source listed before its settings were changed, so
    /// that the tools do not disappear until the new server answers.
    pub(crate) fn inherit(&mut self, before: &SourceState) {
        let (SourceTarget::Server(server, namespace), SourceTarget::Server(_, old)) =
            (&self.spec.target, &before.spec.target)
        else {
            return;
        };
        if namespace == old {
            let moved = before.entries.iter().map(|entry| Arc::new(entry.on_server(server)));
            self.entries = moved.collect();
            self.offers.clone_from(&before.offers);
            self.is_inherited = true;
        }
    }

    /// Whether this tool is one that the source had before it was changed, and the new list is not
    /// there yet.
    pub(crate) fn is_outdated(&self, id: &str) -> bool {
        self.is_inherited
            && !self.tried
            && self.entries.iter().any(|entry| entry.id.to_string() == id)
    }

    /// Whether the tool of this id or exposed name may be among those that are still loading.
    pub(crate) fn may_still_list(&self, name: &str) -> bool {
        match (self.spec.target.namespace(), self.tried) {
            (Some(namespace), false) => is_in_namespace(name, namespace.as_str()),
            (_, false) => true,
            (_, true) => {
                let mut untried = self.server_toolsets.iter().filter(|toolset| !toolset.tried);
                untried.any(|it| is_in_namespace(name, it.definition.namespace.as_str()))
            }
        }
    }

    /// The number of a load that begins now.
    pub(crate) fn begin_load(&mut self) -> u64 {
        self.last_load += 1;
        self.last_load
    }

    /// Whether the result of this load may replace what is here: not if a load that began later has
    /// ended before it, because its result is newer.
    pub(crate) fn accepts_load(&mut self, number: u64) -> bool {
        let is_newer = number > self.applied_load;
        if is_newer {
            self.applied_load = number;
        }
        is_newer
    }

    /// Whether the source and all servers of its definitions have been tried once.
    pub(crate) fn is_tried(&self) -> bool {
        self.tried && self.server_toolsets.iter().all(|toolset| toolset.tried)
    }

    /// Whether a person has named it, and the names of its toolsets are not all known.
    pub(crate) fn is_unread(&self) -> bool {
        !self.is_read && is_named_file(&self.spec)
    }

    /// Whether it can offer more than tools: it is a server, or its definitions may name one.
    pub(crate) fn may_offer(&self) -> bool {
        matches!(self.spec.target, SourceTarget::Server(..) | SourceTarget::Definitions(_))
    }

    /// Replaces the definitions that name servers, after a reload of the source.
    ///
    /// A definition of the same server and namespace inherits the server's last list, merged with
    /// its new text: a change of a description is visible at once and the tools do not disappear
    /// until the server answers again. The task is not inherited, because it holds the old
    /// definition; the caller starts a new one.
    /// A server that may not be started counts as tried: nothing waits for it.
    pub(crate) fn set_server_definitions(
        &mut self,
        definitions: Vec<ServerDefinition>,
        may_start: impl Fn(&ServerDefinition) -> bool,
    ) {
        let mut old = std::mem::take(&mut self.server_toolsets);
        for definition in definitions {
            let before = old.iter().position(|toolset| toolset.definition.is_like(&definition));
            let before = before.map(|n| old.swap_remove(n));
            let is_withheld = !may_start(&definition);
            let mut toolset = ServerToolset {
                tools: definition.own.iter().map(|(_, entry)| Arc::clone(entry)).collect(),
                definition: Arc::new(definition),
                listed: None,
                offers: before.as_ref().and_then(|toolset| toolset.offers.clone()),
                tried: is_withheld || before.as_ref().is_some_and(|toolset| toolset.tried),
                has_task: false,
                removed: self.removed.child_token(),
            };
            if let Some(before) = before {
                before.removed.cancel();
                if let Some(listed) = before.listed {
                    // Its diagnostics were published when the server answered.
                    toolset.tools = toolset.definition.merge(&listed).0;
                    toolset.listed = Some(listed);
                }
            }
            self.server_toolsets.push(toolset);
        }
        old.iter().for_each(|toolset| toolset.removed.cancel());
    }

    /// Its tools as of the last load, quarantined ones included.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.entries.iter().chain(self.server_toolsets.iter().flat_map(|toolset| &toolset.tools))
    }

    /// The servers that have listed their tools, with what these are pinned under.
    pub(crate) fn pinned_servers(&self) -> Vec<(PinSubject, Arc<Server>)> {
        let own = match &self.spec.target {
            SourceTarget::Server(server, _) if !self.entries.is_empty() => {
                Some((PinSubject::of(&self.spec, ""), Arc::clone(server)))
            }
            _ => None,
        };
        let listed = self.server_toolsets.iter().filter(|toolset| toolset.listed.is_some());
        let of_definitions = listed.map(|toolset| {
            let definition = &toolset.definition;
            (definition.pin_subject(&self.spec), Arc::clone(&definition.server))
        });
        own.into_iter().chain(of_definitions).collect()
    }

    /// What its servers offer besides tools.
    pub(crate) fn offers(&self) -> impl Iterator<Item = StateOffers<'_>> {
        let own = match (&self.spec.target, &self.offers) {
            (SourceTarget::Server(server, namespace), Some(offers)) => Some(StateOffers {
                name: self.spec.name.clone(),
                namespace: namespace.as_ref().map(ToString::to_string),
                server: Arc::clone(server),
                subject: PinSubject::of(&self.spec, ""),
                offers,
            }),
            _ => None,
        };
        let of_definitions = self.server_toolsets.iter().filter_map(|toolset| {
            let name = toolset.definition.namespace.to_string();
            Some(StateOffers {
                name: name.clone(),
                namespace: Some(name),
                server: Arc::clone(&toolset.definition.server),
                subject: toolset.definition.pin_subject(&self.spec),
                offers: toolset.offers.as_ref()?,
            })
        });
        own.into_iter().chain(of_definitions)
    }

    /// The servers whose connections must stay open: the source itself, or those that its
    /// definitions name.
    pub(crate) fn servers(&self) -> Vec<Arc<Server>> {
        match &self.spec.target {
            SourceTarget::Server(server, _) => vec![Arc::clone(server)],
            _ => self
                .server_toolsets
                .iter()
                .map(|toolset| Arc::clone(&toolset.definition.server))
                .collect(),
        }
    }
}

/// Whether an id or exposed name starts like those of a namespace. Exposed names have other
/// characters replaced, and are cut.
fn is_in_namespace(name: &str, namespace: &str) -> bool {
    if name.strip_prefix(namespace).is_some_and(|rest| rest.starts_with(':')) {
        return true;
    }
    let shown = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let prefix: String = namespace.chars().map(shown).chain("__".chars()).take(55).collect();
    name.starts_with(&prefix)
}

impl ServerToolset {
    /// Whether its server has listed its tools.
    pub(crate) fn is_listed(&self) -> bool {
        self.listed.is_some()
    }

    /// Replaces the server's list, and the tools merged from it and the definition.
    pub(crate) fn set_tools(
        &mut self,
        listed: Vec<Arc<RegisteredTool>>,
        tools: Vec<Arc<RegisteredTool>>,
    ) {
        (self.listed, self.tools) = (Some(listed), tools);
    }
}
