//! Judges a text by fitted weights: each feature has a number, and a window of the text is reported
//! if the sum of its numbers is large for its length.
//!
//! There are two judges, with a weight each. Attacks by authors who know that somebody looks for
//! them avoid "ignore all instructions" and "do not tell the user", and honest texts about security
//! are full of these words. So one judge was fitted to such authors ([`INDIRECT`]), the other to
//! attacks in plain words ([`PLAIN`]). What one of them reports is reported.
//!
//! `data/weights.bin` is a hash table that needs no loading; `fit.rs` makes it:
//!
//! ```text
//! 4 bytes          the biases of both judges, in BIAS_UNIT, 16 bits each
//! 2^18 × 4 bytes   slots: 13 bits of the key, 3 bits of class (7: none), a weight for each judge
//! ```
//!
//! A feature is in the slot that the first bits of its key say, or in one of the next. An empty
//! slot has no weights. An unknown feature is taken for a known one about once in ten thousand
//! times.

use std::ops::Range;

use super::features::{NAME, OWN_NAME, Token, for_each_feature, windows};
use super::instructions::AttackClass;

/// Something for both judges.
pub(super) type Pair<T> = [T; 2];

pub(super) const INDIRECT: usize = 0;
pub(super) const PLAIN: usize = 1;

/// Weights and biases are written as whole numbers of these parts.
pub(super) const WEIGHT_UNITS: Pair<f64> = [0.01, 0.025];
pub(super) const BIAS_UNIT: f64 = 0.001;

/// Features that a window counts as having at least, for each judge: a short text has few, and each
/// would weigh too much.
pub(super) const MIN_FEATURES: Pair<f64> = [100.0, 25.0];

/// Tokens of a window, for each judge. The plain one reads little at a time, so that an order of
/// some words does not drown in a long description.
pub(super) const WINDOWS: Pair<usize> = [60, 20];

/// The score from which on a window is reported.
pub(super) const THRESHOLDS: Pair<f64> = [-0.52, 0.35];

/// Bits of a key that say its slot.
const SLOT_BITS: u32 = 18;
/// Bits of a key that are compared.
const TAG_BITS: u32 = 13;
/// Bytes before the slots.
const HEAD: usize = 4;

pub(super) static WEIGHTS: Weights<'static> = Weights(include_bytes!("data/weights.bin"));

/// The fitted weights, as the file has them.
pub(super) struct Weights<'f>(pub(super) &'f [u8]);

/// What is known about a feature.
struct Known {
    slot: usize,
    weights: Pair<i8>,
    /// What attacks with this feature want, if most of them want the same.
    class: Option<AttackClass>,
}

/// A known feature of a text, and the token that it begins with.
struct Feature {
    first: usize,
    known: Known,
}

/// A part of a text that a judge reports.
#[derive(Debug)]
pub(super) struct FoundInstruction {
    pub(super) class: AttackClass,
    /// Bytes of the normalised text: the words that weigh most.
    pub(super) range: Range<usize>,
}

