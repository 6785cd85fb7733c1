//! The texts in JavaScript: what is between quotes or backticks. Messages of errors and results of
//! functions are made of them, and those are sent to a model.
//!
//! The code is only split, not parsed: a text that is found in the wrong place is searched for
//! nothing, and code with a syntax error has texts as well. A text that is put together from parts
//! is seen in parts.

use std::ops::Range;

/// Words behind which a slash begins a pattern, as behind an operator.
const BEFORE_PATTERN: [&str; 6] = ["return", "typeof", "case", "in", "of", "await"];

/// The bytes of each text in some code, without its quotes. A template has one for each part.
pub(crate) fn code_texts(code: &str) -> Vec<Range<usize>> {
    let bytes = code.as_bytes();
    let mut texts = Vec::new();
    // For each `${` that is open: how many braces are open inside.
    let mut open: Vec<usize> = Vec::new();
    let mut may_be_pattern = true;
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1).copied();
        match (byte, next) {
            (b'/', Some(b'/')) => at = find(bytes, at, b"\n"),
            (b'/', Some(b'*')) => at = find(bytes, at + 2, b"*/"),
            (b'/', _) if may_be_pattern => {
                (at, may_be_pattern) = (end_of_pattern(bytes, at), false);
            }
            (b'\'' | b'"', _) => {
                let end = end_of_text(bytes, at + 1, &[byte, b'\n']);
                texts.push(at + 1..end);
                (at, may_be_pattern) = (end + 1, false);
            }
            (b'}', _) if open.last() == Some(&0) => {
                open.pop();
                (at, may_be_pattern) = template(bytes, at + 1, &mut texts, &mut open);
            }
            (b'`', _) => (at, may_be_pattern) = template(bytes, at + 1, &mut texts, &mut open),
            _ if byte.is_ascii_whitespace() => at += 1,
            _ if is_word(byte) => {
                let length = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
                may_be_pattern = BEFORE_PATTERN.contains(&&code[at..at + length]);
                at += length;
            }
            _ => {
                match (byte, open.last_mut()) {
                    (b'{', Some(depth)) => *depth += 1,
                    (b'}', Some(depth)) => *depth -= 1,
                    _ => {}
                }
                (at, may_be_pattern) = (at + 1, !matches!(byte, b')' | b']'));
            }
        }
    }
    texts
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// Where this ends next, behind it; the end of the code if it does not.
fn find(bytes: &[u8], from: usize, end: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let found = rest.windows(end.len()).position(|window| window == end);
    found.map_or(bytes.len(), |at| from + at + end.len())
}

/// The place of the first of these bytes that no backslash precedes; the end of the code if there
/// is none.
fn end_of_text(bytes: &[u8], from: usize, ends: &[u8]) -> usize {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if ends.contains(byte) => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Behind a pattern that begins here. In `[…]` a slash does not end it.
fn end_of_pattern(bytes: &[u8], from: usize) -> usize {
    let (mut at, mut is_in_class) = (from + 1, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => is_in_class = true,
            b']' => is_in_class = false,
            b'/' if !is_in_class => return at + 1,
            // It was a division.
            b'\n' => return from + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Adds the part of a template that begins here, and returns where the code goes on: behind the
/// template, or in its next `${`, where a pattern may follow.
fn template(
    bytes: &[u8],
    from: usize,
    texts: &mut Vec<Range<usize>>,
    open: &mut Vec<usize>,
) -> (usize, bool) {
    let mut at = from;
    loop {
        at = end_of_text(bytes, at, b"`$");
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'$'), Some(b'{')) => {
                texts.push(from..at);
                open.push(0);
                return (at + 2, true);
            }
            (Some(b'$'), _) => at += 1,
            _ => {
                texts.push(from..at);
                return (at + 1, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::code_texts;

    #[test]
    fn texts_are_found_between_quotes() {
        for (code, expected) in [
            ("f('a', \"b\")", &["a", "b"][..]),
            ("f('it\\'s', \"\\\\\")", &["it\\'s", "\\\\"]),
            ("// 'no'\n/* \"no\" */ 'yes'", &["yes"]),
            ("`a ${b('c') + `d ${{ e: 'f' }.e}`} g` + 'h'", &["a ", "c", "d ", "f", "", " g", "h"]),
            ("`5 $ and $x`", &["5 $ and $x"]),
            ("x.replace(/'/g, 'y') / 2 / 'z'", &["y", "z"]),
            ("return /[/']/.test('a')", &["a"]),
            ("a = b / c; d = 'e'", &["e"]),
            ("'open\n'closed'", &["open", "closed"]),
            ("`open", &["open"]),
            ("'größe' + ü / 'é'", &["größe", "é"]),
            ("}}}'a'", &["a"]),
            ("'\\", &["\\"]),
            ("", &[]),
        ] {
            let found: Vec<&str> =
                code_texts(code).into_iter().map(|range| code.get(range).unwrap_or("?")).collect();
            assert_eq!(found, expected, "{code}");
        }
    }
}
