//! What is wrong with a text, collected while it is parsed. Both parsers report here.

use std::sync::Arc;

use crate::tree::{NodeId, TreeBuilder, ValueKind};
use crate::{Diagnostic, DiagnosticCode, Label, MAX_PROBLEMS, Source, Span, codes, number};

/// The problems found so far, and whether it is of any use to look for more.
pub(crate) struct ProblemCollector<'s> {
    source: &'s Arc<Source>,
    list: Vec<Diagnostic>,
    /// Set when a limit is reached; the parser ends then.
    pub(crate) stopped: bool,
}

impl<'s> ProblemCollector<'s> {
    pub(crate) fn new(source: &'s Arc<Source>) -> ProblemCollector<'s> {
        ProblemCollector { source, list: Vec::new(), stopped: false }
    }

    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }

    /// A diagnostic about the syntax at `span`.
    pub(crate) fn syntax(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(&codes::INVALID_SYNTAX, self.source, span, message)
    }

    /// Reports a mistake in the syntax.
    pub(crate) fn report(&mut self, span: Span, message: impl Into<String>) {
        self.push(self.syntax(span, message));
    }

    /// Keeps a problem, up to the most that are told; the last one then says so.
    pub(crate) fn push(&mut self, problem: Diagnostic) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(problem);
        } else if !std::mem::replace(&mut self.stopped, true)
            && let Some(last) = self.list.last_mut()
        {
            last.help.push(format!("only the first {MAX_PROBLEMS} problems of the text are told"));
        }
    }

    /// Reports what makes reading on pointless.
    pub(crate) fn stop(
        &mut self,
        code: &'static DiagnosticCode,
        span: Span,
        message: impl Into<String>,
    ) {
        self.list.push(Diagnostic::at(code, self.source, span, message));
        self.stopped = true;
    }

    /// Reports a number that is not what it will be read as.
    pub(crate) fn check_number(&mut self, span: Span, text: &str) {
        if number::is_exact(text) {
            return;
        }
        let message = match number::to_json(text) {
            serde_json::Value::Null => format!("`{}` is beyond every number type", excerpt(text)),
            read => format!("`{}` is read as {read}", excerpt(text)),
        };
        let problem = Diagnostic::at(&codes::NUMBER_PRECISION, self.source, span, message);
        self.push(problem.help("write it as a string if every digit matters"));
    }

    /// Reports the keys that stand twice in the container `id`, if it is a map.
    pub(crate) fn check_keys(&mut self, builder: &TreeBuilder, id: NodeId) {
        if builder.tree.slot(id).kind != ValueKind::Map {
            return;
        }
        let text = self.source.text();
        for (first, again) in builder.duplicates(id, text) {
            let name = excerpt(builder.tree.raw(again, text));
            let span = builder.tree.slot(again).span;
            let message = format!("key `{name}` is used twice in one object");
            let mut problem = Diagnostic::at(&codes::DUPLICATE_KEY, self.source, span, message);
            let label = builder.tree.slot(first).span;
            problem.labels.push(Label { span: label, text: "first used here".into() });
            self.push(problem);
            if self.stopped {
                break;
            }
        }
    }
}

/// Text for a message: at most 40 characters of it, nothing that could move the cursor.
pub(crate) fn excerpt(text: &str) -> String {
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
