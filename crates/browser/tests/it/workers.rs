//! Code in a worker: it reaches its host and nothing else, and ends in time.

use std::net::UdpSocket;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value as Json, json};
use toolwright_browser::{Browser, HostAnswer, PageError, PageErrorCode, WorkerCode, WorkerHost};

use crate::page_server::TestSite;
use crate::{LONG, Page, browser_with, open, settings};

/// Answers `[n]` with n + 1 and remembers what it was asked.
#[derive(Default)]
struct Counter(Mutex<Vec<String>>);

impl WorkerHost for Counter {
    fn answer(&self, message: String) -> HostAnswer<'_> {
        let number = serde_json::from_str::<Json>(&message).ok().and_then(|it| it[0].as_u64());
        self.0.lock().unwrap().push(message);
        Box::pin(async move {
            match number {
                // An answer that comes late holds up who asked for it, and nobody else.
                Some(0) => tokio::time::sleep(Duration::from_millis(200)).await,
                Some(99) => std::future::pending().await,
                _ => {}
            }
            json!(number.unwrap_or_default() + 1).to_string()
        })
    }
}

async fn run(browser: &Browser, script: &str, within: Duration) -> Result<String, PageError> {
    let code = WorkerCode { script, module: "export default 7;" };
    browser.run_worker(code, &Counter::default(), within).await
}

const END: &str = "const end = (text) => { const x = new XMLHttpRequest(); \
                   x.open('POST', '/end', false); x.send(text); };\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_asks_its_host_and_imports_its_module() {
    let Some(settings) = settings() else { return };
    let browser = browser_with(settings);
    let script = format!(
        "{END}const ask = (n) => {{ const x = new XMLHttpRequest(); x.open('POST', '/ask', false); \
         x.send(JSON.stringify([n])); return Number(x.responseText); }};
         const later = async (n) => Number(await (await fetch('/ask', {{ method: 'POST', \
         body: JSON.stringify([n]) }})).text());
         (async () => {{
           const order = [];
           const slow = later(0).then((n) => order.push(n));
           const fast = later(1).then((n) => order.push(n));
           const now = ask(2);
           await Promise.all([slow, fast]);
           const module = await import('/body.js');
           end(JSON.stringify([now, order, module.default, 'é😀'.repeat(100000).length]));
         }})();"
    );
    let host = Counter::default();
    let code = WorkerCode { script: &script, module: "export default 7;" };
    let result = browser.run_worker(code, &host, LONG).await.unwrap();
    assert_eq!(result, "[3,[2,1],7,300000]");
    assert_eq!(host.0.lock().unwrap().len(), 3);
    // One that never asks is ended in time, also while its host does not answer.
    for script in ["", &script.replace("ask(2)", "ask(99)")] {
        let error = run(&browser, script, Duration::from_secs(2)).await.unwrap_err();
        assert_eq!(error.code, PageErrorCode::Timeout, "{error}");
    }
    // Nothing is kept from one worker for the next.
    let keep = format!(
        "{END}(async () => {{ const open = indexedDB.open('kept', 1); await new Promise((done) => \
         {{ open.onsuccess = done; open.onerror = done; }}); \
         const cache = await caches.open('kept'); await cache.put('/x', new Response('x')); \
         end(JSON.stringify([(await indexedDB.databases()).length, (await caches.keys()).length])) \
         }})().catch((error) => end(String(error)));"
    );
    let look = format!(
        "{END}(async () => end(JSON.stringify([(await indexedDB.databases()).length, \
         (await caches.keys()).length])))();"
    );
    assert_eq!(run(&browser, &keep, LONG).await.unwrap(), "[1,1]");
    assert_eq!(run(&browser, &look, LONG).await.unwrap(), "[0,0]");
}

