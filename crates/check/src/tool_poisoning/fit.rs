//! Fits the weights of `scorer` to the collections in `tests/tool_poisoning` and to a background of
//! honest texts, and measures what they are worth on an author who was left out.
//!
//! The background is descriptions of published APIs. It is not in the repository: `background.py`
//! there writes it, and the variable `TOOL_POISONING_BACKGROUND` names the file. Without it nothing
//! is fitted, and the tests here print that they are skipped; `make e2e` runs them. The background
//! teaches which words of the collections honest texts use as well; words that only it has get no
//! weight.
//!
//! Each judge is a linear classifier with a squared hinge loss, found by dual coordinate descent
//! (Hsieh and others 2008). A feature is scaled down if both kinds of text have it about as often
//! (Wang and Manning 2012), and if many texts have it: words that everybody uses would otherwise
//! add up to an attack in honest texts of another style. Everything is additions, multiplications,
//! divisions and square roots in a fixed order, so that every machine finds the same weights.
//!
//! ```text
//! texts ─ features ─▶ rows ─ Frequency ─▶ scales ─┐
//!                      │                          ├─ descend ─▶ weights ─ encode ─▶ weights.bin
//!                      └──────────────────────────┘
//!         once more, with the plainest sentence of each attack as a harmless text
//! ```
//!
//! Two judges are fitted, each with its own costs of texts ([`SOURCES`]) and windows: one for
//! attacks that avoid the usual words, one for plain ones. See `scorer`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;

use super::features::{Token, for_each_feature, tokens, windows};
use super::host_markup::find_host_markup;
use super::instructions::AttackClass;
use super::normalize::NormalizedText;
use super::scorer::{INDIRECT, MIN_FEATURES, PLAIN, Pair, WINDOWS, Weights, encode};
use super::tests::{COLLECTIONS, entries};

/// How a collection is used: how its name begins, and what a text of it counts for each judge, as
/// an attack and as a harmless one.
type TextSet = (&'static str, Pair<f64>, Pair<f64>);

/// The first one whose name fits counts.
///
/// Columns: attacks and harmless texts, each for the judge of indirect attacks and for that of
/// plain ones. 0 leaves a text out. The empty name at the end fits all others.
const SOURCES: &[TextSet] = &[
    ("outsider-a", [1.0, 1.0], [4.0, 4.0]),
    ("outsider-", [1.0, 0.0], [4.0, 4.0]),
    ("written-", [1.0, 1.0], [2.0, 1.0]),
    ("ordinary-", [0.0, 0.0], [1.0, 1.0]),
    ("plain-", [0.0, 3.0], [0.0, 0.0]),
    (BACKGROUND, [0.0, 0.0], [1.0, 1.0]),
    ("", [0.3, 1.0], [2.0, 1.0]),
];

/// The name of the collection of background texts.
const BACKGROUND: &str = "background";

/// The weight of an error against that of large weights. By judge; larger ones fit the texts more
/// closely.
const COSTS: Pair<f64> = [2.0, 3.0];
/// Passes over all rows. A fixed number, and no test for convergence, so that every machine stops
/// at the same weights.
const EPOCHS: usize = 30;
/// Texts that must have a feature, or it is left out: what a single author says once says little
/// about others, and most features are of this kind.
const MIN_TEXTS: u32 = 2;
/// Tokens that a sentence of an attack has at least to be judged by itself.
const MIN_SENTENCE: usize = 4;
/// How much less than the rest of an attack a sentence must look like one to count as harmless.
const MIN_DIFFERENCE: f64 = 0.1;

/// A text to fit to.
struct TrainingText<'t> {
    collection: &'static str,
    is_attack: bool,
    /// What an attack wants.
    class: Option<AttackClass>,
    language: String,
    /// Normalised.
    text: &'t str,
    tokens: Vec<Token<'t>>,
}

