//! What a project has decided to live with: `[[ignore]]` of the configuration, and baselines. Also
//! that neither outlives its cause.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::program::{Run, folder, run_in};

/// A tool whose schema is wrong, with this name. One line, so that others can be put around it.
fn bad(name: &str) -> String {
    json!({
        "name": name, "description": "Returns the time in a zone.",
        "inputSchema": {"type": "objekt", "properties": {}},
    })
    .to_string()
}

/// A tool without a finding, with this name.
fn good(name: &str) -> String {
    json!({
        "name": name, "description": "Returns the time in a zone.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
    })
    .to_string()
}

fn list(tools: &[String]) -> String {
    format!("{{\"tools\": [\n{}\n]}}", tools.join(",\n"))
}

/// `check` of the code that `bad` has, and of those about silences.
fn check(folder: &Path, args: &[&str]) -> Run {
    let codes = "invalid_schema,USELESS_SILENCE,STALE_BASELINE,INVALID_ENUM_VALUE,\
                 MISSING_REQUIRED_FIELD";
    let args = [&["check", "--output-format", "concise", "--select", codes], args].concat();
    run_in(folder, &args, b"")
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file");
}

/// The last line, which counts.
fn summary(run: &Run) -> &str {
    run.stdout.lines().last().unwrap_or("")
}

fn ignore(lines: &str) -> String {
    format!("[[ignore]]\n{lines}\ncode = 'INVALID_SCHEMA'\nreason = 'the server is not ours'\n")
}

#[test]
fn an_entry_silences_its_code_in_its_sources_and_tools() {
    let tools = list(&[bad("now"), bad("later")]);
    let files = folder(&[
        ("tools/a.json", tools.as_bytes()),
        ("tools/b.json", bad("other").as_bytes()),
        ("toolwright.toml", b""),
    ]);
    let path = files.path();
    // The lines of the entry, and how many of three errors are left.
    let cases = [
        ("", 0),
        ("source = 'tools/a.json'", 1),
        ("source = 'tools/*'", 0),
        ("source = '*b.json'", 2),
        ("tool = 'now'", 2),
        ("tool = '*e?'", 1),
        ("source = 'tools/a.json'\ntool = 'now'", 2),
        // By the name of the source that the file lies in.
        ("source = 'mine'", 0),
    ];
    for (lines, left) in cases {
        let source = "[[source]]\nname = 'mine'\npath = 'tools'\n";
        write(path, "toolwright.toml", &format!("{source}{}", ignore(lines)));
        let named = ["tools/a.json", "./tools/b.json"];
        for args in [&[][..], &["tools"], &["./tools/"], &named] {
            let run = check(path, args);
            assert_eq!(run.stdout.matches("INVALID_SCHEMA").count(), left, "{lines} {run:?}");
            assert!(summary(&run).ends_with(&format!("{} silenced", 3 - left)), "{run:?}");
            assert_eq!(run.code, i32::from(left > 0), "silenced errors do not fail: {run:?}");
            assert!(!run.stdout.contains("USELESS_SILENCE"), "{lines} {run:?}");
        }
        // From another folder, paths are still those of the configuration.
        let below = check(&path.join("tools"), &["a.json", "b.json"]);
        assert_eq!(below.stdout.matches("INVALID_SCHEMA").count(), left, "{lines} {below:?}");
    }
}

#[test]
fn an_entry_that_silences_nothing_is_reported_at_its_place() {
    let files = folder(&[
        ("tools/a.json", bad("now").as_bytes()),
        ("tools/b.json", good("later").as_bytes()),
        ("toolwright.toml", b""),
    ]);
    let path = files.path();
    let source = "[[source]]\nname = 'mine'\npath = 'tools'\n\n";
    let place = "toolwright.toml:5:1: warning[USELESS_SILENCE]: this silences no finding";
    // The lines of the entry, and the runs that can know that it is useless.
    let all: &[&str] = &[];
    let cases = [
        (
            "source = 'tools/b.json'",
            &[(all, true), (&["tools/b.json"], true), (&["tools/a.json"], false)][..],
        ),
        ("tool = 'later'", &[(all, true), (&["tools/a.json"], false), (&["tools/b.json"], false)]),
        ("source = 'gone/*'", &[(all, true), (&["tools"], false)]),
        ("source = 'tools/*'\ntool = 'x'", &[(all, true), (&["tools/b.json"], false)]),
    ];
    for (lines, runs) in cases {
        write(path, "toolwright.toml", &format!("{source}{}", ignore(lines)));
        for (args, reported) in runs {
            let run = check(path, args);
            assert_eq!(run.stdout.contains(place), *reported, "{lines} {args:?} {run:?}");
        }
    }
    // Without sources in the configuration, the named ones are all that there is.
    write(path, "toolwright.toml", &ignore("tool = 'x'"));
    let run = check(path, &["tools"]);
    assert!(run.stdout.contains("toolwright.toml:1:1: warning[USELESS_SILENCE]"), "{run:?}");
    assert_eq!(check(path, &["--ignore", "useless_silence", "tools/b.json"]).code, 0);
    // `levels` holds for it, too.
    let strict = format!("{}[levels]\nUSELESS_SILENCE = 'error'\n", ignore("tool = 'x'"));
    write(path, "toolwright.toml", &strict);
    assert_eq!(check(path, &["tools/b.json"]).code, 1);
}

