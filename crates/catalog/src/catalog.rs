//! The tools of all sources, kept in the runner: loaded side by side, each source for itself, and
//! loaded again when something changes.

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
use crate::server_definition::{ListedTools, ServerDefinition};
use crate::source_state::SourceState;

/// How often files are looked at for changes.
const LOOK: Duration = Duration::from_secs(1);
/// The pause before a changed list is loaded again.
const CALM: Duration = Duration::from_millis(300);
/// The first and the longest pause before a server that could not be loaded is tried again.
const RETRY: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));

/// Something that happened while loading, for whoever tells people.
#[derive(Debug)]
pub enum CatalogEvent {
    /// A source was loaded.
    Loaded {
        /// What it is called.
        source: String,
        /// Its tools that can be called.
        ready: usize,
        /// Its tools that are quarantined.
        aside: usize,
    },
    /// What is wrong in a document.
    Problem(Box<Diagnostic>),
    /// A source, or one program of it, could not be loaded.
    SourceFailure(SourceFailure),
    /// A sentence about something that could not be read, or is there twice.
    Note(String),
}

/// Takes events as they happen.
pub type EventListener = Arc<dyn Fn(&CatalogEvent) + Send + Sync>;

/// Makes the plan anew, when its files have changed.
pub type Planner = Arc<dyn Fn() -> SourcePlan + Send + Sync>;

/// The sources of one program, and the tools they gave.
pub struct Catalog {
    runner: Arc<Runner>,
    workspace: Workspace,
    listener: EventListener,
    planner: Planner,
    states: Mutex<Vec<SourceState>>,
    /// Ids that are there twice and have been reported of.
    twice: Mutex<BTreeSet<String>>,
    /// Counts the changes of the list of tools.
    changes: watch::Sender<u64>,
}

