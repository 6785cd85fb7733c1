//! Pins: which definitions differ from those that a person accepted, and what is done about it.
//!
//! ```text
//! load ─▶ PinnedPart of every tool, prompt, … ─ observe ─┐
//! toolwright.lock, else the user's store ── accepted ────┴─▶ PinDrift: changed, new, gone
//!                                                              │ enforce: `reason_aside`
//! publish_tools, publish_offers ◀── set aside alone ───────────┘ warn: a line in the log
//! ```
//!
//! A toolset that is used for the first time is accepted as it is. Later, a tool that changed or is
//! new is set aside alone; a change outside of every tool sets all of them aside. Tools are
//! compared when they are loaded, never when they are called. When a person accepts a change,
//! another process writes it to the lock and the store; [`Pins::refresh`] notices that, and the
//! tools are published again.
//!
//! The lock decides if there is one, and the store has the texts, so that a person can see which
//! words changed.
//!
//! ```text
//! accepted before │ now          │ what follows
//! this hash       │ this hash    │ nothing
//! this hash       │ another hash │ Changed: set aside
//! this hash       │ missing      │ Gone: nothing is set aside for it
//! nothing         │ any hash     │ New: set aside, unless its list is used for the first time
//! ```
//!
//! Hashes are compared, never texts, so a lock without a store decides just as well. Nothing is
//! ever accepted in the purposes `Review` and `List`.
//!
//! Everything is under one lock, also reads of the store: they take microseconds, and happen when
//! something is loaded and not for calls.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use toolwright_exec::{PinnedTool, RegisteredTool};
use toolwright_source::words;
use toolwright_workspace::{
    LockEntry, LockError, LockFile, PinKind, PinList, PinMode, PinnedPart, SourceSpec,
    TrustSettings,
};

use crate::pin_review::{PinReview, ReviewScope, ReviewedToolset};
use crate::pin_subject::{FoundIn, PinSubject, folder_key, walked_folder};
use crate::server_offers::ServerOffers;
use crate::store::{AcceptedBy, Store, StoreError, StoredPins};

/// Tools that a line of the log names.
const NAMED: usize = 3;

/// How a part differs from what was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinChange {
    /// It is accepted with another text.
    Changed,
    /// It is not accepted.
    New,
    /// It is accepted and not there any more. Nothing is set aside for it.
    Gone,
}

/// A part that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinDrift {
    /// What it is.
    pub kind: PinKind,
    /// Its name.
    pub name: String,
    /// How it differs.
    pub change: PinChange,
}

/// A toolset as it is now, beside what was accepted of it. Kept for as long as the process lives,
/// also after its source was removed.
#[derive(Clone, Debug, Default)]
struct ObservedToolset {
    /// Set by the first `observe`.
    subject: Option<PinSubject>,
    /// The parts of each list that is known.
    lists: BTreeMap<PinList, Vec<PinnedPart>>,
    /// What differs. Empty if the pins are not compared (`Off`), or if everything is accepted.
    drift: Vec<PinDrift>,
    /// What the store had about it when it could be read last.
    stored: Option<StoredPins>,
    /// The line of the log about it, to write it once.
    reported: Option<String>,
}

/// The pins of one process. The catalog shows it everything that it loads (`observe`), and asks it
/// what may be published (`reason_aside`, `accepted_offers`).
pub(crate) struct Pins {
    /// The accepted pins; `None` if it cannot be opened and the configuration does not require it.
    store: Option<Store>,
    /// Never held while a caller waits for a person or a server.
    state: Mutex<PinState>,
    purpose: PinPurpose,
}

/// What the comparison is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PinPurpose {
    /// Tools are used: toolsets that are new are accepted.
    Use,
    /// A person looks at the differences: nothing is accepted or set aside.
    Review,
    /// Tools are listed, and nothing is accepted.
    List,
}

