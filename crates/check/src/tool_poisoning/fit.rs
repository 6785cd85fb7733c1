//! Fits the weights of `scorer` to the collections in `tests/tool_poisoning`, and measures what
//! they are worth on an author who was left out.
//!
//! Each judge is a linear classifier with a squared hinge loss, found by dual coordinate descent
//! (Hsieh and others 2008). A feature is scaled by how much more often one kind of text has it than
//! the other, so that words which both have do not add up (Wang and Manning 2012). Everything is
//! additions, multiplications, divisions and square roots in a fixed order, so that every machine
//! finds the same weights.
//!
//! An attack is mostly a sentence inside of an honest description. Collections of bare sentences
//! are therefore read behind the first sentence of another text of the same language
//! ([`Source::embedded`]).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use super::features::{Token, for_each_feature, tokens, windows};
use super::host_markup::find_host_markup;
use super::instructions::AttackClass;
use super::normalize::NormalizedText;
use super::scorer::{INDIRECT, MIN_FEATURES, PLAIN, Pair, SeenFeatures, UNIT, Weights};
use super::tests::{COLLECTIONS, entries};

/// How a collection is used.
struct Source {
    /// How its name begins.
    name: &'static str,
    /// What a text counts, as an attack and as a harmless one, for each judge.
    attacks: Pair<f64>,
    harmless: Pair<f64>,
    /// The share of an attack that counts behind another text's first sentence.
    embedded: f64,
}

const fn source(
    name: &'static str,
    attacks: Pair<f64>,
    harmless: Pair<f64>,
    embedded: f64,
) -> Source {
    Source { name, attacks, harmless, embedded }
}

/// The first one whose name fits counts.
const SOURCES: &[Source] = &[
    source("outsider-a", [1.0, 1.0], [1.0, 1.0], 0.0),
    source("outsider-", [1.0, 0.0], [1.0, 1.0], 0.0),
    source("written-", [0.5, 0.7], [0.5, 1.0], 1.0),
    source("plain-", [0.0, 3.0], [0.0, 0.0], 0.0),
    source("documentation-", [0.0, 0.0], [0.7, 1.0], 0.0),
    source("", [0.1, 1.0], [0.3, 1.0], 0.5),
];

/// Copies of an embedded text, each behind another sentence.
const COPIES: usize = 3;
/// The weight of an error against that of large weights.
const COST: f64 = 3.0;
const EPOCHS: usize = 30;
/// Texts that a feature must be in, for each judge. There are few plain attacks in some languages.
const MIN_TEXTS: Pair<u32> = [3, 2];
/// Smaller weights, in [`UNIT`], are left out of the file.
const MIN_WEIGHT: Pair<f64> = [8.0, 16.0];

/// A text to fit to.
struct Example<'t> {
    collection: &'static str,
    source: &'static Source,
    /// Whether it is an attack, and what it wants.
    is_attack: bool,
    class: Option<AttackClass>,
    language: String,
    /// Normalised.
    text: &'t str,
    tokens: Vec<Token<'t>>,
}

impl Example<'_> {
    fn weight(&self, judge: usize) -> f64 {
        if self.is_attack { self.source.attacks[judge] } else { self.source.harmless[judge] }
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

/// The normalised texts of all collections, in the order of [`examples`].
fn normalized_texts() -> Vec<String> {
    let texts = COLLECTIONS.iter().flat_map(|(_, content)| entries(content));
    texts.map(|[_, _, text]| NormalizedText::new(&text).text).collect()
}

fn examples(texts: &[String]) -> Vec<Example<'_>> {
    let all = COLLECTIONS
        .iter()
        .flat_map(|(name, content)| entries(content).into_iter().map(move |entry| (*name, entry)));
    let own_tools = HashSet::new();
    all.zip(texts)
        .map(|((collection, [kind, language, _]), text)| Example {
            collection,
            source: SOURCES.iter().find(|one| collection.starts_with(one.name)).expect("one fits"),
            is_attack: collection.ends_with("-attacks"),
            class: class_of_kind(&kind),
            language: if language == "any" { "en".to_owned() } else { language },
            text,
            tokens: tokens(text, &own_tools),
        })
        .collect()
}

