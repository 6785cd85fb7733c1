//! Whole files as authors write them, mistakes included: the format, the tools and the exact
//! findings of each. `tests/corpus` is always read; the definitions that other people published are
//! read where `TOOLWRIGHT_SHARED` names their folder. Every expectation was derived from the
//! specification of the format, file by file, before the reader was run.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::support::{card, definitions, detected, findings, lines, own_corpus, read_as, shared};

/// What a file should give: its format (or the code that says why it has none), the ids of its
/// tools in order, and its findings as `CODE path`. `UNKNOWN_FIELD` is written `?`, and `(compat)`
/// marks what compat mode tolerates.
struct CorpusFile {
    file: &'static str,
    format: Result<&'static str, &'static str>,
    ids: &'static str,
    findings: &'static str,
}

/// The files of `tests/corpus`.
const OWN: &[CorpusFile] = &[
    CorpusFile {
        file: "archive-cli.yaml",
        format: Ok("aios"),
        ids: "archive-cli: box_create box_list verify",
        findings: "INVALID_ENUM_VALUE /tool/knowledge_strategy (compat)
                   ? /tool/cli_specific/settings
                   ? /tool/command_groups/boxes/0/flags
                   ? /tool/command_groups/checks/0/usage
                   ? /tool/installation",
    },
    // Steps of a workflow have no scenario, so they define no command; the second one has no input
    // either. `people` is a group of mappings, `column_name` neither a group nor a mapping.
    CorpusFile {
        file: "boards.yaml",
        format: Ok("aios"),
        ids: "boards: add_card move_card",
        findings: "MISSING_REQUIRED_FIELD /tool/api_complexity/field_mappings/column_name (compat)
                   MISSING_REQUIRED_FIELD /tool/examples/monday_routine/0/scenario (compat)
                   MISSING_REQUIRED_FIELD /tool/examples/monday_routine/1/input (compat)
                   MISSING_REQUIRED_FIELD /tool/examples/monday_routine/1/scenario (compat)
                   ? /tool/anti_patterns/0/severity
                   ? /tool/examples/monday_routine/0/action
                   ? /tool/examples/monday_routine/0/command
                   ? /tool/examples/monday_routine/0/step
                   ? /tool/examples/monday_routine/1/action
                   ? /tool/examples/monday_routine/1/command
                   ? /tool/examples/monday_routine/1/step",
    },
    // Without a type there is no command named by the id.
    CorpusFile {
        file: "choosing.yaml",
        format: Ok("aios"),
        ids: "",
        findings: "EXTRA_ROOT_KEY /history (compat)
                   EXTRA_ROOT_KEY /models (compat)
                   EXTRA_ROOT_KEY /prices (compat)
                   MISSING_REQUIRED_FIELD /tool/type
                   ? /tool/topic",
    },
    CorpusFile {
        file: "feeds.yaml",
        format: Ok("aios"),
        ids: "feeds: list_feeds read_feed",
        findings: "",
    },
    CorpusFile {
        file: "library.yaml",
        format: Ok("aios"),
        ids: "library: find-book reserve-book",
        findings: "INVALID_ENUM_VALUE /tool/knowledge_strategy (compat)
                   ? /tool/best_practices
                   ? /tool/limitations
                   ? /tool/tools/0/remarks
                   ? /tool/tools/1/remarks
                   ? /tool/use_cases",
    },
    CorpusFile {
        file: "nameless.yaml",
        format: Ok("aios"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /tool/description
                   MISSING_REQUIRED_FIELD /tool/id",
    },
    CorpusFile {
        file: "stock.yaml",
        format: Ok("aios"),
        ids: "stock: count_item correct_count",
        findings: "",
    },
    // Checks that no program runs are reported by a rule, not by the reader.
    CorpusFile {
        file: "tables.yaml",
        format: Ok("aios"),
        ids: "tables: insert_rows read_rows drop_table",
        findings: "? /tool/api_complexity/sharing_rules
                   ? /tool/mcp_specific/login",
    },
    CorpusFile {
        file: "weather.yaml",
        format: Ok("aios"),
        ids: "weather: forecast warnings",
        findings: "INVALID_ENUM_VALUE /tool/knowledge_strategy (compat)",
    },
    CorpusFile {
        file: "browser-tools.json",
        format: Ok("btcp"),
        ids: "tab_list tab_open tab_close",
        findings: "MISSING_REQUIRED_FIELD /0/capabilities
                   MISSING_REQUIRED_FIELD /1/capabilities
                   MISSING_REQUIRED_FIELD /1/examples/0/input
                   MISSING_REQUIRED_FIELD /1/examples/1/input
                   MISSING_REQUIRED_FIELD /2/capabilities
                   MISSING_REQUIRED_FIELD /2/examples/0/input
                   ? /1/examples/0/name
                   ? /1/examples/0/params
                   ? /1/examples/1/name
                   ? /1/examples/1/params
                   ? /2/examples/0/name
                   ? /2/examples/0/params",
    },
    CorpusFile {
        file: "capability-fragment.json",
        format: Ok("btcp"),
        ids: "saveBed",
        findings: "MISSING_REQUIRED_FIELD /description
                   MISSING_REQUIRED_FIELD /inputSchema",
    },
    CorpusFile {
        file: "garden-manifest.json",
        format: Ok("btcp"),
        ids: "garden-tools: listPlants saveBed",
        findings: "",
    },
    // `name` and `description` alone belong to no format.
    CorpusFile { file: "name-fragment.json", format: Err("UNKNOWN_FORMAT"), ids: "", findings: "" },
    CorpusFile {
        file: "provider-fragment.json",
        format: Ok("btcp"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /capabilities
                   MISSING_REQUIRED_FIELD /name
                   MISSING_REQUIRED_FIELD /tools
                   MISSING_REQUIRED_FIELD /version",
    },
    // Well-formed capabilities that no runtime has are reported by a rule, not by the reader.
    CorpusFile {
        file: "server-tools.json",
        format: Ok("btcp"),
        ids: "repeat compute page_text",
        findings: "MISSING_REQUIRED_FIELD /0/capabilities",
    },
    CorpusFile {
        file: "transport-fragment.json",
        format: Ok("btcp"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /capabilities
                   MISSING_REQUIRED_FIELD /tools
                   MISSING_REQUIRED_FIELD /version
                   ? /config/address
                   ? /config/transport",
    },
    // Pages register tools in the shape of MCP, where a null schema is an invalid one.
    CorpusFile {
        file: "checkout.json",
        format: Ok("mcp"),
        ids: "payOrder emptyBasket",
        findings: "INVALID_SCHEMA /tools/0/outputSchema (compat)
                   INVALID_SCHEMA /tools/1/inputSchema",
    },
    CorpusFile { file: "invitations.json", format: Ok("mcp"), ids: "invite", findings: "" },
    CorpusFile { file: "seats.json", format: Ok("mcp"), ids: "freeSeats takeSeat", findings: "" },
];

/// The files that other people published, in the folder of shared material.
const SHARED: &[CorpusFile] = &[
    // All published version 1 tools have `declarative`; sections of prose are unknown fields.
    CorpusFile {
        file: "browser.yaml",
        format: Ok("aios"),
        ids: "browser: puppeteer_navigate puppeteer_screenshot puppeteer_click puppeteer_fill \
              puppeteer_evaluate puppeteer_content puppeteer_pdf",
        findings: "INVALID_ENUM_VALUE /tool/knowledge_strategy (compat)
                   ? /tool/best_practices
                   ? /tool/limitations
                   ? /tool/security_considerations
                   ? /tool/use_cases",
    },
    // The workflow has steps, not scenarios: it defines no command, and its entries lack what an
    // example needs. `assignees` is a group of mappings, `list_id` neither group nor mapping.
    CorpusFile {
        file: "clickup.yaml",
        format: Ok("aios"),
        ids: "clickup: create_task update_task parse_webhook",
        findings: "MISSING_REQUIRED_FIELD /tool/api_complexity/field_mappings/list_id (compat)
                   MISSING_REQUIRED_FIELD /tool/examples/story_creation_workflow/0/scenario (compat)
                   MISSING_REQUIRED_FIELD /tool/examples/story_creation_workflow/1/scenario (compat)
                   ? /tool/anti_patterns/0/severity
                   ? /tool/anti_patterns/1/severity
                   ? /tool/anti_patterns/2/severity
                   ? /tool/examples/story_creation_workflow/0/action
                   ? /tool/examples/story_creation_workflow/0/command
                   ? /tool/examples/story_creation_workflow/0/notes
                   ? /tool/examples/story_creation_workflow/0/output_extract
                   ? /tool/examples/story_creation_workflow/0/step
                   ? /tool/examples/story_creation_workflow/1/action
                   ? /tool/examples/story_creation_workflow/1/command
                   ? /tool/examples/story_creation_workflow/1/notes
                   ? /tool/examples/story_creation_workflow/1/step",
    },
    CorpusFile {
        file: "context7.yaml",
        format: Ok("aios"),
        ids: "context7: resolve-library-id get-library-docs",
        findings: "INVALID_ENUM_VALUE /tool/knowledge_strategy (compat)
                   ? /tool/best_practices
                   ? /tool/limitations
                   ? /tool/tools/0/notes
                   ? /tool/tools/1/notes
                   ? /tool/use_cases
                   ? /tool/workflow",
    },
    CorpusFile {
        file: "desktop-commander.yaml",
        format: Ok("aios"),
        ids: "desktop-commander: read_file write_file read_multiple_files list_directory create_directory \
              move_file get_file_info edit_block start_search get_more_search_results stop_search \
              list_searches start_process read_process_output interact_with_process force_terminate \
              list_sessions list_processes kill_process",
        findings: "INVALID_ENUM_VALUE /tool/knowledge_strategy (compat)
                   ? /tool/best_practices
                   ? /tool/limitations
                   ? /tool/security_considerations
                   ? /tool/use_cases
                   ? /tool/workflow",
    },
    CorpusFile {
        file: "exa.yaml",
        format: Ok("aios"),
        ids: "exa: web_search_exa research_paper_search company_research crawling competitor_finder \
              linkedin_search wikipedia_search_exa github_search",
        findings: "INVALID_ENUM_VALUE /tool/knowledge_strategy (compat)
                   ? /tool/best_practices
                   ? /tool/limitations
                   ? /tool/use_cases",
    },
    // `gh repo create` is the command `repo_create`.
    CorpusFile {
        file: "github-cli.yaml",
        format: Ok("aios"),
        ids: "github-cli: repo_create repo_clone repo_view pr_create pr_list pr_view pr_merge issue_create \
              issue_list issue_view issue_comment run_list run_view run_watch workflow_run api",
        findings: "INVALID_ENUM_VALUE /tool/knowledge_strategy (compat)
                   ? /tool/authentication
                   ? /tool/best_practices
                   ? /tool/cli_specific/configuration
                   ? /tool/command_groups/api/0/common_flags
                   ? /tool/command_groups/api/0/examples
                   ? /tool/command_groups/api/0/usage
                   ? /tool/command_groups/issue/0/common_flags
                   ? /tool/command_groups/issue/1/common_flags
                   ? /tool/command_groups/issue/2/usage
                   ? /tool/command_groups/issue/3/usage
                   ? /tool/command_groups/pull_request/0/common_flags
                   ? /tool/command_groups/pull_request/1/common_flags
                   ? /tool/command_groups/pull_request/2/common_flags
                   ? /tool/command_groups/pull_request/2/usage
                   ? /tool/command_groups/pull_request/3/common_flags
                   ? /tool/command_groups/repository/0/common_flags
                   ? /tool/command_groups/repository/1/usage
                   ? /tool/command_groups/repository/2/common_flags
                   ? /tool/command_groups/workflow/0/common_flags
                   ? /tool/command_groups/workflow/1/common_flags
                   ? /tool/command_groups/workflow/1/usage
                   ? /tool/command_groups/workflow/2/usage
                   ? /tool/command_groups/workflow/3/usage
                   ? /tool/error_handling
                   ? /tool/installation
                   ? /tool/integration_patterns
                   ? /tool/limitations
                   ? /tool/use_cases",
    },
    // Commands: first the keys of `examples`, then what validators name beyond them.
    CorpusFile {
        file: "google-workspace.yaml",
        format: Ok("aios"),
        ids: "google-workspace: create_file create_event send_email share_file update_event \
              search_messages create_spreadsheet update_range",
        findings: "? /tool/anti_patterns/0/severity
                   ? /tool/anti_patterns/1/severity
                   ? /tool/anti_patterns/2/severity
                   ? /tool/api_complexity/multi_service_integration
                   ? /tool/api_complexity/oauth_scopes",
    },
    // Nearly everything is beside `tool`; without a type there is no command named by the id.
    CorpusFile {
        file: "llm-routing.yaml",
        format: Ok("aios"),
        ids: "",
        findings: "EXTRA_ROOT_KEY /capabilities (compat)
                   EXTRA_ROOT_KEY /configuration (compat)
                   EXTRA_ROOT_KEY /cost_comparison (compat)
                   EXTRA_ROOT_KEY /health_check (compat)
                   EXTRA_ROOT_KEY /installation (compat)
                   EXTRA_ROOT_KEY /integration (compat)
                   EXTRA_ROOT_KEY /metadata (compat)
                   EXTRA_ROOT_KEY /related_docs (compat)
                   EXTRA_ROOT_KEY /troubleshooting (compat)
                   EXTRA_ROOT_KEY /usage (compat)
                   MISSING_REQUIRED_FIELD /tool/type
                   ? /tool/category",
    },
    // Unknown checks (`sql_injection_prevention`) are reported by a rule, not by the reader.
    CorpusFile {
        file: "supabase.yaml",
        format: Ok("aios"),
        ids: "supabase: execute_sql apply_migration create_branch deploy_edge_function create_project",
        findings: "? /tool/anti_patterns/0/severity
                   ? /tool/anti_patterns/1/severity
                   ? /tool/anti_patterns/2/severity
                   ? /tool/anti_patterns/3/severity
                   ? /tool/api_complexity/auth_integration_quirks
                   ? /tool/api_complexity/realtime_subscription_patterns
                   ? /tool/api_complexity/rls_policy_patterns
                   ? /tool/mcp_specific/auth
                   ? /tool/mcp_specific/query_parameters",
    },
    CorpusFile {
        file: "tool-invalid.yaml",
        format: Ok("aios"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /tool/description
                   MISSING_REQUIRED_FIELD /tool/id",
    },
    CorpusFile {
        file: "tool-v1.0-simple.yaml",
        format: Ok("aios"),
        ids: "test-simple: search fetch",
        findings: "",
    },
    CorpusFile {
        file: "tool-v2.0-complex.yaml",
        format: Ok("aios"),
        ids: "test-complex: create_item update_item",
        findings: "",
    },
    // 27 tools without capabilities; their examples have `name` and `params` instead of `input`.
    CorpusFile {
        file: "btcp-chrome_tools.json",
        format: Ok("btcp"),
        ids: "get_windows_and_tabs performance_start_trace performance_stop_trace \
              performance_analyze_insight chrome_read_page chrome_computer chrome_navigate \
              chrome_screenshot chrome_close_tabs chrome_switch_tab chrome_get_web_content \
              chrome_network_request chrome_network_capture chrome_handle_download chrome_history \
              chrome_bookmark_search chrome_bookmark_add chrome_bookmark_delete chrome_javascript \
              chrome_click_element chrome_fill_or_select chrome_request_element_selection \
              chrome_keyboard chrome_console chrome_upload_file chrome_handle_dialog \
              chrome_gif_recorder",
        findings: CHROME,
    },
    // Well-formed capabilities outside the list are reported by a rule, not by the reader.
    CorpusFile {
        file: "btcp-server_builtin-tools.json",
        format: Ok("btcp"),
        ids: "echo evaluate browser_snapshot browser_click browser_fill browser_type browser_hover \
              browser_press browser_scroll browser_get_text browser_get_attribute browser_is_visible \
              browser_get_url browser_get_title browser_screenshot browser_wait browser_execute",
        findings: "MISSING_REQUIRED_FIELD /0/capabilities",
    },
    CorpusFile {
        file: "btcp-specification__README.md__L64.json",
        format: Ok("btcp"),
        ids: "page-tools: getPageContent",
        findings: "",
    },
    CorpusFile {
        file: "btcp-specification__docs_api_core_manifest.md__L145.json",
        format: Ok("btcp"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /name
                   MISSING_REQUIRED_FIELD /version
                   MISSING_REQUIRED_FIELD /tools
                   MISSING_REQUIRED_FIELD /capabilities",
    },
    CorpusFile {
        file: "btcp-specification__docs_api_core_manifest.md__L256.json",
        format: Ok("btcp"),
        ids: "spreadsheet-tools: getCellValue setCellValue getSelectedRange",
        findings: "",
    },
    CorpusFile {
        file: "btcp-specification__docs_api_core_tool.md__L326.json",
        format: Ok("btcp"),
        ids: "getPageTitle",
        findings: "",
    },
    CorpusFile {
        file: "btcp-specification__docs_api_core_tool.md__L352.json",
        format: Ok("btcp"),
        ids: "fillFormField",
        findings: "",
    },
    CorpusFile {
        file: "btcp-specification__docs_api_core_tool.md__L414.json",
        format: Ok("btcp"),
        ids: "exportTableToClipboard",
        findings: "",
    },
    CorpusFile {
        file: "btcp-specification__docs_for-tool-providers.md__L15.json",
        format: Ok("btcp"),
        ids: "my-web-tools: getPageContent",
        findings: "",
    },
    // `name` and `description` alone belong to no format.
    CorpusFile {
        file: "btcp-specification__docs_for-tool-providers.md__L216.json",
        format: Err("UNKNOWN_FORMAT"),
        ids: "",
        findings: "",
    },
    CorpusFile {
        file: "btcp-specification__docs_for-tool-providers.md__L224.json",
        format: Err("UNKNOWN_FORMAT"),
        ids: "",
        findings: "",
    },
    CorpusFile {
        file: "btcp-specification__docs_introduction.md__L66.json",
        format: Ok("btcp"),
        ids: "formatCells",
        findings: "",
    },
    CorpusFile {
        file: "btcp-specification__docs_protocols_index.md__L200.json",
        format: Ok("btcp"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /version
                   MISSING_REQUIRED_FIELD /tools
                   MISSING_REQUIRED_FIELD /capabilities
                   ? /config/transport",
    },
    CorpusFile {
        file: "btcp-specification__docs_protocols_index.md__L213.json",
        format: Ok("btcp"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /version
                   MISSING_REQUIRED_FIELD /tools
                   MISSING_REQUIRED_FIELD /capabilities
                   ? /config/transport
                   ? /config/socket",
    },
    CorpusFile {
        file: "btcp-specification__docs_server_mcp-bridge.md__L262.json",
        format: Ok("btcp"),
        ids: "writeToStorage",
        findings: "MISSING_REQUIRED_FIELD /description
                   MISSING_REQUIRED_FIELD /inputSchema",
    },
    // Pages register tools in the shape of MCP, where a null schema is an invalid one.
    CorpusFile {
        file: "webmcp-evals_examples_address-form_schema.json",
        format: Ok("mcp"),
        ids: "fillInAddressForm",
        findings: "INVALID_SCHEMA /tools/0/outputSchema (compat)",
    },
    CorpusFile {
        file: "webmcp-evals_examples_commerce_retail_schema.json",
        format: Ok("mcp"),
        ids: "searchProducts priceMatch checkInventory",
        findings: "",
    },
    CorpusFile {
        file: "webmcp-evals_examples_commerce_shopping_schema.json",
        format: Ok("mcp"),
        ids: "getProducts filterByPreferences addToCart getProductReviews getShippingAndLoyaltyInfo",
        findings: "INVALID_SCHEMA /tools/0/inputSchema
                   INVALID_SCHEMA /tools/4/inputSchema",
    },
    CorpusFile {
        file: "webmcp-evals_examples_events_schema.json",
        format: Ok("mcp"),
        ids: "createEvent",
        findings: "",
    },
    CorpusFile {
        file: "webmcp-evals_examples_healthcare_schema.json",
        format: Ok("mcp"),
        ids: "bookAppointment checkMedicationInteractions findDoctorByLocation checkLabResults \
              checkInsuranceCoverage requestMedicationRefill getPrescriptionPrice checkProviderNetwork",
        findings: "",
    },
    CorpusFile {
        file: "webmcp-evals_examples_pizza-maker_schema.json",
        format: Ok("mcp"),
        ids: "add_topping manage_pizza remove_topping set_pizza_size set_pizza_style share_pizza \
              toggle_layer",
        findings: "",
    },
    CorpusFile {
        file: "webmcp-evals_examples_real-estate_schema.json",
        format: Ok("mcp"),
        ids: "searchProperties calculateMortgage getNeighborhoodStats analyzeCommute",
        findings: "",
    },
    CorpusFile {
        file: "webmcp-evals_examples_travel_schema.json",
        format: Ok("mcp"),
        ids: "listFlights filterFlights resetFilters searchFlights",
        findings: "INVALID_SCHEMA /tools/0/inputSchema
                   INVALID_SCHEMA /tools/1/outputSchema (compat)
                   INVALID_SCHEMA /tools/2/inputSchema
                   INVALID_SCHEMA /tools/2/outputSchema (compat)",
    },
];

/// Stands for the findings that `findings_of_chrome_tools` builds.
const CHROME: &str = "see findings_of_chrome_tools";

/// Every tool lacks capabilities; every example has `name` and `params` instead of `input`.
fn findings_of_chrome_tools() -> Vec<String> {
    /// How many examples each tool has.
    const EXAMPLES: [usize; 27] =
        [0, 0, 0, 0, 2, 4, 3, 2, 0, 0, 1, 0, 2, 0, 1, 1, 0, 0, 1, 3, 2, 0, 2, 2, 0, 0, 0];
    let mut lines = Vec::new();
    for (tool, count) in EXAMPLES.into_iter().enumerate() {
        lines.push(format!("MISSING_REQUIRED_FIELD /{tool}/capabilities"));
        for n in 0..count {
            lines.push(format!("MISSING_REQUIRED_FIELD /{tool}/examples/{n}/input"));
            lines.push(format!("UNKNOWN_FIELD /{tool}/examples/{n}/name"));
            lines.push(format!("UNKNOWN_FIELD /{tool}/examples/{n}/params"));
        }
    }
    lines.sort();
    lines
}

/// `namespace: a b` as the ids `namespace:a`, `namespace:b`.
fn ids(text: &str) -> Vec<String> {
    let (prefix, names) = match text.split_once(": ") {
        Some((namespace, names)) => (format!("{namespace}:"), names),
        None => (String::new(), text),
    };
    names.split_whitespace().map(|name| format!("{prefix}{name}")).collect()
}

/// Reads the definitions below a folder, except `skipped`, and compares each with its case.
fn assert_files(folder: &Path, cases: &[CorpusFile], skipped: &str) {
    let mut compared = 0;
    for path in definitions(folder) {
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
        if name == skipped {
            continue;
        }
        let case = cases.iter().find(|case| case.file == name);
        let case = case.unwrap_or_else(|| panic!("{name}: no expectation for this file"));
        compared += 1;
        let text = std::fs::read_to_string(&path).expect("the file is there");
        let found = detected(name, &text).map_err(|(code, _)| code);
        assert_eq!(found, case.format, "{name}");
        let Ok(format) = found else { continue };
        let reading = read_as(format, name, text);
        assert_eq!(card(&reading)["ids"], json!(ids(case.ids)), "{name}");
        let expected = match case.findings {
            CHROME => findings_of_chrome_tools(),
            text => lines(&text.replace("? /", "UNKNOWN_FIELD /")),
        };
        assert_eq!(findings(&reading), expected, "{name}");
    }
    assert_eq!(compared, cases.len(), "a file of the corpus is missing");
}

#[test]
fn every_file_gives_its_tools_and_its_findings() {
    assert_files(&own_corpus(), OWN, "office-server.json");
    if let Some(shared) = shared("corpus::every_file_gives_its_tools_and_its_findings") {
        assert_files(&shared.join("corpus"), SHARED, "github-mcp-server.json");
    }
}

#[test]
fn the_tools_of_a_server_are_read_without_findings_and_without_loss() {
    assert_server(&own_corpus().join("mcp/office-server.json"), 12);
    if let Some(shared) = shared("corpus::the_tools_of_a_server") {
        assert_server(&shared.join("corpus/mcp/github-mcp-server.json"), 117);
    }
}

/// The answer of a server to `tools/list`: every tool is read with all that it has.
fn assert_server(path: &Path, count: usize) {
    let text = std::fs::read_to_string(path).expect("the file is there");
    let written: Json = serde_json::from_str(&text).expect("JSON");
    assert_eq!(detected("server.json", &text), Ok("mcp"));
    let reading = read_as("mcp", "server.json", text);
    assert_eq!(findings(&reading), [""; 0]);
    let card = card(&reading);
    let (read, written) =
        (card["tools"].as_array().expect("tools"), written["tools"].as_array().expect("tools"));
    assert_eq!((read.len(), written.len()), (count, count));
    for (read, written) in read.iter().zip(written) {
        assert_eq!(read["name"], written["name"]);
        assert_eq!(read["description"], written["description"]);
        assert_eq!(read["input"], written["inputSchema"]);
        let hints = &written["annotations"];
        let expected =
            ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        for (n, hint) in expected.into_iter().enumerate() {
            assert_eq!(read["hints"][n], hints[hint], "{}", written["name"]);
        }
        assert_eq!(read["finishes"], true);
    }
}

/// The record of an AIOS file.
fn aios_card(folder: &Path, file: &str) -> Json {
    let text = std::fs::read_to_string(folder.join("aios").join(file)).expect("the file is there");
    card(&read_as("aios", file, text))
}

/// The paths of a record's field mappings.
fn mapping_paths(card: &Json) -> Vec<Json> {
    let mappings = card["knowledge"]["mappings"].as_array().expect("mappings");
    mappings.iter().map(|mapping| mapping[0].clone()).collect()
}

#[test]
fn bindings_examples_mappings_and_unknown_fields_are_in_the_record() {
    let card_of = |file: &str| aios_card(&own_corpus(), file);
    for (file, part, expected) in [
        ("library.yaml", 2, json!(["sse", "https://library.example.org/events"])),
        ("library.yaml", 3, json!([["LIBRARY_CARD", true, "The number of a library card", null]])),
        ("library.yaml", 4, json!(["tool_call", "find-book", null, "A list of books", 4000])),
        (
            "weather.yaml",
            2,
            json!(["stdio", ["uvx", "weather-server", "--stations", "north,south"]]),
        ),
        ("tables.yaml", 2, json!(["sse", "https://tables.example.org/mcp"])),
        ("archive-cli.yaml", 2, json!(["box", "create"])),
    ] {
        assert_eq!(card_of(file)["tools"][0]["binding"][part], expected, "{file}");
    }
    let boards = card_of("boards.yaml");
    assert_eq!(boards["stray"][0][0], "monday_routine");
    assert_eq!(boards["stray"][0][1].as_array().map(Vec::len), Some(2));
    assert_eq!(boards["tools"][0]["examples"].as_array().map(Vec::len), Some(4));
    assert_eq!(boards["tools"][0]["examples"][2]["error"][3], json!({"http_status": 404}));
    assert_eq!(
        mapping_paths(&boards),
        [
            json!(["people", "create"]),
            json!(["people", "update"]),
            json!(["due"]),
            json!(["column_name"])
        ]
    );
    assert_eq!(card_of("library.yaml")["knowledge"]["strategy"], "embedded");
    // Unknown fields are kept, so that a definition can be written back.
    for (file, key, expected) in [
        ("tables.yaml", "/tool/mcp_specific/login", json!("browser")),
        ("archive-cli.yaml", "/tool/cli_specific/settings", json!({"cache": "arc cache clear"})),
        ("choosing.yaml", "/history", json!({"issue": 12})),
    ] {
        assert_eq!(card_of(file)["rest"][key], expected, "{file}");
    }
    if let Some(shared) = shared("corpus::bindings_examples_mappings_and_unknown_fields") {
        assert_published_records(&shared.join("corpus"));
    }
}

/// The same parts of the files that other people published.
fn assert_published_records(corpus: &Path) {
    let card_of = |file: &str| aios_card(corpus, file);
    let binding = |file: &str, part: usize| card_of(file)["tools"][0]["binding"][part].clone();
    let exa = json!([
        "stdio",
        [
            "npx",
            "-y",
            "exa-mcp-server",
            "--tools=web_search_exa,research_paper_search,company_research,crawling,competitor_finder,linkedin_search,wikipedia_search_exa,github_search"
        ]
    ]);
    for (file, part, expected) in [
        ("context7.yaml", 2, json!(["sse", "https://mcp.context7.com/sse"])),
        ("supabase.yaml", 2, json!(["sse", "https://mcp.supabase.com/mcp"])),
        ("exa.yaml", 2, exa),
        ("exa.yaml", 3, json!([["EXA_API_KEY", true, "Exa AI API key for authentication", null]])),
        (
            "exa.yaml",
            4,
            json!(["tool_call", "web_search_exa", null, "Search results with content", 10_000]),
        ),
        ("github-cli.yaml", 2, json!(["repo", "create"])),
        ("tool-v1.0-simple.yaml", 2, json!(["stdio", ["npx", "-y", "test-simple-server"]])),
    ] {
        assert_eq!(binding(file, part), expected, "{file}");
    }
    let clickup = card_of("clickup.yaml");
    assert_eq!(clickup["stray"][0][0], "story_creation_workflow");
    assert_eq!(clickup["stray"][0][1].as_array().map(Vec::len), Some(2));
    assert_eq!(clickup["tools"][0]["examples"].as_array().map(Vec::len), Some(4));
    assert_eq!(clickup["tools"][0]["examples"][2]["error"][3], json!({"http_status": 404}));
    assert_eq!(
        mapping_paths(&clickup),
        [
            json!(["assignees", "create_format"]),
            json!(["assignees", "update_format"]),
            json!(["assignees"]),
            json!(["custom_fields"]),
            json!(["list_id"])
        ]
    );
    // Unknown fields are kept, so that a definition can be written back.
    assert_eq!(card_of("browser.yaml")["knowledge"]["strategy"], "embedded");
    assert_eq!(card_of("supabase.yaml")["rest"]["/tool/mcp_specific/auth"], "oauth");
    assert_eq!(
        card_of("github-cli.yaml")["rest"]["/tool/cli_specific/configuration"]["login"],
        "gh auth login"
    );
    assert_eq!(
        card_of("google-workspace.yaml")["rest"]["/tool/api_complexity/oauth_scopes"]["gmail"]["send"],
        "https://www.googleapis.com/auth/gmail.send"
    );
    assert_eq!(card_of("llm-routing.yaml")["rest"]["/metadata"]["story"], "6.7");
}
