//! YAML: values by the core schema, locations in every style, and a table of mistakes.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolwright_source::{Document, Node, Style, Syntax, ValueKind};

use crate::generate::{self, Choices};
use crate::{assert_pointers_lead_back, assert_sound, briefs, errors, parse, pointer};

fn yaml(text: &str) -> Document {
    parse(text, Syntax::Yaml)
}

#[test]
fn every_style_of_value_is_read() {
    let cases: Vec<(&str, Json)> = vec![
        // Typing by the core schema: YAML 1.1's words and dates are strings.
        ("[null, ~, Null, NULL, nUll]", json!([null, null, null, null, "nUll"])),
        (
            "[true, True, TRUE, false, yes, no, on, off, y]",
            json!([true, true, true, false, "yes", "no", "on", "off", "y"]),
        ),
        ("[0, -1, +2, 007, 0x1F, 0o17, 0b1, 1_000]", json!([0, -1, 2, 7, 31, 15, "0b1", "1_000"])),
        (
            "[1.5, 1., .5, 1e3, -1.5E-3, 1.0.0, 1e, 12:30]",
            json!([1.5, 1.0, 0.5, 1000.0, -0.0015, "1.0.0", "1e", "12:30"]),
        ),
        (
            "[2024-01-01, v1, -v, '1', \"true\", 'null']",
            json!(["2024-01-01", "v1", "-v", "1", "true", "null"]),
        ),
        ("18446744073709551615", json!(u64::MAX)),
        ("- -0\n- 9223372036854775807", json!([-0.0, i64::MAX])),
        // Tags of the core schema.
        (
            "[!!str 1, !!str true, !!str, ! 1, !<tag:yaml.org,2002:str> 2]",
            json!(["1", "true", "", "1", "2"]),
        ),
        (
            "[!!int '1', !!float 1, !!bool \"true\", !!null '', !!int 0x1E]",
            json!([1, 1, true, null, 30]),
        ),
        ("a: !!map {b: !!seq [1]}\nc: ! [2]", json!({"a": {"b": [1]}, "c": [2]})),
        // Nothing where a value may be.
        ("", json!(null)),
        ("# only a comment\n", json!(null)),
        ("---\n", json!(null)),
        ("a:\nb: # c\nc:", json!({"a": null, "b": null, "c": null})),
        ("-\n- # c\n-", json!([null, null, null])),
        ("{a, b: , c: }", json!({"a": null, "b": null, "c": null})),
        ("? a\n? b\n", json!({"a": null, "b": null})),
        (": v\n", json!({"": "v"})),
        // Collections in every arrangement.
        ("a:\n- 1\n- 2\nb: 3", json!({"a": [1, 2], "b": 3})),
        ("- - a\n  - b\n- - - c", json!([["a", "b"], [["c"]]])),
        (
            "- a: 1\n  b: 2\n-\n  c: 3\n- - d: 4\n    e: 5",
            json!([{"a": 1, "b": 2}, {"c": 3}, [{"d": 4, "e": 5}]]),
        ),
        ("? a\n: b\n? c\n: - d\n", json!({"a": "b", "c": ["d"]})),
        ("{a: [1, {b: 2}], 'c': \"d\", \"e\":5}", json!({"a": [1, {"b": 2}], "c": "d", "e": 5})),
        ("[a: 1, b, {c: 2}]", json!([{"a": 1}, "b", {"c": 2}])),
        ("[a,\n b,\n]", json!(["a", "b"])),
        ("1: a\ntrue: b\nnull: c", json!({"1": "a", "true": "b", "null": "c"})),
        // Scalars in every style.
        ("a: b c\n  d\n\n  e", json!({"a": "b c d\ne"})),
        ("'it''s'", json!("it's")),
        ("\"a\\n\\u00e9\\x41\\\n  b\"", json!("a\néAb")),
        ("a: |\n  x\n   y\n\nb: 1", json!({"a": "x\n y\n", "b": 1})),
        ("a: |-\n  x\nb: |+\n  y\n\nc: |2\n   z\n", json!({"a": "x", "b": "y\n\n", "c": " z\n"})),
        ("a: >\n  x\n  y\n\n  z\nb: >+ # c\n  w\n\n", json!({"a": "x y\nz\n", "b": "w\n\n"})),
        ("a: |\nb: >\n", json!({"a": "", "b": ""})),
        ("a: http://x#y # c", json!({"a": "http://x#y"})),
        ("%YAML 1.2\n---\na: 1\n...\n", json!({"a": 1})),
        // Anchors, aliases, merge keys.
        ("a: &x 1\nb: *x\nc: [*x, *x]", json!({"a": 1, "b": 1, "c": [1, 1]})),
        ("a: &x {b: [1]}\nc: *x", json!({"a": {"b": [1]}, "c": {"b": [1]}})),
        ("a: &x 1\nb: &x 2\nc: *x", json!({"a": 1, "b": 2, "c": 2})),
        ("a: &x k\n*x : v", json!({"a": "k", "k": "v"})),
        ("a: &x\nb: *x", json!({"a": null, "b": null})),
        (
            "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}",
            json!({"a": {"x": 1, "y": 2}, "b": {"y": 3, "x": 1}}),
        ),
        (
            "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  <<: [*a, *b]\n  w: 0",
            json!({"a": {"x": 1, "y": 1}, "b": {"y": 2, "z": 2}, "c": {"w": 0, "x": 1, "y": 1, "z": 2}}),
        ),
        (
            "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}",
            json!({"a": {"x": 1}, "b": {"y": 2, "x": 1}, "c": {"x": 1, "y": 2}}),
        ),
        ("a: {<<: {x: 1}, y: 2}", json!({"a": {"y": 2, "x": 1}})),
        ("a: {'<<': 1}", json!({"a": {"<<": 1}})),
        ("a: {<<: , x: 1}", json!({"a": {"x": 1}})),
    ];
    for (text, value) in cases {
        for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
            let doc = yaml(&text);
            assert_eq!(errors(&doc), [""; 0], "{text:?}");
            // Maps compare without regard to order; the order of members is its own test.
            assert_eq!(doc.root().to_json(), value, "{text:?}");
            assert_sound(&doc);
        }
    }
}