/// A number for each class.
type ByClass = [f64; AttackClass::ALL.len()];

/// A feature of the vocabulary.
struct Known {
    letter: char,
    tokens: String,
    texts: u32,
    /// Sums of the weights of attacks and of harmless texts that have it.
    attacks: f64,
    harmless: f64,
    classes: ByClass,
}

/// Features by their key, as indices in the order in which they were met.
#[derive(Default)]
struct Vocabulary {
    indices: HashMap<u64, usize>,
    known: Vec<Known>,
}

impl Vocabulary {
    fn add(&mut self, example: &Example<'_>, weight: f64) {
        let mut seen = HashSet::new();
        for_each_feature(&example.tokens, |feature| {
            if !seen.insert(feature.key) {
                return;
            }
            let index = *self.indices.entry(feature.key).or_insert_with(|| {
                self.known.push(Known {
                    letter: feature.kind.letter(),
                    tokens: feature.tokens(&example.tokens),
                    texts: 0,
                    attacks: 0.0,
                    harmless: 0.0,
                    classes: Default::default(),
                });
                self.known.len() - 1
            });
            let known = &mut self.known[index];
            known.texts += 1;
            match example.is_attack {
                true => known.attacks += weight,
                false => known.harmless += weight,
            }
            example.class.into_iter().for_each(|class| known.classes[class as usize] += weight);
        });
    }

    /// The indices of the features of these tokens, each once, and their number with repetitions.
    fn features(&self, tokens: &[Token<'_>]) -> (Vec<usize>, f64) {
        let (mut found, mut count) = (Vec::new(), 0.0);
        for_each_feature(tokens, |feature| {
            count += 1.0;
            found.extend(self.indices.get(&feature.key));
        });
        found.sort_unstable();
        found.dedup();
        (found, count)
    }
}

/// A row of the problem that is solved.
struct Row {
    values: Vec<(usize, f64)>,
    is_attack: bool,
    cost: f64,
}

/// The weights of the features of one judge, scaled, and its bias.
struct Fitted {
    vocabulary: Vocabulary,
    weights: Vec<f64>,
    bias: f64,
}

/// Numbers that look random and are the same everywhere.
struct Lottery(u64);

impl Lottery {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Fits a judge to the examples of all collections but those whose name begins with `left_out`.
fn fit_judge(all: &[Example<'_>], judge: usize, left_out: &str) -> Fitted {
    let is_used = |one: &&Example<'_>| {
        one.weight(judge) > 0.0 && (left_out.is_empty() || !one.collection.starts_with(left_out))
    };
    let used: Vec<&Example<'_>> = all.iter().filter(is_used).collect();

    // The indirect judge sees as many attacks as harmless texts of each language, or a language
    // would be a sign by itself.
    let mut sums: BTreeMap<(&str, bool), f64> = BTreeMap::new();
    for one in &used {
        *sums.entry((&one.language, one.is_attack)).or_default() += one.weight(judge);
    }
    let weight = |one: &Example<'_>| {
        let sum = |is_attack| sums.get(&(one.language.as_str(), is_attack)).copied().unwrap_or(1.0);
        let balance = (sum(true) + sum(false)) / 2.0 / sum(one.is_attack);
        one.weight(judge) * if judge == INDIRECT { balance } else { 1.0 }
    };

    let mut vocabulary = Vocabulary::default();
    let (mut attacks, mut harmless) = (1.0, 1.0);
    for one in &used {
        vocabulary.add(one, weight(one));
        *if one.is_attack { &mut attacks } else { &mut harmless } += weight(one);
    }
    let scales: Vec<f64> = vocabulary
        .known
        .iter()
        .map(|known| {
            let (a, b) = ((known.attacks + 0.5) / attacks, (known.harmless + 0.5) / harmless);
            let is_rare = known.texts < MIN_TEXTS[judge];
            if is_rare { 0.0 } else { (2.0 * (a - b).abs() / (a + b) + 0.05).sqrt() }
        })
        .collect();

