//! Who may send HTTP requests: the tokens, by which agents are known, and the checks of `Host` and
//! `Origin` that keep a web page from reaching the server through a browser on this machine (DNS
//! rebinding).
//!
//! On loopback addresses `Host` must name this machine or be configured, such as the name under
//! which a reverse proxy is reached. On other addresses the names of this machine are unknown, and
//! the token, which is required there, protects the server instead. `Origin` is checked everywhere:
//! only browsers send it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::uri::Authority;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use toolwright_exec::HTTP_AGENT;

use crate::ServeOptions;
use crate::http_server::AgentTokens;

/// The rules of one server.
///
/// Made once, at the start. Agents are not part of it, because their tokens can change while the
/// server runs: `agent_of` gets them with every request.
pub(crate) struct AccessControl {
    /// The SHA-256 of the shared token, whose requests are those of the agent `http`. Tokens
    /// themselves are not kept.
    token_hash: Option<[u8; 32]>,
    /// Whether somebody had a token at the start. Nobody gets in without one since then, also if
    /// the last agent leaves the configuration.
    needs_token: AtomicBool,
    /// Accepted values of `Host`; `None` to accept all.
    hosts: Option<Vec<HostRule>>,
    /// First those of this server itself, then the configured ones.
    origins: Vec<OriginRule>,
    /// How many of the origins, at the end, are configured: pages elsewhere that may read answers.
    configured_origins: usize,
}

/// A host, and a port if only that one is meant.
#[derive(Debug, PartialEq, Eq)]
struct HostRule {
    host: String,
    port: Option<u16>,
}

/// Scheme, host and port, which a browser sends together; all three have to be equal.
#[derive(Debug, PartialEq, Eq)]
struct OriginRule {
    scheme: String,
    host: String,
    /// `None` only for schemes without a default port.
    port: Option<u16>,
}

impl AccessControl {
    /// Values of the options that are not hosts or origins are left out; the configuration has
    /// checked them.
    pub(crate) fn new(
        address: SocketAddr,
        token: Option<String>,
        agents: AgentTokens,
        options: &ServeOptions,
    ) -> AccessControl {
        let own = ["127.0.0.1", "localhost", "::1"].map(str::to_owned);
        let own: Vec<String> = own.into_iter().chain([address.ip().to_string()]).collect();
        let configured = options.allowed_hosts.iter().filter_map(|host| HostRule::parse(host));
        let hosts = own.iter().map(|host| HostRule { host: host.clone(), port: None });
        let origins = own.iter().map(|host| OriginRule {
            scheme: "http".to_owned(),
            host: host.clone(),
            port: Some(address.port()),
        });
        let allowed = options.allowed_origins.iter();
        let allowed: Vec<OriginRule> = allowed.filter_map(|it| OriginRule::parse(it)).collect();
        AccessControl {
            needs_token: AtomicBool::new(token.is_some() || agents == AgentTokens::Some),
            token_hash: token.map(|token| Sha256::digest(token.as_bytes()).into()),
            hosts: address.ip().is_loopback().then(|| hosts.chain(configured).collect()),
            configured_origins: allowed.len(),
            origins: origins.chain(allowed).collect(),
        }
    }

    /// The origin of a request, if it is a configured one: the answer must allow the browser to
    /// show it to the page.
    ///
    /// The pages of this server itself need no such permission.
    pub(crate) fn page_elsewhere(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let given = headers.get(header::ORIGIN)?;
        let origin = OriginRule::parse(given.to_str().ok()?)?;
        let configured = &self.origins[self.origins.len() - self.configured_origins..];
        configured.contains(&origin).then(|| given.clone())
    }

