//! Bytes of definitions: from files, from standard input, or from an overlay of unsaved texts.
//!
//! One file at a time and never more than a document may have ([`MAX_BYTES`]), so that a huge file
//! costs no memory before it is refused. Folders are walked as ripgrep walks them: hidden files and
//! what `.gitignore` lists are left out.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use toolwright_source::{Document, MAX_BYTES, Syntax, TextOrigin};

use crate::Workspace;

/// Why a file or folder could not be read at all, as one sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The file holds bytes that are not text.
    #[error("`{0}` is a binary file, not a definition")]
    Binary(String),
    /// A folder has no definition in it.
    #[error("no definitions in {0}")]
    NoDefinitions(String),
    /// Everything else that keeps it from being read, as a whole sentence.
    #[error("{0}")]
    Unreadable(String),
}

impl LoadError {
    /// An error that is reported with this sentence.
    pub fn new(text: impl Into<String>) -> LoadError {
        LoadError::Unreadable(text.into())
    }
}

/// Texts that stand in place of files, as an editor holds them before they are saved.
///
/// A path that is in the overlay is never opened. A path that exists only in the overlay is found
/// by a walk over its folder, too.
#[derive(Clone, Debug, Default)]
pub struct Overlay(BTreeMap<PathBuf, Vec<u8>>);

impl Overlay {
    /// Puts a text in place of the file at `path`.
    pub fn set(&mut self, path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), text.into());
    }

    /// Lets the file itself count again. Returns whether there was a text in its place.
    pub fn remove(&mut self, path: &Path) -> bool {
        self.0.remove(path).is_some()
    }

    /// Parses the file at `path`, or standard input for `-`.
    ///
    /// # Errors
    /// If it cannot be read, or is not text.
    pub(crate) fn parse(&self, path: &Path) -> Result<Document, LoadError> {
        // The ending decides. Standard input and files without a known ending are judged by their
        // first bytes.
        self.parse_with(path, |bytes| syntax_of(path).unwrap_or_else(|| Syntax::sniff(bytes)))
    }

    /// Parses the file at `path` in the language that `syntax` chooses for its bytes.
    ///
    /// # Errors
    /// If it cannot be read, or is not text.
    pub(crate) fn parse_with(
        &self,
        path: &Path,
        syntax: impl FnOnce(&[u8]) -> Syntax,
    ) -> Result<Document, LoadError> {
        let bytes = match self.0.get(path) {
            Some(text) => text.clone(),
            None => read(path)?,
        };
        let name = display_name(path);
        if is_binary(&bytes) {
            return Err(LoadError::Binary(name));
        }
        let syntax = syntax(&bytes);
        let origin = if is_stdin(path) { TextOrigin::Input } else { TextOrigin::File };
        Ok(Document::parse_from(&name, origin, bytes, syntax))
    }

    /// The JSON and YAML files below `folder` in a stable order, and what could not be looked into.
    pub(crate) fn walk(&self, folder: &Path) -> (Vec<PathBuf>, Vec<LoadError>) {
        let (mut paths, errors) = walk(folder);
        let is_below = |path: &&PathBuf| path.starts_with(folder) && syntax_of(path).is_some();
        let unsaved: Vec<PathBuf> = self.0.keys().filter(is_below).cloned().collect();
        if !unsaved.is_empty() {
            paths.extend(unsaved);
            paths.sort_by_cached_key(|path| path_sort_key(path));
            paths.dedup();
        }
        (paths, errors)
    }
}

impl Workspace {
    /// Parses the file at `path`, or standard input for `-`.
    ///
    /// # Errors
    /// If it cannot be read, or is not text.
    pub fn parse(&self, path: &Path) -> Result<Document, LoadError> {
        self.overlay.parse(path)
    }

    /// The JSON and YAML files below a folder, in a stable order.
    pub fn files_in(&self, folder: &Path) -> Vec<PathBuf> {
        self.overlay.walk(folder).0
    }
}

/// The name of a file in diagnostics.
pub fn display_name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// The name of a file that the user did not type, relative to the working directory if it lies
/// there: shorter to read, and services that annotate a repository find the file.
pub(crate) fn relative_name(path: &Path) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    let below = path.strip_prefix(&folder).ok().filter(|below| !below.as_os_str().is_empty());
    display_name(below.unwrap_or(path))
}

/// Whether the path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The bytes of the file, or of standard input for `-`: at most one more than a document may have,
/// which is enough to see that it has too many.
///
/// # Errors
/// If it cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    if is_stdin(path) {
        return read_bounded(io::stdin().lock(), 0)
            .map_err(|e| LoadError::new(format!("cannot read standard input: {e}")));
    }
    let cannot = |why: &str| LoadError::new(format!("cannot read `{}`: {why}", path.display()));
    let about = path.metadata().ok();
    if let Some(kind) = about.as_ref().and_then(|about| special_kind(path, about)) {
        return Err(cannot(&format!("it is {kind}")));
    }
    let len = about.map_or(0, |about| about.len());
    let bytes = File::open(path).and_then(|file| read_bounded(file, len));
    bytes.map_err(|error| cannot(&io_reason(&error)))
}

/// What stands at a path instead of a file, with its article, if opening or reading it could wait
/// forever: a named pipe, a socket or a device. Looked up before opening, because that is what
/// waits. The pipes in `/dev/fd` are those of a shell, `toolwright check <(…)`, and have a writer.
pub fn special_file(path: &Path) -> Option<&'static str> {
    special_kind(path, &path.metadata().ok()?)
}

