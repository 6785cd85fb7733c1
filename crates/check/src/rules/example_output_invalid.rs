//! The output of an example is one that the tool gives.

use super::example_input_invalid::finding;
use super::examples;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::WhichSchema;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    EXAMPLE_OUTPUT_INVALID Error "The output of an example does not match the tool's own output schema. Whoever relies on the schema will refuse what the example promises. Nothing is coerced: `null` is a value like any other, and an example without `output` expects nothing in particular.\n\nCorrect the example, or let the schema allow what the tool really returns, for instance `\"type\": [\"string\", \"null\"]`."
    => (
        "tool.json",
        r#"{
  "name": "findUser",
  "description": "Finds the name of a user by number",
  "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}},
  "outputSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
  "capabilities": [],
  "examples": [{"input": {"id": 7}, "output": {"name": null}}]
}
"#,
        r#"{
  "name": "findUser",
  "description": "Finds the name of a user by number",
  "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}},
  "outputSchema": {"type": "object", "properties": {"name": {"type": ["string", "null"]}}},
  "capabilities": [],
  "examples": [{"input": {"id": 7}, "output": {"name": null}}]
}
"#
    )
}

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let by_scenario = examples::are_by_scenario(subject);
    for (tool, n, example) in examples::all(subject) {
        // A failure that has an output is crossed; its output is no result of the tool.
        let Some(output) = example.output.as_ref().filter(|_| !examples::is_failure(example))
        else {
            continue;
        };
        // Examples of AIOS 1.0 are free: what stands under `output` need not be the result.
        if out.is_full() || (subject.has_scenarios() && !by_scenario) {
            return;
        }
        let Some(failures) = subject.failures(tool, WhichSchema::Output, output) else { continue };
        let at = examples::place(tool, n).child("output");
        failures.iter().for_each(|f| out.push(finding(&EXAMPLE_OUTPUT_INVALID, f, &at, "output")));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::found;

    #[test]
    fn outputs_match_the_schema() {
        const TEXT: &str = r#"{"type": "object", "properties": {"t": {"type": "string"}}}"#;
        let cases: &[(&str, &str, &[&str])] = &[
            (TEXT, r#"[{"input": {}, "output": {"t": "x"}}]"#, &[]),
            (TEXT, r#"[{"input": {}, "output": {"t": null}}]"#, &["/examples/0/output/t"]),
            (TEXT, r#"[{"input": {}, "output": 7}]"#, &["/examples/0/output"]),
            // Null is a value, absent is none.
            (TEXT, r#"[{"input": {}, "output": null}]"#, &["/examples/0/output"]),
            (TEXT, r#"[{"input": {}}]"#, &[]),
            (r#"{"type": "null"}"#, r#"[{"input": {}, "output": null}]"#, &[]),
            // No schema, or one that is none.
            (r#"{"type": "nul"}"#, r#"[{"input": {}, "output": 7}]"#, &[]),
            ("null", r#"[{"input": {}, "output": 7}]"#, &[]),
            (TEXT, "null", &[]),
        ];
        for (schema, examples, at) in cases {
            let text = format!(
                r#"{{"name": "a", "inputSchema": {{"type": "object"}}, "outputSchema": {schema}, "examples": {examples}}}"#
            );
            let at: Vec<String> =
                at.iter().map(|at| format!("EXAMPLE_OUTPUT_INVALID at {at}")).collect();
            assert_eq!(found("EXAMPLE_OUTPUT_INVALID", &text), at, "{schema} {examples}");
        }
    }

    #[test]
    fn outputs_by_scenario() {
        for (version, example, bad) in [
            ("2.0", "{scenario: success, input: {}, output: 7}", true),
            ("2.0", "{scenario: edge_case, input: {}, output: 7}", true),
            ("2.0", "{scenario: success, input: {}, output: {}}", false),
            ("2.0", "{scenario: failure_x, input: {}, output: 7}", false),
            ("1.0", "{title: free, input: {}, output: 7}", false),
            ("1.0", "{scenario: success, input: {}, output: 7}", true),
        ] {
            let text = format!(
                "tool:\n  schema_version: {version}\n  id: t\n  type: mcp\n  tools: [{{id: a, outputSchema: {{type: object}}}}]\n  examples:\n    a: [{example}]\n"
            );
            let expected: &[&str] =
                if bad { &["EXAMPLE_OUTPUT_INVALID at /tool/examples/a/0/output"] } else { &[] };
            assert_eq!(found("EXAMPLE_OUTPUT_INVALID", &text), expected, "{example}");
        }
    }
}