    /// The agent whose token the request carries; `None` if the request is refused. Where nobody
    /// has a token, every request is of the agent `http`. Where an agent has one, a request without
    /// any is refused: an agent must not get other rights by leaving its token out.
    ///
    /// Hashes are compared, with all of them and in constant time, so that a token cannot be
    /// guessed byte by byte.
    pub(crate) fn agent_of(
        &self,
        headers: &HeaderMap,
        agents: &[(Arc<str>, [u8; 32])],
    ) -> Option<Arc<str>> {
        // From the first agent on, for ever: one that is removed must not come back as `http`.
        if !agents.is_empty() {
            self.needs_token.store(true, Ordering::Relaxed);
        }
        if !self.needs_token.load(Ordering::Relaxed) {
            return Some(HTTP_AGENT.into());
        }
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let (scheme, given) = given.and_then(|value| value.split_once(' '))?;
        // RFC 9110: authentication schemes are case-insensitive.
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let given: [u8; 32] = Sha256::digest(given.trim().as_bytes()).into();
        let mut found = None;
        let shared = self.token_hash.map(|hash| (Arc::from(HTTP_AGENT), hash));
        // The last one counts: an agent that was given the shared token has no more rights by it.
        for (name, hash) in shared.into_iter().chain(agents.iter().cloned()) {
            if bool::from(given.ct_eq(&hash)) {
                found = Some(name);
            }
        }
        found
    }

    /// Checks `Host` and `Origin`. The error is the status and text of the response.
    ///
    /// ```text
    /// `Host` missing, malformed or given twice   400
    /// `Host` of another machine, on loopback     403
    /// any `Origin` that is not accepted          403; a request without one comes from no web page
    /// ```
    pub(crate) fn check(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), (StatusCode, &'static str)> {
        let mut given = headers.get_all(header::HOST).iter();
        let host = match (given.next(), given.next()) {
            (Some(host), None) => host.to_str().ok().and_then(HostRule::parse),
            // Two readers could take two different ones.
            (Some(_), Some(_)) => None,
            // HTTP/2 has it in the request line.
            (None, _) => uri.authority().map(HostRule::of),
        };
        let Some(host) = host else {
            return Err((StatusCode::BAD_REQUEST, "`Host` is missing, malformed or given twice"));
        };
        let is_accepted = |rule: &HostRule| {
            rule.host == host.host && rule.port.is_none_or(|port| Some(port) == host.port)
        };
        if self.hosts.as_ref().is_some_and(|rules| !rules.iter().any(is_accepted)) {
            return Err((StatusCode::FORBIDDEN, "this value of `Host` is not accepted"));
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().ok().and_then(OriginRule::parse);
            if !origin.is_some_and(|origin| self.origins.contains(&origin)) {
                return Err((StatusCode::FORBIDDEN, "this value of `Origin` is not accepted"));
            }
        }
        Ok(())
    }
}

impl HostRule {
    /// `host` or `host:port`. `None` for a text with user information, which no `Host` has.
    fn parse(text: &str) -> Option<HostRule> {
        let text = text.trim();
        match Authority::try_from(text) {
            Ok(authority) if !text.contains('@') => Some(HostRule::of(&authority)),
            _ => None,
        }
    }

    /// The host without the port, and the port if one is given.
    fn of(authority: &Authority) -> HostRule {
        HostRule { host: plain_host(authority.host()), port: authority.port_u16() }
    }
}

impl OriginRule {
    /// An origin such as `https://app.example:8443`. The port of a scheme may be left out.
    fn parse(text: &str) -> Option<OriginRule> {
        let uri = Uri::try_from(text.trim()).ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let authority = uri.authority()?;
        let port = authority.port_u16().or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(OriginRule { host: plain_host(authority.host()), scheme, port })
    }
}

