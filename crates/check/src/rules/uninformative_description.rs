//! The description of a tool says more than its name.
//!
//! Source: our own advice: an agent chooses tools by their descriptions, and "Get weather" beside
//! the name `get_weather` gives it nothing to choose by.
//!
//! A description is reported if all its words are words of the name, in any form, or words without
//! meaning of their own (articles, "this tool allows you to"). Prepositions say more: they relate
//! the words of the name. So do words in another script than that of the name. The text alone
//! decides, not the schema: of two tools with such texts, both are reported alike.
//!
//! No repair, as only the author knows what to say. The rule reports what is certain: a longer text
//! that says little is not measured.

use toolwright_source::RecordFinding;
use toolwright_source::words::shorten;

use super::naming_convention::split;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    UNINFORMATIVE_DESCRIPTION Warning
        "The description of a tool only repeats its name, as \"Get weather\" for `get_weather`. \
         An agent reads both, so it learns nothing from the description: not what the tool \
         returns, nor when to use it instead of another one.\n\n\
         Write what it works on, what it returns and when to use it: \"Returns the current \
         temperature and wind for a city\". It is a warning for every tool, whatever its \
         parameters say: an agent chooses the tool before it reads those."
    => (
        "tool.json",
        r#"{
  "name": "get_weather",
  "description": "Gets the weather",
  "inputSchema": {"type": "object", "additionalProperties": false}
}
"#,
        r#"{
  "name": "get_weather",
  "description": "Returns the current temperature and wind for a city",
  "inputSchema": {"type": "object", "additionalProperties": false}
}
"#
    )
}

/// Longer descriptions say more, whatever their words are.
const MAX_BYTES: usize = 80;

/// Words that say nothing about a tool.
///
/// Prepositions are not among them: "Add a user to a team" says how the words of `addUserTeam`
/// belong together. In lower case, in English only: descriptions in other languages have other
/// words and pass.
const EMPTY_WORDS: &[&str] = &[
    "a",
    "allow",
    "an",
    "and",
    "api",
    "call",
    "can",
    "command",
    "do",
    "endpoint",
    "function",
    "given",
    "it",
    "its",
    "let",
    "method",
    "operation",
    "some",
    "specified",
    "that",
    "the",
    "these",
    "this",
    "tool",
    "use",
    "used",
    "using",
    "which",
    "will",
    "you",
    "your",
];

/// Verbs that say the same in a name and its description. Other pairs of that kind, such as
/// `delete` and `remove`, are not looked for.
const GET: &[&str] = &["get", "fetch", "return", "retrieve"];

/// One finding for each tool, at a description that the document itself has.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        let (Some(name), Some(description)) = (tool.name.ok(), tool.description.ok()) else {
            continue;
        };
        if description.len() > MAX_BYTES || !repeats(name.as_str(), description) {
            continue;
        }
        // A command that is the whole AIOS tool has the description of the tool, which is not its
        // own.
        let place = at.child("description");
        if subject.document_value(&place).is_none() {
            continue;
        }
        let message = format!(
            "the description of `{name}` says nothing beyond its name: `{}`",
            shorten(description.trim())
        );
        let finding = RecordFinding::new(&UNINFORMATIVE_DESCRIPTION, place, message);
        out.push(finding.help("say what it works on, what it returns and when to use it"));
    }
}

/// Whether a description has words of the name and no others.
///
/// | name | description | |
/// |---|---|---|
/// | `get_weather` | `Fetches the weather` | repeats |
/// | `get_weather` | `Returns the weather for a city` | does not: `for`, `city` |
/// At least one word must be repeated: `This tool can be used` does not repeat a name.
fn repeats(name: &str, description: &str) -> bool {
    let words = split(description);
    let names = split(name);
    // `getweather` has no words to compare.
    if words.concat() == names.concat() {
        return true;
    }
    let named: Vec<String> = names.iter().map(|word| stem(word)).collect();
    let gets = named.iter().any(|word| GET.contains(&word.as_str()));
    let mut repeated = 0;
    let says_nothing = |(n, word): (usize, &String)| {
        let stem = stem(word);
        let is_named = named.contains(&stem) || (gets && GET.contains(&stem.as_str()));
        repeated += usize::from(is_named);
        // "allows you to", "used to", "a tool to".
        let leads_on = || word == "to" && n > 0 && EMPTY_WORDS.contains(&words[n - 1].as_str());
        is_named
            || EMPTY_WORDS.contains(&word.as_str())
            || EMPTY_WORDS.contains(&stem.as_str())
            || leads_on()
    };
    words.iter().enumerate().all(says_nothing) && repeated > 0
}

