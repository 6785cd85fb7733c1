//! What a person looks at and accepts with `toolwright trust`: the parts of all toolsets that
//! differ from the accepted ones, with both texts.
//!
//! Acceptance is written to the store and, if there is one or the person wants one, to the lock.
//! The lock is replaced as a whole, so that it is never half written, and not at all if somebody
//! else changed it in the meantime.
//!
//! ```text
//! Pins::review ─▶ PinReview ─ a person sets `is_accepted` of parts ─▶ write ─┬─ lock, first
//!                                                                            └─ store
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_workspace::{LockFile, LockKey, PinKind, PinList, PinnedPart, replace_file};

use crate::pin_subject::PinSubject;
use crate::pins::{Accepted, PinChange, Pins, differences};
use crate::store::{AcceptedBy, StoreError, StoredPins};

/// All toolsets that were loaded, beside what was accepted of them.
pub struct PinReview {
    /// The toolsets.
    pub toolsets: Vec<ReviewedToolset>,
    /// Entries of the lock that no source has.
    pub unknown: Vec<LockKey>,
    /// Where the lock is, or would be.
    pub lock_path: Option<PathBuf>,
    /// The lock as it was read, if there is one.
    pub lock: Option<LockFile>,
    /// Whether the entries that no source has are dropped when the lock is written.
    pub drops_unknown: bool,
    /// Whose store is written.
    pub(crate) pins: Arc<Pins>,
}

/// What a person looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewScope {
    /// What the sources have now.
    Now,
    /// Also what running programs have seen.
    NowAndSeen,
}

/// A toolset and its differences.
pub struct ReviewedToolset {
    /// Which one it is.
    pub subject: PinSubject,
    /// The parts that differ.
    pub parts: Vec<ReviewedPart>,
    /// How many do not.
    pub unchanged: usize,
    /// Whether nothing of it was ever accepted.
    pub is_new: bool,
    /// The lists that were observed; only these are replaced in the lock.
    lists: Vec<PinList>,
    /// The lists that are pinned in the store when something is accepted.
    pub(crate) store_lists: Vec<PinList>,
    accepted: Accepted,
    /// The parts that do not differ.
    same: Vec<PinnedPart>,
}

/// A part that differs.
pub struct ReviewedPart {
    /// What it is.
    pub kind: PinKind,
    /// The name of the tool or prompt.
    pub name: String,
    /// How it differs.
    pub change: PinChange,
    /// The accepted text as JSON, if this user has it.
    pub old: Option<String>,
    /// The part as it is now; `None` if it is gone.
    pub new: Option<PinnedPart>,
    /// Whether the person accepts it.
    pub is_accepted: bool,
}

impl ReviewedToolset {
    /// Compares the parts with what was accepted. Texts of accepted parts come from the store, so
    /// `old` is `None` if only the lock of somebody else has them.
    pub(crate) fn new(
        subject: &PinSubject,
        lists: Vec<(PinList, Vec<PinnedPart>)>,
        accepted: Accepted,
        stored: &StoredPins,
        is_new: bool,
    ) -> ReviewedToolset {
        let (lists, parts): (Vec<PinList>, Vec<Vec<PinnedPart>>) = lists.into_iter().unzip();
        let parts = with_seen(parts.concat(), &accepted, stored);
        let drift = differences(&accepted, &parts);
        let is_different = |part: &PinnedPart| {
            drift.iter().any(|it| (it.kind, &it.name) == (part.kind, &part.name))
        };
        let (differing, same): (Vec<PinnedPart>, Vec<PinnedPart>) =
            parts.into_iter().partition(is_different);
        let reviewed = drift.iter().map(|it| {
            let own = |part: &&PinnedPart| (part.kind, &part.name) == (it.kind, &it.name);
            let stored = stored.accepted.get(&(it.kind, it.name.clone()));
            ReviewedPart {
                kind: it.kind,
                name: it.name.clone(),
                change: it.change,
                old: stored.map(|(_, text)| text.clone()),
                new: differing.iter().find(own).cloned(),
                is_accepted: false,
            }
        });
        ReviewedToolset {
            subject: subject.clone(),
            parts: reviewed.collect(),
            unchanged: same.len(),
            is_new,
            store_lists: lists.clone(),
            lists,
            accepted,
            same,
        }
    }

