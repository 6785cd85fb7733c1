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

/// A function that can end without a `return` gives `undefined`, which is reported at its brace.
#[test]
fn every_way_out_of_a_function_is_looked_at() {
    for (block, falls_off) in [
        ("if (a) return V;", true),
        ("if (a) return V; else return V;", false),
        ("if (a) { return V } else { throw new Error() }", false),
        ("while (a) return V;", true),
        ("while (true) { if (a) return V; }", false),
        ("while (1) { if (a) return V; break; }", true),
        ("while (true) { for (const b of a) { if (b) break; } if (a) return V; }", false),
        ("while (true) { switch (a) { case 1: break; default: return V } }", false),
        ("while (0) return V;", true),
        ("for (;;) { if (a) return V; }", false),
        ("for (;;) { if (a) break; return V; }", true),
        ("for (; true;) { if (a) return V; }", false),
        ("for (const b of a) return V;", true),
        ("out: for (;;) { for (;;) { if (a) break out; return V; } }", true),
        ("out: for (;;) { for (;;) { if (a) continue out; return V; } }", false),
        ("out: { if (a) break out; return V; }", true),
        ("out: { if (a) return V; throw new Error(); }", false),
        ("do { return V; } while (0);", false),
        ("do { if (a) continue; return V; } while (b);", true),
        ("do { if (a) return V; } while (true);", false),
        ("switch (a) { case 1: return V; }", true),
        ("switch (a) { case 1: return V; default: return V; }", false),
        ("switch (a) { case 1: case 2: return V; default: throw new Error(); }", false),
        ("switch (a) { case 1: break; default: return V; }", true),
        ("switch (a) { default: return V; case 1: }", true),
        ("switch (a) { case 1: b(); default: return V; }", false),
        ("try { return V; } catch { }", true),
        ("try { return V; } catch { return V; }", false),
        ("try { a(); } finally { return V; }", false),
        ("try { return V; } finally { a(); }", false),
        ("while (true) { try { break; } finally { return V; } }", false),
        ("return V; a();", false),
    ] {
        let block = block.replace('V', "{ valid: true, errors: [] }");
        let code = format!("function v(a, b) {{ {block} }}");
        let returns = function(&code).returns;
        let at_brace = code.len() - 1..code.len();
        assert_eq!(returns.wrong.contains(&at_brace), falls_off, "{code}: {returns:?}");
    }
}
