//! Bounds on the size and nesting of code, checked before any parser runs.
//!
//! The parser recurses once per nested bracket, and on some inputs its time grows with the square
//! of their number. One pass over the bytes bounds both.
//!
//! The pass tells strings, comments, templates and regular expressions from code as a parser would,
//! because a bracket in a string does not nest. Some places need a full grammar, above all the
//! question whether a `/` divides or starts a regular expression. There the pass does not guess:
//! from such a place on it counts every bracket as an opening one, up to
//! [`MAX_UNCERTAIN_BRACKETS`]. So the measured size is always an upper bound, and code cannot hide
//! its nesting.

use std::ops::Range;

use crate::{SyntaxProblem, SyntaxProblemKind};

/// The longest code that is read, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// The deepest nesting of brackets that is read.
pub const MAX_DEPTH: usize = 200;

/// The most tokens (words, literals, operators, brackets) that are read; about 400 KB of ordinary
/// code.
pub const MAX_TOKENS: usize = 100_000;

/// The longest run of prefix operators (`!!!!x`, `await await x`).
const MAX_PREFIXES: usize = 100;

/// The most brackets after a place that only a grammar could read. Far more than real code has, and
/// few enough that the stack for them as nesting can be allocated.
const MAX_UNCERTAIN_BRACKETS: usize = 2_000;

/// How much there is to recurse on. Both numbers are upper bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeSize {
    /// Levels of nested brackets.
    pub(crate) depth: usize,
    /// Words, literals, operators and brackets, and groups of regular expressions.
    pub(crate) tokens: usize,
}

/// The size of the code.
///
/// # Errors
/// A problem of kind `Limit` that names the bound which the code exceeds.
pub(crate) fn measure(code: &str) -> Result<CodeSize, SyntaxProblem> {
    if code.len() > MAX_BYTES {
        return Err(limit(
            0..0,
            format!("the code has {} bytes, more than {MAX_BYTES}", code.len()),
        ));
    }
    let mut scan = SizeScanner::new(code);
    scan.run()?;
    if scan.tokens > MAX_TOKENS {
        return Err(limit(
            0..0,
            format!("the code has more than {MAX_TOKENS} words and operators"),
        ));
    }
    Ok(CodeSize { depth: scan.deepest, tokens: scan.tokens })
}

fn limit(range: Range<usize>, message: String) -> SyntaxProblem {
    SyntaxProblem { kind: SyntaxProblemKind::Limit, message, range, help: None }
}

/// What a `/` after the last token would be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlashMeaning {
    Division,
    Regex,
    /// Only a grammar could decide: after `}` or `)` of an `if`, for example.
    Uncertain,
}

/// A bracket that is not closed yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenBracket {
    /// `(` after `if`, `for`, `while`, `with`. A statement follows its end, so a `/` there may
    /// start a regular expression.
    Header,
    Round,
    Square,
    Curly,
    /// `${` of a template.
    TemplateHole,
}

/// One pass over the code, token by token.
struct SizeScanner<'a> {
    code: &'a str,
    bytes: &'a [u8],
    /// The byte that is looked at next.
    at: usize,
    open: Vec<OpenBracket>,
    /// The most brackets that were open at once.
    deepest: usize,
    tokens: usize,
    /// Prefix operators in a row just before this byte.
    prefixes: usize,
    slash: SlashMeaning,
    /// Whether the last token was a `.`, which makes the next word a property: `a.if / b` divides.
    dot: bool,
    /// Whether the last token was a keyword whose parentheses are the head of a statement.
    head: bool,
}

impl<'a> SizeScanner<'a> {
    fn new(code: &'a str) -> Self {
        Self {
            code,
            bytes: code.as_bytes(),
            at: 0,
            open: Vec::new(),
            deepest: 0,
            tokens: 0,
            prefixes: 0,
            slash: SlashMeaning::Regex,
            dot: false,
            head: false,
        }
    }

