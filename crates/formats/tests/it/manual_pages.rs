//! Pages of manuals: prose with fenced blocks that hold whole definitions, sections of definitions,
//! schemas and calls. Whole definitions are read as they are, sections are put into a small tool.
//!
//! Every test reads a page of `tests/corpus/pages`, and the page of the published specification
//! where `TOOLWRIGHT_SHARED` names the folder that contains it.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::support::{assert_card, card, detected, findings, lines, own_corpus, read_as, shared};

/// The blocks of a page of ours.
pub(crate) fn own_blocks(page: &str, count: usize) -> Vec<String> {
    blocks(&own_corpus().join("pages").join(page), count)
}

/// The blocks of a published specification, where it is at hand.
pub(crate) fn published_blocks(test: &str, page: &str, count: usize) -> Option<Vec<String>> {
    let folder = shared(&format!("manual_pages::{test}"))?;
    Some(blocks(&folder.join("seeds").join(page), count))
}

/// The texts of the fenced blocks of a page, in order. The count is given so that a new block of a
/// page cannot go untested.
fn blocks(path: &Path, count: usize) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("the page is there");
    let mut blocks: Vec<String> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (line.starts_with("```"), inside) {
            (true, false) => blocks.push(String::new()),
            (false, true) => {
                let block = blocks.last_mut().expect("a block is open");
                block.push_str(line);
                block.push('\n');
            }
            _ => {}
        }
        inside ^= line.starts_with("```");
    }
    assert_eq!(blocks.len(), count, "{}: give the new blocks a test", path.display());
    blocks
}

fn json(text: &str) -> Json {
    serde_json::from_str(text).expect("JSON")
}

/// One object with the members of several blocks.
fn merged(blocks: &[String], parts: &[usize], base: Json) -> Json {
    let mut whole = base;
    for n in parts {
        let part = json(&blocks[*n]);
        whole
            .as_object_mut()
            .expect("an object")
            .extend(part.as_object().expect("an object").clone());
    }
    whole
}

/// A whole BTCP tool of a page: its block, name, capabilities, tags and time limit.
type BtcpToolCase<'a> = (usize, &'a str, Json, Json, Json);

