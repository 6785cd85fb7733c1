//! HIDDEN_TEXT: characters that a reader does not see, or sees elsewhere than they stand. A model
//! reads all of them, so they can carry instructions that no reviewer notices.
//!
//! Invisible characters have honest uses: emoji are joined by them, Persian and Indic words need
//! them, Hebrew and Arabic text is kept in order by them. So their neighbours decide:
//!
//! | characters | honest | otherwise |
//! |---|---|---|
//! | control | tab and line breaks | terminals hide text with them |
//! | zero width | in emoji, in scripts that join letters, in Thai | they split words, encode bits |
//! | tags (U+E0000…) | at the end of a flag emoji | they spell ASCII text |
//! | variation selectors | one, after a character that has variants | they encode bytes |
//! | bidirectional | pairs, in text with right-to-left letters | they reorder what is shown |
//! | soft hyphen | inside a long word | in a word that cannot be hyphenated, or in an instruction |
//! | letters of two alphabets in one word | unlike letters: `USB-кабель` | look-alikes: `іgnоrе` |
//!
//! Where such characters encode a text, the message quotes it. Not here: white text, tiny fonts and
//! other markup that hides text (`host_markup`), and homoglyphs in names (`lookalike_names`).
//!
//! ```text
//! text ─ runs of one kind ─ judged by their neighbours ─ merged, if close ─▶ findings
//!   ├─ words with soft hyphens ──────────────────────────────────────────────▶ findings
//!   └─ words of two alphabets ───────────────────────────────────────────────▶ findings
//! ```
//!
//! A character that is honest in one place is suspicious in the next, so no list of forbidden code
//! points would do. Where a script is not known here, its invisible characters are reported.

use std::ops::Range;

use super::instructions::find_instructions;
use super::normalize::{ascii_of_tag, is_invisible, latin_lookalike};
use super::{SuspiciousText, quote};

/// Finds hidden characters in `text`, in the order of the text.
///
/// Runs of one kind are found first and judged by their neighbours. Runs that are close together
/// are one finding, such as a word that many invisible characters split.
pub(crate) fn find_hidden_text(text: &str) -> Vec<SuspiciousText> {
    if is_printable_ascii(text) {
        return Vec::new();
    }
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut runs = Vec::new();
    let bidi = BidiContext::of(&chars);
    let mut at = 0;
    while at < chars.len() {
        let len = run_len(&chars, at);
        if len > 0 {
            runs.extend(suspicious_run(&chars, at..at + len, &bidi));
        }
        at += len.max(1);
    }
    let mut found: Vec<SuspiciousText> =
        merge_close_runs(text, runs).iter().map(|run| run.describe(text)).collect();
    found.extend(find_soft_hyphens(text, &chars));
    found.extend(find_mixed_alphabets(text, &chars));
    found.sort_by_key(|found| found.range.start);
    found
}

/// Whether any text of this document can hide something: false if the document is printable ASCII
/// and so is what its escapes, those of JSON and YAML, stand for. Checked once per document,
/// because it spares all texts of most documents the search.
///
/// `true` may be a false alarm; `false` never is: every other escape, such as `\u` or `\x`, counts
/// as suspicious.
pub(crate) fn can_hide_text(document: &str) -> bool {
    let mut escapes = document.split('\\').skip(1);
    !is_printable_ascii(document)
        || !escapes.all(|escape| escape.starts_with(['n', 't', 'r', '"', '/']))
}

/// Whether a text is ASCII without control characters, other than tabs and line breaks.
fn is_printable_ascii(text: &str) -> bool {
    let is_printable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r');
    // Within a chunk nothing returns early, so that the compiler compares its bytes all at once.
    text.as_bytes()
        .chunks(32)
        .all(|chunk| chunk.iter().fold(true, |all, byte| all & is_printable(byte)))
}

/// What a hidden character is. Each is judged in its own way by `suspicious_run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HiddenKind {
    /// Zero-width characters, fillers, joiners.
    Invisible,
    /// Marks, embeddings, overrides and isolates of bidirectional text.
    Bidi,
    /// U+E0000 to U+E0FFF, which spell ASCII text without a glyph.
    Tags,
    /// VS1 to VS256, which choose a form of the character before them.
    VariationSelectors,
    /// Control characters but tabs and line breaks.
    Control,
}

