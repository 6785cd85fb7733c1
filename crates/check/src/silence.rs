//! Comments that silence one diagnostic code at one line: `# toolwright: ignore CODE - why`, at the
//! end of the line or on a line of its own above it.
//!
//! Two rules keep such comments from hiding more than they should: without a reason nothing is
//! silenced, and a comment that silences nothing is itself reported, so that none outlives its
//! cause. There is deliberately no comment for a whole file, and none for several codes:
//! `toolwright.toml` sets levels for those.
//!
//! JSON has no comments, so only YAML documents can silence anything.
//!
//! ```text
//! commands: [add_note]  # toolwright: ignore MISSING_DESCRIPTION - the name says it all
//!
//! # toolwright: ignore NAMING_CONVENTION - the program has no other spelling
//! commands: [AddNote]
//! ```
//!
//! ```text
//! comment                     │ finding there │ result
//! code and reason             │ yes           │ the finding is removed
//! code without reason         │ yes           │ the finding stays; SILENCE_WITHOUT_REASON
//! code, other code            │ yes           │ the same, with another message
//! code and reason             │ no            │ USELESS_SILENCE, with a fix
//! unknown code                │ –             │ USELESS_SILENCE, with a suggestion
//! ```

use std::collections::{BTreeMap, BTreeSet};

use toolwright_source::words::{nearest_word, shorten};
use toolwright_source::{
    Diagnostic, DiagnosticCode, Document, Fix, Node, Severity, Span, TextEdit,
};

use crate::report::{MAX_FINDINGS, MAX_NOTES};

toolwright_source::codes! {
    SILENCE_WITHOUT_REASON Warning
        "A comment names a code to silence, but gives no reason. The next reader could not tell \
         whether it is still right, so it silences nothing. Write `# toolwright: ignore CODE - \
         the reason`."
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
    USELESS_SILENCE Warning
        "A comment silences a code that is not reported at its line, or that does not exist. It \
         belongs on the line that the finding points at or where its value starts, or on a line \
         of its own above. The same is reported for an `[[ignore]]` of `toolwright.toml` that no \
         finding matches. Remove it if its cause is gone."
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

/// A comment of the form `# toolwright: ignore CODE …`. Borrowed from the text of the document.
struct SilenceComment<'d> {
    span: Span,
    /// The code as it is written; it may not exist.
    code: &'d str,
    has_reason: bool,
    /// Whether it names more than one code, which is not allowed.
    several: bool,
    /// Whether its code is reported at its line.
    used: bool,
}

/// Diagnostics about comments per document. A document with more has one cause for all. For
/// instance, a file that was generated with the same wrong comment on every line.
const MAX_USELESS: usize = 100;

