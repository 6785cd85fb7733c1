//! Addresses that are not on the public internet are refused in every spelling, also through
//! proxies.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;

use serde_json::json;

use crate::executables::{FETCH, run};
use crate::http_server::{Authority, PageServer, html, response};

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

/// A SOCKS5 server without authentication that connects to `target` whatever it is asked for.
/// Returns its address and what it was asked for: the type of the address (1 for IPv4, 3 for a
/// name) and its bytes.
fn socks_server(target: SocketAddr) -> (SocketAddr, mpsc::Receiver<(u8, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let read = |client: &mut TcpStream, count: usize| {
                let mut bytes = vec![0; count];
                client.read_exact(&mut bytes).map(|()| bytes)
            };
            let Ok(greeting) = read(&mut client, 2) else { continue };
            let _ = read(&mut client, usize::from(greeting[1]));
            let _ = client.write_all(&[5, 0]);
            let Ok(request) = read(&mut client, 4) else { continue };
            let length = match request[3] {
                3 => usize::from(read(&mut client, 1).expect("a length")[0]),
                _ => 4,
            };
            let name = read(&mut client, length).expect("an address");
            let _ = read(&mut client, 2);
            let _ = sender.send((request[3], name));
            let _ = client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
            let mut server = TcpStream::connect(target).expect("the page's server");
            let (mut from, mut to) =
                (client.try_clone().expect("a copy"), server.try_clone().expect("a copy"));
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            let _ = std::io::copy(&mut server, &mut client);
            let _ = client.shutdown(std::net::Shutdown::Both);
        }
    });
    (address, asked)
}

#[test]
fn socks_proxies_get_the_address_that_was_checked() {
    let server = PageServer::fixed(html("<p>through SOCKS"));
    let (proxy, asked) = socks_server(server.address);
    for scheme in ["socks5", "socks5h"] {
        let proxy = format!("{scheme}://{proxy}");
        let variables = [("ALL_PROXY", proxy.as_str())];
        let input = json!({"url": "http://93.184.216.34/x"}).to_string();
        assert_eq!(run(FETCH, &[], &variables, &input).content(), "through SOCKS");
        assert_eq!(asked.recv().expect("a request"), (1, vec![93, 184, 216, 34]), "{scheme}");
        // A name that leads to a private address is refused before the proxy is asked.
        assert_eq!(
            fetch_error("http://localhost/x", &[], &variables),
            "Failed to fetch URL: the address is private, local or otherwise special"
        );
        assert!(asked.try_recv().is_err());
        // A trusted proxy gets the name, which need not exist here.
        let input = json!({"url": "http://pages.invalid/x"}).to_string();
        let trusted = run(FETCH, &["--trust-proxy"], &variables, &input);
        assert_eq!(trusted.content(), "through SOCKS");
        assert_eq!(asked.recv().expect("a request"), (3, b"pages.invalid".to_vec()), "{scheme}");
    }
}

#[test]
fn no_setting_of_a_proxy_ends_the_program() {
    // Accepts connections and closes them, so that no handshake gets an answer.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    for proxy in [
        format!("https://127.0.0.1:{port}"),
        format!("socks4://127.0.0.1:{port}"),
        format!("socks5://127.0.0.1:{port}"),
        "socks5://127.0.0.1".to_owned(),
        "socks5://".to_owned(),
        "://".to_owned(),
        "http://[".to_owned(),
        "http://user:%zz@127.0.0.1:1".to_owned(),
        "quic://127.0.0.1:1".to_owned(),
    ] {
        for url in ["http://93.184.216.34/", "https://93.184.216.34/"] {
            // Certificates that exist, so that TLS gets as far as the handshake.
            let authority = Authority::new();
            let file = authority.file().to_string_lossy().into_owned();
            let variables = [("ALL_PROXY", proxy.as_str()), ("SSL_CERT_FILE", file.as_str())];
            let error = fetch_error(url, &[], &variables);
            assert!(error.starts_with("Failed to fetch URL: "), "{proxy}: {error}");
        }
    }
    assert_eq!(
        fetch_error("http://93.184.216.34/", &[], &[("ALL_PROXY", "quic://127.0.0.1:1")]),
        "Failed to fetch URL: proxies with `quic` URLs are not supported, only `http`, `https`, \
         `socks5` and `socks4`"
    );
}

#[test]
fn an_https_proxy_is_used() {
    let authority = Authority::new();
    let proxy = PageServer::start_tls(&authority, |_, wire| {
        let _ = wire.write_all(&html("<p>through TLS"));
    });
    let file = authority.file().to_string_lossy().into_owned();
    let proxy_url = proxy.url("");
    let variables = [("ALL_PROXY", proxy_url.as_str()), ("SSL_CERT_FILE", file.as_str())];
    let input = json!({"url": "http://93.184.216.34/"}).to_string();
    assert_eq!(run(FETCH, &[], &variables, &input).content(), "through TLS");
}
