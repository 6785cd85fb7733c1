//! MODEL_INSTRUCTION: finds text that attacks the model that reads it, or the person who uses the
//! model.
//!
//! ```text
//! text ─ normalize ─▶ NormalizedText ─ features ─▶ tokens ─ scorer ─▶ hits ◀─ host_markup
//!   │                                                                  │
//!   └─ encoded_text, spelled_out ─▶ each decoded sentence, from the start ──▶ findings
//! ```
//!
//! A description is written for the model: it may say how and when to call this tool. What it has
//! no use for is judged by weights that were fitted to texts of both kinds (`scorer`), except for
//! markup, which is recognised by its form (`host_markup`).
//!
//! Known not to be found: attacks spread over several texts of a definition, languages without
//! texts to fit to, instructions that arrive in the results of a call. `tests.rs` measures the
//! share that is found, by class.
//!
//! Each text is judged alone. To find more, add texts of both kinds to `tests/tool_poisoning` and
//! fit the weights again; rules for single sentences would only find what is known already.

use std::collections::HashSet;
use std::ops::Range;

use super::encoded_text::{DecodedText, decode_rot13, decode_runs};
use super::features::{Token, is_unspaced_letter, tokens};
use super::host_markup::find_host_markup;
use super::normalize::NormalizedText;
use super::scorer::WEIGHTS;
use super::spelled_out::JoinedText;
use super::{MAX_FOUND, SuspiciousText, has_long_run, quote};

/// Finds text addressed to the model in a single text.
pub(super) fn find_instructions(text: &str) -> Vec<SuspiciousText> {
    InstructionDetector::default().find(text)
}

/// Words of addresses that are too few to be an order. Compared with the words of all addresses of
/// a text together.
const MIN_ADDRESS_WORDS: usize = 6;

/// What an attack wants.
///
/// The order is that of the weights in `weights.bin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum AttackClass {
    /// Imitates a message of the host.
    Markup,
    /// Sets other instructions aside.
    Override,
    /// Keeps something from the user.
    Conceal,
    /// Takes or sends something confidential.
    Exfiltrate,
    /// Is about what needs an approval.
    Approval,
    /// Gives orders about tools of other servers.
    OtherTools,
    /// Gives orders for the whole conversation.
    Conversation,
}

impl AttackClass {
    pub(super) const ALL: [Self; 7] = [
        Self::Markup,
        Self::Override,
        Self::Conceal,
        Self::Exfiltrate,
        Self::Approval,
        Self::OtherTools,
        Self::Conversation,
    ];
}

/// Finds attacks on the model. One detector for many texts uses its memory again. Its methods take
/// `&mut self` for the buffer only; no text influences the next.
#[derive(Default)]
pub(crate) struct InstructionDetector {
    normalized: String,
    /// Names of tools, in lower case, that are not another server's.
    own_tools: HashSet<String>,
}

/// A part of a text that is reported. In the normalised text; `describe` translates it to the
/// source.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) class: AttackClass,
    /// Bytes of the normalised text.
    pub(super) range: Range<usize>,
}

