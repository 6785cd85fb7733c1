//! Why a fetch failed, in words for an agent.
//!
//! ureq's errors are translated here. Its own texts are used only where they help and cannot
//! contain the URL, which may hold a key; internal names such as `BodyStalled` mean nothing to an
//! agent.
//!
//! What reaches an agent must not help to explore a network: an address that is refused is
//! described in one sentence, whatever is behind it.

use std::fmt;
use std::io::ErrorKind;

use rustls::CertificateError;

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
    /// Exhaustive by hand; a kind that is not listed becomes "the request failed".
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
                    Ok(ureq::Error::Io(inner)) => other(&io_text(&inner)),
                    Ok(inner) => inner.into(),
                    Err(error) => other(&io_text(&error)),
                },
            },
            ureq::Error::HostNotFound => other(&"the host name cannot be resolved"),
            ureq::Error::ConnectionFailed => other(&"cannot connect"),
            ureq::Error::LargeResponseHeader(..) => {
                other(&"the headers of the response are too large")
            }
            ureq::Error::Protocol(error) => other(&format!("the response is not HTTP: {error}")),
            ureq::Error::Tls(error) => other(&error),
            ureq::Error::Rustls(error) => other(&tls_text(&error)),
            ureq::Error::Decompress(name, _) => {
                other(&format!("the body of the response is not valid {name}"))
            }
            ureq::Error::ConnectProxyFailed(_) => other(&"the proxy refused the connection"),
            ureq::Error::BodyStalled => other(&"the connection was closed too early"),
            _ => other(&"the request failed"),
        }
    }
}

/// The text of an error of reading or writing, which may be one of TLS.
fn io_text(error: &std::io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error) => tls_text(error),
        None => error.to_string(),
    }
}

/// Why TLS failed. rustls prints its errors with the names of its types and with the bytes of
/// certificates, which mean nothing to an agent.
fn tls_text(error: &rustls::Error) -> String {
    let certificate = |what: &str| format!("the server's certificate {what}");
    match error {
        rustls::Error::InvalidCertificate(reason) => match reason {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                certificate("has expired")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                certificate("is not valid yet")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                certificate("is for another host name")
            }
            // An issuer of the same name with another key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                certificate("is not signed by an authority that this system trusts")
            }
            CertificateError::Revoked => certificate("was revoked"),
            // An error of webpki, whose types are not ours to name. `openssl req -x509` makes such
            // certificates.
            CertificateError::Other(inner) if inner.to_string().contains("CaUsedAsEndEntity") => {
                certificate("is signed by itself, or that of an authority")
            }
            _ => certificate("is not valid"),
        },
        rustls::Error::NoCertificatesPresented => "the server sent no certificate".to_owned(),
        rustls::Error::AlertReceived(alert) => {
            format!("the server ended the TLS handshake ({alert:?})")
        }
        rustls::Error::PeerIncompatible(_) => {
            "the server and this program have no version of TLS in common".to_owned()
        }
        rustls::Error::InvalidMessage(_) | rustls::Error::InappropriateMessage { .. } => {
            "the server does not speak TLS on this port".to_owned()
        }
        _ => "the TLS handshake failed".to_owned(),
    }
}
