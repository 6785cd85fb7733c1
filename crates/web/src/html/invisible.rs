//! Characters that a reader does not see.
//!
//! A page can carry text for a model that its readers never see: tag characters repeat ASCII
//! without glyphs, zero-width characters spell bits, bidirectional controls reorder what is drawn.
//! Control characters can also drive a terminal. All of them are dropped from every text, and
//! counted.
//!
//! Kept, because scripts need them: one joiner or variation selector after a character that it can
//! change (Persian and Indic letters, emoji, keycaps), and the tags of a flag.

use std::borrow::Cow;

/// Bytes that can begin an invisible character in UTF-8, and control characters.
const SUSPICIOUS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = !matches!(byte as u8, b'\t' | b'\n' | b'\r' | 0x0c);
        byte += 1;
    }
    table[0x7f] = true;
    // U+0080 to U+00AD; U+061C; U+180E; U+2000 to U+206F; U+FE00 to U+FEFF; U+E0000 and above.
    table[0xc2] = true;
    table[0xd8] = true;
    table[0xe1] = true;
    table[0xe2] = true;
    table[0xef] = true;
    table[0xf3] = true;
    table
};

/// Drops invisible characters. `before` is the last character in front of the text, and becomes
/// the last one of the result. Returns the text and how many characters were dropped.
pub(crate) fn drop_invisible<'t>(text: &'t str, before: &mut char) -> (Cow<'t, str>, u32) {
    if !text.bytes().any(|byte| SUSPICIOUS[usize::from(byte)]) {
        if let Some(last) = text.chars().next_back() {
            *before = last;
        }
        return (Cow::Borrowed(text), 0);
    }
    let mut kept = String::with_capacity(text.len());
    let mut dropped = 0;
    for c in text.chars() {
        if is_kept(c, *before) {
            kept.push(c);
            *before = c;
        } else {
            dropped += 1;
        }
    }
    match dropped {
        0 => (Cow::Borrowed(text), 0),
        _ => (Cow::Owned(kept), dropped),
    }
}

fn is_kept(c: char, before: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{c}' => true,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => false,
        // Joiners, and the selectors of a glyph.
        '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            can_be_changed(before)
        }
        // The flags of England, Scotland and Wales are a black flag and tags.
        '\u{e0020}'..='\u{e007f}' => {
            before == '\u{1f3f4}' || matches!(before, '\u{e0020}'..='\u{e007e}')
        }
        // Soft hyphen, marks of direction, zero-width spaces, invisible operators.
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => {
            false
        }
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e001f}' => false,
        _ => true,
    }
}

/// Whether a joiner or a variation selector after the character can have an effect. After another
/// invisible character it has none, so that no second one is kept.
fn can_be_changed(before: char) -> bool {
    match before {
        // An emoji with a selector can be joined to the next one.
        '\u{fe0f}' => true,
        '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0e}' | '\u{e0100}'..='\u{e01ef}' => false,
        '0'..='9' | '#' | '*' => true,
        before => !before.is_ascii() && !before.is_whitespace(),
    }
}

#[cfg(test)]
mod tests {
    use super::drop_invisible;

    #[test]
    fn only_characters_that_change_what_is_seen_are_kept() {
        for (text, expected) in [
            ("plain text\n\tand é", "plain text\n\tand é"),
            ("a\u{200b}b\u{ad}c\u{2060}d\u{feff}", "abcd"),
            ("a\u{200d}\u{200c}b", "ab"),
            ("\u{202e}olleh\u{202c} \u{2066}x\u{2069}", "olleh x"),
            ("hi\u{e0069}\u{e0067}\u{e006e}", "hi"),
            ("\u{1b}[31mred\u{7}\u{9b}1m\u{7f}", "[31mred1m"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("می\u{200c}\u{200d}\u{200c}خواهم", "می\u{200c}خواهم"),
            (
                "👩\u{200d}🔬 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
                "👩\u{200d}🔬 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            ),
            (
                "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
                "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            ),
            ("x\u{fe01}\u{e0100}y", "xy"),
        ] {
            let (kept, dropped) = drop_invisible(text, &mut ' ');
            assert_eq!(kept, expected, "{text:?}");
            assert_eq!(
                dropped as usize,
                text.chars().count() - expected.chars().count(),
                "{text:?}"
            );
        }
    }
}
