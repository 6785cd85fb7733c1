//! What agents are given to read: knowledge in descriptions and as resources, examples, tags and
//! deprecation; and the arguments that a schema fills in.

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{LONG, StdioClient, configured, faulty_server, modern, until};
use crate::knowledge::json_of;
use crate::program::folder;
use crate::scripted_servers::ScriptedServers;

/// A definition with this strategy in front of the server `good`.
fn tasks(strategy: &str) -> String {
    r#"tool:
  schema_version: 2.0
  id: tasks
  type: mcp
  name: Tasks
  version: 1.0.0
  description: Tasks.
  knowledge_strategy: STRATEGY
  tools:
    - {id: echo, description: "Repeats a task."}
    - {id: add, description: "Adds numbers."}
  executable_knowledge:
    validators:
      - id: has-title
        validates: echo
        language: javascript
        function: |
          module.exports = (args) => ({
            valid: typeof args.assignees !== 'object' || Array.isArray(args.assignees),
            errors: Array.isArray(args.assignees) ? [] : ['assignees must be a list'],
          });
  api_complexity:
    payload_schemas:
      - {type: standard, detection: "echo object", payload_path: echo}
    field_mappings:
      custom_fields:
        place:
          structure: {lat: number, lng: number}
        assignees:
          structure: {create_format: [user_id], update_format: {add: [user_id]}}
          note: Different formats.
    api_quirks:
      - quirk: rate_limit
        description: 100 calls a minute.
        impact: Calls fail.
        mitigation: Wait a minute.
  anti_patterns:
    - pattern: wrong_assignees
      description: The assignees of an update.
      category: api_usage
      wrong: "echo({assignees: {add: [4]}})"
      correct: "echo({assignees: [4]})"
      rationale: A list is expected.
      impact: The call fails.
    - pattern: text_numbers
      description: Numbers as texts in board_add.
      wrong: "add({a: '1'})"
      correct: "add({a: 1})"
  examples:
    echo:
      - {scenario: success, description: One, input: {assignees: [4]}, output: {ok: true}}
      - {scenario: failure_invalid_param, input: {}, error: {code: E, message: assignees}, mitigation: Name one}
  mcp_specific:
    server_command: "SERVER mcp good"
"#
    .replace("SERVER", &faulty_server())
    .replace("STRATEGY", strategy)
}

/// What a client is given of the tool `echo`, and the text of the resource about it.
fn given(strategy: &str) -> (String, Vec<Json>, Option<String>) {
    given_by(&tasks(strategy))
}

fn given_by(definition: &str) -> (String, Vec<Json>, Option<String>) {
    let (folder, path) = configured("[[source]]\nname = \"tasks\"\npath = \"tasks.yaml\"\n");
    std::fs::write(path.join("tasks.yaml"), definition).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let tools = tools.as_array().expect("a list").iter();
    let echo = tools.clone().find(|tool| tool["name"] == "tasks__echo").expect("it is there");
    let resources = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    let resources = resources.as_array().expect("a list").clone();
    let own = resources.iter().find(|it| it["uri"] == "toolwright://knowledge/tasks");
    let text = own.map(|own| {
        let read = client.ask("resources/read", json!({"uri": own["uri"]}));
        let content = &read["result"]["contents"][0];
        assert_eq!(content["mimeType"], "text/markdown", "{read}");
        content["text"].as_str().expect("a text").to_owned()
    });
    // A call is refused in the same way, whatever there is to read.
    let refused = client.call("tasks__echo", json!({"assignees": {"add": [4]}}));
    let advice = &refused["_meta"]["toolwright/error"]["advice"][0];
    assert_eq!(
        advice,
        &json!({
            "kind": "antiPattern", "name": "wrong_assignees",
            "description": "The assignees of an update.",
            "correct": "echo({assignees: [4]})", "wrong": "echo({assignees: {add: [4]}})",
            "rationale": "A list is expected.", "impact": "The call fails.",
        }),
        "{refused}"
    );
    let description = echo["description"].as_str().expect("a text").to_owned();
    (description, resources, text)
}

