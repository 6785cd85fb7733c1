//! `toolwright test`: the examples of definitions as tests.

use serde_json::{Value as Json, json};

use crate::btcp_tool_bodies::{SHOP, TOTAL};
use crate::calling::run;
use crate::knowledge::{board, judged_by};
use crate::program::folder;

/// A validator whose `checks` failed may throw, because its function relies on them: that is a
/// refusal of the arguments, not a broken validator.
#[test]
fn a_validator_that_throws_after_a_failed_check_is_a_refusal() {
    let text = "tool:
  id: names
  type: mcp
  name: Names
  version: 1.0.0
  description: Takes names
  schema_version: 2.0
  commands: [go]
  executable_knowledge:
    validators:
      - id: free
        validates: go
        language: javascript
        function: |
          module.exports = () => ({ valid: false, errors: ['a later function refuses'] })
      - id: short-name
        validates: go
        language: javascript
        checks: [{required_fields: [name]}]
        function: |
          module.exports = (args) => ({ valid: args.name.length < 5, errors: [] })
      - id: short-place
        validates: go
        language: javascript
        checks: [{required_fields: [place]}]
        function: |
          module.exports = () => ({ valid: false, errors: ['the last function refuses'] })
  examples:
    go:
      - scenario: failure_invalid_param
        input: {}
        error: {message: name is required}
      - scenario: failure_other
        input: {}
        error: {message: an error that does not occur}
";
    let folder = folder(&[("names.yaml", text.as_bytes())]);
    let tested = run(folder.path(), &["test", "names.yaml"]);
    assert!(tested.code == 1 && tested.stdout.contains("1 passed, 1 failed"), "{tested:?}");
    // The checks of all validators come first.
    let errors = [
        "name is required",
        "place is required",
        "a later function refuses",
        "the last function refuses",
    ];
    let places: Vec<Option<usize>> = errors.iter().map(|words| tested.stdout.find(words)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{}", tested.stdout);
    assert!(!tested.stdout.contains("could not judge"), "{tested:?}");
}

#[test]
fn examples_of_aios_and_btcp_tools_are_tests() {
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
    assert!(
        passed.stdout.contains("5 examples: 3 passed, 0 failed, 2 skipped ("),
        "{}",
        passed.stdout
    );
    let text = (board() + good)
        .replace("    add:\n      - scenario", &format!("{bad}    add:\n      - scenario"));
    std::fs::write(folder.path().join("board.yaml"), text).expect("a file");
    let failed = test(&["board.yaml", "--output-format", "json"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    let lines: Vec<Json> =
        failed.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let results: Vec<(&str, &str)> = lines[..lines.len() - 1]
        .iter()
        .map(|line| {
            (
                line["status"].as_str().expect("a text"),
                line["messages"][0].as_str().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        results,
        [
            ("passed", ""),
            ("passed", ""),
            ("passed", ""),
            ("failed", "the validators must accept it, but report:"),
            (
                "failed",
                "expected an error that contains `something else`, but the validators report:"
            ),
            ("skipped", "`add` has no validator that could refuse it"),
            ("skipped", "`add` has no validator; `--run` calls it"),
            ("skipped", "it has no `scenario`"),
        ]
    );
    let sum = lines.last().expect("a sum");
    assert_eq!(
        (&sum["passed"], &sum["failed"], &sum["skipped"]),
        (&json!(3), &json!(2), &json!(3)),
        "{sum}"
    );
    // Tools are called only with `--run`.
    let quiet = test(&["shop.json"]);
    assert!(quiet.code == 0 && quiet.stdout.contains("2 examples: 2 passed"), "{quiet:?}");
    let called = test(&["shop.json", "--run"]);
    assert_eq!(called.code, 1, "{called:?}");
    assert!(called.stdout.contains("`/total` is 3, expected 4"), "{}", called.stdout);
    let exact = test(&["shop.json", "--run", "--exact", "--filter", "two"]);
    assert!(
        exact.code == 1 && exact.stdout.contains("`/count` is in the result but not expected"),
        "{exact:?}"
    );
    let junit = test(&["shop.json", "--run", "--output-format", "junit", "--jobs", "1"]);
    let case = "<testcase classname=\"shop:total\" name=\"wrong\" file=\"shop.json\" line=";
    assert!(junit.code == 1 && junit.stdout.contains(case), "{}", junit.stdout);
    assert!(
        junit.stdout.contains("<failure message=\"`/total` is 3, expected 4\">"),
        "{}",
        junit.stdout
    );
    // Runs that cannot start are one line and exit code 2.
    for (args, part) in [
        (&["shop.json", "--exact"][..], "needs `--run`"),
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
    let run =
        run(folder.path(), &["test", "list.json", "--format", "mcp", "--output-format", "json"]);
    let lines: Vec<Json> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let results: Vec<(&str, &str)> = lines
        .iter()
        .take(4)
        .map(|line| {
            (line["example"].as_str().expect("a text"), line["status"].as_str().expect("a text"))
        })
        .collect();
    let expected = [
        ("Two and two", "passed"),
        ("example 2", "failed"),
        ("example 1 of its schema", "passed"),
        ("example 2 of its schema", "failed"),
    ];
    assert_eq!((run.code, results.as_slice()), (1, &expected[..]), "{}", run.stdout);
    let place = text.lines().position(|line| line.contains("\"total\"")).expect("it is there");
    let line = lines[1]["line"].as_u64().expect("a number") as usize;
    assert!(line < place && place < line + 6, "{line}: {}", run.stdout);
}

#[test]
fn incomplete_examples_are_skipped_or_fail() {
    let passes = "module.exports = () => ({ valid: true, errors: [] });";
    let blank =
        "  examples:\n    echo:\n      - scenario: ''\n        input: {}\n        output: {}\n";
    let unread = "  examples:\n    echo:\n      - scenario: failure_other\n        input: {}\n        error: a text\n";
    for (example, code, part) in [(blank, 0, "1 skipped"), (unread, 1, "1 failed")] {
        let folder = folder(&[("odd.yaml", judged_by(passes, example).as_bytes())]);
        let run = run(folder.path(), &["test", "odd.yaml"]);
        assert!(run.code == code && run.stdout.contains(part), "{run:?}");
    }
}

#[test]
fn a_text_does_not_equal_the_number_it_spells() {
    let tool = json!({"name": "same", "description": "Answers what it is given.", "capabilities": [],
        "inputSchema": {"type": "object"}, "examples": [
            {"input": {"v": "5"}, "output": 5}, {"input": {"v": 5}, "output": 5}, {"input": {"v": "5"}, "output": "5"}]});
    let manifest = json!({"btcp": "1.0", "name": "b", "version": "1.0.0", "capabilities": [], "tools": [tool]});
    let folder = folder(&[
        ("b.json", manifest.to_string().as_bytes()),
        ("same.js", b"export default ({ v }) => v;"),
    ]);
    let run = run(folder.path(), &["test", "b.json", "--run"]);
    assert!(run.stdout.contains("3 examples: 2 passed, 1 failed"), "{run:?}");
    assert!(run.stdout.contains("the result is \"5\", expected 5"), "{run:?}");
}

#[test]
fn an_example_is_not_tested_on_a_tool_of_the_same_id() {
    let manifest = |version: &str| {
        let example =
            json!({"description": "its version", "input": {}, "output": {"version": version}});
        let tool = json!({
            "name": "which", "description": "Says which version it is.", "capabilities": [],
            "inputSchema": {"type": "object"}, "examples": [example],
        });
        json!({"btcp": "1.0", "name": "shop", "version": version, "capabilities": [], "tools": [tool]})
            .to_string()
    };
    let (old, new) = (manifest("1.0.0"), manifest("2.0.0"));
    let body = |version: &str| format!("export default () => ({{ version: '{version}' }});");
    let folder = folder(&[
        ("new/shop.json", new.as_bytes()),
        ("new/which.js", body("2.0.0").as_bytes()),
        ("old/shop.json", old.as_bytes()),
        ("old/which.js", body("1.0.0").as_bytes()),
    ]);
    let both = run(folder.path(), &["test", "--run", "new", "old"]);
    assert_eq!(both.code, 1, "{both:?}");
    assert!(both.stdout.contains("`new/shop.json` also defines `shop:which`"), "{both:?}");
    assert!(both.stdout.contains("1 passed, 1 failed"), "{both:?}");
    for each in ["new", "old"] {
        let alone = run(folder.path(), &["test", "--run", each]);
        assert_eq!(alone.code, 0, "{alone:?}");
    }
}

#[test]
fn a_broken_validator_makes_an_example_fail() {
    let example = "  examples:\n    echo:\n      - scenario: failure_invalid_param\n        input: {}\n        error: { message: validator }\n";
    // A validator that throws the expected error has refused the arguments.
    let throws = "module.exports = () => { throw new Error('no validator likes this'); };";
    let folder_of = |code: &str| folder(&[("odd.yaml", judged_by(code, example).as_bytes())]);
    let run_of = |code: &str| run(folder_of(code).path(), &["test", "odd.yaml"]);
    assert_eq!(run_of(throws).code, 0, "{:?}", run_of(throws));
    for code in [
        "function ( {",
        "module.exports = () => nope.x;",
        "const x = 1;",
        "module.exports = () => 5;",
    ] {
        let folder = folder(&[("odd.yaml", judged_by(code, example).as_bytes())]);
        let run = run(folder.path(), &["test", "odd.yaml"]);
        assert_eq!(run.code, 1, "{code}: {run:?}");
        assert!(run.stdout.contains("a validator failed:"), "{code}: {}", run.stdout);
    }
}

#[test]
fn unreadable_definitions_are_exit_code_2() {
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
fn json_and_junit_list_definitions_that_could_not_be_read() {
    let broken = b"name: x\ndescription: a: b\ninputSchema: {}\n";
    let files = folder(&[("colon.yaml", broken), ("board.yaml", board().as_bytes())]);
    let tested = run(files.path(), &["test", ".", "--output-format", "junit"]);
    assert_eq!(tested.code, 2, "{tested:?}");
    let error = "<error message=\"./colon.yaml:2:15: error[INVALID_SYNTAX]: mapping values";
    for part in [" errors=\"1\"", "<testsuite name=\"definitions\" tests=\"1\"", error] {
        assert!(tested.stdout.contains(part), "{part}: {tested:?}");
    }
    let tested =
        run(files.path(), &["test", ".", "colon.yaml", "none.yaml", "--output-format", "json"]);
    let sum: Json =
        serde_json::from_str(tested.stdout.lines().last().expect("a line")).expect("JSON");
    let unread = sum["unread"].as_array().expect("a list");
    assert!(unread.iter().any(|line| line.as_str().expect("text").contains("none.yaml")), "{sum}");
    assert!(
        unread.iter().any(|line| line.as_str().expect("text").contains("colon.yaml:2:15")),
        "{sum}"
    );
}
