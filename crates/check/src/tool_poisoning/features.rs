//! What the scorer sees of a normalised text: tokens, windows of sentences, and their features.
//!
//! ```text
//! "do not tell the user"
//!  do · not · tell · …          Word   a token
//!  instr*                       Stem   the first five letters of a longer word
//!  do not · not tell · …        Pair   two neighbours
//!  do … tell · not … the · …    Skip   two tokens with another between them
//!  不要告                        Triple three characters of a script without spaces
//! ```
//!
//! Names with an underscore are `#name` in pairs, numbers are `#number`, URLs and paths are
//! `#address`, and what is quoted as an example is one token, `#quote`: a filter that lists "ignore
//! all rules" does not say it.
//!
//! A feature is identified by a hash of its tokens. Nothing here depends on a language or on which
//! features matter.
//!
//! The scorer and `fit` both use this file, so a change of a token or a feature changes what the
//! weights mean: fit them again. Hashes are part of `weights.bin`, too.

use std::collections::HashSet;
use std::ops::Range;

use super::near;

/// Letters of a stem. Enough to join the forms of most words (`instruct`, `instruction`).
const STEM: usize = 5;
/// Bytes of a quotation that are skipped as an example at most. Shorter ones are names and values.
const QUOTE: Range<usize> = 8..200;
/// Bytes of an address at most; what follows is read as words.
const MAX_ADDRESS: usize = 300;
/// Bytes up to which a quotation is skipped wherever it stands. That is about eight words.
const SHORT_QUOTE: usize = 48;

/// A word, a sign, or a character of a script without spaces.
///
/// Hashes are computed once, because each token takes part in several features.
#[derive(Debug, Clone)]
pub(super) struct Token<'t> {
    /// What it counts as beside others: itself, or a placeholder such as `#name`.
    pub(super) class: &'t str,
    /// Bytes of the normalised text.
    pub(super) range: Range<usize>,
    /// Whether a sentence ends with it.
    ends_sentence: bool,
    /// Of the word, for `Word`; of the class, for features of several tokens; of the stem. By
    /// index: the word, the class, the stem.
    hashes: [u64; 3],
}

/// A name of a tool or field, recognised by its underscore.
pub(super) const NAME: &str = "#name";
/// The name of a tool of the same server.
pub(super) const OWN_NAME: &str = "#own";
const NUMBER: &str = "#number";
const QUOTED: &str = "#quote";
const ADDRESS: &str = "#address";

impl<'t> Token<'t> {
    fn new(word: &'t str, class: &'t str, start: usize, len: usize) -> Self {
        let hashes = if word == class {
            let (hash, stem) = hashes(word);
            [hash, hash, stem]
        } else {
            [hash(word), hash(class), hash(class)]
        };
        Self { class, range: start..start + len, ends_sentence: false, hashes }
    }

    pub(super) fn ends_sentence(&self) -> bool {
        self.ends_sentence
    }

    /// Whether it is a quotation that counts as an example.
    pub(super) fn is_quotation(&self) -> bool {
        self.class == QUOTED
    }

    /// Whether it is a URL or a path.
    pub(super) fn is_address(&self) -> bool {
        self.class == ADDRESS
    }

    /// Whether it is punctuation.
    pub(super) fn is_sign(&self) -> bool {
        !self.class.starts_with(|c: char| c.is_alphanumeric() || c == '#' || c == '_')
    }

    /// Whether it is a character of a script without spaces.
    pub(super) fn is_unspaced(&self) -> bool {
        self.class.chars().next().is_some_and(is_unspaced_letter)
    }
}

/// The tokens of a normalised text. `own_tools` are names, in lower case, of tools of the same
/// server.
///
/// One pass. A quotation or an address is skipped as a whole; each of both is bounded in bytes, so
/// that the text is read a bounded number of times. White space is no token, but a line break ends
/// a sentence.
pub(super) fn tokens<'t>(text: &'t str, own_tools: &HashSet<String>) -> Vec<Token<'t>> {
    let mut tokens: Vec<Token<'t>> = Vec::with_capacity(text.len() / 4);
    // Most words are as long as no name, and need not be looked up.
    let bit = |len: usize| 1u64 << len.min(63);
    let name_lengths = own_tools.iter().fold(0, |lengths, name| lengths | bit(name.len()));
    let mut sentence = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let len = match word_len(&text[at..]) {
            0 => c.len_utf8(),
            len => len,
        };
        let word = &text[at..at + len];
        if c.is_whitespace() {
            if c == '\n' {
                sentence = at;
                tokens.last_mut().into_iter().for_each(|last| last.ends_sentence = true);
            }
        } else if let Some(quote) = quotation_len(text, at, sentence) {
            tokens.push(Token::new(QUOTED, QUOTED, at, quote));
            at += quote;
            continue;
        } else if let Some(address) = address_len(text, at, len) {
            tokens.push(Token::new(ADDRESS, ADDRESS, at, address));
            at += address;
            continue;
        } else {
            let class = match word {
                _ if word.bytes().all(|byte| byte.is_ascii_digit()) => NUMBER,
                _ if name_lengths & bit(len) != 0 && own_tools.contains(word) => OWN_NAME,
                _ if len > 2 && word.contains('_') => NAME,
                _ => word,
            };
            let word = if class == NUMBER || class == OWN_NAME { class } else { word };
            tokens.push(Token::new(word, class, at, len));
            let next = text.as_bytes().get(at + len);
            if matches!(c, '。' | '！' | '？')
                || matches!(c, '.' | '!' | '?') && next.is_none_or(u8::is_ascii_whitespace)
            {
                sentence = at;
                tokens.last_mut().into_iter().for_each(|last| last.ends_sentence = true);
            }
        }
        at += len;
    }
    tokens
}

