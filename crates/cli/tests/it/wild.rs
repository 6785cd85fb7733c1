//! `check` on what others wrote: the examples of the five seeds, and the definitions of the corpus with
//! all their mistakes. Every error and warning is listed with its place, so that one more or one less
//! is seen; of the rest, how many there are. Each line was held against the readings.
//!
//! Nothing of those texts is copied here: files, blocks and pointers name what is meant.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use toolwright_catalog::{Load, Reader, load, subject};
use toolwright_source::{Diagnostic, Origin, Severity, locate};

use crate::rules::check;

/// What a document should give: lines of `WEIGHT CODE POINTER`. `E` is an error, `W` a warning, `~` an
/// error that `--compat` makes a warning. `3..5` in a pointer stands for `3`, `4` and `5`.
struct Case {
    file: &'static str,
    found: &'static str,
}

/// Files with nothing but notes are not listed.
const CORPUS: &[Case] = &[
    Case { file: "aios/browser.yaml", found: "" },
];

/// The notes, by folder.
const NOTES: &[(&str, &[(&str, usize)])] = &[
    ("aios", &[]),
    ("btcp", &[]),
    ("mcp", &[]),
    ("webmcp", &[]),
];

/// The folder of shared material; says loudly when it is not there.
fn shared(test: &str) -> Option<PathBuf> {
    let found = std::env::var_os("TOOLWRIGHT_SHARED").map(PathBuf::from);
    if found.is_none() {
        // Past the harness, which hides what a passing test prints.
        let _ = writeln!(std::io::stderr(), "SKIPPED wild::{test}: TOOLWRIGHT_SHARED is not set");
    }
    found
}

/// `E CODE /3..4/a` as `error CODE /3/a` and `error CODE /4/a`, of all lines, sorted.
fn expected(lines: &str, compat: bool) -> Vec<String> {
    let mut all = Vec::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split(' ');
        let weight = match (words.next(), compat) {
            (Some("E"), _) | (Some("~"), false) => Severity::Error,
            (Some("W"), _) | (Some("~"), true) => Severity::Warning,
            other => panic!("{line}: what weight is {other:?}?"),
        };
        let (code, at) = (words.next().expect("a code"), words.next().unwrap_or_default());
        let start = format!("{} {code} ", weight.name());
        let spread = |lines: Vec<String>, step: &str| match step.split_once("..") {
            Some((first, last)) => {
                let [first, last] = [first, last].map(|n| n.parse::<usize>().expect("a number"));
                lines.iter().flat_map(|line| (first..=last).map(move |n| format!("{line}/{n}"))).collect()
            }
            None => lines.iter().map(|line| format!("{line}/{step}")).collect(),
        };
        all.extend(at.split('/').skip(1).fold(vec![start], spread));
    }
    all.sort();
    all
}

/// The definitions below a folder, each named on its own, and what is wrong between them.
fn together(folder: &Path, compat: bool) -> BTreeMap<String, Vec<Diagnostic>> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let Load { mut files, failures, .. } = load(&paths, Reader { format: None, compat, rules: true });
    assert!(failures.is_empty(), "{failures:?}");
    let read = files.iter().enumerate().filter_map(|(n, file)| Some((n, subject(file.reading.as_ref()?))));
    let (places, subjects): (Vec<usize>, Vec<_>) = read.unzip();
    let between = toolwright_check::check_together(&subjects).into_iter().map(|(n, finding)| {
        (places[n], locate(finding, &Origin::whole(subjects[n].origin.document())))
    });
    for (n, diagnostic) in between.collect::<Vec<_>>() {
        files[n].diagnostics.push(diagnostic);
    }
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    let named = files.into_iter().map(|file| (name(file.path.as_deref().expect("a file")), file.diagnostics));
    named.collect()
}

/// The errors and warnings, sorted.
fn serious(found: &[Diagnostic]) -> Vec<String> {
    let serious = found.iter().filter(|d| d.severity != Severity::Info);
    let mut lines: Vec<String> =
        serious.map(|d| format!("{} {} {}", d.severity.name(), d.code.name, d.path)).collect();
    lines.sort();
    lines
}

