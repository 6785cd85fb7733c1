//! The catalog: sources become tools of a runner. A bad source, file or tool is left out alone.

#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use toolwright_catalog::{Catalog, CatalogEvent};
use toolwright_exec::{CallLimits, ExecutorContext, Log, Runner, ToolStatus};
use toolwright_script::InProcessAnalyzer;
use toolwright_testing::faulty_tool;
use toolwright_workspace::{ReadOptions, SourcePlan, Workspace, record};

use crate::server_definitions::{served, served_with};
use crate::support::{
    ANYTHING, PATIENCE, SCRIPT, TOOLS, TestCatalog, local, policy_that_allows_starting, server,
    write,
};

#[tokio::test]
async fn definitions_of_all_formats_are_tools() {
    let fixture = TestCatalog::after_first_load(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("shelf", &[("take", ANYTHING), ("put", ANYTHING)])),
        ("tools/deep/down/b.json", r#"{"name": "convert", "description": "Converts this into that", "parameters": {"type": "object"}}"#),
        ("tools/c.json", r#"{"tools": [{"name": "now", "description": "The time", "inputSchema": {"type": "object"}}]}"#),
        ("tools/d.json", r#"{"btcp": "1.0", "name": "page", "version": "1.0.0", "capabilities": [], "tools": [
            {"name": "count", "description": "Counts the words", "inputSchema": {"type": "object"}, "capabilities": []}
        ]}"#),
        ("tools/none-of-ours.json", r#"{"compilerOptions": {}}"#),
        ("tools/readme.md", "# Not looked at"),
    ])
    .await;
    assert_eq!(fixture.ids(), ["convert", "now", "page:count", "shelf:put", "shelf:take"]);
    for (id, code) in [
        ("shelf:take", "ok"),
        ("shelf:put", "ok"),
        ("convert", "NOT_RUNNABLE"),
        ("now", "NOT_RUNNABLE"),
        ("page:count", "NOT_RUNNABLE"),
    ] {
        assert_eq!(fixture.code(id).await, code, "{id}");
    }
    assert_eq!(fixture.call("shelf:take", json!({})).await, Ok(json!({"command": "take"})));
    assert_eq!(fixture.events(""), ["loaded defs: 5 ready, 0 quarantined"]);
}

#[tokio::test]
async fn a_tool_with_an_error_is_quarantined_alone() {
    let commands = [
        ("good", ANYTHING),
        ("bad_type", "{type: 12}"),
        ("elsewhere", "{type: object, properties: {x: {$ref: 'https://example.com/x.json'}}}"),
        ("other_draft", "{$schema: 'http://json-schema.org/draft-03/schema#', type: object}"),
        ("fine", ANYTHING),
    ];
    let fixture = TestCatalog::after_first_load(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("it", &commands)),
    ])
    .await;
    assert_eq!(
        fixture.ids(),
        ["!it:bad_type", "!it:elsewhere", "it:fine", "it:good", "!it:other_draft"]
    );
    for (id, code, why) in [
        ("it:bad_type", "QUARANTINED", "INVALID"),
        ("it:elsewhere", "QUARANTINED", "EXTERNAL_REF"),
        ("it:other_draft", "QUARANTINED", "UNSUPPORTED_DIALECT"),
        ("it:good", "ok", ""),
        ("it:fine", "ok", ""),
    ] {
        let answer = fixture.call(id, json!({})).await;
        assert_eq!(answer.is_ok(), code == "ok", "{id}: {answer:?}");
        let text = answer.err().unwrap_or_default();
        assert!(code == "ok" || text.starts_with(code) && text.contains(why), "{id}: {text}");
    }
    let problems = fixture.events("EXTERNAL_REF");
    assert!(
        matches!(&problems[..], [one] if one.starts_with("error EXTERNAL_REF /tool/tools/2/inputSchema/properties/x")),
        "{problems:?}"
    );
    assert_eq!(fixture.events("loaded"), ["loaded defs: 2 ready, 3 quarantined"]);
}

