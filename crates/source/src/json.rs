//! JSON text into the tree, in one pass and without recursion.
//!
//! Written by hand because it continues after a mistake: a missing comma is reported, and the rest
//! of the file is still read. `serde_json` stops at the first one. On text without mistakes both
//! accept the same (a property test and a fuzz target compare them), up to a depth of
//! [`MAX_DEPTH`].
//!
//! The parser is a small state machine. [`ExpectedNext`] is its state, the stack of containers is
//! in the [`TreeBuilder`], and each method reads one token and returns the next state:
//!
//! ```text
//! Value ─ scalar ─▶ Comma ─ "," ─▶ Value | Key      Key ─ string ─▶ Colon ─ ":" ─▶ Value
//!   └──── "{" | "[" ─▶ FirstKey | FirstValue        Comma ─ "}" | "]" ─▶ Comma (around it) | End
//! ```
//!
//! Recovery follows two rules. Every step consumes text or changes to a state that will, so the
//! loop ends. And the tree stays whole: a value that is missing becomes `null`, so keys and values
//! always alternate. Comments, trailing commas, single quotes and bare keys have a clear
//! meaning; they are reported and read as their author meant them.
//!
//! | text | reported | read as |
//! |---|---|---|
//! | `[1 2]` | `,` is missing | `[1, 2]` |
//! | `[1,,2]` | a value is missing | `[1, 2]` |
//! | `{"a": }` | a value is missing | `{"a": null}` |
//! | `{a: 1}` | the key is not quoted | `{"a": 1}` |
//! | `['x']` | single quotes | `["x"]` |

use std::sync::Arc;

use crate::document::ParsedText;
use crate::problems::{ProblemCollector, shorten_to_ascii};
use crate::tree::{NodeData, Style, TreeBuilder, ValueKind};
use crate::{Label, MAX_DEPTH, Source, Span, codes};

/// Which texts count as JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JsonDialect {
    /// RFC 8259.
    Strict,
    /// With comments and trailing commas.
    Relaxed,
}

/// What may come next: the state of the parser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ExpectedNext {
    /// A value; in a list after a comma, where `]` means that the comma is one too many.
    Value,
    /// A value or `]`, right after `[`.
    FirstValue,
    /// A key after a comma, where `}` means that the comma is one too many.
    Key,
    /// A key or `}`, right after `{`.
    FirstKey,
    /// The `:` between a key and its value.
    Colon,
    /// `,` or the end of the container.
    Comma,
    /// Nothing but white space: the root is complete.
    End,
}

/// The text, the position in it, and what was read so far.
struct JsonParser<'s> {
    /// The whole text, for slices that are known to lie on character boundaries.
    text: &'s str,
    /// The same bytes, for looking at single ones without decoding.
    bytes: &'s [u8],
    dialect: JsonDialect,
    /// The next byte to read. Always on a character boundary between tokens.
    at: usize,
    builder: TreeBuilder,
    problems: ProblemCollector<'s>,
    /// Where the last comma stands: a trailing one is reported there.
    comma: usize,
    /// Where the last value ended: a missing comma is reported there.
    value_end: usize,
    /// Whether the text ended, or reading stopped, inside a container.
    incomplete: bool,
}

/// Parses the whole text of `source`. Never fails; mistakes are in the problems of the result.
pub(crate) fn parse(source: &Arc<Source>, dialect: JsonDialect) -> ParsedText {
    let text = source.text();
    let mut parser = JsonParser {
        text,
        bytes: text.as_bytes(),
        dialect,
        at: 0,
        // Real definitions have a value every 14 bytes or so. Unused room is given back later.
        builder: TreeBuilder::with_capacity((text.len() / 14).min(crate::MAX_NODES) + 1),
        problems: ProblemCollector::new(source),
        comma: 0,
        value_end: 0,
        incomplete: false,
    };
    parser.run();
    ParsedText {
        tree: parser.builder.tree,
        problems: parser.problems.into_vec(),
        incomplete: parser.incomplete,
    }
}

