//! Names of tools that are used side by side differ in more than case.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use toolwright_model::ToolId;
use toolwright_source::RecordFinding;

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    CONFUSABLE_NAME Warning "Two tools of one document have names that differ in upper and lower case alone. They are different tools, but a model that picks one by its name, and a person who reads a log, will take one for the other; some clients compare names without regard to case.\n\nRename one of them so that the name says what is different."
    => (
        "tools.json",
        r#"[
  {"name": "read_file", "description": "Reads a text file", "inputSchema": {"type": "object", "additionalProperties": false}},
  {"name": "Read_File", "description": "Reads any file", "inputSchema": {"type": "object", "additionalProperties": false}}
]
"#,
        r#"[
  {"name": "read_file", "description": "Reads a text file", "inputSchema": {"type": "object", "additionalProperties": false}},
  {"name": "read_binary_file", "description": "Reads any file", "inputSchema": {"type": "object", "additionalProperties": false}}
]
"#
    )
}

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if subject.toolset.tools.len() < 2 {
        return;
    }
    let mut first: HashMap<String, Vec<(ToolId, ToolPath)>> = HashMap::new();
    for (at, tool) in subject.tools() {
        let Some(id) = tool.id(None) else { continue };
        match first.entry(id.to_string().to_ascii_lowercase()) {
            Entry::Vacant(entry) => drop(entry.insert(vec![(id, at)])),
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                // The very same name is a duplicate, which is worse and told elsewhere.
                if known.iter().any(|(other, _)| *other == id) {
                    continue;
                }
                let (other, place) = &known[0];
                let message = format!("`{}` and `{}` differ only in case", id.name, other.name);
                out.push(
                    RecordFinding::new(&CONFUSABLE_NAME, at.child("name"), message)
                        .related(place.child("name"), "the other one")
                        .help("rename one of them so that the name says what is different"),
                );
                known.push((id, at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{count, found, messages};

    fn list(names: &[&str], more: &str) -> String {
        let tools: Vec<String> =
            names.iter().map(|name| format!(r#"{{"name": "{name}", {more}}}"#)).collect();
        format!("[{}]", tools.join(","))
    }

    #[test]
    fn names_that_differ_only_in_case() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["a", "b"], &[]),
            (&["getUrl", "getURL"], &["/1/name"]),
            (&["getUrl", "getURL", "geturl"], &["/1/name", "/2/name"]),
            // The same name is another finding, also of one that was told.
            (&["a", "a"], &[]),
            (&["a", "A", "A"], &["/1/name"]),
            // A separator is more than case.
            (&["get_url", "getUrl"], &[]),
            (&["", "", "é", "É", "a b", "A B"], &[]),
        ];
        for (names, at) in cases {
            let expected: Vec<String> =
                at.iter().map(|at| format!("CONFUSABLE_NAME at {at}")).collect();
            for more in [r#""capabilities": []"#, r#""inputSchema": {"type": "object"}"#] {
                assert_eq!(found("CONFUSABLE_NAME", &list(names, more)), expected, "{names:?}");
            }
        }
        let aios = "tool: {id: notes, type: cli, commands: [add, Add, add]}";
        assert_eq!(found("CONFUSABLE_NAME", aios), ["CONFUSABLE_NAME at /tool/commands/1"]);
        assert_eq!(messages("CONFUSABLE_NAME", aios), ["`Add` and `add` differ only in case"]);
    }

    #[test]
    fn a_namespace_tells_them_apart() {
        let tool = |name, namespace| {
            format!(
                r#"{{"name": "{name}", "namespace": "{namespace}", "inputSchema": {{"type": "object"}}}}"#
            )
        };
        let apart = format!("[{}, {}]", tool("a", "x"), tool("A", "y"));
        assert_eq!(found("CONFUSABLE_NAME", &apart), [""; 0]);
        let same = format!("[{}, {}]", tool("a", "x"), tool("A", "x"));
        assert_eq!(found("CONFUSABLE_NAME", &same), ["CONFUSABLE_NAME at /1/name"]);
    }

    #[test]
    fn a_thousand_tools() {
        let names: Vec<String> =
            (0..1_000).map(|n| format!("{}{}", ["t", "T"][n % 2], n / 2)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(count(&super::RULE, &list(&names, r#""capabilities": []"#)), 500);
    }
}
