//! The list that readers report to. It has a bound, so that a hostile document of 16 MiB with a
//! million mistakes costs neither memory nor a page of output that no one reads, and it removes
//! duplicates. Each code has a bound of its own in each severity, so that a thousand unknown fields
//! do not push out an error.

use std::collections::HashSet;

use toolwright_source::{Finding, Severity};

/// Findings of one code and severity that are kept for one document.
pub(crate) const MAX_FINDINGS: usize = 1_000;
/// Findings that are dropped before the checks of a document end: what they cost is bounded, too.
const MAX_DROPPED: usize = 20_000;

/// Findings in the order they were reported.
#[derive(Default)]
pub(crate) struct FindingList {
    list: Vec<Finding>,
    /// How many of `list` have which code and severity.
    counts: Vec<(&'static str, Severity, usize)>,
    /// How many findings were dropped because of a bound.
    dropped: usize,
}

impl FindingList {
    /// Adds a finding, or drops it if there are enough like it.
    pub(crate) fn push(&mut self, finding: Finding) {
        let (name, severity) = (finding.code.name, finding.severity);
        let known = self.counts.iter().position(|count| (count.0, count.1) == (name, severity));
        let known = known.unwrap_or_else(|| {
            self.counts.push((name, severity, 0));
            self.counts.len() - 1
        });
        let count = &mut self.counts[known].2;
        if *count < MAX_FINDINGS {
            *count += 1;
            self.list.push(finding);
        } else {
            self.dropped += 1;
        }
    }

    /// Whether so much was dropped that the checks should end.
    pub(crate) fn is_full(&self) -> bool {
        self.dropped >= MAX_DROPPED
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
        if let Some(last) = self.list.last_mut().filter(|_| self.dropped > 0) {
            last.help.push(format!(
                "there are more findings; only the first {MAX_FINDINGS} of a code are reported"
            ));
        }
        self.list
    }
}
