//! `toolwright-bench web`: the web tools.
//!
//! Conversion of HTML to Markdown, against parsing alone and against turndown and markdownify on
//! the same pages; of the main content only, against parsing, trafilatura and readability. Then the
//! processor time of `web-fetch-tool`, beyond that of a program that does nothing: an agent starts
//! it for every call.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use toolwright_web::{HtmlDocument, MarkdownOptions, PageContent};

use crate::processes::built_program;
use crate::timing::{compare, median, time, verdict};

/// How often a program is started in one measurement of its processor time.
const STARTS: usize = 200;

/// Generates pages like those that agents read: an article, a reference, a table, an index of
/// links.
fn pages() -> Vec<(&'static str, String)> {
    let shell = |title: &str, body: &str| {
        format!(
            "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>{title}</title><style>p {{ \
             margin: 0 }}</style>\
             <script>window.dataLayer = [];</script></head><body class=\"page\"><nav><ul><li><a \
             href=\"/\">Home</a></li></ul></nav>\
             <main id=\"content\"><h1>{title}</h1>{body}</main><footer class=\"f\"><p>&copy; \
             2026</p></footer></body></html>"
        )
    };
    let mut article = String::new();
    for n in 0..400 {
        let _ = write!(
            article,
            "<h2 id=\"s{n}\" class=\"heading\">Section {n}</h2>\n<p class=\"lead\">The harbour of \
             town {n} was built in <em>18{:02}</em> and \
             has <strong>{} berths</strong>, as <a class=\"link\" href=\"/towns/{n}?lang=en\" \
             title=\"Town {n}\">its page</a> says. Ships of up to \
             {n} metres may enter; larger ones wait outside until the tide is high, which it is \
             twice a day &mdash; at noon and at \
             midnight, more or less. Nobody remembers why.</p>\n<ul class=\"plain\"><li>cranes: \
             {n}</li><li>pilots: <code>{n}</code></li>\
             <li>lights: two, one <i>red</i> and one green</li></ul>\n<blockquote><p>It is a good \
             harbour.</p></blockquote>\n",
            n % 100,
            n * 3,
        );
    }
    let mut reference = String::new();
    for n in 0..300 {
        let _ = write!(
            reference,
            "<section class=\"method\" id=\"m{n}\"><h3><code>fn open_{n}(path: &amp;Path) -&gt; \
             Result&lt;File&gt;</code></h3><div class=\"docs\">\
             <p>Opens file <code>{n}</code>. See <a \
             href=\"struct.File.html#method.close_{n}\"><code>close_{n}</code></a>.</p>\
             <pre class=\"language-rust\"><code><span class=\"kw\">let</span> file = \
             open_{n}(<span class=\"string\">\"a_b\"</span>)?;\n\
             <span class=\"kw\">if</span> file.len() &lt; {n} {{\n    \
             return;\n}}\n</code></pre><dl><dt>path</dt><dd>where it \
             is</dd></dl></div></section>\n",
        );
    }
    let mut figures = String::from(
        "<table><thead><tr><th>town</th><th \
         align=\"right\">ships</th><th>since</th><th>note</th></tr></thead><tbody>",
    );
    for n in 0..2000 {
        let _ = writeln!(
            figures,
            "<tr class=\"r{}\"><td><a href=\"/t/{n}\">Town {n}</a></td><td \
             align=\"right\">{}</td><td>{}</td><td>a|b <b>x</b></td></tr>",
            n % 2,
            n * 7,
            1800 + n % 200
        );
    }
    figures.push_str("</tbody></table>");
    let mut index = String::from("<ul>");
    for n in 0..2500 {
        let _ = writeln!(
            index,
            "<li class=\"entry\"><a href=\"entry-{n}.html\">entry_{n}</a>, <a \
             href=\"#e{n}\">[{n}]</a><ul><li>see also <a \
             href=\"https://example.org/{n}\">{n}</a></li></ul></li>"
        );
    }
    index.push_str("</ul>");
    vec![
        ("article", shell("Harbours", &article)),
        ("reference", shell("Files", &reference)),
        ("figures", shell("Figures", &figures)),
        ("index", shell("Index", &index)),
    ]
}

