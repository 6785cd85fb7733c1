//! The two kinds of rules. A rule is a plain function in a static, so that `rules/mod.rs` can list
//! all of them. There is no trait: a rule has no state between documents, and no rule calls
//! another.
//!
//! ```text
//! Rule         fn(&Subject, &mut Report)         one document; most rules
//! RuleBetween  fn(&[Subject], &mut dyn FnMut)    all documents, once, at the end
//! ```

use toolwright_source::{DiagnosticCode, RecordFinding, Severity};

use crate::Subject;
use crate::report::Report;

/// A rule about one document. It may report several codes if one pass over the document finds all
/// of them, as the rules about texts do (`rules/texts.rs`).
pub(crate) struct Rule {
    /// The codes that the file of the rule declares. Empty if it reports codes of `source::codes`.
    pub(crate) codes: &'static [&'static DiagnosticCode],
    /// Reads the subject and adds findings to the report. It must accept every record that a reader
    /// can produce, however incomplete, and must not panic.
    pub(crate) check: fn(&Subject<'_>, &mut Report<'_>),
}

/// Which findings of the rules a caller needs.
///
/// Callers that ask for errors only are the gate of the catalog and `convert`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleScope {
    /// All of them.
    #[default]
    All,
    /// All errors, and whatever is found on the way to them. For callers that only have to know
    /// whether a definition is sound, which takes a fraction of the time.
    Errors,
}

impl Rule {
    /// Whether the rule can report errors. Rules without codes of their own report shared ones,
    /// which may be errors. By the declared severity: a finding may be milder than its code, but
    /// not an error if all codes of the rule are warnings.
    pub(crate) fn can_report_errors(&self) -> bool {
        self.codes.is_empty() || self.codes.iter().any(|code| code.severity == Severity::Error)
    }
}

/// A rule that compares documents that are used together. It may read names, namespaces,
/// descriptions and bindings only: when thousands of documents are loaded, their callers drop
/// everything else before this.
pub(crate) struct RuleBetween {
    /// The codes that the file of the rule declares, as in [`Rule`].
    pub(crate) codes: &'static [&'static DiagnosticCode],
    /// Reads all subjects and reports. The number that it passes with a finding is the index of the
    /// subject that the finding points into.
    pub(crate) check: fn(&[Subject<'_>], &mut dyn FnMut(usize, RecordFinding)),
}