impl TrainingText<'_> {
    /// What an error about this text costs the judge; 0 leaves the text out.
    fn weight(&self, judge: usize) -> f64 {
        let (_, attacks, harmless) =
            SOURCES.iter().find(|source| self.collection.starts_with(source.0)).expect("one fits");
        if self.is_attack { attacks[judge] } else { harmless[judge] }
    }
}

/// What a kind of attack is reported as. What is named for how it is hidden has no class.
fn class_of_kind(kind: &str) -> Option<AttackClass> {
    Some(match kind {
        "override" | "authority" => AttackClass::Override,
        "conceal" => AttackClass::Conceal,
        "exfiltrate" => AttackClass::Exfiltrate,
        "approval" => AttackClass::Approval,
        "tools" | "other_tool" | "always_first" | "redirect" => AttackClass::OtherTools,
        "conversation" => AttackClass::Conversation,
        "markup" | "tags" => AttackClass::Markup,
        _ => return None,
    })
}

/// A text of a collection, before it is cut into tokens.
struct NormalizedEntry {
    collection: &'static str,
    kind: String,
    language: String,
    text: String,
}

/// The texts of all collections, then those of the background. `None` without a background.
fn all_entries() -> Option<Vec<NormalizedEntry>> {
    let Some(path) = std::env::var_os("TOOL_POISONING_BACKGROUND") else {
        let line = "nothing is fitted: TOOL_POISONING_BACKGROUND is not set\n";
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        return None;
    };
    let background: Vec<String> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let background =
        background.into_iter().map(|text| (BACKGROUND, ["harmless".into(), "en".into(), text]));
    let all = COLLECTIONS
        .iter()
        .flat_map(|(name, content)| entries(content).into_iter().map(move |entry| (*name, entry)));
    let normalized = |(collection, [kind, language, text]): (_, [String; 3])| {
        let text = NormalizedText::new(&text).text;
        NormalizedEntry { collection, kind, language, text }
    };
    Some(all.chain(background).map(normalized).collect())
}

/// Cuts the entries into tokens. Names of tools are unknown here, so none counts as the server's
/// own.
fn examples(entries: &[NormalizedEntry]) -> Vec<TrainingText<'_>> {
    let own_tools = HashSet::new();
    entries
        .iter()
        .map(|NormalizedEntry { collection, kind, language, text }| TrainingText {
            collection,
            is_attack: collection.ends_with("-attacks"),
            class: class_of_kind(kind),
            language: language.clone(),
            text,
            tokens: tokens(text, &own_tools),
        })
        .collect()
}

/// A row of the problem that is solved: the indices of the features that a text or a window has.
/// One for an attack, one for each window of a harmless text.
struct Row {
    /// Which text it belongs to.
    text: usize,
    features: Vec<usize>,
    /// What each of them counts before it is scaled.
    part: f64,
    is_attack: bool,
    class: Option<AttackClass>,
    cost: f64,
}

/// A number for each class.
type ByClass = [f64; AttackClass::ALL.len()];

/// How often texts have a feature.
#[derive(Clone, Default)]
struct Frequency {
    /// Rows that have it: texts of attacks, and windows of harmless texts.
    rows: u32,
    /// Texts that have it in any row.
    texts: u32,
    /// The last text that was counted in `texts`; rows of one text follow each other.
    last_text: Option<usize>,
    /// Sums of the costs of attacks and of harmless texts.
    attacks: f64,
    harmless: f64,
    /// Sums of the costs of attacks, by class.
    classes: ByClass,
}

/// Features of all texts by their key, as indices in the order in which they were met. Shared by
/// both judges, so that a feature has one index.
#[derive(Default)]
struct Vocabulary {
    /// From the key of a feature to its index.
    indices: HashMap<u64, usize>,
    /// From the index of a feature to its key.
    keys: Vec<u64>,
}

