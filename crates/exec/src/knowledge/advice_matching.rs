//! Finds the anti-patterns and the quirks that are about the mistakes of a refused call.
//!
//! ```text
//! each error ─▶ words ─┐
//!                      ├─ score ─▶ its best anti-pattern, its best quirk
//! each advice ▶ words ─┘
//! ```
//!
//! Words are compared; nothing is understood. A candidate fits an error if it mentions a field that
//! the error mentions, does not name other commands alone, and its example, if it has one, does not
//! show a call of another command. Among several that fit, a score decides, in which a shared field
//! counts most. Without a field in common nothing fits: wrong advice is worse than none.
//!
//! Only the beginning of a long text and the first candidates of a long list are compared, so that
//! the work for a refused call is bounded. What goes into the answer is cut, too, with a note.
//!
//! Deliberately absent: synonyms, stemming beyond a plural `s`, and languages other than English.
//! Authors write the advice of a definition and the messages of its validators in one style.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use toolwright_model::{CommandNames, Knowledge, commands_named_in};

use crate::capped_texts::{MAX_CHARS, shorten};
use crate::{Json, KnowledgeAdvice};

/// Words that occur in errors and candidates about any field, so that sharing them means nothing.
static STOP_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let words = "
    a all an and api are array as at be but by call correct each error expected field for
    format from get got has have if in invalid is it list missing must need no not null number
    object of on only or pattern required string the to type undefined use using valid value
    when with without wrong";
    words.split_whitespace().collect()
});

/// Candidates of each kind that are considered: their words are compared for every refused call.
const MAX_CANDIDATES: usize = 1_000;
/// Errors for which advice is searched.
const MAX_ERRORS: usize = 20;
/// Pieces of advice in an answer.
const MAX_ADVICE: usize = 6;
/// Bytes of each text of a candidate that are considered.
const MAX_CONSIDERED: usize = 2_000;
/// Characters of the texts that go into the answer.
const MAX_NAME: usize = 200;
const MAX_REMEDY: usize = 4_000;

/// Whether a word, in lower case, says nothing about the subject of a text.
fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

/// The words of a text in the form in which they are compared: lower case, camelCase and snake_case
/// split, a plural `s` dropped, stop words left out.
fn words(text: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut word = String::new();
    let mut is_after_lower = false;
    // The space at the end completes the last word.
    for c in text.chars().chain([' ']) {
        if !c.is_alphanumeric() || (c.is_uppercase() && is_after_lower) {
            let whole = std::mem::take(&mut word).to_lowercase();
            // A plural `s`, but not that of `class` or `bus`.
            let singular =
                whole.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with('s'));
            let singular = singular.unwrap_or(&whole).to_owned();
            // Single letters and digits are list items or variables of an example.
            let is_word = singular.len() > 1 && !is_stop_word(&singular) && !is_stop_word(&whole);
            if is_word {
                all.insert(singular);
            }
        }
        is_after_lower = c.is_lowercase();
        if c.is_alphanumeric() {
            word.push(c);
        }
    }
    all
}

/// One error of a refused call, in words.
struct ErrorWords {
    words: BTreeSet<String>,
    /// The words that may name the wrong argument.
    fields: BTreeSet<String>,
    /// Whether `fields` are names of arguments of the call. Else the argument is probably missing,
    /// and every word of the error may be its name.
    has_argument: bool,
}

impl ErrorWords {
    fn of(error: &str, names_of_arguments: &BTreeSet<String>) -> ErrorWords {
        let words = words(error);
        let mut fields: BTreeSet<String> =
            words.intersection(names_of_arguments).cloned().collect();
        let has_argument = !fields.is_empty();
        if !has_argument {
            fields.clone_from(&words);
        }
        ErrorWords { words, fields, has_argument }
    }
}

/// An anti-pattern or a quirk in words, of those that may be about the command.
struct CandidateWords<'a> {
    candidate: AdviceCandidate<'a>,
    title: BTreeSet<String>,
    /// Those of the title, too.
    about: BTreeSet<String>,
    example: BTreeSet<String>,
    has_example: bool,
    /// Whether the example calls the command.
    calls: bool,
}

