//! BTCP tools that work on a page: what bodies see of it, what they may do, and how calls fail
//! without a browser. The page is a double here; `e2e/browser.py` does the same with
//! Chromium.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use toolwright_browser::{ElementScope, PageError, PageErrorCode, WorkerCode, WorkerHost};
use toolwright_exec::browser::{PageAccess, PageProvider};
use toolwright_exec::knowledge::KnowledgeFunction;
use toolwright_exec::{
    BoxFuture, CallLimits, CallPolicy, CallRequest, ConcurrencyLimit, ExecutorContext, Failure,
    GrantAnswer, GrantQuestion, NoHost, Outcome, PolicyDecision, PolicyRequest, RegisteredTool,
    Runner, ToolRegistry, UsedGrant,
};
use toolwright_model::{Binding, Capability, Tool};
use toolwright_sandbox::{PoolOptions, ShareId, WorkerCommand, WorkerPool};
use toolwright_script::InProcessAnalyzer;

use crate::client::run_with;
use crate::knowledge::json_of;
use crate::program::folder;

const ORIGIN: &str = "https://shop.example";

/// A page with one element, which remembers what was done to it.
#[derive(Default)]
struct FakePage {
    done: Mutex<Vec<String>>,
    /// Operations fail with this from the first on.
    failing: Option<PageErrorCode>,
}

impl PageAccess for FakePage {
    fn origin(&self) -> BoxFuture<'_, Result<String, PageError>> {
        Box::pin(std::future::ready(Ok(ORIGIN.to_owned())))
    }

    fn operate<'a>(
        &'a self,
        _: ElementScope,
        operation: &'a str,
        arguments: &'a [Json],
        origin: &'a str,
        _: Duration,
    ) -> BoxFuture<'a, Result<Json, PageError>> {
        assert_eq!(origin, ORIGIN);
        let line = format!("{operation}{}", Json::from(arguments.to_vec()));
        self.done.lock().expect("no panic").push(line);
        let element = json!({"$element": 1});
        let answer = match operation {
            "dom.query" if arguments[0] == "#none" => json!(null),
            "dom.query" | "dom.relative" | "dom.create" | "dom.active" => element,
            "dom.queryAll" => json!([element, {"$element": 2}]),
            "dom.text" => json!(" 42 "),
            "dom.value" => json!("typed"),
            "dom.property" => json!(format!("the {}", arguments[1].as_str().unwrap_or_default())),
            "dom.attribute" => match arguments[1].as_str() {
                Some("class") => json!("a b"),
                Some("data-unit-price") => json!("7"),
                Some("style") => json!("color: red; top: 1px"),
                _ => json!(null),
            },
            "dom.attributes" => json!({"class": "a b", "data-unit-price": "7"}),
            "dom.page" => json!({"title": "Shop", "url": "https://shop.example/a/b?c=1#d"}),
            "dom.rect" => json!({"x": 1, "y": 2, "width": 3, "height": 4}),
            "storage.local.get" => json!("kept"),
            "storage.local.keys" => json!(["one", "two"]),
            "clipboard.read" => json!("copied"),
            "fetch" => json!({
                "status": 200, "url": arguments[0], "headers": {"content-type": "application/json"},
                "text": "{\"n\": 1}",
            }),
            _ => json!(null),
        };
        let failed = |code| PageError { code, message: "it is gone".to_owned() };
        Box::pin(std::future::ready(self.failing.map_or(Ok(answer), |code| Err(failed(code)))))
    }

    fn release(&self, _: ElementScope) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn run_in_page<'a>(
        &'a self,
        code: &'a str,
        origin: &'a str,
        _: Duration,
    ) -> BoxFuture<'a, Result<String, PageError>> {
        assert_eq!(origin, ORIGIN);
        self.done.lock().expect("no panic").push(code.to_owned());
        let answer = json!({"value": json!({"in": "page"}).to_string()}).to_string();
        let failed = |code| PageError { code, message: "it is gone".to_owned() };
        Box::pin(std::future::ready(self.failing.map_or(Ok(answer), |code| Err(failed(code)))))
    }
}

struct FakeBrowser(Arc<FakePage>);

