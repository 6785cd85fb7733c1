//! Keeps everything loaded while `serve` runs: starts the tasks of sources and servers, and polls
//! files. A changed configuration is planned again; a source whose files changed is loaded again.
//! What servers report is followed by their own tasks (`server_task`).
//!
//! ```text
//! watch ─┬─ a task per source ─▶ keep_server_loaded, keep_builtin_loaded, load_definitions
//!        └─ one task, every second: configuration ─▶ apply_plan
//!                                   lock and store ─▶ pins
//!                                   files of each source ─▶ load_definitions
//! ```
//!
//! A file may be half written when it is read. A configuration that has become worse (broken, new
//! errors, no sources any more) is not applied, and the previous one stays in use.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use tokio_util::sync::CancellationToken;
use toolwright_workspace::{SourcePlan, SourceSpec, SourceTarget};

use super::{Catalog, CatalogEvent};
use crate::live_sources::programs_in;
use crate::server_definition::ServerDefinition;
use crate::server_task::ServerOwner;

/// How often files are compared with their last state. Polling needs no watch per folder, and it
/// also notices files that do not exist yet.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// A changed configuration is read once it has not changed for this long: an editor or a program
/// may still be writing it.
const CONFIG_QUIET_TIME: Duration = Duration::from_millis(200);

impl Catalog {
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
            let watching = futures::future::join(watching, catalog.close_drained());
            until.run_until_cancelled(watching).await;
        });
    }

    /// Starts a task for every source that has none yet: all of them at the start, the new ones
    /// after a change of the configuration.
    ///
    /// A task ends with `until`, or when its source leaves the plan.
    fn spawn_source_tasks(self: &Arc<Self>, until: &CancellationToken) {
        for state in self.states().iter_mut().filter(|state| !state.has_task) {
            state.has_task = true;
            let (catalog, until) = (Arc::clone(self), until.clone());
            let (spec, removed) = (state.spec.clone(), state.removed.clone());
            tokio::spawn(async move {
                let work = catalog.keep_source_loaded(&spec, &removed, &until);
                until.run_until_cancelled(work).await;
            });
        }
    }

    /// The task of one source. It never ends for a server and for a built-in toolset whose list can
    /// change; for files and programs it ends after the first load, because `watch_files` loads
    /// them again.
    async fn keep_source_loaded(
        self: &Arc<Self>,
        spec: &SourceSpec,
        removed: &CancellationToken,
        until: &CancellationToken,
    ) {
        match &spec.target {
            SourceTarget::Server(server, _) => {
                let owner = ServerOwner::Source(spec.clone(), Arc::clone(server));
                self.keep_server_loaded(&owner, removed).await
            }
            SourceTarget::Builtin(toolset, _) => {
                removed.run_until_cancelled(self.keep_builtin_loaded(spec, toolset)).await;
            }
            _ => {
                removed.run_until_cancelled(self.load_definitions(spec, until)).await;
            }
        }
    }

    /// Loads a built-in toolset, and again whenever it reports that its list has changed.
    async fn keep_builtin_loaded(&self, spec: &SourceSpec, toolset: &str) {
        // Subscribed before the first load, so that a change during it is noticed.
        let toolset = self.runner.context().builtin(toolset);
        let changes = toolset.ok().and_then(|toolset| toolset.changes());
        self.load_one(spec).await;
        let Some(mut changes) = changes else { return };
        while changes.changed().await.is_ok() {
            self.load_one(spec).await;
        }
    }

    /// Loads files or programs, and starts a task for every server that their definitions name and
    /// that has none yet.
    async fn load_definitions(self: &Arc<Self>, spec: &SourceSpec, until: &CancellationToken) {
        self.load_one(spec).await;
        for withheld in self.start_definition_servers(spec, until) {
            self.publish_event(CatalogEvent::Note(withheld));
        }
    }

    /// Starts a task for every server that the definitions of a source name, that has none yet and
    /// may be started. Returns a sentence about each of the others.
    fn start_definition_servers(
        self: &Arc<Self>,
        spec: &SourceSpec,
        until: &CancellationToken,
    ) -> Vec<String> {
        let mut withheld = Vec::new();
        let mut states = self.states();
        // The source may have been removed by a new configuration in the meantime.
        let Some(state) = states.iter_mut().find(|state| state.spec == *spec) else {
            return withheld;
        };
        for toolset in state.server_toolsets.iter_mut().filter(|toolset| !toolset.has_task) {
            if !self.may_start(&toolset.definition) {
                let ServerDefinition { namespace, trust, .. } = &*toolset.definition;
                let hash = trust.toolset_hash.as_ref().map_or("", |hash| hash.as_str());
                withheld.push(format!(
                    "`{namespace}` was found in a folder and names its own server, which is not \
                     started before you allow it: \
                     `toolwright grants add {namespace} mcp:connect --hash {hash}`"
                ));
                continue;
            }
            toolset.has_task = true;
            let (catalog, spec, until) = (Arc::clone(self), spec.clone(), until.clone());
            let (definition, removed) = (Arc::clone(&toolset.definition), toolset.removed.clone());
            tokio::spawn(async move {
                let owner = ServerOwner::Definition(spec, definition);
                until.run_until_cancelled(catalog.keep_server_loaded(&owner, &removed)).await;
            });
        }
        withheld
    }

    /// Polls the configuration and the files of all sources, and loads again what has changed.
    /// `source_prints` are the fingerprints from before the first load. Never ends by itself.
    ///
    /// Everything in one loop, one after the other: two loads of one source at the same time would
    /// be waste, and the order of events is easier to follow.
    ///
    /// ```text
    /// every second:  configuration changed? ─ settled ─ plan ─┬─ worse: reported, not applied
    ///                                                         └─ apply_plan, tasks for new sources
    ///                lock or store changed? ─ pins compared again, tools published
    ///                files of a source changed? ─ load_definitions
    /// ```
    async fn watch_files(
        self: &Arc<Self>,
        mut source_prints: Vec<(SourceSpec, u64)>,
        until: &CancellationToken,
    ) {
        let plan = (self.planner)();
        let mut known_errors = error_messages(&plan);
        let mut plan_files = plan.files;
        let mut plan_print = fingerprint(&plan_files);
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            if fingerprint(&plan_files) != plan_print {
                wait_until_unchanged(&plan_files).await;
                let plan = (self.planner)();
                plan_print = fingerprint(&plan_files);
                // Probably an editor has written half of the file, or emptied it first. Dropping
                // all tools now would interrupt agents; the next poll sees the rest.
                let errors = error_messages(&plan);
                let problem = if plan.is_broken() {
                    Some("the configuration cannot be read")
                } else if errors
                    .iter()
                    .any(|(error, n)| known_errors.get(error).is_none_or(|own| n > own))
                {
                    // It lacks a source that its author may just be writing.
                    Some("the configuration has errors")
                } else if plan.specs.is_empty() && self.source_count() > 0 {
                    Some("the configuration has no sources any more")
                } else {
                    None
                };
                if let Some(problem) = problem {
                    self.publish_plan_problems(&plan);
                    let text = format!("{problem}; the previous one stays in use");
                    self.publish_event(CatalogEvent::Note(text));
                } else {
                    known_errors = errors;
                    // A new configuration may include other files.
                    plan_files.clone_from(&plan.files);
                    plan_print = fingerprint(&plan_files);
                    if self.apply_plan(plan) {
                        // As if all files had changed.
                        source_prints.iter_mut().for_each(|(_, print)| *print = !*print);
                    }
                    self.spawn_source_tasks(until);
                    self.publish_tools(self.states());
                }
            }
            self.refresh_pins().await;
            // Walking a large folder blocks for a while; on a thread of the runtime it would delay
            // calls.
            let catalog = Arc::clone(self);
            let Ok(now) = tokio::task::spawn_blocking(move || catalog.fingerprints()).await else {
                return;
            };
            // One at a time: files change rarely, and several changes of one source then cause one
            // load. A source without an earlier fingerprint is new and is loaded by its own task.
            for (spec, print) in &now {
                // Somebody may have allowed one meanwhile.
                self.start_definition_servers(spec, until);
                let before = source_prints.iter().find(|(known, _)| known == spec);
                if before.is_some_and(|(_, before)| before != print) {
                    self.load_definitions(spec, until).await;
                }
            }
            source_prints = now;
        }
    }

    /// Publishes everything again if a person has accepted something meanwhile.
    async fn refresh_pins(self: &Arc<Self>) {
        let Some(pins) = self.pins().cloned() else { return };
        if let Ok(Some(lines)) = tokio::task::spawn_blocking(move || pins.refresh()).await {
            self.publish_notes(lines);
            self.publish_tools(self.states());
        }
    }

    /// A fingerprint of the files of each source, as they are now. Servers and built-in toolsets
    /// have none.
    ///
    /// Blocks: it walks folders.
    fn fingerprints(&self) -> Vec<(SourceSpec, u64)> {
        let states: Vec<_> = self
            .states()
            .iter()
            .map(|state| (state.spec.clone(), state.body_files.clone()))
            .collect();
        let with_files = states.into_iter().filter_map(|(spec, body_files)| {
            let mut files = match &spec.target {
                SourceTarget::Definitions(path) if path.is_dir() => self.workspace.files_in(path),
                SourceTarget::Definitions(path) | SourceTarget::Program(path) => vec![path.clone()],
                SourceTarget::Executables(folder) => programs_in(folder).unwrap_or_default(),
                SourceTarget::Server(..) | SourceTarget::Builtin(..) => return None,
            };
            // Also the places where a body could be: creating the file completes its tool.
            files.extend(body_files);
            // A program is both: the source and its code.
            files.sort_unstable();
            files.dedup();
            Some((spec, fingerprint(&files)))
        });
        with_files.collect()
    }
}

