//! `check`, `explain`, `completions` and `man`: findings, output formats and exit codes. Tests of
//! `--fix` are in `fixing`.

use std::io::Read;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{UpstreamServer, faulty_server, run_with};
use crate::program::{Run, folder, run_in, toolwright};

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
const IN_MIXED: [&str; 3] = ["UNUSED_CAPABILITY", "OPEN_OBJECT", "CAPABILITY_NOT_DECLARED"];

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
const NOW: &str = r#"[{"name": "now", "description": "Returns the time", "inputSchema": {"type": "object", "properties": {}}}]"#;

/// Checks `files` with `args`.
fn check(files: &[(&str, &str)], args: &[&str]) -> Run {
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let args: Vec<&str> = ["check"].iter().chain(args).copied().collect();
    run(folder(&files).path(), &args)
}

/// The findings, as objects.
fn objects(run: &Run) -> Vec<Json> {
    run.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Code and line of every finding of one text.
fn found(name: &str, text: &str, args: &[&str]) -> Vec<(String, u64)> {
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

fn codes(run: &Run) -> Vec<String> {
    objects(run).iter().map(|o| o["code"].as_str().expect("a code").to_owned()).collect()
}

/// Asserts that a run ended with exit code 2 and one line on stderr, which contains these words.
fn assert_one_line(run: &Run, words: &[&str]) {
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{run:?}");
    assert!(run.stderr.starts_with("toolwright: "), "{run:?}");
    for word in words {
        assert!(run.stderr.contains(word), "{word}: {run:?}");
    }
}

#[test]
fn every_output_format_has_its_snapshot() {
    for form in ["full", "concise", "json", "sarif", "github"] {
        let run = check(&[("page.json", MIXED)], &["page.json", "--output-format", form]);
        assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{form}");
        assert!(!run.stdout.contains('\u{1b}'), "no colour where there is no terminal: {form}");
        if form != "sarif" {
            insta::assert_snapshot!(format!("output_{form}"), run.stdout);
        }
    }
    let run = check(&[("page.json", MIXED)], &["page.json"]);
    let fix = "help: possible fix: remove `dom:write`";
    assert!(run.stdout.contains(fix), "full is what one gets: {run:?}");
}

/// The shape is that of docs/record.md.
#[test]
fn json_output_has_the_documented_keys() {
    let run = check(
        &[("page.json", &format!("\u{feff}{MIXED}"))],
        &["page.json", "--output-format", "json"],
    );
    let objects = objects(&run);
    assert_eq!(codes(&run), IN_MIXED);
    for object in &objects {
        let keys: Vec<&str> =
            object.as_object().expect("an object").keys().map(String::as_str).collect();
        let promised = "code severity message source tool file start end path help fix";
        assert_eq!(keys.join(" "), promised);
    }
    let place =
        |line: u64, column: u64, byte: u64| json!({"line": line, "column": column, "byte": byte});
    // Bytes count from the start of the file, its byte order mark included.
    let byte = 3 + MIXED.find("\"dom:write\"").expect("it is there") as u64;
    let first = &objects[0];
    assert_eq!((&first["file"], &first["path"]), (&json!("page.json"), &json!("/capabilities/1")));
    assert_eq!(first["start"], place(6, 32, byte));
    assert_eq!(first["end"], place(6, 43, byte + 11));
    let edit = json!({"start": place(6, 30, byte - 2), "end": place(6, 43, byte + 11), "text": ""});
    assert_eq!(first["fix"], json!({"title": "remove `dom:write`", "safe": true, "edits": [edit]}));
    let clean = check(&[("now.json", NOW)], &["now.json", "--output-format", "json"]);
    assert_eq!((clean.code, clean.stdout.as_str(), clean.stderr.as_str()), (0, "", ""));
}

#[test]
fn sarif_output_is_one_document() {
    for (text, expected) in [(MIXED, &IN_MIXED[..]), (NOW, &[])] {
        let run = check(&[("a b.json", text)], &["a b.json", "--output-format", "sarif"]);
        let log: Json = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(log["version"], "2.1.0");
        let results = log["runs"][0]["results"].as_array().expect("results");
        let ids: Vec<&str> = results.iter().filter_map(|r| r["ruleId"].as_str()).collect();
        assert_eq!(ids, expected);
        for result in results {
            let rule = &log["runs"][0]["tool"]["driver"]["rules"]
                [result["ruleIndex"].as_u64().expect("n") as usize];
            assert_eq!(rule["id"], result["ruleId"]);
            let location = &result["locations"][0]["physicalLocation"];
            assert_eq!(location["artifactLocation"]["uri"], "a%20b.json");
        }
        assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], true);
    }
    // The document also reports the sources that could not be read.
    let run = check(&[("now.json", NOW)], &["now.json", "gone.json", "--output-format", "sarif"]);
    assert_eq!(run.code, 2, "{run:?}");
    let log: Json = serde_json::from_str(&run.stdout).expect("JSON");
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let text =
        invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().expect("a text");
    assert!(text.contains("gone.json") && run.stderr.contains(text), "{text}: {run:?}");
}

