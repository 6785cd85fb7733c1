//! The layers of ARCHITECTURE.md compared with the manifests: which crate may depend on which, and
//! which licences dependencies may have.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::console_blocks;
use crate::program::project;

/// The test programs, which the tests of every crate and the benchmarks may use.
const TESTING: &str = "toolwright-testing";

/// Which crate may name which other one in tests only: the tests of a rule read documents.
const TESTS: (&str, &str) = ("toolwright-check", "toolwright-formats");

/// Which package may depend on which, dev-dependencies included except for `TESTS`, as the table of
/// crates in ARCHITECTURE.md says in its last column: names, a range of layers, or all above.
fn allowed_dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let page = page();
    let (_, table) = page.split_once("| layer | crate |").expect("the table of crates");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut above: Vec<(&str, String)> = Vec::new();
    let mut allowed = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [layer, name, _, may] = cells[..] else { panic!("four columns: {row}") };
        let (names, exceptions) = may.split_once(" but ").unwrap_or((may, ""));
        let exceptions: Vec<String> = exceptions.split(", ").map(package).collect();
        let of_layers = |layers: &str| -> BTreeSet<String> {
            let of = above.iter().filter(|(layer, _)| layers.contains(layer));
            let names = of.map(|(_, name)| name.clone());
            names.filter(|name| !exceptions.contains(name)).collect()
        };
        let may = match names {
            "–" => BTreeSet::new(),
            "all above" => of_layers("0123456789"),
            "layers 0 to 2" => of_layers("012"),
            names => names.split(", ").map(package).collect(),
        };
        let name = package(name.trim_matches(['`', '/']));
        above.push((layer, name.clone()));
        allowed.insert(name, may);
    }
    allowed
}

/// The package of a crate, by the name of its folder.
fn package(folder: &str) -> String {
    match folder {
        "cli" => "toolwright".to_owned(),
        folder => format!("toolwright-{folder}"),
    }
}

/// The text of ARCHITECTURE.md.
pub(crate) fn page() -> String {
    std::fs::read_to_string(project().join("ARCHITECTURE.md")).expect("the page")
}

/// The licences that dependencies may have. MIT-0 is MIT without the duty of attribution.
const LICENCES: &[&str] = &[
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MPL-2.0",
    "Zlib",
    "Unicode-3.0",
    "Unicode-DFS-2016",
];

/// The packages that are built for the systems of Toolwright; dependencies name further packages
/// for other systems.
const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"];

fn metadata(platform: &str) -> Json {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--all-features",
            "--filter-platform",
            platform,
        ])
        .current_dir(project())
        .output()
        .expect("cargo is here");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_default()
}

#[test]
fn crates_depend_only_on_lower_layers() {
    let metadata = metadata(PLATFORMS[0]);
    let members: BTreeSet<&str> = metadata["workspace_members"]
        .as_array()
        .expect("members")
        .iter()
        .filter_map(Json::as_str)
        .collect();
    let allowed = allowed_dependencies();
    let mut seen = BTreeSet::new();
    for package in metadata["packages"].as_array().expect("packages") {
        if !members.contains(text(package, "id")) {
            continue;
        }
        let name = text(package, "name");
        seen.insert(name);
        let may = allowed.get(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let named = text(dependency, "name");
            let for_tests = text(dependency, "kind") == "dev" || name == "toolwright-bench";
            let in_tests = for_tests && (named == TESTING || (name, named) == TESTS);
            if (named == "toolwright" || named.starts_with("toolwright-")) && !in_tests {
                assert!(may.contains(named), "{name} may not name {named}");
            }
        }
    }
    let table: BTreeSet<&str> = allowed.keys().map(String::as_str).collect();
    assert_eq!(seen, table, "the table lists exactly the crates there are");
}

/// The Rust files below a folder.
fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.extension() {
            _ if path.is_dir() => rust_files(&path, files),
            Some(ending) if ending == "rs" => files.push(path),
            _ => {}
        }
    }
}

