//! AIOS tools that are programs: the words of their commands, what must be installed before the
//! first call, and their examples as tests of real calls.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{LONG, StdioClient, until};
use crate::program::folder;

/// A tool of type `cli` whose program is a script of the folder.
fn cli(section: &str, more: &str) -> String {
    format!(
        "tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {{{section}}}
{more}"
    )
}

/// A program that prints its arguments, one on a line.
const WORDS: &str = "#!/bin/sh\nfor word in \"$@\"; do echo \"$word\"; done\n";

fn executable(folder: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
}

/// The failure of `call --json`.
fn failure(folder: &Path, id: &str) -> Json {
    let run =
        run(folder, &["call", "--from", "tool.yaml", id, "--json", "--args", "{\"args\": []}"]);
    let answer: Json = serde_json::from_str(&run.stdout).expect("JSON");
    answer["error"].clone()
}

#[test]
fn every_command_of_a_program_has_its_own_words() {
    let commands = "  commands: [status, log]\n  command_groups:\n    more:\n      - {command: ./words remote add}\n";
    let folder = folder(&[("tool.yaml", cli("executable: ./words", commands).as_bytes())]);
    executable(folder.path(), "words", WORDS);
    for (id, expected) in [
        ("notes:status", "status\n-s\n"),
        ("notes:log", "log\n-s\n"),
        ("notes:remote_add", "remote\nadd\n-s\n"),
    ] {
        let args = ["call", "--from", "tool.yaml", id, "--args", "{\"args\": [\"-s\"]}"];
        let run = run(folder.path(), &args);
        assert_eq!(run.stdout, expected, "{id}: {}", run.stderr);
    }
    // A command that is the tool itself has no words.
    for commands in ["  commands: [notes]\n", ""] {
        let folder = folder_with(&cli("executable: ./words", commands));
        executable(folder.path(), "words", WORDS);
        let args = ["call", "--from", "tool.yaml", "notes:notes", "--args", "{\"args\": [\"-s\"]}"];
        let run = run(folder.path(), &args);
        assert_eq!(run.stdout, "-s\n", "{commands}: {}", run.stderr);
    }
}

fn folder_with(text: &str) -> tempfile::TempDir {
    folder(&[("tool.yaml", text.as_bytes())])
}

#[test]
fn a_program_that_is_not_installed_is_answered_with_the_guide() {
    let guide = "install_guide: \"Run: make words\"";
    for (section, message) in [
        (
            "executable: no-such-words, install_check: no-such-words --version",
            "`no-such-words` is not installed: it is not on the PATH",
        ),
        ("executable: no-such-words", "`no-such-words` cannot be started"),
        (
            "executable: ./words, install_check: ./broken --version",
            "its check `./broken --version` failed: the program ended with status 3: too old",
        ),
        (
            "executable: ./words, install_check: ./missing --version",
            "its check `./missing --version` cannot be started",
        ),
        (
            "executable: ./words, install_check: command -v no-such-words >/dev/null 2>&1",
            "does not find `no-such-words` on the PATH",
        ),
        (
            "executable: ./words, install_check: which sh no-such-words",
            "its check `which sh no-such-words` does not find `no-such-words` on the PATH",
        ),
    ] {
        let folder = folder_with(&cli(&format!("{section}, {guide}"), ""));
        executable(folder.path(), "words", WORDS);
        executable(folder.path(), "broken", "#!/bin/sh\necho 'too old' >&2\nexit 3\n");
        let failure = failure(folder.path(), "notes:notes");
        assert_eq!(failure["code"], "SPAWN_FAILED", "{section}: {failure}");
        let text = failure["message"].as_str().expect("a text");
        assert!(text.contains(message), "{section}: {text}");
        assert_eq!(failure["suggestion"], "Run: make words", "{section}");
    }
}

