//! Escaping: text that would be read as markup gets a backslash.
//!
//! Escaping every special character would be simpler, but agents read this text: `snake\_case` and
//! `1\. a` cost tokens and get copied into code. So a character is escaped only where CommonMark
//! could read it as markup. Text arrives in pieces, and the end of a piece counts as the worst
//! that could follow. A property test renders the result and compares the text.
//!
//! All functions append to the output instead of returning strings; they run for every piece of
//! text of a page.

/// Bytes that may need a backslash anywhere in a line. All are ASCII, so looking at bytes is safe
/// in UTF-8.
const INLINE_SPECIAL: [bool; 256] = byte_set(b"\\`*_[]<&~");

/// Bytes that never need an escape in the destination of a link.
const DESTINATION_SAFE: [bool; 256] =
    byte_set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:?=#%");

/// Makes a table of the given bytes: one lookup for each byte of the page.
const fn byte_set(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// Whether a byte is white space to HTML, where a run of it is shown as one space. Vertical tab is
/// not, and neither is white space outside of ASCII, such as the non-breaking space.
pub(super) const fn is_html_whitespace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// Appends `text`, escaped, with each run of white space as one space. If `after_space`, the
/// output ends with white space already, and white space at the beginning of `text` adds nothing.
pub(super) fn push_text(out: &mut String, text: &str, after_space: bool) {
    // Everything between two escapes or spaces is copied as one piece; `done` is where it begins.
    let bytes = text.as_bytes();
    let (mut done, mut at) = (0, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        if is_html_whitespace(byte) {
            out.push_str(&text[done..at]);
            if at > 0 || !after_space {
                out.push(' ');
            }
            while at < bytes.len() && is_html_whitespace(bytes[at]) {
                at += 1;
            }
            done = at;
            continue;
        }
        if INLINE_SPECIAL[byte as usize] && needs_backslash(text, at) {
            out.push_str(&text[done..at]);
            out.push('\\');
            done = at;
        }
        at += 1;
    }
    out.push_str(&text[done..]);
}

/// Whether the special character at `at` could be read as markup. The next character may be in
/// another piece of text, so at the end of this one the answer is yes.
fn needs_backslash(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = &text.as_bytes()[at + 1..];
    match text.as_bytes()[at] {
        // A star between two spaces is only a star. At an end of the text it could end up beside a
        // delimiter, once white space has been moved out of a span.
        b'*' => {
            let (left, right) = (&text[..at], &text[at + 1..]);
            let alone = left.ends_with(|c: char| c.is_ascii() && is_html_whitespace(c as u8))
                && right.starts_with(|c: char| c.is_ascii() && is_html_whitespace(c as u8));
            !alone || left.trim_end().is_empty() || right.trim_start().is_empty()
        }
        // An underscore within a word is only a character.
        b'_' => {
            let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !(letter(before) && letter(text[at + 1..].chars().next()))
        }
        // The characters that can begin a tag, a comment, a declaration or an autolink.
        b'<' => {
            after.first().is_none_or(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'!' | b'?'))
        }
        b'&' => may_be_entity(after),
        _ => true,
    }
}

/// Whether the text after an ampersand makes it a character reference such as `&amp;`, or may do
/// so together with the next piece. The longest name has 31 letters, so 40 bytes are enough to
/// decide.
fn may_be_entity(after: &[u8]) -> bool {
    let name =
        after.iter().take(40).take_while(|b| b.is_ascii_alphanumeric() || **b == b'#').count();
    match after.get(name) {
        None => true,
        Some(end) => *end == b';' && name > 0,
    }
}

