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
use toolwright_source::Diagnostic;

use crate::gate::{Lanes, gate};
use crate::hosted::{Hosted, Served};
use crate::live::{SpecLoad, Unloaded, load_spec};
use crate::plan::{Plan, Spec, What};
use crate::slot::Slot;
use toolwright_source::codes;

/// How often files are looked at for changes.
const LOOK: Duration = Duration::from_secs(1);
/// The pause before a changed list is loaded again.
const CALM: Duration = Duration::from_millis(300);
/// The first and the longest pause before a server that could not be loaded is tried again.
const RETRY: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));

/// Something that happened while loading, for whoever tells people.
#[derive(Debug)]
pub enum Event {
    /// A source was loaded.
    Loaded {
        /// What it is called.
        source: String,
        /// Its tools that can be called.
        ready: usize,
        /// Its tools that are set aside.
        aside: usize,
    },
    /// What is wrong in a document.
    Problem(Box<Diagnostic>),
    /// A source, or one program of it, could not be loaded.
    Unloaded(Unloaded),
    /// A sentence about something that could not be read, or is there twice.
    Note(String),
}

/// Takes events as they happen.
pub type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// Makes the plan anew, when its files have changed.
pub type Planner = Arc<dyn Fn() -> Plan + Send + Sync>;

/// The sources of one program, and the tools they gave.
pub struct Catalog {
    runner: Arc<Runner>,
    listener: Listener,
    planner: Planner,
    slots: Mutex<Vec<Slot>>,
    /// Ids that are there twice and have been told of.
    twice: Mutex<BTreeSet<String>>,
    /// Counts the changes of the list of tools.
    changes: watch::Sender<u64>,
}

