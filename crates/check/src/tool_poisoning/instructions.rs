//! MODEL_INSTRUCTION: finds text that attacks the model that reads it, or the person who uses the
//! model.
//!
//! ```text
//! text ─ normalize ─▶ NormalizedText ─ concept_scan ─▶ concepts ─ rules ─▶ hits ◀─ host_markup
//!   │                                                                       │ decide
//!   └─ encoded_text ─▶ each decoded sentence, from the start ──▶ findings ◀─┘
//! ```
//!
//! A description is written for the model: it may say how and when to call this tool. What is
//! reported is a combination of concepts that a description has no use for, as "do not" + "tell" +
//! "the user". `data/<language>.txt` lists the phrases of each concept, `data/rules.txt` the
//! combinations. There are no weights: a rule is strong, and its match is reported, or weak, and
//! reported beside another weak one of a different class.
//!
//! Known not to be found: paraphrases without a phrase of the lexicon, attacks spread over several
//! texts of a definition, languages without a file, instructions that arrive in the results of a
//! call. `tests.rs` measures the share that is found, by class.

use std::ops::Range;

use super::concept_scan::{ConceptMatch, ConceptScan, WORD};
use super::concept_set::ConceptSet;
use super::encoded_text::decode_runs;
use super::host_markup::find_host_markup;
use super::lexicon::AttackClass::{self, *};
use super::lexicon::{LANGUAGES, LEXICON, Rule};
use super::normalize::NormalizedText;
use super::{MAX_FOUND, SuspiciousText, has_long_run, near, quote};

/// Bytes between two weak hits that are reported together: about forty words.
const WEAK_REACH: usize = 240;

/// Finds text addressed to the model in a single text.
pub(super) fn find_instructions(text: &str) -> Vec<SuspiciousText> {
    InstructionDetector::default().find(text)
}

/// Finds attacks on the model. One detector for many texts uses its memory again.
#[derive(Default)]
pub(crate) struct InstructionDetector {
    normalized: String,
    scan: ConceptScan,
}

/// What matched.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) class: AttackClass,
    pub(super) weak: bool,
    /// Bytes of the normalised text.
    pub(super) range: Range<usize>,
    /// The line of the rule, for the measurement.
    #[cfg(test)]
    pub(super) rule: &'static str,
}

impl InstructionDetector {
    /// A detector for the definitions of a server that has tools of these names. A description may
    /// say how these tools are used together; it may not give orders about tools of other servers.
    pub(crate) fn for_tools<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let own_tools = names.map(str::to_lowercase).collect();
        Self { scan: ConceptScan { own_tools, ..ConceptScan::default() }, ..Self::default() }
    }

    /// The attacks in `text`, in the order of the text; decoded sentences last.
    pub(crate) fn find(&mut self, text: &str) -> Vec<SuspiciousText> {
        let normalized = NormalizedText::reusing(text, std::mem::take(&mut self.normalized));
        let hits = self.hits(&normalized);
        let found = hits.iter().map(|hit| describe(text, &normalized, hit)).collect();
        self.normalized = normalized.text;
        if has_long_run(text) {
            return [found, self.find_encoded(text)].concat();
        }
        found
    }

    /// The hits that are reported, without overlaps, in the order of the text.
    pub(super) fn hits(&mut self, normalized: &NormalizedText<'_>) -> Vec<Hit> {
        decide(self.all_hits(normalized).collect())
    }

    /// The hits of all rules, strong and weak, and the markup.
    pub(super) fn all_hits(
        &mut self,
        normalized: &NormalizedText<'_>,
    ) -> impl Iterator<Item = Hit> {
        self.scan.read(normalized);
        let mut hits = Vec::new();
        if normalized.may_have_markup {
            hits.extend(find_host_markup(&normalized.text));
        }
        for language in 0..LANGUAGES {
            for rule in LEXICON.rules_for(self.scan.concepts[language]) {
                match_rule(&self.scan, rule, language, &mut hits);
            }
        }
        hits.into_iter().filter(|hit| !is_quoted_example(&normalized.text, &hit.range))
    }

    /// Attacks that are encoded. What is decoded may hold encoded text again; each level is shorter
    /// than the one before, so this ends.
    fn find_encoded(&mut self, text: &str) -> Vec<SuspiciousText> {
        let mut found = Vec::new();
        for decoded in decode_runs(text) {
            if self.find(&decoded.text).is_empty() {
                continue;
            }
            found.push(SuspiciousText {
                range: decoded.start..decoded.start + decoded.len,
                message: format!(
                    "{} hides {}, which attacks the model",
                    decoded.encoding,
                    quote(&decoded.text)
                ),
                help: Some("describe what the tool does in plain text".to_owned()),
            });
        }
        found
    }
}