/// Bytes of the URL or the path that begins here, if one does: `len` bytes that are followed by
/// `://`, or two or more parts that each begin with a slash. `len` is that of the token at `at`.
///
/// A slash inside a word, as in `and/or`, begins no path: a path needs two slashes and a start of
/// its own.
fn address_len(text: &str, at: usize, len: usize) -> Option<usize> {
    let is_word = text[at..].starts_with(char::is_alphanumeric);
    let is_url = is_word && text[at + len..].starts_with("://");
    if !is_url && !text[at..].starts_with('/') {
        return None;
    }
    let near = near(text, at, MAX_ADDRESS);
    let is_end = |c: char| c.is_whitespace() || "()[]<>\"'`,;，。、；（）「」”“".contains(c);
    let run = &near[..near.find(is_end).unwrap_or(near.len())];
    let run = run.trim_end_matches(['.', ':', '?', '!', '*']);
    let begins_word = || !text[..at].ends_with(char::is_alphanumeric);
    let is_path = || run.len() > 4 && run[1..].contains('/') && begins_word();
    (is_url || is_path()).then_some(run.len())
}

/// Bytes of a quotation that begins here and is an example, a name or a value. A long one must be
/// announced in its sentence, or an attack would only have to be put in quotation marks.
///
/// ```text
/// filters such as "ignore all previous rules"     skipped: announced
/// "ignore all previous rules" as the whole text   read: the quotation is the text
/// set `mode` to "fast"                            read: shorter than QUOTE.start
/// ```
fn quotation_len(text: &str, at: usize, sentence: usize) -> Option<usize> {
    let open = text[at..].chars().next()?;
    let close: &[char] = match open {
        '"' | '`' | '\'' => &[open],
        '“' | '„' => &['”', '“'],
        '«' => &['»'],
        '「' => &['」'],
        '『' => &['』'],
        _ => return None,
    };
    let is_inside_word = |at: usize| {
        let before = text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = text[at + 1..].chars().next().is_some_and(char::is_alphanumeric);
        (before, after)
    };
    if open == '\'' && is_inside_word(at).0 {
        return None;
    }
    let from = at + open.len_utf8();
    let end = near(text, from, QUOTE.end)
        .match_indices(close)
        .find(|(len, mark)| *mark != "'" || !is_inside_word(from + len).1)
        .map(|(len, mark)| from + len + mark.len())?;
    let len = end - at;
    // A quotation that is most of the text is the text.
    let is_value = || len <= SHORT_QUOTE && 5 * len < 3 * text.len();
    let is_example = || announces_example(&text[sentence..at]);
    (QUOTE.contains(&len) && (is_value() || is_example())).then_some(len)
}

/// Whether examples follow a text, by the last words of it.
///
/// The words are in lower case, as the normalised text is, and in the languages of the collections
/// that the weights are fitted to. Only the last 160 bytes are looked at.
pub(super) fn announces_example(before: &str) -> bool {
    const CUES: &[&str] = &[
        "such as",
        "e.g",
        "like",
        "example",
        "for instance",
        "detect",
        "phrase",
        "contain",
        "flag",
        "match",
        "injection",
        "looks for",
        "says",
        "z. b",
        "z.b",
        "wie ",
        "etwa",
        "beispiel",
        "exemple",
        "tel que",
        "telle",
        "comme",
        "ejemplo",
        "como",
        "tipo",
        "esempio",
        "come ",
        "exemplo",
        "например",
        "вроде",
        "типа",
        "例如",
        "比如",
        "诸如",
        "如“",
        "例えば",
        "など",
        "예:",
        "같은",
        "np.",
        "takich jak",
        "ornegin",
        "gibi",
        "bijvoorbeeld",
        "zoals",
    ];
    let near_end = before.floor_char_boundary(before.len().saturating_sub(160));
    CUES.iter().any(|cue| before[near_end..].contains(cue))
}

