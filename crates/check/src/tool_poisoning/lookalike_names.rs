//! LOOKALIKE_NAME: the skeleton of a name, what is left of it at a glance. Two different names with
//! the same skeleton look alike.
//!
//! The idea and the table of confusable letters are those of Unicode Technical Standard 39. Names
//! of tools add what programmers confuse: case, separators, `l` and `1`, `rn` and `m`. The standard
//! treats these as different, because they differ in most fonts.
//!
//! Which names are compared, and when a difference is honest (`readFile`, `read_file`), is decided
//! by `rules/lookalike_name`.

use unicode_security::confusable_detection::skeleton as confusable_skeleton;

use super::normalize::{fold_char, is_invisible, latin_lookalike};

/// The skeleton of a name. These have the same: letters that look the same, upper and lower case,
/// `l` `1` `I`, `o` `0`, `rn` `m`, `vv` `w`, and names that differ in where `_`, `-`, `.`, `/` and
/// spaces stand.
pub(crate) fn skeleton(name: &str) -> String {
    let mut letters = String::new();
    if name.is_ascii() {
        letters = name.to_ascii_lowercase();
    } else {
        let visible: String = name.chars().filter(|c| !is_invisible(*c)).collect();
        for c in visible.chars() {
            fold_char(c, |c| letters.push(latin_lookalike(c).unwrap_or(c)));
        }
        // A letter without a Latin look-alike may still look like another letter, or like a pair.
        letters = confusable_skeleton(&letters).flat_map(char::to_lowercase).collect();
    }
    let mut skeleton = String::with_capacity(letters.len());
    let (mut before, mut rest) = (None, letters.chars());
    while let Some(c) = rest.next() {
        match shape_of(c) {
            // `v1_1` is not `v11`: between digits a separator makes another number.
            '_' if is_digit(before) && is_digit(rest.clone().next()) => skeleton.push('_'),
            '_' => {}
            shape => skeleton.push(shape),
        }
        before = Some(c);
    }
    for (pair, lookalike) in [("rn", "m"), ("vv", "w")] {
        if skeleton.as_bytes().windows(2).any(|two| two == pair.as_bytes()) {
            skeleton = skeleton.replace(pair, lookalike);
        }
    }
    skeleton
}

/// One character for all that look like it; `_` for every separator.
fn shape_of(c: char) -> char {
    match c {
        '1' | 'i' | '|' => 'l',
        '0' => 'o',
        '-' | '.' | ' ' | '/' => '_',
        _ => c,
    }
}

fn is_digit(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_ascii_digit())
}
