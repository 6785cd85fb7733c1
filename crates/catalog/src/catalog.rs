//! The catalog: loads the tools of all sources into the runner, and keeps them up to date.
//!
//! Sources are loaded side by side and fail alone: a server that does not start delays and hides
//! only its own tools. Each source has a [`SourceState`] with the tools of its last load. Whenever
//! one of them changes, `publish_tools` builds a new registry from all states and swaps it in, so a
//! call always sees the registry of one moment and never waits for a load.
//!
//! ```text
//! planner ─▶ SourcePlan ─ apply_plan ─▶ SourceState, one per source
//!    ▲                                    │ load_source: read files, run `--schema`, list servers
//!    │                                    ▼
//!    │                    gate ─▶ tools and server definitions in the SourceState
//!    │                                    │ publish_tools
//!    │                                    ▼
//!    │                    runner: ToolRegistry ─▶ `changes` counts up
//!    │
//!    └─ watch_files: the configuration changed ─▶ plan again; a source's files changed ─▶ load it
//!       server_task: the server reports a change ─▶ list again; it failed ─▶ retry later
//!       keep_builtin_loaded: a built-in toolset reports a change ─▶ list again
//! ```
//!
//! `call` and `test` load once (`load_for`, `load_all` in `load_for_call`). `serve` uses `watch` in
//! `reload`, which starts one task per source, one per server that a definition names, and one that
//! polls files. The steps of one load are in `loading`.
//!
//! Two loads of one source may overlap, so each has a number, and an older one never replaces the
//! result of a newer one. A source that leaves the plan loses its tools at once; one that is
//! changed keeps those of its old server until the new one has answered. The connections of removed
//! servers close when their running calls have ended (`draining`).
//!
//! Elsewhere: how one source is read (`live_sources`), which tools may be called (`gate`), the task
//! of a server (`server_task`), merging a definition with the list of its server
//! (`server_definition`), what servers offer besides tools (`offers`), connections (`exec::mcp`).

mod load_for_call;
mod loading;
mod pin_review;
mod reload;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use toolwright_check::MODEL_INSTRUCTION;
use toolwright_exec::{RegisteredTool, Runner, ToolRegistry, ToolStatus, ToolTrust, toolset_name};
use toolwright_model::Server;
use toolwright_source::{Diagnostic, Severity, codes};
use toolwright_workspace::pinned_parts::{PinList, PinnedPart, instructions_part, prompt_parts};
use toolwright_workspace::{CodeSelection, LoadError, SourcePlan, Workspace};

use crate::answer_cache::AnswerCache;
use crate::draining::{DRAIN_CHECK, DrainingServers};
use crate::grants::GrantPolicy;
use crate::live_sources::{SourceFailure, while_blocking};
use crate::offers::{OfferSource, Offers, ServerNotification};
use crate::pin_subject::PinSubject;
use crate::pins::{PinError, PinPlan, PinPurpose, Pins};
use crate::server_definition::ServerDefinition;
use crate::server_offers::ServerOffers;
use crate::server_task::ServerOwner;
use crate::source_state::{SourceState, StateOffers};
use crate::toolset_names::{ToolsetNames, policy_subjects};
use crate::unlisted_uris::UnlistedUris;

/// Notifications that a slow receiver may be behind.
const MAX_NOTIFICATIONS: usize = 256;

/// Something that happened while loading, for the log or the terminal of a command.
#[derive(Debug)]
pub enum CatalogEvent {
    /// A source was loaded.
    Loaded {
        /// Its name in the configuration, or the word that named it on the command line.
        source: String,
        /// The number of its tools that can be called.
        ready: usize,
        /// The number of its tools that are listed but refused because of errors.
        quarantined: usize,
    },
    /// A mistake in a definition, of any severity.
    Problem(Box<Diagnostic>),
    /// A mistake in the configuration or in a servers file, of any severity.
    PlanProblem(Box<Diagnostic>),
    /// A source, or one program of it, could not be loaded.
    SourceFailure(SourceFailure),
    /// A file or folder could not be read, or has no definition.
    LoadFailure(LoadError),
    /// A sentence about something without a position in a file, such as a duplicate id.
    Note(String),
}

/// Receives events as they happen, from any thread. It must not block: loading waits for it.
pub type EventListener = Arc<dyn Fn(&CatalogEvent) + Send + Sync>;

