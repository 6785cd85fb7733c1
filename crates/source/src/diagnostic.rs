//! A finding with its place in the file, ready to show.
//!
//! `Finding` is what rules produce, by pointer; `Diagnostic` is what renderers read, by byte.
//! Renderers use nothing else, so every output form shows the same facts. [`crate::locate`] makes a
//! diagnostic of a finding; the parsers make theirs directly, because they already have the byte.

use std::sync::Arc;

use crate::edit::TextEdit;
use crate::finding::{DiagnosticCode, Severity};
use crate::{DocumentPath, Source, Span};

/// A second place that explains the first ("first used here").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// A few words.
    pub text: String,
}

/// Edits to the bytes of the file that remove a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an imperative: "rename it to `timeout`".
    pub title: String,
    /// Whether `--fix` applies it without asking. Already accounts for comments and aliases that
    /// the edits touch, see [`crate::locate`].
    pub safe: bool,
    /// Non-overlapping, in order, for the text of the diagnostic's source: apply them with
    /// [`crate::splice`].
    pub edits: Vec<TextEdit>,
}

/// What is wrong and where it stands in the file.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Which kind of mistake.
    pub code: &'static DiagnosticCode,
    /// Its severity here: the code's own, or as changed by a rule, a mode or the configuration.
    pub severity: Severity,
    /// One line, lower case, literals in backticks. It may quote the document, so renderers escape
    /// it.
    pub message: String,
    /// The file it is in. Shared: a file with a thousand diagnostics has one text.
    pub source: Arc<Source>,
    /// The place; `None` for a diagnostic about the file as a whole.
    pub span: Option<Span>,
    /// The same place as a path into the document. An absent member is named as if it were there.
    pub path: DocumentPath,
    /// Other places that explain it.
    pub labels: Vec<Label>,
    /// What to do about it, a sentence each.
    pub help: Vec<String>,
    /// How to repair it, if that is known and possible in this text.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A diagnostic at a known place, for mistakes of the text itself.
    pub fn at(
        code: &'static DiagnosticCode,
        source: &Arc<Source>,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            code,
            severity: code.severity,
            message: message.into(),
            source: Arc::clone(source),
            span: Some(span),
            path: DocumentPath::root(),
            labels: Vec::new(),
            help: Vec::new(),
            fix: None,
        }
    }

    /// Adds a sentence of help.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help.push(text.into());
        self
    }

    /// Line and column of its start, both from 1; `None` without a place.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let at = self.source.line_column(self.span?.start as usize);
        Some((at.line, at.column))
    }
}
