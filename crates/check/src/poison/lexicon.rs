//! Finds the words of all languages in a folded text, in one pass and without an automaton: a
//! phrase is looked up by its first word, a stem by its first letters, a word of a script without
//! spaces by its first character.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::plain::{Plain, fold_word};
use super::words::{Concepts, FILE, LANGUAGES, LITERAL, NAME};

/// Where a concept was found in a folded text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) concepts: Concepts,
    /// Where its first and its last word stand, in half words: a character of a script without
    /// spaces is one, and marks make the way longer.
    pub(super) first: u32,
    pub(super) last: u32,
    /// Which sentence it begins in.
    pub(super) sentence: usize,
}

/// Half words that a mark counts for: what stands on the other side of it is further away.
const SENTENCE: u32 = 16;
const CLAUSE: u32 = 3;
const COMMA: u32 = 2;

/// An entry that begins as its key says.
struct Entry {
    /// What follows the key.
    rest: Box<str>,
    /// Whether a word must end where the entry does.
    ends: bool,
    concepts: Concepts,
}

/// What is filed under one key.
#[derive(Default)]
struct Slot {
    entries: Vec<Entry>,
    /// Whether phrases begin with this word.
    starts: bool,
}

type Map<K> = HashMap<K, Slot, BuildHasherDefault<Quick>>;

struct Lexicon {
    /// By the hash of the word, and phrases by that of their first two words. The hash is not
    /// compared with the word: one text in 2^50 has a word that only seems to be here, and whoever
    /// makes one up accuses himself.
    words: Map<u64>,
    /// A bit for every key of the two maps above and below: most words are in neither.
    known: Box<[u64; 1024]>,
    /// Stems, by their first four bytes: two letters in the scripts that need most.
    stems: Map<u32>,
    /// Signs and words of scripts without spaces, by the first character.
    chars: Map<char>,
    /// Whether an entry begins with this ASCII sign.
    signs: [bool; 128],
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::build);

impl Lexicon {
    fn build() -> Self {
        let mut lexicon = Self {
            words: Map::with_capacity_and_hasher(8192, BuildHasherDefault::default()),
            known: Box::new([0; 1024]),
            stems: Map::default(),
            chars: Map::default(),
            signs: [false; 128],
        };
        for &(concepts, words) in LANGUAGES.iter().copied().flatten() {
            words.split('|').for_each(|word| lexicon.add(word, concepts));
        }
        lexicon
    }

    fn know(&mut self, hash: u64) {
        self.known[(hash >> 6) as usize % 1024] |= 1 << (hash % 64);
    }

    fn knows(&self, hash: u64) -> bool {
        self.known[(hash >> 6) as usize % 1024] >> (hash % 64) & 1 == 1
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
        let pair = pair_len(&folded, len);
        if pair > len {
            // Thousands of phrases begin with `you` or `the`; hardly any two with the same pair of
            // words.
            self.word_slot(&folded.as_bytes()[..len]).starts = true;
            self.know(hash(&folded.as_bytes()[..len]));
            push(self.word_slot(&folded.as_bytes()[..pair]), entry(pair));
        } else if stem.is_some() && len == folded.len() {
            let key = stem_key(folded.as_bytes());
            self.know(mix(0, key.into()));
            push(self.stems.entry(key).or_default(), entry(0));
        } else {
            self.know(hash(&folded.as_bytes()[..len]));
            push(self.word_slot(&folded.as_bytes()[..len]), entry(len));
        }
    }

    fn word_slot(&mut self, word: &[u8]) -> &mut Slot {
        self.words.entry(hash(word)).or_default()
    }
}

fn push(slot: &mut Slot, entry: Entry) {
    match slot.entries.iter_mut().find(|other| other.rest == entry.rest && other.ends == entry.ends)
    {
        Some(other) => other.concepts |= entry.concepts,
        None => slot.entries.push(entry),
    }
}

/// A hash for short keys. Only the lexicon's own words are stored, so nobody can choose them to
/// collide.
fn hash(key: &[u8]) -> u64 {
    let len = key.len();
    let mut state = len as u64;
    // The last bytes may be read twice, which is quicker than to read them one by one.
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
    mixed ^ (mixed >> 29)
}

fn stem_key(word: &[u8]) -> u32 {
    match word.first_chunk() {
        Some(start) => u32::from_le_bytes(*start),
        None => word.iter().rev().fold(0, |key, byte| key << 8 | u32::from(*byte)),
    }
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

/// The ASCII characters of words.
static WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        word[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    word
};

/// Bytes of the word that begins here.
fn word_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ascii = bytes.iter().take_while(|byte| WORD[**byte as usize]).count();
    match bytes.get(ascii) {
        Some(byte) if !byte.is_ascii() => text.find(|c| !is_spaced(c)).unwrap_or(text.len()),
        _ => ascii,
    }
}

