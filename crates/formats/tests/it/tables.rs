//! Rules that every table of fields keeps, and the BTCP tables compared with the BTCP schemas.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use toolwright_formats::{FORMATS, Field, FieldKind, FieldPresence, TextFormat};

use crate::support::shared;

/// Every object of a format's tables with the path to it.
fn objects() -> Vec<(String, &'static [Field])> {
    let mut out = Vec::new();
    for format in FORMATS {
        walk(format.id().0.to_owned(), format.fields(), &mut out);
    }
    out
}

fn walk(path: String, fields: &'static [Field], out: &mut Vec<(String, &'static [Field])>) {
    assert!(path.len() < 200, "tables do not contain themselves: {path}");
    for field in fields {
        let mut kind = &field.kind;
        loop {
            match kind {
                FieldKind::List { of, .. } | FieldKind::Map(of) => kind = of,
                FieldKind::Object(inner) => {
                    break walk(format!("{path}/{}", field.name), inner, out);
                }
                _ => break,
            }
        }
    }
    out.push((path, fields));
}

/// The kind of the field itself, or of the items of its list or map.
fn innermost(field: &Field) -> &FieldKind {
    let mut kind = &field.kind;
    while let FieldKind::List { of, .. } | FieldKind::Map(of) = kind {
        kind = of;
    }
    kind
}

#[test]
fn formats_have_distinct_names_and_a_line_about_them() {
    let names: BTreeSet<&str> = FORMATS.iter().map(|format| format.id().0).collect();
    assert_eq!(names.len(), FORMATS.len());
    for format in FORMATS {
        assert!(!format.about().trim().is_empty());
        assert!(!format.fields().is_empty());
        let found = toolwright_formats::by_name(format.id().0).map(|f| f.id());
        assert_eq!(found, Some(format.id()));
    }
    assert!(toolwright_formats::by_name("mistral").is_none());
}

#[test]
fn fields_are_unique_and_described() {
    for (path, fields) in objects() {
        let names: BTreeSet<&str> = fields.iter().map(|field| field.name).collect();
        assert_eq!(names.len(), fields.len(), "{path}: two fields have one name");
        for field in fields {
            let at = format!("{path}/{}", field.name);
            assert!(!field.name.is_empty() && !field.name.contains(char::is_whitespace), "{at}");
            assert!(
                !field.about.is_empty() && field.about.trim() == field.about,
                "{at}: {:?}",
                field.about
            );
            assert!(
                !field.about.ends_with('.') && !field.about.contains('\n'),
                "{at}: {:?}",
                field.about
            );
            assert!(
                field.misspelling.is_none_or(|word| !names.contains(word)),
                "{at}: its common misspelling is a field"
            );
            if let FieldKind::Custom { expects, .. } = innermost(field) {
                assert!(!expects.is_empty(), "{at}");
            }
        }
    }
}

#[test]
fn bounds_patterns_and_words_make_sense() {
    for (path, fields) in objects() {
        for field in fields {
            let at = format!("{path}/{}", field.name);
            match innermost(field) {
                FieldKind::Text { min, max, pattern, .. } => {
                    assert!(min <= max, "{at}");
                    let Some(pattern) = pattern else { continue };
                    regex::Regex::new(pattern.regex).unwrap_or_else(|e| panic!("{at}: {e}"));
                    assert!(!pattern.description.is_empty(), "{at}");
                    for text in pattern.tolerated {
                        assert!(!(pattern.matches)(text), "{at}: `{text}` is fine, not tolerated");
                    }
                }
                FieldKind::Integer { min, max } => assert!(min <= max, "{at}"),
                FieldKind::Choice { words, tolerated } => {
                    let distinct: BTreeSet<&&str> = words.iter().chain(*tolerated).collect();
                    assert_eq!(distinct.len(), words.len() + tolerated.len(), "{at}");
                    assert!(!words.is_empty() && words.iter().all(|w| !w.is_empty()), "{at}");
                }
                _ => {}
            }
        }
    }
}

