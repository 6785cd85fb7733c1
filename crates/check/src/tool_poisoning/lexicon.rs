//! The lexicon: the words of all languages, indexed so that one pass over a text finds them.
//!
//! There are some ten thousand entries, and every run of the checker builds the index anew, so it
//! must be cheap to build: maps, and no automaton. Each entry is stored in one of three maps, by
//! how it begins:
//!
//! ```text
//! entry                 map      key
//! "ignore"              words    hash of the word
//! "set aside the rest"  words    hash of the first two words, "set aside"
//! "penalt*"             stems    its first four bytes, "pena"
//! "忽略", ".ssh"         chars    its first character
//! ```
//!
//! A lookup compares only the rest of the entry, after its key, with the text. `concept_scan` does
//! the lookups.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::concepts::ConceptSet;
use super::normalize::fold_word;
use super::words::LANGUAGES;

/// An entry, without its key.
pub(super) struct LexiconEntry {
    /// What follows the key. Of a stem, which is compared as a whole, all of it.
    pub(super) rest: Box<str>,
    /// Whether a word must end where the entry does.
    pub(super) ends_word: bool,
    pub(super) concepts: ConceptSet,
}

/// The entries that share a key.
#[derive(Default)]
pub(super) struct LexiconBucket {
    pub(super) entries: Vec<LexiconEntry>,
    /// Whether phrases begin with this word. Only then are the first two words looked up.
    pub(super) begins_phrases: bool,
}

impl LexiconBucket {
    /// Adds an entry, or its concepts to an entry with the same spelling.
    fn add(&mut self, entry: LexiconEntry) {
        let same = |other: &&mut LexiconEntry| {
            other.rest == entry.rest && other.ends_word == entry.ends_word
        };
        match self.entries.iter_mut().find(same) {
            Some(other) => other.concepts |= entry.concepts,
            None => self.entries.push(entry),
        }
    }
}

type LexiconMap<K> = HashMap<K, LexiconBucket, BuildHasherDefault<LexiconHasher>>;

pub(super) struct Lexicon {
    /// Words by their hash, phrases by the hash of their first two words. The hash is not compared
    /// with the word afterwards: one word in 2^50 is taken for one of the lexicon by accident, and
    /// an author who constructs such a word only gets a false finding against himself.
    words: LexiconMap<u64>,
    /// Stems, by their first four bytes: two letters in Cyrillic, which has most stems.
    stems: LexiconMap<u32>,
    /// Signs and words of scripts without spaces, by their first character.
    chars: LexiconMap<char>,
    /// A Bloom filter with one bit per key of `words` and `stems`: most words of a text are in
    /// neither, and 8 KiB stay in the processor's cache.
    present: Box<[u64; 1024]>,
    /// Whether an entry begins with this ASCII sign.
    ascii_signs: [bool; 128],
}

/// Built when the first text is scanned.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::build);

impl Lexicon {
    fn build() -> Self {
        let mut lexicon = Self {
            words: LexiconMap::with_capacity_and_hasher(8192, BuildHasherDefault::default()),
            stems: LexiconMap::default(),
            chars: LexiconMap::default(),
            present: Box::new([0; 1024]),
            ascii_signs: [false; 128],
        };
        for &(concepts, words) in LANGUAGES.iter().copied().flatten() {
            words.split('|').for_each(|word| lexicon.add(word, concepts));
        }
        lexicon
    }

    /// The bucket of a word, or of the first two words of a phrase.
    pub(super) fn word(&self, hash: u64) -> Option<&LexiconBucket> {
        self.words.get(&hash)
    }

    /// The same for a hash that is most likely absent: asks the Bloom filter first.
    pub(super) fn word_if_present(&self, hash: u64) -> Option<&LexiconBucket> {
        if self.may_have(hash) { self.words.get(&hash) } else { None }
    }

    /// The bucket of the stems that may be a prefix of this word.
    pub(super) fn stems_of(&self, word: &[u8]) -> Option<&LexiconBucket> {
        let key = stem_key(word);
        if self.may_have(mix(0, key.into())) { self.stems.get(&key) } else { None }
    }

    /// The bucket of the entries that begin with this character.
    pub(super) fn char(&self, c: char) -> Option<&LexiconBucket> {
        self.chars.get(&c)
    }

    /// Whether an entry begins with this sign.
    pub(super) fn has_ascii_sign(&self, sign: u8) -> bool {
        self.ascii_signs[sign as usize]
    }

    fn mark_present(&mut self, hash: u64) {
        self.present[(hash >> 6) as usize % 1024] |= 1 << (hash % 64);
    }

    fn may_have(&self, hash: u64) -> bool {
        self.present[(hash >> 6) as usize % 1024] >> (hash % 64) & 1 == 1
    }

