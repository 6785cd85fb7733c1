//! Finds the concepts of a normalised text: each word and phrase of the lexicon, with its position
//! in words, and the sentences that they stand in.
//!
//! ```text
//! "ignore all  previous instructions."
//!  ^0          ^4       ^6              positions, in half words
//!  DISREGARD   EARLIER  INSTRUCTIONS    one ConceptMatch each; "all" is EVERY, OTHER, WHOLE
//! ```
//!
//! Positions count half words, because one character of Chinese or Japanese counts as half a word.
//! Punctuation adds to the distance: a pattern that allows four words between two concepts does not
//! reach across a full stop, and hardly across a comma.

use super::concepts::{ADDRESS, ConceptSet, IDENTIFIER, SECRET_FILE};
use super::lexicon::{
    LEXICON, Lexicon, LexiconBucket, hash, is_spaced_letter, is_unspaced_letter, two_words_len,
    word_len,
};
use super::normalize::NormalizedText;

/// Where a concept was found in a normalised text.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConceptMatch {
    /// Byte offsets into the normalised text.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) concepts: ConceptSet,
    /// Positions of its first and its last word, in half words.
    pub(super) first_word: u32,
    pub(super) last_word: u32,
    /// Index of the sentence that it begins in.
    pub(super) sentence: usize,
}

// Half words that punctuation adds to the distance between its neighbours. A full stop counts as
// eight words, more than most steps of a pattern allow. A comma counts as one word, so that it
// hardly separates what belongs together.
const SENTENCE_END: u32 = 16;
const CLAUSE_END: u32 = 3;
const COMMA: u32 = 2;
/// Half words of a word.
const WORD: u32 = 2;

/// A sentence of a text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ScannedSentence {
    /// All concepts that begin in it.
    pub(super) concepts: ConceptSet,
    /// Its length in half words.
    pub(super) half_words: u32,
}

/// The concepts of a text in the order in which they begin, and its sentences.
#[derive(Default)]
pub(super) struct ConceptScan {
    pub(super) matches: Vec<ConceptMatch>,
    /// At least one.
    pub(super) sentences: Vec<ScannedSentence>,
}

/// Scans one text.
pub(super) fn scan(text: &NormalizedText<'_>) -> ConceptScan {
    let mut scan = ConceptScan::default();
    scan_into(text, &mut scan);
    scan
}

/// All concepts of a piece of text, wherever they stand.
pub(super) fn concepts_of(text: &str) -> ConceptSet {
    scan(&NormalizedText::new(text)).matches.iter().fold(0, |all, found| all | found.concepts)
}

/// The same as [`scan`], replacing the results of another text to use their memory again.
pub(super) fn scan_into(text: &NormalizedText<'_>, scan: &mut ConceptScan) {
    scan.matches.clear();
    scan.sentences.clear();
    scan.sentences.push(ScannedSentence::default());
    let mut scanner = ConceptScanner { lexicon: &LEXICON, text: &text.text, scan, position: 0 };
    let bytes = text.text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        // The common case first: ASCII signs and spaces need no decoding.
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() && byte != b'_' {
            if scanner.lexicon.has_ascii_sign(byte) {
                scanner.find_at_char(at, char::from(byte));
            }
            // Inside `bad.example` and `don't` a sign separates nothing.
            if !bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
                || matches!(byte, b';' | b':' | b'(' | b',')
            {
                scanner.pass_char(char::from(byte));
            }
            at += 1;
            continue;
        }
        let len = word_len(&text.text[at..]);
        if len > 0 {
            // Several matches may begin at one word; all have its position.
            scanner.find_at_word(at, len);
            if text.is_camel_case(&(at..at + len)) {
                scanner.push(at, at + len, IDENTIFIER);
            }
            if text.is_spelled_out(at) {
                scanner.find_inside_word(at, len);
            }
            scanner.advance(WORD);
            at += len;
            continue;
        }
        // Punctuation outside ASCII, or a script without spaces: one character at a time.
        let c = text.text[at..].chars().next().expect("at is inside");
        scanner.find_at_char(at, c);
        scanner.pass_char(c);
        at += c.len_utf8();
    }
}

