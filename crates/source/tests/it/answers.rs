//! Where the forms say that a diagnostic lies, if it is not about a file: the answer of a server
//! with and without an entry in a servers file, and standard input.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolwright_source::{
    Anchor, Diagnostic, Document, Edit, Finding, Label, Safety, Source, Span, Syntax, TextOrigin,
    ToolPlace, codes, locate, render,
};

use crate::pointer;

const ANSWER: &str = r#"{"tools": [{"name": "create_page", "inputSchema": {"properties":
    {"parent": {"anyOf": [{"type": "strng"}]}}}}]}"#;
const PATH: &str = "/tools/0/inputSchema/properties/parent/anyOf/0/type";

/// An entry in line 3 of a servers file.
fn entry() -> Option<Anchor> {
    let text = "{\n\"mcpServers\":\n  {\"notion\": {}}}".to_owned();
    let source = Arc::new(Source::new(".mcp.json", text));
    Some(Anchor { source, span: Some(Span::new(19, 27)) })
}

/// A diagnostic with a label and a repair, in the answer of `notion`.
fn in_answer(origin: TextOrigin, tool: bool) -> Diagnostic {
    let document = Arc::new(Document::parse_from("notion", origin, ANSWER, Syntax::Json));
    let finding = Finding::new(&codes::DUPLICATE_KEY, pointer(PATH), "wrong")
        .help("write `string`")
        .related(pointer("/tools/0/name"), "this one")
        .repair(Safety::Safe, "write it", vec![Edit::Remove(pointer(PATH))]);
    let place = ToolPlace { name: "create_page".to_owned(), at: pointer("/tools/0") };
    Diagnostic { tool: tool.then(|| Arc::new(place)), ..locate(finding, &document) }
}

#[test]
fn lines_of_text_name_the_entry_and_the_tool() {
    let cases = [
        (
            in_answer(TextOrigin::Answer(entry()), true),
            ".mcp.json:3:4: error[DUPLICATE_KEY]: \
             notion › create_page › properties.parent.anyOf[0].type: wrong",
            "::error file=.mcp.json,line=3,endLine=3,col=4,endColumn=12,title=DUPLICATE_KEY::\
             notion › create_page › properties.parent.anyOf[0].type: wrong%0Ahelp: write `string`",
        ),
        (
            in_answer(TextOrigin::Answer(None), false),
            "notion: error[DUPLICATE_KEY]: \
             notion › tools[0].inputSchema.properties.parent.anyOf[0].type: wrong",
            "::error title=DUPLICATE_KEY::notion › \
             tools[0].inputSchema.properties.parent.anyOf[0].type: wrong%0Ahelp: write `string`",
        ),
        (
            in_answer(TextOrigin::Input, true),
            "notion:2:36: error[DUPLICATE_KEY]: wrong",
            "::error title=DUPLICATE_KEY::wrong%0Ahelp: write `string`",
        ),
        (
            in_answer(TextOrigin::File, true),
            "notion:2:36: error[DUPLICATE_KEY]: wrong",
            "::error file=notion,line=2,endLine=2,col=36,endColumn=43,title=DUPLICATE_KEY::wrong\
             %0Ahelp: write `string`",
        ),
    ];
    for (found, concise, github) in cases {
        assert_eq!(render::concise(&found), concise);
        assert_eq!(render::github(&found), github);
    }
}

