//! Addresses that may be opened, tabs, and what pages try on their own.

use std::time::Duration;

use serde_json::json;
use toolwright_browser::PageErrorCode;

use crate::page_server::{SiteReply, TestSite};
use crate::{LONG, Page, browser_with, open, settings};

#[tokio::test(flavor = "multi_thread")]
async fn only_allowed_origins_are_opened() {
    let other = TestSite::page("<p>other</p>");
    let (away, link) = (other.url("/"), other.url("/"));
    let server = TestSite::start(move |path| match path {
        "/" => Some(SiteReply::html(format!("<p>here</p><a id=out href='{link}'>out</a>"))),
        "/away" => Some(SiteReply::redirect(&away)),
        _ => None,
    });
    let Some(mut settings) = settings() else { return };
    settings.origins = vec![server.origin()];
    settings.start = Some(server.url("/"));
    let browser = browser_with(settings);
    let tab = browser.tab("session").await.unwrap();
    let page = Page { tab: &tab, origin: server.origin() };
    assert_eq!(page.get("dom.text", json!(["p"])).await, "here");
    let refused = [
        other.url("/"),
        server.url("/away"),
        "file:///etc/passwd".into(),
        "data:text/html,x".into(),
        "chrome://version".into(),
        "javascript:1".into(),
    ];
    for address in refused {
        let error = tab.navigate(&address, LONG).await.unwrap_err();
        assert_eq!(error.code, PageErrorCode::OriginRefused, "{address}: {error}");
        // The page that was there is still there.
        assert_eq!(page.get("dom.text", json!(["p"])).await, "here", "{address}");
    }
    tab.take_notices(&server.origin());
    page.get("dom.click", json!(["#out"])).await;
    let notices = eventually(|| tab.take_notices(&server.origin())).await;
    assert!(notices[0].contains("a navigation was refused"), "{notices:?}");
    assert_eq!(page.get("dom.text", json!(["p"])).await, "here");
    assert_eq!(other.hits(), Vec::<String>::new());
}

