//! What definitions know, at work: validators and processors around calls, bodies of tools, examples as
//! tests, and one function at a time for its author.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use crate::client::{LONG, Lines, Web, configured, misbehave, run_with, until};
use crate::program::{Run, folder};

/// A toolset in front of the server `good`, whose `echo` is judged and processed.
pub(crate) fn board() -> String {
    r#"tool:
  schema_version: 2.0
  id: board
  type: mcp
  name: Board
  version: 1.0.0
  description: Cards on a board, in front of a server that repeats what it is told.
  commands: [echo, add, fail]
  executable_knowledge:
    helpers:
      - id: pick
        language: javascript
        runtime: isolated_vm
        function: |
          function pick({ data, fieldName, structure }) {
            if (!data.echo) return null;
            return { name: fieldName, is: structure, of: data.echo.owner };
          }
          module.exports = { pick };
    processors:
      - id: shorten
        language: javascript
        processes: echo
        stage: request
        function: |
          function shorten(data) {
            if (data.title === 'unprocessable') throw new RangeError('no such title');
            return { ...data, title: data.title.slice(0, 10) };
          }
          module.exports = { shorten };
      - id: announce
        language: javascript
        processes: echo
        function: |
          function announce(data) {
            return { said: data.title, owner: fields.owner };
          }
          module.exports = { announce };
      - id: shout
        language: javascript
        processes: echo
        function: |
          module.exports = (result) => ({ ...result, said: result.said.toUpperCase() + '!' });
    validators:
      - id: has-title
        validates: echo
        language: javascript
        checks:
          - required_fields: [title]
        function: |
          function hasTitle(args) {
            const errors = [];
            if (typeof args.args.title !== 'string') errors.push('title must be a text');
            return { valid: errors.length === 0, errors };
          }
          module.exports = { hasTitle };
      - id: has-owner
        validates: echo
        language: javascript
        function: |
          function hasOwner(args) {
            if (args.owner === 'nobody') { missing.name; }
            if (args.owner === 'forever') { for (;;) {} }
            const errors = Number.isInteger(args.owner ?? 1) ? [] : [{ message: 'owner must be a number' }];
            return { valid: errors.length === 0, errors };
          }
          module.exports = { hasOwner };
  api_complexity:
    payload_schemas:
      - type: echoed
        detection: "echo object exists"
        payload_path: echo
    field_mappings:
      owner:
        structure: number
        extraction: helpers.pick
    api_quirks:
      - quirk: owners_are_numbers
        description: "An owner has a number, not a name"
        mitigation: "Look the owner's number up first"
  anti_patterns:
    - pattern: owner_by_name
      description: "Naming the owner"
      wrong: "echo({ title: 'x', owner: 'Ann' })"
      correct: "echo({ title: 'x', owner: 17 })"
    - pattern: title_as_list
      description: "Several titles"
      wrong: "echo({ title: ['a', 'b'] })"
      correct: "echo({ title: 'a, b' })"
  mcp_specific:
    server_command: "MISBEHAVE mcp good"
    transport: stdio
"#
    .replace("MISBEHAVE", &misbehave())
}

/// A folder with the board and a configuration for it.
fn workshop() -> tempfile::TempDir {
    let (folder, path) = configured("[[source]]\nname = \"board\"\npath = \"board.yaml\"\n");
    std::fs::write(path.join("board.yaml"), board()).expect("a file");
    folder
}

fn run(folder: &Path, args: &[&str]) -> Run {
    run_with(folder, args, &[], "")
}

