//! HIDDEN_TEXT: characters a reader does not see, or sees elsewhere than they stand.
//!
//! Invisible characters have honest uses: emoji are joined by them, Persian and Indic words need
//! them, Hebrew and Arabic text is kept in order by them. So the neighbours decide.

use std::ops::Range;

use super::instructions::instructions;
use super::plain::{is_invisible, latin_twin, tag};
use super::{Hit, quote};

/// Hidden text in `text`.
pub(crate) fn hidden(text: &str) -> Vec<Hit> {
    if is_plain(text) {
        return Vec::new();
    }
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut spots = Vec::new();
    let bidi = Bidi::of(&chars);
    let mut at = 0;
    while at < chars.len() {
        let len = run(&chars, at);
        if len > 0 {
            judge_run(&chars, at..at + len, &bidi, &mut spots);
        }
        at += len.max(1);
    }
    let mut hits: Vec<Hit> = gather(text, spots).iter().map(|spot| spot.hit(text)).collect();
    hits.extend(soft_hyphens(text, &chars));
    hits.extend(disguised(text, &chars));
    hits.sort_by_key(|hit| hit.range.start);
    hits
}

/// Whether no text of this document can have anything hidden: all of it is plain, and so is what
/// its escapes, as JSON and YAML have them, stand for.
pub(crate) fn hides_nothing(document: &str) -> bool {
    let mut escapes = document.split('\\').skip(1);
    is_plain(document) && escapes.all(|escape| escape.starts_with(['n', 't', 'r', '"', '/']))
}

/// Whether a text is ASCII without control characters. It is looked at in pieces without a way out,
/// each of which the machine takes as a whole.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r');
    text.as_bytes()
        .chunks(32)
        .all(|piece| piece.iter().fold(true, |plain, byte| plain & is_plain(byte)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Invisible,
    Bidi,
    Tags,
    Selectors,
    Control,
}

#[derive(Debug)]
struct Spot {
    kind: Kind,
    range: Range<usize>,
}

/// Bytes of visible text between two spots of one kind that are still one hit: `i<zwsp>g<zwsp>n…`.
const NEAR: usize = 16;

fn gather(text: &str, spots: Vec<Spot>) -> Vec<Spot> {
    let mut gathered: Vec<Spot> = Vec::new();
    for spot in spots {
        match gathered.last_mut() {
            Some(last)
                if last.kind == spot.kind
                    && spot.range.start - last.range.end <= NEAR
                    && text.is_char_boundary(spot.range.end) =>
            {
                last.range.end = spot.range.end;
            }
            _ => gathered.push(spot),
        }
    }
    gathered
}

impl Spot {
    fn hit(&self, text: &str) -> Hit {
        let piece = &text[self.range.clone()];
        let names = names(piece, self.kind);
        let (message, help) = match self.kind {
            Kind::Tags => {
                let says: String = piece.chars().filter_map(tag).collect();
                (
                    format!("invisible tag characters {names} spell {}", quote(&says)),
                    "remove them: a model reads what no reader sees",
                )
            }
            Kind::Selectors => match decode_selectors(piece) {
                Some(says) => (
                    format!("invisible variation selectors {names} encode {}", quote(&says)),
                    "remove them: a model may decode what no reader sees",
                ),
                None => (
                    format!(
                        "invisible variation selectors {names} follow nothing that they could vary"
                    ),
                    "remove them",
                ),
            },
            Kind::Bidi => (
                format!(
                    "{names} makes {} appear in another order than it is read in",
                    quote(piece)
                ),
                "remove it: letters of right-to-left scripts need no override",
            ),
            Kind::Control => (
                format!("control character {names} in {}", quote(&around(text, &self.range))),
                "remove it; only tabs and line breaks belong in a text",
            ),
            Kind::Invisible => match decode_bits(piece) {
                Some(says) => (
                    format!("invisible characters {names} encode {}", quote(&says)),
                    "remove them: a model may decode what no reader sees",
                ),
                None => (
                    format!("invisible {names} in {}", quote(&around(text, &self.range))),
                    "remove it: a model reads what no reader sees",
                ),
            },
        };
        Hit { range: self.range.clone(), message, help: Some(help.to_owned()) }
    }
}

/// The first few different characters as code points.
fn names(piece: &str, kind: Kind) -> String {
    let mut seen: Vec<char> = Vec::new();
    for c in piece.chars().filter(|&c| kind_of(c) == Some(kind)) {
        if !seen.contains(&c) {
            seen.push(c);
        }
    }
    let shown: Vec<String> =
        seen.iter().take(3).map(|&c| format!("U+{:04X}", u32::from(c))).collect();
    let more = if seen.len() > 3 { ", …" } else { "" };
    shown.join(", ") + more
}

/// The words a spot stands in, so that a message shows where to look.
fn around(text: &str, range: &Range<usize>) -> String {
    let start =
        text[..range.start].char_indices().rev().take(12).last().map_or(range.start, |(at, _)| at);
    let end = text[range.end..].char_indices().nth(12).map_or(text.len(), |(at, _)| range.end + at);
    text[start..end].to_owned()
}

fn kind_of(c: char) -> Option<Kind> {
    Some(match c {
        '\t' | '\n' | '\r' => return None,
        '\u{85}' => return None,
        _ if c.is_control() => Kind::Control,
        '\u{AD}' => return None,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{61C}' => {
            Kind::Bidi
        }
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => Kind::Selectors,
        '\u{E0000}'..='\u{E0FFF}' => Kind::Tags,
        '\u{2800}' => Kind::Invisible,
        _ if is_invisible(c) => Kind::Invisible,
        _ => return None,
    })
}

