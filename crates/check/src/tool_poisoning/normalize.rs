//! Normalises a text, so that disguised words are found like plain ones.
//!
//! Attackers write words so that a filter does not find them and a model still reads them. This
//! file undoes, in this order:
//!
//! ```text
//! source text         "&#73;gn\u{200B}0re  y o u r  rulеs"      (with a Cyrillic `е`)
//!   1 escapes         `&#73;`, `&#x49;`, `\u0049`              → the character they stand for
//!   2 invisible       zero-width characters, selectors         → removed
//!     tag characters  U+E0020..U+E007E                         → the ASCII text that they spell
//!   3 forms           ｉｇｎｏｒｅ, 𝐢𝐠𝐧𝐨𝐫𝐞, é, ß, ɪɢɴᴏʀᴇ          → ignore, ignore, e, ss, ignore
//!   4 mixed scripts   Cyrillic or Greek letters in Latin words → the Latin letter they look like
//!   5 digits          `1gn0re`                                 → ignore
//!   6 spelled out     `i g n o r e`, `i.g.n.o.r.e`             → ignore
//!   7 white space     runs of it                               → one space, or a line break
//! normalised text     "ignore your rules"
//! ```
//!
//! Each normalised byte remembers which byte of the source it came from, so that a finding points
//! at what the author wrote. Most texts are plain ASCII and need nothing of this: one pass over the
//! bytes ([`NeededSteps`]) finds out, and then lower-casing is all that is done.
//!
//! Not undone: misspelled words, words split by a space (`igno re`), words in another order. Base64
//! and its like are decoded in `encoded_text`, sentences without gaps in `spelled_out`. Nothing
//! here depends on which words matter.

use std::ops::Range;

use unicode_normalization::char::decompose_compatible;
use unicode_security::confusable_detection::skeleton;

use super::near;

/// A normalised text: lower case, one space between words, `\n` only where a paragraph or a list
/// item begins.
pub(super) struct NormalizedText<'t> {
    source: &'t str,
    pub(super) text: String,
    /// For each byte of `text` the byte of `source` where its character begins. `None` if both have
    /// the same offsets, as after mere lower-casing.
    source_offsets: Option<Vec<u32>>,
    /// Whether `text` may have a sign that markup begins with. False positives are allowed.
    pub(super) may_have_markup: bool,
    /// Whether the source may have words whose letters are written apart.
    pub(super) has_single_letters: bool,
}

impl<'t> NormalizedText<'t> {
    #[cfg(test)]
    pub(super) fn new(source: &'t str) -> Self {
        Self::reusing(source, String::new())
    }

    /// Normalises a text, with a buffer whose memory is used again: documents have thousands of
    /// short texts.
    pub(super) fn reusing(source: &'t str, mut text: String) -> Self {
        let needed = NeededSteps::of(source.as_bytes());
        if !needed.more_than_lower_case() {
            text.clear();
            text.push_str(source);
            text.make_ascii_lowercase();
            if needed.line_breaks {
                // A line break within a paragraph separates words, as a space does.
                text = text.replace(['\n', '\t'], " ");
            }
            return Self {
                source,
                text,
                source_offsets: None,
                may_have_markup: needed.markup_signs,
                has_single_letters: false,
            };
        }
        let mut chars = FoldedChars::read(source);
        if needed.non_ascii {
            chars.replace_lookalikes();
        }
        // Folding may have made ASCII of anything, so these two always follow it.
        if needed.digits || needed.non_ascii {
            chars.replace_digits();
        }
        if needed.spelled_out || needed.non_ascii {
            chars.join_spelled_out();
        }
        NormalizedText { has_single_letters: needed.spelled_out, ..chars.into_text(source) }
    }

    /// The bytes of the source that became these bytes of the normalised text. The range must not
    /// be empty.
    pub(super) fn in_source(&self, range: &Range<usize>) -> Range<usize> {
        let Some(offsets) = &self.source_offsets else { return range.clone() };
        let last = offsets[range.end - 1] as usize;
        let end = last + self.source[last..].chars().next().map_or(0, char::len_utf8);
        offsets[range.start] as usize..end
    }
}

