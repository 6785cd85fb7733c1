//! Agents over streamable HTTP, at `/mcp`. Bound to loopback there is no token, but the `Host` and
//! `Origin` of every request are checked, so that no web page can reach it through a browser;
//! anywhere else every request must carry the token.

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
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use crate::Agent;
use crate::sessions::Sessions;
use crate::stdio::GRACE;

/// How long a client may take to send its headers.
const HEADERS: Duration = Duration::from_secs(10);
/// How long a client may take to send its body.
const WHOLE_BODY: Duration = Duration::from_secs(30);
/// How long answers may take to be sent when the server ends.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// What a client is told when there are too many.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
/// Connections at once.
const CONNECTIONS: usize = 1024;
/// Bytes of a request.
const BODY: usize = 4 << 20;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The address is taken, or not ours.
    #[error("cannot listen on `{0}`: {1}")]
    Listen(String, std::io::Error),
    /// Open to others, but not to everybody.
    #[error("`{0}` can be reached from other machines, so a token is needed")]
    NoToken(SocketAddr),
}

/// A server that listens.
pub struct Http {
    listener: TcpListener,
    address: SocketAddr,
    token: Option<String>,
}

/// What JSON-RPC says to a body that is no JSON.
const NOT_JSON: &str =
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body is not JSON"}}"#;

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

impl Http {
    /// Listens on `address`. Without a token only loopback addresses will do.
    ///
    /// # Errors
    /// If the address cannot be listened on, or needs a token.
    pub async fn bind(address: &str, token: Option<String>) -> Result<Http, HttpError> {
        let failed = |error| HttpError::Listen(address.to_owned(), error);
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        if !address.ip().is_loopback() && token.is_none() {
            return Err(HttpError::NoToken(address));
        }
        Ok(Http { listener, address, token })
    }

    /// Where agents find it.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves until `until`; calls that are under way then have a moment to end.
    pub async fn serve(self, agent: Agent, until: CancellationToken) {
        let closing = CancellationToken::new();
        let sessions = Arc::new(Sessions::new(agent.clone()));
        let inner = self.service(agent.clone(), &sessions, &closing);
        let service = Arc::new(Mcp { inner, sessions, hosts: self.hosts(), token: self.token });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADERS);
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let mut stream = tokio::select! {
                () = until.cancelled() => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(_) => {
                        // Out of descriptors, most likely: let some connections end.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
            };
            let _ = stream.set_nodelay(true);
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                // It fits into the socket's buffer, or nobody reads it.
                let _ =
                    tokio::time::timeout(Duration::from_millis(10), stream.write_all(FULL)).await;
                continue;
            };
            let service = Arc::clone(&service);
            let service =
                hyper::service::service_fn(move |request| Arc::clone(&service).answer(request));
            let connection =
                graceful.watch(builder.serve_connection(TokioIo::new(stream), service));
            tokio::spawn(async move {
                // What goes wrong on one connection is its client's business.
                let _ = connection.await;
                drop(place);
            });
        }
        drop(self.listener);
        agent.idle(GRACE).await;
        // Answers are sent a moment after their calls; streams that only listen never end by
        // themselves.
        let _ = tokio::time::timeout(LAST_WORDS, graceful.shutdown()).await;
        closing.cancel();
    }

    /// What clients on this machine call it.
    fn hosts(&self) -> [String; 4] {
        let (ip, port) = (self.address.ip(), self.address.port());
        let own = if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() };
        ["127.0.0.1", "localhost", "[::1]", own.as_str()].map(|host| format!("{host}:{port}"))
    }

    fn service(
        &self,
        agent: Agent,
        sessions: &Arc<Sessions>,
        closing: &CancellationToken,
    ) -> StreamableHttpService<Agent, Sessions> {
        let ip = self.address.ip();
        let origins = self.hosts().map(|host| format!("http://{host}"));
        let mut config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_cancellation_token(closing.clone())
            .with_allowed_hosts(["127.0.0.1", "localhost", "::1", ip.to_string().as_str()])
            .with_allowed_origins(origins)
            .with_max_request_body_bytes(BODY);
        if !self.address.ip().is_loopback() {
            // Under which name others reach this machine is not known; the token protects it.
            config = config.disable_allowed_hosts();
        }
        StreamableHttpService::new(move || Ok(agent.clone()), Arc::clone(sessions), config)
    }
}

struct Mcp {
    inner: StreamableHttpService<Agent, Sessions>,
    sessions: Arc<Sessions>,
    hosts: [String; 4],
    token: Option<String>,
}

impl Mcp {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Answer, Infallible> {
        if request.uri().path() != "/mcp" {
            return Ok(say(StatusCode::NOT_FOUND, "nothing is here; MCP is at /mcp"));
        }
        if let Some(token) = &self.token
            && !carries(&request, token)
        {
            let mut answer = say(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
            let challenge = HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            return Ok(answer);
        }
        let ends_session = request.method() == Method::DELETE;
        let is_post = request.method() == Method::POST;
        let (parts, body) = request.into_parts();
        let body = match tokio::time::timeout(WHOLE_BODY, Limited::new(body, BODY).collect()).await
        {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                return Ok(say(StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 4 MiB"));
            }
            Ok(Err(_)) => return Ok(say(StatusCode::BAD_REQUEST, "the body broke off")),
            Err(_) => {
                return Ok(say(
                    StatusCode::REQUEST_TIMEOUT,
                    "the body did not come within 30 seconds",
                ));
            }
        };
        if is_post
            && self.is_plainly_local(&parts.headers)
            && let Some(answer) = self.sessions.answer(&parts.headers, &body).await
        {
            return Ok(answer);
        }
        if is_post && serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_err() {
            let mut answer = say(StatusCode::BAD_REQUEST, NOT_JSON);
            let kind = HeaderValue::from_static("application/json");
            answer.headers_mut().insert(header::CONTENT_TYPE, kind);
            return Ok(answer);
        }
        let request = Request::from_parts(parts, Full::new(body));
        let mut answer = Service::call(&mut self.inner.clone(), request).await?;
        // rmcp says 202 where a session is over; clients expect that it is done.
        if ends_session && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        Ok(answer)
    }
}

impl Mcp {
    /// Whether a request names this server as clients on this machine do, and comes from no web
    /// page.
    fn is_plainly_local(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
        !headers.contains_key(header::ORIGIN)
            && host.is_some_and(|host| self.hosts.iter().any(|own| own.as_bytes() == host))
    }
}

fn say(status: StatusCode, text: &'static str) -> Answer {
    let body = Full::new(Bytes::from_static(text.as_bytes())).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

/// Whether the request carries the token. Takes as long for a near miss as for a wild guess.
fn carries(request: &Request<Incoming>, token: &str) -> bool {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some((scheme, given)) = given.and_then(|value| value.split_once(' ')) else { return false };
    let (given, token) = (given.trim().as_bytes(), token.as_bytes());
    let differing = given.iter().zip(token).fold(0, |sum, (a, b)| sum | (a ^ b));
    scheme.eq_ignore_ascii_case("bearer") && given.len() == token.len() && differing == 0
}