/// What the configuration says about pins, and the lock.
#[derive(Clone, Debug, Default)]
pub(crate) struct PinPlan {
    pub(crate) settings: TrustSettings,
    /// Where `toolwright.lock` is or would be; `None` without a configuration.
    pub(crate) lock_path: Option<PathBuf>,
}

impl PinPlan {
    /// The mode, given whether there is a lock.
    fn mode(&self, has_lock: bool) -> PinMode {
        let default = if has_lock { PinMode::Enforce } else { PinMode::Warn };
        self.settings.pin.unwrap_or(default)
    }
}

struct PinState {
    plan: PinPlan,
    /// What the plan and the lock come to: `enforce` if there is a lock and nothing else is said.
    mode: PinMode,
    /// As it was read last; `None` if there is none.
    lock: Option<LockFile>,
    /// Size and time of the lock when it was read, to notice that it has changed.
    lock_print: Option<(u64, SystemTime)>,
    /// Changes when somebody writes to the tables of pins; empty if the store cannot be read.
    store_state: String,
    toolsets: BTreeMap<Arc<str>, ObservedToolset>,
    /// Counts the changes of differences. What was published with an older number may be outdated.
    changes: u64,
}

/// Why pins cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PinError {
    /// The lock cannot.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store cannot.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user has no folder for a store.
    #[error("{0}")]
    NoFolder(String),
}

impl Pins {
    /// The pins of the lock and of the store in `folder`. The second part is a sentence for the log
    /// if one of them cannot be used and the configuration does not demand it; nothing is compared
    /// then.
    ///
    /// # Errors
    /// If one of them cannot be used and the configuration demands it.
    ///
    /// ```text
    /// pin = "off", no review       nothing is compared
    /// lock that cannot be read     an error if pins are demanded, else only a sentence
    /// store that cannot be opened  the lock alone; without a lock as above
    /// ```
    pub(crate) fn open(
        folder: Result<PathBuf, String>,
        plan: PinPlan,
        purpose: PinPurpose,
    ) -> Result<(Option<Pins>, Option<String>), PinError> {
        if plan.settings.pin == Some(PinMode::Off) && purpose != PinPurpose::Review {
            return Ok((None, None));
        }
        let is_demanded = |mode: PinMode| match purpose {
            PinPurpose::Review => true,
            PinPurpose::Use => mode == PinMode::Enforce && plan.settings.required,
            PinPurpose::List => false,
        };
        let lock_path = plan.lock_path.as_deref();
        let lock_print = lock_path.and_then(file_stamp);
        let lock = match lock_path.map(LockFile::read).transpose() {
            Ok(lock) => lock.flatten(),
            // A lock that is there is enforced, unless the configuration says otherwise.
            Err(error) if is_demanded(plan.mode(true)) => return Err(error.into()),
            Err(error) => {
                return Ok((
                    None,
                    Some(format!("definitions are not compared with pins: {error}")),
                ));
            }
        };
        let mode = plan.mode(lock.is_some());
        let store = folder.map_err(PinError::NoFolder);
        let store = store.and_then(|folder| Ok(Store::open(&folder)?));
        let (store, note) = match store {
            Ok(store) => (Some(store), None),
            // With a lock the store has only the texts.
            Err(error) if is_demanded(mode) && lock.is_none() => return Err(error),
            Err(error) => (None, Some(format!("definitions are not pinned: {error}"))),
        };
        if store.is_none() && lock.is_none() {
            return Ok((None, note));
        }
        let store_state = store.as_ref().and_then(|store| store.pins_state().ok());
        let state = PinState {
            plan,
            mode,
            lock,
            lock_print,
            store_state: store_state.unwrap_or_default(),
            toolsets: BTreeMap::new(),
            changes: 0,
        };
        Ok((Some(Pins { store, state: Mutex::new(state), purpose }), note))
    }

