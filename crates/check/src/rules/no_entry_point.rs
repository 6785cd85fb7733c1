//! Code has a function to call, or a value (readings: the entry point of a function).

use toolwright_source::RecordFinding;
use toolwright_source::words::shorten;

use super::naming_convention::{camel, split};
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use toolwright_script::EntryPoint;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    NO_ENTRY_POINT Error "Nobody can tell which part of the code is to be called. It is, in this order: what `module.exports` holds, the value of the script if that is a function, any other value of the script (an expression that calls itself), or its only top-level function. Export the one that is meant."
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
          function trim(text) {
            return text.trim();
          }
          function shout(args) {
            return trim(args.text).toUpperCase();
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
          function trim(text) {
            return text.trim();
          }
          function shout(args) {
            return trim(args.text).toUpperCase();
          }
          module.exports = { shout };
"#
    )
}

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for code in subject.functions().iter().filter(|code| code.script.problems.is_empty()) {
        let role = code.role.name();
        // Of several exports the one is called that is named like the id.
        let wanted = camel(&split(code.id.unwrap_or_default()));
        let shown = shorten(&wanted);
        let (message, help) = match &code.script.entry {
            EntryPoint::None => {
                let message = format!("the {role} has no function that could be called");
                (message, "say which one is meant: `module.exports = { name };`".to_owned())
            }
            EntryPoint::Exports(names) if names.len() > 1 && !names.contains(&wanted) => {
                let message =
                    format!("the {role} exports {} functions, and none is `{shown}`", names.len());
                (
                    message,
                    format!("export one, or name the one that is meant `{shown}`, after the id"),
                )
            }
            _ => continue,
        };
        out.push(RecordFinding::new(&NO_ENTRY_POINT, code.at.clone(), message).on_key().help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{code_of, found};

    #[test]
    fn something_can_be_called() {
        for (code, is_found) in [
            ("const a = 1;", true),
            ("function a() {} function b() {}", true),
            ("// nothing", true),
            ("function a() {}", false),
            ("function a() {} function b() {} module.exports = { a };", false),
            ("(function () { return 1; })()", false),
            ("function a() {} function b() {} module.exports = { a, b };", true),
            // The id of the function is `f`.
            ("function f() {} function b() {} module.exports = { f, b };", false),
            ("(args) => 1", false),
            // What does not parse has another finding.
            ("function (", false),
        ] {
            assert_eq!(!code_of("NO_ENTRY_POINT", "helpers", code).is_empty(), is_found, "{code}");
        }
        assert_eq!(
            found(
                "NO_ENTRY_POINT",
                "tool:\n  id: a\n  executable_knowledge: {helpers: [{id: h, function: ''}]}\n"
            ),
            [""; 0],
            "blank code is missing code"
        );
    }
}
