//! Diagnostics as text, one file per output form.
//!
//! | form | for | units of columns |
//! |---|---|---|
//! | `concise` | terminals and editors, one line each | code points |
//! | `full` | people: an excerpt with carets | code points |
//! | `grouped` | people: a whole report, the same finding folded into one | code points |
//! | `json` | programs, one object a line | code points and bytes |
//! | `github` | annotations of GitHub Actions | UTF-16 code units |
//! | `sarif` | code scanning, one document for all | UTF-16 code units |
//!
//! Every form writes to a string. The caller prints it and decides about colour. The text of a file
//! is hostile input to a terminal, so all forms for people pass it through [`visible`] or an
//! equivalent.

mod concise;
mod full;
mod github;
mod grouped;
mod json;
mod place;
mod sarif;

pub use concise::concise;
pub use full::{Colour, full};
pub use github::github;
pub use grouped::{GroupedOptions, MOST_OF_SEPARATE_CODES, ReportedFinding, grouped};
pub use json::{json, line};
pub use place::{path_in_words, place};
pub use sarif::sarif;

use crate::Diagnostic;

/// Sorts diagnostics for output: by file, then by place, then by code. Rules run on several
/// threads, so without this the order would change from run to run.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by(|a, b| {
        let key = |d: &Diagnostic| (d.span.map(|s| (s.start, s.end)), d.code.name, d.path.clone());
        a.source.name().cmp(b.source.name()).then_with(|| key(a).cmp(&key(b)))
    });
}

/// A paragraph of at most `width` columns, broken between words, its further lines indented by two
/// more.
pub fn wrap(text: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent);
    let lines = broken(text, room, room.saturating_sub(2));
    let further = format!("\n{}", " ".repeat(indent + 2));
    format!("{}{}\n", " ".repeat(indent), lines.join(&further))
}

/// The lines of a text that is broken between words: the first one of at most `first` columns, all
/// others of `rest`. A word that is longer than a line stays whole, because it may be a path that
/// somebody wants to copy.
fn broken(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut column = 0;
    for (n, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        let room = if lines.len() == 1 { first } else { rest };
        if n > 0 && column + 1 + length > room {
            lines.push(String::new());
            column = 0;
        } else if n > 0 {
            lines.last_mut().expect("there is one").push(' ');
            column += 1;
        }
        *lines.last_mut().expect("there is one") += word;
        column += length;
    }
    lines
}

/// Whether a text is printable ASCII and can be shown as it is. Nearly all are; the fold without
/// early exit lets the compiler compare 32 bytes at a time.
pub(crate) fn is_printable_ascii(text: &str) -> bool {
    text.as_bytes()
        .chunks(32)
        .all(|chunk| chunk.iter().fold(true, |plain, b| plain & matches!(b, b' '..=b'~')))
}

/// Text for one line of a terminal. Characters that move the cursor, hide text or reverse its
/// direction are written as escapes (`\u{1b}`), so that a document can neither forge output nor
/// show another text than the one an agent reads.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(
                c,
                '\u{200b}'..='\u{200f}'
                    | '\u{2028}'..='\u{202e}'
                    | '\u{2066}'..='\u{2069}'
                    | '\u{feff}'
            )
    };
    if is_printable_ascii(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}
