//! Every code of `check`: a document with the mistake, the same document without it, and the page
//! in docs/codes that shows both. The pages are written when `UPDATE_DOCS` is set.

use serde_json::Value as Json;
use toolwright_workspace::codes;

use crate::program::{assert_page, folder, project, run, run_in};

/// Codes that no pair of small documents can show, and the file with the tests that do.
const ELSEWHERE: &[(&str, &str)] = &[
    ("TOO_DEEP", "cli/tests/it/codes.rs"),
    ("TOO_LARGE", "cli/tests/it/codes.rs"),
    ("INVALID_ENCODING", "cli/tests/it/codes.rs"),
    // Needs a target.
    ("VENDOR_INCOMPATIBLE", "cli/tests/it/targets.rs"),
    // Needs a threshold.
    ("TOO_MANY_TOKENS", "cli/tests/it/cost.rs"),
    // Needs two documents.
    ("LOOKALIKE_NAME", "cli/tests/it/checking.rs"),
    // Needs the body of a tool.
    ("PAGE_API_UNAVAILABLE", "cli/tests/it/page_tools.rs"),
    // Codes of the configuration and of servers files.
    ("UNKNOWN_KEY", "workspace/tests/it/config.rs"),
    ("DUPLICATE_SOURCE", "cli/tests/it/sources.rs"),
    ("INVALID_SOURCE", "workspace/tests/it/config.rs"),
    ("UNSET_VARIABLE", "workspace/tests/it/config.rs"),
    ("INVALID_REFERENCE", "workspace/tests/it/config.rs"),
    ("STALE_BASELINE", "cli/tests/it/baseline.rs"),
    ("SUSPICIOUS_COMMAND", "workspace/tests/it/servers.rs"),
    // Which programs there are depends on the machine.
    ("UNPINNED_PACKAGE", "cli/tests/it/servers_files.rs"),
    ("SCRIPT_NOT_FOUND", "cli/tests/it/servers_files.rs"),
    // Needs a server.
    ("COMMAND_NOT_ON_SERVER", "catalog/tests/it/server_definitions.rs"),
    ("IGNORED_SETTING", "workspace/tests/it/servers.rs"),
];

/// The findings of a file with this text.
fn check(file: &str, text: &str) -> Vec<(String, String)> {
    let folder = folder(&[(file, text.as_bytes())]);
    // Nothing is started, because some of the samples are about servers.
    let args = ["check", "--no-start", "--output-format", "json", file];
    let run = run_in(folder.path(), &args, b"");
    let line = |line: &str| {
        let json: Json = serde_json::from_str(line).expect("a line of JSON");
        (
            json["code"].as_str().unwrap_or("").to_owned(),
            json["severity"].as_str().unwrap_or("").to_owned(),
        )
    };
    run.stdout.lines().map(line).collect()
}

#[test]
fn every_code_is_shown_by_a_document_and_a_near_miss() {
    let mut wrong = Vec::new();
    for code in codes::all() {
        let Some(sample) = &code.sample else {
            let file = ELSEWHERE.iter().find(|(name, _)| *name == code.name).map(|(_, file)| *file);
            let tests = file
                .map(|file| project().join("crates").join(file))
                .and_then(|path| std::fs::read_to_string(path).ok());
            if !tests.is_some_and(|tests| tests.contains(code.name)) {
                wrong.push(format!("{} has no sample, and no tests elsewhere", code.name));
            }
            continue;
        };
        let bad = check(sample.file, sample.bad);
        if !bad.iter().any(|(name, _)| name == code.name) {
            wrong.push(format!("{}: its bad sample gives {bad:?}", code.name));
        }
        let serious = |found: &[(String, String)]| -> Vec<String> {
            found
                .iter()
                .filter(|(name, s)| s != "info" && name != code.name)
                .map(|(name, _)| name.clone())
                .collect()
        };
        if !serious(&bad).is_empty() {
            wrong.push(format!("{}: its bad sample also gives {:?}", code.name, serious(&bad)));
        }
        let good = check(sample.file, sample.good);
        if good.iter().any(|(name, s)| name == code.name || s != "info") {
            wrong.push(format!("{}: its good sample gives {good:?}", code.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Documents that are too large for a manual: one with the mistake, and one just below the limit.
#[test]
fn codes_of_large_documents_have_near_misses() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(
            r#"{{"name": "now", "inputSchema": {{"type": "object", "default": {open}{close}}}}}"#
        )
    };
    let tagged = |tags: usize| {
        let tags: Vec<String> = (0..tags).map(|n| format!(r#""t{n}""#)).collect();
        format!(
            r#"{{"name": "now", "inputSchema": {{"type": "object"}}, "tags": [{}]}}"#,
            tags.join(",")
        )
    };
    let named = |name: &[u8]| {
        [br#"{"name": "now", "title": ""#, name, br#"", "inputSchema": {"type": "object"}}"#]
            .concat()
    };
    let cases: [(&str, Vec<u8>, Vec<u8>); 3] = [
        ("TOO_DEEP", nested(127).into(), nested(120).into()),
        ("TOO_LARGE", tagged(10_001).into(), tagged(10_000).into()),
        ("INVALID_ENCODING", named(b"caf\xE9"), named("café".as_bytes())),
    ];
    for (code, bad, good) in cases {
        let folder = folder(&[("bad.json", &bad), ("good.json", &good)]);
        let codes = |file: &str| {
            let run = run_in(
                folder.path(),
                &["check", "--output-format", "concise", "--select", code, file],
                b"",
            );
            run.stdout.matches(code).count()
        };
        assert_eq!((codes("bad.json"), codes("good.json")), (1, 0), "{code}");
        let full = run_in(folder.path(), &["check", "--select", code, "bad.json"], b"").stdout;
        let short: String =
            full.lines().map(|line| line.chars().take(100).collect::<String>() + "\n").collect();
        insta::assert_snapshot!(code, short);
    }
}

/// Editors complete the names of codes in `[levels]` from it.
#[test]
fn the_schema_of_the_configuration_is_up_to_date() {
    let schema = run(&["schema"]);
    assert_eq!((schema.code, schema.stderr.as_str()), (0, ""));
    assert_page(&project().join("docs/toolwright.schema.json"), &schema.stdout);
}

#[test]
fn codes_are_declared_once() {
    let mut names: Vec<&str> = codes::all().map(|code| code.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn the_pages_of_codes_are_up_to_date() {
    let pages = project().join("docs/codes");
    let mut expected = vec!["README.md".to_owned()];
    assert_page(&pages.join("README.md"), &run(&["explain", "--markdown"]).stdout);
    for code in codes::all() {
        let page = run(&["explain", code.name, "--markdown"]);
        assert_eq!(page.code, 0, "{}", page.stderr);
        assert_page(&pages.join(format!("{}.md", code.name)), &page.stdout);
        expected.push(format!("{}.md", code.name));
    }
    for entry in std::fs::read_dir(&pages).expect("the pages are there").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(expected.contains(&name), "docs/codes/{name} is about no code there is");
    }
}
