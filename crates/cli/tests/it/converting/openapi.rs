//! OpenAPI documents that are converted: references, directions, results, and what is reported.

use serde_json::{Value as Json, json};

use super::{lines, losses};
use crate::program::{folder, run_in};

/// A document of OpenAPI 3.0 with these paths and schemas.
fn api(paths: &Json, schemas: &Json) -> String {
    json!({
        "openapi": "3.0.3", "info": { "title": "Pets", "version": "1.0.0" },
        "paths": paths, "components": { "schemas": schemas }
    })
    .to_string()
}

/// The tools of the MCP document that it becomes, and the report.
fn as_mcp(text: &str) -> (Vec<Json>, Json) {
    let (run, report) = losses(text, &["--to", "mcp"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let document: Json = serde_json::from_str(&run.stdout).expect("JSON");
    (document["tools"].as_array().expect("a list").clone(), report)
}

#[test]
fn references_with_escapes_are_followed() {
    let content = json!({ "application/json": { "schema": { "type": "string", "minLength": 3 } } });
    let reference = "#/paths/~1a~1%7Bid%7D/put/requestBody/content/application~1json/schema";
    let id =
        json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } });
    let paths = json!({
        "/a/{id}": { "put": {
            "operationId": "put_a", "summary": "Puts a thing", "parameters": [id],
            "requestBody": { "content": content }, "responses": {}
        }},
        "/b": { "put": {
            "operationId": "put_b", "summary": "Puts another thing", "responses": {},
            "requestBody": { "content": {
                "application/json": { "schema": { "$ref": reference } }
            }}
        }}
    });
    let (tools, _) = as_mcp(&api(&paths, &json!({})));
    let definitions = tools[1]["inputSchema"]["$defs"].as_object().expect("definitions");
    let definition = definitions.values().next();
    assert_eq!(definition.map(|own| &own["minLength"]), Some(&json!(3)));
}

/// What cannot be followed is not silently left out of the tools.
#[test]
fn references_to_nothing_and_to_other_documents_are_reported() {
    let paths = json!({
        "/a": {
            "get": {
                "operationId": "get_a", "summary": "Gets a thing of the shop",
                "parameters": [
                    { "$ref": "#/components/parameters/Gone" },
                    { "$ref": "#/components/parameters/Loop" }
                ],
                "responses": { "200": { "$ref": "#/components/responses/Gone" } }
            },
            "post": {
                "operationId": "add_a", "summary": "Adds a thing to the shop",
                "requestBody": { "$ref": "./bodies.yaml#/Add" }, "responses": {}
            },
            "delete": {
                "operationId": "delete_a", "summary": "Takes a thing out of the shop",
                "responses": {}
            }
        },
        "/b": { "$ref": "./b.yaml" }
    });
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "Pets", "version": "1.0.0" }, "paths": paths,
        "components": { "parameters": { "Loop": { "$ref": "#/components/parameters/Loop" } } }
    });
    let folder = folder(&[("api.json", document.to_string().as_bytes())]);
    let run = run_in(folder.path(), &["check", "api.json", "--output-format", "json"], b"");
    let findings = run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let said = |it: &Json| {
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        (text("severity"), text("code"), text("path"))
    };
    let found: Vec<(String, String, String)> = findings.map(|it: Json| said(&it)).collect();
    for (severity, code, path) in [
        ("error", "INVALID_SCHEMA", "/paths/~1a/get/parameters/0/$ref"),
        ("error", "INVALID_SCHEMA", "/paths/~1a/get/parameters/1/$ref"),
        ("warning", "INVALID_SCHEMA", "/paths/~1a/get/responses/200/$ref"),
        ("error", "EXTERNAL_REF", "/paths/~1a/post/requestBody/$ref"),
        ("warning", "EXTERNAL_REF", "/paths/~1b/$ref"),
    ] {
        let expected = (severity.to_owned(), code.to_owned(), path.to_owned());
        assert!(found.contains(&expected), "{path}: {found:#?}");
    }
    // The tool that needs none of them is as good as before.
    let args = ["convert", "api.json", "--to", "openai", "--force", "--losses", "none"];
    let run = run_in(folder.path(), &args, b"");
    let tools: Json = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(tools.as_array().map(Vec::len), Some(1), "{}", run.stdout);
    assert_eq!(tools[0]["function"]["name"], "delete_a");
}

