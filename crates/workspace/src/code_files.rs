//! The files with the code of a definition's tools: those whose change makes it another definition,
//! although not a word of its document differs.
//!
//! | binding | files |
//! |---|---|
//! | local script | its entry point, beside the document, and its interpreter |
//! | JavaScript body | `<name>.js`, in `implementations` or beside the document |
//! | executable | the program that described itself |
//! | command line, MCP server | the program, and scripts among its words and in `install_check` |
//!
//! Names of commands count if they have a `/` or the ending of a script. The last two bindings may
//! name anything, and are started in the working directory and not beside their document, so a word
//! is looked for in both. It counts if it is a path (for the program: with a
//! `/`, because the system looks for other names in `PATH` alone) that stays below the document or
//! is relative, and if the file is code: executable, with `#!`, or with the ending of a script. A
//! database among the arguments is not code: a server writes to it, and would be set aside every
//! day. `/usr/bin/git` is not either: it changes with every update of the system, for all programs.

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};
use toolwright_formats::Reading;
use toolwright_model::{Binding, Connection, ContentHash, Server};
use toolwright_source::TextOrigin;
use toolwright_source::words::split_words;

use crate::server_rules::shell_words;

/// Endings of files that interpreters run.
pub(crate) const SCRIPT_ENDINGS: [&str; 18] = [
    "py", "pyz", "js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "sh", "bash", "zsh", "rb", "pl",
    "php", "lua", "jar", "wasm",
];

/// Words of all command lines of a document that are looked at. Real ones have a few dozen.
const MAX_WORDS: usize = 2_000;

/// A file with code, as it was when it was hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// As the definition names it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// To notice cheaply that it has changed; `None` if that is not known.
    stamp: Option<FileStamp>,
}

/// What the system changes when somebody writes to a file or puts another one in its place. The
/// time of the last change of the inode is part of it, because a program can set the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    fn of(metadata: &Metadata) -> FileStamp {
        FileStamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl CodeFile {
    /// A file with these bytes.
    pub fn of_bytes(name: &str, bytes: &[u8]) -> CodeFile {
        let hash = crate::content_hash::hash_bytes(bytes);
        CodeFile { name: name.to_owned(), path: name.into(), hash, stamp: None }
    }

    /// The file at a path; `None` if it is missing or unreadable. When it appears, the hash of its
    /// definition changes.
    fn read(name: String, path: PathBuf) -> Option<CodeFile> {
        // Before it is opened: a named pipe would block.
        let metadata = path.metadata().ok().filter(Metadata::is_file)?;
        let stamp = Some(FileStamp::of(&metadata));
        let hash = hash_file(&path)?;
        Some(CodeFile { name, path, hash, stamp })
    }

    /// Whether the file still has the bytes that were hashed. Reads it only if the system reports
    /// that it has changed.
    pub fn is_unchanged(&self) -> bool {
        let now = self.path.metadata().ok().filter(Metadata::is_file);
        let Some(now) = now.as_ref().map(FileStamp::of) else { return false };
        self.stamp == Some(now) || hash_file(&self.path).as_ref() == Some(&self.hash)
    }
}

fn hash_file(path: &Path) -> Option<ContentHash> {
    let mut file = File::open(path).ok()?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(ContentHash::from_sha256(hasher.finalize().into())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// A place where a file with code may be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct CodePlace {
    /// As the definition names it.
    name: String,
    path: PathBuf,
    /// Whether it counts only if it looks like code.
    is_word: bool,
}

impl CodePlace {
    fn read(&self) -> Option<CodeFile> {
        let counts = !self.is_word || is_code(&self.path);
        counts.then(|| CodeFile::read(self.name.clone(), self.path.clone())).flatten()
    }
}

/// The code files of a document that exist, as they were at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentCode {
    tools: Vec<Vec<CodeFile>>,
    shared: Vec<CodeFile>,
}