/// A test's servers are all on loopback, so addresses of one of them count as public here.
#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_are_opened_only_if_they_are_named() {
    let inner = TestSite::page("<p>inner</p>");
    let (port, links) = (inner.port(), inner.port());
    let server = TestSite::start(move |path| match path {
        "/" => Some(SiteReply::html(format!(
            "<p>here</p><a id=out href='http://localhost:{links}/'>out</a>"
        ))),
        "/number" => Some(SiteReply::redirect(&format!("http://127.0.0.2:{port}/"))),
        "/name" => Some(SiteReply::redirect(&format!("http://localhost:{port}/"))),
        _ => None,
    });
    let Some(mut settings) = settings() else { return };
    settings.is_private = Some(|address| address.to_string() != "127.0.0.1");
    let browser = browser_with(settings.clone());
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    let page = Page { tab: &tab, origin: server.origin() };
    let number = format!("http://127.0.0.2:{port}");
    for address in [number.clone(), server.url("/number"), server.url("/name")] {
        let error = tab.navigate(&address, LONG).await.unwrap_err();
        assert_eq!(error.code, PageErrorCode::OriginRefused, "{address}: {error}");
        assert_eq!(page.get("dom.text", json!(["p"])).await, "here", "{address}");
    }
    tab.take_notices(&server.origin());
    page.get("dom.click", json!(["#out"])).await;
    let notices = eventually(|| tab.take_notices(&server.origin())).await;
    assert!(notices[0].contains("this machine or its network"), "{notices:?}");
    let error = page.ask("fetch", json!([number])).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::OriginRefused, "{error}");
    assert_eq!(inner.hits(), Vec::<String>::new());
    settings.origins = vec![server.origin(), format!("http://localhost:{port}")];
    let browser = browser_with(settings);
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&server.url("/name"), LONG).await.unwrap();
    assert_eq!(inner.hits(), ["GET /"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_cannot_be_opened() {
    let server = TestSite::page("<p>here</p>");
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    // Nothing listens on the port of a server that is gone.
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = tab.navigate(&format!("http://{unused}/"), LONG).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::Refused);
    assert!(error.message.contains("ERR_CONNECTION_REFUSED"), "{error}");
    // A server that never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", silent.local_addr().unwrap());
    let error = tab.navigate(&address, Duration::from_millis(500)).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::Timeout);
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    let page = Page { tab: &tab, origin: server.origin() };
    assert_eq!(page.get("dom.text", json!(["p"])).await, "here");
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_of_a_session() {
    let server = TestSite::start(|path| {
        matches!(path, "/a" | "/b").then(|| SiteReply::html(format!("<title>{path}</title>")))
    });
    let Some((browser, first)) = open(&server, "/a").await else { return };
    let second = browser.open_tab("session").await.unwrap();
    second.navigate(&server.url("/b"), LONG).await.unwrap();
    let list = |tabs: Vec<toolwright_browser::TabInfo>| -> Vec<String> {
        let line = |tab: &toolwright_browser::TabInfo| {
            let mark = if tab.is_current { "*" } else { "" };
            format!("{} {}{mark}", tab.number, tab.title)
        };
        tabs.iter().map(line).collect()
    };
    assert_eq!(list(browser.tabs("session").await), ["1 /a", "2 /b*"]);
    assert!(browser.tabs("another").await.is_empty());
    assert_eq!(browser.switch_tab("session", 1).await.unwrap().number(), first.number());
    assert_eq!(browser.tab("session").await.unwrap().number(), 1);
    browser.close_tab("session", 1).await.unwrap();
    assert_eq!(browser.tab("session").await.unwrap().number(), 2);
    assert!(browser.switch_tab("session", 1).await.is_err());
    assert!(browser.close_tab("another", 2).await.is_err());
    browser.end_session("session").await;
    assert!(browser.tabs("session").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn back_and_waiting() {
    let server = TestSite::start(|path| match path {
        "/a" => Some(SiteReply::html("<p id=a>a</p>")),
        "/b" => Some(SiteReply::html(
            "<p id=b>b</p><script>setTimeout(() => location.href = '/late', 200)</script>",
        )),
        "/late" => Some(SiteReply::html(
            "<script>setTimeout(() => { document.body.id = 'late' }, 200)</script><body>",
        )),
        _ => None,
    });
    let Some((_browser, tab)) = open(&server, "/a").await else { return };
    tab.navigate(&server.url("/b"), LONG).await.unwrap();
    // Across a navigation that the page itself begins.
    tab.wait_for("#late", LONG).await.unwrap();
    let error = tab.wait_for("#never", Duration::from_millis(300)).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::Timeout);
    let error = tab.wait_for("p[", LONG).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::BadOperation);
    tab.back(&server.origin(), LONG).await.unwrap();
    tab.wait_for("#a, #b", LONG).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_windows_and_downloads_are_refused_and_reported() {
    let other = TestSite::page("<p>other</p>");
    let target = other.url("/");
    let server = TestSite::start(move |path| {
        (path == "/").then(|| {
            SiteReply::html(format!(
                "<p id=log></p><button id=ask onclick=\"log.textContent = \
                 [alert('hello'), confirm('sure?'), prompt('name?')].join()\"></button>
                 <button id=open onclick=\"window.open('{target}'); window.open('{target}', '_blank', 'noopener')\"></button>
                 <a id=blank target=_blank href='{target}'>x</a>
                 <a id=save download=x.txt href='data:text/plain,x'>x</a>"
            ))
        })
    });
    let Some((browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    page.get("dom.click", json!(["#ask"])).await;
    assert_eq!(page.get("dom.text", json!(["#log"])).await, ",false,");
    // Not for those who see another page.
    assert_eq!(tab.take_notices(&other.origin()), Vec::<String>::new());
    let notices = tab.take_notices(&server.origin());
    assert_eq!(notices.len(), 3, "{notices:?}");
    assert_eq!(notices[0], "a dialog (alert) of the page was dismissed: hello");
    for (target, expected) in [("#open", "window"), ("#blank", "window"), ("#save", "download")] {
        page.get("dom.click", json!([target])).await;
        let notices = eventually(|| tab.take_notices(&server.origin())).await;
        assert!(notices[0].contains(expected), "{target}: {notices:?}");
    }
    assert_eq!(browser.tabs("session").await.len(), 1);
    assert_eq!(other.hits(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_goes_away_ends_calls_on_it() {
    let other = TestSite::page("<p>other</p>");
    let target = other.url("/");
    let server = TestSite::start(move |path| {
        (path == "/").then(|| {
            SiteReply::html(format!(
                "<p>x</p><button onclick=\"setTimeout(() => location.href = '{target}', 300)\">"
            ))
        })
    });
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    page.get("dom.click", json!(["button"])).await;
    let error = page.ask("dom.observe", json!(["body", 30_000])).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::Navigated);
    let error = page.ask("dom.text", json!(["p"])).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::OtherOrigin);
    let there = Page { tab: &tab, origin: other.origin() };
    assert_eq!(there.get("dom.text", json!(["p"])).await, "other");
}

/// Waits for notices, which come with events.
async fn eventually(take: impl Fn() -> Vec<String>) -> Vec<String> {
    for _ in 0..600 {
        let notices = take();
        if !notices.is_empty() {
            return notices;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nothing was reported");
}