#[test]
fn properties_are_required_in_their_own_direction() {
    let pet = json!({
        "type": "object", "required": ["id", "name", "secret"],
        "properties": {
            "id": { "type": "integer", "readOnly": true }, "name": { "type": "string" },
            "secret": { "$ref": "#/components/schemas/Secret" }
        }
    });
    let content =
        json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Pet" } } });
    let paths = json!({ "/pets": { "post": {
        "operationId": "add_pet", "summary": "Adds a pet",
        "requestBody": { "required": true, "content": content },
        "responses": { "200": { "description": "ok", "content": content } }
    }}});
    let schemas = json!({ "Pet": pet, "Secret": { "type": "string", "writeOnly": true } });
    let (tools, report) = as_mcp(&api(&paths, &schemas));
    let required = |field: &str| tools[0][field]["$defs"]["Pet"]["required"].clone();
    assert_eq!(required("inputSchema"), json!(["name", "secret"]));
    assert_eq!(required("outputSchema"), json!(["id", "name"]));
    // MCP demands the type of a result, also where a reference leads to it.
    assert_eq!(tools[0]["outputSchema"]["type"], "object");
    assert!(!lines(&report).iter().any(|line| line.contains("outputSchema")), "{report:#}");
}

#[test]
fn what_an_operation_loses_is_reported_as_what_it_is() {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let paths = json!({ "/pets": { "get": {
        "operationId": "list pets/überall", "summary": "Lists the pets",
        "parameters": [{ "name": "limit", "in": "query", "schema": { "type": "integer" } }],
        "responses": { "200": { "description": "ok", "content": {
            "application/json": { "schema": list }
        }}}
    }}});
    let (tools, report) = as_mcp(&api(&paths, &json!({})));
    assert_eq!(tools[0].get("outputSchema"), None);
    let found = lines(&report);
    for line in [
        "renamed operationId",
        "dropped method",
        "dropped path",
        "approximated parameters",
        "dropped responses",
        "dropped outputSchema",
    ] {
        assert!(found.contains(&line.to_owned()), "{line}: {found:?}");
    }
    let all = report["losses"].as_array().expect("a list");
    let output = all.iter().find(|loss| loss["part"] == "outputSchema").expect("a loss");
    assert_eq!(output["reason"], "MCP demands that a result is an object");
}

/// An operation whose responses are these, and the loss of them for a target.
fn lost_responses(responses: &Json, target: &str) -> (Json, Json) {
    let operation =
        json!({ "operationId": "get_it", "summary": "Gets it", "responses": responses });
    let (run, report) =
        losses(&api(&json!({ "/a": { "get": operation } }), &json!({})), &["--to", target]);
    let document: Json = serde_json::from_str(&run.stdout).expect("JSON");
    let all = report["losses"].as_array().expect("a list");
    let found: Vec<&Json> = all.iter().filter(|loss| loss["part"] == "responses").collect();
    assert_eq!(found.len(), 1, "{report:#}");
    (document, found[0].clone())
}

#[test]
fn responses_are_approximated_only_if_there_is_an_output_schema() {
    let object = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let response = json!({ "description": "it", "content": {
        "application/json": { "schema": object }
    }});
    let empty = json!({ "description": "nothing" });
    // `default` is the result of an operation that declares no success.
    let (document, loss) = lost_responses(&json!({ "default": response }), "mcp");
    assert_eq!(document["tools"][0]["outputSchema"], object);
    assert_eq!(loss["effect"], "approximated");
    // Beside a success it is the error.
    let (document, loss) = lost_responses(&json!({ "204": empty, "default": response }), "mcp");
    assert_eq!(document["tools"][0].get("outputSchema"), None);
    assert_eq!(loss["effect"], "dropped");
    assert_eq!(loss["reason"], "none of them has a schema for a result");
    let (_, loss) = lost_responses(&json!({ "200": response }), "openai");
    assert_eq!(loss["effect"], "dropped");
    assert_eq!(loss["reason"], "the target does not have the schema of the result");
}

