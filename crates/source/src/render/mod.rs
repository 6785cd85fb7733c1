//! Diagnostics as text, one file per form. They write to a string; who prints it, and whether in
//! colour, is the caller's business.

mod concise;
mod full;
mod github;
mod json;
mod sarif;

pub use concise::concise;
pub use full::{Colour, full};
pub use github::github;
pub use json::{json, line};
pub use sarif::sarif;

use crate::Diagnostic;

/// The order diagnostics are shown in: by file, then by place, then by code.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by(|a, b| {
        let key = |d: &Diagnostic| (d.span.map(|s| (s.start, s.end)), d.code.name, d.path.clone());
        a.source.name().cmp(b.source.name()).then_with(|| key(a).cmp(&key(b)))
    });
}

/// Whether a text is printable ASCII: most are, and that is seen many bytes at a time.
pub(crate) fn is_printable_ascii(text: &str) -> bool {
    text.as_bytes()
        .chunks(32)
        .all(|chunk| chunk.iter().fold(true, |plain, b| plain & matches!(b, b' '..=b'~')))
}

/// Text for one line of a terminal: what could move the cursor or hide is written as an escape.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(
                c,
                '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
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
