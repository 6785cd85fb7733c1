//! The identity of a toolset in pins: its key in the store, its entry in a lock, its label, and
//! where it was found.
//!
//! The same toolset has to get the same key in every run, in every command and from every working
//! directory: a key that changes makes everything look new, and a key that two toolsets share lets
//! one of them pass as the other. Hence absolute paths for files, the configuration file and the
//! name for servers, and a hash for commands.
//!
//! ```text
//! file /a/b.yaml                       a definition, or a program that describes itself
//! server /a/toolwright.toml notes      a server that a file names
//! builtin /a/toolwright.toml web       a built-in toolset
//! command SHA-256, url URL             a server of the command line
//! folder /a                            a folder whose definitions were used; has no parts
//! ```

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use toolwright_model::{Connection, Server};
use toolwright_source::Anchor;
use toolwright_workspace::code_files::{CodeFile, server_code};
use toolwright_workspace::{
    LockKey, LockSection, SourceSpec, SourceTarget, content_hash, started_path,
};

/// Which toolset a part belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PinSubject {
    /// Its name in the store, which all projects of the user share.
    ///
    /// Begins with a word for its kind: `file`, `server`, `builtin`, `command`, `url`, `folder`.
    pub key: Arc<str>,
    /// Its entry in a lock.
    pub lock_key: LockKey,
    /// Its name in messages. For people; never compared.
    pub label: String,
    /// The words behind `toolwright trust` that name it.
    pub words: String,
    /// Where the program that is started was found, on the PATH of this process. For people, and
    /// for the lock, where a reviewer can see it.
    pub path: Option<String>,
    /// Where it was found; `None` if the command line or the configuration names it.
    pub(crate) found_in: Option<FoundIn>,
}

/// Where a toolset was found. One that appears there later is new, although nothing of it was ever
/// used: otherwise renaming a file would be enough to have it accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FoundIn {
    /// A folder, by its name in the store.
    Folder(Arc<str>),
    /// The definition that names the server, by its key.
    Definition(Arc<str>),
}

/// The name in the store of a folder whose definitions were used.
pub(crate) fn folder_key(folder: &Path) -> Arc<str> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    format!("folder {}", absolute(&folder.display().to_string())).into()
}

/// The folder that a source walks.
pub(crate) fn walked_folder(spec: &SourceSpec) -> Option<Arc<str>> {
    match &spec.target {
        SourceTarget::Definitions(path) if path.is_dir() => Some(folder_key(path)),
        SourceTarget::Executables(folder) => Some(folder_key(folder)),
        _ => None,
    }
}

impl PinSubject {
    /// The toolset of one document of a source. `document` is the name of the document; for a
    /// server it does not count.
    pub(crate) fn of(spec: &SourceSpec, document: &str) -> PinSubject {
        let of_file = |section| PinSubject::of_file(spec, section, document);
        match &spec.target {
            SourceTarget::Server(server, _) => {
                let file = spec.anchor.as_ref().map(|anchor| anchor.source.name());
                PinSubject::of_server(spec, server, file, &spec.name)
            }
            SourceTarget::Builtin(..) => PinSubject::of_builtin(spec),
            SourceTarget::Definitions(_) => of_file(LockSection::File),
            SourceTarget::Program(_) | SourceTarget::Executables(_) => {
                of_file(LockSection::Program)
            }
        }
    }

    /// A file that was named itself was found nowhere: only a source that walks a folder finds
    /// files.
    fn of_file(spec: &SourceSpec, section: LockSection, document: &str) -> PinSubject {
        let path = absolute(document);
        // Not the folder that is walked: the one of the file, or one around it, may be known.
        let folder = Path::new(document).parent().unwrap_or(Path::new(""));
        let found_in = walked_folder(spec).map(|_| FoundIn::Folder(folder_key(folder)));
        PinSubject {
            key: format!("file {path}").into(),
            lock_key: (section, path),
            label: document.to_owned(),
            words: trust_words(spec).unwrap_or_else(|| document.to_owned()),
            path: None,
            found_in,
        }
    }

    /// The list of a built-in toolset, which only a configuration names.
    fn of_builtin(spec: &SourceSpec) -> PinSubject {
        let file = spec.anchor.as_ref().map_or("", |anchor| anchor.source.name());
        PinSubject {
            key: format!("builtin {} {}", absolute(file), spec.name).into(),
            lock_key: (LockSection::Builtin, spec.name.clone()),
            label: spec.name.clone(),
            words: trust_words(spec).unwrap_or_else(|| file.to_owned()),
            path: None,
            found_in: None,
        }
    }

    /// The lists of a server that `file` names as `name`.
    ///
    /// Without a file the server is one of the command line. A command is named by its hash in the
    /// store, and by its program alone in messages.
    pub(crate) fn of_server(
        spec: &SourceSpec,
        server: &Server,
        file: Option<&str>,
        name: &str,
    ) -> PinSubject {
        let (key, words) = match (file, &server.connection) {
            (Some(file), _) => (format!("server {} {name}", absolute(file)), file.to_owned()),
            (None, Connection::Stdio { command }) => {
                // Only a hash: arguments may be secrets.
                let words = serde_json::Value::from(command.clone()).to_string();
                let program = command.first().map_or("", String::as_str);
                (format!("command {}", content_hash::hash(&words)), format!("-- {program} …"))
            }
            (None, _) => (format!("url {}", spec.name), spec.name.clone()),
        };
        PinSubject {
            key: key.into(),
            lock_key: (LockSection::Server, name.to_owned()),
            label: name.to_owned(),
            words: trust_words(spec).unwrap_or(words),
            path: resolved_program(server),
            found_in: None,
        }
    }

    /// Its entry in a lock in this folder. Paths below the folder are relative to it, so that a
    /// repository can be cloned elsewhere; others stay absolute.
    pub(crate) fn lock_key_in(&self, folder: &Path) -> LockKey {
        let (section, name) = &self.lock_key;
        let relative = Path::new(name).strip_prefix(folder).map(|path| path.display().to_string());
        match section {
            LockSection::Server | LockSection::Builtin => self.lock_key.clone(),
            LockSection::File | LockSection::Program => {
                (*section, relative.unwrap_or_else(|_| name.clone()))
            }
        }
    }
}

/// The absolute path of a file, without `..`: it names the file in the store and in the lock.
///
/// Links are not resolved, and the file need not exist.
pub(crate) fn absolute(file: &str) -> String {
    let path = std::path::absolute(file).unwrap_or_else(|_| file.into());
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain.display().to_string()
}

/// How `toolwright trust` names a source of a configuration; `None` for other sources.
///
/// `notes` for the configuration of this folder, `--config FILE notes` for another one.
fn trust_words(spec: &SourceSpec) -> Option<String> {
    let config = spec.anchor.as_ref()?.source.name();
    match config {
        "toolwright.toml" => Some(spec.name.clone()),
        config if config.ends_with(".toml") => Some(format!("--config {config} {}", spec.name)),
        _ => None,
    }
}

/// The file of the program that a server starts, for a person to see.
///
/// Reads `PATH` of this process. `None` for servers that are not started, and programs that are not
/// found.
fn resolved_program(server: &Server) -> Option<String> {
    let path = std::env::var("PATH").ok();
    started_path(server, path.as_deref()).map(|file| file.display().to_string())
}

/// The files of the project that a configured server starts. `anchor` is where it is configured.
pub(crate) fn configured_code(server: &Server, anchor: Option<&Anchor>) -> Vec<CodeFile> {
    let file = anchor.map_or("", |anchor| anchor.source.name());
    server_code(server, Path::new(file).parent().unwrap_or(Path::new("")))
}
