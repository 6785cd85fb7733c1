//! From an offset inside a decoded string back to the byte of the file.
//!
//! A mistake inside a long string (a script in a YAML block, say) is known by its offset in the
//! decoded text. Quoting, escapes, folding and indentation stand between that and the file.

use crate::tree::{Data, Node, Style};

impl Node<'_> {
    /// The byte of the file behind byte `offset` of [`Node::raw`].
    pub fn byte_at(self, offset: usize) -> usize {
        let id = self.doc.tree.resolve(self.id);
        let slot = self.doc.tree.slot(id);
        let span = slot.span.range();
        if let Data::Scalar { start, owned: false, .. } = slot.data {
            return (start as usize + offset).min(span.end);
        }
        let written = &self.doc.source().text()[span.clone()];
        let decoded = self.raw();
        let offset = decoded.floor_char_boundary(offset.min(decoded.len()));
        let inside = match slot.style {
            Style::Literal => literal(written, decoded, offset),
            Style::Folded => {
                after_header(written)
                    + words(&written[after_header(written)..], decoded, offset, Escapes::None)
            }
            Style::Double => 1 + words(&written[1..], decoded, offset, Escapes::Backslash),
            Style::Single => 1 + words(&written[1..], decoded, offset, Escapes::DoubledQuote),
            _ => words(written, decoded, offset, Escapes::None),
        };
        (span.start + inside).min(span.end)
    }
}

fn after_header(written: &str) -> usize {
    written.find('\n').map_or(written.len(), |n| n + 1)
}

/// A literal block: line by line, the indent of the block stripped.
fn literal(written: &str, decoded: &str, offset: usize) -> usize {
    let line = decoded[..offset].matches('\n').count();
    let column = offset - decoded[..offset].rfind('\n').map_or(0, |n| n + 1);
    let body = after_header(written);
    // The block's indent is what the first line with text has more in the file than decoded.
    let pairs = written[body..].lines().zip(decoded.lines());
    let indent = pairs
        .filter(|(_, d)| !d.trim().is_empty())
        .map(|(w, d)| w.trim_end_matches('\r').len().saturating_sub(d.len()))
        .next()
        .unwrap_or(0);
    let start: usize = written[body..].split_inclusive('\n').take(line).map(str::len).sum();
    body + start + indent + column
}

#[derive(Clone, Copy, PartialEq)]
enum Escapes {
    None,
    Backslash,
    DoubledQuote,
}

/// Where folding is at work only white space changes: the n-th character that is not white space
/// in the decoded text is the n-th in the file.
fn words(written: &str, decoded: &str, offset: usize, escapes: Escapes) -> usize {
    let mut at = 0;
    for c in decoded[..offset].chars() {
        at += skip_folding(&written[at..], c, escapes);
        at += unit(&written[at..], escapes);
    }
    let next = decoded[offset..].chars().next().unwrap_or(' ');
    at + skip_folding(&written[at..], next, escapes)
}

/// White space of the file that stands for nothing before `c`.
fn skip_folding(written: &str, c: char, escapes: Escapes) -> usize {
    let continued =
        |s: &str| escapes == Escapes::Backslash && (s.starts_with("\\\n") || s.starts_with("\\\r"));
    if c.is_whitespace() && !continued(written) {
        return 0;
    }
    let mut rest = written;
    loop {
        if continued(rest) {
            rest = &rest[1..];
        }
        let trimmed = rest.trim_start();
        if trimmed.len() == rest.len() && !continued(trimmed) {
            return written.len() - trimmed.len();
        }
        rest = trimmed;
    }
}

/// The length of what is written for one decoded character.
fn unit(written: &str, escapes: Escapes) -> usize {
    let mut chars = written.chars();
    let Some(c) = chars.next() else { return 0 };
    match (c, escapes, chars.next()) {
        ('\\', Escapes::Backslash, Some(kind)) => {
            let digits = match kind {
                'x' => 2,
                // A pair of surrogates is one character.
                'u' if surrogate(written) => 10,
                'u' => 4,
                'U' => 8,
                _ => 0,
            };
            (1 + kind.len_utf8() + digits).min(written.len())
        }
        ('\'', Escapes::DoubledQuote, Some('\'')) => 2,
        _ => c.len_utf8(),
    }
}

fn surrogate(written: &str) -> bool {
    let digits = written.get(2..6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    digits.is_some_and(|high| (0xD800..0xDC00).contains(&high))
}
