//! Code does not reach for files (aios, security constraints).

use toolwright_source::RecordFinding;

use super::forbidden_require::each;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use toolwright_script::ForbiddenKind;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    FORBIDDEN_FILE_ACCESS Error "A function reaches for the file system or the process around it. The sandbox has neither, so the call would fail; and a definition that tries deserves a second look. Hand the data in as an argument."
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
            return fs.readFileSync(args.path, 'utf8').toUpperCase();
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
        |kind| kind == ForbiddenKind::FileAccess,
        out,
        |what, at| {
            let message = format!("`{what}` reaches for files, and there are none");
            RecordFinding::new(&FORBIDDEN_FILE_ACCESS, at, message)
                .help("hand the data in as an argument")
        },
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{code_of, found};

    #[test]
    fn files_are_not_reached_for() {
        for (code, places) in [
            ("function f() { return fs.readFileSync('a'); }", &["1:23"][..]),
            ("function f() { return Deno.readTextFile('a'); }", &["1:23"]),
            ("function f(fs) { return fs.readFileSync('a'); }", &[]),
            ("function f(args) { return args.fs; }", &[]),
        ] {
            let expected: Vec<String> = places
                .iter()
                .map(|p| format!("FORBIDDEN_FILE_ACCESS in the code at {p}"))
                .collect();
            assert_eq!(code_of("FORBIDDEN_FILE_ACCESS", "processors", code), expected, "{code}");
        }
        assert_eq!(found("FORBIDDEN_FILE_ACCESS", "tool: {id: a, type: mcp}"), [""; 0]);
    }
}
