//! Code brings everything it needs: no `require`, no `import` (aios, security constraints).

use toolwright_source::{RecordFinding, RecordPath};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use toolwright_script::ForbiddenKind;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    FORBIDDEN_REQUIRE Error "A function loads a module with `require` or `import`. The sandbox it runs in has no modules, by design: what a definition does must be visible in the definition. Write what is needed into the function."
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

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    each(
        subject,
        |kind| kind != ForbiddenKind::FileAccess,
        out,
        |what, at| {
            let message = format!("`{what}` loads a module, and there are none");
            RecordFinding::new(&FORBIDDEN_REQUIRE, at, message)
                .help("write what is needed into the function")
        },
    );
}

/// Reports every use of a forbidden kind, at its place in the code.
pub(super) fn each(
    subject: &Subject<'_>,
    is: fn(ForbiddenKind) -> bool,
    out: &mut Report<'_>,
    finding: fn(&str, RecordPath) -> RecordFinding,
) {
    for code in subject.functions() {
        for used in code.script.forbidden.iter().filter(|used| is(used.kind)) {
            out.push(finding(&used.what, code.at.clone()).within(used.range.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{code_of, found};

    #[test]
    fn modules_are_not_loaded() {
        for (code, places) in [
            ("function f() { return require('fs'); }", &["1:23"][..]),
            ("async function f() { return await import('a'); }", &["1:35"]),
            ("function f() { return \"require('fs')\"; } // require('fs')", &[]),
            ("function f(require) { return require('fs'); }", &[]),
        ] {
            let expected: Vec<String> =
                places.iter().map(|p| format!("FORBIDDEN_REQUIRE in the code at {p}")).collect();
            assert_eq!(code_of("FORBIDDEN_REQUIRE", "helpers", code), expected, "{code}");
        }
    }

    #[test]
    fn the_sample_is_found_in_its_place() {
        let bad = super::FORBIDDEN_REQUIRE.sample.as_ref().map_or("", |sample| sample.bad);
        assert_eq!(found("FORBIDDEN_REQUIRE", bad).len(), 1);
    }
}
