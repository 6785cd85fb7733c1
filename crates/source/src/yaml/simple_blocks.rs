//! Reads simple YAML without the parser: block maps and lists, scalars and flow collections on one
//! line, `|` texts, comments.
//!
//! Why it exists: `check` reads thousands of files, nearly all of them in this part of YAML, and
//! the tokens of the parser were a third of its time (`make bench` compares both).
//!
//! The idea: in this part of YAML, a line is enough to know what is on it. Each line is cut into
//! dashes, a key and a value; its indent says which open blocks it ends; and the same
//! [`YamlEventReader`] receives the same calls that the parser's events would cause:
//!
//! ```text
//! - name: Rex        open list, open map, scalar `name`, scalar `Rex`
//!   legs: 4          scalar `legs`, scalar `4`
//! - [a, b]           close map, open list, scalar `a`, scalar `b`, close list
//! ```
//!
//! It decides nothing. Whatever it does not recognise with certainty (an anchor, a tag, a text of
//! several lines, a tab, any mistake) makes every function return `None`, and the parser reads the
//! document from its start. So it may be incomplete, but never wrong, and it has no messages.
//!
//! How that is verified: builds with debug assertions read every text in both ways and compare
//! trees, spans, comments and problems (`yaml::parse`). Every test and every fuzzing run is a test
//! of this file, too. The lists at its end name what each of the two must read.

use std::borrow::Cow;
use std::sync::Arc;

use granit_parser::ScalarStyle;

use super::YamlEventReader;
use crate::document::ParsedText;
use crate::tree::{Style, ValueKind};
use crate::{Source, Span};

/// Longer texts (over 64 KiB) go to the parser, which checks the limits in the right order.
const MAX_SIMPLE_BYTES: usize = 64 << 10;
/// Deeper nesting goes to the parser, too. Far below the limit of 128 there is no boundary to get
/// wrong, and the recursion over flow collections is bounded.
const MAX_SIMPLE_DEPTH: usize = 64;

/// Reads the text; `None` if the parser has to.
pub(super) fn read(source: &Arc<Source>) -> Option<ParsedText> {
    let text = source.text();
    if text.len() > MAX_SIMPLE_BYTES || !has_only_plain_characters(text) {
        return None;
    }
    let mut tree_reader = YamlEventReader::new(source);
    tree_reader.start_document(Span::default());
    let mut reader =
        SimpleBlockReader { tree_reader, text, next: 0, blocks: Vec::new(), started: false };
    while reader.next < text.len() {
        reader.read_line()?;
    }
    while !reader.blocks.is_empty() {
        reader.close();
    }
    // A problem that stops the reading (a limit) is reported by the parser, in its own words.
    let finished = reader.started && !reader.tree_reader.problems.stopped;
    finished.then(|| reader.tree_reader.into_parsed())
}

/// Whether every character is printable in YAML and none is a tab or a carriage return, so that the
/// indent of a line is the number of its spaces and `\n` is the only line break.
fn has_only_plain_characters(text: &str) -> bool {
    let plain = |b: u8| (0x20..0x7F).contains(&b) || b == b'\n';
    // Not below U+00A0: these are control characters, among them U+0085, which YAML 1.1 takes for a
    // line break.
    let printed = |c: char| {
        c >= '\u{A0}'
            && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}'..='\u{FFFF}')
    };
    // The first half needs no decoding, and most definitions are ASCII.
    text.bytes().all(plain) || text.chars().all(|c| u8::try_from(c).is_ok_and(plain) || printed(c))
}

/// A block map or list that is still open.
struct OpenBlock {
    kind: ValueKind,
    /// The column of its keys or dashes.
    indent: usize,
    /// Whether a key or a dash still has no value.
    expects_value: bool,
}

/// The open blocks, and the position in the text.
struct SimpleBlockReader<'s> {
    /// Receives what the parser's events would say.
    tree_reader: YamlEventReader<'s>,
    text: &'s str,
    /// The byte where the next line begins.
    next: usize,
    /// Innermost last. Flow collections are not here: they begin and end on one line.
    blocks: Vec<OpenBlock>,
    /// Whether the root was opened. A document without one (empty, or only comments) is the
    /// parser's.
    started: bool,
}

impl<'s> SimpleBlockReader<'s> {
    /// The start and the end of the next line, without its line break, and moves behind it.
    fn take_line(&mut self) -> (usize, usize) {
        let start = self.next;
        let end = self.text[start..].find('\n').map_or(self.text.len(), |n| start + n);
        self.next = (end + 1).min(self.text.len());
        (start, end)
    }

