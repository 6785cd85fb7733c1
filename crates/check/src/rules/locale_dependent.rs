//! A function does not depend on the language of a user.
//!
//! Source: our own, after AIOS, security validation (functions must be self-contained): the sandbox
//! has no `Intl` and no tables of languages. `Intl` itself is a name that nothing declares
//! (`NOT_SELF_CONTAINED`); the methods below exist, and return something else.
//!
//! ```text
//! (1234.5).toLocaleString()      reported
//! text.toLocaleUpperCase('tr')   reported: another language than English
//! text.toUpperCase()             not: it depends on no language
//! ```
//!
//! A warning and not an error: the call returns something, and a function may not care about the
//! form. No repair, since only the author knows which form is wanted. The analyzer recognises the
//! methods by their names, whatever the object is.

use toolwright_script::ForbiddenKind;
use toolwright_source::RecordFinding;

use super::forbidden_require::report_forbidden_calls;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    LOCALE_DEPENDENT Warning
        "A function calls a method whose result depends on the language of the user: \
         `toLocaleString`, `toLocaleDateString`, `toLocaleTimeString`, `localeCompare`, or \
         `toLocaleUpperCase` and `toLocaleLowerCase` for another language than English. The \
         sandbox knows no language. A number has no separators there, a date has another form, \
         and texts are ordered by the numbers of their characters, so that `Z` comes before \
         `a`. The function gives another result than in a browser or in Node.\n\n\
         Write the form out: `toFixed` and a regular expression for a number, `toISOString` for \
         a date, `<` for an order."
    => (
        "tool.yaml",
        r#"tool:
  id: prices
  type: mcp
  name: Prices
  version: 1.0.0
  description: Shows prices
  mcp_specific: {server_command: prices-server}
  executable_knowledge:
    helpers:
      - id: format-price
        language: javascript
        runtime: isolated_vm
        function: |
          function formatPrice(args) {
            return args.price.toLocaleString();
          }
"#,
        r#"tool:
  id: prices
  type: mcp
  name: Prices
  version: 1.0.0
  description: Shows prices
  mcp_specific: {server_command: prices-server}
  executable_knowledge:
    helpers:
      - id: format-price
        language: javascript
        runtime: isolated_vm
        function: |
          function formatPrice(args) {
            return args.price.toFixed(2);
          }
"#
    )
}

/// One finding for each call, at its range in the code.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    report_forbidden_calls(
        subject,
        |kind| kind == ForbiddenKind::Locale,
        out,
        |what, at| {
            let message = format!("`{what}` has another result here than in a browser or in Node");
            RecordFinding::new(&LOCALE_DEPENDENT, at, message)
                .help("the sandbox knows no language: write the form out")
        },
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::found_in_function;

    #[test]
    fn methods_that_depend_on_a_language_are_reported_where_they_are_called() {
        for (code, places) in [
            ("function f(args) { return args.n.toLocaleString(); }", &["1:34"][..]),
            ("function f(args) { return args.d.toLocaleDateString('de'); }", &["1:34"]),
            ("function f(args) { return args.l.sort((a, b) => a.localeCompare(b)); }", &["1:51"]),
            ("function f(args) { return args.s?.['localeCompare']('b'); }", &["1:36"]),
            ("function f(args) { return args.s.toLocaleUpperCase('tr'); }", &["1:34"]),
            ("function f(args) { return args.s.toLocaleLowerCase(args.language); }", &["1:34"]),
            ("function f(args) { return args.s.toLocaleUpperCase() + args.toLocaleString; }", &[]),
            ("function f(args) { return args.s.toLocaleUpperCase('en-US'); }", &[]),
            ("function f(args) { return 'localeCompare()'; }", &[]),
        ] {
            let expected: Vec<String> =
                places.iter().map(|p| format!("LOCALE_DEPENDENT in the code at {p}")).collect();
            assert_eq!(found_in_function("LOCALE_DEPENDENT", "helpers", code), expected, "{code}");
        }
    }
}
