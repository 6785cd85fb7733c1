//! The report for people: what comes first, what is folded, what is only counted.

use std::fmt::Write;
use std::sync::Arc;

use insta::assert_snapshot;
use toolwright_source::render::{Colour, GroupedOptions, ReportedFinding};
use toolwright_source::{
    Anchor, Diagnostic, DiagnosticCode, Document, Finding, Severity, SharedId, Source, Span,
    Syntax, TextOrigin, ToolPlace, locate, render,
};

use crate::pointer;

static WRONG: DiagnosticCode = code("WRONG", Severity::Error);
static ODD: DiagnosticCode = code("ODD", Severity::Warning);
static RARE: DiagnosticCode = code("RARE", Severity::Warning);
static ATTACK: DiagnosticCode = code("ATTACK", Severity::Warning);
static HINT: DiagnosticCode = code("HINT", Severity::Info);

const fn code(name: &'static str, severity: Severity) -> DiagnosticCode {
    let manual = "Something could be said more clearly. There is more to it.";
    DiagnosticCode { name, severity, manual, sample: None }
}

/// A document with the tools `t0`, `t1` and so on.
fn tools(name: &str, origin: TextOrigin, count: usize) -> Arc<Document> {
    let tool = |n| format!("{{\"name\": \"t{n}\", \"description\": \"Does {n}\"}}");
    let list: Vec<String> = (0..count).map(tool).collect();
    let text = format!("{{\"tools\": [\n{}\n]}}\n", list.join(",\n"));
    Arc::new(Document::parse_from(name, origin, text, Syntax::Json))
}

/// A finding about the description of tool `n`.
fn at(document: &Arc<Document>, code: &'static DiagnosticCode, n: usize) -> Diagnostic {
    let path = pointer(&format!("/tools/{n}/description"));
    let finding = Finding::new(code, path, format!("`t{n}` is not clear")).help("say it clearly");
    let place = ToolPlace { name: format!("t{n}"), at: pointer(&format!("/tools/{n}")) };
    Diagnostic { tool: Some(Arc::new(place)), ..locate(finding, document) }
}

/// A server that is named in line `line` of a servers file.
fn server(name: &str, line: usize, count: usize) -> Arc<Document> {
    let source = Arc::new(Source::new(".mcp.json", "\n".repeat(20)));
    let anchor = Anchor { source, span: Some(Span::new(line - 1, line - 1)) };
    tools(name, TextOrigin::Answer(Some(anchor)), count)
}

fn file(name: &str, count: usize) -> Arc<Document> {
    tools(name, TextOrigin::File, count)
}

fn options(notes: bool) -> GroupedOptions {
    GroupedOptions { width: 80, colour: Colour::Off, notes, separate_codes: &["ATTACK"] }
}

fn grouped(found: &[Diagnostic], options: GroupedOptions) -> String {
    let findings = found.iter().map(|diagnostic| ReportedFinding { diagnostic, secret: false });
    render::grouped(findings, options)
}

#[test]
fn a_report_has_its_snapshot() {
    let (notion, github) = (server("notion", 3, 9), server("github", 4, 9));
    let (a, b) = (file("a.json", 9), file("b.json", 9));
    let mut found = Vec::new();
    found.extend((0..7).map(|n| at(&notion, &HINT, n)));
    found.extend((0..6).map(|n| at(&notion, &ODD, n)));
    found.extend([at(&notion, &RARE, 7), at(&notion, &RARE, 8)]);
    found.extend((0..2).map(|n| at(&github, &ODD, n)));
    found.push(at(&github, &WRONG, 8));
    found.extend((0..3).map(|n| at(&a, &ODD, n)));
    found.extend((4..6).map(|n| at(&b, &ODD, n)));
    found.push(at(&b, &RARE, 6));
    found.push(at(&b, &WRONG, 7));
    found.push(at(&b, &HINT, 8));
    // The entry of a server in a servers file belongs to the server.
    let entry = Arc::new(Source::new(".mcp.json", "{\n\n\n \"github\": {}}".to_owned()));
    let entry = Diagnostic::at(&RARE, &entry, Span::new(5, 13), "`github` has no version");
    found.push(Diagnostic { about: Some("github".into()), ..entry });
    let mut text = String::new();
    let _ = write!(text, "{}", grouped(&found, options(false)));
    let _ = write!(text, "=== with notes\n{}", grouped(&found[..7], options(true)));
    assert_snapshot!(text);
}

