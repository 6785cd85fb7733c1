//! The tools of all sources, kept in the runner: loaded side by side, each source for itself, and
//! loaded again when something changes.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolwright_exec::{Entry, Runner, Toolbox};
use toolwright_model::{Binding, Server};
use toolwright_source::Diagnostic;

use crate::gate::{Lanes, gate};
use crate::live::{SpecLoad, Unloaded, load_spec};
use crate::plan::{Plan, Spec, What};
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

struct Slot {
    spec: Spec,
    entries: Vec<Arc<Entry>>,
    /// The permits of its toolsets, which outlive a reload.
    lanes: Lanes,
    /// Where the bodies of its tools are looked for.
    bodies: Vec<PathBuf>,
    /// Whether a first attempt to load it has ended.
    tried: bool,
    /// Whether somebody keeps it loaded.
    followed: bool,
    /// Ends what follows this source.
    gone: CancellationToken,
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

    /// Loads what can hold the tool `id`, and no more: files and programs always, of the servers the
    /// one that `id` starts with, or all when it does not say. Returns what could not be loaded.
    pub async fn load_for(&self, id: &str) -> Vec<Unloaded> {
        let specs: Vec<Spec> = self.slots().iter().map(|slot| slot.spec.clone()).collect();
        let wanted = |spec: &&Spec| match (&spec.what, id.split_once(':')) {
            (What::Server(_, Some(namespace)), Some((wanted, _))) => namespace.as_str() == wanted,
            _ => true,
        };
        let (servers, others): (Vec<&Spec>, Vec<&Spec>) =
            specs.iter().filter(wanted).partition(|spec| matches!(spec.what, What::Server(..)));
        let mut unloaded = Vec::new();
        for group in [others, servers] {
            let mut loads: FuturesUnordered<_> = group.into_iter().map(|spec| self.load_one(spec)).collect();
            while let Some(failed) = loads.next().await {
                unloaded.extend(failed);
                if self.runner.toolbox().get(id).is_some() {
                    return unloaded;
                }
            }
            // A bare name could be that of another tool as well, so it waits for all of a group.
            if self.runner.toolbox().find(id).is_some() {
                return unloaded;
            }
        }
        unloaded
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

    fn follow_one(self: &Arc<Self>, spec: Spec, gone: CancellationToken, until: &CancellationToken) {
        let catalog = Arc::clone(self);
        let until = until.clone();
        tokio::spawn(async move {
            let follow = catalog.keep_loaded(&spec);
            until.run_until_cancelled(gone.run_until_cancelled(follow)).await;
        });
    }

    async fn keep_loaded(&self, spec: &Spec) {
        let What::Server(server, _) = &spec.what else {
            self.load_one(spec).await;
            return;
        };
        let upstream = self.runner.parts().upstreams.get(server);
        let mut changes = upstream.changes();
        let mut pause = RETRY.0;
        loop {
            changes.mark_unchanged();
            if self.load_one(spec).await.is_empty() {
                pause = RETRY.0;
                if changes.changed().await.is_err() {
                    return;
                }
                // A server that changes all the time is followed at a pace that nobody else notices.
                tokio::time::sleep(CALM).await;
            } else {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(RETRY.1);
            }
        }
    }

    /// Whether every source has been tried.
    pub fn is_settled(&self) -> bool {
        self.slots().iter().all(|slot| slot.tried)
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
        let SpecLoad { found, unloaded } = load_spec(spec, self.runner.parts()).await;
        let worked = unloaded.is_empty();
        unloaded.iter().for_each(|unloaded| self.tell(Event::Unloaded(unloaded.clone())));
        found.failures.iter().for_each(|failure| self.tell(Event::Note(failure.to_string())));
        for name in &found.unparsed {
            self.tell(Event::Note(format!("`{name}` could not be parsed and is skipped")));
        }
        let limits = self.runner.limits();
        let mut entries = Vec::new();
        let mut bodies = Vec::new();
        let mut lanes = self
            .slots()
            .iter()
            .find(|slot| slot.spec == *spec)
            .map(|slot| slot.lanes.clone())
            .unwrap_or_default();
        for loaded in found.files {
            let gated = gate(loaded, &limits, spec, &mut lanes);
            gated.diagnostics.into_iter().for_each(|d| self.tell(Event::Problem(Box::new(d))));
            entries.extend(gated.entries);
            bodies.extend(gated.bodies);
        }
        if worked || !entries.is_empty() {
            let aside = entries.iter().filter(|e| e.standing != toolwright_exec::Standing::Ready).count();
            let ready = entries.len() - aside;
            self.tell(Event::Loaded { source: spec.name.clone(), ready, aside });
        }
        let mut slots = self.slots();
        if let Some(slot) = slots.iter_mut().find(|slot| slot.spec == *spec) {
            slot.tried = true;
            slot.lanes = lanes;
            slot.bodies = bodies;
            // A server that is away for a moment keeps its place in the list.
            if worked || !entries.is_empty() {
                slot.entries = entries;
            }
        }
        drop(slots);
        self.refill();
        unloaded
    }

    /// Puts the tools of all sources into the runner.
    fn refill(&self) {
        let slots = self.slots();
        let mut toolbox = Toolbox::default();
        let mut twice = BTreeSet::new();
        for entry in slots.iter().flat_map(|slot| &slot.entries) {
            if let Err(entry) = toolbox.add(Arc::clone(entry)) {
                twice.insert(entry.id.to_string());
            }
        }
        let servers: Vec<_> = slots.iter().flat_map(servers_of).collect();
        // Under the lock, so that an older state never comes after a newer one.
        self.runner.replace(toolbox);
        self.runner.parts().upstreams.keep(&servers);
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
        self.runner.limit(plan.limits);
        let mut slots = self.slots();
        let mut old = std::mem::take(&mut *slots);
        for spec in plan.specs {
            let known = old.iter().position(|slot| slot.spec == spec);
            slots.push(match known {
                Some(n) => old.remove(n),
                None => {
                    let gone = CancellationToken::new();
                    Slot {
                        spec,
                        entries: Vec::new(),
                        lanes: HashMap::new(),
                        bodies: Vec::new(),
                        tried: false,
                        followed: false,
                        gone,
                    }
                }
            });
        }
        old.iter().for_each(|slot| slot.gone.cancel());
    }

    /// Looks at the files every now and then. `of_slots` is what they looked like before the first load.
    async fn look(self: &Arc<Self>, mut of_slots: Vec<(Spec, u64)>, until: &CancellationToken) {
        let mut plan_files = (self.planner)().files;
        let mut of_plan = fingerprint(&plan_files);
        loop {
            tokio::time::sleep(LOOK).await;
            if fingerprint(&plan_files) != of_plan {
                let plan = (self.planner)();
                of_plan = fingerprint(&plan_files);
                if plan.is_broken() {
                    // Half a file, most likely: what was there before stays until it is whole again.
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
            let Ok(now) = tokio::task::spawn_blocking(move || catalog.fingerprints()).await else { return };
            for (spec, print) in &now {
                let before = of_slots.iter().find(|(known, _)| known == spec);
                if before.is_some_and(|(_, before)| before != print) {
                    self.load_one(spec).await;
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

/// The servers of a source: itself, or those its definitions name.
fn servers_of(slot: &Slot) -> Vec<Arc<Server>> {
    match &slot.spec.what {
        What::Server(server, _) => vec![Arc::clone(server)],
        _ => {
            let bindings = slot.entries.iter().map(|entry| &entry.tool.details.binding);
            let servers = bindings.filter_map(|binding| match binding {
                Binding::Server { server, .. } => Some(Arc::clone(server)),
                _ => None,
            });
            servers.collect()
        }
    }
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