/// The check runs once, however many calls follow, and one that needs a shell does not run at all.
#[test]
fn an_install_check_runs_once() {
    let section = "executable: ./words, install_check: ./check";
    let config = "[[source]]\nname = \"notes\"\npath = \"tool.yaml\"\n";
    let definition = cli(section, "");
    let folder =
        folder(&[("toolwright.toml", config.as_bytes()), ("tool.yaml", definition.as_bytes())]);
    executable(folder.path(), "words", WORDS);
    executable(folder.path(), "check", "#!/bin/sh\necho x >> checked\n");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    for _ in 0..3 {
        let name = client.names().remove(0);
        let answer = client.call(&name, json!({"args": ["a"]}));
        assert_eq!(answer["content"][0]["text"], "a\n", "{answer}");
    }
    let checked = std::fs::read_to_string(folder.path().join("checked")).expect("it ran");
    assert_eq!(checked, "x\n");
    let folder = folder_with(&cli("executable: ./words, install_check: ./check && ./check", ""));
    executable(folder.path(), "words", WORDS);
    let args = ["call", "--from", "tool.yaml", "notes:notes", "--args", "{\"args\": [\"a\"]}"];
    assert_eq!(run(folder.path(), &args).stdout, "a\n");
    let checked = run(folder.path(), &["check", "tool.yaml", "--output-format", "concise"]);
    let finding = "warning[UNKNOWN_CHECK]: the install check needs a shell; it is not run";
    assert!(checked.stdout.contains(finding), "{}", checked.stdout);
}

/// A check that never ends is ended, and nothing of it stays; one that prints without end has
/// started, and that is what a check is for.
#[test]
fn an_install_check_that_hangs_or_floods_ends() {
    let guide = "install_guide: \"Run: make words\"";
    let section = format!("executable: ./words, install_check: ./hang, {guide}");
    let folder = folder_with(&cli(&section, ""));
    executable(folder.path(), "words", WORDS);
    executable(folder.path(), "hang", "#!/bin/sh\necho $$ > pid\nexec sleep 600\n");
    let failure = failure(folder.path(), "notes:notes");
    assert_eq!(failure["code"], "SPAWN_FAILED", "{failure}");
    let text = failure["message"].as_str().expect("a text");
    assert!(text.ends_with("its check `./hang` did not end within 10 s"), "{text}");
    assert_eq!(failure["suggestion"], "Run: make words");
    let pid = std::fs::read_to_string(folder.path().join("pid")).expect("it has started");
    let is_gone = || (!Path::new("/proc").join(pid.trim()).exists()).then_some(());
    until("the check has ended", LONG, is_gone);
    let folder = folder_with(&cli("executable: ./words, install_check: yes", ""));
    executable(folder.path(), "words", WORDS);
    let args = ["call", "--from", "tool.yaml", "notes:notes", "--args", "{\"args\": [\"a\"]}"];
    let called = run(folder.path(), &args);
    assert_eq!(called.stdout, "a\n", "{}", called.stderr);
}

/// A guide can be as long as its author likes, an answer cannot.
#[test]
fn a_long_install_guide_is_cut() {
    let guide = "run this ".repeat(10_000);
    let section = format!("executable: no-such-words, install_guide: \"{guide}\"");
    for section in [section.clone(), format!("{section}, install_check: ./check")] {
        let folder = folder_with(&cli(&section, ""));
        let failure = failure(folder.path(), "notes:notes");
        let help = failure["suggestion"].as_str().expect("a text");
        assert!(help.starts_with("run this run this") && help.len() < 5_000, "{}", help.len());
        assert!(help.ends_with("… [cut: 89999 bytes in all]"), "{}", &help[help.len() - 60..]);
    }
}

