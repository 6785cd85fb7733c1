//! A model can tell any two tools apart by their names and descriptions.
//!
//! Source: our own advice. Two tools are reported if their names have the same words, in whatever
//! spelling, order, number or version (`getUser`, `get_users_v2`), and their descriptions are
//! nearly the same. Both are needed: `create_issue` and `delete_issue` with one description differ
//! by name, and two servers may each have a `search` that describes what it searches.
//!
//! ```text
//! tools ─ by the words of their names ─▶ groups ─ compare descriptions ─▶ one finding per group
//! ```
//!
//! Silent about tools without a description, about equal ids (`DUPLICATE_ID`) and, in one document,
//! about names that differ in case only (`CONFUSABLE_NAME`).

use std::collections::{HashMap, HashSet};

use toolwright_model::Draft;
use toolwright_source::RecordFinding;

use super::naming_convention::split;
use crate::Subject;
use crate::report::Report;
use crate::rule::{Rule, RuleBetween};
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };
pub(crate) static RULE_BETWEEN: RuleBetween = RuleBetween { codes: &[], check: check_between };

toolwright_source::codes! {
    INDISTINGUISHABLE_TOOLS Warning
        "Two tools have nearly the same name and nearly the same description. A model that has \
         both chooses one of them by chance. This happens within one document, and between \
         servers that are used together.\n\n\
         Say in each description what the other tool does not do and when to use this one, or \
         remove one of them. If one replaces the other, mark the old one as deprecated in its \
         description."
    => (
        "tools.json",
        r#"[
  {"name": "get_user", "description": "Returns a user of the directory", "inputSchema": {"type": "object", "additionalProperties": false}},
  {"name": "getUsers", "description": "Returns a user of the directory.", "inputSchema": {"type": "object", "additionalProperties": false}}
]
"#,
        r#"[
  {"name": "get_user", "description": "Returns a user of the directory", "inputSchema": {"type": "object", "additionalProperties": false}},
  {"name": "getUsers", "description": "Returns all users of a team", "inputSchema": {"type": "object", "additionalProperties": false}}
]
"#
    )
}

/// The most different descriptions that tools of similar names are compared with. A hundred servers
/// may each have a `search`, and each new one is compared with all groups.
const MAX_GROUPS_PER_NAME: usize = 8;

/// The most words of a description that are compared. It bounds the work for a hostile description.
const MAX_WORDS: usize = 200;

/// How many of all words of two descriptions both have, in percent, if they count as the same.
const SAME_PERCENT: usize = 80;

/// A tool of one of the subjects. Positions in the list of subjects and in the list of its tools.
#[derive(Clone, Copy)]
struct ToolIndex {
    subject: usize,
    tool: usize,
}

/// Tools that a model cannot tell apart.
///
/// Only two of them are kept: one finding names two, and counts the others.
struct SimilarTools {
    first: ToolIndex,
    /// The second, at which the finding is.
    second: Option<ToolIndex>,
    /// All but the first.
    others: usize,
}

/// Compares tools of one document. Names that are equal but for case are left to other rules. The
/// finding is at the later tool; the earlier one is shown beside it.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if subject.toolset.tools.len() < 2 {
        return;
    }
    let subjects = std::slice::from_ref(subject);
    let similar = find_similar(subjects, |one, other| {
        let (one, other) = (draft(subjects, one), draft(subjects, other));
        let name = |tool: &Draft| tool.name.ok().map(|name| name.as_str().to_ascii_lowercase());
        name(one) != name(other) && has_same_description(one, other)
    });
    for tools in similar {
        let Some(second) = tools.second else { continue };
        let message = message(subjects, &tools, second, None);
        out.push(
            RecordFinding::new(
                &INDISTINGUISHABLE_TOOLS,
                ToolPath(second.tool).child("name"),
                message,
            )
            .related(ToolPath(tools.first.tool).child("name"), "the other tool")
            .help(help(&tools)),
        );
    }
}

