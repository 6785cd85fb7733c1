//! Addresses that are not on the public internet are refused in every spelling, also through
//! proxies.

use serde_json::json;

use crate::executables::{FETCH, run};
use crate::http_server::{PageServer, html, response};

/// Fetches a URL and returns the error.
fn fetch_error(url: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    run(FETCH, arguments, variables, &json!({ "url": url }).to_string()).error()
}

#[test]
fn no_spelling_of_a_private_address_is_connected_to() {
    let server = PageServer::fixed(html("<p>secret"));
    let port = server.address.port();
    let special = "Failed to fetch URL: the address is private, local or otherwise special";
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "0.0.0.0",
        "0",
        "2130706433",
        "017700000001",
        "0177.0.0.1",
        "0x7f.0.0.1",
        "0x7f000001",
        "0x7F.1",
        "0177.0.0.0x1",
        "127.0.0.1.",
        "127.255.255.254",
        "10.0.0.1",
        "10.1",
        "192.168.1.1",
        "192.168.257",
        "172.16.0.1",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "100.64.0.1",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::FFFF:7F00:0001]",
        "[::127.0.0.1]",
        "[::7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2002:7f00:0001:0000::1]",
        "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
        "[fe80::1]",
        "[fd00::1]",
        "[fec0::1]",
        "[ff02::1]",
        "localhost",
        "LOCALHOST",
        "LocalHost",
        "localhost.",
        "a.localhost",
        "ｌｏｃａｌｈｏｓｔ",
        "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
        "𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭",
        "local\u{ad}host",
        "１２７.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "%6c%6f%63%61%6c%68%6f%73%74",
        "%31%32%37.0.0.1",
    ] {
        assert_eq!(fetch_error(&format!("http://{host}:{port}/"), &[], &[]), special, "{host}");
        assert_eq!(fetch_error(&format!("HTTPS://{host}/"), &[], &[]), special, "{host}");
    }
    // Text in the form of addresses that is not valid.
    for (host, why) in [
        ("[fe80::1%25eth0]", "invalid IPv6 address"),
        ("[fe80::1%eth0]", "invalid IPv6 address"),
        ("[::1", "invalid IPv6 address"),
        ("127.0.0.256", "invalid IPv4 address"),
        ("0x7f.0.0.0.1", "invalid IPv4 address"),
    ] {
        assert_eq!(
            fetch_error(&format!("http://{host}:{port}/"), &[], &[]),
            format!("Failed to fetch URL: invalid URL: {why}")
        );
    }
    for user in ["user@", "user:pass@", "example.com@", "example.com:80@"] {
        let error = fetch_error(&format!("http://{user}127.0.0.1:{port}/"), &[], &[]);
        assert_eq!(error, "Failed to fetch URL: URLs with credentials are not supported");
    }
    // Names that only look like localhost, and the name of this machine.
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    for name in ["lосalhost", "locaIhost.invalid", own.trim()] {
        let error = fetch_error(&format!("http://{name}:{port}/"), &[], &[]);
        assert!(
            error == special || error == "Failed to fetch URL: the host name cannot be resolved",
            "{name}: {error}"
        );
    }
    assert_eq!(server.connections(), 0);
    // The same server can be fetched from if private addresses are allowed.
    for host in ["127.0.0.1", "localhost", "0x7f.1"] {
        let input = json!({"url": format!("http://{host}:{port}/")}).to_string();
        assert_eq!(run(FETCH, &["--allow-private"], &[], &input).content(), "secret", "{host}");
        assert_eq!(
            run(FETCH, &[], &[("TOOLWRIGHT_WEB_ALLOW_PRIVATE", "1")], &input).content(),
            "secret",
            "{host}"
        );
        assert_eq!(
            run(FETCH, &[], &[("TOOLWRIGHT_WEB_ALLOW_PRIVATE", "0")], &input).error(),
            special,
            "{host}"
        );
    }
}

#[test]
fn a_proxy_gets_requests_for_public_addresses_only() {
    let proxy = PageServer::start(|head, wire| {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let _ = match path.as_str() {
            "/inside" => wire.write_all(&response(
                "302 Found",
                &["Location: http://169.254.169.254/latest"],
                "",
            )),
            "/local" => {
                wire.write_all(&response("302 Found", &["Location: http://localhost/"], ""))
            }
            _ => wire.write_all(&html("<p>through the proxy")),
        };
    });
    let address = proxy.url("");
    let variables = [("HTTP_PROXY", address.as_str())];
    // The name cannot be resolved here, so an untrusted proxy gets no request.
    let error = fetch_error("http://pages.invalid/", &[], &variables);
    assert_eq!(error, "Failed to fetch URL: the host name cannot be resolved");
    assert_eq!(proxy.connections(), 0);
    let input = json!({"url": "http://pages.invalid/x"}).to_string();
    assert_eq!(run(FETCH, &["--trust-proxy"], &variables, &input).content(), "through the proxy");
    assert!(
        proxy.requests()[0].starts_with("CONNECT pages.invalid:80 HTTP/1.1"),
        "{:?}",
        proxy.requests()
    );
    // Even a trusted proxy gets no request for a literal private address, neither at first nor
    // after a redirect.
    let special = "Failed to fetch URL: the address is private, local or otherwise special";
    let connections = proxy.connections();
    assert_eq!(fetch_error("http://10.0.0.1/", &["--trust-proxy"], &variables), special);
    assert_eq!(proxy.connections(), connections);
    for path in ["inside", "local"] {
        let url = format!("http://pages.invalid/{path}");
        assert_eq!(fetch_error(&url, &["--trust-proxy"], &variables), special);
    }
    // Hosts in `no_proxy` are connected to directly.
    let direct = PageServer::fixed(html("<p>direct"));
    let variables = [("http_proxy", address.as_str()), ("no_proxy", "127.0.0.1")];
    let input = json!({"url": direct.url("/")}).to_string();
    assert_eq!(run(FETCH, &["--allow-private"], &variables, &input).content(), "direct");
    let variables = [("all_proxy", "not a proxy")];
    assert_eq!(
        fetch_error("http://8.8.8.8/", &[], &variables),
        "Failed to fetch URL: the proxy's URL is invalid"
    );
}
