//! Findings: what is wrong with a document or record, by pointer.
//!
//! Readers and rules produce these and never see a byte offset, a line or a file name. That keeps
//! rules short, lets them run on records whose shape differs from the document, and leaves one
//! function ([`crate::locate`]) to get positions right. A finding starts with a code, a pointer and
//! a message; the builder methods add the rest.

use std::ops::Range;

use crate::edit::Edit;
use crate::{InDocument, InRecord, Pointer};

/// How bad a finding is. Ordered by weight, so that `>=` and `max` work: `Info < Warning < Error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; never fails a check.
    Info,
    /// Probably a mistake; the definition still works.
    Warning,
    /// The definition is wrong; a check fails, and what it defines is not served.
    Error,
}

impl Severity {
    /// The word in texts for people.
    pub fn label(self) -> &'static str {
        if self == Severity::Info { "note" } else { self.name() }
    }

    /// The word for programs. It is part of stable forms of output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A kind of mistake, under the stable name users configure and look up.
#[derive(Debug, PartialEq, Eq)]
pub struct DiagnosticCode {
    /// `UPPER_SNAKE`, stable across versions.
    pub name: &'static str,
    /// Severity unless a finding or the user says otherwise.
    pub severity: Severity,
    /// A paragraph or more for `explain` and docs/codes: what it means, why it matters, what to do.
    /// The first sentence stands alone as a title.
    pub manual: &'static str,
    /// A document with the mistake and one without it; `None` where a document of readable size
    /// cannot show it. A test checks both.
    pub sample: Option<CodeSample>,
}

impl DiagnosticCode {
    /// The first sentence of the manual.
    pub fn title(&self) -> &'static str {
        let paragraph = self.manual.lines().next().unwrap_or_default();
        paragraph.split_inclusive(". ").next().unwrap_or_default().trim_end()
    }
}

/// A mistake shown by a pair of documents that differ in nothing else. `explain` prints both.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeSample {
    /// What the file would be called; its ending says which syntax it is in.
    pub file: &'static str,
    /// A document with the mistake.
    pub bad: &'static str,
    /// The same without it.
    pub good: &'static str,
}

/// Whether a finding is about a member's key or its value: an unknown field is about the key, a
/// wrong type about the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FindingPart {
    /// The value at the pointer.
    #[default]
    Value,
    /// The key that leads to it.
    Key,
}

/// Whether a repair can change what the definition means. The rule that makes the repair decides; a
/// comment or an alias in the way makes a safe one unsafe later, see [`crate::locate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safety {
    /// Keeps the meaning; applied by `--fix`.
    Safe,
    /// Needs a look; applied only on request.
    Unsafe,
}

/// Edits that remove a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair<Space = InDocument> {
    /// What it does, as an imperative: "rename it to `timeout`".
    pub title: String,
    /// Whether it can be applied without looking.
    pub safety: Safety,
    /// The edits, all or none.
    pub edits: Vec<Edit<Space>>,
}

/// A finding about a record, as the rules of the checker make them.
pub type RecordFinding = Finding<InRecord>;

/// One thing that is wrong, by path: into the document unless the type says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding<Space = InDocument> {
    /// Which kind of mistake.
    pub code: &'static DiagnosticCode,
    /// Its weight here; starts as the code's own.
    pub severity: Severity,
    /// The value. An absent member is named as if it were there.
    pub at: Pointer<Space>,
    /// Whether it is about the key or the value at `at`.
    pub part: FindingPart,
    /// Bytes of the decoded text of the value, for a mistake inside a long string such as a script.
    pub within: Option<Range<usize>>,
    /// One line, lower case, literals in backticks.
    pub message: String,
    /// What to do about it, one sentence each.
    pub help: Vec<String>,
    /// Other values that explain it, with a few words each.
    pub related: Vec<(Pointer<Space>, String)>,
    /// How to repair it, if that is known.
    pub repair: Option<Repair<Space>>,
    /// Whether definitions in the wild do this so often that `--compat` makes an error of it a
    /// warning.
    pub tolerable: bool,
    /// Bytes of every request to a model that it wastes; zero if it wastes none.
    pub wasted_bytes: usize,
    /// The id that is used twice, for a finding about an id of two documents.
    pub shared_id: Option<Box<SharedId>>,
}

/// An id that two documents use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedId {
    /// The id as both documents spell it.
    pub id: String,
    /// The name of the document that used it first.
    pub other: String,
}

impl<Space> Finding<Space> {
    /// A finding about the value at `at`.
    pub fn new(
        code: &'static DiagnosticCode,
        at: Pointer<Space>,
        message: impl Into<String>,
    ) -> Self {
        Finding {
            code,
            severity: code.severity,
            at,
            part: FindingPart::Value,
            within: None,
            message: message.into(),
            help: Vec::new(),
            related: Vec::new(),
            repair: None,
            tolerable: false,
            wasted_bytes: 0,
            shared_id: None,
        }
    }

    /// Marks it as common in the wild, see [`Finding::tolerable`](#structfield.tolerable).
    #[must_use]
    pub fn tolerable(mut self) -> Self {
        self.tolerable = true;
        self
    }

    /// States what it wastes of every request to a model.
    #[must_use]
    pub fn wastes(mut self, bytes: usize) -> Self {
        self.wasted_bytes = bytes;
        self
    }

    /// States which id another document uses, too.
    #[must_use]
    pub fn shares_id(mut self, id: impl Into<String>, other: impl Into<String>) -> Self {
        self.shared_id = Some(Box::new(SharedId { id: id.into(), other: other.into() }));
        self
    }

    /// Makes it a finding about the key that leads to the value.
    #[must_use]
    pub fn on_key(mut self) -> Self {
        self.part = FindingPart::Key;
        self
    }

    /// Narrows it to a part of the value's decoded text, in bytes.
    #[must_use]
    pub fn within(mut self, bytes: Range<usize>) -> Self {
        self.within = Some(bytes);
        self
    }

    /// Adds another value that explains it.
    #[must_use]
    pub fn related(mut self, at: Pointer<Space>, text: impl Into<String>) -> Self {
        self.related.push((at, text.into()));
        self
    }

    /// Adds a sentence of help.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds a repair; its edits are applied all or not at all. A finding has one repair, the last
    /// one given.
    #[must_use]
    pub fn repair(
        mut self,
        safety: Safety,
        title: impl Into<String>,
        edits: Vec<Edit<Space>>,
    ) -> Self {
        self.repair = Some(Repair { title: title.into(), safety, edits });
        self
    }

    /// Gives it another severity than its code's own.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}
