//! Mistakes in schemas that compile, through `toolwright check`: a table of defects, each found
//! under its code at its place, and a table of schemas that look odd and are right.

use serde_json::{Value as Json, json};

use crate::client::faulty_server;
use crate::program::{folder, run_in};

/// The codes of the rules about schemas.
const CODES: &[&str] = &[
    "REQUIRED_NOT_DECLARED",
    "UNSATISFIABLE_SCHEMA",
    "SCHEMA_VALUE_INVALID",
    "MISSPELLED_KEYWORD",
    "INEFFECTIVE_KEYWORD",
    "DUPLICATE_ENUM_VALUE",
    "UNUSED_DEFINITION",
    "INVALID_MCP_HEADER",
    "INVALID_SCHEMA",
];

/// Defects: the code, the place in the input schema, and the schema of the arguments.
const DEFECTS: &[(&str, &str, &str)] = &[
    // Required but not declared.
    (
        "REQUIRED_NOT_DECLARED",
        "/required/0",
        r#"{"properties": {"email": {}}, "required": ["emial"]}"#,
    ),
    (
        "REQUIRED_NOT_DECLARED",
        "/required/1",
        r#"{"properties": {"a": {}}, "required": ["a", "b"]}"#,
    ),
    ("REQUIRED_NOT_DECLARED", "/required/0", r#"{"required": ["a"]}"#),
    (
        "REQUIRED_NOT_DECLARED",
        "/properties/o/required/0",
        r#"{"properties": {"o": {"type": "object", "properties": {"x": {}}, "required": ["y"]}}}"#,
    ),
    (
        "REQUIRED_NOT_DECLARED",
        "/properties/l/items/required/0",
        r#"{"properties": {"l": {"type": "array", "items": {"properties": {"x": {}}, "required": ["y"]}}}}"#,
    ),
    (
        "REQUIRED_NOT_DECLARED",
        "/required/0",
        r#"{"properties": {"path": {}}, "additionalProperties": {"type": "string"}, "required": ["pathh"]}"#,
    ),
    (
        "REQUIRED_NOT_DECLARED",
        "/$defs/A/required/0",
        r##"{"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "object", "properties": {"x": {}}, "required": ["y"]}}}"##,
    ),
    (
        "REQUIRED_NOT_DECLARED",
        "/anyOf/1/required/0",
        r#"{"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}"#,
    ),
    // Nothing matches.
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/maximum",
        r#"{"properties": {"n": {"type": "integer", "minimum": 10, "maximum": 5}}}"#,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/maxLength",
        r#"{"properties": {"n": {"type": "string", "minLength": 9, "maxLength": 3}}}"#,
    ),
    ("UNSATISFIABLE_SCHEMA", "/not", r#"{"properties": {"n": {}}, "not": {}}"#),
    ("UNSATISFIABLE_SCHEMA", "/not", r#"{"not": true}"#),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/not",
        r#"{"properties": {"n": {"type": "string", "not": {}}}}"#,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/items/not",
        r#"{"properties": {"n": {"type": "array", "items": {"enum": ["a"], "not": true}}}}"#,
    ),
    ("UNSATISFIABLE_SCHEMA", "/properties/n/enum", r#"{"properties": {"n": {"enum": []}}}"#),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/allOf/1/type",
        r#"{"properties": {"n": {"allOf": [{"type": "string"}, {"type": "integer"}]}}}"#,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/enum",
        r#"{"properties": {"n": {"type": "integer", "enum": ["a", "b"]}}}"#,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/const",
        r#"{"properties": {"n": {"type": "string", "const": 1}}}"#,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/required",
        r#"{"properties": {"a": {}}, "required": ["b"], "additionalProperties": false}"#,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/exclusiveMaximum",
        r#"{"properties": {"n": {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 1}}}"#,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/$defs/A/maximum",
        r##"{"required": ["a"], "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "integer", "minimum": 2, "maximum": 1}}}"##,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/exclusiveMaximum",
        r#"{"properties": {"n": {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}}}"#,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/minProperties",
        r#"{"properties": {"n": {"type": "object", "minProperties": 1, "propertyNames": false}}}"#,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/n/required",
        r#"{"properties": {"n": {"type": "object", "properties": {"abc": {}}, "patternProperties": {"^a": false}, "required": ["abc"]}}}"#,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/properties/l/maxItems",
        r#"{"properties": {"l": {"type": "array", "minItems": 3, "maxItems": 2}}}"#,
    ),
    // Only a value without end matches.
    (
        "UNSATISFIABLE_SCHEMA",
        "/$defs/node/required",
        r##"{"properties": {"n": {"$ref": "#/$defs/node"}}, "$defs": {"node": {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/$defs/node"}}}}}"##,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/required",
        r##"{"required": ["again"], "properties": {"again": {"$ref": "#"}}}"##,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/$defs/A/required",
        r##"{"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "object", "required": ["x", "b"], "properties": {"x": {}, "b": {"$ref": "#/$defs/B"}}}, "B": {"type": "object", "required": ["a"], "properties": {"a": {"allOf": [{"$ref": "#/$defs/A"}]}}}}}"##,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/$defs/L/minItems",
        r##"{"properties": {"l": {"$ref": "#/$defs/L"}}, "$defs": {"L": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/L"}}}}"##,
    ),
    (
        "UNSATISFIABLE_SCHEMA",
        "/$defs/N/required",
        r##"{"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "object", "required": ["l"], "properties": {"l": {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/N"}}]}}}}}"##,
    ),
    // Values that break their schema.
    (
        "SCHEMA_VALUE_INVALID",
        "/properties/n/default",
        r#"{"properties": {"n": {"type": "integer", "default": "20"}}}"#,
    ),
    (
        "SCHEMA_VALUE_INVALID",
        "/properties/n/default",
        r#"{"properties": {"n": {"type": "integer", "maximum": 10, "default": 11}}}"#,
    ),
    (
        "SCHEMA_VALUE_INVALID",
        "/properties/n/default",
        r#"{"properties": {"n": {"type": "string", "enum": ["a", "b"], "default": "c"}}}"#,
    ),
    (
        "SCHEMA_VALUE_INVALID",
        "/properties/n/default",
        r#"{"properties": {"n": {"type": "string", "default": null}}}"#,
    ),
    (
        "SCHEMA_VALUE_INVALID",
        "/properties/n/enum/1",
        r#"{"properties": {"n": {"type": "integer", "enum": [1, "2", 3]}}}"#,
    ),
    (
        "SCHEMA_VALUE_INVALID",
        "/properties/n/examples/0",
        r#"{"properties": {"n": {"type": "array", "items": {"type": "string"}, "examples": ["a,b"]}}}"#,
    ),
    (
        "SCHEMA_VALUE_INVALID",
        "/properties/n/default",
        r##"{"properties": {"n": {"$ref": "#/$defs/N", "default": "x"}}, "$defs": {"N": {"type": "integer"}}}"##,
    ),
    (
        "SCHEMA_VALUE_INVALID",
        "/properties/n/anyOf/0/default",
        r#"{"properties": {"n": {"anyOf": [{"type": "string", "default": 1}, {"type": "null"}]}}}"#,
    ),
    // Misspelled keywords.
    ("MISSPELLED_KEYWORD", "/properties/n/typ", r#"{"properties": {"n": {"typ": "string"}}}"#),
    (
        "MISSPELLED_KEYWORD",
        "/properties/n/maxlength",
        r#"{"properties": {"n": {"type": "string", "maxlength": 3}}}"#,
    ),
    ("MISSPELLED_KEYWORD", "/propertes", r#"{"propertes": {"n": {"type": "string"}}}"#),
    (
        "MISSPELLED_KEYWORD",
        "/properties/n/min_items",
        r#"{"properties": {"n": {"type": "array", "min_items": 3}}}"#,
    ),
    ("MISSPELLED_KEYWORD", "/require", r#"{"properties": {"a": {}}, "require": ["a"]}"#),
    (
        "MISSPELLED_KEYWORD",
        "/properties/n/descripton",
        r#"{"properties": {"n": {"descripton": "A number"}}}"#,
    ),
    (
        "MISSPELLED_KEYWORD",
        "/additionalproperties",
        r#"{"properties": {}, "additionalproperties": false}"#,
    ),
    (
        "MISSPELLED_KEYWORD",
        "/additionalProperty",
        r#"{"properties": {}, "additionalProperty": false}"#,
    ),
    ("MISSPELLED_KEYWORD", "/patternProperty", r#"{"patternProperty": {"^x": {}}}"#),
    (
        "MISSPELLED_KEYWORD",
        "/properties/n/maxlen",
        r#"{"properties": {"n": {"type": "string", "maxlen": 3}}}"#,
    ),
    (
        "MISSPELLED_KEYWORD",
        "/properties/n/minItem",
        r#"{"properties": {"n": {"type": "array", "minItem": 3}}}"#,
    ),
    (
        "MISSPELLED_KEYWORD",
        "/properties/n/desciption",
        r#"{"properties": {"n": {"desciption": "A number"}}}"#,
    ),
    ("MISSPELLED_KEYWORD", "/properties/n/desc", r#"{"properties": {"n": {"desc": "A number"}}}"#),
    (
        "MISSPELLED_KEYWORD",
        "/properties/n/max",
        r#"{"properties": {"n": {"type": "integer", "max": 3}}}"#,
    ),
    // Keywords for another type.
    (
        "INEFFECTIVE_KEYWORD",
        "/properties/n/minLength",
        r#"{"properties": {"n": {"type": "integer", "minLength": 3}}}"#,
    ),
    (
        "INEFFECTIVE_KEYWORD",
        "/properties/n/pattern",
        r#"{"properties": {"n": {"type": ["integer", "null"], "pattern": "^a"}}}"#,
    ),
    (
        "INEFFECTIVE_KEYWORD",
        "/properties/n/items",
        r#"{"properties": {"n": {"type": "string", "items": {"type": "string"}}}}"#,
    ),
    (
        "INEFFECTIVE_KEYWORD",
        "/properties/n/maximum",
        r#"{"properties": {"n": {"type": "string", "maximum": 3}}}"#,
    ),
    // Values listed twice.
    (
        "DUPLICATE_ENUM_VALUE",
        "/properties/n/enum/2",
        r#"{"properties": {"n": {"enum": ["a", "b", "a"]}}}"#,
    ),
    ("DUPLICATE_ENUM_VALUE", "/properties/n/enum/1", r#"{"properties": {"n": {"enum": [1, 1]}}}"#),
    // Definitions that nothing refers to.
    (
        "UNUSED_DEFINITION",
        "/$defs/B",
        r##"{"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {}, "B": {"type": "string"}}}"##,
    ),
    ("UNUSED_DEFINITION", "/definitions/B", r#"{"definitions": {"B": {"type": "string"}}}"#),
    (
        "UNUSED_DEFINITION",
        "/$defs/A",
        r##"{"$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"items": {"$ref": "#/$defs/A"}}}}"##,
    ),
    // Headers.
    (
        "INVALID_MCP_HEADER",
        "/properties/a/x-mcp-header",
        r#"{"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}}"#,
    ),
    (
        "INVALID_MCP_HEADER",
        "/properties/a/x-mcp-header",
        r#"{"properties": {"a": {"type": "string", "x-mcp-header": ""}}}"#,
    ),
    (
        "INVALID_MCP_HEADER",
        "/properties/a/x-mcp-header",
        r#"{"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}"#,
    ),
    (
        "INVALID_MCP_HEADER",
        "/properties/b/x-mcp-header",
        r#"{"properties": {"a": {"type": "string", "x-mcp-header": "Id"}, "b": {"type": "string", "x-mcp-header": "iD"}}}"#,
    ),
    (
        "INVALID_MCP_HEADER",
        "/properties/l/items/x-mcp-header",
        r#"{"properties": {"l": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}}"#,
    ),
    (
        "INVALID_MCP_HEADER",
        "/properties/api_key/x-mcp-header",
        r#"{"properties": {"api_key": {"type": "string", "x-mcp-header": "Key"}}}"#,
    ),
    ("INVALID_MCP_HEADER", "/x-mcp-header", r#"{"x-mcp-header": "Root"}"#),
];

/// Schemas that are right, however unusual.
const NEAR_MISSES: &[&str] = &[
    // `required` is satisfied elsewhere.
    r#"{"patternProperties": {"^x": {"type": "string"}}, "required": ["xy"]}"#,
    r#"{"additionalProperties": {"type": "string"}, "required": ["a"]}"#,
    r#"{"properties": {"a": {}}, "additionalProperties": true, "required": ["b"]}"#,
    r##"{"allOf": [{"$ref": "#/$defs/A"}], "required": ["x"], "$defs": {"A": {"properties": {"x": {}}}}}"##,
    r#"{"allOf": [{"properties": {"a": {}}}, {"required": ["a"]}]}"#,
    r#"{"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}"#,
    r#"{"oneOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]}"#,
    r#"{"properties": {"a": {}, "b": {}}, "if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"required": ["b"]}}"#,
    r#"{"properties": {"a": {}}, "not": {"required": ["b"]}}"#,
    r##"{"properties": {"a": {"$ref": "#/$defs/B", "properties": {"y": {}}}}, "$defs": {"B": {"type": "object", "required": ["y"]}}}"##,
    r#"{"properties": {"a": {}, "b": {}}, "dependentSchemas": {"a": {"required": ["b"]}}}"#,
    r#"{"propertyNames": {"enum": ["a", "b"]}, "required": ["a"]}"#,
    // Something matches.
    r#"{"properties": {"n": {"type": "integer", "minimum": 5, "maximum": 5}}}"#,
    r#"{"properties": {"n": {"type": "number", "minimum": 0.1, "maximum": 0.2}}}"#,
    r#"{"properties": {"gone": false, "a": {}}}"#,
    r#"{"properties": {"never": {"not": {}}, "a": {}}}"#,
    r#"{"properties": {"old": {"description": "Not used any more", "not": {}}, "a": {}}}"#,
    r#"{"properties": {"l": {"type": "array", "items": {"not": {}}}}, "additionalProperties": {"not": {}}}"#,
    r#"{"anyOf": [{"properties": {"a": {}, "b": {"not": {}}}}, {"properties": {"b": {}, "a": {"not": {}}}}]}"#,
    r#"{"properties": {"n": {"type": "string", "not": {"not": {}}}}}"#,
    r#"{"properties": {"n": {"allOf": [{"type": "integer"}, {"minimum": 1}]}}}"#,
    r#"{"properties": {"n": {"type": ["string", "null"], "enum": ["a", null]}}}"#,
    r#"{"properties": {"n": {"enum": ["a", 1, null, true, {"b": 1}]}}}"#,
    r##"{"properties": {"n": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}}}"##,
    r##"{"properties": {"n": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"type": "object", "properties": {"sub": {"type": "array", "items": {"$ref": "#/$defs/T"}}}, "required": ["sub"]}}}"##,
    r#"{"properties": {"n": {"oneOf": [{"type": "number"}, {"type": "integer"}]}}}"#,
    r#"{"properties": {"n": {"type": "array", "items": false}}}"#,
    r#"{"properties": {"n": {"type": "string", "minLength": 2, "maxLength": 2, "pattern": "^[a-z]+$"}}}"#,
    // Values match.
    r#"{"properties": {"n": {"anyOf": [{"type": "string", "default": "x"}, {"type": "null"}], "default": null}}}"#,
    r#"{"properties": {"n": {"type": ["integer", "null"], "default": null}}}"#,
    r#"{"properties": {"n": {"type": "integer", "default": 1.0, "examples": [1, 2]}}}"#,
    r#"{"properties": {"n": {"type": "number", "default": 1, "enum": [1, 2.5]}}}"#,
    r#"{"properties": {"o": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}, "required": ["a"], "default": {}}}}"#,
    r##"{"properties": {"n": {"$ref": "#/$defs/N", "default": 3}}, "$defs": {"N": {"type": "integer"}}}"##,
    r#"{"properties": {"n": {"type": "string", "format": "date", "default": "today"}}}"#,
    r#"{"properties": {"n": {"type": "object", "default": {"enum": [], "minimum": 3, "propertes": {}}}}}"#,
    // Keywords of others, and annotations.
    r#"{"properties": {"n": {"type": "string", "x-order": 1, "example": "a", "nullable": true}}}"#,
    r#"{"properties": {"n": {"type": "string", "enum": ["a"], "enumNames": ["A"], "markdownDescription": "**A**"}}}"#,
    r#"{"properties": {"maxlength": {"type": "integer"}, "propertes": {"type": "string"}, "tite": {}}, "required": ["maxlength"]}"#,
    r#"{"id": "tool", "properties": {"n": {"type": "string", "note": "a remark", "order": 3}}}"#,
    r#"{"$comment": "generated", "title": "Arguments", "properties": {"n": {"readOnly": true, "deprecated": true}}}"#,
    // Keywords apply.
    r#"{"properties": {"n": {"type": ["integer", "string"], "minLength": 1, "minimum": 1}}}"#,
    r#"{"properties": {"n": {"minLength": 1, "minimum": 1}}}"#,
    r#"{"properties": {"n": {"type": "integer", "format": "int32"}}}"#,
    r#"{"properties": {"n": {"type": "string", "required": [], "properties": {}, "additionalProperties": false}}}"#,
    // A finite value matches: an optional, nullable or empty link ends it.
    r##"{"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "object", "required": ["v"], "properties": {"v": {}, "next": {"$ref": "#/$defs/N"}}}}}"##,
    r##"{"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "object", "required": ["next"], "properties": {"next": {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]}}}}}"##,
    r##"{"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": ["object", "null"], "required": ["next"], "properties": {"next": {"$ref": "#/$defs/N"}}}}}"##,
    r##"{"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"required": ["next"], "properties": {"next": {"$ref": "#/$defs/N"}}}}}"##,
    r##"{"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "object", "required": ["all"], "properties": {"all": {"type": "array", "items": {"$ref": "#/$defs/N"}}}}}}"##,
    r##"{"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "object", "required": ["all"], "properties": {"all": {"type": "object", "additionalProperties": {"$ref": "#/$defs/N"}}}}}}"##,
    r##"{"properties": {"n": {"$ref": "#/$defs/E"}}, "$defs": {"E": {"oneOf": [{"type": "number"}, {"type": "object", "required": ["l", "r"], "properties": {"l": {"$ref": "#/$defs/E"}, "r": {"$ref": "#/$defs/E"}}}]}}}"##,
    // Words of their own.
    r#"{"properties": {"n": {"type": "string", "typ": "iban"}}}"#,
    r#"{"properties": {"n": {"type": "string", "unique": true, "min": "low", "max": null, "content": "x", "desc": true}}}"#,
    r#"{"properties": {"n": {"type": "boolean", "min": 1, "minute": 5, "maxim": "x"}, "min": {}, "maxlen": {}}}"#,
    // Values differ.
    r#"{"properties": {"n": {"enum": [1, 1.5, "1", "1.0", true, [1], [1, 1], {"a": 1}, {"a": 2}, 9007199254740993, 9007199254740992]}}}"#,
    r#"{"properties": {"n": {"enum": ["a", "A", "1", 1]}}}"#,
    // Definitions are used.
    r##"{"properties": {"a": {"$ref": "#node"}}, "$defs": {"N": {"$anchor": "node", "type": "string"}}}"##,
    r##"{"properties": {"a": {"$dynamicRef": "#node"}}, "$defs": {"N": {"$dynamicAnchor": "node", "type": "string"}}}"##,
    r##"{"$id": "https://example.com/tool", "properties": {"a": {"$ref": "item"}}, "$defs": {"I": {"$id": "item", "type": "string"}}}"##,
    r##"{"properties": {"a": {"$ref": "#/$defs/A/properties/b"}}, "$defs": {"A": {"properties": {"b": {}}}}}"##,
    r##"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {"type": "string"}}}"##,
    r##"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#/definitions/A", "minLength": 3, "default": 1}}, "definitions": {"A": {"type": "integer"}}}"##,
    r#"{"$defs": {}}"#,
    // Headers.
    r#"{"properties": {"a": {"type": "string", "x-mcp-header": "Region"}, "o": {"type": "object", "properties": {"b": {"type": "integer", "x-mcp-header": "Count"}}}}}"#,
    r#"{"properties": {"a": {"type": "object", "default": {"x-mcp-header": "a b"}}}}"#,
    r#"{"properties": {"page_token": {"type": "string", "x-mcp-header": "Page"}}}"#,
];

/// A schema of arguments, with its `type`.
fn arguments(schema: &str) -> Json {
    let mut schema: Json = serde_json::from_str(schema).unwrap_or_else(|e| panic!("{schema}: {e}"));
    schema["type"] = json!("object");
    schema
}

/// The findings about schemas of a list of tools: code, severity, path and the object itself.
fn check(tools: &[Json]) -> Vec<(String, String, Json)> {
    let text = Json::from(tools.to_vec()).to_string();
    let folder = folder(&[("tools.json", text.as_bytes())]);
    let run = run_in(folder.path(), &["check", "--output-format", "json", "tools.json"], b"");
    let finding = |line: &str| {
        let json: Json = serde_json::from_str(line).expect("a line of JSON");
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        (text("code"), text("path"), json)
    };
    run.stdout.lines().map(finding).filter(|(code, ..)| CODES.contains(&code.as_str())).collect()
}

#[test]
fn every_defect_is_found_under_its_code_at_its_place() {
    assert!(DEFECTS.len() >= 30);
    for side in ["inputSchema", "outputSchema"] {
        let tools: Vec<Json> = DEFECTS
            .iter()
            .enumerate()
            .map(|(n, (_, _, schema))| {
                let mut tool = json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}});
                tool[side] = arguments(schema);
                tool
            })
            .collect();
        let found = check(&tools);
        let mut wrong = Vec::new();
        for (n, (code, place, schema)) in DEFECTS.iter().enumerate() {
            let prefix = format!("/{n}/");
            let got: Vec<(&str, &str)> = found
                .iter()
                .filter(|(_, path, _)| path.starts_with(&prefix))
                .map(|(code, path, _)| (code.as_str(), path.as_str()))
                .collect();
            let at = format!("/{n}/{side}{place}");
            // Headers are for arguments.
            let expected: &[(&str, &str)] = match (*code, side) {
                ("INVALID_MCP_HEADER", "outputSchema") => &[],
                _ => &[(code, at.as_str())],
            };
            if got != expected {
                wrong.push(format!("{schema}\n  expected {expected:?}\n  got      {got:?}"));
            }
        }
        assert!(wrong.is_empty(), "{side}:\n{}", wrong.join("\n"));
    }
}

#[test]
fn schemas_that_are_right_are_not_reported() {
    assert!(NEAR_MISSES.len() >= 30);
    let tools: Vec<Json> = NEAR_MISSES
        .iter()
        .enumerate()
        .map(|(n, schema)| {
            let schema = arguments(schema);
            json!({"name": format!("t{n}"), "inputSchema": schema, "outputSchema": schema})
        })
        .collect();
    let found = check(&tools);
    let lines: Vec<String> = found.iter().map(|(_, _, json)| json.to_string()).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn severities_messages_and_repairs_are_those_of_the_manual() {
    let cases = [
        (
            r#"{"properties": {"n": {"type": "integer", "minimum": 10, "maximum": 5}}}"#,
            "error",
            "no value matches this schema: `minimum` is `10` and `maximum` is `5`",
            None,
        ),
        (
            r#"{"properties": {"n": {"type": "string", "not": {}}}}"#,
            "error",
            "no value matches this schema: `not` refuses every value",
            None,
        ),
        (
            r#"{"properties": {"n": {"type": "string", "not": {"type": "string"}}}}"#,
            "error",
            "no value matches this schema: `type` is `\"string\"`, which contradicts `not`",
            None,
        ),
        (
            r#"{"properties": {"n": {"type": "string", "oneOf": [{"type": "integer"}, {"type": "boolean"}]}}}"#,
            "error",
            "no value matches this schema: `type` is `\"string\"`, which contradicts `oneOf`",
            None,
        ),
        (
            r#"{"properties": {"n": {"allOf": [{"type": "string"}, {"not": {}}]}}}"#,
            "error",
            "no value matches this schema: nothing matches `/allOf/1`",
            None,
        ),
        (
            r#"{"properties": {"a": {"type": "string", "default": null}}}"#,
            "info",
            "the default does not match its schema: `null` is not of type `string`",
            None,
        ),
        (
            r#"{"properties": {"a": {"type": "string", "default": null}}, "required": ["a"]}"#,
            "warning",
            "the default does not match its schema: `null` is not of type `string`",
            None,
        ),
        (
            r#"{"properties": {"a": {"type": "string", "maxlength": 1}, "b": {"type": "string", "maxlength": 2}}}"#,
            "warning",
            "`maxlength` is not a keyword of JSON Schema (2 places)",
            Some(("rename it to `maxLength`", false, 2)),
        ),
        (
            r#"{"properties": {"a": {"type": "string", "maxlength": 1, "maxLength": 2}}}"#,
            "warning",
            "`maxlength` is not a keyword of JSON Schema",
            None,
        ),
        (
            r#"{"properties": {"a": {"enum": ["x", "y", "x"]}}}"#,
            "warning",
            "`enum` lists `\"x\"` twice",
            Some(("remove the second one", true, 1)),
        ),
        (
            r#"{"properties": {"a": {"enum": [1, 2, 1.0]}}}"#,
            "warning",
            "`enum` lists `1.0` twice",
            Some(("remove the second one", true, 1)),
        ),
        (
            r##"{"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/$defs/N"}}}}}"##,
            "error",
            "no value matches this schema: a value for the required `next` must contain another one, without end",
            None,
        ),
        (
            r#"{"properties": {"email": {}}, "required": ["emial"]}"#,
            "warning",
            "`emial` is required but not declared under `properties`",
            Some(("write `email`", false, 1)),
        ),
        (
            r#"{"$defs": {"A": {"type": "string"}, "B": {"type": "string"}}}"#,
            "warning",
            "nothing in use refers to the definitions `A` and `B`, which cost 42 bytes",
            Some(("remove the definitions", true, 1)),
        ),
        (
            r#"{"properties": {"a": {"type": "integer", "minLength": 1}, "b": {"type": "integer", "minLength": 1}}}"#,
            "warning",
            "`minLength` applies to strings, but the type is `\"integer\"` (2 places)",
            None,
        ),
    ];
    for (schema, severity, message, fix) in cases {
        let tools = [json!({"name": "t", "inputSchema": arguments(schema)})];
        let found = check(&tools);
        let [(_, _, json)] = found.as_slice() else { panic!("{schema}: {found:?}") };
        assert_eq!(json["severity"], severity, "{schema}");
        assert_eq!(json["message"], message, "{schema}");
        let made = json["fix"].as_object().map(|fix| {
            (
                fix["title"].as_str().expect("a title"),
                fix["safe"] == true,
                fix["edits"].as_array().map_or(0, Vec::len),
            )
        });
        assert_eq!(made, fix, "{schema}");
    }
}

#[test]
fn a_schema_that_nothing_matches_is_a_warning_on_a_server() {
    let folder = folder(&[]);
    let server = faulty_server();
    let args = ["check", "--output-format", "json", "--", &server, "mcp", "contradictory"];
    let run = run_in(folder.path(), &args, b"");
    let found: Vec<Json> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let ours = found.iter().find(|json| json["code"] == "UNSATISFIABLE_SCHEMA");
    assert_eq!(ours.map(|json| &json["severity"]), Some(&json!("warning")), "{run:?}");
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn hostile_schemas_end() {
    let unions = |n: usize| {
        let each = |i: usize| json!({"anyOf": [{"required": [format!("a{i}")]}, {"properties": {format!("b{i}"): {"type": "string"}}}]});
        json!({"type": "object", "allOf": (0..n).map(each).collect::<Vec<_>>()})
    };
    let conditions = |n: usize| {
        let each = |i: usize| {
            json!({
                "if": {"required": [format!("a{i}")]},
                "then": {"required": [format!("b{i}")]},
                "else": {"required": [format!("c{i}")]}
            })
        };
        json!({"type": "object", "allOf": (0..n).map(each).collect::<Vec<_>>()})
    };
    let chain = |n: usize| {
        let mut defs = serde_json::Map::new();
        for i in 0..n {
            let next = format!("#/$defs/d{}", (i + 1) % n);
            defs.insert(
                format!("d{i}"),
                json!({"type": "object", "required": ["x"], "properties": {"x": {"$ref": next}}}),
            );
        }
        json!({"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs})
    };
    let enums = |n: usize| {
        let values: Vec<String> = (0..n).map(|i| format!("v{i}")).collect();
        json!({"type": "object", "properties": {"a": {"allOf": [
            {"enum": values.clone()}, {"enum": values.iter().rev().collect::<Vec<_>>()}, {"not": {"enum": values}}
        ]}}})
    };
    let exclusive = |n: usize| {
        let each = |i: usize| json!({"properties": {format!("a{i}"): {"const": i}}, "required": [format!("a{i}")]});
        json!({"type": "object", "minProperties": 1, "oneOf": (0..n).map(each).collect::<Vec<_>>()})
    };
    let mut schemas = Vec::new();
    for n in [10, 14, 20, 40, 90, 1_000] {
        schemas.extend([unions(n), conditions(n), chain(n), enums(n), exclusive(n)]);
    }
    let tools: Vec<Json> = schemas
        .iter()
        .enumerate()
        .map(|(n, schema)| json!({"name": format!("t{n}"), "inputSchema": schema}))
        .collect();
    let found = check(&tools);
    // Those that are examined have findings: `required` lists names that nothing declares.
    assert!(found.iter().any(|(code, ..)| code == "REQUIRED_NOT_DECLARED"), "{found:?}");
}
