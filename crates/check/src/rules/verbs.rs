//! English verbs that names of tools start with, for the BTCP convention of a verb and a noun.
//!
//! No list of verbs is complete, and many nouns are verbs as well. So a name without one of these
//! gets a note and not a warning, and the list leans towards accepting: verbs that APIs, command
//! lines and user interfaces use for operations, with `is`, `has` and `can` for questions. Words
//! that names use as nouns or adjectives far more often (`page`, `text`, `top`) are not in it.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The verbs, in alphabetical order and in lower case, separated by white space.
const VERBS: &str = include_str!("verbs.txt");

/// Whether a word in lower case is a verb.
pub(super) fn is_verb(word: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> =
        LazyLock::new(|| VERBS.split_ascii_whitespace().collect());
    SET.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_holds_verbs_of_many_domains() {
        let verbs: Vec<&str> = VERBS.split_ascii_whitespace().collect();
        assert!(verbs.windows(2).all(|pair| pair[0] < pair[1]), "sorted, without repetitions");
        assert!(verbs.len() > 300);
        for verb in [
            "acknowledge",
            "aggregate",
            "audit",
            "broadcast",
            "browse",
            "buy",
            "checkout",
            "comment",
            "correlate",
            "debug",
            "discover",
            "embed",
            "enqueue",
            "escalate",
            "geocode",
            "ingest",
            "lint",
            "login",
            "manage",
            "migrate",
            "pay",
            "provision",
            "rank",
            "recommend",
            "refactor",
            "refund",
            "rescan",
            "resend",
            "rollback",
            "screenshot",
            "snooze",
            "tokenize",
            "transcribe",
            "triage",
            "void",
            "withdraw",
        ] {
            assert!(is_verb(verb), "{verb}");
        }
        for noun in ["page", "user", "weather", "file", "data"] {
            assert_eq!(is_verb(noun), noun == "file", "{noun}");
        }
    }
}
