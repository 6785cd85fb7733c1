//! Several mistakes in one document: all are found, each at its own location. A fixture has a
//! marker `«CODE /path»` right before the character that a finding should point at; markers are
//! removed before the text is read. Every fixture is also read with CRLF and with a byte order
//! mark.

use std::collections::BTreeSet;

use toolwright_formats::codes;

use crate::support::{findings, places, read_as};

/// Removes the markers: the text, and the expected findings as `line:column CODE /path`.
fn unmark(marked: &str) -> (String, Vec<String>) {
    let (mut text, mut expected) = (String::new(), Vec::new());
    let mut rest = marked;
    while let Some((before, behind)) = rest.split_once('«') {
        let (marker, behind) = behind.split_once('»').expect("a marker ends");
        text.push_str(before);
        let line = text.matches('\n').count() + 1;
        let column = text.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        expected.push(format!("{line}:{column} {marker}"));
        rest = behind;
    }
    text.push_str(rest);
    expected.sort();
    (text, expected)
}

const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "a manifest in JSON, behind text that is not ASCII",
        "btcp",
        "m.json",
        r#"«MISSING_REQUIRED_FIELD /version»{
  "btcp": «UNSUPPORTED_PROTOCOL /btcp»"2.0", "name": «INVALID_PATTERN /name»"Größe",
  "description": "Grüße 👋🏽 日本語", «UNKNOWN_FIELD /autor»"autor": "ß",
  "provider": {"name": "é", "url": «INVALID_FORMAT /provider/url»"größe.example", "contact": «INVALID_FORMAT /provider/contact»"ä"},
  "capabilities": ["dom:read", «INVALID_PATTERN /capabilities/1»"Dom:Read", «INVALID_TYPE /capabilities/2»7, «INVALID_PATTERN /capabilities/3»""],
  "config": {"timeout": «OUT_OF_RANGE /config/timeout»999, "sandbox": «INVALID_ENUM_VALUE /config/sandbox»"wörker", "maxConcurrent": «INVALID_TYPE /config/maxConcurrent»2.5},
  "tools": [
    {"name": "ok", "description": «INVALID_LENGTH /tools/0/description»"zu kurz ü", «UNKNOWN_FIELD /tools/0/inputschema»"inputschema": {}, "inputSchema": {}, "capabilities": []}
  ]
}"#,
    ),
    (
        "a tool in JSON",
        "btcp",
        "t.json",
        r#"«MISSING_REQUIRED_FIELD /description»{"name": «INVALID_PATTERN /name»«INVALID_LENGTH /name»"é23456789012345678901234567890123456789012345678901234567890123456",
 "inputSchema": «INVALID_TYPE /inputSchema»true, "outputSchema": «INVALID_SCHEMA /outputSchema»null,
 "capabilities": «INVALID_TYPE /capabilities»"dom:read",
 "tags": «INVALID_TYPE /tags»null, "deprecated": «INVALID_TYPE /deprecated»"yes", "timeout": «OUT_OF_RANGE /timeout»300001,
 "examples": [{"input": {}}, «MISSING_REQUIRED_FIELD /examples/1/input»{"output": 1}, {"input": «INVALID_TYPE /examples/2/input»[]}]}"#,
    ),
    (
        "a list of tools in YAML",
        "btcp",
        "l.yaml",
        "# ünïcode\n- name: find\n  description: finds a thing\n  inputSchema: {}\n  capabilities: [dom:read, «INVALID_PATTERN /0/capabilities/1»'dom:*']\n- «MISSING_REQUIRED_FIELD /1/capabilities»name: «INVALID_PATTERN /1/name»get-it\n  description: gets a thing\n  inputSchema:\n    «INVALID_TYPE /1/inputSchema»- 1\n- «INVALID_TYPE /2»3\n",
    ),
    (
        "a higher minor version is a warning of the same code",
        "btcp",
        "m.yaml",
        "btcp: «UNSUPPORTED_PROTOCOL /btcp»'1.7'\nname: m\nversion: «INVALID_SEMVER /version»1.2.3.4\ncapabilities: []\ntools: «INVALID_LENGTH /tools»[]\n",
    ),
    (
        "types from the raw text: YAML takes these for numbers",
        "btcp",
        "m.yaml",
        "btcp: «INVALID_TYPE /btcp»1.0\nname: m\nversion: «INVALID_SEMVER /version»1.0\ncapabilities: []\ntools:\n  - name: «INVALID_TYPE /tools/0/name»12\n    description: counts to twelve\n    inputSchema: {}\n    capabilities: []\n",
    ),
    (
        "a manifest without `btcp` is a manifest",
        "btcp",
        "m.json",
        r#"«MISSING_REQUIRED_FIELD /btcp»{"name": "m", "version": «INVALID_SEMVER /version»"v1.0.0", "capabilities": [], "tools": «INVALID_TYPE /tools»{}}"#,
    ),
    (
        "an AIOS tool in block style",
        "aios",
        "t.yaml",
        "«EXTRA_ROOT_KEY /größe»größe: 1\n«MISSING_REQUIRED_FIELD /tool/name»«MISSING_REQUIRED_FIELD /tool/description»tool:\n  id: x # ä ö ü\n  type: «INVALID_ENUM_VALUE /tool/type»mpc\n  version: «INVALID_SEMVER /tool/version»v1.0.0\n  schema_version: «INVALID_ENUM_VALUE /tool/schema_version»3.0\n  «MISSPELLED_FIELD /tool/knowlege_strategy»knowlege_strategy: none\n  «UNKNOWN_FIELD /tool/résumé»résumé: ok\n",
    ),
    (
        "an AIOS tool in flow style",
        "aios",
        "t.yaml",
        "{«MISSING_REQUIRED_FIELD /tool/version»tool: {id: ü, type: cli, name: «MISSING_REQUIRED_FIELD /tool/name»\"  \", description: ö, commands: [a, «INVALID_TYPE /tool/commands/1»2, «INVALID_TYPE /tool/commands/2»[b]],\n  examples: {a: «INVALID_TYPE /tool/examples/a»ß, b: [1]}, «MISSPELLED_FIELD /tool/cliSpecific»cliSpecific: {}}}\n",
    ),
    (
        "every section of an AIOS tool",
        "aios",
        "t.yaml",
        "\
tool:
  id: x
  type: mcp
  name: X
  version: 1.0.0
  description: «INVALID_TYPE /tool/description»7
  knowledge_strategy: «INVALID_ENUM_VALUE /tool/knowledge_strategy»declarative
  tools:
    - «MISSING_REQUIRED_FIELD /tool/tools/0/id»description: ä
      inputSchema: «INVALID_SCHEMA /tool/tools/0/inputSchema»null
    - id: ok
      outputSchema: «INVALID_TYPE /tool/tools/1/outputSchema»false
  command_groups:
    g:
      - «MISSING_REQUIRED_FIELD /tool/command_groups/g/0/command»description: ö
    h: «INVALID_TYPE /tool/command_groups/h»ü
  executable_knowledge:
    helpers:
      - «MISSING_REQUIRED_FIELD /tool/executable_knowledge/helpers/0/runtime»id: h
        language: «INVALID_ENUM_VALUE /tool/executable_knowledge/helpers/0/language»python
        function: «INVALID_TYPE /tool/executable_knowledge/helpers/0/function»[]
    processors:
      - id: p
        language: javascript
        function: f
        runtime: «INVALID_ENUM_VALUE /tool/executable_knowledge/processors/0/runtime»vm2
        stage: «INVALID_ENUM_VALUE /tool/executable_knowledge/processors/0/stage»\"\"
    validators:
      - «MISSING_REQUIRED_FIELD /tool/executable_knowledge/validators/0/validates»id: v
        language: javascript
        function: f
        checks:
          - «INVALID_TYPE /tool/executable_knowledge/validators/0/checks/0»email
  api_complexity:
    payload_schemas:
      - «MISSING_REQUIRED_FIELD /tool/api_complexity/payload_schemas/0/detection»type: t
        payload_path: «INVALID_TYPE /tool/api_complexity/payload_schemas/0/payload_path»{}
    field_mappings:
      good: { structure: x }
      group: { inner: { extraction: helpers.x } }
      «MISSING_REQUIRED_FIELD /tool/api_complexity/field_mappings/bad»bad: { note: ß }
      worse: «INVALID_TYPE /tool/api_complexity/field_mappings/worse»ß
      odd: { structure: x, extraction: «INVALID_TYPE /tool/api_complexity/field_mappings/odd/extraction»1 }
    api_quirks:
      - «MISSING_REQUIRED_FIELD /tool/api_complexity/api_quirks/0/mitigation»quirk: q
        description: d
  anti_patterns:
    - «MISSING_REQUIRED_FIELD /tool/anti_patterns/0/correct»pattern: p
      description: d
      wrong: w
      «MISSPELLED_FIELD /tool/anti_patterns/0/catagory»catagory: c
  examples:
    go:
      - «MISSING_REQUIRED_FIELD /tool/examples/go/0/input»scenario: success
      - «MISSING_REQUIRED_FIELD /tool/examples/go/1/scenario»input: 1
        error: «INVALID_TYPE /tool/examples/go/1/error»no object
    stop: «INVALID_TYPE /tool/examples/stop»{}
  mcp_specific:
    server_command: «INVALID_TYPE /tool/mcp_specific/server_command»[npx]
    transport: «INVALID_ENUM_VALUE /tool/mcp_specific/transport»stdio | sse
    environment_variables:
      - «MISSING_REQUIRED_FIELD /tool/mcp_specific/environment_variables/0/name»required: «INVALID_TYPE /tool/mcp_specific/environment_variables/0/required»maybe
    health_check:
      timeout_ms: «OUT_OF_RANGE /tool/mcp_specific/health_check/timeout_ms»-1
",
    ),
    (
        "the root key is missing",
        "aios",
        "t.yaml",
        "«MISSING_REQUIRED_FIELD /tool»«MISSING_REQUIRED_FIELD /description»id: x\ntype: mcp\nname: X\nversion: «INVALID_SEMVER /version»1.0.0-01\n",
    ),
    (
        "no list of examples in version 2",
        "aios",
        "t.yaml",
        "tool: {id: x, type: mcp, name: X, version: 1.0.0, description: d, schema_version: 2, examples: «INVALID_TYPE /tool/examples»[1]}\n",
    ),
    (
        "an mcp tool",
        "mcp",
        "t.json",
        r#"{"name": «INVALID_PATTERN /name»"a b", "title": «INVALID_TYPE /title»null, "description": "日本語", "inputSchema": «INVALID_SCHEMA /inputSchema»null,
  "annotations": {«MISSPELLED_FIELD /annotations/readOnly»"readOnly": true, "openWorldHint": «INVALID_TYPE /annotations/openWorldHint»"no"},
  "icons": [«MISSING_REQUIRED_FIELD /icons/0/src»{"theme": «INVALID_ENUM_VALUE /icons/0/theme»"red"}, {"src": «INVALID_FORMAT /icons/1/src»"no uri"}],
  "namespace": «INVALID_PATTERN /namespace»"a:b", "version": «INVALID_SEMVER /version»"1.0", "tags": [«INVALID_TYPE /tags/0»1], "_meta": «INVALID_TYPE /_meta»[]}"#,
    ),
    (
        "a namespace that works, but not everywhere; two more that do not",
        "mcp",
        "l.json",
        r#"[{"name": "a", "inputSchema": {}, "namespace": «NAMING_CONVENTION /0/namespace»"日本"},
 {"name": "b", "inputSchema": {}, "namespace": «INVALID_PATTERN /1/namespace»""},
 {"name": "c", "inputSchema": {}, "namespace": «INVALID_TYPE /2/namespace»4}]"#,
    ),
    (
        "an answer to tools/list",
        "mcp",
        "r.json",
        r#"{"jsonrpc": «INVALID_ENUM_VALUE /jsonrpc»"1.0", "id": 1, "result": {"tools": [«MISSING_REQUIRED_FIELD /result/tools/0/inputSchema»{"name": «INVALID_PATTERN /result/tools/0/name»"é"}], "nextCursor": «INVALID_TYPE /result/nextCursor»1}}"#,
    ),
    (
        "chat functions of OpenAI",
        "openai",
        "c.json",
        r#"[{"type": "function", «MISSING_REQUIRED_FIELD /0/function/name»"function": {"parameters": «INVALID_TYPE /0/function/parameters»[], "strict": «INVALID_TYPE /0/function/strict»"ja"}},
 {"type": "web_search", "anything": 1}, «MISSING_REQUIRED_FIELD /2/type»{"function": {"name": "f"}, «UNKNOWN_FIELD /2/größe»"größe": 1}, «INVALID_TYPE /3»4]"#,
    ),
    (
        "functions of OpenAI's responses",
        "openai",
        "r.json",
        r#"{"tools": [{"type": "namespace", "name": "ns", "tools": [{"type": "function", "name": «INVALID_PATTERN /tools/0/tools/0/name»"ä b", «MISSPELLED_FIELD /tools/0/tools/0/outputSchema»"outputSchema": {}}]},
 {"type": "function", "name": "f", "parameters": null, "strict": null, "output_schema": «INVALID_TYPE /tools/1/output_schema»1}], "tool_choice": "auto"}"#,
    ),
    (
        "Anthropic's tools",
        "anthropic",
        "a.json",
        r#"[«MISSING_REQUIRED_FIELD /0/input_schema»{"name": "a", «MISSPELLED_FIELD /0/inputSchema»"inputSchema": {}}, {"name": «INVALID_PATTERN /1/name»"é", "input_schema": {}, "input_examples": [{}, «INVALID_TYPE /1/input_examples/1»1], "strict": «INVALID_TYPE /1/strict»null}, {"type": "web_search_20250305", "name": "w"}]"#,
    ),
    (
        "Gemini's declarations",
        "gemini",
        "g.json",
        r#"{"tools": [{"functionDeclarations": [«MISSING_REQUIRED_FIELD /tools/0/functionDeclarations/0/name»{"parameters": «INVALID_TYPE /tools/0/functionDeclarations/0/parameters»"x"}, {"name": «INVALID_PATTERN /tools/0/functionDeclarations/1/name»"a:b:c", "behavior": «INVALID_ENUM_VALUE /tools/0/functionDeclarations/1/behavior»"LAZY"}], «UNKNOWN_FIELD /tools/0/codeExecution»"codeExecution": {}}, {"googleSearch": {}}]}"#,
    ),
    (
        "Bedrock's tools",
        "bedrock",
        "b.json",
        r#"{"toolConfig": {"tools": [{"toolSpec": {"name": "f", "description": «INVALID_LENGTH /toolConfig/tools/0/toolSpec/description»"", «MISSING_REQUIRED_FIELD /toolConfig/tools/0/toolSpec/inputSchema/json»"inputSchema": {}}}, {"cachePoint": {"type": "default"}}, «MISSING_REQUIRED_FIELD /toolConfig/tools/2/toolSpec»{}]}}"#,
    ),
    (
        "an OpenAPI document",
        "openapi",
        "o.yaml",
        "openapi: 3.1.0\n«MISSING_REQUIRED_FIELD /info/version»info:\n  title: Ä\npaths:\n  /a:\n    get:\n      operationId: «INVALID_TYPE /paths/~1a/get/operationId»1\n      parameters:\n        - $ref: «INVALID_SCHEMA /paths/~1a/get/parameters/0/$ref»'#/components/parameters/p'\n        - «MISSING_REQUIRED_FIELD /paths/~1a/get/parameters/1/name»in: «INVALID_ENUM_VALUE /paths/~1a/get/parameters/1/in»body\n      deprecated: «INVALID_TYPE /paths/~1a/get/deprecated»yes, please\n",
    ),
    (
        "Swagger",
        "openapi",
        "s.json",
        r#"{"swagger": «UNSUPPORTED_PROTOCOL /swagger»"2.0", "info": {}}"#,
    ),
    (
        "WebMCP",
        "webmcp",
        "w.json",
        r#"{"tools": [«MISSING_REQUIRED_FIELD /tools/0/description»{"name": "f", "inputSchema": null}, {"name": "g", "description": "ü", "inputSchema": «INVALID_TYPE /tools/1/inputSchema»true}]}"#,
    ),
    (
        "an ikigai schema",
        "ikigai",
        "s.json",
        r#"[«MISSING_REQUIRED_FIELD /0/parameters»{"name": «INVALID_PATTERN /0/name»"web search", "description": «MISSING_REQUIRED_FIELD /0/description»" ", «MISSPELLED_FIELD /0/parameter»"parameter": {}},
 {"name": "ok", "description": "ü", "parameters": «INVALID_TYPE /1/parameters»[], «UNKNOWN_FIELD /1/parameter»"parameter": 1}]"#,
    ),
];

