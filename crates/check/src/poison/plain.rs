//! The text as a model reads it: compatibility forms, accents, look-alike letters, invisible
//! characters, digits for letters and spelled-out words undone, and a way back from there to the
//! bytes of the source.
//!
//! Nothing here knows which words matter.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::decompose_compatible;
use unicode_security::confusable_detection::skeleton;

/// A folded text. Lower case, one space between words, `\n` only where a paragraph or a list item
/// begins.
pub(super) struct Plain<'t> {
    source: &'t str,
    pub(super) text: String,
    /// For each byte of `text` the byte in `source` where its character begins; none if both are
    /// the same.
    places: Option<Vec<u32>>,
    /// Parts of `text` that were spelled out letter by letter, so that word boundaries are unknown.
    loose: Vec<Range<usize>>,
    /// Whether any word of the source is written `likeThis`.
    camel: bool,
    /// Whether `text` may have a sign that markup begins with.
    pub(super) signs: bool,
}

impl<'t> Plain<'t> {
    pub(super) fn fold(source: &'t str) -> Self {
        Self::fold_into(source, String::new())
    }

    /// The same, with memory that another text has left.
    pub(super) fn fold_into(source: &'t str, mut text: String) -> Self {
        let oddities = Oddities::of(source.as_bytes());
        if !oddities.any() {
            text.clear();
            text.push_str(source);
            text.make_ascii_lowercase();
            if oddities.lines {
                text = text.replace(['\n', '\t'], " ");
            }
            let Oddities { camel, signs, .. } = oddities;
            return Self { source, text, places: None, loose: Vec::new(), camel, signs };
        }
        let mut letters = Letters::read(source);
        if oddities.foreign {
            letters.unmix();
        }
        if oddities.digits || oddities.foreign {
            letters.undo_digits();
        }
        if oddities.spelled || oddities.foreign {
            letters.join_spelled();
        }
        Self { camel: oddities.camel, ..letters.write(source) }
    }

    /// The bytes of the source that became these bytes of the folded text.
    pub(super) fn in_source(&self, range: &Range<usize>) -> Range<usize> {
        let Some(places) = &self.places else { return range.clone() };
        let last = places[range.end - 1] as usize;
        let end = last + self.source[last..].chars().next().map_or(0, char::len_utf8);
        places[range.start] as usize..end
    }

    /// Whether a word is written `likeThis` in the source.
    pub(super) fn is_camel(&self, word: &Range<usize>) -> bool {
        if !self.camel {
            return false;
        }
        let source = &self.source.as_bytes()[self.in_source(word)];
        source.first().is_some_and(u8::is_ascii_lowercase)
            && source.iter().any(u8::is_ascii_uppercase)
    }

    pub(super) fn is_loose(&self, at: usize) -> bool {
        let next = self.loose.partition_point(|range| range.end <= at);
        self.loose.get(next).is_some_and(|range| range.contains(&at))
    }
}

/// What a text has that takes more than lower-casing. Most have nothing.
#[derive(Default)]
struct Oddities {
    /// Not ASCII, a control character, an escape.
    foreign: bool,
    /// Single line breaks inside a paragraph.
    lines: bool,
    /// More than one blank in a row, or a line that begins a paragraph or an item.
    blanks: bool,
    /// A digit or sign between letters.
    digits: bool,
    /// Single letters in a row.
    spelled: bool,
    /// A word written `likeThis`.
    camel: bool,
    /// A sign that markup begins with.
    signs: bool,
}

impl Oddities {
    fn any(&self) -> bool {
        self.foreign || self.blanks || self.digits || self.spelled
    }

    fn of(bytes: &[u8]) -> Self {
        let mut odd = Self::default();
        let (mut last, mut seen) = (0u64, 0u8);
        for byte in bytes {
            let class = CLASSES[*byte as usize];
            // Amid a word nothing is odd, and that is where most letters stand.
            let in_word = class == LETTER && last as u8 & LETTER != 0;
            last = last << 8 | u64::from(class);
            seen |= class;
            if !in_word {
                odd.look(last);
            }
        }
        odd.look(last << 8 | u64::from(MARK));
        odd.foreign = seen & FOREIGN != 0;
        odd.lines = seen & BREAK != 0;
        odd.signs = seen & SIGN != 0;
        odd
    }

    /// Looks at the classes of the last eight characters, one byte each.
    fn look(&mut self, last: u64) {
        self.digits |= last & 0x01_02_01 == 0x01_02_01 || last & 0x01_02_02_01 == 0x01_02_02_01;
        self.spelled |= last & 0x01_01_01_01_01_01_01 == 0x01_00_01_00_01_00;
        let item = last & 0x08_05 == 0x08_00;
        self.blanks |= last & 0x04_04 == 0x04_04 || item;
        self.camel |= last & 0x21_20 == 0x01_20;
    }
}