fn json_of(run: &Run) -> Json {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

fn call(folder: &Path, id: &str, args: Json) -> (i32, Json) {
    let run = run(folder, &["call", id, "--json", "--args", &args.to_string()]);
    (run.code, json_of(&run))
}

#[test]
fn a_good_call_is_judged_and_processed() {
    let folder = workshop();
    let (code, result) =
        call(folder.path(), "board:echo", json!({"title": "A very long title", "owner": 17}));
    assert_eq!(code, 0, "{result}");
    // Shortened on the way in, unwrapped and announced on the way out. The field is looked for in the payload,
    // which has no `echo` of its own.
    assert_eq!(result["structuredContent"], json!({"said": "A VERY LON!"}), "{result}");
    // Without a processor the answer is left alone.
    let (code, result) = call(folder.path(), "board:add", json!({"a": 1, "b": 2}));
    assert_eq!((code, &result["structuredContent"]), (0, &json!({"sum": 3})), "{result}");
    // The server says what the definition does not: the types of arguments, and further tools.
    let added = run(folder.path(), &["call", "board:add", "a=1", "b=2"]);
    assert!(added.code == 0 && added.stdout.contains("\"sum\": 3"), "{added:?}");
    let (code, result) = call(folder.path(), "board:pid", json!({}));
    assert_eq!(code, 0, "{result}");
    let text = board().replace("[echo, add, fail]", "[echo, add, fail, shout]");
    std::fs::write(folder.path().join("board.yaml"), text).expect("a file");
    let missing = run(folder.path(), &["call", "board:shout"]);
    let place = "board.yaml:8:31: error[COMMAND_NOT_ON_SERVER]: the server has no tool `shout`";
    assert!(missing.code == 1 && missing.stderr.contains(place), "{missing:?}");
    assert!(missing.stderr.contains("QUARANTINED: "), "{missing:?}");
}

/// What processors make of a result need not be what the server promises.
#[test]
fn a_result_that_is_made_here_is_not_held_against_the_server_s_schema() {
    let (folder, path) = configured("[[source]]\nname = \"board\"\npath = \"board.yaml\"\n");
    let processor = "      - id: rename\n        language: javascript\n        processes: add\n        function: |\n          module.exports = () => ({ renamed: true });\n    validators:\n";
    let text = board().replacen("    validators:\n", processor, 1);
    let text = text
        .replace("detection: \"echo object exists\"", "detection: \"sum exists\"")
        .replace("payload_path: echo", "payload_path: sum");
    std::fs::write(path.join("board.yaml"), text).expect("a file");
    let mut client = Lines::start(folder.path(), &[], &[]);
    let added = client.call("board__add", json!({"a": 1, "b": 2}));
    assert_eq!(added["structuredContent"], json!({"renamed": true}), "{added}");
    assert_eq!(added["_meta"]["toolwright/warnings"], Json::Null, "{added}");
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let add = tools
        .as_array()
        .expect("a list")
        .iter()
        .find(|tool| tool["name"] == "board__add")
        .expect("it is there");
    assert_eq!(
        (&add["outputSchema"], &add["inputSchema"]["required"]),
        (&Json::Null, &json!(["a", "b"])),
        "{add}"
    );
}

#[test]
fn a_refused_call_says_why_and_how_it_is_done() {
    let folder = workshop();
    let people = run(folder.path(), &["call", "board:echo", "title=x", "owner=Ann"]);
    assert_eq!((people.code, people.stdout.as_str()), (1, ""));
    insta::assert_snapshot!(people.stderr);
    let (code, result) = call(folder.path(), "board:echo", json!({"title": 3, "owner": "Ann"}));
    let error = &result["error"];
    assert_eq!((code, &error["code"]), (1, &json!("VALIDATION_FAILED")), "{result}");
    let errors: Vec<&Json> =
        error["errors"].as_array().expect("a list").iter().map(|e| &e["message"]).collect();
    assert_eq!(errors, ["title must be a text", "owner must be a number"], "{result}");
    assert_eq!(error["advice"][0]["correct"], "echo({ title: 'x', owner: 17 })", "{result}");
    assert_eq!(error["advice"][1]["mitigation"], "Look the owner's number up first", "{result}");
    let (_, missing) = call(folder.path(), "board:echo", json!({}));
    assert_eq!(missing["error"]["errors"][0]["message"], "title is required", "{missing}");
}

#[test]
fn a_validator_that_cannot_judge_refuses_and_its_place_is_shown() {
    let folder = workshop();
    for (owner, part) in [
        ("nobody", "validator `has-owner` threw ReferenceError: "),
        ("forever", "validator `has-owner` failed with TIMEOUT: "),
    ] {
        let (code, result) = call(folder.path(), "board:echo", json!({"title": "x", "owner": owner}));
        assert_eq!((code, &result["error"]["code"]), (1, &json!("VALIDATION_FAILED")), "{result}");
        let said = result["error"]["errors"][0]["message"].as_str().expect("a text");
        assert!(said.starts_with(part), "{said}");
        if owner == "nobody" {
            let line =
                board().lines().position(|line| line.contains("missing.name")).expect("it is there") + 1;
            let place = format!("board.yaml:{line}:");
            assert!(said.contains(&place), "{said}: expected {place}");
        }
    }
}

#[test]
fn processors_and_payloads_that_fail_have_their_own_codes() {
    let folder = workshop();
    let (code, result) = call(folder.path(), "board:echo", json!({"title": "unprocessable"}));
    assert_eq!((code, &result["error"]["code"]), (1, &json!("PROCESSOR_FAILED")), "{result}");
    let said = result["error"]["message"].as_str().expect("a text");
    assert!(said.starts_with("processor `shorten` threw RangeError: no such title ("), "{said}");
    let text = board().replace("echo object exists", "card object exists");
    std::fs::write(folder.path().join("board.yaml"), text).expect("a file");
    let (code, result) = call(folder.path(), "board:echo", json!({"title": "x"}));
    assert_eq!((code, &result["error"]["code"]), (1, &json!("PAYLOAD_UNKNOWN")), "{result}");
    let text = board().replace("payload_path: echo", "payload_path: echo.card");
    std::fs::write(folder.path().join("board.yaml"), text).expect("a file");
    let (_, result) = call(folder.path(), "board:echo", json!({"title": "x"}));
    let said = result["error"]["message"].as_str().expect("a text");
    assert_eq!(said, "the answer is a `echoed`, but there is nothing at `echo.card`", "{result}");
}

#[test]
fn fields_are_got_out_by_their_helpers() {
    let folder = workshop();
    // Without payload schemas the whole answer is the data, and the helper finds its field in it.
    let text = board()
        .replace("payload_schemas:", "payload_notes:")
        .replace("said: data.title", "said: data.echo.title");
    std::fs::write(folder.path().join("board.yaml"), text).expect("a file");
    let (code, result) = call(folder.path(), "board:echo", json!({"title": "x", "owner": 17}));
    let owner = json!({"name": "owner", "is": "number", "of": 17});
    assert_eq!((code, &result["structuredContent"]), (0, &json!({"said": "X!", "owner": owner})), "{result}");
    assert_eq!(result["_meta"]["toolwright/fields"], json!({"owner": owner}), "{result}");
}

#[test]
fn agents_are_refused_in_the_same_words() {
    let folder = workshop();
    let mut stdio = Lines::start(folder.path(), &[], &[]);
    let refused = stdio.call("board__echo", json!({"title": "x", "owner": "Ann"}));
    assert_eq!(refused["isError"], true, "{refused}");
    let text = refused["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("owner must be a number") && text.contains("owner: 17"), "{text}");
    let good = stdio.call("board__echo", json!({"title": "x", "owner": 1}));
    assert_eq!(good["structuredContent"]["said"], "X!", "{good}");
    let web = Web::start(folder.path(), &[], &[]);
    let refused = web.call("board__echo", json!({"title": "x", "owner": "Ann"}));
    assert_eq!(refused["result"]["_meta"]["toolwright/error"]["code"], "VALIDATION_FAILED", "{refused}");
}

/// A manifest of tools with bodies.
pub(crate) const SHOP: &str = r#"{
  "btcp": "1.0", "name": "shop", "version": "1.0.0", "capabilities": ["dom:read"],
  "tools": [
    {"name": "total", "description": "Adds up the prices of a basket.", "capabilities": [],
     "inputSchema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number"}}}, "required": ["prices"]},
     "outputSchema": {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]},
     "examples": [
       {"description": "two", "input": {"prices": [1, 2]}, "output": {"total": 3}},
       {"description": "wrong", "input": {"prices": [1, 2]}, "output": {"total": 4}}
     ]},
    {"name": "look", "description": "Reads the title of the page.", "capabilities": ["dom:read"], "inputSchema": {"type": "object"}},
    {"name": "bare", "description": "Has no body anywhere.", "capabilities": [], "inputSchema": {"type": "object"}}
  ]
}
"#;

