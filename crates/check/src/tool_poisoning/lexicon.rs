//! The data files of `data/`, read once: the phrases of every language and the concept that each
//! stands for, and the rules that combine concepts.
//!
//! ```text
//! TELL: tell, inform*, let the user know       a concept and its phrases, separated by commas;
//!   bring up, mention                          a line that begins with a space continues it
//! ```
//!
//! An empty line ends the comment at the top of a file.
//! `*` at the end of a word stands for any ending, alone it stands for any word; a phrase does not
//! begin with it. Phrases are folded like the texts in which they are searched, so files are
//! written with their accents. Rules are explained in `data/rules.txt`.

#[cfg(test)]
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::concept_set::{ConceptSet, MAX_CONCEPTS};
use super::normalize::fold_word;

/// A set of languages, one bit each, in the order of [`LANGUAGE_FILES`].
pub(super) type LanguageSet = u16;
/// The set of all languages.
pub(super) const ANY: LanguageSet = (1 << LANGUAGES) - 1;

/// What is the same in every language, read as part of each.
const ANY_LANGUAGE: &str = include_str!("data/any.txt");
/// The number of languages; `other.txt` counts as one.
pub(super) const LANGUAGES: usize = 14;
const LANGUAGE_FILES: [&str; LANGUAGES] = [
    include_str!("data/english.txt"),
    include_str!("data/german.txt"),
    include_str!("data/french.txt"),
    include_str!("data/spanish.txt"),
    include_str!("data/italian.txt"),
    include_str!("data/portuguese.txt"),
    include_str!("data/dutch.txt"),
    include_str!("data/polish.txt"),
    include_str!("data/turkish.txt"),
    include_str!("data/russian.txt"),
    include_str!("data/chinese.txt"),
    include_str!("data/japanese.txt"),
    include_str!("data/korean.txt"),
    include_str!("data/other.txt"),
];
const RULES: &str = include_str!("data/rules.txt");

/// A phrase that begins with a known word or character.
pub(super) struct Phrase {
    /// What follows the key, with `*` for any ending.
    pub(super) rest: String,
    pub(super) concepts: ConceptSet,
    pub(super) languages: LanguageSet,
}

/// The phrases that begin with a word.
#[derive(Default)]
pub(super) struct FirstWord {
    pub(super) phrases: Vec<Phrase>,
    /// Whether [`Lexicon::two_words`] has phrases that begin with it.
    pub(super) begins_two: bool,
}

/// What a rule reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum AttackClass {
    Markup,
    Override,
    Conceal,
    Exfiltrate,
    Approval,
    OtherTools,
    Conversation,
    Redirect,
    Authority,
}

impl AttackClass {
    fn parse(name: &str) -> Self {
        match name {
            "override" => Self::Override,
            "conceal" => Self::Conceal,
            "exfiltrate" => Self::Exfiltrate,
            "approval" => Self::Approval,
            "tools" => Self::OtherTools,
            "conversation" => Self::Conversation,
            "redirect" => Self::Redirect,
            "authority" => Self::Authority,
            _ => unreachable!("data/rules.txt has no class `{name}`"),
        }
    }
}

/// Two concepts in this order and close to each other, as a concept of its own.
pub(super) struct OrderedPair {
    pub(super) first: ConceptSet,
    pub(super) second: ConceptSet,
    pub(super) pair: ConceptSet,
}

/// A combination of concepts that is reported.
pub(super) struct Rule {
    pub(super) class: AttackClass,
    /// Whether a second weak rule of another class must match nearby.
    pub(super) weak: bool,
    /// Words from the beginning of the first concept to the beginning of the last one.
    pub(super) words: u32,
    /// One concept of each set must be there.
    pub(super) terms: Vec<ConceptSet>,
    /// None of these may be in the same sentence.
    pub(super) unless: ConceptSet,
    /// The line of the rule, for the measurement.
    #[cfg(test)]
    pub(super) line: &'static str,
}

