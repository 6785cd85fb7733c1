//! Starts the binary, and makes the folders that it works in.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The output and the exit code of one run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Run {
    pub(crate) fn of(output: Output) -> Run {
        Run {
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            code: output.status.code().expect("not killed by a signal"),
        }
    }

    /// Asserts that stderr contains this text.
    pub(crate) fn assert_on_stderr(&self, text: &str) {
        assert!(self.stderr.contains(text), "{text:?} is not on stderr: {}", self.stderr);
    }
}

/// The root of the project.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project is here")
}

pub(crate) fn toolwright() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.env_clear().env("XDG_STATE_HOME", state_home()).current_dir(project());
    command
}

/// The folder of the store of calls and pins. `cargo nextest` runs every test in a process of its
/// own, which gets a folder of its own: a test must not see what another one has pinned. With
/// `cargo test` all tests share one. Tests of the store itself have further ones.
pub(crate) fn state_home() -> &'static str {
    static FOLDER: OnceLock<String> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let is_single = args.iter().any(|arg| arg == "--exact");
        let test = args.iter().find(|arg| is_single && !arg.starts_with('-'));
        let name = test.map_or("all", String::as_str).replace("::", ".");
        let folder = format!("{}/state/{name}", env!("CARGO_TARGET_TMPDIR"));
        // What an earlier run has left.
        if test.is_some() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        folder
    })
}

/// Runs with `args` in `folder`, `stdin` as standard input.
pub(crate) fn run_in(folder: &Path, args: &[&str], stdin: &[u8]) -> Run {
    let mut child = toolwright()
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut input = child.stdin.take().expect("piped");
    let stdin = stdin.to_vec();
    let writer = std::thread::spawn(move || drop(input.write_all(&stdin)));
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer does not panic");
    Run::of(output)
}

/// Runs in the project's root without input.
pub(crate) fn run(args: &[&str]) -> Run {
    run_in(&project(), args, b"")
}

/// Asserts that a generated page of the docs has this text, after writing it if `UPDATE_DOCS` is
/// set.
pub(crate) fn assert_page(page: &Path, made: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(page.parent().expect("in a folder")).expect("a folder");
        std::fs::write(page, made).expect("the page can be written");
    }
    let written = std::fs::read_to_string(page).unwrap_or_default();
    assert!(
        written == made,
        "{} is stale: run the tests with UPDATE_DOCS=1 and commit what that changes",
        page.display()
    );
}

/// A folder with these files in it.
pub(crate) fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    folder
}
