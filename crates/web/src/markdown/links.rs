//! Addresses of links and images, made absolute. Most are put together from pieces; only the unusual ones are parsed, which
//! takes a microsecond each.

use url::Url;

/// What relative addresses are relative to.
#[derive(Debug)]
pub(super) struct Links {
    base: Option<Base>,
}

#[derive(Debug)]
struct Base {
    url: Url,
    /// Scheme, host and port.
    origin: String,
    /// The base up to the last slash of its path.
    directory: String,
    /// The base without its fragment.
    page: String,
}

impl Links {
    /// `declared` is what the page's `<base>` says.
    pub(super) fn new(page: Option<&Url>, declared: Option<&str>) -> Links {
        let url = match (page, declared) {
            (Some(page), Some(declared)) => Some(page.join(declared).unwrap_or_else(|_| page.clone())),
            (None, Some(declared)) => Url::parse(declared).ok(),
            (page, None) => page.cloned(),
        };
        Links { base: url.filter(|url| !url.cannot_be_a_base()).map(Base::new) }
    }

    /// The address, or none if following it would run code.
    pub(super) fn resolve(&self, href: &str) -> Option<String> {
        let href = href.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_control());
        let scheme = href.split_once(':').map(|(scheme, _)| scheme);
        if scheme.is_some_and(|scheme| {
            ["javascript", "vbscript", "data"].iter().any(|bad| {
                // Browsers skip new lines and tabs within a scheme.
                let letters = scheme.bytes().filter(|b| !matches!(b, b'\t' | b'\n' | b'\r'));
                letters.map(|b| b.to_ascii_lowercase()).eq(bad.bytes())
            })
        }) {
            return None;
        }
        let Some(base) = &self.base else { return Some(href.to_owned()) };
        Some(
            base.quick(href)
                .unwrap_or_else(|| base.url.join(href).map_or_else(|_| href.to_owned(), String::from)),
        )
    }
}

impl Base {
    fn new(url: Url) -> Base {
        let mut page = url.clone();
        page.set_fragment(None);
        let origin = page[..url::Position::BeforePath].to_owned();
        let path = &page[..url::Position::AfterPath];
        let directory = path[..path.rfind('/').map_or(path.len(), |slash| slash + 1)].to_owned();
        Base { page: page.into(), origin, directory, url }
    }

    /// The address put together, where that is what parsing would give.
    fn quick(&self, href: &str) -> Option<String> {
        let plain =
            |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'%' | b'=' | b'&');
        let (host, href) = match href.strip_prefix("https://").or_else(|| href.strip_prefix("http://")) {
            Some(rest) => href.split_at(href.len() - rest.len() + rest.find('/')?),
            None => ("", href),
        };
        let (path, rest) = href.split_at(href.find(['?', '#']).unwrap_or(href.len()));
        let simple = !href.is_empty()
            && path.bytes().all(plain)
            && rest.bytes().all(|b| plain(b) || matches!(b, b'?' | b'#' | b',' | b'+' | b':'))
            && !path.starts_with("//")
            // Dots can lead upwards, percent signs can hide them.
            && !path.starts_with('.')
            && !path.contains("/.")
            && !path.contains("%2")
            && !(path.is_empty() && rest.starts_with('?'));
        let front = match href.as_bytes() {
            _ if !simple || !self.url.scheme().starts_with("http") => return None,
            _ if !host.is_empty() => return is_plain_host(host).then(|| [host, href].concat()),
            [b'#', ..] => &self.page,
            [b'/', ..] => &self.origin,
            _ => &self.directory,
        };
        Some([front, href].concat())
    }
}

/// Whether a scheme and host are written as parsing would write them. Numbers at the end may be an address in disguise.
fn is_plain_host(host: &str) -> bool {
    let name = host.rsplit('/').next().unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default();
    name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-'))
        && !last.is_empty()
        && last.bytes().all(|b| b.is_ascii_lowercase())
        && !name.contains("xn--")
        && !name.contains("--")
        && !name.starts_with(['.', '-'])
        && !name.contains("..")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::Links;

    #[test]
    fn what_would_run_code_is_no_link() {
        let links = Links::new(None, None);
        for bad in [
            "javascript:alert(1)",
            " JavaScript:x",
            "java\tscript:x",
            "\u{1}javascript:x",
            "vbscript:x",
            "data:text/html,x",
        ] {
            assert_eq!(links.resolve(bad), None, "{bad}");
        }
        for fine in ["mailto:a@b.c", "/a:b", "x", "https://a/data:x", ""] {
            assert_eq!(links.resolve(fine).as_deref(), Some(fine));
        }
    }

    proptest! {
        #[test]
        fn quick_addresses_are_those_that_parsing_gives(href in "(https?://[a-z0-9.-]{1,6}/)?[a-zA-Z0-9./?#%&=:_ é-]{0,12}", page in "/?([a-z.]{1,3}/){0,3}[a-z]{0,3}([?]q=1)?") {
            let page = Url::parse("http://example.com:81/").unwrap().join(&page).unwrap();
            let links = Links::new(Some(&page), None);
            if let (Some(ours), Ok(theirs)) = (links.resolve(&href), page.join(&href)) {
                prop_assert_eq!(ours, theirs.to_string(), "{} on {}", href, page);
            }
        }
    }
}
