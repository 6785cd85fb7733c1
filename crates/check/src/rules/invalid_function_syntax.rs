//! The code of helpers, processors and validators is valid JavaScript.
//!
//! Source: AIOS, validation error codes (one of its seven) and security validation.
//!
//! The analyzer in `script` finds the errors; here they become findings at their position in the
//! text, which for YAML blocks is a line of the file. The same check serves scripts of local tools,
//! which are files of their own ([`check_scripts`]). Other rules about code are silent if it does
//! not parse. Code that the analyzer could not read to its end is reported here as well: nobody
//! knows what it does, so it must not pass. Bodies of BTCP tools are files, too: all that is wrong
//! with one comes from a single look ([`check_bodies`]).
//!
//! ```text
//! function of an AIOS tool   ParseGoal::Function   check           a range in a text
//! script of a local tool     ParseGoal::File       check_scripts   syntax only: Node runs it
//! body of a BTCP tool        ParseGoal::Module     check_bodies    all that is wrong with it
//! ```
//!
//! There is no repair: the parser knows where it stopped, and not what was meant.

use std::ops::Range;
use std::sync::Arc;

use toolwright_script::{
    EntryPoint, ForbiddenKind, PAGE_GLOBALS, ParseGoal, ScriptAnalyzer, ScriptFacts, ScriptSource,
    SyntaxProblem, SyntaxProblemKind,
};
use toolwright_source::codes::NAMING_CONVENTION;
use toolwright_source::{Diagnostic, RecordFinding, Source, Span};

use super::forbidden_file_access::FORBIDDEN_FILE_ACCESS;
use super::forbidden_require::FORBIDDEN_REQUIRE;
use super::locale_dependent::LOCALE_DEPENDENT;
use super::model_instruction::BodyInstructions;
use super::no_entry_point::NO_ENTRY_POINT;
use super::page_api_unavailable::page_diagnostics;
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    INVALID_FUNCTION_SYNTAX Error
        "A function is not valid JavaScript, so no part of it can run. The position is inside \
         the block of the definition, or in the file that a local tool names as its \
         `entry_point`.\n\n\
         Correct the code at the position that is shown.\n\n\
         Code that is too long or too complex to be analysed is reported as well: more than 1 MiB, \
         nested thousands of levels deep, or made to keep a parser busy. Write it shorter, or move \
         parts of it into functions of their own."
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

/// Findings of the analyzer, at their range in the code of the function.
///
/// If the analyzer itself could not run, all functions have the same problem. It is reported once,
/// because a thousand equal errors would hide the rest.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let mut is_unavailable = false;
    for code in subject.functions() {
        // A range inside the text and not a path: the code is one value of the document. `source`
        // turns the range into a line of the file, also for YAML blocks, whose indentation is not
        // part of the text.
        for problem in &code.script.problems {
            // The same for all functions: once is enough.
            if problem.kind == SyntaxProblemKind::Unavailable
                && std::mem::replace(&mut is_unavailable, true)
            {
                continue;
            }
            let mut finding = RecordFinding::new(
                &INVALID_FUNCTION_SYNTAX,
                code.at.clone(),
                problem.message.clone(),
            )
            .within(problem.range.clone());
            // Not every problem has help; the parser offers it for some mistakes only.
            finding.help.extend(problem.help.clone());
            out.push(finding);
        }
    }
}

/// The syntax errors of JavaScript files, such as the scripts that local tools name: those of each,
/// in order. The workspace calls this, because rules read no files.
///
/// One call of the analyzer for all files, since it works in another process.
pub fn check_scripts(
    sources: &[Arc<Source>],
    analyzer: &dyn ScriptAnalyzer,
) -> Vec<Vec<Diagnostic>> {
    // Node runs such a file, so only its syntax is looked at: modules, files and global names that
    // the sandbox lacks are there.
    let scripts = sources.iter().enumerate().map(|(document, source)| ScriptSource {
        code: source.text(),
        goal: ParseGoal::File,
        provided: &[],
        document,
    });
    let facts = analyzer.analyze_all(&scripts.collect::<Vec<_>>());
    let diagnostics = |(source, script): (&Arc<Source>, ScriptFacts)| {
        let diagnostic = |problem: SyntaxProblem| {
            let span = Span::new(problem.range.start, problem.range.end);
            let mut diagnostic =
                Diagnostic::at(&INVALID_FUNCTION_SYNTAX, source, span, problem.message);
            diagnostic.help.extend(problem.help);
            diagnostic
        };
        script.problems.into_iter().map(diagnostic).collect()
    };
    sources.iter().zip(facts).map(diagnostics).collect()
}

