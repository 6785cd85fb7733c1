//! Diagnostics as workflow commands of GitHub Actions.

use std::sync::Arc;

use toolwright_source::{Diagnostic, Severity, Source, Span, codes, render};

/// A diagnostic about the first `word` in `text`.
fn about(name: &str, text: &str, word: &str) -> Diagnostic {
    let at = text.find(word).expect("the word is in the text");
    let source = Arc::new(Source::new(name, text.to_owned()));
    Diagnostic::at(&codes::DUPLICATE_KEY, &source, Span::new(at, at + word.len()), "wrong")
}

#[test]
fn annotations_have_lines_and_columns() {
    let cases = [
        ("a: 1\nb: 22\n", "22", ",line=2,endLine=2,col=4,endColumn=6"),
        ("a: 1\r\nb: 22\r\n", "22", ",line=2,endLine=2,col=4,endColumn=6"),
        // UTF-16: ä is one unit, 😀 two.
        ("ä: x", "x", ",line=1,endLine=1,col=4,endColumn=5"),
        ("😀: x", "x", ",line=1,endLine=1,col=5,endColumn=6"),
        ("x: ä😀", "ä😀", ",line=1,endLine=1,col=4,endColumn=7"),
        ("a: {b: 1,\n  c: 2,\n  d: 3}\n", "{b: 1,\n  c: 2,\n  d: 3}", ",line=1,endLine=3"),
        // A span with its line break ends on its own line.
        ("a: |\n  text\nb: 1\n", "|\n  text\n", ",line=1,endLine=2"),
        ("a: 1\nb: 2\n", "a: 1\n", ",line=1,endLine=1"),
        ("", "", ",line=1,endLine=1,col=1,endColumn=1"),
    ];
    for (text, word, place) in cases {
        let expected = format!("::error file=a.yaml{place},title=DUPLICATE_KEY::wrong");
        assert_eq!(render::github(&about("a.yaml", text, word)), expected, "{word:?} in {text:?}");
    }
    let mut nowhere = about("a.yaml", "a: 1", "1");
    nowhere.span = None;
    assert_eq!(render::github(&nowhere), "::error file=a.yaml,title=DUPLICATE_KEY::wrong");
}

#[test]
fn every_severity_has_its_workflow_command() {
    for (severity, command) in [
        (Severity::Error, "::error "),
        (Severity::Warning, "::warning "),
        (Severity::Info, "::notice "),
    ] {
        let mut found = about("a.yaml", "a: 1", "1");
        found.severity = severity;
        assert!(render::github(&found).starts_with(command));
    }
}

#[test]
fn characters_with_a_meaning_are_escaped() {
    let cases = [
        ("a b#c.yaml", "100%: a, b", "file=a b#c.yaml,", "::100%25: a, b"),
        ("C:a,b%0A.yaml", "::warning::x", "file=C%3Aa%2Cb%250A.yaml,", "::::warning::x"),
        ("https://h:1/mcp", "%0A", "file=https%3A//h%3A1/mcp,", "::%250A"),
        // Control characters are escaped, as in the other forms.
        (
            "a\u{1b}\n.yaml",
            "a\r\n\u{202e}b",
            "file=a\\u{1b}\\u{a}.yaml,",
            "::a\\u{d}\\u{a}\\u{202e}b",
        ),
    ];
    for (name, message, file, data) in cases {
        let mut found = about(name, "a: 1", "1");
        found.message = message.to_owned();
        let line = render::github(&found);
        assert!(line.contains(file), "{line}");
        assert!(line.ends_with(data), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}

#[test]
fn help_is_on_lines_of_its_own() {
    let found = about("a.yaml", "a: 1", "1").help("say 50%").help("or\nnothing");
    assert!(render::github(&found).ends_with("::wrong%0Ahelp: say 50%25%0Ahelp: or\\u{a}nothing"));
}
