//! Definitions that are written and rewritten: `new`, `upgrade`, `formats`, the script of a page,
//! and versions of one tool. All through the binary.

use serde_json::{Value as Json, json};

use crate::client::faulty_server;
use crate::program::{Run, assert_page, folder, project, run, run_in};

const FORMATS: [(&str, &str, &str); 5] = [
    ("btcp-tool", "reverseText", "reverseText.json"),
    ("btcp", "text-tools", "text-tools.json"),
    ("aios", "text-tools", "text-tools.yaml"),
    ("ikigai", "reverse_text", "./reverse_text-tool"),
    ("mcp", "reverse_text", "reverse_text.json"),
];

/// Runs in `folder`, and asserts the exit code.
fn in_folder(folder: &tempfile::TempDir, args: &[&str], code: i32) -> Run {
    let run = run_in(folder.path(), args, b"");
    assert_eq!(run.code, code, "{args:?}: {}{}", run.stdout, run.stderr);
    run
}

fn text_of(folder: &tempfile::TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).expect("the file is there")
}

#[test]
fn what_new_writes_is_clean_and_its_example_passes() {
    for (format, name, file) in FORMATS {
        let folder = folder(&[]);
        let written = in_folder(&folder, &["new", format, name], 0);
        assert!(written.stderr.contains(&format!("toolwright check {file}")), "{}", written.stderr);
        assert_eq!(written.stdout, "");
        let checked = in_folder(&folder, &["check", "--fail-on", "note", "--notes", file], 0);
        assert!(checked.stdout.ends_with("1 file: nothing to report\n") || format == "ikigai");
        assert!(
            !checked.stdout.contains("note") && !checked.stdout.contains("warning"),
            "{format}"
        );
        let tested = in_folder(&folder, &["test", "--output-format", "json", file], 0);
        let last = tested.stdout.lines().last().unwrap_or_default();
        let totals: Json = serde_json::from_str(last).expect("totals");
        assert!(totals["passed"].as_u64().is_some_and(|n| n > 0), "{format}: {totals}");
        assert_eq!((&totals["failed"], &totals["skipped"]), (&json!(0), &json!(0)), "{format}");
    }
}

#[test]
fn a_new_btcp_tool_runs() {
    let folder = folder(&[]);
    in_folder(&folder, &["new", "btcp-tool", "reverseText"], 0);
    let tested = in_folder(&folder, &["test", "--run", "reverseText.json"], 0);
    assert!(tested.stdout.contains("1 passed"), "{}", tested.stdout);
    in_folder(&folder, &["new", "btcp", "words", "-o", "sub/all.json"], 0);
    in_folder(&folder, &["test", "--run", "sub/all.json"], 0);
}

