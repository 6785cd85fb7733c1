//! The three forms of a diagnostic: with carets, on one line, as JSON.

use std::sync::Arc;

use insta::assert_snapshot;
use serde_json::{Value as Json, json};
use toolwright_source::{
    Diagnostic, DiagnosticCode, Document, Edit, Finding, Fix, Label, Safety, Severity, Source,
    Span, Syntax, TextEdit, locate, render,
};

use crate::{parse, pointer};

static TEST: DiagnosticCode =
    DiagnosticCode { name: "TEST", severity: Severity::Error, manual: "For tests.", sample: None };

fn diagnostic(text: &str, span: Span) -> Diagnostic {
    let source = Arc::new(Source::new("dir/doc.yaml", text.to_owned()));
    Diagnostic::at(&TEST, &source, span, "this is wrong")
}

/// A diagnostic about the first `word` in `text`.
fn about(text: &str, word: &str) -> Diagnostic {
    let at = text.find(word).expect("the word is in the text");
    diagnostic(text, Span::new(at, at + word.len()))
}

/// The same with a label at a second location.
fn and(mut found: Diagnostic, word: &str, label: &str) -> Diagnostic {
    let at = found.source.text().find(word).expect("the word is in the text");
    found.labels.push(Label { span: Span::new(at, at + word.len()), text: label.to_owned() });
    found
}

fn full(d: &Diagnostic) -> String {
    render::full(d, render::Colour::Off)
}

