//! Operations that read, and those on storage and the network.

use std::time::Duration;

use serde_json::json;
use toolwright_browser::{ElementScope, OPERATIONS, Operation, PageErrorCode};

use crate::page_server::{SiteReply, TestSite};
use crate::{Json, LONG, Page, SCOPE, open};

const PAGE: &str = r#"<!doctype html><html lang="en"><title>Prices</title>
<h1 id="head" class="big red" data-kind="title">Prices of <b>tea</b></h1>
<form id="form" action="/order"><input name="textContent" id="amount" value="3">
<input type="checkbox" id="gift" checked><select id="size"><option>small<option selected>large</select>
<textarea id="note">hi</textarea></form>
<ul><li>one<li class="x">two<li>three</ul><div id="host"></div>
<img name="querySelector" alt=""><img name="cookie" alt="">
<script>
  document.querySelector = () => { throw new Error("page") };
  Document.prototype.querySelector = () => null;
  Element.prototype.getAttribute = () => "lie";
  JSON.stringify = () => "lie"; JSON.parse = () => "lie";
  Object.prototype.toJSON = () => "lie"; Array.prototype.map = () => ["lie"];
  String.prototype.toWellFormed = () => "lie"; Promise.prototype.then = () => { throw 1 };
  document.getElementById("host").attachShadow({ mode: "open" }).innerHTML = "<i>inside</i>";
</script>"#;

#[test]
fn the_table_and_the_broker_have_the_same_operations() {
    let broker = include_str!("../../src/broker.js");
    let start = broker.find("const OPERATIONS = {").unwrap();
    let end = broker.find("const REQUESTS = {").unwrap();
    let mut written: Vec<&str> = broker[start..end]
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .map(|line| line.strip_prefix("async ").unwrap_or(line))
        .filter_map(|line| line.strip_prefix('"')?.split_once("\"("))
        .map(|(name, _)| name)
        .collect();
    let mut listed: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
    written.sort_unstable();
    listed.sort_unstable();
    assert_eq!(written, listed);
}