impl PageProvider for FakeBrowser {
    fn check_available<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), PageError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn page<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Arc<dyn PageAccess>, PageError>> {
        Box::pin(std::future::ready(Ok(Arc::clone(&self.0) as Arc<dyn PageAccess>)))
    }

    /// Asks what the body has between `/*` and `*/`, and returns the answer.
    fn run_worker<'a>(
        &'a self,
        code: WorkerCode<'a>,
        host: &'a dyn WorkerHost,
        _: Duration,
    ) -> BoxFuture<'a, Result<String, PageError>> {
        Box::pin(async move {
            let (_, question) = code.module.split_once("/*").expect("a question");
            let (question, _) = question.split_once("*/").expect("its end");
            let answer: Json = serde_json::from_str(&host.answer(question.to_owned()).await)
                .expect("an answer is JSON");
            let stack = "Error: x\n    at run (https://body.invalid/body.js:1:8)";
            Ok(match answer.get("error") {
                Some(error) => {
                    json!({"kind": "THREW", "message": error["message"], "name": "Error",
                    "fields": error, "stack": stack})
                }
                None => json!({"value": answer["value"].to_string()}),
            }
            .to_string())
        })
    }

    fn end_session<'a>(&'a self, _: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Allows everything, on the origin of the page.
struct AllowingPolicy;

impl CallPolicy for AllowingPolicy {
    fn may_see(&self, _: &str, _: &RegisteredTool) -> bool {
        true
    }

    fn admit(
        &self,
        _: &str,
        _: bool,
    ) -> Result<Option<tokio::sync::OwnedSemaphorePermit>, Failure> {
        Ok(None)
    }

    fn decide(&self, request: &PolicyRequest<'_>) -> PolicyDecision {
        let has_page = !request.tool.tool.needs.is_empty();
        assert_eq!(request.origin, Some(ORIGIN).filter(|_| has_page));
        PolicyDecision::Allow(Vec::new())
    }

    fn record(
        &self,
        _: &PolicyRequest<'_>,
        _: &GrantQuestion,
        _: GrantAnswer,
    ) -> Result<Vec<UsedGrant>, Failure> {
        Ok(Vec::new())
    }
}

/// Calls a tool with this body, which declares these capabilities.
fn call(needs: &[&str], body: &str, page: &Arc<FakePage>) -> Result<Outcome, Failure> {
    let worker = WorkerCommand::new(env!("CARGO_BIN_EXE_toolwright")).arg("sandbox-worker");
    let pool = WorkerPool::new(PoolOptions { workers: 1, ..PoolOptions::new(worker) });
    let context = ExecutorContext {
        sandbox: Some(pool),
        pages: Some(Arc::new(FakeBrowser(Arc::clone(page)))),
        analyzer: Some(Arc::new(InProcessAnalyzer)),
        ..ExecutorContext::default()
    };
    let runner = Runner::new(context, CallLimits::default()).with_policy(Arc::new(AllowingPolicy));
    let mut tool = Tool::builder("it").namespace("set").build().expect("a tool");
    tool.details.binding = Binding::Script;
    tool.input = json!({"type": "object"}).into();
    tool.needs = needs.iter().map(|need| Capability::parse(need).expect("a name")).collect();
    let (id, limit) = (tool.id(None), Arc::new(ConcurrencyLimit::new(4, 4)));
    let mut entry =
        RegisteredTool::new(id, tool, Default::default(), limit).expect("its schema is fine");
    entry.body = Ok(Arc::new(KnowledgeFunction::body("it", body, ShareId::new(), None)));
    let mut registry = ToolRegistry::default();
    assert!(registry.add(Arc::new(entry)).is_ok());
    runner.set_tools(registry);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(runner.call(CallRequest::new("set:it"), &NoHost))
}

fn value(needs: &[&str], expression: &str) -> Json {
    let body = format!(
        "export default async () => ({{ value: await (async () => {{ {expression} }})() }})"
    );
    let result = call(needs, &body, &Arc::default());
    let result = result.unwrap_or_else(|failure| panic!("{expression}\n{failure:?}"));
    result.value()["value"].take()
}

