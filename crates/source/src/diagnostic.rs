//! A finding with its place in the file, ready to show.
//!
//! `Finding` is what rules produce, by pointer; `Diagnostic` is what renderers read, by byte.
//! Renderers use nothing else, so every output form shows the same facts. [`crate::locate`] makes a
//! diagnostic of a finding; the parsers make theirs directly, because they already have the byte.

use std::sync::Arc;

use crate::edit::TextEdit;
use crate::finding::{DiagnosticCode, Severity, SharedId};
use crate::{DocumentPath, Source, Span, TextOrigin};

/// A second place that explains the first ("first used here").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The bytes that it is shown at.
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

/// The tool that a diagnostic lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPlace {
    /// Its name as the document writes it, which need not be a valid name.
    pub name: String,
    /// Its definition; the root where the document is one tool.
    pub at: DocumentPath,
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
    /// The file or answer it is in. Shared: a file with a thousand diagnostics has one text.
    pub source: Arc<Source>,
    /// The source it is about, if that is not `source` itself: a server, for a diagnostic about its
    /// entry in a servers file.
    pub about: Option<Arc<str>>,
    /// The tool it lies in; `None` where it concerns the whole document, or a list of tools.
    pub tool: Option<Arc<ToolPlace>>,
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
    /// Bytes of every request to a model that it wastes; zero if it wastes none.
    pub wasted_bytes: usize,
    /// The id that is used twice, for a finding about an id of two documents.
    pub shared_id: Option<Box<SharedId>>,
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
            about: None,
            tool: None,
            span: Some(span),
            path: DocumentPath::root(),
            labels: Vec::new(),
            help: Vec::new(),
            fix: None,
            wasted_bytes: 0,
            shared_id: None,
        }
    }

    /// Adds a sentence of help.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help.push(text.into());
        self
    }

    /// The name of the source it is about, as the user knows it: the path of a file, or the name of
    /// a server.
    pub fn source_name(&self) -> &str {
        self.about.as_deref().unwrap_or_else(|| self.source.name())
    }

    /// The path below its tool; the path into the document without one.
    pub fn path_in_tool(&self) -> DocumentPath {
        let below = self.tool.as_ref().and_then(|tool| self.path.below(&tool.at));
        below.unwrap_or_else(|| self.path.clone())
    }

    /// The file to open, and the place in it. For an answer that is the file which names its
    /// sender. `None` if there is no file, as for standard input and for a server that was named by
    /// its URL.
    pub fn file(&self) -> Option<(&Source, Option<Span>)> {
        match self.source.origin() {
            TextOrigin::File => Some((&self.source, self.span)),
            TextOrigin::Input | TextOrigin::Answer(None) => None,
            TextOrigin::Answer(Some(anchor)) => Some((&anchor.source, anchor.span)),
        }
    }

    /// Line and column of its start in [`Diagnostic::source`], both from 1; `None` without a place.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let at = self.source.line_column(self.span?.start as usize);
        Some((at.line, at.column))
    }
}
