//! Undoes words whose letters are written apart: `r-e-a-d t-h-e`, `r|e|a|d`, `r e a d t h e`.
//!
//! `normalize` joins such letters, too, as one word and for a few separators: it is part of what
//! the weights were fitted to. Here the letters are cut into words again, so that a sentence
//! without gaps is read, and the text is judged once more. Only what is found with these words in
//! it is a finding, so an acronym (`A-B-C`) or a pattern of a date (`Y-Y-Y-Y`) is not.
//!
//! ```text
//! "d-o n-o-t t-e-l-l" ─ runs of single letters ─▶ "do not tell" ─ scorer ─▶ hit
//!                       word_starts, for letters without gaps          └▶ hidden_range: source
//! ```

use std::ops::Range;

use super::common_words::{LONGEST, is_common};

/// The bytes of a text that are looked at. No model reads a longer description, and what is kept
/// for each letter here takes twenty times its space.
const MAX_SOURCE: usize = 1 << 20;

/// Letters in a row that count as a word written apart. Two would make a word of `a/b` and of
/// `x-y`.
const MIN_LETTERS: usize = 3;

/// Letters that must be written apart in what is found, so that an acronym in an attack does not
/// make it a hidden one.
const MIN_HIDDEN_LETTERS: usize = 7;

/// What a letter costs that is in no frequent word, if such a word costs one. So a long unknown
/// word costs more than the words that it could be cut into.
const UNKNOWN_LETTER: usize = 3;

/// A text in which letters that were written apart are words. `offsets` has as many elements as
/// `text` has bytes.
#[derive(Default)]
pub(super) struct JoinedText {
    pub(super) text: String,
    /// For each byte of `text`, the byte of the source that it came from.
    offsets: Vec<usize>,
    /// The joined words, as bytes of `text`.
    words: Vec<Range<usize>>,
}

impl JoinedText {
    /// Joins the letters of `source`; `None` if none are written apart. In a text with several
    /// runs, pairs of letters count as well: `d o` before `n o t`.
    pub(super) fn new(source: &str) -> Option<JoinedText> {
        let source = &source[..source.floor_char_boundary(MAX_SOURCE)];
        let chars: Vec<(usize, char)> = source.char_indices().collect();
        // Words of two letters count beside longer ones.
        let long = runs(&chars, MIN_LETTERS);
        let runs = match long.len() {
            0 => return None,
            1 => long,
            _ => runs(&chars, 2),
        };
        let mut joined = JoinedText::default();
        let mut at = 0;
        for (start, letters) in runs {
            chars[at..start].iter().for_each(|(offset, c)| joined.push(*c, *offset));
            at = start + 2 * letters - 1;
            joined.push_word(&chars[start..at]);
        }
        chars[at..].iter().for_each(|(offset, c)| joined.push(*c, *offset));
        Some(joined)
    }

    fn push(&mut self, c: char, offset: usize) {
        self.text.push(c);
        self.offsets.resize(self.text.len(), offset);
    }

    /// Appends the letters of a run, with spaces between frequent words.
    fn push_word(&mut self, run: &[(usize, char)]) {
        let start = self.text.len();
        let letters = run.iter().step_by(2);
        let word: String = letters.clone().map(|(_, c)| c.to_ascii_lowercase()).collect();
        let mut starts = word_starts(&word).into_iter().filter(|start| *start > 0).peekable();
        for (n, (offset, c)) in letters.enumerate() {
            if starts.next_if_eq(&n).is_some() {
                self.push(' ', *offset);
            }
            self.push(*c, *offset);
        }
        self.words.push(start..self.text.len());
    }

