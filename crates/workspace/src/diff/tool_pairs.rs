//! Which tool of the new side was which tool of the old one.
//!
//! ```text
//! old  a:x 1.0.0   a:x 2.0.0   a:x 3.0.0                  b:y
//!          │           │           │                       │
//! new  a:x 1.0.0   a:x 2.1.0   a:x 4.0.0   a:x 0.9.0     c:y
//!      same        same major  the newest  (added)       the only one with its name
//! ```
//!
//! A version that is still there is compared with itself, so that adding or removing another one
//! does not look like a change of it.

use std::collections::HashMap;

use toolwright_model::Version;

use super::SideTool;

/// The pairs of two sides.
pub(super) struct ToolPairs<'t> {
    /// For each tool of the new side, the number of the tool that it was.
    pub(super) before: Vec<Option<usize>>,
    old: VersionsById<'t>,
    new: VersionsById<'t>,
}

/// The numbers of the tools of a side by id, the newest version first. A tool without a version
/// counts as older than all others.
type VersionsById<'t> = HashMap<&'t str, Vec<usize>>;

/// Whether a tool can be another version of the one before it.
type IsSuccessor = fn(Option<&Version>, Option<&Version>) -> bool;

impl<'t> ToolPairs<'t> {
    /// Pairs by id first, then by name.
    pub(super) fn new(old: &'t [SideTool<'_>], new: &'t [SideTool<'_>]) -> ToolPairs<'t> {
        let before = vec![None; new.len()];
        let mut pairs = ToolPairs { before, old: versions_by_id(old), new: versions_by_id(new) };
        pairs.pair_ids(old, new);
        pairs.pair_names(old, new);
        pairs
    }

    /// Pairs the tools of one id: those of the same version, then those of the same major version,
    /// then the newest of both sides.
    fn pair_ids(&mut self, old: &[SideTool<'_>], new: &[SideTool<'_>]) {
        let same_version: IsSuccessor =
            |one, other| one.map(Version::release) == other.map(Version::release);
        let same_major: IsSuccessor =
            |one, other| one.map(|it| it.numbers()[0]) == other.map(|it| it.numbers()[0]);
        for (id, theirs) in &self.new {
            let Some(own) = self.old.get(id) else { continue };
            let mut left = own.clone();
            for is_successor in [same_version, same_major] {
                for n in theirs {
                    if self.before[*n].is_some() {
                        continue;
                    }
                    let version = new[*n].draft.version.ok();
                    let found =
                        left.iter().position(|m| is_successor(old[*m].draft.version.ok(), version));
                    self.before[*n] = found.map(|at| left.remove(at));
                }
            }
            let newest = theirs[0];
            if self.before[newest].is_none() && left.first() == own.first() {
                self.before[newest] = left.first().copied();
            }
        }
    }

    /// Pairs the tools whose id is on one side only, where no other tool has their name.
    fn pair_names(&mut self, old: &[SideTool<'_>], new: &[SideTool<'_>]) {
        let (old_names, new_names) = (numbers_by_name(old), numbers_by_name(new));
        let is_free = |n: usize| !self.new.contains_key(old[n].id.as_str());
        for (name, theirs) in new_names {
            let ([n], Some([m])) = (&theirs[..], old_names.get(name).map(Vec::as_slice)) else {
                continue;
            };
            if !self.old.contains_key(new[*n].id.as_str()) && is_free(*m) {
                self.before[*n] = Some(*m);
            }
        }
    }

    /// The id of a tool, with its version if a side has several.
    pub(super) fn reference(&self, tool: &SideTool<'_>) -> String {
        let id = tool.id.as_str();
        let has_several = |side: &VersionsById<'_>| side.get(id).is_some_and(|all| all.len() > 1);
        match tool.draft.version.ok() {
            Some(version) if has_several(&self.old) || has_several(&self.new) => {
                format!("{id}:{}", version.release())
            }
            _ => id.to_owned(),
        }
    }
}

/// Most ids have one tool, and need no sorting.
fn versions_by_id<'t>(tools: &'t [SideTool<'_>]) -> VersionsById<'t> {
    let mut ids: VersionsById<'t> = HashMap::new();
    for (n, tool) in tools.iter().enumerate() {
        ids.entry(&tool.id).or_default().push(n);
    }
    for numbers in ids.values_mut().filter(|numbers| numbers.len() > 1) {
        let version = |n: usize| tools[n].draft.version.ok();
        numbers.sort_by(|one, other| match (version(*one), version(*other)) {
            (Some(one), Some(other)) => other.precedence(one),
            (one, other) => other.is_some().cmp(&one.is_some()),
        });
    }
    ids
}

/// The numbers of the tools of each name, in their order.
fn numbers_by_name<'t>(tools: &'t [SideTool<'_>]) -> HashMap<&'t str, Vec<usize>> {
    let mut names: HashMap<&str, Vec<usize>> = HashMap::new();
    for (n, tool) in tools.iter().enumerate() {
        if let Some(name) = tool.name.as_deref() {
            names.entry(name).or_default().push(n);
        }
    }
    names
}