/// The steps that a text needs besides lower-casing. Most texts need none.
#[derive(Default)]
struct NeededSteps {
    /// Not ASCII, a control character, an escape.
    non_ascii: bool,
    /// Single line breaks inside a paragraph.
    line_breaks: bool,
    /// More than one white-space character in a row, or a line that begins a paragraph or an item.
    white_space: bool,
    /// A digit or sign between letters.
    digits: bool,
    /// Single letters in a row.
    spelled_out: bool,
    /// A sign that markup begins with.
    markup_signs: bool,
}

impl NeededSteps {
    fn more_than_lower_case(&self) -> bool {
        self.non_ascii || self.white_space || self.digits || self.spelled_out
    }

    /// One pass over the bytes. `recent` holds the classes of the last eight, one byte each, the
    /// last one lowest: a condition on several neighbours is then one comparison.
    fn of(bytes: &[u8]) -> Self {
        let mut needed = Self::default();
        let (mut recent, mut seen) = (0u64, 0u8);
        for byte in bytes {
            let class = BYTE_CLASSES[*byte as usize];
            // Inside a word none of the conditions can become true, and most letters are there.
            let in_word = class == LETTER && recent as u8 & LETTER != 0;
            recent = recent << 8 | u64::from(class);
            seen |= class;
            if !in_word {
                needed.check_recent(recent);
            }
        }
        // The end of the text ends a word.
        needed.check_recent(recent << 8 | u64::from(OTHER_SIGN));
        needed.non_ascii = seen & NON_ASCII != 0;
        needed.line_breaks = seen & LINE_BREAK != 0;
        needed.markup_signs = seen & MARKUP_SIGN != 0;
        needed
    }

    /// The masks have one byte per neighbour, the constants below as their bits.
    fn check_recent(&mut self, recent: u64) {
        // Letter, digit, letter; letter, digit, digit, letter.
        self.digits |= recent & 0x01_02_01 == 0x01_02_01 || recent & 0x01_02_02_01 == 0x01_02_02_01;
        // Three letters, each between two characters that are not letters.
        self.spelled_out |= recent & 0x01_01_01_01_01_01_01 == 0x01_00_01_00_01_00;
        // A line break, then neither a letter nor white space: the sign of a list item.
        let item = recent & 0x08_05 == 0x08_00;
        self.white_space |= recent & 0x04_04 == 0x04_04 || item;
    }
}

// Classes of bytes; a byte may have several.
const OTHER_SIGN: u8 = 0;
const LETTER: u8 = 1;
/// A digit or sign that can stand for a letter.
const DIGIT: u8 = 2;
const WHITE_SPACE: u8 = 4;
/// White space that is not a space.
const LINE_BREAK: u8 = 8;
/// Not ASCII, a control character, the beginning of an escape.
const NON_ASCII: u8 = 16;
/// A sign that markup begins with, or has.
const MARKUP_SIGN: u8 = 64;

const BYTE_CLASSES: [u8; 256] = {
    let mut classes = [NON_ASCII; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0' | b'1' | b'3' | b'4' | b'5' | b'7' | b'@' | b'$' | b'!' | b'|' => DIGIT,
            b'&' | b'\\' => NON_ASCII,
            b' ' => WHITE_SPACE,
            b'\n' | b'\t' | b'\r' => WHITE_SPACE | LINE_BREAK,
            b'<' | b'#' | b'[' | b'{' | b'*' | b':' | b'`' | b'~' => MARKUP_SIGN,
            b'!'..=b'~' => OTHER_SIGN,
            _ => NON_ASCII,
        };
        byte += 1;
    }
    classes
};

/// Whether a character renders as nothing and is not white space: Unicode's default ignorables and
/// fillers that no font draws.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF9}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// The ASCII character that a tag character (U+E0020..U+E007E) stands for. Models read tags as
/// text; no font shows them.
pub(super) fn ascii_of_tag(c: char) -> Option<char> {
    let code = u32::from(c).checked_sub(0xE0000)?;
    (0x20..0x7F).contains(&code).then(|| char::from_u32(code)).flatten()
}

