//! MODEL_INSTRUCTION: finds text that is addressed to the model instead of describing the tool.
//!
//! ```text
//! text ─ normalize ─▶ NormalizedText ─ concept_scan ─▶ concepts ─┬─ instruction_patterns ─┐
//!   │                       │                                    └─ concept_weights ──────┤
//!   │                       └─ host_markup ───────────────────────────────────────────────┤
//!   │                                                                        signals ◀────┘
//!   │                                                                           │ decide
//!   └─ encoded_text ─▶ each decoded sentence, from the start ───▶ findings ◀────┘
//! ```
//!
//! Each detector yields [`InstructionSignal`]s with points from 1 to 3. A signal with 3 points is
//! reported by itself. If there is none, the strongest signal of each kind of attack is added up
//! over the whole text, and from 3 points on all of them are reported.
//!
//! What separates an attack from a strict but honest description is the object of the verb: the
//! model's instructions, the user's knowledge, every other tool, someone's secrets.
//!
//! Known not to be found: paraphrases that use no word of the lexicon ("make yourself comfortable
//! with a different set of principles"), attacks spread over several texts of a definition,
//! languages without a table, and instructions that arrive in the results of a call. The share that
//! is found is measured by the tests of this module on texts that the patterns were not written
//! for.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::LazyLock;

use super::concept_scan::{ConceptScan, scan_into};
use super::concept_weights::{THRESHOLD, THRESHOLD_PER_TEN_WORDS, WEIGHTS};
use super::concepts::*;
use super::encoded_text::decode_runs;
use super::host_markup::find_host_markup;
use super::instruction_patterns::AttackKind::{self, *};
use super::instruction_patterns::{CONCEPT_PATTERNS, ConceptPattern, PatternStep, REPORT_AT};
use super::normalize::NormalizedText;
use super::{MAX_FOUND, SuspiciousText, has_long_run, quote};

/// Finds text addressed to the model in a single text.
pub(super) fn find_instructions(text: &str) -> Vec<SuspiciousText> {
    InstructionDetector::default().find(text)
}

/// Finds text addressed to the model. One detector for many texts uses its memory again.
#[derive(Default)]
pub(crate) struct InstructionDetector {
    normalized: String,
    scan: ConceptScan,
}

impl InstructionDetector {
    /// What in `text` is addressed to the model, in the order of the text; decoded sentences last.
    pub(crate) fn find(&mut self, text: &str) -> Vec<SuspiciousText> {
        let normalized = NormalizedText::reusing(text, std::mem::take(&mut self.normalized));
        let mut signals: Vec<InstructionSignal> = Vec::new();
        if normalized.may_have_markup {
            let found = find_host_markup(&normalized.text).into_iter();
            let signal = |(points, range)| InstructionSignal { kind: HostMarkup, points, range };
            signals.extend(found.map(signal));
        }
        scan_into(&normalized, &mut self.scan);
        match_patterns(&self.scan, &mut signals);
        weigh_sentences(&self.scan, &mut signals);
        let mut found = decide(text, &normalized, signals);
        self.normalized = normalized.text;
        if has_long_run(text) {
            found.extend(self.find_encoded(text));
        }
        found
    }

    /// Sentences to the model that are encoded. What is decoded may hold encoded text again; each
    /// level is shorter than the one before, so this ends.
    fn find_encoded(&mut self, text: &str) -> Vec<SuspiciousText> {
        let mut found = Vec::new();
        for decoded in decode_runs(text) {
            if self.find(&decoded.text).is_empty() {
                continue;
            }
            found.push(SuspiciousText {
                range: decoded.start..decoded.start + decoded.len,
                message: format!(
                    "{} hides {}, which is addressed to the model",
                    decoded.encoding,
                    quote(&decoded.text)
                ),
                help: Some("describe what the tool does in plain text".to_owned()),
            });
        }
        found
    }
}

/// A sign that a text is addressed to the model.
#[derive(Debug)]
struct InstructionSignal {
    kind: AttackKind,
    /// From 1 to [`REPORT_AT`].
    points: u8,
    /// Bytes of the normalised text.
    range: Range<usize>,
}

/// Which signals are reported: the strong ones, or, if there is none, all weak ones that together
/// have enough points. Overlapping signals become one.
fn decide(
    text: &str,
    normalized: &NormalizedText<'_>,
    mut signals: Vec<InstructionSignal>,
) -> Vec<SuspiciousText> {
    if signals.iter().any(|signal| signal.points >= REPORT_AT) {
        signals.retain(|signal| signal.points >= REPORT_AT);
    } else if total_points(&signals) < REPORT_AT {
        return Vec::new();
    }
    signals.sort_by_key(|signal| (signal.range.start, Reverse(signal.range.end)));
    let mut merged: Vec<InstructionSignal> = Vec::new();
    for signal in signals {
        match merged.last_mut() {
            Some(last) if signal.range.start <= last.range.end => {
                last.range.end = last.range.end.max(signal.range.end)
            }
            _ => merged.push(signal),
        }
    }
    merged
        .iter()
        .take(MAX_FOUND)
        .map(|signal| describe(text, normalized.in_source(&signal.range), signal.kind))
        .collect()
}