#[test]
fn every_error_is_shown_and_after_a_hundred_excerpts_on_one_line() {
    let (long, last) = (file("long.json", 300), server("last", 2, 200));
    let mut found: Vec<Diagnostic> = (0..300).map(|n| at(&long, &ODD, n)).collect();
    found.extend((0..300).map(|n| at(&long, &WRONG, n)));
    found.extend((0..200).map(|n| at(&last, &WRONG, n)));
    let text = grouped(&found, options(false));
    assert_eq!(text.matches("error[WRONG]").count(), 500);
    assert_eq!(text.matches("--> long.json").count(), 100, "{text}");
    assert!(text.contains("long.json:300:33: error[WRONG]: `t298` is not clear\n"), "{text}");
    // The last error of the last server is there, and the warnings come behind it.
    let error = text.find("error[WRONG] t199").expect("the last error");
    assert!(error < text.find("warning[ODD]").expect("a warning"));
    assert_eq!(text.matches("warning[ODD]").count(), 1);
}

#[test]
fn what_is_folded_depends_on_how_often_it_occurs_in_one_source() {
    let (one, two) = (server("one", 1, 9), server("two", 2, 9));
    let (a, b) = (file("a.json", 9), file("b.json", 9));
    for (documents, each, entries) in [
        (vec![&one], 3, 3),
        (vec![&one], 4, 1),
        (vec![&one, &two], 3, 6),
        (vec![&one, &two], 4, 2),
        // All files together are one source.
        (vec![&a, &b], 1, 2),
        (vec![&a, &b], 2, 1),
        (vec![&a, &one], 3, 6),
    ] {
        let found = documents.iter().flat_map(|it| (0..each).map(|n| at(it, &ODD, n)));
        let found: Vec<Diagnostic> = found.collect();
        let text = grouped(&found, options(false));
        assert_eq!(text.matches("warning[ODD]").count(), entries, "{text}");
        let hint = text.contains("`--output-format concise` lists every finding");
        assert_eq!(hint, entries < found.len(), "{text}");
    }
}

#[test]
fn findings_of_separate_codes_are_shown_one_by_one_up_to_ten() {
    let documents = [server("one", 1, 30), file("a.json", 30)];
    for (found, shown, counted) in [(4, 4, None), (11, 11, None), (25, 10, Some(15))] {
        for document in &documents {
            let all: Vec<Diagnostic> = (0..found).map(|n| at(document, &ATTACK, n)).collect();
            let text = grouped(&all, options(false));
            let told = (0..found).filter(|n| text.contains(&format!("`t{n}` is not clear")));
            assert_eq!(told.count(), shown, "{text}");
            let line = counted.map(|n| {
                format!("warning[ATTACK] {n} more in {n} tools: t10, t11, t12 and 12 more (")
            });
            assert_eq!(text.matches(" more in ").count(), usize::from(counted.is_some()), "{text}");
            let text = text.replace("\n    ", " ").replace("\n  ", " ");
            assert!(line.is_none_or(|line| text.contains(&line)), "{text}");
        }
    }
}