const LETTER: u8 = 1;
/// A digit or sign that can stand for a letter.
const DIGIT: u8 = 2;
const BLANK: u8 = 4;
/// A blank that is not a space.
const BREAK: u8 = 8;
/// Not ASCII, a control character, the beginning of an escape.
const FOREIGN: u8 = 16;
/// Besides `LETTER`.
const UPPER: u8 = 32;
const MARK: u8 = 0;
/// A mark that markup begins with, or has.
const SIGN: u8 = 64;

const CLASSES: [u8; 256] = {
    let mut classes = [FOREIGN; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => LETTER,
            b'A'..=b'Z' => LETTER | UPPER,
            b'0' | b'1' | b'3' | b'4' | b'5' | b'7' | b'@' | b'$' | b'!' | b'|' => DIGIT,
            b'&' | b'\\' => FOREIGN,
            b' ' => BLANK,
            b'\n' | b'\t' | b'\r' => BLANK | BREAK,
            b'<' | b'#' | b'[' | b'{' | b'*' | b':' | b'`' | b'~' => SIGN,
            b'!'..=b'~' => MARK,
            _ => FOREIGN,
        };
        byte += 1;
    }
    classes
};

/// What renders as nothing and is not white space.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// The ASCII character that a tag character stands for.
pub(super) fn tag(c: char) -> Option<char> {
    let code = u32::from(c).checked_sub(0xE0000)?;
    (0x20..0x7F).contains(&code).then(|| char::from_u32(code)).flatten()
}

/// Folded characters, each with the byte of the source it came from.
struct Letters {
    list: Vec<(char, u32)>,
    /// Spelled-out stretches, as indices into `list`.
    loose: Vec<Range<usize>>,
}

impl Letters {
    fn read(source: &str) -> Self {
        let mut list = Vec::with_capacity(source.len());
        let mut tagged = false;
        let mut escaped = 0;
        for (place, c) in source.char_indices() {
            let at = u32::try_from(place).expect("a document has at most 16 MiB");
            if place < escaped {
                continue;
            }
            if let Some((meant, len)) =
                matches!(c, '&' | '\\').then(|| unescape(&source[place..])).flatten()
            {
                fold_char(meant, |folded| list.push((folded, at)));
                escaped = place + len;
            } else if c.is_ascii() {
                list.push((c.to_ascii_lowercase(), at));
            } else if let Some(ascii) = tag(c) {
                // What is hidden in tags is a sentence of its own.
                if !tagged {
                    list.extend([('\n', at), ('\n', at)]);
                }
                list.push((ascii.to_ascii_lowercase(), at));
            } else if !is_invisible(c) {
                fold_char(c, |folded| list.push((folded, at)));
            }
            tagged = tag(c).is_some();
        }
        Self { list, loose: Vec::new() }
    }

    /// Words of one script are left alone; in a word that mixes Latin with others, the others are
    /// disguise.
    fn unmix(&mut self) {
        for word in words(&self.list) {
            let word = &mut self.list[word];
            if !(word.iter().any(|(c, _)| c.is_ascii_alphabetic())
                && word.iter().any(|(c, _)| !c.is_ascii()))
            {
                continue;
            }
            for (c, _) in word {
                if let Some(latin) = latin_twin(*c) {
                    *c = latin;
                }
            }
        }
    }

