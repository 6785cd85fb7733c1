//! The URL of a page, checked before anything is asked: `url` reads it as browsers do, so that an
//! address in any spelling is the same address here.

use url::{Host, Url};

use super::address::is_special;
use super::client::FetchError;

/// A URL that may be asked for.
#[derive(Debug)]
pub(super) struct Target(Url);

impl Target {
    pub(super) fn parse(text: &str, allow_private: bool) -> Result<Target, FetchError> {
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
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::Other("URLs with credentials are not supported".to_owned()));
        }
        if url.port() == Some(0) {
            return Err(invalid("port 0 cannot be connected to"));
        }
        let refused = match url.host() {
            None => return Err(invalid("it has no host")),
            Some(Host::Ipv4(address)) => is_special(address.into()),
            Some(Host::Ipv6(address)) => is_special(address.into()),
            Some(Host::Domain(name)) => is_local(name),
        };
        if refused && !allow_private {
            return Err(FetchError::Refused);
        }
        Ok(Target(url))
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

/// Names that are this machine, whatever a name server says.
fn is_local(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name.is_empty() || name == "localhost" || name.ends_with(".localhost")
}