#[test]
fn one_finding_with_a_caret() {
    let found = about("a: 1\nname: Rex\nb: 2\n", "Rex").help("say `Max`").help("or nothing");
    assert_snapshot!(full(&found), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:2:7
      |
    2 | name: Rex
      |       ^^^
      |
      = help: say `Max`
      = help: or nothing
    "#);
}

#[test]
fn every_severity_has_its_word() {
    for (severity, word) in [(Severity::Warning, "warning"), (Severity::Info, "note")] {
        let mut found = about("a: 1", "1");
        found.severity = severity;
        assert!(full(&found).starts_with(&format!("{word}[TEST]: this is wrong")));
        assert!(render::full(&found, render::Colour::On).contains('\u{1b}'));
        assert!(!full(&found).contains('\u{1b}'));
    }
}

#[test]
fn carets_behind_other_alphabets() {
    assert_snapshot!(full(&about("é漢😀: Rex # c\n", "Rex")), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:1:6
      |
    1 | é漢😀: Rex # c
      |        ^^^
    "#);
}

#[test]
fn carets_in_crlf_files() {
    assert_snapshot!(full(&and(about("a: 1\r\nb: 2\r\nc: 3\r\n", "3"), "1", "first")), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:3:4
      |
    1 | a: 1
      |    - first
    2 | b: 2
    3 | c: 3
      |    ^
    "#);
}

#[test]
fn carets_behind_tabs() {
    assert_snapshot!(full(&about("{\n\t\"a\":\ttrue\n}", "true")), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:2:7
      |
    2 |     "a":    true
      |             ^^^^
    "#);
}

#[test]
fn a_span_of_several_lines() {
    assert_snapshot!(full(&about("x: 0\na: {b: 1,\n  c: 2,\n  d: 3}\ny: 0\n", "{b: 1,\n  c: 2,\n  d: 3}")), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:2:4
      |
    2 |   a: {b: 1,
      |  ____^
    3 | |   c: 2,
    4 | |   d: 3}
      | |_______^
    "#);
}

#[test]
fn only_the_first_line_of_a_long_span_is_shown() {
    let list = format!("[\n{}]", "  1,\n".repeat(50));
    assert_snapshot!(full(&about(&format!("a: {list}\n"), &list)), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:1:4
      |
    1 | a: [
      |    ^
    "#);
}

#[test]
fn a_long_line_is_cut_around_the_caret() {
    let text = format!("a: [{}HERE, {}]\n", "xé, ".repeat(1200), "y, ".repeat(1800));
    let found = about(&text, "HERE");
    assert_snapshot!(full(&found), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:1:4805
      |
    1 | xé, xé, xé, xé, xé, xé, xé, xé, xé, xé, xé, xé, xé, xé, xé, xé, HERE, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y,
      |                                                                 ^^^^
    "#);
    assert!(render::full(&found, render::Colour::On).contains("dir/doc.yaml:1:4805\n"));
    assert!(render::concise(&found).starts_with("dir/doc.yaml:1:4805: "));
}

#[test]
fn a_long_span_in_a_long_line_is_cut() {
    let long = "x".repeat(9000);
    assert_snapshot!(full(&about(&format!("a: '{long}', # é\n"), &long)), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:1:5
      |
    1 | a: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn a_label_near_the_caret_is_in_the_same_excerpt() {
    assert_snapshot!(full(&and(about("a: 1\nb: 2\na: 3\n", "a: 3"), "a: 1", "first used here")), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:3:1
      |
    1 | a: 1
      | ---- first used here
    2 | b: 2
    3 | a: 3
      | ^^^^
    "#);
}

#[test]
fn a_distant_label_has_an_excerpt_of_its_own() {
    let text = format!("first: 1\n{}again: 2\n", "x: 0\n".repeat(500));
    assert_snapshot!(full(&and(about(&text, "again"), "first", "first used here")), @r#"
    error[TEST]: this is wrong
       --> dir/doc.yaml:502:1
        |
    502 | again: 2
        | ^^^^^
        |
       ::: dir/doc.yaml:1:1
        |
      1 | first: 1
        | ----- first used here
    "#);
}

#[test]
fn a_caret_at_the_end_of_the_file() {
    assert_snapshot!(full(&diagnostic("a: 1\n", Span::new(5, 5))), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:2:1
      |
    2 |
      | ^
    "#);
    assert_snapshot!(full(&diagnostic("a: 1", Span::new(4, 4))), @r#"
    error[TEST]: this is wrong
     --> dir/doc.yaml:1:5
      |
    1 | a: 1
      |     ^
    "#);
}

#[test]
fn a_caret_in_an_empty_file() {
    assert_snapshot!(full(&diagnostic("", Span::new(0, 0))), @r#"
    error[TEST]: this is wrong
    --> dir/doc.yaml
    "#);
}

#[test]
fn a_finding_without_a_location() {
    let mut found = diagnostic("a: 1", Span::new(0, 0));
    found.span = None;
    assert_snapshot!(full(&found), @r#"
    error[TEST]: this is wrong
    --> dir/doc.yaml
    "#);
    assert_snapshot!(render::concise(&found), @r#"dir/doc.yaml: error[TEST]: this is wrong"#);
}

/// Control characters are printed as escapes.
#[test]
fn control_characters_of_a_document_are_escaped() {
    let mut found = about("a: \u{1b}[2J\u{202e}evil\u{7}\n", "evil").help("not\u{1b}[31m red");
    found.message = "line one\nline\r two \u{1b}[31mred\u{202e}\u{2066}\u{200b}\u{feff}".to_owned();
    found.fix = Some(Fix { title: "do\nit".to_owned(), safe: true, edits: Vec::new() });
    let found = and(found, "a", "lab\u{1b}[2Jel\nx");
    for text in [full(&found), render::concise(&found)] {
        let hidden = |c: char| c.is_control() && c != '\n' || ('\u{2000}'..'\u{2070}').contains(&c);
        assert!(!text.contains(hidden), "{text:?}");
    }
    assert_eq!(render::concise(&found).lines().count(), 1);
    assert_snapshot!(full(&found), @r#"
    error[TEST]: line one\u{a}line\u{d} two \u{1b}[31mred\u{202e}\u{2066}\u{200b}\u{feff}
     --> dir/doc.yaml:1:9
      |
    1 | a: ␛[2J�evil␇
      | -       ^^^^
      | |
      | lab\u{1b}[2Jel\u{a}x
      |
      = help: not\u{1b}[31m red
      = help: possible fix: do\u{a}it
    "#);
    let source = Arc::new(Source::new("a\u{1b}[2J\nb.yaml", "x".to_owned()));
    let found = Diagnostic::at(&TEST, &source, Span::new(0, 1), "wrong");
    assert_snapshot!(render::concise(&found), @r#"a\u{1b}[2J\u{a}b.yaml:1:1: error[TEST]: wrong"#);
    assert!(!full(&found).contains('\u{1b}'));
}

#[test]
fn fixes_are_named() {
    let doc = Arc::new(parse("a: 1\nb: 2\n", Syntax::Yaml));
    let finding = Finding::new(&TEST, pointer("/b"), "wrong");
    for (safety, line) in [
        (Safety::Safe, "= help: possible fix: drop it"),
        (Safety::Unsafe, "= help: unsafe fix: drop it"),
    ] {
        let finding = finding.clone().repair(safety, "drop it", vec![Edit::Remove(pointer("/b"))]);
        assert!(full(&locate(finding, &doc)).ends_with(line));
    }
}

#[test]
fn an_unsafe_fix_is_not_named_beside_help() {
    let doc = Arc::new(parse("a: 1\nb: 2\n", Syntax::Yaml));
    let edits = vec![Edit::Remove(pointer("/b"))];
    let finding = Finding::new(&TEST, pointer("/b"), "wrong").help("think").repair(
        Safety::Unsafe,
        "drop it",
        edits,
    );
    assert!(full(&locate(finding, &doc)).ends_with("= help: think"));
}

#[test]
fn the_concise_form_is_one_line() {
    let doc = Document::parse("dir/é.json", "{\n  \"é\" 1,\n}", Syntax::Json);
    let lines: Vec<String> = doc.problems().iter().map(render::concise).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    dir/é.json:2:7: error[INVALID_SYNTAX]: `:` is missing after the key
    dir/é.json:2:8: error[INVALID_SYNTAX]: trailing `,` before `}`
    "#);
}

#[test]
fn the_json_form_has_all_parts() {
    let doc = Document::parse("é.json", "\u{feff}{\"é\": 1, \"b\": [2,\r\n 3]}", Syntax::Json);
    let finding = Finding::new(&TEST, pointer("/b/1"), "a \"quoted\"\nmessage")
        .help("one")
        .severity(Severity::Info)
        .repair(
            Safety::Safe,
            "drop it",
            vec![Edit::Remove(pointer("/b/1")), Edit::Replace(pointer("/é"), json!("x"))],
        );
    let text = render::json(&locate(finding, &Arc::new(doc)));
    assert_eq!(text.lines().count(), 1);
    let place = |line: usize, column: usize, byte: usize| json!({"line": line, "column": column, "byte": byte});
    let expected = json!({
        "code": "TEST",
        "severity": "info",
        "message": "a \"quoted\"\nmessage",
        "source": "é.json",
        "tool": null,
        "file": "é.json",
        "start": place(2, 2, 24),
        "end": place(2, 3, 25),
        "path": "/b/1",
        "help": ["one"],
        "fix": {
            "title": "drop it",
            "safe": true,
            "edits": [
                {"start": place(1, 7, 10), "end": place(1, 8, 11), "text": "\"x\""},
                {"start": place(1, 17, 20), "end": place(2, 3, 25), "text": ""},
            ],
        },
    });
    // As text: the order of the members is part of the form.
    assert_eq!(text, expected.to_string());
}

#[test]
fn the_json_form_is_one_line() {
    let mut found = about("a: 1", "1");
    found.message = "a\n\u{85}\u{2028}\u{2029}b".to_owned();
    let text = render::json(&found);
    assert!(!text.contains(['\n', '\u{85}', '\u{2028}', '\u{2029}']), "{text}");
    let value: Json = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(value["message"], json!(found.message));
}

#[test]
fn the_json_form_without_location_and_fix() {
    let mut found = about("a: 1", "1");
    found.span = None;
    let value: Json = serde_json::from_str(&render::json(&found)).expect("it is JSON");
    assert_eq!(
        (&value["start"], &value["end"], &value["fix"]),
        (&Json::Null, &Json::Null, &Json::Null)
    );
    assert_eq!((&value["help"], &value["path"]), (&json!([]), &json!("")));
}

#[test]
fn invalid_spans_are_rendered_without_panic() {
    for (start, end) in [(1, 2), (3, 4), (2, 99), (99, 120), (7, 7)] {
        let found = diagnostic("é: 漢\n", Span::new(start, end));
        let _ = (full(&found), render::concise(&found), render::json(&found));
    }
}

#[test]
fn findings_are_sorted_by_location() {
    let at = |file: &str, byte: usize, code: &'static DiagnosticCode| {
        let source = Arc::new(Source::new(file, "0123456789".to_owned()));
        Diagnostic::at(code, &source, Span::new(byte, byte + 1), "")
    };
    static OTHER: DiagnosticCode =
        DiagnosticCode { name: "OTHER", severity: Severity::Error, manual: "", sample: None };
    let mut found =
        vec![at("b", 1, &TEST), at("a", 5, &TEST), at("a", 5, &OTHER), at("a", 2, &TEST)];
    found[0].span = None;
    found.push(at("b", 0, &TEST));
    render::sort(&mut found);
    let order: Vec<String> = found
        .iter()
        .map(|d| format!("{} {:?} {}", d.source.name(), d.line_column(), d.code.name))
        .collect();
    assert_eq!(
        order,
        [
            "a Some((1, 3)) TEST",
            "a Some((1, 6)) OTHER",
            "a Some((1, 6)) TEST",
            "b None TEST",
            "b Some((1, 1)) TEST"
        ]
    );
}

#[test]
fn edits_of_a_fix_are_rendered_unchanged() {
    let mut found = about("a: 1", "1");
    let edit = TextEdit { span: Span::new(0, 1), text: "é\n".to_owned() };
    found.fix = Some(Fix { title: "t".to_owned(), safe: true, edits: vec![edit] });
    let value: Json = serde_json::from_str(&render::json(&found)).expect("it is JSON");
    assert_eq!(value["fix"]["edits"][0]["text"], json!("é\n"));
}