/// A scan under way.
struct ConceptScanner<'a> {
    lexicon: &'a Lexicon,
    text: &'a str,
    scan: &'a mut ConceptScan,
    /// Of the current word, in half words.
    position: u32,
}

impl ConceptScanner<'_> {
    fn advance(&mut self, half_words: u32) {
        self.position += half_words;
        self.sentence().half_words += half_words;
    }

    fn sentence(&mut self) -> &mut ScannedSentence {
        self.scan.sentences.last_mut().expect("there is always a sentence")
    }

    /// Moves past a character that is not part of a word.
    fn pass_char(&mut self, c: char) {
        match c {
            '.' | '!' | '?' | '。' | '！' | '？' | '\n' | '\u{964}' => {
                self.position += SENTENCE_END;
                // Several such signs in a row end one sentence.
                if self.sentence().half_words != 0 {
                    self.scan.sentences.push(ScannedSentence::default());
                }
            }
            ';' | ':' | '(' | ')' | '—' | '–' | '；' | '：' => self.position += CLAUSE_END,
            ',' | '，' | '、' => self.position += COMMA,
            _ if is_unspaced_letter(c) => self.advance(1),
            _ => {}
        }
    }

    /// Records that the bytes `start..end` carry these concepts.
    fn push(&mut self, start: usize, end: usize, concepts: ConceptSet) {
        let phrase = &self.text[start..end];
        // A phrase of three words spans two gaps of a whole word each. In scripts without spaces,
        // every character counts as half a word.
        let length = if phrase.is_ascii() {
            2 * phrase.bytes().filter(|byte| *byte == b' ').count()
        } else {
            phrase
                .chars()
                .map(|c| if c == ' ' { 2 } else { usize::from(is_unspaced_letter(c)) })
                .sum::<usize>()
        };
        let first_word = self.position;
        let last_word = first_word + u32::try_from(length).expect("a phrase is short");
        self.sentence().concepts |= concepts;
        let sentence = self.scan.sentences.len() - 1;
        let found = ConceptMatch { start, end, concepts, first_word, last_word, sentence };
        self.scan.matches.push(found);
    }

    /// Finds the entries that begin with the word at `start`, and what its spelling says.
    fn find_at_word(&mut self, start: usize, len: usize) {
        let (text, lexicon) = (self.text, self.lexicon);
        let word = &text.as_bytes()[start..start + len];
        // The word alone, and then the phrases that begin with it and the next word.
        if let Some(bucket) = lexicon.word_if_present(hash(word)) {
            self.push_matching(bucket, start, start + len);
            let pair = if bucket.begins_phrases { two_words_len(&text[start..], len) } else { len };
            let words = &text.as_bytes()[start..start + pair];
            if pair > len
                && let Some(bucket) = lexicon.word(hash(words))
            {
                self.push_matching(bucket, start, start + pair);
            }
        // Only for words that the lexicon does not have: an account number is never one of them.
        } else if is_account_number(word) {
            self.push(start, start + len, ADDRESS);
        }
        if let Some(bucket) = lexicon.stems_of(word) {
            let is_stem = |stem: &str| word.starts_with(stem.as_bytes());
            for entry in bucket.entries.iter().filter(|entry| is_stem(&entry.rest)) {
                self.push(start, start + len, entry.concepts);
            }
        }
        if len > 2 && word.contains(&b'_') {
            self.push(start, start + len, IDENTIFIER);
            // `list_files` is a name; from three parts on it may be a sentence.
            if word.iter().filter(|byte| **byte == b'_').count() >= 2 {
                self.find_in_snake_case(start, len);
            }
        } else if text.as_bytes().get(start + len) == Some(&b'-') {
            self.find_hyphenated(start, len);
        }
    }

    /// `ignore_all_previous_instructions` is an identifier and also a sentence.
    fn find_in_snake_case(&mut self, start: usize, len: usize) {
        let mut from = start;
        for part in self.text[start..start + len].split('_') {
            self.push_whole_word(part.as_bytes(), from, from + part.len());
            self.advance(WORD);
            from += part.len() + 1;
        }
    }

    /// `ig-nore`: a word that is cut into two or three parts.
    fn find_hyphenated(&mut self, start: usize, len: usize) {
        let mut word = self.text.as_bytes()[start..start + len].to_vec();
        let mut end = start + len;
        for _ in 0..2 {
            let Some(rest) = self.text[end..].strip_prefix('-') else { return };
            let more = word_len(rest);
            word.extend(&rest.as_bytes()[..more]);
            end += 1 + more;
            self.push_whole_word(&word, start, end);
        }
    }

    /// Tries every part of a word that was spelled out and may be several. The lengths are bounded,
    /// so this takes time in proportion to the length of the word.
    fn find_inside_word(&mut self, start: usize, len: usize) {
        let text = &self.text[start..start + len];
        let is_boundary = |at: &usize| text.is_char_boundary(*at);
        for from in (0..len).filter(is_boundary) {
            for to in (from + 3..=len.min(from + 14)).filter(is_boundary) {
                self.push_whole_word(&text.as_bytes()[from..to], start + from, start + to);
            }
        }
    }

    /// Records the entries that are exactly this word, as found at `start..end`.
    fn push_whole_word(&mut self, word: &[u8], start: usize, end: usize) {
        let lexicon = self.lexicon;
        let Some(bucket) = lexicon.word(hash(word)) else { return };
        for entry in bucket.entries.iter().filter(|entry| entry.rest.is_empty()) {
            self.push(start, end, entry.concepts);
        }
    }

    /// Records the entries of a bucket whose rest is what follows the key in the text. The key
    /// spans `start..key_end`.
    fn push_matching(&mut self, bucket: &LexiconBucket, start: usize, key_end: usize) {
        let text = self.text;
        for entry in &bucket.entries {
            let end = key_end + entry.rest.len();
            if (entry.rest.is_empty()
                || text.as_bytes()[key_end..].starts_with(entry.rest.as_bytes()))
                && !(entry.ends_word && word_continues(text, end))
                && !(entry.concepts & SECRET_FILE != 0 && is_template_file(&text[end..]))
            {
                self.push(start, end, entry.concepts);
            }
        }
    }

    /// Finds the entries that begin with the character at `start`.
    fn find_at_char(&mut self, start: usize, c: char) {
        let lexicon = self.lexicon;
        if let Some(bucket) = lexicon.char(c) {
            self.push_matching(bucket, start, start + c.len_utf8());
        }
    }
}