    /// Every step under the lock replaces whole values.
    fn state(&self) -> MutexGuard<'_, PinState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares one list of a toolset, as it is now, with what was accepted. Returns a line for the
    /// log if there is something new to report.
    ///
    /// Called whenever a list was loaded. The first use of a list accepts it here, by writing to
    /// the store.
    ///
    /// The state of the toolset is replaced as a whole at the end. A line is returned once for each
    /// text, so a toolset that is loaded every second is not logged every second.
    pub(crate) fn observe(
        &self,
        subject: &PinSubject,
        list: PinList,
        parts: Vec<PinnedPart>,
    ) -> Option<String> {
        let mut state = self.state();
        if state.mode == PinMode::Off && self.purpose != PinPurpose::Review {
            return None;
        }
        let toolset = state.toolsets.entry(Arc::clone(&subject.key)).or_default();
        toolset.subject = Some(subject.clone());
        toolset.lists.insert(list, parts);
        let before = toolset.clone();
        let toolset = self.compared(&state, before.clone());
        state.changes += u64::from(before.drift != toolset.drift);
        let line = self.line_about(&state, &toolset);
        let is_new = line.is_some() && line != toolset.reported;
        let reported = line.clone().or_else(|| toolset.reported.clone());
        let key = Arc::clone(&subject.key);
        state.toolsets.insert(key, ObservedToolset { reported, ..toolset });
        line.filter(|_| is_new && self.purpose != PinPurpose::Review)
    }

    /// A toolset with its differences. A list that is used for the first time is accepted. Called
    /// under the lock, with a copy that replaces the original: an error half-way leaves nothing
    /// inconsistent.
    ///
    /// For each list the first of these that applies says what is accepted: the lock; the store, if
    /// it has the list; nothing, if the store cannot be read though the configuration demands it;
    /// the store again, if the list is new beside others that were accepted; otherwise this is the
    /// first use.
    ///
    /// ```text
    /// a lock                                  the hashes of its entry; no entry: none
    /// the store has the list                  the hashes of the store
    /// the store fails and `required` is set   none: every part is new
    /// new beside what was accepted            the hashes of the store, mostly none
    /// none of these                           first use: accepted now, and no difference
    /// ```
    ///
    /// The order is a decision about safety: a later line accepts more than an earlier one, so a
    /// list reaches the last one only if nothing is known that could contradict it. Only the
    /// purpose `Use` writes to the store, here and in `note`.
    fn compared(&self, state: &PinState, mut toolset: ObservedToolset) -> ObservedToolset {
        let Some(subject) = &toolset.subject else { return toolset };
        // While the store cannot be read, what it had before counts.
        let read = self.store.as_ref().and_then(|store| store.pins_of(&subject.key).ok());
        toolset.stored = read.or(toolset.stored);
        let is_unknown = self.store.is_some() && toolset.stored.is_none();
        let stored = toolset.stored.clone().unwrap_or_default();
        let locked = state.locked(subject);
        let mut drift = Vec::new();
        for (list, parts) in &toolset.lists {
            let accepted = match &state.lock {
                Some(_) => locked_list(locked, *list),
                None if stored.has_list(*list) => stored_list(&stored, *list),
                // Nothing is accepted: otherwise a change could pass as a first use.
                None if is_unknown && state.plan.settings.required => Accepted::new(),
                None if !self.is_first_use(state, subject, &stored, *list) => {
                    stored_list(&stored, *list)
                }
                None => {
                    if self.purpose == PinPurpose::Use {
                        self.accept(subject, *list, parts.iter().collect(), AcceptedBy::FirstUse);
                    }
                    continue;
                }
            };
            let found = differences(&accepted, parts);
            if self.purpose == PinPurpose::Use {
                self.note(subject, parts, &found, &stored, state.lock.is_some());
            }
            drift.extend(found);
        }
        toolset.drift = drift;
        toolset
    }