fn every_file(test: &str, compat: bool) {
    let Some(shared) = shared(test) else { return };
    let mut expectations: BTreeMap<&str, &str> = CORPUS.iter().map(|case| (case.file, case.found)).collect();
    let mut wrong = Vec::new();
    for (folder, _) in NOTES {
        for (file, found) in together(&shared.join("corpus").join(folder), compat) {
            let file = format!("{folder}/{file}");
            let expected = expected(expectations.remove(file.as_str()).unwrap_or_default(), compat);
            let found = serious(&found);
            wrong.extend(found.iter().filter(|f| !expected.contains(f)).map(|f| format!("{file}: more: {f}")));
            wrong.extend(expected.iter().filter(|e| !found.contains(e)).map(|e| format!("{file}: less: {e}")));
            if found.len() != expected.len() {
                wrong.push(format!("{file}: {} found, {} expected", found.len(), expected.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(expectations.is_empty(), "a file of the corpus is gone: {expectations:?}");
}

#[test]
fn every_file_of_the_corpus() {
    every_file("every_file_of_the_corpus", false);
}

#[test]
fn every_file_of_the_corpus_in_compat_mode() {
    every_file("every_file_of_the_corpus_in_compat_mode", true);
}

#[test]
fn notes_on_the_corpus() {
    let Some(shared) = shared("notes_on_the_corpus") else { return };
    for (folder, expected) in NOTES {
        for compat in [false, true] {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            let found = together(&shared.join("corpus").join(folder), compat);
            for diagnostic in found.values().flatten().filter(|d| d.severity == Severity::Info) {
                *counts.entry(diagnostic.code.name).or_default() += 1;
            }
            assert_eq!(counts.into_iter().collect::<Vec<_>>(), *expected, "{folder}");
        }
    }
}

#[test]
fn no_poison_in_the_tools_of_a_large_server() {
    let Some(shared) = shared("no_poison_in_the_tools_of_a_large_server") else { return };
    let path = shared.join("corpus/mcp/github-mcp-server.json");
    let text = std::fs::read_to_string(&path).expect("the file is there");
    let written: Json = serde_json::from_str(&text).expect("JSON");
    assert_eq!(written["tools"].as_array().map(Vec::len), Some(117));
    let poison = ["HIDDEN_TEXT", "MODEL_INSTRUCTION", "SECRET_IN_DEFINITION", "LOOKALIKE_NAME"];
    let found = together(&shared.join("corpus/mcp"), false);
    let found: Vec<_> = found.values().flatten().filter(|d| poison.contains(&d.code.name)).collect();
    assert!(found.is_empty(), "{found:?}");
    // Nor when they are used together with everything else.
    let paths: Vec<PathBuf> = NOTES.iter().map(|(folder, _)| shared.join("corpus").join(folder)).collect();
    let load = load(&paths, Reader { format: None, compat: false, rules: true });
    let subjects: Vec<_> = load.files.iter().filter_map(|file| Some(subject(file.reading.as_ref()?))).collect();
    let between = toolwright_check::check_together(&subjects);
    assert!(between.is_empty(), "{between:?}");
}

/// The fenced blocks of a seed, in order.
fn blocks(shared: &Path, seed: &str, count: usize) -> Vec<String> {
    let path = shared.join("seeds").join(seed);
    let text = std::fs::read_to_string(path).expect("the seed is there");
    let fenced = text.split("\n```").skip(1).step_by(2);
    let blocks: Vec<String> =
        fenced.map(|block| block.split_once('\n').map_or("", |(_, text)| text).to_owned() + "\n").collect();
    assert_eq!(blocks.len(), count, "{seed}: look at the new blocks and give each a line");
    blocks
}

/// Holds every document of a seed against its lines; what is not listed has none.
fn hold(documents: &[(String, String)], cases: &[Case]) {
    let mut wrong = Vec::new();
    for compat in [false, true] {
        let mut expectations: BTreeMap<&str, &str> =
            cases.iter().map(|case| (case.file, case.found)).collect();
        for (name, text) in documents {
            let found = check(name, text, compat);
            let serious = found.iter().filter(|f| f.severity != Severity::Info.name());
            let mut serious: Vec<String> =
                serious.map(|f| format!("{} {} {}", f.severity, f.code, f.at)).collect();
            serious.sort();
            let expected = expected(expectations.remove(name.as_str()).unwrap_or_default(), compat);
            if serious != expected {
                wrong.push(format!("{name}, compat {compat}: found {serious:#?}, expected {expected:#?}"));
            }
        }
        assert!(expectations.is_empty(), "no such document: {expectations:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Blocks of JSON objects put into one.
fn merged(blocks: &[String], parts: &[usize], mut whole: Json) -> String {
    for n in parts {
        let part: Json = serde_json::from_str(&blocks[*n]).expect("JSON");
        whole.as_object_mut().expect("an object").extend(part.as_object().expect("an object").clone());
    }
    whole.to_string()
}

#[test]
fn examples_of_the_btcp_seeds() {
    let Some(shared) = shared("examples_of_the_btcp_seeds") else { return };
    let tools = blocks(&shared, "btcp-tool.md", 15);
    let manifests = blocks(&shared, "btcp-manifest.md", 10);
    let manifest: Json = serde_json::from_str(&manifests[8]).expect("JSON");
    let named = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let documents = [
        named("read.json", &tools[10]),
        named("write.json", &tools[11]),
        named("export.json", &tools[12]),
        named("fields.json", &merged(&tools, &[1, 2, 3, 4, 5, 6, 7, 8, 9], json!({}))),
        named("manifest.json", &manifests[8]),
        named("sections.json", &merged(&manifests, &[1, 2, 3, 4, 5, 6, 7], json!({"tools": manifest["tools"]}))),
    ];
    hold(&documents, &[]);
}

#[test]
fn examples_of_the_other_json_seeds() {
    let Some(shared) = shared("examples_of_the_other_json_seeds") else { return };
    let ikigai = blocks(&shared, "ikigai-web-tools.md", 11);
    let schemas = blocks(&shared, "toolfoundation-schemas.md", 6);
    let tool = |(n, schema): (usize, &String)| {
        let text = format!(r#"{{"name": "pattern", "description": "From the seed", "inputSchema": {schema}}}"#);
        (format!("pattern-{n}.json"), text)
    };
    let mut documents: Vec<(String, String)> = schemas.iter().enumerate().map(tool).collect();
    documents.extend([0, 4, 6].map(|n| (format!("ikigai-{n}.json"), ikigai[n].clone())));
    hold(&documents, &[]);
}

/// The five required fields and a way to be run, for sections that come without.
const CORE: &str = "  id: seed\n  name: Seed\n  version: 1.0.0\n  description: From the seed\n";

#[test]
fn examples_of_the_aios_seed() {
    let Some(shared) = shared("examples_of_the_aios_seed") else { return };
    let blocks = blocks(&shared, "aios-tool-schema-v2.md", 17);
    let section = |n: usize, parent: &str| {
        let (depth, parent) = if parent.is_empty() { (2, String::new()) } else { (4, format!("  {parent}:\n")) };
        let indented: String = blocks[n].lines().map(|line| format!("{:depth$}{line}\n", "")).collect();
        let text = format!("tool:\n  type: mcp\n{CORE}  mcp_specific: {{server_command: seed}}\n{parent}{indented}");
        (format!("section-{n}.yaml"), text)
    };
    let mut documents: Vec<(String, String)> = (2..=4).map(|n| section(n, "executable_knowledge")).collect();
    documents.extend((5..=9).map(|n| section(n, "")));
    documents.extend((10..=13).map(|n| (format!("type-{n}.yaml"), format!("{}{CORE}", blocks[n]))));
    documents.extend([0, 1, 15, 16].map(|n| (format!("whole-{n}.yaml"), blocks[n].clone())));
    let filled = blocks[16].replace("[...]", "[]").replace("{...}", "{}").replace("        ...\n", "        input: {}\n");
    documents.push(("filled-16.yaml".to_owned(), filled));
    hold(&documents, &[]);
}