impl Vocabulary {
    /// The row for these tokens of a text. Texts of the background add no features.
    fn row(
        &mut self,
        text: usize,
        example: &TrainingText<'_>,
        tokens: &[Token<'_>],
        judge: usize,
    ) -> Row {
        let (mut features, mut count) = (Vec::new(), 0.0f64);
        for_each_feature(tokens, |_, key| {
            count += 1.0;
            if example.collection == BACKGROUND {
                features.extend(self.indices.get(&key).copied());
                return;
            }
            features.push(*self.indices.entry(key).or_insert_with(|| {
                self.keys.push(key);
                self.keys.len() - 1
            }));
        });
        features.sort_unstable();
        features.dedup();
        Row {
            text,
            features,
            part: 1.0 / count.max(MIN_FEATURES[judge]).sqrt(),
            is_attack: example.is_attack,
            class: example.class,
            cost: example.weight(judge),
        }
    }
}

/// The logarithm to base 2, by lines between the powers of two: the one of the standard library may
/// differ from machine to machine.
fn log2(n: u32) -> f64 {
    let whole = n.ilog2();
    f64::from(whole) + f64::from(n) / f64::from(1 << whole) - 1.0
}

/// Fits a judge to the examples of all collections but those whose name begins with `left_out`.
/// Returns the weights by index of the vocabulary, the bias, and the frequencies.
///
/// An attack is one row, however long it is: any part of it may be what makes it one. A harmless
/// text is one row for each window, because none of them may be reported.
///
/// The scale of a feature is its contrast times its rarity. Contrast is small for a feature that
/// attacks and harmless texts have at the same rate, and largest for one that only one kind has.
/// Rarity is 1 for a feature of a single row and 0 for one of all rows.
fn fit_judge(
    all: &[TrainingText<'_>],
    vocabulary: &mut Vocabulary,
    judge: usize,
    left_out: &str,
) -> (Vec<f64>, f64, Vec<Frequency>) {
    let is_used = |one: &&TrainingText<'_>| {
        one.weight(judge) > 0.0 && (left_out.is_empty() || !one.collection.starts_with(left_out))
    };
    let (mut rows, mut sentences) = (Vec::new(), Vec::new());
    for (text, one) in all.iter().filter(is_used).enumerate() {
        if one.is_attack {
            rows.push(vocabulary.row(text, one, &one.tokens, judge));
            let parts = long_sentences(&one.tokens);
            sentences
                .push(parts.map(|part| vocabulary.row(text, one, part, judge)).collect::<Vec<_>>());
            continue;
        }
        for window in windows(&one.tokens, WINDOWS[judge]) {
            rows.push(vocabulary.row(text, one, &one.tokens[window], judge));
        }
    }

    let mut frequencies = vec![Frequency::default(); vocabulary.keys.len()];
    let (mut attacks, mut harmless) = (1.0, 1.0);
    for row in &rows {
        *if row.is_attack { &mut attacks } else { &mut harmless } += row.cost;
        for &feature in &row.features {
            let known = &mut frequencies[feature];
            known.rows += 1;
            known.texts += u32::from(known.last_text.replace(row.text) != Some(row.text));
            *if row.is_attack { &mut known.attacks } else { &mut known.harmless } += row.cost;
            row.class.into_iter().for_each(|class| known.classes[class as usize] += row.cost);
        }
    }
    let log_of_all = log2(rows.len() as u32);
    let scale = |known: &Frequency| {
        if known.texts < MIN_TEXTS {
            return 0.0;
        }
        let (a, b) = ((known.attacks + 0.5) / attacks, (known.harmless + 0.5) / harmless);
        let contrast = (2.0 * (a - b).abs() / (a + b) + 0.05).sqrt();
        let rarity = (log_of_all - log2(known.rows.max(1))) / log_of_all;
        contrast * if judge == INDIRECT { rarity * rarity } else { rarity }
    };
    let scales: Vec<f64> = frequencies.iter().map(scale).collect();
    let (weights, bias) = descend(&rows, &scales, COSTS[judge]);
    let score = |row: &Row| {
        row.features.iter().map(|feature| weights[*feature]).sum::<f64>() * row.part + bias
    };
    // Only after the first fit it is known which sentence looks least like an attack.
    rows.extend(sentences.into_iter().filter_map(|sentences| plainest(sentences, score)));
    let (weights, bias) = descend(&rows, &scales, COSTS[judge]);
    (weights, bias, frequencies)
}

/// The sentences of an attack that are longer than a heading.
fn long_sentences<'t>(tokens: &'t [Token<'t>]) -> impl Iterator<Item = &'t [Token<'t>]> {
    tokens.split_inclusive(Token::ends_sentence).filter(|sentence| sentence.len() >= MIN_SENTENCE)
}

/// The sentence of an attack that looks least like one, as a harmless text. Most attacks begin with
/// the description of an ordinary tool; without this, the words of that tool would count as signs
/// of an attack. `None` if all sentences look alike: then none is certainly harmless.
fn plainest(sentences: Vec<Row>, score: impl Fn(&Row) -> f64) -> Option<Row> {
    let mut scored: Vec<(f64, Row)> = sentences.into_iter().map(|row| (score(&row), row)).collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let highest = scored.last()?.0;
    let (lowest, row) = scored.swap_remove(0);
    (lowest < highest - MIN_DIFFERENCE).then_some(Row { is_attack: false, class: None, ..row })
}

/// Numbers that look random and are the same everywhere. Not from a crate: another version of it
/// might shuffle in another way.
struct Lottery(u64);

impl Lottery {
    /// The next number below `end`, of a linear congruential generator.
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Dual coordinate descent for a linear classifier with squared hinge loss. Returns the weights,
/// scaled, and the bias.
///
/// One dual variable `alpha` per row, never negative. A step sets the one of a row to the value
/// that is best while all others stay, and moves the weights by the difference: the weights are
/// always the sum of all rows, each times its `alpha` and sign. Rows are taken in a shuffled order
/// in each epoch.  `slack` is the term of the squared loss.
///
/// Features are scaled on the fly: a row has 0 or `part` for a feature, times the scale.
fn descend(rows: &[Row], scales: &[f64], cost: f64) -> (Vec<f64>, f64) {
    let (mut weights, mut bias) = (vec![0.0; scales.len()], 0.0);
    let mut alphas = vec![0.0f64; rows.len()];
    let square = |row: &Row| {
        let sum: f64 = row.features.iter().map(|at| scales[*at] * scales[*at]).sum();
        sum * row.part * row.part + 1.0
    };
    let squares: Vec<f64> = rows.iter().map(square).collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut lottery = Lottery(12345);
    for _ in 0..EPOCHS {
        for at in (1..order.len()).rev() {
            order.swap(at, lottery.below(at + 1));
        }
        for &at in &order {
            let row = &rows[at];
            let sign = if row.is_attack { 1.0 } else { -1.0 };
            let slack = 0.5 / (row.cost * cost);
            let sum: f64 = row.features.iter().map(|at| weights[*at] * scales[*at]).sum();
            let gradient = sign * (sum * row.part + bias) - 1.0 + slack * alphas[at];
            let alpha = (alphas[at] - gradient / (squares[at] + slack)).max(0.0);
            let step = (alpha - alphas[at]) * sign;
            alphas[at] = alpha;
            if step == 0.0 {
                continue;
            }
            for at in &row.features {
                weights[*at] += step * row.part * scales[*at];
            }
            bias += step;
        }
    }
    weights.iter_mut().zip(scales).for_each(|(weight, scale)| *weight *= scale);
    (weights, bias)
}

/// The content of `data/weights.bin`, fitted to all collections but those whose name begins with
/// `left_out`.
///
/// Features are sorted by key, so the order of the texts does not matter.
fn fit(all: &[TrainingText<'_>], left_out: &str) -> Vec<u8> {
    let mut vocabulary = Vocabulary::default();
    let (indirect, indirect_bias, frequencies) =
        fit_judge(all, &mut vocabulary, INDIRECT, left_out);
    let (plain, plain_bias, plain_frequencies) = fit_judge(all, &mut vocabulary, PLAIN, left_out);
    let mut totals = ByClass::default();
    all.iter().filter_map(|one| one.class).for_each(|class| totals[class as usize] += 1.0);
    // A feature speaks for the class whose attacks have it more often than those of all others.
    let class = |at: usize| {
        let rate = |class: &AttackClass| {
            let judges = [frequencies.get(at), plain_frequencies.get(at)].into_iter().flatten();
            let sum: f64 = judges.map(|known| known.classes[*class as usize]).sum();
            sum / totals[*class as usize].max(1.0)
        };
        let all: f64 = AttackClass::ALL.iter().map(rate).sum();
        AttackClass::ALL.into_iter().find(|class| rate(class) > 0.5 * all)
    };
    let mut features: Vec<(u64, usize)> =
        vocabulary.keys.iter().enumerate().map(|(at, key)| (*key, at)).collect();
    features.sort_unstable();
    let weight = |weights: &[f64], at: usize| weights.get(at).copied().unwrap_or_default();
    let features = features
        .into_iter()
        .map(|(key, at)| (key, class(at), [weight(&indirect, at), weight(&plain, at)]));
    encode([indirect_bias, plain_bias], features)
}

/// Compares a file with what it should hold. `UPDATE_DOCS=1` writes it. `path` is below the folder
/// of the crate.
fn assert_file(path: &str, expected: &[u8]) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == expected, "{}: UPDATE_DOCS=1", path.display());
}

#[test]
fn the_committed_weights_are_those_of_the_committed_texts() {
    let Some(entries) = all_entries() else { return };
    assert_file("src/tool_poisoning/data/weights.bin", &fit(&examples(&entries), ""));
}

/// Fits without the texts of one author and measures on these: what an attack by somebody unknown
/// meets. By language and by class.
#[test]
fn the_committed_measurement_of_left_out_authors_is_current() {
    let Some(entries) = all_entries() else { return };
    let all = examples(&entries);
    let mut authors: Vec<&str> = Vec::new();
    for one in &all {
        let name = one.collection.strip_suffix("-attacks");
        let name = name.or(one.collection.strip_suffix("-harmless")).unwrap_or(BACKGROUND);
        let is_author = name.starts_with("outsider-") || name.starts_with("ordinary-");
        if is_author && !authors.contains(&name) {
            authors.push(name);
        }
    }
    let mut sums: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut table = String::new();
    for author in authors {
        let fitted = fit(&all, author);
        let mut counts: BTreeMap<(bool, String), (usize, usize)> = BTreeMap::new();
        let is_own = |one: &&TrainingText<'_>| {
            one.collection.strip_prefix(author).is_some_and(|kind| kind.starts_with('-'))
        };
        for one in all.iter().filter(is_own) {
            let reported = !find_host_markup(one.text).is_empty()
                || !Weights(&fitted).find(&one.tokens).is_empty();
            let class = one.class.map(|class| format!("{class:?}").to_lowercase());
            let keys = [Some(String::new()), Some(one.language.clone()), class];
            for key in keys.into_iter().flatten() {
                let count = counts.entry((!one.is_attack, key)).or_default();
                *count = (count.0 + usize::from(reported), count.1 + 1);
            }
        }
        for ((is_harmless, key), (reported, all)) in counts {
            let kind = if is_harmless { "harmless" } else { "attacks" };
            if key.is_empty() {
                let (style, _) = author.split_once('-').expect("a style and a name");
                let sum = sums.entry(format!("{style}-*-{kind}")).or_default();
                *sum = (sum.0 + reported, sum.1 + all);
            }
            let end = match key.as_str() {
                "" => writeln!(table, "{author}-{kind}, left out: {reported} of {all} reported"),
                _ => writeln!(table, "  {key} {reported}/{all}"),
            };
            end.expect("a string takes everything");
        }
    }
    for (kind, (reported, all)) in sums {
        writeln!(table, "{kind}, together: {reported} of {all} reported").unwrap();
    }
    assert_file("tests/tool_poisoning/left_out_authors.txt", table.as_bytes());
}
