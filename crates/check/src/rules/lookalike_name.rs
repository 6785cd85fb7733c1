//! Tools that are used together do not have names that look alike but differ.
//!
//! Source: our own advice, against tool poisoning: a toolset can take calls that were meant for
//! another by imitating its names.
//!
//! Names are compared by their skeleton, in the sense of Unicode TS 39: characters that look alike
//! are mapped to one. Two names with one skeleton and different spellings are reported at the later
//! one.
//!
//! Silent about: names within one document (one author chose both), equal names (`DUPLICATE_ID`),
//! and names that differ only in how words are joined, as `readFile` and `read_file`, which many
//! benign toolsets do.
//!
//! ```text
//! read_file   and the same with U+0435 (Cyrillic) for an `e`   reported at the later one
//! paypal      and paypa1                                       reported
//! readFile    and read_file                                    fine: a style
//! ```
//!
//! No repair: the earlier one may be the imitation as well.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use toolwright_model::{FieldValue, Json};
use toolwright_source::{RecordFinding, RecordPath, words};

use crate::Subject;
use crate::rule::RuleBetween;
use crate::subject::ToolPath;
use crate::tool_poisoning::skeleton;

pub(crate) static RULE: RuleBetween = RuleBetween { codes: ALL, check };

toolwright_source::codes! {
    LOOKALIKE_NAME Warning
        "Two toolsets that are used together have names, of tools or of themselves, that look \
         the same but differ: letters of another script, `l` for `1`, `rn` for `m`. A model, or \
         the person who approves its calls, can mistake one for the other. In this way a \
         toolset can receive calls that were meant for another one.\n\n\
         Rename one of them so that the difference is visible. If one of them is not yours, \
         find out who published it before you use both."
}

/// The first name with a certain skeleton. Borrowed from the record, so that comparing thousands of
/// documents copies no names.
struct SeenName<'a> {
    /// The index of its document.
    subject: usize,
    /// The name as it is written.
    spelling: &'a str,
}

/// Longer names are not compared. No format allows them, and a skeleton takes time and memory.
const MAX_NAME_BYTES: usize = 256;

/// Compares namespaces with namespaces and names with names, in the order of the documents. A
/// namespace is what a toolset calls itself, so imitating it is as useful as imitating a tool.
fn check(subjects: &[Subject<'_>], report: &mut dyn FnMut(usize, RecordFinding)) {
    // Two maps: a tool may be called like a toolset without being mistaken for it.
    let mut namespaces: HashMap<String, SeenName<'_>> = HashMap::new();
    let mut names: HashMap<String, SeenName<'_>> = HashMap::new();
    for (n, subject) in subjects.iter().enumerate() {
        let toolset = subject.toolset;
        if let Some(spelling) = spelling(&toolset.namespace, |namespace| namespace.as_str()) {
            let at = || RecordPath::root().child("namespace");
            report_lookalike(
                &mut namespaces,
                SeenName { subject: n, spelling },
                subjects,
                at,
                report,
            );
        }
        for (t, tool) in toolset.tools.iter().enumerate() {
            let at = |part: &str| ToolPath(t).child(part);
            if let Some(spelling) = spelling(&tool.namespace, |namespace| namespace.as_str()) {
                report_lookalike(
                    &mut namespaces,
                    SeenName { subject: n, spelling },
                    subjects,
                    || at("namespace"),
                    report,
                );
            }
            if let Some(spelling) = spelling(&tool.name, |name| name.as_str()) {
                report_lookalike(
                    &mut names,
                    SeenName { subject: n, spelling },
                    subjects,
                    || at("name"),
                    report,
                );
            }
        }
    }
}

/// A name as it is written, valid or not: a malformed name is rejected later, but until then it is
/// shown to people. `None` for names that are empty, too long or not a text.
fn spelling<'a, T>(name: &'a FieldValue<T>, text: fn(&'a T) -> &'a str) -> Option<&'a str> {
    let spelled = match name {
        FieldValue::Valid(name) => Some(text(name)),
        FieldValue::Invalid(Json::String(text)) => Some(text.as_str()),
        _ => None,
    };
    spelled.filter(|text| (1..=MAX_NAME_BYTES).contains(&text.len()))
}

