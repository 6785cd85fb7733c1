//! One HTTP request on ureq: a resolver that judges the addresses it hands out, proxies,
//! certificates of the system, a cap on headers and body, one deadline. What goes wrong is said
//! without the URL, which may hold a key.

use std::fmt;
use std::io::Read;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use url::Url;

use super::address::is_special;

/// Bytes of a response's headers.
const MAX_HEADER_BYTES: usize = 64 << 10;
/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
const USER_AGENT: &str = concat!("toolwright-web/", env!("CARGO_PKG_VERSION"));

/// Why a page was not fetched. The text is one clause, without the URL.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The time was up, whatever it was spent on.
    #[error("Connection timeout")]
    Timeout,
    /// An answer that is no page.
    #[error("HTTP {0}")]
    Status(u16),
    /// An address that is not on the public internet.
    #[error("the address is private, local or otherwise special")]
    Refused,
    /// Everything else.
    #[error("{0}")]
    Other(String),
}

/// The proxies that requests go through, as the usual environment variables name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `http` URLs.
    pub http: Option<String>,
    /// For `https` URLs.
    pub https: Option<String>,
    /// Hosts that are asked directly: `example.com` and what ends in `.example.com`, or `*` for
    /// all.
    pub except: Vec<String>,
}

impl Proxies {
    /// Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in lower case too.
    pub fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> Proxies {
        let get = |name: &str| {
            let value = variable(&name.to_ascii_lowercase()).or_else(|| variable(name));
            value.filter(|value| !value.trim().is_empty())
        };
        let all = get("ALL_PROXY");
        let except = get("NO_PROXY").unwrap_or_default();
        Proxies {
            http: get("HTTP_PROXY").or_else(|| all.clone()),
            https: get("HTTPS_PROXY").or(all),
            except: except
                .split(',')
                .map(|host| host.trim().to_ascii_lowercase())
                .filter(|h| !h.is_empty())
                .collect(),
        }
    }

    fn of(&self, url: &Url) -> Option<&str> {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let direct = self.except.iter().any(|entry| {
            let entry = entry.trim_start_matches("*.").trim_start_matches('.');
            entry == "*"
                || host == entry
                || host.strip_suffix(entry).is_some_and(|rest| rest.ends_with('.'))
        });
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        proxy.as_deref().filter(|_| !direct)
    }
}

/// A GET request.
pub(crate) struct Request<'a> {
    pub(crate) url: &'a Url,
    pub(crate) headers: &'a [(&'a str, &'a str)],
    /// Looks at the headers of the answer before its body is read.
    pub(crate) check: fn(&Answer) -> Result<(), FetchError>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: ureq::http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A header that may hold more than ASCII.
    pub(crate) fn bytes_of(&self, name: &str) -> Option<&[u8]> {
        self.headers.get(name).map(|value| value.as_bytes())
    }
}

/// Who may be asked, and how much may come back.
pub(crate) struct Client<'a> {
    pub(crate) allow_private: bool,
    pub(crate) trust_proxy: bool,
    pub(crate) proxies: &'a Proxies,
    pub(crate) deadline: Instant,
    pub(crate) max_bytes: usize,
    pub(crate) look_up: LookUp,
}

/// Finds the addresses of `host:port` in the time that is left.
pub(crate) type LookUp = fn(String, Duration) -> Result<Vec<SocketAddr>, FetchError>;

impl Client<'_> {
    pub(crate) fn get(&self, request: &Request) -> Result<Answer, FetchError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(FetchError::Timeout);
        }
        let proxy = self.proxies.of(request.url);
        let proxy = proxy.map(ureq::Proxy::new).transpose();
        let proxy =
            proxy.map_err(|_| FetchError::Other("the proxy's URL is invalid".to_owned()))?;
        let guard = Guard {
            allow_private: self.allow_private,
            proxy: proxy.as_ref().map(|proxy| (proxy.host().to_owned(), proxy.port())),
            look_up: self.look_up,
        };
        if proxy.is_some() && !self.trust_proxy && !self.allow_private {
            let host = request.url.host_str().unwrap_or_default();
            let port = request.url.port_or_known_default().unwrap_or_default();
            guard.judge(&(self.look_up)(format!("{host}:{port}"), left)?)?;
        }
        let config = Config::builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_response_header_size(MAX_HEADER_BYTES)
            .user_agent(USER_AGENT)
            .proxy(proxy)
            .timeout_global(Some(left));
        let config =
            if request.url.scheme() == "https" { config.tls_config(tls()?) } else { config };
        let agent = ureq::Agent::with_parts(config.build(), DefaultConnector::default(), guard);
        let mut call = agent.get(uri(request.url)?);
        for (name, value) in request.headers {
            call = call.header(*name, *value);
        }
        let (parts, body) = call.call()?.into_parts();
        let mut answer =
            Answer { status: parts.status.as_u16(), headers: parts.headers, body: Vec::new() };
        (request.check)(&answer)?;
        if !(300..400).contains(&answer.status) {
            answer.body = self.read(&answer, body)?;
        }
        Ok(answer)
    }

    fn read(&self, answer: &Answer, body: ureq::Body) -> Result<Vec<u8>, FetchError> {
        let too_large =
            || FetchError::Other(format!("the answer is larger than {} MiB", self.max_bytes >> 20));
        if body.content_length().is_some_and(|length| length > self.max_bytes as u64) {
            return Err(too_large());
        }
        // ureq decodes what it knows by the usual name, and takes the header away.
        let encoding =
            answer.header("content-encoding").unwrap_or_default().trim().to_ascii_lowercase();
        let mut reader: Box<dyn Read> = match encoding.as_str() {
            "" | "identity" => Box::new(body.into_reader()),
            "gzip" | "x-gzip" => Box::new(flate2::read::MultiGzDecoder::new(body.into_reader())),
            "br" => Box::new(brotli_decompressor::Decompressor::new(body.into_reader(), CHUNK)),
            _ => {
                return Err(FetchError::Other(format!(
                    "content encoding `{encoding}` is not supported"
                )));
            }
        };
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            // A server that sends a byte now and then resets no clock of ours.
            if Instant::now() >= self.deadline {
                return Err(FetchError::Timeout);
            }
            let count = reader
                .read(&mut chunk)
                .map_err(|error| FetchError::from(ureq::Error::from(error)))?;
            if count == 0 {
                return Ok(bytes);
            }
            if bytes.len() + count > self.max_bytes {
                return Err(too_large());
            }
            bytes.extend_from_slice(&chunk[..count]);
        }
    }
}

