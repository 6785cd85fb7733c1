//! Hostile documents: each is read in bounded time, on a small stack, with the right diagnostic.

use std::time::{Duration, Instant};

use toolwright_source::{
    Document, MAX_ALIASED_NODES, MAX_BYTES, MAX_DEPTH, MAX_NODES, MAX_PROBLEMS, Syntax, render,
};

/// The most that one document may take. Debug builds need a few seconds; algorithms that are
/// quadratic or worse need minutes, so the bound tells them apart on a busy machine, too.
const PATIENCE: Duration = Duration::from_secs(60);

/// Parses a document, converts it to JSON and renders its problems, as every command does, on a
/// thread with a stack of 2 MiB. Returns the codes of its problems.
fn codes(name: &str, bytes: impl Into<Vec<u8>>, syntax: Syntax) -> Vec<&'static str> {
    let bytes = bytes.into();
    let work = move || {
        let document = Document::parse("hostile", bytes, syntax);
        drop(document.root().to_json());
        for problem in document.problems().iter().take(5) {
            drop((
                render::concise(problem),
                render::json(problem),
                render::full(problem, render::Colour::Off),
            ));
        }
        assert!(document.problems().len() <= MAX_PROBLEMS + 1);
        let mut codes: Vec<&'static str> =
            document.problems().iter().map(|p| p.code.name).collect();
        codes.dedup();
        codes
    };
    let start = Instant::now();
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    let codes = thread.join().unwrap_or_else(|_| panic!("{name} panicked"));
    assert!(start.elapsed() < PATIENCE, "{name} took {:?}", start.elapsed());
    codes
}

fn json(name: &str, text: impl Into<Vec<u8>>) -> Vec<&'static str> {
    codes(name, text, Syntax::Json)
}

fn yaml(name: &str, text: impl Into<Vec<u8>>) -> Vec<&'static str> {
    codes(name, text, Syntax::Yaml)
}

#[test]
fn nesting_is_cut_off() {
    for depth in [MAX_DEPTH + 1, 100_000] {
        assert_eq!(json("lists", "[".repeat(depth)), ["TOO_DEEP"]);
        assert_eq!(json("objects", "{\"a\":".repeat(depth)), ["TOO_DEEP"]);
        assert_eq!(json("closed lists", "[".repeat(depth) + &"]".repeat(depth)), ["TOO_DEEP"]);
        assert_eq!(yaml("flow lists", "[".repeat(depth) + &"]".repeat(depth)), ["TOO_DEEP"]);
        assert_eq!(yaml("flow maps", "{a: ".repeat(depth) + &"}".repeat(depth)), ["TOO_DEEP"]);
        assert_eq!(yaml("block lists", "- ".repeat(depth) + "a"), ["TOO_DEEP"]);
        assert_eq!(
            yaml("mixed", "- ".to_owned() + &"{a: [".repeat(depth) + &"]}".repeat(depth)),
            ["TOO_DEEP"]
        );
    }
    // Keys that are not scalars are skipped, up to the limit of depth.
    assert_eq!(yaml("explicit keys", "? ".repeat(100_000) + "a"), ["INVALID_SYNTAX", "TOO_DEEP"]);
    let stairs: String = (0..2000).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    assert_eq!(yaml("indented maps", stairs), ["TOO_DEEP"]);
}

#[test]
fn the_deepest_allowed_document_is_read() {
    let flow = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
    assert_eq!(json("lists", flow.clone()), [""; 0]);
    assert_eq!(yaml("flow lists", flow), [""; 0]);
    assert_eq!(yaml("block lists", "- ".repeat(MAX_DEPTH) + "a"), [""; 0]);
    let stairs: String = (0..MAX_DEPTH).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    assert_eq!(yaml("indented maps", stairs), [""; 0]);
}

#[test]
fn aliases_add_to_the_depth() {
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    let half = MAX_DEPTH / 2;
    let document = |inner: usize, outer: usize| {
        format!("a: &a {}\nb: {}*a{}", nested(inner), "[".repeat(outer), "]".repeat(outer))
    };
    assert_eq!(yaml("just fits", document(half, half - 1)), [""; 0]);
    assert_eq!(yaml("one more", document(half, half)), ["TOO_DEEP"]);
    let chain: String = (1..300).map(|n| format!("a{n}: &a{n} [*a{}]\n", n - 1)).collect();
    assert_eq!(yaml("a chain", format!("a0: &a0 []\n{chain}")), ["TOO_DEEP"]);
    let merges: String = (1..300).map(|n| format!("a{n}: &a{n} {{<<: *a{}}}\n", n - 1)).collect();
    assert_eq!(yaml("a chain of merges", format!("a0: &a0 {{}}\n{merges}")), ["TOO_DEEP"]);
}