/// Adds a hit for each place where all terms of a rule are close enough, all in one language. One
/// pass over the matches: for each term only its latest match can be part of the shortest stretch
/// that ends here.
fn match_rule(scan: &ConceptScan, rule: &Rule, language: usize, hits: &mut Vec<Hit>) {
    let needed: ConceptSet = rule.terms.iter().copied().collect();
    let mut latest: Vec<Option<ConceptMatch>> = vec![None; rule.terms.len()];
    let mut number = 0;
    for found in &scan.matches {
        if !found.concepts.intersects(needed) || found.languages & 1 << language == 0 {
            continue;
        }
        for (term, latest) in rule.terms.iter().zip(&mut latest) {
            if found.concepts.intersects(*term) {
                *latest = Some(*found);
            }
        }
        let matched = || latest.iter().flatten();
        let Some(first) = matched().min_by_key(|one| one.first_word) else { continue };
        let cancelled = || {
            let sentences = &scan.sentences[first.sentence..=found.sentence.max(first.sentence)];
            sentences.iter().any(|concepts| concepts[language].intersects(rule.unless))
        };
        if matched().count() < latest.len()
            || found.first_word.saturating_sub(first.last_word) > rule.words * WORD
            || cancelled()
        {
            continue;
        }
        let start = matched().map(|one| one.start).min().unwrap_or_default();
        let end = matched().map(|one| one.end).max().unwrap_or_default();
        // `run_unsafe_code` is the name of a tool and says nothing about one.
        let is_name = |one: &ConceptMatch| one.concepts == LEXICON.tool_name;
        if matched().any(|one| is_name(one) && (one.start, one.end) == (start, end)) {
            continue;
        }
        hits.push(Hit {
            class: rule.class,
            weak: rule.weak,
            range: start..end,
            #[cfg(test)]
            rule: rule.line,
        });
        number += 1;
        if number == MAX_FOUND {
            return;
        }
        latest.fill(None);
    }
}

/// Which hits are reported: the strong ones, and weak ones that have one of another class nearby.
/// Overlapping hits become one.
fn decide(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| hit.range.start);
    let confirmed = confirmed_weak(&hits);
    let mut keep = confirmed.into_iter();
    hits.retain(|_| keep.next().expect("one for each hit"));
    let mut merged: Vec<Hit> = Vec::new();
    for hit in hits {
        match merged.last_mut() {
            Some(last) if hit.range.start < last.range.end => {
                last.range.end = last.range.end.max(hit.range.end);
                last.class = last.class.min(hit.class);
            }
            _ => merged.push(hit),
        }
    }
    merged.truncate(MAX_FOUND);
    merged
}

/// For each hit whether it is reported. A weak one is, if the weak ones around it are of two
/// classes and no strong one is reported in their place.
fn confirmed_weak(hits: &[Hit]) -> Vec<bool> {
    let mut keep: Vec<bool> = hits.iter().map(|hit| !hit.weak).collect();
    if keep.contains(&true) {
        return keep;
    }
    // The nearest earlier hit of another class is the last one, or the last before a run of one
    // class.
    let mut other: Option<usize> = None;
    for at in 1..hits.len() {
        if hits[at - 1].class != hits[at].class {
            other = Some(at - 1);
        }
        if let Some(other) = other
            && hits[at].range.start - hits[other].range.start <= WEAK_REACH
        {
            keep[at] = true;
            keep[other] = true;
        }
    }
    keep
}

/// Whether the words are an example of what a filter looks for: `such as "ignore all rules"`. The
/// whole hit is inside quotation marks, and the sentence in front of them says that an example
/// follows.
fn is_quoted_example(text: &str, hit: &Range<usize>) -> bool {
    const MARKS: &[char] = &['"', '\'', '`', '“', '”', '«', '»', '„', '「', '」', '‘', '’', '『'];
    const CUES: &[&str] = &[
        "such as",
        "e.g",
        "like",
        "for example",
        "for instance",
        "example",
        "detect",
        "phrase",
        "contain",
        "flag",
        "match",
        "injection",
        "z. b",
        "wie",
        "par exemple",
        "tel que",
        "comme",
        "por ejemplo",
        "como",
        "per esempio",
        "come",
        "por exemplo",
        "например",
        "例如",
        "如",
        "例えば",
        "など",
        "예:",
        "같은",
        "np.",
        "takich jak",
        "örneğin",
        "ornegin",
        "gibi",
        "bijvoorbeeld",
        "zoals",
    ];
    let from = text.floor_char_boundary(hit.start.saturating_sub(160));
    let before = &text[from..hit.start];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let Some(open) = before[line..].rfind(MARKS).map(|at| line + at) else { return false };
    let closed = near(text, hit.end, 160).split('\n').next().unwrap_or_default();
    closed.contains(MARKS) && CUES.iter().any(|cue| before[line..open].contains(cue))
}

/// Message and help for a hit.
fn describe(text: &str, normalized: &NormalizedText<'_>, hit: &Hit) -> SuspiciousText {
    let range = normalized.in_source(&hit.range);
    let phrase = quote(&text[range.clone()]);
    let (what, help) = match hit.class {
        Markup => (
            "is markup that passes for a message of the host to the model",
            "write the description as plain text or Markdown",
        ),
        Override => (
            "tells the model to set other instructions aside",
            "describe what the tool does; a definition has no say over other instructions",
        ),
        Conceal => (
            "tells the model to keep something from the user",
            "describe what the tool does; nothing that it does is a secret from its user",
        ),
        Exfiltrate => (
            "tells the model to take or send something confidential",
            "ask for a parameter by what the tool needs it for, not by where its value can be \
             taken from",
        ),
        Approval => (
            "tells the model how to deal with approvals",
            "leave it to the client and its user what needs an approval",
        ),
        OtherTools => (
            "gives the model orders about other tools",
            "describe this tool only, and the tools of the same server",
        ),
        Conversation => (
            "gives the model orders for the whole conversation",
            "say what the tool is for, and name the tools it must come before",
        ),
        Redirect => (
            "tells the model to send something elsewhere",
            "describe this tool only; where other calls go is not its business",
        ),
        Authority => (
            "claims authority over the model",
            "describe what the tool does and let the user decide how it is used",
        ),
    };
    SuspiciousText { range, message: format!("{phrase} {what}"), help: Some(help.to_owned()) }
}
