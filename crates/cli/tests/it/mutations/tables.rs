//! The fields of the formats, written down a second time and independent of the program, and values
//! that are wrong for them.

/// The valid documents: those of the rows in `tests/rules`, by name, and files below `examples`.
pub(super) const DOCUMENTS: &[(&str, &str, &str)] = &[
    ("btcp", "btcp-manifest", "manifest smallest"),
    ("btcp", "btcp-tool", "tool smallest list"),
    ("mcp", "toolfoundation", "tool plain list answer draft7"),
    ("ikigai", "ikigai", "search fetch"),
    ("aios", "aios", "tool cli local meta v1"),
    ("btcp", "examples", "btcp/count-words.json btcp/page-tools.json"),
    ("mcp", "examples", "mcp/clock.json mcp/read-file.json"),
    ("ikigai", "examples", "ikigai/convert-units.json"),
    ("aios", "examples", "aios/git.yaml aios/slugs.yaml aios/tickets.yaml aios/triage.yaml"),
];

/// Format, object, and its fields by their type; `!` is required. `@` is a tool, which may be
/// the whole document or an item of a list; `.` is the object around that list, `*` any key.
pub(super) const FIELDS: &str = "
btcp . text: btcp! name! description version: version! object: provider config list: tools! capabilities!
btcp provider text: name! url contact icon
btcp config number: timeout maxConcurrent word: sandbox
btcp @ text: name! description! schema: inputSchema! outputSchema list: capabilities! examples tags flag: deprecated number: timeout
btcp @.examples[] text: description object: input! any: output
mcp . word: jsonrpc any: id object: result! list: tools!
mcp result list: tools! text: nextCursor
mcp @ text: name! namespace title description version: version list: tags icons schema: inputSchema! outputSchema object: annotations _meta
mcp @.annotations text: title flag: readOnlyHint destructiveHint idempotentHint openWorldHint
ikigai @ text: name! description! schema: parameters!
aios tool any: schema_version text: id! name! description! word: type! knowledge_strategy version: version! list: commands tools anti_patterns
aios tool object: command_groups executable_knowledge api_complexity examples mcp_specific cli_specific local_specific meta_specific
aios tool.tools[] text: id! description schema: inputSchema outputSchema
aios tool.command_groups.*[] text: command! description
aios tool.executable_knowledge list: helpers processors validators
aios tool.executable_knowledge.helpers[] text: id! function! description word: language! runtime!
aios tool.executable_knowledge.processors[] text: id! function! processes word: language! runtime stage
aios tool.executable_knowledge.validators[] text: id! validates! function! word: language! list: checks
aios tool.api_complexity list: payload_schemas api_quirks object: field_mappings
aios tool.api_complexity.payload_schemas[] text: type! detection! payload_path!
aios tool.api_complexity.api_quirks[] text: quirk! description! impact mitigation!
aios tool.anti_patterns[] text: pattern! description! category wrong! correct! rationale
aios tool.examples.*[] text: scenario! description mitigation any: input! output object: error
aios tool.mcp_specific text: server_command word: transport list: environment_variables object: health_check
aios tool.mcp_specific.environment_variables[] text: name! description flag: required
aios tool.mcp_specific.health_check text: method command object: arguments any: expected_response number: timeout_ms
aios tool.cli_specific text: executable install_check install_guide
aios tool.local_specific text: entry_point runtime list: dependencies
aios tool.meta_specific list: aggregates text: orchestration
";

