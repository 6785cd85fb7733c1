//! Which addresses may be opened: `[browser] origins`, and those of this machine and its network
//! only if the settings name them.
//!
//! ```text
//! check           by the text of the address: scheme, origins, private hosts as they are written
//! needs_lookup ─▶ check_private    by the addresses that a name leads to
//! ```
//!
//! Two dangers are meant. A tool may be made to open pages that its user did not intend, which
//! `origins` prevents. And a page or a tool may use the browser to reach services of this machine
//! or its network that trust any client: routers, databases, metadata of a cloud. Those are refused
//! even without `origins`, unless the settings name them.
//!
//! This covers main documents and the requests that tools send. Frames, images and scripts of a
//! page are left to the browser and its own rules.

use std::net::IpAddr;
use std::time::Duration;

use url::{Host, Url};

use crate::{BrowserSettings, PageError, PageErrorCode};

/// How long the addresses of a name are looked up.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// The origins that may be opened; without any, all of http and https.
#[derive(Debug)]
pub(crate) struct OriginRules {
    rules: Vec<AllowedOrigin>,
    /// Whether no origins are configured. An origin that cannot be read does not make the rules
    /// open.
    is_open: bool,
    /// The page that tabs open first; named by the person, as the origins are.
    start: Option<AllowedOrigin>,
    /// See `BrowserSettings::is_private`.
    is_private: Option<fn(IpAddr) -> bool>,
}

/// Host, scheme and port are compared as a whole; there are no wildcards.
#[derive(Debug)]
struct AllowedOrigin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl OriginRules {
    /// Reads origins such as `https://example.org`. One that cannot be read allows nothing.
    pub(crate) fn new(settings: &BrowserSettings) -> OriginRules {
        let origins = &settings.origins;
        let rules = origins.iter().filter_map(|origin| AllowedOrigin::parse(origin)).collect();
        OriginRules {
            rules,
            is_open: origins.is_empty(),
            start: settings.start.as_deref().and_then(AllowedOrigin::parse),
            is_private: settings.is_private,
        }
    }

    /// Whether a page of this address may be opened; if not, why.
    ///
    /// Synchronous, so that it can be used where events are handled. Does not look names up.
    ///
    /// # Errors
    /// `OriginRefused`, with a message for the person who wrote the settings.
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
            return if self.is_private_host(&url) { Err(private(&url)) } else { Ok(url) };
        }
        let origin = url.origin().ascii_serialization();
        Err(refused(format!("`{}` is not among the allowed origins", shorten(&origin))))
    }

    /// Whether the name of an address must be looked up before it is known that it is public.
    pub(crate) fn needs_lookup(&self, url: &Url) -> bool {
        self.is_private.is_some() && !self.names(url) && matches!(url.host(), Some(Host::Domain(_)))
    }

    /// Fails for an address of this machine or its network that the settings do not name. A name
    /// that cannot be looked up is left to the browser, which may ask a proxy.
    pub(crate) async fn check_private(&self, url: &Url) -> Result<(), PageError> {
        if self.is_private_host(url) {
            return Err(private(url));
        }
        let (Some(is_private), Some(Host::Domain(host))) = (self.is_private, url.host()) else {
            return Ok(());
        };
        if self.names(url) {
            return Ok(());
        }
        let port = url.port_or_known_default().unwrap_or_default();
        let lookup = tokio::time::timeout(LOOKUP_TIMEOUT, tokio::net::lookup_host((host, port)));
        match lookup.await {
            Ok(Ok(mut addresses)) => match addresses.any(|address| is_private(address.ip())) {
                true => Err(private(url)),
                false => Ok(()),
            },
            Ok(Err(_)) => Ok(()),
            Err(_) => {
                let seconds = LOOKUP_TIMEOUT.as_secs();
                let message =
                    format!("looking up `{}` took longer than {seconds} s", shorten(host));
                Err(PageError::new(PageErrorCode::Timeout, message))
            }
        }
    }

    /// Whether the settings name the origin of an address.
    fn names(&self, url: &Url) -> bool {
        self.rules.iter().chain(&self.start).any(|rule| rule.allows(url))
    }

    /// Whether the host, as it is written, is private and not named. `localhost` and the names
    /// below it count without a lookup (RFC 6761).
    fn is_private_host(&self, url: &Url) -> bool {
        let Some(is_private) = self.is_private else { return false };
        let is_private = match url.host() {
            Some(Host::Ipv4(address)) => is_private(address.into()),
            Some(Host::Ipv6(address)) => is_private(address.into()),
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                name == "localhost" || name.ends_with(".localhost")
            }
            None => false,
        };
        is_private && !self.names(url)
    }
}

fn private(url: &Url) -> PageError {
    let origin = shorten(&url.origin().ascii_serialization());
    let message = format!(
        "`{origin}` is an address of this machine or its network, which `origins` of `[browser]` \
         does not name"
    );
    PageError::new(PageErrorCode::OriginRefused, message)
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

/// A text of a page, short enough for a message: 200 characters, and spaces instead of control
/// characters, which could disturb a terminal.
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

    fn rules(origins: &[&str], start: Option<&str>) -> OriginRules {
        OriginRules::new(&BrowserSettings {
            origins: origins.iter().map(|&origin| origin.to_owned()).collect(),
            start: start.map(str::to_owned),
            is_private: Some(|address| address.is_loopback()),
            program: None,
            headless: true,
            profile: None,
            idle: Duration::MAX,
            memory: u64::MAX,
            path: Vec::new(),
            environment: Vec::new(),
        })
    }

    #[tokio::test]
    async fn private_addresses_must_be_named() {
        let open = rules(&[], None);
        let spellings = [
            "http://127.0.0.1/",
            "http://127.1:8080/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://localhost/",
            "http://localhost./",
            "http://a.localhost/",
        ];
        for address in spellings {
            assert_eq!(open.check(address).unwrap_err().code, PageErrorCode::OriginRefused);
        }
        assert!(open.check("https://example.org/").is_ok());
        // A name of this machine is found by looking it up.
        let url: Url = "http://localhost:1/".parse().expect("an address");
        assert!(open.check_private(&url).await.is_err());
        assert!(open.needs_lookup(&"https://example.org/".parse().expect("an address")));
        for named in [
            rules(&["http://127.0.0.1:8080", "http://localhost:1"], None),
            rules(&[], Some("http://127.0.0.1:8080/start")),
        ] {
            assert!(named.check("http://127.0.0.1:8080/x").is_ok());
            assert!(named.check("http://127.0.0.1:8081/x").is_err());
        }
        assert!(rules(&["http://localhost:1"], None).check_private(&url).await.is_ok());
    }

    #[test]
    fn addresses_are_compared_with_the_origins() {
        let rules = rules(&["https://example.org", "http://localhost:8080"], None);
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
        let rules = rules(&[], None);
        assert!(rules.check("https://anywhere.test/").is_ok());
        assert!(rules.check("file:///etc/passwd").is_err());
        // A list that cannot be read is not an empty list.
        assert!(super::tests::rules(&["nonsense"], None).check("https://a.test/").is_err());
    }
}