#[test]
fn new_overwrites_nothing_and_refuses_names_that_do_not_fit() {
    let folder = folder(&[("reverseText.js", b"mine")]);
    let refused = in_folder(&folder, &["new", "btcp-tool", "reverseText"], 2);
    assert_eq!(
        refused.stderr,
        "toolwright: `reverseText.js` is there already, and was left as it is; `-o` names another \
         file\n"
    );
    assert_eq!(text_of(&folder, "reverseText.js"), "mine");
    assert!(!folder.path().join("reverseText.json").exists());
    let folder = self::folder(&[]);
    for (format, name, part) in [
        ("btcp-tool", "reverse-text", "does not match"),
        ("btcp", "Text", "does not match"),
        ("aios", "Text_Tools", "does not fit aios"),
        ("aios", "true", "does not fit aios"),
        ("mcp", "a b", "`.`, at most 128 characters\n"),
        ("mcp", "../up", "is not a name"),
        ("mcp", "-x", "unexpected argument"),
        ("nothing", "x", "invalid value"),
    ] {
        let refused = in_folder(&folder, &["new", format, name], 2);
        assert!(refused.stderr.contains(part), "{format} {name}: {}", refused.stderr);
    }
    // A name without a verb is advice, not a mistake.
    let other = self::folder(&[]);
    for name in ["geocode", "reprojectMap", "ocrPage"] {
        in_folder(&other, &["new", "btcp-tool", name], 0);
        in_folder(&other, &["test", &format!("{name}.json")], 0);
    }
    let refused = in_folder(&folder, &["new", "ikigai", "x", "-o", "x.sh"], 2);
    assert!(refused.stderr.contains("ends in `-tool`"), "{}", refused.stderr);
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

const VERSION_1: &str = "\
# Notes, as we have always had them.
tool:
  id: notes # kebab-case
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  knowledge_strategy: declarative # as everybody writes it
  commands: [add]
  examples:
    add:
      # The usual case.
      - input: {text: a}
        output: {ok: true}
      - input: {}
        error: {code: VALIDATION_ERROR, message: text is required}
  cli_specific: {executable: notes}
";

const VERSION_2: &str = "\
# Notes, as we have always had them.
tool:
  schema_version: 2.0
  id: notes # kebab-case
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  knowledge_strategy: embedded # as everybody writes it
  commands: [add]
  examples:
    add:
      # The usual case.
      - scenario: success
        input: {text: a}
        output: {ok: true}
      - scenario: failure_invalid_param
        input: {}
        error: {code: VALIDATION_ERROR, message: text is required}
  cli_specific: {executable: notes}
";

#[test]
fn an_upgrade_is_shown_first_and_written_on_request() {
    let folder = folder(&[("notes.yaml", VERSION_1.as_bytes())]);
    for args in [&["upgrade", "notes.yaml"][..], &["upgrade", "--diff", "notes.yaml"]] {
        let shown = in_folder(&folder, args, 0);
        assert!(shown.stdout.contains("+  schema_version: 2.0\n"), "{}", shown.stdout);
        assert!(shown.stderr.contains("`--write` writes it"), "{}", shown.stderr);
        assert_eq!(text_of(&folder, "notes.yaml"), VERSION_1);
    }
    let written = in_folder(&folder, &["upgrade", "--write", "notes.yaml"], 0);
    assert_eq!(written.stdout, "");
    assert_eq!(text_of(&folder, "notes.yaml"), VERSION_2);
    // What nobody can derive is left.
    assert!(written.stderr.contains("left to do: notes.yaml:"), "{}", written.stderr);
    assert!(written.stderr.contains("[MISSING_SCENARIO]"), "{}", written.stderr);
    let again = in_folder(&folder, &["upgrade", "--write", "notes.yaml"], 0);
    assert_eq!(again.stderr, "toolwright: 1 file: nothing to upgrade\n");
    assert_eq!(text_of(&folder, "notes.yaml"), VERSION_2);
}

#[test]
fn a_file_with_a_syntax_error_is_not_upgraded() {
    let broken = VERSION_1.replace("type: cli", "type: [cli");
    let folder = folder(&[("a.yaml", broken.as_bytes()), ("b.yaml", VERSION_1.as_bytes())]);
    let alone = in_folder(&folder, &["upgrade", "--write", "a.yaml"], 1);
    alone.assert_on_stderr("[INVALID_SYNTAX]");
    assert!(alone.stderr.ends_with("toolwright: 1 file could not be read\n"), "{}", alone.stderr);
    let both = in_folder(&folder, &["upgrade", "--write", "a.yaml", "b.yaml"], 1);
    both.assert_on_stderr("1 of 2 files upgraded; 1 file could not be read");
    assert_eq!(text_of(&folder, "a.yaml"), broken);
    assert_eq!(text_of(&folder, "b.yaml"), VERSION_2);
}

/// The text after an upgrade.
fn upgraded(name: &str, text: &str, code: i32) -> (String, Run) {
    let folder = folder(&[(name, text.as_bytes())]);
    let run = in_folder(&folder, &["upgrade", "--write", name], code);
    (text_of(&folder, name), run)
}

/// The members of a small AIOS tool, without the root key.
const MEMBERS: &str = "\
id: notes
type: cli
name: Notes
version: 1.0.0
description: Keeps notes
cli_specific: {executable: notes}
";

/// The text with all lines but blank ones moved to the right.
fn indented(text: &str, spaces: usize) -> String {
    let line = |line: &str| match line.trim() {
        "" => line.to_owned(),
        _ => " ".repeat(spaces) + line,
    };
    text.split_inclusive('\n').map(line).collect()
}

#[test]
fn aios_gets_its_root_key_and_loses_the_others() {
    let members = MEMBERS.replace(
        "Keeps notes\n",
        "|\n  Keeps notes\n\n  and finds them\ncommands:\n- add\n# The program.\n",
    );
    let without = format!("# A tool.\n{members}");
    let (text, _) = upgraded("notes.yaml", &without, 0);
    let expected = format!("# A tool.\ntool:\n  schema_version: 2.0\n{}", indented(&members, 2));
    assert_eq!(text, expected);
    let beside = format!("tool:\n{}\n# The owner.\nmetadata:\n  owner: us\n", indented(MEMBERS, 4));
    let (text, run) = upgraded("notes.yaml", &beside, 0);
    run.assert_on_stderr("move `metadata` under `tool`");
    let tail = "    # The owner.\n    metadata:\n      owner: us\n";
    assert!(text.starts_with("tool:\n    schema_version: 2.0\n"), "{text}");
    assert!(text.ends_with(tail), "{text}");
    let json = "{\"id\": \"notes\", \"type\": \"cli\", \"name\": \"Notes\", \"version\": \"1.0.0\",\n \
                \"description\": \"Keeps notes\", \"cli_specific\": {\"executable\": \"notes\"}}\n";
    let (text, _) = upgraded("notes.json", json, 0);
    let value: Json = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["tool"]["schema_version"], json!(2.0));
    assert_eq!(value["tool"]["cli_specific"]["executable"], "notes");
}

