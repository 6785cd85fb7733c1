//! From an offset inside a decoded string back to the byte of the file.
//!
//! A mistake inside a long string (a script in a YAML block, say) is known by its offset in the
//! decoded text. Quotes, escapes, folded lines and indentation stand between that and the file:
//!
//! ```text
//! file      run: >                       decoded   "let a = 1; a +\n"
//!             let a = 1;                                       ▲
//!             a +                                              └─ offset 11: the `a` of line 3
//! ```
//!
//! The tree does not keep a map of offsets for every string, because nearly none is ever asked for.
//! Instead the written form is walked again, for the one offset that a finding has. Each style of
//! scalar has its own walk. The result is exact for every character that is not white space; inside
//! white space that was folded it is the start of the gap. Nothing here can fail: an offset that
//! cannot be mapped ends at the end of the scalar.

use crate::Node;
use crate::Syntax;
use crate::tree::{NodeData, Style};

impl Node<'_> {
    /// The byte of the file for byte `offset` of [`Node::raw`]. For an alias it is in the anchored
    /// text.
    pub fn byte_at(self, offset: usize) -> usize {
        let id = self.doc.tree.resolve(self.id);
        let slot = self.doc.tree.slot(id);
        let span = slot.span.range();
        let written = &self.doc.source().text()[span.clone()];
        let decoded = self.raw();
        let offset = decoded.floor_char_boundary(offset.min(decoded.len()));
        // Text that stands in the file unchanged needs no walk.
        if let NodeData::Scalar { start, owned: false, .. } = slot.data {
            return start as usize + offset;
        }
        // Both syntaxes have double quotes, with different escapes.
        let double =
            if self.doc.syntax() == Syntax::Yaml { EscapeSyntax::Yaml } else { EscapeSyntax::Json };
        // `body` is where the walk begins in the written text: behind the quote or the header.
        let (body, inside) = match slot.style {
            Style::Literal => (0, offset_in_literal(written, decoded, offset)),
            Style::Folded => {
                let body = after_header(written);
                (body, offset_by_words(&written[body..], decoded, offset, EscapeSyntax::None))
            }
            Style::Double => (1, offset_by_words(&written[1..], decoded, offset, double)),
            Style::Single => {
                (1, offset_by_words(&written[1..], decoded, offset, EscapeSyntax::DoubledQuote))
            }
            _ => (0, offset_by_words(written, decoded, offset, EscapeSyntax::None)),
        };
        span.start + written.floor_char_boundary((body + inside).min(written.len()))
    }
}

/// The start of the text of a block scalar: behind the line of its `|` or `>`.
fn after_header(written: &str) -> usize {
    lines_of(written).nth(1).map_or(written.len(), |(start, _)| start)
}

/// Where each line starts, and its text without the break. YAML takes a lone carriage return for a
/// line break, too.
fn lines_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = &text[start..];
        let len = rest.find(['\n', '\r']);
        next = len.map(|n| start + n + if rest[n..].starts_with("\r\n") { 2 } else { 1 });
        Some((start, &rest[..len.unwrap_or(rest.len())]))
    })
}

/// The offset in a literal block (`|`): its lines are those of the decoded text, each behind the
/// indent of the block.
fn offset_in_literal(written: &str, decoded: &str, offset: usize) -> usize {
    let line = decoded[..offset].matches('\n').count();
    let column = offset - decoded[..offset].rfind('\n').map_or(0, |n| n + 1);
    // The block's indent is not in the tree. It is the number of spaces that the first line with
    // text has in the file and lacks in the decoded text.
    let leading = |s: &str| s.len() - s.trim_start().len();
    let pairs = lines_of(written).skip(1).zip(decoded.split('\n'));
    let mut with_text = pairs.filter(|(_, d)| !d.trim().is_empty());
    let indent = with_text.next().map_or(0, |((_, w), d)| leading(w).saturating_sub(leading(d)));
    let at = lines_of(written).nth(line + 1);
    at.map_or(written.len(), |(start, text)| start + (indent + column).min(text.len()))
}

