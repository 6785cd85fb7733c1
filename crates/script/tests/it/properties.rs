//! Whatever the text: no panic, and every range can be cut out of it.

use proptest::prelude::*;
use toolwright_script::{
    Clue, Frame, Goal, Script, blame, blame_import, blame_throw, mistake, read,
};

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
        let frames = [Frame::Program(at), Frame::Native("map"), Frame::Program(at)];
        let is_place =
            |byte: Option<usize>| byte.is_none_or(|byte| byte == at || code.is_char_boundary(byte));
        for message in MESSAGES {
            for frames in [&frames[..1], &frames, &frames[1..]] {
                let clue = Clue { frames, message, class: Some("TypeError"), is_given: &|_| false };
                assert!(is_place(blame(code, false, clue)), "{frames:?}, {message} in {code:?}");
            }
        }
        assert!(is_place(blame_throw(code, false, Some(at), "a text")), "{at} in {code:?}");
        assert!(is_place(blame_import(code, "a")), "{code:?}");
    }
    for is_module in [false, true] {
        if let Some(mistake) = mistake(code, is_module) {
            assert!(code.get(mistake.range.clone()).is_some(), "{mistake:?} of {code:?}");
        }
    }
}

const MESSAGES: &[&str] = &[
    "Cannot convert undefined or null to object",
    "value is not iterable",
    "not a function",
    "not a constructor",
    "cannot read property 'a' of undefined",
    "cannot set property 'a' of undefined",
    "'a' is read-only",
    "class constructors must be invoked with 'new'",
    "an author's own",
];

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