const ANCHORS: &[(&str, &str, &str, &str)] = &[
    (
        "a mistake under an anchor is reported once, at the anchored text",
        "aios",
        "t.yaml",
        "\
tool:
  id: x
  type: mcp
  name: X
  version: 1.0.0
  description: ä
  commands: &names [a, «INVALID_TYPE /tool/commands/1»2]
  mcp_specific:
    server_command: x
    server_args: *names
    transport: «INVALID_ENUM_VALUE /tool/mcp_specific/transport»pigeon
",
    ),
    (
        "below an alias the anchored text is meant, at the alias what is missing there",
        "btcp",
        "l.yaml",
        "\
- &one
  name: «INVALID_PATTERN /0/name»größe
  description: first of two tools
  inputSchema: &schema {}
  capabilities: []
- *one
- «MISSING_REQUIRED_FIELD /2/description»name: third
  inputSchema: *schema
  capabilities: «INVALID_TYPE /2/capabilities»*schema
- {name: fourth, description: the last of them, inputSchema: {}, capabilities: [], examples: [«MISSING_REQUIRED_FIELD /3/examples/0/input»*schema]}
",
    ),
    (
        "merge keys bring members in, with their mistakes; what is written wins",
        "aios",
        "t.yaml",
        "\
tool:
  <<: &base
    type: cli
    version: «INVALID_SEMVER /tool/<</version»1.0
    name: «INVALID_TYPE /tool/<</name»{}
  id: «INVALID_TYPE /tool/id»7
  type: «INVALID_ENUM_VALUE /tool/type»clj
  description: ü
",
    ),
    (
        "what a merge key brings in is judged by the tool that has it",
        "aios",
        "t.yaml",
        "\
tool:
  schema_version: 2.0
  id: x
  type: mcp
  name: X
  version: 1.0.0
  description: d
  <<:
    examples:
      go:
        - «MISSING_REQUIRED_FIELD /tool/<</examples/go/0/scenario»input: 1
",
    ),
    (
        "of a key that comes twice, the last one counts",
        "mcp",
        "t.json",
        r#"{"name": 7, «DUPLICATE_KEY /name»"name": "ok", "inputSchema": {}, "title": "ä", «DUPLICATE_KEY /title»"title": «INVALID_TYPE /title»8}"#,
    ),
];

