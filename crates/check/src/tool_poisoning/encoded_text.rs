//! Decodes sentences in Base64, hexadecimal and percent-encoding, so that `instructions` can read
//! them. Models decode all three without being asked.
//!
//! A run of characters counts as encoded only if it decodes to UTF-8 with a space in it and without
//! control characters: keys, hashes and ids practically never do.

/// Encoded characters that can hold a sentence; keys and hashes are seldom longer. In Base64, 32
/// characters are 24 bytes of text: four or five words.
const MIN_ENCODED_LEN: usize = 32;

/// A decoded text.
pub(super) struct DecodedText {
    /// Byte offset of the encoded run.
    pub(super) start: usize,
    /// Bytes of the encoded run.
    pub(super) len: usize,
    /// The name of the encoding, for messages.
    pub(super) encoding: &'static str,
    pub(super) text: String,
}

/// Decodes every run of `text` that holds an encoded sentence.
pub(super) fn decode_runs(text: &str) -> Vec<DecodedText> {
    let is_part =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'%');
    let mut found = Vec::new();
    // The position of the run in the text, since `split` does not tell it.
    let mut start = 0;
    for run in text.as_bytes().split(|byte| !is_part(*byte)) {
        let len = run.len();
        // Hexadecimal first: every hexadecimal run is also Base64, of noise.
        if len >= MIN_ENCODED_LEN
            && let Some((encoding, text)) =
                decode_hex(run).or_else(|| Some(("Base64", decode_base64(run)?)))
        {
            found.push(DecodedText { start, len, encoding, text });
        }
        start += len + 1;
    }
    found
}

/// The text of `4967…` or `%49%67…`, and what that encoding is called.
fn decode_hex(run: &[u8]) -> Option<(&'static str, String)> {
    let percent = run.contains(&b'%');
    let mut bytes = Vec::with_capacity(run.len() / 2);
    let mut rest = run;
    while let Some((&first, after)) = rest.split_first() {
        let escaped = first == b'%';
        // In percent-encoding, other characters stand for themselves: `%49gnore`.
        if percent && !escaped {
            bytes.push(first);
            rest = after;
            continue;
        }
        let pair = if escaped { after.get(..2)? } else { rest.get(..2)? };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?);
        rest = &rest[if escaped { 3 } else { 2 }..];
    }
    let encoding = if percent { "percent-encoding" } else { "hexadecimal" };
    Some((encoding, as_sentence(bytes)?))
}

/// The text of a Base64 run without padding, in the standard or the URL-safe alphabet. Decoders of
/// crates know one alphabet at a time and reject what is left over at the end of a cut run.
fn decode_base64(run: &[u8]) -> Option<String> {
    let mut bytes = Vec::with_capacity(run.len() * 3 / 4);
    for chunk in run.chunks(4) {
        let mut bits = 0u32;
        for byte in chunk {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' | b'-' => 62,
                // Not in either alphabet. Such a run was tried as percent-encoding before.
                b'%' => return None,
                _ => 63,
            };
            bits = bits << 6 | u32::from(value);
        }
        // The last chunk may be shorter: two characters give one byte, three give two.
        bits <<= 6 * (4 - chunk.len());
        bytes.extend(&bits.to_be_bytes()[1..chunk.len()]);
    }
    as_sentence(bytes)
}

/// The decoded bytes as text, if they are text of several words.
fn as_sentence(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    (text.contains(' ') && text.chars().all(|c| !c.is_control() || c == '\n')).then_some(text)
}
