//! The tools of a BTCP manifest or list have different names (btcp manifest, validation 3).

use std::collections::HashMap;

use toolwright_model::UniqueTools;
use toolwright_source::{RecordFinding, words};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    DUPLICATE_TOOL_NAME Error "Two tools of one BTCP manifest or list have the same name. A call names a tool by nothing else, so only one of the two can ever be called, and which one depends on the client.\n\nRename one of them. Names that differ in case alone are different names, and a warning of their own."
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

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if subject.conventions().unique_tools != UniqueTools::ByName {
        return;
    }
    let mut first = HashMap::new();
    for (at, tool) in subject.tools() {
        let Some(name) = tool.name.ok() else { continue };
        if let Some(first) = first.get(name) {
            let message = format!("another tool is called `{}` too", words::shorten(name.as_str()));
            out.push(
                RecordFinding::new(&DUPLICATE_TOOL_NAME, at.child("name"), message)
                    .related(ToolPath::child(*first, "name"), "the first one with this name"),
            );
        } else {
            first.insert(name, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{count, findings, found};

    fn tools(names: &[&str]) -> String {
        let tools: Vec<String> =
            names.iter().map(|name| format!(r#"{{"name": {name}, "capabilities": []}}"#)).collect();
        tools.join(",")
    }

    #[test]
    fn names_within_a_toolset() {
        let cases: &[(&[&str], &[&str])] = &[
            (&[r#""a""#, r#""b""#], &[]),
            (&[r#""a""#, r#""a""#], &["/tools/1/name"]),
            (&[r#""a""#, r#""b""#, r#""a""#, r#""a""#], &["/tools/2/name", "/tools/3/name"]),
            // Another case is another name.
            (&[r#""a""#, r#""A""#], &[]),
            // What is no name at all is another finding.
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
    fn the_first_place_is_shown() {
        let text = format!("[{}]", tools(&[r#""a""#, r#""b""#, r#""a""#]));
        let found = findings(&text).into_iter().find(|f| f.code.name == "DUPLICATE_TOOL_NAME");
        let related = found.expect("a finding").related;
        assert_eq!(related[0].0.as_str(), "/0/name");
    }

    #[test]
    fn another_format_has_ids() {
        let list = r#"[{"name": "a", "inputSchema": {"type": "object"}}, {"name": "a"}]"#;
        assert_eq!(found("DUPLICATE_TOOL_NAME", list), [""; 0]);
    }

    #[test]
    fn a_thousand_tools() {
        let names: Vec<String> = (0..1_000).map(|n| format!("\"t{}\"", n % 500)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(count(&super::RULE, &format!("[{}]", tools(&names))), 500);
    }
}
