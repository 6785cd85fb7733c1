//! Streamable HTTP at `/mcp`: connections and limits. What a request means is decided in
//! `http_endpoint`, who may send it in `access_control`.
//!
//! ```text
//! accept ─▶ 1024 connections? ─▶ path ─▶ token ─▶ Host, Origin ─▶ body (24 MiB, 30 s) ─▶ endpoint
//!             503                 404      401        403             413, 408
//! ```
//!
//! `/healthz` answers while the process is up, `/readyz` once every source was tried. There is no
//! TLS here; a proxy adds it where it is needed.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use toolwright_mcp::MAX_MESSAGE;

use crate::Gateway;
use crate::access_control::AccessControl;
use crate::busy_polling::BusyPolling;
use crate::http_endpoint::McpEndpoint;
use crate::http_sessions::HttpSessions;
use crate::stdio_server::GRACE;
use crate::write_deadline::{WRITE_TIMEOUT, WriteDeadline};

/// How long a client may take to send its headers, also of a further request on a connection. So
/// idle connections are closed after this time.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long responses may take to be sent when the server ends.
const SEND_TIMEOUT: Duration = Duration::from_millis(500);
/// How many connections may be open at once.
const MAX_CONNECTIONS: usize = 1024;
/// How often idle sessions are looked for, at least.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// The whole response to a connection beyond [`MAX_CONNECTIONS`], which hyper never sees.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

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
    agents: AgentTokens,
}

/// Whether the configuration has agents with tokens of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentTokens {
    /// It has none.
    None,
    /// It has at least one.
    Some,
}

/// The body of a response.
pub(crate) type HttpBody = UnsyncBoxBody<Bytes, Infallible>;
/// A response of this crate.
pub(crate) type HttpResponse = Response<HttpBody>;

impl HttpServer {
    /// Listens on `address`. Without a token, a shared one or those of agents, only loopback
    /// addresses are accepted.
    ///
    /// # Errors
    /// If the address is not usable, or needs a token.
    ///
    /// Port 0 stands for any free port; `url` has the one that was chosen.
    pub async fn bind(
        address: &str,
        token: Option<String>,
        agents: AgentTokens,
    ) -> Result<HttpServer, HttpError> {
        let failed = |error| HttpError::Listen(address.to_owned(), error);
        // Bound before the check, because only then a name such as `localhost` is an address.
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        if !address.ip().is_loopback() && token.is_none() && agents == AgentTokens::None {
            return Err(HttpError::NoToken(address));
        }
        Ok(HttpServer { listener, address, token, agents })
    }

    /// The URL for clients, with the port that was chosen for port 0.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves until `until` is cancelled. Running calls then have `GRACE` to finish.
    ///
    /// A connection has a permit until it is closed, whether it is used or idle. `WriteDeadline`
    /// closes one whose client does not read.
    pub async fn serve(self, gateway: Gateway, until: CancellationToken) {
        let access = AccessControl::new(self.address, self.token, self.agents, gateway.options());
        let sessions = Arc::new(HttpSessions::new(gateway.clone()));
        gateway.start_notifications(&until);
        tokio::spawn(sweep_sessions(Arc::clone(&sessions), until.clone()));
        let endpoint = McpEndpoint::new(gateway.clone(), sessions);
        let wakeful = Arc::new(BusyPolling::new());
        tokio::spawn({
            let (wakeful, gateway, until) = (Arc::clone(&wakeful), gateway.clone(), until.clone());
            async move { until.run_until_cancelled(wakeful.run(&gateway)).await }
        });
        let service = Arc::new(HttpService { endpoint, access, gateway: gateway.clone(), wakeful });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
        // Lets connections finish their current response at the end.
        let graceful = GracefulShutdown::new();
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        while let Some(mut stream) = accept(&self.listener, &until).await {
            // Events are small and must not wait for more data.
            let _ = stream.set_nodelay(true);
            let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else {
                // The response fits into the socket's buffer, so this does not block in practice.
                let refusal = stream.write_all(TOO_MANY_CONNECTIONS);
                let _ = tokio::time::timeout(Duration::from_millis(10), refusal).await;
                continue;
            };
            let service = Arc::clone(&service);
            let answer =
                hyper::service::service_fn(move |request| Arc::clone(&service).answer(request));
            let stream = TokioIo::new(WriteDeadline::new(stream, WRITE_TIMEOUT));
            let connection = graceful.watch(builder.serve_connection(stream, answer));
            tokio::spawn(async move {
                // An error here is a client that broke the protocol, went away or does not read.
                let _ = connection.await;
                drop(permit);
            });
        }
        // New connections are refused from here on; open ones finish their calls.
        drop(self.listener);
        gateway.wait_until_idle(GRACE).await;
        // A response is sent a moment after its call. Streams that only wait for notifications
        // never end by themselves, so they are cut off.
        let _ = tokio::time::timeout(SEND_TIMEOUT, graceful.shutdown()).await;
    }
}