/// Compares tools of different documents. Tools of one subject are not compared here, as `check`
/// has compared them. The other document is named in the message, because a finding can show places
/// of its own document only.
fn check_between(subjects: &[Subject<'_>], report: &mut dyn FnMut(usize, RecordFinding)) {
    if subjects.len() < 2 {
        return;
    }
    let id = |index: ToolIndex| {
        draft(subjects, index).id(subjects[index.subject].toolset.namespace.ok())
    };
    let similar = find_similar(subjects, |one, other| {
        one.subject != other.subject
            && id(one) != id(other)
            && has_same_description(draft(subjects, one), draft(subjects, other))
    });
    for tools in similar {
        let Some(second) = tools.second else { continue };
        let file = subjects[tools.first.subject].file_name();
        let message = message(subjects, &tools, second, Some(file));
        let at = ToolPath(second.tool).child("name");
        report(
            second.subject,
            RecordFinding::new(&INDISTINGUISHABLE_TOOLS, at, message).help(help(&tools)),
        );
    }
}

/// `file` is that of the first tool, if the two are in different documents.
fn message(
    subjects: &[Subject<'_>],
    tools: &SimilarTools,
    second: ToolIndex,
    file: Option<&str>,
) -> String {
    let name = |index| {
        let draft = draft(subjects, index);
        draft.name.ok().map(|name| name.to_string()).unwrap_or_default()
    };
    let (one, other) = (name(second), name(tools.first));
    let of_file = file.map(|file| format!(" of `{file}`")).unwrap_or_default();
    format!(
        "a model cannot tell `{one}` from `{other}`{of_file}: names and descriptions are nearly \
         the same"
    )
}

/// What to do. It counts the other tools of the group, because a message with a number would
/// change with every tool that a repair adds or removes.
fn help(tools: &SimilarTools) -> String {
    let advice = "say in each description when to use this tool and not the other";
    match tools.others {
        0 | 1 => advice.to_owned(),
        others => format!("{advice}; {} more have such a name and description", others - 1),
    }
}

fn draft<'s>(subjects: &'s [Subject<'_>], index: ToolIndex) -> &'s Draft {
    &subjects[index.subject].toolset.tools[index.tool]
}

/// Groups the tools of all subjects; `is_same` decides about two tools with similar names.
///
/// A tool is compared with the first of each group of its name, so the work is linear in the tools
/// as long as a name has few groups. Groups beyond [`MAX_GROUPS_PER_NAME`] are not made. The result
/// is in the order of the first tool of each group, since the order of a hash map differs from run
/// to run.
fn find_similar(
    subjects: &[Subject<'_>],
    is_same: impl Fn(ToolIndex, ToolIndex) -> bool,
) -> Vec<SimilarTools> {
    let mut groups: HashMap<String, Vec<SimilarTools>> = HashMap::new();
    for (n, subject) in subjects.iter().enumerate() {
        for (t, tool) in subject.toolset.tools.iter().enumerate() {
            let Some(name) = tool.name.ok() else { continue };
            let index = ToolIndex { subject: n, tool: t };
            let known = groups.entry(name_words(name.as_str())).or_default();
            if let Some(tools) = known.iter_mut().find(|tools| is_same(tools.first, index)) {
                tools.others += 1;
                tools.second.get_or_insert(index);
            } else if known.len() < MAX_GROUPS_PER_NAME {
                known.push(SimilarTools { first: index, second: None, others: 0 });
            }
        }
    }
    let mut similar: Vec<SimilarTools> =
        groups.into_values().flatten().filter(|tools| tools.second.is_some()).collect();
    similar.sort_by_key(|tools| (tools.first.subject, tools.first.tool));
    similar
}

/// The words of a name, without plurals, numbers and versions.
///
/// `getUsers`, `get_user` and `user-get-v2` are all `get user`. Words such as `tool`, `new` and
/// `the` are left out, too: they are added to names and distinguish nothing.
fn name_words(name: &str) -> String {
    let mut words: Vec<String> = split(name)
        .iter()
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .filter(|word| !matches!(*word, "" | "v" | "tool" | "new" | "the"))
        .map(|word| {
            let singular = word.strip_suffix('s').filter(|rest| rest.len() > 2);
            singular.unwrap_or(word).to_owned()
        })
        .collect();
    // `read_issue` and `issue_read` are one; of more words, the order may be the difference, as in
    // `copy_page_to_file`.
    if words.len() == 2 {
        words.sort_unstable();
    }
    words.join(" ")
}

/// Whether both have a description, and nearly the same. Equal texts need no comparison of words.
fn has_same_description(one: &Draft, other: &Draft) -> bool {
    let (Some(one), Some(other)) = (one.description.ok(), other.description.ok()) else {
        return false;
    };
    let is_same = |one, other| is_nearly_same(&description_words(one), &description_words(other));
    // The first sentence by itself as well: what follows is often the same for all tools.
    one == other || (is_same(first_sentence(one), first_sentence(other)) && is_same(one, other))
}

/// The description up to its first period before white space, or line end.
fn first_sentence(description: &str) -> &str {
    let end = ["\n", ". ", ".\t"].iter().filter_map(|end| description.trim_start().find(end)).min();
    description.trim_start().get(..end.unwrap_or(usize::MAX)).unwrap_or(description)
}

/// The different words of a description, in lower case. At most `MAX_WORDS`, in any order: the same
/// words in another order say the same here.
fn description_words(description: &str) -> HashSet<String> {
    let words = description.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(MAX_WORDS).map(str::to_lowercase).collect()
}

/// Whether two sets of words overlap by [`SAME_PERCENT`]; small sets have to be equal. Two empty
/// sets are not the same: descriptions without words say nothing that could be equal.
fn is_nearly_same(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    let both = one.intersection(other).count();
    let all = one.len() + other.len() - both;
    // In a short description every word counts.
    all > 0 && (both == all || (all > 4 && both * 100 >= all * SAME_PERCENT))
}

#[cfg(test)]
mod tests {
    use super::name_words;
    use crate::testing::{findings, found, found_between};

    /// Names and descriptions.
    type ToolList<'a> = &'a [(&'a str, &'a str)];

    /// A list of tools.
    fn list(tools: ToolList<'_>) -> String {
        let tools: Vec<String> = tools
            .iter()
            .map(|(name, description)| {
                format!(
                    r#"{{"name": "{name}", "description": "{description}", "inputSchema": {{"type": "object"}}}}"#
                )
            })
            .collect();
        format!("[{}]", tools.join(","))
    }

    #[test]
    fn tools_with_one_name_and_one_description_are_reported_once() {
        let same = "Returns a user of the directory";
        let cases: &[(ToolList<'_>, &[&str])] = &[
            (&[("get_user", same), ("getUsers", same)], &["/1/name"]),
            (
                &[("get_user", same), ("user_get_v2", "returns a user of the directory.")],
                &["/1/name"],
            ),
            (&[("get_user", same), ("get_users", same), ("getUser2", same)], &["/1/name"]),
            (
                &[
                    (
                        "get_user",
                        "Get user details by id. Read-only; errors are returned as text, with a code and the reason.",
                    ),
                    (
                        "get_users",
                        "Get users of a team. Read-only; errors are returned as text, with a code and the reason.",
                    ),
                ],
                &[],
            ),
            // One of the two differs.
            (&[("get_user", same), ("delete_user", same)], &[]),
            (&[("get_user", "Returns a user"), ("get_users", "Returns users")], &[]),
            (&[("get_user", same), ("get_users", "Returns all users of a team")], &[]),
            // Reported as DUPLICATE_ID and CONFUSABLE_NAME.
            (&[("get_user", same), ("get_user", same)], &[]),
            (&[("get_user", same), ("Get_User", same)], &[]),
        ];
        for (tools, at) in cases {
            let expected: Vec<String> =
                at.iter().map(|at| format!("INDISTINGUISHABLE_TOOLS at {at}")).collect();
            assert_eq!(found("INDISTINGUISHABLE_TOOLS", &list(tools)), expected, "{tools:?}");
        }
        let three = list(&[("get_cat", same), ("get_cats", same), ("getCat2", same)]);
        let finding =
            findings(&three).into_iter().find(|f| f.code.name == "INDISTINGUISHABLE_TOOLS");
        let (message, help) = finding.map(|f| (f.message, f.help.concat())).unwrap_or_default();
        assert!(
            message.starts_with("a model cannot tell `get_cats` from `get_cat`: "),
            "{message}"
        );
        assert!(help.ends_with("; 1 more have such a name and description"), "{help}");
    }

    #[test]
    fn tools_of_two_documents_are_compared() {
        let tool = |namespace: &str, name: &str, description: &str| {
            let description = match description {
                "" => String::new(),
                text => format!(r#""description": "{text}", "#),
            };
            format!(
                r#"{{"namespace": "{namespace}", "name": "{name}", {description}"inputSchema": {{"type": "object"}}}}"#
            )
        };
        let one = tool("x", "read_file", "Read the contents of a file");
        for (other, count) in [
            (tool("y", "read_file", "Read the contents of a file"), 1),
            (tool("y", "readFile", "Reads the contents of a file"), 0),
            (tool("y", "readFile", "read the contents of a file."), 1),
            (tool("y", "read_file", "Returns one page of a PDF"), 0),
            (tool("y", "read_file", ""), 0),
            // The same id is an error of its own.
            (tool("x", "read_file", "Read the contents of a file"), 0),
        ] {
            let found = found_between("INDISTINGUISHABLE_TOOLS", &[&one, &other]);
            assert_eq!(found.len(), count, "{other}: {found:?}");
        }
        let now = |namespace| tool(namespace, "now", "Returns the time");
        let found = found_between("INDISTINGUISHABLE_TOOLS", &[&now("x"), &now("y")]);
        assert_eq!(
            found,
            [
                "1 /name a model cannot tell `now` from `now` of `a`: names and descriptions are nearly the same"
            ]
        );
    }

    #[test]
    fn names_are_compared_by_their_words() {
        for (one, other, same) in [
            ("getUser", "get_users", true),
            ("search", "search_v2", true),
            ("countWords12", "countWords34", true),
            ("issue_read", "read_issue", true),
            ("copyPageToFile", "copyFileToPage", false),
            ("enable", "disable", false),
            ("get_user", "get_team", false),
        ] {
            assert_eq!(name_words(one) == name_words(other), same, "{one} {other}");
        }
    }
}
