//! `check`: which definitions and codes are checked, what is found and the exit codes. The forms of
//! the output are in `check_output`, servers in `checking_servers`, silencing comments in
//! `silencing_comments`, `--fix` in `fixing`.

use serde_json::Value as Json;

use crate::calling::run;
use crate::program::{Run, folder, run_in};

/// One finding of each severity; the error and the warning have safe fixes, the note an unsafe one.
pub(crate) const MIXED: &str = r#"{
  "btcp": "1.0",
  "name": "page-tools",
  "version": "1.0.0",
  "description": "Looks at pages",
  "capabilities": ["dom:read", "dom:write"],
  "tools": [
    {
      "name": "readPage",
      "description": "Reads the page aloud",
      "inputSchema": {"type": "object", "properties": {"part": {"type": "string", "description": "Which"}}},
      "outputSchema": {"type": "object"},
      "capabilities": ["dom:read", "dom:observe"]
    }
  ]
}
"#;

/// Its findings, in order.
pub(crate) const IN_MIXED: [&str; 3] =
    ["UNUSED_CAPABILITY", "OPEN_OBJECT", "CAPABILITY_NOT_DECLARED"];

/// One note, on line 7.
pub(crate) const NOTES: &str = "tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  commands: [add_note]
  cli_specific: {executable: notes}
";

/// A definition without findings.
pub(crate) const NOW: &str = r#"[{"name": "now", "description": "Returns the time", "inputSchema": {"type": "object", "properties": {}}}]"#;

/// Checks `files` with `args`.
pub(crate) fn check(files: &[(&str, &str)], args: &[&str]) -> Run {
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let args: Vec<&str> = ["check"].iter().chain(args).copied().collect();
    run(folder(&files).path(), &args)
}

