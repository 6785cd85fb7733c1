//! The examples of an AIOS 2.0 command cover at least one success and one failure.
//!
//! Source: AIOS 2.0, required scenarios and validation rule 7. `success` and a failure are warnings
//! if missing; `failure_api_error` and an edge case are notes. A command without examples is a
//! note, because examples as a whole are optional.
//!
//! ```text
//! no examples at all ............... one note for the document
//! examples, but not for a command .. one note for the command
//! examples for the command ......... what is missing among its scenarios
//! ```
//!
//! Silent about: AIOS 1.0, examples that are malformed or that were not read to their end (they may
//! show anything), and lists in which one example has no readable scenario.
//!
//! No repair: an example must show something that its author knows.

use toolwright_model::{Draft, Example};
use toolwright_source::{RecordFinding, RecordPath, Severity, ValueKind, words};

use super::examples::{is_api_error, is_failure, is_success};
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    MISSING_SCENARIO Warning
        "The examples of a command lack a scenario. AIOS 2.0 requires at least one `success` \
         and one `failure_*` for every command that has examples: an agent learns from the pair \
         what to send and what to avoid, and the examples run as tests. `failure_api_error` and \
         `edge_case` are expected, too; a finding about them is only a note. Names such as \
         `success_*` and `edge_case_*` count as well.\n\n\
         Add an example with the scenario that the message names. A command without any example \
         gets one note."
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
      - scenario: failure_invalid_param
        input: {}
        error: {code: VALIDATION_ERROR, message: title is required}
      - scenario: failure_api_error
        input: {title: Printer on fire}
        error: {code: API_ERROR, message: the server is busy}
      - scenario: edge_case_long_title
        input: {title: "A title that is cut because it is too long"}
        output: {id: 8}
"#
    )
}

/// A note for the document or one for each command, as the header shows. What was malformed or not
/// read to its end is left alone.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // Stricter than `examples::are_by_scenario`: version 1.0 requires no scenarios, also where its
    // examples happen to use them.
    if !subject.has_scenarios() || subject.dialect != Some("2.0") {
        return;
    }
    // A malformed section was reported by its shape, and what it was meant to show is unknown.
    let section = RecordPath::root().child("examples");
    let written = subject.document_value(&section).filter(|node| node.kind() != ValueKind::Null);
    if written.is_some_and(|node| node.kind() != ValueKind::Map) {
        return;
    }
    let commands = subject.toolset.tools.len();
    // Examples of unknown commands are not in `tools`, so the section itself must be empty, too.
    let has_no_examples = subject.toolset.tools.iter().all(|tool| tool.details.examples.is_empty());
    if has_no_examples && written.is_none_or(|node| node.is_empty()) {
        // Examples are optional as a whole, so there is one note and not one for every command.
        if commands > 0 && !subject.is_unfinished(&RecordPath::root()) {
            let message = format!("no command has an example ({commands} in all)");
            out.push(
                RecordFinding::new(&MISSING_SCENARIO, section, message)
                    .on_key()
                    .severity(Severity::Info)
                    .help("each command can have `success`, `failure_*` and `edge_case` examples"),
            );
        }
        return;
    }
    for (at, tool) in subject.tools() {
        check_command(subject, at, tool, out);
    }
}