    /// Reads a line: a blank one, a comment, or an entry of a block.
    fn read_line(&mut self) -> Option<()> {
        let (line, end) = self.take_line();
        let start = self.skip_spaces(line, end);
        let indent = start - line;
        match &self.text.as_bytes()[start..end] {
            // Blank lines mean nothing outside of `|` texts, and those read their own lines.
            [] => return Some(()),
            [b'#', ..] => {
                self.tree_reader.comment(Span::new(start, end));
                return Some(());
            }
            // Markers of documents and directives. The rule is broader than YAML's, which asks for
            // a space behind them; the rest goes to the parser as well.
            [b'-', b'-', b'-', ..] | [b'.', b'.', b'.', ..] | [b'%', ..] if indent == 0 => {
                return None;
            }
            _ => {}
        }
        self.close_ended_blocks(indent, self.is_dash(start, end))?;
        self.read_entry(start, end, indent)
    }

    /// Closes the blocks that end before a line with this indent. For the innermost block, until
    /// one takes the line:
    ///
    /// - It expects a value: the line is the value if it is deeper, otherwise the value is empty.
    /// - It expects an entry: the line is one if indent and kind fit; if the line is less
    ///   deep, the block ends; anything else is a mistake.
    fn close_ended_blocks(&mut self, indent: usize, dash: bool) -> Option<()> {
        while let Some(top) = self.blocks.last_mut() {
            let (list, same) = (top.kind == ValueKind::List, indent == top.indent);
            if top.expects_value {
                // The list of a key may stand at the column of the key: `tags:\n- a`.
                if indent > top.indent || same && dash && !list {
                    return Some(());
                }
                self.add_empty_value();
            } else if same && list == dash {
                return Some(());
            // `same && list` is the end of such a list: the next key of the map around it.
            } else if indent < top.indent || same && list {
                self.close();
            } else {
                return None;
            }
        }
        // No block is left to take the line: only the first line of a document opens one. An
        // indented root is the parser's.
        (!self.started && indent == 0).then_some(())
    }

    /// Reads the text from `start` to the end of its line: any number of dashes, a key, a value.
    fn read_entry(&mut self, mut start: usize, end: usize, mut indent: usize) -> Option<()> {
        while self.is_dash(start, end) {
            self.begin_entry(ValueKind::List, start, indent)?;
            let after = self.skip_spaces(start + 1, end);
            if self.end_line(after, end) {
                return Some(());
            }
            // Behind a dash a new block may begin, and its column is its indent: `- - a`, `- key:
            // value`.
            indent += after - start;
            start = after;
        }
        let Some((key, style, colon)) = self.key(start, end) else {
            // A text without a key is a value only behind a dash; elsewhere it continues the text
            // of the line above, and that is the parser's.
            let expects_value = self
                .blocks
                .last()
                .is_some_and(|top| top.kind == ValueKind::List && top.expects_value);
            return if expects_value { self.read_value(start, end) } else { None };
        };
        self.begin_entry(ValueKind::Map, start, indent)?;
        self.scalar(&key, style, start, colon);
        let after = self.skip_spaces(colon + 1, end);
        if self.end_line(after, end) { Some(()) } else { self.read_value(after, end) }
    }

    /// Begins the next entry of the innermost block, or opens a new block with its first entry.
    fn begin_entry(&mut self, kind: ValueKind, start: usize, indent: usize) -> Option<()> {
        match self.blocks.last_mut() {
            // An entry of an open block must stand exactly at its column.
            Some(top) if !top.expects_value => {
                if top.kind != kind || top.indent != indent {
                    return None;
                }
                top.expects_value = true;
                return Some(());
            }
            // The new block is the value that was expected.
            Some(top) => top.expects_value = false,
            None => self.started = true,
        }
        if self.tree_reader.builder.depth() >= MAX_SIMPLE_DEPTH {
            return None;
        }
        self.tree_reader.open(kind, Style::Block, 0, None, Span::new(start, start));
        self.blocks.push(OpenBlock { kind, indent, expects_value: true });
        Some(())
    }

    /// Closes the innermost block. The event reader ends a block with its last child, so the span
    /// that is passed to it does not matter.
    fn close(&mut self) {
        if self.blocks.last().is_some_and(|top| top.expects_value) {
            self.add_empty_value();
        }
        let end = self.text.len();
        self.blocks.pop();
        self.tree_reader.close(Span::new(end, end));
    }