/// Characters of one kind in a row. Becomes one finding, alone or merged with its neighbours.
#[derive(Debug)]
struct HiddenRun {
    kind: HiddenKind,
    /// Bytes of the text.
    range: Range<usize>,
}

/// Bytes of visible text between two runs of one kind that are reported as one: `i<zwsp>g<zwsp>n…`.
/// Some words: what is further apart was put there separately.
const MAX_GAP: usize = 16;

/// Joins runs of one kind with at most [`MAX_GAP`] bytes between them. The visible text between two
/// runs becomes a part of the merged one, and of the finding.
fn merge_close_runs(text: &str, runs: Vec<HiddenRun>) -> Vec<HiddenRun> {
    let mut merged: Vec<HiddenRun> = Vec::new();
    for run in runs {
        match merged.last_mut() {
            Some(last)
                if last.kind == run.kind
                    && run.range.start - last.range.end <= MAX_GAP
                    && text.is_char_boundary(run.range.end) =>
            {
                last.range.end = run.range.end;
            }
            _ => merged.push(run),
        }
    }
    merged
}

impl HiddenRun {
    /// Message and help, with the text that the characters encode, if they do.
    ///
    /// A run that encodes a text is described by that text, since it is what the model reads.
    fn describe(&self, text: &str) -> SuspiciousText {
        let piece = &text[self.range.clone()];
        let names = code_points(piece, self.kind);
        let (message, help) = match self.kind {
            HiddenKind::Tags => {
                let spelled: String = piece.chars().filter_map(ascii_of_tag).collect();
                (
                    format!("invisible tag characters {names} spell {}", quote(&spelled)),
                    "remove them: a model reads what no reader sees",
                )
            }
            HiddenKind::VariationSelectors => match decode_selectors(piece) {
                Some(text) => (
                    format!("invisible variation selectors {names} encode {}", quote(&text)),
                    "remove them: a model may decode what no reader sees",
                ),
                None => (
                    format!(
                        "invisible variation selectors {names} follow nothing that they could vary"
                    ),
                    "remove them",
                ),
            },
            HiddenKind::Bidi => (
                format!(
                    "{names} makes {} appear in another order than it is read in",
                    quote(reordered(text, &self.range))
                ),
                "remove it: letters of right-to-left scripts need no override",
            ),
            HiddenKind::Control => (
                format!("control character {names} in {}", quote(&surroundings(text, &self.range))),
                "remove it; only tabs and line breaks belong in a text",
            ),
            HiddenKind::Invisible => match decode_bits(piece) {
                Some(text) => (
                    format!("invisible characters {names} encode {}", quote(&text)),
                    "remove them: a model may decode what no reader sees",
                ),
                None => (
                    format!("invisible {names} in {}", quote(&surroundings(text, &self.range))),
                    "remove it: a model reads what no reader sees",
                ),
            },
        };
        SuspiciousText { range: self.range.clone(), message, help: Some(help.to_owned()) }
    }
}

/// The first three different characters of this kind, as code points.
fn code_points(piece: &str, kind: HiddenKind) -> String {
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

/// The text up to twelve characters to the left and right, so that a message shows where to look.
/// Characters and not bytes, so that the cut never splits one.
fn surroundings(text: &str, range: &Range<usize>) -> String {
    let start =
        text[..range.start].char_indices().rev().take(12).last().map_or(range.start, |(at, _)| at);
    let end = text[range.end..].char_indices().nth(12).map_or(text.len(), |(at, _)| range.end + at);
    text[start..end].to_owned()
}

/// The text that a run of bidirectional characters reorders: what is inside of it, or else the rest
/// of the line that follows.
fn reordered<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    let piece = &text[range.clone()];
    match piece.chars().all(|c| kind_of(c) == Some(HiddenKind::Bidi)) {
        true => text[range.end..].lines().next().unwrap_or_default(),
        false => piece,
    }
}

/// What kind of hidden character this is, if it is one.
///
/// The order of the arms matters: some ranges contain characters of another kind.
fn kind_of(c: char) -> Option<HiddenKind> {
    Some(match c {
        // U+0085 is a line break, too.
        '\t' | '\n' | '\r' | '\u{85}' => return None,
        _ if c.is_control() => HiddenKind::Control,
        // The soft hyphen: see `find_soft_hyphens`.
        '\u{AD}' => return None,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{61C}' => {
            HiddenKind::Bidi
        }
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => HiddenKind::VariationSelectors,
        '\u{E0000}'..='\u{E0FFF}' => HiddenKind::Tags,
        // The Braille pattern without dots.
        '\u{2800}' => HiddenKind::Invisible,
        _ if is_invisible(c) => HiddenKind::Invisible,
        _ => return None,
    })
}

