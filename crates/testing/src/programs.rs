//! Finds programs of the workspace that tests start, and builds them if they are missing or older
//! than their sources.
//!
//! `cargo test --workspace` and `cargo nextest run --workspace` have built them already. But
//! `cargo test -p toolwright` has not: cargo builds only the programs of the selected package.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::SystemTime;

/// The path of the program that plays process tools.
///
/// # Panics
/// If it cannot be built.
pub fn faulty_tool() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| example("testing", "faulty-tool"));
    &PATH
}

/// The path of the program that plays MCP servers.
///
/// # Panics
/// If it cannot be built.
pub fn faulty_server() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| example("testing", "faulty-server"));
    &PATH
}

/// The path of an example of another package, `toolwright-CRATE`.
///
/// # Panics
/// If it cannot be built.
pub fn example(crate_name: &str, name: &str) -> String {
    let program = profile_folder().join("examples").join(name);
    let package = format!("toolwright-{crate_name}");
    find(&program, crate_name, &["--package", &package, "--examples"])
}

/// The path of a program of another package, `toolwright-CRATE`.
///
/// # Panics
/// If it cannot be built.
pub fn binary(crate_name: &str, name: &str) -> String {
    let program = profile_folder().join(name);
    let package = format!("toolwright-{crate_name}");
    find(&program, crate_name, &["--package", &package, "--bins"])
}

/// The path of a program, which `cargo build ARGUMENTS` builds if it is not up to date with the
/// sources in `crates/CRATE`.
fn find(program: &Path, crate_name: &str, arguments: &[&str]) -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("`crates` is above");
    let path = program.to_str().expect("the path of the target folder is UTF-8").to_owned();
    if is_fresh(program, &crates.join(crate_name)) {
        return path;
    }
    build(arguments);
    assert!(program.is_file(), "cargo did not build `{}`", program.display());
    // Cargo does not write a program again whose own sources did not change. Its time would stay
    // older than a changed source of another program, and every test would ask cargo again.
    if let Ok(file) = std::fs::File::open(program) {
        let _ = file.set_modified(SystemTime::now());
    }
    path
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

/// Whether the program exists and is newer than all sources of its crate. Cargo could tell better,
/// but asking it takes a fraction of a second, and with `cargo nextest` every test is a process of
/// its own that would have to ask.
fn is_fresh(program: &Path, crate_folder: &Path) -> bool {
    let built = program.metadata().and_then(|metadata| metadata.modified());
    let sources = newest(&crate_folder.join("src")).max(newest(&crate_folder.join("examples")));
    built.is_ok_and(|built| sources <= built)
}

/// The time of the newest file below a folder; the epoch if there is none.
fn newest(folder: &Path) -> SystemTime {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let times = entries.map(|entry| match entry.path() {
        path if path.is_dir() => newest(&path),
        path => path.metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH),
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Runs `cargo build` for the target folder and the profile of the running program. Many processes
/// may do this at the same time: cargo locks the folder, and those that come later find nothing
/// left to build.
fn build(arguments: &[&str]) {
    let profile_folder = profile_folder();
    let target = profile_folder.parent().expect("a profile folder is in the target folder");
    let profile = match profile_folder.file_name().and_then(|name| name.to_str()) {
        // Cargo puts the profile `dev` into a folder of another name.
        Some("debug") => "dev",
        Some(profile) => profile,
        None => panic!("`{}` has no name", profile_folder.display()),
    };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked"])
        .args(arguments)
        .args(["--profile", profile, "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_programs_are_found_and_refuse_unknown_modes() {
        for (program, arguments) in [(faulty_tool(), ["no-such-mode"]), (faulty_server(), ["mcp"])]
        {
            let status = Command::new(program).args(arguments).status();
            assert_eq!(status.expect("it starts").code(), Some(64), "{program}");
        }
    }

    #[test]
    fn a_missing_or_outdated_program_is_not_fresh() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(is_fresh(Path::new(faulty_tool()), package));
        assert!(!is_fresh(&package.join("no-such-program"), package));
        // The manifest is older than a file that is written now.
        let folder = std::env::temp_dir().join(format!("toolwright-fresh-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("src")).expect("a folder");
        std::fs::write(folder.join("src/lib.rs"), "").expect("a file");
        assert!(!is_fresh(&package.join("Cargo.toml"), &folder));
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
    }
}
