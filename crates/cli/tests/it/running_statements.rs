//! What the specifications state about running tools, where no test of a feature shows it: the
//! limits of functions, isolation, the order of steps, defaults, names to display, and that
//! nothing is fetched. The rows of `tests/rules` name these tests.

use std::net::TcpListener;

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{StdioClient, configured};
use crate::knowledge::json_of;
use crate::program::{folder, project};

/// A function that uses the resources its arguments name: `mib` of memory, `rounds` of a loop, or
/// processor time until it is stopped.
const GREEDY: &str = "(args) => {
            if (args.rounds) { for (let n = 0; n < args.rounds; n++); }
            else if (args.mib) {
              const all = [];
              for (let n = 0; n < args.mib; n++) all.push('x'.repeat((1 << 20) - n));
              if (all.length !== args.mib) throw new Error('unreachable');
            } else { for (;;); }
            return { valid: true, errors: [] };
          }";

/// A local tool that repeats its input, with a greedy function of each kind.
fn greedy() -> String {
    let function = |kind: &str, more: &str| {
        format!(
            "    {kind}:
      - id: greedy
        language: javascript
        {more}
        function: |
          {GREEDY}
"
        )
    };
    format!(
        "tool:
  schema_version: 2.0
  id: desk
  type: local
  name: Desk
  version: 1.0.0
  description: Repeats its input
  commands: [repeat]
  local_specific: {{runtime: sh, entry_point: ./desk.sh}}
  executable_knowledge:
{}{}{}",
        function("helpers", "runtime: isolated_vm"),
        function("processors", "description: Runs only by hand"),
        function("validators", "validates: repeat"),
    )
}

#[test]
fn functions_have_the_limits_of_the_specification() {
    let folder = folder(&[("desk.yaml", greedy().as_bytes()), ("desk.sh", b"cat")]);
    for (kind, time) in [("--helper", "1s"), ("--processor", "1s"), ("--validator", "500ms")] {
        let eval =
            |args: &str| run(folder.path(), &["eval", "desk.yaml", kind, "greedy", "--args", args]);
        let forever = eval("{}");
        let expected = format!("TIMEOUT: the program used up its processor time of {time}");
        assert!(forever.stderr.starts_with(&expected), "{kind}: {forever:?}");
        let fits = eval(r#"{"mib": 6}"#);
        assert_eq!(fits.code, 0, "{kind}: {fits:?}");
        let too_large = eval(r#"{"mib": 9}"#);
        assert!(too_large.stderr.starts_with("MEMORY_LIMIT: "), "{kind}: {too_large:?}");
    }
    // A slow validator still decides, and says that it is slow.
    let config = "[limits]\nvalidator_timeout = 60000\n[[source]]\nname = \"desk\"\npath = \
                  \"desk.yaml\"\n";
    std::fs::write(folder.path().join("toolwright.toml"), config).expect("a file");
    let slow = run(folder.path(), &["call", "desk:repeat", "--json", "rounds:=20000000"]);
    assert_eq!(json_of(&slow)["structuredContent"], json!({"rounds": 20_000_000}), "{slow:?}");
    let is_warning = |line: &str| {
        line.starts_with("toolwright: validator `greedy` took ")
            && line.ends_with(" ms, more than 50")
    };
    assert!(slow.stderr.lines().any(is_warning), "{slow:?}");
}

/// What a body finds, and what it leaves behind for the next call.
const NOSY: &str = "export default async ({ reach }) => {
  const host = ['require', 'process', 'fetch', 'setTimeout', 'XMLHttpRequest', 'Deno', 'std', 'os']
    .filter((name) => name in globalThis || Function(`return typeof ${name}`)() !== 'undefined');
  let imported = 'nothing';
  // Written so that `check` does not see it.
  const load = Function('name', 'return import(name)');
  try { imported = typeof (await load(reach)); } catch (error) { imported = error.name; }
  globalThis.calls = (globalThis.calls ?? 0) + 1;
  Array.prototype.calls = (Array.prototype.calls ?? 0) + 1;
  Object.prototype.calls = ({}).calls ?? calls;
  return { host, imported, calls, all: [[].calls, JSON.parse('{}').calls] };
};
";

#[test]
fn code_reaches_neither_the_host_nor_another_call() {
    let manifest = json!({
        "btcp": "1.0", "name": "nosy", "version": "1.0.0", "capabilities": [],
        "tools": [{
            "name": "lookAround", "description": "Looks for a way out.", "capabilities": [],
            "inputSchema": {"type": "object", "properties": {"reach": {"type": "string"}}},
        }],
    });
    let (folder, path) = configured("[[source]]\nname = \"nosy\"\npath = \"nosy.json\"\n");
    std::fs::write(path.join("nosy.json"), manifest.to_string()).expect("a file");
    std::fs::write(path.join("lookAround.js"), NOSY).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    for reach in ["fs", "./nosy.json", "./lookAround.js", "/etc/passwd", "fs"] {
        let answer = client.call("nosy__lookAround", json!({"reach": reach}));
        let found = &answer["structuredContent"];
        assert_eq!(found["host"], json!([]), "{reach}: {answer}");
        assert!(found["imported"].as_str().is_some_and(|it| it.ends_with("Error")), "{answer}");
        // Every call begins from nothing.
        assert_eq!((&found["calls"], &found["all"]), (&json!(1), &json!([1, 1])), "{answer}");
    }
}

/// What every function of a definition does to its surroundings, and what it finds of others.
const TRACES: &str = "(args) => {
            const host = ['require', 'process', 'fetch', 'setTimeout', 'Deno', 'std', 'os']
              .filter((name) => name in globalThis);
            globalThis.calls = (globalThis.calls ?? 0) + 1;
            Object.prototype.traces = (({}).traces ?? 0) + 1;
            const found = [...host, calls, ({}).traces, args.n];
            args.n = 'changed';
            return FOUND;
          }";

