//! The formats of model vendors, WebMCP and OpenAPI: one small document for each form, and the
//! parts of the record that it gives.

use serde_json::{Value as Json, json};
use toolwright_source::RecordPath;

use crate::support::{assert_card, card, findings, read_as, shared};

/// Reads `text` as `format`, asserts that nothing is wrong with it, and gives its card.
fn clean(format: &str, text: &str) -> Json {
    let name = if text.starts_with(['{', '[']) { "x.json" } else { "x.yaml" };
    let reading = read_as(format, name, text);
    assert_eq!(findings(&reading), [""; 0], "{text}");
    card(&reading)
}

#[test]
fn openai_functions_are_read_from_every_shape() {
    let function = r#""name": "f", "description": "d", "parameters": {"type": "object"}"#;
    let chat = format!(r#"{{"type": "function", "function": {{{function}, "strict": true}}}}"#);
    let responses =
        format!(r#"{{"type": "function", {function}, "strict": false, "output_schema": {{}}}}"#);
    let part = |dialect: &str, rest: Json| {
        vec![
            ("/dialect", json!(dialect)),
            ("/tools/0/name", json!("f")),
            ("/tools/0/description", json!("d")),
            ("/tools/0/input", json!({"type": "object"})),
            ("/tools/0/rest", rest),
        ]
    };
    for (text, parts) in [
        (chat.clone(), part("chat", json!({"/function/strict": true}))),
        (format!("[{chat}]"), part("chat", json!({"/function/strict": true}))),
        (format!(r#"{{"tools": [{chat}]}}"#), part("chat", json!({"/function/strict": true}))),
        (responses.clone(), part("responses", json!({"/strict": false}))),
        (format!("[{responses}]"), part("responses", json!({"/strict": false}))),
        (format!(r#"{{"functions": [{{{function}}}]}}"#), part("functions", json!({}))),
    ] {
        assert_card(&text, &clean("openai", &text), &parts);
    }
    assert_eq!(clean("openai", &responses)["tools"][0]["output"], json!({}));
}

#[test]
fn items_that_are_not_functions_are_kept() {
    let text = r#"{"model": "m", "tools": [
        {"type": "web_search"},
        {"type": "namespace", "name": "crm", "description": "all of it", "tools": [
            {"type": "function", "name": "f", "parameters": null, "strict": null}]},
        {"type": "function", "function": {"name": "g"}}]}"#;
    assert_card(
        text,
        &clean("openai", text),
        &[
            ("/ids", json!(["crm:f", "g"])),
            // Neither null nor absent parameters mean that anything is accepted.
            ("/tools/0/input", json!({"type": "object", "additionalProperties": false})),
            ("/tools/1/input", json!({"type": "object", "additionalProperties": false})),
            (
                "/rest",
                json!({
                    "/model": "m", "/tools/0": {"type": "web_search"},
                    "/tools/1/description": "all of it"
                }),
            ),
        ],
    );
    let text = r#"[{"type": "bash_20250124", "name": "bash"}, {"name": "f", "input_schema": {},
        "input_examples": [{"a": 1}], "cache_control": {"type": "ephemeral"}}]"#;
    assert_card(
        text,
        &clean("anthropic", text),
        &[
            ("/ids", json!(["f"])),
            ("/rest", json!({"/0": {"type": "bash_20250124", "name": "bash"}})),
            ("/tools/0/examples/0/input", json!([{"a": 1}])),
            ("/tools/0/rest", json!({"/cache_control": {"type": "ephemeral"}})),
        ],
    );
    let text = r#"{"toolConfig": {"tools": [{"cachePoint": {"type": "default"}},
        {"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}, "strict": true}}],
        "toolChoice": {"auto": {}}}}"#;
    assert_card(
        text,
        &clean("bedrock", text),
        &[
            ("/tools/0/input", json!({"type": "object"})),
            ("/tools/0/rest", json!({"/toolSpec/strict": true})),
            (
                "/rest",
                json!({
                    "/toolConfig/toolChoice": {"auto": {}},
                    "/toolConfig/tools/0": {"cachePoint": {"type": "default"}}
                }),
            ),
        ],
    );
}

#[test]
fn geminis_schemas_become_json_schema() {
    let schema = json!({
        "type": "OBJECT", "required": ["a"], "minProperties": "1",
        "properties": {
            "a": {"type": "STRING", "nullable": true, "enum": ["x"]},
            "b": {"anyOf": [{"type": "INTEGER"}, {"type": "ARRAY", "items": {"type": "NUMBER"}}], "nullable": true},
            "c": {"type": "INTEGER", "format": "enum", "enum": ["101", "7"]},
            "type": {"type": "BOOLEAN", "nullable": false, "example": true}
        }
    });
    let plain = json!({
        "type": "object", "required": ["a"], "minProperties": 1,
        "properties": {
            "a": {"type": ["string", "null"], "enum": ["x", null]},
            "b": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "number"}}, {"type": "null"}]},
            "c": {"type": "integer", "format": "enum", "enum": [101, 7]},
            "type": {"type": "boolean", "examples": [true]}
        }
    });
    let declaration = json!({"name": "ns:f", "parameters": schema, "response": {"type": "STRING"}});
    for text in [
        declaration.to_string(),
        json!([declaration]).to_string(),
        json!({"functionDeclarations": [declaration]}).to_string(),
        json!([{"function_declarations": [declaration]}]).to_string(),
        json!({"contents": [], "tools": [{"functionDeclarations": [declaration]}]}).to_string(),
    ] {
        assert_card(
            &text,
            &clean("gemini", &text),
            &[
                ("/ids", json!(["ns:f"])),
                ("/tools/0/input", plain.clone()),
                ("/tools/0/output", json!({"type": "string"})),
                ("/tools/0/rest", json!({})),
            ],
        );
    }
    // JSON Schema is taken as it is.
    let text =
        r#"{"name": "f", "parametersJsonSchema": {"type": "OBJECT"}, "behavior": "BLOCKING"}"#;
    let card = clean("gemini", text);
    assert_eq!(card["tools"][0]["input"], json!({"type": "OBJECT"}));
    assert_eq!(card["tools"][0]["rest"], json!({"/behavior": "BLOCKING"}));
}