/// Without a processor only words and input reach a program, so other arguments are no arguments.
#[test]
fn a_command_line_gets_words_and_input_only() {
    let own = "  tools:
    - id: search
      description: Searches all notes
      inputSchema: {type: object, properties: {word: {type: string}, args: {}, stdin: {}}}
";
    let turned = "  schema_version: 2.0
  executable_knowledge:
    processors:
      - id: to-words
        language: javascript
        processes: search
        stage: request
        function: '(data) => ({ args: [\"--word=\" + data.word, ...data.more ?? []] })'
";
    let script = "#!/bin/sh\nfor word in \"$@\"; do echo \"$word\"; done\ncat\n";
    let call = |more: &str, args: Json| {
        let folder = folder_with(&cli("executable: ./words", more));
        executable(folder.path(), "words", script);
        let args = args.to_string();
        let words = ["call", "--from", "tool.yaml", "notes:search", "--json", "--args", &args];
        let called = run(folder.path(), &words);
        let answer: Json = serde_json::from_str(&called.stdout).expect("JSON");
        let error = &answer["error"];
        match error["code"].as_str() {
            Some(code) => format!("{code}: {}", error["message"].as_str().expect("a text")),
            None => answer["content"][0]["text"].as_str().expect("a text").to_owned(),
        }
    };
    let refused = |why: &str| format!("INPUT_INVALID: `search` is a command line, and {why}");
    let both = format!("{own}{turned}");
    for (more, args, expected) in [
        (own, json!({"args": ["-s"], "stdin": "in"}), "search\n-s\nin".to_owned()),
        (own, json!({}), "search\n".to_owned()),
        (own, json!({"word": "a"}), refused("its program does not get the argument `word`")),
        (own, json!({"args": ["a", 2]}), refused("`args` is not a list of texts")),
        (own, json!({"args": "a"}), refused("`args` is not a list of texts")),
        (own, json!({"stdin": 2}), refused("`stdin` is not a text")),
        (&both, json!({"word": "a"}), "search\n--word=a\n".to_owned()),
        (&both, json!({"word": "a", "more": [2]}), refused("`args` is not a list of texts")),
    ] {
        assert_eq!(call(more, args.clone()), expected, "{args}");
    }
    for (more, count) in [(own, 1), (&both, 0)] {
        let folder = folder_with(&cli("executable: ./words", more));
        let checked = run(folder.path(), &["check", "tool.yaml", "--output-format", "concise"]);
        let finding = "warning[UNUSED_PARAMETER]: the program does not get the parameter `word`";
        assert_eq!(checked.stdout.matches(finding).count(), count, "{}", checked.stdout);
    }
}

/// Builtins of a shell that ask for a program are answered without one.
#[test]
fn an_install_check_may_ask_where_a_program_is() {
    for check in ["command -v sh", "command -v sh > /dev/null", "which sh", "type sh"] {
        let section = format!("executable: ./words, install_check: {check}");
        let folder = folder_with(&cli(&section, ""));
        executable(folder.path(), "words", WORDS);
        let args = ["call", "--from", "tool.yaml", "notes:notes", "--args", "{\"args\": [\"a\"]}"];
        let called = run(folder.path(), &args);
        assert_eq!(called.stdout, "a\n", "{check}: {}", called.stderr);
        let checked = run(folder.path(), &["check", "tool.yaml", "--output-format", "concise"]);
        assert!(!checked.stdout.contains("UNKNOWN_CHECK"), "{}", checked.stdout);
    }
}