/// Functions of one definition share nothing either, and what they do to their arguments stays with
/// them.
#[test]
fn functions_share_nothing_but_what_they_return() {
    let function = |id: &str, keys: &str, found: &str| {
        let code = TRACES.replace("FOUND", found);
        format!(
            "      - id: {id}\n        language: javascript\n        {keys}\n        function: |\n          {code}\n"
        )
    };
    let verdict = "{ valid: found.join() === '1,1,1', errors: [] }";
    let definition = format!(
        "tool:
  schema_version: 2.0
  id: desk
  type: local
  name: Desk
  version: 1.0.0
  description: Repeats its input
  commands: [repeat]
  local_specific: {{runtime: sh, entry_point: ./desk.sh}}
  executable_knowledge:
    validators:
{}{}    processors:
{}{}",
        function("first", "validates: repeat", verdict),
        function("second", "validates: repeat", verdict),
        function("before", "processes: repeat\n        stage: request", "{ n: 1, before: found }"),
        function("after", "processes: repeat", "{ before: data.before, after: found }"),
    );
    let (folder, path) = configured("[[source]]\nname = \"desk\"\npath = \"desk.yaml\"\n");
    std::fs::write(path.join("desk.yaml"), definition).expect("a file");
    std::fs::write(path.join("desk.sh"), "cat").expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    for _ in 0..3 {
        let answer = client.call("desk__repeat", json!({"n": 1}));
        let expected = json!({"before": [1, 1, 1], "after": [1, 1, 1]});
        assert_eq!(answer["structuredContent"], expected, "{answer}");
    }
}

/// A tool that leaves a file when it runs, behind a validator with a check.
const MARKING: &str = "tool:
  schema_version: 2.0
  id: mark
  type: local
  name: Mark
  version: 1.0.0
  description: Leaves a mark
  commands: [leave]
  local_specific: {runtime: sh, entry_point: ./mark.sh}
  executable_knowledge:
    validators:
      - id: judge
        validates: leave
        language: javascript
        checks: [{required_fields: [text]}, {field: mail, format: email}]
        function: |
          (args) => {
            if (args.text === 'throw') throw new Error('cannot judge');
            if (args.text === 'hang') for (;;);
            return { valid: args.text !== 'bad', errors: args.text === 'bad' ? ['bad text'] : [] };
          }
";

#[test]
fn a_refused_call_never_reaches_the_tool() {
    let script = b"cat > mark; echo '{\"left\": true}'";
    let folder = folder(&[("mark.yaml", MARKING.as_bytes()), ("mark.sh", script)]);
    let call = |args: &Json| {
        let args = args.to_string();
        let words = ["call", "--from", "mark.yaml", "mark:leave", "--json", "--args", &args];
        json_of(&run(folder.path(), &words))
    };
    for args in [
        json!({}),
        json!({"text": null}),
        json!({"text": "bad"}),
        json!({"text": "throw"}),
        json!({"text": "hang"}),
        json!({"text": "good", "mail": "nobody"}),
    ] {
        let refused = call(&args);
        assert_eq!(refused["error"]["code"], "VALIDATION_FAILED", "{args}: {refused}");
        assert!(!folder.path().join("mark").exists(), "{args} reached the tool");
    }
    let passed = call(&json!({"text": "good", "mail": "ann@example.com"}));
    assert_eq!(passed["structuredContent"], json!({"left": true}), "{passed}");
    assert!(folder.path().join("mark").exists());
}