impl Weights<'_> {
    /// What is known about the feature with this key.
    ///
    /// Open addressing with linear probing: the first slot follows from the highest bits of the
    /// key, and the search ends at an empty slot.
    fn get(&self, key: u64) -> Option<Known> {
        let (slots, _) = self.0[HEAD..].as_chunks::<4>();
        let mut slot = (key >> (64 - SLOT_BITS)) as usize;
        loop {
            let [low, high, indirect, plain] = *slots.get(slot)?;
            let weights = [indirect.cast_signed(), plain.cast_signed()];
            if weights == [0, 0] {
                return None;
            }
            let tag = u64::from(u16::from_le_bytes([low, high]));
            if tag >> 3 == key % (1 << TAG_BITS) {
                return Some(Known {
                    slot,
                    weights,
                    class: AttackClass::ALL.get((tag % 8) as usize).copied(),
                });
            }
            slot = (slot + 1) % slots.len();
        }
    }

    /// The score of a text without any known feature.
    fn bias(&self, judge: usize) -> f64 {
        f64::from(i16::from_le_bytes([self.0[2 * judge], self.0[2 * judge + 1]])) * BIAS_UNIT
    }

    /// The known features of a text, and for each token the number of features before it.
    fn features(&self, tokens: &[Token<'_>]) -> (Vec<Feature>, Vec<u32>) {
        let (mut features, mut before) = (Vec::new(), vec![0; tokens.len() + 1]);
        for_each_feature(tokens, |first, key| {
            before[first + 1] += 1;
            features.extend(self.get(key).map(|known| Feature { first, known }));
        });
        for token in 1..before.len() {
            before[token] += before[token - 1];
        }
        (features, before)
    }

    /// The windows that a judge reports, without overlaps: those of the plain judge first, and of
    /// two by the same judge the one with the higher score.
    pub(super) fn find(&self, tokens: &[Token<'_>]) -> Vec<FoundInstruction> {
        let (features, before) = self.features(tokens);
        let mut reported = Vec::new();
        let (mut seen, mut taken) = (Vec::new(), Vec::<Range<usize>>::new());
        for judge in [PLAIN, INDIRECT] {
            let mut found: Vec<(f64, Range<usize>, &[Feature])> = Vec::new();
            for window in windows(tokens, WINDOWS[judge]) {
                let start = features.partition_point(|feature| feature.first < window.start);
                let end = features.partition_point(|feature| feature.first < window.end);
                // Each feature counts once.
                seen.clear();
                let part = &features[start..end];
                seen.extend(part.iter().map(|one| (one.known.slot, one.known.weights[judge])));
                seen.sort_unstable();
                seen.dedup();
                let sum: i32 = seen.iter().map(|(_, weight)| i32::from(*weight)).sum();
                let count = f64::from(before[window.end] - before[window.start]);
                let score = f64::from(sum) * WEIGHT_UNITS[judge]
                    / count.max(MIN_FEATURES[judge]).sqrt()
                    + self.bias(judge);
                let next = taken.partition_point(|other| other.end <= window.start);
                let is_taken = taken.get(next).is_some_and(|other| other.start < window.end);
                if score <= THRESHOLDS[judge] || is_taken {
                    continue;
                }
                match found.last_mut() {
                    Some(last) if window.start < last.1.end => {
                        if score > last.0 {
                            *last = (score, window, part);
                        }
                    }
                    _ => found.push((score, window, part)),
                }
            }
            taken.extend(found.iter().map(|(_, window, _)| window.clone()));
            reported.extend(
                found
                    .into_iter()
                    .filter_map(|(_, window, part)| explain(tokens, window, part, judge)),
            );
        }
        reported
    }
}

/// What a judge reports of a window: the class that its weights speak for, and the words that weigh
/// most. Nothing, if it is about tools of the same server only.
fn explain(
    tokens: &[Token<'_>],
    window: Range<usize>,
    features: &[Feature],
    judge: usize,
) -> Option<FoundInstruction> {
    let start = window.start;
    let tokens = &tokens[window];
    let mut gains = vec![0; tokens.len()];
    let mut votes = [0; AttackClass::ALL.len()];
    for Feature { first, known } in features {
        let gain = i32::from(known.weights[judge]);
        gains[first - start] += gain;
        known.class.into_iter().for_each(|class| votes[class as usize] += gain.max(0));
    }
    let has = |name: &str| tokens.iter().any(|token| token.class == name);
    // A window without any of these characters cannot be markup, even if its words are typical.
    let has_markup = ["<", "[", "{", "#", "【"].into_iter().any(has);
    let classes = AttackClass::ALL.into_iter();
    let classes = classes.filter(|class| has_markup || *class != AttackClass::Markup);
    let class =
        classes.reduce(
            |best, class| {
                if votes[class as usize] > votes[best as usize] { class } else { best }
            },
        )?;
    if class == AttackClass::OtherTools && has(OWN_NAME) && !has(NAME) {
        return None;
    }
    let words = heaviest(&gains, tokens);
    Some(FoundInstruction {
        class,
        range: tokens[words.start].range.start..tokens[words.end - 1].range.end,
    })
}

/// The file with these biases and these features, each with its class and a weight for each judge.
#[cfg(test)]
pub(super) fn encode(
    biases: Pair<f64>,
    features: impl Iterator<Item = (u64, Option<AttackClass>, Pair<f64>)>,
) -> Vec<u8> {
    let mut slots = vec![[0; 4]; 1 << SLOT_BITS];
    for (key, class, weights) in features {
        // A weight that does not fit is cut.
        let [indirect, plain] = [INDIRECT, PLAIN]
            .map(|judge| ((weights[judge] / WEIGHT_UNITS[judge]).round() as i8).cast_unsigned());
        if (indirect, plain) == (0, 0) {
            continue;
        }
        let mut slot = (key >> (64 - SLOT_BITS)) as usize;
        while slots[slot] != [0; 4] {
            slot = (slot + 1) % slots.len();
        }
        let class = class.map_or(AttackClass::ALL.len(), |class| class as usize) as u16;
        let tag = ((key % (1 << TAG_BITS)) as u16) << 3 | class;
        let [low, high] = tag.to_le_bytes();
        slots[slot] = [low, high, indirect, plain];
    }
    let used = slots.iter().filter(|slot| **slot != [0; 4]).count();
    assert!(4 * used < 3 * slots.len(), "{used} features make the table slow");
    let biases = biases.map(|bias| ((bias / BIAS_UNIT).round() as i16).to_le_bytes());
    [biases.concat(), slots.concat()].concat()
}

/// Tokens that a quotation has at most; characters of scripts without spaces count half.
const MAX_QUOTED: usize = 14;

/// The tokens that weigh most: of the sentence with the largest sum of gains all, or as many as a
/// quotation has, where they weigh most.
fn heaviest(gains: &[i32], tokens: &[Token<'_>]) -> Range<usize> {
    let (mut best, mut best_sum) = (0..tokens.len(), i32::MIN);
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        if token.ends_sentence() || at + 1 == tokens.len() {
            let sum = gains[start..=at].iter().sum();
            if sum > best_sum {
                (best, best_sum) = (start..at + 1, sum);
            }
            start = at + 1;
        }
    }
    let unspaced = tokens[best.clone()].iter().filter(|token| token.is_unspaced()).count();
    let most = if 2 * unspaced > best.len() { 2 * MAX_QUOTED } else { MAX_QUOTED };
    if best.len() > most {
        let sum = |start: usize| gains[start..start + most].iter().sum::<i32>();
        let start = (best.start..=best.end - most).max_by_key(|start| sum(*start));
        best = start.map_or(best, |start| start..start + most);
    }
    // A sign at either end says nothing.
    while best.len() > 1 && tokens[best.end - 1].is_sign() {
        best.end -= 1;
    }
    while best.len() > 1 && tokens[best.start].is_sign() {
        best.start += 1;
    }
    best
}