/// Reports the scenarios that the examples of one command lack.
///
/// `success` and `failure_…` are demanded by the specification, so they are a warning; the other
/// two are expected only, so they are a note. The finding is at the list of examples.
fn check_command(subject: &Subject<'_>, at: ToolPath, tool: &Draft, out: &mut Report<'_>) {
    // A command with a malformed name cannot be called, so its examples do not matter.
    let Some(name) = tool.name.ok() else { return };
    let list = subject.document_value(&at.child("examples"));
    let examples = &tool.details.examples;
    match list {
        // The part of the document behind a syntax error may have the examples.
        None if subject.is_unfinished(&RecordPath::root()) => return,
        Some(_) if subject.is_unfinished(&at.child("examples")) => return,
        None => {
            let message = format!("command `{name}` has no examples");
            let place = at.child("name");
            return out.push(
                RecordFinding::new(&MISSING_SCENARIO, place, message).severity(Severity::Info),
            );
        }
        // Malformed lists, examples and scenarios were reported. One of them may be the scenario
        // that seems to be missing.
        Some(node) if node.kind() != ValueKind::List => return,
        // The reader skips items that are not objects, so a difference in length means that an item
        // was malformed.
        Some(node) if node.len() != examples.len() => return,
        Some(_)
            if examples.iter().any(|example| example.scenario.as_deref().is_none_or(is_blank)) =>
        {
            return;
        }
        Some(_) => {}
    }
    let is_edge = |example: &Example| example.scenario.as_deref().is_some_and(is_edge_case);
    let lacks = |is: &dyn Fn(&Example) -> bool, name: &'static str| {
        (!examples.iter().any(is)).then_some(name)
    };
    // Two findings at most for each command, one for each severity, because a missing `success`
    // weighs more than a missing edge case.
    let required = [lacks(&is_success, "success"), lacks(&is_failure, "failure_*")];
    let expected = [lacks(&is_api_error, "failure_api_error"), lacks(&is_edge, "edge_case")];
    for (severity, names) in [(Severity::Warning, required), (Severity::Info, expected)] {
        let names: Vec<&str> = names.into_iter().flatten().collect();
        if names.is_empty() {
            continue;
        }
        // Joined by "or": "have no `success` or `failure_*` scenario" means that both are missing.
        let missing = words::alternatives(&names);
        let message = format!("the examples of `{name}` have no {missing} scenario");
        let finding = RecordFinding::new(&MISSING_SCENARIO, at.child("examples"), message);
        let finding = finding.on_key().severity(severity);
        out.push(match find_misspelled(&names, examples) {
            Some((given, name)) => {
                finding.help(format!("`{}` is spelled almost like `{name}`", words::shorten(given)))
            }
            None => finding,
        });
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Whether a scenario is an edge case; the rest of the name is free. `edge_cases` is not one: the
/// parts of a scenario are separated by `_`.
fn is_edge_case(scenario: &str) -> bool {
    scenario == "edge_case" || scenario.starts_with("edge_case_")
}

/// A given scenario whose name is close to a missing one, and the missing one: probably a spelling
/// mistake. Names of scenarios are an open set, so an unknown name is not reported by itself.
/// Example: `sucess` for `success`. It is help for the finding, not a finding.
fn find_misspelled<'a>(missing: &[&'a str], examples: &'a [Example]) -> Option<(&'a str, &'a str)> {
    let given = || examples.iter().filter_map(|example| example.scenario.as_deref());
    missing.iter().find_map(|name| {
        let near = words::nearest(name, given().filter(|word| word != name))?;
        Some((near, *name))
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{count, findings, found, messages};

    /// The required fields of an AIOS 2.0 tool.
    const HEAD: &str = "tool:\n  schema_version: 2.0\n  id: t\n  type: mcp\n  name: T\n  version: 1.0.0\n  description: Does things\n";

    fn tool(body: &str) -> String {
        format!("{HEAD}{body}")
    }

    /// A tool whose only command `a` has one example for each scenario.
    fn with_scenarios(scenarios: &[&str]) -> String {
        let list: Vec<String> = scenarios
            .iter()
            .map(|s| format!("      - {{scenario: {s}, input: {{}}, output: 1}}\n"))
            .collect();
        tool(&format!("  commands: [a]\n  examples:\n    a:\n{}", list.concat()))
    }

    /// Severity and message of each finding.
    fn severities_and_messages(text: &str) -> Vec<(&'static str, String)> {
        let found = findings(text).into_iter().filter(|f| f.code.name == "MISSING_SCENARIO");
        found.map(|f| (f.severity.name(), f.message)).collect()
    }

    /// The severity and the message of an expected finding.
    type ExpectedFinding = (&'static str, &'static str);

    #[test]
    fn missing_scenarios_are_reported_by_weight() {
        const NO_SUCCESS: ExpectedFinding =
            ("warning", "the examples of `a` have no `success` scenario");
        const NO_FAILURE: ExpectedFinding =
            ("warning", "the examples of `a` have no `failure_*` scenario");
        const NO_API: ExpectedFinding =
            ("info", "the examples of `a` have no `failure_api_error` scenario");
        const NO_EDGE: ExpectedFinding =
            ("info", "the examples of `a` have no `edge_case` scenario");
        const NEITHER: ExpectedFinding =
            ("info", "the examples of `a` have no `failure_api_error` or `edge_case` scenario");
        let cases: &[(&[&str], &[ExpectedFinding])] = &[
            (&["success", "failure_x", "failure_api_error", "edge_case"], &[]),
            (&["success_big", "failure_api_error", "edge_case_y"], &[]),
            (&["failure_api_error", "edge_case"], &[NO_SUCCESS]),
            (&["success", "edge_case"], &[NO_FAILURE, NO_API]),
            (&["success", "failure_x", "edge_case"], &[NO_API]),
            (&["success", "failure_api_error", "edge_cases"], &[NO_EDGE]),
            (&["successful", "failure_api_error", "edge_case"], &[NO_SUCCESS]),
            (&["success", "failure", "failure_api_error"], &[NO_EDGE]),
            (&["success", "failure_x"], &[NEITHER]),
            (
                &["x"],
                &[
                    ("warning", "the examples of `a` have no `success` or `failure_*` scenario"),
                    NEITHER,
                ],
            ),
        ];
        for (scenarios, expected) in cases {
            let expected: Vec<_> = expected.iter().map(|(s, m)| (*s, (*m).to_owned())).collect();
            assert_eq!(
                severities_and_messages(&with_scenarios(scenarios)),
                expected,
                "{scenarios:?}"
            );
        }
        let text = with_scenarios(&["success", "failure_api_error"]);
        assert_eq!(found("MISSING_SCENARIO", &text), ["MISSING_SCENARIO at /tool/examples/a"]);
        let text = with_scenarios(&["sucess", "failure_api_error", "edge_case"]);
        let help =
            findings(&text).into_iter().find(|f| f.code.name == "MISSING_SCENARIO").map(|f| f.help);
        assert_eq!(help, Some(vec!["`sucess` is spelled almost like `success`".to_owned()]));
    }

    #[test]
    fn commands_without_examples_get_a_note() {
        let some = "  commands: [a, b]\n  examples:\n    a:\n      - {scenario: success, input: {}, output: 1}\n      - {scenario: failure_api_error, input: {}, error: {}}\n      - {scenario: edge_case, input: {}, output: 1}\n";
        assert_eq!(
            severities_and_messages(&tool(some)),
            [("info", "command `b` has no examples".to_owned())]
        );
        assert_eq!(
            found("MISSING_SCENARIO", &tool(some)),
            ["MISSING_SCENARIO at /tool/commands/1"]
        );
        let none = [("info", "no command has an example (2 in all)".to_owned())];
        for body in [
            "  commands: [a, b]\n",
            "  commands: [a, b]\n  examples:\n",
            "  commands: [a, b]\n  examples: {}\n",
        ] {
            assert_eq!(severities_and_messages(&tool(body)), none, "{body}");
        }
        let empty = severities_and_messages(&tool("  commands: [a]\n  examples: {a: []}\n"));
        assert_eq!(empty.iter().map(|(s, _)| *s).collect::<Vec<_>>(), ["warning", "info"]);
    }

    #[test]
    fn nothing_is_reported_about_a_document_that_breaks_off() {
        for (body, findings) in [
            (
                "  commands: [a, b]\n  examples:\n    a:\n      - {scenario: success, input: {}, output: 1}\n",
                3,
            ),
            ("  commands: [a]\n", 1),
        ] {
            assert_eq!(count(&super::RULE, &tool(body)), findings, "{body}");
            assert_eq!(count(&super::RULE, &format!("{}      ...", tool(body))), 0, "{body}");
        }
    }

    #[test]
    fn malformed_examples_and_other_formats_are_not_checked() {
        for body in [
            // The commands are known only when the server is connected.
            "",
            // Reported elsewhere: the section, the list, an item, a scenario, a name.
            "  commands: [a]\n  examples: [1]\n",
            "  commands: [a]\n  examples: {a: 1}\n",
            "  commands: [a]\n  examples: {a: null}\n",
            "  commands: [a]\n  examples: {a: [7]}\n",
            "  commands: [a]\n  examples: {a: [{input: {}, output: 1}]}\n",
            "  commands: [a]\n  examples: {a: [{scenario: 7, input: {}, output: 1}]}\n",
            "  commands: ['!']\n  examples: {'!': []}\n",
        ] {
            assert_eq!(messages("MISSING_SCENARIO", &tool(body)), [""; 0], "{body}");
        }
        let first = with_scenarios(&["success"]).replace("2.0", "1.0");
        assert_eq!(messages("MISSING_SCENARIO", &first), [""; 0]);
        assert_eq!(messages("MISSING_SCENARIO", r#"{"name": "a", "inputSchema": {}}"#), [""; 0]);
    }
}