#[test]
fn an_entry_with_a_mistake_silences_nothing() {
    let files = folder(&[("a.json", bad("now").as_bytes()), ("toolwright.toml", b"")]);
    let path = files.path();
    let cases = [
        ("code = 'INVALID_SCHEMA'", "the entry has no `reason`, and silences nothing"),
        ("code = 'INVALID_SCHEMA'\nreason = ''", "`reason` is blank"),
        ("reason = 'x'", "the entry has no `code`, and silences nothing"),
        ("code = 'INVALID_SHEMA'\nreason = 'x'", "there is no code `INVALID_SHEMA`"),
    ];
    for (lines, message) in cases {
        write(path, "toolwright.toml", &format!("[[ignore]]\n{lines}\n"));
        let run = check(path, &["a.json"]);
        assert!(run.stdout.contains("error[INVALID_SCHEMA]"), "{run:?}");
        assert!(run.stdout.contains(message), "{lines} {run:?}");
        assert_eq!(run.code, 1);
    }
    let json = run_in(path, &["check", "--output-format", "json", "a.json"], b"");
    assert!(json.stdout.contains("did you mean `INVALID_SCHEMA`?"), "{json:?}");
}

#[test]
fn comments_and_entries_are_counted_and_not_fixed() {
    let text = "tool:\n  id: notes\n  type: cli\n  name: Notes\n  version: 1.0.0\n  \
                descripton: Keeps notes\n  commands: [add_note]\n  cli_specific: {executable: notes}\n";
    let config = "[[ignore]]\ncode = 'MISSPELLED_FIELD'\nreason = 'read by another program'\n";
    let files = folder(&[("notes.yaml", text.as_bytes()), ("toolwright.toml", config.as_bytes())]);
    let run = run_in(files.path(), &["check", "--fix", "notes.yaml"], b"");
    assert!(summary(&run).ends_with(", 1 silenced"), "{run:?}");
    let after = std::fs::read_to_string(files.path().join("notes.yaml")).expect("a file");
    assert_eq!(after, text, "what is silenced is not fixed");
    let comment =
        text.replace("Keeps notes\n", "Keeps notes # toolwright: ignore MISSPELLED_FIELD - x\n");
    write(files.path(), "notes.yaml", &comment);
    write(files.path(), "toolwright.toml", "");
    let run = run_in(files.path(), &["check", "notes.yaml"], b"");
    assert!(summary(&run).ends_with(", 1 silenced"), "{run:?}");
}

