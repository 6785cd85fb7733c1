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
//! The last two bindings may name anything. A command line is started in the working directory and
//! not beside its document, so a word is looked for in both; which of the two a file is, is part of
//! the hash. The server of a document is started in the folder of the document. A word counts
//! (`code_words`) if it is a path that stays below the document or is relative, and if an
//! interpreter runs it or the file is code: executable, with `#!`, or with the ending of a script.
//! A database among the arguments is not code: a server writes to it, and would be set
//! aside every day. `/usr/bin/git` is not either: it changes with every update of the system, for
//! all programs.

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};
use toolwright_formats::Reading;
use toolwright_model::{Binding, Connection, ContentHash, Server};
use toolwright_source::TextOrigin;

use crate::code_words::{CodeWord, PlainWords, code_words, script_words};

/// Endings of files that interpreters run.
pub(crate) const SCRIPT_ENDINGS: [&str; 37] = [
    "py", "pyw", "pyc", "pyz", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "sh", "bash",
    "zsh", "ksh", "csh", "fish", "ps1", "rb", "pl", "php", "phar", "lua", "tcl", "jar", "wasm",
    "awk", "dart", "exp", "exs", "go", "groovy", "jl", "kts", "r", "raku",
];

/// Tools of a document whose names are looked for as scripts, if an interpreter runs them: every
/// place costs a look at the disk each second.
const MAX_NAMED_SCRIPTS: usize = 500;

/// A file with code, as it was when it was hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// As the definition names it.
    pub name: String,
    /// Where it is looked for.
    pub path: PathBuf,
    /// Which of the files of this name it is.
    pub role: CodeRole,
    /// The file itself, behind all symbolic links.
    real: PathBuf,
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// To notice cheaply that it has changed; `None` if that is not known.
    stamp: Option<FileStamp>,
}

/// Which of two files that have one name in a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeRole {
    /// The one that is started.
    Started,
    /// The one beside the document, which is started when this is the working directory.
    Beside,
}

/// What the system changes when somebody writes to a file or puts another one in its place. The
/// time of the last change of the inode is part of it, because a program can set the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    /// With the inode it identifies a file as long as that exists.
    device: u64,
    inode: u64,
    size: u64,
    /// Seconds and nanoseconds of the last change of the bytes.
    modified: (i64, i64),
    /// The same of the last change of the inode.
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
        let (path, real, role) = (name.into(), name.into(), CodeRole::Started);
        CodeFile { name: name.to_owned(), path, role, real, hash, stamp: None }
    }

    /// The file at a path; `None` if it is missing or unreadable. When it appears, the hash of its
    /// definition changes.
    ///
    /// The whole file is read. `DocumentCode::read` does so once for each place, whatever the
    /// number of tools.
    fn read(place: &CodePlace) -> Option<CodeFile> {
        let CodePlace { name, path, role, .. } = place.clone();
        // Once, so that the hash is that of one file although a link changes meanwhile.
        let real = path.canonicalize().ok()?;
        // Before it is opened: a named pipe would block.
        let metadata = real.metadata().ok().filter(Metadata::is_file)?;
        let stamp = Some(FileStamp::of(&metadata));
        let hash = hash_file(&real)?;
        Some(CodeFile { name, path, role, real, hash, stamp })
    }

    /// Whether its name still leads to the same file, with the bytes that were hashed. Reads it
    /// only if the system reports that it has changed.
    ///
    /// Asked before a call. A file whose times changed and whose bytes did not is unchanged.
    pub fn is_unchanged(&self) -> bool {
        if self.path.canonicalize().ok().as_ref() != Some(&self.real) {
            return false;
        }
        let now = self.real.metadata().ok().filter(Metadata::is_file);
        let Some(now) = now.as_ref().map(FileStamp::of) else { return false };
        self.stamp == Some(now) || hash_file(&self.real).as_ref() == Some(&self.hash)
    }

    /// The file to start in the place of this word of a command line, if links lead to it: a link
    /// that is changed after the comparison has no effect then.
    pub fn behind_links(&self, word: &str) -> Option<&Path> {
        let written = std::path::absolute(&self.path).ok()?;
        let is_own = self.role == CodeRole::Started
            && (self.name == word || written.as_path() == Path::new(word));
        (is_own && without_climbing(&written) != self.real).then_some(self.real.as_path())
    }
}

/// A path without `..`, as it is if no link is involved.
fn without_climbing(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The hash of a file's bytes, read in pieces; `None` if it cannot be read.
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
pub struct CodePlace {
    /// As the definition names it.
    pub name: String,
    path: PathBuf,
    role: CodeRole,
    /// Whether it counts only if it looks like code.
    is_word: bool,
}

impl CodePlace {
    /// Whether there is a file with code.
    ///
    /// For places where no file was: a file that appears there is a change of the code.
    pub fn is_taken(&self) -> bool {
        if self.is_word { is_code(&self.path) } else { self.path.is_file() }
    }

    fn read(&self) -> Option<CodeFile> {
        (!self.is_word || is_code(&self.path)).then(|| CodeFile::read(self)).flatten()
    }
}

/// The code of one tool, as it was at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCode {
    /// The files that exist.
    pub files: Vec<CodeFile>,
    /// Where none was. A file that appears there would run without being part of the hash.
    pub absent: Vec<CodePlace>,
}