#[test]
fn bodies_read_a_page_as_they_would_in_it() {
    for (body, expected) in [
        ("return document.querySelector('#a').textContent.trim()", json!("42")),
        ("return document.querySelector('#none')", json!(null)),
        ("return document.getElementById('a') === document.body", json!(true)),
        (
            "return [...document.querySelectorAll('td')].map((it) => it.innerText)",
            json!([" 42 ", " 42 "]),
        ),
        ("return document.querySelectorAll('td').length", json!(2)),
        (
            "return [document.title, location.pathname, location.search, window.location.host]",
            json!(["Shop", "/a/b", "?c=1", "shop.example"]),
        ),
        ("return document.body.dataset.unitPrice", json!("7")),
        ("return Object.keys(document.body.dataset)", json!(["unitPrice"])),
        (
            "return [...document.body.classList, document.body.classList.contains('b')]",
            json!(["a", "b", true]),
        ),
        (
            "return [document.body.style.color, document.body.style.getPropertyValue('top')]",
            json!(["red", "1px"]),
        ),
        ("return document.body.getBoundingClientRect().right", json!(4)),
        (
            "return [document.body.value, document.body.id, document.body.tagName]",
            json!(["typed", "the id", "the tagName"]),
        ),
        ("return document.body instanceof HTMLElement", json!(true)),
        ("return document.body.matches('x')", json!(null)),
        ("return btcp.dom.text(document.body)", json!(" 42 ")),
        ("return btcp.dom.query('a')", json!({"$element": 1})),
        (
            "const t = []; setTimeout(() => t.push(1), 1); await new Promise((r) => setTimeout(r, 5)); \
          return t",
            json!([1]),
        ),
    ] {
        assert_eq!(value(&["dom:read"], body), expected, "{body}");
    }
    let storage = ["storage:local:read"];
    assert_eq!(
        value(&storage, "return [localStorage.getItem('a'), localStorage.length]"),
        json!(["kept", 2])
    );
    assert_eq!(value(&storage, "return {...localStorage}"), json!({"one": "kept", "two": "kept"}));
    assert_eq!(
        value(&["clipboard:read"], "return navigator.clipboard.readText()"),
        json!("copied")
    );
    let fetch = "const r = await fetch('/x'); return [r.ok, r.headers.get('Content-Type'), (await r.json()).n]";
    assert_eq!(value(&["network:fetch:same-origin"], fetch), json!([true, "application/json", 1]));
}

