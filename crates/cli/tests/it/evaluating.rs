//! `toolwright eval`: runs one function of a definition for its author.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{LONG, configured, until};
use crate::failure_positions::with_helpers;
use crate::knowledge::{json_of, workshop};
use crate::program::{folder, run_in};

#[test]
fn eval_runs_one_function_and_prints_its_result() {
    let folder = workshop();
    let eval = |args: &[&str]| run(folder.path(), &[&["eval", "board.yaml"], args].concat());
    let judged = eval(&["--validator", "has-title", "--args", "{}"]);
    // A validator that refuses the arguments has worked.
    assert_eq!(judged.code, 0, "{judged:?}");
    let value: Json = serde_json::from_str(&judged.stdout).expect("JSON");
    let errors = json!(["title is required", "title must be a text"]);
    assert_eq!(value, json!({"valid": false, "errors": errors}));
    assert!(judged.stderr.starts_with("took "), "{judged:?}");
    let all = eval(&["--processor", "shout", "--args", r#"{"said": "a"}"#, "--json"]);
    let all = json_of(&all);
    assert_eq!(all["result"], json!({"said": "A!"}), "{all}");
    assert!(
        all["cpuMs"].is_number() && all["memoryBytes"].is_number() && all["log"] == json!([]),
        "{all}"
    );
    let helped = eval(&[
        "--helper",
        "pick",
        "--args",
        r#"{"data": {"echo": {"owner": 1}}, "fieldName": "f"}"#,
    ]);
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

/// As in a call: the checks of a validator count, and its function may rely on them.
#[test]
fn eval_runs_the_checks_of_a_validator() {
    let text = "tool:
  id: names
  type: mcp
  name: Names
  version: 1.0.0
  description: Takes names
  commands: [go]
  executable_knowledge:
    validators:
      - id: short
        validates: go
        language: javascript
        checks: [{required_fields: [name]}]
        function: |
          module.exports = (args) => ({ valid: args.name.length < 5, errors: [] })
      - id: both
        validates: go
        language: javascript
        checks: [{required_fields: [place, name]}]
        function: |
          module.exports = () => ({ valid: false, errors: ['no'] })
";
    let folder = folder(&[("names.yaml", text.as_bytes())]);
    for (id, args, errors) in [
        ("short", r#"{"name": "Ann"}"#, json!([])),
        ("short", "{}", json!(["name is required"])),
        ("both", r#"{"name": null}"#, json!(["place is required", "name is required", "no"])),
        ("both", r#"{"name": "Ann", "place": "x"}"#, json!(["no"])),
    ] {
        let args = ["eval", "names.yaml", "--validator", id, "--args", args];
        let judged = run(folder.path(), &args);
        let value: Json = serde_json::from_str(&judged.stdout).expect("JSON");
        let valid = errors == json!([]);
        assert_eq!(value, json!({"valid": valid, "errors": errors}), "{judged:?}");
        assert_eq!(judged.code, 0, "{judged:?}");
        let with_json = json_of(&run(folder.path(), &[&args[..], &["--json"]].concat()));
        assert_eq!(with_json["result"], value);
    }
    // Its function throws without a name; the checks say why, so that is only noted.
    let noted = run(folder.path(), &["eval", "names.yaml", "--validator", "short"]);
    assert!(noted.stderr.contains("`short` threw TypeError"), "{noted:?}");
}

#[test]
fn every_way_a_function_fails_has_its_code() {
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
    let text = with_helpers(cases.iter().map(|(id, body, _)| (*id, *body)));
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
                text.lines().position(|line| line.contains("new TypeError")).expect("it is there")
                    + 1;
            assert_eq!(error["name"], "TypeError");
            let at = error["at"].as_str().expect("a place");
            assert!(at.starts_with(&format!("bad.yaml:{first}:")), "{at} in {body}");
        }
    }
}

/// The code would run as JavaScript, with another meaning in other languages.
#[test]
fn functions_in_other_languages_are_not_run() {
    let code = [("half", "module.exports = () => 3 / 2")];
    for (language, is_run) in
        [("python", false), ("TypeScript", false), ("js", true), ("JavaScript", true)]
    {
        let text = with_helpers(code).replace("javascript", language);
        let folder = folder(&[("bad.yaml", text.as_bytes())]);
        let arguments = ["eval", "bad.yaml", "--helper", "half"];
        let run = run_in(folder.path(), &arguments, b"");
        if is_run {
            assert_eq!((run.code, run.stdout.as_str()), (0, "1.5\n"), "{language}: {run:?}");
            continue;
        }
        let message = format!(
            "NO_ENTRY_POINT: it is written in `{language}`, and only JavaScript is run\n  \
             --> near bad.yaml:14\n"
        );
        assert_eq!((run.code, run.stderr.as_str()), (1, message.as_str()), "{run:?}");
        let check =
            run_in(folder.path(), &["check", "bad.yaml", "--output-format", "concise"], b"");
        assert_eq!(check.code, 1, "{check:?}");
        let finding =
            format!("error[INVALID_ENUM_VALUE]: `language` is `{language}`, expected `javascript`");
        assert!(check.stdout.contains(&finding), "{check:?}");
    }
}

/// A worker that something else kills fails its call with a code of its own.
#[test]
fn killing_the_worker_fails_the_call_with_worker_died() {
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
        // The worker that runs the program is the one that has used processor time (in ticks).
        let busy = |pid: &&str| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.split(' ')
                .nth(13)
                .and_then(|ticks| ticks.parse::<u64>().ok())
                .is_some_and(|ticks| ticks > 5)
        };
        text.split_whitespace().find(busy).map(str::to_owned)
    });
    assert!(Command::new("/bin/kill").args(["-9", &worker]).status().expect("it starts").success());
    let output = eval.wait_with_output().expect("it ends");
    let json: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (output.status.code(), &json["error"]["code"]),
        (Some(1), &json!("WORKER_DIED")),
        "{json}"
    );
}