/// Computes the plan from the command line and the configuration. Called once at the start and
/// again after each change of one of the files that the plan was made from.
pub type Planner = Arc<dyn Fn() -> SourcePlan + Send + Sync>;

/// The sources of one `toolwright` process and the tools loaded from them.
pub struct Catalog {
    runner: Arc<Runner>,
    workspace: Workspace,
    listener: EventListener,
    planner: Planner,
    /// In the order of the plan: of two tools with one id, the first source wins. Held only for
    /// short steps, never across an await.
    states: Mutex<Vec<SourceState>>,
    /// Duplicate ids and names, and entries of the configuration that match nothing, that have
    /// been reported. Every reload finds them again.
    reported: Mutex<BTreeSet<String>>,
    /// The names of all toolsets.
    names: Mutex<ToolsetNames>,
    /// Servers that were removed while calls were running.
    draining: Mutex<Vec<DrainingServers>>,
    /// Counts the attempts to load a source, and the changes of what servers offer besides tools.
    changes: watch::Sender<u64>,
    /// What servers offer besides tools, as published last.
    offers: Mutex<PublishedOffers>,
    /// The URIs that results of servers have named and no server lists.
    unlisted: Arc<UnlistedUris>,
    /// What servers report.
    pub(crate) notifications: broadcast::Sender<ServerNotification>,
    /// The answers of servers in earlier runs; not set without a cache.
    cache: OnceLock<AnswerCache>,
    /// Whether instructions that carry orders to the model are withheld, by `[levels]`.
    withholds_orders: AtomicBool,
    /// Which codes the configuration reports.
    selection: Mutex<Arc<CodeSelection>>,
    /// What the configuration says about pins.
    pin_plan: Mutex<PinPlan>,
    /// Which definitions were accepted; not set where nothing is compared.
    pins: OnceLock<Arc<Pins>>,
    /// Who may do what; not set where nothing is granted.
    policy: OnceLock<Arc<GrantPolicy>>,
}

/// The merged offers, and what they were merged from, to notice a change.
#[derive(Default)]
struct PublishedOffers {
    merged: Arc<Offers>,
    /// How often pins had changed.
    pins: u64,
    /// Compared by identity: offers that did not change keep their pointer.
    from: Vec<(Arc<Server>, Arc<ServerOffers>)>,
    withholds_orders: bool,
}

impl Catalog {
    /// A catalog of the planner's sources. Reports mistakes of the plan, but loads nothing yet.
    pub fn new(
        runner: Arc<Runner>,
        workspace: Workspace,
        planner: Planner,
        listener: EventListener,
    ) -> Arc<Catalog> {
        let catalog = Arc::new(Catalog {
            runner,
            workspace,
            listener,
            planner,
            states: Mutex::default(),
            reported: Mutex::default(),
            names: Mutex::default(),
            draining: Mutex::default(),
            changes: watch::Sender::new(0),
            offers: Mutex::default(),
            unlisted: Arc::default(),
            notifications: broadcast::Sender::new(MAX_NOTIFICATIONS),
            cache: OnceLock::new(),
            withholds_orders: AtomicBool::new(false),
            selection: Mutex::default(),
            pin_plan: Mutex::default(),
            pins: OnceLock::new(),
            policy: OnceLock::new(),
        });
        catalog.apply_plan((catalog.planner)());
        catalog
    }

    /// The runner whose registry holds the loaded tools.
    pub fn runner(&self) -> &Arc<Runner> {
        &self.runner
    }

    /// Keeps the answers of servers in this folder of the user for the next run, and uses those of
    /// the last one. To be called before [`watch`](Self::watch).
    pub fn use_cache(&self, folder: &Path) {
        let _ = self.cache.set(AnswerCache::new(folder));
    }

    /// Compares definitions with the accepted ones: those of the lock beside the configuration,
    /// else those of the store in `folder`. To be called before anything is loaded.
    ///
    /// # Errors
    /// If they cannot be read and the configuration demands it.
    pub fn use_pins(&self, folder: Result<PathBuf, String>) -> Result<(), PinError> {
        self.open_pins(folder, PinPurpose::Use)
    }

    /// `use_pins` for all purposes. A problem that is not an error is published as a note.
    fn open_pins(
        &self,
        folder: Result<PathBuf, String>,
        purpose: PinPurpose,
    ) -> Result<(), PinError> {
        let plan = self.pin_plan.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (pins, note) = Pins::open(folder, plan, purpose)?;
        self.publish_notes(note.into_iter().collect());
        if let Some(pins) = pins {
            let _ = self.pins.set(Arc::new(pins));
        }
        Ok(())
    }

