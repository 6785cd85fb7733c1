//! Comments that silence one code at one place: `# toolwright: ignore CODE - why`, behind the line
//! it is about or on a line of its own above it. Without a reason nothing is silenced, and a
//! comment that silences nothing is told, so that none outlives its cause.

use std::collections::{BTreeMap, BTreeSet};

use toolwright_source::words::{nearest_word, shorten};
use toolwright_source::{
    Diagnostic, DiagnosticCode, Document, Fix, Node, Severity, Span, TextEdit,
};

use crate::report::{MAX_FINDINGS, MAX_NOTES};

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
    USELESS_SILENCE Warning "A comment silences a code that is not reported at its place, or that does not exist. It stands on the line that the finding points at or where its value starts, or on a line of its own above. Remove it if its cause is gone."
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
    /// Whether it names more than one code.
    several: bool,
    used: bool,
}

/// Useless comments that are told; more tell nobody anything.
const MAX_USELESS: usize = 100;

/// Takes out what comments of the document silence, and adds what is wrong with such comments.
/// `known` are all codes there are.
pub fn silence(
    document: &Document,
    diagnostics: &mut Vec<Diagnostic>,
    known: impl Iterator<Item = &'static DiagnosticCode> + Clone,
) {
    let mut comments = comments(document);
    if comments.is_empty() {
        return;
    }
    // Where the text is broken, or there was more to find than is told, nobody knows what is
    // useless.
    let notes = diagnostics.iter().filter(|d| d.severity == Severity::Info).count();
    let is_whole = document.problems().is_empty()
        && notes < MAX_NOTES
        && diagnostics.len() - notes < MAX_FINDINGS;
    diagnostics.retain(|diagnostic| {
        let mut silenced = false;
        for line in lines_of(document, diagnostic) {
            for comment in comments.get_mut(&line).into_iter().flatten() {
                if comment.code == diagnostic.code.name {
                    comment.used = true;
                    silenced |= comment.has_reason;
                }
            }
        }
        !silenced
    });
    let judged = comments.values().flatten().filter(|comment| comment.used || is_whole);
    let told = judged.filter_map(|comment| complaint(document, comment, known.clone()));
    diagnostics.extend(told.take(MAX_USELESS));
}

/// The comments by the line that each is about.
fn comments(document: &Document) -> BTreeMap<usize, Vec<Silence<'_>>> {
    let mut found: BTreeMap<usize, Vec<Silence<'_>>> = BTreeMap::new();
    let read: Vec<Silence<'_>> =
        document.comments().iter().filter_map(|span| read(document, *span)).collect();
    if read.is_empty() {
        return found;
    }
    // For every line the next one that is neither blank nor a comment, from the last up.
    let is_words =
        |line: &str| !line.trim_start().is_empty() && !line.trim_start().starts_with('#');
    let lines: Vec<&str> = document.source().text().lines().collect();
    let mut about = vec![0; lines.len() + 1];
    let mut next = 0;
    for (n, line) in lines.iter().enumerate().rev() {
        if is_words(line) {
            next = n + 1;
        }
        about[n] = next;
    }
    for comment in read {
        let own = document.source().line_column(comment.span.start as usize).line;
        found.entry(about.get(own - 1).copied().unwrap_or(own)).or_default().push(comment);
    }
    found
}

/// The lines at which a diagnostic can be silenced: its own, and that of the key or the start of
/// the value it is about, because a text of several lines cannot hold a comment.
fn lines_of(document: &Document, diagnostic: &Diagnostic) -> BTreeSet<usize> {
    let own = diagnostic.line_column().map(|(line, _)| line);
    let node = document.root().find(&diagnostic.path);
    let spans =
        node.into_iter().flat_map(|node| [Some(node.span()), node.key().map(Node::span)]).flatten();
    let starts = spans.map(|span| document.source().line_column(span.start as usize).line);
    own.into_iter().chain(starts.filter(|_| own.is_some())).collect()
}

/// `# toolwright: ignore CODE - why`; `:` and dashes may stand before the reason.
fn read(document: &Document, span: Span) -> Option<Silence<'_>> {
    let text = document.source().slice(span).trim_start_matches('#').trim_start();
    let rest = text.strip_prefix("toolwright:")?.trim_start().strip_prefix("ignore")?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim();
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (code, reason) = rest.split_at(end);
    let several = reason.trim_start().starts_with(',');
    let reason = reason.trim_start().strip_prefix(['-', ':', '–', '—']);
    let has_reason = reason.is_some_and(|reason| reason.chars().any(char::is_alphanumeric));
    Some(Silence { span, code, has_reason, several, used: false })
}

fn complaint(
    document: &Document,
    comment: &Silence<'_>,
    mut known: impl Iterator<Item = &'static DiagnosticCode> + Clone,
) -> Option<Diagnostic> {
    let code = shorten(comment.code);
    let at = |code, message: String| Diagnostic::at(code, document.source(), comment.span, message);
    if comment.used && comment.has_reason {
        return None;
    }
    if comment.used && comment.several {
        let message = format!("`{code}` is not silenced: a comment is about one code");
        return Some(
            at(&SILENCE_WITHOUT_REASON, message)
                .help("write a comment for each code, on lines above"),
        );
    }
    if comment.used {
        let message = format!("`{code}` is silenced without a reason");
        return Some(
            at(&SILENCE_WITHOUT_REASON, message)
                .help(format!("write `# toolwright: ignore {code} - why`")),
        );
    }
    let names = known.clone().map(|code| code.name);
    if !known.any(|known| known.name == comment.code) {
        let unknown = at(&USELESS_SILENCE, format!("there is no code `{code}`"));
        let meant = nearest_word(comment.code, names);
        return Some(match meant {
            Some(meant) => unknown.help(format!("did you mean `{meant}`?")),
            None => unknown.help("`toolwright explain` lists all codes"),
        });
    }
    let mut useless = at(&USELESS_SILENCE, format!("`{code}` is not reported here"));
    useless.fix = Some(removal(document, comment.span));
    Some(useless)
}

/// Takes a comment out, with its line if it stands alone. A person should look: what it silenced
/// may be found when other files are checked with it.
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
    Fix { title: "remove the comment".to_owned(), safe: false, edits: vec![edit] }
}