/// How many characters of one kind stand together here.
fn run(chars: &[(usize, char)], at: usize) -> usize {
    let Some(kind) = kind_of(chars[at].1) else { return 0 };
    chars[at..].iter().take_while(|(_, c)| kind_of(*c) == Some(kind)).count()
}

fn judge_run(chars: &[(usize, char)], run: Range<usize>, bidi: &Bidi, spots: &mut Vec<Spot>) {
    let kind = kind_of(chars[run.start].1).expect("a run is of some kind");
    let before = chars[..run.start].last().map(|(_, c)| *c);
    let after = chars.get(run.end).map(|(_, c)| *c);
    let honest = match kind {
        Kind::Control => false,
        Kind::Bidi => run.clone().all(|at| bidi.is_honest(chars, at)),
        Kind::Tags => is_flag(chars, &run),
        Kind::Selectors => {
            run.len() == 1 && before.is_some_and(|base| varies(base, chars[run.start].1))
        }
        Kind::Invisible => {
            run.len() <= 2 && run.clone().all(|at| joins(before, chars[at].1, after))
        }
    };
    if !honest {
        let end = after.map_or_else(|| end_of(chars, run.end - 1), |_| chars[run.end].0);
        spots.push(Spot { kind, range: chars[run.start].0..end });
    }
}

fn end_of(chars: &[(usize, char)], at: usize) -> usize {
    chars[at].0 + chars[at].1.len_utf8()
}

