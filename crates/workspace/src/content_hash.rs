//! Content hashes of tools and toolsets: SHA-256 of the definition as authored or listed.
//!
//! What is hashed is the document, not our record of it, so that a newer program that reads more of
//! a definition does not change the hash. [`Node::canonical_text`] makes the order of keys and the
//! layout irrelevant and keeps the text of numbers.
//!
//! | hash | covers |
//! |---|---|
//! | of a tool | the object that describes it; if the document only names it, the document and the name |
//! | of a toolset | the whole document, a server's instructions, and the files with its code |

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use serde_json::json;
use sha2::{Digest, Sha256};
use toolwright_formats::Reading;
use toolwright_model::ContentHash;
use toolwright_source::{Node, RecordPath, ValueKind};

/// Makes the hashes of one document. Its whole text is hashed at most once, because many commands of
/// an AIOS definition refer to it.
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

/// The code files of a document's tools that exist: scripts of local tools, and JavaScript bodies,
/// which lie in `bodies` or beside the document.
pub fn code_files(reading: &Reading, bodies: Option<&Path>) -> Vec<(String, Vec<u8>)> {
    let document = Path::new(reading.origin.document().source().name());
    let folder = document.parent().unwrap_or(Path::new(""));
    let mut files: Vec<PathBuf> = Vec::new();
    for tool in &reading.toolset.tools {
        match &tool.details.binding {
            toolwright_model::Binding::Local { entry_point, .. } => files.push(entry_point.into()),
            toolwright_model::Binding::Script => {
                // A valid name has no `/`, so the path stays inside the folder.
                files.extend(tool.name.ok().map(|name| PathBuf::from(format!("{name}.js"))));
            }
            _ => {}
        }
    }
    files.sort();
    files.dedup();
    let read = |file: PathBuf| {
        let path = bodies.unwrap_or(folder).join(&file);
        // A file that is missing or unreadable is left out. When it appears, the hash changes.
        let bytes = path.is_file().then(|| crate::files::read(&path).ok()).flatten()?;
        Some((file.display().to_string(), bytes))
    };
    files.into_iter().filter_map(read).collect()
}

fn hash(text: &str) -> ContentHash {
    hash_bytes(text.as_bytes())
}

fn hash_bytes(bytes: &[u8]) -> ContentHash {
    ContentHash::from_sha256(Sha256::digest(bytes).into())
}