const EXAMPLE: &str = "Example (One): {\"assignees\":[4]} → {\"ok\":true}";
const DOCUMENT: &str =
    "Known mistakes and examples: read the resource toolwright://knowledge/tasks";

#[test]
fn embedded_knowledge_is_in_the_description() {
    let (description, resources, text) = given("embedded");
    let expected = format!(
        "Repeats a task.\n\n{EXAMPLE}\n\nAvoid wrong_assignees: The assignees of an update. Wrong: \
         echo({{assignees: {{add: [4]}}}}) Correct: echo({{assignees: [4]}}) Why: A list is \
         expected.\n\nAvoid text_numbers: Numbers as texts in board_add. Wrong: add({{a: '1'}}) \
         Correct: add({{a: 1}})\n\nQuirk rate_limit: 100 calls a minute. Impact: Calls fail. \
         Instead: Wait a minute.\n\nAn answer may be standard, known by: echo object; its data is \
         at echo\n\nField custom_fields.place: {{\"lat\":\"number\",\"lng\":\"number\"}}\n\nField \
         custom_fields.assignees: {{\"create_format\":[\"user_id\"],\"update_format\":\
         {{\"add\":[\"user_id\"]}}}}. Different formats."
    );
    assert_eq!(description, expected);
    assert!(resources.iter().all(|it| it["uri"] != "toolwright://knowledge/tasks"));
    assert_eq!(text, None);
    // A definition that names no strategy means this one.
    let silent = tasks("embedded").replacen("  knowledge_strategy: embedded\n", "", 1);
    assert_eq!(given_by(&silent), (description, resources, text));
}