/// All fixtures without their markers, for other tests to break.
pub(crate) fn texts() -> Vec<String> {
    CASES.iter().chain(ANCHORS).map(|case| unmark(case.3).0).collect()
}

fn check((what, format, name, marked): &(&str, &str, &str, &str)) {
    let (text, mut expected) = unmark(marked);
    expected.sort();
    let crlf = text.replace('\n', "\r\n");
    for (form, text) in [("LF", text.clone()), ("CRLF", crlf), ("a BOM", format!("\u{feff}{text}"))]
    {
        let mut found = places(&read_as(format, name, text));
        found.sort();
        assert_eq!(found, expected, "{what}, with {form}");
    }
}

#[test]
fn all_mistakes_are_found_each_at_its_place() {
    CASES.iter().for_each(check);
}

#[test]
fn mistakes_are_found_under_anchors_aliases_merge_keys_and_duplicates() {
    ANCHORS.iter().for_each(check);
}

#[test]
fn every_code_of_this_crate_has_a_case() {
    let mut seen = BTreeSet::new();
    for (_, _, _, marked) in CASES.iter().chain(ANCHORS) {
        let (_, expected) = unmark(marked);
        seen.extend(expected.iter().filter_map(|line| line.split(' ').nth(1)).map(str::to_owned));
    }
    for code in
        codes::ALL.iter().filter(|c| !["UNKNOWN_FORMAT", "AMBIGUOUS_FORMAT"].contains(&c.name))
    {
        assert!(seen.contains(code.name), "no case triggers {}", code.name);
    }
}

