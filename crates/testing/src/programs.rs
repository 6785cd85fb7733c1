//! Finds the test programs, and builds them if they are missing or older than their sources.
//!
//! `cargo test --workspace` and `cargo nextest run --workspace` have built them already. But
//! `cargo test -p toolwright` has not: cargo builds only the examples of the selected package.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::SystemTime;

/// The path of the program that plays process tools.
///
/// # Panics
/// If it cannot be built.
pub fn faulty_tool() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| find("faulty-tool"));
    &PATH
}

/// The path of the program that plays MCP servers.
///
/// # Panics
/// If it cannot be built.
pub fn faulty_server() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| find("faulty-server"));
    &PATH
}

fn find(name: &str) -> String {
    let profile_folder = profile_folder();
    let program = profile_folder.join("examples").join(name);
    if !is_fresh(&program) {
        build(&profile_folder);
    }
    assert!(program.is_file(), "cargo did not build `{}`", program.display());
    program.to_str().expect("the path of the target folder is UTF-8").to_owned()
}

/// The folder that cargo built the running program into, such as `target/debug`. Derived from the
/// program itself, so that any target folder and any profile are right.
fn profile_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a running program has a path");
    let folder = program.parent().expect("a program is in a folder");
    // Tests are in `target/debug/deps`, benchmarks in `target/debug` itself.
    match folder.ends_with("deps") {
        true => folder.parent().expect("`deps` is in a folder").to_owned(),
        false => folder.to_owned(),
    }
}

/// Whether the program exists and no source file of this crate is newer.
fn is_fresh(program: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    let Some(built) = modified(program) else { return false };
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    newest(&package.join("src")).max(newest(&package.join("examples"))) <= built
}

/// The time of the newest file below a folder.
fn newest(folder: &Path) -> SystemTime {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let times = entries.map(|entry| match entry.path() {
        path if path.is_dir() => newest(&path),
        path => path.metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH),
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Builds all programs of this crate into the target folder and with the profile of the running
/// program. Tests of many processes may do this at the same time: cargo locks the folder, and those
/// that come later find nothing left to build.
fn build(profile_folder: &Path) {
    let target = profile_folder.parent().expect("a profile folder is in the target folder");
    let profile = match profile_folder.file_name().and_then(|name| name.to_str()) {
        // Cargo puts the profile `dev` into a folder of another name.
        Some("debug") => "dev",
        Some(profile) => profile,
        None => panic!("`{}` has no name", profile_folder.display()),
    };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--package", env!("CARGO_PKG_NAME"), "--examples"])
        .args(["--profile", profile, "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
