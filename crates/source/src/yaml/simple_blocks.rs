//! The YAML that most definitions are written in, read without the parser: block maps and lists,
//! scalars and flow collections of one line, `|` texts, comments.
//!
//! Why, where there is a parser: its tokens were a third of the time of a `check` (`make bench`
//! shows how both compare). It judges nothing. Whatever it does not know for sure (an anchor, a
//! tag, a text of several lines, a tab, any mistake) is `None`, and the parser reads the document
//! from its start. Builds with assertions read every text in both ways and compare, so every test
//! and every fuzzing run is a test of this too.

use std::borrow::Cow;
use std::sync::Arc;

use granit_parser::ScalarStyle;

use super::YamlEventReader;
use crate::document::ParsedText;
use crate::tree::{Style, ValueKind};
use crate::{Source, Span};

/// Longer texts are the parser's, which knows the limits.
const MAX_SIMPLE_BYTES: usize = 64 << 10;
/// Deeper nesting, too: far below its limit there is nothing to get wrong.
const MAX_SIMPLE_DEPTH: usize = 64;

/// What the text says; nothing if that takes a parser.
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

/// Whether every character is one that YAML prints and no tab, so that the indent of a line is the
/// number of its spaces.
fn has_only_plain_characters(text: &str) -> bool {
    let plain = |b: u8| (0x20..0x7F).contains(&b) || b == b'\n';
    let printed = |c: char| {
        c >= '\u{A0}'
            && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}'..='\u{FFFF}')
    };
    text.bytes().all(plain) || text.chars().all(|c| u8::try_from(c).is_ok_and(plain) || printed(c))
}

/// A map or a list that is still open.
struct OpenBlock {
    kind: ValueKind,
    indent: usize,
    /// Whether a key or a dash expects_value for its value.
    expects_value: bool,
}

struct SimpleBlockReader<'s> {
    tree_reader: YamlEventReader<'s>,
    text: &'s str,
    /// Where the next line begins.
    next: usize,
    blocks: Vec<OpenBlock>,
    started: bool,
}

impl<'s> SimpleBlockReader<'s> {
    /// The next line, from its start to its end, and what follows it becomes the next one.
    fn take_line(&mut self) -> (usize, usize) {
        let start = self.next;
        let end = self.text[start..].find('\n').map_or(self.text.len(), |n| start + n);
        self.next = (end + 1).min(self.text.len());
        (start, end)
    }

    fn read_line(&mut self) -> Option<()> {
        let (line, end) = self.take_line();
        let start = self.skip_spaces(line, end);
        let indent = start - line;
        match &self.text.as_bytes()[start..end] {
            [] => return Some(()),
            [b'#', ..] => {
                self.tree_reader.comment(Span::new(start, end));
                return Some(());
            }
            // Marks of documents and directives.
            [b'-', b'-', b'-', ..] | [b'.', b'.', b'.', ..] | [b'%', ..] if indent == 0 => {
                return None;
            }
            _ => {}
        }
        self.close_ended_blocks(indent, self.is_dash(start, end))?;
        self.read_entry(start, end, indent)
    }

    /// Closes what ends before a line that is indented so. What expects_value gets the line if it is
    /// deeper, or nothing; what does not wait goes on if it is of this indent and kind, ends if it
    /// is deeper, and anything else is a mistake.
    fn close_ended_blocks(&mut self, indent: usize, dash: bool) -> Option<()> {
        while let Some(top) = self.blocks.last_mut() {
            let (list, same) = (top.kind == ValueKind::List, indent == top.indent);
            if top.expects_value {
                // The list of a key may stand where the key does.
                if indent > top.indent || same && dash && !list {
                    return Some(());
                }
                self.add_empty_value();
            } else if same && list == dash {
                return Some(());
            } else if indent < top.indent || same && list {
                self.close();
            } else {
                return None;
            }
        }
        (!self.started && indent == 0).then_some(())
    }

