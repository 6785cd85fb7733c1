//! Every rule of the specifications, as rows of data in `tests/rules`: a document that keeps all
//! rules, an edit that breaks one, and the finding that it gives. The page docs/rules.md lists
//! them; it is written by this test when `UPDATE_DOCS` is set, and compared with the rows
//! otherwise.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_schema::VendorTarget;
use toolwright_script::InProcessAnalyzer;
use toolwright_source::{Document, DocumentPath, Edit, Severity, Syntax, plan, splice};
use toolwright_workspace::{ReadOptions, Workspace, codes};

use crate::program::{assert_page, project};

const SPECIFICATIONS: [&str; 5] =
    ["btcp-manifest", "btcp-tool", "aios", "toolfoundation", "ikigai"];

/// A finding, as rows write it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundCode {
    pub(crate) code: String,
    pub(crate) severity: String,
    pub(crate) at: String,
}

/// A file of rows.
pub(crate) struct RuleTable {
    pub(crate) name: String,
    rows: Json,
}

impl RuleTable {
    pub(crate) fn load(name: &str) -> RuleTable {
        let path = folder().join(format!("{name}.yaml"));
        let text = std::fs::read(&path).expect("the rows are there");
        let document = Document::parse(name, text, Syntax::Yaml);
        assert!(document.problems().is_empty(), "{name}: {:?}", document.problems());
        RuleTable { name: name.to_owned(), rows: document.root().to_json() }
    }

    pub(crate) fn rules(&self) -> &[Json] {
        self.rows["rules"].as_array().expect("a list of rules")
    }

    /// The document of a row: file name and text.
    fn document(&self, name: &str) -> (&str, &str) {
        let document = &self.rows["documents"][name];
        let text = |key: &str| {
            document[key].as_str().unwrap_or_else(|| panic!("document {name} has a {key}"))
        };
        (text("file"), text("text"))
    }

