//! Problems of a text, collected while it is parsed.
//!
//! Both parsers report here, so that a mistake that JSON and YAML share (a duplicate key, a number
//! that is not exact, a limit) has one message and one code. Findings about the meaning of a
//! document do not belong here: they are `Finding`s by pointer and come from readers and rules.
//!
//! A problem may be the hundredth, or one that ends the document. Both parsers only ask whether
//! they are `stopped`; how many problems are kept is decided here.

use std::sync::Arc;

use crate::tree::{NodeId, TreeBuilder, ValueKind};
use crate::{Diagnostic, DiagnosticCode, Label, MAX_PROBLEMS, Source, Span, codes, number};

/// The problems found so far, and whether parsing should go on.
pub(crate) struct ProblemCollector<'s> {
    source: &'s Arc<Source>,
    list: Vec<Diagnostic>,
    /// Set when a limit is reached, or when nothing behind a mistake can be read. Both parsers look
    /// at it after every token.
    pub(crate) stopped: bool,
}

impl<'s> ProblemCollector<'s> {
    /// An empty collector for the problems of `source`.
    pub(crate) fn new(source: &'s Arc<Source>) -> ProblemCollector<'s> {
        ProblemCollector { source, list: Vec::new(), stopped: false }
    }

    /// The problems, in the order they were reported.
    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }

    /// A diagnostic about the syntax at `span`, for callers that add labels or help before they
    /// push it.
    pub(crate) fn syntax(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(&codes::INVALID_SYNTAX, self.source, span, message)
    }

    /// Reports a mistake in the syntax.
    pub(crate) fn report(&mut self, span: Span, message: impl Into<String>) {
        self.push(self.syntax(span, message));
    }

    /// Keeps a problem, up to [`MAX_PROBLEMS`]. The next one is dropped, ends the parsing, and adds
    /// a note to the last one that was kept.
    pub(crate) fn push(&mut self, problem: Diagnostic) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(problem);
        } else if !std::mem::replace(&mut self.stopped, true)
            && let Some(last) = self.list.last_mut()
        {
            last.help
                .push(format!("only the first {MAX_PROBLEMS} problems of the text are reported"));
        }
    }

    /// Reports that a limit is exceeded and ends the parsing. Kept even beyond [`MAX_PROBLEMS`],
    /// because it explains why the rest of the document is missing.
    pub(crate) fn stop(
        &mut self,
        code: &'static DiagnosticCode,
        span: Span,
        message: impl Into<String>,
    ) {
        self.list.push(Diagnostic::at(code, self.source, span, message));
        self.stopped = true;
    }

    /// Reports a number that programs will read as another one.
    pub(crate) fn check_number(&mut self, span: Span, text: &str) {
        // The YAML reader calls this for every number; the JSON parser skips short ones itself.
        if number::is_exact(text) {
            return;
        }
        let message = match number::to_json(text) {
            serde_json::Value::Null => {
                format!("`{}` is beyond every number type", shorten_to_ascii(text))
            }
            read => format!("`{}` is read as {read}", shorten_to_ascii(text)),
        };
        let problem = Diagnostic::at(&codes::NUMBER_PRECISION, self.source, span, message);
        self.push(problem.help("write it as a string if every digit matters"));
    }

    /// Reports the keys that stand twice in the container `id`, if it is a map. Called when the
    /// container closes, with all of its keys known.
    pub(crate) fn check_keys(&mut self, builder: &TreeBuilder, id: NodeId) {
        if builder.tree.slot(id).kind != ValueKind::Map {
            return;
        }
        let text = self.source.text();
        for (first, again) in builder.duplicates(id, text) {
            let name = shorten_to_ascii(builder.tree.raw(again, text));
            let span = builder.tree.slot(again).span;
            let message = format!("key `{name}` is used twice in one object");
            let mut problem = Diagnostic::at(&codes::DUPLICATE_KEY, self.source, span, message);
            // The second key is the mistake; the label shows the first one, which may be far above.
            let label = builder.tree.slot(first).span;
            problem.labels.push(Label { span: label, text: "first used here".into() });
            self.push(problem);
            if self.stopped {
                break;
            }
        }
    }
}

/// A piece of the document for a message: at most 40 characters, and only printable ASCII is left
/// as it is, because broken text may hold anything that a terminal obeys. (`words::shorten` is its
/// counterpart for values of a document: 60 characters, and other alphabets stay readable.)
pub(crate) fn shorten_to_ascii(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(40) {
        match c {
            ' '..='~' => out.push(c),
            c => out.extend(c.escape_debug()),
        }
    }
    if text.chars().nth(40).is_some() {
        out.push('…');
    }
    out
}
