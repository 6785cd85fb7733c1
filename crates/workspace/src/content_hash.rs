//! Content hashes of tools and toolsets: SHA-256 of the definition as authored or listed.
//!
//! What is hashed is the document, not our record of it, so that a newer program that reads more of
//! a definition does not change the hash. [`Node::canonical_text`] makes the order of keys and the
//! layout irrelevant and keeps the text of numbers.
//!
//! | hash | covers |
//! |---|---|
//! | of a tool | the object that describes it, or the document and the name if that is all it has |
//! | of a toolset | the whole document, a server's instructions, and the files with its code |
//! | of both, merged | the hash of the definition and the hash of what its server lists |

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use serde_json::json;
use sha2::{Digest, Sha256};
use toolwright_formats::Reading;
use toolwright_model::ContentHash;
use toolwright_source::{Node, RecordPath, ValueKind};

/// Makes the hashes of one document. Its whole text is hashed at most once, because many commands
/// of an AIOS definition refer to it.
pub struct ContentHasher<'a> {
    reading: &'a Reading,
    document: OnceCell<ContentHash>,
}

impl<'a> ContentHasher<'a> {
    /// A hasher for the document of a reading.
    pub fn new(reading: &'a Reading) -> ContentHasher<'a> {
        ContentHasher { reading, document: OnceCell::new() }
    }

    /// The hash of the `n`th tool.
    pub fn tool(&self, n: usize) -> ContentHash {
        let at = RecordPath::root().child("tools").child(n);
        match self.reading.origin.value(&at) {
            Some(node) if node.kind() == ValueKind::Map => hash(&node.canonical_text()),
            // AIOS: a command in a list of names, which the rest of the document describes. The
            // name is part of the hash, because otherwise all bare commands of a document would
            // have the same one.
            node => {
                let name = node.map(Node::canonical_text).unwrap_or_default();
                hash(&json!([self.document().as_str(), name]).to_string())
            }
        }
    }

    /// The hash of the toolset. `code_files` are the files with the code of its tools, each with
    /// its name relative to the document and its bytes.
    pub fn toolset(&self, code_files: &[(String, Vec<u8>)]) -> ContentHash {
        // Each file is hashed by itself and in a fixed order. Joining their bytes would let text
        // move from one file to another without changing the hash.
        let mut files: Vec<(&str, ContentHash)> =
            code_files.iter().map(|(name, bytes)| (name.as_str(), hash_bytes(bytes))).collect();
        files.sort();
        let files: Vec<_> = files.iter().map(|(name, hash)| json!([name, hash.as_str()])).collect();
        let instructions = &self.reading.toolset.instructions;
        hash(&json!([self.document().as_str(), instructions, files]).to_string())
    }

    fn document(&self) -> &ContentHash {
        let root = self.reading.origin.document().root();
        self.document.get_or_init(|| hash(&root.canonical_text()))
    }
}

/// The hash of a definition that is filled in from a server: it changes with either of them.
pub fn merged(definition: &ContentHash, listed: &ContentHash) -> ContentHash {
    hash(&json!([definition.as_str(), listed.as_str()]).to_string())
}

/// The code files of a document's tools that exist, each with its name as the definition gives it:
/// scripts of local tools, which lie beside the document, and JavaScript bodies, which lie in
/// `implementations` or beside the document.
pub fn code_files(reading: &Reading, implementations: Option<&Path>) -> Vec<(String, Vec<u8>)> {
    let document = Path::new(reading.origin.document().source().name());
    let folder = document.parent().unwrap_or(Path::new(""));
    let bodies = implementations.unwrap_or(folder);
    let mut files: Vec<(PathBuf, &Path)> = Vec::new();
    for tool in &reading.toolset.tools {
        match &tool.details.binding {
            toolwright_model::Binding::Local { entry_point, .. } => {
                files.push((entry_point.into(), folder));
            }
            toolwright_model::Binding::Script => {
                // A valid name has no `/`, so the path stays inside the folder.
                let body = tool.name.ok().map(|name| PathBuf::from(format!("{name}.js")));
                files.extend(body.map(|file| (file, bodies)));
            }
            _ => {}
        }
    }
    files.sort();
    files.dedup();
    let read = |(file, folder): (PathBuf, &Path)| {
        let path = folder.join(&file);
        // A file that is missing or unreadable is left out. When it appears, the hash changes.
        let bytes = path.is_file().then(|| crate::files::read(&path).ok()).flatten()?;
        Some((file.display().to_string(), bytes))
    };
    files.into_iter().filter_map(read).collect()
}

/// The hash of a text.
pub fn hash(text: &str) -> ContentHash {
    hash_bytes(text.as_bytes())
}

/// The hash of a file.
pub(crate) fn hash_bytes(bytes: &[u8]) -> ContentHash {
    ContentHash::from_sha256(Sha256::digest(bytes).into())
}
