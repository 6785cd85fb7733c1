//! Collects findings, up to a bound: a hostile document must not turn into a million of them.

use std::collections::HashSet;

use toolwright_source::Finding;

/// More than this in one document tell nobody anything.
pub(crate) const MAX_FINDINGS: usize = 1_000;

#[derive(Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    /// Whether there was more to tell.
    cut: bool,
}

impl Findings {
    pub(crate) fn push(&mut self, finding: Finding) {
        if !self.is_full() {
            self.list.push(finding);
        }
    }

    /// Whether making another finding is not worth the work any more.
    pub(crate) fn is_full(&mut self) -> bool {
        self.cut |= self.list.len() >= MAX_FINDINGS;
        self.cut
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Marks what was found since there were `told` findings as common in the wild.
    pub(crate) fn tolerate_from(&mut self, told: usize) {
        self.list.iter_mut().skip(told).for_each(|finding| finding.tolerable = true);
    }

    /// The findings in the order they were made. A mistake in anchored text is met once for every
    /// alias, and told once.
    pub(crate) fn into_vec(mut self) -> Vec<Finding> {
        let mut told = HashSet::new();
        self.list.retain(|f| told.insert((f.code.name, f.at.clone(), f.message.clone())));
        if let Some(last) = self.list.last_mut().filter(|_| self.cut) {
            last.help.push(format!(
                "there is more to find; only the first {MAX_FINDINGS} findings are told"
            ));
        }
        self.list
    }
}