    /// Scans the code to its end, or to the first bound that it exceeds.
    fn run(&mut self) -> Result<(), SyntaxProblem> {
        // A line for the shell (ECMA-262, Hashbang Comments).
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
                        return self.count_without_grammar();
                    }
                }
            }
        }
        Ok(())
    }

    /// The bytes from here on. `at` may lie beyond the end, after a `\\` as the last byte.
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at.min(self.bytes.len())..]
    }

    /// The length in bytes of the white space character that is next, 0 if there is none.
    /// JavaScript has more of it than ASCII: every space of Unicode, and the byte order mark.
    fn space(&self) -> usize {
        let next = self.code.get(self.at..).and_then(|rest| rest.chars().next());
        next.filter(|&c| c.is_whitespace() || c == '\u{feff}').map_or(0, char::len_utf8)
    }

    /// Reads one token. `false` where only a grammar could go on.
    fn token(&mut self, byte: u8) -> Result<bool, SyntaxProblem> {
        let (dot, head) = (std::mem::take(&mut self.dot), std::mem::take(&mut self.head));
        let prefixes = std::mem::take(&mut self.prefixes);
        match byte {
            b'(' if head => self.enter(OpenBracket::Header, 1),
            b'(' => self.enter(OpenBracket::Round, 1),
            b'[' => self.enter(OpenBracket::Square, 1),
            b'{' => self.enter(OpenBracket::Curly, 1),
            b')' | b']' | b'}' => self.leave(byte),
            b'\'' | b'"' => Ok(self.string(byte)),
            b'`' => {
                self.at += 1;
                self.template()
            }
            b'/' => Ok(match self.slash {
                SlashMeaning::Division => self.operator(1),
                SlashMeaning::Regex => self.regex(),
                SlashMeaning::Uncertain => false,
            }),
            b'0'..=b'9' => Ok(self.number()),
            _ if is_word(byte) => self.word(dot, prefixes),
            _ => self.punctuation(byte, prefixes),
        }
    }

    /// Reads an opening bracket of `width` bytes.
    fn enter(&mut self, open: OpenBracket, width: usize) -> Result<bool, SyntaxProblem> {
        self.open.push(open);
        self.deepest = self.deepest.max(self.open.len());
        if self.open.len() > MAX_DEPTH {
            return Err(self.too_deep(width));
        }
        Ok(self.operator(width))
    }

    /// The problem with one bracket too many.
    fn too_deep(&self, width: usize) -> SyntaxProblem {
        limit(
            self.at..self.at + width,
            format!("the code is nested more than {MAX_DEPTH} levels deep"),
        )
    }

    /// Reads a closing bracket. `false` if it does not fit the one that is open.
    fn leave(&mut self, byte: u8) -> Result<bool, SyntaxProblem> {
        let (fits, slash) = match (self.open.pop(), byte) {
            (Some(OpenBracket::TemplateHole), b'}') => {
                self.at += 1;
                return self.template();
            }
            // `if (a) /x/.test(b)` starts a regular expression, `a.if(b) / c` divides.
            (Some(OpenBracket::Header), b')') => (true, SlashMeaning::Uncertain),
            (Some(OpenBracket::Round), b')') | (Some(OpenBracket::Square), b']') => {
                (true, SlashMeaning::Division)
            }
            // The end of a block is followed by a statement, that of an object by an operator.
            (Some(OpenBracket::Curly), b'}') => (true, SlashMeaning::Uncertain),
            // The brackets do not match: the parser's recovery may do anything from here on.
            _ => (false, SlashMeaning::Uncertain),
        };
        self.at += usize::from(fits);
        self.slash = slash;
        Ok(fits)
    }

    /// Skips an operator or bracket; an operand follows, so a `/` starts a regular expression.
    fn operator(&mut self, width: usize) -> bool {
        self.at += width;
        self.slash = SlashMeaning::Regex;
        true
    }

    /// Skips a string. `false` if it is not closed on its line: then the code is wrong, and the
    /// parser may read on from anywhere.
    fn string(&mut self, quote: u8) -> bool {
        let mut bytes = self.rest().iter().enumerate().skip(1);
        while let Some((index, &byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'\n' | b'\r' => return false,
                _ if byte == quote => {
                    self.at += index + 1;
                    self.slash = SlashMeaning::Division;
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// Skips the text of a template up to its end or to the next `${`.
    fn template(&mut self) -> Result<bool, SyntaxProblem> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    self.slash = SlashMeaning::Division;
                    return Ok(true);
                }
                b'$' if self.rest().starts_with(b"${") => {
                    return self.enter(OpenBracket::TemplateHole, 2);
                }
                _ => self.at += 1,
            }
        }
        Ok(true)
    }

    /// Skips a regular expression. The parser recurses on its groups and classes, so each counts as
    /// a token.
    fn regex(&mut self) -> bool {
        let mut class = false;
        let mut bytes = self.rest().iter().enumerate().skip(1);
        while let Some((index, &byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                // Not a regular expression after all, or an error.
                b'\n' | b'\r' => return false,
                // A `/` in a class does not end it: `/[/]/`.
                b'/' if !class => {
                    self.at += index + 1;
                    self.skip_word();
                    self.slash = SlashMeaning::Division;
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

    /// Skips a number. `3in` is a number and a word, which only a grammar tells.
    fn number(&mut self) -> bool {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|&b| is_word(b) || b == b'.') {
            self.at += 1;
        }
        let plain = is_plain_number(&self.bytes[start..self.at]);
        self.slash = if plain { SlashMeaning::Division } else { SlashMeaning::Uncertain };
        true
    }

    /// Skips a word and notes what may follow it.
    fn word(&mut self, dot: bool, prefixes: usize) -> Result<bool, SyntaxProblem> {
        let start = self.at;
        self.skip_word();
        let word = &self.bytes[start..self.at];
        self.slash = if dot && word.iter().all(u8::is_ascii) {
            SlashMeaning::Division
        } else {
            slash_after(word)
        };
        self.head = matches!(word, b"if" | b"for" | b"while" | b"with" | b"await");
        match word {
            b"await" | b"yield" | b"typeof" | b"void" | b"delete" | b"new" | b"do" => {
                self.prefix(prefixes)
            }
            _ => Ok(true),
        }
    }

    /// Skips an operator. `false` for old HTML comments and characters that start no token.
    fn punctuation(&mut self, byte: u8, prefixes: usize) -> Result<bool, SyntaxProblem> {
        let rest = self.rest();
        if rest.starts_with(b"<!--") || rest.starts_with(b"-->") || !byte.is_ascii_graphic() {
            return Ok(false);
        }
        self.dot = byte == b'.' && !rest.starts_with(b"..");
        let is_doubled = rest.starts_with(b"++") || rest.starts_with(b"--");
        self.operator(if is_doubled {
            2
        } else if rest.starts_with(b"...") {
            3
        } else {
            1
        });
        // `a++ / b` divides, `++/x/.y` does not.
        if is_doubled {
            self.slash = SlashMeaning::Uncertain;
        }
        match byte {
            b'!' | b'~' | b'+' | b'-' | b'*' => self.prefix(prefixes),
            _ => Ok(true),
        }
    }

    /// Counts one more prefix operator: the parser recurses on each, without any bracket.
    fn prefix(&mut self, before: usize) -> Result<bool, SyntaxProblem> {
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

    /// Skips a comment up to the end of its line. U+2028 and U+2029 end a line too (ECMA-262).
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

    /// Counts the rest without telling strings from code: every bracket may open a level, and every
    /// byte outside of words may be a token.
    fn count_without_grammar(&mut self) -> Result<(), SyntaxProblem> {
        let depth = self.open.len();
        let mut brackets = 0;
        let mut in_word = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            brackets += usize::from(matches!(byte, b'(' | b'[' | b'{'));
            if brackets > MAX_UNCERTAIN_BRACKETS {
                return Err(self.too_deep(1));
            }
            // A letter beyond ASCII may be a separator such as U+2028, so it is not part of a word.
            let word = is_word(byte) && byte.is_ascii();
            let goes_on = word && in_word;
            self.tokens += usize::from(!byte.is_ascii_whitespace() && !goes_on);
            in_word = word;
            self.at += 1;
        }
        // As if none of them were ever closed.
        self.deepest = self.deepest.max(depth + brackets);
        Ok(())
    }
}

/// Whether a byte can be part of an identifier, `\u{61}` and letters beyond ASCII included.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'\\') || !byte.is_ascii()
}

/// Whether the text is one number and nothing else.
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

/// What a `/` after this word means: keywords before an operand are followed by a regular
/// expression, contextual keywords may be names, and names are divided.
fn slash_after(word: &[u8]) -> SlashMeaning {
    match word {
        b"return" | b"typeof" | b"instanceof" | b"in" | b"delete" | b"void" | b"throw" | b"new"
        | b"case" | b"do" | b"else" | b"extends" => SlashMeaning::Regex,
        b"yield" | b"await" | b"of" | b"let" | b"async" | b"get" | b"set" | b"static"
        | b"default" | b"break" | b"continue" | b"debugger" | b"accessor" | b"using" => {
            SlashMeaning::Uncertain
        }
        _ if word.iter().all(|&b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$') => {
            SlashMeaning::Division
        }
        _ => SlashMeaning::Uncertain,
    }
}