#[test]
fn webmcp_tools_may_lack_a_schema() {
    let text = r#"[{"name": "f", "description": "d", "inputSchema": null, "outputSchema": null},
        {"name": "g", "description": "d", "annotations": {"readOnlyHint": true}}]"#;
    let card = clean("webmcp", text);
    let nothing = json!({"type": "object", "additionalProperties": false});
    assert_eq!((&card["tools"][0]["input"], &card["tools"][1]["input"]), (&nothing, &nothing));
    assert_eq!(card["tools"][0]["output"], json!(null));
    assert_eq!(card["tools"][1]["hints"][1], json!(true));
}

const API: &str = r##"
openapi: 3.0.1
info: {title: Pets, description: All pets, version: "2024-01", contact: {name: Ann}}
servers: [{url: https://pets.example}]
security: [{key: []}]
paths:
  /pets/{id}:
    summary: One pet
    parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
      - {name: trace, in: header, schema: {type: string}}
    get:
      operationId: pets.get
      summary: Get
      description: Returns a pet
      tags: [Pets]
      deprecated: true
      security: []
      parameters:
        - {name: id, in: query, description: Another one, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}
        - {name: trace, in: header, required: true, schema: {type: string, nullable: true}}
        - {name: Accept, in: header, schema: {type: string}}
        - {$ref: "#/components/parameters/page"}
        - {name: body, in: query, schema: {type: string}}
      requestBody: {$ref: "#/components/requestBodies/pet"}
      responses:
        "404": {description: None, content: {application/json: {schema: {type: string}}}}
        "200": {$ref: "#/components/responses/pet"}
    post: {operationId: "Add a pet!", summary: Adds a pet}
  /pets/{id}/x: {get: {}}
  /pets/{id}_x: {get: {}}
components:
  parameters:
    page: {name: page, in: query, content: {application/json: {schema: {$ref: "#/components/schemas/Page"}}}}
  requestBodies:
    pet: {required: true, description: The pet, content: {text/plain: {}, application/json: {schema: {$ref: "#/components/schemas/Pet", nullable: true}}}}
  responses:
    pet: {description: A pet, content: {application/problem+json: {schema: {type: array, items: {$ref: "#/components/schemas/Pet"}}}}}
  schemas:
    Page: {type: object, nullable: true, properties: {size: {type: integer}}}
    Pet: {type: object, properties: {parent: {$ref: "#/components/schemas/Pet"}, page: {$ref: "#/components/schemas/Page"}, gone: {$ref: "#/nowhere"}}}
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}
"##;

#[test]
fn operations_of_openapi_are_tools() {
    let card = clean("openapi", API);
    let page = json!({"type": ["object", "null"], "properties": {"size": {"type": "integer"}}});
    let pet = json!({"type": "object", "properties": {
        "parent": {"$ref": "#/$defs/Pet"}, "page": {"$ref": "#/$defs/Page"},
        // What leads nowhere is reported by the checks.
        "gone": {"$ref": "#/nowhere"}
    }});
    assert_card(
        "api",
        &card,
        &[
            ("/dialect", json!("3.0.1")),
            ("/title", json!("Pets")),
            ("/description", json!("All pets")),
            // Not a semantic version, so it is kept.
            ("/version", json!(null)),
            ("/rest/~1info~1version", json!("2024-01")),
            ("/rest/~1info~1contact", json!({"name": "Ann"})),
            ("/rest/~1servers", json!([{"url": "https://pets.example"}])),
            ("/rest/~1security", json!([{"key": []}])),
            (
                "/rest/~1components~1securitySchemes",
                json!({"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}),
            ),
            ("/rest/~1paths~1~01pets~01{id}~1summary", json!("One pet")),
            ("/tools/0/name", json!("pets.get")),
            ("/tools/0/title", json!("Get")),
            ("/tools/0/description", json!("Returns a pet")),
            ("/tools/0/tags", json!(["pets"])),
            ("/tools/0/deprecation", json!([true, null])),
            ("/tools/0/rest/~1security", json!([])),
            ("/tools/0/rest/~1method", json!("get")),
            ("/tools/0/rest/~1path", json!("/pets/{id}")),
            (
                "/tools/0/input",
                json!({
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "id_query": {"type": "integer", "exclusiveMinimum": 0, "description": "Another one"},
                        "trace": {"type": ["string", "null"]},
                        "page": {"$ref": "#/$defs/Page"},
                        "body": {"type": "string"},
                        "body_request": {"$ref": "#/$defs/Pet", "description": "The pet"}
                    },
                    "required": ["id", "trace", "body_request"],
                    "additionalProperties": false,
                    "$defs": {"Page": page, "Pet": pet}
                }),
            ),
            (
                "/tools/0/output",
                json!({
                    "type": "array", "items": {"$ref": "#/$defs/Pet"},
                    "$defs": {"Page": page, "Pet": pet}
                }),
            ),
            // The only text is the description.
            ("/tools/1/title", json!(null)),
            ("/tools/1/description", json!("Adds a pet")),
            ("/tools/2/name", json!("get_pets_id_x")),
        ],
    );
    let names = |n: usize| card["tools"][n]["name"].as_str().expect("a name").to_owned();
    assert!(names(1).starts_with("Add_a_pet_"), "{}", names(1));
    assert!(names(3).starts_with("get_pets_id_x_"), "{}", names(3));
    let reading = read_as("openapi", "x.yaml", API);
    for (record, document) in [
        ("/tools/0/name", "/paths/~1pets~1{id}/get/operationId"),
        (
            "/tools/0/inputSchema/properties/id_query/minimum",
            "/paths/~1pets~1{id}/get/parameters/0/schema/minimum",
        ),
        ("/tools/0/inputSchema/$defs/Pet/type", "/components/schemas/Pet/type"),
        ("/tools/0/outputSchema/$defs/Page/type", "/components/schemas/Page/type"),
        ("/tools/1/description", "/paths/~1pets~1{id}/post/summary"),
    ] {
        let pointer = RecordPath::parse(record).expect("a pointer");
        assert_eq!(reading.origin.document_path(&pointer).as_str(), document, "{record}");
    }
}

#[test]
fn json_schema_of_openapi_3_1_stays_as_it_is() {
    let text = r##"{"openapi": "3.1.0", "info": {"title": "T", "version": "1.0.0"},
        "components": {"schemas": {"A": {"type": ["string", "null"], "example": 1}}},
        "paths": {"/a": {"post": {"requestBody": {"content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/A", "description": "kept"}}}}}}}}"##;
    assert_card(
        text,
        &clean("openapi", text),
        &[
            ("/version", json!("1.0.0")),
            (
                "/tools/0/input",
                json!({
                    "type": "object",
                    "properties": {"body": {"$ref": "#/$defs/A", "description": "kept"}},
                    "additionalProperties": false,
                    "$defs": {"A": {"type": ["string", "null"], "example": 1}}
                }),
            ),
        ],
    );
}

