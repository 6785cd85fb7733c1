//! LOOKALIKE_NAME: names that are taken for each other, after UTS 39. The skeleton of a name is
//! what is left of it at a glance; two different names with the same skeleton are look-alikes.

use unicode_security::confusable_detection::skeleton as confusable_skeleton;

use super::plain::{fold_char, is_invisible, latin_twin};

/// Alike are: letters that look the same, upper and lower case, `l` `1` `I`, `o` `0`, `rn` `m`,
/// `vv` `w`, and names that differ in where `_`, `-`, `.` and spaces stand.
pub(crate) fn skeleton(name: &str) -> String {
    let mut letters = String::new();
    if name.is_ascii() {
        letters = name.to_ascii_lowercase();
    } else {
        let visible: String = name.chars().filter(|c| !is_invisible(*c)).collect();
        for c in visible.chars() {
            fold_char(c, |c| letters.push(latin_twin(c).unwrap_or(c)));
        }
        // What has no single Latin twin may still look like another letter or a pair of them.
        letters = confusable_skeleton(&letters).flat_map(char::to_lowercase).collect();
    }
    let mut bones = String::with_capacity(letters.len());
    let (mut before, mut rest) = (None, letters.chars());
    while let Some(c) = rest.next() {
        match draw(c) {
            // `v1_1` is not `v11`.
            '_' if is_digit(before) && is_digit(rest.clone().next()) => bones.push('_'),
            '_' => {}
            drawn => bones.push(drawn),
        }
        before = Some(c);
    }
    for (pair, alike) in [("rn", "m"), ("vv", "w")] {
        if bones.as_bytes().windows(2).any(|two| two == pair.as_bytes()) {
            bones = bones.replace(pair, alike);
        }
    }
    bones
}

fn draw(c: char) -> char {
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
