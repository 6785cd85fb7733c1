//! The HTTP client for servers behind a URL, and what its errors mean.
//!
//! Redirects stay within one origin, proxies are not used, and no message contains a URL: its query
//! may hold a secret.

use std::sync::Once;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use toolwright_model::Variable;

use super::connect_error::{token_required, unavailable};
use crate::{Failure, code};

/// How long an idle connection is kept. The servers of Node and Python close theirs after five
/// seconds, and a call that is written at that moment fails, because it may have been received.
const KEEP_IDLE: Duration = Duration::from_secs(4);

/// Why an HTTP exchange has no answer.
#[derive(Debug)]
pub(super) enum HttpFailure {
    /// The connection could not be made, or broke.
    Connection(reqwest::Error),
    /// HTTP 401.
    TokenRequired,
    /// HTTP 404 within a session: the session is over.
    SessionExpired,
    /// The server answered something that is not the protocol, in words behind "it answered".
    Unexpected(String),
    /// The stream of the answer ended too early, and could not be resumed.
    StreamEnded,
    /// The server was disconnected, for this reason.
    Disconnected(String),
}

impl From<reqwest::Error> for HttpFailure {
    fn from(error: reqwest::Error) -> HttpFailure {
        HttpFailure::Connection(error.without_url())
    }
}

impl HttpFailure {
    /// A sentence about the error, without URLs and type names.
    fn explain(&self) -> String {
        match self {
            // The innermost cause is an operating system error such as "Connection refused (os
            // error 111)", or a TLS error, which rustls words well.
            HttpFailure::Connection(error) if error.is_connect() => match root_cause(error) {
                cause if cause.contains("Connection refused") => {
                    "no server listens at this address (connection refused)".to_owned()
                }
                cause => cause,
            },
            HttpFailure::Connection(error) if error.is_decode() || error.is_body() => {
                "the connection broke in the middle of the answer".to_owned()
            }
            HttpFailure::Connection(error) => root_cause(error),
            HttpFailure::TokenRequired => "it requires a token".to_owned(),
            HttpFailure::SessionExpired => "it forgets every session at once".to_owned(),
            HttpFailure::Unexpected(text) => format!("it answered {text}"),
            HttpFailure::StreamEnded => {
                "the connection broke in the middle of the answer".to_owned()
            }
            HttpFailure::Disconnected(why) => why.clone(),
        }
    }

    /// The failure of a handshake.
    pub(super) fn while_connecting(&self) -> Failure {
        match self {
            HttpFailure::TokenRequired => token_required(),
            error => unavailable(&error.explain()),
        }
    }

    /// The failure of a request on an open connection.
    pub(super) fn during_request(&self) -> Failure {
        match self {
            HttpFailure::TokenRequired => token_required(),
            error => {
                let message = format!("the call did not get through: {}", error.explain());
                Failure::new(&code::UPSTREAM_UNAVAILABLE, message)
            }
        }
    }
}

/// The text of the innermost cause: the outer layers of reqwest only say that a request failed.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}

/// The client for one server.
///
/// # Errors
/// A sentence, if TLS cannot be set up.
pub(super) fn client() -> Result<reqwest::Client, String> {
    // reqwest is built without a default cryptography provider; rustls has one per process.
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Fails if another part of the program has installed one, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let same_origin = reqwest::redirect::Policy::custom(|attempt| {
        let keeps_body = matches!(attempt.status().as_u16(), 307 | 308);
        let same =
            attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
        // Tokens and the session id in the headers must not reach another origin. The older status
        // codes turn a POST into a GET, which would lose the message.
        if keeps_body && same && attempt.previous().len() < 5 {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    // No proxy from the environment: a configured URL is contacted directly or not at all.
    let client = reqwest::Client::builder()
        .redirect(same_origin)
        .tcp_nodelay(true)
        .pool_idle_timeout(KEEP_IDLE)
        .no_proxy()
        .build();
    client.map_err(|error| format!("the HTTP client cannot be set up: {error}"))
}

/// The configured headers of a source.
///
/// # Errors
/// A sentence, if a name or value is not allowed in HTTP. The value may be a secret and stays out
/// of it.
pub(super) fn configured_headers(headers: &[Variable]) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for Variable { name, value, .. } in headers {
        let key = HeaderName::try_from(name.as_str())
            .map_err(|_| format!("`{name}` is not a valid header name"))?;
        let value = HeaderValue::try_from(value.as_deref().unwrap_or_default()).map_err(|_| {
            format!("the value of the header `{name}` has characters that headers cannot have")
        })?;
        map.insert(key, value);
    }
    Ok(map)
}
