//! Files to bytes: one at a time, within the size limit, and folders walked as ripgrep does.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use toolwright_source::{Document, MAX_BYTES, Syntax};

/// Parses the file, or standard input for `-`.
pub(crate) fn parse(path: &Path) -> anyhow::Result<Document> {
    let name = display_name(path);
    let bytes = read(path)?;
    if is_binary(&bytes) {
        return Err(Binary(name).into());
    }
    let syntax = syntax_of(path).unwrap_or_else(|| Syntax::sniff(&bytes));
    Ok(Document::parse(&name, bytes, syntax))
}

/// A file that holds no text.
#[derive(Debug)]
pub(crate) struct Binary(String);

impl std::fmt::Display for Binary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is a binary file, not a definition", self.0)
    }
}

impl std::error::Error for Binary {}

/// What diagnostics call it.
pub(crate) fn display_name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    if is_stdin(path) {
        return bounded(io::stdin().lock()).context("cannot read standard input");
    }
    let failed = || format!("cannot read `{}`", path.display());
    bounded(File::open(path).map_err(plain).with_context(failed)?).map_err(plain).with_context(failed)
}

/// One byte more than a document may have is enough to know that it has too many.
fn bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The reason without the number of the system's error.
fn plain(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => anyhow!("there is no such file"),
        io::ErrorKind::PermissionDenied => anyhow!("permission denied"),
        io::ErrorKind::IsADirectory => anyhow!("it is a folder"),
        _ => error.into(),
    }
}

fn syntax_of(path: &Path) -> Option<Syntax> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "json" => Some(Syntax::Json),
        "yaml" | "yml" => Some(Syntax::Yaml),
        _ => None,
    }
}

/// Text may hold a stray NUL or a stray byte; what holds both, many or one at its start, is no text.
/// Another encoding that says so in its first bytes gets a better message than this.
fn is_binary(bytes: &[u8]) -> bool {
    let marked = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let nuls = bytes.iter().take(8_000).filter(|b| **b == 0).count();
    nuls > 0 && !marked && (bytes[0] == 0 || nuls > 8 || std::str::from_utf8(bytes).is_err())
}

/// The definitions a folder may hold, sorted, and what could not be looked into.
pub(crate) fn walk(folder: &Path) -> (Vec<PathBuf>, Vec<anyhow::Error>) {
    let (send, receive) = std::sync::mpsc::channel();
    // A .gitignore counts outside of a repository too: an archive is unpacked without `.git`.
    ignore::WalkBuilder::new(folder).require_git(false).build_parallel().run(|| {
        let send = send.clone();
        Box::new(move |entry| {
            // The receiver outlives the walk.
            let _ = send.send(entry);
            ignore::WalkState::Continue
        })
    });
    drop(send);
    let (mut paths, mut errors) = (Vec::new(), Vec::new());
    for entry in receive {
        match entry {
            Ok(entry) => {
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                if is_file && syntax_of(entry.path()).is_some() {
                    paths.push(entry.into_path());
                }
            }
            Err(error) => errors.push(walk_error(&error)),
        }
    }
    paths.sort();
    errors.sort();
    (paths, errors.into_iter().map(|error| anyhow!("cannot read {error}")).collect())
}

fn walk_error(error: &ignore::Error) -> String {
    match (error, error.io_error().map(io::Error::kind)) {
        (ignore::Error::WithDepth { err, .. }, _) => walk_error(err),
        (ignore::Error::WithPath { path, .. }, Some(io::ErrorKind::PermissionDenied)) => {
            format!("`{}`: permission denied", path.display())
        }
        _ => error.to_string(),
    }
}