impl Catalog {
    /// The catalog of a plan. Nothing is loaded yet.
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
            twice: Mutex::default(),
            changes: watch::Sender::new(0),
        });
        catalog.adopt((catalog.planner)());
        catalog
    }

    /// The runner its tools are in.
    pub fn runner(&self) -> &Arc<Runner> {
        &self.runner
    }

    /// Counts the changes of the list of tools.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// How many sources there are.
    pub fn sources(&self) -> usize {
        self.states().len()
    }

    fn states(&self) -> MutexGuard<'_, Vec<SourceState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: CatalogEvent) {
        (self.listener)(&event);
    }

    /// Loads what can hold the tool `id`, and no more: files and programs always, of the servers
    /// the one that `id` starts with, or all when it does not say. Returns what could not be
    /// loaded.
    pub async fn load_for(&self, id: &str) -> Vec<SourceFailure> {
        let specs: Vec<SourceSpec> = self.states().iter().map(|state| state.spec.clone()).collect();
        let namespace = id.split_once(':').map(|(namespace, _)| namespace);
        let wanted = |spec: &&SourceSpec| match (&spec.target, namespace) {
            (SourceTarget::Server(_, Some(own)), Some(wanted)) => own.as_str() == wanted,
            _ => true,
        };
        let (mut servers, others): (Vec<&SourceSpec>, Vec<&SourceSpec>) = specs
            .iter()
            .filter(wanted)
            .partition(|spec| matches!(spec.target, SourceTarget::Server(..)));
        let others = others.into_iter().map(|spec| self.load_one(spec).boxed());
        let mut failures = self.load_until(id, others.collect()).await;
        // A bare name could be that of another tool as well, so it waited for all of them.
        let found = self.runner.registry().find(id).map(Arc::clone);
        if found.as_ref().is_some_and(|entry| !waits_for_its_server(entry)) {
            return failures;
        }
        // A definition that was found needs its own server, and no other.
        let namespace_of_found = found.as_ref().and_then(|entry| entry.id.namespace.as_ref());
        let namespace = namespace_of_found.map(Namespace::as_str).or(namespace);
        if found.is_some() {
            servers.clear();
        }
        let server_toolsets = self.server_toolsets(|server_toolset| {
            namespace.is_none_or(|wanted| server_toolset.as_str() == wanted)
        });
        let server_toolsets =
            server_toolsets.iter().map(|(spec, definition)| self.merge(spec, definition).boxed());
        let servers = servers.into_iter().map(|spec| self.load_one(spec).boxed());
        failures.extend(self.load_until(id, server_toolsets.chain(servers).collect()).await);
        failures
    }

    /// Waits for loads, until there is a tool with exactly this id.
    async fn load_until(
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

    /// The toolsets on servers that their definitions name, where they came from, by their
    /// namespace.
    fn server_toolsets(
        &self,
        wanted: impl Fn(&Namespace) -> bool,
    ) -> Vec<(SourceSpec, Arc<ServerDefinition>)> {
        let states = self.states();
        let of_slot = |state: &SourceState| {
            let server_toolsets = state
                .server_toolsets
                .iter()
                .filter(|server_toolset| wanted(&server_toolset.definition.namespace));
            server_toolsets
                .map(|server_toolset| (state.spec.clone(), Arc::clone(&server_toolset.definition)))
                .collect::<Vec<_>>()
        };
        states.iter().flat_map(of_slot).collect()
    }

    /// Loads everything, once. Returns what could not be loaded.
    pub async fn load_all(&self) -> Vec<SourceFailure> {
        // No tool has this id, so nothing ends the search early.
        self.load_for("").await
    }

    /// Loads everything in the background, and follows it from then on: servers that change their
    /// list or come up late, and files that change. Ends with `until`.
    pub fn follow(self: &Arc<Self>, until: &CancellationToken) {
        let before = self.fingerprints();
        self.follow_all(until);
        let catalog = Arc::clone(self);
        let until = until.clone();
        tokio::spawn(async move {
            let look = catalog.look(before, &until);
            until.run_until_cancelled(look).await;
        });
    }

    /// Follows every source that nobody follows yet.
    fn follow_all(self: &Arc<Self>, until: &CancellationToken) {
        let mut states = self.states();
        let mut fresh = Vec::new();
        for state in states.iter_mut().filter(|state| !state.followed) {
            state.followed = true;
            fresh.push((state.spec.clone(), state.gone.clone()));
        }
        drop(states);
        fresh.into_iter().for_each(|(spec, gone)| self.follow_one(spec, gone, until));
    }

    fn follow_one(
        self: &Arc<Self>,
        spec: SourceSpec,
        gone: CancellationToken,
        until: &CancellationToken,
    ) {
        let catalog = Arc::clone(self);
        let until = until.clone();
        tokio::spawn(async move {
            let follow = catalog.keep_loaded(&spec, &until);
            until.run_until_cancelled(gone.run_until_cancelled(follow)).await;
        });
    }

    async fn keep_loaded(self: &Arc<Self>, spec: &SourceSpec, until: &CancellationToken) {
        match &spec.target {
            SourceTarget::Server(server, _) => {
                self.keep_asking(server, || self.load_one(spec)).await
            }
            _ => self.load_and_follow(spec, until).await,
        }
    }

    /// Loads a source of definitions, and follows the servers that they name.
    async fn load_and_follow(self: &Arc<Self>, spec: &SourceSpec, until: &CancellationToken) {
        self.load_one(spec).await;
        let mut states = self.states();
        let server_toolsets = states
            .iter_mut()
            .filter(|state| state.spec == *spec)
            .flat_map(|state| &mut state.server_toolsets);
        for server_toolset in server_toolsets.filter(|server_toolset| !server_toolset.followed) {
            server_toolset.followed = true;
            let (catalog, spec, until) = (Arc::clone(self), spec.clone(), until.clone());
            let (definition, gone) =
                (Arc::clone(&server_toolset.definition), server_toolset.gone.clone());
            tokio::spawn(async move {
                let follow =
                    catalog.keep_asking(&definition.server, || catalog.merge(&spec, &definition));
                until.run_until_cancelled(gone.run_until_cancelled(follow)).await;
            });
        }
    }

    /// Asks a server for its tools, again whenever they change, and now and then while it gives no
    /// answer.
    async fn keep_asking<F: Future<Output = Vec<SourceFailure>>>(
        &self,
        server: &Arc<Server>,
        ask: impl Fn() -> F,
    ) {
        let mut changes = self.runner.context().upstreams.get(server).changes();
        let mut pause = RETRY.0;
        loop {
            changes.mark_unchanged();
            if ask().await.is_empty() {
                pause = RETRY.0;
                if changes.changed().await.is_err() {
                    return;
                }
                // A server that changes all the time is followed at a pace that nobody else
                // notices.
                tokio::time::sleep(CALM).await;
            } else {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(RETRY.1);
            }
        }
    }

    /// Whether every source has been tried.
    pub fn is_settled(&self) -> bool {
        self.states().iter().all(SourceState::is_settled)
    }

    /// Waits until every source has been tried, but no longer than `time`.
    pub async fn settled(&self, time: Duration) {
        let mut changes = self.changes.subscribe();
        let wait = async {
            while !self.is_settled() {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(time, wait).await;
    }

    /// Loads one source. Returns what of it could not be loaded.
    async fn load_one(&self, spec: &SourceSpec) -> Vec<SourceFailure> {
        let SourceLoad { found, failures } =
            load_source(spec, &self.workspace, self.runner.context()).await;
        let worked = failures.is_empty();
        failures
            .iter()
            .for_each(|failures| self.tell(CatalogEvent::SourceFailure(failures.clone())));
        found
            .failures
            .iter()
            .for_each(|failure| self.tell(CatalogEvent::Note(failure.to_string())));
        for name in &found.unparsed {
            self.tell(CatalogEvent::Note(format!("`{name}` could not be parsed and is skipped")));
        }
        let limits = self.runner.limits();
        let mut entries = Vec::new();
        let mut bodies = Vec::new();
        let mut definition = Vec::new();
        let mut concurrency = self.concurrency_limits_of(spec);
        for loaded in found.documents {
            let result = gate(loaded, &limits, spec, &mut concurrency);
            result
                .diagnostics
                .into_iter()
                .for_each(|d| self.tell(CatalogEvent::Problem(Box::new(d))));
            entries.extend(result.entries);
            bodies.extend(result.bodies);
            definition.extend(result.definition);
        }
        if worked || !entries.is_empty() {
            let own = definition
                .iter()
                .flat_map(|definition| definition.own.iter().map(|(_, entry)| entry));
            self.tell_loaded(&spec.name, entries.iter().chain(own));
        }
        let mut states = self.states();
        if let Some(state) = states.iter_mut().find(|state| state.spec == *spec) {
            state.tried = true;
            state.concurrency.extend(concurrency);
            state.bodies = bodies;
            state.host(definition);
            // A server that is away for a moment keeps its place in the list.
            if worked || !entries.is_empty() {
                state.entries = entries;
            }
        }
        drop(states);
        self.refill();
        failures
    }

    /// The permits of a source's toolsets.
    fn concurrency_limits_of(&self, spec: &SourceSpec) -> ConcurrencyLimits {
        let states = self.states();
        states
            .iter()
            .find(|state| state.spec == *spec)
            .map(|state| state.concurrency.clone())
            .unwrap_or_default()
    }

    fn tell_loaded<'e>(
        &self,
        source: &str,
        entries: impl Iterator<Item = &'e Arc<RegisteredTool>>,
    ) {
        let (ready, aside): (Vec<_>, Vec<_>) =
            entries.partition(|entry| entry.status == ToolStatus::Ready);
        let (ready, aside) = (ready.len(), aside.len());
        self.tell(CatalogEvent::Loaded { source: source.to_owned(), ready, aside });
    }

    /// Asks the server that a definition names for its tools. Returns why it gave no answer.
    async fn merge(
        &self,
        spec: &SourceSpec,
        definition: &Arc<ServerDefinition>,
    ) -> Vec<SourceFailure> {
        let mut concurrency = self.concurrency_limits_of(spec);
        let asked = definition
            .ask(
                spec,
                &self.workspace,
                self.runner.context(),
                &self.runner.limits(),
                &mut concurrency,
            )
            .await;
        let (merged, failures) = match asked {
            Ok(ListedTools { entries: served, diagnostics }) => {
                let (tools, missing) = definition.merge(&served);
                let problems = diagnostics.into_iter().chain(missing);
                problems.for_each(|d| self.tell(CatalogEvent::Problem(Box::new(d))));
                self.tell_loaded(definition.namespace.as_str(), tools.iter());
                (Some((served, tools)), Vec::new())
            }
            Err(failure) => {
                let failures = SourceFailure { source: definition.namespace.to_string(), failure };
                self.tell(CatalogEvent::SourceFailure(failures.clone()));
                (None, vec![failures])
            }
        };
        let mut states = self.states();
        let state = states.iter_mut().find(|state| state.spec == *spec);
        let server_toolset = state.and_then(|state| {
            state.concurrency.extend(concurrency);
            state
                .server_toolsets
                .iter_mut()
                .find(|server_toolset| Arc::ptr_eq(&server_toolset.definition, definition))
        });
        if let Some(server_toolset) = server_toolset {
            server_toolset.tried = true;
            // A server that is away for a moment keeps its tools in the list.
            if let Some((served, tools)) = merged {
                server_toolset.take(served, tools);
            }
        }
        drop(states);
        self.refill();
        failures
    }

    /// Puts the tools of all sources into the runner.
    fn refill(&self) {
        let states = self.states();
        let mut toolbox = ToolRegistry::default();
        let mut twice = BTreeSet::new();
        for entry in states.iter().flat_map(SourceState::tools) {
            if let Err(entry) = toolbox.add(Arc::clone(entry)) {
                twice.insert(entry.id.to_string());
            }
        }
        let servers: Vec<_> = states.iter().flat_map(SourceState::servers).collect();
        // Under the lock, so that an older state never comes after a newer one.
        self.runner.set_tools(toolbox);
        self.runner.context().upstreams.keep(&servers);
        self.changes.send_modify(|n| *n += 1);
        drop(states);
        let mut reported = self.twice.lock().unwrap_or_else(PoisonError::into_inner);
        for id in twice.difference(&reported) {
            let name = codes::DUPLICATE_ID.name;
            self.tell(CatalogEvent::Note(format!(
                "`{id}` is there twice; the first stays ({name})"
            )));
        }
        *reported = twice;
    }

    fn tell_of(&self, plan: &SourcePlan) {
        plan.diagnostics.iter().for_each(|d| self.tell(CatalogEvent::Problem(Box::new(d.clone()))));
        plan.failures.iter().for_each(|failure| self.tell(CatalogEvent::Note(failure.to_string())));
    }

    /// Takes over a plan: sources that are as before stay as they are.
    fn adopt(&self, plan: SourcePlan) {
        self.tell_of(&plan);
        self.runner.set_limits(plan.limits);
        let mut states = self.states();
        let mut old = std::mem::take(&mut *states);
        for spec in plan.specs {
            let known = old.iter().position(|state| state.spec == spec);
            states.push(match known {
                Some(n) => old.remove(n),
                None => SourceState::new(spec),
            });
        }
        old.iter().for_each(|state| state.gone.cancel());
    }

    /// Looks at the files every now and then. `of_states` is what they looked like before the first
    /// load.
    async fn look(
        self: &Arc<Self>,
        mut of_states: Vec<(SourceSpec, u64)>,
        until: &CancellationToken,
    ) {
        let mut plan_files = (self.planner)().files;
        let mut of_plan = fingerprint(&plan_files);
        loop {
            tokio::time::sleep(LOOK).await;
            if fingerprint(&plan_files) != of_plan {
                let plan = (self.planner)();
                of_plan = fingerprint(&plan_files);
                if plan.is_broken() {
                    // Half a file, most likely: what was there before stays until it is whole
                    // again.
                    self.tell_of(&plan);
                    self.tell(CatalogEvent::Note(
                        "the configuration cannot be read; the one before it stays".to_owned(),
                    ));
                } else {
                    plan_files.clone_from(&plan.files);
                    of_plan = fingerprint(&plan_files);
                    self.adopt(plan);
                    self.follow_all(until);
                    self.refill();
                }
            }
            // A large folder takes a while to walk, and calls must not wait for that.
            let catalog = Arc::clone(self);
            let Ok(now) = tokio::task::spawn_blocking(move || catalog.fingerprints()).await else {
                return;
            };
            for (spec, print) in &now {
                let before = of_states.iter().find(|(known, _)| known == spec);
                if before.is_some_and(|(_, before)| before != print) {
                    self.load_and_follow(spec, until).await;
                }
            }
            of_states = now;
        }
    }

    /// What the files of each source look like now.
    fn fingerprints(&self) -> Vec<(SourceSpec, u64)> {
        let states: Vec<_> =
            self.states().iter().map(|state| (state.spec.clone(), state.bodies.clone())).collect();
        let with_files = states.into_iter().filter_map(|(spec, bodies)| {
            let mut files = match &spec.target {
                SourceTarget::Definitions(path) if path.is_dir() => self.workspace.files_in(path),
                SourceTarget::Definitions(path) | SourceTarget::Program(path) => vec![path.clone()],
                SourceTarget::Executables(folder) => {
                    crate::live_sources::programs(folder).unwrap_or_default()
                }
                SourceTarget::Server(..) => return None,
            };
            files.extend(bodies);
            Some((spec, fingerprint(&files)))
        });
        with_files.collect()
    }
}

/// Whether only its server can say what it takes.
fn waits_for_its_server(entry: &RegisteredTool) -> bool {
    let on_a_server = matches!(entry.tool.details.binding, Binding::Server { .. });
    on_a_server && entry.tool.input == InputSchema::Deferred && entry.status == ToolStatus::Ready
}

/// A number that changes when one of the files does.
fn fingerprint(files: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        stamp(file).hash(&mut hasher);
    }
    hasher.finish()
}

fn stamp(file: &Path) -> Option<(u64, u128)> {
    let metadata = file.metadata().ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((metadata.len(), modified.as_nanos()))
}