#[test]
fn merged_members_follow_the_own_ones() {
    let doc = yaml("a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\n  z: 4\n");
    let b = doc.root().get("b").expect("it is there");
    let names: Vec<&str> = b.members().iter().map(|e| e.name()).collect();
    assert_eq!(names, ["y", "z", "x"]);
    assert_eq!(b.get("y").map(Node::raw), Some("3"));
    assert_eq!(b.get("x").map(|n| n.pointer().to_string()).as_deref(), Some("/a/x"));
    assert!(b.has("x") && !b.has("w"));
}

#[test]
fn spans_of_every_style() {
    // The value of the last member or item, as it is written.
    let cases: &[(&str, Style, &str)] = &[
        ("a: x y # c", Style::Plain, "x y"),
        ("a: x\n  y\n\n  z # c\n", Style::Plain, "x\n  y\n\n  z"),
        ("é: 'it''s' # c", Style::Single, "'it''s'"),
        ("é: \"a\\\n  b\"\n", Style::Double, "\"a\\\n  b\""),
        ("a: |\n  x\n  y\n\n\n", Style::Literal, "|\n  x\n  y"),
        ("a: |-\n  x\nb: |2\n   y\n", Style::Literal, "|2\n   y"),
        ("\"a # b: |\": >+ # c: |\n  x\n\n", Style::Folded, ">+ # c: |\n  x"),
        ("- |\n\n\n  x\n", Style::Literal, "|\n\n\n  x"),
        ("- a\n- >-\n    x\n", Style::Folded, ">-\n    x"),
        ("a: |\n", Style::Literal, "|"),
        ("a: &x !!str |\n  y\n", Style::Literal, "|\n  y"),
        ("a: !<tag:yaml.org,2002:str> &x |\n  y\n", Style::Literal, "|\n  y"),
        ("a:\n  |\n  y\n", Style::Literal, "|\n  y"),
        ("a: |\n  x\u{3000}\n", Style::Literal, "|\n  x\u{3000}"),
        ("--- |\n  x\n", Style::Literal, "|\n  x"),
        ("a: [x, {y: z}] # c", Style::Flow, "[x, {y: z}]"),
        ("a: {\n  x: y }\n", Style::Flow, "{\n  x: y }"),
        ("[a: 1]", Style::Flow, "a: 1"),
        ("a:\n  b: 1\n  c: 2 # d\n", Style::Block, "b: 1\n  c: 2"),
        ("a:\n  - x\n  - y\n\n", Style::Block, "- x\n  - y"),
        ("a:\n- - x\n- y\n", Style::Block, "- - x\n- y"),
        ("a: &x # c\n-\n  y\n", Style::Block, "-\n  y"),
        ("- - x\n- - y\n  - z\n", Style::Block, "- y\n  - z"),
        ("a: &x\n  &k b: 1\n", Style::Block, "&k b: 1"),
        ("a:\n  ? b\n  : c\n", Style::Block, "? b\n  : c"),
        ("a: &x y\nb: *x\n", Style::Plain, "*x"),
    ];
    for (text, style, slice) in cases {
        for newline in ["\n", "\r\n"] {
            let doc = yaml(&text.replace('\n', newline));
            assert_eq!(briefs(&doc), [""; 0], "{text:?}");
            let root = doc.root();
            let last =
                root.members().last().map(|e| e.value).or(root.items().last()).unwrap_or(root);
            assert_eq!(doc.source().slice(last.span()), slice.replace('\n', newline), "{text:?}");
            assert_eq!(last.style(), *style, "{text:?}");
        }
    }
}