/// The sources of every crate, without its tests.
pub(crate) fn sources() -> Vec<(String, PathBuf, String)> {
    rust_files_of(&crate_folders(), &["src"])
}

fn crate_folders() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project().join("crates")).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// The Rust files in these folders of each crate: its name, and the path and text of each file.
fn rust_files_of(crates: &[PathBuf], folders: &[&str]) -> Vec<(String, PathBuf, String)> {
    let mut sources = Vec::new();
    for path in crates {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut files = Vec::new();
        for folder in folders.iter().map(|folder| path.join(folder)).filter(|path| path.is_dir()) {
            rust_files(&folder, &mut files);
        }
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a file");
            sources.push((name.clone(), file, text));
        }
    }
    sources
}

/// The name that a line at the top level of a file declares a type under.
fn declared_type(line: &str) -> Option<&str> {
    let line = line
        .strip_prefix("pub ")
        .or_else(|| line.split_once(") ").map(|(_, l)| l).filter(|_| line.starts_with("pub(")))
        .unwrap_or(line);
    let kinds = ["struct ", "enum ", "trait ", "type "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    Some(rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(rest))
}

/// A word that names one thing in one crate and another thing in another crate makes a reader look
/// twice, also if one of them is a test. `Json` is the same alias everywhere.
#[test]
fn a_type_name_is_declared_in_one_crate_only() {
    let mut crates: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let folders = [crate_folders(), vec![project().join("bench")]].concat();
    for (name, _, text) in rust_files_of(&folders, &["src", "tests", "examples"]) {
        for declared in text.lines().filter_map(declared_type) {
            crates.entry(declared.to_owned()).or_default().insert(name.clone());
        }
    }
    crates.retain(|name, of| of.len() > 1 && name != "Json");
    assert!(crates.is_empty(), "{crates:#?}");
}

/// Whether a line may be longer: tables and URLs cannot be broken.
fn is_unbreakable(line: &str) -> bool {
    line.trim_start().starts_with('|') || line.contains("://")
}

/// Comments and prose end at 100 columns, so that two files fit side by side. `rustfmt` does this
/// for code. Blocks of code in pages show what a program prints, and are not prose.
#[test]
fn comments_and_prose_end_at_100_columns() {
    let folders = [crate_folders(), vec![project().join("bench")]].concat();
    let rust = rust_files_of(&folders, &["src", "tests", "examples"]).into_iter();
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    let comments = rust.flat_map(|(_, file, text)| {
        let lines: Vec<String> = text.lines().filter(is_comment).map(str::to_owned).collect();
        lines.into_iter().map(move |line| (file.clone(), line))
    });
    let pages = console_blocks::pages().into_iter();
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"];
    let prose = pages.chain(others.map(|name| project().join(name))).flat_map(|file| {
        let text = std::fs::read_to_string(&file).expect("a page");
        let lines = text.split("```").step_by(2).flat_map(str::lines).map(str::to_owned);
        lines.map(move |line| (file.clone(), line)).collect::<Vec<_>>()
    });
    let is_indented_block = |line: &str| line.starts_with("    ");
    let long: Vec<String> = comments
        .filter(|(_, line)| line.chars().count() > 100 && !is_unbreakable(line))
        .chain(prose.filter(|(_, line)| {
            line.chars().count() > 100 && !is_unbreakable(line) && !is_indented_block(line)
        }))
        .map(|(file, line)| format!("{}: {line}", file.display()))
        .collect();
    assert!(long.is_empty(), "{long:#?}");
}

/// Untrusted code is parsed in jailed workers. Outside of the crate `script` only the main function
/// of a worker names what reaches the parser, and inside of it only the function that a worker
/// calls. Tests, benchmarks and fuzzing parse in their own process.
#[test]
fn only_the_worker_names_the_parser_of_scripts() {
    // Each has its own way to the parser: who names it, apart from tests.
    let ways: [(&str, &[&str]); 5] = [
        ("InProcessAnalyzer", &["script/src/analyzer.rs", "script/src/lib.rs"]),
        ("script::read", &[]),
        (
            "answer_analysis_request",
            &["script/src/analyzer.rs", "script/src/lib.rs", "cli/src/script_analyzer.rs"],
        ),
        ("parse::read_", &["script/src/analyzer.rs"]),
        ("oxc_parser", &["script/src/parse.rs"]),
    ];
    let mut worker_mains = 0;
    for (_, file, text) in sources() {
        // This module is for tests alone.
        if file.ends_with("check/src/testing.rs") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for (way, allowed) in ways {
                let is_allowed = allowed.iter().any(|allowed| file.ends_with(allowed));
                assert!(!line.contains(way) || is_allowed, "{}: {line}", file.display());
            }
            worker_mains += usize::from(line.contains("jailed_function_main(toolwright_script::"));
        }
    }
    assert_eq!(worker_mains, 1, "the parser is named in the main function of a worker");
}

