//! Counts the tokens of texts with o200k, the vocabulary of OpenAI's models since GPT-4o, and
//! remembers the counts.
//!
//! ```text
//! text ─ SHA-256 ─▶ known? ─ yes ─▶ count
//!                     └ no ─▶ tokenizer (its tables take 0.1 s to build) ─▶ count, remembered
//! ```
//!
//! Counts depend on the text alone, so they are kept in a file, by the hash of the text. A run that
//! finds all counts there never builds the tables. The file is a cache and nothing else: a missing,
//! foreign or damaged one means that all is counted again, and failing to write it is not an error.
//!
//! Other vendors have vocabularies of their own, most of them unpublished, so their counts differ.
//! Only this file names the tokenizer.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

/// Names the content of the file; the next change of the format or of the tokenizer has another.
const HEADER: &[u8] = b"toolwright o200k 1\n";
/// The most counts that the file keeps: 800 KB, some 20,000 tools.
const MAX_COUNTS: usize = 40_000;
/// A hash and a count.
const RECORD: usize = HASH + 4;
const HASH: usize = 16;

/// The longest text, in bytes, that the tokenizer gets at once. Its regular expression fails on
/// a million spaces in a row. Descriptions and schemas of real tools are shorter, so their counts
/// are exact; a cut adds at most a token or two.
const MAX_PIECE: usize = 64 * 1024;

/// The start of the SHA-256 of a text. A definition cannot gain anything from a collision but a
/// wrong count of its own.
type TextHash = [u8; HASH];

/// Counts tokens. Threads share it.
pub(crate) struct TokenCounter {
    /// Where counts are kept; `None` keeps them for this run only.
    file: Option<PathBuf>,
    cache: Mutex<CountCache>,
}

#[derive(Default)]
struct CountCache {
    known: HashMap<TextHash, CachedCount>,
    /// Whether `known` has counts that the file lacks.
    is_changed: bool,
}

struct CachedCount {
    tokens: u32,
    /// Whether this run asked for it. If there are too many, the others are dropped first.
    is_used: bool,
}

impl TokenCounter {
    /// A counter that knows the counts in `file`.
    pub(crate) fn open(file: Option<&Path>) -> TokenCounter {
        let known = file.and_then(read).unwrap_or_default();
        let cache = Mutex::new(CountCache { known, is_changed: false });
        TokenCounter { file: file.map(Path::to_owned), cache }
    }

    /// The number of tokens of `text`.
    pub(crate) fn count(&self, text: &str) -> usize {
        let hash = hash_of(text.as_bytes());
        if let Some(known) = self.cache().known.get_mut(&hash) {
            known.is_used = true;
            return known.tokens as usize;
        }
        // Not under the lock, so that threads count at the same time.
        let tokens = pieces(text).map(tokens_of).sum();
        let mut cache = self.cache();
        let count =
            CachedCount { tokens: u32::try_from(tokens).unwrap_or(u32::MAX), is_used: true };
        cache.known.insert(hash, count);
        cache.is_changed = true;
        tokens
    }

    /// Writes the counts to the file, if there are new ones. Another process may do the same: each
    /// replaces the file as a whole, and the last one wins.
    pub(crate) fn save(&self) {
        let cache = self.cache();
        if let Some(file) = self.file.as_deref().filter(|_| cache.is_changed) {
            // The next run counts again.
            let _ = write(file, &cache.known);
        }
    }