/// Folded characters, each with the byte of the source it came from. Each method is one step of the
/// normalisation.
struct FoldedChars {
    chars: Vec<(char, u32)>,
}

impl FoldedChars {
    /// Steps 1 to 3: escapes, invisible characters, forms.
    fn read(source: &str) -> Self {
        let mut chars = Vec::with_capacity(source.len());
        let mut after_tag = false;
        let mut escape_end = 0;
        for (offset, c) in source.char_indices() {
            let at = u32::try_from(offset).expect("a document has at most 16 MiB");
            if offset < escape_end {
                continue;
            }
            if let Some((meant, len)) =
                matches!(c, '&' | '\\').then(|| unescape(&source[offset..])).flatten()
            {
                fold_char(meant, |folded| chars.push((folded, at)));
                escape_end = offset + len;
            } else if c.is_ascii() {
                chars.push((c.to_ascii_lowercase(), at));
            } else if let Some(ascii) = ascii_of_tag(c) {
                // What tags spell is a paragraph of its own: it does not continue the visible text.
                if !after_tag {
                    chars.extend([('\n', at), ('\n', at)]);
                }
                chars.push((ascii.to_ascii_lowercase(), at));
            } else if !is_invisible(c) {
                fold_char(c, |folded| chars.push((folded, at)));
            }
            after_tag = ascii_of_tag(c).is_some();
        }
        Self { chars }
    }

    /// Step 4. Words of one script stay as they are: `мир` is Russian. In a word that mixes Latin
    /// letters with others, the others are disguise.
    fn replace_lookalikes(&mut self) {
        for word in words(&self.chars) {
            let word = &mut self.chars[word];
            let is_mixed = word.iter().any(|(c, _)| c.is_ascii_alphabetic())
                && word.iter().any(|(c, _)| !c.is_ascii());
            if !is_mixed {
                continue;
            }
            for (c, _) in word {
                if let Some(latin) = latin_lookalike(*c) {
                    *c = latin;
                }
            }
        }
    }

    /// Step 5, `1gn0re y0ur ru1es`: digits and signs between letters become letters.
    fn replace_digits(&mut self) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || letter_of_digit(c).is_some();
        // After one such word in a text, digits count at the ends of words, too: `4ll`.
        let mut seen_in_text = false;
        let mut at = 0;
        while at < self.chars.len() {
            let len = self.chars[at..].iter().take_while(|(c, _)| is_part(*c)).count();
            // `!` at the end of a word ends a sentence and is not a letter.
            let ending =
                self.chars[at..at + len].iter().rev().take_while(|(c, _)| *c == '!').count();
            let word = &mut self.chars[at..at + len - ending];
            let is_letter = |(c, _): (char, u32)| c.is_ascii_lowercase();
            let is_digit = |(c, _): (char, u32)| letter_of_digit(c).is_some();
            // One or two digits between letters, as `NeededSteps` looks for them.
            let inside =
                word.windows(3).any(|w| is_letter(w[0]) && is_digit(w[1]) && is_letter(w[2]))
                    || word.windows(4).any(|w| {
                        is_letter(w[0]) && is_digit(w[1]) && is_digit(w[2]) && is_letter(w[3])
                    });
            seen_in_text |= inside;
            if inside || seen_in_text && word.iter().any(|c| is_letter(*c)) {
                replace_digits_in(word);
            }
            at += len.max(1);
        }
    }

    /// Step 6, `i g n o r e`, `i.g.n.o.r.e`: three or more single letters with the same character
    /// between each two.
    fn join_spelled_out(&mut self) {
        let mut joined = Vec::with_capacity(self.chars.len());
        let mut at = 0;
        while at < self.chars.len() {
            let before = at.checked_sub(1).map(|before| self.chars[before].0);
            let letters = count_spelled_out(&self.chars[at..], before);
            if letters < 3 {
                joined.push(self.chars[at]);
                at += 1;
                continue;
            }
            joined.extend(self.chars[at..at + 2 * letters - 1].iter().step_by(2));
            at += 2 * letters - 1;
        }
        self.chars = joined;
    }

    /// Step 7, and the characters as one text.
    fn into_text(self, source: &str) -> NormalizedText<'_> {
        let mut text = String::with_capacity(source.len());
        let mut offsets = Vec::with_capacity(source.len());
        let mut at = 0;
        while at < self.chars.len() {
            let (c, offset) = self.chars[at];
            let white = self.chars[at..].iter().take_while(|(c, _)| c.is_whitespace()).count();
            let written = match white {
                0 => c,
                _ => {
                    let next = self.chars.get(at + white).map(|(c, _)| *c);
                    separator(&self.chars[at..at + white], next)
                }
            };
            text.push(written);
            offsets.extend(std::iter::repeat_n(offset, written.len_utf8()));
            at += white.max(1);
        }
        // Which signs there were is not tracked here, so assume the worst.
        NormalizedText {
            source,
            text,
            source_offsets: Some(offsets),
            may_have_markup: true,
            has_single_letters: false,
        }
    }
}