    /// Whether a list that is not pinned is used for the first time, and not new beside others that
    /// were accepted. This is where an attacker would want a yes: what is seen for the first time
    /// is accepted without a question. So the answer is no if anything in the surroundings was
    /// accepted before: the same toolset, the folder that a file was found in, or the definition
    /// that names the server.
    ///
    /// `true` only for a list about whose surroundings nothing is known. The three conditions
    /// before the `match` look at the list and its toolset, the `match` at where the toolset was
    /// found.
    fn is_first_use(
        &self,
        state: &PinState,
        subject: &PinSubject,
        stored: &StoredPins,
        list: PinList,
    ) -> bool {
        // A lock that is gone had it; or it was set aside by another run, which walked the folder
        // of a file that is named now. What a server lists is new as long as the definition is
        // that names it.
        let is_of_definition = matches!(subject.found_in, Some(FoundIn::Definition(_)));
        if stored.has_accepted(list) || (stored.has_seen(list) && !is_of_definition) {
            return false;
        }
        // In every mode: what `warn` accepts would pass as accepted when it is enforced.
        if stored.has_lists() {
            return true;
        }
        match &subject.found_in {
            None => true,
            Some(FoundIn::Folder(folder)) => !self.is_known_folder(folder),
            Some(FoundIn::Definition(definition)) => !state.is_all_new(definition),
        }
    }

    /// Whether the definitions of this folder, or of one around it, were used before.
    ///
    /// A file in a subfolder of a folder that was used before is therefore new, not used for the
    /// first time.
    fn is_known_folder(&self, folder: &str) -> bool {
        let Some(store) = &self.store else { return false };
        let path = folder.strip_prefix("folder ").unwrap_or(folder);
        Path::new(path).ancestors().any(|folder| {
            let pins = store.pins_of(&folder_key(folder));
            pins.is_ok_and(|pins| pins.has_lists())
        })
    }

    /// Keeps in the store that the definitions of a folder are used: what appears there later is
    /// new.
    pub(crate) fn note_folder(&self, spec: &SourceSpec) {
        let (Some(store), Some(folder)) = (&self.store, walked_folder(spec)) else { return };
        let is_known = || store.pins_of(&folder).is_ok_and(|pins| pins.has_lists());
        if self.purpose == PinPurpose::Use && self.state().mode != PinMode::Off && !is_known() {
            let _ = store.accept_parts(&folder, &[PinList::Tools], &[], AcceptedBy::FirstUse);
        }
    }

    /// What the store has; nothing if it cannot be read. For a review, which may show too much.
    fn stored(&self, subject: &PinSubject) -> StoredPins {
        let stored = self.store.as_ref().and_then(|store| store.pins_of(&subject.key).ok());
        stored.unwrap_or_default()
    }

    /// Writes to the store that these parts of a list are accepted.
    fn accept(&self, subject: &PinSubject, list: PinList, parts: Vec<&PinnedPart>, by: AcceptedBy) {
        if let Some(store) = &self.store {
            // A store that cannot be written is the same as one that has seen nothing.
            let _ = store.accept_parts(&subject.key, &[list], &parts, by);
        }
    }

