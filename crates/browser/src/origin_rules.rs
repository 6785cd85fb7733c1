//! Which addresses may be opened: `[browser] origins`.

use url::Url;

use crate::{PageError, PageErrorCode};

/// The origins that may be opened; without any, all of http and https.
#[derive(Debug)]
pub(crate) struct OriginRules {
    rules: Vec<AllowedOrigin>,
    is_open: bool,
}

#[derive(Debug)]
struct AllowedOrigin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl OriginRules {
    /// Reads origins such as `https://example.org`. One that cannot be read allows nothing.
    pub(crate) fn new(origins: &[String]) -> OriginRules {
        let rules = origins.iter().filter_map(|origin| AllowedOrigin::parse(origin)).collect();
        OriginRules { rules, is_open: origins.is_empty() }
    }

    /// Whether a page of this address may be opened; if not, why.
    pub(crate) fn check(&self, address: &str) -> Result<Url, PageError> {
        let refused = |why: String| PageError::new(PageErrorCode::OriginRefused, why);
        let url = Url::parse(address)
            .map_err(|_| refused(format!("`{}` is not an address", shorten(address))))?;
        if url.as_str() == "about:blank" {
            return Ok(url);
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused(format!(
                "`{}:` addresses cannot be opened, only http and https",
                shorten(url.scheme())
            )));
        }
        if self.is_open || self.rules.iter().any(|rule| rule.allows(&url)) {
            return Ok(url);
        }
        let origin = url.origin().ascii_serialization();
        Err(refused(format!("`{}` is not among the allowed origins", shorten(&origin))))
    }
}

impl AllowedOrigin {
    fn parse(origin: &str) -> Option<AllowedOrigin> {
        let url = Url::parse(origin).ok()?;
        Some(AllowedOrigin {
            scheme: url.scheme().to_owned(),
            host: url.host_str()?.to_owned(),
            port: url.port_or_known_default(),
        })
    }

    fn allows(&self, url: &Url) -> bool {
        url.host_str() == Some(self.host.as_str())
            && url.scheme() == self.scheme
            && url.port_or_known_default() == self.port
    }
}

/// A text of a page, short enough for a message.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 200;
    let mut short: String = text.chars().take(MOST).map(visible).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

fn visible(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_with_the_origins() {
        let rules = OriginRules::new(&[
            "https://example.org".to_owned(),
            "http://localhost:8080".to_owned(),
        ]);
        let allowed = [
            "https://example.org/",
            "https://example.org:443/a?b#c",
            "https://EXAMPLE.org",
            "http://localhost:8080/x",
            "about:blank",
        ];
        let refused = [
            "http://example.org/",
            "https://example.org:444/",
            "https://example.org.evil.test/",
            "https://evil.test/https://example.org",
            "https://example.org@evil.test/",
            "http://localhost/",
            "https://sub.example.org/",
            "file:///etc/passwd",
            "data:text/html,x",
            "javascript:alert(1)",
            "chrome://settings",
            "about:srcdoc",
            "no address",
        ];
        for address in allowed {
            assert!(rules.check(address).is_ok(), "{address}");
        }
        for address in refused {
            assert_eq!(
                rules.check(address).unwrap_err().code,
                PageErrorCode::OriginRefused,
                "{address}"
            );
        }
    }

    #[test]
    fn without_origins_only_the_scheme_is_checked() {
        let rules = OriginRules::new(&[]);
        assert!(rules.check("https://anywhere.test/").is_ok());
        assert!(rules.check("file:///etc/passwd").is_err());
        // A list that cannot be read is not an empty list.
        assert!(OriginRules::new(&["nonsense".to_owned()]).check("https://a.test/").is_err());
    }
}
