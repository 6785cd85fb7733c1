//! Every fenced block of the five seeds: definitions as they are, sections put into a small tool.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::support::{assert_card, card, detected, findings, lines, read_as, shared};

/// The fenced blocks of a seed, in order: language and text.
fn blocks(folder: &Path, seed: &str, count: usize) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder.join("seeds").join(seed)).expect("the seed is there");
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(language), false) => blocks.push((language.to_owned(), String::new())),
            (Some(_), true) => {}
            (None, true) => {
                let (_, text) = blocks.last_mut().expect("a block is open");
                text.push_str(line);
                text.push('\n');
            }
            (None, false) => {}
        }
        inside ^= line.starts_with("```");
    }
    assert_eq!(blocks.len(), count, "{seed}: look at the new blocks and give each a test");
    blocks
}

fn json(text: &str) -> Json {
    serde_json::from_str(text).expect("JSON")
}

/// Blocks of JSON objects put into one.
fn merged(blocks: &[(String, String)], parts: &[usize], base: Json) -> Json {
    let mut whole = base;
    for n in parts {
        let part = json(&blocks[*n].1);
        whole
            .as_object_mut()
            .expect("an object")
            .extend(part.as_object().expect("an object").clone());
    }
    whole
}

#[test]
fn btcp_tools() {
    let Some(shared) = shared("seeds::btcp_tools") else { return };
    let blocks = blocks(&shared, "btcp-tool.md", 15);
    let cases = [
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
    ];
    for (n, name, needs, tags, timeout) in cases {
        let text = &blocks[n].1;
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
                ("/tools/0/needs", needs),
                ("/tools/0/tags", tags),
                ("/tools/0/timeout", timeout),
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
    // The fragments of the field pages, put together, are a tool as well. Its `formula: null`
    // breaks its own output schema, which is for a rule to say, not for the reader.
    let whole = merged(&blocks, &[1, 2, 3, 4, 5, 6, 7, 8, 9], json!({}));
    let reading = read_as("btcp", "tool.json", whole.to_string());
    assert_eq!(findings(&reading), [""; 0]);
    assert_card(
        "fragments",
        &card(&reading),
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
    // The published schema itself is no definition.
    assert_eq!(detected("schema.json", &blocks[0].1).map_err(|e| e.0), Err("UNKNOWN_FORMAT"));
}

#[test]
fn btcp_manifests() {
    let Some(shared) = shared("seeds::btcp_manifests") else { return };
    let blocks = blocks(&shared, "btcp-manifest.md", 10);
    let text = &blocks[8].1;
    assert_eq!(detected("manifest.json", text), Ok("btcp"));
    let reading = read_as("btcp", "manifest.json", text.as_str());
    assert_eq!(findings(&reading), [""; 0]);
    let written = json(text);
    let card = card(&reading);
    assert_card(
        "the complete example",
        &card,
        &[
            ("/dialect", json!("1.0")),
            ("/namespace", json!("spreadsheet-tools")),
            ("/version", json!("2.1.0")),
            ("/description", written["description"].clone()),
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
            // The manifest's version is not its tools'.
            ("/tools/0/version", json!(null)),
            ("/rest", json!({})),
        ],
    );
    for n in 0..3 {
        assert_eq!(card["tools"][n]["input"], written["tools"][n]["inputSchema"]);
        assert_eq!(card["tools"][n]["output"], written["tools"][n]["outputSchema"]);
        assert_eq!(card["tools"][n]["finishes"], true);
    }
    let fragment = read_as("btcp", "manifest.json", blocks[1].1.as_str());
    assert_eq!(
        findings(&fragment),
        lines(
            "MISSING_REQUIRED_FIELD /name
             MISSING_REQUIRED_FIELD /version
             MISSING_REQUIRED_FIELD /tools
             MISSING_REQUIRED_FIELD /capabilities"
        )
    );
    let whole = merged(&blocks, &[1, 2, 3, 4, 5, 6, 7], json!({"tools": written["tools"]}));
    let reading = read_as("btcp", "manifest.json", whole.to_string());
    assert_eq!(findings(&reading), [""; 0]);
    assert_card(
        "fragments",
        &super::support::card(&reading),
        &[
            ("/limits", json!([60_000, 5, "ses"])),
            ("/provider/0", json!("Acme Corp")),
            ("/version", json!("1.2.3")),
        ],
    );
    assert_eq!(detected("schema.json", &blocks[0].1).map_err(|e| e.0), Err("UNKNOWN_FORMAT"));
}

#[test]
fn ikigai_schemas() {
    let Some(shared) = shared("seeds::ikigai_schemas") else { return };
    let blocks = blocks(&shared, "ikigai-web-tools.md", 11);
    for (n, name) in [(0, "web_search_brave"), (4, "web_search_google"), (6, "web_fetch")] {
        let text = &blocks[n].1;
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
    // Requests, responses and errors are no definitions.
    for n in [1, 2, 3, 5, 7, 8, 9, 10] {
        assert_eq!(
            detected("call.json", &blocks[n].1).map_err(|e| e.0),
            Err("UNKNOWN_FORMAT"),
            "{n}"
        );
    }
}

#[test]
fn toolfoundation_schemas_as_input_schemas() {
    let Some(shared) = shared("seeds::toolfoundation_schemas_as_input_schemas") else { return };
    for (n, (_, text)) in blocks(&shared, "toolfoundation-schemas.md", 6).iter().enumerate() {
        let document =
            format!(r#"{{"name": "pattern", "namespace": "seed", "inputSchema": {text}}}"#);
        assert_eq!(detected("tool.json", &document), Ok("mcp"), "{n}");
        let reading = read_as("mcp", "tool.json", document);
        assert_eq!(findings(&reading), [""; 0], "{n}");
        assert_card(
            "pattern",
            &card(&reading),
            &[
                ("/ids", json!(["seed:pattern"])),
                ("/tools/0/input", json(text)),
                ("/tools/0/output", json!(null)),
                ("/tools/0/finishes", json!(true)),
            ],
        );
    }
}

/// The five required fields, for sections that come without.
const CORE: &str = "  id: seed\n  name: Seed\n  version: 1.0.0\n  description: From the seed\n";

/// A section under `tool:` of type `kind`, below `parent` if that is not empty.
fn tool_with(kind: &str, parent: &str, section: &str) -> String {
    let (depth, parent) = match parent {
        "" => (2, String::new()),
        parent => (4, format!("  {parent}:\n")),
    };
    let indented: String = section.lines().map(|l| format!("{:depth$}{l}\n", "")).collect();
    format!("tool:\n  type: {kind}\n{CORE}{parent}{indented}")
}

#[test]
fn aios_core_and_notation() {
    let Some(shared) = shared("seeds::aios_core_and_notation") else { return };
    let blocks = blocks(&shared, "aios-tool-schema-v2.md", 17);
    // Alternatives joined by bars are the manual's notation, not a value.
    let core = read_as("aios", "tool.yaml", blocks[0].1.as_str());
    assert_eq!(findings(&core), ["INVALID_ENUM_VALUE /tool/type"]);
    assert_card(
        "core",
        &card(&core),
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
    // `[...]` is a list of one text, which is no helper.
    let structure = read_as("aios", "tool.yaml", blocks[1].1.as_str());
    assert_eq!(
        findings(&structure),
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
fn aios_sections() {
    let Some(shared) = shared("seeds::aios_sections") else { return };
    let blocks = blocks(&shared, "aios-tool-schema-v2.md", 17);
    let clean = |n: usize, parent: &str, kind: &str| -> Json {
        let text = tool_with(kind, parent, &blocks[n].1);
        assert_eq!(detected("tool.yaml", &text), Ok("aios"), "block {n}");
        let reading = read_as("aios", "tool.yaml", text);
        assert_eq!(findings(&reading), [""; 0], "block {n}");
        let card = card(&reading);
        assert_eq!(card["dialect"], "2.0", "block {n}");
        card
    };
    let helpers = clean(2, "executable_knowledge", "mcp");
    let helper = &helpers["knowledge"]["helpers"][0];
    assert_eq!((&helper[0], &helper[3]), (&json!("helper-name"), &json!({})));
    let code = helper[2].as_str().expect("code");
    assert!(code.starts_with("function helperName(args) {\n  // Implementation\n"), "{code}");
    assert!(code.ends_with("}\nmodule.exports = { helperName };\n"), "{code}");

    let processors = clean(3, "executable_knowledge", "mcp");
    let processor = &processors["knowledge"]["processors"][0];
    assert_eq!(
        (&processor[0][0], &processor[1], &processor[2]),
        (&json!("processor-name"), &json!(null), &json!("response"))
    );

    let validators = clean(4, "executable_knowledge", "mcp");
    let validator = &validators["knowledge"]["validators"][0];
    assert_eq!(
        (&validator[0][0], &validator[1]),
        (&json!("validator-name"), &json!("command_name"))
    );
    assert_eq!(
        validator[2],
        json!([{"required": ["field1", "field2"]}, {"other": {"format": "email"}}])
    );
    // Without `commands` and `tools`, what is validated is a command.
    assert_eq!(validators["ids"], json!(["seed:command_name"]));

    let payloads = clean(5, "", "mcp");
    assert_eq!(
        payloads["knowledge"]["payloads"],
        json!([
            ["standard", "event field exists", "body.payload", {}],
            ["webhook_variant", "webhook_id field", "data.webhook.payload", {}]
        ])
    );
    let mappings = clean(6, "", "mcp");
    assert_eq!(
        mappings["knowledge"]["mappings"],
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
        ])
    );
    let quirks = clean(7, "", "mcp");
    let quirks = quirks["knowledge"]["quirks"].as_array().expect("quirks").clone();
    assert_eq!(
        quirks.iter().map(|q| &q[0]).collect::<Vec<_>>(),
        ["assignee_format_mismatch", "rate_limit_undocumented"]
    );
    assert_eq!(quirks[0][2], "Runtime errors if wrong format used");
    assert_eq!(quirks[1][2], json!(null));

    let anti = clean(8, "", "mcp");
    let anti = anti["knowledge"]["anti_patterns"].as_array().expect("anti-patterns").clone();
    assert_eq!(anti.iter().map(|a| &a[2]).collect::<Vec<_>>(), ["api_usage", "validation"]);
    assert_eq!(anti[0][3], "create_task({\n  assignees: {add: [456]}  // ❌ Wrong format\n})\n");

    let examples = clean(9, "", "mcp");
    assert_eq!(examples["ids"], json!(["seed:command_name"]));
    let list = examples["tools"][0]["examples"].as_array().expect("examples").clone();
    let scenarios: Vec<&Json> = list.iter().map(|e| &e["scenario"]).collect();
    assert_eq!(
        scenarios,
        ["success", "failure_invalid_param", "failure_api_error", "edge_case_format_mismatch"]
    );
    assert_eq!(list[0]["output"], json!([{"result": "Success"}]));
    assert_eq!(list[1]["input"], json!([{"param1": "value1"}]));
    assert_eq!(list[2]["error"], json!(["API_ERROR", "Rate limit exceeded", null, {}]));
    assert_eq!(list[3]["rest"], json!({"mitigation": "Use validators.validate-assignee-format"}));
}

#[test]
fn aios_types() {
    let Some(shared) = shared("seeds::aios_types") else { return };
    let blocks = blocks(&shared, "aios-tool-schema-v2.md", 17);
    // These blocks have `tool:` and `type:` themselves; the core goes under them.
    let read = |n: usize| read_as("aios", "tool.yaml", format!("{}{CORE}", blocks[n].1));
    let mcp = read(10);
    assert_eq!(findings(&mcp), ["INVALID_ENUM_VALUE /tool/mcp_specific/transport"]);
    assert_eq!(card(&mcp)["tools"], json!([]), "an mcp tool has no commands until it is connected");

    let cli = read(11);
    assert_eq!(findings(&cli), [""; 0]);
    let guide = "Run: brew install gh\nOr: https://cli.github.com\n";
    assert_card(
        "cli",
        &card(&cli),
        &[
            ("/dialect", json!("1.0")),
            ("/ids", json!(["seed:seed"])),
            ("/tools/0/binding", json!(["command", "gh", [], "gh --version", guide])),
            ("/tools/0/description", json!("From the seed")),
        ],
    );
    let local = read(12);
    assert_eq!(findings(&local), [""; 0]);
    let binding = json!(["local", "node", "./scripts/tool.js", "seed", ["package1", "package2"]]);
    assert_card(
        "local",
        &card(&local),
        &[("/ids", json!(["seed:seed"])), ("/tools/0/binding", binding)],
    );

    let meta = read(13);
    assert_eq!(findings(&meta), [""; 0]);
    let binding = json!(["orchestration", "orchestrate", ["tool1", "tool2", "tool3"]]);
    assert_card(
        "meta",
        &card(&meta),
        &[("/tools/0/binding", binding), ("/tools/0/input", json!({"type": "object"}))],
    );
}

#[test]
fn aios_version_1_and_2() {
    let Some(shared) = shared("seeds::aios_version_1_and_2") else { return };
    let blocks = blocks(&shared, "aios-tool-schema-v2.md", 17);
    let v1 = read_as("aios", "exa.yaml", blocks[15].1.as_str());
    assert_eq!(findings(&v1), [""; 0]);
    assert_card(
        "version 1",
        &card(&v1),
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
    );
    // To the letter, `[...]` is a list of a text, `{...}` an object with the key `...`, and the
    // dots under `scenario: success` a key without a colon, behind which no YAML parser goes on.
    let v2 = read_as("aios", "clickup.yaml", blocks[16].1.as_str());
    assert_eq!(
        findings(&v2),
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
    let filled = blocks[16]
        .1
        .replace("[...]", "[]")
        .replace("{...}", "{}")
        .replace("        ...\n", "        input: {}\n");
    let v2 = read_as("aios", "clickup.yaml", filled);
    assert_eq!(findings(&v2), [""; 0]);
    assert_card(
        "version 2",
        &card(&v2),
        &[
            ("/dialect", json!("2.0")),
            ("/knowledge/strategy", json!("executable")),
            ("/ids", json!(["clickup:create_task"])),
            ("/tools/0/examples/0/scenario", json!("success")),
            ("/tools/0/examples/1/scenario", json!("failure_invalid_param")),
        ],
    );
}