    /// Keeps what was seen in the store: texts that the lock accepts, so that a later change can be
    /// shown, and texts that differ, for a person to look at.
    ///
    /// ```text
    /// differs, not seen yet                    noted as seen
    /// as accepted, seen as different before    what was seen is forgotten
    /// as the lock has it, not in the store     kept with its text
    /// ```
    fn note(
        &self,
        subject: &PinSubject,
        parts: &[PinnedPart],
        found: &[PinDrift],
        stored: &StoredPins,
        has_lock: bool,
    ) {
        let Some(store) = &self.store else { return };
        let differs = |part: &&PinnedPart| {
            found.iter().any(|drift| (drift.kind, &drift.name) == (part.kind, &part.name))
        };
        let key = |part: &PinnedPart| (part.kind, part.name.clone());
        let (differing, same): (Vec<&PinnedPart>, Vec<&PinnedPart>) =
            parts.iter().partition(differs);
        let is_new = |part: &&PinnedPart| {
            stored.seen.get(&key(part)).is_none_or(|(hash, _)| *hash != part.hash)
        };
        let new: Vec<&PinnedPart> = differing.into_iter().filter(is_new).collect();
        let was_seen = |part: &&PinnedPart| stored.seen.contains_key(&key(part));
        let gone: Vec<&PinnedPart> = same.iter().copied().filter(was_seen).collect();
        if !new.is_empty() || !gone.is_empty() {
            let _ = store.note_seen(&subject.key, &new, &gone);
        }
        let is_unknown = |part: &&PinnedPart| {
            stored.accepted.get(&key(part)).is_none_or(|(hash, _)| *hash != part.hash)
        };
        let unknown: Vec<&PinnedPart> = same.into_iter().filter(is_unknown).collect();
        if has_lock && !unknown.is_empty() {
            let _ = store.accept_parts(&subject.key, &[], &unknown, AcceptedBy::Lock);
        }
    }

    /// The line of the log about the differences of a toolset.
    ///
    /// `None` if nothing differs, or parts are only gone. At most `NAMED` parts are named.
    fn line_about(&self, state: &PinState, toolset: &ObservedToolset) -> Option<String> {
        let subject = toolset.subject.as_ref()?;
        let serious: Vec<&PinDrift> =
            toolset.drift.iter().filter(|drift| drift.change != PinChange::Gone).collect();
        if serious.is_empty() {
            return None;
        }
        let names: Vec<String> = serious.iter().map(|drift| drift.text()).collect();
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let what = match state.mode {
            PinMode::Enforce if serious.iter().any(|drift| drift.kind.is_shared()) => {
                "all its tools are set aside until this is accepted"
            }
            PinMode::Enforce => "set aside until accepted",
            _ => "still served, because `pin` is `warn`",
        };
        let (label, words) = (&subject.label, &subject.words);
        Some(format!(
            "{label} differs from what was accepted: {named}{more}; {what}; see `toolwright trust \
             {words}`"
        ))
    }

    /// Why a tool is set aside, and what to do; `None` if it is not.
    ///
    /// The second text is the remedy. A tool that is merged from a definition and its server is
    /// pinned under both, and either can set it aside.
    pub(crate) fn reason_aside(&self, tool: &RegisteredTool) -> Option<(String, String)> {
        let state = self.state();
        if !state.is_enforced(self.purpose) {
            return None;
        }
        let reason =
            |pinned: &PinnedTool| state.reason(&pinned.toolset, PinKind::Tool, &pinned.name);
        tool.pinned_as.iter().find_map(reason)
    }

    /// Why a tool that is only listed is set aside.
    pub(crate) fn listed_reason(&self, toolset: &str, name: &str) -> Option<String> {
        let state = self.state();
        if !state.is_enforced(self.purpose) {
            return None;
        }
        state.reason(toolset, PinKind::Tool, name).map(|(reason, _)| reason)
    }

    /// What a server offers besides tools, without what is set aside.
    ///
    /// Resources are not pinned and always stay. A difference that concerns the whole toolset
    /// withholds the instructions as well.
    pub(crate) fn accepted_offers(
        &self,
        subject: &PinSubject,
        offers: &Arc<ServerOffers>,
    ) -> Arc<ServerOffers> {
        let state = self.state();
        let drifts = state.toolsets.get(&subject.key).is_some_and(|it| !it.drift.is_empty());
        if !drifts || !state.is_enforced(self.purpose) {
            return Arc::clone(offers);
        }
        let mut accepted = ServerOffers::clone(offers);
        accepted.prompts.retain(|prompt| {
            let name = prompt["name"].as_str().unwrap_or_default();
            state.reason(&subject.key, PinKind::Prompt, name).is_none()
        });
        accepted.instructions_are_aside = state.shared_drift(&subject.key).is_some();
        Arc::new(accepted)
    }

