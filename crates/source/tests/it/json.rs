//! JSON: compared with serde_json on generated texts, and with a table of mistakes.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolwright_source::{Document, Node, Syntax, ValueKind};

use crate::generate::{self, Choices};
use crate::{assert_pointers_lead_back, assert_sound, brief, briefs, parse};

/// serde_json reads decimals with a small error, so they are compared with a tolerance.
fn same(ours: &Json, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        (Json::Number(a), Json::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(1.0));
            a.is_sign_negative() == b.is_sign_negative() && a.to_bits().abs_diff(b.to_bits()) <= 4
        }
        (a, b) => a == b,
    }
}

/// Our parser accepts the texts that serde_json accepts, and reads the same values.
fn assert_agrees(text: &str) {
    let ours = parse(text, Syntax::Json);
    assert_sound(&ours);
    let has = |code: &str| ours.problems().iter().any(|p| p.code.name == code);
    let theirs: Result<Json, _> =
        serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    let beyond = ours.problems().iter().any(|p| p.message.ends_with("beyond every number type"));
    let clean = !has("INVALID_SYNTAX") && !has("TOO_DEEP") && !beyond;
    assert_eq!(clean, theirs.is_ok(), "{text:?}: {:?} and {theirs:?}", briefs(&ours));
    if let (Ok(theirs), false) = (theirs, has("DUPLICATE_KEY")) {
        let read = ours.root().to_json();
        assert!(same(&read, &theirs), "{text:?} is read as {read} and {theirs}");
    }
}

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"a\"",
    "\"b\"",
    "\"",
    "'c'",
    "1",
    "-1.5e3",
    "01",
    "-",
    "1e400",
    "true",
    "null",
    "nul",
    " ",
    "\n",
    "\r\n",
    "\\",
    "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "é",
    "// x\n",
    "/* y */",
    "\u{0}",
    "\u{feff}",
    "{\"a\":",
    "[[",
    "1 ",
    "\"\\",
    "/",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_text_is_read_as_serde_json_reads_it(value in generate::value(), mut choices in Choices::any()) {
        let text = generate::write_json(&value, &mut choices);
        assert_agrees(&text);
        let doc = parse(&text, Syntax::Json);
        prop_assert!(doc.problems().iter().all(|p| p.code.name == "NUMBER_PRECISION"), "{:?}", briefs(&doc));
        prop_assert!(same(&doc.root().to_json(), &value));
        assert_pointers_lead_back(&doc);
        assert_slices_parse_back(&doc);
    }

    #[test]
    fn nearly_valid_text_is_accepted_or_refused_as_serde_json_does(
        value in generate::value(),
        mut choices in Choices::any(),
    ) {
        let text = generate::write_json(&value, &mut choices);
        assert_agrees(&generate::mutate(&text, &mut choices));
    }

    #[test]
    fn soup_is_accepted_or_refused_as_serde_json_does(text in generate::soup(TOKENS)) {
        assert_agrees(&text);
    }

    #[test]
    fn numbers_are_accepted_or_refused_as_serde_json_does(text in "[-+]?[0-9]{0,3}[.]?[0-9]{0,25}([eE][-+]?[0-9]{0,4})?") {
        assert_agrees(&text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), ascii in "[\\x00-\\x7f]{0,40}") {
        for syntax in [Syntax::Json, Syntax::Yaml] {
            assert_sound(&Document::parse("doc", bytes.clone(), syntax));
            assert_sound(&parse(&ascii, syntax));
        }
        Syntax::sniff(&bytes);
    }
}

fn assert_slices_parse_back(doc: &Document) {
    let mut todo = vec![doc.root()];
    while let Some(node) = todo.pop() {
        let slice = doc.source().slice(node.span());
        let alone = parse(slice, Syntax::Json).root().to_json();
        assert_eq!(alone, node.to_json(), "{slice:?}");
        todo.extend(node.items());
        todo.extend(node.members().iter().flat_map(|e| [e.key, e.value]));
    }
}

