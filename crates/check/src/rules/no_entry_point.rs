//! The code of a function has one entry point: a function to call, or a value.
//!
//! Source: AIOS shows functions that export themselves, and does not say what happens otherwise.
//! The order in which the sandbox searches is ours:
//!
//! ```text
//! 1  module.exports: a function, or an object with one; of several, the one named like the id
//! 2  the value of the script, if it is a function
//! 3  the value of the script, if there is one (an expression that calls itself)
//! 4  the only top-level function
//! ```
//!
//! The sandbox uses the same order, so what passes here is found there. Silent about code that does
//! not parse and about blank code.
//!
//! ```text
//! function a() {} function b() {}                 reported, unless the id is `a` or `b`
//! module.exports = { a, b }                       reported, unless the id is `a` or `b`
//! module.exports = { whatever }                   fine: a single export is called by any name
//! (args) => args.text                             fine: the value is a function
//! ```

use toolwright_source::RecordFinding;
use toolwright_source::words::shorten;

use super::naming_convention::{camel, split};
use super::parameters::join_names;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use toolwright_script::EntryPoint;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    NO_ENTRY_POINT Error
        "It is unclear which part of the code should be called. The entry point is the first of \
         these: what `module.exports` holds; the value of the script, if it is a function; any \
         other value of the script, such as an expression that calls itself; the only top-level \
         function, or the one that is named like the id.\n\n\
         Export the function that is meant: `module.exports = { name };`."
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
          function shoutLoudly(args) {
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

/// At most one finding for each function, at its key.
///
/// No repair: which of the functions is meant is what the code does not say. The help suggests the
/// last one, as functions are usually declared before they are used.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // Code with syntax errors has no entry point that could be trusted.
    for code in subject.functions().iter().filter(|code| code.script.problems.is_empty()) {
        let role = code.role.name();
        // Of several exports, the sandbox calls the one that is named like the id, in camelCase. An
        // id such as `validate-add-note` cannot be the name of a JavaScript function, so
        // `validateAddNote` is expected.
        let wanted = camel(&split(code.id.unwrap_or_default()));
        let shown = shorten(&wanted);
        let (message, help) = match &code.script.entry {
            EntryPoint::None => {
                let message = format!("the {role} has no function to call, and no value");
                (message, "export one function: `module.exports = { name };`".to_owned())
            }
            EntryPoint::Ambiguous(names) if names.contains(&wanted) => continue,
            EntryPoint::Ambiguous(names) => {
                let message = format!(
                    "the {role} declares {} functions, {}, and exports none of them",
                    names.len(),
                    join_names(names)
                );
                // The last one: functions come before their use.
                let meant = names.last().map_or("name", String::as_str);
                let help = format!(
                    "export the one to call: `module.exports = {{ {meant} }};`, or name it \
                     `{shown}`, after the id"
                );
                (message, help)
            }
            // A single export is called whatever its name is, so only several are ambiguous.
            EntryPoint::Exports(names) if names.len() > 1 && !names.contains(&wanted) => {
                let message =
                    format!("the {role} exports {} functions, but not `{shown}`", names.len());
                (message, format!("export only one, or name the right one `{shown}`, after the id"))
            }
            _ => continue,
        };
        out.push(RecordFinding::new(&NO_ENTRY_POINT, code.at.clone(), message).on_key().help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{findings, found, found_in_function};

    #[test]
    fn two_functions_are_named_and_the_export_is_spelled_out() {
        let text = "tool:\n  id: a\n  executable_knowledge:\n    helpers:\n      - id: to-lower\n        function: function trim(t) {} function toUpper(t) {} function log(t) {}\n";
        let finding = findings(text).into_iter().find(|f| f.code.name == "NO_ENTRY_POINT");
        let (message, help) = finding.map(|f| (f.message, f.help)).unwrap_or_default();
        assert_eq!(
            message,
            "the helper declares 3 functions, `trim`, `toUpper` and `log`, and exports none of them"
        );
        let expected = "export the one to call: `module.exports = { log };`, or name it `toLower`, \
                        after the id";
        assert_eq!(help, [expected]);
    }

    #[test]
    fn code_without_a_single_entry_point_is_reported() {
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
            ("function f() {} function b() {}", false),
            ("(args) => 1", false),
            // A syntax error is reported instead.
            ("function (", false),
        ] {
            assert_eq!(
                !found_in_function("NO_ENTRY_POINT", "helpers", code).is_empty(),
                is_found,
                "{code}"
            );
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
