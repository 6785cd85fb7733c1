//! Built-in toolsets as sources: their lists are read like those of servers, and read again when
//! they report a change.

#![allow(clippy::unwrap_used)]

use std::ffi::OsString;
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use tokio::sync::watch;
use toolwright_exec::{BoxFuture, BuiltinCall, BuiltinToolset, Failure, Host, Outcome, code};

use crate::support::{PATIENCE, TestCatalog, write};

/// A toolset whose list the test sets.
struct ChangingToolset {
    list: Mutex<Result<Json, Failure>>,
    changes: watch::Sender<u64>,
}

impl ChangingToolset {
    fn new(list: Json) -> Arc<ChangingToolset> {
        Arc::new(ChangingToolset { list: Mutex::new(Ok(list)), changes: watch::Sender::new(0) })
    }

    fn set(&self, list: Result<Json, Failure>) {
        *self.list.lock().unwrap() = list;
        self.changes.send_modify(|n| *n += 1);
    }
}

impl BuiltinToolset for ChangingToolset {
    fn name(&self) -> &'static str {
        "web"
    }

    fn list<'a>(&'a self, _: &'a [(OsString, OsString)]) -> BoxFuture<'a, Result<Json, Failure>> {
        Box::pin(std::future::ready(self.list.lock().unwrap().clone()))
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.changes.subscribe())
    }

    fn run<'a>(
        &'a self,
        call: BuiltinCall<'a>,
        _: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        let seen = json!({
            "tool": call.tool,
            "arguments": **call.arguments,
            "environment": call.environment.iter().map(|(name, _)| name.to_str()).collect::<Vec<_>>(),
        });
        Box::pin(std::future::ready(Ok(Outcome::json(seen))))
    }
}

const CONFIG: &str =
    "[[source]]\nname = \"net\"\nbuiltin = \"web\"\nenv = { KEY = \"12345678\" }\n";

fn tool(name: &str, schema: &Json) -> Json {
    json!({"name": name, "description": "Does something for tests", "inputSchema": schema})
}

async fn follow(toolset: &Arc<ChangingToolset>) -> TestCatalog {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("toolwright.toml"), CONFIG);
    let fixture = TestCatalog::with_builtins(folder, vec![toolset.clone()]).await;
    fixture.catalog.wait_until_tried(PATIENCE).await;
    fixture
}

#[tokio::test]
async fn a_list_is_gated_called_and_read_again_when_it_changes() {
    let object = json!({"type": "object"});
    let numbers = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let toolset = ChangingToolset::new(json!({"tools": [
        tool("count", &numbers),
        tool("broken", &json!({"type": "object", "properties": {"x": {"pattern": "("}}})),
    ]}));
    let fixture = follow(&toolset).await;
    assert_eq!(fixture.ids(), ["!net:broken", "net:count"]);
    assert_eq!(
        fixture.call("net:count", json!({"n": 1})).await,
        Ok(json!({"tool": "count", "arguments": {"n": 1}, "environment": ["KEY"]}))
    );
    assert_eq!(fixture.code("net:broken").await, "QUARANTINED");
    let wrong = fixture.call("net:count", json!({"n": "one"})).await.unwrap_err();
    assert!(wrong.starts_with("INPUT_INVALID"), "{wrong}");
    toolset.set(Ok(json!({"tools": [tool("other", &object)]})));
    fixture.until("the new list", |it| it.ids() == ["net:other"]).await;
    // A list that cannot be had now leaves the last one in use.
    toolset.set(Err(Failure::new(&code::TOOL_FAILED, "the page is gone")));
    fixture.until("the failure", |it| !it.events("the page is gone").is_empty()).await;
    assert_eq!(fixture.ids(), ["net:other"]);
    // No tools at all is a list, too.
    toolset.set(Ok(json!({"tools": []})));
    fixture.until("an empty list", |it| it.ids().is_empty()).await;
}

#[tokio::test]
async fn a_toolset_that_the_program_does_not_have_is_a_failure_of_its_source() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("toolwright.toml"), CONFIG);
    let fixture = TestCatalog::over(folder).await;
    fixture.catalog.wait_until_tried(PATIENCE).await;
    assert_eq!(
        fixture.events("unloaded"),
        ["unloaded net: NOT_RUNNABLE: this program has no built-in toolset `web`"]
    );
}
