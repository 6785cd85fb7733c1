//! Diagnostics as a SARIF document. `e2e/sarif.py` validates such documents against the published
//! schema.

use std::sync::Arc;

use insta::assert_snapshot;
use serde_json::{Value as Json, json};
use toolwright_source::{
    Diagnostic, Document, Edit, Finding, Fix, Label, Safety, Severity, Source, Span, Syntax,
    TextEdit, codes, locate, render,
};

use crate::pointer;

/// A diagnostic about the first `word` in `text`.
fn about(name: &str, text: &str, word: &str) -> Diagnostic {
    let at = text.find(word).expect("the word is in the text");
    let source = Arc::new(Source::new(name, text.to_owned()));
    Diagnostic::at(&codes::DUPLICATE_KEY, &source, Span::new(at, at + word.len()), "wrong")
}

/// The only run of the document.
fn run(diagnostics: &[Diagnostic]) -> Json {
    let mut document: Json =
        serde_json::from_str(&render::sarif(diagnostics, &[], "1.2.3")).expect("it is JSON");
    assert_eq!(document["version"], "2.1.0");
    document["runs"][0].take()
}

/// The only result of the document.
fn result(diagnostic: Diagnostic) -> Json {
    run(&[diagnostic])["results"][0].take()
}

/// Lines and columns, then bytes: `[start line, column, end line, column, byte, length]`.
fn region(numbers: [usize; 6]) -> Json {
    let [start_line, start_column, end_line, end_column, byte, length] = numbers;
    json!({
        "startLine": start_line,
        "startColumn": start_column,
        "endLine": end_line,
        "endColumn": end_column,
        "byteOffset": byte,
        "byteLength": length,
    })
}

#[test]
fn the_whole_document_has_its_snapshot() {
    let text = "# ä😀\nname: a\nlegs: 4\nname: b\nsize: 1e999\n";
    let doc = Arc::new(Document::parse("my pets/#1.yaml", text, Syntax::Yaml));
    let finding = Finding::new(&codes::NUMBER_PRECISION, pointer("/legs"), "`4` is `four`")
        .severity(Severity::Info)
        .help("write `four`")
        .repair(Safety::Safe, "write it out", vec![Edit::Replace(pointer("/legs"), json!("four"))]);
    let mut found = doc.problems().to_vec();
    found.push(locate(finding, &doc));
    assert_snapshot!(render::sarif(&found, &[], "1.2.3"));
}

#[test]
fn nothing_found_is_a_run_without_results() {
    let expected = json!({
        "invocations": [{"executionSuccessful": true, "toolExecutionNotifications": []}],
        "tool": {"driver": {"name": "toolwright", "version": "1.2.3", "rules": []}},
        "columnKind": "utf16CodeUnits",
        "results": [],
    });
    assert_eq!(run(&[]), expected);
}

#[test]
fn regions_have_lines_columns_and_bytes() {
    let cases = [
        ("a: 1\nb: 22\n", "22", [2, 4, 2, 6, 8, 2]),
        ("a: 1\r\nb: 22\r\n", "22", [2, 4, 2, 6, 9, 2]),
        // UTF-16: ä is one unit, 😀 two; in bytes two and four.
        ("ä: x", "x", [1, 4, 1, 5, 4, 1]),
        ("😀: x", "x", [1, 5, 1, 6, 6, 1]),
        ("x: ä😀", "ä😀", [1, 4, 1, 7, 3, 6]),
        ("ä: {b: 1,\n 😀: 2}\n", "{b: 1,\n 😀: 2}", [1, 4, 2, 8, 4, 16]),
        // A line with its line break ends at the start of the next.
        ("a: 1\nb: 2\n", "a: 1\n", [1, 1, 2, 1, 0, 5]),
        ("", "", [1, 1, 1, 1, 0, 0]),
    ];
    for (text, word, numbers) in cases {
        let result = result(about("a.yaml", text, word));
        let found = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(found, &region(numbers), "{word:?} in {text:?}");
    }
}

#[test]
fn columns_of_a_long_line_are_utf16_too() {
    for before in ["😀".repeat(5000), "aä漢😀".repeat(999), "x".repeat(9999)] {
        let result = result(about("a.yaml", &format!("{before}#"), "#"));
        let found = &result["locations"][0]["physicalLocation"]["region"]["startColumn"];
        assert_eq!(found, &json!(before.encode_utf16().count() + 1));
    }
}