/// The next connection; `None` when the server ends.
async fn accept(listener: &TcpListener, until: &CancellationToken) -> Option<TcpStream> {
    loop {
        tokio::select! {
            () = until.cancelled() => return None,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => return Some(stream),
                // Most likely out of file descriptors. Without a pause this would be a busy loop
                // until some connections end.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
}

/// Ends idle sessions, again and again.
async fn sweep_sessions(sessions: Arc<HttpSessions>, until: CancellationToken) {
    let interval = sessions.session_idle().clamp(Duration::from_millis(100), SWEEP_INTERVAL);
    while until.run_until_cancelled(tokio::time::sleep(interval)).await.is_some() {
        sessions.sweep();
    }
}

/// Answers the requests of all connections.
struct HttpService {
    endpoint: McpEndpoint,
    access: AccessControl,
    gateway: Gateway,
    /// Keeps a worker thread awake for a moment after each request.
    wakeful: Arc<BusyPolling>,
}

impl HttpService {
    /// Answers one request, and lets the web page that sent it read the answer if its origin is
    /// configured.
    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<HttpResponse, Infallible> {
        self.wakeful.stay_awake(&self.gateway);
        let checked = self.access.check(request.uri(), request.headers());
        let origin = self.access.page_elsewhere(request.headers()).filter(|_| checked.is_ok());
        let mut response = match (&origin, request.method()) {
            // Browsers ask before they send a request with such a body, and without the token.
            (Some(_), &Method::OPTIONS) => preflight_response(request.headers()),
            _ => self.answer_checked(request, checked).await,
        };
        if let Some(origin) = origin {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            let exposed = HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate");
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
            headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        }
        // A client often sends its next request when it has read this answer.
        self.wakeful.stay_awake(&self.gateway);
        Ok(response)
    }

    /// Answers one request. The token is checked before the body is read, so that strangers cannot
    /// make us read megabytes.
    ///
    /// ```text
    /// path     404, or the answer of `/healthz` and `/readyz`, which need no token
    /// token    401
    /// checked  the answer of `AccessControl::check`: 403 for `Host` and `Origin`
    /// body     413, 408, 400
    /// ```
    async fn answer_checked(
        &self,
        request: Request<Incoming>,
        checked: Result<(), (StatusCode, &'static str)>,
    ) -> HttpResponse {
        match request.uri().path() {
            "/mcp" => {}
            "/healthz" => return text_response(StatusCode::OK, "ok"),
            "/readyz" => {
                return match self.gateway.catalog().all_sources_tried() {
                    true => text_response(StatusCode::OK, "ready"),
                    false => {
                        text_response(StatusCode::SERVICE_UNAVAILABLE, "sources are still loading")
                    }
                };
            }
            _ => {
                let message = "there is nothing at this path; MCP is at /mcp";
                return text_response(StatusCode::NOT_FOUND, message);
            }
        }
        // Read every time: the configuration may have changed.
        let agents = self.gateway.catalog().policy().map(|policy| policy.agent_tokens());
        let agents = agents.unwrap_or_default();
        let Some(agent) = self.access.agent_of(request.headers(), &agents) else {
            let message = "the token is missing or wrong";
            let mut response = text_response(StatusCode::UNAUTHORIZED, message);
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            return response;
        };
        if let Err((status, message)) = checked {
            return text_response(status, message);
        }
        let (parts, body) = request.into_parts();
        match read_body(body).await {
            Ok(body) => self.endpoint.answer(&parts, &body, &agent).await,
            Err(response) => response,
        }
    }
}

/// Tells a browser that the request it is about to send is accepted. Which headers it may have is
/// of no interest: they are checked when they arrive.
fn preflight_response(headers: &HeaderMap) -> HttpResponse {
    let mut response = text_response(StatusCode::NO_CONTENT, "");
    let own = response.headers_mut();
    own.remove(header::CONTENT_TYPE);
    let methods = HeaderValue::from_static("GET, POST, DELETE");
    own.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    if let Some(wanted) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        own.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    own.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Reads a whole body within the limits. The error is the response to send instead.
///
/// ```text
/// larger than 24 MiB     413
/// not there after 30 s   408
/// cut off                400
/// ```
async fn read_body(body: Incoming) -> Result<Bytes, HttpResponse> {
    let body = Limited::new(body, MAX_MESSAGE).collect();
    match tokio::time::timeout(BODY_TIMEOUT, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("a request must not be larger than {} MiB", MAX_MESSAGE >> 20);
            Err(text_response(StatusCode::PAYLOAD_TOO_LARGE, message))
        }
        Ok(Err(_)) => Err(text_response(StatusCode::BAD_REQUEST, "the body is incomplete")),
        Err(_) => {
            let message =
                format!("the body did not arrive within {} seconds", BODY_TIMEOUT.as_secs());
            Err(text_response(StatusCode::REQUEST_TIMEOUT, message))
        }
    }
}

/// A response with a sentence for people.
pub(crate) fn text_response(status: StatusCode, text: impl Into<Bytes>) -> HttpResponse {
    response(status, "text/plain; charset=utf-8", text.into())
}

/// A response with a message of the protocol.
pub(crate) fn json_response(status: StatusCode, message: Bytes) -> HttpResponse {
    response(status, "application/json", message)
}

/// A response with one whole body.
fn response(status: StatusCode, kind: &'static str, body: Bytes) -> HttpResponse {
    let mut response = Response::new(Full::new(body).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
