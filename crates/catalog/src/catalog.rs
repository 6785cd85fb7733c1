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
//!       keep_server_loaded: the server reports a change ─▶ list again; it failed ─▶ retry later
//! ```
//!
//! `call` and `test` load once (`load_for`, `load_all`). `serve` uses `watch`, which starts one
//! task per source, one per server that a definition names, and one that polls files.
//!
//! Elsewhere: how one source is read (`live_sources`), which tools may be called (`gate`), merging
//! a definition with the list of its server (`server_definition`), connections (`exec::mcp`).

use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolwright_exec::{RegisteredTool, Runner, ToolRegistry, ToolStatus};
use toolwright_model::{Binding, InputSchema, Namespace, Server};
use toolwright_source::{Diagnostic, codes};
use toolwright_workspace::{SourcePlan, SourceSpec, SourceTarget, Workspace};

use crate::gate::{ConcurrencyLimits, gate};
use crate::live_sources::{SourceFailure, SourceLoad, load_source};
use crate::offers::{Offers, ServerNotice};
use crate::server_definition::{ListedTools, ServerDefinition};
use crate::source_state::SourceState;

/// How often files are compared with their last state. Polling needs no watch per folder, and it
/// also notices files that do not exist yet.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The pause between a server's notice that its list changed and the next request for the list.
/// Bounds the load that a server with constant notices can cause.
const LIST_CHANGE_PAUSE: Duration = Duration::from_millis(300);
/// The pause before a server that could not be loaded is tried again. It doubles with every
/// failure.
const FIRST_RETRY: Duration = Duration::from_secs(2);
/// The upper bound of that pause.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

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
    /// A sentence about something without a position in a file: an unreadable file, a duplicate id.
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
    /// Duplicate ids that have been reported. Every reload finds them again.
    reported_duplicates: Mutex<BTreeSet<String>>,
    /// Counts the changes of the list of tools.
    changes: watch::Sender<u64>,
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
            reported_duplicates: Mutex::default(),
            changes: watch::Sender::new(0),
        });
        catalog.apply_plan((catalog.planner)());
        catalog
    }

    /// The runner whose registry holds the loaded tools.
    pub fn runner(&self) -> &Arc<Runner> {
        &self.runner
    }

    /// A counter that goes up whenever a source was tried, whether its tools changed or not.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// What the servers offer besides tools, at this moment.
    pub fn offers(&self) -> Arc<Offers> {
        Arc::default()
    }

    /// What servers report from now on: changed lists, updated resources, log messages. A slow
    /// receiver loses the oldest ones.
    pub fn notices(&self) -> tokio::sync::broadcast::Receiver<ServerNotice> {
        tokio::sync::broadcast::channel(1).1
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

    /// Loads the sources that can hold the tool `id`, and stops as soon as it is found.
    ///
    /// Starting a server can take seconds, so `call` starts as few as possible: files and programs
    /// first; then the server that a found definition names; only if nothing was found, the servers
    /// of the plan, limited to the namespace if `id` has one (`namespace:name`).
    /// Returns the sources that could not be loaded.
    pub async fn load_for(&self, id: &str) -> Vec<SourceFailure> {
        let specs: Vec<SourceSpec> = self.states().iter().map(|state| state.spec.clone()).collect();
        let namespace = id.split_once(':').map(|(namespace, _)| namespace);
        // A server without a configured namespace may serve any id.
        let may_hold = |spec: &&SourceSpec| match (&spec.target, namespace) {
            (SourceTarget::Server(_, Some(own)), Some(requested)) => own.as_str() == requested,
            _ => true,
        };
        let (mut servers, others): (Vec<&SourceSpec>, Vec<&SourceSpec>) = specs
            .iter()
            .filter(may_hold)
            .partition(|spec| matches!(spec.target, SourceTarget::Server(..)));
        let others = others.into_iter().map(|spec| self.load_one(spec).boxed());
        let mut failures = self.load_until_found(id, others.collect()).await;
        // `find` also accepts a name without its namespace, if only one tool has it. The step above
        // stops early only for an exact id, so all files were read before this decides.
        let found = self.runner.registry().find(id).map(Arc::clone);
        if found.as_ref().is_some_and(|entry| !waits_for_its_server(entry)) {
            return failures;
        }
        // A definition without an input schema still needs the list of its own server, but no other
        // server.
        let namespace_of_found = found.as_ref().and_then(|entry| entry.id.namespace.as_ref());
        let namespace = namespace_of_found.map(Namespace::as_str).or(namespace);
        if found.is_some() {
            servers.clear();
        }
        let definitions = self
            .server_definitions(|own| namespace.is_none_or(|requested| own.as_str() == requested));
        let definitions = definitions
            .iter()
            .map(|(spec, definition)| self.load_server_definition(spec, definition).boxed());
        let servers = servers.into_iter().map(|spec| self.load_one(spec).boxed());
        failures.extend(self.load_until_found(id, definitions.chain(servers).collect()).await);
        failures
    }

    /// Drives loads side by side until there is a callable tool with exactly this id, then drops
    /// the remaining ones, which ends their work. Returns the failures so far.
    async fn load_until_found(
        &self,
        id: &str,
        mut loads: FuturesUnordered<BoxFuture<'_, Vec<SourceFailure>>>,
    ) -> Vec<SourceFailure> {
        let mut failures = Vec::new();
        while let Some(failed) = loads.next().await {
            failures.extend(failed);
            if self.runner.registry().get(id).is_some_and(|entry| !waits_for_its_server(entry)) {
                break;
            }
        }
        failures
    }

    /// The definitions that name an MCP server, each with its source, filtered by namespace.
    fn server_definitions(
        &self,
        may_hold: impl Fn(&Namespace) -> bool,
    ) -> Vec<(SourceSpec, Arc<ServerDefinition>)> {
        let mut found = Vec::new();
        for state in self.states().iter() {
            let definitions = state.server_toolsets.iter().map(|toolset| &toolset.definition);
            let definitions = definitions.filter(|definition| may_hold(&definition.namespace));
            found.extend(definitions.map(|it| (state.spec.clone(), Arc::clone(it))));
        }
        found
    }

    /// Loads everything once, for `test --run`. Returns the sources that could not be loaded.
    pub async fn load_all(&self) -> Vec<SourceFailure> {
        // No tool has this id, so nothing ends the search early.
        self.load_for("").await
    }

    /// Loads everything in the background and keeps it up to date until `until` is cancelled:
    /// servers that change their list or start late, and files that change. Returns at once.
    pub fn watch(self: &Arc<Self>, until: &CancellationToken) {
        // Taken before the first load: a file that changes during the load differs from this, so
        // the first poll loads it again.
        let before = self.fingerprints();
        self.spawn_source_tasks(until);
        let catalog = Arc::clone(self);
        let until = until.clone();
        tokio::spawn(async move {
            let watching = catalog.watch_files(before, &until);
            until.run_until_cancelled(watching).await;
        });
    }

    /// Starts a task for every source that has none yet: all of them at the start, the new ones
    /// after a change of the configuration.
    fn spawn_source_tasks(self: &Arc<Self>, until: &CancellationToken) {
        for state in self.states().iter_mut().filter(|state| !state.has_task) {
            state.has_task = true;
            let (catalog, until) = (Arc::clone(self), until.clone());
            let (spec, removed) = (state.spec.clone(), state.removed.clone());
            tokio::spawn(async move {
                let work = catalog.keep_source_loaded(&spec, &until);
                until.run_until_cancelled(removed.run_until_cancelled(work)).await;
            });
        }
    }

    /// The task of one source. It never ends for a server; for files and programs it ends after the
    /// first load, because `watch_files` loads them again.
    async fn keep_source_loaded(self: &Arc<Self>, spec: &SourceSpec, until: &CancellationToken) {
        match &spec.target {
            SourceTarget::Server(server, _) => {
                self.keep_server_loaded(server, || self.load_one(spec)).await
            }
            _ => self.load_definitions(spec, until).await,
        }
    }

    /// Loads files or programs, and starts a task for every server that their definitions name and
    /// that has none yet.
    async fn load_definitions(self: &Arc<Self>, spec: &SourceSpec, until: &CancellationToken) {
        self.load_one(spec).await;
        let mut states = self.states();
        // The source may have been removed by a new configuration in the meantime.
        let Some(state) = states.iter_mut().find(|state| state.spec == *spec) else { return };
        for toolset in state.server_toolsets.iter_mut().filter(|toolset| !toolset.has_task) {
            toolset.has_task = true;
            let (catalog, spec, until) = (Arc::clone(self), spec.clone(), until.clone());
            let (definition, removed) = (Arc::clone(&toolset.definition), toolset.removed.clone());
            tokio::spawn(async move {
                let load = || catalog.load_server_definition(&spec, &definition);
                let work = catalog.keep_server_loaded(&definition.server, load);
                until.run_until_cancelled(removed.run_until_cancelled(work)).await;
            });
        }
    }

    /// Loads the tools of a server, again after each of its notices that they changed, and after a
    /// growing pause while loading fails. Ends only when its upstream is dropped.
    async fn keep_server_loaded<F: Future<Output = Vec<SourceFailure>>>(
        &self,
        server: &Arc<Server>,
        load: impl Fn() -> F,
    ) {
        let mut changes = self.runner.context().upstreams.get(server).changes();
        let mut pause = FIRST_RETRY;
        loop {
            // Before the load, not after: a notice that arrives during the load may mean that the
            // list is outdated already.
            changes.mark_unchanged();
            if load().await.is_empty() {
                pause = FIRST_RETRY;
                if changes.changed().await.is_err() {
                    return;
                }
                tokio::time::sleep(LIST_CHANGE_PAUSE).await;
            } else {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_RETRY);
            }
        }
    }

    /// Whether every source, and every server that a definition names, has been tried once, with or
    /// without success.
    pub fn all_sources_tried(&self) -> bool {
        self.states().iter().all(SourceState::is_tried)
    }

    /// Waits until every source has been tried once, at most for `time`. The first list of tools
    /// that an agent gets waits for this, so that slow servers are in it.
    pub async fn wait_until_tried(&self, time: Duration) {
        // Subscribed before the first look, so a change in between wakes the loop.
        let mut changes = self.changes.subscribe();
        let wait = async {
            while !self.all_sources_tried() {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(time, wait).await;
    }

    /// Loads one source and publishes its tools. Returns what could not be loaded: the source, or
    /// single programs of a folder.
    async fn load_one(&self, spec: &SourceSpec) -> Vec<SourceFailure> {
        let SourceLoad { found, failures } =
            load_source(spec, &self.workspace, self.runner.context()).await;
        for failure in &failures {
            self.publish_event(CatalogEvent::SourceFailure(failure.clone()));
        }
        for error in &found.failures {
            self.publish_event(CatalogEvent::Note(error.to_string()));
        }
        for name in &found.unparsed {
            let text = format!("`{name}` could not be parsed and is skipped");
            self.publish_event(CatalogEvent::Note(text));
        }
        let limits = self.runner.limits();
        let mut entries = Vec::new();
        let mut bodies = Vec::new();
        let mut definitions = Vec::new();
        let mut concurrency = self.concurrency_limits_of(spec);
        for loaded in found.documents {
            let result = gate(loaded, &limits, spec, &mut concurrency);
            self.publish_problems(result.diagnostics);
            entries.extend(result.entries);
            bodies.extend(result.bodies);
            definitions.extend(result.definition);
        }
        // A load without any tool that also failed changes nothing: while a server restarts, its
        // tools stay listed, and calls of them wait for it or report that it is unavailable.
        let replaces = failures.is_empty() || !entries.is_empty();
        if replaces {
            let own = definitions.iter().flat_map(|it| it.own.iter().map(|(_, entry)| entry));
            self.publish_loaded(&spec.name, entries.iter().chain(own));
        }
        let mut states = self.states();
        // Not found if a new configuration removed the source during the load.
        if let Some(state) = states.iter_mut().find(|state| state.spec == *spec) {
            state.tried = true;
            state.concurrency.extend(concurrency);
            state.bodies = bodies;
            state.set_server_definitions(definitions);
            if replaces {
                state.entries = entries;
            }
        }
        drop(states);
        self.publish_tools();
        failures
    }

    /// The concurrency limits that a source's toolsets have now. A load works on a copy, because
    /// the states are not locked while it waits.
    fn concurrency_limits_of(&self, spec: &SourceSpec) -> ConcurrencyLimits {
        let states = self.states();
        let state = states.iter().find(|state| state.spec == *spec);
        state.map(|state| state.concurrency.clone()).unwrap_or_default()
    }

    /// Asks the server that a definition names for its tools, and merges its list with the
    /// definition. Returns the failure if the server gave no list.
    async fn load_server_definition(
        &self,
        spec: &SourceSpec,
        definition: &Arc<ServerDefinition>,
    ) -> Vec<SourceFailure> {
        let (context, limits) = (self.runner.context(), self.runner.limits());
        let mut concurrency = self.concurrency_limits_of(spec);
        let listed =
            definition.ask(spec, &self.workspace, context, &limits, &mut concurrency).await;
        let (merged, failures) = match listed {
            Ok(ListedTools { entries: listed, diagnostics }) => {
                let (tools, missing) = definition.merge(&listed);
                self.publish_problems(diagnostics);
                self.publish_problems(missing);
                self.publish_loaded(definition.namespace.as_str(), tools.iter());
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
        drop(states);
        self.publish_tools();
        failures
    }

    fn publish_event(&self, event: CatalogEvent) {
        (self.listener)(&event);
    }

    fn publish_problems(&self, diagnostics: Vec<Diagnostic>) {
        for diagnostic in diagnostics {
            self.publish_event(CatalogEvent::Problem(Box::new(diagnostic)));
        }
    }

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
    fn publish_tools(&self) {
        let states = self.states();
        let mut registry = ToolRegistry::default();
        let mut duplicates = BTreeSet::new();
        for entry in states.iter().flat_map(SourceState::tools) {
            if let Err(entry) = registry.add(Arc::clone(entry)) {
                duplicates.insert(entry.id.to_string());
            }
        }
        let servers: Vec<_> = states.iter().flat_map(SourceState::servers).collect();
        // Under the lock: otherwise a task with an older snapshot of the states could overwrite the
        // registry of a newer one.
        self.runner.set_tools(registry);
        self.runner.context().upstreams.keep(&servers);
        self.changes.send_modify(|n| *n += 1);
        drop(states);
        let mut reported = self.reported_duplicates.lock().unwrap_or_else(PoisonError::into_inner);
        for id in duplicates.difference(&reported) {
            let code = codes::DUPLICATE_ID.name;
            let text = format!("`{id}` is defined twice; the first definition is used ({code})");
            self.publish_event(CatalogEvent::Note(text));
        }
        // A duplicate that disappears and comes back is reported again.
        *reported = duplicates;
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
    fn apply_plan(&self, plan: SourcePlan) {
        self.publish_plan_problems(&plan);
        self.runner.set_limits(plan.limits);
        let mut states = self.states();
        let mut old = std::mem::take(&mut *states);
        for spec in plan.specs {
            let unchanged = old.iter().position(|state| state.spec == spec);
            states.push(match unchanged {
                // The new specification, because its entry may have moved to another line.
                Some(n) => SourceState { spec, ..old.remove(n) },
                None => SourceState::new(spec),
            });
        }
        old.iter().for_each(|state| state.removed.cancel());
    }

    /// Polls the configuration and the files of all sources, and loads again what has changed.
    /// `source_prints` are the fingerprints from before the first load. Never ends by itself.
    async fn watch_files(
        self: &Arc<Self>,
        mut source_prints: Vec<(SourceSpec, u64)>,
        until: &CancellationToken,
    ) {
        let mut plan_files = (self.planner)().files;
        let mut plan_print = fingerprint(&plan_files);
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            if fingerprint(&plan_files) != plan_print {
                let plan = (self.planner)();
                plan_print = fingerprint(&plan_files);
                if plan.is_broken() {
                    // Probably an editor has written half of the file. Dropping all tools now would
                    // interrupt agents; the next poll sees the rest.
                    self.publish_plan_problems(&plan);
                    self.publish_event(CatalogEvent::Note(
                        "the configuration cannot be read; the previous one stays in use"
                            .to_owned(),
                    ));
                } else {
                    // A new configuration may include other files.
                    plan_files.clone_from(&plan.files);
                    plan_print = fingerprint(&plan_files);
                    self.apply_plan(plan);
                    self.spawn_source_tasks(until);
                    self.publish_tools();
                }
            }
            // Walking a large folder blocks for a while; on a thread of the runtime it would delay
            // calls.
            let catalog = Arc::clone(self);
            let Ok(now) = tokio::task::spawn_blocking(move || catalog.fingerprints()).await else {
                return;
            };
            // One at a time: files change rarely, and several changes of one source then cause one
            // load. A source without an earlier fingerprint is new and is loaded by its own task.
            for (spec, print) in &now {
                let before = source_prints.iter().find(|(known, _)| known == spec);
                if before.is_some_and(|(_, before)| before != print) {
                    self.load_definitions(spec, until).await;
                }
            }
            source_prints = now;
        }
    }

    /// A fingerprint of the files of each source, as they are now. Servers have none.
    fn fingerprints(&self) -> Vec<(SourceSpec, u64)> {
        let states: Vec<_> =
            self.states().iter().map(|state| (state.spec.clone(), state.bodies.clone())).collect();
        let with_files = states.into_iter().filter_map(|(spec, bodies)| {
            let mut files = match &spec.target {
                SourceTarget::Definitions(path) if path.is_dir() => self.workspace.files_in(path),
                SourceTarget::Definitions(path) | SourceTarget::Program(path) => vec![path.clone()],
                SourceTarget::Executables(folder) => {
                    crate::live_sources::programs_in(folder).unwrap_or_default()
                }
                SourceTarget::Server(..) => return None,
            };
            // Also the places where a body could be: creating the file completes its tool.
            files.extend(bodies);
            Some((spec, fingerprint(&files)))
        });
        with_files.collect()
    }
}

/// Whether a definition leaves the input schema to its server, and the server has not been asked
/// yet. Such a tool is registered, but a call cannot check or convert its arguments.
fn waits_for_its_server(entry: &RegisteredTool) -> bool {
    let on_a_server = matches!(entry.tool.details.binding, Binding::Server { .. });
    on_a_server && entry.tool.input == InputSchema::Deferred && entry.status == ToolStatus::Ready
}

/// A number that changes when one of the files changes, appears or disappears. Sizes and times
/// only: reading all contents every second would cost too much.
fn fingerprint(files: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        size_and_mtime(file).hash(&mut hasher);
    }
    hasher.finish()
}

/// The size in bytes and the modification time in nanoseconds; `None` for a missing file.
fn size_and_mtime(file: &Path) -> Option<(u64, u128)> {
    let metadata = file.metadata().ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((metadata.len(), modified.as_nanos()))
}