/// A few kilobytes that refer to one large schema from many operations must not fill the memory.
#[test]
fn copies_of_definitions_are_bounded() {
    let values: Vec<usize> = (0..20_000).collect();
    let operation = |n: usize| {
        let body = json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Big"}}}});
        (format!("/p{n}"), json!({"post": {"requestBody": body}}))
    };
    let paths: serde_json::Map<String, Json> = (0..500).map(operation).collect();
    let text = json!({
        "openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths,
        "components": {"schemas": {"Big": {"enum": values}}}
    });
    let reading = read_as("openapi", "x.json", text.to_string());
    let found = findings(&reading);
    assert!(found.len() == 1 && found[0].starts_with("TOO_LARGE /paths/"), "{found:?}");
    assert!((50..200).contains(&reading.toolset.tools.len()), "{}", reading.toolset.tools.len());
}

/// A loop of references ends.
#[test]
fn references_that_lead_in_circles_are_left() {
    let text = r##"{"openapi": "3.0.0", "info": {"title": "T", "version": "1"},
        "components": {"parameters": {"a": {"$ref": "#/components/parameters/b"}, "b": {"$ref": "#/components/parameters/a"}},
            "schemas": {"A": {"$ref": "#/components/schemas/A"}}},
        "paths": {"/a": {"$ref": "#/paths/~1a", "get": {"parameters": [{"$ref": "#/components/parameters/a"},
            {"name": "x", "in": "query", "schema": {"$ref": "#/components/schemas/A"}}]}}}}"##;
    let card = card(&read_as("openapi", "x.json", text));
    assert_eq!(card["tools"][0]["input"]["$defs"], json!({"A": {"$ref": "#/$defs/A"}}), "{card:#}");
}

