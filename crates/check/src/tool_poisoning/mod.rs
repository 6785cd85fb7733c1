//! Tool poisoning: text in a definition that is meant for the model and not for the people who
//! review it. A model reads every description as part of its prompt and tends to obey it.
//!
//! Four detectors, one file each, all of them pure functions on one text:
//!
//! | detector | finds | code |
//! |---|---|---|
//! | [`hidden_text`] | characters that are not seen, or seen elsewhere | `HIDDEN_TEXT` |
//! | [`instructions`] | sentences addressed to the model | `MODEL_INSTRUCTION` |
//! | [`secrets`] | keys, tokens and passwords | `SECRET_IN_DEFINITION` |
//! | [`lookalike_names`] | the skeleton by which look-alike names are compared | `LOOKALIKE_NAME` |
//!
//! Only `instructions` needs more than one file. It works on what a model would read, not on what
//! is written: `normalize` undoes look-alike letters, invisible characters and spelled-out words.
//! `features` cuts that into tokens and their combinations, and `scorer` adds up the weights that
//! `data/weights.bin` has for them. `fit`, which is compiled for tests only, makes that file from
//! the texts in `crates/check/tests/tool_poisoning`. `host_markup` looks for another form;
//! `encoded_text` and `spelled_out` decode what is judged then like any text. `code_texts` finds
//! the texts in JavaScript.
//!
//! Nothing here depends on what a tool is, where the text stands or how severe a finding is; the
//! files in `rules/` decide that.
//!
//! `crates/check/tests/tool_poisoning` holds the texts on which the detectors are measured; see the
//! README there.

use std::ops::Range;

mod code_texts;
mod common_words;
mod encoded_text;
mod features;
#[cfg(test)]
mod fit;
mod hidden_text;
mod host_markup;
mod instructions;
mod lookalike_names;
mod normalize;
mod scorer;
mod secrets;
mod spelled_out;
#[cfg(test)]
mod tests;

pub(crate) use code_texts::code_texts;
pub(crate) use hidden_text::{can_hide_text, find_hidden_text};
pub(crate) use instructions::InstructionDetector;
pub(crate) use lookalike_names::skeleton;
pub(crate) use secrets::find_secrets;
pub use secrets::secrets_in;

/// A part of a text that a detector reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SuspiciousText {
    /// Bytes of the text, on character boundaries.
    pub range: Range<usize>,
    /// What is wrong, with a quotation. Secrets are quoted by their first characters only.
    pub message: String,
    /// What the author can do.
    pub help: Option<String>,
}

/// Bytes in a row without white space from which on a text may hold encoded text or a secret. Few
/// words are as long.
const LONG_RUN: usize = 16;

/// Whether `text` has [`LONG_RUN`] bytes in a row without white space or control characters.
///
/// Among sixteen consecutive bytes there are always eight that begin at a multiple of eight, so it
/// suffices to look at aligned pieces of eight, which the compiler compares at once, and to measure
/// the run only around those.
fn has_long_run(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_solid = |piece: &[u8; 8]| piece.iter().fold(true, |solid, byte| solid & (*byte > b' '));
    let (pieces, _) = bytes.as_chunks();
    let run_len =
        |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| **byte > b' ').count();
    pieces.iter().enumerate().filter(|(_, piece)| is_solid(piece)).any(|(n, _)| {
        let (before, after) = bytes.split_at(8 * n);
        run_len(&mut after.iter()) + run_len(&mut before.iter().rev()) >= LONG_RUN
    })
}

/// Parts of one text that a detector reports at most: the report has a bound as well, and hostile
/// text consists of nothing else.
const MAX_FOUND: usize = 200;

/// The part of `text` from `start` on, at most `len` bytes of it. Detectors look ahead of every
/// sign that they meet, so none may look as far as the text is long: a description may have
/// megabytes.
fn near(text: &str, start: usize, len: usize) -> &str {
    &text[start..text.floor_char_boundary(start + len)]
}

/// Characters of a quotation in a message; more would bury the message.
const MAX_QUOTED: usize = 72;

/// A piece of the text for a message, in backticks: on one line, tag characters as the text they
/// spell, other invisible characters removed, shortened to [`MAX_QUOTED`].
fn quote(piece: &str) -> String {
    let mut line = String::new();
    let shown = piece.chars().map(|c| normalize::ascii_of_tag(c).unwrap_or(c));
    for c in shown.filter(|&c| c.is_whitespace() || !(c.is_control() || normalize::is_invisible(c)))
    {
        match c {
            _ if c.is_whitespace() && line.ends_with(' ') => {}
            _ if c.is_whitespace() => line.push(' '),
            '`' => line.push('\''),
            _ => line.push(c),
        }
    }
    let line = line.trim();
    match line.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("`{}…`", line[..end].trim_end()),
        None => format!("`{line}`"),
    }
}