#[test]
fn the_first_payload_that_fits_wins() {
    let schemas = [
        "{type: never, detection: 'missing field exists', payload_path: missing}",
        "{type: one, detection: 'one object exists', payload_path: one}",
        "{type: other, detection: 'other field', payload_path: other.data}",
    ];
    for (order, expected) in
        [([0usize, 1, 2], "first"), ([0, 2, 1], "second"), ([2, 0, 1], "second")]
    {
        let list = order.map(|n| schemas[n]).join(", ");
        let text = format!(
            "tool:
  schema_version: 2.0
  id: desk
  type: local
  name: Desk
  version: 1.0.0
  description: Repeats its input
  commands: [repeat]
  local_specific: {{runtime: sh, entry_point: ./desk.sh}}
  api_complexity:
    payload_schemas: [{list}]
  executable_knowledge:
    processors:
      - id: take
        language: javascript
        processes: repeat
        function: '(data) => ({{took: data}})'
"
        );
        let folder = folder(&[("desk.yaml", text.as_bytes()), ("desk.sh", b"cat")]);
        let args = r#"{"one": {"is": "first"}, "other": {"data": {"is": "second"}}}"#;
        let words = ["call", "--from", "desk.yaml", "desk:repeat", "--json", "--args", args];
        let answer = json_of(&run(folder.path(), &words));
        let took = json!({"took": {"is": expected}});
        assert_eq!(answer["structuredContent"], took, "{order:?}: {answer}");
    }
}

/// A manifest with one tool, which needs nothing.
fn manifest(tool: Json, config: &Json) -> String {
    let mut tool = tool;
    tool["description"] = json!("A tool for trying things.");
    tool["capabilities"] = json!([]);
    let mut manifest = json!({
        "btcp": "1.0", "name": "desk", "version": "1.0.0", "capabilities": [], "tools": [tool],
    });
    if !config.is_null() {
        manifest["config"] = config.clone();
    }
    manifest.to_string()
}

#[test]
fn the_defaults_of_a_manifest_are_those_of_the_specification() {
    let shown = |config: Json| {
        let tool = json!({"name": "getOne", "inputSchema": {"type": "object"}});
        let folder = folder(&[("desk.json", manifest(tool, &config).as_bytes())]);
        let shown = json_of(&run(folder.path(), &["show", "desk.json", "--json"]));
        shown["toolsets"][0]["limits"].clone()
    };
    let expected = json!({
        "timeoutMs": 30000, "sandbox": "worker", "usedSandbox": "process", "maxConcurrent": 3,
    });
    for config in [json!(null), json!({})] {
        assert_eq!(shown(config.clone()), expected, "{config}");
    }
    let own = shown(json!({"timeout": 45000, "sandbox": "wasm", "maxConcurrent": 7}));
    let expected = json!({
        "timeoutMs": 45000, "sandbox": "wasm", "usedSandbox": "process", "maxConcurrent": 7,
    });
    assert_eq!(own, expected);
}