/// One definition has one hash, whether it is shown or called.
#[tokio::test]
async fn registered_tools_have_the_hashes_that_records_show() {
    let config = "[[source]]\nname = \"shop\"\npath = \"shop.json\"\n\n\
                  [[source]]\nname = \"other\"\npath = \"other.json\"\nimplementations = \"bodies\"\n\n\
                  [[source]]\nname = \"defs\"\npath = \"tools\"\nimplementations = \"bodies\"\n";
    let shop = r#"{"btcp": "1.0", "name": "shop", "version": "1.0.0", "capabilities": [],
        "tools": [{"name": "getTotal",
        "description": "Adds prices", "capabilities": [], "inputSchema": {"type": "object"}}]}"#;
    let fixture = TestCatalog::after_first_load(&[
        ("toolwright.toml", config),
        ("shop.json", shop),
        ("getTotal.js", "export default () => 1"),
        ("other.json", &shop.replace("shop", "other")),
        ("bodies/getTotal.js", "export default () => 2"),
        ("tools/a.yaml", &local("it", &[("good", ANYTHING)])),
        SCRIPT,
    ])
    .await;
    let shown = |file: &str| {
        let workspace = Workspace::new(Arc::new(InProcessAnalyzer));
        let load = workspace.load(&[fixture.path(file)], ReadOptions::default());
        let reading = load.documents[0].reading.as_ref().unwrap();
        [
            record::toolset(reading)["hash"].clone(),
            record::tools(reading, 0, &CallLimits::default())[0]["hash"].clone(),
        ]
    };
    let registered = |id: &str| {
        let toolbox = fixture.catalog.runner().registry();
        let tool = toolbox.get(id).unwrap();
        assert_eq!(tool.status, ToolStatus::Ready, "{id}");
        [tool.toolset_hash.as_ref(), tool.tool.hash.as_ref()]
            .map(|hash| Json::from(hash.unwrap().as_str()))
    };
    assert_eq!(registered("shop:getTotal"), shown("shop.json"));
    // Scripts of local tools lie beside the definition, whatever folder the bodies are in.
    assert_eq!(registered("it:good"), shown("tools/a.yaml"));
    // `show` does not know the folder that the configuration names.
    let [toolset, tool] = registered("other:getTotal");
    assert!(toolset != shown("other.json")[0] && tool == shown("other.json")[1]);
    fixture.write("bodies/getTotal.js", "export default () => 22");
    fixture
        .until("the new body is loaded", |_| {
            let [now, same] = registered("other:getTotal");
            now != toolset && same == tool
        })
        .await;
}

#[tokio::test]
async fn an_error_outside_of_tools_quarantines_the_document() {
    let tool = |name: &str| {
        format!(
            r#"{{"name": "{name}", "description": "Counts the words", "inputSchema": {{"type": "object"}}, "capabilities": []}}"#
        )
    };
    let nameless = format!(
        r#"{{"btcp": "1.0", "version": "1.0.0", "capabilities": [], "tools": [{}, {}]}}"#,
        tool("one"),
        tool("two")
    );
    let fixture = TestCatalog::after_first_load(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("it", &[("good", ANYTHING)])),
        ("tools/b.json", &nameless),
    ])
    .await;
    assert_eq!(fixture.ids(), ["it:good", "!one", "!two"]);
    assert_eq!(fixture.code("one").await, "QUARANTINED");
    assert_eq!(fixture.code("two").await, "QUARANTINED");
    assert_eq!(fixture.code("it:good").await, "ok");
}

#[tokio::test]
async fn the_first_of_two_tools_with_one_id_is_used() {
    let second = local("it", &[("twice", ANYTHING)]).replace("./answer.sh", "./none.sh");
    let fixture = TestCatalog::after_first_load(&[
        ("toolwright.toml", TOOLS),
        SCRIPT,
        ("tools/a.yaml", &local("it", &[("twice", ANYTHING), ("once", ANYTHING)])),
        ("tools/b.yaml", &second),
    ])
    .await;
    assert_eq!(fixture.ids(), ["it:once", "it:twice"]);
    assert_eq!(fixture.call("it:twice", json!({})).await, Ok(json!({"command": "twice"})));
    // Both places are named, apart from the note that both files have one name.
    let mut notes = fixture.events("note");
    assert_eq!(notes.len(), 2, "{notes:?}");
    notes.retain(|note| !note.contains("`it` is the name of several toolsets"));
    for part in [
        "note: `it:twice` is defined twice, at ",
        "tools/a.yaml:",
        " and ",
        "tools/b.yaml:",
        "; the first definition is used (DUPLICATE_ID)",
    ] {
        assert!(notes[0].contains(part), "{part}: {notes:?}");
    }
}

