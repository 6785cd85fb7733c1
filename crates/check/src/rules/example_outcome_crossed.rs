//! The outcome of an example fits its scenario: `success…` has an output, `failure_…` has an error.
//!
//! Source: AIOS 2.0, scenarios of examples. `edge_case…` may have either.
//!
//! Silent about: examples with both outcomes or with none (`EXAMPLE_OUTCOME_MISSING`), scenarios of
//! other names, and examples of AIOS 1.0 that do not use scenarios.
//!
//! ```text
//! success, success_empty      with `error`    reported
//! failure_invalid_param       with `output`   reported
//! edge_case, anything_else    with either     fine
//! successful                  with `error`    fine: not a name of the specification
//! ```

use toolwright_source::{RecordFinding, words};

use super::examples;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    EXAMPLE_OUTCOME_CROSSED Warning
        "The scenario of an example contradicts its outcome: a `success` expects an `error`, or \
         a `failure_*` expects an `output`. Readers learn the wrong thing from it, and run as a \
         test it expects the opposite of its name.\n\n\
         Rename the scenario, or replace the outcome. An `edge_case` may have either."
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
        output: {id: 7}
      - scenario: failure_api_error
        input: {title: Printer on fire}
        output: {status: 503}
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

/// One finding for each example, at the outcome that does not fit its scenario.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    if !examples::are_by_scenario(subject) {
        return;
    }
    for (tool, n, example) in examples::all(subject) {
        // With both outcomes it is unclear which one was meant: EXAMPLE_OUTCOME_MISSING reports
        // that.
        let (given, wanted) = match (&example.output, &example.error) {
            // Edge cases and scenarios of other names match neither arm: they may have either
            // outcome.
            (None, Some(_)) if examples::is_success(example) => ("error", "output"),
            (Some(_), None) if examples::is_failure(example) => ("output", "error"),
            _ => continue,
        };
        let at = examples::path(tool, n);
        // A malformed `error` is not in the record, but the author meant a failure. Its shape was
        // reported.
        if given == "output" && examples::has_error(subject, &at, example) {
            continue;
        }
        let scenario = words::shorten(example.scenario.as_deref().unwrap_or_default());
        let message = format!("scenario `{scenario}` has `{given}`, expected `{wanted}`");
        out.push(
            // No repair: the scenario may be wrong as well as the outcome, and only the author
            // knows which call the example is about.
            RecordFinding::new(&EXAMPLE_OUTCOME_CROSSED, at.child(given), message)
                .on_key()
                .related(at.child("scenario"), "this scenario expects the other outcome"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, messages};

    /// An AIOS tool of this version with one command and one example.
    fn tool(version: &str, example: &str) -> String {
        format!(
            "tool:\n  schema_version: {version}\n  id: t\n  type: mcp\n  commands: [a]\n  examples:\n    a:\n      - {example}\n"
        )
    }

    #[test]
    fn outcomes_that_contradict_the_scenario_are_reported() {
        for (version, example, place) in [
            ("2.0", "{scenario: success, input: {}, output: 1}", None),
            ("2.0", "{scenario: failure_x, input: {}, error: {}}", None),
            ("2.0", "{scenario: edge_case, input: {}, error: {}}", None),
            ("2.0", "{scenario: edge_case, input: {}, output: 1}", None),
            ("2.0", "{scenario: successful, input: {}, error: {}}", None),
            ("2.0", "{scenario: success, input: {}, error: {}}", Some("error")),
            ("2.0", "{scenario: success_two, input: {}, error: {}}", Some("error")),
            ("2.0", "{scenario: failure_api_error, input: {}, output: 1}", Some("output")),
            ("2.0", "{scenario: failure_x, input: {}, output: null}", Some("output")),
            ("2.0", "{scenario: failure_x, input: {}, output: 1, error: null}", Some("output")),
            // Both outcomes, none, or a malformed one are reported elsewhere.
            ("2.0", "{scenario: failure_x, input: {}, output: 1, error: {}}", None),
            ("2.0", "{scenario: failure_x, input: {}, output: 1, error: a text}", None),
            ("2.0", "{scenario: success, input: {}}", None),
            ("2.0", "{scenario: null, input: {}, error: {}}", None),
            ("1.0", "{scenario: success_two, input: {}, error: {}}", None),
            ("1.0", "{scenario: success, input: {}, error: {}}", Some("error")),
        ] {
            let place = place.map(|p| format!("EXAMPLE_OUTCOME_CROSSED at /tool/examples/a/0/{p}"));
            let expected: Vec<String> = place.into_iter().collect();
            assert_eq!(
                found("EXAMPLE_OUTCOME_CROSSED", &tool(version, example)),
                expected,
                "{example}"
            );
        }
        assert_eq!(
            messages(
                "EXAMPLE_OUTCOME_CROSSED",
                &tool("2.0", "{scenario: success, input: {}, error: {}}")
            ),
            ["scenario `success` has `error`, expected `output`"]
        );
    }
}