#[test]
fn nothing_that_a_definition_names_is_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let refers = json!({"$ref": format!("{url}/schema.json#/$defs/a")});
    let schema = json!({"type": "object", "properties": {"a": refers}});
    let odd = json!({"$schema": format!("{url}/dialect"), "type": "object"});
    let own = json!({
        "$id": format!("{url}/own.json"), "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer"}},
    });
    let tool = |name: &str, schema: &Json| {
        json!({
            "name": name, "description": "Takes things.", "inputSchema": schema,
            "icons": [{"src": format!("{url}/icon.png")}],
        })
    };
    let tools = json!({
        "tools": [tool("refers", &schema), tool("odd", &odd), tool("own", &own)],
    });
    let mut page: Json = serde_json::from_str(&manifest(
        json!({"name": "getOne", "inputSchema": {"type": "object"}}),
        &json!(null),
    ))
    .expect("JSON");
    page["provider"] = json!({"name": "P", "url": url, "icon": format!("{url}/icon.png")});
    let folder = folder(&[
        ("tools.json", tools.to_string().as_bytes()),
        ("page.json", page.to_string().as_bytes()),
        ("getOne.js", b"export default () => 1;"),
        ("schema.json", schema.to_string().as_bytes()),
        ("instance.json", b"{\"a\": 1}"),
    ]);
    let found = run(folder.path(), &["check", "tools.json", "--output-format", "concise"]);
    for code in ["error[EXTERNAL_REF]", "error[UNSUPPORTED_DIALECT]"] {
        assert_eq!(found.stdout.matches(code).count(), 1, "{code}: {}", found.stdout);
    }
    for (words, code) in [
        (&["list", "tools.json", "page.json"][..], 1),
        (&["show", "tools.json"], 0),
        (&["show", "page.json"], 0),
        (&["check", "page.json"], 0),
        (&["convert", "tools.json", "--to", "openai"], 1),
        (&["validate", "schema.json", "instance.json"], 1),
        (&["call", "--from", "tools.json", "refers", "a:=1"], 1),
        (&["call", "--from", "page.json", "desk:getOne"], 0),
    ] {
        let done = run(folder.path(), words);
        assert_eq!(done.code, code, "{words:?}: {done:?}");
    }
    let mut client = StdioClient::start(folder.path(), &["tools.json", "page.json"], &[]);
    assert!(client.names().contains(&"own".to_owned()));
    client.hang_up();
    let asked = listener.accept().map_err(|error| error.kind());
    assert_eq!(asked.err(), Some(std::io::ErrorKind::WouldBlock), "somebody asked {url}");
}

#[test]
fn a_tool_is_displayed_by_its_title() {
    let tools = [
        json!({"name": "all", "title": "The title", "annotations": {"title": "Another"}}),
        json!({"name": "hint", "annotations": {"title": "The hint"}}),
        json!({"name": "bare"}),
    ];
    let tools = tools.map(|mut tool| {
        tool["description"] = json!("Has a name.");
        tool["inputSchema"] = json!({"type": "object", "additionalProperties": false});
        tool
    });
    let text = json!({ "tools": tools }).to_string();
    let folder = folder(&[("tools.json", text.as_bytes())]);
    let shown = run(folder.path(), &["show", "tools.json"]);
    let titles: Vec<&str> =
        shown.stdout.lines().filter(|line| line.starts_with("  title ")).collect();
    assert_eq!(titles, ["  title       The title", "  title       The hint"], "{}", shown.stdout);
    // Agents get what the definition has.
    let mut client = StdioClient::start(folder.path(), &["tools.json"], &[]);
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let listed = listed.as_array().expect("a list");
    let find = |name: &str| listed.iter().find(|it| it["name"] == name).expect("it is listed");
    assert_eq!(find("all")["title"], "The title");
    assert_eq!(find("hint")["annotations"]["title"], "The hint");
    assert_eq!(find("bare")["title"], json!(null));
}

/// The name of an AIOS tool, and the provider of a manifest, are for people.
#[test]
fn names_of_toolsets_and_providers_are_shown() {
    let tool = json!({"name": "getOne", "inputSchema": {"type": "object"}});
    let mut page: Json = serde_json::from_str(&manifest(tool, &json!(null))).expect("JSON");
    page["provider"] = json!({
        "name": "Desk Works", "url": "https://desk.example", "contact": "help@desk.example",
    });
    let notes = "tool: {id: notes-cli, type: cli, name: Notes of All, version: 1.0.0, description: \
                 Keeps notes, cli_specific: {executable: notes}}";
    let folder =
        folder(&[("page.json", page.to_string().as_bytes()), ("notes.yaml", notes.as_bytes())]);
    for (file, row, at, expected) in [
        (
            "page.json",
            "  provider    Desk Works, https://desk.example, help@desk.example",
            "/provider/name",
            "Desk Works",
        ),
        ("notes.yaml", "  title       Notes of All", "/title", "Notes of All"),
    ] {
        let shown = run(folder.path(), &["show", file]);
        assert!(shown.stdout.lines().any(|line| line == row), "{file}: {}", shown.stdout);
        let json = json_of(&run(folder.path(), &["show", file, "--json"]));
        assert_eq!(json["toolsets"][0].pointer(at), Some(&json!(expected)), "{file}: {json}");
    }
}

