//! Text as Markdown source: what would be read as markup gets a backslash, and nothing else does.

/// Bytes that may need a backslash within a line.
const SPECIAL: [bool; 256] = table(b"\\`*_[]<&~");

/// Bytes that a link's destination may have as they are.
const PLAIN: [bool; 256] =
    table(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:?=#%");

const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// White space of HTML, runs of which show as one space.
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// Appends `text` with runs of white space as one space; at its start as none, if `after_space`.
pub(super) fn push_text(out: &mut String, text: &str, after_space: bool) {
    let bytes = text.as_bytes();
    let (mut done, mut at) = (0, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        if is_space(byte) {
            out.push_str(&text[done..at]);
            if at > 0 || !after_space {
                out.push(' ');
            }
            while at < bytes.len() && is_space(bytes[at]) {
                at += 1;
            }
            done = at;
            continue;
        }
        if SPECIAL[byte as usize] && needs_backslash(text, at) {
            out.push_str(&text[done..at]);
            out.push('\\');
            done = at;
        }
        at += 1;
    }
    out.push_str(&text[done..]);
}

/// What comes next may be in another piece of text, so the end of this one counts as the worst that
/// could come.
fn needs_backslash(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = &text.as_bytes()[at + 1..];
    match text.as_bytes()[at] {
        // Alone between words; at an end of the text it could come to stand beside a delimiter.
        b'*' => {
            let (left, right) = (&text[..at], &text[at + 1..]);
            let alone = left.ends_with(|c: char| c.is_ascii() && is_space(c as u8))
                && right.starts_with(|c: char| c.is_ascii() && is_space(c as u8));
            !alone || left.trim_end().is_empty() || right.trim_start().is_empty()
        }
        // Within a word it is only a letter.
        b'_' => {
            let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !(letter(before) && letter(text[at + 1..].chars().next()))
        }
        b'<' => {
            after.first().is_none_or(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'!' | b'?'))
        }
        b'&' => is_entity(after),
        _ => true,
    }
}

/// Whether what follows an ampersand makes it a character reference, or may do so with text to
/// come.
fn is_entity(after: &[u8]) -> bool {
    let name =
        after.iter().take(40).take_while(|b| b.is_ascii_alphanumeric() || **b == b'#').count();
    match after.get(name) {
        None => true,
        Some(end) => *end == b';' && name > 0,
    }
}

/// Where a backslash has to go so that a line does not begin a heading, list, quote, rule or table;
/// `line` is what stands on the line, `first` whether it begins a paragraph.
pub(super) fn line_start(line: &str, first: bool) -> Option<usize> {
    let bytes = line.as_bytes();
    let ends = |at: usize| bytes.get(at).is_none_or(|b| is_space(*b));
    let only = |set: &[u8]| bytes.iter().all(|b| set.contains(b) || *b == b' ');
    let escape = match bytes.first()? {
        b'#' => {
            let level = bytes.iter().take_while(|b| **b == b'#').count();
            level <= 6 && ends(level)
        }
        b'>' => true,
        b'-' => ends(1) || only(b"-") || only(b"-:|"),
        b'+' | b'*' => ends(1),
        b'=' => !first && only(b"="),
        b'|' | b':' => !first && only(b"-:|"),
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            let delimiter = matches!(bytes.get(digits), Some(b'.' | b')'));
            return (digits <= 9 && delimiter && ends(digits + 1)).then_some(digits);
        }
        _ => false,
    };
    escape.then_some(0)
}

/// Appends a link's destination, given in parts.
pub(super) fn push_destination(out: &mut String, parts: &[&str]) {
    let start = out.len();
    out.extend(parts.iter().copied());
    if out.as_bytes()[start..].iter().all(|b| PLAIN[*b as usize]) {
        return;
    }
    let url = out.split_off(start);
    let bytes = url.as_bytes();
    // Parentheses that do not match would end the destination early.
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
            '&' if is_entity(&bytes[at + 1..]) => out.push_str("\\&"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            ' ' => out.push_str("%20"),
            c if c.is_ascii_control() => {
                out.push('%');
                out.extend(
                    [c as u32 / 16, c as u32 % 16]
                        .map(|digit| char::from(b"0123456789ABCDEF"[digit as usize])),
                );
            }
            c => out.push(c),
        }
    }
}

/// Appends a link's title, quotes included; nothing for an empty one.
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
            '&' => is_entity(&title.as_bytes()[at + 1..]),
            _ => false,
        };
        if escape {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// Appends a code span: as many backticks around it as its content needs.
pub(super) fn push_code(out: &mut String, code: &str) {
    let ticks = longest_run(code, b'`') + 1;
    // Spaces on both sides are stripped by readers, so they need company.
    let stripped =
        code.starts_with(' ') && code.ends_with(' ') && !code.trim_matches(' ').is_empty();
    let pad = code.starts_with('`') || code.ends_with('`') || stripped;
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

/// The length of the longest run of `byte`.
pub(super) fn longest_run(text: &str, byte: u8) -> usize {
    text.as_bytes().split(|b| *b != byte).map(<[u8]>::len).max().unwrap_or(0)
}
