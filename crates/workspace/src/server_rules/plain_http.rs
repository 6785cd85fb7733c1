//! PLAIN_HTTP: servers on other machines that are reached without TLS.
//!
//! Everybody on the way can read the tokens in the headers, and can change what a tool answers. The
//! host counts, not its name service: `localhost` and loopback addresses are this machine, and
//! `host.docker.internal` is the machine that a container runs on.

use std::net::IpAddr;

use super::{CommandLine, ServerFinding, WrittenServer, WrittenText};
use crate::codes::PLAIN_HTTP;

/// Programs whose argument is the address of an MCP server.
const BRIDGES: [&str; 3] = ["mcp-remote", "mcp-proxy", "supergateway"];

/// Reports addresses of other machines without TLS.
pub(super) fn check<P: Clone>(server: &WrittenServer<P>) -> Vec<ServerFinding<P>> {
    let words: Vec<&str> = server.command.iter().map(|word| word.text.as_str()).collect();
    let is_bridge = CommandLine::all(&words).iter().any(|line| {
        // Also behind a runner: `npx -y mcp-remote@1.0`.
        line.words.iter().any(|(_, word)| {
            let name = word.split('@').next().unwrap_or_default();
            BRIDGES.contains(&super::program_name(name))
        })
    });
    let bridged = server.command.iter().filter(|_| is_bridge);
    let plain = server.url.iter().chain(bridged).filter(|text| is_plain_and_remote(&text.text));
    plain.map(finding).collect()
}

fn finding<P: Clone>(address: &WrittenText<P>) -> ServerFinding<P> {
    let message = "the server is on another machine and is reached without TLS";
    let help = "use `https://`: otherwise everybody on the way can read tokens and change answers";
    ServerFinding::new(&PLAIN_HTTP, &address.at, message, help)
}

/// Whether it is an `http` or `ws` address of another machine. A host that is a reference is not
/// known.
fn is_plain_and_remote(address: &str) -> bool {
    let plain = ["http://", "ws://"].into_iter().find_map(|scheme| {
        let start = address.get(..scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then(|| &address[scheme.len()..])
    });
    let Some(rest) = plain else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_here = match host.parse::<IpAddr>() {
        Ok(IpAddr::V6(v6)) => {
            v6.is_loopback()
                || v6.is_unspecified()
                || v6.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback())
        }
        Ok(IpAddr::V4(v4)) => v4.is_loopback() || v4.is_unspecified(),
        Err(_) => {
            host == "localhost" || host.ends_with(".localhost") || host == "host.docker.internal"
        }
    };
    !is_here && !host.is_empty() && !host.contains('$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_need_tls() {
        for address in [
            "http://example.com/mcp",
            "HTTP://example.com",
            "http://10.0.0.1:8080/mcp",
            "http://192.168.1.2",
            "ws://h/x",
            "http://user@h/x",
            "http://localhost.example.com",
            "http://127.0.0.1@h/",
            "http://[2001:db8::1]:80/mcp",
        ] {
            assert!(is_plain_and_remote(address), "{address}");
        }
        for address in [
            "https://example.com/mcp",
            "http://localhost:3000/mcp",
            "http://app.localhost/mcp",
            "http://127.0.0.1/mcp",
            "http://127.8.8.8/mcp",
            "http://[::1]:80/mcp",
            "http://0.0.0.0:1/mcp",
            "http://host.docker.internal:1/mcp",
            "http://${HOST}/mcp",
            "wss://h",
            "${URL}",
            "http://",
            "server.js",
        ] {
            assert!(!is_plain_and_remote(address), "{address}");
        }
    }
}
