//! The output of an example is valid against the tool's output schema.
//!
//! Source: follows from BTCP tool, where an example is an invocation with its result, and from AIOS
//! 2.0, whose examples run as tests.
//!
//! Silent about: tools without a valid output schema, examples without `output` (they promise
//! nothing about it), failures, and examples of AIOS 1.0 that do not use scenarios.

use toolwright_schema::SchemaSide;

use super::example_input_invalid::findings;
use super::examples;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    EXAMPLE_OUTPUT_INVALID Error
        "The output of an example does not match the output schema of its own tool. A client \
         that validates results against the schema rejects what the example promises. Values \
         are not converted: `null` is a value like any other. An example without `output` \
         promises nothing and is not checked.\n\n\
         Correct the example, or let the schema allow what the tool really returns, for \
         instance `\"type\": [\"string\", \"null\"]`."
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

/// Validates the outputs one by one; a finding for each place in an output that is wrong. Examples
/// without an output have nothing to validate, and neither have tools without an output schema.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let by_scenario = examples::are_by_scenario(subject);
    for (tool, n, example) in examples::all(subject) {
        // EXAMPLE_OUTCOME_CROSSED reports a failure with an output. That output is not a result.
        let Some(output) = example.output.as_ref().filter(|_| !examples::is_failure(example))
        else {
            continue;
        };
        // AIOS 1.0 does not define the fields of examples: `output` need not be the result.
        if out.is_full(&EXAMPLE_OUTPUT_INVALID) || (subject.has_scenarios() && !by_scenario) {
            return;
        }
        // Without a valid output schema there are no failures. That is the common case: few tools
        // declare one.
        let Some(failures) = subject.failures(tool, SchemaSide::Output, output) else { continue };
        let at = examples::path(tool, n).child("output");
        failures
            .iter()
            .flat_map(|failure| findings(&EXAMPLE_OUTPUT_INVALID, failure, &at, "output"))
            .for_each(|finding| out.push(finding));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::found;

    #[test]
    fn outputs_that_do_not_match_the_schema_are_reported() {
        const TEXT: &str = r#"{"type": "object", "properties": {"t": {"type": "string"}}}"#;
        let cases: &[(&str, &str, &[&str])] = &[
            (TEXT, r#"[{"input": {}, "output": {"t": "x"}}]"#, &[]),
            (TEXT, r#"[{"input": {}, "output": {"t": null}}]"#, &["/examples/0/output/t"]),
            (TEXT, r#"[{"input": {}, "output": 7}]"#, &["/examples/0/output"]),
            // Null is a value; a missing output is not.
            (TEXT, r#"[{"input": {}, "output": null}]"#, &["/examples/0/output"]),
            (TEXT, r#"[{"input": {}}]"#, &[]),
            (r#"{"type": "null"}"#, r#"[{"input": {}, "output": null}]"#, &[]),
            // No schema, or an invalid one.
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
    fn outputs_of_scenarios_that_succeed_are_checked() {
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
