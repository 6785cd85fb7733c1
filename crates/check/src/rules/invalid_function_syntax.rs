//! The code of helpers, processors and validators is valid JavaScript.
//!
//! Source: AIOS, validation error codes (one of its seven) and security validation.
//!
//! The analyzer in `script` finds the errors; here they become findings at their position in the
//! text, which for YAML blocks is a line of the file. The same check serves scripts of local tools,
//! which are files of their own ([`check_script`]). Other rules about code are silent if it does
//! not parse.

use std::sync::Arc;

use toolwright_script::{ParseGoal, ScriptAnalyzer};
use toolwright_source::{Diagnostic, RecordFinding, Source, Span};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    INVALID_FUNCTION_SYNTAX Error
        "A function is not valid JavaScript, so no part of it can run. The position is inside \
         the block of the definition, or in the file that a local tool names as its \
         `entry_point`.\n\n\
         Correct the code at the position that is shown."
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
            return args.text.toUpperCase(;
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
    for code in subject.functions() {
        for problem in &code.script.problems {
            let mut finding = RecordFinding::new(
                &INVALID_FUNCTION_SYNTAX,
                code.at.clone(),
                problem.message.clone(),
            )
            .within(problem.range.clone());
            finding.help.extend(problem.help.clone());
            out.push(finding);
        }
    }
}

/// The syntax errors of a JavaScript file, such as the script that a local tool names. The catalog
/// calls this when it loads the tool, because rules read no files. Returns nothing for valid code.
pub fn check_script(source: &Arc<Source>, analyzer: &dyn ScriptAnalyzer) -> Vec<Diagnostic> {
    let script = analyzer.analyze(source.text(), ParseGoal::File, &[]);
    let diagnostics = script.problems.into_iter().map(|problem| {
        let span = Span::new(problem.range.start, problem.range.end);
        let mut diagnostic =
            Diagnostic::at(&INVALID_FUNCTION_SYNTAX, source, span, problem.message);
        diagnostic.help.extend(problem.help);
        diagnostic
    });
    diagnostics.collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, found_in_function};

    #[test]
    fn syntax_errors_are_reported_at_their_position_in_the_code() {
        for (code, places) in [
            ("function f(args) { return 1; }", &[][..]),
            ("function f(args) {\n  return 1 +;\n}", &["2:13"]),
            ("let a = 1;\nlet a = 2;", &["2:5"]),
        ] {
            let expected: Vec<String> = places
                .iter()
                .map(|p| format!("INVALID_FUNCTION_SYNTAX in the code at {p}"))
                .collect();
            assert_eq!(
                found_in_function("INVALID_FUNCTION_SYNTAX", "helpers", code),
                expected,
                "{code}"
            );
        }
    }

    #[test]
    fn the_position_in_a_yaml_block_is_that_of_the_file() {
        let text = "tool:\n  id: a\n  executable_knowledge:\n    processors:\n      - id: p\n        function: |\n          let ä = '😀';\n          let = ;\n";
        let found = found("INVALID_FUNCTION_SYNTAX", text);
        assert_eq!(
            found,
            ["INVALID_FUNCTION_SYNTAX at /tool/executable_knowledge/processors/0/function:8:17"]
        );
    }
}