    /// The accepted parts after the decisions of the person.
    ///
    /// Parts that the person has not accepted keep their old hash, or stay absent.
    fn decided(&self) -> Accepted {
        let mut accepted = self.accepted.clone();
        for part in self.parts.iter().filter(|part| part.is_accepted) {
            let key = (part.kind, part.name.clone());
            match &part.new {
                Some(new) => accepted.insert(key, new.hash.clone()),
                None => accepted.remove(&key),
            };
        }
        accepted
    }
}

/// The parts as they are now, with those that a running program has seen in place of accepted ones:
/// a server that changes in the middle of a session lists its first tools again to a new client.
///
/// A part that differs now is shown as it is now; one that is as accepted now and was different is
/// shown as it was seen.
fn with_seen(
    mut parts: Vec<PinnedPart>,
    accepted: &Accepted,
    stored: &StoredPins,
) -> Vec<PinnedPart> {
    for ((kind, name), (hash, text)) in &stored.seen {
        let key = (*kind, name.clone());
        if accepted.get(&key) == Some(hash) {
            continue;
        }
        let seen =
            PinnedPart { kind: *kind, name: name.clone(), hash: hash.clone(), text: text.clone() };
        match parts.iter_mut().find(|part| (part.kind, &part.name) == (*kind, name)) {
            Some(part) if accepted.get(&key) == Some(&part.hash) => *part = seen,
            Some(_) => {}
            None => parts.push(seen),
        }
    }
    parts
}

/// Why acceptance could not be written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PinWriteError {
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The lock cannot.
    #[error("{0}")]
    Lock(String),
}

impl PinReview {
    /// Writes what was accepted to the store, and to the lock at `lock` if it is set.
    ///
    /// The lock first: if it cannot be written, nothing is. A store that fails afterwards leaves a
    /// lock that is right, and the texts of what was accepted are missing for the next comparison.
    ///
    /// # Errors
    /// If one of them cannot be written. The lock is whole in any case.
    pub fn write(&self, lock: Option<&Path>) -> Result<(), PinWriteError> {
        if let Some(path) = lock {
            self.write_lock(path)?;
        }
        let Some(store) = self.pins.store() else { return Ok(()) };
        for toolset in &self.toolsets {
            let key = &toolset.subject.key;
            let accepted = toolset.parts.iter().filter(|part| part.is_accepted);
            let new: Vec<&PinnedPart> =
                accepted.clone().filter_map(|part| part.new.as_ref()).collect();
            let gone: Vec<(PinKind, String)> = accepted
                .filter(|part| part.new.is_none())
                .map(|part| (part.kind, part.name.clone()))
                .collect();
            if new.is_empty() && gone.is_empty() && !toolset.is_new {
                continue;
            }
            store.accept_parts(key, &toolset.store_lists, &new, AcceptedBy::Person)?;
            store.remove_parts(key, &gone)?;
        }
        Ok(())
    }

    /// Refuses if the lock differs from what the person has looked at. `replace_file` compares once
    /// more, at the moment of the change.
    fn write_lock(&self, path: &Path) -> Result<(), PinWriteError> {
        let before = std::fs::read(path).ok();
        if LockFile::read(path).ok().flatten() != self.lock {
            let message = format!("`{}` has changed in the meantime: run it again", path.display());
            return Err(PinWriteError::Lock(message));
        }
        let mut lock = self.lock.clone().unwrap_or_default();
        lock.entries.retain(|key, _| !self.drops_unknown || !self.unknown.contains(key));
        let folder = path.parent().unwrap_or(Path::new(""));
        for toolset in &self.toolsets {
            let decided = toolset.decided();
            let key = toolset.subject.lock_key_in(folder);
            if decided.is_empty() && toolset.is_new {
                continue;
            }
            let entry = lock.entries.entry(key).or_default();
            // Where a program lies differs from machine to machine. The first path stays, so that
            // nobody commits a change without meaning.
            let program = (PinKind::Program, String::new());
            if entry.path.is_none() || entry.parts.get(&program) != decided.get(&program) {
                entry.path.clone_from(&toolset.subject.path);
            }
            // Lists that were not asked for stay as they are.
            entry.parts.retain(|(kind, _), _| !toolset.lists.contains(&kind.list()));
            entry.parts.extend(decided);
        }
        let text = lock.to_text();
        if before.as_deref() == Some(text.as_bytes()) {
            return Ok(());
        }
        replace_file(path, before.as_deref(), text.as_bytes()).map_err(PinWriteError::Lock)
    }
}

impl ReviewedToolset {
    /// The number of its tools that are as they were accepted.
    pub fn unchanged_tools(&self) -> usize {
        self.same.iter().filter(|part| part.kind == PinKind::Tool).count()
    }
}