impl InstructionDetector {
    /// A detector for the definitions of a server that has tools of these names. A description may
    /// say how these tools are used together; it may not give orders about tools of other servers.
    pub(crate) fn for_tools<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        Self { own_tools: names.map(str::to_lowercase).collect(), ..Self::default() }
    }

    /// The attacks in `text`, in the order of the text; decoded sentences last.
    ///
    /// What is written with letters apart is reported as that, and not a second time as what it
    /// says.
    pub(crate) fn find(&mut self, text: &str) -> Vec<SuspiciousText> {
        let normalized = NormalizedText::reusing(text, std::mem::take(&mut self.normalized));
        let hits = self.hits(&normalized);
        let mut found: Vec<SuspiciousText> =
            hits.iter().map(|hit| describe(text, &normalized, hit)).collect();
        let has_single_letters = normalized.has_single_letters;
        self.normalized = normalized.text;
        let mut hidden = match has_single_letters {
            true => self.find_spelled_out(text),
            false => Vec::new(),
        };
        // What is read in disguise is reported as that.
        found.retain(|open| {
            let is_open = |hidden: &SuspiciousText| {
                open.range.end <= hidden.range.start || hidden.range.end <= open.range.start
            };
            hidden.iter().all(is_open)
        });
        if has_long_run(text) {
            hidden.extend(self.find_encoded(decode_runs(text)));
        }
        hidden.extend(self.find_encoded(decode_rot13(text)));
        found.extend(hidden);
        found
    }

    /// The hits that are reported, without overlaps, in the order of the text.
    ///
    /// At most `MAX_FOUND`. Hits that overlap become one, of the class of the first.
    pub(super) fn hits(&mut self, normalized: &NormalizedText<'_>) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        let tokens = tokens(&normalized.text, &self.own_tools);
        if normalized.may_have_markup {
            let markup = find_host_markup(&normalized.text).into_iter();
            hits.extend(markup.map(|range| Hit { class: AttackClass::Markup, range }));
        }
        // What is quoted as an example is one token. Both are in the order of the text, each hit
        // looks for the last token that begins before it.
        hits.retain(|hit| {
            let next = tokens.partition_point(|token| token.range.start <= hit.range.start);
            let token = next.checked_sub(1).map(|last| &tokens[last]);
            !token.is_some_and(|token| token.is_quotation() && hit.range.end <= token.range.end)
        });
        if is_prose(&normalized.text) {
            let reported = WEIGHTS.find(&tokens).into_iter();
            hits.extend(reported.map(|found| Hit { class: found.class, range: found.range }));
            hits.extend(self.hit_in_addresses(&normalized.text, &tokens));
        }
        hits.sort_by_key(|hit| hit.range.start);
        hits.dedup_by(|next, last| {
            let overlaps = next.range.start < last.range.end;
            if overlaps {
                last.range.end = last.range.end.max(next.range.end);
            }
            overlaps
        });
        hits.truncate(MAX_FOUND);
        hits
    }

    /// An attack that is written as addresses: `/do/not/tell/the/user`. Their words, all together,
    /// are judged as a text; few words are the name of a place. At most one hit, which reaches from
    /// the first address to the last.
    fn hit_in_addresses(&self, text: &str, among: &[Token<'_>]) -> Option<Hit> {
        let mut addresses = among.iter().filter(|token| token.is_address()).peekable();
        let first = addresses.peek()?.range.start;
        let (mut words, mut end) = (String::new(), first);
        for address in addresses {
            let parts = text[address.range.clone()].split(|c: char| !c.is_alphanumeric());
            parts.filter(|part| !part.is_empty()).for_each(|part| {
                words.push_str(part);
                words.push(' ');
            });
            end = address.range.end;
        }
        if words.split(' ').count() <= MIN_ADDRESS_WORDS {
            return None;
        }
        let found = WEIGHTS.find(&tokens(&words, &self.own_tools)).into_iter().next()?;
        Some(Hit { class: found.class, range: first..end })
    }

    /// Attacks that are encoded. What is decoded may hold encoded text again. This ends: Base64 and
    /// its like become shorter, and what was in ROT13 has frequent words then, which are not. The
    /// range is that of the encoded text, since the decoded one is not in the document.
    fn find_encoded(&mut self, decoded: Vec<DecodedText>) -> Vec<SuspiciousText> {
        let mut found = Vec::new();
        for DecodedText { start, len, encoding, text } in decoded {
            if !self.find(&text).is_empty() {
                found.push(describe_hidden(start..start + len, encoding, "hides", &text));
            }
        }
        found
    }

    /// Attacks whose letters are written apart. A hit counts only if enough of its letters were
    /// written apart.
    fn find_spelled_out(&mut self, text: &str) -> Vec<SuspiciousText> {
        let Some(joined) = JoinedText::new(text) else { return Vec::new() };
        let normalized =
            NormalizedText::reusing(&joined.text, std::mem::take(&mut self.normalized));
        let mut found = Vec::new();
        for hit in self.hits(&normalized) {
            let range = normalized.in_source(&hit.range);
            if let Some(source) = joined.hidden_range(&range) {
                let words = &joined.text[range];
                found.push(describe_hidden(source, "letters written apart", "hide", words));
            }
        }
        self.normalized = normalized.text;
        found
    }
}

/// Message and help for an attack in disguise. `disguise` is the subject of the sentence and
/// `hides` its verb.
fn describe_hidden(range: Range<usize>, disguise: &str, hides: &str, text: &str) -> SuspiciousText {
    SuspiciousText {
        range,
        message: format!("{disguise} {hides} {}, which attacks the model", quote(text)),
        help: Some("describe what the tool does in plain text".to_owned()),
    }
}

/// Whether a text has sentences: three words, or six characters of a script without spaces.
/// Addresses, commands and names are judged by their form only. Fewer words cannot be judged by
/// weights: one frequent word would decide.
fn is_prose(text: &str) -> bool {
    let is_word = |word: &&str| {
        word.contains(char::is_alphabetic) && !word.contains("://") && !word.contains('@')
    };
    text.split_whitespace().filter(is_word).nth(2).is_some()
        || text.chars().filter(|c| is_unspaced_letter(*c)).nth(5).is_some()
}

/// Message and help for a hit.
fn describe(text: &str, normalized: &NormalizedText<'_>, hit: &Hit) -> SuspiciousText {
    let range = normalized.in_source(&hit.range);
    let phrase = quote(&text[range.clone()]);
    let (what, help) = match hit.class {
        AttackClass::Markup => (
            "is markup that passes for a message of the host to the model",
            "write the description as plain text or Markdown",
        ),
        AttackClass::Override => (
            "tells the model to set other instructions aside",
            "describe what the tool does; a definition has no say over other instructions",
        ),
        AttackClass::Conceal => (
            "tells the model to keep something from the user",
            "describe what the tool does; nothing that it does is a secret from its user",
        ),
        AttackClass::Exfiltrate => (
            "tells the model to take or send something confidential",
            "ask for a parameter by what the tool needs it for, not by where its value can be \
             taken from",
        ),
        AttackClass::Approval => (
            "tells the model how to deal with approvals",
            "leave it to the client and its user what needs an approval",
        ),
        AttackClass::OtherTools => (
            "gives the model orders about other tools",
            "describe this tool only, and the tools of the same server",
        ),
        AttackClass::Conversation => (
            "gives the model orders for the whole conversation",
            "say what the tool is for, and name the tools it must come before",
        ),
    };
    SuspiciousText { range, message: format!("{phrase} {what}"), help: Some(help.to_owned()) }
}