    /// Whether only what was accepted may be used.
    pub(crate) fn is_enforced(&self) -> bool {
        self.state().is_enforced(self.purpose)
    }

    /// How often the differences have changed.
    ///
    /// `Catalog` keeps the number with the offers that it has published, and merges them again if
    /// it has grown.
    pub(crate) fn changes(&self) -> u64 {
        self.state().changes
    }

    /// Takes over another configuration, and compares everything again.
    pub(crate) fn set_plan(&self, plan: PinPlan) -> Vec<String> {
        self.state().plan = plan;
        self.read_again()
    }

    /// Compares everything again if the lock or the store has changed since. Returns the lines for
    /// the log, or `None` if nothing has changed.
    ///
    /// Called once a second by the task that polls files. The lock is compared by its size and
    /// time, the store by a text that changes with every write.
    pub(crate) fn refresh(&self) -> Option<Vec<String>> {
        let lock_path = self.state().plan.lock_path.clone();
        let lock_print = lock_path.as_deref().and_then(file_stamp);
        let store_state = self.store.as_ref().and_then(|store| store.pins_state().ok());
        let state = self.state();
        let is_same = lock_print == state.lock_print
            && store_state.is_none_or(|store_state| store_state == state.store_state);
        drop(state);
        (!is_same).then(|| self.read_again())
    }

    /// Called after the lock, the store or the plan has changed. A lock that cannot be read leaves
    /// the previous one in force.
    fn read_again(&self) -> Vec<String> {
        let store_state = self.store.as_ref().and_then(|store| store.pins_state().ok());
        let mut lines = Vec::new();
        let mut state = self.state();
        let lock_path = state.plan.lock_path.clone();
        state.lock_print = lock_path.as_deref().and_then(file_stamp);
        state.store_state = store_state.unwrap_or_default();
        match lock_path.as_deref().map(LockFile::read).transpose() {
            Ok(lock) => {
                state.lock = lock.flatten();
                state.mode = state.plan.mode(state.lock.is_some());
            }
            // Perhaps a merge is under way. What was accepted before stays accepted.
            Err(error) => lines.push(format!("{error}; the previous pins stay in use")),
        }
        state.changes += 1;
        let all: Vec<ObservedToolset> = state.toolsets.values().cloned().collect();
        for toolset in all {
            let toolset = self.compared(&state, toolset);
            let line = self.line_about(&state, &toolset);
            lines.extend(line.clone().filter(|_| line != toolset.reported));
            if let Some(subject) = &toolset.subject {
                let key = Arc::clone(&subject.key);
                state.toolsets.insert(key, ObservedToolset { reported: line, ..toolset });
            }
        }
        // Comparing may have accepted what is used for the first time.
        let store_state = self.store.as_ref().and_then(|store| store.pins_state().ok());
        state.store_state = store_state.unwrap_or_default();
        lines
    }