#[test]
fn a_byte_order_mark_has_bytes_but_no_column() {
    let doc = Document::parse("a.json", "\u{feff}{\"ä\": 1, \"ä\": 2}", Syntax::Json);
    let result = result(doc.problems()[0].clone());
    assert_eq!(result["locations"][0]["physicalLocation"]["region"], region([1, 10, 1, 13, 13, 4]));
}

#[test]
fn invalid_spans_are_moved_to_characters_of_the_text() {
    let cases = [
        ((1, 2), [1, 1, 1, 2, 0, 2]),
        ((3, 5), [1, 3, 1, 5, 3, 4]),
        ((4, 99), [1, 4, 2, 1, 4, 5]),
        ((99, 120), [2, 1, 2, 1, 9, 0]),
    ];
    for ((start, end), numbers) in cases {
        let source = Arc::new(Source::new("a", "é: 漢x\n".to_owned()));
        let found = Diagnostic::at(&codes::DUPLICATE_KEY, &source, Span::new(start, end), "");
        let result = result(found);
        let found = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(found, &region(numbers), "{start}..{end}");
    }
}

#[test]
fn a_finding_without_a_location_names_only_its_file() {
    let mut found = about("a.yaml", "a: 1", "1");
    found.span = None;
    assert_eq!(
        result(found)["locations"],
        json!([{"physicalLocation": {"artifactLocation": {"uri": "a.yaml"}}}])
    );
}

#[test]
fn names_are_uri_references() {
    let cases = [
        ("dir/a.yaml", "dir/a.yaml"),
        ("./dir/.//a.yaml", "dir/a.yaml"),
        ("../a.yaml", "../a.yaml"),
        ("/tmp/a b.yaml", "file:///tmp/a%20b.yaml"),
        ("a b/#1?.yaml", "a%20b/%231%3F.yaml"),
        ("100%/ä😀.json", "100%25/%C3%A4%F0%9F%98%80.json"),
        ("[a]{b}|\\^`\"<>", "%5Ba%5D%7Bb%7D%7C%5C%5E%60%22%3C%3E"),
        ("@scope/a+b=c.json", "@scope/a+b=c.json"),
        // The first segment of a relative path must not look like a scheme.
        ("fs:read.json", "fs%3Aread.json"),
        // Standard input and live servers.
        ("<stdin>", "%3Cstdin%3E"),
        ("my server", "my%20server"),
        ("-- npx", "--%20npx"),
        ("https://example.com/mcp?key=a%20b&x=@:", "https://example.com/mcp?key=a%20b&x=@:"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://u:p@[::1]:8080/mcp", "http://u:p@[::1]:8080/mcp"),
        // Nearly URLs.
        ("http://", "http%3A"),
        ("http://h/a b", "http%3A/h/a%20b"),
        ("http://h/%zz", "http%3A/h/%25zz"),
        ("http://h:p/", "http%3A/h%3Ap"),
        ("http://[1]/", "http%3A/%5B1%5D"),
        ("http://a@b@h/", "http%3A/a@b@h"),
        ("http://h/a#b#c", "http%3A/h/a%23b%23c"),
        ("javascript:alert(1)", "javascript%3Aalert(1)"),
    ];
    for (name, uri) in cases {
        let result = result(about(name, "a: 1", "1"));
        assert_eq!(
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], uri,
            "{name}"
        );
    }
}

#[test]
fn every_code_is_one_rule() {
    let mut found = vec![about("a", "a: 1", "a"), about("a", "a: 1", "1"), about("b", "x", "x")];
    found[1].code = &codes::NUMBER_PRECISION;
    found[2].severity = Severity::Info;
    let run = run(&found);
    let rules = &run["tool"]["driver"]["rules"];
    let rule = |index: usize| {
        (rules[index]["id"].clone(), rules[index]["defaultConfiguration"]["level"].clone())
    };
    assert_eq!(rule(0), (json!("DUPLICATE_KEY"), json!("error")));
    assert_eq!(rule(1), (json!("NUMBER_PRECISION"), json!("warning")));
    assert_eq!(rules[2], Json::Null);
    assert_eq!(rules[0]["shortDescription"]["text"], "A key appears twice in one object.");
    assert_eq!(rules[0]["fullDescription"]["text"], codes::DUPLICATE_KEY.manual);
    let results: Vec<Json> = (0..3)
        .map(|at| &run["results"][at])
        .map(|result| json!([result["ruleId"], result["ruleIndex"], result["level"]]))
        .collect();
    let expected = [
        json!(["DUPLICATE_KEY", 0, "error"]),
        json!(["NUMBER_PRECISION", 1, "error"]),
        json!(["DUPLICATE_KEY", 0, "note"]),
    ];
    assert_eq!(results, expected);
}