#[tokio::test]
async fn a_bad_program_leaves_the_others_loaded() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    for mode in ["echo", "add", "schema-hang", "schema-garbage", "schema-big", "schema-exit"] {
        std::os::unix::fs::symlink(faulty_tool(), folder.path().join(format!("bin/{mode}-tool")))
            .unwrap();
    }
    write(&folder.path().join("bin/empty-tool"), "");
    write(&folder.path().join("bin/not-one-of-ours"), "#!/bin/sh\nexit 1\n");
    write(
        &folder.path().join("toolwright.toml"),
        "[[source]]\nname = \"bin\"\nexecutables = \"bin\"\n",
    );
    let fixture = TestCatalog::over(folder).await;
    fixture.catalog.wait_until_tried(PATIENCE).await;
    assert_eq!(fixture.ids(), ["add", "echo"]);
    assert_eq!(fixture.call("add", json!({"a": 1, "b": 2})).await, Ok(json!({"sum": 3})));
    for (program, why) in [
        ("schema-hang", "TOOL_FAILED: `--schema` printed nothing within"),
        ("schema-garbage", "TOOL_FAILED: `--schema` printed no description of a tool"),
        ("schema-big", "TOOL_FAILED: `--schema` printed more than 8192 bytes"),
        (
            "schema-exit",
            "TOOL_FAILED: `--schema`: the program ended with status 1: cannot tell the schema",
        ),
        ("empty", "SPAWN_FAILED"),
    ] {
        let events = fixture.events(&format!("bin/{program}-tool: "));
        assert!(
            matches!(&events[..], [one] if one.starts_with("unloaded") && one.contains(why)),
            "{program}: {events:?}"
        );
    }
    assert_eq!(fixture.running(), Vec::<String>::new());
}

#[tokio::test]
async fn bad_servers_do_not_delay_the_others() {
    let bad = ["exit-start", "hang-start", "garbage-only", "close-stdout-start"];
    let config: String = bad.iter().chain(&["bad-list", "good"]).map(|mode| server(mode)).collect();
    let fixture = TestCatalog::follow(&[("toolwright.toml", &config)]).await;
    fixture
        .until("the good server is there", |fixture| {
            fixture.has("good:echo") && fixture.has("bad-list:echo")
        })
        .await;
    // Nothing waited for the server that hangs: it has not failed yet.
    assert_eq!(fixture.events("unloaded hang-start"), Vec::<String>::new());
    assert_eq!(fixture.call("good:add", json!({"a": 1, "b": 2})).await, Ok(json!({"sum": 3})));
    let of_bad_list: Vec<String> =
        fixture.ids().into_iter().filter(|id| id.contains("bad-list")).collect();
    assert_eq!(
        of_bad_list,
        ["bad-list:echo", "!bad-list:external_ref", "bad-list:no_schema", "bad-list:odd_fields"]
    );
    fixture
        .until("the failure is reported", |fixture| {
            !fixture.events("unloaded exit-start").is_empty()
        })
        .await;
    assert!(fixture.events("unloaded exit-start")[0].contains("cannot find the database"));
    assert!(!fixture.catalog.all_sources_tried(), "two are still starting");
    fixture.catalog.wait_until_tried(Duration::from_millis(50)).await;
    fixture.catalog.runner().close().await;
}

#[tokio::test]
async fn only_the_source_of_a_called_tool_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("{}{}{TOOLS}", server("good"), server("paged"));
    write(&folder.path().join("toolwright.toml"), &config);
    write(&folder.path().join(SCRIPT.0), SCRIPT.1);
    write(&folder.path().join("tools/a.yaml"), &local("a", &[("one", ANYTHING)]));
    write(&folder.path().join("tools/b.yaml"), &served("good"));
    write(
        &folder.path().join("tools/c.yaml"),
        &served_with("good", "[image]").replace("id: served", "id: open"),
    );
    let path = folder.path().join("toolwright.toml");
    for (id, loaded) in [
        ("a:one", vec!["defs"]),
        ("one", vec!["defs"]),
        // A tool whose schema is in its definition needs no server to be listed; the others and
        // unknown names need the server of their definition.
        ("served:pid", vec!["defs"]),
        ("pid", vec!["defs"]),
        ("open:image", vec!["defs", "open"]),
        ("image", vec!["defs", "open"]),
        ("served:echo", vec!["defs", "served"]),
        ("good:echo", vec!["defs", "good"]),
        // A tool of a server may have a namespace of its own.
        ("none:echo", vec!["defs", "good", "paged"]),
        ("echo", vec!["defs", "good", "open", "paged", "served"]),
    ] {
        let events = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&events);
        let listener = Arc::new(move |event: &CatalogEvent| {
            if let CatalogEvent::Loaded { source, .. } = event {
                noted.lock().unwrap().push(source.clone());
            }
        });
        let config = path.clone();
        let planner =
            Arc::new(move || SourcePlan::from_config(&config, ReadOptions::default(), &|_| None));
        let parts =
            ExecutorContext::new(vec![("PATH".into(), "/usr/bin:/bin".into())], Log::default());
        let catalog = Catalog::new(
            Arc::new(Runner::new(parts, CallLimits::default())),
            Workspace::new(Arc::new(InProcessAnalyzer)),
            planner,
            listener,
        );
        catalog.use_policy(policy_that_allows_starting());
        assert!(catalog.load_for(id).await.is_empty());
        let mut events = std::mem::take(&mut *events.lock().unwrap());
        events.sort();
        assert_eq!(events, loaded, "{id}");
        catalog.runner().close().await;
    }
}