/// A host in lower case and without the brackets of IPv6.
fn plain_host(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(access: &AccessControl, host: &str, origin: Option<&str>) -> u16 {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("a value"));
        headers.extend(origin.map(|it| (header::ORIGIN, it.parse().expect("a value"))));
        access.check(&Uri::from_static("/mcp"), &headers).map_or_else(|(s, _)| s.as_u16(), |()| 200)
    }

    #[test]
    fn hosts_and_origins_of_this_machine_and_of_the_configuration_are_accepted() {
        let options = ServeOptions {
            allowed_hosts: vec!["tools.example".into(), "other.example:8443".into()],
            allowed_origins: vec!["https://app.example".into()],
            ..ServeOptions::default()
        };
        let local = "127.0.0.1:9000".parse().expect("an address");
        let access = AccessControl::new(local, None, AgentTokens::None, &options);
        for (host, origin, status) in [
            ("127.0.0.1:9000", None, 200),
            ("LOCALHOST:1", None, 200),
            ("[::1]:9000", None, 200),
            ("tools.example", None, 200),
            ("tools.example:443", None, 200),
            ("other.example:8443", None, 200),
            ("other.example", None, 403),
            ("evil.example", None, 403),
            ("127.0.0.1.evil.example:9000", None, 403),
            ("user@127.0.0.1", None, 400),
            ("", None, 400),
            ("127.0.0.1:9000", Some("http://127.0.0.1:9000"), 200),
            ("127.0.0.1:9000", Some("http://127.0.0.1:9001"), 403),
            ("127.0.0.1:9000", Some("https://app.example"), 200),
            ("127.0.0.1:9000", Some("https://app.example:443"), 200),
            ("127.0.0.1:9000", Some("http://app.example"), 403),
            ("127.0.0.1:9000", Some("null"), 403),
            ("127.0.0.1:9000", Some("nonsense"), 403),
        ] {
            assert_eq!(check(&access, host, origin), status, "{host} {origin:?}");
        }
        let public = "0.0.0.0:9000".parse().expect("an address");
        let access = AccessControl::new(
            public,
            Some("t".into()),
            AgentTokens::None,
            &ServeOptions::default(),
        );
        assert_eq!(check(&access, "any.example", None), 200);
        assert_eq!(check(&access, "any.example", Some("http://evil.example")), 403);
    }

    #[test]
    fn an_agent_is_known_by_its_token_alone() {
        let local = "127.0.0.1:9000".parse().expect("an address");
        let hash = |token: &str| -> [u8; 32] { Sha256::digest(token.as_bytes()).into() };
        let agents = [("ci".into(), hash("c-1")), ("docs".into(), hash("d-1"))];
        let agent = |shared: Option<&str>, agents: &[(Arc<str>, [u8; 32])], given: &str| {
            let shared = shared.map(str::to_owned);
            let had_agents = if agents.is_empty() { AgentTokens::None } else { AgentTokens::Some };
            let access = AccessControl::new(local, shared, had_agents, &ServeOptions::default());
            let mut headers = HeaderMap::new();
            if !given.is_empty() {
                headers.insert(header::AUTHORIZATION, given.parse().expect("a value"));
            }
            access.agent_of(&headers, agents).map(|agent| agent.to_string())
        };
        for (shared, given, expected) in [
            (None, "Bearer c-1", Some("ci")),
            (None, "bearer  d-1 ", Some("docs")),
            (None, "", None),
            (None, "Bearer http", None),
            (None, "Bearer", None),
            (None, "Basic c-1", None),
            (Some("s"), "Bearer s", Some("http")),
            (Some("s"), "Bearer c-1", Some("ci")),
            (Some("s"), "", None),
            (Some("c-1"), "Bearer c-1", Some("ci")),
        ] {
            let found = agent(shared, &agents, given);
            assert_eq!(found.as_deref(), expected, "{shared:?} {given}");
        }
        assert_eq!(agent(None, &[], "").as_deref(), Some("http"));
        assert_eq!(agent(Some("s"), &[], "Bearer x"), None);
        // After the last agent has left, nobody gets in by the gap.
        let access = AccessControl::new(local, None, AgentTokens::Some, &ServeOptions::default());
        assert_eq!(access.agent_of(&HeaderMap::new(), &[]), None);
    }
}