#[test]
fn messages_escape_hidden_characters_and_links() {
    let mut found =
        about("a", "a: 1", "1").help("use `}`").help("see [docs](https://evil.example)");
    found.message = "a\n\u{202e}b [x](0)".to_owned();
    found.labels.push(Label { span: Span::new(0, 1), text: "[y](1)\u{7}".to_owned() });
    let result = result(found);
    let expected =
        "a\\u{a}\\u{202e}b [x\\](0)\nhelp: use `}`\nhelp: see [docs\\](https://evil.example)";
    assert_eq!(result["message"]["text"], expected);
    assert_eq!(result["relatedLocations"][0]["message"]["text"], "[y\\](1)\\u{7}");
}

#[test]
fn labels_are_related_locations() {
    let mut found = about("dir/a.yaml", "ä: 1\n😀: 2\n", "2");
    assert_eq!(result(found.clone())["relatedLocations"], Json::Null);
    found.labels.push(Label { span: Span::new(0, 2), text: "first".to_owned() });
    let expected = json!([{
        "message": {"text": "first"},
        "physicalLocation": {
            "artifactLocation": {"uri": "dir/a.yaml"},
            "region": region([1, 1, 1, 2, 0, 2]),
        },
    }]);
    assert_eq!(result(found)["relatedLocations"], expected);
}

#[test]
fn fixes_keep_their_text() {
    let mut found = about("a b.yaml", "ä: 1\n😀: 2\n", "2");
    let edits = vec![
        TextEdit { span: Span::new(0, 2), text: String::new() },
        TextEdit { span: Span::new(10, 10), text: "\u{202e}é\n".to_owned() },
    ];
    found.fix = Some(Fix { title: "do\nit".to_owned(), safe: false, edits });
    let expected = json!([{
        "description": {"text": "do\\u{a}it"},
        "artifactChanges": [{
            "artifactLocation": {"uri": "a%20b.yaml"},
            "replacements": [
                {"deletedRegion": region([1, 1, 1, 2, 0, 2]), "insertedContent": {"text": ""}},
                {"deletedRegion": region([2, 3, 2, 3, 10, 0]), "insertedContent": {"text": "\u{202e}é\n"}},
            ],
        }],
        "properties": {"safe": false},
    }]);
    assert_eq!(result(found.clone())["fixes"], expected);
    // SARIF has no fix without a change.
    found.fix = Some(Fix { title: "nothing".to_owned(), safe: true, edits: Vec::new() });
    assert_eq!(result(found)["fixes"], Json::Null);
}

#[test]
fn a_pointer_is_a_logical_location() {
    let mut found = about("a", "a: 1", "1");
    assert_eq!(result(found.clone())["locations"][0]["logicalLocations"], Json::Null);
    found.path = pointer("/tools/0/a~1b");
    assert_eq!(
        result(found)["locations"][0]["logicalLocations"],
        json!([{"fullyQualifiedName": "/tools/0/a~1b"}])
    );
}

/// Services store fingerprints, so the values must not change.
#[test]
fn fingerprints_stay_when_lines_move() {
    let print =
        |found: &Diagnostic| result(found.clone())["partialFingerprints"]["toolwright/v1"].take();
    let mut found = about("a", "a: 1", "1");
    assert_eq!(print(&found), "01d0c05831893a86");
    let mut moved = about("b", "# more\n\na: 1", "1").help("other help");
    moved.severity = Severity::Info;
    assert_eq!(print(&moved), print(&found));
    moved.path = pointer("/a");
    assert_ne!(print(&moved), print(&found));
    // Parts are separated: text cannot move from one to another.
    found.path = pointer("/aw");
    moved.message = "rong".to_owned();
    found.message = "rong".to_owned();
    assert_ne!(print(&moved), print(&found));
}
