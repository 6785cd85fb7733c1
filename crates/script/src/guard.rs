//! What is too much, found before any parser runs. The parser recurses once per nested bracket and,
//! on some inputs, takes time that grows with the square of their number, so both are bounded here
//! by one pass over the bytes.
//!
//! The pass tells strings, comments, templates and regular expressions apart from code as a parser
//! would. Where that takes a grammar (is this `/` a division?) it does not guess: from there on it
//! counts every bracket as an opening one. So code cannot hide its nesting.

use std::ops::Range;

use crate::{Problem, ProblemKind};

/// The longest code that is read, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// The deepest nesting of brackets that is read.
pub const MAX_DEPTH: usize = 200;

/// The most words, literals, operators and brackets that are read; about 400 KB of ordinary code.
pub const MAX_TOKENS: usize = 100_000;

/// The longest run of prefix operators (`!!!!x`, `await await x`).
const MAX_PREFIXES: usize = 100;

/// The most brackets after a place that only a grammar could read.
const MAX_BLIND: usize = 2_000;

/// How much there is to recurse on: an upper bound for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) depth: usize,
    pub(crate) tokens: usize,
}

/// Measures the code, or says which bound it breaks.
pub(crate) fn measure(code: &str) -> Result<Extent, Problem> {
    if code.len() > MAX_BYTES {
        return Err(limit(
            0..0,
            format!("the code has {} bytes, more than {MAX_BYTES}", code.len()),
        ));
    }
    let mut scan = Scan::new(code);
    scan.run()?;
    if scan.tokens > MAX_TOKENS {
        return Err(limit(
            0..0,
            format!("the code has more than {MAX_TOKENS} words and operators"),
        ));
    }
    Ok(Extent { depth: scan.deepest, tokens: scan.tokens })
}

fn limit(range: Range<usize>, message: String) -> Problem {
    Problem { kind: ProblemKind::Limit, message, range, help: None }
}

/// What a `/` would be after the last token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    Division,
    Regex,
    Doubt,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// `(` after `if`, `for`, `while`, `with`: what follows its end is a statement.
    Header,
    Round,
    Square,
    Curly,
    /// `${` of a template.
    Hole,
}

struct Scan<'a> {
    code: &'a str,
    bytes: &'a [u8],
    at: usize,
    open: Vec<Open>,
    deepest: usize,
    tokens: usize,
    prefixes: usize,
    slash: Slash,
    /// The last token was a `.` that makes the next word a property.
    dot: bool,
    /// The last token was a word that opens a statement with a parenthesised head.
    head: bool,
}

impl<'a> Scan<'a> {
    fn new(code: &'a str) -> Self {
        Self {
            code,
            bytes: code.as_bytes(),
            at: 0,
            open: Vec::new(),
            deepest: 0,
            tokens: 0,
            prefixes: 0,
            slash: Slash::Regex,
            dot: false,
            head: false,
        }
    }