/// The code files of a document that exist, as they were at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentCode {
    /// In the order of the document.
    tools: Vec<ToolCode>,
    /// That of the server that the document names; empty without one.
    shared: ToolCode,
}

impl DocumentCode {
    /// Reads the files. `implementations` is the folder with JavaScript bodies, if they are not
    /// beside the document.
    pub fn read(reading: &Reading, implementations: Option<&Path>) -> DocumentCode {
        let finder = CodeFinder::new(reading, implementations);
        // A program may be that of a thousand commands.
        let mut known: HashMap<CodePlace, Option<CodeFile>> = HashMap::new();
        let mut read = |places: Vec<CodePlace>| {
            let mut code = ToolCode::default();
            for place in places {
                match known.entry(place.clone()).or_insert_with_key(CodePlace::read) {
                    Some(file) => code.files.push(file.clone()),
                    None => code.absent.push(place),
                }
            }
            code
        };
        let tools = 0..reading.toolset.tools.len();
        let tools = tools.map(|n| read(finder.of_tool(n))).collect();
        DocumentCode { tools, shared: read(finder.shared()) }
    }

    /// The files of the `n`th tool.
    pub fn of_tool(&self, n: usize) -> &[CodeFile] {
        self.tools.get(n).map_or(&[], |code| &code.files)
    }

    /// The files that all tools share: those of the server that the document names.
    pub fn shared(&self) -> &[CodeFile] {
        &self.shared.files
    }

    /// The code that a call of the `n`th tool runs: its own, and what all tools share.
    pub fn run_by(&self, n: usize) -> ToolCode {
        let mut code = self.tools.get(n).cloned().unwrap_or_default();
        code.files.extend_from_slice(&self.shared.files);
        code.absent.extend_from_slice(&self.shared.absent);
        code
    }

    /// The code of the server that the document names.
    pub fn of_server(&self) -> &ToolCode {
        &self.shared
    }

    /// All of them, each once. Two may have one name, beside the document and in the working
    /// directory.
    pub fn all(&self) -> Vec<CodeFile> {
        let mut files: Vec<CodeFile> =
            self.tools.iter().chain([&self.shared]).flat_map(|it| it.files.clone()).collect();
        files.sort_by(|a, b| (&a.name, a.role, &a.path).cmp(&(&b.name, b.role, &b.path)));
        files.dedup_by(|a, b| (&a.name, a.role, &a.path) == (&b.name, b.role, &b.path));
        files
    }
}

/// All code files of a document that exist: see [`DocumentCode`].
pub fn code_files(reading: &Reading, implementations: Option<&Path>) -> Vec<CodeFile> {
    DocumentCode::read(reading, implementations).all()
}

/// The places where a document's code files are looked for, whether they exist or not.
///
/// They are watched: a change of one loads the document again.
pub fn code_paths(reading: &Reading, implementations: Option<&Path>) -> Vec<PathBuf> {
    let finder = CodeFinder::new(reading, implementations);
    let of_tools = (0..reading.toolset.tools.len()).flat_map(|n| finder.of_tool(n));
    let all: BTreeSet<PathBuf> = of_tools.chain(finder.shared()).map(|place| place.path).collect();
    all.into_iter().collect()
}

/// The files with the code of a server that is configured and not part of a definition. `folder` is
/// that of the configuration.
pub fn server_code(server: &Server, folder: &Path) -> Vec<CodeFile> {
    let places = ServerPlaces { folder }.of_server(server);
    let mut files: Vec<CodeFile> = places.iter().filter_map(CodePlace::read).collect();
    files.sort_by(|a, b| (&a.name, a.role, &a.path).cmp(&(&b.name, b.role, &b.path)));
    files
}

/// Whether a path has the ending of a script. In any case: `SERVER.PY` is one.
pub(crate) fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| SCRIPT_ENDINGS.contains(&ending.to_ascii_lowercase().as_str()))
}