/// All phrases by how they begin, and all rules.
#[derive(Default)]
pub(super) struct Lexicon {
    names: HashMap<&'static str, ConceptSet>,
    /// By their first word: phrases of one word, and those that the next map cannot have.
    words: HashMap<String, FirstWord, FoldBuilder>,
    /// By their first two words. Articles and pronouns begin hundreds of phrases.
    pub(super) two_words: HashMap<String, Vec<Phrase>, FoldBuilder>,
    /// Stems by their first [`STEM_KEY`] bytes, with the rest of the stem and `*` as the rest.
    stems: HashMap<[u8; STEM_KEY], Vec<Phrase>, FoldBuilder>,
    /// Phrases that begin with a sign or a letter of a script without spaces.
    pub(super) chars: HashMap<char, Vec<Phrase>, FoldBuilder>,
    /// The ASCII signs among their keys, one bit each: most signs begin nothing.
    ascii_signs: u128,
    /// Which words the maps may have. Most words of a text are none of them, and are ruled out
    /// without hashing them in full.
    known_words: WordFilter,
    known_stems: WordFilter,
    /// No rule matches in a sentence with one of these.
    never: ConceptSet,
    pub(super) pairs: Vec<OrderedPair>,
    pub(super) rules: Vec<Rule>,
    /// For each concept the rules whose first term has it, as indices.
    rules_by_concept: Vec<Vec<usize>>,
    pub(super) address: ConceptSet,
    pub(super) url: ConceptSet,
    pub(super) tool_name: ConceptSet,
}

/// Bytes by which stems are looked up. Every stem has at least as many.
pub(super) const STEM_KEY: usize = 4;

pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::read);

impl Lexicon {
    fn read() -> Self {
        let mut lexicon = Self::default();
        lexicon.address = lexicon.concept("ADDRESS");
        lexicon.url = lexicon.concept("URL");
        lexicon.tool_name = lexicon.concept("TOOLNAME");
        let languages =
            LANGUAGE_FILES.iter().enumerate().map(|(number, file)| (1 << number, *file));
        for (languages, file) in languages.chain([(ANY, ANY_LANGUAGE)]) {
            for (name, phrases) in concepts_of_file(file) {
                let concept = lexicon.concept(name);
                for phrase in phrases.split(',').map(str::trim).filter(|phrase| !phrase.is_empty())
                {
                    match phrase.split_once('\n') {
                        // A phrase may continue on the next line.
                        Some((start, end)) => {
                            let phrase = format!("{start} {}", end.trim_start());
                            lexicon.add_phrase(&phrase, concept, languages);
                        }
                        None => lexicon.add_phrase(phrase, concept, languages),
                    }
                }
            }
        }
        let rules = RULES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lexicon.rules_by_concept.resize(MAX_CONCEPTS, Vec::new());
        for line in rules {
            match line.strip_prefix("never: ") {
                Some(names) => lexicon.never = lexicon.alternatives(names),
                None => lexicon.add_rule(line),
            }
        }
        lexicon
    }

    /// The bit of a concept. Names get theirs in the order in which they are first met.
    fn concept(&mut self, name: &'static str) -> ConceptSet {
        let next = self.names.len();
        *self.names.entry(name).or_insert_with(|| {
            assert!(next < MAX_CONCEPTS, "a set has room for {MAX_CONCEPTS} concepts");
            ConceptSet::of(next)
        })
    }

    /// The concept of this name, or nothing if no file has it.
    pub(super) fn named(&self, name: &str) -> ConceptSet {
        self.names.get(name).copied().unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) fn concepts_with_phrases(&self) -> ConceptSet {
        let words = self.words.values().map(|word| &word.phrases);
        let phrases = words.chain(self.two_words.values()).chain(self.stems.values());
        let phrases = phrases.chain(self.chars.values());
        phrases.flatten().map(|phrase| phrase.concepts).collect()
    }

