//! Whole functions of definitions: none has a problem, and each has an entry point.
//!
//! Our own corpus (`tests/corpus` and the examples of the repository) is always read. The functions
//! of real tools are read where the variable `TOOLWRIGHT_SHARED` names a folder that holds them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use toolwright_script::{EntryPoint, ScriptFacts};

use crate::support::function;

/// A function block of a file.
struct FunctionBlock {
    /// `FILE:LINE` of its key.
    at: String,
    /// The last key without a value above it: `validators`, `helpers` …
    section: String,
    code: String,
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The literal blocks under `function`. This understands just enough of YAML for them, because this
/// crate does not depend on a parser of YAML; it reads Markdown with YAML in it, too.
fn function_blocks(path: &Path) -> Vec<FunctionBlock> {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let lines: Vec<&str> = text.lines().collect();
    let mut section = String::new();
    let mut blocks = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if let Some(name) = line.trim().strip_suffix(':') {
            section = name.to_owned();
        }
        if line.trim_start().starts_with("function: |") {
            let body: Vec<&str> = lines[index + 1..]
                .iter()
                .take_while(|next| next.trim().is_empty() || indent(next) > indent(line))
                .copied()
                .collect();
            let margin =
                body.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line)).min();
            let code: Vec<&str> =
                body.iter().map(|line| line.get(margin.unwrap_or(0)..).unwrap_or("")).collect();
            let at = format!("{}:{}", path.display(), index + 1);
            blocks.push(FunctionBlock { at, section: section.clone(), code: code.join("\n") });
        }
    }
    blocks
}

/// The files of a folder of this repository or of the shared corpus.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml"));
    files.sort();
    files
}

fn assert_can_be_called(block: &FunctionBlock, facts: &ScriptFacts) {
    assert_eq!(facts.problems, [], "{}", block.at);
    assert_eq!(facts.forbidden, [], "{}", block.at);
    assert!(!matches!(facts.entry, EntryPoint::None | EntryPoint::Unknown), "{}", block.at);
    if block.section == "validators" {
        assert!(facts.returns.can_be_verdict(), "{}", block.at);
    }
}

/// Reads all functions of these files. There must be at least `at_least` of them.
fn assert_all_can_be_called(files: &[PathBuf], at_least: usize) -> Vec<ScriptFacts> {
    let blocks: Vec<FunctionBlock> = files.iter().flat_map(|path| function_blocks(path)).collect();
    assert!(blocks.len() >= at_least, "only {} functions found", blocks.len());
    let read = |block: &FunctionBlock| {
        let facts = function(&block.code);
        assert_can_be_called(block, &facts);
        facts
    };
    blocks.iter().map(read).collect()
}

#[test]
fn functions_of_our_corpus_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [files_in(&root.join("tests/corpus")), files_in(&root.join("../../examples/aios"))]
        .concat();
    let facts = assert_all_can_be_called(&files, 17);
    // These are provided to some functions; no other name may be free.
    let free = facts.iter().flat_map(|facts| &facts.free).map(|free| free.name.as_str());
    let provided = ["tools", "helpers", "data", "fields"];
    let free: Vec<&str> = free.filter(|name| !provided.contains(name)).collect();
    assert_eq!(free, [""; 0]);
}

#[test]
fn functions_of_real_tools_are_read() {
    let Some(shared) = std::env::var_os("TOOLWRIGHT_SHARED").map(PathBuf::from) else {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED functions of real tools: TOOLWRIGHT_SHARED is not set"
        );
        return;
    };
    let mut files = files_in(&shared.join("corpus/aios"));
    files.push(shared.join("seeds/aios-tool-schema-v2.md"));
    assert_all_can_be_called(&files, 30);
}
