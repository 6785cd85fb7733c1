//! Which proxy a request goes through.
//!
//! ureq can read the environment itself, but only the executables may do that here; and whether a
//! request goes through a proxy decides who resolves its host name.

use url::Url;

/// The proxies that requests go through, as in curl's environment variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxySettings {
    /// For `http` URLs.
    pub http: Option<String>,
    /// For `https` URLs.
    pub https: Option<String>,
    /// Hosts that are connected to directly: `example.com` also covers its subdomains, and `*`
    /// covers all hosts.
    pub except: Vec<String>,
}

impl ProxySettings {
    /// Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`. The lower-case names take
    /// precedence, as in curl.
    pub fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> ProxySettings {
        let get = |name: &str| {
            let value = variable(&name.to_ascii_lowercase()).or_else(|| variable(name));
            value.filter(|value| !value.trim().is_empty())
        };
        // `ALL_PROXY` is for schemes without a proxy of their own.
        let all = get("ALL_PROXY");
        let except = get("NO_PROXY").unwrap_or_default();
        ProxySettings {
            http: get("HTTP_PROXY").or_else(|| all.clone()),
            https: get("HTTPS_PROXY").or(all),
            except: except
                .split(',')
                .map(|host| host.trim().to_ascii_lowercase())
                .filter(|h| !h.is_empty())
                .collect(),
        }
    }

    /// The proxy for a URL, if it is not to be connected to directly.
    pub(super) fn proxy_for(&self, url: &Url) -> Option<&str> {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        // `*.example.com` and `.example.com` mean the same as `example.com`.
        let is_direct = self.except.iter().any(|entry| {
            let entry = entry.trim_start_matches("*.").trim_start_matches('.');
            entry == "*"
                || host == entry
                || host.strip_suffix(entry).is_some_and(|rest| rest.ends_with('.'))
        });
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        proxy.as_deref().filter(|_| !is_direct)
    }
}

#[cfg(test)]
mod tests {
    use super::{ProxySettings, Url};

    #[test]
    fn proxies_are_chosen_by_scheme_and_host() {
        let set = |name: &str| match name {
            "HTTP_PROXY" => Some("http://one:1".to_owned()),
            "https_proxy" => Some("http://two:2".to_owned()),
            "NO_PROXY" => Some("example.com, .local ,10.0.0.1".to_owned()),
            _ => None,
        };
        let proxies = ProxySettings::from_variables(&set);
        for (url, expected) in [
            ("http://a/", Some("http://one:1")),
            ("https://a/", Some("http://two:2")),
            ("http://example.com/", None),
            ("http://www.example.com/", None),
            ("http://notexample.com/", Some("http://one:1")),
            ("http://printer.local/", None),
            ("https://10.0.0.1/", None),
        ] {
            assert_eq!(proxies.proxy_for(&Url::parse(url).unwrap()), expected, "{url}");
        }
        let all = |name: &str| (name == "ALL_PROXY").then(|| "http://all:3".to_owned());
        assert_eq!(
            ProxySettings::from_variables(&all).proxy_for(&Url::parse("https://a/").unwrap()),
            Some("http://all:3")
        );
    }
}