    /// `1gn0re y0ur ru1es`: digits and signs between letters become letters.
    fn undo_digits(&mut self) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || leet(c).is_some();
        // Who writes one word like this writes others so: `4ll` then counts too.
        let mut habit = false;
        let mut at = 0;
        while at < self.list.len() {
            let len = self.list[at..].iter().take_while(|(c, _)| is_part(*c)).count();
            // What ends a sentence is no letter.
            let ending =
                self.list[at..at + len].iter().rev().take_while(|(c, _)| *c == '!').count();
            let word = &mut self.list[at..at + len - ending];
            let inside = word
                .windows(3)
                .any(|w| is_letter(w[0].0) && leet(w[1].0).is_some() && is_letter(w[2].0))
                || word.windows(4).any(|w| {
                    is_letter(w[0].0)
                        && leet(w[1].0).is_some()
                        && leet(w[2].0).is_some()
                        && is_letter(w[3].0)
                });
            habit |= inside;
            if inside || habit && word.iter().any(|(c, _)| is_letter(*c)) {
                undo_digits_in(word);
            }
            at += len.max(1);
        }
    }

    /// `i g n o r e`, `i.g.n.o.r.e`: three or more single letters with the same character between
    /// them.
    fn join_spelled(&mut self) {
        let mut joined = Vec::with_capacity(self.list.len());
        let mut at = 0;
        while at < self.list.len() {
            let letters =
                spelled(&self.list[at..], at.checked_sub(1).map(|before| self.list[before].0));
            if letters < 3 {
                joined.push(self.list[at]);
                at += 1;
                continue;
            }
            let start = joined.len();
            joined.extend(self.list[at..at + 2 * letters - 1].iter().step_by(2));
            self.loose.push(start..joined.len());
            at += 2 * letters - 1;
        }
        self.list = joined;
    }

    fn write(self, source: &str) -> Plain<'_> {
        let mut text = String::with_capacity(source.len());
        let mut places = Vec::with_capacity(source.len());
        let mut loose = Vec::new();
        let mut stretches = self.loose.into_iter().peekable();
        let mut at = 0;
        while at < self.list.len() {
            let (c, place) = self.list[at];
            if stretches.peek().is_some_and(|stretch| stretch.start == at) {
                let stretch = stretches.next().expect("peeked");
                let bytes: usize = self.list[stretch].iter().map(|(c, _)| c.len_utf8()).sum();
                loose.push(text.len()..text.len() + bytes);
            }
            let blank = self.list[at..].iter().take_while(|(c, _)| c.is_whitespace()).count();
            let written = match blank {
                0 => c,
                _ => gap(&self.list[at..at + blank], self.list.get(at + blank).map(|(c, _)| *c)),
            };
            text.push(written);
            places.extend(std::iter::repeat_n(place, written.len_utf8()));
            at += blank.max(1);
        }
        Plain { source, text, places: Some(places), loose, camel: true, signs: true }
    }
}

/// Of white space, only whether a new paragraph or list item begins matters.
fn gap(blank: &[(char, u32)], next: Option<char>) -> char {
    let lines = blank.iter().filter(|(c, _)| *c == '\n').count();
    let item =
        next.is_none_or(|c| matches!(c, '-' | '*' | '#' | '[' | '<' | '•') || c.is_ascii_digit());
    if lines > 1 || (lines == 1 && item) { '\n' } else { ' ' }
}

/// The character that `&#105;`, `&#x69;` or `\\u0069` stands for, and how long that is.
fn unescape(text: &str) -> Option<(char, usize)> {
    let (digits, radix, len) = if let Some(rest) = text.strip_prefix("&#x") {
        let digits = &rest[..rest.find(';').filter(|len| *len <= 6)?];
        (digits, 16, 4 + digits.len())
    } else if let Some(rest) = text.strip_prefix("&#") {
        let digits = &rest[..rest.find(';').filter(|len| *len <= 7)?];
        (digits, 10, 3 + digits.len())
    } else {
        (text.strip_prefix("\\u")?.get(..4)?, 16, 6)
    };
    let c = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    c.is_alphanumeric().then_some((c, len))
}

/// How many single letters stand here with the same separator between each two.
fn spelled(list: &[(char, u32)], before: Option<char>) -> usize {
    let separator = match list {
        [(first, _), (separator, _), ..] if first.is_alphabetic() => *separator,
        _ => return 0,
    };
    if !matches!(separator, ' ' | '.' | '-' | '_' | '*' | '/' | '·' | '\u{30FB}')
        || before.is_some_and(char::is_alphanumeric)
    {
        return 0;
    }
    let mut letters = 1;
    while let [(between, _), (letter, _), rest @ ..] = &list[2 * letters - 1..]
        && *between == separator
        && letter.is_alphabetic()
        && !rest.first().is_some_and(|(c, _)| c.is_alphanumeric())
    {
        letters += 1;
    }
    letters
}