/// The program of a tool may be a path in one place and a name in the other.
#[test]
fn a_program_is_the_same_by_its_path_and_by_its_name() {
    for (program, lines) in [
        ("./bin/words", ["words remote add", "words"]),
        ("./bin/words", ["./bin/words remote add", "./bin/words"]),
        ("words", ["/opt/bin/words remote add", "./words"]),
    ] {
        let [line, alone] = lines;
        let groups = format!(
            "  command_groups:\n    more:\n      - {{command: {line}}}\n      - {{command: {alone}}}\n"
        );
        let folder = folder_with(&cli(&format!("executable: {program}"), &groups));
        std::fs::create_dir(folder.path().join("bin")).expect("a folder");
        executable(&folder.path().join("bin"), "words", WORDS);
        let shown = run(folder.path(), &["list", "tool.yaml"]);
        let names: Vec<&str> =
            shown.stdout.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["notes:remote_add", "notes:words"], "{line}: {}", shown.stdout);
        if program == "words" {
            continue;
        }
        for (id, expected) in [("notes:remote_add", "remote\nadd\n-s\n"), ("notes:words", "-s\n")] {
            let args = ["call", "--from", "tool.yaml", id, "--args", "{\"args\": [\"-s\"]}"];
            let run = run(folder.path(), &args);
            assert_eq!(run.stdout, expected, "{line} {id}: {}", run.stderr);
        }
    }
    // Two paths are two programs.
    let groups = "  command_groups:\n    more:\n      - {command: /opt/words remote}\n";
    let folder = folder_with(&cli("executable: ./words", groups));
    let checked = run(folder.path(), &["check", "tool.yaml", "--output-format", "concise"]);
    assert!(checked.stdout.contains("INVALID_PATTERN"), "{}", checked.stdout);
}

/// What pip writes of a package that it has installed.
const OLD_ONE: &str = "Metadata-Version: 2.1\nName: old-one\nVersion: 2.4.0\n";

#[test]
fn a_script_is_looked_for_before_it_is_called() {
    let local = |section: &str| {
        format!(
            "tool: {{id: notes, type: local, name: Notes, version: 1.0.0, description: Keeps notes, \
             local_specific: {{{section}}}}}"
        )
    };
    for (section, message, help) in [
        ("runtime: sh, entry_point: ./none.sh", "does not exist", "correct `entry_point`"),
        (
            "runtime: no-such-runtime, entry_point: ./notes.sh",
            "`no-such-runtime`, which runs the script, is not on the PATH",
            "install `no-such-runtime`",
        ),
        (
            "runtime: sh, entry_point: ./notes.sh, dependencies: [sh, no-such-program]",
            "the script needs `no-such-program`, which is not installed",
            "install `no-such-program`",
        ),
        (
            "runtime: python3, entry_point: ./notes.py, \
             dependencies: [json, 'no-such-package>=1', beside]",
            "the script needs `no-such-package`, which is not installed",
            "pip install 'no-such-package>=1'",
        ),
        (
            "runtime: python3, entry_point: ./notes.py, dependencies: ['old-one>=2.31,<3']",
            "the script needs `old-one>=2.31,<3`, but version 2.4.0 is installed",
            "pip install 'old-one>=2.31,<3'",
        ),
    ] {
        let folder = folder(&[
            ("tool.yaml", local(section).as_bytes()),
            ("notes.sh", b"echo '{}'"),
            ("notes.py", b"print('{}')"),
            ("beside.py", b""),
            ("old_one-2.4.0.dist-info/METADATA", OLD_ONE.as_bytes()),
        ]);
        let failure = failure(folder.path(), "notes:notes");
        assert_eq!(failure["code"], "SPAWN_FAILED", "{section}: {failure}");
        assert!(failure["message"].as_str().expect("a text").contains(message), "{failure}");
        assert!(failure["suggestion"].as_str().expect("a text").contains(help), "{failure}");
    }
    let all = "runtime: python3, entry_point: ./notes.py, \
               dependencies: [json, beside, old-one~=2.4, 'gone>=1; python_version < \"3\"']";
    let folder = folder(&[
        ("tool.yaml", local(all).as_bytes()),
        ("notes.py", b"print('{}')"),
        ("beside.py", b""),
        ("old_one-2.4.0.dist-info/METADATA", OLD_ONE.as_bytes()),
    ]);
    let run = run(folder.path(), &["call", "--from", "tool.yaml", "notes:notes"]);
    assert_eq!(run.stdout.trim(), "{}", "{}", run.stderr);
}