    fn run(&mut self) -> Result<(), Problem> {
        if self.rest().starts_with(b"#!") {
            self.skip_line();
        }
        while let Some(&byte) = self.bytes.get(self.at) {
            let space = self.space();
            match byte {
                _ if space > 0 => self.at += space,
                b'/' if self.rest().starts_with(b"//") => self.skip_line(),
                b'/' if self.rest().starts_with(b"/*") => self.skip_block_comment(),
                _ => {
                    self.tokens += 1;
                    if !self.token(byte)? {
                        return self.count_blindly();
                    }
                }
            }
        }
        Ok(())
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at.min(self.bytes.len())..]
    }

    /// The length of the white space that is next; scripts know more of it than ASCII has.
    fn space(&self) -> usize {
        let next = self.code.get(self.at..).and_then(|rest| rest.chars().next());
        next.filter(|&c| c.is_whitespace() || c == '\u{feff}').map_or(0, char::len_utf8)
    }

    /// One token; `false` where only a grammar could go on.
    fn token(&mut self, byte: u8) -> Result<bool, Problem> {
        let (dot, head) = (std::mem::take(&mut self.dot), std::mem::take(&mut self.head));
        let prefixes = std::mem::take(&mut self.prefixes);
        match byte {
            b'(' if head => self.enter(Open::Header, 1),
            b'(' => self.enter(Open::Round, 1),
            b'[' => self.enter(Open::Square, 1),
            b'{' => self.enter(Open::Curly, 1),
            b')' | b']' | b'}' => self.leave(byte),
            b'\'' | b'"' => Ok(self.string(byte)),
            b'`' => {
                self.at += 1;
                self.template()
            }
            b'/' => Ok(match self.slash {
                Slash::Division => self.operator(1),
                Slash::Regex => self.regex(),
                Slash::Doubt => false,
            }),
            b'0'..=b'9' => Ok(self.number()),
            _ if is_word(byte) => self.word(dot, prefixes),
            _ => self.punctuation(byte, prefixes),
        }
    }

    fn enter(&mut self, open: Open, width: usize) -> Result<bool, Problem> {
        self.open.push(open);
        self.deepest = self.deepest.max(self.open.len());
        if self.open.len() > MAX_DEPTH {
            return Err(self.too_deep(width));
        }
        Ok(self.operator(width))
    }

    fn too_deep(&self, width: usize) -> Problem {
        limit(
            self.at..self.at + width,
            format!("the code is nested more than {MAX_DEPTH} levels deep"),
        )
    }

    fn leave(&mut self, byte: u8) -> Result<bool, Problem> {
        let (fits, slash) = match (self.open.pop(), byte) {
            (Some(Open::Hole), b'}') => {
                self.at += 1;
                return self.template();
            }
            (Some(Open::Header), b')') => (true, Slash::Doubt),
            (Some(Open::Round), b')') | (Some(Open::Square), b']') => (true, Slash::Division),
            (Some(Open::Curly), b'}') => (true, Slash::Doubt),
            _ => (false, Slash::Doubt),
        };
        self.at += usize::from(fits);
        self.slash = slash;
        Ok(fits)
    }

    fn operator(&mut self, width: usize) -> bool {
        self.at += width;
        self.slash = Slash::Regex;
        true
    }

    fn string(&mut self, quote: u8) -> bool {
        let mut bytes = self.rest().iter().enumerate().skip(1);
        while let Some((index, &byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'\n' | b'\r' => return false,
                _ if byte == quote => {
                    self.at += index + 1;
                    self.slash = Slash::Division;
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// The text of a template up to its end or its next hole.
    fn template(&mut self) -> Result<bool, Problem> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    self.slash = Slash::Division;
                    return Ok(true);
                }
                b'$' if self.rest().starts_with(b"${") => return self.enter(Open::Hole, 2),
                _ => self.at += 1,
            }
        }
        Ok(true)
    }

    /// Its groups nest too: each counts as a token.
    fn regex(&mut self) -> bool {
        let mut class = false;
        let mut bytes = self.rest().iter().enumerate().skip(1);
        while let Some((index, &byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'\n' | b'\r' => return false,
                b'/' if !class => {
                    self.at += index + 1;
                    self.skip_word();
                    self.slash = Slash::Division;
                    return true;
                }
                b'(' | b'[' => {
                    self.tokens += 1;
                    class |= byte == b'[';
                }
                b']' => class = false,
                _ => {}
            }
        }
        false
    }

    fn number(&mut self) -> bool {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|&b| is_word(b) || b == b'.') {
            self.at += 1;
        }
        let plain = is_plain_number(&self.bytes[start..self.at]);
        self.slash = if plain { Slash::Division } else { Slash::Doubt };
        true
    }

    fn word(&mut self, dot: bool, prefixes: usize) -> Result<bool, Problem> {
        let start = self.at;
        self.skip_word();
        let word = &self.bytes[start..self.at];
        self.slash =
            if dot && word.iter().all(u8::is_ascii) { Slash::Division } else { slash_after(word) };
        self.head = matches!(word, b"if" | b"for" | b"while" | b"with" | b"await");
        match word {
            b"await" | b"yield" | b"typeof" | b"void" | b"delete" | b"new" | b"do" => {
                self.prefix(prefixes)
            }
            _ => Ok(true),
        }
    }

    fn punctuation(&mut self, byte: u8, prefixes: usize) -> Result<bool, Problem> {
        let rest = self.rest();
        if rest.starts_with(b"<!--") || rest.starts_with(b"-->") || !byte.is_ascii_graphic() {
            return Ok(false);
        }
        self.dot = byte == b'.' && !rest.starts_with(b"..");
        let twice = rest.starts_with(b"++") || rest.starts_with(b"--");
        self.operator(if twice {
            2
        } else if rest.starts_with(b"...") {
            3
        } else {
            1
        });
        if twice {
            self.slash = Slash::Doubt;
        }
        match byte {
            b'!' | b'~' | b'+' | b'-' | b'*' => self.prefix(prefixes),
            _ => Ok(true),
        }
    }

    fn prefix(&mut self, before: usize) -> Result<bool, Problem> {
        self.prefixes = before + 1;
        if self.prefixes > MAX_PREFIXES {
            let message = format!("more than {MAX_PREFIXES} operators in front of one operand");
            return Err(limit(self.at - 1..self.at, message));
        }
        Ok(true)
    }

    fn skip_word(&mut self) {
        while self.bytes.get(self.at).is_some_and(|&b| is_word(b)) && self.space() == 0 {
            self.at += 1;
        }
    }

    /// U+2028 and U+2029 end a line too.
    fn skip_line(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            let separator = self.rest().starts_with(b"\xe2\x80\xa8")
                || self.rest().starts_with(b"\xe2\x80\xa9");
            if byte == b'\n' || byte == b'\r' || separator {
                break;
            }
            self.at += 1;
        }
    }

    fn skip_block_comment(&mut self) {
        let end = self.rest()[2..].windows(2).position(|pair| pair == b"*/");
        self.at = end.map_or(self.bytes.len(), |index| self.at + 2 + index + 2);
    }

    /// From here on every bracket may be an opening one, and every byte that is not part of a word
    /// a token.
    fn count_blindly(&mut self) -> Result<(), Problem> {
        let depth = self.open.len();
        let mut brackets = 0;
        let mut in_word = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            brackets += usize::from(matches!(byte, b'(' | b'[' | b'{'));
            if brackets > MAX_BLIND {
                return Err(self.too_deep(1));
            }
            let word = is_word(byte) && byte.is_ascii();
            let goes_on = word && in_word;
            self.tokens += usize::from(!byte.is_ascii_whitespace() && !goes_on);
            in_word = word;
            self.at += 1;
        }
        self.deepest = self.deepest.max(depth + brackets);
        Ok(())
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'\\') || !byte.is_ascii()
}

fn is_plain_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'_'));
    match text {
        [b'0', b'x' | b'X', hex @ ..] => hex.iter().all(u8::is_ascii_hexdigit),
        [all @ .., b'n'] if digits(all) => true,
        _ => {
            text.split(|&b| b == b'e' || b == b'E').count() <= 2
                && text.split(|&b| b == b'e' || b == b'E').all(digits)
        }
    }
}

fn slash_after(word: &[u8]) -> Slash {
    match word {
        b"return" | b"typeof" | b"instanceof" | b"in" | b"delete" | b"void" | b"throw" | b"new"
        | b"case" | b"do" | b"else" | b"extends" => Slash::Regex,
        b"yield" | b"await" | b"of" | b"let" | b"async" | b"get" | b"set" | b"static"
        | b"default" | b"break" | b"continue" | b"debugger" | b"accessor" | b"using" => {
            Slash::Doubt
        }
        _ if word.iter().all(|&b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$') => {
            Slash::Division
        }
        _ => Slash::Doubt,
    }
}