#[test]
fn known_findings_do_not_fail_and_new_ones_do() {
    let files = folder(&[
        ("tools/a.json", list(&[bad("now"), bad("later")]).as_bytes()),
        ("tools/b.json", bad("other").as_bytes()),
    ]);
    let path = files.path();
    let written = check(path, &["--write-baseline", "known.json", "tools"]);
    assert_eq!(
        (written.code, summary(&written)),
        (0, "3 tools in 2 files: nothing to report, 3 in the baseline")
    );
    assert_eq!(written.stderr, "toolwright: 3 findings written to `known.json`\n");
    let with = |args: &[&str]| check(path, &[&["--baseline", "known.json"], args].concat());
    let known = with(&["tools"]);
    assert_eq!((known.code, known.stdout.lines().count()), (0, 1), "{known:?}");
    assert!(summary(&known).ends_with("nothing to report, 3 in the baseline"), "{known:?}");
    // Other lines, another order, other spellings of the path, another working directory.
    write(
        path,
        "tools/a.json",
        &format!("\n\n{}", list(&[good("first"), bad("later"), bad("now")])),
    );
    for args in [&["tools"][..], &["./tools/../tools"], &["tools/b.json", "tools/a.json"]] {
        assert_eq!(with(args).code, 0, "{args:?}");
    }
    let below = check(&path.join("tools"), &["--baseline", "../known.json", "."]);
    assert_eq!((below.code, below.stdout.lines().count()), (0, 1), "{below:?}");
    // A new tool with the same mistake; the same tool a second time; another mistake in one place.
    let again = "3 in the baseline";
    for tools in [
        list(&[bad("now"), bad("later"), bad("new")]),
        list(&[bad("now"), bad("later"), bad("now")]),
        list(&[bad("now"), bad("later"), bad("x").replace("objekt", "list")]),
    ] {
        write(path, "tools/a.json", &tools);
        let run = with(&["tools"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert_eq!(run.stdout.matches("INVALID_SCHEMA").count(), 1, "{run:?}");
        assert!(summary(&run).ends_with(again), "{run:?}");
    }
    write(path, "tools/a.json", &list(&[bad("now").replace("objekt", "list"), bad("later")]));
    let changed = with(&["tools"]);
    assert_eq!(changed.code, 1, "another value in the same place is new: {changed:?}");
}

#[test]
fn a_baseline_is_sorted_and_one_finding_a_line() {
    let files = folder(&[
        ("b.json", list(&[bad("now"), bad("now"), bad("a")]).as_bytes()),
        ("a.json", bad("other").as_bytes()),
    ]);
    let path = files.path();
    let text = |args: &[&str]| {
        let run = check(path, &[&["--write-baseline", "known.json"], args].concat());
        assert_eq!(run.code, 0, "{run:?}");
        std::fs::read_to_string(path.join("known.json")).expect("a file")
    };
    let known = text(&["."]);
    insta::assert_snapshot!(known);
    assert_eq!(text(&["b.json", "a.json"]), known);
    let json: Json = serde_json::from_str(&known).expect("JSON");
    assert_eq!(json["version"], 1);
    // Nothing but the file is left in the folder, and a link stays one.
    let names = |path: &Path| std::fs::read_dir(path).expect("a folder").count();
    assert_eq!(names(path), 3);
    std::os::unix::fs::symlink(path.join("known.json"), path.join("link.json")).expect("a link");
    assert_eq!(check(path, &["--write-baseline", "link.json", "a.json"]).code, 0);
    assert!(path.join("link.json").is_symlink());
    assert!(std::fs::read_to_string(path.join("known.json")).expect("a file").len() < known.len());
}

#[test]
fn what_is_no_longer_found_is_counted_until_the_baseline_is_written_again() {
    let files = folder(&[
        ("tools/a.json", list(&[bad("now"), bad("later")]).as_bytes()),
        ("tools/b.json", bad("other").as_bytes()),
        ("toolwright.toml", b"[[source]]\nname = 'mine'\npath = 'tools'\n"),
    ]);
    let path = files.path();
    assert_eq!(check(path, &["--write-baseline", "known.json"]).code, 0);
    write(path, "tools/a.json", &list(&[good("now"), good("later")]));
    std::fs::remove_file(path.join("tools/b.json")).expect("it is there");
    let run = check(path, &["--baseline", "known.json"]);
    let stale = "known.json:4:5: warning[STALE_BASELINE]: 3 known findings are no longer found";
    assert!(run.stdout.starts_with(stale), "{run:?}");
    assert_eq!(run.code, 0);
    // A run that names sources knows about these only.
    let run = check(path, &["--baseline", "known.json", "tools/a.json"]);
    assert!(run.stdout.contains("2 known findings are no longer found"), "{run:?}");
    assert_eq!(check(path, &["--write-baseline", "known.json"]).code, 0);
    let run = check(path, &["--baseline", "known.json"]);
    assert!(!run.stdout.contains("STALE_BASELINE"), "{run:?}");
}

#[test]
fn a_baseline_that_cannot_be_used_ends_with_a_sentence() {
    let files = folder(&[("a.json", bad("now").as_bytes()), ("sub/x", b"")]);
    let path = files.path();
    let cases: [(&str, Option<&str>, &str); 8] = [
        ("none.json", None, "there is no baseline `none.json` (`--write-baseline` writes it)"),
        ("sub", None, "cannot read `sub`"),
        ("b.json", Some("{"), "`b.json` is not a baseline"),
        ("b.json", Some("[]"), "`b.json` is not a baseline: it has no version (write it again)"),
        ("b.json", Some("{\"version\": 2}"), "its version is 2, expected 1"),
        ("b.json", Some("{\"version\": 1}"), "no `findings`"),
        ("b.json", Some("{\"version\": 1, \"findings\": [\n{}]}"), "line 2 is not a finding"),
        ("b.json", Some("{\"version\": 1, \"findings\": [5]}"), "line 1 is not a finding"),
    ];
    for (name, text, message) in cases {
        if let Some(text) = text {
            write(path, name, text);
        }
        let run = check(path, &["--baseline", name, "a.json"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains(message), "{message}: {run:?}");
    }
    for (args, message) in [
        (
            &["--write-baseline", "a.json/known.json", "a.json"][..],
            "cannot write `a.json/known.json`",
        ),
        (&["--write-baseline", "known.json", "a.json", "gone.json"], "the baseline is not written"),
        (&["--write-baseline", "a", "--baseline", "b", "a.json"], "cannot be used with"),
    ] {
        let run = check(path, args);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(message), "{run:?}");
        assert!(!path.join("known.json").exists());
    }
}

#[test]
fn names_of_codes_ignore_case() {
    let files = folder(&[("a.json", bad("now").as_bytes())]);
    let run = |args: &[&str]| run_in(files.path(), &[&["check", "a.json"], args].concat(), b"");
    assert_eq!(run(&["--select", "Invalid_Schema"]).code, 1);
    assert_eq!(run(&["--ignore", "invalid_schema"]).code, 0);
    let unknown = run(&["--select", "invalid_shema"]);
    assert_eq!(unknown.code, 2);
    assert_eq!(
        unknown.stderr,
        "toolwright: there is no code `invalid_shema` (did you mean `INVALID_SCHEMA`?)\n"
    );
}
