//! Resolving host names, and refusing those that lead to special addresses.
//!
//! The check belongs here and not before the request: only the addresses that the connection is
//! made to count, and those are what this resolver returns to ureq.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::time::Duration;

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use super::error::FetchError;
use super::special_addresses::is_special;

/// Finds the addresses of `host:port` within a time.
pub(crate) type HostLookup = fn(String, Duration) -> Result<Vec<SocketAddr>, FetchError>;

/// Looks up names, and refuses a name if any of its addresses is special.
///
/// ureq connects to the addresses that this returns and looks nothing up itself. A name server can
/// therefore not give a public address for the check and a private one for the connection (DNS
/// rebinding). A name with both is refused as a whole.
#[derive(Debug)]
pub(super) struct GuardedResolver {
    /// Whether special addresses may be returned.
    pub(super) allow_private: bool,
    /// Host and port of the proxy, which may have any address: the user chose it, not an agent.
    pub(super) proxy: Option<(String, u16)>,
    pub(super) look_up_host: HostLookup,
}

impl GuardedResolver {
    /// Fails if an address is special and those are not allowed.
    pub(super) fn check(&self, addresses: &[SocketAddr]) -> Result<(), FetchError> {
        if !self.allow_private && addresses.iter().any(|address| is_special(address.ip())) {
            return Err(FetchError::Refused);
        }
        Ok(())
    }
}

impl Resolver for GuardedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        _: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().unwrap_or_default();
        // The URL is that of the page or that of the proxy.
        let default = match uri.scheme_str() {
            Some("https") => 443,
            Some(scheme) if scheme.starts_with("socks") => 1080,
            _ => 80,
        };
        let port = uri.port_u16().unwrap_or(default);
        let found =
            (self.look_up_host)(format!("{host}:{port}"), *timeout.after).map_err(into_ureq)?;
        let is_proxy =
            self.proxy.as_ref().is_some_and(|(name, number)| name == host && *number == port);
        if !is_proxy {
            self.check(&found).map_err(into_ureq)?;
        }
        let mut addresses = self.empty();
        // ureq's list holds 16 addresses.
        for address in found.into_iter().take(16) {
            addresses.push(address);
        }
        Ok(addresses)
    }
}

/// Wraps an error so that it comes back from ureq as it was; `From<ureq::Error>` unwraps it.
fn into_ureq(error: FetchError) -> ureq::Error {
    ureq::Error::Other(Box::new(error))
}

/// Looks up `host:port` with the system's resolver. That has no timeout, so it runs on a thread of
/// its own, which is abandoned when the time is over.
pub(crate) fn look_up_host(name: String, left: Duration) -> Result<Vec<SocketAddr>, FetchError> {
    if let Ok(address) = name.parse::<SocketAddr>() {
        return Ok(vec![address]);
    }
    // The thread may outlive this function. It then sends into a channel without a receiver, and
    // ends.
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        sender.send(name.to_socket_addrs().map(|found| found.collect::<Vec<_>>()))
    });
    match receiver.recv_timeout(left) {
        Ok(Ok(found)) if !found.is_empty() => Ok(found),
        Ok(_) => Err(FetchError::Other("the host name cannot be resolved".to_owned())),
        Err(_) => Err(FetchError::Timeout),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Config, Duration, FetchError, GuardedResolver, NextTimeout, Resolver, Uri, look_up_host,
    };

    #[test]
    fn a_name_with_one_special_address_among_public_ones_is_refused() {
        let resolver = GuardedResolver { allow_private: false, proxy: None, look_up_host };
        let public = "93.184.216.34:80".parse().unwrap();
        let private = "10.0.0.7:80".parse().unwrap();
        assert!(resolver.check(&[public]).is_ok());
        assert!(matches!(resolver.check(&[public, private]), Err(FetchError::Refused)));
        let open = GuardedResolver { allow_private: true, proxy: None, look_up_host };
        assert!(open.check(&[public, private]).is_ok());
    }

    #[test]
    fn the_resolver_refuses_names_of_special_addresses_except_the_proxy() {
        let uri = Uri::from_static("http://localhost:9/");
        let left = NextTimeout { after: Duration::from_secs(60).into(), ..NextTimeout::default() };
        let resolver = |proxy| GuardedResolver { allow_private: false, proxy, look_up_host };
        let error = resolver(None).resolve(&uri, &Config::default(), left).unwrap_err();
        assert!(matches!(FetchError::from(error), FetchError::Refused));
        // The proxy's own address may be a private one.
        let proxy = resolver(Some(("localhost".to_owned(), 9)));
        assert!(!proxy.resolve(&uri, &Config::default(), left).unwrap().is_empty());
    }
}