#[test]
fn empty_values_are_located_behind_their_indicator() {
    let cases: &[(&str, &str, usize)] = &[
        ("a:\nb: 1", "/a", 2),
        ("a: # c\n\n# d\nb: 1", "/a", 2),
        ("a: &x # c\nb: 1", "/a", 5),
        ("a:\n&k b: 1", "/a", 2),
        ("a: !!null &x\nb: 1", "/a", 12),
        ("\"a:\" :\nb: 1", "/a:", 6),
        ("- \n- b", "/0", 1),
        ("a:\n- # c\n- b", "/a/0", 4),
        ("- a\n# c - d\n-   # e\n", "/1", 13),
        ("{a , b: }", "/a", 2),
        ("{a , b: }", "/b", 7),
        ("? a # x: y\n", "/a", 3),
        ("? a # x: y\n: # z\n", "/a", 12),
        ("", "", 0),
    ];
    for (text, at, byte) in cases {
        let doc = yaml(text);
        let node = doc.root().find(&pointer(at)).expect("it is there");
        assert_eq!((node.kind(), node.raw()), (ValueKind::Null, ""), "{text:?}");
        assert_eq!(
            (node.span().start as usize, node.span().end as usize),
            (*byte, *byte),
            "{text:?}"
        );
    }
}

#[test]
fn comments_are_collected() {
    let cases: &[(&str, &[&str])] = &[
        ("# a\nb: 1 # c\n  #d\n", &["# a", "# c", "#d"]),
        ("a: '# b' #c\r\n# d\r\n", &["#c", "# d"]),
        ("a: |\n  # text\n# b", &["# b"]),
        ("a: | # h\n  x\n", &["# h"]),
        ("[a, # é\n b] # c", &["# é", "# c"]),
        ("a: b#c\n", &[]),
        ("- # x\n  # y\n  a\n#z", &["# x", "# y", "#z"]),
    ];
    for (text, comments) in cases {
        let doc = yaml(text);
        let found: Vec<&str> =
            doc.comments().iter().map(|span| doc.source().slice(*span)).collect();
        assert_eq!(&found, comments, "{text:?}");
    }
}