/// Runs every function of every definition in a folder without arguments. Each returns a result, or
/// fails because it was given nothing: no other failure is accepted. Returns how many ran, and how
/// many of them returned a result.
fn run_all_functions(corpus: &Path) -> (u32, u32) {
    let shown = run(corpus, &["show", "--json", "--compat", "."]);
    let shown: Json = serde_json::from_str(&shown.stdout).expect("JSON");
    let (mut ran, mut results) = (0, 0);
    for toolset in shown["toolsets"].as_array().expect("a list") {
        for (list, flag) in
            [("helpers", "--helper"), ("processors", "--processor"), ("validators", "--validator")]
        {
            for function in toolset["knowledge"][list].as_array().expect("a list") {
                let (file, id) = (
                    toolset["file"].as_str().expect("a text"),
                    function["id"].as_str().expect("a text"),
                );
                let eval = run(corpus, &["eval", file, flag, id, "--json"]);
                let code = json_of(&eval)["error"]["code"].as_str().map(str::to_owned);
                let is_accepted = eval.code == 0
                    || code.as_deref().is_some_and(|code| ["THREW", "NOT_JSON"].contains(&code));
                assert!(is_accepted, "{file}, {id}: {eval:?}");
                ran += 1;
                results += u32::from(eval.code == 0);
            }
        }
    }
    (ran, results)
}

#[test]
fn functions_of_the_corpus_run() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../script/tests/corpus");
    assert_eq!(run_all_functions(&ours), (13, 13));
    // Those of other authors, where `TOOLWRIGHT_SHARED` names a folder of them.
    if let Some(shared) = crate::corpus::shared("functions_of_the_corpus_run") {
        let (ran, results) = run_all_functions(&shared.join("corpus/aios"));
        assert!(ran >= 30 && results * 2 > ran, "{results} of {ran}");
    }
}