impl DocumentCode {
    /// Reads the files. `implementations` is the folder with JavaScript bodies, if they are not
    /// beside the document.
    pub fn read(reading: &Reading, implementations: Option<&Path>) -> DocumentCode {
        let finder = CodeFinder::new(reading, implementations);
        // A program may be that of a thousand commands.
        let mut known: HashMap<CodePlace, Option<CodeFile>> = HashMap::new();
        let mut read = |places: Vec<CodePlace>| -> Vec<CodeFile> {
            let file =
                |place: CodePlace| known.entry(place).or_insert_with_key(CodePlace::read).clone();
            places.into_iter().filter_map(file).collect()
        };
        let tools = 0..reading.toolset.tools.len();
        let tools = tools.map(|n| read(finder.of_tool(n))).collect();
        DocumentCode { tools, shared: read(finder.shared()) }
    }

    /// The files of the `n`th tool.
    pub fn of_tool(&self, n: usize) -> &[CodeFile] {
        self.tools.get(n).map_or(&[], Vec::as_slice)
    }

    /// The files that all tools share: those of the server that the document names.
    pub fn shared(&self) -> &[CodeFile] {
        &self.shared
    }

    /// All of them, each once. Two may have one name, beside the document and in the working
    /// directory.
    pub fn all(&self) -> Vec<CodeFile> {
        let mut files: Vec<CodeFile> =
            self.tools.iter().flatten().chain(&self.shared).cloned().collect();
        files.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        files.dedup_by(|a, b| (&a.name, &a.path) == (&b.name, &b.path));
        files
    }
}

/// All code files of a document that exist: see [`DocumentCode`].
pub fn code_files(reading: &Reading, implementations: Option<&Path>) -> Vec<CodeFile> {
    DocumentCode::read(reading, implementations).all()
}

/// The places where a document's code files are looked for, whether they exist or not.
pub fn code_paths(reading: &Reading, implementations: Option<&Path>) -> Vec<PathBuf> {
    let finder = CodeFinder::new(reading, implementations);
    let of_tools = (0..reading.toolset.tools.len()).flat_map(|n| finder.of_tool(n));
    let all: BTreeSet<PathBuf> = of_tools.chain(finder.shared()).map(|place| place.path).collect();
    all.into_iter().collect()
}

/// Whether a path has the ending of a script.
fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| SCRIPT_ENDINGS.contains(&ending.to_ascii_lowercase().as_str()))
}

/// Whether a file is one that is run.
fn is_code(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    let has_interpreter = || {
        let mut start = [0; 2];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && start == *b"#!"
    };
    metadata.is_file()
        && (metadata.permissions().mode() & 0o111 != 0 || has_ending(path) || has_interpreter())
}

/// Finds the files of one document.
struct CodeFinder<'r> {
    reading: &'r Reading,
    folder: PathBuf,
    bodies: PathBuf,
    /// Whether the document is a file. What a server lists names no files of this machine.
    is_file: bool,
}