    /// A row's document with its edit made: file name and text.
    pub(crate) fn mutant(&self, rule: &Json, edit: &Json) -> (String, String) {
        if let Some(text) = edit["text"].as_str() {
            let file =
                edit["file"].as_str().or(rule["file"].as_str()).expect("a text has a file name");
            return (file.to_owned(), text.to_owned());
        }
        let (file, text) = self.document(rule["on"].as_str().expect("a row names its document"));
        (file.to_owned(), edited(file, text, edit))
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules")
}

pub(crate) fn parse(file: &str, text: &str) -> Arc<Document> {
    let syntax = if file.ends_with(".json") { Syntax::Json } else { Syntax::Yaml };
    Arc::new(Document::parse(file, text, syntax))
}

/// Renames, then removes, then sets, one edit at a time.
fn edited(file: &str, text: &str, edit: &Json) -> String {
    let mut text = text.to_owned();
    let pointer =
        |p: &str| DocumentPath::parse(p).unwrap_or_else(|| panic!("{p} is not a pointer"));
    let mut make = |edit: Edit| {
        let document = parse(file, &text);
        let edits = plan(&document, std::slice::from_ref(&edit))
            .unwrap_or_else(|e| panic!("{edit:?}: {e}"));
        text = splice(&text, &edits);
    };
    for (at, name) in edit["rename"].as_object().into_iter().flatten() {
        make(Edit::RenameKey(pointer(at), name.as_str().expect("a name").to_owned()));
    }
    for at in edit["remove"].as_array().into_iter().flatten() {
        make(Edit::Remove(pointer(at.as_str().expect("a pointer"))));
    }
    for (at, value) in edit["set"].as_object().into_iter().flatten() {
        let at = pointer(at);
        let document = parse(file, &text);
        let (root, parent) = (document.root(), at.parent().expect("not the root"));
        let is_list = root
            .find(&parent)
            .is_some_and(|node| node.kind() == toolwright_source::ValueKind::List);
        let edit = match root.find(&at) {
            Some(_) => Edit::Replace(at, value.clone()),
            // An index behind the last item adds one.
            None if is_list => Edit::Insert(parent.child("-"), value.clone()),
            None => Edit::Insert(at, value.clone()),
        };
        let edits = plan(&document, std::slice::from_ref(&edit))
            .unwrap_or_else(|e| panic!("{edit:?}: {e}"));
        text = splice(&text, &edits);
    }
    text
}

/// The findings of `check` in a document.
pub(crate) fn check(file: &str, text: &str, compat: bool) -> Vec<FoundCode> {
    check_with(file, text, ReadOptions { compat, rules: true, ..ReadOptions::default() })
}

fn check_with(file: &str, text: &str, options: ReadOptions) -> Vec<FoundCode> {
    let document = parse(file, text);
    let loaded = Workspace::new(Arc::new(InProcessAnalyzer)).read(&document, options);
    let found = loaded.diagnostics.iter().map(|d| FoundCode {
        code: d.code.name.to_owned(),
        severity: d.severity.name().to_owned(),
        at: d.path.to_string(),
    });
    found.collect()
}

fn serious(found: &[FoundCode]) -> Vec<&FoundCode> {
    found.iter().filter(|f| f.severity != Severity::Info.name()).collect()
}

/// How the findings of a row differ from what it expects.
fn failures(table: &RuleTable, rule: &Json) -> Vec<String> {
    let text = |key: &str| rule[key].as_str().unwrap_or_default();
    let (code, severity, at) = (text("code"), text("severity"), text("at"));
    let name = format!("{}: {}", table.name, text("rule"));
    let mut wrong = Vec::new();
    if code.is_empty() || !(rule["text"].is_string() || rule["on"].is_string()) {
        return vec![format!("{name}: no code enforces it, or no document shows it")];
    }
    if codes::find(code).is_err() {
        wrong.push(format!("{name}: there is no code {code}"));
    }
    let (file, broken) = table.mutant(rule, rule);
    // Findings about vendors need a target, which the row names.
    let targets = VendorTarget::by_id(text("target")).into_iter().collect();
    let options = ReadOptions { rules: true, targets, ..ReadOptions::default() };
    let found = check_with(&file, &broken, options);
    let expected = FoundCode { code: code.into(), severity: severity.into(), at: at.into() };
    if found.iter().filter(|f| **f == expected).count() != 1 {
        wrong.push(format!("{name}: expected one {code} ({severity}) at `{at}`, found {found:?}"));
    }
    let more: BTreeSet<&str> =
        rule["more"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let others: Vec<&FoundCode> = serious(&found)
        .into_iter()
        .filter(|f| **f != expected && !more.contains(f.code.as_str()))
        .collect();
    if !others.is_empty() {
        wrong.push(format!("{name}: also found {others:?}"));
    }
    if let Some(softer) = rule["compat"].as_str() {
        let found = check(&file, &broken, true);
        let expected = FoundCode { severity: softer.into(), ..expected.clone() };
        if !found.contains(&expected) {
            wrong.push(format!("{name}: with --compat expected {expected:?}, found {found:?}"));
        }
    }
    for (n, accepted) in rule["accepts"].as_array().into_iter().flatten().enumerate() {
        let (file, near) = table.mutant(rule, accepted);
        let found = check(&file, &near, false);
        if found.iter().any(|f| f.code == code && f.severity == severity) {
            wrong.push(format!("{name}: near miss {n} is found, too: {found:?}"));
        }
    }
    wrong
}

/// Why `toolwright check` does not print the finding of a row; `None` if it does.
fn unprinted_rule(table: &RuleTable, rule: &Json) -> Option<String> {
    let text = |key: &str| rule[key].as_str().unwrap_or_default();
    let (file, broken) = table.mutant(rule, rule);
    let folder = crate::program::folder(&[(file.as_str(), broken.as_bytes())]);
    let mut args = vec!["check", &file, "--output-format", "json"];
    if !text("target").is_empty() {
        args.extend(["--target", text("target")]);
    }
    let run = crate::program::run_in(folder.path(), &args, b"");
    let is_it = |line: &str| {
        let found: Json = serde_json::from_str(line).unwrap_or_default();
        ["code", "severity"].iter().all(|key| found[*key] == rule[*key])
            && found["path"] == rule["at"]
    };
    match run.stdout.lines().filter(|line| is_it(line)).count() {
        1 => None,
        count => {
            let rule = text("rule");
            Some(format!("{}: {rule}: printed {count} times by {args:?}: {run:?}", table.name))
        }
    }
}

fn walk(name: &str) {
    let table = RuleTable::load(name);
    let mut wrong = Vec::new();
    for (document, _) in table.rows["documents"].as_object().expect("documents") {
        let (file, text) = table.document(document);
        let found = check(file, text, false);
        if !serious(&found).is_empty() {
            wrong.push(format!(
                "{name}: the document `{document}` is not clean: {:?}",
                serious(&found)
            ));
        }
    }
    wrong.extend(table.rules().iter().flat_map(|rule| failures(&table, rule)));
    // Programs take longer to start than to check a document.
    let part = table.rules().len().div_ceil(4);
    let table = &table;
    std::thread::scope(|scope| {
        let parts: Vec<_> = table
            .rules()
            .chunks(part)
            .map(|rules| {
                scope.spawn(move || {
                    rules.iter().filter_map(|it| unprinted_rule(table, it)).collect::<Vec<_>>()
                })
            })
            .collect();
        wrong.extend(parts.into_iter().flat_map(|part| part.join().expect("no panic")));
    });
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_of_btcp_manifests_is_enforced() {
    walk("btcp-manifest");
}

#[test]
fn every_rule_of_btcp_tools_is_enforced() {
    walk("btcp-tool");
}

#[test]
fn every_rule_of_aios_is_enforced() {
    walk("aios");
}

#[test]
fn every_rule_of_toolfoundation_is_enforced() {
    walk("toolfoundation");
}

#[test]
fn every_rule_of_ikigai_is_enforced() {
    walk("ikigai");
}

/// The page that lists every rule.
#[test]
fn the_page_of_rules_is_up_to_date() {
    let mut page = "# The rules\n\n\
        Every statement of the specifications of the four tool systems. The tables have what they \
        state\nabout a definition, and the code that enforces it: a document that keeps all rules \
        is broken in this\none way, and exactly this is found, by the library and by \
        `toolwright check`. The rows are in\n`crates/cli/tests/rules`, and \
        `cargo test -p toolwright --test it rules` runs them. With\n`UPDATE_DOCS=1` it writes this \
        page. Below each table is what takes several documents or a running\ntool, with the test \
        that shows it.\n"
        .to_owned();
    for name in SPECIFICATIONS {
        let table = RuleTable::load(name);
        let title = table.rows["specification"].as_str().unwrap_or(name);
        let _ =
            write!(page, "\n## {title}\n\n{} rules about a definition.\n\n", table.rules().len());
        page += "| rule | where | requirement | code | severity | breaks it |\n|---|---|---|---|---|---|\n";
        for rule in table.rules() {
            let cell =
                |key: &str| rule[key].as_str().unwrap_or("").replace('|', "\\|").replace('\n', " ");
            let code = cell("code");
            let _ = writeln!(
                page,
                "| {} | {} | {} | [{code}](codes/{code}.md) | {} | {} |",
                cell("rule"),
                cell("section"),
                cell("level"),
                cell("severity").replace("info", "note"),
                how(rule)
            );
        }
        let skipped = table.rows["not_checked"].as_array().map(Vec::as_slice).unwrap_or_default();
        if !skipped.is_empty() {
            page += "\nAbout several definitions, or about running one:\n\n";
            for rule in skipped {
                let text = |key: &str| rule[key].as_str().unwrap_or("");
                let tests: Vec<&str> = match &rule["test"] {
                    Json::Array(tests) => tests.iter().filter_map(Json::as_str).collect(),
                    test => test.as_str().into_iter().collect(),
                };
                tests.iter().copied().for_each(assert_is_test);
                let shown = match tests.as_slice() {
                    [] => String::new(),
                    tests => format!(" (shown by `{}`)", tests.join("`, `")),
                };
                page += &wrapped(&format!("- {}: {}{shown}", text("rule"), text("why")));
            }
        }
    }
    assert_page(&project().join("docs/rules.md"), &page);
}

/// Asserts that there is a test of this name: `file::function` among those of the program, or
/// `crate::file::function` among those of another crate.
fn assert_is_test(name: &str) {
    let parts: Vec<&str> = name.split("::").collect();
    let (of, file, function) = match parts.as_slice() {
        [file, function] => ("cli", file, function),
        [of, file, function] => (*of, file, function),
        _ => panic!("`{name}` is not `file::function`"),
    };
    let path = project().join(format!("crates/{of}/tests/it/{file}.rs"));
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text.contains(&format!("#[test]\nfn {function}()")), "there is no test `{name}`");
}

/// An item of a list in lines of at most 100 columns.
fn wrapped(item: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in item.split_whitespace() {
        let length = word.chars().count();
        match column {
            0 => {}
            _ if column + 1 + length <= 100 => {
                text.push(' ');
                column += 1;
            }
            _ => {
                text.push_str("\n  ");
                column = 2;
            }
        }
        text.push_str(word);
        column += length;
    }
    text + "\n"
}

/// The edit of a row in a few words.
fn how(rule: &Json) -> String {
    let mut parts = Vec::new();
    for (verb, key) in [("rename", "rename"), ("set", "set")] {
        for (at, value) in rule[key].as_object().into_iter().flatten() {
            let value: String = value.to_string().chars().take(40).collect();
            parts.push(format!(
                "{verb} `{at}` to `{}`",
                value.replace('|', "\\|").replace('`', "'")
            ));
        }
    }
    for at in rule["remove"].as_array().into_iter().flatten() {
        parts.push(format!("remove `{}`", at.as_str().unwrap_or("")));
    }
    if rule["text"].is_string() {
        parts.push("a document of its own".to_owned());
    }
    parts.join(", ")
}