/// Measures both and prints the figures. Peers that are not installed in `peers` are left out.
pub(crate) fn run(peers: &Path) {
    let pages = pages();
    let folder = peers.join("pages");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, page) in &pages {
        std::fs::write(folder.join(name).with_extension("html"), page).expect("a page");
    }
    println!(
        "converting HTML to Markdown, {} pages, {} KiB",
        pages.len(),
        pages.iter().map(|(_, p)| p.len()).sum::<usize>() >> 10
    );
    let base = url::Url::parse("https://example.com/docs/page.html").expect("a URL");
    let options = MarkdownOptions::default();
    let main = MarkdownOptions { content: PageContent::Main, ..MarkdownOptions::default() };
    let (mut total, mut main_total) = (0.0, 0.0);
    for (name, page) in &pages {
        let (ours, parse, ratio) = compare(
            41,
            || drop(toolwright_web::markdown(page, Some(&base), &options)),
            || drop(HtmlDocument::parse(page, &options)),
        );
        let per_mb =
            |time: std::time::Duration| time.as_secs_f64() * 1e3 / (page.len() as f64 / 1e6);
        total += ours.as_secs_f64();
        println!(
            "  {name:<10} convert {:.2} ms/MB   only parse {:.2} ms/MB   {ratio:.2}x the time \
             (bound 1.25) {}",
            per_mb(ours),
            per_mb(parse),
            verdict(ratio <= 1.25)
        );
        let (ours, _, ratio) = compare(
            41,
            || drop(toolwright_web::markdown(page, Some(&base), &main)),
            || drop(HtmlDocument::parse(page, &main)),
        );
        main_total += ours.as_secs_f64();
        println!(
            "  {name:<10} main content {:.2} ms/MB   {ratio:.2}x the time of parsing (bound 2) {}",
            per_mb(ours),
            verdict(ratio <= 2.0)
        );
    }
    for (peer, at_least, total, command) in [
        ("turndown", 10.0, total, vec!["node", "bench/turndown_pages.cjs"]),
        (
            "markdownify",
            15.0,
            total,
            vec!["bench/peers/markdownify/bin/python", "bench/markdownify_pages.py"],
        ),
        (
            "trafilatura",
            10.0,
            main_total,
            vec!["bench/peers/trafilatura/bin/python", "bench/trafilatura_pages.py"],
        ),
        ("readability", 10.0, main_total, vec!["node", "bench/readability_pages.cjs"]),
    ] {
        let output = Command::new(command[0]).args(&command[1..]).arg(peers).output();
        let seconds = output
            .ok()
            .and_then(|output| String::from_utf8(output.stdout).ok()?.trim().parse::<f64>().ok());
        match seconds {
            Some(seconds) => {
                let ratio = seconds / total;
                println!(
                    "  all pages  ours {:.1} ms   {peer} {:.1} ms   ours is {ratio:.1}x as fast \
                     (bound {at_least}) {}",
                    total * 1e3,
                    seconds * 1e3,
                    verdict(ratio >= at_least)
                );
            }
            None => println!("  {peer} is not installed and not measured"),
        }
    }
    starts();
}

/// Processor time of one run, in milliseconds. A shell runs the command many times and prints with
/// `times` what its children took, because one run is shorter than the clock's resolution.
fn processor_time(command: &str) -> f64 {
    let script = format!("for ((i = 0; i < {STARTS}; i++)); do {command}; done; times");
    let output = Command::new("bash").args(["-c", &script]).output().expect("bash");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The last line is about the children, user and system: `0m1.234s 0m0.567s`.
    let seconds = |word: &str| {
        let (minutes, seconds) = word.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let children = text.lines().last().unwrap_or_default();
    children.split_whitespace().filter_map(seconds).sum::<f64>() * 1e3 / STARTS as f64
}

/// Measures the processor time of `web-fetch-tool` on a page from a local server.
fn starts() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>Tides</h1><p>High at \
                  <b>noon</b>.</p>",
            );
        }
    });
    let (tool, noop) = (built_program("web-fetch-tool"), built_program("noop"));
    let schema = format!("{tool} --schema > /dev/null");
    let fetch =
        format!("{tool} --allow-private <<< '{{\"url\": \"http://{address}/\"}}' > /dev/null");
    // With the same input: the shell writes it to a pipe, whether the program reads it or not.
    let idle = format!("{noop} <<< '{{\"url\": \"http://{address}/\"}}' > /dev/null");
    println!(
        "web-fetch-tool: processor time beyond that of a program that does nothing; {STARTS} \
         starts \
         each, median of 5"
    );
    for (what, command, at_most) in
        [("--schema", schema, 1.0), ("a fetch over loopback", fetch, 3.0)]
    {
        let beyond = (0..5).map(|_| processor_time(&command) - processor_time(&idle)).collect();
        let beyond: f64 = median(beyond);
        println!("  {what}: {beyond:.2} ms (bound {at_most}) {}", verdict(beyond <= at_most));
    }
    let wall = median(
        (0..50).map(|_| time(|| drop(Command::new(&tool).arg("--schema").output()))).collect(),
    );
    println!("  --schema: {:.2} ms from start to end, wall clock", wall.as_secs_f64() * 1e3);
}