/// What replaces a run of white space: a line break where a new paragraph or list item begins, a
/// space elsewhere.
fn separator(white_space: &[(char, u32)], next: Option<char>) -> char {
    let lines = white_space.iter().filter(|(c, _)| *c == '\n').count();
    let item =
        next.is_none_or(|c| matches!(c, '-' | '*' | '#' | '[' | '<' | '•') || c.is_ascii_digit());
    if lines > 1 || (lines == 1 && item) { '\n' } else { ' ' }
}

/// The character that `&#105;`, `&#x69;` or `\\u0069` stands for, and how long that is. Only
/// letters and digits: other escapes cannot hide words.
fn unescape(text: &str) -> Option<(char, usize)> {
    let (digits, radix, len) = if let Some(rest) = text.strip_prefix("&#x") {
        let digits = &rest[..near(rest, 0, 7).find(';')?];
        (digits, 16, 4 + digits.len())
    } else if let Some(rest) = text.strip_prefix("&#") {
        let digits = &rest[..near(rest, 0, 8).find(';')?];
        (digits, 10, 3 + digits.len())
    } else {
        (text.strip_prefix("\\u")?.get(..4)?, 16, 6)
    };
    let c = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    c.is_alphanumeric().then_some((c, len))
}

/// How many single letters begin here, with the same separator between each two. `before` is the
/// character in front of the first one.
fn count_spelled_out(chars: &[(char, u32)], before: Option<char>) -> usize {
    let separator = match chars {
        [(first, _), (separator, _), ..] if first.is_alphabetic() => *separator,
        _ => return 0,
    };
    if !matches!(separator, ' ' | '.' | '-' | '_' | '*' | '/' | '·' | '\u{30FB}')
        || before.is_some_and(char::is_alphanumeric)
    {
        return 0;
    }
    let mut letters = 1;
    while let [(between, _), (letter, _), rest @ ..] = &chars[2 * letters - 1..]
        && *between == separator
        && letter.is_alphabetic()
        && !rest.first().is_some_and(|(c, _)| c.is_alphanumeric())
    {
        letters += 1;
    }
    letters
}

