//! Edits by pointer: a table for each style of JSON and YAML, and property tests for all styles.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolwright_source::{Document, DocumentPath, Edit, EditError, Source, Syntax, plan, splice};

use crate::generate::{self, Choices};
use crate::{errors, parse, pointer};

fn replace(at: &str, value: Json) -> Edit {
    Edit::Replace(pointer(at), value)
}

fn insert(at: &str, value: Json) -> Edit {
    Edit::Insert(pointer(at), value)
}

fn insert_first(at: &str, value: Json) -> Edit {
    Edit::InsertFirst(pointer(at), value)
}

fn remove(at: &str) -> Edit {
    Edit::Remove(pointer(at))
}

fn rename(at: &str, name: &str) -> Edit {
    Edit::RenameKey(pointer(at), name.to_owned())
}

/// Makes the same edits on the value: the model that the edited text is compared with.
fn model(value: &Json, edit: &Edit) -> Json {
    let mut value = value.clone();
    let up = |at: &DocumentPath| {
        (at.parent().unwrap_or_default(), at.last().unwrap_or_default().into_owned())
    };
    match edit {
        Edit::Replace(at, new) => {
            if let Some(old) = value.pointer_mut(at.as_str()) {
                *old = new.clone();
            }
        }
        Edit::Insert(at, new) => {
            let (parent, name) = up(at);
            match value.pointer_mut(parent.as_str()) {
                Some(Json::Array(items)) => items.push(new.clone()),
                Some(Json::Object(map)) => drop(map.insert(name, new.clone())),
                _ => {}
            }
        }
        Edit::InsertFirst(at, new) => {
            let (parent, name) = up(at);
            if let Some(Json::Object(map)) = value.pointer_mut(parent.as_str()) {
                map.shift_insert(0, name, new.clone());
            }
        }
        Edit::Remove(at) => {
            let (parent, name) = up(at);
            match value.pointer_mut(parent.as_str()) {
                Some(Json::Array(items)) => drop(items.remove(name.parse().expect("an index"))),
                Some(Json::Object(map)) => drop(map.shift_remove(&name)),
                _ => {}
            }
        }
        Edit::RenameKey(at, new) => {
            let (parent, name) = up(at);
            if let Some(Json::Object(map)) = value.pointer_mut(parent.as_str()) {
                let renamed = std::mem::take(map).into_iter();
                *map = renamed
                    .map(|(key, value)| (if key == name { new.clone() } else { key }, value))
                    .collect();
            }
        }
    }
    value
}

fn edited(text: &str, syntax: Syntax, edits: &[Edit]) -> Result<String, EditError> {
    let doc = parse(text, syntax);
    assert_eq!(errors(&doc), [""; 0], "{text:?}");
    plan(&doc, edits).map(|planned| splice(text, &planned))
}

/// Makes the edits and compares the result with the table, the model and the order of members.
fn check(text: &str, syntax: Syntax, edits: &[Edit], expected: &str) {
    let result = edited(text, syntax, edits).expect("the edits can be made");
    assert_eq!(result, expected, "{text:?} {edits:?}");
    let after = parse(&result, syntax);
    assert_eq!(errors(&after), [""; 0], "{result:?}");
    let value =
        edits.iter().fold(parse(text, syntax).root().to_json(), |value, edit| model(&value, edit));
    assert_eq!(after.root().to_json().to_string(), value.to_string(), "{result:?}");
}

