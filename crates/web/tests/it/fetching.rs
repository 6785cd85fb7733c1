//! Fetching pages with the executable: HTTP and HTTPS, redirects, compression, encodings, content
//! types, errors.

use std::io::Write;

use serde_json::json;

use crate::executables::{FETCH, fetch, run};
use crate::http_server::{Authority, PageServer, html, response};

const PAGE: &str = "<!doctype html><title>T</title><nav>menu</nav><h1>Tides</h1><p>High at <b>noon</b>, see \
    <a href='table.html'>the table</a>.<ul><li>one<li>two</ul>";

#[test]
fn pages_are_fetched_over_http_and_https() {
    let plain = PageServer::fixed(html(PAGE));
    let expected = |server: &PageServer| {
        let url = server.url("/a/table.html");
        format!("# Tides\n\nHigh at **noon**, see [the table]({url}).\n\n- one\n- two")
    };
    let answer = fetch(&plain.url("/a/b"));
    assert_eq!(answer.content(), expected(&plain));
    assert_eq!(answer.json()["lines_read"], 6);
    assert_eq!(answer.stderr, "");
    let head = plain.requests().remove(0).to_ascii_lowercase();
    assert!(head.starts_with("get /a/b http/1.1\r\n"), "{head}");
    assert!(
        head.contains("\r\nuser-agent: toolwright-web/")
            && head.contains("\r\naccept-encoding: gzip, br\r\n"),
        "{head}"
    );

    let authority = Authority::new();
    let secure = PageServer::start_tls(&authority, |_, wire| drop(wire.write_all(&html(PAGE))));
    let input = json!({"url": secure.url("/a/b")}).to_string();
    let file = authority.file();
    let trusted =
        [("SSL_CERT_FILE", file.to_str().unwrap()), ("TOOLWRIGHT_WEB_ALLOW_PRIVATE", "1")];
    assert_eq!(run(FETCH, &[], &trusted, &input).content(), expected(&secure));
    // A certificate of another authority is rejected.
    let other = Authority::new().file();
    let unknown_authority = Authority::new();
    let unknown_certificate =
        [("SSL_CERT_FILE", unknown_authority.file().to_str().unwrap().to_owned())];
    let variables: Vec<(&str, &str)> =
        unknown_certificate.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let error = run(FETCH, &["--allow-private"], &variables, &input).error();
    assert_eq!(
        error,
        "Failed to fetch URL: the server's certificate is not signed by an authority that this \
         system trusts"
    );
    let alone = Authority::signed_by_itself();
    let server = PageServer::start_tls(&alone, |_, wire| drop(wire.write_all(&html(PAGE))));
    let alone = alone.file();
    let itself = [("SSL_CERT_FILE", alone.to_str().unwrap())];
    let input_alone = json!({"url": server.url("/")}).to_string();
    assert_eq!(
        run(FETCH, &["--allow-private"], &itself, &input_alone).error(),
        "Failed to fetch URL: the server's certificate is signed by itself, or that of an authority"
    );
    // The file of this authority is gone: `Authority` deletes it when it is dropped.
    let none = [("SSL_CERT_FILE", other.to_str().unwrap())];
    let error = run(FETCH, &["--allow-private"], &none, &input).error();
    assert!(error.contains("no root certificates"), "{error}");
}

#[test]
fn offset_and_limit_count_lines_of_the_markdown() {
    let server = PageServer::fixed(html("<p>one<p>two<p>three"));
    let url = server.url("/");
    for (offset, limit, content, lines) in [
        (None, None, "one\n\ntwo\n\nthree", 5),
        (Some(3), None, "two\n\nthree", 3),
        (Some(1), Some(1), "one", 1),
        (Some(2), Some(2), "\ntwo", 2),
        (Some(5), Some(100), "three", 1),
        (Some(6), None, "", 0),
        (Some(1_000_000), Some(1), "", 0),
        (None, Some(3), "one\n\ntwo", 3),
    ] {
        let mut input = json!({"url": url, "unknown": "ignored"});
        if let Some(offset) = offset {
            input["offset"] = json!(offset);
        }
        if let Some(limit) = limit {
            input["limit"] = json!(limit);
        }
        let run = run(FETCH, &["--allow-private"], &[], &input.to_string());
        assert_eq!(run.json(), json!({"content": content, "lines_read": lines}), "{input}");
    }
    let empty = PageServer::fixed(html("<html><body></body></html>"));
    assert_eq!(fetch(&empty.url("/")).json(), json!({"content": "", "lines_read": 0}));
}