/// The packages of a script for Node are those that Node finds from the script.
#[test]
fn packages_of_node_are_looked_for() {
    if Command::new("node").arg("--version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: there is no Node on the PATH");
        return;
    }
    let call = |dependencies: &str| {
        let text = format!(
            "tool: {{id: notes, type: local, name: Notes, version: 1.0.0, description: Keeps notes, \
             local_specific: {{runtime: node, entry_point: ./notes.js, dependencies: {dependencies}}}}}"
        );
        let folder = folder(&[
            ("tool.yaml", text.as_bytes()),
            ("notes.js", b"const beside = require('beside'); console.log(JSON.stringify(beside));"),
            ("node_modules/beside/package.json", br#"{"name": "beside", "version": "2.4.0"}"#),
            ("node_modules/beside/index.js", b"module.exports = { is: 'here' };"),
        ]);
        let called = run(folder.path(), &["call", "--from", "tool.yaml", "notes:notes", "--json"]);
        serde_json::from_str::<Json>(&called.stdout).expect("JSON")
    };
    for found in ["[beside]", "['beside@^2.1.0', fs, 'node:path']"] {
        assert_eq!(call(found)["structuredContent"], json!({"is": "here"}), "{found}");
    }
    for (missing, message, help) in [
        (
            "[beside, no-such-package, '@no/such']",
            "the script needs `no-such-package`, which is not installed; `@no/such`, which is not \
             installed",
            "npm install no-such-package @no/such",
        ),
        (
            "['beside@^3.0.0']",
            "the script needs `beside@^3.0.0`, but version 2.4.0 is installed",
            "npm install beside@^3.0.0",
        ),
    ] {
        let error = &call(missing)["error"];
        assert_eq!(error["code"], "SPAWN_FAILED", "{error}");
        assert_eq!((&error["message"], &error["suggestion"]), (&json!(message), &json!(help)));
    }
}

/// A tool with examples, and a script that answers them.
const SHOP: &str = "tool:
  schema_version: 2.0
  id: shop
  type: local
  name: Shop
  version: 1.0.0
  description: Sells things
  commands: [buy]
  local_specific: {runtime: sh, entry_point: ./shop.sh}
  executable_knowledge:
    validators:
      - id: validate-buy
        validates: buy
        language: javascript
        function: |
          (args) => ({ valid: Boolean(args.item), errors: args.item ? [] : ['item is required'] })
  examples:
    buy:
";

const SHOP_SCRIPT: &str = "read -r line
case \"$line\" in
*broken*) echo '{\"error\": \"out of stock\"}'; exit 1 ;;
*) echo '{\"price\": 3}' ;;
esac
";

#[test]
fn examples_are_really_called() {
    let examples = "      - {scenario: success, description: right, input: {item: pen}, output: {price: 3}}
      - {scenario: success, description: wrong, input: {item: pen}, output: {price: 4}}
      - {scenario: failure_invalid_param, description: refused, input: {}, error: {code: VALIDATION_ERROR, message: item is required}}
      - {scenario: failure_invalid_param, description: refused with another code, input: {}, error: {code: API_ERROR, message: item is required}}
      - {scenario: failure_invalid_param, description: refused with the code of a call, input: {}, error: {code: VALIDATION_FAILED}}
      - {scenario: failure_api_error, description: fails, input: {item: broken}, error: {code: API_ERROR, message: out of stock}}
      - {scenario: failure_api_error, description: fails otherwise, input: {item: broken}, error: {message: too heavy}}
      - {scenario: failure_api_error, description: other code, input: {item: broken}, error: {code: TIMEOUT, message: out of stock}}
      - {scenario: failure_api_error, description: unknown code, input: {item: broken}, error: {code: SOLD_OUT}}
      - {scenario: failure_api_error, description: works today, input: {item: pen}, error: {code: API_ERROR, message: closed}}
";
    let text = format!("{SHOP}{examples}");
    let folder = folder(&[("tool.yaml", text.as_bytes()), ("shop.sh", SHOP_SCRIPT.as_bytes())]);
    let called = run(folder.path(), &["test", "--run", "tool.yaml"]);
    let lines: Vec<&str> = called.stdout.lines().map(str::trim).collect();
    let status = |name: &str| {
        let line = lines.iter().find(|line| line.contains(&format!(": {name}")));
        line.unwrap_or_else(|| panic!("{name}: {}", called.stdout)).split(' ').next().unwrap()
    };
    for (name, expected) in [
        ("right", "ok"),
        ("wrong", "FAIL"),
        ("refused (", "ok"),
        ("refused with another code", "FAIL"),
        ("refused with the code of a call", "ok"),
        ("fails (", "ok"),
        ("fails otherwise", "FAIL"),
        ("other code", "FAIL"),
        ("unknown code", "skip"),
        ("works today", "skip"),
    ] {
        assert_eq!(status(name), expected, "{name}\n{}", called.stdout);
    }
    for line in [
        "expected an error that contains `too heavy`, but the call failed:",
        "expected the code `TIMEOUT`, but the call failed with `TOOL_FAILED`:",
        "the call failed, but it reports no code that could be compared",
        "expected the code `API_ERROR`, but the validators refuse it (`VALIDATION_FAILED`):",
        "the service did not fail, so there was no error to compare",
    ] {
        assert!(called.stdout.contains(line), "{line}\n{}", called.stdout);
    }
    assert_eq!(called.code, 1);
}

