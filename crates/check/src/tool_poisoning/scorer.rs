//! Judges a text by fitted weights: `data/weights.txt` has a number for each feature, and a window
//! of the text is reported if the sum of its numbers is large for its length.
//!
//! There are two judges, one column of the file each. Attacks by authors who know that somebody
//! looks for them avoid "ignore all instructions" and "do not tell the user", and honest texts
//! about security are full of these words. So one judge was fitted to such authors ([`INDIRECT`]),
//! the other to attacks in plain words ([`PLAIN`]). What one of them reports is reported. `fit.rs`
//! makes the file.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::LazyLock;

use super::features::{FeatureKind, NAME, OWN_NAME, Token, for_each_feature, windows};
use super::instructions::AttackClass;

/// Weights of both judges.
pub(super) type Pair<T> = [T; 2];

pub(super) const INDIRECT: usize = 0;
pub(super) const PLAIN: usize = 1;

/// Weights are written as whole numbers of this part.
pub(super) const UNIT: f64 = 0.01;

/// Features that a window counts as having at least, for each judge: a short text has few, and each
/// would weigh too much.
pub(super) const MIN_FEATURES: Pair<f64> = [100.0, 25.0];

/// The score from which on a window is reported.
pub(super) const THRESHOLDS: Pair<f64> = [0.05, 0.55];

/// What `data/weights.txt` says about a feature.
#[derive(Debug, Clone, Copy)]
struct Weight {
    weights: Pair<f32>,
    class: AttackClass,
    /// The number of the line, by which repeated features are told.
    line: u32,
}

/// The fitted weights.
pub(super) struct Weights {
    bias: Pair<f64>,
    features: HashMap<u64, Weight, BuildHasherDefault<KeyHasher>>,
    /// A bit for the first bits of each key. Most features of a text are unknown, and most of these
    /// are ruled out here, without a look into the map, which is too large for fast memory.
    filter: Vec<u64>,
}

/// Bits of a key by which [`Weights::filter`] has it.
const FILTER_BITS: u32 = 18;

/// Where the filter has a key: an element, and a bit of it.
fn filter_bit(key: u64) -> (usize, u64) {
    let bit = key >> (64 - FILTER_BITS);
    ((bit / 64) as usize, 1 << (bit % 64))
}

pub(super) static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| Weights::parse(include_str!("data/weights.txt")));

/// The keys are hashes already.
#[derive(Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Which features a window has had so far. One for many texts: clearing it costs more than most
/// texts do, so it counts windows instead.
#[derive(Default)]
pub(super) struct SeenFeatures {
    /// For each line of the file the last window that had its feature.
    last: Vec<u64>,
    window: u64,
}

impl SeenFeatures {
    fn next_window(&mut self, features: usize) {
        self.last.resize(features + 1, 0);
        self.window += 1;
    }

    fn is_new(&mut self, line: u32) -> bool {
        std::mem::replace(&mut self.last[line as usize], self.window) != self.window
    }
}

/// A part of a text that a judge reports.
#[derive(Debug)]
pub(super) struct Reported {
    pub(super) class: AttackClass,
    /// Bytes of the normalised text: the words that weigh most.
    pub(super) range: Range<usize>,
}