    /// The concepts that rules use, in pairs or alone.
    #[cfg(test)]
    pub(super) fn concepts_of_rules(&self) -> ConceptSet {
        let terms = self.rules.iter().flat_map(|rule| rule.terms.iter().chain([&rule.unless]));
        let pairs = self.pairs.iter().flat_map(|pair| [&pair.first, &pair.second]);
        terms.chain(pairs).copied().collect()
    }

    /// The names of these concepts, without those of pairs.
    #[cfg(test)]
    pub(super) fn names_of(&self, concepts: ConceptSet) -> BTreeSet<&'static str> {
        let names = self.names.iter().filter(|(_, concept)| concepts.intersects(**concept));
        names.map(|(name, _)| *name).filter(|name| !name.contains('>')).collect()
    }

    fn add_phrase(&mut self, phrase: &str, concepts: ConceptSet, languages: LanguageSet) {
        let folded = fold_word(phrase);
        assert!(!folded.starts_with('*'), "`{phrase}` has no first word to look it up by");
        let first = word_len(&folded);
        let two = two_words_len(&folded, first);
        let (known, key) = match folded.chars().next() {
            Some(sign) if first == 0 => {
                if sign.is_ascii() {
                    self.ascii_signs |= 1 << u32::from(sign);
                }
                (self.chars.entry(sign).or_default(), sign.len_utf8())
            }
            _ if folded[first..].starts_with('*') => {
                assert!(first >= STEM_KEY, "the stem `{phrase}` is too short");
                let key = folded.as_bytes().first_chunk().expect("long enough");
                self.known_stems.insert(key);
                (self.stems.entry(*key).or_default(), STEM_KEY)
            }
            _ if two > first && !folded[two..].starts_with('*') => {
                self.known_words.insert(&folded.as_bytes()[..first]);
                self.words.entry(folded[..first].to_owned()).or_default().begins_two = true;
                (self.two_words.entry(folded[..two].to_owned()).or_default(), two)
            }
            _ => {
                self.known_words.insert(&folded.as_bytes()[..first]);
                (&mut self.words.entry(folded[..first].to_owned()).or_default().phrases, first)
            }
        };
        // The same phrase of two languages is one.
        let rest = folded.get(key..).unwrap_or_default();
        match known.iter_mut().find(|old| old.concepts == concepts && old.rest == rest) {
            Some(old) => old.languages |= languages,
            None => known.push(Phrase { rest: rest.to_owned(), concepts, languages }),
        }
    }

    /// The phrases that begin with this word.
    pub(super) fn word(&self, word: &str) -> Option<&FirstWord> {
        self.known_words.contains(word.as_bytes()).then(|| self.words.get(word)).flatten()
    }

    /// The stems that begin like this word, by their first [`STEM_KEY`] bytes.
    pub(super) fn stems_like(&self, word: &str) -> Option<&Vec<Phrase>> {
        let key = word.as_bytes().first_chunk()?;
        self.known_stems.contains(key).then(|| self.stems.get(key)).flatten()
    }

    /// Whether a phrase begins with this ASCII character.
    pub(super) fn begins_with_sign(&self, sign: u8) -> bool {
        self.ascii_signs >> sign & 1 != 0
    }

    /// `class words: TERM TERM -TERM`.
    fn add_rule(&mut self, line: &'static str) {
        let (head, terms) = line.split_once(": ").expect("a rule has a colon");
        let (class, words) = head.split_once(' ').expect("a rule has a class and words");
        let mut rule = Rule {
            class: AttackClass::parse(class.trim_end_matches('?')),
            weak: class.ends_with('?'),
            words: words.parse().expect("a number of words"),
            terms: Vec::new(),
            unless: self.never,
            #[cfg(test)]
            line,
        };
        for term in terms.split(' ') {
            match (term.strip_prefix('-'), term.split_once('>')) {
                (Some(unless), _) => rule.unless |= self.alternatives(unless),
                (None, None) => rule.terms.push(self.alternatives(term)),
                (None, Some((first, second))) => {
                    let (first, second) = (self.alternatives(first), self.alternatives(second));
                    let pair = self.concept(term);
                    if self.pairs.iter().all(|known| known.pair != pair) {
                        self.pairs.push(OrderedPair { first, second, pair });
                    }
                    rule.terms.push(pair);
                }
            }
        }
        for (concept, rules) in self.rules_by_concept.iter_mut().enumerate() {
            if rule.terms[0].intersects(ConceptSet::of(concept)) {
                rules.push(self.rules.len());
            }
        }
        self.rules.push(rule);
    }

    /// The rules whose terms are all among these concepts.
    pub(super) fn rules_for(&self, concepts: ConceptSet) -> impl Iterator<Item = &Rule> {
        let rules = concepts.numbers().flat_map(|number| &self.rules_by_concept[number]);
        let rules = rules.map(|at| &self.rules[*at]);
        rules.filter(move |rule| rule.terms.iter().all(|term| concepts.intersects(*term)))
    }

    fn alternatives(&mut self, names: &'static str) -> ConceptSet {
        names.split('|').map(|name| self.concept(name)).collect()
    }
}