/// Whether what follows a file's name makes it a template: `.env.example` holds no secrets.
fn is_template_file(rest: &str) -> bool {
    [".example", ".sample", ".template", ".dist"].iter().any(|end| rest.starts_with(end))
}

/// Whether a word looks like a bank account or the address of a wallet.
///
/// `DE00…` is an IBAN: a country and a checksum. Twelve digits or more are an account number.
/// `bc1q…` and `0x…` are wallets, whose digits `normalize` may have replaced by letters.
fn is_account_number(word: &[u8]) -> bool {
    let is_long_number = word.len() >= 12 && word.iter().all(u8::is_ascii_digit);
    let is_wallet = word.len() == 42 && word.starts_with(b"ox")
        || word.len() >= 20
            && [&b"bc1q"[..], b"bciq", b"bclq", b"0x"].iter().any(|start| word.starts_with(start));
    let is_iban = word.len() >= 4
        && word[..2].iter().all(u8::is_ascii_lowercase)
        && word[2..].iter().all(u8::is_ascii_digit);
    is_long_number || is_wallet || is_iban
}

/// Whether the word before `at` goes on there.
fn word_continues(text: &str, at: usize) -> bool {
    match text.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric() || *byte == b'_',
        _ => text[at..].chars().next().is_some_and(is_spaced_letter),
    }
}
