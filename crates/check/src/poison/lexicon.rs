//! Finds the words of all languages in a folded text, in one pass and without an automaton: a phrase is looked up
//! by its first word, a stem by its first letters, a word of a script without spaces by its first character.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::plain::{Plain, fold_word};
use super::words::{Concepts, LANGUAGES, LITERAL, NAME};

/// Where a concept was found in a folded text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) concepts: Concepts,
}

/// An entry that begins as its key says.
struct Entry {
    /// What follows the key.
    rest: Box<str>,
    /// Whether a word must end where the entry does.
    ends: bool,
    concepts: Concepts,
}

type Map<K> = HashMap<K, Vec<Entry>, BuildHasherDefault<Quick>>;

struct Lexicon {
    /// By the first word.
    words: Map<Box<[u8]>>,
    /// Stems, by their first bytes.
    stems: Map<u32>,
    /// Signs and words of scripts without spaces, by the first character.
    chars: Map<char>,
    /// Whether an entry begins with this ASCII sign.
    signs: [bool; 128],
}

/// Bytes by which stems are filed: two letters in the scripts that need most.
const STEM: usize = 4;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::build);

impl Lexicon {
    fn build() -> Self {
        let mut lexicon = Self {
            words: Map::with_capacity_and_hasher(8192, BuildHasherDefault::default()),
            stems: Map::default(),
            chars: Map::default(),
            signs: [false; 128],
        };
        for &(concepts, words) in LANGUAGES.iter().copied().flatten() {
            words.split('|').for_each(|word| lexicon.add(word, concepts));
        }
        lexicon
    }

    fn add(&mut self, word: &str, concepts: Concepts) {
        let stem = word.strip_suffix('*');
        let folded = fold_word(stem.unwrap_or(word));
        let first = folded.chars().next().expect("no entry is empty");
        let ends = stem.is_none() && folded.chars().next_back().is_some_and(is_spaced);
        let entry = |key: usize| Entry { rest: folded[key..].into(), ends, concepts };
        if !is_spaced(first) {
            if first.is_ascii() {
                self.signs[first as usize] = true;
            }
            push(self.chars.entry(first).or_default(), entry(first.len_utf8()));
            return;
        }
        let len = word_len(&folded);
        if stem.is_some() && len == folded.len() {
            push(self.stems.entry(stem_key(folded.as_bytes())).or_default(), entry(0));
        } else {
            push(self.words.entry(folded.as_bytes()[..len].into()).or_default(), entry(len));
        }
    }
}

fn push(entries: &mut Vec<Entry>, entry: Entry) {
    match entries.iter_mut().find(|other| other.rest == entry.rest && other.ends == entry.ends) {
        Some(other) => other.concepts |= entry.concepts,
        None => entries.push(entry),
    }
}

fn stem_key(word: &[u8]) -> u32 {
    let mut key = [0; STEM];
    let len = word.len().min(STEM);
    key[..len].copy_from_slice(&word[..len]);
    u32::from_le_bytes(key)
}

/// Letters of scripts that put spaces between words.
pub(super) fn is_spaced(c: char) -> bool {
    match c {
        _ if c.is_ascii() => c.is_ascii_alphanumeric() || c == '_',
        // Vowel signs of Indic scripts belong to their word; the danda ends a sentence.
        '\u{900}'..='\u{DFF}' => !matches!(c, '\u{964}' | '\u{965}'),
        _ => c.is_alphanumeric() && !is_unspaced(c),
    }
}

/// Han, kana, Hangul, Thai: what is looked for may stand inside a run of letters.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{E00}'..='\u{EFF}' | '\u{1100}'..='\u{11FF}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// Bytes of the word that begins here.
fn word_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ascii = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    match bytes.get(ascii) {
        Some(byte) if !byte.is_ascii() => text.find(|c| !is_spaced(c)).unwrap_or(text.len()),
        _ => ascii,
    }
}

/// Every concept of the text, in the order in which they begin.
pub(super) fn tokens(plain: &Plain<'_>) -> Vec<Token> {
    let lexicon = &*LEXICON;
    let text = plain.text.as_str();
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(16);
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() && byte != b'_' {
            if lexicon.signs[byte as usize] {
                find_char(lexicon, text, at, char::from(byte), &mut tokens);
            }
            at += 1;
            continue;
        }
        let len = word_len(&text[at..]);
        if len > 0 {
            find_word(lexicon, text, at, len, &mut tokens);
            if plain.is_camel(&(at..at + len)) {
                tokens.push(Token { start: at, end: at + len, concepts: NAME });
            }
            if plain.is_loose(at) {
                find_inside(lexicon, text, at, len, &mut tokens);
            }
            at += len;
            continue;
        }
        let c = text[at..].chars().next().expect("at is inside");
        find_char(lexicon, text, at, c, &mut tokens);
        at += c.len_utf8();
    }
    tokens
}

fn find_word(lexicon: &Lexicon, text: &str, start: usize, len: usize, tokens: &mut Vec<Token>) {
    let word = &text.as_bytes()[start..start + len];
    if let Some(entries) = lexicon.words.get(word) {
        for entry in entries {
            let end = start + len + entry.rest.len();
            if text[start + len..].starts_with(&*entry.rest) && !(entry.ends && goes_on(text, end)) {
                tokens.push(Token { start, end, concepts: entry.concepts });
            }
        }
    }
    if let Some(entries) = lexicon.stems.get(&stem_key(word)) {
        for entry in entries.iter().filter(|entry| word.starts_with(entry.rest.as_bytes())) {
            tokens.push(Token { start, end: start + len, concepts: entry.concepts });
        }
    }
    if word.contains(&b'_') && len > 2 {
        tokens.push(Token { start, end: start + len, concepts: NAME });
    } else if is_account(word) {
        tokens.push(Token { start, end: start + len, concepts: LITERAL });
    }
}

/// `DE00…`: a country and a checksum, as account numbers begin.
fn is_account(word: &[u8]) -> bool {
    word.len() >= 4 && word[..2].iter().all(u8::is_ascii_lowercase) && word[2..].iter().all(u8::is_ascii_digit)
}

fn find_char(lexicon: &Lexicon, text: &str, start: usize, c: char, tokens: &mut Vec<Token>) {
    let Some(entries) = lexicon.chars.get(&c) else { return };
    let rest = start + c.len_utf8();
    for entry in entries {
        let end = rest + entry.rest.len();
        if text[rest..].starts_with(&*entry.rest) && !(entry.ends && goes_on(text, end)) {
            tokens.push(Token { start, end, concepts: entry.concepts });
        }
    }
}

/// In a word that was spelled out and may be several, every part is tried.
fn find_inside(lexicon: &Lexicon, text: &str, start: usize, len: usize, tokens: &mut Vec<Token>) {
    let word = &text.as_bytes()[start..start + len];
    for from in 0..len {
        for to in from + 3..=len.min(from + 14) {
            let Some(entries) = lexicon.words.get(&word[from..to]) else { continue };
            for entry in entries.iter().filter(|entry| entry.rest.is_empty()) {
                tokens.push(Token { start: start + from, end: start + to, concepts: entry.concepts });
            }
        }
    }
}

fn goes_on(text: &str, at: usize) -> bool {
    match text.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric() || *byte == b'_',
        _ => text[at..].chars().next().is_some_and(is_spaced),
    }
}

/// A hash for short keys. Only the lexicon's own words are stored, so nobody can choose them to collide.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517C_C1B7_2722_0A95);
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}
