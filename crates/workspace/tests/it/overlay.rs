//! The whole check as one call, on files and on texts that are not saved.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use toolwright_script::InProcessAnalyzer;
use toolwright_source::Severity;
use toolwright_workspace::{
    CheckOptions, CheckReport, CodeSelection, FixMode, UnknownCode, Workspace,
};

const GOOD: &str = r#"{"name": "now", "description": "Returns the time", "inputSchema": {"type": "object", "additionalProperties": false}}"#;

fn workspace() -> Workspace {
    Workspace::new(Arc::new(InProcessAnalyzer))
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn check(workspace: &Workspace, paths: &[PathBuf]) -> CheckReport {
    workspace.check(paths, &CheckOptions::default())
}

/// The codes of errors and warnings.
fn codes(report: &CheckReport) -> Vec<&str> {
    let serious = report.diagnostics().filter(|it| it.severity > Severity::Info);
    serious.map(|diagnostic| diagnostic.code.name).collect()
}

#[test]
fn an_unsaved_text_counts_instead_of_the_file() {
    let folder = folder(&[("now.json", GOOD)]);
    let file = folder.path().join("now.json");
    let mut workspace = workspace();
    assert_eq!(codes(&check(&workspace, std::slice::from_ref(&file))), [""; 0]);
    workspace.overlay.set(&file, GOOD.replace("object", "objekt"));
    assert_eq!(codes(&check(&workspace, std::slice::from_ref(&file))), ["INVALID_SCHEMA"]);
    // Also when the folder is checked.
    assert_eq!(codes(&check(&workspace, &[folder.path().to_owned()])), ["INVALID_SCHEMA"]);
    assert!(workspace.overlay.remove(&file));
    assert_eq!(codes(&check(&workspace, &[folder.path().to_owned()])), [""; 0]);
}

#[test]
fn a_file_that_was_never_saved_is_found_in_its_folder() {
    let folder = folder(&[("now.json", GOOD)]);
    let mut workspace = workspace();
    workspace.overlay.set(folder.path().join("new.json"), GOOD);
    workspace.overlay.set(folder.path().join("notes.txt"), "not a definition");
    let report = check(&workspace, &[folder.path().to_owned()]);
    assert_eq!(report.load.documents.len(), 2);
    // The rules between documents see it, too.
    assert_eq!(codes(&report), ["DUPLICATE_ID"]);
}

fn select(code: &str) -> Result<CodeSelection, UnknownCode> {
    CodeSelection::new(&[code.to_owned()], &[], Default::default(), Default::default())
}

#[test]
fn one_call_selects_silences_and_fixes() {
    let wrong = GOOD.replace("description", "descripton");
    let folder = folder(&[("now.json", &wrong)]);
    let file = folder.path().join("now.json");
    let only = select("misspelled_field");
    let options = CheckOptions {
        selection: only.expect("a code"),
        try_fixes: true,
        ..CheckOptions::default()
    };
    let report = workspace().check(std::slice::from_ref(&file), &options);
    let fixes: Vec<bool> =
        report.diagnostics().filter_map(|it| it.fix.as_ref()).map(|fix| fix.safe).collect();
    assert_eq!((codes(&report), fixes), (vec!["MISSPELLED_FIELD"], vec![true]));
    let fix = Some(FixMode { unsafe_fixes: false, diff: false });
    let report = workspace()
        .check(std::slice::from_ref(&file), &CheckOptions { fix, ..CheckOptions::default() });
    assert_eq!((report.fixes.applied, codes(&report)), (1, vec![]));
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), GOOD);
    let unknown = select("MISPELLED_FIELD");
    assert_eq!(
        unknown.expect_err("no such code").to_string(),
        "there is no code `MISPELLED_FIELD` (did you mean `MISSPELLED_FIELD`?)"
    );
}

/// A device or a pipe is written to. Were it replaced by a file, `-o /dev/null` would break the
/// system.
#[test]
fn a_pipe_is_written_to_and_stays_one() {
    use std::os::unix::fs::FileTypeExt;
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs");
    assert!(made.success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read(pipe).expect("it can be read")
    });
    toolwright_workspace::replace_file(&pipe, Some(b""), b"text").expect("it is written");
    assert_eq!(reader.join().expect("it ends"), b"text");
    assert!(pipe.metadata().expect("it is there").file_type().is_fifo());
}
