//! Functions of a definition do not access the file system or the process around them.
//!
//! Source: AIOS, security constraints (code runs isolated, without file access).
//!
//! The analyzer finds the names by scope: a parameter called `fs` is not the module `fs`, and a
//! property `args.fs` is not either. Text and comments do not count.
//!
//! ```text
//! fs.readFileSync(path)         reported
//! process.binding('fs')         reported
//! process.env.HOME              not here: an undeclared name, NOT_SELF_CONTAINED
//! function f(fs) { fs.read() }  not: a parameter
//! "fs.readFileSync"             not: a text
//! ```
//!
//! An error, because the call cannot work, and because a definition that tries it deserves a look.

use toolwright_source::RecordFinding;

use super::forbidden_require::report_forbidden_calls;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use toolwright_script::ForbiddenKind;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    FORBIDDEN_FILE_ACCESS Error
        "A function uses the file system or the process around it. The sandbox has neither, so \
         the call would fail. Definitions rarely need this for a benign purpose, so read such \
         a definition with care.\n\n\
         Pass the data to the function as an argument."
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

/// One finding for each use, at its range in the code. There is no repair: the data has to come
/// from the caller.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    report_forbidden_calls(
        subject,
        |kind| kind == ForbiddenKind::FileAccess,
        out,
        |what, at| {
            // One wording for files and for the process: both are missing for the same reason, and
            // `what` quotes the call.
            let message = format!("`{what}` accesses files, but the sandbox has no file system");
            RecordFinding::new(&FORBIDDEN_FILE_ACCESS, at, message)
                .help("pass the data to the function as an argument")
        },
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, found_in_function};

    #[test]
    fn access_to_files_is_reported_at_its_position_in_the_code() {
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
            assert_eq!(
                found_in_function("FORBIDDEN_FILE_ACCESS", "processors", code),
                expected,
                "{code}"
            );
        }
        assert_eq!(found("FORBIDDEN_FILE_ACCESS", "tool: {id: a, type: mcp}"), [""; 0]);
    }
}
