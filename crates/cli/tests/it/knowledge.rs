//! The knowledge of definitions, applied to calls: checks, validators and processors around them,
//! and advice for calls that are refused.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{HttpClient, LONG, StdioClient, configured, faulty_server, until};
use crate::program::{Run, folder};

/// A definition in front of the server `good`, with validators and processors for its tool `echo`.
pub(crate) fn board() -> String {
    r#"tool:
  schema_version: 2.0
  id: board
  type: mcp
  name: Board
  version: 1.0.0
  description: Cards on a board, in front of a server that repeats its input.
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
    server_command: "SERVER mcp good"
    transport: stdio
"#
    .replace("SERVER", &faulty_server())
}

/// A folder with the definition of `board` and a configuration for it.
pub(crate) fn workshop() -> tempfile::TempDir {
    let (folder, path) = configured("[[source]]\nname = \"board\"\npath = \"board.yaml\"\n");
    std::fs::write(path.join("board.yaml"), board()).expect("a file");
    folder
}

pub(crate) fn json_of(run: &Run) -> Json {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

fn call(folder: &Path, id: &str, args: Json) -> (i32, Json) {
    let run = run(folder, &["call", id, "--json", "--args", &args.to_string()]);
    (run.code, json_of(&run))
}

#[test]
fn a_good_call_passes_validators_and_processors() {
    let folder = workshop();
    let (code, result) =
        call(folder.path(), "board:echo", json!({"title": "A very long title", "owner": 17}));
    assert_eq!(code, 0, "{result}");
    // `shorten` cuts the title of the request; `announce` and `shout` make the result from the
    // payload. The helper looks for its field in the payload, which has no `echo` inside.
    assert_eq!(result["structuredContent"], json!({"said": "A VERY LON!"}), "{result}");
    // A command without processors keeps the answer of the server.
    let (code, result) = call(folder.path(), "board:add", json!({"a": 1, "b": 2}));
    assert_eq!((code, &result["structuredContent"]), (0, &json!({"sum": 3})), "{result}");
    // The server provides what the definition lacks: the types of arguments, and further tools.
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

/// Processors may change the shape of a result, so the output schema of the server does not apply.
#[test]
fn results_of_processors_are_not_checked_against_the_schema_of_the_server() {
    let (folder, path) = configured("[[source]]\nname = \"board\"\npath = \"board.yaml\"\n");
    let processor = "      - id: rename\n        language: javascript\n        processes: add\n        function: |\n          module.exports = () => ({ renamed: true });\n    validators:\n";
    let text = board().replacen("    validators:\n", processor, 1);
    let text = text
        .replace("detection: \"echo object exists\"", "detection: \"sum exists\"")
        .replace("payload_path: echo", "payload_path: sum");
    std::fs::write(path.join("board.yaml"), text).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
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
fn a_refused_call_reports_errors_and_advice() {
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
    assert_eq!(error["advice"][0]["correct"], "echo({ title: 'a, b' })", "{result}");
    assert_eq!(error["advice"][1]["correct"], "echo({ title: 'x', owner: 17 })", "{result}");
    assert_eq!(error["advice"][2]["mitigation"], "Look the owner's number up first", "{result}");
    let (_, missing) = call(folder.path(), "board:echo", json!({}));
    assert_eq!(missing["error"]["errors"][0]["message"], "title is required", "{missing}");
}

#[test]
fn a_validator_that_fails_refuses_the_call_with_its_position() {
    let folder = workshop();
    for (owner, part) in [
        ("nobody", "validator `has-owner` threw ReferenceError: "),
        ("forever", "validator `has-owner` failed with TIMEOUT: "),
    ] {
        let (code, result) =
            call(folder.path(), "board:echo", json!({"title": "x", "owner": owner}));
        assert_eq!((code, &result["error"]["code"]), (1, &json!("VALIDATION_FAILED")), "{result}");
        let said = result["error"]["errors"][0]["message"].as_str().expect("a text");
        assert!(said.starts_with(part), "{said}");
        if owner == "nobody" {
            let line = board()
                .lines()
                .position(|line| line.contains("missing.name"))
                .expect("it is there")
                + 1;
            let place = format!("board.yaml:{line}:");
            assert!(said.contains(&place), "{said}: expected {place}");
        }
    }
}

#[test]
fn failures_of_processors_and_payloads_have_codes_of_their_own() {
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
fn helpers_extract_fields_from_the_result() {
    let folder = workshop();
    // Without payload schemas the whole answer is the data, and the helper finds its field in it.
    let text = board()
        .replace("payload_schemas:", "payload_notes:")
        .replace("said: data.title", "said: data.echo.title");
    std::fs::write(folder.path().join("board.yaml"), text).expect("a file");
    let (code, result) = call(folder.path(), "board:echo", json!({"title": "x", "owner": 17}));
    let owner = json!({"name": "owner", "is": "number", "of": 17});
    assert_eq!(
        (code, &result["structuredContent"]),
        (0, &json!({"said": "X!", "owner": owner})),
        "{result}"
    );
    assert_eq!(result["_meta"]["toolwright/fields"], json!({"owner": owner}), "{result}");
}

#[test]
fn agents_get_the_same_refusal_over_both_transports() {
    let folder = workshop();
    let mut stdio = StdioClient::start(folder.path(), &[], &[]);
    let refused = stdio.call("board__echo", json!({"title": "x", "owner": "Ann"}));
    assert_eq!(refused["isError"], true, "{refused}");
    let text = refused["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("owner must be a number") && text.contains("owner: 17"), "{text}");
    let good = stdio.call("board__echo", json!({"title": "x", "owner": 1}));
    assert_eq!(good["structuredContent"]["said"], "X!", "{good}");
    let web = HttpClient::start(folder.path(), &[], &[]);
    let refused = web.call("board__echo", json!({"title": "x", "owner": "Ann"}));
    assert_eq!(
        refused["result"]["_meta"]["toolwright/error"]["code"], "VALIDATION_FAILED",
        "{refused}"
    );
}

/// A definition in front of the server `good` whose tool `echo` has one validator with this code.
pub(crate) fn judged_by(code: &str, more: &str) -> String {
    let code: String = code.lines().map(|line| format!("          {line}\n")).collect();
    format!(
        "tool:\n  schema_version: 2.0\n  id: odd\n  type: mcp\n  name: Odd\n  version: 1.0.0\n  description: For trying validators.\n  commands: [echo]\n  mcp_specific:\n    server_command: \"{} mcp good\"\n    transport: stdio\n  executable_knowledge:\n    validators:\n      - id: judge\n        validates: echo\n        language: javascript\n        function: |\n{code}{more}",
        faulty_server()
    )
}

#[test]
fn answers_that_are_not_verdicts_refuse_the_call() {
    let text = judged_by("module.exports = (args) => args.answer;", "");
    let folder = folder(&[("odd.yaml", text.as_bytes())]);
    for (answer, expected) in [
        (json!({"valid": true, "errors": []}), None),
        (json!({"valid": true, "errors": "bad title"}), Some("bad title")),
        (json!({"valid": true, "errors": ["a"]}), Some("a")),
        (
            json!({"valid": false}),
            Some("validator `judge` refuses the arguments and does not say why"),
        ),
        (
            json!(5),
            Some(
                "INVALID_VALIDATOR_RESULT: validator `judge` answered `5`, expected { valid: boolean, errors: string[] }",
            ),
        ),
    ] {
        let args = json!({"answer": answer}).to_string();
        let run = run(
            folder.path(),
            &["call", "odd:echo", "--from", "odd.yaml", "--json", "--args", &args],
        );
        let said = json_of(&run);
        assert_eq!(said["error"]["errors"][0]["message"].as_str(), expected, "{answer}: {said}");
        assert_eq!(run.code, i32::from(expected.is_some()), "{answer}");
    }
    let eval = run(
        folder.path(),
        &["eval", "odd.yaml", "--validator", "judge", "--args", r#"{"answer": 5}"#],
    );
    assert!(eval.code == 1 && eval.stderr.starts_with("INVALID_VALIDATOR_RESULT: "), "{eval:?}");
}

/// A validator that cannot be run refuses the call; `serve` and `call` quarantine the tool before
/// that, because its definition has an error.
#[test]
fn a_validator_in_another_language_is_never_run() {
    let text = judged_by("module.exports = () => ({ valid: true });", "");
    let folder = folder(&[("odd.yaml", text.replace("javascript", "python").as_bytes())]);
    let arguments = ["call", "odd:echo", "--from", "odd.yaml", "--json"];
    let said = json_of(&run(folder.path(), &arguments));
    assert_eq!(said["error"]["code"], "QUARANTINED", "{said}");
    assert!(
        said["error"]["message"].as_str().is_some_and(|text| text.contains("python")),
        "{said}"
    );
    let eval = run(folder.path(), &["eval", "odd.yaml", "--validator", "judge"]);
    assert_eq!(eval.code, 1, "{eval:?}");
    assert!(eval.stderr.contains("it is written in `python`"), "{eval:?}");
}

/// Compiling it takes all of its 2 s of processor time, so calls that compiled it again would take
/// at least as long each. Twenty calls in less than half of that is a wide margin on a busy
/// machine.
#[test]
fn code_that_is_too_large_to_compile_is_compiled_once() {
    let names: Vec<String> = (0..100_000).map(|n| format!("a{n}")).collect();
    let code = judged_by(&format!("var {}; module.exports = () => 1;", names.join(",")), "");
    let (folder, path) = configured("[[source]]\nname = \"odd\"\npath = \"odd.yaml\"\n");
    std::fs::write(path.join("odd.yaml"), code).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    // If the machine gave the worker too little processor time, that is not the fault of the code,
    // and the next call tries again.
    let refused = until("a worker with enough processor time", LONG, || {
        let refused = client.call("odd__echo", json!({}));
        let is_final = !refused.to_string().contains("of wall-clock time");
        is_final.then_some(refused)
    });
    let message = refused["content"][0]["text"].as_str().expect("a text");
    assert!(message.contains("TIMEOUT: compiling exceeds a limit"), "{message}");
    assert!(
        message.contains("the definition is at fault, not the call: fix the validator"),
        "{message}"
    );
    let began = std::time::Instant::now();
    for _ in 0..20 {
        assert_eq!(client.call("odd__echo", json!({})), refused);
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn advice_is_given_without_functions_in_the_definition() {
    let text = format!(
        "tool:\n  schema_version: 2.0\n  id: odd\n  type: mcp\n  name: Odd\n  version: 1.0.0\n  description: For trying lessons.\n  \
         tools:\n    - id: echo\n      description: Says it again\n      inputSchema: {{ type: object, required: [colour] }}\n  \
         mcp_specific:\n    server_command: \"{} mcp good\"\n    transport: stdio\n  \
         anti_patterns:\n    - pattern: no_colour\n      description: Forgetting the colour\n      wrong: await client.echo({{}})\n      correct: \"echo({{ colour: 'red' }})\"\n",
        faulty_server()
    );
    let folder = folder(&[("odd.yaml", text.as_bytes())]);
    let run = run(folder.path(), &["call", "odd:echo", "--from", "odd.yaml"]);
    assert!(run.code == 1 && run.stderr.contains("INPUT_INVALID"), "{run:?}");
    assert!(run.stderr.contains("echo({ colour: 'red' })"), "{run:?}");
}

#[test]
fn a_refusal_by_the_input_schema_comes_with_advice() {
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
fn metadata_of_a_server_that_is_not_an_object_is_replaced() {
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
        .replace(&format!("{} mcp good", faulty_server()), "/bin/sh server.sh")
        .replace("processes: echo", "description: unused")
        .replace("payload_schemas:", "payload_notes:");
    let folder = folder(&[("board.yaml", text.as_bytes()), ("server.sh", server.as_bytes())]);
    let run = run(
        folder.path(),
        &["call", "board:echo", "--from", "board.yaml", "--json", "--args", r#"{"title": "x"}"#],
    );
    let result = json_of(&run);
    assert_eq!(
        (run.code, &result["_meta"]["toolwright/fields"]["owner"]["of"]),
        (0, &json!(1)),
        "{result}"
    );
}

/// A definition in front of the server `good` with these lists of executable knowledge, as JSON,
/// and further keys of the tool, as YAML.
fn with_knowledge(knowledge: &Json, more: &str) -> String {
    let server = faulty_server();
    format!(
        "tool:\n  schema_version: 2.0\n  id: odd\n  type: mcp\n  name: Odd\n  version: 1.0.0\n  description: For trying limits.\n  commands: [echo]\n  mcp_specific:\n    server_command: \"{server} mcp good\"\n    transport: stdio\n{more}  executable_knowledge: {knowledge}\n"
    )
}

/// `count` functions with the same code, each with the keys of `like`.
fn many(count: usize, like: &Json, code: &str) -> Json {
    let function = |n: usize| {
        let mut function = like.clone();
        function["id"] = json!(format!("f{n}"));
        function["language"] = json!("javascript");
        function["function"] = json!(code);
        function
    };
    (0..count).map(function).collect()
}

fn limited(limits: &str, knowledge: &Json, more: &str) -> tempfile::TempDir {
    let source = "[[source]]\nname = \"odd\"\npath = \"odd.yaml\"\n";
    let (folder, path) = configured(&format!("{source}{limits}"));
    std::fs::write(path.join("odd.yaml"), with_knowledge(knowledge, more)).expect("a file");
    folder
}

/// Takes 200 ms of processor time, which is within the limits of every function.
const SLOW: &str = "const began = Date.now(); while (Date.now() - began < 200); ";

/// Alone, each of these would take more than a minute.
#[test]
fn all_functions_of_a_call_share_its_time() {
    let validates = json!({"validates": "echo"});
    let answer = format!("module.exports = () => {{ {SLOW} return {{ valid: true }}; }};");
    let validators = json!({"validators": many(400, &validates, &answer)});
    let changes = json!({"processes": "echo", "stage": "request"});
    let change = format!("module.exports = (data) => {{ {SLOW} return data; }};");
    let processors = json!({"processors": many(400, &changes, &change)});
    let find = format!("module.exports = () => {{ {SLOW} return 1; }};");
    let helpers = json!({"helpers": many(1, &json!({"runtime": "isolated_vm"}), &find)});
    let fields: Json = (0..400)
        .map(|n| (format!("field{n}"), json!({"structure": "number", "extraction": "f0"})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let api = format!("  api_complexity: {}\n", json!({"field_mappings": fields}));
    for (what, knowledge, more) in
        [("validator", validators, ""), ("processor", processors, ""), ("helper", helpers, &*api)]
    {
        for (limits, timeout) in [("[limits]\ntimeout = 2000\n", None), ("", Some("2000"))] {
            let folder = limited(limits, &knowledge, more);
            let mut args = vec!["call", "odd:echo", "--json"];
            args.extend(timeout.into_iter().flat_map(|timeout| ["--timeout", timeout]));
            let began = std::time::Instant::now();
            let run = run(folder.path(), &args);
            let error = &json_of(&run)["error"];
            assert_eq!((run.code, &error["code"]), (1, &json!("TIMEOUT")), "{what}: {run:?}");
            let message = error["message"].as_str().expect("a text");
            let start = "`odd:echo` did not answer within 2000 ms";
            assert!(message.starts_with(start), "{message}");
            // The caller's own limit includes the start of the server, which may take most of it.
            if timeout.is_none() {
                assert!(message.contains(": the functions of its definition took "), "{message}");
                // The limit is checked when a function has ended, so none is running.
                assert!(message.contains(" had run"), "{what}: {message}");
            }
            assert!(began.elapsed() < std::time::Duration::from_secs(40), "{what}");
        }
    }
}

#[test]
fn texts_of_functions_are_cut_and_say_so() {
    let code =
        "module.exports = () => ({ valid: false, errors: Array(900).fill('x'.repeat(1000)) });";
    let throws = "module.exports = () => { throw new Error('x'.repeat(100000), { cause: 'y'.repeat(100000) }); };";
    let logs =
        "module.exports = () => { console.log('z'.repeat(60000)); return { valid: true }; };";
    let validates = json!({"validates": "echo"});
    let long = "long ".repeat(100_000);
    let lesson = json!([{
        "pattern": "x", "description": format!("xxx {long}"), "wrong": "echo()", "correct": long,
    }]);
    for (what, count, code, expected) in [
        ("errors", 50, code, "… and 44200 more errors, which are not shown"),
        ("exceptions", 50, throws, "x… [cut: 4099 bytes in all], caused by the string \\\"yyy"),
    ] {
        let knowledge = json!({"validators": many(count, &validates, code)});
        let folder = limited("", &knowledge, &format!("  anti_patterns: {lesson}\n"));
        let (_, result) = call(folder.path(), "odd:echo", json!({"x": 1}));
        assert_eq!(result["error"]["code"], "VALIDATION_FAILED", "{what}");
        let text = result.to_string();
        assert!(text.len() < 40_000, "{what}: {} bytes", text.len());
        assert!(text.contains(expected), "{what}: {text}");
    }
    let folder = limited("", &json!({"validators": many(5, &validates, logs)}), "");
    let run = run(folder.path(), &["call", "odd:echo"]);
    let cut = "validator `f1`: console: … [log cut here: the functions of a call share 64 KiB]";
    assert!(run.code == 0 && run.stderr.contains(cut), "{}", run.stderr.len());
    assert!(run.stderr.len() < 70_000, "{}", run.stderr.len());
}

#[test]
fn what_functions_return_counts_against_the_output_limit() {
    let find = "module.exports = () => 'x'.repeat(9000);";
    let helpers = json!({"helpers": many(1, &json!({"runtime": "isolated_vm"}), find)});
    let fields: Json = (0..10)
        .map(|n| (format!("field{n}"), json!({"structure": "text", "extraction": "f0"})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let api = format!("  api_complexity: {}\n", json!({"field_mappings": fields}));
    let grow = "module.exports = (data) => ({ ...data, x: 'x'.repeat(90000) });";
    let changes = json!({"processes": "echo", "stage": "request"});
    let processors = json!({"processors": many(1, &changes, grow)});
    for (knowledge, more, code, message) in [
        (
            helpers,
            &*api,
            "OUTPUT_TOO_LARGE",
            "the answer has more than the 50000 bytes that are allowed",
        ),
        (processors, "", "PROCESSOR_FAILED", "processor `f0` failed with OUTPUT_TOO_LARGE: "),
    ] {
        let folder = limited("[limits]\noutput = 50000\n", &knowledge, more);
        let (_, result) = call(folder.path(), "odd:echo", json!({}));
        let error = &result["error"];
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().is_some_and(|it| it.starts_with(message)), "{error}");
    }
}

#[test]
fn code_that_is_too_long_is_refused_without_a_worker() {
    let code = format!("module.exports = () => 1; // {}", "x".repeat(1 << 20));
    let knowledge = json!({"validators": many(1, &json!({"validates": "echo"}), &code)});
    let folder = limited("", &knowledge, "");
    let (_, result) = call(folder.path(), "odd:echo", json!({}));
    let message = "`odd:echo` is quarantined: the code has 1048605 bytes, more than 1048576 \
                   (INVALID_FUNCTION_SYNTAX)";
    assert_eq!(result["error"]["message"], message, "{result}");
}

/// A script that repeats its arguments, behind a validator with this code and these checks.
fn repeater(checks: &str, code: &str, more: &str) -> tempfile::TempDir {
    let definition = format!(
        "tool:
  schema_version: 2.0
  id: desk
  type: local
  name: Desk
  version: 1.0.0
  description: Repeats its arguments
  commands: [create_card]
  local_specific: {{runtime: sh, entry_point: ./desk.sh}}
  executable_knowledge:
    helpers:
      - id: first-word
        language: javascript
        runtime: isolated_vm
        function: |
          function firstWord(args) {{
            return args.text
              .split(' ')[0];
          }}
    validators:
      - id: validate-card
        validates: create_card
        language: javascript
        checks: {checks}
        function: |
          function validateCard(args) {{
            {code}
          }}
{more}"
    );
    folder(&[("desk.yaml", definition.as_bytes()), ("desk.sh", b"cat")])
}

fn call_desk(folder: &Path, args: Json) -> Json {
    let args = args.to_string();
    let called = run(
        folder,
        &["call", "--from", "desk.yaml", "desk:create_card", "--json", "--args", &args],
    );
    json_of(&called)
}

/// A field of a check may be a member of an argument.
#[test]
fn checks_follow_dotted_fields() {
    let checks = "[{required_fields: [customer.name]}, {field: customer.email, format: email}]";
    let folder = repeater(checks, "return { valid: true, errors: [] };", "");
    for (args, expected) in [
        (json!({"customer": {"name": "Ann", "email": "ann@example.com"}}), json!(null)),
        (json!({"customer": {"name": "Ann"}}), json!(null)),
        (
            json!({"customer": {"email": "ann"}}),
            json!(["customer.name is required", "customer.email is not a valid email"]),
        ),
        (json!({"customer": "Ann"}), json!(["customer.name is required"])),
        // A name with a dot in it is a name first.
        (
            json!({"customer.name": "Ann", "customer.email": "ann"}),
            json!(["customer.email is not a valid email"]),
        ),
    ] {
        let answer = call_desk(folder.path(), args.clone());
        let errors = answer["error"]["errors"].as_array();
        let errors = errors.map(|it| it.iter().map(|it| it["message"].clone()).collect::<Json>());
        assert_eq!(errors.unwrap_or_default(), expected, "{args}: {answer}");
    }
}

/// A helper that does not exist is found by `check`, at its name, and named when it is called. An
/// error inside of a helper says where in the helper.
#[test]
fn unknown_helpers_and_errors_of_helpers_have_a_place() {
    let folder = repeater(
        "[]",
        "helpers.firstWrod(args); helpers['last-word'](args); helpers.firstWord(args);",
        "",
    );
    let checked = run(folder.path(), &["check", "desk.yaml", "--output-format", "concise"]);
    for line in [
        "desk.yaml:27:21: warning[UNRESOLVED_REFERENCE]: helper `firstWrod` is not defined",
        "desk.yaml:27:46: warning[UNRESOLVED_REFERENCE]: helper `last-word` is not defined",
    ] {
        assert!(checked.stdout.contains(line), "{line}\n{}", checked.stdout);
    }
    assert_eq!(checked.stdout.matches("UNRESOLVED_REFERENCE").count(), 2, "{}", checked.stdout);
    let answer = call_desk(folder.path(), json!({}));
    let error = answer["error"]["errors"][0]["message"].as_str().expect("an error").to_owned();
    assert!(error.contains("TypeError: not a function"), "{error}");
    assert!(error.contains("desk.yaml:27:"), "{error}");
    let folder =
        repeater("[]", "return { valid: helpers.firstWord(args) === 'a', errors: [] };", "");
    let answer = call_desk(folder.path(), json!({}));
    let error = answer["error"]["errors"][0]["message"].as_str().expect("an error").to_owned();
    assert!(error.contains("caused by helper `first-word`: line 2, column "), "{error}");
    assert!(error.contains("desk.yaml:27:"), "{error}");
}

/// Each error of a refused call brings its own advice, and no other.
#[test]
fn every_error_of_a_refusal_has_its_advice() {
    let advice = "  anti_patterns:
    - {pattern: owner_by_name, description: Naming the owner, wrong: \"create_card({ owner: 'Ann' })\", correct: \"create_card({ owner: 17 })\"}
    - {pattern: board_by_title, description: Using the title of a board, wrong: \"create_card({ board: 'Home' })\", correct: \"create_card({ board: 3 })\"}
    - {pattern: date_as_text, description: Writing a date as a text, wrong: \"create_card({ due: 'today' })\", correct: \"create_card({ due: 1 })\"}
";
    let code = "const errors = [];
            if (args.owner) errors.push('owner must be a number');
            if (!args.board) errors.push('board is required');
            return { valid: errors.length === 0, errors };";
    let folder = repeater("[]", code, advice);
    for (args, expected) in [
        (json!({"owner": "Ann"}), vec!["owner_by_name", "board_by_title"]),
        (json!({"owner": "Ann", "board": 1}), vec!["owner_by_name"]),
        (json!({}), vec!["board_by_title"]),
    ] {
        let answer = call_desk(folder.path(), args.clone());
        let given: Vec<&str> = answer["error"]["advice"]
            .as_array()
            .unwrap_or_else(|| panic!("{answer}"))
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        assert_eq!(given, expected, "{args}: {answer}");
    }
}

/// Warnings about fields name the field where it is, and say each thing once.
#[test]
fn warnings_about_fields_name_them_once() {
    let accepts = "return { valid: true, errors: [] };";
    let warnings = |mappings: &str, args: Json| {
        let mappings = format!("  api_complexity:\n    field_mappings:\n{mappings}");
        let folder = repeater("[]", accepts, &mappings);
        let mut client = StdioClient::start(folder.path(), &["desk.yaml"], &[]);
        let answer = client.call("desk__create_card", args);
        let warnings = answer["_meta"]["toolwright/warnings"].as_array();
        warnings.unwrap_or_else(|| panic!("{answer}")).clone()
    };
    let mappings = "      custom_fields:
        place: {structure: {lat: number}}
        owners: {structure: {create_format: [user_id], update_format: {add: [user_id]}}}
      place: {structure: {lat: number}}
";
    let found = warnings(mappings, json!({"place": {"lat": "n"}, "owners": [1, 2, {"add": 3}]}));
    assert_eq!(
        Json::from(found),
        json!([
            "the field `place.lat` of the answer is a string, and `structure` of the definition \
             expects `number`",
            "the argument `place.lat` is a string, and `structure` of the definition expects \
             `number`",
            "the argument `owners.2` is an object, and `create_format` of the definition expects \
             `user_id`",
        ])
    );
    let many: String = (0..50).map(|n| format!("      f{n}: {{structure: number}}\n")).collect();
    let args: serde_json::Map<String, Json> =
        (0..50).map(|n| (format!("f{n}"), json!("x"))).collect();
    let found = warnings(&many, args.into());
    assert!(found.len() <= 42, "{}", found.len());
    let last = found.last().and_then(Json::as_str).expect("a text");
    assert_eq!(last, "… and 30 more warnings, which are not shown");
}