#[test]
fn external_and_hybrid_knowledge_is_a_resource() {
    let (description, resources, text) = given("external");
    assert_eq!(description, format!("Repeats a task.\n\n{DOCUMENT}"));
    assert!(resources.iter().any(|it| it["mimeType"] == "text/markdown"), "{resources:?}");
    let text = text.expect("a document");
    for part in [
        "# tasks\n",
        "## Quirks\n\n### rate_limit\n\n100 calls a minute.",
        "Impact: Calls fail.",
        "Mitigation: Wait a minute.",
        "### wrong_assignees",
        "Wrong:\n\n```\necho({assignees: {add",
        "Why: A list is expected.",
        "Impact: The call fails.",
        "An answer may be standard",
        "Different formats.",
        "## Examples of echo\n\n- One: `{\"assignees\":[4]}` → `{\"ok\":true}`",
        "→ error: E: assignees. Mitigation: Name one",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (description, _, whole) = given("hybrid");
    let expected = format!(
        "Repeats a task.\n\n{EXAMPLE}\n\nAvoid wrong_assignees: A list is expected.\n\nAvoid \
         text_numbers: Numbers as texts in board_add.\n\nQuirk rate_limit: Wait a minute.\n\n\
         {DOCUMENT}"
    );
    assert_eq!(description, expected);
    assert_eq!(whole, Some(text));
}

#[test]
fn executable_knowledge_and_none_give_nothing_to_read() {
    for strategy in ["executable", "none"] {
        let (description, _, text) = given(strategy);
        assert_eq!((description.as_str(), text), ("Repeats a task.", None), "{strategy}");
    }
}

/// The document is a resource also for stateless clients, and where no server has any.
#[test]
fn documents_are_announced_without_any_server() {
    let text = "tool:\n  id: gitty\n  type: cli\n  name: Gitty\n  version: 1.0.0\n  description: \
                Git.\n  knowledge_strategy: external\n  cli_specific: {executable: git}\n  \
                api_complexity:\n    api_quirks:\n      - {quirk: q, description: d, mitigation: m}\n";
    let (folder, path) = configured("[[source]]\nname = \"g\"\npath = \"g.yaml\"\n");
    std::fs::write(path.join("g.yaml"), text).expect("a file");
    let mut client = StdioClient::bare(folder.path(), &[], &[]);
    let found = client.ask("server/discover", modern(json!({})));
    assert_eq!(found["result"]["capabilities"]["resources"]["listChanged"], true, "{found}");
    let listed = client.ask("resources/list", modern(json!({})));
    let uri = listed["result"]["resources"][0]["uri"].clone();
    assert_eq!(uri, "toolwright://knowledge/gitty", "{listed}");
    let read = client.ask("resources/read", modern(json!({"uri": uri})));
    assert_eq!(read["result"]["resultType"], "complete", "{read}");
    let text = read["result"]["contents"][0]["text"].as_str().expect("a text");
    assert!(text.contains("### q\n\nd\n\nMitigation: m"), "{text}");
}

/// Two definitions of one id share the address of their document, so it has the notes of both.
#[test]
fn documents_of_two_toolsets_of_one_namespace_are_one() {
    let source = |file: &str| format!("[[source]]\nname = \"{file}\"\npath = \"{file}.yaml\"\n");
    let (folder, path) = configured(&["log", "status"].map(source).concat());
    for command in ["status", "log"] {
        let text = format!(
            "tool:\n  id: gitty\n  type: cli\n  name: Gitty\n  version: 1.0.0\n  description: Git.\n  \
             knowledge_strategy: external\n  commands: [{command}]\n  cli_specific: {{executable: git}}\n  \
             api_complexity:\n    api_quirks:\n      - {{quirk: of-{command}, description: d, mitigation: m}}\n"
        );
        std::fs::write(path.join(format!("{command}.yaml")), text).expect("a file");
    }
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    // Sources are loaded one after the other.
    let text = until("the notes of both", LONG, || {
        let listed = client.ask("resources/list", json!({}));
        let resources = listed["result"]["resources"].as_array()?;
        assert!(resources.len() < 2, "{listed}");
        let read = client.ask("resources/read", json!({"uri": resources.first()?["uri"]}));
        let text = read["result"]["contents"][0]["text"].as_str()?;
        text.contains("### of-status").then(|| text.to_owned())
    });
    let (log, status) = (text.find("### of-log"), text.find("### of-status"));
    assert!(log.is_some() && log < status, "{text}");
}

/// A server that lists a resource of our scheme does not pose as what a definition says: it gets a
/// prefix with the name of its source.
#[test]
fn a_server_cannot_pose_as_the_knowledge_of_a_definition() {
    let resource = |uri: &str| json!({"uri": uri, "name": "Read this first"});
    let uris = ["toolwright://knowledge/tasks", "Toolwright://knowledge/other"];
    let script = json!({
        "resources/list": {"result": {"resources": uris.map(resource)}},
        "resources/read": {"result": {"contents": [{"uri": uris[0], "text": "posed"}]}},
    });
    let servers = ScriptedServers::new(&[("poser", "", script)]);
    let config = std::fs::read_to_string(servers.file("toolwright.toml")).expect("a file");
    let source = "\n[[source]]\nname = \"tasks\"\npath = \"tasks.yaml\"\n";
    std::fs::write(servers.file("toolwright.toml"), config + source).expect("a file");
    std::fs::write(servers.file("tasks.yaml"), tasks("external")).expect("a file");
    let mut client = StdioClient::start(servers.path(), &[], &[]);
    let of_poser = uris.map(|uri| format!("toolwright+poser:{uri}"));
    let listed = until("all resources", LONG, || {
        let resources = client.ask("resources/list", json!({}))["result"]["resources"].clone();
        let uris = resources.as_array()?.iter().filter_map(|it| it["uri"].as_str());
        let uris: Vec<String> = uris.map(str::to_owned).collect();
        let is_listed = |uri: &str| uris.iter().any(|it| it == uri);
        let is_complete =
            is_listed("toolwright://knowledge/tasks") && of_poser.iter().all(|it| is_listed(it));
        is_complete.then_some(uris)
    });
    let own: Vec<&String> = listed.iter().filter(|it| it.starts_with("toolwright:")).collect();
    assert_eq!(own, ["toolwright://knowledge/tasks"], "{listed:?}");
    let mut read = |uri: &str| {
        let read = client.ask("resources/read", json!({"uri": uri}));
        read["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    assert!(read("toolwright://knowledge/tasks").contains("### rate_limit"));
    assert_eq!(read(&of_poser[0]), "posed");
}

/// The budget of a description holds, however much a definition says.
#[test]
fn descriptions_stay_within_their_budget() {
    let quirks: String = (0..100)
        .map(|n| {
            format!("      - {{quirk: q{n}, description: {}, mitigation: m}}\n", "x".repeat(90))
        })
        .collect();
    let text =
        tasks("embedded").replace("    api_quirks:\n", &format!("    api_quirks:\n{quirks}"));
    let folder = folder(&[("tasks.yaml", text.as_bytes())]);
    let shown = run(folder.path(), &["show", "tasks.yaml", "--json"]);
    let tool = &json_of(&shown)["tools"][0];
    let served = tool["servedDescription"].as_str().expect("a text");
    assert_eq!(tool["description"], "Repeats a task.", "the authored one stays");
    assert!(served.chars().count() < 2_400, "{}", served.len());
    assert!(served.contains(" more of such notes do not fit here)"), "{served}");
    // For people, too.
    let people = run(folder.path(), &["show", "tasks.yaml"]);
    assert!(people.stdout.contains("agents read Example (One): "), "{}", people.stdout);
}

/// `structure`, `create_format` and `update_format` are compared with arguments and results.
#[test]
fn arguments_and_results_that_differ_from_field_formats_cause_warnings() {
    let create = tasks("embedded").replace("SERVER", "").replace("id: tasks", "id: new-tasks");
    let (folder, path) = configured("[[source]]\nname = \"tasks\"\npath = \"tasks.yaml\"\n");
    std::fs::write(path.join("tasks.yaml"), create).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let arguments = json!({"assignees": [4], "place": {"lat": "north"}});
    let answer = client.call("new-tasks__echo", arguments);
    assert_eq!(
        answer["_meta"]["toolwright/warnings"],
        json!([
            "the field `place.lat` of the answer is a string, and `structure` of the definition \
             expects `number`",
            "the argument `place.lat` is a string, and `structure` of the definition expects \
             `number`",
        ]),
        "{answer}"
    );
    let good = json!({"assignees": [4], "place": {"lat": 1, "lng": 2}});
    let answer = client.call("new-tasks__echo", good);
    assert_eq!(answer["_meta"]["toolwright/warnings"], Json::Null, "{answer}");
}

/// A manifest with tags, examples, defaults and a deprecated tool.
fn manifest() -> String {
    json!({
        "btcp": "1.0", "name": "shop", "version": "1.0.0", "capabilities": [],
        "config": {"sandbox": "ses"},
        "tools": [{
            "name": "getTotal", "description": "Adds up the prices.", "capabilities": [],
            "tags": ["Shop", "money"], "deprecated": true, "deprecationMessage": "use getSum",
            "examples": [{"description": "Two", "input": {"prices": [1, 2]}, "output": {"total": 3}}],
            "inputSchema": {
                "type": "object", "additionalProperties": false, "required": ["prices"],
                "properties": {
                    "prices": {"type": "array", "items": {"type": "number"}},
                    "currency": {"type": "string", "default": "EUR"},
                    "options": {
                        "type": "object",
                        "properties": {"round": {"type": "boolean", "default": true}},
                    },
                },
            },
        }],
    })
    .to_string()
}

const BODY: &str = "export default (args) => args;";

#[test]
fn tags_examples_and_deprecation_reach_agents() {
    let (folder, path) = configured("[[source]]\nname = \"shop\"\npath = \"shop.json\"\n");
    std::fs::write(path.join("shop.json"), manifest()).expect("a file");
    std::fs::write(path.join("getTotal.js"), BODY).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let tool = client.ask("tools/list", json!({}))["result"]["tools"][0].clone();
    assert_eq!(
        tool["description"],
        "Deprecated: use getSum\n\nAdds up the prices.\n\nExample (Two): {\"prices\":[1,2]} → \
         {\"total\":3}",
        "{tool}"
    );
    let meta = &tool["_meta"];
    assert_eq!(meta["toolwright/tags"], json!(["shop", "money"]), "{tool}");
    assert_eq!(meta["toolwright/deprecated"], "use getSum", "{tool}");
    assert_eq!(
        meta["toolwright/examples"],
        json!([{"input": {"prices": [1, 2]}, "description": "Two", "output": {"total": 3}}]),
        "{tool}"
    );
    let listed = run(folder.path(), &["list"]);
    assert_eq!(
        listed.stdout,
        "shop:getTotal  btcp  [deprecated: use getSum] Adds up the prices. #shop #money\n"
    );
    let entry = json_of(&run(folder.path(), &["list", "--json"]))["tools"][0].clone();
    assert_eq!(entry["tags"], json!(["shop", "money"]), "{entry}");
    assert_eq!(entry["deprecationMessage"], "use getSum", "{entry}");
    assert_eq!(entry["example"], json!({"prices": [1, 2]}), "{entry}");
    let called = run(folder.path(), &["call", "shop:getTotal", "prices:=[1]"]);
    assert_eq!(called.code, 0, "{called:?}");
    assert_eq!(called.stderr, "toolwright: `shop:getTotal` is deprecated: use getSum\n");
    // However much its author writes.
    let long = manifest().replace("use getSum", &"use getSum ".repeat(10_000));
    std::fs::write(path.join("shop.json"), long).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let tool = client.ask("tools/list", json!({}))["result"]["tools"][0].clone();
    assert!(tool["description"].as_str().is_some_and(|text| text.starts_with("Deprecated: use")));
    assert!(tool.to_string().len() < 3_000, "{}", tool.to_string().len());
    let called = run(folder.path(), &["call", "shop:getTotal", "prices:=[1]"]);
    assert!(called.code == 0 && called.stderr.len() < 1_000, "{}", called.stderr.len());
    std::fs::write(path.join("shop.json"), manifest()).expect("a file");
    // The isolation that was asked for, and what is used.
    let shown = run(folder.path(), &["show", "shop.json"]);
    let sandbox = "  sandbox     asked for ses, used: a jailed process of its own\n";
    assert!(shown.stdout.contains(sandbox), "{}", shown.stdout);
    let limits = &json_of(&run(folder.path(), &["show", "shop.json", "--json"]))["toolsets"][0];
    let limits = &limits["limits"];
    assert_eq!((&limits["sandbox"], &limits["usedSandbox"]), (&json!("ses"), &json!("process")));
}

#[test]
fn defaults_are_filled_in_on_request_only() {
    let (folder, path) = configured("[[source]]\nname = \"shop\"\npath = \"shop.json\"\n");
    std::fs::write(path.join("shop.json"), manifest()).expect("a file");
    std::fs::write(path.join("getTotal.js"), BODY).expect("a file");
    let call = |more: &[&str]| {
        let call = ["call", "shop:getTotal", "--json", "prices:=[1]", "options:={}"];
        json_of(&run(folder.path(), &[&call, more].concat()))["structuredContent"].clone()
    };
    let plain = json!({"prices": [1], "options": {}});
    let filled = json!({"prices": [1], "options": {"round": true}, "currency": "EUR"});
    assert_eq!(call(&[]), plain);
    assert_eq!(call(&["--defaults"]), filled);
    // What is given stays.
    let given = json!({"prices": [1], "options": {"round": true}, "currency": "CHF"});
    assert_eq!(call(&["--defaults", "currency=CHF"]), given);
    // Defaults do not excuse what is missing otherwise.
    let missing = run(folder.path(), &["call", "shop:getTotal", "--defaults"]);
    assert!(missing.stderr.contains("INPUT_INVALID"), "{missing:?}");
    let configuration = std::fs::read_to_string(path.join("toolwright.toml")).expect("a file");
    std::fs::write(path.join("toolwright.toml"), configuration + "[call]\ndefaults = true\n")
        .expect("a file");
    assert_eq!(call(&[]), filled);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let served = client.call("shop__getTotal", json!({"prices": [1], "options": {}}));
    assert_eq!(served["structuredContent"], filled, "{served}");
}
