//! Hostile servers and pages: time and memory stay within bounds, and the outcome is a clear error
//! or a correct result.
//!
//! The times in assertions are wide on purpose: they have to hold on a machine that is busy with
//! other work. Without the limits under test, these cases would take minutes or never end.

use std::io::Write;
use std::time::{Duration, Instant};

use toolwright_web::{ConversionError, FetchError, FetchOptions, MarkdownOptions, markdown};

use crate::executables::{ToolRun, fetch};
use crate::http_server::{PageServer, Wire, hold_open, html, response};
use crate::in_time;

/// KiB of memory that no run may exceed.
const MAX_MEMORY: u64 = 128 << 10;

/// No run may take longer. The executable's own deadline is 25 seconds.
const MAX_TIME: Duration = Duration::from_secs(90);

/// Checks time and memory of a run.
fn bounded(run: ToolRun) -> ToolRun {
    assert!(run.elapsed < MAX_TIME, "{:?}", run.elapsed);
    assert!(run.peak < MAX_MEMORY, "{} KiB", run.peak);
    run
}

/// Fetches a page that cannot be fetched, and returns the error.
fn fetch_error(url: String, options: FetchOptions) -> FetchError {
    in_time(move || toolwright_web::fetch(&url, &options).map(|_| ())).expect_err("it fails")
}

/// Sends `head`, and then `piece` again and again until the client closes the connection.
fn endless(wire: &mut dyn Wire, head: &[u8], piece: &[u8]) {
    let piece = piece.repeat((64 << 10) / piece.len());
    let _ = wire.write_all(head);
    while wire.write_all(&piece).is_ok() {}
}

#[test]
fn endless_bodies_are_refused() {
    let too_large = "Failed to fetch URL: the response is larger than 10 MiB";
    let plain = PageServer::start(|_, wire| {
        endless(wire, b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"<p>more ")
    });
    assert_eq!(bounded(fetch(&plain.url("/"))).error(), too_large);
    let chunked = PageServer::start(|_, wire| {
        let head =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";
        endless(wire, head, b"10\r\n<p>more and more\r\n");
    });
    assert_eq!(bounded(fetch(&chunked.url("/"))).error(), too_large);
    let declared = PageServer::start(|_, wire| {
        let _ = wire.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1073741824\r\n\r\n<p>x",
        );
        hold_open(wire);
    });
    // Refused by its declared length: waiting for the body would end with a timeout.
    assert_eq!(bounded(fetch(&declared.url("/"))).error(), too_large);
    let redirecting = PageServer::start(|_, wire| {
        endless(wire, b"HTTP/1.1 302 Found\r\nLocation: /again\r\n\r\n", b"moved ");
    });
    assert_eq!(
        bounded(fetch(&redirecting.url("/"))).error(),
        "Failed to fetch URL: more than 10 redirects"
    );
}

#[test]
fn compression_bombs_are_refused() {
    let spaces = vec![b' '; 64 << 20];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&spaces).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut brotli = brotli::CompressorWriter::new(Vec::new(), 1 << 16, 1, 24);
    brotli.write_all(&spaces).unwrap();
    let brotli = brotli.into_inner();
    for (encoding, body) in [("gzip", gzip), ("br", brotli)] {
        let headers = ["Content-Type: text/html", &format!("Content-Encoding: {encoding}")];
        let server = PageServer::fixed(response("200 OK", &headers, body));
        let run = bounded(fetch(&server.url("/")));
        assert_eq!(
            run.error(),
            "Failed to fetch URL: the response is larger than 10 MiB",
            "{encoding}"
        );
    }
}

