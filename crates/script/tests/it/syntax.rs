//! Syntax errors, early errors included, each at its position.

use toolwright_script::{ParseGoal, SyntaxProblemKind, read};

use crate::support::{function, line_column, problems};

const SEMICOLON: &str = "expected a semicolon or an implicit semicolon after a statement, but found none \
                         (try inserting a semicolon here)";

#[test]
fn one_mistake_is_reported_at_its_position() {
    let cases: &[(&str, &str)] = &[
        ("const y = ;", "1:11 unexpected token `;`"),
        ("errors.push('x'", "1:16 expected `)` but the code ends"),
        ("args.foo.", "1:10 unexpected end of the code"),
        (
            "function f() {\n  return { valid: true errors: [] };\n}",
            "2:24 expected `,` or `}` but found `Identifier`",
        ),
        ("function f() {\r\n  if (a {\r\n  }\r\n}", "2:9 expected `)` but found `{`"),
        ("const a = 'ä😀'; const b = ;", "1:27 unexpected token `;`"),
        (
            "// ä😀\r\n/* ü */ let x = 1;\r\nlet x = 2;",
            "3:5 identifier `x` has already been declared",
        ),
        ("let a = 1;\nfunction f(a) { let a; }", "2:21 identifier `a` has already been declared"),
        ("var s = 'not closed\n", "1:9 unterminated string"),
        (
            "/a(/.test(x)",
            "1:3 invalid regular expression: unterminated capturing group \
                          (add the missing closing delimiter)",
        ),
        (
            "break;",
            "1:1 illegal break statement (a `break` statement can only be used within an enclosing \
                    iteration or switch statement)",
        ),
        (
            "return 1;",
            "1:1 a `return` statement can only be used within a function body \
                       (wrap the code in a function: `(function () { … })()`)",
        ),
        (
            "export default 1;",
            "1:1 cannot use export statement outside a module \
                               (assign what is to be called to `module.exports`)",
        ),
        (
            "await f();",
            "1:1 `await` is only allowed within async functions and at the top levels of modules \
                        (either remove this `await` or add the `async` keyword to the enclosing function)",
        ),
        (
            "class A { @d m() {} }",
            "1:11 decorators are not part of the language that the sandbox runs",
        ),
        (
            "class A { accessor x = 1 }",
            "1:11 `accessor` is not part of the language that the sandbox runs",
        ),
        ("{ using x = y; }", "1:3 `using` is not part of the language that the sandbox runs"),
        ("'use strict'; with (a) {}", "1:15 `with` statements are not allowed"),
    ];
    for (code, expected) in cases {
        assert_eq!(problems(code, ParseGoal::Function), [*expected], "{code}");
    }
    assert_eq!(problems("function f(a: string) {}", ParseGoal::Function).len(), 1);
    assert_eq!(problems("var x: string = 1", ParseGoal::Function), [format!("1:6 {SEMICOLON}")]);
}

#[test]
fn right_code_has_no_problem() {
    for code in [
        "",
        "\u{feff}(function () { return 1 })()",
        "// only a comment",
        "with (a) { b }",
        "0777; '\\07'; a = 1; <!-- old\n",
        "var a; var a; function f() {} function f() {}",
        "if (1) function f() {}",
        "const { a, ...rest } = args; a.b ??= rest.c ** 2n;",
        "/(?<year>\\d{4})-[/]/u.exec(`${args.a}/b`)",
        "async function f() { for await (const x of y) { await x; } }",
        "class A { #x = 1; static { this.y = 2; } has(o) { return #x in o; } }",
        "a: for (;;) { break a; }",
        "yield = 1; await = 2; let = 3;",
    ] {
        assert_eq!(problems(code, ParseGoal::Function), [""; 0], "{code}");
    }
}

#[test]
fn a_file_is_a_module_by_its_own_syntax() {
    for code in [
        "#!/usr/bin/env node\nconst fs = require('fs');\nif (!fs) return;\n",
        "import fs from 'fs';\nexport default async () => { await import('x'); };\nawait fs.x();",
        "const x = await fetch('u');",
        "console.log(import.meta.url)",
        "with (a) {}",
    ] {
        assert_eq!(problems(code, ParseGoal::File), [""; 0], "{code}");
    }
    let broken = [
        ("import a from 'a';\nwith (a) {}", "2:1 `with` statements are not allowed"),
        ("const fs = require('fs';", "1:24 expected `,` or `)` but found `;`"),
        ("export const a = ;", "1:18 unexpected token `;`"),
        ("let a;\nlet a;", "2:5 identifier `a` has already been declared"),
    ];
    for (code, expected) in broken {
        assert_eq!(problems(code, ParseGoal::File), [expected], "{code}");
    }
}

#[test]
fn all_problems_are_reported_in_order_up_to_twenty() {
    let code = "let a;\nlet b;\nlet b;\nlet a;\nbreak;";
    let positions: Vec<_> =
        problems(code, ParseGoal::Function).iter().map(|problem| problem[..3].to_owned()).collect();
    assert_eq!(positions, ["3:5", "4:5", "5:1"]);
    assert_eq!(function(&"let a;".repeat(100)).problems.len(), 20);
}

#[test]
fn an_import_is_reported_once() {
    let script = function("import x from 'y';\nimport.meta.url;\nx();");
    assert_eq!(script.problems, []);
    assert_eq!(script.forbidden.len(), 2);
}

#[test]
fn syntax_errors_and_limits_have_different_kinds() {
    assert_eq!(function("(").problems[0].kind, SyntaxProblemKind::Syntax);
    assert_eq!(function(&" ".repeat(2 << 20)).problems[0].kind, SyntaxProblemKind::Limit);
}

/// The first error for which the engine refuses to compile, as the sandbox's failures report it.
#[test]
fn the_first_error_of_a_program_is_found_in_scripts_and_modules() {
    let cases: &[(ParseGoal, &str, Option<&str>)] = &[
        (ParseGoal::Function, "module.exports = () => 1;", None),
        (ParseGoal::Function, "let a = 1;\nconst y = ;", Some("2:11 unexpected token `;`")),
        (
            ParseGoal::Function,
            "let a;\nimport fs from 'fs';\nlet a;",
            Some("2:1 `import fs from 'fs';` imports something: a program has only what is in it"),
        ),
        (
            ParseGoal::Function,
            "let a; let a;\nimport 'fs';",
            Some("1:12 identifier `a` has already been declared"),
        ),
        // Fails when it runs, not when it is compiled.
        (ParseGoal::Function, "module.exports = () => import('fs');", None),
        (ParseGoal::Module, "export default () => 1;", None),
        (ParseGoal::Module, "export default (", Some("1:17 expected `)` but the code ends")),
        (
            ParseGoal::Module,
            "const a = 1;\nexport * from'fs';",
            Some("2:1 `export * from'fs';` imports something: a program has only what is in it"),
        ),
        (ParseGoal::Module, "export default async () => await import('fs');", None),
        (ParseGoal::Module, "export default () => import.meta.url;", None),
        (
            ParseGoal::Module,
            "export default class { @d m() {} }",
            Some("1:24 decorators are not part of the language that the sandbox runs"),
        ),
    ];
    for (goal, code, expected) in cases {
        let error = read(code, *goal, &[]).first_error();
        let shown = error
            .map(|error| format!("{} {}", line_column(code, error.range.start), error.message));
        assert_eq!(shown.as_deref(), *expected, "{code}");
    }
    // Code beyond the limits may be right: nothing is said about it.
    assert_eq!(read(&" ".repeat(2 << 20), ParseGoal::Function, &[]).first_error(), None);
}
