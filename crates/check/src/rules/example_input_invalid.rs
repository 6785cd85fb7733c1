//! The input of an example is valid against the tool's input schema.
//!
//! Source: follows from BTCP tool, where an example is an invocation of the tool, and from AIOS
//! 2.0, whose examples run as tests.
//!
//! Which examples are checked:
//!
//! ```text
//! BTCP                        every input that is an object
//! AIOS 2.0, by scenario       success, edge cases that return, failure_api_error
//!                             not: failures that the input is meant to cause
//! AIOS 1.0                    only where it uses scenarios; its examples have no defined fields
//! ```
//!
//! Also silent where the tool has no valid schema (that is reported), and where the reader filled
//! in a schema for a program or a script: the author of the example has never seen that schema.
//!
//! Each finding is at the wrong place inside of the input, so that a person sees which argument it
//! is. No repair: the example or the schema may be wrong.

use toolwright_model::{Example, Json};
use toolwright_schema::{SchemaSide, ValidationError};
use toolwright_source::{DiagnosticCode, RecordFinding, RecordPath};

use super::{examples, parameters};
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    EXAMPLE_INPUT_INVALID Error
        "The input of an example does not match the input schema of its own tool. Agents copy \
         examples, so a wrong example makes them send calls that are rejected. If schema and \
         example disagree, at least one of them is a mistake.\n\n\
         Correct the example, or correct the schema if the example is right. Examples that \
         expect a failure are not checked, because their input is wrong on purpose. The \
         exception is `failure_api_error`: its input is valid and the call fails later, in the \
         API."
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

/// Validates the inputs one by one; a finding for each place in an input that is wrong. The cheap
/// tests come first, and those that look into the document last.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let by_scenario = examples::are_by_scenario(subject);
    for (tool, n, example) in examples::all(subject) {
        let Some(input) = example.input.as_ref().filter(|input| is_input(subject, input)) else {
            continue;
        };
        // AIOS 1.0 does not define the fields of examples: `input` need not be the arguments.
        // `is_full` stops the rule early: each input costs a validation, and a hostile document has
        // thousands of examples.
        if out.is_full(&EXAMPLE_INPUT_INVALID) || (subject.has_scenarios() && !by_scenario) {
            return;
        }
        // A schema that the reader filled in describes how the tool is run, not what its author
        // promised.
        if parameters::authored_path(subject, tool).is_none() {
            continue;
        }
        let Some(failures) = subject.failures(tool, SchemaSide::Input, input) else { continue };
        let at = examples::path(tool, n);
        // After the validation and not before it: nearly all inputs are valid, and this test may
        // have to look into the document.
        if !expects_bad_input(subject, &at, example) {
            let at = at.child("input");
            failures
                .iter()
                .flat_map(|failure| findings(&EXAMPLE_INPUT_INVALID, failure, &at, "input"))
                .for_each(|finding| out.push(finding));
        }
    }
}

/// Whether the value can be arguments at all. In BTCP an input that is not an object was reported
/// by its shape; in AIOS it may be any value, and the schema decides.
fn is_input(subject: &Subject<'_>, input: &Json) -> bool {
    input.is_object() || subject.has_scenarios()
}

/// Whether the example is meant to be rejected because of its input. `at` points to the example.
fn expects_bad_input(subject: &Subject<'_>, at: &RecordPath, example: &Example) -> bool {
    !examples::is_api_error(example)
        && (examples::is_failure(example) || examples::has_error(subject, at, example))
}

