//! A browser tool says what it returns (btcp tool: recommended).

use toolwright_model::FieldValue;
use toolwright_source::RecordFinding;

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    MISSING_OUTPUT_SCHEMA Info "A tool does not say what it returns. BTCP recommends an `outputSchema`: an agent can then plan with the result before it calls, and a result of another shape is noticed."
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

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if !subject.conventions().wants_output_schema {
        return;
    }
    for (at, tool) in subject.tools().filter(|(_, tool)| tool.output == FieldValue::Missing) {
        let name = tool.name.ok().map_or("the tool", |name| name.as_str());
        let message = format!("`{name}` does not say what it returns");
        out.push(RecordFinding::new(&MISSING_OUTPUT_SCHEMA, at.child("outputSchema"), message));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::found;

    #[test]
    fn only_where_it_is_recommended() {
        for (text, places) in [
            (r#"{"name": "a", "capabilities": []}"#, &["/outputSchema"][..]),
            (r#"{"btcp": "1.0", "tools": [{}, {"outputSchema": {}}]}"#, &["/tools/0/outputSchema"]),
            // A bad one is another finding.
            (r#"{"name": "a", "capabilities": [], "outputSchema": 7}"#, &[]),
            (r#"{"name": "a", "inputSchema": {}}"#, &[]),
        ] {
            let expected: Vec<String> =
                places.iter().map(|at| format!("MISSING_OUTPUT_SCHEMA at {at}")).collect();
            assert_eq!(found("MISSING_OUTPUT_SCHEMA", text), expected, "{text}");
        }
    }
}