#[test]
fn every_licence_is_on_the_allow_list() {
    let built = PLATFORMS.map(metadata);
    let packages: Vec<&Json> = built
        .iter()
        .flat_map(|metadata| metadata["packages"].as_array().expect("packages"))
        .collect();
    let bad = packages.into_iter().filter(|package| !is_fine(text(package, "license")));
    let bad: Vec<String> = bad
        .map(|p| format!("{} {}: {}", text(p, "name"), text(p, "version"), text(p, "license")))
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

/// Reads an SPDX expression: any side of an `OR`, every side of an `AND`. `/` is an old `OR`.
fn is_fine(expression: &str) -> bool {
    let alternatives = expression.replace('/', " OR ");
    let one = |term: &str| {
        let term = term.trim().trim_matches(['(', ')']).trim();
        LICENCES.contains(&term.split(" WITH ").next().unwrap_or_default())
    };
    // `(A OR B) AND C`: every group joined by AND must have an allowed alternative.
    alternatives.split(" AND ").all(|group| group.split(" OR ").any(one))
}

#[test]
fn licence_expressions_are_evaluated() {
    for fine in [
        "MIT",
        "MIT OR Apache-2.0",
        "MIT/Apache-2.0",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
        "GPL-3.0 OR MIT",
    ] {
        assert!(is_fine(fine), "{fine}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "LGPL-2.1 OR GPL-3.0"] {
        assert!(!is_fine(bad), "{bad}");
    }
}

#[test]
fn every_dependency_has_a_comment() {
    let manifest = std::fs::read_to_string(project().join("Cargo.toml")).expect("the manifest");
    let (_, dependencies) = manifest.split_once("[workspace.dependencies]").expect("a table");
    let dependencies = dependencies.split("\n[").next().expect("its end");
    let mut explained = false;
    for line in dependencies.lines() {
        let own = line.starts_with("toolwright");
        match line.trim() {
            "" => explained = false,
            comment if comment.starts_with('#') => explained = true,
            _ => assert!(own || explained, "no comment above `{line}`"),
        }
    }
}

#[test]
fn the_manual_lists_every_code_of_a_call() {
    let manual = std::fs::read_to_string(project().join("docs/calling.md")).expect("the manual");
    for code in toolwright_exec::code::ALL {
        let row = format!(
            "| `{}` | {} | {} | {} |",
            code.name, code.number, code.meaning, code.suggestion
        );
        assert!(manual.contains(&row), "docs/calling.md lacks the row\n{row}");
    }
    let rows =
        manual.lines().filter(|line| line.starts_with("| `") && line.contains("| -32")).count();
    assert_eq!(rows, toolwright_exec::code::ALL.len(), "a row is of no code");
    let numbers: BTreeSet<i32> =
        toolwright_exec::code::ALL.iter().map(|code| code.number).collect();
    assert_eq!(numbers.len(), toolwright_exec::code::ALL.len(), "a number is used twice");
}
