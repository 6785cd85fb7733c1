//! The tools of a BTCP manifest or list have different names.
//!
//! Source: BTCP manifest, validation rule 3 (a must). For lists of tools without a manifest, the
//! same reason holds: a call names a tool by its name and by nothing else.
//!
//! Silent about: formats that identify tools by id (`DUPLICATE_ID`), malformed names (the shape
//! reports them), and names that differ in case (`CONFUSABLE_NAME`).
//!
//! An error for manifests and lists alike: which of the two a call reaches depends on the client,
//! so no client can be relied on.

use std::collections::HashMap;

use toolwright_model::UniqueTools;
use toolwright_source::{RecordFinding, words};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    DUPLICATE_TOOL_NAME Error
        "Two tools of one BTCP manifest or list have the same name. A call names a tool by its \
         name alone, so only one of the two can be called, and which one depends on the client.\n\n\
         Rename one of them. Names that differ only in case count as different; they are \
         reported as `CONFUSABLE_NAME`."
    => (
        "manifest.json",
        r#"{
  "btcp": "1.0",
  "name": "page-tools",
  "version": "1.0.0",
  "capabilities": ["dom:read"],
  "tools": [{
    "name": "listLinks",
    "description": "Lists the links of the current page",
    "inputSchema": {"type": "object", "additionalProperties": false},
    "capabilities": ["dom:read"]
  }, {
    "name": "listLinks",
    "description": "Lists the links of one part of the page",
    "inputSchema": {"type": "object", "additionalProperties": false},
    "capabilities": ["dom:read"]
  }]
}
"#,
        r#"{
  "btcp": "1.0",
  "name": "page-tools",
  "version": "1.0.0",
  "capabilities": ["dom:read"],
  "tools": [{
    "name": "listLinks",
    "description": "Lists the links of the current page",
    "inputSchema": {"type": "object", "additionalProperties": false},
    "capabilities": ["dom:read"]
  }, {
    "name": "listLinksOfPart",
    "description": "Lists the links of one part of the page",
    "inputSchema": {"type": "object", "additionalProperties": false},
    "capabilities": ["dom:read"]
  }]
}
"#
    )
}

/// A finding at each later tool of the same name, with the first one beside it.
///
/// Linear in the tools. `ToolPath` is kept and not a pointer, which is made only to report.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if subject.conventions().unique_tools != UniqueTools::ByName {
        return;
    }
    // For each name, the first tool that has it. Every later one is reported and points back to it.
    let mut first = HashMap::new();
    for (at, tool) in subject.tools() {
        // A malformed name cannot be called at all, so two of them do not compete for calls.
        let Some(name) = tool.name.ok() else { continue };
        if let Some(first) = first.get(name) {
            // No repair: only the author can choose another name, and its callers must learn of it.
            let message = format!("another tool is called `{}` too", words::shorten(name.as_str()));
            out.push(
                RecordFinding::new(&DUPLICATE_TOOL_NAME, at.child("name"), message)
                    .related(ToolPath::child(*first, "name"), "the first tool with this name"),
            );
        } else {
            first.insert(name, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{count, findings, found};

    /// The members of a list of BTCP tools. Names are JSON, so that a test can use other types.
    fn tools(names: &[&str]) -> String {
        let tools: Vec<String> =
            names.iter().map(|name| format!(r#"{{"name": {name}, "capabilities": []}}"#)).collect();
        tools.join(",")
    }

    #[test]
    fn tools_of_one_toolset_have_different_names() {
        let cases: &[(&[&str], &[&str])] = &[
            (&[r#""a""#, r#""b""#], &[]),
            (&[r#""a""#, r#""a""#], &["/tools/1/name"]),
            (&[r#""a""#, r#""b""#, r#""a""#, r#""a""#], &["/tools/2/name", "/tools/3/name"]),
            // Names that differ in case are different.
            (&[r#""a""#, r#""A""#], &[]),
            // Malformed names are reported by their shape.
            (&[r#""""#, r#""""#, "null", "null", "7", "7", r#"" ""#, r#"" ""#], &[]),
            (&[r#""a b""#, r#""a b""#], &[]),
        ];
        for (names, at) in cases {
            let expected: Vec<String> =
                at.iter().map(|at| format!("DUPLICATE_TOOL_NAME at {at}")).collect();
            let manifest = format!(r#"{{"btcp": "1.0", "tools": [{}]}}"#, tools(names));
            let list = format!(r#"{{"tools": [{}]}}"#, tools(names));
            assert_eq!(found("DUPLICATE_TOOL_NAME", &manifest), expected, "{names:?}");
            assert_eq!(found("DUPLICATE_TOOL_NAME", &list), expected, "{names:?}");
        }
        let bare = format!("[{}]", tools(&[r#""a""#, r#""a""#]));
        assert_eq!(found("DUPLICATE_TOOL_NAME", &bare), ["DUPLICATE_TOOL_NAME at /1/name"]);
    }

    #[test]
    fn the_finding_points_to_the_first_tool_of_the_name() {
        let text = format!("[{}]", tools(&[r#""a""#, r#""b""#, r#""a""#]));
        let found = findings(&text).into_iter().find(|f| f.code.name == "DUPLICATE_TOOL_NAME");
        let related = found.expect("a finding").related;
        assert_eq!(related[0].0.as_str(), "/0/name");
    }

    #[test]
    fn formats_that_identify_tools_by_id_are_not_checked() {
        let list = r#"[{"name": "a", "inputSchema": {"type": "object"}}, {"name": "a"}]"#;
        assert_eq!(found("DUPLICATE_TOOL_NAME", list), [""; 0]);
    }

    #[test]
    fn a_thousand_tools_are_compared_by_hash() {
        let names: Vec<String> = (0..1_000).map(|n| format!("\"t{}\"", n % 500)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(count(&super::RULE, &format!("[{}]", tools(&names))), 500);
    }
}
