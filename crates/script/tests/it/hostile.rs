//! Code that makes deep trees or long lists: the analysis takes time in proportion to its length,
//! and its facts stay small. What overflows the stack or takes too long is tried through the
//! binary, where a worker process is lost (`crates/cli/tests/it/hostile_scripts.rs`).

use std::time::{Duration, Instant};

use toolwright_script::{
    EntryPoint, MAX_CODE_BYTES, MAX_LISTED, MAX_TEXT, ParseGoal, ScriptFacts, SyntaxProblemKind,
    read,
};

/// Bytes of stack for the deepest of these trees in an unoptimised build.
const STACK: usize = 512 * 1024 * 1024;

/// The longest that reading one source may take. Each takes well under a second on an idle machine;
/// time that grows with the square of these sizes would take hours.
const TIME_LIMIT: Duration = Duration::from_secs(60);

fn read_with_large_stack(code: String) -> ScriptFacts {
    let start = Instant::now();
    let worker = std::thread::Builder::new().stack_size(STACK);
    let worker = worker.spawn(move || read(&code, ParseGoal::Function, &[]));
    let script = worker.expect("a thread").join().expect("no panic");
    assert!(start.elapsed() < TIME_LIMIT, "{:?}", start.elapsed());
    script
}

/// Chains have no brackets, but make a tree as deep as they are long.
const CHAINS: &[(&str, &str, &str)] = &[
    ("", "a+", "a"),
    ("", "a&&", "a"),
    ("", "a**", "a"),
    ("", "a=", "a"),
    ("", "a=>", "a"),
    ("", "async a=>", "a"),
    ("", "a?a:", "a"),
    ("", "a?", "a"),
    ("a", ".a", ""),
    ("a", "?.a", ""),
    ("a", "[0]", ""),
    ("a", "()", ""),
    ("a", "``", ""),
    ("", "a,", "a"),
    ("", "if(a)", "b"),
    ("", "if(a)b;else ", "c"),
    ("", "for(;;)", "b"),
    ("", "with(a)", "b"),
    ("x=", "class extends ", "a{}"),
    ("", "this.a+", "1"),
    ("", "b+(()=>{})+", "1"),
    ("async function f(){", "await a+", "a}"),
    ("function*f(){", "x=yield ", "a}"),
    ("/", "(", "/"),
    ("/", "[", "]/v"),
    ("/", "(?:a|", "/"),
    ("function f(", "a,", "){}"),
    ("", "let a;", ""),
    ("", "require('fs');", ""),
    ("", "exports.a=()=>{return 1};", ""),
    ("var ", "a=b,", "c"),
];

#[test]
fn long_chains_are_read_in_linear_time() {
    for (before, link, after) in CHAINS {
        read_with_large_stack(format!("{before}{}{after}", link.repeat(10_000)));
    }
}

#[test]
fn ordinary_code_is_read() {
    let function = "function f0(a, b) {\n  // it's (not) so\n  const s = `${a / b}/x` + \"it's\" + 'a\"b';\n  \
                    if (a > 1) { return /['\"(]/.test(s) ? a / 2 : b / 3 }\n  return { a, b: [s, 1e3 / 2] }\n}\n";
    let script = read_with_large_stack(function.repeat(1_000));
    assert_eq!(script.problems, []);
}

#[test]
fn a_mebibyte_of_any_character_is_read() {
    for text in ["\0", "ä", "😀", "\\", "'", "*/", "\u{2028}", "\u{feff}", "#", "@", "}", ")"] {
        read_with_large_stack(text.repeat(MAX_CODE_BYTES / text.len()));
    }
    let script = read_with_large_stack(" ".repeat(MAX_CODE_BYTES + 1));
    assert_eq!(script.problems[0].kind, SyntaxProblemKind::Limit);
    assert_eq!(script.problems[0].message, "the code has 1048577 bytes, more than 1048576");
    assert_eq!(read_with_large_stack(" ".repeat(MAX_CODE_BYTES)).problems, []);
}

#[test]
fn lists_and_texts_of_facts_are_bounded() {
    let many = |part: &dyn Fn(usize) -> String| {
        read_with_large_stack((0..10_000).map(part).collect::<String>())
    };
    assert_eq!(many(&|n| format!("a{n};")).free.len(), MAX_LISTED);
    assert_eq!(many(&|_| "require('x');".to_owned()).forbidden.len(), MAX_LISTED);
    let returns = many(&|n| if n == 0 { "() => {".to_owned() } else { "return 1;".to_owned() });
    assert!(returns.problems.len() == 1 && returns.returns.wrong.is_empty(), "{returns:?}");
    let returns = format!("function f() {{{}}}", "if (args) return 1;".repeat(10_000));
    let returns = read_with_large_stack(returns).returns;
    // The end of the block is one more way out.
    assert_eq!((returns.found, returns.wrong.len()), (10_001, MAX_LISTED));
    // One export too many: then the names count as not seen, so that none is missed.
    let exports = many(&|n| format!("exports.e{n} = () => 1;"));
    assert_eq!(exports.entry, EntryPoint::Exports(Vec::new()));
    let name = "ä".repeat(100_000);
    let script = read_with_large_stack(format!("let {name}; let {name};"));
    let message = &script.problems[0].message;
    assert!(message.len() <= MAX_TEXT && message.ends_with('…'), "{message}");
    let script = read_with_large_stack(name);
    assert!(script.free[0].name.len() <= MAX_TEXT && script.free[0].range == (0..200_000));
}
