//! Texts of definitions and their functions on their way into an answer, cut to a bound.
//!
//! A model reads these texts, and each of them appears twice in an answer: as text, and as data. A
//! definition with fifty validators that return a megabyte of errors each must not make an answer
//! of a hundred megabytes. Whatever is cut is reported as cut.

use std::borrow::Cow;
use std::io;

use crate::Json;

/// Texts of one kind (errors, warnings) that an answer shows.
const MAX_TEXTS: usize = 20;
/// Bytes of all of them together.
const MAX_BYTES: usize = 16 << 10;
/// Characters of one of them, and of the message of an exception.
pub(crate) const MAX_CHARS: usize = 1_000;

/// A text with at most `chars` characters; a note follows if it is cut.
pub(crate) fn shorten(text: &str, chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}… [cut: {} bytes in all]", &text[..at], text.len()).into(),
        None => text.into(),
    }
}

/// The beginning of a value as JSON, at most `chars` characters and an ellipsis. Writes no more of
/// the value than that.
pub(crate) fn shorten_json(value: &Json, chars: usize) -> String {
    // A character has at most four bytes.
    let mut beginning = BoundedWriter { text: Vec::new(), left: 4 * chars + 4 };
    // Fails when the writer is full, which is not an error here.
    let is_cut = serde_json::to_writer(&mut beginning, value).is_err();
    let text = String::from_utf8_lossy(&beginning.text);
    // The last character may be cut in the middle.
    let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None if is_cut => format!("{text}…"),
        None => text.to_owned(),
    }
}

/// Takes `left` more bytes, then fails.
struct BoundedWriter {
    text: Vec<u8>,
    left: usize,
}

impl io::Write for BoundedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        self.text.extend_from_slice(&bytes[..taken]);
        // Zero bytes make `write_all` fail.
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A list of texts that stops growing at the bounds and counts what it left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CappedTexts {
    texts: Vec<String>,
    bytes: usize,
    left_out: usize,
}

impl CappedTexts {
    /// Adds a text, or counts it as left out.
    pub fn push(&mut self, text: &str) {
        let text = shorten(text, MAX_CHARS);
        if self.texts.len() == MAX_TEXTS || self.bytes + text.len() > MAX_BYTES {
            self.left_out += 1;
        } else {
            self.bytes += text.len();
            self.texts.push(text.into_owned());
        }
    }

    /// Adds all texts of another list that are not in this one: a validator often repeats what its
    /// own checks have said.
    pub(crate) fn append(&mut self, other: CappedTexts) {
        other.texts.iter().for_each(|text| self.push_once(text));
        self.left_out += other.left_out;
    }

    /// Adds a text that is not among the others.
    pub(crate) fn push_once(&mut self, text: &str) {
        let text = shorten(text, MAX_CHARS);
        if !self.texts.iter().any(|known| *known == *text) {
            self.push(&text);
        }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.left_out == 0
    }

    /// The texts. If some were left out, the last line reports how many; `kind` is the plural of
    /// what they are.
    pub fn into_texts(self, kind: &str) -> Vec<String> {
        let mut texts = self.texts;
        if self.left_out > 0 {
            texts.push(format!("… and {} more {kind}, which are not shown", self.left_out));
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_stop_growing_and_report_it() {
        let of = |count: usize, text: &str| {
            let mut list = CappedTexts::default();
            (0..count).for_each(|_| list.push(text));
            list.into_texts("errors")
        };
        assert_eq!(of(20, "a"), vec!["a"; 20]);
        let many = of(1_000, "a");
        assert_eq!((many.len(), &*many[20]), (21, "… and 980 more errors, which are not shown"));
        let long = of(1, &"ä".repeat(1_000_000));
        assert!(long[0].ends_with("ä… [cut: 2000000 bytes in all]"), "{}", long[0].len());
        let both = of(50, &"ä".repeat(900));
        assert_eq!((both.len(), &*both[9]), (10, "… and 41 more errors, which are not shown"));
    }

    #[test]
    fn values_are_cut_at_a_character() {
        for (value, chars, expected) in [
            (json!({"a": 1}), 7, "{\"a\":1}"),
            (json!({"a": 1}), 6, "{\"a\":1…"),
            (json!("äöü".repeat(1_000)), 4, "\"äöü…"),
            (json!("😀".repeat(1_000)), 3, "\"😀😀…"),
        ] {
            assert_eq!(shorten_json(&value, chars), expected);
        }
    }
}
