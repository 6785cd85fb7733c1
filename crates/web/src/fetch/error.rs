//! Why a fetch failed, in words for an agent.
//!
//! ureq's errors are translated here. Its own texts are used only where they help and cannot
//! contain the URL, which may hold a key; internal names such as `BodyStalled` mean nothing to an
//! agent.

use std::fmt;
use std::io::ErrorKind;

/// Why a page was not fetched. The text is one clause without the URL; the fetch tool puts
/// `Failed to fetch URL: ` in front of it.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The deadline passed, at whatever step. The text is prescribed by the tool's specification.
    #[error("Connection timeout")]
    Timeout,
    /// The server answered with a status that is neither a page nor a redirect.
    #[error("HTTP {0}")]
    Status(u16),
    /// An address that is not on the public internet.
    #[error("the address is private, local or otherwise special")]
    Refused,
    /// Every other reason, as text: no caller acts on the difference.
    #[error("{0}")]
    Other(String),
}

impl From<ureq::Error> for FetchError {
    fn from(error: ureq::Error) -> FetchError {
        let other = |text: &dyn fmt::Display| FetchError::Other(text.to_string());
        match error {
            ureq::Error::Timeout(_) => FetchError::Timeout,
            // Our own error, from the resolver, comes back as it was.
            ureq::Error::Other(inner) => match inner.downcast::<FetchError>() {
                Ok(ours) => *ours,
                Err(_) => other(&"the request failed"),
            },
            // Sockets report a timeout as one of two kinds, depending on the system.
            ureq::Error::Io(error) => match error.kind() {
                ErrorKind::TimedOut | ErrorKind::WouldBlock => FetchError::Timeout,
                ErrorKind::ConnectionRefused => other(&"connection refused"),
                ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe => other(&"connection reset"),
                ErrorKind::UnexpectedEof => other(&"the connection was closed too early"),
                // ureq wraps its own errors, and those of rustls, into errors of reading.
                _ => match error.downcast::<ureq::Error>() {
                    Ok(ureq::Error::Io(inner)) => other(&inner),
                    Ok(inner) => inner.into(),
                    Err(error) => other(&error),
                },
            },
            ureq::Error::HostNotFound => other(&"the host name cannot be resolved"),
            ureq::Error::ConnectionFailed => other(&"cannot connect"),
            ureq::Error::LargeResponseHeader(..) => {
                other(&"the headers of the response are too large")
            }
            ureq::Error::Protocol(error) => other(&format!("the response is not HTTP: {error}")),
            ureq::Error::Tls(error) => other(&error),
            ureq::Error::Rustls(error) => other(&error),
            ureq::Error::Decompress(name, _) => {
                other(&format!("the body of the response is not valid {name}"))
            }
            ureq::Error::ConnectProxyFailed(_) => other(&"the proxy refused the connection"),
            ureq::Error::BodyStalled => other(&"the connection was closed too early"),
            _ => other(&"the request failed"),
        }
    }
}
