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
use std::fmt;

use serde_json::json;
use sha2::{Digest, Sha256};
use toolwright_formats::Reading;
use toolwright_model::ContentHash;
use toolwright_source::{Node, RecordPath, ValueKind};

use crate::code_files::{CodeFile, CodeRole};

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
            Some(node) if node.kind() == ValueKind::Map => hash_node(node),
            // AIOS: a command in a list of names, which the rest of the document describes. The
            // name is part of the hash, because otherwise all bare commands of a document would
            // have the same one.
            node => {
                let name = node.map(Node::canonical_text).unwrap_or_default();
                hash(&json!([self.document().as_str(), name]).to_string())
            }
        }
    }

    /// The hash of the toolset. `code_files` are the files with the code of its tools.
    pub fn toolset(&self, code_files: &[CodeFile]) -> ContentHash {
        let (files, instructions) = (file_hashes(code_files), &self.reading.toolset.instructions);
        hash(&json!([self.document().as_str(), instructions, files]).to_string())
    }

    fn document(&self) -> &ContentHash {
        let root = self.reading.origin.document().root();
        self.document.get_or_init(|| hash_node(root))
    }
}

/// The hash of a definition that is filled in from a server: it changes with either of them.
pub fn merged(definition: &ContentHash, listed: &ContentHash) -> ContentHash {
    hash(&json!([definition.as_str(), listed.as_str()]).to_string())
}

/// Each file with its own hash and in a fixed order. Joining their bytes would let text move from
/// one file to another without changing the hash. If another file has the same name beside the
/// document, its hash has a word more: two files that are swapped are another definition.
pub(crate) fn file_hashes(code_files: &[CodeFile]) -> Vec<serde_json::Value> {
    let mut files: Vec<(&str, CodeRole, &str)> =
        code_files.iter().map(|file| (file.name.as_str(), file.role, file.hash.as_str())).collect();
    files.sort_unstable();
    // One that is beside the document, which is also the working directory.
    files.dedup_by(|b, a| (a.0, a.2) == (b.0, b.2));
    let is_second = |n: usize| n > 0 && files[n - 1].0 == files[n].0;
    let hashes = files.iter().enumerate().map(|(n, (name, role, hash))| match role {
        CodeRole::Beside if is_second(n) => json!([name, hash, "beside"]),
        _ => json!([name, hash]),
    });
    hashes.collect()
}

/// The hash of a text.
pub fn hash(text: &str) -> ContentHash {
    hash_bytes(text.as_bytes())
}

/// The hash of a value's canonical text, which is not built: a document may have many megabytes.
fn hash_node(node: Node<'_>) -> ContentHash {
    struct HashedText(Sha256);
    impl fmt::Write for HashedText {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.update(text.as_bytes());
            Ok(())
        }
    }
    let mut text = HashedText(Sha256::new());
    // Hashing does not fail.
    let _ = node.write_canonical(&mut text);
    ContentHash::from_sha256(text.0.finalize().into())
}

/// The hash of a file.
pub(crate) fn hash_bytes(bytes: &[u8]) -> ContentHash {
    ContentHash::from_sha256(Sha256::digest(bytes).into())
}