#[test]
fn an_input_schema_is_needed_and_an_output_schema_is_not() {
    let plain = json!({
        "name": "plain", "description": "Has no schema.", "inputSchema": null,
    });
    let none = json!({"name": "none", "description": "Has no schema."});
    let text = json!({"tools": [plain, none]}).to_string();
    let folder = crate::program::folder(&[("tools.json", text.as_bytes())]);
    for id in ["plain", "none"] {
        let called = run(folder.path(), &["call", "--from", "tools.json", id, "--json"]);
        assert_eq!(json_of(&called)["error"]["code"], "QUARANTINED", "{id}: {called:?}");
    }
    let mut client = StdioClient::start(folder.path(), &["tools.json"], &[]);
    let names = client.names();
    assert!(!names.contains(&"plain".to_owned()) && !names.contains(&"none".to_owned()));
    // Without an output schema any answer passes; with one it must match.
    let called = |schema: Json, value: &str| {
        let mut tool = json!({"name": "getOne", "inputSchema": {"type": "object"}});
        if !schema.is_null() {
            tool["outputSchema"] = schema;
        }
        let body = format!("export default () => ({value});");
        let text = manifest(tool, &json!(null));
        let folder = crate::program::folder(&[
            ("desk.json", text.as_bytes()),
            ("getOne.js", body.as_bytes()),
        ]);
        json_of(&run(folder.path(), &["call", "--from", "desk.json", "desk:getOne", "--json"]))
    };
    for value in ["7", "'text'", "null", "[1, { a: 2 }]", "{ any: 'thing' }"] {
        let passed = called(json!(null), value);
        assert_eq!(passed["error"], json!(null), "{value}: {passed}");
        let held = called(json!({"type": "object", "required": ["n"]}), value);
        assert_eq!(held["error"]["code"], "OUTPUT_INVALID", "{value}: {held}");
    }
}

#[test]
fn annotations_of_a_schema_refuse_nothing() {
    let schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "mail": {"type": "string", "format": "email"},
            "data": {
                "type": "string", "contentEncoding": "base64",
                "contentMediaType": "application/json",
            },
        },
    });
    for dialect in ["", "http://json-schema.org/draft-07/schema#"] {
        let mut schema = schema.clone();
        if !dialect.is_empty() {
            schema["$schema"] = json!(dialect);
        }
        let tool = json!({"name": "getOne", "inputSchema": schema});
        let text = manifest(tool, &json!(null));
        let folder = folder(&[
            ("desk.json", text.as_bytes()),
            ("getOne.js", b"export default (args) => args;"),
            ("schema.json", schema.to_string().as_bytes()),
            ("instance.json", br#"{"mail": "nobody", "data": "%%%"}"#),
        ]);
        let words = ["call", "--from", "desk.json", "desk:getOne", "--json", "mail=nobody"];
        let passed = json_of(&run(folder.path(), &[&words[..], &["data=%%%"]].concat()));
        assert_eq!(passed["structuredContent"]["data"], "%%%", "{passed}");
        let valid = run(folder.path(), &["validate", "schema.json", "instance.json"]);
        assert_eq!(valid.code, 0, "{valid:?}");
    }
}

/// The same keywords mean different things in the two dialects.
#[test]
fn schemas_are_read_in_their_dialect() {
    let draft = json!("http://json-schema.org/draft-07/schema#");
    let latest = json!("https://json-schema.org/draft/2020-12/schema");
    // In draft-07 a list of `items` is about places, and what is beside a `$ref` is nothing.
    let pair = json!({"items": [{"type": "string"}], "additionalItems": false});
    let bounded = json!({"$ref": "#/definitions/text", "maxLength": 2});
    let prefix = json!({"prefixItems": [{"type": "string"}], "items": false});
    for (dialect, schema, value, is_valid) in [
        (Some(&draft), &pair, json!(["a"]), true),
        (Some(&draft), &pair, json!([1]), false),
        (Some(&draft), &pair, json!(["a", "b"]), false),
        (Some(&draft), &bounded, json!("long"), true),
        (Some(&latest), &bounded, json!("long"), false),
        (None, &bounded, json!("long"), false),
        (None, &prefix, json!(["a"]), true),
        (None, &prefix, json!(["a", "b"]), false),
        (Some(&draft), &prefix, json!([]), true),
        (Some(&draft), &prefix, json!(["a"]), false),
    ] {
        let mut input = json!({
            "type": "object", "properties": {"value": schema},
            "definitions": {"text": {"type": "string"}},
        });
        if let Some(dialect) = dialect {
            input["$schema"] = dialect.clone();
        }
        let text = manifest(json!({"name": "getOne", "inputSchema": input}), &json!(null));
        let args = json!({ "value": value }).to_string();
        let folder = folder(&[
            ("desk.json", text.as_bytes()),
            ("getOne.js", b"export default (args) => args;"),
            ("schema.json", input.to_string().as_bytes()),
            ("instance.json", args.as_bytes()),
        ]);
        let valid = run(folder.path(), &["validate", "schema.json", "instance.json"]);
        assert_eq!(valid.code == 0, is_valid, "{dialect:?} {schema} {value}: {valid:?}");
        let words = ["call", "--from", "desk.json", "desk:getOne", "--json", "--args", &args];
        let called = json_of(&run(folder.path(), &words));
        let code = called["error"]["code"].as_str();
        let expected = (!is_valid).then_some("INPUT_INVALID");
        assert_eq!(code, expected, "{dialect:?} {schema} {value}: {called}");
    }
}

