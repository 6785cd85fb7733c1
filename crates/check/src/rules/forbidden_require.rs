//! Functions of a definition load no modules: no `require`, no `import`.
//!
//! Source: AIOS, security constraints. A definition must show everything that it does, and the
//! sandbox has no module loader.
//!
//! Dynamic imports count as well. A parameter or variable called `require` does not, and neither do
//! texts and comments: the analyzer resolves names by scope.
//!
//! ```text
//! require('lodash')                 reported
//! await import('lodash')            reported
//! function f(require) { require() } not: a parameter
//! ```

use toolwright_source::{RecordFinding, RecordPath};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use toolwright_script::ForbiddenKind;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    FORBIDDEN_REQUIRE Error
        "A function loads a module with `require` or `import`. The sandbox has no modules, on \
         purpose: a reader of the definition must be able to see everything that it does.\n\n\
         Write the code that is needed into the function itself."
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
            const _ = require('lodash');
            return _.upperCase(args.text);
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
            return args.text.toUpperCase();
          }
"#
    )
}

/// No repair: the code of the module would have to be written into the function.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    report_forbidden_calls(
        subject,
        // `require`, `import` and dynamic imports load modules in different
        // ways, with the same consequence.
        |kind| !matches!(kind, ForbiddenKind::FileAccess | ForbiddenKind::Locale),
        out,
        |what, at| {
            let message = format!("`{what}` loads a module, but the sandbox has no modules");
            RecordFinding::new(&FORBIDDEN_REQUIRE, at, message)
                .help("write the needed code into the function itself")
        },
    );
}

/// Reports every forbidden call whose kind `is_meant` selects, at its position in the code. Shared
/// with two other rules: one analysis of the code finds all kinds. `finding` gets the call as it
/// is written.
///
/// Calls come in the order of the code.
pub(super) fn report_forbidden_calls(
    subject: &Subject<'_>,
    // Plain function pointers: neither rule needs to capture anything.
    is_meant: fn(ForbiddenKind) -> bool,
    out: &mut Report<'_>,
    finding: fn(&str, RecordPath) -> RecordFinding,
) {
    for code in subject.functions() {
        for used in code.script.forbidden.iter().filter(|used| is_meant(used.kind)) {
            out.push(finding(&used.what, code.at.clone()).within(used.range.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, found_in_function};

    #[test]
    fn loading_a_module_is_reported_at_its_position_in_the_code() {
        for (code, places) in [
            ("function f() { return require('fs'); }", &["1:23"][..]),
            ("async function f() { return await import('a'); }", &["1:35"]),
            ("function f() { return \"require('fs')\"; } // require('fs')", &[]),
            ("function f(require) { return require('fs'); }", &[]),
        ] {
            let expected: Vec<String> =
                places.iter().map(|p| format!("FORBIDDEN_REQUIRE in the code at {p}")).collect();
            assert_eq!(found_in_function("FORBIDDEN_REQUIRE", "helpers", code), expected, "{code}");
        }
    }

    #[test]
    fn the_sample_of_the_manual_has_one_finding() {
        let bad = super::FORBIDDEN_REQUIRE.sample.as_ref().map_or("", |sample| sample.bad);
        assert_eq!(found("FORBIDDEN_REQUIRE", bad).len(), 1);
    }
}