/// Format, field, what is broken, the code, and the values that break it; `*9` is a text of nine
/// letters.
pub(super) const VALUES: &str = r#"
btcp btcp pattern INVALID_PATTERN "1"
btcp btcp protocol UNSUPPORTED_PROTOCOL "2.0"
btcp name pattern INVALID_PATTERN "Page-Tools"
btcp name length INVALID_LENGTH *65
btcp version version INVALID_SEMVER "1.4" | "v1.4.0"
btcp description length INVALID_LENGTH *501
btcp provider.name length INVALID_LENGTH *101
btcp provider.url format INVALID_FORMAT "example.com"
btcp provider.icon format INVALID_FORMAT "icon.png"
btcp provider.contact format INVALID_FORMAT "nobody"
btcp tools length INVALID_LENGTH []
btcp config.timeout range OUT_OF_RANGE 999 | 300001
btcp config.maxConcurrent range OUT_OF_RANGE 0 | 11
btcp config.sandbox word INVALID_ENUM_VALUE "vm"
btcp @.name pattern INVALID_PATTERN "read-table" | "2ndTable"
btcp @.description length INVALID_LENGTH *9 | *1001
btcp @.timeout range OUT_OF_RANGE 10 | 300001
btcp @.tags tag TAG_NOT_NORMALIZED ["Two Words"]
btcp @.deprecated deprecation DEPRECATED_WITHOUT_MESSAGE true
btcp @.inputSchema.type schema INVALID_SCHEMA "objekt"
btcp @.outputSchema.type schema INVALID_SCHEMA "objekt"
btcp @.examples[].output example EXAMPLE_OUTPUT_INVALID 7
mcp jsonrpc word INVALID_ENUM_VALUE "1.0"
mcp @.name pattern INVALID_PATTERN "read:file"
mcp @.name length INVALID_LENGTH *129
mcp @.namespace pattern INVALID_PATTERN "two words"
mcp @.version version INVALID_SEMVER "1.2"
mcp @.tags tag TAG_NOT_NORMALIZED ["Files"]
mcp @.inputSchema.type schema INVALID_SCHEMA "objekt"
mcp @.outputSchema.required schema INVALID_SCHEMA "lines"
ikigai @.name pattern INVALID_PATTERN "two words"
ikigai @.name length INVALID_LENGTH *129
ikigai @.parameters.required schema INVALID_SCHEMA "value"
aios tool.schema_version word INVALID_ENUM_VALUE 3.0
aios tool.id pattern INVALID_PATTERN "two words"
aios tool.id naming NAMING_CONVENTION "two_words"
aios tool.type word INVALID_ENUM_VALUE "server"
aios tool.version version INVALID_SEMVER 1.2 | "latest"
aios tool.knowledge_strategy word INVALID_ENUM_VALUE "wisdom"
aios tool.tools[].inputSchema.type schema INVALID_SCHEMA "objekt"
aios tool.executable_knowledge.helpers[].runtime word INVALID_ENUM_VALUE "node"
aios tool.executable_knowledge.*[].language word INVALID_ENUM_VALUE "python"
aios tool.executable_knowledge.processors[].stage word INVALID_ENUM_VALUE "before"
aios tool.executable_knowledge.processors[].id naming NAMING_CONVENTION "two_words"
aios tool.executable_knowledge.*[].processes reference UNRESOLVED_REFERENCE nothing_there
aios tool.executable_knowledge.validators[].validates reference UNRESOLVED_REFERENCE nothing_there
aios tool.api_complexity.payload_schemas[].detection reference UNRESOLVED_REFERENCE helpers.none
aios tool.api_complexity.payload_schemas[].detection detection UNKNOWN_DETECTION by its looks
aios tool.api_complexity.field_mappings.*.extraction reference UNRESOLVED_REFERENCE helpers.none
aios tool.anti_patterns[].category naming NAMING_CONVENTION "API Usage"
aios tool.mcp_specific.transport word INVALID_ENUM_VALUE "http"
aios tool.mcp_specific.health_check.command reference UNRESOLVED_REFERENCE nothing_there
aios tool.mcp_specific.health_check.timeout_ms range OUT_OF_RANGE -1
"#;

/// Further findings when a field is absent, and their place: the object that lacks it (`.`), or
/// another field.
pub(super) const FOLLOWS: &str = "
btcp @.outputSchema MISSING_OUTPUT_SCHEMA .
mcp @.description MISSING_DESCRIPTION name
aios tool.tools[].description MISSING_DESCRIPTION .
aios tool.command_groups.*[].description MISSING_DESCRIPTION .
aios tool.anti_patterns[].category MISSING_CATEGORY .
aios tool.examples MISSING_SCENARIO .
aios tool.examples.*[].output EXAMPLE_OUTCOME_MISSING .
aios tool.examples.*[].error EXAMPLE_OUTCOME_MISSING .
aios tool.mcp_specific NOT_RUNNABLE type
aios tool.mcp_specific.server_command NOT_RUNNABLE ..type
aios tool.mcp_specific.health_check.command UNKNOWN_HEALTH_CHECK method
aios tool.cli_specific NOT_RUNNABLE type
aios tool.cli_specific.executable NOT_RUNNABLE ..type
aios tool.local_specific NOT_RUNNABLE type
aios tool.local_specific.entry_point NOT_RUNNABLE ..type
aios tool.meta_specific NOT_RUNNABLE type
aios tool.meta_specific.orchestration NOT_RUNNABLE ..type
";

/// Mutations with other findings, because a BTCP tool without its name is read as MCP: format,
/// mutation, field. A row that has become right must be removed.
pub(super) const KNOWN: &str = "
btcp drop @.name
btcp misspell @.name
";

/// Lines of code that no function may have.
pub(super) const CODE: &[(&str, &str, &str)] = &[
    ("syntax", "let 1st = ;", "INVALID_FUNCTION_SYNTAX"),
    ("require", "const other = require('other');", "FORBIDDEN_REQUIRE"),
    ("files", "Deno.readTextFileSync('x');", "FORBIDDEN_FILE_ACCESS"),
    ("free name", "outside();", "NOT_SELF_CONTAINED"),
];