impl<'r> CodeFinder<'r> {
    fn new(reading: &'r Reading, implementations: Option<&Path>) -> CodeFinder<'r> {
        let source = reading.origin.document().source();
        let folder = Path::new(source.name()).parent().unwrap_or(Path::new("")).to_owned();
        let bodies = implementations.unwrap_or(&folder).to_owned();
        let is_file = matches!(source.origin(), TextOrigin::File);
        CodeFinder { reading, folder, bodies, is_file }
    }

    fn of_tool(&self, n: usize) -> Vec<CodePlace> {
        let Some(tool) = self.reading.toolset.tools.get(n) else { return Vec::new() };
        let place = |file: &Path, folder: &Path| CodePlace {
            name: file.display().to_string(),
            path: folder.join(file),
            is_word: false,
        };
        match &tool.details.binding {
            Binding::Local { runtime, entry_point, .. } => {
                let mut places = vec![place(Path::new(entry_point), &self.folder)];
                let runtime = runtime.iter().map(std::slice::from_ref);
                places.extend(runtime.flat_map(|runtime| self.of_command(runtime, None)));
                places
            }
            Binding::Script => {
                // A valid name has no `/`, so the path stays inside the folder.
                let body = tool.name.ok().map(|name| PathBuf::from(format!("{name}.js")));
                body.iter().map(|file| place(file, &self.bodies)).collect()
            }
            Binding::Executable { program: Some(program) } => {
                let program = Path::new(program);
                let folder = program.parent().unwrap_or(Path::new(""));
                let name = program.file_name().map(Path::new);
                name.map(|name| place(name, folder)).into_iter().collect()
            }
            Binding::Command { executable, words, install_check, .. } if self.is_file => {
                // Names of commands, such as `status`, are not files; there may be thousands.
                let is_file = |word: &&String| word.contains('/') || has_ending(Path::new(word));
                let line = std::iter::once(executable).chain(words.iter().filter(is_file));
                let mut places = self.of_command(&line.cloned().collect::<Vec<_>>(), None);
                let checks = install_check.iter();
                places.extend(checks.flat_map(|check| self.of_command(&check.words, None)));
                places
            }
            _ => Vec::new(),
        }
    }

    fn shared(&self) -> Vec<CodePlace> {
        match &self.reading.toolset.server {
            Some(server) if self.is_file => self.of_server(server),
            _ => Vec::new(),
        }
    }

    fn of_server(&self, server: &Server) -> Vec<CodePlace> {
        let Connection::Stdio { command } = &server.connection else { return Vec::new() };
        self.of_command(command, server.directory.as_deref())
    }

    /// The files that a command line names. It runs in `directory`, else where this program does.
    fn of_command(&self, command: &[String], directory: Option<&str>) -> Vec<CodePlace> {
        let mut words: Vec<String> = command.iter().take(MAX_WORDS).cloned().collect();
        if words.first().is_some_and(|program| !program.contains('/')) {
            words.remove(0);
        }
        for (n, word) in command.iter().enumerate().take(MAX_WORDS) {
            // `python -m server.main`
            if word == "-m"
                && let Some(module) = command.get(n + 1)
            {
                let path = module.replace('.', "/");
                let files = [".py", "/__main__.py", "/__init__.py"];
                words.extend(files.map(|end| format!("{path}{end}")));
            }
        }
        // A shell gets a whole line as one word.
        let texts = shell_words(command);
        words.extend(texts.iter().flat_map(|text| split_words(text).unwrap_or_default()));
        let values: Vec<String> =
            words.iter().filter_map(|word| Some(word.split_once('=')?.1.to_owned())).collect();
        words.extend(values);
        words.truncate(MAX_WORDS);
        let is_path = |word: &&String| !word.is_empty() && !word.starts_with('-');
        words.iter().filter(is_path).flat_map(|word| self.of_word(word, directory)).collect()
    }

    fn of_word(&self, word: &str, directory: Option<&str>) -> Vec<CodePlace> {
        let place = |path: PathBuf| CodePlace { name: word.to_owned(), path, is_word: true };
        let path = Path::new(word);
        if path.is_absolute() {
            let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
            let climbs = path.components().any(|part| part == Component::ParentDir);
            let is_below = path.starts_with(folder) && !climbs;
            return is_below.then(|| place(path.to_owned())).into_iter().collect();
        }
        let working = Path::new(directory.unwrap_or(""));
        let mut places = vec![place(working.join(path))];
        if working != self.folder {
            places.push(place(self.folder.join(path)));
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_unchanged_as_long_as_its_bytes_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("say.sh");
        std::fs::write(&path, "echo 1").expect("a file");
        let file = CodeFile::read("say.sh".to_owned(), path.clone()).expect("a file");
        assert!(file.is_unchanged());
        std::fs::write(&path, "echo 2").expect("a file");
        assert!(!file.is_unchanged());
        std::fs::write(&path, "echo 1").expect("a file");
        assert!(file.is_unchanged());
        std::fs::remove_file(&path).expect("removed");
        assert!(!file.is_unchanged());
    }

    #[test]
    fn data_is_not_code() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text, mode, expected) in [
            ("a.py", "", 0o644, true),
            ("a.db", "", 0o644, false),
            ("server", "", 0o755, true),
            ("server2", "#!/bin/sh", 0o644, true),
            ("notes.txt", "text", 0o644, false),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file");
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, mode).expect("changed");
            assert_eq!(is_code(&path), expected, "{name}");
        }
        assert!(!is_code(folder.path()));
    }
}
