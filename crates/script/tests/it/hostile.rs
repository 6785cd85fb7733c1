//! Code that is made to hurt: read on a 2 MB thread, as tokio has them, in bounded time.

use std::time::{Duration, Instant};

use toolwright_script::{
    Clue, Frame, Goal, MAX_DEPTH, ProblemKind, Script, blame, blame_throw, read,
};

/// What a worker of tokio has.
const STACK: usize = 2 * 1024 * 1024;

/// Generous, for slow machines and unoptimised builds; the square of these sizes would take far
/// longer.
const PATIENCE: Duration = Duration::from_secs(60);

fn read_on_small_thread(code: String) -> Script {
    let start = Instant::now();
    let worker = std::thread::Builder::new().stack_size(STACK);
    let worker = worker.spawn(move || read(&code, Goal::Function, &[]));
    let script = worker.expect("a thread").join().expect("no panic");
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
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
fn nests_are_refused() {
    for (name, before, middle, after) in NESTS {
        let count = (1 << 20) / (before.len() + after.len());
        let code = format!("{}{middle}{}", before.repeat(count), after.repeat(count));
        let script = read_on_small_thread(code);
        assert_eq!(script.problems.len(), 1, "{name}");
        assert_eq!(script.problems[0].kind, ProblemKind::Limit, "{name}");
    }
}

#[test]
fn nests_up_to_the_limit_are_read() {
    for (name, before, middle, after) in NESTS {
        let count = MAX_DEPTH / 3;
        read_on_small_thread(format!("{}{middle}{}", before.repeat(count), after.repeat(count)));
        // Blind counting lets more of them pass.
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

/// Chains are no brackets, but a tree as deep as they are long.
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
        let refused = script.problems.iter().any(|problem| problem.kind == ProblemKind::Limit);
        assert!(!refused, "{link} {:?}", script.problems);
        read_on_small_thread(chain(400_000));
    }
}

/// At most so many: every byte that is not inside a word, and every word.
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
fn a_mebibyte_of_anything() {
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

/// The parent looks for what to blame while others wait for it.
#[test]
fn blaming_takes_no_time() {
    let functions = |one: &str, count: usize| {
        (0..count).map(|n| one.replace('N', &n.to_string())).collect::<String>()
    };
    let classes = format!(
        "class A0 extends Error {{}}\n{}{}throw 1",
        (1..700).map(|n| format!("class A{n} extends A{} {{}}\n", n - 1)).collect::<String>(),
        "if (0) throw new A699('x');\n".repeat(2_000),
    );
    let sources = [
        functions("function fN(args) { const x = args.a; return x.b + N; }\n", 2_000),
        functions("const gN = (x) => x, // a comment\n hN = 1;\n", 2_500),
        format!("module.exports = (args) => args.a.x{}", "+1".repeat(45_000)),
        format!(
            "const s = '{}'; module.exports = (args) => args.a.x{}",
            "!".repeat(60_000),
            "+1".repeat(30_000)
        ),
        format!("module.exports = [{}]", "(args)=>args.a.x,get=>[],".repeat(5_000)),
        format!("const {{ a }} = x; {}", "const { b: [c] } = y;\n".repeat(5_000)),
        classes,
    ];
    for code in &sources {
        let began = Instant::now();
        for at in [0, code.len() / 2, code.len() - 1] {
            let frames = [Frame::Program(at), Frame::Program(at)];
            for message in [
                "cannot read property 'x' of undefined",
                "Cannot convert undefined or null to object",
                "not a function",
            ] {
                blame(
                    code,
                    false,
                    Clue {
                        frames: &frames,
                        message,
                        class: Some("TypeError"),
                        is_given: &|path| path.len() > 1,
                    },
                );
            }
            blame_throw(code, false, Some(at), "threw `1`, which is not an Error");
        }
        // Twelve times.
        assert!(began.elapsed() < Duration::from_secs(6), "{:?} for {:.60}", began.elapsed(), code);
    }
}