/// Bytes of the first two words, if the text goes on with one separator and a word.
fn pair_len(text: &str, first: usize) -> usize {
    match text.as_bytes().get(first) {
        Some(b' ' | b'\'' | b'-') => match word_len(&text[first + 1..]) {
            0 => first,
            second => first + 1 + second,
        },
        _ => first,
    }
}

/// The concepts of a text in the order in which they begin, and how long its sentences are.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) tokens: Vec<Token>,
    /// All concepts of each sentence, and how many half words it has.
    pub(super) sentences: Vec<(Concepts, u32)>,
}

pub(super) fn read(plain: &Plain<'_>) -> Reading {
    let mut reading = Reading::default();
    read_into(plain, &mut reading);
    reading
}

/// The same, into what another text has left.
pub(super) fn read_into(plain: &Plain<'_>, reading: &mut Reading) {
    reading.tokens.clear();
    reading.sentences.clear();
    reading.sentences.push((0, 0));
    let mut reader = Reader { lexicon: &LEXICON, text: &plain.text, reading, place: 0 };
    let bytes = plain.text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() && byte != b'_' {
            if reader.lexicon.signs[byte as usize] {
                reader.find_char(at, char::from(byte));
            }
            // Inside `bad.example` and `don't` a mark separates nothing.
            if !bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
                || matches!(byte, b';' | b':' | b'(' | b',')
            {
                reader.pass(char::from(byte));
            }
            at += 1;
            continue;
        }
        let len = word_len(&plain.text[at..]);
        if len > 0 {
            reader.find_word(at, len);
            if plain.is_camel(&(at..at + len)) {
                reader.push(at, at + len, NAME);
            }
            if plain.is_loose(at) {
                reader.find_inside(at, len);
            }
            reader.step(2);
            at += len;
            continue;
        }
        let c = plain.text[at..].chars().next().expect("at is inside");
        reader.find_char(at, c);
        reader.pass(c);
        at += c.len_utf8();
    }
}

struct Reader<'a> {
    lexicon: &'a Lexicon,
    text: &'a str,
    reading: &'a mut Reading,
    place: u32,
}

