//! The input of an example is one that the tool takes.

use toolwright_model::{Example, Json};
use toolwright_schema::ValidationError;
use toolwright_source::{DiagnosticCode, RecordFinding, RecordPath};

use super::{examples, parameters};
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::WhichSchema;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    EXAMPLE_INPUT_INVALID Error "The input of an example does not match the tool's own input schema. Agents copy examples, so a wrong one makes them send calls that are refused; and when schema and example disagree, one of them is not what the author meant.\n\nCorrect the example, or the schema if the example is right. Examples that expect a failure are meant to be wrong and are not held against the schema, except `failure_api_error`, whose arguments are good and whose call fails later."
    => (
        "tool.json",
        r#"{
  "name": "addNumbers",
  "description": "Adds two numbers and returns their sum",
  "inputSchema": {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"]
  },
  "capabilities": [],
  "examples": [{"input": {"a": 1, "b": "2"}}]
}
"#,
        r#"{
  "name": "addNumbers",
  "description": "Adds two numbers and returns their sum",
  "inputSchema": {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"]
  },
  "capabilities": [],
  "examples": [{"input": {"a": 1, "b": 2}}]
}
"#
    )
}

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let by_scenario = examples::are_by_scenario(subject);
    for (tool, n, example) in examples::all(subject) {
        let Some(input) = example.input.as_ref().filter(|input| is_input(subject, input)) else {
            continue;
        };
        // Examples of AIOS 1.0 are free: what stands under `input` need not be the arguments.
        if out.is_full() || (subject.has_scenarios() && !by_scenario) {
            return;
        }
        // What stands in for a schema that nobody wrote is a matter of how the tool is run.
        if parameters::authored_place(subject, tool).is_none() {
            continue;
        }
        let Some(failures) = subject.failures(tool, WhichSchema::Input, input) else { continue };
        let at = examples::place(tool, n);
        if !expects_bad_input(subject, &at, example) {
            let at = at.child("input");
            failures
                .iter()
                .for_each(|f| out.push(finding(&EXAMPLE_INPUT_INVALID, f, &at, "input")));
        }
    }
}

/// Where arguments must be an object, anything else was reported by its shape.
fn is_input(subject: &Subject<'_>, input: &Json) -> bool {
    input.is_object() || subject.has_scenarios()
}

fn expects_bad_input(subject: &Subject<'_>, at: &RecordPath, example: &Example) -> bool {
    !examples::is_api_error(example)
        && (examples::is_failure(example) || examples::has_error(subject, at, example))
}