#[test]
fn an_upgrade_changes_nothing_that_worked() {
    // An example whose scenario nobody can derive would be an error in 2.0.
    let unclear = VERSION_1.replace("VALIDATION_ERROR", "ODD");
    let (text, run) = upgraded("notes.yaml", &unclear, 1);
    assert_eq!(text, unclear.replace("declarative", "embedded"));
    run.assert_on_stderr("not made: set `schema_version` to 2.0: that would be an error: ");
    // A key that would define commands is not moved under the root key.
    let commands =
        format!("tool:\n  schema_version: 2.0\n{}commands: [add, find]\n", indented(MEMBERS, 2));
    let (text, run) = upgraded("notes.yaml", &commands, 1);
    assert_eq!(text, commands);
    run.assert_on_stderr("the tools would be called in another way");
}

#[test]
fn mcp_and_btcp_get_the_words_of_today() {
    let old = r##"{"tools": [{
  "name": "read",
  "description": "Reads a pair",
  "annotations": {"title": "Read", "readOnlyHint": true},
  "icons": null,
  "inputSchema": {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
      "pair": {"type": "array", "items": [{"type": "string"}, {"type": "number"}],
               "additionalItems": false},
      "one": {"$ref": "#/definitions/one", "maxLength": 3, "description": "One"}
    },
    "definitions": {"one": {"type": "string"}},
    "dependencies": {"one": ["pair"]},
    "additionalProperties": false
  }
}]}
"##;
    let (text, run) = upgraded("tools.json", old, 0);
    let value: Json = serde_json::from_str(&text).expect("JSON");
    let tool = &value["tools"][0];
    assert_eq!(tool["title"], "Read", "{}", run.stderr);
    assert!(tool.get("icons").is_none());
    let schema = &tool["inputSchema"];
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["pair"]["items"], false);
    assert_eq!(schema["properties"]["pair"]["prefixItems"][1], json!({"type": "number"}));
    assert_eq!(
        schema["properties"]["one"],
        json!({"$ref": "#/definitions/one", "description": "One"})
    );
    assert_eq!(schema["dependentRequired"], json!({"one": ["pair"]}));
    // The layout stays.
    assert!(text.contains("\n               \"items\": false},\n"), "{text}");
    let tool = r#"{"name": "readPage", "description": "Reads the page", "capabilities": ["dom:*"],
  "inputSchema": {"type": "object"}, "tags": null, "timeout": null}"#;
    let (text, run) = upgraded("tool.json", tool, 0);
    let value: Json = serde_json::from_str(&text).expect("JSON");
    assert!(value.get("tags").is_none() && value.get("timeout").is_none(), "{text}");
    // Which capabilities are meant, only the author knows.
    assert_eq!(value["capabilities"], json!(["dom:*"]));
    run.assert_on_stderr("1 of 1 file upgraded");
}

