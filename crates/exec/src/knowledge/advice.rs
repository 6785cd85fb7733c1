//! The lesson that fits a mistake: of all anti-patterns and quirks, the one that speaks of the same
//! fields as the errors do. Words are compared, nothing is understood; without a field in common
//! nothing fits.

use std::collections::BTreeSet;

use toolwright_model::Knowledge;

use crate::{Json, KnowledgeAdvice};

/// Words that say nothing about what a text is about.
const EMPTY: &[&str] = &[
    "a",
    "all",
    "an",
    "and",
    "api",
    "are",
    "array",
    "as",
    "at",
    "be",
    "but",
    "by",
    "call",
    "correct",
    "each",
    "error",
    "expected",
    "field",
    "for",
    "format",
    "from",
    "get",
    "got",
    "has",
    "have",
    "if",
    "in",
    "invalid",
    "is",
    "it",
    "list",
    "missing",
    "must",
    "need",
    "no",
    "not",
    "null",
    "number",
    "object",
    "of",
    "on",
    "only",
    "or",
    "pattern",
    "required",
    "string",
    "the",
    "to",
    "type",
    "undefined",
    "use",
    "using",
    "valid",
    "value",
    "when",
    "with",
    "without",
    "wrong",
];

/// The words of a text, as they are compared: names are taken apart, plurals are singular.
fn words(text: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut word = String::new();
    let mut lower = false;
    for c in text.chars().chain([' ']) {
        if !c.is_alphanumeric() || (c.is_uppercase() && lower) {
            let whole = std::mem::take(&mut word).to_lowercase();
            let one = whole.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with('s'));
            let one = one.unwrap_or(&whole).to_owned();
            if one.len() > 1 && !EMPTY.contains(&one.as_str()) && !EMPTY.contains(&whole.as_str()) {
                all.insert(one);
            }
        }
        lower = c.is_lowercase();
        if c.is_alphanumeric() {
            word.push(c);
        }
    }
    all
}

/// What a mistake is about.
struct Mistake<'a> {
    command: &'a str,
    words: BTreeSet<String>,
    /// Names of arguments that the errors speak of.
    fields: BTreeSet<String>,
    /// Whether they are arguments of the call; else any word of the errors may be one.
    named: bool,
}

impl Mistake<'_> {
    /// How well a lesson fits; nothing if it does not. `example` is how it is done wrong, where
    /// that is shown.
    fn fit(&self, name: &str, description: &str, example: &str) -> Option<usize> {
        let title = words(name);
        let about: BTreeSet<String> = title.union(&words(description)).cloned().collect();
        let shared = self.fields.intersection(&about).count();
        let shown = self.fields.intersection(&words(example)).count();
        // A lesson that shows how another command is called is not about this one.
        let calls = calls_of(example).any(|name| name == self.command);
        if !calls && calls_of(example).next().is_some() {
            return None;
        }
        // An argument that is missing is known from the errors alone: then the example must show it
        // or the call.
        let about_it = if self.named {
            shared > 0 || (calls && shown > 0)
        } else {
            shared > 0 && (shown > 0 || calls || example.is_empty())
        };
        if !about_it {
            return None;
        }
        let common = self.words.intersection(&about).count();
        let named = self.words.intersection(&title).count();
        Some(4 * shared + 2 * named + common + shown + if calls { 4 } else { 0 })
    }
}

/// The names before open brackets: `update_task({` calls one.
fn calls_of(example: &str) -> impl Iterator<Item = &str> {
    // Of `client.update_task(` it is the last part.
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name =
        move |(at, _)| example[..at].rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
    // `new Date(` is a value, `catch (` a word of the language: no command is called.
    let is_call = |name: &&str| !name.is_empty() && !name.starts_with(|c: char| c.is_uppercase());
    example.match_indices('(').map(name).filter(is_call)
}

/// The anti-pattern and the quirk that fit best, if any do.
pub(super) fn fitting(
    knowledge: &Knowledge,
    command: &str,
    arguments: &Json,
    errors: &[String],
) -> Vec<KnowledgeAdvice> {
    let said = words(&errors.join(" "));
    let names = arguments.as_object().into_iter().flatten().flat_map(|(name, _)| words(name));
    let mut fields: BTreeSet<String> = names.filter(|name| said.contains(name)).collect();
    let named = !fields.is_empty();
    if !named {
        fields.clone_from(&said);
    }
    let mistake = Mistake { command, words: said, fields, named };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let patterns = knowledge.anti_patterns.iter().filter_map(|pattern| {
        let (name, description) = (text(&pattern.name), text(&pattern.description));
        let fit = mistake.fit(&name, &description, &text(&pattern.wrong))?;
        let example = pattern.correct.as_ref()?.trim_end().to_owned();
        Some((fit, KnowledgeAdvice { kind: "antiPattern", name, description, remedy: example }))
    });
    let quirks = knowledge.quirks.iter().filter_map(|quirk| {
        let (name, description) = (text(&quirk.name), text(&quirk.description));
        let fit = mistake.fit(&name, &description, "")?;
        let remedy = quirk.mitigation.as_ref()?.trim_end().to_owned();
        Some((fit, KnowledgeAdvice { kind: "quirk", name, description, remedy }))
    });
    [best(patterns), best(quirks)].into_iter().flatten().collect()
}

/// The first of those that fit best.
fn best(lessons: impl Iterator<Item = (usize, KnowledgeAdvice)>) -> Option<KnowledgeAdvice> {
    let first_best =
        |best: Option<(usize, KnowledgeAdvice)>, next: (usize, KnowledgeAdvice)| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        };
    lessons.fold(None, first_best).map(|(_, advice)| advice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_model::{AntiPattern, Quirk};

    use super::*;

    #[test]
    fn words_of_texts() {
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
            ],
            ..Knowledge::default()
        }
    }

    #[test]
    fn the_lesson_about_the_same_field_and_command() {
        let advice = |command: &str, arguments: Json, error: &str| {
            let found = fitting(&knowledge(), command, &arguments, &[error.to_owned()]);
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
        // A field that is missing is known from the error.
        assert_eq!(
            advice("create_card", json!({}), "board is required"),
            "the right way of board_by_title"
        );
        assert_eq!(advice("create_card", owner, "the colour is not one of ours"), "");
    }
}