#[test]
fn every_mistake_has_its_location() {
    let cases: &[(&str, &[&str])] = &[
        (
            "a: 1\né: {c: 1, c: 2}\n\"a\": 3",
            &[
                "2:11 DUPLICATE_KEY key `c` is used twice in one object",
                "3:1 DUPLICATE_KEY key `a` is used twice in one object",
            ],
        ),
        (
            "x: &x {a: 1, a: 2}\ny: *x\n",
            &["1:14 DUPLICATE_KEY key `a` is used twice in one object"],
        ),
        ("1: a\n'1': b", &["2:1 DUPLICATE_KEY key `1` is used twice in one object"]),
        ("é: 1\r\nü: 2\r\nü: 3\r\n", &["3:1 DUPLICATE_KEY key `ü` is used twice in one object"]),
        // Every unknown anchor is found, wherever it is used.
        (
            "a: *u\nb: [*v, {c: *w}]\né: *x\n*k : 1\n<<: *m\n",
            &[
                "1:4 INVALID_SYNTAX no anchor `&u` before this alias",
                "2:5 INVALID_SYNTAX no anchor `&v` before this alias",
                "2:13 INVALID_SYNTAX no anchor `&w` before this alias",
                "3:4 INVALID_SYNTAX no anchor `&x` before this alias",
                "4:1 INVALID_SYNTAX no anchor `&k` before this alias",
                "5:5 INVALID_SYNTAX no anchor `&m` before this alias",
            ],
        ),
        (
            "a: &a [1, *a]\nb: &b {c: {d: *b}}\n",
            &[
                "1:11 INVALID_SYNTAX this alias stands inside its own anchor",
                "2:15 INVALID_SYNTAX this alias stands inside its own anchor",
            ],
        ),
        (
            "[1, 2]: x\n? {a: 1}\n: y\nk: &k [1]\n*k : 2",
            &[
                "1:1 INVALID_SYNTAX a key must be a scalar",
                "2:3 INVALID_SYNTAX a key must be a scalar",
                "5:1 INVALID_SYNTAX a key must be a scalar",
            ],
        ),
        (
            "a: !foo 1\né: !!set {x}\nc: !!map [1]\nd: !x\n  - y\n",
            &[
                "1:4 INVALID_SYNTAX tag `!foo` has no meaning here",
                "2:4 INVALID_SYNTAX tag `!!set` has no meaning here",
                "3:4 INVALID_SYNTAX tag `!!map` has no meaning here",
                "4:4 INVALID_SYNTAX tag `!x` has no meaning here",
            ],
        ),
        (
            "a: !!int abc\nb: !!bool x\nc: !!int 1.5\nd: !!null no",
            &[
                "1:4 INVALID_SYNTAX `abc` is not a number",
                "2:4 INVALID_SYNTAX `x` is not a boolean",
                "3:4 INVALID_SYNTAX `1.5` is not a whole number",
                "4:4 INVALID_SYNTAX `no` is not null",
            ],
        ),
        ("a: !e!x 1", &["1:4 INVALID_SYNTAX the handle wasn't declared"]),
        (
            "<<: 3\na: {<<: [{b: 1}, 2]}",
            &[
                "1:5 INVALID_SYNTAX `<<` takes an object or a list of objects",
                "2:9 INVALID_SYNTAX `<<` takes an object or a list of objects",
            ],
        ),
        (
            "a: 1\n---\nb: 2",
            &["2:1 INVALID_SYNTAX a second document starts here; only one is read"],
        ),
        (
            "é: 1e400\nb: .inf\nc: 123456789012345678901\nd: 0xFFFFFFFFFFFFFFFFFF",
            &[
                "1:4 NUMBER_PRECISION `1e400` is beyond every number type",
                "2:4 NUMBER_PRECISION `.inf` is beyond every number type",
                "3:4 NUMBER_PRECISION `123456789012345678901` is read as 1.2345678901234568e+20",
                "4:4 NUMBER_PRECISION `0xFFFFFFFFFFFFFFFFFF` is beyond every number type",
            ],
        ),
        // Mistakes at which the YAML parser stops.
        (
            "é:\n\tb: 1",
            &["2:2 INVALID_SYNTAX tabs disallowed within this context (block indentation)"],
        ),
        ("é: \"x", &["1:4 INVALID_SYNTAX unclosed quote"]),
        ("a: b: c", &["1:5 INVALID_SYNTAX mapping values are not allowed in this context"]),
        ("a: 1\r\n b: 2", &["2:3 INVALID_SYNTAX mapping values are not allowed in this context"]),
        ("a: @x", &["1:4 INVALID_SYNTAX unexpected character: `@'"]),
        ("é: [a, b", &["1:4 INVALID_SYNTAX unclosed bracket '['"]),
        ("[é, , b]", &["1:5 INVALID_SYNTAX a value is missing before this `,`"]),
        ("a: ]", &["1:4 INVALID_SYNTAX misplaced bracket"]),
        (
            "a: &x 1\nb: &x [*y, \"z\"",
            &[
                "2:7 INVALID_SYNTAX unclosed bracket '['",
                "2:8 INVALID_SYNTAX no anchor `&y` before this alias",
            ],
        ),
    ];
    for (text, expected) in cases {
        let doc = yaml(text);
        assert_eq!(&briefs(&doc), expected, "{text:?}");
        assert_sound(&doc);
    }
}

