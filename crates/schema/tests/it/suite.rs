//! The official JSON-Schema-Test-Suite, where it is at hand: set `JSON_SCHEMA_TEST_SUITE` to its
//! root. It is also inside the source package of PyPI's `jsonschema`, in the folder `json`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolwright_schema::{Dialect, Schema, SchemaError};

/// Optional cases we fail, as `file: group: test`; a case that starts to pass fails the test.
///
/// `contentEncoding` and `contentMediaType` are notes to us in draft-07 too (toolfoundation seed).
const EXPECTED: &[&str] = &[
    "draft7/optional/content.json: validation of string-encoded content based on media type: an invalid JSON document",
    "draft7/optional/content.json: validation of binary string-encoding: an invalid base64 string (% is not a valid character)",
    "draft7/optional/content.json: validation of binary-encoded media type documents: a validly-encoded invalid JSON document",
    "draft7/optional/content.json: validation of binary-encoded media type documents: an invalid base64 string that is valid JSON",
];

/// The files with groups that need a document from elsewhere, or a meta-schema of their own.
const WITH_REMOTES: [&str; 4] =
    ["refRemote.json", "dynamicRef.json", "vocabulary.json", "cross-draft.json"];

#[derive(Default)]
struct Totals {
    required: usize,
    optional: usize,
    remote: Vec<String>,
    failed: Vec<String>,
}

#[test]
fn official_suite() {
    let Ok(root) = std::env::var("JSON_SCHEMA_TEST_SUITE") else {
        eprintln!("SKIPPED: the official suite is not run, JSON_SCHEMA_TEST_SUITE is not set");
        return;
    };
    let mut failed = Vec::new();
    for (folder, dialect) in [("draft7", Dialect::Draft7), ("draft2020-12", Dialect::Draft202012)] {
        let tests = Path::new(&root).join("tests").join(folder);
        let mut totals = Totals::default();
        for file in files(&tests) {
            run_file(&file, &tests, dialect, &mut totals);
        }
        let Totals { required, optional, remote, failed: here } = totals;
        eprintln!(
            "{folder}: {required} required, {optional} optional cases; {} groups need a remote document:",
            remote.len()
        );
        remote.iter().for_each(|group| eprintln!("  left out: {group}"));
        here.iter().for_each(|case| eprintln!("  failed: {case}"));
        assert!(required > 850, "only {required} cases in {}", tests.display());
        failed.extend(here);
    }
    assert_eq!(failed, EXPECTED);
}

/// All files but the format ones, in order.
fn files(tests: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in [tests.to_owned(), tests.join("optional")] {
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        files.extend(entries.map(|entry| entry.expect("readable").path()).filter(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            path.is_file() && !(name.starts_with("format") && folder.ends_with("optional"))
        }));
    }
    files.sort();
    files
}

fn run_file(file: &Path, tests: &Path, dialect: Dialect, totals: &mut Totals) {
    let name = file.strip_prefix(tests).expect("inside").display().to_string();
    let folder = tests.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(file).expect("readable");
    let groups: Vec<Value> = serde_json::from_str(&text).expect("a list of groups");
    for group in groups {
        let title =
            format!("{folder}/{name}: {}", group["description"].as_str().unwrap_or_default());
        let mut schema = group["schema"].clone();
        if let Value::Object(members) = &mut schema {
            members.entry("$schema").or_insert_with(|| dialect.uri().into());
        }
        let compiled = Schema::compile(&schema);
        if needs_remote(&compiled, &schema) {
            let expected = WITH_REMOTES.iter().any(|file| name.ends_with(file));
            assert!(
                expected,
                "{title}: refused, and no remote document was expected: {compiled:?}"
            );
            totals.remote.push(title);
            continue;
        }
        for test in group["tests"].as_array().expect("tests") {
            let counter = if name.starts_with("optional") {
                &mut totals.optional
            } else {
                &mut totals.required
            };
            *counter += 1;
            let expected = test["valid"].as_bool().expect("an answer");
            let actual = compiled.as_ref().map(|schema| schema.is_valid(&test["data"]));
            if actual.as_ref().ok() == Some(&expected) {
                let listed = compiled.as_ref().map(|schema| schema.validate(&test["data"]).is_ok());
                assert_eq!(listed.ok(), Some(expected), "{title}: validate and is_valid disagree");
            } else {
                let why = actual.err().map(|error| format!(" ({error})")).unwrap_or_default();
                totals.failed.push(format!(
                    "{title}: {}{why}",
                    test["description"].as_str().unwrap_or_default()
                ));
            }
        }
    }
}

/// Refused because of a document that is not here, and the schema indeed names one.
fn needs_remote(compiled: &Result<Schema, SchemaError>, schema: &Value) -> bool {
    let refused = match compiled {
        Err(SchemaError::ExternalRef { reference, .. }) => reference,
        Err(SchemaError::UnsupportedDialect { dialect, .. }) => dialect,
        _ => return false,
    };
    let text = schema.to_string();
    text.contains("http://localhost:1234") || refused.starts_with("http")
}
