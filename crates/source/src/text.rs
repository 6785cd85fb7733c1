//! The text of one file or answer, and the positions of its lines. No parsing here.
//!
//! Three units of position exist in this crate. Bytes ([`Span`]) are what parsers and edits use.
//! Lines with columns in code points ([`LineColumn`]) are what people see. UTF-16 code units are
//! what SARIF and GitHub expect; `render::sarif` derives them. Everything is counted from the start
//! of the text behind a byte order mark, which [`Source`] removes and [`Source::with_text`]
//! restores.

use std::sync::{Arc, OnceLock};

/// A half-open range of bytes in the text of a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from byte offsets. Sources are capped far below `u32::MAX`; an offset beyond is
    /// clamped, and an end before the start becomes the start.
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The same range for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A position for people. Both numbers count from 1; columns count Unicode code points, as most
/// editors do, and not bytes or what a terminal shows as one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in code points, from 1.
    pub column: usize,
}

/// Bytes that are not UTF-8 text. [`crate::Document::parse`] turns it into `INVALID_ENCODING`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not UTF-8: {what} at byte {offset}")]
pub struct EncodingError {
    /// The first byte that cannot be read, counted from the start of the file.
    pub offset: usize,
    /// The offending byte in words, or the byte order mark of another encoding.
    pub what: String,
    /// The text before the offending byte, so that the diagnostic can show the line.
    pub valid: String,
}

/// Where a text came from. It decides what a reader of a diagnostic can open.
#[derive(Clone, Debug, Default)]
pub enum TextOrigin {
    /// A file; the name of the source is its path.
    #[default]
    File,
    /// Standard input: its lines can be shown, but there is no file to open.
    Input,
    /// What a server or a program answered. Nobody can open it, so its lines say nothing to a
    /// person; the place to go to is the one that names the server.
    Answer(Option<Anchor>),
}

/// The place that names the sender of an answer: the entry of a server in a servers file or in the
/// configuration, or the file of a program.
#[derive(Clone, Debug)]
pub struct Anchor {
    /// The file that holds the entry.
    pub source: Arc<Source>,
    /// The place in it; `None` for the file as a whole.
    pub span: Option<Span>,
}

/// The text of one file or answer, without its byte order mark, and an index of its lines.
#[derive(Debug)]
pub struct Source {
    name: String,
    origin: TextOrigin,
    text: String,
    /// Whether the file began with a byte order mark.
    bom: bool,
    /// The byte each line starts at, indexed on first use: a file without findings never needs it.
    lines: OnceLock<Vec<u32>>,
}

/// The byte order mark in UTF-8.
const BOM: &[u8] = &[0xEF, 0xBB, 0xBF];

impl Source {
    /// Decodes `bytes` as UTF-8; `name` is what diagnostics call the file. Files in UTF-16 and
    /// UTF-32 are refused with the name of their encoding, which helps more than "byte 0xFF".
    pub fn decode(name: &str, bytes: Vec<u8>) -> Result<Source, EncodingError> {
        let bom = bytes.starts_with(BOM);
        let skip = if bom { BOM.len() } else { 0 };
        // UTF-32 first: its little-endian mark begins with that of UTF-16.
        let what = match bytes.as_slice() {
            [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some("a UTF-32 byte order mark"),
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("a UTF-16 byte order mark"),
            _ => None,
        };
        match String::from_utf8(bytes) {
            Ok(mut text) => {
                text.drain(..skip);
                Ok(Source::new_with_bom(name, text, bom))
            }
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                let what = what.map_or_else(|| format!("byte 0x{:02X}", bytes[offset]), Into::into);
                let valid = String::from_utf8_lossy(&bytes[skip.min(offset)..offset]).into_owned();
                Err(EncodingError { offset, what, valid })
            }
        }
    }

    /// A source from text that is already decoded.
    pub fn new(name: &str, text: String) -> Source {
        Source::new_with_bom(name, text, false)
    }

