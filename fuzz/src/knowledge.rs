//! The knowledge sections of AIOS definitions: read, checked and made runnable, then asked for
//! advice. No function runs.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolwright_check::{Subject, check};
use toolwright_exec::knowledge::FunctionRole;
use toolwright_formats::by_name;
use toolwright_model::Detection;
use toolwright_source::{Document, Syntax};

use crate::{clean, whole};

/// Any definition can be applied to calls, and gives at most two pieces of advice. The input is a
/// whole definition. Other input becomes the value of every section of one: so most of what the
/// fuzzer makes gets past the reader.
pub fn knowledge(data: &[u8]) {
    for syntax in [Syntax::Json, Syntax::Yaml] {
        let document = whole(data, syntax);
        apply(&document);
        let value = document.root().to_json();
        if clean(&document) && value.get("tool").is_none() {
            let text = definition_around(&value).to_string();
            apply(&whole(text.as_bytes(), Syntax::Json));
        }
    }
}

/// A definition whose sections are the members of a value, or where it lacks one, all of it.
fn definition_around(value: &Json) -> Json {
    let part = |key: &str| value.get(key).unwrap_or(value);
    json!({"tool": {
        "schema_version": 2.0, "id": "fuzz", "type": "cli", "name": "Fuzz", "version": "1.0.0",
        "description": "A definition around some sections.",
        "cli_specific": {"executable": "true"}, "commands": ["run"],
        "executable_knowledge": {
            "helpers": part("helpers"), "processors": part("processors"),
            "validators": part("validators"),
        },
        "api_complexity": {
            "payload_schemas": part("payload_schemas"), "field_mappings": part("field_mappings"),
            "api_quirks": part("api_quirks"),
        },
        "anti_patterns": part("anti_patterns"), "examples": part("examples"),
    }})
}

/// Reads a definition and asks for advice. Errors and arguments are texts of the definition itself,
/// so that much of it fits.
fn apply(document: &Arc<Document>) {
    let reading = by_name("aios").expect("a format").read(document);
    let subject = Subject::new(reading.dialect.as_deref(), &reading.toolset, &reading.origin);
    let _ = check(&subject, &toolwright_script::InProcessAnalyzer);
    let model = &reading.toolset.knowledge;
    for schema in &model.payload_schemas {
        let _ = schema.detection.as_deref().map(Detection::parse);
    }
    let Some(runnable) = toolwright_catalog::knowledge(&reading) else { return };
    for role in [FunctionRole::Helper, FunctionRole::Processor, FunctionRole::Validator] {
        for name in runnable.names(role) {
            assert!(runnable.function(role, name).is_some());
        }
    }
    let texts = model.anti_patterns.iter().map(|pattern| &pattern.description);
    let texts = texts.chain(model.quirks.iter().map(|quirk| &quirk.description));
    let errors: Vec<String> = texts.flatten().take(8).cloned().collect();
    let arguments: serde_json::Map<String, Json> =
        errors.iter().map(|text| (text.clone(), Json::Null)).collect();
    for command in ["run", "", "update_ticket"] {
        for arguments in [Json::Object(arguments.clone()), Json::Null] {
            assert!(runnable.advice(command, &arguments, &errors).len() <= 2);
        }
    }
}