#[test]
fn references_follow_the_schemas_of_draft_07_that_move() {
    let tool = |schema: &str| {
        format!(
            r##"{{"tools": [{{"name": "a", "description": "Does it", "inputSchema":
              {{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", {schema}}}}}]}}"##
        )
    };
    let pair = tool(
        r##""properties": {"t": {"type": "array", "items": [{"type": "integer"}]},
             "z": {"$ref": "#/properties/t/items/0"}}"##,
    );
    let (text, _) = upgraded("tools.json", &pair, 0);
    assert!(text.contains(r##""#/properties/t/prefixItems/0""##), "{text}");
    let anchor = tool(
        r##""definitions": {"a": {"$id": "#foo", "type": "string"}},
             "properties": {"x": {"$ref": "#foo"}}"##,
    );
    let (text, _) = upgraded("tools.json", &anchor, 0);
    assert!(text.contains(r#""$anchor": "foo""#), "{text}");
    // What stays is named, with the reason.
    let resource = tool(r#""definitions": {"a": {"$id": "a.json", "type": "string"}}"#);
    let (text, run) = upgraded("tools.json", &resource, 1);
    assert_eq!(text, resource);
    run.assert_on_stderr(
        "tools.json: not made: rewrite the `inputSchema` of `a` from draft-07 to 2020-12: a part of it",
    );
}

/// A tool list of one tool, whose input schema has these members.
fn with_schema(members: &str) -> String {
    format!(
        r#"{{"tools": [{{"name": "a", "description": "Does it", "inputSchema": {{{members}}}}}]}}"#
    )
}

/// Lists in `items` are found at every depth, whatever is written before them.
#[test]
fn nested_tuples_are_rewritten() {
    for dialect in ["", r#""$schema": "http://json-schema.org/draft-07/schema#", "#] {
        let nested = with_schema(&format!(
            r#"{dialect}"type": "object", "properties": {{"p": {{"items": [
  {{"items": [{{"type": "string"}}, {{"items": [{{"type": "null"}}], "additionalItems": false}}]}}
], "additionalItems": {{"items": [{{}}]}}}}}}"#
        ));
        let (text, run) = upgraded("tools.json", &nested, 0);
        let value: Json = serde_json::from_str(&text).expect("JSON");
        let outer = &value["tools"][0]["inputSchema"]["properties"]["p"];
        let inner = &outer["prefixItems"][0]["prefixItems"];
        assert_eq!(inner[1], json!({"prefixItems": [{"type": "null"}], "items": false}), "{text}");
        assert_eq!(outer["items"], json!({"prefixItems": [{}]}), "{}", run.stderr);
        // The members are renamed where they are: the layout stays.
        assert_eq!(text.lines().count(), nested.lines().count(), "{text}");
        let again = upgraded("tools.json", &text, 0).1;
        assert_eq!(again.stderr, "toolwright: 1 file: nothing to upgrade\n");
    }
}

/// Dialects that Toolwright does not run are rewritten where that is exact, and named where not.
#[test]
fn older_dialects_are_rewritten_or_named() {
    let cases = [
        (
            r##""$schema": "http://json-schema.org/draft-04/schema#", "id": "urn:a",
  "type": "object", "properties": {"n": {"minimum": 0, "exclusiveMinimum": true, "type": "integer"},
  "id": {"type": "string"}, "pair": {"items": [{"type": "string"}]}}, "dependencies": {"n": ["id"]}"##,
            json!({
                "$id": "urn:a", "type": "object",
                "properties": {
                    "n": {"exclusiveMinimum": 0, "type": "integer"}, "id": {"type": "string"},
                    "pair": {"prefixItems": [{"type": "string"}]}
                },
                "dependentRequired": {"n": ["id"]}
            }),
            "from draft-04 to 2020-12 (`1.0` counts as an integer there, but not in draft-04)",
        ),
        (
            r##""$schema": "http://json-schema.org/draft-06/schema#", "type": "object",
  "properties": {"v": {"const": 1}, "w": {"$ref": "#/properties/v", "maxLength": 2}}"##,
            json!({
                "type": "object",
                "properties": {"v": {"const": 1}, "w": {"$ref": "#/properties/v"}}
            }),
            "from draft-06 to 2020-12\n",
        ),
        (
            r##""$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object",
  "properties": {"next": {"$recursiveRef": "#"}, "t": {"items": [{}], "additionalItems": false}}"##,
            json!({
                "type": "object",
                "properties": {"next": {"$ref": "#"}, "t": {"prefixItems": [{}], "items": false}}
            }),
            "from 2019-09 to 2020-12\n",
        ),
    ];
    for (schema, mut expected, title) in cases {
        let (text, run) = upgraded("tools.json", &with_schema(schema), 0);
        let value: Json = serde_json::from_str(&text).expect("JSON");
        expected["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        assert_eq!(value["tools"][0]["inputSchema"], expected, "{}", run.stderr);
        run.assert_on_stderr(&format!("rewrite the `inputSchema` of `a` {title}"));
    }
    for (schema, reason) in [
        (
            r#""$schema": "http://json-schema.org/draft-04/schema#", "const": {}"#,
            "from draft-04 to 2020-12: `const` is not a keyword of draft-04",
        ),
        (
            r#""$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true"#,
            "from 2019-09 to 2020-12: what `$recursiveAnchor` means",
        ),
        (
            r#""$schema": "http://json-schema.org/draft-03/schema#""#,
            "from http://json-schema.org/draft-03/schema# to 2020-12: the dialect is unknown",
        ),
    ] {
        let document = with_schema(&format!(r#"{schema}, "type": "object""#));
        let (text, run) = upgraded("tools.json", &document, 1);
        assert_eq!(text, document);
        run.assert_on_stderr(&format!("not made: rewrite the `inputSchema` of `a` {reason}"));
    }
}

#[test]
fn upgrade_reports_what_it_cannot_read() {
    let folder = folder(&[("a.json", b"{\"x\": 1}"), ("b.yaml", b"tool: {id: a")]);
    let unknown = in_folder(&folder, &["upgrade", "a.json"], 1);
    assert!(unknown.stderr.contains("UNKNOWN_FORMAT"), "{}", unknown.stderr);
    let missing = in_folder(&folder, &["upgrade", "c.json"], 2);
    assert!(missing.stderr.contains("c.json"), "{}", missing.stderr);
    let stdin = in_folder(&folder, &["upgrade", "-"], 2);
    assert!(stdin.stderr.contains("name a file or a folder"), "{}", stdin.stderr);
}

#[test]
fn published_tools_of_version_1_can_be_upgraded() {
    let corpus = project().join("crates/formats/tests/corpus/aios");
    let mut upgraded = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(entry.path()).expect("a file");
        if !name.ends_with(".yaml") || !text.contains("knowledge_strategy: declarative") {
            continue;
        }
        let folder = folder(&[(&name, text.as_bytes())]);
        in_folder(&folder, &["upgrade", "--write", &name], 0);
        let after = text_of(&folder, &name);
        let undone = after.replacen("  schema_version: 2.0\n", "", 1);
        let undone = undone.replacen("strategy: embedded", "strategy: declarative", 1);
        assert_eq!(undone, text, "{name}");
        let (before, after) = (
            in_folder(&folder, &["list", "--quiet", &name], 0).stdout,
            run_in(folder.path(), &["list", "--quiet", "--compat", "-"], text.as_bytes()).stdout,
        );
        assert_eq!(before, after, "{name}");
        upgraded += 1;
    }
    assert!(upgraded > 0);
}

#[test]
fn formats_are_what_conversions_show() {
    let json = run(&["formats", "--json"]);
    let support: Json = serde_json::from_str(&json.stdout).expect("JSON");
    let rows = |key: &str| support[key].as_array().cloned().unwrap_or_default();
    assert!(rows("fields").len() > 40 && rows("keywords").len() > 50);
    let tags = |row: &&Json| row["of"] == "tool" && row["name"] == "tags";
    let tags = rows("fields").iter().find(tags).cloned().expect("tags");
    assert_eq!(
        (&tags["targets"]["mcp"], &tags["targets"]["gemini"]),
        (&json!("held"), &json!("dropped"))
    );
    assert!(rows("targets").iter().all(|target| target["source"].is_string()));
    let list = run(&["formats"]);
    assert_eq!(list.stdout.lines().count(), rows("targets").len());
    let table = run(&["formats", "openai-strict", "mcp"]);
    assert!(table.stdout.lines().any(|line| {
        line.split_whitespace().collect::<Vec<_>>() == ["uniqueItems", "widened", "held"]
    }));
    assert_eq!(run(&["formats", "nothing"]).code, 2);
    assert_page(&project().join("docs/format-support.md"), &run(&["formats", "--markdown"]).stdout);
}

#[test]
fn the_script_of_a_page_parses_and_holds_every_text() {
    let tools = json!({"tools": [
        {"name": "search", "description": "</script><!-- \u{2028}\u{2029} `${x}` \\ \" \n",
         "inputSchema": {"type": "object", "properties": {"__proto__": {"type": "string"}}}},
        {"name": "__proto__", "description": "Odd", "inputSchema": null},
    ]});
    let folder = folder(&[("tools.json", tools.to_string().as_bytes())]);
    let args = ["convert", "--format", "webmcp", "tools.json", "--to", "webmcp", "--script"];
    let converted = in_folder(&folder, &[&args[..], &["-o", "page.js"]].concat(), 0);
    assert!(converted.stderr.contains("2 tools: nothing was lost"), "{}", converted.stderr);
    let script = text_of(&folder, "page.js");
    assert!(!script.contains("</script") && !script.contains("<!--"), "{script}");
    assert!(!script.contains(['\u{2028}', '\u{2029}']), "{script}");
    assert!(script.contains("context.registerTool("), "{script}");
    assert!(script.contains(r#"["__proto__"]: {"#), "{script}");
    in_folder(&folder, &["check", "page.js"], 0);
    let other = ["convert", "--format", "webmcp", "tools.json", "--to", "mcp", "--script"];
    let refused = in_folder(&folder, &other, 2);
    assert!(refused.stderr.contains("it needs `--to webmcp`"), "{}", refused.stderr);
}

/// A tool with this version, or without one.
fn versioned(version: &str) -> Vec<u8> {
    let field = match version {
        "" => String::new(),
        version => format!(r#""version": "{version}","#),
    };
    format!(
        r#"[{{"name": "greet", "namespace": "hello", {field} "title": "Greet",
          "description": "Greets in {version}", "inputSchema": {{"type": "object",
          "additionalProperties": false}}}}]"#
    )
    .into_bytes()
}

#[test]
fn versions_of_a_tool_live_side_by_side() {
    let folder = folder(&[
        ("1.json", &versioned("1.0.0")),
        ("10.json", &versioned("v1.10.0")),
        ("9.json", &versioned("1.9.0-rc.1")),
    ]);
    let listed = in_folder(&folder, &["list", "--quiet", "."], 0).stdout;
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(listed.contains("hello:greet  mcp  [v1.10.0] Greets in v1.10.0\n"), "{listed}");
    let newest = in_folder(&folder, &["list", "--quiet", "--newest", "."], 0).stdout;
    assert_eq!(newest, "hello:greet  mcp  Greets in v1.10.0\n");
    let checked = in_folder(&folder, &["check", "."], 0);
    assert!(!checked.stdout.contains("DUPLICATE_ID"), "{}", checked.stdout);
    // An MCP tool without a server cannot be called, but it is found.
    for id in ["hello:greet", "hello:greet:1.0.0", "hello:greet:v1.9.0-rc.1", "greet"] {
        let called = in_folder(&folder, &["call", "--from", ".", id], 1);
        assert!(called.stderr.contains("NOT_RUNNABLE"), "{id}: {}", called.stderr);
    }
    let missing = in_folder(&folder, &["call", "--from", ".", "hello:greet:2.0.0"], 1);
    assert!(
        missing.stderr.contains("it has version v1.10.0, 1.9.0-rc.1, 1.0.0"),
        "{}",
        missing.stderr
    );
}

/// Two versions that take different arguments.
fn two_versions(namespace: &str) -> [Json; 2] {
    [("1.0.0", "old"), ("2.0.0", "new")].map(|(version, argument)| {
        let mut tool = json!({
            "name": "greet", "version": version, "title": "Greet",
            "description": format!("Greets in {version}"),
            "inputSchema": {"type": "object", "properties": {argument: {"type": "string"}},
                "additionalProperties": false}
        });
        if !namespace.is_empty() {
            tool["namespace"] = json!(namespace);
        }
        tool
    })
}

/// Calls with the argument of each version. `hello:greet` means the newest one.
fn assert_versions(folder: &tempfile::TempDir, source: &str, id: &str, accepted: &str) {
    for (version, argument, is_valid) in [
        (":1.0.0", "old=x", true),
        (":1.0.0", "new=x", false),
        (":2.0.0", "new=x", true),
        (":v2.0.0", "old=x", false),
        ("", "new=x", true),
    ] {
        let id = format!("{id}{version}");
        let args = ["call", "--from", source, &id, argument];
        let run = run_in(folder.path(), &args, b"");
        let wanted = if is_valid { accepted } else { "INPUT_INVALID" };
        let text = format!("{}{}", run.stdout, run.stderr);
        assert!(text.contains(wanted), "{id} {argument}: {text}");
    }
}

#[test]
fn a_call_runs_the_version_that_it_names() {
    let [old, new] = two_versions("hello");
    let bare = two_versions("");
    let file = |tools: &[&Json]| json!({ "tools": tools }).to_string();
    let script = json!({
        "initialize": {"result": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "hello", "version": "1"},
        }},
        "tools/list": {"result": {"tools": bare}},
        "tools/call": {"result": {"content": [{"type": "text", "text": "called"}]}},
    });
    let folder = folder(&[
        ("both.json", file(&[&new, &old]).as_bytes()),
        ("one/1.json", file(&[&old]).as_bytes()),
        ("one/2.json", file(&[&new]).as_bytes()),
        ("bare.json", file(&[&bare[0], &bare[1]]).as_bytes()),
        ("script.json", script.to_string().as_bytes()),
    ]);
    // An MCP tool without a server cannot be called once its arguments are valid.
    assert_versions(&folder, "both.json", "hello:greet", "NOT_RUNNABLE");
    assert_versions(&folder, "one", "hello:greet", "NOT_RUNNABLE");
    assert_versions(&folder, "bare.json", "greet", "NOT_RUNNABLE");
    let script = folder.path().join("script.json");
    let server = json!({"command": faulty_server(), "args": ["scripted", script]});
    let servers = json!({"mcpServers": {"hello": server}}).to_string();
    std::fs::write(folder.path().join(".mcp.json"), servers).expect("a file");
    assert_versions(&folder, ".mcp.json", "hello:greet", "called");
}

/// Several versions in one document have a name each, and the report tells them apart.
#[test]
fn versions_are_converted_and_called_one_by_one() {
    let [old, new] = two_versions("a");
    let source = json!({ "tools": [old, new] }).to_string();
    let folder = folder(&[("two.json", source.as_bytes())]);
    let args = ["convert", "two.json", "--to", "openai", "--session", "session.json"];
    let converted = in_folder(&folder, &args, 0);
    assert!(converted.stderr.contains(" losses in 2 tools: "), "{}", converted.stderr);
    let session: Json = serde_json::from_str(&text_of(&folder, "session.json")).expect("JSON");
    let names = session["tools"].as_array().expect("tools").iter();
    let names: Vec<(&str, &str)> = names
        .map(|tool| (tool["id"].as_str().expect("an id"), tool["name"].as_str().expect("a name")))
        .collect();
    let [("a:greet:1.0.0", old), ("a:greet:2.0.0", "a__greet")] = names[..] else {
        panic!("{names:?}");
    };
    assert!(old.starts_with("a__greet__1_0_0_"), "{old}");
    let report = in_folder(&folder, &[&args[..], &["--losses", "json"]].concat(), 0).stderr;
    let report: Json =
        serde_json::from_str(report.lines().last().unwrap_or_default()).expect("JSON");
    assert_eq!(report["names"], json!({"a:greet:1.0.0": old, "a:greet:2.0.0": "a__greet"}));
    let call = |name: &str, arguments: &str| json!({"id": name, "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls = json!([
        call(old, r#"{"old": "x"}"#),
        call("a__greet", r#"{"new": "x"}"#),
        call("a__greet", r#"{"old": "x"}"#),
    ]);
    for session in [&[][..], &["--session", "session.json"]] {
        let args = [&["call", "--as", "openai", "--from", "two.json"], session].concat();
        let run = run_in(folder.path(), &args, calls.to_string().as_bytes());
        let results: Json = serde_json::from_str(&run.stdout).expect("JSON");
        let texts: Vec<&str> = (0..3).filter_map(|n| results[n]["content"].as_str()).collect();
        let wanted = ["NOT_RUNNABLE", "NOT_RUNNABLE", "INPUT_INVALID"];
        let is_right = texts.iter().zip(wanted).all(|(text, wanted)| text.contains(wanted));
        assert!(texts.len() == 3 && is_right, "{results:#}");
    }
}

#[test]
fn the_same_version_twice_is_an_error() {
    for other in ["1.0.0", "v1.0.0", "1.0.0+build", ""] {
        let folder = folder(&[("a.json", &versioned("1.0.0")), ("b.json", &versioned(other))]);
        let checked = in_folder(&folder, &["check", "."], 1);
        assert!(checked.stdout.contains("DUPLICATE_ID"), "{other}: {}", checked.stdout);
    }
}

/// A call selects a version by its number, so a tool without one cannot be told from the others.
/// The first of the two is used, and `check` and `convert` report the other.
#[test]
fn a_tool_without_a_version_shares_its_id_with_no_version() {
    let [mut bare, versioned] = two_versions("hello");
    bare.as_object_mut().expect("an object").shift_remove("version");
    let file = |tools: [&Json; 2]| json!({ "tools": tools }).to_string();
    let folder = folder(&[
        ("bare.json", file([&bare, &versioned]).as_bytes()),
        ("last.json", file([&versioned, &bare]).as_bytes()),
    ]);
    // `old` is an argument of the tool without a version, `new` of version 2.0.0.
    for (source, used, unused) in [("bare.json", "old", "new"), ("last.json", "new", "old")] {
        let checked = in_folder(&folder, &["check", source], 1);
        let twice = "another tool has the id `hello:greet` too";
        assert!(checked.stdout.contains(twice), "{}", checked.stdout);
        let listed = in_folder(&folder, &["list", source], 1).stdout;
        assert_eq!(listed.lines().count(), 2, "{listed}");
        for (argument, wanted) in [(used, "NOT_RUNNABLE"), (unused, "INPUT_INVALID")] {
            let argument = format!("{argument}=x");
            let called =
                in_folder(&folder, &["call", "--from", source, "hello:greet", &argument], 1);
            called.assert_on_stderr(wanted);
            called.assert_on_stderr("`hello:greet` is defined twice, at ");
        }
        let converted = in_folder(&folder, &["convert", source, "--to", "openai"], 1);
        assert!(converted.stdout.is_empty(), "{}", converted.stdout);
        converted.assert_on_stderr(twice);
        let forced = in_folder(&folder, &["convert", source, "--to", "openai", "--force"], 1);
        let tools: Json = serde_json::from_str(&forced.stdout).expect("JSON");
        let names: Vec<&Json> =
            tools.as_array().expect("a list").iter().map(|it| &it["function"]["name"]).collect();
        assert_eq!(names, ["hello__greet"], "{}", forced.stderr);
        assert!(tools[0].to_string().contains(&format!("\"{used}\"")), "{tools}");
    }
    // Each is compared with itself, whatever the order.
    let compared = in_folder(&folder, &["diff", "bare.json", "last.json"], 0).stdout;
    assert!(compared.starts_with("nothing changed in 2 tools\n"), "{compared}");
}

/// What a server lists cannot be changed here, so that the same is a warning. The tool that a call
/// cannot mean is not offered to a model.
#[test]
fn a_server_with_one_name_twice_offers_the_first() {
    let [mut bare, versioned] = two_versions("");
    bare.as_object_mut().expect("an object").shift_remove("version");
    let script = json!({
        "initialize": {"result": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "hello", "version": "1"},
        }},
        "tools/list": {"result": {"tools": [bare, versioned, versioned]}},
        "tools/call": {"result": {"content": [{"type": "text", "text": "called"}]}},
    });
    let folder = folder(&[("script.json", script.to_string().as_bytes())]);
    let script = folder.path().join("script.json");
    let server = json!({"command": faulty_server(), "args": ["scripted", script]});
    let servers = json!({"mcpServers": {"hello": server}}).to_string();
    std::fs::write(folder.path().join(".mcp.json"), servers).expect("a file");
    let checked = in_folder(&folder, &["check", ".mcp.json"], 0).stdout;
    assert_eq!(checked.matches("warning[DUPLICATE_ID]").count(), 2, "{checked}");
    let args = ["convert", ".mcp.json", "--to", "openai", "--session", "session.json"];
    let converted = in_folder(&folder, &args, 0);
    let tools: Json = serde_json::from_str(&converted.stdout).expect("JSON");
    assert_eq!(tools.as_array().map(Vec::len), Some(1), "{tools:#}");
    converted.assert_on_stderr("another tool has its id, and a call of the id means the first one");
    let call = json!({"id": "c", "type": "function", "function": {
        "name": tools[0]["function"]["name"], "arguments": "{\"old\": \"x\"}"
    }});
    for session in [&[][..], &["--session", "session.json"]] {
        let args = [&["call", "--as", "openai", "--from", ".mcp.json"], session].concat();
        let run = run_in(folder.path(), &args, call.to_string().as_bytes());
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.contains("called"), "{}", run.stdout);
    }
    let compared = in_folder(&folder, &["diff", ".mcp.json", ".mcp.json"], 0).stdout;
    assert!(compared.starts_with("nothing changed in 3 tools\n"), "{compared}");
}