/// Removes the diagnostics that comments of the document silence, and adds diagnostics about
/// comments that lack a reason or silence nothing. Returns how many were removed.
///
/// `diagnostics` must be everything that was found in this document, also together with others:
/// otherwise comments look useless that are not. `known` are all codes that exist.
///
/// Called by the workspace after all rules, also those between documents. The code of a finding is
/// compared with regard to case.
pub fn silence(
    document: &Document,
    diagnostics: &mut Vec<Diagnostic>,
    known: impl Iterator<Item = &'static DiagnosticCode> + Clone,
) -> usize {
    // Nearly all documents have no such comment, and return here.
    let mut comments = comments_by_line(document);
    if comments.is_empty() {
        return 0;
    }
    let found = diagnostics.len();
    // In a broken text, or beyond the limit on findings, more would be found: whether a comment is
    // useless is unknown then.
    let notes = diagnostics.iter().filter(|d| d.severity == Severity::Info).count();
    let is_complete = document.problems().is_empty()
        && notes < MAX_NOTES
        && diagnostics.len() - notes < MAX_FINDINGS;
    diagnostics.retain(|diagnostic| {
        // A comment without a reason counts as used, so that it is reported for that and not as
        // useless.
        let mut silenced = false;
        // Several comments may be about one line, one for each code.
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
    let removed = found - diagnostics.len();
    let decided = comments.values().flatten().filter(|comment| comment.used || is_complete);
    let wrong = decided.filter_map(|comment| diagnose_comment(document, comment, known.clone()));
    diagnostics.extend(wrong.take(MAX_USELESS));
    removed
}

/// The comments by the number of the line that each is about, counted from 1.
///
/// Linear in the lines of the text, which is read only if there is such a comment.
fn comments_by_line(document: &Document) -> BTreeMap<usize, Vec<SilenceComment<'_>>> {
    let mut found: BTreeMap<usize, Vec<SilenceComment<'_>>> = BTreeMap::new();
    let parsed: Vec<SilenceComment<'_>> =
        document.comments().iter().filter_map(|span| parse_comment(document, *span)).collect();
    if parsed.is_empty() {
        return found;
    }
    // A comment on a line of its own is about the next line that is neither blank nor a comment.
    // `about` holds that line for every line; filled from the last line up, in one pass.
    let has_content =
        |line: &str| !line.trim_start().is_empty() && !line.trim_start().starts_with('#');
    let lines: Vec<&str> = document.source().text().lines().collect();
    // 0 for a comment after the last content: no diagnostic has that line, so it is useless.
    let mut about = vec![0; lines.len() + 1];
    let mut next = 0;
    for (n, line) in lines.iter().enumerate().rev() {
        if has_content(line) {
            next = n + 1;
        }
        about[n] = next;
    }
    for comment in parsed {
        let own = document.source().line_column(comment.span.start as usize).line;
        found.entry(about.get(own - 1).copied().unwrap_or(own)).or_default().push(comment);
    }
    found
}

/// The lines at which a diagnostic can be silenced: its own, and those where the key and the value
/// that it is about begin, because a text of several lines cannot hold a comment. Empty for a
/// diagnostic without a line.
fn lines_of(document: &Document, diagnostic: &Diagnostic) -> BTreeSet<usize> {
    // A diagnostic about the whole document has no line and cannot be silenced.
    let own = diagnostic.line_column().map(|(line, _)| line);
    let node = document.root().find(&diagnostic.path);
    let spans =
        node.into_iter().flat_map(|node| [Some(node.span()), node.key().map(Node::span)]).flatten();
    let starts = spans.map(|span| document.source().line_column(span.start as usize).line);
    own.into_iter().chain(starts.filter(|_| own.is_some())).collect()
}

/// Reads `# toolwright: ignore CODE - why`. The reason is separated by `:`, `-` or another dash and
/// needs at least one letter or digit. Returns nothing for other comments. Upper and lower case of
/// the words `toolwright` and `ignore` matter.
fn parse_comment(document: &Document, span: Span) -> Option<SilenceComment<'_>> {
    let text = document.source().slice(span).trim_start_matches('#').trim_start();
    let rest = text.strip_prefix("toolwright:")?.trim_start().strip_prefix("ignore")?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim();
    // The code ends where its characters do; what follows must be a reason.
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    // `CODE - why` gives `CODE` and ` - why`.
    let (code, reason) = rest.split_at(end);
    // `CODE, OTHER - why` is how authors try it; the message then explains that it is one each.
    let several = reason.trim_start().starts_with(',');
    let reason = reason.trim_start().strip_prefix(['-', ':', '–', '—']);
    let has_reason = reason.is_some_and(|reason| reason.chars().any(char::is_alphanumeric));
    Some(SilenceComment { span, code, has_reason, several, used: false })
}

/// What is wrong with a comment, if anything. `None` for one that is used and has a reason.
fn diagnose_comment(
    document: &Document,
    comment: &SilenceComment<'_>,
    mut known: impl Iterator<Item = &'static DiagnosticCode> + Clone,
) -> Option<Diagnostic> {
    let code = shorten(comment.code);
    let at = |code, message: String| Diagnostic::at(code, document.source(), comment.span, message);
    if comment.used && comment.has_reason {
        // A comment that silences a finding and gives a reason is right: nothing to report.
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
    // No fix here: the code is probably misspelled, and removing the comment is not what its author
    // wants.
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

/// The fix that removes a comment, with its line if it stands alone there. It is not safe: what the
/// comment silences may be found only when other files are checked together with this one.
fn removal(document: &Document, span: Span) -> Fix {
    let text = document.source().text();
    let before = &text[..span.start as usize];
    let kept = before.trim_end_matches([' ', '\t']).len();
    // Alone on its line: then the line break goes, too, but not the indentation of the next line.
    let alone = kept == 0 || before[..kept].ends_with('\n');
    let mut end = span.end as usize;
    if alone {
        let rest = &text[end..];
        end += if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    }
    let edit = TextEdit { span: Span::new(kept, end), text: String::new() };
    Fix { title: "remove the comment".to_owned(), safe: false, edits: vec![edit] }
}