#[test]
fn the_capability_of_a_request_depends_on_its_address() {
    let fetch = Operation::named("fetch").unwrap();
    let own = ["/a", "a?b", "https://shop.test/x", "https://SHOP.test:443", "?q", "//shop.test/y"];
    let other = [
        "//evil.test/x",
        "http://shop.test/",
        "https://shop.test:8443/",
        "\\\\evil.test\\x",
        "https:\\\\evil.test",
        "data:text/plain,x",
        "https://shop.test@evil.test/",
        "http://",
    ];
    for address in own {
        let capability = fetch.capability(&[json!(address)], "https://shop.test");
        assert_eq!(capability, "network:fetch:same-origin", "{address}");
    }
    for address in other {
        let capability = fetch.capability(&[json!(address)], "https://shop.test");
        assert_eq!(capability, "network:fetch:cross-origin", "{address}");
    }
    assert_eq!(fetch.capability(&[json!("/a")], "null"), "network:fetch:cross-origin");
    let socket = Operation::named("websocket").unwrap();
    for (address, is_own) in [
        ("/live", true),
        ("wss://shop.test/live", true),
        ("WSS://shop.test:443", true),
        ("ws://shop.test/live", false),
        ("wss://shop.test:444/", false),
        ("wss://shop.test@evil.test/", false),
        ("//evil.test/live", false),
        ("wss://evil.test/live", false),
    ] {
        let capability = socket.capability(&[json!(address)], "https://shop.test");
        let expected = if is_own { "same-origin" } else { "cross-origin" };
        assert_eq!(capability, format!("network:websocket:{expected}"), "{address}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_a_page_that_overrides_and_hides_functions() {
    let server = TestSite::page(PAGE);
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    assert_eq!(tab.origin().await.unwrap(), server.origin());
    let page = Page { tab: &tab, origin: server.origin() };
    let about = page.get("dom.page", json!([])).await;
    assert_eq!(about["title"], "Prices");
    assert_eq!(about["url"], server.url("/"));
    assert_eq!(about["language"], "en");
    let head = page.get("dom.query", json!(["#head"])).await;
    assert!(head["$element"].is_u64(), "{head}");
    // The same element is the same reference.
    assert_eq!(page.get("dom.query", json!(["h1"])).await, head);
    let rows: &[(&str, Json, Json)] = &[
        ("dom.query", json!(["#none"]), json!(null)),
        ("dom.text", json!([head]), json!("Prices of tea")),
        ("dom.text", json!(["#head", true]), json!("Prices of tea")),
        ("dom.html", json!(["#head"]), json!("Prices of <b>tea</b>")),
        ("dom.html", json!(["b", true]), json!("<b>tea</b>")),
        ("dom.attribute", json!(["#head", "data-kind"]), json!("title")),
        ("dom.attribute", json!(["#head", "none"]), json!(null)),
        ("dom.attributes", json!(["#note"]), json!({ "id": "note" })),
        ("dom.property", json!(["#gift", "checked"]), json!(true)),
        ("dom.property", json!(["#head", "tagName"]), json!("H1")),
        (
            "dom.property",
            json!(["b", "offsetParent"]),
            page.get("dom.query", json!(["body"])).await,
        ),
        ("dom.value", json!(["#size"]), json!("large")),
        ("dom.value", json!(["#amount"]), json!("3")),
        ("dom.value", json!(["#head"]), json!(null)),
        ("dom.style", json!(["#head", "display"]), json!("block")),
        ("dom.relative", json!(["b", "parent"]), head.clone()),
        ("dom.relative", json!(["b", "closest", ".big"]), head.clone()),
        ("dom.relative", json!(["b", "next"]), json!(null)),
        ("dom.matches", json!([head, "h1.red"]), json!(true)),
        ("dom.contains", json!(["#head", "b"]), json!(true)),
        ("dom.contains", json!(["b", "#head"]), json!(false)),
        ("storage.cookie.get", json!([]), json!("")),
    ];
    for (operation, arguments, expected) in rows {
        let value = page.get(operation, arguments.clone()).await;
        assert_eq!(&value, expected, "{operation} {arguments}");
    }
    // A field called `textContent` hides the property of its form from scripts.
    let form = page.get("dom.text", json!(["#form"])).await;
    assert!(form.as_str().unwrap().contains("small"), "{form}");
    let list = page.get("dom.queryAll", json!(["li"])).await;
    assert_eq!(list.as_array().unwrap().len(), 3);
    assert_eq!(page.get("dom.relative", json!(["ul", "children"])).await, list);
    let shadow = page.get("dom.shadow", json!(["#host"])).await;
    let inside = page.get("dom.query", json!(["i", shadow])).await;
    assert_eq!(page.get("dom.text", json!([inside])).await, "inside");
    assert_eq!(page.get("dom.shadow", json!(["#head"])).await, json!(null));
    let rect = page.get("dom.rect", json!(["#head"])).await;
    assert!(rect["width"].as_f64().unwrap() > 10.0, "{rect}");
    let markup = tab.html(&server.origin(), LONG).await.unwrap();
    assert!(markup.html.starts_with("<html lang=\"en\">"), "{}", markup.html);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_arguments_have_clear_errors() {
    let server = TestSite::page(
        "<p id=a>x</p><script>var s = '\\ud800x';
        document.getElementById('a').title = s; document.title = 'y'.repeat(5e6)</script>",
    );
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    let rows: &[(&str, Json, PageErrorCode, &str)] = &[
        ("dom.none", json!([]), PageErrorCode::BadOperation, "no operation `dom.none`"),
        ("page.html", json!([]), PageErrorCode::BadOperation, "no operation `page.html`"),
        ("dom.query", json!(["p["]), PageErrorCode::BadOperation, "`p[` is not a valid selector"),
        ("dom.query", json!([7]), PageErrorCode::BadOperation, "a selector is a text"),
        ("dom.text", json!([]), PageErrorCode::BadOperation, "an element or a selector"),
        ("dom.text", json!(["#b"]), PageErrorCode::NoElement, "no element matches `#b`"),
        ("dom.text", json!([{ "$element": 99 }]), PageErrorCode::NoElement, "gone"),
        ("dom.property", json!(["p", "innerHTML"]), PageErrorCode::BadOperation, "innerHTML"),
        ("dom.page", json!([]), PageErrorCode::TooLarge, "more than"),
        ("dom.create", json!(["script"]), PageErrorCode::Refused, "cannot be created"),
    ];
    for (operation, arguments, code, text) in rows {
        let error = page.ask(operation, arguments.clone()).await.unwrap_err();
        assert_eq!(error.code, *code, "{operation} {arguments}: {error}");
        assert!(error.message.contains(text), "{operation} {arguments}: {error}");
    }
    assert_eq!(page.get("dom.attribute", json!(["p", "title"])).await, "\u{fffd}x");
    let other = Page { tab: &tab, origin: "https://example.org".to_owned() };
    let error = other.ask("dom.text", json!(["p"])).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::OtherOrigin);
    let released = page.get("dom.query", json!(["p"])).await;
    tab.release(*SCOPE).await;
    let error = page.ask("dom.text", json!([released])).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::NoElement);
}

#[tokio::test(flavor = "multi_thread")]
async fn references_belong_to_one_call() {
    let server = TestSite::page(
        "<p>x</p><div id=host></div><script>
         host.attachShadow({ mode: 'open' }).innerHTML = '<i>hidden</i>'</script>",
    );
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let origin = server.origin();
    let (one, other) = (ElementScope::new(), ElementScope::new());
    let ask = async |scope, operation: &str, arguments: Json| {
        let arguments = arguments.as_array().unwrap().clone();
        tab.operate(scope, operation, &arguments, &origin, LONG).await
    };
    let root = ask(one, "dom.shadow", json!(["#host"])).await.unwrap();
    assert_eq!(ask(one, "dom.text", json!([root])).await.unwrap(), "hidden");
    // No number leads another call to an element that it was not given.
    let number = root["$element"].as_u64().unwrap();
    for guess in number.saturating_sub(20)..number + 20 {
        let guessed = ask(other, "dom.text", json!([{ "$element": guess }])).await;
        assert_eq!(guessed.unwrap_err().code, PageErrorCode::NoElement, "{guess}");
    }
    // A call that ends, and one that waits, leave those of others alone.
    let element = ask(one, "dom.query", json!(["p"])).await.unwrap();
    ask(other, "dom.query", json!(["p"])).await.unwrap();
    let (changes, _) = tokio::join!(ask(other, "dom.observe", json!(["body", 30_000])), async {
        while ask(one, "dom.setText", json!([element, "changed"])).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
            if ask(one, "dom.text", json!(["p"])).await.unwrap() == "changed" {
                break;
            }
        }
    },);
    let seen = changes.unwrap()[0]["target"].clone();
    assert_eq!(ask(other, "dom.text", json!([seen])).await.unwrap(), "changed");
    tab.release(other).await;
    assert_eq!(ask(one, "dom.text", json!([element])).await.unwrap(), "changed");
    let gone = ask(other, "dom.text", json!([seen])).await.unwrap_err();
    assert_eq!(gone.code, PageErrorCode::NoElement);
}

