//! Finds the concepts of a normalised text: each phrase of the lexicon, with its position in words.
//!
//! ```text
//! "ignore all previous instructions."
//!  ^0     ^2  ^4       ^6               positions, in half words
//!  IGNORE EVERY EARLIER INSTRUCTIONS    one ConceptMatch each
//! ```
//!
//! Positions count half words, because one character of Chinese or Japanese counts as half a word.
//! Punctuation adds to the distance: a rule that allows four words between two concepts does not
//! reach across a full stop, and hardly across a comma.

use std::collections::HashSet;

use super::concept_set::ConceptSet;
use super::lexicon::{
    ANY, LANGUAGES, LEXICON, LanguageSet, Lexicon, OrderedPair, Phrase, STEM_KEY, is_spaced_letter,
    is_unspaced_letter, two_words_len, word_len,
};
use super::near;
use super::normalize::NormalizedText;

/// Where a concept was found in a normalised text.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConceptMatch {
    /// Byte offsets into the normalised text.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) concepts: ConceptSet,
    pub(super) languages: LanguageSet,
    /// Positions of its first and its last word, in half words.
    pub(super) first_word: u32,
    pub(super) last_word: u32,
    /// Index of the sentence that it begins in.
    pub(super) sentence: usize,
}

// Half words that punctuation adds to the distance between its neighbours.
const SENTENCE_END: u32 = 20;
const CLAUSE_END: u32 = 6;
const COMMA: u32 = 4;
/// Half words of a word.
pub(super) const WORD: u32 = 2;
/// Half words from the beginning of the first concept of a pair to the beginning of the second:
/// at most four words between them.
const PAIR_GAP: u32 = 5 * WORD;

/// For each language the concepts that its phrases have.
pub(super) type ConceptsByLanguage = [ConceptSet; LANGUAGES];

/// The concepts of a text in the order in which they end.
#[derive(Default)]
pub(super) struct ConceptScan {
    pub(super) matches: Vec<ConceptMatch>,
    /// Of each sentence. There is at least one.
    pub(super) sentences: Vec<ConceptsByLanguage>,
    /// Of the whole text.
    pub(super) concepts: ConceptsByLanguage,
    /// Names of tools, in lower case, that do not count as TOOLNAME.
    pub(super) own_tools: HashSet<String>,
}

/// All concepts of a piece of text, wherever they stand.
pub(super) fn concepts_of(text: &str) -> ConceptSet {
    let mut scan = ConceptScan::default();
    scan.read(&NormalizedText::new(text));
    scan.concepts.into_iter().collect()
}

impl ConceptScan {
    /// Scans a text, replacing the results of the one before and using their memory again.
    pub(super) fn read(&mut self, text: &NormalizedText<'_>) {
        self.matches.clear();
        self.sentences.clear();
        self.sentences.push(Default::default());
        self.concepts = Default::default();
        let mut scanner =
            ConceptScanner { lexicon: &LEXICON, text: &text.text, scan: self, position: 0 };
        scanner.read(text);
        self.find_pairs();
    }

    fn push(&mut self, found: ConceptMatch) {
        let mut languages = found.languages;
        while languages != 0 {
            let language = languages.trailing_zeros() as usize;
            self.concepts[language] |= found.concepts;
            self.sentences[found.sentence][language] |= found.concepts;
            languages &= languages - 1;
        }
        self.matches.push(found);
    }

    /// Adds a match for every two concepts that a rule needs in this order. The words of a match
    /// are of one language: what is an article in one is a negation in another.
    fn find_pairs(&mut self) {
        let words = self.matches.len();
        for language in 0..LANGUAGES {
            for pair in &LEXICON.pairs {
                let concepts = self.concepts[language];
                if concepts.intersects(pair.first) && concepts.intersects(pair.second) {
                    self.find_pair(pair, language, words);
                }
            }
        }
        if self.matches.len() > words {
            self.matches.sort_by_key(|found| found.last_word);
        }
    }

    /// Looks for a pair among the first `words` matches.
    fn find_pair(&mut self, pair: &OrderedPair, language: usize, words: usize) {
        // The last match of the first concept; an earlier one is farther away.
        let mut first: Option<ConceptMatch> = None;
        for at in 0..words {
            let found = self.matches[at];
            if found.languages & 1 << language == 0 {
                continue;
            }
            if let Some(first) = first
                && found.concepts.intersects(pair.second)
                && found.start >= first.end
                && found.first_word - first.last_word <= PAIR_GAP
            {
                self.push(ConceptMatch {
                    end: found.end,
                    concepts: pair.pair,
                    languages: 1 << language,
                    last_word: found.last_word,
                    ..first
                });
            }
            if found.concepts.intersects(pair.first) {
                first = Some(found);
            }
        }
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
    fn read(&mut self, text: &NormalizedText<'_>) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let len = word_len(&self.text[at..]);
            if len > 0 {
                // Several matches may begin at one word; all have its position.
                self.find_at_word(at, len, text);
                self.position += WORD;
                at += len;
                continue;
            }
            let c = self.text[at..].chars().next().expect("at is inside");
            if !c.is_ascii() || c == '+' || self.lexicon.begins_with_sign(bytes[at]) {
                self.find_at_char(at, c);
            }
            // Inside `bad.example` and `don't` a sign separates nothing.
            let after = at + c.len_utf8();
            if !bytes.get(after).is_some_and(u8::is_ascii_alphanumeric)
                || matches!(c, ';' | ':' | '(' | ',' | '\n')
                || !c.is_ascii()
            {
                self.pass_char(c);
            }
            at = after;
        }
    }