#[test]
fn the_summary_counts_tools_files_and_findings() {
    let summary = |files: &[(&str, &str)], args: &[&str]| {
        let run = check(files, &[&["--output-format", "concise"], args].concat());
        assert_eq!(run.stderr, "", "{run:?}");
        let is_finding = |line: &&str| {
            line.contains("error[") || line.contains("warning[") || line.contains("note[")
        };
        run.stdout.lines().filter(|line| !is_finding(line)).collect::<Vec<_>>().join(" | ")
    };
    let one = [("page.json", MIXED)];
    assert_eq!(
        summary(&one, &["page.json"]),
        "1 tool in 1 file: 1 error, 1 warning, 1 note, up to 2 fixable with `--fix`, 1 more with \
         `--unsafe-fixes`"
    );
    assert_eq!(
        summary(&one, &["page.json", "--ignore", "OPEN_OBJECT"]),
        "1 tool in 1 file: 1 error, 1 warning, up to 2 fixable with `--fix`"
    );
    assert_eq!(
        summary(&one, &["page.json", "--select", "OPEN_OBJECT"]),
        "1 tool in 1 file: 1 note, 1 fixable with `--unsafe-fixes`"
    );
    let other = MIXED.replace("page-tools", "other-tools");
    assert_eq!(
        summary(&[("page.json", MIXED), ("other.json", &other), ("now.json", NOW)], &["."]),
        "3 tools in 3 files: 2 errors, 3 warnings, 2 notes, up to 4 fixable with `--fix`, 2 more \
         with `--unsafe-fixes`"
    );
    assert_eq!(summary(&[("now.json", NOW)], &["now.json"]), "1 tool in 1 file: nothing to report");
    let others =
        [("now.json", NOW), ("package.json", r#"{"private": true}"#), ("torn.json", "{\"a\": ")];
    assert_eq!(
        summary(&others, &["."]),
        "1 tool in 1 file: nothing to report | 1 file skipped: unknown format | 1 file skipped, cannot be parsed: ./torn.json"
    );
    // A file that is named is checked, even if it has no key of a definition.
    assert_eq!(summary(&others, &["now.json", "torn.json"]), "1 tool in 2 files: 1 error");
}

/// Errors come first and are never left out; the same warning many times is one entry, and notes
/// are numbers.
#[test]
fn the_report_for_people_folds_warnings_and_counts_notes_but_prints_every_error() {
    let tool = |n: usize| {
        let schema = if n < 210 {
            "12"
        } else {
            "\"object\", \"properties\": {\"a\": {\"type\": \"string\"}}"
        };
        format!(
            "{{\"name\": \"t{n}\", \"description\": \"Returns the number {n}\", \"titel\": \"T\", \
             \"inputSchema\": {{\"type\": {schema}}}}}"
        )
    };
    let tools = format!("[{}]", (0..215).map(tool).collect::<Vec<_>>().join(",\n"));
    let files = [("many.json", tools.as_str())];
    let full = check(&files, &["many.json"]);
    assert_eq!(full.stdout.matches("error[INVALID_SCHEMA]").count(), 210, "{}", full.stdout);
    assert_eq!(full.stdout.matches("warning[MISSPELLED_FIELD]").count(), 1, "{}", full.stdout);
    let last_error = full.stdout.rfind("error[").expect("errors");
    assert!(last_error < full.stdout.find("warning[").expect("a warning"), "{}", full.stdout);
    assert!(
        full.stdout.contains("215 times in 215 tools; also at line 2 (t1), "),
        "{}",
        full.stdout
    );
    // A note is a number, unless somebody asks for it.
    let note = "the arguments may have properties that are not declared";
    assert!(full.stdout.contains("note[OPEN_OBJECT] 5 times: "), "{}", full.stdout);
    assert!(!full.stdout.contains(note), "{}", full.stdout);
    let hint =
        "`--notes` prints each of them, `--output-format concise` lists every finding\n\n215 tools";
    assert!(full.stdout.contains(hint), "{}", full.stdout);
    for args in [&["--notes"][..], &["--select", "OPEN_OBJECT"], &["--fail-on", "note"]] {
        let run = check(&files, &[&["many.json"], args].concat());
        assert!(run.stdout.contains(note) && !run.stdout.contains("`--notes`"), "{args:?}");
    }
    let concise = check(&files, &["many.json", "--output-format", "concise"]);
    assert_eq!(concise.stdout.matches("warning[MISSPELLED_FIELD]").count(), 215);
    assert_eq!(concise.stdout.matches("note[OPEN_OBJECT]").count(), 5);
}

#[test]
fn the_report_follows_the_width_of_the_terminal() {
    let long = "a b ".repeat(100);
    let text = format!(
        "[{{\"name\": \"t\", \"description\": \"{long}\", \"titel\": \"T\", \
         \"_meta\": {{\"a\": \"{long}\"}}, \"inputSchema\": {{\"type\": \"object\"}}}}]"
    );
    let folder = folder(&[("wide.json", text.as_bytes())]);
    for width in ["60", "100"] {
        let run = run_with(folder.path(), &["check", "wide.json"], &[("COLUMNS", width)], "");
        let excerpts = run.stdout.lines().filter(|line| line.contains(" | "));
        let longest = excerpts.map(|line| line.chars().count()).max().unwrap_or(0);
        let width: usize = width.parse().expect("a number");
        assert!(longest <= width && longest + 20 > width, "{longest} of {width}: {}", run.stdout);
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let tool = r#"{"name": "t", "description": "Tool", "inputSchema": {"type": 12}}"#;
    let text = format!("[{}]", vec![tool; 9_000].join(",\n"));
    let folder = folder(&[("many.json", text.as_bytes())]);
    let mut child = toolwright()
        .current_dir(folder.path())
        .args(["check", "many.json", "--output-format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut first = [0; 10];
    child.stdout.take().expect("piped").read_exact(&mut first).expect("it writes");
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
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

/// Name of the case, text, and the codes that are not silenced with their lines.
type SilencedCase<'c> = (&'c str, String, &'c [(&'c str, u64)]);

#[test]
fn a_comment_silences_one_code_at_one_place() {
    const NOTE: &str = "  commands: [add_note]\n";
    let silence = "# toolwright: ignore MISSING_DESCRIPTION - the name says it all";
    let with = |text: &str| NOTES.replace(NOTE, text);
    let [missing, useless, reason] =
        ["MISSING_DESCRIPTION", "USELESS_SILENCE", "SILENCE_WITHOUT_REASON"];
    let behind =
        |comment: &str| with(&format!("  commands: [add_note]  # toolwright: {comment}\n"));
    let below_a_text =
        |start: &str| NOTES.replace("Keeps notes", &format!("{start}{silence}\n    Keeps notes"));
    let cases: &[SilencedCase<'_>] = &[
        ("behind", behind("ignore MISSING_DESCRIPTION - the name says it all"), &[]),
        ("a dash is not needed", behind("ignore MISSING_DESCRIPTION: so"), &[]),
        ("above", with(&format!("  {silence}\n{NOTE}")), &[]),
        ("at another indent", with(&format!("{silence}\n{NOTE}")), &[]),
        (
            "blank and other comments between",
            with(&format!("  {silence}\n\n  # more\n  \n{NOTE}")),
            &[],
        ),
        ("below", with(&format!("{NOTE}  {silence}\n")), &[(missing, 7), (useless, 8)]),
        (
            "two above",
            NOTES.replace("  desc", &format!("  {silence}\n  desc")),
            &[(useless, 6), (missing, 8)],
        ),
        ("another code", behind("ignore OPEN_OBJECT - so"), &[(missing, 7), (useless, 7)]),
        ("no such code", behind("ignore MISSING_DESCRIPTIONS - so"), &[(missing, 7), (useless, 7)]),
        ("no reason", behind("ignore MISSING_DESCRIPTION"), &[(missing, 7), (reason, 7)]),
        ("only a dash", behind("ignore MISSING_DESCRIPTION - "), &[(missing, 7), (reason, 7)]),
        ("other words", behind("ignored MISSING_DESCRIPTION - so"), &[(missing, 7)]),
        // A comment inside a text is a part of the text.
        ("in a block", below_a_text("|\n    "), &[(missing, 9)]),
        ("in quotes", NOTES.replace("Keeps notes", &format!("\"{silence}\"")), &[(missing, 7)]),
    ];
    for (name, text, expected) in cases {
        let expected: Vec<(String, u64)> =
            expected.iter().map(|(code, line)| ((*code).to_owned(), *line)).collect();
        let mut lf = found("notes.yaml", text, &[]);
        lf.sort_by_key(|(code, line)| (*line, code.clone()));
        assert_eq!(lf, expected, "{name}");
        let mut crlf = found("notes.yaml", &text.replace('\n', "\r\n"), &[]);
        crlf.sort_by_key(|(code, line)| (*line, code.clone()));
        assert_eq!(crlf, expected, "{name}, CRLF");
        // Codes that are not selected are silenced, too.
        if expected.is_empty() {
            assert_eq!(found("notes.yaml", text, &["--select", useless]), [], "{name}");
            assert_eq!(found("notes.yaml", text, &["--ignore", missing]), [], "{name}");
        }
    }
    // JSON has no comments: a text that looks like a comment is a text.
    let json = NOW.replace("Returns the time", &format!("Returns the time {silence}"));
    assert_eq!(found("now.json", &json, &[]), []);
}

#[test]
fn comments_silence_findings_between_files() {
    let silenced = NOTES.replace(
        "[add_note]",
        "\n    - add_note  # toolwright: ignore DUPLICATE_ID - replaces the other",
    );
    let files = [("a.yaml", NOTES), ("b.yaml", silenced.as_str())];
    let args = ["a.yaml", "b.yaml", "--output-format", "json", "--ignore", "MISSING_DESCRIPTION"];
    assert_eq!(check(&files, &args).stdout, "");
    let plain = check(&[("a.yaml", NOTES), ("b.yaml", NOTES)], &args);
    assert_eq!(codes(&plain), ["DUPLICATE_ID"], "{plain:?}");
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

/// The mistakes of `faulty-server mcp bad-list`, by tool and by pointer into its answer. `file` and
/// `line` are those of the entry that names the server, or null.
fn in_the_bad_list(run: &Run, source: &str, file: Json, line: Json) {
    let errors: Vec<Json> = objects(run).into_iter().filter(|o| o["severity"] == "error").collect();
    let text = |o: &Json, key: &str| o[key].as_str().unwrap_or("").to_owned();
    let places: Vec<_> =
        errors.iter().map(|o| ["code", "tool", "path"].map(|key| text(o, key))).collect();
    assert_eq!(
        places,
        [
            ["MISSING_REQUIRED_FIELD", "", "/tools/2/name"],
            ["EXTERNAL_REF", "external_ref", "/tools/3/inputSchema/properties/x/$ref"],
        ],
        "{run:?}"
    );
    for error in &errors {
        let place = (&error["source"], &error["file"], &error["start"]["line"]);
        assert_eq!(place, (&json!(source), &file, &line), "{error}");
    }
}

#[test]
fn running_servers_are_checked() {
    let folder = folder(&[]);
    let program = faulty_server();
    let command = run(
        folder.path(),
        &["check", "--output-format", "json", "--", &program, "mcp", "bad-list"],
    );
    assert_eq!((command.code, command.stderr.as_str()), (1, ""));
    in_the_bad_list(&command, &format!("-- {program}"), Json::Null, Json::Null);
    // The server has the same findings over HTTP.
    let upstream = UpstreamServer::start("good");
    let url = run(folder.path(), &["check", "--output-format", "json", &upstream.url]);
    let same =
        run(folder.path(), &["check", "--output-format", "json", "--", &program, "mcp", "good"]);
    assert_eq!((url.code, url.stderr.as_str()), (0, ""), "{url:?}");
    assert!(objects(&url).iter().any(|o| o["path"] == "/tools/1/inputSchema"), "{url:?}");
    assert_eq!(url.stdout, same.stdout.replace(&format!("-- {program}"), &upstream.url));
    let config =
        format!("\n[[source]]\nname = \"up\"\ncommand = [\"{program}\", \"mcp\", \"bad-list\"]\n");
    std::fs::write(folder.path().join("toolwright.toml"), config).expect("a file");
    let configured = run(folder.path(), &["check", "--output-format", "json"]);
    assert_eq!((configured.code, configured.stderr.as_str()), (1, ""));
    in_the_bad_list(&configured, "up", json!("toolwright.toml"), json!(2));
    // There is no file to fix.
    let fixed =
        run(folder.path(), &["check", "--fix", "--unsafe-fixes", "--output-format", "json"]);
    assert_eq!((fixed.code, fixed.stdout), (1, configured.stdout));
    let said = "fixes change files: the tools of `up` can only be fixed where they are made\n";
    assert!(fixed.stderr.ends_with(said), "{}", fixed.stderr);
}

#[test]
fn servers_files_are_checked_and_keep_their_secrets() {
    const SECRET: &str = "tok-9f8e7d6c";
    let program = faulty_server();
    let servers = json!({"mcpServers": {
        "bad": {"command": program, "args": ["mcp", "bad-list"], "env": {"TOKEN": SECRET}},
        "gone": {"command": "/no/such/program", "env": {"TOKEN": SECRET}},
        "far": {"url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": SECRET}},
        "unset": {"command": "${NOT_SET}", "env": {"TOKEN": SECRET}},
    }});
    // The file is one line, so that showing any line would show all of it.
    let folder =
        folder(&[(".mcp.json", servers.to_string().as_bytes()), ("now.json", NOW.as_bytes())]);
    for form in ["full", "concise", "json", "sarif", "github"] {
        let run = run(folder.path(), &["check", ".mcp.json", "now.json", "--output-format", form]);
        assert_eq!(run.code, 2, "{form}");
        assert!(!format!("{run:?}").contains(SECRET), "{form}: {run:?}");
        // A program that is missing is found without an attempt to start it.
        for code in ["EXTERNAL_REF", "UNSET_VARIABLE", "COMMAND_NOT_FOUND"] {
            assert!(run.stdout.contains(code), "{form}: {run:?}");
        }
        let sentences: Vec<&str> = run.stderr.lines().collect();
        assert_eq!(sentences.len(), 1, "{form}: {run:?}");
        assert!(sentences[0].starts_with("toolwright: far: UPSTREAM_UNAVAILABLE"), "{run:?}");
    }
    let concise =
        run(folder.path(), &["check", ".mcp.json", "now.json", "--output-format", "concise"]);
    assert!(
        concise.stdout.contains("6 tools of 1 of 4 servers (not started: gone, unset) and 1 file"),
        "{concise:?}"
    );
    // A server that cannot be reached is one line, and the others are checked.
    let alone = run(folder.path(), &["check", "http://127.0.0.1:1/mcp", "now.json"]);
    assert_one_line(&alone, &["UPSTREAM_UNAVAILABLE", "no server listens at this address"]);
    assert_eq!(alone.stdout, "1 tool in 1 file: nothing to report\n");
}

/// Tools of a server are findings of the entry that starts it, and findings about the entry itself
/// belong to the same source.
#[test]
fn findings_of_a_server_are_anchored_at_its_entry() {
    let program = faulty_server();
    let servers = format!(
        "{{\"mcpServers\": {{\n  \"good\": {{\"command\": \"{program}\", \"args\": [\"mcp\", \"good\"]}},\n  \
         \"my bad\": {{\"command\": \"{program}\", \"args\": [\"mcp\", \"bad-list\"], \"cmd\": 1}}\n}}}}"
    );
    let folder = folder(&[(".mcp.json", servers.as_bytes())]);
    let checked = |form| run(folder.path(), &["check", ".mcp.json", "--output-format", form]);
    let json = checked("json");
    in_the_bad_list(&json, "my-bad", json!(".mcp.json"), json!(3));
    let objects = objects(&json);
    let of = |code: &str| objects.iter().find(|o| o["code"] == code).expect(code);
    let entry = of("UNKNOWN_FIELD");
    assert_eq!(
        (&entry["source"], &entry["tool"], &entry["file"]),
        (&json!("my-bad"), &Json::Null, &json!(".mcp.json"))
    );
    let place = ".mcp.json:3:3: error[EXTERNAL_REF]: my-bad › external_ref › properties.x.$ref: ";
    assert!(checked("concise").stdout.contains(place), "{}", checked("concise").stdout);
    insta::assert_snapshot!("output_full_of_servers", checked("full").stdout);
    for (form, start) in [("github", "file="), ("sarif", "\"uri\": \"")] {
        let run = checked(form);
        let files: Vec<&str> = run
            .stdout
            .split(start)
            .skip(1)
            .filter_map(|rest| rest.split([',', '"']).next())
            .collect();
        assert!(!files.is_empty() && files.iter().all(|file| *file == ".mcp.json"), "{run:?}");
    }
}

#[test]
fn explain_prints_the_manual_of_a_code() {
    let folder = folder(&[]);
    let explain = |args: &[&str]| run(folder.path(), &[&["explain"], args].concat());
    let upper = explain(&["INVALID_SCHEMA"]);
    assert_eq!((upper.code, upper.stderr.as_str()), (0, ""));
    for words in
        ["INVALID_SCHEMA (error)\n\n", "\nWrong:\n\n", "\nerror[INVALID_SCHEMA]: ", "\nRight:\n\n"]
    {
        assert!(upper.stdout.contains(words), "{words}: {upper:?}");
    }
    assert_eq!(explain(&["invalid_schema"]).stdout, upper.stdout);
    for (name, help) in [
        ("INVALID_SHEMA", "there is no code `INVALID_SHEMA` (did you mean `INVALID_SCHEMA`?)"),
        ("invalid_shema", "(did you mean `INVALID_SCHEMA`?)"),
        ("zzz", "`toolwright explain` lists all codes"),
    ] {
        let run = explain(&[name]);
        assert_one_line(&run, &[help]);
        assert_eq!(run.stdout, "");
    }
    let list = explain(&[]);
    assert_eq!((list.code, list.stderr.as_str()), (0, ""));
    let listed: Vec<&str> =
        list.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let mut all: Vec<&str> = toolwright_workspace::codes::all().map(|code| code.name).collect();
    all.sort_unstable();
    assert_eq!(listed, all);
    assert!(list.stdout.lines().all(|line| line.split_whitespace().count() > 4), "{}", list.stdout);
    // A code without a sample has a manual text, too.
    let bare = explain(&["LOOKALIKE_NAME"]);
    assert!(bare.code == 0 && bare.stdout.starts_with("LOOKALIKE_NAME (warning)\n\n"), "{bare:?}");
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let folder = folder(&[]);
    let run = |args: &[&str]| run(folder.path(), args);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let completions = run(&["completions", shell]);
        assert_eq!((completions.code, completions.stderr.as_str()), (0, ""), "{shell}");
        for word in ["check", "explain", "unsafe-fixes"] {
            assert!(completions.stdout.contains(word), "{shell} lacks {word}");
        }
    }
    let unknown = run(&["completions", "csh"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("possible values"), "{unknown:?}");
    let program = run(&["man"]);
    assert_eq!((program.code, program.stderr.as_str()), (0, ""));
    assert!(
        program.stdout.contains(".TH toolwright 1")
            && program.stdout.contains("toolwright\\-check(1)")
    );
    let check = run(&["man", "check"]);
    assert_eq!((check.code, check.stderr.as_str()), (0, ""));
    for words in
        [".TH toolwright-check 1", "toolwright check", "\\-\\-unsafe\\-fixes", "\\-\\-fail\\-on"]
    {
        assert!(check.stdout.contains(words), "{words}: {}", check.stdout);
    }
    let typo = run(&["man", "chekc"]);
    assert_one_line(&typo, &["unknown command `chekc` (did you mean `check`?)"]);
    assert_one_line(&run(&["man", "zzzzzz"]), &["unknown command `zzzzzz`"]);
    let command = run(&["chekc"]);
    assert!(
        command.code == 2 && command.stdout.is_empty() && command.stderr.contains("'check'"),
        "{command:?}"
    );
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