#[test]
fn redirects_are_followed() {
    let server = PageServer::start(|head, wire| {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let _ = match path.as_str() {
            "/start" => {
                wire.write_all(&response("302 Found", &["Location: ../next?x=1#y"], "moved"))
            }
            "/next?x=1" => {
                wire.write_all(&response("308 Permanent Redirect", &["Location: /deep/page"], ""))
            }
            "/accent" => wire.write_all(
                &[
                    b"HTTP/1.1 302 Found\r\nLocation: /caf\xc3\xa9\r\n".as_slice(),
                    b"Content-Length: 0\r\n\r\n",
                ]
                .concat(),
            ),
            "/empty" => wire.write_all(&response("302 Found", &["Location:"], "")),
            "/nowhere" => wire.write_all(&response("302 Found", &[], "")),
            "/bad" => wire.write_all(&response("302 Found", &["Location: http://[/"], "")),
            "/file" => {
                wire.write_all(&response("302 Found", &["Location: file:///etc/passwd"], ""))
            }
            "/loop" => wire.write_all(&response("301 Moved", &["Location: /loop"], "")),
            _ => wire.write_all(&html("<a href=here>there</a>")),
        };
    });
    let content = fetch(&server.url("/start")).content();
    assert_eq!(content, format!("[there]({})", server.url("/deep/here")));
    assert_eq!(
        fetch(&server.url("/accent")).content(),
        format!("[there]({})", server.url("/here"))
    );
    assert!(server.requests().iter().any(|head| head.starts_with("GET /caf%C3%A9 ")));
    for (path, expected) in [
        ("/nowhere", "HTTP 302 without a location"),
        ("/empty", "HTTP 302 without a location"),
        ("/bad", "redirected to an invalid URL"),
        ("/file", "`file` URLs are not supported, only `http` and `https`"),
        ("/loop", "more than 10 redirects"),
    ] {
        assert_eq!(
            fetch(&server.url(path)).error(),
            format!("Failed to fetch URL: {expected}"),
            "{path}"
        );
    }
    assert_eq!(server.requests().iter().filter(|head| head.contains(" /loop ")).count(), 11);
}

#[test]
fn compressed_and_chunked_responses_are_decoded() {
    let page = "<p>squeezed</p>".repeat(100);
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(page.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let brotli = {
        let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 9, 20);
        encoder.write_all(page.as_bytes()).unwrap();
        encoder.into_inner()
    };
    for (encoding, body) in
        [("gzip", &gzip), ("br", &brotli), ("GZip", &gzip), ("x-gzip", &gzip), ("BR", &brotli)]
    {
        let header = format!("Content-Encoding: {encoding}");
        let server =
            PageServer::fixed(response("200 OK", &["Content-Type: text/html", &header], body));
        assert_eq!(
            fetch(&server.url("/")).content().matches("squeezed").count(),
            100,
            "{encoding}"
        );
        let broken = PageServer::fixed(response(
            "200 OK",
            &["Content-Type: text/html", &header],
            b"no such thing",
        ));
        assert!(fetch(&broken.url("/")).error().starts_with("Failed to fetch URL: "), "{encoding}");
    }
    let unknown = PageServer::fixed(response(
        "200 OK",
        &["Content-Type: text/html", "Content-Encoding: zstd"],
        b"x",
    ));
    assert_eq!(
        fetch(&unknown.url("/")).error(),
        "Failed to fetch URL: content encoding `zstd` is not supported"
    );
    let chunked = PageServer::fixed(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n\
         4;ext=1\r\n<p>a\r\n7\r\nb</p>xy\r\n0\r\nTrailer: 1\r\n\r\n",
    );
    assert_eq!(fetch(&chunked.url("/")).content(), "ab\n\nxy");
    let cut = PageServer::fixed(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n<p>a\r\nZZ",
    );
    assert!(fetch(&cut.url("/")).error().starts_with("Failed to fetch URL: "));
    let short = PageServer::fixed(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\n<p>a",
    );
    assert!(fetch(&short.url("/")).error().starts_with("Failed to fetch URL: "));
    let until_closed =
        PageServer::fixed("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>old");
    assert_eq!(fetch(&until_closed.url("/")).content(), "old");
}

