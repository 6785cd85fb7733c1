//! An example that is a scenario has exactly one outcome: `output` or `error`.
//!
//! Source: AIOS 2.0, validation rule 7.
//!
//! `output: null` is an outcome, because a tool may return null; `error: null` is not, because
//! there is no empty error. Silent about: malformed errors (the shape reports them), examples that
//! were not read to their end, and examples of AIOS 1.0 that do not use scenarios.
//!
//! An error, because an example without an outcome cannot be run as a test. No repair: an outcome
//! cannot be guessed, and of two the author must choose.

use toolwright_source::RecordFinding;

use super::examples;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    EXAMPLE_OUTCOME_MISSING Error
        "An AIOS 2.0 example must have exactly one of `output` (the call succeeds) and `error` \
         (the call fails). Without an outcome the example shows nothing and cannot be run as a \
         test. With both outcomes it is unclear which one is expected.\n\n\
         Add the missing outcome, or remove one of the two. `output: null` is an outcome: the \
         call is expected to return null."
    => (
        "tickets.yaml",
        r#"tool:
  schema_version: 2.0
  id: tickets
  type: mcp
  name: Tickets
  version: 1.0.0
  description: Creates tickets
  mcp_specific: {server_command: npx tickets-server}
  commands: [create_ticket]
  examples:
    create_ticket:
      - scenario: success
        input: {title: Printer on fire}
      - scenario: failure_api_error
        input: {title: Printer on fire}
        error: {code: API_ERROR, message: the server is busy}
"#,
        r#"tool:
  schema_version: 2.0
  id: tickets
  type: mcp
  name: Tickets
  version: 1.0.0
  description: Creates tickets
  mcp_specific: {server_command: npx tickets-server}
  commands: [create_ticket]
  examples:
    create_ticket:
      - scenario: success
        input: {title: Printer on fire}
        output: {id: 7}
      - scenario: failure_api_error
        input: {title: Printer on fire}
        error: {code: API_ERROR, message: the server is busy}
"#
    )
}

/// At most one finding for each example: at the missing outcome, or at the second one.
///
/// Whether the single outcome fits the scenario is `EXAMPLE_OUTCOME_CROSSED`.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if !examples::are_by_scenario(subject) {
        return;
    }
    // The pointer is made inside the arms: it allocates, and nearly all examples have exactly one
    // outcome.
    for (tool, n, example) in examples::all(subject) {
        match (&example.output, &example.error) {
            (None, None) => {
                let at = examples::path(tool, n);
                // Both tests read the document, so they come after the record has shown a mistake.
                // An `error` of the wrong type is in the document only, and an outcome may also
                // follow behind a syntax error.
                if !examples::has_error(subject, &at, example) && !subject.is_unfinished(&at) {
                    let message = "the example has neither `output` nor `error`";
                    // The pointer names the outcome that the scenario suggests. It does not exist,
                    // so the finding is shown at the example around it.
                    let missing = if examples::is_failure(example) { "error" } else { "output" };
                    out.push(
                        RecordFinding::new(&EXAMPLE_OUTCOME_MISSING, at.child(missing), message)
                            .help("add `output` if the call succeeds, `error` if it fails"),
                    );
                }
            }
            (Some(_), Some(_)) => {
                let at = examples::path(tool, n);
                out.push(
                    RecordFinding::new(
                        &EXAMPLE_OUTCOME_MISSING,
                        at.child("error"),
                        "the example has both `output` and `error`",
                    )
                    .on_key()
                    // The two keys may be many lines apart, so the finding shows both.
                    .related(at.child("output"), "the `output` of the same example")
                    .help("an example has exactly one of them"),
                );
            }
            // Exactly one outcome. Whether it fits the scenario is EXAMPLE_OUTCOME_CROSSED.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{count, found, messages};

    /// An AIOS tool of this version with one command and one example.
    fn tool(version: &str, example: &str) -> String {
        format!(
            "tool:\n  schema_version: {version}\n  id: t\n  type: mcp\n  commands: [a]\n  examples:\n    a:\n      - {example}\n"
        )
    }

    #[test]
    fn an_example_has_exactly_one_outcome() {
        for (version, example, place) in [
            ("2.0", "{scenario: success, input: {}, output: 1}", None),
            ("2.0", "{scenario: success, input: {}, output: null}", None),
            ("2.0", "{scenario: failure_x, input: {}, error: {code: E}}", None),
            ("2.0", "{scenario: failure_x, input: {}, error: {}}", None),
            ("2.0", "{scenario: success, input: {}}", Some("output")),
            ("2.0", "{scenario: failure_x, input: {}}", Some("error")),
            ("2.0", "{scenario: failure_x, input: {}, error: null}", Some("error")),
            ("2.0", "{scenario: success, input: {}, output: null, error: {}}", Some("error")),
            ("2.0", "{input: {}}", Some("output")),
            // A malformed error is reported by its shape.
            ("2.0", "{scenario: failure_x, input: {}, error: a text}", None),
            ("2.0", "{scenario: success, input: {}, output: 1, error: a text}", None),
            ("2.0", "7", None),
            // Examples of version 1.0 are checked only if they use scenarios.
            ("1.0", "{input: {}}", None),
            ("1.0", "{scenario: success, input: {}}", Some("output")),
        ] {
            let place = place.map(|p| format!("EXAMPLE_OUTCOME_MISSING at /tool/examples/a/0/{p}"));
            let expected: Vec<String> = place.into_iter().collect();
            assert_eq!(
                found("EXAMPLE_OUTCOME_MISSING", &tool(version, example)),
                expected,
                "{example}"
            );
        }
        let btcp = r#"{"name": "a", "examples": [{"input": {}}]}"#;
        assert_eq!(found("EXAMPLE_OUTCOME_MISSING", btcp), [""; 0]);
    }

    #[test]
    fn an_example_that_breaks_off_is_not_reported() {
        let whole = tool("2.0", "scenario: success\n        input: {}");
        assert_eq!(count(&super::RULE, &whole), 1);
        assert_eq!(count(&super::RULE, &format!("{whole}        ...")), 0);
    }

    #[test]
    fn messages_say_which_outcomes_are_there() {
        let none = tool("2.0", "{scenario: success, input: {}}");
        let both = tool("2.0", "{scenario: success, input: {}, output: 1, error: {}}");
        assert_eq!(
            messages("EXAMPLE_OUTCOME_MISSING", &none),
            ["the example has neither `output` nor `error`"]
        );
        assert_eq!(
            messages("EXAMPLE_OUTCOME_MISSING", &both),
            ["the example has both `output` and `error`"]
        );
    }
}
