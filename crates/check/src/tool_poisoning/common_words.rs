//! Frequent English words, which distinguish decoded text from noise: those of any sentence, and
//! those of sentences about files, secrets and agents (`data/common_words.txt`). Nothing is judged
//! by them.

use std::collections::HashSet;
use std::sync::LazyLock;

static WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("data/common_words.txt").lines().collect());

/// The length of the longest one, in bytes.
pub(super) const LONGEST: usize = 12;

/// Whether a word, in lower case, is one of them.
pub(super) fn is_common(word: &str) -> bool {
    word.len() <= LONGEST && WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_longer_than_the_longest() {
        assert_eq!(WORDS.iter().map(|word| word.len()).max(), Some(LONGEST));
    }
}