impl<'a> CandidateWords<'a> {
    /// `None` if it is about other commands.
    fn of(
        candidate: AdviceCandidate<'a>,
        (command, commands): (&str, &CommandNames),
    ) -> Option<CandidateWords<'a>> {
        let considered = |text: &'a Option<String>| {
            let text = text.as_deref().unwrap_or_default();
            &text[..text.floor_char_boundary(MAX_CONSIDERED)]
        };
        let (name, description) = (considered(candidate.name), considered(candidate.description));
        let example = considered(candidate.example);
        let named = || commands_named_in([name, description].into_iter(), commands);
        if named().next().is_some() && !named().any(|name| name == command) {
            return None;
        }
        // An example that only calls other commands belongs to another candidate.
        let calls = calls_of(example).any(|name| name == command);
        if !calls && calls_of(example).next().is_some() {
            return None;
        }
        let title = words(name);
        let about = title.union(&words(description)).cloned().collect();
        let has_example = !example.is_empty();
        Some(CandidateWords {
            candidate,
            title,
            about,
            example: words(example),
            has_example,
            calls,
        })
    }

    /// How well it fits an error, `None` if it does not.
    fn score(&self, error: &ErrorWords) -> Option<usize> {
        let shared = error.fields.intersection(&self.about).count();
        let in_example = error.fields.intersection(&self.example).count();
        // Where any word of the error may be the argument, a shared word alone is weak: the
        // example must mention it, too, or call the command.
        let is_about_it = if error.has_argument {
            shared > 0 || (self.calls && in_example > 0)
        } else {
            shared > 0 && (in_example > 0 || self.calls || !self.has_example)
        };
        if !is_about_it {
            return None;
        }
        let common = error.words.intersection(&self.about).count();
        let in_title = error.words.intersection(&self.title).count();
        // The weights are judgement: the field decides, a call of the command counts as much as a
        // field, the title counts more than the description.
        Some(4 * shared + 2 * in_title + common + in_example + if self.calls { 4 } else { 0 })
    }

    fn to_advice(&self) -> KnowledgeAdvice {
        let candidate = &self.candidate;
        let shown = |text: &Option<String>, chars: usize| {
            shorten(text.as_deref().unwrap_or_default().trim_end(), chars).into_owned()
        };
        KnowledgeAdvice {
            kind: candidate.kind,
            name: shown(candidate.name, MAX_NAME),
            description: shown(candidate.description, MAX_CHARS),
            remedy: shown(candidate.remedy, MAX_REMEDY),
            wrong: candidate.example.is_some().then(|| shown(candidate.example, MAX_REMEDY)),
            rationale: candidate.rationale.map(|text| shorten(text.trim_end(), MAX_CHARS).into()),
            impact: candidate.impact.map(|text| shorten(text.trim_end(), MAX_CHARS).into()),
        }
    }
}

/// The names of functions that an example calls: `update_task` of `client.update_task({`.
fn calls_of(example: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name =
        move |(at, _)| example[..at].rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
    // `new Date(` makes a value, and `catch (` has a space before the bracket: neither calls a
    // command.
    let is_call = |name: &&str| !name.is_empty() && !name.starts_with(|c: char| c.is_uppercase());
    example.match_indices('(').map(name).filter(is_call)
}

/// For each error, the anti-pattern and the quirk that fit it best, each of them once. Candidates
/// without a remedy are left out.
pub(super) fn find_advice(
    knowledge: &Knowledge,
    command: (&str, &CommandNames),
    arguments: &Json,
    errors: &[String],
) -> Vec<KnowledgeAdvice> {
    let patterns = knowledge.anti_patterns.iter().map(|pattern| AdviceCandidate {
        kind: "antiPattern",
        name: &pattern.name,
        description: &pattern.description,
        example: &pattern.wrong,
        remedy: &pattern.correct,
        rationale: pattern.rationale.as_deref(),
        impact: pattern.rest.get("impact").and_then(Json::as_str),
    });
    let quirks = knowledge.quirks.iter().map(|quirk| AdviceCandidate {
        kind: "quirk",
        name: &quirk.name,
        description: &quirk.description,
        example: &None,
        remedy: &quirk.mitigation,
        rationale: None,
        impact: quirk.impact.as_deref(),
    });
    let (patterns, quirks) = (candidates(patterns, command), candidates(quirks, command));
    let names = arguments.as_object().into_iter().flatten().flat_map(|(name, _)| words(name));
    let names: BTreeSet<String> = names.collect();
    let mut given = HashSet::new();
    let mut advice = Vec::new();
    for error in errors.iter().take(MAX_ERRORS) {
        let error = ErrorWords::of(error, &names);
        for (kind, list) in [&patterns, &quirks].into_iter().enumerate() {
            let Some(n) = best(list, &error) else { continue };
            if given.insert((kind, n)) && advice.len() < MAX_ADVICE {
                advice.push(list[n].to_advice());
            }
        }
    }
    advice
}