/// What is wrong with the bodies of BTCP tools, each a file of its own: syntax, modules and files
/// that the sandbox does not have, no default export, codes of errors that are not UPPER_SNAKE,
/// texts that attack a model.
///
/// Bodies that work on a page are also checked for what pages have and tools do not. The names that
/// a body may use without declaring them depend on `place`.
pub fn check_bodies(
    sources: &[Arc<Source>],
    place: BodyPlace,
    analyzer: &dyn ScriptAnalyzer,
) -> Vec<Vec<Diagnostic>> {
    let bodies = sources.iter().enumerate().map(|(document, source)| ScriptSource {
        code: source.text(),
        goal: ParseGoal::Module,
        provided: match place {
            BodyPlace::Sandbox => &["BTCPError"],
            BodyPlace::Page | BodyPlace::FullPage => PAGE_GLOBALS,
        },
        document,
    });
    let facts = analyzer.analyze_all(&bodies.collect::<Vec<_>>());
    let mut instructions = BodyInstructions::of(sources);
    let found = sources.iter().zip(facts).map(|(source, facts)| {
        let mut missing = match place {
            BodyPlace::Page => page_diagnostics(source, &facts),
            BodyPlace::Sandbox | BodyPlace::FullPage => Vec::new(),
        };
        missing.extend(body_diagnostics(source, facts));
        missing.extend(instructions.diagnostics(source));
        missing
    });
    found.collect()
}

/// What a body works on.
///
/// It decides which names are provided, and whether what pages have and tools lack is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyPlace {
    /// Its arguments only.
    Sandbox,
    /// A page in a browser, by operations.
    Page,
    /// A page in a browser, in which it runs.
    FullPage,
}

/// All findings of the facts about one body. If it does not parse, nothing is reported about its
/// default export, which may be in the part that was not understood. Positions are spans of the
/// file, because a body is a file of its own and not a text in one.
fn body_diagnostics(source: &Arc<Source>, facts: ScriptFacts) -> Vec<Diagnostic> {
    let at = |code, range: Range<usize>, message: String, help: Option<String>| {
        let span = Span::new(range.start, range.end);
        let mut diagnostic = Diagnostic::at(code, source, span, message);
        diagnostic.help.extend(help);
        diagnostic
    };
    let parses = facts.problems.is_empty();
    let mut found: Vec<Diagnostic> = facts
        .problems
        .into_iter()
        .map(|it| at(&INVALID_FUNCTION_SYNTAX, it.range, it.message, it.help))
        .collect();
    for call in facts.forbidden {
        let (code, message) = match call.kind {
            ForbiddenKind::FileAccess => (
                &FORBIDDEN_FILE_ACCESS,
                format!("`{}` reads files, but the sandbox has none", call.what),
            ),
            ForbiddenKind::Locale => (
                &LOCALE_DEPENDENT,
                format!("`{}` depends on a language, and the sandbox knows none", call.what),
            ),
            ForbiddenKind::Require | ForbiddenKind::Import | ForbiddenKind::DynamicImport => (
                &FORBIDDEN_REQUIRE,
                format!("`{}` loads a module, but the sandbox has no modules", call.what),
            ),
        };
        let help = "write the needed code into the body itself".to_owned();
        found.push(at(code, call.range, message, Some(help)));
    }
    if parses && facts.entry == EntryPoint::None {
        let help = "write `export default function …`".to_owned();
        let message = "the body has no default export to call".to_owned();
        found.push(at(&NO_ENTRY_POINT, 0..0, message, Some(help)));
    }
    for error in facts.error_codes.into_iter().filter(|error| !is_upper_snake(&error.code)) {
        let message = format!("the error code `{}` is not in UPPER_SNAKE_CASE", error.code);
        found.push(at(&NAMING_CONVENTION, error.range, message, None));
    }
    found
}

/// As BTCP wants codes of errors.
fn is_upper_snake(code: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    code.starts_with(|c: char| c.is_ascii_uppercase()) && code.chars().all(is_allowed)
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
