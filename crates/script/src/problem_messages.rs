//! Turns diagnostics of the parser into [`SyntaxProblem`]s with messages in the project's style:
//! lower case, literals in backticks, no full stop, the remedy apart.
//!
//! The messages of the parser are its own and change with its versions. They are restyled, not
//! replaced: a table of known messages would silently miss the next one.

use std::ops::Range;

use oxc_span::LabeledSpan;

use crate::facts::shorten;
use crate::{SyntaxProblem, SyntaxProblemKind};

/// The longest text, in bytes, that is quoted as an unexpected token.
const MAX_QUOTED_TOKEN: usize = 40;

/// One diagnostic of the parser as a problem of `code`.
pub(crate) fn problem_of_diagnostic(
    code: &str,
    message: &str,
    labels: &[LabeledSpan],
    help: Option<&str>,
) -> SyntaxProblem {
    // For a second declaration the first label is the first declaration, which is right.
    let label =
        if message.contains("already been declared") { labels.last() } else { labels.first() };
    let range = label
        .map_or(0..0, |label| clamped_range(code, label.offset() as usize, label.len() as usize));
    let message = reword(message, &code[range.clone()], range.start == code.len());
    let help = help.map(restyle).or_else(|| remedy(&message));
    SyntaxProblem { kind: SyntaxProblemKind::Syntax, message, range, help }
}

/// A range that lies in the code and on character boundaries, whatever the parser reported: callers
/// slice the code with it.
fn clamped_range(code: &str, offset: usize, len: usize) -> Range<usize> {
    let start = code.floor_char_boundary(offset);
    let end = code.ceil_char_boundary(offset.saturating_add(len));
    start..end.max(start)
}

/// The message with the offending `text` named, where the parser only says that there is one.
///
/// | parser | here |
/// |---|---|
/// | `Unexpected token` at `;` | ``unexpected token `;` `` |
/// | `Unexpected token` at the end | `unexpected end of the code` |
fn reword(message: &str, text: &str, at_end: bool) -> String {
    let message = restyle(message).replace("but found `EOF`", "but the code ends");
    match message.as_str() {
        "unexpected token" if at_end => "unexpected end of the code".to_owned(),
        "unexpected token" if can_be_quoted(text) => format!("unexpected token `{text}`"),
        _ => message,
    }
}

/// Whether the text can stand between backticks in a message of one line.
fn can_be_quoted(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_QUOTED_TOKEN && !text.contains(['`', '\n', '\r'])
}

/// Lower case, literals in backticks, no full stop.
fn restyle(message: &str) -> String {
    let message = message.trim().trim_end_matches('.').replace('\'', "`");
    let sentences: Vec<String> = message.split(": ").map(lower_first).collect();
    // A message may quote a name of a megabyte.
    shorten(&sentences.join(": "))
}

/// The sentence with its first letter in lower case, unless it begins with an acronym (`EOF`).
fn lower_first(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => sentence.to_owned(),
    }
}

/// Help for mistakes that are common in definitions: code that was written for Node.
fn remedy(message: &str) -> Option<String> {
    let help = if message.starts_with("cannot use export") {
        "assign what is to be called to `module.exports`"
    } else if message.contains("`return` statement") {
        "wrap the code in a function: `(function () { … })()`"
    } else {
        return None;
    };
    Some(help.to_owned())
}
