//! The identity of a definition by what it says: `v1:` and a SHA-256.
//!
//! A user who has reviewed a tool can store its hash and notice when the definition changes. So the
//! hash must not depend on the version of this program: it covers the document as it was written,
//! not the record that was read from it. `workspace::content_hash` computes it.

use std::fmt;

/// The hash of a definition as it was authored or listed. Two definitions with one hash say the
/// same; a definition that changed has another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(Box<str>);

impl ContentHash {
    /// The hash with this SHA-256 digest. The prefix names how the digest was made: another way
    /// would get another prefix, and hashes that were stored before stay comparable.
    pub fn from_sha256(digest: [u8; 32]) -> ContentHash {
        ContentHash(format!("v1:{}", hex(&digest)).into())
    }

    /// `v1:` and 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Bytes as hexadecimal digits in lower case. By hand, because formatting each byte takes longer
/// than the hash of a short text.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