#[test]
fn every_kind_of_value_is_read() {
    let doc = parse(
        r#"{"n": null, "b": false, "i": -0, "s": "\u00e9\n", "l": [], "m": {}}"#,
        Syntax::Json,
    );
    let kinds: Vec<ValueKind> = doc.root().members().iter().map(|e| e.value.kind()).collect();
    assert_eq!(
        kinds,
        [
            ValueKind::Null,
            ValueKind::Bool,
            ValueKind::Number,
            ValueKind::String,
            ValueKind::List,
            ValueKind::Map
        ]
    );
    let value = json!({"n": null, "b": false, "i": -0.0, "s": "é\n", "l": [], "m": {}});
    assert_eq!(doc.root().to_json(), value);
    assert_eq!(doc.root().get("i").map(Node::raw), Some("-0"), "numbers keep their text");
    assert_eq!(doc.root().get("b").and_then(Node::boolean), Some(false));
    assert_eq!(doc.root().len(), 6);
}

/// Line, column, code, message.
type Mistake = (usize, usize, &'static str, &'static str);

#[test]
fn exact_numbers_have_no_findings() {
    let text = "[0.30000000000000004, 150000000000000000e-17, 0.0001234567890123, 1e300, -0, 0e99999, 1E-7, 9007199254740993]";
    assert_eq!(briefs(&parse(text, Syntax::Json)), [""; 0]);
}

