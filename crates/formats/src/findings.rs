//! The list that readers report to. It has a bound, so that a hostile document of 16 MiB with a
//! million mistakes costs neither memory nor a page of output that no one reads, and it removes
//! duplicates.

use std::collections::HashSet;

use toolwright_source::Finding;

/// Findings kept for one document.
pub(crate) const MAX_FINDINGS: usize = 1_000;

/// Findings in the order they were reported.
#[derive(Default)]
pub(crate) struct FindingList {
    list: Vec<Finding>,
    /// Whether a finding was dropped because the list was full.
    truncated: bool,
}

impl FindingList {
    /// Adds a finding, or drops it if the list is full.
    pub(crate) fn push(&mut self, finding: Finding) {
        if !self.is_full() {
            self.list.push(finding);
        }
    }

    /// Whether further findings would be dropped. Checks call this first to save the work of
    /// building a message. It also records the truncation: the caller asks because it has something
    /// to report.
    pub(crate) fn is_full(&mut self) -> bool {
        self.truncated |= self.list.len() >= MAX_FINDINGS;
        self.truncated
    }

    /// How many findings there are so far, for [`FindingList::mark_tolerable_from`].
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Marks all findings from number `start` on as tolerable, that is, as warnings with
    /// `--compat`.
    pub(crate) fn mark_tolerable_from(&mut self, start: usize) {
        self.list.iter_mut().skip(start).for_each(|finding| finding.tolerable = true);
    }

    /// The findings, without duplicates. A value behind a YAML anchor is checked once for every
    /// alias that refers to it, and each time reports the same mistake at the same place.
    pub(crate) fn into_vec(mut self) -> Vec<Finding> {
        // The message belongs to the identity: one place can have two mistakes of the same code.
        let mut seen = HashSet::new();
        self.list.retain(|f| seen.insert((f.code.name, f.at.clone(), f.message.clone())));
        if let Some(last) = self.list.last_mut().filter(|_| self.truncated) {
            last.help.push(format!(
                "there are more findings; only the first {MAX_FINDINGS} are reported"
            ));
        }
        self.list
    }
}
