//! Pages of manuals: prose with fenced blocks that hold whole definitions, sections of definitions,
//! schemas and calls. Whole definitions are read as they are, sections are put into a small tool.
//!
//! Every test reads a page of `tests/corpus/pages`, and the page of the published specification
//! where `TOOLWRIGHT_SHARED` names the folder that contains it.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::support::{assert_card, card, detected, findings, lines, own_corpus, read_as, shared};

/// The blocks of a page of ours.
fn own_blocks(page: &str, count: usize) -> Vec<String> {
    blocks(&own_corpus().join("pages").join(page), count)
}

/// The blocks of a published specification, where it is at hand.
fn published_blocks(test: &str, page: &str, count: usize) -> Option<Vec<String>> {
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

/// The required fields except `type`, for sections that come without them.
const CORE: &str = "  id: page\n  name: Page\n  version: 1.0.0\n  description: From a page\n";

/// A section under `tool:` of type `mcp`, below `parent` if that is not empty.
fn tool_with(parent: &str, section: &str) -> String {
    let (depth, parent) = match parent {
        "" => (2, String::new()),
        parent => (4, format!("  {parent}:\n")),
    };
    let indented: String = section.lines().map(|l| format!("{:depth$}{l}\n", "")).collect();
    format!("tool:\n  type: mcp\n{CORE}{parent}{indented}")
}

/// The core fields have alternatives joined by bars, the outline has `[...]` for lists: both are
/// notations of manuals. Read to the letter, the bars are an unknown word and `[...]` is a list of
/// one text, which is not a helper.
fn assert_aios_core_and_outline(core: &str, outline: &str, expected: &[(&str, Json)]) {
    let core = read_as("aios", "tool.yaml", core);
    assert_eq!(findings(&core), ["INVALID_ENUM_VALUE /tool/type"]);
    assert_card("core", &card(&core), expected);
    let outline = read_as("aios", "tool.yaml", outline);
    assert_eq!(
        findings(&outline),
        lines(
            "INVALID_TYPE /tool/executable_knowledge/helpers/0
             INVALID_TYPE /tool/executable_knowledge/processors/0
             INVALID_TYPE /tool/executable_knowledge/validators/0
             MISSING_REQUIRED_FIELD /tool/description
             MISSING_REQUIRED_FIELD /tool/id
             MISSING_REQUIRED_FIELD /tool/name
             MISSING_REQUIRED_FIELD /tool/type
             MISSING_REQUIRED_FIELD /tool/version"
        )
    );
}

#[test]
fn the_notation_of_manuals_is_read_to_the_letter() {
    let blocks = own_blocks("aios.md", 16);
    assert_aios_core_and_outline(
        &blocks[0],
        &blocks[1],
        &[
            ("/dialect", json!("2.0")),
            ("/namespace", json!("lamp-control")),
            ("/title", json!("Lamp Control")),
            ("/version", json!("1.0.0")),
            ("/description", json!("Switches the lamps of a house\nand dims them\n")),
            ("/knowledge/strategy", json!("hybrid")),
            ("/tools", json!([])),
        ],
    );
    let test = "the_notation_of_manuals_is_read_to_the_letter";
    let Some(blocks) = published_blocks(test, "aios-tool-schema-v2.md", 17) else { return };
    assert_aios_core_and_outline(
        &blocks[0],
        &blocks[1],
        &[
            ("/dialect", json!("2.0")),
            ("/namespace", json!("tool-name")),
            ("/title", json!("Human-Readable Name")),
            ("/version", json!("1.0.0")),
            ("/description", json!("Complete tool description\nexplaining purpose and use\n")),
            ("/knowledge/strategy", json!("hybrid")),
            ("/tools", json!([])),
        ],
    );
}

/// A section of a page: its block, the field it belongs below, and parts of the record by pointer.
type SectionCase<'a> = (usize, &'a str, &'a [(&'a str, Json)]);