/// What a schema has against a part of an example; `at` is the place of the instance.
pub(super) fn finding(
    code: &'static DiagnosticCode,
    failure: &ValidationError,
    at: &RecordPath,
    side: &str,
) -> RecordFinding {
    let inside = RecordPath::parse(&failure.instance_path).unwrap_or_default();
    let finding = RecordFinding::new(code, at.join(&inside), failure.message.clone());
    match failure.schema_path.as_str() {
        "" => finding,
        path => finding.help(format!("the {side} schema says so at `{path}`")),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{findings, found};

    fn btcp(schema: &str, examples: &str) -> String {
        format!(r#"{{"name": "a", "inputSchema": {schema}, "examples": {examples}}}"#)
    }

    fn aios(version: &str, schema: &str, example: &str) -> String {
        format!(
            "tool:\n  schema_version: {version}\n  id: t\n  type: mcp\n  tools:\n    - id: a\n{schema}  examples:\n    a:\n      - {example}\n"
        )
    }

    const N: &str =
        r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;
    const Y: &str =
        "      inputSchema: {type: object, properties: {n: {type: integer}}, required: [n]}\n";

    #[test]
    fn inputs_match_the_schema() {
        let cases: &[(&str, &str, &[&str])] = &[
            (N, r#"[{"input": {"n": 1}}]"#, &[]),
            (N, "[]", &[]),
            (N, r#"[{"input": {"n": "1"}}]"#, &["/examples/0/input/n"]),
            (N, r#"[{"input": {}}]"#, &["/examples/0/input"]),
            (N, r#"[{"input": {"n": 1}}, {"input": {"n": null}}]"#, &["/examples/1/input/n"]),
            // The places are right behind an item that is no example.
            (N, r#"[7, {"input": {"n": true}}]"#, &["/examples/1/input/n"]),
            // Every failure, and names with characters that pointers escape.
            (
                r#"{"type": "object", "properties": {"a/b": {"items": {"type": "null"}}}, "maxProperties": 0}"#,
                r#"[{"input": {"a/b": [null, 1]}}]"#,
                &["/examples/0/input", "/examples/0/input/a~1b/1"],
            ),
            // What is wrong already: no input, no object, a schema that is none.
            (N, r#"[{}, {"input": null}, {"input": 7}, {"input": [1]}]"#, &[]),
            (r#"{"type": "objekt"}"#, r#"[{"input": {"n": 1}}]"#, &[]),
            ("null", r#"[{"input": {"n": 1}}]"#, &[]),
            (N, r#"{"input": {}}"#, &[]),
        ];
        for (schema, examples, at) in cases {
            let mut got = found("EXAMPLE_INPUT_INVALID", &btcp(schema, examples));
            got.sort();
            let at: Vec<String> =
                at.iter().map(|at| format!("EXAMPLE_INPUT_INVALID at {at}")).collect();
            assert_eq!(got, at, "{schema} {examples}");
        }
    }

    #[test]
    fn examples_that_are_meant_to_be_wrong() {
        for (schema, example, bad) in [
            (Y, "{scenario: success, input: {n: x}, output: 1}", true),
            (Y, "{scenario: success, input: {n: 1}, output: 1}", false),
            (Y, "{scenario: success, input: 7, output: 1}", true),
            (Y, "{scenario: failure_invalid_param, input: {n: x}, error: {code: E}}", false),
            (Y, "{scenario: failure_other, input: {n: x}}", false),
            (Y, "{scenario: failure_api_error, input: {n: x}, error: {code: E}}", true),
            (Y, "{scenario: edge_case_x, input: {n: x}, error: {code: E}}", false),
            (Y, "{scenario: edge_case_x, input: {n: x}, error: a text}", false),
            (Y, "{scenario: edge_case_x, input: {n: x}, error: null, output: 1}", true),
            (Y, "{scenario: edge_case_x, input: {n: x}, output: 1}", true),
            // The server's schema is not known yet.
            ("", "{scenario: success, input: {n: x}, output: 1}", false),
        ] {
            let got = found("EXAMPLE_INPUT_INVALID", &aios("2.0", schema, example));
            assert_eq!(!got.is_empty(), bad, "{example}: {got:?}");
        }
        // Examples of version 1 are free, unless they are by scenario.
        let free = aios("1.0", Y, "{title: Shows it, input: {n: x}}");
        assert_eq!(found("EXAMPLE_INPUT_INVALID", &free), [""; 0]);
        let scenario = aios("1.0", Y, "{scenario: success, input: {n: x}, output: 1}");
        assert_eq!(
            found("EXAMPLE_INPUT_INVALID", &scenario),
            ["EXAMPLE_INPUT_INVALID at /tool/examples/a/0/input/n"]
        );
    }

    #[test]
    fn places_behind_an_item_that_is_no_example() {
        let text = "tool:\n  schema_version: 2.0\n  id: t\n  type: mcp\n  tools:\n    - id: a\n";
        let text = format!(
            "{text}{Y}  examples:\n    a:\n      - text\n      - {{scenario: success, input: {{n: x}}, output: 1}}\n"
        );
        assert_eq!(
            found("EXAMPLE_INPUT_INVALID", &text),
            ["EXAMPLE_INPUT_INVALID at /tool/examples/a/1/input/n"]
        );
    }

    #[test]
    fn what_people_read() {
        let text = btcp(N, r#"[{"input": {"n": "x"}}]"#);
        let finding = findings(&text).into_iter().find(|f| f.code.name == "EXAMPLE_INPUT_INVALID");
        let (message, help) = finding.map(|f| (f.message, f.help)).unwrap_or_default();
        assert_eq!(message, "`\"x\"` is not of type `integer`");
        assert_eq!(help, ["the input schema says so at `/properties/n/type`"]);
    }
}