#[tokio::test(flavor = "multi_thread")]
async fn references_do_not_survive_their_document() {
    let server = TestSite::page("<p>x</p>");
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    let old = page.get("dom.query", json!(["p"])).await;
    tab.navigate(&server.url("/"), LONG).await.unwrap();
    let new = page.get("dom.query", json!(["p"])).await;
    assert_ne!(old, new);
    let error = page.ask("dom.text", json!([old])).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::NoElement);
}

#[tokio::test(flavor = "multi_thread")]
async fn storage_of_the_page() {
    let server = TestSite::start(|path| {
        let script = "<script>localStorage.getItem = 1; const open = indexedDB.open('shop', 1);
            open.onupgradeneeded = () => { const s = open.result.createObjectStore('carts',
              { keyPath: 'id' }); s.put({ id: 1, at: new Date(0), n: 2n }) };
            open.onsuccess = () => { open.result.close(); document.body.id = 'ready' }</script>";
        (path == "/").then(|| {
            SiteReply::html(format!("<body>{script}"))
                .with("set-cookie: seen=1")
                .with("set-cookie: secret=1; HttpOnly")
        })
    });
    let Some((browser, tab)) = open(&server, "/").await else { return };
    tab.wait_for("#ready", LONG).await.unwrap();
    let page = Page { tab: &tab, origin: server.origin() };
    for area in ["local", "session"] {
        let name = |what: &str| format!("storage.{area}.{what}");
        page.get(&name("set"), json!(["key", "value"])).await;
        page.get(&name("set"), json!(["two", "2"])).await;
        assert_eq!(page.get(&name("get"), json!(["key"])).await, "value");
        assert_eq!(page.get(&name("get"), json!(["none"])).await, json!(null));
        page.get(&name("remove"), json!(["key"])).await;
        let keys = page.get(&name("keys"), json!([])).await;
        assert!(!keys.to_string().contains("key") && keys.to_string().contains("two"), "{keys}");
        page.get(&name("remove"), json!([])).await;
        assert_eq!(page.get(&name("get"), json!(["two"])).await, json!(null));
    }
    let databases = page.get("storage.indexed.databases", json!([])).await;
    assert_eq!(databases, json!([{ "name": "shop", "version": 1, "stores": ["carts"] }]));
    let record = page.get("storage.indexed.get", json!(["shop", "carts", 1])).await;
    assert_eq!(record, json!({ "id": 1, "at": "1970-01-01T00:00:00.000Z", "n": "2" }));
    page.get("storage.indexed.put", json!(["shop", "carts", { "id": 2 }])).await;
    let all = page.get("storage.indexed.all", json!(["shop", "carts"])).await;
    assert_eq!(all.as_array().unwrap().len(), 2, "{all}");
    page.get("storage.indexed.remove", json!(["shop", "carts", 2])).await;
    let gone = page.get("storage.indexed.get", json!(["shop", "carts", 2])).await;
    assert_eq!(gone, json!(null));
    for arguments in [json!(["none", "carts", 1]), json!(["shop", "none", 1])] {
        let error = page.ask("storage.indexed.get", arguments).await.unwrap_err();
        assert!(error.message.contains("no "), "{error}");
    }
    let databases = page.get("storage.indexed.databases", json!([])).await;
    assert_eq!(databases.as_array().unwrap().len(), 1, "nothing was created");
    assert_eq!(page.get("storage.cookie.get", json!([])).await, "seen=1");
    page.get("storage.cookie.set", json!(["mine=2"])).await;
    assert_eq!(page.get("storage.cookie.get", json!([])).await, "seen=1; mine=2");
    // Another session has its own.
    let other = browser.tab("another").await.unwrap();
    other.navigate(&server.url("/none"), LONG).await.unwrap();
    let other = Page { tab: &other, origin: server.origin() };
    assert_eq!(other.get("storage.cookie.get", json!([])).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clipboard_is_open_for_a_moment_only() {
    let server = TestSite::page("<p>x</p>");
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    page.get("clipboard.write", json!(["copied"])).await;
    assert_eq!(page.get("clipboard.read", json!([])).await, "copied");
    page.get("dom.setText", json!(["p", "asking"])).await;
    // The page itself is refused afterwards.
    let script = "javascript:navigator.clipboard.readText().then(()=>'read',()=>'denied')";
    assert!(tab.navigate(script, LONG).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_stay_within_what_was_granted() {
    let other = TestSite::start(|path| {
        let open = SiteReply::html("other").with("access-control-allow-origin: *");
        (path == "/open").then_some(open)
    });
    let (to_other, away) = (other.url("/open"), other.url("/open"));
    let server = TestSite::start(move |path| match path {
        "/" => Some(SiteReply::html("<base href='http://evil.invalid/'>").with("set-cookie: a=1")),
        "/data" => Some(SiteReply::html("data").with("x-kind: test")),
        "/away" => Some(SiteReply::redirect(&to_other)),
        "/large" => Some(SiteReply::html("x".repeat(5_000_000))),
        _ => None,
    });
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let page = Page { tab: &tab, origin: server.origin() };
    let answer = page.get("fetch", json!(["/data"])).await;
    assert_eq!((&answer["status"], &answer["text"]), (&json!(200), &json!("data")));
    assert_eq!(answer["headers"]["x-kind"], "test");
    let posted = json!(["data", { "method": "POST", "body": "b", "headers": { "x-a": 1 } }]);
    page.get("fetch", posted).await;
    assert!(
        server
            .hits()
            .iter()
            .any(|hit| hit.starts_with("POST /data cookie:a=1") && hit.ends_with("body:b")),
        "{:?}",
        server.hits()
    );
    assert_eq!(page.get("fetch", json!(["/none"])).await["status"], 404);
    // A redirect to another origin is not followed.
    let error = page.ask("fetch", json!(["/away"])).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::Refused);
    assert_eq!(other.hits(), Vec::<String>::new());
    let error = page.ask("fetch", json!(["/large"])).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::TooLarge);
    assert!(page.ask("fetch", json!(["file:///etc/passwd"])).await.is_err());
    // To another origin: without cookies and without the page's address.
    assert_eq!(page.get("fetch", json!([away])).await["text"], "other");
    assert_eq!(other.hits(), ["GET /open"]);
}
