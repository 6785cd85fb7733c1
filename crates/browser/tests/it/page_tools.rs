//! Tools that pages offer themselves (WebMCP).

use std::time::Duration;

use serde_json::json;
use toolwright_browser::PageErrorCode;

use crate::page_server::{SiteReply, TestSite};
use crate::{LONG, open};

const PAGE: &str = r#"<title>shop</title>
<form toolname="search" tooldescription="Searches the shop" toolautosubmit action="/found">
<input name="query" required></form>
<script>
  const context = document.modelContext ?? navigator.modelContext;
  context.registerTool({ name: "add", description: "Adds two numbers",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"] },
    async execute({ a, b }) { return { content: [{ type: "text", text: String(a + b) }] } } });
  context.registerTool({ name: "fail", description: "Fails",
    execute() { throw new Error("out of stock") } });
  context.registerTool({ name: "hang", description: "Never ends",
    execute() { return new Promise(() => {}) } });
  setTimeout(() => context.registerTool({ name: "late", description: "Comes later",
    execute() { return "here" } }), 300);
</script>"#;

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_a_page_are_listed_and_called() {
    let server = TestSite::start(|path| match path {
        "/" => Some(SiteReply::html(PAGE)),
        "/plain" => Some(SiteReply::html("<p>no tools</p>")),
        _ => None,
    });
    let Some((_browser, tab)) = open(&server, "/").await else { return };
    let mut changes = tab.page_tool_changes();
    let names = || async {
        let tools = tab.page_tools().await.unwrap();
        let mut names: Vec<String> = tools.into_iter().map(|tool| tool.name).collect();
        names.sort();
        names
    };
    for _ in 0..100 {
        if names().await.contains(&"late".to_owned()) {
            break;
        }
        tokio::time::timeout(LONG, changes.changed()).await.unwrap().unwrap();
    }
    assert_eq!(names().await, ["add", "fail", "hang", "late", "search"]);
    let tools = tab.page_tools().await.unwrap();
    let add = tools.iter().find(|tool| tool.name == "add").unwrap();
    assert_eq!(add.description, "Adds two numbers");
    assert_eq!(add.origin, server.origin());
    assert_eq!(add.input_schema.as_ref().unwrap()["required"], json!(["a", "b"]));
    let search = tools.iter().find(|tool| tool.name == "search").unwrap();
    assert!(search.input_schema.as_ref().unwrap()["properties"]["query"].is_object());
    let origin = server.origin();
    let sum = tab.call_page_tool("add", &json!({ "a": 2, "b": 3 }), &origin, LONG).await.unwrap();
    assert!(sum.to_string().contains('5'), "{sum}");
    let error = tab.call_page_tool("fail", &json!({}), &origin, LONG).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::Refused, "{error}");
    let error = tab.call_page_tool("none", &json!({}), &origin, LONG).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::NoElement);
    let elsewhere = "https://example.org";
    let error = tab.call_page_tool("add", &json!({}), elsewhere, LONG).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::OtherOrigin);
    let short = Duration::from_millis(500);
    let error = tab.call_page_tool("hang", &json!({}), &origin, short).await.unwrap_err();
    assert_eq!(error.code, PageErrorCode::Timeout);
    changes.mark_unchanged();
    tab.navigate(&server.url("/plain"), LONG).await.unwrap();
    tokio::time::timeout(LONG, changes.changed()).await.unwrap().unwrap();
    assert_eq!(names().await, Vec::<String>::new());
}