    /// Moves past a character that is not part of a word.
    fn pass_char(&mut self, c: char) {
        match c {
            '.' | '!' | '?' | '。' | '！' | '？' | '\n' | '\u{964}' => {
                self.position += SENTENCE_END;
                // Several such signs in a row end one sentence.
                if self.scan.sentences.last() != Some(&Default::default()) {
                    self.scan.sentences.push(Default::default());
                }
            }
            ';' | '；' => self.position += SENTENCE_END,
            ':' | '(' | ')' | '—' | '–' | '：' => self.position += CLAUSE_END,
            ',' | '，' | '、' => self.position += COMMA,
            _ if is_unspaced_letter(c) => self.position += 1,
            _ => {}
        }
    }

    /// Records that the bytes `start..end` carry these concepts.
    fn push(&mut self, start: usize, end: usize, concepts: ConceptSet, languages: LanguageSet) {
        // A phrase of three words spans two gaps of a whole word each. In scripts without spaces,
        // every character counts as half a word.
        let half_words = |c: char| match c {
            ' ' => WORD,
            _ => u32::from(is_unspaced_letter(c)),
        };
        let phrase = &self.text[start..end];
        let length = if phrase.is_ascii() {
            WORD * phrase.bytes().filter(|byte| *byte == b' ').count() as u32
        } else {
            phrase.chars().map(half_words).sum()
        };
        self.scan.push(ConceptMatch {
            start,
            end,
            concepts,
            languages,
            first_word: self.position,
            last_word: self.position + length,
            sentence: self.scan.sentences.len() - 1,
        });
    }

    /// Finds the phrases that begin with the word at `start`, and what its form says.
    fn find_at_word(&mut self, start: usize, len: usize, text: &NormalizedText<'_>) {
        let word = &self.text[start..start + len];
        if let Some(known) = self.lexicon.word(word) {
            self.push_matching(&known.phrases, start, start + len);
            let two = if known.begins_two { two_words_len(&self.text[start..], len) } else { len };
            if two > len
                && let Some(phrases) = self.lexicon.two_words.get(&self.text[start..start + two])
            {
                self.push_matching(phrases, start, start + two);
            }
        }
        if let Some(phrases) = self.lexicon.stems_like(word)
            && self.text.is_char_boundary(start + STEM_KEY)
        {
            self.push_matching(phrases, start, start + STEM_KEY);
        }
        let lexicon = self.lexicon;
        let rest = &self.text.as_bytes()[start + len..];
        if let Some(end) = address_end(self.text, start, len) {
            let url = rest.starts_with(b"://");
            let concept = if url { lexicon.url } else { lexicon.address };
            self.push(start, end, concept, ANY);
        } else if word.contains('_') && len > 2 || text.is_camel_case(&(start..start + len)) {
            if !self.scan.own_tools.contains(word) {
                self.push(start, start + len, lexicon.tool_name, ANY);
            }
            // `list_files` is a name; from three parts on it may be a sentence.
            if word.bytes().filter(|byte| *byte == b'_').count() >= 2 {
                self.find_in_snake_case(start, len);
            }
        } else if rest.first() == Some(&b'-') {
            self.find_hyphenated(start, len);
        }
        if text.is_spelled_out(start) {
            self.find_inside_word(start, len);
        }
    }

    /// `ignore_all_previous_instructions` is an identifier and also a sentence.
    fn find_in_snake_case(&mut self, start: usize, len: usize) {
        let mut from = start;
        for part in self.text[start..start + len].split('_') {
            self.push_whole_word(part, from, from + part.len());
            self.position += WORD;
            from += part.len() + 1;
        }
    }

