//! What is wrong, by pointer: rules and readers speak in these and never see a byte offset.

use std::ops::Range;

use crate::edit::Edit;
use crate::{InDocument, InRecord, Pointer};

/// How bad it is. The order is by weight: `Info < Warning < Error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably a mistake.
    Warning,
    /// The definition is wrong.
    Error,
}

impl Severity {
    /// The word renderers print.
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
    /// A paragraph or a few for `explain`: what it means, why it matters, what to do.
    pub manual: &'static str,
    /// A document that has the mistake and one that has not, where a document can show it.
    pub sample: Option<CodeSample>,
}

/// A mistake shown by a pair of documents.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeSample {
    /// What the file would be called; its ending says which syntax it is in.
    pub file: &'static str,
    /// A document with the mistake.
    pub bad: &'static str,
    /// The same without it.
    pub good: &'static str,
}

/// Whether a finding is about a member's key or its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FindingPart {
    /// The value at the pointer.
    #[default]
    Value,
    /// The key that leads to it.
    Key,
}

/// Whether a repair can change what the definition means.
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
    /// What it does, as an imperative.
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
    /// Where. An absent member is named as if it were there.
    pub at: Pointer<Space>,
    /// Key or value.
    pub part: FindingPart,
    /// Bytes inside the decoded text of the value, for a mistake inside a long string.
    pub within: Option<Range<usize>>,
    /// One line, lower case, literals in backticks.
    pub message: String,
    /// What to do about it, one sentence each.
    pub help: Vec<String>,
    /// Other places of the document that belong to it, with a few words each.
    pub related: Vec<(Pointer<Space>, String)>,
    /// How to repair it, if that is known.
    pub repair: Option<Repair<Space>>,
    /// Whether definitions in the wild do this so often that compat mode makes it a warning.
    pub tolerable: bool,
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
        }
    }

    /// Marks it as common in the wild: compat mode makes it a warning.
    #[must_use]
    pub fn tolerable(mut self) -> Self {
        self.tolerable = true;
        self
    }

    /// The same about the key.
    #[must_use]
    pub fn on_key(mut self) -> Self {
        self.part = FindingPart::Key;
        self
    }

    /// The same about a part of the value's text.
    #[must_use]
    pub fn within(mut self, bytes: Range<usize>) -> Self {
        self.within = Some(bytes);
        self
    }

    /// Adds another place that explains it.
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

    /// Adds a repair of one or more edits.
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

    /// Gives it another weight than its code's.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}