#[test]
fn values_that_aliases_repeat_are_counted() {
    let laughs: String = (1..30)
        .map(|n| format!("a{n}: &a{n} [{}]\n", format!("*a{},", n - 1).repeat(10)))
        .collect();
    assert_eq!(yaml("a billion laughs", format!("a0: &a0 lol\n{laughs}")), ["TOO_LARGE"]);
    let merged: String = (1..30)
        .map(|n| format!("a{n}: &a{n} {{<<: [{}]}}\n", format!("*a{},", n - 1).repeat(10)))
        .collect();
    assert_eq!(yaml("merged laughs", format!("a0: &a0 {{k: lol}}\n{merged}")), ["TOO_LARGE"]);
    let big = "x,".repeat(20_000);
    let quadratic = format!("a: &a [{big}]\nb: [{}]", "*a,".repeat(20_000));
    assert_eq!(yaml("a quadratic bomb", quadratic), ["TOO_LARGE"]);
    let long = |times: usize| {
        let text = "x".repeat(1 << 20);
        yaml("aliases to a long text", format!("a: &a {text}\nb: [{}]", "*a,".repeat(times)))
    };
    assert_eq!(long(17), ["TOO_LARGE"]);
    // Aliases below the limit have no finding.
    assert_eq!(long(16), [""; 0]);
    let many = format!("a: &a x\nb: [{}]", "*a,".repeat(MAX_ALIASED_NODES - 1));
    assert_eq!(yaml("many small aliases", many), [""; 0]);
    let members: String = (0..100_000).map(|n| format!("k{n}: 1\n  ")).collect();
    let merge = format!("a: &a\n  {members}\nb:\n  <<: *a\n  {members}");
    assert_eq!(yaml("a merge of many keys", merge), [""; 0]);
    let lists = format!("a: &a {{x: 1}}\nb: {{<<: [{}]}}", "*a,".repeat(50_000));
    assert_eq!(yaml("a merge of many maps", lists), [""; 0]);
}

#[test]
fn cycles_are_reported() {
    assert_eq!(yaml("a list", "&a [*a, *a]"), ["INVALID_SYNTAX"]);
    assert_eq!(yaml("a map", "&a {x: {y: *a}}"), ["INVALID_SYNTAX"]);
    assert_eq!(yaml("a merge", "&a {<<: *a}"), ["INVALID_SYNTAX"]);
    assert_eq!(yaml("two", "a: &a {b: &b [*a, *b]}"), ["INVALID_SYNTAX"]);
}

#[test]
fn size_is_capped() {
    let limit = MAX_BYTES;
    assert_eq!(json("20 MB", vec![b' '; 20 << 20]), ["TOO_LARGE"]);
    assert_eq!(yaml("20 MB", vec![b'a'; 20 << 20]), ["TOO_LARGE"]);
    assert_eq!(json("a byte too much", vec![b'1'; limit + 1]), ["TOO_LARGE"]);
    assert_eq!(json("a long number", vec![b'1'; limit]), ["NUMBER_PRECISION"]);
    assert_eq!(json("a long string", format!("\"{}\"", "é".repeat(limit / 2 - 1))), [""; 0]);
    assert_eq!(yaml("a long word", vec![b'a'; limit]), [""; 0]);
    assert_eq!(yaml("a long line of spaces", vec![b' '; limit]), [""; 0]);
    assert_eq!(yaml("blank lines", vec![b'\n'; limit]), [""; 0]);
}

#[test]
fn values_are_counted() {
    let items = |n: usize| format!("[{}0]", "0,".repeat(n - 1));
    assert_eq!(json("items", items(MAX_NODES)), ["TOO_LARGE"]);
    assert_eq!(json("fewer items", items(MAX_NODES - 2)), [""; 0]);
    assert_eq!(yaml("items", "- a\n".repeat(MAX_NODES)), ["TOO_LARGE"]);
    assert_eq!(yaml("fewer items", "- a\n".repeat(MAX_NODES / 2)), [""; 0]);
    let keys: String = (0..1_000_000).map(|n| format!("\"k{n}\":0,")).collect();
    assert_eq!(json("keys", format!("{{{keys}}}")), ["TOO_LARGE"]);
    assert_eq!(yaml("flow keys", format!("{{{keys}}}")), ["TOO_LARGE"]);
    let keys: String = (0..1_000_000).map(|n| format!("k{n}: 0\n")).collect();
    assert_eq!(yaml("keys", keys), ["TOO_LARGE"]);
    let keys: String = (0..400_000).map(|n| format!("k{n}: 0\n")).collect();
    assert_eq!(yaml("fewer keys", keys), [""; 0]);
}

#[test]
fn many_duplicate_keys_are_reported_in_bounded_time() {
    let n = 100_000;
    assert_eq!(
        json("duplicates", format!("{{{}\"a\":0}}", "\"a\":0,".repeat(n))),
        ["DUPLICATE_KEY"]
    );
    assert_eq!(yaml("duplicates", "a: 0\n".repeat(n)), ["DUPLICATE_KEY"]);
    let nested = "{\"a\":0,\"a\":1},".repeat(n);
    assert_eq!(json("nested duplicates", format!("[{nested}0]")), ["DUPLICATE_KEY"]);
}

