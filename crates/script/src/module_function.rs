//! A module as a function: for code that runs where there are no modules, such as a page whose
//! policy allows none.
//!
//! ```text
//! export const a = 1;                         const a = 1;
//! export default function go(args) { … }  ─▶  function go(args) { … }
//!                                             ;return go;
//!
//! export default (args) => args.a;        ─▶  const __default = ( (args) => args.a
//!                                             );;
//!                                             ;return __default;
//! ```
//!
//! The exports are found while the code is parsed, in a worker; the text is changed here, without a
//! parser. So the facts say which bytes each export takes.

use std::ops::Range;

use oxc_ast::ast::{ExportDefaultDeclarationKind, Program, Statement};
use oxc_span::{GetSpan, Span};

use crate::facts::shorten;
use crate::parse::range;
use crate::{ExportStatement, ForbiddenKind, MAX_LISTED, MAX_TEXT, ScriptFacts};

/// The `export` statements of a module.
///
/// Each entry has the bytes to leave out, and for the default the expression or the name that is
/// returned. A list `export { a, b as default }` is left out as a whole.
pub(crate) fn exports(program: &Program<'_>) -> Vec<ExportStatement> {
    let mut found = Vec::new();
    for statement in &program.body {
        match statement {
            Statement::ExportDefaultDeclaration(export) => {
                let value = export.declaration.span();
                let name = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(it) => it.id.as_ref(),
                    ExportDefaultDeclarationKind::ClassDeclaration(it) => it.id.as_ref(),
                    _ => None,
                };
                found.push(ExportStatement {
                    range: range(Span::new(export.span.start, value.start)),
                    value: name.is_none().then(|| value_range(program.source_text, export.span)),
                    default_name: name.map(|name| shorten(name.name.as_str())),
                });
            }
            Statement::ExportDeclaration(export) => found.push(ExportStatement {
                range: range(Span::new(export.span.start, export.declaration.span().start)),
                value: None,
                default_name: None,
            }),
            Statement::ExportNamedDeclaration(export) => {
                let default = export.specifiers.iter().find(|it| it.exported.name() == "default");
                found.push(ExportStatement {
                    range: range(export.span),
                    value: None,
                    default_name: default.map(|it| shorten(it.local.name().as_str())),
                });
            }
            _ => {}
        }
    }
    found.truncate(MAX_LISTED);
    found
}

/// The bytes between `export default` and the end of the statement. Not the span of the expression:
/// it has no parentheses.
fn value_range(code: &str, statement: Span) -> Range<usize> {
    let Range { start, end } = range(statement);
    let text = code.get(start..end).unwrap_or_default();
    let from = text.find("default").map_or(0, |at| at + "default".len());
    let to = text.trim_end().trim_end_matches(';').len();
    start + from..start + to.max(from)
}

/// The statements of a module, such that they end with `return` of the default export. `None` if
/// the code has errors or imports something, or its exports cannot be taken apart.
///
/// Lines stay where they are.
pub fn module_as_function(code: &str, facts: &ScriptFacts) -> Option<String> {
    let imports = facts.forbidden.iter().any(|it| it.kind == ForbiddenKind::Import);
    if !facts.problems.is_empty() || imports || facts.exports.len() >= MAX_LISTED {
        return None;
    }
    let mut text = String::with_capacity(code.len() + 100);
    let (mut at, mut default) = (0, None);
    for export in &facts.exports {
        text.push_str(code.get(at..export.range.start)?);
        at = export.range.end;
        match (&export.value, &export.default_name) {
            (Some(value), _) => {
                text.push_str("const __default = (");
                text.push_str(code.get(value.clone())?);
                // On a line of its own: the value may end with a comment.
                text.push_str("\n);");
                at = value.end;
                default = Some("__default");
            }
            (None, Some(name)) if name.len() < MAX_TEXT => default = Some(name.as_str()),
            (None, Some(_)) => return None,
            (None, None) => {}
        }
    }
    text.push_str(code.get(at..)?);
    text.push_str("\n;return ");
    text.push_str(default?);
    text.push(';');
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseGoal, read};

    fn converted(code: &str) -> Option<String> {
        module_as_function(code, &read(code, ParseGoal::Module, &[]))
    }

    #[test]
    fn exports_become_declarations_and_a_return() {
        for (code, expected) in [
            ("export default () => 1;", "const __default = ( () => 1\n);;\n;return __default;"),
            (
                "export default function () {}\n(1)",
                "const __default = ( function () {}\n);\n(1)\n;return __default;",
            ),
            (
                "export default (1, f); // f",
                "const __default = ( (1, f)\n);; // f\n;return __default;",
            ),
            ("export default async function f() {}", "async function f() {}\n;return f;"),
            ("export default class A {}", "class A {}\n;return A;"),
            (
                "export const a = 1;\nconst f = () => a;\nexport { f as default, a as b };",
                "const a = 1;\nconst f = () => a;\n\n;return f;",
            ),
        ] {
            assert_eq!(converted(code).as_deref(), Some(expected), "{code}");
        }
        for code in [
            "export const a = 1;",
            "import x from 'y'; export default x;",
            "export { default } from 'y';",
            "export default (",
            "",
        ] {
            assert_eq!(converted(code), None, "{code}");
        }
    }
}
