//! Pages that do not cooperate: the right code in time, and the next call works.

use std::time::Duration;

use serde_json::json;
use toolwright_browser::{PageErrorCode, is_browser_process};

use crate::page_server::{SiteReply, TestSite};
use crate::{LONG, Page, SCOPE, browser_with, open, settings};

const SHORT: Duration = Duration::from_millis(500);

const PAGE: &str = r#"<p>works</p>
<button id="loop" onclick="for (;;);"></button>
<button id="micro" onclick="(async () => { for (;;) await 0 })()"></button>
<button id="regex" onclick="/(a+)+$/.test('a'.repeat(50) + 'b')"></button>
<button id="dialogs" onclick="for (;;) alert('again')"></button>
<button id="memory" onclick="const all = []; setInterval(() => {
  for (let i = 0; i < 20; i++) all.push(new Uint8Array(1 << 20).fill(1)) }, 1)"></button>"#;

#[tokio::test(flavor = "multi_thread")]
async fn endless_loops_time_out_and_the_next_call_works() {
    let server = TestSite::page(PAGE);
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    for button in ["#loop", "#micro", "#regex", "#dialogs"] {
        assert_eq!(page.get("dom.text", json!(["p"])).await, "works", "before {button}");
        // A loop of microtasks begins after the click itself was answered.
        let clicked = page.ask_within("dom.click", json!([button]), SHORT).await;
        let result = match clicked {
            Ok(_) => page.ask_within("dom.text", json!(["p"]), SHORT).await,
            Err(error) => Err(error),
        };
        assert_eq!(result.unwrap_err().code, PageErrorCode::Timeout, "{button}");
        // The page had worked, so it is opened again.
        assert_eq!(page.get("dom.text", json!(["p"])).await, "works", "after {button}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_loops_while_it_is_loaded_can_be_left() {
    let server = TestSite::start(|path| match path {
        "/" => Some(SiteReply::html("<p>fine</p>")),
        "/loop" => Some(SiteReply::html("<p>never</p><script>for (;;);</script>")),
        _ => None,
    });
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    let _ = tab.navigate(&server.url("/loop"), Duration::from_secs(2)).await;
    let error = page.ask_within("dom.text", json!(["p"]), SHORT).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::Timeout);
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    assert_eq!(page.get("dom.text", json!(["p"])).await, "fine");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_renderer_fails_pending_calls_at_once() {
    let server = TestSite::page(PAGE);
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    assert_eq!(page.get("dom.text", json!(["p"])).await, "works");
    let waiting = page.ask("dom.observe", json!(["body", 30_000]));
    let killing = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        kill_renderers();
    };
    let (result, ()) = tokio::join!(waiting, killing);
    assert_eq!(result.unwrap_err().code, PageErrorCode::PageCrashed);
    assert_eq!(page.get("dom.text", json!(["p"])).await, "works");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_takes_too_much_memory_is_ended() {
    let server = TestSite::page(PAGE);
    let Some(mut settings) = settings() else { return };
    settings.memory = 700 << 20;
    let browser = browser_with(settings);
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    let page = Page { tab: &tab, origin: server.origin() };
    page.get("dom.click", json!(["#memory"])).await;
    let error = page.ask("dom.observe", json!(["head", 30_000])).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::BrowserFailed, "{error}");
    assert!(error.message.contains("`[browser] memory`"), "{error}");
    let tab = browser.tab("session").await.unwrap();
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    let page = Page { tab: &tab, origin: server.origin() };
    assert_eq!(page.get("dom.text", json!(["p"])).await, "works");
}

#[tokio::test(flavor = "multi_thread")]
async fn huge_results_are_refused_in_the_page() {
    let server = TestSite::page(
        "<p hidden></p><script>document.querySelector('p').textContent = 'x'.repeat(1e8);
         document.body.append(...Array.from({ length: 20000 }, () => document.createElement('i')))
         </script>",
    );
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    let rows =
        [("dom.text", json!(["p"])), ("dom.queryAll", json!(["i"])), ("dom.html", json!(["body"]))];
    for (operation, arguments) in rows {
        let error = page.ask(operation, arguments).await.unwrap_err();
        assert_eq!(error.code, PageErrorCode::TooLarge, "{operation}: {error}");
        tab.release(*SCOPE).await;
    }
    assert_eq!(page.get("dom.property", json!(["p", "tagName"])).await, "P");
}

/// Kills the renderers of the browsers of this process.
fn kill_renderers() {
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let line = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        if is_browser_process(pid) && line.contains("--type=renderer") {
            std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        }
    }
}