    fn new_with_bom(name: &str, text: String, bom: bool) -> Source {
        let origin = TextOrigin::File;
        Source { name: name.to_owned(), origin, text, bom, lines: OnceLock::new() }
    }

    /// The same text with another origin than a file.
    #[must_use]
    pub fn with_origin(mut self, origin: TextOrigin) -> Source {
        self.origin = origin;
        self
    }

    /// What diagnostics call it: the path of a file, or the name of a server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the text came from.
    pub fn origin(&self) -> &TextOrigin {
        &self.origin
    }

    /// Whether it is the answer of a server or a program.
    pub fn is_answer(&self) -> bool {
        matches!(self.origin, TextOrigin::Answer(_))
    }

    /// The text after the byte order mark; every [`Span`] counts from its start.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many bytes of the file stand before [`Source::text`].
    pub fn offset(&self) -> usize {
        if self.bom { BOM.len() } else { 0 }
    }

    /// The bytes of the file with `text` in place of the present text: the byte order mark stays.
    pub fn with_text(&self, text: &str) -> Vec<u8> {
        let mut bytes = if self.bom { BOM.to_vec() } else { Vec::new() };
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }

    /// The text of `span`, empty if it does not lie on character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The byte each line starts at. Only `\n` breaks lines, as in editors; YAML's lone carriage
    /// return does not.
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = self.text.match_indices('\n');
            let after = breaks.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX));
            std::iter::once(0).chain(after).collect()
        })
    }

    /// The line and column of a byte offset, both from 1. An offset inside a character counts as
    /// its start; one past the end as the end.
    pub fn line_column(&self, byte: usize) -> LineColumn {
        let byte = self.text.floor_char_boundary(byte.min(self.text.len()));
        let lines = self.lines();
        // The last line that starts at or before the byte. There is always one: the first starts at
        // 0.
        let line = lines.partition_point(|start| *start as usize <= byte) - 1;
        let before = &self.text[lines[line] as usize..byte];
        LineColumn { line: line + 1, column: before.chars().count() + 1 }
    }

    /// Where line `line` (from 1) starts, and its text without the line break; `None` past the
    /// last.
    pub fn line(&self, line: usize) -> Option<(usize, &str)> {
        let lines = self.lines();
        let start = *lines.get(line.checked_sub(1)?)? as usize;
        let end = lines.get(line).map_or(self.text.len(), |n| *n as usize);
        Some((start, self.text[start..end].trim_end_matches(['\n', '\r'])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_code_points() {
        let source = Source::decode("x", "\u{feff}é: 1\r\nb: ü2\n".as_bytes().to_vec())
            .expect("this is UTF-8");
        assert_eq!(source.text(), "é: 1\r\nb: ü2\n");
        let cases = [
            (0, 1, 1),
            (2, 1, 2),
            (1, 1, 1), // inside é
            (7, 2, 1),
            (12, 2, 5),
            (999, 3, 1),
        ];
        for (byte, line, column) in cases {
            assert_eq!(source.line_column(byte), LineColumn { line, column }, "byte {byte}");
        }
        assert_eq!(source.line(1), Some((0, "é: 1")));
        assert_eq!(source.line(3), Some((14, "")));
        assert_eq!(source.line(4), None);
        assert_eq!(source.with_text("x"), b"\xEF\xBB\xBFx");
    }

    #[test]
    fn other_encodings_name_the_byte() {
        let cases: [(&[u8], usize, &str); 4] = [
            (b"ab\xFFcd", 2, "byte 0xFF"),
            (b"\xEF\xBB\xBFab\x80", 5, "byte 0x80"),
            (b"\xFF\xFE{\0", 0, "a UTF-16 byte order mark"),
            (b"\xFF\xFE\0\0{\0\0\0", 0, "a UTF-32 byte order mark"),
        ];
        for (bytes, offset, what) in cases {
            let error = Source::decode("x", bytes.to_vec()).expect_err("not UTF-8");
            assert_eq!((error.offset, error.what.as_str()), (offset, what));
        }
    }
}