/// [`special_file`] for a path whose metadata are known.
fn special_kind(path: &Path, about: &Metadata) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let kind = about.file_type();
    let is_of_shell =
        ["/dev/fd", "/dev/stdin", "/proc/self/fd"].iter().any(|p| path.starts_with(p));
    match kind {
        _ if is_of_shell => None,
        kind if kind.is_fifo() => Some("a named pipe, not a file"),
        kind if kind.is_socket() => Some("a socket, not a file"),
        kind if kind.is_char_device() || kind.is_block_device() => Some("a device, not a file"),
        _ => None,
    }
}

/// Reads at most one byte more than a document may have. `expected` is the length of the file, so
/// that there is one buffer and it is not larger than the file.
fn read_bounded(from: impl Read, expected: u64) -> io::Result<Vec<u8>> {
    let most = MAX_BYTES as u64 + 1;
    let mut bytes = Vec::with_capacity(expected.min(most) as usize);
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file as a whole: to a temporary file beside it, which is then renamed, so that a reader
/// sees either the old content or the new one. `before` is what the file was read as; `None` if
/// there was none.
///
/// # Errors
/// If the file has changed since, or cannot be written; a sentence for the user.
pub fn replace_file(path: &Path, before: Option<&[u8]>, after: &[u8]) -> Result<(), String> {
    let name = path.display();
    let cannot = |error: io::Error| format!("cannot write `{name}`: {}", io_reason(&error));
    let changed =
        || format!("`{name}` has changed since it was read, and was left alone (run it again)");
    if path.is_dir() {
        return Err(format!("cannot write `{name}`: it is a folder"));
    }
    let Some(before) = before else {
        // A folder is not made: its name may be misspelled.
        if !folder_of(path).exists() {
            let folder = folder_of(path).display();
            return Err(format!("cannot write `{name}`: there is no folder `{folder}`"));
        }
        return create_file(path, after).map_err(|error| match error.kind() {
            // A file where a folder has to be gives the same error.
            io::ErrorKind::AlreadyExists if path.exists() => changed(),
            _ => cannot(error),
        });
    };
    // A symbolic link stays one: the file that it leads to is replaced.
    let target = path.canonicalize().map_err(cannot)?;
    // A device or a pipe is written to. Replacing `/dev/null` by a file would break the system.
    if special_file(&target).is_some() {
        return fs::write(&target, after).map_err(cannot);
    }
    // Another program may have saved the file in the meantime. Its text must not be lost.
    if fs::read(&target).map_err(cannot)? != before {
        return Err(changed());
    }
    let write = || {
        // In the same folder, because a rename does not cross file systems.
        let folder = target.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().prefix(".toolwright-").tempfile_in(folder)?;
        // A temporary file is readable by its owner only; this one may have been shared.
        file.as_file().set_permissions(fs::metadata(&target)?.permissions())?;
        file.write_all(after)?;
        // Before the rename, so that a crash cannot leave an empty file under the old name.
        file.as_file().sync_all()?;
        file.persist(&target)?;
        Ok(())
    };
    write().map_err(cannot)
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a new file. Fails if there is one already.
fn create_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_of(path);
    let mut file = tempfile::Builder::new()
        .prefix(".toolwright-")
        // What any new file gets: the umask of the user takes away from it.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    Ok(())
}

/// The reason of a system error in words, without the number of the error.
pub fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    }
}

/// The language of a file by its ending.
pub(crate) fn syntax_of(path: &Path) -> Option<Syntax> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "json" => Some(Syntax::Json),
        "yaml" | "yml" => Some(Syntax::Yaml),
        _ => None,
    }
}

/// Text may hold a stray NUL or a stray byte; a file with both, with many NULs, or with one at its
/// start is binary. UTF-16 with a byte order mark is let through: the parser reports it with a
/// better message than "binary".
fn is_binary(bytes: &[u8]) -> bool {
    let marked = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let start = &bytes[..bytes.len().min(8_000)];
    let nuls = if start.contains(&0) { start.iter().filter(|b| **b == 0).count() } else { 0 };
    nuls > 0 && !marked && (bytes[0] == 0 || nuls > 8 || std::str::from_utf8(bytes).is_err())
}

/// The JSON and YAML files on disk below `folder`, sorted, and what could not be looked into.
fn walk(folder: &Path) -> (Vec<PathBuf>, Vec<LoadError>) {
    // Several threads walk, which is faster on large folders; the results are sorted afterwards.
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
    // The loop below ends when the last sender is gone.
    drop(send);
    let (mut paths, mut errors) = (Vec::new(), Vec::new());
    for entry in receive {
        match entry {
            Ok(entry) => {
                // Symbolic links are not followed, so that a link to a folder above cannot cause a
                // loop.
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                if is_file && syntax_of(entry.path()).is_some() {
                    paths.push(entry.into_path());
                }
            }
            Err(error) => errors.push(walk_error(&error)),
        }
    }
    paths.sort_by_cached_key(|path| path_sort_key(path));
    errors.sort();
    (
        paths,
        errors.into_iter().map(|error| LoadError::new(format!("cannot read {error}"))).collect(),
    )
}

/// A key that sorts paths by their components. Comparing components one by one takes ten times as
/// long; here the separator becomes a byte that is smaller than any byte of a name.
fn path_sort_key(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes.map(|byte| if *byte == b'/' { 0 } else { *byte }).collect()
}

/// The error without the depth that `ignore` adds, which means nothing to a user.
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
        paths.sort_by_cached_key(|path| path_sort_key(path));
        assert_eq!(paths, sorted);
    }
}
