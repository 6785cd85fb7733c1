//! Compares ARCHITECTURE.md with the sources, so that the page cannot name what is gone: every path
//! and every `Type::function` on it exists, the list of modules is complete, and the steps of the
//! two walks are declared in the files that the tables give.
//!
//! The sources are searched as text. That suffices: a name that was removed or renamed is found,
//! and a name that merely occurs elsewhere would have to be declared there in the same form.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::architecture::{page, sources};
use crate::program::project;

/// What must stand before a name for it to be a declaration.
const KINDS: [&str; 8] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules!"];

/// A folder with more files has a list of its own.
const LARGE_FOLDER: usize = 8;

/// Methods of MCP, which look like paths.
const METHODS: [&str; 2] = ["tools/call", "tools/list"];

/// A source file: its path below `crates/`, its text, and the names that it declares.
struct SourceFile {
    path: String,
    text: String,
    declared: BTreeSet<String>,
}

impl SourceFile {
    fn new(path: &str, text: String) -> SourceFile {
        let words: Vec<&str> = text.split_whitespace().collect();
        let declared = words.windows(2).filter(|pair| KINDS.contains(&pair[0])).map(|pair| {
            let end = pair[1].find(|c: char| !c.is_alphanumeric() && c != '_');
            pair[1][..end.unwrap_or(pair[1].len())].to_owned()
        });
        SourceFile { path: path.to_owned(), declared: declared.collect(), text }
    }

