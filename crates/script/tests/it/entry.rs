//! The forms of an entry point.

use toolwright_script::{Entry, Goal, read};

use crate::support::function;

fn exports(names: &[&str]) -> Entry {
    Entry::Exports(names.iter().map(ToString::to_string).collect())
}

fn declared(name: &str) -> Entry {
    Entry::Declared(name.to_owned())
}

#[test]
fn entries() {
    let cases = [
        // exports
        ("function f(args) {} module.exports = { f };", exports(&["f"])),
        (
            "function f() {} function g() {} module.exports = { f, g: g, h() {}, v: 1 };",
            exports(&["f", "g", "h"]),
        ),
        ("module.exports = function (args) {}", exports(&[])),
        ("module.exports = args => args", exports(&[])),
        ("const f = () => 1; module.exports = f;", exports(&[])),
        ("exports.f = function () {}", exports(&["f"])),
        ("module.exports.f = () => 1; module.exports.g = 2;", exports(&["f"])),
        ("module['exports'] = { 'a-b': () => 1 }", exports(&["a-b"])),
        ("exports = module.exports = function () {}", exports(&[])),
        ("module.exports = make()", exports(&[])),
        ("module.exports = { ...parts, f() {} }", exports(&[])),
        ("module.exports = { [name]: () => 1 }", exports(&[])),
        ("Object.assign(module.exports, { f() {} })", exports(&["f"])),
        ("const api = { f() {} }; module.exports = api;", exports(&["f"])),
        ("(function () { module.exports = { f() {} } })()", exports(&["f"])),
        ("if (typeof module !== 'undefined') module.exports = { f: args.f }", exports(&["f"])),
        ("globalThis.module.exports = { f() {} }", exports(&["f"])),
        ("class A {} module.exports = A", exports(&[])),
        // the value of the script
        ("(function () { return { valid: true, errors: [] }; })();", Entry::Value),
        ("(function () { return 1 }())", Entry::Value),
        ("(function () { return 1 }).call(this)", Entry::Value),
        ("(() => 1)()", Entry::Value),
        ("(async () => { await 1 })()", Entry::Value),
        ("(function (args) { })", Entry::Value),
        ("args => args", Entry::Value),
        ("({ valid: true, errors: [] })", Entry::Value),
        ("data.map(x => x.id)", Entry::Value),
        ("function f() { return 1 } f(args)", Entry::Value),
        ("function f() {} f", Entry::Value),
        ("(function () { return 1 })(); function helper() {}", Entry::Value),
        ("if (args.x) { 1 } else { 2 }", Entry::Value),
        ("module.exports = { version: 1 }; (function () { return 1 })()", Entry::Value),
        // the one function
        ("function f(args) { return args }", declared("f")),
        ("async function f(args) { return args }", declared("f")),
        ("'use strict';\nfunction f(args) {}", declared("f")),
        ("const f = function (args) {}", declared("f")),
        ("const limit = 3; let f = (args) => args;", declared("f")),
        ("function f() { function g() {} }", declared("f")),
        ("function f() {} console.log('loaded')", declared("f")),
        ("function f() {} (function () { f() })()", declared("f")),
        ("function f() {} undefined;", declared("f")),
        (
            "const module = {}; module.exports = function () {}; function f() {} void 0",
            declared("f"),
        ),
        ("exports = function () {}; function f() {} void 0", declared("f")),
        // nothing
        ("", Entry::None),
        ("// nothing here", Entry::None),
        ("const limit = 3;", Entry::None),
        ("function f() {} function g() {}", Entry::None),
        ("function f() {} const g = () => 1", Entry::None),
        ("(function () { args.x })()", Entry::None),
        ("class A {}", Entry::None),
        ("throw new Error('no')", Entry::None),
        ("console.log(args)", Entry::None),
        // no script
        ("function f( {", Entry::Unknown),
    ];
    for (code, expected) in cases {
        assert_eq!(function(code).entry, expected, "{code}");
    }
    assert_eq!(read("function f() {}", Goal::File, &[]).entry, Entry::Unknown);
}