impl Weights {
    /// Reads the file; its first lines say how it is written.
    pub(super) fn parse(file: &str) -> Self {
        let number = |text: &str| text.parse::<i32>().map(|n| f64::from(n) * UNIT);
        let mut section = None;
        let mut bias = None;
        let mut features: HashMap<u64, Weight, _> = HashMap::default();
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let mut parts = line.splitn(3, ' ');
            let [Some(first), Some(second), third] = [(); 3].map(|()| parts.next()) else {
                continue;
            };
            if first == "=" {
                section =
                    AttackClass::of_letter(second).zip(third.and_then(FeatureKind::of_letter));
                continue;
            }
            let (Ok(indirect), Ok(plain)) = (number(first), number(second)) else { continue };
            match (section, third) {
                (Some((class, kind)), Some(tokens)) => {
                    let weights = [indirect as f32, plain as f32];
                    let line = u32::try_from(features.len()).unwrap_or(u32::MAX);
                    features.insert(kind.key_of(tokens), Weight { weights, class, line });
                }
                _ => bias = Some([indirect, plain]),
            }
        }
        // A test reads the file, so what is wrong with it is found there.
        let mut filter = vec![0; 1 << (FILTER_BITS - 6)];
        for key in features.keys() {
            let (element, bit) = filter_bit(*key);
            filter[element] |= bit;
        }
        Self { bias: bias.unwrap_or_default(), features, filter }
    }

    fn get(&self, key: u64) -> Option<&Weight> {
        let (element, bit) = filter_bit(key);
        if self.filter[element] & bit == 0 { None } else { self.features.get(&key) }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.features.len()
    }

    /// The score of both judges for the window of these tokens, above their thresholds. Each
    /// feature counts once.
    fn margins(&self, tokens: &[Token<'_>], seen: &mut SeenFeatures) -> Pair<f64> {
        seen.next_window(self.features.len());
        let (mut count, mut sums) = (0, [0.0f64; 2]);
        for_each_feature(tokens, |feature| {
            count += 1;
            let Some(weight) = self.get(feature.key) else { return };
            if seen.is_new(weight.line) {
                sums[INDIRECT] += f64::from(weight.weights[INDIRECT]);
                sums[PLAIN] += f64::from(weight.weights[PLAIN]);
            }
        });
        [INDIRECT, PLAIN].map(|judge| {
            let count = f64::from(count).max(MIN_FEATURES[judge]);
            sums[judge] / count.sqrt() + self.bias[judge] - THRESHOLDS[judge]
        })
    }

    /// The windows that a judge reports, without overlaps: of two that overlap, the one with the
    /// higher score.
    pub(super) fn find(&self, tokens: &[Token<'_>], seen: &mut SeenFeatures) -> Vec<Reported> {
        let mut found: Vec<(f64, usize, Range<usize>)> = Vec::new();
        for window in windows(tokens) {
            let margins = self.margins(&tokens[window.clone()], seen);
            let judge = if margins[PLAIN] > 0.0 { PLAIN } else { INDIRECT };
            let margin = margins[INDIRECT].max(margins[PLAIN]);
            if margin <= 0.0 {
                continue;
            }
            match found.last_mut() {
                Some(last) if window.start < last.2.end => {
                    if margin > last.0 {
                        *last = (margin, judge, window);
                    }
                }
                _ => found.push((margin, judge, window)),
            }
        }
        let reported =
            found.into_iter().map(|(_, judge, window)| self.explain(&tokens[window], judge));
        reported.flatten().collect()
    }

    /// What a judge reports of a window: the class that its weights speak for, and the words that
    /// weigh most. Nothing, if it is about tools of the same server only.
    fn explain(&self, tokens: &[Token<'_>], judge: usize) -> Option<Reported> {
        let mut gains = vec![0.0f32; tokens.len()];
        let mut votes = [0.0f32; AttackClass::ALL.len()];
        for_each_feature(tokens, |feature| {
            let Some(weight) = self.get(feature.key) else { return };
            let gain = weight.weights[judge];
            gains[feature.first] += gain;
            if gain > 0.0 {
                votes[weight.class as usize] += gain;
            }
        });
        let has = |name: &str| tokens.iter().any(|token| token.class == name);
        // Whatever the words say, without its signs there is no markup.
        let has_markup = ["<", "[", "{", "#", "【"].into_iter().any(has);
        let classes = AttackClass::ALL.into_iter();
        let classes = classes.filter(|class| has_markup || *class != AttackClass::Markup);
        let class = classes.reduce(|best, class| {
            if votes[class as usize] > votes[best as usize] { class } else { best }
        })?;
        if class == AttackClass::OtherTools && has(OWN_NAME) && !has(NAME) {
            return None;
        }
        let words = heaviest(&gains, tokens);
        Some(Reported {
            class,
            range: tokens[words.start].range.start..tokens[words.end - 1].range.end,
        })
    }
}

/// Tokens that a quotation has at most; characters of scripts without spaces count half.
const MAX_QUOTED: usize = 14;

/// The tokens that weigh most: of the sentence with the largest sum of gains all, or as many as a
/// quotation has, where they weigh most.
fn heaviest(gains: &[f32], tokens: &[Token<'_>]) -> Range<usize> {
    let (mut best, mut best_sum) = (0..tokens.len(), f32::MIN);
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
        let sum = |start: usize| gains[start..start + most].iter().sum::<f32>();
        let start = (best.start..=best.end - most).max_by(|a, b| sum(*a).total_cmp(&sum(*b)));
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
