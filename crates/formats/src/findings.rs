//! Collects findings, up to a bound: a hostile document must not turn into a million of them.

use std::collections::HashSet;

use toolwright_source::Finding;

/// More than this in one document tell nobody anything.
pub(crate) const MAX_FINDINGS: usize = 1_000;

#[derive(Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    dropped: usize,
}

impl Findings {
    pub(crate) fn push(&mut self, finding: Finding) {
        if self.list.len() < MAX_FINDINGS {
            self.list.push(finding);
        } else {
            self.dropped += 1;
        }
    }

    /// Whether making another finding is still worth the work.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MAX_FINDINGS
    }

    /// The findings in the order they were made. A mistake in anchored text is met once for every
    /// alias, and told once.
    pub(crate) fn into_vec(mut self) -> Vec<Finding> {
        let mut told = HashSet::new();
        self.list.retain(|f| told.insert((f.code.name, f.at.clone(), f.message.clone())));
        if let Some(last) = self.list.last_mut().filter(|_| self.dropped > 0) {
            last.help.push(format!("and {} more findings in this document", self.dropped));
        }
        self.list
    }
}