    /// `None` until `use_pins` was called, and where nothing is compared.
    fn pins(&self) -> Option<&Arc<Pins>> {
        self.pins.get()
    }

    /// Compares a list of a toolset with the accepted one, and logs what differs.
    fn observe(&self, subject: &PinSubject, list: PinList, parts: Vec<PinnedPart>) {
        let line = self.pins().and_then(|pins| pins.observe(subject, list, parts));
        self.publish_notes(line.into_iter().collect());
    }

    /// Keeps this policy, which the runner asks, up to date with the configuration, and starts
    /// servers of definitions by it. To be called before anything is loaded.
    pub fn use_policy(&self, policy: Arc<GrantPolicy>) {
        let _ = self.policy.set(policy);
    }

    /// The policy of calls.
    pub fn policy(&self) -> Option<&Arc<GrantPolicy>> {
        self.policy.get()
    }

    /// Whether the server that a definition names may be started: the definition was named, or a
    /// person has allowed it.
    pub(crate) fn may_start(&self, definition: &ServerDefinition) -> bool {
        let toolset = definition.namespace.as_str();
        let is_changed = || definition.code.as_ref().is_some_and(|it| it.changed_file().is_some());
        // What was granted is the code that was loaded; the change is noticed at once.
        if !definition.trust.is_named && is_changed() {
            return false;
        }
        let Some(policy) = self.policy.get() else { return definition.trust.is_named };
        let shares_name = !definition.trust.is_named && self.names().is_shared(toolset);
        policy.may_start(&ToolTrust { shares_name, ..definition.trust.clone() }, toolset)
    }

    /// The names of all toolsets, as they were published last.
    fn names(&self) -> MutexGuard<'_, ToolsetNames> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A sentence about each rule and grant of the configuration that matches nothing; none before
    /// every source was tried.
    pub fn ineffective_policy(&self) -> Vec<String> {
        let states = self.states();
        if !states.iter().all(SourceState::is_tried) {
            return Vec::new();
        }
        let subjects = policy_subjects(&states);
        drop(states);
        self.policy.get().map(|it| it.ineffective_entries(&subjects)).unwrap_or_default()
    }