/// The candidates that may be about a command.
fn candidates<'a>(
    all: impl Iterator<Item = AdviceCandidate<'a>>,
    command: (&str, &CommandNames),
) -> Vec<CandidateWords<'a>> {
    let helpful = all.take(MAX_CANDIDATES).filter(|candidate| candidate.remedy.is_some());
    helpful.filter_map(|candidate| CandidateWords::of(candidate, command)).collect()
}

/// The number of the candidate with the highest score; of several, the first.
fn best(candidates: &[CandidateWords<'_>], error: &ErrorWords) -> Option<usize> {
    let scored = candidates.iter().enumerate().filter_map(|(n, it)| Some((it.score(error)?, n)));
    let best = scored.reduce(|best, next| if best.0 >= next.0 { best } else { next });
    best.map(|(_, n)| n)
}

/// An anti-pattern or a quirk, as the definition has it.
struct AdviceCandidate<'a> {
    kind: &'static str,
    name: &'a Option<String>,
    description: &'a Option<String>,
    /// The wrong way.
    example: &'a Option<String>,
    /// The right way.
    remedy: &'a Option<String>,
    rationale: Option<&'a str>,
    impact: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_model::{AntiPattern, Quirk};

    use super::*;

    #[test]
    fn names_and_plurals_are_split_into_words() {
        let of = |text: &str| words(text).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(of("listId must be a numeric string"), "id numeric");
        assert_eq!(of("wrong_assignee_format"), "assignee");
        assert_eq!(of("assignees: {add: [456]}"), "456 add assignee");
        assert_eq!(of("the class has no address"), "address class");
    }

    fn knowledge() -> Knowledge {
        let pattern = |name: &str, description: &str, wrong: &str| AntiPattern {
            name: Some(name.into()),
            description: Some(description.into()),
            wrong: Some(wrong.into()),
            correct: Some(format!("the right way of {name}\n")),
            ..AntiPattern::default()
        };
        let quirk = |name: &str, description: &str| Quirk {
            name: Some(name.into()),
            description: Some(description.into()),
            mitigation: Some(format!("against {name}")),
            ..Quirk::default()
        };
        Knowledge {
            anti_patterns: vec![
                pattern(
                    "owner_as_text",
                    "Naming the owner instead of giving its id",
                    "create_card({ owner: 'Ann' })",
                ),
                pattern("owner_as_list", "Giving several owners", "move_card({ owner: [1] })"),
                pattern(
                    "board_by_title",
                    "Using a board's title",
                    "create_card({ board: 'Home' })",
                ),
                pattern("no_retry", "Not trying again", "catch (e) {}"),
            ],
            quirks: vec![
                quirk("rate", "100 calls a minute"),
                quirk("owner_ids", "owners are numbers here"),
                quirk("archive_owner", "archive_card ignores the owner, owner, owner"),
            ],
            ..Knowledge::default()
        }
    }

    #[test]
    fn the_lesson_about_the_same_field_and_command_is_found() {
        let advice = |command: &str, arguments: Json, error: &str| {
            let commands = ["create_card", "move_card", "delete_card", "archive_card"];
            let commands = commands.map(str::to_owned).into();
            let errors = [error.to_owned()];
            let found = find_advice(&knowledge(), (command, &commands), &arguments, &errors);
            found.into_iter().map(|advice| advice.remedy).collect::<Vec<_>>().join(" + ")
        };
        let owner = json!({"owner": "Ann", "board": 1});
        assert_eq!(
            advice("create_card", owner.clone(), "owner must be a number"),
            "the right way of owner_as_text + against owner_ids"
        );
        assert_eq!(
            advice("move_card", owner.clone(), "owner must be a number"),
            "the right way of owner_as_list + against owner_ids"
        );
        assert_eq!(
            advice("delete_card", owner.clone(), "owner must be a number"),
            "against owner_ids"
        );
        assert_eq!(
            advice("create_card", owner.clone(), "board is unknown"),
            "the right way of board_by_title"
        );
        // The name of a missing field is only in the error.
        assert_eq!(
            advice("create_card", json!({}), "board is required"),
            "the right way of board_by_title"
        );
        assert_eq!(advice("create_card", owner, "the colour is not one of ours"), "");
    }

    #[test]
    fn every_error_has_its_own_advice() {
        let commands: CommandNames = ["create_card"].map(str::to_owned).into();
        let found = |errors: &[&str]| {
            let errors: Vec<String> = errors.iter().map(|it| (*it).to_owned()).collect();
            let arguments = json!({"owner": "Ann"});
            find_advice(&knowledge(), ("create_card", &commands), &arguments, &errors)
                .into_iter()
                .map(|advice| advice.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            found(&["owner must be a number", "board is required", "owner is unknown"]),
            ["owner_as_text", "owner_ids", "board_by_title"]
        );
    }
}