/// The definitions of other people's pages, as WebMCP.
#[test]
fn published_pages_are_read_as_webmcp() {
    let Some(shared) = shared("vendor_formats::published_pages_are_read_as_webmcp") else { return };
    let mut tools = 0;
    for path in crate::support::definitions(&shared.join("corpus/webmcp")) {
        let text = std::fs::read(&path).expect("a file");
        let reading = read_as("webmcp", "x.json", text);
        let errors: Vec<_> = findings(&reading);
        assert!(
            errors.iter().all(|line| line.starts_with("UNKNOWN_FIELD")),
            "{}: {errors:?}",
            path.display()
        );
        tools += reading.toolset.tools.len();
    }
    assert!(tools > 20, "{tools}");
}

/// The good samples of tools in the vendors' formats, as their own libraries take them.
#[test]
fn samples_of_vendors_are_clean() {
    let Some(shared) = shared("vendor_formats::samples_of_vendors_are_clean") else { return };
    let mut documents = 0;
    for path in crate::support::definitions(&shared.join("oracle/samples")) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let parts: Vec<&str> = name.split('.').collect();
        if parts[1] != "tools" || !parts[2].starts_with("good") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a file");
        let format = match parts[0] {
            "anthropic" | "bedrock" | "gemini" => parts[0],
            _ => "openai",
        };
        assert_eq!(crate::support::detected("x.json", &text), Ok(format), "{name}");
        let reading = read_as(format, "x.json", text.as_str());
        assert_eq!(findings(&reading), [""; 0], "{name}");
        assert_eq!(reading.toolset.tools.len(), 1, "{name}");
        documents += 1;
    }
    assert!(documents > 10, "{documents}");
}
