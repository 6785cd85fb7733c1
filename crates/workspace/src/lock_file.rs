//! `toolwright.lock`: the definitions that a team has accepted, as a file to commit.
//!
//! ```toml
//! version = 1
//!
//! [server.notes]
//! starts = "npx @acme/notes@1.2.0"
//! path = "/usr/bin/npx"
//! instructions = "v1:…"
//!
//! [server.notes.tools]
//! add = "v1:…"
//! ```
//!
//! Sorted, and one line per tool, so that two branches that accept different tools merge. Only
//! hashes: the texts are in each user's store. `path` is where the program was found on the machine
//! that wrote the entry. It is shown and never compared.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::files::special_file;
use crate::pinned_parts::PinKind;

/// The name of the file in every folder.
pub const LOCK_NAME: &str = "toolwright.lock";

/// The format that is read and written.
const VERSION: i64 = 1;

/// What an entry of the lock is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockSection {
    /// A file with a definition, by its path from the folder of the lock.
    File,
    /// A program that describes its tool itself, by its path.
    Program,
    /// A server, by the name of its source.
    Server,
    /// A built-in toolset, by the name of its source.
    Builtin,
}

const SECTIONS: [(LockSection, &str); 4] = [
    (LockSection::File, "file"),
    (LockSection::Program, "program"),
    (LockSection::Server, "server"),
    (LockSection::Builtin, "builtin"),
];

/// The name of an entry.
pub type LockKey = (LockSection, String);

/// One entry: the accepted parts by kind and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockEntry {
    /// The hash of each accepted part. That of the program is its name, for people to read.
    pub parts: BTreeMap<(PinKind, String), String>,
    /// Where the program was found.
    pub path: Option<String>,
}

/// The content of a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// The entries by name.
    pub entries: BTreeMap<LockKey, LockEntry>,
}

/// Why a lock cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// It cannot be read.
    #[error("cannot read `{}`: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// Git left both sides of a conflict in it.
    #[error(
        "`{}` has conflict markers of a merge in line {line}: keep one line for each tool, or \
         restore the file and run `toolwright trust`", path.display()
    )]
    Conflict {
        /// The file.
        path: PathBuf,
        /// The first marker.
        line: usize,
    },
    /// It is damaged.
    #[error(
        "`{}` is damaged ({why}): restore it, or move it away and write it again with `toolwright \
         trust --lock`", path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A newer program wrote it.
    #[error(
        "`{}` has format {version}, which a newer version of toolwright wrote: update it",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: i64,
    },
}

impl LockFile {
    /// Reads the lock at `path`; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn read(path: &Path) -> Result<Option<LockFile>, LockError> {
        let unreadable = |why: String| LockError::Unreadable { path: path.to_owned(), why };
        // Reading a pipe would wait for somebody who writes to it.
        if let Some(kind) = special_file(path) {
            return Err(unreadable(format!("it is {kind}")));
        }
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(crate::io_reason(&error))),
        };
        let text = String::from_utf8(bytes).map_err(|_| LockError::Damaged {
            path: path.to_owned(),
            why: "it is not UTF-8".to_owned(),
        })?;
        LockFile::parse(path, &text).map(Some)
    }

    /// Strict: a lock that is only half understood would accept changes that no user accepted.
    fn parse(path: &Path, text: &str) -> Result<LockFile, LockError> {
        let is_marker = |line: &str| ["<<<<<<< ", ">>>>>>> "].iter().any(|m| line.starts_with(m));
        if let Some(line) = text.lines().position(is_marker) {
            return Err(LockError::Conflict { path: path.to_owned(), line: line + 1 });
        }
        let damaged = |why: String| LockError::Damaged { path: path.to_owned(), why };
        let root = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            damaged(format!("line {line}: {}", error.message()))
        })?;
        let root = root.get_ref();
        let version = root.get("version").and_then(|value| match value.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        });
        match version {
            Some(VERSION) => {}
            Some(version) if version > VERSION => {
                return Err(LockError::Newer { path: path.to_owned(), version });
            }
            _ => return Err(damaged("it has no `version`".to_owned())),
        }
        let mut lock = LockFile::default();
        for (section, word) in SECTIONS {
            let Some(table) = root.get(word) else { continue };
            let table = table.get_ref().as_table();
            let table = table.ok_or_else(|| damaged(format!("`{word}` is not a table")))?;
            for (name, value) in table {
                let entry = value.get_ref().as_table().and_then(entry_of);
                let name = name.get_ref().to_string();
                let entry =
                    entry.ok_or_else(|| damaged(format!("`{word}.{name}` is malformed")))?;
                lock.entries.insert((section, name), entry);
            }
        }
        Ok(lock)
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "# The definitions that a person has accepted. `toolwright trust` writes this file; \
             commit it.\nversion = {VERSION}\n"
        );
        for ((section, name), entry) in &self.entries {
            let word = SECTIONS.iter().find(|(known, _)| known == section).map_or("", |it| it.1);
            let head = format!("{word}.{}", key_text(name));
            let _ = writeln!(text, "\n[{head}]");
            for (kind, key) in SHARED_KEYS {
                if let Some(hash) = entry.parts.get(&(kind, String::new())) {
                    let _ = writeln!(text, "{key} = {}", quoted(hash));
                }
                if let Some(path) = entry.path.as_ref().filter(|_| kind == PinKind::Program) {
                    let _ = writeln!(text, "path = {}", quoted(path));
                }
            }
            for (kind, key) in LIST_KEYS {
                let mut items = entry.parts.iter().filter(|((own, _), _)| *own == kind).peekable();
                if kind == PinKind::Prompt && items.peek().is_none() {
                    continue;
                }
                let _ = writeln!(text, "\n[{head}.{key}]");
                for ((_, name), hash) in items {
                    let _ = writeln!(text, "{} = {}", key_text(name), quoted(hash));
                }
            }
        }
        text
    }
}