    /// Everything that was compared, for a person to look at.
    ///
    /// Decides nothing: the differences become texts, and the person's decisions are written by
    /// `PinReview::write`.
    ///
    /// What counts as accepted is decided much as in `compared`, but nothing is
    /// accepted here, and each toolset is told apart by `is_new`, which a person wants to know.
    ///
    /// ```text
    /// accepted      the hashes to compare with
    /// is_new        the lock has no entry for it; without a lock, every list is a first use
    /// store_lists   the lists that are pinned once the person accepts something of the toolset
    /// ```
    ///
    /// A list that is not in `store_lists` was never used, so its parts are put into `accepted` as
    /// they are: they do not differ from anything. Entries of the lock that no source has are
    /// returned as `unknown`.
    pub(crate) fn review(self: &Arc<Self>, scope: ReviewScope) -> PinReview {
        let state = self.state();
        let mut toolsets = Vec::new();
        let mut keys = Vec::new();
        for observed in state.toolsets.values() {
            let Some(subject) = &observed.subject else { continue };
            let known = self.stored(subject);
            let mut stored = known.clone();
            if scope == ReviewScope::Now {
                stored.seen.clear();
            }
            let mut store_lists: Vec<PinList> = observed.lists.keys().copied().collect();
            let (mut accepted, is_new): (Accepted, bool) = match &state.lock {
                Some(_) => {
                    let locked = state.locked(subject);
                    let lists = observed.lists.keys();
                    let accepted: Accepted =
                        lists.flat_map(|it| locked_list(locked, *it)).collect();
                    // Texts of other hashes are not those that the lock accepts.
                    stored.accepted.retain(|key, (hash, _)| accepted.get(key) == Some(hash));
                    (accepted, locked.is_none())
                }
                None => {
                    let has =
                        |list: &&PinList| known.has_list(**list) || known.has_accepted(**list);
                    let lists: Vec<&PinList> = observed.lists.keys().filter(has).collect();
                    let is_first =
                        |list: &PinList| self.is_first_use(&state, subject, &known, *list);
                    let is_new = lists.is_empty() && observed.lists.keys().all(is_first);
                    store_lists = lists.iter().map(|list| **list).collect();
                    (lists.iter().flat_map(|it| stored_list(&stored, **it)).collect(), is_new)
                }
            };
            if is_new || store_lists.is_empty() {
                store_lists = observed.lists.keys().copied().collect();
            }
            // A list that was never used before, such as the prompts of a server whose tools were
            // only called, does not differ from anything.
            for (list, parts) in &observed.lists {
                if !store_lists.contains(list) {
                    let hashes = parts.iter();
                    accepted.extend(hashes.map(|it| ((it.kind, it.name.clone()), it.hash.clone())));
                }
            }
            let lists = observed.lists.iter().map(|(list, parts)| (*list, parts.clone())).collect();
            let mut toolset = ReviewedToolset::new(subject, lists, accepted, &stored, is_new);
            toolset.store_lists = store_lists;
            toolsets.push(toolset);
            keys.extend(state.lock_folder().map(|folder| subject.lock_key_in(folder)));
        }
        let entries = state.lock.iter().flat_map(|lock| lock.entries.keys());
        let unknown = entries.filter(|key| !keys.contains(key)).cloned().collect();
        let (lock_path, lock) = (state.plan.lock_path.clone(), state.lock.clone());
        drop(state);
        let pins = Arc::clone(self);
        PinReview { toolsets, unknown, lock_path, lock, drops_unknown: false, pins }
    }

    /// For `PinReview::write`.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }
}

impl PinState {
    /// A review sets nothing aside, whatever the mode is: the person has to see everything.
    fn is_enforced(&self, purpose: PinPurpose) -> bool {
        self.mode == PinMode::Enforce && purpose != PinPurpose::Review
    }

    /// The folder to which paths in the lock are relative.
    fn lock_folder(&self) -> Option<&Path> {
        self.plan.lock_path.as_deref().and_then(Path::parent)
    }

    /// The entry of a toolset in the lock.
    fn locked(&self, subject: &PinSubject) -> Option<&LockEntry> {
        let key = subject.lock_key_in(self.lock_folder()?);
        self.lock.as_ref()?.entries.get(&key)
    }

    /// Whether nothing of a definition is accepted.
    ///
    /// `false` also for a definition that was not compared.
    fn is_all_new(&self, definition: &str) -> bool {
        let is_new = |drift: &PinDrift| drift.change == PinChange::New;
        let observed = self.toolsets.get(definition);
        observed.is_some_and(|it| !it.drift.is_empty() && it.drift.iter().all(is_new))
    }

