//! Streamable HTTP at `/mcp`: connections, access control and limits. What a request means is
//! decided in `http_sessions` and in rmcp's service.
//!
//! ```text
//! accept ─▶ 1024 connections? ─▶ path ─▶ token ─▶ body (4 MiB, 30 s) ─┬─▶ HttpSessions::answer
//!             503                 404      401      413, 408          └─▶ rmcp's service
//! ```
//!
//! Without a token only loopback addresses are served, and rmcp checks `Host` and `Origin` of every
//! request, so that a web page cannot reach the server through a browser on this machine (DNS
//! rebinding). On other addresses every request must carry the token. There is no TLS here; a proxy
//! adds it where it is needed.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use subtle::ConstantTimeEq;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use crate::McpHandler;
use crate::handler::RequestedArguments;
use crate::http_sessions::HttpSessions;
use crate::stdio_server::GRACE;

/// How long a client may take to send its headers, also of a further request on a connection. So
/// idle connections are closed after this time.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long responses may take to be sent when the server ends.
const SEND_TIMEOUT: Duration = Duration::from_millis(500);
/// How many connections may be open at once.
const MAX_CONNECTIONS: usize = 1024;
/// The largest body of a request, in bytes.
const MAX_BODY: usize = 4 << 20;
/// The whole response to a connection beyond [`MAX_CONNECTIONS`], which hyper never sees.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
/// The JSON-RPC error for a body that is not JSON. rmcp would answer with plain text.
const PARSE_ERROR: &str =
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body is not JSON"}}"#;

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The address is malformed, in use, or not one of this machine.
    #[error("cannot listen on `{0}`: {1}")]
    Listen(String, std::io::Error),
    /// Other machines can reach the address, and there is no token to protect it.
    #[error("`{0}` can be reached from other machines, so a token is needed")]
    NoToken(SocketAddr),
}

/// A server that listens and does not serve yet.
pub struct HttpServer {
    listener: TcpListener,
    /// The address it listens on, with the real port.
    address: SocketAddr,
    token: Option<String>,
}

/// A response of this crate: the same type as that of rmcp's service.
pub(crate) type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

impl HttpServer {
    /// Listens on `address`. Without a token only loopback addresses are accepted.
    ///
    /// # Errors
    /// If the address is not usable, or needs a token.
    pub async fn bind(address: &str, token: Option<String>) -> Result<HttpServer, HttpError> {
        let failed = |error| HttpError::Listen(address.to_owned(), error);
        // Bound before the check, because only then a name such as `localhost` is an address.
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        if !address.ip().is_loopback() && token.is_none() {
            return Err(HttpError::NoToken(address));
        }
        Ok(HttpServer { listener, address, token })
    }

    /// The URL for clients, with the port that was chosen for port 0.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves until `until` is cancelled. Running calls then have `GRACE` to finish.
    pub async fn serve(self, handler: McpHandler, until: CancellationToken) {
        let closing = CancellationToken::new();
        let sessions = Arc::new(HttpSessions::new(handler.clone()));
        let rmcp = self.rmcp_service(handler.clone(), &sessions, &closing);
        let endpoint =
            Arc::new(McpEndpoint { rmcp, sessions, hosts: self.local_hosts(), token: self.token });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
        // Lets connections finish their current response at the end.
        let graceful = GracefulShutdown::new();
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let mut stream = tokio::select! {
                () = until.cancelled() => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(_) => {
                        // Most likely out of file descriptors. Without a pause this would be a
                        // busy loop until some connections end.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
            };
            // Events are small and must not wait for more data.
            let _ = stream.set_nodelay(true);
            let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else {
                // The response fits into the socket's buffer, so this does not block in practice.
                let refusal = stream.write_all(TOO_MANY_CONNECTIONS);
                let _ = tokio::time::timeout(Duration::from_millis(10), refusal).await;
                continue;
            };
            let endpoint = Arc::clone(&endpoint);
            let service =
                hyper::service::service_fn(move |request| Arc::clone(&endpoint).answer(request));
            let connection =
                graceful.watch(builder.serve_connection(TokioIo::new(stream), service));
            tokio::spawn(async move {
                // An error here is a client that broke the protocol or went away.
                let _ = connection.await;
                drop(permit);
            });
        }
        // New connections are refused from here on; open ones finish their calls.
        drop(self.listener);
        handler.wait_until_idle(GRACE).await;
        // A response is sent a moment after its call. Streams that only wait for notifications
        // never end by themselves, so they are cut off.
        let _ = tokio::time::timeout(SEND_TIMEOUT, graceful.shutdown()).await;
        closing.cancel();
    }

