//! Every code: a document that has the mistake, one that has not, and its page in docs/codes, where the
//! full rendering stands. The pages are written when `UPDATE_DOCS` is set.

use serde_json::Value as Json;
use toolwright_catalog::codes;

use crate::program::{folder, held, project, run, run_in};

/// Codes that no small document shows, and the tests that do.
const ELSEWHERE: &[(&str, &str)] = &[
    ("TOO_DEEP", "hostile"),
    ("TOO_LARGE", "hostile"),
    ("INVALID_ENCODING", "hostile"),
    // It takes two documents.
    ("LOOKALIKE_NAME", "checking"),
    // Those of the configuration and of servers files.
    ("UNKNOWN_KEY", "sources"),
    ("DUPLICATE_SOURCE", "sources"),
    ("INVALID_SOURCE", "sources"),
    ("UNSET_VARIABLE", "sources"),
    ("INVALID_REFERENCE", "sources"),
    ("SUSPICIOUS_COMMAND", "sources"),
    ("IGNORED_SETTING", "sources"),
];

/// The findings of a file with this text.
fn check(file: &str, text: &str) -> Vec<(String, String)> {
    let folder = folder(&[(file, text.as_bytes())]);
    let args = ["check", "--output-format", "json", file];
    let run = run_in(folder.path(), &args, b"");
    let line = |line: &str| {
        let json: Json = serde_json::from_str(line).expect("a line of JSON");
        (json["code"].as_str().unwrap_or("").to_owned(), json["severity"].as_str().unwrap_or("").to_owned())
    };
    run.stdout.lines().map(line).collect()
}

#[test]
fn every_code_is_shown_by_a_document_and_a_near_miss() {
    let mut wrong = Vec::new();
    for code in codes::all() {
        let Some(sample) = &code.sample else {
            if !ELSEWHERE.iter().any(|(name, _)| *name == code.name) {
                wrong.push(format!("{} has no sample", code.name));
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

#[test]
fn codes_are_declared_once() {
    let mut names: Vec<&str> = codes::all().map(|code| code.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn the_pages_of_codes_are_not_stale() {
    let pages = project().join("docs/codes");
    let mut expected = vec!["README.md".to_owned()];
    held(&pages.join("README.md"), &run(&["explain", "--markdown"]).stdout);
    for code in codes::all() {
        let page = run(&["explain", code.name, "--markdown"]);
        assert_eq!(page.code, 0, "{}", page.stderr);
        held(&pages.join(format!("{}.md", code.name)), &page.stdout);
        expected.push(format!("{}.md", code.name));
    }
    for entry in std::fs::read_dir(&pages).expect("the pages are there").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(expected.contains(&name), "docs/codes/{name} is about no code there is");
    }
}