#[test]
fn edits_of_json() {
    let compact = r#"{"a":1,"b":[1,2,3],"c":{}}"#;
    let line = r#"{"a": 1, "b": [1, 2, 3], "c": {}, "d": []}"#;
    let two =
        "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ],\n  \"c\": {\n    \"x\": true\n  }\n}\n";
    let cases: Vec<(&str, Edit, &str)> = vec![
        (compact, replace("/a", json!("x")), r#"{"a":"x","b":[1,2,3],"c":{}}"#),
        (compact, insert("/d", json!(2)), r#"{"a":1,"b":[1,2,3],"c":{}, "d":2}"#),
        (compact, insert("/b/-", json!(4)), r#"{"a":1,"b":[1,2,3, 4],"c":{}}"#),
        (compact, insert_first("/d", json!(2)), r#"{"d":2, "a":1,"b":[1,2,3],"c":{}}"#),
        (compact, insert_first("/c/d", json!(2)), r#"{"a":1,"b":[1,2,3],"c":{"d": 2}}"#),
        (compact, remove("/a"), r#"{"b":[1,2,3],"c":{}}"#),
        (compact, remove("/b/1"), r#"{"a":1,"b":[1,3],"c":{}}"#),
        (compact, remove("/c"), r#"{"a":1,"b":[1,2,3]}"#),
        (
            line,
            replace("/b", json!({"k": [null, "é\n"]})),
            r#"{"a": 1, "b": {"k": [null, "é\n"]}, "c": {}, "d": []}"#,
        ),
        (line, replace("", json!([])), "[]"),
        (
            line,
            insert("/c/x", json!({"y": 1})),
            r#"{"a": 1, "b": [1, 2, 3], "c": {"x": {"y": 1}}, "d": []}"#,
        ),
        (line, insert("/d/-", json!(0)), r#"{"a": 1, "b": [1, 2, 3], "c": {}, "d": [0]}"#),
        (line, remove("/b/0"), r#"{"a": 1, "b": [2, 3], "c": {}, "d": []}"#),
        (line, remove("/b/2"), r#"{"a": 1, "b": [1, 2], "c": {}, "d": []}"#),
        (line, remove("/d"), r#"{"a": 1, "b": [1, 2, 3], "c": {}}"#),
        (line, rename("/a", "é\""), r#"{"é\"": 1, "b": [1, 2, 3], "c": {}, "d": []}"#),
        ("[1]", remove("/0"), "[]"),
        ("{ \"a\": 1 }", remove("/a"), "{}"),
        ("{ }", insert("/a", json!(1)), "{\"a\": 1}"),
        (
            two,
            replace("/a", json!({"k": 1})),
            &two.replace("\"a\": 1", "\"a\": {\n    \"k\": 1\n  }"),
        ),
        (
            two,
            insert("/d", json!([1])),
            &two.replace("true\n  }\n", "true\n  },\n  \"d\": [\n    1\n  ]\n"),
        ),
        (
            two,
            insert("/b/-", json!({"k": 0})),
            &two.replace("    2\n", "    2,\n    {\n      \"k\": 0\n    }\n"),
        ),
        (two, insert("/c/y", json!(false)), &two.replace("true\n", "true,\n    \"y\": false\n")),
        (two, insert_first("/d", json!(2)), &two.replace("\"a\"", "\"d\": 2,\n  \"a\"")),
        (two, remove("/a"), &two.replace("\"a\": 1,\n  ", "")),
        (two, remove("/b"), &two.replace("\"b\": [\n    1,\n    2\n  ],\n  ", "")),
        (two, remove("/c"), &two.replace(",\n  \"c\": {\n    \"x\": true\n  }", "")),
        (two, remove("/c/x"), &two.replace("{\n    \"x\": true\n  }", "{}")),
        (two, remove("/b/1"), &two.replace(",\n    2", "")),
        (two, rename("/c/x", "z"), &two.replace("\"x\"", "\"z\"")),
    ]
    .into_iter()
    .map(|(text, edit, expected)| (text, edit, expected.to_owned().leak() as &str))
    .collect();
    for (text, edit, expected) in &cases {
        check(text, Syntax::Json, std::slice::from_ref(edit), expected);
        // The same with indents of four spaces or of tabs, and with CRLF.
        if text.contains('\n') {
            for dress in [
                |text: &str| text.replace("  ", "    "),
                |text: &str| text.replace("  ", "\t"),
                |text: &str| text.replace('\n', "\r\n"),
            ] {
                check(&dress(text), Syntax::Json, std::slice::from_ref(edit), &dress(expected));
            }
        }
    }
}

#[test]
fn the_byte_order_mark_stays() {
    let bytes = "\u{feff}{\"é\": 1}".as_bytes();
    let doc = Document::parse("x", bytes, Syntax::Json);
    let planned = plan(&doc, &[replace("/é", json!(2))]).expect("it can be made");
    let result = doc.source().with_text(&splice(doc.source().text(), &planned));
    assert_eq!(result, "\u{feff}{\"é\": 2}".as_bytes());
    assert_eq!(Source::decode("x", result).map(|s| s.offset()), Ok(3));
}

#[test]
fn edits_of_block_style_yaml() {
    let text = "\
# top
name: Rex # the dog
legs: 4

tools: # all
  # first
  - id: a
    # about x
    x: 1
  - id: b # bee
tags:
- one
- two
text: |
  hello

last:
";
    let cases: Vec<(Edit, String)> = vec![
        (replace("/name", json!("Max")), text.replace("Rex", "Max")),
        (replace("/name", json!("a: b")), text.replace("Rex", "\"a: b\"")),
        (replace("/legs", json!("4")), text.replace("4", "\"4\"")),
        (replace("/legs", json!("no")), text.replace("4", "\"no\"")),
        (replace("/legs", json!([1, {"é": null}])), text.replace("4", "[1, {\"é\": null}]")),
        (replace("/text", json!("a\nb\u{7f}")), text.replace("|\n  hello", "\"a\\nb\\u007f\"")),
        (replace("/last", json!(1)), text.replace("last:", "last: 1")),
        (replace("/tags", json!([])), text.replace("- one\n- two", "  []")),
        (replace("/tools/1", json!({})), text.replace("id: b", "{}")),
        (insert("/new", json!({"k": [1]})), text.replace("last:\n", "last:\nnew: {\"k\": [1]}\n")),
        (insert("/tools/0/y", json!(2)), text.replace("x: 1\n", "x: 1\n    y: 2\n")),
        (insert("/tools/1/y", json!("z")), text.replace("# bee\n", "# bee\n    y: z\n")),
        (
            insert("/tools/-", json!({"id": "c"})),
            text.replace("# bee\n", "# bee\n  - {\"id\": \"c\"}\n"),
        ),
        (insert("/tags/-", json!("three")), text.replace("- two\n", "- two\n- three\n")),
        (remove("/name"), text.replace("name: Rex # the dog\n", "")),
        (remove("/legs"), text.replace("legs: 4\n", "")),
        (remove("/tools/0"), text.replace("  - id: a\n    # about x\n    x: 1\n", "")),
        (remove("/tools/0/id"), text.replace("- id: a\n", "- \n")),
        (remove("/tools/0/x"), text.replace("    x: 1\n", "")),
        (remove("/tools/1"), text.replace("  - id: b # bee\n", "")),
        (remove("/tools/1/id"), text.replace("id: b", "{}")),
        (remove("/tags/0"), text.replace("- one\n", "")),
        (remove("/tags/1"), text.replace("- two\n", "")),
        (remove("/text"), text.replace("text: |\n  hello\n", "")),
        (remove("/last"), text.replace("last:\n", "")),
        (rename("/tools/0/x", "dom:read"), text.replace("x: 1", "\"dom:read\": 1")),
        (rename("/last", "end"), text.replace("last:", "end:")),
    ];
    for (edit, expected) in cases {
        for newline in ["\n", "\r\n"] {
            let dress = |text: &str| text.replace('\n', newline);
            check(&dress(text), Syntax::Yaml, std::slice::from_ref(&edit), &dress(&expected));
        }
    }
}

#[test]
fn edits_of_unusual_yaml() {
    let cases: Vec<(&str, Edit, &str)> = vec![
        // A block scalar without an indent is the whole document.
        (">\n:::y:3\n2 {3: x", replace("", json!("b")), "\"b\""),
        // A tab in a block of text is text.
        ("a: |\n  x\n  \ty\nb: 1\n", replace("/b", json!(2)), "a: |\n  x\n  \ty\nb: 2\n"),
        // Only a comment, or only the markers of a document.
        ("# c", replace("", json!(1)), "1 # c"),
        ("...", replace("", json!("new: value")), "\"new: value\"\n..."),
        ("---\n...\n", replace("", json!(1)), "--- 1\n...\n"),
        // The last line has no end.
        ("a: 1", insert("/b", json!(2)), "a: 1\nb: 2"),
        ("a  :", insert("/b", json!(2)), "a  :\nb: 2"),
        ("a: 1\nb: 2", remove("/b"), "a: 1\n"),
        ("- a", insert("/-", json!("b")), "- a\n- b"),
        ("- a", remove("/0"), "[]"),
        ("x:\n- a\ny: 1\n", remove("/x/0"), "x:\n  []\ny: 1\n"),
        ("x:\n  - a\ny: 1\n", remove("/x/0"), "x:\n  []\ny: 1\n"),
        // The value of an item on the line below its `-`.
        ("-\n  a: 1\n  b: 2\n- c\n", insert("/-", json!(3)), "-\n  a: 1\n  b: 2\n- c\n- 3\n"),
        ("-\n  a: 1\n  b: 2\n- c\n", remove("/0"), "- c\n"),
        ("-\n  a: 1\n  b: 2\n", remove("/0/a"), "-\n  b: 2\n"),
        ("- # c - d\n  a\n- b\n", insert("/-", json!(3)), "- # c - d\n  a\n- b\n- 3\n"),
        // Lists in lists.
        ("- - a\n  - b\n- - c\n", insert("/0/-", json!("x")), "- - a\n  - b\n  - x\n- - c\n"),
        ("- - a\n  - b\n- - c\n", remove("/0/0"), "- - b\n- - c\n"),
        ("- - a\n  - b\n- - c\n", remove("/0/1"), "- - a\n- - c\n"),
        ("- - a\n  - b\n- - c\n", remove("/1"), "- - a\n  - b\n"),
        ("- - a\n  # b's\n  - b\n", remove("/0/0"), "- \n  # b's\n  - b\n"),
        // Nothing written yet.
        ("a:\nb: 1\n", replace("/a", json!("x")), "a: x\nb: 1\n"),
        ("a: # c\nb: 1\n", replace("/a", json!("x")), "a: x # c\nb: 1\n"),
        ("a: &x # c\nb: 1\n", replace("/a", json!("x")), "a: &x x # c\nb: 1\n"),
        ("- # c\n- b\n", replace("/0", json!("x")), "- x # c\n- b\n"),
        ("{a, b: }", replace("/a", json!(1)), "{a: 1, b: }"),
        ("{a, b: }", replace("/b", json!(1)), "{a, b: 1 }"),
        ("? a\n? b\n", replace("/a", json!(1)), "? a\n: 1\n? b\n"),
        ("", replace("", json!(1)), "1"),
        // Block scalars that keep their last line breaks.
        ("a: |+\n  x\n\nb: 1\n", insert("/c", json!(2)), "a: |+\n  x\n\nb: 1\nc: 2\n"),
        ("b: 1\na: |+\n  x\n\n", insert("/c", json!(2)), "b: 1\na: |+\n  x\n\nc: 2\n"),
        ("a: |+\n  x\n\nb: |+\n  y\n\nc: 1\n", remove("/b"), "a: |+\n  x\n\nc: 1\n"),
        ("a: |+\n  x\n\nb: 1\n\nc: 1\n", remove("/b"), "a: |+\n  x\n\nc: 1\n"),
        ("a: |\n  x\n\nb: 1\n", insert("/c", json!(2)), "a: |\n  x\n\nb: 1\nc: 2\n"),
        (
            "t:\n  a: |\n    x\n\nb: 1\n",
            insert("/t/c", json!(2)),
            "t:\n  a: |\n    x\n  c: 2\n\nb: 1\n",
        ),
        // Explicit keys and anchors.
        ("? a\n: 1\n? b\n: 2\n", remove("/a"), "? b\n: 2\n"),
        ("? a\n: 1\n? b\n: 2\n", insert("/c", json!(3)), "? a\n: 1\n? b\n: 2\nc: 3\n"),
        ("&k a: 1\nb: 2\n", insert("/c", json!(3)), "&k a: 1\nb: 2\nc: 3\n"),
        ("- &x a\n- !!str b\n- c\n", remove("/1"), "- &x a\n- c\n"),
        ("x: &x\n  a: 1\ny: 2\n", insert("/x/b", json!(2)), "x: &x\n  a: 1\n  b: 2\ny: 2\n"),
        ("a: &x {k: 1}\nb: *x\n", replace("/b", json!(2)), "a: &x {k: 1}\nb: 2\n"),
        // A word that would end the document.
        ("a: 1\n", rename("/a", "..."), "\"...\": 1\n"),
        ("a: 1\n", rename("/a", "---"), "\"---\": 1\n"),
    ];
    for (text, edit, expected) in cases {
        check(text, Syntax::Yaml, &[edit], expected);
    }
}

#[test]
fn edits_of_flow_style_yaml() {
    let cases: Vec<(&str, Edit, &str)> = vec![
        ("{a: 1, b: [x, y]}", replace("/b/0", json!("p, q")), "{a: 1, b: [\"p, q\", y]}"),
        ("{a: 1, b: [x, y]}", insert("/c", json!("z")), "{a: 1, b: [x, y], c: z}"),
        ("{a: 1, b: [x, y]}", insert("/b/-", json!("z")), "{a: 1, b: [x, y, z]}"),
        ("{a: 1, b: [x, y]}", remove("/a"), "{b: [x, y]}"),
        ("{a: 1, b: [x, y]}", remove("/b"), "{a: 1}"),
        ("{a: 1, b: [x, y]}", remove("/b/1"), "{a: 1, b: [x]}"),
        ("{a: 1, b: [x]}", remove("/b/0"), "{a: 1, b: []}"),
        ("k: [ ] # c\n", insert("/k/-", json!(1)), "k: [1] # c\n"),
        ("[a, b, ]", insert("/-", json!("c")), "[a, b, c, ]"),
        ("[a, b, ]", remove("/1"), "[a, ]"),
        ("[a, &x !!str b, c]", remove("/1"), "[a, c]"),
        (
            "[\n  a, # one\n  b, # two\n  c # three\n]\n",
            insert("/-", json!("d")),
            "[\n  a, # one\n  b, # two\n  c,\n  d # three\n]\n",
        ),
        (
            "[\n  a, # one\n  b, # two\n  c # three\n]\n",
            remove("/1"),
            "[\n  a, # one\n   # two\n  c # three\n]\n",
        ),
        (
            "[\n  a, # one\n  b, # two\n  c # three\n]\n",
            remove("/2"),
            "[\n  a, # one\n  b, # two\n   # three\n]\n",
        ),
        ("{\"a\":1}", insert("/b", json!(2)), "{\"a\":1, \"b\": 2}"),
        ("{'a' : 1}", insert("/b", json!("it's")), "{'a' : 1, 'b' : \"it's\"}"),
        ("[a: 1]", insert("/0/b", json!(2)), "[{a: 1, b: 2}]"),
        ("[a: 1]", remove("/0/a"), "[{}]"),
        ("[a: 1, c]", rename("/0/a", "x y"), "[x y: 1, c]"),
    ];
    for (text, edit, expected) in cases {
        check(text, Syntax::Yaml, &[edit], expected);
    }
}

/// Members that a merge key brings in are written elsewhere; edits beside them leave them
/// unchanged.
#[test]
fn edits_beside_merge_keys() {
    let block = "base: &b\n  x: 1\nm:\n  <<: *b\n  y: 2\nz: 3\n";
    let flow = "base: &b {x: 1}\nm: {<<: *b, y: 2}\n";
    let cases: Vec<(&str, Edit, &str)> = vec![
        (block, insert("/m/w", json!(0)), "base: &b\n  x: 1\nm:\n  <<: *b\n  y: 2\n  w: 0\nz: 3\n"),
        (block, remove("/m/y"), "base: &b\n  x: 1\nm:\n  <<: *b\nz: 3\n"),
        (flow, insert("/m/w", json!(0)), "base: &b {x: 1}\nm: {<<: *b, y: 2, w: 0}\n"),
        (flow, remove("/m/y"), "base: &b {x: 1}\nm: {<<: *b}\n"),
        (flow, remove("/m/<<"), "base: &b {x: 1}\nm: {y: 2}\n"),
        // An edit through a merge key or an alias is made in the anchored text.
        (flow, replace("/m/x", json!(9)), "base: &b {x: 9}\nm: {<<: *b, y: 2}\n"),
        ("a: &a {}\nb: *a\n", insert("/b/x", json!(1)), "a: &a {x: 1}\nb: *a\n"),
        ("a: &a\n  k: 1\nb: *a\n", insert("/b/x", json!(1)), "a: &a\n  k: 1\n  x: 1\nb: *a\n"),
    ];
    for (text, edit, expected) in cases {
        assert_eq!(edited(text, Syntax::Yaml, &[edit]).as_deref(), Ok(expected), "{text:?}");
    }
}

#[test]
fn several_edits_of_one_document() {
    let cases: Vec<(&str, Syntax, Vec<Edit>, &str)> = vec![
        (
            r#"{"a": 1}"#,
            Syntax::Json,
            vec![insert("/b", json!(2)), insert("/c", json!(3))],
            r#"{"a": 1, "b": 2, "c": 3}"#,
        ),
        (
            "{}",
            Syntax::Json,
            vec![insert("/b", json!(2)), insert("/c", json!(3)), insert("/d", json!(4))],
            r#"{"b": 2, "c": 3, "d": 4}"#,
        ),
        ("[ ]", Syntax::Json, vec![insert("/-", json!(2)), insert("/-", json!(3))], "[2, 3]"),
        (
            "a: 1\n",
            Syntax::Yaml,
            vec![insert("/b", json!(2)), insert("/c", json!(3))],
            "a: 1\nb: 2\nc: 3\n",
        ),
        (
            "{a: 1}\n",
            Syntax::Yaml,
            vec![insert("/b", json!(2)), insert("/c", json!(3))],
            "{a: 1, b: 2, c: 3}\n",
        ),
        (
            "- a\n- b\n",
            Syntax::Yaml,
            vec![insert("/-", json!(2)), replace("/1", json!("x"))],
            "- a\n- x\n- 2\n",
        ),
        (r#"[1, 2, 3]"#, Syntax::Json, vec![replace("/2", json!(9)), remove("/0")], "[2, 9]"),
        (
            r#"{"a": 1, "b": 2}"#,
            Syntax::Json,
            vec![rename("/a", "x"), replace("/a", json!(7))],
            r#"{"x": 7, "b": 2}"#,
        ),
    ];
    for (text, syntax, edits, expected) in cases {
        assert_eq!(edited(text, syntax, &edits).as_deref(), Ok(expected), "{text:?}");
    }
}

#[test]
fn impossible_edits_are_refused() {
    let text = r#"{"a": {"b": [1, 2]}, "s": "x"}"#;
    let nothing = |at: &str| EditError::NoSuchPlace(pointer(at));
    let cases: Vec<(Vec<Edit>, EditError)> = vec![
        (vec![replace("/x", json!(1))], nothing("/x")),
        (vec![remove("/a/b/2")], nothing("/a/b/2")),
        (vec![remove("/a/b/01")], nothing("/a/b/01")),
        (vec![remove("")], nothing("")),
        (vec![insert("/a", json!(1))], nothing("/a")),
        (vec![insert("", json!(1))], nothing("")),
        (vec![insert("/s/x", json!(1))], nothing("/s/x")),
        (vec![insert("/a/b/0", json!(1))], nothing("/a/b/0")),
        (vec![insert("/x/y", json!(1))], nothing("/x")),
        (vec![rename("/a/b/0", "x")], nothing("/a/b/0")),
        (vec![rename("", "x")], nothing("")),
        (vec![replace("/a", json!(1)), replace("/a", json!(2))], EditError::Overlap),
        (vec![replace("/a", json!(1)), remove("/a/b/0")], EditError::Overlap),
        (vec![remove("/a/b/0"), remove("/a/b/1")], EditError::Overlap),
        (vec![remove("/a/b"), insert("/a/c", json!(1))], EditError::Overlap),
    ];
    for (edits, error) in cases {
        assert_eq!(edited(text, Syntax::Json, &edits), Err(error), "{edits:?}");
    }
    assert_eq!(nothing("/x").to_string(), "there is nothing at `/x` to edit");
    assert_eq!(edited("?\t# x\n", Syntax::Yaml, &[rename("/", "a")]), Err(nothing("/")));
    for odd in ["\r\r- a", "- a\r- b", "\n\u{feff}- a"] {
        assert_eq!(
            edited(odd, Syntax::Yaml, &[insert("/-", json!("b"))]),
            Err(EditError::OddLines),
            "{odd:?}"
        );
    }
    assert_eq!(edited("- a\r\n", Syntax::Yaml, &[remove("/0")]), Ok("[]\r\n".to_owned()));
}

/// An edit that is possible on the value, picked by `choices`.
fn some_edit(value: &Json, new: &Json, choices: &mut Choices) -> Edit {
    let mut places = vec![DocumentPath::root()];
    let mut next = 0;
    while let Some(at) = places.get(next).cloned() {
        next += 1;
        match value.pointer(at.as_str()) {
            Some(Json::Array(items)) => places.extend((0..items.len()).map(|n| at.child(n))),
            Some(Json::Object(map)) => places.extend(map.keys().map(|key| at.child(key))),
            _ => {}
        }
    }
    let at = places[choices.pick(places.len())].clone();
    let parent = at.parent().map(|parent| value.pointer(parent.as_str()));
    let fresh = ["fresh", "a: b", "é", "'", "no", "1", "#", "x y", "\u{7f}"][choices.pick(9)];
    match (choices.pick(5), value.pointer(at.as_str()), parent) {
        (4, Some(Json::Object(map)), _) if !map.contains_key(fresh) => {
            Edit::InsertFirst(at.child(fresh), new.clone())
        }
        (0, Some(Json::Array(_)), _) => Edit::Insert(at.child("-"), new.clone()),
        (0, Some(Json::Object(map)), _) if !map.contains_key(fresh) => {
            Edit::Insert(at.child(fresh), new.clone())
        }
        (1, _, Some(_)) => Edit::Remove(at),
        (2, _, Some(Some(Json::Object(map)))) if !map.contains_key(fresh) => {
            Edit::RenameKey(at, fresh.to_owned())
        }
        _ => Edit::Replace(at, new.clone()),
    }
}

/// The edited text has the value of the model, everything else is unchanged, and comments outside
/// of removed parts are kept.
fn assert_edit(text: &str, syntax: Syntax, value: &Json, edit: &Edit) {
    let doc = parse(text, syntax);
    assert_eq!(errors(&doc), [""; 0], "{text:?}");
    let planned = plan(&doc, std::slice::from_ref(edit)).expect("it can be made");
    assert_eq!(planned.len(), 1);
    let span = planned[0].span.range();
    let result = splice(text, &planned);
    assert!(result.starts_with(&text[..span.start]) && result.ends_with(&text[span.end..]));
    let after = parse(&result, syntax);
    assert_eq!(errors(&after), [""; 0], "{edit:?} turns {text:?} into {result:?}");
    let expected = model(value, edit).to_string();
    assert_eq!(
        after.root().to_json().to_string(),
        expected,
        "{edit:?} turns {text:?} into {result:?}"
    );
    let outside = doc
        .comments()
        .iter()
        .filter(|c| c.range().end <= span.start || c.range().start >= span.end);
    assert!(after.comments().len() >= outside.count(), "{edit:?} turns {text:?} into {result:?}");
    let keeps_all = matches!(edit, Edit::Insert(..) | Edit::InsertFirst(..) | Edit::RenameKey(..));
    if keeps_all && syntax == Syntax::Yaml {
        assert_eq!(
            after.comments().len(),
            doc.comments().len(),
            "{edit:?} turns {text:?} into {result:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_edit_of_json(value in generate::container(), new in generate::value(), mut choices in Choices::any()) {
        let edit = some_edit(&value, &new, &mut choices);
        let text = match choices.pick(3) {
            0 => serde_json::to_string_pretty(&value).expect("values can be written"),
            _ => generate::write_json(&value, &mut choices),
        };
        assert_edit(&text, Syntax::Json, &value, &edit);
    }

    #[test]
    fn any_edit_of_yaml_blocks(value in generate::container(), new in generate::value(), mut choices in Choices::any()) {
        let edit = some_edit(&value, &new, &mut choices);
        let text = generate::write_yaml(&value, &mut choices);
        assert_edit(&text, Syntax::Yaml, &value, &edit);
        assert_edit(&text.replace('\n', "\r\n"), Syntax::Yaml, &value, &edit);
    }

    #[test]
    fn any_edit_of_yaml_flows(value in generate::container(), new in generate::value(), mut choices in Choices::any()) {
        let edit = some_edit(&value, &new, &mut choices);
        let text = generate::write_flow(&value, &mut choices);
        assert_edit(&text, Syntax::Yaml, &value, &edit);
    }
}