/// Where a line needs a backslash so that it does not begin a heading, a list, a quote, a thematic
/// break or a table; `None` if it does not need one. `line` is the whole line, `first` whether it
/// is the first of its paragraph.
pub(super) fn line_start_escape(line: &str, first: bool) -> Option<usize> {
    let bytes = line.as_bytes();
    let ends = |at: usize| bytes.get(at).is_none_or(|b| is_html_whitespace(*b));
    let only = |set: &[u8]| bytes.iter().all(|b| set.contains(b) || *b == b' ');
    let escape = match bytes.first()? {
        b'#' => {
            // One to six signs and a space, or the end of the line.
            let level = bytes.iter().take_while(|b| **b == b'#').count();
            level <= 6 && ends(level)
        }
        b'>' => true,
        // A list item, or a thematic break, or the underline of a heading, or of a table's header.
        b'-' => ends(1) || only(b"-") || only(b"-:|"),
        b'+' | b'*' => ends(1),
        // These change the meaning of the line before them.
        b'=' => !first && only(b"="),
        b'|' | b':' => !first && only(b"-:|"),
        b'0'..=b'9' => {
            // An ordered list item, of at most nine digits. The backslash goes before the dot:
            // before a digit it would be shown.
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            let delimiter = matches!(bytes.get(digits), Some(b'.' | b')'));
            return (digits <= 9 && delimiter && ends(digits + 1)).then_some(digits);
        }
        _ => false,
    };
    escape.then_some(0)
}

/// Appends the destination of a link. It comes in parts, so that the caller need not join a base
/// and a relative address first.
pub(super) fn push_destination(out: &mut String, parts: &[&str]) {
    let start = out.len();
    out.extend(parts.iter().copied());
    if out.as_bytes()[start..].iter().all(|b| DESTINATION_SAFE[*b as usize]) {
        return;
    }
    // Most destinations end above; the rest are copied with escapes.
    let url = out.split_off(start);
    let bytes = url.as_bytes();
    // Balanced parentheses can stay; others would end the destination too early. CommonMark asks
    // for at least three levels of nesting, common implementations allow 32.
    let mut open = 0_i64;
    let matched = bytes.iter().all(|byte| {
        open += i64::from(*byte == b'(') - i64::from(*byte == b')');
        (0..=30).contains(&open)
    }) && open == 0;
    for (at, c) in url.char_indices() {
        match c {
            '\\' => out.push_str("\\\\"),
            '(' | ')' if !matched => {
                out.push('\\');
                out.push(c);
            }
            '&' if may_be_entity(&bytes[at + 1..]) => out.push_str("\\&"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            ' ' => out.push_str("%20"),
            c if c.is_ascii_control() => {
                out.push_str(&format!("%{:02X}", c as u32));
            }
            c => out.push(c),
        }
    }
}

/// Appends the title of a link between quotation marks, with white space collapsed: a blank line
/// would end the link. Appends nothing if the title is empty.
pub(super) fn push_title(out: &mut String, title: &str) {
    if title.trim_ascii().is_empty() {
        return;
    }
    let words: Vec<&str> = title.split_ascii_whitespace().collect();
    let title = words.join(" ");
    out.push_str(" \"");
    for (at, c) in title.char_indices() {
        let escape = match c {
            '"' | '\\' => true,
            '&' => may_be_entity(&title.as_bytes()[at + 1..]),
            _ => false,
        };
        if escape {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// Appends a code span, with as many backticks on each side as its content requires.
pub(super) fn push_code_span(out: &mut String, code: &str) {
    // One more than the longest run inside, so that no run inside can end the code.
    let ticks = longest_run(code, b'`') + 1;
    // CommonMark removes one space from both sides if there is one on both, so code that has them
    // needs another pair. A backtick at the edge needs a space too, or it would join the fence.
    let would_be_stripped =
        code.starts_with(' ') && code.ends_with(' ') && !code.trim_matches(' ').is_empty();
    let pad = code.starts_with('`') || code.ends_with('`') || would_be_stripped;
    let fence = "`".repeat(ticks);
    out.push_str(&fence);
    if pad {
        out.push(' ');
    }
    out.push_str(code);
    if pad {
        out.push(' ');
    }
    out.push_str(&fence);
}

/// The length of the longest run of `byte` in `text`.
pub(super) fn longest_run(text: &str, byte: u8) -> usize {
    text.as_bytes().split(|b| *b != byte).map(<[u8]>::len).max().unwrap_or(0)
}