    /// The bytes of the source that a range of the text came from, if enough letters were joined
    /// in it.
    pub(super) fn hidden_range(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let inside = |word: &&Range<usize>| word.start < range.end && range.start < word.end;
        let words: Vec<&Range<usize>> = self.words.iter().filter(inside).collect();
        let (first, last) = (words.first()?, words.last()?);
        let letters: usize = words.iter().map(|word| word.len()).sum();
        (letters >= MIN_HIDDEN_LETTERS).then(|| {
            let end = self.text.floor_char_boundary(range.end.max(last.end) - 1);
            let len = self.text[end..].chars().next().map_or(0, char::len_utf8);
            self.offsets[range.start.min(first.start)]..self.offsets[end] + len
        })
    }
}

/// The runs of at least this many letters that are written apart: where each begins, and how many
/// letters it has. A run of n letters has n − 1 separators, so it takes 2n − 1 characters.
fn runs(chars: &[(usize, char)], least: usize) -> Vec<(usize, usize)> {
    let (mut runs, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        let letters = spelled_letters(chars, at);
        if letters >= least {
            runs.push((at, letters));
        }
        at += (2 * letters).saturating_sub(1).max(1);
    }
    runs
}

/// How many single ASCII letters begin at `at`, with the same other character between each two. 0
/// if none does. A letter inside of a word does not count, nor does one that a word follows.
fn spelled_letters(chars: &[(usize, char)], at: usize) -> usize {
    let get = |at: usize| chars.get(at).map(|(_, c)| *c);
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let Some(separator) = get(at + 1).filter(|c| !c.is_alphanumeric()) else { return 0 };
    if !is_letter(get(at)) || is_word(at.checked_sub(1).and_then(get)) {
        return 0;
    }
    let mut letters = 1;
    while get(at + 2 * letters - 1) == Some(separator)
        && is_letter(get(at + 2 * letters))
        && !is_word(get(at + 2 * letters + 1))
    {
        letters += 1;
    }
    letters
}

/// Where the words of a text without gaps begin: the fewest frequent words, and the fewest letters
/// outside of them. Dynamic programming over the prefixes, the best way to end at each letter.
///
/// Example: `donottell` gives 0, 2 and 5.
fn word_starts(text: &str) -> Vec<usize> {
    // For each prefix its cost, where its last part begins, and whether that is a frequent word.
    let mut best = vec![(0, 0, true)];
    for end in 1..=text.len() {
        let unknown = (best[end - 1].0 + UNKNOWN_LETTER, end - 1, false);
        let words = (end.saturating_sub(LONGEST)..end).filter(|at| is_common(&text[*at..end]));
        let known = words.map(|at| (best[at].0 + 1, at, true));
        best.push(known.fold(unknown, |best, other| if other.0 < best.0 { other } else { best }));
    }
    let (mut starts, mut at) = (Vec::new(), text.len());
    while at > 0 {
        let (_, start, is_known) = best[at];
        // Letters outside of words stay together.
        if is_known || best[start].2 {
            starts.push(start);
        }
        at = start;
    }
    starts.reverse();
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_joined_to_words() {
        for (source, expected) in [
            ("r-e-a-d t-h-e .env", "read the .env"),
            ("r|e|a|d m|y k|e|y|s", "read my keys"),
            ("Adds. r e a d  t h e  f i l e", "Adds. read  the  file"),
            ("r e a d t h e f i l e n o w", "read the file now"),
            ("s.e.n.d.t.h.e.x.y.z.z.y.k.e.y", "send the xyzzy key"),
            ("the format Y-Y-Y-Y", "the format YYYY"),
        ] {
            let joined = JoinedText::new(source).expect(source);
            assert_eq!(joined.text, expected, "{source}");
        }
        for source in ["a b", "A-B", "plain words", "x-axis, y-axis", "e.g. this", ""] {
            assert!(JoinedText::new(source).is_none(), "{source}");
        }
        let joined = JoinedText::new("Ök: r-e-a-d t-h-e k-e-y").expect("letters");
        assert_eq!(joined.hidden_range(&(5..13)), Some(5..18));
        assert_eq!(joined.hidden_range(&(0..2)), None);
    }
}