/// The findings, as objects.
pub(crate) fn objects(run: &Run) -> Vec<Json> {
    run.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Code and line of every finding of one text.
pub(crate) fn found(name: &str, text: &str, args: &[&str]) -> Vec<(String, u64)> {
    let args: Vec<&str> = [name, "--output-format", "json"].iter().chain(args).copied().collect();
    let run = check(&[(name, text)], &args);
    let pair = |o: Json| {
        (
            o["code"].as_str().expect("a code").to_owned(),
            o["start"]["line"].as_u64().expect("a line"),
        )
    };
    objects(&run).into_iter().map(pair).collect()
}

pub(crate) fn codes(run: &Run) -> Vec<String> {
    objects(run).iter().map(|o| o["code"].as_str().expect("a code").to_owned()).collect()
}

/// Asserts that a run ended with exit code 2 and one line on stderr, which contains these words.
pub(crate) fn assert_one_line(run: &Run, words: &[&str]) {
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{run:?}");
    assert!(run.stderr.starts_with("toolwright: "), "{run:?}");
    for word in words {
        assert!(run.stderr.contains(word), "{word}: {run:?}");
    }
}

#[test]
fn fail_on_sets_the_exit_code() {
    let note = NOTES;
    let warning = MIXED.replace(", \"dom:observe\"", "");
    let cases = [
        (NOW, [0, 0, 0, 0]),
        (note, [0, 0, 1, 0]),
        (&warning, [0, 1, 1, 0]),
        (MIXED, [1, 1, 1, 0]),
    ];
    for (text, expected) in cases {
        for (level, expected) in ["error", "warning", "info", "never"].into_iter().zip(expected) {
            let run = check(&[("tools", text)], &["tools", "--fail-on", level]);
            assert_eq!((run.code, run.stderr.as_str()), (expected, ""), "{level}: {}", run.stdout);
        }
    }
    // A source that cannot be read is not a finding.
    assert_eq!(check(&[], &["nowhere.json", "--fail-on", "never"]).code, 2);
    let wrong = check(&[("now.json", NOW)], &["now.json", "--fail-on", "warnings"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("warning"), "{wrong:?}");
}

#[test]
fn codes_are_selected_and_ignored() {
    let [unused, open, undeclared] = IN_MIXED;
    let both = format!("{unused},{open}");
    let cases: &[(&[&str], &[&str])] = &[
        (&["--select", unused], &[unused]),
        (&["--select", unused, "--select", undeclared], &[unused, undeclared]),
        (&["--select", &both], &[unused, open]),
        (&["--ignore", &both], &[undeclared]),
        (&["--ignore", unused, "--ignore", open], &[undeclared]),
        (&["--select", &both, "--ignore", open], &[unused]),
        (&["--select", "INVALID_SCHEMA"], &[]),
    ];
    for (args, expected) in cases {
        let args: Vec<&str> =
            ["page.json", "--output-format", "json"].iter().chain(*args).copied().collect();
        let run = check(&[("page.json", MIXED)], &args);
        assert_eq!(codes(&run), *expected, "{args:?}");
        assert_eq!(run.code, i32::from(expected.contains(&undeclared)), "{args:?}");
    }
    for option in ["--select", "--ignore"] {
        for (code, help) in [
            ("INVALID_SHEMA", "there is no code `INVALID_SHEMA` (did you mean `INVALID_SCHEMA`?)"),
            ("OPEN_OBJECT,INVALID_SHEMA", "did you mean `INVALID_SCHEMA`?"),
            ("ZZZ", "there is no code `ZZZ` (`toolwright explain` lists all codes)"),
        ] {
            let run = check(&[("page.json", MIXED)], &["page.json", option, code]);
            assert_one_line(&run, &[help]);
            assert_eq!(run.stdout, "");
        }
    }
}

#[test]
fn format_and_compat_change_what_is_found() {
    let extra = "more: 1\n".to_owned() + NOTES;
    let severity = |args: &[&str]| {
        let run = check(
            &[("notes.yaml", &extra)],
            &[&["notes.yaml", "--output-format", "json"], args].concat(),
        );
        let of = |o: &Json| o["severity"].as_str().unwrap_or("").to_owned();
        let found = objects(&run).iter().find(|o| o["code"] == "EXTRA_ROOT_KEY").map(of);
        (run.code, found.unwrap_or_default())
    };
    assert_eq!(severity(&[]), (1, "error".to_owned()));
    assert_eq!(severity(&["--compat"]), (0, "warning".to_owned()));
    let as_mcp = check(
        &[("notes.yaml", NOTES)],
        &["notes.yaml", "--format", "mcp", "--output-format", "json"],
    );
    assert!(codes(&as_mcp).contains(&"MISSING_REQUIRED_FIELD".to_owned()), "{as_mcp:?}");
    let unknown = check(&[("notes.yaml", NOTES)], &["notes.yaml", "--format", "mpc"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("mcp"), "{unknown:?}");
}

#[test]
fn files_folders_and_standard_input_are_checked_once() {
    let files: &[(&str, &[u8])] = &[
        ("a/page.json", MIXED.as_bytes()),
        ("a/deep/notes.yaml", NOTES.as_bytes()),
        ("now.json", NOW.as_bytes()),
    ];
    let folder = folder(files);
    let last = |args: &[&str], stdin: &str| {
        let args: Vec<&str> =
            ["check", "--output-format", "concise"].iter().chain(args).copied().collect();
        let run = run_in(folder.path(), &args, stdin.as_bytes());
        assert_eq!(run.stderr, "", "{run:?}");
        run.stdout
            .lines()
            .last()
            .unwrap_or_default()
            .split(':')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(last(&["a"], ""), "2 tools in 2 files");
    assert_eq!(last(&["a", "now.json"], ""), "3 tools in 3 files");
    assert_eq!(last(&["-"], NOTES), "1 tool in 1 file");
    assert_eq!(last(&["-", "-"], NOTES), "1 tool in 1 file");
    assert_eq!(last(&["-", "now.json"], MIXED), "2 tools in 2 files");
    // A file that is named several times is checked once.
    assert_eq!(last(&["now.json", "./now.json", ".", "a/../now.json"], ""), "3 tools in 3 files");
    let stdin =
        run_in(folder.path(), &["check", "-", "--output-format", "concise"], NOTES.as_bytes());
    assert!(stdin.stdout.starts_with("<stdin>:7:14: note[MISSING_DESCRIPTION]"), "{stdin:?}");
    let missing = run(folder.path(), &["check", "nowhere.json", "a/page.json"]);
    assert_one_line(&missing, &["nowhere.json"]);
    assert!(
        missing.stdout.contains("CAPABILITY_NOT_DECLARED"),
        "the others are still checked: {missing:?}"
    );
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    assert_one_line(&run(folder.path(), &["check", "empty"]), &["no definitions in `empty`"]);
    assert_one_line(
        &run(folder.path(), &["check"]),
        &["there is nothing to check", "no `toolwright.toml` here or above"],
    );
}

#[test]
fn without_arguments_the_sources_of_the_configuration_are_checked() {
    let config = "[[source]]\nname = \"page\"\npath = \"tools\"\n";
    let folder = folder(&[
        ("toolwright.toml", config.as_bytes()),
        ("tools/page.json", MIXED.as_bytes()),
        ("deep/below/now.json", NOW.as_bytes()),
    ]);
    let below = folder.path().join("deep/below");
    for (place, args) in [
        (folder.path(), &["check"][..]),
        (&below, &["check"]),
        (&below, &["check", "--config", "../../toolwright.toml"]),
    ] {
        let run = run(place, args);
        assert!(
            run.code == 1 && run.stdout.contains("1 tool in 1 file: 1 error, 1 warning"),
            "{run:?}"
        );
    }
    let named = run(&below, &["check", "now.json"]);
    assert_eq!((named.code, named.stdout.as_str()), (0, "1 tool in 1 file: nothing to report\n"));
    assert_one_line(
        &run(&below, &["check", "now.json", "--config", "no.toml"]),
        &["there is no configuration file `no.toml`"],
    );
    // `--format` applies to these sources, too.
    let as_mcp = run(folder.path(), &["check", "--format", "mcp", "--output-format", "json"]);
    assert!(!codes(&as_mcp).contains(&"UNUSED_CAPABILITY".to_owned()), "{as_mcp:?}");
    // A source with a mistake is reported, and the others are checked.
    std::fs::write(
        folder.path().join("toolwright.toml"),
        format!("{config}\n[[source]]\nname = \"typo\"\npth = \"x\"\n"),
    )
    .expect("a file");
    let typo = run(folder.path(), &["check", "--output-format", "concise"]);
    assert_eq!(typo.code, 1, "{typo:?}");
    assert!(
        typo.stdout.contains("toolwright.toml:7:1: error[UNKNOWN_KEY]: unknown key `pth`"),
        "{typo:?}"
    );
    assert!(typo.stdout.contains("page.json:6:32: warning[UNUSED_CAPABILITY]"), "{typo:?}");
}

#[test]
fn levels_of_the_configuration_set_severities() {
    let levels = |text: &str, args: &[&str]| {
        let files = [("toolwright.toml", text), ("in/page.json", MIXED)];
        let run = check(&files, &[&["in/page.json", "--output-format", "json"], args].concat());
        assert_eq!(run.stderr, "", "{run:?}");
        let word = |o: &Json| format!("{} {}", o["code"], o["severity"]).replace('"', "");
        (run.code, objects(&run).iter().map(word).collect::<Vec<_>>().join(", "))
    };
    let [unused, open, undeclared] = IN_MIXED;
    assert_eq!(
        levels(
            "[levels]\nOPEN_OBJECT = \"off\"\nUNUSED_CAPABILITY = \"error\"\nCAPABILITY_NOT_DECLARED = \"info\"\n",
            &[]
        ),
        (1, format!("{unused} error, {undeclared} info"))
    );
    assert_eq!(
        levels("[levels]\nOPEN_OBJECT = \"warning\"\nCAPABILITY_NOT_DECLARED = \"warning\"\n", &[]),
        (0, format!("{unused} warning, {open} warning, {undeclared} warning"))
    );
    let off = "[levels]\nOPEN_OBJECT = \"off\"\n";
    assert_eq!(
        levels(off, &["--select", open]),
        (0, format!("{open} info")),
        "a selected code is shown"
    );
    assert_eq!(levels(off, &["--select", unused]), (0, format!("{unused} warning")));
    assert_eq!(levels(off, &["--fail-on", "note", "--ignore", unused]).0, 1);
    // The configuration is found in a folder above, or named.
    let folder = folder(&[
        ("toolwright.toml", off.as_bytes()),
        ("loud.toml", b""),
        ("in/page.json", MIXED.as_bytes()),
    ]);
    let inside = folder.path().join("in");
    for (config, seen) in [
        (&[][..], false),
        (&["--config", "../toolwright.toml"], false),
        (&["--config", "../loud.toml"], true),
    ] {
        let args: Vec<&str> = ["check", "page.json"].iter().chain(config).copied().collect();
        assert_eq!(run(&inside, &args).stdout.contains(open), seen, "{config:?}");
    }
}

#[test]
fn unknown_levels_of_a_configuration_are_one_error() {
    let cases = [
        (
            "[levels]\nINVALID_SHEMA = \"off\"\n",
            "toolwright.toml:2:1",
            "there is no code `INVALID_SHEMA` (did you mean `INVALID_SCHEMA`?)",
        ),
        (
            "[levels]\nOPEN_OBJECT = \"warn\"\n",
            "toolwright.toml:2:15",
            "expected `off`, `note`, `warning` or `error`",
        ),
        ("[levels]\nOPEN_OBJECT = \"eror\"\n", "toolwright.toml:2:15", "(did you mean `error`?)"),
        (
            "[levels]\nOPEN_OBJECT = 3\n",
            "toolwright.toml:2:15",
            "`OPEN_OBJECT` is an integer, expected a string",
        ),
        ("levels = \"error\"\n", "toolwright.toml:1:10", "`levels` is a string, expected a table"),
        ("[levels\n", "toolwright.toml:1:8", "INVALID_SYNTAX"),
    ];
    for (config, place, words) in cases {
        for args in [&["now.json"][..], &[]] {
            let run = check(&[("toolwright.toml", config), ("now.json", NOW)], args);
            assert_one_line(&run, &[place, words]);
            assert_eq!(run.stdout, "");
        }
    }
    // Other mistakes of the configuration do not matter when a file is named.
    let run = check(
        &[("toolwright.toml", "[limits]\ntimeout = \"x\"\n"), ("now.json", NOW)],
        &["now.json"],
    );
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

fn tool(name: &str) -> String {
    NOW.replace("\"now\"", &format!("\"{name}\"")).replace("}]", "}\n]")
}

#[test]
fn findings_between_files_are_reported() {
    let (latin, cyrillic, same) = (tool("read_file"), tool("re\u{430}d_file"), tool("read_file"));
    let args = ["one.json", "two.json", "--select", "LOOKALIKE_NAME,DUPLICATE_ID"];
    let run = check(&[("one.json", &latin), ("two.json", &cyrillic)], &args);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("lookalike_name", run.stdout);
    let run = check(&[("one.json", &latin), ("two.json", &same)], &args);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    insta::assert_snapshot!("duplicate_id_between_files", run.stdout);
    let far = check(&[("one.json", &latin), ("two.json", &tool("write_page"))], &args);
    assert_eq!((far.code, far.stdout.as_str()), (0, "2 tools in 2 files: nothing to report\n"));
}

/// A helper whose code starts at line 13.
fn helper(code: &str) -> String {
    let code: String = code.lines().map(|line| format!("          {line}\n")).collect();
    NOTES.to_owned()
        + "  executable_knowledge:\n    helpers:\n      - id: trim\n        function: |\n"
        + &code
        + "        description: Trims\n        language: javascript\n        runtime: isolated_vm\n"
}

const TORN: &str = "function trim(text) {\n  const größe = '😀';\n  return text +* größe;\n}\n";

fn local(entry_point: &str) -> String {
    NOTES.replace("type: cli", "type: local").replace(
        "cli_specific: {executable: notes}",
        &format!("local_specific: {{runtime: node, entry_point: {entry_point}}}"),
    )
}

#[test]
fn javascript_findings_point_into_their_file() {
    let select = ["--select", "INVALID_FUNCTION_SYNTAX,UNRESOLVED_REFERENCE"];
    let checked = |files: &[(&str, &str)], args: &[&str]| {
        let run = check(files, &[args, &select[..]].concat());
        assert_eq!(run.stderr, "", "{run:?}");
        run
    };
    let text = helper(TORN);
    let block = checked(&[("notes.yaml", &text)], &["notes.yaml"]);
    insta::assert_snapshot!("javascript_in_yaml", block.stdout);
    let crlf = checked(&[("notes.yaml", &text.replace('\n', "\r\n"))], &["notes.yaml"]);
    assert_eq!(crlf.stdout, block.stdout);
    let named = checked(&[("trim.js", TORN)], &["trim.js"]);
    insta::assert_snapshot!("javascript_in_a_file", named.stdout);
    let of_a_tool = [("in/notes.yaml", &*local("./trim.js")), ("in/trim.js", TORN)];
    let run = checked(&of_a_tool, &["in/notes.yaml"]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!("javascript_of_a_local_tool", run.stdout);
    // A script is checked once, however many definitions name it.
    let twice = checked(&of_a_tool, &["in/notes.yaml", "in/trim.js", "in/../in/trim.js"]);
    assert_eq!(twice.stdout.matches("INVALID_FUNCTION_SYNTAX").count(), 1, "{twice:?}");
    let missing = checked(&[("in/notes.yaml", &local("trim.js"))], &["in/notes.yaml"]);
    insta::assert_snapshot!("missing_script", missing.stdout);
    // Only JavaScript is checked, and only scripts of tools.
    let other = checked(
        &[("notes.yaml", &local("trim.py")), ("trim.py", TORN), ("other.js", TORN)],
        &["."],
    );
    assert_eq!((other.code, other.stdout.as_str()), (0, "1 tool in 1 file: nothing to report\n"));
    let good =
        checked(&[("trim.mjs", "export const trim = (text) => text.trim();\n")], &["trim.mjs"]);
    assert_eq!((good.code, good.stdout.as_str()), (0, "0 tools in 1 file: nothing to report\n"));
    assert_one_line(&check(&[], &["no.js"]), &["cannot read `no.js`"]);
    let mixed = check(&[("now.json", NOW)], &["no.js", "now.json"]);
    assert_one_line(&mixed, &["cannot read `no.js`"]);
    assert!(mixed.stdout.starts_with("1 tool in 1 file"), "{mixed:?}");
}

#[test]
fn a_broken_definition_in_a_folder_is_reported() {
    let good = "name: good\ndescription: Does it\ninputSchema: {type: object, properties: {}}\n";
    let files = folder(&[
        ("good.yaml", good.as_bytes()),
        ("colon.yaml", b"name: x\ndescription: a: b\ninputSchema: {}\n"),
        ("latin1.yaml", b"inputSchema: {}\nname: caf\xe9\n"),
        ("torn.json", b"{\"name\": \"x\", \"description\": \"a, \"inputSchema\": {"),
        ("notes.yaml", b"tool:\n  id: [a\n"),
        ("values.yaml", b"{{ template }}: a: b\n"),
    ]);
    let checked = run(files.path(), &["check", ".", "--output-format", "concise"]);
    assert_eq!(checked.code, 1, "{checked:?}");
    for part in [
        "./colon.yaml:2:15: error[INVALID_SYNTAX]",
        "./latin1.yaml:2:",
        "./torn.json:1:",
        "./notes.yaml:",
        "skipped, cannot be parsed: ./values.yaml",
    ] {
        assert!(checked.stdout.contains(part), "{part}: {checked:?}");
    }
    let listed = run(files.path(), &["list", "."]);
    assert!(listed.stdout.contains("good"), "{listed:?}");
}

#[test]
fn a_configuration_that_cannot_be_read_is_an_error() {
    let files = folder(&[
        ("toolwright.toml", b"[levels]\nOPEN_OBJECT = \"error\" # caf\xe9\n"),
        ("notes.yaml", NOTES.as_bytes()),
    ]);
    let checked = run(files.path(), &["check", "notes.yaml"]);
    assert_eq!((checked.code, checked.stderr.contains("not UTF-8")), (2, true), "{checked:?}");
    let spaced = run(files.path(), &["check", "notes.yaml", "--config", "none.toml"]);
    assert_eq!(spaced.code, 2, "{spaced:?}");
    std::fs::remove_file(files.path().join("toolwright.toml")).expect("it is there");
    let spaced =
        run(files.path(), &["check", "notes.yaml", "--select", "OPEN_OBJECT, MISSING_SCENARIO"]);
    assert_eq!(spaced.code, 0, "{spaced:?}");
}
