//! `REV:PATH`, as git names a file of a revision: `HEAD:tools.json`, `v1.2:definitions`.
//!
//! It is read by `git`, as a child process: the formats of its storage are internal to it.
//! No hook, filter or text conversion of the repository runs for this.
//!
//! ```text
//! HEAD:tools.json  ─ cat-file -t: blob ─▶ git show ─▶ one file
//! v1.2:definitions ─ cat-file -t: tree ─▶ git ls-tree ─▶ git show for each .json, .yaml, .yml
//! ```

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// Bytes read of one file: one more than a definition may have, so that a larger one is refused
/// where definitions are read.
const MOST_BYTES: u64 = 16 * 1024 * 1024 + 1;

/// The name and the text of a file.
pub(super) type RevisionFile = (PathBuf, Vec<u8>);

/// Files of a folder that are read. Each is a process of git, so more would take minutes.
const MOST_FILES: usize = 10_000;

/// The file, or the JSON and YAML files of the folder, with the names that users gave them. `None`
/// if the word is not of that form. An empty revision would mean the index of git, and a word that
/// starts with `-` one of its options: neither is of that form.
///
/// # Errors
/// Git cannot be started, or does not know the revision or the path.
pub(super) fn read(word: &str) -> anyhow::Result<Option<Vec<RevisionFile>>> {
    let Some((revision, path)) = word.split_once(':') else { return Ok(None) };
    if revision.is_empty() || revision.starts_with('-') {
        return Ok(None);
    }
    let kind = git(&["cat-file", "-t", word])?;
    if kind.trim_ascii() != b"tree" {
        let text = git(&["show", "--no-textconv", "--end-of-options", word])?;
        return Ok(Some(vec![(word.into(), text)]));
    }
    let listed = git(&["ls-tree", "-r", "--name-only", "--full-tree", "-z", word])?;
    let listed = String::from_utf8(listed).context("a path of the revision is not UTF-8")?;
    let is_definition =
        |name: &&str| [".json", ".yaml", ".yml"].iter().any(|ending| name.ends_with(ending));
    let names: Vec<&str> = listed.split('\0').filter(is_definition).collect();
    if names.len() > MOST_FILES {
        bail!("`{word}` has more than {MOST_FILES} JSON and YAML files");
    }
    let folder = path.trim_end_matches('/');
    let mut files = Vec::new();
    for name in names {
        let file = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let file = format!("{revision}:{file}");
        let text = git(&["show", "--no-textconv", "--end-of-options", &file])?;
        files.push((file.into(), text));
    }
    if files.is_empty() {
        bail!("`{word}` has no JSON or YAML file");
    }
    Ok(Some(files))
}

/// What git prints. At most `MOST_BYTES`; git is ended by the closed pipe if there is more, and
/// that is not a failure. It never asks for a password.
fn git(arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
    let mut child = Command::new("git")
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start `git`, which reads `REV:PATH`")?;
    let mut printed = Vec::new();
    let mut complaint = String::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MOST_BYTES).read_to_end(&mut printed).context("cannot read from `git`")?;
    }
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(10_000).read_to_string(&mut complaint);
    }
    let status = child.wait().context("cannot wait for `git`")?;
    if !status.success() && printed.len() < MOST_BYTES as usize {
        let named = arguments.last().copied().unwrap_or_default();
        let reason = complaint.lines().next().unwrap_or("git failed");
        bail!("cannot read `{named}`: {}", reason.trim_start_matches("fatal: "));
    }
    Ok(printed)
}
