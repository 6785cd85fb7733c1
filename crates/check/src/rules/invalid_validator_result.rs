//! A validator returns `{ valid, errors }`: a boolean and a list of texts.
//!
//! Source: AIOS, validators (return format) and validation rule 4.
//!
//! This is a static check, so it reports only a `return` whose value is visibly wrong, such as a
//! boolean or an object literal without `errors`. A call, a variable or a conditional may have the
//! right value and is trusted. A validator that only throws is accepted; one that never returns is
//! not.
//!
//! ```text
//! return args.text !== undefined;            reported: a boolean
//! return { valid: false };                   reported: no `errors`
//! return check(args);                        trusted
//! throw new Error('text is missing');        accepted: a refusal, too
//! (no return)                                reported at the code
//! ```
//!
//! A warning: the validator may still work for the calls that do not reach this `return`. No
//! repair, as a boolean does not say which error to report.

use toolwright_source::RecordFinding;

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::FunctionList;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    INVALID_VALIDATOR_RESULT Warning
        "A validator must return an object with `valid`, a boolean, and `errors`, a list of \
         texts. This `return` visibly returns something else, so a call that reaches it would \
         be rejected without a reason. Only the code is read, nothing is run: a value that the \
         code does not show is trusted.\n\n\
         Return `{ valid: errors.length === 0, errors }`."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  mcp_specific: {server_command: notes-server}
  commands: [add_note]
  examples:
    add_note:
      - {scenario: success, input: {text: milk}, output: {id: 1}}
      - {scenario: failure_invalid_param, input: {}, error: {message: text is missing}}
  executable_knowledge:
    validators:
      - id: check-note
        validates: add_note
        language: javascript
        function: |
          function checkNote(args) {
            return args.text !== undefined;
          }
"#,
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  mcp_specific: {server_command: notes-server}
  commands: [add_note]
  examples:
    add_note:
      - {scenario: success, input: {text: milk}, output: {id: 1}}
      - {scenario: failure_invalid_param, input: {}, error: {message: text is missing}}
  executable_knowledge:
    validators:
      - id: check-note
        validates: add_note
        language: javascript
        function: |
          function checkNote(args) {
            const errors = args.text === undefined ? ['text is missing'] : [];
            return { valid: errors.length === 0, errors };
          }
"#
    )
}

/// A finding at each wrong `return`; one at the code if it never returns.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // Only validators: helpers and processors may return anything.
    for code in subject.functions().iter().filter(|code| code.role == FunctionList::Validator) {
        let (script, help) = (&code.script, "return `{ valid: errors.length === 0, errors }`");
        // Each wrong `return` is a finding at its own range. A validator often has several, one for
        // each reason to reject, and the author must change all of them.
        for wrong in &script.returns.wrong {
            let message = "a validator returns `valid`, a boolean, and `errors`, a list of texts";
            let finding = RecordFinding::new(&INVALID_VALIDATOR_RESULT, code.at.clone(), message);
            out.push(finding.within(wrong.clone()).help(help));
        }
        // No `return` at all: the result is `undefined`, unless the code is an expression or
        // throws.
        if script.returns.found == 0 && !script.returns.can_be_verdict() {
            let message = "the validator returns nothing";
            let finding = RecordFinding::new(&INVALID_VALIDATOR_RESULT, code.at.clone(), message);
            out.push(finding.on_key().help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, found_in_function};

    #[test]
    fn a_return_that_is_visibly_not_a_verdict_is_reported() {
        for (code, is_found) in [
            ("function v(args) { return true; }", true),
            ("function v(args) { return { valid: true }; }", true),
            ("function v(args) {}", true),
            ("function v(args) { return { valid: true, errors: [] }; }", false),
            ("function v(args) { return judge(args); }", false),
            (
                "function v(args) { if (args.a) { return false; } return { valid: true, errors: [] }; }",
                true,
            ),
            ("function v(args) { return { valid: 'yes', errors: [] }; }", true),
            ("function v(args) { return { valid: false, errors: [{ message: 'no' }] }; }", true),
            ("function v(args) { throw new Error('never'); }", false),
        ] {
            assert_eq!(
                !found_in_function("INVALID_VALIDATOR_RESULT", "validators", code).is_empty(),
                is_found,
                "{code}"
            );
        }
        assert_eq!(
            found_in_function("INVALID_VALIDATOR_RESULT", "helpers", "function v() { return 1; }"),
            [""; 0]
        );
        assert_eq!(found("INVALID_VALIDATOR_RESULT", "tool: {id: a, type: mcp}"), [""; 0]);
    }
}