/// A definition whose functions use its helpers, and each other's names.
const HELPERS: &str = r#"tool:
  schema_version: 2.0
  id: dates
  type: mcp
  name: Dates
  version: 1.0.0
  description: Works with dates
  commands: [plan]
  mcp_specific: {server_command: dates}
  executable_knowledge:
    helpers:
      - id: format-date
        language: javascript
        runtime: isolated_vm
        function: |
          function pad(n) { return String(n).padStart(2, '0'); }
          function formatDate(args) { return pad(args.day) + '.' + pad(args.month); }
      - id: exported
        language: javascript
        runtime: isolated_vm
        function: "module.exports = { exported: (args) => helpers.formatDate(args) + '!' };"
      - id: value
        language: javascript
        runtime: isolated_vm
        function: "(function () { return args.day * 2; })()"
      - id: use-all
        language: javascript
        runtime: isolated_vm
        function: |
          function formatDate() { return 'another function of this name'; }
          function useAll(args) {
            return [helpers.formatDate(args), helpers['format-date'](args), helpers.exported(args),
              helpers.value(args), formatDate(), typeof helpers.nothing];
          }
      - id: fails
        language: javascript
        runtime: isolated_vm
        function: "(args) => helpers.nothing(args)"
      - id: recurses
        language: javascript
        runtime: isolated_vm
        function: "(args) => helpers.recurses(args)"
    validators:
      - id: validate-plan
        validates: plan
        language: javascript
        checks:
          - required_fields: [mail]
          - {field: mail, format: email}
          - {field: on, format: date}
          - format: email
        function: |
          function validatePlan(args) {
            const errors = helpers.formatDate(args) === '01.02' ? ['not on that day'] : [];
            return { valid: errors.length === 0, errors };
          }
"#;

#[test]
fn functions_call_the_helpers_of_their_definition() {
    let folder = folder(&[("tool.yaml", HELPERS.as_bytes())]);
    let eval = |kind: &str, id: &str, args: &str| {
        run(folder.path(), &["eval", "tool.yaml", kind, id, "--args", args])
    };
    let all = eval("--helper", "use-all", r#"{"day": 3, "month": 4}"#);
    let value: Json = serde_json::from_str(&all.stdout).expect("JSON");
    let expected = ["03.04", "03.04", "03.04!"].map(Json::from);
    assert_eq!(value.as_array().expect("a list")[..3], expected, "{}{}", all.stdout, all.stderr);
    let rest = [Json::from(6), "another function of this name".into(), "undefined".into()];
    assert_eq!(value.as_array().expect("a list")[3..], rest);
    let fails = eval("--helper", "fails", "{}");
    fails.assert_on_stderr("THREW: TypeError: not a function");
    eval("--helper", "recurses", "{}").assert_on_stderr("STACK_OVERFLOW");
    let refused = eval("--validator", "validate-plan", r#"{"day": 1, "month": 2, "mail": "x"}"#);
    let value: Json = serde_json::from_str(&refused.stdout).expect("JSON");
    let errors = ["mail is not a valid email", "not on that day"].map(Json::from);
    assert_eq!(value["errors"].as_array().expect("a list")[..], errors, "{value}");
    let checked = run(folder.path(), &["check", "tool.yaml", "--output-format", "concise"]);
    assert!(!checked.stdout.contains("NOT_SELF_CONTAINED"), "{}", checked.stdout);
    assert!(!checked.stdout.contains("NO_ENTRY_POINT"), "{}", checked.stdout);
    assert_eq!(checked.stdout.matches("UNKNOWN_CHECK").count(), 1, "{}", checked.stdout);
}

/// What a check with a field and a format accepts.
#[test]
fn formats_of_fields_are_checked() {
    let folder = folder(&[("tool.yaml", HELPERS.as_bytes())]);
    for (args, errors) in [
        (r#"{"mail": "a@example.com", "on": "2024-02-29"}"#, vec![]),
        (r#"{"mail": "a@example.com", "on": "2024-02-30"}"#, vec!["on is not a valid date"]),
        (r#"{"mail": 7, "on": null}"#, vec!["mail is not a valid email"]),
        (r#"{}"#, vec!["mail is required"]),
    ] {
        let args = ["eval", "tool.yaml", "--validator", "validate-plan", "--args", args];
        let run = run(folder.path(), &args);
        let value: Json = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(value["errors"], Json::from(errors), "{args:?}: {value}");
    }
}