    /// What stands from `start` to the end of its line: dashes, a key, a value.
    fn read_entry(&mut self, mut start: usize, end: usize, mut indent: usize) -> Option<()> {
        while self.is_dash(start, end) {
            self.begin_entry(ValueKind::List, start, indent)?;
            let after = self.skip_spaces(start + 1, end);
            if self.end_line(after, end) {
                return Some(());
            }
            indent += after - start;
            start = after;
        }
        let Some((key, style, colon)) = self.key(start, end) else {
            // Only a dash has its value where a line or an item begins.
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

    /// The next entry of the innermost block, or the first of a new one.
    fn begin_entry(&mut self, kind: ValueKind, start: usize, indent: usize) -> Option<()> {
        match self.blocks.last_mut() {
            Some(top) if !top.expects_value => {
                if top.kind != kind || top.indent != indent {
                    return None;
                }
                top.expects_value = true;
                return Some(());
            }
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

    fn close(&mut self) {
        if self.blocks.last().is_some_and(|top| top.expects_value) {
            self.add_empty_value();
        }
        let end = self.text.len();
        self.blocks.pop();
        self.tree_reader.close(Span::new(end, end));
    }

    /// The value that expects_value is not written: the reader knows by the empty span, and finds its
    /// place.
    fn add_empty_value(&mut self) {
        self.scalar("~", ScalarStyle::Plain, 0, 0);
        self.blocks.last_mut().into_iter().for_each(|top| top.expects_value = false);
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, start: usize, end: usize) {
        self.tree_reader.scalar(text, style, 0, None, Span::new(start, end));
    }

    /// The value that expects_value, to the end of its line or, of a `|`, of its text.
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

    /// Takes the comment at the end of a line; false if something else stands there.
    fn end_line(&mut self, at: usize, end: usize) -> bool {
        let comment = self.text[at..end].starts_with('#');
        if comment {
            self.tree_reader.comment(Span::new(at, end));
        }
        comment || at == end
    }

    fn skip_spaces(&self, at: usize, end: usize) -> usize {
        at + self.text.as_bytes()[at..end].iter().take_while(|b| **b == b' ').count()
    }

    fn is_dash(&self, at: usize, end: usize) -> bool {
        matches!(&self.text.as_bytes()[at..end], [b'-'] | [b'-', b' ', ..])
    }

    /// A key, and where its colon stands.
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
        let is_key = matches!(&self.text.as_bytes()[colon..end], [b':'] | [b':', b' ', ..]);
        (is_key && key.len() <= 256).then_some((key, style, colon))
    }

    /// A text in quotes, and where it ends.
    fn quoted(&self, start: usize, end: usize) -> Option<(Cow<'s, str>, ScalarStyle, usize)> {
        let inner = &self.text[start + 1..end];
        let double = self.text.as_bytes()[start] == b'"';
        let (quote, style) = match double {
            true => ('"', ScalarStyle::DoubleQuoted),
            false => ('\'', ScalarStyle::SingleQuoted),
        };
        let odd = if double { ['"', '\\'] } else { ['\''; 2] };
        let mut text = Cow::Borrowed("");
        let mut from = 0;
        loop {
            let at = from + inner[from..].find(odd)?;
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

    /// A text without quotes in a block.
    fn plain_scalar(&self, start: usize, end: usize) -> Option<&'s str> {
        let line = &self.text[start..end];
        let bytes = line.as_bytes();
        let begins = match bytes[0] {
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

    /// A flow collection of one line; returns where it ends.
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

    /// A value in a flow collection; returns where it ends.
    fn flow_item(&mut self, start: usize, end: usize) -> Option<usize> {
        match self.text.as_bytes()[start] {
            b'[' | b'{' => self.flow_collection(start, end),
            b'"' | b'\'' => {
                let (text, style, after) = self.quoted(start, end)?;
                self.scalar(&text, style, start, after);
                Some(after)
            }
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

    /// A `|` or `|-` and the lines that are indented below it.
    fn literal_block(&mut self, start: usize, end: usize) -> Option<()> {
        let strip = match &self.text[start..end] {
            "|" => false,
            "|-" => true,
            _ => return None,
        };
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
            (0..blanks).for_each(|_| text.push('\n'));
            blanks = 0;
            text.push_str(&self.text[line + indent..end]);
            text.push('\n');
        }
        // A last line without its end, and no lines at all, are corners.
        if text.is_empty() || !self.text.ends_with('\n') {
            return None;
        }
        if strip {
            text.pop();
        }
        self.scalar(&text, ScalarStyle::Literal, from, self.next);
        Some(())
    }
}

/// What a key may have without quotes, and an item of a flow collection.
fn is_bare_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'$')
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::Source;
    use crate::yaml::{parse, simple_blocks};

    /// Whether it needs no parser. If so, `parse` has compared what both make of it.
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
            "",
            "# a\n",
            "a",
            "\"a\"",
            "[a]",
            "--- \na: b\n",
            "a: b\n---\n",
            "%YAML 1.2\n---\na: b\n",
            "a:\tb",
            "a: b\r\n",
            "a: \u{85}b",
            "\u{FEFF}a: b",
            "a: b\n  c\n",
            "a: 'b\n  c'\n",
            "a: [b,\n  c]\n",
            "a: >\n  b\n",
            "a: |+\n  b\n",
            "a: |2\n   b\n",
            "a: |\n",
            "a: |\n  b",
            "a: |\n  \n  b\n",
            "a: |\n  b\n c\n",
            "a: | # b\n  c\n",
            "a: &b c\n",
            "a: *b\n",
            "a: !!str b\n",
            "? a\n: b\n",
            "a: \"\\x41\"\n",
            "a: [b: c]\n",
            "a: [b,]\n",
            "a: {b}\n",
            "a: {b: }\n",
            "a: [,]\n",
            "a: [b] c\n",
            "a: 'b'c\n",
            "a: 'b'#c\n",
            "a: 'b\n",
            " a: b\n",
            "a: b\n c: d\n",
            "a:\n    b: c\n  d: e\n",
            "a: b\n- c\n",
            "- a\nb: c\n",
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
