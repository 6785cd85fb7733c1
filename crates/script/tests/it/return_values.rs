//! The shapes of the values that a validator returns.

use crate::support::function;

/// Code, then what it returns: found, shaped, unknown.
const CASES: &[(&str, (usize, usize, usize))] = &[
    (
        "function v(args) { const errors = []; return { valid: errors.length === 0, errors: errors }; }",
        (1, 1, 0),
    ),
    (
        "function v(args) { const errors = []; return { 'valid': !errors.length, errors }; } module.exports = { v };",
        (1, 1, 0),
    ),
    (
        "(function () { if (a) { return { valid: false, errors: ['x'] } } return { valid: true, errors: [] } })()",
        (2, 2, 0),
    ),
    ("(args) => ({ valid: true, errors: [] })", (1, 1, 0)),
    (
        "module.exports = async args => args.x ? { valid: true, errors: [] } : { valid: false }",
        (2, 1, 0),
    ),
    ("module.exports = v; function v() { return { valid: true, errors: [] } }", (1, 1, 0)),
    ("({ valid: true, errors: [] })", (1, 1, 0)),
    ("const r = { valid: true, errors: [] }; r", (1, 1, 0)),
    ("function v() { const r = { valid: true, errors: [] }; return r }", (1, 1, 0)),
    ("function v() { const r = {}; r.valid = true; r.errors = []; return r }", (1, 0, 1)),
    ("function v() { return { valid: true, ...rest } }", (1, 0, 1)),
    ("function v() { return { valid: true, errors: [], ...rest } }", (1, 1, 0)),
    ("function v() { return build() }", (1, 0, 1)),
    ("async function v() { return await tools.call() }", (1, 0, 1)),
    ("function v(args) { return args }", (1, 0, 1)),
    ("function v() { return a && { valid: true, errors: [] } }", (2, 1, 0)),
    ("function v() { return a && b && { valid: true, errors: [] } }", (2, 1, 0)),
    ("function v() { return [a] && { valid: true, errors: [] } }", (1, 1, 0)),
    ("function v() { return a || { valid: true, errors: [] } }", (2, 1, 1)),
    ("function v() { let r; return (log(), r = { valid: true, errors: [] }) }", (1, 1, 0)),
    ("function v() { return true }", (1, 0, 0)),
    ("function v() { return { ok: true } }", (1, 0, 0)),
    ("function v() { return { valid: true } }", (1, 0, 0)),
    ("function v() { const errors = []; return errors }", (1, 0, 0)),
    ("function v() { const errors = []; return errors.length === 0 }", (1, 0, 0)),
    ("function v() { return }", (1, 0, 0)),
    ("function v() { return undefined }", (1, 0, 0)),
    ("function v() { [1].map(function () { return { valid: true, errors: [] } }) }", (0, 0, 0)),
    ("function v() { [1].map(() => { return { valid: true, errors: [] } }) }", (0, 0, 0)),
    ("function v() { throw new Error('x') }", (0, 0, 1)),
    ("function v() { return { valid: 'yes', errors: [] } }", (1, 0, 0)),
    ("function v() { return { valid: true, errors: 'none' } }", (1, 0, 0)),
    ("function v() { return { valid: false, errors: [{ message: 'x' }] } }", (1, 0, 0)),
    ("function v() { return { valid: false, errors: [text, `a ${b}`, 'c'] } }", (1, 1, 0)),
    ("function* v() { return { valid: true, errors: [] } }", (0, 0, 1)),
    ("module.exports = make()", (0, 0, 1)),
    (
        "module.exports = { a() { return 1 }, b() { return { valid: true, errors: [] } } }",
        (2, 1, 0),
    ),
    ("function v( {", (0, 0, 1)),
];

#[test]
fn returned_values_are_counted_by_shape() {
    for (code, expected) in CASES {
        let returns = function(code).returns;
        assert_eq!((returns.found, returns.shaped, returns.unknown), *expected, "{code}");
        assert_eq!(returns.can_be_verdict(), expected.1 + expected.2 > 0, "{code}");
    }
}

#[test]
fn values_that_are_not_verdicts_have_positions() {
    for (code, wrong) in [
        ("function v() { if (a) return true; return { valid: true, errors: [] } }", &["true"][..]),
        (
            "function v() { return a ? 1 : { valid: 2, errors: [] } }",
            &["{ valid: 2, errors: [] }", "1"],
        ),
        ("function v() { return a() && { valid: true, errors: [] } }", &["a()"]),
        ("function v() { return }", &["return"]),
        ("function v() { return build() }", &[]),
        // Only the definition's id decides which of them is called.
        ("module.exports = { a() { return 1 }, b() { return { valid: true, errors: [] } } }", &[]),
    ] {
        let returns = function(code).returns;
        let found: Vec<&str> = returns.wrong.iter().map(|range| &code[range.clone()]).collect();
        assert_eq!(found, wrong, "{code}");
    }
}