#[test]
fn ids_that_two_documents_share_are_one_entry_with_all_of_them() {
    let shared = |document, n: usize, other: &str| {
        let shared = SharedId { id: format!("t{n}"), other: other.to_owned() };
        Diagnostic { shared_id: Some(Box::new(shared)), ..at(document, &WRONG, n) }
    };
    let (b, c) = (file("b.json", 30), server("c", 3, 30));
    let mut found: Vec<Diagnostic> = (0..25).map(|n| shared(&b, n, "a.json")).collect();
    found.extend((0..3).map(|n| shared(&c, n, "a.json")));
    found.extend((3..8).map(|n| shared(&c, n, "b.json")));
    let text = grouped(&found, options(false));
    assert_eq!(text.matches("error[WRONG]").count(), 5, "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ids: Vec<String> = (0..25).map(|n| format!("t{n}")).collect();
    let all = format!("25 ids are in both `a.json` and `b.json`: {} help: ", ids.join(", "));
    assert!(text.contains(&all), "{text}");
    assert!(text.contains("5 ids are in both `b.json` and `c`: t3, t4, t5, t6, t7 "), "{text}");
}

#[test]
fn a_server_has_one_section_and_those_with_errors_come_first() {
    let (one, two, a) = (server("one", 1, 9), server("two", 2, 9), file("a.json", 9));
    let found = [
        at(&a, &ODD, 1),
        at(&one, &ODD, 1),
        at(&two, &HINT, 3),
        at(&two, &ODD, 2),
        at(&two, &WRONG, 1),
        at(&a, &WRONG, 2),
    ];
    let text = grouped(&found, options(true));
    let order: Vec<&str> = text
        .lines()
        .filter_map(|line| {
            let start = line.trim().split([' ', ':']).next()?;
            (["one", "two"].contains(&start) || start.ends_with(']')).then_some(start)
        })
        .collect();
    let expected =
        "two error[WRONG] warning[ODD] note[HINT] error[WRONG] warning[ODD] one warning[ODD]";
    assert_eq!(order.join(" "), expected, "{text}");
}

/// Nobody can open what a server answered, so the report quotes what the finding points at.
#[test]
fn findings_about_a_server_quote_the_words() {
    let answer = server("one", 1, 9);
    let cases = [
        ("/tools/0/description", "is not clear", Some("\"Does 0\"")),
        ("/tools/0/description", "`Does 0` is not clear", None),
        // Missing: the key of what lacks it is in the path.
        ("/tools/0/inputSchema", "is missing", None),
        ("/tools/0", "is not clear", None),
        ("/tools", "is not clear", None),
    ];
    for (path, message, quote) in cases {
        let found = locate(Finding::new(&ODD, pointer(path), message), &answer);
        let text = grouped(std::slice::from_ref(&found), options(false));
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("    ")).collect();
        assert_eq!(lines.first().map(|line| line.trim()), quote, "{text}");
        let secret = ReportedFinding { diagnostic: &found, secret: true };
        assert!(!render::grouped([secret], options(false)).contains("\"Does"), "{path}");
    }
}

#[test]
fn lines_follow_the_width() {
    let (answer, long) = (server("one", 1, 9), file("long.json", 9));
    let mut about_answer = at(&answer, &ODD, 1);
    about_answer.message = "word ".repeat(60).trim_end().to_owned();
    let text = format!("{{\"key\": \"{}\", \"x\": 1}}", "y".repeat(400));
    let wide = Arc::new(Document::parse("wide.json", text, Syntax::Json));
    let about_file = locate(Finding::new(&ODD, pointer("/x"), "wrong"), &wide);
    for width in [50, 80, 120] {
        let options = GroupedOptions { width, ..options(false) };
        let text =
            grouped(&[about_answer.clone(), about_file.clone(), at(&long, &HINT, 1)], options);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= width && longest > width - 12, "{longest} of {width}: {text}");
    }
    let narrow = GroupedOptions { width: 1, ..options(false) };
    assert!(grouped(&[about_answer, about_file], narrow).contains("warning[ODD]"));
}

#[test]
fn a_server_cannot_write_to_the_terminal() {
    let name = "a\u{1b}[2J".to_owned();
    let answer = tools("s\u{1b}[2J", TextOrigin::Answer(None), 9);
    let mut found: Vec<Diagnostic> = (0..5).map(|n| at(&answer, &ODD, n)).collect();
    for (n, d) in found.iter_mut().enumerate() {
        d.message += "\u{1b}]0;x\u{7}";
        let at = pointer(&format!("/tools/{n}"));
        d.tool = Some(Arc::new(ToolPlace { name: format!("{name}{n}"), at }));
    }
    let text = grouped(&found, options(false));
    assert!(!text.contains('\u{1b}') && text.contains("a\\u{1b}[2J0"), "{text}");
}

#[test]
fn nothing_found_is_an_empty_text() {
    assert_eq!(grouped(&[], options(false)), "");
}