/// The errors in the text of a plan, counted by message, without their places: lines move when
/// others are edited. A plan with more of any message than before has become worse.
fn error_messages(plan: &SourcePlan) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    plan.written_errors().for_each(|error| *counts.entry(error.message.clone()).or_default() += 1);
    counts
}

/// Waits until these files have not changed for a moment, at most a few seconds.
async fn wait_until_unchanged(files: &[PathBuf]) {
    let mut before = fingerprint(files);
    for _ in 0..10 {
        tokio::time::sleep(CONFIG_QUIET_TIME).await;
        let now = fingerprint(files);
        if now == before {
            return;
        }
        before = now;
    }
}

/// A number that changes when one of the files changes, appears or disappears. Sizes and times
/// only: reading all contents every second would cost too much.
///
/// Not stable between runs, and never written anywhere.
fn fingerprint(files: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in files {
        // A place where a file could be says nothing: the first load finds hundreds of them.
        if let Some(state) = size_time_and_inode(file) {
            (file, state).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// The size in bytes, the modification time in nanoseconds, and which file it is: a link may lead
/// to another one of the same size and time. `None` for a missing file.
fn size_time_and_inode(file: &Path) -> Option<(u64, u128, u64)> {
    let metadata = file.metadata().ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((metadata.len(), modified.as_nanos(), metadata.ino()))
}
