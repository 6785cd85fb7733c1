//! Functions of real tools and of the format's own examples, when they are there.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use toolwright_script::{Entry, Script};

use crate::support::function;

/// A function block of a file: where it starts, and its code.
struct Block {
    at: String,
    section: String,
    code: String,
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Enough of YAML for literal blocks under `function`.
fn blocks(path: &Path) -> Vec<Block> {
    let text = std::fs::read_to_string(path).expect("a file");
    let lines: Vec<&str> = text.lines().collect();
    let mut section = String::new();
    let mut found = Vec::new();
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
            found.push(Block { at, section: section.clone(), code: code.join("\n") });
        }
    }
    found
}

fn files(shared: &Path) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(shared.join("corpus/aios")).expect("the corpus");
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    files.push(shared.join("seeds/aios-tool-schema-v2.md"));
    files.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/aios/tickets.yaml"));
    files
}

fn hold(block: &Block, script: &Script) {
    assert_eq!(script.problems, [], "{}", block.at);
    assert_eq!(script.forbidden, [], "{}", block.at);
    assert!(!matches!(script.entry, Entry::None | Entry::Unknown), "{}", block.at);
    if block.section == "validators" {
        assert!(script.returns.can_be_verdict(), "{}", block.at);
    }
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
    let blocks: Vec<Block> = files(&shared).iter().flat_map(|path| blocks(path)).collect();
    assert!(blocks.len() > 30, "only {} functions found", blocks.len());
    for block in &blocks {
        hold(block, &function(&block.code));
    }
}
