//! The URL of a page, checked before any connection is made.
//!
//! The `url` crate parses as browsers do: `http://0x7f.1`, `http://2130706433` and
//! `http://ｌｏｃａｌｈｏｓｔ` are the same host after parsing as `127.0.0.1` or `localhost`. No spelling
//! of an address therefore needs a rule of its own. Names that are looked up are checked later, by
//! `resolver`.

use url::{Host, Url};

use super::error::FetchError;
use super::special_addresses::is_special;

/// A URL that may be fetched. Redirects are parsed into one, too.
#[derive(Debug)]
pub(super) struct FetchTarget(Url);

impl FetchTarget {
    /// Fails for anything but `http` and `https` URLs, and for hosts that are plainly this machine
    /// or its network, unless `allow_private`.
    pub(super) fn parse(text: &str, allow_private: bool) -> Result<FetchTarget, FetchError> {
        let url = Url::parse(text.trim()).map_err(|error| match error {
            url::ParseError::RelativeUrlWithoutBase => {
                invalid("it has no scheme; write `https://…`")
            }
            error => invalid(&error.to_string()),
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::Other(format!(
                "`{}` URLs are not supported, only `http` and `https`",
                url.scheme()
            )));
        }
        // Credentials would end up in logs, and `http://example.com@127.0.0.1/` misleads readers.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::Other("URLs with credentials are not supported".to_owned()));
        }
        if url.port() == Some(0) {
            return Err(invalid("port 0 cannot be connected to"));
        }
        let is_private = match url.host() {
            None => return Err(invalid("it has no host")),
            Some(Host::Ipv4(address)) => is_special(address.into()),
            Some(Host::Ipv6(address)) => is_special(address.into()),
            Some(Host::Domain(name)) => is_local_name(name),
        };
        if is_private && !allow_private {
            return Err(FetchError::Refused);
        }
        Ok(FetchTarget(url))
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    pub(super) fn into_url(self) -> Url {
        self.0
    }
}

fn invalid(why: &str) -> FetchError {
    FetchError::Other(format!("invalid URL: {why}"))
}

/// Whether a name means this machine by definition (RFC 6761), whatever a name server answers.
fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name.is_empty() || name == "localhost" || name.ends_with(".localhost")
}
