//! The words of each concept, one table per language, and the list of tables.
//!
//! # How entries are written
//!
//! A row is a concept and its entries, separated by `|`:
//!
//! ```text
//! (DISREGARD, "ignore|pay no attention to|disregard*"),
//! ```
//!
//! - `word` matches the whole word; `word*` matches every word that begins with it.
//! - A phrase matches its words with one space between each two. One of three or more words may
//!   end in `*`. FIXME: in a phrase of two words `*` has no effect, because these are looked up by
//!   the hash of both words.
//! - Words of scripts without spaces (Chinese, Japanese, Korean, Thai), and entries that begin with
//!   a sign, match anywhere, also inside a word.
//! - Write lower case. Accents and ligatures may be written: `lexicon` folds entries as it folds
//!   the text. No digits for letters and no look-alikes: `normalize` has undone them in the text.
//! - Write verbs in the form that gives orders (`ignore`), not in the one that describes
//!   (`ignores`): a description says what the tool does, an attack says what to do.
//! - A word may stand under several concepts.
//!
//! # How to add entries
//!
//! Add the word to the row of its concept and run the tests of this crate: the collections in
//! `tests/tool_poisoning` show whether harmless texts match now, and `no_two_words_share_a_hash`
//! whether the word collides with another. A new language is a new file with a `WordTable`, added
//! to [`LANGUAGES`]; no pattern changes.

mod chinese;
mod dutch;
mod english;
mod french;
mod german;
mod italian;
mod japanese;
mod korean;
mod language_independent;
mod other_languages;
mod polish;
mod portuguese;
mod russian;
mod spanish;
mod turkish;

use super::concepts::*;

/// Concepts, each with its entries separated by `|`. The same concept may have several rows.
type WordTable = &'static [(ConceptSet, &'static str)];

/// Every table. The language of a text is not guessed first: all tables are searched at once.
pub(super) const LANGUAGES: &[WordTable] = &[
    language_independent::WORDS,
    english::WORDS,
    german::WORDS,
    french::WORDS,
    spanish::WORDS,
    portuguese::WORDS,
    italian::WORDS,
    dutch::WORDS,
    polish::WORDS,
    russian::WORDS,
    chinese::WORDS,
    japanese::WORDS,
    korean::WORDS,
    turkish::WORDS,
    other_languages::WORDS,
];
