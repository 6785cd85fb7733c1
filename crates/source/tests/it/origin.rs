//! From pointers to locations: in documents, in records made from them, and for missing values.

use std::sync::Arc;

use serde_json::json;
use toolwright_source::{
    DiagnosticCode, Document, Edit, Finding, Origin, RecordFinding, RecordPath, Safety, Severity,
    Syntax, locate, render, splice,
};

use crate::{parse, pointer};

static TEST: DiagnosticCode = DiagnosticCode {
    name: "TEST",
    severity: Severity::Warning,
    manual: "For tests.",
    sample: None,
};

const YAML: &str = "\
name: Rex
tools:
  - id: é
    tags: [a, b]
  - id: two
    script: |
      one
      two
  -
    empty:
base: &b {x: 1}
more: {<<: *b, y: 2}
";
const JSON: &str =
    r#"{"name": "Rex", "tools": [{"id": "é", "tags": ["a", "b"]}, {"id": "two"}], "e": {}}"#;

fn record(text: &str) -> RecordPath {
    RecordPath::parse(text).expect("a JSON pointer")
}

fn whole(text: &str, syntax: Syntax) -> Origin {
    let doc = parse(text, syntax);
    assert!(doc.problems().is_empty(), "{:?}", doc.problems());
    Origin::whole(&Arc::new(doc))
}

/// The text at a location, and the path that is reported.
fn pointed(finding: RecordFinding, origin: &Origin) -> (String, String) {
    let found = locate(origin.in_document(finding), origin.document());
    let span = found.span.expect("a place");
    (found.source.slice(span).to_owned(), found.path.to_string())
}

#[test]
fn locations_of_values_keys_and_missing_fields() {
    enum On {
        Value,
        Key,
    }
    use On::{Key, Value};
    let cases: &[(Syntax, &str, On, &str)] = &[
        (Syntax::Yaml, "/name", Value, "Rex"),
        (Syntax::Yaml, "/name", Key, "name"),
        (Syntax::Yaml, "/tools/0/id", Value, "é"),
        (Syntax::Yaml, "/tools/0/tags/1", Value, "b"),
        // An item has no key: the value itself.
        (Syntax::Yaml, "/tools/0/tags/1", Key, "b"),
        (Syntax::Yaml, "/tools/2/empty", Value, ""),
        (Syntax::Yaml, "/tools/2/empty", Key, "empty"),
        // Missing: the key of what lacks it, an item's first character, the document's.
        (Syntax::Yaml, "/tools/0/name", Value, "i"),
        (Syntax::Yaml, "/tools/0/tags/7", Value, "tags"),
        (Syntax::Yaml, "/tools/1/a/b/c", Value, "i"),
        (Syntax::Yaml, "/tools/0/id/deeper", Key, "id"),
        (Syntax::Yaml, "/version", Value, "n"),
        // Aliases and merge keys lead to the anchored text.
        (Syntax::Yaml, "/more/x", Value, "1"),
        (Syntax::Yaml, "/more/x", Key, "x"),
        (Syntax::Yaml, "/more/<<", Value, "*b"),
        (Syntax::Yaml, "/more/z", Value, "more"),
        (Syntax::Json, "/tools/1/id", Value, "\"two\""),
        (Syntax::Json, "/tools/1/id", Key, "\"id\""),
        (Syntax::Json, "/tools/1", Value, "{\"id\": \"two\"}"),
        (Syntax::Json, "/tools/1/x", Value, "{"),
        (Syntax::Json, "/tools/2", Value, "\"tools\""),
        (Syntax::Json, "/tools/01/id", Value, "\"tools\""),
        (Syntax::Json, "/e/x", Value, "\"e\""),
        (Syntax::Json, "/x", Key, "{"),
    ];
    for (syntax, at, part, slice) in cases {
        let origin = whole(if *syntax == Syntax::Yaml { YAML } else { JSON }, *syntax);
        let finding = RecordFinding::new(&TEST, record(at), "wrong");
        let finding = if matches!(part, Key) { finding.on_key() } else { finding };
        let (found, path) = pointed(finding, &origin);
        assert_eq!(found, *slice, "{at}");
        let anchored = if *at == "/more/x" { "/base/x" } else { at };
        assert_eq!(path, anchored, "{at}");
    }
}

