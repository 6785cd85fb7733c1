//! Tools that are used together have names that cannot be taken for each other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use toolwright_model::{FieldValue, Json};
use toolwright_source::{RecordFinding, RecordPath, words};

use crate::Subject;
use crate::rule::RuleBetween;
use crate::subject::ToolPath;
use crate::tool_poisoning::skeleton;

pub(crate) static RULE: RuleBetween = RuleBetween { check };

toolwright_source::codes! {
    LOOKALIKE_NAME Warning "Two toolsets that are used together have tools, or names of their own, that look the same and are not: letters of another script, `l` for `1`, `rn` for `m`, another case or separator. A model, and the person who approves its calls, can take one for the other, so this is how a toolset gets calls that were meant for somebody else.\n\nRename one of them so that the difference can be seen. If one of them is not yours, find out whose it is before you use both."
}

/// A name that was met: in which toolset, where and how it is spelled.
struct Met<'a> {
    subject: usize,
    spelling: &'a str,
}

/// Bytes of a name that is looked at.
const LONGEST: usize = 256;

fn check(subjects: &[Subject<'_>], report: &mut dyn FnMut(usize, RecordFinding)) {
    let mut namespaces: HashMap<String, Met<'_>> = HashMap::new();
    let mut names: HashMap<String, Met<'_>> = HashMap::new();
    for (n, subject) in subjects.iter().enumerate() {
        let toolset = subject.toolset;
        if let Some(spelling) = spelling(&toolset.namespace, |namespace| namespace.as_str()) {
            let at = || RecordPath::root().child("namespace");
            meet(&mut namespaces, Met { subject: n, spelling }, subjects, at, report);
        }
        for (t, tool) in toolset.tools.iter().enumerate() {
            let at = |part: &str| ToolPath(t).child(part);
            if let Some(spelling) = spelling(&tool.namespace, |namespace| namespace.as_str()) {
                meet(
                    &mut namespaces,
                    Met { subject: n, spelling },
                    subjects,
                    || at("namespace"),
                    report,
                );
            }
            if let Some(spelling) = spelling(&tool.name, |name| name.as_str()) {
                meet(&mut names, Met { subject: n, spelling }, subjects, || at("name"), report);
            }
        }
    }
}

/// A name as it is written: one that is refused may still be there to deceive.
fn spelling<'a, T>(name: &'a FieldValue<T>, text: fn(&'a T) -> &'a str) -> Option<&'a str> {
    let spelled = match name {
        FieldValue::Valid(name) => Some(text(name)),
        FieldValue::Invalid(Json::String(text)) => Some(text.as_str()),
        _ => None,
    };
    // Nobody looks at a longer one, and comparing it would take its time.
    spelled.filter(|text| (1..=LONGEST).contains(&text.len()))
}

fn meet<'a>(
    known: &mut HashMap<String, Met<'a>>,
    name: Met<'a>,
    subjects: &[Subject<'_>],
    at: impl Fn() -> RecordPath,
    report: &mut dyn FnMut(usize, RecordFinding),
) {
    match known.entry(skeleton(name.spelling)) {
        Entry::Vacant(entry) => {
            entry.insert(name);
        }
        Entry::Occupied(entry) => {
            let other = entry.get();
            // Within one toolset it is one author's choice; the same spelling is another finding,
            // or none.
            if other.subject == name.subject || is_style(other.spelling, name.spelling) {
                return;
            }
            let file = subjects[other.subject].origin.document().source().name();
            let (one, two) = (words::shorten(name.spelling), words::shorten(other.spelling));
            let message = format!("`{one}` looks like `{two}` in {file}");
            let finding = RecordFinding::new(&LOOKALIKE_NAME, at(), message);
            report(
                name.subject,
                strange_letters(name.spelling).into_iter().fold(finding, RecordFinding::help),
            );
        }
    }
}