fn replace_digits_in(word: &mut [(char, u32)]) {
    for at in 0..word.len() {
        // `1` is an `l` between vowels and beside another one, otherwise an `i`: `ru1es`, `a11`,
        // `1gnore`.
        let vowel =
            |at: usize| word.get(at).is_some_and(|(c, _)| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u'));
        let l = |at: usize| word.get(at).is_some_and(|(c, _)| matches!(c, 'l' | '1'));
        let as_l = at > 0 && ((vowel(at - 1) && vowel(at + 1)) || l(at - 1) || l(at + 1));
        let (c, _) = word[at];
        if let Some(letter) = letter_of_digit(c) {
            word[at].0 = if c == '1' && as_l { 'l' } else { letter };
        }
    }
}

/// The letter that a digit or sign stands for in "leetspeak".
fn letter_of_digit(c: char) -> Option<char> {
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

/// The runs of letters and digits, as indices.
fn words(chars: &[(char, u32)]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let len = chars[at..].iter().take_while(|(c, _)| c.is_alphanumeric()).count();
        if len > 0 {
            words.push(at..at + len);
        }
        at += len.max(1);
    }
    words
}

/// Emits a character in lower case without accents, and compatibility forms (full width,
/// mathematical, ligatures) as the letters they stand for.
///
/// Kana, Han and Hangul stay composed: decomposed, a voiced kana would become another letter and a
/// Hangul syllable several, and word lists would have to be written so.
pub(super) fn fold_char(c: char, mut emit: impl FnMut(char)) {
    if matches!(c, '\u{3040}'..='\u{30FF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}') {
        return emit(c);
    }
    // U+0300..U+036F are the combining accents.
    let is_accent = |c: char| matches!(c, '\u{300}'..='\u{36F}');
    decompose_compatible(c, |part| {
        if is_accent(part) {
            return;
        }
        match letters_of(part) {
            Some(letters) => letters.chars().for_each(&mut emit),
            None => part.to_lowercase().filter(|c| !is_accent(*c)).for_each(&mut emit),
        }
    });
}

/// The letters that readers see in characters that Unicode does not decompose: strokes, ligatures,
/// apostrophes, small capitals.
fn letters_of(c: char) -> Option<&'static str> {
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
pub(super) fn latin_lookalike(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    // Unicode's table of confusables lacks these pairs, which only a careful reader tells apart.
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
    let mut lookalike = skeleton(c.encode_utf8(&mut [0; 4])).collect::<Vec<_>>().into_iter();
    match (lookalike.next(), lookalike.next()) {
        (Some(c), None) if c.is_ascii_alphanumeric() => Some(c.to_ascii_lowercase()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conditions of `NeededSteps`, each looked for by itself: digits, spelled out, white
    /// space. Nothing stands before the text and a sign after it.
    fn needed_by_definition(bytes: &[u8]) -> [bool; 3] {
        let text = bytes.iter().map(|byte| BYTE_CLASSES[*byte as usize]);
        let classes: Vec<u8> =
            [OTHER_SIGN; 7].into_iter().chain(text).chain([OTHER_SIGN]).collect();
        let has = |len: usize, is: &dyn Fn(&[u8]) -> bool| classes.windows(len).any(is);
        let letter = |class: u8| class & LETTER != 0;
        let digit = |class: u8| class & DIGIT != 0;
        [
            has(3, &|w| letter(w[0]) && digit(w[1]) && letter(w[2]))
                || has(4, &|w| letter(w[0]) && digit(w[1]) && digit(w[2]) && letter(w[3])),
            has(7, &|w| w.iter().enumerate().all(|(n, class)| letter(*class) == (n % 2 == 1))),
            has(2, &|w| w[0] & WHITE_SPACE != 0 && w[1] & WHITE_SPACE != 0)
                || has(2, &|w| w[0] & LINE_BREAK != 0 && w[1] & (LETTER | WHITE_SPACE) == 0),
        ]
    }

    /// All texts of up to six bytes of the classes that matter.
    #[test]
    fn one_pass_finds_the_same_needed_steps_as_their_definitions() {
        let mut texts = vec![Vec::new()];
        for _ in 0..6 {
            let longer = |text: &Vec<u8>| b"a1 \n-".map(|byte| [text.as_slice(), &[byte]].concat());
            texts = texts.iter().flat_map(longer).collect();
            for text in &texts {
                let needed = NeededSteps::of(text);
                let found = [needed.digits, needed.spelled_out, needed.white_space];
                let expected = needed_by_definition(text);
                assert_eq!(found, expected, "{:?}", text.escape_ascii().to_string());
            }
        }
        assert_eq!(needed_by_definition(b"a b c"), [false, true, false]);
    }
}