/// Without a validator and without a call, nothing was looked at.
#[test]
fn a_success_that_checked_nothing_is_skipped() {
    let definition =
        SHOP.replace("validates: buy", "validates: sell").replace("[buy]", "[buy, sell]");
    let example = "      - {scenario: success, input: {item: pen}, output: {price: 3}}\n";
    let text = format!("{definition}{example}");
    let folder = folder(&[("tool.yaml", text.as_bytes()), ("shop.sh", SHOP_SCRIPT.as_bytes())]);
    let read = run(folder.path(), &["test", "tool.yaml"]);
    assert!(read.stdout.contains("`buy` has no validator; `--run` calls it"), "{}", read.stdout);
    assert!(read.stdout.contains("0 passed, 0 failed, 1 skipped"), "{}", read.stdout);
    let called = run(folder.path(), &["test", "--run", "tool.yaml"]);
    assert!(called.stdout.contains("1 passed, 0 failed, 0 skipped"), "{}", called.stdout);
}

/// A call that cannot be made fails as well, but not in the way that an example expects. Nor does
/// the advice for callers count as what a tool says.
#[test]
fn an_expected_failure_is_not_met_by_a_call_that_was_not_made() {
    let tested = |program: &str, error: &str, more: &str| {
        let text = format!(
            "tool:
  schema_version: 2.0
  id: shop
  type: local
  name: Shop
  version: 1.0.0
  description: Sells things
  commands: [sell]
  local_specific: {{runtime: sh, entry_point: ./{program}}}
  examples:
    sell:
      - {{scenario: failure_invalid_param, input: {{}}, error: {error}}}
{more}"
        );
        let script = b"echo '{\"error\": \"no item\"}'; exit 1";
        let folder = folder(&[("tool.yaml", text.as_bytes()), ("shop.sh", script)]);
        run(folder.path(), &["test", "--run", "tool.yaml"])
    };
    let torn = "      - {scenario: success, input: {}}\n";
    for (program, error, more, expected) in [
        ("shop.sh", "{message: no item}", "", "1 passed, 0 failed"),
        ("shop.sh", "{message: tool's own}", "", "0 passed, 1 failed"),
        ("none.sh", "{}", "", "0 passed, 1 failed"),
        ("none.sh", "{message: does not exist}", "", "0 passed, 1 failed"),
        ("none.sh", "{code: API_ERROR}", "", "0 passed, 1 failed"),
        ("none.sh", "{code: SPAWN_FAILED}", "", "1 passed, 0 failed"),
        ("shop.sh", "{message: e}", torn, "0 passed, 2 failed"),
    ] {
        let tested = tested(program, error, more);
        assert!(tested.stdout.contains(expected), "{program} {error}: {tested:?}");
        let never = tested.stdout.contains("it never reached the tool:");
        let is_reached = program == "shop.sh" && more.is_empty() || error.contains("SPAWN");
        assert_eq!(never, !is_reached, "{program} {error}: {tested:?}");
    }
}