/// Whether two names differ in nothing but how words are joined: `readFile` and `read_file` are
/// honest.
fn is_style(one: &str, two: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars()
            .filter(|c| !matches!(c, '_' | '-' | '.'))
            .flat_map(char::to_lowercase)
            .collect()
    };
    one == two || letters(one) == letters(two)
}

/// Letters that a name in English would not have, because they may look as if it had.
fn strange_letters(name: &str) -> Option<String> {
    let strange: Vec<String> = name
        .chars()
        .filter(|c| !c.is_ascii())
        .take(3)
        .map(|c| format!("U+{:04X}", u32::from(c)))
        .collect();
    (!strange.is_empty()).then(|| format!("it is written with {}", strange.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolwright_source::{Document, Syntax};

    use crate::{Subject, check_together};

    /// What is found between toolsets, each given by its text.
    fn between(texts: &[&str]) -> Vec<String> {
        let readings: Vec<_> = texts
            .iter()
            .enumerate()
            .map(|(n, text)| {
                let document = Arc::new(Document::parse(&format!("{n}.json"), *text, Syntax::Json));
                let toolwright_formats::Detected::Format(format) =
                    toolwright_formats::detect(&document)
                else {
                    panic!("no format: {text}");
                };
                toolwright_formats::read(&document, format)
            })
            .collect();
        let subjects: Vec<Subject<'_>> = readings
            .iter()
            .map(|r| {
                Subject::new(
                    r.format,
                    r.dialect.as_deref(),
                    &r.toolset,
                    &r.origin,
                    &toolwright_script::InProcessAnalyzer,
                )
            })
            .collect();
        let found =
            check_together(&subjects).into_iter().filter(|(_, f)| f.code.name == "LOOKALIKE_NAME");
        found.map(|(n, f)| format!("{n}{}: {}", f.at, f.message)).collect()
    }

    fn tools(names: &[&str]) -> String {
        let list: Vec<String> = names
            .iter()
            .map(|name| format!(r#"{{"name": "{name}", "inputSchema": {{}}}}"#))
            .collect();
        format!("[{}]", list.join(","))
    }

    #[test]
    fn names_across_toolsets() {
        let cases: &[(&[&str], &[&str], Option<&str>)] = &[
            (&["read_file"], &["read_file"], None),
            (&["read_file"], &["write_file"], None),
            (&["list"], &["l1st"], Some("1/0/name: `l1st` looks like `list` in 0.json")),
            (&["a", "list"], &["b", "1ist"], Some("1/1/name: `1ist` looks like `list` in 0.json")),
            // A name that is refused may still be there to deceive.
            (
                &["read"],
                &["rе\u{430}d"],
                Some("1/0/name: `rе\u{430}d` looks like `read` in 0.json"),
            ),
            // One toolset: its author's choice.
            (&["list", "l1st"], &["other"], None),
            (&[""], &["", " "], None),
        ];
        for (one, two, expected) in cases {
            let expected: Vec<&str> = expected.iter().copied().collect();
            assert_eq!(between(&[&tools(one), &tools(two)]), expected, "{one:?} {two:?}");
        }
        let [three, again] = [tools(&["list"]), tools(&["l1st"])];
        assert_eq!(between(&[&three, &three, &again]).len(), 1);
    }

    #[test]
    fn namespaces_across_toolsets() {
        let manifest = |name: &str| format!(r#"{{"btcp": "1.0", "name": "{name}", "tools": []}}"#);
        assert_eq!(
            between(&[&manifest("mail"), &manifest("mai1")]),
            ["1/name: `mai1` looks like `mail` in 0.json"]
        );
        assert_eq!(between(&[&manifest("mail"), &manifest("mail")]), [""; 0]);
        let own =
            |name: &str| format!(r#"{{"name": "a", "namespace": "{name}", "inputSchema": {{}}}}"#);
        assert_eq!(
            between(&[&manifest("mail"), &own("mаil")]),
            ["1/namespace: `mаil` looks like `mail` in 0.json"]
        );
    }
}
