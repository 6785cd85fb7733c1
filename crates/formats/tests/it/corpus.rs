//! Definitions from the wild, mistakes included: format, tools and the exact findings of each file.
//! The expectations were derived from the readings, file by file.

use crate::support::{card, definitions, detected, findings, lines, read_as, shared};

/// What a file should give: its format (or the code of why it has none), its tools by id, in
/// order, and its findings as `CODE path`. `UNKNOWN_FIELD` is written `?`.
struct Case {
    file: &'static str,
    format: Result<&'static str, &'static str>,
    ids: &'static str,
    findings: &'static str,
}

const CASES: &[Case] = &[
    // All version 1 tools in the wild say `declarative`; prose sections are unknown fields.
    Case {
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
    Case {
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
    Case {
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
    Case {
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
    Case {
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
    Case {
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
    Case {
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
    // Nearly everything stands beside `tool`; without a type there is no command named by id.
    Case {
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
    // Unknown check keys (`sql_injection_prevention`) are for a rule to warn about.
    Case {
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
    Case {
        file: "tool-invalid.yaml",
        format: Ok("aios"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /tool/description
                   MISSING_REQUIRED_FIELD /tool/id",
    },
    Case {
        file: "tool-v1.0-simple.yaml",
        format: Ok("aios"),
        ids: "test-simple: search fetch",
        findings: "",
    },
    Case {
        file: "tool-v2.0-complex.yaml",
        format: Ok("aios"),
        ids: "test-complex: create_item update_item",
        findings: "",
    },
    // 27 tools without capabilities; their examples have `name` and `params` for `input`: see
    // below.
    Case {
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
    // Well-formed capabilities outside the list are for a rule.
    Case {
        file: "btcp-server_builtin-tools.json",
        format: Ok("btcp"),
        ids: "echo evaluate browser_snapshot browser_click browser_fill browser_type browser_hover \
              browser_press browser_scroll browser_get_text browser_get_attribute browser_is_visible \
              browser_get_url browser_get_title browser_screenshot browser_wait browser_execute",
        findings: "MISSING_REQUIRED_FIELD /0/capabilities",
    },
    Case {
        file: "btcp-specification__README.md__L64.json",
        format: Ok("btcp"),
        ids: "page-tools: getPageContent",
        findings: "",
    },
    Case {
        file: "btcp-specification__docs_api_core_manifest.md__L145.json",
        format: Ok("btcp"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /name
                   MISSING_REQUIRED_FIELD /version
                   MISSING_REQUIRED_FIELD /tools
                   MISSING_REQUIRED_FIELD /capabilities",
    },
    Case {
        file: "btcp-specification__docs_api_core_manifest.md__L256.json",
        format: Ok("btcp"),
        ids: "spreadsheet-tools: getCellValue setCellValue getSelectedRange",
        findings: "",
    },
    Case {
        file: "btcp-specification__docs_api_core_tool.md__L326.json",
        format: Ok("btcp"),
        ids: "getPageTitle",
        findings: "",
    },
    Case {
        file: "btcp-specification__docs_api_core_tool.md__L352.json",
        format: Ok("btcp"),
        ids: "fillFormField",
        findings: "",
    },
    Case {
        file: "btcp-specification__docs_api_core_tool.md__L414.json",
        format: Ok("btcp"),
        ids: "exportTableToClipboard",
        findings: "",
    },
    Case {
        file: "btcp-specification__docs_for-tool-providers.md__L15.json",
        format: Ok("btcp"),
        ids: "my-web-tools: getPageContent",
        findings: "",
    },
    // `name` and `description` alone belong to no format.
    Case {
        file: "btcp-specification__docs_for-tool-providers.md__L216.json",
        format: Err("UNKNOWN_FORMAT"),
        ids: "",
        findings: "",
    },
    Case {
        file: "btcp-specification__docs_for-tool-providers.md__L224.json",
        format: Err("UNKNOWN_FORMAT"),
        ids: "",
        findings: "",
    },
    Case {
        file: "btcp-specification__docs_introduction.md__L66.json",
        format: Ok("btcp"),
        ids: "formatCells",
        findings: "",
    },
    Case {
        file: "btcp-specification__docs_protocols_index.md__L200.json",
        format: Ok("btcp"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /version
                   MISSING_REQUIRED_FIELD /tools
                   MISSING_REQUIRED_FIELD /capabilities
                   ? /config/transport",
    },
    Case {
        file: "btcp-specification__docs_protocols_index.md__L213.json",
        format: Ok("btcp"),
        ids: "",
        findings: "MISSING_REQUIRED_FIELD /version
                   MISSING_REQUIRED_FIELD /tools
                   MISSING_REQUIRED_FIELD /capabilities
                   ? /config/transport
                   ? /config/socket",
    },
    Case {
        file: "btcp-specification__docs_server_mcp-bridge.md__L262.json",
        format: Ok("btcp"),
        ids: "writeToStorage",
        findings: "MISSING_REQUIRED_FIELD /description
                   MISSING_REQUIRED_FIELD /inputSchema",
    },
    // Pages register tools in mcp's shape, and a null schema is an invalid one there.
    Case {
        file: "webmcp-evals_examples_address-form_schema.json",
        format: Ok("mcp"),
        ids: "fillInAddressForm",
        findings: "INVALID_SCHEMA /tools/0/outputSchema",
    },
    Case {
        file: "webmcp-evals_examples_commerce_retail_schema.json",
        format: Ok("mcp"),
        ids: "searchProducts priceMatch checkInventory",
        findings: "",
    },
    Case {
        file: "webmcp-evals_examples_commerce_shopping_schema.json",
        format: Ok("mcp"),
        ids: "getProducts filterByPreferences addToCart getProductReviews getShippingAndLoyaltyInfo",
        findings: "INVALID_SCHEMA /tools/0/inputSchema
                   INVALID_SCHEMA /tools/4/inputSchema",
    },
    Case {
        file: "webmcp-evals_examples_events_schema.json",
        format: Ok("mcp"),
        ids: "createEvent",
        findings: "",
    },
    Case {
        file: "webmcp-evals_examples_healthcare_schema.json",
        format: Ok("mcp"),
        ids: "bookAppointment checkMedicationInteractions findDoctorByLocation checkLabResults \
              checkInsuranceCoverage requestMedicationRefill getPrescriptionPrice checkProviderNetwork",
        findings: "",
    },
    Case {
        file: "webmcp-evals_examples_pizza-maker_schema.json",
        format: Ok("mcp"),
        ids: "add_topping manage_pizza remove_topping set_pizza_size set_pizza_style share_pizza \
              toggle_layer",
        findings: "",
    },
    Case {
        file: "webmcp-evals_examples_real-estate_schema.json",
        format: Ok("mcp"),
        ids: "searchProperties calculateMortgage getNeighborhoodStats analyzeCommute",
        findings: "",
    },
    Case {
        file: "webmcp-evals_examples_travel_schema.json",
        format: Ok("mcp"),
        ids: "listFlights filterFlights resetFilters searchFlights",
        findings: "INVALID_SCHEMA /tools/0/inputSchema
                   INVALID_SCHEMA /tools/1/outputSchema
                   INVALID_SCHEMA /tools/2/inputSchema
                   INVALID_SCHEMA /tools/2/outputSchema",
    },
];

/// Stands for the findings that `chrome` builds.
const CHROME: &str = "see chrome()";

/// Each tool lacks capabilities; so many examples of it have `name` and `params` instead of
/// `input`.
fn chrome() -> Vec<String> {
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

#[test]
fn every_file_gives_its_tools_and_its_findings() {
    let Some(shared) = shared("corpus::every_file_gives_its_tools_and_its_findings") else {
        return;
    };
    let mut tried = 0;
    for path in definitions(&shared.join("corpus")) {
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
        if name == "github-mcp-server.json" {
            continue;
        }
        let case = CASES.iter().find(|case| case.file == name);
        let case = case.unwrap_or_else(|| panic!("{name}: no expectation for this file"));
        tried += 1;
        let text = std::fs::read_to_string(&path).expect("the file is there");
        let found = detected(name, &text).map_err(|(code, _)| code);
        assert_eq!(found, case.format, "{name}");
        let Ok(format) = found else { continue };
        let reading = read_as(format, name, text);
        assert_eq!(card(&reading)["ids"], serde_json::json!(ids(case.ids)), "{name}");
        let expected = match case.findings {
            CHROME => chrome(),
            text => lines(&text.replace("? /", "UNKNOWN_FIELD /")),
        };
        assert_eq!(findings(&reading), expected, "{name}");
    }
    assert_eq!(tried, CASES.len(), "a file of the corpus is gone");
}

#[test]
fn the_tools_of_a_large_server_are_clean_and_complete() {
    let Some(shared) = shared("corpus::the_tools_of_a_large_server_are_clean_and_complete") else {
        return;
    };
    let path = shared.join("corpus/mcp/github-mcp-server.json");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let written: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(detected("server.json", &text), Ok("mcp"));
    let reading = read_as("mcp", "server.json", text);
    assert_eq!(findings(&reading), [""; 0]);
    let card = card(&reading);
    let (read, written) =
        (card["tools"].as_array().expect("tools"), written["tools"].as_array().expect("tools"));
    assert_eq!((read.len(), written.len()), (117, 117));
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

/// Parts of a few records that only real files have.
#[test]
fn parts_of_real_records() {
    let Some(shared) = shared("corpus::parts_of_real_records") else { return };
    let card_of = |file: &str| {
        let text = std::fs::read_to_string(shared.join("corpus/aios").join(file))
            .expect("the file is there");
        card(&read_as("aios", file, text))
    };
    let binding = |file: &str, part: usize| card_of(file)["tools"][0]["binding"][part].clone();
    use serde_json::json;
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
    let paths: Vec<_> = clickup["knowledge"]["mappings"]
        .as_array()
        .expect("mappings")
        .iter()
        .map(|m| m[0].clone())
        .collect();
    assert_eq!(
        paths,
        [
            json!(["assignees", "create_format"]),
            json!(["assignees", "update_format"]),
            json!(["assignees"]),
            json!(["custom_fields"]),
            json!(["list_id"])
        ]
    );
    // Everything unknown is kept for the way back.
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