    /// `ig-nore`: a word that is cut into two or three parts.
    fn find_hyphenated(&mut self, start: usize, len: usize) {
        let mut word = self.text[start..start + len].to_owned();
        let mut end = start + len;
        for _ in 0..2 {
            let Some(rest) = self.text[end..].strip_prefix('-') else { return };
            let more = word_len(near(rest, 0, 32));
            word.push_str(&rest[..more]);
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
                self.push_whole_word(&text[from..to], start + from, start + to);
            }
        }
    }

    /// Records the phrases that are exactly this word, as found at `start..end`.
    fn push_whole_word(&mut self, word: &str, start: usize, end: usize) {
        let lexicon = self.lexicon;
        for phrase in lexicon.word(word).into_iter().flat_map(|word| &word.phrases) {
            if phrase.rest.is_empty() {
                self.push(start, end, phrase.concepts, phrase.languages);
            }
        }
    }

    /// Records the phrases whose rest follows the key in the text. The key spans `start..key_end`.
    fn push_matching(&mut self, phrases: &[Phrase], start: usize, key_end: usize) {
        for phrase in phrases {
            if let Some(end) = phrase_end(self.text, key_end, &phrase.rest) {
                self.push(start, end, phrase.concepts, phrase.languages);
            }
        }
    }

    /// Finds the phrases that begin with the character at `start`.
    fn find_at_char(&mut self, start: usize, c: char) {
        let lexicon = self.lexicon;
        if let Some(phrases) = lexicon.chars.get(&c) {
            self.push_matching(phrases, start, start + c.len_utf8());
        }
        // A telephone number in the international form.
        let digits = |rest: &str| rest.bytes().filter(u8::is_ascii_digit).count();
        if c == '+' && digits(near(self.text, start + 1, 12)) >= 7 {
            self.push(start, start + 1, lexicon.address, ANY);
        }
    }
}

/// Where a phrase ends whose rest is this, if the text has it at `at`. `*` in the rest stands for
/// what is left of a word.
fn phrase_end(text: &str, at: usize, rest: &str) -> Option<usize> {
    // The first byte rules out most phrases.
    match (rest.as_bytes().first(), text.as_bytes().get(at)) {
        (None | Some(b'*'), _) => {}
        (first, next) if first == next => {}
        _ => return None,
    }
    let mut end = at;
    for (number, part) in rest.split('*').enumerate() {
        if number > 0 {
            end += word_len(near(text, end, 64));
        }
        if !text.as_bytes()[end..].starts_with(part.as_bytes()) {
            return None;
        }
        end += part.len();
    }
    let is_whole = rest.ends_with('*') || !word_continues(text, end);
    // `.env.example` holds no secrets.
    let template = [".example", ".sample", ".template", ".dist"];
    (is_whole && !template.iter().any(|ending| text[end..].starts_with(ending))).then_some(end)
}

/// Whether the word before `at` goes on there.
fn word_continues(text: &str, at: usize) -> bool {
    let inside = text[..at].chars().next_back().is_some_and(is_spaced_letter);
    inside && text[at..].chars().next().is_some_and(is_spaced_letter)
}

/// Where the address ends that begins with this word: a URL, an e-mail address, a host, a bank
/// account or a wallet.
fn address_end(text: &str, start: usize, len: usize) -> Option<usize> {
    /// The last part of the names of hosts; others are file names and versions more often.
    const TOP_LEVEL: &[&str] =
        &["com", "net", "org", "io", "example", "dev", "app", "test", "invalid", "ru", "cn", "xyz"];
    let word = &text.as_bytes()[start..start + len];
    // Most words are followed by a space and have no digits.
    if !matches!(text.as_bytes().get(start + len), Some(b':' | b'@' | b'.'))
        && !word.iter().any(u8::is_ascii_digit)
    {
        return None;
    }
    let rest = near(text, start + len, 120);
    let solid = |c: char| c.is_whitespace() || matches!(c, '"' | '`' | '<' | '>' | ')' | '\'');
    let run = &rest[..rest.find(solid).unwrap_or(rest.len())];
    if run.starts_with("://") && run.len() > 4 || run.starts_with('@') && run.contains('.') {
        return Some(start + len + run.trim_end_matches(['.', ',', ';', ':']).len());
    }
    if let Some(host) = run.strip_prefix('.') {
        let host = host.split(['/', ':', ',', ';', '?']).next().unwrap_or_default();
        let host = host.trim_end_matches('.');
        let last = host.rsplit('.').next().unwrap_or_default();
        // `user.name@host.example`, `pay.bad.example`.
        let known = TOP_LEVEL.contains(&last) && (host.contains('@') || len > 1);
        return known.then_some(start + len + 1 + host.len());
    }
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_wallet = len >= 20
        && ["bc1", "bci", "bcl", "ox", "0x"].iter().any(|start| word.starts_with(start.as_bytes()));
    let is_iban = len >= 4
        && word[..2].iter().all(u8::is_ascii_lowercase)
        && word[2..].iter().all(u8::is_ascii_digit)
        && (len >= 12 || rest.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    (len >= 12 && digits == len || is_wallet || is_iban).then_some(start + len)
}