/// How many characters of one kind stand in a row here. 0 if the character is not hidden.
fn run_len(chars: &[(usize, char)], at: usize) -> usize {
    let Some(kind) = kind_of(chars[at].1) else { return 0 };
    chars[at..].iter().take_while(|(_, c)| kind_of(*c) == Some(kind)).count()
}

/// The run as bytes, unless its neighbours show that it is honest.
///
/// Length counts, too: more than one selector or more than two invisible characters in a row are
/// never legitimate here, because such rows encode bytes. `None` for an honest run. `run` counts
/// characters, and the result bytes.
fn suspicious_run(
    chars: &[(usize, char)],
    run: Range<usize>,
    bidi: &BidiContext,
) -> Option<HiddenRun> {
    let kind = kind_of(chars[run.start].1).expect("a run is of some kind");
    let before = chars[..run.start].last().map(|(_, c)| *c);
    let after = chars.get(run.end).map(|(_, c)| *c);
    let honest = match kind {
        HiddenKind::Control => false,
        HiddenKind::Bidi => run.clone().all(|at| bidi.is_expected_here(chars, at)),
        HiddenKind::Tags => is_flag(chars, &run),
        HiddenKind::VariationSelectors => {
            run.len() == 1 && before.is_some_and(|base| has_variants(base, chars[run.start].1))
        }
        HiddenKind::Invisible => {
            run.len() <= 2 && run.clone().all(|at| joins(before, chars[at].1, after))
        }
    };
    let (last, c) = chars[run.end - 1];
    let range = chars[run.start].0..last + c.len_utf8();
    (!honest).then_some(HiddenRun { kind, range })
}

/// Whether the tags end a flag of England, Scotland, Wales and the like: a black flag, a region in
/// tags, the end tag.
fn is_flag(chars: &[(usize, char)], run: &Range<usize>) -> bool {
    // U+1F3F4 is the black flag, U+E007F the end tag; a region has three to six characters.
    let flag = run.start > 0 && chars[run.start - 1].1 == '\u{1F3F4}';
    let (_, last) = chars[run.end - 1];
    let region = chars[run.start..run.end - 1].iter().all(|(_, c)| {
        ascii_of_tag(*c).is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    });
    flag && region && last == '\u{E007F}' && (4..=7).contains(&run.len())
}

/// Whether a character has variants that this selector can choose from. Generous for signs and
/// ideographs, of which many have variants; strict for letters, where a selector has no effect and
/// can only carry data.
fn has_variants(base: char, selector: char) -> bool {
    let ideograph = matches!(base,
        '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    match selector {
        // Text and emoji style; digits become keycaps.
        '\u{FE0E}' | '\u{FE0F}' => {
            !base.is_alphabetic() && !base.is_whitespace() || is_pictorial(base) || ideograph
        }
        // Mathematical signs, Mongolian, Myanmar: many have variants, Latin letters do not.
        '\u{FE00}'..='\u{FE0D}' => !base.is_ascii() && !is_latin(base),
        // U+E0100 and above are for ideographs only.
        _ => ideograph,
    }
}

