//! One HTTP request, on ureq.
//!
//! This file adds to ureq: a resolver that refuses special addresses, the system's certificates,
//! limits on headers and body, and one deadline for everything.
//!
//! There is no async runtime here. Each tool is a process that makes a few requests one after the
//! other, and its start should cost as little as possible.

use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use ureq::config::Config;
use ureq::http::{HeaderValue, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;
use url::Url;

use super::error::FetchError;
use super::proxy::ProxySettings;
use super::resolver::{GuardedResolver, HostLookup};

/// Bytes of all headers of a response together.
const MAX_HEADER_BYTES: usize = 64 << 10;
/// Bytes of a body that are read between two checks of the deadline.
const CHUNK: usize = 64 << 10;
/// Names the program, so that the owner of a server can recognise its requests.
pub(crate) const USER_AGENT: &str = concat!("toolwright-web/", env!("CARGO_PKG_VERSION"));

/// A GET request.
pub(crate) struct FetchRequest<'a> {
    pub(crate) url: &'a Url,
    /// Names and values, beside those that every request has.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    /// Called with status and headers; an error keeps the body from being read.
    pub(crate) check: fn(&FetchResponse) -> Result<(), FetchError>,
}

/// The response to a request. Redirects have no body.
#[derive(Debug)]
pub(crate) struct FetchResponse {
    pub(crate) status: u16,
    headers: ureq::http::HeaderMap,
    /// After decompression.
    pub(crate) body: Vec<u8>,
}

impl FetchResponse {
    /// The first header of this name, if it is ASCII.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The first header of this name, whatever bytes it has.
    pub(crate) fn header_bytes(&self, name: &str) -> Option<&[u8]> {
        self.headers.get(name).map(|value| value.as_bytes())
    }
}

/// Makes requests within limits.
pub(crate) struct FetchClient<'a> {
    /// Whether special addresses may be connected to.
    pub(crate) allow_private: bool,
    /// Whether the proxy alone decides which addresses may be connected to.
    pub(crate) trust_proxy: bool,
    pub(crate) proxies: &'a ProxySettings,
    /// The `User-Agent` of the requests.
    pub(crate) user_agent: &'a str,
    /// When the body has to be there.
    pub(crate) deadline: Instant,
    /// Bytes of a body, after decompression.
    pub(crate) max_bytes: usize,
    /// `resolver::look_up_host`, except in tests.
    pub(crate) look_up_host: HostLookup,
}

impl FetchClient<'_> {
    /// Sends a GET request. Every status is a response; only the request's `check` makes errors of
    /// them.
    pub(crate) fn get(&self, request: &FetchRequest) -> Result<FetchResponse, FetchError> {
        // Redirects and Google's requests share one deadline, so this one may have no time left.
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(FetchError::Timeout);
        }
        if HeaderValue::from_str(self.user_agent).is_err() {
            return Err(FetchError::Other(
                "the user agent has characters that HTTP does not allow".to_owned(),
            ));
        }
        let proxy = self.proxies.proxy_for(request.url);
        let proxy = proxy.map(|proxy| proxy_of(proxy, self.trust_proxy)).transpose()?;
        let resolver = GuardedResolver {
            allow_private: self.allow_private || (self.trust_proxy && proxy.is_some()),
            proxy: proxy.as_ref().map(|proxy| (proxy.host().to_owned(), proxy.port())),
            look_up_host: self.look_up_host,
        };
        // With a proxy, ureq looks up the proxy's name only, so the target's is checked here.
        if proxy.is_some() && !self.trust_proxy && !self.allow_private {
            let host = request.url.host_str().unwrap_or_default();
            let port = request.url.port_or_known_default().unwrap_or_default();
            resolver.check(&(self.look_up_host)(format!("{host}:{port}"), left)?)?;
        }
        let proxy_needs_tls =
            proxy.as_ref().is_some_and(|proxy| proxy.protocol() == ureq::ProxyProtocol::Https);
        let config = Config::builder()
            // `fetch` follows redirects, because each target has to be checked; searches do not
            // follow any, because they would send the key to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // The caller needs the headers and the body of errors, too.
            .http_status_as_error(false)
            .max_response_header_size(MAX_HEADER_BYTES)
            .user_agent(self.user_agent)
            .proxy(proxy)
            .timeout_global(Some(left));
        // Reading the certificates takes a few milliseconds, so it is done for `https` only.
        let needs_tls = request.url.scheme() == "https" || proxy_needs_tls;
        let config = if needs_tls { config.tls_config(tls_config()?) } else { config };
        let agent = ureq::Agent::with_parts(config.build(), DefaultConnector::default(), resolver);
        // The resolver and the proxy are parts of an agent and depend on the URL, so each request
        // has an agent of its own. Connections are therefore not reused.
        let mut call = agent.get(uri(request.url)?);
        for (name, value) in request.headers {
            call = call.header(*name, *value);
        }
        let (parts, body) = call.call()?.into_parts();
        let mut response = FetchResponse {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: Vec::new(),
        };
        (request.check)(&response)?;
        // The body of a redirect is never shown, and could be endless.
        if !(300..400).contains(&response.status) {
            response.body = self.read_body(&response, body)?;
        }
        Ok(response)
    }

    /// Reads a body, decompressing it, up to the limit.
    fn read_body(&self, response: &FetchResponse, body: ureq::Body) -> Result<Vec<u8>, FetchError> {
        let too_large = || {
            FetchError::Other(format!("the response is larger than {} MiB", self.max_bytes >> 20))
        };
        // A body that declares its size is refused before it is read. The limit is checked while
        // reading as well, since chunked and compressed bodies declare nothing useful.
        if body.content_length().is_some_and(|length| length > self.max_bytes as u64) {
            return Err(too_large());
        }
        // ureq decompresses `gzip` and `br` itself and removes the header then. It does not
        // recognise other spellings that servers use, such as `x-gzip` or upper case.
        let encoding =
            response.header("content-encoding").unwrap_or_default().trim().to_ascii_lowercase();
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
            // Checked here as well as in ureq: a server that sends one byte now and then must not
            // be able to prolong the total.
            if Instant::now() >= self.deadline {
                return Err(FetchError::Timeout);
            }
            let count = reader
                .read(&mut chunk)
                .map_err(|error| FetchError::from(ureq::Error::from(error)))?;
            if count == 0 {
                return Ok(bytes);
            }
            // Counts decompressed bytes, so a small response that expands to gigabytes ends here.
            if bytes.len() + count > self.max_bytes {
                return Err(too_large());
            }
            bytes.extend_from_slice(&chunk[..count]);
        }
    }
}