    /// The values of `Host` that clients on this machine send.
    fn local_hosts(&self) -> [String; 4] {
        let (ip, port) = (self.address.ip(), self.address.port());
        let own = if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() };
        ["127.0.0.1", "localhost", "[::1]", own.as_str()].map(|host| format!("{host}:{port}"))
    }

    /// rmcp's service for everything that is not on the fast path.
    fn rmcp_service(
        &self,
        handler: McpHandler,
        sessions: &Arc<HttpSessions>,
        closing: &CancellationToken,
    ) -> StreamableHttpService<McpHandler, HttpSessions> {
        let ip = self.address.ip();
        let origins = self.local_hosts().map(|host| format!("http://{host}"));
        // JSON responses instead of an event stream where there is only one message to send.
        let mut config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_cancellation_token(closing.clone())
            .with_allowed_hosts(["127.0.0.1", "localhost", "::1", ip.to_string().as_str()])
            .with_allowed_origins(origins)
            .with_max_request_body_bytes(MAX_BODY);
        if !self.address.ip().is_loopback() {
            // The names under which others reach this machine are unknown. The token, which is
            // required here, protects the server instead.
            config = config.disable_allowed_hosts();
        }
        StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(sessions), config)
    }
}

/// Answers the requests of all connections.
struct McpEndpoint {
    rmcp: StreamableHttpService<McpHandler, HttpSessions>,
    sessions: Arc<HttpSessions>,
    /// See [`HttpServer::local_hosts`].
    hosts: [String; 4],
    token: Option<String>,
}

impl McpEndpoint {
    /// Answers one request. The token is checked before the body is read, so that strangers cannot
    /// make us read megabytes.
    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<HttpResponse, Infallible> {
        if request.uri().path() != "/mcp" {
            let message = "there is nothing at this path; MCP is at /mcp";
            return Ok(text_response(StatusCode::NOT_FOUND, message));
        }
        if let Some(token) = &self.token
            && !has_token(request.headers(), token)
        {
            let message = "the token is missing or wrong";
            let mut response = text_response(StatusCode::UNAUTHORIZED, message);
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            return Ok(response);
        }
        let is_delete = request.method() == Method::DELETE;
        let is_post = request.method() == Method::POST;
        let (mut parts, body) = request.into_parts();
        let body = match read_body(body).await {
            Ok(body) => body,
            Err(response) => return Ok(response),
        };
        if is_post
            && self.is_local_client(&parts.headers)
            && let Some(response) = self.sessions.answer(&parts.headers, &body).await
        {
            return Ok(response);
        }
        if is_post && serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_err() {
            let mut response = text_response(StatusCode::BAD_REQUEST, PARSE_ERROR);
            let kind = HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
            return Ok(response);
        }
        // rmcp's service takes any body type, so the buffered body can be passed on.
        // It parses the arguments of calls; the handler needs their text.
        if let Some(arguments) = RequestedArguments::in_message(&body) {
            parts.extensions.insert(arguments);
        }
        let request = Request::from_parts(parts, Full::new(body));
        let mut response = Service::call(&mut self.rmcp.clone(), request).await?;
        // rmcp answers the end of a session with 202. Clients expect a status that means done.
        if is_delete && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        Ok(response)
    }

    /// Whether `Host` is one of ours and there is no `Origin`, as with every client that is not a
    /// browser. Other requests may be legitimate too, but rmcp decides about them: the rules are
    /// in one place.
    fn is_local_client(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
        !headers.contains_key(header::ORIGIN)
            && host.is_some_and(|host| self.hosts.iter().any(|own| own.as_bytes() == host))
    }
}

/// Reads a whole body within the limits. The error is the response to send instead.
async fn read_body(body: Incoming) -> Result<Bytes, HttpResponse> {
    let body = Limited::new(body, MAX_BODY).collect();
    match tokio::time::timeout(BODY_TIMEOUT, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = "a request must not be larger than 4 MiB";
            Err(text_response(StatusCode::PAYLOAD_TOO_LARGE, message))
        }
        Ok(Err(_)) => Err(text_response(StatusCode::BAD_REQUEST, "the body is incomplete")),
        Err(_) => {
            let message = "the body did not arrive within 30 seconds";
            Err(text_response(StatusCode::REQUEST_TIMEOUT, message))
        }
    }
}

fn text_response(status: StatusCode, text: &'static str) -> HttpResponse {
    let body = Full::new(Bytes::from_static(text.as_bytes())).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Whether the request carries the token. The comparison takes the same time wherever the first
/// difference is, so the token cannot be guessed byte by byte. Its length is not protected.
fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some((scheme, given)) = given.and_then(|value| value.split_once(' ')) else { return false };
    // RFC 9110: authentication schemes are case-insensitive.
    scheme.eq_ignore_ascii_case("bearer")
        && bool::from(given.trim().as_bytes().ct_eq(token.as_bytes()))
}