/// A word without the endings of plurals and verb forms: `files`, `filed` and `filing` are one. Not
/// a linguistic stem, but the same for both sides of the comparison. At least three letters stay.
fn stem(word: &str) -> String {
    let endings = ["ing", "ies", "ied", "es", "ed", "s", "y", "e"];
    let ending =
        endings.iter().find(|ending| word.len() > ending.len() + 2 && word.ends_with(*ending));
    let stem = ending.map_or(word, |ending| &word[..word.len() - ending.len()]);
    // `running` and `stopped` double a letter.
    let bytes = stem.as_bytes();
    match bytes {
        [.., a, b] if a == b && ending.is_some() && stem.len() > 3 => {
            stem[..stem.len() - 1].to_owned()
        }
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use toolwright_source::Severity;

    use super::repeats;
    use crate::testing::{findings, found};

    #[test]
    fn descriptions_that_only_repeat_the_name_are_reported() {
        for (name, description) in [
            ("get_weather", "Get weather"),
            ("get_weather", "get_weather"),
            ("get_weather", "Returns the weather."),
            ("getWeather", "This tool allows you to get the weather"),
            ("getweather", "GetWeather"),
            ("list_files", "Lists files"),
            ("list_files", "A tool to list the files."),
            ("delete-entry", "Deletes an entry"),
            ("stop_server", "Stopping the server"),
            ("run", "Runs it"),
            ("search", "Search"),
        ] {
            assert!(repeats(name, description), "{name}: {description}");
        }
        for (name, description) in [
            ("get_weather", "Get weather for a city"),
            ("get_weather", "Returns the current weather"),
            ("list_branches", "List branches in a GitHub repository"),
            ("browser_close", "Close the page"),
            ("list_files", "Löscht Dateien"),
            ("get_weather", "获取天气"),
            ("search", "Search the web"),
            ("now", "Returns the time"),
            ("echo", "..."),
            ("a", "Does it"),
            ("add_user_team", "Add a user to a team"),
            ("set_issue_priority", "Set the priority of an issue"),
            ("read_file", "Reads a text file"),
        ] {
            assert!(!repeats(name, description), "{name}: {description}");
        }
    }

    #[test]
    fn it_is_a_warning_whatever_the_parameters_say() {
        for properties in [
            r#"{"id": {"type": "string", "description": "Which one"}}"#,
            r#"{"id": {"type": "string", "description": "Which one"}, "all": {}}"#,
            "{}",
        ] {
            let text = format!(
                r#"{{"name": "close_it", "description": "Closes it", "inputSchema": {{"type": "object", "properties": {properties}}}}}"#
            );
            let all = findings(&text);
            let ours = all.iter().find(|it| it.code.name == "UNINFORMATIVE_DESCRIPTION");
            assert_eq!(ours.map(|it| it.severity), Some(Severity::Warning), "{properties}");
        }
    }

    #[test]
    fn every_format_is_checked() {
        for (text, at) in [
            (r#"{"name": "a_b", "description": "a b", "inputSchema": {}}"#, "/description"),
            (r#"{"name": "ab", "description": "Ab", "parameters": {}}"#, "/description"),
            (
                "tool: {id: notes, type: cli, description: Keeps them, tools: [{id: add, description: Adds it}]}",
                "/tool/tools/0/description",
            ),
        ] {
            let expected = [format!("UNINFORMATIVE_DESCRIPTION at {at}")];
            assert_eq!(found("UNINFORMATIVE_DESCRIPTION", text), expected, "{text}");
        }
        let aios = "tool: {id: notes, type: cli, description: Notes}";
        assert_eq!(found("UNINFORMATIVE_DESCRIPTION", aios), [""; 0]);
    }
}