/// A URL as `http` takes it; `url` leaves a few characters alone that `http` does not.
fn uri(url: &Url) -> Result<Uri, FetchError> {
    let mut text = String::new();
    for c in url[..url::Position::AfterQuery].chars() {
        match c {
            '{' | '}' | '|' | '^' | '`' | '"' | '<' | '>' | '\\' => {
                text.push_str(&format!("%{:02X}", c as u32))
            }
            c => text.push(c),
        }
    }
    text.parse().map_err(|_| FetchError::Other("invalid URL".to_owned()))
}

/// The certificates of the system, or of `SSL_CERT_FILE` and `SSL_CERT_DIR`.
fn tls() -> Result<TlsConfig, FetchError> {
    let found = rustls_native_certs::load_native_certs();
    let roots: Vec<Certificate<'static>> =
        found.certs.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    if roots.is_empty() {
        return Err(FetchError::Other(
            "no root certificates are installed; SSL_CERT_FILE can name some".to_owned(),
        ));
    }
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}

/// Looks names up and refuses them if any of their addresses is special. ureq connects to what this
/// returns and to nothing else, so a name server that changes its mind gains nothing.
#[derive(Debug)]
struct Guard {
    allow_private: bool,
    /// The proxy is chosen by whoever runs us and may be anywhere.
    proxy: Option<(String, u16)>,
    look_up: LookUp,
}

impl Guard {
    fn judge(&self, addresses: &[SocketAddr]) -> Result<(), FetchError> {
        if !self.allow_private && addresses.iter().any(|address| is_special(address.ip())) {
            return Err(FetchError::Refused);
        }
        Ok(())
    }
}

impl Resolver for Guard {
    fn resolve(
        &self,
        uri: &Uri,
        _: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().unwrap_or_default();
        let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let port = uri.port_u16().unwrap_or(default);
        let found = (self.look_up)(format!("{host}:{port}"), *timeout.after).map_err(into_ureq)?;
        let is_proxy =
            self.proxy.as_ref().is_some_and(|(name, number)| name == host && *number == port);
        if !is_proxy {
            self.judge(&found).map_err(into_ureq)?;
        }
        let mut addresses = self.empty();
        for address in found.into_iter().take(16) {
            addresses.push(address);
        }
        Ok(addresses)
    }
}

fn into_ureq(error: FetchError) -> ureq::Error {
    ureq::Error::Other(Box::new(error))
}

/// Looks up `host:port`. The system's resolver knows no deadline, so it works in a thread that may
/// be left behind.
pub(crate) fn look_up(name: String, left: Duration) -> Result<Vec<SocketAddr>, FetchError> {
    if let Ok(address) = name.parse::<SocketAddr>() {
        return Ok(vec![address]);
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        sender.send(name.to_socket_addrs().map(|found| found.collect::<Vec<_>>()))
    });
    match receiver.recv_timeout(left) {
        Ok(Ok(found)) if !found.is_empty() => Ok(found),
        Ok(_) => Err(FetchError::Other("the host is not known".to_owned())),
        Err(_) => Err(FetchError::Timeout),
    }
}