/// Reports the name if an earlier document has a different name with the same skeleton; otherwise
/// remembers it. `at` makes the pointer to the name.
fn report_lookalike<'a>(
    known: &mut HashMap<String, SeenName<'a>>,
    name: SeenName<'a>,
    subjects: &[Subject<'_>],
    at: impl Fn() -> RecordPath,
    report: &mut dyn FnMut(usize, RecordFinding),
) {
    // Only the first name of each skeleton is kept. A third name that looks like the first two is
    // compared with the first, which is enough to report it.
    match known.entry(skeleton(name.spelling)) {
        Entry::Vacant(entry) => {
            entry.insert(name);
        }
        Entry::Occupied(entry) => {
            let other = entry.get();
            // Within one document it is the choice of one author. Equal spellings are a duplicate,
            // if they are wrong at all.
            if other.subject == name.subject || differ_only_in_style(other.spelling, name.spelling)
            {
                return;
            }
            let file = subjects[other.subject].file_name();
            let (one, two) = (words::shorten(name.spelling), words::shorten(other.spelling));
            // The file is named, because the two names look the same in the message as well.
            let message = format!("`{one}` looks like `{two}` in {file}");
            let finding = RecordFinding::new(&LOOKALIKE_NAME, at(), message);
            report(
                name.subject,
                foreign_letters(name.spelling).into_iter().fold(finding, RecordFinding::help),
            );
        }
    }
}

/// Whether two names are equal but for case and the characters that join words, as `readFile` and
/// `read_file` are.
fn differ_only_in_style(one: &str, two: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars()
            .filter(|c| !matches!(c, '_' | '-' | '.'))
            .flat_map(char::to_lowercase)
            .collect()
    };
    one == two || letters(one) == letters(two)
}

/// Help that names the first letters outside of ASCII by code point: the message shows the names,
/// but they look the same there as well. `None` if all letters are ASCII, as in `paypa1`.
fn foreign_letters(name: &str) -> Option<String> {
    let strange: Vec<String> = name
        .chars()
        .filter(|c| !c.is_ascii())
        // Three are enough to see that the letters are foreign.
        .take(3)
        .map(|c| format!("U+{:04X}", u32::from(c)))
        .collect();
    (!strange.is_empty()).then(|| format!("it is written with {}", strange.join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::testing::found_between;

    /// A list of MCP tools with these names.
    fn tools(names: &[&str]) -> String {
        let list: Vec<String> = names
            .iter()
            .map(|name| format!(r#"{{"name": "{name}", "inputSchema": {{}}}}"#))
            .collect();
        format!("[{}]", list.join(","))
    }

    #[test]
    fn names_that_look_alike_across_toolsets_are_reported() {
        let cases: &[(&[&str], &[&str], Option<&str>)] = &[
            (&["read_file"], &["read_file"], None),
            (&["read_file"], &["write_file"], None),
            (&["list"], &["l1st"], Some("1 /0/name `l1st` looks like `list` in a")),
            (&["a", "list"], &["b", "1ist"], Some("1 /1/name `1ist` looks like `list` in a")),
            // A malformed name counts as well.
            (&["read"], &["rе\u{430}d"], Some("1 /0/name `rе\u{430}d` looks like `read` in a")),
            // Both in one toolset: not reported.
            (&["list", "l1st"], &["other"], None),
            (&[""], &["", " "], None),
        ];
        for (one, two, expected) in cases {
            let expected: Vec<&str> = expected.iter().copied().collect();
            assert_eq!(
                found_between("LOOKALIKE_NAME", &[&tools(one), &tools(two)]),
                expected,
                "{one:?} {two:?}"
            );
        }
        let [three, again] = [tools(&["list"]), tools(&["l1st"])];
        assert_eq!(found_between("LOOKALIKE_NAME", &[&three, &three, &again]).len(), 1);
    }

    #[test]
    fn namespaces_that_look_alike_across_toolsets_are_reported() {
        let manifest = |name: &str| format!(r#"{{"btcp": "1.0", "name": "{name}", "tools": []}}"#);
        assert_eq!(
            found_between("LOOKALIKE_NAME", &[&manifest("mail"), &manifest("mai1")]),
            ["1 /name `mai1` looks like `mail` in a"]
        );
        assert_eq!(
            found_between("LOOKALIKE_NAME", &[&manifest("mail"), &manifest("mail")]),
            [""; 0]
        );
        let own =
            |name: &str| format!(r#"{{"name": "a", "namespace": "{name}", "inputSchema": {{}}}}"#);
        assert_eq!(
            found_between("LOOKALIKE_NAME", &[&manifest("mail"), &own("mаil")]),
            ["1 /namespace `mаil` looks like `mail` in a"]
        );
    }
}
