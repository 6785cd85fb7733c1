//! Checks for short texts that configurations and servers files have in common: names of variables,
//! names of headers, and addresses. They are lenient: the purpose is to find mistakes early, and
//! the operating system or the HTTP client has the last word.

/// Whether a shell accepts it as the name of a variable: letters, digits and `_`, not starting with
/// a digit. Required inside `${…}`, where other characters have a meaning.
pub(crate) fn is_variable_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(word)
}

/// Whether the operating system accepts it as the name of a variable, which is almost everything.
pub(crate) fn can_be_variable(text: &str) -> bool {
    !text.is_empty() && !text.contains(['=', '\0'])
}

/// Whether it is a `token` of RFC 9110, section 5.6.2, as the names of headers are.
pub(crate) fn is_header_name(text: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(token)
}

/// Whether it is a URL with one of these schemes and a host. Schemes are not case-sensitive. The
/// crate that parses it is that of the HTTP client, so that both agree; but it also repairs texts
/// such as `http:h` and `http:///x`, which are rather mistakes.
pub(crate) fn is_address(text: &str, schemes: &[&str]) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let known = schemes.iter().any(|s| s.eq_ignore_ascii_case(scheme));
    // A space or line break in an address is a mistake of copying.
    let clean = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let has_host = !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':', '@']);
    known && clean && has_host && url::Url::parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_scheme_and_a_host() {
        for good in ["http://h", "HTTPS://h:1/mcp?x#y", "https://[::1]/"] {
            assert!(is_address(good, &["http", "https"]), "{good}");
        }
        for bad in [
            "",
            "h",
            "ftp://h",
            "http://",
            "http:///x",
            "https://a b",
            "http:h",
            "http://:80",
            "ws://h",
            "http://[::1",
            "http://[::g]/",
            "http://h:70000/",
            "http://a<b/",
        ] {
            assert!(!is_address(bad, &["http", "https"]), "{bad}");
        }
    }

    #[test]
    fn names_of_variables_and_headers_are_recognised() {
        for (text, variable, header) in [
            ("PATH", true, true),
            ("_a1", true, true),
            ("1a", false, true),
            ("", false, false),
            ("a-b", false, true),
            ("a b", false, false),
            ("é", false, false),
            ("a:b", false, false),
        ] {
            assert_eq!(
                (is_variable_name(text), is_header_name(text)),
                (variable, header),
                "{text}"
            );
        }
    }
}