    /// Adds an entry as it is written in `words/`: see there for the syntax.
    fn add(&mut self, word: &str, concepts: ConceptSet) {
        let stem = word.strip_suffix('*');
        let folded = fold_word(stem.unwrap_or(word));
        let first = folded.chars().next().expect("no entry is empty");
        let ends_word = stem.is_none() && folded.chars().next_back().is_some_and(is_spaced_letter);
        let entry = |key: usize| LexiconEntry { rest: folded[key..].into(), ends_word, concepts };
        if !is_spaced_letter(first) {
            if first.is_ascii() {
                self.ascii_signs[first as usize] = true;
            }
            self.chars.entry(first).or_default().add(entry(first.len_utf8()));
            return;
        }
        let len = word_len(&folded);
        let pair = two_words_len(&folded, len);
        let first_word = hash(&folded.as_bytes()[..len]);
        if pair > len {
            // Thousands of phrases begin with `you` or `the`; few begin with the same two words.
            self.words.entry(first_word).or_default().begins_phrases = true;
            self.mark_present(first_word);
            self.words.entry(hash(&folded.as_bytes()[..pair])).or_default().add(entry(pair));
        } else if stem.is_some() && len == folded.len() {
            let key = stem_key(folded.as_bytes());
            self.mark_present(mix(0, key.into()));
            self.stems.entry(key).or_default().add(entry(0));
        } else {
            self.mark_present(first_word);
            self.words.entry(first_word).or_default().add(entry(len));
        }
    }
}

/// A hash for short keys, after the one of the Rust compiler (FxHash). Only words of the lexicon
/// are stored under it, so nobody can fill the maps with collisions.
pub(super) fn hash(key: &[u8]) -> u64 {
    let len = key.len();
    let mut state = len as u64;
    // Eight bytes at a time. The last eight may overlap those before, which is faster than reading
    // the remainder byte by byte.
    if let Some(last) = key.last_chunk() {
        let mut rest = key;
        while let Some((chunk, more)) =
            rest.split_first_chunk().filter(|(_, more)| !more.is_empty())
        {
            state = mix(state, u64::from_le_bytes(*chunk));
            rest = more;
        }
        return mix(state, u64::from_le_bytes(*last));
    }
    // Less than eight bytes: the first four and the last four, or three that cover all there are.
    let word = match (key.first_chunk(), key.last_chunk()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ if len == 0 => 0,
        _ => u64::from(key[0]) << 16 | u64::from(key[len / 2]) << 8 | u64::from(key[len - 1]),
    };
    mix(state, word)
}

fn mix(state: u64, word: u64) -> u64 {
    let mixed = (state.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95);
    // The maps use the low bits, which the multiplication mixes least.
    mixed ^ (mixed >> 29)
}

/// The first four bytes of a word, or as many as it has.
fn stem_key(word: &[u8]) -> u32 {
    match word.first_chunk() {
        Some(start) => u32::from_le_bytes(*start),
        None => word.iter().rev().fold(0, |key, byte| key << 8 | u32::from(*byte)),
    }
}

/// Whether a character is a letter, digit or underscore of a script that puts spaces between words.
pub(super) fn is_spaced_letter(c: char) -> bool {
    match c {
        _ if c.is_ascii() => c.is_ascii_alphanumeric() || c == '_',
        // Vowel signs of Indic scripts belong to their word; the danda ends a sentence.
        '\u{900}'..='\u{DFF}' => !matches!(c, '\u{964}' | '\u{965}'),
        _ => c.is_alphanumeric() && !is_unspaced_letter(c),
    }
}

/// Whether a character is Han, kana, Hangul, Thai or Lao: entries may match inside a run of these.
/// Korean has spaces, but attaches particles to its words.
pub(super) fn is_unspaced_letter(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{EFF}' | '\u{1100}'..='\u{11FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// The ASCII characters of words.
static IS_WORD_BYTE: [bool; 256] = {
    let mut is_word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        is_word[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    is_word
};

/// Bytes of the word that begins here; 0 if none does.
pub(super) fn word_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ascii = bytes.iter().take_while(|byte| IS_WORD_BYTE[**byte as usize]).count();
    match bytes.get(ascii) {
        Some(byte) if !byte.is_ascii() => text.find(|c| !is_spaced_letter(c)).unwrap_or(text.len()),
        _ => ascii,
    }
}

/// Bytes of the first two words if one separator and a word follow the first one, which has `first`
/// bytes; otherwise `first`.
pub(super) fn two_words_len(text: &str, first: usize) -> usize {
    match text.as_bytes().get(first) {
        Some(b' ' | b'\'' | b'-') => match word_len(&text[first + 1..]) {
            0 => first,
            second => first + 1 + second,
        },
        _ => first,
    }
}

/// The hasher of the maps, whose keys are hashes already, or a few bytes.
#[derive(Default)]
struct LexiconHasher(u64);

impl Hasher for LexiconHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = mix(0, value);
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The map has hashes for keys and does not compare the words.
    #[test]
    fn no_two_words_share_a_hash() {
        let mut known: HashMap<u64, String> = HashMap::new();
        for word in LANGUAGES.iter().copied().flatten().flat_map(|(_, words)| words.split('|')) {
            let folded = fold_word(word.strip_suffix('*').unwrap_or(word)).into_owned();
            let first = word_len(&folded);
            for end in [first, two_words_len(&folded, first)] {
                let key = &folded[..end];
                let other = known.entry(hash(key.as_bytes())).or_insert_with(|| key.to_owned());
                assert_eq!(other, key, "two words have the same hash");
            }
        }
        assert!(known.len() > 5_000, "{}", known.len());
    }
}
