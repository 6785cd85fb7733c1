//! Files to bytes: one at a time, within the size limit, and folders walked as ripgrep does.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use toolwright_source::{Document, MAX_BYTES, Syntax};

/// Why something could not be read at all, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It holds no text.
    #[error("`{0}` is a binary file, not a definition")]
    Binary(String),
    /// Anything else.
    #[error("{0}")]
    Unreadable(String),
}

impl LoadError {
    pub(crate) fn new(text: impl Into<String>) -> LoadError {
        LoadError::Unreadable(text.into())
    }
}

/// Parses the file, or standard input for `-`.
///
/// # Errors
/// If it cannot be read, or is no text.
pub fn parse(path: &Path) -> Result<Document, LoadError> {
    let name = display_name(path);
    let bytes = read(path)?;
    if is_binary(&bytes) {
        return Err(LoadError::Binary(name));
    }
    let syntax = syntax_of(path).unwrap_or_else(|| Syntax::sniff(&bytes));
    Ok(Document::parse(&name, bytes, syntax))
}

/// What diagnostics call it.
pub fn display_name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// Whether the path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The bytes of the file, or of standard input for `-`; never more than a document may have, and
/// one.
///
/// # Errors
/// If it cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    if is_stdin(path) {
        return bounded(io::stdin().lock(), 0)
            .map_err(|e| LoadError::new(format!("cannot read standard input: {e}")));
    }
    let bytes = File::open(path).and_then(|file| {
        let len = file.metadata().map_or(0, |about| about.len());
        bounded(file, len)
    });
    bytes.map_err(|error| {
        LoadError::new(format!("cannot read `{}`: {}", path.display(), plain(&error)))
    })
}

/// One byte more than a document may have is enough to know that it has too many. With room for the
/// bytes that are `expected` there is one buffer, and it is no larger than the file.
fn bounded(from: impl Read, expected: u64) -> io::Result<Vec<u8>> {
    let most = MAX_BYTES as u64 + 1;
    let mut bytes = Vec::with_capacity(expected.min(most) as usize);
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The reason without the number of the system's error.
pub(crate) fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    }
}

fn syntax_of(path: &Path) -> Option<Syntax> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "json" => Some(Syntax::Json),
        "yaml" | "yml" => Some(Syntax::Yaml),
        _ => None,
    }
}

/// Text may hold a stray NUL or a stray byte; what holds both, many or one at its start, is no
/// text. Another encoding that says so in its first bytes gets a better message than this.
fn is_binary(bytes: &[u8]) -> bool {
    let marked = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let start = &bytes[..bytes.len().min(8_000)];
    let nuls = if start.contains(&0) { start.iter().filter(|b| **b == 0).count() } else { 0 };
    nuls > 0 && !marked && (bytes[0] == 0 || nuls > 8 || std::str::from_utf8(bytes).is_err())
}

/// The definitions a folder may hold, sorted, and what could not be looked into.
pub(crate) fn walk(folder: &Path) -> (Vec<PathBuf>, Vec<LoadError>) {
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
    paths.sort_by_cached_key(|path| in_order(path));
    errors.sort();
    (
        paths,
        errors.into_iter().map(|error| LoadError::new(format!("cannot read {error}"))).collect(),
    )
}

/// What puts paths below one folder into the order of their parts, which comparing the parts one by
/// one takes ten times as long for: no byte of a name is less than the separator here.
fn in_order(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes.map(|byte| if *byte == b'/' { 0 } else { *byte }).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_in_the_order_of_their_parts() {
        let parts = ["a", "a-b", "a.json", "ab", "a b", "é", "\u{1}", "0"];
        let mut paths: Vec<PathBuf> = Vec::new();
        for first in parts {
            paths.push(["./folder", first].iter().collect());
            for second in parts {
                paths.push(["./folder", first, second].iter().collect());
            }
        }
        let mut sorted = paths.clone();
        sorted.sort();
        paths.sort_by_cached_key(|path| in_order(path));
        assert_eq!(paths, sorted);
    }
}