/// The hints, icons and metadata of the example.
#[test]
fn what_clients_need_is_passed_on() {
    let file = project().join("examples/mcp/read-file.json");
    let authored: Json =
        serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mut client = StdioClient::start(elsewhere.path(), &[&file.display().to_string()], &[]);
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let listed = listed.as_array().expect("a list");
    let tool = listed.iter().find(|it| it["name"] == "fs__read_file").expect("it is listed");
    for key in ["title", "description", "inputSchema", "outputSchema", "annotations", "icons"] {
        assert_eq!(tool[key], authored[key], "{key}: {tool}");
    }
    assert_eq!(tool["_meta"]["example.org/owner"], "platform", "{tool}");
}

#[test]
fn a_local_tool_runs_its_entry_point_with_its_runtime() {
    let definition = |runtime: &str, entry_point: &str| {
        format!(
            "tool: {{id: notes, type: local, name: Notes, version: 1.0.0, \
             description: Keeps notes, commands: [read, write], \
             local_specific: {{{runtime}entry_point: {entry_point}}}}}"
        )
    };
    let python =
        b"import json, sys\nprint(json.dumps({'py': sys.argv[1], **json.load(sys.stdin)}))";
    let shell = b"printf '{\"sh\": \"%s\"}' \"$1\"; cat >/dev/null";
    for (runtime, entry_point, expected) in [
        ("runtime: python3, ", "./scripts/notes.py", json!({"py": "write", "n": 1})),
        ("runtime: sh, ", "./scripts/notes.sh", json!({"sh": "write"})),
    ] {
        let text = definition(runtime, entry_point);
        let folder = folder(&[
            ("tools/tool.yaml", text.as_bytes()),
            ("tools/scripts/notes.py", python),
            ("tools/scripts/notes.sh", shell),
        ]);
        let words = ["call", "--from", "tools/tool.yaml", "notes:write", "--json", "n:=1"];
        let answer = json_of(&run(folder.path(), &words));
        assert_eq!(answer["structuredContent"], expected, "{answer}");
    }
}

#[test]
fn tags_are_normalised_before_they_are_searched() {
    let tags = json!(["  Web   Search ", "web search", "Größe!", "v1.2_x", ""]);
    let tool = json!({"name": "getOne", "inputSchema": {"type": "object"}, "tags": tags});
    let (folder, path) = configured("[[source]]\nname = \"desk\"\npath = \"desk.json\"\n");
    std::fs::write(path.join("desk.json"), manifest(tool, &json!(null))).expect("a file");
    std::fs::write(path.join("getOne.js"), "export default () => 1;").expect("a file");
    for (tag, is_found) in [
        ("web-search", true),
        ("Web Search", true),
        (" WEB  SEARCH", true),
        ("gre", true),
        ("GRÖSSE", false),
        ("v1.2_x", true),
        ("search", false),
    ] {
        let listed = run(folder.path(), &["list", "--tag", tag]);
        assert_eq!(listed.stdout.contains("desk:getOne"), is_found, "{tag}: {listed:?}");
    }
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let listed = client.ask("tools/list", json!({}))["result"]["tools"][0].clone();
    let expected = json!(["web-search", "gre", "v1.2_x"]);
    assert_eq!(listed["_meta"]["toolwright/tags"], expected, "{listed}");
}