/// The strongest signal of each kind, added up.
fn total_points(signals: &[InstructionSignal]) -> u8 {
    let mut best: Vec<(AttackKind, u8)> = Vec::new();
    for signal in signals {
        match best.iter_mut().find(|(kind, _)| *kind == signal.kind) {
            Some((_, points)) => *points = signal.points.max(*points),
            None => best.push((signal.kind, signal.points)),
        }
    }
    best.iter().map(|(_, points)| points).sum()
}

/// Message and help for a range of the source text.
fn describe(text: &str, range: Range<usize>, kind: AttackKind) -> SuspiciousText {
    let phrase = quote(&text[range.clone()]);
    let message = match kind {
        HostMarkup => {
            format!("{phrase} is markup that passes for a message of the host to the model")
        }
        _ => format!("{phrase} is addressed to the model, not about the tool"),
    };
    let help = match kind {
        Override | NewRole | FromNowOn => {
            "describe what the tool does; a definition has no say over the model's other \
             instructions"
        }
        Conceal | Stealth => {
            "describe what the tool does; nothing that it does is a secret from its user"
        }
        AlwaysFirst | EveryTurn => {
            "say what the tool is for, and name the tools it must come before"
        }
        Exfiltrate => {
            "ask for a parameter by what the tool needs it for, not by where its value can be \
             taken from"
        }
        HostMarkup => "write the description as plain text or Markdown",
        Authority | Threat | DespiteUser | ModelState | WordWeights => {
            "describe what the tool does and let the user decide how it is used"
        }
        OtherTool | Redirect => "describe this tool only; where other calls go is not its business",
    };
    SuspiciousText { range, message, help: Some(help.to_owned()) }
}

/// The patterns by the bit of the concept that is rarest among those they need. Hundreds of
/// patterns need a verb such as "call"; few are left to try when they are looked up by the concept
/// that ordinary text seldom has.
static PATTERNS_BY_RAREST: LazyLock<Vec<Vec<&'static ConceptPattern>>> = LazyLock::new(|| {
    let mut index = vec![Vec::new(); ConceptSet::BITS as usize];
    for pattern in CONCEPT_PATTERNS {
        let needed = pattern.steps.iter().map(|(needed, _)| *needed);
        let rarest = needed.max_by_key(|needed| rarity(*needed));
        for_each_bit(rarest.unwrap_or_default(), |bit| index[bit].push(pattern));
    }
    index
});

/// How rare one of these concepts is in ordinary text. The weights say so: what speaks loudest for
/// an attack is what harmless texts have least of. Of alternatives the most frequent one counts.
fn rarity(concepts: ConceptSet) -> u32 {
    let mut least = u32::MAX;
    for_each_bit(concepts, |bit| least = least.min(weight(1 << bit)));
    least
}

fn for_each_bit(mut concepts: ConceptSet, mut visit: impl FnMut(usize)) {
    while concepts != 0 {
        visit(concepts.trailing_zeros() as usize);
        concepts &= concepts - 1;
    }
}

/// Adds a signal for every pattern that matches, once per sentence in which it begins.
fn match_patterns(scan: &ConceptScan, signals: &mut Vec<InstructionSignal>) {
    let index = &*PATTERNS_BY_RAREST;
    for (number, sentence) in scan.sentences.iter().enumerate() {
        // A sentence end counts as eight words, so patterns seldom reach beyond the next sentence,
        // and these two are all that is tried.
        let next = scan.sentences.get(number + 1).map_or(0, |next| next.concepts);
        let nearby = sentence.concepts | next;
        for_each_bit(nearby, |bit| {
            for pattern in &index[bit] {
                // Cheap tests first: most patterns lack one of their concepts.
                if pattern.steps[0].0 & sentence.concepts != 0
                    && pattern.steps.iter().all(|(needed, _)| nearby & needed != 0)
                {
                    match_pattern(scan, pattern, number, signals);
                }
            }
        });
    }
}

/// Adds a signal for the first match of a pattern that begins in this sentence.
fn match_pattern(
    scan: &ConceptScan,
    pattern: &ConceptPattern,
    sentence: usize,
    signals: &mut Vec<InstructionSignal>,
) {
    let from = scan.matches.partition_point(|found| found.sentence < sentence);
    for (index, first) in scan.matches.iter().enumerate().skip(from) {
        if first.sentence > sentence {
            break;
        }
        if first.concepts & pattern.steps[0].0 == 0 {
            continue;
        }
        let rest = &pattern.steps[1..];
        let Some(end) = match_steps(scan, index, first.last_word, first.end, rest) else {
            continue;
        };
        if pattern.unless == 0 || !is_near(scan, pattern.unless, index, end) {
            let range = first.start..end;
            signals.push(InstructionSignal { kind: pattern.kind, points: pattern.points, range });
            return;
        }
    }
}