    let row = |tokens: &[Token<'_>], is_attack, cost| {
        let (features, count) = vocabulary.features(tokens);
        let norm = count.max(MIN_FEATURES[judge]).sqrt();
        let value = |at: usize| (scales[at] > 0.0).then(|| (at, scales[at] / norm));
        Row { values: features.into_iter().filter_map(value).collect(), is_attack, cost }
    };
    let mut rows = Vec::new();
    let mut lottery = Lottery(7);
    let beginnings = first_sentences(&used);
    for one in &used {
        let cost = COST * weight(one);
        let embedded = if judge == INDIRECT { one.source.embedded } else { 0.0 };
        if embedded > 0.0
            && let Some(beginnings) = beginnings.get(one.language.as_str())
        {
            for _ in 0..COPIES {
                let beginning = beginnings[lottery.below(beginnings.len())];
                let tokens = [beginning, &one.tokens].concat();
                rows.push(row(&tokens, one.is_attack, cost * embedded / COPIES as f64));
            }
        }
        if !one.is_attack {
            for window in windows(&one.tokens) {
                rows.push(row(&one.tokens[window], false, cost));
            }
        } else if embedded < 1.0 {
            rows.push(row(&one.tokens, true, cost * (1.0 - embedded)));
        }
    }
    let (weights, bias) = descend(&rows, scales.len());
    let weights = weights.iter().zip(&scales).map(|(weight, scale)| weight * scale).collect();
    Fitted { vocabulary, weights, bias }
}

/// The first sentences of the texts of outsiders, by language. Both kinds of text begin with what
/// the tool does.
fn first_sentences<'e>(used: &[&'e Example<'_>]) -> BTreeMap<&'e str, Vec<&'e [Token<'e>]>> {
    let mut found: BTreeMap<&str, Vec<&[Token<'_>]>> = BTreeMap::new();
    for one in used.iter().filter(|one| one.collection.starts_with("outsider-")) {
        let end = one.tokens.iter().position(|token| token.ends_sentence());
        if let Some(end) = end.filter(|end| end + 1 < one.tokens.len()) {
            found.entry(&one.language).or_default().push(&one.tokens[..=end]);
        }
    }
    found
}

/// Dual coordinate descent for a linear classifier with squared hinge loss.
fn descend(rows: &[Row], features: usize) -> (Vec<f64>, f64) {
    let (mut weights, mut bias) = (vec![0.0; features], 0.0);
    let mut alphas = vec![0.0f64; rows.len()];
    let squares: Vec<f64> =
        rows.iter().map(|row| row.values.iter().map(|(_, x)| x * x).sum::<f64>() + 1.0).collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut lottery = Lottery(12345);
    for _ in 0..EPOCHS {
        for at in (1..order.len()).rev() {
            order.swap(at, lottery.below(at + 1));
        }
        for &at in &order {
            let row = &rows[at];
            let sign = if row.is_attack { 1.0 } else { -1.0 };
            let slack = 0.5 / row.cost;
            let score = row.values.iter().map(|(i, x)| weights[*i] * x).sum::<f64>() + bias;
            let gradient = sign * score - 1.0 + slack * alphas[at];
            let alpha = (alphas[at] - gradient / (squares[at] + slack)).max(0.0);
            let step = (alpha - alphas[at]) * sign;
            alphas[at] = alpha;
            for (i, x) in &row.values {
                weights[*i] += step * x;
            }
            bias += step;
        }
    }
    (weights, bias)
}

/// The class that a feature speaks for: the one whose attacks have it most often.
fn class_letter(classes: &ByClass, totals: &ByClass) -> char {
    let rate = |class: AttackClass| classes[class as usize] / totals[class as usize].max(1.0);
    let best = AttackClass::ALL
        .into_iter()
        .reduce(|best, class| if rate(class) > rate(best) { class } else { best });
    best.unwrap_or(AttackClass::Override).letter()
}

/// The text of `data/weights.txt`.
fn fit(all: &[Example<'_>], left_out: &str) -> String {
    let judges = [INDIRECT, PLAIN].map(|judge| fit_judge(all, judge, left_out));
    let mut totals = ByClass::default();
    all.iter().filter_map(|one| one.class).for_each(|class| totals[class as usize] += 1.0);
    // By kind and tokens.
    let mut lines: BTreeMap<(char, &str), (Pair<f64>, ByClass)> = BTreeMap::new();
    for (judge, fitted) in judges.iter().enumerate() {
        for (known, weight) in fitted.vocabulary.known.iter().zip(&fitted.weights) {
            let line = lines.entry((known.letter, &known.tokens)).or_default();
            line.0[judge] = weight / UNIT;
            for (sum, one) in line.1.iter_mut().zip(&known.classes) {
                *sum += one;
            }
        }
    }
    let mut sections: BTreeMap<(char, char), String> = BTreeMap::new();
    for ((letter, tokens), (weights, classes)) in lines {
        let [indirect, plain] = [INDIRECT, PLAIN].map(|judge| {
            if weights[judge].abs() < MIN_WEIGHT[judge] { 0.0 } else { weights[judge].round() }
        });
        if indirect != 0.0 || plain != 0.0 {
            let section = sections.entry((class_letter(&classes, &totals), letter)).or_default();
            writeln!(section, "{indirect} {plain} {tokens}").unwrap();
        }
    }
    let bias = |judge: usize| (judges[judge].bias / UNIT).round();
    let mut file = FILE_HEAD.to_owned();
    writeln!(file, "{} {}", bias(INDIRECT), bias(PLAIN)).unwrap();
    for ((class, kind), section) in sections {
        write!(file, "= {class} {kind}\n{section}").unwrap();
    }
    file
}

const FILE_HEAD: &str = "\
# Made by `fit.rs`. First the biases of the indirect and the plain judge. `=` begins the features
# of a class and a kind: the weight of the indirect judge, that of the plain one, the tokens.
";

/// `UPDATE_DOCS=1` writes the file.
#[test]
fn the_committed_weights_are_those_of_the_committed_texts() {
    let texts = normalized_texts();
    let fitted = fit(&examples(&texts), "");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/tool_poisoning/data/weights.txt");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &fitted).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap();
    assert!(committed == fitted, "run with UPDATE_DOCS=1");
    let features = fitted.lines().filter(|line| !line.starts_with(['#', '='])).count() - 1;
    assert_eq!(Weights::parse(&fitted).len(), features, "a line was not read");
}

/// Fits without the texts of one outsider and measures on these: what an attack by somebody unknown
/// meets. By language and by class.
pub(super) fn measure_on_authors_who_are_left_out() -> String {
    let texts = normalized_texts();
    let all = examples(&texts);
    let mut table = String::new();
    for author in ["outsider-a", "outsider-c", "outsider-d", "outsider-e"] {
        let weights = Weights::parse(&fit(&all, author));
        let mut counts: BTreeMap<(bool, String), (usize, usize)> = BTreeMap::new();
        for one in all.iter().filter(|one| one.collection.starts_with(author)) {
            let reported = !find_host_markup(one.text).is_empty()
                || !weights.find(&one.tokens, &mut SeenFeatures::default()).is_empty();
            let class = one.class.map(|class| format!("{class:?}").to_lowercase());
            let keys = [Some(String::new()), Some(one.language.clone()), class];
            for key in keys.into_iter().flatten() {
                let count = counts.entry((!one.is_attack, key)).or_default();
                *count = (count.0 + usize::from(reported), count.1 + 1);
            }
        }
        for ((is_harmless, key), (reported, all)) in counts {
            let kind = if is_harmless { "harmless" } else { "attacks" };
            let end = match key.as_str() {
                "" => writeln!(table, "{author}-{kind}, left out: {reported} of {all} reported"),
                _ => writeln!(table, "  {key} {reported}/{all}"),
            };
            end.expect("a string takes everything");
        }
    }
    table
}