#[test]
fn locations_are_exact_or_the_nearest_parent() {
    let origin = whole(JSON, Syntax::Json);
    let slice = |span| origin.document().source().slice(span).to_owned();
    let exact = origin.location(&record("/tools/0/id"));
    assert_eq!(
        (exact.exact, exact.key.map(&slice).as_deref(), slice(exact.value).as_str()),
        (true, Some("\"id\""), "\"é\"")
    );
    let near = origin.location(&record("/tools/0/id/x"));
    assert_eq!((near.exact, near.value), (false, exact.value));
    assert!(origin.location(&RecordPath::root()).exact);
}

#[test]
fn offsets_point_inside_the_text() {
    let origin = whole(YAML, Syntax::Yaml);
    let mut finding = RecordFinding::new(&TEST, record("/tools/1/script"), "wrong");
    finding.within = Some("one\nt".len().."one\ntw".len());
    let found = locate(origin.in_document(finding.clone()), origin.document());
    assert_eq!(found.line_column(), Some((8, 8)), "the `w` of `two`");
    assert_eq!(found.span.map(|s| s.end - s.start), Some(1));
    // An offset into a missing value is ignored.
    finding.at = record("/tools/1/gone");
    assert_eq!(pointed(finding, &origin).0, "i");
}

#[test]
fn records_point_into_the_document_they_came_from() {
    let document = Arc::new(parse(YAML, Syntax::Yaml));
    let tool = document.root().find(&pointer("/tools/0")).expect("it is there");
    let mut origin = Origin::whole(&document);
    origin.note(RecordPath::root(), tool);
    origin.note(record("/title"), document.root().get("name").expect("it is there"));
    origin.note(record("/labels"), tool.get("tags").expect("it is there"));
    let cases = [
        ("/id", "é", "/tools/0/id"),
        ("/title", "Rex", "/name"),
        ("/labels/1", "b", "/tools/0/tags/1"),
        ("/labels/5", "tags", "/tools/0/tags/5"),
        ("/title/x", "name", "/name/x"),
        ("/absent/x", "i", "/tools/0/absent/x"),
    ];
    for (at, slice, path) in cases {
        let found = pointed(RecordFinding::new(&TEST, record(at), "wrong"), &origin);
        assert_eq!(found, (slice.to_owned(), path.to_owned()), "{at}");
        assert_eq!(origin.document_path(&record(at)).as_str(), path);
    }
    let parts: Vec<String> =
        origin.parts().map(|(at, node)| format!("{at} {}", node.pointer())).collect();
    assert_eq!(parts, [" /tools/0", "/labels /tools/0/tags", "/title /name"]);
}

#[test]
fn edits_by_pointer_become_edits_of_bytes() {
    let document = Arc::new(parse(YAML, Syntax::Yaml));
    let mut origin = Origin::whole(&document);
    origin
        .note(RecordPath::root(), document.root().find(&pointer("/tools/0")).expect("it is there"));
    let finding = |edits| {
        RecordFinding::new(&TEST, record("/id"), "wrong")
            .help("do it")
            .severity(Severity::Info)
            .repair(Safety::Unsafe, "put it right", edits)
    };
    let edits = vec![
        Edit::Replace(record("/id"), json!("one")),
        Edit::Insert(record("/tags/-"), json!("c")),
    ];
    let found = locate(origin.in_document(finding(edits)), &document);
    assert_eq!((found.severity, found.help.len()), (Severity::Info, 1));
    let fix = found.fix.expect("the repair can be made");
    assert_eq!((fix.title.as_str(), fix.safe), ("put it right", false));
    let fixed = splice(document.source().text(), &fix.edits);
    assert_eq!(fixed, YAML.replace("id: é", "id: one").replace("[a, b]", "[a, b, c]"));
    // A fix with an edit that cannot be made is dropped as a whole.
    let edits = vec![Edit::Replace(record("/id"), json!("one")), Edit::Remove(record("/gone"))];
    assert_eq!(locate(origin.in_document(finding(edits)), &document).fix, None);
}

#[test]
fn a_document_without_text_has_a_location() {
    for document in [
        Document::parse("big.json", vec![b' '; (16 << 20) + 1], Syntax::Json),
        Document::parse("bad.yaml", b"\xFF".as_slice(), Syntax::Yaml),
        Document::parse("empty.yaml", "", Syntax::Yaml),
    ] {
        let mut finding = Finding::new(&TEST, pointer("/a/0"), "wrong");
        finding.within = Some(9..9);
        let found = locate(finding, &Arc::new(document));
        assert_eq!(found.line_column(), Some((1, 1)));
        assert!(render::concise(&found).ends_with(":1:1: warning[TEST]: wrong"));
    }
}