/// Ways out of a worker; each ends with a text.
const PROBES: &[&str] = &[
    "fetch(O + '/fetch')",
    "fetch(O + '/no-cors', { mode: 'no-cors' })",
    "fetch(O + '/keepalive', { keepalive: true, mode: 'no-cors', method: 'POST', body: 'x' })",
    "fetch('/elsewhere')",
    "(async () => { const x = new XMLHttpRequest(); x.open('GET', O + '/xhr', false); \
       x.send(); })()",
    "opened(new WebSocket('ws://127.0.0.1:PORT/socket'))",
    "opened(new EventSource(O + '/events'))",
    "(async () => importScripts(O + '/script.js'))()",
    "import(O + '/module.js')",
    "import('data:text/javascript,import \"' + O + '/nested-module.js\"')",
    "said(new Worker(URL.createObjectURL(new Blob(['fetch(\"' + O + '/nested\")\
       .then(() => postMessage(1), () => postMessage(0))']))))",
    "said(new Worker(O + '/worker.js'))",
    "said(new Worker('/worker.js?again'))",
    "said(new SharedWorker(O + '/shared.js').port)",
    "navigator.serviceWorker.register('/service.js')",
    "(async () => navigator.sendBeacon(O + '/beacon'))()",
    "new WebTransport('https://127.0.0.1:PORT/transport').ready",
    "(async () => { const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:PORT' }] }); \
      p.createDataChannel('x'); await p.setLocalDescription(await p.createOffer()); })()",
    "new FontFace('x', 'url(' + O + '/font)').load()",
    "caches.open('x').then((cache) => cache.add(O + '/cached'))",
    "createImageBitmap(O + '/image')",
    "fetch('data:text/plain,x').then((it) => it.text()).then(() => fetch(O + '/after-data'))",
    "new WebSocketStream('ws://127.0.0.1:PORT/stream').opened",
    "fetch('https://example.invalid/name')",
    "(async () => close())()",
];