impl JsonParser<'_> {
    /// Reads tokens until the end of the text or a limit, then closes what is still open.
    fn run(&mut self) {
        let mut expect = ExpectedNext::Value;
        while !self.problems.stopped {
            self.skip_space();
            // Every method below gets the byte it has to look at, so none of them sees the end of
            // the text.
            let Some(&byte) = self.bytes.get(self.at) else {
                self.end_of_text(expect);
                break;
            };
            expect = match expect {
                ExpectedNext::Value | ExpectedNext::FirstValue => self.value(byte, expect),
                ExpectedNext::Key | ExpectedNext::FirstKey => self.key(byte, expect),
                ExpectedNext::Colon => self.colon(byte),
                ExpectedNext::Comma => self.comma(byte),
                ExpectedNext::End => {
                    // One report for all of it: a second document, or the rest of a file that was
                    // closed too early.
                    self.report(self.at..self.next_char(), "text after the end of the document");
                    break;
                }
            };
        }
        self.incomplete = self.builder.depth() > 0;
        // A map that was left between key and value, then every container that is still open.
        while let Some((_, kind, count)) = self.builder.top() {
            if kind == ValueKind::Map && count % 2 == 1 {
                self.builder.add_null(self.at);
            }
            self.close();
        }
        if self.builder.tree.slots.is_empty() {
            self.builder.add_null(0);
        }
    }

    /// Skips white space and comments. JSON has four white space characters; others are reported as
    /// unexpected where they stand.
    fn skip_space(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'/' if matches!(self.bytes.get(self.at + 1), Some(b'/' | b'*')) => self.comment(),
                _ => break,
            }
        }
    }

    /// Skips a `//` or `/* */` comment. Only the first one of a file is reported: in a file with
    /// comments the author meant a dialect with comments, and one message says that.
    fn comment(&mut self) {
        let start = self.at;
        let rest = &self.text[start..];
        // An unclosed `/*` runs to the end of the text.
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            rest[2..].find("*/").map_or(rest.len(), |n| n + 4)
        };
        self.at += len;
        if self.dialect == JsonDialect::Strict && self.builder.tree.comments.is_empty() {
            self.report(start..start + 2, "JSON has no comments");
        }
        self.builder.tree.comments.push(Span::new(start, self.at));
    }

    /// Reads a value, or reports what stands in its place.
    fn value(&mut self, byte: u8, expect: ExpectedNext) -> ExpectedNext {
        match byte {
            b'"' => self.string(b'"'),
            b'{' => return self.open(ValueKind::Map),
            b'[' => return self.open(ValueKind::List),
            b'-' | b'0'..=b'9' | b'+' | b'.' => self.number(),
            // The end of the list. In the state `FirstValue` it is an empty one.
            b']' if self.in_list() => {
                if expect == ExpectedNext::Value {
                    self.trailing_comma();
                }
                return self.end_container();
            }
            // `ExpectedNext::Comma` reports the wrong bracket, with the place of the one it does
            // not close.
            b'}' if self.in_list() => return ExpectedNext::Comma,
            b'}' | b']' | b',' if self.builder.depth() > 0 => {
                // `[1,,2]` and `{"a": }`: a list goes on with its next item, a member gets a
                // `null`.
                self.report(self.at..self.at + 1, "a value is missing here");
                if self.in_list() {
                    self.at += 1;
                    return expect;
                }
                self.builder.add_null(self.at);
                return ExpectedNext::Comma;
            }
            // The author meant a string, so the text is read to the next single quote.
            b'\'' => {
                self.report(self.at..self.at + 1, "JSON strings stand in double quotes");
                self.string(b'\'');
            }
            // A bare word: `true`, `false`, `null`, or a string whose quotes were forgotten.
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => self.word(),
            _ => {
                self.unexpected();
                return expect;
            }
        }
        self.after_value()
    }

    /// The state behind a complete value. Also the one place that checks the number of values,
    /// since every value ends here.
    fn after_value(&mut self) -> ExpectedNext {
        self.value_end = self.at;
        if self.builder.is_full() {
            self.problems.stop(
                &codes::TOO_LARGE,
                Span::new(self.at, self.at),
                format!("the document has more than {} values", crate::MAX_NODES),
            );
        }
        if self.builder.depth() == 0 { ExpectedNext::End } else { ExpectedNext::Comma }
    }

    /// Opens a container, unless it would be nested too deep; then reading ends.
    fn open(&mut self, kind: ValueKind) -> ExpectedNext {
        let span = Span::new(self.at, self.at + 1);
        // Reading stops here instead of skipping the container: a document this deep is an attack
        // or an accident, and either way its rest is of no use.
        if self.builder.depth() >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            self.problems.stop(&codes::TOO_DEEP, span, message);
            return ExpectedNext::End;
        }
        self.builder.open(kind, Style::Flow, span);
        self.at += 1;
        if kind == ValueKind::Map { ExpectedNext::FirstKey } else { ExpectedNext::FirstValue }
    }

    /// Consumes the closing bracket of the innermost container.
    fn end_container(&mut self) -> ExpectedNext {
        self.at += 1;
        self.close();
        self.after_value()
    }

    /// Ends the innermost container here and reports the keys it has twice.
    fn close(&mut self) {
        let Some(id) = self.builder.close(self.at) else { return };
        self.problems.check_keys(&self.builder, id);
    }

    /// Reads a key, or reports what stands in its place.
    fn key(&mut self, byte: u8, expect: ExpectedNext) -> ExpectedNext {
        match byte {
            b'"' => self.string(b'"'),
            b'}' => {
                if expect == ExpectedNext::Key {
                    self.trailing_comma();
                }
                return self.end_container();
            }
            b',' => {
                self.report(self.at..self.at + 1, "a member is missing here");
                self.at += 1;
                return expect;
            }
            b']' => return self.wrong_bracket(expect),
            b'\'' => {
                self.report(self.at..self.at + 1, "JSON strings stand in double quotes");
                self.string(b'\'');
            }
            // A key as JavaScript or YAML writes it, with a clear meaning.
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'$' | b'0'..=b'9' | b'-' => {
                let end = self.token_end();
                let name = shorten_to_ascii(&self.text[self.at..end]);
                self.report(self.at..end, &format!("key `{name}` must stand in double quotes"));
                self.add_scalar(ValueKind::String, end);
            }
            b':' => {
                // `{: 1}`. The colon is left for the next state.
                self.report(self.at..self.at + 1, "a key is missing here");
                self.builder.add_null(self.at);
            }
            _ => {
                self.unexpected();
                return expect;
            }
        }
        ExpectedNext::Colon
    }

    /// Reads the colon behind a key.
    fn colon(&mut self, byte: u8) -> ExpectedNext {
        if byte == b':' {
            self.at += 1;
            return ExpectedNext::Value;
        }
        self.report(self.at..self.next_char(), "`:` is missing after the key");
        // `{"a", …` and `{"a"}`: the value is missing together with the colon.
        if matches!(byte, b',' | b'}' | b']') {
            self.builder.add_null(self.at);
            return ExpectedNext::Comma;
        }
        ExpectedNext::Value
    }

    /// Reads the comma or the closing bracket behind a value.
    fn comma(&mut self, byte: u8) -> ExpectedNext {
        let next = if self.in_list() { ExpectedNext::Value } else { ExpectedNext::Key };
        match byte {
            b',' => {
                self.comma = self.at;
                self.at += 1;
                next
            }
            b'}' if !self.in_list() => self.end_container(),
            b']' if self.in_list() => self.end_container(),
            b'}' | b']' => self.wrong_bracket(ExpectedNext::Comma),
            b':' => {
                self.unexpected();
                ExpectedNext::Comma
            }
            _ => {
                // Reported right behind the last value, where the comma belongs, and not at the
                // start of the next one, which may stand lines below.
                self.report(self.value_end..self.value_end, "`,` is missing here");
                next
            }
        }
    }

    /// A bracket that does not fit the innermost container. Either the container was left open, or
    /// the bracket is one too many; what follows in the text decides which is more likely.
    fn wrong_bracket(&mut self, expect: ExpectedNext) -> ExpectedNext {
        let bracket = self.bytes[self.at];
        let fits = if bracket == b']' { ValueKind::List } else { ValueKind::Map };
        let open = if fits == ValueKind::List { "{" } else { "[" };
        let message = format!("`{}` does not close the `{open}` before it", bracket as char);
        // The label shows the bracket that is still open; without it, the message is hard to use in
        // a long file.
        let opened =
            self.builder.top().map(|(id, _, _)| self.builder.tree.slot(id).span.start as usize);
        let mut problem = self.problems.syntax(Span::new(self.at, self.at + 1), &message);
        if let Some(at) = opened {
            problem.labels.push(Label { span: Span::new(at, at + 1), text: "opened here".into() });
        }
        self.problems.push(problem);
        // Before the end of the text the right bracket was forgotten: close the inner container and
        // read this bracket again for the one it fits. Elsewhere it is a typing mistake for the
        // right bracket, and closing more than one container would misread all that follows.
        let rest = self.text[self.at + 1..].trim_start();
        if self.builder.has_open(fits) && rest.is_empty() {
            self.close();
            self.value_end = self.at;
            return ExpectedNext::Comma;
        }
        // Behind a value the bracket is taken for the right one. Where a key or value was expected
        // instead, it is skipped.
        if expect == ExpectedNext::Comma {
            return self.end_container();
        }
        self.at += 1;
        expect
    }

    /// Whether the innermost open container is a list.
    fn in_list(&self) -> bool {
        matches!(self.builder.top(), Some((_, ValueKind::List, _)))
    }

    /// Reports the comma before a closing bracket.
    fn trailing_comma(&mut self) {
        // The last comma stands before the last value: this state was reached without a comma, and
        // its absence has been reported already.
        if self.comma < self.value_end || self.dialect == JsonDialect::Relaxed {
            return;
        }
        let bracket = self.bytes[self.at] as char;
        self.report(self.comma..self.comma + 1, &format!("trailing `,` before `{bracket}`"));
    }

    /// Adds the text up to `end` as a scalar without quotes.
    fn add_scalar(&mut self, kind: ValueKind, end: usize) {
        let span = Span::new(self.at, end);
        let data = NodeData::Scalar { start: span.start, end: span.end, owned: false };
        self.builder.add(kind, Style::Plain, span, data);
        self.at = end;
    }

    /// The end of a bare word or number. Generous about what belongs to it (any character outside
    /// of ASCII, signs, dots), so that a bad token is reported once and as a whole.
    fn token_end(&self) -> usize {
        let word = |b: &u8| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'-' | b'+' | b'.') || *b >= 0x80
        };
        let rest = &self.bytes[self.at..];
        self.at + rest.iter().position(|b| !word(b)).unwrap_or(rest.len())
    }

    /// Reads a bare word. One that JSON does not have is reported and read as a string.
    fn word(&mut self) {
        let end = self.token_end();
        let word = &self.text[self.at..end];
        let kind = match word {
            "true" | "false" => ValueKind::Bool,
            "null" => ValueKind::Null,
            _ => {
                let message = format!("`{}` is not a JSON value", shorten_to_ascii(word));
                self.report(self.at..end, &message);
                ValueKind::String
            }
        };
        self.add_scalar(kind, end);
    }

    /// Reads a number. A malformed one keeps its kind, so that no second finding complains about
    /// the type.
    fn number(&mut self) {
        let end = self.token_end();
        let token = &self.text[self.at..end];
        if !is_json_number(token.as_bytes()) {
            let message = format!("`{}` is not a JSON number", shorten_to_ascii(token));
            self.report(self.at..end, &message);
        // Shorter numbers without an exponent are always exact; the check is skipped for nearly
        // all.
        } else if token.len() > 15 || token.contains(['e', 'E']) {
            self.problems.check_number(Span::new(self.at, end), token);
        }
        self.add_scalar(ValueKind::Number, end);
    }

    /// Reads a string. Without escapes, as nearly all are, it stays in the source text.
    fn string(&mut self, quote: u8) {
        let open = self.at;
        self.at += 1;
        let start = self.at;
        // The common case first: nothing to decode up to the closing quote.
        self.at += unescaped_run(&self.bytes[start..], quote);
        if self.bytes.get(self.at) == Some(&quote) {
            let span = Span::new(open, self.at + 1);
            let data = NodeData::Scalar { start: span.start + 1, end: span.end - 1, owned: false };
            self.builder.add(ValueKind::String, Style::Double, span, data);
            self.at += 1;
            return;
        }
        self.string_with_escapes(open, start, quote);
    }

    /// The rest of a string from its first escape or mistake on, decoded into `Tree::decoded`.
    fn string_with_escapes(&mut self, open: usize, start: usize, quote: u8) {
        let decoded = self.builder.tree.decoded.len();
        // Text between escapes is copied in runs; `copied` is the end of what was copied so far.
        let mut copied = start;
        loop {
            self.at += unescaped_run(&self.bytes[self.at..], quote);
            let (upto, byte) = (self.at, self.bytes.get(self.at).copied());
            match byte {
                Some(b'\\') => {
                    self.copy(copied, upto);
                    self.escape();
                    copied = self.at;
                }
                Some(b) if b == quote => {
                    self.copy(copied, upto);
                    self.at += 1;
                    break;
                }
                // A string ends with its line: without this rule, one forgotten quote would turn
                // the rest of the file inside out.
                Some(b'\n' | b'\r') | None => {
                    self.copy(copied, upto);
                    self.report(open..upto, "the string is not closed on its line");
                    break;
                }
                Some(b) => {
                    let message =
                        format!("control character U+{b:04X} in a string; write `\\u{b:04x}`");
                    self.report(upto..upto + 1, &message);
                    self.at += 1;
                }
            }
            // A string of control characters reports one problem each, and the limit must end it.
            if self.problems.stopped {
                break;
            }
        }
        let data = self.builder.interned_from(decoded);
        let span = Span::new(open, self.at);
        self.builder.add(ValueKind::String, Style::Double, span, data);
    }

    /// Copies text without escapes to the decoded string.
    fn copy(&mut self, from: usize, to: usize) {
        self.builder.tree.decoded.push_str(&self.text[from..to]);
    }

    /// Decodes the escape at the backslash. An unknown one is reported and its backslash kept.
    fn escape(&mut self) {
        let start = self.at;
        let escaped = self.bytes.get(start + 1).copied();
        self.at += 2;
        let c = match escaped {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => self.unicode_escape(start),
            _ => {
                // The character behind the backslash may have several bytes.
                let end = self.text.ceil_char_boundary((start + 2).min(self.text.len()));
                self.at = start + 1;
                let message = format!(
                    "`\\{}` is not a JSON escape",
                    shorten_to_ascii(&self.text[start + 1..end])
                );
                self.report(start..end, &message);
                '\\'
            }
        };
        self.builder.tree.decoded.push(c);
    }

    /// Decodes `\uXXXX`, and a surrogate pair of two of them. Half a pair is not a character: it is
    /// reported and becomes U+FFFD.
    fn unicode_escape(&mut self, start: usize) -> char {
        let Some(high) = self.hex4(start + 2) else {
            self.report(
                start..(start + 2).min(self.text.len()),
                "`\\u` needs four hexadecimal digits",
            );
            return '\u{fffd}';
        };
        self.at = start + 6;
        // A high surrogate followed by a low one: RFC 8259 writes characters beyond U+FFFF this
        // way.
        if (0xD800..0xDC00).contains(&high)
            && self.bytes[self.at..].starts_with(b"\\u")
            && let Some(low @ 0xDC00..0xE000) = self.hex4(self.at + 2)
        {
            self.at += 6;
            let c = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            return char::from_u32(c).unwrap_or('\u{fffd}');
        }
        char::from_u32(high).unwrap_or_else(|| {
            let message = format!("`\\u{high:04x}` is half of a surrogate pair");
            self.report(start..start + 6, &message);
            '\u{fffd}'
        })
    }

    /// Four hexadecimal digits at byte `at`. `from_str_radix` alone would accept a sign.
    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 4)?;
        let hex = digits.iter().all(u8::is_ascii_hexdigit);
        let text = std::str::from_utf8(digits).ok().filter(|_| hex)?;
        u32::from_str_radix(text, 16).ok()
    }

    /// Reports what the text lacks at its end: the innermost open bracket (one report is enough),
    /// or any value at all.
    fn end_of_text(&mut self, expect: ExpectedNext) {
        if let Some((id, kind, _)) = self.builder.top() {
            let start = self.builder.tree.slot(id).span.start as usize;
            let bracket = if kind == ValueKind::Map { '{' } else { '[' };
            self.report(start..start + 1, &format!("this `{bracket}` is never closed"));
        } else if expect == ExpectedNext::Value {
            self.report(self.at..self.at, "the document is empty");
        }
    }

    /// Where the character after the one at hand starts.
    fn next_char(&self) -> usize {
        self.text.ceil_char_boundary((self.at + 1).min(self.text.len()))
    }

    /// Reports and skips one character, so that reading goes on behind it.
    fn unexpected(&mut self) {
        let c = self.text[self.at..].chars().next().unwrap_or(' ');
        let end = self.next_char();
        let message = match c {
            c if c.is_control() => format!("unexpected character U+{:04X}", c as u32),
            c => format!("unexpected `{c}`"),
        };
        self.report(self.at..end, &message);
        self.at = end;
    }

    fn report(&mut self, range: std::ops::Range<usize>, message: &str) {
        self.problems.report(Span::new(range.start, range.end), message);
    }
}