/// For each code, documents that nearly have the mistake, and have no finding at all.
#[test]
fn near_misses_have_no_findings() {
    let long = |n: usize| "é".repeat(n);
    let manifest = |more: &str| {
        format!(
            r#"{{"btcp": "1.0", "name": "m", "version": "1.0.0", "capabilities": [], {more}
               "tools": [{{"name": "t", "description": "does a thing", "inputSchema": {{}}, "capabilities": []}}]}}"#
        )
    };
    let tool = |more: &str| {
        format!(
            r#"{{"name": "t", "description": "does a thing", "inputSchema": {{}}, "capabilities": []{more}}}"#
        )
    };
    let aios = |more: &str| {
        format!("tool: {{id: x, type: mcp, name: X, version: 1.0.0, description: d{more}}}\n")
    };
    let mcp = |more: &str| format!(r#"{{"name": "t", "inputSchema": {{}}{more}}}"#);
    let cases: Vec<(&str, &str, &str, String)> = vec![
        (
            "MISSING_REQUIRED_FIELD",
            "aios",
            "t.yaml",
            aios(", mcp_specific: , examples: , tools: , commands: null"),
        ),
        (
            "MISSING_REQUIRED_FIELD",
            "aios",
            "t.yaml",
            aios(", schema_version: 2.0, examples: {go: [{scenario: success, input: {}}]}"),
        ),
        (
            "MISSING_REQUIRED_FIELD",
            "aios",
            "t.yaml",
            aios(", schema_version: 1.0, examples: {go: [{step: 1}, prose]}"),
        ),
        ("INVALID_TYPE", "btcp", "t.json", tool(r#", "timeout": 60000.0"#)),
        (
            "INVALID_TYPE",
            "btcp",
            "t.json",
            tool(r#", "examples": [{"input": {}, "output": null}]"#),
        ),
        ("INVALID_ENUM_VALUE", "btcp", "m.json", manifest(r#""config": {"sandbox": "wasm"},"#)),
        (
            "INVALID_ENUM_VALUE",
            "aios",
            "t.yaml",
            aios(", knowledge_strategy: embedded, schema_version: '2.0'"),
        ),
        ("INVALID_SEMVER", "mcp", "t.json", mcp(r#", "version": "v1.0.0-alpha.1+build.5""#)),
        (
            "INVALID_PATTERN",
            "btcp",
            "t.json",
            tool("").replace("[]", r#"["network:fetch:same-origin", "dom:interact"]"#),
        ),
        ("INVALID_PATTERN", "mcp", "t.json", mcp("").replace("\"t\"", "\"..\"")),
        ("INVALID_LENGTH", "btcp", "t.json", tool("").replace("does a thing", &long(10))),
        ("INVALID_LENGTH", "btcp", "t.json", tool("").replace("does a thing", &long(1_000))),
        (
            "INVALID_LENGTH",
            "btcp",
            "t.json",
            tool("").replace("\"t\"", &format!("\"{}\"", "t".repeat(64))),
        ),
        (
            "INVALID_LENGTH",
            "btcp",
            "m.json",
            manifest(&format!(r#""description": "{}","#, long(500))),
        ),
        ("INVALID_LENGTH", "btcp", "m.json", manifest(r#""description": "","#)),
        (
            "INVALID_LENGTH",
            "mcp",
            "t.json",
            mcp("").replace("\"t\"", &format!("\"{}\"", "t".repeat(128))),
        ),
        ("OUT_OF_RANGE", "btcp", "t.json", tool(r#", "timeout": 1000"#)),
        ("OUT_OF_RANGE", "btcp", "t.json", tool(r#", "timeout": 300000"#)),
        ("OUT_OF_RANGE", "btcp", "m.json", manifest(r#""config": {"maxConcurrent": 1e1},"#)),
        (
            "INVALID_FORMAT",
            "btcp",
            "m.json",
            manifest(
                r#""provider": {"name": "p", "url": "https://größe.example/ä?ö#ü", "contact": "a.b+c@größe.example"},"#,
            ),
        ),
        ("INVALID_SCHEMA", "mcp", "t.json", mcp(r#", "outputSchema": {}"#)),
        ("UNSUPPORTED_PROTOCOL", "btcp", "m.json", manifest("")),
        ("UNKNOWN_FIELD", "mcp", "t.json", mcp(r#", "_meta": {"anything": {"goes": 1}}"#)),
        ("MISSPELLED_FIELD", "mcp", "t.json", mcp(r#", "annotations": {"readOnlyHint": true}"#)),
        ("EXTRA_ROOT_KEY", "aios", "t.yaml", aios("")),
        ("NAMING_CONVENTION", "mcp", "t.json", mcp(r#", "namespace": "A.b-c_9""#)),
    ];
    for (code, format, name, text) in &cases {
        assert_eq!(
            findings(&read_as(format, name, text.as_str())),
            [""; 0],
            "a near miss of {code}: {text}"
        );
    }
    for code in
        codes::ALL.iter().filter(|c| !["UNKNOWN_FORMAT", "AMBIGUOUS_FORMAT"].contains(&c.name))
    {
        assert!(cases.iter().any(|case| case.0 == code.name), "no near miss of {}", code.name);
    }
}

/// Severities that depend on the value, not on the code alone.
#[test]
fn severities_depend_on_the_value() {
    let manifest = |btcp: &str| {
        format!(
            r#"{{"btcp": "{btcp}", "name": "m", "version": "1.0.0", "capabilities": [], "tools": [{{"name": "t", "description": "does a thing", "inputSchema": {{}}, "capabilities": []}}]}}"#
        )
    };
    let mcp = |more: &str| format!(r#"{{"name": "t", "inputSchema": {{}}, {more}}}"#);
    for (format, text, severities) in [
        // 1.x is supported; another major is not, a higher minor one may be.
        ("btcp", manifest("1.0"), vec![]),
        ("btcp", manifest("1.1"), vec!["warning"]),
        ("btcp", manifest("1.99999999999999999999"), vec!["warning"]),
        ("btcp", manifest("0.9"), vec!["error"]),
        ("btcp", manifest("2.0"), vec!["error"]),
        ("btcp", manifest("99.9"), vec!["error"]),
        ("mcp", mcp(r#""unheard_of": 1"#), vec!["info"]),
        ("mcp", mcp(r#""descripton": "d""#), vec!["warning"]),
        ("mcp", mcp(r#""namespace": "ns/sub""#), vec!["warning"]),
        ("mcp", mcp(r#""namespace": "a b""#), vec!["error"]),
        ("mcp", mcp(r#""icons": [{"src": "no"}]"#), vec!["warning"]),
        ("mcp", mcp(r#""title": 1"#), vec!["error"]),
    ] {
        let reading = read_as(format, "x.json", text.as_str());
        let found: Vec<&str> = reading.findings.iter().map(|f| f.severity.name()).collect();
        assert_eq!(found, severities, "{text}");
    }
}

/// Values one step beyond each bound.
#[test]
fn values_beyond_their_bounds_are_reported() {
    let tool = |description: &str, name: &str, timeout: &str| {
        format!(
            r#"{{"name": "{name}", "description": "{description}", "inputSchema": {{}}, "capabilities": [], "timeout": {timeout}}}"#
        )
    };
    let fine = "does a thing";
    let cases = [
        (tool(&"é".repeat(9), "t", "1000"), "INVALID_LENGTH /description"),
        (tool(&"é".repeat(1_001), "t", "1000"), "INVALID_LENGTH /description"),
        (tool(fine, &"t".repeat(65), "1000"), "INVALID_LENGTH /name"),
        (tool(fine, "t", "999"), "OUT_OF_RANGE /timeout"),
        (tool(fine, "t", "300001"), "OUT_OF_RANGE /timeout"),
        (tool(fine, "t", "-1000"), "OUT_OF_RANGE /timeout"),
        (tool(fine, "t", "1e18"), "OUT_OF_RANGE /timeout"),
        (tool(fine, "t", "1000.5"), "INVALID_TYPE /timeout"),
        (tool(fine, "t", "\"1000\""), "INVALID_TYPE /timeout"),
        (tool(fine, "t", "null"), "INVALID_TYPE /timeout (compat)"),
        (tool(fine, "_t", "1000"), "INVALID_PATTERN /name"),
        (tool(fine, "t\\n", "1000"), "INVALID_PATTERN /name"),
        (tool("          ", "t", "1000"), "MISSING_REQUIRED_FIELD /description"),
        (tool(fine, "", "1000"), "MISSING_REQUIRED_FIELD /name"),
    ];
    for (text, expected) in cases {
        assert_eq!(findings(&read_as("btcp", "t.json", text.as_str())), [expected], "{text}");
    }
    let mcp = |name: String| format!(r#"{{"name": "{name}", "inputSchema": {{}}}}"#);
    assert_eq!(findings(&read_as("mcp", "t.json", mcp("t".repeat(129)))), ["INVALID_LENGTH /name"]);
}

/// Findings that compat mode turns into warnings, and similar ones that stay errors.
#[test]
fn compat_mode_tolerates_exactly_these_findings() {
    let aios = |more: &str| {
        format!("tool: {{id: x, type: mcp, name: X, version: 1.0.0, description: d{more}}}\n")
    };
    let btcp = |capability: &str| {
        format!(
            "{{name: t, description: does a thing, inputSchema: {{}}, capabilities: ['{capability}']}}"
        )
    };
    let cases: Vec<(&str, String, &[&str])> = vec![
        (
            "aios",
            aios(", knowledge_strategy: declarative"),
            &["INVALID_ENUM_VALUE /tool/knowledge_strategy (compat)"],
        ),
        (
            "aios",
            aios(", knowledge_strategy: procedural"),
            &["INVALID_ENUM_VALUE /tool/knowledge_strategy"],
        ),
        ("aios", aios("}\nmore: {"), &["EXTRA_ROOT_KEY /more (compat)"]),
        (
            "aios",
            "id: x\ntype: mcp\nname: X\nversion: 1.0.0\ndescription: d\n".into(),
            &["MISSING_REQUIRED_FIELD /tool (compat)"],
        ),
        (
            "aios",
            aios(", api_complexity: {field_mappings: {f: {}}}"),
            &["MISSING_REQUIRED_FIELD /tool/api_complexity/field_mappings/f (compat)"],
        ),
        (
            "aios",
            aios(", schema_version: 2, examples: {go: [{}]}"),
            &[
                "MISSING_REQUIRED_FIELD /tool/examples/go/0/input (compat)",
                "MISSING_REQUIRED_FIELD /tool/examples/go/0/scenario (compat)",
            ],
        ),
        (
            "aios",
            aios(", executable_knowledge: {helpers: [{id: h, language: javascript, function: f}]}"),
            &["MISSING_REQUIRED_FIELD /tool/executable_knowledge/helpers/0/runtime"],
        ),
        ("btcp", btcp("dom:*"), &["INVALID_PATTERN /capabilities/0 (compat)"]),
        ("btcp", btcp("geolocation"), &["INVALID_PATTERN /capabilities/0 (compat)"]),
        ("btcp", btcp("notifications"), &["INVALID_PATTERN /capabilities/0 (compat)"]),
        ("btcp", btcp("cookies"), &["INVALID_PATTERN /capabilities/0"]),
        (
            "btcp",
            "{name: t, description: does a thing, inputSchema: {}}".into(),
            &["MISSING_REQUIRED_FIELD /capabilities"],
        ),
    ];
    for (format, text, expected) in cases {
        assert_eq!(findings(&read_as(format, "t.yaml", text.as_str())), expected, "{text}");
    }
}

/// The help of findings, and their fixes, safe and unsafe.
#[test]
fn findings_have_help_and_fixes() {
    let repaired = |format: &str, name: &str, text: &str| {
        let reading = read_as(format, name, text);
        let finding = &reading.findings[0];
        let repair = finding.repair.as_ref();
        let safe = repair.map(|r| r.safety == toolwright_source::Safety::Safe);
        (finding.message.clone(), finding.help.join("; "), repair.map(|r| r.title.clone()), safe)
    };
    let aios = |more: &str| format!("tool: {{id: x, name: X, description: d, {more}}}");
    type ExpectedRepair = Option<(&'static str, bool)>;
    let cases: &[(&str, &str, String, &str, &str, ExpectedRepair)] = &[
        (
            "aios",
            "t.yaml",
            aios("type: mpc, version: 1.0.0"),
            "`type` is `mpc`, expected `mcp`, `cli`, `local` or `meta`",
            "did you mean `mcp`?",
            Some(("write `mcp`", false)),
        ),
        (
            "aios",
            "t.yaml",
            aios("type: mcp | cli, version: 1.0.0"),
            "`type` is `mcp | cli`, expected `mcp`, `cli`, `local` or `meta`",
            "that is the notation of the manual: pick one of the words",
            None,
        ),
        (
            "aios",
            "t.yaml",
            aios("type: mcp, version: 1.0"),
            "`1.0` is not a semantic version: the patch number is missing",
            "write all three parts: `1.0.0`",
            Some(("write `1.0.0`", false)),
        ),
        (
            "mcp",
            "t.json",
            r#"{"name": "t", "inputSchema": {}, "annotations": {"destructive": true}}"#.into(),
            "unknown field `destructive`; `destructiveHint` is spelled almost like it",
            "",
            Some(("rename it to `destructiveHint`", true)),
        ),
        (
            "btcp",
            "t.yaml",
            "{name: t, description: 1234567890, inputSchema: {}, capabilities: []}".into(),
            "`description` is a number, expected a string",
            "",
            Some((r#"write "1234567890""#, false)),
        ),
    ];
    for (format, name, text, message, help, repair) in cases {
        let found = repaired(format, name, text);
        let expected = (
            (*message).to_owned(),
            (*help).to_owned(),
            repair.map(|(title, _)| title.to_owned()),
            repair.map(|(_, safe)| safe),
        );
        assert_eq!(found, expected, "{text}");
    }
}
