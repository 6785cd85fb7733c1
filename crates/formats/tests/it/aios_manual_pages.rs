//! AIOS in pages of manuals: sections, types and both versions. See `manual_pages`, which has the
//! other formats and reads the pages.

use serde_json::{Value as Json, json};

use crate::manual_pages::{own_blocks, published_blocks};
use crate::support::{assert_card, card, detected, findings, lines, read_as};

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