impl From<ureq::Error> for FetchError {
    fn from(error: ureq::Error) -> FetchError {
        use std::io::ErrorKind;
        let say = |text: &dyn fmt::Display| FetchError::Other(text.to_string());
        match error {
            ureq::Error::Timeout(_) => FetchError::Timeout,
            ureq::Error::Other(inner) => match inner.downcast::<FetchError>() {
                Ok(ours) => *ours,
                Err(_) => say(&"the request failed"),
            },
            ureq::Error::Io(error) => match error.kind() {
                ErrorKind::TimedOut | ErrorKind::WouldBlock => FetchError::Timeout,
                ErrorKind::ConnectionRefused => say(&"connection refused"),
                ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe => say(&"connection reset"),
                ErrorKind::UnexpectedEof => say(&"the connection was closed too early"),
                // ureq hides its own errors, and rustls' errors, in those of reading.
                _ => match error.downcast::<ureq::Error>() {
                    Ok(ureq::Error::Io(inner)) => say(&inner),
                    Ok(inner) => inner.into(),
                    Err(error) => say(&error),
                },
            },
            ureq::Error::HostNotFound => say(&"the host is not known"),
            ureq::Error::ConnectionFailed => say(&"no connection"),
            ureq::Error::LargeResponseHeader(..) => say(&"the headers of the answer are too large"),
            ureq::Error::Protocol(error) => say(&format!("the answer is not HTTP: {error}")),
            ureq::Error::Tls(error) => say(&error),
            ureq::Error::Rustls(error) => say(&error),
            ureq::Error::Decompress(name, _) => {
                say(&format!("the answer is not {name}, as it says"))
            }
            ureq::Error::ConnectProxyFailed(_) => say(&"the proxy refuses to connect"),
            ureq::Error::BodyStalled => say(&"the connection was closed too early"),
            _ => say(&"the request failed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Client, Config, FetchError, Guard, NextTimeout, Proxies, Request, Resolver, look_up,
    };
    use url::Url;

    #[test]
    fn one_special_answer_among_public_ones_is_enough_to_refuse() {
        let guard = Guard { allow_private: false, proxy: None, look_up };
        let public = "93.184.216.34:80".parse().unwrap();
        let private = "10.0.0.7:80".parse().unwrap();
        assert!(guard.judge(&[public]).is_ok());
        assert!(matches!(guard.judge(&[public, private]), Err(FetchError::Refused)));
        let open = Guard { allow_private: true, proxy: None, look_up };
        assert!(open.judge(&[public, private]).is_ok());
    }

    #[test]
    fn a_name_with_a_public_and_a_private_answer_is_not_asked() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        server.set_nonblocking(true).unwrap();
        let url =
            Url::parse(&format!("http://two.example:{}/", server.local_addr().unwrap().port()))
                .unwrap();
        let client = Client {
            allow_private: false,
            trust_proxy: false,
            proxies: &Proxies::default(),
            deadline: std::time::Instant::now() + std::time::Duration::from_secs(20),
            max_bytes: 1 << 20,
            look_up: |name, _| {
                let port = name.rsplit(':').next().unwrap();
                Ok(["93.184.216.34", "127.0.0.1"]
                    .map(|ip| format!("{ip}:{port}").parse().unwrap())
                    .to_vec())
            },
        };
        let error =
            client.get(&Request { url: &url, headers: &[], check: |_| Ok(()) }).unwrap_err();
        assert!(matches!(error, FetchError::Refused), "{error}");
        assert_eq!(server.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_name_is_judged_by_its_addresses() {
        let uri = ureq::http::Uri::from_static("http://localhost:9/");
        let left = NextTimeout {
            after: std::time::Duration::from_secs(20).into(),
            ..NextTimeout::default()
        };
        let guard = |proxy| Guard { allow_private: false, proxy, look_up };
        let error = guard(None).resolve(&uri, &Config::default(), left).unwrap_err();
        assert!(matches!(FetchError::from(error), FetchError::Refused));
        // The proxy may be anywhere.
        let proxy = guard(Some(("localhost".to_owned(), 9)));
        assert!(!proxy.resolve(&uri, &Config::default(), left).unwrap().is_empty());
    }

    #[test]
    fn proxies_are_chosen_by_scheme_and_host() {
        let set = |name: &str| match name {
            "HTTP_PROXY" => Some("http://one:1".to_owned()),
            "https_proxy" => Some("http://two:2".to_owned()),
            "NO_PROXY" => Some("example.com, .local ,10.0.0.1".to_owned()),
            _ => None,
        };
        let proxies = Proxies::from_variables(&set);
        for (url, expected) in [
            ("http://a/", Some("http://one:1")),
            ("https://a/", Some("http://two:2")),
            ("http://example.com/", None),
            ("http://www.example.com/", None),
            ("http://notexample.com/", Some("http://one:1")),
            ("http://printer.local/", None),
            ("https://10.0.0.1/", None),
        ] {
            assert_eq!(proxies.of(&Url::parse(url).unwrap()), expected, "{url}");
        }
        let all = |name: &str| (name == "ALL_PROXY").then(|| "http://all:3".to_owned());
        assert_eq!(
            Proxies::from_variables(&all).of(&Url::parse("https://a/").unwrap()),
            Some("http://all:3")
        );
    }
}