/// Tools are read without findings, with everything that is written in them.
fn assert_btcp_tools(blocks: &[String], cases: &[BtcpToolCase<'_>]) {
    for (n, name, needs, tags, timeout) in cases {
        let text = &blocks[*n];
        assert_eq!(detected("tool.json", text), Ok("btcp"), "{name}");
        let reading = read_as("btcp", "tool.json", text.as_str());
        assert_eq!(findings(&reading), [""; 0], "{name}");
        let written = json(text);
        let examples = written["examples"].as_array().cloned().unwrap_or_default();
        let card = card(&reading);
        assert_card(
            name,
            &card,
            &[
                ("/ids", json!([name])),
                ("/tools/0/description", written["description"].clone()),
                ("/tools/0/input", written["inputSchema"].clone()),
                ("/tools/0/output", written["outputSchema"].clone()),
                ("/tools/0/needs", needs.clone()),
                ("/tools/0/tags", tags.clone()),
                ("/tools/0/timeout", timeout.clone()),
                ("/tools/0/binding", json!(["script"])),
                ("/tools/0/version", json!(null)),
                ("/tools/0/rest", json!({})),
                ("/tools/0/finishes", json!(true)),
            ],
        );
        let read = card["tools"][0]["examples"].as_array().expect("examples");
        assert_eq!(read.len(), examples.len(), "{name}");
        for (read, written) in read.iter().zip(&examples) {
            assert_eq!(read["description"], written["description"]);
            assert_eq!(read["input"], json!([written["input"]]));
            assert_eq!(read["output"], json!([written["output"]]));
        }
    }
}

/// Fragments that are one tool together. A null breaks the output schema of that tool, which is
/// reported by a rule, not by the reader.
fn assert_btcp_fragments(whole: &Json, expected: &[(&str, Json)]) {
    let reading = read_as("btcp", "tool.json", whole.to_string());
    assert_eq!(findings(&reading), [""; 0]);
    assert_card("fragments", &card(&reading), expected);
}

/// A text of a page that is not a definition: a schema, a request, a response.
fn assert_no_definition(text: &str) {
    assert_eq!(detected("text.json", text).map_err(|e| e.0), Err("UNKNOWN_FORMAT"), "{text}");
}

#[test]
fn btcp_tools_and_their_fields() {
    let blocks = own_blocks("btcp-tool.md", 9);
    assert_btcp_tools(
        &blocks,
        &[
            (7, "listChapters", json!(["dom:read"]), json!(["books"]), json!(null)),
            (
                8,
                "copyQuote",
                json!(["dom:read", "clipboard:write"]),
                json!(["books", "clipboard"]),
                json!(5_000),
            ),
        ],
    );
    let whole = merged(&blocks, &[1, 2, 3, 4, 5, 6], json!({}));
    assert_btcp_fragments(
        &whole,
        &[
            ("/tools/0/name", json!("readChapter")),
            ("/tools/0/needs", json!(["dom:read", "storage:session:read"])),
            ("/tools/0/deprecation", json!([true, "Use readPages, which takes a range."])),
            ("/tools/0/examples/0/output/0/next", json!(null)),
            ("/tools/0/examples/1/output/0/next", json!("Two")),
            ("/tools/0/tags", json!(["books", "reading"])),
            ("/tools/0/timeout", json!(45_000)),
        ],
    );
    assert_no_definition(&blocks[0]);

    let test = "btcp_tools_and_their_fields";
    let Some(blocks) = published_blocks(test, "btcp-tool.md", 15) else { return };
    assert_btcp_tools(
        &blocks,
        &[
            (10, "getPageTitle", json!(["dom:read"]), json!(["page", "metadata"]), json!(null)),
            (
                11,
                "fillFormField",
                json!(["dom:read", "dom:write"]),
                json!(["forms", "input"]),
                json!(null),
            ),
            (
                12,
                "exportTableToClipboard",
                json!(["dom:read", "clipboard:write"]),
                json!(["export", "clipboard", "tables"]),
                json!(10_000),
            ),
        ],
    );
    let whole = merged(&blocks, &[1, 2, 3, 4, 5, 6, 7, 8, 9], json!({}));
    assert_btcp_fragments(
        &whole,
        &[
            ("/tools/0/name", json!("getCellValue")),
            ("/tools/0/needs", json!(["dom:read", "storage:local:read"])),
            ("/tools/0/deprecation", json!([true, whole["deprecationMessage"]])),
            ("/tools/0/examples/0/output/0/formula", json!(null)),
            ("/tools/0/examples/1/output/0/formula", json!("=SUM(A1:A10)")),
            ("/tools/0/tags", json!(["spreadsheet", "cells", "read"])),
            ("/tools/0/timeout", json!(60_000)),
        ],
    );
    assert_no_definition(&blocks[0]);
}

/// A whole manifest is read without findings, with everything that is written in it.
fn assert_manifest(text: &str, expected: &[(&str, Json)]) {
    assert_eq!(detected("manifest.json", text), Ok("btcp"));
    let reading = read_as("btcp", "manifest.json", text);
    assert_eq!(findings(&reading), [""; 0]);
    let written = json(text);
    let card = card(&reading);
    assert_card("the whole manifest", &card, expected);
    assert_eq!(card["description"], written["description"]);
    for (read, written) in card["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .zip(written["tools"].as_array().expect("tools"))
    {
        assert_eq!(read["input"], written["inputSchema"]);
        assert_eq!(read["output"], written["outputSchema"]);
        assert_eq!(read["finishes"], true);
        // The version of a manifest is not that of its tools.
        assert_eq!(read["version"], Json::Null);
    }
}

/// Fragments, with the tools of a whole manifest, are one manifest; the first alone lacks the rest.
fn assert_manifest_fragments(
    blocks: &[String],
    parts: &[usize],
    tools: &Json,
    expected: &[(&str, Json)],
) {
    let whole = merged(blocks, parts, json!({"tools": tools}));
    let reading = read_as("btcp", "manifest.json", whole.to_string());
    assert_eq!(findings(&reading), [""; 0]);
    assert_card("fragments", &card(&reading), expected);
    let fragment = read_as("btcp", "manifest.json", blocks[parts[0]].as_str());
    assert_eq!(
        findings(&fragment),
        lines(
            "MISSING_REQUIRED_FIELD /name
             MISSING_REQUIRED_FIELD /version
             MISSING_REQUIRED_FIELD /tools
             MISSING_REQUIRED_FIELD /capabilities"
        )
    );
}

#[test]
fn btcp_manifests_and_their_fields() {
    let blocks = own_blocks("btcp-manifest.md", 7);
    assert_manifest(
        &blocks[6],
        &[
            ("/dialect", json!("1.0")),
            ("/namespace", json!("book-tools")),
            ("/version", json!("3.0.2")),
            (
                "/provider",
                json!([
                    "Reading Room",
                    "https://books.example.org",
                    "desk@books.example.org",
                    "https://books.example.org/icon.png"
                ]),
            ),
            ("/declares", json!(["dom:read", "storage:local:read"])),
            ("/limits", json!([25_000, 3, "worker"])),
            ("/ids", json!(["book-tools:readPage", "book-tools:listMarks"])),
            ("/tools/1/needs", json!(["dom:read", "storage:local:read"])),
            ("/rest", json!({})),
        ],
    );
    assert_manifest_fragments(
        &blocks,
        &[0, 1, 2, 3, 4, 5],
        &json(&blocks[6])["tools"],
        &[
            ("/limits", json!([15_000, 4, "iframe"])),
            ("/provider/0", json!("Reading Room")),
            ("/version", json!("0.4.1")),
        ],
    );

    let test = "btcp_manifests_and_their_fields";
    let Some(blocks) = published_blocks(test, "btcp-manifest.md", 10) else { return };
    assert_manifest(
        &blocks[8],
        &[
            ("/dialect", json!("1.0")),
            ("/namespace", json!("spreadsheet-tools")),
            ("/version", json!("2.1.0")),
            (
                "/provider",
                json!([
                    "Acme Productivity",
                    "https://acme.example.com",
                    "support@acme.example.com",
                    "https://acme.example.com/btcp-icon.png"
                ]),
            ),
            ("/declares", json!(["dom:read", "dom:write"])),
            ("/limits", json!([30_000, 3, "worker"])),
            (
                "/ids",
                json!([
                    "spreadsheet-tools:getCellValue",
                    "spreadsheet-tools:setCellValue",
                    "spreadsheet-tools:getSelectedRange"
                ]),
            ),
            ("/tools/1/needs", json!(["dom:read", "dom:write"])),
            ("/rest", json!({})),
        ],
    );
    assert_manifest_fragments(
        &blocks,
        &[1, 2, 3, 4, 5, 6, 7],
        &json(&blocks[8])["tools"],
        &[
            ("/limits", json!([60_000, 5, "ses"])),
            ("/provider/0", json!("Acme Corp")),
            ("/version", json!("1.2.3")),
        ],
    );
    assert_no_definition(&blocks[0]);
}

/// What executables print for `--schema`, by block and name, is read as it is written.
fn assert_ikigai_tools(blocks: &[String], cases: &[(usize, &str)]) {
    for (n, name) in cases {
        let text = &blocks[*n];
        assert_eq!(detected("schema.json", text), Ok("ikigai"), "{name}");
        let reading = read_as("ikigai", "schema.json", text.as_str());
        assert_eq!(findings(&reading), [""; 0], "{name}");
        let written = json(text);
        assert_card(
            name,
            &card(&reading),
            &[
                ("/ids", json!([name])),
                ("/tools/0/description", written["description"].clone()),
                ("/tools/0/input", written["parameters"].clone()),
                ("/tools/0/output", json!(null)),
                ("/tools/0/binding", json!(["executable", null])),
                ("/tools/0/finishes", json!(true)),
            ],
        );
    }
    // The other blocks are requests, responses and errors.
    for (n, text) in blocks.iter().enumerate() {
        if cases.iter().all(|(tool, _)| *tool != n) {
            assert_no_definition(text);
        }
    }
}

#[test]
fn requests_and_responses_are_not_ikigai_definitions() {
    assert_ikigai_tools(&own_blocks("ikigai.md", 5), &[(0, "tide_times"), (4, "moon_phase")]);
    let test = "requests_and_responses_are_not_ikigai_definitions";
    if let Some(blocks) = published_blocks(test, "ikigai-web-tools.md", 11) {
        let tools = [(0, "web_search_brave"), (4, "web_search_google"), (6, "web_fetch")];
        assert_ikigai_tools(&blocks, &tools);
    }
}

/// Every block of a page as the input schema of a tool is kept as it is written.
fn assert_input_schemas(blocks: &[String]) {
    for (n, text) in blocks.iter().enumerate() {
        let document =
            format!(r#"{{"name": "pattern", "namespace": "page", "inputSchema": {text}}}"#);
        assert_eq!(detected("tool.json", &document), Ok("mcp"), "{n}");
        let reading = read_as("mcp", "tool.json", document);
        assert_eq!(findings(&reading), [""; 0], "{n}");
        assert_card(
            "pattern",
            &card(&reading),
            &[
                ("/ids", json!(["page:pattern"])),
                ("/tools/0/input", json(text)),
                ("/tools/0/output", json!(null)),
                ("/tools/0/finishes", json!(true)),
            ],
        );
    }
}

#[test]
fn patterns_of_input_schemas_are_kept_as_written() {
    assert_input_schemas(&own_blocks("input-schemas.md", 3));
    let test = "patterns_of_input_schemas_are_kept_as_written";
    if let Some(blocks) = published_blocks(test, "toolfoundation-schemas.md", 6) {
        assert_input_schemas(&blocks);
    }
}