/// Flags of England, Scotland, Wales and the like: a black flag, a region in tags, the end tag.
fn is_flag(chars: &[(usize, char)], run: &Range<usize>) -> bool {
    let flag = run.start > 0 && chars[run.start - 1].1 == '\u{1F3F4}';
    let (_, last) = chars[run.end - 1];
    let region = chars[run.start..run.end - 1]
        .iter()
        .all(|(_, c)| tag(*c).is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
    flag && region && last == '\u{E007F}' && (4..=7).contains(&run.len())
}

/// Whether a variation selector has something to vary.
fn varies(base: char, selector: char) -> bool {
    let ideograph = matches!(base, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    match selector {
        // Text and emoji style; digits become keycaps.
        '\u{FE0E}' | '\u{FE0F}' => {
            !base.is_alphabetic() && !base.is_whitespace() || is_pictorial(base) || ideograph
        }
        '\u{FE00}'..='\u{FE0D}' => !base.is_ascii() && !is_latin(base),
        _ => ideograph,
    }
}

fn is_pictorial(c: char) -> bool {
    matches!(c, '\u{A9}' | '\u{AE}' | '\u{203C}'..='\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

fn is_latin(c: char) -> bool {
    c.is_alphabetic() && matches!(c, '\0'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}')
}

/// Whether a joiner, non-joiner or zero-width space does its work between these two.
fn joins(before: Option<char>, c: char, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match c {
        '\u{200D}' if is_pictorial(before) || matches!(before, '\u{FE0F}' | '\u{E007F}') => {
            after.is_some_and(is_pictorial)
        }
        '\u{200C}' | '\u{200D}' => is_joining(before) && after.is_none_or(|after| !is_latin(after)),
        '\u{200B}' | '\u{2060}' => {
            is_without_spaces(before) || after.is_some_and(is_without_spaces)
        }
        '\u{34F}' => !is_latin(before) && before.is_alphabetic(),
        '\u{180B}'..='\u{180F}' => matches!(before, '\u{1800}'..='\u{18AF}'),
        '\u{115F}' | '\u{1160}' => {
            matches!(before, '\u{1100}'..='\u{11FF}')
                || after.is_some_and(|c| matches!(c, '\u{1100}'..='\u{11FF}'))
        }
        '\u{2800}' => {
            matches!(before, '\u{2801}'..='\u{28FF}')
                || after.is_some_and(|c| matches!(c, '\u{2801}'..='\u{28FF}'))
        }
        '\u{17B4}' | '\u{17B5}' => matches!(before, '\u{1780}'..='\u{17FF}'),
        _ => false,
    }
}

/// Arabic, Syriac, N'Ko, Mandaic and the Indic scripts, Mongolian.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8FF}' | '\u{900}'..='\u{DFF}' | '\u{F00}'..='\u{109F}' | '\u{1780}'..='\u{18AF}' | '\u{1A00}'..='\u{1CFF}'
        | '\u{A800}'..='\u{A8FF}' | '\u{A980}'..='\u{AAFF}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{11000}'..='\u{11FFF}')
}

/// Thai, Lao, Tibetan, Myanmar, Khmer, Han and kana: a zero-width space says where a line may
/// break.
fn is_without_spaces(c: char) -> bool {
    matches!(c, '\u{E00}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{1950}'..='\u{1AAF}' | '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// What the text says about direction as a whole.
struct Bidi {
    rtl: bool,
    balanced: bool,
}

impl Bidi {
    fn of(chars: &[(usize, char)]) -> Self {
        let mut open = Vec::new();
        let mut balanced = true;
        for (_, c) in chars {
            match c {
                '\u{202A}'..='\u{202B}' | '\u{202D}'..='\u{202E}' => open.push('\u{202C}'),
                '\u{2066}'..='\u{2068}' => open.push('\u{2069}'),
                '\u{202C}' | '\u{2069}' => balanced &= open.pop() == Some(*c),
                _ => {}
            }
        }
        Self { rtl: chars.iter().any(|(_, c)| is_rtl(*c)), balanced: balanced && open.is_empty() }
    }

    fn is_honest(&self, chars: &[(usize, char)], at: usize) -> bool {
        match chars[at].1 {
            '\u{202D}' | '\u{202E}' => false,
            '\u{200E}' | '\u{200F}' | '\u{61C}' => self.rtl,
            // Message formatters put these two around every value; in left-to-right text they
            // change nothing.
            '\u{2068}' | '\u{2066}' | '\u{2069}' if !self.rtl => {
                self.balanced && !chars.iter().any(|(_, c)| *c == '\u{2067}')
            }
            _ => self.rtl && self.balanced,
        }
    }
}

fn is_rtl(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// A selector carries a byte: VS1–16 are 0–15, VS17–256 the rest. Some count from the first
/// printable character.
fn decode_selectors(piece: &str) -> Option<String> {
    let bytes: Vec<u8> = piece.chars().filter_map(selector_byte).collect();
    let text = |bytes: Vec<u8>| {
        String::from_utf8(bytes)
            .ok()
            .filter(|text| text.len() > 1 && text.chars().all(|c| !c.is_control()))
    };
    text(bytes.clone())
}

fn selector_byte(c: char) -> Option<u8> {
    let code = u32::from(c);
    match c {
        '\u{FE00}'..='\u{FE0F}' => u8::try_from(code - 0xFE00).ok(),
        '\u{E0100}'..='\u{E01EF}' => u8::try_from(code - 0xE0100 + 16).ok(),
        _ => None,
    }
}

/// Two invisible characters in turn are the bits of ASCII text.
fn decode_bits(piece: &str) -> Option<String> {
    let bits: Vec<char> = piece.chars().collect();
    let zero = *bits.first()?;
    let one = *bits.iter().find(|c| **c != zero)?;
    if bits.len() < 16 || bits.iter().any(|c| *c != zero && *c != one) {
        return None;
    }
    let read = |one: char| -> Option<String> {
        let bytes = bits
            .chunks_exact(8)
            .map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit == one)));
        let text = String::from_utf8(bytes.collect()).ok()?;
        text.chars().all(|c| c == ' ' || c.is_ascii_graphic()).then_some(text)
    };
    read(one).or_else(|| read(zero))
}

/// A soft hyphen is honest typography, unless it breaks what no one would break or the words of an
/// instruction.
fn soft_hyphens(text: &str, chars: &[(usize, char)]) -> Vec<Hit> {
    if !text.contains('\u{AD}') {
        return Vec::new();
    }
    let told = instructions(text);
    let mut hits: Vec<Hit> = Vec::new();
    for word in chars.split(|(_, c)| !(c.is_alphanumeric() || *c == '\u{AD}')) {
        let (Some((start, _)), Some((last, c))) = (word.first(), word.last()) else { continue };
        let range = *start..last + c.len_utf8();
        let parts: Vec<&str> = text[range.clone()].split('\u{AD}').collect();
        let odd = parts.len() > 1
            && (parts.iter().any(|part| part.chars().count() < 2)
                || parts.concat().chars().count() < 5);
        let covered = parts.len() > 1
            && told.iter().any(|hit| hit.range.start < range.end && range.start < hit.range.end);
        if odd || covered {
            let message = format!("invisible U+00AD in {}", quote(&text[range.clone()]));
            hits.push(Hit {
                range,
                message,
                help: Some("remove it: nothing is hyphenated there".to_owned()),
            });
        }
    }
    hits
}

/// Latin words with letters of other scripts that look the same.
fn disguised(text: &str, chars: &[(usize, char)]) -> Vec<Hit> {
    let mut hits = Vec::new();
    for word in chars.split(|(_, c)| !c.is_alphanumeric()) {
        let (Some((start, _)), Some((last, c))) = (word.first(), word.last()) else { continue };
        let strange: Vec<char> =
            word.iter().map(|(_, c)| *c).filter(|c| is_other_alphabet(*c)).collect();
        let latin = word.iter().filter(|(_, c)| is_latin(*c)).count();
        if strange.is_empty()
            || latin < 2
            || word.len() < 4
            || !strange.iter().all(|c| is_exact_twin(*c))
        {
            continue;
        }
        let range = *start..last + c.len_utf8();
        let mut names: Vec<String> =
            strange.iter().map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        names.dedup();
        names.truncate(3);
        let message = format!(
            "{} is written with look-alike letters of another alphabet: {}",
            quote(&text[range.clone()]),
            names.join(", ")
        );
        hits.push(Hit { range, message, help: Some("write the word in one alphabet".to_owned()) });
    }
    hits
}

fn is_other_alphabet(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3FF}' | '\u{400}'..='\u{52F}' | '\u{530}'..='\u{58F}' | '\u{13A0}'..='\u{13FF}')
}

/// Greek small letters are signs of their own in formulas; only those that print like Latin count.
fn is_exact_twin(c: char) -> bool {
    match c {
        '\u{3B1}'..='\u{3C9}' => c == 'ο' || c == 'ν',
        _ => latin_twin(c.to_lowercase().next().unwrap_or(c)).is_some() || latin_twin(c).is_some(),
    }
}