impl Catalog {
    /// The catalog of a plan. Nothing is loaded yet.
    pub fn new(runner: Arc<Runner>, planner: Planner, listener: Listener) -> Arc<Catalog> {
        let catalog = Arc::new(Catalog {
            runner,
            listener,
            planner,
            slots: Mutex::default(),
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
        self.slots().len()
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: Event) {
        (self.listener)(&event);
    }

    /// Loads what can hold the tool `id`, and no more: files and programs always, of the servers
    /// the one that `id` starts with, or all when it does not say. Returns what could not be
    /// loaded.
    pub async fn load_for(&self, id: &str) -> Vec<Unloaded> {
        let specs: Vec<Spec> = self.slots().iter().map(|slot| slot.spec.clone()).collect();
        let namespace = id.split_once(':').map(|(namespace, _)| namespace);
        let wanted = |spec: &&Spec| match (&spec.what, namespace) {
            (What::Server(_, Some(own)), Some(wanted)) => own.as_str() == wanted,
            _ => true,
        };
        let (mut servers, others): (Vec<&Spec>, Vec<&Spec>) =
            specs.iter().filter(wanted).partition(|spec| matches!(spec.what, What::Server(..)));
        let others = others.into_iter().map(|spec| self.load_one(spec).boxed());
        let mut unloaded = self.load_until(id, others.collect()).await;
        // A bare name could be that of another tool as well, so it waited for all of them.
        let found = self.runner.registry().find(id).map(Arc::clone);
        if found.as_ref().is_some_and(|entry| !waits_for_its_server(entry)) {
            return unloaded;
        }
        // A definition that was found needs its own server, and no other.
        let namespace_of_found = found.as_ref().and_then(|entry| entry.id.namespace.as_ref());
        let namespace = namespace_of_found.map(Namespace::as_str).or(namespace);
        if found.is_some() {
            servers.clear();
        }
        let guests = self.guests(|guest| namespace.is_none_or(|wanted| guest.as_str() == wanted));
        let guests = guests.iter().map(|(spec, hosted)| self.meet(spec, hosted).boxed());
        let servers = servers.into_iter().map(|spec| self.load_one(spec).boxed());
        unloaded.extend(self.load_until(id, guests.chain(servers).collect()).await);
        unloaded
    }

    /// Waits for loads, until there is a tool with exactly this id.
    async fn load_until(
        &self,
        id: &str,
        mut loads: FuturesUnordered<BoxFuture<'_, Vec<Unloaded>>>,
    ) -> Vec<Unloaded> {
        let mut unloaded = Vec::new();
        while let Some(failed) = loads.next().await {
            unloaded.extend(failed);
            if self.runner.registry().get(id).is_some_and(|entry| !waits_for_its_server(entry)) {
                break;
            }
        }
        unloaded
    }

    /// The toolsets on servers that their definitions name, where they came from, by their
    /// namespace.
    fn guests(&self, wanted: impl Fn(&Namespace) -> bool) -> Vec<(Spec, Arc<Hosted>)> {
        let slots = self.slots();
        let of_slot = |slot: &Slot| {
            let guests = slot.guests.iter().filter(|guest| wanted(&guest.hosted.namespace));
            guests.map(|guest| (slot.spec.clone(), Arc::clone(&guest.hosted))).collect::<Vec<_>>()
        };
        slots.iter().flat_map(of_slot).collect()
    }

    /// Loads everything, once. Returns what could not be loaded.
    pub async fn load_all(&self) -> Vec<Unloaded> {
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
        let mut slots = self.slots();
        let mut fresh = Vec::new();
        for slot in slots.iter_mut().filter(|slot| !slot.followed) {
            slot.followed = true;
            fresh.push((slot.spec.clone(), slot.gone.clone()));
        }
        drop(slots);
        fresh.into_iter().for_each(|(spec, gone)| self.follow_one(spec, gone, until));
    }

    fn follow_one(
        self: &Arc<Self>,
        spec: Spec,
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

    async fn keep_loaded(self: &Arc<Self>, spec: &Spec, until: &CancellationToken) {
        match &spec.what {
            What::Server(server, _) => self.keep_asking(server, || self.load_one(spec)).await,
            _ => self.load_and_follow(spec, until).await,
        }
    }

    /// Loads a source of definitions, and follows the servers that they name.
    async fn load_and_follow(self: &Arc<Self>, spec: &Spec, until: &CancellationToken) {
        self.load_one(spec).await;
        let mut slots = self.slots();
        let guests =
            slots.iter_mut().filter(|slot| slot.spec == *spec).flat_map(|slot| &mut slot.guests);
        for guest in guests.filter(|guest| !guest.followed) {
            guest.followed = true;
            let (catalog, spec, until) = (Arc::clone(self), spec.clone(), until.clone());
            let (hosted, gone) = (Arc::clone(&guest.hosted), guest.gone.clone());
            tokio::spawn(async move {
                let follow = catalog.keep_asking(&hosted.server, || catalog.meet(&spec, &hosted));
                until.run_until_cancelled(gone.run_until_cancelled(follow)).await;
            });
        }
    }

    /// Asks a server for its tools, again whenever they change, and now and then while it gives no
    /// answer.
    async fn keep_asking<F: Future<Output = Vec<Unloaded>>>(
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
        self.slots().iter().all(Slot::is_settled)
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
    async fn load_one(&self, spec: &Spec) -> Vec<Unloaded> {
        let SpecLoad { found, unloaded } = load_spec(spec, self.runner.context()).await;
        let worked = unloaded.is_empty();
        unloaded.iter().for_each(|unloaded| self.tell(Event::Unloaded(unloaded.clone())));
        found.failures.iter().for_each(|failure| self.tell(Event::Note(failure.to_string())));
        for name in &found.unparsed {
            self.tell(Event::Note(format!("`{name}` could not be parsed and is skipped")));
        }
        let limits = self.runner.limits();
        let mut entries = Vec::new();
        let mut bodies = Vec::new();
        let mut hosted = Vec::new();
        let mut lanes = self.lanes_of(spec);
        for loaded in found.files {
            let gated = gate(loaded, &limits, spec, &mut lanes);
            gated.diagnostics.into_iter().for_each(|d| self.tell(Event::Problem(Box::new(d))));
            entries.extend(gated.entries);
            bodies.extend(gated.bodies);
            hosted.extend(gated.hosted);
        }
        if worked || !entries.is_empty() {
            let own = hosted.iter().flat_map(|hosted| hosted.own.iter().map(|(_, entry)| entry));
            self.tell_loaded(&spec.name, entries.iter().chain(own));
        }
        let mut slots = self.slots();
        if let Some(slot) = slots.iter_mut().find(|slot| slot.spec == *spec) {
            slot.tried = true;
            slot.lanes.extend(lanes);
            slot.bodies = bodies;
            slot.host(hosted);
            // A server that is away for a moment keeps its place in the list.
            if worked || !entries.is_empty() {
                slot.entries = entries;
            }
        }
        drop(slots);
        self.refill();
        unloaded
    }

    /// The permits of a source's toolsets.
    fn lanes_of(&self, spec: &Spec) -> Lanes {
        let slots = self.slots();
        slots
            .iter()
            .find(|slot| slot.spec == *spec)
            .map(|slot| slot.lanes.clone())
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
        self.tell(Event::Loaded { source: source.to_owned(), ready, aside });
    }

    /// Asks the server that a definition names for its tools. Returns why it gave no answer.
    async fn meet(&self, spec: &Spec, hosted: &Arc<Hosted>) -> Vec<Unloaded> {
        let mut lanes = self.lanes_of(spec);
        let asked =
            hosted.ask(spec, self.runner.context(), &self.runner.limits(), &mut lanes).await;
        let (met, unloaded) = match asked {
            Ok(Served { entries: served, diagnostics }) => {
                let (tools, missing) = hosted.meet(&served);
                let problems = diagnostics.into_iter().chain(missing);
                problems.for_each(|d| self.tell(Event::Problem(Box::new(d))));
                self.tell_loaded(hosted.namespace.as_str(), tools.iter());
                (Some((served, tools)), Vec::new())
            }
            Err(failure) => {
                let unloaded = Unloaded { source: hosted.namespace.to_string(), failure };
                self.tell(Event::Unloaded(unloaded.clone()));
                (None, vec![unloaded])
            }
        };
        let mut slots = self.slots();
        let slot = slots.iter_mut().find(|slot| slot.spec == *spec);
        let guest = slot.and_then(|slot| {
            slot.lanes.extend(lanes);
            slot.guests.iter_mut().find(|guest| Arc::ptr_eq(&guest.hosted, hosted))
        });
        if let Some(guest) = guest {
            guest.tried = true;
            // A server that is away for a moment keeps its tools in the list.
            if let Some((served, tools)) = met {
                guest.take(served, tools);
            }
        }
        drop(slots);
        self.refill();
        unloaded
    }

    /// Puts the tools of all sources into the runner.
    fn refill(&self) {
        let slots = self.slots();
        let mut toolbox = ToolRegistry::default();
        let mut twice = BTreeSet::new();
        for entry in slots.iter().flat_map(Slot::tools) {
            if let Err(entry) = toolbox.add(Arc::clone(entry)) {
                twice.insert(entry.id.to_string());
            }
        }
        let servers: Vec<_> = slots.iter().flat_map(Slot::servers).collect();
        // Under the lock, so that an older state never comes after a newer one.
        self.runner.set_tools(toolbox);
        self.runner.context().upstreams.keep(&servers);
        self.changes.send_modify(|n| *n += 1);
        drop(slots);
        let mut told = self.twice.lock().unwrap_or_else(PoisonError::into_inner);
        for id in twice.difference(&told) {
            let name = codes::DUPLICATE_ID.name;
            self.tell(Event::Note(format!("`{id}` is there twice; the first stays ({name})")));
        }
        *told = twice;
    }

    fn tell_of(&self, plan: &Plan) {
        plan.diagnostics.iter().for_each(|d| self.tell(Event::Problem(Box::new(d.clone()))));
        plan.failures.iter().for_each(|failure| self.tell(Event::Note(failure.to_string())));
    }

    /// Takes over a plan: sources that are as before stay as they are.
    fn adopt(&self, plan: Plan) {
        self.tell_of(&plan);
        self.runner.set_limits(plan.limits);
        let mut slots = self.slots();
        let mut old = std::mem::take(&mut *slots);
        for spec in plan.specs {
            let known = old.iter().position(|slot| slot.spec == spec);
            slots.push(match known {
                Some(n) => old.remove(n),
                None => Slot::new(spec),
            });
        }
        old.iter().for_each(|slot| slot.gone.cancel());
    }

    /// Looks at the files every now and then. `of_slots` is what they looked like before the first
    /// load.
    async fn look(self: &Arc<Self>, mut of_slots: Vec<(Spec, u64)>, until: &CancellationToken) {
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
                    self.tell(Event::Note(
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
                let before = of_slots.iter().find(|(known, _)| known == spec);
                if before.is_some_and(|(_, before)| before != print) {
                    self.load_and_follow(spec, until).await;
                }
            }
            of_slots = now;
        }
    }

    /// What the files of each source look like now.
    fn fingerprints(&self) -> Vec<(Spec, u64)> {
        let slots: Vec<_> =
            self.slots().iter().map(|slot| (slot.spec.clone(), slot.bodies.clone())).collect();
        let with_files = slots.into_iter().filter_map(|(spec, bodies)| {
            let mut files = match &spec.what {
                What::Definitions(path) if path.is_dir() => crate::files::walk(path).0,
                What::Definitions(path) | What::Program(path) => vec![path.clone()],
                What::Executables(folder) => crate::live::programs(folder).unwrap_or_default(),
                What::Server(..) => return None,
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