#[test]
fn json_has_the_source_the_tool_and_a_file_that_exists() {
    let json = |origin, tool| -> Json {
        serde_json::from_str(&render::json(&in_answer(origin, tool))).expect("JSON")
    };
    let place = |found: &Json| {
        ["source", "tool", "file", "path"].map(|key| found[key].as_str().unwrap_or("-").to_owned())
    };
    let anchored = json(TextOrigin::Answer(entry()), true);
    assert_eq!(place(&anchored), ["notion", "create_page", ".mcp.json", PATH]);
    assert_eq!(anchored["start"], json!({"line": 3, "column": 4, "byte": 19}));
    // An edit of the answer cannot be made in the servers file.
    assert_eq!(anchored["fix"], Json::Null);
    let nowhere = json(TextOrigin::Answer(None), false);
    assert_eq!(place(&nowhere), ["notion", "-", "-", PATH]);
    assert_eq!((&nowhere["start"], &nowhere["end"]), (&Json::Null, &Json::Null));
    let input = json(TextOrigin::Input, true);
    assert_eq!(place(&input), ["notion", "create_page", "-", PATH]);
    assert_eq!(input["start"]["line"], 2);
    assert_eq!(input["fix"]["safe"], true);
}

#[test]
fn sarif_names_no_file_that_does_not_exist() {
    let result = |found: &Diagnostic| -> Json {
        let log: Json = serde_json::from_str(&render::sarif([found], &[], "1")).expect("JSON");
        log["runs"][0]["results"][0].clone()
    };
    let anchored = result(&in_answer(TextOrigin::Answer(entry()), true));
    let location = &anchored["locations"][0];
    assert_eq!(location["physicalLocation"]["artifactLocation"]["uri"], ".mcp.json");
    assert_eq!(location["physicalLocation"]["region"]["startLine"], 3);
    assert_eq!(
        location["logicalLocations"],
        json!([
            {"fullyQualifiedName": PATH},
            {"name": "create_page", "kind": "function", "fullyQualifiedName": "notion:create_page"},
        ])
    );
    let nowhere = result(&in_answer(TextOrigin::Answer(None), false));
    assert_eq!(
        nowhere["locations"],
        json!([{"logicalLocations": [
            {"fullyQualifiedName": PATH}, {"kind": "module", "fullyQualifiedName": "notion"},
        ]}])
    );
    for found in [&anchored, &nowhere, &result(&in_answer(TextOrigin::Input, true))] {
        assert_eq!((&found["fixes"], &found["relatedLocations"]), (&Json::Null, &Json::Null));
    }
    let file = result(&in_answer(TextOrigin::File, true));
    assert!(file["fixes"].is_array() && file["relatedLocations"].is_array(), "{file}");
}

/// Two servers share the file and the line of their entries, and a list may change its order.
#[test]
fn fingerprints_of_answers_hold_the_server_and_the_tool_but_not_its_number() {
    let print = |found: &Diagnostic| -> String {
        let log: Json = serde_json::from_str(&render::sarif([found], &[], "1")).expect("JSON");
        let prints = &log["runs"][0]["results"][0]["partialFingerprints"];
        prints["toolwright/answer/v1"].as_str().expect("a fingerprint").to_owned()
    };
    let found = in_answer(TextOrigin::Answer(entry()), true);
    let mut moved = found.clone();
    moved.path = pointer(&PATH.replace("/tools/0", "/tools/7"));
    let place = ToolPlace { name: "create_page".to_owned(), at: pointer("/tools/7") };
    moved.tool = Some(Arc::new(place));
    assert_eq!(print(&moved), print(&found));
    let other = Diagnostic { about: Some("other".into()), ..found.clone() };
    assert_ne!(print(&other), print(&found));
    let place = ToolPlace { name: "update_page".to_owned(), at: pointer("/tools/0") };
    assert_ne!(print(&Diagnostic { tool: Some(Arc::new(place)), ..found.clone() }), print(&found));
}

#[test]
fn names_of_a_server_are_cut_and_made_visible() {
    let mut found = in_answer(TextOrigin::Answer(None), true);
    let name = format!("a\u{1b}[2J{}", "b".repeat(500));
    found.tool = Some(Arc::new(ToolPlace { name, at: pointer("/tools/0") }));
    found.labels.push(Label { span: Span::new(0, 1), text: "here".to_owned() });
    let line = render::concise(&found);
    assert!(line.contains("a\\u{1b}[2J") && line.len() < 400, "{line}");
}
