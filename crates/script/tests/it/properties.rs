//! For any text: no panic, and every range lies in the text.

use proptest::prelude::*;
use toolwright_script::{ParseGoal, ScriptFacts, read};

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

/// Every range of the facts can be sliced out of the code.
fn assert_ranges_are_valid(code: &str, facts: &ScriptFacts) {
    let problems = facts.problems.iter().map(|problem| &problem.range);
    let forbidden = facts.forbidden.iter().map(|call| &call.range);
    let free = facts.free.iter().map(|free| &free.range);
    for range in problems.chain(forbidden).chain(free).chain(&facts.returns.wrong) {
        assert!(code.get(range.clone()).is_some(), "{range:?} of {code:?}");
    }
    if let Some(error) = facts.first_error() {
        assert!(code.get(error.range.clone()).is_some(), "{error:?} of {code:?}");
    }
}

fn analyze_for_all_goals(code: &str) {
    for goal in [ParseGoal::Function, ParseGoal::Module, ParseGoal::File] {
        assert_ranges_are_valid(code, &read(code, goal, &["tools"]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_text_is_read_without_panic(code in any::<String>()) {
        analyze_for_all_goals(&code);
    }

    #[test]
    fn any_sequence_of_tokens_is_read_without_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40), gap in "[ ]?") {
        analyze_for_all_goals(&pieces.join(&gap));
    }
}