    /// `None` until `use_cache` was called.
    pub(crate) fn cache(&self) -> Option<&AnswerCache> {
        self.cache.get()
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Whether instructions of servers that carry orders to the model are withheld from clients.
    pub(crate) fn withholds_orders(&self) -> bool {
        self.withholds_orders.load(Ordering::Relaxed)
    }

    /// A counter that goes up whenever a source was loaded or failed to, whether its tools changed
    /// or not, and whenever what servers offer besides tools changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// What the servers offer besides tools, at this moment.
    pub fn offers(&self) -> Arc<Offers> {
        Arc::clone(&self.published_offers().merged)
    }

    fn published_offers(&self) -> MutexGuard<'_, PublishedOffers> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What servers report from now on: changed lists, updated resources, log messages. A slow
    /// receiver loses the oldest ones.
    pub fn notifications(&self) -> broadcast::Receiver<ServerNotification> {
        self.notifications.subscribe()
    }

    /// The number of sources in the plan, loaded or not.
    pub fn source_count(&self) -> usize {
        self.states().len()
    }

    /// A panic in another task leaves the list usable: every step under the lock replaces whole
    /// values.
    fn states(&self) -> MutexGuard<'_, Vec<SourceState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether every source, and every server that a definition names, has been tried once, with or
    /// without success.
    pub fn all_sources_tried(&self) -> bool {
        self.states().iter().all(SourceState::is_tried)
    }

    /// Whether a source that has not been tried yet may have the tool of this id or exposed name.
    pub fn may_still_list(&self, name: &str) -> bool {
        self.states().iter().any(|state| state.may_still_list(name))
    }

    /// Whether this tool is of a source whose settings were changed and whose new list is not there
    /// yet.
    pub fn is_outdated(&self, id: &str) -> bool {
        self.states().iter().any(|state| state.is_outdated(id))
    }

    /// The number of sources that have not been tried yet.
    pub fn untried_sources(&self) -> usize {
        self.states().iter().filter(|state| !state.is_tried()).count()
    }

    /// Waits until every source has been tried once, at most for `time`. The first list of tools
    /// that an agent gets waits for this, so that slow servers are in it.
    pub async fn wait_until_tried(&self, time: Duration) {
        self.wait_until_all(time, SourceState::is_tried).await;
    }

    /// The same for the sources that can offer more than tools: programs cannot.
    pub async fn wait_for_offers(&self, time: Duration) {
        self.wait_until_all(time, are_offers_known).await;
    }

    /// Whether every source that can offer more than tools was tried, or is known from an earlier
    /// run.
    pub fn are_offers_known(&self) -> bool {
        self.states().iter().all(are_offers_known)
    }

    /// Waits until every source is ready in this sense, at most for `time`.
    async fn wait_until_all(&self, time: Duration, is_ready: impl Fn(&SourceState) -> bool) {
        // Subscribed before the first look, so a change in between wakes the loop.
        let mut changes = self.changes.subscribe();
        let wait = async {
            while !self.states().iter().all(&is_ready) {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(time, wait).await;
    }

    /// Which codes the configuration reports, with which severities.
    fn selection(&self) -> Arc<CodeSelection> {
        Arc::clone(&self.selection.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces what a server offers besides tools.
    pub(crate) fn set_offers(&self, owner: &ServerOwner, offers: &Arc<ServerOffers>) {
        if self.pins().is_some() {
            while_blocking(|| self.observe_offers(&owner.pin_subject(), offers));
        }
        let mut states = self.states();
        let spec = owner.spec();
        if let Some(state) = states.iter_mut().find(|state| state.spec == *spec) {
            match owner {
                ServerOwner::Source(..) => state.offers = Some(Arc::clone(offers)),
                ServerOwner::Definition(_, definition) => {
                    let mut toolsets = state.server_toolsets.iter_mut();
                    let own = toolsets.find(|it| Arc::ptr_eq(&it.definition, definition));
                    if let Some(toolset) = own {
                        toolset.offers = Some(Arc::clone(offers));
                    }
                }
            }
        }
        if self.publish_offers(&states) {
            self.changes.send_modify(|n| *n += 1);
        }
    }

    /// Compares the prompts and instructions of a server with the accepted ones.
    fn observe_offers(&self, subject: &PinSubject, offers: &ServerOffers) {
        if offers.are_prompts_known {
            self.observe(subject, PinList::Prompts, prompt_parts(&offers.prompts));
        }
        if let Some(description) = &offers.description {
            let instructions = instructions_part(description.instructions.as_deref());
            self.observe(subject, PinList::Instructions, instructions);
        }
    }

    /// Merges what servers offer besides tools, if it has changed. Returns whether it has. Called
    /// under the lock of the states, for the same reason as `set_tools` in `publish_tools`.
    fn publish_offers(&self, states: &[SourceState]) -> bool {
        let withholds_orders = self.withholds_orders();
        let mut published = self.published_offers();
        let all = || states.iter().flat_map(SourceState::offers);
        let pins = self.pins().map_or(0, |pins| pins.changes());
        let is_same = published.withholds_orders == withholds_orders
            && published.pins == pins
            && all().count() == published.from.len()
            && all()
                .zip(&published.from)
                .all(|(now, (old, before))| Arc::ptr_eq(now.offers, before) && now.server == *old);
        if is_same {
            return false;
        }
        let source = |it: StateOffers<'_>| {
            let upstream = self.runner.context().upstreams.get(&it.server);
            let offers = match self.pins() {
                Some(pins) => pins.accepted_offers(&it.subject, it.offers),
                None => Arc::clone(it.offers),
            };
            OfferSource { name: it.name, namespace: it.namespace, upstream, offers }
        };
        let sources = all().map(source).collect();
        let from = all().map(|it| (it.server, Arc::clone(it.offers))).collect();
        let merged = Arc::new(Offers::merge(sources, withholds_orders, &self.unlisted));
        *published = PublishedOffers { merged, pins, from, withholds_orders };
        true
    }

    /// Lets the calls of removed servers end before their connections are closed.
    ///
    /// A server that is removed twice, with calls of both times, is drained once.
    fn drain(&self, servers: Option<DrainingServers>) {
        let Some(servers) = servers else { return };
        let mut draining = self.draining.lock().unwrap_or_else(PoisonError::into_inner);
        match draining.iter_mut().find(|it| it.servers == servers.servers) {
            Some(earlier) => earlier.merge(servers),
            None => draining.push(servers),
        }
    }

    /// Whether a removed server has running calls or tasks.
    pub(crate) fn is_draining(&self, server: &Arc<Server>) -> bool {
        // Under this lock servers are removed and drained in one step.
        let _states = self.states();
        let draining = self.draining.lock().unwrap_or_else(PoisonError::into_inner);
        draining.iter().any(|it| it.servers.contains(server) && it.is_running())
    }

    /// Whether a source names this server.
    pub(crate) fn has_server(&self, server: &Arc<Server>) -> bool {
        self.states().iter().any(|state| state.servers().contains(server))
    }

    /// The servers whose connections must stay open.
    fn needed_servers(&self, states: &[SourceState]) -> Vec<Arc<Server>> {
        let mut draining = self.draining.lock().unwrap_or_else(PoisonError::into_inner);
        draining.retain(DrainingServers::is_running);
        let needed = states.iter().flat_map(SourceState::servers);
        needed.chain(draining.iter().flat_map(|it| it.servers.iter().map(Arc::clone))).collect()
    }

    /// Closes the connections of removed servers when their calls have ended. Never ends by itself.
    async fn close_drained(&self) {
        loop {
            tokio::time::sleep(DRAIN_CHECK).await;
            let has_ended = |all: &[DrainingServers]| all.iter().any(|it| !it.is_running());
            let draining = self.draining.lock().unwrap_or_else(PoisonError::into_inner);
            let has_ended = has_ended(&draining);
            drop(draining);
            if has_ended {
                let states = self.states();
                let needed = self.needed_servers(&states);
                self.runner.context().upstreams.keep(&needed);
            }
        }
    }

    /// Calls the listener on this thread.
    pub(crate) fn publish_event(&self, event: CatalogEvent) {
        (self.listener)(&event);
    }

    fn publish_problems(&self, diagnostics: Vec<Diagnostic>) {
        for diagnostic in diagnostics {
            self.publish_event(CatalogEvent::Problem(Box::new(diagnostic)));
        }
    }

    fn publish_notes(&self, sentences: Vec<String>) {
        sentences.into_iter().for_each(|text| self.publish_event(CatalogEvent::Note(text)));
    }

    /// Counts the tools of a source for the event `Loaded`.
    fn publish_loaded<'e>(
        &self,
        source: &str,
        entries: impl Iterator<Item = &'e Arc<RegisteredTool>>,
    ) {
        let (mut ready, mut quarantined) = (0, 0);
        for entry in entries {
            match entry.status {
                ToolStatus::Ready => ready += 1,
                ToolStatus::Quarantined(_) => quarantined += 1,
            }
        }
        let source = source.to_owned();
        self.publish_event(CatalogEvent::Loaded { source, ready, quarantined });
    }

    /// Replaces the runner's registry with the tools of all sources, and closes the connections to
    /// servers that no source names any more.
    ///
    /// Takes the lock under which the states were changed: a source must not count as tried before
    /// its tools are published, or the first list would lack them.
    fn publish_tools(&self, states: MutexGuard<'_, Vec<SourceState>>) {
        let mut registry = ToolRegistry::default();
        let names = ToolsetNames::of_states(states.iter());
        // By id: where both are defined, as far as that is known.
        let mut duplicates = BTreeMap::new();
        for entry in states.iter().flat_map(SourceState::tools) {
            let aside = self.pins().and_then(|pins| pins.reason_aside(entry));
            let mut entry = match aside {
                Some((reason, remedy)) => Arc::new(entry.set_aside(reason, remedy)),
                None => Arc::clone(entry),
            };
            if !entry.trust.is_named && names.is_shared(&toolset_name(&entry)) {
                Arc::make_mut(&mut entry).trust.shares_name = true;
            }
            if let Err(entry) = registry.add(entry) {
                let id = entry.id.to_string();
                let first = registry.get(&id).and_then(|first| first.place.clone());
                let places = match (first, &entry.place) {
                    (Some(first), Some(second)) => format!(", at {first} and {second}"),
                    _ => String::new(),
                };
                let winner = match registry.get(&id).is_some_and(|it| it.trust.is_named) {
                    true if !entry.trust.is_named => "the definition that was named",
                    _ => "the first definition",
                };
                duplicates.entry(id).or_insert((places, winner));
            }
        }
        let servers = self.needed_servers(&states);
        // Under the lock: otherwise a task with an older snapshot of the states could overwrite the
        // registry of a newer one.
        self.runner.set_tools(registry);
        self.runner.context().upstreams.keep(&servers);
        self.publish_offers(&states);
        self.changes.send_modify(|n| *n += 1);
        let is_watched = states.iter().any(|state| state.has_task);
        // Commands that load once show what they do, not what the configuration could do better.
        let mut sentences = Vec::new();
        if is_watched {
            sentences.extend(names.sentences().into_values());
            // Sources that are still loading are not worth a sentence.
            let is_tried = states.iter().all(|state| state.tried);
            sentences.extend(names.unread_sentence().filter(|_| is_tried));
        }
        *self.names() = names;
        drop(states);
        sentences.extend(duplicates.iter().map(|(id, (places, winner))| {
            let code = codes::DUPLICATE_ID.name;
            format!("`{id}` is defined twice{places}; {winner} is used ({code})")
        }));
        if is_watched {
            sentences.extend(self.ineffective_policy());
        }
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        for text in sentences.iter().filter(|text| !reported.contains(*text)) {
            self.publish_event(CatalogEvent::Note(text.clone()));
        }
        // What disappears and comes back is reported again.
        *reported = sentences.into_iter().collect();
    }

    /// Reports the mistakes in the configuration that a plan was made from.
    fn publish_plan_problems(&self, plan: &SourcePlan) {
        for diagnostic in plan.diagnostics.iter().cloned() {
            self.publish_event(CatalogEvent::PlanProblem(Box::new(diagnostic)));
        }
        for failure in &plan.failures {
            self.publish_event(CatalogEvent::Note(failure.to_string()));
        }
    }

    /// Replaces the list of sources by that of a plan. A source whose specification is unchanged
    /// keeps its state: its tools, its task, its running server. The tasks of all others end.
    ///
    /// Returns whether the severities of codes changed, so that files must pass the gate again.
    /// Servers list their tools again then, because they get new tasks.
    ///
    /// ```text
    /// limits, policy, levels, pins       replaced at once
    /// a source as before                 keeps its state
    /// a server with other settings       a new state, with the old tools until it answers
    /// a source that is gone              its tasks end; its servers close after their last call
    /// ```
    ///
    /// Tools are published and tasks started by the callers.
    fn apply_plan(&self, plan: SourcePlan) -> bool {
        self.publish_plan_problems(&plan);
        self.runner.set_limits(plan.limits);
        if let Some(policy) = self.policy.get() {
            policy.apply(plan.policy);
        }
        let level = plan.levels.get(MODEL_INSTRUCTION.name);
        self.withholds_orders.store(level == Some(&Some(Severity::Error)), Ordering::Relaxed);
        // No code is named here, so none can be unknown.
        let selection = CodeSelection::new(&[], &[], plan.levels, plan.ignores).unwrap_or_default();
        let has_new_levels = !selection.has_levels_of(&self.selection());
        *self.selection.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(selection);
        let pin_plan = PinPlan { settings: plan.trust, lock_path: plan.lock };
        *self.pin_plan.lock().unwrap_or_else(PoisonError::into_inner) = pin_plan.clone();
        if let Some(pins) = self.pins() {
            self.publish_notes(pins.set_plan(pin_plan));
        }
        let mut states = self.states();
        let mut old = std::mem::take(&mut *states);
        for spec in plan.specs {
            let must_be_asked = has_new_levels && spec.target.is_listed();
            let unchanged =
                old.iter().position(|state| state.spec == spec).filter(|_| !must_be_asked);
            states.push(match unchanged {
                // The new specification, because its entry may have moved to another line.
                Some(n) => SourceState { spec, ..old.remove(n) },
                None => SourceState::new(spec),
            });
        }
        // What is left is removed, or changed under the same name.
        for state in states.iter_mut().filter(|state| !state.has_task && !state.tried) {
            if let Some(before) = old.iter().find(|before| before.spec.name == state.spec.name) {
                state.inherit(before);
            }
        }
        for state in &old {
            state.removed.cancel();
            self.drain(DrainingServers::new(state.servers(), state, &self.runner));
        }
        has_new_levels
    }
}

/// Whether a source was tried, or can offer nothing but tools.
fn are_offers_known(state: &SourceState) -> bool {
    state.is_tried() || !state.may_offer()
}
