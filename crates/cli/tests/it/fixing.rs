//! `check --fix`, `--unsafe-fixes` and `--diff`: what is fixed, and that nothing else changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_script::InProcessAnalyzer;
use toolwright_source::{Diagnostic, Span, TextEdit, splice};
use toolwright_workspace::{ReadOptions, Workspace, codes};

use crate::calling::run;
use crate::checking::{MIXED, NOTES};
use crate::program::{Run, folder, run_in};
use crate::rules::{RuleTable, parse};

/// A tag with a fix, in JSON and in YAML of both styles.
const JSON: &str = r#"{ "name" : "now",
  "description":"Returns the time",   "tags": [ "Größe A" ,"b" ],
	"inputSchema": {"type": "object", "properties": {}} }
"#;
const BLOCK: &str = "# above
name: now # behind
description: >-   # folded
  Returns
  the time

tags:
  # one
  - Größe A   # two
  - 'b'
inputSchema: {type: object, properties: {}} # last
";
const FLOW: &str = "{name: now, # behind
 description: 'Returns the time', tags: [ Größe A, b ], # here
 inputSchema: {type: object, properties: {}}}
";

/// The bytes of a file after a run with these arguments, and the run.
fn fixed(name: &str, text: &[u8], args: &[&str]) -> (Vec<u8>, Run) {
    let folder = folder(&[(name, text)]);
    let args: Vec<&str> = ["check", name].iter().chain(args).copied().collect();
    let run = run(folder.path(), &args);
    assert_eq!(names(folder.path()), [name], "nothing is left beside it");
    (fs::read(folder.path().join(name)).expect("it is still there"), run)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn last(run: &Run) -> &str {
    run.stdout.lines().last().unwrap_or_default()
}

#[test]
fn fixes_are_repeated_until_none_is_left() {
    let expected = MIXED.replace("\"dom:write\"", "\"dom:observe\"");
    let (after, run) = fixed("page.json", MIXED.as_bytes(), &["--fix"]);
    assert_eq!(String::from_utf8_lossy(&after), expected);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(last(&run), "1 tool in 1 file: 2 fixed, 1 note, 1 fixable with `--unsafe-fixes`");
    let (again, run) = fixed("page.json", &after, &["--fix"]);
    assert_eq!(again, after);
    assert_eq!(last(&run), "1 tool in 1 file: 1 note, 1 fixable with `--unsafe-fixes`");
    // Fixes at one place are made one after the other.
    let many =
        MIXED.replace("\"dom:observe\"", "\"dom:observe\", \"dom:shadow\", \"storage:local:read\"");
    let (after, run) = fixed("page.json", many.as_bytes(), &["--fix"]);
    let declared = "\"capabilities\": [\"dom:read\", \"dom:observe\", \"dom:shadow\", \"storage:local:read\"],";
    assert!(
        String::from_utf8_lossy(&after).contains(declared),
        "{}",
        String::from_utf8_lossy(&after)
    );
    assert!(last(&run).starts_with("1 tool in 1 file: 4 fixed, "), "{run:?}");
}

#[test]
fn fixes_change_no_other_byte() {
    for (name, text) in [("now.json", JSON), ("now.yaml", BLOCK), ("flow.yaml", FLOW)] {
        let crlf = text.replace('\n', "\r\n");
        let bare = text.trim_end().to_owned();
        for text in [
            text.to_owned(),
            crlf,
            bare.clone(),
            format!("\u{feff}{text}"),
            format!("\u{feff}{bare}"),
        ] {
            let (after, run) =
                fixed(name, text.as_bytes(), &["--fix", "--select", "TAG_NOT_NORMALIZED"]);
            let after = String::from_utf8(after).expect("UTF-8");
            // A fix that drops other characters than white space and capitals is unsafe.
            assert_eq!(after, text, "{run:?}");
            let safe = text.replace("Größe A", "Many Ways");
            let (after, run) = fixed(name, safe.as_bytes(), &["--fix"]);
            let after = String::from_utf8(after).expect("UTF-8");
            assert_eq!(after, safe.replace("Many Ways", "many-ways"), "{run:?}");
            assert!(run.code == 0 && last(&run).contains("1 fixed"), "{run:?}");
            let (after, run) = fixed(name, text.as_bytes(), &["--unsafe-fixes"]);
            let after = String::from_utf8(after).expect("UTF-8");
            assert!(!after.contains("Größe") && run.code == 0, "{run:?}");
            let (start, end) = text.split_once("Größe A").expect("it is there");
            let (end, start) = (end.trim_start_matches('"'), start.trim_end_matches('"'));
            assert!(after.starts_with(start) && after.ends_with(end), "{after}");
        }
    }
}

#[test]
fn unsafe_fixes_are_made_only_on_request() {
    let (after, run) = fixed("page.json", MIXED.as_bytes(), &["--unsafe-fixes"]);
    let after = String::from_utf8_lossy(&after);
    assert_eq!(last(&run), "1 tool in 1 file: 3 fixed", "{run:?}");
    assert!(
        after.contains("\"additionalProperties\": false") && after.contains("\"dom:observe\"],"),
        "{after}"
    );
    let (both, _) = fixed("page.json", MIXED.as_bytes(), &["--fix", "--unsafe-fixes"]);
    assert_eq!(String::from_utf8_lossy(&both), after);
}

#[test]
fn only_selected_codes_are_fixed() {
    for (args, expected) in [
        (&["--fix", "--select", "UNUSED_CAPABILITY"][..], MIXED.replace(", \"dom:write\"", "")),
        (
            &["--fix", "--ignore", "UNUSED_CAPABILITY"],
            MIXED.replace("\"dom:write\"", "\"dom:write\", \"dom:observe\""),
        ),
        (&["--fix", "--select", "OPEN_OBJECT"], MIXED.to_owned()),
        (&["--fix", "--select", "INVALID_SCHEMA"], MIXED.to_owned()),
    ] {
        let (after, run) = fixed("page.json", MIXED.as_bytes(), args);
        assert_eq!(String::from_utf8_lossy(&after), expected, "{run:?}");
    }
    // Codes that are switched off are not fixed either.
    let folder = folder(&[
        ("page.json", MIXED.as_bytes()),
        ("toolwright.toml", b"[levels]\nUNUSED_CAPABILITY = \"off\"\n"),
    ]);
    run(folder.path(), &["check", "page.json", "--fix"]);
    let after = fs::read_to_string(folder.path().join("page.json")).expect("a file");
    assert_eq!(after, MIXED.replace("\"dom:write\"", "\"dom:write\", \"dom:observe\""));
}

#[test]
fn diff_prints_changes_and_writes_none() {
    let (after, run) = fixed("page.json", MIXED.as_bytes(), &["--diff"]);
    assert_eq!(String::from_utf8_lossy(&after), MIXED);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    insta::assert_snapshot!("diff", run.stdout);
    let (_, risky) = fixed("page.json", MIXED.as_bytes(), &["--diff", "--unsafe-fixes"]);
    assert!(
        risky.stdout.contains("\n+      \"inputSchema\": ")
            && risky.stdout.contains("3 would be fixed"),
        "{risky:?}"
    );
    let (after, with_fix) = fixed("page.json", MIXED.as_bytes(), &["--diff", "--fix"]);
    assert_eq!((String::from_utf8_lossy(&after).as_ref(), with_fix.stdout), (MIXED, run.stdout));
    // A fix that would be made is exit code 1, even where there is no error.
    let warning = MIXED.replace(", \"dom:observe\"", "");
    assert_eq!(fixed("page.json", warning.as_bytes(), &["--diff"]).1.code, 1);
    let (_, none) = fixed("notes.yaml", NOTES.as_bytes(), &["--diff"]);
    assert!(none.code == 0 && !none.stdout.contains("@@"), "{none:?}");
}

#[test]
fn standard_input_is_not_fixed() {
    let folder = folder(&[]);
    for option in ["--fix", "--unsafe-fixes", "--diff"] {
        let run = run_in(folder.path(), &["check", "-", option], MIXED.as_bytes());
        let note = "toolwright: standard input cannot be fixed; name the file instead\n";
        assert_eq!((run.code, run.stderr.as_str()), (1, note), "{option}");
        // Nothing is counted as fixable: there is no file to write.
        assert_eq!(last(&run), "1 tool in 1 file: 1 error, 1 warning, 1 note", "{option}");
        assert_eq!(names(folder.path()), [""; 0]);
    }
}

#[test]
fn fixes_keep_permissions_and_links() {
    let folder = folder(&[("real/page.json", MIXED.as_bytes())]);
    let (file, link) = (folder.path().join("real/page.json"), folder.path().join("link.json"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("ours");
    std::os::unix::fs::symlink("real/page.json", &link).expect("a link");
    let run = run(folder.path(), &["check", "link.json", "real/page.json", "--fix"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(last(&run).starts_with("1 tool in 1 file: 2 fixed"), "the two are one: {run:?}");
    assert_eq!(fs::read_link(&link).expect("still a link"), Path::new("real/page.json"));
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
    assert!(!fs::read_to_string(&file).expect("a file").contains("dom:write"));
    assert_eq!(names(&folder.path().join("real")), ["page.json"]);
}

/// Asserts that a run reports that it cannot write `name`, and fixes the other file.
fn assert_not_written(run: &Run, folder: &Path, name: &str, other: &str) {
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{run:?}");
    assert!(run.stderr.starts_with(&format!("toolwright: cannot write `{name}`")), "{run:?}");
    assert_eq!(fs::read_to_string(folder.join(name)).expect("a file").trim_end_matches(' '), MIXED);
    assert!(!fs::read_to_string(folder.join(other)).expect("a file").contains("dom:write"));
    // The file that was not written still has its findings.
    let summary = "2 tools in 2 files: 2 fixed, 1 error, 2 warnings, 2 notes, 2 fixable, 2 more with `--unsafe-fixes`";
    assert_eq!(last(run), summary);
}

#[test]
fn a_file_that_cannot_be_written_stays_whole() {
    let other = MIXED.replace("page-tools", "other-tools");
    // The disk is full for the second file: it is longer than a process here may write.
    let padded = format!("{MIXED}{}", " ".repeat(8 << 10));
    let full = folder(&[("page.json", padded.as_bytes()), ("other.json", other.as_bytes())]);
    let command = format!(
        "trap '' XFSZ; ulimit -f 8; exec '{}' check page.json other.json --fix --output-format concise",
        env!("CARGO_BIN_EXE_toolwright")
    );
    let limited = Command::new("sh").args(["-c", &command]).current_dir(full.path()).output();
    let limited = Run::of(limited.expect("sh runs"));
    assert_not_written(&limited, full.path(), "page.json", "other.json");
    assert_eq!(names(full.path()), ["other.json", "page.json"]);
    let locked = folder(&[("in/page.json", MIXED.as_bytes()), ("other.json", other.as_bytes())]);
    let inside = locked.path().join("in");
    fs::set_permissions(&inside, fs::Permissions::from_mode(0o555)).expect("ours");
    // The administrator may write in any folder.
    if fs::write(inside.join("probe"), "").is_err() {
        let options =
            ["check", "in/page.json", "other.json", "--fix", "--output-format", "concise"];
        assert_not_written(
            &run(locked.path(), &options),
            locked.path(),
            "in/page.json",
            "other.json",
        );
        assert_eq!(names(&inside), ["page.json"]);
    }
    fs::set_permissions(&inside, fs::Permissions::from_mode(0o755)).expect("ours");
}

/// Sources are read in order, so the program runs between the reading of the file and its fix.
#[test]
fn a_file_that_changed_since_it_was_read_is_not_fixed() {
    let folder = folder(&[("page.json", MIXED.as_bytes())]);
    let edit = "printf 'written by another program' > page.json";
    let run = run(folder.path(), &["check", "page.json", "--fix", "--", "/bin/sh", "-c", edit]);
    assert_eq!(run.code, 2, "{run:?}");
    let words = "toolwright: `page.json` has changed since it was read, and was left alone (run it again)\n";
    assert!(run.stderr.contains(words), "{run:?}");
    assert!(
        last(&run).starts_with("1 tool in 1 file: 1 error, 1 warning, 1 note, 2 fixable"),
        "{run:?}"
    );
    let after = fs::read_to_string(folder.path().join("page.json")).expect("a file");
    assert_eq!(after, "written by another program");
    assert_eq!(names(folder.path()), ["page.json"]);
}

#[test]
fn unsafe_fixes_remove_useless_comments() {
    let useless = "# toolwright: ignore OPEN_OBJECT - so";
    for text in [NOTES.to_owned(), NOTES.replace('\n', "\r\n")] {
        let end = if text.contains('\r') { "\r\n" } else { "\n" };
        let behind = text.replace("Keeps notes", &format!("Keeps notes  {useless}"));
        let above = text
            .replace("  type", &format!("  {useless}{end}  {useless}{end}  # stays{end}  type"));
        let first = format!("{useless}{end}{text}");
        let stays = text.replace("  type", &format!("  # stays{end}  type"));
        for (before, expected, n) in [(behind, &text, 1), (above, &stays, 2), (first, &text, 1)] {
            let (after, run) = fixed("notes.yaml", before.as_bytes(), &["--unsafe-fixes"]);
            assert_eq!(&String::from_utf8_lossy(&after), expected);
            assert_eq!(last(&run), format!("1 tool in 1 file: {n} fixed, 1 note"));
        }
    }
}

/// Comments that silence findings between files, or about files beside the definition, are not
/// useless to a check of one file alone.
#[test]
fn comments_about_other_files_are_kept() {
    let script = NOTES.replace("type: cli", "type: local").replace(
        "cli_specific: {executable: notes}",
        "local_specific:\n    runtime: node\n    # toolwright: ignore UNRESOLVED_REFERENCE - built later\n    entry_point: notes.js",
    );
    let (after, run) = fixed("notes.yaml", script.as_bytes(), &["--fix"]);
    assert_eq!(String::from_utf8_lossy(&after), script, "{run:?}");
    let twin = NOTES
        .replace("[add_note]", "\n    - add_note  # toolwright: ignore DUPLICATE_ID - replaces it");
    let folder = folder(&[("a.yaml", NOTES.as_bytes()), ("b.yaml", twin.as_bytes())]);
    let both = run_in(folder.path(), &["check", "a.yaml", "b.yaml", "--fix"], b"");
    assert_eq!(last(&both), "2 tools in 2 files: 2 notes, 1 silenced", "{both:?}");
    assert_eq!(fs::read_to_string(folder.path().join("b.yaml")).expect("a file"), twin);
    // Checked alone, the comment is useless; removing the reason that a person wrote is unsafe.
    let alone = run_in(folder.path(), &["check", "b.yaml", "--fix"], b"");
    let words = "1 tool in 1 file: 1 warning, 1 note, 1 fixable with `--unsafe-fixes`";
    assert_eq!(last(&alone), words, "{alone:?}");
    assert_eq!(fs::read_to_string(folder.path().join("b.yaml")).expect("a file"), twin);
    // Findings about other files are still reported after a fix.
    let useless = script.replace(" UNRESOLVED_REFERENCE", " OPEN_OBJECT");
    let (_, run) = fixed("notes.yaml", useless.as_bytes(), &["--unsafe-fixes"]);
    assert_eq!(last(&run), "1 tool in 1 file: 1 fixed, 1 warning, 1 note", "{run:?}");
}

#[test]
fn a_safe_fix_that_would_add_a_finding_is_not_made() {
    let tool = |key: &str| {
        format!(
            "name: x\n{key}: n\ndescription: Does it\ninputSchema: {{type: object, properties: {{}}}}\n"
        )
    };
    let (wrong, right) = (tool("namespce"), tool("namespace"));
    // With its namespace fixed, it would have the id of a tool in the other file.
    let files = folder(&[
        ("b.yaml", wrong.as_bytes()),
        ("c.yaml", right.as_bytes()),
        ("d.yaml", tool("namespac").as_bytes()),
    ]);
    let repaired = run(files.path(), &["check", "--fix", "."]);
    // The two tools without a namespace had one id before.
    assert_eq!(repaired.stdout.matches("DUPLICATE_ID").count(), 1, "{repaired:?}");
    assert!(!repaired.stdout.contains("`n:x`"), "{repaired:?}");
    assert_eq!(fs::read_to_string(files.path().join("b.yaml")).expect("the file"), wrong);
    // A fix that was undone is not offered as safe again.
    assert!(last(&repaired).ends_with("2 fixable with `--unsafe-fixes`"), "{}", last(&repaired));
    let alone = folder(&[("b.yaml", wrong.as_bytes())]);
    assert!(run(alone.path(), &["check", "--fix", "."]).stdout.contains("1 fixed"));

    // The same message at another place is another finding.
    let broken =
        r#"{"type": "object", "properties": {"p": {"type": "strin", "description": "p"}}}"#;
    let good = r#"{"type": "object", "properties": {}}"#;
    let text = format!(
        r#"[{{"name": "first", "description": "First tool", "inputSchema": {broken}}},
 {{"name": "second", "description": "Second tool", "inputSchema": {good}, "outputSchma": {broken}}}]"#
    );
    let (after, repaired) = fixed("m.json", text.as_bytes(), &["--fix"]);
    assert_eq!(after, text.as_bytes(), "{repaired:?}");

    // A fix that would add notes is not made either, unless the configuration switches them off,
    // and it is not offered as safe.
    let text = "name: x\ndescription: Does it\ninputSchma: {type: object, properties: {p: {type: string}}}\n";
    let levels = "[levels]\nOPEN_OBJECT = \"off\"\nMISSING_PARAMETER_DESCRIPTION = \"off\"\n";
    for (config, safe) in [("", false), (levels, true)] {
        let files = folder(&[("toolwright.toml", config.as_bytes()), ("lv.yaml", text.as_bytes())]);
        let check = |option| run(files.path(), &["check", option, "--format", "mcp", "lv.yaml"]);
        // A plain check does not try fixes, so it must not promise them.
        let checked = check("--output-format=full");
        let fix = "help: possible fix: rename it to `inputSchema`";
        assert!(checked.stdout.contains(fix), "{checked:?}");
        assert!(last(&checked).contains(", up to 1 fixable with `--fix`"), "{checked:?}");
        // Only the forms that print whether a fix is safe try it.
        let checked = check("--output-format=json");
        let fixes = checked.stdout.lines().filter_map(|line| {
            let found: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
            found["fix"]["safe"].as_bool()
        });
        assert_eq!(fixes.collect::<Vec<_>>(), [safe], "{checked:?}");
        let repaired = check("--fix");
        let now = fs::read_to_string(files.path().join("lv.yaml")).expect("the file");
        assert_eq!(now != text, safe, "{repaired:?}");
        if !safe {
            let repaired = check("--unsafe-fixes");
            let now = fs::read_to_string(files.path().join("lv.yaml")).expect("the file");
            assert!(now.contains("inputSchema"), "{repaired:?}");
        }
    }
}

/// `--fix` makes every fix that the summary counts, and no further finding appears.
#[test]
fn everything_counted_as_fixable_is_fixed() {
    let tool = |n: usize, key: &str, more: &str| {
        let schema = format!(
            r#"{{"type": "object", "properties": {{{more}}}, "additionalProperties": false}}"#
        );
        format!(r#"{{"name": "tool_{n}", "{key}": "Does it", "inputSchema": {schema}}}"#)
    };
    let list = |tools: Vec<String>| format!("[{}]", tools.join(",\n "));
    // More notes than are reported: a note that is fixed makes room for another.
    let noted = |n| tool(n, if n == 7 { "descripton" } else { "description" }, "");
    let many = list((0..510).map(noted).collect());
    let (after, run) = fixed("cap.json", many.as_bytes(), &["--fix"]);
    assert_eq!(
        String::from_utf8_lossy(&after),
        many.replace("descripton", "description"),
        "{}",
        last(&run)
    );
    // A fix that can be made behind dozens that cannot: under its right name, the schema has a
    // parameter without a description.
    let bad = |n: usize| {
        tool(n, "description", r#""p": {"type": "string"}"#).replace("inputSchema", "inputSchma")
    };
    let tools = (0..20).map(bad).chain([tool(20, "descripton", "")]);
    let mixed = list(tools.collect());
    let (after, run) = fixed("mixed.json", mixed.as_bytes(), &["--fix"]);
    assert_eq!(
        String::from_utf8_lossy(&after),
        mixed.replace("descripton", "description"),
        "{}",
        last(&run)
    );
    assert!(last(&run).contains("1 fixed") && !last(&run).contains("fixable, "), "{}", last(&run));

    // A missing script is reported by another check than the findings of the reader.
    let local = "tool:\n  id: t\n  type: local\n  name: T\n  version: 1.0.0\n  description: Does it\n  \
                 local_specific:\n    entry_pont: ./missing.js\n";
    let (after, run) = fixed("t.yaml", local.as_bytes(), &["--fix"]);
    assert_eq!(after, local.as_bytes(), "{run:?}");
    // Codes that are not selected count, too.
    let (after, run) = fixed(
        "mixed.json",
        list(vec![bad(1)]).as_bytes(),
        &["--fix", "--select", "MISSPELLED_FIELD"],
    );
    assert!(String::from_utf8_lossy(&after).contains("inputSchma"), "{run:?}");
    // Fixes of standard input are tried like those of a file.
    let checked = run_in(
        folder(&[]).path(),
        &["check", "-", "--format", "mcp", "--output-format", "json"],
        list(vec![bad(1)]).as_bytes(),
    );
    assert!(
        checked.stdout.contains(r#""safe":false"#) && !checked.stdout.contains(r#""safe":true"#),
        "{checked:?}"
    );
}

#[test]
fn settings_of_a_source_apply_to_the_check_after_a_fix() {
    let text = format!("more: 1\n# toolwright: ignore OPEN_OBJECT - so\n{NOTES}");
    let config = "[[source]]\nname = \"notes\"\npath = \"notes.yaml\"\ncompat = true\n";
    let folder = folder(&[("toolwright.toml", config.as_bytes()), ("notes.yaml", text.as_bytes())]);
    assert_eq!(run(folder.path(), &["check"]).code, 0);
    let repaired = run(folder.path(), &["check", "--unsafe-fixes"]);
    assert_eq!((repaired.code, repaired.stdout.contains("1 fixed")), (0, true), "{repaired:?}");
    assert_eq!(run(folder.path(), &["check"]).code, 0);
}

/// Every document that shows a code or a rule, with its name.
pub(crate) fn documents() -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for code in codes::all() {
        let sample =
            code.sample.as_ref().map(|sample| (sample.file.to_owned(), sample.bad.to_owned()));
        all.extend(sample.map(|(file, text)| (code.name.to_owned(), file, text)));
    }
    for name in ["btcp-manifest", "btcp-tool", "aios", "toolfoundation", "ikigai"] {
        let table = RuleTable::load(name);
        for rule in
            table.rules().iter().filter(|rule| rule["text"].is_string() || rule["on"].is_string())
        {
            let (file, text) = table.mutant(rule, rule);
            all.push((format!("{name}: {}", rule["rule"]), file, text));
        }
    }
    all
}

fn diagnostics(file: &str, text: &str) -> Vec<Diagnostic> {
    let document = parse(file, text);
    let mut found = Workspace::new(Arc::new(InProcessAnalyzer))
        .read(&document, ReadOptions { rules: true, ..ReadOptions::default() })
        .diagnostics;
    toolwright_check::silence(&document, &mut found, codes::all());
    found
}

/// How often each finding occurs. Items behind a removed one have another index.
fn counted<'d>(
    found: impl IntoIterator<Item = &'d Diagnostic>,
) -> BTreeMap<(String, String, String), usize> {
    let mut counts = BTreeMap::new();
    for d in found {
        let steps = d
            .path
            .tokens()
            .map(|t| if t.parse::<usize>().is_ok() { "*".to_owned() } else { t.to_string() });
        let path = steps.collect::<Vec<_>>().join("/");
        *counts.entry((d.code.name.to_owned(), path, d.message.clone())).or_default() += 1;
    }
    counts
}

/// The edits of a fix, as the program prints them.
fn edits(fix: &Json) -> Vec<TextEdit> {
    let number =
        |json: &Json| usize::try_from(json.as_u64().expect("a number")).expect("it is small");
    let edit = |edit: &Json| TextEdit {
        span: Span::new(number(&edit["start"]["byte"]), number(&edit["end"]["byte"])),
        text: edit["text"].as_str().expect("a text").to_owned(),
    };
    fix["edits"].as_array().expect("a list").iter().map(edit).collect()
}

#[test]
fn a_safe_fix_removes_its_own_diagnostic_and_adds_none() {
    let (mut wrong, mut tried) = (Vec::new(), BTreeMap::new());
    for (name, file, text) in documents() {
        let before = diagnostics(&file, &text);
        if !before.iter().any(|d| d.fix.as_ref().is_some_and(|fix| fix.safe)) {
            continue;
        }
        let folder = folder(&[(file.as_str(), text.as_bytes())]);
        let checked = run(folder.path(), &["check", &file, "--output-format", "json"]);
        for line in checked.stdout.lines() {
            let d: Json = serde_json::from_str(line).expect("JSON");
            let (code, path, message) =
                (text_of(&d["code"]), text_of(&d["path"]), text_of(&d["message"]));
            if d["fix"]["safe"] != true {
                continue;
            }
            *tried.entry(code.clone()).or_insert(0) += 1;
            let after = counted(&diagnostics(&file, &splice(&text, &edits(&d["fix"]))));
            let own = before.iter().position(|d| {
                d.code.name == code && d.path.as_str() == path && d.message == message
            });
            let allowed =
                counted(before.iter().enumerate().filter(|(n, _)| Some(*n) != own).map(|(_, d)| d));
            for (key, _) in
                after.iter().filter(|(key, n)| allowed.get(*key).copied().unwrap_or(0) < **n)
            {
                wrong.push(format!("{name}: {} leaves or adds {key:?}", d["fix"]["title"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for code in
        ["CAPABILITY_NOT_DECLARED", "TAG_NOT_NORMALIZED", "UNUSED_CAPABILITY", "MISSPELLED_FIELD"]
    {
        assert!(tried.contains_key(code), "no document has a safe fix for {code}: {tried:?}");
    }
}

fn text_of(json: &Json) -> String {
    json.as_str().expect("a text").to_owned()
}

#[test]
fn all_fixes_together_end() {
    let documents = documents();
    let names: Vec<String> =
        documents.iter().enumerate().map(|(n, (_, file, _))| format!("{n}/{file}")).collect();
    let files: Vec<(&str, &[u8])> = names
        .iter()
        .zip(&documents)
        .map(|(name, (_, _, text))| (name.as_str(), text.as_bytes()))
        .collect();
    for option in ["--fix", "--unsafe-fixes"] {
        let folder = folder(&files);
        let args = ["check", ".", "--output-format", "json", option];
        let first = run(folder.path(), &args);
        assert_eq!((first.code, first.stderr.as_str()), (1, ""), "{option}");
        let texts = || {
            names
                .iter()
                .map(|name| fs::read(folder.path().join(name)).expect("a file"))
                .collect::<Vec<_>>()
        };
        let after = texts();
        assert!(
            after.iter().zip(&files).filter(|(after, (_, before))| after != before).count() > 10
        );
        for line in first.stdout.lines() {
            let d: Json = serde_json::from_str(line).expect("JSON");
            let left =
                d["fix"].is_object() && (d["fix"]["safe"] == true || option == "--unsafe-fixes");
            assert!(!left, "{option} leaves {line}");
        }
        let second = run(folder.path(), &args);
        assert_eq!(
            second.stdout, first.stdout,
            "{option}: what is reported after a fix is what is there"
        );
        for ((name, before), after) in names.iter().zip(after).zip(texts()) {
            assert!(before == after, "{option} goes on with {name}");
        }
    }
}

/// Regressions: each of these was offered as a safe fix and changed the meaning.
#[test]
fn a_fix_that_could_do_harm_is_not_safe() {
    let manifest = |declared: &str, tools: &str| {
        format!(
            "btcp: '1.0'\nname: page-tools\nversion: 1.0.0\ncapabilities: {declared}\ntools:\n{tools}"
        )
    };
    let tool = |name: &str, needs: &str| {
        format!(
            "  - name: {name}\n    description: Reads a part of the page\n    inputSchema: {{type: object}}\n    capabilities: {needs}\n"
        )
    };
    let cases: &[(&str, String)] = &[
        // Under its right name the value would have the wrong type.
        ("a.json", r#"{"name": "getThing", "inputSchema": {"type": "object"}, "icon": "x.png"}"#.to_owned()),
        (
            "b.json",
            r#"{"name": "getThing", "description": "Gets the thing", "inputSchema": {"type": "object"}, "capabilities": [], "timout": 5}"#
                .to_owned(),
        ),
        // The fix would add an error.
        (
            "c.json",
            r#"{"name": "getThing", "description": "Gets the thing", "inputSchema": {"type": "object", "required": ["b"]}, "capabilities": [], "exampels": [{"input": {"a": 1}}]}"#
                .to_owned(),
        ),
        // Another tool shares the list by an alias.
        (
            "d.yaml",
            manifest(
                "&all [dom:read]",
                &(tool("readPage", "*all") + &tool("readClipboard", "[dom:read, clipboard:read]")),
            ),
        ),
        // The fix would remove a comment.
        (
            "e.yaml",
            manifest(
                "\n  - dom:read\n  - dom:write  # the next release needs it\n",
                &tool("readPage", "[dom:read]"),
            ),
        ),
    ];
    for (file, text) in cases {
        let (after, run) = fixed(file, text.as_bytes(), &["--fix"]);
        assert_eq!(String::from_utf8_lossy(&after), *text, "{file}: {run:?}");
        assert!(run.stdout.contains("warning") || run.stdout.contains("error"), "{file}: {run:?}");
    }
}