#[test]
fn duplicates_show_both_places() {
    let doc = yaml("é: 1\nb:\n  x: 1\n  y: 2\n  x: 3\n");
    let problem = &doc.problems()[0];
    let label = &problem.labels[0];
    let first = doc.source().line_column(label.span.start as usize);
    assert_eq!((problem.line_column(), (first.line, first.column)), (Some((5, 3)), (3, 3)));
    assert_eq!((label.text.as_str(), problem.path.as_str()), ("first used here", "/b/x"));
}

#[test]
fn reading_continues_after_some_mistakes() {
    let cases = [
        ("a: *u\nb: 2", json!({"a": null, "b": 2})),
        ("a: &a [1, *a]\nb: *a", json!({"a": [1, null], "b": [1, null]})),
        ("[1]: x\na: 1\n*u : 2", json!({"[1]": "x", "a": 1, "*u": 2})),
        ("a: !foo 1\nb: !!int x", json!({"a": 1, "b": "x"})),
        ("a: 1\nb: [2, {c: 3", json!({"a": 1, "b": [2]})),
        ("a: 1\n---\nb: 2", json!({"a": 1})),
    ];
    for (text, value) in cases {
        let doc = yaml(text);
        assert!(!errors(&doc).is_empty(), "{text:?}");
        assert_eq!(doc.root().to_json(), value, "{text:?}");
    }
}

#[test]
fn common_mistakes_get_help() {
    let cases = [
        ("a:\n\tb: 1", "indent with spaces"),
        ("a: x\n\tb: 1", "indent with spaces"),
        ("a: 'x", "close the quote, or double it if it is part of the text"),
        ("a: 'x\nb: 1", "close the quote, or double it if it is part of the text"),
        ("a: b: c", "quote the text if its `:` does not separate a key from a value"),
        ("a:\n  b: 1\n c: 2", "indent it like the lines it belongs to"),
    ];
    for (text, help) in cases {
        assert_eq!(yaml(text).problems()[0].help, [help], "{text:?}");
    }
}

const TOKENS: &[&str] = &[
    "a",
    "b: ",
    "c:\n",
    "- ",
    "-\n",
    "\n",
    "\n  ",
    "\n    ",
    "  ",
    "? ",
    ": ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "&a ",
    "*a",
    "*b ",
    "!!str ",
    "!x ",
    "<<: ",
    "|\n",
    "|+\n",
    ">-\n",
    "|2\n",
    "'",
    "\"",
    "\\",
    "\\u00e9",
    "# c\n",
    " # é\n",
    "é",
    "1",
    "---\n",
    "...\n",
    "\t",
    "\r\n",
    "~",
    "x: 1\n",
    "- y\n",
    "%YAML 1.2\n",
    "\u{feff}",
    "\u{85}",
    "\u{0}",
    "@",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn soup_never_panics_and_places_stay_inside(text in generate::soup(TOKENS)) {
        assert_sound(&yaml(&text));
    }

    #[test]
    fn nearly_valid_text_never_panics(value in generate::value(), mut choices in Choices::any()) {
        let text = generate::write_yaml(&value, &mut choices);
        assert_sound(&yaml(&generate::mutate(&text, &mut choices)));
    }

    #[test]
    fn block_style_is_read_back(value in generate::value(), mut choices in Choices::any()) {
        assert_reads(&generate::write_yaml(&value, &mut choices), &value);
    }

    #[test]
    fn flow_style_is_read_back(value in generate::value(), mut choices in Choices::any()) {
        assert_reads(&generate::write_flow(&value, &mut choices), &value);
    }

    /// Most JSON is YAML, with the escapes of its strings.
    #[test]
    fn json_is_read_as_yaml(value in generate::value()) {
        assert_reads(&generate::escape(&value.to_string()), &value);
    }
}

fn assert_reads(text: &str, value: &Json) {
    let doc = yaml(text);
    assert_eq!(errors(&doc), [""; 0], "{text:?}");
    assert_eq!(&doc.root().to_json(), value, "{text:?}");
    assert_sound(&doc);
    assert_pointers_lead_back(&doc);
}