#[test]
fn what_bodies_write_becomes_operations() {
    for (body, operation) in [
        ("document.body.textContent = 1", r#"dom.setText[{"$element":1},"1"]"#),
        ("document.body.innerHTML = '<b>x</b>'", r#"dom.setHTML[{"$element":1},"<b>x</b>"]"#),
        ("document.body.value = 'v'", r#"dom.setValue[{"$element":1},"v"]"#),
        ("document.body.checked = true", r#"dom.setChecked[{"$element":1},true]"#),
        ("document.body.className = 'c'", r#"dom.setAttribute[{"$element":1},"class","c"]"#),
        ("document.body.classList.toggle('z')", r#"dom.setClass[{"$element":1},"z",true]"#),
        (
            "document.body.dataset.fooBar = 1",
            r#"dom.setAttribute[{"$element":1},"data-foo-bar","1"]"#,
        ),
        (
            "document.body.style.backgroundColor = 'red'",
            r#"dom.setStyle[{"$element":1},"background-color","red"]"#,
        ),
        ("document.body.disabled = false", r#"dom.removeAttribute[{"$element":1},"disabled"]"#),
        ("document.body.click()", r#"dom.click[{"$element":1}]"#),
        ("document.body.append('text')", r#"dom.append[{"$element":1},{"$text":"text"}]"#),
        (
            "document.body.dispatchEvent(new Event('input', { bubbles: true }))",
            r#"dom.dispatch[{"$element":1},"input",{"bubbles":true,"cancelable":false,"composed":false}]"#,
        ),
    ] {
        let page = Arc::<FakePage>::default();
        let source = format!("export default () => {{ {body}; return 1; }}");
        call(&["dom:write"], &source, &page)
            .unwrap_or_else(|failure| panic!("{body}: {failure:?}"));
        let done = page.done.lock().expect("no panic");
        assert_eq!(done.last().map(String::as_str), Some(operation), "{body}: {done:?}");
    }
}

#[test]
fn an_operation_that_is_not_declared_is_refused_and_not_done() {
    for (needs, body, operation) in [
        (&["dom:read"][..], "document.body.textContent = 'x'", "dom.setText"),
        (&["dom:read"], "document.body.click()", "dom.click"),
        (&["dom:read"], "localStorage.getItem('a')", "storage.local.get"),
        (&["storage:local:read"], "localStorage.setItem('a', 'b')", "storage.local.set"),
        (&["dom:read"], "document.cookie", "storage.cookie.get"),
        (&["dom:read"], "await navigator.clipboard.readText()", "clipboard.read"),
        (&["dom:read"], "await fetch('/a')", "fetch"),
        (&["network:fetch:same-origin"], "await fetch('https://other.example/')", "fetch"),
        (&["network:fetch:same-origin"], "await fetch('//other.example/')", "fetch"),
        (&["network:fetch:same-origin"], "await btcp.fetch('http://shop.example/')", "fetch"),
        (&["network:fetch:cross-origin"], "await btcp.websocket('/live', [])", "websocket"),
        (
            &["network:websocket:same-origin"],
            "await btcp.websocket('wss://other.example/', ['x'])",
            "websocket",
        ),
        (
            &["network:websocket:same-origin"],
            "await btcp.websocket('ws://shop.example/', ['x'])",
            "websocket",
        ),
        (&["clipboard:read"], "document.title", "dom.page"),
        (&["dom:read"], "await btcp.dom.observe('body', 1)", "dom.observe"),
    ] {
        let page = Arc::<FakePage>::default();
        let body = format!("export default async () => {{ {body}; }}");
        let failure = call(needs, &body, &page).expect_err("refused");
        assert_eq!(failure.code.number, -32001, "{body}: {failure:?}");
        assert!(failure.message.contains(operation), "{body}: {failure:?}");
        let done = page.done.lock().expect("no panic");
        assert!(!done.iter().any(|line| line.starts_with(operation)), "{body}: {done:?}");
    }
    // What includes it is enough, and a body may go on without.
    assert_eq!(
        value(&["network:fetch:cross-origin"], "return (await fetch('/a')).ok"),
        json!(true)
    );
    let catches = "try { document.body.click(); } catch (e) { return e.code; }";
    assert_eq!(value(&["dom:read"], catches), json!("CAPABILITY_DENIED"));
}

#[test]
fn what_tools_lack_fails_with_its_name() {
    for (body, message) in [
        ("document.write('x')", "`document.write` is not available to tools"),
        ("window.open('x')", "`window.open` is not available to tools"),
        ("navigator.sendBeacon('x')", "`navigator.sendBeacon` is not available to tools"),
        ("document.body.firstChild", "`element.firstChild` is not available to tools"),
        ("document.body.addEventListener('click', () => 1)", "`element.addEventListener` is not"),
        ("location.href = 'https://x.example'", "`location.href = …` is not available to tools"),
        ("window.location = 'https://x.example'", "`window.location = …` is not available"),
        ("new XMLHttpRequest()", "XMLHttpRequest is not defined"),
        ("new WebSocket('ws://x')", "WebSocket is not defined"),
        ("new Worker('x')", "Worker is not defined"),
        ("await import('https://x.example/x.js')", "import"),
    ] {
        let body = format!("export default async () => {{ {body}; }}");
        let failure = call(&["dom:write"], &body, &Arc::default()).expect_err("it fails");
        assert_eq!(failure.code.name, "TOOL_FAILED", "{body}: {failure:?}");
        assert!(failure.message.contains(message), "{body}: {failure:?}");
    }
}

#[test]
pub(crate) fn failures_of_the_page_have_their_codes() {
    for (code, expected) in [
        (PageErrorCode::PageCrashed, "PAGE_LOST"),
        (PageErrorCode::Navigated, "PAGE_LOST"),
        (PageErrorCode::OtherOrigin, "PAGE_LOST"),
        (PageErrorCode::TooLarge, "OUTPUT_TOO_LARGE"),
        (PageErrorCode::Timeout, "TIMEOUT"),
        (PageErrorCode::NoElement, "TOOL_FAILED"),
        (PageErrorCode::Refused, "TOOL_FAILED"),
    ] {
        let page = Arc::new(FakePage { failing: Some(code), ..FakePage::default() });
        let failure = call(&["dom:read"], "export default () => document.title", &page);
        let failure = failure.expect_err("it fails");
        assert_eq!(failure.code.name, expected, "{failure:?}");
        assert!(failure.message.contains("it is gone"), "{failure:?}");
    }
    let endless = "export default () => { for (;;) document.title; }";
    let failure = call(&["dom:read"], endless, &Arc::default()).expect_err("too many");
    assert_eq!(failure.code.name, "CALL_LIMIT", "{failure:?}");
}

#[test]
fn a_body_that_needs_what_the_sandbox_lacks_runs_in_a_worker() {
    let run = |needs: &[&str], question: &str, page: &Arc<FakePage>| {
        let body = format!("export default () => new Intl.Locale('de'); /*{question}*/");
        call(needs, &body, page)
    };
    let page = Arc::<FakePage>::default();
    let result = run(&["dom:read"], r##"["dom.text", "#a"]"##, &page).expect("a result");
    // A text of a single value is read as JSON.
    assert_eq!(result.value().take(), json!(42));
    assert_eq!(*page.done.lock().expect("no panic"), [r##"dom.text["#a"]"##]);
    // The same table as in the sandbox.
    for (needs, question) in [
        (&["dom:read"][..], r##"["dom.setText", "#a", "x"]"##),
        (&["network:fetch:same-origin"], r##"["fetch", "https://other.example/"]"##),
        (&["clipboard:write"], r##"["clipboard.read"]"##),
    ] {
        let page = Arc::<FakePage>::default();
        let failure = run(needs, question, &page).expect_err("refused");
        assert_eq!(failure.code.number, -32001, "{question}: {failure:?}");
        assert!(page.done.lock().expect("no panic").is_empty(), "{question}");
    }
    for question in ["", "{}", "[]", "[1]", r#"["no.operation"]"#, "\u{fffd}"] {
        let failure = run(&["dom:read"], question, &Arc::default()).expect_err("no operation");
        assert_eq!(failure.code.name, "TOOL_FAILED", "{question}: {failure:?}");
        assert!(failure.message.contains("line 1, column 8"), "{failure:?}");
    }
    // Without a page there are no operations.
    let failure = run(&[], r#"["dom.page"]"#, &Arc::default()).expect_err("no page");
    assert!(failure.message.contains("has no page"), "{failure:?}");
}

#[test]
fn a_tool_that_asks_for_the_page_itself_runs_there() {
    let page = Arc::<FakePage>::default();
    let body = "export default async function f() { return document.title; }";
    let result = call(&["page:full"], body, &page).expect("a result");
    assert_eq!(result.value().take(), json!({"in": "page"}));
    let code = page.done.lock().expect("no panic").pop().expect("it was run");
    assert!(code.contains("async function f() { return document.title; }\n;return f;"), "{code}");
    let failure = call(&["page:full"], "import x from 'y'; export default x;", &Arc::default());
    assert_eq!(failure.expect_err("no modules there").code.name, "NOT_RUNNABLE");
    let page = Arc::new(FakePage { failing: Some(PageErrorCode::Timeout), ..FakePage::default() });
    let failure = call(&["page:full"], body, &page).expect_err("it fails");
    assert_eq!(failure.code.name, "TIMEOUT");
}

#[test]
fn the_names_of_the_checks_are_those_of_a_body() {
    let names = value(&["dom:read"], "return Object.getOwnPropertyNames(globalThis).sort()");
    let names: Vec<String> = serde_json::from_value(names).expect("names");
    let known = toolwright_script::GLOBALS.iter().chain(toolwright_script::PAGE_GLOBALS);
    let known: Vec<&str> = known.copied().collect();
    let unknown: Vec<&String> = names.iter().filter(|it| !known.contains(&it.as_str())).collect();
    assert!(unknown.is_empty(), "bodies have these names, the checks do not: {unknown:?}");
    let has = |name: &str| names.iter().any(|it| it == name);
    let missing: Vec<&&str> =
        toolwright_script::PAGE_GLOBALS.iter().filter(|name| !has(name)).collect();
    assert!(missing.is_empty(), "the checks have these names, bodies do not: {missing:?}");
}

/// A manifest with one tool that reads the page.
const MANIFEST: &str = r#"{
  "btcp": "1.0", "name": "press", "version": "1.0.0", "capabilities": ["dom:read"],
  "tools": [
    {"name": "look", "description": "Reads the title of the page.", "capabilities": ["dom:read"],
     "inputSchema": {"type": "object"}, "outputSchema": {"type": "string"}}
  ]
}
"#;

#[test]
fn without_a_browser_one_sentence_says_how_to_get_one() {
    let body = "export default () => document.title;";
    let press = folder(&[("press.json", MANIFEST.as_bytes()), ("look.js", body.as_bytes())]);
    let args = ["call", "press:look", "--from", "press.json", "--allow", "dom:read", "--json"];
    let result = run_with(press.path(), &args, &[("PATH", "/nonexistent")], "");
    let error = &json_of(&result)["error"];
    assert_eq!(error["code"], "BROWSER_REQUIRED", "{result:?}");
    let message = error["message"].as_str().expect("a text");
    assert!(message.contains("`look` needs `dom:read`"), "{message}");
    assert!(message.contains("apt-get install chromium"), "{message}");
}

/// Without a page, only the branch that uses what the sandbox lacks needs a browser.
#[test]
fn without_a_browser_bodies_run_as_far_as_the_sandbox_goes() {
    let manifest = r#"{"btcp": "1.0", "name": "press", "version": "1.0.0", "capabilities": [],
      "tools": [{"name": "sum", "description": "Adds two numbers.", "capabilities": [],
      "inputSchema": {"type": "object"}}]}"#;
    let body = "export default ({ how }) => how === 'name' ? new Intl.NumberFormat('de').format(3)\n\
                : how === 'member' ? globalThis.crypto.randomUUID()\n\
                : how === 'own' ? (() => { throw new BTCPError('OWN', { message: 'own' }); })()\n\
                : { sum: 3 };";
    let press = folder(&[("press.json", manifest.as_bytes()), ("sum.js", body.as_bytes())]);
    let call = |arguments: &str| {
        let args = ["call", "press:sum", "--args", arguments, "--from", "press.json", "--json"];
        json_of(&run_with(press.path(), &args, &[("PATH", "/nonexistent")], ""))
    };
    assert_eq!(call("{}")["structuredContent"], json!({ "sum": 3 }));
    assert_eq!(call(r#"{"how": "own"}"#)["error"]["btcpCode"], "OWN");
    for how in ["name", "member"] {
        let error = &call(&json!({ "how": how }).to_string())["error"];
        assert_eq!(error["code"], "BROWSER_REQUIRED", "{how}: {error}");
        let message = error["message"].as_str().expect("a text");
        assert!(message.contains("apt-get install chromium"), "{how}: {message}");
        assert!(message.contains("`Intl`"), "{how}: {message}");
    }
}

#[test]
fn the_page_itself_is_asked_for_alone() {
    let manifest = r#"{"btcp": "1.0", "name": "press", "version": "1.0.0",
      "capabilities": ["dom:read", "page:full"], "tools": [
      {"name": "look", "description": "Reads the title.", "capabilities": ["dom:read"],
       "inputSchema": {"type": "object"}},
      {"name": "full", "description": "Does anything.", "capabilities": ["dom:read", "page:full"],
       "inputSchema": {"type": "object"}}]}"#;
    let body: &[u8] = b"export default () => document.createRange();";
    let files = [("press.json", manifest.as_bytes()), ("look.js", body), ("full.js", body)];
    let press = folder(&files);
    let call = |tool: &str, allow: &str| {
        let mut args = vec!["call", tool, "--from", "press.json", "--json"];
        if !allow.is_empty() {
            args.extend(["--allow", allow]);
        }
        let result = run_with(press.path(), &args, &[("PATH", "/nonexistent")], "");
        let error = &json_of(&result)["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        (text("code"), text("message") + &text("suggestion"))
    };
    for (tool, allow, asked, other) in [
        ("press:look", "", "dom:read", "page:full"),
        ("press:full", "", "page:full", "dom:read"),
        // Nothing else includes it.
        ("press:full", "dom:read,dom:write,page:navigate", "page:full", "dom:read"),
    ] {
        let (code, said) = call(tool, allow);
        assert_eq!(code, "CAPABILITY_DENIED", "{tool} {allow}: {said}");
        assert!(said.contains(asked) && !said.contains(other), "{tool} {allow}: {said}");
    }
    // It includes what else is about pages.
    assert_eq!(call("press:full", "page:full").0, "BROWSER_REQUIRED");
    assert_eq!(call("press:look", "page:full").0, "CAPABILITY_DENIED");
    let shown = run_with(press.path(), &["show", "press.json"], &[], "");
    assert!(shown.stdout.contains("nothing it does there is enforced"), "{shown:?}");
    // What tools lack is there.
    let checked = ["check", "--output-format", "concise", "press.json"];
    let checked = run_with(press.path(), &checked, &[], "").stdout;
    let found = |file: &str| {
        checked.lines().any(|line| line.starts_with(file) && line.contains("createRange"))
    };
    assert_eq!((found("look.js"), found("full.js")), (true, false), "{checked}");
}

#[test]
fn show_names_the_bodies_that_run_in_a_worker() {
    let body = "export default () => new Intl.NumberFormat('de').format(document.title);";
    let press = folder(&[("press.json", MANIFEST.as_bytes()), ("look.js", body.as_bytes())]);
    let shown = run_with(press.path(), &["show", "press.json"], &[], "");
    let line = "  runs in     a worker of the browser without network, for `Intl`\n";
    assert!(shown.stdout.contains(line), "{shown:?}");
    let args = ["call", "press:look", "--from", "press.json", "--allow", "dom:read", "--json"];
    let result = run_with(press.path(), &args, &[("PATH", "/nonexistent")], "");
    assert_eq!(json_of(&result)["error"]["code"], "BROWSER_REQUIRED", "{result:?}");
    let checked = run_with(press.path(), &["check", "press.json"], &[], "");
    assert!(!checked.stdout.contains("PAGE_API_UNAVAILABLE"), "{checked:?}");
}

#[test]
fn a_window_needs_a_display() {
    let config = "[browser]\nprogram = \"/bin/echo\"\nprofile = \"profile\"\n";
    let folder = folder(&[("toolwright.toml", config.as_bytes())]);
    let none = [("DISPLAY", ""), ("WAYLAND_DISPLAY", "")];
    for action in ["login", "open"] {
        let args = ["browser", action, "https://example.invalid/"];
        let result = run_with(folder.path(), &args, &none, "");
        assert!(result.stderr.contains("a window needs a display"), "{result:?}");
        assert!(result.stderr.contains("`DISPLAY`"), "{result:?}");
    }
    assert!(!folder.path().join("profile").exists());
}

#[test]
fn doctor_names_the_browser_and_what_would_be_weaker() {
    let program = "#!/bin/sh\necho Chromium 156.0\n";
    let config = "[browser]\nprogram = \"./headless\"\nprofile = \"profile\"\n";
    let files = [("toolwright.toml", config.as_bytes()), ("headless", program.as_bytes())];
    let folder = folder(&files);
    let path = folder.path().join("headless");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("permissions");
    let result = run_with(folder.path(), &["doctor"], &[], "");
    let lines: Vec<&str> = result.stdout.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("browser: ")).expect("a line");
    assert!(lines[at].contains("(Chromium 156.0), with its own sandbox"), "{result:?}");
    for (line, text) in lines[at + 1..].iter().zip(["`profile`", "`origins` is empty", "shell"]) {
        assert!(line.starts_with("  weaker: ") && line.contains(text), "{line}: {result:?}");
    }
}

#[test]
fn check_reports_what_a_body_uses_and_tools_lack() {
    let body = "export default () => {\n  document.write('x');\n  if (typeof Intl !== 'undefined') return;\n  \
                window.navigator.sendBeacon('x');\n  setInterval(() => 1, 2);\n  requestAnimationFrame(() => 1);\n  return document.title;\n};\n";
    let press = folder(&[("press.json", MANIFEST.as_bytes()), ("look.js", body.as_bytes())]);
    let result =
        run_with(press.path(), &["check", "--output-format", "concise", "press.json"], &[], "");
    for line in [
        "look.js:2:3: warning: `document.write` is not available to tools",
        "look.js:4:3: warning: `navigator.sendBeacon` is not available to tools",
        "look.js:6:3: warning: `requestAnimationFrame` is not available to tools",
    ] {
        assert!(result.stdout.contains(&line[..line.find(": warning").unwrap_or(0)]), "{result:?}");
        let said = &line[line.find('`').unwrap_or(0)..];
        assert!(result.stdout.contains(said), "{said}: {result:?}");
    }
    assert_eq!(result.stdout.matches("PAGE_API_UNAVAILABLE").count(), 3, "{result:?}");
}