    fn cache(&self) -> MutexGuard<'_, CountCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tokens of a text that is not too long.
fn tokens_of(text: &str) -> usize {
    // Words such as `<|endoftext|>` are counted as the text that they are.
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

/// The text in pieces of at most [`MAX_PIECE`] bytes.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(MAX_PIECE));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

fn hash_of(bytes: &[u8]) -> TextHash {
    let mut hash = TextHash::default();
    hash.copy_from_slice(&Sha256::digest(bytes)[..HASH]);
    hash
}

/// The counts in a file: the header, the records, and the hash of both. `None` if it is anything
/// else.
fn read(file: &Path) -> Option<HashMap<TextHash, CachedCount>> {
    let about = file.metadata().ok()?;
    let max = HEADER.len() + MAX_COUNTS * RECORD + HASH;
    if !about.is_file() || about.len() > max as u64 {
        return None;
    }
    let bytes = std::fs::read(file).ok()?;
    let (body, hash) = bytes.split_last_chunk::<HASH>()?;
    let records = body.strip_prefix(HEADER)?;
    if *hash != hash_of(body) || records.len() % RECORD != 0 {
        return None;
    }
    let record = |record: &[u8]| {
        let (hash, tokens) = record.split_first_chunk::<HASH>()?;
        let tokens = u32::from_le_bytes(tokens.try_into().ok()?);
        Some((*hash, CachedCount { tokens, is_used: false }))
    };
    records.chunks_exact(RECORD).map(record).collect()
}

/// Replaces the file by one with these counts, those of this run first.
fn write(file: &Path, known: &HashMap<TextHash, CachedCount>) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut counts: Vec<(&TextHash, &CachedCount)> = known.iter().collect();
    counts.sort_by_key(|(hash, count)| (!count.is_used, **hash));
    let mut body = HEADER.to_vec();
    for (hash, count) in counts.into_iter().take(MAX_COUNTS) {
        body.extend_from_slice(hash);
        body.extend_from_slice(&count.tokens.to_le_bytes());
    }
    let hash = hash_of(&body);
    body.extend_from_slice(&hash);
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(&body)?;
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_o200k() {
        let counter = TokenCounter::open(None);
        for (text, tokens) in [
            ("", 0),
            ("hello world", 2),
            ("<|endoftext|>", 7),
            (r#"{"type":"object","properties":{"path":{"type":"string"}}}"#, 14),
        ] {
            assert_eq!(counter.count(text), tokens, "{text}");
        }
    }

    #[test]
    fn long_texts_are_counted_in_pieces() {
        let counter = TokenCounter::open(None);
        for text in [" ".repeat(2_000_000), "a".repeat(300_000), "漢".repeat(100_000)] {
            let half = counter.count(&text[..text.floor_char_boundary(MAX_PIECE)]);
            let whole = counter.count(&text);
            assert!(whole > half && whole <= text.len(), "{half} {whole}");
        }
        assert_eq!(pieces(&"ß".repeat(MAX_PIECE)).map(str::len).sum::<usize>(), 2 * MAX_PIECE);
    }

    #[test]
    fn counts_are_read_from_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("new/tokens");
        let counter = TokenCounter::open(Some(&file));
        let tokens = counter.count("hello world");
        counter.save();
        // A count that no tokenizer gives shows where it comes from.
        let mut known = read(&file).expect("counts");
        known.get_mut(&hash_of(b"hello world")).expect("the count").tokens = 77;
        write(&file, &known).expect("written");
        assert_eq!(TokenCounter::open(Some(&file)).count("hello world"), 77);
        // Any damage means that it is counted again.
        let good = std::fs::read(&file).expect("a file");
        let cut = good[..good.len() - 1].to_vec();
        let mut flipped = good.clone();
        flipped[HEADER.len() + HASH] ^= 1;
        let other = [b"toolwright o200k 0\n", &good[HEADER.len()..]].concat();
        for bad in [cut, flipped, other, Vec::new(), vec![0; 10], vec![b'x'; 2_000_000]] {
            std::fs::write(&file, bad).expect("written");
            let counter = TokenCounter::open(Some(&file));
            assert_eq!(counter.count("hello world"), tokens);
            counter.save();
            assert_eq!(read(&file).expect("repaired").len(), 1);
        }
    }

    #[test]
    fn the_file_keeps_what_was_used_last() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tokens");
        let count =
            |n: usize, is_used| (hash_of(&n.to_le_bytes()), CachedCount { tokens: 1, is_used });
        let mut known: HashMap<_, _> = (0..MAX_COUNTS).map(|n| count(n, false)).collect();
        known.extend((MAX_COUNTS..MAX_COUNTS + 10).map(|n| count(n, true)));
        write(&file, &known).expect("written");
        let read = read(&file).expect("counts");
        assert_eq!(read.len(), MAX_COUNTS);
        assert!(
            (MAX_COUNTS..MAX_COUNTS + 10).all(|n| read.contains_key(&hash_of(&n.to_le_bytes())))
        );
    }
}
