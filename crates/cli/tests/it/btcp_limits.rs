//! What a BTCP manifest says about running: its name, its limits, and what reaches a body.

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{StdioClient, configured};
use crate::knowledge::json_of;
use crate::program::folder;

/// A manifest of this name with these tools and this configuration.
fn manifest(name: &str, tools: &[(&str, Json)], config: &Json) -> String {
    let tools = tools.iter().map(|(name, timeout)| {
        let mut tool = json!({
            "name": name, "description": "A tool for trying limits.", "capabilities": [],
            "inputSchema": {"type": "object", "properties": {"count": {"type": "integer"}}},
        });
        if !timeout.is_null() {
            tool["timeout"] = timeout.clone();
        }
        tool
    });
    let mut manifest = json!({
        "btcp": "1.0", "name": name, "version": "1.0.0", "capabilities": [],
        "tools": tools.collect::<Vec<Json>>(),
    });
    if !config.is_null() {
        manifest["config"] = config.clone();
    }
    manifest.to_string()
}

const FOREVER: &str = "export default () => { for (;;) {} };";

#[test]
fn two_manifests_of_one_name_are_a_finding() {
    let (one, other) = (
        manifest("desk", &[("getOne", json!(null))], &json!(null)),
        manifest("desk", &[("getTwo", json!(null))], &json!(null)),
    );
    let folder = folder(&[("a.json", one.as_bytes()), ("b.json", other.as_bytes())]);
    let checked = run(folder.path(), &["check", ".", "--output-format", "concise"]);
    let line = "warning[DUPLICATE_ID]: `desk` is also the name of the tools in `./a.json`";
    assert!(checked.stdout.contains(line), "{}", checked.stdout);
}

/// Three calls run at once where the manifest is silent, else as many as it says. With an empty
/// queue every other call is refused at once.
#[test]
fn as_many_calls_run_at_once_as_the_manifest_allows() {
    for (config, refused) in [
        (json!(null), 1),
        (json!({"timeout": 5000}), 1),
        (json!({"timeout": 5000, "maxConcurrent": 2}), 2),
    ] {
        let (folder, path) = configured(
            "[[source]]\nname = \"desk\"\npath = \"desk.json\"\n[limits]\nqueue = 0\ntimeout = 5000\n",
        );
        let text = manifest("desk", &[("waitLong", json!(null))], &config);
        std::fs::write(path.join("desk.json"), text).expect("a file");
        std::fs::write(path.join("waitLong.js"), FOREVER).expect("a file");
        let mut client = StdioClient::start(folder.path(), &[], &[]);
        client.names();
        let ids: Vec<Json> =
            (0..4).map(|_| client.send_call("desk__waitLong", json!({}))).collect();
        let codes: Vec<String> = ids
            .iter()
            .map(|id| {
                let answer = client.answer(id);
                let code = &answer["result"]["_meta"]["toolwright/error"]["code"];
                code.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
            })
            .collect();
        let busy = codes.iter().filter(|code| *code == "BUSY").count();
        let late = codes.iter().filter(|code| *code == "TIMEOUT").count();
        assert_eq!((busy, late), (refused, 4 - refused), "{config}: {codes:?}");
    }
}

/// The caller's limit comes before the tool's, that before the manifest's.
#[test]
fn the_nearest_time_limit_holds() {
    let tools = [("waitLong", json!(null)), ("waitShort", json!(1000))];
    let text = manifest("desk", &tools, &json!({"timeout": 1500}));
    let folder = folder(&[
        ("desk.json", text.as_bytes()),
        ("waitLong.js", FOREVER.as_bytes()),
        ("waitShort.js", FOREVER.as_bytes()),
    ]);
    for (args, limit) in [
        (&["desk:waitLong"][..], "1500 ms"),
        (&["desk:waitShort"], "1000 ms"),
        (&["desk:waitShort", "--timeout", "1200"], "1200 ms"),
    ] {
        let called =
            run(folder.path(), &[&["call", "--from", "desk.json", "--json"], args].concat());
        let error = &json_of(&called)["error"];
        assert_eq!(error["code"], "TIMEOUT", "{args:?}: {error}");
        let message = error["message"].as_str().expect("a text");
        assert!(message.contains(limit), "{args:?}: {message}");
    }
}

/// Arguments that do not match the schema never reach the body.
#[test]
fn a_wrong_call_does_not_reach_the_body() {
    let text = manifest("desk", &[("countUp", json!(null))], &json!(null));
    let body = "export default ({ count }) => { throw new BTCPError('REACHED', String(count)); };";
    let folder = folder(&[("desk.json", text.as_bytes()), ("countUp.js", body.as_bytes())]);
    for (count, code) in [(json!("three"), "INPUT_INVALID"), (json!(3), "REACHED")] {
        let args = json!({"count": count}).to_string();
        let called = run(
            folder.path(),
            &["call", "--from", "desk.json", "desk:countUp", "--json", "--args", &args],
        );
        let error = &json_of(&called)["error"];
        assert_eq!(error["btcpCode"], code, "{error}");
    }
}