/// Every section, put into a tool, is read without findings and makes it a tool of version 2.
fn assert_aios_sections(blocks: &[String], cases: &[SectionCase<'_>]) {
    for (n, parent, expected) in cases {
        let text = tool_with(parent, &blocks[*n]);
        assert_eq!(detected("tool.yaml", &text), Ok("aios"), "block {n}");
        let reading = read_as("aios", "tool.yaml", text);
        assert_eq!(findings(&reading), [""; 0], "block {n}");
        let card = card(&reading);
        assert_eq!(card["dialect"], "2.0", "block {n}");
        assert_card(&format!("block {n}"), &card, expected);
    }
}

#[test]
fn sections_of_version_2_fill_the_record() {
    const EXECUTABLE: &str = "executable_knowledge";
    assert_aios_sections(
        &own_blocks("aios.md", 16),
        &[
            (
                2,
                EXECUTABLE,
                &[
                    ("/knowledge/helpers/0/0", json!("lamp-label")),
                    (
                        "/knowledge/helpers/0/2",
                        json!(
                            "function lampLabel(args) {\n  // The label is made elsewhere\n  \
                             return label;\n}\nmodule.exports = { lampLabel };\n"
                        ),
                    ),
                    ("/knowledge/helpers/0/3", json!({})),
                ],
            ),
            (
                3,
                EXECUTABLE,
                &[
                    ("/knowledge/processors/0/0/0", json!("round-power")),
                    ("/knowledge/processors/0/1", json!(null)),
                    ("/knowledge/processors/0/2", json!("response")),
                ],
            ),
            (
                4,
                EXECUTABLE,
                &[
                    ("/knowledge/validators/0/0/0", json!("check-dim")),
                    ("/knowledge/validators/0/1", json!("dim_lamp")),
                    (
                        "/knowledge/validators/0/2",
                        json!([{"required": ["lamp", "level"]}, {"other": {"format": "percent"}}]),
                    ),
                    // Without `commands` and `tools`, what is validated is a command.
                    ("/ids", json!(["page:dim_lamp"])),
                ],
            ),
            (
                5,
                "",
                &[(
                    "/knowledge/payloads",
                    json!([
                        ["state", "state field exists", "body.state", {}],
                        ["alarm", "alarm_id field", "alarm.body", {}]
                    ]),
                )],
            ),
            (
                6,
                "",
                &[(
                    "/knowledge/mappings",
                    json!([
                        [
                            ["lamp_fields", "colour"],
                            {"colour": {"red": "number", "green": "number", "blue": "number"}},
                            "helpers.lamp-label",
                            {}
                        ],
                        [
                            ["lamp_fields", "groups"],
                            {"create_format": ["name"], "update_format": {"add": ["name"], "remove": ["name"]}},
                            null,
                            {"remark": "Two shapes for one field"}
                        ]
                    ]),
                )],
            ),
            (
                7,
                "",
                &[
                    ("/knowledge/quirks/0/0", json!("levels_from_255")),
                    ("/knowledge/quirks/0/2", json!("Lamps are too bright")),
                    ("/knowledge/quirks/1/0", json!("slow_start")),
                    ("/knowledge/quirks/1/2", json!(null)),
                ],
            ),
            (
                8,
                "",
                &[
                    ("/knowledge/anti_patterns/0/2", json!("arguments")),
                    (
                        "/knowledge/anti_patterns/0/3",
                        json!("dim_lamp({\n  level: \"50%\"  // ❌ not a number\n})\n"),
                    ),
                    ("/knowledge/anti_patterns/1/2", json!("checks")),
                ],
            ),
            (
                9,
                "",
                &[
                    ("/ids", json!(["page:dim_lamp"])),
                    ("/tools/0/examples/0/scenario", json!("success")),
                    ("/tools/0/examples/0/output", json!([{"state": "dimmed"}])),
                    ("/tools/0/examples/1/scenario", json!("failure_invalid_param")),
                    ("/tools/0/examples/1/input", json!([{"level": 50}])),
                    ("/tools/0/examples/2/scenario", json!("failure_api_error")),
                    (
                        "/tools/0/examples/2/error",
                        json!(["API_ERROR", "The lamp does not answer", null, {}]),
                    ),
                    ("/tools/0/examples/3/scenario", json!("edge_case_zero")),
                    ("/tools/0/examples/3/rest", json!({"mitigation": "Use switch_lamp instead"})),
                ],
            ),
        ],
    );

    let test = "sections_of_version_2_fill_the_record";
    let Some(blocks) = published_blocks(test, "aios-tool-schema-v2.md", 17) else { return };
    assert_aios_sections(
        &blocks,
        &[
            (
                2,
                EXECUTABLE,
                &[
                    ("/knowledge/helpers/0/0", json!("helper-name")),
                    ("/knowledge/helpers/0/3", json!({})),
                ],
            ),
            (
                3,
                EXECUTABLE,
                &[
                    ("/knowledge/processors/0/0/0", json!("processor-name")),
                    ("/knowledge/processors/0/1", json!(null)),
                    ("/knowledge/processors/0/2", json!("response")),
                ],
            ),
            (
                4,
                EXECUTABLE,
                &[
                    ("/knowledge/validators/0/0/0", json!("validator-name")),
                    ("/knowledge/validators/0/1", json!("command_name")),
                    (
                        "/knowledge/validators/0/2",
                        json!([{"required": ["field1", "field2"]}, {"other": {"format": "email"}}]),
                    ),
                    ("/ids", json!(["page:command_name"])),
                ],
            ),
            (
                5,
                "",
                &[(
                    "/knowledge/payloads",
                    json!([
                        ["standard", "event field exists", "body.payload", {}],
                        ["webhook_variant", "webhook_id field", "data.webhook.payload", {}]
                    ]),
                )],
            ),
            (
                6,
                "",
                &[(
                    "/knowledge/mappings",
                    json!([
                        [
                            ["custom_fields", "location"],
                            {"location": {"lat": "number", "lng": "number"}, "formatted_address": "string"},
                            "helpers.extract-custom-field",
                            {}
                        ],
                        [
                            ["custom_fields", "assignees"],
                            {"create_format": ["user_id"], "update_format": {"add": ["user_id"], "rem": ["user_id"]}},
                            null,
                            {"note": "Different formats for create vs update"}
                        ]
                    ]),
                )],
            ),
            (
                7,
                "",
                &[
                    ("/knowledge/quirks/0/0", json!("assignee_format_mismatch")),
                    ("/knowledge/quirks/0/2", json!("Runtime errors if wrong format used")),
                    ("/knowledge/quirks/1/0", json!("rate_limit_undocumented")),
                    ("/knowledge/quirks/1/2", json!(null)),
                    ("/knowledge/quirks/2", json!(null)),
                ],
            ),
            (
                8,
                "",
                &[
                    ("/knowledge/anti_patterns/0/2", json!("api_usage")),
                    (
                        "/knowledge/anti_patterns/0/3",
                        json!("create_task({\n  assignees: {add: [456]}  // ❌ Wrong format\n})\n"),
                    ),
                    ("/knowledge/anti_patterns/1/2", json!("validation")),
                    ("/knowledge/anti_patterns/2", json!(null)),
                ],
            ),
            (
                9,
                "",
                &[
                    ("/ids", json!(["page:command_name"])),
                    ("/tools/0/examples/0/scenario", json!("success")),
                    ("/tools/0/examples/0/output", json!([{"result": "Success"}])),
                    ("/tools/0/examples/1/scenario", json!("failure_invalid_param")),
                    ("/tools/0/examples/1/input", json!([{"param1": "value1"}])),
                    ("/tools/0/examples/2/scenario", json!("failure_api_error")),
                    (
                        "/tools/0/examples/2/error",
                        json!(["API_ERROR", "Rate limit exceeded", null, {}]),
                    ),
                    ("/tools/0/examples/3/scenario", json!("edge_case_format_mismatch")),
                    (
                        "/tools/0/examples/3/rest",
                        json!({"mitigation": "Use validators.validate-assignee-format"}),
                    ),
                    ("/tools/0/examples/4", json!(null)),
                ],
            ),
        ],
    );
    let reading = read_as("aios", "tool.yaml", tool_with(EXECUTABLE, &blocks[2]));
    let card = card(&reading);
    let code = card["knowledge"]["helpers"][0][2].as_str().expect("code");
    assert!(code.starts_with("function helperName(args) {\n  // Implementation\n"), "{code}");
    assert!(code.ends_with("}\nmodule.exports = { helperName };\n"), "{code}");
}

/// The pages of the four types: blocks that have `tool:` and `type:` themselves, so that the core
/// fields can be put under them. The expectations are bindings of the tool named by the id.
fn assert_aios_types(blocks: &[String], cli: &Json, local: &Json, meta: &Json) {
    let [mcp_block, cli_block, local_block, meta_block] = blocks else { panic!("four blocks") };
    let read = |block: &str| read_as("aios", "tool.yaml", format!("{block}{CORE}"));
    // The transports are alternatives joined by a bar.
    let server = read(mcp_block);
    assert_eq!(findings(&server), ["INVALID_ENUM_VALUE /tool/mcp_specific/transport"]);
    assert_eq!(card(&server)["tools"], json!([]), "it has no commands until it is connected");
    for (block, binding) in [(cli_block, cli), (local_block, local), (meta_block, meta)] {
        let reading = read(block);
        assert_eq!(findings(&reading), [""; 0]);
        assert_card(
            block,
            &card(&reading),
            &[
                ("/dialect", json!("1.0")),
                ("/ids", json!(["page:page"])),
                ("/tools/0/binding", binding.clone()),
                ("/tools/0/description", json!("From a page")),
            ],
        );
    }
    assert_eq!(card(&read(meta_block))["tools"][0]["input"], json!({"type": "object"}));
}

#[test]
fn every_type_has_its_binding() {
    let guide = "Run: apt install lamps\nOr build it\n";
    assert_aios_types(
        &own_blocks("aios.md", 16)[10..14],
        &json!(["command", "lamps", [], "lamps --version", guide]),
        &json!(["local", "node", "./lamps.js", "page", ["lamp-wire", "colour-names"]]),
        &json!(["orchestration", "evening", ["lamps", "blinds"]]),
    );
    let test = "every_type_has_its_binding";
    let Some(blocks) = published_blocks(test, "aios-tool-schema-v2.md", 17) else { return };
    let guide = "Run: brew install gh\nOr: https://cli.github.com\n";
    assert_aios_types(
        &blocks[10..14],
        &json!(["command", "gh", [], "gh --version", guide]),
        &json!(["local", "node", "./scripts/tool.js", "page", ["package1", "package2"]]),
        &json!(["orchestration", "orchestrate", ["tool1", "tool2", "tool3"]]),
    );
}

/// One tool in version 1 and in version 2. The second has dots for what the page showed before: to
/// the letter, `[...]` is a list of a text, `{...}` an object with the key `...`, and the dots
/// under `scenario: success` a key without a colon, behind which no YAML parser goes on.
fn assert_aios_versions(
    version_1: &str,
    version_2: &str,
    expected_1: &[(&str, Json)],
    expected_2: &[(&str, Json)],
) {
    let reading = read_as("aios", "one.yaml", version_1);
    assert_eq!(findings(&reading), [""; 0]);
    assert_card("version 1", &card(&reading), expected_1);
    let reading = read_as("aios", "two.yaml", version_2);
    assert_eq!(
        findings(&reading),
        lines(
            "INVALID_SYNTAX
             INVALID_TYPE /tool/anti_patterns/0
             INVALID_TYPE /tool/api_complexity/api_quirks/0
             INVALID_TYPE /tool/api_complexity/field_mappings/...
             INVALID_TYPE /tool/api_complexity/payload_schemas/0
             INVALID_TYPE /tool/executable_knowledge/helpers/0
             INVALID_TYPE /tool/executable_knowledge/validators/0"
        )
    );
    let filled = version_2
        .replace("[...]", "[]")
        .replace("{...}", "{}")
        .replace("        ...\n", "        input: {}\n");
    let reading = read_as("aios", "two.yaml", filled);
    assert_eq!(findings(&reading), [""; 0]);
    assert_card("version 2", &card(&reading), expected_2);
}

#[test]
fn one_tool_in_version_1_and_in_version_2() {
    let blocks = own_blocks("aios.md", 16);
    assert_aios_versions(
        &blocks[14],
        &blocks[15],
        &[
            ("/dialect", json!("1.0")),
            ("/title", json!("Lamps")),
            ("/version", json!("1.0.0")),
            ("/ids", json!(["lamps:switch_lamp"])),
            ("/tools/0/input", json!("deferred")),
            ("/tools/0/version", json!(null)),
            ("/knowledge/strategy", json!("embedded")),
        ],
        &[
            ("/dialect", json!("2.0")),
            ("/knowledge/strategy", json!("executable")),
            ("/ids", json!(["lamps:dim_lamp"])),
            ("/tools/0/examples/0/scenario", json!("success")),
            ("/tools/0/examples/1/scenario", json!("failure_invalid_param")),
        ],
    );
    let test = "one_tool_in_version_1_and_in_version_2";
    let Some(blocks) = published_blocks(test, "aios-tool-schema-v2.md", 17) else { return };
    assert_aios_versions(
        &blocks[15],
        &blocks[16],
        &[
            ("/dialect", json!("1.0")),
            ("/title", json!("Exa Search")),
            ("/version", json!("1.0.0")),
            ("/ids", json!(["exa:web_search"])),
            ("/tools/0/input", json!("deferred")),
            ("/tools/0/binding", json!(["none"])),
            ("/tools/0/version", json!(null)),
            ("/knowledge/strategy", json!("embedded")),
        ],
        &[
            ("/dialect", json!("2.0")),
            ("/knowledge/strategy", json!("executable")),
            ("/ids", json!(["clickup:create_task"])),
            ("/tools/0/examples/0/scenario", json!("success")),
            ("/tools/0/examples/1/scenario", json!("failure_invalid_param")),
        ],
    );
}