/// Names and phrases of a language file: a name begins a line, the phrases reach to the next one.
fn concepts_of_file(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let body = file.split_once("\n\n").map_or(file, |(_, body)| body);
    let mut rest = body.trim_start();
    std::iter::from_fn(move || {
        let (name, after) = rest.split_once(": ")?;
        // The next line that does not begin with a space.
        let end = after
            .match_indices('\n')
            .find(|(at, _)| !after[at + 1..].starts_with(' '))
            .map_or(after.len(), |(at, _)| at);
        rest = after[end..].trim_start();
        Some((name, &after[..end]))
    })
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

/// Whether a character is Han, kana, Hangul, Thai or Lao: phrases may match inside a run of these.
/// Korean has spaces, but attaches particles to its words.
pub(super) fn is_unspaced_letter(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{EFF}' | '\u{1100}'..='\u{11FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// Bytes of the word that begins here; 0 if none does.
pub(super) fn word_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_word_byte = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let ascii = bytes.iter().take_while(is_word_byte).count();
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

/// A set of words that has false positives: one bit for each combination of the first two bytes,
/// the last one and the length.
struct WordFilter(Vec<u64>);

impl Default for WordFilter {
    fn default() -> Self {
        Self(vec![0; 1 << 10])
    }
}

impl WordFilter {
    fn bit(word: &[u8]) -> usize {
        let byte = |at: usize| word.get(at).copied().map_or(0, usize::from);
        let ends = byte(0) << 16 ^ byte(1) << 8 ^ byte(word.len().wrapping_sub(1));
        // The middle bits of the product depend on all bytes.
        (ends ^ word.len() << 21).wrapping_mul(0x9E37_79B1) >> 12 & 0xFFFF
    }

    fn insert(&mut self, word: &[u8]) {
        let bit = Self::bit(word);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn contains(&self, word: &[u8]) -> bool {
        let bit = Self::bit(word);
        self.0[bit / 64] >> (bit % 64) & 1 != 0
    }
}

/// The hasher of the maps, eight bytes at a time. The keys are ours and not an attacker's.
#[derive(Default)]
pub(super) struct FoldHasher(u64);

pub(super) type FoldBuilder = std::hash::BuildHasherDefault<FoldHasher>;

impl std::hash::Hasher for FoldHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            // The multiplier is that of FxHash; the rotation brings the high bits, which are the
            // best mixed, to the place that the map takes its index from.
            let mixed = (self.0 ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
            self.0 = mixed.rotate_left(26);
        }
    }

    fn write_u8(&mut self, _: u8) {
        // What follows a string; the maps have keys of one type each.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