    /// Adds the value of a key or dash that has none. The empty span tells the event reader that
    /// nothing is written, and it finds the place.
    fn add_empty_value(&mut self) {
        self.scalar("~", ScalarStyle::Plain, 0, 0);
        self.blocks.last_mut().into_iter().for_each(|top| top.expects_value = false);
    }

    /// Adds a scalar without anchor and tag.
    fn scalar(&mut self, text: &str, style: ScalarStyle, start: usize, end: usize) {
        self.tree_reader.scalar(text, style, 0, None, Span::new(start, end));
    }

    /// Reads the value that is expected, up to the end of its line, or for `|` of its text.
    fn read_value(&mut self, start: usize, end: usize) -> Option<()> {
        let after = match self.text.as_bytes()[start] {
            b'"' | b'\'' => {
                let (text, style, after) = self.quoted(start, end)?;
                self.scalar(&text, style, start, after);
                after
            }
            b'[' | b'{' => self.flow_collection(start, end)?,
            b'|' => {
                self.literal_block(start, end)?;
                end
            }
            _ => {
                let text = self.plain_scalar(start, end)?;
                self.scalar(text, ScalarStyle::Plain, start, start + text.len());
                start + text.len()
            }
        };
        self.blocks.last_mut()?.expects_value = false;
        let rest = self.skip_spaces(after, end);
        // A comment needs a space before it.
        ((rest > after || rest == end) && self.end_line(rest, end)).then_some(())
    }

    /// Reads a comment at the end of a line; false if anything else stands there.
    fn end_line(&mut self, at: usize, end: usize) -> bool {
        let comment = self.text[at..end].starts_with('#');
        if comment {
            self.tree_reader.comment(Span::new(at, end));
        }
        comment || at == end
    }

    /// The first byte from `at` on that is not a space, at most `end`.
    fn skip_spaces(&self, at: usize, end: usize) -> usize {
        at + self.text.as_bytes()[at..end].iter().take_while(|b| **b == b' ').count()
    }

    /// Whether an item of a block list begins at `at`: a dash before a space or the end of the
    /// line.
    fn is_dash(&self, at: usize, end: usize) -> bool {
        matches!(&self.text.as_bytes()[at..end], [b'-'] | [b'-', b' ', ..])
    }

    /// Reads a key; returns its text, its style and the byte of its colon. Bare keys consist of a
    /// few harmless characters only. Keys over 256 bytes go to the parser, because YAML limits a
    /// simple key to 1024 characters.
    fn key(&self, start: usize, end: usize) -> Option<(Cow<'s, str>, ScalarStyle, usize)> {
        let (key, style, colon) = match self.text.as_bytes()[start] {
            b'"' | b'\'' => self.quoted(start, end)?,
            first if first.is_ascii_alphanumeric() || matches!(first, b'_' | b'$') => {
                let line = &self.text[start..end];
                let len = line.bytes().take_while(|b| is_bare_name_byte(*b)).count();
                (line[..len].into(), ScalarStyle::Plain, start + len)
            }
            _ => return None,
        };
        // YAML needs a space or the end of the line behind the colon: `a:b` is a text.
        let is_key = matches!(&self.text.as_bytes()[colon..end], [b':'] | [b':', b' ', ..]);
        (is_key && key.len() <= 256).then_some((key, style, colon))
    }

    /// Reads a quoted text on one line; returns its text, its style and the byte behind the quote.
    /// Of the escapes only `\"`, `\\`, `\n` and `''` are decoded here; they cover nearly every
    /// definition.
    fn quoted(&self, start: usize, end: usize) -> Option<(Cow<'s, str>, ScalarStyle, usize)> {
        let inner = &self.text[start + 1..end];
        let double = self.text.as_bytes()[start] == b'"';
        let (quote, style) = match double {
            true => ('"', ScalarStyle::DoubleQuoted),
            false => ('\'', ScalarStyle::SingleQuoted),
        };
        // The characters that can end the text or begin an escape.
        let odd = if double { ['"', '\\'] } else { ['\''; 2] };
        let mut text = Cow::Borrowed("");
        let mut from = 0;
        loop {
            let at = from + inner[from..].find(odd)?;
            // Without escapes the text stays a slice of the source; the first escape makes a copy
            // of it.
            match text.is_empty() {
                true => text = inner[from..at].into(),
                false => text.to_mut().push_str(&inner[from..at]),
            }
            let escaped = match inner.as_bytes().get(at..at + 2) {
                Some(b"\\\"") => '"',
                Some(b"\\\\") => '\\',
                Some(b"\\n") => '\n',
                Some(b"''") if !double => '\'',
                _ if inner[at..].starts_with(quote) => {
                    return Some((text, style, start + 1 + at + 1));
                }
                _ => return None,
            };
            text.to_mut().push(escaped);
            from = at + 2;
        }
    }

