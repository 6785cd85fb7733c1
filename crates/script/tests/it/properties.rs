//! Whatever the text: no panic, and every range can be cut out of it.

use proptest::prelude::*;
use toolwright_script::{Goal, Script, Thrown, blame, read};

/// Pieces that get far into a parser when they are put together at random.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "`",
    "${",
    "'",
    "\"",
    "/",
    "//",
    "/*",
    "*/",
    "\\",
    "\n",
    "\r\n",
    " ",
    ";",
    ",",
    ".",
    "?.",
    "=>",
    "=",
    "+",
    "++",
    "...",
    ":",
    "?",
    "!",
    "#",
    "@",
    "<!--",
    "a",
    "ä",
    "😀",
    "1",
    "0x",
    "1n",
    "let",
    "const",
    "var",
    "function",
    "async",
    "await",
    "yield",
    "class",
    "extends",
    "static",
    "return",
    "if",
    "else",
    "for",
    "of",
    "in",
    "import",
    "export",
    "default",
    "from",
    "module",
    "exports",
    "require",
    "globalThis",
    "this",
    "typeof",
    "new",
    "with",
    "fs",
    "process",
    "binding",
    "valid",
    "errors",
    "undefined",
    "'use strict'",
    "\u{2028}",
    "\u{feff}",
    "\\u{61}",
];

fn ranges_hold(code: &str, script: &Script) {
    let ranges = script.problems.iter().map(|problem| &problem.range);
    let ranges = ranges.chain(script.forbidden.iter().map(|found| &found.range));
    for range in ranges.chain(script.free.iter().map(|free| &free.range)) {
        assert!(code.get(range.clone()).is_some(), "{range:?} of {code:?}");
    }
}

fn hold(code: &str) {
    for goal in [Goal::Function, Goal::File] {
        ranges_hold(code, &read(code, goal, &["tools"]));
    }
    // Wherever the engine says that it was, also where there is nothing.
    for at in (0..code.len() + 2).step_by(code.len() / 8 + 1) {
        let error = |message| Thrown::Error { at, caller: Some(at), message };
        for thrown in [
            error("Cannot convert undefined or null to object"),
            error("value is not iterable"),
            error("not a function"),
            Thrown::Other(Some(at), "a text"),
            Thrown::Import("a"),
        ] {
            let blamed = blame(code, false, thrown);
            assert!(
                blamed.is_none_or(|byte| byte == at || code.is_char_boundary(byte)),
                "{thrown:?} in {code:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_text(code in any::<String>()) {
        hold(&code);
    }

    #[test]
    fn any_pieces(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40), gap in "[ ]?") {
        hold(&pieces.join(&gap));
    }
}
