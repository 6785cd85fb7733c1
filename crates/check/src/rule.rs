//! What a rule is.

use toolwright_source::RecordFinding;

use crate::Subject;
use crate::report::Report;

/// A rule about one document. It may report more than one code where they come from one look.
pub(crate) struct Rule {
    /// Looks at the subject and reports.
    pub(crate) check: fn(&Subject<'_>, &mut Report<'_>),
}

/// A rule about documents that are used together. It looks at names, namespaces and bindings alone:
/// of thousands of documents nothing else is kept.
pub(crate) struct RuleBetween {
    /// Looks at all of them and reports, each time with the place of a subject.
    pub(crate) check: fn(&[Subject<'_>], &mut dyn FnMut(usize, RecordFinding)),
}