/// The findings for one error of an input or output against its schema. `at` points to the
/// instance; the findings point to the values inside it, or the keys, that are wrong. `side` is
/// `input` or `output`. Shared with `example_output_invalid`.
pub(super) fn findings(
    code: &'static DiagnosticCode,
    failure: &ValidationError,
    at: &RecordPath,
    side: &str,
) -> impl Iterator<Item = RecordFinding> {
    failure.places().into_iter().map(move |place| {
        // The validator counts paths from the instance. An unreadable one leads to the instance.
        let inside = RecordPath::parse(&place.path).unwrap_or_default();
        let finding = RecordFinding::new(code, at.join(&inside), place.message);
        let finding = if place.is_key { finding.on_key() } else { finding };
        match failure.schema_path.as_str() {
            // The schema as a whole rejects the value, so there is no keyword to name.
            "" => finding,
            path => finding.help(format!("required by the {side} schema at `{path}`")),
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{findings, found};

    /// A BTCP tool with this schema and these examples.
    fn btcp(schema: &str, examples: &str) -> String {
        format!(r#"{{"name": "a", "inputSchema": {schema}, "examples": {examples}}}"#)
    }

    /// An AIOS tool with one command `a`, its schema (a line of YAML or empty) and one example.
    fn aios(version: &str, schema: &str, example: &str) -> String {
        format!(
            "tool:\n  schema_version: {version}\n  id: t\n  type: mcp\n  tools:\n    - id: a\n{schema}  examples:\n    a:\n      - {example}\n"
        )
    }

    /// A schema that requires an integer `n`.
    const N: &str =
        r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;
    /// The same schema as a line of YAML.
    const Y: &str =
        "      inputSchema: {type: object, properties: {n: {type: integer}}, required: [n]}\n";

    #[test]
    fn inputs_that_do_not_match_the_schema_are_reported() {
        let cases: &[(&str, &str, &[&str])] = &[
            (N, r#"[{"input": {"n": 1}}]"#, &[]),
            (N, "[]", &[]),
            (N, r#"[{"input": {"n": "1"}}]"#, &["/examples/0/input/n"]),
            (N, r#"[{"input": {}}]"#, &["/examples/0/input"]),
            (N, r#"[{"input": {"n": 1}}, {"input": {"n": null}}]"#, &["/examples/1/input/n"]),
            // Pointers stay right after an item that is not an example.
            (N, r#"[7, {"input": {"n": true}}]"#, &["/examples/1/input/n"]),
            // Unexpected properties, each at its key.
            (
                r#"{"type": "object", "properties": {"n": {}}, "additionalProperties": false}"#,
                r#"[{"input": {"n": 1, "x": 1, "y/z": 2}}]"#,
                &["/examples/0/input/x", "/examples/0/input/y~1z"],
            ),
            // Every failure, and names with characters that pointers escape.
            (
                r#"{"type": "object", "properties": {"a/b": {"items": {"type": "null"}}}, "maxProperties": 0}"#,
                r#"[{"input": {"a/b": [null, 1]}}]"#,
                &["/examples/0/input", "/examples/0/input/a~1b/1"],
            ),
            // Reported elsewhere: no input, not an object, an invalid schema.
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
    fn inputs_that_are_wrong_on_purpose_are_not_reported() {
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
            // The schema is known only when the server is connected.
            ("", "{scenario: success, input: {n: x}, output: 1}", false),
        ] {
            let got = found("EXAMPLE_INPUT_INVALID", &aios("2.0", schema, example));
            assert_eq!(!got.is_empty(), bad, "{example}: {got:?}");
        }
        // Examples of version 1.0 are checked only if they use scenarios.
        let free = aios("1.0", Y, "{title: Shows it, input: {n: x}}");
        assert_eq!(found("EXAMPLE_INPUT_INVALID", &free), [""; 0]);
        let scenario = aios("1.0", Y, "{scenario: success, input: {n: x}, output: 1}");
        assert_eq!(
            found("EXAMPLE_INPUT_INVALID", &scenario),
            ["EXAMPLE_INPUT_INVALID at /tool/examples/a/0/input/n"]
        );
    }

    #[test]
    fn pointers_are_right_after_an_item_that_is_not_an_example() {
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
    fn the_help_names_the_keyword_of_the_schema() {
        let text = btcp(N, r#"[{"input": {"n": "x"}}]"#);
        let finding = findings(&text).into_iter().find(|f| f.code.name == "EXAMPLE_INPUT_INVALID");
        let (message, help) = finding.map(|f| (f.message, f.help)).unwrap_or_default();
        assert_eq!(message, "`\"x\"` is not of type `integer`");
        assert_eq!(help, ["required by the input schema at `/properties/n/type`"]);
    }
}