const TOTAL: &str = "export default async function total({ prices }) {
  if (prices.length === 0) {
    throw new BTCPError('EMPTY_BASKET', { message: 'there is nothing in it', suggestion: 'put something in' });
  }
  if (prices[0] === -1) return { total: undefined_name };
  if (prices[0] === -2) return { total: 'much' };
  if (prices[0] === -3) for (;;) {}
  if (prices[0] === -4) return () => 1;
  const sum = await Promise.resolve(prices.reduce((a, b) => a + b));
  console.log('sum is', sum);
  return { total: sum, count: prices.length };
}
";

#[test]
fn bodies_beside_the_manifest_are_tools() {
    let shop = folder(&[("shop.json", SHOP.as_bytes()), ("total.js", TOTAL.as_bytes())]);
    let call = |args: &str, more: &[&str]| {
        let run =
            run(shop.path(), &[&["call", "--from", "shop.json", "--json", "--args", args], more].concat());
        (run.code, json_of(&run))
    };
    let (code, good) = call(r#"{"prices": [1, 2, 3]}"#, &["shop:total"]);
    assert_eq!((code, &good["structuredContent"]), (0, &json!({"total": 6, "count": 3})), "{good}");
    let (code, own) = call(r#"{"prices": []}"#, &["shop:total"]);
    let error = &own["error"];
    assert_eq!(
        (code, &error["code"], &error["toolCode"]),
        (1, &json!("TOOL_FAILED"), &json!("EMPTY_BASKET")),
        "{own}"
    );
    assert_eq!(
        (&error["message"], &error["suggestion"]),
        (&json!("there is nothing in it"), &json!("put something in"))
    );
    for (price, code, part) in [
        (-1, "TOOL_FAILED", "total.js:5:"),
        (-2, "OUTPUT_INVALID", "does not match its output schema"),
        (-4, "OUTPUT_INVALID", "NOT_JSON"),
    ] {
        let (_, failed) = call(&json!({"prices": [price]}).to_string(), &["shop:total"]);
        let error = &failed["error"];
        assert_eq!(error["code"], code, "{failed}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(part)), "{part}: {failed}");
    }
    let (_, late) = call(r#"{"prices": [-3]}"#, &["shop:total", "--timeout", "300"]);
    assert_eq!(late["error"]["code"], "TIMEOUT", "{late}");
    let (_, page) = call("{}", &["shop:look"]);
    assert_eq!(page["error"]["code"], "BROWSER_REQUIRED", "{page}");
    let (_, bare) = call("{}", &["shop:bare"]);
    assert_eq!(bare["error"]["code"], "NOT_RUNNABLE", "{bare}");
    let said = bare["error"]["message"].as_str().expect("a text");
    assert!(said.starts_with("`bare` has no body: `") && said.ends_with("bare.js` does not exist"), "{said}");
}

#[test]
fn bodies_may_be_elsewhere_and_change() {
    let (folder, path) =
        configured("[[source]]\nname = \"shop\"\npath = \"shop.json\"\nimplementations = \"bodies\"\n");
    std::fs::write(path.join("shop.json"), SHOP).expect("a file");
    std::fs::create_dir(path.join("bodies")).expect("a folder");
    std::fs::write(path.join("bodies/total.js"), "export default () => ({ total: 1 });").expect("a file");
    let mut client = Lines::start(folder.path(), &[], &[]);
    assert_eq!(client.call("shop__total", json!({"prices": []}))["structuredContent"], json!({"total": 1}));
    std::fs::write(path.join("bodies/total.js"), "export default () => ({ total: 22 });").expect("a file");
    until("the new body", LONG, || {
        let answer = client.call("shop__total", json!({"prices": []}));
        (answer["structuredContent"] == json!({"total": 22})).then_some(())
    });
    std::fs::write(path.join("bodies/bare.js"), "export default () => 'here';").expect("a file");
    until("the body that was missing", LONG, || {
        let answer = client.call("shop__bare", json!({}));
        (answer["content"][0]["text"] == "here").then_some(())
    });
}

#[test]
pub(crate) fn without_a_worker_nothing_runs_and_that_is_said() {
    let shop = folder(&[("shop.json", SHOP.as_bytes()), ("total.js", TOTAL.as_bytes())]);
    let copy = shop.path().join("toolwright");
    std::fs::copy(env!("CARGO_BIN_EXE_toolwright"), &copy).expect("a copy");
    let mut command = Command::new(&copy);
    command.args(["serve", "--from", "shop.json"]).current_dir(shop.path()).env_clear();
    let mut client = Lines::of(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    client.shake_hands("2025-06-18");
    client.names();
    std::fs::remove_file(&copy).expect("ours");
    let failed = client.call("shop__total", json!({"prices": [1]}));
    assert_eq!(failed["_meta"]["toolwright/error"]["code"], "SANDBOX_FAILED", "{failed}");
}

#[test]
fn examples_of_mcp_tools_are_tests() {
    let list = json!({"tools": [{
        "name": "add",
        "description": "Adds two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
            "examples": [{"a": 1, "b": 2}, {"a": 1}]
        },
        "outputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]},
        "examples": [
            {"description": "Two and two", "input": {"a": 2, "b": 2}, "output": {"sum": 4}},
            {"input": {"a": 2, "b": 2}, "output": {"total": 4}}
        ]
    }]});
    let text = serde_json::to_string_pretty(&list).expect("JSON");
    let folder = folder(&[("list.json", text.as_bytes())]);
    let run = run(folder.path(), &["test", "list.json", "--format", "mcp", "--output-format", "json"]);
    let lines: Vec<Json> = run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let told: Vec<(&str, &str)> = lines
        .iter()
        .take(4)
        .map(|line| (line["example"].as_str().expect("a text"), line["status"].as_str().expect("a text")))
        .collect();
    let expected = [
        ("Two and two", "passed"),
        ("example 2", "failed"),
        ("example 1 of its schema", "passed"),
        ("example 2 of its schema", "failed"),
    ];
    assert_eq!((run.code, told.as_slice()), (1, &expected[..]), "{}", run.stdout);
    let place = text.lines().position(|line| line.contains("\"total\"")).expect("it is there");
    let line = lines[1]["line"].as_u64().expect("a number") as usize;
    assert!(line < place && place < line + 6, "{line}: {}", run.stdout);
}

#[test]
fn examples_are_tests() {
    let folder = folder(&[
        ("shop.json", SHOP.as_bytes()),
        ("total.js", TOTAL.as_bytes()),
        ("board.yaml", board().as_bytes()),
    ]);
    let good = "  examples:\n    echo:\n      - scenario: success\n        input: { title: x }\n        output: {}\n      - scenario: failure_invalid_param\n        description: No title\n        input: {}\n        error: { message: title is required }\n      - scenario: failure_api_error\n        input: { title: x }\n        error: { message: The server is down }\n    add:\n      - scenario: failure_invalid_param\n        input: {}\n        error: {}\n      - scenario: success\n        input: { a: 1, b: 2 }\n        output: { sum: 3 }\n";
    let bad = "      - scenario: edge_case\n        input: { title: 3 }\n        output: {}\n      - scenario: failure_other\n        input: { title: 3 }\n        error: { message: something else }\n    walk:\n      - step: 1\n";
    std::fs::write(folder.path().join("board.yaml"), board() + good).expect("a file");
    let test = |args: &[&str]| run(folder.path(), &[&["test"], args].concat());
    let passed = test(&["board.yaml"]);
    assert_eq!(passed.code, 0, "{passed:?}");
    assert!(passed.stdout.contains("5 examples: 4 passed, 0 failed, 1 skipped ("), "{}", passed.stdout);
    let text =
        (board() + good).replace("    add:\n      - scenario", &format!("{bad}    add:\n      - scenario"));
    std::fs::write(folder.path().join("board.yaml"), text).expect("a file");
    let failed = test(&["board.yaml", "--output-format", "json"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    let lines: Vec<Json> =
        failed.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let told: Vec<(&str, &str)> = lines[..lines.len() - 1]
        .iter()
        .map(|line| {
            (line["status"].as_str().expect("a text"), line["messages"][0].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("passed", ""),
            ("passed", ""),
            ("passed", ""),
            ("failed", "the validators should pass it, and say:"),
            ("failed", "expected an error with `something else` in it, the validators say:"),
            ("skipped", "`add` has no validator that could refuse it"),
            ("passed", ""),
            ("skipped", "it has no `scenario`"),
        ]
    );
    let sum = lines.last().expect("a sum");
    assert_eq!((&sum["passed"], &sum["failed"], &sum["skipped"]), (&json!(4), &json!(2), &json!(2)), "{sum}");
    // What tools answer is asked only with `--run`.
    let quiet = test(&["shop.json"]);
    assert!(quiet.code == 0 && quiet.stdout.contains("2 examples: 2 passed"), "{quiet:?}");
    let called = test(&["shop.json", "--run"]);
    assert_eq!(called.code, 1, "{called:?}");
    assert!(called.stdout.contains("`/total` is 3, expected 4"), "{}", called.stdout);
    let exact = test(&["shop.json", "--run", "--exact", "--filter", "two"]);
    assert!(
        exact.code == 1 && exact.stdout.contains("`/count` is in the answer and not expected"),
        "{exact:?}"
    );
    let junit = test(&["shop.json", "--run", "--output-format", "junit", "--jobs", "1"]);
    let case = "<testcase classname=\"shop:total\" name=\"wrong\" file=\"shop.json\" line=";
    assert!(junit.code == 1 && junit.stdout.contains(case), "{}", junit.stdout);
    assert!(junit.stdout.contains("<failure message=\"`/total` is 3, expected 4\">"), "{}", junit.stdout);
    // What cannot be run is one sentence and exit 2.
    for (args, part) in [
        (&["shop.json", "--exact"][..], "only `--run`"),
        (&["-", "--run"], "name the file"),
        (&["shop.json", "--filter", "no such"], "no example of 2 has a name"),
        (&["no-such-file.yaml"], "no-such-file.yaml"),
        (&[], "there is nothing to test"),
        (&["shop.json", "--jobs", "0"], "from 1 to 1024"),
    ] {
        let run = test(args);
        assert!(run.code == 2 && run.stderr.contains(part), "{args:?}: {run:?}");
    }
}

#[test]
fn one_function_for_its_author() {
    let folder = workshop();
    let eval = |args: &[&str]| run(folder.path(), &[&["eval", "board.yaml"], args].concat());
    let judged = eval(&["--validator", "has-title", "--args", "{}"]);
    // It worked, though it refuses.
    assert_eq!(judged.code, 0, "{judged:?}");
    let value: Json = serde_json::from_str(&judged.stdout).expect("JSON");
    assert_eq!(value, json!({"valid": false, "errors": ["title must be a text"]}));
    assert!(judged.stderr.starts_with("took "), "{judged:?}");
    let all = eval(&["--processor", "shout", "--args", r#"{"said": "a"}"#, "--json"]);
    let all = json_of(&all);
    assert_eq!(all["result"], json!({"said": "A!"}), "{all}");
    assert!(all["cpuMs"].is_number() && all["memoryBytes"].is_number() && all["log"] == json!([]), "{all}");
    let helped =
        eval(&["--helper", "pick", "--args", r#"{"data": {"echo": {"owner": 1}}, "fieldName": "f"}"#]);
    assert_eq!(helped.code, 0, "{helped:?}");
    for (args, part) in [
        (&["--validator", "has-titel"][..], "did you mean `has-title`?"),
        (&["--helper", "nothing-alike"], "it has `pick`"),
        (&["--validator", "has-title", "--args", "{"], "`--args` is not JSON"),
        (&["--helper", "pick", "--validator", "has-title"], "cannot be used with"),
        (&[], "required"),
    ] {
        let run = eval(args);
        assert!(run.code == 2 && run.stderr.contains(part), "{args:?}: {run:?}");
    }
    let none = run(folder.path(), &["eval", "toolwright.toml", "--helper", "x"]);
    assert_eq!(none.code, 2, "{none:?}");
}

#[test]
fn every_way_a_function_fails_has_its_code() {
    let function = |id: &str, body: &str| {
        let body: String = body.lines().map(|line| format!("          {line}\n")).collect();
        format!(
            "      - id: {id}\n        language: javascript\n        runtime: isolated_vm\n        function: |\n{body}"
        )
    };
    let cases = [
        ("timeout", "for (;;) {}", "TIMEOUT"),
        (
            "memory",
            "module.exports = () => { const all = []; for (;;) all.push('x'.repeat(1000) + all.length); }",
            "MEMORY_LIMIT",
        ),
        ("stack", "module.exports = function f() { return f() + 1; }", "STACK_OVERFLOW"),
        ("threw", "// a comment\nmodule.exports = () => { throw new TypeError('no'); }", "THREW"),
        ("threw-text", "module.exports = () => { throw 'only a text'; }", "THREW"),
        ("not-json", "module.exports = () => 10n;", "NOT_JSON"),
        ("never", "module.exports = () => new Promise(() => {});", "NOT_JSON"),
        ("undefined", "module.exports = () => undefined;", "NOT_JSON"),
        ("no-entry", "const a = 1;", "NO_ENTRY_POINT"),
        ("syntax", "function ( {", "SYNTAX"),
        ("wants", "module.exports = () => require('fs');", "THREW"),
        ("flood", "module.exports = () => 'x'.repeat(2e6);", "OUTPUT_TOO_LARGE"),
    ];
    let helpers: String = cases.iter().map(|(id, body, _)| function(id, body)).collect();
    let text = format!(
        "tool:\n  schema_version: 2.0\n  id: bad\n  type: local\n  name: Bad\n  version: 1.0.0\n  description: Functions that fail.\n  executable_knowledge:\n    helpers:\n{helpers}"
    );
    let folder = folder(&[("bad.yaml", text.as_bytes())]);
    for (id, body, code) in cases {
        let people = run(folder.path(), &["eval", "bad.yaml", "--helper", id]);
        assert_eq!((people.code, people.stdout.as_str()), (1, ""), "{id}: {people:?}");
        assert!(people.stderr.starts_with(&format!("{code}: ")), "{id}: {people:?}");
        let programs = run(folder.path(), &["eval", "bad.yaml", "--helper", id, "--json"]);
        let error = &json_of(&programs)["error"];
        assert_eq!(error["code"], code, "{id}: {error}");
        if id == "threw" {
            let first =
                text.lines().position(|line| line.contains("new TypeError")).expect("it is there") + 1;
            assert_eq!(error["name"], "TypeError");
            let at = error["at"].as_str().expect("a place");
            assert!(at.starts_with(&format!("bad.yaml:{first}:")), "{at} in {body}");
        }
    }
}

/// A worker that is killed from outside costs its call, and that is said.
#[test]
fn a_worker_that_is_killed_has_its_code() {
    let text = "tool:\n  schema_version: 2.0\n  id: slow\n  type: local\n  name: Slow\n  version: 1.0.0\n  description: Takes its time.\n  executable_knowledge:\n    helpers:\n      - id: endless\n        language: javascript\n        runtime: isolated_vm\n        function: for (;;);\n";
    let (folder, path) = configured("[limits]\nfunction_timeout = 60000\n");
    std::fs::write(path.join("slow.yaml"), text).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(["eval", "slow.yaml", "--helper", "endless", "--json"]).current_dir(folder.path());
    let eval = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let worker = until("its worker", LONG, || {
        let children = format!("/proc/{0}/task/{0}/children", eval.id());
        let of_threads = std::fs::read_dir(format!("/proc/{}/task", eval.id())).ok()?.flatten();
        let all = of_threads.map(|thread| thread.path().join("children")).chain([children.into()]);
        let text: String = all.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
        // It is at work when it has used up some time.
        let busy = |pid: &&str| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.split(' ').nth(13).and_then(|ticks| ticks.parse::<u64>().ok()).is_some_and(|ticks| ticks > 5)
        };
        text.split_whitespace().find(busy).map(str::to_owned)
    });
    assert!(Command::new("/bin/kill").args(["-9", &worker]).status().expect("it starts").success());
    let output = eval.wait_with_output().expect("it ends");
    let json: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((output.status.code(), &json["error"]["code"]), (Some(1), &json!("WORKER_DIED")), "{json}");
}

/// Every function of others' definitions runs: it gives a result, or stumbles over being given nothing.
#[test]
fn real_functions_run() {
    let Some(shared) = crate::wild::shared("real_functions") else { return };
    let corpus = Path::new(&shared).join("corpus/aios");
    let shown = run(&corpus, &["show", "--json", "--compat", "."]);
    let shown: Json = serde_json::from_str(&shown.stdout).expect("JSON");
    let (mut results, mut tried) = (0, 0);
    for toolset in shown["toolsets"].as_array().expect("a list") {
        for (kind, flag) in
            [("helpers", "--helper"), ("processors", "--processor"), ("validators", "--validator")]
        {
            for function in toolset["knowledge"][kind].as_array().expect("a list") {
                let (file, id) =
                    (toolset["file"].as_str().expect("a text"), function["id"].as_str().expect("a text"));
                let eval = run(&corpus, &["eval", file, flag, id, "--json"]);
                let code = json_of(&eval)["error"]["code"].as_str().map(str::to_owned);
                let fine = eval.code == 0
                    || code.as_deref().is_some_and(|code| ["THREW", "NOT_JSON"].contains(&code));
                assert!(fine, "{file}, {id}: {eval:?}");
                tried += 1;
                results += u32::from(eval.code == 0);
            }
        }
    }
    assert!(tried >= 30 && results * 2 > tried, "{results} of {tried}");
}

/// The definitions of others, when they are at hand.
#[test]
fn real_definitions_pass_and_fail_as_they_must() {
    let Some(shared) = crate::wild::shared("examples_as_tests") else { return };
    let corpus = Path::new(&shared).join("corpus/aios");
    let run = run(&corpus, &["test", ".", "--compat", "--output-format", "json"]);
    let sum: Json = serde_json::from_str(run.stdout.lines().last().expect("a sum")).expect("JSON");
    assert_eq!(
        (&sum["passed"], &sum["failed"], &sum["skipped"]),
        (&json!(16), &json!(3), &json!(2)),
        "{}",
        run.stdout
    );
    assert_eq!(run.code, 1);
}

/// A toolset whose command `echo` has one validator with this code, in front of the server `good`.
fn judged_by(code: &str, more: &str) -> String {
    let code: String = code.lines().map(|line| format!("          {line}\n")).collect();
    format!(
        "tool:\n  schema_version: 2.0\n  id: odd\n  type: mcp\n  name: Odd\n  version: 1.0.0\n  description: For trying validators.\n  commands: [echo]\n  mcp_specific:\n    server_command: \"{} mcp good\"\n    transport: stdio\n  executable_knowledge:\n    validators:\n      - id: judge\n        validates: echo\n        language: javascript\n        function: |\n{code}{more}",
        misbehave()
    )
}

#[test]
fn answers_that_are_no_verdicts_refuse() {
    let text = judged_by("module.exports = (args) => args.answer;", "");
    let folder = folder(&[("odd.yaml", text.as_bytes())]);
    for (answer, expected) in [
        (json!({"valid": true, "errors": []}), None),
        (json!({"valid": true, "errors": "bad title"}), Some("bad title")),
        (json!({"valid": true, "errors": ["a"]}), Some("a")),
        (json!({"valid": false}), Some("validator `judge` refuses the arguments and does not say why")),
        (
            json!(5),
            Some(
                "INVALID_VALIDATOR_RESULT: validator `judge` answered `5`, expected { valid: boolean, errors: string[] }",
            ),
        ),
    ] {
        let args = json!({"answer": answer}).to_string();
        let run = run(folder.path(), &["call", "odd:echo", "--from", "odd.yaml", "--json", "--args", &args]);
        let said = json_of(&run);
        assert_eq!(said["error"]["errors"][0]["message"].as_str(), expected, "{answer}: {said}");
        assert_eq!(run.code, i32::from(expected.is_some()), "{answer}");
    }
    let eval =
        run(folder.path(), &["eval", "odd.yaml", "--validator", "judge", "--args", r#"{"answer": 5}"#]);
    assert!(eval.code == 1 && eval.stderr.starts_with("INVALID_VALIDATOR_RESULT: "), "{eval:?}");
}

#[test]
fn a_broken_validator_shows_nothing_about_an_example() {
    let example = "  examples:\n    echo:\n      - scenario: failure_invalid_param\n        input: {}\n        error: { message: validator }\n";
    // One that throws what the example expects has refused it.
    let throws = "module.exports = () => { throw new Error('no validator likes this'); };";
    let folder_of = |code: &str| folder(&[("odd.yaml", judged_by(code, example).as_bytes())]);
    let run_of = |code: &str| run(folder_of(code).path(), &["test", "odd.yaml"]);
    assert_eq!(run_of(throws).code, 0, "{:?}", run_of(throws));
    for code in
        ["function ( {", "module.exports = () => nope.x;", "const x = 1;", "module.exports = () => 5;"]
    {
        let folder = folder(&[("odd.yaml", judged_by(code, example).as_bytes())]);
        let run = run(folder.path(), &["test", "odd.yaml"]);
        assert_eq!(run.code, 1, "{code}: {run:?}");
        assert!(run.stdout.contains("a validator could not judge it:"), "{code}: {}", run.stdout);
    }
}

#[test]
fn what_cannot_be_read_is_not_green() {
    let not_a_list = judged_by(
        "module.exports = () => ({ valid: true, errors: [] });",
        "  examples: { echo: { scenario: success } }\n",
    );
    let folder = folder(&[
        ("broken.yaml", b"tool:\n  id: [broken\n"),
        ("unknown.yaml", b"hello: 1\n"),
        ("list.yaml", not_a_list.as_bytes()),
        ("bad/toolwright.toml", b"garbage [[[\n"),
    ]);
    for file in ["broken.yaml", "unknown.yaml", "list.yaml"] {
        let run = run(folder.path(), &["test", file]);
        assert!(run.code == 2 && run.stderr.contains(file), "{file}: {run:?}");
    }
    let run = run(&folder.path().join("bad"), &["test"]);
    assert!(run.code != 0 && run.stderr.contains("toolwright.toml"), "{run:?}");
}

#[test]
fn examples_with_holes() {
    let passes = "module.exports = () => ({ valid: true, errors: [] });";
    let blank = "  examples:\n    echo:\n      - scenario: ''\n        input: {}\n        output: {}\n";
    let unread =
        "  examples:\n    echo:\n      - scenario: failure_other\n        input: {}\n        error: a text\n";
    for (example, code, part) in [(blank, 0, "1 skipped"), (unread, 1, "1 failed")] {
        let folder = folder(&[("odd.yaml", judged_by(passes, example).as_bytes())]);
        let run = run(folder.path(), &["test", "odd.yaml"]);
        assert!(run.code == code && run.stdout.contains(part), "{run:?}");
    }
}

#[test]
fn what_is_too_much_to_compile_is_tried_once() {
    let names: Vec<String> = (0..100_000).map(|n| format!("a{n}")).collect();
    let bomb = judged_by(&format!("var {}; module.exports = () => 1;", names.join(",")), "");
    let (folder, path) = configured("[[source]]\nname = \"odd\"\npath = \"odd.yaml\"\n");
    std::fs::write(path.join("odd.yaml"), bomb).expect("a file");
    let mut client = Lines::start(folder.path(), &[], &[]);
    let refused = client.call("odd__echo", json!({}));
    let said = refused["content"][0]["text"].as_str().expect("a text");
    assert!(said.contains("TIMEOUT: it is too much to compile"), "{said}");
    assert!(said.contains("the definition is at fault, not the call: mend the validator"), "{said}");
    let began = std::time::Instant::now();
    assert_eq!(client.call("odd__echo", json!({})), refused);
    assert!(began.elapsed() < std::time::Duration::from_secs(1), "{:?}", began.elapsed());
}

#[test]
fn texts_and_values_are_not_the_same_answer() {
    let tool = json!({"name": "same", "description": "Answers what it is given.", "capabilities": [],
        "inputSchema": {"type": "object"}, "examples": [
            {"input": {"v": "5"}, "output": 5}, {"input": {"v": 5}, "output": 5}, {"input": {"v": "5"}, "output": "5"}]});
    let manifest =
        json!({"btcp": "1.0", "name": "b", "version": "1.0.0", "capabilities": [], "tools": [tool]});
    let folder =
        folder(&[("b.json", manifest.to_string().as_bytes()), ("same.js", b"export default ({ v }) => v;")]);
    let run = run(folder.path(), &["test", "b.json", "--run"]);
    assert!(run.stdout.contains("3 examples: 2 passed, 1 failed"), "{run:?}");
    assert!(run.stdout.contains("the answer is \"5\", expected 5"), "{run:?}");
}

#[test]
fn limits_that_cannot_be_read_are_not_looser_ones() {
    let (folder, path) =
        configured("[[source]]\nname = \"odd\"\npath = \"odd.yaml\"\n[limits]\nvalidator_timeout = \"x\"\n");
    let passes = judged_by("module.exports = () => ({ valid: true, errors: [] });", "");
    std::fs::write(path.join("odd.yaml"), passes).expect("a file");
    for args in [&["call", "odd:echo"][..], &["serve"], &["test", "--run"]] {
        let run = run(folder.path(), args);
        assert!(run.code == 2 && run.stderr.contains("validator_timeout"), "{args:?}: {run:?}");
    }
}

#[test]
fn a_lesson_needs_no_functions_to_be_told() {
    let text = format!(
        "tool:\n  schema_version: 2.0\n  id: odd\n  type: mcp\n  name: Odd\n  version: 1.0.0\n  description: For trying lessons.\n  \
         tools:\n    - id: echo\n      description: Says it again\n      inputSchema: {{ type: object, required: [colour] }}\n  \
         mcp_specific:\n    server_command: \"{} mcp good\"\n    transport: stdio\n  \
         anti_patterns:\n    - pattern: no_colour\n      description: Forgetting the colour\n      wrong: await client.echo({{}})\n      correct: \"echo({{ colour: 'red' }})\"\n",
        misbehave()
    );
    let folder = folder(&[("odd.yaml", text.as_bytes())]);
    let run = run(folder.path(), &["call", "odd:echo", "--from", "odd.yaml"]);
    assert!(run.code == 1 && run.stderr.contains("INPUT_INVALID"), "{run:?}");
    assert!(run.stderr.contains("echo({ colour: 'red' })"), "{run:?}");
}

#[test]
fn bodies_that_are_none() {
    let manifest = |names: &[&str]| {
        let tool = |name: &&str| json!({"name": name, "description": "A tool for trying bodies.", "capabilities": [], "inputSchema": {"type": "object"}});
        let tools: Vec<Json> = names.iter().map(tool).collect();
        json!({"btcp": "1.0", "name": "b", "version": "1.0.0", "capabilities": [], "tools": tools})
            .to_string()
    };
    let bodies = [
        ("torn", "export default (", "NOT_RUNNABLE", "SYNTAX"),
        ("wants", "import fs from 'fs'; export default () => 1;", "NOT_RUNNABLE", "SYNTAX"),
        ("empty", "const a = 1;", "NOT_RUNNABLE", "NO_ENTRY_POINT"),
        ("value", "export default 7;", "NOT_RUNNABLE", "NO_ENTRY_POINT"),
        ("text", "export default () => { throw 'a text'; };", "TOOL_FAILED", "a text"),
        (
            "sub",
            "class Mine extends BTCPError { constructor() { super('MINE', { message: 'mine' }); this.name = 'Mine'; } }\nexport default () => { throw new Mine(); };",
            "TOOL_FAILED",
            "mine",
        ),
        (
            "short",
            "export default () => { throw new BTCPError('SHORT', 'only a text'); };",
            "TOOL_FAILED",
            "only a text",
        ),
        (
            "long",
            "export default () => { throw new BTCPError('LONG', { message: 'm', suggestion: 'again '.repeat(4000) }); };",
            "TOOL_FAILED",
            "m",
        ),
        (
            "bare",
            "export default () => { throw new BTCPError('NO_WORDS', null); };",
            "TOOL_FAILED",
            "NO_WORDS",
        ),
    ];
    let names: Vec<&str> = bodies.iter().map(|(name, ..)| *name).chain(["pipe", "latin", "huge"]).collect();
    let folder = folder(&[("b.json", manifest(&names).as_bytes())]);
    for (name, body, ..) in bodies {
        std::fs::write(folder.path().join(format!("{name}.js")), body).expect("a file");
    }
    // A body that is a pipe would be waited for.
    let pipe = folder.path().join("pipe.js");
    assert!(Command::new("/usr/bin/mkfifo").arg(&pipe).status().expect("it starts").success());
    std::fs::write(folder.path().join("latin.js"), b"export default () => '\xe9';").expect("a file");
    std::fs::write(folder.path().join("huge.js"), vec![b' '; 2 << 20]).expect("a file");
    let unread = [
        ("pipe", "", "NOT_RUNNABLE", "pipe.js` is no file"),
        ("latin", "", "NOT_RUNNABLE", "latin.js` is not UTF-8 (byte 22 is wrong)"),
        ("huge", "", "NOT_RUNNABLE", "huge.js` is larger than 1024 KiB"),
    ];
    for (name, _, code, part) in bodies.into_iter().chain(unread) {
        let run = run(folder.path(), &["call", &format!("b:{name}"), "--from", "b.json", "--json"]);
        let error = &json_of(&run)["error"];
        assert_eq!((run.code, &error["code"]), (1, &json!(code)), "{name}: {error}");
        let message = error["message"].as_str().expect("a text");
        assert!(message.contains(part), "{name}: {message}");
        let own = match name {
            "sub" => json!("MINE"),
            "bare" => json!("NO_WORDS"),
            "short" => json!("SHORT"),
            "long" => json!("LONG"),
            _ => Json::Null,
        };
        assert_eq!(error["toolCode"], own, "{name}: {error}");
    }
}

#[test]
fn a_schema_that_refuses_is_explained_by_what_was_learnt() {
    let typed = board().replace(
        "  commands: [echo, add, fail]\n",
        "  tools:\n    - id: echo\n      inputSchema: { type: object, properties: { owner: { type: integer } } }\n",
    );
    let folder = folder(&[("board.yaml", typed.as_bytes())]);
    let run = run(
        folder.path(),
        &[
            "call",
            "board:echo",
            "--from",
            "board.yaml",
            "--json",
            "--args",
            r#"{"title": "x", "owner": "Ann"}"#,
        ],
    );
    let error = &json_of(&run)["error"];
    assert_eq!(error["code"], "INPUT_INVALID", "{error}");
    assert_eq!(error["advice"][0]["correct"], "echo({ title: 'x', owner: 17 })", "{error}");
}

#[test]
fn an_odd_answer_of_a_server_breaks_nothing() {
    let server = r#"
while read -r line; do
  case "$line" in *'"id":'*) ;; *) continue ;; esac
  id=${line#*'"id":'}; id=${id%%[,\}]*}
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}' ;;
    *) result='{"content":[],"structuredContent":{"echo":{"owner":1}},"_meta":[1]}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;
    let text = board()
        .replace(&format!("{} mcp good", misbehave()), "/bin/sh server.sh")
        .replace("processes: echo", "description: unused")
        .replace("payload_schemas:", "payload_notes:");
    let folder = folder(&[("board.yaml", text.as_bytes()), ("server.sh", server.as_bytes())]);
    let run = run(
        folder.path(),
        &["call", "board:echo", "--from", "board.yaml", "--json", "--args", r#"{"title": "x"}"#],
    );
    let result = json_of(&run);
    assert_eq!((run.code, &result["_meta"]["toolwright/fields"]["owner"]["of"]), (0, &json!(1)), "{result}");
}
