//! Collects what rules find, by pointers into the document, up to a bound.

use std::collections::BTreeSet;

use toolwright_source::{Finding, Origin, RecordFinding, Severity};

/// More errors and warnings than this from the rules about one document tell nobody anything.
pub const MAX_FINDINGS: usize = 1_000;
/// The same for what is only worth knowing: it must not crowd out the others.
pub const MAX_NOTES: usize = 500;

/// Where rules report to.
pub(crate) struct Report<'a> {
    origin: &'a Origin,
    list: Vec<Finding>,
    notes: usize,
    cut: bool,
}

impl<'a> Report<'a> {
    pub(crate) fn new(origin: &'a Origin) -> Report<'a> {
        Report { origin, list: Vec::new(), notes: 0, cut: false }
    }

    /// Reports something about the record.
    pub(crate) fn push(&mut self, finding: RecordFinding) {
        let finding = self.origin.in_document(finding);
        if !self.is_guess(&finding) && self.takes(&finding) {
            self.list.push(finding);
        }
    }

    /// Reports something about a value of the document itself.
    pub(crate) fn push_in_document(&mut self, finding: Finding) {
        if self.takes(&finding) {
            self.list.push(finding);
        }
    }

    /// Whether it is about something in which reading stopped: what seems to be wrong there may be
    /// right further down in the text.
    fn is_guess(&self, finding: &Finding) -> bool {
        let document = self.origin.document();
        !document.problems().is_empty()
            && document.is_unfinished(document.root().nearest(&finding.at))
    }

    fn takes(&mut self, finding: &Finding) -> bool {
        let is_note = finding.severity == Severity::Info;
        let takes = if is_note { self.notes < MAX_NOTES } else { !self.is_full() };
        self.notes += usize::from(is_note && takes);
        self.cut |= !takes;
        takes
    }

    /// Whether looking further is not worth the work any more.
    pub(crate) fn is_full(&mut self) -> bool {
        let is_full = self.list.len() - self.notes >= MAX_FINDINGS;
        self.cut |= is_full;
        is_full
    }

    /// All of it. What an alias repeats is told once.
    pub(crate) fn into_findings(mut self) -> Vec<Finding> {
        let mut told = BTreeSet::new();
        let news = self.list.iter().map(|f| {
            let within = f.within.as_ref().map(|range| (range.start, range.end));
            told.insert((f.code.name, f.at.as_str(), within, f.message.as_str()))
        });
        let mut news = news.collect::<Vec<bool>>().into_iter();
        self.list.retain(|_| news.next() == Some(true));
        if let Some(last) = self.list.last_mut().filter(|_| self.cut) {
            last.help.push(format!(
                "there is more to find; only the first {MAX_FINDINGS} findings and {MAX_NOTES} notes are told"
            ));
        }
        self.list
    }
}
