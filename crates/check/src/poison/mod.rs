//! Detectors for poisoned text: what a definition hides from its reader, says to the model behind
//! the reader's back, gives away, or passes itself off as. One file per detector, each a pure
//! function on text; none of them knows what a tool is, where the text stands or how grave a
//! finding would be.

use std::ops::Range;

mod hidden;
mod instructions;
mod lexicon;
mod lookalike;
mod markup;
mod plain;
mod secrets;
#[cfg(test)]
mod tests;
mod weights;
mod words;

pub(crate) use hidden::{hidden, hides_nothing};
pub(crate) use instructions::Instructions;
pub(crate) use lookalike::skeleton;
pub(crate) use secrets::secrets;

/// Something found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Bytes of the text, on character boundaries.
    pub range: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

/// Bytes without a blank between them, as encoded sentences and nearly all secrets have and few
/// words do.
const LONG: usize = 16;

/// Whether `text` has so many bytes in a row without a blank. Of as many there are always eight
/// that begin at a multiple of eight, and eight are compared at once.
fn has_long_run(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_run = |piece: &[u8; 8]| piece.iter().fold(true, |run, byte| run & (*byte > b' '));
    let (pieces, _) = bytes.as_chunks();
    let of = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| **byte > b' ').count();
    pieces
        .iter()
        .enumerate()
        .filter(|(_, piece)| is_run(piece))
        .any(|(n, _)| of(&mut bytes[8 * n..].iter()) + of(&mut bytes[..8 * n].iter().rev()) >= LONG)
}

/// Characters of a quotation in a message; more would drown the message.
const QUOTED: usize = 72;

/// A piece of the text for a message: on one line, tags as what they stand for, other invisible
/// characters left out, shortened, in backticks.
fn quote(piece: &str) -> String {
    let mut line = String::new();
    let shown = piece.chars().map(|c| plain::tag(c).unwrap_or(c));
    for c in shown.filter(|&c| c.is_whitespace() || !(c.is_control() || plain::is_invisible(c))) {
        match c {
            _ if c.is_whitespace() && line.ends_with(' ') => {}
            _ if c.is_whitespace() => line.push(' '),
            '`' => line.push('\''),
            _ => line.push(c),
        }
    }
    let line = line.trim();
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("`{}…`", line[..end].trim_end()),
        None => format!("`{line}`"),
    }
}