/// Reads the URL of a proxy, as the variables have it.
///
/// With SOCKS, the client decides whether it sends the proxy a name or an address. The address is
/// the one that was checked, so it is sent, whichever of `socks5` and `socks5h` the user wrote;
/// only a proxy that decides by itself gets the name.
fn proxy_of(text: &str, trust_proxy: bool) -> Result<ureq::Proxy, FetchError> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let scheme = match (scheme.to_ascii_lowercase().as_str(), trust_proxy) {
        ("socks" | "socks5" | "socks5h", false) => "socks5",
        ("socks" | "socks5" | "socks5h", true) => "socks5h",
        ("socks4" | "socks4a", false) => "socks4",
        ("socks4" | "socks4a", true) => "socks4a",
        ("http", _) => "http",
        ("https", _) => "https",
        (other, _) => {
            return Err(FetchError::Other(format!(
                "proxies with `{other}` URLs are not supported, only `http`, `https`, `socks5` and \
                 `socks4`"
            )));
        }
    };
    // The URL may contain a password, so the message does not repeat it.
    ureq::Proxy::new(&format!("{scheme}://{rest}"))
        .map_err(|_| FetchError::Other("the proxy's URL is invalid".to_owned()))
}

/// Converts a URL for ureq, whose `http::Uri` is stricter than the `url` crate: some characters
/// that browsers send as they are have to be percent-encoded.
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

/// TLS with the certificates of the system, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name.
/// No certificates are compiled in: they would be outdated one day, and would ignore what the
/// owner of the machine has decided.
fn tls_config() -> Result<TlsConfig, FetchError> {
    // Single certificates that cannot be read are skipped, as in other clients.
    let found = rustls_native_certs::load_native_certs();
    let roots: Vec<Certificate<'static>> =
        found.certs.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    if roots.is_empty() {
        return Err(FetchError::Other(
            "no root certificates are installed; set SSL_CERT_FILE to a file of them".to_owned(),
        ));
    }
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{FetchClient, FetchError, FetchRequest, Instant, ProxySettings, Url};

    #[test]
    fn a_name_with_a_public_and_a_private_address_is_not_connected_to() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        server.set_nonblocking(true).unwrap();
        let url =
            Url::parse(&format!("http://two.example:{}/", server.local_addr().unwrap().port()))
                .unwrap();
        let client = FetchClient {
            allow_private: false,
            trust_proxy: false,
            proxies: &ProxySettings::default(),
            user_agent: super::USER_AGENT,
            deadline: Instant::now() + Duration::from_secs(60),
            max_bytes: 1 << 20,
            look_up_host: |name, _| {
                let port = name.rsplit(':').next().unwrap();
                Ok(["93.184.216.34", "127.0.0.1"]
                    .map(|ip| format!("{ip}:{port}").parse().unwrap())
                    .to_vec())
            },
        };
        let error =
            client.get(&FetchRequest { url: &url, headers: &[], check: |_| Ok(()) }).unwrap_err();
        assert!(matches!(error, FetchError::Refused), "{error}");
        assert_eq!(server.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    }
}