#[test]
fn encodings_are_found_by_mark_header_declaration_or_guess() {
    let utf16 = |text: &str, little: bool| -> Vec<u8> {
        text.encode_utf16()
            .flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() })
            .collect()
    };
    let encode = |label: &str, text: &str| {
        encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(text).0.into_owned()
    };
    let russian = "<p>Привет, мир! Это длинное предложение на русском языке.";
    let japanese = "<p>日本語のページです。これは長い文章で、文字コードを推測できます。";
    let chinese = "<p>中文网页的内容。这是一个比较长的句子，可以用来猜测编码。";
    let with_meta = |label: &str, text: &str| {
        let mut bytes = format!(
            "<html><head><meta http-equiv='Content-Type' content='text/html; charset={label}'></head>"
        )
        .into_bytes();
        bytes.extend(encode(label, text));
        bytes
    };
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("text/html; charset=UTF-8", russian.as_bytes().to_vec(), russian),
        ("text/html", [b"\xef\xbb\xbf".as_slice(), russian.as_bytes()].concat(), russian),
        (
            "text/html; charset=windows-1251",
            [b"\xff\xfe".as_slice(), &utf16(russian, true)].concat(),
            russian,
        ),
        ("text/html", [b"\xfe\xff".as_slice(), &utf16(japanese, false)].concat(), japanese),
        ("text/html; charset=utf-16le", utf16(chinese, true), chinese),
        ("text/html; charset=\"windows-1251\"", encode("windows-1251", russian), russian),
        ("text/html;charset=Shift_JIS", encode("shift_jis", japanese), japanese),
        ("text/html; charset=gbk", encode("gbk", chinese), chinese),
        ("text/html; charset=euc-jp", encode("euc-jp", japanese), japanese),
        ("text/html", with_meta("windows-1251", russian), russian),
        ("text/html", with_meta("shift_jis", japanese), japanese),
        ("text/html", with_meta("gb18030", chinese), chinese),
        ("text/html", encode("windows-1251", russian), russian),
        ("text/html", encode("shift_jis", japanese), japanese),
        ("text/html", encode("gbk", chinese), chinese),
        (
            "text/plain",
            encode("windows-1251", "Привет, мир! Просто текст."),
            "<p>Привет, мир! Просто текст.",
        ),
        (
            "text/html, text/html",
            [
                b"<!-- <meta charset=koi8-r> --><meta charset=windows-1251>".as_slice(),
                &encode("windows-1251", russian),
            ]
            .concat(),
            russian,
        ),
        ("text/html;charset=windows-1251, text/html", encode("windows-1251", russian), russian),
        ("text/html", utf16(russian, true), russian),
        ("text/html", utf16(japanese, false), japanese),
        ("text/html; charset=nonsense", russian.as_bytes().to_vec(), russian),
        (
            "application/xhtml+xml",
            [
                b"<?xml version='1.0' encoding='windows-1251'?>".as_slice(),
                &encode("windows-1251", russian),
            ]
            .concat(),
            russian,
        ),
    ];
    for (content_type, body, expected) in cases {
        let server = PageServer::fixed(response(
            "200 OK",
            &[&format!("Content-Type: {content_type}")],
            body,
        ));
        let content = fetch(&server.url("/")).content();
        assert_eq!(format!("<p>{content}"), expected, "{content_type}");
    }
    let broken = PageServer::fixed(response(
        "200 OK",
        &["Content-Type: text/html; charset=utf-8"],
        b"<p>caf\xe9!",
    ));
    assert_eq!(fetch(&broken.url("/")).content(), "caf\u{fffd}!");
}

