//! Names that nothing declares.

use toolwright_script::{ParseGoal, read};

use crate::support::{function, line_column};

#[test]
fn free_names_at_their_first_use() {
    let cases: &[(&str, &[&str])] = &[
        ("setTimeout(f, 1);\nf();", &["1:1 setTimeout", "1:12 f"]),
        ("const u = new URL(args.x); Buffer.from(u)", &["1:15 URL", "1:28 Buffer"]),
        (
            "Intl.x; WeakRef; Atomics; SharedArrayBuffer; performance",
            &[
                "1:1 Intl",
                "1:9 WeakRef",
                "1:18 Atomics",
                "1:27 SharedArrayBuffer",
                "1:46 performance",
            ],
        ),
        ("process.env.X", &["1:1 process"]),
        ("arguments[0]", &["1:1 arguments"]),
        ("/* ä😀 */ helper(args)", &["1:10 helper"]),
        ("({ errors })", &["1:4 errors"]),
        ("x++", &["1:1 x"]),
        ("'use strict'; x = 1", &["1:15 x"]),
        ("await tools", &["1:7 tools"]),
        ("function f() { return g() } var h = () => g()", &["1:23 g"]),
        ("{ let inner = 1 } inner", &["1:19 inner"]),
        ("(function named() {})(); named()", &["1:26 named"]),
        ("typeof lost; lost.x", &["1:14 lost"]),
    ];
    for (code, expected) in cases {
        let free = function(code).free;
        let shown: Vec<_> = free
            .iter()
            .map(|free| format!("{} {}", line_column(code, free.range.start), free.name))
            .collect();
        assert_eq!(shown, *expected, "{code}");
    }
}

#[test]
fn declared_and_provided_names_are_not_free() {
    for code in [
        "args; module; exports; console.log(undefined, NaN, Infinity, globalThis)",
        "Object; Array; JSON; Math; Map; Promise; Symbol; BigInt; Date; RegExp; Proxy; Reflect; Float64Array",
        "parseInt; parseFloat; isNaN; encodeURIComponent; escape; eval; Function; structure: for (;;) {}",
        "typeof window !== 'undefined'; typeof (lost)",
        "function f() { return arguments.length + (() => arguments[0])() }",
        "total = 0; total += 1",
        "for (const [k, v] of Object.entries(args)) { k + v }",
        "try { f() } catch { } function f({ a = 1, ...b } = {}) { return a + b }",
        "var later; use(); function use() { later }",
        "with (args) { anything }",
        "class A extends Array { x = 1; m() { return new A().x } }",
        "({ a: 1, [args.k]: 2 }).a.b.c",
        "const { response, fieldName: name } = args; response.find(f => f.name === name)",
    ] {
        assert_eq!(function(code).free, [], "{code}");
    }
}

#[test]
fn forbidden_names_are_not_reported_again_as_free() {
    for code in [
        "require('fs')",
        "fs.x",
        "process.binding('x'); process.env",
        "fetch('file:x')",
        "global.require('x')",
    ] {
        let facts = function(code);
        assert_eq!((facts.forbidden.len(), facts.free.len()), (1, 0), "{code}");
    }
}

#[test]
fn names_that_the_caller_provides_are_not_free() {
    let code = "async function f() { return await tools.call('a', {}) }";
    assert_eq!(read(code, ParseGoal::Function, &["tools"]).free, []);
    assert_eq!(read(code, ParseGoal::Function, &[]).free[0].name, "tools");
}
