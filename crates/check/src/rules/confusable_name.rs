//! Names of tools in one document differ in more than upper and lower case.
//!
//! Source: our own advice. The specifications demand that names differ, and compare them with
//! regard to case; models and people do not.
//!
//! Silent about: equal names, which are an error of their own (`DUPLICATE_TOOL_NAME`,
//! `DUPLICATE_ID`); names in different namespaces; names that differ in a separator, as `getUrl`
//! and `get_url`, which a reader tells apart. Names that look alike across documents are the rule
//! `lookalike_name`.
//!
//! A warning without a repair: a rename has to reach the callers, too.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use toolwright_model::ToolId;
use toolwright_source::RecordFinding;

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    CONFUSABLE_NAME Warning
        "Two tools of one document have names that differ only in upper and lower case. They \
         are different tools, but a model that chooses a tool by its name, or a person who \
         reads a log, easily mistakes one for the other. Some clients even ignore case when \
         they compare names.\n\n\
         Rename one of them so that the name shows the difference."
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

/// Reports each new spelling of a name that is there in another spelling. Three spellings of one
/// name give two findings, which both refer to the first. Linear in the tools, as long as a name
/// has few spellings.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if subject.toolset.tools.len() < 2 {
        return;
    }
    // By the id in lower case: all different spellings so far, each with the first tool that has
    // it. The id and not the name, because a namespace tells two tools apart.
    let mut spellings: HashMap<String, Vec<(ToolId, ToolPath)>> = HashMap::new();
    for (at, tool) in subject.tools() {
        // Without the namespace of the toolset, which all tools of the document share.
        let Some(id) = tool.id(None) else { continue };
        // ASCII is enough: valid names have no other letters.
        match spellings.entry(id.to_string().to_ascii_lowercase()) {
            Entry::Vacant(entry) => drop(entry.insert(vec![(id, at)])),
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                // The same spelling again is a duplicate, which another rule reports as an error.
                if known.iter().any(|(other, _)| *other == id) {
                    continue;
                }
                let (other, place) = &known[0];
                let message = format!("`{}` and `{}` differ only in case", id.name, other.name);
                out.push(
                    RecordFinding::new(&CONFUSABLE_NAME, at.child("name"), message)
                        .related(place.child("name"), "the other tool")
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

    /// A list of tools with these names; `more` selects the format.
    fn list(names: &[&str], more: &str) -> String {
        let tools: Vec<String> =
            names.iter().map(|name| format!(r#"{{"name": "{name}", {more}}}"#)).collect();
        format!("[{}]", tools.join(","))
    }

    #[test]
    fn names_that_differ_only_in_case_are_reported() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["a", "b"], &[]),
            (&["getUrl", "getURL"], &["/1/name"]),
            (&["getUrl", "getURL", "geturl"], &["/1/name", "/2/name"]),
            // Equal names are duplicates, also if the first of them was reported here.
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
    fn names_in_different_namespaces_may_differ_only_in_case() {
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
    fn a_thousand_tools_are_compared_by_hash() {
        let names: Vec<String> =
            (0..1_000).map(|n| format!("{}{}", ["t", "T"][n % 2], n / 2)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(count(&super::RULE, &list(&names, r#""capabilities": []"#)), 500);
    }
}