#[test]
fn text_passes_unchanged_and_binary_content_is_refused() {
    for (content_type, body, expected) in [
        ("text/plain", "a *b*\r\n<c>\n", "a *b*\n<c>"),
        ("text/markdown", "# t\n\n*b*\n", "# t\n\n*b*"),
        ("application/json", "{\"a\": [1,\n2]}\n", "{\"a\": [1,\n2]}"),
        ("application/ld+json; charset=utf-8", "{}", "{}"),
        ("TEXT/HTML", "<h2>x</h2>", "## x"),
        (
            "application/xhtml+xml",
            "<html><head><title/><script src='x'/></head><body><h2>x</h2></body></html>",
            "## x",
        ),
        ("text/csv", "a,b", "a,b"),
        ("application/yaml", "a: b", "a: b"),
        ("application/toml", "a = 1", "a = 1"),
        ("application/javascript", "let a = '<p>';", "let a = '<p>';"),
        ("text/css", "p { margin: 0 }", "p { margin: 0 }"),
        ("application/xml", "<a><b>1</b></a>", "<a><b>1</b></a>"),
        ("text/plain", "a\u{200b}\u{1b}[0mb", "a[0mb"),
        (
            "application/xhtml+xml",
            "<html><body><p>a <![CDATA[<b> & c]]></p></body></html>",
            "a \\<b> & c",
        ),
    ] {
        let server = PageServer::fixed(response(
            "200 OK",
            &[&format!("Content-Type: {content_type}")],
            body,
        ));
        assert_eq!(fetch(&server.url("/")).content(), expected, "{content_type}");
    }
    let wide: Vec<u8> = "\u{feff}<h2>x</h2>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let named = |body: &str| body.as_bytes().to_vec();
    for body in [
        named("  <h2>x</h2>"),
        named("\u{feff}<!DOCTYPE html><h2>x</h2>"),
        wide[2..].to_vec(),
        wide,
    ] {
        let nameless = PageServer::fixed(response("200 OK", &[], body));
        assert_eq!(fetch(&nameless.url("/")).content(), "## x");
    }
    for content_type in ["image/png", "image/svg+xml", "application/octet-stream", "video/mp4"] {
        let server =
            PageServer::fixed(response("200 OK", &[&format!("Content-Type: {content_type}")], "x"));
        let error = fetch(&server.url("/")).error();
        assert_eq!(
            error,
            format!("Failed to fetch URL: content type `{content_type}` is not text")
        );
    }
    for headers in [&["Content-Type: application/pdf"][..], &[]] {
        let server = PageServer::fixed(response("200 OK", headers, "%PDF-1.7 x"));
        assert_eq!(
            fetch(&server.url("/")).error(),
            "Failed to fetch URL: the page is a PDF, which cannot be converted; look for an HTML \
             version of it"
        );
    }
    let binary = PageServer::fixed(response("200 OK", &[], b"\x7fELF\0\0"));
    assert!(fetch(&binary.url("/")).error().contains("binary"));
}

#[test]
fn error_statuses_and_broken_responses_are_reported() {
    for status in ["404 Not Found", "403 Forbidden", "500 Oops", "418 Teapot", "999 Odd"] {
        let server = PageServer::fixed(response(status, &["Content-Type: text/html"], "<p>sorry"));
        let number = status.split(' ').next().unwrap();
        assert_eq!(fetch(&server.url("/")).error(), format!("Failed to fetch URL: HTTP {number}"));
    }
    let garbage = PageServer::fixed("SSH-2.0-OpenSSH\r\n\r\n");
    assert!(
        fetch(&garbage.url("/"))
            .error()
            .starts_with("Failed to fetch URL: the response is not HTTP")
    );
    let silent = PageServer::fixed("");
    assert!(fetch(&silent.url("/")).error().starts_with("Failed to fetch URL: "));
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    assert_eq!(
        fetch(&format!("http://{closed}/")).error(),
        "Failed to fetch URL: connection refused"
    );
    assert_eq!(
        fetch("http://no-such-name.invalid/").error(),
        "Failed to fetch URL: the host name cannot be resolved"
    );
}