/// How characters are escaped in a scalar.
#[derive(Clone, Copy, PartialEq)]
enum EscapeSyntax {
    /// Not at all: plain and folded scalars.
    None,
    /// `''` for a quote: YAML's single-quoted scalars.
    DoubledQuote,
    /// Backslashes, as in RFC 8259.
    Json,
    /// Backslashes, as in YAML's double-quoted scalars; one before a line break joins the lines.
    Yaml,
}

/// The offset in a scalar whose lines may be folded. Folding changes white space only, so the n-th
/// character that is not white space in the decoded text is the n-th one in the file.
fn offset_by_words(written: &str, decoded: &str, offset: usize, escapes: EscapeSyntax) -> usize {
    let before = &decoded[..offset];
    let mut at = 0;
    // Skip as many written units as there are characters before the offset, and the blanks between.
    for _ in before.chars().filter(|c| !c.is_whitespace()) {
        at += blank_run(&written[at..], escapes);
        at += written_unit(&written[at..], escapes).0;
    }
    let run = blank_run(&written[at..], escapes);
    if decoded[offset..].starts_with(|c: char| !c.is_whitespace()) {
        return at + run;
    }
    // The offset is in white space: exact where the gap is not folded, otherwise its start.
    let folded = written[at..at + run].contains(['\n', '\r']);
    let steps = before.chars().rev().take_while(|c| c.is_whitespace()).count();
    let upto = at + run;
    for _ in 0..if folded { 0 } else { steps } {
        at += written_unit(&written[at..upto], escapes).0;
    }
    at
}

/// How many bytes at the start of `written` stand for white space, escapes and line breaks
/// included.
fn blank_run(written: &str, escapes: EscapeSyntax) -> usize {
    let mut at = 0;
    while let (len, Some(' ')) = written_unit(&written[at..], escapes) {
        at += len;
    }
    at
}

/// The length of what is written for one decoded character, and `' '` if that is white space.
fn written_unit(written: &str, escapes: EscapeSyntax) -> (usize, Option<char>) {
    let mut chars = written.chars();
    let Some(c) = chars.next() else { return (0, None) };
    let blank = |c: char| c.is_whitespace().then_some(' ');
    match (c, escapes, chars.next()) {
        ('\\', EscapeSyntax::Json, Some(kind)) => match kind {
            '"' | '\\' | '/' | 'b' => (2, None),
            'f' | 'n' | 'r' | 't' => (2, Some(' ')),
            'u' => hex_escape(written, 4),
            // Not an escape: the reader takes the backslash for itself.
            _ => (1, None),
        },
        ('\\', EscapeSyntax::Yaml, Some(kind)) => match kind {
            'x' => hex_escape(written, 2),
            'u' => hex_escape(written, 4),
            'U' => hex_escape(written, 8),
            '\r' if written[2..].starts_with('\n') => (3, Some(' ')),
            't' | 'n' | 'v' | 'f' | 'r' | 'N' | '_' | 'L' | 'P' => (2, Some(' ')),
            // Other escapes stand for themselves, and an escaped line break for nothing.
            kind => (1 + kind.len_utf8(), blank(kind)),
        },
        // Two quotes are written for one.
        ('\'', EscapeSyntax::DoubledQuote, Some('\'')) => (2, None),
        _ => (c.len_utf8(), blank(c)),
    }
}

/// The length of an escape of `digits` hexadecimal digits, and `' '` if it is white space. Two
/// escapes that form a surrogate pair are one character.
fn hex_escape(written: &str, digits: usize) -> (usize, Option<char>) {
    let code = |at: usize| {
        let digits = written.get(at..at + digits)?;
        let all = digits.bytes().all(|b| b.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| all)
    };
    let Some(first) = code(2) else { return (2, None) };
    let len = 2 + digits;
    if (0xD800..0xDC00).contains(&first)
        && written[len..].starts_with("\\u")
        && code(len + 2).is_some_and(|low| (0xDC00..0xE000).contains(&low))
    {
        return (2 * len, None);
    }
    (len, char::from_u32(first).filter(|c| c.is_whitespace()).map(|_| ' '))
}
