//! Collects the findings of all rules about one document, and bounds their number.
//!
//! ```text
//! RecordFinding ─ Origin ─▶ Finding ─▶ value read to its end? ─▶ room left? ─▶ list
//!                                      no: dropped            no: dropped, and noted
//! ```
//!
//! The limits protect the reader of the output as well as the process: a hostile document of 16 MiB
//! can break a rule a million times. Each code has a limit of its own in each severity, so that
//! thousands of findings of one kind push out neither an error that a later rule finds nor an
//! attack that somebody wants to hide behind them.

use std::collections::BTreeSet;

use toolwright_source::{DiagnosticCode, Finding, Origin, RecordFinding, Severity};

use crate::rule::RuleScope;

/// The most errors, and the most warnings, of one code that the rules report about one document. A
/// person corrects the first ones and checks again.
pub const MAX_FINDINGS: usize = 1_000;
/// The most notes of one code that the rules report about one document. Half of the other limit, as
/// notes are advice.
pub const MAX_NOTES: usize = 500;

/// The findings about one document so far. Rules only add to it. One for each document and run.
/// Rules do not read what is in it.
pub(crate) struct Report<'a> {
    /// Translates pointers into the record to pointers into the document.
    origin: &'a Origin,
    /// What the caller asked for.
    scope: RuleScope,
    /// Errors, warnings and notes, in the order they were reported.
    list: Vec<Finding>,
    /// How many of `list` have which code and severity.
    counts: Vec<(&'static str, Severity, usize)>,
    /// Whether a finding was dropped because of a limit, or a rule stopped early.
    is_truncated: bool,
}

impl<'a> Report<'a> {
    /// An empty report about the document of `origin`.
    pub(crate) fn new(origin: &'a Origin, scope: RuleScope) -> Report<'a> {
        Report { origin, scope, list: Vec::new(), counts: Vec::new(), is_truncated: false }
    }

    /// Whether only errors are needed, so that a rule with several codes can leave out the others.
    pub(crate) fn is_for_errors(&self) -> bool {
        self.scope == RuleScope::Errors
    }

    /// Adds a finding that points into the record. This is what nearly all rules use.
    ///
    /// Dropped without a trace if it points into a value that a syntax error cut off: the syntax
    /// error is reported, and the rest is unknown.
    pub(crate) fn push(&mut self, finding: RecordFinding) {
        let finding = self.origin.in_document(finding);
        if !self.is_in_unfinished_value(&finding) && self.has_room_for(&finding) {
            self.list.push(finding);
        }
    }

    /// Adds a finding that points into the document already. For rules that read every text of the
    /// document, also those that the record does not hold. Such a text is complete even if the
    /// object around it breaks off, so the finding is kept there.
    pub(crate) fn push_in_document(&mut self, finding: Finding) {
        if self.has_room_for(&finding) {
            self.list.push(finding);
        }
    }

    /// Whether the finding points into a value that the parser could not read to its end because of
    /// a syntax error. What seems to be missing or wrong there may be right in the unread rest.
    fn is_in_unfinished_value(&self, finding: &Finding) -> bool {
        let document = self.origin.document();
        !document.problems().is_empty()
            && document.is_unfinished(document.root().nearest(&finding.at))
    }

    /// Counts the finding against its limit. Returns false, and remembers that something was left
    /// out, if the limit is reached.
    fn has_room_for(&mut self, finding: &Finding) -> bool {
        let (name, severity) = (finding.code.name, finding.severity);
        let limit = if severity == Severity::Info { MAX_NOTES } else { MAX_FINDINGS };
        let known = self.counts.iter().position(|count| (count.0, count.1) == (name, severity));
        let known = known.unwrap_or_else(|| {
            self.counts.push((name, severity, 0));
            self.counts.len() - 1
        });
        let count = &mut self.counts[known].2;
        let has_room = *count < limit;
        *count += usize::from(has_room);
        self.is_truncated |= !has_room;
        has_room
    }

    /// Whether the limit on errors or warnings of a code is reached, so that a rule with much work
    /// per value should stop. Asking counts as leaving something out, because the caller stops
    /// then.
    pub(crate) fn is_full(&mut self, code: &DiagnosticCode) -> bool {
        // Nearly always.
        if self.list.len() < MAX_FINDINGS {
            return false;
        }
        let is_full = self.counts.iter().any(|(name, severity, count)| {
            *name == code.name && *severity != Severity::Info && *count >= MAX_FINDINGS
        });
        self.is_truncated |= is_full;
        is_full
    }

    /// The findings, without repetitions: a value that YAML aliases use in several places of the
    /// record is one value of the document, and rules report it once for each use.
    ///
    /// If a limit was reached, the help of the last finding states it, and no diagnostic of its own
    /// is added, which would need a place.
    pub(crate) fn into_findings(mut self) -> Vec<Finding> {
        let mut seen = BTreeSet::new();
        // The keys borrow from the list, so whether to keep each finding is decided before `retain`
        // changes the list.
        let is_new: Vec<bool> = self
            .list
            .iter()
            .map(|f| {
                let within = f.within.as_ref().map(|range| (range.start, range.end));
                seen.insert((f.code.name, f.at.as_str(), within, f.message.as_str()))
            })
            .collect();
        let mut is_new = is_new.into_iter();
        self.list.retain(|_| is_new.next() == Some(true));
        if let Some(last) = self.list.last_mut().filter(|_| self.is_truncated) {
            last.help.push(format!(
                "there are more findings; only the first {MAX_FINDINGS} of a code, and {MAX_NOTES} \
                 notes of it, are reported"
            ));
        }
        self.list
    }
}