#[test]
fn feeds_become_lists_of_their_entries() {
    let rss = "<?xml version='1.0'?><rss version='2.0'><channel><title>Harbour &amp; sea</title>\
               <link>https://h.example/</link><image><title>logo</title></image><item><title>\
               <![CDATA[Ferry <b>returns</b>]]></title><link>/ferry</link><pubDate>Tue, 3 Mar \
               2026 09:00:00 GMT</pubDate><description>&lt;p&gt;It was &lt;i&gt;late&lt;/i&gt;.\
               </description></item><item><title>Storm</title></item></channel></rss>";
    let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><title>Harbour &amp; sea</title><entry>\
                <title type='html'>Ferry &lt;b&gt;returns&lt;/b&gt;</title><link rel='self' \
                href='/no'/><link href='/ferry'/><updated>Tue, 3 Mar 2026 09:00:00 GMT</updated>\
                <author><name>x</name><title>y</title></author><summary>It was late.</summary>\
                </entry><entry><title>Storm</title></entry></feed>";
    for (content_type, feed) in [("application/rss+xml", rss), ("text/xml", atom)] {
        let headers = [&*format!("Content-Type: {content_type}")];
        let server = PageServer::fixed(response("200 OK", &headers, feed));
        let expected = format!(
            "# Harbour & sea\n\n- [Ferry returns]({}) (Tue, 3 Mar 2026 09:00:00 GMT)\\\n  It was \
             late.\n- Storm",
            server.url("/ferry")
        );
        assert_eq!(fetch(&server.url("/")).content(), expected, "{content_type}");
    }
}

#[test]
fn a_meta_refresh_is_followed_like_a_redirect() {
    let server = PageServer::start(|head, wire| {
        let page = match head.split(' ').nth(1) {
            Some("/") => "<meta http-equiv=Refresh content='0; url=/next'><p>Moved",
            Some("/noscript") => {
                "<noscript><meta http-equiv=refresh content=0;url=/next></noscript>"
            }
            Some("/self") => "<meta http-equiv=refresh content='5; url=/self'><p>ticker",
            Some("/loop") => "<meta http-equiv=refresh content='0; url=/loop?'>",
            Some("/loop?") => "<meta http-equiv=refresh content='0; url=/loop'>",
            Some("/private") => "<meta http-equiv=refresh content='0; url=file:///etc/passwd'>",
            _ => "<p>the page",
        };
        let _ = wire.write_all(&html(page));
    });
    for (path, expected) in [("/", "the page"), ("/noscript", "the page"), ("/self", "ticker")] {
        assert_eq!(fetch(&server.url(path)).content(), expected, "{path}");
    }
    for (path, expected) in [
        ("/loop", "Failed to fetch URL: more than 10 redirects"),
        ("/private", "Failed to fetch URL: `file` URLs are not supported, only `http` and `https`"),
    ] {
        assert_eq!(fetch(&server.url(path)).error(), expected, "{path}");
    }
}

#[test]
fn the_user_agent_names_the_program_and_can_be_set() {
    let server = PageServer::fixed(html("<p>x"));
    let input = json!({"url": server.url("/")}).to_string();
    let fetch_as = |agent: &str| {
        run(FETCH, &["--allow-private"], &[("TOOLWRIGHT_WEB_USER_AGENT", agent)], &input)
    };
    assert_eq!(fetch_as("").code, 0);
    assert_eq!(fetch_as("tide-reader/2 (+https://a.example)").code, 0);
    let agents: Vec<String> = server
        .requests()
        .iter()
        .flat_map(|head| head.lines().map(str::to_ascii_lowercase).collect::<Vec<_>>())
        .filter_map(|line| line.strip_prefix("user-agent: ").map(str::to_owned))
        .collect();
    assert!(agents[0].starts_with("toolwright-web/"), "{agents:?}");
    assert_eq!(agents[1], "tide-reader/2 (+https://a.example)");
    assert_eq!(
        fetch_as("a\nb: c").error(),
        "Failed to fetch URL: the user agent has characters that HTTP does not allow"
    );
}