    fn declares(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    /// Whether it declares `name`, or `owner::name` where `owner` is a type that it declares or
    /// implements, or the name of the file itself.
    fn declares_path(&self, path: &str) -> bool {
        let Some((owner, name)) = path.rsplit_once("::") else { return self.declares(path) };
        let is_module = Path::new(&self.path)
            .with_extension("")
            .components()
            .any(|part| part.as_os_str() == owner);
        let has_owner = self.declares(owner)
            || self.text.contains(&format!("impl {owner}"))
            || self.text.contains(&format!("> {owner}"))
            || self.text.contains(&format!("for {owner}"));
        self.declares(name) && (is_module || has_owner)
    }
}

/// The sources of all crates, without their tests.
fn source_files() -> Vec<SourceFile> {
    let crates = project().join("crates");
    let sources = sources().into_iter();
    let path = |file: &Path| file.strip_prefix(&crates).expect("below it").to_owned();
    sources
        .map(|(_, file, text)| SourceFile::new(path(&file).to_str().expect("UTF-8"), text))
        .collect()
}

/// The words in backticks of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The part of a path before the first placeholder, such as `<format>`.
fn without_placeholder(path: &str) -> &str {
    let end = path.find('<').unwrap_or(path.len());
    if end < path.len() {
        path[..end].rsplit_once('/').map_or("", |(folder, _)| folder)
    } else {
        path
    }
}

/// Whether a path of the page exists: from the root, below `crates/`, or as the end of the path of
/// a source file, where the text around it names the folder.
fn exists(path: &str, files: &[SourceFile]) -> bool {
    let path = without_placeholder(path);
    let root = project();
    root.join(path).exists()
        || root.join("crates").join(path).exists()
        || files.iter().any(|file| {
            file.path.ends_with(&format!("/{path}")) || file.path.contains(&format!("/{path}"))
        })
}

#[test]
fn every_path_and_function_on_the_page_exists() {
    let (page, files) = (page(), source_files());
    // Without the blocks of code: the backticks of their fences would pair up wrongly.
    let prose = page.split("```").step_by(2).flat_map(str::lines);
    let mut missing = BTreeSet::new();
    for word in prose.flat_map(quoted) {
        let is_path = word.contains('/') && !METHODS.contains(&word);
        let is_name = word.contains("::");
        let module = || {
            exists(&word.replace("::", "/src/"), &files)
                || exists(&(word.replace("::", "/src/") + ".rs"), &files)
        };
        if is_path && !exists(word, &files)
            || is_name && !files.iter().any(|file| file.declares_path(word)) && !module()
        {
            missing.insert(word);
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md names what does not exist: {missing:#?}");
}

#[test]
fn the_steps_of_the_walks_are_in_the_files_of_the_tables() {
    let (page, files) = (page(), source_files());
    let is_step = |line: &&str| line.starts_with("| ") && !line.starts_with("| step ");
    let mut checked = 0;
    for walk in page.split("\n## ").filter(|section| section.contains("| step | file")) {
        let mut current = "";
        for row in walk.lines().filter(is_step) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [_, file, functions] = cells[..] else { panic!("three columns: {row}") };
            // An empty cell stands for the file of the row above it.
            current = quoted(file).next().unwrap_or(current);
            let folder = without_placeholder(current);
            let Some(first) = quoted(functions).next() else { continue };
            // The trait of a format is declared beside the folders of the formats.
            let scope = if current.contains('<') { folder.trim_end_matches('/') } else { folder };
            let is_declared = files
                .iter()
                .filter(|file| file.path.starts_with(scope))
                .any(|file| file.declares_path(first));
            assert!(is_declared, "`{first}` is not declared in `{current}`: {row}");
            checked += 1;
        }
    }
    assert!(checked > 30, "only {checked} steps were found");
}

/// The headings of a list of modules, and the names below each, with the heading before them.
fn listed_modules(list: &str) -> (Vec<&str>, BTreeSet<String>) {
    let (mut headings, mut listed) = (Vec::new(), BTreeSet::new());
    for line in list.lines().skip(1) {
        if !line.starts_with(' ') {
            let (name, _) = line.split_once(": ").expect("the name of a crate or folder");
            headings.push(name);
            continue;
        }
        let heading = headings.last().expect("a heading");
        // Two columns; in each, names separated by commas, then at least a space and a description.
        for column in line.split('│').filter(|column| !column.trim().is_empty()) {
            let end = column.trim_start().split_inclusive(' ').scan(true, |more, word| {
                std::mem::replace(more, word.trim_end().ends_with(',')).then_some(word)
            });
            let names: String = end.collect();
            listed.extend(names.trim().split(", ").map(|name| format!("{heading}/{name}")));
        }
    }
    (headings, listed)
}

/// The two blocks below the heading about modules: that of the crates, and that of large folders.
fn module_lists(page: &str) -> [&str; 2] {
    let (_, lists) = page.split_once("## The modules of each crate").expect("the list of modules");
    let mut blocks = lists.split("```").skip(1).step_by(2);
    [blocks.next().expect("the crates"), blocks.next().expect("the folders")]
}

#[test]
fn the_modules_of_each_crate_are_listed() {
    let page = page();
    let (crates, listed) = listed_modules(module_lists(&page)[0]);
    let listed: BTreeSet<String> =
        listed.iter().map(|name| name.replacen('/', "/src/", 1)).collect();
    let root = project().join("crates");
    for name in &listed {
        let path = root.join(name.trim_end_matches('/'));
        let examples = name == "testing/src/examples/";
        let is_file = ["rs", "js"].iter().any(|it| path.with_extension(it).is_file());
        assert!(path.is_dir() || is_file || examples, "no `{name}`");
    }
    // `lib` is described by the line of its crate; `testing` helps the tests of a crate.
    let is_described = |name: &str| matches!(name, "lib" | "testing");
    for name in crates {
        for entry in std::fs::read_dir(root.join(name).join("src")).expect("a folder") {
            let path = entry.expect("an entry").path();
            let module = path.file_stem().expect("a name").to_str().expect("UTF-8");
            let is_listed =
                ["", "/"].iter().any(|end| listed.contains(&format!("{name}/src/{module}{end}")));
            assert!(
                is_listed || is_described(module),
                "ARCHITECTURE.md lacks `{name}/src/{module}`"
            );
        }
    }
}

#[test]
fn the_files_of_large_folders_are_listed() {
    let page = page();
    let (folders, listed) = listed_modules(module_lists(&page)[1]);
    let root = project().join("crates");
    for name in &listed {
        let path = root.join(name.trim_end_matches('/'));
        assert!(path.is_dir() || path.with_extension("rs").is_file(), "no `{name}`");
    }
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in source_files() {
        let (folder, name) = file.path.rsplit_once('/').expect("a folder");
        // `mod` is described by the line of its folder.
        if !matches!(name, "mod.rs" | "tests.rs") {
            let name = name.trim_end_matches(".rs").to_owned();
            files.entry(folder.to_owned()).or_default().push(name);
        }
    }
    for (folder, names) in files {
        let is_crate = folder.ends_with("/src");
        let is_large = names.len() > LARGE_FOLDER && folder != "check/src/rules";
        if folders.contains(&&*folder) || is_large && !is_crate {
            for name in names {
                let name = format!("{folder}/{name}");
                assert!(listed.contains(&name), "ARCHITECTURE.md lacks `{name}`");
            }
        }
    }
}