/// The part of a JSON Schema that a table describes.
fn as_schema(fields: &'static [Field]) -> Json {
    let properties = fields.iter().map(|field| (field.name.to_owned(), kind_schema(&field.kind)));
    let required = fields.iter().filter(|f| {
        matches!(f.presence, FieldPresence::Required | FieldPresence::RequiredInStrictMode)
    });
    let mut schema =
        json!({"type": "object", "properties": properties.collect::<serde_json::Map<_, _>>()});
    let required: BTreeSet<&str> = required.map(|field| field.name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn kind_schema(kind: &'static FieldKind) -> Json {
    match *kind {
        FieldKind::Any => json!({}),
        FieldKind::Boolean => json!({"type": "boolean"}),
        FieldKind::Text { min, max, pattern, format } => {
            let mut schema = json!({"type": "string"});
            if min > 0 {
                schema["minLength"] = json!(min);
            }
            if max < usize::MAX {
                schema["maxLength"] = json!(max);
            }
            if let Some(pattern) = pattern {
                schema["pattern"] = json!(pattern.regex);
            }
            if let Some(format) = format {
                schema["format"] = json!(if format == TextFormat::Uri { "uri" } else { "email" });
            }
            schema
        }
        FieldKind::Integer { min, max } => {
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        FieldKind::Choice { words, .. } => json!({"type": "string", "enum": words}),
        // The published pattern of a version has no end; the reader also requires SemVer.
        FieldKind::Version { .. } => {
            json!({"type": "string", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+"})
        }
        FieldKind::Schema => json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}),
        FieldKind::List { of, min } => {
            let mut schema = json!({"type": "array", "items": kind_schema(of)});
            if min > 0 {
                schema["minItems"] = json!(min);
            }
            schema
        }
        FieldKind::Map(_) => json!({"type": "object"}),
        FieldKind::Object(fields) => as_schema(fields),
        FieldKind::Custom { .. } => panic!("BTCP has no rules of its own"),
    }
}

/// A published schema with its references replaced by their targets, without prose and defaults.
fn without_prose(schema: &Json, root: &Json, tool: &Json) -> Json {
    let Some(object) = schema.as_object() else { return schema.clone() };
    match object.get("$ref").and_then(Json::as_str) {
        Some("tool.json") => return without_prose(tool, tool, tool),
        Some(local) if local.starts_with("#/") => {
            let target = root.pointer(&local[1..]).expect("a definition");
            return without_prose(target, root, tool);
        }
        _ => {}
    }
    let mut out = serde_json::Map::new();
    for (key, value) in object {
        let value = match key.as_str() {
            "description" | "default" | "title" | "$schema" | "$id" | "$defs" => continue,
            "properties" => {
                let members = value.as_object().expect("properties").iter();
                Json::Object(
                    members.map(|(k, v)| (k.clone(), without_prose(v, root, tool))).collect(),
                )
            }
            "items" => without_prose(value, root, tool),
            "required" => {
                let names: BTreeSet<&str> =
                    value.as_array().expect("a list").iter().filter_map(Json::as_str).collect();
                json!(names)
            }
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    Json::Object(out)
}

/// The tables as a schema, against the names and bounds that the BTCP specification prescribes, and
/// against its published schemas where they are at hand.
#[test]
fn btcp_tables_match_the_published_schemas() {
    let btcp = toolwright_formats::by_name("btcp").expect("btcp is a format");
    let mut schema = as_schema(btcp.fields());
    // Our own extension.
    let extension = schema["properties"].as_object_mut().and_then(|all| all.remove("match"));
    assert!(extension.is_some_and(|it| it["type"] == "array"));
    for (pointer, expected) in [
        ("/required", json!(["btcp", "capabilities", "name", "tools", "version"])),
        ("/properties/name/maxLength", json!(64)),
        ("/properties/description/maxLength", json!(500)),
        ("/properties/provider/required", json!(["name"])),
        ("/properties/provider/properties/name/maxLength", json!(100)),
        ("/properties/tools/minItems", json!(1)),
        (
            "/properties/tools/items/required",
            json!(["capabilities", "description", "inputSchema", "name"]),
        ),
        (
            "/properties/tools/items/properties/description",
            json!({"type": "string", "minLength": 10, "maxLength": 1000}),
        ),
        (
            "/properties/tools/items/properties/timeout",
            json!({"type": "integer", "minimum": 1000, "maximum": 300_000}),
        ),
        ("/properties/config/properties/maxConcurrent/maximum", json!(10)),
        ("/properties/config/properties/sandbox/enum", json!(["worker", "iframe", "ses", "wasm"])),
    ] {
        assert_eq!(schema.pointer(pointer), Some(&expected), "{pointer}");
    }
    let Some(shared) = shared("tables::btcp_tables_match_the_published_schemas") else { return };
    let published = |page: &str| -> Json {
        let text =
            std::fs::read_to_string(shared.join("seeds").join(page)).expect("the page is there");
        let block =
            text.split("```json\n").nth(1).and_then(|t| t.split("```").next()).expect("a block");
        serde_json::from_str(block).expect("JSON")
    };
    let (manifest, tool) = (published("btcp-manifest.md"), published("btcp-tool.md"));
    assert_eq!(schema, without_prose(&manifest, &manifest, &tool));
    assert_eq!(schema["properties"]["tools"]["items"], without_prose(&tool, &tool, &tool));
}
