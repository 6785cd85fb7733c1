//! Which domains count: a host is in a domain if it is that domain or ends in a dot and it.

use url::Url;

use super::{Query, SearchError};

/// The domains of a query, as hosts are written.
#[derive(Debug)]
pub(super) struct Domains {
    allowed: Vec<String>,
    blocked: Vec<String>,
}

impl Domains {
    /// An entry that is no domain is an error: a list that let all pass would be worse. A blank one
    /// asks for nothing.
    pub(super) fn new(query: &Query) -> Result<Domains, SearchError> {
        let hosts = |name: &str, list: &[String]| {
            let mut hosts: Vec<String> = Vec::new();
            for entry in list.iter().filter(|entry| !entry.trim().is_empty()) {
                let host = host(entry).ok_or_else(|| {
                    SearchError(format!("`{name}` has `{entry}`, which is no domain"))
                })?;
                if !hosts.contains(&host) {
                    hosts.push(host);
                }
            }
            Ok(hosts)
        };
        Ok(Domains {
            allowed: hosts("allowed_domains", &query.allowed_domains)?,
            blocked: hosts("blocked_domains", &query.blocked_domains)?,
        })
    }

    pub(super) fn allowed(&self) -> &[String] {
        &self.allowed
    }

    pub(super) fn blocked(&self) -> &[String] {
        &self.blocked
    }

    /// Whether a page counts. What is blocked is blocked even if it is allowed, too.
    pub(super) fn permit(&self, url: &str) -> bool {
        let Some(host) = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned))
        else {
            return self.allowed.is_empty() && self.blocked.is_empty();
        };
        let host = host.trim_end_matches('.');
        let within = |domain: &String| {
            host.strip_suffix(domain.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        !self.blocked.iter().any(within)
            && (self.allowed.is_empty() || self.allowed.iter().any(within))
    }
}

/// The host that an entry names; scheme, port and path do not matter.
fn host(entry: &str) -> Option<String> {
    let entry = entry.trim();
    let bare = entry.split_once("://").map_or(entry, |(_, rest)| rest);
    let bare = bare.trim_start_matches("*.").trim_matches('.');
    let url = Url::parse(&format!("http://{bare}")).ok()?;
    let host = url.host_str()?.trim_end_matches('.').to_owned();
    (url.username().is_empty() && !host.contains('*')).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::{Domains, Query};

    #[test]
    fn domains_of_results() {
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
            let query = Query {
                allowed_domains: some(allowed),
                blocked_domains: some(blocked),
                ..Query::default()
            };
            let domains = Domains::new(&query).unwrap();
            assert_eq!(domains.permit(url), expected, "{allowed:?} {blocked:?} {url}");
        }
    }
}
