//! Content hashes: what changes them, and what does not.

use std::sync::Arc;

use toolwright_formats::Reading;
use toolwright_model::ContentHash;
use toolwright_script::InProcessAnalyzer;
use toolwright_source::{Document, Syntax};
use toolwright_workspace::code_files::{CodeFile, code_files};
use toolwright_workspace::content_hash::ContentHasher;
use toolwright_workspace::{ReadOptions, Workspace};

const TOOL: &str = r#"{"name": "now", "version": "1.10.0", "x": 1.10,
    "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}}}"#;

fn read(name: &str, text: &str) -> Reading {
    let syntax = if name.ends_with(".json") { Syntax::Json } else { Syntax::Yaml };
    let document = Arc::new(Document::parse(name, text, syntax));
    let workspace = Workspace::new(Arc::new(InProcessAnalyzer));
    workspace.read(&document, ReadOptions::default()).reading.expect("a known format")
}

fn tool_hash(reading: &Reading, n: usize) -> ContentHash {
    ContentHasher::new(reading).tool(n)
}

fn toolset_hash(reading: &Reading, files: &[CodeFile]) -> ContentHash {
    ContentHasher::new(reading).toolset(files)
}

/// An upgrade of Toolwright must not change a hash that a user has stored. If this test fails, the
/// way of hashing changed and needs a new prefix. The values were computed with Python's hashlib.
#[test]
fn hashes_never_change() {
    let reading = read("now.json", TOOL);
    assert_eq!(
        tool_hash(&reading, 0).as_str(),
        "v1:a37dbd977bf493a7c927855104b3bbb32faca37a55ab56ab47192961b3fb4c1e"
    );
    assert_eq!(
        toolset_hash(&reading, &[CodeFile::of_bytes("now.js", b"export default 1")]).as_str(),
        "v1:2492aa34968d9fbb323f46abd3c470b0feadac79ef0ca46c0bcdb869b1f3a9ed"
    );
}

#[test]
fn layout_and_order_of_keys_make_no_difference() {
    let same = [
        TOOL.replace(": ", ":"),
        TOOL.replace(
            r#""name": "now", "version": "1.10.0","#,
            r#""version": "1.10.0", "name": "now","#,
        ),
        format!("\u{feff}{TOOL}\n\n"),
    ];
    for text in same {
        assert_eq!(tool_hash(&read("now.json", &text), 0), tool_hash(&read("now.json", TOOL), 0));
    }
    let yaml = "# the same in YAML\ninputSchema:\n  properties: {zone: {type: string}}\n  type: object\nname: now\nversion: 1.10.0\nx: 1.10\n";
    assert_eq!(tool_hash(&read("now.yaml", yaml), 0), tool_hash(&read("now.json", TOOL), 0));
}

#[test]
fn every_change_of_a_value_changes_the_hash() {
    let original = read("now.json", TOOL);
    for (from, to) in [
        ("now", "noW"),
        // Another text of the same number.
        ("1.10,", "1.1,"),
        // A field that no format knows.
        (r#""x""#, r#""y""#),
        ("string", "integer"),
    ] {
        let changed = read("now.json", &TOOL.replacen(from, to, 1));
        assert_ne!(tool_hash(&changed, 0), tool_hash(&original, 0), "{from} → {to}");
        assert_ne!(toolset_hash(&changed, &[]), toolset_hash(&original, &[]), "{from} → {to}");
    }
}

#[test]
fn a_tool_has_a_hash_of_its_own_within_a_toolset() {
    let list = |second: &str| format!(r#"{{"tools": [{TOOL}, {second}], "nextCursor": "a"}}"#);
    let a = read("list.json", &list(&TOOL.replace("now", "then")));
    let b = read("list.json", &list(&TOOL.replace("now", "later")));
    assert_eq!(tool_hash(&a, 0), tool_hash(&read("now.json", TOOL), 0));
    assert_eq!(tool_hash(&a, 0), tool_hash(&b, 0));
    assert_ne!(tool_hash(&a, 1), tool_hash(&b, 1));
    assert_ne!(toolset_hash(&a, &[]), toolset_hash(&b, &[]));
    // The document around the tools belongs to the toolset.
    let other = read("list.json", &list(&TOOL.replace("now", "then")).replace("\"a\"", "\"b\""));
    assert_ne!(toolset_hash(&a, &[]), toolset_hash(&other, &[]));
    assert_eq!(tool_hash(&a, 1), tool_hash(&other, 1));
}

#[test]
fn a_command_that_is_only_named_has_the_hash_of_its_document() {
    let text = "tool:\n  id: t\n  type: mcp\n  commands: [a, b]\n  description: one\n";
    let (first, second) = (read("t.yaml", text), read("t.yaml", &text.replace("one", "two")));
    assert_ne!(tool_hash(&first, 0), tool_hash(&first, 1));
    assert_ne!(tool_hash(&first, 0), tool_hash(&second, 0));
}

#[test]
fn code_files_and_instructions_belong_to_the_toolset() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = folder.path().join("tools.json");
    let text =
        r#"{"btcp": "1.0", "name": "n", "tools": [{"name": "countWords", "capabilities": []}]}"#;
    let mut reading = read(&manifest.display().to_string(), text);
    let hash = |reading: &Reading| toolset_hash(reading, &code_files(reading, None));
    let none = hash(&reading);
    let body = folder.path().join("countWords.js");
    std::fs::write(&body, "export default () => 1").expect("a file");
    let one = hash(&reading);
    std::fs::write(&body, "export default () => 2").expect("a file");
    let two = hash(&reading);
    assert!(none != one && one != two && none != two);
    reading.toolset.instructions = Some("Be careful".to_owned());
    assert_ne!(hash(&reading), two);
}