#[test]
fn many_comments_are_read_in_bounded_time() {
    assert_eq!(yaml("comments", "# c\n".repeat(1_000_000)), ["TOO_LARGE"]);
    assert_eq!(
        yaml("comments before a value", format!("a:\n{}  b", "# c\n".repeat(60_000))),
        ["TOO_LARGE"]
    );
    assert_eq!(
        yaml("a few thousand", format!("a:\n{}  b\n- c", "  # c\n".repeat(10_000))),
        ["INVALID_SYNTAX"]
    );
    assert_eq!(yaml("comments between", "- a # c\n".repeat(100_000)), [""; 0]);
    assert_eq!(json("comments", format!("[{}1]", "//\n".repeat(1_000_000))), ["INVALID_SYNTAX"]);
    assert_eq!(json("an open comment", format!("[{}", "/*".repeat(1_000_000))), ["INVALID_SYNTAX"]);
}

#[test]
fn invalid_characters_are_reported() {
    assert_eq!(json("NUL", "\0".repeat(100_000)), ["INVALID_SYNTAX"]);
    assert_eq!(json("NUL in a string", "[\"a\0b\"]"), ["INVALID_SYNTAX"]);
    assert_eq!(yaml("NUL", "\0".repeat(100_000)), ["INVALID_SYNTAX"]);
    assert_eq!(yaml("NUL in a value", "a: b\0c\n"), ["INVALID_SYNTAX"]);
    assert_eq!(json("a lone surrogate", r#"["\ud800", "\udfff\ud800"]"#), ["INVALID_SYNTAX"]);
    assert_eq!(yaml("a lone surrogate", r#"["\ud800", "\udfff\ud800"]"#), ["INVALID_SYNTAX"]);
    assert_eq!(yaml("a bad code point", r#"["\U00110000"]"#), ["INVALID_SYNTAX"]);
    for bytes in [
        &b"a: \xFF"[..],
        b"\xED\xA0\x80",
        b"\xFF\xFE{\0}\0",
        b"{\"\xC3\"}",
        b"\xF4\x90\x80\x80",
        b"\xEF\xBB\xBF\x80",
    ] {
        assert_eq!(json("not UTF-8", bytes), ["INVALID_ENCODING"]);
        assert_eq!(yaml("not UTF-8", bytes), ["INVALID_ENCODING"]);
    }
}

#[test]
fn long_keys_are_read_in_bounded_time() {
    let long = "k".repeat(100_000);
    assert_eq!(json("a long key", format!("{{\"{long}\": 1, \"{long}\": 2}}")), ["DUPLICATE_KEY"]);
    assert_eq!(yaml("a long explicit key", format!("? {long}\n: 1\n")), [""; 0]);
    // YAML requires the colon within 1024 characters.
    assert_eq!(yaml("a long key", format!("{long}: 1\n")), ["INVALID_SYNTAX"]);
    assert_eq!(yaml("a key that just fits", format!("{}: 1\n", "k".repeat(1000))), [""; 0]);
    let many: String = (0..100).map(|n| format!("\"{}{n}\": 1\n", "k".repeat(1000))).collect();
    assert_eq!(yaml("many long keys", many), [""; 0]);
}

/// A quarter of a megabyte of one token after another, in bounded time, whatever the findings.
#[test]
fn token_soups_are_read_in_bounded_time() {
    let bits = [
        "{",
        "[",
        "\"",
        "\\",
        "'",
        ":",
        ": ",
        "- ",
        "-\n",
        "? ",
        "?\n",
        "&a ",
        "&a\n",
        "*a ",
        "#",
        "# \n",
        " #\n",
        "!",
        "!a ",
        "|\n",
        "- |\n",
        ">",
        "%",
        "---\n",
        "...\n",
        "\t",
        "\r",
        "\u{feff}",
        "\u{85}",
        ",",
        "[,",
        "a,",
        "}",
        "]",
        "[]",
        "\"\" ",
        "''",
        "- &a a\n",
        "? a\n",
        "? - ",
        "? [a]\n: b\n",
        "- - a\n",
        "- {a, b}\n",
        "a: b: ",
        "<<: ",
        "<<: *a\n",
        "~: ~\n",
        "\"a\n",
        "'a\n",
        "a\n\n",
        "- >\n\n",
        "[a: b,",
        "[? a : b,",
        "{\"a\":",
        "[[],",
        "/*",
        "\\u",
    ];
    for bit in bits {
        let text = bit.repeat((1 << 18) / bit.len());
        for lead in ["", "[", "{", "a: ", "- ", "a: |\n  ", "\""] {
            let text = format!("{lead}{text}");
            codes(&format!("{lead:?} and {bit:?} as JSON"), text.as_str(), Syntax::Json);
            codes(&format!("{lead:?} and {bit:?} as YAML"), text.as_str(), Syntax::Yaml);
        }
    }
}