#[tokio::test(flavor = "multi_thread")]
async fn nothing_gets_out_of_a_worker() {
    let Some(settings) = settings() else { return };
    // With an icon, so that the browser does not ask for one.
    let other = TestSite::page("<link rel=icon href=data:,><p>x</p>");
    let udp = UdpSocket::bind(("127.0.0.1", other.port())).unwrap();
    udp.set_nonblocking(true).unwrap();
    let browser = browser_with(settings);
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&other.url("/"), LONG).await.unwrap();
    let before = other.connections();
    for probe in PROBES {
        let script = format!(
            "{END}const O = '{origin}';
             const opened = (it) => new Promise((done, fail) => {{ it.onopen = done; \
             it.onerror = () => fail('closed'); }});
             const said = (it) => new Promise((done, fail) => {{ it.onmessage = (e) => done(e.data); \
             it.onerror = () => fail('none'); }});
             const late = new Promise((done) => setTimeout(done, 400, 'late'));
             (async () => {{ try {{ return await Promise.race([late, {probe}]); }} \
             catch (error) {{ return error; }} }})().then((it) => end(String(it)));",
            origin = other.origin(),
        );
        let script = script.replace("PORT", &other.port().to_string());
        // The one that closes itself does not end.
        let closes = probe.contains("close()");
        let within = if closes { Duration::from_secs(2) } else { LONG };
        let result = run(&browser, &script, within).await;
        assert!(result.is_ok() || closes, "{probe}: {result:?}");
        assert_eq!(other.hits().len(), 1, "{probe}: {result:?}: {:?}", other.hits());
        assert_eq!(other.connections(), before, "{probe}: {result:?}");
    }
    let received = udp.recv(&mut [0; 1500]);
    assert!(received.is_err(), "a datagram got out: {received:?}");
    // The page of the session is there, and reaches its server.
    let page = Page { tab: &tab, origin: other.origin() };
    assert_eq!(page.get("dom.text", json!(["p"])).await, "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn loops_of_a_worker_end_with_it() {
    let server = TestSite::page("<p>works</p>");
    let Some((browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    let fine = format!("{END}end('fine');");
    for script in [
        "for (;;);",
        "(async () => { for (;;) await 0; })();",
        "/(a+)+$/.test('a'.repeat(50) + 'b');",
        "const f = () => { queueMicrotask(f); queueMicrotask(f); }; f();",
    ] {
        let result = run(&browser, script, Duration::from_secs(2)).await;
        let code = result.unwrap_err().code;
        let expected = [PageErrorCode::Timeout, PageErrorCode::PageCrashed];
        assert!(expected.contains(&code), "{script}: {code:?}");
        let next = run(&browser, &fine, LONG).await;
        assert_eq!(next.expect(script), "fine", "after {script}");
        assert_eq!(page.get("dom.text", json!(["p"])).await, "works", "after {script}");
    }
}

/// Full Chromium keeps what it is flooded with, and may be ended because of its memory.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_flood_of_requests_the_next_calls_work() {
    let server = TestSite::page("<p>works</p>");
    let Some((browser, _)) = open(&server, "/").await else { return };
    let read = async || {
        run(&browser, &format!("{END}end('fine');"), LONG).await?;
        let tab = browser.tab("session").await?;
        tab.navigate(&server.url("/"), LONG).await?;
        Page { tab: &tab, origin: server.origin() }.ask("dom.text", json!(["p"])).await
    };
    for flood in [
        "for (;;) fetch('/ask', { method: 'POST', body: '[1]' });",
        "for (;;) new Worker('/worker.js');",
        "setInterval(() => fetch('/ask', { method: 'POST', body: '[1]' }), 0);",
        "const s = 'x'.repeat(1e8); for (;;) fetch('/ask', { method: 'POST', body: s });",
    ] {
        let code = run(&browser, flood, Duration::from_secs(2)).await.unwrap_err().code;
        let expected =
            [PageErrorCode::Timeout, PageErrorCode::PageCrashed, PageErrorCode::BrowserFailed];
        assert!(expected.contains(&code), "{flood}: {code:?}");
        let mut found = read().await;
        for _ in 0..5 {
            if !found.as_ref().is_err_and(|error| error.code == PageErrorCode::BrowserFailed) {
                break;
            }
            found = read().await;
        }
        assert_eq!(found.expect(flood), "works");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_takes_too_much_memory_goes_before_the_browser() {
    let Some(mut settings) = settings() else { return };
    let server = TestSite::page("<p>works</p>");
    settings.memory = 900 << 20;
    let browser = browser_with(settings);
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    let bomb = "const all = []; const more = () => { for (let n = 0; n < 20; n++) \
                all.push(new Uint8Array(1 << 20).fill(1)); setTimeout(more, 5); }; more();";
    let error = run(&browser, bomb, LONG).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::PageCrashed, "{error}");
    // The page is the same: the browser was not ended.
    let page = Page { tab: &tab, origin: server.origin() };
    assert_eq!(page.get("dom.text", json!(["p"])).await, "works");
    assert_eq!(server.hits().len(), 1, "{:?}", server.hits());
    assert_eq!(run(&browser, &format!("{END}end('fine');"), LONG).await.unwrap(), "fine");
}

#[tokio::test(flavor = "multi_thread")]
async fn code_in_the_page_itself_is_held_to_its_origin_and_its_time() {
    let server = TestSite::start(|path| match path {
        "/" => Some(crate::page_server::SiteReply::html("<p>one</p>").with(
            "content-security-policy: default-src 'none'; require-trusted-types-for 'script'",
        )),
        _ => None,
    });
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let origin = server.origin();
    let page = Page { tab: &tab, origin: origin.clone() };
    assert_eq!(page.get("dom.text", json!(["p"])).await, "one");
    let run = async |code: &str, origin: &str, seconds: u64| {
        tab.run_in_page(code, origin, Duration::from_secs(seconds)).await
    };
    let code =
        "(async () => { document.querySelector('p').textContent = 'two'; return 'done'; })()";
    assert_eq!(run(code, &origin, 30).await.unwrap(), "done");
    assert_eq!(page.get("dom.text", json!(["p"])).await, "two");
    let error = run("(document.title = 'no', 'x')", "https://example.invalid", 30).await;
    assert_eq!(error.unwrap_err().code, PageErrorCode::OtherOrigin);
    assert_eq!(page.get("dom.page", json!([])).await["title"], "");
    for code in [
        "(() => { for (;;); })()",
        "(async () => { for (;;) await 0; })()",
        "new Promise(() => {})",
    ] {
        let error = run(code, &origin, 2).await.unwrap_err();
        assert_eq!(error.code, PageErrorCode::Timeout, "{code}: {error}");
        // A new page of the same address.
        assert_eq!(page.get("dom.text", json!(["p"])).await, "one", "after {code}");
    }
    let error = run("(() => { throw new Error('own'); })()", &origin, 30).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::Refused);
    assert!(error.message.contains("own"), "{error}");
}