/// Whether a file is one that is run.
///
/// Executable by anybody, with the ending of a script, or starting with `#!`.
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
    /// That of the document, as the document is named.
    folder: PathBuf,
    /// The folder of JavaScript bodies.
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

    /// The places of one tool's own code: the table in the header, row by row. The code of a server
    /// is shared by all tools (`shared`).
    fn of_tool(&self, n: usize) -> Vec<CodePlace> {
        let Some(tool) = self.reading.toolset.tools.get(n) else { return Vec::new() };
        let place = |file: &Path, folder: &Path| CodePlace {
            name: file.display().to_string(),
            path: folder.join(file),
            role: CodeRole::Started,
            is_word: false,
        };
        let server = ServerPlaces { folder: &self.folder };
        let of_line = |line: &[String]| server.of_words(code_words(line, PlainWords::Files), None);
        match &tool.details.binding {
            Binding::Local { runtime, entry_point, .. } => {
                let scripts = script_words(runtime.as_deref().unwrap_or_default(), entry_point);
                let scripts = scripts.iter().map(|word| Path::new(&word.path));
                let mut places: Vec<CodePlace> =
                    scripts.map(|file| place(file, &self.folder)).collect();
                let runtime = runtime.iter().map(std::slice::from_ref);
                places.extend(runtime.flat_map(of_line));
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
                let line: Vec<String> = std::iter::once(executable).chain(words).cloned().collect();
                let mut words = code_words(&line, PlainWords::Commands);
                let is_path =
                    |word: &CodeWord| word.path.contains('/') || has_ending(Path::new(&word.path));
                words.retain(|word| n < MAX_NAMED_SCRIPTS || is_path(word));
                let mut places = server.of_words(words, None);
                places.extend(install_check.iter().flat_map(|check| of_line(&check.words)));
                places
            }
            _ => Vec::new(),
        }
    }

    /// The places of the code that all tools have in common.
    fn shared(&self) -> Vec<CodePlace> {
        match &self.reading.toolset.server {
            Some(server) if self.is_file => ServerPlaces { folder: &self.folder }.of_server(server),
            _ => Vec::new(),
        }
    }
}

/// Finds the files of a command line that a document in this folder has.
struct ServerPlaces<'f> {
    folder: &'f Path,
}

impl ServerPlaces<'_> {
    fn of_server(&self, server: &Server) -> Vec<CodePlace> {
        let Connection::Stdio { command } = &server.connection else { return Vec::new() };
        let words = code_words(command, PlainWords::Files);
        self.of_words(words, server.directory.as_deref())
    }

    /// The places of words. The command line runs in `directory`, else where this program does.
    fn of_words(&self, words: Vec<CodeWord>, directory: Option<&str>) -> Vec<CodePlace> {
        let mut places: Vec<CodePlace> =
            words.iter().flat_map(|word| self.of_word(word, directory)).collect();
        places.sort_unstable();
        // The first of equal ones counts whatever it looks like, if one of them does.
        places.dedup_by(|b, a| (&a.name, &a.path, a.role) == (&b.name, &b.path, b.role));
        places
    }

    /// Where a word may be a file: in the working directory, and beside the document if that is
    /// another folder. An absolute path counts only below the document.
    ///
    /// ```text
    /// srv.py, directory `app`, document in `defs`    app/srv.py (Started), defs/srv.py (Beside)
    /// /opt/x/srv.py, document in /opt/x              the file itself
    /// /usr/bin/git                                   nothing
    /// ```
    fn of_word(&self, word: &CodeWord, directory: Option<&str>) -> Vec<CodePlace> {
        let place = |path: PathBuf, role: CodeRole| CodePlace {
            name: word.path.clone(),
            path,
            role,
            is_word: !word.is_script,
        };
        let in_working = WORKING_DIRECTORY.iter().find_map(|start| word.path.strip_prefix(start));
        let path = Path::new(in_working.unwrap_or(&word.path));
        if path.is_absolute() {
            let is_below = self.is_below(path);
            return is_below
                .then(|| place(path.to_owned(), CodeRole::Started))
                .into_iter()
                .collect();
        }
        let working = Path::new(directory.unwrap_or(""));
        let mut places = vec![place(working.join(path), CodeRole::Started)];
        if working != self.folder {
            places.push(place(self.folder.join(path), CodeRole::Beside));
        }
        places
    }

    /// Whether an absolute path leads into the folder of the document, as it is written or behind
    /// links.
    fn is_below(&self, path: &Path) -> bool {
        let folder = self.folder.as_os_str();
        let folder = if folder.is_empty() { Path::new(".") } else { self.folder };
        let plain = std::path::absolute(folder).map(|folder| without_climbing(&folder));
        let is_real = || Some(path.canonicalize().ok()?.starts_with(folder.canonicalize().ok()?));
        plain.is_ok_and(|folder| without_climbing(path).starts_with(folder))
            || is_real().unwrap_or(false)
    }
}

/// How a shell writes its working directory.
const WORKING_DIRECTORY: [&str; 4] = ["$PWD/", "${PWD}/", "$(pwd)/", "`pwd`/"];

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_unchanged_as_long_as_its_bytes_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("say.sh");
        std::fs::write(&path, "echo 1").expect("a file");
        let place = CodePlace {
            name: "say.sh".to_owned(),
            path: path.clone(),
            role: CodeRole::Started,
            is_word: false,
        };
        let file = CodeFile::read(&place).expect("a file");
        assert_eq!(file.behind_links("say.sh"), None);
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