/// Whether a character may be an emoji. Wider than the emoji of Unicode, so that a new emoji is not
/// reported.
fn is_pictorial(c: char) -> bool {
    matches!(c, '\u{A9}' | '\u{AE}' | '\u{203C}'..='\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Letters of the Latin script, with those that have accents.
fn is_latin(c: char) -> bool {
    c.is_alphabetic() && matches!(c, '\0'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}')
}

/// Whether an invisible character does what it is made for between these two neighbours. At the
/// start of a text there is nothing to join, so there it never does.
fn joins(before: Option<char>, c: char, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match c {
        // Zero-width joiner and non-joiner.
        '\u{200D}' if is_pictorial(before) || matches!(before, '\u{FE0F}' | '\u{E007F}') => {
            after.is_some_and(is_pictorial)
        }
        '\u{200C}' | '\u{200D}' => is_joining(before) && after.is_none_or(|after| !is_latin(after)),
        // Zero-width space and word joiner: where a line may break.
        '\u{200B}' | '\u{2060}' => {
            is_without_spaces(before) || after.is_some_and(is_without_spaces)
        }
        // Combining grapheme joiner.
        '\u{34F}' => !is_latin(before) && before.is_alphabetic(),
        // Mongolian selectors and vowel separator.
        '\u{180B}'..='\u{180F}' => matches!(before, '\u{1800}'..='\u{18AF}'),
        // Hangul fillers, beside other parts of a syllable.
        '\u{115F}' | '\u{1160}' => {
            matches!(before, '\u{1100}'..='\u{11FF}')
                || after.is_some_and(|c| matches!(c, '\u{1100}'..='\u{11FF}'))
        }
        // The Braille space, beside Braille.
        '\u{2800}' => {
            matches!(before, '\u{2801}'..='\u{28FF}')
                || after.is_some_and(|c| matches!(c, '\u{2801}'..='\u{28FF}'))
        }
        // Inherent vowels of Khmer.
        '\u{17B4}' | '\u{17B5}' => matches!(before, '\u{1780}'..='\u{17FF}'),
        _ => false,
    }
}

/// Scripts whose letters join: Arabic, Syriac, N'Ko, Mandaic, the Indic scripts, Mongolian. By
/// blocks, so that letters which are added to them later count as well.
fn is_joining(c: char) -> bool {
    matches!(c, 
        '\u{600}'..='\u{8FF}' | '\u{900}'..='\u{DFF}' | '\u{F00}'..='\u{109F}'
        | '\u{1780}'..='\u{18AF}' | '\u{1A00}'..='\u{1CFF}' | '\u{A800}'..='\u{A8FF}'
        | '\u{A980}'..='\u{AAFF}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
        | '\u{11000}'..='\u{11FFF}')
}

/// Scripts without spaces between words, where a zero-width space marks a possible line break:
/// Thai, Lao, Tibetan, Myanmar, Khmer, Han, kana, Hangul.
fn is_without_spaces(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{1950}'..='\u{1AAF}'
        | '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// What must be known about the whole text to judge one of its bidirectional characters. Computed
/// once for a text, because each character would need it again.
struct BidiContext {
    /// Whether there are letters that are written from right to left.
    has_rtl: bool,
    /// Whether every embedding and isolate is closed, in the right order.
    balanced: bool,
    /// Whether an isolate turns its contents from right to left (U+2067).
    has_rtl_isolate: bool,
}

impl BidiContext {
    /// Looks at all characters once. One embedding that is not closed makes the whole text
    /// unbalanced.
    fn of(chars: &[(usize, char)]) -> Self {
        // The characters that must close what is open, the innermost last.
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
        let has_rtl = chars.iter().any(|(_, c)| is_rtl(*c));
        let has_rtl_isolate = chars.iter().any(|(_, c)| *c == '\u{2067}');
        Self { has_rtl, balanced: balanced && open.is_empty(), has_rtl_isolate }
    }

    /// Whether the character at `at` is used as it should be.
    fn is_expected_here(&self, chars: &[(usize, char)], at: usize) -> bool {
        match chars[at].1 {
            // Overrides reverse letters of any script; no honest text needs them.
            '\u{202D}' | '\u{202E}' => false,
            // Marks.
            '\u{200E}' | '\u{200F}' | '\u{61C}' => self.has_rtl,
            // Message formatters put isolates around every value; in left-to-right text they
            // change nothing, unless one of them is right-to-left (U+2067).
            '\u{2068}' | '\u{2066}' | '\u{2069}' if !self.has_rtl => {
                self.balanced && !self.has_rtl_isolate
            }
            _ => self.has_rtl && self.balanced,
        }
    }
}

/// Hebrew, Arabic, Syriac, Thaana, N'Ko and the scripts of the supplementary plane that are written
/// from right to left.
fn is_rtl(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
        | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// The text that variation selectors encode, one byte each: VS1 to VS16 are 0 to 15, VS17 to VS256
/// the rest. `None` if it is not UTF-8 text of at least two bytes.
fn decode_selectors(piece: &str) -> Option<String> {
    let bytes: Vec<u8> = piece.chars().filter_map(selector_byte).collect();
    let text = String::from_utf8(bytes).ok()?;
    (text.len() > 1 && text.chars().all(|c| !c.is_control())).then_some(text)
}

fn selector_byte(c: char) -> Option<u8> {
    let code = u32::from(c);
    match c {
        '\u{FE00}'..='\u{FE0F}' => u8::try_from(code - 0xFE00).ok(),
        '\u{E0100}'..='\u{E01EF}' => u8::try_from(code - 0xE0100 + 16).ok(),
        _ => None,
    }
}

/// The ASCII text whose bits are two different invisible characters. Which of them is one is tried
/// both ways.
///
/// Eight bits for each letter, the first one the most significant. A rest of fewer than eight bits
/// is ignored.
fn decode_bits(piece: &str) -> Option<String> {
    let bits: Vec<char> = piece.chars().collect();
    let zero = *bits.first()?;
    let one = *bits.iter().find(|c| **c != zero)?;
    // Two letters at least: fewer bits are text by chance.
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

/// Soft hyphens that are not typography. They are honest inside long words, but not where a part
/// has one letter or the word less than five, nor in words that are addressed to the model.
/// Example: `i\u{AD}gnore` has a part of one letter.
fn find_soft_hyphens(text: &str, chars: &[(usize, char)]) -> Vec<SuspiciousText> {
    if !text.contains('\u{AD}') {
        return Vec::new();
    }
    // `normalize` removes soft hyphens, so the words that they split are found.
    let instructions = find_instructions(text);
    let mut found: Vec<SuspiciousText> = Vec::new();
    for word in chars.split(|(_, c)| !(c.is_alphanumeric() || *c == '\u{AD}')) {
        let (Some((start, _)), Some((last, c))) = (word.first(), word.last()) else { continue };
        let range = *start..last + c.len_utf8();
        let parts: Vec<&str> = text[range.clone()].split('\u{AD}').collect();
        let cannot_be_hyphenated = parts.len() > 1
            && (parts.iter().any(|part| part.chars().count() < 2)
                || parts.concat().chars().count() < 5);
        let overlaps = |other: &Range<usize>| other.start < range.end && range.start < other.end;
        let in_instruction =
            parts.len() > 1 && instructions.iter().any(|other| overlaps(&other.range));
        if cannot_be_hyphenated || in_instruction {
            let message = format!("invisible U+00AD in {}", quote(&text[range.clone()]));
            found.push(SuspiciousText {
                range,
                message,
                help: Some("remove it: nothing is hyphenated there".to_owned()),
            });
        }
    }
    found
}

/// Latin words with letters of other alphabets that look the same. Words of less than four letters
/// and those with a single Latin letter are units and formulas (`кВт`). All foreign letters of the
/// word must be look-alikes: `USB-кабель` has others.
fn find_mixed_alphabets(text: &str, chars: &[(usize, char)]) -> Vec<SuspiciousText> {
    let mut found = Vec::new();
    for word in chars.split(|(_, c)| !c.is_alphanumeric()) {
        let (Some((start, _)), Some((last, c))) = (word.first(), word.last()) else { continue };
        let foreign: Vec<char> =
            word.iter().map(|(_, c)| *c).filter(|c| is_other_alphabet(*c)).collect();
        let latin = word.iter().filter(|(_, c)| is_latin(*c)).count();
        if foreign.is_empty()
            || latin < 2
            || word.len() < 4
            || !foreign.iter().all(|c| is_exact_lookalike(*c))
        {
            continue;
        }
        let range = *start..last + c.len_utf8();
        let mut names: Vec<String> =
            foreign.iter().map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        // The first few are enough for a message.
        names.dedup();
        names.truncate(3);
        let message = format!(
            "{} is written with look-alike letters of another alphabet: {}",
            quote(&text[range.clone()]),
            names.join(", ")
        );
        let help = Some("write the word in one alphabet".to_owned());
        found.push(SuspiciousText { range, message, help });
    }
    found
}

/// Whether a letter is Greek, Cyrillic, Armenian or Cherokee: alphabets with Latin look-alikes.
fn is_other_alphabet(c: char) -> bool {
    matches!(c,
        '\u{370}'..='\u{3FF}' | '\u{400}'..='\u{52F}' | '\u{530}'..='\u{58F}'
        | '\u{13A0}'..='\u{13FF}')
}

/// Whether a letter looks exactly like a Latin one. Small Greek letters are common as symbols in
/// formulas, so only the two that are printed exactly like a Latin letter count.
fn is_exact_lookalike(c: char) -> bool {
    match c {
        '\u{3B1}'..='\u{3C9}' => c == 'ο' || c == 'ν',
        _ => {
            latin_lookalike(c.to_lowercase().next().unwrap_or(c)).is_some()
                || latin_lookalike(c).is_some()
        }
    }
}
