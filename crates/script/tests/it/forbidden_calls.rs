//! What the sandbox does not allow, and what only looks like it.

use toolwright_script::ForbiddenKind::{DynamicImport, FileAccess, Import, Require};
use toolwright_script::{ForbiddenKind, ParseGoal, read};

use crate::support::function;

#[test]
fn forbidden_calls_are_found() {
    let cases: &[(&str, &[(ForbiddenKind, &str)])] = &[
        ("const fs = require('fs'); fs.readFileSync('x')", &[(Require, "require('fs')")]),
        ("const r = require; r('fs')", &[(Require, "require")]),
        ("(0, require)('fs')", &[(Require, "require")]),
        ("function f() { return require(name) }", &[(Require, "require(name)")]),
        ("require?.('fs')", &[(Require, "require?.('fs')")]),
        (
            "`${require('a')}${require('b')}`",
            &[(Require, "require('a')"), (Require, "require('b')")],
        ),
        ("require(require('a'))", &[(Require, "require(require('a'))"), (Require, "require('a')")]),
        ("module.require('fs')", &[(Require, "module.require('fs')")]),
        ("module['require']('fs')", &[(Require, "module['require']('fs')")]),
        ("globalThis.require('fs')", &[(Require, "globalThis.require('fs')")]),
        ("globalThis['require']('fs')", &[(Require, "globalThis['require']('fs')")]),
        ("globalThis?.[`require`]?.('fs')", &[(Require, "globalThis?.[`require`]?.('fs')")]),
        ("(globalThis?.require)('fs')", &[(Require, "globalThis?.require")]),
        ("this.require('fs')", &[(Require, "this.require('fs')")]),
        ("const f = () => this.require('fs')", &[(Require, "this.require('fs')")]),
        ("global.globalThis.require('fs')", &[(Require, "global.globalThis.require('fs')")]),
        ("const { require: r } = module;", &[(Require, "require: r")]),
        ("const { fs, x } = globalThis;", &[(FileAccess, "fs")]),
        ("({ require })", &[(Require, "require")]),
        (
            "if (a) { function require() {} } function f() { g(require('x')) } function g(require) {}",
            &[],
        ),
        ("import('fs')", &[(DynamicImport, "import('fs')")]),
        ("async () => await import(name)", &[(DynamicImport, "import(name)")]),
        ("import fs from 'fs'; fs.x()", &[(Import, "import fs from 'fs';")]),
        ("import 'fs'", &[(Import, "import 'fs'")]),
        ("import'fs'; import{a}from'b'", &[(Import, "import'fs';"), (Import, "import{a}from'b'")]),
        ("import /* soon */ ('fs')", &[(DynamicImport, "import /* soon */ ('fs')")]),
        // Found by its name and by its URL, and reported once.
        ("fs.open('r', 'file:///x')", &[(FileAccess, "fs.open('r', 'file:///x')")]),
        ("export * from 'fs'", &[(Import, "export * from 'fs'")]),
        ("import.meta.url", &[(DynamicImport, "import.meta")]),
        ("fs.readFileSync('/etc/passwd')", &[(FileAccess, "fs")]),
        ("Deno.readTextFile('x'); Bun.file('x')", &[(FileAccess, "Deno"), (FileAccess, "Bun")]),
        ("process.binding('fs')", &[(FileAccess, "process.binding('fs')")]),
        ("process.mainModule.require('fs')", &[(FileAccess, "process.mainModule")]),
        (
            "globalThis.process?.dlopen(m, 'x')",
            &[(FileAccess, "globalThis.process?.dlopen(m, 'x')")],
        ),
        ("process.getBuiltinModule('fs')", &[(FileAccess, "process.getBuiltinModule('fs')")]),
        ("__dirname + __filename", &[(FileAccess, "__dirname"), (FileAccess, "__filename")]),
        ("fetch('file:///etc/passwd')", &[(FileAccess, "fetch('file:///etc/passwd')")]),
        ("fetch(`FILE:///${name}`)", &[(FileAccess, "fetch(`FILE:///${name}`)")]),
        (
            "new XMLHttpRequest().open('GET', 'file:///x')",
            &[(FileAccess, "new XMLHttpRequest().open('GET', 'file:///x')")],
        ),
        ("require(\n'fs')", &[(Require, "require(…")]),
    ];
    for (code, expected) in cases {
        let found = function(code).forbidden;
        let shown: Vec<_> = found.iter().map(|found| (found.kind, found.what.as_str())).collect();
        assert_eq!(shown, *expected, "{code}");
    }
}

#[test]
fn near_misses_are_not_reported() {
    for code in [
        "'require(\"fs\")'; \"import('x')\"; `require('fs')`",
        "// require('fs')\n/* import('fs') */",
        "/require('fs')/.test(args.text)",
        "args.require('fs'); args.fs.x; args['require']",
        "({ require: 1, fs: 2, import: 3 })",
        "const o = { require() {} }; o.require('fs')",
        "function require(x) { return x } require('fs')",
        "(function (require) { require('fs') })(args.load)",
        "const fs = args.files; fs.x",
        "let process = args; process.binding('x')",
        "const module = args; module.require('x')",
        "try { } catch (require) { require() }",
        "typeof require === 'function'; typeof globalThis.require",
        "require = args.load; require('x')",
        "(function () { return this.require('fs') })()",
        "class A { m() { this.require() } }",
        "fetch('https://example.org/file:x'); args.open('GET', 'https://x'); args.fetch('file:x')",
        "const globalThis = args; globalThis.require('x')",
        "const { require } = args;",
        "module.exports = { requireAll() {} }",
        "process.env.HOME",
    ] {
        assert_eq!(function(code).forbidden, [], "{code}");
    }
}

#[test]
fn names_that_the_caller_provides_are_allowed() {
    assert_eq!(read("fs.read('x')", ParseGoal::Function, &["fs"]).forbidden, []);
}

#[test]
fn excerpts_are_cut_to_sixty_characters() {
    let found = function(&format!("require('{}')", "ä".repeat(500))).forbidden;
    assert_eq!(found[0].what.chars().count(), 61);
    assert_eq!(found[0].range, 0..1011);
}
