//! The forms in which a secret may appear in a message: as it is, percent-encoded in a URL, in
//! Base64, and each of them as writers of JSON escape it.
//!
//! `redact` and `registry` search texts for these forms. A server may repeat a secret in an error
//! message or a log after its own libraries have encoded it, so the raw text alone would not be
//! found. A form that is missing here is a secret that is not found; a form too many costs memory,
//! unless it is so short that it occurs in other texts.

/// The shortest encoded form that is searched for, in bytes.
const SHORTEST_ENCODED: usize = 8;

/// All forms of a secret. The encoded ones that are short are left out: they would be in other
/// texts by chance.
pub(crate) fn forms_of(secret: &str) -> Vec<String> {
    let mut forms = forms_in_json(secret);
    for encoded in percent_encoded(secret).into_iter().chain(in_base64(secret)) {
        if encoded.len() >= SHORTEST_ENCODED {
            forms.extend(forms_in_json(&encoded));
        }
    }
    forms.sort();
    forms.dedup();
    forms
}

/// A text as it is percent-encoded: as part of a path, of a query or of a form, with capital and
/// with small letters.
fn percent_encoded(text: &str) -> Vec<String> {
    let mut forms = Vec::new();
    // JavaScript's `encodeURIComponent`, Python's `quote` and `quote_plus`, and all but letters and
    // digits.
    for (kept, space) in
        [("-_.!~*'()", "%20"), ("-_.~/", "%20"), ("-_.~", "%20"), ("-_.~", "+"), ("", "%20")]
    {
        // RFC 3986 wants capital letters in percent-encodings; not every library writes them.
        for is_upper in [true, false] {
            let mut form = String::new();
            for byte in text.bytes() {
                match byte {
                    b' ' => form.push_str(space),
                    byte if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) => {
                        form.push(char::from(byte));
                    }
                    byte if is_upper => form.push_str(&format!("%{byte:02X}")),
                    byte => form.push_str(&format!("%{byte:02x}")),
                }
            }
            forms.push(form);
        }
    }
    forms.retain(|form| form != text);
    forms
}

/// A text in Base64, alone and inside of a longer one: of the latter, the characters that depend on
/// nothing but the text, which are others at each of three alignments.
fn in_base64(text: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for last in ["+/", "-_"] {
        let alone = base64(text.as_bytes(), last);
        forms.push(format!("{alone}{}", "=".repeat(alone.len().wrapping_neg() % 4)));
        for before in 0..3 {
            let bytes = [&[0; 2][..before], text.as_bytes()].concat();
            let encoded = base64(&bytes, last);
            // Six bits in a character; those at both ends are shared with what is around the text.
            let inside = (before * 8).div_ceil(6)..bytes.len() * 8 / 6;
            forms.push(encoded[inside].to_owned());
        }
        forms.push(alone);
    }
    forms
}

/// Base64 without padding. `last`: the characters for 62 and 63. By hand, because the encodings of
/// parts of a text need control over the alignment.
fn base64(bytes: &[u8], last: &str) -> String {
    let alphabet =
        [&b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[..], last.as_bytes()]
            .concat();
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, n| bits << 8 | usize::from(*group.get(n).unwrap_or(&0)));
        for n in 0..=group.len() {
            text.push(char::from(alphabet[bits >> (18 - 6 * n) & 63]));
        }
    }
    text
}

/// A text as it is, and the ways in which common writers of JSON write it, without quotes: in ASCII
/// (Python), with `\/` (PHP), with characters of HTML escaped (Go, Gson, .NET); and each of them
/// once more inside of a text that is itself JSON.
fn forms_in_json(text: &str) -> Vec<String> {
    const STYLES: [(&str, &str); 5] =
        [("", "/"), ("", "\\/"), ("<>&", "/"), ("<>&'=", "/"), ("<>&'+`", "/")];
    let mut forms: Vec<String> = vec![text.to_owned()];
    let mut add = |form: String| {
        if !forms.contains(&form) {
            forms.push(form);
        }
    };
    for in_ascii in [false, true] {
        for (escaped, slash) in STYLES {
            for is_upper in [false, true] {
                let style = JsonStyle { in_ascii, escaped, slash, is_upper };
                let form = style.write(text);
                // Quotation marks, as .NET writes them.
                let quoted = form.replace("\\\"", "\\u0022");
                for form in [quoted, form] {
                    add(JsonStyle::PLAIN.write(&form));
                    add(form);
                }
            }
        }
    }
    forms
}

/// How a writer of JSON escapes characters.
///
/// Every writer of JSON may escape more than the standard demands; these four settings cover the
/// common ones.
struct JsonStyle<'s> {
    /// Whether all other characters are written as `\u` with the two halves of UTF-16.
    in_ascii: bool,
    /// The characters besides those that must be escaped.
    escaped: &'s str,
    /// How `/` is written.
    slash: &'s str,
    /// Whether the digits of `\u` are capital letters.
    is_upper: bool,
}

impl JsonStyle<'static> {
    /// Only what must be escaped.
    const PLAIN: JsonStyle<'static> =
        JsonStyle { in_ascii: false, escaped: "", slash: "/", is_upper: false };
}

impl JsonStyle<'_> {
    fn write(&self, text: &str) -> String {
        let mut written = String::new();
        for c in text.chars() {
            match c {
                '"' => written.push_str("\\\""),
                '\\' => written.push_str("\\\\"),
                '\n' => written.push_str("\\n"),
                '\r' => written.push_str("\\r"),
                '\t' => written.push_str("\\t"),
                '/' => written.push_str(self.slash),
                c if c.is_control()
                    || self.escaped.contains(c)
                    || (self.in_ascii && !c.is_ascii()) =>
                {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        written.push_str(&match self.is_upper {
                            true => format!("\\u{unit:04X}"),
                            false => format!("\\u{unit:04x}"),
                        });
                    }
                }
                c => written.push(c),
            }
        }
        written
    }
}