    /// A difference that concerns all tools of a toolset.
    fn shared_drift(&self, toolset: &str) -> Option<&PinDrift> {
        let observed = self.toolsets.get(toolset)?;
        observed.drift.iter().find(|drift| drift.kind.is_shared())
    }

    /// Why a part is set aside, and the remedy. A shared part that differs (the definition outside
    /// of its tools, the program) concerns every tool of the toolset.
    fn reason(&self, toolset: &str, kind: PinKind, name: &str) -> Option<(String, String)> {
        let observed = self.toolsets.get(toolset)?;
        let is_own = |drift: &&PinDrift| {
            (drift.kind, drift.name.as_str()) == (kind, name) && drift.change != PinChange::Gone
        };
        let own = observed.drift.iter().find(is_own);
        let drift = own.or_else(|| self.shared_drift(toolset))?;
        let subject = observed.subject.as_ref()?;
        let reason = match (drift.kind.is_shared(), drift.change) {
            (true, _) => {
                format!("{} of {} changed since it was accepted", drift.text(), subject.label)
            }
            (false, PinChange::New) => {
                format!("this {kind} is new, and nobody has accepted it yet", kind = kind.word())
            }
            (false, _) => format!("this {} changed since it was accepted", kind.word()),
        };
        let words = &subject.words;
        let remedy =
            format!("a person can look at it and accept it with `toolwright trust {words}`");
        Some((reason, remedy))
    }
}

impl PinDrift {
    /// For a line of the log.
    fn text(&self) -> String {
        let name = words::shorten(&self.name);
        match (self.kind, self.change) {
            (PinKind::Tool, PinChange::New) => format!("`{name}` is new"),
            (PinKind::Tool, _) => format!("`{name}` changed"),
            (PinKind::Prompt, PinChange::New) => format!("the prompt `{name}` is new"),
            (PinKind::Prompt, _) => format!("the prompt `{name}` changed"),
            (PinKind::Definition, _) => "the definition outside of its tools".to_owned(),
            (PinKind::Instructions, _) => "the instructions".to_owned(),
            (PinKind::Program, _) => "the program that is started".to_owned(),
        }
    }
}

/// The hashes of accepted parts, by kind and name.
pub(crate) type Accepted = BTreeMap<(PinKind, String), String>;

/// A toolset without an entry in the lock has nothing accepted.
///
/// A lock has all lists of a toolset in one entry; this takes those of one list.
fn locked_list(entry: Option<&LockEntry>, list: PinList) -> Accepted {
    let parts = entry.into_iter().flat_map(|entry| &entry.parts);
    let own = parts.filter(|((kind, _), _)| kind.list() == list);
    own.map(|(key, hash)| (key.clone(), hash.clone())).collect()
}

/// The same from the store.
fn stored_list(stored: &StoredPins, list: PinList) -> Accepted {
    let own = stored.accepted.iter().filter(|((kind, _), _)| kind.list() == list);
    own.map(|(key, (hash, _))| (key.clone(), hash.clone())).collect()
}

/// The parts that differ, in their order; then those that are gone.
///
/// Compares hashes only. For `accepted` {a: 1, b: 2} and the parts a: 1, b: 3, c: 4: `b` changed,
/// `c` is new.
pub(crate) fn differences(accepted: &Accepted, parts: &[PinnedPart]) -> Vec<PinDrift> {
    let mut found = Vec::new();
    let mut gone = accepted.clone();
    for part in parts {
        let change = match gone.remove(&(part.kind, part.name.clone())) {
            Some(hash) if hash == part.hash => continue,
            Some(_) => PinChange::Changed,
            None => PinChange::New,
        };
        found.push(PinDrift { kind: part.kind, name: part.name.clone(), change });
    }
    let gone = gone.into_keys();
    found.extend(gone.map(|(kind, name)| PinDrift { kind, name, change: PinChange::Gone }));
    found
}

/// The size and time of a file; `None` if it is not there.
fn file_stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}