fn undo_digits_in(word: &mut [(char, u32)]) {
    for at in 0..word.len() {
        // `1` is an `l` between vowels and beside another `l`, otherwise an `i`.
        let vowel =
            |at: usize| word.get(at).is_some_and(|(c, _)| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u'));
        let l = |at: usize| word.get(at).is_some_and(|(c, _)| *c == 'l');
        let as_l = at > 0 && ((vowel(at - 1) && vowel(at + 1)) || l(at - 1) || l(at + 1));
        let (c, _) = word[at];
        if let Some(letter) = leet(c) {
            word[at].0 = if c == '1' && as_l { 'l' } else { letter };
        }
    }
}

fn leet(c: char) -> Option<char> {
    Some(match c {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        '|' => 'l',
        _ => return None,
    })
}

fn is_letter(c: char) -> bool {
    c.is_ascii_lowercase()
}

fn words(list: &[(char, u32)]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < list.len() {
        let len = list[at..].iter().take_while(|(c, _)| c.is_alphanumeric()).count();
        if len > 0 {
            words.push(at..at + len);
        }
        at += len.max(1);
    }
    words
}

/// Compatibility forms and accents undone, lower case. Hangul and kana stay composed.
pub(super) fn fold_char(c: char, mut emit: impl FnMut(char)) {
    if matches!(c, '\u{3040}'..='\u{30FF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}') {
        return emit(c);
    }
    decompose_compatible(c, |part| {
        if matches!(part, '\u{300}'..='\u{36F}') {
            return;
        }
        match untable(part) {
            Some(letters) => letters.chars().for_each(&mut emit),
            None => part
                .to_lowercase()
                .filter(|c| !matches!(c, '\u{300}'..='\u{36F}'))
                .for_each(&mut emit),
        }
    });
}

/// Letters that Unicode does not decompose, though readers do.
fn untable(c: char) -> Option<&'static str> {
    Some(match c {
        'ł' | 'Ł' => "l",
        'ø' | 'Ø' => "o",
        'đ' | 'Đ' => "d",
        'ı' => "i",
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        '\u{2018}' | '\u{2019}' | '\u{2BC}' | '\u{2032}' | '\u{FF07}' => "'",
        'ᴀ' => "a",
        'ʙ' => "b",
        'ᴄ' => "c",
        'ᴅ' => "d",
        'ᴇ' => "e",
        'ꜰ' => "f",
        'ɢ' => "g",
        'ʜ' => "h",
        'ɪ' => "i",
        'ᴊ' => "j",
        'ᴋ' => "k",
        'ʟ' => "l",
        'ᴍ' => "m",
        'ɴ' => "n",
        'ᴏ' => "o",
        'ᴘ' => "p",
        'ʀ' => "r",
        'ꜱ' => "s",
        'ᴛ' => "t",
        'ᴜ' => "u",
        'ᴠ' => "v",
        'ᴡ' => "w",
        'ʏ' => "y",
        'ᴢ' => "z",
        _ => return None,
    })
}

/// The Latin letter that this letter of another script looks like.
pub(super) fn latin_twin(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    // Unicode's table keeps apart what only a careful reader does.
    match c {
        'к' | 'κ' => return Some('k'),
        'м' => return Some('m'),
        'т' | 'τ' => return Some('t'),
        'в' | 'β' => return Some('b'),
        'н' | 'η' => return Some('n'),
        'п' => return Some('n'),
        'ε' | 'є' => return Some('e'),
        'ι' => return Some('i'),
        'υ' => return Some('u'),
        'х' | 'χ' => return Some('x'),
        _ => {}
    }
    let mut twin = skeleton(c.encode_utf8(&mut [0; 4])).collect::<Vec<_>>().into_iter();
    match (twin.next(), twin.next()) {
        (Some(c), None) if c.is_ascii_alphanumeric() => Some(c.to_ascii_lowercase()),
        _ => None,
    }
}

/// A word of the lexicon, folded like the text it is looked for in.
pub(super) fn fold_word(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let mut folded = String::new();
    word.chars()
        .for_each(|c| if c.is_ascii() { folded.push(c) } else { fold_char(c, |c| folded.push(c)) });
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is odd, by its definition: each thing looked for by itself, with nothing before the
    /// text and a mark behind it.
    fn slowly(bytes: &[u8]) -> [bool; 4] {
        let text = bytes.iter().map(|byte| CLASSES[*byte as usize]);
        let classes: Vec<u8> = [MARK; 7].into_iter().chain(text).chain([MARK]).collect();
        let has = |len: usize, is: &dyn Fn(&[u8]) -> bool| classes.windows(len).any(is);
        let letter = |class: u8| class & LETTER != 0;
        let digit = |class: u8| class & DIGIT != 0;
        [
            has(3, &|w| letter(w[0]) && digit(w[1]) && letter(w[2]))
                || has(4, &|w| letter(w[0]) && digit(w[1]) && digit(w[2]) && letter(w[3])),
            has(7, &|w| w.iter().enumerate().all(|(n, class)| letter(*class) == (n % 2 == 1))),
            has(2, &|w| w[0] & BLANK != 0 && w[1] & BLANK != 0)
                || has(2, &|w| w[0] & BREAK != 0 && w[1] & (LETTER | BLANK) == 0),
            has(2, &|w| w[0] & (LETTER | UPPER) == LETTER && w[1] & UPPER != 0),
        ]
    }

    #[test]
    fn oddities_are_found_in_one_pass() {
        let mut texts = vec![Vec::new()];
        for _ in 0..6 {
            let longer =
                |text: &Vec<u8>| b"aB1 \n-".map(|byte| [text.as_slice(), &[byte]].concat());
            texts = texts.iter().flat_map(longer).collect();
            for text in &texts {
                let odd = Oddities::of(text);
                let found = [odd.digits, odd.spelled, odd.blanks, odd.camel];
                assert_eq!(found, slowly(text), "{:?}", text.escape_ascii().to_string());
            }
        }
        assert_eq!(slowly(b"a b c"), [false, true, false, false]);
    }
}
