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

/// Whether it is the value of a header `Host`: a host name or address, with or without a port.
pub(crate) fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        // The last colon of an address in brackets may belong to the address.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_port =
        |port: &str| (1..=5).contains(&port.len()) && port.chars().all(|c| c.is_ascii_digit());
    let name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let address = |c: char| c.is_ascii_hexdigit() || ":.".contains(c);
    let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_good = match in_brackets {
        Some(host) => !host.is_empty() && host.chars().all(address),
        None => !host.is_empty() && host.chars().all(name),
    };
    is_good && port.is_none_or(is_port)
}

/// Whether it is the value of a header `Origin`: a scheme and a host, without a path.
pub(crate) fn is_origin(text: &str) -> bool {
    let scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    text.split_once("://").is_some_and(|(before, host)| {
        before.starts_with(|c: char| c.is_ascii_alphabetic())
            && before.chars().all(scheme)
            && is_host(host)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_origins_have_no_path() {
        for host in ["h", "tools.example.com", "h:8080", "127.0.0.1:1", "[::1]", "[::1]:80"] {
            assert!(is_host(host), "{host}");
            assert!(is_origin(&format!("https://{host}")), "{host}");
        }
        for bad in ["", "h/x", "h:", "h:x", "h:123456", "a b", "https://h", "[::1", "é", "[]", "*"]
        {
            assert!(!is_host(bad), "{bad}");
            assert!(!is_origin(&format!("https://{bad}")), "{bad}");
        }
        for bad in ["", "h", "https://h/", "://h", "1x://h", "https:/h", "null"] {
            assert!(!is_origin(bad), "{bad}");
        }
    }

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
