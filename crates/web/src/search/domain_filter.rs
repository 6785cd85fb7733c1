//! The filter on the domains of results.
//!
//! `example.com` covers `example.com` and all hosts that end in `.example.com`. Brave has no
//! filter of its own, and Google's takes one domain per request, so results are always filtered
//! here. Both sides are parsed by the `url` crate, so that upper case and international names
//! compare equal.

use url::Url;

use super::{SearchError, SearchQuery};

/// The domains of a query, in the form that `url` gives hosts.
#[derive(Debug)]
pub(super) struct DomainFilter {
    allowed: Vec<String>,
    blocked: Vec<String>,
}

impl DomainFilter {
    /// Fails for an entry that is not a domain: ignoring it would let through what the caller
    /// wanted to exclude. Blank entries are ignored.
    pub(super) fn new(query: &SearchQuery) -> Result<DomainFilter, SearchError> {
        let hosts = |name: &str, list: &[String]| {
            let mut hosts: Vec<String> = Vec::new();
            for entry in list.iter().filter(|entry| !entry.trim().is_empty()) {
                let host = host(entry).ok_or_else(|| {
                    SearchError(format!("`{name}` contains `{entry}`, which is not a domain"))
                })?;
                // Each allowed domain is a request to Google, which costs the user quota.
                if !hosts.contains(&host) {
                    hosts.push(host);
                }
            }
            Ok(hosts)
        };
        Ok(DomainFilter {
            allowed: hosts("allowed_domains", &query.allowed_domains)?,
            blocked: hosts("blocked_domains", &query.blocked_domains)?,
        })
    }

    /// The only domains that results may come from; all, if empty. Without duplicates.
    pub(super) fn allowed(&self) -> &[String] {
        &self.allowed
    }

    /// The domains that results may not come from. Without duplicates.
    pub(super) fn blocked(&self) -> &[String] {
        &self.blocked
    }

    /// Whether a result with this address is kept. A domain that is both allowed and blocked is
    /// blocked. Results without a host pass only if there is no filter.
    pub(super) fn permits(&self, url: &str) -> bool {
        let Some(host) = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned))
        else {
            return self.allowed.is_empty() && self.blocked.is_empty();
        };
        // A dot at the end makes a name absolute; it is the same host.
        let host = host.trim_end_matches('.');
        // The dot keeps `notexample.com` out of `example.com`.
        let within = |domain: &String| {
            host.strip_suffix(domain.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        !self.blocked.iter().any(within)
            && (self.allowed.is_empty() || self.allowed.iter().any(within))
    }
}

/// The host of an entry. Agents pass URLs and wildcards as well as domains, so scheme, port, path
/// and `*.` are ignored. `None` if what remains is not a host.
fn host(entry: &str) -> Option<String> {
    let entry = entry.trim();
    let bare = entry.split_once("://").map_or(entry, |(_, rest)| rest);
    // What is left gets a scheme, so that `url` validates and normalizes it as a host. A `*`
    // anywhere else is valid in a URL but matches no host.
    let bare = bare.trim_start_matches("*.").trim_matches('.');
    let url = Url::parse(&format!("http://{bare}")).ok()?;
    let host = url.host_str()?.trim_end_matches('.').to_owned();
    (url.username().is_empty() && !host.contains('*')).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::{DomainFilter, SearchQuery};

    #[test]
    fn a_domain_covers_itself_and_its_subdomains() {
        let some = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        for (allowed, blocked, url, expected) in [
            (&[][..], &[][..], "https://a.com/", true),
            (&["a.com"], &[], "https://a.com/x", true),
            (&["a.com"], &[], "https://www.a.com/x", true),
            (&["a.com"], &[], "https://WWW.A.COM/", true),
            (&["A.com"], &[], "https://a.com:8080/", true),
            (&["a.com"], &[], "https://ba.com/", false),
            (&["a.com"], &[], "https://a.com.evil/", false),
            (&["https://a.com/path?x"], &[], "http://a.com/other", true),
            (&["*.a.com"], &[], "http://b.a.com/", true),
            (&[" a.com "], &[], "http://a.com/", true),
            (&["a.com:443"], &[], "http://a.com/", true),
            (&["bücher.de"], &[], "http://xn--bcher-kva.de/", true),
            (&["", "  "], &[], "http://anything/", true),
            (&[], &["a.com"], "https://a.com/", false),
            (&[], &["a.com"], "https://sub.a.com/", false),
            (&[], &["a.com"], "https://b.com/", true),
            (&["a.com"], &["bad.a.com"], "https://bad.a.com/", false),
            (&["a.com"], &["bad.a.com"], "https://good.a.com/", true),
            (&["a.com"], &["a.com"], "https://a.com/", false),
            (&["a.com"], &[], "not a url", false),
        ] {
            let query = SearchQuery {
                allowed_domains: some(allowed),
                blocked_domains: some(blocked),
                ..SearchQuery::default()
            };
            let domains = DomainFilter::new(&query).unwrap();
            assert_eq!(domains.permits(url), expected, "{allowed:?} {blocked:?} {url}");
        }
    }
}