impl Reader<'_> {
    fn step(&mut self, halves: u32) {
        self.place += halves;
        self.sentence().1 += halves;
    }

    fn sentence(&mut self) -> &mut (Concepts, u32) {
        self.reading.sentences.last_mut().expect("there is always a sentence")
    }

    fn pass(&mut self, mark: char) {
        match mark {
            '.' | '!' | '?' | '。' | '！' | '？' | '\n' | '\u{964}' => {
                self.place += SENTENCE;
                if self.sentence().1 != 0 {
                    self.reading.sentences.push((0, 0));
                }
            }
            ';' | ':' | '(' | ')' | '—' | '–' | '；' | '：' => self.place += CLAUSE,
            ',' | '，' | '、' => self.place += COMMA,
            _ if is_unspaced(mark) => self.step(1),
            _ => {}
        }
    }

    fn push(&mut self, start: usize, end: usize, concepts: Concepts) {
        let phrase = &self.text[start..end];
        let more = if phrase.is_ascii() {
            2 * phrase.bytes().filter(|byte| *byte == b' ').count()
        } else {
            phrase
                .chars()
                .map(|c| if c == ' ' { 2 } else { usize::from(is_unspaced(c)) })
                .sum::<usize>()
        };
        let last = self.place + u32::try_from(more).expect("a phrase is short");
        self.sentence().0 |= concepts;
        let sentence = self.reading.sentences.len() - 1;
        self.reading.tokens.push(Token { start, end, concepts, first: self.place, last, sentence });
    }

    fn find_word(&mut self, start: usize, len: usize) {
        let (text, lexicon) = (self.text, self.lexicon);
        let word = &text.as_bytes()[start..start + len];
        let word_hash = hash(word);
        if lexicon.knows(word_hash)
            && let Some(slot) = lexicon.words.get(&word_hash)
        {
            self.take(slot, start, start + len);
            let pair = if slot.starts { pair_len(&text[start..], len) } else { len };
            let words = &text.as_bytes()[start..start + pair];
            if pair > len
                && let Some(slot) = lexicon.words.get(&hash(words))
            {
                self.take(slot, start, start + pair);
            }
        } else if is_account(word) {
            self.push(start, start + len, LITERAL);
        }
        let stem = stem_key(word);
        if lexicon.knows(mix(0, stem.into()))
            && let Some(slot) = lexicon.stems.get(&stem)
        {
            for entry in slot.entries.iter().filter(|entry| word.starts_with(entry.rest.as_bytes()))
            {
                self.push(start, start + len, entry.concepts);
            }
        }
        if len > 2 && word.contains(&b'_') {
            self.push(start, start + len, NAME);
            if word.iter().filter(|byte| **byte == b'_').count() >= 2 {
                self.find_parts(start, len);
            }
        } else if text.as_bytes().get(start + len) == Some(&b'-') {
            self.find_hyphenated(start, len);
        }
    }

    /// `ignore_all_previous_instructions` is a name, and a sentence.
    fn find_parts(&mut self, start: usize, len: usize) {
        let mut from = start;
        for part in self.text[start..start + len].split('_') {
            self.find_whole(part.as_bytes(), from, from + part.len());
            self.step(2);
            from += part.len() + 1;
        }
    }

    /// `ig-nore`: the parts of a word that is cut in two or three.
    fn find_hyphenated(&mut self, start: usize, len: usize) {
        let mut word = self.text.as_bytes()[start..start + len].to_vec();
        let mut end = start + len;
        for _ in 0..2 {
            let Some(rest) = self.text[end..].strip_prefix('-') else { return };
            let more = word_len(rest);
            word.extend(&rest.as_bytes()[..more]);
            end += 1 + more;
            self.find_whole(&word, start, end);
        }
    }

    fn find_whole(&mut self, word: &[u8], start: usize, end: usize) {
        let lexicon = self.lexicon;
        let Some(slot) = lexicon.words.get(&hash(word)) else { return };
        for entry in slot.entries.iter().filter(|entry| entry.rest.is_empty()) {
            self.push(start, end, entry.concepts);
        }
    }

    /// The entries of a slot that go on as the text does after the key.
    fn take(&mut self, slot: &Slot, start: usize, key: usize) {
        let text = self.text;
        for entry in &slot.entries {
            let end = key + entry.rest.len();
            if (entry.rest.is_empty() || text.as_bytes()[key..].starts_with(entry.rest.as_bytes()))
                && !(entry.ends && goes_on(text, end))
                && !(entry.concepts & FILE != 0 && is_template(&text[end..]))
            {
                self.push(start, end, entry.concepts);
            }
        }
    }

    fn find_char(&mut self, start: usize, c: char) {
        let lexicon = self.lexicon;
        if let Some(slot) = lexicon.chars.get(&c) {
            self.take(slot, start, start + c.len_utf8());
        }
    }

    /// In a word that was spelled out and may be several, every part is tried.
    fn find_inside(&mut self, start: usize, len: usize) {
        let lexicon = self.lexicon;
        let text = &self.text[start..start + len];
        let word = text.as_bytes();
        let is_cut = |at: &usize| text.is_char_boundary(*at);
        for from in (0..len).filter(is_cut) {
            for to in (from + 3..=len.min(from + 14)).filter(is_cut) {
                let part = &word[from..to];
                let Some(slot) = lexicon.words.get(&hash(part)) else { continue };
                for entry in slot.entries.iter().filter(|entry| entry.rest.is_empty()) {
                    self.push(start + from, start + to, entry.concepts);
                }
            }
        }
    }
}

/// `.env.example` holds no secrets.
fn is_template(rest: &str) -> bool {
    [".example", ".sample", ".template", ".dist"].iter().any(|end| rest.starts_with(end))
}

/// `DE00…`: a country and a checksum, as account numbers begin; `40817810…`; `bc1q…` and `0x…` of a
/// wallet, whose `1` may have been taken for a letter.
fn is_account(word: &[u8]) -> bool {
    (word.len() >= 12 && word.iter().all(u8::is_ascii_digit))
        // Of a longer one the digits may have been taken for letters, too.
        || (word.len() == 42 && word.starts_with(b"ox"))
        || (word.len() >= 20
            && [&b"bc1q"[..], b"bciq", b"bclq", b"0x"].iter().any(|start| word.starts_with(start)))
        || word.len() >= 4
            && word[..2].iter().all(u8::is_ascii_lowercase)
            && word[2..].iter().all(u8::is_ascii_digit)
}

fn goes_on(text: &str, at: usize) -> bool {
    match text.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric() || *byte == b'_',
        _ => text[at..].chars().next().is_some_and(is_spaced),
    }
}

/// The hash of what is a hash already, or a few bytes.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
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

    /// The map has hashes for keys, and does not compare words.
    #[test]
    fn no_two_words_have_one_hash() {
        let mut known: HashMap<u64, String> = HashMap::new();
        for word in LANGUAGES.iter().copied().flatten().flat_map(|(_, words)| words.split('|')) {
            let folded = fold_word(word.strip_suffix('*').unwrap_or(word)).into_owned();
            let first = word_len(&folded);
            for end in [first, pair_len(&folded, first)] {
                let key = &folded[..end];
                let other = known.entry(hash(key.as_bytes())).or_insert_with(|| key.to_owned());
                assert_eq!(other, key, "two words have one hash");
            }
        }
        assert!(known.len() > 5_000, "{}", known.len());
    }
}