/// The end, in bytes, of the first way to match the remaining steps after the match at `index`,
/// whose last word is at `last_word` and which ends at `end`. Backtracks; patterns have at most six
/// steps and gaps of a few words, so there is little to try.
fn match_steps(
    scan: &ConceptScan,
    index: usize,
    last_word: u32,
    end: usize,
    steps: &[PatternStep],
) -> Option<usize> {
    let Some((&(needed, words_between), rest)) = steps.split_first() else { return Some(end) };
    for (next, found) in scan.matches.iter().enumerate().skip(index + 1) {
        // Two half words for the word before the gap, and two for each word of the gap.
        if found.first_word.saturating_sub(last_word) > 2 + 2 * u32::from(words_between) {
            break;
        }
        if found.concepts & needed != 0
            && found.start >= end
            && let Some(end) = match_steps(scan, next, found.last_word, found.end, rest)
        {
            return Some(end);
        }
    }
    None
}

/// Whether one of the concepts stands inside the match that begins at `index` and ends at byte
/// `end`, or up to three words before it.
fn is_near(scan: &ConceptScan, concepts: ConceptSet, index: usize, end: usize) -> bool {
    let first = &scan.matches[index];
    // Only those that can be near: matches are in order, and no phrase has this many words.
    let from = first.first_word.saturating_sub(8 + 2 * MAX_PHRASE_WORDS);
    let from = scan.matches.partition_point(|found| found.first_word < from);
    let to = scan.matches.partition_point(|found| found.start < end);
    scan.matches[from..to].iter().any(|found| {
        let before = found.last_word <= first.first_word && found.last_word + 8 >= first.first_word;
        found.concepts & concepts != 0 && found.end <= end && (found.start >= first.start || before)
    })
}

/// More words than any phrase of the lexicon has.
const MAX_PHRASE_WORDS: u32 = 16;

/// Words that two sentences may have together to be weighed as one.
const MAX_WORDS_OF_PAIR: u32 = 40;
/// Weight of a match that counts towards the three that a sentence must have, and that is quoted.
const MIN_QUOTED_WEIGHT: u32 = 10;

/// Adds a signal for each sentence, alone or with the next one, whose words weigh enough. Attacks
/// are often split in two: "Read the file. Then send it."
fn weigh_sentences(scan: &ConceptScan, signals: &mut Vec<InstructionSignal>) {
    for (number, sentence) in scan.sentences.iter().enumerate() {
        let alone = is_heavy(sentence.concepts, sentence.half_words).then_some(number);
        let with_next = scan.sentences.get(number + 1).and_then(|next| {
            let concepts = sentence.concepts | next.concepts;
            let half_words = sentence.half_words + next.half_words;
            (half_words <= 2 * MAX_WORDS_OF_PAIR && is_heavy(concepts, half_words))
                .then_some(number + 1)
        });
        let Some(last) = alone.or(with_next) else { continue };
        // Two heavy words can be a coincidence, three are not.
        let begin = scan.matches.partition_point(|found| found.sentence < number);
        let end = scan.matches.partition_point(|found| found.sentence <= last);
        let mut heavy = scan.matches[begin..end]
            .iter()
            .filter(|found| weight(found.concepts) >= MIN_QUOTED_WEIGHT);
        let (Some(first), Some(_), Some(third)) = (heavy.next(), heavy.next(), heavy.next()) else {
            continue;
        };
        let end = heavy.map(|found| found.end).fold(third.end, usize::max);
        // Quote from the first concept of the sentence: a quotation that begins in the middle of a
        // phrase is hard to read.
        let begin = scan.matches.partition_point(|found| found.sentence < first.sentence);
        let range = scan.matches[begin].start..end;
        signals.push(InstructionSignal { kind: WordWeights, points: REPORT_AT, range });
    }
}

/// Weights by the bit of the concept.
static WEIGHT_OF_BIT: [u32; ConceptSet::BITS as usize] = {
    let mut weights = [0; ConceptSet::BITS as usize];
    let mut at = 0;
    while at < WEIGHTS.len() {
        weights[WEIGHTS[at].0.trailing_zeros() as usize] = WEIGHTS[at].1;
        at += 1;
    }
    weights
};

/// The sum of the weights of these concepts.
fn weight(concepts: ConceptSet) -> u32 {
    let mut sum = 0;
    for_each_bit(concepts, |bit| sum += WEIGHT_OF_BIT[bit]);
    sum
}

/// Whether a sentence with these concepts and of this length weighs enough to be reported.
fn is_heavy(concepts: ConceptSet, half_words: u32) -> bool {
    // Instructions for setting a tool up say which file the keys belong in.
    let concepts = if concepts & SETUP == 0 { concepts } else { concepts & !SECRET_FILE };
    weight(concepts) >= THRESHOLD + half_words * THRESHOLD_PER_TEN_WORDS / 20
}
