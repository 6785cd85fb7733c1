//! Comments that silence one code at one place: `# toolwright: ignore CODE - why`, behind the line it
//! is about or on a line of its own above it. Without a reason nothing is silenced, and a comment that
//! silences nothing is told, so that none outlives its cause.

use toolwright_source::{Diagnostic, Document, Fix, Source, Span, TextEdit};

toolwright_source::codes! {
    SILENCE_WITHOUT_REASON Warning "A comment wants to silence a code without saying why. Whoever reads it next cannot tell whether it is still right, so it silences nothing. Write `# toolwright: ignore CODE - the reason`."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  commands: [add_note]  # toolwright: ignore MISSING_DESCRIPTION
  cli_specific: {executable: notes}
"#,
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  commands: [add_note]  # toolwright: ignore MISSING_DESCRIPTION - the name says it all
  cli_specific: {executable: notes}
"#
    )
    USELESS_SILENCE Warning "A comment silences a code that is not reported at its place, or that does not exist. It stands on the line that the finding points at, or on a line of its own above it. Remove it if its cause is gone."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  commands: [add_note]  # toolwright: ignore NAMING_CONVENTION - the program has no other spelling
  cli_specific: {executable: notes}
"#,
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  commands: [add_note]
  cli_specific: {executable: notes}
"#
    )
}

/// A comment that silences.
struct Silence<'d> {
    span: Span,
    code: &'d str,
    has_reason: bool,
    /// The line whose findings it is about, from 1.
    line: usize,
    used: bool,
}

/// Takes out what comments of the document silence, and adds what is wrong with such comments.
pub fn silence(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let mut comments: Vec<Silence<'_>> =
        document.comments().iter().filter_map(|c| read(document, *c)).collect();
    if comments.is_empty() {
        return;
    }
    diagnostics.retain(|diagnostic| {
        let Some((line, _)) = diagnostic.line_column() else { return true };
        let mut silenced = false;
        for comment in &mut comments {
            if comment.line == line && comment.code == diagnostic.code.name {
                comment.used = true;
                silenced |= comment.has_reason;
            }
        }
        !silenced
    });
    diagnostics.extend(comments.iter().filter_map(|comment| complaint(document, comment)));
}

fn read(document: &Document, span: Span) -> Option<Silence<'_>> {
    let source = document.source();
    let text = source.slice(span).trim_start_matches('#').trim_start();
    let rest = text.strip_prefix("toolwright:")?.trim_start().strip_prefix("ignore")?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim();
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (code, reason) = rest.split_at(end);
    let has_reason = reason.chars().any(char::is_alphanumeric);
    let line = about(source, span);
    Some(Silence { span, code, has_reason, line, used: false })
}

/// The line a comment is about: its own, or the next one that is neither blank nor a comment.
fn about(source: &Source, span: Span) -> usize {
    let own = source.line_column(span.start as usize).line;
    let mut lines = source.text().lines().enumerate().skip(own - 1);
    let is_comment = |line: &str| line.trim_start().is_empty() || line.trim_start().starts_with('#');
    match lines.next() {
        Some((_, line)) if is_comment(line) => {
            lines.find(|(_, line)| !is_comment(line)).map_or(own, |(n, _)| n + 1)
        }
        _ => own,
    }
}

fn complaint(document: &Document, comment: &Silence<'_>) -> Option<Diagnostic> {
    let code = comment.code;
    let at = |code, message: String| Diagnostic::at(code, document.source(), comment.span, message);
    if comment.used && comment.has_reason {
        None
    } else if comment.used {
        let message = format!("`{code}` is silenced without a reason");
        Some(at(&SILENCE_WITHOUT_REASON, message).help(format!("write `# toolwright: ignore {code} - why`")))
    } else {
        let mut useless = at(&USELESS_SILENCE, format!("`{code}` is not reported here"));
        useless.fix = Some(removal(document, comment.span));
        Some(useless)
    }
}

/// Takes a comment out, with its line if it stands alone.
fn removal(document: &Document, span: Span) -> Fix {
    let text = document.source().text();
    let before = &text[..span.start as usize];
    let kept = before.trim_end_matches([' ', '\t']).len();
    let alone = kept == 0 || before[..kept].ends_with('\n');
    let mut end = span.end as usize;
    if alone {
        let rest = &text[end..];
        end += if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    }
    let edit = TextEdit { span: Span::new(kept, end), text: String::new() };
    Fix { title: "remove the comment".to_owned(), safe: true, edits: vec![edit] }
}
