//! Code that is made to overflow the stack or to take quadratic time. It is read on a thread of 2
//! MiB, which is what a worker of tokio has.

use std::time::{Duration, Instant};

use toolwright_script::{MAX_DEPTH, ParseGoal, ScriptFacts, SyntaxProblemKind, read};

/// Bytes of stack of a worker of tokio.
const STACK: usize = 2 * 1024 * 1024;

/// The longest that reading one source may take. Each takes well under a second on an idle machine;
/// time that grows with the square of these sizes would take hours.
const TIME_LIMIT: Duration = Duration::from_secs(60);

fn read_on_small_thread(code: String) -> ScriptFacts {
    let start = Instant::now();
    let worker = std::thread::Builder::new().stack_size(STACK);
    let worker = worker.spawn(move || read(&code, ParseGoal::Function, &[]));
    let script = worker.expect("a thread").join().expect("no panic");
    assert!(start.elapsed() < TIME_LIMIT, "{:?}", start.elapsed());
    script
}

/// Name, what is repeated before the middle, the middle, what is repeated after it.
const NESTS: &[(&str, &str, &str, &str)] = &[
    ("round", "(", "a", ")"),
    ("round, open", "(", "", ""),
    ("square", "[", "", "]"),
    ("square, open", "[", "", ""),
    ("curly", "{", "", "}"),
    ("curly, open", "{", "", ""),
    ("objects", "x={a:", "1", "}"),
    ("defaults", "(a=", "1", ")"),
    ("default parameters", "(a=", "1", ")=>1"),
    ("templates", "`${", "a", "}`"),
    ("calls", "f(", "", ")"),
    ("functions", "function f(){", "", "}"),
    ("IIFEs", "(function(){", "", "})()"),
    ("methods", "x={a(){return", " 1", "}}"),
    ("classes", "class A{static{", "", "}}"),
    ("arrows with bodies", "()=>{", "", "}"),
    ("arrows in choices", "a?(b)=>(", "c", "):d"),
    ("patterns", "({a:", "b", "}=1)"),
    ("hidden by a comment", "(/*)*/", "a", ")"),
    ("hidden by a string", "(')',", "a", ")"),
    ("hidden by a template", "(`)`,", "a", ")"),
    ("hidden by a regex", "(/)/,", "a", ")"),
    ("hidden by a class of a regex", "(/[/)]/,", "a", ")"),
    ("hidden after a block", "({}/')/,'),(", "a", ")"),
    ("hidden after a header", "(function(){if(a)/')/;'", "", "})"),
    ("hidden after a line separator", "(//\u{2028}", "a", ")"),
    ("hidden behind a keyword", "(typeof/'/,')',", "a", ")"),
    ("hidden behind an odd space", "(typeof\u{a0}/')/,", "a", ")"),
    ("hidden behind a number", "(3in/')/,'),(", "a", ")"),
    ("hidden in an old comment", "(<!-- )\n", "a", ")"),
    ("prefixes", "!", "a", ""),
    ("signs", "- ", "a", ""),
    ("awaits", "await ", "a", ""),
    ("typeof", "typeof ", "a", ""),
    ("new", "new ", "a", ""),
    ("do", "do ", "a", ""),
];

#[test]
fn code_that_is_nested_too_deeply_is_refused() {
    for (name, before, middle, after) in NESTS {
        let count = (1 << 20) / (before.len() + after.len());
        let code = format!("{}{middle}{}", before.repeat(count), after.repeat(count));
        let script = read_on_small_thread(code);
        assert_eq!(script.problems.len(), 1, "{name}");
        assert_eq!(script.problems[0].kind, SyntaxProblemKind::Limit, "{name}");
    }
}

#[test]
fn nesting_up_to_the_limit_is_read() {
    for (name, before, middle, after) in NESTS {
        let count = MAX_DEPTH / 3;
        read_on_small_thread(format!("{}{middle}{}", before.repeat(count), after.repeat(count)));
        // After a `/` that only a grammar understands, more brackets are allowed.
        read_on_small_thread(format!(
            "{{}}/1/;{}{middle}{}",
            before.repeat(600),
            after.repeat(600)
        ));
        assert!(!name.is_empty());
    }
    let deep = |levels| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(read_on_small_thread(deep(MAX_DEPTH)).problems, []);
    let problem = read_on_small_thread(deep(MAX_DEPTH + 1)).problems.remove(0);
    assert_eq!(problem.message, "the code is nested more than 200 levels deep");
    assert_eq!(problem.range, 200..201);
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
fn long_chains_are_read() {
    for (before, link, after) in CHAINS {
        let chain = |tokens| format!("{before}{}{after}", link.repeat(tokens / tokens_in(link)));
        let script = read_on_small_thread(chain(95_000));
        let refused =
            script.problems.iter().any(|problem| problem.kind == SyntaxProblemKind::Limit);
        assert!(!refused, "{link} {:?}", script.problems);
        read_on_small_thread(chain(400_000));
    }
}

/// An upper bound of the tokens in a link: every word, and every character outside of words.
fn tokens_in(link: &str) -> usize {
    let words = link.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
    words + link.chars().filter(|c| !c.is_alphanumeric() && !c.is_whitespace()).count()
}

#[test]
fn ordinary_code_is_far_from_the_limits() {
    let function = "function f0(a, b) {\n  // it's (not) so\n  const s = `${a / b}/x` + \"it's\" + 'a\"b';\n  \
                    if (a > 1) { return /['\"(]/.test(s) ? a / 2 : b / 3 }\n  return { a, b: [s, 1e3 / 2] }\n}\n";
    let script = read_on_small_thread(function.repeat(1_000));
    assert_eq!(script.problems, []);
}

#[test]
fn a_mebibyte_of_any_character_is_read() {
    for text in [
        "\0", "ä", "😀", "\\", "`", "'", "/", "*/", "\u{2028}", "\u{feff}", "#", "@", "<!--", "}",
        ")",
    ] {
        read_on_small_thread(text.repeat((1 << 20) / text.len()));
    }
    let script = read_on_small_thread(" ".repeat((1 << 20) + 1));
    assert_eq!(script.problems[0].message, "the code has 1048577 bytes, more than 1048576");
    assert_eq!(read_on_small_thread(" ".repeat(1 << 20)).problems, []);
}