    /// Reads a text without quotes in a block, up to a comment or the end of the line. `: ` inside
    /// is a mistake in YAML, and only the parser reports mistakes.
    fn plain_scalar(&self, start: usize, end: usize) -> Option<&'s str> {
        let line = &self.text[start..end];
        let bytes = line.as_bytes();
        let begins = match bytes[0] {
            // A dash may begin a text (`-1`, `-v`) if no space follows. Other indicators never do
            // here, though YAML allows a few of them.
            b'-' => bytes.get(1).is_some_and(u8::is_ascii_alphanumeric),
            b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|'
            | b'>' | b'\'' | b'"' | b'%' | b'@' | b'`' => false,
            _ => true,
        };
        let mut len = bytes.len();
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b':' if bytes.get(at + 1).is_none_or(|b| *b == b' ') => return None,
                b'#' if bytes[at.saturating_sub(1)] == b' ' => {
                    len = at;
                    break;
                }
                _ => {}
            }
        }
        begins.then(|| line[..len].trim_end_matches(' '))
    }

    /// Reads a flow collection on one line; returns the byte behind its bracket. Recursive, with
    /// the depth bounded by [`MAX_SIMPLE_DEPTH`].
    fn flow_collection(&mut self, start: usize, end: usize) -> Option<usize> {
        let text = self.text.as_bytes();
        let (kind, bracket) =
            if text[start] == b'{' { (ValueKind::Map, b'}') } else { (ValueKind::List, b']') };
        if self.tree_reader.builder.depth() >= MAX_SIMPLE_DEPTH {
            return None;
        }
        self.tree_reader.open(kind, Style::Flow, 0, None, Span::new(start, start + 1));
        let mut at = self.skip_spaces(start + 1, end);
        let mut empty = true;
        loop {
            // Only an empty collection may end here: `[a, ]` is valid YAML, but rare enough for the
            // parser.
            if at < end && text[at] == bracket && empty {
                break;
            }
            empty = false;
            if kind == ValueKind::Map {
                let (key, style, colon) = (at < end).then(|| self.key(at, end))??;
                self.scalar(&key, style, at, colon);
                at = self.skip_spaces(colon + 1, end);
            }
            at = (at < end).then(|| self.flow_item(at, end))??;
            at = self.skip_spaces(at, end);
            match text[at..end].first()? {
                b',' => at = self.skip_spaces(at + 1, end),
                last if *last == bracket => break,
                _ => return None,
            }
        }
        self.tree_reader.close(Span::new(at, at + 1));
        Some(at + 1)
    }

    /// Reads a value in a flow collection; returns the byte behind it.
    fn flow_item(&mut self, start: usize, end: usize) -> Option<usize> {
        match self.text.as_bytes()[start] {
            b'[' | b'{' => self.flow_collection(start, end),
            b'"' | b'\'' => {
                let (text, style, after) = self.quoted(start, end)?;
                self.scalar(&text, style, start, after);
                Some(after)
            }
            // Bare items hold harmless characters and spaces; anything that could be an indicator
            // in flow style goes to the parser.
            first if first.is_ascii_alphanumeric() || matches!(first, b'_' | b'$') => {
                let line = &self.text[start..end];
                let len = line.bytes().take_while(|b| is_bare_name_byte(*b) || *b == b' ').count();
                let text = line[..len].trim_end_matches(' ');
                self.scalar(text, ScalarStyle::Plain, start, start + text.len());
                Some(start + text.len())
            }
            _ => None,
        }
    }

    /// Reads a `|` or `|-` and the lines indented below it. The indent of the first line with text
    /// is the indent of all; a line with less text than that, or of spaces alone, is left to the
    /// parser.
    fn literal_block(&mut self, start: usize, end: usize) -> Option<()> {
        let strip = match &self.text[start..end] {
            "|" => false,
            "|-" => true,
            _ => return None,
        };
        // The text must be indented more than the block whose value it is.
        let around = self.blocks.last()?.indent;
        let from = self.next;
        let (mut text, mut blanks, mut indent) = (String::new(), 0, None);
        while self.next < self.text.len() {
            let before = self.next;
            let (line, end) = self.take_line();
            let first = self.skip_spaces(line, end) - line;
            if line + first == end {
                // Spaces alone may be part of the text.
                if first > 0 {
                    return None;
                }
                blanks += 1;
                continue;
            }
            if first <= around {
                self.next = before;
                break;
            }
            let indent = *indent.get_or_insert(first);
            if first < indent {
                return None;
            }
            // Blank lines belong to the text if more of it follows; at its end, `|` and `|-` drop
            // them.
            (0..blanks).for_each(|_| text.push('\n'));
            blanks = 0;
            text.push_str(&self.text[line + indent..end]);
            text.push('\n');
        }
        // Without any line, or without a break behind the last one, the rules about the final line
        // break are intricate.
        if text.is_empty() || !self.text.ends_with('\n') {
            return None;
        }
        // `|` keeps one line break at the end, `|-` none.
        if strip {
            text.pop();
        }
        self.scalar(&text, ScalarStyle::Literal, from, self.next);
        Some(())
    }
}