#[test]
fn endless_headers_are_refused() {
    let many =
        PageServer::start(|_, wire| endless(wire, b"HTTP/1.1 200 OK\r\n", b"X-Flood: more\r\n"));
    let error = bounded(fetch(&many.url("/"))).error();
    assert!(error.starts_with("Failed to fetch URL: "), "{error}");
    let long = PageServer::start(|_, wire| endless(wire, b"HTTP/1.1 200 OK\r\nX-Flood: ", b"more"));
    assert_eq!(
        bounded(fetch(&long.url("/"))).error(),
        "Failed to fetch URL: the headers of the response are too large"
    );
    let informing =
        PageServer::start(|_, wire| endless(wire, b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"));
    let error = bounded(fetch(&informing.url("/"))).error();
    assert!(error.starts_with("Failed to fetch URL: "), "{error}");
}

/// Sends one byte every 20 ms until the client closes the connection. Each byte is progress, which
/// must not extend the client's deadline.
fn drip(wire: &mut dyn Wire, text: &[u8]) {
    for byte in text.iter().cycle() {
        if wire.write_all(&[*byte]).and_then(|()| wire.flush()).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn slow_servers_do_not_extend_the_deadline() {
    let page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let servers = [
        ("silence", PageServer::start(|_, wire| hold_open(wire))),
        ("head", PageServer::start(|_, wire| drip(wire, b"HTTP/1.1 200 OK\r\nX: y\r\nZ: "))),
        (
            "body",
            PageServer::start(move |_, wire| {
                let _ = wire.write_all(page);
                drip(wire, b"<p>slow");
            }),
        ),
        // The deadline passes long before the limit of ten redirects is reached.
        (
            "redirects",
            PageServer::start(|_, wire| {
                std::thread::sleep(Duration::from_millis(300));
                let _ = wire.write_all(&response("302 Found", &["Location: /"], ""));
            }),
        ),
    ];
    let options = FetchOptions {
        allow_private: true,
        timeout: Duration::from_millis(800),
        ..FetchOptions::default()
    };
    for (name, server) in servers {
        let error = fetch_error(server.url("/"), options.clone());
        assert!(matches!(error, FetchError::Timeout), "{name}: {error}");
        assert_eq!(error.to_string(), "Connection timeout");
    }
    // The handshake of TLS. One listener never accepts, so it gets no answer; the other one sends
    // the header of a long record, then its content byte by byte.
    let listen = || std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (silent, slow) = (listen(), listen());
    let addresses = [&silent, &slow].map(|listener| listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in slow.incoming().flatten() {
            let _ = stream.write_all(&[22, 3, 3, 64, 0]);
            drip(&mut stream, b"x");
        }
    });
    for url in addresses.map(|address| format!("https://{address}/")) {
        let error = fetch_error(url.clone(), options.clone());
        assert!(matches!(error, FetchError::Timeout), "{url}: {error}");
    }
}

/// Agents give a tool 30 seconds; its own message has to arrive before that.
#[test]
fn the_executable_gives_up_after_25_seconds() {
    let servers = [
        PageServer::start(|_, wire| hold_open(wire)),
        PageServer::start(|_, wire| drip(wire, b"HTTP/1.1 200 OK\r\nX: y\r\nZ: ")),
        PageServer::start(|_, wire| {
            let _ = wire.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
            drip(wire, b"<p>slow");
        }),
    ];
    let runs = servers.map(|server| std::thread::spawn(move || fetch(&server.url("/"))));
    for run in runs {
        let run = run.join().expect("no panic");
        assert_eq!(run.error(), "Failed to fetch URL: Connection timeout");
        assert!(run.elapsed >= Duration::from_secs(24), "{:?}", run.elapsed);
        bounded(run);
    }
}

#[test]
fn deeply_nested_and_oversized_pages_are_converted_or_refused() {
    let attributes: String = (0..20_000).map(|n| format!(" a{n}=b")).collect();
    let lists = format!("{}core{}", "<ul><li>x".repeat(3_000), "</ul>".repeat(3_000));
    let nested = |tag: &str, count: usize| {
        format!(
            "{}core{}<p>after",
            format!("<{tag}>").repeat(count),
            format!("</{tag}>").repeat(count)
        )
    };
    let fonts: String = (0..5_000).map(|n| format!("<p><font size={n}>x")).collect();
    for (name, page, needle) in [
        ("100,000 divs", nested("div", 100_000), "core"),
        ("100,000 spans", nested("span", 100_000), "core"),
        ("100,000 bs", nested("b", 100_000), "core"),
        ("100,000 quotes", nested("blockquote", 100_000), "core"),
        ("100,000 unclosed", format!("{}core", "<div>".repeat(100_000)), "core"),
        ("20,000 attributes", format!("<p{attributes}>core</p>"), "core"),
        ("3,000 lists", lists, "core"),
        (
            "10,000 tables",
            nested("table><tr><td", 10_000).replace("</table><tr><td>", "</table>"),
            "core",
        ),
        ("nested links", nested("a href=x", 20_000), "core"),
        ("formatting to reopen", fonts, "x"),
        (
            "huge spans",
            "<table><tr><td colspan=1000 rowspan=65000>core<tr><td>b</table>".repeat(200),
            "core",
        ),
        ("deep svg", format!("<svg>{}</svg><p>core", "<g>".repeat(50_000)), "core"),
        ("one long word", format!("<p>core{}", "x".repeat(5 << 20)), "core"),
        ("stars", format!("<p>core{}", "*".repeat(1 << 20)), "core"),
    ] {
        let server = PageServer::fixed(html(&page));
        let run = bounded(fetch(&server.url("/")));
        if run.code == 0 {
            assert!(run.content().contains(needle), "{name}");
        } else {
            assert_eq!(run.error(), "Failed to parse HTML: Invalid document structure", "{name}");
        }
    }
}

#[test]
fn pages_of_10_mib_stay_within_time_and_memory() {
    let fill = |piece: &str| piece.repeat((10 << 20) / piece.len());
    // Repeats a piece that has so many nodes, up to just below the limit on nodes.
    let many = |piece: &str, nodes: usize| piece.repeat(740_000 / nodes);
    let long_base = format!("<base href='http://h/{}/'>", "A".repeat(60_000));
    for (name, page) in [
        ("tags", fill("<b>")),
        ("paragraphs", fill("<p>x")),
        ("empty elements", fill("<i></i>")),
        ("text", fill("word ")),
        ("markup characters", fill("*_`[")),
        ("entities", fill("&lt;")),
        ("cells", format!("<table>{}", fill("<td>x"))),
        (
            "attributes of one tag",
            format!("<p {}>", (0..1_000_000).map(|n| format!("a{n} ")).collect::<String>()),
        ),
        ("comments", fill("<!---->")),
        ("links", fill("<a href=x>y</a>")),
        ("links of one paragraph", format!("<p>{}", "<a href=a>b</a>".repeat(370_000))),
        ("images of one paragraph", fill("<img src=a alt=b>")),
        ("links on a long base", format!("{long_base}{}", "<a href=a>b</a>".repeat(60_000))),
        ("images on a long base", format!("{long_base}{}", "<img src=a>".repeat(60_000))),
        (
            "cells on a long base",
            format!("{long_base}<table><th>h<th>i<tr><td>{}", "<img src=a>".repeat(60_000)),
        ),
        (
            "headings on a long base",
            format!("{long_base}{}", "<h1><a href=a>b</a></h1>".repeat(60_000)),
        ),
        (
            "unusual addresses on a long base",
            format!("{long_base}<p>{}", "<img src=' ./a'>".repeat(60_000)),
        ),
        (
            "a long link around paragraphs",
            format!("<a href='{0}' title='{0}'>{1}", "A ".repeat(1 << 20), "<p>y".repeat(300_000)),
        ),
        (
            "rows beside a wide one",
            format!("<table><tr>{}{}", "<th>x".repeat(256), many("<tr><td>", 2)),
        ),
        (
            "rows below a tall one",
            format!("<table><tr><th rowspan=65000 colspan=256>x{}", many("<tr>", 1)),
        ),
        ("one row", format!("<table><tr><th>x<tr>{}", many("<td>", 1))),
        ("lines of quoted code", format!("{}<pre>{}x", "<blockquote>".repeat(32), fill("\n"))),
        ("lines of code in a cell", format!("<table><tr><th>h<th>i<tr><td><pre>{}", fill("a\n"))),
        ("breaks", format!("<p>x{}", many("&nbsp;<br>", 2))),
        ("breaks in a heading", format!("<h1>x{}", many("<br>", 1))),
        (
            "breaks in bold cells",
            format!("<table><tr><th>h<th>i<tr><td>x{}{}", "<b>".repeat(400), many("<br>", 1)),
        ),
        ("spaces in a heading", format!("<h1>x{}", many("&nbsp;<b></b>", 2))),
        ("quoted breaks", format!("{}x{}", "<blockquote>".repeat(32), many("a<br>", 2))),
        ("summaries", fill("<details><summary>x</summary>")),
        ("terms", many("<dt>x", 2)),
        ("attributes", fill("<img src=123456789 alt=123456789 title=123456789>")),
        ("short attributes", fill("<img src=a alt=b title=c>")),
        ("definitions", many("<dl><dd><b>x", 4)),
        ("a long base", format!("<base href='http://h/{}'><a href=x>y", fill("A"))),
        ("a long title of a link", format!("<a href=x title='{}'>y", fill("A"))),
        ("a long style", format!("<p style='{}'>y", fill("a:b;"))),
        ("a long class", format!("<div class='{}'>y", fill("a "))),
        ("structured data", format!("<script type=application/ld+json>{}", fill("["))),
        ("noscript", format!("<script></script><noscript>{}", fill("<p>"))),
        ("frames", fill("<iframe srcdoc='<p>x'></iframe>")),
        ("refresh", format!("<meta http-equiv=refresh content='0;{}'>", fill("x"))),
        ("decorations", fill("<b aria-hidden=true>")),
        ("hidden", fill("<p style=opacity:0>x")),
        ("invisible characters", fill("\u{200b}\u{e0041}")),
        ("srcset", format!("<img srcset='{}'>", fill(","))),
    ] {
        let server = PageServer::fixed(html(&page[..page.len().min(10 << 20)]));
        let run = fetch(&server.url("/"));
        assert!(run.peak < MAX_MEMORY, "{name}: {} KiB", run.peak);
        assert!(run.elapsed < MAX_TIME, "{name}: {:?}", run.elapsed);
        assert!(
            run.code == 0 || run.error() == "Failed to parse HTML: Invalid document structure",
            "{name}: {run:?}"
        );
    }
}

#[test]
fn hostile_feeds_stay_within_time_and_memory() {
    let fill =
        |start: &str, piece: &str| format!("<rss>{start}{}", piece.repeat((9 << 20) / piece.len()));
    for (name, feed) in [
        ("items", fill("", "<item><title>&amp;</title></item>")),
        ("titles", fill("", "<title>&amp;</title>")),
        ("pieces", fill("<title>", "&amp;<b/>")),
        ("one field", fill("<item><description>", "&lt;p&gt;")),
        ("sections", fill("<title>", "<![CDATA[<]]>")),
        ("open tags", fill("", "<item>")),
        ("comments", fill("", "<!--")),
        ("attributes", fill("<link ", "href= ")),
    ] {
        let headers = ["Content-Type: application/rss+xml"];
        let server = PageServer::fixed(response("200 OK", &headers, feed));
        let run = bounded(fetch(&server.url("/")));
        assert_eq!(run.code, 0, "{name}: {run:?}");
    }
}

#[test]
fn the_main_content_of_hostile_pages_is_selected_within_time() {
    let nested = |tag: &str, count: usize| format!("<{tag}>").repeat(count);
    let many = |piece: &str| piece.repeat(100_000);
    for (name, page) in [
        ("divs", nested("div", 50_000) + "core"),
        ("articles", nested("article", 50_000) + "core"),
        ("mains", many("<main>x</main>")),
        ("nested comments", nested("div class=comment", 50_000) + "core"),
        ("lists of links", many("<ul><li><a href=x>y</a></ul>")),
        ("permalinks", many("<a href='#x'>")),
        ("decorations", nested("div aria-hidden=true", 500) + &many("<i></i>")),
        ("columns", nested("div", 400) + &many("<p>some text that is long enough to be prose")),
    ] {
        let options = MarkdownOptions {
            content: toolwright_web::PageContent::Main,
            deadline: Some(Instant::now() + Duration::from_secs(60)),
            ..MarkdownOptions::default()
        };
        let page = in_time(move || toolwright_web::convert(page, None, &options));
        assert_ne!(page.err(), Some(ConversionError::TooSlow), "{name}");
    }
    let options = MarkdownOptions {
        content: toolwright_web::PageContent::Main,
        deadline: Some(Instant::now()),
        ..MarkdownOptions::default()
    };
    let page = toolwright_web::HtmlDocument::parse("<p>x", &MarkdownOptions::default()).unwrap();
    assert_eq!(page.to_markdown(None, &options), Err(ConversionError::TooSlow));
}

#[test]
fn ten_million_lines_of_text_are_counted() {
    let text = format!("{}x", "\n".repeat((10 << 20) - 1));
    let server = PageServer::fixed(response("200 OK", &["Content-Type: text/plain"], text));
    let run = bounded(fetch(&server.url("/")));
    assert_eq!(run.json()["lines_read"], 10 << 20);
}

#[test]
fn a_long_base_address_does_not_multiply_the_output() {
    let long = format!("/{}/", "A".repeat(60_000));
    let server = PageServer::start(move |head, wire| {
        let _ = match head.starts_with("GET / ") {
            true => wire.write_all(&response("302 Found", &[&format!("Location: {long}")], "")),
            false => wire.write_all(&html(&"<img src=a>".repeat(60_000))),
        };
    });
    let run = bounded(fetch(&server.url("/")));
    assert_eq!(run.error(), "Failed to parse HTML: Invalid document structure");
}

#[test]
fn the_limits_of_the_conversion_are_enforced() {
    let options = |change: fn(&mut MarkdownOptions)| {
        let mut options = MarkdownOptions::default();
        change(&mut options);
        options
    };
    let page = "<p>some <b>text</b></p>".repeat(1000);
    assert_eq!(
        markdown(&page, None, &options(|o| o.max_nodes = 100)),
        Err(ConversionError::TooLarge)
    );
    assert_eq!(
        markdown(&page, None, &options(|o| o.max_output = 1000)),
        Err(ConversionError::TooLarge)
    );
    assert_eq!(
        markdown(&page, None, &options(|o| o.deadline = Some(Instant::now()))),
        Err(ConversionError::TooSlow)
    );
    let deep = format!("{}<p>text{}<p>after", "<section>".repeat(40), "</section>".repeat(40));
    assert_eq!(
        markdown(&deep, None, &options(|o| o.max_depth = 16)).as_deref(),
        Ok("text\n\nafter")
    );
}
