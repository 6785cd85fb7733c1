//! Definitions that name a server: what the server lists is merged with the definition.

#![allow(clippy::unwrap_used)]

use serde_json::json;
use toolwright_testing::faulty_server;

use crate::support::{ANYTHING, PATIENCE, TOOLS, TestCatalog, write};

/// An aios definition of a server in the mcp mode.
pub(crate) fn served(mode: &str) -> String {
    format!(
        "tool:\n  id: served\n  type: mcp\n  name: Served\n  version: 1.0.0\n  description: A server for tests\n  \
         mcp_specific:\n    server_command: {} mcp {mode}\n    transport: stdio\n  \
         tools:\n    - id: pid\n      description: Answers the process id\n      inputSchema: {ANYTHING}\n",
        faulty_server()
    )
}

/// The same, with commands whose schemas only the server has.
pub(crate) fn served_with(mode: &str, commands: &str) -> String {
    let written = served(mode);
    let (head, _) = written.split_once("  tools:").unwrap();
    format!("{head}  commands: {commands}\n")
}

#[tokio::test]
async fn schemas_missing_in_a_definition_come_from_its_server() {
    let defs = served_with("changing", "[echo, add, vanished]");
    let fixture =
        TestCatalog::after_first_load(&[("toolwright.toml", TOOLS), ("tools/a.yaml", &defs)]).await;
    let described = |id: &str| {
        let toolbox = fixture.catalog.runner().registry();
        let tool = &toolbox.get(id).unwrap().tool;
        (tool.input.to_json(), tool.output.is_some(), tool.description.is_some())
    };
    let (input, output, description) = described("served:add");
    assert_eq!(input["required"], json!(["a", "b"]));
    assert!(output && description);
    assert!(
        fixture.call("served:add", json!({"a": 1})).await.unwrap_err().starts_with("INPUT_INVALID")
    );
    assert_eq!(
        fixture.call("served:add", json!({"a": 1, "b": 2})).await.unwrap(),
        json!({"sum": 3})
    );
    // A command that the server lacks is quarantined alone; other tools of the server are listed.
    assert!(fixture.has("!served:vanished") && fixture.has("served:pid"), "{:?}", fixture.ids());
    let failure = fixture.call("served:vanished", json!({})).await.unwrap_err();
    assert!(
        failure.contains("QUARANTINED") && failure.contains("COMMAND_NOT_ON_SERVER"),
        "{failure}"
    );
    let problem = fixture.events("COMMAND_NOT_ON_SERVER");
    assert!(
        problem.len() == 1
            && problem[0].contains("/tool/commands/2: the server has no tool `vanished`"),
        "{problem:?}"
    );
    assert!(!fixture.has("served:added"));
    let hashes = || {
        let toolbox = fixture.catalog.runner().registry();
        let tool = toolbox.get("served:add").unwrap();
        (tool.tool.hash.clone().unwrap(), tool.toolset_hash.clone().unwrap())
    };
    let before = hashes();
    assert_eq!(fixture.code("served:echo").await, "ok");
    fixture
        .until("a change of the server is followed", |fixture| fixture.has("served:added"))
        .await;
    // The toolset is that of the definition and that of the server; the tool has not changed.
    let after = hashes();
    assert!(before.0 == after.0 && before.1 != after.1, "{before:?} {after:?}");
    // A change of the file is loaded, and the tools of the server stay listed meanwhile.
    fixture.write("tools/a.yaml", &served_with("changing", "[echo, add]"));
    fixture
        .until("it is read again", |fixture| {
            assert!(fixture.has("served:added"));
            fixture.ids().iter().all(|id| !id.contains("vanished"))
        })
        .await;
    assert_eq!(fixture.running().len(), 1);
    fixture.catalog.runner().close().await;
}

/// A server that is unreachable, or lists no tools, must not delay a change of its definition.
#[tokio::test]
async fn a_definition_changes_while_its_server_is_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("some-tool");
    write(&program, &format!("#!/bin/sh\nexec '{}' mcp good\n", faulty_server()));
    let defs = |commands: &str| {
        served_with("good", commands)
            .replace(&format!("{} mcp good", faulty_server()), &program.display().to_string())
    };
    write(&folder.path().join("toolwright.toml"), TOOLS);
    write(&folder.path().join("tools/a.yaml"), &defs("[echo, vanished]"));
    let fixture = TestCatalog::over(folder).await;
    fixture.catalog.wait_until_tried(PATIENCE).await;
    assert!(fixture.has("!served:vanished") && fixture.has("served:pid"), "{:?}", fixture.ids());
    std::fs::remove_file(&program).unwrap();
    assert_eq!(fixture.code("served:exit").await, "UPSTREAM_UNAVAILABLE");
    fixture.write("tools/a.yaml", &defs("[echo]"));
    fixture
        .until("the definition is read again", |fixture| {
            fixture.ids().iter().all(|id| !id.contains("vanished"))
        })
        .await;
    // The last list of the server still describes its other tools.
    assert!(fixture.has("served:pid") && fixture.has("served:echo"), "{:?}", fixture.ids());
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_tool_with_an_invalid_schema_of_its_server_is_quarantined() {
    let defs = served_with("changing-bad", "[echo, bad_type]");
    let fixture =
        TestCatalog::after_first_load(&[("toolwright.toml", TOOLS), ("tools/a.yaml", &defs)]).await;
    assert_eq!(fixture.code("served:echo").await, "ok");
    fixture.until("the server has the tool", |fixture| fixture.has("served:added")).await;
    let failure = fixture.call("served:bad_type", json!({})).await.unwrap_err();
    assert!(failure.contains("QUARANTINED") && failure.contains("on the server: "), "{failure}");
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_definition_has_its_own_tools_until_its_server_starts() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("late-tool");
    let defs = served_with("good", "[add]")
        .replace(&format!("{} mcp good", faulty_server()), &program.display().to_string());
    write(&folder.path().join("toolwright.toml"), TOOLS);
    write(&folder.path().join("tools/a.yaml"), &defs);
    let fixture = TestCatalog::over(folder).await;
    fixture.catalog.wait_until_tried(PATIENCE).await;
    assert_eq!(fixture.ids(), ["served:add"]);
    assert!(
        fixture.events("unloaded served")[0].contains("SPAWN_FAILED"),
        "{:?}",
        fixture.events("")
    );
    assert_eq!(fixture.code("served:add").await, "SPAWN_FAILED");
    write(&program, &format!("#!/bin/sh\nexec '{}' mcp good\n", faulty_server()));
    fixture.until("the tools of the server are listed", |fixture| fixture.has("served:echo")).await;
    assert_eq!(fixture.code("served:add").await, "INPUT_INVALID");
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn a_definition_that_names_another_server_stops_the_first() {
    let fixture = TestCatalog::after_first_load(&[
        ("toolwright.toml", TOOLS),
        ("tools/a.yaml", &served("good")),
    ])
    .await;
    assert!(fixture.has("served:pid"), "{:#?}", fixture.events(""));
    let pid = fixture.call("served:pid", json!({})).await.unwrap();
    fixture.write("tools/a.yaml", &served("paged"));
    fixture.until("it is read again", |fixture| fixture.events("loaded defs").len() == 2).await;
    assert_ne!(fixture.call("served:pid", json!({})).await.unwrap(), pid);
    fixture.until("the first server is gone", |fixture| fixture.running().len() == 1).await;
    fixture.catalog.runner().close().await;
}