/// The characters of bare keys and of bare items in flow collections: none of them means anything
/// to YAML inside a word.
fn is_bare_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'$')
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::Source;
    use crate::yaml::{parse, simple_blocks};

    /// Whether the text is read without the parser. If it is, `parse` has compared both readings.
    fn reads_without_parser(text: &str) -> bool {
        let source = Arc::new(Source::new("t", text.to_owned()));
        parse(&source);
        simple_blocks::read(&source).is_some()
    }

    #[test]
    fn simple_documents_are_read_without_the_parser() {
        for text in [
            "a: 1",
            "# one\na: b c # two\n\nd:\n  e: -1\n  f: 'it''s'\n# three\n",
            "a:\n- b\n- c: d\n  e:\nf:\n  - - g\n    - h\n  -\n  - i # j\n",
            "a: |\n  b\n\n    c # d\n\ne: |-\n  f\n",
            "- |\n  a\n- b:\n    c: |\n      d\n",
            "a: [b, 'c', \"d\\n\\\"\", [e f, 1.5], {g: h, \"i\": []}, {}]\n",
            "\"a b\": http://c/d#e\n$f: g:h\n",
            "a: b — c\nd: é\n",
            "a: b\na: c\n",
        ] {
            assert!(reads_without_parser(text), "{text}");
        }
        for example in ["git", "slugs", "tickets", "triage"] {
            let path = format!("{}/../../examples/aios/{example}.yaml", env!("CARGO_MANIFEST_DIR"));
            assert!(
                reads_without_parser(&std::fs::read_to_string(&path).expect("an example")),
                "{path}"
            );
        }
    }

    #[test]
    fn everything_else_is_left_to_the_parser() {
        for text in [
            // No collection at the root.
            "",
            "# a\n",
            "a",
            "\"a\"",
            "[a]",
            // Markers of documents and directives.
            "--- \na: b\n",
            "a: b\n---\n",
            "%YAML 1.2\n---\na: b\n",
            // Characters that make lines or indents ambiguous.
            "a:\tb",
            "a: b\r\n",
            "a: \u{85}b",
            "\u{FEFF}a: b",
            // Values of several lines.
            "a: b\n  c\n",
            "a: 'b\n  c'\n",
            "a: [b,\n  c]\n",
            // Block scalars other than `|` and `|-`, and corner cases of these two.
            "a: >\n  b\n",
            "a: |+\n  b\n",
            "a: |2\n   b\n",
            "a: |\n",
            "a: |\n  b",
            "a: |\n  \n  b\n",
            "a: |\n  b\n c\n",
            "a: | # b\n  c\n",
            // Anchors, aliases, tags, explicit keys, rare escapes.
            "a: &b c\n",
            "a: *b\n",
            "a: !!str b\n",
            "? a\n: b\n",
            "a: \"\\x41\"\n",
            // Unusual flow collections.
            "a: [b: c]\n",
            "a: [b,]\n",
            "a: {b}\n",
            "a: {b: }\n",
            "a: [,]\n",
            // Text behind a value that is complete, or a quote that is not closed.
            "a: [b] c\n",
            "a: 'b'c\n",
            "a: 'b'#c\n",
            "a: 'b\n",
            // Indents that do not fit.
            " a: b\n",
            "a: b\n c: d\n",
            "a:\n    b: c\n  d: e\n",
            "a: b\n- c\n",
            "- a\nb: c\n",
            // Indicators where a value or key should begin.
            "a: b: c\n",
            "a: b:\n",
            "a: - b\n",
            "- a: b\n - c\n",
            "a: @b\n",
            "a: `b`\n",
            "a : b\n",
            "a b: c\n",
            ": a\n",
        ] {
            assert!(!reads_without_parser(text), "{text}");
        }
    }
}
