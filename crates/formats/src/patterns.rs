//! The text patterns that formats publish as regular expressions, implemented as small functions,
//! so that the readers need no regex engine. A property test below compares each function with its
//! published expression.
//!
//! Each pattern has its expression, which messages quote, its description in words, which is their
//! help, and the function. `tolerated` are texts outside of the pattern that are in common use.

use toolwright_model::Capability;

use crate::field::TextPattern;

/// Whether `text` is one character of `first` followed by any number of `rest`. An empty text is
/// not a word.
fn is_word(text: &str, first: fn(char) -> bool, rest: fn(char) -> bool) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(first) && chars.all(rest)
}

/// Tool names of BTCP: stricter than those of MCP, without `-` and `.`.
pub(crate) static BTCP_TOOL_NAME: TextPattern = TextPattern {
    regex: "^[a-zA-Z][a-zA-Z0-9_]*$",
    description: "a letter, then letters, digits and `_`",
    matches: |text| {
        is_word(text, |c| c.is_ascii_alphabetic(), |c| c.is_ascii_alphanumeric() || c == '_')
    },
    tolerated: &[],
};

/// Manifest names of BTCP.
pub(crate) static BTCP_MANIFEST_NAME: TextPattern = TextPattern {
    regex: "^[a-z][a-z0-9-]*$",
    description: "a lower-case letter, then lower-case letters, digits and `-`",
    matches: |text| {
        is_word(
            text,
            |c| c.is_ascii_lowercase(),
            |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-',
        )
    },
    tolerated: &[],
};

/// The value of `btcp` in a manifest. Whether the version is supported is checked by the reader.
pub(crate) static BTCP_PROTOCOL: TextPattern = TextPattern {
    regex: r"^[0-9]+\.[0-9]+$",
    description: "two numbers joined by `.`, such as `1.0`",
    matches: |text| {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        text.split_once('.').is_some_and(|(major, minor)| digits(major) && digits(minor))
    },
    tolerated: &[],
};

/// Origins of web pages. Without a path, and with the host in lower case.
pub(crate) static ORIGIN: TextPattern = TextPattern {
    regex: r"^https?://[a-z0-9.-]+(:[0-9]+)?$",
    description: "an origin, such as `https://example.org`",
    matches: |text| {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let (host, port) = rest.map_or(("", None), |rest| match rest.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (rest, None),
        });
        let in_host = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-".contains(&b);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        !host.is_empty() && host.bytes().all(in_host) && port.is_none_or(is_number)
    },
    tolerated: &[],
};

/// Capabilities of BTCP. The tolerated ones fail BTCP's own pattern, but manifests use them.
pub(crate) static CAPABILITY: TextPattern = TextPattern {
    regex: "^[a-z]+:[a-z]+(:[a-z-]+)?$",
    description: "two or three lower-case words joined by `:`, such as `dom:read`",
    matches: |text| Capability::parse(text).is_ok(),
    // `*` is not a letter, and the other two have no colon.
    tolerated: &["dom:*", "geolocation", "notifications"],
};

/// Tool names of MCP, toolfoundation and ikigai. The set is that of `model::ToolName`. The length
/// is checked apart from the pattern, so that a long name gets a message about its length.
pub(crate) static TOOL_NAME: TextPattern = TextPattern {
    regex: "^[A-Za-z0-9_.-]+$",
    description: "letters, digits, `_`, `.` and `-`",
    matches: |text| {
        let ok = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        is_word(text, ok, ok)
    },
    tolerated: &[],
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // The generated texts mix the characters of the patterns with arbitrary ones and line breaks:
    // `$` in a regular expression must not accept a trailing line break, and the functions must not
    // either.
    proptest! {
        #[test]
        fn checks_agree_with_their_expressions(text in r"([a-zA-Z0-9_.:*-]|\PC|\n){0,12}") {
            let btcp = [&BTCP_TOOL_NAME, &BTCP_MANIFEST_NAME, &BTCP_PROTOCOL, &CAPABILITY];
            for pattern in btcp.into_iter().chain([&TOOL_NAME, &ORIGIN]) {
                let regex = regex::Regex::new(pattern.regex).unwrap();
                let expected = regex.is_match(&text);
                prop_assert_eq!((pattern.matches)(&text), expected, "{} {:?}", pattern.regex, text);
            }
        }
    }

    #[test]
    fn near_misses_do_not_match() {
        // One text that matches and its nearest neighbours that do not, for each pattern.
        let cases: &[(&TextPattern, &str, bool)] = &[
            (&BTCP_TOOL_NAME, "getCell", true),
            (&BTCP_TOOL_NAME, "1cell", false),
            (&BTCP_TOOL_NAME, "get-cell", false),
            (&BTCP_MANIFEST_NAME, "my-app", true),
            (&BTCP_MANIFEST_NAME, "My-app", false),
            (&BTCP_MANIFEST_NAME, "-app", false),
            (&BTCP_PROTOCOL, "1.0", true),
            (&BTCP_PROTOCOL, "1.0.0", false),
            (&BTCP_PROTOCOL, "v1.0", false),
            (&CAPABILITY, "network:fetch:same-origin", true),
            (&ORIGIN, "https://example.org", true),
            (&ORIGIN, "http://127.0.0.1:8080", true),
            (&ORIGIN, "https://example.org/", false),
            (&ORIGIN, "https://:1", false),
            (&ORIGIN, "example.org", false),
            (&CAPABILITY, "dom:*", false),
            (&TOOL_NAME, "a.b-c_d", true),
            (&TOOL_NAME, "a b", false),
        ];
        for (pattern, text, fits) in cases {
            assert_eq!((pattern.matches)(text), *fits, "{} {text}", pattern.regex);
        }
    }
}