/// Whether a token is a number by the grammar of RFC 8259.
fn is_json_number(token: &[u8]) -> bool {
    let digits = |t: &[u8]| t.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut rest = token.strip_prefix(b"-").unwrap_or(token);
    // `int = zero / ( digit1-9 *DIGIT )`: no leading zeros, and not only a sign.
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let n = digits(fraction);
        if n == 0 {
            return false;
        }
        rest = &fraction[n..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', digits @ ..] => digits,
            digits => digits,
        };
        let n = digits(exponent);
        return n > 0 && n == exponent.len();
    }
    rest.is_empty()
}

/// How many bytes at the start of `bytes` are neither `quote`, nor `\`, nor control characters.
///
/// Eight bytes at a time, because strings are most of a definition and this loop is most of the
/// parser's time. It uses the "has zero byte" trick (Hacker's Delight, 6-1): `v - 0x01…01 & !v &
/// 0x80…80` has the high bit set in the lowest byte of `v` that is zero; xor with a repeated byte
/// turns "equals" into "is zero", and subtracting `0x20` instead of one finds bytes below a space.
fn unescaped_run(bytes: &[u8], quote: u8) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = ONES << 7;
    let zero_byte = |v: u64| v.wrapping_sub(ONES) & !v & HIGHS;
    let (quotes, slashes) = (ONES * u64::from(quote), ONES * u64::from(b'\\'));
    let mut at = 0;
    let (chunks, _) = bytes.as_chunks::<8>();
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let hits = control | zero_byte(word ^ quotes) | zero_byte(word ^ slashes);
        if hits != 0 {
            // The lowest set bit is exact: borrows only spoil bytes above a true hit.
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let stop = |b: &u8| *b == quote || *b == b'\\' || *b < 0x20;
    at + bytes[at..].iter().position(stop).unwrap_or(bytes.len() - at)
}