#[test]
fn every_mistake_has_its_location() {
    const S: &str = "INVALID_SYNTAX";
    let cases: &[(&str, &[Mistake])] = &[
        ("", &[(1, 1, S, "the document is empty")]),
        (" \n ", &[(2, 2, S, "the document is empty")]),
        ("{", &[(1, 1, S, "this `{` is never closed")]),
        ("[1, [2", &[(1, 5, S, "this `[` is never closed")]),
        (r#"{"a": 1,}"#, &[(1, 8, S, "trailing `,` before `}`")]),
        ("[1, \n]", &[(1, 3, S, "trailing `,` before `]`")]),
        (r#"{"a" 1}"#, &[(1, 6, S, "`:` is missing after the key")]),
        (r#"{"a"}"#, &[(1, 5, S, "`:` is missing after the key")]),
        (r#"{"a": }"#, &[(1, 7, S, "a value is missing here")]),
        (
            r#"{"a": , "b": ]}"#,
            &[
                (1, 7, S, "a value is missing here"),
                (1, 14, S, "a value is missing here"),
                (1, 14, S, "`]` does not close the `{` before it"),
                (1, 15, S, "text after the end of the document"),
            ],
        ),
        (
            "{a: 1, 2: 3}",
            &[
                (1, 2, S, "key `a` must stand in double quotes"),
                (1, 8, S, "key `2` must stand in double quotes"),
            ],
        ),
        (
            "{'a': 'b'}",
            &[
                (1, 2, S, "JSON strings stand in double quotes"),
                (1, 7, S, "JSON strings stand in double quotes"),
            ],
        ),
        ("[1 2]", &[(1, 3, S, "`,` is missing here")]),
        ("{\"a\": 1\n \"b\": 2}", &[(1, 8, S, "`,` is missing here")]),
        ("[1,,2]", &[(1, 4, S, "a value is missing here")]),
        (
            r#"{,"a":1,,"b":2}"#,
            &[(1, 2, S, "a member is missing here"), (1, 9, S, "a member is missing here")],
        ),
        ("{: 1}", &[(1, 2, S, "a key is missing here")]),
        (
            "[01, +1, .5, 1., 0x1F, -, 1e]",
            &[
                (1, 2, S, "`01` is not a JSON number"),
                (1, 6, S, "`+1` is not a JSON number"),
                (1, 10, S, "`.5` is not a JSON number"),
                (1, 14, S, "`1.` is not a JSON number"),
                (1, 18, S, "`0x1F` is not a JSON number"),
                (1, 24, S, "`-` is not a JSON number"),
                (1, 27, S, "`1e` is not a JSON number"),
            ],
        ),
        (
            "[tru, None, NaN, -Infinity]",
            &[
                (1, 2, S, "`tru` is not a JSON value"),
                (1, 7, S, "`None` is not a JSON value"),
                (1, 13, S, "`NaN` is not a JSON value"),
                (1, 18, S, "`-Infinity` is not a JSON number"),
            ],
        ),
        (
            "[\"a\nb\"]",
            &[
                (1, 1, S, "this `[` is never closed"),
                (1, 2, S, "the string is not closed on its line"),
                (1, 4, S, "`,` is missing here"),
                (2, 1, S, "`b` is not a JSON value"),
                (2, 2, S, "`,` is missing here"),
                (2, 2, S, "the string is not closed on its line"),
            ],
        ),
        ("[\"a\tb\"]", &[(1, 4, S, "control character U+0009 in a string; write `\\u0009`")]),
        (
            "[\"\\q\\é\\\u{1}\"]",
            &[
                (1, 3, S, "`\\q` is not a JSON escape"),
                (1, 5, S, "`\\é` is not a JSON escape"),
                (1, 7, S, "`\\\\u{1}` is not a JSON escape"),
                (1, 8, S, "control character U+0001 in a string; write `\\u0001`"),
            ],
        ),
        (
            r#"["\u12", "\ud800", "\udc00\ud800x"]"#,
            &[
                (1, 3, S, "`\\u` needs four hexadecimal digits"),
                (1, 11, S, "`\\ud800` is half of a surrogate pair"),
                (1, 21, S, "`\\udc00` is half of a surrogate pair"),
                (1, 27, S, "`\\ud800` is half of a surrogate pair"),
            ],
        ),
        ("{} é", &[(1, 4, S, "text after the end of the document")]),
        ("{}}", &[(1, 3, S, "text after the end of the document")]),
        (
            r#"{"é" é: 1}"#,
            &[
                (1, 6, S, "`:` is missing after the key"),
                (1, 6, S, "unexpected `é`"),
                (1, 7, S, "unexpected `:`"),
            ],
        ),
        ("[1, /* c */ 2] // end", &[(1, 5, S, "JSON has no comments")]),
        (r#"{"a": [1, 2}, "b": 3}"#, &[(1, 12, S, "`}` does not close the `[` before it")]),
        (r#"[{"a": 1]"#, &[(1, 9, S, "`]` does not close the `{` before it")]),
        ("]", &[(1, 1, S, "unexpected `]`"), (1, 2, S, "the document is empty")]),
        (
            "é[1 #]",
            &[
                (1, 1, S, "unexpected `é`"),
                (1, 4, S, "`,` is missing here"),
                (1, 5, S, "unexpected `#`"),
            ],
        ),
        (
            "[#, \u{202e}]",
            &[
                (1, 2, S, "unexpected `#`"),
                (1, 3, S, "a value is missing here"),
                (1, 5, S, "unexpected `\u{202e}`"),
            ],
        ),
        (
            r#"{"a": 1, "b": {"x": 1, "x": 2}, "a": 3, "a": 4}"#,
            &[
                (1, 24, "DUPLICATE_KEY", "key `x` is used twice in one object"),
                (1, 33, "DUPLICATE_KEY", "key `a` is used twice in one object"),
                (1, 41, "DUPLICATE_KEY", "key `a` is used twice in one object"),
            ],
        ),
        (
            r#"{"a": 1, "\u0061": 2}"#,
            &[(1, 10, "DUPLICATE_KEY", "key `a` is used twice in one object")],
        ),
        (
            "[1e400, -12345678901234567890123, 0.1, 1e-400, 1.5e-9223372036854775808]",
            &[
                (1, 2, "NUMBER_PRECISION", "`1e400` is beyond every number type"),
                (
                    1,
                    9,
                    "NUMBER_PRECISION",
                    "`-12345678901234567890123` is read as -1.2345678901234568e+22",
                ),
                (1, 40, "NUMBER_PRECISION", "`1e-400` is read as 0.0"),
                (1, 48, "NUMBER_PRECISION", "`1.5e-9223372036854775808` is read as 0.0"),
            ],
        ),
        // Several in one file, behind other alphabets, with CRLF and a byte order mark.
        (
            "\u{feff}{\"é\": 1,\r\n \"ü😀\" 2,\r\n \"x\": [,],\r\n \"y\": tru,\r\n \"é\": 0\r\n",
            &[
                (1, 1, S, "this `{` is never closed"),
                (2, 7, S, "`:` is missing after the key"),
                (3, 8, S, "a value is missing here"),
                (4, 7, S, "`tru` is not a JSON value"),
                (5, 2, "DUPLICATE_KEY", "key `é` is used twice in one object"),
            ],
        ),
    ];
    for (text, expected) in cases {
        let expected: Vec<String> = expected
            .iter()
            .map(|(line, column, code, message)| format!("{line}:{column} {code} {message}"))
            .collect();
        let doc = parse(text, Syntax::Json);
        assert_eq!(briefs(&doc), expected, "{text:?}");
        assert_sound(&doc);
    }
}

#[test]
fn reading_continues_after_a_mistake() {
    let cases = [
        (r#"{"a": tru, "b": 2}"#, json!({"a": "tru", "b": 2})),
        (r#"{"a" 1, "b": [1 2, 3,], "c": }"#, json!({"a": 1, "b": [1, 2, 3], "c": null})),
        (r#"{'a': 'x', b: 2"#, json!({"a": "x", "b": 2})),
        (r#"[{"a": 1}, {"b": 2]"#, json!([{"a": 1}, {"b": 2}])),
        (r#"{"a": [1, 2}, "b": 3}"#, json!({"a": [1, 2], "b": 3})),
        ("[1, // one\n 2]", json!([1, 2])),
        ("", json!(null)),
    ];
    for (text, value) in cases {
        assert_eq!(parse(text, Syntax::Json).root().to_json(), value, "{text:?}");
    }
}

#[test]
fn duplicates_show_the_first_place_however_many_keys_there_are() {
    for fill in [0, 10, 40] {
        let others: String = (0..fill).map(|n| format!("\"k{n}\": {n}, ")).collect();
        let text = format!("{{\"a\": 0, {others}\"a\": 1, \"a\": 2}}");
        let doc = parse(&text, Syntax::Json);
        let firsts: Vec<&str> =
            doc.problems().iter().map(|p| doc.source().slice(p.labels[0].span)).collect();
        assert_eq!(firsts, ["\"a\"", "\"a\""]);
        let starts: Vec<u32> = doc.problems().iter().map(|p| p.labels[0].span.start).collect();
        assert_eq!(starts, [1, 1], "{fill} other keys");
        assert_eq!(doc.root().get("a").map(Node::raw), Some("2"), "the last one counts");
    }
}

#[test]
fn a_problem_names_the_path_it_is_at() {
    let doc = parse(r#"{"a": {"b": [1, tru]}, "c" 1, "d": {"e~/": 01}}"#, Syntax::Json);
    let paths: Vec<&str> = doc.problems().iter().map(|p| p.path.as_str()).collect();
    assert_eq!(paths, ["/a/b/1", "/c", "/d/e~0~1"]);
}

#[test]
fn a_byte_belongs_to_the_innermost_value_around_it() {
    let text = r#"{"a": {"b": [10, 2] }, "c": 3} "#;
    let doc = parse(text, Syntax::Json);
    // One letter for the place of each byte: a key belongs to its value, the gap behind a value
    // to what is around it.
    let places =
        [('.', ""), ('a', "/a"), ('b', "/a/b"), ('0', "/a/b/0"), ('1', "/a/b/1"), ('c', "/c")];
    let letter = |at: usize| {
        let found = doc.at_byte(u32::try_from(at).expect("a short text")).pointer();
        places.iter().find(|(_, path)| *path == found.as_str()).map_or('?', |(letter, _)| *letter)
    };
    let letters: String = (0..text.len()).map(letter).collect();
    assert_eq!(
        format!("{text}\n{letters}"),
        format!("{text}\n{}", ".aaaaaabbbbbb000b11baa.ccccccc."),
        "{text}"
    );
}

#[test]
fn problems_are_capped() {
    let doc = parse(&"[1 2]\n".replace("1 2", &"x ".repeat(1000)), Syntax::Json);
    assert_eq!(doc.problems().len(), toolwright_source::MAX_PROBLEMS);
    assert_eq!(brief(&doc.problems()[0]), "1:2 INVALID_SYNTAX `x` is not a JSON value");
}

#[test]
fn the_syntax_of_an_unnamed_text_is_detected() {
    let cases: [(&str, Syntax); 9] = [
        ("{\"a\": 1}", Syntax::Json),
        (" \n[1]", Syntax::Json),
        ("\u{feff}{}", Syntax::Json),
        ("{\"a\": 1,}", Syntax::Yaml),
        ("{a: 1}", Syntax::Yaml),
        ("{\"a\": [1 }", Syntax::Json),
        ("a: 1", Syntax::Yaml),
        ("\"a\": 1", Syntax::Yaml),
        ("", Syntax::Yaml),
    ];
    for (text, syntax) in cases {
        assert_eq!(Syntax::sniff(text.as_bytes()), syntax, "{text:?}");
    }
}