#[test]
fn show_lists_processors_that_no_call_runs() {
    let processors = "  schema_version: 2.0
  commands: [add]
  executable_knowledge:
    processors:
      - {id: shorten, language: javascript, function: '(data) => data'}
      - {id: sort, language: javascript, processes: add, function: '(data) => data'}
";
    let folder = folder_with(&cli("executable: ./words", processors));
    let shown = run(folder.path(), &["show", "tool.yaml"]);
    let line = "by hand     shorten runs only with `eval`; `processes: COMMAND` makes calls run it";
    assert!(shown.stdout.contains(line), "{}", shown.stdout);
}

/// The paths of a definition's own server start at the folder of the definition, wherever the
/// program runs, and however the definition is named.
#[test]
fn the_server_of_a_definition_is_started_in_its_folder() {
    let root = crate::program::project();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let file = root.join("examples/aios/tickets.yaml").display().to_string();
    let config = format!("[[source]]\nname = \"tickets\"\npath = \"{file}\"\n");
    std::fs::write(elsewhere.path().join("toolwright.toml"), config).expect("a file");
    for (folder, from) in [
        (elsewhere.path(), &["--from", &file][..]),
        (elsewhere.path(), &[]),
        (&root.join("examples"), &["--from", "aios/tickets.yaml"]),
        (&root.join("examples/aios"), &["--from", "tickets.yaml"]),
        (&root.join("examples/servers"), &["--from", "../aios/tickets.yaml"]),
    ] {
        let args = [&["call", "tickets:update_ticket", "id:=7"], from].concat();
        let called = run(folder, &args);
        assert!(called.code == 0 && called.stdout.contains("Printer on fire"), "{called:?}");
    }
}

/// The example with everything that a definition of version 2 can say, in front of its own server.
#[test]
fn the_example_of_an_mcp_tool_works() {
    let root = crate::program::project();
    let file = "examples/aios/tickets.yaml";
    let tested = run(&root, &["test", "--run", file]);
    assert!(tested.stdout.contains("8 examples: 7 passed, 0 failed, 1 skipped"), "{tested:?}");
    let skipped = "the service did not fail, so there was no error to compare";
    assert!(tested.stdout.contains(skipped), "{tested:?}");
    let checked = run(&root, &["doctor", file]);
    assert!(checked.stdout.contains("health check `update_ticket` passed"), "{checked:?}");
    let call = |id: &str, args: Json| -> Json {
        let args = args.to_string();
        let called = run(&root, &["call", "--from", file, id, "--json", "--args", &args]);
        serde_json::from_str(&called.stdout).unwrap_or_else(|error| panic!("{error}: {called:?}"))
    };
    // The payload is found inside of `ticket`, a helper extracts the labels, and a processor makes
    // the result.
    let created =
        call("tickets:create_ticket", json!({"title": "No paper", "labels": ["Paper", "paper"]}));
    let short = json!({"id": 8, "url": "https://tickets.example.com/8"});
    assert_eq!(created["structuredContent"], short, "{created}");
    assert_eq!(created["_meta"]["toolwright/fields"], json!({"labels": ["paper"]}), "{created}");
    let updated = call("tickets:update_ticket", json!({"id": 7, "labels": {"add": ["urgent"]}}));
    assert_eq!(updated["structuredContent"]["labels"], json!(["hardware", "urgent"]), "{updated}");
    let refused = call("tickets:update_ticket", json!({"id": 7, "labels": ["urgent"]}));
    assert_eq!(refused["error"]["code"], "VALIDATION_FAILED", "{refused}");
    assert_eq!(refused["error"]["advice"][0]["name"], "list_in_update", "{refused}");
}
