//! The forms of an entry point.

use toolwright_script::{EntryPoint, ParseGoal, read};

use crate::support::function;

fn exports(names: &[&str]) -> EntryPoint {
    EntryPoint::Exports(names.iter().map(ToString::to_string).collect())
}

fn ambiguous(names: &[&str]) -> EntryPoint {
    EntryPoint::Ambiguous(names.iter().map(ToString::to_string).collect())
}

fn declared(name: &str) -> EntryPoint {
    EntryPoint::Declared(name.to_owned())
}

#[test]
fn entry_points_of_all_forms_are_found() {
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
        ("(function () { return { valid: true, errors: [] }; })();", EntryPoint::Value),
        ("(function () { return 1 }())", EntryPoint::Value),
        ("(function () { return 1 }).call(this)", EntryPoint::Value),
        ("(() => 1)()", EntryPoint::Value),
        ("(async () => { await 1 })()", EntryPoint::Value),
        ("(function (args) { })", EntryPoint::Value),
        ("args => args", EntryPoint::Value),
        ("({ valid: true, errors: [] })", EntryPoint::Value),
        ("data.map(x => x.id)", EntryPoint::Value),
        ("function f() { return 1 } f(args)", EntryPoint::Value),
        ("function f() {} f", EntryPoint::Value),
        ("(function () { return 1 })(); function helper() {}", EntryPoint::Value),
        ("if (args.x) { 1 } else { 2 }", EntryPoint::Value),
        ("module.exports = { version: 1 }; (function () { return 1 })()", EntryPoint::Value),
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
        ("", EntryPoint::None),
        ("// nothing here", EntryPoint::None),
        ("const limit = 3;", EntryPoint::None),
        ("function f() {} function g() {}", ambiguous(&["f", "g"])),
        ("function f() {} const g = () => 1", ambiguous(&["f", "g"])),
        ("(function () { args.x })()", EntryPoint::None),
        ("class A {}", EntryPoint::None),
        ("throw new Error('no')", EntryPoint::None),
        ("console.log(args)", EntryPoint::None),
        // no script
        ("function f( {", EntryPoint::Unknown),
    ];
    for (code, expected) in cases {
        assert_eq!(function(code).entry, expected, "{code}");
    }
    assert_eq!(read("function f() {}", ParseGoal::File, &[]).entry, EntryPoint::Unknown);
}