/// The keys of parts that occur once.
const SHARED_KEYS: [(PinKind, &str); 3] = [
    (PinKind::Program, "starts"),
    (PinKind::Definition, "definition"),
    (PinKind::Instructions, "instructions"),
];

/// The tables of the others.
const LIST_KEYS: [(PinKind, &str); 2] = [(PinKind::Tool, "tools"), (PinKind::Prompt, "prompts")];

/// One entry; `None` if it has a key that is not known, or a value of another type.
fn entry_of(table: &DeTable<'_>) -> Option<LockEntry> {
    let mut entry = LockEntry::default();
    for (key, value) in table {
        let (key, value) = (key.get_ref().as_ref(), value.get_ref());
        if key == "path" {
            entry.path = Some(value.as_str()?.to_owned());
        } else if let Some((kind, _)) = SHARED_KEYS.iter().find(|(_, known)| *known == key) {
            entry.parts.insert((*kind, String::new()), value.as_str()?.to_owned());
        } else if let Some((kind, _)) = LIST_KEYS.iter().find(|(_, known)| *known == key) {
            for (name, hash) in value.as_table()? {
                let hash = hash.get_ref().as_str()?.to_owned();
                entry.parts.insert((*kind, name.get_ref().to_string()), hash);
            }
        } else {
            return None;
        }
    }
    Some(entry)
}

/// A key, in quotes if it must have them.
fn key_text(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// A basic string of TOML. Its escapes are those of JSON, and DEL has to be escaped, too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LockFile, String> {
        LockFile::parse(Path::new("toolwright.lock"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut lock = LockFile::default();
        let mut entry = LockEntry { path: Some("/usr/bin/npx".to_owned()), ..Default::default() };
        for (kind, name) in [
            (PinKind::Tool, "add"),
            (PinKind::Tool, "odd name \"\n\u{7f}\u{1}"),
            (PinKind::Prompt, "p"),
            (PinKind::Instructions, ""),
            (PinKind::Program, ""),
        ] {
            entry.parts.insert((kind, name.to_owned()), format!("v1:{name}"));
        }
        lock.entries.insert((LockSection::Server, "up".to_owned()), entry.clone());
        lock.entries.insert((LockSection::File, "tools/a b.json".to_owned()), entry);
        lock.entries.insert((LockSection::Server, "empty".to_owned()), LockEntry::default());
        assert_eq!(read(&lock.to_text()), Ok(lock));
    }

    #[test]
    fn a_lock_that_cannot_be_used_is_one_sentence() {
        for (text, expected) in [
            ("version = 1\n<<<<<<< HEAD\n", "conflict markers of a merge in line 2"),
            ("version = 2\n", "has format 2, which a newer version"),
            ("version = 1\n[server.a\n", "is damaged (line 2: "),
            ("", "it has no `version`"),
            ("version = 1\n[server.a]\nother = 1\n", "`server.a` is malformed"),
            ("version = 1\nserver = 1\n", "`server` is not a table"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        }
    }
}