/// Windows of consecutive sentences, as indices of tokens: as many sentences as fit into `size`
/// tokens. A longer sentence is cut, or an attack could hide in one. Each window begins at least
/// half a window behind the one before, so that every token is in few of them.
///
/// ```text
/// sentences of 10, 20 and 30 tokens, size 40:  [0..30], then [30..60]
/// ```
///
/// Windows overlap, so that two short sentences which follow each other are in one of them.
pub(super) fn windows(tokens: &[Token<'_>], size: usize) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while start < tokens.len() {
        let (mut end, mut next) = (start, tokens.len());
        for at in start..tokens.len() {
            let is_too_long = at + 1 - end >= size;
            let ends = tokens[at].ends_sentence || at + 1 == tokens.len() || is_too_long;
            if at - start >= size && end > start {
                break;
            }
            if ends {
                end = at + 1;
                if end - start >= size / 2 && next == tokens.len() {
                    next = end;
                }
            }
        }
        if windows.last().is_none_or(|last| last.end < end) {
            windows.push(start..end);
        }
        if end == tokens.len() {
            break;
        }
        start = next.min(end);
    }
    windows
}

/// How the tokens of a feature stand to each other. Part of the key, by the order here: another
/// order needs another fit.
#[derive(Clone, Copy)]
enum FeatureKind {
    Word,
    Stem,
    Pair,
    Skip,
    Triple,
}

/// Calls `each` with the key of every feature of these tokens and the token that it begins with,
/// repeated ones repeatedly.
///
/// Two tokens are compared by class, so that a pair means the same for every name, number and
/// address. A token at the end has fewer features, because it has no neighbours behind it. Signs
/// have no `Word` of their own but take part in pairs.
pub(super) fn for_each_feature(tokens: &[Token<'_>], mut each: impl FnMut(usize, u64)) {
    use FeatureKind::{Pair, Skip, Stem, Triple, Word};
    for (first, token) in tokens.iter().enumerate() {
        let [word, class, stem] = token.hashes;
        let next = |n: usize| tokens.get(first + n).map(|token| token.hashes[1]);
        if !token.is_sign() {
            each(first, key(Word, &[word]));
        }
        if stem != class {
            each(first, key(Stem, &[stem]));
        }
        let Some(second) = next(1) else { continue };
        each(first, key(Pair, &[class, second]));
        let Some(third) = next(2) else { continue };
        each(first, key(Skip, &[class, third]));
        if token.is_unspaced() {
            each(first, key(Triple, &[class, second, third]));
        }
    }
}

/// FNV-1a. The texts are an attacker's, but a collision only exchanges one weight for another.
fn hash(text: &str) -> u64 {
    hashes(text).0
}

/// The hash of a word, and that of its stem.
fn hashes(word: &str) -> (u64, u64) {
    let (mut hash, mut stem, mut letters) = (0xcbf2_9ce4_8422_2325, None, 0);
    for byte in word.bytes() {
        // Every byte but those that continue a character begins a letter.
        if byte & 0xC0 != 0x80 {
            if letters == STEM {
                stem = Some(hash);
            }
            letters += 1;
        }
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash, stem.unwrap_or(hash))
}

/// The key of a feature: the kind is part of it, so that the pair `a b` is not the skip `a … b`.
/// Not a hash for security; see `hash`.
fn key(kind: FeatureKind, tokens: &[u64]) -> u64 {
    tokens.iter().fold(kind as u64, |key, token| {
        (key ^ token).wrapping_mul(0x517c_c1b7_2722_0a95).rotate_left(26)
    })
}

/// Whether a character is Han, kana, Hangul, Thai or Lao: each is a token of its own.
pub(super) fn is_unspaced_letter(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{EFF}' | '\u{1100}'..='\u{11FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// Bytes of the word that begins here; 0 if none does. Letters, digits and `_`. A character of a
/// script without spaces begins no word: `tokens` takes it alone.
fn word_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_word_byte = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let ascii = bytes.iter().take_while(is_word_byte).count();
    let is_letter = |c: char| match c {
        _ if c.is_ascii() => c.is_ascii_alphanumeric() || c == '_',
        // Vowel signs of Indic scripts belong to their word; the danda ends a sentence.
        '\u{900}'..='\u{DFF}' => !matches!(c, '\u{964}' | '\u{965}'),
        _ => c.is_alphanumeric() && !is_unspaced_letter(c),
    };
    match bytes.get(ascii) {
        Some(byte) if !byte.is_ascii() => text.find(|c| !is_letter(c)).unwrap_or(text.len()),
        _ => ascii,
    }
}
