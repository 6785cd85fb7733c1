//! A BTCP tool has an `outputSchema`.
//!
//! Source: BTCP tool, `outputSchema`: optional but recommended, so this is a note. The formats that
//! recommend it set `wants_output_schema` in their conventions.
//!
//! Silent about a malformed output schema, which is an error of its own.

use toolwright_model::FieldValue;
use toolwright_source::RecordFinding;

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    MISSING_OUTPUT_SCHEMA Info
        "A tool has no `outputSchema`. BTCP recommends one: an agent can then plan with the \
         result before it calls the tool, and a result of another shape is detected.\n\n\
         Add an `outputSchema` that describes the result."
    => (
        "tool.json",
        r#"{
  "name": "readTitle",
  "description": "Reads the title of the page",
  "inputSchema": {"type": "object", "additionalProperties": false},
  "capabilities": ["dom:read"]
}
"#,
        r#"{
  "name": "readTitle",
  "description": "Reads the title of the page",
  "inputSchema": {"type": "object", "additionalProperties": false},
  "outputSchema": {"type": "string"},
  "capabilities": ["dom:read"]
}
"#
    )
}

/// One finding for each tool. Its path does not exist, so it is shown at the tool.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if !subject.conventions().wants_output_schema {
        return;
    }
    for (at, tool) in subject.tools().filter(|(_, tool)| tool.output == FieldValue::Missing) {
        // A tool with a malformed name has no name to show; the position identifies it.
        let message = match tool.name.ok() {
            Some(name) => format!("tool `{name}` has no `outputSchema`"),
            None => "this tool has no `outputSchema`".to_owned(),
        };
        out.push(RecordFinding::new(&MISSING_OUTPUT_SCHEMA, at.child("outputSchema"), message));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::found;

    #[test]
    fn a_missing_output_schema_is_reported_where_it_is_recommended() {
        for (text, places) in [
            (r#"{"name": "a", "capabilities": []}"#, &["/outputSchema"][..]),
            (r#"{"btcp": "1.0", "tools": [{}, {"outputSchema": {}}]}"#, &["/tools/0/outputSchema"]),
            // A malformed schema is reported by its shape.
            (r#"{"name": "a", "capabilities": [], "outputSchema": 7}"#, &[]),
            (r#"{"name": "a", "inputSchema": {}}"#, &[]),
        ] {
            let expected: Vec<String> =
                places.iter().map(|at| format!("MISSING_OUTPUT_SCHEMA at {at}")).collect();
            assert_eq!(found("MISSING_OUTPUT_SCHEMA", text), expected, "{text}");
        }
    }
}