/// `nullable` beside a choice, and beside `allOf`, which is how a reference is made nullable.
#[test]
fn choices_and_references_can_be_nullable() {
    let text = json!({ "type": "string" });
    let user = json!({ "$ref": "#/components/schemas/User" });
    let body = json!({ "type": "object", "properties": {
        "one": { "oneOf": [text, { "type": "integer" }], "nullable": true },
        "any": { "anyOf": [text, { "type": "integer" }], "nullable": true },
        "all": { "allOf": [user], "nullable": true },
        "either": { "oneOf": [user, text], "nullable": true }
    }});
    let paths = json!({ "/issues": { "post": {
        "operationId": "create", "summary": "Creates an issue", "responses": {},
        "requestBody": { "content": { "application/json": { "schema": body } } }
    }}});
    let user = json!({ "type": "object", "nullable": true, "required": ["login"],
        "properties": { "login": { "type": "string" } } });
    let (tools, _) = as_mcp(&api(&paths, &json!({ "User": user })));
    let schema = toolwright_schema::Schema::compile(&tools[0]["inputSchema"]).expect("a schema");
    let body = |name: &str, value: Json| match tools[0]["inputSchema"]["properties"].get("body") {
        Some(_) => json!({ "body": { name: value } }),
        None => json!({ name: value }),
    };
    for name in ["one", "any", "all", "either"] {
        assert!(schema.is_valid(&body(name, Json::Null)), "{name}: {:#}", tools[0]);
        assert!(!schema.is_valid(&body(name, json!(true))), "{name}: {:#}", tools[0]);
    }
    assert!(schema.is_valid(&body("either", json!("x"))), "{:#}", tools[0]);
    assert!(!schema.is_valid(&body("all", json!({ "login": 1 }))), "{:#}", tools[0]);
}

/// A result is what the tool returns: nothing restores another form of it.
#[test]
fn results_for_gemini_are_not_wrapped() {
    let result = |schema: Json| {
        json!({ "get": {
            "summary": "Returns some things", "responses": { "200": {
                "description": "ok", "content": { "application/json": { "schema": schema } }
            }}
        }})
    };
    let paths = json!({
        "/names": result(json!({ "type": "array", "items": { "type": "string" } })),
        "/counts": result(json!({ "type": "object", "additionalProperties": { "type": "integer" } }))
    });
    let (run, report) = losses(&api(&paths, &json!({})), &["--to", "gemini-openapi"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let written: Json = serde_json::from_str(&run.stdout).expect("JSON");
    let response = |n: usize| {
        let at = format!("/0/functionDeclarations/{n}/response");
        written.pointer(&at).cloned()
    };
    assert_eq!(response(0), Some(json!({ "type": "ARRAY", "items": { "type": "STRING" } })));
    // A map would be a list of pairs, which the tool does not return.
    assert_eq!(response(1), None, "{}", run.stdout);
    let is_dropped = |loss: &Json| {
        loss["tool"] == "get_counts"
            && loss["part"] == "outputSchema"
            && loss["effect"] == "dropped"
    };
    assert!(report["losses"].as_array().expect("a list").iter().any(is_dropped), "{report:#}");
}

/// A result that refers to itself cannot be compared as a whole. It need not be.
#[test]
fn the_type_of_a_recursive_result_is_stated_without_a_loss() {
    let issue = json!({ "type": "object", "properties": {
        "title": { "type": "string" }, "parent": { "$ref": "#/components/schemas/Issue" }
    }});
    let content =
        json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Issue" } } });
    let paths = json!({ "/issue": { "get": {
        "summary": "Returns the issue", "responses": { "200": { "description": "ok", "content": content } }
    }}});
    let (tools, report) = as_mcp(&api(&paths, &json!({ "Issue": issue })));
    assert_eq!(tools[0]["outputSchema"]["type"], "object", "{tools:?}");
    let reported = lines(&report);
    assert!(!reported.iter().any(|line| line.ends_with("outputSchema")), "{reported:?}");
}
