//! A function uses only names that it declares or that the sandbox provides.
//!
//! Source: AIOS, security validation (functions must be self-contained).
//!
//! Functions of one definition do not see each other: each runs in a fresh sandbox. What the runner
//! provides depends on the list of the function (see `Subject::functions`); `typeof name` is
//! allowed, because it does not fail for an undeclared name. Silent about code that does not parse.
//!
//! ```text
//! capitalize(text), declared in another helper   reported: each function runs alone
//! helpers.capitalize(text)                       fine, if the definition has helpers
//! typeof window === 'undefined'                  fine
//! fs.readFileSync(path)                          FORBIDDEN_FILE_ACCESS, not here
//! ```
//!
//! A warning: the name may be reached only in a branch that no call takes. No repair, as the
//! declaration is what is missing.

use toolwright_source::RecordFinding;

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    NOT_SELF_CONTAINED Warning
        "A function uses a name that it does not declare and that the sandbox does not provide, \
         so the call ends in a ReferenceError when it reaches that line. Other functions of the \
         same definition are not visible either: each function runs on its own.\n\n\
         Declare the name inside the function, or pass the value as an argument."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  mcp_specific: {server_command: notes-server}
  executable_knowledge:
    helpers:
      - id: shout
        language: javascript
        runtime: isolated_vm
        function: |
          function shout(args) {
            return capitalize(args.text);
          }
"#,
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  mcp_specific: {server_command: notes-server}
  executable_knowledge:
    helpers:
      - id: shout
        language: javascript
        runtime: isolated_vm
        function: |
          function shout(args) {
            const capitalize = (text) => text.toUpperCase();
            return capitalize(args.text);
          }
"#
    )
}

/// A finding at the first use of each free name.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // Code that does not parse has no reliable scopes: a declaration may be in the part that was
    // not understood. INVALID_FUNCTION_SYNTAX reports it.
    for code in subject.functions().iter().filter(|code| code.script.problems.is_empty()) {
        // The analyzer lists each name once, at its first use, and leaves out names that were
        // reported as forbidden calls, so one mistake is one finding.
        for free in &code.script.free {
            let message =
                format!("`{}` is neither declared here nor provided by the sandbox", free.name);
            out.push(
                RecordFinding::new(&NOT_SELF_CONTAINED, code.at.clone(), message)
                    .within(free.range.clone()),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, found_in_function};

    #[test]
    fn names_that_nothing_declares_are_reported() {
        for (code, places) in [
            ("function f(args) { return helper(args); }", &["1:27"][..]),
            ("function f(args) { return window.x + window.y; }", &["1:27"]),
            ("function f(args) { return Math.max(1, JSON.parse(args.x)); }", &[]),
            ("function f(args) { return typeof window; }", &[]),
        ] {
            let expected: Vec<String> =
                places.iter().map(|p| format!("NOT_SELF_CONTAINED in the code at {p}")).collect();
            assert_eq!(
                found_in_function("NOT_SELF_CONTAINED", "helpers", code),
                expected,
                "{code}"
            );
        }
        // A syntax error is reported instead.
        assert_eq!(found_in_function("NOT_SELF_CONTAINED", "helpers", "helper(;"), [""; 0]);
    }

    #[test]
    fn the_orchestration_of_a_meta_tool_may_use_tools() {
        let meta = |name: &str| {
            format!(
                "tool:\n  id: m\n  type: meta\n  meta_specific: {{orchestration: helpers.{name}, aggregates: []}}\n  executable_knowledge:\n    helpers:\n      - id: go\n        function: async function go(args) {{ return await tools.call('a:b', args); }}\n"
            )
        };
        assert_eq!(found("NOT_SELF_CONTAINED", &meta("go")), [""; 0]);
        assert_eq!(found("NOT_SELF_CONTAINED", &meta("other")).len(), 1);
    }
}
